//! Runs blocking work on tokio's threads for such work, and passes a panic on to the caller.

use tokio::task::JoinError;

/// Starts `work` at once. The returned future waits for its result.
pub fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> {
    let working = tokio::task::spawn_blocking(work);
    async move {
        match working.await.map_err(JoinError::try_into_panic) {
            Ok(done) => Ok(done),
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(ended)) => Err(ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::blocking;

    #[tokio::test]
    async fn a_panic_goes_on_where_the_work_is_waited_for() {
        assert_eq!(blocking(|| 7).await.unwrap(), 7);
        let waiting = tokio::spawn(blocking(|| std::panic::resume_unwind(Box::new("inside"))));
        let panic = waiting.await.map(|_: Result<(), _>| ()).unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"inside"));
    }
}
