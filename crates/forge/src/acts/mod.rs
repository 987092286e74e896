//! The acts that change the forge. The API, git and the people of a story share these functions.
//!
//! The routes check the rights of the caller first. The rules of issues, branches and so on are checked here.

mod apps;
mod checks;
mod comments;
mod issues;
mod labels;
mod limits;
mod manifest;
mod merging;
mod oauth;
mod pulls;
mod pushes;
mod repos;
mod reviews;
mod suites;

pub(super) use apps::{SECRET, random};
pub(super) use checks::CheckRunChange;
pub(super) use comments::Target;
pub(super) use issues::IssueChange;
pub(super) use manifest::Manifest;
pub(super) use merging::MergeOrder;
pub(super) use pulls::NewPull;
pub(super) use pushes::branches;
pub(super) use reviews::{NewInline, NewReview};
