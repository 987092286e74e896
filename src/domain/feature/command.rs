//! What commands do, and when they are refused.

use crate::domain::command::Command;
use crate::domain::effect::Effect;
use crate::domain::effect::ReactOn;
use crate::domain::effect::Reaction;
use crate::domain::effect::Reply;
use crate::domain::effect::ReplyTo;
use crate::domain::feature::CancelledWhy;
use crate::domain::feature::Feature;
use crate::domain::feature::Phase;
use crate::domain::feature::PlanRequest;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::event::Commanded;
use crate::domain::feature::event::NewerRun;
use crate::domain::feature::event::Target;
use crate::domain::feature::flow;
use crate::domain::feature::people;
pub use crate::domain::feature::refusal::Refusal;
use crate::domain::feature::step::on_task;
use crate::domain::feature::step::unchanged;
use crate::domain::ids::Millis;
use crate::domain::ids::TaskId;
use crate::domain::ids::User;
use crate::domain::task;
use crate::domain::task::PersonDid;

/// Obeys or refuses: 🚀, or 😕 with one reply.
pub(super) fn commanded(feature: Feature, commanded: Commanded, at: Millis) -> Step {
    let (thread, comment) = (commanded.thread, commanded.comment);
    let refused = |feature: Feature, refusal: Refusal| {
        let mut step = unchanged(feature);
        step.effects.push(Effect::React {
            on: ReactOn::Comment(comment),
            reaction: Reaction::Confused,
        });
        let to = ReplyTo::Comment(comment);
        step.effects.push(Effect::Reply {
            thread,
            to,
            reply: Reply::Refused(refusal),
        });
        step
    };
    match obey(feature.clone(), commanded, at) {
        Ok(mut step) => {
            step.effects.push(Effect::React {
                on: ReactOn::Comment(comment),
                reaction: Reaction::Rocket,
            });
            step
        }
        Err(refusal) => refused(feature, refusal),
    }
}

fn obey(mut feature: Feature, said: Commanded, at: Millis) -> Result<Step, Refusal> {
    let reply = |feature: Feature, reply: Reply| {
        let mut step = unchanged(feature);
        step.effects.push(Effect::Reply {
            thread: said.thread,
            to: ReplyTo::Comment(said.comment),
            reply,
        });
        step
    };
    match &said.command {
        Command::Help => return Ok(reply(feature, Reply::Help)),
        Command::Status => return Ok(reply(feature, Reply::Status)),
        _ => {}
    }
    ended(&feature, &said)?;
    if let (Some(rules), Some(settings)) = (said.rules.clone(), said.settings.clone()) {
        feature.rules = rules;
        feature.settings = settings;
    }
    let turns = feature.rules.max_turns;
    match (said.command, said.on) {
        (Command::Plan { words, yaml }, _) => plan(feature, PlanRequest { words, yaml }),
        (Command::Approve { .. }, Target::Task(id)) => {
            over_task(feature, id, "approve", said.by, PersonDid::Override, at)
        }
        (Command::Approve { hash }, Target::Feature) => approve(feature, hash, said.written_at),
        (Command::Resume { guidance, max_turns }, Target::Task(id)) => {
            let did = PersonDid::Resume {
                guidance,
                turns: max_turns.unwrap_or(turns),
            };
            over_task(feature, id, "resume", said.by, did, at)
        }
        (Command::Resume { guidance, max_turns }, Target::Feature) => {
            resume(feature, &said.by, guidance.as_deref(), max_turns.unwrap_or(turns), at)
        }
        (Command::Retry { task: None }, Target::Feature) => Err(Refusal::NameTheTask {
            command: "retry".to_owned(),
        }),
        (Command::Retry { task: Some(id) }, _) | (Command::Retry { task: None }, Target::Task(id)) => {
            over_task(feature, id, "retry", said.by, PersonDid::Retry { turns }, at)
        }
        (Command::Skip { task: id }, _) => over_task(feature, id, "skip", said.by, PersonDid::Skip, at),
        (Command::Pause, Target::Task(id)) => over_task(feature, id, "pause", said.by, PersonDid::Pause, at),
        (Command::Cancel, Target::Task(id)) => over_task(feature, id, "cancel", said.by, PersonDid::Cancel, at),
        (Command::Pause, Target::Feature) => pause(feature, said.by),
        (Command::Cancel, Target::Feature) => Ok(people::cancelled(feature, CancelledWhy::Command(said.by))),
        (Command::Help | Command::Status, _) => Ok(unchanged(feature)),
    }
}

/// An ended run takes no commands, but `plan` after a failed one.
fn ended(feature: &Feature, said: &Commanded) -> Result<(), Refusal> {
    if let NewerRun::Exists(run) = said.newer {
        return Err(Refusal::NewerRun { run });
    }
    let may_plan = matches!(
        (&feature.state, &said.command),
        (State::Failed { .. }, Command::Plan { .. })
    );
    if feature.is_unfinished() || may_plan {
        return Ok(());
    }
    Err(Refusal::RunEnded {
        state: feature.state.word().to_owned(),
    })
}

fn plan(mut feature: Feature, request: PlanRequest) -> Result<Step, Refusal> {
    let untouched = feature
        .tasks
        .iter()
        .all(|task| task.turns.is_empty() && task.state == task::State::Pending);
    let fits = match &feature.state {
        State::Planning { .. } | State::AwaitingApproval | State::Failed { .. } => true,
        State::Blocked { .. } => untouched && feature.integration.is_none(),
        State::Paused { phase, .. } => matches!(phase, Phase::Planning { .. }),
        State::Building { .. } | State::InReview | State::Completed | State::Cancelled { .. } => false,
    };
    if !fits {
        return Err(not_now(&feature, "plan", "cancel, then label the issue again"));
    }
    feature.request = request;
    let step = Step {
        feature,
        effects: Vec::new(),
        stop: vec![StopScope::Feature],
    };
    Ok(people::plan_again(step))
}

