//! Go: `go test`, with testify's assertions.

mod bodies;
mod return_values;

use crate::language::{
    role::{Role, file_name, folders},
    vocabulary::{Grammar, Vocabulary, Words, grammar},
};
use std::sync::LazyLock;

pub static GO: Vocabulary = Vocabulary {
    name: "Go",
    grammars: &GRAMMARS,
    test_parts: None,
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    words: LazyLock::new(|| Words::read(include_str!("words.toml"))),
};

static GRAMMARS: [Grammar; 1] = [grammar!(["go"], tree_sitter_go::LANGUAGE)];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    if matches!(name, "go.mod" | ".testcoverage.yml") {
        return Some(Role::Settings);
    }
    let stem = name.strip_suffix(".go")?;
    let is_support = folders(path).any(|folder| matches!(folder, "testdata" | "testutil" | "testutils" | "testhelper"));
    Some(match (stem.ends_with("_test"), is_support) {
        (true, _) => Role::Test,
        (false, true) => Role::Support,
        (false, false) => Role::Source,
    })
}
