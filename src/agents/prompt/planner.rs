//! The planner's prompt.

use crate::agents::{
    definition::Definition,
    fence::fenced,
    prompt::{
        InstructionFile, MAX_ISSUE, Prompt, Snapshot,
        parts::{Tests, listed},
    },
};

const MAX_FILES: usize = 1_500;
const MAX_FILES_TEXT: usize = 60_000;
const MAX_REFUSAL: usize = 8_000;

/// The input for the planner's prompt.
#[derive(Clone, Copy, Debug)]
pub struct PlannerInput<'a> {
    /// The issue.
    pub issue: Snapshot<'a>,
    /// The texts that people added with `/autobuild plan`, newest last.
    pub words: &'a [String],
    /// All paths of the repository.
    pub files: &'a [String],
    /// The repository's instruction files.
    pub instructions: &'a [InstructionFile],
    /// How to run its tests.
    pub tests: Tests<'a>,
    /// The most tasks that the plan may have.
    pub max_tasks: u32,
    /// Why the last plan was refused.
    pub refusal: Option<&'a str>,
}

impl PlannerInput<'_> {
    /// Returns the prompt, without how to answer.
    pub fn prompt(&self, definition: &Definition) -> Prompt {
        let mut prompt = Prompt::new(&definition.prompt, "the plan");
        prompt.issue(self.issue);
        for words in self.words {
            let body = "A person with the right to decide adds this. Follow it where it shapes the plan:";
            prompt.section(
                "What a maintainer added",
                &format!("{body}\n\n{}", fenced("words", words, MAX_ISSUE)),
            );
        }
        let files = fenced("paths", &listed(self.files, MAX_FILES), MAX_FILES_TEXT);
        let known = self.tests.sentence("Its");
        let limit = format!("The plan may have at most {} tasks.", self.max_tasks);
        prompt.section("The repository", &format!("{known} {limit} Its files:\n\n{files}"));
        prompt.instructions(self.instructions);
        if let Some(refusal) = self.refusal {
            let body = "Your last plan for this issue was refused. Fix exactly this and answer with the whole plan:";
            let refusal = fenced("refusal", refusal, MAX_REFUSAL);
            prompt.section("Why the last plan was refused", &format!("{body}\n\n{refusal}"));
        }
        prompt
    }
}
