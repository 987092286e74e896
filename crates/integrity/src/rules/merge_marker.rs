//! A merge conflict was not resolved: an opening marker and a later closing one are at the start of lines, or there is
//! only a closing one in the form that git writes.

use crate::{
    change::FileChange,
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::MergeMarker, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.change.files.iter().flat_map(in_one).collect()
}

fn in_one(file: &FileChange) -> Vec<Violation> {
    let before = file.before.bytes().map_or(0, |bytes| conflicts(bytes).len());
    let after = file.after.bytes().map_or_else(Vec::new, conflicts);
    if after.len() <= before {
        return Vec::new();
    }
    let violations = after.into_iter();
    violations.map(|line| at_place(&file.path, line, Detail::Nothing)).collect()
}

fn conflicts(bytes: &[u8]) -> Vec<u32> {
    let mut open = None;
    let mut found = Vec::new();
    for (number, line) in (1u32..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.starts_with(b"<<<<<<< ") {
            open = Some(number);
        } else if line.starts_with(b">>>>>>> ") {
            let alone = is_as_git_writes(line).then_some(number);
            found.extend(open.take().or(alone));
        }
    }
    found
}

/// `true` for a closing marker in git's form, such as `>>>>>>> 3f2a1b0 (subject of the commit)`.
fn is_as_git_writes(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_whitespace().skip(1);
    let is_id = |word: &str| (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    words.next().is_some_and(is_id) && words.next().is_none_or(|word| word.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("a.txt", "", concat!("<<<<<<", "< HEAD\none\n=======\ntwo\n>>>>>>", "> main\n"))],
            &[("a.txt", "", "Title\n=======\n>>> quoted\n")],
        );
    }
}
