//! What each program runs of a repository: the file, target or script that its arguments name.

use crate::test_line::WRAPPERS;
use integrity::make;

/// A part of a repository that one command names, relative to its folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Another line, which a shell runs.
    Line(String),
    /// A file that an interpreter runs.
    Script(String),
    /// A file that runs itself, or that a shell runs.
    Program { path: String, is_shell: bool },
    /// A module of Python.
    Module(String),
    /// A package of Go.
    Package(String),
    /// Targets of the first of these make files; of its first rule if none are named.
    Make { files: Vec<String>, folder: String, targets: Vec<String> },
    /// Scripts of a manifest.
    Key { file: &'static str, keys: Vec<String> },
}

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "source", "."];
const INTERPRETERS: [&str; 10] =
    ["python", "python2", "python3", "node", "ruby", "perl", "php", "tsx", "ts-node", "Rscript"];
/// Programs that only start another one.
const STARTERS: [&str; 12] =
    ["env", "time", "exec", "nohup", "command", "timeout", "nice", "sudo", "xargs", "setsid", "stdbuf", "builtin"];

/// The programs that run scripts of a manifest, with the manifest and the table in it.
const MANIFESTS: [(&[&str], &str, &str); 6] = [
    (&["npm", "pnpm", "yarn", "bun"], "package.json", "scripts"),
    (&["composer"], "composer.json", "scripts"),
    (&["deno"], "deno.json", "tasks"),
    (&["poe"], "pyproject.toml", "tool.poe.tasks"),
    (&["pdm"], "pyproject.toml", "tool.pdm.scripts"),
    (&["task"], "Taskfile.yml", "tasks"),
];

/// The commands that install packages, and the scripts of a manifest that run then.
const INSTALLS: [&str; 5] = ["ci", "clean-install", "install", "i", "add"];
const HOOKS: [&str; 5] = ["preinstall", "install", "postinstall", "prepare", "prepublish"];

/// Returns what a command, by its words, runs of the repository.
pub(super) fn calls(words: &[String]) -> Vec<Call> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    collect(&words, &mut found);
    found
}

fn collect(words: &[&str], found: &mut Vec<Call>) {
    let is_assignment = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    let words = words.get(words.iter().take_while(is_assignment).count()..).unwrap_or_default();
    let Some((program, rest)) = words.split_first() else { return };
    let base = program.rsplit('/').next().unwrap_or(program);
    if program.contains('/') || program.ends_with(".yml") || program.ends_with(".yaml") {
        found.push(Call::Program { path: (*program).to_owned(), is_shell: false });
    }
    match base {
        _ if SHELLS.contains(&base) => shell(rest, found),
        _ if INTERPRETERS.contains(&base) => interpreter(rest, found),
        "make" | "gmake" => found.push(make_call(rest, &make::FILES)),
        "just" => found.push(make_call(rest, &["justfile", "Justfile", ".justfile"])),
        "go" => found.extend(package(rest)),
        _ if STARTERS.contains(&base) => {
            let is_own = |word: &&&str| word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
            collect(rest.get(rest.iter().take_while(is_own).count()..).unwrap_or_default(), found);
        }
        _ => {
            found.extend(script(base, rest));
            let wrapper =
                WRAPPERS.iter().filter(|wrapper| words.starts_with(wrapper)).max_by_key(|wrapper| wrapper.len());
            if let Some(started) = wrapper.and_then(|wrapper| words.get(wrapper.len()..)) {
                collect(started.get(options(started)..).unwrap_or_default(), found);
            }
        }
    }
}

/// Returns the number of options at the beginning.
fn options(words: &[&str]) -> usize {
    words.iter().take_while(|word| word.starts_with('-')).count()
}

fn shell(rest: &[&str], found: &mut Vec<Call>) {
    let at = options(rest);
    let is_line = rest.iter().take(at).any(|option| !option.starts_with("--") && option.ends_with('c'));
    let Some(word) = rest.get(at) else { return };
    let word = (*word).to_owned();
    found.push(if is_line { Call::Line(word) } else { Call::Program { path: word, is_shell: true } });
}

fn interpreter(rest: &[&str], found: &mut Vec<Call>) {
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-m" => {
                let Some(module) = rest.next() else { return };
                // Coverage runs what follows as Python would.
                if let ("coverage", ["run", started @ ..]) = (*module, rest.as_slice()) {
                    return interpreter(started, found);
                }
                return found.push(Call::Module((*module).to_owned()));
            }
            "-c" | "-e" | "--eval" | "-p" | "--test" => return,
            "-W" | "-X" | "-r" | "--require" | "--import" | "--loader" | "-I" => drop(rest.next()),
            option if option.starts_with('-') => {}
            script => return found.push(Call::Script(script.to_owned())),
        }
    }
}

fn make_call(rest: &[&str], usual: &[&str]) -> Call {
    let (mut files, mut folder, mut targets) = (Vec::new(), String::new(), Vec::new());
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-C" | "--directory" | "-d" => folder = rest.next().copied().unwrap_or_default().to_owned(),
            "-f" | "--file" | "--justfile" => files.extend(rest.next().map(|file| (*file).to_owned())),
            option if option.starts_with('-') || option.contains('=') => {}
            target => targets.push(target.to_owned()),
        }
    }
    if files.is_empty() {
        files = usual.iter().map(|file| (*file).to_owned()).collect();
    }
    Call::Make { files, folder, targets }
}

/// Returns the package or file that `go run` builds.
fn package(rest: &[&str]) -> Option<Call> {
    let ["run", rest @ ..] = rest else { return None };
    let path = rest.iter().find(|word| !word.starts_with('-'))?;
    Some(if path.ends_with(".go") { Call::Script((*path).to_owned()) } else { Call::Package((*path).to_owned()) })
}

/// Returns the script of a manifest that a program runs, with those that run before and after it.
fn script(program: &str, rest: &[&str]) -> Option<Call> {
    let (_, file, table) = MANIFESTS.into_iter().find(|(programs, ..)| programs.contains(&program))?;
    let mut words = rest.iter().filter(|word| !word.starts_with('-'));
    let installs = match words.clone().next() {
        Some(name) => INSTALLS.contains(name),
        None => program == "yarn",
    };
    if installs && table == "scripts" {
        return Some(Call::Key { file, keys: HOOKS.map(|hook| format!("{table}.{hook}")).to_vec() });
    }
    let name = words.find(|word| !matches!(**word, "run" | "run-script" | "task"))?;
    let name = if *name == "t" { "test" } else { name };
    let keys = ["pre", "", "post"].map(|place| format!("{table}.{place}{name}"));
    Some(Call::Key { file, keys: keys.to_vec() })
}
