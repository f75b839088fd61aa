use std::fmt::Write as _;
use std::time::Duration;

use sinew_engine::{
    AgentTrialReport, AgentTrialRequest, COMPARE_TIME, CompareRow, CompareVerdict,
    DEFAULT_TRIAL_TIME, DatabaseRepair, DoctorProbe, DoctorReport, Engine, HostComparison,
    ProbeHealth,
};
use sinew_settings::ErrorKind;

use super::backup::check_person;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show what sinew sees on this machine: folders, agents, configuration, problems
///
/// With --agent, the agent that you have installed is started in this folder against a model on
/// loopback, with copies of its files, and what arrives at that model is shown: sinew's tools and
/// those that the agent dropped, the skill for the message, characters, milliseconds, and whether a
/// call of a tool works. Nothing of yours is changed, and nothing leaves the machine. Exit code 1
/// means that something which `sinew connect` promised did not arrive.
///
/// With --compare, the agent is asked for its own list of skills in this folder, and each row on which
/// sinew differs is shown with its reason. Exit code 1 means that a difference has none. The agent runs
/// with your own files and without a network; what it keeps for itself when it lists, it keeps then, too.
///
/// Exit 4 where something keeps sinew from acting. A damaged database does: --repair reads what can
/// be read of it, page by page, and says what is lost; --fresh, in a terminal, begins an empty one.
/// Both keep the damaged file.
///
/// Examples:
///   sinew doctor
///   sinew doctor --profile openclaw --json
///   sinew doctor --repair
///   sinew doctor --compare openclaw
///   sinew doctor --agent claude-code
///   sinew doctor --agent codex --message "make these pictures smaller"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArgs {
    /// Mend a damaged database
    #[arg(long)]
    repair: bool,
    /// Begin an empty database in the place of a damaged one; in a terminal only
    #[arg(long, conflicts_with = "repair")]
    fresh: bool,
    /// Compare an agent's own list of skills with what sinew sees for it
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["repair", "fresh"])]
    compare: Option<String>,
    /// With --agent: what the agent is asked [default: something that fits a skill at hand]
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// With --agent: seconds until the agent is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_TRIAL_TIME.as_secs())]
    time_limit: u64,
}

pub(crate) fn run(args: &DoctorArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let Some(agent) = &args.compare {
        let comparison = engine.compare_host(agent, COMPARE_TIME)?;
        let width = out.width();
        out.data(&comparison, |text| write_comparison(text, &comparison, width))?;
        return Ok(if comparison.is_explained() { Exit::Done } else { Exit::No });
    }
    // A name that the configuration gives to one of its own agents keeps its meaning.
    if let Some(agent) =
        engine.agent().filter(|agent| !engine.config().agents.entries.contains_key(*agent))
    {
        return try_agent(agent, args, engine, out);
    }
    if args.repair {
        let repair = engine.database().repair()?;
        out.data(&repair, |text| write_repair(text, &repair))?;
        return Ok(Exit::Done);
    }
    if args.fresh {
        check_person(out, "begins an empty database")?;
        let aside = engine.database().begin_fresh()?;
        let told = serde_json::json!({"keptAs": aside});
        out.data(&told, |text| match &aside {
            Some(aside) => writeln!(text, "an empty database; the damaged one is {aside}"),
            None => writeln!(text, "nothing is wrong with the database; it stays"),
        })?;
        return Ok(Exit::Done);
    }
    let snapshot = engine.snapshot();
    let diagnosis = engine.status().doctor(&snapshot.catalog);
    let width = out.width();
    out.beginning(&diagnosis, "sinew doctor", |text| write_diagnosis(text, &diagnosis, width))?;
    Ok(match diagnosis.health {
        ProbeHealth::Fault => Exit::Failed(ErrorKind::Environment),
        _ => Exit::Done,
    })
}

fn write_comparison(text: &mut String, found: &HostComparison, width: usize) -> std::fmt::Result {
    let version = found.version.as_deref().unwrap_or_default();
    render::heading(text, format!("{} {version}", found.title).trim_end())?;
    writeln!(
        text,
        "  it lists {} skills, {} ready; sinew {}, {} ready",
        found.host_total, found.host_ready, found.sinew_total, found.sinew_ready
    )?;
    let differing = found.rows.iter().filter(|row| row.verdict != CompareVerdict::Same);
    let mut verdict = None;
    for row in differing {
        if verdict != Some(row.verdict) {
            verdict = Some(row.verdict);
            let heading = match row.verdict {
                CompareVerdict::Unexplained => "differs, and nothing says why",
                _ => "differs for a reason",
            };
            writeln!(text, "\n{heading}")?;
        }
        write_difference(text, row, width)?;
    }
    writeln!(
        text,
        "\n{} the same, {} explained, {} unexplained",
        found.same, found.explained, found.unexplained
    )
}

