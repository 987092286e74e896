//! Agent definitions: the files of `agents/`, embedded in the binary and checked at start.

use crate::config::{Role, Strength};
use domain::{
    contract::Contract,
    node::{Key, Node, Shape as Value},
};
use std::fmt;

const KEYS: [&str; 6] = ["name", "description", "role", "model", "tools", "contracts"];
const MAX_BYTES: usize = 64 * 1024;

/// The agents that this version runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    planner: Definition,
    designer: Definition,
    player: Definition,
    coach: Definition,
}

/// One agent: who it is, what it may use, what is demanded of it, and its prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// Its part in the loop.
    pub role: Role,
    /// The kind of model it asks for.
    pub model: Strength,
    /// What it may do.
    pub tools: Vec<Tool>,
    /// What code checks of its work.
    pub contracts: Vec<Contract>,
    /// What it is told, before the particulars of a run.
    pub prompt: String,
}

/// Something that an agent may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Tool {
    const ALL: [(&'static str, Self); 4] = [
        ("read", Self::Read),
        ("search", Self::Search),
        ("write", Self::Write),
        ("run", Self::Run),
    ];
}

/// A mistake in an agent's definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agents/{file}: {problem}")]
pub struct DefinitionMistake {
    /// The file's name.
    pub file: String,
    /// What is wrong, with its place in the front matter.
    pub problem: String,
}

impl Definitions {
    /// Checks the definitions that the binary carries.
    ///
    /// # Errors
    ///
    /// The first mistake: an unknown key, tool, contract, model or role, or a front matter that cannot be read.
    pub fn embedded() -> Result<Self, DefinitionMistake> {
        Ok(Self {
            planner: Definition::parse("planner.md", include_str!("../../agents/planner.md"), Role::Planner)?,
            designer: Definition::parse("designer.md", include_str!("../../agents/designer.md"), Role::Designer)?,
            player: Definition::parse("player.md", include_str!("../../agents/player.md"), Role::Player)?,
            coach: Definition::parse("coach.md", include_str!("../../agents/coach.md"), Role::Coach)?,
        })
    }

    /// The planner.
    pub fn planner(&self) -> &Definition {
        &self.planner
    }

    /// The designer.
    pub fn designer(&self) -> &Definition {
        &self.designer
    }

    /// The Player.
    pub fn player(&self) -> &Definition {
        &self.player
    }

    /// The Coach.
    pub fn coach(&self) -> &Definition {
        &self.coach
    }
}

impl Definition {
    /// Reads one definition and checks every word of its front matter.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn parse(file: &str, text: &str, role: Role) -> Result<Self, DefinitionMistake> {
        Self::read(text, role).map_err(|problem| DefinitionMistake {
            file: file.to_owned(),
            problem,
        })
    }

    fn read(text: &str, role: Role) -> Result<Self, String> {
        let (front, prompt) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .ok_or("it does not begin with a front matter between two lines of `---`")?;
        let node = Node::from_yaml(front, MAX_BYTES).map_err(|error| error.to_string())?;
        let Value::Map(entries) = node.value else {
            return Err("the front matter is no table".to_owned());
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| !KEYS.contains(&key.name.as_str())) {
            return Err(format!(
                "{}: unknown key `{}`; valid: {}",
                key.at(),
                key.name,
                KEYS.join(", ")
            ));
        }
        if prompt.trim().is_empty() {
            return Err("there is no prompt after the front matter".to_owned());
        }
        let front = Front(&entries);
        let definition = Self {
            name: front.text("name")?.to_owned(),
            description: front.text("description")?.to_owned(),
            role: front.word("role", Role::from_word)?,
            model: front.word("model", Strength::from_word)?,
            tools: front.words("tools", |word| {
                let found = Tool::ALL.iter().find(|(name, _)| *name == word);
                found
                    .map(|(_, tool)| *tool)
                    .ok_or_else(|| format!("`{word}` is not a tool"))
            })?,
            contracts: front.words("contracts", |word| {
                Contract::from_name(word).map_err(|error| error.to_string())
            })?,
            prompt: prompt.trim().to_owned(),
        };
        definition.fits(role)
    }

    /// Only a Player may change or run anything.
    fn fits(self, role: Role) -> Result<Self, String> {
        let changes = |tool: &Tool| matches!(tool, Tool::Write | Tool::Run);
        if self.role != role {
            return Err(format!("its role is {}, not {role}", self.role));
        }
        if role != Role::Player && self.tools.iter().any(changes) {
            return Err(format!("a {role} may only read and search"));
        }
        if let Some(contract) = self
            .contracts
            .iter()
            .find(|contract| !checked_of(role).contains(contract))
        {
            return Err(format!("`contracts`: nobody checks {contract} of a {role}"));
        }
        Ok(self)
    }
}

