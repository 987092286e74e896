//! Compares a Player's report with the tree and the Gates. Some differences are no contradictions: another spelling of
//! a path, a file that ignore rules keep out of the commit, a file that an earlier turn changed. The Coach and the
//! review show the contradictions; no decision rests on them.

mod spelling;
mod tests_written;

use crate::{
    claims::spelling::spellings,
    evidence::{Gate, GateReport},
    plan::{Check, Criterion},
    problem::{Problem, ReviewItem, Severity},
    report::{ChangedPaths, Discrepancy, InsteadOfCreating, LeftOut, PlayerReport, TestClaim},
};
use std::collections::BTreeSet;

/// The most discrepancies that are kept of one report.
const MOST_DISCREPANCIES: usize = 50;

/// The most entries that are checked of each list of a report.
const MOST_CLAIMS: usize = 500;

/// The facts about the commit that a report describes.
#[derive(Clone, Copy)]
pub struct CommitFacts<'a> {
    /// The files that this turn changed.
    pub turn: &'a ChangedPaths,
    /// The files that the whole task changed, and those that any of its earlier turns changed.
    pub task: &'a ChangedPaths,
    /// `true` if the commit has a file of this path, ignoring case.
    pub has_file: &'a dyn Fn(&str) -> bool,
    /// `true` if the base commit's ignore rules keep a file of this path out of the commit.
    pub is_ignored: &'a dyn Fn(&str) -> bool,
    /// `true` if a file that the task changed contains this text.
    pub is_written: &'a dyn Fn(&str) -> bool,
    pub gates: &'a GateReport,
    pub criteria: &'a [Criterion],
}

/// Returns the claims of a report that the tree or the Gates contradict.
pub fn discrepancies(report: &PlayerReport, known: &CommitFacts<'_>) -> Vec<Discrepancy> {
    let mut found = files(report, known);
    found.extend(tests_written::invented(report, known));
    found.extend(test_run(report, known.gates));
    found.extend(requirements(report, known));
    found.extend(readiness(report, known.criteria));
    found.dedup();
    found.truncate(MOST_DISCREPANCIES);
    found
}

/// Returns the new files that ignore rules kept out of a commit, as comments for the Player.
pub fn left_out_items(all: &[LeftOut]) -> impl Iterator<Item = ReviewItem> {
    let item = |left: &LeftOut| ReviewItem {
        severity: Severity::ShouldFix,
        ..ReviewItem::must_fix(Problem::LeftOut(left.clone()))
    };
    all.iter().map(item)
}

/// Paths in lower case, together with all their parent folders.
struct Paths(BTreeSet<String>);

impl Paths {
    fn of<'a>(lists: impl IntoIterator<Item = &'a Vec<String>>) -> Self {
        let mut all = BTreeSet::new();
        for path in lists.into_iter().flatten() {
            let path = path.to_lowercase();
            let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            all.extend(folders.map(str::to_owned));
            all.insert(path);
        }
        Self(all)
    }

    fn has(&self, spelled: &[String]) -> bool {
        spelled.iter().any(|path| self.0.contains(&path.to_lowercase()))
    }
}

fn files(report: &PlayerReport, known: &CommitFacts<'_>) -> Vec<Discrepancy> {
    let (turn, task) = (known.turn, known.task);
    let changed = Paths::of([turn, task].into_iter().flat_map(|of| [&of.modified, &of.created, &of.deleted]));
    let created = Paths::of([&turn.created, &task.created]);
    let deleted = Paths::of([&turn.deleted]);
    let mut found = Vec::new();
    for path in report.files_modified.iter().take(MOST_CLAIMS) {
        let spelled = spellings(path);
        if !changed.has(&spelled) && !ignored(&spelled, known) {
            found.push(Discrepancy::NotModified(path.clone()));
        }
    }
    for path in report.files_created.iter().take(MOST_CLAIMS) {
        let spelled = spellings(path);
        let instead = if deleted.has(&spelled) && !created.has(&spelled) {
            InsteadOfCreating::Deleted
        } else if created.has(&spelled) || ignored(&spelled, known) {
            continue;
        } else if changed.has(&spelled) {
            InsteadOfCreating::Changed
        } else {
            InsteadOfCreating::Nothing
        };
        let path = path.clone();
        found.push(Discrepancy::NotCreated { path, instead });
    }
    found
}

