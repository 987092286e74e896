//! The rules of the code base that the compiler does not check: imports between rooms, and words that are only allowed
//! in some files.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Each room of `src` and the rooms and crates that it may import besides itself. For crates, Cargo checks the same.
const MAP: [(&str, &[&str]); 9] = [
    ("messages", &["domain", "text"]),
    ("store", &["domain", "text"]),
    ("github", &["domain", "text", "uplink"]),
    ("config", &["domain", "text", "uplink"]),
    ("agents", &["domain", "text", "messages", "sandbox", "config"]),
    ("gates", &["domain", "text", "sandbox", "config", "git", "integrity", "runners"]),
    (
        "engine",
        &[
            "domain",
            "text",
            "messages",
            "store",
            "git",
            "sandbox",
            "github",
            "config",
            "agents",
            "gates",
            "runners",
            "telemetry",
        ],
    ),
    ("telemetry", &["domain", "text", "uplink"]),
    ("web", &["page_parts", "domain", "text", "config", "engine", "github", "messages", "store", "uplink"]),
];

/// The crates that rooms of `src` use by name.
const CRATES: [&str; 9] = ["page_parts", "domain", "text", "integrity", "runners", "sandbox", "git", "forge", "uplink"];

/// The room that may import everything, and that no other room imports.
const COMMANDS: &str = "cli";

/// Words that are only allowed in some files, each with the beginnings of these files' paths.
const ONLY_IN: [(&str, &[&str]); 11] = [
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
    ("crate::*", &[]),
];

/// The most files in a cycle of imports, in a room or crate.
const LARGEST_CIRCLE: usize = 8;

/// Words that must not occur in rules and sentences, because these are pure functions of data.
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

/// A file of the product.
struct Source {
    /// From the root of the repository, with `/`.
    file: String,
    /// The path below `src`; for a crate, with the crate's name before it, so that rooms and crates have the same form.
    path: String,
    text: String,
}

impl Source {
    fn new(file: &str, text: &str) -> Self {
        let in_crate = file.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"));
        let path = match in_crate {
            Some((name, rest)) => format!("{name}/{rest}"),
            None => file.trim_start_matches("src/").to_owned(),
        };
        Self { file: file.to_owned(), path, text: text.to_owned() }
    }

    /// Returns the room or crate, for a file that is in one.
    fn room(&self) -> Option<&str> {
        self.path.split_once('/').map(|(room, _)| room)
    }

    fn is_in_crate(&self) -> bool {
        self.file.starts_with("crates/")
    }

