//! JavaScript and TypeScript: Node's own runner, vitest, jest, mocha.

mod bodies;
mod otherwise;

use crate::language::{
    assertions::{Asking, FailureTemplate, ReplacedCode},
    outline::RepeatedNames,
    reachability::Flow,
    role::{Role, file_name, folders, in_support_folder, in_test_folder},
    settings::{Less, Watched, coverage, imports, run},
    syntax::At,
    vocabulary::{Grammar, Vocabulary},
};
use std::sync::OnceLock;

/// The vocabulary of JavaScript and TypeScript.
pub static JAVASCRIPT: Vocabulary = Vocabulary {
    name: "JavaScript",
    grammars: &GRAMMARS,
    inline_tests: false,
    role,
    is_collected: |path, _| role(path) == Some(Role::Test),
    doing: bodies::doing,
    otherwise: otherwise::otherwise,
    settings: &SETTINGS,
    flow: Flow {
        conditions: &["if_statement", "while_statement"],
        arms: &["switch_case", "switch_default", "ternary_expression"],
        functions: &[
            "function_declaration",
            "function_expression",
            "arrow_function",
            "generator_function_declaration",
        ],
        returns: &["return_statement"],
        leaves: &[
            "return_statement",
            "throw_statement",
            "break_statement",
            "continue_statement",
        ],
        never: &["false", "0", "null", "undefined", "!1", "!true", "''", "\"\""],
        empty: &["[]"],
    },
    asking: Asking {
        equals: &[],
        weak: &["isArray", "isInteger", "isFinite", "instanceof", "!!"],
        or: &["||", "??"],
        truths: &["true"],
        falsities: &["false", "null", "undefined", "0"],
    },
    made_to_fail: FailureTemplate {
        text: "void (() => { throw new Error('made to fail'); })()",
        replaces: ReplacedCode::Itself,
    },
    literals: &[
        "number",
        "string_fragment",
        "string",
        "true",
        "false",
        "null",
        "undefined",
        "array",
        "object",
        "property_identifier",
        "escape_sequence",
    ],
    empties: &["new Map()", "new Set()", "this"],
    statements: &["expression_statement"],
    nothing: &["return", ""],
    repeated_names: RepeatedNames::Apart,
    modules: &[
        "vitest",
        "jest",
        "mocha",
        "chai",
        "ava",
        "tap",
        "tape",
        "jasmine",
        "sinon",
        "@jest/globals",
        "expect",
        "@playwright/test",
        "cypress",
        "assert",
    ],
    installed: &["node_modules"],
};

