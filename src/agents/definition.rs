//! Agent definitions: the files of `agents/`, embedded in the binary and checked at start.

use crate::config::{ByRole, Role, Strength};
use domain::problem::Contract;
use serde::Deserialize;

/// The agents that this version runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions(ByRole<Definition>);

/// One agent: its identity, its tools and its contracts, as in the file's front matter, and its prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub description: String,
    pub role: Role,
    pub model: Strength,
    pub tools: Vec<Tool>,
    /// The contracts that code checks in its work.
    pub contracts: Vec<Contract>,
    /// The prompt, before the details of a run.
    #[serde(skip)]
    pub prompt: String,
}

/// Something that an agent may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Read files of its checkout.
    Read,
    /// Search its checkout.
    Search,
    /// Change files.
    Write,
    /// Run programs.
    Run,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agents/{file}: {problem}")]
pub struct DefinitionMistake {
    pub file: String,
    pub problem: DefinitionProblem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionProblem {
    #[error("it does not begin with a front matter between two lines of `---`")]
    NoFrontMatter,
    /// The parser's message, with its position in the front matter.
    #[error("{0}")]
    Unreadable(String),
    #[error("there is no prompt after the front matter")]
    NoPrompt,
    #[error("its role is {found}, not {expected}")]
    OtherRole { found: Role, expected: Role },
    #[error("a {0} may only read and search")]
    Changes(Role),
    #[error("`contracts`: nobody checks {contract} of a {role}")]
    Unchecked { contract: Contract, role: Role },
}

impl Definitions {
    /// Checks the definitions embedded in the binary.
    pub fn embedded() -> Result<Self, DefinitionMistake> {
        Ok(Self(ByRole {
            planner: Definition::parse("planner.md", include_str!("../../agents/planner.md"), Role::Planner)?,
            designer: Definition::parse("designer.md", include_str!("../../agents/designer.md"), Role::Designer)?,
            player: Definition::parse("player.md", include_str!("../../agents/player.md"), Role::Player)?,
            coach: Definition::parse("coach.md", include_str!("../../agents/coach.md"), Role::Coach)?,
        }))
    }

    pub fn of(&self, role: Role) -> &Definition {
        self.0.of(role)
    }
}

impl Definition {
    /// Reads one definition and checks every word of its front matter.
    pub fn parse(file: &str, text: &str, role: Role) -> Result<Self, DefinitionMistake> {
        Self::read(text, role).map_err(|problem| DefinitionMistake { file: file.to_owned(), problem })
    }

    fn read(text: &str, role: Role) -> Result<Self, DefinitionProblem> {
        let (front, prompt) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .ok_or(DefinitionProblem::NoFrontMatter)?;
        let mut definition: Self = serde_saphyr::from_str(front)
            .map_err(|error| DefinitionProblem::Unreadable(error.without_snippet().to_string()))?;
        if prompt.trim().is_empty() {
            return Err(DefinitionProblem::NoPrompt);
        }
        definition.prompt = prompt.trim().to_owned();
        definition.validate(role)
    }

    /// Checks that the role is right, that only a Player may change or run anything, and that code checks each
    /// contract.
    fn validate(self, role: Role) -> Result<Self, DefinitionProblem> {
        let changes = |tool: &Tool| matches!(tool, Tool::Write | Tool::Run);
        if self.role != role {
            return Err(DefinitionProblem::OtherRole { found: self.role, expected: role });
        }
        if role != Role::Player && self.tools.iter().any(changes) {
            return Err(DefinitionProblem::Changes(role));
        }
        let mut contracts = self.contracts.iter();
        match contracts.find(|contract| !checked_contracts(role).contains(contract)) {
            Some(contract) => Err(DefinitionProblem::Unchecked { contract: *contract, role }),
            None => Ok(self),
        }
    }
}

/// Returns the contracts that code checks in a role's work.
fn checked_contracts(role: Role) -> &'static [Contract] {
    match role {
        Role::Planner => &[],
        Role::Designer => &[Contract::DesignValid, Contract::CheckoutUnchanged],
        Role::Player => &[Contract::ReportValid, Contract::PathsAllowed, Contract::NeverDeclaresDone],
        Role::Coach => &[
            Contract::DecisionValid,
            Contract::GatesPassed,
            Contract::CriteriaEvidenced,
            Contract::QuestionsAnswered,
            Contract::NoMustFix,
            Contract::CheckoutUnchanged,
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::{Definition, Definitions, Tool, checked_contracts};
    use crate::config::{Role, Strength};
    use domain::problem::Contract;

    const FRONT: &str = "---\nname: x\ndescription: y\nrole: coach\nmodel: fast\ntools: [read]\n\
                         contracts: [no_must_fix]\n---\nDo it.\n";

    #[test]
    fn the_embedded_definitions_hold() {
        let definitions = Definitions::embedded().unwrap();
        assert_eq!(definitions.of(Role::Player).model, Strength::Fast);
        assert_eq!(
            definitions.of(Role::Player).contracts,
            [Contract::ReportValid, Contract::PathsAllowed, Contract::NeverDeclaresDone]
        );
        for definition in [
            definitions.of(Role::Planner),
            definitions.of(Role::Designer),
            definitions.of(Role::Player),
            definitions.of(Role::Coach),
        ] {
            assert_eq!(definition.contracts, checked_contracts(definition.role), "{}", definition.name);
        }
        assert_eq!(definitions.of(Role::Coach).tools, [Tool::Read, Tool::Search]);
        assert!(definitions.of(Role::Planner).prompt.starts_with("You are the planner."));
    }

    #[test]
    fn every_word_of_the_front_matter_is_checked() {
        let read = |text: &str| Definition::parse("x.md", text, Role::Coach).map_err(|error| error.to_string());
        assert!(read(FRONT).is_ok());
        let table = [
            ("name: x\n", "name: x\ncolour: red\n", "unknown field `colour`"),
            ("name: x\n", "", "missing field `name`"),
            ("role: coach", "role: boss", "unknown variant `boss`"),
            ("role: coach", "role: player", "its role is player, not coach"),
            ("model: fast", "model: gigantic", "unknown variant `gigantic`"),
            ("[read]", "[read, fly]", "unknown variant `fly`"),
            ("[read]", "[write]", "may only read and search"),
            ("[read]", "read", "sequence"),
            ("no_must_fix", "no_mistakes", "unknown variant `no_mistakes`"),
            ("no_must_fix", "report_valid", "nobody checks report_valid of a coach"),
            ("Do it.", "", "there is no prompt"),
            ("---\nname", "name", "front matter"),
        ];
        for (old, new, expected) in table {
            let refusal = read(&FRONT.replacen(old, new, 1)).unwrap_err();
            assert!(refusal.contains(expected) && refusal.starts_with("agents/x.md: "), "{refusal}");
        }
    }
}
