//! The repository's CI does less: it runs fewer checks, or ignores their failures.

use crate::{
    rules::rule::{ANYWHERE, ReadingRule},
    settings,
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::CiWeakened,
    applies: ANYWHERE,
    refuses: &[(
        ".gitlab-ci.yml",
        "test:\n  script:\n    - cargo test\n",
        "test:\n  allow_failure: true\n  script:\n    - cargo test\n",
    )],
    accepts: &[(
        ".gitlab-ci.yml",
        "test:\n  script:\n    - cargo test\n",
        "test:\n  script:\n    - cargo clippy\n    - cargo test\n",
    )],
    check: settings::ci,
};
