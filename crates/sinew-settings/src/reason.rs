//! Why something was left out, shortened, repaired or overridden.
//!
//! A [`ReasonCode`] is stable, written in kebab-case, and has a stage and a severity, so that every
//! surface reports the same. Codes are never renamed once released.

use std::fmt;

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// The stage of processing in which a reason arose.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshDeserialize,
    BorshSerialize,
)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReasonStage {
    /// Walking the roots.
    Discover,
    /// Reading one file.
    Parse,
    /// Two skills of the same name.
    Merge,
    /// What this machine and this configuration allow.
    Gate,
    /// Who may see an eligible skill.
    Visibility,
    /// Fitting skills into the prompt.
    Prompt,
    /// Reading the configuration.
    Config,
    /// Watching the roots for changes.
    Watch,
    /// Passing variables to a run.
    Env,
    /// Installing what a skill needs.
    Install,
    /// Sending a command straight to a tool.
    Dispatch,
}

/// How important a reason is to its reader.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    BorshDeserialize,
    BorshSerialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReasonSeverity {
    /// Worth knowing.
    Info,
    /// Something differs from what its author intended.
    Warn,
    /// The skill cannot be used.
    Error,
}

impl fmt::Display for ReasonSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($stage:ident { $($variant:ident $name:literal $severity:ident, $doc:literal;)* })*) => {
        /// The stable name of a reason.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshDeserialize, BorshSerialize,
        )]
        pub enum ReasonCode {
            $($(#[doc = $doc] $variant,)*)*
        }

        impl ReasonCode {
            /// Every code, in the order of the stages.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)*)*];

            /// The kebab-case name that scripts rely on.
            pub fn as_str(self) -> &'static str {
                match self { $($(Self::$variant => $name,)*)* }
            }

            /// The stage that raises this code.
            pub fn stage(self) -> ReasonStage {
                match self { $($(Self::$variant => ReasonStage::$stage,)*)* }
            }

            /// How much it matters.
            pub fn severity(self) -> ReasonSeverity {
                match self { $($(Self::$variant => ReasonSeverity::$severity,)*)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $($(Self::$variant => $doc,)*)* }
            }
        }
    };
}

