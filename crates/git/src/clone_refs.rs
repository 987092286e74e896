//! The refs that make a checkout look like a clone: the remote's default branch, and the tags of the mirror's history.
//! A mirror keeps the tags in one file of its own, so that a checkout needs no process for them.

use crate::{
    error::GitError,
    mirror::{LS_REMOTE_CAP, Mirror},
    names::BranchName,
    process::GitCall,
    remote::Remote,
};
use domain::ids::Sha;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

/// The file in a mirror's folder with its tags, in the form of `packed-refs`.
const TAGS: &str = "tags-of-history";
/// The first line of a sorted `packed-refs` in which each annotated tag has its commit.
const PACKED: &str = "# pack-refs with: peeled fully-peeled sorted \n";
/// The start of a tag's ref.
const SPACE: &str = "refs/tags/";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    object: Sha,
    /// The object to which an annotated tag finally points.
    peeled: Option<Sha>,
}

impl Tag {
    fn target(&self) -> &Sha {
        self.peeled.as_ref().unwrap_or(&self.object)
    }
}

impl Mirror {
    /// Reads the remote's tags and keeps those of commits that the mirror has. A tag that was moved or deleted there is
    /// moved or deleted here. Fetches only the objects of annotated tags. `default` is the remote's default branch.
    pub async fn fetch_tags(&self, remote: &Remote, default: &BranchName) -> Result<(), GitError> {
        let listing = self.list_tags(remote).await?;
        let _writing = self.writing.lock().await;
        let mut tags = match listing {
            Some(listing) => tags(&listing),
            None if self.has_tags() => return Ok(()),
            None => BTreeMap::new(),
        };
        let targets = self.list_present(tags.values().map(Tag::target)).await?;
        tags.retain(|_, tag| targets.contains(tag.target()));
        let annotated = || tags.iter().filter(|(_, tag)| tag.peeled.is_some());
        let held = self.list_present(annotated().map(|(_, tag)| &tag.object)).await?;
        let missing: Vec<&str> =
            annotated().filter(|(_, tag)| !held.contains(&tag.object)).map(|(name, _)| name.as_str()).collect();
        if !missing.is_empty() {
            self.fetch_objects(remote, &missing).await?;
            let held = self.list_present(tags.values().map(|tag| &tag.object)).await?;
            tags.retain(|_, tag| held.contains(&tag.object));
        }
        let writing = GitError::io("writing the tags of a mirror");
        self.write_refs(&tags, default).map_err(writing)
    }

    /// Returns the remote's list of tags; `None` if it is too long, and then the tags stay as they are.
    async fn list_tags(&self, remote: &Remote) -> Result<Option<String>, GitError> {
        self.ready()?;
        let call = GitCall::new(&self.dir, "ls-remote").talking_to(remote).cap(LS_REMOTE_CAP);
        let output = call.args(["--quiet", "--tags", "--"]).arg(remote.url()).run().await?;
        match output.code {
            _ if output.truncated => {
                tracing::warn!("a repository has too many tags to read");
                Ok(None)
            }
            0 => Ok(Some(output.text())),
            _ => Err(crate::failure::remote_failure("ls-remote", &output, remote.url())),
        }
    }

    async fn list_present(&self, objects: impl Iterator<Item = &Sha>) -> Result<BTreeSet<Sha>, GitError> {
        let lines: String = objects.flat_map(|object| [object.as_str(), "\n"]).collect();
        if lines.is_empty() {
            return Ok(BTreeSet::new());
        }
        let call = GitCall::new(&self.dir, "cat-file").args(["--batch-check=%(objectname) %(objecttype)", "--buffer"]);
        let output = call.stdin(lines.into_bytes()).ok().await?.text();
        let held = output.lines().filter_map(|line| line.split_once(' ')).filter(|(_, kind)| *kind != "missing");
        Ok(held.filter_map(|(object, _)| object.parse().ok()).collect())
    }

    /// Fetches the objects of annotated tags. A tag that was deleted meanwhile, or that git refuses, is left out, since
    /// no work depends on it.
    async fn fetch_objects(&self, remote: &Remote, refs: &[&str]) -> Result<(), GitError> {
        let lines: String = refs.iter().flat_map(|name| [*name, "\n"]).collect();
        let call = self.fetching(remote).args(["--stdin", "--"]).arg(remote.url());
        let output = call.stdin(lines.into_bytes()).run().await?;
        if output.code != 0 {
            tracing::warn!(stderr = %output.stderr, "annotated tags could not be fetched");
        }
        Ok(())
    }

