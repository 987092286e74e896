//! Inquiries: the questions of agents to a person instead of a guess, their limits, and the answers.

use crate::ids::User;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::{clean::clean, shorten};

/// The most questions of one answer.
pub const MOST_QUESTIONS: usize = 3;

/// How often people are asked about one task or one plan. After that, an agent's own defaults hold.
pub const MOST_ROUNDS: usize = 3;

const LONGEST: usize = 1_000;

/// One question, and the agent's default if nobody answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inquiry {
    /// The question. An agent wrote it.
    pub question: String,
    /// The agent's modest default; empty if it named none.
    pub default: String,
}

/// The questions of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inquiries {
    /// The questions, at most [`MOST_QUESTIONS`].
    pub questions: Vec<Inquiry>,
    /// The number of questions beyond that limit.
    pub left_out: usize,
}

impl Inquiries {
    /// Reads the key `inquiries` of an agent's answer. Whatever is no question is left out.
    pub fn of_answer(answer: &Value) -> Self {
        let items = answer.get("inquiries").and_then(Value::as_array);
        let mut questions: Vec<Inquiry> = items.into_iter().flatten().filter_map(inquiry).collect();
        let left_out = questions.len().saturating_sub(MOST_QUESTIONS);
        questions.truncate(MOST_QUESTIONS);
        Self { questions, left_out }
    }

    /// `true` if nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}

fn inquiry(item: &Value) -> Option<Inquiry> {
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).unwrap_or_default();
        shorten::middle(clean(text).trim(), LONGEST)
    };
    let inquiry = match item {
        Value::String(_) => Inquiry { question: text(Some(item)), default: String::new() },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Inquiry { question: text(item.get("question")), default: text(item.get("default")) }
        }
    };
    (!inquiry.question.is_empty()).then_some(inquiry)
}

/// Returns the JSON Schema of the key `inquiries`.
pub(crate) fn schema() -> Value {
    json!({
        "type": "array",
        "maxItems": MOST_QUESTIONS,
        "description": "Questions to a person. Leave it out if you have none; if you ask, the rest may be empty.",
        "items": {
            "type": "object",
            "required": ["question", "default"],
            "properties": {
                "question": { "type": "string" },
                "default": { "type": "string", "description": "What you do if nobody answers." }
            }
        }
    })
}

/// An agent that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inquirer {
    Planner,
    Designer,
    Player,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// The agent that asked.
    pub by: Inquirer,
    pub inquiries: Inquiries,
    pub answer: Answer,
}

impl Round {
    /// Returns a person's words, if a person answered.
    pub fn words(&self) -> Option<&str> {
        match &self.answer {
            Answer::Words { text, .. } => Some(text),
            Answer::Defaults { .. } | Answer::Unattended => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A person's words, unchanged.
    Words { by: User, text: String },
    /// A person let the agent's defaults hold.
    Defaults { by: User },
    /// Nobody was asked: the agent's defaults hold.
    Unattended,
}

impl Answer {
    /// Returns a person's answer. Without words, the defaults hold.
    pub(crate) fn of(by: User, words: Option<String>) -> Self {
        match words.filter(|words| !words.trim().is_empty()) {
            Some(text) => Self::Words { by, text },
            None => Self::Defaults { by },
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InquiryPolicy {
    /// People are asked if only people with write access wrote the issue.
    #[default]
    ByAuthor,
    Ask,
    /// Nobody is asked.
    Default,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Respondent {
    Person,
    /// Nobody, so the agent's defaults hold.
    Nobody,
}

/// The consequence of an agent's question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// The work waits for a person.
    Person,
    /// The agent runs once more with its defaults, unless its answer is complete without one.
    Defaults,
    /// The answer counts like one without questions.
    Over,
}

impl Hearing {
    /// `true` if the answer is taken as an inquiry, so that its agent runs again. `is_whole` returns whether the answer
    /// would be complete without a question.
    pub fn takes(self, inquiries: &Inquiries, is_whole: impl FnOnce() -> bool) -> bool {
        let asks = !inquiries.is_empty();
        asks && match self {
            Self::Person => true,
            Self::Defaults => !is_whole(),
            Self::Over => false,
        }
    }
}

impl Respondent {
    /// Returns the consequence if an agent asks after these rounds.
    pub fn after(self, rounds: usize) -> Hearing {
        match self {
            Self::Person if rounds < MOST_ROUNDS => Hearing::Person,
            Self::Nobody if rounds == 0 => Hearing::Defaults,
            Self::Person | Self::Nobody => Hearing::Over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hearing, Inquiries, Inquiry, Respondent};
    use proptest::prelude::*;
    use serde_json::json;

    fn inquiry(question: &str, default: &str) -> Inquiry {
        let (question, default) = (question.to_owned(), default.to_owned());
        Inquiry { question, default }
    }

    #[test]
    fn the_first_three_questions_are_taken_and_the_others_counted() {
        let one = |n: u8| json!({ "question": format!("q{n}?"), "default": "d" });
        let asked = Inquiries::of_answer(&json!({ "inquiries": [one(1), one(2), one(3), one(4), one(5)] }));
        let expected: Vec<_> = (1..=3).map(|n| inquiry(&format!("q{n}?"), "d")).collect();
        assert_eq!((asked.questions, asked.left_out), (expected, 2));
    }

    #[test]
    fn whatever_is_no_question_is_left_out() {
        let asked = Inquiries::of_answer(&json!({ "inquiries": [
            null, 7, [], {}, { "question": " \u{200b}\n" }, { "question": 3 }, "Tabs?",
            { "question": "\u{1b}[31mRed\u{1b}[0m or\u{202e} blue? ", "default": null, "more": 1 }
        ] }));
        assert_eq!(asked.questions, [inquiry("Tabs?", ""), inquiry("Red or blue?", "")]);
        assert_eq!(asked.left_out, 0);
        for answer in [json!([]), json!({}), json!({ "inquiries": "x" }), json!({ "inquiries": {} }), json!(null)] {
            assert!(Inquiries::of_answer(&answer).is_empty(), "{answer}");
        }
    }

    #[test]
    fn asking_ends() {
        let person = [0, 2, 3, 9].map(|rounds| Respondent::Person.after(rounds));
        assert_eq!(person, [Hearing::Person, Hearing::Person, Hearing::Over, Hearing::Over]);
        let nobody = [0, 1, 2].map(|rounds| Respondent::Nobody.after(rounds));
        assert_eq!(nobody, [Hearing::Defaults, Hearing::Over, Hearing::Over]);
    }

    proptest! {
        #[test]
        fn no_question_is_long(text in "\\PC{0,40}", times in 0_usize..200) {
            let question = text.repeat(times);
            for inquiry in Inquiries::of_answer(&json!({ "inquiries": [question] })).questions {
                prop_assert!(inquiry.question.chars().count() <= super::LONGEST && !inquiry.question.is_empty());
            }
        }
    }
}
