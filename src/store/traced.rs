//! Lists the tasks with stored agent runs, for people who want to read what happened in them.

use crate::store::{
    error::StoreError,
    sql::{args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, TaskId};

statements! {
    TRACED = "SELECT feature_id, task, MAX(started_at) AS newest FROM run GROUP BY feature_id, task \
              ORDER BY 3 DESC, 1, 2 LIMIT 1000";
}

impl Store {
    /// Returns the newest 1000 tasks with stored runs, newest first. The task of a planner's run is `None`.
    pub async fn traced(&self) -> Result<Vec<(FeatureKey, Option<TaskId>)>, StoreError> {
        let rows = self.db.rows(TRACED, args![]).await?;
        rows.iter()
            .map(|row| Ok((row.parsed("feature_id")?, row.opt_parsed("task")?)))
            .collect()
    }
}
