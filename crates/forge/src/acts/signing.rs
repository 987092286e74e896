//! Commits that the forge makes and signs itself, as GitHub's web flow does.

use crate::{
    refusal::{Refusal, Result},
    site::Site,
    state::Access,
};
use git::bare::Ident;

/// Stands where GitHub's signature stands. Nobody checks it: which commits the forge signed is kept with the repository.
const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----\n\nlocal forge\n-----END PGP SIGNATURE-----";

/// The committer of what the forge makes, as on GitHub.
pub(super) fn web_flow(seconds: i64) -> Ident {
    Ident::new("GitHub", "noreply@github.com", seconds)
}

impl Site {
    /// The name and address of who acts, now.
    pub(crate) fn own_ident(&self, at: Access) -> Ident {
        let seconds = self.change(|state| state.clock.stamp()).timestamp();
        self.read(|state| super::merging::ident(state, at.by.user, seconds))
    }

    /// Makes a signed commit of `tree` on no branch.
    pub(crate) async fn signed_commit(
        &self,
        at: Access,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String> {
        let (bare, author) = (self.bare(at.repo), self.own_ident(at));
        let plain = bare
            .commit_tree(tree, parents, &author, &web_flow(author.seconds()), message)
            .await?;
        let sha = bare.sign(&plain, SIGNATURE).await?;
        self.change(|state| Ok::<_, Refusal>(state.repo_mut(at.repo)?.signed.insert(sha.clone())))?;
        Ok(sha)
    }
}
