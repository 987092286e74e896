//! Python: pytest and unittest.

use crate::gates::language::Language;
use crate::gates::language::Role;
use crate::gates::language::role::file_name;
use crate::gates::language::role::in_test_folder;

/// What the Gates know of Python.
pub static PYTHON: Language = Language {
    name: "Python",
    extensions: &["py", "pyi"],
    inline_tests: false,
    role,
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
