//! `autobuild effects`: lists the steps that wait or failed for good, and tries one again. It works while the service
//! runs.

use crate::{
    cli::{
        assemble::clock,
        database::{ChosenDatabase, DatabaseArgs, DatabaseOwner},
        local::session::{NOT_DONE, refused, written},
        stage::terminal::{Terminal, Tone},
    },
    engine::queue::{Queue, QueuedStep, RetryOutcome, WaitReason, can_be_tried_again, try_again},
    messages,
    messages::clean,
    store::{EffectState, HeldBy, StoredEffect},
};
use clap::{Args, Subcommand};
use domain::ids::{FeatureKey, TaskId};
use serde_json::{Value, json};
use std::process::ExitCode;
use text::nearest::nearest;

/// The arguments of `effects`.
#[derive(Debug, Args)]
#[command(
    after_help = "In a repository where `autobuild run` worked it reads that database, else the one that `autobuild serve` \
would use. The service may be running.\n\nExamples:\n  autobuild effects\n  autobuild effects --json | jq -r '.failed[] | \
select(.can_retry) | .id'\n  autobuild effects retry ID\n\nExit codes:\n  0  done\n  1  the step cannot be tried again, \
and it says why\n  2  there is no database, or it cannot be read"
)]
pub(super) struct Effects {
    #[command(subcommand)]
    order: Option<EffectsCommand>,
    /// Prints JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    which: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
enum EffectsCommand {
    /// Tries a failed step again.
    #[command(after_help = "Examples:\n  autobuild effects retry ID\n  autobuild effects retry ID --json")]
    Retry {
        /// Its id, as `autobuild effects` lists it.
        #[arg(value_name = "ID")]
        id: String,
    },
}

pub(super) async fn effects(effects: Effects) -> ExitCode {
    let chosen = match effects.which.choose().await {
        Ok(chosen) => chosen,
        Err(mistakes) => return refused("effects", effects.json, NOT_DONE, &mistakes),
    };
    let done = match &effects.order {
        None => list(&effects, &chosen).await,
        Some(EffectsCommand::Retry { id }) => retry(&effects, &chosen, id).await,
    };
    let code = done.unwrap_or_else(|error| {
        let said = chosen.secrets.mask(&format!("{error:#}"));
        refused("effects", effects.json, NOT_DONE, &said)
    });
    written("effects").unwrap_or(code)
}

async fn list(effects: &Effects, chosen: &ChosenDatabase) -> anyhow::Result<ExitCode> {
    let store = chosen.open_to_read().await?;
    let queue = Queue::of(&store, clock()).await?;
    store.close().await;
    let terminal = Terminal::open(effects.json);
    if effects.json {
        terminal.exact(&chosen.secrets.mask(&to_json(&queue).to_string()))
    } else {
        QueueView { chosen, terminal }.queue(&queue)
    }
    Ok(ExitCode::SUCCESS)
}

async fn retry(effects: &Effects, chosen: &ChosenDatabase, id: &str) -> anyhow::Result<ExitCode> {
    let store = chosen.open_beside().await?;
    let tried = try_again(&store, id, clock()).await?;
    let known = store.effect(id).await?;
    let failed = match known {
        Some(_) => Vec::new(),
        None => Queue::of(&store, clock()).await?.failed,
    };
    store.close().await;
    let refusal = match (tried, known) {
        (RetryOutcome::Yes, _) => {
            accepted(effects, chosen.whose, id);
            return Ok(ExitCode::SUCCESS);
        }
        (_, None) => unknown(id, &failed),
        (RetryOutcome::NotFailed, Some(step)) => format!("`{id}` did not fail: {}", state(step.state)),
        (RetryOutcome::FeatureKnows, Some(step)) => {
            let name = feature_name(&step);
            format!("`{id}` would change nothing: {name} already stopped at it; resume {name} instead")
        }
    };
    Ok(refused("effects", effects.json, 1, &refusal))
}

fn accepted(effects: &Effects, whose: DatabaseOwner, id: &str) {
    let terminal = Terminal::open(effects.json);
    if effects.json {
        return terminal.exact(&json!({ "ok": true, "id": id }).to_string());
    }
    let when = match whose {
        DatabaseOwner::Service => "a running service takes it within seconds",
        DatabaseOwner::Own => "the next `autobuild` command that works here takes it",
    };
    terminal.line("", "", &format!("{id} is due again: {when}."), Tone::Good);
}

fn unknown(id: &str, failed: &[StoredEffect]) -> String {
    let meant = nearest(id, failed.iter().map(|step| step.id.as_str()));
    match (meant, failed.is_empty()) {
        (Some(meant), _) => format!("no failed step has the id `{id}`; did you mean `{meant}`?"),
        (None, true) => format!("no failed step has the id `{id}`: no step has failed"),
        (None, false) => format!("no failed step has the id `{id}`: `autobuild effects` lists them"),
    }
}

fn state(state: EffectState) -> &'static str {
    match state {
        EffectState::Ready => "it waits, and runs by itself",
        EffectState::Running => "it runs now",
        EffectState::Done => "it is done",
        EffectState::Failed => "it failed just now; try again",
        EffectState::Cancelled => "it was cancelled",
    }
}

