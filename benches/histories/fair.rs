//! Answers questions as a fair Coach would who knows nothing but the commit's message.

use domain::question::{AnswerVerdict, Question, QuestionAnswer};

/// The shortest word that counts as speaking of something.
const SHORTEST: usize = 4;

/// Answers each question: the message's subject is the quote if the message speaks of what is asked about, else the
/// change is not fine.
pub fn answers(questions: &[Question], (subject, body): (&str, &str)) -> Vec<QuestionAnswer> {
    let message = format!("{subject}\n{body}").to_lowercase();
    let answer = |(number, question): (usize, &Question)| {
        let speaks = speaks_of(&message, question);
        QuestionAnswer {
            question: number,
            verdict: if speaks {
                AnswerVerdict::Fine
            } else {
                AnswerVerdict::NotFine
            },
            because: "the message speaks of it, or does not".to_owned(),
            quote: if speaks { subject.to_owned() } else { String::new() },
        }
    };
    (1..).zip(questions).map(answer).collect()
}

/// Returns `true` if a word of a test's, function's or file's name is in the message.
fn speaks_of(message: &str, question: &Question) -> bool {
    let place = question.place.iter().map(|(path, _)| path.as_str());
    let names = question.about.iter().map(String::as_str).chain(place);
    let words = names.flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
    let words = words
        .map(str::to_lowercase)
        .filter(|word| word.len() >= SHORTEST && !is_common(word));
    words.into_iter().any(|word| message.contains(&word))
}

/// Words of paths and names that say nothing about behaviour.
fn is_common(word: &str) -> bool {
    [
        "test", "tests", "spec", "main", "index", "should", "with", "that", "when", "from", "unit",
    ]
    .contains(&word)
}
