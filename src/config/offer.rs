//! What a repository may name in its settings.

/// What the server offers to repositories by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Agents.
    pub agents: Vec<String>,
    /// Models, besides `fast` and `strong`.
    pub models: Vec<String>,
}

impl Offer {
    /// The names of models that a repository may give.
    pub(crate) fn models(&self) -> Vec<&str> {
        let named = self.models.iter().map(String::as_str);
        ["fast", "strong"].into_iter().chain(named).collect()
    }
}
