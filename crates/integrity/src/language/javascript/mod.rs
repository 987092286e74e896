//! JavaScript and TypeScript: node's own runner, vitest, jest, mocha; their assertions and marks, stubs and exits.

mod answers;
mod bodies;
mod calls;
mod cases;
mod checks;
mod constants;
mod hollow;
mod marks;
mod names;
mod otherwise;
mod retries;
mod shadows;
mod skips;
mod stand_ins;
mod stored;
mod strength;
mod stubs;
mod swallows;

use crate::language::{
    Language, Role,
    flow::Flow,
    outline::{Function, Outline, Setting, Source, Table},
    role::{file_name, folders, in_support_folder, in_test_folder},
    settings::{Less, Watched, watched},
    syntax::At,
};
use calls::{callee, makes_test};
use cases::call;
use domain::integrity::Rule;

/// What the Gates know of JavaScript and TypeScript.
pub static JAVASCRIPT: Language = Language {
    name: "JavaScript",
    extensions: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
    inline_tests: false,
    role,
    grammar,
    outline,
    doing: bodies::doing,
    otherwise: otherwise::otherwise,
    is_collected: |path, _| role(path) == Some(Role::Test),
    watched: &WATCHED,
    shadows: shadows::shadows,
};

static WATCHED: [Watched; 47] = [
    watched("node-options", Rule::RunnerWeakened, Less::Program),
    watched("scripts.test", Rule::RunnerWeakened, Less::Command),
    watched("scripts.test:*", Rule::RunnerWeakened, Less::Command),
    watched("scripts.pretest", Rule::RunnerWeakened, Less::Command),
    watched("script-shell", Rule::RunnerWeakened, Less::Present),
    watched("scripts.tests", Rule::RunnerWeakened, Less::Command),
    watched("scripts.ci", Rule::RunnerWeakened, Less::Command),
    watched("scripts.coverage", Rule::CoverageWeakened, Less::Command),
    watched("testPathIgnorePatterns", Rule::RunnerWeakened, Less::LeavesOut),
    watched("modulePathIgnorePatterns", Rule::RunnerWeakened, Less::LeavesOut),
    watched("test.exclude", Rule::RunnerWeakened, Less::LeavesOut),
    watched("ignore", Rule::RunnerWeakened, Less::LeavesOut),
    watched("testMatch", Rule::RunnerWeakened, Less::LooksAt),
    watched("testRegex", Rule::RunnerWeakened, Less::LooksAt),
    watched("roots", Rule::RunnerWeakened, Less::LooksAt),
    watched("test.include", Rule::RunnerWeakened, Less::LooksAt),
    watched("test.dir", Rule::RunnerWeakened, Less::LooksAt),
    watched("spec", Rule::RunnerWeakened, Less::LooksAt),
    watched("passWithNoTests", Rule::RunnerWeakened, Less::SwitchedOn),
    watched(
        "dangerouslyIgnoreUnhandledErrors",
        Rule::RunnerWeakened,
        Less::SwitchedOn,
    ),
    watched("allowOnly", Rule::RunnerWeakened, Less::SwitchedOn),
    watched("allow-uncaught", Rule::RunnerWeakened, Less::SwitchedOn),
    watched("dry-run", Rule::RunnerWeakened, Less::SwitchedOn),
    watched("forbid-only", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("forbidOnly", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("testNamePattern", Rule::RunnerWeakened, Less::Present),
    watched("grep", Rule::RunnerWeakened, Less::Present),
    watched("test.retry", Rule::RunnerWeakened, Less::Present),
    watched("runner", Rule::RunnerWeakened, Less::Present),
    watched("testRunner", Rule::RunnerWeakened, Less::Present),
    watched("globalTeardown", Rule::RunnerWeakened, Less::Present),
    watched("testResultsProcessor", Rule::RunnerWeakened, Less::Present),
    watched("resolver", Rule::ShadowModule, Less::Present),
    watched("bail", Rule::RunnerWeakened, Less::Present),
    watched("exclude", Rule::CoverageWeakened, Less::LeavesOut),
    watched("coverage.include", Rule::CoverageWeakened, Less::LooksAt),
    watched("automock", Rule::ShadowModule, Less::SwitchedOn),
    watched("coverageThreshold.*.*", Rule::CoverageWeakened, Less::Lowered),
    watched("thresholds.*", Rule::CoverageWeakened, Less::Lowered),
    watched("branches", Rule::CoverageWeakened, Less::Lowered),
    watched("lines", Rule::CoverageWeakened, Less::Lowered),
    watched("functions", Rule::CoverageWeakened, Less::Lowered),
    watched("statements", Rule::CoverageWeakened, Less::Lowered),
    watched("check-coverage", Rule::CoverageWeakened, Less::SwitchedOff),
    watched("coveragePathIgnorePatterns", Rule::CoverageWeakened, Less::LeavesOut),
    watched("coverage.exclude", Rule::CoverageWeakened, Less::LeavesOut),
    watched("collectCoverageFrom", Rule::CoverageWeakened, Less::LooksAt),
];

static FLOW: Flow = Flow {
    conditions: &["if_statement", "while_statement"],
    loops: (&["for_in_statement"], "right"),
    is_empty: names::is_empty,
    arms: &["switch_case", "switch_default", "ternary_expression"],
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "generator_function_declaration",
    ],
    leaves: &[
        "return_statement",
        "throw_statement",
        "break_statement",
        "continue_statement",
    ],
    never: &["false", "0", "null", "undefined", "!1", "!true", "''", "\"\""],
    always: &["true", "1", "!0", "!false"],
    swallows: swallows::swallows,
};

const SETTINGS: [&str; 14] = [
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

fn grammar(path: &str) -> tree_sitter::Language {
    match file_name(path).rsplit('.').next() {
        Some("ts" | "mts" | "cts") => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Some("tsx") => tree_sitter_typescript::LANGUAGE_TSX.into(),
        _ => tree_sitter_javascript::LANGUAGE.into(),
    }
}

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let is_one_of = |stems: &[&str]| {
        let rest = stems.iter().find_map(|stem| name.strip_prefix(stem));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if matches!(name, "package.json" | ".npmrc") || is_one_of(&SETTINGS) {
        return Some(Role::Settings);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if !JAVASCRIPT.extensions.contains(&extension) {
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

fn outline(source: &Source<'_>) -> Outline {
    let mut outline = Outline::default();
    for at in source.root.below() {
        match at.kind() {
            "call_expression" => call(at, &mut outline),
            "function_declaration" | "method_definition" | "generator_function_declaration" => {
                named_function(at, at, &mut outline)
            }
            "variable_declarator" => {
                outline.defines.push(at.field_text("name").to_owned());
                if let Some(value) = at.field("value").filter(|value| value.is(&FUNCTIONS)) {
                    named_function(at, value, &mut outline);
                }
            }
            "class_declaration" | "class" => {
                outline.defines.push(at.field_text("name").to_owned());
                constants::overrides(at, &mut outline);
            }
            "interface_declaration" | "type_alias_declaration" | "enum_declaration" => {
                outline.defines.push(at.field_text("name").to_owned());
            }
            "for_in_statement" if source.role != Role::Source => outline.tables.push(Table::at(at)),
            "array" if source.role != Role::Source && is_table(at) => outline.tables.push(Table::at(at)),
            "pair" if source.role == Role::Settings => outline.settings.extend(setting(at)),
            _ => {}
        }
        if source.role == Role::Source && at.is(&FUNCTIONS) {
            constants::constant(source.root, at, &mut outline);
        }
        if source.role != Role::Source {
            stand_ins::at(at, &mut outline);
        }
        marks::at(source, at, &mut outline);
        stubs::at(source, at, &mut outline.marks);
    }
    outline
}

/// A value of a settings file that is code, under the names of the objects around it.
fn setting(at: At<'_>) -> Option<Setting> {
    let value = at.field("value").filter(|value| !value.is(&["object"]))?;
    let around = at.ancestors().filter(|outer| outer.is(&["pair"]));
    let mut names: Vec<&str> = std::iter::once(at)
        .chain(around)
        .map(|pair| pair.field_text("key").trim_matches(['"', '\'']))
        .collect();
    names.reverse();
    let values: Vec<String> = match value.kind() {
        "array" => value
            .children()
            .map(|item| item.text().trim_matches(['"', '\'', '`']).to_owned())
            .collect(),
        _ => vec![value.text().trim_matches(['"', '\'', '`']).to_owned()],
    };
    Some(Setting {
        name: names.join("."),
        values,
        line: at.line(),
    })
}

fn named_function(named: At<'_>, function: At<'_>, outline: &mut Outline) {
    let Some(body) = function.field("body") else { return };
    let name = named.field_text("name").to_owned();
    outline.defines.push(name.clone());
    if named
        .ancestors()
        .any(|outer| outer.is(&["call_expression"]) && makes_test(&callee(outer)))
    {
        return;
    }
    outline.functions.push(Function {
        name,
        line: named.line(),
        words: body.words(),
        checks: checks::in_body(body),
    });
}

/// Whether a list stands by itself, outside of tests and of other lists.
fn is_table(at: At<'_>) -> bool {
    let inside = |outer: At<'_>| outer.is(&["array"]) || outer.is(&["call_expression"]) && makes_test(&callee(outer));
    !at.ancestors().any(inside)
}
