//! The server's settings on the sandbox: the isolation of programs and their resource limits.

use crate::config::server_parse::{Parser, whole_number};
use domain::isolation::{Bounds, Level, Limits};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The least and the highest level of isolation.
    pub bounds: Bounds,
    /// The resource limits of each program together with its child processes.
    pub limits: Limits,
}

impl Parser {
    /// Reads the settings on the sandbox; mistakes are collected.
    pub(crate) fn sandbox(&mut self) -> SandboxSettings {
        let usual = SandboxSettings::default();
        let (bounds, limits) = (usual.bounds, usual.limits);
        SandboxSettings {
            bounds: Bounds {
                least: self.parse("SANDBOX_MIN_LEVEL", level).unwrap_or(bounds.least),
                most: self.parse("SANDBOX_MAX_LEVEL", level).unwrap_or(bounds.most),
            },
            limits: Limits {
                memory: self.parse("SANDBOX_MEMORY", size).unwrap_or(limits.memory),
                processes: self.parse("SANDBOX_PROCESSES", processes).unwrap_or(limits.processes),
                cpu: self.parse("SANDBOX_CPU", time).unwrap_or(limits.cpu),
                file: self.parse("SANDBOX_FILE", size).unwrap_or(limits.file),
                disk: self.parse("SANDBOX_DISK", size).unwrap_or(limits.disk),
            },
        }
    }
}

fn level(text: &str) -> Result<Level, &'static str> {
    let level = text.parse::<u8>().ok().and_then(|number| Level::try_from(number).ok());
    level.ok_or("must be 0, 1, 2 or 3")
}

/// Reads a whole number followed by a unit.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number = text.strip_suffix(unit)?.trim_end();
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<u64>().ok().filter(|_| digits)?.checked_mul(*factor)
}

pub(super) fn size(text: &str) -> Result<u64, &'static str> {
    let units = [("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
    let bytes = with_unit(text, &units).filter(|bytes| (1 << 20..=1 << 50).contains(bytes));
    bytes.ok_or("must be a size from 1MiB to 1024TiB, such as 512MiB or 2GiB")
}

fn processes(text: &str) -> Result<u64, String> {
    whole_number(text, 8..=1_000_000, " of processes")
}

fn time(text: &str) -> Result<u64, &'static str> {
    let seconds = with_unit(text, &[("s", 1), ("m", 60), ("h", 3_600)]);
    let seconds = seconds.filter(|seconds| (1..=8_760 * 3_600).contains(seconds));
    seconds.ok_or("must be a time from 1s to 8760h, such as 90m or 4h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_a_unit_and_bounds() {
        assert_eq!((size("2GiB"), size("512 MiB")), (Ok(2 << 30), Ok(512 << 20)));
        assert_eq!((time("90m"), time("4h")), (Ok(5_400), Ok(14_400)));
        for wrong in ["", "2", "2GB", "0MiB", "-1GiB", "+1GiB", "1.5GiB", "GiB", "99999999999999TiB", "2GiB x"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "4", "0s", "-1h", "h", "9999999999999999999h", "1d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "7", "1000001", "-8", "many"] {
            assert!(processes(wrong).is_err(), "{wrong}");
        }
    }
}
