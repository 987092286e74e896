//! The comment on the issue that shows the plan and then the progress. Every edit writes the whole comment.

use crate::messages::{
    causes::{evidence, exposure, reasons, refused_host},
    form::{
        links::Links,
        measure::{Measure, Yaml, bullets, codes, fitting, folded, list, sections, titled},
        untrusted,
        untrusted::Medium,
        words,
        words::count,
    },
    issue::{failed_acts, graph, headline, inquiry, progress},
    pull::{
        gates,
        plan_file::{plan_file, plan_file_path},
        waived::Waived,
    },
};
use domain::{
    at_work::AgentState,
    blocked::BlockReason,
    budget::dollars,
    cost::{Spending, Waiting, WaitsOn},
    evidence::Additions,
    feature::{Doubt, Feature, Mode, OlderComments, Phase, PlanVersion, State, Suspension, TestsBefore},
    ids::TaskId,
    plan::{Check, Intent, Plan, TaskType},
    task,
    task::{MergeState, Origin, Task},
    wave,
};
use text::visible::HiddenParts;

pub fn living(feature: &Feature, spending: &Spending, links: &Links) -> String {
    fitting(|measure| comment(feature, spending, links, measure))
}

/// Returns the head of a Feature's living comment: its state, and the work that runs or waits. The reason of a block is
/// left out, because the page that shows this text has it elsewhere.
pub fn status_head(feature: &Feature, spending: &Spending, links: &Links) -> String {
    fitting(|measure| {
        let details = if matches!(feature.state, State::Blocked { .. }) {
            String::new()
        } else {
            details_of_state(feature, measure)
        };
        sections(head(feature, details, spending, links, measure))
    })
}

fn head(feature: &Feature, details: String, spending: &Spending, links: &Links, measure: &Measure) -> Vec<String> {
    vec![
        state_line(feature, links),
        details,
        Waived::of_feature(feature, feature.gates.last()).sentence(),
        untested(feature, measure),
        suspended(feature),
        failed_acts::lines(feature, links, measure),
        at_work(spending, measure),
        refused_host::refused(spending, measure),
        waiting(spending, measure),
    ]
}

fn comment(feature: &Feature, spending: &Spending, links: &Links, measure: &Measure) -> String {
    let title = format!("## {}: {}", feature.key.name(), untrusted::inline(words::feature_name(feature), 200));
    let plan = match &feature.plan {
        Some(version) => with_plan(feature, version, spending, links, measure),
        None => Vec::new(),
    };
    let details = details_of_state(feature, measure);
    let head = head(feature, details, spending, links, measure);
    let asked = std::iter::once(inquiry::history(feature, measure));
    sections(std::iter::once(title).chain(head).chain(plan).chain(asked).collect())
}

fn with_plan(
    feature: &Feature,
    version: &PlanVersion,
    spending: &Spending,
    links: &Links,
    measure: &Measure,
) -> Vec<String> {
    let waits =
        if matches!(feature.state, State::AwaitingApproval) { approval(version, measure) } else { String::new() };
    let waves = wave::waves(&version.plan);
    vec![
        untrusted::quote(&version.plan.description, measure.text),
        waits,
        size(version, waves.groups.len(), links),
        hidden_parts(feature),
        discussion(feature),
        money(spending),
        graph::waves(feature, &waves.added_edges),
        progress::table(feature, spending, links, measure),
        progress::remarks(feature, links, measure),
        wave_gate(feature, links),
        titled("### Tasks that AutoBuild added", &added(feature, links, measure)),
        titled("### Before the work began", &preflight(feature, links, measure)),
        titled("### How it is checked", &checks(feature, version, measure)),
        titled("### What CI gives to this code", &exposure::rights_of_ci(&feature.ci.exposure, measure)),
        titled(
            "### For a person to check",
            &bullets(&human_criteria(feature), measure.rows, |(task, text)| {
                format!("{task}: {}", untrusted::inline(text, measure.text))
            }),
        ),
        titled("### Notes on the plan", &list(&version.notes, measure.rows, measure.text)),
        yaml(feature, measure),
    ]
}

