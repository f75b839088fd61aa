//! What would be found if a skill said something else about itself.

use std::panic::resume_unwind;

use sinew_catalog::{Catalog, Entry};
use sinew_route::{Context, Document, Message, RouteResult};

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
        let mut documents = self.outlines();
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
        // An index is put together for each: on a core of its own, where there are several.
        std::thread::scope(|scope| {
            let asked = descriptions.map(|description| {
                let mut documents = documents.clone();
                documents[own] = Document::from_description(&entry.name, &entry.name, description);
                let excluded = hidden.as_slice();
                scope.spawn(move || {
                    let context = Context { excluded, prior: None };
                    self.over(&documents, top).route(&Message::from_user(message), &context)
                })
            });
            asked.map(|answer| answer.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }
}
