//! Builds the telemetry spans of Features, Tasks, Turns, Gates and agent runs. Pure. Spans hold names and counts only,
//! never text written by people or agents.

use crate::{
    agents::Record,
    config::Role,
    telemetry::{Attribute, Span},
};
use domain::{
    blocked::Failure,
    decision::Outcome,
    evidence::{Evidence, GateReport},
    feature::{Feature, State},
    ids::{FeatureKey, Millis, TaskId, TurnNumber},
    task::{Task, Turn},
};

/// An agent run that ended.
#[derive(Clone, Copy, Debug)]
pub struct AgentRun<'a> {
    pub feature: &'a FeatureKey,
    /// The task; `None` for the planner.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    pub role: Role,
    pub run: &'a str,
    pub from: Millis,
    pub to: Millis,
    /// The usage, model and log of the run.
    pub record: &'a Record,
    /// The failure, if it failed.
    pub failure: Option<&'a Failure>,
}

/// Returns the span of a run. Attribute names follow OpenTelemetry's conventions for generative AI if these define one.
pub fn run(ran: &AgentRun<'_>) -> Span {
    let mut path = path(ran.feature, ran.task, ran.task.and(Some(ran.turn)));
    path.push(ran.run.to_owned());
    let (record, tokens) = (ran.record, ran.record.usage.tokens);
    let named = format!("invoke_agent {}", ran.role);
    let mut span = of(Span::new(path, &named, ran.from, ran.to), ran.feature, ran.task)
        .count("autobuild.turn", u64::from(ran.turn.0))
        .text("gen_ai.operation.name", "invoke_agent")
        .text("gen_ai.agent.name", ran.role.word())
        .text("autobuild.role", ran.role.word())
        .count(
            "gen_ai.usage.input_tokens",
            tokens.input.saturating_add(tokens.cached).saturating_add(tokens.cache_write),
        )
        .count("gen_ai.usage.cache_read.input_tokens", tokens.cached)
        .count("gen_ai.usage.cache_creation.input_tokens", tokens.cache_write)
        .count("gen_ai.usage.output_tokens", tokens.output)
        .count("autobuild.runs", u64::from(record.runs))
        .count("autobuild.agent_ms", record.usage.agent_ms);
    if let Some(model) = &record.model {
        span = span.text("gen_ai.response.model", model);
    }
    if let Some(level) = record.level {
        span = span.text("autobuild.isolation.level", &level.to_string());
    }
    if let Some(micros) = record.usage.usd_micros {
        span.attributes.push(("autobuild.cost.usd", Attribute::Money(dollars(micros))));
    }
    match ran.failure {
        None => span.text("autobuild.outcome", "answered"),
        Some(failure) => {
            let word = failure.rule().word;
            span.text("autobuild.outcome", word).failed(word)
        }
    }
}

pub fn gates(
    feature: &FeatureKey,
    task: TaskId,
    turn: TurnNumber,
    from: Millis,
    to: Millis,
    report: &GateReport,
) -> Span {
    let mut path = path(feature, Some(task), Some(turn));
    path.push(format!("gates/{}", from.0));
    let setup = report.setup.as_ref().map(|evidence| ("set-up".to_owned(), evidence));
    let tests = std::iter::once(("tests".to_owned(), &report.tests));
    let more = report.more.iter().map(|result| (result.gate.name(), &result.evidence));
    let (mut passed, mut failed, mut absent) = (Vec::new(), Vec::new(), Vec::new());
    for (name, evidence) in setup.into_iter().chain(tests).chain(more) {
        match evidence {
            Evidence::Passed(_) => passed.push(name),
            Evidence::Failed(_) => failed.push(name),
            Evidence::Absent(_) => absent.push(name),
        }
    }
    let span = of(Span::new(path, "gates", from, to), feature, Some(task))
        .count("autobuild.turn", u64::from(turn.0))
        .text("autobuild.gates.passed", &passed.join(", "))
        .text("autobuild.gates.failed", &failed.join(", "))
        .text("autobuild.gates.absent", &absent.join(", "));
    span.text("autobuild.outcome", if failed.is_empty() { "passed" } else { "failed" })
}

/// Returns the spans of all turns, tasks and Features that are open in `before` and over in `after`.
pub fn ended_spans(before: &Feature, after: &Feature, at: Millis) -> Vec<Span> {
    let mut spans = Vec::new();
    for task in &after.tasks {
        let earlier = before.tasks.iter().find(|earlier| earlier.id == task.id);
        let open = |turn: &Turn| {
            let earlier = earlier.and_then(|task| task.turns.iter().find(|earlier| earlier.number == turn.number));
            earlier.is_none_or(|turn| turn.ended_at.is_none())
        };
        let over = task.turns.iter().filter(|turn| turn.ended_at.is_some() && open(turn));
        spans.extend(over.map(|turn| turn_span(&after.key, task, turn, at)));
        if task.is_over() && !earlier.is_some_and(Task::is_over) {
            spans.push(task_span(&after.key, task, at));
        }
    }
    if is_closed(&after.state) && !is_closed(&before.state) {
        let span = Span::new(path(&after.key, None, None), "Feature", after.snapshot.at, at);
        let span = of(span, &after.key, None)
            .count("autobuild.tasks", count(after.tasks.len()))
            .text("autobuild.outcome", after.state.word());
        spans.push(match after.state {
            State::Failed { .. } => span.failed("no_valid_plan"),
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::Blocked { .. }
            | State::InReview
            | State::Completed
            | State::Cancelled { .. } => span,
        });
    }
    spans
}

