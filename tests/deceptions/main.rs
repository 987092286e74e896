//! The suite of deceptions: small real repositories, a task, and a Player's change that looks finished; and honest changes
//! beside them. Each is judged by the very Gates that the engine runs, and then by a Coach that always approves: every
//! dishonest change must be refused all the same, and no honest one may be.
//!
//! The cases are text, in `cases/`; how they are written stands in `cases.rs`. The test command judges the telling ones:
//! where the rules that only read refuse one as expected, it runs nothing. `.ci/thorough deceptions` runs the Gates on
//! all cases, `DECEPTIONS=words` on those whose file or name holds the words.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]
#![allow(dead_code, reason = "benches/verify.rs takes more of the stage")]

mod cases;
mod expectation;
mod judged;
mod ready;
mod stage;
mod table;
mod tree;

use autobuild::config::{Offer, RepositorySettings};
use cases::{Author, Case, Lane, Library};
use domain::{
    evidence::Weight,
    integrity::{IntegrityFinding, Rule},
    plan::TaskType,
};
use expectation::Expectation;
use futures_util::StreamExt;
use judged::{End, Judged};
use stage::Stage;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::Path,
    time::Instant,
};

/// The most cases that may be listed as not decidable by code.
const MOST_UNDECIDABLE: usize = 5;
/// The most dishonest changes that may be listed as not refused any more.
const MOST_GIVEN_UP: usize = 26;
/// The fewest honest changes.
const LEAST_HONEST: usize = 25;

/// Rules that look the same in every language, or that only running can find, and so are not asked of each.
const IN_ANY_LANGUAGE: [&str; 10] = [
    "protected_path",
    "secret",
    "merge_marker",
    "file_too_large",
    "ci_weakened",
    "test_vanished",
    "rewritten_by_setup",
    "pseudo_tested",
    "swallowed_failure",
    "weak_assertion",
];

fn library() -> Library {
    Library::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deceptions/cases"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_always_approves_approves_nothing_dishonest() {
    let library = library();
    let words = std::env::var("DECEPTIONS").ok();
    let is_asked = |case: &&Case| {
        words.as_ref().map_or(case.lane == Lane::TestCommand, |words| {
            case.title().contains(words.as_str())
        })
    };
    let cases: Vec<&Case> = library.cases.iter().filter(is_asked).collect();
    assert!(!cases.is_empty(), "no case is called {words:?}");
    ready::demand();
    let begun = Instant::now();
    let read = cases
        .iter()
        .map(|case| Judged::by_reading(case, &findings(&library, case)));
    let is_refused = |judged: &Judged| words.is_none() && judged.end == End::Refused && judged.wrong().is_none();
    let mut judged: Vec<Judged> = read.filter(is_refused).collect();
    let known: BTreeSet<usize> = judged.iter().map(|judged| judged.number).collect();
    let cases: Vec<&Case> = cases.into_iter().filter(|case| !known.contains(&case.number)).collect();
    let stage = Stage::new(&library, &cases).await;
    // One more than there are cores: a case also waits.
    let at_once = std::thread::available_parallelism().map_or(3, |cores| cores.get().clamp(2, 4) + 1);
    let run: Vec<Judged> = futures_util::stream::iter(cases.iter().map(|case| stage.judge(case)))
        .buffer_unordered(at_once)
        .collect()
        .await;
    judged.extend(run);
    judged.sort_by_key(|judged| judged.number);
    let table = table::table(&judged, library.cases.len(), begun.elapsed());
    // Directly, because the test's runner keeps what `print!` says of tests that pass.
    std::io::stdout().write_all(table.as_bytes()).unwrap();
    let wrong: Vec<String> = judged.iter().filter_map(Judged::wrong).collect();
    assert!(
        wrong.is_empty(),
        "{} cases went wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What the rules find by reading a case's change.
fn findings(library: &Library, case: &Case) -> Vec<IntegrityFinding> {
    let [before, _, after] = tree::of_case(library, case, Path::new("/nowhere"));
    let settings = RepositorySettings::parse(&library.base_settings(&case.base), &Offer::default()).unwrap();
    tree::read(&before, &after, &stage::planned(case), &settings)
}

#[test]
fn reading_alone_troubles_no_honest_change() {
    let library = library();
    let mut troubled = Vec::new();
    for case in &library.cases {
        let findings = findings(&library, case);
        let demanded = |finding: &&IntegrityFinding| finding.weight(case.kind) == Weight::Required;
        let words: BTreeSet<String> = findings
            .iter()
            .filter(demanded)
            .map(|finding| format!("{} {}:{:?}", judged::word(&finding.rule), finding.path, finding.line))
            .collect();
        if case.is_honest() && case.author == Author::Player && !words.is_empty() {
            troubled.push(format!("  {}: {words:?}", case.title()));
        }
    }
    assert!(
        troubled.is_empty(),
        "honest changes that reading troubles:\n{}",
        troubled.join("\n")
    );
}

#[test]
fn the_test_command_judges_each_rule_in_each_language_that_has_it() {
    let library = library();
    let words = |case: &Case| match &case.expectation {
        Expectation::Refused { by, .. } => by.clone(),
        Expectation::Absent { what } => vec![what.clone()],
        Expectation::Approved { with } => with.iter().cloned().collect(),
    };
    let (mut all, mut told) = (BTreeSet::new(), BTreeSet::new());
    let counts = |case: &&Case| case.undecidable.is_none() && case.given_up.is_none();
    for case in library.cases.iter().filter(counts) {
        let (words, language) = (words(case), case.language(&library));
        if let [word] = words.as_slice() {
            all.insert((word.clone(), language));
        }
        if case.lane == Lane::TestCommand {
            told.extend(words.into_iter().map(|word| (word, language)));
        }
    }
    let untold: Vec<_> = all.difference(&told).collect();
    assert!(untold.is_empty(), "no case with `telling: yes` is about {untold:?}");
}

#[test]
fn each_rule_is_tried_twice_in_each_language_and_honest_changes_are_many() {
    let library = library();
    let honest = library.cases.iter().filter(|case| case.is_honest()).count();
    assert!(honest >= LEAST_HONEST, "{honest} honest changes");
    let undecidable = library.cases.iter().filter(|case| case.undecidable.is_some()).count();
    assert!(
        undecidable <= MOST_UNDECIDABLE,
        "{undecidable} are listed as not decidable"
    );
    let given_up = library.cases.iter().filter(|case| case.given_up.is_some()).count();
    assert!(given_up <= MOST_GIVEN_UP, "{given_up} are listed as given up");
    let mut tried: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in &library.cases {
        match &case.expectation {
            Expectation::Refused { by, .. } => {
                for word in by {
                    *tried.entry((word.as_str(), case.language(&library))).or_default() += 1;
                }
            }
            Expectation::Approved { .. } | Expectation::Absent { .. } => {}
        }
    }
    let times = |rule: &str, language: &str| tried.get(&(rule, language)).copied().unwrap_or_default();
    for rule in Rule::ALL {
        let word = judged::word(&rule);
        let shown_only = rule.weight(TaskType::Feature) == Weight::Informational;
        if shown_only {
            continue;
        }
        if IN_ANY_LANGUAGE.contains(&word.as_str()) {
            let all: usize = tried
                .iter()
                .filter(|((tried, _), _)| *tried == word)
                .map(|(_, times)| times)
                .sum();
            assert!(all >= 2, "{word} is tried {all} times");
            continue;
        }
        for language in ["rust", "python", "javascript"] {
            assert!(
                times(&word, language) >= 2,
                "{word} is tried {} times in {language}",
                times(&word, language)
            );
        }
    }
}
