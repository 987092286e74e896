//! The time that verification adds to a turn: pre-flight, Gates and integrity compared with a plain test run. Also
//! integrity on a large change, and the Gates with and without each piece of the speed layer. Run with `cargo bench
//! --bench verify`; `-- speed` measures the last alone.

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
    ("Python", "honest: a python feature with its tests", &["python3", "-m", "pytest"]),
    ("TypeScript", "honest: a typescript feature with its tests", &["node", "tools/test.mjs"]),
];

fn main() {
    ready::demand();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        if !std::env::args().any(|word| word == "speed") {
            beside_a_plain_run().await;
            large_change().await;
        }
        speed_layer().await;
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
                    writeln!(code, "#[test]\nfn t_{name}() {{\n    assert_eq!({name}(1), {});\n}}\n", function + 1)
                        .unwrap();
                }
                1 => {
                    path = format!("tests/test_m{number}.py");
                    writeln!(code, "def test_{name}():\n    x = {function}\n    assert x + 1 == {}\n\n", function + 1)
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
    println!("  all Gates with a test command that does nothing {} ms", ms(stage.judge(case).await.took.unwrap()));
}

/// A piece of the speed layer.
#[derive(Clone, Copy)]
enum Piece {
    /// The snapshots and results that pre-flight and earlier turns left.
    Stores,
    /// The results by tree alone.
    Results,
    /// Set-up that is not repeated because it only added packages in pre-flight.
    SkippedSetUp,
    /// Old times of unchanged files, so that Cargo does not build them again.
    FileTimes,
}

/// A crate with a dependency of its own that is slow to build, and two projects with a set-up. The test command of
/// `new` gives every source a new time, as a checkout does without the piece `FileTimes`.
const PROJECTS: &str = r#"
=== base speed-crate
from: rust
settings: test: true && cargo test
--- append Cargo.toml

[dependencies]
heavy = { path = "heavy" }
--- write Cargo.lock
version = 3

[[package]]
name = "heavy"
version = "1.0.0"

[[package]]
name = "parcel"
version = "0.1.0"
dependencies = [
 "heavy",
]
--- write heavy/Cargo.toml
[package]
name = "heavy"
version = "1.0.0"
edition = "2021"

=== base speed-new
from: speed-crate
settings: test: touch src/*.rs heavy/src/*.rs tests/*.rs && cargo test

=== base speed-venv
from: python
settings: setup: python3 -m venv --system-site-packages .venv

=== base speed-npm
from: typescript
settings: setup: npm ci --offline --no-audit --no-fund
--- write package-lock.json
{"name": "queue", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "queue", "version": "1.0.0"}}}

=== Rust
base: speed-crate
work: rust-bulk
expect: approved

=== all files new
base: speed-new
work: rust-bulk
expect: approved

=== Python
base: speed-venv
work: python-fees
expect: approved

=== Node
base: speed-npm
work: typescript-drop
expect: approved
"#;

/// Measures what each piece of the speed layer saves on each project.
async fn speed_layer() {
    let mut dependency = "--- write heavy/src/lib.rs\n".to_owned();
    for number in 0..1_500 {
        writeln!(
            dependency,
            "#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
             pub struct S{number} {{ pub a: Vec<String>, pub b: Option<Box<str>>, pub c: [u64; 4] }}"
        )
        .unwrap();
    }
    let projects = PROJECTS.replacen("\n=== base speed-new", &format!("{dependency}\n=== base speed-new"), 1);
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deceptions/cases/bases.txt");
    let bases = ("bases".to_owned(), fs::read_to_string(suite).unwrap());
    let library = Library::parse(&[bases, ("bench".to_owned(), projects)]);
    let [rust, new, python, node] = [0, 1, 2, 3].map(|number| &library.cases[number]);
    println!(
        "all Gates with and without each piece of the speed layer, median of {ROUNDS}, processor time / wall time in ms:"
    );
    println!("  project   everything     no stores      no results     set-up again   all files new");
    for (name, case, other) in [("Rust", rust, Some(new)), ("Python", python, None), ("Node", node, None)] {
        let mut cells = vec![figures(&library, case, None).await];
        for piece in [Piece::Stores, Piece::Results, Piece::SkippedSetUp] {
            cells.push(figures(&library, case, Some(piece)).await);
        }
        if let Some(other) = other {
            cells.push(figures(&library, other, Some(Piece::FileTimes)).await);
        }
        let cells: Vec<String> = cells.into_iter().map(|(cpu, wall)| format!("{cpu:5} / {wall:5}")).collect();
        println!("  {name:7}   {}", cells.join("  "));
    }
}

/// Returns the processor time and the wall time of the Gates after pre-flight, without one piece, in ms.
async fn figures(library: &Library, case: &Case, without: Option<Piece>) -> (u128, u128) {
    let (mut cpu, mut wall) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let (caches, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut stage = Stage::new(library, &[case]).await.with_caches(caches.path().to_path_buf());
        stage.preflight(case).await;
        match without {
            Some(Piece::Stores) => stage = stage.with_caches(empty.path().to_path_buf()),
            Some(Piece::Results) => drop(fs::remove_dir_all(caches.path().join("results"))),
            Some(Piece::SkippedSetUp) => doubt(caches.path()),
            Some(Piece::FileTimes) | None => {}
        }
        let begun = processor_time();
        wall.push(stage.judge(case).await.took.unwrap());
        cpu.push(processor_time() - begun);
    }
    (ms(median(cpu)), ms(median(wall)))
}

/// Records beside every snapshot that set-up may have used the commit's own files.
fn doubt(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == "notes.json") {
            let notes = fs::read_to_string(&path).unwrap();
            fs::write(&path, notes.replace("\"Packages\"", "\"OfFiles\"")).unwrap();
        } else if path.is_dir() && !["checkout", "home", "results"].iter().any(|name| path.ends_with(name)) {
            doubt(&path);
        }
    }
}

/// Returns the processor time of this process and of all processes that it waited for.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(4);
    // The kernel reports hundredths of a second, whatever its own clock rate.
    Duration::from_millis(10 * fields.map(|field| field.parse::<u64>().unwrap()).sum::<u64>())
}