codes! {
    Discover {
        RootMissing "root-missing" Info, "A folder that may contain skills does not exist.";
        RootUnreadable "root-unreadable" Warn, "A folder that may contain skills cannot be listed.";
        ScanTruncated "scan-truncated" Warn, "A folder has more entries than are examined.";
        CandidatesCapped "candidates-capped" Warn, "A root has more skill folders than are considered.";
        SourceCapped "source-capped" Warn, "A root has more skills than are loaded.";
        DepthCapped "depth-capped" Warn, "A skill is in a deeper folder than is searched.";
        FilenameCase "filename-case" Warn, "The file must be named exactly SKILL.md.";
        SymlinkEscape "symlink-escape" Error, "A link points outside the root.";
        PathEscape "path-escape" Error, "A path points outside its folder.";
        BundledSymlinkEscape "bundled-symlink-escape" Error, "A link points outside the bundled skills.";
        BundledRootEscape "bundled-root-escape" Error, "A bundled skill is outside the bundled folder.";
        HardLink "hard-link" Error, "The file has another hard link elsewhere.";
        NotRegularFile "not-regular-file" Error, "SKILL.md is not a regular file.";
        Unreadable "unreadable" Error, "The file cannot be read.";
    }
    Parse {
        FileTooLarge "file-too-large" Error, "The file exceeds the size limit.";
        NotUtf8 "not-utf8" Error, "The file is not UTF-8 text.";
        NulByte "nul-byte" Error, "The file contains a NUL byte.";
        FrontmatterMissing "frontmatter-missing" Warn, "The file does not start with front matter.";
        FrontmatterUnterminated "frontmatter-unterminated" Error, "The front matter is not closed.";
        FrontmatterInvalid "frontmatter-invalid" Error, "The front matter is not valid YAML.";
        FrontmatterRepaired "frontmatter-repaired" Warn, "The front matter was read after a repair.";
        DuplicateKey "duplicate-key" Error, "A front matter key occurs twice.";
        RootNotMap "root-not-map" Error, "The front matter is not a list of fields.";
        NameMissing "name-missing" Error, "The skill has no usable name.";
        DescriptionMissing "description-missing" Error, "The skill has no description.";
        MetadataInvalid "metadata-invalid" Warn, "The metadata cannot be read, so the skill's requirements are unknown.";
        BadMetadataField "bad-metadata-field" Warn, "A metadata field has a value of the wrong kind.";
        BadBoolean "bad-boolean" Info, "A field that must be true or false has another value.";
        UnusedField "unused-field" Info, "A field has no effect at this place.";
        DescriptionJoined "description-joined" Warn, "The description is a list; its items were joined.";
        StrictInvalid "strict-invalid" Error, "The skill does not pass the strict rules of this profile.";
    }
    Merge {
        InstalledNameTaken "installed-name-taken" Warn, "It has the name of an installed skill, which stays in use.";
        EntryOfAnother "entry-of-another" Warn, "The skill asks for a configured entry that was made for another skill.";
        Shadowed "shadowed" Info, "Another skill of the same name is used instead.";
        ConfusableName "confusable-name" Warn, "Two skills have names that differ only in case or separators.";
    }
    Gate {
        Disabled "disabled" Info, "The configuration switches the skill off.";
        HostDisabled "host-disabled" Info, "The host's own settings switch the skill off.";
        PluginDisabled "plugin-disabled" Info, "The skill came with a plugin that is switched off.";
        SecretUnavailable "secret-unavailable" Error, "A configured secret cannot be resolved.";
        NotInAllowBundled "not-in-allow-bundled" Info, "The list of allowed bundled skills does not include it.";
        OsMismatch "os-mismatch" Info, "The skill is for another operating system.";
        MissingEnv "missing-env" Warn, "An environment variable is not set.";
        MissingAnyEnv "missing-any-env" Warn, "None of several environment variables is set.";
        MissingConfig "missing-config" Warn, "A configuration value is not set.";
        MissingBin "missing-bin" Warn, "A program is not installed.";
        MissingAnyBin "missing-any-bin" Warn, "None of several programs is installed.";
        MissingSkill "missing-skill" Warn, "Another skill that it needs is not there, or cannot be used.";
        Quarantined "quarantined" Error, "The guard blocks the skill's content.";
        DraftUnreviewed "draft-unreviewed" Warn, "A generated draft waits for review.";
    }
    Visibility {
        AgentFilter "agent-filter" Info, "The agent's own list does not include it.";
        SessionOverride "session-override" Info, "This session shows or hides it.";
        ModelInvocationDisabled "model-invocation-disabled" Info, "Only people may call it, not the model.";
        HostHidden "host-hidden" Info, "The host's own settings hide it from the model.";
        NotUserInvocable "not-user-invocable" Info, "It is not a slash command.";
    }
    Prompt {
        PromptCount "prompt-count" Warn, "More skills are visible than the prompt may list.";
        PromptBudget "prompt-budget" Warn, "The prompt has no room left for it.";
        DescriptionShortened "description-shortened" Info, "The description was cut to fit the prompt.";
        DescriptionOmitted "description-omitted" Info, "The description was left out to fit the prompt.";
        PromptMode "prompt-mode" Info, "This prompt mode lists no skills.";
        ReadToolMissing "read-tool-missing" Info, "The agent has no tool to read a skill.";
        RemoteNoteDropped "remote-note-dropped" Info, "The note about remote skills did not fit.";
    }
    Config {
        BadConfigValue "bad-config-value" Warn, "A configuration value is invalid; the default is used.";
        UnknownConfigKey "unknown-config-key" Warn, "The configuration has an unknown key.";
        ExposedConfig "exposed-config" Warn, "Others can change the configuration, which holds keys.";
        UnknownSkillKey "unknown-skill-key" Info, "The configuration names a skill that does not exist.";
        UnknownFilterName "unknown-filter-name" Warn, "An agent's list names a skill that does not exist.";
        UnknownAgent "unknown-agent" Warn, "The configuration does not mention this agent.";
        PluginSkipped "plugin-skipped" Info, "A plugin contributes no skills.";
        HostFileUnreadable "host-file-unreadable" Warn, "A file in which a host keeps its settings or plugins cannot be read.";
        FolderNotTrusted "folder-not-trusted" Info, "The host does not trust this folder, and reads none of its skills.";
    }
    Watch {
        WatchUnavailable "watch-unavailable" Warn, "Changes cannot be watched on this machine right now.";
        WatchDegraded "watch-degraded" Info, "Changes are checked at each use instead of being watched.";
    }
    Env {
        EnvEmpty "env-empty" Info, "A configured variable has no name or no value.";
        EnvBadName "env-bad-name" Warn, "A configured variable has an invalid name.";
        EnvExternallySet "env-externally-set" Info, "The variable is already set on this machine, and that value is used.";
        EnvBlocked "env-blocked" Warn, "No skill may set this variable.";
        EnvUndeclared "env-undeclared" Warn, "The variable needs a declaration that the skill does not have.";
        EnvNul "env-nul" Warn, "The value contains a NUL byte.";
        EnvSuspicious "env-suspicious" Warn, "The value is unusually long or looks encoded.";
        EnvConflict "env-conflict" Warn, "Two skills set different values for one variable.";
        EnvChangedExternally "env-changed-externally" Warn, "Another program changed the variable during the run; it was left alone.";
    }
    Install {
        InstallSpecInvalid "install-spec-invalid" Warn, "An `install` entry of a skill is invalid.";
        NeedsVersion "needs-version" Info, "The module is named without a version.";
        ManagerMissing "manager-missing" Warn, "The program that installs it is missing.";
        ConsentRequired "consent-required" Warn, "Nothing is installed before a person agrees.";
        PolicyBlocked "policy-blocked" Error, "The installation policy refused it.";
        PolicyWarned "policy-warned" Warn, "The installation policy requires its warning to be acknowledged.";
        PolicyUnavailable "policy-unavailable" Error, "The installation policy gave no usable answer.";
        ScanBlocked "scan-blocked" Error, "The guard found something critical in the skill.";
        InstallTimeout "install-timeout" Error, "The installer took too long and was stopped.";
        InstallFailed "install-failed" Error, "The installer failed.";
        InstalledButMissingBin "installed-but-missing-bin" Error, "The installer finished, but the program is still not found.";
        DownloadRefusedAddress "download-refused-address" Error, "The address belongs to this machine or a private network.";
        DownloadTooLarge "download-too-large" Error, "The download is larger than allowed.";
        DownloadDigestMismatch "download-digest-mismatch" Error, "The download does not match the digest that the skill gives.";
        DownloadHttpStatus "download-http-status" Error, "The server did not deliver the download.";
        TargetEscape "target-escape" Error, "The download would be written outside the skill's folder of tools.";
        ArchiveUnknown "archive-unknown" Error, "The download is not a known kind of archive.";
        ArchiveUnsafeEntry "archive-unsafe-entry" Error, "The archive contains an entry that must not be unpacked.";
        ArchiveTooLarge "archive-too-large" Error, "The archive unpacks to more than allowed.";
    }
    Dispatch {
        DispatchUnknownKind "dispatch-unknown-kind" Warn, "Commands can only be sent to a tool.";
        DispatchMissingTool "dispatch-missing-tool" Warn, "The command should go to a tool, but none is named.";
        DispatchBadArgMode "dispatch-bad-arg-mode" Warn, "Arguments can only be passed as they were typed.";
        DispatchToolUnavailable "dispatch-tool-unavailable" Error, "The tool does not exist for this caller.";
        DispatchNotTrusted "dispatch-not-trusted" Error, "The skill is not reviewed, so its command cannot call a tool.";
        DispatchArgsTooLong "dispatch-args-too-long" Error, "The arguments are too long for a tool.";
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ReasonCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One record: what happened to a skill, a file or a description, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Reason {
    /// The stable name.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub code: ReasonCode,
    /// Where it arose.
    pub stage: ReasonStage,
    /// How much it matters.
    pub severity: ReasonSeverity,
    /// The skill concerned, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The variable or installer concerned, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The source concerned, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The file or folder concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line in that file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What happened, in a sentence.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Reason {
    /// A reason with its code's own stage and severity.
    pub fn new(code: ReasonCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            stage: code.stage(),
            severity: code.severity(),
            skill: None,
            key: None,
            source: None,
            path: None,
            line: None,
            detail: detail.into(),
            remedy: None,
        }
    }

    /// Names the skill.
    #[must_use]
    pub fn skill(mut self, skill: impl Into<String>) -> Self {
        self.skill = Some(skill.into());
        self
    }

    /// Names the variable or installer.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Names the source.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Names the file or folder.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Names the line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: usize) -> Self {
        self.line = u32::try_from(line).ok();
        self
    }

    /// Sets the line if it is known.
    #[must_use]
    pub fn at_line(self, line: Option<usize>) -> Self {
        match line {
            Some(line) => self.line(line),
            None => self,
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Raises or lowers the severity if the code's own does not fit the case.
    #[must_use]
    pub fn severity(mut self, severity: ReasonSeverity) -> Self {
        self.severity = severity;
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        Ok(())
    }
}
