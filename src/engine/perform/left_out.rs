//! New files that ignore rules keep out of a turn's commit: those that are taken all the same because they are named, and
//! those that a reader of the review must know of.

use crate::engine::job::EffectError;
use domain::{
    report::{LeftOut, PlayerReport},
    task::Task,
};
use git::{Blob, IgnoreRule, Mirror, Prepared, RepoPath};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path},
};

/// The most rules that are named, and the most files of each.
const MOST_RULES: usize = 20;
const MOST_FILES: usize = 5;
/// The largest changed file that is searched for names, in bytes.
const MAX_TEXT: u64 = 256 * 1024;

/// Returns the files that the plan or the report names.
pub(super) fn named(task: &Task, report: Option<&PlayerReport>) -> Vec<RepoPath> {
    let reported = report
        .into_iter()
        .flat_map(|report| report.files_created.iter().chain(&report.files_modified));
    task.plan
        .files
        .iter()
        .chain(reported)
        .filter_map(|path| repository_path(path))
        .collect()
}

/// Reads a path that an agent wrote. It may not leave the repository.
fn repository_path(text: &str) -> Option<RepoPath> {
    let parts = Path::new(text.trim())
        .components()
        .filter(|part| *part != Component::CurDir);
    let parts: Option<Vec<&str>> = parts
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    let parts = parts.filter(|parts| !parts.is_empty())?;
    Some(RepoPath::from(parts.join("/").as_str()))
}

/// Returns the words of the files that a commit changes.
pub(super) async fn words(mirror: &Mirror, commit: &Prepared) -> Result<BTreeSet<String>, EffectError> {
    let changed = commit
        .changes()
        .iter()
        .filter(|change| matches!(change.new_mode, 0o100_644 | 0o100_755));
    let oids: Vec<&str> = changed.map(|change| change.new_oid.as_str()).collect();
    let mut words = BTreeSet::new();
    for blob in mirror.blobs(&oids, MAX_TEXT).await? {
        if let Blob::Bytes(bytes) = blob {
            words.extend(split(&String::from_utf8_lossy(&bytes)).map(str::to_owned));
        }
    }
    Ok(words)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-'));
    words
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
}

/// Groups the files that were left out by their rules. Most files in ignored folders are build results: one counts only
/// if the change mentions it and the folder by name.
pub(super) fn to_report(all: &[git::LeftOut], words: &BTreeSet<String>) -> Vec<LeftOut> {
    let mut rules: BTreeMap<&IgnoreRule, Vec<&RepoPath>> = BTreeMap::new();
    for left in all.iter().filter(|left| counts(left, words)) {
        rules.entry(&left.rule).or_default().push(&left.path);
    }
    let grouped = rules.into_iter().take(MOST_RULES).map(|(rule, files)| LeftOut {
        rule: format!("{}:{}", rule.file, rule.line),
        pattern: rule.pattern.clone(),
        files: files.iter().take(MOST_FILES).map(ToString::to_string).collect(),
        count: files.len(),
    });
    grouped.collect()
}

fn counts(left: &git::LeftOut, words: &BTreeSet<String>) -> bool {
    let mentions = |path: &RepoPath| {
        let text = path.to_string();
        words.contains(text.rsplit('/').next().unwrap_or_default())
    };
    left.folder
        .as_ref()
        .is_none_or(|folder| mentions(folder) && mentions(&left.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_repository_names_nothing() {
        let read = |text: &str| repository_path(text).map(|path| path.to_string());
        assert_eq!(read("./data//x.json ").as_deref(), Some("data/x.json"));
        for text in ["../x", "/etc/passwd", "a/../../x", "", "."] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn files_in_ignored_folders_count_only_if_the_change_mentions_them() {
        let left = |path: &str, line, folder: Option<&str>| git::LeftOut {
            path: path.into(),
            rule: IgnoreRule {
                file: ".gitignore".into(),
                line,
                pattern: format!("pattern {line}"),
            },
            folder: folder.map(RepoPath::from),
        };
        let mut all = vec![
            left("target/debug/x", 1, Some("target")),
            left("data/rates.json", 2, Some("data")),
            left("data/other.json", 2, Some("data")),
        ];
        all.extend((0..7).map(|at| left(&format!("{at}.log"), 3, None)));
        let words = split("open('data/rates.json'). # target").map(str::to_owned).collect();
        let found = to_report(&all, &words);
        let named: Vec<_> = found
            .iter()
            .map(|left| (left.rule.as_str(), left.files.len(), left.count))
            .collect();
        assert_eq!(named, [(".gitignore:2", 1, 1), (".gitignore:3", 5, 7)]);
        assert_eq!(found[0].files, ["data/rates.json"]);
    }
}
