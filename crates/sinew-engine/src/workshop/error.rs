//! The workshop's errors, with what to do next.

use sinew_settings::ErrorKind;
use sinew_workshop::WorkshopError;

use crate::EngineError;

impl From<WorkshopError> for EngineError {
    fn from(trouble: WorkshopError) -> Self {
        use ErrorKind as K;
        let message = trouble.to_string();
        let told = |kind, code| Self::new(kind, code, message.clone());
        match trouble {
            WorkshopError::Store(error) => error.into(),
            WorkshopError::Required(_)
            | WorkshopError::ReplaceNeedsBoth
            | WorkshopError::UnknownAction(_)
            | WorkshopError::BadParameter { .. }
            | WorkshopError::InvalidSection(_)
            | WorkshopError::EmptyDescription => told(K::Usage, "bad-request"),
            WorkshopError::InvalidName(_) => told(K::Usage, "invalid-name")
                .hint("a name has 2 to 80 of a-z, 0-9, - and _, and starts with a letter or digit"),
            WorkshopError::ControlCharacter { .. } => told(K::Refused, "control-character")
                .hint("write plain text; line ends and tabs are fine"),
            WorkshopError::FieldTooLong { .. } | WorkshopError::TooLarge(_) => {
                told(K::Refused, "too-large").hint(
                    "shorten it, or raise plugins.entries.skill-workshop.config.maxSkillBytes",
                )
            }
            WorkshopError::TooManyFiles(_) => told(K::Refused, "too-many-files"),
            WorkshopError::Secret { .. } => told(K::Refused, "literal-secret")
                .hint("nothing was stored; if the secret is real, replace it where it was issued"),
            WorkshopError::NoSuchSkill(_) => {
                told(K::No, "unknown-skill").hint("without --old and --new it becomes a new skill")
            }
            WorkshopError::Exists(_) => told(K::Refused, "exists")
                .hint("move or rename what is there, or give the draft another name"),
            WorkshopError::OldTextNotFound => told(K::No, "old-text-not-found")
                .hint("copy the text exactly as it stands in the skill's file"),
            WorkshopError::Unreadable(_) => {
                told(K::Refused, "unreadable-result").hint("leave the front matter's lines whole")
            }
            WorkshopError::Unsafe(_) => told(K::Refused, "unsafe")
                .hint("`sinew workshop list --status quarantined` shows what was found"),
            WorkshopError::NotFound(_) => {
                told(K::No, "unknown-proposal").hint("`sinew workshop list` shows the ids")
            }
            WorkshopError::UnknownRun(_) => {
                told(K::No, "unknown-run").hint("`GET /api/v1/traces` lists those that are known")
            }
            WorkshopError::RunNotKept(_) => {
                told(K::No, "run-not-kept").hint("learn from its transcript again: sinew learn")
            }
            WorkshopError::Quarantined => told(K::Refused, "quarantined").hint(
                "revise or reject it; a person who has looked may `sinew workshop restore` it",
            ),
            WorkshopError::WrongStatus(_) | WorkshopError::OnlyAsItIs => {
                told(K::Refused, "wrong-status")
            }
            WorkshopError::Stale(_) => told(K::Refused, "stale")
                .hint("`sinew workshop revise` makes it fit again, `reject` closes it"),
            WorkshopError::Changed => {
                told(K::Refused, "changed").hint("look at it again before you apply it")
            }
            WorkshopError::NotOurs { .. } => told(K::Refused, "not-ours")
                .hint("choose another name, or change the skill where it comes from"),
            WorkshopError::Same(name) => {
                told(K::Refused, "duplicate").hint(format!("add to {name} instead"))
            }
            WorkshopError::TooClose { name, .. } => told(K::Refused, "duplicate")
                .hint(format!("add to {name}: --skill {name} --section Workflow")),
            WorkshopError::Steals(_) => told(K::Refused, "steals")
                .hint("narrow the description, or accept it with --accept-stolen"),
            WorkshopError::Never(_) => told(K::Refused, "never")
                .hint("change plugins.entries.skill-workshop.config.approvalRules"),
            WorkshopError::NeedsApproval { .. } => told(K::Refused, "needs-approval")
                .hint("a person can look at it with `sinew workshop review`"),
            WorkshopError::Held(_) => {
                told(K::Refused, "held").hint("a person can decide with `sinew workshop review`")
            }
            WorkshopError::NeedsPerson(_) => {
                told(K::Refused, "needs-person").hint("run the command yourself, in a terminal")
            }
            WorkshopError::CannotAcknowledge(_) => told(K::Refused, "not-acknowledged")
                .hint("`sinew workshop inspect <id>` shows the findings and their rules"),
            WorkshopError::SupportPath(_) | WorkshopError::Escapes(_) => {
                told(K::Refused, "path-escape")
            }
            WorkshopError::NothingToUndo(_) | WorkshopError::NoSuchVersion(_) => {
                told(K::No, "nothing-to-undo")
                    .hint("`sinew workshop history <skill>` shows what was written")
            }
            WorkshopError::ChangedSince { diff, .. } => told(K::Refused, "changed-since")
                .hint("--force keeps what is there as a version first, and then undoes")
                .hint(diff),
            WorkshopError::BadStore { .. } => told(K::Environment, "bad-store").hint(
                "nothing was read or changed; correct the file, or keep a copy and remove it",
            ),
            WorkshopError::BadRecord { .. } => told(K::Environment, "bad-record"),
            WorkshopError::Busy => told(K::Environment, "busy").hint("try again"),
            WorkshopError::NoRandomness(_) | WorkshopError::Io { .. } => {
                told(K::Environment, "file-error")
            }
        }
    }
}
