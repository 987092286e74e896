//! Which calls of the system a foreign program may not make: those that make namespaces, mount, look into or steer other
//! processes, change the kernel, or open sockets of other families than it needs.

use domain::isolation::Level;
use seccompiler::{
    BpfProgram, SeccompAction,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// Refused whatever the arguments.
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

/// Refused where the machine's own namespaces are the program's too: memory, queues and semaphores that are reached by a
/// number and outlive everybody, and being connected to, which no rule of Landlock binds.
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

/// Calls that send, each with the place of its flags: with one of them they connect too, past the rule of Landlock.
const SENDING: &[(i64, u8)] = &[(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)];

/// Calls that set what the system gives another process, each with the place of that process's number: refused where
/// the service's own number means the service. 0 is the caller itself.
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

/// Of these, the calls that can mean all processes of the user, also under the number 0, each with what says so.
const STEERING_ALL: &[(i64, u64)] = &[(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// Those that only one kind of processor has.
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

/// The second way into an x86 kernel, where it is built in: the same calls under other numbers.
#[cfg(target_arch = "x86_64")]
const SECOND_WAY: i64 = 0x4000_0000;
/// `ioctl`, `ptrace`, `kexec_load`, `process_vm_readv`, `process_vm_writev`, `sendmsg`, `sendmmsg` as the second way
/// numbers them.
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

/// What may be opened as a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those of the internet and of the machine itself: there is a network of its own around the program.
    OfItsOwn,
    /// TCP alone, which Landlock binds to ports.
    TcpAlone,
    /// None at all, for nothing could bind them to what is allowed.
    None,
}

type Failure = seccompiler::Error;
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Takes the calls away from this thread and all that it starts, for ever.
pub(super) fn restrict(level: Level, sockets: Sockets) -> Result<(), Failure> {
    if level == Level::L0 {
        return Ok(());
    }
    // A program that is told that there is no clone3 uses clone, whose flags can be looked at.
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    apply(with_second_way(absent), libc::ENOSYS)?;
    // Some programs end where they cannot hide from their own user. They are told that they do, and go on being counted.
    let hiding = vec![equal(0, u64::from(libc::PR_SET_DUMPABLE.unsigned_abs())), equal(1, 0)];
    let unheard = BTreeMap::from([(libc::SYS_prctl, vec![rule(hiding)?])]);
    apply(with_second_way(unheard), 0)?;
    apply(with_second_way(refused(sockets)?), libc::EPERM)
}

fn apply(rules: Rules, errno: i32) -> Result<(), Failure> {
    let errno = u32::try_from(errno).unwrap_or_default();
    let architecture = std::env::consts::ARCH.try_into().map_err(Failure::Backend)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), architecture)
        .map_err(Failure::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(Failure::Backend)?;
    seccompiler::apply_filter(&program)
}

fn refused(sockets: Sockets) -> Result<Rules, Failure> {
    let mut rules: Rules = NEVER.iter().chain(NEVER_HERE).map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        namespaces.push(rule(vec![SeccompCondition::new(
            0,
            Qword,
            SeccompCmpOp::MaskedEq(flag),
            flag,
        )])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    // Typing into the terminal of whoever started us.
    let ways = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing = ways.map(|way| rule(vec![SeccompCondition::new(1, Dword, SeccompCmpOp::Eq, way)]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, socket_rules(sockets)?);
    if sockets != Sockets::OfItsOwn {
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

/// What sets limits, priority, processors and memory of others; to read them is allowed.
fn steering_rules() -> Result<Rules, Failure> {
    let another = |place| SeccompCondition::new(place, Dword, SeccompCmpOp::Ne, 0);
    let mut rules = Rules::new();
    for (call, place) in STEERING {
        rules.insert(*call, vec![rule(vec![another(*place)])?]);
    }
    for (call, all) in STEERING_ALL {
        rules.entry(*call).or_default().push(rule(vec![equal(0, *all)])?);
    }
    // With a new limit, not to ask for the present one.
    let is_new = SeccompCondition::new(2, Qword, SeccompCmpOp::Ne, 0);
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![another(0), is_new])?]);
    Ok(rules)
}

fn equal(place: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(place, Dword, SeccompCmpOp::Eq, value)
}

/// One rule for each way in which a socket is not allowed; none stands for all of them.
fn socket_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, Failure> {
    let family = |operator, family: i32| SeccompCondition::new(0, Dword, operator, u64::from(family.unsigned_abs()));
    let not_internet = || {
        vec![
            family(SeccompCmpOp::Ne, libc::AF_INET),
            family(SeccompCmpOp::Ne, libc::AF_INET6),
        ]
    };
    match sockets {
        Sockets::None => Ok(Vec::new()),
        Sockets::OfItsOwn => {
            let mut foreign = not_internet();
            foreign.push(family(SeccompCmpOp::Ne, libc::AF_UNIX));
            foreign.push(family(SeccompCmpOp::Ne, libc::AF_NETLINK));
            // Of the kernel's own protocols the one by which programs list their network's addresses.
            let netlink = vec![
                family(SeccompCmpOp::Eq, libc::AF_NETLINK),
                SeccompCondition::new(
                    2,
                    Dword,
                    SeccompCmpOp::Ne,
                    u64::from(libc::NETLINK_ROUTE.unsigned_abs()),
                ),
            ];
            Ok(vec![rule(foreign)?, rule(netlink)?])
        }
        Sockets::TcpAlone => {
            let mut rules = vec![rule(not_internet())?];
            // The kind stands in the lower bits, beside flags.
            for kind in (0..16).filter(|kind| *kind != libc::SOCK_STREAM) {
                let kind = u64::from(kind.unsigned_abs());
                rules.push(rule(vec![SeccompCondition::new(
                    1,
                    Dword,
                    SeccompCmpOp::MaskedEq(0xf),
                    kind,
                )])?);
            }
            // Landlock knows the ports of TCP, not those of its relatives.
            rules.push(rule(vec![
                SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, 0),
                SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, u64::from(libc::IPPROTO_TCP.unsigned_abs())),
            ])?);
            Ok(rules)
        }
    }
}

fn rule(conditions: Vec<Result<SeccompCondition, seccompiler::BackendError>>) -> Result<SeccompRule, Failure> {
    let conditions = conditions.into_iter().collect::<Result<Vec<_>, _>>();
    conditions.and_then(SeccompRule::new).map_err(Failure::Backend)
}

#[cfg(target_arch = "x86_64")]
fn with_second_way(mut rules: Rules) -> Rules {
    let more: Vec<(i64, Vec<SeccompRule>)> = rules
        .iter()
        .map(|(call, rules)| (SECOND_WAY | call, rules.clone()))
        .collect();
    rules.extend(more);
    rules.extend(SECOND_NUMBERS.iter().map(|call| (SECOND_WAY | call, Vec::new())));
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_second_way(rules: Rules) -> Rules {
    rules
}
