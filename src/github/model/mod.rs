//! GitHub's data about users, repositories, issues, pull requests and the like, in our own minimal structs.
//!
//! Webhooks and API answers have the same form. Only the fields that AutoBuild uses are read; everything else may be
//! absent, new or unusual. Users may be `null` everywhere, because a deleted account leaves `null` behind.

mod actor;
mod fields;
mod issues;
mod pulls;
mod repository;

pub(super) use actor::account_type;
pub use actor::{AccountType, Actor};
pub(super) use fields::{OnlyName, id_of, review_state, sha, text, time};
pub use issues::{Comment, Conversation, Issue, OpenState};
pub use pulls::{LineComment, Pull, PullHead, Review, ReviewState};
pub use repository::{Repository, RepositoryRef};
