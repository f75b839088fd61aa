//! The workshop's errors, with what to do next.

use sinew_workshop::Error as Trouble;

use crate::{Error, ErrorKind};

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        use ErrorKind as K;
        let message = trouble.to_string();
        let told = |kind, code| Self::new(kind, code, message.clone());
        match trouble {
            Trouble::Store(error) => error.into(),
            Trouble::Required(_)
            | Trouble::ReplaceNeedsBoth
            | Trouble::UnknownAction(_)
            | Trouble::BadParameter { .. }
            | Trouble::InvalidSection(_)
            | Trouble::EmptyDescription => told(K::Usage, "bad-request"),
            Trouble::InvalidName(_) => told(K::Usage, "invalid-name")
                .hint("a name has 2 to 80 of a-z, 0-9, - and _, and starts with a letter or digit"),
            Trouble::ControlCharacter { .. } => told(K::Refused, "control-character")
                .hint("write plain text; line ends and tabs are fine"),
            Trouble::FieldTooLong { .. } | Trouble::TooLarge(_) => told(K::Refused, "too-large")
                .hint("shorten it, or raise plugins.entries.skill-workshop.config.maxSkillBytes"),
            Trouble::TooManyFiles(_) => told(K::Refused, "too-many-files"),
            Trouble::Secret { .. } => told(K::Refused, "literal-secret")
                .hint("nothing was stored; if the secret is real, replace it where it was issued"),
            Trouble::NoSuchSkill(_) => {
                told(K::No, "unknown-skill").hint("without --old and --new it becomes a new skill")
            }
            Trouble::Exists(_) => told(K::Refused, "exists")
                .hint("move or rename what is there, or give the draft another name"),
            Trouble::OldTextNotFound => told(K::No, "old-text-not-found")
                .hint("copy the text exactly as it stands in the skill's file"),
            Trouble::Unreadable(_) => {
                told(K::Refused, "unreadable-result").hint("leave the front matter's lines whole")
            }
            Trouble::Unsafe(_) => told(K::Refused, "unsafe")
                .hint("`sinew workshop list --status quarantined` shows what was found"),
            Trouble::NotFound(_) => {
                told(K::No, "unknown-proposal").hint("`sinew workshop list` shows the ids")
            }
            Trouble::UnknownRun(_) => {
                told(K::No, "unknown-run").hint("`GET /api/v1/traces` lists those that are known")
            }
            Trouble::RunNotKept(_) => {
                told(K::No, "run-not-kept").hint("learn from its transcript again: sinew learn")
            }
            Trouble::Quarantined => told(K::Refused, "quarantined").hint(
                "revise or reject it; a person who has looked may `sinew workshop restore` it",
            ),
            Trouble::WrongStatus(_) | Trouble::OnlyAsItIs => told(K::Refused, "wrong-status"),
            Trouble::Stale(_) => told(K::Refused, "stale")
                .hint("`sinew workshop revise` makes it fit again, `reject` closes it"),
            Trouble::Changed => {
                told(K::Refused, "changed").hint("look at it again before you apply it")
            }
            Trouble::NotOurs { .. } => told(K::Refused, "not-ours")
                .hint("choose another name, or change the skill where it comes from"),
            Trouble::Same(name) => {
                told(K::Refused, "duplicate").hint(format!("add to {name} instead"))
            }
            Trouble::TooClose { name, .. } => told(K::Refused, "duplicate")
                .hint(format!("add to {name}: --skill {name} --section Workflow")),
            Trouble::Steals(_) => told(K::Refused, "steals")
                .hint("narrow the description, or accept it with --accept-stolen"),
            Trouble::Never(_) => told(K::Refused, "never")
                .hint("change plugins.entries.skill-workshop.config.approvalRules"),
            Trouble::NeedsApproval { .. } => told(K::Refused, "needs-approval")
                .hint("a person can look at it with `sinew workshop review`"),
            Trouble::Held(_) => {
                told(K::Refused, "held").hint("a person can decide with `sinew workshop review`")
            }
            Trouble::NeedsPerson(_) => {
                told(K::Refused, "needs-person").hint("run the command yourself, in a terminal")
            }
            Trouble::CannotAcknowledge(_) => told(K::Refused, "not-acknowledged")
                .hint("`sinew workshop inspect <id>` shows the findings and their rules"),
            Trouble::SupportPath(_) | Trouble::Escapes(_) => told(K::Refused, "path-escape"),
            Trouble::NothingToUndo(_) | Trouble::NoSuchVersion(_) => told(K::No, "nothing-to-undo")
                .hint("`sinew workshop history <skill>` shows what was written"),
            Trouble::ChangedSince { diff, .. } => told(K::Refused, "changed-since")
                .hint("--force keeps what is there as a version first, and then undoes")
                .hint(diff),
            Trouble::BadStore { .. } => told(K::Environment, "bad-store").hint(
                "nothing was read or changed; correct the file, or keep a copy and remove it",
            ),
            Trouble::BadRecord { .. } => told(K::Environment, "bad-record"),
            Trouble::Busy => told(K::Environment, "busy").hint("try again"),
            Trouble::NoRandomness(_) | Trouble::Io { .. } => told(K::Environment, "file-error"),
        }
    }
}
