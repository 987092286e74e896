use super::{read, unfinished_test};
use domain::evidence::Counts;

fn known_counts(passed: u32, failed: u32, skipped: u32) -> Counts {
    Counts::Known { passed, failed, skipped }
}

fn check(stdout: &str, counts: Counts, failing: &[&str]) {
    for found in [read(stdout, ""), read("", stdout)] {
        assert_eq!(found.counts, counts, "{stdout}");
        assert_eq!(found.failing, failing, "{stdout}");
    }
}

#[test]
fn cargo_test_adds_up() {
    check(
        "running 3 tests\ntest tests::adds ... ok\ntest tests::halves ... FAILED\ntest tests::slow ... ignored\n\n\
         failures:\n\n---- tests::halves stdout ----\nthread 'tests::halves' panicked at src/lib.rs:9:9:\n\n\nfailures:\n\
         \x20   tests::halves\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
         error: test failed, to rerun pass `--lib`\n",
        known_counts(1, 1, 1),
        &["tests::halves"],
    );
    check(
        "running 2 tests\ntest a ... ok\ntest b - should panic ... ok\n\n\
         test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
         \x20  Doc-tests x\n\nrunning 1 test\ntest src/lib.rs - add (line 3) ... ok\n\n\
         test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s\n",
        known_counts(3, 0, 0),
        &[],
    );
    check(
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        known_counts(0, 0, 0),
        &[],
    );
}

#[test]
fn nextest_sums_up() {
    check(
        "────────────\n        PASS [   0.003s] demo tests::adds\n        FAIL [   0.004s] demo tests::halves\n────────────\n\
         \x20    Summary [   0.016s] 3 tests run: 2 passed, 1 failed, 4 skipped\n        FAIL [   0.004s] demo tests::halves\n",
        known_counts(2, 1, 4),
        &["demo tests::halves"],
    );
}

#[test]
fn pytest_sums_up() {
    check(
        "F..s                                                                     [100%]\n\
         =========================== short test summary info ============================\n\
         FAILED tests/test_a.py::test_halves - assert 1 == 2\nERROR tests/test_b.py::test_c - fixture 'x' not found\n\
         =============== 1 failed, 2 passed, 1 skipped, 1 error in 0.12s ================\n",
        known_counts(2, 2, 1),
        &["tests/test_a.py::test_halves", "tests/test_b.py::test_c"],
    );
    check("...\n3 passed in 0.01s\n", known_counts(3, 0, 0), &[]);
    check("====== 12 passed, 1 warning in 65.20s (0:01:05) ======\n", known_counts(12, 0, 0), &[]);
    check("======= no tests ran in 0.01s =======\n", known_counts(0, 0, 0), &[]);
    check("==== 2 deselected in 0.01s ====\n", known_counts(0, 0, 0), &[]);
}

#[test]
fn unittest_sums_up() {
    check(
        "F.s\n======================================================================\nFAIL: test_halves (test_x.T.test_halves)\n\
         ----------------------------------------------------------------------\nTraceback\n\n\
         ----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n",
        known_counts(1, 1, 1),
        &["test_x.T.test_halves"],
    );
    check("----\nRan 1 test in 0.000s\n\nOK\n", known_counts(1, 0, 0), &[]);
    check("----\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", known_counts(0, 0, 0), &[]);
}

#[test]
fn javascript_runners_sum_up() {
    check(
        "FAIL ./sum.test.js\n  ● sum › halves\n\n    expect(received)\n\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total\n\
         Snapshots:   0 total\nTime:        0.5 s\n",
        known_counts(2, 1, 2),
        &["./sum.test.js › sum › halves"],
    );
    check("No tests found, exiting with code 1\n", known_counts(0, 0, 0), &[]);
    check(
        " FAIL  test/sum.test.ts > sum > halves\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n",
        known_counts(2, 1, 1),
        &["test/sum.test.ts > sum > halves"],
    );
    check(" Test Files  1 passed (1)\n      Tests  3 passed (3)\n", known_counts(3, 0, 0), &[]);
    check(
        "  sum\n    ✔ adds\n    1) halves\n\n  1 passing (5ms)\n  1 pending\n  1 failing\n\n  1) sum\n       halves:\n\n      AssertionError\n",
        known_counts(1, 1, 1),
        &["sum halves"],
    );
}

#[test]
fn nodes_own_runner_sums_up_in_both_forms() {
    check(
        "TAP version 13\n# Subtest: adds\nok 1 - adds\n# Subtest: halves\nnot ok 2 - halves\n1..2\n# tests 2\n# suites 0\n\
         # pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 40.1\n",
        known_counts(1, 1, 0),
        &["halves"],
    );
    check(
        "✔ adds (0.8ms)\n✖ halves (0.5ms)\nℹ tests 3\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n",
        known_counts(1, 1, 1),
        &["halves"],
    );
    check("TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n", known_counts(0, 0, 0), &[]);
}

#[test]
fn go_counts_what_it_prints() {
    check(
        "=== RUN   TestAdds\n=== RUN   TestAdds/one_two\n--- PASS: TestAdds (0.00s)\n    --- PASS: TestAdds/one_two (0.00s)\n\
         === RUN   TestHalves\n    x_test.go:9: no\n--- FAIL: TestHalves (0.00s)\n\
         --- SKIP: TestSlow (0.00s)\nFAIL\nFAIL\texample.com/x\t0.002s\nFAIL\n",
        known_counts(2, 1, 1),
        &["example.com/x.TestHalves"],
    );
    check("ok  \texample.com/x\t0.002s\n", Counts::Unknown, &[]);
    check(
        "ok  \texample.com/x\t0.002s\n--- FAIL: TestHalves (0.00s)\nFAIL\nFAIL\texample.com/y\t0.002s\n",
        Counts::Unknown,
        &["example.com/y.TestHalves"],
    );
    check("?   \texample.com/x\t[no test files]\n", known_counts(0, 0, 0), &[]);
    check("ok  \texample.com/x\t0.002s [no tests to run]\n", known_counts(0, 0, 0), &[]);
    check("FAIL\texample.com/x [build failed]\n", known_counts(0, 1, 0), &["example.com/x (did not run)"]);
}

