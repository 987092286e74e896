//! The answers to questions, and which questions they leave open.

use crate::{
    citation::words,
    question::{AnswerVerdict, Question, QuoteSource},
    quote,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// The question's number, from 1.
    pub question: usize,
    pub verdict: AnswerVerdict,
    /// The reason, as a sentence.
    pub because: String,
    /// The words that ask for the change, or a place in it. Only an answer "not fine" may lack it.
    pub quote: String,
}

/// The author's answer to a question of the last turn: a claim, which the Coach sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerClaim {
    /// The question's number in the last turn, from 1.
    pub question: usize,
    pub because: String,
    /// The words that ask for the change, or a place in it; may be empty.
    pub quote: String,
}

/// The texts and lines that a quote may be from.
#[derive(Clone, Copy)]
pub struct QuoteFacts<'a> {
    /// The issue, the task, its criteria, and the comments of people with the right to decide.
    pub words: &'a [&'a str],
    /// Returns `true` if the diff shows this line of the head's version of a file.
    pub in_diff: &'a dyn Fn(&str, u32) -> bool,
}

/// A question that no answer settles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// Its number, from 1.
    pub number: usize,
    pub why: OpenReason,
}

/// A question that no answer settles, with the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsettled {
    /// Its number, and why it is open.
    pub open: OpenQuestion,
    /// The question, without its material.
    pub question: Question,
}

/// Why a question is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenReason {
    /// The Coach answers that it is not fine, with this reason.
    NotFine { because: String },
    /// There is no answer.
    Unanswered,
    /// The answer gives no reason.
    WithoutReason,
    /// The answer quotes nothing.
    WithoutQuote,
    /// None of the allowed sources contains the quote.
    NoSuchQuote { quote: String },
}

/// Returns the questions that the answers leave open. An answer that it is not fine outweighs all others.
pub fn open_questions(questions: &[Question], answers: &[QuestionAnswer], facts: QuoteFacts<'_>) -> Vec<OpenQuestion> {
    let open = (1..).zip(questions).filter_map(|(number, question)| {
        let about: Vec<&QuestionAnswer> = answers.iter().filter(|answer| answer.question == number).collect();
        let why = open_reason(question, &about, facts)?;
        Some(OpenQuestion { number, why })
    });
    open.collect()
}

fn open_reason(question: &Question, answers: &[&QuestionAnswer], facts: QuoteFacts<'_>) -> Option<OpenReason> {
    let not_fine = answers.iter().find(|answer| answer.verdict == AnswerVerdict::NotFine);
    if let Some(answer) = not_fine {
        let because = answer.because.clone();
        return Some(OpenReason::NotFine { because });
    }
    let mut doubts = answers.iter().map(|answer| doubt(question, answer, facts));
    match doubts.next() {
        None => Some(OpenReason::Unanswered),
        Some(first) => doubts.fold(first, Option::and),
    }
}

/// Returns why the answer does not hold.
fn doubt(question: &Question, answer: &QuestionAnswer, facts: QuoteFacts<'_>) -> Option<OpenReason> {
    if answer.because.trim().is_empty() {
        return Some(OpenReason::WithoutReason);
    }
    if answer.quote.trim().is_empty() {
        return Some(OpenReason::WithoutQuote);
    }
    let is_there = quote::stands_in(&answer.quote, facts.words.iter().copied())
        || question.topic.quote_source() == QuoteSource::WordsOrPlace && is_in_diff(&answer.quote, facts);
    let quote = answer.quote.clone();
    (!is_there).then_some(OpenReason::NoSuchQuote { quote })
}

fn is_in_diff(quote: &str, facts: QuoteFacts<'_>) -> bool {
    let mut places = words(quote).into_iter().flat_map(|word| word.file_references());
    places.any(|place| place.line.is_some_and(|line| (facts.in_diff)(&place.path, line)))
}

impl OpenQuestion {
    /// `true` if a better answer of the Coach can still settle it.
    pub fn lacks_answer(&self) -> bool {
        match self.why {
            OpenReason::NotFine { .. } => false,
            OpenReason::Unanswered
            | OpenReason::WithoutReason
            | OpenReason::WithoutQuote
            | OpenReason::NoSuchQuote { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{integrity::Rule, question::Topic, test_outcome::TestOutcome};

    fn question(topic: Topic) -> Question {
        Question {
            topic,
            about: vec!["test_total".to_owned()],
            place: Some(("tests/cart.py".to_owned(), 7)),
            material: String::new(),
            absence: None,
        }
    }

    fn answer(verdict: AnswerVerdict, because: &str, quote: &str) -> QuestionAnswer {
        QuestionAnswer { question: 1, verdict, because: because.to_owned(), quote: quote.to_owned() }
    }

    fn open_reason(topic: Topic, answers: &[QuestionAnswer]) -> Option<OpenReason> {
        let facts = QuoteFacts {
            words: &["Cancelled orders no longer count.", "Totals"],
            in_diff: &|path, line| path == "src/cart.py" && line == 12,
        };
        let questions = [question(topic)];
        let mut open = open_questions(&questions, answers, facts);
        assert!(open.len() <= 1);
        open.pop().map(|open| open.why)
    }

    #[test]
    fn an_answer_needs_a_reason_and_a_quote_that_is_there() {
        use AnswerVerdict::Fine;
        let no_such = |quote: &str| {
            let quote = quote.to_owned();
            Some(OpenReason::NoSuchQuote { quote })
        };
        let (changed, stub) = (Topic::Outcome(TestOutcome::ChangedOnPurpose), Topic::Rule(Rule::Stub));
        let table = [
            (changed, Fine, "it is asked for", "cancelled orders no longer", None),
            (changed, Fine, "the title", "totals", None),
            (changed, Fine, "", "cancelled orders no longer", Some(OpenReason::WithoutReason)),
            (changed, Fine, "it is asked for", " ", Some(OpenReason::WithoutQuote)),
            (changed, Fine, "it is asked for", "orders count", no_such("orders count")),
            (changed, Fine, "it is there", "src/cart.py:12", no_such("src/cart.py:12")),
            (stub, Fine, "it is there", "src/cart.py:12", None),
            (stub, Fine, "it is there", "see `./src/cart.py#L12`", None),
            (stub, Fine, "it is there", "src/cart.py:13", no_such("src/cart.py:13")),
            (stub, Fine, "it is there", "src/cart.py", no_such("src/cart.py")),
            (stub, Fine, "it is asked for", "Cancelled orders no longer count", None),
        ];
        for (topic, verdict, because, quote, expected) in table {
            assert_eq!(open_reason(topic, &[answer(verdict, because, quote)]), expected, "{quote}");
        }
    }

    #[test]
    fn an_answer_that_is_not_fine_outweighs_others_and_one_that_holds_is_enough() {
        use AnswerVerdict::{Fine, NotFine};
        let stub = Topic::Rule(Rule::Stub);
        let because = "no".to_owned();
        let refused = Some(OpenReason::NotFine { because });
        assert_eq!(open_reason(stub, &[answer(NotFine, "no", "")]), refused);
        let fine = answer(Fine, "it is asked for", "cancelled orders no longer");
        assert_eq!(open_reason(stub, &[fine.clone(), answer(NotFine, "no", "")]), refused);
        assert_eq!(open_reason(stub, &[answer(Fine, "", ""), fine.clone()]), None, "one that holds is enough");
        assert_eq!(open_reason(stub, &[]), Some(OpenReason::Unanswered));
        let other = QuestionAnswer { question: 2, ..fine };
        assert_eq!(open_reason(stub, &[other]), Some(OpenReason::Unanswered));
    }
}
