use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use sinew_engine::connect::{
    AgentConnection, ConnectParts, ConnectPlan, ConnectRequest, ConnectScope, FileChange,
    FileChangeStatus,
};
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;
use sinew_settings::config::ModelChoice;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::question;
use crate::render;

/// Connect an agent: its MCP entry, and hooks where they can add to a message
///
/// --dry-run shows the change as a diff. A backup is kept, and only sinew's own entries are written;
/// comments and everything else stay. `sinew disconnect` removes them again.
///
/// Examples:
///   sinew connect --list
///   sinew connect claude-code --dry-run
///   sinew connect claude-code --allow-read
///   sinew connect codex --library
///   sinew connect gemini --mcp
///   sinew connect cursor --http http://127.0.0.1:7411/mcp
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConnectArgs {
    /// claude-code, codex, openclaw, cursor, gemini, vscode, goose or opencode
    #[arg(required_unless_present = "list", value_name = "NAME")]
    name: Option<String>,
    /// Show the agents on this machine, and what is connected, file by file
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Whose configuration
    #[arg(long, value_enum, default_value = "user")]
    scope: ConnectScopeArg,
    /// Only the named parts: the MCP server
    #[arg(long)]
    mcp: bool,
    /// Only the named parts: the hooks
    #[arg(long)]
    hooks: bool,
    /// Only the named parts: installed skills, in the agent's own folder
    #[arg(long)]
    skills: bool,
    /// Use a server that is already running
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// Let the agent list only a core of skills, the pinned and the most used ones; sinew brings the others
    #[arg(long)]
    library: bool,
    /// Let the agent call the tools that only read without asking, where it has a list of such tools
    #[arg(long)]
    allow_read: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace a different entry of the same name
    #[arg(long)]
    force: bool,
    /// Change a project's file that git tracks, without asking
    #[arg(long, short)]
    yes: bool,
}

impl ConnectArgs {
    /// Whether files of agents are written.
    pub(crate) fn acts(&self) -> bool {
        self.name.is_some() && !self.list && !self.dry_run
    }
}

/// Whose configuration, on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ConnectScopeArg {
    /// Yours, for every project
    User,
    /// The project's, for all who work on it
    Project,
}

pub(crate) fn run(args: &ConnectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        let connections = engine.connect().connections()?;
        out.data(&connections, |text| write_list(text, &connections))?;
        return Ok(Exit::Done);
    };
    let request = ConnectRequest {
        agent: name.to_owned(),
        scope: match args.scope {
            ConnectScopeArg::User => ConnectScope::User,
            ConnectScopeArg::Project => ConnectScope::Project,
        },
        parts: ConnectParts {
            mcp: args.mcp,
            hooks: args.hooks,
            skills: args.skills,
            library: args.library,
        },
        http: args.http.clone(),
        allow_read: args.allow_read,
        force: args.force,
    };
    let plan = engine.connect().plan(&request)?;
    let (request, plan) = offer_allow_read(engine, args, request, plan, out)?;
    if args.dry_run || plan.is_unchanged() {
        out.data(&plan, |text| write_plan(text, &plan))?;
        return Ok(Exit::Done);
    }
    if request.scope == ConnectScope::Project && !args.yes {
        for file in plan.files.iter().filter(|file| file.status == FileChangeStatus::Changed) {
            ask(&file.file, out)?;
        }
    }
    let done = engine.connect().connect(&request, plan)?;
    out.data(&done, |text| write_plan(text, &done))?;
    match done.profile {
        None => warm_up(engine, out),
        Some(profile) => warm_up(&engine.for_profile(profile)?, out),
    }
    Ok(Exit::Done)
}

/// A person is asked whether the agent may call tools that only read: without that, an agent that
/// answers one question and ends (`claude -p`) denies them.
fn offer_allow_read(
    engine: &Engine,
    args: &ConnectArgs,
    mut request: ConnectRequest,
    plan: ConnectPlan,
    out: &mut Printer,
) -> Result<(ConnectRequest, ConnectPlan), EngineError> {
    if !plan.offers_allow_read || plan.is_unchanged() {
        return Ok((request, plan));
    }
    if args.dry_run || args.yes || !out.can_ask() {
        let title = plan.title;
        out.hint(&format!("`--allow-read` lets {title} look at skills without asking each time"));
        return Ok((request, plan));
    }
    let question = format!("May {} call sinew's tools that only read without asking?", plan.title);
    request.allow_read = question::confirmed(&question, true)?;
    let plan = if request.allow_read { engine.connect().plan(&request)? } else { plan };
    Ok((request, plan))
}

/// Computes the vectors that are missing, so that the agent's first message does not wait for them.
/// What goes wrong here costs that message a worse answer, and is not an error of connecting.
pub(crate) fn warm_up(engine: &Engine, out: &mut Printer) {
    let (snapshot, routing) = (engine.snapshot(), engine.routing());
    let pending = routing.pending_vectors(&snapshot, ModelChoice::Default);
    if pending == 0 {
        return;
    }
    let bar = out.progress("computing skill vectors", pending);
    let filled = routing.fill_vectors(&snapshot, ModelChoice::Default, &|count| bar.add(count));
    bar.finish();
    if let Err(error) = filled {
        out.warn(&error.message);
    }
}

