//! Shows questions about a change, to the Coach that answers them and to the Player that may answer first.

use crate::{
    agents::{
        fence::fenced,
        prompt::{
            MAX_LIST, Prompt,
            parts::{list, one_line},
        },
    },
    messages,
};
use domain::{
    question::{AnswerClaim, OpenQuestion, Question, QuoteSource, Topic, Unsettled},
    test_outcome::TestOutcome,
};
use std::fmt::Write;

const MAX_QUESTION: usize = 12_000;
const MAX_CLAIM: usize = 2_000;
const MAX_WORDS: usize = 8_000;
const MOST_PEOPLE: usize = 10;

/// Adds the words of people about the work after the issue. The answers to questions may quote them.
pub(super) fn people(prompt: &mut Prompt, words: &[String]) {
    let newest = words.iter().skip(words.len().saturating_sub(MOST_PEOPLE));
    let words: Vec<String> = newest.map(|words| fenced("words", words, MAX_WORDS)).collect();
    if !words.is_empty() {
        let body = "People with the right to decide said this about the work, the newest last:";
        prompt.section("What people said", &format!("{body}\n\n{}", words.join("\n\n")));
    }
    prompt.end_subject();
}

/// Adds the questions that the Coach has to answer, with the author's claims about those of the last turn.
pub(super) fn to_coach(prompt: &mut Prompt, questions: &[Question], claims: &[(&Question, &AnswerClaim)]) {
    if questions.is_empty() {
        return;
    }
    let mut body = INTRODUCTION.to_owned();
    for (number, question) in (1..).zip(questions) {
        let _ = write!(body, "\n\n{}", render(number, question));
    }
    if !claims.is_empty() {
        let claims: Vec<String> = claims.iter().map(|(question, claim)| claimed(question, claim)).collect();
        let claims = fenced("claims", &claims.join("\n"), MAX_QUESTION);
        let _ =
            write!(body, "\n\nThe author says about questions of the last turn, which are claims only:\n\n{claims}");
    }
    prompt.section("Questions", &body);
}

