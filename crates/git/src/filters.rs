//! Finds the filters that attributes name, such as those of Git LFS and git-crypt. None of them ever runs.

use crate::{
    attributes::{AttributeRule, attributes, is_attributes_file, lines_with, rules},
    error::GitError,
    mirror::Mirror,
    names::RepoPath,
    read::{TreeEntry, read_blobs},
};
use domain::ids::Sha;
use std::collections::{BTreeMap, BTreeSet};

/// The most files of a filter that are named.
const MOST_NAMED: usize = 5;
/// The limit on all attribute files of a commit, in bytes.
const RULES_CAP: usize = 64 << 20;

/// A filter that a commit's attributes name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterUse {
    /// The lines that name it, for existing or for future files.
    pub rules: BTreeSet<AttributeRule>,
    /// The first files that it concerns.
    pub files: Vec<RepoPath>,
    /// The number of files that it concerns.
    pub count: usize,
}

impl Mirror {
    /// Returns the filters of a commit by name, with the files that they concern.
    pub async fn filters(&self, commit: &Sha) -> Result<BTreeMap<String, FilterUse>, GitError> {
        let files = self.list_files(commit, usize::MAX).await?.entries;
        let mut filters: BTreeMap<String, FilterUse> = BTreeMap::new();
        let given: Vec<&TreeEntry> = files.iter().filter(|file| is_attributes_file(&file.path)).collect();
        let oids: Vec<&str> = given.iter().map(|file| file.oid.as_str()).collect();
        for (file, text) in given.iter().zip(read_blobs(&self.dir, &oids, RULES_CAP).await?) {
            for (line, filter) in lines_with(&String::from_utf8_lossy(&text), "filter") {
                let file = file.path.clone();
                filters.entry(filter).or_default().rules.insert(AttributeRule { file, line });
            }
        }
        if filters.is_empty() {
            return Ok(filters);
        }
        let paths: Vec<&RepoPath> = files.iter().filter(|file| file.is_regular()).map(|file| &file.path).collect();
        for (path, own) in paths.iter().zip(attributes(&self.dir, commit.as_str(), &paths).await?) {
            let Some(filter) = own.filter else { continue };
            let filter = filters.entry(filter).or_default();
            filter.count = filter.count.saturating_add(1);
            if filter.files.len() < MOST_NAMED {
                filter.files.push((*path).clone());
            }
        }
        for filter in filters.values_mut().filter(|filter| filter.count > 0) {
            let files: Vec<&RepoPath> = filter.files.iter().collect();
            let found = rules(&self.dir, commit.as_str(), &files, "filter").await?;
            filter.rules = found.into_iter().flatten().collect();
        }
        Ok(filters)
    }
}
