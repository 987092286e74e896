//! Settings, scripts and hooks that exclude tests, tolerate their failures, or try them until they pass.

use super::{Place, ReadingRule, at};
use crate::{
    changed_file::Reading,
    language::{capture::Fact, outline::Of, settings::Purpose},
    marks::new_marks,
    settings,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::RunnerWeakened,
    applies: super::ANYWHERE,
    refuses: &[(
        "package.json",
        "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n",
        "{\n  \"scripts\": { \"test\": \"jest || true\" }\n}\n",
    )],
    accepts: &[(
        "package.json",
        "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n",
        "{\n  \"scripts\": { \"test\": \"jest --coverage\" }\n}\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Place> {
    let new = new_marks(reading, &[Fact::Runner], &[Of::Tests]);
    let mut found: Vec<Place> = new
        .into_iter()
        .map(|(file, mark)| at(file.path, mark.line, Detail::Code(mark.text.clone())))
        .collect();
    found.extend(settings::find(reading, Purpose::Run));
    found.extend(settings::scripts(reading));
    found
}
