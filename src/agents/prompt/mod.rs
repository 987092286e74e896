//! What agents are told: who they are, which is the same in every run of a role, and the particulars of the run. Pure; the
//! same input gives the same text. Everything that others wrote stands in fences, and every part has a limit, so that a
//! prompt stays readable whatever the size of an issue, a diff or a log.

mod coach;
mod designer;
mod evidence;
mod parts;
mod planner;
mod player;

pub use coach::CoachInput;
pub use designer::{DesignerInput, ToDesign};
pub use parts::Tests;
pub use planner::PlannerInput;
pub use player::{Delivered, Demands, PlayerInput};

use crate::agents::fence::{fenced, marked, notice};
use domain::{blocked::Cut, feature::SaidBefore};
use serde_json::Value;
use std::fmt::Write;

const MAX_ISSUE: usize = 60_000;
const MAX_LIST: usize = 200;
const MAX_PROBLEM: usize = 2_000;

/// The issue as it was when the Feature started.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its body.
    pub body: &'a str,
    /// What people with write access said below it, newest first.
    pub comments: &'a [SaidBefore],
}

/// A file of the repository that tells agents how to work there, from the default branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its path.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// What an earlier run left to the one that goes on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Changes, in the working copy.
    Changes,
    /// Nothing.
    Nothing,
}

/// What one run of an agent is told.
///
/// [`Prompt::system`] is the role and the same in every run of it, [`Prompt::text`] the particulars. How the answer is
/// asked for depends on the agent's program: it prints JSON ([`Prompt::printed`], or [`Prompt::whole`] for a program that
/// takes one text), or it has a tool for it ([`Prompt::by_tool`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    system: String,
    /// Sections whose fences have no mark yet.
    draft: String,
    answer: &'static str,
}

impl Prompt {
    /// A prompt with nothing particular yet. `answer` is what the role's answer is called, as in "your report".
    pub fn new(system: &str, answer: &'static str) -> Self {
        Self {
            system: system.trim().to_owned(),
            draft: String::new(),
            answer,
        }
    }

    /// Who the agent is and what its rules are.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The particulars of this run, without how to answer.
    pub fn text(&self) -> String {
        self.closed("")
    }

    /// How long it is.
    pub fn chars(&self) -> u64 {
        let count = |text: &str| u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        count(&self.system).saturating_add(count(&self.text()))
    }

    /// The particulars, and that the answer is the JSON object that ends the output.
    pub fn printed(&self, schema: &Value) -> String {
        let schema = serde_json::to_string(schema).unwrap_or_default();
        self.closed(&format!(
            "End your output with {} as one JSON object that fits this JSON Schema, and with nothing after \
             it:\n\n```json\n{schema}\n```",
            self.answer
        ))
    }

    /// The particulars, and that the answer is given with the tool that takes structured output.
    pub fn by_tool(&self) -> String {
        self.closed(&format!(
            "End by giving {} with your tool for structured output, once. Words beside it are not read.",
            self.answer
        ))
    }

    /// Everything as one text, for a program that knows no other form.
    pub fn whole(&self, schema: &Value) -> String {
        format!("{}\n\n---\n\n{}", self.system, self.printed(schema))
    }

    /// The prompt of a second run, after an answer that could not be used.
    pub(crate) fn repaired(&self, problem: &str) -> Self {
        let mut again = self.clone();
        let problem = fenced("problem", problem, MAX_PROBLEM);
        again.section(
            "Your last answer could not be used",
            &format!(
                "You ran before on this very request, and your answer was not accepted:\n\n{problem}\n\nThe files are as \
                 that run left them. Do what is still missing, then answer again in full. There is no third try."
            ),
        );
        again
    }

    /// The prompt of a run that goes on where an earlier one was stopped.
    pub fn continued(&self, cut: Cut, left: Left) -> Self {
        let why = how_it_ended(cut);
        let left = match left {
            Left::Changes => "The working copy holds what it left. Look at that first and go on from there",
            Left::Nothing => "It left no changes",
        };
        let limit = match cut.is_limit() {
            true => {
                " There is no third run: do the most important part first, and report before you meet the limit too."
            }
            false => "",
        };
        let mut next = self.clone();
        next.section(
            "This run goes on from an earlier one",
            &format!("An earlier run of this turn {why}. {left}.{limit} Report on all of the turn's work, not on this run alone."),
        );
        next
    }

    /// The prompt of a run that begins anew after one of an agent that may only read was stopped.
    pub fn begun_anew(&self, cut: Cut) -> Self {
        let why = how_it_ended(cut);
        let limit = if cut.is_limit() { " There is no third run." } else { "" };
        let mut next = self.clone();
        next.section(
            "An earlier run gave no answer",
            &format!("An earlier run {why}. Read less, and answer before the limit.{limit}"),
        );
        next
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

fn how_it_ended(cut: Cut) -> &'static str {
    match cut {
        Cut::Time => "was stopped because its time was up",
        Cut::Silence => "was stopped because it printed nothing for too long",
        Cut::Calls => "was stopped because it had made as many calls of its model as it may",
        Cut::Share => "was stopped because it had used up its share of the budget",
        Cut::Api => "ended because its model's API stopped serving it",
        Cut::Other => "ended before it was done",
    }
}

#[cfg(test)]
mod tests;
