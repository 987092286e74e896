//! Every sentence that AutoBuild says on GitHub, as Markdown made from values of `domain`.
//!
//! Pure: nothing here waits, reads a clock or posts. Text from issues, agents, tools and people goes through `untrusted`
//! before it is part of a sentence, and no result is longer than GitHub takes, whatever goes in.

pub mod untrusted;

mod annotation;
mod blocked;
mod check;
mod commit;
mod defuse;
mod design;
mod feature_pull;
mod findings;
mod gate_details;
mod gates;
mod graph;
mod ignored;
mod items;
mod links;
mod living;
mod living_ground;
mod living_parts;
mod measure;
mod plan_file;
mod progress;
mod reasons;
mod refusal;
mod reply;
mod review;
mod review_criteria;
mod review_inline;
mod review_since;
mod task_file;
mod task_pull;
mod unsaid;
mod waits;
mod words;

#[cfg(test)]
mod tests;

pub use annotation::Annotation;
pub use annotation::Level;
pub use annotation::annotated_files;
pub use annotation::annotations;
pub use blocked::blocked_in_short;
pub use blocked::blocked_report;
pub use blocked::feature_blocked;
pub use check::CheckRun;
pub use check::Conclusion;
pub use check::blocked_check;
pub use check::check_in_words;
pub use check::check_run;
pub use check::wave_check;
pub use commit::CommitKind;
pub use commit::SquashText;
pub use commit::histories_commit;
pub use commit::merge_default_commit;
pub use commit::merge_integration_commit;
pub use commit::plan_commit;
pub use commit::records_out_commit;
pub use commit::squash;
pub use commit::turn_commit;
pub use domain::clean::clean;
pub use feature_pull::closed_feature_pull;
pub use feature_pull::feature_pull;
pub use links::Links;
pub use living::living;
pub use measure::MAX_CHARS;
pub use plan_file::final_plan_file;
pub use plan_file::is_record;
pub use plan_file::plan_file;
pub use plan_file::plan_file_path;
pub use plan_file::plan_files;
pub use plan_file::whole_plan_file;
pub use reply::reply;
pub use review::Inline;
pub use review::Review;
pub use review::ReviewEvent;
pub use review::Shown;
pub use review::blocked_review;
pub use review::fold_inline;
pub use review::review;
pub use task_file::task_file;
pub use task_file::task_file_path;
pub use task_pull::PullText;
pub use task_pull::closed_pull;
pub use task_pull::dismissal;
pub use task_pull::task_pull;
pub use waits::wait;
