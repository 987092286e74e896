//! What happens to a Feature. One function per event.

use crate::domain::blocked::BlockReason;
use crate::domain::complexity;
use crate::domain::effect::Effect;
use crate::domain::effect::ReactOn;
use crate::domain::effect::Reaction;
use crate::domain::effect::Reply;
use crate::domain::effect::ReplyTo;
use crate::domain::effect::Thread;
use crate::domain::feature::ApprovalWhy;
use crate::domain::feature::Feature;
use crate::domain::feature::Living;
use crate::domain::feature::Phase;
use crate::domain::feature::PlanApproval;
use crate::domain::feature::PlanRequest;
use crate::domain::feature::PlanVersion;
use crate::domain::feature::Rules;
use crate::domain::feature::Snapshot;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::Suspension;
use crate::domain::feature::Trust;
use crate::domain::feature::command;
use crate::domain::feature::event::Event;
use crate::domain::feature::event::Planned;
use crate::domain::feature::flow;
use crate::domain::feature::people;
use crate::domain::ids::CommentId;
use crate::domain::ids::FeatureKey;
use crate::domain::ids::InstallationId;
use crate::domain::ids::Millis;
use crate::domain::ids::TaskId;
use crate::domain::plan::Check;
use crate::domain::plan::Plan;
use crate::domain::task;
use crate::domain::task::Task;
use crate::domain::wave;

/// Makes the Feature of a labelled issue.
#[must_use]
pub fn labelled(key: FeatureKey, installation: InstallationId, snapshot: Snapshot, rules: Rules) -> Step {
    let run = 1;
    let feature = Feature {
        key,
        installation,
        state: State::Planning { run },
        snapshot,
        rules,
        settings: serde_json::Value::Null,
        request: PlanRequest::default(),
        plan: None,
        integration: None,
        pull: None,
        wave: 0,
        gates: Vec::new(),
        living: None,
        suspension: Suspension::None,
        emitted: run,
        tasks: Vec::new(),
    };
    let eyes = Effect::React {
        on: ReactOn::Issue(key.issue),
        reaction: Reaction::Eyes,
    };
    Step {
        feature,
        effects: vec![eyes, Effect::Plan { run }],
        stop: Vec::new(),
    }
}

/// Applies `event`; a late or repeated event leaves the Feature as it was.
#[must_use]
pub fn step(feature: Feature, event: Event, at: Millis) -> Step {
    match event {
        Event::Planned { run, planned } => planned_as(feature, run, *planned, at),
        Event::PlanRefused { run, message } => plan_refused(feature, run, message),
        Event::LivingShown {
            comment,
            version,
            at: shown,
        } => living_shown(feature, comment, version, shown),
        Event::IntegrationOpened { run, base, head } => flow::integration_opened(feature, run, base, head, at),
        Event::DefaultMerged { run, outcome } => flow::default_merged(feature, run, outcome, at),
        Event::WaveGated { run, head, report } => flow::wave_gated(feature, run, head, *report),
        Event::PullOpened { run, pull } => flow::pull_opened(feature, run, pull),
        Event::Stuck { run, reason } => stuck(feature, run, reason),
        Event::Task { task, event } => on_task(feature, task, event, at),
        Event::Commanded(commanded) => command::commanded(feature, *commanded, at),
        Event::Answered { thread, to, reply } => answered(feature, thread, to, reply),
        Event::Cancelled(why) => people::cancelled(feature, why),
        Event::PullMerged { pull } => people::pull_merged(feature, pull),
        Event::PullReopened { pull, newer } => people::pull_reopened(feature, pull, newer),
        Event::IntegrationPushed { head } => people::integration_pushed(feature, head),
        Event::Suspended => suspension(feature, Suspension::Suspended),
        Event::Unsuspended => suspension(feature, Suspension::None),
    }
}

pub(super) fn unchanged(feature: Feature) -> Step {
    Step {
        feature,
        effects: Vec::new(),
        stop: Vec::new(),
    }
}

pub(super) fn emit(feature: &mut Feature) -> u64 {
    feature.emitted = feature.emitted.saturating_add(1);
    feature.emitted
}

/// Adds an edit of the living comment: everything that people can see of a change.
pub(super) fn shown(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    step.effects.push(Effect::Living { run });
    step
}

fn planned_as(mut feature: Feature, run: u64, planned: Planned, at: Millis) -> Step {
    let waits_for = match &feature.state {
        State::Planning { run }
        | State::Paused {
            phase: Phase::Planning { run },
            ..
        } => *run,
        _ => return unchanged(feature),
    };
    if waits_for != run {
        return unchanged(feature);
    }
    feature.rules = planned.rules;
    feature.settings = planned.settings;
    let complexity = complexity::feature(&planned.plan);
    let number = feature
        .plan
        .as_ref()
        .map_or(1, |before| before.number.saturating_add(1));
    feature.tasks = tasks(&planned.plan, &feature);
    let waits = approval_needed(&feature, &planned.plan, complexity);
    feature.plan = Some(PlanVersion {
        number,
        plan: planned.plan,
        hash: planned.hash,
        created: at,
        complexity,
        notes: planned.notes,
        commands: planned.commands,
        base: planned.base,
        shown_at: None,
        waits: waits.clone(),
    });
    if waits.is_empty() {
        return flow::open_branch(feature);
    }
    feature.state = State::AwaitingApproval;
    shown(unchanged(feature))
}

