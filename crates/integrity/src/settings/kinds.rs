//! Decides which files are CI, and which are scripts.

use crate::language::file_name;

/// `true` if a file defines what CI runs.
pub(super) fn is_ci(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    let folders = [
        ".github/workflows/",
        ".github/actions/",
        ".circleci/",
        ".buildkite/",
        ".gitlab/",
        ".semaphore/",
        ".teamcity/",
        ".azure-pipelines/",
        ".woodpecker/",
        ".forgejo/workflows/",
        ".gitea/workflows/",
    ];
    let starts = [
        ".gitlab-ci",
        "azure-pipelines",
        "jenkinsfile",
        ".travis",
        ".drone",
        ".woodpecker",
        "bitbucket-pipelines",
        "appveyor",
        ".appveyor",
        ".cirrus",
        "codefresh",
        "cloudbuild",
        "buildspec",
        ".build.y",
    ];
    folders.iter().any(|folder| path.starts_with(folder))
        || !path.contains('/') && starts.iter().any(|start| name.starts_with(start))
}

/// `true` if a file is a script or make file that people run.
pub(super) fn is_script(path: &str) -> bool {
    let name = file_name(path);
    let named = [
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
        "Taskfile.yml",
        "Taskfile.yaml",
        "Rakefile",
        "noxfile.py",
        "tasks.py",
        "run-tests",
        "run_tests",
        "package-scripts.js",
        "lefthook.yml",
    ];
    named.contains(&name)
        || [".mk", ".sh", ".bash", ".ps1", ".cmd", ".bat"]
            .iter()
            .any(|end| name.ends_with(end))
}
