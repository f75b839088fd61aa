//! The launcher: this process, before it becomes the program.
//!
//! The order matters. Descriptors are closed first, so that nothing opened before counts; landlock
//! comes before capabilities go, because a rule needs an open path; the filter of system calls is
//! last, because everything before it uses calls that it forbids.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    NetPort, PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{LaunchNote, LaunchOrder, SandboxReceipt, SandboxRules, base_paths, call_filter};

/// Without this version a file outside could be cut to nothing.
const LEAST: ABI = ABI::V3;
/// The last version whose rights over files are known here.
const FILES: ABI = ABI::V5;
/// The version that knows TCP ports.
const PORTS: ABI = ABI::V4;
/// The version that keeps signals and abstract sockets inside.
const SCOPES: ABI = ABI::V6;
/// What a launcher ends with that could not start anything; the receipt says why.
const NOT_STARTED: u8 = 126;
/// The last descriptor that a program is meant to have.
const LAST_STANDARD: i32 = 2;

pub(super) fn support() -> Result<(), String> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map(drop)
        .map_err(|_| {
            "it needs landlock in version 3, which Linux has from 6.2 on where it is switched on"
                .to_owned()
        })?;
    match Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
        true => Ok(()),
        false => {
            Err("its kernel has no filter of system calls (seccomp), or /proc is not there"
                .to_owned())
        }
    }
}

pub(super) fn launch(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let order = args.next().and_then(|order| order.into_string().ok());
    let order = order.and_then(|order| serde_json::from_str::<LaunchOrder>(&order).ok());
    let (Some(order), Some(file)) = (order, args.next()) else { return NOT_STARTED.into() };
    if close_descriptors().is_err() {
        return NOT_STARTED.into();
    }
    let Ok(mut receipt) = File::create_new(&order.receipt) else { return NOT_STARTED.into() };
    let note = match enter(&order.rules) {
        Ok(receipt) => LaunchNote::InForce(receipt),
        Err(why) => LaunchNote::Failed(why),
    };
    let entered = matches!(note, LaunchNote::InForce(_));
    if write(&mut receipt, &note).is_err() || !entered {
        return NOT_STARTED.into();
    }
    let error = match call_filter::install(!order.rules.ports.is_empty()) {
        Ok(()) => Command::new(&file).args(args).exec(),
        Err(why) => {
            let _ = write(&mut receipt, &LaunchNote::Failed(why));
            return NOT_STARTED.into();
        }
    };
    let missing = error.kind() == io::ErrorKind::NotFound;
    let _ = write(&mut receipt, &LaunchNote::NotStarted { missing, error: error.to_string() });
    NOT_STARTED.into()
}

/// Replaces what the receipt says.
fn write(receipt: &mut File, note: &LaunchNote) -> io::Result<()> {
    let text = serde_json::to_vec(note)?;
    receipt.rewind()?;
    receipt.set_len(0)?;
    receipt.write_all(&text)
}

/// Closes every descriptor but the standard ones: what another program left open is not the skill's.
fn close_descriptors() -> io::Result<()> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        open.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for descriptor in open.into_iter().filter(|number| *number > LAST_STANDARD) {
        // The one with which the folder was read is closed already.
        let _ = nix::unistd::close(descriptor);
    }
    Ok(())
}

/// Puts the box around this process, up to the filter of system calls.
fn enter(rules: &SandboxRules) -> Result<SandboxReceipt, String> {
    let failed = |error: landlock::RulesetError| error.to_string();
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(failed)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(FILES))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(PORTS)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(SCOPES)))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = read | AccessFs::Execute;
    let special = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    let write = AccessFs::from_all(FILES) & !special;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let own = own_process();
    let system = |paths: &[&str]| -> Vec<PathBuf> { paths.iter().map(PathBuf::from).collect() };
    let mut ruleset = ruleset;
    for (paths, access) in [
        (&system(base_paths::SYSTEM), run),
        (&system(base_paths::READ), read),
        (&system(base_paths::DEVICES), device),
        (&own, read),
        (&rules.read, read),
        (&rules.run, run),
        (&rules.write, write),
    ] {
        ruleset = allow(ruleset, paths, access)?;
    }
    for port in &rules.ports {
        ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(failed)?;
    }
    let status = ruleset.restrict_self().map_err(failed)?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("the kernel accepted the rules and does not enforce them".to_owned());
    }
    let LandlockStatus::Available { effective_abi: abi, .. } = status.landlock else {
        return Err("landlock went away".to_owned());
    };
    drop_capabilities()?;
    Ok(SandboxReceipt { abi: abi as u32, not_enforced: not_enforced(abi, rules) })
}

/// What this process may know of itself: `/proc/self` under the number that it keeps as the program.
fn own_process() -> Vec<PathBuf> {
    vec![PathBuf::from(format!("/proc/{}", std::process::id()))]
}

/// Allows paths; what is not there needs no rule.
fn allow(
    mut ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    for path in paths {
        let descriptor = match PathFd::new(path) {
            Ok(descriptor) => descriptor,
            Err(PathFdError::OpenCall { source, .. }) if is_out_of_reach(&source) => continue,
            Err(error) => return Err(error.to_string()),
        };
        let access = match path.is_dir() {
            true => access,
            false => access & AccessFs::from_file(FILES),
        };
        ruleset = ruleset
            .add_rule(PathBeneath::new(descriptor, access))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(ruleset)
}

fn is_out_of_reach(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

/// A program of the administrator's has no more power in the box than anyone's.
fn drop_capabilities() -> Result<(), String> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::clear_ambient_capability_set()
        .and_then(|()| rustix::thread::set_capabilities(None, sets))
        .map_err(|error| format!("capabilities cannot be given up: {error}"))
}

/// What this kernel leaves open, in words for the person who reads the report.
fn not_enforced(abi: ABI, rules: &SandboxRules) -> Vec<String> {
    let mut open = vec![
        "names, sizes and times of files elsewhere can be seen, and modes and times of the user's \
         own be changed",
    ];
    if !rules.ports.is_empty() {
        open.push("ports are limited and hosts are not: the kernel knows no names");
        open.push("UDP is open, because names are looked up with it");
    }
    if !rules.ports.is_empty() && abi < PORTS {
        open.push("ports are not limited: that needs Linux 6.7");
    }
    if abi < ABI::V5 {
        open.push("commands to devices that are open are not limited: that needs Linux 6.10");
    }
    if abi < SCOPES {
        open.push("signals reach the user's other programs: keeping them in needs Linux 6.12");
    }
    open.into_iter().map(str::to_owned).collect()
}
