//! The system calls that a foreign program may not make. They make namespaces, mount, inspect or control other
//! processes, change the kernel, or open sockets that it does not need.

use domain::isolation::Level;
use seccompiler::{
    BpfProgram, SeccompAction,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::{collections::BTreeMap, ops::Range};

/// The calls that are refused with any arguments.
const NEVER: &[i64] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
];

/// The calls that are also refused if the program shares the machine's namespaces. They use shared memory, queues and
/// semaphores that have a global number and outlive their processes, or accept connections, which Landlock cannot
/// restrict.
const NEVER_AMONG_OTHERS: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_listen,
];

/// Calls that send data, each with the position of its flags. With `MSG_FASTOPEN` they also connect, which evades
/// Landlock.
const SENDING: &[(i64, u8)] = &[(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)];

/// Calls that set another process's resources, each with the position of the process id. They are refused if the
/// program shares the machine's process ids, since one of them is the service's. 0 is the caller itself.
const STEERING: &[(i64, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
];

/// Of these, the calls that can address all processes of a user, even with the id 0, each with the value that does so.
const STEERING_ALL: &[(i64, u64)] = &[(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// The calls that exist only on one kind of processor.
#[cfg(target_arch = "x86_64")]
const NEVER_HERE: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const NEVER_HERE: &[i64] = &[];

/// The bit of the x32 interface, which some x86 kernels include: the same calls under other numbers.
#[cfg(target_arch = "x86_64")]
const SECOND_WAY: i64 = 0x4000_0000;
/// The numbers that `ioctl`, `ptrace`, `kexec_load`, `process_vm_readv`, `process_vm_writev`, `sendmsg` and `sendmmsg`
/// have in the x32 interface.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: &[i64] = &[514, 521, 528, 539, 540, 518, 538];

const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    0x80, // CLONE_NEWTIME
];

/// The numbers of calls that kernels after Linux 6.12 have or may get. What nobody has looked at does not exist: programs
/// fall back to the calls before it. From 512 on, x86 has other numbers for older calls.
const UNKNOWN: Range<i64> = 463..512;

/// The kinds of sockets that a program may open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Internet and local sockets, because the program has a network of its own.
    InternetAndLocal,
    /// TCP only, because Landlock restricts its ports.
    TcpAlone,
    /// None at all, because nothing could restrict them.
    None,
}

/// The files that a program may shorten without a handle for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Truncation {
    /// Those that Landlock lets it shorten.
    LandlockDecides,
    /// None, because nothing could restrict them: Landlock has restricted it only since Linux 6.2.
    None,
}

/// The system calls that take a path and shorten the file.
const TRUNCATING: &[i64] = &[libc::SYS_truncate];

/// Calls that open a file, each with the position of its flags. The flags can also empty the file. Without access for
/// writing, for which there are two modes, this evades Landlock before Linux 6.2.
#[cfg(target_arch = "x86_64")]
const OPENING: &[(i64, u8)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[(i64, u8)] = &[(libc::SYS_openat, 2)];

type CallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// Takes the calls away from this thread and everything it starts, permanently.
pub(super) fn restrict(level: Level, sockets: Sockets, truncation: Truncation) -> Result<(), seccompiler::Error> {
    if level == Level::L0 {
        return Ok(());
    }
    // A program that finds that `clone3` does not exist uses `clone`, whose flags the filter can read.
    let mut absent: CallRules = UNKNOWN.chain([libc::SYS_clone3]).map(|call| (call, Vec::new())).collect();
    if truncation == Truncation::None {
        // The same holds for `openat2` and `openat`.
        absent.insert(libc::SYS_openat2, Vec::new());
        apply(with_second_way(truncation_rules()?), libc::EPERM)?;
    }
    apply(with_second_way(absent), libc::ENOSYS)?;
    // Some programs end if they cannot hide from their own user (`PR_SET_DUMPABLE`). The call seems to succeed, but
    // they stay visible, so that they can be counted.
    let hiding = vec![equal(0, u64::from(libc::PR_SET_DUMPABLE.unsigned_abs())), equal(1, 0)];
    let unheard = BTreeMap::from([(libc::SYS_prctl, vec![rule(hiding)?])]);
    apply(with_second_way(unheard), 0)?;
    apply(with_second_way(refused(sockets)?), libc::EPERM)
}

fn apply(rules: CallRules, errno: i32) -> Result<(), seccompiler::Error> {
    let errno = u32::try_from(errno).unwrap_or_default();
    let architecture = std::env::consts::ARCH.try_into().map_err(seccompiler::Error::Backend)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), architecture)
        .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    seccompiler::apply_filter(&program)
}

