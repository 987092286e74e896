//! Turns a text or an agent's answer into a plan that keeps every rule of the product.

use crate::plan::{Plan, note, note::PlanNote, read, relations, yaml, yaml::PlanHeader};
use serde::{Deserialize, Serialize};
use text::{
    fields::{Reading, UnknownKey},
    mistake::{Mistakes, quoted},
    node::Node,
};

/// The most bytes of YAML that are read.
const MAX_BYTES: usize = 1 << 20;

/// The most characters of a plan's YAML.
pub const MOST_CHARACTERS: usize = 40_000;

/// The surroundings that a plan is checked against.
pub struct PlanContext<'a> {
    /// The most tasks that the repository's settings allow.
    pub max_tasks: usize,
    /// AutoBuild's own values. Given values that differ are noted.
    pub header: &'a PlanHeader,
    /// `true` if the base commit has a file of this path.
    pub file_exists: &'a (dyn Fn(&str) -> bool + Sync),
    /// The pattern of the settings that protects a path, if one does.
    pub protecting: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// The issue and the additions of maintainers. An agent's reasons to change or remove tests must quote it.
    pub words: &'a [&'a str],
}

/// A valid plan with notes on the differences from the given form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedPlan {
    /// The plan, with its tasks in the order of their ids.
    pub plan: Plan,
    /// Notes on the parts that were replaced, ordered or ignored.
    pub notes: Vec<PlanNote>,
}

/// The author of a plan. An unknown key is a mistake of a person, but is ignored in an agent's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAuthor {
    /// A person, who wrote it as YAML or as check boxes.
    Person,
    /// The planner or the designer, whose answer has a JSON Schema.
    Agent,
}

impl Plan {
    /// Checks a plan that a person wrote; an unknown key is a mistake.
    pub fn parse_yaml(text: &str, context: &PlanContext<'_>) -> Result<CheckedPlan, Mistakes> {
        let characters = text.chars().count();
        if characters > MOST_CHARACTERS {
            let sentence = format!("the plan has {characters} characters, and at most {MOST_CHARACTERS} are read");
            return Err(Mistakes::one(sentence, None));
        }
        let node = Node::from_yaml(text, MAX_BYTES)
            .map_err(|wrong| Mistakes::one(format!("this YAML cannot be read: {}", wrong.sentence), wrong.place))?;
        checked(&node, context, PlanAuthor::Person)
    }

    /// Checks a plan that an agent answered; an unknown key is ignored and noted.
    pub fn from_json(answer: &serde_json::Value, context: &PlanContext<'_>) -> Result<CheckedPlan, Mistakes> {
        checked(&Node::from_json(answer), context, PlanAuthor::Agent)
    }
}

fn checked(node: &Node, context: &PlanContext<'_>, author: PlanAuthor) -> Result<CheckedPlan, Mistakes> {
    let reading = Reading::default();
    let sketch = read::sketch(node, context.max_tasks, &reading);
    let tasks = sketch.as_ref().map_or(&[][..], |sketch| &sketch.tasks);
    let mut between = Mistakes::default();
    relations::check_relations(tasks, context.file_exists, &mut between);
    relations::check_protected_files(tasks, context.protecting, context.file_exists, &mut between);
    if let PlanAuthor::Agent = author {
        relations::check_quotes(tasks, context.words, &mut between);
    }
    let found = sketch.filter(|_| reading.noted() == 0 && between.0.is_empty());
    let found = found.map(|sketch| (note::notes(&sketch, context.header), sketch.plan));
    let (mut mistakes, unknown) = reading.end();
    let ignored = unknown_keys(&unknown, author, &mut mistakes);
    mistakes.0.append(&mut between.0);
    let Some((notes, plan)) = found.filter(|_| mistakes.0.is_empty()) else {
        return Err(mistakes);
    };
    let characters = yaml::plan_yaml(&plan, context.header).chars().count();
    if characters > MOST_CHARACTERS {
        let sentence =
            format!("the plan, written out, has {characters} characters, and at most {MOST_CHARACTERS} are allowed");
        return Err(Mistakes::one(sentence, None));
    }
    let notes = notes.into_iter().chain(ignored).collect();
    Ok(CheckedPlan { plan, notes })
}

fn unknown_keys(unknown: &[UnknownKey], author: PlanAuthor, mistakes: &mut Mistakes) -> Vec<PlanNote> {
    match author {
        PlanAuthor::Person => {
            for key in unknown {
                let sentence = format!("unknown key {}; known here are {}", quoted(&key.name), key.known);
                mistakes.add(sentence, key.place);
            }
            Vec::new()
        }
        PlanAuthor::Agent => {
            let note = |key: &UnknownKey| PlanNote::Ignored { key: quoted(&key.name) };
            unknown.iter().take(20).map(note).collect()
        }
    }
}
