//! Detects meson projects.

use crate::detect::repository::{Detection, Repository, build_folder};

pub(super) const FILES: &[&str] = &["meson.build"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    // `meson test` builds changed files before it runs the tests. Only the root's file declares a project.
    let is_project = repository.text(file)?.contains("project(");
    let folder = build_folder(repository);
    let test = format!("meson test --print-errorlogs -C {folder}");
    is_project.then(|| Detection::new(format!("meson setup {folder}"), test, file))
}
