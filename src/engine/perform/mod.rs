//! Effects become calls to the outside. Each looks before it makes, so that it may be done again; each ends with the fact
//! that its Feature waits for, or with nothing.

mod ask;
mod baseline;
mod branches;
mod checks;
mod ci;
mod claims;
mod coach;
mod design;
mod finished;
mod gates;
pub(super) mod give_up;
mod ground;
mod inspect;
mod ledger;
mod merge;
mod plan;
mod play;
mod post;
mod preflight;
mod progress;
mod provider;
mod pulls;
mod push;
mod records;
mod review;
mod say;
mod sign;
mod sync;
mod turn;
mod waits;
mod wave_gate;

use crate::{
    engine::{
        Engine,
        apply::Fact,
        ingest,
        job::{Done, EffectError, Job, LimitedBy},
    },
    github::{GithubError, Repo},
    messages::Links,
};
use domain::{
    blocked::Defect,
    effect::{Effect, TaskWork},
    feature::{Feature, event::Event},
    ids::{Emission, FeatureKey, TaskId},
    task,
    task::Task,
};
use std::time::Duration;

/// The longest that the second write of an effect waits in its worker; a longer wait is the database's.
const FOLLOW_UP_MS: i64 = 5_000;

/// What every effect of a Feature needs to be performed.
struct EffectContext<'a> {
    engine: &'a Engine,
    job: &'a Job,
    feature: Feature,
}

/// Performs one effect.
pub(super) async fn perform(engine: &Engine, job: &Job) -> Result<Done, EffectError> {
    if job.effect.kind == ingest::KIND {
        return ingest::ingest(engine, job).await;
    }
    let effect = read(job)?;
    let Some(key) = job.effect.feature else {
        return say::alone(engine, job, effect).await;
    };
    let Some(feature) = engine.feature(&key).await? else {
        return Err(EffectError::defect(Defect::NoFeature { key }));
    };
    let context = EffectContext { engine, job, feature };
    match effect {
        Effect::React { on, reaction } => say::react(&context, on, reaction).await,
        Effect::Reply { thread, reply, .. } => say::reply(&context, thread, &reply).await,
        Effect::Living { emission } => say::living(&context, emission).await,
        Effect::PostFeatureBlocked { .. } => say::feature_blocked(&context).await,
        Effect::AskPerson { wait, .. } => waits::ask_person(&context, &wait).await,
        Effect::Plan { emission } => plan::plan(&context, emission).await,
        Effect::PreFlight { emission, commit } => preflight::pre_flight(&context, emission, commit.as_ref()).await,
        Effect::CompareDefault { .. } => sync::compare_default(&context).await,
        Effect::OpenIntegration { emission } => branches::open_integration(&context, emission).await,
        Effect::MergeDefault { emission } => branches::merge_default(&context, emission).await,
        Effect::CleanUp { .. } => branches::clean_up(&context).await,
        Effect::WaveGate { emission } => wave_gate::wave_gate(&context, emission).await,
        Effect::OpenFeaturePull { emission } => pulls::open_feature_pull(&context, emission).await,
        Effect::CloseFeaturePull { pull, .. } => pulls::close_feature_pull(&context, pull).await,
        Effect::PublishWaveCheck { .. } => checks::publish_wave_check(&context).await,
        Effect::Task { task, emission, work } => perform_for_task(&context, task, emission, work).await,
    }
}