#[test]
fn tests_of_one_name_in_two_packages_are_two() {
    let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \tm/a\t0.1s\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \tm/b\t0.1s\n";
    assert_eq!(read(text, "").names.unwrap().passed, ["m/a.TestA", "m/b.TestA"]);
}

#[test]
fn ava_names_its_tests_by_their_titles_whatever_their_files() {
    let text = "TAP version 13\nok 1 - a › adds\nnot ok 2 - b › halves\n  ---\n    name: AssertionError\n  ...\nok 3 - b › later # SKIP\n\n1..3\n# tests 3\n# pass 1\n# skip 1\n# fail 1\n";
    let found = read(text, "");
    assert_eq!(found.counts, known_counts(1, 1, 1));
    let names = found.names.unwrap();
    assert_eq!((names.passed, names.failed), (vec!["adds".to_owned()], vec!["halves".to_owned()]));
}

#[test]
fn the_test_anything_protocol_is_counted() {
    check(
        "1..4\nok 1 - adds\nnot ok 2 - halves\nok 3 # SKIP no network\nnot ok 4 - later # TODO\n",
        known_counts(1, 1, 2),
        &["halves"],
    );
    check("1..0 # SKIP nothing here\n", known_counts(0, 0, 0), &[]);
    check(
        "t/a.t .. ok\nt/b.t .. Failed 1/3 subtests\n\nTest Summary Report\n-------------------\nt/b.t (Wstat: 256 Tests: 3 Failed: 1)\n\
         \x20 Failed test:  2\nFiles=2, Tests=5,  0 wallclock secs\nResult: FAIL\n",
        known_counts(4, 1, 0),
        &["t/b.t"],
    );
}

#[test]
fn several_runners_add_up() {
    check(
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
         ==== 1 failed, 3 passed in 0.12s ====\n",
        known_counts(5, 1, 0),
        &[],
    );
}

#[test]
fn anything_else_is_unknown() {
    for text in [
        "",
        "all good\n",
        "ok\n",
        "5 passed\n",
        "passed in 3s\n",
        "Tests: none\n",
        "Ran out of memory\n",
        "7 passing\n",
        "test result: ",
    ] {
        let counts = read(text, "").counts;
        match text {
            "test result: " => assert_eq!(counts, known_counts(0, 0, 0)),
            _ => assert_eq!(counts, Counts::Unknown, "{text}"),
        }
    }
}

/// Returns the names in three lists, as `passed | failed | skipped`.
fn name_failing(output: &str) -> String {
    let names = read(output, "").names.unwrap();
    [names.passed, names.failed, names.skipped].map(|list| list.join(", ")).join(" | ")
}

#[test]
fn cargo_names_every_test_and_nothing_that_a_test_printed() {
    let output = "running 4 tests\ntest tests::a ... ok\ntest tests::c ... ignored, slow\ntest tests::b ... FAILED\n\
         test tests::d - should panic ... ok\n\nfailures:\n\n---- tests::b stdout ----\ntest fake ... ok\nrunning 1 test\n\
         test fake ... ok\n\nfailures:\n    tests::b\n\n\
         test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.07s\n\n\
         error: test failed, to rerun pass `--lib`\n     Running tests/x.rs (target/debug/deps/x-1)\n\nrunning 1 test\n\
         test tests::a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
         \x20  Doc-tests x\n\nrunning 1 test\ntest src/lib.rs - f (line 7) ... ok\n\n\
         test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s\n";
    assert_eq!(name_failing(output), "tests::a, tests::d, tests::a ⟨2⟩, src/lib.rs - f | tests::b | tests::c");
}

#[test]
fn a_test_binary_that_ends_early_is_a_failure_of_its_own() {
    let output = "running 1 test\ntest tests::b ... FAILED\n\nfailures:\n    tests::b\n\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s\n\n\
         error: test failed, to rerun pass `--lib`\n\nrunning 2 tests\ntest a ... ok\n\
         error: test failed, to rerun pass `--test x`\n\nCaused by:\n  process didn't exit successfully\n";
    let read = read(output, "");
    assert_eq!(read.counts, Counts::Unknown);
    let failed = ["tests::b", "a test binary (did not finish)"];
    assert_eq!(read.names.unwrap().failed, failed);
    assert_eq!(read.failing, failed);
    let exits = "running 2 tests\ntest a ... ok\n\nrunning 1 test\ntest b ... ok\n\n\
         test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s\n";
    assert_eq!(self::read(exits, "").failing, ["a test binary (did not finish)"]);
}

