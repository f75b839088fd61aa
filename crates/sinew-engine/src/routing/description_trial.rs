//! How a message would be routed if a skill had another description.

use std::sync::Arc;

use sinew_catalog::{Catalog, CatalogEntry};
use sinew_route::{RouteContext, RouteDocument, RouteResult, Router, UserMessage};

use crate::CatalogRouter;

impl CatalogRouter {
    /// Routes a message as if a skill were known by each of these descriptions alone. The index
    /// of the other skills is reused, so that descriptions can be compared while the user waits.
    pub(super) fn route_with_descriptions<const N: usize>(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        descriptions: [&str; N],
        message: &str,
        top: usize,
    ) -> [RouteResult; N] {
        let mut documents = self.router.index().document_outlines();
        let own = documents.iter().position(|document| document.name == entry.name);
        let own = own.unwrap_or_else(|| {
            documents.push(RouteDocument::default());
            documents.len() - 1
        });
        let hidden: Vec<&str> = catalog
            .unshadowed()
            .filter(|other| !other.model_visible && other.name != entry.name)
            .map(|other| other.name.as_str())
            .collect();
        let mut config = self.router.config().clone();
        config.top = top;
        let index = Arc::clone(self.router.index());
        let router = Router::from_index(index, self.models.clone(), config).0;
        descriptions.map(|description| {
            documents[own] = RouteDocument::from_description(&entry.name, &entry.name, description);
            let context = RouteContext { excluded: &hidden, prior: None };
            router.route_with_documents(&documents, &UserMessage::from_user(message), &context)
        })
    }
}