    /// `true` if the whole file contains tests.
    fn is_tests(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Returns the lines of code with their numbers, without comments and, for [`Part::Product`], without inline tests.
    /// A grouped import becomes one line for each path.
    fn lines(&self, part: Part) -> Vec<(usize, String)> {
        if part == Part::Product && self.is_tests() {
            return Vec::new();
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines.iter().position(|line| line.trim() == "#[cfg(test)]");
        let end = match part {
            Part::Product => tests.unwrap_or(lines.len()),
            Part::Everything => lines.len(),
        };
        let code = (1..).zip(lines[..end].iter().map(|line| line.trim()));
        let mut code = code.filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
        let mut found = Vec::new();
        while let Some((number, line)) = code.next() {
            let is_import = line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "));
            if !is_import {
                found.push((number, line.to_owned()));
                continue;
            }
            let mut import = line.to_owned();
            while !import.ends_with(';') {
                import.push_str(code.next().unwrap().1);
            }
            let (before, tree) = import.split_once("use ").unwrap();
            let paths = paths_of(tree.trim_end_matches(';'));
            found.extend(paths.into_iter().map(|path| (number, format!("{before}use {path};"))));
        }
        found
    }

    /// Returns the number of its product lines, with comments and blank lines.
    fn size(&self) -> usize {
        let lines = || self.text.lines();
        if self.is_tests() {
            return 0;
        }
        lines().position(|line| line.trim() == "#[cfg(test)]").unwrap_or_else(|| lines().count())
    }

    /// Returns the file's module as its path below `src`; for a crate, it begins with the crate's name.
    fn module(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = self.path.trim_end_matches(".rs").split('/').collect();
        if ["mod", "lib", "main"].contains(&parts[parts.len() - 1]) {
            parts.pop();
        }
        parts
    }

    /// Returns the files of its crate that it names in imports or by a path in code, from the root, the parent or a
    /// child: each as the longest part of the path that is a module.
    fn names(&self, modules: &BTreeMap<Vec<&str>, usize>) -> BTreeSet<usize> {
        let module = self.module();
        let root = usize::from(self.is_in_crate());
        let lines = self.lines(Part::Product);
        let mut found = BTreeSet::new();
        for (_, line) in &lines {
            let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let is_visibility = |path: &str| line.contains(&format!("(in {path})"));
            let paths = line.split(|c| !is_path(c)).filter(|path| path.contains("::"));
            for path in paths.filter(|path| !is_visibility(path)) {
                let parts: Vec<&str> = path.split("::").collect();
                let supers = parts.iter().take_while(|part| **part == "super").count();
                let from = match parts[0] {
                    "crate" => module[..root].to_vec(),
                    "super" => module[..module.len().saturating_sub(supers)].to_vec(),
                    "self" => module.clone(),
                    child if modules.contains_key(&[&module[..], &[child]].concat()) => module.clone(),
                    _ => continue,
                };
                let rest = parts.iter().filter(|part| !["crate", "super", "self"].contains(part));
                let mut whole: Vec<&str> = from.into_iter().chain(rest.copied()).collect();
                while !whole.is_empty() && !modules.contains_key(&whole) {
                    whole.pop();
                }
                found.extend(modules.get(&whole));
            }
        }
        found
    }

    fn at(&self, number: usize, problem: &str) -> String {
        format!("{}:{number}: {problem}", self.file)
    }
}

/// Returns the paths of a grouped import.
fn paths_of(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let mut depth = 0;
    let branches = inner.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let branches = branches.map(str::trim).filter(|branch| !branch.is_empty());
    branches.flat_map(paths_of).map(|path| format!("{}{path}", prefix.trim())).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Product,
    Everything,
}

/// Returns every file of the application and of the crates.
fn house() -> Vec<Source> {
    read(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// Returns the same of another checkout.
fn read(root: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("src")];
    folders.extend(CRATES.map(|name| root.join("crates").join(name).join("src")));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(Source::new(&file, &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Returns every place of a file that breaks the rule.
type Rule = fn(&Source) -> Vec<String>;

/// Asserts that `rule` finds nothing in the whole code base.
fn holds(rule: Rule) {
    let sources = house();
    assert!(sources.len() > 100, "the house was not found");
    let found: Vec<String> = sources.iter().flat_map(rule).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Returns the rooms that a line of code names with `crate::`, and the crates.
fn rooms_in(line: &str) -> Vec<&str> {
    let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let paths = parts.map(|path| path.split("::").collect::<Vec<_>>());
    paths
        .filter_map(|path| match path.as_slice() {
            ["crate", room, ..] => Some(*room),
            ["", first, _, ..] | [first, _, ..] if CRATES.contains(first) => Some(*first),
            _ => None,
        })
        .filter(|name| *name == COMMANDS || CRATES.contains(name) || MAP.iter().any(|(room, _)| room == name))
        .collect()
}

fn forbidden_imports(source: &Source) -> Vec<String> {
    let Some(room) = source.room() else {
        let is_root = ["lib.rs", "main.rs"].contains(&source.path.as_str());
        return if is_root { Vec::new() } else { vec![source.at(1, "the file is in no room")] };
    };
    if source.is_in_crate() || room == COMMANDS {
        return Vec::new();
    }
    let Some((_, allowed)) = MAP.iter().find(|(known, _)| *known == room) else {
        return vec![source.at(1, "the room is not on the map of tests/house.rs")];
    };
    let mut found = Vec::new();
    for (number, line) in source.lines(Part::Everything) {
        for other in rooms_in(&line) {
            if other != room && !allowed.contains(&other) {
                found.push(source.at(number, &format!("`{room}` may not import `{other}`")));
            }
        }
    }
    found
}

/// The forge replaces GitHub, so it uses only the part of `git` about bare repositories.
fn forge_beyond_bare(source: &Source) -> Vec<String> {
    let lines = source.lines(Part::Everything).into_iter();
    lines
        .filter(|(_, line)| source.room() == Some("forge") && rooms_in(line).contains(&"git"))
        .filter(|(_, line)| !line.contains("git::bare"))
        .map(|(number, _)| source.at(number, "`forge` may import nothing of `git` but `git::bare`"))
        .collect()
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
    let room = source.room().unwrap_or_default();
    if !["domain", "text", "integrity", "runners", "messages"].contains(&room) {
        return Vec::new();
    }
    let lines = source.lines(Part::Product).into_iter();
    // These files contain such words because they look for them in foreign code.
    let names_them = ["integrity", "runners"].contains(&room);
    let ours = lines.filter(|(_, line)| !names_them || line.starts_with("use "));
    let words = |line: &str| IMPURE.iter().find(|word| line.contains(**word));
    ours.filter_map(|(number, line)| Some(source.at(number, &format!("`{}` in a pure room", words(&line)?.trim()))))
        .collect()
}

/// The only test seam in `src` is `mod tests`.
fn test_seams(source: &Source) -> Vec<String> {
    let lines = source.lines(Part::Everything);
    let mut found = Vec::new();
    for (place, (number, line)) in lines.iter().enumerate() {
        let named = ["cfg(test", "cfg!(test", "cfg_attr(test", "cfg(any(test", "cfg(not(test"];
        // In quotes it is data: the form of tests in foreign code.
        let code: String = line.split('"').step_by(2).collect();
        if !named.iter().any(|name| code.contains(name)) {
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

fn unfinished(source: &Source) -> Vec<String> {
    let marks = ["TODO", "FIXME", "XXX"];
    let comments =
        source.text.lines().enumerate().filter_map(|(number, line)| Some((number + 1, line.split_once("//")?.1)));
    comments
        .filter(|(_, comment)| marks.iter().any(|mark| comment.contains(mark)))
        .map(|(number, _)| source.at(number, "finish it, or open an issue"))
        .collect()
}

fn unexplained(source: &Source) -> Vec<String> {
    let explained = source.text.starts_with("//! ");
    if explained || source.is_tests() {
        Vec::new()
    } else {
        vec![source.at(1, "a module opens with `//!`: what it is for, what it never does")]
    }
}

/// Sentences are never data: code compares, searches and splits values, not sentences. So in the rooms that decide or
/// write texts, no literal of several words is an argument of such functions.
fn sentences_as_data(source: &Source) -> Vec<String> {
    // The other rooms read what foreign programs print, which is English.
    let room = source.room().unwrap_or_default();
    if !["cli", "domain", "engine", "gates", "integrity", "messages", "store", "text", "web"].contains(&room) {
        return Vec::new();
    }
    let lines = source.lines(Part::Product).into_iter();
    lines
        .filter(|(_, line)| LOOKS.iter().any(|look| line.split(look).skip(1).any(is_sentence)))
        .map(|(number, _)| source.at(number, "code looks at a sentence; make it an enum that `messages` words"))
        .collect()
}

/// Functions that examine a text.
const LOOKS: [&str; 11] = [
    "starts_with(\"",
    "ends_with(\"",
    "strip_prefix(\"",
    "strip_suffix(\"",
    "contains(\"",
    "split_once(\"",
    "find(\"",
    "split(\"",
    "trim_start_matches(\"",
    "trim_end_matches(\"",
    "== \"",
];

/// `true` if a literal that begins here contains two words of letters with a blank between them.
fn is_sentence(after: &str) -> bool {
    let literal = after.split('"').next().unwrap_or_default();
    let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    literal.split(' ').filter(|word| is_word(word)).count() > 1
}

/// The files that contain texts for readers, by the beginnings of their paths. The texts are on GitHub and about
/// Features in a terminal, of commands, the help of settings and metrics, prompts and schemas for agents. Others are
/// refusals of agents' answers and plans, the forge's texts, and HTTP answers to programs. Pages have texts too, see
/// [`is_page`]. Everything else only carries facts.
const WORDING: [&str; 17] = [
    "messages/",
    "main.rs",
    "cli/",
    "config/",
    "web/metrics.rs",
    "agents/fence.rs",
    "agents/prompt/",
    "domain/decision_parse.rs",
    "domain/design.rs",
    "domain/inquiry.rs",
    "domain/plan/",
    "domain/report.rs",
    "forge/",
    "page_parts/",
    "sandbox/egress/",
    "web/health.rs",
    "web/inbox.rs",
];

/// A file that makes HTML is a page and contains its fixed words.
fn is_page(source: &Source) -> bool {
    source.room() == Some("web") && source.text.contains("html! {")
}

/// Calls whose texts only operators and programmers read: log lines, the texts of errors with their added steps,
/// attributes (lints with their reasons), and SQL. The text of an error may reach other people only as the message of a
/// failure.
const FOR_OPERATORS: [&str; 12] = [
    "trace!",
    "debug!",
    "info!",
    "warn!",
    "error!",
    "#",
    "#!",
    ".context",
    ".with_context",
    "host",
    "io::Error::other",
    "statements!",
];

/// Words that connect others; a list of names has none.
const JOINING: [&str; 44] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "has", "have", "had", "it", "its", "this", "that", "which",
    "who", "what", "of", "to", "on", "at", "by", "for", "from", "with", "without", "not", "no", "and", "or", "nor",
    "but", "only", "cannot", "can", "could", "may", "must", "does", "did", "do", "than", "nothing",
];

/// Returns the sentences of a file: literals with five words in a row that people may read.
fn sentences(source: &Source) -> Vec<String> {
    if source.is_tests() || is_page(source) || WORDING.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    let end = source.text.find("#[cfg(test)]").unwrap_or(source.text.len());
    let literals = literals_for_people(&source.text[..end]).into_iter();
    let sentences = literals.filter(|literal| words_a_sentence(literal));
    sentences.map(|literal| format!("{}: make it a value that `messages` words: {literal}", source.file)).collect()
}

fn words_a_sentence(literal: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic) && word != word.to_uppercase();
    let mut row = 0;
    let is_long = literal.split_whitespace().any(|word| {
        row = if is_word(word.trim_end_matches(['.', ':', ';', ','])) { row + 1 } else { 0 };
        let is_long = row >= 5;
        row = if word.ends_with(',') { 0 } else { row };
        is_long
    });
    is_long && literal.split_whitespace().any(|word| JOINING.contains(&word))
}

/// Code that searches for a text searches for words of other programs, since our own are never data.
fn looks_for_text(before: &str) -> bool {
    let calls = LOOKS.iter().filter_map(|look| look.strip_suffix("(\""));
    calls.chain(["mentions"]).any(|call| before.ends_with(call))
}

/// The words of a list of names are searched for one by one.
fn is_list_of_names(before: &str, text: &str) -> bool {
    let declaration = before.trim_end().strip_suffix(": &str =");
    let name = declaration.and_then(|declaration| declaration.rsplit("const ").next());
    name.is_some_and(|name| text.contains(&format!("is_one_of({name}, ")))
}

/// A table of texts contains words of other programs, for which code searches.
fn is_table_of_texts(before: &str) -> bool {
    let declaration = before.rsplit("\n\n").next().unwrap_or_default();
    let declared = declaration.rsplit_once(": ").map_or("", |(_, kind)| kind);
    (declared.starts_with("[&str;") || declared.starts_with("&[&str]")) && before.ends_with(['=', '&'])
}

/// Returns the literals of a text, without those for operators.
fn literals_for_people(text: &str) -> Vec<String> {
    let (mut literals, mut opened, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        let before = &text[..text.len() - rest.len()];
        let is_raw = c == '"' && before.trim_end_matches('#').ends_with('r');
        let mut length = c.len_utf8();
        match c {
            _ if rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("'\"'") => length = 3,
            _ if rest.starts_with("'\\\"'") => length = 4,
            '"' => {
                let marks = if is_raw { before.len() - before.trim_end_matches('#').len() } else { 0 };
                let literal = literal(&rest[1..], is_raw.then(|| format!("\"{}", "#".repeat(marks))));
                length = 2 + literal.len();
                if !opened.contains(&true) && !is_list_of_names(before, text) {
                    let lines = literal.lines().map(str::trim_start).collect::<Vec<_>>();
                    literals.push(lines.join("\n").replace("\\\n", ""));
                }
            }
            '(' | '[' | '{' => {
                let is_format = rest.starts_with("(f, ") && before.ends_with("write!");
                let before = before.trim_end();
                let is_call = FOR_OPERATORS.iter().any(|call| before.ends_with(call));
                let is_foreign = looks_for_text(before) || c == '[' && is_table_of_texts(before);
                opened.push(is_call || is_format || is_foreign);
            }
            ')' | ']' | '}' => {
                opened.pop();
            }
            _ => {}
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    literals
}

/// Returns the content of a literal after its opening quote; a raw one ends with `raw_end`.
fn literal(rest: &str, raw_end: Option<String>) -> &str {
    if let Some(end) = raw_end {
        return rest.split(&*end).next().unwrap();
    }
    let mut is_escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns every cycle of imports that is too large, because its files cannot be read one after the other. A cycle
/// through a `mod.rs` is allowed if it re-exports its children and these import from it.
fn large_circles(sources: &[Source]) -> Vec<String> {
    let files: Vec<&Source> = sources.iter().filter(|source| !source.is_tests()).collect();
    let modules: BTreeMap<Vec<&str>, usize> = files.iter().map(|file| file.module()).zip(0..).collect();
    let named: Vec<BTreeSet<usize>> = files.iter().map(|file| file.names(&modules)).collect();
    let reached = |from: usize| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            next.extend(named[file].iter().filter(|other| **other != file && reached.insert(**other)));
        }
        reached
    };
    let reached: Vec<BTreeSet<usize>> = (0..files.len()).map(reached).collect();
    let mut found = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let circle = reached[place].iter().filter(|other| reached[**other].contains(&place));
        let circle: Vec<&str> = circle.map(|other| files[*other].file.as_str()).collect();
        if circle.len() > LARGEST_CIRCLE && circle[0] == file.file {
            let problem = format!("a circle of {} files, {LARGEST_CIRCLE} are allowed: {circle:?}", circle.len());
            found.push(file.at(1, &problem));
        }
    }
    found
}

#[test]
fn no_room_has_a_large_circle_of_files() {
    let found = large_circles(&house());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_large_circle_is_found_also_through_a_module_that_re_exports() {
    let ring = |room: &str, count: usize| {
        let children =
            (1..=count).map(|n| Source::new(&format!("src/{room}/a{n}.rs"), &format!("use crate::{room}::{{A, B}};")));
        let exports: Vec<String> = (1..=count).map(|n| format!("pub use a{n}::A{n};")).collect();
        let parent = Source::new(&format!("src/{room}/mod.rs"), &exports.join("\n"));
        children.chain([parent]).collect::<Vec<_>>()
    };
    assert_eq!(large_circles(&ring("store", LARGEST_CIRCLE - 1)), Vec::<String>::new());
    assert_eq!(large_circles(&ring("store", LARGEST_CIRCLE)).len(), 1);
    let by_super = |n: usize| {
        let next = n % 9 + 1;
        Source::new(&format!("crates/forge/src/rest/b{n}.rs"), &format!("fn f() {{ super::b{next}::g(); }}"))
    };
    assert_eq!(large_circles(&(1..=9).map(by_super).collect::<Vec<_>>()).len(), 1);
    let by_table = |n: usize| Source::new(&format!("src/gates/t{n}.rs"), "use crate::gates::Row;");
    let rows: Vec<String> = (1..=LARGEST_CIRCLE).map(|n| format!("    &t{n}::ROW,")).collect();
    let table = Source::new("src/gates/mod.rs", &rows.join("\n"));
    let files: Vec<Source> = (1..=LARGEST_CIRCLE).map(by_table).chain([table]).collect();
    assert_eq!(large_circles(&files).len(), 1);
}

#[test]
fn rooms_import_only_what_the_map_allows() {
    holds(forbidden_imports);
    holds(forge_beyond_bare);
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
fn english_is_never_data() {
    holds(sentences_as_data);
}

#[test]
fn sentences_are_worded_only_where_somebody_reads_them() {
    holds(sentences);
}

#[test]
fn a_sentence_is_found_in_whatever_form_it_is_written() {
    let count = |code: &str| sentences(&Source::new("src/gates/checks.rs", code)).len();
    for one in [
        "let what = format!(\"the test `{name}` is there and did not run\");",
        "a(\"the test is \\\n     there today\")",
        "a(r#\"the \"test\" did not run here today\"#)",
        "let quote = '\"'; a(\"the test did not run\")",
        "a(\"he said \\\"no\\\" and went home that day\")",
    ] {
        assert_eq!(count(one), 1, "{one}");
    }
    for none in [
        "// \"the test did not run\"",
        "tracing::warn!(%error, \"the test did not run\");",
        "#[error(\"the test did not run\")]",
        "a.context(\"the test did not run\")",
        "statements! { A = \"SELECT all of these things now\"; }",
        "a(\"one, two, three, four, five, six\")",
        "a(\"INSERT INTO event (stream, seq, kind)\")",
        "x();\n#[cfg(test)]\nmod tests { \"the test did not run\" }",
        "const LOST: [&str; 1] = [\"the test did not run\"];",
        "if line.starts_with(\"the test did not run\") {}",
        "error.mentions(\"the test did not run\")",
        "const SAME: &str = \"is in not and or\"; fn f() { is_one_of(SAME, word) }",
        "a.map_err(host(\"running a test of the change\"))",
        "write!(f, \"the test did not run\")",
        "const NAMES: &str = \"sh bash dash zsh ksh python\";",
    ] {
        assert_eq!(count(none), 0, "{none}");
    }
    let counted = |file: &str, code: &str| sentences(&Source::new(file, code)).len();
    let sentence = "a(\"the test did not run\")";
    assert_eq!(counted("src/messages/causes/facts.rs", sentence), 0);
    assert_eq!(counted("src/web/inquire.rs", sentence), 1);
    assert_eq!(counted("src/web/inquire.rs", &format!("html! {{ {sentence} }}")), 0);
}

/// The most product lines of each room, from docs/architecture.md: all lines but those of tests.
fn budgets() -> BTreeMap<String, usize> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| [`"));
    let budget = |row: &str| {
        let (room, rest) = row.split_once('`')?;
        let most = rest.split('|').nth(1)?.trim().replace(',', "");
        let name = room.rsplit('/').next().unwrap_or(room);
        Some((name.to_owned(), most.parse().ok()?))
    };
    rows.filter_map(budget).collect()
}

/// Returns the rooms that are larger than their budget or have none.
fn too_large(sources: &[Source], budgets: &BTreeMap<String, usize>) -> Vec<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources {
        *sizes.entry(source.room().unwrap_or("autobuild")).or_default() += source.size();
    }
    sizes.remove("autobuild");
    let is_within = |room: &str, size: usize| budgets.get(room).is_some_and(|most| size <= *most);
    let large = sizes.into_iter().filter(|(room, size)| !is_within(room, *size));
    large
        .map(|(room, size)| {
            let most = budgets.get(room);
            format!("`{room}` has {size} lines; docs/architecture.md allows {most:?}: take some out, or raise it")
        })
        .collect()
}

#[test]
fn no_room_is_larger_than_its_budget() {
    let found = too_large(&house(), &budgets());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    let file = Source::new("src/web/inbox.rs", "//! a\n\nfn b() {}\n#[cfg(test)]\nmod tests {\n}\n");
    let allowed = |most: usize| too_large(&[Source::new(&file.file, &file.text)], &[("web".to_owned(), most)].into());
    assert_eq!((allowed(3).len(), allowed(2).len()), (0, 1));
}

/// Verbs that do not describe a function's action. `report`, `record`, `render`, `notify`, `mask`, `count`, `clamp` do.
const EMPTY_VERBS: [&str; 6] = ["told", "tell", "tells", "telling", "said", "say"];

/// The longest name of a function, in characters: a test's name can be read in one breath.
const LONGEST_NAME: usize = 80;

/// Participles and other words that describe neither a function's action nor its result. They may be useful as a part
/// of a name.
const EMPTY_FUNCTIONS: [&str; 35] = [
    "asked", "begun", "called", "came", "chosen", "counted", "did", "doing", "done", "ended", "found", "given", "gone",
    "got", "happened", "heard", "held", "kept", "known", "left", "listed", "looked", "lost", "made", "moved", "named",
    "seen", "shown", "spoken", "standing", "stored", "taken", "tried", "used", "wanted",
];

/// Names of types that do not describe their content. `…Request`, `…View`, `…Status`, `…Outcome` do.
const EMPTY_TYPES: [&str; 34] = [
    "Asked", "Found", "Shown", "Seen", "Known", "Standing", "Way", "Kind", "Lack", "Came", "Got", "Doing", "Of",
    "What", "When", "Where", "Which", "Who", "Whose", "Why", "Over", "More", "Most", "Now", "Odd", "Begun", "Told",
    "Said", "Look", "Tried", "Rest", "Wanted", "Instead", "Because",
];

/// A name is a term of the field (`docs/architecture.md`, "Terms"): a function is a verb, and a type describes its
/// content.
fn empty_names(source: &Source) -> Vec<String> {
    let product = source.lines(Part::Product).len();
    let lines = source.lines(Part::Everything).into_iter().enumerate();
    let empty = lines.filter(|(at, (_, line))| {
        let is_empty_verb = |name: &str| {
            // The name of a test is a sentence.
            let is_product = *at < product;
            let mut words = name.split('_');
            name.len() > LONGEST_NAME
                || EMPTY_VERBS.contains(&name)
                || EMPTY_FUNCTIONS.contains(&name)
                || is_product && words.any(|word| EMPTY_VERBS.contains(&word))
        };
        let is_empty_type = |name: &str| EMPTY_TYPES.contains(&name);
        ["struct ", "enum ", "trait ", "type "]
            .iter()
            .any(|keyword| name_after(line, keyword).is_some_and(is_empty_type))
            || name_after(line, "fn ").is_some_and(is_empty_verb)
    });
    empty
        .map(|(_, (number, _))| source.at(number, "the name says nothing: see `Terms` in docs/architecture.md"))
        .collect()
}

/// Returns the name that a line declares with this keyword.
fn name_after<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let (before, after) = line.split_once(keyword)?;
    let is_declaration = before.is_empty() || before.ends_with(' ') && before.split(' ').all(is_modifier);
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    name.filter(|_| is_declaration)
}

fn is_modifier(word: &str) -> bool {
    let is_visibility = word.starts_with("pub") || word.ends_with(')');
    let is_abi = word.starts_with('"');
    word.is_empty() || is_visibility || is_abi || ["async", "const", "unsafe", "extern", "default"].contains(&word)
}

/// A tuple as a parameter hides the number of parameters, and its parts have no names where it is called.
fn tuple_parameters(source: &Source) -> Vec<String> {
    let takes_tuple = |line: &str| {
        let is_parameter = line.starts_with('(') || line.contains("fn ") && !line.contains("|(");
        is_parameter && line.split_once("): (").is_some_and(|(before, _)| before.contains('('))
    };
    let lines = source.lines(Part::Product).into_iter().filter(|(_, line)| takes_tuple(line));
    lines
        .map(|(number, _)| source.at(number, "a parameter is a tuple; give its parts names, or make a struct"))
        .collect()
}

#[test]
fn no_parameter_is_a_tuple() {
    holds(tuple_parameters);
    let found = |line: &str| tuple_parameters(&Source::new("src/web/inbox.rs", line)).len();
    assert_eq!(found("fn keep((work, home): (&Path, &Path)) {"), 1);
    assert_eq!(found("    (work, home): (&Path, &Path),"), 1);
    assert_eq!(found("fn keep(work: &Path, home: &Path) {"), 0);
    assert_eq!(found("let keep = |(work, home): (&Path, &Path)| work.join(home);"), 0);
}

#[test]
fn names_say_what_things_do_and_hold() {
    holds(empty_names);
    let found = |line: &str| empty_names(&Source::new("src/web/inbox.rs", line)).len();
    assert_eq!(found("pub(crate) async fn tell_all(rows: &[Row]) {}"), 1);
    assert_eq!(found("fn moved(task: Task) -> Step {"), 1);
    assert_eq!(found("fn moved_to(task: Task) -> Step {"), 0);
    assert_eq!(found("pub struct Seen(u8);"), 1);
    assert_eq!(found(&format!("fn {}() {{}}", "a".repeat(LONGEST_NAME + 1))), 1);
    assert_eq!(found("pub struct SeenCommit(u8);"), 0);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n    fn what_people_say_is_kept() {}\n}"), 0);
}

#[test]
fn the_product_knows_nothing_of_its_tests() {
    holds(test_seams);
}

#[test]
fn files_are_finished_and_explained() {
    holds(unfinished);
    holds(unexplained);
}

/// The files that each language has, and the names by which others would know one.
const OF_A_LANGUAGE: [&str; 12] = [
    "words.toml",
    "tests.scm",
    "functions.scm",
    "assertions.scm",
    "skips.scm",
    "stubs.scm",
    "exits.scm",
    "tools.scm",
    "coverage.scm",
    "mod.rs",
    "bodies.rs",
    "return_values.rs",
];

/// Rules of integrity do not depend on a language, and languages not on a rule.
fn rules_and_languages_apart(source: &Source) -> Vec<String> {
    let in_language = source.path.starts_with("integrity/language/");
    let in_rules = source.path.starts_with("integrity/rules/");
    let languages = languages();
    let names_language = |line: &str| {
        languages.iter().any(|name| {
            line.contains(&format!("language::{name}")) || line.contains(&format!("language::{}", name.to_uppercase()))
        })
    };
    let lines = source.lines(Part::Product).into_iter();
    let wrong = lines.filter(|(_, line)| {
        let names_rule = line.contains("Rule::") || line.contains("crate::rules");
        in_language && names_rule || in_rules && names_language(line)
    });
    wrong.map(|(number, _)| source.at(number, "rules know no language, languages know no rule")).collect()
}

/// Words of one language or of its tools.
const OF_ONE_LANGUAGE: [&str; 18] = [
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "cargo",
    "assert_eq",
    "assertEqual",
    "__eq__",
    "fixture",
    "getsource",
    "write_text",
    "readFile",
    "writeFile",
    "include_str",
    "require(",
    "rootDir",
    "panic!",
    "ImportError",
];

/// Rules, experiments and the table contain no word of a language; only their tests do.
fn words_of_languages(source: &Source) -> Vec<String> {
    let rooms = ["integrity/rules/", "gates/mutation/", "gates/table/"];
    if !rooms.iter().any(|room| source.path.contains(room)) {
        return Vec::new();
    }
    let lines = source.lines(Part::Product).into_iter();
    let named = lines.filter(|(_, line)| OF_ONE_LANGUAGE.iter().any(|word| line.contains(word)));
    named.map(|(number, _)| source.at(number, "a word of one language belongs into its folder")).collect()
}

#[test]
fn words_of_a_language_stand_in_its_folder() {
    holds(words_of_languages);
    let found = |path: &str, line: &str| words_of_languages(&Source::new(path, line)).len();
    let names = "let is_test = line.contains(\"pytest\");";
    assert_eq!(found("src/gates/mutation/emptied.rs", names), 1);
    assert_eq!(found("crates/integrity/src/rules/stub.rs", &format!("static RULE: R = r;\n{names}")), 1);
    assert_eq!(found("crates/integrity/src/language/python/mod.rs", names), 0);
}

/// The folders of languages.
fn languages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/integrity/src/language");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_language_is_a_folder_and_a_rule_knows_none() {
    holds(rules_and_languages_apart);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/integrity/src/language");
    assert!(languages().len() > 3);
    for language in languages() {
        for file in OF_A_LANGUAGE {
            assert!(folder.join(&language).join(file).is_file(), "{language} has no {file}");
        }
    }
    let knows = "use crate::language::python;";
    assert_eq!(rules_and_languages_apart(&Source::new("crates/integrity/src/rules/stub.rs", knows)).len(), 1);
    let judges = "let rule = Rule::Stub;";
    assert_eq!(rules_and_languages_apart(&Source::new("crates/integrity/src/language/go/mod.rs", judges)).len(), 1);
}

#[test]
fn every_rule_finds_what_it_looks_for() {
    let table: [(Rule, &str, &str); 21] = [
        (forbidden_imports, "src/store/mod.rs", "use crate::engine::Engine;"),
        (forbidden_imports, "src/agents/ask.rs", "    let x = git::Mirrors::new();"),
        (forbidden_imports, "src/github/calls.rs", "use {git::Mirrors, url::Url};"),
        (forbidden_imports, "src/attic/mod.rs", ""),
        (forbidden_imports, "src/attic.rs", ""),
        (forge_beyond_bare, "crates/forge/src/site.rs", "use git::Mirrors;"),
        (escapes, "src/engine/wave.rs", "use super::super::store::Store;"),
        (escapes, "src/gates/run/mod.rs", "use super::super::store::Store;"),
        (misplaced, "src/web/inbox.rs", "use tokio::{\n    net,\n    process::{Child, Command},\n};"),
        (misplaced, "src/engine/mod.rs", "let now = chrono::Utc::now();"),
        (impure, "crates/domain/src/check.rs", "pub async fn check() {}"),
        (impure, "crates/integrity/src/lib.rs", "use std::fs;"),
        (sentences_as_data, "crates/domain/src/check.rs", "if text.starts_with(\"the agent failed\") {}"),
        (sentences_as_data, "src/engine/wave.rs", "match said == \"it has ended already\" {}"),
        (empty_names, "src/store/mod.rs", "    pub(in crate::store) struct Seen;"),
        (empty_names, "src/store/mod.rs", "pub(super) unsafe extern \"C\" fn tell() {}"),
        (empty_names, "src/store/mod.rs", "fn what_it_tells() {}"),
        (test_seams, "crates/git/src/walk.rs", "#[cfg(test)]\nfn seam() {}"),
        (test_seams, "crates/git/src/walk.rs", "if cfg!(test) {}\nmod tests {"),
        (unfinished, "crates/git/src/walk.rs", "x; // TODO later"),
        (unexplained, "crates/git/src/walk.rs", "use std::fs;"),
    ];
    for (rule, path, text) in table {
        assert_eq!(rule(&Source::new(path, text)).len(), 1, "{path}: {text}");
    }
    let fine = "//! Walks a checkout, and never follows a link.\n\nuse domain::ids::Sha;\nuse super::safe;\n\n\
                #[cfg(test)]\nmod tests {\n    use super::super::*;\n}\n";
    let rules = table.map(|(rule, ..)| rule);
    let found: Vec<String> = rules.iter().flat_map(|rule| rule(&Source::new("crates/git/src/walk.rs", fine))).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Returns the words in which serde writes the variants of each enum of the domain.
fn stored_words(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.file.starts_with("crates/domain/") && !source.is_tests()) {
        let (mut open, mut rename): (Option<(String, usize)>, _) = (None, None);
        let mut is_stored = false;
        for line in source.text.lines() {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            let name = name_after(code, "enum ").filter(|_| std::mem::take(&mut is_stored));
            let name = name.or(code.starts_with("rules! {").then_some("Rule"));
            is_stored = code.contains("Serialize") || is_stored && !code.contains("struct ");
            match &open {
                None => open = name.map(|name| (name.to_owned(), indent)),
                Some((_, outer)) if indent == *outer && code.starts_with('}') => open = None,
                Some((name, outer)) if indent == outer + 4 => {
                    let given = code.strip_prefix("#[serde(rename = \"").and_then(|rest| rest.split('"').next());
                    rename = given.or(rename);
                    if code.starts_with(char::is_uppercase) {
                        let variant = code.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                        let word = rename.take().map_or_else(|| in_snake_case(variant), str::to_owned);
                        found.entry(name.clone()).or_default().insert(word);
                    }
                }
                Some(_) => {}
            }
        }
    }
    found
}

fn in_snake_case(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    word
}

/// A replica of the release before must leave alone what it cannot read, so the store has the words that are new to it.
/// When `tests/crashes/release_before` names another commit, `RELEASE_BEFORE=<its checkout>` writes `release_words` anew.
/// `StartFailure` stands there by hand: it took the place of a text, as which its words without data are read.
#[test]
fn the_store_has_every_word_that_the_release_before_cannot_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (previous, new) = (root.join("tests/crashes/release_words"), root.join("src/store/new_words.txt"));
    if let Ok(checkout) = std::env::var("RELEASE_BEFORE") {
        let words = stored_words(&read(Path::new(&checkout))).into_iter();
        let line = |(name, words): (String, BTreeSet<String>)| format!("{name} {}\n", Vec::from_iter(words).join(" "));
        fs::write(&previous, words.map(line).collect::<String>()).unwrap();
    }
    let previous = fs::read_to_string(previous).unwrap();
    let split = |line: &'_ str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let previous: BTreeMap<String, Vec<String>> =
        previous.lines().map(split).map(|words| (words[0].clone(), words)).collect();
    assert!(previous.contains_key("Rule") && previous.len() > 80, "the words of the release before were not found");
    // An enum that was not there belongs to a field that was not there, which the release before leaves out.
    let later = stored_words(&house()).into_iter().filter_map(|(name, words)| Some((words, previous.get(&name)?)));
    let later: BTreeSet<String> =
        later.flat_map(|(words, before)| words.into_iter().filter(|word| !before.contains(word))).collect();
    let text: String = later.iter().map(|word| format!("{word}\n")).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&new, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(new).unwrap(), text, "UPDATE_DOCS=1 cargo test --test house writes this");
}
