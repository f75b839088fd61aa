//! A model that is asked for as long as there is time.
//!
//! An agent that waits for a hook gets an answer at its deadline, whatever a model does until then: a
//! slow machine, a busy server and a stalled connection all end as an error that the router knows how to
//! live with. What it computed before, from words and static vectors, is the answer.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use sinew_route::{EmbedError, Embedder, TextSide};

/// A model whose answers are worth nothing after a moment.
#[derive(Debug)]
pub(super) struct PunctualEmbedder {
    model: Arc<dyn Embedder>,
    until: Instant,
}

impl PunctualEmbedder {
    pub(super) fn new(model: Arc<dyn Embedder>, until: Instant) -> Self {
        Self { model, until }
    }
}

impl Embedder for PunctualEmbedder {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dims(&self) -> usize {
        self.model.dims()
    }

    fn is_local(&self) -> bool {
        self.model.is_local()
    }

    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(EmbedError::Timeout(left));
        }
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let model = Arc::clone(&self.model);
        let (tell, told) = mpsc::channel();
        let work = move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            // If the receiver is gone, the moment has passed.
            let _ = tell.send(model.embed(&texts, side));
        };
        if let Err(error) = thread::Builder::new().spawn(work) {
            return Err(EmbedError::Unreachable(error.to_string()));
        }
        match told.recv_timeout(left) {
            Ok(vectors) => vectors,
            Err(RecvTimeoutError::Timeout) => Err(EmbedError::Timeout(left)),
            Err(RecvTimeoutError::Disconnected) => {
                Err(EmbedError::Unreachable("it broke off".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A model that waits for a word before it answers.
    #[derive(Debug)]
    struct HeldModel(std::sync::Mutex<mpsc::Receiver<()>>);

    impl Embedder for HeldModel {
        fn id(&self) -> &str {
            "held"
        }

        fn dims(&self) -> usize {
            1
        }

        fn embed(&self, texts: &[&str], _: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
            let _ = self.0.lock().expect("unharmed").recv();
            Ok(vec![vec![1.0]; texts.len()])
        }
    }

    fn held(until: Instant) -> (mpsc::Sender<()>, PunctualEmbedder) {
        let (tell, told) = mpsc::channel();
        (tell, PunctualEmbedder::new(Arc::new(HeldModel(std::sync::Mutex::new(told))), until))
    }

    #[test]
    fn a_model_in_time_answers_and_a_late_one_is_left_out() {
        let (tell, punctual) = held(Instant::now() + Duration::from_secs(600));
        tell.send(()).expect("heard");
        assert_eq!(punctual.embed(&["a", "b"], TextSide::Message).map(|all| all.len()), Ok(2));
        let (_never, punctual) = held(Instant::now() + Duration::from_millis(20));
        let late = punctual.embed(&["a"], TextSide::Message);
        assert!(matches!(late, Err(EmbedError::Timeout(_))), "{late:?}");
    }

    #[test]
    fn a_model_is_not_started_after_its_moment() {
        let (_never, punctual) = held(Instant::now());
        let late = punctual.embed(&["a"], TextSide::Message);
        assert_eq!(late, Err(EmbedError::Timeout(Duration::ZERO)));
    }
}
