//! Questions with two answers.

use std::io;

use inquire::InquireError;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;

/// The person's answer. Escape means no; Ctrl-C stops the command, and whatever would have come after
/// the question with it.
pub(crate) fn confirmed(question: &str, default: bool) -> Result<bool, EngineError> {
    answer(inquire::Confirm::new(question).with_default(default).prompt())
}

fn answer(given: Result<bool, InquireError>) -> Result<bool, EngineError> {
    let stopped = |message: String| {
        EngineError::new(ErrorCode::NotConfirmed, message)
            .hint("what was confirmed before is done; nothing else was changed")
    };
    match given {
        Ok(answer) => Ok(answer),
        Err(InquireError::OperationCanceled) => Ok(false),
        Err(InquireError::OperationInterrupted) => Err(stopped("stopped".to_owned())),
        Err(InquireError::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
            Err(stopped("stopped".to_owned()))
        }
        Err(error) => Err(stopped(format!("the question cannot be asked: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use inquire::InquireError;

    use super::answer;

    #[test]
    fn escape_says_no_and_ctrl_c_stops() {
        assert!(answer(Ok(true)).expect("an answer"));
        assert!(!answer(Err(InquireError::OperationCanceled)).expect("an answer"));
        let stopped = answer(Err(InquireError::OperationInterrupted)).expect_err("no answer");
        assert_eq!(stopped.message, "stopped");
    }
}
