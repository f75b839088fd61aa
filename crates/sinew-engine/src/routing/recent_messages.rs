//! A model that keeps the vectors of the last messages.
//!
//! One message is asked about several times: over the installed skills, over those that are remembered,
//! over what a search found. Its vector takes milliseconds, and is the same each time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sinew_route::{EmbedError, Embedder, RouterModels, TextSide};

/// Messages that are kept; a long one is read in some dozen windows.
const KEPT: usize = 96;

/// A model in this process, with the vectors of the last messages.
#[derive(Debug)]
struct RecentMessages {
    model: Arc<dyn Embedder>,
    last: Mutex<VecDeque<(String, Vec<f32>)>>,
}

/// Models that keep the vectors of the last messages. One behind an address stays as it is: what it was
/// sent is its own affair.
pub(super) fn keeping_recent(models: RouterModels) -> RouterModels {
    match models.encoder.clone().filter(|encoder| encoder.is_local()) {
        Some(model) => {
            let missing = models.missing.clone();
            let mut models =
                models.with_encoder(Arc::new(RecentMessages { model, last: Mutex::default() }));
            models.missing = missing;
            models
        }
        None => models,
    }
}

impl Embedder for RecentMessages {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dims(&self) -> usize {
        self.model.dims()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
        if side == TextSide::Document {
            return self.model.embed(texts, side);
        }
        let known: Vec<Option<Vec<f32>>> = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let find = |text: &&str| last.iter().find(|(known, _)| known == text);
            texts.iter().map(|text| find(text).map(|(_, vector)| vector.clone())).collect()
        };
        let missing: Vec<&str> = texts
            .iter()
            .zip(&known)
            .filter(|(_, vector)| vector.is_none())
            .map(|(text, _)| *text)
            .collect();
        let mut fresh = match missing.is_empty() {
            true => Vec::new(),
            false => self.model.embed(&missing, side)?,
        }
        .into_iter();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = texts.iter().zip(known).map(|(text, vector)| match vector {
            Some(vector) => vector,
            None => {
                let vector = fresh.next().unwrap_or_default();
                if last.len() == KEPT {
                    last.pop_front();
                }
                last.push_back(((*text).to_owned(), vector.clone()));
                vector
            }
        });
        Ok(vectors.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts what it is asked.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Embedder for Counting {
        fn id(&self) -> &str {
            "counting"
        }

        fn dims(&self) -> usize {
            1
        }

        fn embed(&self, texts: &[&str], _side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }
    }

    #[test]
    fn a_message_is_computed_once_and_documents_always() {
        let counting = Arc::new(Counting::default());
        let models = RouterModels::none().with_encoder(Arc::<Counting>::clone(&counting));
        let models = keeping_recent(models);
        let encoder = models.encoder.expect("a model");
        let ask = |texts: &[&str], side| encoder.embed(texts, side).expect("vectors");
        assert_eq!(ask(&["one", "three"], TextSide::Message), [vec![3.0], vec![5.0]]);
        assert_eq!(ask(&["three", "four"], TextSide::Message), [vec![5.0], vec![4.0]]);
        assert_eq!(counting.0.load(Ordering::Relaxed), 3);
        ask(&["one"], TextSide::Document);
        assert_eq!(counting.0.load(Ordering::Relaxed), 4);
        for at in 0..2 * KEPT {
            ask(&[&format!("message {at}")], TextSide::Message);
        }
        ask(&["one"], TextSide::Message);
        assert_eq!(counting.0.load(Ordering::Relaxed), 5 + 2 * KEPT);
    }
}
