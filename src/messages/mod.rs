//! Makes every sentence that AutoBuild writes on GitHub, and about Features in a terminal, from values of `domain`.
//!
//! This room is pure: nothing in it waits, reads a clock or posts. Text from issues, agents, tools and people goes
//! through `untrusted` before it becomes part of a sentence, and no result exceeds GitHub's limits for any input.

#![warn(clippy::wildcard_enum_match_arm)]

mod causes;
mod form;
mod issue;
mod pull;

#[cfg(test)]
mod tests;

pub use causes::doctor::{about_topic, how_to_install, summary_of_rows};
pub use causes::evidence::{absence, evidence, finding, output, unmet};
pub use causes::excess::excess;
pub use causes::exposure::ci_in_terminal;
pub use causes::isolation::{level as isolation_level, limit_keeper, missing as missing_isolation};
pub use causes::problems::{
    breach, claim, contradiction, criterion_of_decision, placed, problem, question_of_decision,
};
pub use causes::reasons::{
    answer_is_in_the_log, machine_note, no_merge_method, not_served_for, other_base, settings_mistake, step,
};
pub use causes::refused_host::refused_host;
pub use causes::trace_event::event_in_words;
pub use form::links::Links;
pub use form::measure::MAX_CHARS;
pub use form::words::{cost, count, feature_name, feature_state, task_state};
pub use form::{untrusted, untrusted::Medium};
pub use issue::added_task::{described_by_issue, word_added_tasks};
pub use issue::blocked::{
    bad_settings_in_terminal, blocked_in_short, blocked_report, feature_blocked, stopped_feature, stopped_task,
};
pub use issue::chosen_commands::chosen_commands;
pub use issue::graph::colour as task_colour;
pub use issue::headline::after_blocked;
pub use issue::inquiry::own_defaults;
pub use issue::living::{
    UnusedFilter, filter_note, git_lfs_note, living, notes_in_terminal, state_in_terminal, status_head,
    submodules_note, task_in_terminal,
};
pub use issue::refusal::{lacks_criteria, no_usable_criteria};
pub use issue::reply::{about_command, reply, reply_in_terminal};
pub use issue::waits::wait;
pub use pull::annotation::{Annotation, annotated_files, annotations};
pub use pull::button;
pub use pull::check::{CheckRun, blocked_check, check_in_words, check_run, held_ci, wave_check};
pub use pull::commit::{
    CommitKind, UNRESOLVED_MERGE, histories_commit, merge_default_commit, plan_commit, records_out_commit, squash,
    turn_commit,
};
pub use pull::feature_pull::{closed_feature_pull, feature_pull};
pub use pull::findings::verdict_in_terminal;
pub use pull::gates::every as every_gate;
pub use pull::onboarding::{Detected as DetectedSettings, ISSUE_FORM, LABELS, onboarding_pull, proposed_settings};
pub use pull::plan_file::{
    final_plan_file, is_record, plan_file, plan_file_path, plan_files, task_file, task_file_path, whole_plan_file,
};
pub use pull::review::{Review, ReviewedDiff, fold_inline, review};
pub use pull::task_pull::{PullText, closed_pull, dismissal, task_pull, waived_of};
pub use text::clean::clean;
