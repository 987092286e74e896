//! The table of projects: which clones, and how each is judged.

use crate::Outcome;
use domain::plan::TaskType;
use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};
use std::time::Duration;

/// The default number of commits of a project.
const COMMITS: usize = 10;
/// The default time limit of one command of a project, in minutes.
const MINUTES: u64 = 10;

/// One line of the table.
pub struct Project {
    /// The folder of its clone, below the folder of all clones.
    pub name: String,
    /// The number of commits to pick.
    pub commits: usize,
    /// The revision from which commits are picked, newest first.
    pub from: String,
    /// Its repository settings: a file beside the table.
    pub settings: Option<String>,
    /// The type of the task that each commit is played as.
    pub kind: TaskType,
    /// The time limit of one command.
    pub patience: Duration,
}

impl Project {
    /// Reads the whole table.
    pub fn all(table: &str) -> Outcome<Vec<Self>> {
        let lines = (1..).zip(table.lines().map(str::trim));
        lines
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .map(|(number, line)| Self::read(line).map_err(|problem| format!("line {number} of the table: {problem}")))
            .collect()
    }

    fn read(line: &str) -> Outcome<Self> {
        let mut words = line.split_whitespace();
        let mut project = Self {
            name: words.next().unwrap_or_default().to_owned(),
            commits: COMMITS,
            from: "HEAD".to_owned(),
            settings: None,
            kind: TaskType::Feature,
            patience: Duration::from_secs(60 * MINUTES),
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text:?} is no number"));
        for word in words {
            match word.split_once('=') {
                Some(("commits", text)) => project.commits = usize::try_from(number(text)?).unwrap_or(usize::MAX),
                Some(("minutes", text)) => project.patience = Duration::from_secs(60 * u64::from(number(text)?)),
                Some(("from", from)) if !from.starts_with('-') => project.from = from.to_owned(),
                Some(("settings", file)) => project.settings = Some(file.to_owned()),
                Some(("type", kind)) => project.kind = read_kind(kind)?,
                Some(_) | None => {
                    return Err(format!(
                        "{word:?} is no setting; there are commits=10, from=HEAD, settings=FILE, type=feature and minutes=10"
                    ));
                }
            }
        }
        Ok(project)
    }
}

fn read_kind(text: &str) -> Outcome<TaskType> {
    TaskType::deserialize(text.into_deserializer()).map_err(|error: Error| format!("type={text}: {error}"))
}
