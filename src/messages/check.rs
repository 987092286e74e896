//! Verdicts and wave gates as check runs.

use crate::messages::{
    findings, gates, items,
    links::Links,
    measure::{Measure, after, codes, fitting, folded, listed, sections},
    reasons, review,
    review::Told,
    untrusted, words,
};
use domain::{
    decision::Outcome,
    evidence,
    evidence::{Profile, profile},
    feature::{Feature, WaveGate, flow::strictest},
    ids::Sha,
    task::{State, Task, Turn, Waiver},
};

/// The most characters of a title; GitHub accepts 255.
const TITLE: usize = 200;

/// The content of a completed check run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// One line, without Markdown.
    pub title: String,
    /// Markdown: the decision, criteria, Gates, items.
    pub summary: String,
    /// The conclusion.
    pub conclusion: Conclusion,
}

/// The conclusion of a check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The verdict approves, or a person overrode the Coach.
    Success,
    /// The verdict asks for changes.
    Failure,
    /// A person has to decide.
    ActionRequired,
}

/// Returns the check run `AutoBuild` on a turn's commit; `None` before there is a decision.
pub fn check_run(feature: &Feature, task: &Task, turn: &Turn, links: &Links) -> Option<CheckRun> {
    let newest = task.standing_turn().is_some_and(|newest| newest.number == turn.number);
    let (title, conclusion) = standing(task, turn, newest)?;
    let waiver = task.waived.last();
    let waiver = waiver.filter(|_| newest && conclusion == Conclusion::Success);
    let summary = fitting(|measure| {
        sections(vec![
            review::facts(&Told {
                feature,
                task,
                turn,
                links,
            }),
            blocked_line(task, newest, measure),
            waiver.map_or_else(String::new, |waiver| waived(waiver, measure)),
            turn.verdict
                .as_ref()
                .map_or_else(String::new, |verdict| findings::coach_words(verdict, measure)),
            details(task, turn, measure),
        ])
    });
    Some(CheckRun {
        title: untrusted::plain(&title, TITLE),
        summary,
        conclusion,
    })
}

/// Returns a check run that could not be published, as a comment.
pub fn check_in_words(check: &CheckRun, head: &Sha) -> String {
    sections(vec![
        format!(
            "The check run `AutoBuild` could not be published on `{}`. It says: **{}**",
            head.short(),
            check.title
        ),
        folded("Its summary", &check.summary),
    ])
}

/// Returns the check run `AutoBuild` on the head of a blocked task's branch if no turn is about that commit: a person
/// pushed it, or it is the work of a Player that failed.
pub fn blocked_check(feature: &Feature, task: &Task) -> Option<CheckRun> {
    let State::Blocked { reason } = &task.state else {
        return None;
    };
    let summary = fitting(|measure| {
        sections(vec![
            format!("{} {}: nobody judged this commit.", feature.key.shown(), task.id),
            reasons::blocked(reason, measure),
        ])
    });
    Some(CheckRun {
        title: match task.inquiries() {
            Some(_) => "Asks: a person has to answer".to_owned(),
            None => "Blocked: a person has to decide".to_owned(),
        },
        summary,
        conclusion: Conclusion::ActionRequired,
    })
}

/// Returns title and conclusion: a person's override counts, and a blocked task needs a person.
fn standing(task: &Task, turn: &Turn, newest: bool) -> Option<(String, Conclusion)> {
    let verdict = turn.verdict.as_ref().map(|verdict| verdict.outcome);
    let last = task.last_turn().unwrap_or(turn);
    let waiver = task.waived.last();
    let waiver = waiver.filter(|_| newest && verdict != Some(Outcome::Approve));
    match (&task.state, waiver, verdict) {
        (State::Approved { .. } | State::Completed { .. }, Some(waiver), _) => Some((
            format!("Approved by {} over the Coach", waiver.by.login),
            Conclusion::Success,
        )),
        (State::Blocked { .. }, _, _) if newest && task.inquiries().is_some() => Some((
            format!("Asks after turn {}: a person has to answer", last.number),
            Conclusion::ActionRequired,
        )),
        (State::Blocked { .. }, _, _) if newest => Some((
            format!("Blocked after turn {}: a person has to decide", last.number),
            Conclusion::ActionRequired,
        )),
        (_, _, Some(Outcome::Approve)) => Some((format!("✅ Approved at turn {}", turn.number), Conclusion::Success)),
        (_, _, Some(Outcome::Feedback)) => Some((
            format!("❌ Changes requested at turn {}", turn.number),
            Conclusion::Failure,
        )),
        (_, _, None) => None,
    }
}

fn blocked_line(task: &Task, newest: bool, measure: &Measure) -> String {
    if let (State::Blocked { reason }, true) = (&task.state, newest) {
        return reasons::blocked(reason, measure);
    }
    String::new()
}

/// Returns who overrode the Coach, everything that was overridden, and the tests that now count as failing before.
pub(super) fn waived(waiver: &Waiver, measure: &Measure) -> String {
    let what = listed(&waiver.what, measure.rows.min(40), measure.text.min(600));
    let tests = codes(&waiver.tests, measure.rows.min(40), 200);
    let who = format!("{} approved over the Coach", words::person(&waiver.by));
    sections(vec![
        match what.is_empty() {
            true => format!("{who}."),
            false => format!("{who} and waived:\n\n{what}"),
        },
        after("These failing tests belong to the baseline from now on: ", &tests),
    ])
}

fn details(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let open = turn.verdict.as_ref().map_or_else(String::new, |verdict| {
        let listed: Vec<_> = verdict.items.iter().collect();
        sections(vec![
            findings::lowered(verdict, measure),
            findings::open(task, turn, verdict, &listed, measure),
        ])
    });
    sections(vec![open, findings::record(task, turn, measure)])
}

/// Says why the evidence also holds for another commit.
fn stands_for(gate: &WaveGate) -> String {
    gate.stands_for.as_ref().map_or_else(String::new, |head| {
        format!("`{}` differs from it in AutoBuild's records alone.", head.short())
    })
}

/// Returns the check run `AutoBuild` on the feature pull request's head, with a wave gate's result.
pub fn wave_check(feature: &Feature, gate: &WaveGate) -> CheckRun {
    let (title, conclusion) = match profile(strictest(feature), &gate.report) {
        Profile::Passed => ("The merged result holds", Conclusion::Success),
        Profile::Failed(_) => ("The merged result does not hold", Conclusion::Failure),
        Profile::Absent(_) => ("The merged result could not be checked", Conclusion::ActionRequired),
    };
    let kind = strictest(feature);
    let failed = evidence::items(kind, &gate.report);
    let summary = fitting(|measure| {
        sections(vec![
            format!(
                "{}: the Gates on the integration branch after wave {}, on commit `{}`: {}.",
                feature.key.shown(),
                gate.wave,
                gate.head.short(),
                gates::line(&gate.report)
            ),
            stands_for(gate),
            items::by_severity(&failed, measure),
            gates::folded_table(kind, &gate.report, &failed, measure),
        ])
    });
    CheckRun {
        title: title.to_owned(),
        summary,
        conclusion,
    }
}
