//! `autobuild trace TASK`: shows what happened in the runs of a task's agents. It only reads the database, and works
//! while a service writes to it.

use crate::{
    cli::{
        database::{ChosenDatabase, DatabaseArgs},
        local::session::refused,
    },
    messages,
    messages::clean,
    store::StoredRun,
};
use clap::Args;
use domain::{
    ids::{FeatureKey, TaskId},
    trace,
    trace::{TraceEvent, TraceKind, TraceLine},
};
use serde_json::json;
use std::{io, io::Write, process::ExitCode};
use text::shorten;

/// The word for the Planner's runs, which belong to no task.
const PLAN: &str = "PLAN";

/// The most characters of a line for people.
const WIDTH: usize = 140;
/// The most characters of a line about the end of a run.
const LAST_WIDTH: usize = 1_000;

/// The most names that an error lists.
const MOST_NAMED: usize = 12;

/// The arguments of `trace`.
#[derive(Debug, Args)]
#[command(
    after_help = "In a repository where `autobuild run` worked, its database; else the one that `autobuild serve` would \
use. The service may be running.\n\nExamples:\n  \
autobuild trace TASK-001\n  autobuild trace TASK-002 --feature FEAT-42 --json | jq 'select(.event == \"tool_call\")'\n  \
autobuild trace PLAN --data-dir /tmp/autobuild-demo-x\n\nExit codes:\n  0  the runs were shown\n  1  there are none of that name, and it says what there is\n  \
2  the settings hold a mistake\nWith --json, an error is {\"ok\": false, \"error\": ...} on standard output."
)]
pub(super) struct Trace {
    /// The task, as TASK-001; PLAN for the planner.
    #[arg(value_name = "TASK")]
    task: String,
    /// The Feature, as FEAT-42, or by its id where several repositories have one of this name.
    #[arg(long, value_name = "FEATURE")]
    feature: Option<String>,
    /// Prints one JSON object for each event.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: DatabaseArgs,
}

pub(super) async fn trace(trace: Trace) -> ExitCode {
    let chosen = match trace.which.choose().await {
        Ok(chosen) => chosen,
        Err(mistakes) => return refused("trace", trace.json, 2, &mistakes),
    };
    match run(&trace, &chosen).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refused("trace", trace.json, 1, &chosen.secrets.mask(&format!("{error:#}"))),
    }
}

