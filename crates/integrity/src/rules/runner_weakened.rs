//! Settings, scripts or hooks exclude tests, ignore their failures, or retry them until they pass.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        capture::Fact,
        outline::{Mark, Of},
        settings::Purpose,
    },
    marks::new_marks,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_mark},
    settings,
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::RunnerWeakened,
    applies: ANYWHERE,
    refuses: &[
        (
            "package.json",
            "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n",
            "{\n  \"scripts\": { \"test\": \"jest || true\" }\n}\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nxfail_strict = true\n",
            "[tool.pytest]\nstrict = false\n",
        ),
    ],
    accepts: &[
        (
            "package.json",
            "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n",
            "{\n  \"scripts\": { \"test\": \"jest --coverage\" }\n}\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nxfail_strict = true\ntestpaths = \"tests\"\n",
            "[tool.pytest]\nstrict = true\ntestpaths = [\"tests\"]\n",
        ),
        (
            "tox.ini",
            "[testenv:py{39,310}-tests]\ncommands = pytest\n[testenv:docs]\ncommands = sphinx\n",
            "[testenv:py{310,311}-tests]\ncommands = pytest\n[testenv:pages]\ncommands = sphinx\n",
        ),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Runner], &[Of::Tests]);
    // The author of a new test may mark it freely.
    let is_of_new_test = |file: &ChangedFile<'_>, mark: &Mark| {
        let next = file.after.tests.iter().find(|test| test.line > mark.line);
        let is_known = |name: &str| file.before.tests.iter().any(|test| test.name == name);
        let is_near = |line: u32| line.saturating_sub(mark.line) < 10;
        next.is_some_and(|test| is_near(test.line) && !is_known(&test.name))
    };
    let of_old = new.into_iter().filter(|(file, mark)| !is_of_new_test(file, mark));
    let mut found: Vec<Violation> = of_old.map(at_mark).collect();
    found.extend(settings::find(reading, Purpose::Run));
    found.extend(settings::scripts(reading));
    found
}
