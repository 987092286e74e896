//! The table of rules: one file each, with its variant, the roles of its files, and the check.
//!
//! A rule does not depend on a language: it uses the captures of the queries, which all languages have. The domain
//! defines its weight, and the application's `messages` its sentence.

mod beyond_documents;
mod cannot_fail;
mod ci_weakened;
mod compares_less;
mod coverage_weakened;
mod differs_under_test;
mod exit_in_test;
mod fewer_cases;
mod file_deleted;
mod file_too_large;
mod hard_coded;
mod hidden_text;
mod merge_marker;
mod not_used;
mod package_source;
mod protected_path;
mod repeats_code;
mod results_by_hand;
pub(crate) mod rule;
mod runner_weakened;
mod secret;
mod set_by_tests;
mod shadow_module;
mod snapshot_by_hand;
mod stub;
mod unreadable;
mod writes_expectation;

pub use rule::ReadingRule;

/// Every rule, in the order in which they run.
pub static ALL: &[&ReadingRule] = &[
    &protected_path::RULE,
    &secret::RULE,
    &merge_marker::RULE,
    &hidden_text::RULE,
    &file_too_large::RULE,
    &file_deleted::RULE,
    &package_source::RULE,
    &beyond_documents::RULE,
    &unreadable::RULE,
    &fewer_cases::RULE,
    &cannot_fail::RULE,
    &runner_weakened::RULE,
    &coverage_weakened::RULE,
    &ci_weakened::RULE,
    &stub::RULE,
    &compares_less::RULE,
    &hard_coded::RULE,
    &not_used::RULE,
    &repeats_code::RULE,
    &set_by_tests::RULE,
    &writes_expectation::RULE,
    &results_by_hand::RULE,
    &snapshot_by_hand::RULE,
    &shadow_module::RULE,
    &exit_in_test::RULE,
    &differs_under_test::RULE,
];

#[cfg(test)]
mod tests;
