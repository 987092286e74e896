//! Being told to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What tells a command to end: Ctrl-C, a supervisor, and the terminal that is closed.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
    /// None where whoever started it wants it to outlive the terminal, as `nohup` does.
    hangup: Option<Signal>,
}

impl Stop {
    /// Listens from now on.
    pub fn listen() -> std::io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let hangup = match ignores_hangup(&status) {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    /// Returns when it is told to end.
    pub async fn told(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
        }
    }
}

/// Whether the process was started to ignore SIGHUP, by what the kernel says of it.
fn ignores_hangup(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::ignores_hangup;

    #[test]
    fn a_hangup_that_is_ignored_stays_ignored() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        assert!(ignores_hangup(&status("0000000000001001")));
        assert!(!ignores_hangup(&status("0000000000001000")));
        assert!(!ignores_hangup(""));
    }
}
