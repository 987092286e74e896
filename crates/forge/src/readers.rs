//! The people who may read the forge's pages, and the account as which they act.

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use std::{fmt, sync::Arc};

/// The people who may read the forge's pages.
#[derive(Clone, Debug, Default)]
pub enum Readers {
    /// Everybody reads public repositories. Nobody acts.
    #[default]
    Everybody,
    /// A browser that opened an address with the key reads all repositories; see [`page_parts::session`].
    WithKey {
        /// The key.
        key: SecretString,
        /// The person whom readers act as.
        hands: Hands,
    },
}

/// The person whom a reader acts as, and the comments offered as buttons.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    /// The person's login. If no account has it, nobody acts.
    pub login: String,
    /// The comments offered as buttons.
    pub replies: Replies,
}

/// A comment offered as a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickReply {
    /// The button's text.
    pub label: &'static str,
    /// The comment's text.
    pub text: &'static str,
    /// The identifier of a check's button that does the same. The comment is not offered beside that button.
    pub like: Option<&'static str>,
}

/// An issue or pull request that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The repository's id.
    pub repo: u64,
    /// The or pull request's number.
    pub number: u64,
}

type Offered = dyn Fn(Topic) -> BoxFuture<'static, Vec<QuickReply>> + Send + Sync;

/// Finds the comments to offer as buttons on an open issue or pull request. The default offers none.
#[derive(Clone, Default)]
pub struct Replies(Option<Arc<Offered>>);

impl Replies {
    /// Uses `offered` to find the comments.
    pub fn by(offered: impl Fn(Topic) -> BoxFuture<'static, Vec<QuickReply>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(offered)))
    }

    /// Returns the comments to offer on this page.
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
