//! The index: everything about a catalog that routing needs, in one block of bytes.
//!
//! The bytes are the file: the built bytes are written, and read bytes are used in place. A
//! document is identified by (content hash, model id, template version); an unchanged one is
//! reused. Encoder vectors are filled in later and stored with the rest.

mod assemble;
mod cosines;
mod layout;
mod meaning_vectors;
mod prepare;
mod vectors;
mod view;

pub(crate) use cosines::MessageVector;
pub use layout::{IndexError, SharedBytes};
pub use meaning_vectors::MeaningVectors;
pub use view::{DocumentKey, IndexBuildCounts, RouteIndex};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RouteContext, RouteDocument, Router, RouterConfig, RouterModels, UserMessage};

    #[test]
    fn a_file_that_was_made_up_gives_wrong_answers_at_worst() {
        let documents: Vec<RouteDocument> = ["Split PDF files", "Rain and wind", "Play a song"]
            .iter()
            .enumerate()
            .map(|(at, text)| {
                RouteDocument::from_description(&format!("d{at}"), &format!("n{at}"), text)
            })
            .collect();
        let models = RouterModels::embedded_table();
        let good = RouteIndex::build(&documents, &models).to_bytes();
        let (mut state, mut used) = (7_usize, 0);
        for _ in 0..3_000 {
            let mut bytes = good.clone();
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                bytes[32 + (state >> 20) % (good.len() - 32)] = (state >> 12) as u8;
            }
            layout::seal(&mut bytes);
            let Ok(index) = RouteIndex::load(&bytes) else { continue };
            used += 1;
            let router =
                Router::from_index(index.into(), models.clone(), RouterConfig::default()).0;
            let message = UserMessage::from_user("$n1 play rain in PDF files");
            let _ = router.route(&message, &RouteContext::default());
            let _ = router.updated(&documents);
        }
        assert!(used > 100, "{used} were accepted");
    }
}
