//! Reads the cases.
//!
//! ```text
//! === NAME                          begins a case; `=== base NAME` a repository, `=== work NAME` a piece of honest work
//! base: NAME                        what it begins from                     (case)
//! from: NAME                        another base that this one begins from  (base)
//! work: NAME                        honest work that comes before the case's own steps
//! settings: KEY: VALUE              a line of the repository's settings     (base)
//! task: feature                     the task's type
//! name, description, files          of the task
//! removes: NAME                     a test or a path that is meant to go
//! criterion: test NAME              or `command LINE`, or `file PATH`; more than one may stand
//! smoke: LINE                       the plan's smoke command
//! expect: approved                  or `sent back`, `asked`, `absent WORD`
//! because: REASON                   why a question is right, with `expect: asked`
//! silent: REASON                    dishonest, and nothing finds it: listed as such, with the reason
//! by: person                        the case's own steps are a person's push on top of the Player's work
//! waived: NAME                      a failing test that a person waived
//! origin: fix                       the task is a TASK-FIX
//! telling: yes                      it stands in the test command: one for each way to end, and honest work of each language
//! --- write PATH                    the lines that follow, up to the next step or section
//! --- append PATH
//! --- replace PATH                  the lines up to `--- with` by those after it
//! --- delete PATH
//! --- move FROM TO
//! --- fill PATH BYTES               that much text
//! ```

use crate::expectation::Expectation;
use domain::{
    plan::{Check, Criterion, TaskType},
    task::Origin,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// All cases of the folder.
pub struct Library {
    pub bases: BTreeMap<String, Section>,
    pub works: BTreeMap<String, Section>,
    pub cases: Vec<Case>,
}

/// Keys and steps, as written.
#[derive(Clone, Default)]
pub struct Section {
    pub name: String,
    pub keys: Vec<(String, String)>,
    pub steps: Vec<Step>,
}

/// One change of a tree.
#[derive(Clone)]
pub enum Step {
    Write { path: String, text: String },
    Append { path: String, text: String },
    Replace { path: String, old: String, new: String },
    Delete { path: String },
    Move { from: String, to: String },
    Fill { path: String, bytes: usize },
}

impl Step {
    /// Returns the paths that it changes.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Write { path, .. } | Self::Append { path, .. } | Self::Replace { path, .. } => vec![path],
            Self::Delete { path } | Self::Fill { path, .. } => vec![path],
            Self::Move { from, to } => vec![from, to],
        }
    }

    /// `true` if its text, old or new, contains this word.
    pub fn mentions(&self, word: &str) -> bool {
        match self {
            Self::Write { text, .. } | Self::Append { text, .. } => text.contains(word),
            Self::Replace { old, new, .. } => old.contains(word) || new.contains(word),
            Self::Delete { .. } | Self::Move { .. } | Self::Fill { .. } => false,
        }
    }
}

/// Who takes a case's own steps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Author {
    Player,
    Person,
}

/// The lane in which the Gates judge a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The test command, and the thorough lane.
    TestCommand,
    /// Only `.ci/thorough deceptions`.
    Thorough,
}

/// One change that is judged.
pub struct Case {
    /// Its place among all.
    pub number: usize,
    /// The file that contains it.
    pub place: String,
    pub name: String,
    pub base: String,
    /// Honest work that comes first.
    pub work: Vec<Step>,
    pub steps: Vec<Step>,
    pub author: Author,
    pub waived: Vec<String>,
    pub origin: Origin,
    pub kind: TaskType,
    pub task_name: String,
    pub description: String,
    pub files: Vec<String>,
    pub removes: Vec<String>,
    pub criteria: Vec<Criterion>,
    pub smoke: Option<String>,
    pub expectation: Expectation,
    pub silent: Option<String>,
    pub lane: Lane,
}

impl Case {
    /// Returns its name in the table.
    pub fn title(&self) -> String {
        format!("{}: {}", self.place, self.name)
    }

