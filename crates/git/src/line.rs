//! The commits by which a branch grew.

use crate::{error::GitError, mirror::Mirror, process::GitCall};
use domain::ids::Sha;

impl Mirror {
    /// Returns the first-parent history of `head` without the commits that `base` contains: newest first, at most
    /// `cap`.
    pub async fn grown(&self, base: &Sha, head: &Sha, cap: usize) -> Result<Vec<Sha>, GitError> {
        self.ready()?;
        let call = GitCall::new(&self.dir, "rev-list").args(["--first-parent", &format!("--max-count={cap}")]);
        let output = call
            .args(["--end-of-options", head.as_str(), &format!("^{base}")])
            .ok()
            .await?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let parsed = lines.lines().map(str::parse).collect::<Result<_, _>>();
        parsed.map_err(|_| GitError::unexpected("rev-list", "a commit"))
    }
}