static GRAMMARS: [Grammar; 3] = [
    Grammar {
        extensions: &["js", "mjs", "cjs", "jsx"],
        language: || tree_sitter_javascript::LANGUAGE.into(),
        queries: &queries(include_str!("derived.scm")),
        compiled: OnceLock::new(),
    },
    Grammar {
        extensions: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        queries: &queries(include_str!("typescript.scm")),
        compiled: OnceLock::new(),
    },
    Grammar {
        extensions: &["tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        queries: &queries(include_str!("typescript.scm")),
        compiled: OnceLock::new(),
    },
];

/// The queries that all three grammars share, and one that differs.
const fn queries(own: &'static str) -> [&'static str; 9] {
    [
        own,
        include_str!("tests.scm"),
        include_str!("functions.scm"),
        include_str!("assertions.scm"),
        include_str!("skips.scm"),
        include_str!("stubs.scm"),
        include_str!("exits.scm"),
        include_str!("tools.scm"),
        include_str!("coverage.scm"),
    ]
}

static SETTINGS: [Watched; 55] = [
    run("node-options", Less::Program),
    run("scripts.test", Less::Command),
    run("scripts.test:*", Less::Command),
    run("scripts.pretest", Less::Command),
    run("script-shell", Less::Present),
    run("scripts.tests", Less::Command),
    run("scripts.ci", Less::Command),
    coverage("scripts.coverage", Less::Command),
    run("testPathIgnorePatterns", Less::LeavesOut),
    run("modulePathIgnorePatterns", Less::LeavesOut),
    run("test.exclude", Less::LeavesOut),
    run("ignore", Less::LeavesOut),
    run("testMatch", Less::LooksAt),
    run("testRegex", Less::LooksAt),
    run("roots", Less::LooksAt),
    run("test.include", Less::LooksAt),
    run("test.dir", Less::LooksAt),
    run("spec", Less::LooksAt),
    run("passWithNoTests", Less::SwitchedOn),
    run("dangerouslyIgnoreUnhandledErrors", Less::SwitchedOn),
    run("allowOnly", Less::SwitchedOn),
    run("allow-uncaught", Less::SwitchedOn),
    run("dry-run", Less::SwitchedOn),
    run("forbid-only", Less::SwitchedOff),
    run("forbidOnly", Less::SwitchedOff),
    run("testNamePattern", Less::Present),
    run("grep", Less::Present),
    run("test.retry", Less::Present),
    run("runner", Less::Present),
    run("testRunner", Less::Present),
    run("globalTeardown", Less::Present),
    run("testResultsProcessor", Less::Present),
    imports("resolver", Less::Present),
    run("bail", Less::Present),
    coverage("exclude", Less::LeavesOut),
    coverage("coverage.include", Less::LooksAt),
    imports("automock", Less::SwitchedOn),
    coverage("coverageThreshold.*.*", Less::Lowered),
    coverage("thresholds.*", Less::Lowered),
    coverage("branches", Less::Lowered),
    coverage("lines", Less::Lowered),
    coverage("functions", Less::Lowered),
    coverage("statements", Less::Lowered),
    coverage("check-coverage", Less::SwitchedOff),
    coverage("coveragePathIgnorePatterns", Less::LeavesOut),
    coverage("coverage.exclude", Less::LeavesOut),
    coverage("collectCoverageFrom", Less::LooksAt),
    imports("dependencies.*", Less::LeadsInside),
    imports("devDependencies.*", Less::LeadsInside),
    imports("overrides.*", Less::LeadsInside),
    imports("resolutions.*", Less::LeadsInside),
    imports("imports.*", Less::LeadsInside),
    imports("paths.*", Less::LeadsInside),
    imports("moduleNameMapper.*", Less::LeadsInside),
    imports("alias.*", Less::LeadsInside),
];

const SETTINGS_FILES: [&str; 14] = [
    "jest.config",
    "vitest.config",
    "vitest.workspace",
    "vite.config",
    "vitest.projects",
    ".mocharc",
    ".nycrc",
    ".c8rc",
    "nyc.config",
    "karma.conf",
    "ava.config",
    "playwright.config",
    "cypress.config",
    "babel.config",
];

const SET_UP: [&str; 8] = [
    "jest.setup",
    "vitest.setup",
    "setupTests",
    "setup-tests",
    "test-setup",
    "test.setup",
    "setup.test-env",
    "testSetup",
];

const FUNCTIONS: [&str; 6] = [
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let is_one_of = |stems: &[&str]| {
        let rest = stems.iter().find_map(|stem| name.strip_prefix(stem));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if matches!(name, "package.json" | ".npmrc" | "tsconfig.json") || is_one_of(&SETTINGS_FILES) {
        return Some(Role::Settings);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if !GRAMMARS.iter().any(|grammar| grammar.extensions.contains(&extension)) {
        return None;
    }
    let in_jest_folder = folders(path).any(|folder| folder == "__tests__");
    let marked = [".test", ".spec", "-test", "_test", "-spec", "_spec"]
        .iter()
        .any(|mark| stem.ends_with(mark))
        || stem == "test"
        || stem.starts_with("test-")
        || [".test.", ".spec."].iter().any(|mark| name.contains(mark));
    Some(if is_one_of(&SET_UP) {
        Role::Support
    } else if marked {
        Role::Test
    } else if folders(path).any(|folder| folder == "__mocks__") {
        Role::Support
    } else if in_jest_folder || in_test_folder(path) {
        let helps =
            in_support_folder(path) || ["setup", "helper", "helpers", "fixtures", "util", "utils"].contains(&stem);
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
