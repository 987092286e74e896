//! Describes the rights that CI would give to code that an agent wrote.

use crate::messages::form::{
    measure::{Measure, codes, render_first, sections},
    untrusted::{Room, code, inline},
    words,
};
use domain::{
    ci::{CiPolicy, CiRelease, CiTreatment},
    exposure::{Exposure, Grant, Unjudged, UnknownStep, WorkflowExposure},
    feature::Feature,
};
use std::{cmp::Reverse, collections::BTreeSet};

/// The most groups of held workflows, and the most paths and grants of each.
const MOST: usize = 20;
/// The most paths and grants of a group of workflows that no instruction holds.
const MOST_UNHELD: usize = 100;
/// The length of the rows on such workflows, in characters, after which the others are only counted.
const ROOM_UNHELD: usize = 10_000;

/// Returns how CI counts for a Feature, as one sentence.
pub(crate) fn treatment(feature: &Feature) -> String {
    let policy = match feature.rules.ci {
        CiPolicy::Auto => "`ci: auto`",
        CiPolicy::Wait => "`ci: wait`",
        CiPolicy::Ask => "`ci: ask`",
        CiPolicy::Ignore => "`ci: ignore`",
    };
    match (feature.ci_treatment(), &feature.ci.release) {
        (CiTreatment::Ignore, _) => format!("AutoBuild does not wait for the repository's own CI ({policy})."),
        (CiTreatment::Hold, _) => format!(
            "The repository's own CI is held: it starts on the finished work, once somebody with write access answers \
             `/autobuild ci` ({policy})."
        ),
        (CiTreatment::Wait, CiRelease::By(person)) => {
            format!("If the repository's own CI runs, it must pass: {} let it run ({policy}).", words::person(person))
        }
        (CiTreatment::Wait, CiRelease::None) => format!("If the repository's own CI runs, it must pass ({policy})."),
    }
}

/// Returns the rights that CI gives to the code beyond the right to read; empty if it gives none. Workflows that no
/// skip instruction holds come first, the dearest one at the top: a person approves them with the plan.
pub(crate) fn rights_of_ci(exposure: &Exposure, measure: &Measure) -> String {
    let (held, mut unheld): (Vec<_>, Vec<_>) =
        exposure.harmful().partition(|workflow| workflow.is_held_by_instruction());
    unheld.sort_by_key(|workflow| Reverse(workflow.worth()));
    let mut rows = unheld_rows(&by_grants(&unheld, MOST_UNHELD, measure));
    rows.extend(render_first(
        &by_grants(&held, MOST, measure),
        MOST,
        |group| group.row.clone(),
        |left| format!("and {left} more such groups of workflows, which are held"),
    ));
    let rows: Vec<String> = rows.iter().map(|row| format!("- {row}")).collect();
    sections(vec![rows.join("\n"), others(exposure, measure)])
}

/// Returns the first rows of these groups, as many as there is room for, and a row that counts the other workflows.
fn unheld_rows(groups: &[Group]) -> Vec<String> {
    let mut length = 0;
    let shown = groups.iter().take_while(|group| {
        let has_room = length < ROOM_UNHELD;
        length += group.row.chars().count();
        has_room
    });
    let mut rows: Vec<String> = shown.map(|group| group.row.clone()).collect();
    let left: usize = groups.iter().skip(rows.len()).map(|group| group.workflows).sum();
    if left > 0 {
        rows.push(format!("and {}, which nothing holds", words::count(left, "more workflow")));
    }
    rows
}

fn others(exposure: &Exposure, measure: &Measure) -> String {
    match exposure.others.as_slice() {
        [] => String::new(),
        names => format!(
            "Other services run or judge the code too, and AutoBuild cannot see what they would give to it: {}.",
            codes(names, measure.rows, measure.room(80))
        ),
    }
}

/// Returns the workflows that would run the code and what each gives, harmless ones too, for a terminal.
pub fn ci_in_terminal(exposure: &Exposure) -> Vec<String> {
    let measure = &Measure::TERMINAL;
    let groups = by_grants(&exposure.workflows.iter().collect::<Vec<_>>(), MOST_UNHELD, measure);
    let mut rows: Vec<String> = groups.into_iter().map(|group| group.row).collect();
    rows.extend(Some(others(exposure, measure)).filter(|row| !row.is_empty()));
    rows
}

/// Workflows that the same events start and that give the same.
struct Group {
    row: String,
    workflows: usize,
}

/// Groups workflows by what they give, the first `most` grants in words.
fn by_grants(workflows: &[&WorkflowExposure], most: usize, measure: &Measure) -> Vec<Group> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for workflow in workflows {
        let gets = gets(workflow, most, measure);
        match groups.iter_mut().find(|(known, _)| *known == gets) {
            Some((_, paths)) => paths.push(&workflow.path),
            None => groups.push((gets, vec![&workflow.path])),
        }
    }
    let room = measure.room(200);
    let row = |gets: &str, paths: &[&str]| match paths {
        [path] => format!("{} {gets}", code(path, room)),
        paths => format!("Each of {} workflows {gets}: {}", paths.len(), codes(paths, most.min(measure.rows), room)),
    };
    groups.iter().map(|(gets, paths)| Group { row: row(gets, paths), workflows: paths.len() }).collect()
}

