//! What was picked and judged, a line each as it happened: a run that was broken off goes on.
//!
//! A pick holds for good. A verdict holds for the program that gave it: other rules judge anew.

use crate::Outcome;
use domain::integrity::Rule;
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

/// What was found in one commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    pub commit: String,
    pub subject: String,
    pub findings: Vec<Finding>,
    /// Paths of the commit that no Player may touch.
    pub left_out: Vec<String>,
    pub milliseconds: u64,
    /// What running it came to, where it was run.
    #[serde(default)]
    pub played: Option<Played>,
}

/// What the Gates and a Coach that approves everything made of a commit. Times are processor time, in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Played {
    pub end: End,
    /// Why it was not approved, and what was only shown.
    pub reasons: Vec<String>,
    /// One plain run of the test command in a prepared checkout.
    pub plain: f64,
    /// All Gates of the turn.
    pub gates: f64,
    /// Pre-flight on the parent.
    pub preflight: f64,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    Approved,
    SentBack,
    /// Some evidence could not be had: a person is asked.
    Absent,
    /// It could not be played at all.
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
    /// Whether nothing sends the work back: what running showed, where it was run, else what reading found.
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

/// The file, and what it holds.
pub struct Results {
    file: File,
    by: u64,
    picked: BTreeMap<String, Vec<String>>,
    verdicts: BTreeMap<(String, String), Verdict>,
}

impl Results {
    /// Reads what is there, and goes on behind it.
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
        // The last line may be torn.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        if !text.is_empty() && !text.ends_with('\n') {
            results
                .file
                .write_all(b"\n")
                .map_err(|error| failed(error.to_string()))?;
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

    /// What was picked of a project.
    pub fn picked(&self, project: &str) -> Option<&[String]> {
        self.picked.get(project).map(Vec::as_slice)
    }

    /// What this program said of a commit.
    pub fn verdict(&self, project: &str, commit: &str) -> Option<&Verdict> {
        self.verdicts.get(&(project.to_owned(), commit.to_owned()))
    }

    pub fn note_picked(&mut self, project: &str, commits: &[String]) -> Outcome<()> {
        self.write(Line::Picked {
            project: project.to_owned(),
            commits: commits.to_vec(),
        })
    }

    pub fn note_verdict(&mut self, project: &str, verdict: &Verdict) -> Outcome<()> {
        self.write(Line::Judged {
            by: self.by,
            project: project.to_owned(),
            verdict: verdict.clone(),
        })
    }

    fn write(&mut self, line: Line) -> Outcome<()> {
        let text = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        let written = self.file.write_all(format!("{text}\n").as_bytes());
        written.map_err(|error| format!("the results cannot be written: {error}"))
    }
}

/// What tells this build from others.
fn this_program() -> Outcome<u64> {
    let bytes = std::env::current_exe().and_then(fs::read);
    let mut hasher = DefaultHasher::new();
    bytes
        .map_err(|error| format!("this program cannot be read: {error}"))?
        .hash(&mut hasher);
    Ok(hasher.finish())
}
