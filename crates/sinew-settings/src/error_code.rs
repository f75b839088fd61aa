//! Every error code of the program, declared once: its kind, its HTTP status and its meaning.
//!
//! An error cannot be made without a code of this table, so the reference page, which is made from
//! [`ErrorCode::ALL`], names every one of them. **Must never happen here:** a code that is taken
//! away or changes its kind, because scripts read both.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::ErrorKind;

/// Codes that were renamed, by what they were called before: older files still hold them.
const RENAMED: &[(&str, ErrorCode)] = &[
    ("needs-terminal", ErrorCode::CannotChoose),
    ("no-room", ErrorCode::DiskFull),
    ("stands-still", ErrorCode::RunStuck),
];

impl ErrorCode {
    /// How the program ends with this error.
    pub fn exit_code(self) -> u8 {
        self.kind().exit_code()
    }

    /// The status of an HTTP response that carries this error.
    pub fn http_status(self) -> u16 {
        self.own_http_status().unwrap_or(self.kind().http_status())
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text that is not an error code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an error code")]
pub struct UnknownErrorCode(String);

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        let renamed = RENAMED.iter().find(|(old, _)| *old == text).map(|(_, code)| *code);
        renamed
            .or_else(|| Self::ALL.iter().copied().find(|code| code.as_str() == text))
            .ok_or_else(|| UnknownErrorCode(text.to_owned()))
    }
}

macro_rules! error_codes {
    ($($topic:literal {
        $($variant:ident $code:literal $kind:ident $($status:literal)?, $meaning:literal;)*
    })*) => {
        /// The stable name of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorCode {
            $($(#[doc = $meaning] $variant,)*)*
        }

        impl ErrorCode {
            /// Every code, in the order of the topics.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)*)*];

            /// The kebab-case name that scripts rely on.
            pub fn as_str(self) -> &'static str {
                match self { $($(Self::$variant => $code,)*)* }
            }

            /// What it is about, as a heading of the reference.
            pub fn topic(self) -> &'static str {
                match self { $($(Self::$variant => $topic,)*)* }
            }

            /// What kind of error it is.
            pub fn kind(self) -> ErrorKind {
                match self { $($(Self::$variant => ErrorKind::$kind,)*)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $($(Self::$variant => $meaning,)*)* }
            }

            /// The HTTP status where it is not that of the kind.
            fn own_http_status(self) -> Option<u16> {
                match self { $($($(Self::$variant => Some($status),)?)*)* _ => None }
            }
        }
    };
}

