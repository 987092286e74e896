//! Finds the tests that a change brings and that did not run, and the condition that kept them from running.

use crate::gates::{change::Change, compare, run::context::GateError, said, turn::Run};
use domain::evidence::{Evidence, TestNames};
use integrity::language::{
    self, Role, file_name,
    outline::{Condition, When, quoted},
};
use runners::test_index::{TestSite, ends_with};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The most of a file that is read for a condition, in bytes.
const MOST_READ: usize = 256 * 1024;

/// The most modules between a file and the root of its crate.
const DEEPEST: usize = 20;

/// The annotations that keep JUnit from running a test begin with one of these.
const ANNOTATIONS: [&str; 3] = ["@Disabled", "@Enabled", "@Ignore"];

/// Tests that did not run, for one reason.
struct Unrun {
    /// Each with its file.
    tests: Vec<String>,
    outcome: Outcome,
    condition: Option<Placed>,
}

/// What the run says of tests that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Skipped,
    Nothing,
}

/// A condition with the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    condition: Condition,
    path: String,
}

/// Returns where the change's new tests without a result are, and what keeps them from running, as a sentence; `None` if
/// there are none, or the run names no tests.
pub(crate) async fn unrun_tests(run: &Run<'_>, head: &Evidence) -> Result<Option<String>, GateError> {
    let Some(names) = compare::names(head) else {
        return Ok(None);
    };
    let (change, known) = (run.change, compare::known(run.subject.before));
    let unrun = unrun(change, names);
    let Some((_, first, outcome)) = unrun.first() else {
        return Ok(skipped_elsewhere(change, names, &known).as_ref().map(sentence));
    };
    let reason = |site: &TestSite| (site.path.clone(), site.conditions.first().cloned());
    let here = unrun.iter().filter(|(_, site, _)| reason(site) == reason(first));
    let found = Unrun {
        tests: here.map(|(name, site, _)| format!("{name} in {}", site.path)).collect(),
        outcome: *outcome,
        condition: condition(run, first).await?,
    };
    Ok(Some(sentence(&found)))
}

fn sentence(unrun: &Unrun) -> String {
    let shown = said::list(&unrun.tests);
    let what = match (unrun.outcome, &unrun.condition) {
        (Outcome::Skipped, _) => "new tests are there and were skipped",
        (Outcome::Nothing, Some(_)) => "new tests are there and did not run",
        (Outcome::Nothing, None) => "new tests are there and no result of the run names them",
    };
    let Some(Placed { condition, path }) = &unrun.condition else {
        return format!(
            "{what}: {shown}. If the test command leaves them out, set `test` in `.github/autobuild.yml` to one that runs \
             them"
        );
    };
    let text = quoted(&condition.text);
    let cure = match condition.when {
        When::Always => "They run once it is taken away".to_owned(),
        When::Sometimes => {
            let example = example(&condition.text);
            let example = example
                .map(|example| format!(", such as `{example}`"))
                .unwrap_or_default();
            format!("To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run{example}")
        }
    };
    format!("{what}, because of {text} in {path}: {shown}. {cure}")
}

/// Returns a command that lets the tests run: with the features, the build tag or the mark of their condition.
fn example(condition: &str) -> Option<String> {
    if condition.contains("not(") {
        return None;
    }
    if let Some(features) = features(condition) {
        return Some(format!("cargo test --features {features}"));
    }
    if let Some((_, mark)) = condition.split_once("@pytest.mark.") {
        let is_word = !mark.is_empty() && mark.chars().all(|c| c.is_alphanumeric() || c == '_');
        return is_word.then(|| format!("pytest -m '{mark} or not {mark}'"));
    }
    let (_, tags) = condition.split_once("//go:build ")?;
    let tag = tags.split(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).next()?;
    (!tag.is_empty()).then(|| format!("go test -tags {tag} ./..."))
}

/// Returns the features that a condition names; of alternatives, the first.
fn features(condition: &str) -> Option<String> {
    let list = condition.split_once("required-features = [").map(|(_, list)| list);
    let named: Vec<&str> = match list {
        Some(list) => list.split('"').skip(1).step_by(2).collect(),
        None => {
            let named = condition.split("feature = \"").skip(1);
            named.filter_map(|rest| rest.split('"').next()).collect()
        }
    };
    let most = if condition.contains("any(") { 1 } else { usize::MAX };
    let wanted: Vec<&str> = named.into_iter().take(most).collect();
    (!wanted.is_empty()).then(|| wanted.join(","))
}

