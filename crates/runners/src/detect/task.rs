//! Detects a task for tests in a Taskfile.

use crate::detect::repository::{Detection, Repository};
use serde_json::Value;

pub(super) const FILES: &[&str] =
    &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let tasks: Value = serde_saphyr::from_str(&repository.text(file)?).ok()?;
    tasks.pointer("/tasks/test")?;
    Some(Detection::new("", "task test", format!("the task test in {file}")))
}