/// Returns the reason why a step waits, in words.
pub(super) fn reason(step: &QueuedStep) -> String {
    match &step.why {
        WaitReason::Runs => "It runs now.".to_owned(),
        WaitReason::Model(name) => format!("The model's API of {name} does not serve it now."),
        WaitReason::GitHub => "GitHub cannot be reached, or limits AutoBuild.".to_owned(),
        WaitReason::TryAgain => {
            format!("The last try failed: {}", step.effect.last_error.as_deref().unwrap_or("it did not say why"))
        }
        WaitReason::Time => "Its time has not come.".to_owned(),
        WaitReason::Held(HeldBy::Feature) => "Its Feature waits for a person.".to_owned(),
        WaitReason::Held(HeldBy::Agent) => "Another agent works on the same task.".to_owned(),
        WaitReason::Held(HeldBy::Earlier) => "An earlier step comes first.".to_owned(),
        WaitReason::Held(HeldBy::Limit) => "Its Feature already runs as many agents as it may.".to_owned(),
        WaitReason::Next => "The next free worker takes it.".to_owned(),
    }
}

/// Returns the time at which a step continues, if it is known.
pub(super) fn until(step: &QueuedStep) -> Option<String> {
    let at = chrono::DateTime::from_timestamp_millis(step.effect.run_at.0)?;
    step.why.has_end().then(|| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
}

fn task(subject: &str) -> Option<TaskId> {
    subject.rsplit('/').next()?.parse().ok()
}

/// Returns the Feature and the task of a step.
fn about(feature: Option<FeatureKey>, subject: &str) -> String {
    let task = task(subject).map(|task| task.to_string());
    let names: Vec<String> = feature.map(|key| key.name()).into_iter().chain(task).collect();
    if names.is_empty() { subject.to_owned() } else { names.join(" ") }
}

fn feature_name(step: &StoredEffect) -> String {
    step.feature.map_or_else(|| "its Feature".to_owned(), |key| key.name())
}

fn cause(step: &StoredEffect) -> &str {
    step.last_error.as_deref().unwrap_or("it did not say why")
}

/// Returns the queue as JSON for programs.
fn to_json(queue: &Queue) -> Value {
    let failed = |step: &StoredEffect| {
        json!({
            "id": step.id,
            "step": step.kind,
            "feature": step.feature.map(|key| key.name()),
            "task": task(&step.subject).map(|task| task.to_string()),
            "tries": step.attempt.saturating_add(1),
            "cause": cause(step),
            "can_retry": can_be_tried_again(step),
        })
    };
    let waiting = |step: &QueuedStep| {
        let effect = &step.effect;
        json!({
            "id": effect.id,
            "step": effect.kind,
            "feature": effect.feature.map(|key| key.name()),
            "task": task(&effect.subject).map(|task| task.to_string()),
            "running": effect.state == EffectState::Running,
            "failed_tries": effect.attempt,
            "why": reason(step),
            "until": until(step),
        })
    };
    json!({
        "failed": queue.failed.iter().map(failed).collect::<Vec<_>>(),
        "waiting": queue.steps.iter().map(waiting).collect::<Vec<_>>(),
    })
}

/// Prints the queue for people: a heading, and a few lines for each step.
struct QueueView<'a> {
    chosen: &'a ChosenDatabase,
    terminal: Terminal,
}

impl QueueView<'_> {
    fn queue(&self, queue: &Queue) {
        if queue.failed.is_empty() && queue.steps.is_empty() {
            return self.line("", "No step failed, and none waits.", Tone::Plain);
        }
        if !queue.failed.is_empty() {
            self.line("", &format!("Failed: {}", queue.failed.len()), Tone::Bad);
        }
        for step in &queue.failed {
            self.step(&step.kind, &about(step.feature, &step.subject));
            self.line("    ", cause(step), Tone::Plain);
            if can_be_tried_again(step) {
                let id = clean(&shell_words::quote(&step.id));
                self.terminal.exact(&format!("    autobuild effects retry {id}"));
            } else {
                let name = feature_name(step);
                let advice = format!("Trying it again would change nothing: resume {name} once the cause is gone.");
                self.line("    ", &advice, Tone::Quiet);
            }
        }
        if !queue.steps.is_empty() {
            self.line("", &format!("Waiting or running: {}", queue.steps.len()), Tone::Loud);
        }
        for step in &queue.steps {
            self.step(&step.effect.kind, &about(step.effect.feature, &step.effect.subject));
            let until = until(step).map(|at| format!(" It goes on at {at}."));
            let why = format!("{}{}", reason(step), until.unwrap_or_default());
            self.line("    ", &why, Tone::Plain);
        }
    }

    fn step(&self, kind: &str, about: &str) {
        self.line("  ", &format!("{about}: {}", messages::step(kind)), Tone::Loud);
    }

    /// Prints a line that may hold text of others.
    fn line(&self, indent: &str, text: &str, tone: Tone) {
        let text = clean(&self.chosen.secrets.mask(text)).trim_end().replace('\n', "; ");
        self.terminal.line(indent, indent, &text, tone);
    }
}
