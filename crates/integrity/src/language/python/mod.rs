//! Python: pytest and unittest.

mod bodies;
mod return_values;
mod test_parts;

use crate::{
    language::{
        assertions::{ComparisonWords, FailureTemplate, ReplacedCode},
        reachability::Flow,
        role::{Role, file_name, in_test_folder},
        settings::{
            Watched,
            Weakening::{Command, LeavesOut, LooksAt, Lowered, Options, Present, SwitchedOff, SwitchedOn},
            coverage, run,
        },
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
    is_collected: |path, _| role(path) == Some(Role::Test),
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    settings: &SETTINGS,
    reads: &["read_text(", "read_bytes(", "open(", "getsource("],
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
    imports: &["import "],
    flow: Flow {
        conditions: "if_statement while_statement elif_clause",
        arms: "case_clause conditional_expression",
        functions: "function_definition lambda",
        returns: "return_statement",
        leaves: "return_statement raise_statement break_statement continue_statement",
        never: &["False", "0", "None", "\"\"", "''", "[]", "not True"],
        empty: &["[]", "()", "{}", "range(0)", "\"\""],
    },
    comparison: ComparisonWords {
        equals: "assertEqual assertIs assertListEqual assertDictEqual",
        weak: "isinstance hasattr callable issubclass bool",
        or: "or",
        truths: "True",
        falsities: "False None 0",
        methods: "__eq__ __ne__",
    },
    made_to_fail: FailureTemplate {
        text: "raise AssertionError('made to fail')",
        replaces: ReplacedCode::Statement,
    },
    literals: LITERALS,
    empties: "dict(), list(), set(), Decimal(0)",
    statements: "expression_statement assert_statement",
    nothing: &["pass", "...", "return"],
    last_test_wins: true,
    modules: MODULES,
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

static SETTINGS: [Watched; 14] = [
    run(Options, "addopts"),
    run(LooksAt, "testpaths, python_files"),
    run(Present, "python_functions, python_classes"),
    run(LeavesOut, "norecursedirs, collect_ignore"),
    // In pytest 9, `strict` includes `xfail_strict`.
    run(SwitchedOff, "xfail_strict, pytest.strict, pytest.ini_options.strict"),
    run(Command, "tool.hatch.envs.*.scripts.test, tool.poe.tasks.test"),
    run(Command, "tool.pdm.scripts.test, tool.taskipy.tasks.test"),
    run(Command, "testenv.commands"),
    run(SwitchedOn, "testenv.ignore_errors, testenv.ignore_outcome"),
    coverage(Lowered, "report.fail_under"),
    coverage(LeavesOut, "run.omit, report.omit, coverage.omit"),
    coverage(LooksAt, "run.source, run.include, report.include"),
    coverage(SwitchedOff, "run.branch"),
    coverage(LeavesOut, "report.exclude_lines, report.exclude_also"),
];

/// Modules of the standard library, of every test run, and of packages that nearly every program installs.
const MODULES: &str = "
    _pytest abc aiohttp argparse ast asyncio atexit attr base64 binascii bisect boto3 botocore bs4 builtins
    celery certifi click cmath codecs collections concurrent configparser contextlib copy coverage cryptography
    csv ctypes dataclasses datetime dateutil decimal difflib dis django doctest dotenv enum errno fastapi
    fileinput flask fnmatch fractions freezegun functools gc getpass glob gzip hashlib heapq hmac httpx
    hypothesis importlib inspect io itertools jinja2 json jsonschema jwt linecache logging lxml math matplotlib
    mock multiprocessing nose numpy operator orjson os pandas pathlib pickle pluggy pprint psycopg2 pydantic
    pytest pytest_asyncio pytz random re redis requests responses rich scipy setuptools shlex shutil
    sitecustomize six socket sqlalchemy sqlite3 ssl starlette struct subprocess sys tempfile textwrap threading
    time timeit toml traceback typing unittest urllib urllib3 usercustomize uuid warnings weakref yaml zlib
    zoneinfo
";

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