/// Returns the triggers of a workflow and the rights that it gives to the code: `(on push) gives: ...`.
fn gets(workflow: &WorkflowExposure, most: usize, measure: &Measure) -> String {
    let triggers: Vec<&str> = workflow.triggers.iter().map(|trigger| trigger.word()).collect();
    let on = (!triggers.is_empty()).then(|| format!("on {}", triggers.join(", ")));
    let takes =
        workflow.takes_work.then(|| "takes branches, pull requests or results of other runs by itself".to_owned());
    let ways: Vec<String> = on.into_iter().chain(takes).collect();
    let starts = match ways.as_slice() {
        [] => "(on events that AutoBuild cannot judge)".to_owned(),
        ways => format!("({})", ways.join("; ")),
    };
    let room = measure.room(120);
    let grants: Vec<&Grant> = workflow.grants.iter().collect();
    let grants = render_first(&grants, most, |one| grant(one, room), |left| format!("and {left} more")).join(", ");
    match (workflow.is_harmless(), workflow.doubts.is_empty()) {
        (true, _) => format!("{starts} gives the code nothing but the right to read"),
        (false, true) => format!("{starts} gives the code {grants}"),
        (false, false) => format!(
            "{starts} may take the code: AutoBuild does not know {}. The code would get {grants}",
            unknown_steps(&workflow.doubts, room)
        ),
    }
}

fn unknown_steps(steps: &BTreeSet<UnknownStep>, room: Room) -> String {
    let steps: Vec<&UnknownStep> = steps.iter().collect();
    let name = |step: &&UnknownStep| match step {
        UnknownStep::Action { uses } => code(uses, room),
        UnknownStep::Script => "what a script of it calls".to_owned(),
    };
    render_first(&steps, MOST, name, |left| format!("and {left} more")).join(", ")
}

fn grant(grant: &Grant, room: Room) -> String {
    match grant {
        Grant::Write { scope } => format!("a token that may write (`{}`)", inline(scope, room)),
        Grant::DefaultPermissions => {
            "a token whose permissions the file does not limit (`permissions:` is missing)".to_owned()
        }
        Grant::Secret { name } => format!("the secret {}", code(name, room)),
        Grant::AllSecrets => "every secret of the repository".to_owned(),
        Grant::IdentityToken => "an identity for clouds (`id-token: write`)".to_owned(),
        Grant::Environment { name } => format!("the environment {}", code(name, room)),
        Grant::Runner { label } => format!("a machine that is not GitHub's own ({})", code(label, room)),
        Grant::ForeignWorkflow { uses } => {
            format!("whatever {} gives, a workflow of another repository", code(uses, room))
        }
        Grant::Unknown(why) => format!("something unknown: {}", unjudged(why, room)),
    }
}

