//! Reads a mirror: files, lists of files, commits and their ancestry.

use crate::{error::GitError, failure::local_failure, mirror::Mirror, names::RepoPath, process::GitCall};
use domain::{ci::without_held_line, ids::Sha};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// The largest commit object that is read, in bytes.
const COMMIT_CAP: usize = 4 << 20;
/// The most bytes that one call reads of all blobs together. A blob beyond this counts as too large.
const BLOBS_ROOM: u64 = 192 << 20;
/// The limit on git's output for them, headers included, in bytes.
const BLOBS_CAP: usize = 256 << 20;
/// The longest target of a link, in bytes: Linux refuses longer paths.
const LONGEST_TARGET: u64 = 4_096;

/// The content of a file at a commit; for a symbolic link, its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes, no longer than the cap.
    pub bytes: Vec<u8>,
    /// `true` if the file is longer than the cap.
    pub truncated: bool,
}

impl FileContent {
    /// The content as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the number of lines in [`FileContent::bytes`], including a last line without newline.
    pub fn line_count(&self) -> u32 {
        let ends = self.bytes.iter().filter(|byte| **byte == b'\n').count();
        let open = usize::from(self.bytes.last().is_some_and(|byte| *byte != b'\n'));
        u32::try_from(ends.saturating_add(open)).unwrap_or(u32::MAX)
    }
}

/// The result of reading one blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// There is no such blob, or the object is not a blob.
    None,
    /// The blob's bytes.
    Bytes(Vec<u8>),
    /// The blob is over the limit. Its size in bytes, at least one more than the cap.
    Large(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub path: RepoPath,
    /// The file mode; `0o160000` is a submodule.
    pub mode: u32,
    /// The id of its content.
    pub oid: String,
}

impl TreeEntry {
    /// `true` for a file, `false` for a symbolic link or a submodule.
    pub(crate) fn is_regular(&self) -> bool {
        matches!(self.mode, 0o100_644 | 0o100_755 | 0o100_664)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileList {
    /// The entries in git's order.
    pub entries: Vec<TreeEntry>,
    /// `true` if the commit has more files than the cap.
    pub truncated: bool,
}

/// The parsed fields of a commit object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    pub tree: Sha,
    /// The parents, in order.
    pub parents: Vec<Sha>,
    pub author_name: String,
    /// E-mail address of the author.
    pub author_email: String,
    /// The whole message.
    pub message: String,
    /// The trailers of the message's last paragraph, in order.
    pub trailers: Vec<(String, String)>,
    /// `true` if the commit carries a signature. The signature itself is not verified.
    pub is_signed: bool,
}

impl CommitInfo {
    /// Returns the value of the last trailer called `key`, in any letter case.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        let mut latest_first = self.trailers.iter().rev();
        let found = latest_first.find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.as_str())
    }
}

impl Mirror {
    /// Returns up to `cap` bytes of one file at a commit; `None` if there is no file at that path.
    pub async fn read_file(&self, sha: &Sha, path: &str, cap: usize) -> Result<Option<FileContent>, GitError> {
        let spec = format!("{sha}:{path}");
        let known = self.shared.memory.files(&(Arc::clone(&self.dir), sha.clone()));
        let asked = RepoPath::from(path);
        let is_absent = |files: Arc<[TreeEntry]>| files.iter().all(|file| file.path != asked);
        if path.is_empty() || path.contains('\0') || known.is_some_and(is_absent) {
            return Ok(None);
        }
        let output = self.ask(&["cat-file", "blob", &spec], Some(cap)).await?;
        let truncated = output.truncated;
        match output.code {
            code if code == 0 || truncated => Ok(Some(FileContent { bytes: output.stdout.clone(), truncated })),
            128 => Ok(None),
            _ => Err(local_failure("cat-file", &output)),
        }
    }

    /// Returns the files of a commit, at most `cap` of them.
    pub async fn list_files(&self, sha: &Sha, cap: usize) -> Result<FileList, GitError> {
        let all = self.all_files(sha).await?;
        Ok(FileList { entries: all.iter().take(cap).cloned().collect(), truncated: all.len() > cap })
    }

