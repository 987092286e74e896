//! Names of Python modules that no file of a repository should take.

use crate::gates::language::role::file_name;
use crate::gates::language::role::folders;

/// Of the test tools and of Python's start: wherever they stand they are found first.
const TOOLS: [&str; 14] = [
    "pytest",
    "_pytest",
    "unittest",
    "mock",
    "nose",
    "hypothesis",
    "coverage",
    "pytest_cov",
    "sitecustomize",
    "usercustomize",
    "pluggy",
    "doctest",
    "pytest_mock",
    "pytest_asyncio",
];
/// Of the standard library and of packages that everybody uses: taken where Python looks first. Names that a product may
/// well have for something of its own are left out.
const MODULES: [&str; 62] = [
    "json",
    "os",
    "sys",
    "re",
    "datetime",
    "random",
    "math",
    "io",
    "pathlib",
    "subprocess",
    "typing",
    "collections",
    "functools",
    "itertools",
    "logging",
    "contextlib",
    "dataclasses",
    "abc",
    "asyncio",
    "inspect",
    "importlib",
    "builtins",
    "traceback",
    "warnings",
    "socket",
    "ssl",
    "hashlib",
    "decimal",
    "fractions",
    "csv",
    "sqlite3",
    "threading",
    "multiprocessing",
    "tempfile",
    "shutil",
    "glob",
    "uuid",
    "urllib",
    "argparse",
    "enum",
    "atexit",
    "gc",
    "pickle",
    "struct",
    "requests",
    "numpy",
    "pandas",
    "flask",
    "django",
    "yaml",
    "click",
    "pydantic",
    "sqlalchemy",
    "httpx",
    "aiohttp",
    "attr",
    "fastapi",
    "freezegun",
    "responses",
    "jinja2",
    "redis",
    "scipy",
];

/// The module of another origin that a file of this path would be taken for.
pub(super) fn shadows(path: &str) -> Option<&str> {
    let above: Vec<&str> = folders(path).collect();
    let (module, above) = match (file_name(path), above.as_slice()) {
        ("__init__.py", [above @ .., package]) => (*package, above),
        (name, above) => (name.strip_suffix(".py")?, above),
    };
    let at_root = matches!(above, [] | ["src" | "lib" | "test" | "tests"]);
    let near_root = above.len() <= 2;
    (near_root && TOOLS.contains(&module) || at_root && MODULES.contains(&module)).then_some(module)
}
