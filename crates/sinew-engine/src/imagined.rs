//! What would be found if a skill said something else about itself.

use std::sync::Arc;

use sinew_catalog::{Catalog, Entry};
use sinew_route::{Context, Document, Message, RouteResult, Router};

use crate::CatalogRouter;

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
        let mut documents = self.router.index().outlines();
        let own = documents.iter().position(|document| document.name == entry.name);
        let own = own.unwrap_or_else(|| {
            documents.push(Document::default());
            documents.len() - 1
        });
        let hidden: Vec<&str> = catalog
            .active()
            .filter(|other| !other.model_visible && other.name != entry.name)
            .map(|other| other.name.as_str())
            .collect();
        let mut config = self.router.config().clone();
        config.top = top;
        let index = Arc::clone(self.router.index());
        let router = Router::over(index, self.models.clone(), config).0;
        descriptions.map(|description| {
            documents[own] = Document::from_description(&entry.name, &entry.name, description);
            let context = Context { excluded: &hidden, prior: None };
            router.imagine(&documents, &Message::from_user(message), &context)
        })
    }
}
