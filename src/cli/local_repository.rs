//! The locations for commands on a person's own repository: the repository around the current folder, the folder inside
//! git's own for lasting data, and the folder of caches.

use crate::cli::{assemble, stage::DATABASE};
use anyhow::Context;
use git::{OwnHead, OwnRepository};
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::{
    fs::{DirBuilder, OpenOptions, Permissions},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};
use text::hex;

/// The file in the folder of lasting data that holds its mark.
const MARK: &str = "mark";
/// The length of a mark, in random bytes.
const MARK_BYTES: usize = 16;

/// The characters of a shortened commit id.
const SHORT_SHA: usize = 8;

pub struct LocalRepository {
    pub own: OwnRepository,
    /// The folder of lasting data: the forge, the database, the Features. It is in git's folder, which linked work
    /// trees share.
    pub folder: PathBuf,
    /// The folder of mirrors, checkouts and caches. It is outside the work tree, because tools look for settings in
    /// parent folders.
    pub cache: PathBuf,
}

impl LocalRepository {
    /// Finds the repository around the current folder.
    pub async fn here() -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("the current folder")?;
        let own = OwnRepository::around(&here).await?;
        let folder = own.git_folder.join("autobuild");
        let cache = cache(&own.git_folder)?;
        refuse_planted(&folder)?;
        Ok(Self { own, folder, cache })
    }

    /// Returns the commit that is checked out; an error before the first commit.
    pub async fn head(&self) -> anyhow::Result<OwnHead> {
        let head = self.own.head().await?;
        let path = self.own.work_tree.display();
        head.with_context(|| format!("{path} has no commit yet: `git add -A` and `git commit` make the first one"))
    }

    /// Makes the folders, accessible to their owner only.
    pub fn make(&self) -> anyhow::Result<()> {
        if std::fs::symlink_metadata(&self.folder).is_err() {
            self.mark()?;
        }
        let caches = self.cache.parent().unwrap_or(&self.cache);
        let (features, forge) = (self.folder.join("features"), self.folder.join("forge"));
        [self.folder.as_path(), caches, &self.cache, &features, &forge].into_iter().try_for_each(make_own)?;
        let database = self.folder.join(DATABASE);
        let path = database.display();
        let failed = || format!("{path} cannot be opened: it must be a file that you can write, or missing");
        // An existing file is not opened: closing it would drop the locks of SQLite in this process.
        match std::fs::symlink_metadata(&database) {
            Ok(found) if found.is_file() => Ok(()),
            Ok(_) => anyhow::bail!(failed()),
            Err(_) => {
                let made = own_file().create_new(true).append(true).open(&database);
                made.map(drop).with_context(failed)
            }
        }
    }

    /// Makes the folder of lasting data, with a mark that the person's own data folder knows too.
    fn mark(&self) -> anyhow::Result<()> {
        let mark = assemble::random::<MARK_BYTES>().context("making a mark")?;
        let known = marks()?;
        make_own(&known)?;
        let write = |file: &Path, text: &str| {
            let made = own_file().create_new(true).write(true).open(file);
            let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
            written.with_context(|| format!("{} cannot be written", file.display()))
        };
        write(&known.join(&mark), &self.folder.display().to_string())?;
        make_own(&self.folder)?;
        write(&self.folder.join(MARK), &mark)
    }

    /// `true` if work has begun here; a run that could not begin leaves an empty file.
    pub fn has_database(&self) -> bool {
        std::fs::metadata(self.folder.join(DATABASE)).is_ok_and(|file| file.len() > 0)
    }

    pub fn database(&self) -> String {
        format!("sqlite:{}", self.folder.join(DATABASE).display())
    }
}

/// Refuses an existing folder of lasting data that this person did not make. Its files name agents, settings and hooks,
/// so a repository that was copied from somebody else could run planted programs.
fn refuse_planted(folder: &Path) -> anyhow::Result<()> {
    if std::fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    let opened = own_file().read(true).open(folder.join(MARK));
    let mut mark = String::new();
    let read = opened.and_then(|file| file.take(64).read_to_string(&mut mark));
    let is_plain = mark.len() == 2 * MARK_BYTES && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    let path = folder.display();
    anyhow::ensure!(
        read.is_ok() && is_plain && marks()?.join(&mark).is_file(),
        "{path} was not made by you on this machine, and may hold what others planted: look at it, then delete it to start \
         anew (rm -r '{path}')"
    );
    Ok(())
}

/// Returns the person's folder of the marks of all their repositories.
fn marks() -> anyhow::Result<PathBuf> {
    let folder = home_folder("XDG_DATA_HOME", ".local/share");
    let folder = folder.context("neither HOME nor XDG_DATA_HOME is set: there is no folder for data")?;
    Ok(folder.join("autobuild/repositories"))
}

/// Returns the folder that a variable names, or the usual one below the person's home.
fn home_folder(variable: &str, below: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = set(variable).filter(|path| path.is_absolute());
    named.or_else(|| set("HOME").map(|home| home.join(below)))
}

/// Makes a folder that only its owner can access. It refuses a symbolic link, which would redirect the written files.
pub fn make_own(folder: &Path) -> anyhow::Result<()> {
    let failed = || format!("{} cannot be made", folder.display());
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(failed)?;
    let is_link = std::fs::symlink_metadata(folder).with_context(failed)?.is_symlink();
    anyhow::ensure!(!is_link, "{} is a link, and AutoBuild writes only where it leads nowhere else", folder.display());
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).with_context(failed)
}

/// Returns the options for opening a repository's files: new files are for their owner only, and symbolic links are refused.
pub fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

fn cache(git_folder: &Path) -> anyhow::Result<PathBuf> {
    let caches = home_folder("XDG_CACHE_HOME", ".cache");
    let caches = caches.context("neither HOME nor XDG_CACHE_HOME is set: there is no folder for caches")?;
    let name = git_folder.parent().and_then(Path::file_name).unwrap_or_default();
    let digest = Sha256::digest(git_folder.as_os_str().as_encoded_bytes());
    let digest = hex::encode(digest.iter().take(4));
    let name = format!("{}-{digest}", name.to_string_lossy());
    Ok(caches.join("autobuild").join(name))
}

/// Returns the first characters of a commit's id.
pub fn short(sha: &str) -> &str {
    sha.get(..SHORT_SHA).unwrap_or(sha)
}
