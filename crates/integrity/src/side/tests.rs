//! Paths of all ecosystems, and files with both sides, split in both directions.

use super::{Repository, Side};
use std::collections::BTreeSet;

fn paths(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|path| (*path).to_owned()).collect()
}

fn with_repository<T>(test_command: &str, look: impl FnOnce(&Repository<'_>) -> T) -> T {
    let base = paths(&["pytest/__init__.py", "package.json", "web/package.json", "go.mod", "spec/calc_spec.rb"]);
    let head = paths(&["src/a.rs", "specs/api/openapi.yaml", "vendor/modules.txt"]);
    look(&Repository { base: &base, head: &head, test_command })
}

const OF_TESTS: &str = "
    tests/api.rs crates/a/tests/api/main.rs tests/common/mod.rs src/store/tests.rs src/store/tests/open.rs
    benches/speed.rs .config/nextest.toml tarpaulin.toml proptest-regressions/a.txt src/snapshots/a__b.snap
    src/test_utils.rs tests/fixtures/Cargo.toml
    tests/test_calc.py app/calc_test.py app/tests.py conftest.py app/conftest.py tests/helpers.py tests/data/a.json
    pytest.ini tox.ini .coveragerc noxfile.py requirements-dev.txt requirements/test.txt sitecustomize.py
    unittest/__init__.py src/unittest/mock.py hypothesis.py zz_hook.pth
    src/calc.test.ts src/calc.spec.jsx src/__tests__/calc.js test/calc.js test/helpers/server.js jest.setup.js
    src/__mocks__/api.ts vitest.config.mts jest.config.js .mocharc.json .nycrc karma.conf.js playwright.config.ts
    src/__snapshots__/calc.test.ts.snap cypress/e2e/login.cy.ts tsconfig.spec.json node_modules/jest/index.js
    web/node_modules/chai/package.json test/package.json
    pkg/calc_test.go pkg/testdata/calc.go pkg/testdata/in.json test/server.go internal/testutil/db.go
    .testcoverage.yml vendor/github.com/stretchr/testify/assert.go
    src/test/java/CalcTest.java src/test/resources/a.sql app/src/androidTest/kotlin/A.kt testng.xml
    phpunit.xml phpunit.xml.dist tests/CalcTest.php behat.yml
    .rspec spec/calc_spec.rb spec/spec_helper.rb spec/fixtures/a.yml test/test_calc.rb lib/minitest/autorun.rb
    Shop.Tests/CartTests.cs Shop.Tests/Data/cart.json Tests/ShopTests/CartTests.swift shop.runsettings
    test/calc_test.exs test/test_helper.exs t/adds.t t/data/a.txt check/install.bats tests/CMakeLists.txt codecov.yml
    fixtures/users.json scripts/ci.sh tools/verify.py
";

const OF_PRODUCT: &str = "
    src/lib.rs build.rs examples/a.rs rust-toolchain.toml clippy.toml Cargo.lock src/testing/mod.rs
    app/calc.py contest.py app/fixtures/initial.json requirements.txt setup.py manage.py app/unittest/a.py
    pytest/__init__.py pytest/raises.py src/calc.ts tsconfig.json babel.config.js yarn.lock vite.config.ts
    pkg/calc.go go.mod go.sum testing/clock.go static/vendor/chart.js
    src/main/java/Calc.java pom.xml build.gradle.kts src/Calc.php config/app.php lib/calc.rb Rakefile
    Shop/Cart.cs Shop/Shop.csproj Sources/Shop/Cart.swift lib/calc.ex mix.exs src/calc.c CMakeLists.txt
    README.md latest.md data/prices.json specs/api/openapi.yaml .github/workflows/ci.yml scripts/deploy.sh
";

#[test]
fn a_path_has_one_side() {
    let command =
        "pip install -e . && CI=1 bash ./scripts/ci.sh --deploy scripts/deploy.sh; python3 tools/verify.py src/lib.rs";
    with_repository(command, |repository| {
        for (list, side) in [(OF_TESTS, Side::Tests), (OF_PRODUCT, Side::Product)] {
            for path in list.split_whitespace() {
                assert_eq!(repository.side(path, &["a = 1\n"]), side, "{path}");
            }
        }
    });
}

/// Two versions of one file, and the product of the first with the tests of the second.
type Split = (&'static str, &'static str, &'static str, &'static str);

const SPLITS: [Split; 14] = [
    (
        "Cargo.toml",
        "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n\n[dev-dependencies]\ninsta = \"1\"\n\n[[test]]\nname = \"api\"\n",
        "[package]\nname = \"b\"\nautotests = false\n\n[target.'cfg(unix)'.dev-dependencies]\nnix = \"1\"\n\n# The slow one.\n[[test]]\nname = \"api\"\nharness = false\n\n[[test]]\nname = \"web\"\n",
        "[package]\nname = \"a\"\nautotests = false\n\n[dependencies]\nserde = \"1\"\n\n[target.'cfg(unix)'.dev-dependencies]\nnix = \"1\"\n\n# The slow one.\n[[test]]\nname = \"api\"\nharness = false\n\n[[test]]\nname = \"web\"\n",
    ),
    (
        ".cargo/config.toml",
        "[build]\nrustflags = [\n  \"-Dwarnings\",\n]\n",
        "[target.x86_64-unknown-linux-gnu]\nlinker = \"lld\"\nrunner = \"true\"\n[alias]\nt = \"test\"\nb = \"build\"\n",
        "[build]\nrustflags = [\n  \"-Dwarnings\",\n]\n[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n[alias]\nt = \"test\"\n",
    ),
    (
        "pyproject.toml",
        "[project]\nname = \"a\"\ndependencies = [\n  \"x\",\n]\n\n[tool.pytest.ini_options]\naddopts = \"-x\"\n\n[tool.ruff]\nline-length = 100\n",
        "[project]\nname = \"b\"\n\n[project.optional-dependencies]\ntest = [\n  # For tests.\n  \"pytest\",\n]\nsql = [\"y\"]\n\n[tool.pytest]\nini_options = { addopts = \"-q\" }\n\n[tool]\ncoverage.run.branch = true\n",
        "[project]\nname = \"a\"\ndependencies = [\n  \"x\",\n]\n\n[tool.pytest]\nini_options = { addopts = \"-q\" }\n\n[tool.ruff]\nline-length = 100\n\n[project.optional-dependencies]\ntest = [\n  # For tests.\n  \"pytest\",\n]\n\n[tool]\ncoverage.run.branch = true\n",
    ),
    (
        "setup.cfg",
        "[metadata]\nname = a\n\n[tool:pytest]\naddopts =\n    -x\n",
        "[metadata]\nname = b\n\n[tool:pytest]\naddopts = -q\n[coverage:run]\nbranch = True\n",
        "[metadata]\nname = a\n\n[tool:pytest]\naddopts = -q\n[coverage:run]\nbranch = True\n",
    ),
    (
        "package.json",
        "{\"name\": \"a\", \"exports\": {\"import\": \"./a.mjs\", \"default\": \"./a.js\"}, \"scripts\": {\"build\": \"tsc\", \"test\": \"jest\"}, \"jest\": {\"bail\": 1}}",
        "{\"name\": \"b\", \"scripts\": {\"test\": \"jest -i\", \"start\": \"x\"}, \"devDependencies\": {\"jest\": \"30\"}}",
        "{\n  \"name\": \"a\",\n  \"exports\": {\"import\": \"./a.mjs\", \"default\": \"./a.js\"},\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"test\": \"jest -i\"\n  },\n  \"devDependencies\": {\"jest\": \"30\"}\n}\n",
    ),
    (
        "composer.json",
        "{\"require\": {\"php\": \"8\"}}",
        "{\"require\": {\"php\": \"7\"}, \"require-dev\": {\"phpunit/phpunit\": \"12\"}, \"scripts\": {\"test\": \"phpunit\", \"lint\": \"x\"}}",
        "{\n  \"require\": {\"php\": \"8\"},\n  \"require-dev\": {\"phpunit/phpunit\": \"12\"},\n  \"scripts\": {\n    \"test\": \"phpunit\"\n  }\n}\n",
    ),
    (
        "deno.json",
        "{\"tasks\": {\"dev\": \"x\"}}",
        "{\"tasks\": {\"test\": \"deno test\"}}",
        "{\n  \"tasks\": {\n    \"dev\": \"x\",\n    \"test\": \"deno test\"\n  }\n}\n",
    ),
    (
        ".npmrc",
        "save-exact=true\n",
        "save-exact=false\nnode-options=--require ./a.js\n",
        "save-exact=true\nnode-options=--require ./a.js\n",
    ),
    (
        "Gemfile",
        "source \"https://example.org\"\ngem \"rack\"\n\ngroup :test do\n  gem \"rspec\"\nend\n\ngem \"puma\"\n",
        "gem \"rack\", \"2\"\ngem \"simplecov\", group: :test\n\ngroup :development, :test do\n  if x\n    gem \"minitest\"\n  end\nend\n",
        "source \"https://example.org\"\ngem \"rack\"\ngem \"simplecov\", group: :test\n\ngroup :development, :test do\n  if x\n    gem \"minitest\"\n  end\nend\n\ngem \"puma\"\n",
    ),
    (
        "Makefile",
        "CC = gcc\n\nall: a\n\tcc a.c\n\ntest: all\n\t./run\n",
        "CC = clang\n\ntest: \\\n  all\n\t./run --fast\n\n.PHONY: test\n",
        "CC = gcc\n\nall: a\n\tcc a.c\n\ntest: \\\n  all\n\t./run --fast\n",
    ),
    (
        "src/a.rs",
        "//! A.\n\npub fn add(a: u8) -> u8 { a }\n\n/// One.\n#[test]\nfn one() {}\n\nmod inner {\n    pub fn f() {}\n}\n\n#[cfg(test)]\nmod tests;\n",
        "pub fn add(a: u8) -> u8 { a + 1 }\n\n#[cfg(test)]\nuse std::fs;\n\nmod inner {\n    #[test]\n    fn two() {}\n}\n",
        "//! A.\n\npub fn add(a: u8) -> u8 { a }\n\n\nmod inner {\n    pub fn f() {}\n    #[test]\n    fn two() {}\n}\n\n#[cfg(test)]\nuse std::fs;\n",
    ),
    (
        "src/b.rs",
        "/// Adds.\n///\n/// ```\n/// assert_eq!(1, 1);\n/// ```\n#[must_use]\npub fn add() {}\n\nimpl A {\n    fn bare() {}\n}\n",
        "/// Sums.\n///\n/// ```\n/// assert_eq!(2, 2);\n/// ```\npub fn add() {}\n\nimpl A {\n    /// ```\n    /// bare();\n    /// ```\n    fn bare() {}\n}\n",
        "/// Adds.\n///\n/// ```\n/// assert_eq!(2, 2);\n/// ```\n#[must_use]\npub fn add() {}\n\nimpl A {\n    /// ```\n    /// bare();\n    /// ```\n    fn bare() {}\n}\n",
    ),
    (
        "src/c.rs",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\npub fn f() {}",
        "proptest! {\n    #[test]\n    fn b(x in 0..9) {}\n}\n",
        "pub fn f() {}\nproptest! {\n    #[test]\n    fn b(x in 0..9) {}\n}\n",
    ),
    (
        "calc.py",
        "def add(a, b):\n    \"\"\"Adds.\n\n    >>> add(1, 1)\n    2\n\n    Fast.\n    \"\"\"\n    return a + b\n\n\ndef sub(a, b):\n    \"\"\"Subtracts.\n    \"\"\"\n    return a - b\n",
        "def add(a, b):\n    \"\"\"Sums.\n\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return b + a\n\n\ndef sub(a, b):\n    \"\"\"\n    >>> sub(2, 1)\n    1\n    \"\"\"\n",
        "def add(a, b):\n    \"\"\"Adds.\n\n    >>> add(1, 2)\n    3\n\n    Fast.\n    \"\"\"\n    return a + b\n\n\ndef sub(a, b):\n    \"\"\"Subtracts.\n    >>> sub(2, 1)\n    1\n    \"\"\"\n    return a - b\n",
    ),
];

#[test]
fn a_file_with_both_sides_is_split_in_both_directions() {
    with_repository("", |repository| {
        for (path, one, other, expected) in SPLITS {
            let mix = |product: &str, tests: &str| repository.with_tests_of(path, product, tests).unwrap();
            assert_eq!(mix(one, other), expected, "{path}");
            assert_eq!(repository.side(path, &[one, other]), Side::Both, "{path}");
            for (product, tests) in [(one, other), (other, one)] {
                let mixed = mix(product, tests);
                assert_eq!(mix(&mixed, tests), mixed, "the tests of the mix are those of the second: {path}");
                assert_eq!(mix(tests, &mixed), mix(tests, tests), "and nothing else is: {path}");
                assert_eq!(mix("", &mixed), mix("", tests), "{path}");
            }
        }
    });
}

#[test]
fn what_cannot_be_split_is_product() {
    let deep = format!("{{\"scripts\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let many = "[[a]]\n".repeat(100_000);
    let table = [
        ("package.json", "{\"scripts\": "),
        ("package.json", "[1]"),
        ("package.json", &deep),
        ("Cargo.toml", "[dev-dependencies\n"),
        ("Cargo.toml", &many),
        ("pyproject.toml", "a = \"\"\"\n[tool.pytest]\n\"\"\"\n"),
        ("src/a.rs", "const A: &str = \"\n#[test]\nfn a() {}\n\";\n"),
        ("calc.py", "a = '''\n>>> b\n'''\n"),
    ];
    with_repository("", |repository| {
        for (path, text) in table {
            assert_eq!(repository.side(path, &[text]), Side::Product, "{path}: {}", text.get(..20).unwrap_or(text));
            assert_eq!(repository.mixed(path, Some(text), None).as_deref(), Some(text));
        }
    });
}

#[test]
fn a_change_is_on_the_side_of_the_keys_that_differ() {
    let base = "[package]\nname = \"a\"\n[dev-dependencies]\nb = \"1\"\n";
    let table = [
        ("[package]\nname = \"a\"\n[dev-dependencies]\nb = \"2\"\n", Some(Side::Tests)),
        ("[package]\nname = \"b\"\n[dev-dependencies]\nb = \"1\"\n", Some(Side::Product)),
        ("[package]\nname = \"b\"\n", Some(Side::Both)),
        (base, None),
    ];
    with_repository("", |repository| {
        for (after, expected) in table {
            assert_eq!(repository.changed_side("Cargo.toml", Some(base), Some(after)), expected, "{after}");
        }
        let apart = "[dev-dependencies]\nb = \"1\"\n[features]\nstd = []\n[profile.bench]\ndebug = true\n";
        let after = format!("[dependencies]\nc = \"1\"\n{apart}");
        assert_eq!(repository.changed_side("Cargo.toml", Some(apart), Some(&after)), Some(Side::Product));
        assert_eq!(repository.changed_side("src/a.rs", None, Some("fn a() {}\n")), Some(Side::Product));
        assert_eq!(repository.changed_side("tests/a.rs", Some("fn a() {}\n"), None), Some(Side::Tests));
        assert_eq!(repository.mixed("tests/a.rs", Some("new"), None), None);
        assert_eq!(repository.mixed("src/a.rs", None, Some("#[test]\nfn a() {}\n")), None);
    });
}
