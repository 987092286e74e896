//! Empties functions, all at once and then by halves, and finds those that no test notices.

use crate::gates::{
    mutation::{
        ExperimentResults,
        functions::{Function, Functions, Mutant},
        trial::{Tests, Trial, TrialOutcome},
    },
    run::context::GateError,
};
use domain::{
    evidence::{Experiment, Weight},
    integrity::{Author, Detail, IntegrityFinding, Rule},
    plan::TaskType,
    question::{Question, Topic},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most runs in search of a set of emptied functions that builds.
const MOST_RUNS: usize = 8;

/// The functions that are still to be emptied, and the results for the others.
#[derive(Debug, Default)]
pub(super) struct EmptyingSearch {
    /// Functions that are emptied together, with the tests that are run on them.
    open: VecDeque<(Vec<Function>, Tests)>,
    /// `true` if anything turned red.
    pub(super) is_noticed: bool,
    tests: BTreeSet<String>,
    unnoticed: Vec<Function>,
    /// Functions whose emptied form does not build.
    untried: Vec<Function>,
}

impl EmptyingSearch {
    fn new(functions: Vec<Function>, tests: Tests) -> Self {
        Self { open: VecDeque::from([(functions, tests)]), ..Self::default() }
    }

    /// `true` if everything was tried, and nothing turned red.
    fn is_unnoticed(&self) -> bool {
        !self.is_noticed && self.open.is_empty() && self.untried.is_empty() && !self.unnoticed.is_empty()
    }

    /// Records the outcome of emptying these functions. If it was noticed, or did not build, each half is tried again.
    fn record(&mut self, functions: Vec<Function>, tests: Tests, outcome: TrialOutcome) {
        let next = match outcome {
            TrialOutcome::Unnoticed => return self.unnoticed.extend(functions),
            TrialOutcome::Inconclusive if functions.len() < 2 => return self.untried.extend(functions),
            TrialOutcome::Inconclusive => tests,
            TrialOutcome::Noticed(red) => {
                self.is_noticed = true;
                self.tests.extend(red.iter().cloned());
                if functions.len() < 2 {
                    return;
                }
                if red.is_empty() { tests } else { Tests::Named(red.into_iter().collect()) }
            }
        };
        let (left, right) = functions.split_at(functions.len() / 2);
        self.open.extend([left, right].map(|half| (half.to_vec(), next.clone())));
    }

    /// Takes what to empty next as long as nothing turned red. What stays open is for [`Self::find_unnoticed`].
    fn next_until_noticed(&mut self) -> Option<(Vec<Function>, Tests)> {
        (!self.is_noticed).then(|| self.open.pop_front()).flatten()
    }

    async fn until_noticed(&mut self, trial: &mut Trial<'_>, functions: &Functions) -> Result<(), GateError> {
        for _ in 0..MOST_RUNS {
            let Some((some, tests)) = self.next_until_noticed() else {
                break;
            };
            let [files, second] = [Mutant::First, Mutant::Second].map(|form| functions.emptied(&some, form));
            let has_second = second != files;
            let first = trial.outcome(files, &tests).await?;
            let outcome = match first {
                // The tests may expect the very value that an emptied function returns.
                TrialOutcome::Unnoticed if has_second => trial.outcome(second, &tests).await?,
                TrialOutcome::Unnoticed | TrialOutcome::Noticed(_) | TrialOutcome::Inconclusive => first,
            };
            self.record(some, tests, outcome);
        }
        Ok(())
    }

    async fn try_the_rest(&mut self, trial: &mut Trial<'_>, functions: &Functions) -> Result<(), GateError> {
        while let Some((some, tests)) = self.open.pop_front() {
            let [files, second] = [Mutant::First, Mutant::Second].map(|form| functions.emptied(&some, form));
            let has_second = second != files;
            let mut outcome = trial.outcome_in_time(files, &tests).await?;
            if outcome == Some(TrialOutcome::Unnoticed) && has_second {
                outcome = trial.outcome_in_time(second, &tests).await?;
            }
            let Some(outcome) = outcome else {
                trial.budget.leave_out(Experiment::EachEmptiedFunction);
                self.open.clear();
                break;
            };
            self.record(some, tests, outcome);
        }
        Ok(())
    }

    /// Finds the functions that nobody notices, and asks about them.
    pub(super) async fn find_unnoticed(
        &mut self,
        trial: &mut Trial<'_>,
        functions: &Functions,
        tried: &mut ExperimentResults,
    ) -> Result<(), GateError> {
        self.try_the_rest(trial, functions).await?;
        tried.noticed.get_or_insert_default().extend(self.tests.iter().cloned());
        let suspects = std::mem::take(&mut self.unnoticed);
        if suspects.is_empty() {
            return Ok(());
        }
        // So far only the change's own tests ran.
        let mut by_all = Self::new(suspects, Tests::All);
        by_all.try_the_rest(trial, functions).await?;
        tried.questions.extend(question(&by_all.unnoticed));
        Ok(())
    }
}

/// Empties all functions at once. If nothing turns red, nothing tests the change; otherwise returns the search through
/// the halves.
pub(super) async fn empty_all(
    trial: &mut Trial<'_>,
    functions: &Functions,
    tried: &mut ExperimentResults,
) -> Result<Option<EmptyingSearch>, GateError> {
    let facts = trial.facts;
    let is_for_tests = facts.kind == TaskType::Testing;
    if functions.all.is_empty() || is_for_tests && facts.tests.is_empty() {
        return Ok(None);
    }
    let own = if facts.tests.is_empty() { Tests::All } else { Tests::Named(facts.tests.clone()) };
    let mut emptied = EmptyingSearch::new(functions.all.clone(), own);
    emptied.until_noticed(trial, functions).await?;
    if !emptied.is_noticed && !is_for_tests && !facts.tests.is_empty() {
        emptied = EmptyingSearch::new(functions.all.clone(), Tests::All);
        emptied.until_noticed(trial, functions).await?;
    }
    trial.budget.ran(Experiment::EmptiedFunctions);
    tried.noticed = (emptied.is_noticed || !emptied.unnoticed.is_empty()).then(|| emptied.tests.clone());
    if emptied.is_noticed {
        return Ok(Some(emptied));
    }
    let files = functions.emptied(&functions.all, Mutant::First);
    if !is_for_tests && trial.command_notices(&files).await? {
        return Ok(None);
    }
    match facts.untested {
        Weight::Required if emptied.is_unnoticed() => tried.findings.extend(untested(trial, functions)),
        Weight::Required | Weight::Asked | Weight::Informational => {
            tried.questions.extend(question(&emptied.unnoticed));
        }
    }
    Ok(None)
}

/// Lets the functions return another value of the same type. If the change's tests notice only an empty result, they
/// accept any value.
pub(super) async fn other_values(
    trial: &mut Trial<'_>,
    functions: &Functions,
    tried: &mut ExperimentResults,
) -> Result<(), GateError> {
    let [other, nothing] = functions.other_values(&functions.all);
    if other.is_empty() || trial.facts.tests.is_empty() {
        return Ok(());
    }
    let tests = Tests::Named(trial.facts.tests.clone());
    trial.budget.ran(Experiment::OtherReturnValues);
    if trial.outcome(other, &tests).await? == TrialOutcome::Unnoticed
        && let TrialOutcome::Noticed(red) = trial.outcome(nothing, &tests).await?
    {
        let red: Vec<String> = red.into_iter().collect();
        tried.findings.extend(at_tests(trial, Rule::WeakAssertion, &red));
    }
    Ok(())
}

/// Returns the findings that nothing tests the change: at its tests, or if there are none, at its functions.
fn untested(trial: &Trial<'_>, functions: &Functions) -> Vec<IntegrityFinding> {
    if !trial.facts.tests.is_empty() {
        return at_tests(trial, Rule::PseudoTested, &trial.facts.tests);
    }
    let first = functions.all.first().map(|function| IntegrityFinding {
        rule: Rule::PseudoTested,
        path: function.path.clone(),
        line: Some(function.body.line),
        what: Detail::Function(function.body.name.clone()),
        by: Author::Player,
    });
    first.into_iter().collect()
}

pub(super) fn at_tests(trial: &Trial<'_>, rule: Rule, tests: &[String]) -> Vec<IntegrityFinding> {
    let mut files: BTreeMap<String, (Option<u32>, String, usize)> = BTreeMap::new();
    for name in tests {
        let (path, line) = trial.facts.change.after.place(name).unzip();
        let first = || (line, name.clone(), 0);
        let (_, _, count) = files.entry(path.unwrap_or_default()).or_insert_with(first);
        *count = count.saturating_add(1);
    }
    let finding = |(path, (line, first, count)): (String, (Option<u32>, String, usize))| IntegrityFinding {
        rule,
        path,
        line,
        what: Detail::Tests { first, more: count.saturating_sub(1) },
        by: Author::Player,
    };
    files.into_iter().map(finding).collect()
}

fn question(unnoticed: &[Function]) -> Option<Question> {
    let first = unnoticed.first()?;
    let places: Vec<String> = unnoticed.iter().map(Function::place).collect();
    Some(Question {
        topic: Topic::Unnoticed,
        about: unnoticed.iter().map(|function| function.body.name.clone()).collect(),
        place: Some((first.path.clone(), first.body.line)),
        material: places.join("\n"),
        absence: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use integrity::language;

    fn functions(names: &[&str]) -> Vec<Function> {
        let text: String = names.iter().map(|name| format!("def {name}():\n    return 1\n\n")).collect();
        let code = language::executable_code("a.py", &text).unwrap();
        let function = |body| Function { path: "a.py".to_owned(), body };
        code.bodies.into_iter().map(function).collect()
    }

    /// Empties by halves; the tests notice the functions whose names begin with `n`, and those with `x` do not build.
    fn search(names: &[&str]) -> (bool, Vec<String>, Vec<String>, usize) {
        let mut emptied = EmptyingSearch::new(functions(names), Tests::All);
        let mut runs = 0;
        while let Some((some, tests)) = emptied.next_until_noticed().or_else(|| emptied.open.pop_front()) {
            runs += 1;
            let begins = |mark: char| some.iter().filter(|one| one.body.name.starts_with(mark)).count();
            let outcome = match (begins('x'), begins('n')) {
                (0, 0) => TrialOutcome::Unnoticed,
                (0, _) => TrialOutcome::Noticed(BTreeSet::from(["t".to_owned()])),
                _ => TrialOutcome::Inconclusive,
            };
            emptied.record(some, tests, outcome);
        }
        let names = |all: &[Function]| all.iter().map(|one| one.body.name.clone()).collect();
        (emptied.is_noticed, names(&emptied.unnoticed), names(&emptied.untried), runs)
    }

    /// The functions, the notice taken of them, the unnoticed and the untried ones, and the number of runs.
    type Row = (&'static [&'static str], bool, &'static [&'static str], &'static [&'static str], usize);

    #[test]
    fn halving_finds_what_nobody_notices_and_leaves_out_what_does_not_build() {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let table: [Row; 6] = [
            (&["a", "b", "c"], false, &["a", "b", "c"], &[], 1),
            (&["n1"], true, &[], &[], 1),
            (&["n1", "n2"], true, &[], &[], 3),
            (&["n1", "a", "b", "c"], true, &["b", "c", "a"], &[], 5),
            (&["x1", "a"], false, &["a"], &["x1"], 3),
            (&["x1", "n1", "a", "b"], true, &["a", "b"], &["x1"], 5),
        ];
        for (names, notice, unnoticed, untried, runs) in table {
            let expected = (notice, owned(unnoticed), owned(untried), runs);
            assert_eq!(search(names), expected, "{names:?}");
        }
    }

    #[test]
    fn one_question_lists_what_nobody_notices() {
        let asked = question(&functions(&["a", "b"])).unwrap();
        assert_eq!(asked.about, ["a", "b"]);
        assert_eq!(asked.place, Some(("a.py".to_owned(), 1)));
        assert_eq!(asked.material, "a.py:1 a\na.py:4 b");
        assert_eq!(question(&[]), None);
    }
}
