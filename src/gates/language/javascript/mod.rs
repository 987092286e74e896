//! JavaScript and TypeScript: node's own runner, vitest, jest, mocha; their assertions and marks, stubs and exits.

mod checks;
mod marks;
mod shadows;
mod stubs;

use crate::domain::integrity::Rule;
use crate::gates::language::Language;
use crate::gates::language::Role;
use crate::gates::language::flow::Flow;
use crate::gates::language::outline::Function;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Outline;
use crate::gates::language::outline::Setting;
use crate::gates::language::outline::Source;
use crate::gates::language::outline::Table;
use crate::gates::language::outline::Test;
use crate::gates::language::outline::Work;
use crate::gates::language::outline::quoted;
use crate::gates::language::role::file_name;
use crate::gates::language::role::folders;
use crate::gates::language::role::in_support_folder;
use crate::gates::language::role::in_test_folder;
use crate::gates::language::settings::Less;
use crate::gates::language::settings::Watched;
use crate::gates::language::settings::watched;
use crate::gates::language::syntax::At;

/// What the Gates know of JavaScript and TypeScript.
pub static JAVASCRIPT: Language = Language {
    name: "JavaScript",
    extensions: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
    inline_tests: false,
    role,
    grammar,
    outline,
    is_collected: |path, _| role(path) == Some(Role::Test),
    watched: &WATCHED,
    shadows: shadows::shadows,
};

