//! Every call that reached the forge, and those it does not know.

use std::sync::{Mutex, PoisonError};

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// Counts from 1.
    pub seq: usize,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path without `/api/v3`, as sent.
    pub path: String,
    /// The query string, without its question mark.
    pub query: String,
    /// What was answered; 0 when the connection was cut.
    pub status: u16,
    /// Slug of the App that called, by JWT or token.
    pub app: Option<String>,
    /// Login of who called: a person or an App's bot.
    pub user: Option<String>,
    /// What kind of call it was.
    pub kind: CallKind,
    /// Whether the forge knows such a call.
    pub known: bool,
}

/// What kind of call reached the forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The REST API.
    Rest,
    /// REST: an installation token was asked for.
    Mint,
    /// GraphQL.
    GraphQl,
    /// git over HTTP.
    Git,
    /// A page for people.
    Page,
}

#[derive(Debug, Default)]
pub(super) struct CallLog(Mutex<Vec<LoggedCall>>);

impl CallLog {
    pub(super) fn add(&self, mut call: LoggedCall) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        call.seq = calls.len() + 1;
        calls.push(call);
    }

    pub(super) fn all(&self) -> Vec<LoggedCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
