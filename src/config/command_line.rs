//! A command as a person writes it, split into words once.

use serde::Deserialize;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

const MAX_CHARS: usize = 4_000;

/// A command split into words like a POSIX shell's, and run without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CommandLine {
    text: String,
    program: String,
    args: Vec<String>,
}

impl CommandLine {
    /// The command as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program's name or path.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The words after the program.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.args
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is not a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    /// There is no word in it.
    #[error("the command is empty")]
    Empty,
    /// A quote is opened and never closed.
    #[error("a quote in the command is never closed")]
    OpenQuote,
    /// No system takes such an argument.
    #[error("the command contains a zero byte")]
    ZeroByte,
    /// Longer than anybody writes by hand.
    #[error("the command is longer than {MAX_CHARS} characters")]
    TooLong,
}

impl FromStr for CommandLine {
    type Err = NotACommand;

    fn from_str(text: &str) -> Result<Self, NotACommand> {
        if text.chars().count() > MAX_CHARS {
            return Err(NotACommand::TooLong);
        }
        if text.contains('\0') {
            return Err(NotACommand::ZeroByte);
        }
        let mut words = shell_words::split(text)
            .map_err(|_| NotACommand::OpenQuote)?
            .into_iter();
        let program = words.next().filter(|word| !word.is_empty()).ok_or(NotACommand::Empty)?;
        Ok(Self {
            text: text.trim().to_owned(),
            program,
            args: words.collect(),
        })
    }
}

impl From<CommandLine> for String {
    fn from(command: CommandLine) -> Self {
        command.text
    }
}

impl TryFrom<String> for CommandLine {
    type Error = NotACommand;

    fn try_from(text: String) -> Result<Self, NotACommand> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::CommandLine;
    use super::NotACommand;

    #[test]
    fn words_are_split_like_a_shell_does_and_nothing_is_expanded() {
        let command: CommandLine = r#" sh -c 'echo "$HOME"' a\ b "" *.rs "#.parse().unwrap();
        assert_eq!(command.program(), "sh");
        assert_eq!(command.args(), ["-c", "echo \"$HOME\"", "a b", "", "*.rs"]);
        assert_eq!(command.text(), r#"sh -c 'echo "$HOME"' a\ b "" *.rs"#);
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        let refused = |text: &str| text.parse::<CommandLine>().unwrap_err();
        assert_eq!(refused("  "), NotACommand::Empty);
        assert_eq!(refused("'' x"), NotACommand::Empty);
        assert_eq!(refused("echo 'x"), NotACommand::OpenQuote);
        assert_eq!(refused("a\0b"), NotACommand::ZeroByte);
        assert_eq!(refused(&"x".repeat(4_001)), NotACommand::TooLong);
    }
}
