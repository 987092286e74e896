//! The parts that the prompts of several roles share: the issue, the task, findings, instruction files, lists.

use crate::{
    agents::{
        fence::{fenced, visible},
        prompt::{InstructionFile, MAX_ISSUE, Prompt, Snapshot},
    },
    messages,
};
use chrono::DateTime;
use domain::{
    feature::{EarlierComment, discussion::MOST_CHARACTERS},
    plan::{Check, PlannedTask, TaskType},
    problem::{ReviewItem, Severity},
};
use std::fmt::Write;
use text::{markdown::with_named_images, shorten};

const MAX_TITLE: usize = 500;
const MAX_INSTRUCTIONS: usize = 20_000;
const MAX_INSTRUCTION_FILES: usize = 10;
const MAX_ITEMS: usize = 50;
const MAX_ITEM: usize = 2_000;
const MAX_LINE: usize = 300;
const MAX_FILES: usize = 1_500;
const MAX_FILES_TEXT: usize = 60_000;

/// How to run a repository's tests.
#[derive(Clone, Copy, Debug)]
pub enum Tests<'a> {
    By(&'a str),
    /// No command is known; these runners are installed.
    Unknown(&'a [&'a str]),
}

impl<'a> Tests<'a> {
    /// Uses the command if there is one.
    pub fn of(command: Option<&'a str>, runners: &'a [&'a str]) -> Self {
        command.map_or(Self::Unknown(runners), Self::By)
    }

    /// Returns a sentence about it. `whose` is the sentence's first word.
    pub(super) fn sentence(self, whose: &str) -> String {
        match self {
            Self::By(command) => format!("{whose} tests are run with `{}`.", one_line(command)),
            Self::Unknown([]) => format!("No command is known that runs {} tests.", whose.to_lowercase()),
            Self::Unknown(runners) => format!(
                "No command is known that runs {} tests. Tests that one of these finds by itself are run; they are \
                 installed here: {}.",
                whose.to_lowercase(),
                runners.join(", ")
            ),
        }
    }
}

impl Prompt {
    pub(super) fn issue(&mut self, issue: Snapshot<'_>) {
        let title = fenced("issue title", issue.title, MAX_TITLE);
        let body = if issue.body.trim().is_empty() {
            "The issue has no body.".to_owned()
        } else {
            fenced("issue body", &with_named_images(issue.body), MAX_ISSUE)
        };
        let comments = comments(issue.comments);
        self.section("The issue", &format!("{title}\n\n{body}{comments}"));
        self.end_subject();
    }

    pub(super) fn instructions(&mut self, files: &[InstructionFile]) {
        if files.is_empty() {
            return;
        }
        let mut body = "The repository's own instructions for agents, from its default branch. Keep their conventions \
                        where they do not contradict anything above.\n"
            .to_owned();
        for file in files.iter().take(MAX_INSTRUCTION_FILES) {
            let label = format!("file {}", one_line(&file.path));
            let _ = write!(body, "\n{}\n", fenced(&label, &file.text, MAX_INSTRUCTIONS));
        }
        self.section("How this repository wants to be worked on", &body);
    }

    pub(super) fn task(&mut self, task: &PlannedTask) {
        let mut text = format!("{}: {}\n{}\n\nCriteria:\n", task.id, task.name, task.description);
        for (number, criterion) in task.acceptance_criteria.iter().enumerate() {
            let check = check_sentence(&criterion.check);
            let _ = writeln!(text, "{}. {} ({check})", number + 1, criterion.text);
        }
        if !task.files.is_empty() {
            let _ = write!(text, "\nFiles that the plan expects to change: {}", task.files.join(", "));
        }
        let kind = kind_sentence(task);
        let task = fenced("task", &text, MAX_ISSUE);
        self.section("The task", &format!("{kind}\n\n{task}"));
        self.end_subject();
    }

    pub(super) fn items(&mut self, heading: &str, intro: &str, items: &[ReviewItem]) {
        if items.is_empty() {
            return;
        }
        let list = fenced("findings", &item_lines(items), MAX_ITEMS * MAX_ITEM);
        self.section(heading, &format!("{intro}\n\n{list}"));
    }

