//! Every reader of foreign programs' output and files does linear work.

use super::{results, shell, workflows};
use effort::{Reader, Text, assert_linear};

/// Output of test runners.
const RESULTS: [Text; 25] = [
    Text("running 9 tests\n", "", "test a{n} ... ok\n"),
    Text("", "", "PASS [   0.003s] c t{n}\n"),
    Text("1 passed in 1s\n", "", "a.py::t{n} PASSED [ 50%]\n"),
    Text("1 passed in 1s\n", "", "FAILED a.py::t{n} - x\n"),
    Text("", "", "test_x{n} (m.C.test_x) ... ok\n"),
    Text("PASS ", "x", "\n  ✓ a{n} (2 ms)"),
    Text("PASS a.js\n  ", "x", "\n    ✓ a{n} (2 ms)"),
    Text("", "", "✓ a > b{n} 2ms\n"),
    Text("  ", "x", "\n    ✔ a{n}"),
    Text("# Subtest: ", "x", "\n  ok {n} - a"),
    Text("", "", "  # Subtest: a\n    # Subtest: b{n}\n"),
    Text("1..9\n", "", "not ok {n} - a # x\n"),
    Text("", "", "--- PASS: T{n} (0.00s)\nok  \tp\t0.1s\n"),
    Text("Files=1, Tests=2\n", "", "a{n} (Wstat: 1 Failed: 1)\n"),
    Text("", "", "A#test_{n} = 0.01 s = .\n"),
    Text("", "x", ": \n  test_a{n}:\t."),
    Text("1 example, 0 failures\n\n", "x", "\n  adds{n}"),
    Text("", "", "<testsuites><testcase name='a{n}'/></testsuites>\n"),
    Text("PHPUnit 9 by Sebastian Bergmann\n", "", "{n}) a::b\n"),
    Text("", "", "  Passed a.B{n} [5 ms]\n"),
    Text("running 2 tests from ./", "x", "\nadds{n} ... ok (5ms)"),
    Text("1 test, 0 failures\nM", "x", " [a]\n  * test adds{n} (0.1ms) [L#3]"),
    Text("", "", "1/6 Test #2: a{n} ....***Failed    0.01 sec\n"),
    Text("", "", "2/4 unit / a{n}  FAIL   0.01s\n"),
    Text("# TOTAL: 3\n", "", "PASS: a{n}\n"),
];

/// Parts of reports.
const REPORTS: [Text; 6] = [
    Text("<testsuites>", "", "<testcase name='a{n}'/>"),
    Text("<testsuites><testcase name='", "x", "'/><testcase name='a"),
    Text("<testsuites>", "", "<testcase><failure/></testcase>"),
    Text("<testsuites>", "", "<a>"),
    Text("<testsuites>", "", "<!--"),
    Text("<testsuites>", "", "&lt;"),
];

/// Parts of configuration.
const CONFIGURATION: [Text; 2] = [Text("on:\n", "", "  a{n}:\n"), Text("on: [", "", "push, ")];

/// Lines of shells.
const LINES: [Text; 4] =
    [Text("", "", "a{n}; "), Text("", "", "X={n}\n"), Text("", "", "f{n}() { a{n}; }\n"), Text("", "", "cd a; b\n")];

#[test]
fn eight_times_the_output_is_eight_times_the_work() {
    let reader = |name, read, own| Reader { name, read, own };
    assert_linear(&[
        reader("results", &|text| drop(results::read(text, "")), &RESULTS),
        reader("begun", &|text| drop(results::unfinished_test(text, "")), &[]),
        reader("report", &|text| drop(results::junit(text.as_bytes())), &REPORTS),
        reader("workflow", &|text| drop(workflows::started_by(text)), &CONFIGURATION),
        reader("programs", &|text| drop(shell::programs(text)), &LINES),
    ]);
}
