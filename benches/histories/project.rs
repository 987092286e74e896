//! The table from outside: which clones, and how each is played.

use crate::Outcome;

/// How many commits of a project are picked where its line says nothing.
const COMMITS: usize = 10;

/// One line of the table.
pub struct Project {
    /// The folder of its clone, below the folder of all.
    pub name: String,
    /// How many commits are picked.
    pub commits: usize,
    /// From where on, newest first.
    pub from: String,
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
        };
        for word in words {
            match word.split_once('=') {
                Some(("commits", number)) => {
                    project.commits = number.parse().map_err(|_| format!("{number:?} is no number"))?;
                }
                Some(("from", from)) if !from.starts_with('-') => project.from = from.to_owned(),
                Some(_) | None => return Err(format!("{word:?} is no setting; there are commits=10 and from=HEAD")),
            }
        }
        Ok(project)
    }
}