/// Returns the new tests that did not run, each with its site, and whether the run names them as skipped.
fn unrun<'a>(change: &'a Change, names: &TestNames) -> Vec<(&'a str, &'a TestSite, Outcome)> {
    let sites = |names: &[String]| -> BTreeSet<&'a TestSite> {
        names.iter().flat_map(|name| change.after.find(name)).collect()
    };
    let (passed, failed, skipped) = (sites(&names.passed), sites(&names.failed), sites(&names.skipped));
    let is_new = |name: &str| change.before.find(name).is_empty();
    let tests = change.after.tests();
    let unrun = tests.filter(|(name, site)| is_new(name) && !passed.contains(site) && !failed.contains(site));
    let mut unrun: Vec<(&str, &TestSite, Outcome)> = unrun
        .map(|(name, site)| match skipped.contains(site) {
            true => (name, site, Outcome::Skipped),
            false => (name, site, Outcome::Nothing),
        })
        .collect();
    // What the run itself calls skipped is the surer reason.
    unrun.sort_by_key(|(_, _, outcome)| *outcome != Outcome::Skipped);
    unrun
}

/// Returns the new tests that the run calls skipped in the changed files of one language that has no grammar here.
fn skipped_elsewhere(change: &Change, names: &TestNames, known: &BTreeSet<&str>) -> Option<Unrun> {
    let is_new = |name: &&String| !known.contains(name.as_str());
    let mut placed = names.skipped.iter().filter(is_new).filter_map(|name| {
        let mut files = change.of_role(Role::Test);
        files.find_map(|file| {
            let text = change
                .text_after(&file.path)
                .filter(|_| language::of(&file.path).is_none())?;
            let at = text.lines().position(|line| declares(line, name))?;
            Some((name, file.path.as_str(), annotation(text, at)))
        })
    });
    let (name, path, condition) = placed.next()?;
    let here = placed.filter(|(_, other, _)| *other == path).map(|(name, ..)| name);
    let place = |condition: Condition| Placed {
        condition,
        path: path.to_owned(),
    };
    Some(Unrun {
        tests: std::iter::once(name)
            .chain(here)
            .map(|name| format!("{name} in {path}"))
            .collect(),
        outcome: Outcome::Skipped,
        condition: condition.map(place),
    })
}

/// `true` if a line declares the method that a runner's name ends with.
fn declares(line: &str, name: &str) -> bool {
    let method = line
        .split('(')
        .next()
        .and_then(|before| before.split_whitespace().next_back());
    let bare = name.split('(').next().unwrap_or_default();
    method.is_some_and(|method| line.contains('(') && ends_with(bare.trim_end(), method))
}

/// Returns the annotation that keeps a method from running: before it, else before its class.
fn annotation(text: &str, at: usize) -> Option<Condition> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_class = |line: &&str| line.split_whitespace().any(|word| word == "class");
    let class = lines.iter().take(at).rposition(is_class);
    let mut found = [Some(at), class].into_iter().flatten().filter_map(|at| {
        let above = lines.iter().take(at).rev();
        let mut above = above.take_while(|line| !line.is_empty() && !line.ends_with([';', '{', '}']));
        above.find(|line| ANNOTATIONS.iter().any(|annotation| line.starts_with(annotation)))
    });
    let text = (*found.next()?).to_owned();
    let own = text.split('(').next().unwrap_or_default();
    let when = match own {
        "@Disabled" | "@Ignore" => When::Always,
        _ => When::Sometimes,
    };
    Some(Condition { text, when })
}

/// Returns what keeps a test from running: in its file, where a module above declares the file, or in the package.
async fn condition(run: &Run<'_>, site: &TestSite) -> Result<Option<Placed>, GateError> {
    if let Some(own) = site.conditions.first() {
        return Ok(Some(Placed {
            condition: own.clone(),
            path: site.path.clone(),
        }));
    }
    if !site.path.ends_with(".rs") {
        return Ok(None);
    }
    match of_modules(run, &site.path).await? {
        None => of_package(run, &site.path).await,
        found => Ok(found),
    }
}

async fn read(run: &Run<'_>, path: &str) -> Result<Option<String>, GateError> {
    if !run.change.head.contains(path) {
        return Ok(None);
    }
    let subject = run.subject;
    let file = subject.mirror.read_file(subject.head, path, MOST_READ).await?;
    Ok(file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()))
}

/// Walks from a file to the root of its crate, through the files that declare it, and returns the first condition.
async fn of_modules(run: &Run<'_>, path: &str) -> Result<Option<Placed>, GateError> {
    let mut path = path.to_owned();
    for _ in 0..DEEPEST {
        let mut declaring = None;
        for (parent, declared) in parents(&path) {
            let text = read(run, &parent).await?;
            let found = text.as_deref().and_then(|text| declaration(text, &declared));
            if let Some(condition) = found {
                declaring = Some((parent, condition));
                break;
            }
        }
        match declaring {
            None => return Ok(None),
            Some((parent, Some(condition))) => {
                return Ok(Some(Placed {
                    condition,
                    path: parent,
                }));
            }
            Some((parent, None)) => path = parent,
        }
    }
    Ok(None)
}