/// `true` if the file is ignored and not in the commit. The tree cannot show whether the Player changed it.
fn ignored(spelled: &[String], known: &CommitFacts<'_>) -> bool {
    let is_ignored = |path: &String| (known.is_ignored)(path) && !(known.has_file)(path);
    spelled.iter().any(is_ignored)
}

fn test_run(report: &PlayerReport, gates: &GateReport) -> Option<Discrepancy> {
    let finding = gates.tests.finding()?;
    let is_red = gates.tests.failure().is_some() && !gates.all_excused(finding);
    if !finding.ran_nothing() && !is_red {
        return None;
    }
    let claim = if report.tests_passed {
        TestClaim::Passed
    } else if report.tests_run && finding.ran_nothing() {
        TestClaim::Ran
    } else {
        return None;
    };
    let finding = gates.without_excused(finding).without_output();
    Some(Discrepancy::Tests { claim, finding })
}

fn requirements(report: &PlayerReport, known: &CommitFacts<'_>) -> Vec<Discrepancy> {
    let mut numbers = BTreeSet::new();
    let claims = report.requirements_addressed.iter().take(MOST_CLAIMS);
    numbers.extend(claims.filter_map(|claim| criterion_named(claim, known.criteria)));
    let failed = |number: usize| {
        let criterion = known.criteria.get(number.checked_sub(1)?)?;
        let finding = known.gates.result(Gate::Check(number))?.evidence.failure()?;
        Some(Discrepancy::CheckFailed { number, text: criterion.text.clone(), finding: finding.without_output() })
    };
    numbers.into_iter().filter_map(failed).collect()
}

/// The number of the criterion that a claim is about. The claim contains its text, or begins with a number such as `2`,
/// `#2` or `criterion 2`.
fn criterion_named(claim: &str, criteria: &[Criterion]) -> Option<usize> {
    let said = plain(claim);
    let by_words = criteria.iter().position(|criterion| {
        let text = plain(&criterion.text);
        !text.is_empty() && said.contains(&text)
    });
    by_words.map(|index| index + 1).or_else(|| number_of(&said))
}

/// The text in lower case, with single blanks and without punctuation or quotes at its ends.
fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let joined = words.join(" ");
    joined.trim_matches(['.', '!', ' ', '`', '"', '\'']).to_owned()
}

fn number_of(said: &str) -> Option<usize> {
    const PREFIXES: [&str; 10] = ["criterion", "criteria", "requirement", "ac", "no", "#", "(", " ", ".", "-"];
    let mut rest = said;
    while let Some(shorter) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = shorter;
    }
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let after = rest.chars().nth(digits);
    let ends = after.is_none_or(|c| matches!(c, '.' | ':' | ')' | ',' | '-' | ' '));
    rest.get(..digits).filter(|_| ends)?.parse().ok()
}

/// A criterion that only a person can judge may stay open in a report that is otherwise ready.
fn readiness(report: &PlayerReport, criteria: &[Criterion]) -> Option<Discrepancy> {
    if !report.ready_for_validation {
        return None;
    }
    let is_open = |said: &&String| {
        let words = plain(said);
        let nothing = matches!(words.as_str(), "" | "-" | "none" | "n/a" | "nothing" | "no");
        let named = criterion_named(said, criteria).and_then(|number| criteria.get(number.checked_sub(1)?));
        !nothing && named.is_none_or(|criterion| criterion.check != Check::Human)
    };
    let open: Vec<&String> = report.requirements_remaining.iter().filter(is_open).collect();
    let (first, others) = open.split_first()?;
    Some(Discrepancy::NotReady { first: (*first).clone(), more: others.len() })
}

#[cfg(test)]
mod tests;
