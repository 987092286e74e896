//! Scripts: YAML lists of prepared steps, for demonstrations and tests. This module only parses them and runs nothing.

use crate::config::Role;
use domain::{blocked::Failure, ids::TaskId};
use serde_json::Value as Json;
use std::path::PathBuf;
use text::{
    mistake::Position,
    nearest::nearest,
    node::{Key, Node, Shape as Value},
    usage::Usage,
};

const MAX_BYTES: usize = 4 * 1024 * 1024;
const KEYS: [&str; 9] = ["role", "task", "turn", "write", "delete", "answer", "fail", "retry_after", "usage"];

/// One prepared run. A missing role, task or turn matches every run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScriptStep {
    pub(crate) role: Option<Role>,
    pub(crate) task: Option<TaskId>,
    pub(crate) turn: Option<u32>,
    pub(crate) write: Vec<(PathBuf, String)>,
    pub(crate) delete: Vec<PathBuf>,
    pub(crate) answer: Option<Json>,
    pub(crate) fail: Option<ScriptedFailure>,
    /// The usage that it reports; `None` if it reports none.
    pub(crate) usage: Option<Usage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptedFailure {
    /// Like an exit with code 1.
    Exit,
    Timeout,
    /// Like a text that is no answer.
    Garbage,
    /// Like a failure of the model.
    Model(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ScriptMistake {
    pub place: Position,
    pub problem: ScriptProblem,
}

/// A mistake in a script, with the values that would be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// The parser's message.
    #[error("{0}")]
    Unreadable(String),
    #[error("a script is a list of steps")]
    NoList,
    #[error("a step is a table with the keys {}", KEYS.join(", "))]
    NoTable,
    #[error("a step has no key `{name}`{}; valid: {}", did_you_mean(*nearest), KEYS.join(", "))]
    Key { name: String, nearest: Option<&'static str> },
    #[error("`role` is one of {}", Role::ALL.map(Role::word).join(", "))]
    Role,
    #[error("`task` is a task's id, such as TASK-001")]
    Task,
    #[error("`turn` is a whole number from 1")]
    Turn,
    #[error("`fail` is exit, timeout or garbage, or of the model: {FAILURES}")]
    Fail,
    #[error("`retry_after` is a whole number of seconds")]
    RetryAfter,
    #[error("`answer` is a table: the object that the agent answers")]
    Answer,
    #[error("`write` is a table of paths and texts")]
    Write,
    #[error("a file's text is a text; put it in quotes or after `|`")]
    Text,
    #[error("`delete` is a list of paths")]
    Delete,
    #[error("`{0}` is not a path within the repository")]
    Path(String),
    #[error("`usage` is a table of numbers from 0; valid: {USED}")]
    Usage,
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(", did you mean `{nearest}`?"))
}

impl ScriptStep {
    /// Returns `true` if the run has this step's role, task and turn.
    pub(crate) fn matches(&self, role: Role, task: Option<TaskId>, turn: Option<u32>) -> bool {
        self.role.is_none_or(|given| given == role)
            && self.task.is_none_or(|given| Some(given) == task)
            && self.turn.is_none_or(|given| Some(given) == turn)
    }
}

pub(crate) fn read(text: &str) -> Result<Vec<ScriptStep>, ScriptMistake> {
    let node = Node::from_yaml(text, MAX_BYTES).map_err(|error| ScriptMistake {
        place: error.place.unwrap_or(Position::START),
        problem: ScriptProblem::Unreadable(error.sentence),
    })?;
    match node.items() {
        Some(items) => items.iter().map(step).collect(),
        None if node.value == Value::Null => Ok(Vec::new()),
        None => Err(wrong(&node, ScriptProblem::NoList)),
    }
}

fn step(node: &Node) -> Result<ScriptStep, ScriptMistake> {
    let Some(entries) = node.entries() else {
        return Err(wrong(node, ScriptProblem::NoTable));
    };
    let mut step = ScriptStep::default();
    let given = entries.iter().find(|(key, _)| key.name == "retry_after");
    let retry_after = given.map(|(_, value)| seconds(value)).transpose()?;
    for (key, value) in entries {
        match key.name.as_str() {
            "role" => step.role = Some(role(value)?),
            "task" => step.task = Some(task(value)?),
            "turn" => step.turn = Some(turn(value)?),
            "write" => step.write = files(value)?,
            "delete" => step.delete = paths(value)?,
            "answer" => step.answer = Some(answer(value)?),
            "fail" => step.fail = Some(failure(value, retry_after)?),
            "retry_after" => {}
            "usage" => step.usage = Some(usage(value)?),
            _ => return Err(unknown(key)),
        }
    }
    Ok(step)
}

fn unknown(key: &Key) -> ScriptMistake {
    ScriptMistake {
        place: key.at(),
        problem: ScriptProblem::Key { name: key.name.chars().take(60).collect(), nearest: nearest(&key.name, KEYS) },
    }
}

fn role(node: &Node) -> Result<Role, ScriptMistake> {
    node.text().and_then(|text| text.parse().ok()).ok_or_else(|| wrong(node, ScriptProblem::Role))
}

fn task(node: &Node) -> Result<TaskId, ScriptMistake> {
    let id = node.text().and_then(|text| text.parse().ok());
    id.ok_or_else(|| wrong(node, ScriptProblem::Task))
}

fn turn(node: &Node) -> Result<u32, ScriptMistake> {
    let turn = node.whole().and_then(|turn| u32::try_from(turn).ok());
    turn.filter(|turn| *turn > 0).ok_or_else(|| wrong(node, ScriptProblem::Turn))
}

fn failure(node: &Node, retry_after: Option<u64>) -> Result<ScriptedFailure, ScriptMistake> {
    let word = node.text().unwrap_or_default();
    match word {
        "exit" => Ok(ScriptedFailure::Exit),
        "timeout" => Ok(ScriptedFailure::Timeout),
        "garbage" => Ok(ScriptedFailure::Garbage),
        word => {
            model_failure(word, retry_after).map(ScriptedFailure::Model).ok_or_else(|| wrong(node, ScriptProblem::Fail))
        }
    }
}

fn seconds(node: &Node) -> Result<u64, ScriptMistake> {
    let seconds = node.whole().and_then(|seconds| u64::try_from(seconds).ok());
    seconds.ok_or_else(|| wrong(node, ScriptProblem::RetryAfter))
}

fn answer(node: &Node) -> Result<Json, ScriptMistake> {
    let answer = node.entries().map(|_| node.to_json());
    answer.ok_or_else(|| wrong(node, ScriptProblem::Answer))
}

fn files(node: &Node) -> Result<Vec<(PathBuf, String)>, ScriptMistake> {
    let Some(entries) = node.entries() else {
        return Err(wrong(node, ScriptProblem::Write));
    };
    let file = |(key, value): &(Key, Node)| {
        let path = path(&key.name, key.at())?;
        let text = value.text().ok_or_else(|| wrong(value, ScriptProblem::Text))?;
        Ok((path, text.to_owned()))
    };
    entries.iter().map(file).collect()
}

fn paths(node: &Node) -> Result<Vec<PathBuf>, ScriptMistake> {
    let Some(items) = node.items() else {
        return Err(wrong(node, ScriptProblem::Delete));
    };
    let one = |item: &Node| {
        let name = item.text().ok_or_else(|| wrong(item, ScriptProblem::Delete))?;
        path(name, item.at())
    };
    items.iter().map(one).collect()
}

/// Checks that a path stays inside the checkout and outside `.git`.
fn path(name: &str, place: Position) -> Result<PathBuf, ScriptMistake> {
    let fine = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git") && !part.contains(['\0', '\\'])
    };
    if name.split('/').all(fine) {
        Ok(PathBuf::from(name))
    } else {
        Err(ScriptMistake { place, problem: ScriptProblem::Path(name.to_owned()) })
    }
}

