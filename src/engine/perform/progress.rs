//! The progress of a running agent: regularly stores its actions and shows them in the living comment.

use crate::{
    agents::{Activity, RunSpec},
    engine::{
        perform::{context::EffectContext, ledger::OpenedRun},
        schedule,
    },
    store::NewEffect,
};
use domain::{
    at_work::{AgentState, Pace, RunActivity},
    ids::Millis,
};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The least time between two stored updates of the tool calls.
const CALLS_EVERY: Duration = Duration::from_millis(700);

pub(super) struct Progress<'a> {
    context: &'a EffectContext<'a>,
    run: &'a str,
    watched: watch::Receiver<Activity>,
    pace: Pace,
    /// How often progress was stored.
    stored: u32,
}

impl<'a> Progress<'a> {
    /// Creates the progress of a run and connects it to `spec`, which then reports its agent's actions.
    pub(super) fn of(context: &'a EffectContext<'a>, opened: &'a OpenedRun, spec: &mut RunSpec) -> Self {
        let (sender, watched) = watch::channel(Activity::default());
        spec.activity = Some(sender);
        let settings = &context.engine.settings;
        let every = i64::try_from(settings.progress.as_millis()).unwrap_or(i64::MAX);
        let spaced = settings.write_spacing_ms.saturating_mul(schedule::PROGRESS_SPACINGS);
        Self {
            context,
            run: &opened.id,
            watched,
            pace: Pace::new(every, spaced.max(every), context.engine.now()),
            stored: 0,
        }
    }

    pub(super) fn watched(&self) -> watch::Receiver<Activity> {
        self.watched.clone()
    }

    /// Runs `work` and stores its progress meanwhile. A store write in progress is finished when the work ends.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let over = CancellationToken::new();
        let working = async {
            let ended = work.await;
            over.cancel();
            ended
        };
        let calls = record_calls(self.context, self.run, self.watched.clone(), &over);
        tokio::join!(working, self.write_changes(&over), calls).0
    }

    /// Returns the effect that shows that the run is over, if people were shown that it runs.
    pub(super) fn over(&self) -> Option<NewEffect> {
        (self.stored > 0).then(|| self.show("over", self.context.engine.now()))
    }

    async fn write_changes(&mut self, over: &CancellationToken) {
        loop {
            tokio::select! {
                () = over.cancelled() => return,
                changed = self.watched.changed() => if changed.is_err() { return },
            }
            let wait = u64::try_from(self.pace.wait(self.context.engine.now())).unwrap_or(0);
            tokio::select! {
                () = over.cancelled() => return,
                () = tokio::time::sleep(Duration::from_millis(wait)) => {}
            }
            self.write().await;
        }
    }

    async fn write(&mut self) {
        let seen = run_activity(&self.watched.borrow_and_update());
        let now = self.context.engine.now();
        let Some(from) = self.pace.record(seen, now) else {
            return;
        };
        self.stored = self.stored.saturating_add(1);
        let show = self.show(&self.stored.to_string(), from);
        let store = &self.context.engine.store;
        let written = store.saw_run(&self.context.job.hold, self.run, seen, now, &show).await;
        if let Err(error) = written {
            tracing::warn!(%error, run = %self.run, "what {} does could not be written down", self.run);
        }
    }

    fn show(&self, which: &str, from: Millis) -> NewEffect {
        let id = format!("{}/shown/{which}", self.run);
        schedule::shown_again(self.context.job, self.context.feature.key, id, from)
    }
}

/// Stores the tool calls of one run, for people who watch it now.
async fn record_calls(
    context: &EffectContext<'_>,
    run: &str,
    mut watched: watch::Receiver<Activity>,
    over: &CancellationToken,
) {
    loop {
        tokio::select! {
            () = over.cancelled() => return,
            changed = watched.changed() => if changed.is_err() { return },
        }
        let recent = watched.borrow_and_update().recent.clone();
        if !recent.is_empty() {
            let calls: Vec<&str> = recent.iter().map(String::as_str).collect();
            let written = context.engine.store.saw_calls(&context.job.hold, run, &calls).await;
            if let Err(error) = written {
                tracing::debug!(%error, %run, "the tool calls of {run} could not be written down");
            }
        }
        tokio::select! {
            () = over.cancelled() => return,
            () = tokio::time::sleep(CALLS_EVERY) => {}
        }
    }
}

fn run_activity(activity: &Activity) -> RunActivity {
    RunActivity {
        tool_calls: activity.tool_calls,
        doing: match activity.waiting {
            None => AgentState::Working,
            Some(_) => AgentState::WaitingForApi,
        },
    }
}
