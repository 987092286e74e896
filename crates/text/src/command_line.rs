//! A command as a person writes it, split into words once.

pub use crate::shell_command::NotACommand;

use crate::{shell_command, stored_as_text};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// First words for which a shell is needed: builtins and keywords.
const SHELL_WORDS: [&str; 14] =
    ["!", "{", "(", "[[", "cd", "pushd", "export", "source", ".", "set", "if", "for", "while", "case"];
/// Words between two commands of a shell. As the last word they are allowed: `find -exec` needs a final `;`.
const OPERATORS: [&str; 5] = ["&&", "||", "|", "&", ";"];
/// Beginnings of words that redirect input or output.
const REDIRECTIONS: [&str; 6] = [">", "1>", "2>", "&>", "<<", "|&"];

/// A command that is split into words as a POSIX shell would, but runs without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CommandLine {
    text: String,
    program: String,
    args: Vec<String>,
}

impl CommandLine {
    /// The command as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program's name or path.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The words after the program.
    pub fn args(&self) -> &[String] {
        &self.args
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for CommandLine {
    type Err = NotACommand;

    fn from_str(text: &str) -> Result<Self, NotACommand> {
        shell_command::bounded(text)?;
        let words = shell_words::split(text).map_err(|_| NotACommand::OpenQuote)?;
        let mut words = words.into_iter();
        let program = words.next().filter(|word| !word.is_empty()).ok_or(NotACommand::Empty)?;
        if let Some(word) = for_a_shell(&unquoted(text)) {
            return Err(NotACommand::NeedsShell(word.to_owned()));
        }
        Ok(Self { text: text.trim().to_owned(), program, args: words.collect() })
    }
}

/// Replaces each quoted or escaped part by a `q`, so that only words outside quotes are left.
fn unquoted(text: &str) -> String {
    let (mut bare, mut open) = (String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (open, c) {
            (None | Some('"'), '\\') => {
                chars.next();
                bare.push('q');
            }
            (None, '\'' | '"') => {
                open = Some(c);
                bare.push('q');
            }
            (Some(quote), _) if quote == c => open = None,
            (Some(_), _) => {}
            (None, _) => bare.push(c),
        }
    }
    bare
}

/// Returns the first word for which a shell is needed.
fn for_a_shell(bare: &str) -> Option<&str> {
    let words: Vec<&str> = bare.split_whitespace().collect();
    let is_assignment = |word: &str| word.split_once('=').is_some_and(|(name, _)| shell_command::is_name(name));
    let first = words.first().filter(|word| SHELL_WORDS.contains(*word) || is_assignment(word));
    let (_, before_last) = words.split_last()?;
    let ends = |word: &&&str| word.ends_with(';') && **word != ";" || OPERATORS.contains(*word);
    let is_redirection = |word: &&&str| REDIRECTIONS.iter().any(|sign| word.starts_with(sign));
    let found = first.or_else(|| before_last.iter().find(ends));
    let found = found.or_else(|| words.iter().find(is_redirection));
    found.copied()
}

stored_as_text!(CommandLine, NotACommand);

#[cfg(test)]
mod tests {
    use super::{CommandLine, NotACommand};

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

    #[test]
    fn what_is_for_a_shell_is_named_and_what_only_looks_so_is_taken() {
        let table = [
            ("cargo build && cargo test", "&&"),
            ("cd web; npm test", "cd"),
            ("make; make test", "make;"),
            ("pytest | tee out.txt", "|"),
            ("! grep -q x file", "!"),
            ("RUST_BACKTRACE=1 cargo test", "RUST_BACKTRACE=1"),
            ("pytest -q > out.txt", ">"),
            ("pytest -q 2>/dev/null", "2>/dev/null"),
            ("npm test 2>&1", "2>&1"),
            ("./serve & sleep 1", "&"),
        ];
        for (text, word) in table {
            assert_eq!(text.parse::<CommandLine>(), Err(NotACommand::NeedsShell(word.to_owned())), "{text}");
        }
        let taken = [
            "sh -c 'cd web && npm test > out.txt'",
            "grep -q '|' file",
            "grep -E a|b file",
            "find . -name *.sh -exec sh -n {} ;",
            "find . -exec sh -n {} \\; -print",
            "env RUST_BACKTRACE=1 cargo test",
            "make CFLAGS=-O2 test",
            "[ ! -e old.txt ]",
            "test 1 -lt 2",
            "go test -run Test/a|b ./...",
            "expr 2 \\> 1",
            "node -e \"if (1 > 2) { process.exit(1) }\"",
        ];
        for text in taken {
            assert!(text.parse::<CommandLine>().is_ok(), "{text}");
        }
    }
}
