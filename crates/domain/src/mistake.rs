//! What is wrong with something that a person or an agent wrote, in words that help to mend it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Mistakes shown at once; who mends these will find the others.
const MOST_SHOWN: usize = 20;

/// A place in a text, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

impl Place {
    /// The beginning of the text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One mistake: a sentence that names the task or key and the rule, and the place where the text has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    /// For example "TASK-002: `type` is missing".
    pub sentence: String,
    /// Where; JSON has no places.
    pub place: Option<Place>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        match self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

/// What is wrong with the settings file of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsMistake {
    /// It is larger than is read.
    TooLarge {
        /// The most bytes that are read.
        most: usize,
    },
    /// A folder, a submodule or a dead link stands in its place.
    NoFile,
    /// Something in it is not valid.
    Invalid {
        /// Where it stands.
        place: Place,
        /// The key with those around it, for example `budget.usd_per_task`; empty for the file as a whole.
        key: String,
        /// What the parser says of it.
        said: String,
        /// What would be valid.
        valid: String,
    },
    /// The sentence that an older version stored.
    #[serde(untagged)]
    Stored(String),
}

/// Everything that is wrong with one text; never empty as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Mistakes(pub Vec<Mistake>);

impl Mistakes {
    /// A single mistake.
    pub fn one(sentence: impl Into<String>, place: Option<Place>) -> Self {
        Self(vec![Mistake {
            sentence: sentence.into(),
            place,
        }])
    }

    /// Notes another mistake.
    pub fn add(&mut self, sentence: impl Into<String>, place: Option<Place>) {
        self.0.push(Mistake {
            sentence: sentence.into(),
            place,
        });
    }

    /// `value` if there is no mistake.
    pub fn or_else_value<T>(self, value: T) -> Result<T, Self> {
        match self.0.is_empty() {
            true => Ok(value),
            false => Err(self),
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().take(MOST_SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{mistake}")?;
        }
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// `text` in back-ticks, on one line and short enough for a sentence.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let plain = |c: char| if c.is_control() || c == '`' { ' ' } else { c };
    let start: String = text.chars().take(MOST).map(plain).collect();
    match text.chars().nth(MOST) {
        Some(_) => format!("`{start}…`"),
        None => format!("`{start}`"),
    }
}
