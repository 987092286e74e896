//! The prompts of agents: a part about the role, the same in every run, and the details of the run. Pure: the same
//! input gives the same text. All texts of other people are fenced, and every part has a limit, so that a prompt stays
//! readable for an issue, a diff or a log of any size.

mod coach;
mod designer;
mod evidence;
mod inquiry;
mod parts;
mod planner;
mod player;
mod questions;

pub use coach::CoachInput;
pub use designer::{DesignerInput, ToDesign};
pub use parts::Tests;
pub use planner::PlannerInput;
pub use player::{GateRequirements, MergedTask, PlayerInput};

/// The mistake of a second request for commands.
pub const SECOND_PROBE: &str =
    "`decision: probe` may be answered once in a turn, and it was: answer `approve` or `feedback`";

/// The mistake of asking instead of designing when nobody will answer.
pub const NO_DESIGN: &str = "plan is empty, and nobody answers questions: take your own defaults";

use crate::{
    agents::fence::{fenced, marked, notice},
    messages,
};
use domain::{blocked::StopReason, contract::Missing, feature::EarlierComment, question::Question};
use serde_json::Value;
use std::fmt::Write;

const MAX_ISSUE: usize = 60_000;
const MAX_LIST: usize = 200;
const MAX_PROBLEM: usize = 2_000;
const MAX_OUTPUT: usize = 20_000;

/// The issue as it was when the Feature started.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    pub title: &'a str,
    pub body: &'a str,
    /// The comments below it by people with write access, newest first.
    pub comments: &'a [EarlierComment],
}

/// A file of the repository's default branch with instructions for agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    pub path: String,
    pub text: String,
}

/// The leftovers of an earlier run for the one that continues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// Changes in the working copy.
    Changes,
    Nothing,
}

/// The prompt for one run of an agent.
///
/// `system` is about the role and is the same in every run; [`Prompt::text`] has the details. How the answer is
/// requested depends on the agent's program. It prints JSON ([`Prompt::printed`], or [`Prompt::whole`] for a program that
/// takes one text), or it has a tool for it ([`Prompt::by_tool`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub(crate) system: String,
    /// The sections, whose fences have no mark yet.
    draft: String,
    /// The length of the part of `draft` that describes the work: the issue, and the task.
    subject: usize,
    answer: &'static str,
}

impl Prompt {
    /// Makes a prompt without details. `answer` is the name of the role's answer, such as "your report".
    pub fn new(system: &str, answer: &'static str) -> Self {
        Self { system: system.trim().to_owned(), draft: String::new(), subject: 0, answer }
    }

    /// Returns the details of this run, without the form of the answer.
    pub fn text(&self) -> String {
        self.closed("")
    }

    /// Returns the length in characters.
    pub fn chars(&self) -> u64 {
        let count = |text: &str| u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        count(&self.system).saturating_add(count(&self.text()))
    }

    /// Returns the details, with the request to end the output with a JSON object as the answer.
    pub fn printed(&self, schema: &Value) -> String {
        let schema = serde_json::to_string(schema).unwrap_or_default();
        self.closed(&format!(
            "End your output with {} as one JSON object that fits this JSON Schema, and with nothing after \
             it:\n\n```json\n{schema}\n```",
            self.answer
        ))
    }

    /// Returns the details, with the request to answer with the tool for structured output.
    pub fn by_tool(&self) -> String {
        self.closed(&format!(
            "End by giving {} with your tool for structured output, once. Words beside it are not read.",
            self.answer
        ))
    }

    /// Returns everything as one text, for a program that takes only one.
    pub fn whole(&self, schema: &Value) -> String {
        format!("{}\n\n---\n\n{}", self.system, self.printed(schema))
    }

    /// Returns the prompt of a second run, after an unusable answer.
    pub(crate) fn repaired(&self, problem: &str) -> Self {
        let mut again = self.clone();
        let problem = fenced("problem", problem, MAX_PROBLEM);
        again.section(
            "Your last answer could not be used",
            &format!(
                "You ran before on this very request, and your answer was not accepted:\n\n{problem}\n\nThe files are as \
                 that run left them. Do what is still missing, then answer again in full. An answer that does not fit ends this run."
            ),
        );
        again
    }

    /// Returns the part of the prompt that describes the work.
    fn subject(&self) -> Self {
        Self { draft: self.draft.get(..self.subject).unwrap_or_default().to_owned(), ..self.clone() }
    }

