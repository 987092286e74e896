//! Runs the Gates on a turn's commit.

use crate::{
    agents::Activity,
    engine::{
        job::{Done, EffectError, of_host},
        perform::{claims, context::EffectContext, merge, sync, sync::fork_of, turn},
        running::{OnBoard, Work, Worker},
        spans,
    },
    gates,
    gates::{Deadlines, GateContext, GateError, Subject},
};
use domain::{
    blocked::RepositoryFault,
    ids::{Emission, Sha, TaskId, TurnNumber},
    task,
    task::Task,
};
use git::Mirror;
use std::time::Duration;

pub(super) async fn gates(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let (turn, head) = turn::open(task)?;
    if let Some(merged) = merge::find_unheard(context, task, task.pull).await? {
        return Ok(merged);
    }
    let mirror = context.holding(head).await?;
    if let Some(event) = sync::onto_measured(context, &mirror, task, emission, head).await? {
        return Ok(context.task_event(task.id, event));
    }
    let settings = context.settings();
    let baseline = context.baseline(&mirror).await?;
    let before = context.before(&mirror, head, &baseline).await?;
    let fork = fork_of(context, &mirror, task, head).await?;
    let subject = Subject {
        mirror: &mirror,
        fork: &fork,
        head,
        task: &task.plan,
        smoke: context.feature.plan.as_ref().and_then(|version| version.plan.smoke.as_deref()),
        origin: &task.origin,
        mode: settings.mode,
        baseline: &baseline,
        before: &before,
        settings: &settings,
        waived: &context.waived(),
        people: &turn::pushes(context, &mirror, &fork, head).await?,
    };
    let from = context.engine.now();
    let shown = context.on_board(Worker::Gates, Some((task.id, turn.number)));
    let report = gates::verify(&context.gate_context(), &subject, &context.job.cancel).await?;
    drop(shown);
    let now = context.engine.now();
    let span = spans::gates(&context.feature.key, task.id, turn.number, from, now, &report);
    context.engine.settings.telemetry.send(span);
    let discrepancies = claims::contradicted(context, &mirror, task, turn, head, &report).await?;
    let event = task::Event::Gated { emission, head: head.clone(), report: Box::new(report), discrepancies };
    Ok(context.task_event(task.id, event))
}

impl From<GateError> for EffectError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Cancelled => Self::Stopped,
            GateError::Git(error) => error.into(),
            GateError::Host { doing, source } => of_host(doing, &source).into(),
        }
    }
}

impl EffectContext<'_> {
    /// Shows on the dashboard that Gates run, until the returned value is dropped.
    pub(super) fn on_board(&self, worker: Worker, turn: Option<(TaskId, TurnNumber)>) -> OnBoard<'_> {
        let work = Work {
            feature: self.feature.key,
            worker,
            task: turn.map(|(task, _)| task),
            turn: turn.map_or(TurnNumber(1), |(_, turn)| turn),
            since: self.engine.now(),
            activity: Activity::default(),
        };
        self.engine.running.show(work, None)
    }

    /// Returns the context in which Gates run: sandbox, network, folders.
    pub(super) fn gate_context(&self) -> GateContext {
        let (settings, data) = (self.settings(), &self.engine.settings.data_dir);
        GateContext {
            sandbox: self.engine.sandbox.clone(),
            network: self.ceiling(),
            default_branch: self.measured().cloned(),
            refusals: self.refusals.clone(),
            folder: data.join("gates"),
            caches: data.join("caches"),
            secrets: self.engine.secrets.clone(),
            deadlines: Deadlines {
                setup: Duration::from_secs(settings.setup_timeout),
                test: Duration::from_secs(settings.test_timeout),
            },
            checkout_locks: self.engine.checkout_locks.clone(),
        }
    }

    /// Returns the mirror with this commit.
    pub(super) async fn holding(&self, head: &Sha) -> Result<Mirror, EffectError> {
        let no_commit = || EffectError::repository(RepositoryFault::NoCommit { commit: head.clone() });
        self.mirror_with(head).await?.ok_or_else(no_commit)
    }

    /// Returns the mirror if it has this commit. If it is missing there, it is fetched, or taken from the database: GitHub's
    /// copies may not have yet what another machine pushed a moment ago.
    pub(super) async fn mirror_with(&self, head: &Sha) -> Result<Option<Mirror>, EffectError> {
        let mirror = self.engine.mirrors.mirror(self.feature.key.repo);
        if mirror.has_commit(head).await? {
            return Ok(Some(mirror));
        }
        let mirror = self.fetch_own().await?;
        Ok(self.has_or_unpacks(&mirror, head).await?.then_some(mirror))
    }
}
