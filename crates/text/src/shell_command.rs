//! A command of a repository: a line as in a CI file, which a shell runs.

use crate::stored_as_text;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

const MAX_CHARS: usize = 4_000;

/// Words that begin a compound command.
const KEYWORDS: [&str; 13] =
    ["!", "{", "[[", "if", "for", "while", "until", "case", "select", "function", "time", "coproc", "(("];
/// Characters with a special meaning to a shell outside quotes.
const SIGNS: &str = "|&;<>()$`\n";

/// A line for a shell, kept and passed on exactly as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ShellCommand {
    text: String,
}

/// A line that is one program with its arguments, in which a shell would change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The environment variables that are set for it, as `(name, value)`.
    pub variables: Vec<(String, String)>,
    /// The program and its arguments, without their quotes.
    pub words: Vec<String>,
}

impl ShellCommand {
    /// Reads a command of a settings file or a plan, which must be one line.
    ///
    /// # Errors
    ///
    /// [`NotACommand`] says why the text is not a command.
    pub fn of_one_line(text: &str) -> Result<Self, NotACommand> {
        let text = text.trim();
        if text.contains(['\n', '\r']) { Err(NotACommand::SeveralLines) } else { text.parse() }
    }

    /// Returns the line as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parts of the line if it is one simple command, as many lines are; `None` if only a shell can split
    /// it.
    pub fn simple(&self) -> Option<SimpleCommand> {
        let words = words(&self.text)?;
        let has_pattern = words.iter().any(|word| word.is_pattern);
        one_command(words).filter(|_| !has_pattern)
    }

    /// Returns the same, but also accepts patterns such as `test/*.js`, which a shell may expand to several files. The
    /// result is for reading, not for running.
    pub fn as_written(&self) -> Option<SimpleCommand> {
        words(&self.text).and_then(one_command)
    }

    /// Returns every word that may be the path of a file that the line runs or reads. The program of a simple command
    /// is left out.
    pub fn mentioned(&self) -> Vec<String> {
        if let Some(simple) = self.simple() {
            return simple.words.into_iter().skip(1).collect();
        }
        let separates = |c: char| c.is_whitespace() || "|&;<>()`\"'=".contains(c);
        let words = self.text.split(separates).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for SimpleCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", shell_words::quote(value))?;
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
        for (number, word) in self.words.iter().enumerate() {
            let separator = if number == 0 { "" } else { " " };
            if number > 0 && !word.is_empty() && word.chars().all(is_plain) {
                write!(f, "{separator}{word}")?
            } else {
                write!(f, "{separator}{}", shell_words::quote(word))?
            }
        }
        Ok(())
    }
}

/// A word without its quotes.
struct Word {
    value: String,
    /// The number of bytes at its start that are outside quotes.
    bare: usize,
    /// `true` if a shell would replace it by matching files, or by several words.
    is_pattern: bool,
}

impl Word {
    fn variable(&self) -> Option<(String, String)> {
        let (name, value) = self.value.split_once('=')?;
        (is_name(name) && name.len() < self.bare).then(|| (name.to_owned(), value.to_owned()))
    }
}

/// `true` if the text can be the name of an environment variable.
pub(crate) fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the one command that the words form, if they do: variables, then a word that is not a shell keyword.
fn one_command(words: Vec<Word>) -> Option<SimpleCommand> {
    let mut words = words.into_iter().peekable();
    let mut variables = Vec::new();
    while let Some(variable) = words.peek().and_then(Word::variable) {
        variables.push(variable);
        words.next();
    }
    let words: Vec<String> = words.map(|word| word.value).collect();
    let first = words.first()?;
    let is_plain = !first.is_empty() && !KEYWORDS.contains(&first.as_str());
    is_plain.then_some(SimpleCommand { variables, words })
}

