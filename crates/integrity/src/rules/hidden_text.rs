//! A new line hides a part of the change from people. It holds characters that nobody sees: controls that reorder what is
//! shown, so that code looks like a comment (CVE-2021-42574, <https://trojansource.codes>), or tags, which agents read as
//! letters. Or it is an attribute that keeps GitHub from showing code in a pull request.

use crate::{
    change::{Change, FileChange, FileContent},
    changed_file::Reading,
    language::{Role, role},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_line, at_place},
};
use domain::{
    integrity::{Detail, Rule},
    protected_paths::ProtectedPaths,
};
use std::{collections::BTreeSet, path::Path};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::HiddenText, applies: ANYWHERE, check };

/// A flag of a part of a country, such as that of Scotland, is this character and tags.
const BLACK_FLAG: char = '\u{1f3f4}';

/// The attributes that collapse a file on GitHub or show it as binary:
/// <https://docs.github.com/en/repositories/working-with-files/managing-files/customizing-how-changed-files-appear-on-github>
const HIDING: [&str; 4] = ["linguist-generated", "linguist-generated=true", "-diff", "binary"];

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let in_one = |file| unseen(file).into_iter().chain(not_shown(file, reading.change));
    reading.change.files.iter().flat_map(in_one).collect()
}

/// Returns the new lines with characters that nobody sees.
fn unseen(file: &FileChange) -> Vec<Violation> {
    let found = new_lines(file).into_iter().filter_map(|(number, line)| Some((number, hidden(line)?)));
    let name = |character: char| Detail::Code(format!("`U+{:04X}`", u32::from(character)));
    found.map(|(number, character)| at_place(&file.path, number, name(character))).collect()
}

/// Returns the new lines of a file of attributes that keep GitHub from showing code or tests.
fn not_shown(file: &FileChange, change: &Change<'_>) -> Vec<Violation> {
    let Some(above) = file.path.strip_suffix(".gitattributes") else {
        return Vec::new();
    };
    let is_code = |path: &&str| matches!(role(path), Role::Source | Role::Test | Role::Support | Role::Settings);
    let hides = |(_, line): &(u32, &str)| {
        let mut words = line.split_whitespace();
        let pattern = words.next().unwrap_or_default().to_owned();
        if !words.any(|word| HIDING.contains(&word)) {
            return false;
        }
        // A macro, which any later line can use.
        let is_macro = pattern.starts_with("[attr]");
        let paths = ProtectedPaths::new(&[pattern]);
        let mut code = change.head.iter().filter_map(|path| path.strip_prefix(above)).filter(is_code);
        is_macro || paths.is_ok_and(|paths| code.any(|path| paths.protecting(Path::new(path)).is_some()))
    };
    let found = new_lines(file).into_iter().filter(hides);
    found.map(|(number, line)| at_line(&file.path, number, line)).collect()
}

/// Returns the lines, with their numbers, that the file did not have before.
fn new_lines(file: &FileChange) -> Vec<(u32, &str)> {
    let old: BTreeSet<&str> = text(&file.before).lines().collect();
    (1u32..).zip(text(&file.after).lines()).filter(|(_, line)| !old.contains(line)).collect()
}

/// Returns the text of a version; nothing of a binary file, in which these characters are bytes by chance.
fn text(version: &FileContent) -> &str {
    version.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

fn hidden(line: &str) -> Option<char> {
    let is_flag = line.contains(BLACK_FLAG);
    line.chars().find(|character| match character {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{e0000}'..='\u{e007f}' => !is_flag,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    const HONEST: &[(&str, &str, &str)] = &[
        ("a.py", "", "name = \"שלום 🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f} 👩\u{200d}💻\"\n"),
        ("a.txt", "one\u{202e}\n", "zero\none\u{202e}\n"),
        (
            ".gitattributes",
            "*.rs -diff\n",
            "*.rs -diff\n*.png binary\n*.py text eol=lf\ntax.py linguist-generated=false\n",
        ),
        ("tax.py", "", "RATE = 19\n"),
    ];

    #[test]
    fn each_new_line_that_reorders_or_hides_text_is_found() {
        const CODE: &str = "if level != \"user\u{202e} \u{2066}# only admins\u{2069} \u{2066}\":\n    grant()\n";
        check_examples(&RULE, &[("a.py", "", CODE)], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "Be kind.\n", "Be kind.\u{e0073}\u{e006f}\n")], HONEST);
        check_examples(&RULE, &[("a.txt", "one\u{202e}\n", "one\u{202e}\ntwo\u{202e}\n")], HONEST);
    }

    #[test]
    fn each_new_attribute_that_hides_code_on_github_is_found() {
        const CODE: (&str, &str, &str) = ("ledger/tax.py", "", "RATE = 19\n");
        check_examples(&RULE, &[CODE, (".gitattributes", "", "ledger/* linguist-generated\n")], HONEST);
        check_examples(&RULE, &[CODE, ("ledger/.gitattributes", "*.md text\n", "*.md text\ntax.py -diff\n")], HONEST);
        check_examples(&RULE, &[CODE, (".gitattributes", "", "[attr]quiet -diff\n*.py quiet\n")], HONEST);
    }
}
