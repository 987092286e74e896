//! The effect of commands on a Feature or one of its tasks, and the cases in which they are refused.

pub use crate::feature::refusal::{Asker, Possible, Refusal, RefusalsSaid, Trigger};
use crate::{
    blocked::BlockReason,
    ci::{CiRelease, CiTreatment},
    command::Command,
    effect::{Effect, Reaction, ReactionTarget, Reply, ReplyTo, Thread},
    feature::{
        base_failures::FailingBase,
        event::{Commanded, NewerRun, Target},
        feature::{Feature, PlanRequest, Snapshot},
        flow, gate, moves,
        moves::{Step, StopScope, answered, apply_to_task, unchanged},
        people, planning,
        state::{AfterPreFlight, CancelledWhy, Phase, State},
        waves,
        waves::on_task,
    },
    ids::{Millis, Sha, TaskId, User},
    inquiry::Answer,
    task,
    task::{PersonDid, Task},
};

/// Carries a command out, with the reactions 👀 and 🚀, or refuses it with 😕 and one reply. Only comments get reactions.
pub(super) fn commanded(feature: Feature, commanded: Commanded, at: Millis) -> Step {
    let (thread, to) = (commanded.thread, commanded.to.clone());
    match (obey(feature.clone(), commanded, at), &to) {
        (Ok(mut step), ReplyTo::Comment(comment)) => {
            let react = |reaction: Reaction| Effect::React { on: ReactionTarget::Comment(*comment), reaction };
            step.effects.insert(0, react(Reaction::Eyes));
            step.effects.push(react(Reaction::Rocket));
            step
        }
        (Ok(step), ReplyTo::Fact(_)) => step,
        (Err(refusal), _) => answered(feature, thread, to, Reply::Refused(refusal)),
    }
}

fn obey(mut feature: Feature, said: Commanded, at: Millis) -> Result<Step, Refusal> {
    let asks = matches!(said.command, Command::Help | Command::Status);
    if !asks {
        refuse_after_end(&feature, &said)?;
        feature.rules = said.rules.unwrap_or(feature.rules);
        feature.settings = said.settings.unwrap_or(feature.settings);
        feature.ci.exposure = said.exposure.unwrap_or(feature.ci.exposure);
    }
    let turns = feature.rules.max_turns;
    let by = said.by;
    match (said.command, said.on) {
        (Command::Help, _) => Ok(reply(feature, said.thread, said.to, Reply::Help)),
        (Command::Status, _) => Ok(reply(feature, said.thread, said.to, Reply::Status)),
        (Command::Plan { words, yaml }, _) => plan(feature, PlanRequest { words, yaml }, said.snapshot),
        (Command::Approve { .. }, Target::Task(id)) => over_task(feature, id, "approve", by, PersonDid::Override, at),
        (Command::Approve { hash }, Target::Feature) => approve(feature, hash, said.written_at, at),
        (Command::Resume { guidance, max_turns }, on) => {
            let turns = max_turns.unwrap_or(turns);
            let did = PersonDid::Resume { guidance, turns };
            match on {
                Target::Task(id) => over_task(feature, id, "resume", by, did, at),
                Target::Feature => resume(feature, &by, &did, at),
            }
        }
        (Command::Retry { task: None }, Target::Feature) => Err(Refusal::NameTheTask { command: "retry".to_owned() }),
        (Command::Retry { task: Some(id) }, _) | (Command::Retry { task: None }, Target::Task(id)) => {
            over_task(feature, id, "retry", by, PersonDid::Retry { turns }, at)
        }
        (Command::Skip { task: id }, _) => over_task(feature, id, "skip", by, PersonDid::Skip, at),
        (Command::Ci, _) => run_ci(feature, by, at),
        (Command::Pause, Target::Task(id)) => over_task(feature, id, "pause", by, PersonDid::Pause, at),
        (Command::Cancel, Target::Task(id)) => over_task(feature, id, "cancel", by, PersonDid::Cancel, at),
        (Command::Pause, Target::Feature) => pause(feature, by),
        (Command::Cancel, Target::Feature) => Ok(people::cancelled(unchanged(feature), CancelledWhy::Command(by), at)),
    }
}

fn reply(feature: Feature, thread: Thread, to: ReplyTo, reply: Reply) -> Step {
    let mut step = unchanged(feature);
    step.effects.push(Effect::Reply { thread, to, reply });
    step
}

