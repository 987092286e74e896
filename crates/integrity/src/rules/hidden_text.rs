//! A part of the change is hidden from people. A line holds characters that nobody sees: controls that reorder what is
//! shown, so that code looks like a comment (CVE-2021-42574, <https://trojansource.codes>), or tags, which agents read as
//! letters. An attribute keeps GitHub from showing code in a pull request. A file is decoded otherwise than it is shown, or
//! is compiled.

use crate::{
    attributes,
    change::{Change, FileChange, FileContent},
    changed_file::Reading,
    language::{Role, file_name, language_of, role},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_line, at_place, in_file},
};
use domain::integrity::{Detail, Rule};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::HiddenText, applies: ANYWHERE, check };

/// A flag of a part of a country, such as that of Scotland, is this character, at most so many tags, and an end.
const BLACK_FLAG: char = '\u{1f3f4}';
const MOST_TAGS: usize = 6;
const END_OF_TAGS: char = '\u{e007f}';

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = reading.change.files;
    let texts: Vec<Cow<'_, str>> = files.iter().map(|file| text(&file.before)).collect();
    // A file that is moved keeps its lines.
    let known: BTreeSet<&str> = texts.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let in_one = |file| {
        let by_line = unseen(file, &known).into_iter().chain(not_shown(file, reading.change));
        by_line.chain(decoded_otherwise(file)).chain(compiled(file))
    };
    files.iter().flat_map(in_one).collect()
}

/// Returns the new lines with characters that nobody sees.
fn unseen(file: &FileChange, known: &BTreeSet<&str>) -> Vec<Violation> {
    let text = text(&file.after);
    let new = (1u32..).zip(text.lines()).filter(|(_, line)| !known.contains(line.trim()));
    let is_code = language_of(&file.path).is_some();
    // Translations need the controls around words of other scripts.
    let is_translation = |line: &str| !is_code && line.chars().any(is_right_to_left);
    let found = new.filter_map(|(number, line)| {
        let character = hidden(line)?;
        (!is_direction(character) || !is_translation(line)).then_some((number, character))
    });
    let name = |character: char| Detail::Code(format!("`U+{:04X}`", u32::from(character)));
    found.map(|(number, character)| at_place(&file.path, number, name(character))).collect()
}

/// Encodings of Python in which every ASCII character means itself, by the beginnings of their names.
const PLAIN_ENCODINGS: [&str; 9] =
    ["utf-8", "utf8", "ascii", "us-ascii", "latin", "iso-8859", "iso8859", "cp125", "windows-125"];

/// Returns the line by which Python decodes a file so that a comment may be code (PEP 263).
fn decoded_otherwise(file: &FileChange) -> Option<Violation> {
    let (before, after) = (text(&file.before), text(&file.after));
    let find = |text: &'_ str| {
        let lines = (1u32..).zip(text.lines()).take(2).filter(|(_, line)| line.trim_start().starts_with('#'));
        lines.filter_map(|(number, line)| Some((number, line.to_owned(), encoding(line)?))).next()
    };
    let (number, line, encoding) =
        find(&after).filter(|_| file.path.ends_with(".py") || file.path.ends_with(".pyi"))?;
    let is_plain = PLAIN_ENCODINGS.iter().any(|plain| encoding.starts_with(plain));
    let is_old = find(&before).is_some_and(|(_, _, old)| old == encoding);
    (!is_plain && !is_old).then(|| at_line(&file.path, number, &line))
}

/// Returns the name after `coding:` or `coding=`, in lower case and with dashes.
fn encoding(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("coding")?;
    let rest = rest.strip_prefix([':', '='])?.trim_start();
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    (!name.is_empty()).then(|| name.to_lowercase().replace('_', "-"))
}

/// The endings of files that machines run and people cannot read.
const COMPILED: [&str; 23] = [
    "pyc", "pyo", "class", "so", "dll", "dylib", "exe", "node", "wasm", "jar", "war", "o", "a", "lib", "com", "msi",
    "scr", "bin", "elf", "deb", "rpm", "whl", "egg",
];

/// Returns the file if it is compiled code or a package of it.
fn compiled(file: &FileChange) -> Option<Violation> {
    let (_, ending) = file_name(&file.path).rsplit_once('.')?;
    let is_binary = match &file.after {
        FileContent::Absent => false,
        FileContent::Unread(_) => true,
        FileContent::Bytes(bytes) => bytes.contains(&0) || std::str::from_utf8(bytes).is_err(),
    };
    let is_compiled = is_binary && COMPILED.contains(&ending.to_lowercase().as_str());
    is_compiled.then(|| in_file(&file.path, Detail::Nothing))
}

/// Returns the lines of a file of attributes that keep GitHub from showing code or tests that it showed before.
fn not_shown(file: &FileChange, change: &Change<'_>) -> Vec<Violation> {
    if file_name(&file.path) != ".gitattributes" {
        return Vec::new();
    }
    let above = file.path.trim_end_matches(".gitattributes");
    let is_code = |path: &&str| match role(path) {
        Role::Source | Role::Test | Role::Settings => true,
        // Images and archives for tests are no code.
        Role::Support => language_of(path).is_some(),
        Role::Other => false,
    };
    let below = change.head.iter().filter_map(|path| path.strip_prefix(above));
    let code: BTreeSet<&str> = below.filter(is_code).collect();
    let (old, new) = (text(&file.before), text(&file.after));
    let (before, after) = (attributes::hidden(&old, &code), attributes::hidden(&new, &code));
    let hides = after.into_iter().filter(|(path, _)| !before.contains_key(path));
    let lines: BTreeMap<u32, &str> = (1u32..).zip(new.lines()).collect();
    let numbers: BTreeSet<u32> = hides.map(|(_, number)| number).collect();
    numbers.into_iter().filter_map(|number| Some(at_line(&file.path, number, lines.get(&number)?))).collect()
}

