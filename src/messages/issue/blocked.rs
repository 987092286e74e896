//! The blocked report: everything that a person needs to decide how to continue a Task or a Feature.

use crate::messages::{
    causes::{problems, reasons, remedy},
    form::{
        links::Links,
        measure::{Folding, Measure, bullets, fitting, folded, printed, rendered, sections, titled},
        untrusted,
        untrusted::{Medium, Room},
        words,
        words::count,
    },
    issue::{headline, inquiry, waits::mention},
    pull::{findings, gates, items},
};
use domain::{
    blocked::{
        BlockReason, Cost,
        report::{Approvable, BlockedReport, NextCommand},
    },
    evidence::{Absence, Evidence},
    feature::{Feature, State as FeatureState, TestsBefore, flow::strictest},
    ids::{TaskId, TurnNumber},
    plan::Criterion,
    recurring::Recurring,
    task::{Task, Turn},
};
use text::mistake::SettingsMistake;

/// Returns the report on a blocked task, for its pull request or, without one, for the issue; `None` if the task is not
/// blocked.
pub fn blocked_report(feature: &Feature, task: &Task, cost: Cost, links: &Links) -> Option<String> {
    if task.inquiries().is_some() {
        return inquiry::task_asks(feature, task, &cost, links);
    }
    let report = BlockedReport::of_task(task, cost)?;
    Some(fitting(|measure| {
        sections(vec![
            format!("### Blocked ({}): {}", headline::cause(&report.reason), words::task_name(task)),
            why_blocked(feature, &report, measure),
            reasons::printed_last(&report.reason, Folding::Folded, measure),
            red_before(feature, &report, measure, Folding::Folded),
            what_to_do(&report, task, measure),
            recurring(&report.recurring, measure),
            folded("The last feedback", &items::by_severity(&report.last_feedback, measure)),
            match &report.gates {
                Some(gates) => gates::folded_table(task.plan.kind, gates, &report.last_feedback, measure),
                None => "No Gate has run in this attempt.".to_owned(),
            },
            so_far(feature, task, &report, links),
        ])
    }))
}

/// Returns why a Feature or its tasks are blocked and what a person can do: one text for each that is blocked.
pub fn blocked_in_short(feature: &Feature, medium: Medium) -> Vec<String> {
    let Some(of_feature) = report_of_feature(feature, Cost::default()) else {
        return Vec::new();
    };
    let of_tasks = feature.tasks.iter().filter_map(|task| {
        let report = BlockedReport::of_task(task, Cost::default())?;
        let criteria = &task.plan.acceptance_criteria;
        let judged = task.last_judged().filter(|_| task.inquiries().is_none());
        let judged = judged.map(|turn| (task, turn));
        Some(rendered(medium, |measure| {
            let whose = format!("{} {}", words::task_name_in(task, measure), headline::is_blocked(task));
            in_short(feature, &whose, &report, criteria, judged, measure)
        }))
    });
    let of_tasks: Vec<String> = of_tasks.collect();
    if of_tasks.is_empty() {
        let title = if feature.asks() {
            "It asks you".to_owned()
        } else {
            format!("It is blocked{}", headline::after_blocked(feature))
        };
        vec![rendered(medium, |measure| in_short(feature, &title, &of_feature, &[], None, measure))]
    } else {
        of_tasks
    }
}

/// Returns, for a terminal, why a task just stopped, without its last verdict, and what a person can do; `None` if it
/// is not blocked.
pub fn stopped_task(feature: &Feature, task: &Task) -> Option<String> {
    let report = BlockedReport::of_task(task, Cost::default())?;
    let criteria = &task.plan.acceptance_criteria;
    Some(rendered(Medium::Terminal, |measure| stopped(feature, &report, criteria, measure)))
}

/// Returns, for a terminal, why a Feature itself just stopped; `None` if it is not blocked, or only because its tasks
/// are.
pub fn stopped_feature(feature: &Feature) -> Option<String> {
    let report = report_of_feature(feature, Cost::default())?;
    let of_tasks = matches!(report.reason, BlockReason::TasksBlocked { .. });
    (!of_tasks).then(|| rendered(Medium::Terminal, |measure| stopped(feature, &report, &[], measure)))
}

/// Returns, for a terminal, that a Feature cannot continue until its repository's settings are corrected, for any
/// earlier reason.
pub fn bad_settings_in_terminal(feature: &Feature, mistakes: &[SettingsMistake]) -> String {
    let reason = BlockReason::BadSettings { mistakes: mistakes.to_vec() };
    let report = BlockedReport::of_feature(feature, &reason, None, Cost::default());
    let title = format!("It does not go on ({})", headline::cause(&report.reason));
    rendered(Medium::Terminal, |measure| in_short(feature, &title, &report, &[], None, measure))
}

