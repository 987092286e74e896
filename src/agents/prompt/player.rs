//! The Player's prompt.

use crate::agents::{
    definition::Definition,
    fence::fenced,
    prompt::{
        InstructionFile, MAX_ISSUE, MAX_LIST, Prompt, Snapshot,
        parts::{Tests, list, one_line},
        questions,
    },
};
use domain::{
    design::Design,
    ids::{TaskId, TurnNumber},
    plan::{Intent, PlannedTask, TaskType},
    problem::ReviewItem,
    question::{OpenQuestion, Question},
};
use std::fmt::Write;
use text::shorten;

const MAX_DELIVERED: usize = 50;
const MAX_HOSTS: usize = 50;
const MAX_SUMMARY: usize = 1_000;

/// A merged task whose work is in the branch that this one starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedTask {
    pub task: TaskId,
    pub name: String,
    pub summary: String,
}

#[derive(Clone, Copy, Debug)]
pub struct PlayerInput<'a> {
    pub issue: Snapshot<'a>,
    pub task: &'a PlannedTask,
    pub turn: TurnNumber,
    /// The findings that the last verdict asked the Player to fix.
    pub items: &'a [ReviewItem],
    /// The questions of the last turn, and those of them that nobody answered.
    pub questions: (&'a [Question], &'a [OpenQuestion]),
    /// The guidance of people, word for word, newest last.
    pub guidance: &'a [String],
    /// The work of earlier waves.
    pub delivered: &'a [MergedTask],
    pub instructions: &'a [InstructionFile],
    pub tests: Tests<'a>,
    /// The command that prepares a checkout for the tests, if there is one.
    pub setup_command: Option<&'a str>,
    /// The hosts that its commands can reach besides its model; `None` if unknown.
    pub reaches: Option<&'a [String]>,
    /// The files with conflict markers to resolve.
    pub conflicts: &'a [String],
    /// The task's design, if there is one.
    pub design: Option<&'a Design>,
    pub demands: GateRequirements<'a>,
}

/// The requirements of the Gates that differ between tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateRequirements<'a> {
    /// `true` if one of the new tests must fail on the code before the change.
    pub red_before_green: bool,
    /// The least share of changed lines that tests must cover, in percent; `None` if coverage is not measured.
    pub coverage: Option<f64>,
    /// `true` if the repository's own CI must pass.
    pub ci: bool,
    /// The tests that failed before this task began.
    pub failing_before: &'a [String],
}

