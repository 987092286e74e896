//! What a command runs of a repository: its scripts, and the rules of make files and scripts of manifests that lead to
//! them. A check says only what all of these let it say.

mod make;
mod programs;

use crate::{shell, workflows::is_workflow};
use domain::ci_definitions::definition;
use programs::{Call, calls};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The most parts that are followed, and the longest text of a script, in bytes.
const MOST: usize = 200;
const LONGEST: usize = 64 * 1024;

/// A part of a repository that a command runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalledPart {
    pub path: String,
    /// The target, variable or script within the file; `None` for the whole file.
    pub name: Option<String>,
}

/// The parts that a command runs, each with its text.
pub type CalledParts = BTreeMap<CalledPart, String>;

/// The files of one commit.
pub struct Tree<'a> {
    pub paths: &'a BTreeSet<String>,
    /// Returns the text of a file; `None` if it is not readable text.
    pub read: &'a dyn Fn(&str) -> Option<String>,
}

/// Returns the parts of the repository that a command runs, directly or through others.
pub fn parts_of_command(command: &str, tree: &Tree<'_>) -> CalledParts {
    Walk { tree, found: CalledParts::new(), open: vec![(command.to_owned(), String::new())] }.end()
}

/// Returns the parts that the definitions of CI services lead to: scripts, targets, actions of the repository, and files
/// that they include.
pub fn parts_of_ci(tree: &Tree<'_>) -> CalledParts {
    let mut walk = Walk { tree, found: CalledParts::new(), open: Vec::new() };
    let is_definition = |path: &&String| is_workflow(path) || is_yaml(path) && definition(path).is_some();
    for path in tree.paths.iter().filter(is_definition) {
        walk.open_strings(&walk.text(path).unwrap_or_default());
    }
    walk.end()
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yml") || path.ends_with(".yaml")
}

/// Returns the parts that two versions do not share, or have with another text.
pub fn differing<'p>(before: &'p CalledParts, after: &'p CalledParts) -> BTreeSet<&'p CalledPart> {
    let all = before.keys().chain(after.keys());
    all.filter(|part| before.get(*part) != after.get(*part)).collect()
}

struct Walk<'a> {
    tree: &'a Tree<'a>,
    found: CalledParts,
    /// Lines that are still to be read, each with the folder in which it runs.
    open: Vec<(String, String)>,
}

