//! What GitHub says about users, repositories, issues, pull requests and the rest: our own, minimal reading.
//!
//! The same shapes arrive in webhooks and in answers. Only fields that AutoBuild uses are read; everything else may be
//! absent, new or strange. Users are nullable throughout: a deleted account leaves `null` behind.

mod actor;
mod fields;
mod issues;
mod pulls;
mod repository;

pub use actor::{Actor, ActorKind};
pub(super) use fields::{app_id, text, time};
pub use issues::{Comment, Conversation, Issue, OpenState};
pub use pulls::{LineComment, Pull, PullEnd, Review, ReviewState};
pub use repository::{Repository, RepositoryRef};
