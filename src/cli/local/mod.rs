//! The commands on one's own repository: the service against a local forge whose memory stands in git's own folder. No
//! GitHub, no account; nothing is checked out and nothing pushed.

mod complete;
mod follow;
mod lock;
mod named;
mod orders;
mod plan;
mod report;
mod result;
mod resume;
mod run;
pub(super) mod session;
mod standing;
mod status;
mod work;

pub(super) use complete::{Complete, complete};
pub(super) use plan::{FeatureCommand, Plan, TaskCommand, feature, plan, task};
pub(super) use resume::{Resume, resume};
pub(super) use run::{Run, run};
pub(super) use status::{Status, status};
