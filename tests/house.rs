//! The rules of the house that the compiler does not know: who may import whom, and what stands only in one place.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::fs;
use std::path::Path;

/// Each room and the rooms that it may import; everybody may import itself.
const MAP: [(&str, &[&str]); 14] = [
    ("domain", &[]),
    ("messages", &["domain"]),
    ("store", &["domain"]),
    ("git", &["domain"]),
    ("sandbox", &["domain"]),
    ("github", &["domain"]),
    ("config", &["domain"]),
    ("agents", &["domain", "sandbox", "config"]),
    ("gates", &["domain", "sandbox", "config", "git"]),
    (
        "engine",
        &[
            "domain",
            "messages",
            "store",
            "git",
            "sandbox",
            "github",
            "config",
            "agents",
            "gates",
            "telemetry",
        ],
    ),
    ("telemetry", &["domain"]),
    ("web", &["domain", "engine", "github", "store"]),
    ("forge", &["git"]),
    (
        "cli",
        &[
            "domain",
            "messages",
            "store",
            "git",
            "sandbox",
            "github",
            "config",
            "agents",
            "gates",
            "engine",
            "web",
            "forge",
            "telemetry",
        ],
    ),
];

/// Words that stand only in some files, each with the beginnings of these files' paths.
const ONLY_IN: [(&str, &[&str]); 12] = [
    ("process::Command", &["git/", "sandbox/"]),
    ("Utc::now", &["cli/assemble.rs", "forge/clock.rs"]),
    ("Local::now", &[]),
    ("SystemTime", &[]),
    ("UNIX_EPOCH", &[]),
    ("getrandom::", &["cli/", "engine/", "git/", "sandbox/", "forge/"]),
    ("sqlx::", &["store/"]),
    ("octocrab::", &["github/"]),
    ("unsafe ", &[]),
    ("allow(dead_code", &[]),
    ("crate::{", &[]),
    ("crate::*", &[]),
];

/// What rules and sentences never touch: they are data in, data out.
const IMPURE: [&str; 11] = [
    "async ",
    ".await",
    "tokio::",
    "axum::",
    "std::fs",
    "std::io",
    "std::env",
    "std::net",
    "std::thread",
    "std::time",
    "tracing::",
];

/// Lines of product code that a file may have: neither blank, nor comment, nor inline test.
const MOST_LINES: usize = 300;

/// A file of `src`.
struct Source {
    /// Below `src`, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The room, for a file that stands in one.
    fn room(&self) -> Option<&str> {
        self.path.split_once('/').map(|(room, _)| room)
    }

