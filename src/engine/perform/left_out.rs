//! New files that ignore rules keep out of a turn's commit. Some are committed all the same because the plan or the
//! report names them; others a reader of the review must know of.

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
/// The file that marks a folder as a cache, for all tools.
const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The largest changed file that is searched for names, in bytes.
const MAX_TEXT: u64 = 256 * 1024;

/// Returns the files that the plan or the report names.
pub(super) fn named_files(task: &Task, report: Option<&PlayerReport>) -> Vec<RepoPath> {
    let reported = report.into_iter().flat_map(|report| report.files_created.iter().chain(&report.files_modified));
    task.plan.files.iter().chain(reported).filter_map(|path| repository_path(path)).collect()
}

/// Reads a path that an agent wrote. It may not leave the repository.
fn repository_path(text: &str) -> Option<RepoPath> {
    let parts = Path::new(text.trim()).components().filter(|part| *part != Component::CurDir);
    let parts: Option<Vec<&str>> = parts
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    let parts = parts.filter(|parts| !parts.is_empty())?;
    Some(RepoPath::from(parts.join("/").as_str()))
}

pub(super) async fn words(mirror: &Mirror, commit: &Prepared) -> Result<BTreeSet<String>, EffectError> {
    let changed = commit.changes().iter().filter(|change| matches!(change.new_mode, 0o100_644 | 0o100_755));
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
    words.map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}

/// Groups the files that were left out by rule. In an ignored folder, only files that the change mentions together with
/// the folder count. If it mentions none, the folder counts as a whole, unless builds make it: `made` names the folders
/// that set-up and tests make. Without a test run this is unknown, and no folder counts.
pub(super) fn to_report(
    all: &[git::LeftOut],
    words: &BTreeSet<String>,
    made: Option<&BTreeSet<String>>,
) -> Vec<LeftOut> {
    let mentions = |path: &RepoPath| words.contains(&last_name(path));
    let mut rules: BTreeMap<&IgnoreRule, BTreeSet<String>> = BTreeMap::new();
    let mut folders: BTreeMap<&RepoPath, Vec<&git::LeftOut>> = BTreeMap::new();
    for left in all {
        match &left.folder {
            None => drop(rules.entry(&left.rule).or_default().insert(left.path.to_string())),
            Some(folder) => folders.entry(folder).or_default().push(left),
        }
    }
    for (folder, inside) in folders {
        let is_made = made.is_none_or(|made| made.contains(&last_name(folder)));
        let is_cache = inside.iter().any(|left| last_name(&left.path) == CACHE_TAG);
        let mentioned = inside.iter().filter(|left| mentions(folder) && mentions(&left.path));
        let mut named: Vec<(&IgnoreRule, String)> = mentioned.map(|left| (&left.rule, left.path.to_string())).collect();
        if named.is_empty() && !is_made && !is_cache {
            named.extend(inside.first().map(|left| (&left.rule, format!("{folder}/"))));
        }
        for (rule, name) in named {
            rules.entry(rule).or_default().insert(name);
        }
    }
    let grouped = rules.into_iter().take(MOST_RULES).map(|(rule, files)| LeftOut {
        rule: format!("{}:{}", rule.file, rule.line),
        pattern: rule.pattern.clone(),
        count: files.len(),
        files: files.into_iter().take(MOST_FILES).collect(),
    });
    grouped.collect()
}

fn last_name(path: &RepoPath) -> String {
    let text = path.to_string();
    text.rsplit('/').next().unwrap_or_default().to_owned()
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
    fn a_folder_counts_unless_builds_make_it_and_its_files_if_the_change_mentions_them() {
        let left = |path: &str, line, folder: Option<&str>| git::LeftOut {
            path: path.into(),
            rule: IgnoreRule { file: ".gitignore".into(), line, pattern: format!("pattern {line}") },
            folder: folder.map(RepoPath::from),
        };
        let mut all = vec![
            left("target/debug/x", 1, Some("target")),
            left("data/rates.json", 2, Some("data")),
            left("data/other.json", 2, Some("data")),
            left("fixtures/a.bin", 4, Some("fixtures")),
            left("fixtures/b/c.bin", 4, Some("fixtures")),
            left(".tool/CACHEDIR.TAG", 5, Some(".tool")),
            left(".tool/x", 5, Some(".tool")),
        ];
        all.extend((0..7).map(|at| left(&format!("{at}.log"), 3, None)));
        let words = split("open('data/rates.json'). # target").map(str::to_owned).collect();
        let made = BTreeSet::from(["target".to_owned()]);
        let found = to_report(&all, &words, Some(&made));
        let named: Vec<_> = found.iter().map(|left| (left.rule.as_str(), left.files.len(), left.count)).collect();
        assert_eq!(named, [(".gitignore:2", 1, 1), (".gitignore:3", 5, 7), (".gitignore:4", 1, 1)]);
        assert_eq!((found[0].files[0].as_str(), found[2].files[0].as_str()), ("data/rates.json", "fixtures/"));
        assert_eq!(to_report(&all, &words, None).len(), 2);
    }
}
