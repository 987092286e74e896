//! Rust: Cargo's places for tests, test attributes, the standard assertions.

mod answers;
mod bodies;
mod return_values;
mod test_parts;

use crate::{
    language::{
        outline::Source,
        role::{Role, file_name, folders, in_support_folder},
        syntax::At,
        vocabulary::{Grammar, Vocabulary, Words, grammar},
    },
    words::is_one_of,
};
use std::sync::LazyLock;

pub static RUST: Vocabulary = Vocabulary {
    name: "Rust",
    grammars: &GRAMMARS,
    test_parts: Some(test_parts::test_parts),
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    words: LazyLock::new(|| Words::read(include_str!("words.toml"))),
};

static GRAMMARS: [Grammar; 1] = [grammar!(["rs"], tree_sitter_rust::LANGUAGE)];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let folder = folders(path).next_back();
    match (name, folder) {
        ("Cargo.toml" | "clippy.toml" | "tarpaulin.toml" | ".tarpaulin.toml" | "rust-toolchain.toml", _) => {
            return Some(Role::Settings);
        }
        ("config.toml" | "config", Some(".cargo")) | ("nextest.toml", Some(".config")) => return Some(Role::Settings),
        _ => {}
    }
    let stem = name.strip_suffix(".rs")?;
    let below_tests = folders(path).any(|folder| folder == "tests");
    let in_src = folders(path).any(|folder| folder == "src");
    let named = matches!(stem, "tests" | "test") || stem.ends_with("_test") || stem.ends_with("_tests");
    Some(match (below_tests, in_src) {
        (true, false) if in_support_folder(path) || matches!(folder, Some("common" | "util" | "utils")) => {
            Role::Support
        }
        (true, _) => Role::Test,
        (false, _) if named => Role::Test,
        (false, _) => Role::Source,
    })
}

fn attributes(at: At<'_>) -> impl Iterator<Item = At<'_>> {
    let above = std::iter::successors(at.previous(), |at| at.previous());
    above.take_while(|at| at.is(&["attribute_item"]))
}

const TEST_ATTRIBUTES: &str = "test rstest test_case wasm_bindgen_test quickcheck bolero_test";

/// `true` if an attribute of an item makes the compiler include it only for tests.
fn is_for_tests(item: At<'_>) -> bool {
    attributes(item).any(|attribute| {
        let text: String = attribute.text().split_whitespace().collect();
        let mut parts = text.trim_start_matches(['#', '[']).split(['(', ']', '=']);
        let name = parts.next().and_then(|path| path.rsplit("::").next()).unwrap_or_default();
        let for_tests = ["#[cfg(test", "#[cfg(all(test"].iter().any(|start| text.starts_with(start));
        for_tests || is_one_of(TEST_ATTRIBUTES, name)
    })
}

fn is_test_code(source: &Source<'_>, at: At<'_>) -> bool {
    let mut around = std::iter::once(at).chain(at.ancestors());
    source.role != Role::Source
        || around.any(|outer| outer.is(&["function_item", "mod_item", "impl_item"]) && is_for_tests(outer))
}
