//! The engine: composes the parts of sinew, and is the only crate that combines their rules.
//!
//! Every surface (command line, HTTP, MCP, dashboard) opens an [`Engine`] and renders what it
//! answers. The engine prints nothing and prompts no user; it returns values, reasons and errors that
//! say what to do next.
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
//! let block = engine.skills().prompt(&engine.snapshot().catalog, &Default::default());
//! assert!(block.text.contains("pdf-tools"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** the machine arrives in an [`Environment`](sinew_settings::Environment); nothing below
//! a surface reads the process. **Left out on purpose:** terminals, HTTP, and how an answer looks.

pub mod acquire;
mod agent_trial;
pub mod approval;
mod assembled_file;
mod authority;
mod bundled;
mod catalog_cache;
pub mod connect;
mod cortex;
mod details;
mod engine;
mod error;
mod exec;
mod explain;
mod home_care;
pub mod hook;
mod host_compare;
pub mod hub;
mod live_engine;
pub mod model;
mod percent;
mod quality;
mod remote_machines;
mod routing;
mod service;
mod settings;
mod skills;
mod status;
mod store;
mod store_care;
mod traces;
mod watch;
mod workshop;

pub use agent_trial::{
    AgentTrialReport, AgentTrialRequest, DEFAULT_TRIAL_TIME, SkillArrival, ToolCallState,
    TrialHook, TrialTools, environment_before_trial,
};
pub use approval::ApprovalsHandle;
pub use connect::{
    ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill, SkillImportMode,
};
pub use cortex::{
    Cortex, CortexExport, CortexImport, CortexOverview, LearnedPrior, LessonRow, NewOutcome,
    OutcomeEffect, OutcomeReport, ProbedLesson, PruneReport, ReadOnlyRow, RebuildReport,
    ReflexChange, RegionRow, ReportedRun, SkillElsewhere, SkillIdentity, TaskRecall, WhyAnswer,
};
pub use details::SkillDetails;
pub use engine::{Engine, EngineOptions};
pub use error::{EngineError, EngineErrorRecord};
pub use exec::{
    DependencyQuestion, DepsInstallReport, DepsInstallRequest, DepsReport, ExecHandle, ExecReport,
    ExecRequest, InstallStep, OffPathProgram, SandboxChoice, SandboxGrants, SandboxReport,
};
pub use explain::{DecisionExplanation, ExplanationMark, ExplanationStep};
pub use home_care::{close_home, sweep_leftovers};
pub use host_compare::{COMPARE_TIME, CompareRow, CompareVerdict, HostComparison};
pub use hub::HubHandle;
pub use live_engine::{LiveEngine, LiveView};
pub use percent::percent;
pub use quality::{
    CheckReport, CheckSummary, FixedFile, QualityHandle, ScanAcceptance, ScannedTarget,
    SkillShortfall, UnlistedSkill, ValidatedFile, ValidationReport, ValidationTarget,
};
pub use remote_machines::{MAX_REMOTE_TTL_SECONDS, RemoteRecord};
pub use routing::{
    AnswerPrompt, CASES_FILE, CatalogRouter, EvalData, EvalRunSide, IndexStatus, ModelComparison,
    NamedSkill, NeighbourReport, QuestionGuard, ReflexHit, RegionLeader, RouteAnswer,
    RouteCalibration, RouteMatch, RouteRequest, RouteStep, Routing, SavedCase, SkillNeighbour,
    UnavailableSkill, VectorProgress,
};
pub use service::{ServiceHandle, ServiceStatus};
pub use settings::{
    ConfigImport, ConfigValueChange, ConfigValueView, ConfigView, SettingsHandle,
    SkillSettingsPatch,
};
pub use skills::{
    AgentScanVerdict, CopyReport, DigestCache, EjectedSkill, FilledText, FindingCounts,
    HostListing, ListedFile, MAX_READ_BYTES, MAX_SERVED_BYTES, MAX_SERVED_FILES, MigrationReport,
    NewSkill, NewSkillRequest, PromptOptions, RemovedSkill, RequirementCheck, ResolvedSkill,
    ScanExtent, ScanSubject, ServedFile, ServedSkill, SkillArgument, SkillFile, SkillFileDigest,
    SkillReading, SkillSummary, SkillTrust, SkillsHandle, UnservedReason, declared_arguments,
    fill_in, variable_origin,
};
pub use status::{
    ActivityEntry, ActivityFilter, BlockedSkill, DoctorProbe, DoctorReport, MachineOverview,
    NextStep, OverviewAgent, ProbeHealth, StatusHandle,
};
pub use store_care::{DatabaseCare, DatabaseCopy, DatabaseRepair};
pub use traces::{LearnReport, LearnSource, LearnedFile, TracesHandle, UnreadFile};
pub use watch::WatchEvent;
pub use workshop::{
    CaptureAnswer, CaptureOptions, QueuedReview, TurnReport, WorkshopDiagnosis as WorkshopFinding,
    WorkshopHandle,
};
