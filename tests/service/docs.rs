//! The pages agree with the code: lists between markers are made from it, links have targets, and each page can be read
//! in three minutes. `UPDATE_DOCS=1 cargo test --test service docs` updates the lists.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on has failed"
)]

use autobuild::{
    config::{DefaultValue, PREFIX, VARIABLES, ValueKind, json_schema},
    messages,
    web::FAMILIES,
};
use domain::{
    command::CommandForm, decision::Probing, decision_parse, design, diagnosis::Topic, evidence::Weight,
    integrity::Rule, plan::TaskType, plan::schema::schema as plan_schema, report,
};
use runners::detect::{NamesOfTests, Repository, TOOL_CHAINS, detect};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The most words that can be read in three minutes. Code and tables do not count, because people look things up there.
const MOST_WORDS: usize = 900;

const TYPES: [TaskType; 5] =
    [TaskType::Scaffolding, TaskType::Feature, TaskType::Refactoring, TaskType::Testing, TaskType::Documentation];

const SCHEMA: &str = "src/config/autobuild.schema.json";
const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the README and the pages, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let front = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name));
    let mut pages: Vec<PathBuf> = pages.chain(front).collect();
    pages.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    pages.into_iter().map(read).collect()
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = head.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let rule = vec!["---".to_owned(); head.len()];
    [head, rule].into_iter().chain(rows).map(line).collect()
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Returns a value as YAML on one line.
fn yaml(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(entries) => {
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {}", yaml(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string().trim_end_matches(".0").to_owned(),
    }
}

fn settings(path: &str, schema: &Json) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let key = format!("{path}{name}");
        if property.get("properties").is_some() {
            rows.extend(settings(&format!("{key}."), property));
            continue;
        }
        let about = property["description"].as_str().unwrap();
        let values = property["enum"].as_array();
        let values: Vec<String> = values.into_iter().flatten().map(|value| code(&yaml(value))).collect();
        let valid = if values.iter().all(|value| about.contains(value.as_str())) {
            String::new()
        } else {
            format!(" {}.", values.join(", "))
        };
        let usual = property.get("default").map_or_else(String::new, |value| code(&yaml(value)));
        rows.push(vec![code(&key), usual, format!("{about}{valid}")]);
    }
    rows
}

fn variables() -> String {
    let rows = VARIABLES.iter().map(|variable| {
        let secret = match variable.kind {
            ValueKind::Secret => " \\*",
            ValueKind::Plain => "",
        };
        let usual = match variable.default {
            DefaultValue::None => String::new(),
            DefaultValue::Value(value) => code(value),
            DefaultValue::Words(words) => words.to_owned(),
        };
        let name = format!("`{PREFIX}{}`{secret}", variable.name);
        vec![name, usual, variable.about.to_owned()]
    });
    table(&["variable", "default", "meaning"], rows)
}

fn rules() -> String {
    let word = |weight: Weight| match weight {
        Weight::Required => "sent back",
        Weight::Asked => "asked",
        Weight::Informational => "reported",
    };
    let rows = Rule::ALL.map(|rule| {
        let usual = rule.weight(TaskType::Feature);
        let others = TYPES.into_iter().filter(|kind| rule.weight(*kind) != usual);
        let others = others.map(|kind| format!("; `{}`: {}", yaml(&serde_json::json!(kind)), word(rule.weight(kind))));
        let weight = format!("{}{}", word(usual), others.collect::<String>());
        vec![rule.name().to_owned(), rule.about().to_owned(), weight]
    });
    table(&["finding", "what it is", "effect"], rows)
}

/// Returns how often each outcome and rule was right in the last run of all deceptions, which wrote the file.
fn precision() -> String {
    let text = fs::read_to_string(root().join("tests/deceptions/precision.tsv")).unwrap();
    let rows = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    let head = ["outcome or rule", "dishonest: sent back", "asked", "by it alone", "honest: sent back", "asked"];
    table(&head, rows)
}

/// Returns the rows of `doctor`.
fn doctors_rows() -> String {
    let rows = Topic::ALL.map(|topic| vec![topic.word().to_owned(), messages::about_topic(topic).to_owned()]);
    table(&["row", "what it answers"], rows)
}

