//! JavaScript and TypeScript: Node's own runner, vitest, jest, mocha.

mod bodies;
mod return_values;

use crate::{
    language::{
        role::{Role, file_name, folders, in_support_folder, in_test_folder},
        syntax::At,
        vocabulary::{Grammar, Vocabulary, Words, grammar},
    },
    words::is_one_of,
};
use std::sync::LazyLock;

/// The vocabulary of JavaScript and TypeScript.
pub static JAVASCRIPT: Vocabulary = Vocabulary {
    name: "JavaScript",
    grammars: &GRAMMARS,
    test_parts: None,
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    words: LazyLock::new(|| Words::read(include_str!("words.toml"))),
};

static GRAMMARS: [Grammar; 3] = [
    grammar!(["js", "mjs", "cjs", "jsx"], tree_sitter_javascript::LANGUAGE, "derived.scm"),
    grammar!(["ts", "mts", "cts"], tree_sitter_typescript::LANGUAGE_TYPESCRIPT, "typescript.scm"),
    grammar!(["tsx"], tree_sitter_typescript::LANGUAGE_TSX, "typescript.scm"),
];

const SETTINGS_FILES: &str = "
    jest.config vitest.config vitest.workspace vite.config vitest.projects .mocharc .nycrc .c8rc nyc.config
    karma.conf ava.config playwright.config cypress.config babel.config
";

const SET_UP: &str = "jest.setup vitest.setup setupTests setup-tests test-setup test.setup setup.test-env testSetup";

const FUNCTIONS: &str = "
    function_declaration function_expression arrow_function method_definition
    generator_function generator_function_declaration
";

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let begins = |stems: &str| {
        let rest = stems.split_whitespace().find_map(|stem| name.strip_prefix(stem));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if matches!(name, "package.json" | ".npmrc" | "tsconfig.json") || begins(SETTINGS_FILES) {
        return Some(Role::Settings);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if !GRAMMARS.iter().any(|grammar| grammar.extensions.contains(&extension)) {
        return None;
    }
    let ends = [".test", ".spec", "-test", "_test", "-spec", "_spec"];
    let marked = stem == "test"
        || stem.starts_with("test-")
        || ends.iter().any(|mark| stem.ends_with(mark))
        || [".test.", ".spec."].iter().any(|mark| name.contains(mark));
    Some(if begins(SET_UP) {
        Role::Support
    } else if marked {
        Role::Test
    } else if folders(path).any(|folder| folder == "__mocks__") {
        Role::Support
    } else if in_test_folder(path) {
        let helps = in_support_folder(path) || is_one_of("setup helper helpers fixtures util utils", stem);
        if helps { Role::Support } else { Role::Test }
    } else {
        Role::Source
    })
}

/// Returns a function's name: its own, or that of the variable or property that holds it.
fn name_of(function: At<'_>) -> Option<At<'_>> {
    function.field("name").or_else(|| function.parent()?.field("name")).or_else(|| function.parent()?.field("key"))
}
