//! Sections of the living comment.

use crate::messages::{
    gates,
    links::Links,
    measure::{Measure, Yaml, bullets, sections, titled},
    plan_file::{plan_file, plan_file_path},
    reasons, untrusted, words,
    words::count,
};
use domain::{
    at_work::Doing,
    budget::dollars,
    cost::{Spending, Waiting, WaitsOn},
    feature::{Feature, Older, Phase, PlanVersion, State},
    ids::TaskId,
    plan::{Check, Plan},
};

/// Where exactly building stands.
pub(super) fn phase(feature: &Feature) -> String {
    let State::Building { phase } = &feature.state else {
        return String::new();
    };
    match phase {
        Phase::Planning { .. } => "The plan is being made.".to_owned(),
        Phase::PreFlight { .. } => "Set-up and tests run on the default branch before any Player starts.".to_owned(),
        Phase::Syncing { task, .. } => format!("{task} resolves a conflict with the default branch."),
        Phase::OpeningBranch { .. } => "The integration branch is being made.".to_owned(),
        Phase::MergingDefault { .. } => "The default branch is being merged into the integration branch.".to_owned(),
        Phase::Tasks => format!("Wave {} of {} is at work.", feature.wave, feature.last_wave()),
        Phase::Gate { .. } => format!(
            "The Gates run on the merged result of wave {} of {}.",
            feature.wave,
            feature.last_wave()
        ),
        Phase::OpeningPull { .. } => "The pull request into the default branch is being opened.".to_owned(),
    }
}

/// How big the plan is, and what it was made on.
pub(super) fn size(version: &PlanVersion, waves: usize, links: &Links) -> String {
    format!(
        "{} in {}, complexity {} of 10. Plan version {}, hash `{}`, made on commit {}.",
        count(version.plan.tasks.len(), "task"),
        count(waves, "wave"),
        version.complexity,
        version.number,
        hash8(version),
        links.commit(&version.base),
    )
}

/// How many comments agents read besides the issue; nothing where there were none.
pub(super) fn discussion(feature: &Feature) -> String {
    let discussion = &feature.snapshot.discussion;
    let read = match discussion.comments.len() {
        0 => return String::new(),
        number => count(number, "comment"),
    };
    let older = match discussion.older {
        Older::None => "",
        Older::LeftOut => " Older ones are left out.",
    };
    format!("Besides the issue, agents read {read} that people with write access wrote below it before.{older}")
}

/// What it cost so far, and what it was expected to cost.
pub(super) fn money(spending: &Spending) -> String {
    let cost = spending.in_all();
    let so_far = match cost.agent_runs.saturating_sub(cost.open_runs) {
        0 => String::new(),
        _ => format!("Cost so far: {}.", words::cost_in_full(&cost)),
    };
    let expected = spending.estimate.map_or_else(String::new, |estimate| {
        let basis = match estimate.tasks_before {
            Some(count) => format!("from what {count} earlier tasks of this repository cost"),
            None => "a rough guess from complexity and turns, not a measurement".to_owned(),
        };
        let (least, most) = (dollars(estimate.least), dollars(estimate.most));
        format!("Expected cost: {least} to {most} ({basis}).")
    });
    [so_far, expected]
        .map(|part| part.trim().to_owned())
        .join(" ")
        .trim()
        .to_owned()
}

/// What running agents do.
pub(super) fn at_work(spending: &Spending, measure: &Measure) -> String {
    bullets(&spending.at_work, measure.rows.min(40), |run| {
        let who = match run.role.as_str() {
            "player" => "Player",
            "coach" => "Coach",
            role => role,
        };
        let whose = run
            .task
            .map_or_else(String::new, |task| format!("{task}: turn {} · ", run.turn));
        let calls = count(usize::try_from(run.seen.tool_calls).unwrap_or(usize::MAX), "tool call");
        let waits = match run.seen.doing {
            Doing::Working => "",
            Doing::WaitingForApi => " · waiting for the API",
        };
        format!("{whose}{who} · {calls}{waits} (at {})", words::moment(run.at))
    })
}

/// What waits for a model's API or for GitHub, and until when.
pub(super) fn waiting(spending: &Spending, measure: &Measure) -> String {
    let of = |on: WaitsOn| {
        let those: Vec<&Waiting> = spending.waiting.iter().filter(|waiting| waiting.on == on).collect();
        bullets(&those, measure.rows.min(40), |waiting| {
            let who = waiting
                .task
                .map_or_else(|| "The Feature".to_owned(), |task| task.to_string());
            match on {
                WaitsOn::Model => format!("{who} goes on at {} at the latest", words::moment(waiting.until)),
                WaitsOn::GitHub => who,
            }
        })
    };
    let model = "**Waiting for the model's API**, which limits or refuses its service for now. The wait uses up no try and no \
                 turn, and nobody has to do anything:";
    let github = "**Waiting for GitHub**, which could not be reached from here, or failed itself. What was finished is kept. \
                  It is tried again every few minutes, for a day; that uses up no try and no turn, and nobody has to do \
                  anything:";
    sections(vec![
        titled(model, &of(WaitsOn::Model)),
        titled(github, &of(WaitsOn::GitHub)),
    ])
}

