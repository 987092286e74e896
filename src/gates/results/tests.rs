use super::Read;
use super::read;
use crate::domain::evidence::Counts;

fn known(passed: u32, failed: u32, skipped: u32) -> Counts {
    Counts::Known {
        passed,
        failed,
        skipped,
    }
}

fn check(stdout: &str, counts: Counts, failing: &[&str]) {
    let expected = Read {
        counts,
        failing: failing.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(read(stdout, ""), expected, "on standard output:\n{stdout}");
    assert_eq!(read("", stdout), expected, "on standard error:\n{stdout}");
}

#[test]
fn cargo_test_adds_up() {
    check(
        "running 3 tests\ntest tests::adds ... ok\ntest tests::halves ... FAILED\ntest tests::slow ... ignored\n\n\
         failures:\n\n---- tests::halves stdout ----\nthread 'tests::halves' panicked at src/lib.rs:9:9:\n\n\nfailures:\n\
         \x20   tests::halves\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
         error: test failed, to rerun pass `--lib`\n",
        known(1, 1, 1),
        &["tests::halves"],
    );
    check(
        "running 2 tests\ntest a ... ok\ntest b - should panic ... ok\n\n\
         test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
         \x20  Doc-tests x\n\nrunning 1 test\ntest src/lib.rs - add (line 3) ... ok\n\n\
         test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s\n",
        known(3, 0, 0),
        &[],
    );
    check(
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        known(0, 0, 0),
        &[],
    );
}

#[test]
fn nextest_sums_up() {
    check(
        "────────────\n        PASS [   0.003s] demo tests::adds\n        FAIL [   0.004s] demo tests::halves\n────────────\n\
         \x20    Summary [   0.016s] 3 tests run: 2 passed, 1 failed, 4 skipped\n        FAIL [   0.004s] demo tests::halves\n",
        known(2, 1, 4),
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
        known(2, 2, 1),
        &["tests/test_a.py::test_halves", "tests/test_b.py::test_c"],
    );
    check("...\n3 passed in 0.01s\n", known(3, 0, 0), &[]);
    check(
        "====== 12 passed, 1 warning in 65.20s (0:01:05) ======\n",
        known(12, 0, 0),
        &[],
    );
    check("======= no tests ran in 0.01s =======\n", known(0, 0, 0), &[]);
    check("==== 2 deselected in 0.01s ====\n", known(0, 0, 0), &[]);
}

#[test]
fn unittest_sums_up() {
    check(
        "F.s\n======================================================================\nFAIL: test_halves (test_x.T.test_halves)\n\
         ----------------------------------------------------------------------\nTraceback\n\n\
         ----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n",
        known(1, 1, 1),
        &["test_x.T.test_halves"],
    );
    check("----\nRan 1 test in 0.000s\n\nOK\n", known(1, 0, 0), &[]);
    check("----\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", known(0, 0, 0), &[]);
}

#[test]
fn javascript_runners_sum_up() {
    check(
        "FAIL ./sum.test.js\n  ● sum › halves\n\n    expect(received)\n\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total\n\
         Snapshots:   0 total\nTime:        0.5 s\n",
        known(2, 1, 2),
        &["sum › halves"],
    );
    check("No tests found, exiting with code 1\n", known(0, 0, 0), &[]);
    check(
        " FAIL  test/sum.test.ts > sum > halves\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n",
        known(2, 1, 1),
        &["test/sum.test.ts > sum > halves"],
    );
    check(
        " Test Files  1 passed (1)\n      Tests  3 passed (3)\n",
        known(3, 0, 0),
        &[],
    );
    check(
        "  sum\n    ✔ adds\n    1) halves\n\n  1 passing (5ms)\n  1 pending\n  1 failing\n\n  1) sum\n       halves:\n\n      AssertionError\n",
        known(1, 1, 1),
        &["sum halves"],
    );
}

#[test]
fn nodes_own_runner_sums_up_in_both_forms() {
    check(
        "TAP version 13\n# Subtest: adds\nok 1 - adds\n# Subtest: halves\nnot ok 2 - halves\n1..2\n# tests 2\n# suites 0\n\
         # pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 40.1\n",
        known(1, 1, 0),
        &["halves"],
    );
    check(
        "✔ adds (0.8ms)\n✖ halves (0.5ms)\nℹ tests 3\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n",
        known(1, 1, 1),
        &["halves"],
    );
    check(
        "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n",
        known(0, 0, 0),
        &[],
    );
}

#[test]
fn go_counts_what_it_prints() {
    check(
        "=== RUN   TestAdds\n--- PASS: TestAdds (0.00s)\n=== RUN   TestHalves\n    x_test.go:9: no\n--- FAIL: TestHalves (0.00s)\n\
         --- SKIP: TestSlow (0.00s)\nFAIL\nFAIL\texample.com/x\t0.002s\nFAIL\n",
        known(1, 1, 1),
        &["TestHalves"],
    );
    check("ok  \texample.com/x\t0.002s\n", Counts::Unknown, &[]);
    check(
        "ok  \texample.com/x\t0.002s\n--- FAIL: TestHalves (0.00s)\nFAIL\nFAIL\texample.com/y\t0.002s\n",
        Counts::Unknown,
        &["TestHalves"],
    );
    check("?   \texample.com/x\t[no test files]\n", known(0, 0, 0), &[]);
    check("ok  \texample.com/x\t0.002s [no tests to run]\n", known(0, 0, 0), &[]);
    check(
        "FAIL\texample.com/x [build failed]\n",
        known(0, 0, 0),
        &["example.com/x [build failed]"],
    );
}

#[test]
fn the_test_anything_protocol_is_counted() {
    check(
        "1..4\nok 1 - adds\nnot ok 2 - halves\nok 3 # SKIP no network\nnot ok 4 - later # TODO\n",
        known(1, 1, 2),
        &["halves"],
    );
    check("1..0 # SKIP nothing here\n", known(0, 0, 0), &[]);
    check(
        "t/a.t .. ok\nt/b.t .. Failed 1/3 subtests\n\nTest Summary Report\n-------------------\nt/b.t (Wstat: 256 Tests: 3 Failed: 1)\n\
         \x20 Failed test:  2\nFiles=2, Tests=5,  0 wallclock secs\nResult: FAIL\n",
        known(4, 1, 0),
        &["t/b.t"],
    );
}

#[test]
fn several_runners_add_up() {
    check(
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
         ==== 1 failed, 3 passed in 0.12s ====\n",
        known(5, 1, 0),
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
            "test result: " => assert_eq!(counts, known(0, 0, 0)),
            _ => assert_eq!(counts, Counts::Unknown, "{text}"),
        }
    }
}
