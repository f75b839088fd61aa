//! An embedder that caches its results, for programs and tests that embed the same texts
//! repeatedly.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use sinew_route::{EmbedError, Embedder, TextSide};

/// An embedder that caches its results.
#[derive(Debug)]
pub(crate) struct Remembering {
    inner: Arc<dyn Embedder>,
    known: Mutex<HashMap<String, Vec<f32>>>,
}

impl Remembering {
    pub(crate) fn of(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, known: Mutex::default() }
    }
}

impl Embedder for Remembering {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn dims(&self) -> usize {
        self.inner.dims()
    }

    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut out = Vec::new();
        for text in texts {
            let key = format!("{side:?} {text}");
            let known = self.known.lock().expect("no panics").get(&key).cloned();
            let vector = match known {
                Some(vector) => vector,
                None => self.inner.embed(&[text], side)?.remove(0),
            };
            self.known.lock().expect("no panics").insert(key, vector.clone());
            out.push(vector);
        }
        Ok(out)
    }
}