async fn perform_for_task(
    context: &EffectContext<'_>,
    id: TaskId,
    emission: Emission,
    work: TaskWork,
) -> Result<Done, EffectError> {
    let task = context.task(id)?;
    match work {
        TaskWork::Design => design::design(context, task, emission).await,
        TaskWork::Play => play::play(context, task, emission).await,
        TaskWork::OpenPull => pulls::open_pull(context, task, emission).await,
        TaskWork::Gates => gates::gates(context, task, emission).await,
        TaskWork::Ci => ci::ci(context, task, emission).await,
        TaskWork::Coach => coach::coach(context, task, emission).await,
        TaskWork::PostReview { turn } => review::post_review(context, task, turn).await,
        TaskWork::PostBlockedReview { turn } => review::post_blocked_review(context, task, turn).await,
        TaskWork::PublishCheck { turn } => checks::publish_check(context, task, turn).await,
        TaskWork::PublishBlocked { head } => checks::publish_blocked(context, task, &head).await,
        TaskWork::PostBlocked => review::post_blocked(context, task).await,
        TaskWork::MarkReady => pulls::mark_ready(context, task).await,
        TaskWork::Merge => merge::merge(context, task, emission).await,
        TaskWork::DismissReview { by, why } => review::dismiss_review(context, task, &by, why).await,
        TaskWork::ClosePull { pull, why } => pulls::close_pull(context, task, pull, &why).await,
    }
}

/// The effect that the job holds.
fn read(job: &Job) -> Result<Effect, EffectError> {
    serde_json::from_str(&job.effect.payload)
        .map_err(|error| EffectError::unreadable(format!("the effect {}: {error}", job.effect.id)))
}

impl EffectContext<'_> {
    fn key(&self) -> FeatureKey {
        self.feature.key
    }

    fn repo(&self) -> Repo<'_> {
        self.engine
            .autobuild
            .repo(self.feature.installation, self.feature.key.repo)
    }

    /// The Coach App's way to the repository, where it is set up and installed there too.
    async fn coach_repo(&self) -> Result<Option<Repo<'_>>, GithubError> {
        let Some(coach) = &self.engine.coach else {
            return Ok(None);
        };
        let id = self.key().repo;
        let installation = match self.engine.coach_installations.known(id) {
            Some(known) => Some(known),
            None => coach.installation_of(&self.repo().name().await?).await?,
        };
        Ok(installation.map(|installation| {
            self.engine.coach_installations.remember(id, installation);
            coach.repo(installation, id)
        }))
    }

    fn task(&self, id: TaskId) -> Result<&Task, EffectError> {
        self.feature
            .task(id)
            .ok_or_else(|| EffectError::defect(Defect::NoTask { task: id }))
    }

    /// Asked before each write to GitHub: the lease, and the least time between writes.
    fn may_write(&self) -> Result<(), EffectError> {
        self.job.may_write(self.engine)
    }

    /// Waits for the next write of an effect that has written already: putting it off would do the first one again.
    async fn may_write_again(&self) -> Result<(), EffectError> {
        loop {
            let (until, why) = match self.may_write() {
                Err(EffectError::Limited { until, why, .. }) => (until, why),
                done => return done,
            };
            let wait = until.0.saturating_sub(self.engine.now().0);
            if wait > FOLLOW_UP_MS {
                let by = LimitedBy::Spacing;
                return Err(EffectError::Limited { by, until, why });
            }
            tokio::time::sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
        }
    }

    /// What makes a text ours and this effect's.
    fn marker(&self) -> String {
        self.job.marker()
    }

    async fn links(&self) -> Result<Links, EffectError> {
        let name = self.repo().name().await?;
        Ok(Links::new(self.engine.autobuild.urls().web(), &name))
    }

    fn event(&self, event: Event) -> Done {
        let fact = Fact {
            event,
            cause: self.job.effect.id.clone(),
            actor: "autobuild".to_owned(),
            at: self.engine.now(),
        };
        Done::Fact(self.key(), Box::new(fact))
    }

    fn task_event(&self, task: TaskId, event: task::Event) -> Done {
        self.event(Event::Task { task, event })
    }
}

impl Job {
    /// Asked before each write to GitHub.
    fn may_write(&self, engine: &Engine) -> Result<(), EffectError> {
        self.may_speak()?;
        engine
            .spacing
            .try_reserve(self.installation(), engine.now())
            .map_err(|until| EffectError::Limited {
                by: LimitedBy::Spacing,
                until,
                why: "writes to GitHub are spaced".to_owned(),
            })
    }

    /// The hidden mark by which a text of this effect is found again.
    fn marker(&self) -> String {
        format!("<!-- autobuild:{} -->", self.effect.id)
    }
}