pub(crate) fn state_line(feature: &Feature, links: &Links) -> String {
    let word = words::feature_state(feature);
    let (cause, more) = (headline::after_blocked(feature), more(feature, links));
    format!("**State: {word}{cause}.** {more}")
}

/// Returns a Feature's state with its cause and its step, for a terminal.
pub fn state_in_terminal(feature: &Feature) -> String {
    let word = words::feature_state(feature);
    format!("{word}{}. {}", headline::after_blocked(feature), more(feature, &Links::NONE))
}

/// Returns a task's number, name and state, for a terminal.
pub fn task_in_terminal(task: &Task) -> String {
    let state = words::state(task, Medium::Terminal);
    format!("{}: {state}", words::task_name_in(task, &Measure::TERMINAL))
}

/// Returns the notes on a Feature for a person at a terminal, besides its state: missing tests, refused hosts, and
/// waits for other services.
pub fn notes_in_terminal(feature: &Feature, spending: &Spending) -> Vec<String> {
    let measure = &Measure::TERMINAL;
    let notes = [untested(feature, measure), refused_host::refused(spending, measure), waiting(spending, measure)];
    notes.into_iter().filter(|note| !note.is_empty()).collect()
}

/// Describes the work of a Feature in this state, or the reason why it waits.
fn more(feature: &Feature, links: &Links) -> String {
    match &feature.state {
        State::Planning { .. } => match (&feature.preflight, feature.given_plan()) {
            (None, None) => "AutoBuild runs the repository's tests, then makes the plan.".to_owned(),
            (Some(_), _) | (None, Some(_)) => "AutoBuild is making the plan.".to_owned(),
        },
        State::AwaitingApproval => "The plan waits for a person with write access.".to_owned(),
        State::Building { .. } => phase(feature),
        State::Paused { by, .. } => format!(
            "{} paused it. Running agents finish; nothing new starts. `/autobuild resume` goes on.",
            words::person(by)
        ),
        State::Blocked { .. } if feature.asks() => "It waits for a person's answer.".to_owned(),
        State::Blocked { .. } => "It needs a person to go on.".to_owned(),
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
    }
}

fn details_of_state(feature: &Feature, measure: &Measure) -> String {
    if let State::Failed { message, .. } = &feature.state {
        let ways = "Answer `/autobuild plan` and say what to change, or give the plan itself in a fenced `yaml` block.";
        return format!("What is wrong with it:\n\n{}\n\n{ways}", untrusted::fence(message, "text", measure.output));
    }
    let State::Blocked { reason, .. } = &feature.state else {
        return String::new();
    };
    let ways = match matches!(reason, BlockReason::TasksBlocked { .. }) {
        true if feature.asks() => "The report of each task that asks says how you answer.",
        true => "Each task's blocked report says what you can do.",
        false => "A comment on this issue says what you can do.",
    };
    format!("{}\n\n{ways}", reasons::blocked(reason, measure))
}

/// Warns before anything is spent: without tests, or with tests that fail without names, the work may come to nothing.
fn untested(feature: &Feature, measure: &Measure) -> String {
    if matches!(feature.state, State::InReview | State::Completed | State::Cancelled { .. }) {
        return String::new();
    }
    let tests_decide = |task: &Task| match task.plan.kind {
        TaskType::Feature | TaskType::Refactoring | TaskType::Testing => true,
        TaskType::Scaffolding | TaskType::Documentation => false,
    };
    let needs_tests = feature.tasks.is_empty() || feature.tasks.iter().any(tests_decide);
    match feature.preflight.as_ref().map(|found| &found.before) {
        Some(TestsBefore::NoTests { .. }) if needs_tests => {
            format!("{} {NO_TESTS}", measure.strong("AutoBuild found no tests here."))
        }
        Some(TestsBefore::Red { tests, failing, .. }) if failing.is_empty() => format!(
            "{} If the issue is not about that, fix it first: {}.",
            measure.strong("The tests fail before any work, and do not say which."),
            untrusted::inline(&evidence::evidence_of_tests(tests), measure.room(1_000))
        ),
        Some(TestsBefore::NoTests { .. } | TestsBefore::Green { .. } | TestsBefore::Red { .. }) | None => String::new(),
    }
}

