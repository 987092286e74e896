//! Reads the server's TOML file into the same entries that the environment gives, with their line numbers.

use crate::config::variables::{
    GivenValue, MergedVariables, PREFIX, Scope, ServerMistake, SettingSource, VARIABLES, VariableEntry,
};
use domain::ids::InstallationId;
use std::{collections::BTreeMap, ops::Range};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

const MAX_BYTES: usize = 256 * 1024;

/// Reads the file and returns its settings. It may also have `agent_environment` (a list of variables that agents get),
/// tables `[agents.<name>]` with the key `run`, and tables `[installations.<id>]`. These and all mistakes are added to
/// `found`.
pub(crate) fn read(text: &str, found: &mut MergedVariables) -> Vec<VariableEntry> {
    let entries = Vec::new();
    let mut file = FileReader { text, found, entries };
    if text.len() > MAX_BYTES {
        file.wrong(0..0, "the file", format!("is larger than {MAX_BYTES} bytes"));
        return file.entries;
    }
    match DeTable::parse(text) {
        Ok(table) => file.table(table.get_ref()),
        Err(error) => file.wrong(error.span().unwrap_or(0..0), "the file", error.message().to_owned()),
    }
    file.entries
}

struct FileReader<'a> {
    text: &'a str,
    found: &'a mut MergedVariables,
    entries: Vec<VariableEntry>,
}

impl FileReader<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("agents", DeValue::Table(agents)) => self.agents(agents),
                ("agents", _) => self.wrong(key.span(), "agents", "must be tables [agents.<name>]".to_owned()),
                ("agent_environment", _) => self.agent_environment(value),
                ("installations", DeValue::Table(installations)) => self.installations(installations),
                ("installations", _) => {
                    self.wrong(key.span(), "installations", "must be tables [installations.<id>]".to_owned());
                }
                (name, _) => {
                    let entry = self.entry(name, value);
                    self.entries.extend(entry);
                }
            }
        }
    }

    fn entry(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<VariableEntry> {
        let Some(found) = self.scalar(value) else {
            let problem = format!("must be a text or a number, not {}", value.get_ref().type_str());
            self.wrong(value.span(), name, problem);
            return None;
        };
        let upper = name.to_ascii_uppercase();
        let name = upper.strip_prefix(PREFIX).unwrap_or(&upper).to_owned();
        Some(VariableEntry { name, value: found })
    }

    fn installations(&mut self, installations: &DeTable<'_>) {
        for (id, table) in installations {
            let shown = format!("installations.{}", id.get_ref());
            let (Ok(number), DeValue::Table(keys)) = (id.get_ref().parse(), table.get_ref()) else {
                let problem =
                    "must be a table with an installation's number: the last part of the address of its settings";
                self.wrong(id.span(), &shown, problem.to_owned());
                continue;
            };
            let mut own = BTreeMap::new();
            for (key, value) in keys {
                let Some(VariableEntry { name, value }) = self.entry(key.get_ref(), value) else {
                    continue;
                };
                let known = VARIABLES.iter().find(|known| known.name == name);
                match known.filter(|known| known.scope == Scope::PerInstallation) {
                    Some(known) => drop(own.insert(known.name, value)),
                    None => {
                        let problem = "is no setting of one installation; docs/server-settings.md lists them";
                        self.wrong(key.span(), &format!("{shown}.{}", key.get_ref()), problem.to_owned());
                    }
                }
            }
            self.found.installations.insert(InstallationId(number), own);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is not ours: it has many variants, and more will come"
    )]
    fn scalar(&self, value: &Spanned<DeValue<'_>>) -> Option<GivenValue> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            _ => return None,
        };
        let source = self.source(value.span());
        Some(GivenValue { text, source })
    }

    fn agents(&mut self, agents: &DeTable<'_>) {
        for (name, value) in agents {
            let shown = format!("agents.{}", name.get_ref());
            let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if !name.get_ref().chars().all(fine) || name.get_ref().is_empty() || name.get_ref().len() > 50 {
                let problem = "a name holds letters, digits, - and _, at most 50".to_owned();
                self.wrong(name.span(), &shown, problem);
                continue;
            }
            let DeValue::Table(keys) = value.get_ref() else {
                self.wrong(name.span(), &shown, "must be a table with the key run".to_owned());
                continue;
            };
            for (key, _) in keys.iter().filter(|(key, _)| key.get_ref().as_ref() != "run") {
                let problem = "there is no such setting; valid: run".to_owned();
                self.wrong(key.span(), &format!("{shown}.{}", key.get_ref()), problem);
            }
            match keys.get("run").map(|run| (run.get_ref().as_str(), run.span())) {
                Some((Some(text), span)) => {
                    let (text, source) = (text.to_owned(), self.source(span));
                    self.found.agents.insert(name.get_ref().to_string(), GivenValue { text, source });
                }
                _ => {
                    let problem = "needs run, for example \"command:my-agent\"".to_owned();
                    self.wrong(name.span(), &shown, problem);
                }
            }
        }
    }

    fn agent_environment(&mut self, value: &Spanned<DeValue<'_>>) {
        let names = value.get_ref().as_array().map(|items| {
            let name = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
            items.iter().map(name).collect::<Option<Vec<String>>>()
        });
        match names.flatten() {
            Some(names) if names.iter().all(|name| is_variable_name(name)) => self.found.agent_environment = names,
            _ => {
                let problem = "must be a list of names of environment variables".to_owned();
                self.wrong(value.span(), "agent_environment", problem);
            }
        }
    }

    fn source(&self, span: Range<usize>) -> SettingSource {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        SettingSource::File { line: before.matches('\n').count() + 1 }
    }

    fn wrong(&mut self, span: Range<usize>, name: &str, problem: String) {
        self.found.mistakes.push(ServerMistake {
            source: self.source(span),
            name: name.chars().take(80).collect(),
            problem: problem.chars().take(300).collect(),
        });
    }
}

/// `true` if agents may get the variable. AutoBuild's own variables hold secrets and are never passed on.
fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(PREFIX)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
