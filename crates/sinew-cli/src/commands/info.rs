use std::fmt::Write as _;

use sinew_engine::hub::{
    HubError, RemoteSkillDetails, RemoteSkillExtras, ShorthandMeaning, SkillReference,
};
use sinew_engine::{Engine, EngineError, SkillDetails};
use sinew_exec::{EnvState, EnvValueSource};
use sinew_settings::{Actor, Reason, ReasonCode};

use super::hub::HubArgs;
use crate::exit::{CommandResult, Exit};
use crate::layout::{clipped, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Show everything known about one skill
///
/// A skill that is not installed is looked up by its reference: @owner/slug, owner/repo, a URL or a
/// path; a bare name with --remote. Nothing is installed or run.
///
/// Examples:
///   sinew info github
///   sinew info github --json
///   sinew info @steipete/todoist-cli --versions
///   sinew info todoist-cli --remote --file SKILL.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InfoArgs {
    /// The skill's name or key, or a reference to one that is not installed
    skill: String,
    /// Ask the registry even if the skill is installed
    #[arg(long)]
    remote: bool,
    /// List its files
    #[arg(long)]
    files: bool,
    /// Show one file of it
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// List its versions
    #[arg(long)]
    versions: bool,
    #[command(flatten)]
    hub: HubArgs,
}

/// Letters of a description that are shown here: as many as the specification allows. `sinew read`
/// has the whole file.
const SHOWN_DESCRIPTION: usize = 1024;

/// Copies that are named.
const SHOWN_COPIES: usize = 5;

impl InfoArgs {
    /// What is meant elsewhere: only what cannot be a misspelt name is asked for without being told to.
    fn elsewhere(&self) -> bool {
        self.remote
            || self.files
            || self.file.is_some()
            || self.versions
            || self.skill.contains(['/', ':', '@'])
    }
}

pub(crate) fn run(args: &InfoArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let entry = match engine.find(catalog, &args.skill) {
        Ok(entry) if !args.remote => entry,
        Err(error) if !args.elsewhere() => {
            let hint = format!("`sinew info --remote {}` asks the registry", args.skill);
            return Err(error.hint(hint).into());
        }
        _ => return remote(args, engine, out),
    };
    let info = engine.skills().details(catalog, entry, &Actor::Person { name: None });
    let width = out.width();
    out.data(&info, |text| {
        write_info(text, &info, width)?;
        if args.files { write_files(text, &info) } else { Ok(()) }
    })?;
    Ok(Exit::Done)
}

fn remote(args: &InfoArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let reference =
        SkillReference::parse(&args.skill, ShorthandMeaning::GitHub).map_err(HubError::from);
    let reference = reference.map_err(EngineError::from)?;
    let want = RemoteSkillExtras { file: args.file.clone(), versions: args.versions };
    let about =
        args.hub.open(engine)?.remote_details(&reference, &want).map_err(EngineError::from)?;
    out.data(&about, |text| write_about(text, &about, args))?;
    Ok(Exit::Done)
}

fn write_about(text: &mut String, about: &RemoteSkillDetails, args: &InfoArgs) -> std::fmt::Result {
    if let Some(content) = &about.text {
        return content.lines().try_for_each(|line| writeln!(text, "{}", render::safe(line)));
    }
    render::heading(
        text,
        &format!("{} {}", render::safe(&about.name), render::safe(&about.version)),
    )?;
    writeln!(text, "{}\n", render::safe(&about.description))?;
    let reviewed = match about.reviewed {
        true => render::good("reviewed"),
        false => render::warning("unreviewed source"),
    };
    writeln!(text, "  from         {} ({reviewed})", render::safe(&about.source.identity()))?;
    writeln!(text, "  registry     {}", render::safe(&about.verdict))?;
    for (name, count) in [("stars", about.stars), ("downloads", about.downloads)] {
        if let Some(count) = count {
            writeln!(text, "  {name:<12} {count}")?;
        }
    }
    if let Some(said) = about.moderation.as_ref().and_then(|said| said.summary.as_deref()) {
        writeln!(text, "  {} {}", render::warning("!"), render::safe(said))?;
    }
    let needs: Vec<&str> = about.setup.iter().map(|setup| setup.key.as_str()).collect();
    if !needs.is_empty() {
        writeln!(text, "  needs        {}", render::safe(&needs.join(", ")))?;
    }
    let bytes: u64 = about.files.iter().map(|(_, size)| size).sum();
    writeln!(text, "  files        {}, {bytes} bytes", about.files.len())?;
    if args.files {
        for (path, size) in &about.files {
            writeln!(text, "    {size:>9} {}", render::safe(path))?;
        }
    }
    for version in &about.versions {
        let changes = version.changelog.as_deref().unwrap_or_default();
        writeln!(text, "    {} {}", render::safe(&version.version), render::dim(changes))?;
    }
    Ok(())
}

