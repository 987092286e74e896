//! Commits that the forge itself creates and signs, as GitHub's web flow does.

use crate::{
    refusal::{Refusal, Result},
    site::Site,
    state::Access,
};
use git::bare::Ident;

/// A fake signature in place of GitHub's. Nobody checks it: the repository's record lists the commits that the forge
/// signed.
const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----\n\nlocal forge\n-----END PGP SIGNATURE-----";

/// Returns the committer of commits that the forge creates, as on GitHub.
pub(super) fn web_flow(seconds: i64) -> Ident {
    Ident::new("GitHub", "noreply@github.com", seconds)
}

impl Site {
    /// Returns the name and address of the actor, with the current time.
    pub(crate) fn own_ident(&self, at: Access) -> Ident {
        let seconds = self.change(|state| state.clock.stamp()).timestamp();
        self.read(|state| super::merging::ident(state, at.by.user, seconds))
    }

    /// Creates a signed commit of `tree` that is on no branch.
    pub(crate) async fn signed_commit(
        &self,
        at: Access,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String> {
        let (bare, author) = (self.bare(at.repo), self.own_ident(at));
        let plain = bare.commit_tree(tree, parents, &author, &web_flow(author.seconds), message).await?;
        let sha = bare.sign(&plain, SIGNATURE).await?;
        self.change(|state| Ok::<_, Refusal>(state.repo_mut(at.repo)?.signed.insert(sha.clone())))?;
        Ok(sha)
    }
}