/// Returns the files that may declare a Rust file as a module, with the declaration.
fn parents(path: &str) -> Vec<(String, String)> {
    let Some((folder, name)) = path.strip_suffix(".rs").and_then(|path| path.rsplit_once('/')) else {
        return Vec::new();
    };
    let (folder, name) = match (name, folder.rsplit_once('/')) {
        ("lib" | "main", _) => return Vec::new(),
        ("mod", Some((above, module))) => (above, module),
        _ => (folder, name),
    };
    let declared = format!("mod {name};");
    let files = ["lib.rs", "main.rs", "mod.rs"].map(|file| format!("{folder}/{file}"));
    let files = files.into_iter().chain([format!("{folder}.rs")]);
    files.map(|file| (file, declared.clone())).collect()
}

/// Returns the condition of a module's declaration, or of the whole file; `None` if the file does not declare the module.
fn declaration(text: &str, declared: &str) -> Option<Option<Condition>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &&str| *line == declared || line.ends_with(&format!(" {declared}"));
    let at = lines.iter().position(is_it)?;
    let attributes = lines.iter().take(at).rev().take_while(|line| line.starts_with("#["));
    let own = attributes.filter(|line| line.starts_with("#[cfg(") && **line != "#[cfg(test)]");
    let of_file = lines.iter().filter(|line| line.starts_with("#![cfg("));
    let condition = own.chain(of_file).next();
    Some(condition.map(|line| Condition {
        text: (*line).to_owned(),
        when: When::Sometimes,
    }))
}

/// Returns the setting of the package that leaves out the target to which a file belongs.
async fn of_package(run: &Run<'_>, path: &str) -> Result<Option<Placed>, GateError> {
    let folders = path
        .match_indices('/')
        .map(|(at, _)| path.split_at(at.saturating_add(1)));
    let mut folders: Vec<(&str, &str)> = folders.chain([("", path)]).collect();
    folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
    for (folder, inside) in folders {
        let manifest = format!("{folder}Cargo.toml");
        let Some(text) = read(run, &manifest).await? else {
            continue;
        };
        let found = text
            .parse::<Table>()
            .ok()
            .and_then(|package| of_target(&package, inside));
        let place = |text: String| Placed {
            condition: Condition {
                text,
                when: When::Sometimes,
            },
            path: manifest,
        };
        return Ok(found.map(place));
    }
    Ok(None)
}

