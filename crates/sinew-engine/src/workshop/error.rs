//! The workshop's errors, with what to do next.

use sinew_settings::ErrorCode;
use sinew_workshop::WorkshopError;

use crate::EngineError;

impl From<WorkshopError> for EngineError {
    fn from(error: WorkshopError) -> Self {
        let told = |code| Self::new(code, error.to_string());
        let told = match &error {
            WorkshopError::Store(error) => return error.clone().into(),
            WorkshopError::Required(_)
            | WorkshopError::ReplaceNeedsBoth
            | WorkshopError::UnknownAction(_)
            | WorkshopError::BadParameter { .. }
            | WorkshopError::InvalidSection(_)
            | WorkshopError::EmptyDescription => told(ErrorCode::BadParameter),
            WorkshopError::InvalidName(_) => told(ErrorCode::InvalidName)
                .hint("a name has 2 to 80 of a-z, 0-9, - and _, and starts with a letter or digit"),
            WorkshopError::ControlCharacter { .. } => told(ErrorCode::ControlCharacter)
                .hint("write plain text; line ends and tabs are fine"),
            WorkshopError::FieldTooLong { .. } | WorkshopError::TooLarge(_) => told(
                ErrorCode::TooLarge,
            )
            .hint("shorten it, or raise plugins.entries.skill-workshop.config.maxSkillBytes"),
            WorkshopError::TooManyFiles(_) => told(ErrorCode::TooManyFiles),
            WorkshopError::Secret { .. } => told(ErrorCode::LiteralSecret)
                .hint("nothing was stored; if the secret is real, replace it where it was issued"),
            WorkshopError::NoSuchSkill(_) => {
                told(ErrorCode::UnknownSkill).hint("without --old and --new it becomes a new skill")
            }
            WorkshopError::Exists(_) => told(ErrorCode::TargetExists)
                .hint("move or rename what is there, or give the draft another name"),
            WorkshopError::OldTextNotFound => told(ErrorCode::OldTextNotFound)
                .hint("copy the text exactly as it stands in the skill's file"),
            WorkshopError::Unreadable(_) => {
                told(ErrorCode::UnreadableResult).hint("leave the front matter's lines whole")
            }
            WorkshopError::Unsafe(_) => told(ErrorCode::Unsafe)
                .hint("`sinew workshop list --status quarantined` shows what was found"),
            WorkshopError::NotFound(_) => {
                told(ErrorCode::UnknownProposal).hint("`sinew workshop list` shows the ids")
            }
            WorkshopError::UnknownRun(_) => {
                told(ErrorCode::UnknownRun).hint("`GET /api/v1/traces` lists those that are known")
            }
            WorkshopError::RunNotKept(_) => {
                told(ErrorCode::RunNotKept).hint("learn from its transcript again: sinew learn")
            }
            WorkshopError::Quarantined => told(ErrorCode::Quarantined).hint(
                "revise or reject it; a person who has looked may `sinew workshop restore` it",
            ),
            WorkshopError::WrongStatus(_) | WorkshopError::OnlyAsItIs => {
                told(ErrorCode::WrongStatus)
            }
            WorkshopError::Stale(_) => told(ErrorCode::Stale)
                .hint("`sinew workshop revise` makes it fit again, `reject` closes it"),
            WorkshopError::Changed => {
                told(ErrorCode::Changed).hint("look at it again before you apply it")
            }
            WorkshopError::NotOurs { .. } => told(ErrorCode::NotOurs)
                .hint("choose another name, or change the skill where it comes from"),
            WorkshopError::Same(name) => {
                told(ErrorCode::Duplicate).hint(format!("add to {name} instead"))
            }
            WorkshopError::TooClose { name, .. } => told(ErrorCode::Duplicate)
                .hint(format!("add to {name}: --skill {name} --section Workflow")),
            WorkshopError::Steals(_) => told(ErrorCode::Steals)
                .hint("narrow the description, or accept it with --accept-stolen"),
            WorkshopError::Never(_) => told(ErrorCode::Never)
                .hint("change plugins.entries.skill-workshop.config.approvalRules"),
            WorkshopError::NeedsApproval { .. } => told(ErrorCode::NeedsApproval)
                .hint("a person can look at it with `sinew workshop review`")
                .hint("for scripts, list `proposal` in approvals.unattended"),
            WorkshopError::Held(_) => {
                told(ErrorCode::Held).hint("a person can decide with `sinew workshop review`")
            }
            WorkshopError::NeedsPerson(_) => {
                told(ErrorCode::NeedsPerson).hint("run the command yourself, in a terminal")
            }
            WorkshopError::CannotAcknowledge(_) => told(ErrorCode::NotAcknowledged)
                .hint("`sinew workshop inspect <id>` shows the findings and their rules"),
            WorkshopError::SupportPath(_) | WorkshopError::Escapes(_) => {
                told(ErrorCode::PathEscape)
            }
            WorkshopError::NothingToUndo(_) | WorkshopError::NoSuchVersion(_) => told(
                ErrorCode::NothingToUndo,
            )
            .hint("`sinew workshop history` with the name of a skill shows what was written"),
            WorkshopError::ChangedSince { diff, .. } => told(ErrorCode::ChangedSince)
                .hint("--force keeps what is there as a version first, and then undoes")
                .hint(diff),
            WorkshopError::BadStore { .. } => told(ErrorCode::BadStore).hint(
                "nothing was read or changed; correct the file, or keep a copy and remove it",
            ),
            WorkshopError::BadRecord { .. } => told(ErrorCode::BadRecord),
            WorkshopError::Busy => told(ErrorCode::Busy).hint("try again"),
            WorkshopError::NoRandomness(_) => told(ErrorCode::NoEntropy),
            WorkshopError::Io { .. } => told(ErrorCode::FileError),
        };
        told.caused_by(error)
    }
}
