//! Finds out that a program only waits for a host that its door refused.

use crate::{
    process_table::{Family, Process},
    spec::Spec,
};
use domain::refused_host::{Pulse, Stall};
use std::{future::pending, time::Duration};
use tokio::time::Instant;

/// How often a program is looked at within its patience.
const LOOKS: u32 = 10;

/// Waits until the program below this launcher has only waited for a refused host for as long as its order allows.
pub(crate) async fn only_waits(spec: &Spec, launcher: i32) {
    let Some((patience, door)) = spec.refused.zip(spec.confine.door.as_ref()) else {
        return pending().await;
    };
    let started = Instant::now();
    door.refused().await;
    let mut stall = Stall::new(millis(patience));
    loop {
        let allowed = door.last_allowed();
        let processor = tokio::task::spawn_blocking(move || processor_time(launcher)).await;
        let pulse = Pulse {
            now: millis(started.elapsed()),
            processor: processor.unwrap_or_default(),
            allowed: allowed.map(|at| millis(at.saturating_duration_since(started))),
        };
        if stall.lasts(pulse) {
            return;
        }
        tokio::time::sleep(patience / LOOKS).await;
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the processor time in milliseconds of the launcher's descendants. The launcher itself is left out, because it
/// looks at them all the time.
fn processor_time(launcher: i32) -> u64 {
    let family = Family::below(launcher).look().map(|(_, family)| family);
    let ticks = family.iter().flatten().map(|process: &Process| process.ticks);
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    ticks.fold(0, u64::saturating_add).saturating_mul(1_000) / per_second
}
