//! GitHub: signed webhooks in, calls out.
//!
//! [`webhook`] turns a delivery into an [`Inbound`](webhook::Inbound). [`Client`] is one App: it mints narrow tokens
//! ([`tokens`]), and [`Repo`] makes the calls that the engine needs with them. Every refusal becomes a [`GithubError`],
//! shaped by what the caller does next. [`WriteSpacing`] says when the next write may go out.
//!
//! Nothing here decides what AutoBuild does, stores anything, or repeats a write whose fate is unknown. Tokens and keys
//! never reach a log, an error or a `Debug` text.

mod app;
mod checks;
mod ci;
mod client;
mod comments;
mod contents;
mod error;
mod graphql;
mod http;
mod issues;
mod merge;
pub mod model;
mod pulls;
mod refs;
mod repo;
mod repos;
mod review_requests;
mod reviews;
mod rights;
mod spacing;
pub mod tokens;
mod urls;
pub mod webhook;

pub use app::App;
pub use app::Identity;
pub use app::Installation;
pub use app::InstallationState;
pub use app::SetupError;
pub use checks::AnnotationLevel;
pub use checks::CheckAction;
pub use checks::CheckAnnotation;
pub use checks::CheckConclusion;
pub use checks::CheckOutput;
pub use checks::CheckReport;
pub use checks::MOST_ANNOTATIONS;
pub use ci::SeenCheck;
pub use ci::SeenOutput;
pub use ci::SeenStatus;
pub use ci::Suite;
pub use client::Client;
pub use comments::Reaction;
pub use comments::ReactionTarget;
pub use contents::Content;
pub use error::Cause;
pub use error::GithubError;
pub use graphql::IssueEdit;
pub use merge::Merge;
pub use merge::MergeMethod;
pub use merge::MergeRefusal;
pub use pulls::NewPull;
pub use pulls::OpenedPull;
pub use pulls::PullChange;
pub use pulls::PullFilter;
pub use refs::CreatedRef;
pub use repo::Repo;
pub use repos::AccessLevel;
pub use repos::RepositoryAccess;
pub use repos::Rule;
pub use review_requests::ReviewRequest;
pub use reviews::InlineComment;
pub use reviews::NewReview;
pub use reviews::PostedReview;
pub use reviews::ReviewEvent;
pub use rights::AUTOBUILD_EVENTS;
pub use rights::AUTOBUILD_PERMISSIONS;
pub use rights::COACH_PERMISSIONS;
pub use rights::COACH_RIGHTS;
pub use rights::Rights;
pub use spacing::Caps;
pub use spacing::WriteSpacing;
pub use urls::GithubUrls;
pub use urls::UrlError;

use domain::ids::Millis;

/// Where the room reads the time: given by the caller, so that no rule here depends on a clock of its own.
pub type Clock = fn() -> Millis;
