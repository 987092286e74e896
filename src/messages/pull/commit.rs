//! Messages of the commits that AutoBuild makes. The engine adds their trailers.

use crate::messages::{
    form::{untrusted::plain, words::feature_name},
    pull::{task_pull::PullText, title},
};
use domain::{feature::Feature, ids::TurnNumber, task::Task};

/// The most characters of a subject, as many as `git log` shows in one line.
const SUBJECT: usize = 72;

/// How complete a turn's work in a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    /// The Player ended and reported.
    Whole,
    /// The Player failed; the commit holds its unfinished work.
    Partial,
    /// The Player asks a person; the commit holds the work until then.
    Inquiry,
}

/// Returns the message of the commit of a Player's work.
pub fn turn_commit(feature: &Feature, task: &Task, turn: TurnNumber, kind: CommitKind) -> String {
    let what = match kind {
        CommitKind::Whole => "The Player's work",
        CommitKind::Partial => "What the Player left when it ended badly",
        CommitKind::Inquiry => "What the Player had done when it asked a person",
    };
    format!("{}\n\n{what} in turn {turn} of {}.", subject(feature, task), feature.key.name())
}

fn subject(feature: &Feature, task: &Task) -> String {
    in_one_line(&title::of_task(feature, task))
}

/// Returns the subject of a commit of AutoBuild's own, with a type if the repository's titles have one.
fn own_subject(feature: &Feature, subject: &str) -> String {
    in_one_line(&title::of_own(feature, subject))
}

/// Shortens a subject that is too long after a whole word, unless one word fills most of it.
fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(SUBJECT).collect();
    let starts = (1..=words.len()).rev().filter_map(|count| Some((count, words.get(..count)?.join(" "))));
    let mut lines = starts.map(|(count, start)| {
        let end = if count < words.len() { "…" } else { "" };
        plain(&format!("{start}{end}"), usize::MAX)
    });
    let line = lines.find(|line| line.chars().count() <= SUBJECT);
    line.filter(|line| !line.ends_with('…') || line.chars().count() > SUBJECT / 2).unwrap_or_else(|| {
        let start: String = text.chars().take(SUBJECT - 1).collect();
        plain(&format!("{start}…"), SUBJECT)
    })
}

/// The message of a merge with conflicts, with which the Player's resolution is compared.
pub const UNRESOLVED_MERGE: &str = "The merge as git left it";

/// Returns the message of the plan's commit on the integration branch.
pub fn plan_commit(feature: &Feature) -> String {
    own_subject(feature, &format!("Plan {}: {}", feature.key.name(), feature_name(feature)))
}

/// Returns the message of the commit with the pages of tasks that have ended since the last such commit.
pub fn histories_commit(feature: &Feature) -> String {
    own_subject(feature, &format!("Record the turns of the tasks of {}", feature.key.name()))
}

/// Returns the message of the commit that removes the records before the feature pull request shows its diff.
pub fn records_out_commit(feature: &Feature) -> String {
    own_subject(feature, &format!("Take the records of {} out", feature.key.name()))
}

pub fn merge_default_commit(feature: &Feature, default_branch: &str) -> String {
    let into = feature.integration_branch();
    if feature.rules.titles.has_type() {
        own_subject(feature, &format!("Merge {default_branch} into {into}"))
    } else {
        format!("Merge {} into {into}", plain(default_branch, 100))
    }
}

/// Returns the text of the commit that a task becomes on the integration branch.
pub fn squash(feature: &Feature, task: &Task) -> PullText {
    let number = task.pull.map_or_else(String::new, |pull| format!(" (#{pull})"));
    PullText {
        title: format!("{}{number}", subject(feature, task)),
        body: format!("AutoBuild-Feature: {}\nAutoBuild-Task: {}", feature.key.name(), task.id),
    }
}

#[cfg(test)]
mod tests {
    use super::in_one_line;

    #[test]
    fn a_long_subject_ends_with_a_whole_word() {
        let name = "TASK-001: Teach the parser to read files whose lines end in carriage returns";
        let cut = in_one_line(name);
        assert_eq!(cut, "TASK-001: Teach the parser to read files whose lines end in carriage…");
        assert!(cut.chars().count() <= 72);
        assert_eq!(in_one_line("TASK-002: Short"), "TASK-002: Short");
        let word = "x".repeat(100);
        assert_eq!(in_one_line(&format!("TASK-003: {word}")).chars().count(), 72);
    }
}
