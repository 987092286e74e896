//! A comment on one line of a diff.

/// A comment on one line of the new version of a file that a diff shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineComment {
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    pub body: String,
}
