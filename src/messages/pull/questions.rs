//! The questions about a change and their answers: a table in reviews and check runs, only their numbers elsewhere.

use crate::messages::form::{
    measure::{Measure, codes, folded, table},
    untrusted, words,
};
use domain::{
    ids::User,
    question::{AnswerVerdict, OpenReason, Question, QuestionAnswer},
    task::{State, Task, Turn},
};

/// The most tests or functions that are named in a row.
const MOST_NAMES: usize = 3;

/// How a question was answered.
enum AnswerStatus<'a> {
    /// Nobody has judged the turn.
    Awaited,
    /// The Coach finds it fine, with a valid quote.
    Fine(&'a QuestionAnswer),
    /// No answer settles it.
    Open(&'a OpenReason, Option<&'a QuestionAnswer>),
    /// A person answered it by approving.
    Person(&'a User),
}

/// The words of the tally, in its order.
const STATUSES: [&str; 5] = ["fine", "not fine", "open", "answered by a person", "not judged"];

impl AnswerStatus<'_> {
    fn word(&self) -> &'static str {
        match self {
            Self::Awaited => "not judged",
            Self::Fine(_) => "fine",
            Self::Open(OpenReason::NotFine { .. }, _) => "not fine",
            Self::Open(
                OpenReason::Unanswered
                | OpenReason::WithoutReason
                | OpenReason::WithoutQuote
                | OpenReason::NoSuchQuote { .. },
                _,
            ) => "open",
            Self::Person(_) => "answered by a person",
        }
    }
}

/// Returns the number of a turn's questions and how they were answered; `None` if there are none.
pub(crate) fn tally(task: &Task, turn: &Turn) -> Option<String> {
    let answers: Vec<&str> = statuses(task, turn).map(|(_, _, status)| status.word()).collect();
    let counted = words::tally(&STATUSES, &answers);
    (!answers.is_empty()).then(|| format!("{}: {counted}", words::count(answers.len(), "question")))
}

/// Returns a fold with a table of question, answer and quote.
pub(crate) fn folded_table(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let all: Vec<_> = statuses(task, turn).collect();
    let rows = table("| question | answer | quote |", &all, measure.rows, |(number, question, status)| {
        let names: Vec<&str> = question.about.iter().map(|name| own(name)).collect();
        let names = codes(&names, MOST_NAMES, measure.text.min(80)).replace('|', "\\|");
        format!(
            "| {number}. {}: {names} | {} | {} |",
            question.topic.name(),
            answer(status, measure),
            quote(status, measure),
        )
    });
    tally(task, turn).map_or_else(String::new, |summary| folded(&summary, &rows))
}

/// Returns the last part of a name, which fits a narrow table. The name of a test in words has no parts.
fn own(name: &str) -> &str {
    let mut parts = name.rsplit([':', '/', '#']);
    let last = parts.find(|part| !part.is_empty()).unwrap_or(name);
    if name.contains(char::is_whitespace) { name } else { last }
}

fn statuses<'a>(task: &'a Task, turn: &'a Turn) -> impl Iterator<Item = (usize, &'a Question, AnswerStatus<'a>)> {
    let questions = turn.gates.iter().flat_map(|gates| &gates.questions);
    let numbered = (1..).zip(questions);
    numbered.map(|(number, question)| (number, question, status(task, turn, number)))
}

fn status<'a>(task: &'a Task, turn: &'a Turn, number: usize) -> AnswerStatus<'a> {
    let verdict = turn.verdict.as_ref();
    let answers = verdict.and_then(|verdict| verdict.decision.as_ref());
    let mut answers = answers.into_iter().flat_map(|decision| &decision.answers);
    let open = verdict.and_then(|verdict| verdict.open_questions.iter().find(|open| open.number == number));
    let is_open = open.is_some() || verdict.is_none();
    if let Some(person) = overridden_by(task, turn).filter(|_| is_open) {
        return AnswerStatus::Person(person);
    }
    let wanted = match open.map(|open| &open.why) {
        Some(OpenReason::NotFine { .. }) => AnswerVerdict::NotFine,
        Some(_) | None => AnswerVerdict::Fine,
    };
    let answer = answers.find(|answer| answer.question == number && answer.verdict == wanted);
    match (verdict, open, answer) {
        (_, Some(open), answer) => AnswerStatus::Open(&open.why, answer),
        (Some(_), None, Some(answer)) => AnswerStatus::Fine(answer),
        (_, None, _) => AnswerStatus::Awaited,
    }
}

/// Returns the person who approved this turn over the Coach.
fn overridden_by<'a>(task: &'a Task, turn: &Turn) -> Option<&'a User> {
    let is_newest = task.turn_for_check().is_some_and(|newest| newest.number == turn.number);
    let is_approved = matches!(task.state, State::Approved { .. } | State::Completed { .. });
    let waiver = task.waived.last().filter(|_| is_newest && is_approved && !turn.is_approved());
    waiver.map(|waiver| &waiver.by)
}

fn answer(status: &AnswerStatus<'_>, measure: &Measure) -> String {
    let because = |answer: &QuestionAnswer| untrusted::cell(&answer.because, measure.text.min(400));
    match status {
        AnswerStatus::Awaited => "not judged".to_owned(),
        AnswerStatus::Person(person) => format!("answered by {}", words::person(person)),
        AnswerStatus::Fine(answer) => format!("fine: {}", because(answer)),
        AnswerStatus::Open(why, given) => {
            let because = given.map_or_else(String::new, |answer| format!(": {}", because(answer)));
            match why {
                OpenReason::NotFine { .. } => format!("**not fine**{because}"),
                OpenReason::Unanswered => "**no answer**".to_owned(),
                OpenReason::WithoutReason => "**open**: answered without a reason".to_owned(),
                OpenReason::WithoutQuote => format!("**open**, without a quote{because}"),
                OpenReason::NoSuchQuote { .. } => format!("**open**, the quote does not stand there{because}"),
            }
        }
    }
}

fn quote(status: &AnswerStatus<'_>, measure: &Measure) -> String {
    let given = match status {
        AnswerStatus::Fine(answer) => Some(*answer),
        AnswerStatus::Open(_, given) => *given,
        AnswerStatus::Awaited | AnswerStatus::Person(_) => None,
    };
    let quote = given.map_or("", |answer| answer.quote.as_str());
    untrusted::cell(quote, measure.text.min(400))
}
