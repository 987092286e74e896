//! The planner's prompt.

use crate::agents::{
    definition::Definition,
    prompt::{InstructionFile, MAX_LIST, Prompt, Snapshot, parts::Tests},
};

#[derive(Clone, Copy, Debug)]
pub struct PlannerInput<'a> {
    pub issue: Snapshot<'a>,
    /// The texts that people added with `/autobuild plan`, newest last.
    pub words: &'a [String],
    pub files: &'a [String],
    pub instructions: &'a [InstructionFile],
    pub tests: Tests<'a>,
    /// The most tasks that the plan may have.
    pub max_tasks: u32,
    /// The patterns of paths that no Player may change.
    pub protected: &'a [String],
}

impl PlannerInput<'_> {
    /// Returns the prompt, without the form of the answer.
    pub fn prompt(&self, definition: &Definition) -> Prompt {
        let mut prompt = Prompt::new(&definition.prompt, "the plan");
        prompt.issue(self.issue);
        prompt.words(self.words, "plan");
        let patterns: Vec<String> = self.protected.iter().take(MAX_LIST).map(|it| format!("`{it}`")).collect();
        let limit = format!(
            " The plan may have at most {} tasks. No Player may change what these patterns protect, so a plan that names it \
             in `files` is refused: {}.",
            self.max_tasks,
            patterns.join(", ")
        );
        prompt.repository(self.tests, &limit, self.files);
        prompt.instructions(self.instructions);
        prompt
    }
}
