//! The path from the label to a plan in force.

use crate::{
    blocked::BlockReason,
    ci::{CiStatus, CiTreatment},
    complexity,
    design::PreLoop,
    effect::{Effect, Reaction, ReactionTarget},
    feature::{
        base_failures::FailingBase,
        event::{Inquired, Planned},
        feature::{
            ApprovalWhy, Commands, Feature, Living, PlanApproval, PlanKind, PlanRequest, PlanVersion, Rules, Snapshot,
            Trust,
        },
        moves,
        moves::{Step, unchanged},
        preflight::PreFlightOutcome,
        state::{AfterPreFlight, Phase, State, Suspension},
    },
    ids::{CommentId, Emission, FeatureKey, InstallationId, Millis},
    inquiry::{Answer, Inquirer, Inquiries, Respondent, Round},
    plan::{Check, Plan, PlannedTask},
    plan_block::find_plan_block,
    task::Task,
    wave,
};

/// Returns the Feature of an issue that was just labelled.
pub fn labelled(key: FeatureKey, installation: InstallationId, snapshot: Snapshot, rules: Rules) -> Step {
    let emission = Emission(1);
    let eyes = Effect::React { on: ReactionTarget::Issue(key.issue), reaction: Reaction::Eyes };
    let feature = Feature {
        key,
        installation,
        state: State::Planning { emission },
        snapshot,
        rules,
        settings: serde_json::Value::Null,
        request: PlanRequest::default(),
        inquiries: Vec::new(),
        plan: None,
        preflight: None,
        integration: None,
        pull: None,
        wave: 0,
        gates: Vec::new(),
        more_fixes: 0,
        failing_base: FailingBase::Asks,
        ci: CiStatus::default(),
        living: None,
        failed_acts: Vec::new(),
        checking: None,
        reading_ci: None,
        suspension: Suspension::None,
        emitted: emission,
        tasks: Vec::new(),
    };
    let first = first_effect(&feature, emission);
    let mut step = unchanged(feature);
    step.effects.extend([eyes, first]);
    step
}

/// Returns the first effect of planning. Pre-flight comes before the planner, so that no agent is paid for a repository
/// in which no work could ever be checked. A plan that a person wrote costs nothing.
pub(super) fn first_effect(feature: &Feature, emission: Emission) -> Effect {
    match feature.given_plan() {
        Some(_) => Effect::Plan { emission },
        None => Effect::PreFlight { emission, commit: None },
    }
}

/// Handles the pre-flight before planning: blocks the Feature, or asks for the plan.
pub(super) fn looked_at(mut feature: Feature, emission: Emission, outcome: PreFlightOutcome) -> Step {
    match outcome {
        PreFlightOutcome::Refused(reason) => moves::blocked(unchanged(feature), reason, Phase::Planning { emission }),
        PreFlightOutcome::Ready(found) => {
            feature.preflight = Some(found);
            run_planner(feature)
        }
    }
}

/// Lets the planner work. A paused Feature stays paused.
fn run_planner(mut feature: Feature) -> Step {
    let emission = moves::emit(&mut feature);
    if let State::Paused { phase, .. } = &mut feature.state {
        *phase = Phase::Planning { emission };
    } else {
        feature.state = State::Planning { emission };
    }
    let mut step = unchanged(feature);
    step.effects.push(Effect::Plan { emission });
    step
}

/// Handles inquiries of the planner: the Feature waits for a person, or, if nobody answers, the planner runs again with
/// its defaults.
pub(super) fn inquired(mut feature: Feature, emission: Emission, inquired: Inquired) -> Step {
    if !is_planning(&feature, emission) {
        return unchanged(feature);
    }
    let Inquired { by, inquiries, rules, settings } = inquired;
    feature.rules = rules;
    feature.settings = settings;
    match feature.respondent() {
        Respondent::Person => {
            let reason = BlockReason::Inquiry { by, inquiries };
            moves::blocked(unchanged(feature), reason, Phase::Planning { emission })
        }
        Respondent::Nobody => answered(feature, by, inquiries, Answer::Unattended),
    }
}