fn in_short(
    feature: &Feature,
    title: &str,
    report: &BlockedReport,
    criteria: &[Criterion],
    judged: Option<(&Task, &Turn)>,
    measure: &Measure,
) -> String {
    let sent_back = judged.map_or_else(String::new, |(task, turn)| findings::sent_back(task, turn, measure));
    sections(vec![
        measure.strong(&format!("{title}:")),
        reasons::blocked(&report.reason, measure),
        titled("The last feedback:", &sent_back),
        reasons::printed_last(&report.reason, Folding::Open, measure),
        red_before(feature, report, measure, Folding::Open),
        titled("What you can do:", &actions(report, criteria, measure)),
    ])
}

fn stopped(feature: &Feature, report: &BlockedReport, criteria: &[Criterion], measure: &Measure) -> String {
    sections(vec![
        reasons::blocked(&report.reason, measure),
        reasons::printed_last(&report.reason, Folding::Open, measure),
        red_before(feature, report, measure, Folding::Open),
        titled("What you can do:", &actions(report, criteria, measure)),
    ])
}

/// Returns the report on a blocked Feature, with the Gates' results if they are the reason. Terminal and issue use the
/// same report, so that both give the same advice.
fn report_of_feature(feature: &Feature, cost: Cost) -> Option<BlockedReport> {
    let FeatureState::Blocked { reason, .. } = &feature.state else {
        return None;
    };
    let is_about_gates = matches!(reason, BlockReason::WaveGateRed { .. } | BlockReason::GatesAbsent { .. });
    let gates = feature.gates.last().filter(|_| is_about_gates).map(|gate| &gate.report);
    Some(BlockedReport::of_feature(feature, reason, gates, cost))
}

/// Returns the output of tests that failed before the change and did not name any test, if new failures can therefore
/// not be distinguished.
pub(crate) fn red_before(feature: &Feature, report: &BlockedReport, measure: &Measure, form: Folding) -> String {
    let tests = report.gates.as_ref().map(|gates| &gates.tests);
    let before = feature.preflight.as_ref().map(|found| &found.before);
    let (Some(Evidence::Absent(Absence::Unnamed)), Some(TestsBefore::Red { output, .. })) = (tests, before) else {
        return String::new();
    };
    let title = "What the tests printed on the default branch, before any task";
    printed(form, title, output, measure)
}

/// Mentions the person who labelled the issue, and says why the task stopped.
pub(crate) fn why_blocked(feature: &Feature, report: &BlockedReport, measure: &Measure) -> String {
    format!("{}, this task waits for you. {}", mention(feature), reasons::blocked(&report.reason, measure))
}

/// Returns the actions for a person, and the commands for them.
pub(crate) fn what_to_do(report: &BlockedReport, task: &Task, measure: &Measure) -> String {
    let criteria = &task.plan.acceptance_criteria;
    sections(vec![titled("#### What you can do", &actions(report, criteria, measure)), ways_on(report, task)])
}

/// Returns where the work so far is, and facts about turns and spending.
pub(crate) fn so_far(feature: &Feature, task: &Task, report: &BlockedReport, links: &Links) -> String {
    sections(vec![work_so_far(feature, task, links), facts(report, task)])
}

fn facts(report: &BlockedReport, task: &Task) -> String {
    let attempt = match task.attempt {
        1 => String::new(),
        attempt => format!(" in attempt {attempt}"),
    };
    format!(
        "**Severity:** {} · **Attempts:** {}{attempt} · **Cost of {} so far:** {}",
        report.reason.severity().word(),
        count(report.attempts, "turn"),
        task.id,
        words::cost_in_full(&report.cost)
    )
}

/// Returns the issues that occurred in more than one turn, folded.
pub(crate) fn recurring(groups: &[Recurring], measure: &Measure) -> String {
    let listed = bullets(groups, measure.rows.min(20), |group| {
        let turns: Vec<String> = group.turns.iter().take(20).map(TurnNumber::to_string).collect();
        let file = group.issue.file.as_deref();
        let file = file.map_or_else(String::new, |file| format!("{}: ", untrusted::code(file, 200)));
        format!(
            "{} times (turns {}) [{}] {file}{}",
            group.count,
            turns.join(", "),
            untrusted::inline(group.issue.problem.category(), 60),
            untrusted::inline(&problems::problem(&group.issue), measure.text.min(600))
        )
    });
    folded("Issues that came up again and again", &listed)
}

