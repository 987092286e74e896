//! The texts of tasks that AutoBuild adds to a plan. They instruct a Player and may be quoted word for word, so they
//! are stored with the task.

use crate::messages::causes::{evidence, problems};
use domain::{
    feature::Feature,
    task::{DraftSubject, Goal},
};
use text::shorten;

/// The longest criterion, in characters.
const LONGEST: usize = 1_000;

/// Returns the description of the only task of an issue, with the text that a maintainer added to the command.
pub fn described_by_issue(words: Option<&str>) -> String {
    match words {
        Some(words) => format!("As the issue describes it. A maintainer adds:\n\n{words}"),
        None => "As the issue describes it.".to_owned(),
    }
}

/// Writes the texts of the tasks that were added since the Feature was stored.
pub fn word_added_tasks(feature: &mut Feature) {
    let drafts = feature.tasks.iter_mut().filter_map(|task| Some((task.id, task.draft.take()?)));
    let drafts: Vec<_> = drafts.collect();
    for (id, draft) in drafts {
        let description = description(feature, &draft.subject);
        let Some(task) = feature.tasks.iter_mut().find(|task| task.id == id) else {
            continue;
        };
        task.plan.description = description;
        for (criterion, goal) in task.plan.acceptance_criteria.iter_mut().zip(&draft.criteria) {
            criterion.text = shorten::middle(&self::goal(goal), LONGEST);
        }
    }
}

fn description(feature: &Feature, subject: &DraftSubject) -> String {
    match subject {
        DraftSubject::Fix { head, failures, broke, culprit, output } => {
            let failures: Vec<String> = failures.iter().map(evidence::unmet).collect();
            let culprit = culprit.and_then(|id| feature.task(id));
            let broke = match (broke, culprit) {
                (Some(sha), Some(task)) => {
                    format!("The merge {} of {} ({}) broke it.", sha.short(), task.id, task.plan.name)
                }
                (Some(sha), None) => format!("The merge {} broke it.", sha.short()),
                (None, _) => "No single merge of the wave could be found that broke it.".to_owned(),
            };
            let (head, failures) = (head.short(), failures.join("; "));
            let printed = match output.as_str() {
                "" => String::new(),
                output => format!("\n\n{}", fenced(output)),
            };
            format!("The merged result of the wave does not hold on {head}: {failures}.\n\n{broke}{printed}")
        }
        DraftSubject::Sync(other) => format!(
            "Merging the default branch ({}) into the integration branch conflicts. The conflict markers stand in the \
             files; resolve them so that both sides' changes keep their meaning.",
            other.short()
        ),
        DraftSubject::Review(login) => {
            format!("{login} asked for changes on the feature pull request. Each criterion is one of them.")
        }
    }
}

fn goal(goal: &Goal) -> String {
    match goal {
        Goal::SetUp => "Set-up passes".to_owned(),
        Goal::Tests => "The tests pass".to_owned(),
        Goal::Test(name) => format!("The test {name} passes"),
        Goal::Gate(gate) => format!("The Gate \"{gate}\" passes"),
        Goal::Restored(item) => problems::problem(item).into_owned(),
        Goal::Remark(item) => problems::placed(item),
        Goal::AllGates => "The Gates pass on the merged result".to_owned(),
        Goal::More(left) => format!("{left} more hold as well: the last Gates' output names them"),
        Goal::Merged => {
            "The default branch is merged in: no conflict marker is left, and what both sides intended still holds"
                .to_owned()
        }
        Goal::Answered(login) => format!("What {login} asks for in the review is done"),
    }
}

/// Returns a code block whose fence is longer than any fence inside it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}
