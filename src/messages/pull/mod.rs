//! The texts on pull requests: their bodies, reviews and check runs, and the files and commits of a branch.

pub(super) mod annotation;
pub mod button;
pub(super) mod check;
pub(super) mod commit;
pub(super) mod feature_pull;
pub(super) mod findings;
pub(super) mod gates;
pub(super) mod ignored;
pub(super) mod items;
pub(super) mod onboarding;
pub(super) mod plan_file;
pub(super) mod questions;
pub(super) mod review;
pub(super) mod suggestion;
pub(super) mod task_pull;
pub(super) mod title;
pub(super) mod waived;