const NO_TESTS: &str = "The Coach approves a `feature` task only if tests run. Set `test` in `.github/autobuild.yml`, or \
    let the issue ask for tests.";

fn suspended(feature: &Feature) -> String {
    match feature.suspension {
        Suspension::None => String::new(),
        Suspension::Suspended => {
            "The installation of AutoBuild is suspended: nothing starts until that is lifted.".to_owned()
        }
    }
}

pub(crate) fn phase(feature: &Feature) -> String {
    let State::Building { phase } = &feature.state else {
        return String::new();
    };
    match phase {
        Phase::Planning { .. } => "AutoBuild is making the plan.".to_owned(),
        Phase::PreFlight { .. } => {
            "AutoBuild runs set-up and tests of the default branch, unless it just did.".to_owned()
        }
        Phase::Syncing { task, .. } => format!("{task} resolves a conflict with the default branch."),
        Phase::OpeningBranch { .. } => "AutoBuild is making the integration branch.".to_owned(),
        Phase::MergingDefault { .. } => {
            "AutoBuild is merging the default branch into the integration branch.".to_owned()
        }
        Phase::Tasks => {
            let what =
                if waits_for_merges(feature) { "waits for a person to merge what is approved" } else { "is at work" };
            format!("Wave {} of {} {what}.", feature.wave, feature.last_wave())
        }
        Phase::Gate { .. } => {
            format!("The Gates run on the merged result of wave {} of {}.", feature.wave, feature.last_wave())
        }
        Phase::HeldCi => {
            "The work is done, and the repository's CI is held: somebody with write access lets it run with \
             `/autobuild ci`, or with the button _Run CI_ of the check run `AutoBuild` on the integration branch."
                .to_owned()
        }
        Phase::OpeningPull { .. } => "AutoBuild is opening the pull request into the default branch.".to_owned(),
    }
}

/// `true` if every task in motion is approved, and a person has to merge it.
fn waits_for_merges(feature: &Feature) -> bool {
    let mut moving = feature.opened_tasks().filter(|task| task.is_in_motion()).peekable();
    let is_left = |task: &Task| matches!(task.state, task::State::Approved { merge: MergeState::Person, .. });
    moving.peek().is_some() && moving.all(is_left)
}

pub(crate) fn size(version: &PlanVersion, waves: usize, links: &Links) -> String {
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

/// Returns the number of comments that agents read besides the issue; empty if there were none. For an issue by people
/// without write access, names the parts that agents do not read, and the collapsed parts that they do read.
pub(crate) fn hidden_parts(feature: &Feature) -> String {
    let HiddenParts { hidden, opened } = feature.snapshot.parts;
    let taken_out = count(hidden, "part");
    let blocks = count(opened, "collapsed block");
    let read = match (hidden, opened) {
        (0, 0) => return String::new(),
        (_, 0) => {
            format!("without {taken_out} of it that this page does not show (comments, alt texts, titles, attributes)")
        }
        (0, _) => format!("with the content of {blocks}"),
        (_, _) => format!(
            "without {taken_out} of it that this page does not show (comments, alt texts, titles, attributes), and with \
             the content of {blocks}"
        ),
    };
    format!("Someone without write access wrote the issue. Agents read it {read}.")
}

pub(crate) fn discussion(feature: &Feature) -> String {
    let discussion = &feature.snapshot.discussion;
    let read = match discussion.comments.len() {
        0 => return String::new(),
        number => count(number, "comment"),
    };
    let older = match discussion.older {
        OlderComments::None => "",
        OlderComments::LeftOut => " Older ones are left out.",
    };
    format!("Besides the issue, agents read {read} that people with write access wrote below it before.{older}")
}

pub(crate) fn money(spending: &Spending) -> String {
    let cost = spending.total();
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
        let range = if least == most { most } else { format!("{least} to {most}") };
        format!("Expected cost: {range} ({basis}).")
    });
    [so_far, expected].join(" ").trim().to_owned()
}

