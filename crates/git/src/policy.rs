//! The rules that a commit must meet before it is pushed.

use crate::{
    attributes::{AttributeRule, attributes, rule_or_file, rules},
    commit::Prepared,
    diff::RawChange,
    error::GitError,
    names::RepoPath,
    read::{entries, links, read_blobs},
};
use domain::{ci_definitions::deployment, problem::Forbidden, protected_paths::ProtectedPaths};
use std::collections::HashSet;
use text::secret::{FoundSecret, Secrets};

/// Old versions larger than this, in bytes, are not searched for known secrets.
const OLD_CAP: u64 = 10 << 20;
/// The limit on all contents read for one check, in bytes.
const READ_CAP: usize = 512 << 20;

/// One reason not to push a commit. It never contains a secret's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForbiddenChange {
    /// The path; `None` if the path itself holds a secret.
    pub path: Option<RepoPath>,
    /// The line, from 1, if it is one line.
    pub line: Option<u32>,
    pub why: Forbidden,
}

impl ForbiddenChange {
    /// Forbids the whole file at `path`.
    pub fn file(path: impl Into<RepoPath>, why: Forbidden) -> Self {
        Self { path: Some(path.into()), line: None, why }
    }
}

/// The rules for one repository.
pub struct Policy {
    protected: ProtectedPaths,
    secrets: Secrets,
}

impl Policy {
    /// Protects these paths. Looks for `secrets` and for everything that looks like a secret.
    pub fn new(protected: ProtectedPaths, secrets: Secrets) -> Self {
        Self { protected, secrets }
    }

    /// Returns every reason not to push the commit.
    pub async fn check(&self, commit: &Prepared) -> Result<Vec<ForbiddenChange>, GitError> {
        let links = links(commit.repository(), &format!("{}^1", commit.sha())).await?;
        let protected = self.protected.clone().with_links(&links);
        let paths = commit.changes().iter().filter_map(|change| check_path(&protected, change));
        let mut findings: Vec<ForbiddenChange> = paths.collect();
        findings.extend(filtered(commit).await?);
        let (news, olds) = contents(commit).await?;
        // A secret that any changed file contained before may move between the changed files.
        let mut known: Vec<FoundSecret> = Vec::new();
        for (change, old) in commit.changes().iter().zip(&olds) {
            let path = change.path.to_string();
            known.extend(old.iter().flat_map(|old| self.secrets.find(&path, old)));
        }
        for (change, new) in commit.changes().iter().zip(news) {
            findings.extend(new.into_iter().flat_map(|new| self.check_content(change, &new, &known)));
        }
        Ok(findings)
    }

    fn check_content(&self, change: &RawChange, new: &[u8], known: &[FoundSecret]) -> Vec<ForbiddenChange> {
        let path = &change.path;
        let mut findings = Vec::new();
        if change.new_mode == 0o120_000 && leaves(path, new) {
            findings.push(ForbiddenChange::file(path.clone(), Forbidden::EscapingLink));
        }
        let name = path.to_string();
        if change.old_mode == 0 {
            let held = self.secrets.find("", name.as_bytes());
            findings.extend(held.into_iter().map(|found| ForbiddenChange {
                path: None,
                line: None,
                why: Forbidden::SecretName { masked: self.secrets.mask(&name), kind: found.kind.to_string() },
            }));
        }
        let found = self.secrets.find(&name, new).into_iter();
        let fresh = found.filter(|found| !found.is_among(known));
        findings.extend(fresh.map(|found| ForbiddenChange {
            path: Some(path.clone()),
            line: u32::try_from(found.line).ok(),
            why: Forbidden::Secret(found.kind.to_string()),
        }));
        findings
    }
}

fn check_path(protected: &ProtectedPaths, change: &RawChange) -> Option<ForbiddenChange> {
    let path = change.path.clone();
    if let Some(pattern) = protected.protecting(path.as_path()) {
        let pattern = pattern.to_owned();
        return Some(ForbiddenChange::file(path, Forbidden::Protected(pattern)));
    }
    // Whoever approved the plan knew the services of the default branch. A new file could start another.
    let new = path.as_path().to_str().filter(|_| change.old_mode == 0);
    if let Some(name) = new.and_then(deployment).map(str::to_owned) {
        return Some(ForbiddenChange::file(path, Forbidden::Protected(name)));
    }
    let submodule = change.new_mode == 0o160_000 || change.old_mode == 0o160_000;
    let is_forbidden = submodule || path.as_bytes() == b".gitmodules";
    is_forbidden.then(|| ForbiddenChange::file(path, Forbidden::Submodule))
}

