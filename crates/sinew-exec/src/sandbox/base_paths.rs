//! What every program needs to start at all: the system's programs and libraries, names, time zones,
//! certificates. Nothing here holds a secret or a word of the user's.

use std::path::{Path, PathBuf};

/// Programs and libraries of the system.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no box elsewhere"))]
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/home/linuxbrew/.linuxbrew/bin",
    "/home/linuxbrew/.linuxbrew/lib",
    "/home/linuxbrew/.linuxbrew/opt",
    "/home/linuxbrew/.linuxbrew/Cellar",
    "/etc/alternatives",
];

/// Files of the system that are read. Not all of `/etc`: it holds keys and hashes of passwords.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no box elsewhere"))]
pub(super) const READ: &[&str] = &[
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/run/resolvconf",
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
    "/var/lib/ca-certificates",
];

/// Devices that hold nothing.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no box elsewhere"))]
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Where the libraries of a program lie that was not installed by the system, seen from its prefix.
const LIBRARIES: &[&str] = &["lib", "lib64", "libexec"];

/// What starting this program takes: its file, where that really lies, and the libraries beside a
/// folder `bin`.
pub fn program_folders_of(file: &Path) -> Vec<PathBuf> {
    let mut paths = vec![file.to_owned()];
    if let Ok(real) = file.canonicalize()
        && real != file
    {
        paths.push(real);
    }
    let mut libraries = Vec::new();
    for folder in paths.iter().filter_map(|path| path.parent()) {
        if folder.file_name().is_some_and(|name| name == "bin")
            && let Some(prefix) = folder.parent()
        {
            libraries.extend(LIBRARIES.iter().map(|name| prefix.join(name)));
        }
    }
    paths.extend(libraries.into_iter().filter(|path| path.is_dir()));
    paths
}