    /// Whether the whole file is tests.
    fn is_tests(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Code with its line number, without comments; inline tests are left out where `product` is asked for.
    fn lines(&self, part: Part) -> Vec<(usize, &str)> {
        if part == Part::Product && self.is_tests() {
            return Vec::new();
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines.iter().position(|line| line.trim() == "#[cfg(test)]");
        let end = match part {
            Part::Product => tests.unwrap_or(lines.len()),
            Part::Everything => lines.len(),
        };
        lines[..end]
            .iter()
            .enumerate()
            .map(|(number, line)| (number + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with("//"))
            .collect()
    }

    fn at(&self, number: usize, problem: &str) -> String {
        format!("src/{}:{number}: {problem}", self.path)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Product,
    Everything,
}

/// Every file of `src`.
fn house() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(Source {
                    path: path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"),
                    text: fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    found
}

/// Gives every place of a file where it is broken.
type Rule = fn(&Source) -> Vec<String>;

/// What `rule` finds in the whole house must be nothing.
fn holds(rule: Rule) {
    let sources = house();
    assert!(sources.len() > 100, "the house was not found");
    let found: Vec<String> = sources.iter().flat_map(rule).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The rooms that a line of code names by `crate::`.
fn rooms_in(line: &str) -> Vec<&str> {
    line.match_indices("crate::")
        .filter(|(at, _)| !line[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
        .map(|(at, found)| &line[at + found.len()..])
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .filter(|name| MAP.iter().any(|(room, _)| room == name))
        .collect()
}

fn forbidden_imports(source: &Source) -> Vec<String> {
    let Some(room) = source.room() else {
        return Vec::new();
    };
    let Some((_, allowed)) = MAP.iter().find(|(known, _)| *known == room) else {
        return vec![source.at(1, "the room is not on the map of tests/house.rs")];
    };
    let mut found = Vec::new();
    for (number, line) in source.lines(Part::Everything) {
        for other in rooms_in(line) {
            if other != room && !allowed.contains(&other) {
                found.push(source.at(number, &format!("`{room}` may not import `{other}`")));
            }
        }
    }
    found
}

/// `super::` must not lead out of the room: such a path would be an import that the map does not see.
fn escapes(source: &Source) -> Vec<String> {
    let folders = source.path.matches('/').count();
    let levels = folders + usize::from(!source.path.ends_with("/mod.rs"));
    let mut found = Vec::new();
    for (number, line) in source.lines(Part::Product) {
        if folders > 0 && line.contains(&"super::".repeat(levels)) {
            found.push(source.at(number, "the path leads out of the room; write it as `crate::…`"));
        }
    }
    found
}

fn misplaced(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in source.lines(Part::Product) {
        for (word, places) in ONLY_IN {
            if line.contains(word) && !places.iter().any(|place| source.path.starts_with(place)) {
                found.push(source.at(number, &format!("`{}` does not belong here", word.trim())));
            }
        }
    }
    found
}

fn impure(source: &Source) -> Vec<String> {
    if !matches!(source.room(), Some("domain" | "messages")) {
        return Vec::new();
    }
    let lines = source.lines(Part::Product);
    let words = |line: &str| IMPURE.iter().find(|word| line.contains(**word));
    lines
        .into_iter()
        .filter_map(|(number, line)| Some(source.at(number, &format!("`{}` in a pure room", words(line)?.trim()))))
        .collect()
}

/// The only test seam in `src` is `mod tests`.
fn test_seams(source: &Source) -> Vec<String> {
    let lines = source.lines(Part::Everything);
    let mut found = Vec::new();
    for (place, (number, line)) in lines.iter().enumerate() {
        let named = ["cfg(test", "cfg!(test", "cfg_attr(test", "cfg(any(test", "cfg(not(test"];
        if !named.iter().any(|name| line.contains(name)) {
            continue;
        }
        let next = lines[place + 1..].iter().find(|(_, line)| !line.starts_with("#["));
        let tests = next.is_some_and(|(_, line)| *line == "mod tests {" || *line == "mod tests;");
        if *line != "#[cfg(test)]" || !tests {
            found.push(source.at(*number, "only `mod tests` may depend on `cfg(test)`"));
        }
    }
    found
}

fn too_long(source: &Source) -> Vec<String> {
    match source.lines(Part::Product).len() {
        lines if lines > MOST_LINES => vec![source.at(1, &format!("{lines} lines of code; split it by noun"))],
        _ => Vec::new(),
    }
}

fn unfinished(source: &Source) -> Vec<String> {
    let marks = ["TODO", "FIXME", "XXX"];
    let comments = source
        .text
        .lines()
        .enumerate()
        .filter_map(|(number, line)| Some((number + 1, line.split_once("//")?.1)));
    comments
        .filter(|(_, comment)| marks.iter().any(|mark| comment.contains(mark)))
        .map(|(number, _)| source.at(number, "finish it, or open an issue"))
        .collect()
}

fn unexplained(source: &Source) -> Vec<String> {
    let explained = source.text.starts_with("//! ");
    match explained || source.is_tests() {
        true => Vec::new(),
        false => vec![source.at(1, "a module opens with `//!`: what it is for, what it never does")],
    }
}

#[test]
fn rooms_import_only_what_the_map_allows() {
    holds(forbidden_imports);
    holds(escapes);
}

#[test]
fn processes_clocks_randomness_and_sql_stay_in_their_rooms() {
    holds(misplaced);
}

#[test]
fn rules_and_sentences_are_data_in_data_out() {
    holds(impure);
}

#[test]
fn the_product_knows_nothing_of_its_tests() {
    holds(test_seams);
}

#[test]
fn files_are_short_finished_and_explained() {
    holds(too_long);
    holds(unfinished);
    holds(unexplained);
}

#[test]
fn every_rule_finds_what_it_looks_for() {
    let source = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let table: [(Rule, &str, &str); 13] = [
        (forbidden_imports, "domain/task/mod.rs", "use crate::store::Store;"),
        (
            forbidden_imports,
            "forge/site.rs",
            "    let x = crate::domain::ids::Millis(0);",
        ),
        (forbidden_imports, "attic/mod.rs", ""),
        (escapes, "domain/wave.rs", "use super::super::store::Store;"),
        (escapes, "git/bare/mod.rs", "use super::super::store::Store;"),
        (misplaced, "web/inbox.rs", "use tokio::process::Command;"),
        (misplaced, "engine/mod.rs", "let now = chrono::Utc::now();"),
        (impure, "messages/check.rs", "pub async fn check() {}"),
        (test_seams, "git/walk.rs", "#[cfg(test)]\nfn seam() {}"),
        (test_seams, "git/walk.rs", "if cfg!(test) {}\nmod tests {"),
        (too_long, "git/walk.rs", &"x;\n".repeat(301)),
        (unfinished, "git/walk.rs", "x; // TODO later"),
        (unexplained, "git/walk.rs", "use std::fs;"),
    ];
    for (rule, path, text) in table {
        assert_eq!(rule(&source(path, text)).len(), 1, "{path}: {text}");
    }
    let fine = "//! Walks a checkout, and never follows a link.\n\nuse crate::domain::ids::Sha;\nuse super::safe;\n\n\
                #[cfg(test)]\nmod tests {\n    use super::super::*;\n}\n";
    let rules = table.map(|(rule, ..)| rule);
    let found: Vec<String> = rules
        .iter()
        .flat_map(|rule| rule(&source("git/walk.rs", fine)))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}
