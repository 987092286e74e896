//! Makes every sentence that AutoBuild writes on GitHub, and about Features in a terminal, from values of `domain`.
//!
//! This room is pure: nothing in it waits, reads a clock or posts. Text from issues, agents, tools and people goes
//! through `untrusted` before it becomes part of a sentence, and no result exceeds GitHub's limits for any input.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod untrusted;

mod added_task;
mod annotation;
mod blocked;
pub mod button;
mod check;
mod chosen_commands;
mod commit;
mod defuse;
mod doctor;
mod evidence;
mod excess;
mod exposure;
mod facts;
mod failed_acts;
mod feature_pull;
mod findings;
mod gates;
mod graph;
mod happened;
mod headline;
mod ignored;
mod inquiry;
mod isolation;
mod items;
mod links;
mod living;
mod measure;
mod obeyed;
mod onboarding;
mod plan_file;
mod problems;
mod progress;
mod questions;
mod reasons;
mod refusal;
mod refused_host;
mod remedy;
mod reply;
mod review;
mod rules;
mod suggestion;
mod task_pull;
mod time_limits;
mod title;
mod waits;
mod waived;
mod words;

#[cfg(test)]
mod tests;

pub use added_task::{described_by_issue, word_added_tasks};
pub use annotation::{Annotation, annotated_files, annotations};
pub use blocked::{
    bad_settings_in_terminal, blocked_in_short, blocked_report, feature_blocked, stopped_feature, stopped_task,
};
pub use check::{CheckRun, blocked_check, check_in_words, check_run, held_ci, wave_check};
pub use chosen_commands::chosen_commands;
pub use commit::{
    CommitKind, UNRESOLVED_MERGE, histories_commit, merge_default_commit, plan_commit, records_out_commit, squash,
    turn_commit,
};
pub use doctor::about_topic;
pub use evidence::{absence, evidence, finding, output, unmet};
pub use excess::excess;
pub use exposure::gets as workflow_gets;
pub use feature_pull::{closed_feature_pull, feature_pull};
pub use findings::verdict_in_terminal;
pub use gates::every as every_gate;
pub use graph::colour as task_colour;
pub use happened::event_in_words;
pub use headline::after_blocked;
pub use inquiry::own_defaults;
pub use isolation::{level as isolation_level, limit_keeper, missing as missing_isolation};
pub use links::Links;
pub use living::{
    UnusedFilter, filter_note, git_lfs_note, living, notes_in_terminal, schema_of_plan, state_in_terminal, status_head,
    submodules_note, task_in_terminal,
};
pub use measure::MAX_CHARS;
pub use onboarding::{Detected as DetectedSettings, ISSUE_FORM, LABELS, onboarding_pull, proposed_settings};
pub use plan_file::{
    final_plan_file, is_record, plan_file, plan_file_path, plan_files, task_file, task_file_path, whole_plan_file,
};
pub use problems::{breach, claim, contradiction, criterion_of_decision, placed, problem, question_of_decision};
pub use reasons::{
    answer_is_in_the_log, machine_note, no_merge_method, not_served_for, other_base, settings_mistake, step,
};
pub use refusal::{lacks_criteria, no_usable_criteria};
pub use refused_host::refused_host;
pub use reply::{about_command, reply, reply_in_terminal};
pub use review::{Review, ReviewedDiff, fold_inline, review};
pub use rules::about as about_rule;
pub use task_pull::{PullText, closed_pull, dismissal, task_pull, waived_of};
pub use text::clean::clean;
pub use time_limits::cut_times;
pub use untrusted::Medium;
pub use waits::wait;
pub use words::{cost, count, feature_name, feature_state, task_state};