/// Returns the text of a version; nothing of a binary file, in which these characters are bytes by chance.
fn text(version: &FileContent) -> Cow<'_, str> {
    let bytes = version.bytes().filter(|bytes| !bytes.contains(&0));
    bytes.map(String::from_utf8_lossy).unwrap_or_default()
}

/// Returns the first character that reorders the line, or that is drawn as nothing and can hold a text or be a name.
fn hidden(line: &str) -> Option<char> {
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        let is_hidden = match character {
            _ if is_direction(character) => true,
            '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
            // One selector chooses how a character is drawn. Several of them are bytes.
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => before.is_whitespace() || is_selector(before),
            '\u{e0000}'..='\u{e007f}' => {
                !is_in_flag(line.get(..at).unwrap_or_default(), line.get(at..).unwrap_or_default())
            }
            _ => false,
        };
        if is_hidden {
            return Some(character);
        }
        before = character;
    }
    None
}

/// `true` for the controls that change the direction in which text is shown.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `true` for the letters of Hebrew, Arabic and the scripts between them.
fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// `true` if the tag between these two parts of a line belongs to a flag.
fn is_in_flag(before: &str, from: &str) -> bool {
    let is_tag = |character: &char| matches!(character, '\u{e0020}'..='\u{e007e}');
    let tags_before = before.chars().rev().take_while(is_tag).count();
    let tags = tags_before + from.chars().take_while(is_tag).count();
    let has_flag = before.chars().rev().nth(tags_before) == Some(BLACK_FLAG);
    has_flag && tags <= MOST_TAGS && from.chars().find(|character| !is_tag(character)) == Some(END_OF_TAGS)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    const HONEST: &[(&str, &str, &str)] = &[
        ("a.py", "", "name = \"שלום 🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f} 👩\u{200d}💻\"\n"),
        ("a.txt", "one\u{202e}\n", "zero\n  one\u{202e}\n"),
        ("old.po", "x \u{202b}y\u{202c}\n", ""),
        ("new.po", "", "x \u{202b}y\u{202c}\n"),
        ("b.txt", "", "葛\u{e0100} ☎\u{fe0e} 1\u{fe0f}\u{20e3}\n"),
        ("templates/Web.gitattributes", "", "*.py -diff\n"),
        ("ar.json", "", "{\"by\": \"من \u{2068}{name}\u{2069}\"}\n"),
        ("latin.py", "", "#!/usr/bin/python3\n# -*- coding: ISO-8859-15 -*-\nx = 1\n"),
        ("late.py", "", "x = 1\ny = 2\n# coding: utf_7\n"),
        ("liba.a", "", "text\n"),
        ("tests/fixtures/logo.png", "", "x"),
        (
            ".gitattributes",
            "*.rs -diff\n",
            "*.rs -diff\n*.png binary\n*.py text eol=lf\ntax.py linguist-generated=false\n[attr]lfs -diff\n*.psd lfs\n",
        ),
        ("tax.py", "", "RATE = 19\n"),
    ];

    #[test]
    fn each_new_line_that_reorders_or_hides_text_is_found() {
        const SMUGGLED: &str = "Flags: 🏴\u{e0067}\u{e0062}\u{e007f} 🏴\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0021}\u{e007f}\n";
        const CODE: &str = "if level != \"user\u{202e} \u{2066}# only admins\u{2069} \u{2066}\":\n    grant()\n";
        check_examples(&RULE, &[("a.py", "", CODE)], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "Be kind.\n", "Be kind.\u{e0073}\u{e006f}\n")], HONEST);
        check_examples(&RULE, &[("a.txt", "one\u{202e}\n", "one\u{202e}\ntwo\u{202e}\n")], HONEST);
        check_examples(&RULE, &[("a.py", "", "x = 1  # \u{202e}שלום\n")], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "", SMUGGLED)], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "", "🏴 be\u{e0073}\n")], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "", "😀\u{fe00}\u{e0121}\u{e0122}\n")], HONEST);
        check_examples(&RULE, &[("a.js", "", "let \u{3164} = 1;\n")], HONEST);
    }

    #[test]
    fn each_new_attribute_that_hides_code_on_github_is_found() {
        const UNDONE: (&str, &str, &str) = (".gitattributes", "*.py -diff\nledger/tax.py diff\n", "*.py -diff\n");
        const CODE: (&str, &str, &str) = ("ledger/tax.py", "", "RATE = 19\n");
        check_examples(&RULE, &[CODE, (".gitattributes", "", "ledger/* linguist-generated\n")], HONEST);
        check_examples(&RULE, &[CODE, ("ledger/.gitattributes", "*.md text\n", "*.md text\ntax.py -diff\n")], HONEST);
        check_examples(&RULE, &[CODE, (".gitattributes", "", "[attr]quiet -diff\n*.py quiet\n")], HONEST);
        check_examples(&RULE, &[CODE, UNDONE], HONEST);
    }

    #[test]
    fn code_that_is_decoded_otherwise_or_compiled_is_found() {
        check_examples(&RULE, &[("pay.py", "", "# -*- coding: utf_7 -*-\n# +AAo-import os\n")], HONEST);
        check_examples(
            &RULE,
            &[("pay.py", "x = 1\n", "\n# vim: set fileencoding=raw_unicode_escape :\nx = 1\n")],
            HONEST,
        );
        check_examples(&RULE, &[("lib/pay.pyc", "", "a\0b")], HONEST);
    }
}