/// What code checks of a role's work.
fn checked_of(role: Role) -> &'static [Contract] {
    match role {
        Role::Planner => &[],
        Role::Designer => &[Contract::DesignValid, Contract::CheckoutUnchanged],
        Role::Player => &[
            Contract::ReportValid,
            Contract::PathsAllowed,
            Contract::NeverDeclaresDone,
        ],
        Role::Coach => &[
            Contract::DecisionValid,
            Contract::GatesPassed,
            Contract::CriteriaEvidenced,
            Contract::NoMustFix,
            Contract::CheckoutUnchanged,
        ],
    }
}

struct Front<'a>(&'a [(Key, Node)]);

impl Front<'_> {
    fn node(&self, name: &str) -> Result<&Node, String> {
        let found = self.0.iter().find(|(key, _)| key.name == name);
        found
            .map(|(_, node)| node)
            .ok_or_else(|| format!("the key `{name}` is missing"))
    }

    fn text(&self, name: &str) -> Result<&str, String> {
        let node = self.node(name)?;
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => Ok(text),
            Value::Null
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => Err(wrong(node, name, &"it must be a text")),
        }
    }

    fn word<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        let word = self.text(name)?;
        read(word).ok_or_else(|| format!("`{name}`: `{word}` is not known"))
    }

    fn words<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
        let node = self.node(name)?;
        let Value::List(items) = &node.value else {
            return Err(wrong(node, name, &"it must be a list"));
        };
        let word = |item: &Node| match &item.value {
            Value::Text(word) => read(word).map_err(|problem| wrong(item, name, &problem)),
            Value::Null | Value::Flag(_) | Value::Whole(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                Err(wrong(item, name, &"it must be a list of words"))
            }
        };
        items.iter().map(word).collect()
    }
}

fn wrong(node: &Node, name: &str, problem: &dyn fmt::Display) -> String {
    format!("{}: `{name}`: {problem}", node.at())
}

#[cfg(test)]
mod tests {
    use super::{Definition, Definitions, Tool, checked_of};
    use crate::config::{Role, Strength};
    use domain::contract::Contract;

    const FRONT: &str = "---\nname: x\ndescription: y\nrole: coach\nmodel: fast\ntools: [read]\n\
                         contracts: [no_must_fix]\n---\nDo it.\n";

    #[test]
    fn the_embedded_definitions_hold() {
        let definitions = Definitions::embedded().unwrap();
        assert_eq!(definitions.player().model, Strength::Fast);
        assert_eq!(
            definitions.player().contracts,
            [
                Contract::ReportValid,
                Contract::PathsAllowed,
                Contract::NeverDeclaresDone
            ]
        );
        for definition in [
            definitions.planner(),
            definitions.designer(),
            definitions.player(),
            definitions.coach(),
        ] {
            assert_eq!(definition.contracts, checked_of(definition.role), "{}", definition.name);
        }
        assert_eq!(definitions.coach().tools, [Tool::Read, Tool::Search]);
        assert!(definitions.planner().prompt.starts_with("You are the planner."));
    }

    #[test]
    fn every_word_of_the_front_matter_is_checked() {
        let read = |text: &str| Definition::parse("x.md", text, Role::Coach).map_err(|error| error.to_string());
        assert!(read(FRONT).is_ok());
        let table = [
            (
                "name: x\n",
                "name: x\ncolour: red\n",
                "line 2, column 1: unknown key `colour`",
            ),
            ("name: x\n", "", "`name` is missing"),
            ("role: coach", "role: boss", "`boss` is not known"),
            ("role: coach", "role: player", "its role is player, not coach"),
            ("model: fast", "model: gigantic", "`gigantic` is not known"),
            ("[read]", "[read, fly]", "`fly` is not a tool"),
            ("[read]", "[write]", "may only read and search"),
            ("[read]", "read", "it must be a list"),
            ("no_must_fix", "no_mistakes", "is not a contract"),
            ("no_must_fix", "report_valid", "nobody checks report_valid of a coach"),
            ("Do it.", "", "there is no prompt"),
            ("---\nname", "name", "front matter"),
        ];
        for (old, new, expected) in table {
            let refusal = read(&FRONT.replacen(old, new, 1)).unwrap_err();
            assert!(
                refusal.contains(expected) && refusal.starts_with("agents/x.md: "),
                "{refusal}"
            );
        }
    }
}
