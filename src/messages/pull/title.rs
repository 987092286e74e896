//! Titles of pull requests and subjects of commits, in the form that the repository's settings give.

use crate::messages::form::words::feature_name;
use domain::{
    feature::Feature,
    task::Task,
    titles::{TitleValues, commit_type},
};

pub(crate) fn of_task(feature: &Feature, task: &Task) -> String {
    filled(feature, commit_type(task.plan.kind), &task.id.to_string(), &task.plan.name)
}

/// Returns the title of a Feature. Its type is the one that all its tasks share, or else that of a new feature.
pub(crate) fn of_feature(feature: &Feature) -> String {
    let mut kinds = feature.tasks.iter().map(|task| commit_type(task.plan.kind));
    let first = kinds.next().unwrap_or("feat");
    let kind = if kinds.all(|kind| kind == first) { first } else { "feat" };
    filled(feature, kind, &feature.key.name(), feature_name(feature))
}

/// Returns the subject of a commit of AutoBuild's own. If titles begin with a type, it has one too, since checks read
/// every commit.
pub(crate) fn of_own(feature: &Feature, subject: &str) -> String {
    if feature.rules.titles.has_type() {
        filled(feature, "chore", &feature.key.name(), subject)
    } else {
        subject.to_owned()
    }
}

fn filled(feature: &Feature, kind: &str, id: &str, name: &str) -> String {
    let issue = feature.key.issue.0;
    feature.rules.titles.fill(&TitleValues { kind, name, id, issue })
}
