//! A test reads the product's source code as text: it may check how the code is written instead of what it does.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::{Role, Vocabulary, file_name, role},
    rules::rule::{ReadingRule, Violation, at_line},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ReadsSource,
    applies: &[Role::Test, Role::Support],
    refuses: &[
        ("src/fees.js", "", "export const fee = (n) => n;\n"),
        (
            "test/fees.test.js",
            "",
            "const text = readFileSync(new URL('../src/fees.js', import.meta.url), 'utf8');\n",
        ),
    ],
    accepts: &[
        ("src/fees.js", "", "export const fee = (n) => n;\n"),
        (
            "test/fees.test.js",
            "",
            "import { fee } from '../src/fees.js';\nconst kept = readFileSync('test/fixtures/fees.txt', 'utf8');\n",
        ),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let of_product = |path: &&String| role(path) == Role::Source && language::of(path).is_some();
    let sources: Vec<&str> = reading
        .change
        .head
        .iter()
        .filter(of_product)
        .map(|path| file_name(path))
        .collect();
    let found = reading.files.iter().filter_map(|file| in_one(file, &sources));
    found.collect()
}

fn in_one(file: &ChangedFile<'_>, sources: &[&str]) -> Option<Violation> {
    let Vocabulary { reads, imports, .. } = language::of(file.path)?;
    let (_, after) = file.texts();
    let new = file.new_lines(&after);
    let is_import = |line: &str| imports.iter().any(|word| line.contains(word));
    let names_source = |line: &str| {
        let quoted = |name: &str| {
            ['"', '\'', '`']
                .iter()
                .any(|mark| line.contains(&format!("{name}{mark}")))
        };
        !is_import(line) && sources.iter().any(|name| quoted(name))
    };
    let is_reading = |line: &str| reads.iter().any(|word| line.contains(word));
    let named = new.iter().find(|(_, line)| names_source(line));
    let (number, line) = named.filter(|_| after.lines().any(is_reading))?;
    Some(at_line(file.path, *number, line))
}
