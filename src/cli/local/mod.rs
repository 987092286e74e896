//! The commands on a person's own repository. They run the service against a local forge whose state is in git's own
//! folder, without GitHub or an account. They check out and push nothing.

mod complete;
mod follow;
mod lock;
mod named;
mod order_status;
mod orders;
mod plan;
mod report;
mod resume;
mod run;
pub(super) mod session;
mod status;
mod work;

pub(super) use complete::{Complete, complete};
pub(super) use plan::{FeatureCommand, Plan, TaskCommand, feature, plan, task};
pub(super) use resume::{Resume, resume};
pub(super) use run::{Run, run};
pub(super) use status::{Status, status};
