//! The pull request from the integration branch to the default branch, which a person merges.

use crate::messages::{
    causes::{evidence, obeyed, reasons},
    form::{
        links::Links,
        measure::{Measure, bullets, codes, fitting, folded, sections, table, titled},
        untrusted, words,
    },
    issue::{living, living::human_criteria, progress},
    pull::{
        gates,
        task_pull::{PullText, TITLE},
        title,
        waived::{Waived, waived},
    },
};
use domain::{
    cost::Spending,
    feature::{CancelledWhy, Feature, State as FeatureState, changed_behaviour::WantedBy, flow::strictest},
    obeyed::ObeyedFile,
    task::{Origin, State, Task, WaivedFact},
};
use std::collections::BTreeSet;

/// Returns the text of the feature pull request, which changes these files that programs obey. It closes the issue only if
/// every task is completed.
pub fn feature_pull(feature: &Feature, spending: &Spending, links: &Links, obeyed: &[ObeyedFile]) -> PullText {
    let title = title::of_feature(feature);
    PullText {
        title: untrusted::plain(&title, TITLE),
        body: fitting(|measure| {
            let body = body(feature, spending, links, measure);
            sections(vec![obeyed::warning(obeyed, measure), body])
        }),
    }
}

fn body(feature: &Feature, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let description = feature.plan.as_ref().map_or("", |version| &version.plan.description);
    sections(vec![
        titled("### Behaviour that changed on purpose", &changed(feature, measure)),
        titled("### Criteria that no longer hold", &undone(feature, measure)),
        closing(feature, measure),
        untrusted::quote(description, measure.text),
        tasks(feature, spending, links, measure),
        living::money(spending),
        titled(
            "### Tasks that AutoBuild added",
            &living::added(feature, links, measure),
        ),
        last_gate(feature, links, measure),
        Waived::of_feature(feature, feature.gates.last()).sentence(),
        titled("### For a person to check", &human(feature, measure)),
        titled("### What people decided over the Coach", &overrides(feature, measure)),
        folded("For a changelog", &untrusted::fence(&changelog(feature), "markdown", measure.text)),
        "Every task's pull request holds its reviews. AutoBuild never merges into the default branch: that is yours to \
         do."
            .to_owned(),
    ])
}

/// Lists the tests whose expectations changed, with the words of the issue or the plan that ask for it, then the tests
/// that were only changed by the Feature as a whole.
fn changed(feature: &Feature, measure: &Measure) -> String {
    let names = |tests: &[&str]| codes(tests, measure.rows.min(20), measure.text.min(200));
    let by_tasks = bullets(&feature.changed_behaviour(), measure.rows, |changed| {
        let outcome = changed.outcome.map_or("changed by plan", |outcome| outcome.word());
        let tests = names(&changed.tests);
        let wanted = match changed.wanted {
            WantedBy::Words(words) => format!("wanted by “{}”", untrusted::inline(words, measure.text.min(400))),
            WantedBy::Person(person) => format!("approved by {}", words::person(person)),
            WantedBy::Plan => "wanted by the plan".to_owned(),
        };
        format!("{}, {outcome}: {tests}, {wanted}", changed.task)
    });
    let by_whole = bullets(&feature.changed_by_whole(), measure.rows, |(outcome, tests)| {
        format!("The tasks together, {}: {}, which nobody was asked about", outcome.word(), names(tests))
    });
    [by_tasks, by_whole].into_iter().filter(|list| !list.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Lists the criteria of finished tasks that the result of all tasks does not meet.
fn undone(feature: &Feature, measure: &Measure) -> String {
    let list = bullets(&feature.undone_criteria(), measure.rows.min(40), |(criterion, finding)| {
        let found = untrusted::inline(&evidence::finding(finding), measure.text.min(400));
        format!("{}: {found}", untrusted::inline(criterion, measure.text.min(400)))
    });
    let why = "They held when their tasks were finished. If a later task changed that on purpose, it is right.";
    if list.is_empty() { list } else { format!("{why}\n\n{list}") }
}

/// Returns the Feature as a changelog entry: its name, then its completed tasks. Tasks that AutoBuild added to repair
/// the work are of no interest to users, so they are left out.
fn changelog(feature: &Feature) -> String {
    let line = |text: &str| untrusted::shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), 200);
    let name = words::feature_name(feature);
    let entry = format!("- {} (#{})", line(name), feature.key.issue);
    let is_news = |task: &&Task| task.is_completed() && task.origin == Origin::Planned;
    let planned = feature.tasks.iter().filter(is_news);
    let parts: Vec<String> = planned.map(|task| format!("  - {}", line(&task.plan.name))).collect();
    match parts.len() {
        0 | 1 => entry,
        _ => format!("{entry}\n{}", parts.join("\n")),
    }
}

