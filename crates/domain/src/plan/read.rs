//! Reads a plan's keys: names, types, required values and lengths. What tasks say of each other is checked in `check`.

use crate::{
    fields::{Field, Fields},
    ids::TaskId,
    mistake::{Mistakes, Place, quoted},
    node::Node,
    plan::{PlannedTask, TaskType, criterion, value},
};

/// A plan as written, before its tasks are compared with each other.
pub struct Sketch<'a> {
    /// Name of the Feature; empty if there was none.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its smoke command.
    pub smoke: Option<String>,
    /// The tasks, in the order written.
    pub tasks: Vec<TaskSketch<'a>>,
    /// Values of keys that are AutoBuild's, by key, as far as given.
    pub given: Vec<(&'static str, &'a Node)>,
    /// Keys that no rule knows, with their places.
    pub unknown: Vec<(String, Option<Place>)>,
}

/// A task as written.
pub struct TaskSketch<'a> {
    /// What was read; mistakes leave defaults behind.
    pub task: PlannedTask,
    /// Where it starts.
    pub place: Option<Place>,
    /// Its dependencies with their places.
    pub needs: Vec<(TaskId, Option<Place>)>,
    /// Its values of keys that are AutoBuild's.
    pub given: Vec<(&'static str, &'a Node)>,
}

/// Reads the keys of a whole plan.
pub fn sketch<'a>(plan: &'a Node, max_tasks: usize, mistakes: &mut Mistakes) -> Option<Sketch<'a>> {
    let mut fields = Fields::of(plan, "a plan", "", mistakes)?;
    let mut given = Vec::new();
    for key in ["id", "created", "status", "complexity", "estimated_tasks"] {
        given.extend(fields.optional(key).map(|field| (key, field.node)));
    }
    let mut unknown = Vec::new();
    if let Some(mut orchestration) = fields.optional("orchestration").and_then(|field| field.map(mistakes)) {
        given.extend(
            orchestration
                .optional("parallel_groups")
                .map(|field| ("parallel_groups", field.node)),
        );
        keep_unknown(&orchestration, &mut unknown);
    }
    let name = fields
        .optional("name")
        .and_then(|field| value::name(&field, mistakes))
        .unwrap_or_default();
    let description = description(&mut fields, mistakes);
    let smoke = fields
        .optional("smoke")
        .and_then(|field| value::command(&field, mistakes));
    let tasks = match fields.required("tasks", mistakes) {
        Some(field) => tasks(&field, max_tasks, &mut unknown, mistakes),
        None => Vec::new(),
    };
    keep_unknown(&fields, &mut unknown);
    Some(Sketch {
        name,
        description,
        smoke,
        tasks,
        given,
        unknown,
    })
}

/// Notes the keys that no rule knows, once every known key was asked for.
pub fn keep_unknown(fields: &Fields<'_>, unknown: &mut Vec<(String, Option<Place>)>) {
    for (name, key) in fields.unknown() {
        unknown.push((
            format!("{}; known here are {}", quoted(&name), fields.known()),
            key.place,
        ));
    }
}

fn tasks<'a>(
    field: &Field<'a>,
    max_tasks: usize,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Vec<TaskSketch<'a>> {
    let before = mistakes.0.len();
    let items = field.list(mistakes);
    if items.is_empty() && mistakes.0.len() == before {
        field.refuse("is empty; a plan has at least one task", mistakes);
    }
    if items.len() > max_tasks {
        field.refuse(
            &format!(
                "has {} tasks, and at most {max_tasks} are allowed (max_tasks)",
                items.len()
            ),
            mistakes,
        );
        return Vec::new();
    }
    items.iter().filter_map(|item| task(item, unknown, mistakes)).collect()
}

fn task<'a>(
    item: &Field<'a>,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Option<TaskSketch<'a>> {
    let id = Fields::of(item.node, &item.name, &format!("{}.", item.name), mistakes)?
        .required("id", mistakes)
        .and_then(|field| task_id(&field, mistakes));
    let prefix = id.map_or_else(|| format!("{}.", item.name), |id| format!("{id}: "));
    let mut fields = Fields::of(item.node, &item.name, &prefix, mistakes)?;
    let mut given = Vec::new();
    for key in ["complexity", "status"] {
        given.extend(fields.optional(key).map(|field| (key, field.node)));
    }
    let _known = fields.optional("id");
    let name = fields
        .required("name", mistakes)
        .and_then(|field| value::name(&field, mistakes));
    let kind = fields.required("type", mistakes);
    let kind = kind.and_then(|field| field.word(&KINDS, mistakes));
    let description = description(&mut fields, mistakes);
    let acceptance_criteria = match fields.required("acceptance_criteria", mistakes) {
        Some(field) => criterion::criteria(&field, &prefix, unknown, mistakes),
        None => Vec::new(),
    };
    let mut list = |key, read: fn(&Field<'_>, &mut Mistakes) -> Vec<String>| {
        fields
            .optional(key)
            .map(|field| read(&field, mistakes))
            .unwrap_or_default()
    };
    let (files, removes) = (list("files", value::files), list("removes", value::removed));
    let factors = value::factors(&mut fields, unknown, mistakes);
    let needs = fields
        .optional("dependencies")
        .map(|field| needs(&field, mistakes))
        .unwrap_or_default();
    keep_unknown(&fields, unknown);
    let task = PlannedTask {
        id: id?,
        name: name.unwrap_or_default(),
        kind: kind.unwrap_or(TaskType::Feature),
        description,
        acceptance_criteria,
        files,
        removes,
        factors,
        dependencies: needs.iter().map(|(id, _)| *id).collect(),
    };
    Some(TaskSketch {
        task,
        place: item.node.place,
        needs,
        given,
    })
}

const KINDS: [(&str, TaskType); 5] = [
    ("scaffolding", TaskType::Scaffolding),
    ("feature", TaskType::Feature),
    ("refactoring", TaskType::Refactoring),
    ("testing", TaskType::Testing),
    ("documentation", TaskType::Documentation),
];

/// The id of a planned task; the ids of tasks that AutoBuild adds may not be used.
fn task_id(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<TaskId> {
    let text = field.text(mistakes)?;
    match text.parse() {
        Ok(id @ TaskId::Planned(_)) => Some(id),
        Ok(TaskId::Sync(_) | TaskId::Fix(_) | TaskId::Review(_)) | Err(_) => {
            let rule = format!(
                "is {}, which is not a task id; task ids are TASK-001 to TASK-999",
                quoted(&text)
            );
            field.refuse(&rule, mistakes);
            None
        }
    }
}

fn needs(field: &Field<'_>, mistakes: &mut Mistakes) -> Vec<(TaskId, Option<Place>)> {
    let mut needs: Vec<(TaskId, Option<Place>)> = Vec::new();
    for item in field.list(mistakes) {
        if let Some(id) = task_id(&item, mistakes)
            && !needs.iter().any(|(known, _)| *known == id)
        {
            needs.push((id, item.node.place));
        }
    }
    needs
}

fn description(fields: &mut Fields<'_>, mistakes: &mut Mistakes) -> String {
    fields
        .optional("description")
        .and_then(|field| value::free_text(&field, mistakes))
        .unwrap_or_default()
}