    /// `true` if the change is honest.
    pub fn is_honest(&self) -> bool {
        self.expectation == Expectation::Approved
    }
}

impl Library {
    /// Reads every file of the folder.
    pub fn read(folder: &Path) -> Self {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let read = |file: &PathBuf| {
            let place = file.file_stem().unwrap().to_string_lossy().into_owned();
            (place, fs::read_to_string(file).unwrap())
        };
        Self::parse(&files.iter().map(read).collect::<Vec<_>>())
    }

    /// Reads texts, each with the name of its place.
    pub fn parse(texts: &[(String, String)]) -> Self {
        let mut library = Self { bases: BTreeMap::new(), works: BTreeMap::new(), cases: Vec::new() };
        let mut written = Vec::new();
        for (place, text) in texts {
            for section in sections(text) {
                match section.name.split_once(' ') {
                    Some(("base", name)) => keep(&mut library.bases, name, section.clone()),
                    Some(("work", name)) => keep(&mut library.works, name, section.clone()),
                    _ => written.push((place.clone(), section)),
                }
            }
        }
        library.cases =
            (0..).zip(written).map(|(number, (place, section))| library.case(number, place, &section)).collect();
        library
    }

    /// Returns the steps that make the tree of a base.
    pub fn base_steps(&self, name: &str) -> Vec<Step> {
        let base = self.bases.get(name).unwrap_or_else(|| panic!("no base is called {name}"));
        let mut steps = base.one("from").map(|from| self.base_steps(&from)).unwrap_or_default();
        steps.extend(base.steps.iter().cloned());
        steps
    }

    /// Returns the repository's settings as YAML.
    pub fn base_settings(&self, name: &str) -> String {
        let mut lines = BTreeMap::new();
        self.collect_settings(name, &mut lines);
        lines.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
    }

    fn collect_settings(&self, name: &str, lines: &mut BTreeMap<String, String>) {
        let base = &self.bases[name];
        if let Some(from) = base.one("from") {
            self.collect_settings(&from, lines);
        }
        for line in base.all("settings") {
            let (key, value) = line.split_once(": ").expect("settings are KEY: VALUE");
            lines.insert(key.to_owned(), value.to_owned());
        }
    }

    fn case(&self, number: usize, place: String, section: &Section) -> Case {
        let none = Section::default();
        let work = section.one("work").map_or(&none, |name| {
            self.works.get(&name).unwrap_or_else(|| panic!("{}: no work is called {name}", section.name))
        });
        let one = |key: &str| section.one(key).or_else(|| work.one(key));
        let criteria = Some(section.all("criterion")).filter(|own| !own.is_empty());
        let criteria = criteria.unwrap_or_else(|| work.all("criterion"));
        assert!(!criteria.is_empty(), "{}: no criterion", section.name);
        section.explains_its_question();
        Case {
            number,
            place,
            base: section.one("base").unwrap_or_else(|| panic!("{}: no base", section.name)),
            work: work.steps.clone(),
            steps: section.steps.clone(),
            author: section.one("by").map_or(Author::Player, |_| Author::Person),
            waived: section.all("waived"),
            origin: match section.one("origin").as_deref() {
                None => Origin::Planned,
                Some("fix") => Origin::Fix { broke: None },
                Some(other) => panic!("{other} is no origin"),
            },
            kind: one("task").map_or(TaskType::Feature, |word| kind(&word)),
            task_name: one("name").unwrap_or_else(|| "Build what was asked for".to_owned()),
            description: one("description").unwrap_or_default(),
            files: one("files").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            removes: section.all("removes"),
            smoke: one("smoke"),
            criteria: criteria.iter().map(|text| criterion(text)).collect(),
            expectation: section
                .one("expect")
                .unwrap_or_else(|| panic!("{}: no expectation", section.name))
                .parse()
                .unwrap(),
            silent: section.one("silent"),
            lane: section.one("telling").map_or(Lane::Thorough, |_| Lane::TestCommand),
            name: section.name.clone(),
        }
    }
}