fn unjudged(why: &Unjudged, room: Room) -> String {
    let code = |text: &str| code(text, room);
    match why {
        Unjudged::NotYaml => "a file cannot be read as YAML".to_owned(),
        Unjudged::TooLarge => "a file is too large to read".to_owned(),
        Unjudged::TooMany => "there are too many files to read".to_owned(),
        Unjudged::UnknownKey { key } => format!("the key {} is not known", code(key)),
        Unjudged::NotLiteral { key } => format!("{} is missing or not written out", code(key)),
        Unjudged::Missing { path } => format!("{} is not there", code(path)),
        Unjudged::TooDeep => "files use each other in a circle, or too deep".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::form::measure::MEASURES;
    use domain::exposure::Trigger;

    #[test]
    fn every_grant_is_named() {
        let name = || "x".to_owned();
        let unknown = Grant::Unknown;
        let table = [
            (Grant::Write { scope: name() }, "a token that may write (`x`)"),
            (Grant::DefaultPermissions, "`permissions:` is missing"),
            (Grant::Secret { name: name() }, "the secret `x`"),
            (Grant::AllSecrets, "every secret"),
            (Grant::IdentityToken, "an identity for clouds"),
            (Grant::Environment { name: name() }, "the environment `x`"),
            (Grant::Runner { label: name() }, "not GitHub's own (`x`)"),
            (Grant::ForeignWorkflow { uses: name() }, "whatever `x` gives"),
            (unknown(Unjudged::NotYaml), "cannot be read as YAML"),
            (unknown(Unjudged::TooLarge), "too large"),
            (unknown(Unjudged::TooMany), "too many files"),
            (unknown(Unjudged::UnknownKey { key: name() }), "the key `x` is not known"),
            (unknown(Unjudged::NotLiteral { key: name() }), "`x` is missing or not written out"),
            (unknown(Unjudged::Missing { path: name() }), "`x` is not there"),
            (unknown(Unjudged::TooDeep), "in a circle"),
        ];
        for (grant, words) in table {
            let workflow = WorkflowExposure {
                path: ".github/workflows/ci.yml".to_owned(),
                triggers: [Trigger::Push].into(),
                grants: [grant].into(),
                doubts: BTreeSet::new(),
                takes_work: false,
            };
            let said = gets(&workflow, MOST, &Measure::TERMINAL);
            assert!(said.starts_with("(on push) gives the code ") && said.contains(words), "{said}");
        }
    }

    #[test]
    fn harmless_ci_needs_no_words() {
        assert_eq!(rights_of_ci(&Exposure::default(), &Measure::TERMINAL), "");
    }

    fn workflow(name: &str, trigger: Trigger, grants: &[Grant]) -> WorkflowExposure {
        WorkflowExposure {
            path: format!(".github/workflows/{name}.yml"),
            triggers: [trigger].into(),
            grants: grants.iter().cloned().collect(),
            doubts: BTreeSet::new(),
            takes_work: false,
        }
    }

    fn secret(name: &str) -> Grant {
        Grant::Secret { name: name.to_owned() }
    }

    #[test]
    fn what_is_not_held_comes_first_and_whole_however_much_is_held() {
        let mut workflows: Vec<WorkflowExposure> =
            (10..35).map(|n| workflow(&format!("ci{n}"), Trigger::Push, &[Grant::DefaultPermissions])).collect();
        workflows.extend((10..50).map(|n| workflow(&format!("own{n}"), Trigger::Push, &[secret(&format!("S{n}"))])));
        let tokens: Vec<Grant> = (10..60).map(|n| secret(&format!("TOKEN_{n}"))).collect();
        workflows.push(workflow("preview", Trigger::Create, &tokens));
        let exposure = Exposure { workflows, others: Vec::new() };
        for measure in &MEASURES {
            let text = rights_of_ci(&exposure, measure);
            let rows: Vec<&str> = text.lines().collect();
            assert!(rows[0].starts_with("- `.github/workflows/preview.yml` (on create)"), "{text}");
            assert!((10..60).all(|n| rows[0].contains(&format!("`TOKEN_{n}`"))), "{text}");
            assert!(rows[1].starts_with("- Each of 25 workflows (on push) gives the code a token"), "{text}");
            assert!(rows[1].ends_with("more"), "{text}");
            assert_eq!(rows.len(), 22, "{text}");
        }
    }

    #[test]
    fn of_hundreds_that_nothing_holds_the_dearest_are_named_and_the_others_counted() {
        let mut workflows: Vec<WorkflowExposure> =
            (100..700).map(|n| workflow(&format!("a{n}"), Trigger::Create, &[secret(&format!("S{n}"))])).collect();
        workflows.push(workflow("token", Trigger::Create, &[Grant::Write { scope: "contents".to_owned() }]));
        workflows.push(workflow("two", Trigger::Create, &[secret("ONE"), secret("TWO")]));
        workflows.push(workflow("whole", Trigger::Create, &[Grant::AllSecrets]));
        let tokens: Vec<Grant> = (0..1_000).map(|n| secret(&format!("{}{n}", "TOKEN_".repeat(50)))).collect();
        workflows.push(workflow("many", Trigger::Create, &tokens));
        let exposure = Exposure { workflows, others: Vec::new() };
        for measure in &MEASURES {
            let text = rights_of_ci(&exposure, measure);
            let rows: Vec<&str> = text.lines().collect();
            assert!(rows[0].starts_with("- `.github/workflows/whole.yml`"), "{text}");
            assert!(
                rows[1].starts_with("- `.github/workflows/many.yml`") && rows[1].ends_with("and 900 more"),
                "{text}"
            );
            assert!(rows[2].starts_with("- and 602 more workflows, which nothing holds"), "{text}");
            assert!(text.chars().count() < 30_000, "{}", text.chars().count());
        }
    }

    #[test]
    fn a_workflow_that_only_might_take_the_code_is_not_said_to() {
        let action = UnknownStep::Action { uses: "lee-dohm/no-response@v0.5.0".to_owned() };
        let doubtful = WorkflowExposure {
            doubts: [action, UnknownStep::Script].into(),
            ..workflow("stale", Trigger::IssueComment, &[Grant::Write { scope: "issues".to_owned() }])
        };
        let text = rights_of_ci(&Exposure { workflows: vec![doubtful], others: Vec::new() }, &MEASURES[0]);
        assert_eq!(
            text,
            "- `.github/workflows/stale.yml` (on issue_comment) may take the code: AutoBuild does not know \
             `lee-dohm/no-response@v0.5.0`, what a script of it calls. The code would get a token that may write (`issues`)"
        );
    }
}
