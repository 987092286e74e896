//! Whether a change touches what set-up reads or runs: then what set-up left on the change's commit says nothing of the
//! base.

use crate::gates::{
    change::{Change, is_document},
    run::context::GateError,
    turn::Run,
};
use domain::shell_command::ShellCommand;
use integrity::{
    FileChange,
    language::{Role, role},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The largest script that is read, and the most of them.
const LARGEST: usize = 256 * 1024;
const MOST: usize = 20;
/// The scripts that npm, pnpm and yarn run when they install.
const HOOKS: [&str; 5] = ["preinstall", "install", "postinstall", "prepare", "prepublish"];

/// Whether the change touches it.
///
/// Package managers read settings and lock files. What set-up runs of the repository itself may read whatever it names: a
/// file, a folder, a module.
pub(crate) async fn touches_setup(run: &Run<'_>) -> Result<bool, GateError> {
    let Some(setup) = &run.prepared.chosen.setup else {
        return Ok(false);
    };
    if run.change.files.iter().any(is_read_by_package_managers) {
        return Ok(true);
    }
    Ok(is_named(run.change, &words(run, setup).await?))
}

fn is_read_by_package_managers(file: &FileChange) -> bool {
    match role(&file.path) {
        Role::Settings => true,
        Role::Other => !is_document(&file.path),
        Role::Source | Role::Test | Role::Support => false,
    }
}

/// The words of every script of the repository that set-up runs.
async fn words(run: &Run<'_>, setup: &ShellCommand) -> Result<BTreeSet<String>, GateError> {
    let mut open: Vec<String> = named_files(run.change, &split(setup.text()));
    let hooks = read(run, "package.json")
        .await?
        .map(|text| hooks(&text))
        .unwrap_or_default();
    open.extend(named_files(run.change, &split(&hooks)));
    let (mut words, mut seen) = (split(&hooks), BTreeSet::new());
    while let Some(path) = open.pop() {
        if seen.len() >= MOST || !seen.insert(path.clone()) {
            continue;
        }
        if let Some(text) = read(run, &path).await? {
            let more = split(&text);
            open.extend(named_files(run.change, &more));
            words.extend(more);
        }
        words.insert(path);
    }
    Ok(words)
}

async fn read(run: &Run<'_>, path: &str) -> Result<Option<String>, GateError> {
    let file = run.subject.mirror.read_file(run.subject.head, path, LARGEST).await?;
    Ok(file.and_then(|file| String::from_utf8(file.bytes).ok()))
}

/// The scripts of a `package.json` that run when packages are installed.
pub(crate) fn hooks(manifest: &str) -> String {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let script = |name: &&str| manifest.get("scripts")?.get(*name)?.as_str().map(str::to_owned);
    let scripts: Vec<String> = HOOKS.iter().filter_map(script).collect();
    scripts.join("\n")
}

/// Names, paths and their parts.
fn split(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = text
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_start_matches("./"));
    words.filter(|word| word.len() > 1).map(str::to_owned).collect()
}

fn named_files(change: &Change, words: &BTreeSet<String>) -> Vec<String> {
    words
        .iter()
        .filter(|word| change.head.contains(*word))
        .cloned()
        .collect()
}

/// Whether a changed file is named, by its path, by a folder that it stands in, or by its module.
fn is_named(change: &Change, words: &BTreeSet<String>) -> bool {
    let parts: BTreeSet<&str> = words.iter().flat_map(|word| word.split(['/', '.'])).collect();
    change.files.iter().any(|file| {
        let mut of_path = file.path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        words.contains(&file.path) || of_path.any(|part| !part.is_empty() && parts.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_what_they_read() {
        let words = split("set -e\ncp -r ./src built\npython3 tools/gen.py --all");
        let parts = |word: &str| words.contains(word);
        assert!(parts("src") && parts("tools/gen.py") && !parts("./src"));
        let manifest = r#"{"main": "index.js", "scripts": {"test": "vitest", "prepare": "node scripts/build.js"}}"#;
        assert_eq!(hooks(manifest), "node scripts/build.js");
        assert_eq!(hooks("{"), "");
    }
}