fn refused(sockets: Sockets) -> Result<CallRules, seccompiler::Error> {
    let mut rules: CallRules = NEVER.iter().chain(NEVER_HERE).map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        namespaces.push(rule(vec![SeccompCondition::new(0, Qword, SeccompCmpOp::MaskedEq(flag), flag)])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    // These type into the terminal of the person who started us.
    let ways = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing = ways.map(|way| rule(vec![SeccompCondition::new(1, Dword, SeccompCmpOp::Eq, way)]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, socket_rules(sockets)?);
    if sockets != Sockets::InternetAndLocal {
        rules.extend(NEVER_AMONG_OTHERS.iter().map(|call| (*call, Vec::new())));
        rules.extend(steering_rules()?);
        let flag = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
        for (call, place) in SENDING {
            let connects = SeccompCondition::new(*place, Dword, SeccompCmpOp::MaskedEq(flag), flag);
            rules.insert(*call, vec![rule(vec![connects])?]);
        }
    }
    Ok(rules)
}

/// Refuses to set limits, priority, processors and memory of other processes. Reading them is allowed.
fn steering_rules() -> Result<CallRules, seccompiler::Error> {
    let another = |place| SeccompCondition::new(place, Dword, SeccompCmpOp::Ne, 0);
    let mut rules = CallRules::new();
    for (call, place) in STEERING {
        rules.insert(*call, vec![rule(vec![another(*place)])?]);
    }
    for (call, all) in STEERING_ALL {
        rules.entry(*call).or_default().push(rule(vec![equal(0, *all)])?);
    }
    // This refuses setting a new limit, not reading the present one.
    let is_new = SeccompCondition::new(2, Qword, SeccompCmpOp::Ne, 0);
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![another(0), is_new])?]);
    Ok(rules)
}

/// Refuses to shorten a file without a handle for writing.
fn truncation_rules() -> Result<CallRules, seccompiler::Error> {
    let mut rules: CallRules = TRUNCATING.iter().map(|call| (*call, Vec::new())).collect();
    let [empties, mask] = [libc::O_TRUNC, libc::O_TRUNC | libc::O_ACCMODE].map(|flags| u64::from(flags.unsigned_abs()));
    // An access mode of 3 is for `ioctl` alone.
    let without_writing = [libc::O_RDONLY, libc::O_ACCMODE].map(|mode| empties | u64::from(mode.unsigned_abs()));
    for (call, place) in OPENING {
        let opens = |flags| SeccompCondition::new(*place, Dword, SeccompCmpOp::MaskedEq(mask), flags);
        let refused = without_writing.map(|flags| rule(vec![opens(flags)]));
        rules.insert(*call, refused.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

fn equal(place: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(place, Dword, SeccompCmpOp::Eq, value)
}

/// Returns one rule for each kind of socket that is not allowed. An empty list refuses every socket.
fn socket_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let family = |operator, family: i32| SeccompCondition::new(0, Dword, operator, u64::from(family.unsigned_abs()));
    let not_internet = || vec![family(SeccompCmpOp::Ne, libc::AF_INET), family(SeccompCmpOp::Ne, libc::AF_INET6)];
    match sockets {
        Sockets::None => Ok(Vec::new()),
        Sockets::InternetAndLocal => {
            let mut foreign = not_internet();
            foreign.push(family(SeccompCmpOp::Ne, libc::AF_UNIX));
            foreign.push(family(SeccompCmpOp::Ne, libc::AF_NETLINK));
            // Of the netlink protocols, only the one with which programs list their network addresses is allowed.
            let netlink = vec![
                family(SeccompCmpOp::Eq, libc::AF_NETLINK),
                SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, u64::from(libc::NETLINK_ROUTE.unsigned_abs())),
            ];
            Ok(vec![rule(foreign)?, rule(netlink)?])
        }
        Sockets::TcpAlone => {
            let mut rules = vec![rule(not_internet())?];
            // The type is in the lower bits, beside flags.
            for kind in (0..16).filter(|kind| *kind != libc::SOCK_STREAM) {
                let kind = u64::from(kind.unsigned_abs());
                rules.push(rule(vec![SeccompCondition::new(1, Dword, SeccompCmpOp::MaskedEq(0xf), kind)])?);
            }
            // Landlock restricts the ports of TCP, but not those of related protocols.
            rules.push(rule(vec![
                SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, 0),
                SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, u64::from(libc::IPPROTO_TCP.unsigned_abs())),
            ])?);
            Ok(rules)
        }
    }
}