/// Refuses commands to a run that has ended, except `plan` after a failed one.
fn refuse_after_end(feature: &Feature, said: &Commanded) -> Result<(), Refusal> {
    if let NewerRun::Exists(run) = said.newer {
        return Err(Refusal::NewerRun { run });
    }
    let plans_again = matches!(feature.state, State::Failed { .. }) && matches!(said.command, Command::Plan { .. });
    if feature.is_unfinished() || plans_again {
        return Ok(());
    }
    Err(Refusal::RunEnded { state: feature.state.word().to_owned() })
}

/// Lets CI run on everything that is pushed from now on, and on the finished work.
fn run_ci(mut feature: Feature, by: User, at: Millis) -> Result<Step, Refusal> {
    if feature.ci_treatment() != CiTreatment::Hold {
        return Err(Refusal::not_now(&feature.state, "ci", Possible::HeldCi));
    }
    feature.ci.release = CiRelease::By(by);
    Ok(waves::settle(unchanged(feature), at))
}

fn plan(mut feature: Feature, request: PlanRequest, snapshot: Option<Snapshot>) -> Result<Step, Refusal> {
    let is_before = matches!(feature.state, State::Planning { .. } | State::AwaitingApproval | State::Failed { .. });
    let is_stopped = matches!(feature.state, State::Blocked { .. }) && feature.is_untouched();
    if !is_before && !is_stopped {
        return Err(Refusal::not_now(&feature.state, "plan", Possible::AnotherRun));
    }
    feature.request = request;
    if let Some(snapshot) = snapshot {
        // The label was not set again, so its request still applies.
        let Snapshot { wanted, requested_at, .. } = feature.snapshot;
        feature.snapshot = Snapshot { wanted, requested_at, ..snapshot };
    }
    let mut step = unchanged(feature);
    step.stop.push(StopScope::Feature);
    Ok(moves::plan_again(step))
}

/// Approves the plan. Without a hash, the approval counts only if the plan was shown before the approval was written.
/// With a hash, it counts for exactly that plan.
fn approve(mut feature: Feature, hash: Option<String>, written_at: Millis, at: Millis) -> Result<Step, Refusal> {
    if let (State::Blocked { phase, reason }, None) = (feature.state.clone(), &hash)
        && reason.asks_about_base()
    {
        feature.failing_base = FailingBase::Accepted;
        return Ok(flow::repeat_phase(unchanged(feature), phase, at));
    }
    let is_waiting = feature.state == State::AwaitingApproval;
    let Some(plan) = feature.plan.as_ref().filter(|_| is_waiting) else {
        return Err(Refusal::not_now(&feature.state, "approve", Possible::WaitingPlan));
    };
    let current: String = plan.hash.chars().take(8).collect();
    match hash {
        Some(given) if !plan.hash.starts_with(&given.to_lowercase()) => Err(Refusal::OtherPlan { given, current }),
        None if plan.shown_at.is_none_or(|shown| shown > written_at) => Err(Refusal::PlanChanged { current }),
        Some(_) | None => Ok(moves::pre_flight(unchanged(feature), None, AfterPreFlight::OpenBranch)),
    }
}

/// Continues everything that waits for a person: the step of the Feature, and every task that can continue.
fn resume(mut feature: Feature, by: &User, did: &PersonDid, at: Millis) -> Result<Step, Refusal> {
    let any_task = feature.tasks.iter().any(|task| can_resume(&feature, task));
    let step = match feature.state.clone() {
        State::Paused { phase, .. } => {
            feature.state = if let Phase::Planning { emission } = phase {
                State::Planning { emission }
            } else {
                State::Building { phase }
            };
            unchanged(feature)
        }
        State::Blocked { phase: Phase::Tasks | Phase::Syncing { .. }, .. } => unchanged(feature),
        State::Blocked { reason: BlockReason::Inquiry { by: asker, inquiries }, .. } => {
            let answer = Answer::of(by.clone(), guidance(did).cloned());
            planning::answered(feature, asker, inquiries, answer)
        }
        State::Blocked { phase, reason } => {
            if reason.asks_about_base() {
                feature.failing_base = FailingBase::Accepted;
            }
            if let BlockReason::WaveGateRed { .. } = reason {
                feature.more_fixes = feature.more_fixes.saturating_add(gate::FIXES);
            }
            if let (Phase::Planning { .. }, Some(words)) = (&phase, guidance(did)) {
                feature.request.words = Some(words.clone());
            }
            flow::repeat_phase(unchanged(feature), phase, at)
        }
        State::Building { .. } if any_task => unchanged(feature),
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => {
            return Err(Refusal::not_now(&feature.state, "resume", Possible::Stopped));
        }
    };
    Ok(resume_tasks(step, by, did, at))
}

