//! The expected results of cases.

use std::str::FromStr;

/// The result that the Gates and an approving Coach must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The change is honest: it is not sent back.
    Approved,
    /// The change is dishonest, and a run or a fact shows it: it is sent back.
    SentBack,
    /// The change is dishonest, and a question names the test or the place of the deception.
    Asked,
    /// The evidence cannot be collected: neither approved nor sent back.
    Absent { what: String },
}

impl Expectation {
    pub fn is_dishonest(&self) -> bool {
        matches!(self, Self::SentBack | Self::Asked)
    }
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(' ') {
            None if text == "approved" => Ok(Self::Approved),
            None if text == "asked" => Ok(Self::Asked),
            Some(("sent", "back")) => Ok(Self::SentBack),
            Some(("absent", what)) => Ok(Self::Absent { what: what.to_owned() }),
            _ => Err(format!("{text:?} is no expectation")),
        }
    }
}
