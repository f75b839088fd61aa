//! The engine: composes the parts of sinew, and is the only place where rules meet.
//!
//! Every surface (command line, HTTP, MCP, dashboard) opens an [`Engine`] and renders what it
//! answers. The engine prints nothing and asks nobody; it gives values, reasons and errors that say
//! what to do next.
//!
//! **Invariant:** the machine arrives in an [`Environment`]; nothing below a surface looks at the
//! process. **Left out on purpose:** terminals, HTTP, and how an answer looks.

mod access_token;
pub mod acquire;
mod activity;
mod actor;
mod agent;
pub mod approval;
mod arguments;
mod bundled;
mod cases;
mod check;
pub mod connect;
mod cortex;
mod deps;
mod details;
mod dispatch;
mod doctor;
mod engine;
mod error;
mod eval_route;
mod exec;
mod explain;
mod files;
pub mod hook;
pub mod hub;
mod imagined;
mod import;
mod index_file;
mod install;
mod kept;
mod learn;
pub mod model;
mod models;
mod observed;
mod openpocket;
mod prompt;
mod remote;
mod route;
mod routed;
mod scan;
mod served;
mod settings;
mod shown;
mod skill_settings;
mod store;
mod validate;
mod watch;
mod workshop;

pub use activity::{Activity, ActivityFilter};
pub use actor::Actor;
pub use agent::{Counts, Looked, ScanSubject, ScanVerdict, SkillReading, SkillSummary, Trust};
pub use arguments::{Argument, Filled, declared_arguments, fill_in};
pub use cases::{CASES_FILE, SavedCase};
pub use check::{CheckReport, MissingSkill, NotInjected, Summary};
pub use cortex::{
    Cortex, Exported, Imported, LearnedPrior, LessonRow, NewOutcome, Overview, ProbedLesson,
    Pruned, Rebuilt, Recalled, Recorded, ReflexChange, RegionRow, ReportedRun, Why,
};
pub use deps::{DepsReport, OffPath};
pub use details::Details;
pub use doctor::{Diagnosis, Health, Probe};
pub use engine::{Engine, Options};
pub use error::{Error, ErrorKind};
pub use eval_route::{Compared, EvalData, Progress, RunSide};
pub use exec::{ExecReport, ExecRequest};
pub use explain::{Explanation, Mark, Step};
pub use files::{MAX_READ_BYTES, SkillFile};
pub use import::{
    ImportMode, ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill,
};
pub use install::{Answer, Consent, InstallRequest, Installation, Person, Step as InstallStep};
pub use learn::{LearnFrom, LearnReport, LearnedFile, UnreadFile};
pub use models::ModelChoice;
pub use observed::{Observed, where_from};
pub use openpocket::{CopyReport, MigrationReport};
pub use prompt::PromptOptions;
pub use route::{CatalogRouter, Found, IndexStatus};
pub use routed::{Asking, ReflexHit, Routed, Routers};
pub use scan::{Acceptance, Scanned};
pub use served::{
    Digests, FileDigest, MAX_SERVED_BYTES, MAX_SERVED_FILES, NotServed, ServedFile, ServedSkill,
};
pub use settings::{ConfigSource, Import};
pub use shown::{ShownConfig, ShownValue};
pub use skill_settings::SkillSettings;
pub use validate::{Fixed, ValidatedFile, ValidationReport, ValidationTarget};

pub use watch::WatchEvent;
pub use workshop::{
    CaptureAnswer, CaptureOptions, Finding as WorkshopFinding, QueuedReview, TurnReport,
};

pub use sinew_catalog::Environment;
