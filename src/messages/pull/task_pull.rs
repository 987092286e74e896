//! A task's pull request: its text, the comment when it closes, and the message that dismisses a stale review.

use crate::messages::{
    causes::obeyed,
    form::{
        links::Links,
        measure::{Measure, fitting, list, sections, table, titled},
        untrusted, words,
    },
    issue::inquiry,
    pull::{ignored, title, waived::Waived},
};
use domain::{
    design::Design,
    effect::{ClosedWhy, DismissedWhy},
    feature::{Feature, State},
    ids::User,
    obeyed::ObeyedFile,
    report::PlayerReport,
    task::Task,
};

/// The most characters of a title; GitHub accepts 256, but nobody reads that many.
pub(crate) const TITLE: usize = 120;

/// The title and body of a pull request, or of the commit that it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullText {
    /// The title: one line, without Markdown.
    pub title: String,
    pub body: String,
}

/// Returns the text of a task's pull request, which changes these files that programs obey. It never closes the issue.
pub fn task_pull(feature: &Feature, task: &Task, obeyed: &[ObeyedFile]) -> PullText {
    PullText {
        title: untrusted::plain(&title::of_task(feature, task), TITLE),
        body: fitting(|measure| {
            let body = body(feature, task, measure);
            sections(vec![obeyed::warning(obeyed, measure), body])
        }),
    }
}

/// Returns the things that a person waived for a task, as a sentence; `None` if there are none.
pub fn waived_of(task: &Task) -> Option<String> {
    let sentence = Waived::of_task(task, task.turn_of_head()?).sentence();
    (!sentence.is_empty()).then_some(sentence)
}

fn body(feature: &Feature, task: &Task, measure: &Measure) -> String {
    let needs = match task.plan.dependencies.as_slice() {
        [] => String::new(),
        needs => format!(" It builds on {}.", words::tasks(needs, 40)),
    };
    let report = task.turns_of_attempt().rev().find_map(|turn| turn.report.as_ref());
    sections(vec![
        format!("Part of #{}", feature.key.issue),
        waived_of(task).unwrap_or_default(),
        format!(
            "{} of {}, wave {}, {}.{needs}",
            task.id,
            feature.key.name(),
            task.wave,
            task.plan.kind
        ),
        untrusted::quote(&task.plan.description, measure.text),
        titled("### Acceptance criteria", &criteria(task, measure)),
        design_section(task.pre_loop.design(), measure),
        inquiry::of_task(task, measure),
        report.map_or_else(String::new, |report| claims(report, measure)),
        "The Gates and the Coach judge every turn; their verdicts are the reviews below. AutoBuild merges this into the \
         integration branch, never into the default branch."
            .to_owned(),
    ])
}

pub(crate) fn criteria(task: &Task, measure: &Measure) -> String {
    let numbered: Vec<_> = (1u32..).zip(&task.plan.acceptance_criteria).collect();
    let titles = "| # | criterion | check |";
    table(titles, &numbered, measure.rows, |(number, criterion)| {
        let text = untrusted::cell(&criterion.text, measure.text.min(600));
        format!("| {number} | {text} | {} |", words::check(&criterion.check, 200))
    })
}

/// Returns the Designer's advice, marked as advice; empty if there is no design.
fn design_section(design: Option<&Design>, measure: &Measure) -> String {
    let Some(design) = design else { return String::new() };
    let findings = list(&design.findings, measure.rows.min(30), measure.text.min(600));
    let numbers = match (design.score, design.complexity) {
        (None, None) => String::new(),
        (Some(score), None) => format!("Architecture review: {score} of 100."),
        (None, Some(complexity)) => format!("Complexity as the designer sees it: {complexity} of 10."),
        (Some(score), Some(complexity)) => {
            format!("Architecture review: {score} of 100; complexity as the designer sees it: {complexity} of 10.")
        }
    };
    let body = sections(vec![
        "Made before the first turn. It is advice to the Player; no verdict rests on it.".to_owned(),
        untrusted::quote(&design.plan, measure.text),
        titled("Pattern:", &untrusted::quote(&design.pattern, measure.text)),
        numbers,
        titled("What its review found:", &findings),
        titled(OWN_DEFAULTS, &inquiry::own_defaults_listed(&design.inquiries, measure)),
        ignored::line(&[("the designer's answer", &design.ignored)], measure),
    ]);
    titled("### Design", &body)
}

const OWN_DEFAULTS: &str = "Questions that nobody was asked, with the default that it took:";

/// Returns the Player's statements about its work, marked as claims.
fn claims(report: &PlayerReport, measure: &Measure) -> String {
    let max = measure.text;
    let concerns = list(&report.concerns, measure.rows.min(20), max.min(600));
    let body = sections(vec![
        untrusted::quote(&report.summary, max),
        untrusted::quote(&report.implementation_notes, max),
        titled("Its doubts:", &concerns),
        titled(OWN_DEFAULTS, &inquiry::own_defaults_listed(&report.inquiries, measure)),
    ]);
    titled(
        "### What the Player says\n\nThese are claims. What changed stands in the diff, what holds in the reviews.",
        &body,
    )
}

/// Returns the comment on a task's pull request that AutoBuild closes.
pub fn closed_pull(feature: &Feature, task: &Task, why: &ClosedWhy, links: &Links) -> String {
    let id = task.id;
    match why {
        ClosedWhy::Retried { by, branch } => {
            let next = match task.pull {
                Some(pull) => format!(" Its new pull request is {}.", links.pull(pull)),
                None => " Its first push opens the new pull request.".to_owned(),
            };
            format!(
                "Closed: {} asked to start {id} again from the integration branch, on {}.{next}",
                words::person(by),
                links.branch(branch)
            )
        }
        ClosedWhy::Skipped { by } => format!(
            "Closed: {} gave {id} up. The branch stays; `/autobuild retry {id}` starts it again.",
            words::person(by)
        ),
        ClosedWhy::Cancelled => {
            let name = feature.key.name();
            let next = if matches!(feature.state, State::Cancelled { .. }) {
                format!("{name} is cancelled too: to start anew, label its issue again.")
            } else {
                "To go on with it, reopen this pull request.".to_owned()
            };
            format!("Closed: {id} of {name} is cancelled. The branch stays. {next}")
        }
    }
}

/// Returns the message that dismisses a stale request for changes.
pub fn dismissal(why: DismissedWhy, by: &User) -> String {
    match why {
        DismissedWhy::Overridden => format!("{} approved this over the Coach.", words::person(by)),
        DismissedWhy::Cancelled => format!("{} gave this task up or cancelled it.", words::person(by)),
    }
}
