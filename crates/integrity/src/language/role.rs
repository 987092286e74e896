//! The role of a path for tests and their runner.

use crate::words::is_one_of;

/// The role of a file for tests and their runner, judged by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The runner looks for tests in it.
    Test,
    /// Tests need it and the product does not: fixtures, helpers, set-up, snapshots.
    Support,
    /// Settings of the test runner or of the coverage tool. Most of these files contain other settings as well.
    Settings,
    /// Code of the product. It may contain inline tests if the language has them.
    Source,
    /// Anything else.
    Other,
}

/// Returns the part after the last `/`.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folders above a file, outermost first.
pub fn folders(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    above.split('/').filter(|part| !part.is_empty())
}

const TEST_FOLDERS: &str = "test tests spec specs __tests__ e2e testing integration-tests integration_tests";
const SUPPORT_FOLDERS: &str = "
    fixtures fixture __fixtures__ testdata test-data test_data __mocks__ __snapshots__ snapshots support helpers
    mocks
";

/// `true` if a file is in a folder for tests.
pub fn in_test_folder(path: &str) -> bool {
    folders(path).any(|folder| is_one_of(TEST_FOLDERS, folder))
}

/// `true` if a file is in a folder for test support.
pub fn in_support_folder(path: &str) -> bool {
    folders(path).any(|folder| is_one_of(SUPPORT_FOLDERS, folder))
}

/// File extensions of tests: those of Perl's prove and of bats.
const TESTS: &str = "t bats";

/// File extensions of source code in languages that have no vocabulary here.
const CODE: &str = "java kt kts scala rb php cs fs swift c cc cpp h hpp ex exs hs lua sh";

pub(super) fn by_name(path: &str) -> Role {
    let name = file_name(path);
    if folders(path).any(|folder| matches!(folder, "__snapshots__" | "testdata" | "__fixtures__")) {
        return Role::Support;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if is_one_of(TESTS, extension) {
        return Role::Test;
    }
    if !is_one_of(CODE, extension) {
        let stored = extension == "snap" || in_test_folder(path);
        return if stored { Role::Support } else { Role::Other };
    }
    let ends = ["_test", "_spec", "-test", ".test", ".spec", "Test", "Tests", "Spec"];
    let begins = ["test_", "spec_"].iter().any(|mark| stem.starts_with(mark));
    let marked = begins || ends.iter().any(|mark| stem.ends_with(mark));
    match (marked, in_test_folder(path)) {
        (true, _) => Role::Test,
        (false, true) if in_support_folder(path) => Role::Support,
        (false, true) => Role::Test,
        (false, false) => Role::Source,
    }
}

#[cfg(test)]
mod tests {
    use super::Role;
    use crate::language::role;

    #[test]
    fn a_path_says_what_a_file_is_to_tests() {
        let table = [
            ("src/lib.rs", Role::Source),
            ("src/store/tests.rs", Role::Test),
            ("src/store/tests/open.rs", Role::Test),
            ("tests/api.rs", Role::Test),
            ("crates/a/tests/api/main.rs", Role::Test),
            ("tests/common/mod.rs", Role::Support),
            ("benches/a.rs", Role::Source),
            ("Cargo.toml", Role::Settings),
            ("crates/a/Cargo.toml", Role::Settings),
            (".cargo/config.toml", Role::Settings),
            (".config/nextest.toml", Role::Settings),
            ("app/calc.py", Role::Source),
            ("tests/test_calc.py", Role::Test),
            ("app/calc_test.py", Role::Test),
            ("app/tests.py", Role::Test),
            ("conftest.py", Role::Support),
            ("tests/helpers.py", Role::Support),
            ("pyproject.toml", Role::Settings),
            ("pytest.ini", Role::Settings),
            (".coveragerc", Role::Settings),
            ("src/calc.ts", Role::Source),
            ("src/calc.test.ts", Role::Test),
            ("src/calc.spec.jsx", Role::Test),
            ("src/__tests__/calc.js", Role::Test),
            ("test/calc.js", Role::Test),
            ("test/helpers/server.js", Role::Support),
            ("jest.setup.js", Role::Support),
            ("src/__mocks__/api.ts", Role::Support),
            ("package.json", Role::Settings),
            ("vitest.config.mts", Role::Settings),
            (".mocharc.json", Role::Settings),
            ("src/__snapshots__/calc.test.ts.snap", Role::Support),
            ("src/snapshots/a__b.snap", Role::Support),
            ("pkg/calc_test.go", Role::Test),
            ("pkg/testdata/calc.go", Role::Support),
            ("test/server.go", Role::Source),
            ("pkg/calc.go", Role::Source),
            ("src/test/java/CalcTest.java", Role::Test),
            ("tests/data/a.json", Role::Support),
            ("t/adds.t", Role::Test),
            ("check/install.bats", Role::Test),
            ("README.md", Role::Other),
            ("latest.md", Role::Other),
            ("contest.py", Role::Source),
            ("", Role::Other),
        ];
        for (path, expected) in table {
            assert_eq!(role(path), expected, "{path}");
        }
    }
}
