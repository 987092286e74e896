//! The commands that AutoBuild runs for a repository, and the source of each. `messages` of the application words them.

use text::shell_command::ShellCommand;

/// How a repository's commands were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenCommands {
    /// The test command; `None` if none is known.
    pub test: Option<ChosenCommand>,
    /// The command that prepares a checkout, if one is needed.
    pub setup: Option<ChosenCommand>,
    /// The names of the tool chains that were looked for.
    pub looked_for: String,
    /// The needs of the repository's own CI that AutoBuild does not meet.
    pub unmet: Option<UnmetNeeds>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenCommand {
    pub command: ShellCommand,
    pub source: CommandSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandSource {
    Settings,
    /// The repository's files; the text names them.
    Files(String),
}

/// A workflow's needs of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetNeeds {
    pub workflow: String,
    pub services: Vec<String>,
    /// The packages that it installs with apt.
    pub packages: Vec<String>,
}
