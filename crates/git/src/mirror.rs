//! The bare mirrors: one per repository, made on first use, owned by the service and never writable by an agent.
//!
//! Nothing in a mirror is ever pruned, because checkouts borrow its objects.

use crate::{
    error::GitError,
    failure::remote_failure,
    memory::Memory,
    names::{BranchName, mirror_refspec},
    process::{GitCall, GitOutput},
    remote::{ForgeAccess, Remote},
    safe::IGNORED_IN_HISTORY,
    trash::Trash,
};
use domain::ids::{Millis, RepoId, RepoName, Sha};
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::Semaphore;

/// The largest listing of a remote's refs that we accept, in bytes of output.
pub(crate) const LS_REMOTE_CAP: usize = 16 << 20;

/// The options of every `fetch` into a mirror: only the named refs change.
pub(crate) const QUIETLY: [&str; 4] = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];

/// All mirrors and checkouts below one data folder.
#[derive(Clone)]
pub struct Mirrors {
    pub(crate) shared: Arc<Shared>,
}

/// The folders of all mirrors, and the limit on how many are filled at once.
pub(crate) struct Shared {
    root: PathBuf,
    pub(crate) trash: Trash,
    pub(crate) filling: Semaphore,
    pub(crate) memory: Memory,
    forge: ForgeAccess,
    known: Mutex<HashMap<RepoId, Mirror>>,
    hand_over: Option<HandOver>,
}

/// Gives a folder with everything in it to the user of the programs that will change it. Returns `true` if any owner
/// changed.
pub type HandOver = fn(&Path) -> std::io::Result<bool>;

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    pub(crate) fn checkouts(&self) -> PathBuf {
        self.root.join("checkouts")
    }

    /// Makes a new folder for a checkout, with this name or a random one.
    pub(crate) fn new_home(&self, name: Option<&str>) -> std::io::Result<PathBuf> {
        // Somebody may have removed it: nothing in the data folder is needed for long.
        fs::create_dir_all(self.checkouts())?;
        let Some(name) = name else {
            let random = tempfile::Builder::new().prefix("c-").rand_bytes(10).tempdir_in(self.checkouts());
            return Ok(random?.keep());
        };
        let home = self.checkouts().join(name);
        if fs::symlink_metadata(&home).is_ok() {
            self.trash.take(&home);
        }
        fs::create_dir(&home)?;
        Ok(home)
    }

    /// Returns the folder of the marks that keep checkouts.
    pub(crate) fn unsettled(&self) -> PathBuf {
        self.root.join("unsettled")
    }

    /// Hands over the folder around a checkout. Returns `true` if any owner changed.
    pub(crate) fn hand_over(&self, home: &Path) -> std::io::Result<bool> {
        self.hand_over.map_or(Ok(false), |hand_over| hand_over(home))
    }

    pub(crate) fn quarantines(&self) -> PathBuf {
        self.root.join("quarantines")
    }

    /// Makes a new folder for files that are on their way into a repository.
    pub(crate) fn new_quarantine(&self, prefix: &str) -> std::io::Result<tempfile::TempDir> {
        fs::create_dir_all(self.quarantines())?;
        tempfile::Builder::new().prefix(prefix).rand_bytes(10).tempdir_in(self.quarantines())
    }
}

