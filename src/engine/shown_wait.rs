//! The wait of an effect after a failure: its cause, and the effect that shows it to people.

use crate::{
    engine::{job::Job, schedule},
    store::{NewEffect, WaitsOn},
};
use domain::{
    blocked::{Failure, FailureClass, Owner},
    ids::Millis,
};

/// Returns the condition for which an effect waits after a failure; `None` if the failure lasts.
pub(super) fn waits_on(failure: &Failure) -> Option<WaitsOn> {
    let rule = failure.rule();
    match (rule.class, rule.owner) {
        (FailureClass::Lasts, _) => None,
        (FailureClass::Unknown, _) => Some(WaitsOn::Unknown),
        (FailureClass::Passes, Owner::GitHub) => Some(WaitsOn::GitHub),
        (
            FailureClass::Passes,
            Owner::Repository | Owner::Machine | Owner::AutoBuild | Owner::Agent | Owner::Account,
        ) => Some(WaitsOn::Machine),
    }
}

/// Returns the effect that shows people that the job's effect waits, if it is work of a Feature. An effect that only
/// shows something is left out: otherwise each wait would add another.
pub(super) fn shown_wait(job: &Job, now: Millis) -> Option<NewEffect> {
    if !job.parse_effect().is_ok_and(|effect| effect.waits_when_held()) {
        return None;
    }
    let id = format!("{}/waits/{}-{}", job.effect.id, job.effect.fence, now.0);
    job.effect.feature.map(|key| schedule::shown_again(job, key, id, now))
}