/// Returns the questions whose answers are missing, each with the reason.
pub(super) fn open(questions: &[Question], missing: &[Unsettled]) -> String {
    let shown = missing.iter().filter_map(|unsettled| {
        let number = unsettled.open.number;
        let question = questions.get(number.checked_sub(1)?)?;
        let why = messages::question_of_decision(unsettled);
        Some(format!("{}\n\n{}", render(number, question), fenced("reason", &why, MAX_CLAIM)))
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// Adds the questions of the last turn that nobody answered, for the Player.
pub(super) fn to_player(prompt: &mut Prompt, questions: &[Question], open: &[OpenQuestion]) {
    let shown = (1..).zip(questions).filter(|(number, _)| open.iter().any(|open| open.number == *number));
    let shown: Vec<String> = shown.map(|(number, question)| render(number, question)).collect();
    if !shown.is_empty() {
        let body = "Running could not decide these about your last change, and no answer settled them. If the change is \
                    not wanted, undo it. If it is, answer in `answers` with `because` and with a `quote` of the words \
                    that want it: the reviewer sees both as your claim.";
        prompt.section("Questions of the last turn", &format!("{body}\n\n{}", shown.join("\n\n")));
    }
}

const INTRODUCTION: &str = "Running could not decide these. Answer each in `answers`, by its number: `fine` or `not_fine`, \
     with a sentence in `because`. `fine` needs a `quote`, and a program checks that it stands there word for word: at least \
     three words, or a whole sentence, of the issue, the task, its criteria, or what people said. If a question says so, the \
     quote may be a line of the diff instead, as `path:line`. An approval that leaves a question open does not hold. If you \
     find no such words, it is `not_fine`.";

fn render(number: usize, question: &Question) -> String {
    let place = match question.topic.quote_source() {
        QuoteSource::Words => "",
        QuoteSource::WordsOrPlace => " The quote may be a line of the diff.",
    };
    let mut material = format!("about:\n{}\n", list(&question.about, MAX_LIST));
    // Writing to a String cannot fail.
    if let Some((path, line)) = &question.place {
        let _ = writeln!(material, "at: {}:{line}", one_line(path));
    }
    let _ = write!(material, "\n{}", question.material);
    if let Some(absence) = &question.absence {
        material.push_str(&messages::absence(absence));
    }
    let label = format!("question {number}");
    format!("**Question {number}.** {}{place}\n\n{}", sentence(question.topic), fenced(&label, &material, MAX_QUESTION))
}

fn claimed(question: &Question, claim: &AnswerClaim) -> String {
    let quote = match claim.quote.trim() {
        "" => String::new(),
        quote => format!(" Quoted: {}", one_line(quote)),
    };
    format!("{}: {}{quote}", one_line(&question.title()), one_line(&claim.because))
}

/// Returns the claims about questions of the last turn, with these questions.
pub(super) fn with_questions<'a>(
    questions: &'a [Question],
    claims: &'a [AnswerClaim],
) -> Vec<(&'a Question, &'a AnswerClaim)> {
    let found = claims.iter().filter_map(|claim| Some((questions.get(claim.question.checked_sub(1)?)?, claim)));
    found.collect()
}

fn sentence(topic: Topic) -> String {
    let sentence = match topic {
        Topic::Outcome(outcome) => of_outcome(outcome),
        Topic::Unnoticed => {
            "Nothing turned red when these functions were emptied, so no test notices what they do. Is that right?"
        }
        Topic::IgnoredAssertions => {
            "Some assertions of this test were replaced by failing ones, and it still passed. Is that right?"
        }
        Topic::Rule(rule) => {
            return format!(
                "A program that reads the change suspects this: {}. {} Is it so, or is it right as it stands?",
                rule.name(),
                rule.about()
            );
        }
    };
    sentence.to_owned()
}

fn of_outcome(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Weakened | TestOutcome::WeakenedWhileRed => {
            "This test was changed, and its new form passes on the old code as well: it may have stopped noticing. Which \
             words want that?"
        }
        TestOutcome::NoLongerNotices => {
            "This test was changed and passes in both forms. With the named function broken on purpose, its old form fails and \
             its new form passes. Which words want it to notice less?"
        }
        TestOutcome::Loosened => {
            "This test asserts less than before, and what it asserted still holds. Which words want it to ask for less?"
        }
        TestOutcome::ChangedOnPurpose | TestOutcome::RepairedAndChanged => {
            "Behaviour changed, and this test was changed to show the new one. Which words want the new behaviour?"
        }
        TestOutcome::ChangedNotComparable => {
            "This test was changed, its old form fails on the new code, and its new form cannot run on the old. Does it \
             still check as much, and which words want the difference?"
        }
        TestOutcome::Adapted => {
            "The old form of this test cannot run on the new code. Does the new form check as much, and which words want \
             what it was adapted to?"
        }
        TestOutcome::RemovedWithBehaviour => {
            "This test is gone or no longer runs, and what it checked does not hold any more. Which words want that?"
        }
        TestOutcome::RemovedStillHolds => {
            "This test is gone or no longer runs, though what it checked still holds. Which words want that?"
        }
        TestOutcome::NeedsNewTests => {
            "This test did not change, and fails on the new code unless the new tests run with it. Why does it need them?"
        }
        TestOutcome::RemovedWhileRed => "This test failed, and is gone or no longer runs. Which words want that?",
        TestOutcome::NeverRan => "This new test did not run. Is it right that it cannot run here?",
        TestOutcome::Kept
        | TestOutcome::Sharpened
        | TestOutcome::Broken
        | TestOutcome::Lost
        | TestOutcome::Witness
        | TestOutcome::WitnessByNeed
        | TestOutcome::NoWitness
        | TestOutcome::AsBefore
        | TestOutcome::Repaired
        | TestOutcome::RedBefore
        | TestOutcome::Unnamed => {
            "The results of this test before and after the change fit no usual case. Which words want what changed?"
        }
    }
}
