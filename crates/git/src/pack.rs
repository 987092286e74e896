//! Commits as packs, from which another machine gets the same commits. A pack is a git bundle: it leaves out objects
//! that the remote has, and names the commits on which it builds.

use crate::{
    error::GitError,
    failure::local_failure,
    mirror::{Mirror, QUIETLY, held_ref},
    names::BranchName,
    process::{GitCall, GitOutput},
    safe::IGNORED_IN_HISTORY,
};
use domain::ids::Sha;

/// The result of packing a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackOutcome {
    Bytes(Vec<u8>),
    /// The remote has the commit.
    Needless,
    /// The pack is larger than the limit.
    TooLarge,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// The mirror holds the commit.
    Held,
    /// The pack is damaged or hostile, too large, or builds on commits that the mirror lacks. The text is git's.
    Refused(String),
}

impl Mirror {
    /// Packs the commit that is held as `id`, without the history of the branches in `folder` (such as `autobuild/7`) as of
    /// the last fetch and of the commits `known`. The pack has at most `most` bytes.
    pub async fn pack(&self, id: &str, folder: &str, known: &[Sha], most: usize) -> Result<PackOutcome, GitError> {
        let held = held_ref(id)?;
        let folder: BranchName = folder.parse()?;
        self.ready()?;
        let known = known.iter().map(Sha::as_str);
        let left_out: Vec<String> =
            std::iter::once(format!("--glob={}/*", folder.full())).chain(known.map(str::to_owned)).collect();
        let count = GitCall::new(&self.dir, "rev-list").args(["--count", &held, "--not"]);
        if count.args(&left_out).ok().await?.text() == "0" {
            return Ok(PackOutcome::Needless);
        }
        let call = GitCall::new(&self.dir, "bundle").cap(most);
        let call = call.args(["create", "--quiet", "-", &held, "--not"]).args(left_out);
        let output = call.run().await?;
        if output.truncated {
            return Ok(PackOutcome::TooLarge);
        }
        output.whole("bundle")?;
        Ok(PackOutcome::Bytes(output.stdout))
    }

    /// Unpacks the commit `sha` from a pack of at most `most` bytes and keeps it under the held ref `id`. The mirror
    /// must have fetched the commits that the pack leaves out. Objects that could harm those who check them out are
    /// refused.
    pub async fn unpack(&self, id: &str, sha: &Sha, pack: &[u8], most: usize) -> Result<Unpacked, GitError> {
        if pack.len() > most {
            return Ok(Unpacked::Refused(format!("it has {} bytes, at most {most} are read", pack.len())));
        }
        let held = held_ref(id)?;
        self.ready()?;
        let failed = || GitError::io("writing a pack");
        let folder = self.shared.new_quarantine("p-").map_err(failed())?;
        let file = folder.path().join("pack");
        tokio::fs::write(&file, pack).await.map_err(failed())?;
        let _writing = self.writing.lock().await;
        let call = GitCall::new(&self.dir, "fetch").talking_to_disk();
        let ignored = IGNORED_IN_HISTORY.iter();
        let call = ignored.fold(call, |call, id| call.config(&format!("fetch.fsck.{id}"), "ignore"));
        let call = call.args(QUIETLY).arg("--").arg(&file);
        unpacked(&call.arg(format!("+{sha}:{held}")).run().await?)
    }
}

fn unpacked(output: &GitOutput) -> Result<Unpacked, GitError> {
    match (output.code, local_failure("fetch", output)) {
        (0, _) => Ok(Unpacked::Held),
        (_, GitError::Failed { stderr, .. } | GitError::History(stderr)) => Ok(Unpacked::Refused(stderr)),
        (_, error) => Err(error),
    }
}