    /// Returns the symbolic links of a commit, with their targets.
    pub async fn links(&self, sha: &Sha) -> Result<BTreeMap<String, String>, GitError> {
        self.ready()?;
        links(&self.dir, sha.as_str()).await
    }

    async fn all_files(&self, sha: &Sha) -> Result<Arc<[TreeEntry]>, GitError> {
        self.ready()?;
        let key = (Arc::clone(&self.dir), sha.clone());
        if let Some(known) = self.shared.memory.files(&key) {
            return Ok(known);
        }
        let entries = entries(&self.dir, sha.as_str()).await?.into();
        self.shared.memory.keep_files(key, &entries);
        Ok(entries)
    }

    /// Reads blobs by their ids, in order, with one process for all contents. A blob of more than `cap` bytes is
    /// [`Blob::Large`], and so is one that does not fit into 192 MiB for all together. An object that is no blob is
    /// [`Blob::None`].
    pub async fn blobs(&self, oids: &[&str], cap: u64) -> Result<Vec<Blob>, GitError> {
        self.ready()?;
        let mut room = BLOBS_ROOM;
        let mut sizes = blob_sizes(&self.dir, oids).await?;
        let mut fits = |size: &mut Option<u64>| match *size {
            Some(known) if known <= cap && known <= room => room -= known,
            Some(known) => *size = Some(known.max(cap.saturating_add(1))),
            None => {}
        };
        sizes.iter_mut().for_each(&mut fits);
        let wanted: Vec<&str> = oids
            .iter()
            .zip(&sizes)
            .filter(|(_, size)| size.is_some_and(|size| size <= cap))
            .map(|(oid, _)| *oid)
            .collect();
        let mut read = read_blobs(&self.dir, &wanted, BLOBS_CAP).await?.into_iter();
        let blob = |size: Option<u64>| match size {
            None => Blob::None,
            Some(size) if size > cap => Blob::Large(size),
            Some(_) => read.next().map_or(Blob::None, Blob::Bytes),
        };
        Ok(sizes.into_iter().map(blob).collect())
    }

    /// Returns the fields of a commit; `None` if the mirror does not have it.
    pub async fn commit_info(&self, sha: &Sha) -> Result<Option<CommitInfo>, GitError> {
        self.ready()?;
        let call = GitCall::new(&self.dir, "cat-file").arg("--batch").cap(COMMIT_CAP);
        let output = call.stdin(format!("{sha}\n").into_bytes()).ok().await?;
        let found = split_line(&output.stdout).and_then(|(header, rest)| Some((ObjectHeader::read(header)?, rest)));
        let Some((found, rest)) = found.filter(|(found, _)| found.kind == "commit") else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(rest.get(..found.size).unwrap_or(rest));
        let info = commit_info(&text).ok_or_else(|| GitError::unexpected("cat-file", "a commit"))?;
        Ok(Some(info))
    }

    /// Returns the best common ancestor; `None` for unrelated histories.
    pub async fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, GitError> {
        let arguments = ["merge-base", "--end-of-options", one.as_str(), other.as_str()];
        let output = self.ask(&arguments, None).await?;
        match (output.code, output.text().parse()) {
            (0, Ok(sha)) => Ok(Some(sha)),
            (1, _) => Ok(None),
            _ => Err(local_failure("merge-base", &output)),
        }
    }

    /// Returns the first-parent history of `head` without the commits that `base` contains: newest first, at most
    /// `cap`.
    pub async fn grown(&self, base: &Sha, head: &Sha, cap: usize) -> Result<Vec<Sha>, GitError> {
        let options = ["--first-parent", "--end-of-options", head.as_str(), &format!("^{base}")];
        self.rev_list(&options, cap).await
    }