/// Remembers the answer, and lets the planner work with it. The pre-flight that came before the inquiries still holds.
pub(super) fn answered(mut feature: Feature, by: Inquirer, inquiries: Inquiries, answer: Answer) -> Step {
    feature.inquiries.push(Round { by, inquiries, answer });
    run_planner(feature)
}

pub(super) fn planned_as(mut feature: Feature, emission: Emission, planned: Planned, at: Millis) -> Step {
    if !is_planning(&feature, emission) {
        return unchanged(feature);
    }
    feature.rules = planned.rules;
    feature.settings = planned.settings;
    feature.ci.exposure = planned.exposure;
    let complexity = complexity::feature(&planned.plan);
    let before = feature.plan.as_ref();
    let number = before.map_or(1, |before| before.number.saturating_add(1));
    feature.tasks = tasks(&planned.plan, &planned.pre_loop, &feature);
    let waits = approval_needed(&feature, &planned.plan, complexity);
    let waits_for_approval = !waits.is_empty();
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
        waits,
    });
    if waits_for_approval {
        feature.state = State::AwaitingApproval;
        return unchanged(feature);
    }
    moves::pre_flight(unchanged(feature), None, AfterPreFlight::OpenBranch)
}

impl Feature {
    /// Returns the plan that a person wrote, in a command or in the issue.
    pub fn given_plan(&self) -> Option<String> {
        let of_issue = || match (&self.request.words, self.snapshot.wanted) {
            (None, PlanKind::Plan) => find_plan_block(&self.snapshot.body),
            (Some(_), _) | (None, PlanKind::OneTask) => None,
        };
        self.request.yaml.clone().or_else(of_issue)
    }

    /// Returns the words about the work as a whole of people with the right to decide: the issue, the comments that
    /// belong to it, and their later additions.
    pub fn words(&self) -> Vec<&str> {
        let issue = [&self.snapshot.title, &self.snapshot.body];
        let comments = self.snapshot.discussion.comments.iter().map(|comment| &comment.text);
        let answers = self.inquiries.iter().filter_map(Round::words);
        let texts = issue.into_iter().chain(comments).chain(&self.request.words);
        texts.map(String::as_str).chain(answers).collect()
    }
}

/// `true` if planning waits for this emission, also while the Feature is paused.
pub fn is_planning(feature: &Feature, emission: Emission) -> bool {
    feature.waits_for(emission) == Some(Phase::Planning { emission })
}

/// Returns the tasks of a new plan. They continue the emission numbers of the plan before, so that no effect gets an
/// old id.
fn tasks(plan: &Plan, pre_loop: &PreLoop, feature: &Feature) -> Vec<Task> {
    let rules = feature.task_rules();
    let waves = wave::waves(plan);
    let emitted = feature.tasks.iter().map(|task| task.emitted).max();
    let task = |planned: &PlannedTask| {
        let wave = waves.wave_of(planned.id).and_then(|wave| u32::try_from(wave).ok());
        Task {
            emitted: emitted.unwrap_or(Emission(0)),
            pre_loop: pre_loop.clone(),
            ..Task::planned(planned.clone(), wave.unwrap_or(1), &rules)
        }
    };
    plan.tasks.iter().map(task).collect()
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
    let names_commands = plan.smoke.is_some() || checks.any(|criterion| matches!(criterion.check, Check::Command(_)));
    if names_commands && feature.rules.commands == Commands::Bare {
        why.push(ApprovalWhy::Commands);
    }
    let workflows: Vec<String> = feature.ci.exposure.not_held().map(str::to_owned).collect();
    if feature.ci_treatment() == CiTreatment::Hold && !workflows.is_empty() {
        why.push(ApprovalWhy::UnheldCi { workflows });
    }
    why
}

pub(super) fn plan_refused(mut feature: Feature, emission: Emission, failed: State) -> Step {
    if is_planning(&feature, emission) {
        feature.state = failed;
    }
    unchanged(feature)
}

/// Remembers the living comment and when it first showed the plan in force. Approvals count from that time on.
pub(super) fn living_shown(mut feature: Feature, comment: CommentId, version: Option<u32>, at: Millis) -> Step {
    let is_older = |known: Living| (known.edited_at, known.comment) < (at, comment);
    if feature.living.is_none_or(is_older) {
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
