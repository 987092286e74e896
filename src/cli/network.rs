//! The most that foreign programs may reach: settings as the sandbox takes them.

use crate::config::NetworkCeiling;
use sandbox::egress::Ceiling;

/// As a service's settings say.
pub(super) fn ceiling(settings: &NetworkCeiling) -> Ceiling {
    Ceiling {
        hosts: settings.allow.clone(),
        pinned: settings.pinned.clone(),
    }
}

/// As `AUTOBUILD_…` variables say, for a command without settings of its own.
pub(super) fn of_process() -> anyhow::Result<Ceiling> {
    let settings = NetworkCeiling::of_process().map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(lines.join("\n"))
    })?;
    Ok(ceiling(&settings))
}