static WATCHED: [Watched; 42] = [
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
    functions: &["function_declaration", "function_expression", "arrow_function"],
    leaves: &[
        "return_statement",
        "throw_statement",
        "break_statement",
        "continue_statement",
    ],
    never: &["false", "0", "null", "undefined", "!1", "!true", "''", "\"\""],
    always: &["true", "1", "!0", "!false"],
    swallows: checks::swallows,
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
            "class_declaration" | "interface_declaration" | "type_alias_declaration" | "enum_declaration" => {
                outline.defines.push(at.field_text("name").to_owned());
            }
            "for_in_statement" if source.role != Role::Source => outline.tables.push(Table::at(at)),
            "array" if source.role != Role::Source && is_table(at) => outline.tables.push(Table::at(at)),
            "pair" if source.role == Role::Settings => outline.settings.extend(setting(at)),
            _ => {}
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

const TESTS: [&str; 9] = ["it", "test", "specify", "xit", "xtest", "fit", "xspecify", "t", "Deno"];
const SUITES: [&str; 7] = [
    "describe",
    "context",
    "suite",
    "xdescribe",
    "fdescribe",
    "xcontext",
    "xsuite",
];

/// The dotted name that is called, through `test.each(…)(…)`.
fn callee(at: At<'_>) -> String {
    let mut function = at.field("function");
    while let Some(inner) = function.filter(|function| function.is(&["call_expression"])) {
        function = inner.field("function");
    }
    let text = function.map_or("", At::text);
    text.replace("[\"", ".")
        .replace("['", ".")
        .replace("\"]", "")
        .replace("']", "")
}

/// `it`, `test.skip`, `t.test`: whether a called name makes a test.
fn makes_test(name: &str) -> bool {
    let mut parts = name.split('.');
    match (parts.next(), parts.next()) {
        (Some("t" | "Deno"), second) => second == Some("test"),
        (Some(first), second) => {
            TESTS.contains(&first)
                && !matches!(
                    second,
                    Some(
                        "step"
                            | "extend"
                            | "use"
                            | "describe"
                            | "beforeEach"
                            | "afterEach"
                            | "beforeAll"
                            | "afterAll"
                            | "before"
                            | "after"
                            | "mock"
                    )
                )
        }
        (None, _) => false,
    }
}

fn makes_suite(name: &str) -> bool {
    name.split('.').next().is_some_and(|first| SUITES.contains(&first)) || name.starts_with("test.describe")
}

fn title(at: At<'_>) -> String {
    let first = at.field("arguments").and_then(|list| list.children().next());
    first.map_or_else(String::new, |first| {
        first.text().trim_matches(['"', '\'', '`']).to_owned()
    })
}

fn callback(at: At<'_>) -> Option<At<'_>> {
    at.field("arguments")?
        .children()
        .filter(|argument| argument.is(&["arrow_function", "function_expression"]))
        .last()
}

fn call(at: At<'_>, outline: &mut Outline) {
    let name = callee(at);
    let is_inner = at.parent().is_some_and(|outer| {
        outer.is(&["call_expression"]) && outer.field("function").is_some_and(|function| function.is_same(at))
    });
    let Some(arguments) = at.field("arguments").filter(|arguments| arguments.is(&["arguments"])) else {
        return;
    };
    if !makes_test(&name) || is_inner || arguments.children().next().is_none() {
        return;
    }
    let function = callback(at);
    let body = function
        .and_then(|function| function.field("body"))
        .unwrap_or(arguments);
    let suites: Vec<At<'_>> = at
        .ancestors()
        .filter(|outer| outer.is(&["call_expression"]) && (makes_suite(&callee(*outer)) || makes_test(&callee(*outer))))
        .collect();
    let (words, checks) = (body.words(), checks::in_body(body));
    if !is_reached(at) {
        outline.functions.push(Function {
            name: title(at),
            line: at.line(),
            words,
            checks,
        });
        return;
    }
    let mut skips: Vec<Mark> = std::iter::once(at)
        .chain(suites.iter().copied())
        .flat_map(skips_of)
        .collect();
    skips.extend(
        at.ancestors()
            .filter(|outer| outer.is(&["if_statement"]))
            .filter_map(|outer| outer.field("condition"))
            .map(|condition| {
                Mark::at(
                    Rule::SkipAdded,
                    condition,
                    format!("the test is only defined if {}", quoted(condition.text())),
                )
            }),
    );
    skips.extend(body.below().filter_map(skip_statement));
    skips.extend(checks::early_return(body));
    let table = at
        .field("function")
        .filter(|function| function.is(&["call_expression"]))
        .into_iter()
        .flat_map(|table| table.words());
    outline.tests.push(Test {
        name: title(at),
        scope: suites.iter().rev().map(|suite| title(*suite)).collect(),
        line: at.line(),
        words: table.chain(words).collect(),
        work: work(function, body, arguments),
        skips,
        checks,
    });
}

fn work(function: Option<At<'_>>, body: At<'_>, arguments: At<'_>) -> Work {
    let given = function.is_some()
        || arguments.children().count() < 2
        || arguments
            .children()
            .last()
            .is_some_and(|last| last.is(&["identifier", "member_expression", "call_expression"]));
    let has_statement = !body.is(&["statement_block"])
        || body
            .children()
            .any(|statement| !statement.is(&["empty_statement"]) && statement.text() != "return;");
    if given && has_statement { Work::Some } else { Work::None }
}

/// Whether the definition of a test runs when the file is loaded.
fn is_reached(at: At<'_>) -> bool {
    let mut inner = at;
    for outer in at.ancestors() {
        let block = outer.is(&["statement_block", "program"]);
        let left = block
            && outer
                .children()
                .take_while(|part| !part.holds(inner))
                .any(|part| part.is(&["return_statement", "throw_statement"]));
        let never = outer.is(&["if_statement"])
            && FLOW
                .never
                .contains(&outer.field_text("condition").trim_matches(['(', ')', ' ']));
        let uncalled = outer.is(&FUNCTIONS) && is_uncalled(outer);
        if left || never || uncalled {
            return false;
        }
        inner = outer;
    }
    true
}

/// Whether a function has a name that nothing else in the file mentions.
fn is_uncalled(function: At<'_>) -> bool {
    let declared = function
        .parent()
        .filter(|outer| outer.is(&["variable_declarator"]))
        .and_then(|outer| outer.field("name"));
    let Some(name) = declared.or_else(|| function.field("name")) else {
        return false;
    };
    let Some(root) = function.ancestors().last() else {
        return false;
    };
    let exported = function.ancestors().any(|outer| outer.is(&["export_statement"]));
    let in_call = function
        .parent()
        .is_some_and(|outer| outer.is(&["arguments", "parenthesized_expression"]));
    let mentions = root
        .below()
        .filter(|at| at.is(&["identifier", "shorthand_property_identifier"]) && at.text() == name.text())
        .take(2);
    !exported && !in_call && mentions.count() < 2
}

/// What the name and the options of a call say against running the test.
fn skips_of(at: At<'_>) -> Vec<Mark> {
    let name = callee(at);
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default();
    let by_first = (first.starts_with('x') && first != "x") || matches!(first, "fit" | "fdescribe" | "ddescribe");
    let by_part = parts.find(|part| {
        matches!(
            *part,
            "skip" | "todo" | "failing" | "fails" | "fixme" | "skipIf" | "runIf" | "only"
        )
    });
    let mark = |key: &str| Mark {
        key: key.to_owned(),
        ..Mark::at(
            Rule::SkipAdded,
            at,
            format!(
                "{} keeps tests from running",
                quoted(&format!("{name}({:?})", title(at)))
            ),
        )
    };
    let mut marks = Vec::new();
    match (by_first, by_part) {
        (_, Some("skipIf" | "runIf")) => marks.push(mark(&at.field("function").map_or_else(String::new, At::phrase))),
        (_, Some("only")) => marks.push(mark("only")),
        (true, None) if first.starts_with('f') || first.starts_with('d') => marks.push(mark("only")),
        (true, _) | (_, Some(_)) => marks.push(mark("skip")),
        (false, None) => {}
    }
    let arguments = at.field("arguments");
    let options = arguments
        .into_iter()
        .flat_map(At::children)
        .filter(|argument| argument.is(&["object"]))
        .flat_map(At::children);
    for pair in options.filter(|part| part.is(&["pair"])) {
        let (key, value) = (pair.field_text("key"), pair.field_text("value"));
        if matches!(key, "skip" | "todo" | "only" | "fails") && value != "false" {
            let key = if value == "true" { key.to_owned() } else { pair.phrase() };
            marks.push(mark(&key));
        }
    }
    if makes_test(&name)
        && callback(at).is_none()
        && arguments.is_some_and(|list| list.children().count() == 1)
        && by_part.is_none()
    {
        marks.push(mark("no body"));
    }
    marks
}

fn skip_statement(at: At<'_>) -> Option<Mark> {
    let called = at.field_text("function");
    let skips = at.is(&["call_expression"])
        && matches!(
            called,
            "t.skip"
                | "this.skip"
                | "ctx.skip"
                | "context.skip"
                | "t.todo"
                | "pending"
                | "test.skip"
                | "test.fixme"
                | "it.skip"
        );
    let titled = || {
        at.field("arguments").is_some_and(|list| {
            list.children()
                .any(|argument| argument.is(&["arrow_function", "function_expression"]))
        })
    };
    (skips && !titled()).then(|| Mark::at(Rule::SkipAdded, at, format!("{} skips the test", quoted(at.text()))))
}

/// Whether a list stands by itself, outside of tests and of other lists.
fn is_table(at: At<'_>) -> bool {
    let inside = |outer: At<'_>| outer.is(&["array"]) || outer.is(&["call_expression"]) && makes_test(&callee(outer));
    !at.ancestors().any(inside)
}
