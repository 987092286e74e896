//! Who may read the pages: a value that the forge is started with.

use secrecy::SecretString;

/// Who may read the forge's pages.
#[derive(Clone, Debug, Default)]
pub enum Readers {
    /// Everybody, of public repositories.
    #[default]
    Everybody,
    /// Whoever opens them by an address with this key, of all repositories; see [`page_parts::session`].
    WithKey(SecretString),
}
