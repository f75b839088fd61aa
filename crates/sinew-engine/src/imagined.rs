//! How a message would be routed if a skill described itself otherwise.

use sinew_catalog::{Catalog, Entry};
use sinew_route::{Context, Document, Message, Models, RouteResult, Router};

use crate::Engine;
use crate::route::document;

impl Engine {
    /// Routes a message as if a skill were known by this description alone; by words and static
    /// vectors, so that two descriptions can be compared while somebody waits.
    pub fn route_imagined(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        description: &str,
        message: &str,
        top: usize,
    ) -> RouteResult {
        let known = || catalog.active().filter(|other| other.skill.is_some());
        let documents: Vec<Document> = known()
            .map(|other| match other.name == entry.name {
                true => Document::from_description(&entry.name, &entry.name, description),
                false => document(other),
            })
            .collect();
        let hidden: Vec<&str> = known()
            .filter(|other| !other.model_visible && other.name != entry.name)
            .map(|other| other.name.as_str())
            .collect();
        let mut config = self.route_config();
        config.top = top;
        let (router, _) = Router::build(&documents, Models::embedded().without_encoder(), config);
        router.route(&Message::from_user(message), &Context { excluded: &hidden, prior: None })
    }
}
