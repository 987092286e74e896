//! JavaScript and TypeScript: node's own runner, vitest, jest, mocha.

use crate::gates::language::Language;
use crate::gates::language::Role;
use crate::gates::language::role::file_name;
use crate::gates::language::role::folders;
use crate::gates::language::role::in_support_folder;
use crate::gates::language::role::in_test_folder;

/// What the Gates know of JavaScript and TypeScript.
pub static JAVASCRIPT: Language = Language {
    name: "JavaScript",
    extensions: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
    inline_tests: false,
    role,
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

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let is_one_of = |stems: &[&str]| {
        let rest = stems.iter().find_map(|stem| name.strip_prefix(stem));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if name == "package.json" || is_one_of(&SETTINGS) {
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
