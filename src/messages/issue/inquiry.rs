//! The questions of agents to people, how to answer them, and the answers.

use crate::messages::form::{
    links::Links,
    measure::{Measure, bullets, fitting, folded, sections, titled},
    untrusted, words,
};
use domain::{
    blocked::{BlockReason, Cost},
    feature::{Feature, State as FeatureState},
    inquiry::{Answer, Inquirer, Inquiries, Inquiry, Round},
    task::{State, Task},
};

/// A comment line that answers, for people to copy.
const ANSWER: &str = "/autobuild resume 'your answer'";

pub(crate) fn asks(by: Inquirer, inquiries: &Inquiries, measure: &Measure) -> String {
    format!("{} asks:\n\n{}", agent(by), questions(inquiries, measure))
}

fn agent(by: Inquirer) -> &'static str {
    match by {
        Inquirer::Planner => "The planner",
        Inquirer::Designer => "The designer",
        Inquirer::Player => "The Player",
    }
}

fn questions(inquiries: &Inquiries, measure: &Measure) -> String {
    let max = measure.room(1_200);
    let line = |(number, inquiry): (usize, &Inquiry)| {
        let default = untrusted::inline(default_of(inquiry), max);
        format!("{number}. {}\n   Default: {default}", untrusted::inline(&inquiry.question, max))
    };
    let mut lines: Vec<String> = (1..).zip(&inquiries.questions).map(line).collect();
    if inquiries.left_out > 0 {
        let more = words::count(u32::try_from(inquiries.left_out).unwrap_or(u32::MAX), "more question");
        lines.push(format!("\nIt had {more}, which AutoBuild left out: at most 3 are asked at once."));
    }
    lines.join("\n")
}

fn default_of(inquiry: &Inquiry) -> &str {
    match inquiry.default.as_str() {
        "" => "none named",
        default => default,
    }
}

/// Returns the report of a task whose Player asks a question, for its pull request or, without one, for the issue.
pub(crate) fn task_asks(feature: &Feature, task: &Task, cost: &Cost, links: &Links) -> Option<String> {
    let State::Blocked { reason: BlockReason::Inquiry { by, inquiries } } = &task.state else {
        return None;
    };
    let id = task.id;
    let others = format!(
        "Or `/autobuild retry {id}` starts the task again, `/autobuild skip {id}` gives it up, and `/autobuild cancel` \
         on the issue stops everything."
    );
    let so_far = match &task.head {
        Some(head) => format!(
            "The branch {} holds the work so far, up to {}. Nobody judges it before the answer, and the question used up \
             no turn.",
            links.branch(&task.branch),
            links.commit(head)
        ),
        None => "Nothing is pushed yet. The question used up no turn.".to_owned(),
    };
    let title = format!("### Asks: {}", words::task_name(task));
    Some(report(feature, &title, *by, inquiries, &others, &so_far, cost))
}

/// Returns the report of a Feature whose planner asks a question, for its issue.
pub(crate) fn feature_asks(feature: &Feature, cost: &Cost) -> Option<String> {
    let FeatureState::Blocked { reason: BlockReason::Inquiry { by, inquiries }, .. } = &feature.state else {
        return None;
    };
    let title = format!("### Asks: {} {}", feature.key.name(), untrusted::inline(words::feature_name(feature), 200));
    let others = "Or `/autobuild plan` and words plans again without these answers, and `/autobuild cancel` stops it.";
    Some(report(feature, &title, *by, inquiries, others, "", cost))
}

fn report(
    feature: &Feature,
    title: &str,
    by: Inquirer,
    inquiries: &Inquiries,
    others: &str,
    so_far: &str,
    cost: &Cost,
) -> String {
    let how = format!(
        "**To answer**, write this as a new comment here (it needs write access); what you write reaches the agent word for \
         word:\n\n```text\n{ANSWER}\n```\n\nWithout words, the defaults hold. {others}"
    );
    fitting(|measure| {
        sections(vec![
            title.to_owned(),
            format!(
                "{}, the work waits for your answer. {}",
                words::person(&feature.snapshot.labelled_by),
                asks(by, inquiries, measure)
            ),
            how.clone(),
            so_far.to_owned(),
            format!("**Cost so far:** {}", words::cost_in_full(cost)),
        ])
    })
}

/// Returns all inquiries about a Feature that were answered, folded.
pub(crate) fn history(feature: &Feature, measure: &Measure) -> String {
    let of_plan = feature.inquiries.iter().map(|round| ("the plan".to_owned(), round));
    let of_tasks = feature.tasks.iter().flat_map(|task| task.rounds().map(move |round| (task.id.to_string(), round)));
    let all: Vec<_> = of_plan.chain(of_tasks).collect();
    let shown = all.iter().take(measure.rows.min(20));
    let shown: Vec<String> =
        shown.map(|(whose, round)| sections(vec![format!("**About {whose}:**"), answered(round, measure)])).collect();
    folded("Questions and answers", &shown.join("\n\n"))
}

/// Returns the inquiries about a task that were answered.
pub(crate) fn of_task(task: &Task, measure: &Measure) -> String {
    let rounds: Vec<String> = task.rounds().take(20).map(|round| answered(round, measure)).collect();
    titled("### Questions and answers", &rounds.join("\n\n"))
}

fn answered(round: &Round, measure: &Measure) -> String {
    let answer = match &round.answer {
        Answer::Words { by, text } => {
            let by = untrusted::code(&by.login, 60);
            format!("{by} answered:\n\n{}", untrusted::quote(text, measure.text))
        }
        Answer::Defaults { by } => format!("{} let the defaults hold.", untrusted::code(&by.login, 60)),
        Answer::Unattended => "Nobody was asked: the defaults hold.".to_owned(),
    };
    sections(vec![asks(round.by, &round.inquiries, measure), answer])
}

/// Returns the questions that an agent answered with its own default, each as a sentence.
pub fn own_defaults(inquiries: &Inquiries) -> Vec<String> {
    let sentence = |inquiry: &Inquiry| {
        let (question, default) = (&inquiry.question, default_of(inquiry));
        format!("Nobody was asked: {question} The agent's own default: {default}")
    };
    inquiries.questions.iter().map(sentence).collect()
}

/// Returns the questions that a Player answered with its own default, as a list.
pub(crate) fn own_defaults_listed(inquiries: &Inquiries, measure: &Measure) -> String {
    bullets(&inquiries.questions, measure.rows, |inquiry| {
        let max = measure.text.min(600);
        let default = untrusted::inline(default_of(inquiry), max);
        format!("{} It took: {default}", untrusted::inline(&inquiry.question, max))
    })
}
