//! Reports files that set-up rewrote and that were restored.

use crate::gates::gate_result::should_fix;
use domain::{
    decision::Issue,
    evidence::Baseline,
    integrity::{Author, Detail, IntegrityFinding, Rule},
    problem::Problem,
};
use integrity::language::{Role, role};

/// The most files of each kind that are named.
const MOST: usize = 20;

/// Returns the findings and the informational items. Rewriting files of tests or settings is a finding, unless set-up
/// already did so before the change. Rewriting lock files or sources is only informational.
pub(crate) fn by_setup(rewritten: &[String], baseline: &Baseline) -> (Vec<IntegrityFinding>, Vec<Issue>) {
    let decides = |path: &String| {
        matches!(role(path), Role::Test | Role::Support | Role::Settings) && !baseline.rewritten.contains(path)
    };
    let (held, shown): (Vec<&String>, Vec<&String>) = rewritten.iter().partition(|path| decides(path));
    let finding = |path: &String| IntegrityFinding {
        rule: Rule::RewrittenBySetup,
        path: path.clone(),
        line: None,
        what: Detail::Restored(path.clone()),
        by: Author::Player,
    };
    let item = |path: &String| should_fix(Problem::Restored(path.clone()), None);
    (held.into_iter().take(MOST).map(finding).collect(), shown.into_iter().take(MOST).map(item).collect())
}

#[cfg(test)]
mod tests {
    use super::by_setup;
    use domain::evidence::{Absence, Additions, Baseline, Evidence};

    #[test]
    fn tests_that_a_new_set_up_rewrites_send_the_work_back_and_the_rest_is_shown() {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let baseline = Baseline {
            commit: "a".repeat(40).parse().unwrap(),
            setup: None,
            tests: Evidence::Absent(Absence::NoCommand),
            rewritten: owned(&["tests/test_old.py"]),
            additions: Additions::None,
            made: std::collections::BTreeSet::new(),
        };
        let all = owned(&["package-lock.json", "src/gen.py", "tests/test_a.py", "tests/test_old.py"]);
        let (held, shown) = by_setup(&all, &baseline);
        let held: Vec<_> = held.into_iter().map(|finding| finding.path).collect();
        assert_eq!(held, ["tests/test_a.py"]);
        assert_eq!(shown.len(), 3);
    }
}
