//! Decides if a change touches something that set-up reads or runs. If so, set-up's result on one commit does not hold
//! for the other.
//!
//! Package managers read settings, manifests and lock files, and run the scripts that manifests name. A line that
//! people wrote may read anything that it names: a file, a folder, a module.

use crate::gates::{
    change::is_document,
    commands::{CommandChoice, paths},
    run::context::GateError,
};
use domain::ids::Sha;
use git::Mirror;
use integrity::language::{Role, file_name, role};
use serde_json::Value;
use std::collections::BTreeSet;

/// The largest script that is read, in bytes, and the most scripts.
const LARGEST: usize = 256 * 1024;
const MOST: usize = 20;
/// The scripts that npm, pnpm and yarn run during an installation.
const HOOKS: [&str; 5] = ["preinstall", "install", "postinstall", "prepare", "prepublish"];

/// `true` if the difference between two commits touches something that set-up reads or runs.
pub(crate) async fn touches_setup(
    mirror: &Mirror,
    from: &Sha,
    to: &Sha,
    chosen: &CommandChoice,
) -> Result<bool, GateError> {
    let Some(setup) = &chosen.setup else {
        return Ok(false);
    };
    let changes = mirror.diff_raw(from, to).await?;
    let changed: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    if changed.is_empty() || changed.iter().any(|path| is_read_by_package_managers(path)) {
        return Ok(!changed.is_empty());
    }
    let commit = ReadCommit { mirror, commit: to, files: paths(mirror, to).await?.into_iter().collect() };
    let line = if chosen.setup_is_found { "" } else { setup.text() };
    Ok(is_named(&changed, &commit.words(line).await?))
}

pub(crate) fn is_read_by_package_managers(path: &str) -> bool {
    match role(path) {
        Role::Settings => true,
        Role::Other => !is_document(path),
        Role::Source | Role::Test | Role::Support => false,
    }
}

/// The commit on which set-up runs.
struct ReadCommit<'a> {
    mirror: &'a Mirror,
    commit: &'a Sha,
    files: BTreeSet<String>,
}

impl ReadCommit<'_> {
    /// Returns the words of every script of the repository that this line, or the installation of packages, runs.
    async fn words(&self, line: &str) -> Result<BTreeSet<String>, GateError> {
        let mut open = self.named_files(&split(line));
        let mut hooks = String::new();
        let manifests = self.files.iter().filter(|path| file_name(path) == "package.json");
        for manifest in manifests.take(MOST) {
            hooks.push_str(&hooks_of(&self.read(manifest).await?.unwrap_or_default()));
            hooks.push('\n');
        }
        open.extend(self.named_files(&split(&hooks)));
        let (mut words, mut seen) = (split(&hooks), BTreeSet::new());
        while let Some(path) = open.pop() {
            if seen.len() >= MOST || !seen.insert(path.clone()) {
                continue;
            }
            if let Some(text) = self.read(&path).await? {
                let more = split(&text);
                open.extend(self.named_files(&more));
                words.extend(more);
            }
            words.insert(path);
        }
        Ok(words)
    }

    async fn read(&self, path: &str) -> Result<Option<String>, GateError> {
        let file = self.mirror.read_file(self.commit, path, LARGEST).await?;
        Ok(file.and_then(|file| String::from_utf8(file.bytes).ok()))
    }

    fn named_files(&self, words: &BTreeSet<String>) -> Vec<String> {
        words.intersection(&self.files).cloned().collect()
    }
}

/// Returns the scripts of a `package.json` that run when packages are installed.
pub(crate) fn hooks_of(manifest: &str) -> String {
    let manifest: Value = text::json::read(manifest.as_bytes()).unwrap_or_default();
    let script = |name: &&str| manifest.get("scripts")?.get(*name)?.as_str().map(str::to_owned);
    let scripts: Vec<String> = HOOKS.iter().filter_map(script).collect();
    scripts.join("\n")
}

/// Splits a text into names and paths.
fn split(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = text.split(|c: char| !is_part(c));
    let words = words.map(|word| word.trim_start_matches("./"));
    words.filter(|word| word.len() > 1).map(str::to_owned).collect()
}

/// `true` if a changed file is named by its path, one of its folders, or its module.
fn is_named(changed: &[String], words: &BTreeSet<String>) -> bool {
    let parts: BTreeSet<&str> = words.iter().flat_map(|word| word.split(['/', '.'])).collect();
    changed.iter().any(|path| {
        let mut of_path = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        words.contains(path) || of_path.any(|part| !part.is_empty() && parts.contains(part))
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
        assert_eq!(hooks_of(manifest), "node scripts/build.js");
        assert_eq!(hooks_of("{"), "");
    }
}
