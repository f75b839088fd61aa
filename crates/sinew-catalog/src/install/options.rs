//! Which of the declared installers are offered on this machine, and which one first.

use serde::Serialize;
use sinew_settings::{Reason, ReasonCode, platform_alias};
use sinew_skill::InstallSpec;

use super::{CheckedInstaller, InstallerKind, InstallerSetup, check_spec};

/// What decides which installers are offered.
pub struct OfferContext<'a> {
    /// The platform as OpenClaw names it.
    pub os: &'a str,
    /// Offer brew first if it is installed.
    pub prefer_brew: bool,
    /// Whether a program can be run here.
    pub has: &'a dyn Fn(&str) -> bool,
    /// How vectors are built.
    pub setup: InstallerSetup,
}

/// One way to install what a skill needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallOption {
    /// Its name within the skill.
    pub id: String,
    /// What installs it.
    pub kind: InstallerKind,
    /// The label that users see.
    pub label: String,
    /// Programs that it provides.
    pub bins: Vec<String>,
    /// What would be run.
    pub argv: Vec<String>,
    /// The program that installs it.
    pub manager: &'static str,
    /// Whether that program is installed.
    pub manager_present: bool,
    /// Whether it is the best choice on this machine.
    pub preferred: bool,
    /// A tap that has to be added first and needs its own consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tap: Option<String>,
    /// Whether a download can be checked against a digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Why it cannot be run as it is: `needs-version`, or a failed second stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Reason>,
    /// The installer itself.
    #[serde(skip)]
    pub installer: CheckedInstaller,
}

/// The offers of a skill for `skill_os`, in the declared order. Empty if the skill is for another
/// platform.
pub fn offered_options(
    skill_os: &[String],
    specs: &[InstallSpec],
    offer: &OfferContext<'_>,
) -> Vec<InstallOption> {
    let serves = |os: &[String]| {
        let here = platform_alias(offer.os);
        os.is_empty() || os.iter().any(|os| platform_alias(os) == here)
    };
    if !serves(skill_os) {
        return Vec::new();
    }
    let offered = |installer: &CheckedInstaller| {
        // apt exists only on Debian and similar systems; elsewhere it cannot be installed either.
        serves(&installer.spec.os) && (installer.kind != InstallerKind::Apt || offer.os == "linux")
    };
    let mut options: Vec<InstallOption> = specs
        .iter()
        .filter_map(|spec| check_spec(spec).ok())
        .filter(offered)
        .map(|installer| option(installer, offer))
        .collect();
    let all_downloads = options.iter().all(|option| option.kind == InstallerKind::Download);
    let first = preferred(&options, offer);
    for (at, option) in options.iter_mut().enumerate() {
        option.preferred = all_downloads || first == Some(at);
    }
    options
}

/// The first that fits, in this order; within a kind the declared order decides.
fn preferred(options: &[InstallOption], offer: &OfferContext<'_>) -> Option<usize> {
    let has = |program| (offer.has)(program);
    let order = [
        (InstallerKind::Brew, offer.prefer_brew && has("brew")),
        (InstallerKind::Uv, true),
        (InstallerKind::Node, true),
        (InstallerKind::Brew, has("brew")),
        (InstallerKind::Apt, has("apt-get")),
        (InstallerKind::Go, true),
        (InstallerKind::Download, true),
        (InstallerKind::Brew, true),
    ];
    // A manager that is here comes before one that would have to be installed first. A download needs
    // none, and is not preferred for that.
    let here =
        |option: &InstallOption| option.manager_present && option.kind != InstallerKind::Download;
    let of = |kind, present: bool| {
        options.iter().position(|option| option.kind == kind && (here(option) || !present))
    };
    let fitting = |present| {
        let mut kinds = order.iter().filter(|(_, fits)| *fits);
        kinds.find_map(|(kind, _)| of(*kind, present))
    };
    fitting(true).or_else(|| fitting(false)).or((!options.is_empty()).then_some(0))
}

fn option(installer: CheckedInstaller, offer: &OfferContext<'_>) -> InstallOption {
    let setup = &offer.setup;
    let (argv, problem) = match installer.argument_vector(setup) {
        Ok(argv) => (argv, None),
        // The proposed command is shown; it runs only after a person has confirmed it.
        Err(reason) if reason.code == ReasonCode::NeedsVersion => (
            installer.clone().with_latest_version().argument_vector(setup).unwrap_or_default(),
            Some(reason),
        ),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let manager = setup.manager(installer.kind);
    InstallOption {
        id: installer.spec.id.clone(),
        kind: installer.kind,
        label: installer.label(setup),
        bins: installer.spec.bins.clone(),
        argv,
        manager,
        manager_present: installer.kind == InstallerKind::Download || (offer.has)(manager),
        preferred: false,
        tap: installer.tap.clone(),
        verified: installer.download.as_ref().map(|download| download.sha256.is_some()),
        problem,
        installer,
    }
}

/// The next step for a missing program: what the best installer that provides it would run.
pub fn remedy_for_program(
    bin: &str,
    skill_os: &[String],
    specs: &[InstallSpec],
    offer: &OfferContext<'_>,
) -> String {
    let brings = |spec: &&InstallSpec| spec.bins.is_empty() || spec.bins.iter().any(|b| b == bin);
    let specs: Vec<InstallSpec> = specs.iter().filter(brings).cloned().collect();
    let options = offered_options(skill_os, &specs, offer);
    let best = options.iter().find(|option| option.preferred && !option.argv.is_empty());
    match best {
        Some(option) if option.kind == InstallerKind::Download => {
            format!("install {bin}: {}", option.label)
        }
        Some(option) => format!("install {bin}: {}", option.argv.join(" ")),
        None => format!("install {bin} and make sure it is on PATH"),
    }
}
