//! Python: pytest and unittest.

mod bodies;
mod return_values;
mod test_parts;

use crate::{
    language::{
        assertions::{ComparisonWords, FailureTemplate, ReplacedCode},
        reachability::Flow,
        role::{Role, file_name, in_test_folder},
        syntax::At,
        vocabulary::{Grammar, Vocabulary, grammar},
    },
    words::is_one_of,
};

/// The vocabulary of Python.
pub static PYTHON: Vocabulary = Vocabulary {
    name: "Python",
    grammars: &GRAMMARS,
    test_parts: Some(test_parts::test_parts),
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    local: &[],
    redirects: "",
    writes: &[
        "write_text(",
        "write_bytes(",
        "\"w",
        "'w",
        ".dump(",
        "copyfile(",
        "savetxt(",
        "to_csv(",
        "to_json(",
    ],
    environment: &["environ", "getenv("],
    imports: &["import "],
    flow: Flow {
        conditions: "if_statement while_statement elif_clause",
        arms: "case_clause conditional_expression",
        functions: "function_definition lambda",
        returns: "return_statement",
        leaves: "return_statement raise_statement break_statement continue_statement",
        perhaps: "",
        never: &["False", "0", "None", "\"\"", "''", "[]", "not True"],
        empty: &["[]", "()", "{}", "range(0)", "\"\""],
    },
    comparison: ComparisonWords {
        equals: "assertEqual assertIs assertListEqual assertDictEqual",
        weak: "isinstance hasattr callable issubclass bool",
        or: "or",
        falls_back: "or",
        truths: "True",
        falsities: "False None 0",
        reshapes: "sorted set frozenset len str repr type sort lower upper strip",
        methods: "__eq__ __ne__",
    },
    made_to_fail: FailureTemplate {
        text: "raise AssertionError('made to fail')",
        replaces: ReplacedCode::Statement,
        around: "as_pattern with_item with_clause with_statement",
    },
    literals: LITERALS,
    empties: "dict(), list(), set(), Decimal(0)",
    statements: "expression_statement assert_statement",
    last_test_wins: true,
    installed: None,
};

const LITERALS: &str = "
    integer float true false none string_start string_content string_end list tuple dictionary ellipsis
";

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