pub(crate) fn at_work(spending: &Spending, measure: &Measure) -> String {
    bullets(&spending.at_work, measure.rows.min(40), |run| {
        let who = match run.role.as_str() {
            "player" => "Player",
            "coach" => "Coach",
            role => role,
        };
        let whose = run.task.map_or_else(String::new, |task| format!("{task}: turn {} · ", run.turn));
        let calls = count(run.seen.tool_calls, "tool call");
        let waits = match run.seen.doing {
            AgentState::Working => "",
            AgentState::WaitingForApi => " · waiting for the API",
        };
        format!("{whose}{who} · {calls}{waits} (at {})", words::moment(run.at))
    })
}

/// Lists the work that waits for a model's API or for GitHub, and until when.
pub(crate) fn waiting(spending: &Spending, measure: &Measure) -> String {
    let of = |is_it: fn(&WaitsOn) -> bool| {
        let those: Vec<&Waiting> = spending.waiting.iter().filter(|waiting| is_it(&waiting.on)).collect();
        bullets(&those, measure.rows.min(40), |waiting| {
            let who = waiting.task.map_or_else(|| "The Feature".to_owned(), |task| task.to_string());
            match waiting.on {
                WaitsOn::Model(_) => format!("{who} goes on at {} at the latest", words::moment(waiting.until)),
                WaitsOn::GitHub | WaitsOn::Machine | WaitsOn::Unknown => who,
            }
        })
    };
    let model = "which limits or refuses its service for now. The wait uses up no try and no \
                 turn, and nobody has to do anything:";
    let github = "which could not be reached from here, or failed itself. What was finished is kept. \
                  It is tried again every few minutes; that uses up no try and no turn, and nobody has to do anything:";
    let machine = "or for its database. Neither GitHub nor the repository is the cause. It is tried again every few \
                   minutes; that uses up no try and no turn:";
    let unknown = "after a failure that may pass, for a day at most. That uses up no turn:";
    sections(vec![
        titled(
            &format!("{}, {model}", measure.strong("Waiting for the model's API")),
            &of(|on| matches!(on, WaitsOn::Model(_))),
        ),
        titled(&format!("{}, {github}", measure.strong("Waiting for GitHub")), &of(|on| *on == WaitsOn::GitHub)),
        titled(
            &format!("{}, {machine}", measure.strong("Waiting for the machine that runs AutoBuild")),
            &of(|on| *on == WaitsOn::Machine),
        ),
        titled(&format!("{} {unknown}", measure.strong("Trying again")), &of(|on| *on == WaitsOn::Unknown)),
    ])
}