fn write_info(text: &mut String, info: &SkillDetails, width: usize) -> std::fmt::Result {
    let entry = &info.entry;
    let emoji =
        entry.emoji.as_deref().map(|emoji| format!("{} ", render::safe(emoji))).unwrap_or_default();
    render::heading(
        text,
        &format!("{emoji}{} — {}", render::safe(&entry.name), entry.state.as_str()),
    )?;
    let most = if width == usize::MAX { usize::MAX } else { SHOWN_DESCRIPTION };
    writeln!(text, "{}\n", clipped(&render::safe(&entry.description), most))?;
    // What is dangerous is said before anything else.
    let is_held = |reason: &&Reason| reason.code == ReasonCode::Quarantined;
    for reason in entry.reasons.iter().filter(is_held) {
        render::reason(text, reason)?;
    }
    let mut field = |name: &str, value: &str| -> std::fmt::Result {
        if value.is_empty() {
            return Ok(());
        }
        writeln!(text, "  {:<12} {}", name, render::safe(value))
    };
    field("file", &entry.file_path.to_string_lossy())?;
    field("source", &format!("{} (tier {})", entry.source, entry.tier.as_str()))?;
    let plugin = entry.plugin.as_ref().map(|plugin| plugin.sentence());
    field("plugin", plugin.as_deref().unwrap_or_default())?;
    field("key", &entry.skill_key)?;
    field("homepage", entry.homepage.as_deref().unwrap_or_default())?;
    field("command", &entry.command_name.as_deref().map(|c| format!("/{c}")).unwrap_or_default())?;
    field("model", if entry.model_visible { "sees it" } else { "does not see it" })?;
    if let Some(chars) = info.prompt_chars {
        field("prompt cost", &format!("{chars} characters"))?;
    }
    let written = |key: &str| match &info.frontmatter[key] {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    field("version", &written("version"))?;
    field("author", &written("author"))?;
    let needs = &entry.requirements;
    field("needs skills", &needs.skills.join(", "))?;
    field("needs", &join(&[&needs.bins, &needs.env, &needs.config]))?;
    field("needs one of", &join(&[&needs.any_bins, &needs.any_env]))?;
    field("only on", &needs.os.join(", "))?;
    // Its first letters tell it from others; a pipe gets it whole.
    let shown = if width == usize::MAX { usize::MAX } else { SHOWN_DIGEST };
    field("digest", entry.content_hash.get(..shown).unwrap_or(&entry.content_hash))?;
    write_env(text, &info.env)?;
    if entry.via.is_some() {
        let machine = match &entry.via_machine {
            Some(name) => format!("{}, a machine", render::safe(name)),
            None => "a machine".to_owned(),
        };
        writeln!(text, "  found on {machine} that the host is connected to")?;
    }
    let mut others = entry.reasons.iter().filter(|reason| !is_held(reason)).peekable();
    if others.peek().is_some() {
        writeln!(text)?;
        others.try_for_each(|reason| render::reason(text, reason))?;
    }
    if !info.shadowed.is_empty() {
        writeln!(text, "\n  used instead of")?;
        let (shown, left) = first_rows(&info.shadowed, SHOWN_COPIES);
        for copy in shown {
            writeln!(
                text,
                "    {} ({})",
                render::safe(&copy.file_path.to_string_lossy()),
                copy.source
            )?;
        }
        write_more(text, 4, left, "sinew list --all")?;
    }
    Ok(())
}

/// The skill's files with their sizes.
fn write_files(text: &mut String, info: &SkillDetails) -> std::fmt::Result {
    let bytes: u64 = info.files.iter().map(|file| file.bytes).sum();
    writeln!(text, "\n  files        {}, {bytes} bytes", info.files.len())?;
    for file in &info.files {
        writeln!(text, "    {:>9} {}", file.bytes, render::safe(&file.path))?;
    }
    Ok(())
}

/// Where each declared variable comes from, and what stands in its way.
fn write_env(text: &mut String, env: &[EnvState]) -> std::fmt::Result {
    for state in env {
        let from = match (state.from, state.blank) {
            (EnvValueSource::Host, true) => render::warning("set on this machine, but blank"),
            (EnvValueSource::Host, false) => render::good("set on this machine"),
            (EnvValueSource::Config, _) => render::good("set in the configuration"),
            (EnvValueSource::Missing, _) => render::bad("not set"),
        };
        let blocked = match state.blocked {
            Some(class) => format!("; no skill may set it: {}", class.meaning()),
            None => String::new(),
        };
        writeln!(text, "  {:<12} {from}{blocked}", render::safe(&state.name))?;
    }
    Ok(())
}

/// Letters of a digest that people compare.
const SHOWN_DIGEST: usize = 16;

fn join(lists: &[&Vec<String>]) -> String {
    lists.iter().flat_map(|list| list.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}
