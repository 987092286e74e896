//! Detects a repository's set-up and test commands from its files. It reads names and small files, and runs nothing.
//!
//! Tests run without network, so set-up must fetch whatever they need.

mod autotools;
mod cargo;
mod cmake;
mod deno;
mod django;
mod dotnet;
mod go;
mod just;
mod jvm;
mod make;
mod meson;
mod mix;
mod node;
mod php;
mod python;
mod repository;
mod ruby;
mod task;
mod workflow;

pub use repository::Repository;
pub use workflow::Workflow;

use crate::detect::repository::{DEEPEST, Detection, MOST_FOLDERS, NOT_OWN};
use std::collections::BTreeSet;
use text::shell_command::ShellCommand;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Prepares a checkout; `None` if nothing needs preparing.
    pub setup: Option<ShellCommand>,
    pub test: ShellCommand,
    /// The files that led to the commands, for a sentence.
    pub files: String,
    /// The project's folder, if it is not the root.
    pub folder: Option<String>,
}

pub struct ToolChain {
    /// Its name, or the names of its programs.
    pub name: &'static str,
    /// How its tests get names.
    pub names: NamesOfTests,
    files: &'static [&'static str],
    detect: fn(&Repository<'_>) -> Option<Detection>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesOfTests {
    /// The runner prints each name.
    Each,
    /// The runner stores them in files that are found.
    OfFiles,
    /// A runner that the command calls prints them, if it is a known one.
    OfCalled,
}

/// Every tool chain, in the order in which they are tried.
pub const TOOL_CHAINS: &[ToolChain] = &[
    ToolChain { name: "Cargo", files: cargo::FILES, detect: cargo::detect, names: NamesOfTests::Each },
    ToolChain { name: "npm, pnpm, yarn", files: node::FILES, detect: node::detect, names: NamesOfTests::OfCalled },
    ToolChain { name: "Deno", files: deno::FILES, detect: deno::detect, names: NamesOfTests::Each },
    ToolChain { name: "Django", files: django::FILES, detect: django::detect, names: NamesOfTests::Each },
    ToolChain {
        name: "pytest, unittest, uv, poetry, tox, nox",
        files: python::FILES,
        detect: python::detect,
        names: NamesOfTests::Each,
    },
    ToolChain { name: "Go", files: go::FILES, detect: go::detect, names: NamesOfTests::Each },
    ToolChain { name: "Maven, Gradle", files: jvm::FILES, detect: jvm::detect, names: NamesOfTests::OfFiles },
    ToolChain { name: "RSpec, Rails, Rake", files: ruby::FILES, detect: ruby::detect, names: NamesOfTests::Each },
    ToolChain { name: "PHPUnit, Pest, Composer", files: php::FILES, detect: php::detect, names: NamesOfTests::Each },
    ToolChain { name: ".NET", files: dotnet::FILES, detect: dotnet::detect, names: NamesOfTests::Each },
    ToolChain { name: "Mix", files: mix::FILES, detect: mix::detect, names: NamesOfTests::Each },
    ToolChain { name: "CMake", files: cmake::FILES, detect: cmake::detect, names: NamesOfTests::Each },
    ToolChain { name: "meson", files: meson::FILES, detect: meson::detect, names: NamesOfTests::Each },
    ToolChain { name: "autotools", files: autotools::FILES, detect: autotools::detect, names: NamesOfTests::Each },
    ToolChain { name: "just", files: just::FILES, detect: just::detect, names: NamesOfTests::OfCalled },
    ToolChain { name: "task", files: task::FILES, detect: task::detect, names: NamesOfTests::OfCalled },
    ToolChain { name: "Make", files: make::FILES, detect: make::detect, names: NamesOfTests::OfCalled },
];

/// Returns the names of all tool chains, for people.
pub fn looked_for() -> String {
    let names = TOOL_CHAINS.iter().map(|chain| chain.name);
    names.collect::<Vec<_>>().join(", ")
}

/// Programs that run tests, each with the name that people know.
const RUNNERS: [(&str, &str); 17] = [
    ("cargo", "Cargo"),
    ("npm", "npm"),
    ("pytest", "pytest"),
    ("python3", "unittest"),
    ("go", "Go"),
    ("mvn", "Maven"),
    ("gradle", "Gradle"),
    ("tox", "tox"),
    ("make", "Make"),
    ("rake", "Rake"),
    ("rspec", "RSpec"),
    ("phpunit", "PHPUnit"),
    ("dotnet", ".NET"),
    ("deno", "Deno"),
    ("mix", "Mix"),
    ("ctest", "CTest"),
    ("meson", "meson"),
];

/// Returns the test runners that are installed, as people know them.
pub fn runners(is_installed: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let here = RUNNERS.iter().filter(|(program, _)| is_installed(program));
    here.map(|(_, name)| *name).collect()
}

