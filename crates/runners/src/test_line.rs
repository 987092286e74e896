//! Builds the line that runs the tests: the repository's command, with additions if it is one plain command of a known
//! runner. Nothing else in it is ever changed.

use crate::{
    detect::Repository,
    results,
    results::{
        RUNNERS,
        runner::{ArgumentPosition, Arguments, Runner, SelectedTests, starts},
    },
    test_index::{TestIndex, TestSite},
};
use domain::evidence::{Additions, Evidence};
use serde_json::Value;
use std::collections::BTreeSet;
use text::shell_command::{ShellCommand, SimpleCommand};

/// The longest line that selects tests, in bytes, since systems limit the length of one argument.
const LONGEST: usize = 60_000;

/// Commands that start another one, possibly after options of their own.
pub(crate) const WRAPPERS: [&[&str]; 23] = [
    &["corepack"],
    &["npx"],
    &["bunx"],
    &["pnpm", "exec"],
    &["pnpm"],
    &["yarn", "exec"],
    &["yarn", "run"],
    &["yarn"],
    &["uv", "run"],
    &["poetry", "run"],
    &["hatch", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["bundle", "exec"],
    &["composer", "exec"],
    &["coverage", "run"],
    &["python"],
    &["python3"],
    &["c8"],
    &["nyc"],
    &["cross-env"],
    &["env"],
    &["xvfb-run"],
];

/// Environment variables that make runners name their tests. Each is read by one runner only, even if a script or
/// `make` starts it.
///
/// pytest continues after a file that it cannot load: an old failure must not keep the other tests from running.
const VARIABLES: [(&str, &str); 3] = [
    ("PYTEST_ADDOPTS", "-vv -rfEp --continue-on-collection-errors"),
    ("NEXTEST_STATUS_LEVEL", "all"),
    ("SPEC_OPTS", "--format documentation"),
];

/// A way to run a command: the line for the shell, and environment variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub line: String,
    /// The variables that make runners name their tests.
    pub variables: &'static [(&'static str, &'static str)],
}

impl Invocation {
    /// Uses the line without variables.
    pub fn plain(line: &str) -> Self {
        Self { line: line.to_owned(), variables: &[] }
    }

    /// Returns a text that identifies it in cache keys.
    pub fn key(&self) -> String {
        format!("{}\0{:?}", self.line, self.variables)
    }
}

/// The tests of the commit that run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    /// These tests, if the runner can select them.
    Named(Named),
}

/// Some tests by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The tests' names, as the runner spells them.
    pub names: Vec<String>,
    /// The files that contain them; empty unless known for each test.
    pub files: BTreeSet<String>,
}

impl Selection {
    /// Selects the tests of these names; the index `tests` may know their files.
    pub fn of(names: Vec<String>, tests: &TestIndex) -> Self {
        let sites: Vec<Vec<&TestSite>> = names.iter().map(|name| tests.find(name)).collect();
        let are_known = sites.iter().all(|sites| !sites.is_empty());
        let files = sites.into_iter().flatten().map(|site| site.path.clone());
        Self::Named(Named { files: files.filter(|_| are_known).collect(), names })
    }
}

/// The test command with the known facts about its runner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestLine {
    text: String,
    /// The text before the call, which changes to the project's folder.
    prefix: String,
    /// The project's folder, with a trailing `/`; empty for the root.
    folder: String,
    call: Option<Call>,
    /// The line that runs before it.
    earlier: Option<Box<Self>>,
}

/// One plain command of a known runner.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    command: SimpleCommand,
    runner: &'static Runner,
    way: ArgumentStyle,
    /// `true` if Cargo builds a test binary from each file below `tests`.
    has_usual_binaries: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ArgumentStyle {
    /// Directly; the runner's own words begin at this index in the command.
    Direct(usize),
    /// Through a script of `package.json` with these words; arguments follow the command after these separators.
    Script(Vec<String>, &'static [&'static str]),
}

impl TestLine {
    /// Takes a command that people wrote.
    pub fn new(command: &ShellCommand, repository: &Repository<'_>) -> Self {
        Self { text: command.text().to_owned(), call: Call::of(command, repository), ..Self::default() }
    }

    /// Takes a detected command, which may first change to the project's folder.
    pub fn detected(command: &ShellCommand, folder: Option<&str>, repository: &Repository<'_>) -> Self {
        let below = folder.and_then(|folder| {
            let prefix = format!("cd {} && ", shell_words::quote(folder));
            let own: ShellCommand = command.text().strip_prefix(&prefix)?.parse().ok()?;
            Some(Self {
                text: command.text().to_owned(),
                prefix,
                folder: format!("{folder}/"),
                call: Call::of(&own, &repository.below(folder)),
                earlier: None,
            })
        });
        below.unwrap_or_else(|| Self::new(command, repository))
    }

    /// Runs another line first. This one runs even if tests of the other fail.
    pub fn after(self, earlier: Self) -> Self {
        Self { earlier: Some(Box::new(earlier)), ..self }
    }

    /// Returns the line without additions.
    pub fn text(&self) -> String {
        self.joined(self.text.clone(), Self::text)
    }