/// The first eight digits of the plan's hash.
pub(super) fn hash8(version: &PlanVersion) -> String {
    version.hash.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// Why the plan waits, every command in it, and how to approve it.
pub(super) fn approval(version: &PlanVersion, measure: &Measure) -> String {
    let how = format!(
        "To start it, write `/autobuild approve {}` in a new comment; for another plan, `/autobuild plan` with words to \
         the planner or a fenced `yaml` block.",
        hash8(version)
    );
    sections(vec![
        "### This plan waits for approval".to_owned(),
        bullets(&version.waits, 10, reasons::approval),
        commands(&version.plan, measure),
        how,
    ])
}

/// Every command that the plan names, each in a fence.
fn commands(plan: &Plan, measure: &Measure) -> String {
    let smoke = plan.smoke.iter().map(|command| ("`smoke`".to_owned(), command));
    let checks = plan.tasks.iter().flat_map(|task| {
        task.acceptance_criteria
            .iter()
            .filter_map(move |criterion| match &criterion.check {
                Check::Command(command) => Some((format!("a check of {}", task.id), command)),
                Check::Test(_) | Check::File(_) | Check::Human => None,
            })
    });
    let all: Vec<(String, &String)> = smoke.chain(checks).collect();
    if all.is_empty() {
        return String::new();
    }
    let most = measure.rows.min(100);
    let each = measure.output.min(2_000);
    let mut parts = vec![format!("The plan names {}:", count(all.len(), "command"))];
    for (whose, command) in all.iter().take(most) {
        parts.push(format!("As {whose}:\n\n{}", untrusted::fence(command, "sh", each)));
    }
    let left = all.len().saturating_sub(most);
    if left > 0 {
        parts.push(format!("And {left} more, which stand in the plan."));
    }
    sections(parts)
}

/// What the newest wave gate found.
pub(super) fn wave_gate(feature: &Feature, links: &Links) -> String {
    match feature.gates.last() {
        Some(gate) => format!(
            "Wave gate after wave {}, on {}: {}.",
            gate.wave,
            links.commit(&gate.head),
            gates::line(&gate.report)
        ),
        None => String::new(),
    }
}

/// The criteria that no machine can check.
pub(super) fn for_a_person(feature: &Feature, measure: &Measure) -> String {
    bullets(&human_criteria(feature), measure.rows, |(task, text)| {
        format!("{task}: {}", untrusted::inline(text, measure.text))
    })
}

/// The criteria that no machine can check, with their tasks.
pub(super) fn human_criteria(feature: &Feature) -> Vec<(TaskId, &str)> {
    feature
        .tasks
        .iter()
        .flat_map(|task| {
            task.plan
                .acceptance_criteria
                .iter()
                .filter(|criterion| criterion.check == Check::Human)
                .map(move |criterion| (task.id, criterion.text.as_str()))
        })
        .collect()
}

/// What was replaced or added, why tasks run one after the other, and settings that are not acted on.
pub(super) fn notes(version: &PlanVersion, measure: &Measure) -> String {
    bullets(&version.notes, measure.rows, |note| {
        untrusted::inline(note, measure.text)
    })
}

/// The plan itself, folded; or where it stands.
pub(super) fn yaml(feature: &Feature, measure: &Measure) -> String {
    let Some(text) = plan_file(feature) else {
        return String::new();
    };
    // In a fence nothing is escaped, and AutoBuild knows its own comments by such marks.
    match measure.yaml {
        Yaml::Shown if !text.contains("<!-- autobuild") => format!(
            "<details>\n<summary>The plan as YAML</summary>\n\n{}\n\n</details>",
            untrusted::fence_exact(&text, "yaml")
        ),
        Yaml::Shown | Yaml::LeftOut => {
            let place = untrusted::code(&plan_file_path(feature), 200);
            match &feature.integration {
                Some(integration) => format!(
                    "The plan as YAML cannot be shown here; it stands in {place} on the branch {}.",
                    untrusted::code(&integration.branch, 200)
                ),
                None => format!(
                    "The plan as YAML cannot be shown here; it will stand in {place} on the integration branch."
                ),
            }
        }
    }
}