/// Returns the paths of the files that detection reads.
pub fn files_to_read(paths: &[String]) -> Vec<&String> {
    let names: BTreeSet<&str> = TOOL_CHAINS.iter().flat_map(|chain| chain.files).copied().collect();
    let nested = folders(paths).into_iter().map(|folder| format!("{folder}/"));
    let folders: Vec<String> = nested.chain([String::new()]).collect();
    let is_telling = |path: &&String| {
        let mut inside = folders.iter().filter_map(|folder| path.strip_prefix(folder.as_str()));
        inside.any(|name| names.contains(name))
    };
    let telling = paths.iter().filter(is_telling);
    let telling = telling.chain(python::files_to_read(paths, &folders));
    telling.chain(workflow::files_to_read(paths)).collect()
}

/// Returns the commands of the first tool chain that can run tests: at the root or, failing that, in the only folder
/// that has one.
pub fn detect(repository: &Repository<'_>) -> Option<Detected> {
    if let Some(found) = first(repository) {
        return detected(found, None);
    }
    let mut nested = in_folders(repository);
    match (nested.next(), nested.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Returns the commands of each folder with a project whose tests can run.
pub fn in_folders(repository: &Repository<'_>) -> impl Iterator<Item = Detected> {
    folders(repository.paths).into_iter().filter_map(|folder| {
        let found = first(&repository.below(&folder))?;
        detected(found, Some(folder))
    })
}

/// Returns commands of the repository's own workflows and make files that seem to run tests with a runner unknown to
/// every tool chain.
pub fn mentioned(repository: &Repository<'_>) -> impl Iterator<Item = String> {
    workflow::test_commands(repository).into_iter().chain(make::test_targets(repository))
}

/// Returns the commands of the tool chain that runs the tests with this command, whether or not another comes first.
pub fn detect_command(repository: &Repository<'_>, test: &ShellCommand) -> Option<Detected> {
    let at_root = suggestions(repository).filter_map(|found| detected(found, None));
    let nested = folders(repository.paths).into_iter().flat_map(|folder| {
        let below = repository.below(&folder);
        let found: Vec<Detection> = suggestions(&below).collect();
        found.into_iter().filter_map(move |found| detected(found, Some(folder.clone())))
    });
    at_root.chain(nested).find(|found| found.test == *test)
}

/// Returns the commands of the first tool chain that can run tests.
fn first(repository: &Repository<'_>) -> Option<Detection> {
    suggestions(repository).next()
}

/// Returns the commands of every tool chain that can run tests, in their order.
fn suggestions(repository: &Repository<'_>) -> impl Iterator<Item = Detection> {
    TOOL_CHAINS.iter().filter_map(|chain| (chain.detect)(repository)).map(|found| match repository.workflow() {
        Some(workflow) => workflow.complete(found, repository),
        None => found,
    })
}

fn detected(found: Detection, folder: Option<String>) -> Option<Detected> {
    let enter = |folder: &Option<String>| match folder {
        Some(folder) => format!("cd {} && ", shell_words::quote(folder)),
        None => String::new(),
    };
    let parts = folder.iter().chain(Some(&found.folder).filter(|inner| !inner.is_empty()));
    let whole = parts.cloned().reduce(|outer, inner| format!("{outer}/{inner}"));
    let below = whole.as_ref().map(|folder| format!(" in {folder}")).unwrap_or_default();
    let setup = Some(found.setup).filter(|setup| !setup.is_empty());
    Some(Detected {
        setup: setup.and_then(|setup| format!("{}{setup}", enter(&folder)).parse().ok()),
        test: format!("{}{}", enter(&whole), found.test).parse().ok()?,
        files: format!("{}{below}", found.files),
        folder: whole,
    })
}

/// Returns the outermost folders with a manifest, except the root.
fn folders(paths: &[String]) -> Vec<String> {
    const MANIFESTS: [&str; 18] = [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.py",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "manage.py",
        "deno.json",
        "deno.jsonc",
        "Gemfile",
        "Rakefile",
        "composer.json",
        "mix.exs",
        "CMakeLists.txt",
        "meson.build",
        "configure.ac",
    ];
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for path in paths {
        let Some((folder, name)) = path.rsplit_once('/') else {
            continue;
        };
        let is_own = !folder.split('/').any(|part| NOT_OWN.contains(&part));
        let is_manifest = MANIFESTS.contains(&name) || dotnet::PROJECTS.iter().any(|ending| name.ends_with(ending));
        if is_manifest && is_own && folder.split('/').count() <= DEEPEST {
            found.insert(folder);
        }
    }
    let is_outermost = |folder: &&&str| {
        let above = |other: &&str| folder.strip_prefix(*other).is_some_and(|rest| rest.starts_with('/'));
        !found.iter().any(above)
    };
    let outermost = found.iter().filter(is_outermost).take(MOST_FOLDERS);
    outermost.map(|folder| (*folder).to_owned()).collect()
}

#[cfg(test)]
mod tests;
