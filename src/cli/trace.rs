//! `autobuild trace TASK`: what happened in the runs of a task's agents, read from the database. Never writes to it, and
//! works beside a service that does.

use crate::{
    cli::place::Place,
    config::ServerSettings,
    messages,
    messages::clean,
    store::{OpenOptions, Store, StoredRun},
};
use anyhow::Context;
use clap::Args;
use domain::{
    ids::{FeatureKey, TaskId},
    secret::Secrets,
    shorten, trace,
    trace::{TraceEvent, TraceKind, TraceLine},
};
use secrecy::ExposeSecret;
use serde_json::json;
use std::{io, io::Write, process::ExitCode};

/// The word for the runs of a planner, which belong to no task.
const PLAN: &str = "PLAN";

/// Characters of a line for people.
const WIDTH: usize = 140;
/// Characters of a line that says how a run ended, or why.
const LAST_WIDTH: usize = 1_000;

/// Names that an error lists.
const MOST_NAMED: usize = 12;

/// What `trace` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "In a repository where `autobuild run` worked, its database; else the one that `autobuild serve` would \
use. The service may be running.\n\nExamples:\n  \
autobuild trace TASK-001\n  autobuild trace TASK-002 --feature FEAT-42 --json | jq 'select(.event == \"tool_call\")'\n  \
autobuild trace PLAN --data-dir /tmp/autobuild-demo-x"
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
    /// The service's data folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