    /// Lists at most `cap` commits, newest first.
    pub(crate) async fn rev_list(&self, arguments: &[&str], cap: usize) -> Result<Vec<Sha>, GitError> {
        self.ready()?;
        let call = GitCall::new(&self.dir, "rev-list").arg(format!("--max-count={cap}"));
        let output = call.args(arguments).ok().await?;
        let commits = output.text().lines().map(str::parse).collect::<Result<_, _>>();
        commits.map_err(|_| GitError::unexpected("rev-list", "a commit"))
    }

    /// Returns `true` if `descendant` contains `ancestor`. A commit contains itself.
    pub async fn is_ancestor(&self, ancestor: &Sha, descendant: &Sha) -> Result<bool, GitError> {
        let options = ["merge-base", "--is-ancestor", "--end-of-options"];
        let commits = [ancestor.as_str(), descendant.as_str()];
        let output = self.ask(&[&options[..], &commits].concat(), None).await?;
        match output.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(local_failure("merge-base", &output)),
        }
    }
}

/// Returns the files of a commit or a tree in any repository of ours.
pub(crate) async fn entries(git_dir: &Path, source: &str) -> Result<Vec<TreeEntry>, GitError> {
    let call = GitCall::new(git_dir, "ls-tree").args(["-r", "-z", "--full-tree", "--end-of-options"]);
    let output = call.arg(source).ok().await?;
    let lines = output.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let entry = |line| tree_entry(line).ok_or_else(|| GitError::unexpected("ls-tree", "a line"));
    lines.map(entry).collect()
}

/// Returns the symbolic links of a commit, with their targets. One with a target that no system follows is left out.
pub(crate) async fn links(git_dir: &Path, commit: &str) -> Result<BTreeMap<String, String>, GitError> {
    let mut links = entries(git_dir, commit).await?;
    links.retain(|entry| entry.mode == 0o120_000);
    let oids: Vec<&str> = links.iter().map(|link| link.oid.as_str()).collect();
    let sizes = blob_sizes(git_dir, &oids).await?;
    let mut sizes = sizes.into_iter().map(|size| size.is_some_and(|size| size <= LONGEST_TARGET));
    links.retain(|_| sizes.next().is_some_and(|fits| fits));
    let oids: Vec<&str> = links.iter().map(|link| link.oid.as_str()).collect();
    let targets = read_blobs(git_dir, &oids, BLOBS_CAP).await?;
    let text = |target: Vec<u8>| String::from_utf8_lossy(&target).into_owned();
    Ok(links.iter().map(|link| link.path.to_string()).zip(targets.into_iter().map(text)).collect())
}

/// Returns the sizes of blobs in bytes, in order; `None` for an object that is no blob.
pub(crate) async fn blob_sizes(git_dir: &Path, oids: &[&str]) -> Result<Vec<Option<u64>>, GitError> {
    if oids.is_empty() {
        return Ok(Vec::new());
    }
    let lines = oids.iter().flat_map(|oid| [*oid, "\n"]).collect::<String>();
    let call = GitCall::new(git_dir, "cat-file").args(["--batch-check=%(objecttype) %(objectsize)", "--buffer"]);
    let output = call.stdin(lines.into_bytes()).cap(BLOBS_CAP).ok().await?;
    let text = output.text();
    let size = |line: &str| line.strip_prefix("blob ").and_then(|size| size.parse().ok());
    let sizes: Vec<Option<u64>> = text.lines().map(size).collect();
    if sizes.len() == oids.len() { Ok(sizes) } else { Err(GitError::unexpected("cat-file", "an early end")) }
}

