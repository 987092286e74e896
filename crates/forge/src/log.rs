//! The log of all calls to the forge, including unknown ones.

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// Its number, from 1.
    pub seq: usize,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path without `/api/v3`, as sent.
    pub path: String,
    /// The query string, without its question mark.
    pub query: String,
    /// The status of the answer; 0 if the connection was cut.
    pub status: u16,
    /// The slug of the App that called, by JWT or token.
    pub app: Option<String>,
    /// The login of the caller: a person or an App's bot.
    pub user: Option<String>,
    /// The kind of call.
    pub kind: CallKind,
    /// `true` unless the forge has no such call.
    pub known: bool,
}

impl LoggedCall {
    /// Returns `true` if the call asks for a change that others see.
    pub fn writes(&self) -> bool {
        match self.kind {
            CallKind::Rest | CallKind::Page => self.method != "GET",
            CallKind::Git => self.path.ends_with("/git-receive-pack"),
            CallKind::GraphQlMutation => true,
            CallKind::GraphQlQuery | CallKind::Mint => false,
        }
    }
}

/// The kind of a call to the forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The REST API.
    Rest,
    /// A REST call that asks for an installation token.
    Mint,
    /// A GraphQL document that only reads.
    GraphQlQuery,
    /// A GraphQL document that changes something.
    GraphQlMutation,
    /// git over HTTP.
    Git,
    /// A page for people.
    Page,
}