fn wrong(node: &Node, problem: ScriptProblem) -> ScriptMistake {
    ScriptMistake { place: node.at(), problem }
}

/// The keys that `usage` may have.
const USED: &str = "usd, input, cached, cache_write, output, ms";

/// Reads `usage`: money in US dollars, tokens, milliseconds.
fn usage(node: &Node) -> Result<Usage, ScriptMistake> {
    let wrong = |node: &Node| wrong(node, ScriptProblem::Usage);
    let Some(entries) = node.entries() else {
        return Err(wrong(node));
    };
    let mut usage = Usage::default();
    for (key, value) in entries {
        let whole = || {
            let count = value.whole().and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| wrong(value))
        };
        match key.name.as_str() {
            "usd" => usage.usd_micros = Some(micros(value).ok_or_else(|| wrong(value))?),
            "input" => usage.tokens.input = whole()?,
            "cached" => usage.tokens.cached = whole()?,
            "cache_write" => usage.tokens.cache_write = whole()?,
            "output" => usage.tokens.output = whole()?,
            "ms" => usage.agent_ms = whole()?,
            _ => return Err(wrong(node)),
        }
    }
    Ok(usage)
}

fn micros(value: &Node) -> Option<u64> {
    let usd = value.number()?;
    (0.0..=1e9).contains(&usd).then(|| format!("{:.0}", usd * 1e6).parse().ok())?
}

