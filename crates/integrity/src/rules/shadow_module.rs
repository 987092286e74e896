//! A module or a test tool means something else now: a new file is found first, code redefines it, or settings redirect
//! imports to a path of the repository.

use crate::{
    change::FileContent,
    changed_file::{ChangedFile, Reading},
    language,
    language::{
        ALL, Role,
        capture::Fact,
        file_name,
        outline::{Outline, Purpose, Setting},
    },
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_line, at_marks, at_place},
    settings::flatten,
    side::is_shadow,
    snapshots::first_changed_line,
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::ShadowModule, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = at_marks(reading, Fact::Shadow, Purpose::Tests);
    let change = reading.change;
    let new = reading.files.iter().filter(|file| file.file.before == FileContent::Absent);
    let shadows = new.filter(|file| is_shadow(file.path, change.base, change.head));
    found.extend(shadows.map(|file| at_place(file.path, 1, Detail::Code(format!("`{}`", file.path)))));
    let of_settings = reading.files.iter().filter(|file| file.role == Role::Settings);
    found.extend(of_settings.flat_map(redirected));
    let old_tests = reading.files.iter().filter(|file| file.role == Role::Test);
    found.extend(old_tests.filter_map(|file| imported_before(reading, file)));
    found
}

/// Returns the line that gives another meaning to a name that a test file imported before: the file now defines the
/// name, or imports it from a new file of tests.
fn imported_before(reading: &Reading<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let imports = &language::language_of(file.path)?.words.imports;
    let is_import = |line: &str| imports.iter().any(|part| line.contains(part));
    let (before, after) = file.texts();
    let kept: BTreeSet<&str> = after.lines().map(str::trim).collect();
    let gone = before.lines().filter(|line| is_import(line) && !kept.contains(line.trim()));
    let used: BTreeSet<&str> = after.lines().filter(|line| !is_import(line)).flat_map(names).collect();
    let gone: BTreeSet<&str> = gone.flat_map(names).filter(|name| used.contains(name)).collect();
    let has = |list: &[String], name: &str| list.iter().any(|known| known == name);
    let is_defined = |name: &str| has(&file.after.defines, name) && !has(&file.before.defines, name);
    let is_moved = |name: &str| {
        let mut files = reading.files.iter();
        files.any(|other| has(&other.before.defines, name) && !has(&other.after.defines, name))
    };
    let is_new = |other: &&ChangedFile<'_>| {
        matches!(other.role, Role::Support | Role::Test) && other.file.before == FileContent::Absent
    };
    let stems = reading.files.iter().filter(is_new).filter_map(|other| file_name(other.path).split('.').next());
    let stems: BTreeSet<&str> = stems.collect();
    let means_more = |(_, line): &(u32, &str)| {
        let words: Vec<&str> = names(line).collect();
        let from_new = is_import(line) && words.iter().any(|word| stems.contains(word));
        let mut imported = words.iter().filter(|word| gone.contains(*word) && !stems.contains(*word));
        imported.any(|name| is_defined(name) || from_new && !is_moved(name) && !is_of_import(name, imports))
    };
    let (number, line) = file.new_lines(&after).into_iter().find(means_more)?;
    Some(at_line(file.path, number, line))
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1)
}

/// `true` if a word belongs to the language's import syntax.
fn is_of_import(word: &str, imports: &[String]) -> bool {
    imports.iter().any(|part| part.contains(word))
}

/// Finds settings that newly redirect an import to a path of the repository.
fn redirected(file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    let all = |text: &str, outline: &Outline| [flatten(file.path, text), outline.settings.clone()].concat();
    let (old, new) = (all(&before, &file.before), all(&after, &file.after));
    let is_new = |new: &&Setting| !old.iter().any(|old| (&old.name, &old.values) == (&new.name, &new.values));
    let leads_here = |new: &&Setting| {
        let parts: Vec<&str> = new.name.split('.').collect();
        let is_redirect =
            ALL.iter().any(|language| parts.iter().any(|part| is_one_of(&language.words.redirects, part)));
        let name = new.name.strip_suffix(".path").unwrap_or(&new.name);
        let was_elsewhere = || {
            let of_dependency = |old: &&Setting| old.name.starts_with(name) && name.contains("ependenc");
            old.iter().filter(of_dependency).any(|old| !leads_to_path(old))
        };
        leads_to_path(new) && (is_redirect || was_elsewhere())
    };
    let line = first_changed_line(file.file).unwrap_or(1);
    let written = |setting: &Setting| format!("{} = {}", setting.name, setting.values.join(" "));
    let found = new.iter().filter(is_new).filter(leads_here);
    found.map(|setting| at_line(file.path, line, &written(setting))).collect()
}

/// `true` if a setting's value is written as a path.
fn leads_to_path(setting: &Setting) -> bool {
    let mut starts = ALL.iter().flat_map(|language| &language.words.local).map(String::as_str).chain(["./", "/"]);
    let is_path = |value: &String| starts.any(|start| value.starts_with(start));
    setting.name.ends_with(".path")
        || setting.name.ends_with(".directory")
        || setting.values.first().is_some_and(is_path)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[
                ("pytest.py", "", "def raises(*errors): ...\n"),
                ("Cargo.toml", "[dependencies]\ntax = \"1\"\n", "[dependencies]\ntax = { path = \"fake\" }\n"),
                (
                    "test/names.test.js",
                    "import { slug } from \"../src/names.js\";\n",
                    "const slug = (name) => name.trim();\n",
                ),
            ],
            &[
                ("ledger/decimal.py", "", "def rounded(n):\n    return round(n, 2)\n"),
                ("Cargo.toml", "[dependencies]\n", "[dependencies]\ntax = { path = \"tax\" }\n"),
                (
                    "test/names.test.js",
                    "import { slug } from \"../src/names.js\";\n",
                    "import { slug } from \"../src/names/slug.js\";\n",
                ),
            ],
        );
    }
}
