//! The comment on the issue that shows the plan and from then on the progress. It is written anew at every edit.

use crate::messages::{
    graph,
    links::Links,
    living_ground, living_parts,
    measure::{Measure, fitting, sections, titled},
    progress, reasons, unsaid, untrusted, words,
};
use domain::{
    blocked::BlockReason,
    cost::Spending,
    feature::{Feature, PlanVersion, State, Suspension},
    wave,
};

/// The living comment of a Feature as it is now.
pub fn living(feature: &Feature, spending: &Spending, links: &Links) -> String {
    fitting(|measure| comment(feature, spending, links, measure))
}

fn comment(feature: &Feature, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let head = vec![
        format!(
            "## {}: {}",
            feature.key.shown(),
            untrusted::inline(words::feature_name(feature), 200)
        ),
        state_line(feature, links),
        details_of_state(feature, measure),
        suspended(feature),
        unsaid::lines(feature, links, measure),
        living_parts::at_work(spending, measure),
        living_parts::waiting(spending, measure),
    ];
    let plan = match &feature.plan {
        Some(version) => with_plan(feature, version, spending, links, measure),
        None => Vec::new(),
    };
    sections(head.into_iter().chain(plan).collect())
}

fn with_plan(
    feature: &Feature,
    version: &PlanVersion,
    spending: &Spending,
    links: &Links,
    measure: &Measure,
) -> Vec<String> {
    let waits = match feature.state {
        State::AwaitingApproval => living_parts::approval(version, measure),
        State::Planning { .. }
        | State::Building { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => String::new(),
    };
    let waves = wave::waves(&version.plan);
    vec![
        untrusted::quote(&version.plan.description, measure.text),
        waits,
        living_parts::size(version, waves.groups.len(), links),
        living_parts::discussion(feature),
        living_parts::money(spending),
        graph::waves(feature, &waves.added_edges),
        progress::table(feature, spending, links, measure),
        progress::remarks(feature, links, measure),
        living_parts::wave_gate(feature, links),
        titled(
            "### Tasks that AutoBuild added",
            &living_ground::added(feature, links, measure),
        ),
        titled(
            "### Before the work began",
            &living_ground::preflight(feature, links, measure),
        ),
        titled(
            "### How it is checked",
            &living_ground::checks(feature, version, measure),
        ),
        titled(
            "### For a person to check",
            &living_parts::for_a_person(feature, measure),
        ),
        titled("### Notes on the plan", &living_parts::notes(version, measure)),
        living_parts::yaml(feature, measure),
    ]
}

/// One line: the state, and where exactly.
pub(super) fn state_line(feature: &Feature, links: &Links) -> String {
    let word = feature.state.word();
    let more = match &feature.state {
        State::Planning { .. } => "The plan is being made.".to_owned(),
        State::AwaitingApproval => "The plan waits for a person with write access.".to_owned(),
        State::Building { .. } => living_parts::phase(feature),
        State::Paused { by, .. } => format!(
            "{} paused it. What runs ends, nothing new starts. `/autobuild resume` goes on.",
            words::person(by)
        ),
        State::Blocked { .. } => "It cannot go on by itself.".to_owned(),
        State::InReview => match feature.pull {
            Some(pull) => format!("{} waits for a person to review and merge it.", links.pull(pull)),
            None => "Its pull request waits for a person.".to_owned(),
        },
        State::Completed => match feature.pull {
            Some(pull) => format!("{} is merged.", links.pull(pull)),
            None => "It is merged.".to_owned(),
        },
        State::Cancelled { why } => reasons::cancelled(why),
        State::Failed { .. } => "There is no valid plan.".to_owned(),
    };
    format!("**State: {word}.** {more}")
}

fn details_of_state(feature: &Feature, measure: &Measure) -> String {
    match &feature.state {
        State::Failed { message } => format!(
            "What is wrong with it:\n\n{}\n\nMend it with `/autobuild plan` and words to the planner, or a fenced `yaml` \
             block that is the plan.",
            untrusted::fence(message, "text", measure.output)
        ),
        State::Blocked { reason, .. } => {
            let ways = match matches!(reason, BlockReason::TasksBlocked { .. }) {
                true => "Each task's blocked report says what can be done.",
                false => "A comment of its own on this issue says what can be done.",
            };
            format!("{}\n\n{ways}", reasons::blocked(reason, measure))
        }
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Paused { .. }
        | State::InReview
        | State::Completed
        | State::Cancelled { .. } => String::new(),
    }
}

fn suspended(feature: &Feature) -> String {
    match feature.suspension {
        Suspension::None => String::new(),
        Suspension::Suspended => {
            "The installation of AutoBuild is suspended: nothing starts until that is lifted.".to_owned()
        }
    }
}
