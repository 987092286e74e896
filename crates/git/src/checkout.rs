//! Throw-away checkouts. Git fills a checkout before an agent starts, and never reads it again.

use crate::{
    blocking::blocking,
    changes::{Changes, TakeOutError, TakeOutLimits, TreeFinding, take_out},
    clone_refs::CloneRefs,
    error::GitError,
    failure::checkout_failure,
    ignores::{AlwaysIncluded, IgnoreFiles},
    mirror::{Mirror, Shared, make_skeleton},
    names::RepoPath,
    process::GitCall,
    put::write_or_remove,
    read::Blob,
    unsettled::Mark,
    walk::{Stamp, WalkError, open_root, walk},
};
use domain::ids::Sha;
use ignore::gitignore::GitignoreBuilder;
use rustix::fd::OwnedFd;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The largest file, in bytes, that replaces a file of the commit.
const MAX_LAID: u64 = 4 << 20;

/// A path and its replacement: bytes and mode, or `None` to remove the file.
type Laid = (RepoPath, Option<(Vec<u8>, u32)>);

/// The time limit for filling a checkout, sized for the largest repositories.
const FILL_DEADLINE: Duration = Duration::from_secs(600);

/// Returns how many bytes can still be written to the folder's disk.
fn room(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The state of a checkout before anyone worked in it.
#[derive(Debug, Default)]
pub struct TreeRecord {
    pub(crate) files: BTreeMap<RepoPath, Stamp>,
    pub(crate) folders: HashSet<RepoPath>,
    pub(crate) rules: HashMap<RepoPath, Vec<u8>>,
}

impl TreeRecord {
    pub(crate) fn new(files: BTreeMap<RepoPath, Stamp>, rules: HashMap<RepoPath, Vec<u8>>) -> Self {
        let folders = files.keys().flat_map(|path| path.folders().collect::<Vec<_>>());
        let folders = folders.collect();
        Self { files, folders, rules }
    }

    /// Returns this record with the stamps that `now` has for the same files, except the `changed` ones.
    fn with_stamps_of(mut self, now: Self, changed: &[RepoPath]) -> Self {
        let changed: HashSet<&RepoPath> = changed.iter().collect();
        for (path, stamp) in &mut self.files {
            if let Some(now) = now.files.get(path).filter(|_| !changed.contains(path)) {
                *stamp = *now;
            }
        }
        self
    }

    /// Returns the path of every file that was filled in.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(RepoPath::as_path)
    }

    pub(crate) fn has_file(&self, path: &RepoPath) -> bool {
        self.files.contains_key(path)
    }
}

/// One working copy for one use. On drop, it is moved away at once and deleted in the background, unless it is kept.
#[derive(Debug)]
pub struct Checkout {
    /// The folder that holds the working copy.
    home: PathBuf,
    work: PathBuf,
    /// The working copy's device and inode, to notice if another folder has replaced it.
    root: (u64, u64),
    head: Sha,
    tree: Option<Sha>,
    pub(crate) record: Arc<TreeRecord>,
    pub(crate) shared: Arc<Shared>,
    /// The mark that keeps the checkout, if it is kept.
    mark: Option<PathBuf>,
}

impl Checkout {
    /// Returns the working copy's folder.
    pub fn path(&self) -> &Path {
        &self.work
    }

    /// Returns the folder around the working copy. Everything in it is deleted with the checkout.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the commit at `HEAD`.
    pub fn head(&self) -> &Sha {
        &self.head
    }

    /// Returns the tree that was filled in if it is not the commit's own, such as a merge with conflict markers.
    pub fn tree(&self) -> Option<&Sha> {
        self.tree.as_ref()
    }

    /// Returns the record of the working copy's first state.
    pub fn record(&self) -> &TreeRecord {
        &self.record
    }

    /// Returns the changes made in the working copy, with the `named` files even if a rule ignores them. Every process
    /// that could write there must have ended.
    pub async fn take_out(
        &self,
        limits: &TakeOutLimits,
        named: impl IntoIterator<Item = RepoPath>,
    ) -> Result<Changes, TakeOutError> {
        let (root, record, limits) = (self.open(), Arc::clone(&self.record), limits.clone());
        let named = AlwaysIncluded::new(named);
        let walked = blocking(move || match root {
            Some(root) => take_out(&root, &record, &limits, &named),
            None => Ok(Changes { findings: vec![TreeFinding::CheckoutGone], ..Changes::default() }),
        });
        walked.await.map_err(|error| TakeOutError::Io(error.into()))?
    }

    /// Returns every path that differs from the first state, ignored files included. Empty means that nobody wrote
    /// here.
    pub async fn changed_paths(&self) -> Result<Vec<RepoPath>, TakeOutError> {
        let Some(root) = self.open() else {
            return Ok(vec![RepoPath::from(".")]);
        };
        let record = Arc::clone(&self.record);
        let compared = blocking(move || differences(&root, &record));
        compared.await.map_err(|error| TakeOutError::Io(error.into()))?
    }

    pub(crate) fn inode(&self) -> u64 {
        self.root.1
    }

