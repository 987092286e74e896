//! The answers to refused requests: GitHub's status codes and texts.

use git::bare::BareError;
use serde_json::{Value, json};

pub(super) type Result<T = (), E = Refusal> = std::result::Result<T, E>;

/// Turns a missing value into a refusal.
pub(super) trait OrNotFound<T> {
    /// Returns the value, or a 404.
    fn or_not_found(self) -> Result<T>;
}

impl<T> OrNotFound<T> for Option<T> {
    fn or_not_found(self) -> Result<T> {
        self.ok_or_else(Refusal::not_found)
    }
}

/// A refused call.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) errors: Vec<Value>,
    pub(super) location: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, self.message)?;
        for error in &self.errors {
            write!(f, "; {error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), errors: Vec::new(), location: None }
    }

    pub(super) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    pub(super) fn bad_credentials() -> Self {
        Self::new(401, "Bad credentials")
    }

    /// Returns the 403 for an App that lacks the permission.
    pub(super) fn not_for_integration() -> Self {
        Self::new(403, "Resource not accessible by integration")
    }

    pub(super) fn lacks_role(role: &str) -> Self {
        Self::new(403, format!("Must have {role} rights to Repository."))
    }

    /// Returns the refusal with `error` as its only detail.
    pub(super) fn because(mut self, error: Value) -> Self {
        self.errors = vec![error];
        self
    }

    pub(super) fn invalid(resource: &str, field: &str, code: &str) -> Self {
        Self::new(422, "Validation Failed").because(json!({"resource": resource, "field": field, "code": code}))
    }

    pub(super) fn custom(resource: &str, field: &str, sentence: &str) -> Self {
        let error = json!({"resource": resource, "field": field, "code": "custom", "message": sentence});
        Self::new(422, "Validation Failed").because(error)
    }

    /// Returns a 422 whose error is a plain sentence, as the review endpoints answer.
    pub(super) fn sentence(text: impl Into<String>) -> Self {
        Self::new(422, "Unprocessable Entity").because(Value::String(text.into()))
    }

    pub(super) fn body(&self) -> Value {
        let mut body = json!({
            "message": self.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": self.status.to_string(),
        });
        if !self.errors.is_empty() {
            crate::json::fields::put(&mut body, "errors", Value::Array(self.errors.clone()));
        }
        if let Some(location) = &self.location {
            crate::json::fields::put(&mut body, "url", Value::String(location.clone()));
        }
        body
    }
}

impl From<BareError> for Refusal {
    fn from(error: BareError) -> Self {
        tracing::warn!(%error, "git failed in the local forge");
        Self::new(500, format!("git failed: {error}"))
    }
}