/// Returns the words that a person gave with a command to continue.
fn guidance(did: &PersonDid) -> Option<&String> {
    if let PersonDid::Resume { guidance, .. } = did { guidance.as_ref() } else { None }
}

fn resume_tasks(mut step: Step, by: &User, did: &PersonDid, at: Millis) -> Step {
    let feature = &step.feature;
    let resumable = feature.tasks.iter().filter(|task| can_resume(feature, task));
    let ids: Vec<TaskId> = resumable.map(|task| task.id).collect();
    for id in ids {
        let (by, did) = (by.clone(), did.clone());
        apply_to_task(&mut step, id, task::Event::Person { by, did }, at);
    }
    waves::settle(step, at)
}

/// `true` if `resume` reaches this task: it is stopped, or it waits for a step of its Feature, such as the merge of the
/// default branch. A waiting task takes guidance and turns too.
fn can_resume(feature: &Feature, task: &Task) -> bool {
    task.can_resume() || waves::is_ready(feature, task)
}

fn pause(mut feature: Feature, by: User) -> Result<Step, Refusal> {
    let phase = match &feature.state {
        State::Planning { emission } => Phase::Planning { emission: *emission },
        State::Building { phase } => phase.clone(),
        State::AwaitingApproval
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => {
            return Err(Refusal::not_now(&feature.state, "pause", Possible::Running));
        }
    };
    feature.state = State::Paused { phase, by };
    Ok(unchanged(feature))
}

pub(super) fn over_task(
    feature: Feature,
    id: TaskId,
    command: &str,
    by: User,
    did: PersonDid,
    at: Millis,
) -> Result<Step, Refusal> {
    if feature.state.phase().is_none() && feature.state != State::InReview {
        return Err(Refusal::not_now(&feature.state, command, Possible::Building));
    }
    let Some(task) = feature.task(id) else {
        let known = feature.tasks.iter().map(|task| task.id).collect();
        return Err(Refusal::NoSuchTask { task: id, known });
    };
    if let (PersonDid::Override, true, Some(refusal)) = (&did, task.is_blocked(), secret(task)) {
        return Err(refusal);
    }
    if let Some(instead) = misfit(&feature, task, &did) {
        return Err(Refusal::TaskNotNow {
            command: command.to_owned(),
            task: id,
            state: task.word().to_owned(),
            instead,
        });
    }
    let goes_on = matches!(did, PersonDid::Resume { .. } | PersonDid::Retry { .. });
    let step = on_task(feature, id, task::Event::Person { by, did }, at);
    Ok(if goes_on { flow::again_for_tasks(step, at) } else { step })
}

/// Returns why an approving review does not override the Coach for a blocked task.
pub fn review_refused(task: &Task, commit: Option<&Sha>) -> Option<Refusal> {
    let head = task.head.as_ref().filter(|_| task.is_blocked())?;
    if commit == Some(head) { secret(task) } else { Some(Refusal::StaleReview { task: task.id, head: head.clone() }) }
}

fn secret(task: &Task) -> Option<Refusal> {
    let item = task.secret()?;
    let file = item.file.clone().unwrap_or_default();
    let place = item.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    Some(Refusal::SecretFound { task: task.id, place })
}

/// Returns the possible alternatives if a command does not fit the task's state.
fn misfit(feature: &Feature, task: &Task, did: &PersonDid) -> Option<Possible> {
    let (fits, instead) = match did {
        PersonDid::Resume { .. } => (can_resume(feature, task), Possible::StoppedTask),
        PersonDid::Override => (task.is_blocked() && task.is_overridable(), Possible::PushedTask),
        PersonDid::Retry { .. } => (!task.is_completed(), Possible::CompletedStays),
        PersonDid::Pause => (!task.is_over() && !task.is_blocked(), Possible::RunningTask),
        PersonDid::Skip | PersonDid::Cancel => (!task.is_over(), Possible::Ended),
        PersonDid::Approve { .. }
        | PersonDid::Remark(_)
        | PersonDid::ClosePull { .. }
        | PersonDid::ReopenPull { .. }
        | PersonDid::MergePull { .. }
        | PersonDid::Push { .. }
        | PersonDid::Rerun { .. }
        | PersonDid::ForcePush { .. }
        | PersonDid::RequestChanges(_)
        | PersonDid::WithdrawChanges { .. } => return None,
    };
    (!fits).then_some(instead)
}
