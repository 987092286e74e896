//! Compares the Player's claims with the commit, by facts that it reads from the mirror.

use crate::{
    engine::{
        job::EffectError,
        perform::{context::EffectContext, sync::fork_of},
    },
    gates,
};
use domain::{
    claims::{CommitFacts, discrepancies},
    evidence::GateReport,
    ids::Sha,
    report::{ChangedPaths, Discrepancy},
    task::{Task, Turn},
};
use git::{FileStatus, Mirror};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeSet;

/// The most changed files whose text is searched for names of tests.
const MOST_FILES: usize = 200;

/// The most bytes of one file that are read.
const MOST_TEXT: usize = 256 * 1024;

/// The most `.gitignore` files that are read.
const MOST_RULES: usize = 100;

/// Returns the claims of the turn's report, if there is one, that the commit or the Gates contradict.
pub(super) async fn contradicted(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    task: &Task,
    turn: &Turn,
    head: &Sha,
    gates: &GateReport,
) -> Result<Vec<Discrepancy>, EffectError> {
    let (Some(report), Some(base)) = (&turn.report, &turn.base) else {
        return Ok(Vec::new());
    };
    let fork = fork_of(context, mirror, task, head).await?;
    let by_task = changed(mirror, &fork, head).await?;
    let written = written(mirror, &by_task, head).await?;
    let paths = gates::commands::paths(mirror, head).await?;
    let rules = ignore_rules(mirror, base).await?;
    let files: BTreeSet<String> = paths.iter().map(|path| path.to_lowercase()).collect();
    let known = CommitFacts {
        turn: &changed(mirror, base, head).await?,
        task: &with_earlier_turns(mirror, task, by_task).await?,
        has_file: &|path| files.contains(&path.to_lowercase()),
        is_ignored: &|path| is_ignored(&rules, path),
        is_written: &|words| written.iter().any(|text| text.contains(words)),
        gates,
        criteria: &task.plan.acceptance_criteria,
    };
    let left_out = turn.left_out.iter().cloned().map(Discrepancy::LeftOut);
    Ok(left_out.chain(discrepancies(report, &known)).collect())
}

async fn changed(mirror: &Mirror, base: &Sha, head: &Sha) -> Result<ChangedPaths, EffectError> {
    let mut changed = ChangedPaths::default();
    for file in mirror.changed_files(base, head).await? {
        let path = file.path.to_string();
        match file.status {
            FileStatus::Renamed { from } => {
                changed.created.push(path);
                changed.deleted.push(from.to_string());
            }
            FileStatus::Added => changed.created.push(path),
            FileStatus::Modified | FileStatus::TypeChanged => changed.modified.push(path),
            FileStatus::Deleted => changed.deleted.push(path),
        }
    }
    Ok(changed)
}

/// Returns the paths that the task changed, and those that its earlier turns changed, even if they were changed back
/// since.
async fn with_earlier_turns(mirror: &Mirror, task: &Task, mut all: ChangedPaths) -> Result<ChangedPaths, EffectError> {
    for turn in task.turns_of_attempt() {
        let (Some(base), Some(head)) = (&turn.base, &turn.head) else {
            continue;
        };
        if !mirror.has_commit(base).await? || !mirror.has_commit(head).await? {
            continue;
        }
        let mut by_turn = changed(mirror, base, head).await?;
        all.modified.append(&mut by_turn.modified);
        all.created.append(&mut by_turn.created);
        all.deleted.append(&mut by_turn.deleted);
    }
    Ok(all)
}

/// Returns the text of the files that the task changed, as they are in the commit.
async fn written(mirror: &Mirror, changed: &ChangedPaths, head: &Sha) -> Result<Vec<String>, EffectError> {
    let mut texts = Vec::new();
    for path in changed.created.iter().chain(&changed.modified).take(MOST_FILES) {
        if let Some(file) = mirror.read_file(head, path, MOST_TEXT).await? {
            texts.push(file.text());
        }
    }
    Ok(texts)
}

/// Returns the ignore rules of a commit, the deepest folder first. A file with rules that cannot be compiled counts as
/// empty.
async fn ignore_rules(mirror: &Mirror, base: &Sha) -> Result<Vec<(String, Gitignore)>, EffectError> {
    let mut rules = Vec::new();
    let paths = gates::commands::paths(mirror, base).await?;
    let with_rules = paths.iter().filter(|path| path.rsplit('/').next() == Some(".gitignore"));
    for path in with_rules.take(MOST_RULES) {
        let Some(file) = mirror.read_file(base, path, MOST_TEXT).await? else {
            continue;
        };
        let folder = path.strip_suffix(".gitignore").unwrap_or_default().to_owned();
        let mut builder = GitignoreBuilder::new("");
        for line in file.text().lines() {
            // Git ignores invalid lines too.
            let _ = builder.add_line(None, line);
        }
        if let Ok(compiled) = builder.build() {
            rules.push((folder, compiled));
        }
    }
    rules.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
    Ok(rules)
}

fn is_ignored(rules: &[(String, Gitignore)], path: &str) -> bool {
    let decided = rules.iter().find_map(|(folder, rules)| {
        let within = path.strip_prefix(folder.as_str()).filter(|rest| !rest.is_empty())?;
        let found = rules.matched_path_or_any_parents(within, false);
        (!found.is_none()).then(|| found.is_ignore())
    });
    decided.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::is_ignored;
    use ignore::gitignore::GitignoreBuilder;

    #[test]
    fn the_rules_of_the_deepest_folder_decide() {
        let rules = |lines: &[&str]| {
            let mut builder = GitignoreBuilder::new("");
            for line in lines {
                builder.add_line(None, line).unwrap();
            }
            builder.build().unwrap()
        };
        let all = [("web/".to_owned(), rules(&["!keep.log", "dist/"])), (String::new(), rules(&["target", "*.log"]))];
        for (path, expected) in [
            ("target/debug/x", true),
            ("a.log", true),
            ("web/b.log", true),
            ("web/keep.log", false),
            ("web/dist/app.js", true),
            ("dist/app.js", false),
            ("src/a.rs", false),
            ("web/", false),
        ] {
            assert_eq!(is_ignored(&all, path), expected, "{path}");
        }
    }
}