/// An approval counts for what was shown when it was written; with a hash it is always exact.
fn approve(feature: Feature, hash: Option<String>, written_at: Millis) -> Result<Step, Refusal> {
    let Some(plan) = feature
        .plan
        .as_ref()
        .filter(|_| feature.state == State::AwaitingApproval)
    else {
        return Err(not_now(
            &feature,
            "approve",
            "a plan that waits for approval says so in its comment",
        ));
    };
    let current: String = plan.hash.chars().take(8).collect();
    match hash {
        Some(given) if !plan.hash.starts_with(&given.to_lowercase()) => Err(Refusal::OtherPlan { given, current }),
        None if plan.shown_at.is_none_or(|shown| shown > written_at) => Err(Refusal::PlanChanged { current }),
        Some(_) | None => Ok(flow::open_branch(feature)),
    }
}

fn resume(feature: Feature, by: &User, guidance: Option<&str>, turns: u32, at: Millis) -> Result<Step, Refusal> {
    match feature.state.clone() {
        State::Paused { phase, .. } => {
            let mut feature = feature;
            feature.state = match phase {
                Phase::Planning { run } => State::Planning { run },
                phase => State::Building { phase },
            };
            let mut step = resume_tasks(unchanged(feature), by, guidance, turns, at);
            step = super::step::shown(step);
            Ok(step)
        }
        State::Blocked {
            phase: Phase::Tasks, ..
        } => Ok(resume_tasks(unchanged(feature), by, guidance, turns, at)),
        State::Blocked { phase, .. } => Ok(super::step::shown(flow::again(feature, phase, at))),
        State::Building { .. } if feature.tasks.iter().any(task::Task::is_blocked) => {
            Ok(resume_tasks(unchanged(feature), by, guidance, turns, at))
        }
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => Err(not_now(
            &feature,
            "resume",
            "only what is blocked or paused can be resumed",
        )),
    }
}

fn resume_tasks(mut step: Step, by: &User, guidance: Option<&str>, turns: u32, at: Millis) -> Step {
    let blocked: Vec<TaskId> = step
        .feature
        .tasks
        .iter()
        .filter(|task| task.is_blocked())
        .map(|task| task.id)
        .collect();
    for id in blocked {
        let did = PersonDid::Resume {
            guidance: guidance.map(str::to_owned),
            turns,
        };
        let event = task::Event::Person { by: by.clone(), did };
        let done = on_task(step.feature, id, event, at);
        step.feature = done.feature;
        step.effects.extend(done.effects);
        step.stop.extend(done.stop);
    }
    step
}

fn over_task(
    feature: Feature,
    id: TaskId,
    command: &str,
    by: User,
    did: PersonDid,
    at: Millis,
) -> Result<Step, Refusal> {
    let known = || feature.tasks.iter().map(|task| task.id).collect();
    let Some(task) = feature.task(id) else {
        return Err(Refusal::NoSuchTask {
            task: id,
            known: known(),
        });
    };
    let (fits, instead) = match did {
        PersonDid::Resume { .. } => (task.is_blocked(), "only a blocked task can be resumed"),
        PersonDid::Override => (
            task.is_blocked() && task.pull.is_some() && task.last_turn().is_some_and(|turn| turn.head.is_some()),
            "only a blocked task with a pushed commit can be approved over the Coach",
        ),
        PersonDid::Retry { .. } => (!task.is_completed(), "a completed task stays completed"),
        PersonDid::Skip | PersonDid::Cancel | PersonDid::Pause => (!task.is_over(), "it has ended already"),
        PersonDid::ClosePull { .. }
        | PersonDid::ReopenPull { .. }
        | PersonDid::MergePull { .. }
        | PersonDid::Push { .. }
        | PersonDid::ForcePush { .. }
        | PersonDid::RequestChanges(_)
        | PersonDid::WithdrawChanges => (true, ""),
    };
    let building = matches!(
        feature.state,
        State::Building { .. } | State::Paused { .. } | State::Blocked { .. }
    );
    if !building {
        return Err(not_now(
            &feature,
            command,
            "tasks can be changed while the Feature is being built",
        ));
    }
    if !fits {
        return Err(Refusal::TaskNotNow {
            command: command.to_owned(),
            task: id,
            state: task.state.word().to_owned(),
            instead: instead.to_owned(),
        });
    }
    Ok(on_task(feature, id, task::Event::Person { by, did }, at))
}

fn pause(mut feature: Feature, by: User) -> Result<Step, Refusal> {
    let phase = match &feature.state {
        State::Planning { run } => Phase::Planning { run: *run },
        State::Building { phase } => phase.clone(),
        State::AwaitingApproval
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => return Err(not_now(&feature, "pause", "nothing is running that could be paused")),
    };
    feature.state = State::Paused { phase, by };
    Ok(super::step::shown(unchanged(feature)))
}

fn not_now(feature: &Feature, command: &str, instead: &str) -> Refusal {
    Refusal::NotNow {
        command: command.to_owned(),
        state: feature.state.word().to_owned(),
        instead: instead.to_owned(),
    }
}