fn turn_span(feature: &FeatureKey, task: &Task, turn: &Turn, at: Millis) -> Span {
    let path = path(feature, Some(task.id), Some(turn.number));
    let to = turn.ended_at.unwrap_or(at);
    let outcome = match turn.verdict.as_ref().map(|verdict| verdict.outcome) {
        Some(Outcome::Approve) => "approve",
        Some(Outcome::Feedback) => "feedback",
        None => "none",
    };
    of(Span::new(path, "Turn", turn.started_at, to), feature, Some(task.id))
        .count("autobuild.turn", u64::from(turn.number.0))
        .text("autobuild.outcome", outcome)
}

fn task_span(feature: &FeatureKey, task: &Task, at: Millis) -> Span {
    let from = task.turns.first().map_or(at, |turn| turn.started_at);
    let span = Span::new(path(feature, Some(task.id), None), "Task", from, at);
    of(span, feature, Some(task.id))
        .count("autobuild.turns", count(task.turns.len()))
        .text("autobuild.outcome", task.state.word())
}

fn is_closed(state: &State) -> bool {
    matches!(state, State::InReview | State::Completed | State::Cancelled { .. } | State::Failed { .. })
}

fn path(feature: &FeatureKey, task: Option<TaskId>, turn: Option<TurnNumber>) -> Vec<String> {
    let parts = [Some(feature.to_string()), task.map(|task| task.to_string()), turn.map(|turn| turn.to_string())];
    parts.into_iter().flatten().collect()
}

fn of(span: Span, feature: &FeatureKey, task: Option<TaskId>) -> Span {
    let span = span.text("autobuild.feature", &feature.name()).count("autobuild.repository.id", feature.repo.0);
    match task {
        Some(task) => span.text("autobuild.task", &task.to_string()),
        None => span,
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts millionths of a dollar to dollars. A count of whole dollars above `u32::MAX` is capped.
fn dollars(micros: u64) -> f64 {
    let whole = u32::try_from(micros / 1_000_000).unwrap_or(u32::MAX);
    let rest = u32::try_from(micros % 1_000_000).unwrap_or_default();
    f64::from(whole) + f64::from(rest) / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::{AgentRun, gates, run};
    use crate::{agents::Record, config::Role, telemetry::Attribute};
    use domain::{
        blocked::Failure,
        evidence::{Absence, Evidence, GateReport},
        ids::{FeatureKey, Millis, TaskId, TurnNumber},
    };
    use text::usage::{Tokens, Usage};

    fn key() -> FeatureKey {
        "7/42/1".parse().unwrap()
    }

    #[test]
    fn a_run_tells_its_figures_and_nothing_that_was_said() {
        let record = Record {
            log: "what it printed".to_owned(),
            model: Some("big-one".to_owned()),
            runs: 2,
            usage: Usage {
                tokens: Tokens { input: 10, cached: 5, cache_write: 1, output: 7 },
                usd_micros: Some(1_250_000),
                ..Usage::default()
            },
            ..Record::default()
        };
        let failure = Failure::AgentFailed { message: "exit code 1: what it printed".to_owned() };
        let span = run(&AgentRun {
            feature: &key(),
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(3),
            role: Role::Player,
            run: "r1",
            from: Millis(1),
            to: Millis(9),
            record: &record,
            failure: Some(&failure),
        });
        assert_eq!(span.path, ["7/42/1", "TASK-001", "3", "r1"]);
        assert_eq!(span.failure.as_deref(), Some("failed"));
        let attribute = |key: &str| {
            let found = span.attributes.iter().find(|(name, _)| *name == key);
            found.map(|(_, attribute)| attribute.clone())
        };
        assert_eq!(attribute("gen_ai.usage.input_tokens"), Some(Attribute::Count(16)));
        assert_eq!(attribute("gen_ai.response.model"), Some(Attribute::Text("big-one".to_owned())));
        assert_eq!(attribute("autobuild.cost.usd"), Some(Attribute::Money(1.25)));
        assert_eq!(attribute("autobuild.feature"), Some(Attribute::Text("FEAT-42".to_owned())));
        assert!(!format!("{span:?}").contains("what it printed"));
    }

    #[test]
    fn gates_are_named_by_what_came_of_them() {
        let report = GateReport {
            isolation: None,
            setup: None,
            tests: Evidence::Absent(Absence::NoCommand),
            excused: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            more: Vec::new(),
        };
        let span = gates(&key(), TaskId::Planned(1), TurnNumber(1), Millis(5), Millis(6), &report);
        assert!(span.attributes.contains(&("autobuild.gates.absent", Attribute::Text("tests".to_owned()))));
        assert_eq!(span.path.len(), 4);
    }
}