impl Walk<'_> {
    fn end(mut self) -> CalledParts {
        while let Some((line, folder)) = self.open.pop() {
            self.line(&line, &folder);
        }
        self.found
    }

    /// Opens each string of a YAML file as a line. Those that are no command name nothing that runs.
    fn open_strings(&mut self, text: &str) {
        let value: Value = serde_saphyr::from_str(text).unwrap_or_default();
        let mut lines = Vec::new();
        strings(&value, &mut lines);
        self.open.extend(lines.into_iter().map(|line| (line.to_owned(), String::new())));
    }

    fn line(&mut self, line: &str, folder: &str) {
        if line.len() > LONGEST {
            return;
        }
        let mut folders = vec![folder.to_owned()];
        for words in shell::commands(line) {
            if let [program, to, ..] = words.as_slice()
                && matches!(program.as_str(), "cd" | "pushd")
            {
                folders.push(joined(folder, to));
                continue;
            }
            // Whether the line is in a folder yet depends on its structure, so all that it names are tried.
            for folder in folders.clone() {
                calls(&words).into_iter().for_each(|call| self.call(call, &folder));
            }
        }
    }

    fn call(&mut self, call: Call, folder: &str) {
        match call {
            Call::Line(line) => self.open.push((line, folder.to_owned())),
            Call::Script(path) => self.script(&joined(folder, &path)),
            Call::Program { path, is_shell } => {
                let path = joined(folder, &path);
                self.file(&path, is_shell, folder);
                ["yml", "yaml"].iter().for_each(|end| self.definition(&format!("{path}/action.{end}")));
                self.definition(&path);
            }
            Call::Module(name) => {
                let name = name.replace('.', "/");
                for path in [format!("{name}.py"), format!("{name}/__main__.py")] {
                    [path.clone(), format!("src/{path}")].iter().for_each(|path| self.script(&joined(folder, path)));
                }
            }
            Call::Package(path) => {
                let below = format!("{}/", joined(folder, &path));
                let inside = self.tree.paths.range(below.clone()..).take_while(|path| path.starts_with(&below));
                let is_in = |path: &&String| path.strip_prefix(&below).is_some_and(|name| !name.contains('/'));
                let own = inside.filter(|path| path.ends_with(".go")).filter(is_in);
                own.cloned().collect::<Vec<_>>().iter().for_each(|path| self.script(path));
            }
            Call::Make { files, folder: below, targets } => {
                let folder = joined(folder, &below);
                let mut paths = files.iter().map(|file| joined(&folder, file));
                if let Some(path) = paths.find(|path| self.tree.paths.contains(path)) {
                    self.targets(&path, &folder, &targets);
                }
            }
            Call::Key { file, keys } => {
                let path = joined(folder, file);
                keys.iter().for_each(|key| self.key(&path, key, folder));
            }
        }
    }

    /// Adds a part. Returns `false` if it is known, or too many are.
    fn add(&mut self, path: &str, name: Option<&str>, text: &str) -> bool {
        let part = CalledPart { path: path.to_owned(), name: name.map(str::to_owned) };
        self.found.len() < MOST && self.found.insert(part, text.to_owned()).is_none()
    }

    fn text(&self, path: &str) -> Option<String> {
        self.tree.paths.contains(path).then(|| (self.tree.read)(path)).flatten()
    }

    fn script(&mut self, path: &str) {
        if let Some(text) = self.text(path) {
            self.add(path, None, &text);
        }
    }

    /// Adds a file that runs, and reads on in it if it is a script for a shell.
    fn file(&mut self, path: &str, is_shell: bool, folder: &str) {
        let Some(text) = self.text(path).filter(|_| !is_yaml(path)) else { return };
        let first = text.lines().next().unwrap_or_default();
        let is_shell = is_shell || path.ends_with(".sh") || first.starts_with("#!") && first.ends_with("sh");
        if self.add(path, None, &text) && is_shell {
            self.open.push((text, folder.to_owned()));
        }
    }

    /// Adds an action, or a file that a definition of CI includes, and what these run.
    fn definition(&mut self, path: &str) {
        if let Some(text) = self.text(path).filter(|_| is_yaml(path))
            && self.add(path, None, &text)
        {
            self.open_strings(&text);
        }
    }

    /// Adds rules of a make file, with the variables in their recipes and the rules that they need.
    fn targets(&mut self, path: &str, folder: &str, targets: &[String]) {
        let Some(text) = self.text(path) else { return };
        let file = make::MakeFile::read(&text);
        let mut open = if targets.is_empty() { file.first().into_iter().collect() } else { targets.to_vec() };
        while let Some(target) = open.pop() {
            let Some(rule) = file.rule(&target) else { continue };
            if !self.add(path, Some(&target), &rule.text) {
                continue;
            }
            open.extend(rule.needs);
            let (recipe, variables) = file.expanded(&rule.recipe);
            for (name, value) in variables {
                self.add(path, Some(&format!("{name} =")), &value);
            }
            self.open.push((recipe, folder.to_owned()));
        }
    }

    /// Adds a script of a manifest, by its dotted key.
    fn key(&mut self, path: &str, key: &str, folder: &str) {
        let Some(text) = self.text(path) else { return };
        let read = || match path.rsplit('.').next() {
            Some("toml") => toml::from_str(&text).ok(),
            Some("yml" | "yaml") => serde_saphyr::from_str(&text).ok(),
            Some(_) | None => text::json::read(text.as_bytes()).ok(),
        };
        let manifest: Value = read().unwrap_or_default();
        let (above, name) = key.rsplit_once('.').unwrap_or(("", key));
        let section = above.split('.').try_fold(&manifest, |value, part| value.get(part));
        let Some(value) = section.and_then(|section| section.get(name)) else { return };
        if self.add(path, Some(key), &value.to_string()) {
            let mut lines = Vec::new();
            strings(value, &mut lines);
            self.open.push((lines.join("\n"), folder.to_owned()));
        }
    }
}

fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(values) => values.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Joins a folder and a path in it; a path that leads out of the repository is the rest of it.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests;
