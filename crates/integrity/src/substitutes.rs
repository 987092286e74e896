//! Tests that are no longer about the product: they define what they test, take it from a copy, or check by a helper that
//! checks nothing.

use crate::{
    Change, finding,
    language::{
        Role,
        outline::{Import, Outline, Strength},
        role,
    },
    reading::ReadFile,
};
use domain::integrity::{IntegrityFinding, Rule};
use std::collections::BTreeSet;

/// What tests take their assertions from.
const TOOLS: [&str; 2] = ["assert", "expect"];

/// Everything that tests put in the place of the product, or of what checked it.
pub(super) fn find(change: &Change<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.role == Role::Test) {
        findings.extend(own_answers(change, file, files));
        findings.extend(copies(change, file, files));
        findings.extend(hollow_helpers(change, file, files));
        findings.extend(about_the_text(change, file, files));
    }
    findings
}

/// Functions and mocks of a test file that bear the name of what the product has.
fn own_answers(change: &Change<'_>, file: &ReadFile<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let of_product = |outline: &Outline, paths: &BTreeSet<String>, name: &str| {
        outline
            .imports
            .iter()
            .any(|import| import.name == name && is_product(file.path, import, paths))
    };
    let made_by_change = |name: &str| {
        let mut sources = files.iter().filter(|other| other.role == Role::Source);
        sources.any(|other| {
            other.after.defines.iter().any(|defined| defined == name)
                && !other.before.defines.iter().any(|defined| defined == name)
        })
    };
    let is_new = |name: &str| !file.before.stand_ins.iter().any(|old| old.name == name);
    let replaces = |name: &str, canned: bool| {
        of_product(&file.before, change.base, name)
            || of_product(&file.after, change.head, name)
            || canned && made_by_change(name)
    };
    let new = file.after.stand_ins.iter().filter(|made| is_new(&made.name));
    new.filter(|made| replaces(&made.name, made.canned))
        .map(|made| {
            let what = format!(
                "`{}` is made by the test itself, in place of what it is to test",
                made.name
            );
            finding(Rule::ShadowModule, file.path, Some(made.line), what)
        })
        .collect()
}

/// Names that came from the product, or from the test tools, and come from a file of the tests now.
fn copies(change: &Change<'_>, file: &ReadFile<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for import in &file.after.imports {
        let Some(old) = file
            .before
            .imports
            .iter()
            .find(|old| old.name == import.name && old.from != import.from)
        else {
            continue;
        };
        let Some(path) = resolve(file.path, &import.from, change.head) else {
            continue;
        };
        let of_tests = role(path) != Role::Source;
        let still_there = resolve(file.path, &old.from, change.base)
            .filter(|old| role(old) == Role::Source && change.head.contains(*old));
        let was_tool = TOOLS.contains(&import.name.as_str()) && resolve(file.path, &old.from, change.base).is_none();
        let hands_on = || {
            let target = files.iter().find(|other| other.path == path);
            target.is_none_or(|target| target.after.imports.iter().any(|inner| inner.from == old.from))
        };
        if of_tests && (still_there.is_some() || was_tool) && !hands_on() {
            let what = format!("`{}` is taken from `{path}` now, not from `{}`", import.name, old.from);
            findings.push(finding(Rule::ShadowModule, file.path, Some(import.line), what));
        }
    }
    findings
}

/// Tests that checked by a helper of another file alone, whose namesake checks nothing.
fn hollow_helpers(change: &Change<'_>, file: &ReadFile<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let mut findings = Vec::new();
    for old in &file.before.imports {
        let from_tests = resolve(file.path, &old.from, change.base).is_some_and(|path| role(path) != Role::Source);
        if !from_tests
            || file
                .after
                .imports
                .iter()
                .any(|import| import.name == old.name && import.from == old.from)
        {
            continue;
        }
        let Some((place, line)) = hollow_now(change, file, files, &old.name) else {
            continue;
        };
        let relied = file.before.tests.iter().any(|test| {
            let only_it = test
                .checks
                .iter()
                .all(|check| check.strength < Strength::Weak || check.words.first() == Some(&old.name));
            let still = file
                .after
                .tests
                .iter()
                .any(|now| now.name == test.name && now.words.contains(&old.name));
            only_it && still && test.words.contains(&old.name)
        });
        if relied {
            let what = format!("`{}` checks nothing now, and tests check by nothing else", old.name);
            findings.push(finding(Rule::AssertionRemoved, place, Some(line), what));
        }
    }
    findings
}

