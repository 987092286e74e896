//! Performs effects as calls to the outside. Each effect looks before it creates anything, so it can be repeated. Each
//! ends with the fact that its Feature waits for, or with nothing.

mod ask;
mod baseline;
mod branches;
mod checks;
mod ci;
mod claims;
mod coach;
pub(super) mod context;
mod design;
mod gates;
pub(super) mod give_up;
mod ground;
mod held_ci;
mod inspect;
mod ledger;
mod left_out;
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
mod refused;
mod review;
mod run_result;
mod say;
mod sign;
mod sync;
mod turn;
mod waits;
mod wave_gate;

use crate::engine::{
    Engine, ingest,
    job::{Done, EffectError, Job},
    perform::context::EffectContext,
};
use domain::{
    blocked::Defect,
    effect::{Effect, TaskWork},
    ids::{Emission, TaskId},
};
use sandbox::egress::Refusals;
use std::pin::Pin;

/// Moves a future to the heap. Otherwise a match over many kinds of work would reserve stack for the futures of all arms at once, half a
/// megabyte in a debug build.
pub(super) fn on_heap<'a, F: Future + Send + 'a>(
    start: impl FnOnce() -> F,
) -> Pin<Box<dyn Future<Output = F::Output> + Send + 'a>> {
    Box::pin(start())
}

pub(super) async fn perform(engine: &Engine, job: &Job) -> Result<Done, EffectError> {
    if job.effect.kind == ingest::KIND {
        return on_heap(|| ingest::ingest(engine, job)).await;
    }
    let effect = job.parse_effect()?;
    let Some(key) = job.effect.feature else {
        return on_heap(|| say::alone(engine, job, effect)).await;
    };
    let Some(feature) = engine.feature(&key).await? else {
        return Err(EffectError::defect(Defect::NoFeature { key }));
    };
    let is_restored = engine.was_restored_since(feature.snapshot.requested_at).await?;
    let is_fresh = job.is_fresh() && !is_restored;
    let context = EffectContext { engine, job, feature, is_fresh, is_restored, refusals: Refusals::default() };
    let performing = on_heap(|| perform_for_feature(&context, effect));
    refused::shown_during(&context, performing).await
}

async fn perform_for_feature(context: &EffectContext<'_>, effect: Effect) -> Result<Done, EffectError> {
    match effect {
        Effect::React { on, reaction } => on_heap(|| say::react(context, on, reaction)).await,
        Effect::Reply { thread, reply, .. } => on_heap(|| say::reply(context, thread, &reply)).await,
        Effect::Living { emission } => on_heap(|| say::living(context, emission)).await,
        Effect::PostFeatureBlocked { .. } => on_heap(|| say::feature_blocked(context)).await,
        Effect::AskPerson { wait, .. } => on_heap(|| waits::ask_person(context, &wait)).await,
        Effect::Plan { emission } => on_heap(|| plan::plan(context, emission)).await,
        Effect::PreFlight { emission, commit } => {
            on_heap(|| preflight::pre_flight(context, emission, commit.as_ref())).await
        }
        Effect::CompareDefault { .. } => on_heap(|| sync::compare_default(context)).await,
        Effect::OpenIntegration { emission } => on_heap(|| branches::open_integration(context, emission)).await,
        Effect::MergeDefault { emission } => on_heap(|| branches::merge_default(context, emission)).await,
        Effect::CleanUp { .. } => on_heap(|| branches::clean_up(context)).await,
        Effect::WaveGate { emission } => on_heap(|| wave_gate::wave_gate(context, emission)).await,
        Effect::ReadCi { emission, since } => on_heap(|| ci::of_feature(context, emission, since)).await,
        Effect::OpenFeaturePull { emission } => on_heap(|| pulls::open_feature_pull(context, emission)).await,
        Effect::CloseFeaturePull { pull, .. } => on_heap(|| pulls::close_feature_pull(context, pull)).await,
        Effect::PublishWaveCheck { on, .. } => on_heap(|| checks::publish_wave_check(context, on.as_ref())).await,
        Effect::Task { task, emission, work } => on_heap(|| perform_for_task(context, task, emission, work)).await,
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
        TaskWork::Design => on_heap(|| design::design(context, task, emission)).await,
        TaskWork::Play => on_heap(|| play::play(context, task, emission)).await,
        TaskWork::OpenPull => on_heap(|| pulls::open_pull(context, task, emission)).await,
        TaskWork::Gates => on_heap(|| gates::gates(context, task, emission)).await,
        TaskWork::Ci => on_heap(|| ci::ci(context, task, emission)).await,
        TaskWork::Coach => on_heap(|| coach::coach(context, task, emission)).await,
        TaskWork::PostReview { turn } => on_heap(|| review::post_review(context, task, turn)).await,
        TaskWork::PostBlockedReview { turn } => on_heap(|| review::post_blocked_review(context, task, turn)).await,
        TaskWork::PublishCheck { turn } => on_heap(|| checks::publish_check(context, task, turn)).await,
        TaskWork::PublishBlocked { head } => on_heap(|| checks::publish_blocked(context, task, &head)).await,
        TaskWork::PostBlocked => on_heap(|| review::post_blocked(context, task)).await,
        TaskWork::MarkReady => on_heap(|| pulls::mark_ready(context, task)).await,
        TaskWork::Merge => on_heap(|| merge::merge(context, task, emission)).await,
        TaskWork::DismissReview { by, why } => on_heap(|| review::dismiss_review(context, task, &by, why)).await,
        TaskWork::ClosePull { pull, why } => on_heap(|| pulls::close_pull(context, task, pull, &why)).await,
    }
}
