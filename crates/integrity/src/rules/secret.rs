//! Something looks like a credential.

use crate::{
    change::FileChange,
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place, in_file},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::Secret, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let secrets = reading.change.known_secrets;
    let in_one = |file: &FileChange| {
        let find = |bytes| secrets.find(&file.path, bytes);
        let known = file.before.bytes().map_or_else(Vec::new, find);
        let found = file.after.bytes().map_or_else(Vec::new, find).into_iter();
        let new = found.filter(|found| !found.is_among(&known));
        new.map(|found| {
            let what = Detail::Code(found.kind.to_string());
            match u32::try_from(found.line) {
                Ok(line) => at_place(&file.path, line, what),
                Err(_) => in_file(&file.path, what),
            }
        })
        .collect::<Vec<_>>()
    };
    reading.change.files.iter().flat_map(in_one).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[("deploy.sh", "", concat!("token=ghp", "_9fKq2LmZx7Rt4VbN8sWc3YdH6jPgT1uQaE5o\n"))],
            &[("deploy.sh", "", "token=$DEPLOY_TOKEN\n")],
        );
    }
}