/// The failures of a model that a step may name.
const FAILURES: &str = "rate_limited, unavailable, not_authorised, no_such_model, model_refused, \
                                   request_refused, prompt_too_long, output_limit, out_of_agent_turns, out_of_money";

fn model_failure(word: &str, retry_after_seconds: Option<u64>) -> Option<Failure> {
    let message = "as scripted".to_owned();
    Some(match word {
        "rate_limited" => Failure::RateLimited { message, retry_after_seconds },
        "unavailable" => Failure::Unavailable { message, retry_after_seconds },
        "not_authorised" => Failure::NotAuthorised { message },
        "no_such_model" => Failure::NoSuchModel { model: "scripted".to_owned(), message },
        "model_refused" => Failure::ModelRefused { message },
        "request_refused" => Failure::RequestRefused { status: 400, message },
        "prompt_too_long" => Failure::PromptTooLong,
        "output_limit" => Failure::OutputLimit,
        "out_of_agent_turns" => Failure::OutOfAgentTurns { turns: 1 },
        "out_of_money" => Failure::OutOfMoney,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{ScriptStep, ScriptedFailure, read};
    use crate::config::Role;
    use domain::ids::TaskId;
    use serde_json::json;
    use std::path::PathBuf;

    #[test]
    fn a_script_is_read() {
        let steps = read(
            "- role: player\n  task: TASK-001\n  turn: 2\n  write:\n    src/a.txt: |\n      one\n      two\n\
             \x20 delete: [old.txt]\n  answer: {summary: done, files_modified: [], line: 3, none: null}\n- fail: timeout\n",
        )
        .unwrap();
        assert_eq!(
            steps,
            [
                ScriptStep {
                    role: Some(Role::Player),
                    task: Some(TaskId::Planned(1)),
                    turn: Some(2),
                    write: vec![(PathBuf::from("src/a.txt"), "one\ntwo\n".to_owned())],
                    delete: vec![PathBuf::from("old.txt")],
                    answer: Some(json!({"summary": "done", "files_modified": [], "line": 3, "none": null})),
                    fail: None,
                    usage: None,
                },
                ScriptStep { fail: Some(ScriptedFailure::Timeout), ..ScriptStep::default() },
            ]
        );
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn every_mistake_has_its_place() {
        let table = [
            ("role: player", "line 1, column 1: a script is a list of steps"),
            ("- 3", "line 1, column 3: a step is a table"),
            ("- roll: player", "line 1, column 3: a step has no key `roll`, did you mean `role`?"),
            ("- role: boss", "line 1, column 9: `role` is one of planner"),
            ("- turn: 0", "`turn` is a whole number"),
            ("- task: 1", "`task` is a task's id"),
            ("- answer: done", "`answer` is a table"),
            ("- fail: crash", "`fail` is exit, timeout or garbage"),
            ("- retry_after: soon", "`retry_after` is a whole number"),
            ("- usage: {usd: -1}", "`usage` is a table of numbers"),
            ("- usage: {euro: 1}", "valid: usd, input"),
            ("- write: {/etc/x: a}", "`/etc/x` is not a path"),
            ("- write: {a/../../x: a}", "is not a path within"),
            ("- write: {.git/hooks/x: a}", "is not a path within"),
            ("- write: {a: 3}", "a file's text is a text"),
            ("- delete: ['']", "`` is not a path"),
            ("- {", "line 1"),
        ];
        for (text, expected) in table {
            let mistake = read(text).unwrap_err().to_string();
            assert!(mistake.contains(expected), "{text}: {mistake}");
        }
    }

    #[test]
    fn a_step_matches_what_it_gives() {
        let step = |text: &str| read(text).unwrap().remove(0);
        let task = Some(TaskId::Planned(1));
        assert!(step("- {}").matches(Role::Planner, None, None));
        assert!(step("- role: player").matches(Role::Player, task, Some(2)));
        assert!(!step("- role: player").matches(Role::Coach, task, Some(2)));
        assert!(step("- {task: TASK-001, turn: 2}").matches(Role::Coach, task, Some(2)));
        assert!(!step("- {task: TASK-001, turn: 1}").matches(Role::Coach, task, Some(2)));
        assert!(!step("- task: TASK-001").matches(Role::Planner, None, None));
    }
}
