//! The line that runs the tests: the repository's command, and what may be added to it where it is one plain command of
//! a known runner. Nothing else is ever changed in it.

use crate::gates::{
    detect::Repository,
    results,
    results::{
        RUNNERS,
        runner::{Arguments, Asked, Place, Runner, starts},
    },
    test_index::{Site, TestIndex},
};
use domain::{
    evidence::{Additions, Evidence},
    shell_command::{ShellCommand, SimpleCommand},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest line that selects tests, in bytes: systems limit the length of one argument.
const LONGEST: usize = 60_000;

/// Commands that start another one, with their own options before it.
const WRAPPERS: [&[&str]; 20] = [
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
    &["coverage", "run"],
    &["python"],
    &["python3"],
    &["c8"],
    &["nyc"],
    &["cross-env"],
    &["env"],
    &["xvfb-run"],
];

/// Variables that make runners name their tests, each read by one runner alone, also where a script or `make` starts it.
///
/// pytest goes on where a file cannot be loaded: what failed before must not keep the rest from running.
const VARIABLES: [(&str, &str); 2] = [
    ("PYTEST_ADDOPTS", "-vv -rfEp --continue-on-collection-errors"),
    ("NEXTEST_STATUS_LEVEL", "all"),
];

/// How a command is run: the line that a shell gets, and variables for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) line: String,
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

impl Invocation {
    /// The line alone.
    pub(crate) fn plain(line: &str) -> Self {
        Self {
            line: line.to_owned(),
            variables: &[],
        }
    }

    /// What tells it from others.
    pub(crate) fn key(&self) -> String {
        format!("{}\0{:?}", self.line, self.variables)
    }
}

/// Which tests of the commit are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    Named(Named),
}

/// Some tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// As the runner spells them.
    pub(crate) names: Vec<String>,
    /// The files that they stand in; none where that is not known of each.
    pub(crate) files: BTreeSet<String>,
}

impl Selection {
    /// The tests of these names, which `tests` may know.
    pub(crate) fn of(names: Vec<String>, tests: &TestIndex) -> Self {
        let sites: Vec<Vec<&Site>> = names.iter().map(|name| tests.find(name)).collect();
        let are_known = sites.iter().all(|sites| !sites.is_empty());
        let files = sites.into_iter().flatten().map(|site| site.path.clone());
        Self::Named(Named {
            files: files.filter(|_| are_known).collect(),
            names,
        })
    }
}

/// The test command with what is known of its runner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestLine {
    text: String,
    /// What stands before the call: the way to the project's folder.
    prefix: String,
    /// The project's folder, with a `/` behind it; empty where it is the root.
    folder: String,
    call: Option<Call>,
}

/// One plain command of a known runner.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    command: SimpleCommand,
    runner: &'static Runner,
    way: Way,
    /// Whether Cargo makes a test binary of each file below `tests`.
    has_usual_binaries: bool,
}

/// How arguments reach the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// The runner's own words begin here in the command.
    Direct(usize),
    /// A script of `package.json` starts it with these words; arguments go behind the command, after these.
    Script(Vec<String>, &'static [&'static str]),
}

impl TestLine {
    pub(crate) fn new(command: &ShellCommand, repository: &Repository<'_>) -> Self {
        Self {
            text: command.text().to_owned(),
            prefix: String::new(),
            folder: String::new(),
            call: Call::of(command, repository),
        }
    }

    /// A command that was detected, which may go to the project's folder first.
    pub(crate) fn detected(command: &ShellCommand, folder: Option<&str>, repository: &Repository<'_>) -> Self {
        let own = folder.and_then(|folder| {
            let prefix = format!("cd {} && ", shell_words::quote(folder));
            let own: ShellCommand = command.text().strip_prefix(&prefix)?.parse().ok()?;
            let call = Call::of(&own, &repository.below(folder));
            Some((prefix, format!("{folder}/"), call))
        });
        match own {
            Some((prefix, folder, call)) => Self {
                text: command.text().to_owned(),
                prefix,
                folder,
                call,
            },
            None => Self::new(command, repository),
        }
    }

    /// How the tests are run, with what is added or as the command stands.
    pub(crate) fn invocation(&self, additions: Additions) -> Invocation {
        match additions.are_made() {
            true => Invocation {
                line: self.naming(),
                variables: &VARIABLES,
            },
            false => Invocation::plain(&self.text),
        }
    }

    /// Whether something may be added to a command that came to this as it stands: arguments for its runner, or variables
    /// that a runner reads whose words its output has.
    pub(crate) fn has_additions(&self, plain: &Evidence) -> bool {
        match plain {
            Evidence::Passed(found) | Evidence::Failed(found) => {
                self.naming() != self.text || results::reads_variables(&found.output)
            }
            Evidence::Absent(_) => false,
        }
    }

    /// The command with what makes the runner name every test, and run every test also where one fails.
    #[must_use]
    pub fn naming(&self) -> String {
        let named = self.call.as_ref().and_then(Call::naming);
        named.map_or_else(|| self.text.clone(), |command| format!("{}{command}", self.prefix))
    }

