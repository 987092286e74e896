//! The time that verification adds to a turn: pre-flight, Gates and integrity compared with a plain test run, integrity
//! on a large change, and the Gates with and without the caches of pre-flight. Run with `cargo bench --bench verify`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::too_many_lines,
    reason = "a benchmark that cannot go on has failed"
)]
#![allow(missing_docs, reason = "a program of its own")]
#![allow(dead_code, reason = "the suite of deceptions has more than is measured here")]

#[path = "../tests/deceptions/cases.rs"]
mod cases;
#[path = "../tests/deceptions/expectation.rs"]
mod expectation;
#[path = "../tests/deceptions/judged.rs"]
mod judged;
#[path = "../tests/deceptions/ready.rs"]
mod ready;
#[path = "../tests/deceptions/stage.rs"]
mod stage;
#[path = "../tests/deceptions/tree.rs"]
mod tree;

use autobuild::config::RepositorySettings;
use cases::{Case, Library};
use stage::Stage;
use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The number of measurements of each figure; their median counts.
const ROUNDS: usize = 3;

/// The suite's case for each language, with the test command that people run.
const PLAIN: [(&str, &str, &[&str]); 3] = [
    ("Rust", "honest: a feature with its tests", &["cargo", "test"]),
    (
        "Python",
        "honest: a python feature with its tests",
        &["python3", "-m", "pytest"],
    ),
    (
        "TypeScript",
        "honest: a typescript feature with its tests",
        &["node", "tools/test.mjs"],
    ),
];

fn main() {
    ready::demand();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        beside_a_plain_run().await;
        large_change().await;
        with_and_without_caches().await;
    });
}

fn ms(time: Duration) -> u128 {
    time.as_millis()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn beside_a_plain_run() {
    let library = Library::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deceptions/cases"));
    println!("what verification adds to a turn, median of {ROUNDS}, in ms:");
    println!("  repository   plain tests   pre-flight   all Gates   of these integrity");
    for (language, title, command) in PLAIN {
        let case = library.cases.iter().find(|case| case.title() == title).unwrap();
        let (mut plain, mut preflight, mut gates, mut reading) = (vec![], vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            let stage = Stage::new(&library, &[case]).await;
            plain.push(plain_run(&stage, case, command));
            let begun = Instant::now();
            stage.preflight(case).await;
            preflight.push(begun.elapsed());
            gates.push(stage.judge(case).await.took.unwrap());
            reading.push(inspect(&stage, case).0);
        }
        let [plain, preflight, gates, reading] = [plain, preflight, gates, reading].map(|times| ms(median(times)));
        println!("  {language:10}   {plain:11}   {preflight:10}   {gates:9}   {reading:18}");
    }
}

/// Runs the test command in a folder with the changed files, as a person does for the first time; returns its time.
fn plain_run(stage: &Stage, case: &Case, command: &[&str]) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in stage.trees(case).1 {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let begun = Instant::now();
    let status = Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder.path())
        .env_remove("CARGO_TARGET_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{command:?}");
    begun.elapsed()
}

/// Returns how long the integrity rules take on a change, and the number of findings.
fn inspect(stage: &Stage, case: &Case) -> (Duration, usize) {
    let (before, after) = stage.trees(case);
    let (task, settings) = (stage::planned(case), RepositorySettings::default());
    let begun = Instant::now();
    let found = tree::read(before, after, &task, &settings).len();
    (begun.elapsed(), found)
}

