//! GitHub: receives signed webhooks and makes API calls.
//!
//! [`webhook`] turns a delivery into an [`Inbound`](webhook::Inbound). [`Client`] is one App. It mints tokens with
//! narrow permissions ([`tokens`]), with which [`Repo`] makes the calls that the engine needs. Every failure becomes a
//! [`GithubError`], with a variant for each next action of the caller. [`WriteSpacing`] says when the next write may be
//! sent.
//!
//! Nothing here makes decisions, stores anything, or repeats a write whose result is unknown. Tokens and keys never
//! reach a log, an error or a `Debug` text.

#![warn(clippy::wildcard_enum_match_arm)]

mod app;
mod checks;
mod ci;
mod client;
mod comments;
mod contents;
mod error;
mod graphql;
mod http;
mod inspection;
mod issues;
mod merge;
pub mod model;
mod pulls;
mod refs;
mod registration;
mod remote_work;
mod repo;
mod repos;
mod reviews;
mod rights;
mod sign_in;
mod spacing;
pub mod tokens;
mod urls;
pub mod webhook;

pub use app::{App, Identity, SetupError, lacking};
pub use checks::{
    AnnotationLevel, CheckAction, CheckAnnotation, CheckConclusion, CheckOutput, CheckReport, MOST_ANNOTATIONS,
};
pub use ci::{SeenApp, SeenCheck, SeenOutput, SeenStatus};
pub use client::Client;
pub use contents::Content;
pub use error::{Cause, GithubError};
pub use graphql::IssueEdit;
pub use http::{Clock, Permit, READ_PAUSES};
pub use inspection::{HookDelivery, Installation};
pub use merge::{Merge, MergeMethod, MergeRefusal};
pub use pulls::{NewPull, OpenedPull, PullChange};
pub use registration::{RegisteredApp, exchange};
pub use remote_work::{BranchMove, BranchMoveKind};
pub use repo::Repo;
pub use repos::{AccessLevel, Commits, Rule};
pub use reviews::{NewReview, PostedReview, ReviewEvent, ReviewRequest};
pub use rights::{AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS, Rights};
pub use sign_in::{OAuthApp, SignInError};
pub use spacing::{Caps, WriteSpacing};
pub use urls::{GithubUrls, UrlError};
