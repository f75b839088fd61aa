use std::fmt::Write as _;

use serde_json::{Value, json};
use sinew_engine::{Engine, EngineError};
use sinew_hub::reference::{
    GitHubRef, RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference,
};
use sinew_registry::{ListenerReach, MirrorResult};
use sinew_settings::ErrorCode;

use super::remote::parse_skill;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Copy skills from another registry or from GitHub into this machine's registry
///
/// Each is verified against the digests that the other registry announces, or fetched by commit,
/// and scanned like anything that is published. registry.mirror says where they come from and which
/// are allowed. A skill from GitHub is kept as @github.<account>/<name>.
///
/// Examples:
///   sinew registry mirror @steipete/todoist-cli @steipete/weather@1.2.0
///   sinew registry mirror github:anthropics/skills@pdf github:ada/skills/winds#v2
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryMirrorArgs {
    /// @owner/slug, with @version for one that is not the latest; or github:account/repo, with a
    /// folder, @skill and #ref as `install` takes them
    #[arg(required = true)]
    skills: Vec<String>,
}

/// What is to be brought in.
enum MirrorSource {
    Registry(RegistryRef, Option<String>),
    GitHub(GitHubRef),
}

pub(crate) fn run(args: &RegistryMirrorArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let mut wanted = Vec::new();
    for text in &args.skills {
        if let Ok(SkillReference::GitHub(at)) =
            SkillReference::parse(text, ShorthandMeaning::Registry)
        {
            wanted.push((text, MirrorSource::GitHub(at)));
            continue;
        }
        let skill = parse_skill(text)?;
        let version = match &skill.wanted {
            RequestedVersion::Latest => None,
            RequestedVersion::Version(version) => Some(version.clone()),
            RequestedVersion::Tag(_) | RequestedVersion::Range(_) => {
                let message = format!("`{text}` names no exact version");
                return Err(EngineError::new(ErrorCode::NoExactVersion, message)
                    .hint("write @owner/slug@1.2.3, or leave the version out")
                    .into());
            }
        };
        wanted.push((text, MirrorSource::Registry(skill, version)));
    }
    let registry = super::open(engine, ListenerReach::Loopback)?;
    if !registry.has_mirror() {
        return Err(EngineError::new(ErrorCode::NoMirror, "no other registry is mirrored")
            .hint("set registry.mirror.mode to snapshot or proxy, and registry.mirror.allow")
            .into());
    }
    let (mut rows, mut failed): (Vec<Value>, bool) = (Vec::new(), false);
    for (text, wish) in wanted {
        let brought = match wish {
            MirrorSource::Registry(skill, version) => {
                registry.mirror_skill(skill.owner.as_deref(), &skill.slug, version.as_deref())
            }
            MirrorSource::GitHub(at) => registry.mirror_github(&at),
        };
        rows.push(match brought {
            MirrorResult::Here { owner, slug, version } => {
                json!({ "wanted": text, "here": format!("@{owner}/{slug}@{version}") })
            }
            MirrorResult::Not(why) => {
                failed = true;
                json!({ "wanted": text, "why": why })
            }
        });
    }
    out.data(&json!({ "skills": rows }), |text| {
        for row in &rows {
            let wanted = render::safe(row["wanted"].as_str().unwrap_or_default());
            match (row["here"].as_str(), row["why"].as_str()) {
                (Some(here), _) => writeln!(text, "{wanted} is here as {}", render::safe(here))?,
                (None, why) => {
                    writeln!(text, "{wanted} is not: {}", render::safe(why.unwrap_or_default()))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(if failed { Exit::No } else { Exit::Done })
}
