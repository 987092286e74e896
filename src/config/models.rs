//! The server's settings on models: the APIs and their keys, and the names that repositories may use.

use crate::config::{
    agent::{AgentCommand, Strength},
    github_address::safe_address,
    server_parse::Parser,
};
use secrecy::SecretString;
use std::{collections::BTreeMap, str::FromStr};
use url::Url;

const MAX_NAME: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    pub anthropic: ModelApi,
    pub openai: ModelApi,
}

/// The models that a repository may name.
#[derive(Clone, Debug, Default)]
pub struct ModelWords {
    /// The models to which `fast` refers.
    pub fast: ModelNames,
    /// The models to which `strong` refers.
    pub strong: ModelNames,
    /// The models that are tried once if a model is unavailable.
    pub fallback: ModelNames,
    /// The names that a repository may use, besides `fast` and `strong`.
    pub allowed: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct ModelApi {
    /// The API's address; `None` for the provider's own.
    pub url: Option<Url>,
    pub key: Option<SecretString>,
}

impl ModelWords {
    /// Returns the name of the model for a kind of agent: the one that the repository names if it is still allowed, or
    /// else the one for the role's usual strength. `None` leaves the choice to the program.
    pub fn name(&self, agent: &AgentCommand, asked: Option<&str>, usual: Strength) -> Option<String> {
        match asked {
            Some(name) if self.allowed.iter().any(|allowed| allowed == name) => Some(name.to_owned()),
            Some(word) => self.strength(agent, word.parse().unwrap_or(usual)),
            None => self.strength(agent, usual),
        }
    }

    /// Returns the name of the model that a kind of agent tries once if its own is unavailable.
    pub fn fallback(&self, agent: &AgentCommand) -> Option<String> {
        self.fallback.of(agent).map(str::to_owned)
    }

    fn strength(&self, agent: &AgentCommand, strength: Strength) -> Option<String> {
        let names = match strength {
            Strength::Fast => &self.fast,
            Strength::Strong => &self.strong,
        };
        names.of(agent).or_else(|| agent.usual_model(strength)).map(str::to_owned)
    }
}

/// One name for every kind of agent, or a name for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelNames {
    all: Option<String>,
    by_kind: BTreeMap<&'static str, String>,
}

impl ModelNames {
    fn of(&self, agent: &AgentCommand) -> Option<&str> {
        let kind = self.by_kind.get(agent.kind());
        kind.or(self.all.as_ref()).map(String::as_str)
    }
}

/// The reason why a text names no models.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotModels {
    /// The name has characters or a length that no model's name has.
    #[error("`{0}` is not the name of a model: letters, digits and . _ : / @ [ ] -, at most {MAX_NAME}")]
    NotAName(String),
    /// The kind of agent uses no model or is unknown.
    #[error("`{0}` is not a kind of agent with a model; valid: claude, codex, acp")]
    UnknownKind(String),
    /// The text gives two names for the same kind.
    #[error("`{0}` stands there twice")]
    Twice(String),
}

impl FromStr for ModelNames {
    type Err = NotModels;

    /// Reads `name`, or `claude=name, codex=name`, or both.
    fn from_str(text: &str) -> Result<Self, NotModels> {
        let mut names = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let before = match part.split_once('=') {
                None => names.all.replace(model_name(part)?),
                Some((kind, name)) => {
                    let kind = kind.trim();
                    let known = AgentCommand::KINDS_WITH_MODELS.into_iter().find(|known| *known == kind);
                    let kind = known.ok_or_else(|| NotModels::UnknownKind(shorten(kind)))?;
                    names.by_kind.insert(kind, model_name(name.trim())?)
                }
            };
            if before.is_some() {
                return Err(NotModels::Twice(shorten(part)));
            }
        }
        Ok(names)
    }
}

/// Reads a list of names, separated by commas.
pub(crate) fn model_list(text: &str) -> Result<Vec<String>, NotModels> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(model_name).collect()
}

/// Reads a name that is safe on a program's command line.
fn model_name(name: &str) -> Result<String, NotModels> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._:/@[]-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.len() <= MAX_NAME && name.chars().all(fine) {
        Ok(name.to_owned())
    } else {
        Err(NotModels::NotAName(shorten(name)))
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

impl Parser {
    /// Reads the settings on the APIs of models; mistakes are collected.
    pub(crate) fn models(&mut self) -> ModelSettings {
        ModelSettings {
            anthropic: ModelApi {
                url: self.parse("ANTHROPIC_URL", safe_address),
                key: self.secret("ANTHROPIC_API_KEY"),
            },
            openai: ModelApi { url: self.parse("OPENAI_URL", safe_address), key: self.secret("OPENAI_API_KEY") },
        }
    }

    /// Reads the models that a repository may name; mistakes are collected.
    pub(crate) fn model_words(&mut self) -> ModelWords {
        ModelWords {
            fast: self.parse("MODEL_FAST", str::parse).unwrap_or_default(),
            strong: self.parse("MODEL_STRONG", str::parse).unwrap_or_default(),
            fallback: self.parse("MODEL_FALLBACK", str::parse).unwrap_or_default(),
            allowed: self.parse("MODELS", model_list).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelNames, ModelWords, Strength, model_list};
    use crate::config::agent::AgentCommand;

    fn agent(text: &str) -> AgentCommand {
        text.parse().unwrap()
    }

    #[test]
    fn what_a_repository_asks_for_is_mapped_per_kind_of_agent() {
        let settings = ModelWords {
            fast: "claude=haiku, codex=gpt-5-mini".parse().unwrap(),
            strong: "big,acp=bigger".parse().unwrap(),
            fallback: "claude=haiku".parse().unwrap(),
            allowed: model_list("claude-x-1, gpt-y").unwrap(),
        };
        let table = [
            ("claude", None, Strength::Fast, Some("haiku")),
            ("claude", Some("strong"), Strength::Fast, Some("big")),
            ("codex", Some("fast"), Strength::Strong, Some("gpt-5-mini")),
            ("acp:x", None, Strength::Strong, Some("bigger")),
            ("acp:x", None, Strength::Fast, None),
            ("codex", Some("gpt-y"), Strength::Fast, Some("gpt-y")),
            ("claude", Some("no-longer-allowed"), Strength::Fast, Some("haiku")),
        ];
        for (kind, asked, usual, expected) in table {
            assert_eq!(settings.name(&agent(kind), asked, usual).as_deref(), expected, "{kind} {asked:?}");
        }
        assert_eq!(settings.fallback(&agent("claude")).as_deref(), Some("haiku"));
        assert_eq!(settings.fallback(&agent("codex")), None);
    }

    #[test]
    fn with_nothing_set_claude_has_names_of_its_own_and_others_choose() {
        let settings = ModelWords::default();
        let name = |kind: &str, usual| settings.name(&agent(kind), None, usual);
        assert_eq!(name("claude", Strength::Fast).as_deref(), Some("sonnet"));
        assert_eq!(name("claude", Strength::Strong).as_deref(), Some("opus"));
        assert_eq!(name("codex", Strength::Strong), None);
    }

    #[test]
    fn a_name_is_never_an_option_of_a_command_line() {
        for text in ["--dangerously", "a b", "x;y", "", "claude=-x", "é", &"x".repeat(101)] {
            assert!(text.parse::<ModelNames>().is_err() || text.is_empty(), "{text}");
        }
        for text in ["gpt=x", "claude=a,claude=b", "a,b"] {
            assert!(text.parse::<ModelNames>().is_err(), "{text}");
        }
        assert!("claude=us.anthropic.claude-opus-4-1:0[1m]".parse::<ModelNames>().is_ok());
    }
}