/// Where a function stands that a name of the test file now means, if it checks nothing.
fn hollow_now<'a>(
    change: &Change<'_>,
    file: &'a ReadFile<'_>,
    files: &'a [ReadFile<'_>],
    name: &str,
) -> Option<(&'a str, u32)> {
    let import = file.after.imports.iter().find(|import| import.name == name);
    let place = match import {
        None => file,
        Some(import) => {
            let path = resolve(file.path, &import.from, change.head)?;
            files.iter().find(|other| other.path == path)?
        }
    };
    let function = place.after.functions.iter().find(|function| function.name == name)?;
    let checks = function.checks.iter().any(|check| check.strength >= Strength::Weak);
    (!checks).then_some((place.path, function.line))
}

/// Words by which a file is read or looked for, and those by which it is run.
const READING: [&str; 6] = [
    "read_text",
    "readFileSync",
    "readFile(",
    "existsSync",
    ".exists()",
    "open(",
];
const RUNNING: [&str; 10] = [
    "subprocess",
    "spawn",
    "exec",
    "runpy",
    "import_module",
    "importlib",
    "import(",
    "require(",
    "compile(",
    "fork",
];

/// New tests that only look at the text of the product, and never run it.
fn about_the_text(change: &Change<'_>, file: &ReadFile<'_>, files: &[ReadFile<'_>]) -> Option<IntegrityFinding> {
    let text = file.file.after.bytes().map(String::from_utf8_lossy)?;
    let test = file.after.tests.first().filter(|_| file.before.tests.is_empty())?;
    let uses = |import: &Import| is_product(file.path, import, change.head);
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let names_source = files
        .iter()
        .filter(|other| other.role == Role::Source && !other.after.defines.is_empty())
        .any(|other| {
            ["\"", "'"]
                .iter()
                .any(|quote| text.contains(&format!("{}{quote}", other.path)))
        });
    let only_reads = names_source && has(&READING) && !has(&RUNNING) && !file.after.imports.iter().any(uses);
    let what = "the new tests look at the text of the code, and never run it";
    only_reads.then(|| finding(Rule::AssertionTrivial, file.path, Some(test.line), what))
}

fn is_product(file: &str, import: &Import, paths: &BTreeSet<String>) -> bool {
    resolve(file, &import.from, paths).is_some_and(|path| role(path) == Role::Source)
}

/// The file of the repository that an import is about, if it is about one.
fn resolve<'p>(file: &str, from: &str, paths: &'p BTreeSet<String>) -> Option<&'p str> {
    if file.ends_with(".py") {
        return python_module(file, from, paths);
    }
    if !from.starts_with('.') {
        return None;
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in from.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let plain = parts.join("/");
    let stem = plain.rsplit_once('.').map_or(plain.as_str(), |(stem, _)| stem);
    let ends = [
        "",
        ".js",
        ".ts",
        ".tsx",
        ".jsx",
        ".mjs",
        ".cjs",
        ".mts",
        "/index.js",
        "/index.ts",
    ];
    let tried = ends.iter().map(|end| format!("{plain}{end}"));
    let as_types = [".ts", ".tsx", ".mts"].iter().map(|end| format!("{stem}{end}"));
    tried
        .chain(as_types)
        .find_map(|path| paths.get(&path))
        .map(String::as_str)
}

fn python_module<'p>(file: &str, from: &str, paths: &'p BTreeSet<String>) -> Option<&'p str> {
    let module = from.trim_start_matches('.').replace('.', "/");
    if module.is_empty() {
        return None;
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = if folder.is_empty() {
        module.clone()
    } else {
        format!("{folder}/{module}")
    };
    let bases = [beside, module.clone(), format!("src/{module}"), format!("lib/{module}")];
    let tried = bases
        .iter()
        .flat_map(|base| [format!("{base}.py"), format!("{base}/__init__.py")]);
    let found = tried.into_iter().find_map(|path| paths.get(&path));
    found.map(String::as_str)
}