/// Agents in library mode learn of a skill that came or went. They work without that, too.
pub(crate) fn follow_library(engine: &Engine, out: &mut Printer) {
    match engine.connect().follow_library() {
        Ok(changed) => {
            for plan in changed {
                out.note(&format!("{} lists its core of skills, as before", plan.title));
            }
        }
        Err(error) => out.warn(&error.message),
    }
}

/// A file that colleagues get with the next commit is changed only after a question.
fn ask(file: &Path, out: &Printer) -> Result<(), EngineError> {
    if !is_tracked(file) {
        return Ok(());
    }
    let refused = |what: &str| {
        EngineError::new(ErrorCode::NeedsApproval, format!("{} {what}", file.display()))
            .hint("look at the change with --dry-run, then repeat it with --yes")
    };
    if !out.can_ask() {
        return Err(refused("is tracked by git, and there is no terminal to ask on"));
    }
    let question =
        format!("{} is tracked by git. Change it?", render::safe(&file.to_string_lossy()));
    match question::confirmed(&question, false)? {
        true => Ok(()),
        false => Err(refused("was left as it is")),
    }
}

fn is_tracked(file: &Path) -> bool {
    let Some(folder) = file.parent() else { return false };
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["ls-files", "--error-unmatch", "--"]).arg(file);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

fn write_plan(text: &mut String, plan: &ConnectPlan) -> std::fmt::Result {
    for file in &plan.files {
        write_file(text, file, plan.written)?;
    }
    if let Some(skills) = &plan.skills {
        let folder = render::safe(&skills.folder.to_string_lossy());
        for name in &skills.added {
            writeln!(text, "{} {} in {folder}", render::good("+"), render::safe(name))?;
        }
        for name in &skills.taken {
            writeln!(text, "{} {} is taken in {folder}", render::warning("!"), render::safe(name))?;
        }
    }
    if let Some(server) = &plan.server {
        let mark = if server.works { render::good("✓") } else { render::warning("!") };
        writeln!(text, "{mark} {}", render::safe(&server.detail))?;
    }
    if plan.is_unchanged() {
        return writeln!(text, "unchanged: {} is connected already", plan.title);
    }
    if let Some(note) = plan.note {
        writeln!(text, "{}", render::dim(note))?;
    }
    match plan.written {
        true => writeln!(text, "{} is connected; `sinew doctor` proves it", plan.title),
        false => writeln!(text, "{}", render::dim("nothing was written")),
    }
}

fn write_file(text: &mut String, file: &FileChange, written: bool) -> std::fmt::Result {
    let path = render::safe(&file.file.to_string_lossy());
    let what = match (file.status, written) {
        (FileChangeStatus::Unchanged, _) => "unchanged",
        (FileChangeStatus::Created, true) => "made",
        (FileChangeStatus::Created, false) => "to be made",
        (FileChangeStatus::Changed, true) => "changed",
        (FileChangeStatus::Changed, false) => "to be changed",
    };
    if !written {
        render::heading(text, &format!("{path} ({what})"))?;
        return render::diff(text, &file.diff);
    }
    writeln!(text, "{} {path} ({what}: {})", render::good("✓"), changed_lines(&file.diff))
}

/// How much a diff adds and removes, in words.
pub(crate) fn changed_lines(diff: &str) -> String {
    let count = |sign: char, head: &str| {
        diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
    };
    match (count('+', "+++"), count('-', "---")) {
        (0, 0) => "nothing".to_owned(),
        (1, 0) => "1 line added".to_owned(),
        (added, 0) => format!("{added} lines added"),
        (0, 1) => "1 line removed".to_owned(),
        (0, removed) => format!("{removed} lines removed"),
        (1, removed) => format!("1 line added, {removed} removed"),
        (added, removed) => format!("{added} lines added, {removed} removed"),
    }
}

fn write_list(text: &mut String, connections: &[AgentConnection]) -> std::fmt::Result {
    for connection in connections {
        let state = match (connection.found, connection.files.is_empty()) {
            (_, false) => render::good("connected"),
            (true, true) => render::plain("found"),
            (false, true) => render::dim("not found"),
        };
        writeln!(text, "{:<12} {:<12} {state}", connection.agent, connection.title)?;
        for file in &connection.files {
            let path = render::safe(&file.file.to_string_lossy());
            writeln!(text, "  {path}")?;
            if !file.intact.is_empty() {
                writeln!(text, "    {} {}", render::good("✓"), file.intact.join(", "))?;
            }
            if !file.changed.is_empty() {
                writeln!(
                    text,
                    "    {} changed: {}",
                    render::warning("!"),
                    file.changed.join(", ")
                )?;
            }
        }
    }
    Ok(())
}
