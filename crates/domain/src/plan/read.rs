//! Reads the keys of a plan: names, types, required values and lengths. `check` compares the tasks with each other.

use crate::{
    ids::TaskId,
    plan::{Plan, PlannedTask, TaskType, criterion, value, value::QuoteNeed},
};
use text::{
    fields::{Field, Fields, Reading},
    mistake::{Position, quoted},
    node::Node,
};

/// A plan as written, before its tasks are compared with each other.
pub struct Sketch<'a> {
    /// The plan as read, with its tasks in the order of their ids. A value with a mistake has its default.
    pub plan: Plan,
    /// The tasks, in the written order.
    pub tasks: Vec<TaskSketch<'a>>,
    /// The given values of keys that AutoBuild computes itself.
    pub given: Vec<(&'static str, &'a Node)>,
}

/// A task as written.
pub struct TaskSketch<'a> {
    /// The task as read. A value with a mistake has its default.
    pub task: PlannedTask,
    pub place: Option<Position>,
    pub needs: Vec<(TaskId, Option<Position>)>,
    /// The given values of keys that AutoBuild computes itself.
    pub given: Vec<(&'static str, &'a Node)>,
}

/// Reads the keys of a whole plan.
pub fn sketch<'a>(plan: &'a Node, max_tasks: usize, reading: &'a Reading) -> Option<Sketch<'a>> {
    let mut fields = reading.fields(plan, "a plan", "")?;
    let mut given = read_computed(&mut fields, &["id", "created", "status", "complexity", "estimated_tasks"]);
    if let Some(mut orchestration) = fields.optional("orchestration").and_then(|field| field.map()) {
        given.extend(self::read_computed(&mut orchestration, &["parallel_groups"]));
        orchestration.end();
    }
    let name = fields.optional("name").and_then(|field| value::title(&field));
    let description = description(&mut fields);
    let smoke = fields.optional("smoke").and_then(|field| value::command(&field));
    let tasks = fields.required("tasks").map(|field| tasks(&field, max_tasks));
    fields.end();
    let tasks = tasks.unwrap_or_default();
    let mut planned: Vec<PlannedTask> = tasks.iter().map(|sketch| sketch.task.clone()).collect();
    planned.sort_by_key(|task| task.id);
    let plan = Plan { name: name.unwrap_or_default(), description, tasks: planned, smoke };
    Some(Sketch { plan, tasks, given })
}

/// Returns the given values of keys that AutoBuild computes itself.
fn read_computed<'a>(fields: &mut Fields<'a>, keys: &[&'static str]) -> Vec<(&'static str, &'a Node)> {
    let value = |key: &&'static str| Some((*key, fields.optional(key)?.node));
    keys.iter().filter_map(value).collect()
}

fn tasks<'a>(field: &Field<'a>, max_tasks: usize) -> Vec<TaskSketch<'a>> {
    let before = field.reading.noted();
    let items = field.list();
    if items.is_empty() && field.reading.noted() == before {
        field.refuse("is empty; a plan has at least one task");
    }
    if items.len() > max_tasks {
        let count = items.len();
        field.refuse(&format!("has {count} tasks, and at most {max_tasks} are allowed (max_tasks)"));
        return Vec::new();
    }
    items.iter().filter_map(task).collect()
}

fn task<'a>(item: &Field<'a>) -> Option<TaskSketch<'a>> {
    let id = item.map()?.required("id").and_then(|field| task_id(&field));
    let prefix = id.map_or_else(|| format!("{}.", item.name), |id| format!("{id}: "));
    let mut fields = item.reading.fields(item.node, &item.name, &prefix)?;
    let given = read_computed(&mut fields, &["complexity", "status"]);
    let _known = fields.optional("id");
    let name = fields.required("name").and_then(|field| value::name(&field));
    let kind = fields.required("type").and_then(|field| field.word(&TaskType::ALL));
    let description = description(&mut fields);
    let criteria = fields.required("acceptance_criteria");
    let criteria = criteria.map(|field| criterion::criteria(&field, &prefix));
    let files = fields.optional("files").map(|field| value::files(&field));
    let changes = fields.optional("changes").map(|field| value::intents(&field, QuoteNeed::Required));
    let removes = fields.optional("removes").map(|field| value::intents(&field, QuoteNeed::Optional));
    let factors = value::factors(&mut fields);
    let needs = fields.optional("dependencies").map(|field| needs(&field));
    let needs = needs.unwrap_or_default();
    fields.end();
    let task = PlannedTask {
        id: id?,
        name: name.unwrap_or_default(),
        kind: kind.unwrap_or(TaskType::Feature),
        description,
        acceptance_criteria: criteria.unwrap_or_default(),
        files: files.unwrap_or_default(),
        changes: changes.unwrap_or_default(),
        removes: removes.unwrap_or_default(),
        factors,
        dependencies: needs.iter().map(|(id, _)| *id).collect(),
    };
    Some(TaskSketch { task, place: item.node.place, needs, given })
}

/// Reads the id of a planned task. Ids of tasks that AutoBuild adds are not allowed.
fn task_id(field: &Field<'_>) -> Option<TaskId> {
    let text = field.text()?;
    if let Ok(id @ TaskId::Planned(_)) = text.parse() {
        return Some(id);
    }
    let rule = "which is not a task id; task ids are TASK-001 to TASK-999";
    field.refuse(&format!("is {}, {rule}", quoted(&text)));
    None
}

fn needs(field: &Field<'_>) -> Vec<(TaskId, Option<Position>)> {
    let mut needs: Vec<(TaskId, Option<Position>)> = Vec::new();
    for item in field.list() {
        if let Some(id) = task_id(&item)
            && !needs.iter().any(|(known, _)| *known == id)
        {
            needs.push((id, item.node.place));
        }
    }
    needs
}

fn description(fields: &mut Fields<'_>) -> String {
    let found = fields.optional("description");
    found.and_then(|field| value::free_text(&field)).unwrap_or_default()
}
