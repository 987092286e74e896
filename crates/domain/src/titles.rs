//! The form of titles: of pull requests, and of the subjects of commits.

use crate::plan::TaskType;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use text::{stored_as_text, words};

/// The form of titles, such as `{type}: {subject}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TitleForm {
    parts: Vec<TitlePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TitlePart {
    Text(String),
    Value(Placeholder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Type,
    Name,
    Subject,
    Id,
    Issue,
}

words!(Placeholder { Type = "type", Name = "name", Subject = "subject", Id = "id", Issue = "issue" });

/// The values that fill the placeholders of a title.
#[derive(Clone, Copy, Debug)]
pub struct TitleValues<'a> {
    /// The type of Conventional Commits.
    pub kind: &'a str,
    /// The name of the task or the Feature.
    pub name: &'a str,
    /// The id, such as `TASK-001`.
    pub id: &'a str,
    pub issue: u64,
}

/// A reason why a text is no form of titles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAForm {
    #[error("`{{{0}}}` is unknown; a title holds `{{type}}`, `{{name}}`, `{{subject}}`, `{{id}}` and `{{issue}}`")]
    Unknown(String),
    /// A bracket has no other half.
    #[error("a bracket is open")]
    Open,
    /// Every title would be the same.
    #[error("a title needs `{{name}}` or `{{subject}}`")]
    Nameless,
}

impl TitleForm {
    /// Returns the title. It may hold line breaks if the name does.
    pub fn fill(&self, titled: &TitleValues<'_>) -> String {
        let part = |part: &TitlePart| match part {
            TitlePart::Text(text) => text.clone(),
            TitlePart::Value(Placeholder::Type) => titled.kind.to_owned(),
            TitlePart::Value(Placeholder::Name) => titled.name.to_owned(),
            TitlePart::Value(Placeholder::Subject) => uncapitalized(titled.name),
            TitlePart::Value(Placeholder::Id) => titled.id.to_owned(),
            TitlePart::Value(Placeholder::Issue) => titled.issue.to_string(),
        };
        self.parts.iter().map(part).collect()
    }

    /// `true` if its titles begin with a type, so that every commit needs one.
    pub fn has_type(&self) -> bool {
        self.parts.contains(&TitlePart::Value(Placeholder::Type))
    }
}

impl Default for TitleForm {
    fn default() -> Self {
        let colon = TitlePart::Text(": ".to_owned());
        Self { parts: vec![TitlePart::Value(Placeholder::Id), colon, TitlePart::Value(Placeholder::Name)] }
    }
}

impl FromStr for TitleForm {
    type Err = NotAForm;

    fn from_str(text: &str) -> Result<Self, NotAForm> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            let (name, after) = from.split_once('}').ok_or(NotAForm::Open)?;
            if before.contains('}') {
                return Err(NotAForm::Open);
            }
            let placeholder: Placeholder = name.parse().map_err(|_| NotAForm::Unknown(name.to_owned()))?;
            if !before.is_empty() {
                parts.push(TitlePart::Text(before.to_owned()));
            }
            parts.push(TitlePart::Value(placeholder));
            rest = after;
        }
        if rest.contains('}') {
            return Err(NotAForm::Open);
        }
        if !rest.is_empty() {
            parts.push(TitlePart::Text(rest.to_owned()));
        }
        let names = [TitlePart::Value(Placeholder::Name), TitlePart::Value(Placeholder::Subject)];
        if names.iter().any(|name| parts.contains(name)) { Ok(Self { parts }) } else { Err(NotAForm::Nameless) }
    }
}

stored_as_text!(TitleForm, NotAForm);

impl fmt::Display for TitleForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TitlePart::Text(text) => f.write_str(text)?,
                TitlePart::Value(value) => write!(f, "{{{value}}}")?,
            }
        }
        Ok(())
    }
}

/// Returns the type of Conventional Commits for a task's type.
pub fn commit_type(kind: TaskType) -> &'static str {
    match kind {
        TaskType::Scaffolding => "chore",
        TaskType::Feature => "feat",
        TaskType::Refactoring => "refactor",
        TaskType::Testing => "test",
        TaskType::Documentation => "docs",
    }
}

/// Returns a name that begins with a small letter, unless its first word is written in capitals, such as `JSON`.
fn uncapitalized(name: &str) -> String {
    let name = name.trim_start();
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(first), second) if second.is_none_or(|second| !second.is_uppercase()) => {
            first.to_lowercase().chain(name.chars().skip(1)).collect()
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAForm, TitleForm, TitleValues};

    fn filled(form: &str, name: &str) -> String {
        let titled = TitleValues { kind: "feat", name, id: "TASK-001", issue: 7 };
        form.parse::<TitleForm>().unwrap().fill(&titled)
    }

    #[test]
    fn titles_are_filled_and_the_form_is_written_back() {
        let table = [
            ("{type}: {name}", "Gross", "feat: Gross"),
            ("{type}(#{issue}): {subject}", "Add a parser", "feat(#7): add a parser"),
            ("{subject} [{id}]", "JSON output", "JSON output [TASK-001]"),
            ("{name}", "{type} é", "{type} é"),
        ];
        for (form, name, title) in table {
            assert_eq!(filled(form, name), title);
            assert_eq!(form.parse::<TitleForm>().unwrap().to_string(), form);
        }
        assert_eq!(TitleForm::default().to_string(), "{id}: {name}");
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let parse = |text: &str| text.parse::<TitleForm>().unwrap_err();
        assert_eq!(parse("{kind}: {name}"), NotAForm::Unknown("kind".to_owned()));
        for text in ["{name", "name}: {name}", "{name}}", "}{name}"] {
            assert_eq!(parse(text), NotAForm::Open, "{text}");
        }
        for text in ["", "{type}", "fixed"] {
            assert_eq!(parse(text), NotAForm::Nameless, "{text}");
        }
    }
}