/// A small repository of each kind: the name of its tool chain, and its files with their texts.
const SAMPLES: &[(&str, &[(&str, &str)])] = &[
    ("Cargo", &[("Cargo.toml", ""), ("Cargo.lock", "source = \"registry\"")]),
    ("npm, pnpm, yarn", &[("package.json", SCRIPT), ("package-lock.json", "")]),
    ("npm, pnpm, yarn", &[("package.json", SCRIPT), ("pnpm-lock.yaml", "")]),
    ("npm, pnpm, yarn", &[("package.json", SCRIPT), ("yarn.lock", "")]),
    ("Deno", &[("deno.json", "{\"imports\": {}}")]),
    ("Django", &[("manage.py", "django")]),
    (PYTHON, &[("pyproject.toml", "[project]\noptional-dependencies = {test = [\"pytest\"]}")]),
    (PYTHON, &[("requirements-dev.txt", "pytest")]),
    (PYTHON, &[("tests/test_a.py", "import unittest")]),
    (PYTHON, &[("pyproject.toml", "pytest"), ("uv.lock", "")]),
    (PYTHON, &[("pyproject.toml", "[tool.poetry.dependencies]\npytest = \"8\"")]),
    (PYTHON, &[("setup.py", ""), ("tox.ini", "[pytest]")]),
    ("Go", &[("go.mod", "require a v1.0.0")]),
    ("Maven, Gradle", &[("pom.xml", ""), ("mvnw", "")]),
    ("Maven, Gradle", &[("build.gradle", "")]),
    (RUBY, &[("bin/rails", ""), ("Gemfile", ""), ("test/a_test.rb", "")]),
    (RUBY, &[("Rakefile", "Rake::TestTask.new"), ("Gemfile", "")]),
    (RUBY, &[(".rspec", ""), ("Gemfile", "")]),
    ("PHPUnit, Pest, Composer", &[("composer.json", PHPUNIT), ("phpunit.xml.dist", "")]),
    (".NET", &[("Shop.sln", "")]),
    ("Mix", &[("mix.exs", "[{:jason, \"~> 1.4\"}]")]),
    ("CMake", &[("CMakeLists.txt", "enable_testing()")]),
    ("meson", &[("meson.build", "project('a', 'c')")]),
    ("autotools", &[("configure.ac", ""), ("Makefile.am", "")]),
    ("just", &[("justfile", "test:\n")]),
    ("task", &[("Taskfile.yml", "tasks: {test: {cmds: []}}")]),
    ("Make", &[("Makefile", "test:\n")]),
];

const SCRIPT: &str = "{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"1\"}}";
const PYTHON: &str = "pytest, unittest, uv, poetry, tox, nox";
const RUBY: &str = "RSpec, Rails, Rake";
const PHPUNIT: &str = "{\"require-dev\": {\"phpunit/phpunit\": \"^11\"}}";

/// Returns the detected commands for each sample.
fn test_commands() -> String {
    let rows = SAMPLES.iter().map(|(chain, files)| {
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let read = |path: &str| files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
        let found = detect(&Repository::new(&paths, &read)).unwrap();
        let chain = TOOL_CHAINS.iter().find(|known| known.name == *chain).unwrap();
        let names = match chain.names {
            NamesOfTests::Each => "each",
            NamesOfTests::OfFiles => "each, from its files",
            NamesOfTests::OfCalled => "those of its runner",
        };
        let setup = found.setup.map_or_else(String::new, |setup| code(&setup.text().replace('|', "\\|")));
        vec![found.files, setup, code(found.test.text()), names.to_owned()]
    });
    let missing = TOOL_CHAINS.iter().filter(|chain| SAMPLES.iter().all(|(name, _)| *name != chain.name));
    assert_eq!(missing.count(), 0, "each tool chain has a sample");
    table(&["sign", "set-up", "tests", "names"], rows)
}

