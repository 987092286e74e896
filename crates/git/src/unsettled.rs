//! Marks of checkouts whose work was not taken out yet. If the process dies or stops before that, the marked checkout
//! stays, and a later run on this machine opens it again.
//!
//! A mark holds the checkout's first state. It is outside every checkout, so no agent can write it.

use crate::{
    blocking::blocking,
    checkout::{Checkout, TreeRecord},
    error::GitError,
    mirror::{Mirror, Mirrors, Shared},
    names::RepoPath,
    walk::Stamp,
};
use domain::ids::{Millis, RepoId, Sha};
use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How long a marked checkout waits for the run that takes its work out, in seconds.
const KEPT: i64 = 14 * 24 * 3_600;

impl Checkout {
    /// Keeps the checkout under this name until [`Checkout::settle`], even if this value is dropped or the process dies. A
    /// checkout that is kept under the same name is thrown away. The name begins with the repository's id and a hyphen, so
    /// that [`Mirrors::forget`] finds it.
    ///
    /// # Errors
    ///
    /// The mark cannot be written.
    pub async fn keep_as(&mut self, name: &str) -> Result<(), GitError> {
        let failed = || GitError::io("marking a checkout");
        let shared = Arc::clone(&self.shared);
        let mark = shared.unsettled().join(file_name(name));
        let (bytes, file) = (encode(self), mark.clone());
        let before = Mark::read(&mark).ok();
        let written = blocking(move || write(&bytes, &file));
        written.await.map_err(|error| failed()(error.into()))?.map_err(failed())?;
        let home = self.home().file_name().map(OsString::from);
        if let Some(before) = before.filter(|before| Some(&before.home) != home.as_ref()) {
            shared.trash.take(&shared.checkouts().join(before.home));
        }
        self.set_mark(Some(mark));
        Ok(())
    }

    /// Stops keeping the checkout: its work was taken out, or nobody wants it.
    pub fn settle(&mut self) {
        if let Some(mark) = self.set_mark(None) {
            let _ = fs::remove_file(mark);
        }
    }
}

impl Mirror {
    /// Opens the checkout that was kept under this name and not settled. The checkout stays kept.
    pub async fn unsettled(&self, name: &str) -> Option<Checkout> {
        let shared = Arc::clone(&self.shared);
        let mark = shared.unsettled().join(file_name(name));
        let opened = blocking(move || open(&shared, mark));
        opened.await.ok()?.ok()
    }
}

impl Mirrors {
    /// Throws away the kept checkouts of a repository.
    pub(crate) fn forget_kept(&self, repo: RepoId) {
        let shared = &self.shared;
        let own = format!("{repo}-");
        for entry in fs::read_dir(shared.unsettled()).into_iter().flatten().flatten() {
            if !entry.file_name().to_string_lossy().starts_with(&own) {
                continue;
            }
            if let Ok(mark) = Mark::read(&entry.path()) {
                shared.trash.take(&shared.checkouts().join(mark.home));
            }
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Returns the folders of the kept checkouts, and removes the marks of those that are too old or gone.
    pub(crate) fn prune(shared: &Shared, now: Millis) -> BTreeSet<OsString> {
        let mut kept = BTreeSet::new();
        for entry in fs::read_dir(shared.unsettled()).into_iter().flatten().flatten() {
            let age = |meta: fs::Metadata| (now.0 / 1_000).saturating_sub(meta.mtime());
            let is_young = entry.metadata().is_ok_and(|meta| age(meta) <= KEPT);
            let home = Mark::read(&entry.path()).map(|mark| mark.home);
            match home {
                Ok(home) if is_young && shared.checkouts().join(&home).is_dir() => {
                    kept.insert(home);
                }
                Ok(_) | Err(_) => {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        kept
    }
}

fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).take(200).collect()
}

fn open(shared: &Arc<Shared>, file: PathBuf) -> io::Result<Checkout> {
    let mark = Mark::read(&file)?;
    let home = shared.checkouts().join(&mark.home);
    let checkout = Checkout::reopened(shared, home, mark, file.clone())?;
    // The stamps may be new. Without them, every file would look changed at the next opening.
    write(&encode(&checkout), &file)?;
    Ok(checkout)
}

fn write(mark: &[u8], file: &Path) -> io::Result<()> {
    let temporary = file.with_extension("new");
    fs::write(&temporary, mark).and_then(|()| fs::rename(&temporary, file))
}

pub(crate) struct Mark {
    /// The name of the folder around the working copy.
    home: OsString,
    pub(crate) head: Sha,
    pub(crate) tree: Option<Sha>,
    pub(crate) inode: u64,
    pub(crate) record: TreeRecord,
}

impl Mark {
    fn read(file: &Path) -> io::Result<Self> {
        let bytes = fs::read(file)?;
        decode(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "this is not a mark"))
    }
}

fn encode(checkout: &Checkout) -> Vec<u8> {
    let mut bytes = Vec::new();
    let home = checkout.home().file_name().unwrap_or_default();
    push(&mut bytes, home.as_encoded_bytes());
    push(&mut bytes, checkout.head().as_str().as_bytes());
    push(&mut bytes, checkout.tree().map_or("", Sha::as_str).as_bytes());
    bytes.extend(checkout.inode().to_le_bytes());
    let record = checkout.record();
    push_count(&mut bytes, record.files.len());
    for (path, stamp) in &record.files {
        push(&mut bytes, path.as_bytes());
        bytes.extend(stamp.to_bytes());
    }
    push_count(&mut bytes, record.rules.len());
    for (path, rules) in &record.rules {
        push(&mut bytes, path.as_bytes());
        push(&mut bytes, rules);
    }
    bytes
}

fn push_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend(u64::try_from(count).unwrap_or(u64::MAX).to_le_bytes());
}

fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    push_count(bytes, part.len());
    bytes.extend_from_slice(part);
}

fn decode(bytes: &[u8]) -> Option<Mark> {
    use std::os::unix::ffi::OsStringExt;
    let mut rest = RecordReader(bytes);
    let home = OsString::from_vec(rest.part()?.to_vec());
    let head = std::str::from_utf8(rest.part()?).ok()?.parse().ok()?;
    let tree = match std::str::from_utf8(rest.part()?).ok()? {
        "" => None,
        tree => Some(tree.parse().ok()?),
    };
    let inode = rest.number()?;
    let mut files = std::collections::BTreeMap::new();
    for _ in 0..rest.number()? {
        let path = RepoPath::new(rest.part()?);
        files.insert(path, Stamp::from_bytes(rest.take(Stamp::BYTES)?)?);
    }
    let mut rules = HashMap::new();
    for _ in 0..rest.number()? {
        let path = RepoPath::new(rest.part()?);
        rules.insert(path, rest.part()?.to_vec());
    }
    Some(Mark { home: Some(home).filter(is_one_name)?, head, tree, inode, record: TreeRecord::new(files, rules) })
}

/// `true` for the name of an entry of a folder.
fn is_one_name(name: &OsString) -> bool {
    let mut parts = Path::new(name).components();
    matches!(parts.next(), Some(std::path::Component::Normal(_))) && parts.next().is_none()
}

struct RecordReader<'a>(&'a [u8]);

impl<'a> RecordReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }
}
