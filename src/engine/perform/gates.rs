//! Running the Gates: on a turn's commit, and on the integration branch after a wave.

use crate::domain::feature::event::Event;
use crate::domain::ids::Sha;
use crate::domain::plan::TaskType;
use crate::domain::task;
use crate::domain::task::Task;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::baseline::baseline;
use crate::engine::perform::claims;
use crate::engine::perform::coach::fork_point;
use crate::engine::perform::persons;
use crate::engine::perform::turn;
use crate::engine::repository::tip;
use crate::gates;
use crate::gates::Bench;
use crate::gates::Deadlines;
use crate::gates::GateError;
use crate::gates::Subject;
use crate::gates::WaveSubject;
use crate::git::Mirror;

pub(super) async fn gates(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    let (turn, head) = turn::open(task)?;
    let mirror = scene.holding(head).await?;
    let settings = scene.settings();
    let base = base(scene)?;
    let baseline = baseline(scene, &mirror, &base).await?;
    let fork = fork_point(scene, &mirror, head).await?;
    let subject = Subject {
        mirror: &mirror,
        fork: &fork,
        head,
        task: &task.plan,
        origin: &task.origin,
        mode: settings.mode,
        baseline: &baseline,
        settings: &settings,
        waived: &scene.feature.waived_tests(),
        people: &persons::pushes(scene, &mirror, &fork, head).await?,
    };
    let report = gates::verify(&scene.bench(), &subject, &scene.job.cancel).await?;
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
    let settings = scene.settings();
    let baseline = baseline(scene, &mirror, &base(scene)?).await?;
    let subject = WaveSubject {
        mirror: &mirror,
        head: &head,
        smoke: feature.plan.as_ref().and_then(|version| version.plan.smoke.as_deref()),
        kind: TaskType::Scaffolding,
        baseline: &baseline,
        settings: &settings,
        waived: &feature.waived_tests(),
    };
    let report = gates::verify_wave(&scene.bench(), &subject, &scene.job.cancel).await?;
    Ok(scene.event(Event::WaveGated {
        run,
        head,
        report: Box::new(report),
    }))
}

/// The default branch's commit that the Feature is built on.
fn base(scene: &Scene<'_>) -> Result<Sha, Undone> {
    let integration = scene.feature.integration.as_ref();
    integration
        .map(|integration| integration.base.clone())
        .ok_or_else(|| Undone::Refused {
            why: "there is no integration branch".to_owned(),
        })
}

impl From<GateError> for Undone {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Cancelled => Self::Stopped,
            GateError::Git(error) => error.into(),
            GateError::Host { doing, source } => Self::Later {
                why: format!("running the Gates: {doing}: {source}"),
                not_before: None,
            },
        }
    }
}

impl Scene<'_> {
    /// Where Gates run.
    pub(super) fn bench(&self) -> Bench {
        let data = &self.engine.settings.data_dir;
        Bench {
            sandbox: self.engine.sandbox.clone(),
            folder: data.join("gates"),
            caches: data.join("caches"),
            secrets: self.engine.secrets.clone(),
            deadlines: Deadlines::default(),
        }
    }

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
