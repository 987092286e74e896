//! The file of picks and verdicts, one per line in the order in which they were made, so that an interrupted run can
//! continue.
//!
//! A pick remains valid. A verdict is only valid for the build that made it: after a change of the rules, commits are
//! judged again.

use crate::Outcome;
use domain::{integrity::Rule, plan::TaskType};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{
        File, OpenOptions, {self},
    },
    hash::{DefaultHasher, Hash, Hasher},
    io::{ErrorKind, Write},
    path::Path,
};

/// The verdict on one commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    pub commit: String,
    pub subject: String,
    pub findings: Vec<Finding>,
    /// The paths of the commit that no Player may change.
    pub left_out: Vec<String>,
    /// The task type with which it was judged.
    pub kind: Option<TaskType>,
    pub milliseconds: u64,
    /// The result of running it, if it was run.
    #[serde(default)]
    pub played: Option<Played>,
}

/// The result of the Gates and of a Coach that approves everything. Times are processor time, in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Played {
    pub end: End,
    /// The reasons against an approval, and all Gate results that did not pass.
    pub reasons: Vec<String>,
    /// The topics of the questions.
    #[serde(default)]
    pub questions: Vec<String>,
    /// The number of questions that a fair Coach answers with `not_fine`.
    #[serde(default)]
    pub not_fine: usize,
    /// One plain run of the test command in a prepared checkout.
    pub plain: f64,
    /// All Gates of the turn.
    pub gates: f64,
    /// Pre-flight on the parent.
    pub preflight: f64,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    Approved,
    SentBack,
    /// Some evidence could not be collected, so a person must decide.
    Absent,
    /// The commit could not be run.
    NotPlayed,
}

/// One finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub rule: Rule,
    pub path: String,
    pub line: Option<u32>,
    pub what: String,
    pub sends_back: bool,
}

impl Verdict {
    /// Returns `true` if nothing sends the work back: by the result of running it, if it was run, else by its findings.
    pub fn is_approved(&self) -> bool {
        match &self.played {
            Some(played) => played.end == End::Approved,
            None => !self.findings.iter().any(|finding| finding.sends_back),
        }
    }
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Picked { project: String, commits: Vec<String> },
    Judged { by: u64, project: String, verdict: Verdict },
}

/// The file and its content.
pub struct Results {
    file: File,
    by: u64,
    picked: BTreeMap<String, Vec<String>>,
    verdicts: BTreeMap<(String, String), Verdict>,
}

impl Results {
    /// Reads the file and continues at its end.
    pub fn open(path: &Path) -> Outcome<Self> {
        let failed = |problem: String| format!("the results {}: {problem}", path.display());
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| failed(error.to_string()))?,
        };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut results = Self {
            file: file.map_err(|error| failed(error.to_string()))?,
            by: this_program()?,
            picked: BTreeMap::new(),
            verdicts: BTreeMap::new(),
        };
        // The last line is incomplete if the run was killed while it wrote.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        if !text.is_empty() && !text.ends_with('\n') {
            results.file.write_all(b"\n").map_err(|error| failed(error.to_string()))?;
        }
        for line in whole.lines() {
            if let Ok(line) = serde_json::from_str(line) {
                results.take(line);
            }
        }
        Ok(results)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Picked { project, commits } => drop(self.picked.insert(project, commits)),
            Line::Judged { by, project, verdict } if by == self.by => {
                self.verdicts.insert((project, verdict.commit.clone()), verdict);
            }
            Line::Judged { .. } => {}
        }
    }

    /// Returns the picked commits of a project.
    pub fn picked(&self, project: &str) -> Option<&[String]> {
        self.picked.get(project).map(Vec::as_slice)
    }

    /// Returns this build's verdict on a commit.
    pub fn verdict(&self, project: &str, commit: &str) -> Option<&Verdict> {
        self.verdicts.get(&(project.to_owned(), commit.to_owned()))
    }

    pub fn note_picked(&mut self, project: &str, commits: &[String]) -> Outcome<()> {
        self.write(Line::Picked { project: project.to_owned(), commits: commits.to_vec() })
    }

    pub fn note_verdict(&mut self, project: &str, verdict: &Verdict) -> Outcome<()> {
        self.write(Line::Judged { by: self.by, project: project.to_owned(), verdict: verdict.clone() })
    }

    fn write(&mut self, line: Line) -> Outcome<()> {
        let text = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        let written = self.file.write_all(format!("{text}\n").as_bytes());
        written.map_err(|error| format!("the results cannot be written: {error}"))
    }
}

/// Returns a hash of this program, which differs between builds.
fn this_program() -> Outcome<u64> {
    let bytes = std::env::current_exe().and_then(fs::read);
    let mut hasher = DefaultHasher::new();
    bytes.map_err(|error| format!("this program cannot be read: {error}"))?.hash(&mut hasher);
    Ok(hasher.finish())
}