    fn joined(&self, own: String, of_earlier: fn(&Self) -> String) -> String {
        match &self.earlier {
            Some(earlier) => format!("({}) || s=1; ({own}) && exit ${{s:-0}}", of_earlier(earlier)),
            None => own,
        }
    }

    /// Returns the way to run the tests, with or without additions.
    pub fn invocation(&self, additions: Additions) -> Invocation {
        if additions.are_made() {
            Invocation { line: self.naming(), variables: &VARIABLES }
        } else {
            Invocation::plain(&self.text())
        }
    }

    /// `true` if something can be added to the command: arguments for its runner, or variables, if the plain run's
    /// output comes from a runner that reads them.
    pub fn has_additions(&self, plain: &Evidence) -> bool {
        match plain {
            Evidence::Passed(found) | Evidence::Failed(found) => {
                self.naming() != self.text() || results::reads_variables(&found.output)
            }
            Evidence::Absent(_) => false,
        }
    }

    /// Returns the command with arguments that make the runner name every test, and run every test even after a
    /// failure.
    pub fn naming(&self) -> String {
        let named = self.call.as_ref().and_then(Call::naming);
        let own = named.map_or_else(|| self.text.clone(), |command| format!("{}{command}", self.prefix));
        self.joined(own, Self::naming)
    }

    /// Returns the call, unless another line runs first.
    fn only_call(&self) -> Option<&Call> {
        self.call.as_ref().filter(|_| self.earlier.is_none())
    }

    /// Returns the way to run only these tests; `None` if the runner cannot select them.
    pub fn selecting(&self, additions: Additions, wanted: &Named, paths: &[String]) -> Option<Invocation> {
        let call = self.only_call().filter(|_| additions != Additions::Refused)?;
        let naming = call.naming().filter(|_| additions.are_made());
        let named = Call { command: naming.unwrap_or_else(|| call.command.clone()), ..call.clone() };
        let names: Vec<&str> = wanted.names.iter().map(|name| own_name(name)).collect();
        let files = wanted.files.iter().map(|file| file.strip_prefix(&self.folder));
        let files: Vec<&str> = files.collect::<Option<_>>().unwrap_or_default();
        // The runner would read it as an option.
        if names.iter().chain(&files).any(|name| name.starts_with('-')) {
            return None;
        }
        let paths = paths.iter().filter_map(|path| path.strip_prefix(&self.folder));
        let asked = SelectedTests {
            names: &names,
            files: &files,
            paths: &paths.collect::<Vec<_>>(),
            has_usual_binaries: call.has_usual_binaries,
        };
        let line = format!("{}{}", self.prefix, named.selecting(&asked)?);
        (line.len() <= LONGEST).then(|| Invocation { line, ..self.invocation(additions) })
    }

    /// Returns the line that builds the tests and runs none, if the runner can do that.
    pub fn building(&self) -> Option<String> {
        let call = self.only_call()?;
        let build = call.runner.build?;
        let ArgumentStyle::Direct(at) = call.way else {
            return None;
        };
        let mut command = call.command.clone();
        let (wrapper, own) = command.words.split_at_checked(at)?;
        let own = own.iter().take_while(|word| *word != "--");
        command.words = wrapper.iter().chain(own).cloned().chain([build.to_owned()]).collect();
        Some(format!("{}{command}", self.prefix))
    }
}

impl Call {
    fn of(command: &ShellCommand, repository: &Repository<'_>) -> Option<Self> {
        let command = command.simple()?;
        if let Some((script, separator)) = script(&command, repository) {
            let script = script.as_written()?;
            let (at, runner) = runner(&script.words)?;
            let words = script.words.get(at..)?.to_vec();
            return Some(Self {
                command,
                runner,
                way: ArgumentStyle::Script(words, separator),
                has_usual_binaries: false,
            });
        }
        let (at, runner) = runner(&command.words)?;
        let manifest = repository.text("Cargo.toml").unwrap_or_default();
        Some(Self {
            command,
            runner,
            way: ArgumentStyle::Direct(at),
            has_usual_binaries: !["[[test]]", "autotests"].iter().any(|said| manifest.contains(said)),
        })
    }

    /// Returns the runner's own words.
    fn words(&self) -> Vec<&str> {
        let words = match &self.way {
            ArgumentStyle::Direct(at) => self.command.words.get(*at..).unwrap_or_default(),
            ArgumentStyle::Script(words, _) => words,
        };
        words.iter().map(String::as_str).collect()
    }

    fn naming(&self) -> Option<SimpleCommand> {
        let naming = self.runner.naming.as_ref()?;
        let words = self.words();
        let is_settled = |word: &&str| naming.unless.iter().any(|flag| word.starts_with(flag));
        if words.iter().any(is_settled) {
            return None;
        }
        self.with(Arguments::at_end([naming.argument.to_owned()]))
    }

