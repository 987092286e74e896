//! Describes the changes in a Feature since the last look for a terminal, from the Feature and not from posted texts.

use crate::{
    cli::stage::{
        terminal::{Terminal, Tone},
        wrap,
    },
    messages,
    messages::clean,
};
use domain::{
    cost::Spending,
    decision::Outcome,
    feature::{Feature, State},
    ids::TaskId,
    task,
    task::Task,
};
use std::collections::BTreeMap;
use text::secret::Secrets;

/// The start of the lines below an entry.
pub(super) const GUTTER: &str = "                               │ ";

/// The indentation of the text in a line that begins with the time.
pub(super) const AFTER_TIME: &str = "           ";

/// The rows of a text that are shown: of one that sends work back or stops it, and of any other. The file holds all.
const MOST_ROWS_OF_BAD: usize = 24;
pub(super) const MOST_ROWS: usize = 12;
/// The columns of one row in a usual terminal.
const ROW: usize = 80;
/// The most columns of one line.
const WIDTH: usize = 600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsEntry {
    pub place: Place,
    pub text: String,
    pub tone: Tone,
    /// The text below it; empty if there is none.
    pub below: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The state of the whole Feature, as a heading of the following entries.
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
    /// Returns the changes in the Feature since the last call.
    pub fn take(&mut self, feature: &Feature, spending: &Spending) -> Vec<NewsEntry> {
        let verdicts = feature.tasks.iter().flat_map(|task| self.verdicts(task));
        let verdicts: Vec<NewsEntry> = verdicts.collect();
        let state = self.state(feature);
        let rows = feature.tasks.iter().filter_map(|task| self.row(feature, task));
        let rows: Vec<NewsEntry> = rows.collect();
        let notes = self.notes(feature, spending);
        verdicts.into_iter().chain(state).chain(rows).chain(notes).collect()
    }

    fn state(&mut self, feature: &Feature) -> Option<NewsEntry> {
        let text = messages::state_in_terminal(feature);
        if text == self.state {
            return None;
        }
        self.state.clone_from(&text);
        Some(NewsEntry {
            place: Place::State,
            text,
            tone: tone_of_state(&feature.state),
            below: messages::stopped_feature(feature).unwrap_or_default(),
        })
    }

    /// Returns the verdicts of turns that were judged since the last look.
    fn verdicts(&mut self, task: &Task) -> Vec<NewsEntry> {
        let judged = task.turns.iter().filter_map(|turn| Some((turn, turn.verdict.as_ref()?)));
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
            NewsEntry {
                place: Place::Row,
                text: format!("{} {}: {does}, turn {number} of {limit}", task.id, name(task)),
                tone,
                below: messages::verdict_in_terminal(task, turn, verdict),
            }
        })
        .collect()
    }

    fn row(&mut self, feature: &Feature, task: &Task) -> Option<NewsEntry> {
        let text = messages::task_in_terminal(task);
        let view = self.tasks.entry(task.id).or_default();
        if text == view.line {
            return None;
        }
        view.line.clone_from(&text);
        Some(NewsEntry {
            place: Place::Row,
            text,
            tone: tone_of_task(&task.state),
            below: messages::stopped_task(feature, task).unwrap_or_default(),
        })
    }

    /// Returns the lines of remarks that are new since the last look.
    fn notes(&mut self, feature: &Feature, spending: &Spending) -> Vec<NewsEntry> {
        let notes = messages::notes_in_terminal(feature, spending);
        let lines = notes.iter().flat_map(|note| note.lines()).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        let before = std::mem::replace(&mut self.notes, lines);
        let new = self.notes.iter().filter(|line| !before.contains(line));
        new.map(|line| NewsEntry { place: Place::Row, text: line.clone(), tone: Tone::Plain, below: String::new() })
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

impl NewsEntry {
    /// Returns it without secrets; it may quote a program.
    pub fn masked(&self, secrets: &Secrets) -> Self {
        Self { text: secrets.mask(&self.text), below: secrets.mask(&self.below), ..*self }
    }

    /// Prints it after `lead`, and a long text below it only in part.
    pub fn print(&self, terminal: &Terminal, lead: &str, is_whole: bool) {
        if self.place == Place::State {
            terminal.line("", "", "", Tone::Plain);
        }
        let (mark, text) = self.marked();
        terminal.line(&format!("{lead}{mark}"), AFTER_TIME, &text, self.tone);
        let rows = match self.tone {
            Tone::Bad => MOST_ROWS_OF_BAD,
            Tone::Plain | Tone::Quiet | Tone::Loud | Tone::Good | Tone::Warning | Tone::Working => MOST_ROWS,
        };
        let below = self.below();
        for line in if is_whole { below } else { clipped(below, rows) } {
            terminal.line(GUTTER, GUTTER, &line, Tone::Plain);
        }
    }

    /// Returns all its lines for a file, each with the text before it.
    pub fn lines(&self, lead: &str) -> Vec<(String, String)> {
        let (mark, text) = self.marked();
        let blank = (self.place == Place::State).then(Default::default);
        let below = self.below().into_iter().map(|line| (GUTTER.to_owned(), line));
        blank.into_iter().chain([(format!("{lead}{mark}"), text)]).chain(below).collect()
    }

    fn marked(&self) -> (&'static str, String) {
        match self.place {
            Place::State => ("── ", format!("{} ──", self.text)),
            Place::Row => (" · ", self.text.clone()),
        }
    }

    fn below(&self) -> Vec<String> {
        let lines = self.below.lines().filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}

/// Returns the first lines, as many as fill this many rows of a usual terminal, and a mark if more follow.
pub(super) fn clipped(lines: Vec<String>, rows: usize) -> Vec<String> {
    let mut used = 0;
    let mut shown = Vec::new();
    for line in lines {
        if used >= rows {
            shown.push("…".to_owned());
            break;
        }
        let line = wrap::cut_at_word(&line, WIDTH);
        used += line.chars().count() / ROW + 1;
        shown.push(line);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        blocked::BlockReason,
        ci::CiPolicy,
        feature::{
            Commands, Discussion, Mode, PlanApproval, PlanKind, Records, Rules, Snapshot, Trust, WaivedConclusion,
            step::labelled,
        },
        ids::{InstallationId, Millis, User, UserId},
        inquiry::InquiryPolicy,
        plan::PlannedTask,
        task::MergePolicy,
        titles::TitleForm,
    };

    #[test]
    fn a_long_text_is_clipped_after_whole_lines() {
        let lines = |count: usize, line: &str| vec![line.to_owned(); count];
        assert_eq!(clipped(lines(3, "a"), 3), lines(3, "a"));
        assert_eq!(clipped(lines(4, "a"), 3).concat(), "aaa…");
        assert_eq!(clipped(lines(4, &"x".repeat(200)), 4).len(), 3, "a long line fills several rows");
    }

    fn feature() -> Feature {
        let person = User { id: UserId(1), login: "ada".to_owned() };
        let snapshot = Snapshot {
            title: "Tally".to_owned(),
            body: String::new(),
            author: person.clone(),
            labelled_by: person,
            at: Millis(0),
            requested_at: Millis(0),
            trust: Trust::Writers,
            wanted: PlanKind::Plan,
            parts: text::visible::HiddenParts::default(),
            discussion: Discussion::default(),
        };
        let rules = Rules {
            max_turns: 2,
            max_parallel_tasks: 2,
            merge: MergePolicy::Auto,
            plan_approval: PlanApproval::Never,
            mode: Mode::default(),
            ci: CiPolicy::default(),
            inquiries: InquiryPolicy::default(),
            records: Records::default(),
            commands: Commands::default(),
            titles: TitleForm::default(),
            waived: WaivedConclusion::default(),
        };
        labelled("1/1/1".parse().unwrap(), InstallationId(1), snapshot, rules).feature
    }

    #[test]
    fn only_what_changed_is_news_and_a_block_says_why() {
        let (mut news, mut feature) = (News::default(), feature());
        let mut take = |feature: &Feature| news.take(feature, &Spending::default());
        let first = take(&feature);
        assert_eq!((first.len(), first[0].place, first[0].tone), (1, Place::State, Tone::Loud));
        assert!(first[0].text.starts_with("planning. "), "{first:?}");
        assert_eq!(take(&feature), []);

        let plan = serde_json::json!({"id": "TASK-001", "name": "Lines", "type": "feature", "description": "",
            "acceptance_criteria": [], "files": [], "dependencies": [],
            "factors": {"integration_points": 1, "tests": "unit", "risks": []}});
        let plan: PlannedTask = serde_json::from_value(plan).unwrap();
        feature.tasks = vec![Task::planned(plan, 1, &feature.task_rules())];
        let task = &take(&feature)[0];
        assert_eq!((task.text.as_str(), task.tone), ("TASK-001 Lines: not started", Tone::Quiet));

        feature.tasks[0].state = task::State::Blocked { reason: BlockReason::NoChangeTwice };
        let blocked = &take(&feature)[0];
        assert_eq!((blocked.text.as_str(), blocked.tone), ("TASK-001 Lines: blocked", Tone::Bad));
        assert!(blocked.below.starts_with("Two turns in a row changed nothing."), "{blocked:?}");
        assert!(blocked.below.contains("What you can do:"), "{blocked:?}");
        let lines = blocked.lines("1.0s");
        assert_eq!(lines[0], ("1.0s · ".to_owned(), "TASK-001 Lines: blocked".to_owned()));
        assert!(lines[1..].iter().all(|(lead, text)| lead == GUTTER && !text.is_empty()), "{lines:?}");
    }
}
