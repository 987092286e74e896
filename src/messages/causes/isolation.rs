//! Describes the isolation of programs from a machine, the requirements for better isolation, and who enforces their
//! resource limits.

use domain::isolation::{CanaryAct, IsolationCause, Level, LimitKeeper, MissingIsolation, Obstacle};

/// Returns a short description of the level.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::L0 => "none",
        Level::L1 => "limited files and system calls, by Landlock and seccomp",
        Level::L2 => "its own files, programs and network, but the machine's /proc",
        Level::L3 => "its own files, programs and network",
    }
}

/// Names who enforces the limits on memory and processes, as the object of a sentence.
pub fn limit_keeper(keeper: &LimitKeeper) -> String {
    match keeper {
        LimitKeeper::Kernel(home) => format!("the kernel, in control groups below {}", home.display()),
        LimitKeeper::Launcher(reason) => format!("the launcher, which watches: {reason}"),
    }
}

/// Names what a machine lacks for better isolation, and how to provide it; empty if it lacks nothing.
pub fn missing(missing: &[MissingIsolation]) -> String {
    let worded = missing.iter().map(|missing| {
        let levels: Vec<String> = missing.levels.iter().map(Level::to_string).collect();
        let colon = if levels.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", levels.join(" and "), cause(&missing.cause))
    });
    worded.collect::<Vec<_>>().join("; ")
}

fn cause(cause: &IsolationCause) -> String {
    match cause {
        IsolationCause::Forbidden(most) => format!("AUTOBUILD_SANDBOX_MAX_LEVEL allows no more than {most}"),
        IsolationCause::NoProc => {
            "/proc is not mounted here, and without it nothing can be kept apart or watched (mount -t proc proc /proc)"
                .to_owned()
        }
        IsolationCause::NoCanary(reason) => format!("the canary did not run: {reason}"),
        IsolationCause::HeldAnyway(report) => format!("without isolation already the canary was held: {report}"),
        IsolationCause::NotBlocked(act) => format!("{} in spite of it", canary_act(*act)),
        IsolationCause::UnboundSignals => {
            "a kernel, 6.12 or newer, that keeps programs from signalling other processes of this user".to_owned()
        }
        IsolationCause::NoUsers => {
            "CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETPCAP, CAP_SETUID, all \
                                    user ids: else, runs share root's user (docs/isolation.md)"
                .to_owned()
        }
        IsolationCause::NotBuilt { reason, obstacle: None } => reason.clone(),
        IsolationCause::NotBuilt { reason, obstacle: Some(found) } => format!("{} ({reason})", obstacle(*found)),
    }
}

fn canary_act(act: CanaryAct) -> &'static str {
    match act {
        CanaryAct::Read => "a file that was not given was read",
        CanaryAct::SetMode => "a file's mode was changed",
        CanaryAct::Connect => "a listener of the machine was reached",
        CanaryAct::See => "a process outside was seen",
        CanaryAct::Signal => "a process outside was signalled",
        CanaryAct::SetLimit => "a limit of a process outside was set",
        CanaryAct::Empty => "a file that was not given was emptied",
    }
}

/// Names an obstacle and how to remove it.
fn obstacle(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::NoBubblewrap => "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)",
        Obstacle::OldBubblewrap => "bubblewrap is too old: 0.8 or newer is needed",
        Obstacle::AppArmor => {
            "AppArmor forbids user namespaces to bubblewrap (Ubuntu 24.04: give /usr/bin/bwrap a profile that allows \
             userns)"
        }
        Obstacle::MaskedProc => "/proc is masked here (Kubernetes: procMount: Unmasked with hostUsers: false)",
        Obstacle::NoNamespaces => {
            "user namespaces are forbidden here (sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; \
             in a container its seccomp profile)"
        }
        Obstacle::NoLandlock => "start the kernel, 5.13 or newer, with landlock among its lsm=",
    }
}

#[cfg(test)]
mod tests {
    use super::{IsolationCause, Level, MissingIsolation, Obstacle, missing};

    #[test]
    fn each_cause_stands_once_behind_the_levels_that_it_prevents() {
        let lack = |levels: &[Level], cause| MissingIsolation { levels: levels.to_vec(), cause };
        let reason = "bwrap: setting up uid map: Permission denied".to_owned();
        let obstacle = Some(Obstacle::AppArmor);
        let both = [
            lack(&[], IsolationCause::Forbidden(Level::L2)),
            lack(&[Level::L3, Level::L2], IsolationCause::NotBuilt { reason, obstacle }),
        ];
        assert_eq!(missing(&[]), "");
        assert_eq!(
            missing(&both),
            "AUTOBUILD_SANDBOX_MAX_LEVEL allows no more than L2; L3 and L2: AppArmor forbids user namespaces to \
             bubblewrap (Ubuntu 24.04: give /usr/bin/bwrap a profile that allows userns) (bwrap: setting up uid map: \
             Permission denied)"
        );
    }
}