/// Returns `Closes #n`, or the tasks that are missing.
fn closing(feature: &Feature, measure: &Measure) -> String {
    let given_up: Vec<&Task> = feature.tasks.iter().filter(|task| !task.is_completed()).collect();
    let issue = feature.key.issue;
    if given_up.is_empty() {
        return format!("Closes #{issue}");
    }
    let list =
        bullets(&given_up, measure.rows.min(40), |task| format!("{}: {}", words::task_name(task), missing(task)));
    format!("Part of #{issue}\n\nWithout these tasks:\n\n{list}")
}

fn missing(task: &Task) -> String {
    if let State::Skipped { by } = &task.state {
        return format!("skipped by {}", words::person(by));
    }
    words::task_state(task).to_owned()
}

fn tasks(feature: &Feature, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let titles = "| task | pull request | turns | cost | state | evidence |";
    table(titles, &feature.tasks, measure.rows, |task| {
        format!(
            "| **{}** {} | {} | {} | {} | {} | {} |",
            task.id,
            untrusted::cell(&task.plan.name, measure.text.min(120)),
            links.pull_or(task.pull, "–"),
            progress::turns(task),
            words::cost(&spending.of_task(task.id)),
            words::state(task, untrusted::Medium::Markdown),
            evidence(task),
        )
    })
}

/// Returns the Gates' results on the commit that was merged.
fn evidence(task: &Task) -> String {
    let gates = task.turns_of_attempt().rev().find_map(|turn| turn.gates.as_ref());
    gates.map_or_else(|| "none".to_owned(), gates::line)
}

fn last_gate(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let Some(gate) = feature.gates.last() else {
        return String::new();
    };
    format!(
        "### The merged result\n\nThe Gates on {}, after wave {}:\n\n{}",
        links.commit(&gate.head),
        gate.wave,
        gates::folded_table(strictest(feature), &gate.report, &[], measure)
    )
}

fn human(feature: &Feature, measure: &Measure) -> String {
    let mut criteria = human_criteria(feature);
    criteria.retain(|(id, _)| feature.task(*id).is_some_and(Task::is_completed));
    bullets(&criteria, measure.rows, |(task, text)| {
        format!("[ ] {task}: {}", untrusted::inline(text, measure.text.min(600)))
    })
}

/// Lists what each person waived. The Gates on the merged result name the waived tests that still fail there, so those
/// are left out.
fn overrides(feature: &Feature, measure: &Measure) -> String {
    let excused = feature.gates.last().into_iter().flat_map(|gate| &gate.report.excused);
    let named: BTreeSet<&String> = excused.map(|excused| &excused.test).collect();
    let overridden = feature
        .tasks
        .iter()
        .flat_map(|task| task.waived.iter().map(move |waiver| (task.id, waiver)))
        .take(measure.rows.min(40))
        .map(|(id, waiver)| {
            let mut rest = waiver.clone();
            rest.facts.retain(|fact| !matches!(fact, WaivedFact::Test(test) if named.contains(test)));
            format!("{id}: {}", waived(&rest, measure))
        });
    sections(overridden.collect())
}

/// Returns the comment on the feature pull request when the Feature is cancelled.
pub fn closed_feature_pull(feature: &Feature) -> String {
    let why = if let FeatureState::Cancelled { why } = &feature.state {
        reasons::cancelled(why)
    } else {
        reasons::cancelled(&CancelledWhy::NothingCompleted)
    };
    format!("Closed: {} is cancelled. {why} Reopening this pull request brings it back to review.", feature.key.name())
}
