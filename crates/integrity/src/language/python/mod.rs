//! Python: pytest and unittest.

mod bodies;
mod return_values;
mod test_parts;

use crate::{
    language::{
        role::{Role, file_name, in_test_folder},
        syntax::At,
        vocabulary::{Grammar, Vocabulary, Words, grammar},
    },
    words::is_one_of,
};
use std::sync::LazyLock;

pub static PYTHON: Vocabulary = Vocabulary {
    name: "Python",
    grammars: &GRAMMARS,
    test_parts: Some(test_parts::test_parts),
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    words: LazyLock::new(|| Words::read(include_str!("words.toml"))),
};

static GRAMMARS: [Grammar; 2] = [
    grammar!(["py"], tree_sitter_python::LANGUAGE),
    // Stub files contain only types, no bodies.
    Grammar {
        extensions: &["pyi"],
        language: || tree_sitter_python::LANGUAGE.into(),
        queries: &[include_str!("functions.scm")],
        compiled: std::sync::OnceLock::new(),
    },
];

const SETTINGS_FILES: &str = "
    pytest.ini .pytest.ini pytest.toml setup.cfg tox.ini tox.toml pyproject.toml .coveragerc noxfile.py nose.cfg
    unittest.cfg
";

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    if is_one_of(SETTINGS_FILES, name) {
        return Some(Role::Settings);
    }
    let stem = name.strip_suffix(".py").or_else(|| name.strip_suffix(".pyi"))?;
    Some(match stem {
        "conftest" => Role::Support,
        "tests" | "test" => Role::Test,
        _ if stem.starts_with("test_") || stem.ends_with("_test") || stem.ends_with("_tests") => Role::Test,
        _ if in_test_folder(path) => Role::Support,
        _ => Role::Source,
    })
}

fn is_nothing(statement: At<'_>) -> bool {
    statement.is(&["pass_statement"]) || statement.is(&["expression_statement"]) && statement.text() == "..."
}