    /// Adds the texts of people with the right to decide, which the agent has to follow.
    pub(super) fn words(&mut self, words: &[String], what: &str) {
        for words in words {
            let body = format!("A person with the right to decide adds this. Follow it where it shapes the {what}:");
            let words = fenced("words", words, MAX_ISSUE);
            self.section("What a maintainer added", &format!("{body}\n\n{words}"));
        }
    }

    /// Adds the facts about the repository: its test command, `more`, and its files.
    pub(super) fn repository(&mut self, tests: Tests<'_>, more: &str, files: &[String]) {
        let files = fenced("paths", &list(files, MAX_FILES), MAX_FILES_TEXT);
        let known = tests.sentence("Its");
        self.section("The repository", &format!("{known}{more} Its files:\n\n{files}"));
    }
}

/// Returns the comments of an issue's snapshot; empty if there are none.
fn comments(comments: &[EarlierComment]) -> String {
    if comments.is_empty() {
        return String::new();
    }
    let mut text =
        "\n\nBelow the issue, before it was labelled, people with write access to the repository wrote this, the \
                    newest first. Where it differs from the issue, the newer counts:"
            .to_owned();
    for comment in comments {
        let at = DateTime::from_timestamp_millis(comment.at.0).unwrap_or_default();
        let label = format!("comment of {} at {}", one_line(&comment.by.login), at.format("%Y-%m-%d %H:%M UTC"));
        // Writing to a String cannot fail.
        let _ = write!(text, "\n\n{}", fenced(&label, &comment.text, MOST_CHARACTERS));
    }
    text
}

fn kind_sentence(task: &PlannedTask) -> &'static str {
    match task.kind {
        TaskType::Scaffolding => "A scaffolding task: structure without behaviour. Existing tests must still pass.",
        TaskType::Feature => "A feature task: behaviour, with tests that prove it. Tests must exist and pass.",
        TaskType::Refactoring => {
            "A refactoring task: the same behaviour in another form. Every test that exists must still hold, on the old code \
             as on the new."
        }
        TaskType::Testing => "A testing task: tests for behaviour that exists. They must pass.",
        TaskType::Documentation => "A documentation task: words. Existing tests must still pass.",
    }
}

pub(super) fn check_sentence(check: &Check) -> String {
    match check {
        Check::Test(name) => format!("shown by the test `{name}`"),
        Check::Command(command) => format!("shown by the command `{command}`"),
        Check::File(path) => format!("shown by the file `{path}`"),
        Check::Human => "only a person can tell; not for you to judge".to_owned(),
    }
}

/// Returns findings, one per line. If there are too many, only the first.
pub(super) fn item_lines(items: &[ReviewItem]) -> String {
    let lines = items.iter().take(MAX_ITEMS).map(item_line).collect();
    joined(lines, items.len().saturating_sub(MAX_ITEMS))
}

fn item_line(item: &ReviewItem) -> String {
    let severity = match item.severity {
        Severity::MustFix => "must_fix",
        Severity::ShouldFix => "should_fix",
        Severity::NiceToHave => "nice_to_have",
    };
    let place = match (&item.file, item.line) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        (Some(file), None) => format!(" {file}"),
        (None, _) => String::new(),
    };
    let suggestion = match &item.suggestion {
        Some(suggestion) => format!("\n  suggested: {suggestion}"),
        None => String::new(),
    };
    let line = format!("- [{severity}, {}]{place}: {}{suggestion}", item.problem.category(), messages::problem(item));
    shorten::middle(&line, MAX_ITEM)
}

/// Returns paths or names, one per line. If there are too many, only the first `max`.
pub(super) fn list(names: &[String], max: usize) -> String {
    let lines = names.iter().take(max).map(|name| one_line(name)).collect();
    joined(lines, names.len().saturating_sub(max))
}

fn joined(mut lines: Vec<String>, left_out: usize) -> String {
    if left_out > 0 {
        lines.push(format!("… and {left_out} more"));
    }
    lines.join("\n")
}

pub(super) fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shorten::middle(&visible(&line), MAX_LINE).replace('\n', " ")
}
