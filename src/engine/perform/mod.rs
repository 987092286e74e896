//! Performs effects as calls to the outside. Each effect looks before it creates anything, so it can be repeated. Each
//! ends with the fact that its Feature waits for, or with nothing.

mod ask;
mod baseline;
mod branches;
mod checks;
mod ci;
mod claims;
mod coach;
mod context;
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

use crate::engine::{
    Engine, ingest,
    job::{Done, EffectError, Job},
    perform::context::{EffectContext, read},
};
use domain::{
    blocked::Defect,
    effect::{Effect, TaskWork},
    ids::{Emission, TaskId},
};

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
        Effect::PublishWaveCheck { on, .. } => checks::publish_wave_check(&context, on.as_ref()).await,
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
