//! The table of projects: their clones, and the settings for judging each.

use crate::{Outcome, clone::ProjectClone, task_type};
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
    /// The task type of every commit; `None` to guess it.
    pub kind: Option<TaskType>,
    /// The commits to play instead of picked ones, each with its type if the table names it.
    pub play: Vec<(String, Option<TaskType>)>,
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

    /// Returns the task type of a commit: its own, or else the project's, or else a guess.
    pub fn kind_of(&self, clone: &ProjectClone, commit: &str) -> Outcome<TaskType> {
        let own = self.play.iter().find(|(name, _)| commit.starts_with(name.as_str()));
        match own.and_then(|(_, kind)| *kind).or(self.kind) {
            Some(kind) => Ok(kind),
            None => task_type::guess(clone, commit),
        }
    }

    fn read(line: &str) -> Outcome<Self> {
        let mut words = line.split_whitespace();
        let mut project = Self {
            name: words.next().unwrap_or_default().to_owned(),
            commits: COMMITS,
            from: "HEAD".to_owned(),
            settings: None,
            kind: None,
            play: Vec::new(),
            patience: Duration::from_secs(60 * MINUTES),
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text:?} is no number"));
        for word in words {
            match word.split_once('=') {
                Some(("commits", text)) => project.commits = usize::try_from(number(text)?).unwrap_or(usize::MAX),
                Some(("minutes", text)) => project.patience = Duration::from_secs(60 * u64::from(number(text)?)),
                Some(("from", from)) if !from.starts_with('-') => project.from = from.to_owned(),
                Some(("settings", file)) => project.settings = Some(file.to_owned()),
                Some(("type", kind)) => project.kind = Some(read_kind(kind)?),
                Some(("play", list)) => project.play = list.split(',').map(read_commit).collect::<Outcome<_>>()?,
                Some(_) | None => {
                    return Err(format!(
                        "{word:?} is no setting; there are commits=10, from=HEAD, settings=FILE, type=feature, play=COMMIT:TYPE,COMMIT and minutes=10"
                    ));
                }
            }
        }
        Ok(project)
    }
}

fn read_commit(text: &str) -> Outcome<(String, Option<TaskType>)> {
    match text.split_once(':') {
        Some((commit, kind)) => Ok((commit.to_owned(), Some(read_kind(kind)?))),
        None => Ok((text.to_owned(), None)),
    }
}

fn read_kind(text: &str) -> Outcome<TaskType> {
    TaskType::deserialize(text.into_deserializer()).map_err(|error: Error| format!("type={text}: {error}"))
}
