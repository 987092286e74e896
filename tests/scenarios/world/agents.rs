//! The steps of scripted agents (a plan, files, decisions), written as the YAML that `scripted:` reads.

use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// A script to which the story adds steps.
pub struct Script {
    file: PathBuf,
    lines: Mutex<Lines>,
}

struct Lines {
    steps: Vec<Value>,
    known: BTreeSet<String>,
}

/// A plan in the making.
pub struct Plan(Value);

/// A task of a plan in the making.
pub struct Task(Value);

impl Task {
    /// A `feature` task that says hello in `hello/<n>.txt`.
    pub fn new(number: u16) -> Self {
        let file = format!("hello/{number}.txt");
        Self(json!({
            "id": format!("TASK-{number:03}"),
            "name": format!("Say hello {number}"),
            "type": "feature",
            "description": format!("Write hello {number}."),
            "acceptance_criteria": [{"text": format!("{file} says hello"), "check": {"file": file}}],
            "files": [file],
            "factors": {"integration_points": 0, "tests": "unit", "risks": []},
            "dependencies": [],
        }))
    }

    /// Sets the tasks on which it depends.
    pub fn needs(mut self, tasks: &[u16]) -> Self {
        self.0["dependencies"] = tasks.iter().map(|number| format!("TASK-{number:03}")).collect();
        self
    }

    /// Any other key.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.0[key] = value;
        self
    }
}

impl Plan {
    /// A plan of these tasks.
    pub fn of(tasks: impl IntoIterator<Item = Task>) -> Self {
        let tasks: Vec<Value> = tasks.into_iter().map(|task| task.0).collect();
        Self(json!({"name": "Say hello", "description": "Hello in files.", "tasks": tasks}))
    }

    /// One task.
    pub fn one() -> Self {
        Self::of([Task::new(1)])
    }

    /// Any other key.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.0[key] = value;
        self
    }

    /// Returns the plan as JSON, which is also YAML.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(&self.0).unwrap()
    }
}

impl Script {
    pub fn new(file: PathBuf, files: &[(String, String)]) -> Self {
        let script = Self {
            file,
            lines: Mutex::new(Lines { steps: Vec::new(), known: files.iter().map(|(path, _)| path.clone()).collect() }),
        };
        std::fs::write(&script.file, "[]").unwrap();
        script
    }

    /// Adds a step in the form that `scripted:` reads.
    pub fn step(&self, step: Value) -> &Self {
        let mut lines = self.lines.lock().unwrap();
        lines.steps.push(step);
        // Readers see either the old or the new file.
        let new = self.file.with_extension("new");
        std::fs::write(&new, serde_json::to_string(&lines.steps).unwrap()).unwrap();
        std::fs::rename(&new, &self.file).unwrap();
        drop(lines);
        self
    }

    /// The planner's answer.
    pub fn plans(&self, plan: &Plan) -> &Self {
        self.step(json!({"role": "planner", "answer": plan.0}))
    }

    /// The Player of a task writes files and reports them truthfully.
    pub fn writes(&self, task: u16, files: &[(&str, &str)]) -> &Self {
        self.writes_as(&format!("TASK-{task:03}"), files)
    }

    /// The same for a task of any name.
    pub fn writes_as(&self, task: &str, files: &[(&str, &str)]) -> &Self {
        let (modified, created): (Vec<&str>, Vec<&str>) = {
            let mut lines = self.lines.lock().unwrap();
            files.iter().map(|(path, _)| *path).partition(|path| !lines.known.insert((*path).to_owned()))
        };
        let write: serde_json::Map<String, Value> =
            files.iter().map(|(path, text)| ((*path).to_owned(), json!(text))).collect();
        self.step(json!({
            "role": "player",
            "task": task,
            "write": write,
            "answer": report(&modified, &created),
        }))
    }

    /// The Player of a task does what [`Task::new`] asks for.
    pub fn plays(&self, task: u16) -> &Self {
        let (file, text) = (format!("hello/{task}.txt"), format!("hello {task}\n"));
        self.writes(task, &[(&file, &text)])
    }

    /// The Coach approves a task of one criterion.
    pub fn approves(&self, task: u16) -> &Self {
        self.approves_as(&format!("TASK-{task:03}"), &format!("hello/{task}.txt says hello"))
    }

    /// The Coach approves a task of any name and of one criterion.
    pub fn approves_as(&self, task: &str, evidence: &str) -> &Self {
        self.step(json!({
            "role": "coach",
            "task": task,
            "answer": {
                "decision": "approve",
                "summary": "It says hello.",
                "criteria": [{"criterion": 1, "met": true, "evidence": evidence}],
            },
        }))
    }

    /// The Coach wants more.
    pub fn feedback(&self, task: u16, description: &str) -> &Self {
        self.step(json!({
            "role": "coach",
            "task": format!("TASK-{task:03}"),
            "answer": {
                "decision": "feedback",
                "summary": "Not yet.",
                "criteria": [{"criterion": 1, "met": false, "evidence": ""}],
                "issues": [{
                    "severity": "must_fix",
                    "category": "correctness",
                    "description": description,
                    "file": format!("hello/{task}.txt"),
                    "line": 1,
                    "suggestion": "Say hello.",
                }],
            },
        }))
    }

    /// The usual case: the task is played and approved in one turn.
    pub fn succeeds(&self, task: u16) -> &Self {
        self.plays(task).approves(task)
    }

    /// The Player of a task does what [`Task::new`] asks for, and reports these costs.
    pub fn plays_for(&self, task: u16, usd: f64) -> &Self {
        let file = format!("hello/{task}.txt");
        self.step(json!({
            "role": "player",
            "task": format!("TASK-{task:03}"),
            "write": {file.clone(): format!("hello {task}\n")},
            "usage": {"usd": usd, "input": 1000, "output": 200},
            "answer": report(&[], &[&file]),
        }))
    }

    /// Adds a run of a role in which its model fails.
    pub fn fails(&self, role: &str, how: &str) -> &Self {
        self.step(json!({"role": role, "fail": how}))
    }

    /// Returns the steps that no run used.
    pub fn unread(&self, state: &Path) -> Vec<Value> {
        let mut taken = BTreeSet::new();
        for entry in std::fs::read_dir(state).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with("script-") || !name.ends_with(".json") {
                continue;
            }
            let memory: Value = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()).unwrap();
            for step in memory["steps"].as_object().into_iter().flatten() {
                taken.insert(usize::try_from(step.1.as_u64().unwrap()).unwrap());
            }
        }
        let lines = self.lines.lock().unwrap();
        let steps = lines.steps.iter().enumerate();
        steps.filter(|(at, _)| !taken.contains(at)).map(|(_, step)| step.clone()).collect()
    }
}

/// Returns a report of a Player.
pub fn report(modified: &[&str], created: &[&str]) -> Value {
    json!({
        "approach": "Wrote it down.",
        "summary": "Said hello.",
        "files_modified": modified,
        "files_created": created,
        "tests_run": true,
        "tests_passed": true,
        "ready_for_validation": true,
    })
}
