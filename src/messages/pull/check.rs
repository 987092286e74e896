//! Verdicts and wave gates as check runs.

use crate::messages::{
    causes::{exposure, reasons},
    form::{
        links::Links,
        measure::{Measure, fitting, folded, sections},
        untrusted,
    },
    issue::headline,
    pull::{findings, gates, items, review, review::ReviewedTurn, waived, waived::Waived},
};
use domain::{
    ci::CheckConclusion,
    decision::Outcome,
    evidence,
    evidence::{Profile, profile},
    exposure::Exposure,
    feature::{Feature, Phase, WaveGate, flow::strictest},
    ids::Sha,
    task::{State, Task, Turn},
};

/// The most characters of a title; GitHub accepts 255.
const TITLE: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// One line, without Markdown.
    pub title: String,
    /// Markdown: the decision, criteria, Gates, items.
    pub summary: String,
    pub conclusion: CheckConclusion,
}

/// Returns the check run `AutoBuild` on a turn's commit; `None` before there is a decision.
pub fn check_run(feature: &Feature, task: &Task, turn: &Turn, links: &Links) -> Option<CheckRun> {
    let newest = task.turn_for_check().filter(|newest| newest.number == turn.number);
    let of_state = newest.and_then(|_| title_of_state(feature, task, turn));
    let (title, conclusion) = of_state.or_else(|| title_of_verdict(turn))?;
    let is_good = matches!(conclusion, CheckConclusion::Success | CheckConclusion::Neutral);
    let waiver = task.waived.last().filter(|_| is_good && !turn.is_approved());
    let summary = fitting(|measure| {
        sections(vec![
            review::facts(&ReviewedTurn { feature, task, turn, links }),
            newest.map_or_else(String::new, |_| blocked_line(task, measure)),
            newest.and(waiver).map_or_else(String::new, |waiver| waived::waived(waiver, measure)),
            turn.verdict.as_ref().map_or_else(String::new, |verdict| findings::coach_words(verdict, measure)),
            details(task, turn, measure),
        ])
    });
    Some(CheckRun { title: untrusted::shorten(&title, TITLE), summary, conclusion })
}

/// Returns a check run that could not be published, as a comment.
pub fn check_in_words(check: &CheckRun, head: &Sha) -> String {
    sections(vec![
        format!("The check run `AutoBuild` could not be published on `{}`. It says: **{}**", head.short(), check.title),
        folded("Its summary", &check.summary),
    ])
}

/// Returns the check run `AutoBuild` on the head of a blocked task's branch if no turn belongs to that commit: a person
/// pushed it, or it is the work of a Player that failed.
pub fn blocked_check(feature: &Feature, task: &Task) -> Option<CheckRun> {
    let State::Blocked { reason } = &task.state else {
        return None;
    };
    let summary = fitting(|measure| {
        sections(vec![
            format!("{} {}: nobody judged this commit.", feature.key.name(), task.id),
            reasons::blocked(reason, measure),
        ])
    });
    Some(CheckRun {
        title: match task.inquiries() {
            Some(_) => "Asks: a person has to answer".to_owned(),
            None => format!("Blocked: {}", headline::cause(reason)),
        },
        summary,
        conclusion: CheckConclusion::ActionRequired,
    })
}

/// Returns title and conclusion of the newest turn that a person decided or has to decide.
fn title_of_state(feature: &Feature, task: &Task, turn: &Turn) -> Option<(String, CheckConclusion)> {
    if let Some(title) = Waived::of_task(task, turn).title() {
        return Some((title, waived::conclusion(feature)));
    }
    let last = task.last_turn().unwrap_or(turn).number;
    match &task.state {
        State::Approved { .. } | State::Completed { .. } if !turn.is_approved() && !task.waived.is_empty() => {
            Some(("Approved by a person over the Coach".to_owned(), waived::conclusion(feature)))
        }
        State::Blocked { reason } => Some((
            match task.inquiries() {
                Some(_) => format!("Asks after turn {last}: a person has to answer"),
                None => format!("Blocked after turn {last}: {}", headline::cause(reason)),
            },
            CheckConclusion::ActionRequired,
        )),
        State::Approved { .. }
        | State::Completed { .. }
        | State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Skipped { .. }
        | State::Cancelled => None,
    }
}

