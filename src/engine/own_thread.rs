//! Runs work on its own thread, so that a large text delays neither the renewal of a lease nor the process's end.

use futures_util::FutureExt;
use std::future::pending;
use tokio::{
    runtime::Handle,
    task::{JoinError, spawn_blocking},
};
use tokio_util::sync::CancellationToken;

/// Runs `work` on its own thread and passes its panic on. If the returned future is dropped, `work` is dropped at its
/// next pause. Work that computes has no pause: its thread is left behind.
pub async fn on_own_thread<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let unwanted = CancellationToken::new();
    let _guard = unwanted.clone().drop_guard();
    let (runtime, work) = (Handle::current(), work.boxed());
    let thread = spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                // The shutdown is checked first, because work must not be polled on a runtime that shuts down.
                biased;
                () = unwanted.cancelled() => None,
                done = work => Some(done),
            }
        })
    });
    match thread.await.map_err(JoinError::try_into_panic) {
        Ok(Some(done)) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime shuts down.
        Ok(None) | Err(Err(_)) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::on_own_thread;
    use std::{future::pending, sync::mpsc, time::Duration};

    /// Long enough for any machine; a test that passes never waits for it.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn work_that_never_pauses_leaves_the_runtime_to_others() {
        let (renewed, renewals) = mpsc::channel();
        let work = on_own_thread(async move { renewals.iter().take(3).count() });
        let keep = async {
            while renewed.send(()).is_ok() {
                tokio::task::yield_now().await;
            }
            pending::<()>().await;
        };
        tokio::select! {
            () = keep => {}
            done = work => assert_eq!(done, 3),
        }
    }

    #[tokio::test]
    async fn a_panic_is_passed_on() {
        let waiting = tokio::spawn(on_own_thread(async { std::panic::resume_unwind(Box::new("inside")) }));
        let panic = waiting.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"inside"));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_dropped_at_its_next_pause() {
        let (held, dropped) = mpsc::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let work = tokio::spawn(on_own_thread(async move {
            begun.send(()).unwrap();
            pending::<()>().await;
            drop(held);
        }));
        begins.await.unwrap();
        work.abort();
        assert!(work.await.unwrap_err().is_cancelled());
        assert_eq!(dropped.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