fn keep(sections: &mut BTreeMap<String, Section>, name: &str, section: Section) {
    assert!(sections.insert(name.to_owned(), section).is_none(), "{name} stands twice");
}

fn kind(word: &str) -> TaskType {
    match word {
        "scaffolding" => TaskType::Scaffolding,
        "feature" => TaskType::Feature,
        "refactoring" => TaskType::Refactoring,
        "testing" => TaskType::Testing,
        "documentation" => TaskType::Documentation,
        other => panic!("{other} is no type of task"),
    }
}

fn criterion(text: &str) -> Criterion {
    let (how, what) = text.split_once(' ').expect("a criterion names its check");
    let what = what.to_owned();
    let check = match how {
        "test" => Check::Test(what.clone()),
        "command" => Check::Command(what.clone()),
        "file" => Check::File(what.clone()),
        other => panic!("{other} is no check"),
    };
    Criterion { text: format!("{what} holds"), check }
}

impl Section {
    /// Asserts that a case with a question gives the reason why it is not sent back.
    fn explains_its_question(&self) {
        let is_asked = self.one("expect").as_deref() == Some("asked");
        assert_eq!(is_asked, self.one("because").is_some(), "{}: why asked?", self.name);
    }

    fn all(&self, key: &str) -> Vec<String> {
        self.keys.iter().filter(|(known, _)| known == key).map(|(_, value)| value.clone()).collect()
    }

    fn one(&self, key: &str) -> Option<String> {
        self.all(key).into_iter().next()
    }
}

/// A section while it is read.
#[derive(Default)]
struct Reading {
    section: Section,
    /// The step's words, its lines so far, and the old lines if it is a replacement.
    step: Option<(Vec<String>, String, Option<String>)>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut done: Vec<Section> = Vec::new();
    let mut reading: Option<Reading> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            done.extend(reading.take().map(Reading::end));
            let section = Section { name: name.to_owned(), ..Section::default() };
            reading = Some(Reading { section, step: None });
        } else if let Some(reading) = &mut reading {
            reading.line(line);
        }
    }
    done.extend(reading.map(Reading::end));
    done
}

impl Reading {
    fn line(&mut self, line: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let steps = ["write", "append", "replace", "delete", "move", "fill", "with"];
        let begins = words.len() >= 2 && words[0] == "---" && steps.contains(&words[1].as_str());
        match (&mut self.step, begins) {
            (Some((_, lines, old)), true) if words[1] == "with" => *old = Some(std::mem::take(lines)),
            (_, true) => {
                self.end_step();
                self.step = Some((words, String::new(), None));
            }
            (Some((_, lines, _)), false) => {
                lines.push_str(line);
                lines.push('\n');
            }
            (None, false) if line.is_empty() => {}
            (None, false) => {
                let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?} is no key"));
                self.section.keys.push((key.to_owned(), value.to_owned()));
            }
        }
    }

    fn end_step(&mut self) {
        let Some((words, text, old)) = self.step.take() else {
            return;
        };
        let path = words[2].clone();
        self.section.steps.push(match words[1].as_str() {
            "write" => Step::Write { path, text },
            "append" => Step::Append { path, text },
            "replace" => Step::Replace { path, old: old.expect("--- with"), new: text },
            "delete" => Step::Delete { path },
            "move" => Step::Move { from: path, to: words[3].clone() },
            _ => Step::Fill { path, bytes: words[3].parse().unwrap() },
        });
    }

    /// The blank line before the next section belongs to neither.
    fn end(mut self) -> Section {
        if let Some((_, lines, _)) = &mut self.step
            && (lines.ends_with("\n\n") || lines == "\n")
        {
            lines.pop();
        }
        self.end_step();
        self.section
    }
}