    fn selecting(&self, asked: &SelectedTests<'_>) -> Option<SimpleCommand> {
        let select = self.runner.select.as_ref()?;
        let words = self.words();
        let selects = |word: &&str| select.unless.iter().any(|flag| word.starts_with(flag));
        if words.iter().any(selects) {
            return None;
        }
        let arguments = (select.by)(&words, asked)?;
        let mut call = self.clone();
        if let ArgumentStyle::Direct(at) = self.way {
            let (head, own) = call.command.words.split_at_checked(at)?;
            let is_left = |number: &usize| !arguments.replaced.contains(number);
            let own = own.iter().enumerate().filter(|(number, _)| is_left(number));
            call.command.words = head.iter().chain(own.map(|(_, word)| word)).cloned().collect();
        }
        call.with(arguments)
    }

    /// Returns the command with more arguments, if they can be inserted at their place.
    fn with(&self, arguments: Arguments) -> Option<SimpleCommand> {
        let mut command = self.command.clone();
        let own = self.words();
        let dashes = own.iter().position(|word| *word == "--");
        let words = &mut command.words;
        match (&self.way, arguments.position) {
            (ArgumentStyle::Script(_, separator), ArgumentPosition::End) if dashes.is_none() => {
                let before = separator.iter().filter(|_| !words.iter().any(|word| word == "--"));
                let before: Vec<String> = before.map(|word| (*word).to_owned()).collect();
                words.extend(before);
                words.extend(arguments.words);
            }
            // Arguments are appended to the script's words, so they follow its options only if it has nothing else.
            (ArgumentStyle::Script(own, separator), ArgumentPosition::Options)
                if own.iter().skip(1).all(|word| word.starts_with('-')) =>
            {
                words.extend(separator.iter().map(|word| (*word).to_owned()));
                words.extend(arguments.words);
            }
            (ArgumentStyle::Script(..), _) => return None,
            (ArgumentStyle::Direct(at), position) => {
                let end = words.len();
                let dashes = dashes.map(|dashes| at.saturating_add(dashes));
                let index = match position {
                    ArgumentPosition::End => dashes.unwrap_or(end),
                    ArgumentPosition::Options => at.saturating_add(1),
                    ArgumentPosition::Binary => {
                        if dashes.is_none() {
                            words.push("--".to_owned());
                        }
                        words.len()
                    }
                };
                words.splice(index..index, arguments.words);
            }
        }
        Some(command)
    }
}

/// Returns the index of the runner's first word, and the runner.
fn runner(words: &[String]) -> Option<(usize, &'static Runner)> {
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut at = 0;
    loop {
        let rest = all.get(at..)?;
        if let Some(runner) = RUNNERS.iter().copied().find(|runner| runner.is_called_by(rest)) {
            return Some((at, runner));
        }
        let wrapper = WRAPPERS.iter().find(|wrapper| starts(rest, wrapper))?;
        at = at.saturating_add(wrapper.len());
        at = at.saturating_add(options(all.get(at..)?));
    }
}

/// Returns the number of words of a wrapper's options and variables before the call of a runner or another wrapper.
fn options(words: &[&str]) -> usize {
    let is_call = |at: &usize| {
        let rest = words.get(*at..).unwrap_or_default();
        RUNNERS.iter().any(|runner| runner.is_called_by(rest)) || WRAPPERS.iter().any(|wrapper| starts(rest, wrapper))
    };
    let end = (0..words.len()).find(is_call).unwrap_or(words.len());
    let is_option = |at: usize| {
        let word = words.get(at).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        word.starts_with('-') || word.contains('=') || before.is_some_and(|before| before.starts_with('-'))
    };
    if (0..end).all(is_option) { end } else { words.len() }
}

/// Returns the script of `package.json` that a command starts, and the separator before arguments for the script
/// itself.
fn script(command: &SimpleCommand, repository: &Repository<'_>) -> Option<(ShellCommand, &'static [&'static str])> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["corepack"]).unwrap_or(&words);
    let (name, separator): (&str, &[&str]) = match words {
        ["npm", "test" | "t", ..] => ("test", &["--"]),
        ["npm", "run" | "run-script", name, ..] => (name, &["--"]),
        ["yarn" | "pnpm", "run", name, ..] => (name, &[]),
        ["yarn" | "pnpm", name, ..] => (name, &[]),
        _ => return None,
    };
    let text = repository.text("package.json")?;
    let manifest: Value = text::json::read(text.as_bytes()).ok()?;
    let script = manifest.get("scripts")?.get(name)?.as_str()?;
    Some((script.parse().ok()?, separator))
}

/// Returns the test's name without the additions of AutoBuild's own readers: the number of a further test of the same
/// name, or a remark.
pub fn own_name(name: &str) -> &str {
    let numbered = name.rsplit_once(" ⟨").filter(|(_, number)| number.ends_with('⟩'));
    match (numbered, name.rsplit_once(" (")) {
        (Some((own, _)), _) | (None, Some((own, "error)" | "did not run)"))) => own,
        (None, Some(_) | None) => name,
    }
}

/// `true` if AutoBuild's own readers gave this name to a file or a package that was not built or loaded. None of its
/// tests has a result.
pub fn is_unbuilt(name: &str) -> bool {
    name.ends_with(" (did not run)")
}

#[cfg(test)]
mod tests;