fn tasks(plan: &Plan, feature: &Feature) -> Vec<Task> {
    let rules = feature.task_rules();
    let waves = wave::waves(plan);
    plan.tasks
        .iter()
        .map(|planned| {
            let index = waves
                .groups
                .iter()
                .position(|group| group.contains(&planned.id))
                .unwrap_or(0);
            Task::planned(
                planned.clone(),
                u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
                &rules,
            )
        })
        .collect()
}

fn approval_needed(feature: &Feature, plan: &Plan, complexity: u8) -> Vec<ApprovalWhy> {
    let mut why = Vec::new();
    match feature.rules.plan_approval {
        PlanApproval::Never => {}
        PlanApproval::Always => why.push(ApprovalWhy::Settings),
        PlanApproval::From(from) if complexity >= from => why.push(ApprovalWhy::Complexity { complexity, from }),
        PlanApproval::From(_) => {}
    }
    if feature.snapshot.trust == Trust::Others {
        why.push(ApprovalWhy::Author);
    }
    let mut checks = plan.tasks.iter().flat_map(|task| &task.acceptance_criteria);
    if plan.smoke.is_some() || checks.any(|criterion| matches!(criterion.check, Check::Command(_))) {
        why.push(ApprovalWhy::Commands);
    }
    why
}

fn plan_refused(mut feature: Feature, run: u64, message: String) -> Step {
    match feature.state {
        State::Planning { run: waits_for }
        | State::Paused {
            phase: Phase::Planning { run: waits_for },
            ..
        } if waits_for == run => {
            feature.state = State::Failed { message };
            shown(unchanged(feature))
        }
        _ => unchanged(feature),
    }
}

/// Remembers where the living comment is, and since when it shows the plan in force: approvals count from then.
fn living_shown(mut feature: Feature, comment: CommentId, version: Option<u32>, at: Millis) -> Step {
    let newer = feature
        .living
        .is_none_or(|known| known.comment != comment || known.edited_at < at);
    if newer {
        feature.living = Some(Living { comment, edited_at: at });
    }
    if let Some(plan) = &mut feature.plan
        && version == Some(plan.number)
        && plan.shown_at.is_none()
    {
        plan.shown_at = Some(at);
    }
    unchanged(feature)
}

fn stuck(mut feature: Feature, run: u64, reason: BlockReason) -> Step {
    let phase = match &feature.state {
        State::Planning { run } => Phase::Planning { run: *run },
        State::Building { phase } | State::Paused { phase, .. } => phase.clone(),
        _ => return unchanged(feature),
    };
    match phase {
        Phase::Planning { run: waits_for }
        | Phase::OpeningBranch { run: waits_for }
        | Phase::MergingDefault { run: waits_for, .. }
        | Phase::Gate { run: waits_for, .. }
        | Phase::OpeningPull { run: waits_for }
            if waits_for == run =>
        {
            feature.state = State::Blocked { reason, phase };
            blocked(feature)
        }
        Phase::Planning { .. }
        | Phase::OpeningBranch { .. }
        | Phase::MergingDefault { .. }
        | Phase::Tasks
        | Phase::Gate { .. }
        | Phase::OpeningPull { .. } => unchanged(feature),
    }
}

/// Says on the issue that the Feature waits for a person.
pub(super) fn blocked(mut feature: Feature) -> Step {
    let run = emit(&mut feature);
    let mut step = unchanged(feature);
    step.effects.push(Effect::PostFeatureBlocked { run });
    shown(step)
}

/// Applies an event to one task, and then opens whatever the task was the last to keep closed.
pub(super) fn on_task(mut feature: Feature, id: TaskId, event: task::Event, at: Millis) -> Step {
    if !feature.is_unfinished() {
        return unchanged(feature);
    }
    let rules = feature.task_rules();
    let Some(slot) = feature.tasks.iter_mut().find(|task| task.id == id) else {
        return unchanged(feature);
    };
    let before = slot.clone();
    let done = task::step::step(before.clone(), event, at, &rules);
    if done.task == before && done.effects.is_empty() {
        return unchanged(feature);
    }
    *slot = done.task;
    let mut step = unchanged(feature);
    if done.stop == task::Stop::Work {
        step.stop.push(StopScope::Task(id));
    }
    step.effects.extend(done.effects.into_iter().map(|asked| Effect::Task {
        task: id,
        run: asked.run,
        work: asked.work,
    }));
    shown(flow::settle(step, at))
}

fn answered(feature: Feature, thread: Thread, to: ReplyTo, reply: Reply) -> Step {
    let mut step = unchanged(feature);
    if let ReplyTo::Comment(comment) = &to {
        step.effects.push(Effect::React {
            on: ReactOn::Comment(*comment),
            reaction: Reaction::Confused,
        });
    }
    step.effects.push(Effect::Reply { thread, to, reply });
    step
}

fn suspension(mut feature: Feature, now: Suspension) -> Step {
    if feature.is_unfinished() {
        feature.suspension = now;
    }
    unchanged(feature)
}
