//! Finds the condition that keeps a test from running, in the forms of its language and tool chain.

use crate::test_index::ends_with;
use integrity::language::{
    file_name,
    outline::{Condition, SkipWhen},
};
use toml::{Table, Value};

/// The beginnings of annotations that keep JUnit from running a test.
const ANNOTATIONS: [&str; 3] = ["@Disabled", "@Enabled", "@Ignore"];

/// Returns a command that runs the tests: with the features, the build tag or the mark of their condition.
pub fn example(condition: &str) -> Option<String> {
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

/// `true` if a line declares the method that a runner's name ends with.
fn declares(line: &str, name: &str) -> bool {
    let method = line.split('(').next().and_then(|before| before.split_whitespace().next_back());
    let bare = name.split('(').next().unwrap_or_default();
    method.is_some_and(|method| line.contains('(') && ends_with(bare.trim_end(), method))
}

/// Returns the line, from 0, that declares a method of this name.
pub fn line_of_method(text: &str, name: &str) -> Option<usize> {
    text.lines().position(|line| declares(line, name))
}

/// Returns the annotation that keeps the method at a line from running: before it, else before its class.
pub fn annotation(text: &str, at: usize) -> Option<Condition> {
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
        "@Disabled" | "@Ignore" => SkipWhen::Always,
        _ => SkipWhen::Sometimes,
    };
    Some(Condition { text, when })
}

/// Returns the files that may declare a Rust file as a module, with the declaration.
pub fn parents(path: &str) -> Vec<(String, String)> {
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

/// Returns the line, from 0, that declares a module.
pub fn line_of_module(text: &str, declared: &str) -> Option<usize> {
    let is_it = |line: &str| line == declared || line.ends_with(&format!(" {declared}"));
    text.lines().map(str::trim).position(is_it)
}

/// Returns the condition of the module that a line declares, or of the whole file.
pub fn of_module(text: &str, at: usize) -> Option<Condition> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let attributes = lines.iter().take(at).rev().take_while(|line| line.starts_with("#["));
    let own = attributes.filter(|line| line.starts_with("#[cfg(") && **line != "#[cfg(test)]");
    let of_file = lines.iter().filter(|line| line.starts_with("#![cfg("));
    own.chain(of_file).next().map(|line| Condition { text: (*line).to_owned(), when: SkipWhen::Sometimes })
}

/// Returns the manifests of the packages to which a Rust file may belong, the innermost first, each with the file's path
/// in the package.
pub fn manifests(path: &str) -> impl Iterator<Item = (String, &str)> {
    let is_rust = path.ends_with(".rs");
    let folders = path.match_indices('/').rev().map(|(at, _)| at.saturating_add(1));
    let folders = folders.chain([0]).filter(move |_| is_rust);
    folders.filter_map(|at| path.split_at_checked(at)).map(|(folder, inside)| (format!("{folder}Cargo.toml"), inside))
}

/// Returns the setting that keeps the tests of a file from running. `path` begins at the package's folder.
pub fn of_target(manifest: &str, path: &str) -> Option<Condition> {
    let text = left_out(&manifest.parse().ok()?, path)?;
    let when = SkipWhen::Sometimes;
    Some(Condition { text, when })
}

fn left_out(package: &Table, path: &str) -> Option<String> {
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
    use super::{SkipWhen, annotation, declares, example, left_out, line_of_module, manifests, of_module, parents};
    use toml::Table;

    #[test]
    fn a_module_is_found_where_it_is_declared_with_its_condition() {
        let lib = "#![no_std]\npub mod a;\n\n#[cfg(feature = \"extra\")]\n#[doc(hidden)]\npub mod extra;\n#[cfg(test)]\nmod b;\n";
        let text = |at: usize| of_module(lib, at).map(|found| found.text);
        let line = |declared: &str| line_of_module(lib, declared);
        assert_eq!((line("mod extra;"), line("mod b;"), line("mod c;")), (Some(5), Some(7), None));
        assert_eq!((text(5).as_deref(), text(7)), (Some("#[cfg(feature = \"extra\")]"), None));
        let whole = of_module("#![cfg(unix)]\nmod a;\n", 1).unwrap();
        assert_eq!(whole.text, "#![cfg(unix)]");
        let names: Vec<String> = parents("src/a/mod.rs").into_iter().map(|(file, _)| file).collect();
        assert_eq!(names, ["src/lib.rs", "src/main.rs", "src/mod.rs", "src.rs"]);
        assert!(parents("tests/test_a.py").is_empty() && parents("src/lib.rs").is_empty());
    }

    #[test]
    fn the_example_lets_the_tests_run() {
        let table = [
            ("#[cfg(feature = \"extra\")]", Some("cargo test --features extra")),
            ("#[cfg(all(feature = \"a\", feature = \"b\"))]", Some("cargo test --features a,b")),
            ("#[cfg(any(feature = \"a\", feature = \"b\"))]", Some("cargo test --features a")),
            ("#[cfg(not(feature = \"a\"))]", None),
            ("#[cfg(windows)]", None),
            ("required-features = [\"a\", \"b\"]", Some("cargo test --features a,b")),
            ("//go:build integration && !windows", Some("go test -tags integration ./...")),
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
        let found: Vec<_> = manifests("a/src/b.rs").collect();
        let expected = [("a/src/Cargo.toml", "b.rs"), ("a/Cargo.toml", "src/b.rs"), ("Cargo.toml", "a/src/b.rs")];
        assert_eq!(found, expected.map(|(manifest, inside)| (manifest.to_owned(), inside)));
        assert_eq!(manifests("a/b.py").count(), 0);
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
            assert_eq!(left_out(&package, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn an_annotation_is_that_of_the_method_or_of_its_class() {
        let java = "@EnabledIfEnvironmentVariable(named = \"DB\", matches = \".*\")\nclass ATest {\n    @Test\n    @Disabled(\"later\")\n    \
                    void adds() {\n        assertEquals(2, add(1, 1));\n    }\n\n    @Test\n    void subtracts() {\n    }\n}\n";
        let found =
            |method: &str| annotation(java, java.lines().position(|line| declares(line, method)).unwrap()).unwrap();
        let adds = found("demo.ATest.adds");
        assert_eq!((adds.text.as_str(), adds.when), ("@Disabled(\"later\")", SkipWhen::Always));
        let subtracts = found("demo.ATest > subtracts()");
        assert!(subtracts.text.starts_with("@EnabledIfEnv") && subtracts.when == SkipWhen::Sometimes);
        assert!(!declares("    void adds() {", "demo.ATest.readds"));
    }
}
