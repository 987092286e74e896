//! If an import fails, nothing or a stand-in takes its place: what is missing is no longer noticed.

use crate::{
    changed_file::Reading,
    language::{capture::Fact, outline::Of},
    marks::new_marks,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_mark},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ImportFallback,
    applies: ANYWHERE,
    refuses: &[
        (
            "tests/test_fees.py",
            "",
            "try:\n    from ledger.fees import fee\nexcept ImportError:\n    fee = None\n",
        ),
        (
            "test/fees.test.js",
            "",
            "let fee;\ntry { fee = require('../src/fees.js'); } catch { fee = () => 1; }\n",
        ),
    ],
    accepts: &[(
        "ledger/toml.py",
        "",
        "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Fallback], &[Of::Tests, Of::Product]);
    new.into_iter().map(at_mark).collect()
}
