//! What would be found if a skill said something else about itself.

use sinew_catalog::{Catalog, Entry};
use sinew_route::{Context, Document, Message, RouteResult};

use crate::CatalogRouter;
use crate::route::document;

impl CatalogRouter {
    /// Routes a message as if a skill were known by each of these descriptions alone. What is known
    /// of the other skills is taken over, so that descriptions can be compared while somebody waits.
    pub fn imagined<const N: usize>(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        descriptions: [&str; N],
        message: &str,
        top: usize,
    ) -> [RouteResult; N] {
        let known = || catalog.active().filter(|other| other.skill.is_some());
        let mut documents: Vec<Document> = known().map(document).collect();
        let own = known().position(|other| other.name == entry.name);
        let hidden: Vec<&str> = known()
            .filter(|other| !other.model_visible && other.name != entry.name)
            .map(|other| other.name.as_str())
            .collect();
        descriptions.map(|description| {
            let imagined = Document::from_description(&entry.name, &entry.name, description);
            match own {
                Some(at) => documents[at] = imagined,
                None => documents.push(imagined),
            }
            let router = self.over(&documents, top);
            router.route(&Message::from_user(message), &Context { excluded: &hidden, prior: None })
        })
    }
}