#[test]
fn a_sum_that_a_test_printed_is_not_the_binarys() {
    let sum = |passed: u32| {
        format!(
            "test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        )
    };
    let start = "running 3 tests\ntest a ... ok\n";
    let rest = "test b ... ok\ntest c ... ok\n\n";
    let inside = read(&format!("{start}{}{rest}{}", sum(1), sum(3)), "");
    assert_eq!(inside.counts, known_counts(3, 0, 0));
    assert_eq!(inside.names.unwrap().passed, ["a", "b", "c"]);
    // Here the summary counts more tests than were listed, so not every test is named.
    let behind = read(&format!("{start}{rest}{}{}", sum(3), sum(1)), "");
    assert!(!behind.names.unwrap().names_all(behind.counts));
    let never = read(&format!("{start}{}{rest}", sum(1)), "");
    assert_eq!((never.counts, never.failing), (Counts::Unknown, Vec::new()));
}

#[test]
fn nextest_names_every_test_once() {
    let output = "        PASS [   0.003s] (1/5) demo tests::adds\n        FAIL [   0.004s] (2/5) demo tests::halves\n  stdout ───\n\n\
         \x20   running 1 test\n    test tests::halves ... FAILED\n\n    failures:\n        tests::halves\n\n\
         \x20   test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.14s\n\n\
         \x20    SIGABRT [   0.013s] (4/5) demo::x crash\n        SKIP [         ] (5/5) demo tests::slow\n────────────\n\
         \x20    Summary [   0.152s] 3 tests run: 1 passed, 2 failed, 1 skipped\n\
         \x20    SIGABRT [   0.013s] (4/5) demo::x crash\n        FAIL [   0.150s] (2/5) demo tests::halves\n";
    check(output, known_counts(1, 2, 1), &["demo tests::halves", "demo::x crash"]);
    assert_eq!(name_failing(output), "demo tests::adds | demo tests::halves, demo::x crash | demo tests::slow");
}

#[test]
fn pytest_names_every_test() {
    let output = "collecting ... collected 6 items\n\ntests/test_a.py::test_ok PASSED    [ 20%]\n\
         tests/test_a.py::test_p[a - b] PASSED [ 30%]\ntests/test_a.py::test_halves FAILED [ 40%]\n\
         tests/test_a.py::test_skip SKIPPED (no network) [ 60%]\ntests/test_a.py::test_x XFAIL [ 80%]\n\
         tests/test_a.py::test_down PASSED [100%]\ntests/test_a.py::test_down ERROR [100%]\n\n\
         =========================== short test summary info ============================\n\
         PASSED tests/test_a.py::test_ok\nPASSED tests/test_a.py::test_p[a - b]\n\
         PASSED tests/test_a.py::test_printing\nFAILED tests/test_a.py::test_halves - assert 1 == 2\n\
         ERROR tests/test_a.py::test_down - ValueError\n\
         =============== 1 failed, 4 passed, 1 skipped, 1 xfailed, 1 error in 0.12s ================\n";
    assert_eq!(
        name_failing(output),
        "tests/test_a.py::test_ok, tests/test_a.py::test_p[a - b], tests/test_a.py::test_down, \
         tests/test_a.py::test_printing | tests/test_a.py::test_halves, tests/test_a.py::test_down (error) | \
         tests/test_a.py::test_skip, tests/test_a.py::test_x"
    );
    assert_eq!(
        name_failing(
            "[gw0] [ 50%] PASSED tests/test_a.py::test_b \n[gw1] [100%] FAILED tests/test_a.py::test_c \n1 failed, 1 passed in 1.00s\n"
        ),
        "tests/test_a.py::test_b | tests/test_a.py::test_c | "
    );
    assert_eq!(
        name_failing(
            "tests/test_b.py::B::test_x <- tests/test_a.py PASSED [100%]\n= short test summary info =\n\
             PASSED tests/test_b.py::B::test_x\n1 passed in 0.12s\n"
        ),
        "tests/test_b.py::B::test_x |  | "
    );
}

#[test]
fn unittest_names_every_test_and_subtest() {
    let output = "setUpClass (test_a.S) ... ERROR\ntest_bad (test_a.T.test_bad) ... FAIL\ntest_doc (test_a.T.test_doc)\n\
         The docstring here. ... ok\ntest_old (test_a.T) ... ok\ntest_skip (test_a.T.test_skip) ... skipped 'why not'\n\
         test_subs (test_a.T.test_subs) ... \n  test_subs (test_a.T.test_subs) (i=0) ... FAIL\n\
         \x20 test_subs (test_a.T.test_subs) (i=2) ... FAIL\ntest_warn (test_a.T.test_warn) ... noise\nok\n\
         test_xf (test_a.T.test_xf) ... expected failure\ntest_b (unittest.loader._FailedTest.test_b) ... ERROR\n\n\
         ======================================================================\nERROR: setUpClass (test_a.S)\n----\n\
         Ran 9 tests in 0.001s\n\nFAILED (failures=3, errors=2, skipped=1, expected failures=1)\n";
    assert_eq!(read(output, "").counts, known_counts(3, 5, 2));
    assert_eq!(
        name_failing(output),
        "test_a.T.test_doc, test_a.T.test_old, test_a.T.test_warn | setUpClass (test_a.S), test_a.T.test_bad, \
         test_a.T.test_subs (i=0), test_a.T.test_subs (i=2), unittest.loader._FailedTest.test_b | test_a.T.test_skip, \
         test_a.T.test_xf"
    );
    check("Ran 1 test in 0.000s\n\nOK (expected failures=1)\n", known_counts(0, 0, 1), &[]);
    let left_out = "test_bad (test_a.T.test_bad) ... FAIL\ntest_old (test_a.T.test_old) ... ok\n\n----\nRan 2 tests in 0.0s\n\nOK\n";
    assert_eq!(read(left_out, "").counts, known_counts(1, 1, 0));
}

#[test]
fn jest_and_vitest_name_every_test() {
    let jest = "PASS ./sum.test.js\n  sum\n    ✓ adds (2 ms)\n    inner\n      ✓ deep\n    ○ skipped later\n  ✓ top (1 ms)\n\n\
         FAIL ./bad.test.js\n  ● Test suite failed to run\n\n    SyntaxError: x\n\nFAIL ./b.test.js\n  sum\n    ✕ halves (1 ms)\n\n\
         \x20 ● sum › halves\n\n    expect(received)\n\nTest Suites: 2 failed, 1 passed, 3 total\nTests:       1 failed, 1 skipped, 3 passed, 5 total\n";
    check(jest, known_counts(3, 2, 1), &["./bad.test.js (did not run)", "./b.test.js › sum › halves"]);
    assert_eq!(
        name_failing(jest),
        "./sum.test.js › sum › adds, ./sum.test.js › sum › inner › deep, ./sum.test.js › top | \
         ./bad.test.js (did not run), ./b.test.js › sum › halves | ./sum.test.js › sum › later"
    );
    let vitest = " ✓ test/sum.test.ts > sum > adds 2ms\n ✓ test/sum.test.ts > sum > quick\n × test/sum.test.ts > sum > halves 3ms\n\
         \x20  → expected 1 to be 2\n ↓ test/sum.test.ts > sum > later [skipped]\n ❯ test/sum.test.ts (3 tests | 1 failed) 9ms\n\n\
         ⎯⎯ Failed Suites 1 ⎯⎯\n\n FAIL  test/bad.test.ts [ test/bad.test.ts ]\nSyntaxError: x\n\n\
         \x20FAIL  test/sum.test.ts > sum > halves\n\n Test Files  2 failed (2)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n";
    assert_eq!(
        name_failing(vitest),
        "test/sum.test.ts > sum > adds, test/sum.test.ts > sum > quick | test/sum.test.ts > sum > halves, \
         test/bad.test.ts (did not run) | test/sum.test.ts > sum > later"
    );
    assert_eq!(read(vitest, "").counts, known_counts(2, 2, 1));
}

#[test]
fn tests_of_one_title_in_two_files_of_jest_keep_their_names_in_any_order() {
    let file = |name: &str, mark: &str| format!("PASS ./{name}.test.js\n  {mark} adds (2 ms)\n\n");
    let (a, b) = (file("a", "✓"), file("b", "✕"));
    let end = "Tests:       1 failed, 1 passed, 2 total\n";
    for output in [format!("{a}{b}{end}"), format!("{b}{a}{end}")] {
        assert_eq!(name_failing(&output), "./a.test.js › adds | ./b.test.js › adds | ");
    }
}

#[test]
fn vitest_names_a_title_that_ends_with_a_bracket() {
    let output = " ✓ a.test.ts > sum (3 tests) 4ms\n ✓ a.test.ts > sum > adds (carefully) 2ms\n ✓ a.test.ts > works()\n\n      Tests  2 passed (2)\n";
    assert_eq!(name_failing(output), "a.test.ts > sum > adds (carefully), a.test.ts > works() |  | ");
}

#[test]
fn what_follows_a_hash_is_no_part_of_a_name() {
    let plain = "TAP version 14\n1..6\nok 1 - adds # time=12ms\nnot ok 2 - halves # time=3ms\nok 3 - later # SKIP no network\n\
         not ok 4 - soon # todo\nok 5 - issue \\#12 # time=1ms\nok 6 - C# compiles\n";
    assert_eq!(name_failing(plain), "adds, issue #12, C# compiles | halves | later, soon");
    let node = "TAP version 13\n# Subtest: adds\nok 1 - adds # time=12ms\n# Subtest: later\nok 2 - later # SKIP\n1..2\n\
         # tests 2\n# suites 0\n# pass 1\n# fail 0\n# skipped 1\n# todo 0\n";
    assert_eq!(name_failing(node), "adds |  | later");
}

#[test]
fn nodes_own_runner_names_tests_and_not_groups() {
    let protocol = "TAP version 13\n# Subtest: parent\n    # Subtest: child\n    ok 1 - child\n      ---\n      duration_ms: 0.5\n      ...\n    1..1\n\
         ok 1 - parent\n  ---\n  duration_ms: 5.6\n  ...\n# Subtest: outer \\# one\n    # Subtest: inner\n        # Subtest: deep\n\
         \x20       not ok 1 - deep\n          ---\n          ...\n        # Subtest: sk\n        ok 2 - sk # SKIP\n          ---\n          ...\n\
         \x20       1..2\n    not ok 1 - inner\n      ---\n      type: 'suite'\n      ...\n    1..1\nnot ok 2 - outer \\# one\n  ---\n  type: 'suite'\n  ...\n\
         # Subtest: later\nok 3 - later # TODO\n1..3\n# tests 5\n# suites 2\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 1\n";
    assert_eq!(
        name_failing(protocol),
        "parent > child, parent | outer # one > inner > deep | outer # one > inner > sk, later"
    );
    let readable = "▶ parent\n  ✔ child (0.6ms)\n✔ parent (1.4ms)\n▶ outer\n  ▶ inner\n    ✖ deep (0.1ms)\n      Error: x\n    ﹣ sk (0.07ms) # SKIP\n\
         \x20 ✖ inner (0.3ms)\n✖ outer (0.5ms)\nℹ tests 4\nℹ suites 2\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n\n\
         ✖ failing tests:\n\ntest at a.mjs:1:1\n✖ deep (0.1ms)\n";
    let read = read(readable, "");
    assert_eq!(read.counts, known_counts(2, 1, 1));
    let names = read.names.unwrap();
    assert!(names.passed.contains(&"parent > child".to_owned()));
    assert!(names.failed.contains(&"outer > inner > deep".to_owned()));
}

#[test]
fn what_a_runner_only_counts_has_no_names() {
    let quiet = read("...\n3 passed in 0.01s\n", "");
    assert!(!quiet.names.unwrap().names_all(quiet.counts));
    assert_eq!(read("all good", "").names, None);
}

#[test]
fn mocha_names_what_its_spec_reporter_lists_also_below_several_suites() {
    let output = "\n\n  ✔ stands alone (12ms)\n  list\n    add\n      ✔ adds\n      1) halves\n      - waits\n    ✓ empties\n\n\n  \
                  2 passing (5ms)\n  1 pending\n  1 failing\n\n  1) list\n       add\n         halves:\n\n      \
                  AssertionError: 1 == 2\n      at ✔ x\n";
    let output = output.replace("2 passing", "3 passing");
    assert_eq!(name_failing(&output), "stands alone, list add adds, list empties | list add halves | list add waits");
    // Another reporter only names failures.
    let dots = "\n  .!.\n\n  2 passing (5ms)\n  1 failing\n\n  1) list\n       add\n         halves:\n     Error: x\n";
    assert_eq!(name_failing(dots), " | list add halves | ");
}

#[test]
fn a_run_that_was_stopped_names_the_test_that_had_begun() {
    let session =
        "============================= test session starts ==============================\ncollected 2 items\n\n";
    let table = [
        ("tests/test_a.py::test_x PASSED [ 50%]\ntests/test_a.py::test_y[a b] ", Some("tests/test_a.py::test_y[a b]")),
        ("tests/test_b.py::TestB::test_x <- tests/test_a.py ", Some("tests/test_b.py::TestB::test_x")),
        ("tests/test_a.py::test_x PASSED [ 50%]\n", None),
        ("tests/test_a.py::test_x PASSED ", None),
        ("tests/test_a.py::test_x PASSED [ 50%]\nsomething else ", None),
    ];
    for (output, expected) in table {
        assert_eq!(unfinished_test(&format!("{session}{output}"), "").as_deref(), expected, "{output}");
        assert_eq!(unfinished_test(output, ""), None, "{output}");
    }
    let table = [
        ("test_x (test_a.A.test_x) ... ok\ntest_y (test_a.A.test_y) ... ", Some("test_a.A.test_y")),
        ("test_y (test_a.A.test_y)\nWhat it is for. ... ", Some("test_a.A.test_y")),
        ("test_x (test_a.A.test_x) ... ok\n", None),
        ("test_x (test_a.A.test_x) ... \n\nRan 1 test in 0.001s\n", None),
    ];
    for (output, expected) in table {
        assert_eq!(unfinished_test("", output).as_deref(), expected, "{output}");
    }
}

/// Checks counts and names of an output.
fn names(output: &str, counts: Counts, passed: &[&str], failed: &[&str], skipped: &[&str]) {
    let found = read(output, "");
    assert_eq!(found.counts, counts, "{output}");
    let names = found.names.unwrap();
    assert_eq!((&*names.passed, &*names.failed, &*names.skipped), (&*owned(passed), &*owned(failed), &*owned(skipped)));
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn ctest_and_meson_and_automake_name_their_tests() {
    names(
        "Test project /x/build\n    Start 1: adds\n1/6 Test #1: adds .............................   Passed    0.00 sec\n\
         \x20    Start 2: fails\nCould not find executable badly\nLooked in the following places:\n\
         2/6 Test #2: fails ............................***Not Run   0.00 sec\n\
         3/6 Test #3: skips ............................***Skipped   0.00 sec\n\
         5/6 Test #5: crash ............................Subprocess aborted***Exception:   0.00 sec\n\n\
         6/6 Test #6: off ..............................***Not Run (Disabled)   0.00 sec\n\n\
         40% tests passed, 3 tests failed out of 5\n",
        known_counts(1, 2, 2),
        &["adds"],
        &["fails", "crash"],
        &["skips", "off"],
    );
    names(
        "1/4 x / adds          OK              0.01s\n2/4 x:s / fails badly FAIL            0.01s   exit status 1\n\
         >>> MALLOC_PERTURB_=141 /x/build/t 1\n\n3/4 x / skips         SKIP            0.01s   exit status 77\n\
         4/4 x / xf            EXPECTEDFAIL    0.00s   exit status 1\n\nSummary of Failures:\n\n\
         2/4 x:s / fails badly FAIL            0.01s   exit status 1\n\n\
         Ok:                 1   \nExpected Fail:      1   \nFail:               1   \nSkipped:            1   \n\
         Timeout:            0   \n",
        known_counts(2, 1, 1),
        &["x / adds", "x / xf"],
        &["x:s / fails badly"],
        &["x / skips"],
    );
    names(
        "make  check-TESTS\nPASS: tests/a.sh\nFAIL: tests/b.sh\nXFAIL: tests/c.sh\nSKIP: tests/d.sh\n\
         =====\nTestsuite summary for x 1\n=====\n# TOTAL: 4\n# PASS:  1\n# SKIP:  1\n# XFAIL: 1\n# FAIL:  1\n# XPASS: 0\n\n\
         FAIL: tests/b.sh\n================\n\nFAIL tests/b.sh (exit status: 1)\n",
        known_counts(2, 1, 1),
        &["tests/a.sh", "tests/c.sh"],
        &["tests/b.sh"],
        &["tests/d.sh"],
    );
}

#[test]
fn ruby_runners_name_their_tests() {
    names(
        "Run options: -v --seed 6496\n\n# Running:\n\nPriceTest#test_errors = 0.00 s = E\nPriceTest#test_adds = noise\n0.00 s = .\n\
         PriceTest#test_skips = 0.00 s = S\nPriceTest#test_fails = 0.00 s = F\nCart#test_0001_is empty = 0.00 s = .\n\n\
         Finished in 0.000478s, 10452.3134 runs/s, 6271.3880 assertions/s.\n\n  1) Error:\nPriceTest#test_errors:\n\
         RuntimeError: x\n\n5 runs, 3 assertions, 1 failures, 1 errors, 1 skips\n",
        known_counts(2, 2, 1),
        &["PriceTest#test_adds", "Cart#is empty"],
        &["PriceTest#test_errors", "PriceTest#test_fails"],
        &["PriceTest#test_skips"],
    );
    check(
        "F.\n\n  1) Failure:\nPriceTest#test_fails [/x/a_test.rb:4]:\nExpected: 3\n\n2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n",
        known_counts(1, 1, 0),
        &["PriceTest#test_fails"],
    );
    names(
        "Started\nM::PriceTest: \n  test_adds:\t\t\t.: (0.000097)\n  test_fails:\t\t\tF\n=====\n\
         Failure: test_fails(M::PriceTest)\n<3> expected but was\n<2>\n=====\n: (0.003664)\n  test_skips:\t\tO\n\
         3 tests, 2 assertions, 1 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n",
        known_counts(1, 1, 1),
        &["M::PriceTest#test_adds"],
        &["M::PriceTest#test_fails"],
        &["M::PriceTest#test_skips"],
    );
    names(
        "\nPrice\n  adds\n  fails (FAILED - 1)\n  later (PENDING: Not yet implemented)\n  nested\nnoise\n    works\n\n\
         Pending: (Failures listed here)\n\n  1) Price later\n\nFailures:\n\n  1) Price fails\n\n\
         Finished in 0.00644 seconds (files took 0.05118 seconds to load)\n4 examples, 1 failure, 1 pending\n\n\
         Failed examples:\n\nrspec ./spec/a_spec.rb:5 # Price fails\n",
        known_counts(2, 1, 1),
        &["Price adds", "Price nested works"],
        &["Price fails"],
        &["Price later"],
    );
}

#[test]
fn phpunit_names_its_tests_by_its_report() {
    let report = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.F  2 / 2 (100%)<?xml version=\"1.0\"?>\n<testsuites>\n\
         <testsuite name=\"\"><testcase name=\"testAdds\" classname=\"Shop.PriceTest\"/>\n\
         <testcase name=\"testFails\" classname=\"Shop.PriceTest\"><failure>x</failure></testcase></testsuite>\n</testsuites>\n\n";
    let summary = "There was 1 failure:\n\n1) Shop\\PriceTest::testFails\nx\n\nFAILURES!\nTests: 2, Assertions: 2, Failures: 1.\n";
    names(
        &format!("{report}{summary}"),
        known_counts(1, 1, 0),
        &["Shop.PriceTest.testAdds"],
        &["Shop.PriceTest.testFails"],
        &[],
    );
    check(
        &format!("PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n{summary}"),
        known_counts(1, 1, 0),
        &["Shop.PriceTest.testFails"],
    );
    check(
        "PHPUnit 11.0.1 by Sebastian Bergmann and contributors.\n\n.\n\nOK (1 test, 2 assertions)\n",
        known_counts(1, 0, 0),
        &[],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn dotnet_and_deno_and_mix_name_their_tests() {
    names(
        "Test run for /x/bin/Shop.dll (.NETCoreApp,Version=v8.0)\nStarting test execution, please wait...\n\
         \x20 Passed Shop.PriceTest.Adds [5 ms]\n  Passed Shop.PriceTest.Sums(one: 1, two: 2) [< 1 ms]\n\
         \x20 Failed Shop.PriceTest.Halves [2 ms]\n  Error Message:\n   no\n  Skipped Shop.PriceTest.Later [1 ms]\n\n\
         Total tests: 4\n     Passed: 2\n     Failed: 1\n    Skipped: 1\n Total time: 0.5 Seconds\n",
        known_counts(2, 1, 1),
        &["Shop.PriceTest.Adds", "Shop.PriceTest.Sums(one: 1, two: 2)"],
        &["Shop.PriceTest.Halves"],
        &["Shop.PriceTest.Later"],
    );
    check(
        "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - Shop.dll (net8.0)\n\
         Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2, Duration: 5 ms - Till.dll (net8.0)\n",
        known_counts(2, 1, 2),
        &[],
    );
    check(
        "No test is available in /x/bin/Shop.dll. Make sure that test discoverer & executors are registered\n",
        known_counts(0, 0, 0),
        &[],
    );
    names(
        "Starting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n\
         [xUnit.net 00:00:00.12]   Starting:    Shop.Tests\n  Passed Shop.PriceTest.Adds\n\nTest Run Successful.\n\
         Total tests: 1\n     Passed: 1\n Total time: 0.5 Seconds\n",
        known_counts(1, 0, 0),
        &["Shop.PriceTest.Adds"],
        &[],
        &[],
    );
    names(
        "./a_test.ts => adds ... ok (5ms)\n./b_test.ts => halves ... FAILED (due to 1 failed step) (1ms)\n\
         Uncaught error from ./c_test.ts FAILED\n\nFAILED | 1 passed | 2 failed (1 step) (10ms)\n\nerror: Test failed\n",
        known_counts(1, 2, 0),
        &["a_test.ts > adds"],
        &["b_test.ts > halves", "c_test.ts"],
        &[],
    );
    names(
        "running 3 tests from ./a_test.ts\nadds ... ok (5ms)\nsteps ...\n  one ... ok (1ms)\nsteps ... ok (2ms)\n\
         halves ... FAILED (1ms)\nlater ... ignored (0ms)\n\n ERRORS\n\nhalves => ./a_test.ts:3:6\nerror: x\n\n\
         FAILED | 2 passed (1 step) | 1 failed | 1 ignored (10ms)\n",
        known_counts(2, 1, 1),
        &["a_test.ts > adds", "a_test.ts > steps"],
        &["a_test.ts > halves"],
        &["a_test.ts > later"],
    );
    names(
        "ShopTest [test/shop_test.exs]\n  * test later (skipped) [L#10]\n  * test fails badly (1.6ms) [L#6]\n\n\
         \x20 1) test fails badly (ShopTest)\n     test/shop_test.exs:6\n\n  * test cart is empty (0.00ms) [L#14]\n\n\
         Finished in 0.02 seconds (0.00s async, 0.02s sync)\n3 tests, 1 failure, 1 skipped\n",
        known_counts(1, 1, 1),
        &["ShopTest.test cart is empty"],
        &["ShopTest.test fails badly"],
        &["ShopTest.test later"],
    );
}

/// Checks the first lines of the failures, each with its test.
fn check_texts(stdout: &str, texts: &[(&str, &str)]) {
    let found = read(stdout, "").texts;
    let found: Vec<(&str, &str)> = found.iter().map(|(test, line)| (test.as_str(), line.as_str())).collect();
    assert_eq!(found, texts, "{stdout}");
}

#[test]
fn runners_say_why_each_test_failed() {
    check_texts(
        "ERROR a line of a log - with a dash\n=========================== short test summary info ============================\n\
         FAILED tests/test_a.py::test_x - socket.gaierror: [Errno -2] Name or service not known\n\
         ERROR tests/test_a.py::test_y - OSError: [Errno 2] No such file\nPASSED tests/test_a.py::test_z\n\
         =============== 1 failed, 2 passed, 1 error in 0.12s ================\n",
        &[
            ("tests/test_a.py::test_x", "socket.gaierror: [Errno -2] Name or service not known"),
            ("tests/test_a.py::test_y", "OSError: [Errno 2] No such file"),
        ],
    );
    check_texts(
        "E.\n======================================================================\nERROR: test_x (t.T.test_x)\nWhat it is for.\n\
         ----------------------------------------------------------------------\nTraceback (most recent call last):\n  \
         File \"/a/t.py\", line 6, in test_x\n    connect()\n    ~~~~~~~^^\nConnectionRefusedError: [Errno 111] Connection refused\n\n\
         ----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nFAILED (errors=1)\n",
        &[("t.T.test_x", "ConnectionRefusedError: [Errno 111] Connection refused")],
    );
    check_texts(
        "running 2 tests\ntest t::a ... FAILED\ntest t::b ... FAILED\n\nfailures:\n\n---- t::a stdout ----\nprinted before\n\n\
         thread 't::a' (12) panicked at src/lib.rs:9:9:\nno such host\nnote: run with `RUST_BACKTRACE=1`\n\n---- t::b stdout ----\n\
         Error: Os { code: 111, kind: ConnectionRefused }\n\n\nfailures:\n    t::a\n    t::b\n\n\
         test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        &[("t::a", "no such host"), ("t::b", "Os { code: 111, kind: ConnectionRefused }")],
    );
    check_texts(
        "=== RUN   TestA\n    a_test.go:5: dialing\n    a_test.go:6: dial tcp: lookup db: no such host\n--- FAIL: TestA (0.00s)\n\
         === RUN   TestB\n    a_test.go:9: fine\n--- PASS: TestB (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n",
        &[("TestA", "dial tcp: lookup db: no such host")],
    );
    check_texts(
        "--- FAIL: TestA (0.00s)\n    a_test.go:6: no such host\nFAIL\nFAIL\texample.com/a\t0.01s\n",
        &[("TestA", "no such host")],
    );
}

#[test]
fn runners_of_programs_name_the_systems_error_among_what_a_failing_test_printed() {
    let refused = "connect: Connection refused";
    check_texts(
        "    Start 1: adds\n1/3 Test #1: adds ....***Failed    0.00 sec\nRunning main() from gmock_main.cc\n\
         connect: Connection refused\n\n    Start 2: quiet\n2/3 Test #2: quiet ....***Failed    0.00 sec\n\n\
         3/3 Test #3: fine ....   Passed    0.00 sec\n33% tests passed, 2 tests failed out of 3\n\n\
         nobody: Permission denied\n",
        &[("adds", refused)],
    );
    check_texts(
        "1/2 a db  FAIL            0.01s   exit status 1\n>>> MALLOC_PERTURB_=203 /usr/bin/sh -c 'exit 1'\n\
         ――― ✀  ―――\nstdout:\nconnecting\nstderr:\nconnect: Connection refused\n――――――\n\n\
         2/2 quiet FAIL            0.01s   exit status 1\n>>> /usr/bin/sh -c 'exit 1'\n\nSummary of Failures:\n\n\
         1/2 a db  FAIL            0.01s   exit status 1\nOk:                 0   \nTimeout:            0   \n",
        &[("a db", refused)],
    );
    check_texts(
        "FAIL: b.sh\nFAIL: c.sh\n=====\n   x 1.0: ./test-suite.log\n=====\n\n# TOTAL: 2\n# FAIL:  2\n\nFAIL: b.sh\n=====\n\n\
         connecting\nconnect: Connection refused\nFAIL b.sh (exit status: 1)\n\nFAIL: c.sh\n=====\n\nFAIL c.sh (exit status: 1)\n\n\
         Permission denied\n",
        &[("b.sh", refused)],
    );
    check_texts(
        "1..3\nnot ok 1 adds\nnot ok 2 - opens # time=1ms\n# connecting\n# connect: Connection refused\nok 3 - halves\n\
         # Permission denied\n",
        &[("opens", "# connect: Connection refused")],
    );
}

#[test]
fn runners_of_other_languages_say_why_each_test_failed() {
    check_texts(
        "running 1 test from ./a_test.ts\nadds ... FAILED (5ms)\n\n ERRORS \n\nadds => ./a_test.ts:1:6\nerror: Error: no such host\n    \
         at file:///a_test.ts:2:9\n\n FAILURES \n\nadds => ./a_test.ts:1:6\n\nFAILED | 0 passed | 1 failed (9ms)\n",
        &[("a_test.ts > adds", "Error: no such host")],
    );
    check_texts(
        "FAIL ./a.test.js\n  ✕ x (2 ms)\n\n  ● a › x\n\n    connect ECONNREFUSED 127.0.0.1:5432\n\n      3 | it()\n\n\
         Tests:       1 failed, 2 passed, 3 total\n",
        &[("a › x", "connect ECONNREFUSED 127.0.0.1:5432")],
    );
    check_texts(
        " FAIL  a.test.ts > a > x\n FAIL  a.test.ts > a > y\nError: no such host\n ❯ a.test.ts:3:1\n\n      Tests  2 failed | 1 passed (3)\n",
        &[("a.test.ts > a > x", "Error: no such host"), ("a.test.ts > a > y", "Error: no such host")],
    );
    check_texts(
        "  a\n    1) x\n    ✔ y\n\n  1 passing (5ms)\n  1 failing\n\n  1) a\n       x:\n     Error: no such host\n      at f (a.js:3)\n",
        &[("1) a", "Error: no such host")],
    );
    check_texts(
        "TAP version 13\n# Subtest: x\nnot ok 1 - x\n  ---\n  duration_ms: 1.2\n  location: '/a.js:3:1'\n  failureType: 'testCodeFailure'\n  \
         error: 'no such host'\n  ...\n1..1\n# tests 1\n# pass 0\n# fail 1\n",
        &[("x", "'no such host'")],
    );
    check_texts(
        "✖ x (1.2ms)\n✔ y (0.1ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\n\n✖ failing tests:\n\ntest at a.js:3:1\n✖ x (1.2ms)\n  \
         Error: no such host\n      at f (a.js:3:1)\n",
        &[("x", "Error: no such host")],
    );
    check_texts(
        "  1) Error:\nATest#test_x:\nSocketError: no such host\n    a.rb:3\n\n  2) Failure:\nATest#test_y [a.rb:7]:\nIt is closed\n\n\
         3 runs, 3 assertions, 1 failures, 1 errors, 0 skips\n",
        &[("ATest#test_x", "SocketError: no such host"), ("ATest#test_y", "It is closed")],
    );
    check_texts(
        "  1) A does x\n     Failure/Error: connect\n\n     SocketError:\n       no such host\n     # ./a.rb:3\n\n3 examples, 1 failure\n",
        &[("A does x", "no such host")],
    );
}

#[test]
fn reports_say_why_each_test_failed() {
    let xml = "<testsuite><testcase classname='a.B' name='x'><error message='db' type='java.net.UnknownHostException'>x</error>\
               </testcase><testcase classname='a.B' name='y'><failure type='Failed'>a\\B::y\nno such host\n\nfile.php:3</failure>\
               </testcase><testcase classname='a.B' name='z'><system-out>no such host</system-out></testcase></testsuite>";
    let found = super::junit(xml.as_bytes()).unwrap().texts;
    let found: Vec<(&str, &str)> = found.iter().map(|(test, line)| (test.as_str(), line.as_str())).collect();
    assert_eq!(found, [("a.B.x", "java.net.UnknownHostException: db"), ("a.B.y", "no such host")]);
}

#[test]
fn errors_of_the_system_are_known_by_their_codes() {
    use domain::evidence::SystemError::{ConnectionRefused, NameUnresolved, NoRoute, NotFound, NotPermitted};
    let table = [
        ("connect ECONNREFUSED 127.0.0.1:5432", Some(ConnectionRefused)),
        ("dial tcp 127.0.0.1:5432: connect: connection refused", Some(ConnectionRefused)),
        ("OSError: [Errno 101] Network is unreachable", Some(NoRoute)),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", Some(NameUnresolved)),
        ("getaddrinfo ENOTFOUND db", Some(NameUnresolved)),
        ("Os { code: 2, kind: NotFound, message: \"No such file or directory\" }", Some(NotFound)),
        ("PermissionError: [Errno 13]", Some(NotPermitted)),
        ("AssertionError: 111 != 2", None),
        ("MY_ENOENT_FLAG is set", None),
    ];
    for (line, expected) in table {
        assert_eq!(super::failures::system_error(line), expected, "{line}");
    }
}

#[test]
fn missing_users_locales_and_revisions_are_known_by_the_words_of_libraries_and_git() {
    use domain::evidence::SystemError::{NoLocale, NoRevision, NoUser};
    let table = [
        ("KeyError: \"getpwnam(): name not found: 'deployer'\"", Some(NoUser)),
        ("chown: invalid user: 'deployer'", Some(NoUser)),
        ("lookup: user: unknown user deployer", Some(NoUser)),
        ("ArgumentError: can't find user for deployer", Some(NoUser)),
        ("SystemError [ERR_SYSTEM_ERROR]: A system error occurred: uv_os_get_passwd returned ENOENT", Some(NoUser)),
        ("AssertionError: invalid user", None),
        ("locale.Error: unsupported locale setting", Some(NoLocale)),
        ("bash: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8)", Some(NoLocale)),
        ("what():  locale::facet::_S_create_c_locale name not valid", Some(NoLocale)),
        ("AssertionError: locale is 'de'", None),
        ("fatal: No names found, cannot describe anything.", Some(NoRevision)),
        (
            "CalledProcessError: Command '['git', 'describe', '--tags']' returned non-zero exit status 128.",
            Some(NoRevision),
        ),
        ("fatal: ambiguous argument 'v1.0': unknown revision or path not in the working tree.", Some(NoRevision)),
    ];
    for (line, expected) in table {
        assert_eq!(super::failures::system_error(line), expected, "{line}");
    }
}

#[test]
fn what_the_code_does_not_have_is_no_failed_expectation() {
    let table = [
        ("ImportError: cannot import name 'add' from 'calc'", true),
        ("AttributeError: module 'calc' has no attribute 'add'. Did you mean: 'sub'?", true),
        ("TypeError: add() got an unexpected keyword argument 'base'", true),
        ("TypeError: (0 , calc_1.add) is not a function", true),
        ("NoMethodError: undefined method `add' for nil", true),
        ("Error: Call to undefined function add()", true),
        ("assert 3 == 4", false),
        ("AssertionError: expected 3 to equal 4", false),
        ("TypeError: unsupported operand type(s) for +", false),
        ("KeyError: 'a'", false),
    ];
    for (line, expected) in table {
        let texts = [("t".to_owned(), line.to_owned())];
        assert_eq!(!super::unfit(&texts).is_empty(), expected, "{line}");
    }
}
