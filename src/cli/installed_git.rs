//! Describes the problems of this machine's git to the person who starts AutoBuild.

use git::{InstalledGit, UnusableGit};

/// Says in one line why git cannot be used, and how to get one that can.
pub(super) fn unusable(why: &UnusableGit) -> String {
    format!(
        "{why}: install a newer one (Debian 13 and Ubuntu 24.04 bring it, macOS: brew install git, older Ubuntu: \
         ppa:git-core/ppa, others: https://git-scm.com/downloads) and put it first on PATH"
    )
}

/// Warns of a git that may lack known security fixes.
pub(super) fn warning(git: &InstalledGit) -> Option<String> {
    let fixed = git.unpatched()?;
    Some(format!(
        "{git} may lack the security fixes of git {fixed}: unless your distribution has brought them to it, install a \
         newer one"
    ))
}