fn write_difference(text: &mut String, row: &CompareRow, width: usize) -> std::fmt::Result {
    let mark = match row.verdict {
        CompareVerdict::Unexplained => render::bad("✗"),
        _ => render::dim("·"),
    };
    let states = format!("{} there, {} here", row.host, row.sinew);
    writeln!(text, "  {mark} {:<28} {states}", render::safe(&row.name))?;
    for line in [row.reason.as_deref(), row.file.as_deref()].into_iter().flatten() {
        let room = width.saturating_sub(6).max(20);
        let shown: String = line.chars().take(room).collect();
        writeln!(text, "      {}", render::dim(&render::safe(&shown)))?;
    }
    Ok(())
}

fn try_agent(agent: &str, args: &DoctorArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let report = engine.try_agent(&AgentTrialRequest {
        agent: agent.to_owned(),
        message: args.message.clone(),
        time: Duration::from_secs(args.time_limit),
    })?;
    out.data(&report, |text| write_trial(text, &report))?;
    Ok(if report.works { Exit::Done } else { Exit::No })
}

fn write_repair(text: &mut String, repair: &DatabaseRepair) -> std::fmt::Result {
    let Some(kept) = &repair.kept_as else {
        return writeln!(text, "nothing is wrong with the database");
    };
    let DatabaseRepair { records, documents, .. } = repair;
    writeln!(text, "{records} records and {documents} documents are there again")?;
    for lost in &repair.lost {
        writeln!(text, "  {} lost: {}", render::bad("✗"), render::safe(lost))?;
    }
    writeln!(text, "the damaged file is {}", render::safe(kept))
}

fn write_trial(text: &mut String, report: &AgentTrialReport) -> std::fmt::Result {
    render::heading(text, &format!("{} was asked", report.title))?;
    writeln!(text, "  “{}”", render::safe(&report.message))?;
    write_probes(text, &report.probes, usize::MAX)?;
    let sentence = match report.works {
        true => "what was connected arrives at the model",
        false => "not everything arrives at the model",
    };
    writeln!(text, "\n{}", render::dim(sentence))
}

fn write_diagnosis(text: &mut String, diagnosis: &DoctorReport, width: usize) -> std::fmt::Result {
    render::heading(text, &format!("sinew {}", diagnosis.version))?;
    write_probes(text, &diagnosis.probes, width)?;
    let readable_agents =
        diagnosis.probes.iter().any(|p| p.area == "agents" && p.health == ProbeHealth::Good);
    if readable_agents {
        writeln!(
            text,
            "\n{}",
            render::dim("skills.load.agents = false leaves other agents' skills out")
        )?;
    }
    Ok(())
}

/// The widest name of a probe; a longer one moves its own line only.
const WIDEST_NAME: usize = 23;

/// Whether a place or an agent is not there, which takes no line of its own.
fn is_absent_place(probe: &DoctorProbe) -> bool {
    matches!(probe.area, "agents" | "roots") && probe.health == ProbeHealth::Absent
}

/// The probes, each below the heading of its area.
fn write_probes(text: &mut String, probes: &[DoctorProbe], width: usize) -> std::fmt::Result {
    let is_folded = |probe: &&DoctorProbe| width != usize::MAX && is_absent_place(probe);
    let named = probes.iter().filter(|probe| !is_folded(probe));
    // A pipe gets columns that do not move.
    let widest = match width {
        usize::MAX => WIDEST_NAME,
        _ => named.map(|probe| probe.name.chars().count()).max().unwrap_or(0),
    };
    let widest = widest.clamp("not there".len(), WIDEST_NAME);
    let mut area = "";
    for (at, probe) in probes.iter().enumerate() {
        if is_folded(&probe) {
            // All of an area take one line, where the first of them would stand.
            let of_area = |other: &&DoctorProbe| is_absent_place(other) && other.area == probe.area;
            if probes[..at].iter().any(|other| of_area(&other)) {
                continue;
            }
            if probe.area != area {
                area = probe.area;
                writeln!(text, "\n{area}")?;
            }
            let names = probes.iter().filter(of_area).map(|absent| match absent.area {
                "agents" => render::safe(&absent.name),
                _ => render::safe(absent.detail.trim_end_matches(" (none)")),
            });
            let names = names.collect::<Vec<_>>().join(", ");
            writeln!(text, "  {} {:<widest$}  {names}", render::dim("·"), "not there")?;
            continue;
        }
        if probe.area != area {
            area = probe.area;
            writeln!(text, "\n{area}")?;
        }
        let mark = match probe.health {
            ProbeHealth::Good => render::good("✓"),
            ProbeHealth::Absent => render::dim("·"),
            ProbeHealth::Warn => render::warning("!"),
            ProbeHealth::Fault => render::bad("✗"),
        };
        writeln!(
            text,
            "  {mark} {:<widest$}  {}",
            render::safe(&probe.name),
            render::safe(&probe.detail)
        )?;
        if let Some(remedy) = probe.remedy.as_ref().filter(|_| probe.health >= ProbeHealth::Warn) {
            writeln!(text, "      {} {}", render::dim("→"), render::safe(remedy))?;
        }
    }
    Ok(())
}