// A row is: variant, code, kind, the HTTP status where it is not that of the kind, meaning.
error_codes! {
    "Skills and their files" {
        UnknownSkill "unknown-skill" No, "No skill has this name.";
        AmbiguousSkill "ambiguous-skill" Usage, "Several skills have this name.";
        Excluded "excluded" Refused, "The skill cannot be used by this agent now.";
        Quarantined "quarantined" Refused 409, "A critical finding holds the skill or the proposal back.";
        SkillNotLoaded "skill-not-loaded" No, "The skill could not be loaded, or another one of its name is used.";
        SkillNotUsable "skill-not-usable" Refused, "The skill is disabled, blocked or meant for other agents.";
        NoSuchFile "no-such-file" No, "The file does not exist.";
        NoSuchPath "no-such-path" Usage, "The path does not exist.";
        NotAFile "not-a-file" Usage, "The path is not a regular file.";
        NotAFolder "not-a-folder" Usage, "The path is not a folder.";
        NotScannable "not-scannable" Refused, "The file is too large for a scan, or is not a regular file.";
        BadArchive "bad-archive" No, "The archive is damaged or unsafe to unpack.";
        BadData "bad-data" No, "A row of the data set cannot be read.";
        MissingData "missing-data" Usage, "The data set does not exist.";
        BadReport "bad-report" Usage, "The file is not a report of an earlier evaluation.";
        BadCase "bad-case" Usage, "A test case does not say which skill should answer.";
        NotAccepted "not-accepted" Refused, "The finding cannot be accepted.";
        OneTarget "one-target" Usage, "An acceptance covers exactly one skill.";
        OutsideSkills "outside-skills" Refused, "The path lies in no folder that holds skills.";
        PathEscape "path-escape" Refused, "The path leads out of the folder that may be used.";
        Unreadable "unreadable" Environment, "The file of a skill cannot be read.";
        BadValue "bad-value" Usage, "The value of a skill's setting is not allowed.";
        NotChosen "not-chosen" Refused, "No skill was chosen.";
    }
    "Configuration and the machine" {
        BadConfig "bad-config" Environment, "The configuration file is damaged or has the wrong shape.";
        BadSetting "bad-setting" Usage, "A setting has a value that is not allowed.";
        NoSuchConfig "no-such-config" Usage, "The configuration file does not exist.";
        UnknownProfile "unknown-profile" Usage, "No profile has this name.";
        NothingToImport "nothing-to-import" No, "The other program has nothing that could be imported.";
        NoHome "no-home" Environment, "The home folder is unknown.";
        NoProgram "no-program" Environment, "The program does not know where it is installed.";
        NoEntropy "no-entropy" Environment, "The system gives no random numbers.";
        NoRuntime "no-runtime" Environment, "The system gives no threads.";
        NoServiceManager "no-service-manager" Environment, "The system has no service manager that sinew can ask.";
        ServiceRefused "service-refused" Environment, "The system's service manager did not accept the service.";
        FileError "file-error" Environment, "A file cannot be read or written.";
        ChangedMeanwhile "changed-meanwhile" Environment 409, "Another process changed it at the same time.";
        TooLarge "too-large" Refused 413, "It is larger than is allowed.";
        TooManyFiles "too-many-files" Refused, "There are more files than are allowed.";
        TargetExists "target-exists" Refused, "Something else is at the target; nothing was overwritten.";
        CannotChoose "cannot-choose" No, "Without a terminal there is no way to choose.";
        NeedsATerminal "needs-a-terminal" Refused, "A person at a terminal has to decide.";
        NeedsPerson "needs-person" Refused, "Only a person may do this.";
        NotConfirmed "not-confirmed" Refused, "The change was not confirmed.";
        ModelFailed "model-failed" Environment, "A routing model failed.";
        NoLog "no-log" Usage, "The log's level or its file cannot be used.";
        DemoFailed "demo-failed" Environment, "A step of the demonstration did not end as expected.";
    }
    "The database" {
        BadDatabaseUrl "bad-database-url" Usage, "The database's address cannot be used.";
        DatabaseDamaged "database-damaged" Environment, "The database is damaged.";
        DatabaseForeign "database-foreign" Environment, "The file is no database of sinew's; it is left alone.";
        DatabaseReadOnly "database-read-only" Environment, "The database cannot be written.";
        DatabaseBusy "database-busy" Environment, "Other processes used the database for too long.";
        DatabaseUnreachable "database-unreachable" Environment, "The database server cannot be reached.";
        DatabaseFailed "database-failed" Environment, "The database reported another failure.";
        DiskFull "disk-full" Environment, "There is no space left for the database.";
        NotStorable "not-storable" Usage, "A name or a value cannot be stored.";
    }
    "Running programs" {
        NotStarted "not-started" Environment, "The program cannot be started.";
        SandboxUnavailable "sandbox-unavailable" Environment, "This system has no sandbox to run the program in.";
        SandboxFailed "sandbox-failed" Environment, "The sandbox could not be put around the program, so it was not started.";
        NoInstaller "no-installer" No, "The skill does not say how to install what it needs.";
        UnknownOption "unknown-option" Usage, "The skill has no such installer.";
        OsMismatch "os-mismatch" No, "The skill does not support this operating system.";
    }
    "Signatures" {
        BadSignature "bad-signature" Refused, "The skill's signature does not fit its files.";
        NotSigned "not-signed" Refused, "The configuration asks for a signature that the skill does not have.";
        BadKey "bad-key" Usage, "The key cannot be used to sign.";
    }
    "Approvals" {
        UnknownApproval "unknown-approval" No, "No approval has this id.";
        NeedsApproval "needs-approval" Refused, "A person has to approve it first.";
        NotApproved "not-approved" Refused, "The caller may not approve it.";
        Rejected "rejected" Refused, "A person declined.";
        AlreadyDecided "already-decided" Refused 409, "The approval is already decided or has expired.";
        ApprovalUsed "approval-used" Refused 409, "The approval has already been used.";
        OtherSubject "other-subject" Refused, "The approval is for something else.";
        QuoteMissing "quote-missing" Usage, "The person's answer has to be quoted.";
        TooManyApprovals "too-many-approvals" Refused, "Too many approvals are waiting already.";
    }
    "Learning and acquisition" {
        CortexDisabled "cortex-disabled" Refused, "The configuration disables learning.";
        CortexFailed "cortex-failed" Environment, "An earlier failure left the learned memory unusable in this process.";
        NoCortexFile "no-cortex-file" No, "The file is not a `cortex.json`.";
        UnknownRegion "unknown-region" No, "No region has this name.";
        UnknownLesson "unknown-lesson" No, "No lesson has this number.";
        BadRegion "bad-region" Usage, "The name of the region is not allowed.";
        NoRegion "no-region" Usage, "An outcome needs a region or a task.";
        BadName "bad-name" Usage, "A name in the outcome is empty, too long or not plain text.";
        Secret "secret" Usage, "A name in the outcome looks like a secret.";
        InTheFuture "in-the-future" Usage, "The outcome's time lies in the future.";
        KindWithoutFailure "kind-without-failure" Usage, "Only a failure has a kind.";
        BadBlame "bad-blame" Usage, "The share of blame is not above 0 and at most 1.";
        TooManySideEffects "too-many-side-effects" Usage, "The outcome names more side effects than are kept.";
        UnknownRun "unknown-run" No, "No run has this id.";
        NoRun "no-run" No, "No run is open.";
        NoTask "no-task" Usage, "The task is empty.";
        BadKeywords "bad-keywords" Usage, "The keywords are not three to five English words.";
        BadDigest "bad-digest" Usage, "The text does not name a skill and its digest.";
        NotNow "not-now" No, "The state of the run does not allow this step.";
        NotYet "not-yet" Refused, "The time in which a person may cancel is not over.";
        NotReadOnly "not-read-only" Refused, "The skill changes things, and the task only reads.";
        RunStuck "run-stuck" Environment, "The run has no next step.";
    }
    "Workshop and transcripts" {
        WorkshopOff "workshop-off" Refused, "The configuration disables the workshop.";
        UnknownProposal "unknown-proposal" No, "No proposal has this id.";
        AmbiguousProposal "ambiguous-proposal" Usage, "Several proposals have ids that begin so.";
        BadParameter "bad-parameter" Usage, "A parameter is missing or has a wrong value.";
        InvalidName "invalid-name" Usage, "The name cannot be the name of a skill.";
        NoContent "no-content" Usage, "The file has no content.";
        ControlCharacter "control-character" Refused, "The text holds a control character.";
        LiteralSecret "literal-secret" Refused, "The text holds a secret; nothing was stored.";
        OldTextNotFound "old-text-not-found" No, "The text to replace is not in the skill.";
        UnreadableResult "unreadable-result" Refused, "The change would leave a skill that cannot be read.";
        Unsafe "unsafe" Refused, "The scanner blocks the resulting skill.";
        WrongStatus "wrong-status" Refused 409, "The status of the proposal does not allow it.";
        Stale "stale" Refused 409, "The skill changed after the proposal was made.";
        Changed "changed" Refused 409, "The proposal changed after it was shown.";
        ChangedSince "changed-since" Refused 409, "The file changed after it was written.";
        NotOurs "not-ours" Refused, "The skill belongs to another owner and cannot be edited.";
        Duplicate "duplicate" Refused 409, "The workspace has the same skill, or one very like it.";
        Steals "steals" Refused, "The new description takes messages from other skills.";
        Never "never" Refused, "An approval rule forbids it.";
        Held "held" Refused 409, "A gate leaves the decision to a person.";
        NotAcknowledged "not-acknowledged" Refused, "The finding cannot be acknowledged.";
        NothingToUndo "nothing-to-undo" No, "There is no such version to return to.";
        BadStore "bad-store" Environment, "The file is not a workshop store.";
        BadRecord "bad-record" Environment, "A stored record cannot be read.";
        Busy "busy" Environment, "Another process is changing the workshop's records.";
        NoEditor "no-editor" Environment, "The editor cannot be started.";
        NoProvider "no-provider" Refused, "No language model is configured.";
        RunNotKept "run-not-kept" No, "The steps of the run are no longer stored.";
        NoDraft "no-draft" No, "The run gives no draft.";
        UnknownTranscript "unknown-transcript" No, "The file is not a transcript of a known agent.";
        BadTranscript "bad-transcript" Usage, "The transcript cannot be read.";
        NoTranscript "no-transcript" Usage, "No transcript was named.";
        NoSession "no-session" No, "The agent has no sessions here.";
        NoDefaultPlace "no-default-place" Usage, "Traces of this format have no default folder.";
        BadDays "bad-days" Usage, "The text is not a number of days.";
    }
    "Agents and hooks" {
        UnknownAgent "unknown-agent" Usage 404, "No agent has this name.";
        NotConnected "not-connected" No, "The agent is not connected.";
        AgentNotInstalled "agent-not-installed" Environment, "The agent's program is not on PATH, or cannot be started.";
        NoTrial "no-trial" Usage, "The agent cannot be started for a trial.";
        TrialFailed "trial-failed" Environment, "The trial of an agent could not begin.";
        NoSuchScope "no-such-scope" Usage, "The agent has no configuration of this scope.";
        NoHooks "no-hooks" Usage, "The agent has no hooks that can add to a message.";
        NoMcpClient "no-mcp-client" Usage, "The agent has no MCP client.";
        NoLibraryMode "no-library-mode" Usage, "The agent has no setting that leaves skills out of its list.";
        BadUrl "bad-url" Usage, "The address cannot be used.";
        BadSyntax "bad-syntax" Environment, "The other program's file has a syntax error.";
        BadShape "bad-shape" Environment, "The other program's file has an unexpected structure.";
        Conflict "conflict" Refused, "The other program's file has a different entry of this name.";
        LinkLeadsOut "link-leads-out" Refused, "The file is a link that leads out of the home folder.";
        NotCopied "not-copied" Environment, "A command cannot be copied.";
        UnknownEvent "unknown-event" Usage, "The agent has no such event.";
        UnreadableEvent "unreadable-event" Usage, "The event cannot be read.";
        NoDecision "no-decision" No, "No hook has made a decision yet.";
        TooLong "too-long" No, "The index of skills does not fit into the hook's answer.";
        NotKept "not-kept" Environment, "The event or the progress cannot be stored.";
        McpFailed "mcp-failed" Environment, "The conversation with the MCP client broke off.";
    }
    "Registries and installs" {
        BadReference "bad-reference" Usage, "The reference to a skill cannot be read.";
        BadVersion "bad-version" Usage, "The version cannot be read or does not apply here.";
        BadSource "bad-source" Usage, "No source has this name.";
        OneAtATime "one-at-a-time" Usage, "The option works with one reference only.";
        NotLocal "not-local" Usage, "The reference is not a folder on this machine.";
        NotFound "not-found" No, "Nothing has this name or version.";
        Ambiguous "ambiguous" No, "The reference fits several skills.";
        Gone "gone" No, "The registry has removed it.";
        NothingGone "nothing-gone" No, "No installed skill is known to be removed by its registry.";
        Exists "exists" No, "A skill of this name is installed already.";
        LocalChanges "local-changes" No, "The installed files were changed on this machine.";
        BadManifest "bad-manifest" Usage, "`skills.toml` cannot be read, or names something unknown.";
        NoManifest "no-manifest" No, "There is no `skills.toml` here.";
        LockBehind "lock-behind" No 409, "The lock does not agree with `skills.toml`.";
        SyncConflict "sync-conflict" No 409, "Two machines changed the same thing.";
        NoSyncRemote "no-sync-remote" Usage, "No git remote was named yet.";
        Invalid "invalid" No, "The files cannot be installed as a skill.";
        Unsupported "unsupported" No, "The format is not supported.";
        BadRequest "bad-request" No, "The registry did not accept the request.";
        Unavailable "unavailable" No, "The registry does not allow it.";
        IntegrityMismatch "integrity-mismatch" Refused, "The files do not have the expected digest.";
        IntegrityUnavailable "integrity-unavailable" Refused, "There is no digest to check the files against.";
        BlockedGuard "blocked-guard" Refused, "The scanner blocks the files.";
        BlockedUpstream "blocked-upstream" Refused, "The registry blocks the skill.";
        BlockedPolicy "blocked-policy" Refused, "The install policy blocks it.";
        Suspicious "suspicious" Refused, "The registry marks the skill as suspicious.";
        PendingScan "pending-scan" Refused, "The registry has not finished its scan.";
        Pinned "pinned" Refused, "The skill is pinned.";
        Shadows "shadows" Refused, "The skill would hide another one of its name.";
        OwnerChanged "owner-changed" Refused, "The skill now has another owner.";
        RateLimited "rate-limited" Environment, "The registry's rate limit is reached.";
        Offline "offline" Environment 404, "The network is switched off, and nothing is cached.";
        Auth "auth" Environment, "The registry needs a valid token.";
        Network "network" Environment, "The network or the registry failed.";
        Lock "lock" Environment, "The lock file is damaged or in use.";
        File "file" Environment, "A file of an install cannot be read or written.";
    }
    "Publishing and the team registry" {
        NotPublishable "not-publishable" Usage, "The folder cannot be published.";
        NoOwner "no-owner" Usage, "The registry does not say who you are.";
        NoToken "no-token" Usage, "No token was given.";
        BadHandle "bad-handle" Usage, "The text cannot be the name of an owner.";
        NoLogin "no-login" No, "No login waits with this code.";
        UnknownToken "unknown-token" No, "No token has this id.";
        NoTokens "no-tokens" Environment, "The registry's tokens cannot be used.";
        NoBlobs "no-blobs" Environment, "The registry's file store cannot be used.";
        NoMirror "no-mirror" Usage, "The registry mirrors no other registry.";
        NoExactVersion "no-exact-version" Usage, "A mirrored skill needs an exact version.";
    }
    "Server" {
        BadAddress "bad-address" Usage, "The text is not a valid listen address.";
        BadPublicUrl "bad-public-url" Usage, "The public address is not an origin.";
        Unguarded "unguarded" Refused, "Listening beyond this machine needs a token.";
        CannotListen "cannot-listen" Environment, "The address cannot be listened on.";
        ServerStopped "server-stopped" Environment, "The server stopped.";
        TokenExposed "token-exposed" Refused, "Other users can read the token's file.";
        BadToken "bad-token" Environment, "The token's file holds no token.";
        Unauthorized "unauthorized" Refused 401, "The request has no valid token.";
        Csrf "csrf" Refused, "The change does not come from one of our own pages.";
        TooManyRequests "too-many-requests" Environment 429, "The client sends more requests than are allowed.";
        TooManyStreams "too-many-streams" Environment, "Too many event streams are open.";
        UnknownRoute "unknown-route" No, "The API has no such address.";
        WrongMethod "wrong-method" Usage 405, "The address does not take this method.";
        NotJson "not-json" Usage 415, "The body is not declared as JSON.";
        BadBody "bad-body" Usage, "The body cannot be read.";
        BadQuery "bad-query" Usage, "A query parameter cannot be read.";
        BadPath "bad-path" Usage, "A part of the address cannot be read.";
        BadPage "bad-page" Usage, "The cursor or the limit of the page cannot be used.";
        BadTime "bad-time" Usage, "The time is not in RFC 3339 form.";
        BadLimit "bad-limit" Usage, "The limit is out of range.";
        BadMessage "bad-message" Usage, "The message is empty or too long.";
        BadIntent "bad-intent" Usage, "The intent is too long.";
        BadSearch "bad-search" Usage, "The search text is empty or too long.";
        BadTarget "bad-target" Usage, "The request names no target, or more than one.";
        BadOutcome "bad-outcome" Usage, "The fields of the outcome contradict each other.";
        UnknownKind "unknown-kind" Usage, "No event has this kind.";
        UnknownAction "unknown-action" No, "The page has no such action.";
        UnknownSwitch "unknown-switch" Usage, "The page has no such switch.";
        NotHidden "not-hidden" No, "The skill is not on the blacklist.";
        NotWritable "not-writable" Environment, "The answer cannot be written as JSON.";
        NotDrawn "not-drawn" Environment, "The page cannot be rendered.";
        Internal "internal" Environment 500, "A bug in sinew stopped the request.";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_code_is_its_variant_in_kebab_case_and_stands_once() {
        let mut codes = HashSet::new();
        for code in ErrorCode::ALL {
            let mut kebab = String::new();
            for letter in format!("{code:?}").chars() {
                if letter.is_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.push(letter.to_ascii_lowercase());
            }
            assert_eq!(code.as_str(), kebab);
            assert!(codes.insert(code.as_str()), "{code} stands twice");
            assert!(code.meaning().ends_with('.'), "{code}: {}", code.meaning());
        }
    }

    #[test]
    fn every_code_has_one_exit_code_and_one_status_of_an_error() {
        for code in ErrorCode::ALL {
            assert!((1..=4).contains(&code.exit_code()), "{code}");
            assert!((400..600).contains(&code.http_status()), "{code}");
            let own = code.own_http_status();
            assert_ne!(own, Some(code.kind().http_status()), "{code} repeats its kind's status");
        }
    }

    #[test]
    fn codes_of_older_files_are_still_read() {
        for code in ErrorCode::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
        assert_eq!("needs-terminal".parse(), Ok(ErrorCode::CannotChoose));
        assert_eq!("no-room".parse(), Ok(ErrorCode::DiskFull));
        assert_eq!("stands-still".parse(), Ok(ErrorCode::RunStuck));
        assert!("No-Room".parse::<ErrorCode>().is_err());
    }
}