    /// The same for these tests alone; `None` where the runner cannot select them.
    pub(crate) fn selecting(&self, additions: Additions, wanted: &Named, paths: &[String]) -> Option<Invocation> {
        let call = self.call.as_ref().filter(|_| additions != Additions::Refused)?;
        let naming = call.naming().filter(|_| additions.are_made());
        let named = Call {
            command: naming.unwrap_or_else(|| call.command.clone()),
            ..call.clone()
        };
        let names: Vec<&str> = wanted.names.iter().map(|name| own_name(name)).collect();
        let files = wanted.files.iter().map(|file| file.strip_prefix(&self.folder));
        let files: Vec<&str> = files.collect::<Option<_>>().unwrap_or_default();
        // A runner would take it for one of its options.
        if names.iter().chain(&files).any(|name| name.starts_with('-')) {
            return None;
        }
        let asked = Asked {
            names: &names,
            files: &files,
            paths,
            has_usual_binaries: call.has_usual_binaries,
        };
        let line = format!("{}{}", self.prefix, named.selecting(&asked)?);
        (line.len() <= LONGEST).then(|| Invocation {
            line,
            ..self.invocation(additions)
        })
    }

    /// The line that builds the tests and runs none, where the runner can.
    pub(crate) fn building(&self) -> Option<String> {
        let call = self.call.as_ref()?;
        let build = call.runner.build?;
        let Way::Direct(at) = call.way else { return None };
        let mut command = call.command.clone();
        let own = command.words.get(at..)?.iter().position(|word| word == "--");
        command
            .words
            .truncate(own.map_or(command.words.len(), |own| at.saturating_add(own)));
        command.words.push(build.to_owned());
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
                way: Way::Script(words, separator),
                has_usual_binaries: false,
            });
        }
        let (at, runner) = runner(&command.words)?;
        let manifest = repository.text("Cargo.toml").unwrap_or_default();
        Some(Self {
            command,
            runner,
            way: Way::Direct(at),
            has_usual_binaries: !["[[test]]", "autotests"].iter().any(|said| manifest.contains(said)),
        })
    }

    /// The runner's own words.
    fn words(&self) -> Vec<&str> {
        let words = match &self.way {
            Way::Direct(at) => self.command.words.get(*at..).unwrap_or_default(),
            Way::Script(words, _) => words,
        };
        words.iter().map(String::as_str).collect()
    }

    fn naming(&self) -> Option<SimpleCommand> {
        let naming = self.runner.naming?;
        let words = self.words();
        let is_settled = |word: &&str| naming.unless.iter().any(|flag| word.starts_with(flag));
        if words.iter().any(is_settled) {
            return None;
        }
        let arguments = naming.arguments.iter().map(|argument| (*argument).to_owned());
        self.with(Arguments {
            place: naming.place,
            words: arguments.collect(),
        })
    }

    fn selecting(&self, asked: &Asked<'_>) -> Option<SimpleCommand> {
        let select = self.runner.select?;
        let (arguments, replaced) = select(&self.words(), asked)?;
        let mut call = self.clone();
        if let (false, Way::Direct(at)) = (replaced.is_empty(), &self.way) {
            let (head, own) = call.command.words.split_at_checked(*at)?;
            let own = own.iter().enumerate().filter(|(number, _)| !replaced.contains(number));
            call.command.words = head.iter().chain(own.map(|(_, word)| word)).cloned().collect();
        }
        call.with(arguments)
    }

    /// The command with more arguments, where they can be put in their place.
    fn with(&self, arguments: Arguments) -> Option<SimpleCommand> {
        let mut command = self.command.clone();
        let own = self.words();
        let dashes = own.iter().position(|word| *word == "--");
        let words = &mut command.words;
        match (&self.way, arguments.place) {
            (Way::Script(_, separator), Place::End) if dashes.is_none() => {
                let before = separator.iter().filter(|_| !words.iter().any(|word| word == "--"));
                let before: Vec<String> = before.map(|word| (*word).to_owned()).collect();
                words.extend(before);
                words.extend(arguments.words);
            }
            // Behind the script's words they stand behind its options, if it has nothing else.
            (Way::Script(own, separator), Place::Options) if own.iter().skip(1).all(|word| word.starts_with('-')) => {
                words.extend(separator.iter().map(|word| (*word).to_owned()));
                words.extend(arguments.words);
            }
            (Way::Script(..), _) => return None,
            (Way::Direct(at), place) => {
                let end = words.len();
                let dashes = dashes.map(|dashes| at.saturating_add(dashes));
                let index = match place {
                    Place::End => dashes.unwrap_or(end),
                    Place::Options => at.saturating_add(1),
                    Place::Binary => {
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

/// Where a runner's own words begin, and which runner it is.
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

/// How many words a wrapper's options and variables take, up to the first that a runner or another wrapper is called by.
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
    match (0..end).all(is_option) {
        true => end,
        false => words.len(),
    }
}

/// The script of `package.json` that a command starts, and what must stand before arguments for the script itself.
fn script(command: &SimpleCommand, repository: &Repository<'_>) -> Option<(ShellCommand, &'static [&'static str])> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let (name, separator): (&str, &[&str]) = match words.as_slice() {
        ["npm", "test" | "t", ..] => ("test", &["--"]),
        ["npm", "run" | "run-script", name, ..] => (name, &["--"]),
        ["yarn" | "pnpm", "run", name, ..] => (name, &[]),
        ["yarn" | "pnpm", name, ..] => (name, &[]),
        _ => return None,
    };
    let text = repository.text("package.json")?;
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let script = manifest.get("scripts")?.get(name)?.as_str()?;
    Some((script.parse().ok()?, separator))
}

/// The test's name without what our readers put behind it: the number of another test of the same name, or a remark.
pub(crate) fn own_name(name: &str) -> &str {
    let numbered = name.rsplit_once(" ⟨").filter(|(_, number)| number.ends_with('⟩'));
    match (numbered, name.rsplit_once(" (")) {
        (Some((own, _)), _) | (None, Some((own, "error)" | "did not run)"))) => own,
        (None, Some(_) | None) => name,
    }
}

#[cfg(test)]
mod tests;