/// Returns the setting that keeps the tests of a file from running. `path` begins at the package's folder.
fn of_target(package: &Table, path: &str) -> Option<String> {
    let (section, name) = match path.split_once('/')? {
        ("tests", rest) => ("test", rest.split('/').next()?),
        ("src", rest) => match rest.strip_prefix("bin/") {
            Some(bin) => ("bin", bin.split('/').next()?),
            None if file_name(path) == "main.rs" => ("bin", ""),
            None => ("lib", ""),
        },
        _ => return None,
    };
    let name = name.trim_end_matches(".rs");
    let is_it = |target: &&Table| {
        let is = |key: &str, value: &str| target.get(key).and_then(Value::as_str) == Some(value);
        section == "lib" || is("path", path) || is("name", name)
    };
    let tables: Vec<&Table> = match package.get(section) {
        Some(Value::Table(table)) => vec![table],
        Some(Value::Array(targets)) => targets.iter().filter_map(Value::as_table).collect(),
        _ => Vec::new(),
    };
    let Some(target) = tables.into_iter().find(is_it) else {
        let found = package.get("package")?.get("autotests")?.as_bool()?;
        return (section == "test" && !found).then(|| "autotests = false".to_owned());
    };
    let features = target.get("required-features").and_then(Value::as_array);
    if let Some(features) = features.filter(|features| !features.is_empty()) {
        return Some(format!("required-features = {}", Value::Array(features.clone())));
    }
    let is_off = |key: &str| target.get(key).and_then(Value::as_bool) == Some(false);
    is_off("test").then(|| "test = false".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{
        Condition, Outcome, Placed, Unrun, When, annotation, declaration, declares, example, of_target, parents,
        sentence,
    };
    use toml::Table;

    #[test]
    fn a_module_is_found_where_it_is_declared_with_its_condition() {
        let lib = "#![no_std]\npub mod a;\n\n#[cfg(feature = \"extra\")]\n#[doc(hidden)]\npub mod extra;\n#[cfg(test)]\nmod b;\n";
        let text = |declared: &str| declaration(lib, declared).map(|found| found.map(|found| found.text));
        assert_eq!(text("mod extra;"), Some(Some("#[cfg(feature = \"extra\")]".to_owned())));
        assert_eq!(text("mod b;"), Some(None));
        assert_eq!(text("mod c;"), None);
        let whole = declaration("#![cfg(unix)]\nmod a;\n", "mod a;").flatten().unwrap();
        assert_eq!(whole.text, "#![cfg(unix)]");
        let names: Vec<String> = parents("src/a/mod.rs").into_iter().map(|(file, _)| file).collect();
        assert_eq!(names, ["src/lib.rs", "src/main.rs", "src/mod.rs", "src.rs"]);
        assert!(parents("tests/test_a.py").is_empty() && parents("src/lib.rs").is_empty());
    }

    #[test]
    fn the_example_lets_the_tests_run() {
        let table = [
            ("#[cfg(feature = \"extra\")]", Some("cargo test --features extra")),
            (
                "#[cfg(all(feature = \"a\", feature = \"b\"))]",
                Some("cargo test --features a,b"),
            ),
            (
                "#[cfg(any(feature = \"a\", feature = \"b\"))]",
                Some("cargo test --features a"),
            ),
            ("#[cfg(not(feature = \"a\"))]", None),
            ("#[cfg(windows)]", None),
            ("required-features = [\"a\", \"b\"]", Some("cargo test --features a,b")),
            (
                "//go:build integration && !windows",
                Some("go test -tags integration ./..."),
            ),
            ("//go:build !windows", None),
            ("@pytest.mark.slow", Some("pytest -m 'slow or not slow'")),
            ("@pytest.mark.skipif(WIN, reason=\"no\")", None),
        ];
        for (condition, expected) in table {
            assert_eq!(example(condition).as_deref(), expected, "{condition}");
        }
    }

    #[test]
    fn a_package_leaves_targets_out() {
        let package: Table = "[package]\nname = \"a\"\nautotests = false\n[lib]\ntest = false\n[[test]]\nname = \"slow\"\n\
                              required-features = [\"extra\"]\n[[test]]\nname = \"x\"\npath = \"tests/deep/y.rs\"\ntest = false\n"
            .parse()
            .unwrap();
        let table = [
            ("tests/slow.rs", Some("required-features = [\"extra\"]")),
            ("tests/slow/main.rs", Some("required-features = [\"extra\"]")),
            ("tests/deep/y.rs", Some("test = false")),
            ("tests/other.rs", Some("autotests = false")),
            ("src/a.rs", Some("test = false")),
            ("src/main.rs", None),
            ("build.rs", None),
        ];
        for (path, expected) in table {
            assert_eq!(of_target(&package, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn an_annotation_is_that_of_the_method_or_of_its_class() {
        let java = "@EnabledIfEnvironmentVariable(named = \"DB\", matches = \".*\")\nclass ATest {\n    @Test\n    @Disabled(\"later\")\n    \
                    void adds() {\n        assertEquals(2, add(1, 1));\n    }\n\n    @Test\n    void subtracts() {\n    }\n}\n";
        let found =
            |method: &str| annotation(java, java.lines().position(|line| declares(line, method)).unwrap()).unwrap();
        let adds = found("demo.ATest.adds");
        assert_eq!((adds.text.as_str(), adds.when), ("@Disabled(\"later\")", When::Always));
        let subtracts = found("demo.ATest > subtracts()");
        assert!(subtracts.text.starts_with("@EnabledIfEnv") && subtracts.when == When::Sometimes);
        assert!(!declares("    void adds() {", "demo.ATest.readds"));
    }

    #[test]
    fn the_sentence_says_that_the_tests_are_there_and_why_they_did_not_run() {
        let said = |outcome, condition: Option<(&str, When)>| {
            sentence(&Unrun {
                tests: vec!["a in tests/test_a.py".to_owned()],
                outcome,
                condition: condition.map(|(text, when)| Placed {
                    condition: Condition {
                        text: text.to_owned(),
                        when,
                    },
                    path: "tests/test_a.py".to_owned(),
                }),
            })
        };
        assert_eq!(
            said(Outcome::Nothing, Some(("#[cfg(feature = \"extra\")]", When::Sometimes))),
            "new tests are there and did not run, because of `#[cfg(feature = \"extra\")]` in tests/test_a.py: a in \
             tests/test_a.py. To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run, such \
             as `cargo test --features extra`"
        );
        assert_eq!(
            said(Outcome::Skipped, Some(("@Disabled", When::Always))),
            "new tests are there and were skipped, because of `@Disabled` in tests/test_a.py: a in tests/test_a.py. They run \
             once it is taken away"
        );
        assert!(said(Outcome::Nothing, None).contains("no result of the run names them: a in tests/test_a.py"));
    }
}
