//! What people do to a Feature outside of commands: labels, closing, merging, reopening, pushing.

use crate::domain::effect::Effect;
use crate::domain::feature::CancelledWhy;
use crate::domain::feature::Feature;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::event::NewerRun;
use crate::domain::feature::step::emit;
use crate::domain::feature::step::shown;
use crate::domain::feature::step::unchanged;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::task;

/// Ends an unfinished Feature with all its tasks. What someone did to the issue, the label or the branches says so;
/// an App that was removed says nothing more.
pub(super) fn cancelled(mut feature: Feature, why: CancelledWhy) -> Step {
    let spared = feature.state == State::InReview && matches!(why, CancelledWhy::LabelRemoved(_));
    if !feature.is_unfinished() || spared {
        return unchanged(feature);
    }
    let mut step = end_tasks(&mut feature, &why);
    let closes_pull = match why {
        CancelledWhy::PullClosed(_) | CancelledWhy::RepositoryGone | CancelledWhy::InstallationRemoved => None,
        CancelledWhy::Command(_)
        | CancelledWhy::LabelRemoved(_)
        | CancelledWhy::IssueClosed(_)
        | CancelledWhy::BranchDeleted
        | CancelledWhy::IssueGone
        | CancelledWhy::NothingCompleted => feature.pull,
    };
    if let Some(pull) = closes_pull {
        let run = emit(&mut feature);
        step.push(Effect::CloseFeaturePull { run, pull });
    }
    let silent = matches!(why, CancelledWhy::InstallationRemoved | CancelledWhy::RepositoryGone);
    feature.state = State::Cancelled { why };
    let ended = Step {
        feature,
        effects: step,
        stop: vec![StopScope::Feature],
    };
    if silent {
        Step {
            effects: Vec::new(),
            ..ended
        }
    } else {
        shown(ended)
    }
}

fn end_tasks(feature: &mut Feature, why: &CancelledWhy) -> Vec<Effect> {
    // A task whose feature pull request was closed stays what it was: reopening it goes back to review.
    if matches!(why, CancelledWhy::PullClosed(_)) {
        return Vec::new();
    }
    let rules = feature.task_rules();
    let mut effects = Vec::new();
    for slot in &mut feature.tasks {
        let id = slot.id;
        let at = feature.snapshot.at;
        let ended = task::step::step(slot.clone(), task::Event::FeatureCancelled, at, &rules);
        *slot = ended.task;
        effects.extend(ended.effects.into_iter().map(|asked| Effect::Task {
            task: id,
            run: asked.run,
            work: asked.work,
        }));
    }
    effects
}

/// Merged by its human: done, whatever the Feature was doing.
pub(super) fn pull_merged(mut feature: Feature, pull: PullNumber) -> Step {
    if feature.pull != Some(pull) || feature.state == State::Completed {
        return unchanged(feature);
    }
    feature.state = State::Completed;
    let run = emit(&mut feature);
    shown(Step {
        feature,
        effects: vec![Effect::CleanUp { run }],
        stop: vec![StopScope::Feature],
    })
}

/// Only the pull request's reopening leaves `cancelled`, and only while the issue has no newer run.
pub(super) fn pull_reopened(mut feature: Feature, pull: PullNumber, newer: NewerRun) -> Step {
    match (&feature.state, newer) {
        (State::Cancelled { .. }, NewerRun::None) if feature.pull == Some(pull) => {
            feature.state = State::InReview;
            shown(unchanged(feature))
        }
        _ => unchanged(feature),
    }
}

/// What a person pushed was never verified together with the rest.
pub(super) fn integration_pushed(mut feature: Feature, head: Sha) -> Step {
    let known = feature
        .integration
        .as_ref()
        .is_none_or(|integration| integration.head == head);
    if known || feature.state != State::InReview {
        return unchanged(feature);
    }
    if let Some(integration) = &mut feature.integration {
        integration.head = head;
    }
    let run = emit(&mut feature);
    Step {
        feature,
        effects: vec![Effect::WaveGate { run }],
        stop: Vec::new(),
    }
}

/// Makes the plan again, from the same request.
pub(super) fn plan_again(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    step.feature.state = State::Planning { run };
    step.effects.push(Effect::Plan { run });
    step
}