/// Measures a change of 2,000 lines in a repository of 5,000 files in three languages.
async fn large_change() {
    let mut text = "=== base large\nsettings: test: 'true'\nsettings: mode: standard\n".to_owned();
    let file = |number: usize, functions: usize| {
        let (mut code, mut path) = (String::new(), String::new());
        for function in 0..functions {
            let name = format!("f{number}_{function}");
            match number % 3 {
                0 => {
                    path = format!("src/m{number}.rs");
                    writeln!(code, "pub fn {name}(x: u32) -> u32 {{\n    x + {function}\n}}\n").unwrap();
                    writeln!(
                        code,
                        "#[test]\nfn t_{name}() {{\n    assert_eq!({name}(1), {});\n}}\n",
                        function + 1
                    )
                    .unwrap();
                }
                1 => {
                    path = format!("tests/test_m{number}.py");
                    writeln!(
                        code,
                        "def test_{name}():\n    x = {function}\n    assert x + 1 == {}\n\n",
                        function + 1
                    )
                    .unwrap();
                }
                _ => {
                    path = format!("src/m{number}.test.ts");
                    writeln!(
                        code,
                        "test(\"{name}\", () => {{\n  expect({function} + 1).toBe({});\n}});\n",
                        function + 1
                    )
                    .unwrap();
                }
            }
        }
        (path, code)
    };
    for number in 0..5_000 {
        let (path, code) = file(number, 8);
        write!(text, "--- write {path}\n{code}").unwrap();
    }
    text.push_str("\n=== large\nbase: large\nfiles: src\ncriterion: file src/m0.rs\nexpect: approved\n");
    let mut lines = 0;
    for number in 0..45 {
        let (path, code) = file(number, 16);
        lines += code.lines().count() / 2;
        write!(text, "--- write {path}\n{code}").unwrap();
    }
    let library = Library::parse(&[("bench".to_owned(), text)]);
    let case = &library.cases[0];
    let stage = Stage::new(&library, &[case]).await;
    let (times, found): (Vec<Duration>, Vec<usize>) = (0..ROUNDS).map(|_| inspect(&stage, case)).unzip();
    println!("integrity on a change of {lines} lines in a repository of 5000 files:");
    println!("  reading {} ms, {} findings", ms(median(times)), found[0]);
    println!(
        "  all Gates with a test command that does nothing {} ms",
        ms(stage.judge(case).await.took.unwrap())
    );
}

/// Measures the Gates on a crate whose dependency is slow to build.
async fn with_and_without_caches() {
    let mut text =
        "=== base heavy\nfrom: rust\n--- append Cargo.toml\n\n[dependencies]\nheavy = { path = \"heavy\" }\n"
            .to_owned();
    text.push_str("--- write Cargo.lock\nversion = 3\n\n[[package]]\nname = \"heavy\"\nversion = \"1.0.0\"\n\n");
    text.push_str("[[package]]\nname = \"parcel\"\nversion = \"0.1.0\"\ndependencies = [\n \"heavy\",\n]\n");
    text.push_str("--- write heavy/Cargo.toml\n[package]\nname = \"heavy\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    text.push_str("--- write heavy/src/lib.rs\n");
    for number in 0..1_500 {
        writeln!(
            text,
            "#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
             pub struct S{number} {{ pub a: Vec<String>, pub b: Option<Box<str>>, pub c: [u64; 4] }}"
        )
        .unwrap();
    }
    text.push_str("\n=== heavy\nbase: heavy\nwork: rust-bulk\nexpect: approved\n");
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deceptions/cases/bases.txt");
    let bases = ("bases".to_owned(), fs::read_to_string(suite).unwrap());
    let library = Library::parse(&[bases, ("bench".to_owned(), text)]);
    let case = &library.cases[0];
    let (mut with, mut without) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let stage = Stage::new(&library, &[case]).await;
        stage.preflight(case).await;
        with.push(stage.judge(case).await.took.unwrap());
        let empty = tempfile::tempdir().unwrap();
        let stage = stage.with_caches(empty.path().to_path_buf());
        without.push(stage.judge(case).await.took.unwrap());
    }
    println!("all Gates on a crate with a large dependency, in one run:");
    println!(
        "  with what pre-flight kept {} ms, without {} ms",
        ms(median(with)),
        ms(median(without))
    );
}
