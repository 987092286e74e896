//! A number in test code, such as that of random cases, was halved or lowered further.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::Role,
    rules::rule::{ReadingRule, Violation, at_line},
};
use domain::integrity::Rule;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::FewerCases, applies: &[Role::Test, Role::Support, Role::Settings], check };

/// The fewest cases that count as many.
const MANY: u64 = 10;

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.files.iter().filter_map(in_one).collect()
}

fn in_one(file: &ChangedFile<'_>) -> Option<Violation> {
    let (before, after) = file.texts();
    let kept: BTreeSet<&str> = after.lines().map(str::trim).collect();
    let gone = before.lines().filter(|line| !kept.contains(line.trim()));
    let gone: BTreeMap<String, u64> = gone.filter_map(setting).collect();
    let is_check = |line: u32| {
        let mut checks = file.after.tests.iter().flat_map(|test| &test.checks);
        checks.any(|check| check.line == line)
    };
    let is_fewer = |line: &str| {
        let old = setting(line).and_then(|(form, is)| Some((*gone.get(&form)?, is)));
        old.is_some_and(|(was, is)| was >= MANY && is.saturating_mul(2) <= was)
    };
    let mut fewer = file.new_lines(&after).into_iter().filter(|(number, line)| !is_check(*number) && is_fewer(line));
    fewer.next().map(|(number, line)| at_line(file.path, number, line))
}

/// Splits a line that gives a name its only number, such as `cases = 100`, into the rest and the number.
fn setting(line: &str) -> Option<(String, u64)> {
    let line = line.trim();
    let (name, value) = line.rsplit_once(['=', ':'])?;
    let value = value.trim_start();
    let is_part = |c: char| c.is_ascii_digit() || c == '_';
    let end = value.find(|c| !is_part(c)).unwrap_or(value.len());
    let (number, rest) = value.split_at_checked(end)?;
    let is_alone = !name.ends_with(['=', '!', '<', '>']) && !rest.contains(|c: char| c.is_alphanumeric());
    let number = number.replace('_', "").parse().ok().filter(|_| is_alone)?;
    Some((format!("{name} {rest}"), number))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("tests/random.rs", "const CASES: u32 = 500;\n", "const CASES: u32 = 1;\n")],
            &[("tests/random.rs", "const CASES: u32 = 500;\n", "const CASES: u32 = 400;\n")],
        );
    }
}
