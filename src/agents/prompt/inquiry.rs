//! The rules for an agent's questions to a person, and the earlier answers.

use crate::agents::{
    fence::fenced,
    prompt::{MAX_ISSUE, Prompt},
};
use domain::inquiry::{Answer, Hearing, Round};
use std::fmt::Write;

impl Prompt {
    /// Adds the answered inquiries, oldest first, and the consequence of asking now.
    pub fn with_inquiries<'a>(mut self, rounds: impl IntoIterator<Item = &'a Round>, hearing: Hearing) -> Self {
        for round in rounds {
            self.section("Questions that were answered", &answered(round));
        }
        let body = match hearing {
            Hearing::Person => {
                "If the work turns on something that neither the issue nor the repository says, you may end with \
                 `inquiries` instead: at most 3 questions, each with the modest `default` that you would take. A person \
                 answers, and you are started again with the answers; what you changed so far is kept. Do not ask what \
                 you can find out, and do not ask for approval."
            }
            Hearing::Defaults | Hearing::Over => {
                "Nobody answers questions here. Where you would ask one, take your own modest default and finish the \
                 work. Name such questions, each with the `default` that you took, in `inquiries`: people are shown them."
            }
        };
        self.section("If you have a question", body);
        self
    }
}

fn answered(round: &Round) -> String {
    let mut questions = String::new();
    for (number, inquiry) in (1_usize..).zip(&round.inquiries.questions) {
        // Writing to a String cannot fail.
        let _ = write!(questions, "{number}. {}\n   Default: {}\n", inquiry.question, inquiry.default);
    }
    let questions = fenced("questions", &questions, MAX_ISSUE);
    let answer = match &round.answer {
        Answer::Words { text, .. } => format!(
            "A person with the right to decide answers, word for word. Where it settles a question, it is settled; for \
             the others the defaults hold:\n\n{}",
            fenced("answer", text, MAX_ISSUE)
        ),
        Answer::Defaults { .. } => "A person with the right to decide lets the defaults hold.".to_owned(),
        Answer::Unattended => "Nobody is asked here: the defaults hold.".to_owned(),
    };
    format!("An earlier run ended with these questions:\n\n{questions}\n\n{answer}")
}
