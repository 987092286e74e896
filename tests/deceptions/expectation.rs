//! What is expected of a case.

use std::str::FromStr;

/// What must follow from the Gates and a Coach that always approves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The change is approved; where a word is given, that is shown beside the approval.
    Approved { with: Option<String> },
    /// The change is sent back, and one of these words is among the reasons, at this path where one is given.
    Refused { by: Vec<String>, at: Option<String> },
    /// The evidence could not be had: neither approved nor sent back.
    Absent { what: String },
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let by = |words: &str| words.split('|').map(str::to_owned).collect();
        match words.as_slice() {
            ["approved"] => Ok(Self::Approved { with: None }),
            ["approved", "with", word] => Ok(Self::Approved {
                with: Some((*word).to_owned()),
            }),
            ["refused", "by", words] => Ok(Self::Refused {
                by: by(words),
                at: None,
            }),
            ["refused", "by", words, "in", path] => Ok(Self::Refused {
                by: by(words),
                at: Some((*path).to_owned()),
            }),
            ["absent", what] => Ok(Self::Absent {
                what: (*what).to_owned(),
            }),
            _ => Err(format!("{text:?} is no expectation")),
        }
    }
}
