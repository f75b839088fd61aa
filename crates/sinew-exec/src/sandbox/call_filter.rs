//! System calls that a program in a box may not make: what landlock does not know of, or is only asked
//! after the harm.
//!
//! A forbidden call fails with "not permitted", so that honest programs can go on without it. Calls
//! by another numbering than this machine's own end the program.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Forbidden whatever their arguments.
const FORBIDDEN: &[c_long] = &[
    // Other programs' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Calls that are made where no filter sees them.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Another view of the files, or of the machine.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_userfaultfd,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    // Keys and memory that all of a user's programs share.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // Owners and attributes of files by their path, which landlock does not ask about.
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
];

#[cfg(target_arch = "x86_64")]
const FORBIDDEN_HERE: &[c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_HERE: &[c_long] = &[];

/// Flags of `clone` that ask for another view of the machine.
const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Commands that type into the terminal for the user.
const TERMINAL_INPUT: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];
/// Families of sockets that a program with a network may open. Not those of the same machine, behind
/// which containers, key agents and the desktop listen.
const NETWORK_FAMILIES: &[libc::c_int] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Protocols over which a connection is no TCP connection to landlock.
const OTHER_PROTOCOLS: &[libc::c_int] =
    &[libc::IPPROTO_MPTCP, libc::IPPROTO_SCTP, libc::IPPROTO_DCCP];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

type CallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// Puts the filters around this process; they cannot be taken off again.
pub(super) fn install(network: bool) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("the filter of system calls: {error}");
    let refused = rules(network).map_err(|error| failed(&error))?;
    let refused = program(refused, libc::EPERM).map_err(|error| failed(&error))?;
    // Its flags are out of a filter's reach; libraries fall back to the older call.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = program(unknown, libc::ENOSYS).map_err(|error| failed(&error))?;
    for filter in [unknown, foreign_numbers(), refused] {
        if !filter.is_empty() {
            seccompiler::apply_filter(&filter).map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

fn program(rules: CallRules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, ARCHITECTURE)?.try_into()
}

fn rules(network: bool) -> Result<CallRules, seccompiler::BackendError> {
    let mut rules: CallRules = BTreeMap::new();
    for call in FORBIDDEN.iter().chain(FORBIDDEN_HERE) {
        rules.insert(*call, Vec::new());
    }
    let flag = |argument, flag: libc::c_int| {
        let bits = u64::from(flag.unsigned_abs());
        condition(argument, SeccompCmpOp::MaskedEq(bits), bits)
    };
    for namespace in NEW_NAMESPACES {
        rule(&mut rules, libc::SYS_clone, vec![flag(0, *namespace)?])?;
    }
    for command in TERMINAL_INPUT {
        rule(&mut rules, libc::SYS_ioctl, vec![condition(1, SeccompCmpOp::Eq, *command)?])?;
    }
    // Limits of another process, which may end it.
    rule(&mut rules, libc::SYS_prlimit64, vec![condition(0, SeccompCmpOp::Ne, 0)?])?;
    if !network {
        rules.insert(libc::SYS_socket, Vec::new());
        return Ok(rules);
    }
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    let others: Result<Vec<_>, _> = NETWORK_FAMILIES
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, number(*family)))
        .collect();
    rule(&mut rules, libc::SYS_socket, others?)?;
    for protocol in OTHER_PROTOCOLS {
        let named = condition(2, SeccompCmpOp::Eq, number(*protocol))?;
        let internet = condition(0, SeccompCmpOp::Ne, number(libc::AF_NETLINK))?;
        rule(&mut rules, libc::SYS_socket, vec![named, internet])?;
    }
    // A message that opens its connection by itself passes no check of the port.
    for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)]
    {
        rule(&mut rules, call, vec![flag(argument, libc::MSG_FASTOPEN)?])?;
    }
    Ok(rules)
}

fn rule(
    rules: &mut CallRules,
    call: c_long,
    conditions: Vec<SeccompCondition>,
) -> Result<(), seccompiler::BackendError> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    Ok(())
}

/// The kernel looks at the lower half of these arguments only.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Calls by the numbers of x32, a second way to make every call of x86-64.
fn foreign_numbers() -> BpfProgram {
    /// The bit that marks them.
    const X32: u32 = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs(),
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
