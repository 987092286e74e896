//! The kinds of programs that settings can name as agents.

use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf, str::FromStr};
use text::command_line::{CommandLine, NotACommand};

/// Every kind, as replies, error messages and help texts list them.
pub const KNOWN: &str = "claude, codex, acp:<command>, command:<command> or scripted:<file>";

/// An agent in the form that the server's settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentCommand {
    /// The Claude Code command line.
    Claude,
    /// The Codex command line.
    Codex,
    /// Any agent that speaks the Agent Client Protocol.
    Acp(CommandLine),
    /// Any program that reads the prompt from standard input and ends its standard output with the answer.
    Command(CommandLine),
    /// A file of prepared steps that is played instead of running an agent.
    Scripted(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A quick and cheap model.
    Fast,
    /// The best model.
    Strong,
}

text::words!(Strength {
    Fast = "fast",
    Strong = "strong",
});

impl AgentCommand {
    /// The kinds whose programs use a model.
    pub(crate) const KINDS_WITH_MODELS: [&str; 3] = ["claude", "codex", "acp"];

    /// Returns the program's own name for its model of a strength, if that name is the same for everyone.
    pub(crate) fn usual_model(&self, strength: Strength) -> Option<&'static str> {
        match (self, strength) {
            (Self::Claude, Strength::Fast) => Some("sonnet"),
            (Self::Claude, Strength::Strong) => Some("opus"),
            (Self::Codex | Self::Acp(_) | Self::Command(_) | Self::Scripted(_), Strength::Fast | Strength::Strong) => {
                None
            }
        }
    }

    /// Returns the word for the agent's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Acp(_) => "acp",
            Self::Command(_) => "command",
            Self::Scripted(_) => "scripted",
        }
    }
}

impl fmt::Display for AgentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claude => f.write_str("claude"),
            Self::Codex => f.write_str("codex"),
            Self::Acp(command) => write!(f, "acp:{command}"),
            Self::Command(command) => write!(f, "command:{command}"),
            Self::Scripted(file) => write!(f, "scripted:{}", file.display()),
        }
    }
}

/// The reason why a text does not name an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAgent {
    #[error("`{0}` is not an agent; valid: {KNOWN}")]
    UnknownKind(String),
    /// The command after the colon cannot be run.
    #[error("{0}; valid: {KNOWN}")]
    Command(NotACommand),
    /// The file after `scripted:` is missing.
    #[error("the script's file is missing; valid: {KNOWN}")]
    NoFile,
}

impl FromStr for AgentCommand {
    type Err = NotAnAgent;

    fn from_str(text: &str) -> Result<Self, NotAnAgent> {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "claude" => Ok(Self::Claude),
            None if text == "codex" => Ok(Self::Codex),
            Some(("acp", command)) => Ok(Self::Acp(command.parse().map_err(NotAnAgent::Command)?)),
            Some(("command", command)) => Ok(Self::Command(command.parse().map_err(NotAnAgent::Command)?)),
            Some(("scripted", file)) if !file.trim().is_empty() => Ok(Self::Scripted(PathBuf::from(file.trim()))),
            Some(("scripted", _)) => Err(NotAnAgent::NoFile),
            _ => Err(NotAnAgent::UnknownKind(text.chars().take(80).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentCommand, NotAnAgent};

    #[test]
    fn every_kind_is_read_and_written_back() {
        for text in ["claude", "codex", "acp:gemini --acp", "command:python3 'my agent.py'", "scripted:steps.yaml"] {
            let agent: AgentCommand = text.parse().unwrap();
            assert_eq!(agent.to_string(), text);
            assert_eq!(text.split(':').next(), Some(agent.kind()));
        }
    }

    #[test]
    fn a_text_that_names_no_agent_is_answered_with_the_valid_ones() {
        for text in ["gpt", "", "command:", "scripted:", "command:'", "claude:x", "my-agent --flag"] {
            let refusal = text.parse::<AgentCommand>().unwrap_err();
            assert!(refusal.to_string().contains("valid: claude"), "{refusal}");
        }
        assert_eq!("gpt".parse::<AgentCommand>(), Err(NotAnAgent::UnknownKind("gpt".to_owned())));
    }
}