/// Splits a line into words. Returns `None` if a shell would replace or redirect anything in it, apart from patterns.
fn words(text: &str) -> Option<Vec<Word>> {
    let (mut words, mut word): (Vec<Word>, Option<Word>) = (Vec::new(), None);
    let mut chars = text.trim().chars();
    while let Some(c) = chars.next() {
        if matches!(c, ' ' | '\t') {
            words.extend(word.take());
            continue;
        }
        let is_first = word.is_none();
        let at = word.get_or_insert(Word { value: String::new(), bare: 0, is_pattern: false });
        match c {
            '\'' => at.value.push_str(&single(&mut chars)?),
            '"' => at.value.push_str(&double(&mut chars)?),
            '\\' => at.value.push(chars.next().filter(|next| *next != '\n')?),
            _ if SIGNS.contains(c) || is_first && matches!(c, '#' | '~') => return None,
            _ => {
                at.is_pattern |= matches!(c, '*' | '?');
                if at.bare == at.value.len() {
                    at.bare = at.bare.saturating_add(c.len_utf8());
                }
                at.value.push(c);
            }
        }
    }
    words.extend(word);
    for word in &mut words {
        word.is_pattern |= word.value.contains(['[', '{']) && !matches!(word.value.as_str(), "[" | "{}");
    }
    Some(words)
}

fn single(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let rest = chars.as_str();
    let (inside, after) = rest.split_once('\'')?;
    *chars = after.chars();
    Some(inside.to_owned())
}

fn double(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let mut inside = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(inside),
            '$' | '`' => return None,
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => inside.push(c),
                other => inside.extend(['\\', other]),
            },
            c => inside.push(c),
        }
    }
}

/// The reason why a text is not a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    /// It contains nothing to run.
    #[error("the command is empty")]
    Empty,
    /// A quote is opened and never closed.
    #[error("a quote in the command is never closed")]
    OpenQuote,
    /// It contains a zero byte, which no system accepts in an argument.
    #[error("the command contains a zero byte")]
    ZeroByte,
    /// It has more than one line.
    #[error(
        "a command is one line: join several with `&&`, or put them into a script in the repository and name that, as in \
         `sh ci/setup.sh`"
    )]
    SeveralLines,
    /// It contains a word for which a shell is needed, and would run without a shell.
    #[error("{0:?} is for a shell, and commands run without one: write it as sh -c '…'")]
    NeedsShell(String),
    /// It has more than 4,000 characters.
    #[error("the command is longer than {MAX_CHARS} characters")]
    TooLong,
}

/// Refuses a text that is too long or contains a zero byte.
pub(crate) fn bounded(text: &str) -> Result<(), NotACommand> {
    if text.chars().count() > MAX_CHARS {
        return Err(NotACommand::TooLong);
    }
    if text.contains('\0') {
        return Err(NotACommand::ZeroByte);
    }
    Ok(())
}

impl FromStr for ShellCommand {
    type Err = NotACommand;

    /// Accepts every line that may be valid for a shell; the shell itself checks it when the line runs.
    fn from_str(text: &str) -> Result<Self, NotACommand> {
        let text = text.trim();
        let is_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        bounded(text)?;
        if text.lines().all(is_nothing) {
            return Err(NotACommand::Empty);
        }
        // If the line contains one of these characters, only a shell can find the end of a quote.
        let is_clear = !text.contains(['$', '`', '#', '<']);
        match shell_words::split(text) {
            Err(_) if is_clear => Err(NotACommand::OpenQuote),
            Ok(words) if words.first().is_some_and(String::is_empty) => Err(NotACommand::Empty),
            Ok(_) | Err(_) => Ok(Self { text: text.to_owned() }),
        }
    }
}

stored_as_text!(ShellCommand, NotACommand);

#[cfg(test)]
mod tests {
    use super::{NotACommand, ShellCommand};

    fn command(text: &str) -> ShellCommand {
        text.parse().unwrap()
    }

    #[test]
    fn a_line_is_kept_as_it_was_written() {
        let lines = [
            "! grep -q x f",
            "cd web && npm test",
            "test \"$(cmd)\" = 0",
            "RUST_BACKTRACE=1 cargo test 2>&1 | tee out.txt",
            "if [ -f x ]; then ./x; fi",
            "echo don\\'t # don't",
            "cat <<'E'\nit's\nE",
        ];
        for line in lines {
            assert_eq!(command(&format!("  {line} ")).text(), line);
            let stored: ShellCommand = serde_json::from_str(&serde_json::to_string(line).unwrap()).unwrap();
            assert_eq!(stored.text(), line);
        }
    }