fn title_of_verdict(turn: &Turn) -> Option<(String, CheckConclusion)> {
    let number = turn.number;
    Some(match turn.verdict.as_ref()?.outcome {
        Outcome::Approve => (format!("✅ Approved at turn {number}"), CheckConclusion::Success),
        Outcome::Feedback => (format!("❌ Changes requested at turn {number}"), CheckConclusion::Failure),
    })
}

fn blocked_line(task: &Task, measure: &Measure) -> String {
    let State::Blocked { reason } = &task.state else {
        return String::new();
    };
    reasons::blocked(reason, measure)
}

fn details(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let open = turn.verdict.as_ref().map_or_else(String::new, |verdict| {
        let listed: Vec<_> = verdict.items.iter().collect();
        sections(vec![findings::lowered(verdict, measure), findings::open(task, turn, verdict, &listed, measure)])
    });
    sections(vec![open, findings::record(task, turn, measure)])
}

/// Explains why the evidence also applies to another commit.
fn stands_for(gate: &WaveGate) -> String {
    gate.stands_for
        .as_ref()
        .map_or_else(String::new, |head| format!("`{}` differs from it in AutoBuild's records alone.", head.short()))
}

/// Returns the rights that CI would give to the gate's commit, if the Feature waits for a person to let CI run.
pub fn held_ci<'f>(feature: &'f Feature, gate: &WaveGate) -> Option<&'f Exposure> {
    let is_head = feature.integration.as_ref().is_some_and(|one| gate.holds_for(&one.head));
    (is_head && feature.phase() == Some(&Phase::HeldCi)).then_some(&feature.ci.exposure)
}

/// Returns the check run `AutoBuild` on the feature pull request's head, with a wave gate's result.
pub fn wave_check(feature: &Feature, gate: &WaveGate) -> CheckRun {
    let waived = Waived::of_feature(feature, Some(gate)).title();
    let (title, conclusion) = match (profile(strictest(feature), &gate.report), waived) {
        (Profile::Passed, Some(title)) => (untrusted::shorten(&title, TITLE), waived::conclusion(feature)),
        (Profile::Passed, None) => ("The merged result holds".to_owned(), CheckConclusion::Success),
        (Profile::Failed(_), _) => ("The merged result does not hold".to_owned(), CheckConclusion::Failure),
        (Profile::Absent(_), _) => {
            ("The merged result could not be checked".to_owned(), CheckConclusion::ActionRequired)
        }
    };
    let held = held_ci(feature, gate);
    let (title, conclusion) = match &held {
        Some(_) => ("Built: CI waits for a person".to_owned(), CheckConclusion::ActionRequired),
        None => (title, conclusion),
    };
    let kind = strictest(feature);
    let failed = evidence::items(kind, &gate.report);
    let summary = fitting(|measure| {
        sections(vec![
            format!(
                "{}: the Gates on the integration branch after wave {}, on commit `{}`: {}.",
                feature.key.name(),
                gate.wave,
                gate.head.short(),
                gates::line(&gate.report)
            ),
            stands_for(gate),
            held.map_or_else(String::new, |exposure| {
                let asks = "The repository's CI is held. _Run CI_, or `/autobuild ci`, lets it run on this work and opens the pull request.";
                sections(vec![asks.to_owned(), exposure::rights_of_ci(exposure, measure)])
            }),
            items::by_severity(&failed, measure),
            gates::folded_table(kind, &gate.report, &failed, measure),
        ])
    });
    CheckRun { title, summary, conclusion }
}
