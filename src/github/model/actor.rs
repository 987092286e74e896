//! The accounts that do something.

use domain::ids::{User, UserId};
use serde::Deserialize;

/// Whether an account is a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A person's account.
    Person,
    /// An App or another bot.
    Bot,
    /// An organisation, a mannequin, or a kind that we do not know.
    Other,
}

/// What stands for the id of an account that GitHub gives by its name alone.
const NO_ID: UserId = UserId(0);

/// What ends the login of every App's bot user.
const BOT: &str = "[bot]";

/// An account that did something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ActorWire")]
pub struct Actor {
    /// Who it is.
    pub user: User,
    /// Whether it is a person.
    pub kind: ActorKind,
}

impl Actor {
    /// The account of this login, where GitHub says no more of it.
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

    /// Whether it is this account.
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