fn rule(
    conditions: Vec<Result<SeccompCondition, seccompiler::BackendError>>,
) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = conditions.into_iter().collect::<Result<Vec<_>, _>>();
    conditions.and_then(SeccompRule::new).map_err(seccompiler::Error::Backend)
}

#[cfg(target_arch = "x86_64")]
fn with_second_way(mut rules: CallRules) -> CallRules {
    let more: Vec<(i64, Vec<SeccompRule>)> =
        rules.iter().map(|(call, rules)| (SECOND_WAY | call, rules.clone())).collect();
    rules.extend(more);
    rules.extend(SECOND_NUMBERS.iter().map(|call| (SECOND_WAY | call, Vec::new())));
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_second_way(rules: CallRules) -> CallRules {
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::{
        fs::{CWD, Mode, OFlags, ResolveFlags},
        io::Errno,
    };
    use std::{fs, fs::File, os::unix::fs::OpenOptionsExt};

    /// Runs a function in a thread that may make no handle-less change of a file's length.
    fn on_an_old_kernel<T: Send>(attempt: impl FnOnce() -> T + Send) -> T {
        let filtered = || {
            rustix::thread::set_no_new_privs(true).unwrap();
            restrict(Level::L1, Sockets::None, Truncation::None).unwrap();
            attempt()
        };
        std::thread::scope(|scope| scope.spawn(filtered).join()).unwrap()
    }

    #[test]
    fn a_file_is_emptied_only_with_a_handle_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"kept").unwrap();
        on_an_old_kernel(|| {
            assert_eq!(nix::unistd::truncate(&file, 0), Err(nix::errno::Errno::EPERM));
            for flags in [libc::O_TRUNC, libc::O_TRUNC | libc::O_ACCMODE, libc::O_TRUNC | libc::O_CREAT] {
                let flags = OFlags::from_bits_retain(flags.unsigned_abs());
                let opened = rustix::fs::open(&file, flags, Mode::RUSR | Mode::WUSR);
                assert_eq!(opened.unwrap_err(), Errno::PERM, "{flags:?}");
            }
            let flags = OFlags::RDONLY | OFlags::TRUNC;
            let opened = rustix::fs::openat2(CWD, &file, flags, Mode::empty(), ResolveFlags::empty());
            assert_eq!(opened.unwrap_err(), Errno::NOSYS);
            assert_eq!(fs::read(&file).unwrap(), b"kept");
            File::options().write(true).open(&file).unwrap().set_len(2).unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"ke");
            File::options().write(true).truncate(true).mode(0o600).open(&file).unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"");
        });
    }
}