    fn write_refs(&self, tags: &BTreeMap<String, Tag>, default: &BranchName) -> io::Result<()> {
        let mut text = String::new();
        for (name, tag) in tags {
            text.push_str(&format!("{} {name}\n", tag.object));
            if let Some(peeled) = &tag.peeled {
                text.push_str(&format!("^{peeled}\n"));
            }
        }
        replace(&self.dir, TAGS, &text)?;
        replace(&self.dir, "HEAD", &format!("ref: {}\n", default.full()))
    }

    /// `true` if the remote's tags were read at least once.
    pub fn has_tags(&self) -> bool {
        self.dir.join(TAGS).exists()
    }

    /// Returns the tags of the mirror's history, in the form of `packed-refs`. Results of commands may depend on them.
    pub fn tags(&self) -> String {
        fs::read_to_string(self.dir.join(TAGS)).unwrap_or_default()
    }

    /// Returns the refs of a checkout with this commit at `HEAD`.
    pub(crate) async fn refs_of_clone(&self, head: &Sha) -> Result<CloneRefs, GitError> {
        let named = fs::read_to_string(self.dir.join("HEAD")).unwrap_or_default();
        let default = named.trim_end().strip_prefix("ref: refs/heads/").and_then(|name| name.parse().ok());
        let default: BranchName = default.map_or_else(|| "main".parse(), Ok)?;
        Ok(CloneRefs { head: head.clone(), tip: self.rev_parse(&default).await?, default, tags: self.tags() })
    }
}

pub(crate) struct CloneRefs {
    head: Sha,
    default: BranchName,
    /// The commit of the remote's default branch.
    tip: Option<Sha>,
    tags: String,
}

impl CloneRefs {
    /// Writes the refs into the git folder of a checkout. `HEAD` is on a branch with the name of the default branch.
    pub(crate) fn write(&self, git: &Path) -> io::Result<()> {
        let branch = self.default.full();
        let mut packed = format!("{PACKED}{} {branch}\n", self.head);
        if let Some(tip) = &self.tip {
            let folder = git.join("refs/remotes/origin");
            fs::create_dir_all(&folder)?;
            let remote = format!("refs/remotes/origin/{}", self.default);
            fs::write(folder.join("HEAD"), format!("ref: {remote}\n"))?;
            packed.push_str(&format!("{tip} {remote}\n"));
        }
        packed.push_str(&self.tags);
        fs::write(git.join("packed-refs"), packed)?;
        fs::write(git.join("HEAD"), format!("ref: {branch}\n"))
    }
}

/// Replaces a file of ours as a whole.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let unfinished = folder.join(format!("{name}.unfinished"));
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, folder.join(name))
}

/// Reads the lines `<object> TAB <ref>`. The line `<commit> TAB <ref>^{}` follows an annotated tag's. A name that git
/// would not accept is left out.
fn tags(listing: &str) -> BTreeMap<String, Tag> {
    let mut tags: BTreeMap<String, Tag> = BTreeMap::new();
    for line in listing.lines() {
        let Some((object, name)) = line.split_once('\t') else {
            continue;
        };
        let Ok(object) = object.parse::<Sha>() else { continue };
        if let Some(name) = name.strip_suffix("^{}") {
            if let Some(tag) = tags.get_mut(name) {
                tag.peeled = Some(object);
            }
        } else if name.strip_prefix(SPACE).is_some_and(|short| short.parse::<BranchName>().is_ok()) {
            tags.insert(name.to_owned(), Tag { object, peeled: None });
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_with_their_commits_and_odd_names_are_left_out() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let listing = format!(
            "{one}\trefs/tags/v1\n{two}\trefs/tags/v1^{{}}\n{two}\trefs/tags/light\n{one}\trefs/tags/../../config\n\
             {one}\trefs/heads/x\nrubbish\n{two}\trefs/tags/none^{{}}\n{one}\trefs/tags/a b\n"
        );
        let found = tags(&listing);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["refs/tags/light", "refs/tags/v1"]);
        assert_eq!(found["refs/tags/v1"].target().as_str(), two);
        assert_eq!(found["refs/tags/light"].target().as_str(), two);
    }
}
