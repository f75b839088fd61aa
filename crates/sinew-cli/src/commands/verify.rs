use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use sinew_engine::hub::{SkillVerification, TreeStatus};
use sinew_engine::{Engine, EngineError};
use sinew_hub::signature::SignatureState;

use super::hub::{HubArgs, InstallTargetArgs};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Compare installed skills with what was approved
///
/// Every file is hashed again. With --online, registries are asked for their verdicts: what turned
/// malicious is held back from then on. A folder that takes an installed skill's name is told, too.
/// Exit 0 only if all are ok.
///
/// --signature says who signed a skill's folder or archive that is not installed yet, offline; with
/// --attestation, by the bundle that a code host publishes beside an archive. Exit 0 only if the
/// signer is proved. security.signatures names the keys and identities that count.
///
/// Examples:
///   sinew verify
///   sinew verify --signature ./downloaded-skill
///   sinew verify --signature tides.zip --attestation tides.sigstore.json
///   sinew verify todoist-cli --online
///   sinew verify --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct VerifyArgs {
    /// The skills, by folder or slug; all of them where none is named
    #[arg(value_name = "REF")]
    references: Vec<String>,
    /// Ask registries for their verdicts
    #[arg(long)]
    online: bool,
    /// Say who signed this folder or archive
    #[arg(long, value_name = "PATH", conflicts_with_all = ["references", "online"])]
    signature: Option<PathBuf>,
    /// The attestation of that archive, a Sigstore bundle
    #[arg(long, value_name = "FILE", requires = "signature")]
    attestation: Option<PathBuf>,
    #[command(flatten)]
    place: InstallTargetArgs,
    #[command(flatten)]
    hub: HubArgs,
}

#[derive(Serialize)]
struct VerifyReport {
    skills: Vec<SkillVerification>,
    diagnostics: Vec<String>,
}

pub(crate) fn run(args: &VerifyArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let Some(path) = &args.signature {
        let record = engine.hub().signature_of(path, args.attestation.as_deref())?;
        out.data(&record, |text| writeln!(text, "{}", render::safe(&record.sentence())))?;
        let is_proved = record.state == SignatureState::Proved;
        return Ok(if is_proved { Exit::Done } else { Exit::No });
    }
    let hub = args.hub.open(engine)?;
    let workdir = engine.hub().workdir(args.place.place());
    let mut diagnostics = Vec::new();
    if args.online {
        let problems = hub.check_upstream(&args.references, &workdir).map_err(EngineError::from)?;
        diagnostics.extend(problems.into_iter().map(|problem| problem.message));
    }
    diagnostics.extend(engine.hub().taken_names(&engine.snapshot().catalog));
    let skills = hub.verify(&args.references, &workdir).map_err(EngineError::from)?;
    let ok = skills.iter().all(SkillVerification::is_ok) && diagnostics.is_empty();
    let report = VerifyReport { skills, diagnostics };
    out.beginning(&report, "sinew verify", |text| write_report(text, &report))?;
    Ok(if ok { Exit::Done } else { Exit::No })
}

fn write_report(text: &mut String, report: &VerifyReport) -> std::fmt::Result {
    if report.skills.is_empty() {
        writeln!(text, "nothing is installed here")?;
    }
    for skill in &report.skills {
        let status = match skill.status {
            TreeStatus::Ok => render::good("ok"),
            other => render::bad(other.as_str()),
        };
        let upstream = skill.upstream.as_ref().map(|upstream| {
            let stale = if skill.stale { ", long ago" } else { "" };
            format!("registry: {}{stale}", upstream.verdict)
        });
        let upstream = upstream.unwrap_or_default();
        writeln!(text, "{status} {} {}", render::safe(&skill.key), render::dim(&upstream))?;
        for (word, paths) in
            [("modified", &skill.modified), ("missing", &skill.missing), ("extra", &skill.extra)]
        {
            for path in paths {
                writeln!(text, "    {word} {}", render::safe(path))?;
            }
        }
        for why in skill.problem.iter().chain(&skill.held) {
            writeln!(text, "    {} {}", render::bad("✗"), render::safe(why))?;
        }
    }
    for diagnostic in &report.diagnostics {
        writeln!(text, "{} {}", render::warning("!"), render::safe(diagnostic))?;
    }
    Ok(())
}
