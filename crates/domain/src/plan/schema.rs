//! The JSON Schema of a plan, for agents that write one.

use crate::{
    inquiry,
    plan::{Risk, TaskType, TestEffort},
};
use serde_json::{Value, json};

/// Returns the schema of the planner's answer. It leaves out the keys that AutoBuild computes.
pub fn schema() -> Value {
    let properties = json!({
        "name": { "type": "string", "maxLength": 200 },
        "description": { "type": "string" },
        "tasks": { "type": "array", "items": task() },
        "smoke": {
            "type": "string",
            "description": "A command that shows the merged result of each wave alive; optional."
        },
        "inquiries": inquiry::schema()
    });
    of_answer("Plan", &["tasks"], properties)
}

/// Returns the schema of an agent's answer.
pub(crate) fn of_answer(title: &str, required: &[&str], properties: Value) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "required": required,
        "properties": properties
    })
}

fn task() -> Value {
    json!({
        "type": "object",
        "required": ["id", "name", "type", "acceptance_criteria"],
        "properties": {
            "id": { "type": "string", "pattern": "^TASK-[0-9]{3}$" },
            "name": { "type": "string", "minLength": 1, "maxLength": 200 },
            "type": { "enum": TaskType::ALL },
            "description": { "type": "string" },
            "acceptance_criteria": { "type": "array", "minItems": 1, "items": criterion() },
            "files": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Paths that will probably change; they may be new."
            },
            "changes": {
                "type": "array",
                "items": intent(&["name", "because"]),
                "description": "Tests whose behaviour is meant to change. because is the sentence of the issue that wants it."
            },
            "removes": {
                "type": "array",
                "items": { "anyOf": [{ "type": "string" }, intent(&["name"])] },
                "description": "Tests and paths that are meant to go. because is the sentence of the issue that wants it."
            },
            "factors": factors(),
            "dependencies": { "type": "array", "items": { "type": "string", "pattern": "^TASK-[0-9]{3}$" } }
        }
    })
}

fn intent(required: &[&str]) -> Value {
    let name = "A test's name, a pattern within one file such as path::name*, or a path.";
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "name": { "type": "string", "minLength": 1, "description": name },
            "because": { "type": "string", "minLength": 1 }
        }
    })
}

/// Returns the schemas of these keys of a task, for answers that contain only a part of one.
pub(crate) fn of_task(keys: &[&str]) -> serde_json::Map<String, Value> {
    let task = task();
    let known = task.get("properties").and_then(Value::as_object).into_iter().flatten();
    let wanted = known.filter(|(key, _)| keys.contains(&key.as_str()));
    wanted.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn criterion() -> Value {
    let bound = |key: &str| {
        json!({
            "type": "object",
            "required": [key],
            "properties": { key: { "type": "string", "minLength": 1 } },
            "additionalProperties": false
        })
    };
    json!({
        "type": "object",
        "required": ["text", "check"],
        "properties": {
            "text": { "type": "string", "minLength": 1 },
            "check": { "oneOf": [{ "const": "human" }, bound("test"), bound("command"), bound("file")] }
        }
    })
}

fn factors() -> Value {
    json!({
        "type": "object",
        "properties": {
            "integration_points": { "type": "integer", "minimum": 0, "maximum": 3 },
            "tests": { "enum": TestEffort::ALL },
            "risks": { "type": "array", "items": { "enum": Risk::ALL } }
        }
    })
}