    #[test]
    fn what_no_shell_could_run_is_refused() {
        let refused = |text: &str| text.parse::<ShellCommand>().unwrap_err();
        assert_eq!(refused("  "), NotACommand::Empty);
        assert_eq!(refused("# cargo test"), NotACommand::Empty);
        assert_eq!(refused("'' x"), NotACommand::Empty);
        assert_eq!(refused("echo 'x"), NotACommand::OpenQuote);
        assert_eq!(refused("a\0b"), NotACommand::ZeroByte);
        let one_line = |text: &str| ShellCommand::of_one_line(text).map(|command| command.text().to_owned());
        assert_eq!(one_line("npm ci\nnpm run build\n"), Err(NotACommand::SeveralLines));
        assert_eq!(one_line(" npm ci\n").as_deref(), Ok("npm ci"));
        assert_eq!(refused(&"x".repeat(4_001)), NotACommand::TooLong);
    }

    #[test]
    fn one_plain_command_has_words_and_everything_else_has_none() {
        let table: [(&str, &[&str]); 8] = [
            ("cargo test", &["cargo", "test"]),
            ("CI=1 'npm' test", &["npm", "test"]),
            (r#"sh -c 'echo "$HOME"' a\ b "" "it's""#, &["sh", "-c", "echo \"$HOME\"", "a b", "", "it's"]),
            ("[ ! -e old.txt ]", &["[", "!", "-e", "old.txt", "]"]),
            ("find . -exec sh -n {} \\;", &["find", ".", "-exec", "sh", "-n", "{}", ";"]),
            ("go test -run 'Test/a|b' ./...", &["go", "test", "-run", "Test/a|b", "./..."]),
            ("make CFLAGS=-O2 test", &["make", "CFLAGS=-O2", "test"]),
            ("node -e \"if (1 > 2) {}\" a#b", &[]),
        ];
        for (text, words) in table {
            let simple = command(text).simple().map(|simple| simple.words).unwrap_or_default();
            assert_eq!(simple, words, "{text}");
        }
        let opaque = [
            "! grep -q x f",
            "cd web && npm test",
            "a | b",
            "a; b",
            "a &",
            "a > f",
            "echo $X",
            "echo \"$X\"",
            "echo `a`",
            "(a)",
            "ls *.rs",
            "a\nb",
            "~/bin/x",
            "a # b",
            "if a; then b; fi",
            "time a",
            "{ a; }",
            "X=1",
            "'X'=1 $a",
        ];
        for text in opaque {
            assert_eq!(command(text).simple(), None, "{text}");
        }
    }

    #[test]
    fn patterns_for_files_can_be_read_as_they_are_written() {
        for (text, is_one) in [("ls *.rs", true), ("a test/?.{js,ts}", true), ("ls *.rs > x", false)] {
            let written = command(text).as_written();
            let words = written.map(|written| written.words.join(" "));
            assert_eq!(words.as_deref(), is_one.then_some(text));
        }
    }

    #[test]
    fn a_plain_command_is_written_again_as_it_means() {
        for text in ["A='x y' npm test 'a b' \"it's\" --k=v", "cargo test -- --nocapture"] {
            let simple = command(text).simple().unwrap();
            assert_eq!(command(&simple.to_string()).simple(), Some(simple));
        }
    }

    #[test]
    fn files_are_mentioned_also_where_the_line_is_more_than_one_command() {
        assert_eq!(command("sh tests/run.sh").mentioned(), ["tests/run.sh"]);
        let mentioned = command("cd web && sh 'tests/run.sh' >out; X=$(./a.sh)").mentioned();
        for path in ["tests/run.sh", "./a.sh", "out"] {
            assert!(mentioned.iter().any(|word| word == path), "{mentioned:?}");
        }
    }
}
