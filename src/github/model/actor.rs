//! The accounts that cause events.

pub use domain::feature::sweep::AccountType;

use domain::ids::{User, UserId};
use serde::{Deserialize, Deserializer};

/// The id of an account that GitHub names without an id.
const NO_ID: UserId = UserId(0);

/// The suffix of the login of every App's bot user.
const BOT: &str = "[bot]";

/// An account that caused something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Actor {
    /// The user's id and login.
    #[serde(flatten)]
    pub user: User,
    #[serde(rename = "type", default, deserialize_with = "account_type")]
    pub kind: AccountType,
}

impl Actor {
    /// Makes the account of this login, if GitHub gives nothing else.
    pub fn from_login(login: &str) -> Self {
        Self {
            user: User { id: NO_ID, login: login.to_owned() },
            kind: if login.ends_with(BOT) { AccountType::Bot } else { AccountType::Person },
        }
    }

    /// Returns `true` if it is this account. Without an id, the logins are compared.
    pub fn is(&self, user: &User) -> bool {
        self.user.id == user.id || self.user.id == NO_ID && self.user.login.eq_ignore_ascii_case(&user.login)
    }
}

/// Reads the type of an account, which GraphQL gives as its type's name.
pub(in crate::github) fn account_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AccountType, D::Error> {
    Ok(match Option::<String>::deserialize(deserializer)?.as_deref() {
        Some("User") => AccountType::Person,
        Some("Bot") => AccountType::Bot,
        _ => AccountType::Other,
    })
}
