//! Who may read the forge's pages, and who acts on them.

use secrecy::SecretString;

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
    pub replies: &'static [QuickReply],
}

/// A comment with a button.
#[derive(Clone, Copy, Debug)]
pub struct QuickReply {
    /// What stands on the button.
    pub label: &'static str,
    /// What the comment says.
    pub text: &'static str,
    /// Where the button stands.
    pub on: Where,
}

/// Where a button stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On open issues.
    Issues,
    /// On open pull requests.
    Pulls,
}