impl PlayerInput<'_> {
    /// Returns the prompt, without the form of the answer.
    pub fn prompt(&self, definition: &Definition) -> Prompt {
        let mut prompt = Prompt::new(&definition.prompt, "your report");
        prompt.issue(self.issue);
        prompt.task(self.task);
        self.situation(&mut prompt);
        self.design(&mut prompt);
        self.demands(&mut prompt);
        self.delivered(&mut prompt);
        prompt.instructions(self.instructions);
        prompt
    }

    fn situation(&self, prompt: &mut Prompt) {
        let tests = self.tests.sentence("The");
        let turn = match self.turn {
            TurnNumber::FIRST => "This is the first turn of the task.".to_owned(),
            turn => format!("This is turn {turn} of the task. The working copy holds the work of the turns before."),
        };
        let setup = self.setup_command.map_or_else(String::new, |command| {
            let command = one_line(command);
            format!(" A clean copy is prepared for them with `{command}`; nothing was prepared in this one.")
        });
        let reaches = match self.reaches {
            None => String::new(),
            Some([]) => " Commands that you run reach no other machine: nothing can be downloaded.".to_owned(),
            Some(hosts) => {
                let hosts: Vec<String> = hosts.iter().take(MAX_HOSTS).map(|host| one_line(host)).collect();
                format!(" Commands that you run reach these hosts over HTTPS and no other: {}.", hosts.join(", "))
            }
        };
        prompt.section("Where you are", &format!("{turn} {tests}{setup}{reaches}"));
        if !self.conflicts.is_empty() {
            let body = "Another change was merged meanwhile, and these files conflict with it. They stand in the working \
                        copy with conflict marks. Resolve every one so that both changes keep their meaning:";
            let files = fenced("paths", &list(self.conflicts, MAX_LIST), MAX_ISSUE);
            prompt.section("Conflicts to resolve", &format!("{body}\n\n{files}"));
        }
        prompt.items(
            "Findings of the last turn",
            "The reviewer sent the work back. Deal with each `must_fix` first:",
            self.items,
        );
        let (questions, open) = self.questions;
        questions::to_player(prompt, questions, open);
        for words in self.guidance {
            let body = "A person with the right to decide says this to you, word for word. Where it settles a question, \
                        it is settled:";
            prompt.section("Guidance", &format!("{body}\n\n{}", fenced("guidance", words, MAX_ISSUE)));
        }
    }

    fn design(&self, prompt: &mut Prompt) {
        let Some(design) = self.design else { return };
        let mut text = format!("{}\n", design.plan.trim());
        // Writing to a String cannot fail.
        if !design.pattern.trim().is_empty() {
            let _ = write!(text, "\nPattern: {}\n", design.pattern.trim());
        }
        for finding in &design.findings {
            let _ = write!(text, "\nThe design's own review: {}\n", one_line(finding));
        }
        let body = "A designer looked at the task before you. This is advice: follow it where it holds, and where it does \
                    not, do what is right and say so in the report. The criteria decide, not the design:";
        prompt.section("The design", &format!("{body}\n\n{}", fenced("design", &text, MAX_ISSUE)));
    }

    fn demands(&self, prompt: &mut Prompt) {
        let mut lines = vec![
            "Set-up and tests are run on a clean copy of your work, each criterion's check with them, and the tests as \
             they were before your change against your new code. Tests that you delete, skip, empty or weaken are found \
             by code."
                .to_owned(),
        ];
        let new_tests = matches!(self.task.kind, TaskType::Feature | TaskType::Testing);
        let needs_witness = matches!(self.task.kind, TaskType::Feature | TaskType::Scaffolding);
        if self.demands.red_before_green && needs_witness {
            lines.push(
                "Something must show your change: a new or changed test, or a criterion's check, that fails on the code \
                 before it and passes on yours. Both are run on the code before your change."
                    .to_owned(),
            );
        }
        if !self.task.changes.is_empty() {
            let names = intents(&self.task.changes);
            lines.push(format!("Tests whose behaviour is meant to change: {names}."));
        }
        if !self.task.removes.is_empty() {
            let names = intents(&self.task.removes);
            lines.push(format!("Tests and files that are meant to go: {names}. No others may."));
        }
        if let (Some(percent), true) = (self.demands.coverage, new_tests) {
            lines.push(format!("At least {percent} % of the lines that you change must be covered by tests."));
        }
        if self.demands.ci {
            lines.push("The repository's own CI must pass as well, where it runs.".to_owned());
        }
        let mut body = lines.join("\n");
        if !self.demands.failing_before.is_empty() {
            let failing = fenced("failing tests", &list(self.demands.failing_before, MAX_LIST), MAX_ISSUE);
            let _ = write!(
                body,
                "\n\nThese tests failed before your task began. They are not yours to fix and do not count against you, and \
                 they excuse no new failure:\n\n{failing}"
            );
        }
        prompt.section("What will be checked", &body);
    }

    fn delivered(&self, prompt: &mut Prompt) {
        if self.delivered.is_empty() {
            return;
        }
        let mut lines = String::new();
        for done in self.delivered.iter().take(MAX_DELIVERED) {
            let summary = shorten::middle(&done.summary, MAX_SUMMARY);
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "- {} {}: {}", done.task, one_line(&done.name), summary.replace('\n', " "));
        }
        let body = "These tasks are merged already, in the words of those who built them:";
        let lines = fenced("earlier work", &lines, MAX_DELIVERED * (MAX_SUMMARY + MAX_LIST));
        prompt.section("What earlier tasks delivered", &format!("{body}\n\n{lines}"));
    }
}

fn intents(intents: &[Intent]) -> String {
    let names: Vec<&str> = intents.iter().map(|intent| intent.name.as_str()).collect();
    names.join(", ")
}
