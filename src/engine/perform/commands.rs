//! Which commands the Gates run at a commit: settings first, else what the files tell.

use crate::config::RepositorySettings;
use crate::domain::ids::Sha;
use crate::engine::job::Undone;
use crate::gates;
use crate::gates::Chosen;
use crate::gates::Repository;
use crate::git::Mirror;
use std::collections::BTreeMap;

/// Files that tell how a repository is built, read once.
const TELLING: [&str; 8] = [
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "pyproject.toml",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
];

/// The largest of them that is read, in bytes.
const MAX_TELLING: usize = 256 * 1024;

/// The most paths that are looked at.
const MAX_PATHS: usize = 200_000;

/// Every path of a commit, as far as they are looked at.
pub(super) async fn paths(mirror: &Mirror, head: &Sha) -> Result<Vec<String>, Undone> {
    Ok(mirror
        .list_files(head, MAX_PATHS)
        .await?
        .entries
        .iter()
        .map(|entry| entry.path.to_string())
        .collect())
}

/// The commands for this commit.
pub(super) async fn chosen(
    settings: &RepositorySettings,
    mirror: &Mirror,
    head: &Sha,
    paths: &[String],
) -> Result<Chosen, Undone> {
    let mut texts = BTreeMap::new();
    for path in TELLING
        .into_iter()
        .filter(|telling| paths.iter().any(|path| path == telling))
    {
        if let Some(file) = mirror.read_file(head, path, MAX_TELLING).await? {
            texts.insert(path, file.text());
        }
    }
    let repository = Repository {
        paths,
        read: &|path| texts.get(path).cloned(),
    };
    Ok(gates::choose(settings, &repository))
}