fn actions(report: &BlockedReport, criteria: &[Criterion], measure: &Measure) -> String {
    let actions = (1u32..).zip(remedy::suggested_actions(report, criteria));
    let room = Room { max: 600, medium: measure.medium };
    let lines = actions.map(|(number, action)| format!("{number}. {}.", untrusted::inline(&action, room)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the commands with which a person can continue, in a form that AutoBuild would not execute if a comment
/// quoted them.
fn ways_on(report: &BlockedReport, task: &Task) -> String {
    let id = task.id;
    let way = |way: &NextCommand| match way {
        NextCommand::Resume => {
            "- `/autobuild resume`: goes on, with guidance for the Player after it if you like; `--max-turns=N` for N \
             more turns"
                .to_owned()
        }
        NextCommand::Approve => "- `/autobuild approve` here: overrides the Coach and names you".to_owned(),
        NextCommand::Retry => {
            format!("- `/autobuild retry {id}`: starts it again from the integration branch, on a new branch")
        }
        NextCommand::Skip => format!("- `/autobuild skip {id}`: gives it up; tasks that need it then wait for you"),
        NextCommand::Cancel => "- `/autobuild cancel`: stops everything; branches stay".to_owned(),
        // A Feature that already has tasks is not planned again.
        NextCommand::Plan => String::new(),
    };
    let ways: Vec<String> = report.ways.iter().map(way).collect();
    let ways = ways.join("\n");
    let no_approval = match report.approvable {
        Approvable::Secret => "The commit holds what looks like a secret, so nobody can approve it as it is.",
        Approvable::Yes | Approvable::NothingPushed => "",
    };
    let ways = format!("**To go on**, write one of these as a new comment (it needs write access):\n\n{ways}");
    sections(vec![ways, no_approval.to_owned()])
}

fn work_so_far(feature: &Feature, task: &Task, links: &Links) -> String {
    match &task.head {
        Some(head) => {
            format!("The branch {} holds the work so far, up to {}.", links.branch(&task.branch), links.commit(head))
        }
        None => format!("Nothing of {} in {} is pushed yet.", task.id, feature.key.name()),
    }
}

/// Returns the report on a blocked Feature, for its issue; `None` if the Feature is not blocked.
pub fn feature_blocked(feature: &Feature, cost: Cost, links: &Links) -> Option<String> {
    if feature.open_inquiries().is_some() {
        return inquiry::feature_asks(feature, &cost);
    }
    let report = report_of_feature(feature, cost)?;
    let reason = &report.reason;
    Some(fitting(|measure| {
        let now = report
            .gates
            .as_ref()
            .map_or_else(String::new, |gates| gates::folded_table(strictest(feature), gates, &[], measure));
        sections(vec![
            format!(
                "### Blocked{}: {} {}",
                headline::after_blocked(feature),
                feature.key.name(),
                untrusted::inline(words::feature_name(feature), 200)
            ),
            format!("{}, this waits for you. {}", mention(feature), reasons::blocked(reason, measure)),
            reasons::printed_last(reason, Folding::Folded, measure),
            blocked_tasks(feature, links, measure),
            titled("#### What you can do", &actions(&report, &[], measure)),
            feature_ways_on(feature, &report),
            now,
            format!(
                "**Severity:** {} · **Cost of {} so far:** {}",
                report.reason.severity().word(),
                feature.key.name(),
                words::cost_in_full(&report.cost)
            ),
        ])
    }))
}

fn blocked_tasks(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let blocked: Vec<&Task> = feature.tasks.iter().filter(|task| task.is_blocked()).collect();
    bullets(&blocked, measure.rows.min(40), |task| {
        let where_to = links.pull_or(task.pull, "its report is on this issue");
        format!("{}: {where_to}", words::task_name(task))
    })
}

fn feature_ways_on(feature: &Feature, report: &BlockedReport) -> String {
    let on = |command: &str, task: Option<TaskId>, what: &str| {
        task.map(|task| format!("- `/autobuild {command} {task}`: {what}; any other task likewise"))
    };
    let resume = match feature.is_untouched() {
        true if report.reason.asks_about_base() => {
            "- `/autobuild approve` or `/autobuild resume`: goes on; the failing tests are the baseline"
        }
        true => "- `/autobuild resume`: the step that stopped runs again",
        false => "- `/autobuild resume`: the step that stopped runs again, and every blocked task goes on",
    };
    let way = |way: &NextCommand| match way {
        NextCommand::Resume => Some(resume.to_owned()),
        NextCommand::Plan => {
            Some("- `/autobuild plan`, with words for the planner after it if you like: plans again".to_owned())
        }
        NextCommand::Retry => on("retry", feature.to_retry(), "starts it again from the integration branch"),
        NextCommand::Skip => on("skip", feature.to_skip(), "gives it up"),
        NextCommand::Cancel => Some("- `/autobuild cancel`: stops everything; branches stay".to_owned()),
        NextCommand::Approve => None,
    };
    let ways: Vec<String> = report.ways.iter().filter_map(way).collect();
    format!(
        "**To go on**, write one of these as a new comment on this issue (it needs write access):\n\n{}",
        ways.join("\n")
    )
}
