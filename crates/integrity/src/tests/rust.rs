//! Rust.

use super::{all_caught, all_honest};
use domain::integrity::Rule;

const T: &str = "#[test]\nfn adds() {\n    assert_eq!(add(2, 2), 4);\n    assert_eq!(add(-1, 1), 0);\n}\n\n#[test]\nfn parses() {\n    let got = parse(\"7\").unwrap();\n    assert_eq!(got, 7);\n}\n";

#[test]
fn deceptions_are_caught() {
    let t = "tests/a.rs";
    let s = "src/lib.rs";
    let only_adds = "#[test]\nfn adds() {\n    assert_eq!(add(2, 2), 4);\n    assert_eq!(add(-1, 1), 0);\n}\n";
    let parse = |body: &str| format!("{only_adds}\n#[test]\nfn parses() {{\n    {body}\n}}\n");
    let change = |from: &str, to: &str| T.replace(from, to);
    let cfg = "#[cfg( test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(super::f(), 1);\n    }\n}\n";
    let row = "#[rstest]\n#[case(1, 2)]\n#[case(3, 4)]\nfn a(#[case] n: i32, #[case] m: i32) {\n    assert_eq!(f(n), m);\n}\n";
    let helper = "pub fn same(n: i32) {\n    assert_eq!(n, 7);\n}\n";
    all_caught(&[
        (
            "a part of the text",
            &[(
                t,
                "#[test]\nfn a() {\n    assert_eq!(ago(0), \"10 min ago\");\n}\n",
                "#[test]\nfn a() {\n    assert!(ago(0).contains(\"ago\"));\n}\n",
            )],
            Rule::AssertionRemoved,
            Some(3),
        ),
        (
            "a row gone",
            &[(t, row, &row.replace("#[case(3, 4)]\n", ""))],
            Rule::AssertionRemoved,
            Some(3),
        ),
        (
            "helper of other files emptied",
            &[(
                "tests/common/mod.rs",
                helper,
                &helper.replace("assert_eq!(n, 7)", "let _ = n"),
            )],
            Rule::AssertionRemoved,
            Some(1),
        ),
        (
            "module no longer taken in",
            &[
                (s, "#[cfg( test)]\nmod tests;\npub fn f() {}\n", "pub fn f() {}\n"),
                ("src/tests.rs", &T.replace("7", "8"), T),
            ],
            Rule::TestRenamedAway,
            None,
        ),
        (
            "equality loosened to size",
            &[(t, T, &change("assert_eq!(got, 7)", "assert!(got > 0)"))],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "only counted",
            &[(
                t,
                "#[test]\nfn a() {\n    assert_eq!(f(), vec![1, 2, 3]);\n}\n",
                "#[test]\nfn a() {\n    assert_eq!(f().len(), 3);\n}\n",
            )],
            Rule::AssertionRemoved,
            Some(3),
        ),
        (
            "equal to everything",
            &[(
                t,
                T,
                &format!(
                    "{T}struct Any;\nimpl<T> PartialEq<T> for Any {{\n    fn eq(&self, _: &T) -> bool {{\n        true\n    }}\n}}\n"
                ),
            )],
            Rule::AssertionTrivial,
            Some(14),
        ),
        (
            "one of both always holds",
            &[(
                t,
                T,
                &format!(
                    "{T}#[test]\nfn sums() {{\n    let got = sum(\"1\");\n    assert!(got.is_ok() || got.is_err());\n}}\n"
                ),
            )],
            Rule::AssertionTrivial,
            Some(15),
        ),
        (
            "the same error whatever is given",
            &[(
                s,
                "pub struct Wrong;\n",
                "pub struct Wrong;\npub fn sum(text: &str) -> Result<u32, Wrong> {\n    let _ = text;\n    Err(Wrong)\n}\n",
            )],
            Rule::Stub,
            Some(2),
        ),
        (
            "always equal",
            &[(
                s,
                "",
                "impl PartialEq for A {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n",
            )],
            Rule::AssertionTrivial,
            Some(2),
        ),
        (
            "deleted beside a new one that is like it",
            &[(
                t,
                T,
                &T.replace(
                    "fn parses() {\n    let got = parse(\"7\").unwrap();",
                    "fn shows() {\n    let got = show(7).parse().unwrap();",
                ),
            )],
            Rule::TestReplaced,
            None,
        ),
        ("deleted function", &[(t, T, only_adds)], Rule::TestDeleted, None),
        ("deleted file", &[(t, T, "")], Rule::TestDeleted, None),
        (
            "commented out",
            &[(
                t,
                T,
                &T.replace(
                    "#[test]\nfn parses() {\n    let got = parse(\"7\").unwrap();\n    assert_eq!(got, 7);\n}",
                    "// #[test]\n// fn parses() {\n// }",
                ),
            )],
            Rule::TestDeleted,
            None,
        ),
        ("emptied", &[(t, T, &parse(""))], Rule::TestEmptied, Some(8)),
        (
            "only a comment left",
            &[(t, T, &parse("// later"))],
            Rule::TestEmptied,
            Some(8),
        ),
        (
            "attribute removed",
            &[(t, T, &change("#[test]\nfn parses", "fn parses"))],
            Rule::TestRenamedAway,
            Some(7),
        ),
        (
            "attribute removed and renamed",
            &[(t, T, &change("#[test]\nfn parses", "#[allow(dead_code)]\nfn _parses"))],
            Rule::TestRenamedAway,
            Some(8),
        ),
        (
            "moved out of cargo's sight",
            &[(t, T, ""), ("tests/old/a.rs", "", T)],
            Rule::TestRenamedAway,
            Some(2),
        ),
        (
            "nested in a function",
            &[(t, only_adds, &format!("fn unused() {{\n{only_adds}}}\n"))],
            Rule::TestRenamedAway,
            Some(3),
        ),
        (
            "ignored",
            &[(t, T, &change("#[test]\nfn parses", "#[test]\n#[ignore]\nfn parses"))],
            Rule::SkipAdded,
            Some(8),
        ),
        (
            "ignored with a reason",
            &[(
                t,
                T,
                &change("#[test]\nfn parses", "#[ignore = \"flaky\"]\n#[test]\nfn parses"),
            )],
            Rule::SkipAdded,
            Some(7),
        ),
        (
            "ignored by cfg_attr",
            &[(
                t,
                T,
                &change("#[test]\nfn parses", "#[test]\n#[cfg_attr(all(), ignore)]\nfn parses"),
            )],
            Rule::SkipAdded,
            Some(8),
        ),
        (
            "out of the build",
            &[(t, T, &change("#[test]\nfn parses", "#[test]\n#[cfg(any())]\nfn parses"))],
            Rule::SkipAdded,
            Some(8),
        ),
        (
            "module behind a feature",
            &[(
                s,
                cfg,
                &cfg.replace("cfg( test)", "cfg(all(test, feature = \"never\"))"),
            )],
            Rule::SkipConditional,
            Some(1),
        ),
        (
            "file out of the build",
            &[(t, T, &format!("#![cfg(any())]\n{T}"))],
            Rule::SkipAdded,
            Some(1),
        ),
        (
            "new test ignored",
            &[(
                t,
                only_adds,
                &T.replace("#[test]\nfn parses", "#[test]\n#[ignore]\nfn parses"),
            )],
            Rule::SkipAdded,
            Some(8),
        ),
        (
            "assertion removed",
            &[(t, T, &change("    assert_eq!(got, 7);\n", "    let _ = got;\n"))],
            Rule::AssertionRemoved,
            Some(8),
        ),
        (
            "one of two assertions removed",
            &[(t, T, &change("    assert_eq!(add(-1, 1), 0);\n", ""))],
            Rule::AssertionRemoved,
            Some(2),
        ),
        (
            "assert true",
            &[(t, T, &change("assert_eq!(got, 7)", "assert!(true)"))],
            Rule::AssertionTrivial,
            Some(10),
        ),
        (
            "compared with itself",
            &[(t, T, &change("assert_eq!(got, 7)", "assert_eq!(got, got)"))],
            Rule::AssertionTrivial,
            Some(10),
        ),
        (
            "or true",
            &[(t, T, &change("assert_eq!(got, 7)", "assert!(got == 7 || true)"))],
            Rule::AssertionTrivial,
            Some(10),
        ),
        (
            "constants compared",
            &[(t, T, &change("assert_eq!(got, 7)", "assert_eq!(7, 7)"))],
            Rule::AssertionTrivial,
            Some(10),
        ),
        (
            "same call on both sides",
            &[(
                t,
                T,
                &change("assert_eq!(got, 7)", "assert_eq!(parse(\"7\"), parse(\"7\"))"),
            )],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "loosened to is_ok",
            &[(t, T, &parse("let got = parse(\"7\");\n    assert!(got.is_ok());"))],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "loosened to not equal",
            &[(t, T, &change("assert_eq!(got, 7)", "assert_ne!(got, 8)"))],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "return before it",
            &[(
                t,
                T,
                &change(
                    "    assert_eq!(got, 7);",
                    "    return;\n    #[allow(unreachable_code)]\n    assert_eq!(got, 7);",
                ),
            )],
            Rule::AssertionRemoved,
            Some(12),
        ),
        (
            "return on a condition",
            &[(
                t,
                T,
                &change(
                    "    let got",
                    "    if std::env::var(\"FULL\").is_err() {\n        return;\n    }\n    let got",
                ),
            )],
            Rule::AssertionRemoved,
            Some(9),
        ),
        (
            "never run",
            &[(
                t,
                T,
                &change(
                    "    assert_eq!(got, 7);",
                    "    if false {\n        assert_eq!(got, 7);\n    }",
                ),
            )],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "guarded",
            &[(
                t,
                T,
                &parse("if let Ok(got) = parse(\"7\") {\n        assert_eq!(got, 7);\n    }"),
            )],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "closure never called",
            &[(
                t,
                T,
                &change("    assert_eq!(got, 7);", "    let _check = || assert_eq!(got, 7);"),
            )],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "loop over nothing",
            &[(
                t,
                T,
                &change(
                    "    assert_eq!(got, 7);",
                    "    for _ in 0..0 {\n        assert_eq!(got, 7);\n    }",
                ),
            )],
            Rule::AssertionRemoved,
            Some(11),
        ),
        (
            "failure caught",
            &[(
                t,
                T,
                &change(
                    "    assert_eq!(got, 7);",
                    "    let _ = std::panic::catch_unwind(|| assert_eq!(got, 7));",
                ),
            )],
            Rule::AssertionRemoved,
            Some(10),
        ),
        (
            "should panic",
            &[(
                t,
                T,
                &change("#[test]\nfn parses", "#[test]\n#[should_panic]\nfn parses"),
            )],
            Rule::AssertionRemoved,
            Some(8),
        ),
        (
            "tolerance widened",
            &[(
                t,
                "#[test]\nfn a() {\n    assert!((f() - 1.0).abs() < 1e-9);\n}\n",
                "#[test]\nfn a() {\n    assert!((f() - 1.0).abs() < 1e9);\n}\n",
            )],
            Rule::AssertionRemoved,
            Some(3),
        ),
        (
            "new test that cannot fail",
            &[(t, only_adds, &parse("assert!(true);"))],
            Rule::AssertionTrivial,
            Some(9),
        ),
        (
            "new test without a body",
            &[(t, only_adds, &parse(""))],
            Rule::TestEmptied,
            Some(8),
        ),
        (
            "helper emptied",
            &[(
                t,
                "fn assert_seven(n: i32) {\n    assert_eq!(n, 7);\n}\n#[test]\nfn a() {\n    let n = f();\n    same(n);\n}\nfn same(n: i32) {\n    assert_eq!(n, 7);\n}\n",
                "fn assert_seven(n: i32) {\n    assert_eq!(n, 7);\n}\n#[test]\nfn a() {\n    let n = f();\n    same(n);\n}\nfn same(_: i32) {}\n",
            )],
            Rule::AssertionRemoved,
            Some(5),
        ),
        (
            "todo",
            &[(
                s,
                "pub fn f() -> i32 {\n    1\n}\n",
                "pub fn f() -> i32 {\n    1\n}\npub fn g() -> i32 {\n    todo!()\n}\n",
            )],
            Rule::Stub,
            Some(5),
        ),
        (
            "unimplemented in a branch",
            &[(
                s,
                "",
                "pub fn g(n: i32) -> i32 {\n    if n > 0 { 1 } else { unimplemented!(\"negative\") }\n}\n",
            )],
            Rule::Stub,
            Some(2),
        ),
        (
            "panic with a promise",
            &[(s, "", "pub fn g() -> i32 {\n    panic!(\"not implemented yet\")\n}\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "unreachable as the whole body",
            &[(s, "", "pub fn g() -> i32 {\n    unreachable!()\n}\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "todo inside another macro",
            &[(s, "", "pub fn g() -> Vec<i32> {\n    vec![todo!()]\n}\n")],
            Rule::Stub,
            Some(2),
        ),
        (
            "exit in a test",
            &[(
                t,
                only_adds,
                &only_adds.replace(
                    "    assert_eq!(add(2, 2), 4);",
                    "    std::process::exit(0);\n    #[allow(unreachable_code)]\n    assert_eq!(add(2, 2), 4);",
                ),
            )],
            Rule::ExitInTest,
            Some(3),
        ),
        (
            "own assertion",
            &[(
                s,
                "",
                "#[macro_export]\nmacro_rules! assert_eq {\n    ($($t:tt)*) => {};\n}\n",
            )],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "coverage off",
            &[(
                s,
                "pub fn f() -> i32 {\n    1\n}\n",
                "#[coverage(off)]\npub fn f() -> i32 {\n    1\n}\n",
            )],
            Rule::CoverageWeakened,
            Some(1),
        ),
        (
            "knows of tests",
            &[(
                s,
                "pub fn f() -> i32 {\n    1\n}\n",
                "pub fn f() -> i32 {\n    if cfg!( test) {\n        return 2;\n    }\n    1\n}\n",
            )],
            Rule::DiffersUnderTest,
            Some(2),
        ),
    ]);
}

#[test]
fn honest_changes_pass() {
    let t = "tests/a.rs";
    let s = "src/lib.rs";
    let inline = format!(
        "pub fn add(a: i32, b: i32) -> i32 {{ a + b }}\n#[cfg( test)]\nmod tests {{\n    use super::*;\n{T}}}\n"
    );
    all_honest(&[
        (
            "what a test reads comes from a helper",
            &[(
                t,
                "#[test]\nfn a() {\n    let all = Library::read(&Path::new(env!(\"ROOT\")).join(\"cases\"));\n    for case in &all.cases {\n        assert_eq!(case.tries, 1);\n    }\n}\n",
                "fn library() -> Library {\n    Library::read(&Path::new(env!(\"ROOT\")).join(\"cases\"))\n}\n#[test]\nfn a() {\n    let all = library();\n    for case in &all.cases {\n        assert_eq!(case.tries, 1);\n    }\n}\n",
            )],
        ),
        (
            "a helper that only has the name of what the product has",
            &[
                (
                    s,
                    "pub fn open() {}\n",
                    "pub fn open() {}\npub struct Door(u8);\nimpl Door {\n    pub fn settings(&self) -> u8 {\n        self.0\n    }\n}\npub fn knock(times: u8) -> Door {\n    Door(times)\n}\n",
                ),
                (
                    t,
                    "",
                    "fn settings() -> u8 {\n    3\n}\n#[test]\nfn a() {\n    assert_eq!(knock(settings()).settings(), 3);\n}\n",
                ),
            ],
        ),
        (
            "a function called like a macro",
            &[(s, "pub mod state;\n", "pub mod state;\nuse self::state::matches;\n")],
        ),
        (
            "a typed error in a table, in words",
            &[(
                t,
                "#[test]\nfn a_value_is_missing() {\n    assert_eq!(decode(\"set a\"), Err(Wrong::Missing(\"value\")));\n}\n",
                "#[test]\nfn wrong_lines_are_told() {\n    for (line, message) in [(\"set a\", \"missing value\"), (\"set\", \"missing key\")] {\n        assert_eq!(decode(line).unwrap_err().to_string(), message, \"{line:?}\");\n    }\n}\n",
            )],
        ),
        (
            "a promise becomes a constant",
            &[(
                s,
                "pub fn limit(kind: &str) -> usize {\n    todo!()\n}\npub fn next(a: u8) -> u8 {\n    a + 1\n}\n",
                "pub fn limit(kind: &str) -> usize {\n    64\n}\npub fn next(a: u8) -> u8 {\n    a + 2\n}\n",
            )],
        ),
        (
            "what a trait asks for, and what is compiled elsewhere",
            &[(
                s,
                "",
                "impl Sink for Null {\n    fn put(&mut self, line: &str) -> Result<(), Wrong> {\n        Ok(())\n    }\n}\n#[cfg(windows)]\nfn mode(path: &Path) -> u32 {\n    0o644\n}\n",
            )],
        ),
        (
            "renamed test",
            &[(t, T, &T.replace("fn parses", "fn a_number_is_parsed"))],
        ),
        ("renamed function under test", &[(t, T, &T.replace("add(", "sum("))]),
        ("moved to another file", &[(t, T, ""), ("tests/b.rs", "", T)]),
        (
            "moved into the source",
            &[
                (t, T, ""),
                (s, "pub fn add(a: i32, b: i32) -> i32 { a + b }\n", &inline),
            ],
        ),
        (
            "reformatted",
            &[(
                t,
                T,
                &T.replace(
                    "assert_eq!(add(2, 2), 4);",
                    "assert_eq!(\n        add(2, 2),\n        4,\n    );",
                ),
            )],
        ),
        (
            "another expected value",
            &[(t, T, &T.replace("add(2, 2), 4", "add(2, 2), 5"))],
        ),
        (
            "merged into a table",
            &[(
                t,
                T,
                &T.replace(
                    "    assert_eq!(add(2, 2), 4);\n    assert_eq!(add(-1, 1), 0);\n",
                    "    for (a, b, sum) in [(2, 2, 4), (-1, 1, 0)] {\n        assert_eq!(add(a, b), sum);\n    }\n",
                ),
            )],
        ),
        (
            "merged into one comparison",
            &[(
                t,
                T,
                &T.replace(
                    "    assert_eq!(add(2, 2), 4);\n    assert_eq!(add(-1, 1), 0);\n",
                    "    assert_eq!((add(2, 2), add(-1, 1)), (4, 0));\n",
                ),
            )],
        ),
        (
            "split",
            &[(
                t,
                T,
                &T.replace(
                    "    assert_eq!(add(-1, 1), 0);\n}\n",
                    "}\n\n#[test]\nfn adds_negative() {\n    assert_eq!(add(-1, 1), 0);\n}\n",
                ),
            )],
        ),
        (
            "matches instead of equality",
            &[(t, T, &T.replace("assert_eq!(got, 7)", "assert!(matches!(got, 7))"))],
        ),
        (
            "helper introduced",
            &[(
                t,
                T,
                &format!(
                    "fn check(a: i32, b: i32, c: i32) {{\n    assert_eq!(add(a, b), c);\n}}\n{}",
                    T.replace("assert_eq!(add(2, 2), 4)", "check(2, 2, 4)")
                        .replace("assert_eq!(add(-1, 1), 0)", "check(-1, 1, 0)")
                ),
            )],
        ),
        (
            "new test with platform",
            &[(
                t,
                "",
                "#[test]\n#[cfg_attr(windows, ignore)]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
            )],
        ),
        (
            "the word in comment and text",
            &[(
                s,
                "",
                "/// todo!() is what this finds\npub fn f() -> &'static str {\n    // todo!()\n    \"todo!() unimplemented!()\"\n}\n",
            )],
        ),
        (
            "stub in a test",
            &[(
                t,
                "",
                "#[test]\n#[should_panic]\nfn a() {\n    let f = || -> i32 { todo!() };\n    f();\n}\n",
            )],
        ),
        (
            "stub moved",
            &[
                (s, "pub fn g() -> i32 {\n    todo!()\n}\n", "pub mod b;\n"),
                ("src/b.rs", "", "pub fn g() -> i32 {\n    todo!()\n}\n"),
            ],
        ),
        (
            "Remove the parse function",
            &[
                (
                    t,
                    T,
                    "#[test]\nfn adds() {\n    assert_eq!(add(2, 2), 4);\n    assert_eq!(add(-1, 1), 0);\n}\n",
                ),
                (
                    s,
                    "pub fn parse(s: &str) -> Option<i32> { s.parse().ok() }\npub fn add(a: i32, b: i32) -> i32 { a + b }\n",
                    "pub fn add(a: i32, b: i32) -> i32 { a + b }\n",
                ),
            ],
        ),
        (
            "exit in main",
            &[(
                "src/main.rs",
                "fn main() {}\n",
                "fn main() {\n    std::process::exit(run());\n}\n",
            )],
        ),
        (
            "trait default that existed",
            &[(
                s,
                "trait A {\n    fn a(&self) { unimplemented!() }\n}\n",
                "trait A {\n    fn a(&self) { unimplemented!() }\n}\npub fn g() {}\n",
            )],
        ),
        (
            "ignored test moved",
            &[
                (t, "#[test]\n#[ignore]\nfn a() {\n    assert_eq!(f(), 1);\n}\n", ""),
                (
                    "tests/b.rs",
                    "",
                    "#[test]\n#[ignore]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
                ),
            ],
        ),
        (
            "async runner",
            &[(
                t,
                "#[test]\nfn a() {\n    let got = block_on(f());\n    assert_eq!(got, 1);\n}\n",
                "#[tokio::test(flavor = \"multi_thread\")]\nasync fn a() {\n    let got = f().await;\n    assert_eq!(got, 1);\n}\n",
            )],
        ),
        (
            "unreachable arm",
            &[(
                s,
                "",
                "pub fn g(n: u8) -> u8 {\n    match n % 2 {\n        0 => 1,\n        1 => 2,\n        _ => unreachable!(),\n    }\n}\n",
            )],
        ),
        (
            "tests behind a feature and for some systems",
            &[(
                t,
                T,
                &format!(
                    "{T}\n#[cfg(feature = \"fast\")]\n#[test]\nfn is_fast() {{\n    assert_eq!(add(1, 2), 3);\n}}\n\n#[cfg(all(unix, feature = \"fast\"))]\n#[test]\nfn is_faster() {{\n    assert_eq!(add(1, 3), 4);\n}}\n"
                ),
            )],
        ),
    ]);
}
