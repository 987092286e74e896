//! Running the Gates: on a turn's commit, and on the integration branch after a wave.

use crate::domain::evidence::GateReport;
use crate::domain::feature::event::Event;
use crate::domain::ids::Sha;
use crate::domain::task;
use crate::domain::task::Task;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::claims;
use crate::engine::perform::commands;
use crate::engine::perform::turn;
use crate::engine::repository::tip;
use crate::gates;
use crate::gates::GateError;
use crate::gates::GateSpec;
use crate::git::Mirror;
use std::time::Duration;

/// The longest that set-up may take.
const SETUP: Duration = Duration::from_secs(20 * 60);

/// The longest that the tests may take.
const TESTS: Duration = Duration::from_secs(30 * 60);

pub(super) async fn gates(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    let (turn, head) = turn::open(task)?;
    let mirror = scene.holding(head).await?;
    let report = run_on(scene, &mirror, head).await?;
    let discrepancies = claims::contradicted(scene, &mirror, task, (turn, head), &report).await?;
    let event = task::Event::Gated {
        run,
        head: head.clone(),
        report: Box::new(report),
        discrepancies,
    };
    Ok(scene.task_event(task.id, event))
}

pub(super) async fn wave_gate(scene: &Scene<'_>, run: u64) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let folder = format!("{}/*", feature.key.branch_prefix());
    let mirror = scene
        .engine
        .fetch(feature.installation, feature.key.repo, &[&folder])
        .await?;
    let head = tip(&mirror, &feature.key.integration_branch()).await?;
    let report = run_on(scene, &mirror, &head).await?;
    Ok(scene.event(Event::WaveGated {
        run,
        head,
        report: Box::new(report),
    }))
}

async fn run_on(scene: &Scene<'_>, mirror: &Mirror, head: &Sha) -> Result<GateReport, Undone> {
    let settings = scene.settings();
    let paths = commands::paths(mirror, head).await?;
    let chosen = commands::chosen(&settings, mirror, head, &paths).await?;
    let checkout = mirror.checkout(head).await?;
    let spec = GateSpec {
        checkout: checkout.path().to_path_buf(),
        setup: chosen.setup,
        test: chosen.test,
        setup_deadline: SETUP,
        test_deadline: TESTS,
        folder: scene.engine.settings.data_dir.join("gates"),
        secrets: scene.engine.secrets.clone(),
    };
    match gates::run(&spec, &scene.engine.sandbox, &scene.job.cancel).await {
        Ok(report) => Ok(report),
        Err(GateError::Cancelled) => Err(Undone::Stopped),
        Err(error @ GateError::Host { .. }) => Err(Undone::Later {
            why: error.to_string(),
            not_before: None,
        }),
    }
}

impl Scene<'_> {
    /// The mirror, holding this commit.
    pub(super) async fn holding(&self, head: &Sha) -> Result<Mirror, Undone> {
        let mirror = self.engine.mirrors.mirror(self.key().repo);
        if mirror.has_commit(head).await? {
            return Ok(mirror);
        }
        let folder = format!("{}/*", self.key().branch_prefix());
        let mirror = self
            .engine
            .fetch(self.feature.installation, self.key().repo, &[&folder])
            .await?;
        match mirror.has_commit(head).await? {
            true => Ok(mirror),
            false => Err(Undone::Refused {
                why: format!("the commit {} is gone from the repository", head.short()),
            }),
        }
    }
}
