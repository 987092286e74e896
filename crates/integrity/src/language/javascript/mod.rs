//! JavaScript and TypeScript: Node's own runner, vitest, jest, mocha.

mod bodies;
mod return_values;

use crate::{
    language::{
        assertions::{ComparisonWords, FailureTemplate, ReplacedCode},
        reachability::Flow,
        role::{Role, file_name, folders, in_support_folder, in_test_folder},
        syntax::At,
        vocabulary::{Grammar, Installed, Vocabulary, grammar},
    },
    words::is_one_of,
};

/// The vocabulary of JavaScript and TypeScript.
pub static JAVASCRIPT: Vocabulary = Vocabulary {
    name: "JavaScript",
    grammars: &GRAMMARS,
    test_parts: None,
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    local: &["file:", "link:", "portal:", "<rootDir>"],
    redirects: "moduleNameMapper alias paths imports overrides resolutions",
    writes: &["writeFile", "createWriteStream", "appendFile", "copyFile", "Bun.write"],
    environment: &["process.env", "Deno.env", "Bun.env"],
    imports: &["import ", "require(", "from "],
    flow: Flow {
        conditions: "if_statement while_statement",
        arms: "switch_case switch_default ternary_expression",
        functions: "function_declaration function_expression arrow_function generator_function_declaration",
        returns: "return_statement",
        leaves: "return_statement throw_statement break_statement continue_statement",
        perhaps: "",
        never: &["false", "0", "null", "undefined", "!1", "!true", "''", "\"\""],
        empty: &["[]"],
    },
    comparison: ComparisonWords {
        equals: "",
        weak: "isArray isInteger isFinite instanceof !!",
        or: "|| ??",
        falls_back: "|| ??",
        truths: "true",
        falsities: "false null undefined 0",
        reshapes: "sort length size toLowerCase toUpperCase toString trim",
        methods: "asymmetricMatch equals isEqual",
    },
    made_to_fail: FailureTemplate {
        text: "void (() => { throw new Error('made to fail'); })()",
        replaces: ReplacedCode::Itself,
        around: "",
    },
    literals: LITERALS,
    empties: "new Map(), new Set(), this",
    statements: "expression_statement",
    last_test_wins: false,
    installed: Some(Installed {
        folder: "node_modules",
        manifest: "package.json",
        index: None,
    }),
};

const LITERALS: &str = "
    number string_fragment string true false null undefined array object property_identifier escape_sequence
";

static GRAMMARS: [Grammar; 3] = [
    grammar!(
        ["js", "mjs", "cjs", "jsx"],
        tree_sitter_javascript::LANGUAGE,
        "derived.scm"
    ),
    grammar!(
        ["ts", "mts", "cts"],
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        "typescript.scm"
    ),
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
fn named(function: At<'_>) -> Option<At<'_>> {
    function
        .field("name")
        .or_else(|| function.parent()?.field("name"))
        .or_else(|| function.parent()?.field("key"))
}
