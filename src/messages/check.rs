//! Verdicts and wave gates as check runs.

use crate::domain::decision::Outcome;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::feature::Feature;
use crate::domain::feature::flow::strictest;
use crate::domain::task::State;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::domain::task::Waiver;
use crate::messages::gates;
use crate::messages::items;
use crate::messages::links::Links;
use crate::messages::measure::Measure;
use crate::messages::measure::bullets;
use crate::messages::measure::fitting;
use crate::messages::measure::sections;
use crate::messages::measure::titled;
use crate::messages::reasons;
use crate::messages::review;
use crate::messages::untrusted;
use crate::messages::words;

/// GitHub takes 255 characters of a title.
const TITLE: usize = 200;

/// What a check run says once it is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// One line, without Markdown.
    pub title: String,
    /// What stands above the text.
    pub summary: String,
    /// Criteria, Gates, items.
    pub text: String,
    /// How it ended.
    pub conclusion: Conclusion,
}

/// How a check run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The verdict approves, or a person overrode it.
    Success,
    /// The verdict asks for changes.
    Failure,
    /// A person has to decide.
    ActionRequired,
    /// There is no verdict.
    Neutral,
}

impl Conclusion {
    /// GitHub's word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::ActionRequired => "action_required",
            Self::Neutral => "neutral",
        }
    }
}

/// The check run `AutoBuild` on a turn's commit.
#[must_use]
pub fn check_run(feature: &Feature, task: &Task, turn: &Turn, links: &Links) -> CheckRun {
    let newest = task.turns.last().is_some_and(|last| last.number == turn.number);
    let (title, conclusion) = standing(task, turn, newest);
    let waiver = task
        .waived
        .last()
        .filter(|_| newest && conclusion == Conclusion::Success);
    let summary = fitting(|measure| {
        sections(vec![
            format!(
                "{} of {}, turn {} of {}.",
                task.id,
                feature.key.shown(),
                turn.number,
                task.limit.max(turn.number.0)
            ),
            blocked_line(task, newest, measure),
            waiver.map_or_else(String::new, |waiver| waived(waiver, measure)),
            turn.verdict
                .as_ref()
                .map_or_else(String::new, |verdict| review::coach_words(verdict, measure)),
        ])
    });
    let _ = links;
    CheckRun {
        title: untrusted::plain(&title, TITLE),
        summary,
        text: fitting(|measure| text(task, turn, measure)),
        conclusion,
    }
}

/// Title and conclusion: a person's override counts, and a task that is blocked waits for a person.
fn standing(task: &Task, turn: &Turn, newest: bool) -> (String, Conclusion) {
    let verdict = turn.verdict.as_ref().map(|verdict| verdict.outcome);
    let waiver = task
        .waived
        .last()
        .filter(|_| newest && verdict != Some(Outcome::Approve));
    match (&task.state, waiver, verdict) {
        (State::Approved { .. } | State::Completed { .. }, Some(waiver), _) => (
            format!("Approved by {} over the Coach", waiver.by.login),
            Conclusion::Success,
        ),
        (State::Blocked { .. }, _, _) if newest => (
            format!("Blocked after turn {}: a person has to decide", turn.number),
            Conclusion::ActionRequired,
        ),
        (_, _, Some(Outcome::Approve)) => (format!("✅ Approved at turn {}", turn.number), Conclusion::Success),
        (_, _, Some(Outcome::Feedback)) => (
            format!("❌ Changes requested at turn {}", turn.number),
            Conclusion::Failure,
        ),
        (_, _, None) => (format!("No verdict at turn {}", turn.number), Conclusion::Neutral),
    }
}

fn blocked_line(task: &Task, newest: bool, measure: &Measure) -> String {
    match &task.state {
        State::Blocked { reason } if newest => reasons::blocked(reason, measure),
        State::Blocked { .. }
        | State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => String::new(),
    }
}

/// Who overrode the Coach, and everything that stood against the work.
pub(super) fn waived(waiver: &Waiver, measure: &Measure) -> String {
    let what = bullets(&waiver.what, measure.rows.min(40), |what| {
        untrusted::inline(what, measure.text.min(600))
    });
    let who = format!("{} approved over the Coach", words::person(&waiver.by));
    match what.is_empty() {
        true => format!("{who}."),
        false => format!("{who} and waived:\n\n{what}"),
    }
}

fn text(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let Some(verdict) = &turn.verdict else {
        return titled("#### Gates", &review::gates_of(turn, measure));
    };
    let listed: Vec<_> = verdict.items.iter().collect();
    sections(vec![
        titled(
            "#### Why the Coach's approval does not stand",
            &review::broken(verdict, measure),
        ),
        titled("#### Criteria", &review::criteria(task, verdict, measure)),
        titled("#### Gates", &review::gates_of(turn, measure)),
        titled("#### Claims that are not so", &review::discrepancies(turn, measure)),
        titled("#### Items", &items::by_severity(&listed, measure)),
    ])
}

/// The check run `AutoBuild` on the feature pull request's head: what the newest wave gate found.
#[must_use]
pub fn wave_check(feature: &Feature, links: &Links) -> CheckRun {
    let Some(gate) = feature.gates.last() else {
        return CheckRun {
            title: "No wave gate ran".to_owned(),
            summary: "No Gate ran on this commit.".to_owned(),
            text: String::new(),
            conclusion: Conclusion::Neutral,
        };
    };
    let (title, conclusion) = match profile(strictest(feature), &gate.report) {
        Profile::Passed => ("The merged result holds", Conclusion::Success),
        Profile::Failed(_) => ("The merged result does not hold", Conclusion::Failure),
        Profile::Absent(_) => ("The merged result could not be checked", Conclusion::ActionRequired),
    };
    CheckRun {
        title: title.to_owned(),
        summary: format!(
            "{}: the Gates on the integration branch after wave {}, on {}: {}.",
            feature.key.shown(),
            gate.wave,
            links.commit(&gate.head),
            gates::line(&gate.report)
        ),
        text: fitting(|measure| gates::table(&gate.report, measure)),
        conclusion,
    }
}
