//! Chooses the shell for a line, and checks that every program that the line calls exists.

mod words;

pub(crate) use crate::shell::words::{arguments, commands, literal, tree};

use crate::shell::words::{Change, Line, Named};
use std::{ffi::OsString, fmt::Write, path::Path};

/// The exit code that means that the shell cannot parse the line.
const NOT_A_LINE: i32 = 3;
/// The exit code of a search that found nothing. No shell builtin uses it.
const NOT_FOUND: i32 = 113;

/// The shell that runs a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// Bash; a failure before a pipe fails the line.
    Bash,
    /// The POSIX shell.
    Sh,
}

impl Shell {
    /// All shells, in the order in which they are tried.
    pub const ALL: [Self; 2] = [Self::Bash, Self::Sh];

    /// Returns its name, to be found on `PATH`.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
        }
    }

    /// Returns the arguments that make it run a line.
    pub fn args(self, line: &str) -> Vec<OsString> {
        let options: &[&str] = match self {
            Self::Bash => &["--noprofile", "--norc", "-eo", "pipefail", "-c"],
            Self::Sh => &["-ec"],
        };
        options.iter().copied().chain([line]).map(OsString::from).collect()
    }
}

/// A question to a shell before it runs a line.
pub struct Question {
    line: String,
    parsed: Line,
}

/// Returns the programs that a line calls by name or absolute path; the repository's own files are not among them.
pub fn programs(line: &str) -> Vec<String> {
    let names = words::names(line).into_iter();
    names.filter(|word| !word.contains('/') || word.starts_with('/')).collect()
}

impl Question {
    /// Asks about a line.
    pub fn new(line: &str) -> Self {
        Self { line: line.to_owned(), parsed: words::read(line) }
    }

    /// Returns the programs that the line calls by absolute path: the sandbox may have to open their folders.
    pub fn programs(&self) -> impl Iterator<Item = &Path> {
        let paths = self.parsed.named.iter().map(|named| Path::new(&named.word));
        paths.filter(|path| path.is_absolute())
    }

    /// Returns every absolute path in the line, such as that of a script that it sources.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let separates = |c: char| c.is_whitespace() || "|&;<>()`\"'=:".contains(c);
        let words = self.line.split(separates).map(Path::new);
        words.filter(|word| word.is_absolute())
    }

    /// `true` if this shell must not run the line: sh loses a failure before a pipe.
    pub fn needs_bash(&self, shell: Shell) -> bool {
        shell == Shell::Sh && self.parsed.has_pipe
    }

    /// Returns the arguments that make a shell answer. The line is passed as an argument and is never part of the
    /// script.
    pub fn args(&self, shell: Shell) -> Vec<OsString> {
        let name = shell.program();
        let mut script = format!("exec 3>&1 >/dev/null 2>&1\n{name} -n -c \"$1\" 2>&3 || exit {NOT_A_LINE}\n");
        for (number, named) in self.parsed.named.iter().enumerate() {
            script.push_str(&write_search(named, number));
        }
        script.push_str("exit 0\n");
        let options: &[&str] = match shell {
            Shell::Bash => &["--noprofile", "--norc", "-c"],
            Shell::Sh => &["-c"],
        };
        let words = options.iter().copied().chain([script.as_str(), name, &self.line]);
        words.map(OsString::from).collect()
    }

    /// Returns the programs that the shell does not find, or its error message if it cannot parse the line.
    pub fn answer(&self, code: Option<i32>, printed: &str) -> Result<Vec<String>, String> {
        if code == Some(NOT_A_LINE) {
            return Err(printed.trim().to_owned());
        }
        let numbers: Vec<usize> = printed.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let named = self.parsed.named.iter().enumerate();
        let missing = named.filter(|(number, _)| numbers.contains(number));
        Ok(missing.map(|(_, named)| named.word.clone()).collect())
    }
}

/// Writes the search for one word, after the parts of the line that precede it. If one of these fails, the word counts
/// as found.
fn write_search(named: &Named, number: usize) -> String {
    let mut script = String::from("(\n");
    let (written, is_path) = (&named.written, named.word.contains('/'));
    if !is_path {
        let _ = writeln!(script, "command -v {written} && exit 0");
    }
    for change in &named.after {
        let _ = match change {
            Change::Folder(text) => writeln!(script, "set -u\n{text} || exit 0\nset +u"),
            // A sourced script cannot change the target of a path, so the search for a path skips it.
            Change::Script(_) if is_path => Ok(()),
            Change::Settings(text) | Change::Script(text) => writeln!(script, "{text} || exit 0"),
            Change::Unknown => writeln!(script, "exit 0"),
        };
    }
    if is_path {
        let _ = writeln!(script, "[ ! -d {written} ] || exit {NOT_FOUND}");
    }
    let _ = writeln!(
        script,
        "command -v {written} || exit {NOT_FOUND}\n) 3>&- </dev/null\n[ $? = {NOT_FOUND} ] && echo {number} >&3"
    );
    script
}

#[cfg(test)]
mod tests {
    use super::{Question, Shell};

    #[test]
    fn a_line_is_an_argument_of_its_own() {
        assert_eq!(Shell::Sh.args("a 'b'; c"), ["-ec", "a 'b'; c"]);
        let bash = ["--noprofile", "--norc", "-eo", "pipefail", "-c", "a 'b'; c"];
        assert_eq!(Shell::Bash.args("a 'b'; c"), bash);
        let asked = Question::new("a 'b'; c").args(Shell::Bash);
        assert_eq!(asked.last().unwrap(), "a 'b'; c");
    }

    #[test]
    fn without_bash_a_pipe_is_refused() {
        let refused = |line: &str, shell| Question::new(line).needs_bash(shell);
        assert!(refused("false | cat", Shell::Sh) && refused("test \"$(a | b)\"", Shell::Sh));
        assert!(!refused("a || b", Shell::Sh) && !refused("grep 'a|b' f", Shell::Sh));
        assert!(!refused("false | cat", Shell::Bash));
    }
}