/// Returns the first eight digits of the plan's hash.
pub(crate) fn hash8(version: &PlanVersion) -> String {
    version.hash.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// Returns why the plan waits, every command in it, and how to approve it.
pub(crate) fn approval(version: &PlanVersion, measure: &Measure) -> String {
    let how = format!(
        "To start it, write `/autobuild approve {}` in a new comment. For another plan, write `/autobuild plan` and say \
         what to change, or give the plan itself in a fenced `yaml` block.",
        hash8(version)
    );
    sections(vec![
        "### This plan waits for approval".to_owned(),
        bullets(&version.waits, 10, reasons::approval),
        commands(&version.plan, measure),
        how,
    ])
}

/// Returns every command that the plan names, each in a fenced block.
fn commands(plan: &Plan, measure: &Measure) -> String {
    let smoke = plan.smoke.iter().map(|command| ("`smoke`".to_owned(), command));
    let checks = plan.tasks.iter().flat_map(|task| {
        let criteria = task.acceptance_criteria.iter();
        criteria.filter_map(|criterion| match &criterion.check {
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

pub(crate) fn wave_gate(feature: &Feature, links: &Links) -> String {
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

/// Returns the criteria that no machine can check, with their tasks.
pub(crate) fn human_criteria(feature: &Feature) -> Vec<(TaskId, &str)> {
    let of_tasks = feature.tasks.iter().flat_map(|task| {
        let all = task.plan.acceptance_criteria.iter();
        let human = all.filter(|criterion| criterion.check == Check::Human);
        human.map(|criterion| (task.id, criterion.text.as_str()))
    });
    of_tasks.collect()
}

/// Returns the plan itself, folded, or where it is.
pub(crate) fn yaml(feature: &Feature, measure: &Measure) -> String {
    let Some(text) = plan_file(feature) else {
        return String::new();
    };
    // A fenced block does not escape anything, and AutoBuild recognises its own comments by such marks.
    match measure.yaml {
        Yaml::Shown if !text.contains("<!-- autobuild") => {
            folded("The plan as YAML", &untrusted::fence_exact(&text, "yaml"))
        }
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

/// Returns the commands of the Gates, and the rules for new tests and for the repository's own CI.
pub(crate) fn checks(feature: &Feature, version: &PlanVersion, measure: &Measure) -> String {
    let mut lines = Vec::new();
    if !version.commands.trim().is_empty() {
        lines.push(untrusted::inline(&version.commands, measure.text));
    }
    let mode = match feature.rules.mode {
        Mode::Tdd => "Each change needs a test or a check that fails without it and passes with it (`mode: tdd`).",
        Mode::Standard => {
            "The review says whether a test or a check fails without the change; it need not (`mode: standard`)."
        }
    };
    lines.extend([mode.to_owned(), exposure::treatment(feature)]);
    if let Some(smoke) = &version.plan.smoke {
        lines.push(format!(
            "After each wave {} runs on the merged result (`smoke`).",
            untrusted::code(smoke, measure.text.min(300))
        ));
    }
    for task in &version.plan.tasks {
        for (intents, verb) in [(&task.changes, "changes on purpose"), (&task.removes, "takes away")] {
            let intents: Vec<String> = intents.iter().map(|intent| intended(intent, measure)).collect();
            if !intents.is_empty() {
                lines.push(format!("{} {verb}: {}.", task.id, intents.join("; ")));
            }
        }
    }
    lines.extend(bound(version));
    bullets(&lines, 20, Clone::clone)
}

fn intended(intent: &Intent, measure: &Measure) -> String {
    let name = untrusted::code(&intent.name, measure.text.min(300));
    match &intent.because {
        Some(because) => format!("{name} because “{}”", untrusted::inline(because, measure.text.min(300))),
        None => name,
    }
}

/// Returns the numbers of criteria that are bound to tests, commands and files.
fn bound(version: &PlanVersion) -> Option<String> {
    let criteria = || version.plan.tasks.iter().flat_map(|task| &task.acceptance_criteria);
    let of = |wanted: fn(&Check) -> bool, thing: &str| match criteria().filter(|one| wanted(&one.check)).count() {
        0 => None,
        number => Some(count(number, thing)),
    };
    let kinds = [
        of(|check| matches!(check, Check::Test(_)), "test"),
        of(|check| matches!(check, Check::Command(_)), "command"),
        of(|check| matches!(check, Check::File(_)), "file"),
    ];
    let all: Vec<String> = kinds.into_iter().flatten().collect();
    (!all.is_empty()).then(|| format!("The criteria are bound to {}.", all.join(", ")))
}

/// Returns the findings of pre-flight, before any Player ran, and the things that are not supported here.
pub(crate) fn preflight(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let Some(found) = &feature.preflight else {
        return String::new();
    };
    let text = measure.text.min(1_000);
    let on = links.commit(&found.commit);
    let setup = found.setup.iter();
    let setup = setup.map(|setup| format!("Set-up on {on}: {}.", untrusted::inline(&evidence::evidence(setup), text)));
    let notes = found.notes.iter().map(|note| untrusted::inline(note, text));
    let mut lines: Vec<String> = setup.chain([tests_before(&found.before, &on, text)]).chain(notes).collect();
    lines.extend(found.doubts.iter().map(doubt));
    if found.additions == Additions::Refused {
        lines.push(
            "What AutoBuild adds to the test command so that each test is named changes its result here: the command \
             runs as it stands, and tests have names only if it prints them."
                .to_owned(),
        );
    }
    bullets(&lines, 40, Clone::clone)
}

pub fn submodules_note() -> String {
    "Submodules are not supported: they are not checked out, and no task can change them.".to_owned()
}

pub fn git_lfs_note() -> String {
    "Git LFS is not supported: files that it keeps are checked out as their pointers.".to_owned()
}

/// A filter that attributes name and that does not run.
pub struct UnusedFilter {
    pub name: String,
    pub rules: Vec<String>,
    /// The first files that it concerns.
    pub files: Vec<String>,
    /// The number of files that it concerns.
    pub count: usize,
}

/// Describes a filter that does not run, with the files that it concerns.
pub fn filter_note(filter: &UnusedFilter) -> String {
    let more = match filter.count.saturating_sub(filter.files.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let files = format!("{}{more}", filter.files.join(", "));
    let concerned = match filter.count {
        0 => "it concerns no file yet".to_owned(),
        1 => format!("the file that it concerns is checked out as it is stored ({files})"),
        count => format!("the {count} files that it concerns are checked out as they are stored ({files})"),
    };
    let subject = match filter.name.as_str() {
        "lfs" => "Git LFS is not supported: the filter lfs".to_owned(),
        name => format!("The filter {name}"),
    };
    let rules = filter.rules.join(", ");
    format!("{subject} ({rules}) does not run here; {concerned}, and no task can add or change such a file.")
}

/// Describes a criterion's check that may never pass.
fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::UnknownTest { task, test, nearest } => {
            let (test, nearest) = (untrusted::code(test, 200), codes(nearest, usize::MAX, 200));
            if nearest.is_empty() {
                format!("{task} asks for the test {test}, which is not there, and no task of the plan brings tests.")
            } else {
                format!(
                    "{task} asks for the test {test}, which is not there yet. If one of these is meant, correct the \
                 plan: {nearest}."
                )
            }
        }
        Doubt::MissingProgram { task, command, program } => format!(
            "{task} is checked by {}, but the program {} is not there: install it where AutoBuild runs, or let `setup` do so.",
            untrusted::code(command, 300),
            untrusted::code(program, 100)
        ),
    }
}

fn tests_before(before: &TestsBefore, on: &str, text: usize) -> String {
    let ran = |tests| untrusted::inline(&evidence::evidence_of_tests(tests), text);
    match before {
        TestsBefore::NoTests { tests } => format!("AutoBuild found no tests on {on}: {}.", ran(tests)),
        TestsBefore::Green { tests } => format!("The tests on {on} pass: {}.", ran(tests)),
        TestsBefore::Red { tests, failing, more, .. } => {
            let names = if failing.is_empty() {
                "which ones is not named".to_owned()
            } else {
                words::and_more(codes(failing, usize::MAX, 200), *more)
            };
            format!(
                "Tests that fail on {on} already do not count against a task, and excuse no new failure: {names}. {}.",
                ran(tests)
            )
        }
    }
}

/// Lists the tasks that AutoBuild added to the plan, each with the reason.
pub(crate) fn added(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let line = |task: &Task| Some(format!("{} in wave {}: {}", task.id, task.wave, why_added(task, links)?));
    let added: Vec<String> = feature.tasks.iter().filter_map(line).collect();
    bullets(&added, measure.rows.min(60), Clone::clone)
}

/// Returns why AutoBuild added a task; `None` for a task of the plan.
pub(crate) fn why_added(task: &Task, links: &Links) -> Option<String> {
    match &task.origin {
        Origin::Planned => None,
        Origin::Fix { broke: Some(merge) } => {
            Some(format!("the wave gate failed, and {} is the merge that broke it", links.commit(merge)))
        }
        Origin::Fix { broke: None } => {
            Some("the wave gate failed, and AutoBuild names no single merge that broke it".to_owned())
        }
        Origin::Sync { other } => {
            Some(format!("the default branch at {} conflicts with the integration branch", links.commit(other)))
        }
        Origin::Review { by, .. } => {
            Some(format!("{} asked for changes on the feature pull request", words::person(by)))
        }
    }
}
