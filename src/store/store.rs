//! The handle on the database.

use crate::store::{inbox::Inbox, sql::Db, wake::Hint};
use std::sync::Arc;

/// A handle on the database; clones share one set of connections.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) db: Db,
    pub(super) inbox: Inbox,
    pub(super) hint: Option<Arc<Hint>>,
}