pub(super) async fn trace(trace: Trace) -> ExitCode {
    let flags: Vec<(String, String)> = [
        ("AUTOBUILD_CONFIG", &trace.config),
        ("AUTOBUILD_DATA_DIR", &trace.data_dir),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
    .collect();
    let settings = match ServerSettings::of_process(&flags) {
        Ok(settings) => settings,
        Err(mistakes) => {
            mistakes
                .iter()
                .for_each(|mistake| eprintln!("autobuild trace: {mistake}"));
            return ExitCode::from(2);
        }
    };
    let database = match flags.is_empty() {
        true => local_database().await,
        false => None,
    };
    let database = database.unwrap_or_else(|| settings.database_url.expose_secret().to_owned());
    match run(&trace, &settings, &database).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("autobuild trace: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The database of the repository around the current folder, where there is one.
async fn local_database() -> Option<String> {
    let place = Place::here().await.ok()?;
    place.has_database().then(|| place.database())
}

async fn run(trace: &Trace, settings: &ServerSettings, url: &str) -> anyhow::Result<()> {
    let task = wanted(&trace.task)?;
    let store = Store::open_to_read(url, OpenOptions::default())
        .await
        .context("opening the database (AUTOBUILD_DATABASE_URL or --data-dir says which)")?;
    let feature = chosen(&store.traced().await?, task, trace.feature.as_deref())?;
    let mut runs = store.runs_of(&feature, task).await?;
    runs.retain(|run| run.task == task);
    let secrets = Secrets::new(&super::service::known_secrets(settings));
    for run in &runs {
        let events = store.run_events(&run.id).await?.unwrap_or_default();
        let lines = match trace.json {
            true => json_lines(run, &events),
            false => readable(run, &events, usize::MAX),
        };
        for line in lines {
            match writeln!(io::stdout(), "{}", secrets.mask(&line)) {
                // Whoever reads only the beginning, as `head` does, has what they wanted.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
        }
    }
    store.close().await;
    Ok(())
}

fn wanted(text: &str) -> anyhow::Result<Option<TaskId>> {
    let text = text.to_ascii_uppercase();
    match text.as_str() {
        PLAN => Ok(None),
        text => Ok(Some(text.parse().with_context(|| {
            format!("`{PLAN}` names the runs of the planner, and TASK-FIX-1, TASK-SYNC-1, TASK-REVIEW-1 tasks of AutoBuild's own")
        })?)),
    }
}

/// The one Feature that is meant; what else there is, where none or several are.
fn chosen(
    known: &[(FeatureKey, Option<TaskId>)],
    task: Option<TaskId>,
    feature: Option<&str>,
) -> anyhow::Result<FeatureKey> {
    let named =
        |key: &FeatureKey| feature.is_none_or(|name| key.shown().eq_ignore_ascii_case(name) || key.to_string() == name);
    let shown = task_name(task);
    let matching: Vec<FeatureKey> = known
        .iter()
        .filter(|(key, of)| *of == task && named(key))
        .map(|(key, _)| *key)
        .collect();
    match matching.as_slice() {
        [one] => Ok(*one),
        [] if known.is_empty() => anyhow::bail!("no run of an agent is remembered in this database yet"),
        [] => anyhow::bail!(
            "no run of {shown}{} is remembered; there are {}",
            feature.map(|name| format!(" of {name}")).unwrap_or_default(),
            listed(
                known
                    .iter()
                    .map(|(key, of)| format!("{} of {}", task_name(*of), key.shown()))
            )
        ),
        several => anyhow::bail!(
            "{} Features have runs of {shown}; choose one with --feature: {}",
            several.len(),
            listed(several.iter().map(|key| format!("{} ({key})", key.shown())))
        ),
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let first: Vec<String> = names.into_iter().take(MOST_NAMED).collect();
    match more {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn task_name(task: Option<TaskId>) -> String {
    task.map_or_else(|| PLAN.to_owned(), |task| task.to_string())
}

/// Each event with what it belongs to; of a run without events, that there was one.
fn json_lines(run: &StoredRun, events: &str) -> Vec<String> {
    let head = json!({
        "feature": run.feature.shown(),
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
    std::iter::once(about)
        .chain(events)
        .map(|event| joined(&head, event).to_string())
        .collect()
}

fn joined(head: &serde_json::Value, event: serde_json::Value) -> serde_json::Value {
    let mut line = head.clone();
    if let (Some(line), serde_json::Value::Object(event)) = (line.as_object_mut(), event) {
        line.extend(event);
    }
    line
}

/// A run for people: a heading, then a line for each of at most `most` events.
pub(super) fn readable(run: &StoredRun, events: &str, most: usize) -> Vec<String> {
    let mut head = format!(
        "{} turn {} · {} · {}",
        task_name(run.task),
        run.turn,
        run.role,
        run.agent
    );
    if let Some(model) = &run.model {
        head.push_str(&format!(" · {model}"));
    }
    if let Some(level) = run.level {
        head.push_str(&format!(" · {level}"));
    }
    let how = run.failure.clone().unwrap_or_else(|| run.state.to_string());
    head.push_str(&format!(" · {how}"));
    let events: Vec<TraceLine> = trace::read(events).collect();
    let left_out = events.len().saturating_sub(most);
    let mut lines = vec![clean(&head)];
    lines.extend(events.iter().take(most).map(event_line));
    if left_out > 0 {
        lines.push(format!(
            "          … and {left_out} more events: autobuild trace {}",
            task_name(run.task)
        ));
    }
    lines
}

fn event_line(line: &TraceLine) -> String {
    match line {
        TraceLine::Omitted { omitted } => format!("          ({omitted} events left out)"),
        TraceLine::Event(TraceEvent { ms, kind }) => {
            let (word, rest) = messages::happened(kind);
            let (seconds, tenths) = (ms / 1_000, ms % 1_000 / 100);
            let width = match kind {
                TraceKind::Denied { .. } | TraceKind::Printed { .. } | TraceKind::Ended { .. } => LAST_WIDTH,
                TraceKind::Prompt { .. }
                | TraceKind::Started { .. }
                | TraceKind::Text { .. }
                | TraceKind::ToolCall { .. }
                | TraceKind::ToolResult { .. }
                | TraceKind::Waiting { .. }
                | TraceKind::Used { .. } => WIDTH,
            };
            let rest = shorten::middle(&clean(&rest).split_whitespace().collect::<Vec<_>>().join(" "), width);
            format!("{seconds:6}.{tenths}s  {word:<8} {}", rest.replace('\n', " "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{chosen, json_lines, readable, wanted};
    use crate::store::{RunState, StoredRun};
    use domain::{
        ids::{Millis, TaskId, TurnNumber},
        usage::Usage,
    };

    fn stored() -> StoredRun {
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
            prompt_chars: Some(5),
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
        let shown = readable(&stored(), EVENTS, 100).join("\n");
        assert_eq!(
            shown,
            "TASK-001 turn 2 · player · claude · big-one · ended\n     0.0s  prompt   5 characters\n     \
             1.2s  calls    read ab\n          (3 events left out)\n     2.0s  ends     well"
        );
        assert!(
            readable(&stored(), EVENTS, 1)
                .last()
                .unwrap()
                .contains("and 3 more events")
        );
        let printed = format!(
            "{{\"ms\":1,\"event\":\"printed\",\"text\":\"{}the end\"}}\n",
            "word ".repeat(60)
        );
        let shown = readable(&stored(), &printed, 100).join("\n");
        assert!(
            shown.contains("prints   word word") && shown.ends_with(&format!("{}the end", "word ".repeat(60))),
            "{shown}"
        );
        let lines = json_lines(&stored(), EVENTS);
        assert_eq!(lines.len(), 5);
        let line: serde_json::Value = serde_json::from_str(&lines[2]).unwrap();
        assert_eq!(
            (&line["task"], &line["turn"], &line["tool"]),
            (&"TASK-001".into(), &2.into(), &"read".into())
        );
    }

    #[test]
    fn the_task_is_looked_for_and_what_there_is_is_named() {
        let one = ("7/42/1".parse().unwrap(), Some(TaskId::Planned(1)));
        let two = ("8/42/1".parse().unwrap(), Some(TaskId::Planned(1)));
        let task = wanted("task-001").unwrap();
        assert_eq!(chosen(&[one], task, None).unwrap(), one.0);
        assert_eq!(chosen(&[one, two], task, Some("8/42/1")).unwrap(), two.0);
        let said = |known: &[_], task, feature| chosen(known, task, feature).unwrap_err().to_string();
        assert!(said(&[one, two], task, Some("FEAT-42")).contains("FEAT-42 (7/42/1), FEAT-42 (8/42/1)"));
        assert!(
            said(&[one], wanted("PLAN").unwrap(), None)
                .contains("no run of PLAN is remembered; there are TASK-001 of FEAT-42")
        );
        assert!(said(&[], task, None).contains("no run of an agent"));
        assert!(format!("{:#}", wanted("T1").unwrap_err()).contains("TASK-001 to TASK-999"));
    }
}