/// Returns the files that a filter would store in its own form. A moved or copied file that the filter has stored
/// before keeps that form.
async fn filtered(commit: &Prepared) -> Result<Vec<ForbiddenChange>, GitError> {
    if !commit.has_attributes() {
        return Ok(Vec::new());
    }
    let (repository, sha) = (commit.repository(), commit.sha().as_str());
    let changes = commit.changes().iter();
    let changes: Vec<&RawChange> = changes.filter(|change| matches!(change.new_mode, 0o100_644 | 0o100_755)).collect();
    let paths: Vec<&RepoPath> = changes.iter().map(|change| &change.path).collect();
    let all = attributes(repository, sha, &paths).await?;
    let mut named: Vec<(&RawChange, String)> = Vec::new();
    for (change, own) in changes.into_iter().zip(all) {
        named.extend(own.filter.map(|filter| (change, filter)));
    }
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let stored = stored_before(commit, &named).await?;
    named.retain(|(change, filter)| !stored.contains(&(change.new_oid.clone(), filter.clone())));
    let paths: Vec<&RepoPath> = named.iter().map(|(change, _)| &change.path).collect();
    let rules = rules(repository, sha, &paths, "filter").await?;
    let finding = |((change, filter), rule): ((&RawChange, String), Option<AttributeRule>)| {
        let rule = rule_or_file(rule.as_ref());
        ForbiddenChange::file(change.path.clone(), Forbidden::Filtered { filter, rule })
    };
    Ok(named.into_iter().zip(rules).map(finding).collect())
}

/// Returns the objects among the named ones that the first parent has under a path with a filter, and that filter.
async fn stored_before(
    commit: &Prepared,
    named: &[(&RawChange, String)],
) -> Result<HashSet<(String, String)>, GitError> {
    let parent = format!("{}^1", commit.sha());
    let mut files = entries(commit.repository(), &parent).await?;
    files.retain(|file| named.iter().any(|(change, _)| change.new_oid == file.oid));
    let paths: Vec<&RepoPath> = files.iter().map(|file| &file.path).collect();
    let all = attributes(commit.repository(), &parent, &paths).await?;
    let pairs = files.iter().zip(all);
    Ok(pairs.filter_map(|(file, own)| Some((file.oid.clone(), own.filter?))).collect())
}

/// Returns the new and old contents of each change, in order; `None` if there is nothing to check.
async fn contents(commit: &Prepared) -> Result<(Vec<Option<Vec<u8>>>, Vec<Option<Vec<u8>>>), GitError> {
    let blob = |mode: u32| mode != 0 && mode != 0o160_000;
    let with_new = |change: &RawChange| blob(change.new_mode);
    let with_old = |change: &RawChange| {
        blob(change.old_mode) && commit.size_before(&change.path).is_some_and(|size| size <= OLD_CAP)
    };
    let changes = || commit.changes().iter();
    let news = changes().filter(|change| with_new(change)).map(|change| &change.new_oid);
    let olds = changes().filter(|change| with_old(change)).map(|change| &change.old_oid);
    let oids: Vec<&str> = news.chain(olds).map(String::as_str).collect();
    let mut blobs = read_blobs(commit.repository(), &oids, READ_CAP).await?.into_iter();
    let mut place = |wanted: bool| if wanted { blobs.next() } else { None };
    let news = changes().map(|change| place(with_new(change))).collect();
    let olds = changes().map(|change| place(with_old(change))).collect();
    Ok((news, olds))
}

/// `true` if the symbolic link at `path` may lead out of the repository. Only leading `..` are counted against the
/// link's depth. A later `..` is refused, since it could climb through another link.
fn leaves(path: &RepoPath, target: &[u8]) -> bool {
    if target.starts_with(b"/") || target.contains(&0) {
        return true;
    }
    let mut room = path.folders().count();
    let mut named = false;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if named || room == 0 => return true,
            b".." => room = room.saturating_sub(1),
            b".git" => return true,
            _ => named = true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_may_not_lead_out() {
        let leaves = |path: &str, target: &str| super::leaves(&RepoPath::from(path), target.as_bytes());
        for (path, target) in
            [("a", "/etc/passwd"), ("a", "../x"), ("d/a", "../../x"), ("a", "d/e/l/../x"), ("a", ".git/config")]
        {
            assert!(leaves(path, target), "{path} -> {target} passed");
        }
        for (path, target) in [("a", "b"), ("d/a", "../b"), ("d/e/a", "../../x/y"), ("a", "./b"), ("a", "..b")] {
            assert!(!leaves(path, target), "{path} -> {target} was refused");
        }
    }
}
