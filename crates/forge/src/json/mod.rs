//! The forge's state in GitHub's JSON: field names, types and spellings are those of GitHub's published API
//! description.

mod account;
mod check;
pub(crate) mod fields;
mod issue;
mod pull;
mod repo;

pub(super) use check::{check_run, check_suite, head_commit, simple_check_suite, status};
pub(super) use fields::{extend, lines_of, put, time};
pub(super) use issue::{comment, issue, label, labels, reaction};
pub(super) use pull::{inline_comment, pull, requested, review, single_pull, webhook_review};
pub(super) use repo::permissions_of;
