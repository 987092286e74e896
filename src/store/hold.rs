//! The operations of an effect's holder. Every write names the effect, the worker and the fence; with a lost hold it
//! changes nothing.

use crate::store::{
    error::StoreError,
    row::{Row, explained},
    run,
    sql::{Arg, Flush, Single, Tx, args, statements},
    store::Store,
};
use domain::ids::Millis;

/// Matches the effect only if this claim still holds it.
macro_rules! held {
    () => {
        " WHERE id = $1 AND worker = $2 AND fence = $3 AND state = 'running'"
    };
}
pub(super) use held;

/// Makes the effect ready again, or cancelled if that was asked for meanwhile.
macro_rules! given_back {
    () => {
        "worker = NULL, lease_until = NULL, state = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE 'ready' END"
    };
}
pub(super) use given_back;

statements! {
    LOOK = concat!("SELECT cancel_requested FROM effect", held!());
    RENEW = concat!("UPDATE effect SET lease_until = $4", held!(), " RETURNING cancel_requested");
    POSTPONE = concat!("UPDATE effect SET run_at = $4, last_error = $5, ", given_back!(), held!());
    FAIL_ATTEMPT = concat!("UPDATE effect SET run_at = $4, last_error = $5, attempt = attempt + 1, ",
                           "parked_since = NULL, waits_for = NULL, ", given_back!(), held!());
    CRASH = concat!("UPDATE effect SET run_at = $4, last_error = $5, crashes = crashes + 1, ", given_back!(), held!());
    RELEASE = concat!("UPDATE effect SET ", given_back!(), held!());
    RECORD = concat!("UPDATE effect SET external_id = $4", held!());
    FINISH = concat!("UPDATE effect SET state = $4, last_error = COALESCE($5, last_error), worker = NULL, ",
                     "lease_until = NULL", held!());
}

/// The proof of a claim: the effect, the worker, and the fence that the claim raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub effect: String,
    pub worker: String,
    pub fence: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// The hold was valid and the write is stored.
    Written,
    /// The hold is lost: another worker has the effect, or it has ended. Nothing was written.
    Lost,
}

/// The state of a hold, as a check or a renewal finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    Mine,
    /// The effect is still held but no longer wanted: stop, then finish it as cancelled.
    CancelRequested,
    /// The hold is lost: stop at once and write nothing.
    Lost,
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was performed.
    Done,
    /// It was given up.
    Failed { error: String },
    /// It was no longer wanted.
    Cancelled,
}

/// The end of an effect, to be stored together with the event that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// The proof that this worker may end it.
    pub hold: Hold,
    pub outcome: Outcome,
}

impl Store {
    /// Checks if the effect is still held and wanted, without renewing the lease.
    pub async fn look(&self, hold: &Hold) -> Result<Lease, StoreError> {
        let arguments = args![&hold.effect, &hold.worker, hold.fence];
        lease(self.db.row(LOOK, arguments).await?)
    }

    /// Extends the lease to `lease_until`.
    pub async fn renew(&self, hold: &Hold, lease_until: Millis) -> Result<Lease, StoreError> {
        let arguments = args![&hold.effect, &hold.worker, hold.fence, lease_until.0];
        let single = Single { sql: RENEW, args: arguments, flush: Flush::Later, lock: None, wakes: false };
        let renewed = self.db.single(single).await?;
        lease(renewed.rows.into_iter().next())
    }

    /// Gives the effect back to wait until `run_at`, for example for a rate limit. This is neither a try nor a crash.
    pub async fn postpone(&self, hold: &Hold, run_at: Millis, reason: &str) -> Result<Fenced, StoreError> {
        self.fenced(POSTPONE, hold, args![run_at.0, &explained(reason)]).await
    }

    /// Gives the effect back to be tried again at `run_at`. This counts as a failed try.
    pub async fn fail_attempt(&self, hold: &Hold, run_at: Millis, error: &str) -> Result<Fenced, StoreError> {
        self.fenced(FAIL_ATTEMPT, hold, args![run_at.0, &explained(error)]).await
    }

    /// Gives the effect back to be tried again at `run_at`, because its worker task panicked. This counts as a crash.
    pub async fn crash(&self, hold: &Hold, run_at: Millis, error: &str, now: Millis) -> Result<Fenced, StoreError> {
        let mut tx = self.db.write().await?;
        let why = explained(error);
        let arguments = args![&hold.effect, &hold.worker, hold.fence, run_at.0, &why];
        let fenced = written(tx.run(CRASH, arguments).await?);
        run::lose_unheld(&mut tx, now).await?;
        self.db.publish(tx).await?;
        Ok(fenced)
    }

    /// Gives the effect back unchanged, because the worker shuts down. This counts neither as a try nor as a crash.
    pub async fn release(&self, hold: &Hold) -> Result<Fenced, StoreError> {
        self.fenced(RELEASE, hold, args![]).await
    }

    /// Stores the id of the effect's external result, before the effect is finished.
    pub async fn record_external(&self, hold: &Hold, external_id: &str) -> Result<Fenced, StoreError> {
        self.fenced(RECORD, hold, args![external_id]).await
    }

    /// Ends the effect if no event follows from it. If one does, [`Commit`](crate::store::Commit) ends it.
    pub async fn finish(&self, hold: &Hold, outcome: &Outcome) -> Result<Fenced, StoreError> {
        let (state, error) = ending(outcome);
        let arguments = args![&hold.effect, &hold.worker, hold.fence, state, error.as_deref()];
        let single = Single { sql: FINISH, args: arguments, flush: Flush::Later, lock: None, wakes: true };
        Ok(written(self.db.single(single).await?.touched))
    }

    async fn fenced(&self, sql: &'static str, hold: &Hold, more: &[Arg<'_>]) -> Result<Fenced, StoreError> {
        let arguments = [args![&hold.effect, &hold.worker, hold.fence], more].concat();
        let single = Single { sql, args: &arguments, flush: Flush::AtCommit, lock: None, wakes: true };
        Ok(written(self.db.single(single).await?.touched))
    }
}

fn lease(row: Option<Row>) -> Result<Lease, StoreError> {
    Ok(match row.map(|row| row.int("cancel_requested")).transpose()? {
        None => Lease::Lost,
        Some(0) => Lease::Mine,
        Some(_) => Lease::CancelRequested,
    })
}

/// Stores the id of the effect's external result, within a transaction.
pub(super) async fn record(tx: &mut Tx, hold: &Hold, external_id: &str) -> Result<Fenced, StoreError> {
    let arguments = args![&hold.effect, &hold.worker, hold.fence, external_id];
    Ok(written(tx.run(RECORD, arguments).await?))
}

/// Ends an effect within a transaction.
pub(super) async fn end(tx: &mut Tx, hold: &Hold, outcome: &Outcome) -> Result<Fenced, StoreError> {
    let (state, error) = ending(outcome);
    let arguments = args![&hold.effect, &hold.worker, hold.fence, state, error.as_deref()];
    Ok(written(tx.run(FINISH, arguments).await?))
}

/// Returns the state of an ended effect, and the error that it keeps.
fn ending(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Failed { error } => ("failed", Some(explained(error))),
        Outcome::Cancelled => ("cancelled", None),
    }
}

pub(super) fn written(touched: u64) -> Fenced {
    match touched {
        0 => Fenced::Lost,
        _ => Fenced::Written,
    }
}
