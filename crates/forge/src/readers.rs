//! Who may read the forge's pages, and who acts on them.

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use std::{fmt, sync::Arc};

/// Who may read the forge's pages.
#[derive(Clone, Debug, Default)]
pub enum Readers {
    /// Everybody, of public repositories. Nobody acts.
    #[default]
    Everybody,
    /// Whoever opens them by an address with a key, of all repositories; see [`page_parts::session`].
    WithKey {
        /// The key.
        key: SecretString,
        /// As whom they act.
        hands: Hands,
    },
}

/// As whom a reader acts, and what one often says here.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    /// The person; with nobody of that login, nobody acts.
    pub login: String,
    /// Comments with a button.
    pub replies: Replies,
}

/// A comment with a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickReply {
    /// What stands on the button.
    pub label: &'static str,
    /// What the comment says.
    pub text: &'static str,
}

/// An issue or pull request that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The repository's id.
    pub repo: u64,
    /// The number there.
    pub number: u64,
}

type Offered = dyn Fn(Topic) -> BoxFuture<'static, Vec<QuickReply>> + Send + Sync;

/// Which comments with a button an open issue or pull request offers now; none unless somebody says so.
#[derive(Clone, Default)]
pub struct Replies(Option<Arc<Offered>>);

impl Replies {
    /// Those that this finds.
    pub fn by(offered: impl Fn(Topic) -> BoxFuture<'static, Vec<QuickReply>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(offered)))
    }

    /// Those of a page.
    pub(crate) async fn of(&self, topic: Topic) -> Vec<QuickReply> {
        match &self.0 {
            Some(offered) => offered(topic).await,
            None => Vec::new(),
        }
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replies")
    }
}
