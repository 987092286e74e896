//! Finds out what is new in a Feature since the last look, and words it for a terminal. It reads the Feature alone, never
//! a text that was posted.

use crate::{cli::stage::terminal::Tone, messages, messages::clean};
use domain::{
    cost::Spending,
    decision::Outcome,
    feature::{Feature, State},
    ids::TaskId,
    task,
    task::Task,
};
use std::collections::BTreeMap;

/// One piece of news.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub place: Place,
    pub text: String,
    pub tone: Tone,
    /// The text below it; empty if there is none.
    pub below: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The state of the whole Feature, under which the following entries stand.
    State,
    /// A task or a remark.
    Row,
}

/// The parts of a Feature that were shown.
#[derive(Debug, Default)]
pub struct News {
    state: String,
    tasks: BTreeMap<TaskId, TaskView>,
    notes: Vec<String>,
}

#[derive(Debug, Default)]
struct TaskView {
    line: String,
    /// The number of turns with a verdict, over all attempts.
    judged: usize,
}

impl News {
    /// Returns what is new in the Feature.
    pub fn take(&mut self, feature: &Feature, spending: &Spending) -> Vec<Entry> {
        let verdicts = feature.tasks.iter().flat_map(|task| self.verdicts(task));
        let verdicts: Vec<Entry> = verdicts.collect();
        let state = self.state(feature);
        let rows = feature.tasks.iter().filter_map(|task| self.row(feature, task));
        let rows: Vec<Entry> = rows.collect();
        let notes = self.notes(feature, spending);
        verdicts.into_iter().chain(state).chain(rows).chain(notes).collect()
    }

    fn state(&mut self, feature: &Feature) -> Option<Entry> {
        let text = messages::state_in_terminal(feature);
        if text == self.state {
            return None;
        }
        self.state.clone_from(&text);
        Some(Entry {
            place: Place::State,
            text,
            tone: tone_of_state(&feature.state),
            below: messages::stopped_feature(feature).unwrap_or_default(),
        })
    }

    /// Returns the verdicts of turns that were judged since the last look.
    fn verdicts(&mut self, task: &Task) -> Vec<Entry> {
        let judged = task
            .turns
            .iter()
            .filter_map(|turn| Some((turn, turn.verdict.as_ref()?)));
        let judged: Vec<_> = judged.collect();
        let view = self.tasks.entry(task.id).or_default();
        let before = std::mem::replace(&mut view.judged, judged.len());
        let new = judged.into_iter().skip(before);
        new.map(|(turn, verdict)| {
            let (does, tone) = match verdict.outcome {
                Outcome::Approve => ("the Coach approves", Tone::Good),
                Outcome::Feedback => ("changes requested", Tone::Bad),
            };
            let (limit, number) = (task.limit.max(turn.number.0), turn.number);
            Entry {
                place: Place::Row,
                text: format!("{} {}: {does}, turn {number} of {limit}", task.id, name(task)),
                tone,
                below: messages::verdict_in_terminal(task, turn, verdict),
            }
        })
        .collect()
    }

    fn row(&mut self, feature: &Feature, task: &Task) -> Option<Entry> {
        let text = messages::task_in_terminal(task);
        let view = self.tasks.entry(task.id).or_default();
        if text == view.line {
            return None;
        }
        view.line.clone_from(&text);
        Some(Entry {
            place: Place::Row,
            text,
            tone: tone_of_task(&task.state),
            below: messages::stopped_task(feature, task).unwrap_or_default(),
        })
    }

    /// Returns the lines of remarks that did not stand there at the last look.
    fn notes(&mut self, feature: &Feature, spending: &Spending) -> Vec<Entry> {
        let notes = messages::notes_in_terminal(feature, spending);
        let lines = notes
            .iter()
            .flat_map(|note| note.lines())
            .filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let before = std::mem::replace(&mut self.notes, lines);
        let new = self.notes.iter().filter(|line| !before.contains(line));
        new.map(|line| Entry {
            place: Place::Row,
            text: line.clone(),
            tone: Tone::Plain,
            below: String::new(),
        })
        .collect()
    }
}

fn name(task: &Task) -> String {
    clean(&task.plan.name).replace('\n', " ")
}

fn tone_of_state(state: &State) -> Tone {
    match state {
        State::Blocked { .. } | State::Failed { .. } => Tone::Bad,
        State::Completed | State::InReview => Tone::Good,
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Paused { .. }
        | State::Cancelled { .. } => Tone::Loud,
    }
}

fn tone_of_task(state: &task::State) -> Tone {
    match state {
        task::State::Blocked { .. } => Tone::Bad,
        task::State::Completed { .. } => Tone::Good,
        task::State::Pending
        | task::State::PreLoop { .. }
        | task::State::PlayerTurn { .. }
        | task::State::CoachTurn { .. }
        | task::State::Approved { .. }
        | task::State::Skipped { .. }
        | task::State::Cancelled => Tone::Quiet,
    }
}
