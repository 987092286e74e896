//! Finds files that Git LFS stores elsewhere. The commit contains a pointer in their place, whatever `.gitattributes`
//! says now.

use crate::{error::GitError, mirror::Mirror, names::RepoPath, process::GitCall, read::Blob};
use domain::ids::Sha;

/// The first line of a pointer.
const FIRST_LINE: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The possible sizes of a pointer in bytes: its three lines at their shortest, and the specification's limit.
const LEAST: u64 = 100;
const MOST: u64 = 1_023;

/// The most files of such a size that are read.
const MOST_LOOKED_INTO: usize = 5_000;

impl Mirror {
    /// Returns a file of a commit that is a Git LFS pointer, if one is found.
    pub async fn lfs_pointer(&self, sha: &Sha) -> Result<Option<RepoPath>, GitError> {
        self.ready()?;
        let call = GitCall::new(&self.dir, "ls-tree").args(["-r", "-l", "-z", "--full-tree", "--end-of-options"]);
        let output = call.arg(sha.as_str()).ok().await?;
        let files: Vec<(String, RepoPath)> =
            output.stdout.split(|byte| *byte == 0).filter_map(of_pointer_size).take(MOST_LOOKED_INTO).collect();
        let oids: Vec<&str> = files.iter().map(|(oid, _)| oid.as_str()).collect();
        let blobs = self.blobs(&oids, MOST).await?;
        let is_pointer = |blob: &Blob| matches!(blob, Blob::Bytes(bytes) if bytes.starts_with(FIRST_LINE));
        let found = files.into_iter().zip(&blobs).find(|(_, blob)| is_pointer(blob));
        Ok(found.map(|((_, path), _)| path))
    }
}

/// Reads `<mode> <type> <object> <size> TAB <path>`, with spaces before the size. `None` if it cannot be a pointer.
fn of_pointer_size(line: &[u8]) -> Option<(String, RepoPath)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(line.get(..tab)?).ok()?;
    let mut words = head.split_ascii_whitespace();
    let (_mode, kind, oid) = (words.next()?, words.next()?, words.next()?);
    let size: u64 = words.next()?.parse().ok()?;
    let fits = kind == "blob" && (LEAST..=MOST).contains(&size);
    let path = RepoPath::new(line.get(tab.saturating_add(1)..)?);
    fits.then(|| (oid.to_owned(), path))
}
