//! How each phase of a Feature begins: it is entered, and the effect that it waits for is asked for.

use crate::{
    effect::Effect,
    feature::{
        feature::Feature,
        moves::{Step, StopScope, emit, enter},
        state::{Ahead, Phase, State, Then},
    },
    ids::Sha,
};

/// Makes the plan again, from the same request.
pub(super) fn plan_again(mut step: Step) -> Step {
    let emission = emit(&mut step.feature);
    step.feature.state = State::Planning { emission };
    step.effects.push(Effect::Plan { emission });
    step
}

/// Looks at the default branch's head, or at the commit of it that was just merged in.
pub(super) fn pre_flight(mut step: Step, commit: Option<Sha>, then: Ahead) -> Step {
    let emission = emit(&mut step.feature);
    enter(&mut step.feature, Phase::PreFlight { emission, then });
    step.effects.push(Effect::PreFlight { emission, commit });
    step
}

/// The first step after pre-flight.
pub(super) fn open_branch(mut step: Step) -> Step {
    let emission = emit(&mut step.feature);
    enter(&mut step.feature, Phase::OpeningBranch { emission });
    step.effects.push(Effect::OpenIntegration { emission });
    step
}

pub(super) fn has_later_wave(feature: &Feature) -> bool {
    feature.wave < feature.last_wave()
}

/// Opens the next wave, as soon as the default branch is merged in.
pub(super) fn next_wave(mut step: Step) -> Step {
    step.feature.wave = step.feature.wave.saturating_add(1);
    step.feature.more_fixes = 0;
    merge_default(step, Then::Wave)
}

pub(super) fn merge_default(mut step: Step, then: Then) -> Step {
    let emission = emit(&mut step.feature);
    enter(&mut step.feature, Phase::MergingDefault { emission, then });
    step.effects.push(Effect::MergeDefault { emission });
    step
}

pub(super) fn open_pull(mut step: Step) -> Step {
    let emission = emit(&mut step.feature);
    enter(&mut step.feature, Phase::OpeningPull { emission });
    step.effects.push(Effect::OpenFeaturePull { emission });
    step
}

/// Runs the Gates on the integration branch.
pub(super) fn gate(mut step: Step, then: Then) -> Step {
    let emission = emit(&mut step.feature);
    enter(&mut step.feature, Phase::Gate { emission, then });
    step.effects.push(Effect::WaveGate { emission });
    step
}

/// Shows the last gate as the check run of the commit that it ran on.
pub(super) fn publish(mut step: Step) -> Step {
    let emission = emit(&mut step.feature);
    step.effects.push(Effect::PublishWaveCheck { emission });
    step
}

/// Runs the gate on a head in review that no gate saw. Only the newest head counts.
pub(super) fn check_again(mut step: Step) -> Step {
    step.stop.push(StopScope::Feature);
    let emission = emit(&mut step.feature);
    step.feature.checking = Some(emission);
    step.effects.push(Effect::WaveGate { emission });
    step
}

/// The gate in review is not waited for any more.
pub(super) fn check_ends(mut feature: Feature) -> Step {
    feature.checking = None;
    Step {
        feature,
        effects: Vec::new(),
        stop: vec![StopScope::Feature],
    }
}
