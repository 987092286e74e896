//! Decides which files are CI, and which are scripts.

use crate::{language::file_name, words::is_one_of};

const CI_FOLDERS: &str = "
    .github/workflows/ .github/actions/ .circleci/ .buildkite/ .gitlab/ .semaphore/ .teamcity/ .azure-pipelines/
    .woodpecker/ .forgejo/workflows/ .gitea/workflows/
";
/// The beginnings of the names of CI files at the root.
const CI_FILES: &str = "
    .gitlab-ci azure-pipelines jenkinsfile .travis .drone .woodpecker bitbucket-pipelines appveyor .appveyor
    .cirrus codefresh cloudbuild buildspec .build.y
";
const SCRIPTS: &str = "
    Makefile makefile GNUmakefile justfile Justfile Taskfile.yml Taskfile.yaml Rakefile noxfile.py tasks.py
    run-tests run_tests package-scripts.js lefthook.yml
";

/// `true` if a file defines what CI runs.
pub(super) fn is_ci(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    CI_FOLDERS.split_whitespace().any(|folder| path.starts_with(folder))
        || !path.contains('/') && CI_FILES.split_whitespace().any(|start| name.starts_with(start))
}

/// `true` if a file is a script or make file that people run.
pub(super) fn is_script(path: &str) -> bool {
    let name = file_name(path);
    let ends = [".mk", ".sh", ".bash", ".ps1", ".cmd", ".bat"];
    is_one_of(SCRIPTS, name) || ends.iter().any(|end| name.ends_with(end))
}
