//! The Coach's prompt.

use crate::{
    agents::{
        definition::Definition,
        fence::fenced,
        prompt::{InstructionFile, Prompt, Snapshot, evidence, parts::list, questions},
    },
    messages,
};
use domain::{
    decision::Probing,
    evidence::GateReport,
    ids::TurnNumber,
    plan::PlannedTask,
    problem::ReviewItem,
    question::Question,
    report::{Discrepancy, PlayerReport},
};

const MAX_DIFF: usize = 150_000;
const MAX_OUTPUT: usize = 8_000;
const MAX_CLAIMS: usize = 12_000;
const MAX_DISCREPANCIES: usize = 50;
const MAX_REMARKS: usize = 20;

#[derive(Clone, Copy, Debug)]
pub struct CoachInput<'a> {
    pub issue: Snapshot<'a>,
    pub task: &'a PlannedTask,
    pub turn: TurnNumber,
    /// The whole change of the task, as a diff against the branch it will be merged into.
    pub diff: &'a str,
    pub gates: &'a GateReport,
    /// The Player's report; `None` if a person pushed the commit.
    pub report: Option<&'a PlayerReport>,
    /// The claims that the files or the Gates contradict.
    pub discrepancies: &'a [Discrepancy],
    /// The findings that the last verdict asked the Player to fix.
    pub previous: &'a [ReviewItem],
    /// The questions of the last turn, which the Player may have answered in its report.
    pub previous_questions: &'a [Question],
    /// The words of people with the right to decide, after the issue, oldest first.
    pub people: &'a [String],
    /// The remarks of people without the right to decide, word for word.
    pub remarks: &'a [String],
    pub instructions: &'a [InstructionFile],
    /// Its right to ask for commands.
    pub probing: Probing,
}

impl CoachInput<'_> {
    /// Returns the prompt, without the form of the answer.
    pub fn prompt(&self, definition: &Definition) -> Prompt {
        let mut prompt = Prompt::new(&definition.prompt, "your decision");
        prompt.issue(self.issue);
        prompt.task(self.task);
        questions::people(&mut prompt, self.people);
        let body = format!("This is turn {} of the task. The change as a whole:", self.turn);
        prompt.section("The change", &format!("{body}\n\n{}", fenced("diff", self.diff, MAX_DIFF)));
        evidence::gates(&mut prompt, self.gates, &self.task.acceptance_criteria);
        self.claims(&mut prompt);
        prompt.items(
            "Findings of the last turn",
            "The last verdict asked for this. See whether each is dealt with at its cause:",
            self.previous,
        );
        for remark in self.remarks.iter().take(MAX_REMARKS) {
            let body = "Somebody without the right to decide remarked on this pull request. Weigh it as a hint:";
            prompt.section("A remark", &format!("{body}\n\n{}", fenced("remark", remark, MAX_OUTPUT)));
        }
        let claims = self.report.map(|report| report.answers.as_slice()).unwrap_or_default();
        let claims = questions::with_questions(self.previous_questions, claims);
        questions::to_coach(&mut prompt, &self.gates.questions, &claims);
        prompt.instructions(self.instructions);
        evidence::probes(&mut prompt, self.gates, self.probing);
        prompt
    }

    fn claims(&self, prompt: &mut Prompt) {
        match self.report {
            None => prompt.section("What the author claims", "Nothing: a person pushed this commit."),
            Some(report) => {
                let claims = serde_json::to_string_pretty(report).unwrap_or_default();
                let body = "Claims only, none of them checked except where a discrepancy is named below:";
                let claims = fenced("claims", &claims, MAX_CLAIMS);
                prompt.section("What the author claims", &format!("{body}\n\n{claims}"));
            }
        }
        if self.discrepancies.is_empty() {
            return;
        }
        let shown = |found: &Discrepancy| {
            let (claim, fact) = (messages::claim(found), messages::contradiction(found));
            format!("claimed: {claim}; in fact: {fact}")
        };
        let found: Vec<String> = self.discrepancies.iter().map(shown).collect();
        let found = fenced("discrepancies", &list(&found, MAX_DISCREPANCIES), MAX_CLAIMS);
        let body = "These claims are contradicted by the files or by the test run:";
        prompt.section("Discrepancies", &format!("{body}\n\n{found}"));
    }
}
