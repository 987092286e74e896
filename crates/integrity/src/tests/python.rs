//! Python.

use super::{all_caught, all_honest};
use domain::integrity::Rule;

const T: &str = "import pytest\nfrom app.calc import add, parse\n\n\ndef test_adds():\n    assert add(2, 2) == 4\n    assert add(-1, 1) == 0\n\n\ndef test_parses():\n    got = parse(\"7\")\n    assert got == 7\n";
const U: &str = "import unittest\n\n\nclass CalcTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(2, 2), 4)\n\n    def test_fails(self):\n        with self.assertRaises(ValueError):\n            parse(\"x\")\n";

#[test]
fn deceptions_are_caught() {
    let t = "tests/test_a.py";
    let s = "app/calc.py";
    let change = |from: &str, to: &str| T.replace(from, to);
    let in_unittest = |from: &str, to: &str| U.replace(from, to);
    let last = "def test_parses():\n    got = parse(\"7\")\n    assert got == 7\n";
    let rows = "@pytest.mark.parametrize(\"n, m\", [(1, 2), (3, 4)])\ndef test_a(n, m):\n    assert f(n) == m\n";
    let table = "CASES = [(1, 2), (3, 4)]\n\n\ndef test_a():\n    for n, m in CASES:\n        assert f(n) == m\n";
    all_caught(&[
        (
            "a part of the text",
            &[(
                "tests/test_a.py",
                "def test_a():\n    assert ago(0) == \"10 min ago\"\n",
                "def test_a():\n    assert \"ago\" in ago(0)\n",
            )],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "tried again",
            &[(
                "tests/test_a.py",
                "import pytest\n\n\ndef test_a():\n    assert ago(0) == 1\n",
                "import pytest\n\n\n@pytest.mark.flaky(reruns=3)\ndef test_a():\n    assert ago(0) == 1\n",
            )],
            Rule::RunnerWeakened,
            Some(4),
        ),
        (
            "true on one side",
            &[(
                "tests/test_a.py",
                "",
                "def test_a():\n    assert ago(0) == 1\n    assert ago(1) == 3 or True\n",
            )],
            Rule::AssertionTrivial,
            Some(3),
        ),
        (
            "a check that nobody calls",
            &[(
                t,
                T,
                &change("    assert got == 7\n", "    def check():\n        assert got == 7\n"),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "one of several will do",
            &[(t, T, &change("add(2, 2) == 4", "add(2, 2) in (4, 5, \"six\")"))],
            Rule::AssertionRemoved,
            Some(6),
        ),
        (
            "another answer will do too",
            &[(
                t,
                T,
                &change("add(2, 2) == 4", "add(2, 2) == 4 or add(2, 2) == \"four\""),
            )],
            Rule::AssertionRemoved,
            Some(6),
        ),
        (
            "the expected value is only the message",
            &[(t, U, &in_unittest("assertEqual(add", "assertTrue(add"))],
            Rule::AssertionRemoved,
            Some(6),
        ),
        (
            "the answer is written first",
            &[(
                t,
                "GOLDEN = Path(__file__)\n\n\ndef test_a():\n    assert f() == GOLDEN.read_text()\n",
                "GOLDEN = Path(__file__)\n\n\ndef test_a():\n    GOLDEN.write_text(f())\n    assert f() == GOLDEN.read_text()\n",
            )],
            Rule::AssertionRemoved,
            Some(6),
        ),
        (
            "a fixture",
            &[(t, T, &change("def test_parses", "@pytest.fixture\ndef test_parses"))],
            Rule::TestRenamedAway,
            Some(11),
        ),
        (
            "a hidden mark",
            &[(
                t,
                T,
                &change(
                    "def test_parses",
                    "later = getattr(pytest.mark, \"sk\" + \"ip\")\n\n\n@later\ndef test_parses",
                ),
            )],
            Rule::SkipAdded,
            Some(10),
        ),
        (
            "exit when all is over",
            &[(s, "", "import atexit, os\natexit.register(os._exit, 0)\n")],
            Rule::ExitInTest,
            Some(2),
        ),
        (
            "a row gone",
            &[(t, rows, &rows.replace(", (3, 4)", ""))],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "a row of a table gone",
            &[(t, table, &table.replace(", (3, 4)", ""))],
            Rule::AssertionRemoved,
            Some(1),
        ),
        (
            "options by the environment",
            &[(
                "conftest.py",
                "",
                "import os\nos.environ[\"PYTEST_ADDOPTS\"] = \"-k nothing\"\n",
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "its own answer",
            &[
                (
                    t,
                    "",
                    "from unittest.mock import patch\nfrom app import calc\n\n\ndef test_a():\n    with patch(\"app.calc.add\", return_value=4):\n        assert calc.add(2, 2) == 4\n",
                ),
                (s, "", "def add(a, b):\n    return a\n"),
            ],
            Rule::ShadowModule,
            Some(6),
        ),
        (
            "nothing in a list",
            &[(t, T, &change("assert got == 7", "assert all(x == 7 for x in [])"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "new tests that check nothing",
            &[(
                t,
                "",
                "def test_a():\n    add(1, 2)\n\n\ndef test_b():\n    print(add(1, 2))\n",
            )],
            Rule::AssertionTrivial,
            Some(1),
        ),
        (
            "deleted function",
            &[(t, T, &change(last, ""))],
            Rule::TestDeleted,
            None,
        ),
        ("deleted file", &[(t, T, "")], Rule::TestDeleted, None),
        (
            "emptied",
            &[(
                t,
                T,
                &change("    got = parse(\"7\")\n    assert got == 7\n", "    pass\n"),
            )],
            Rule::TestEmptied,
            Some(10),
        ),
        (
            "only words left",
            &[(
                t,
                T,
                &change(
                    "    got = parse(\"7\")\n    assert got == 7\n",
                    "    \"\"\"Parses.\"\"\"\n",
                ),
            )],
            Rule::TestEmptied,
            Some(10),
        ),
        (
            "renamed",
            &[(t, T, &change("def test_parses", "def _test_parses"))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "renamed behind",
            &[(t, T, &change("def test_parses", "def parses_test"))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "class renamed",
            &[(
                t,
                U,
                &in_unittest("class CalcTest(unittest.TestCase)", "class Calc(object)"),
            )],
            Rule::TestRenamedAway,
            Some(5),
        ),
        (
            "file renamed",
            &[(t, T, ""), ("tests/calc_checks.py", "", T)],
            Rule::TestRenamedAway,
            Some(5),
        ),
        (
            "never defined",
            &[(
                t,
                T,
                &change(
                    last,
                    "if False:\n    def test_parses():\n        got = parse(\"7\")\n        assert got == 7\n",
                ),
            )],
            Rule::TestRenamedAway,
            Some(11),
        ),
        (
            "defined in a function",
            &[(
                t,
                T,
                &change(
                    last,
                    "def unused():\n    def test_parses():\n        got = parse(\"7\")\n        assert got == 7\n",
                ),
            )],
            Rule::TestRenamedAway,
            Some(11),
        ),
        (
            "not a test",
            &[(t, T, &format!("{T}\n\ntest_parses.__test__ = False\n"))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "taken away",
            &[(t, T, &format!("{T}\n\ndel test_parses\n"))],
            Rule::TestRenamedAway,
            Some(10),
        ),
        (
            "defined again",
            &[(t, T, &format!("{T}\n\ndef test_parses():\n    pass\n"))],
            Rule::TestEmptied,
            Some(15),
        ),
        (
            "skipped",
            &[(
                t,
                T,
                &change(
                    "def test_parses",
                    "@pytest.mark.skip(reason=\"flaky\")\ndef test_parses",
                ),
            )],
            Rule::SkipAdded,
            Some(10),
        ),
        (
            "skipped on a condition",
            &[(
                t,
                T,
                &change(
                    "def test_parses",
                    "@pytest.mark.skipif(True, reason=\"x\")\ndef test_parses",
                ),
            )],
            Rule::SkipAdded,
            Some(10),
        ),
        (
            "expected to fail",
            &[(t, T, &change("def test_parses", "@pytest.mark.xfail\ndef test_parses"))],
            Rule::SkipAdded,
            Some(10),
        ),
        (
            "skipped in the body",
            &[(t, T, &change("    got =", "    pytest.skip(\"later\")\n    got ="))],
            Rule::SkipAdded,
            Some(11),
        ),
        (
            "skipped by unittest",
            &[(
                t,
                U,
                &in_unittest("    def test_adds", "    @unittest.skip(\"no\")\n    def test_adds"),
            )],
            Rule::SkipAdded,
            Some(5),
        ),
        (
            "class skipped",
            &[(
                t,
                U,
                &in_unittest("class CalcTest", "@unittest.skipIf(True, \"no\")\nclass CalcTest"),
            )],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "expected failure",
            &[(
                t,
                U,
                &in_unittest("    def test_adds", "    @unittest.expectedFailure\n    def test_adds"),
            )],
            Rule::SkipAdded,
            Some(5),
        ),
        (
            "self.skipTest",
            &[(
                t,
                U,
                &in_unittest(
                    "        self.assertEqual(add(2, 2), 4)",
                    "        self.skipTest(\"no\")\n        self.assertEqual(add(2, 2), 4)",
                ),
            )],
            Rule::SkipAdded,
            Some(6),
        ),
        (
            "raise SkipTest",
            &[(
                t,
                U,
                &in_unittest(
                    "        self.assertEqual",
                    "        raise unittest.SkipTest(\"no\")\n        self.assertEqual",
                ),
            )],
            Rule::SkipAdded,
            Some(6),
        ),
        (
            "skipped in setUp",
            &[(
                t,
                U,
                &in_unittest(
                    "    def test_adds",
                    "    def setUp(self):\n        self.skipTest(\"no\")\n\n    def test_adds",
                ),
            )],
            Rule::SkipAdded,
            Some(6),
        ),
        (
            "the whole file",
            &[(
                t,
                T,
                &change("\n\ndef test_adds", "\npytestmark = pytest.mark.skip\n\ndef test_adds"),
            )],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "module-level skip",
            &[(
                t,
                T,
                &change(
                    "\n\ndef test_adds",
                    "\npytest.skip(\"no\", allow_module_level=True)\n\ndef test_adds",
                ),
            )],
            Rule::SkipAdded,
            Some(4),
        ),
        (
            "not collected",
            &[("conftest.py", "", "collect_ignore = [\"tests/test_a.py\"]\n")],
            Rule::SkipAdded,
            Some(1),
        ),
        (
            "taken out by a hook",
            &[(
                "conftest.py",
                "",
                "def pytest_collection_modifyitems(config, items):\n    items[:] = [i for i in items if \"parse\" not in i.name]\n",
            )],
            Rule::SkipAdded,
            Some(1),
        ),
        (
            "outcome rewritten",
            &[(
                "conftest.py",
                "",
                "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    rep = outcome.get_result()\n    rep.outcome = \"passed\"\n",
            )],
            Rule::RunnerWeakened,
            Some(5),
        ),
        (
            "exit status rewritten",
            &[(
                "conftest.py",
                "",
                "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
            )],
            Rule::RunnerWeakened,
            Some(1),
        ),
        (
            "assertion removed",
            &[(t, T, &change("    assert got == 7\n", "    print(got)\n"))],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "one of two removed",
            &[(t, T, &change("    assert add(-1, 1) == 0\n", ""))],
            Rule::AssertionRemoved,
            Some(5),
        ),
        (
            "assert True",
            &[(t, T, &change("assert got == 7", "assert True"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "assert 1",
            &[(t, T, &change("assert got == 7", "assert 1"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "or True",
            &[(t, T, &change("assert got == 7", "assert got == 7 or True"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "a tuple",
            &[(t, T, &change("assert got == 7", "assert (got == 7, \"seven\")"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "with itself",
            &[(t, T, &change("assert got == 7", "assert got == got"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "assertTrue(True)",
            &[(
                t,
                U,
                &in_unittest("self.assertEqual(add(2, 2), 4)", "self.assertTrue(True)"),
            )],
            Rule::AssertionTrivial,
            Some(6),
        ),
        (
            "a generator",
            &[(t, T, &change("assert got == 7", "assert (x == 7 for x in [got])"))],
            Rule::AssertionTrivial,
            Some(12),
        ),
        (
            "loosened to not None",
            &[(t, T, &change("assert got == 7", "assert got is not None"))],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "loosened to truth",
            &[(t, T, &change("assert got == 7", "assert got"))],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "loosened to a type",
            &[(t, T, &change("assert got == 7", "assert isinstance(got, int)"))],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "loosened to at least 0",
            &[(t, T, &change("assert got == 7", "assert got >= 0"))],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "swallowed",
            &[(
                t,
                T,
                &change(
                    "    assert got == 7\n",
                    "    try:\n        assert got == 7\n    except AssertionError:\n        pass\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "swallowed by everything",
            &[(
                t,
                T,
                &change(
                    "    assert got == 7\n",
                    "    try:\n        assert got == 7\n    except:\n        print(\"no\")\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "suppressed",
            &[(
                t,
                T,
                &change(
                    "    assert got == 7\n",
                    "    with contextlib.suppress(Exception):\n        assert got == 7\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "failure expected",
            &[(
                t,
                T,
                &change(
                    "    assert got == 7\n",
                    "    with pytest.raises(AssertionError):\n        assert got == 7\n",
                ),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "return before it",
            &[(
                t,
                T,
                &change("    assert got == 7\n", "    return\n    assert got == 7\n"),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "guarded",
            &[(
                t,
                T,
                &change("    assert got == 7\n", "    if got:\n        assert got == 7\n"),
            )],
            Rule::AssertionRemoved,
            Some(13),
        ),
        (
            "broad exception",
            &[(
                t,
                U,
                &in_unittest("assertRaises(ValueError)", "assertRaises(Exception)"),
            )],
            Rule::AssertionRemoved,
            Some(9),
        ),
        (
            "tolerance",
            &[(
                t,
                "def test_a():\n    assert f() == pytest.approx(1.0, abs=1e-6)\n",
                "def test_a():\n    assert f() == pytest.approx(1.0, abs=100)\n",
            )],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "no rows",
            &[(
                t,
                "@pytest.mark.parametrize(\"a\", [1, 2])\ndef test_a(a):\n    assert f(a) == a\n",
                "@pytest.mark.parametrize(\"a\", [])\ndef test_a(a):\n    assert f(a) == a\n",
            )],
            Rule::SkipAdded,
            Some(1),
        ),
        (
            "new test that cannot fail",
            &[(t, "", "def test_a():\n    assert True\n")],
            Rule::AssertionTrivial,
            Some(2),
        ),
        (
            "new empty test",
            &[(t, "", "def test_a():\n    pass\n")],
            Rule::TestEmptied,
            Some(1),
        ),
        (
            "NotImplementedError",
            &[(s, "", "def f():\n    raise NotImplementedError\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "NotImplementedError with words",
            &[(
                s,
                "",
                "def f():\n    \"\"\"Does.\"\"\"\n    raise NotImplementedError(\"todo\")\n",
            )],
            Rule::Stub,
            Some(3),
        ),
        ("pass", &[(s, "", "def f():\n    pass\n")], Rule::Stub, Some(1)),
        (
            "ellipsis",
            &[(s, "", "class A:\n    def f(self):\n        ...\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "os._exit",
            &[(
                t,
                T,
                &format!("import os\n{T}\n\ndef teardown_module():\n    os._exit(0)\n"),
            )],
            Rule::ExitInTest,
            Some(17),
        ),
        (
            "sys.exit in conftest",
            &[("conftest.py", "", "import sys\nsys.exit(0)\n")],
            Rule::ExitInTest,
            Some(2),
        ),
        (
            "exit at exit",
            &[(s, "", "import atexit, os\natexit.register(lambda: os._exit(0))\n")],
            Rule::ExitInTest,
            Some(2),
        ),
        (
            "pytest patched",
            &[("conftest.py", "", "import pytest\npytest.raises = lambda *a: None\n")],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "assertEqual defined",
            &[(
                "tests/base.py",
                "",
                "class Base:\n    def assertEqual(self, a, b):\n        pass\n",
            )],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "no cover",
            &[(
                s,
                "def f():\n    return 1\n",
                "def f():  # pragma: no cover\n    return 1\n",
            )],
            Rule::CoverageWeakened,
            Some(1),
        ),
        (
            "knows of tests",
            &[(
                s,
                "",
                "import os\n\n\ndef f():\n    if \"PYTEST_CURRENT_TEST\" in os.environ:\n        return 4\n    return 1\n",
            )],
            Rule::DiffersUnderTest,
            Some(5),
        ),
        (
            "equal to everything",
            &[(s, "", "class A:\n    def __eq__(self, other):\n        return True\n")],
            Rule::AssertionTrivial,
            Some(2),
        ),
    ]);
}

#[test]
fn honest_changes_pass() {
    let t = "tests/test_a.py";
    let s = "app/calc.py";
    let change = |from: &str, to: &str| T.replace(from, to);
    all_honest(&[
        (
            "renamed test",
            &[(t, T, &change("test_parses", "test_a_number_is_parsed"))],
        ),
        ("renamed function under test", &[(t, T, &change("add", "sum_of"))]),
        ("moved", &[(t, T, ""), ("tests/test_b.py", "", T)]),
        (
            "parametrised",
            &[(
                t,
                T,
                &change(
                    "def test_adds():\n    assert add(2, 2) == 4\n    assert add(-1, 1) == 0\n",
                    "@pytest.mark.parametrize(\"a, b, c\", [(2, 2, 4), (-1, 1, 0)])\ndef test_adds(a, b, c):\n    assert add(a, b) == c\n",
                ),
            )],
        ),
        (
            "two merged into a table",
            &[(
                t,
                "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(3) == 4\n",
                "@pytest.mark.parametrize(\"n, m\", [(1, 2), (3, 4)])\ndef test_f(n, m):\n    assert f(n) == m\n",
            )],
        ),
        (
            "split",
            &[(
                t,
                T,
                &change(
                    "    assert add(-1, 1) == 0\n",
                    "\n\ndef test_adds_negative():\n    assert add(-1, 1) == 0\n",
                ),
            )],
        ),
        (
            "unittest to pytest",
            &[(
                t,
                U,
                "import pytest\n\n\ndef test_adds():\n    assert add(2, 2) == 4\n\n\ndef test_fails():\n    with pytest.raises(ValueError):\n        parse(\"x\")\n",
            )],
        ),
        (
            "black",
            &[(
                t,
                T,
                &change(
                    "    assert got == 7\n",
                    "    assert (\n        got\n        == 7\n    )\n",
                )
                .replace('"', "'"),
            )],
        ),
        (
            "helper introduced",
            &[(
                t,
                T,
                &change(
                    "    assert add(2, 2) == 4\n    assert add(-1, 1) == 0\n",
                    "    check(2, 2, 4)\n    check(-1, 1, 0)\n\n\ndef check(a, b, c):\n    assert add(a, b) == c\n",
                ),
            )],
        ),
        ("another value", &[(t, T, &change("== 7", "== 8"))]),
        (
            "a fixture",
            &[(
                "conftest.py",
                "",
                "import pytest\n\n\n@pytest.fixture\ndef client():\n    yield object()\n",
            )],
        ),
        (
            "a report hook",
            &[(
                "conftest.py",
                "",
                "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    rep = outcome.get_result()\n    setattr(item, \"rep_\" + rep.when, rep)\n",
            )],
        ),
        (
            "a mock of a service",
            &[(
                t,
                "",
                "from unittest import mock\n\n\ndef test_a():\n    with mock.patch(\"requests.get\") as get:\n        get.return_value.status_code = 200\n        assert fetch() == 200\n",
            )],
        ),
        (
            "skipped elsewhere",
            &[(
                t,
                "",
                "import sys\nimport pytest\n\n\n@pytest.mark.skipif(sys.platform == \"win32\", reason=\"posix\")\ndef test_a():\n    assert f() == 1\n",
            )],
        ),
        (
            "abstract",
            &[(
                s,
                "",
                "from abc import ABC, abstractmethod\nfrom typing import Protocol\n\n\nclass A(ABC):\n    @abstractmethod\n    def f(self):\n        raise NotImplementedError\n\n\nclass P(Protocol):\n    def g(self): ...\n\n\nclass E(Exception):\n    pass\n",
            )],
        ),
        (
            "filled in below",
            &[(
                s,
                "",
                "class Shape:\n    def area(self):\n        raise NotImplementedError\n\n\nclass Square(Shape):\n    def area(self):\n        return 4\n",
            )],
        ),
        (
            "pass in except",
            &[(
                s,
                "",
                "def f():\n    try:\n        return g()\n    except ValueError:\n        pass\n    return None\n",
            )],
        ),
        (
            "the words in text",
            &[(
                s,
                "",
                "def f():\n    # raise NotImplementedError\n    return \"raise NotImplementedError\"\n",
            )],
        ),
        (
            "a click group",
            &[(s, "", "import click\n\n\n@click.group()\ndef cli():\n    pass\n")],
        ),
        (
            "main",
            &[(
                s,
                "",
                "import sys\n\n\ndef main():\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main())\n",
            )],
        ),
        (
            "test as a script",
            &[(
                t,
                T,
                &format!(
                    "{T}\n\nif __name__ == \"__main__\":\n    import sys\n    sys.exit(pytest.main([__file__]))\n"
                ),
            )],
        ),
        (
            "exit is tested",
            &[(
                t,
                "",
                "def test_a():\n    with pytest.raises(SystemExit) as info:\n        main([\"--bad\"])\n    assert info.value.code == 2\n",
            )],
        ),
        (
            "Remove the legacy parser",
            &[
                (
                    t,
                    T,
                    &change("def test_parses():\n    got = parse(\"7\")\n    assert got == 7\n", "")
                        .replace(", parse", ""),
                ),
                (
                    s,
                    "def parse(text):\n    return int(text)\n\n\ndef add(a, b):\n    return a + b\n",
                    "def add(a, b):\n    return a + b\n",
                ),
            ],
        ),
        (
            "Drop the module exporter",
            &[
                (
                    "tests/test_exporter.py",
                    "from app.exporter import export_csv\n\n\ndef test_export():\n    assert export_csv([1]) == \"1\"\n",
                    "",
                ),
                (
                    "app/exporter.py",
                    "def export_csv(rows):\n    return \",\".join(map(str, rows))\n",
                    "",
                ),
            ],
        ),
        (
            "a condition that existed",
            &[(
                t,
                "@pytest.mark.skipif(os.name == \"nt\", reason=\"a\")\ndef test_a():\n    assert f() == 1\n",
                "@pytest.mark.skipif(os.name == \"nt\", reason=\"another reason\")\ndef test_a():\n    assert f() == 1\n    assert f() < 2\n",
            )],
        ),
        (
            "a new test for other systems, and one that needs a tool",
            &[(
                t,
                T,
                &format!(
                    "{T}\n\n@pytest.mark.skipif(WIN, reason=\"x\")\ndef test_a():\n    assert add(1, 2) == 3\n\n\n@pytest.mark.skipif(shutil.which(\"cat\") is None, reason=\"x\")\ndef test_b():\n    assert add(1, 3) == 4\n"
                ),
            )],
        ),
        (
            "a test that only must not raise",
            &[(t, T, &format!("{T}\n\ndef test_a():\n    add(1, None)\n"))],
        ),
        (
            "one of two helpers of one name",
            &[(
                t,
                "class A:\n    def helper(self):\n        assert f() == 1\n\n\nclass B:\n    def helper(self):\n        return 1\n",
                "class A:\n    def helper(self):\n        assert f() == 1\n\n\nclass B:\n    def helper(self):\n        return 2\n",
            )],
        ),
        (
            "a field that no row has any more",
            &[(
                t,
                "@pytest.mark.parametrize(\"n, m\", [(1, {\"a\": 2, \"b\": True}), (3, {\"a\": 4, \"b\": True})])\ndef test_a(n, m):\n    assert f(n) == m\n",
                "@pytest.mark.parametrize(\"n, m\", [(1, {\"a\": 2}), (3, {\"a\": 4})])\ndef test_a(n, m):\n    assert f(n) == m\n",
            )],
        ),
        (
            "a branch that cannot be tried here",
            &[(
                s,
                "def f():\n    return 1\n",
                "def f():\n    try:\n        return g()\n    except OSError:  # pragma: no cover\n        return 1\n",
            )],
        ),
        (
            "what another function needs is patched around it",
            &[(
                t,
                T,
                &format!(
                    "{T}\n\ndef test_a():\n    with patch(\"app.send.offset\", return_value=offset() + 7):\n        send()\n    assert last().offset != offset()\n"
                ),
            )],
        ),
    ]);
}