    /// Replaces the mark that keeps the checkout. Returns the previous one.
    pub(crate) fn set_mark(&mut self, mark: Option<PathBuf>) -> Option<PathBuf> {
        std::mem::replace(&mut self.mark, mark)
    }

    /// Opens a kept checkout again. The device's number may have changed, but not the folder's inode. A change of the
    /// owner, after an upgrade or with another level of isolation, does not make its files look changed.
    pub(crate) fn reopened(shared: &Arc<Shared>, home: PathBuf, mark: Mark, file: PathBuf) -> io::Result<Self> {
        let work = home.join("work");
        let meta = fs::symlink_metadata(&work)?;
        if meta.ino() != mark.inode || !meta.is_dir() {
            return Err(io::Error::other("another folder has replaced the working copy"));
        }
        let changed = differences(&open_root(&work)?, &mark.record).map_err(io::Error::other)?;
        let record = if shared.hand_over(&home)? {
            let now = record(&work, &home).map_err(io::Error::other)?;
            mark.record.with_stamps_of(now, &changed)
        } else {
            mark.record
        };
        Ok(Self {
            root: (meta.dev(), meta.ino()),
            home,
            work,
            head: mark.head,
            tree: mark.tree,
            record: Arc::new(record),
            shared: Arc::clone(shared),
            mark: Some(file),
        })
    }

    /// Opens the working copy; `None` if another folder has replaced it.
    pub(crate) fn open(&self) -> Option<OwnedFd> {
        let root = open_root(&self.work).ok()?;
        let stat = rustix::fs::fstat(&root).ok()?;
        ((stat.st_dev, stat.st_ino) == self.root).then_some(root)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if self.mark.is_none() {
            self.shared.trash.take(&self.home);
        }
    }
}

impl Mirror {
    /// Makes a fresh working copy of a commit that the mirror holds.
    pub async fn checkout(&self, sha: &Sha) -> Result<Checkout, GitError> {
        self.fill(sha, None, Vec::new(), None).await
    }

    /// Does the same in a folder of this name. An existing checkout in that folder is thrown away.
    pub async fn checkout_at(&self, sha: &Sha, folder: &str) -> Result<Checkout, GitError> {
        self.fill(sha, None, Vec::new(), Some(folder)).await
    }

    /// Makes a fresh working copy of the commit `head`, or of the tree `merged` with `HEAD` at `head`. Every path that
    /// matches one of `patterns` (as in a `.gitignore`) is as it is on `base`, except `merged`'s conflicting paths.
    /// These differences belong to the first state, so [`Checkout::take_out`] does not report them.
    pub async fn checkout_as_on(
        &self,
        head: &Sha,
        merged: Option<(&Sha, &[RepoPath])>,
        base: &Sha,
        patterns: &[&str],
    ) -> Result<Checkout, GitError> {
        let mut rules = GitignoreBuilder::new(Path::new(""));
        let unreadable = |error: ignore::Error| GitError::io("reading a pattern")(std::io::Error::other(error));
        for pattern in patterns {
            rules.add_line(None, pattern).map_err(unreadable)?;
        }
        let rules = rules.build().map_err(unreadable)?;
        let (tree, conflicts) = merged.unzip();
        let conflicts = conflicts.unwrap_or_default();
        let mut changes = self.diff_raw(base, tree.unwrap_or(head)).await?;
        changes.retain(|change| !conflicts.contains(&change.path));
        let matched = |path: &RepoPath| rules.matched_path_or_any_parents(path.as_path(), false);
        changes.retain(|change| matched(&change.path).is_ignore());
        let there = changes.iter().filter(|change| is_file(change.old_mode));
        let oids: Vec<&str> = there.map(|change| change.old_oid.as_str()).collect();
        let mut blobs = self.blobs(&oids, MAX_LAID).await?.into_iter();
        let mut laid = Vec::new();
        for change in &changes {
            let blob = is_file(change.old_mode).then(|| blobs.next()).flatten();
            let content = match blob {
                Some(Blob::Bytes(bytes)) => Some((bytes, change.old_mode)),
                Some(Blob::Large(_) | Blob::None) | None => None,
            };
            laid.push((change.path.clone(), content));
        }
        let laid = self.laid_out(tree.unwrap_or(head), laid).await?;
        self.fill(head, tree, laid, None).await
    }

    /// Gives files that are laid over a checkout of `source` the bytes of a work tree. Removals come first: a file may
    /// have become a folder, or the other way round.
    async fn laid_out(&self, source: &Sha, laid: Vec<Laid>) -> Result<Vec<Laid>, GitError> {
        let (mut all, mut files) = (Vec::new(), Vec::new());
        for (path, content) in laid {
            match content {
                Some(content) => files.push((path, content)),
                None => all.push((path, None)),
            }
        }
        let files = self.in_work_tree(source, files).await?;
        all.extend(files.into_iter().map(|(path, content)| (path, Some(content))));
        Ok(all)
    }

