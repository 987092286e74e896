//! The refusals that were posted to people without the needed right.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{args, statements},
    store::Store,
};
use domain::{
    feature::command::{Asker, RefusalsSaid},
    ids::{InstallationId, Millis, UserId},
};

/// The advisory lock for counting: two processes never share the last write of an hour.
const LOCK: i64 = 0x6175_746f_0005;

const HOUR_MS: i64 = 3_600_000;

statements! {
    SAID = "SELECT cause FROM refusal WHERE cause = $1";
    COUNT = "SELECT CAST(COALESCE(SUM(writes), 0) AS BIGINT) AS writes, \
             COUNT(CASE WHEN person_id = $2 THEN 1 END) AS of_person, \
             (SELECT COUNT(*) FROM refusal t WHERE t.installation_id = $1 AND t.person_id = $2 AND t.thread = $3) AS in_thread \
             FROM refusal WHERE installation_id = $1 AND at > $4";
    SAY = "INSERT INTO refusal (cause, installation_id, person_id, thread, writes, at) VALUES ($1, $2, $3, $4, $5, $6)";
    FORGET = "DELETE FROM refusal WHERE at < $1";
}

/// A refusal of a person without the needed right.
#[derive(Clone, Copy, Debug)]
pub struct NewRefusal<'a> {
    /// The fact that is refused. The same fact, read again, has the same cause.
    pub cause: &'a str,
    pub installation: InstallationId,
    pub person: UserId,
    pub asker: Asker,
    /// The repository and the number of the issue or pull request.
    pub thread: &'a str,
    pub at: Millis,
}

impl Store {
    /// Records a refusal. Returns `true` if one more may be posted, and the same if the fact is read again.
    pub async fn may_refuse(&self, new: &NewRefusal<'_>) -> Result<bool, StoreError> {
        let (installation, person) = (column(new.installation.0)?, column(new.person.0)?);
        let mut tx = self.db.write().await?;
        tx.alone(LOCK).await?;
        if tx.row(SAID, args![new.cause]).await?.is_some() {
            return Ok(true);
        }
        let since = new.at.plus(-HOUR_MS).0;
        let row = tx.row(COUNT, args![installation, person, new.thread, since]).await?;
        let said = row.as_ref().map(read).transpose()?.unwrap_or_default();
        if !said.leave_room_for(new.asker) {
            return Ok(false);
        }
        let writes = i64::from(new.asker.writes());
        tx.run(SAY, args![new.cause, installation, person, new.thread, writes, new.at.0]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Forgets the refusals before `before`. A person who was refused then may get one more reaction in the same
    /// thread.
    pub async fn forget_refusals(&self, before: Millis) -> Result<(), StoreError> {
        self.db.run(FORGET, args![before.0]).await?;
        Ok(())
    }
}

fn read(row: &Row) -> Result<RefusalsSaid, StoreError> {
    let count = |name| Ok::<_, StoreError>(u32::try_from(row.int(name)?).unwrap_or(u32::MAX));
    Ok(RefusalsSaid { writes: count("writes")?, of_person: count("of_person")?, in_thread: count("in_thread")? })
}
