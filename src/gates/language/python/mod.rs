//! Python: what pytest and unittest collect, their assertions and marks, stubs and exits.

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
use crate::gates::language::outline::Source;
use crate::gates::language::outline::Table;
use crate::gates::language::outline::Test;
use crate::gates::language::outline::Work;
use crate::gates::language::outline::quoted;
use crate::gates::language::role::file_name;
use crate::gates::language::role::in_test_folder;
use crate::gates::language::settings::Less;
use crate::gates::language::settings::Watched;
use crate::gates::language::settings::watched;
use crate::gates::language::syntax::At;

/// What the Gates know of Python.
pub static PYTHON: Language = Language {
    name: "Python",
    extensions: &["py", "pyi"],
    inline_tests: false,
    role,
    grammar: |_| tree_sitter_python::LANGUAGE.into(),
    outline,
    is_collected: |path, _| role(path) == Some(Role::Test),
    watched: &WATCHED,
    shadows: shadows::shadows,
};

static WATCHED: [Watched; 25] = [
    watched("addopts", Rule::RunnerWeakened, Less::Options),
    watched("testpaths", Rule::RunnerWeakened, Less::LooksAt),
    watched("python_files", Rule::RunnerWeakened, Less::LooksAt),
    watched("python_functions", Rule::RunnerWeakened, Less::Present),
    watched("python_classes", Rule::RunnerWeakened, Less::Present),
    watched("norecursedirs", Rule::RunnerWeakened, Less::LeavesOut),
    watched("collect_ignore", Rule::RunnerWeakened, Less::LeavesOut),
    watched("xfail_strict", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("tool.hatch.envs.*.scripts.test", Rule::RunnerWeakened, Less::Command),
    watched("tool.poe.tasks.test", Rule::RunnerWeakened, Less::Command),
    watched("tool.pdm.scripts.test", Rule::RunnerWeakened, Less::Command),
    watched("tool.taskipy.tasks.test", Rule::RunnerWeakened, Less::Command),
    watched("testenv.commands", Rule::RunnerWeakened, Less::Command),
    watched("testenv.ignore_errors", Rule::RunnerWeakened, Less::SwitchedOn),
    watched("testenv.ignore_outcome", Rule::RunnerWeakened, Less::SwitchedOn),
    watched("report.fail_under", Rule::CoverageWeakened, Less::Lowered),
    watched("run.omit", Rule::CoverageWeakened, Less::LeavesOut),
    watched("report.omit", Rule::CoverageWeakened, Less::LeavesOut),
    watched("coverage.omit", Rule::CoverageWeakened, Less::LeavesOut),
    watched("run.source", Rule::CoverageWeakened, Less::LooksAt),
    watched("run.include", Rule::CoverageWeakened, Less::LooksAt),
    watched("report.include", Rule::CoverageWeakened, Less::LooksAt),
    watched("run.branch", Rule::CoverageWeakened, Less::SwitchedOff),
    watched("report.exclude_lines", Rule::CoverageWeakened, Less::LeavesOut),
    watched("report.exclude_also", Rule::CoverageWeakened, Less::LeavesOut),
];

static FLOW: Flow = Flow {
    conditions: &["if_statement", "while_statement", "elif_clause"],
    loops: (&["for_statement"], "right"),
    functions: &["function_definition", "lambda"],
    leaves: &[
        "return_statement",
        "raise_statement",
        "break_statement",
        "continue_statement",
    ],
    never: &["False", "0", "None", "\"\"", "''", "[]", "not True"],
    always: &["True", "1", "not False"],
    swallows: checks::swallows,
};

const SETTINGS: [&str; 11] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    "setup.cfg",
    "tox.ini",
    "tox.toml",
    "pyproject.toml",
    ".coveragerc",
    "noxfile.py",
    "nose.cfg",
    "unittest.cfg",
];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    if SETTINGS.contains(&name) {
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

fn outline(source: &Source<'_>) -> Outline {
    let mut outline = Outline::default();
    let unwanted = unwanted(source.root);
    for at in source.root.below() {
        match at.kind() {
            "function_definition" => function(at, &unwanted, &mut outline),
            "class_definition" => outline.defines.push(at.field_text("name").to_owned()),
            "assignment"
                if source.role != Role::Source
                    && !at.ancestors().any(|outer| outer.is(&["function_definition"]))
                    && at
                        .field("right")
                        .is_some_and(|right| right.is(&["list", "tuple", "dictionary"])) =>
            {
                outline.tables.push(Table::at(at));
            }
            _ => {}
        }
        marks::at(source, at, &mut outline);
        stubs::at(source, at, &mut outline.marks);
    }
    keep_last(&mut outline);
    outline
}

/// Names that the module takes from the runner: `test_x.__test__ = False`, `del test_x`, `test_x = None`.
fn unwanted(root: At<'_>) -> Vec<&str> {
    let mut names = Vec::new();
    for statement in root.children() {
        let assignment = statement.children().next().filter(|at| at.is(&["assignment"]));
        if statement.is(&["delete_statement"]) {
            names.extend(
                statement
                    .children()
                    .flat_map(|at| at.below().filter(|at| at.is(&["identifier"])))
                    .map(At::text),
            );
        } else if let Some(assignment) = assignment {
            let (left, right) = (assignment.field_text("left"), assignment.field_text("right"));
            match left.strip_suffix(".__test__") {
                Some(name) if right == "False" => names.push(name),
                _ if right == "None" || right == "False" => names.push(left),
                _ => {}
            }
        }
    }
    names
}

fn function(at: At<'_>, unwanted: &[&str], outline: &mut Outline) {
    let Some(body) = at.field("body") else { return };
    let name = at.field_text("name").to_owned();
    let classes: Vec<At<'_>> = at.ancestors().filter(|outer| outer.is(&["class_definition"])).collect();
    let in_function = at.ancestors().any(|outer| outer.is(&["function_definition"]));
    let dropped = |name: &str| unwanted.contains(&name) || unwanted.contains(&"__test__");
    let fixture = decorators(at).any(|decorator| decorator.text().contains("fixture"));
    let collected = name.starts_with("test")
        && !fixture
        && !in_function
        && !dropped(&name)
        && classes
            .iter()
            .all(|class| is_test_class(*class) && !dropped(class.field_text("name")))
        && is_defined(at);
    if !collected {
        outline.defines.push(name.clone());
        if at
            .ancestors()
            .any(|outer| outer.is(&["function_definition"]) && outer.field_text("name").starts_with("test"))
        {
            return;
        }
        outline.functions.push(Function {
            name,
            line: at.line(),
            words: body.words(),
            checks: checks::in_body(body),
        });
        return;
    }
    let mut skips: Vec<Mark> = classes
        .iter()
        .chain([&at])
        .flat_map(|at| decorators(*at))
        .filter_map(skip_decorator)
        .collect();
    skips.extend(body.below().filter_map(skip_statement));
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
    skips.extend(checks::early_return(body));
    outline.tests.push(Test {
        name,
        scope: classes
            .iter()
            .rev()
            .map(|class| class.field_text("name").to_owned())
            .collect(),
        line: at.line(),
        words: decorators(at).flat_map(|at| at.words()).chain(body.words()).collect(),
        work: work(body),
        skips,
        checks: checks::in_body(body),
    });
}

/// pytest and unittest keep the last of several tests with one name.
fn keep_last(outline: &mut Outline) {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept = Vec::new();
    for test in std::mem::take(&mut outline.tests).into_iter().rev() {
        if seen.insert((test.scope.clone(), test.name.clone())) {
            kept.push(test);
        } else {
            outline.functions.push(Function {
                name: test.name,
                line: test.line,
                words: test.words,
                checks: Vec::new(),
            });
        }
    }
    kept.reverse();
    outline.tests = kept;
}

fn is_test_class(class: At<'_>) -> bool {
    let bases = class.field_text("superclasses");
    let named = class.field_text("name").starts_with("Test");
    let off = class.field("body").is_some_and(|body| {
        body.children().any(|at| {
            at.phrase().starts_with("__test__ = False")
                || at.is(&["function_definition"]) && named && at.field_text("name") == "__init__" && bases.is_empty()
        })
    });
    !off && (named || bases.contains("Test"))
}

/// Whether no condition that never holds stands around a definition.
fn is_defined(at: At<'_>) -> bool {
    let conditions = at.ancestors().filter(|outer| outer.is(&["if_statement"]));
    conditions
        .map(|outer| outer.field_text("condition"))
        .all(|condition| !FLOW.never.contains(&condition.trim_matches(['(', ')'])))
}

fn decorators(at: At<'_>) -> impl Iterator<Item = At<'_>> {
    let above = at.parent().filter(|outer| outer.is(&["decorated_definition"]));
    above
        .into_iter()
        .flat_map(At::children)
        .filter(|at| at.is(&["decorator"]))
}

/// The statements of a body without its documentation.
fn statements(body: At<'_>) -> Vec<At<'_>> {
    let documents = |at: &At<'_>| at.is(&["expression_statement"]) && at.children().all(|part| part.is(&["string"]));
    let mut all: Vec<At<'_>> = body.children().collect();
    if all.first().is_some_and(documents) {
        all.remove(0);
    }
    all
}

fn is_nothing(statement: At<'_>) -> bool {
    statement.is(&["pass_statement"]) || statement.is(&["expression_statement"]) && statement.text() == "..."
}

fn work(body: At<'_>) -> Work {
    let nothing = |at: At<'_>| is_nothing(at) || at.is(&["return_statement"]) && at.children().next().is_none();
    if statements(body).into_iter().all(nothing) {
        Work::None
    } else {
        Work::Some
    }
}

const SKIPS: [&str; 8] = [
    "skip",
    "skipif",
    "skipIf",
    "skipUnless",
    "xfail",
    "expectedFailure",
    "skip_unless",
    "SkipTest",
];

fn skip_decorator(at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let end = words
        .iter()
        .position(|word| word == "\"" || word.contains('"'))
        .unwrap_or(words.len());
    let names: Vec<&str> = words.iter().take(end).map(String::as_str).collect();
    let skips = names.iter().any(|word| SKIPS.contains(word))
        || at.below().any(|part| {
            part.is(&["keyword_argument"])
                && part.field_text("name") == "marks"
                && SKIPS
                    .iter()
                    .any(|skip| part.phrase().ends_with(skip) || part.phrase().contains(&format!(". {skip} ")))
        });
    let empty =
        names.contains(&"parametrize") && matches!(words.as_slice(), [.., open, close] if open == "[" && close == "]");
    let what = format!("{} skips the test", quoted(at.text()));
    (skips || empty).then(|| Mark {
        key: skip_key(at, &names),
        ..Mark::at(Rule::SkipAdded, at, what)
    })
}

/// A skip is the same if its reason was reworded, and another if its condition was.
fn skip_key(at: At<'_>, names: &[&str]) -> String {
    let reasonless = at.below().find(|part| part.is(&["argument_list"]));
    let condition = reasonless
        .into_iter()
        .flat_map(At::children)
        .filter(|part| !part.is(&["keyword_argument", "string"]));
    let name = names.iter().find(|word| SKIPS.contains(word)).unwrap_or(&"");
    format!("{name} {}", condition.map(At::phrase).collect::<Vec<_>>().join(" "))
}

/// `pytest.skip()`, `self.skipTest()`, `raise SkipTest`, `pytest.importorskip()`.
fn skip_statement(at: At<'_>) -> Option<Mark> {
    let skips = match at.kind() {
        "call" => {
            let called = at.field_text("function");
            matches!(
                called,
                "pytest.skip" | "pytest.xfail" | "pytest.importorskip" | "importorskip" | "xfail"
            ) || called.ends_with(".skipTest")
        }
        "raise_statement" => {
            at.words()
                .iter()
                .any(|word| matches!(word.as_str(), "SkipTest" | "Skipped"))
                || at.text().contains("skip.Exception")
        }
        _ => false,
    };
    skips.then(|| Mark::at(Rule::SkipAdded, at, format!("{} skips the test", quoted(at.text()))))
}
