//! Restricts with Landlock which files a foreign program may read and change, which ports it may connect to, and which
//! processes it may signal.

use crate::{
    launcher::syscalls::{Sockets, Truncation},
    protocol::{Confinement, NetworkRoute},
};
use domain::isolation::Level;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::path::{Path, PathBuf};

/// The newest Landlock version that we know. On an older kernel we use the rights that the kernel has.
const NEWEST: ABI = ABI::V9;
/// The first version's rights on files. Without them there is no isolation.
const LEAST: ABI = ABI::V1;
/// The first version that can restrict who shortens files.
const LENGTHS: ABI = ABI::V3;
/// The first version that can restrict ports.
const PORTS: ABI = ABI::V4;

/// Devices that every program may use.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Further paths that a program with a root of its own (L2 and L3) may use.
const OWN_DEVICES: &[&str] = &["/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm", "/tmp"];

/// Why the restriction failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("Landlock: {0}")]
    Rules(#[from] RulesetError),
    #[error("the kernel has no Landlock (it takes Linux 5.13 with `landlock` among its lsm=)")]
    Absent,
    #[error("this kernel cannot bind TCP to a port (it takes Linux 6.7), so its door cannot be the only way out")]
    NoPorts,
}

/// Takes all other files, ports and processes away from this thread and everything it starts. Returns the kinds of
/// sockets, and the ways to shorten files, that are safe under this restriction.
pub(super) fn restrict(confinement: &Confinement) -> Result<(Sockets, Truncation), Failure> {
    let status = rules(confinement)?.restrict_self()?;
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else {
        return Err(Failure::Absent);
    };
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(Failure::Absent);
    }
    Ok((sockets(confinement, effective_abi)?, truncation(confinement.level, effective_abi)))
}

fn sockets(confinement: &Confinement, abi: ABI) -> Result<Sockets, Failure> {
    match (confinement.level, &confinement.way) {
        (Level::L0 | Level::L2 | Level::L3, _) => Ok(Sockets::InternetAndLocal),
        (Level::L1, _) if abi >= PORTS => Ok(Sockets::TcpAlone),
        (Level::L1, NetworkRoute::Nowhere) => Ok(Sockets::None),
        (Level::L1, NetworkRoute::Port(_) | NetworkRoute::Bridge { .. }) => Err(Failure::NoPorts),
    }
}

/// At L2 and L3, files that a program may not change are mounted read-only.
fn truncation(level: Level, abi: ABI) -> Truncation {
    if level == Level::L1 && abi < LENGTHS { Truncation::None } else { Truncation::LandlockDecides }
}

fn rules(confinement: &Confinement) -> Result<RulesetCreated, Failure> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(|_| Failure::Absent)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    let rules = match confinement.level {
        Level::L1 => with_port(rules.handle_access(AccessNet::from_all(PORTS))?.create()?, &confinement.way)?,
        Level::L0 | Level::L2 | Level::L3 => rules.create()?,
    };
    let all = AccessFs::from_all(NEWEST) & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev);
    let (devices, read): (Vec<PathBuf>, Vec<PathBuf>) = match confinement.level {
        // The program's root file system contains only the files that it may see.
        Level::L2 | Level::L3 => (paths(DEVICES, OWN_DEVICES), vec!["/".into()]),
        Level::L0 | Level::L1 => (paths(DEVICES, &[]), confinement.read.iter().map(PathBuf::from).collect()),
    };
    let own = confinement.own.then(|| PathBuf::from("/proc/self/exe"));
    let rules = add(rules, read.into_iter().chain(own), AccessFs::from_read(NEWEST))?;
    let rules = add(rules, devices, all | AccessFs::IoctlDev)?;
    let mounted = confinement.mounts.iter().map(|(_, seen)| seen);
    let write = confinement.write.iter().chain(mounted);
    Ok(add(rules, write, all | AccessFs::from_read(NEWEST))?)
}

fn paths(some: &[&str], more: &[&str]) -> Vec<PathBuf> {
    some.iter().chain(more).map(PathBuf::from).collect()
}

/// Adds the access to the paths. A path that does not exist is left out.
fn add(
    rules: RulesetCreated,
    paths: impl IntoIterator<Item = impl AsRef<Path>>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    rules.add_rules(path_beneath_rules(paths, access))
}

fn with_port(rules: RulesetCreated, way: &NetworkRoute) -> Result<RulesetCreated, RulesetError> {
    match way {
        NetworkRoute::Port(port) => rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)),
        NetworkRoute::Nowhere | NetworkRoute::Bridge { .. } => Ok(rules),
    }
}
