//! A new line holds characters that a person does not see: controls that reorder what is shown, so that code looks like a
//! comment (CVE-2021-42574, <https://trojansource.codes>), or tags, which agents read as letters.

use crate::{
    change::{FileChange, FileContent},
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place},
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::HiddenText, applies: ANYWHERE, check };

/// A flag of a part of a country, such as that of Scotland, is this character and tags.
const BLACK_FLAG: char = '\u{1f3f4}';

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.change.files.iter().flat_map(in_one).collect()
}

fn in_one(file: &FileChange) -> Vec<Violation> {
    let (before, after) = (text(&file.before), text(&file.after));
    let old: BTreeSet<&str> = before.lines().filter(|line| hidden(line).is_some()).collect();
    let new = (1u32..).zip(after.lines()).filter(|(_, line)| !old.contains(line));
    let found = new.filter_map(|(number, line)| Some((number, hidden(line)?)));
    let name = |character: char| Detail::Code(format!("`U+{:04X}`", u32::from(character)));
    found.map(|(number, character)| at_place(&file.path, number, name(character))).collect()
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
    ];

    #[test]
    fn each_new_line_that_reorders_or_hides_text_is_found() {
        const CODE: &str = "if level != \"user\u{202e} \u{2066}# only admins\u{2069} \u{2066}\":\n    grant()\n";
        check_examples(&RULE, &[("a.py", "", CODE)], HONEST);
        check_examples(&RULE, &[("CLAUDE.md", "Be kind.\n", "Be kind.\u{e0073}\u{e006f}\n")], HONEST);
        check_examples(&RULE, &[("a.txt", "one\u{202e}\n", "one\u{202e}\ntwo\u{202e}\n")], HONEST);
    }
}