impl Mirrors {
    /// Uses the folder `<data_dir>/git` and makes it if it is missing. Hands over each checkout that is new or opened again.
    pub fn new(data_dir: &Path, forge: ForgeAccess, hand_over: Option<HandOver>) -> Result<Self, GitError> {
        let made = |folder: &Path| fs::create_dir_all(folder).and_then(|()| fs::canonicalize(folder));
        let root = data_dir.join("git");
        let root = made(&root).map_err(GitError::io(format!("making {}", root.display())))?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let shared = Shared {
            trash: Trash::new(root.join("trash")),
            filling: Semaphore::new(cores),
            memory: Memory::default(),
            forge,
            known: Mutex::new(HashMap::new()),
            hand_over,
            root,
        };
        let folders = [shared.checkouts(), shared.quarantines(), shared.unsettled(), shared.root.join("mirrors")];
        for folder in folders {
            made(&folder).map_err(GitError::io(format!("making {}", folder.display())))?;
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Throws away the checkouts and unfinished commits that an earlier process left in this data folder, except kept
    /// checkouts. Call it once at start, while nothing else uses the folder.
    pub fn sweep_leftovers(&self, now: Millis) -> Result<(), GitError> {
        let shared = &self.shared;
        let kept = Self::prune(shared, now);
        for folder in [shared.checkouts(), shared.quarantines()] {
            let left = fs::read_dir(&folder).map_err(GitError::io(format!("reading {}", folder.display())))?;
            for entry in left.flatten().filter(|entry| !kept.contains(&entry.file_name())) {
                shared.trash.take(&entry.path());
            }
        }
        shared.trash.empty();
        Ok(())
    }

    /// Returns the folder of a repository's mirror below a data folder.
    pub fn folder(data_dir: &Path, repo: RepoId) -> PathBuf {
        mirror_folder(&data_dir.join("git"), repo)
    }

    pub(crate) fn folder_of_all(&self) -> PathBuf {
        self.shared.root.join("mirrors")
    }

    pub(crate) fn mirrors(&self) -> &Mutex<HashMap<RepoId, Mirror>> {
        &self.shared.known
    }

    pub(crate) fn trash(&self) -> &Trash {
        &self.shared.trash
    }

    pub fn mirror(&self, repo: RepoId) -> Mirror {
        let mut known = self.shared.known.lock();
        let made = || Mirror {
            dir: mirror_folder(&self.shared.root, repo).into(),
            writing: Arc::default(),
            checked: Arc::default(),
            shared: Arc::clone(&self.shared),
        };
        known.entry(repo).or_insert_with(made).clone()
    }

    /// Returns the address of a repository on the configured forge, with the token to use there.
    pub fn remote(&self, name: &RepoName, token: Option<SecretString>) -> Remote {
        self.shared.forge.remote(name, token)
    }
}

/// The bare mirror of one repository. Clones are the same mirror.
#[derive(Clone)]
pub struct Mirror {
    pub(crate) dir: Arc<Path>,
    /// The lock to hold while changing refs.
    pub(crate) writing: Arc<tokio::sync::Mutex<()>>,
    /// `true` once this process has removed the locks of an earlier one.
    checked: Arc<Mutex<bool>>,
    pub(crate) shared: Arc<Shared>,
}

/// Returns the folder of a repository's mirror below `root`.
fn mirror_folder(root: &Path, repo: RepoId) -> PathBuf {
    root.join("mirrors").join(format!("{repo}.git"))
}

impl Mirror {
    /// Returns the mirror's folder. Only git and this crate may write there.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Copies the branches named by `branches` (names, or patterns such as `autobuild/*`) from the remote and forgets
    /// those that no longer exist there. Copies nothing else: no tags, no pull request refs. If a plain name does not
    /// exist there, the result is [`GitError::Missing`].
    pub async fn fetch(&self, remote: &Remote, branches: &[&str]) -> Result<(), GitError> {
        let refspecs = branches.iter().map(|pattern| mirror_refspec(pattern));
        let refspecs = refspecs.collect::<Result<Vec<_>, _>>()?;
        self.ready()?;
        self.touch();
        let _writing = self.writing.lock().await;
        let call = self.fetching(remote).arg("--prune").arg("--");
        let output = call.arg(remote.url()).args(refspecs).run().await?;
        match output.code {
            0 => Ok(()),
            _ => Err(remote_failure("fetch", &output, remote.url())),
        }
    }

    /// Starts a `fetch` call; the caller adds the remote's URL and the refspecs.
    pub(crate) fn fetching(&self, remote: &Remote) -> GitCall {
        let call = GitCall::new(&self.dir, "fetch").talking_to(remote);
        let ignored = IGNORED_IN_HISTORY.iter();
        let call = ignored.fold(call, |call, id| call.config(&format!("fetch.fsck.{id}"), "ignore"));
        call.args(QUIETLY)
    }

    /// Returns the commit at the tip of a branch as of the last fetch.
    pub async fn rev_parse(&self, branch: &BranchName) -> Result<Option<Sha>, GitError> {
        self.ready()?;
        let name = branch.full();
        // A fetch writes each ref that it moves into a file of its own, and this file takes precedence over
        // `packed-refs`.
        let file = fs::read_to_string(self.dir.join(&name)).ok();
        if let Some(sha) = file.and_then(|text| text.trim_end().parse().ok()) {
            return Ok(Some(sha));
        }
        match fs::read_to_string(self.dir.join("packed-refs")) {
            Ok(packed) => Ok(packed_ref(&packed, &name)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GitError::io("reading the refs of a mirror")(error)),
        }
    }

    pub async fn has_commit(&self, sha: &Sha) -> Result<bool, GitError> {
        self.ready()?;
        let name = format!("{sha}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let answer = self.ask(&arguments, None).await?;
        Ok(commit_of(&answer)?.is_some())
    }

    /// Returns the remote's current branches among those named by `branches` (names, or patterns such as
    /// `autobuild/*`).
    pub async fn ls_remote(&self, remote: &Remote, branches: &[&str]) -> Result<BTreeMap<String, Sha>, GitError> {
        self.list_refs(remote, "refs/heads/", branches).await
    }

    /// Returns the remote's current refs below `space` (such as `refs/heads/`) that match `patterns`. The keys are the
    /// names without `space`.
    pub(crate) async fn list_refs(
        &self,
        remote: &Remote,
        space: &str,
        patterns: &[&str],
    ) -> Result<BTreeMap<String, Sha>, GitError> {
        self.ready()?;
        let mut call = GitCall::new(&self.dir, "ls-remote").talking_to(remote).cap(LS_REMOTE_CAP);
        call = call.args(["--quiet", "--refs", "--"]).arg(remote.url());
        for pattern in patterns {
            mirror_refspec(pattern)?;
            call = call.arg(format!("{space}{pattern}"));
        }
        let output = call.run().await?;
        if output.code != 0 {
            return Err(remote_failure("ls-remote", &output, remote.url()));
        }
        let text = output.text();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        let refs = lines.filter_map(|(sha, name)| Some((name.strip_prefix(space)?.to_owned(), sha.parse().ok()?)));
        Ok(refs.collect())
    }

    /// Returns the current tip of one branch on the remote.
    pub async fn remote_tip(&self, remote: &Remote, branch: &BranchName) -> Result<Option<Sha>, GitError> {
        let mut found = self.ls_remote(remote, &[branch.as_str()]).await?;
        Ok(found.remove(branch.as_str()))
    }

    /// Makes sure that the mirror's folder exists and is usable, also after a crash.
    pub(crate) fn ready(&self) -> Result<(), GitError> {
        let mut checked = self.checked.lock();
        // Looked at each time: a person may remove the folder while the service runs.
        if !is_complete(&self.dir) {
            self.shared.memory.forget(&self.dir);
            make_bare(&self.dir, None).map_err(GitError::io(format!("making {}", self.dir.display())))?;
        }
        if !*checked {
            remove_stale_locks(&self.dir, 0);
            *checked = true;
        }
        Ok(())
    }
}

/// Returns the commit of a branch in a `packed-refs` file, whose lines are `<commit> <ref>`.
fn packed_ref(packed: &str, name: &str) -> Option<Sha> {
    let mut refs = packed.lines().filter_map(|line| line.split_once(' '));
    refs.find(|(_, of)| *of == name).and_then(|(sha, _)| sha.parse().ok())
}

/// Returns the commit in the answer of `rev-parse --verify`; `None` if there is none.
fn commit_of(output: &GitOutput) -> Result<Option<Sha>, GitError> {
    match (output.code, output.text().parse()) {
        (0, Ok(sha)) => Ok(Some(sha)),
        (1 | 128, _) => Ok(None),
        (code, _) => Err(GitError::Failed { command: "rev-parse".to_owned(), code, stderr: output.stderr.clone() }),
    }
}

/// The prefix of the refs that hold commits.
pub(crate) const HELD: &str = "refs/autobuild/held/";

/// Returns the name of the ref that keeps a held commit from being lost.
pub(crate) fn held_ref(id: &str) -> Result<String, GitError> {
    let name = format!("{HELD}{id}");
    name.parse::<BranchName>()?;
    Ok(name)
}

/// Writes an empty bare repository that borrows objects from `borrowed`, like `git init --bare --template=` but without
/// a process. `HEAD` is renamed into place last, because git recognizes the folder as a repository only with a `HEAD`.
pub(crate) fn make_bare(dir: &Path, borrowed: Option<&Path>) -> std::io::Result<()> {
    make_skeleton(dir, "bare = true", borrowed)?;
    let (head, unfinished) = (dir.join("HEAD"), dir.join("HEAD.unfinished"));
    fs::write(&unfinished, "ref: refs/heads/main\n")?;
    fs::rename(unfinished, head)
}

/// `true` if the repository was made to the end. A process can end between the creation of a file and the write into
/// it.
fn is_complete(dir: &Path) -> bool {
    let has_content = |name: &str| fs::metadata(dir.join(name)).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    has_content("HEAD") && has_content("config")
}

/// Writes the folders and the configuration of a repository. The caller writes `HEAD` last.
pub(crate) fn make_skeleton(dir: &Path, kind: &str, borrowed: Option<&Path>) -> std::io::Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    if let Some(objects) = borrowed {
        let mut line = objects.as_os_str().as_encoded_bytes().to_vec();
        line.push(b'\n');
        fs::write(dir.join("objects/info/alternates"), line)?;
    }
    let config = format!("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\t{kind}\n");
    fs::write(dir.join("config"), config)
}

/// Removes the lock files that a killed git left behind. Runs before this process runs its first git in the folder.
fn remove_stale_locks(dir: &Path, depth: usize) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && name != "objects" && depth < 32 => {
                remove_stale_locks(&path, depth.saturating_add(1));
            }
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "lock") => {
                let _ = fs::remove_file(&path);
            }
            _ => {}
        }
    }
}
