//! Converts the network settings to the sandbox's type.

use crate::config::NetworkCeiling;
use sandbox::egress::Ceiling;

/// Returns the ceiling of a service's settings.
pub(super) fn ceiling(settings: &NetworkCeiling) -> Ceiling {
    Ceiling {
        hosts: settings.allow.clone(),
        pinned: settings.pinned.clone(),
    }
}

/// Returns the ceiling of the `AUTOBUILD_…` variables, for a command without settings of its own.
pub(super) fn of_process() -> anyhow::Result<Ceiling> {
    let settings = NetworkCeiling::of_process().map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(lines.join("\n"))
    })?;
    Ok(ceiling(&settings))
}
