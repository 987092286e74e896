//! The accounts that cause events.

use domain::ids::{User, UserId};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A person's account.
    Person,
    /// An App or another bot.
    Bot,
    /// An organisation, a mannequin, or a kind that we do not know.
    Other,
}

/// The id of an account that GitHub gives only by its name.
const NO_ID: UserId = UserId(0);

/// The suffix of the login of every App's bot user.
const BOT: &str = "[bot]";

/// An account that caused something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ActorWire")]
pub struct Actor {
    /// The user's id and login.
    pub user: User,
    pub kind: ActorKind,
}

impl Actor {
    /// Makes the account of this login, if GitHub gives nothing else.
    pub fn named(login: &str) -> Self {
        Self {
            user: User {
                id: NO_ID,
                login: login.to_owned(),
            },
            kind: if login.ends_with(BOT) {
                ActorKind::Bot
            } else {
                ActorKind::Person
            },
        }
    }

    /// Returns `true` if it is this account. Without an id, the logins are compared.
    pub fn is(&self, user: &User) -> bool {
        self.user.id == user.id || self.user.id == NO_ID && self.user.login.eq_ignore_ascii_case(&user.login)
    }
}

#[derive(Deserialize)]
struct ActorWire {
    id: UserId,
    login: String,
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

impl From<ActorWire> for Actor {
    fn from(wire: ActorWire) -> Self {
        let kind = match wire.kind.as_deref() {
            Some("User") => ActorKind::Person,
            Some("Bot") => ActorKind::Bot,
            _ => ActorKind::Other,
        };
        Self {
            user: User {
                id: wire.id,
                login: wire.login,
            },
            kind,
        }
    }
}