    async fn fill(
        &self,
        head: &Sha,
        tree: Option<&Sha>,
        laid: Vec<Laid>,
        folder: Option<&str>,
    ) -> Result<Checkout, GitError> {
        self.ready()?;
        let making = || GitError::io("making a checkout");
        let refs = self.refs_of_clone(head).await?;
        let home = self.shared.new_home(folder).map_err(making())?;
        let work = home.join("work");
        let checkout = Checkout {
            root: make_work(&work, &refs, &self.dir.join("objects")).map_err(making())?,
            head: head.clone(),
            tree: tree.cloned(),
            record: Arc::default(),
            shared: Arc::clone(&self.shared),
            mark: None,
            home,
            work,
        };
        self.fill_in(checkout, laid).await
    }

    /// Lets git write the files, replaces those in `laid`, then records the result.
    async fn fill_in(&self, mut checkout: Checkout, laid: Vec<Laid>) -> Result<Checkout, GitError> {
        // Running more of these than there are cores makes all of them slower.
        let _permit = self.shared.filling.acquire().await;
        let source = checkout.tree.as_ref().unwrap_or(&checkout.head);
        let git = checkout.work.join(".git");
        let call = GitCall::converting(&git, &checkout.work, source.as_str(), "read-tree");
        let call = call.config("checkout.workers", "0").args(["-u", "--reset", "--end-of-options", source.as_str()]);
        let output = call.deadline(FILL_DEADLINE).run().await?;
        match output.code {
            0 => {}
            128 if !self.has_object(source).await? => return Err(GitError::Missing(source.to_string())),
            _ => return Err(checkout_failure(&output, room(&checkout.work))),
        }
        let failed = || GitError::io("recording a checkout");
        let (work, home) = (checkout.work.clone(), checkout.home.clone());
        let shared = Arc::clone(&self.shared);
        let laying = blocking(move || {
            for (path, content) in &laid {
                write_or_remove(&work, path.as_path(), content.as_ref())
                    .map_err(|error| WalkError::Io(path.clone(), error))?;
            }
            shared.hand_over(&home).map_err(failed_at_top)
        });
        let handed = laying.await.map_err(|error| failed()(error.into()))?;
        if handed.map_err(|error| failed()(std::io::Error::other(error)))? {
            // A change of the owner makes every file look changed to git.
            let call = GitCall::converting(&git, &checkout.work, source.as_str(), "update-index");
            call.args(["-q", "--refresh"]).deadline(FILL_DEADLINE).run().await?;
        }
        let (work, home) = (checkout.work.clone(), checkout.home.clone());
        let recorded = blocking(move || record(&work, &home)).await;
        let recorded = recorded.map_err(|error| failed()(error.into()))?;
        let record = recorded.map_err(|error| failed()(std::io::Error::other(error)))?;
        checkout.record = Arc::new(record);
        Ok(checkout)
    }

    async fn has_object(&self, sha: &Sha) -> Result<bool, GitError> {
        let call = GitCall::new(&self.dir, "cat-file").args(["-e", sha.as_str()]);
        Ok(call.run().await?.code == 0)
    }
}

/// `true` if the mode is that of a file or a symbolic link.
fn is_file(mode: u32) -> bool {
    !matches!(mode, 0 | 0o160_000)
}

/// Writes the repository of a working copy: as a clone, but with borrowed objects and without a remote address. Returns
/// the work folder's device and inode.
fn make_work(work: &Path, refs: &CloneRefs, objects: &Path) -> std::io::Result<(u64, u64)> {
    let git = work.join(".git");
    fs::create_dir_all(&git)?;
    make_skeleton(&git, "bare = false", Some(objects))?;
    refs.write(&git)?;
    let meta = fs::symlink_metadata(work)?;
    Ok((meta.dev(), meta.ino()))
}

/// Records the state of every file, then waits until the file system's clock has moved on, so that every later write
/// shows in the file's change time.
fn record(work: &Path, home: &Path) -> Result<TreeRecord, WalkError> {
    let root = open_root(work).map_err(|error| failed_at_top(error.into()))?;
    let mut rules = HashMap::new();
    let files = walk(&root, IgnoreFiles::Collect(&mut rules))?.files;
    let latest = files.values().map(|stamp| stamp.changed).max().unwrap_or_default();
    let probe = home.join("clock");
    for _ in 0..100 {
        fs::write(&probe, b"").map_err(failed_at_top)?;
        let meta = fs::symlink_metadata(&probe).map_err(failed_at_top)?;
        if (meta.ctime(), meta.ctime_nsec()) > latest {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(TreeRecord::new(files, rules))
}

fn failed_at_top(error: io::Error) -> WalkError {
    WalkError::Io(RepoPath::from("."), error)
}

fn differences(root: &OwnedFd, record: &TreeRecord) -> Result<Vec<RepoPath>, TakeOutError> {
    let walked = walk(root, IgnoreFiles::Everything)?;
    let differs = |(path, stamp): &(&RepoPath, &Stamp)| record.files.get(*path) != Some(*stamp);
    let written = walked.files.iter().filter(differs).map(|(path, _)| path.clone());
    let gone = record.files.keys().filter(|path| !walked.files.contains_key(*path)).cloned();
    let odd = walked.odd.iter().map(|(path, _)| path.clone());
    let mut paths: Vec<RepoPath> = written.chain(gone).chain(odd).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}
