//! Stores the hosts that an effect's programs could not reach, while they run, and shows them in the living comment.

use crate::engine::{perform::context::EffectContext, schedule};
use domain::refused_host::RefusedHost;
use tokio_util::sync::CancellationToken;

/// Performs the effect. A store write in progress is finished when the work ends.
pub(super) async fn shown_during<T>(context: &EffectContext<'_>, work: impl Future<Output = T>) -> T {
    let over = CancellationToken::new();
    let working = async {
        let ended = work.await;
        over.cancel();
        ended
    };
    tokio::join!(working, show(context, &over)).0
}

async fn show(context: &EffectContext<'_>, over: &CancellationToken) {
    let mut watched = context.refusals.watched();
    let mut times = 0_u32;
    loop {
        tokio::select! {
            () = over.cancelled() => break,
            changed = watched.changed() => if changed.is_err() { break },
        }
        let hosts = watched.borrow_and_update().clone();
        write(context, &hosts, times).await;
        times = times.saturating_add(1);
        tokio::select! {
            () = over.cancelled() => break,
            () = tokio::time::sleep(context.engine.settings.progress) => {}
        }
    }
    if times > 0 {
        write(context, &[], times).await;
    }
}

async fn write(context: &EffectContext<'_>, hosts: &[RefusedHost], times: u32) {
    let (job, now) = (context.job, context.engine.now());
    let id = format!("{}/refused/{}/{times}", job.effect.id, job.hold.fence);
    let show = schedule::shown_again(job, context.feature.key, id, now);
    if let Err(error) = context.engine.store.saw_refused(&job.hold, hosts, &show).await {
        tracing::warn!(%error, effect = job.effect.id, "the hosts that {} does not reach could not be stored", job.effect.id);
    }
}