    /// Returns the prompt that asks only for the answer of a run that has ended, not for more work.
    pub(crate) fn answer_alone(&self, problem: &str, words: &str) -> Self {
        let mut again = self.subject();
        let problem = fenced("problem", problem, MAX_PROBLEM);
        let words = if words.is_empty() {
            "You printed nothing.".to_owned()
        } else {
            format!("This is what you printed:\n\n{}", fenced("output", words, MAX_OUTPUT))
        };
        again.section(
            "Only your answer is missing",
            &format!(
                "You worked on this before, and that work is over: do none of it again. Its files are as you left them. Your \
                 answer could not be used:\n\n{problem}\n\n{words}\n\nGive the answer to that work now, in full. Look at the \
                 files only if something in it is open. An answer that does not fit ends this run."
            ),
        );
        again
    }

    /// Returns the prompt that asks a Coach for the evidence and the answers that its approval lacks, and for no new
    /// review.
    pub fn supplement_alone(&self, decision: &str, missing: &Missing, questions: &[Question]) -> Self {
        let mut again = Self { answer: "what is missing", ..self.subject() };
        let decision = fenced("decision", decision, MAX_OUTPUT);
        let mut body = format!(
            "You reviewed this work and approved it, with this decision:\n\n{decision}\n\nIt does not hold yet. Do not \
             review the rest again."
        );
        if !missing.criteria.is_empty() {
            let lacking: Vec<String> = missing.criteria.iter().map(messages::criterion_of_decision).collect();
            let lacking = fenced("criteria", &lacking.join("\n"), MAX_OUTPUT);
            // Writing to a String cannot fail.
            let _ = write!(
                body,
                "\n\nNothing shows these criteria:\n\n{lacking}\n\nName for each of them, in `criteria`, a file, a test \
                 that passed, or a command that was run, on this very commit and spelled as it is there. If you find none, \
                 the criterion is not met."
            );
        }
        if !missing.answers.is_empty() {
            let open = questions::open(questions, &missing.answers);
            let _ = write!(
                body,
                "\n\nThese questions have no answer that holds. Answer each in `answers`, by its number. `fine` needs a \
                 sentence in `because` and a `quote` that stands word for word in the issue, the task, its criteria or what \
                 people said. If you find no such words, it is `not_fine`.\n\n{open}"
            );
        }
        again.section("Only this is missing", &body);
        again
    }

    /// Returns the prompt of a run that continues an earlier one that was stopped.
    pub fn continued(&self, cut: StopReason, left: Leftovers) -> Self {
        let why = how_it_ended(cut);
        let left = match left {
            Leftovers::Changes => "The working copy holds what it left. Look at that first and go on from there",
            Leftovers::Nothing => "It left no changes",
        };
        let limit = if cut.is_limit() {
            " There is no third run: do the most important part first, and report before you meet the limit too."
        } else {
            ""
        };
        let mut next = self.clone();
        next.section(
            "This run goes on from an earlier one",
            &format!("An earlier run of this turn {why}. {left}.{limit} Report on all of the turn's work, not on this run alone."),
        );
        next
    }

    /// Returns the prompt for a new run of an agent that only reads, after an earlier run was stopped.
    pub fn begun_anew(&self, cut: StopReason) -> Self {
        let why = how_it_ended(cut);
        let limit = if cut.is_limit() { " There is no third run." } else { "" };
        let mut next = self.clone();
        next.section(
            "An earlier run gave no answer",
            &format!("An earlier run {why}. Read less, and answer before the limit.{limit}"),
        );
        next
    }

    /// Ends the part that describes the work.
    fn end_subject(&mut self) {
        self.subject = self.draft.len();
    }

    fn section(&mut self, heading: &str, body: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.draft, "\n# {heading}\n\n{}\n", body.trim_end());
    }

    fn closed(&self, closing: &str) -> String {
        let mut draft = format!("{}\n{}", notice(), self.draft);
        if !closing.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(draft, "\n# Your answer\n\n{closing}\n");
        }
        marked(&draft)
    }
}

fn how_it_ended(cut: StopReason) -> &'static str {
    match cut {
        StopReason::Time => "was stopped because its time was up",
        StopReason::Silence => "was stopped because it printed nothing for too long",
        StopReason::Calls => "was stopped because it had made as many calls of its model as it may",
        StopReason::Share => "was stopped because it had used up its share of the budget",
        StopReason::Api => "ended because its model's API stopped serving it",
        StopReason::Other => "ended before it was done",
    }
}

#[cfg(test)]
mod tests;
