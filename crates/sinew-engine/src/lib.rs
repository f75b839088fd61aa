//! The engine: composes the parts of sinew, and is the only place where rules meet.
//!
//! Every surface (command line, HTTP, MCP, dashboard) opens an [`Engine`] and renders what it
//! answers. The engine prints nothing and asks nobody; it gives values, reasons and errors that say
//! what to do next.
//!
//! ```
//! use sinew_engine::{Engine, EngineOptions, RouteRequest};
//! use sinew_settings::{Environment, FixedClock};
//!
//! # let folder = tempfile::tempdir()?;
//! # let skill = folder.path().join("work/skills/pdf-tools");
//! # std::fs::create_dir_all(&skill)?;
//! # std::fs::write(
//! #     skill.join("SKILL.md"),
//! #     "---\nname: pdf-tools\ndescription: Split, merge and rotate PDF files\n---\n# PDF\n",
//! # )?;
//! # let (home, cwd) = (folder.path().to_owned(), folder.path().join("work"));
//! let machine = Environment {
//!     home,
//!     cwd,
//!     vars: Default::default(),
//!     os: "linux".to_owned(),
//!     exe: None,
//!     clock: std::sync::Arc::new(FixedClock(1_700_000_000_000)),
//! };
//! let engine = Engine::open(machine, EngineOptions::default())?;
//! let answer = engine.route(&RouteRequest::new("use the pdf-tools skill"));
//! assert_eq!(answer.matches[0].name, "pdf-tools");
//! let block = engine.prompt(&engine.snapshot().catalog, &Default::default());
//! assert!(block.text.contains("pdf-tools"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** the machine arrives in an [`Environment`]; nothing below a surface looks at the
//! process. **Left out on purpose:** terminals, HTTP, and how an answer looks.

mod access_token;
pub mod acquire;
mod activity;
mod agent_view;
pub mod approval;
mod arguments;
mod bundled;
mod catalog_cache;
mod check;
mod config_view;
pub mod connect;
mod cortex;
mod deps;
mod details;
mod dispatch;
mod doctor;
mod engine;
mod error;
mod exec;
mod explain;
mod files;
pub mod hook;
pub mod hub;
mod install;
mod learn;
mod live_engine;
pub mod model;
mod openpocket;
mod prompt;
mod requirement_checks;
mod routing;
mod scan;
mod served_skills;
mod settings;
mod skill_settings;
mod store;
mod validate;
mod watch;
mod workshop;

pub use activity::{ActivityEntry, ActivityFilter};
pub use agent_view::{
    AgentScanVerdict, FindingCounts, ScanExtent, ScanSubject, SkillReading, SkillSummary,
    SkillTrust,
};
pub use arguments::{FilledText, SkillArgument, declared_arguments, fill_in};
pub use check::{CheckReport, CheckSummary, SkillShortfall, UnlistedSkill};
pub use config_view::{ConfigValueView, ConfigView};
pub use connect::{
    ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill, SkillImportMode,
};
pub use cortex::{
    Cortex, CortexExport, CortexImport, CortexOverview, LearnedPrior, LessonRow, NewOutcome,
    OutcomeEffect, ProbedLesson, PruneReport, RebuildReport, ReflexChange, RegionRow, ReportedRun,
    TaskRecall, WhyAnswer,
};
pub use deps::{DepsReport, OffPathProgram};
pub use details::SkillDetails;
pub use doctor::{DoctorProbe, DoctorReport, ProbeHealth};
pub use engine::{Engine, EngineOptions};
pub use error::EngineError;
pub use exec::{ExecReport, ExecRequest};
pub use explain::{DecisionExplanation, ExplanationMark, ExplanationStep};
pub use files::{MAX_READ_BYTES, SkillFile};
pub use install::{
    ApprovalAnswer, ApprovalQuestion, Approver, DepsInstallReport, DepsInstallRequest, InstallStep,
};
pub use learn::{LearnReport, LearnSource, LearnedFile, UnreadFile};
pub use live_engine::{LiveEngine, LiveView};
pub use openpocket::{CopyReport, MigrationReport};
pub use prompt::PromptOptions;
pub use requirement_checks::{RequirementCheck, variable_origin};
pub use routing::{
    AnswerPrompt, CASES_FILE, CatalogRouter, EvalData, EvalRunSide, IndexStatus, ModelChoice,
    ModelComparison, NamedSkill, QuestionGuard, ReflexHit, RegionLeader, RouteAnswer, RouteMatch,
    RouteRequest, Routing, SavedCase, UnavailableSkill, VectorProgress,
};
pub use scan::{ScanAcceptance, ScannedTarget};
pub use served_skills::{
    DigestCache, MAX_SERVED_BYTES, MAX_SERVED_FILES, ServedFile, ServedSkill, SkillFileDigest,
    UnservedReason,
};
pub use settings::{ConfigImport, ConfigSource};
pub use skill_settings::SkillSettingsPatch;
pub use validate::{FixedFile, ValidatedFile, ValidationReport, ValidationTarget};

pub use watch::WatchEvent;
pub use workshop::{
    CaptureAnswer, CaptureOptions, QueuedReview, TurnReport, WorkshopDiagnosis as WorkshopFinding,
};