async fn run(trace: &Trace, from: &ChosenDatabase) -> anyhow::Result<()> {
    let task = parse_task(&trace.task)?;
    let store = from.open_to_read().await?;
    let feature = choose_feature(&store.traced().await?, task, trace.feature.as_deref())?;
    let mut runs = store.runs_of(&feature, task).await?;
    runs.retain(|run| run.task == task);
    for run in &runs {
        let events = store.run_events(&run.id).await?.unwrap_or_default();
        let lines = if trace.json { json_lines(run, &events) } else { readable(run, &events, usize::MAX) };
        for line in lines {
            match writeln!(io::stdout(), "{}", from.secrets.mask(&line)) {
                // A reader that stops early, such as `head`, is no error.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
        }
    }
    store.close().await;
    Ok(())
}

fn parse_task(text: &str) -> anyhow::Result<Option<TaskId>> {
    let text = text.to_ascii_uppercase();
    if text == PLAN {
        return Ok(None);
    }
    match text.parse() {
        Ok(task) => Ok(Some(task)),
        Err(_) => anyhow::bail!(
            "`{text}` is no task: name one as TASK-001, or {PLAN} for the planner; AutoBuild's own are TASK-FIX-1, \
             TASK-SYNC-1 and TASK-REVIEW-1"
        ),
    }
}

/// Returns the one Feature that is meant; if none or several match, an error that lists the candidates.
fn choose_feature(
    known: &[(FeatureKey, Option<TaskId>)],
    task: Option<TaskId>,
    feature: Option<&str>,
) -> anyhow::Result<FeatureKey> {
    let named =
        |key: &FeatureKey| feature.is_none_or(|name| key.name().eq_ignore_ascii_case(name) || key.to_string() == name);
    let shown = task_name(task);
    let matching = known.iter().filter(|(key, of)| *of == task && named(key));
    let matching: Vec<FeatureKey> = matching.map(|(key, _)| *key).collect();
    match matching.as_slice() {
        [one] => Ok(*one),
        [] if known.is_empty() => anyhow::bail!("no agent has run here yet"),
        [] => anyhow::bail!(
            "no agent ran for {shown}{}; agents ran for {}",
            feature.map(|name| format!(" of {name}")).unwrap_or_default(),
            list_names(known.iter().map(|(key, of)| format!("{} of {}", task_name(*of), key.name())))
        ),
        several => anyhow::bail!(
            "{} Features have a {shown}: choose one with --feature: {}",
            several.len(),
            list_names(several.iter().map(|key| format!("{} ({key})", key.name())))
        ),
    }
}

fn list_names(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

pub(super) fn task_name(task: Option<TaskId>) -> String {
    task.map_or_else(|| PLAN.to_owned(), |task| task.to_string())
}

/// Returns a JSON line for each event, with its Feature, task, turn and run; one line for a run without events.
fn json_lines(run: &StoredRun, events: &str) -> Vec<String> {
    let head = json!({
        "feature": run.feature.name(),
        "feature_id": run.feature.to_string(),
        "task": run.task.map(|task| task.to_string()),
        "turn": run.turn.0,
        "role": run.role,
        "run": run.id,
    });
    let about = json!({
        "event": "run",
        "agent": run.agent,
        "model": run.model,
        "level": run.level.map(u8::from),
        "state": run.state.to_string(),
        "failure": run.failure,
        "usage": run.usage,
        "started_at": run.started_at.0,
        "ended_at": run.ended_at.map(|at| at.0),
    });
    let events = events.lines().filter_map(|line| serde_json::from_str(line).ok());
    std::iter::once(about).chain(events).map(|event| joined(&head, event).to_string()).collect()
}

fn joined(head: &serde_json::Value, event: serde_json::Value) -> serde_json::Value {
    let mut line = head.clone();
    if let (Some(line), serde_json::Value::Object(event)) = (line.as_object_mut(), event) {
        line.extend(event);
    }
    line
}

/// Returns a run as lines for people: a heading, and a line for each of at most `most` events.
pub(super) fn readable(run: &StoredRun, events: &str, most: usize) -> Vec<String> {
    let task = task_name(run.task);
    let how = run.failure.clone().unwrap_or_else(|| run.state.to_string());
    let head = [format!("{task} turn {} · {} · {}", run.turn, run.role, run.agent)].into_iter();
    let head = head.chain(run.model.clone()).chain(run.level.map(|level| level.to_string())).chain([how]);
    let events: Vec<TraceLine> = trace::read(events).collect();
    let left_out = events.len().saturating_sub(most);
    let mut lines = vec![clean(&head.collect::<Vec<_>>().join(" · "))];
    lines.extend(events.iter().take(most).map(event_line));
    if left_out > 0 {
        lines.push(format!("          … and {left_out} more events: autobuild trace {task}"));
    }
    lines
}

fn event_line(line: &TraceLine) -> String {
    match line {
        TraceLine::Omitted { omitted } => format!("          ({omitted} events left out)"),
        TraceLine::Event(TraceEvent { ms, kind }) => {
            let (word, rest) = messages::event_in_words(kind);
            let (seconds, tenths) = (ms / 1_000, ms % 1_000 / 100);
            let says_how_it_ended =
                matches!(kind, TraceKind::Denied { .. } | TraceKind::Printed { .. } | TraceKind::Ended { .. });
            let width = if says_how_it_ended { LAST_WIDTH } else { WIDTH };
            let rest = shorten::middle(&clean(&rest).split_whitespace().collect::<Vec<_>>().join(" "), width);
            format!("{seconds:6}.{tenths}s  {word:<8} {}", rest.replace('\n', " "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{choose_feature, json_lines, parse_task, readable};
    use crate::store::{RunState, StoredRun};
    use domain::ids::{Millis, TaskId, TurnNumber};
    use text::usage::Usage;

    fn stored_run() -> StoredRun {
        StoredRun {
            id: "e/1/0".to_owned(),
            effect: "e".to_owned(),
            feature: "7/42/1".parse().unwrap(),
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(2),
            role: "player".to_owned(),
            agent: "claude".to_owned(),
            model: Some("big-one".to_owned()),
            level: None,
            state: RunState::Ended,
            usage: Usage::default(),
            prompt_chars: 5,
            runs: 1,
            failure: None,
            started_at: Millis(1),
            ended_at: Some(Millis(2)),
        }
    }

    const EVENTS: &str = "{\"ms\":0,\"event\":\"prompt\",\"text\":\"hello\"}\n\
                          {\"ms\":1250,\"event\":\"tool_call\",\"id\":\"1\",\"tool\":\"read\",\"input\":\"a\\u001b[2Kb\"}\n\
                          not json\n{\"omitted\":3}\n{\"ms\":2000,\"event\":\"ended\",\"how\":\"well\"}\n";

    #[test]
    fn a_run_is_readable_by_people_and_by_programs() {
        let shown = readable(&stored_run(), EVENTS, 100).join("\n");
        assert_eq!(
            shown,
            "TASK-001 turn 2 · player · claude · big-one · ended\n     0.0s  prompt   5 characters\n     \
             1.2s  calls    read ab\n          (3 events left out)\n     2.0s  ends     well"
        );
        assert!(readable(&stored_run(), EVENTS, 1).last().unwrap().contains("and 3 more events"));
        let printed = format!("{{\"ms\":1,\"event\":\"printed\",\"text\":\"{}the end\"}}\n", "word ".repeat(60));
        let shown = readable(&stored_run(), &printed, 100).join("\n");
        assert!(
            shown.contains("prints   word word") && shown.ends_with(&format!("{}the end", "word ".repeat(60))),
            "{shown}"
        );
        let lines = json_lines(&stored_run(), EVENTS);
        assert_eq!(lines.len(), 5);
        let line: serde_json::Value = serde_json::from_str(&lines[2]).unwrap();
        assert_eq!((&line["task"], &line["turn"], &line["tool"]), (&"TASK-001".into(), &2.into(), &"read".into()));
    }

    #[test]
    fn the_task_is_looked_for_and_what_there_is_is_named() {
        let one = ("7/42/1".parse().unwrap(), Some(TaskId::Planned(1)));
        let two = ("8/42/1".parse().unwrap(), Some(TaskId::Planned(1)));
        let task = parse_task("task-001").unwrap();
        assert_eq!(choose_feature(&[one], task, None).unwrap(), one.0);
        assert_eq!(choose_feature(&[one, two], task, Some("8/42/1")).unwrap(), two.0);
        let said = |known: &[_], task, feature| choose_feature(known, task, feature).unwrap_err().to_string();
        assert!(said(&[one, two], task, Some("FEAT-42")).contains("FEAT-42 (7/42/1), FEAT-42 (8/42/1)"));
        assert!(
            said(&[one], parse_task("PLAN").unwrap(), None)
                .contains("no agent ran for PLAN; agents ran for TASK-001 of FEAT-42")
        );
        assert!(said(&[], task, None).contains("no agent has run"));
        assert!(format!("{:#}", parse_task("T1").unwrap_err()).contains("name one as TASK-001"));
    }
}