/// Returns the commands of the program, from its own help.
fn programs_commands() -> String {
    let help = Command::new(env!("CARGO_BIN_EXE_autobuild")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let rows = commands.filter_map(|line| line.trim().split_once("  ")).filter(|(name, _)| *name != "help");
    let rows = rows.map(|(name, about)| vec![code(&format!("autobuild {name}")), format!("{}.", about.trim())]);
    table(&["command", "what it does"], rows)
}

/// Returns the JSON Schemas of all answers, with one line for each key.
fn answers() -> String {
    let all = [
        ("planner", plan_schema()),
        ("designer of a task", design::schema(design::DesignRequest::Design)),
        ("designer of an issue", design::schema(design::DesignRequest::Criteria)),
        ("Player", report::schema()),
        ("Coach", decision_parse::schema(Probing::Allowed)),
    ];
    let blocks = all.map(|(role, schema)| {
        let keys = schema["properties"].as_object().unwrap().iter();
        let keys: Vec<String> = keys.map(|(key, schema)| format!("    \"{key}\": {schema}")).collect();
        let others = schema.as_object().unwrap().iter();
        let others = others.filter(|(key, _)| !["$schema", "title", "properties"].contains(&key.as_str()));
        let others: String = others.map(|(key, value)| format!("  \"{key}\": {value},\n")).collect();
        let properties = format!("  \"properties\": {{\n{}\n  }}", keys.join(",\n"));
        format!("The {role}:\n\n```json\n{{\n{others}{properties}\n}}\n```\n")
    });
    blocks.join("\n")
}

/// Returns every list that is made from code, by the name of its marker.
fn lists() -> BTreeMap<&'static str, String> {
    let commands = CommandForm::ALL.map(|form| vec![code(form.word()), messages::about_command(form).to_owned()]);
    let metrics = FAMILIES.map(|family| {
        let cells = [&code(family.name), family.kind, family.about];
        cells.map(str::to_owned).to_vec()
    });
    BTreeMap::from([
        ("answers", answers()),
        ("commands", table(&["command", "what it does"], commands)),
        ("command line", programs_commands()),
        ("doctor", doctors_rows()),
        ("metrics", table(&["metric", "type", "meaning"], metrics)),
        ("precision", precision()),
        ("repository settings", table(&["key", "default", "meaning"], settings("", &json_schema()))),
        ("rules", rules()),
        ("server settings", variables()),
        ("test commands", test_commands()),
    ])
}

/// Returns the page with current lists; removes those from `lists`.
fn rewritten(text: &str, lists: &mut BTreeMap<&'static str, String>) -> String {
    let mut parts = text.split(BEGIN);
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let list = lists.remove(name).unwrap_or_else(|| format!("no list is called {name}\n"));
        page.push_str(&format!("{BEGIN}{name} -->\n{list}{END}{after}"));
    }
    page
}

/// Compares a file with its expected content, or writes it; returns a message if it differs.
fn agree(path: &Path, is: &str, should: &str) -> Option<String> {
    if is == should {
        return None;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, should).unwrap();
        return None;
    }
    Some(format!("{} is out of date", path.display()))
}

#[test]
fn lists_in_the_docs_are_those_of_the_code() {
    let mut left = lists();
    let mut stale: Vec<String> = Vec::new();
    for (path, text) in pages() {
        stale.extend(agree(&path, &text, &rewritten(&text, &mut left)));
    }
    assert!(left.is_empty(), "no page has these lists: {:?}", left.keys());
    let path = root().join(SCHEMA);
    let schema = format!("{}\n", serde_json::to_string_pretty(&json_schema()).unwrap());
    stale.extend(agree(&path, &fs::read_to_string(&path).unwrap_or_default(), &schema));
    let how = "UPDATE_DOCS=1 cargo test --test service docs";
    assert!(stale.is_empty(), "{}\nwrite them anew with: {how}", stale.join("\n"));
}

#[test]
fn docs_are_short() {
    for (path, text) in pages() {
        let outside = text.split("```").step_by(2);
        let lines = outside.flat_map(str::lines).filter(|line| !line.starts_with('|'));
        let words: usize = lines.map(|line| line.split_whitespace().count()).sum();
        assert!(words <= MOST_WORDS, "{}: {words} words, {MOST_WORDS} are allowed", path.display());
    }
}

/// Returns the anchor that GitHub makes for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_in_the_docs_lead_to_something() {
    let mut broken = Vec::new();
    for (path, text) in pages() {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.contains(char::is_whitespace)) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let at = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let leads = if heading.is_empty() {
                at.exists()
            } else {
                fs::read_to_string(&at)
                    .unwrap_or_default()
                    .lines()
                    .any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            if !leads {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn the_readme_names_one_command_that_runs_it_and_one_that_tests_it() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    for command in ["cargo run", "cargo test"] {
        let lines = text.lines().filter(|line| line.starts_with(command));
        assert_eq!(lines.count(), 1, "{command}");
    }
}

#[test]
fn the_first_scenario_of_contributing_is_one_of_ours() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let example = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let scenario = fs::read_to_string(root().join("tests/scenarios/closing.rs")).unwrap();
    assert!(scenario.ends_with(example), "\n{example}");
}
