//! Python: what pytest and unittest collect, their assertions and marks, stubs and exits.

mod bodies;
mod cases;
mod checks;
mod constants;
mod hooks;
mod marks;
mod names;
mod otherwise;
mod patches;
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
    outline::{Outline, Source, Table},
    role::{file_name, in_test_folder},
    settings::{Less, Watched, watched},
    syntax::At,
};
use cases::{function, keep_last, unwanted};
use domain::integrity::Rule;

/// What the Gates know of Python.
pub static PYTHON: Language = Language {
    name: "Python",
    extensions: &["py", "pyi"],
    inline_tests: false,
    role,
    grammar: |_| tree_sitter_python::LANGUAGE.into(),
    outline,
    doing: bodies::doing,
    otherwise: otherwise::otherwise,
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
    is_empty: names::is_empty,
    arms: &["case_clause", "conditional_expression"],
    functions: &["function_definition", "lambda"],
    leaves: &[
        "return_statement",
        "raise_statement",
        "break_statement",
        "continue_statement",
    ],
    never: &["False", "0", "None", "\"\"", "''", "[]", "not True"],
    always: &["True", "1", "not False"],
    swallows: swallows::swallows,
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
            "function_definition" => {
                function(at, &unwanted, &mut outline);
                if source.role == Role::Source {
                    constants::constant(source.root, at, &mut outline);
                }
            }
            "class_definition" => {
                outline.defines.push(at.field_text("name").to_owned());
                constants::overrides(at, &mut outline);
            }
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
        if source.role != Role::Source {
            stand_ins::at(at, &mut outline);
        }
        marks::at(source, at, &mut outline);
        stubs::at(source, at, &mut outline.marks);
    }
    keep_last(&mut outline);
    outline
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
