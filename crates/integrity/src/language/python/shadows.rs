//! Modules that take the place of real ones: files that are found first, and entries in `sys.modules`.

use crate::language::{
    glance::{Glance, Shadow},
    role, syntax,
    syntax::At,
};

/// Modules that tests and programs take for granted. Where a file of that name is found first, it is imported instead.
const REAL: [&str; 82] = [
    "_pytest",
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "atexit",
    "base64",
    "binascii",
    "bisect",
    "builtins",
    "cmath",
    "codecs",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "coverage",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "doctest",
    "enum",
    "errno",
    "fileinput",
    "fnmatch",
    "fractions",
    "functools",
    "gc",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "hypothesis",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "linecache",
    "logging",
    "math",
    "mock",
    "multiprocessing",
    "nose",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pluggy",
    "pprint",
    "pytest",
    "random",
    "re",
    "shlex",
    "shutil",
    "socket",
    "sqlite3",
    "ssl",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "traceback",
    "typing",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
    "zoneinfo",
];

/// Packages that nearly every program installs. Where they are not installed, a file of that name only looks like them.
const INSTALLED: [&str; 40] = [
    "aiohttp",
    "attr",
    "boto3",
    "botocore",
    "bs4",
    "celery",
    "certifi",
    "click",
    "cryptography",
    "dateutil",
    "django",
    "dotenv",
    "fastapi",
    "flask",
    "freezegun",
    "httpx",
    "jinja2",
    "jsonschema",
    "jwt",
    "lxml",
    "matplotlib",
    "numpy",
    "orjson",
    "pandas",
    "psycopg2",
    "pydantic",
    "pytest_asyncio",
    "pytz",
    "redis",
    "requests",
    "responses",
    "rich",
    "scipy",
    "setuptools",
    "six",
    "sqlalchemy",
    "starlette",
    "toml",
    "urllib3",
    "yaml",
];

/// Modules that Python itself imports at every start.
const AT_START: [&str; 2] = ["sitecustomize", "usercustomize"];

pub(super) fn shadows(glance: &Glance<'_>) -> Vec<Shadow> {
    if !glance.path.ends_with(".py") && !glance.path.ends_with(".pth") {
        return Vec::new();
    }
    let mut found: Vec<Shadow> = by_path(glance).into_iter().collect();
    found.extend(replaced_at_run_time(glance));
    found
}

/// A new module in a folder from which Python imports first: the root, `src`, and folders of tests.
fn by_path(glance: &Glance<'_>) -> Option<Shadow> {
    if !glance.is_new() {
        return None;
    }
    let parts: Vec<&str> = glance.path.split('/').collect();
    let (folder, module) = match parts.as_slice() {
        [file] => ("", file.strip_suffix(".py").or_else(|| file.strip_suffix(".pth"))?),
        [package, "__init__.py"] => ("", *package),
        [folder, file] => (*folder, file.strip_suffix(".py")?),
        [folder, package, "__init__.py"] => (*folder, *package),
        _ => return None,
    };
    let is_first = match folder {
        "" | "src" => true,
        "tests" | "test" => !glance.exists(&format!("{folder}/__init__.py")),
        _ => false,
    };
    let at_start = AT_START.contains(&module) || glance.path.ends_with(".pth");
    let what = match (at_start, REAL.contains(&module) || INSTALLED.contains(&module)) {
        (true, _) => "Python runs this file at every start, before any test".to_owned(),
        (false, true) => format!("this file is imported in place of the real module `{module}`"),
        (false, false) => return None,
    };
    is_first.then_some(Shadow { line: 1, what })
}

/// `sys.modules[name] = …` for a module of the repository or one that tests take for granted. Standing in for a package
/// that is not installed is what honest tests do.
fn replaced_at_run_time(glance: &Glance<'_>) -> Vec<Shadow> {
    if !glance.after.contains("sys.modules") {
        return Vec::new();
    }
    let grammar = tree_sitter_python::LANGUAGE.into();
    let Some(tree) = syntax::parse(&grammar, glance.after) else {
        return Vec::new();
    };
    let is_old = |at: &At<'_>| glance.before.is_some_and(|before| before.contains(at.text()));
    let fakes = tree
        .root()
        .below()
        .filter(|at| at.kind() == "assignment" && !is_old(at))
        .filter_map(|at| {
            let left = at.field("left").filter(|left| left.kind() == "subscript")?;
            (left.field_text("value") == "sys.modules").then_some(())?;
            let name = left.field_text("subscript").trim_matches(['"', '\'']).to_owned();
            is_real(glance, &name).then(|| Shadow {
                line: at.line(),
                what: format!("the real module `{name}` is replaced while the tests run"),
            })
        });
    fakes.collect()
}

fn is_real(glance: &Glance<'_>, name: &str) -> bool {
    let path = name.replace('.', "/");
    let top = name.split('.').next().unwrap_or_default();
    let here = |root: &str| glance.exists(&format!("{root}{path}.py")) || glance.exists(&format!("{root}{path}"));
    let beside = role::folders(glance.path).next_back().is_some_and(|_| {
        let folder = glance.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        here(&format!("{folder}/"))
    });
    REAL.contains(&top) || here("") || here("src/") || beside
}
