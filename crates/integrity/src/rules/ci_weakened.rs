//! The repository's CI, or what its coverage service asks for, changes. Whether it asks for less is for a reader to say.

use crate::{
    change::FileContent,
    changed_file::Reading,
    language::file_name,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_first_change},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::CiWeakened,
    applies: ANYWHERE,
    check,
};

const FOLDERS: &str = "
    .github/workflows/ .github/actions/ .circleci/ .buildkite/ .gitlab/ .semaphore/ .teamcity/ .azure-pipelines/
    .woodpecker/ .forgejo/workflows/ .gitea/workflows/
";
/// The beginnings of the names of CI files at the root.
const FILES: &str = "
    .gitlab-ci azure-pipelines jenkinsfile .travis .drone .woodpecker bitbucket-pipelines appveyor .appveyor
    .cirrus codefresh cloudbuild buildspec .build.y codecov.y .codecov.y
";

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = reading.change.files.iter();
    let existing = files.filter(|file| is_ci(&file.path) && file.before != FileContent::Absent);
    existing.map(at_first_change).collect()
}

fn is_ci(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    FOLDERS.split_whitespace().any(|folder| path.starts_with(folder))
        || !path.contains('/') && FILES.split_whitespace().any(|start| name.starts_with(start))
}
