//! Mistakes in a text that a person or an agent wrote, worded so that the author can correct them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The most mistakes shown at once. Once these are corrected, the next reading shows the others.
const MOST_SHOWN: usize = 20;

/// A position in a text; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u64,
    pub column: u64,
}

impl Position {
    /// The start of the text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One mistake: a sentence that names the key or the task and the rule, and the position in the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    /// For example "TASK-002: `type` is missing".
    pub sentence: String,
    /// The position; `None` for JSON, which is read without positions.
    pub place: Option<Position>,
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

/// A mistake in the settings file of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsMistake {
    /// The file is too large.
    TooLarge {
        /// The most bytes that are read.
        most: usize,
    },
    /// A folder, a submodule or a dead link is in its place.
    NoFile,
    /// Something in the file is not valid.
    Invalid {
        place: Position,
        /// The key with its parents, for example `budget.usd_per_task`; empty for the file as a whole.
        key: String,
        /// The parser's message.
        said: String,
        /// The values that would be valid.
        valid: String,
    },
}

/// All mistakes in one text; never empty when used as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Mistakes(pub Vec<Mistake>);

impl Mistakes {
    pub fn one(sentence: impl Into<String>, place: Option<Position>) -> Self {
        let mut mistakes = Self::default();
        mistakes.add(sentence, place);
        mistakes
    }

    pub fn add(&mut self, sentence: impl Into<String>, place: Option<Position>) {
        self.0.push(Mistake { sentence: sentence.into(), place });
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

/// Returns `text` in backticks, on one line and cut to 80 characters.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let plain = |c: char| if c.is_control() || c == '`' { ' ' } else { c };
    let start: String = text.chars().take(MOST).map(plain).collect();
    match text.chars().nth(MOST) {
        Some(_) => format!("`{start}…`"),
        None => format!("`{start}`"),
    }
}
