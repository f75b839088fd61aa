use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use sinew_engine::{Engine, EngineError};
use sinew_hub::publisher::SkillPublication;
use sinew_hub::signature::{self, SigningKey, SigningKeyError};
use sinew_hub::tree::SkillTree;
use sinew_settings::ErrorCode;
use sinew_skill::names;

use super::remote::{RegistryRemoteArgs, RemoteRegistry};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Publish a skill's folder as a version that never changes
///
/// Files that start with a dot, or that an ignore file names, are not sent. The registry scans the
/// rest before it accepts it.
///
/// Examples:
///   sinew registry publish ./my-skill --version 1.0.0
///   sinew registry publish ./my-skill --version 1.0.1 --sign-key release.pem
///   sinew registry publish ./my-skill --version 1.1.0 --changelog "quicker" --owner team
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct RegistryPublishArgs {
    /// The skill's folder
    folder: PathBuf,
    /// The version, as 1.2.3
    #[arg(long, value_name = "V")]
    version: String,
    /// The skill's name on the registry [default: the folder's]
    #[arg(long)]
    slug: Option<String>,
    /// Its display name [default: made from the slug]
    #[arg(long)]
    name: Option<String>,
    /// The owner [default: the user your token acts for]
    #[arg(long, value_name = "HANDLE")]
    owner: Option<String>,
    /// What is new
    #[arg(long, value_name = "TEXT", default_value = "")]
    changelog: String,
    /// Sign its files with this private key (PEM, PKCS #8, P-256)
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    #[command(flatten)]
    remote: RegistryRemoteArgs,
}

pub(crate) fn run(args: &RegistryPublishArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let folder = engine.environment().cwd.join(&args.folder);
    let tree = SkillTree::from_folder(&folder).map_err(|error| {
        let text = format!("{}: {error}", folder.display());
        EngineError::new(ErrorCode::NotPublishable, text)
            .hint("name the folder that holds SKILL.md")
    })?;
    let tree = tree.publishable().without(|path| path == sinew_hub::digest::META_FILE);
    let of_folder = || {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        names::slug(&name.unwrap_or_default())
    };
    let slug = args.slug.clone().unwrap_or_else(of_folder);
    let display_name = args.name.clone().unwrap_or_else(|| names::display_name(&slug));
    let tree = match &args.sign_key {
        Some(file) => signed(&tree, &slug, file)?,
        None => tree,
    };
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    let publisher = remote.publisher()?;
    let owner = match &args.owner {
        Some(owner) => owner.trim_start_matches('@').to_owned(),
        None => publisher.whoami().map_err(EngineError::from)?.handle.ok_or_else(|| {
            EngineError::new(ErrorCode::NoOwner, "the registry does not say who you are")
                .hint("name an owner with --owner")
        })?,
    };
    let publication = SkillPublication {
        slug: &slug,
        display_name: &display_name,
        owner: &owner,
        version: &args.version,
        changelog: &args.changelog,
    };
    let bar = out.progress("publishing", tree.files().len());
    let published = publisher.publish(&publication, &tree, &mut |done, all| bar.set_of(done, all));
    bar.finish();
    published.map_err(EngineError::from)?;
    let reference = format!("@{owner}/{slug}@{}", args.version);
    let shown = json!({
        "published": reference,
        "registry": remote.display_base(),
        "files": tree.files().len(),
        "treeSha256": sinew_hub::digest::tree_sha256(&tree.records()),
    });
    out.data(&shown, |text| writeln!(text, "published {reference} at {}", remote.display_base()))?;
    Ok(Exit::Done)
}

/// The files with a signature over them. The public key is what others put into their configuration.
fn signed(tree: &SkillTree, name: &str, file: &Path) -> Result<SkillTree, EngineError> {
    let text =
        std::fs::read_to_string(file).map_err(|error| EngineError::file("read", file, error))?;
    let unusable = |error: SigningKeyError| {
        EngineError::new(ErrorCode::BadKey, format!("{}: {error}", file.display())).hint(
            "`openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem` makes one",
        )
    };
    let key = SigningKey::from_pem(&text).map_err(unusable)?;
    signature::sign(tree, name, &key).map_err(unusable)
}