/// Reads the contents of blobs, in order, with one process. An object that is missing or no blob gives empty content.
pub(crate) async fn read_blobs(git_dir: &Path, oids: &[&str], cap: usize) -> Result<Vec<Vec<u8>>, GitError> {
    if oids.is_empty() {
        return Ok(Vec::new());
    }
    let lines = oids.iter().flat_map(|oid| [*oid, "\n"]).collect::<String>();
    let call = GitCall::new(git_dir, "cat-file").args(["--batch", "--buffer"]).cap(cap);
    let output = call.stdin(lines.into_bytes()).ok().await?;
    let mut rest = output.stdout.as_slice();
    let mut blobs = Vec::with_capacity(oids.len());
    for _ in oids {
        let (header, after) = split_line(rest).ok_or_else(|| GitError::unexpected("cat-file", "an early end"))?;
        let Some(found) = ObjectHeader::read(header) else {
            rest = after;
            blobs.push(Vec::new());
            continue;
        };
        let content = after.get(..found.size).ok_or_else(|| GitError::unexpected("cat-file", "a short object"))?;
        let is_blob = found.kind == "blob";
        blobs.push(if is_blob { content.to_vec() } else { Vec::new() });
        rest = after.get(found.size.saturating_add(1)..).unwrap_or_default();
    }
    Ok(blobs)
}

/// The header that `cat-file --batch` prints before an object.
struct ObjectHeader {
    kind: String,
    size: usize,
}

impl ObjectHeader {
    /// Reads `<object> <type> <size>`. Any other line means that there is no such object.
    fn read(header: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(header).ok()?.split(' ');
        let _oid: Sha = parts.next()?.parse().ok()?;
        let found = Self { kind: parts.next()?.to_owned(), size: parts.next()?.parse().ok()? };
        parts.next().is_none().then_some(found)
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((bytes.get(..at)?, bytes.get(at.saturating_add(1)..)?))
}

/// Reads `<mode> <type> <object> TAB <path>`.
fn tree_entry(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(line.get(..tab)?).ok()?;
    let mut words = head.split(' ');
    Some(TreeEntry {
        mode: u32::from_str_radix(words.next()?, 8).ok()?,
        oid: words.nth(1)?.to_owned(),
        path: RepoPath::new(line.get(tab.saturating_add(1)..)?),
    })
}

fn commit_info(text: &str) -> Option<CommitInfo> {
    let (head, message) = text.split_once("\n\n").unwrap_or((text, ""));
    let field = |name: &'static str| head.lines().filter_map(move |line| line.strip_prefix(name));
    let author = field("author ").next()?;
    let (name, rest) = author.split_once('<')?;
    Some(CommitInfo {
        tree: field("tree ").next()?.parse().ok()?,
        parents: field("parent ").map(str::parse).collect::<Result<_, _>>().ok()?,
        author_name: name.trim().to_owned(),
        author_email: rest.split('>').next().unwrap_or_default().to_owned(),
        message: message.to_owned(),
        trailers: trailers(message),
        is_signed: field("gpgsig ").next().is_some(),
    })
}

/// Reads the `Key: value` lines of the last paragraph, if it contains nothing else. The skip instruction may follow it.
fn trailers(message: &str) -> Vec<(String, String)> {
    let last = without_held_line(message).trim_end().rsplit("\n\n").next().unwrap_or_default();
    let pair = |line: &str| {
        let (key, value) = line.split_once(": ")?;
        let key_fine = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        key_fine.then(|| (key.to_owned(), value.trim().to_owned()))
    };
    last.lines().map(pair).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_counts_with_and_without_its_newline() {
        let table: [(&[u8], u32); 5] = [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)];
        for (bytes, lines) in table {
            let content = FileContent { bytes: bytes.to_owned(), truncated: false };
            assert_eq!(content.line_count(), lines, "{bytes:?}");
        }
    }

    #[test]
    fn trailers_are_read_from_the_last_paragraph_only() {
        let read = trailers("Add x\n\nSee: this\n\nAutoBuild-Task: TASK-001\nAutoBuild-Turn: 2\n");
        let expected = [("AutoBuild-Task", "TASK-001"), ("AutoBuild-Turn", "2")];
        assert_eq!(read, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let held = domain::ci::held_message("Add x\n\nAutoBuild-Task: TASK-001\nAutoBuild-Turn: 2\n");
        assert_eq!(trailers(&held).len(), 2);
        assert_eq!(trailers("Add x\n\njust: a\nplain sentence"), Vec::new());
    }
}
