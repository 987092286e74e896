//! The designer's prompt.

use crate::agents::{
    definition::Definition,
    fence::fenced,
    prompt::{
        InstructionFile, MAX_ISSUE, Prompt, Snapshot,
        parts::{Tests, check_sentence},
    },
};
use domain::{check_boxes::CheckBox, plan::PlannedTask};

#[derive(Clone, Copy, Debug)]
pub struct DesignerInput<'a> {
    pub issue: Snapshot<'a>,
    pub what: ToDesign<'a>,
    /// The texts that people added, newest last.
    pub words: &'a [String],
    pub files: &'a [String],
    pub instructions: &'a [InstructionFile],
    pub tests: Tests<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum ToDesign<'a> {
    Task(&'a PlannedTask),
    /// The whole issue as one task. Its criteria are these check boxes; without any, they must still be written.
    Issue(&'a [CheckBox]),
}

impl DesignerInput<'_> {
    /// Returns the prompt, without the form of the answer.
    pub fn prompt(&self, definition: &Definition) -> Prompt {
        let mut prompt = Prompt::new(&definition.prompt, "your design");
        prompt.issue(self.issue);
        match self.what {
            ToDesign::Task(task) => prompt.task(task),
            ToDesign::Issue(boxes) => criteria(&mut prompt, boxes),
        }
        prompt.end_subject();
        prompt.words(self.words, "change");
        prompt.repository(self.tests, "", self.files);
        prompt.instructions(self.instructions);
        prompt
    }
}

fn criteria(prompt: &mut Prompt, boxes: &[CheckBox]) {
    let one = "The whole issue is one task.";
    if boxes.is_empty() {
        let body = format!(
            "{one} The issue has no check boxes, so `acceptance_criteria` are yours to write. Name in `files` what will \
             probably change, and state `type` and `factors` honestly: they decide how much a person looks at it."
        );
        prompt.section("The criteria", &body);
        return;
    }
    let lines: Vec<String> = (1..)
        .zip(boxes)
        .map(|(number, found): (usize, _)| match &found.check {
            Some(check) => format!("{number}. {} ({})", found.text, check_sentence(check)),
            None => format!("{number}. {} (not bound yet)", found.text),
        })
        .collect();
    let body = format!(
        "{one} Its criteria are the issue's check boxes. Give in `acceptance_criteria` one entry for each that is not \
         bound yet, with exactly its words as `text` and the `check` that shows it:\n\n{}",
        fenced("check boxes", &lines.join("\n"), MAX_ISSUE)
    );
    prompt.section("The criteria", &body);
}
