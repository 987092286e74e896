//! Reads from a `.gitattributes` file which paths GitHub does not show in a pull request: it collapses generated files, and
//! shows no lines of those without a diff.
//! <https://docs.github.com/en/repositories/working-with-files/managing-files/customizing-how-changed-files-appear-on-github>

use domain::protected_paths::ProtectedPaths;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// What the lines so far say about one path; each holds the number of the line that hides it.
#[derive(Clone, Copy, Default)]
struct Visibility {
    without_diff: Option<u32>,
    generated: Option<u32>,
}

/// Returns the paths that a file of attributes hides, each with the number of the line that does. Paths are relative to its
/// folder.
pub(crate) fn hidden<'p>(text: &str, paths: &BTreeSet<&'p str>) -> BTreeMap<&'p str, u32> {
    let mut macros: BTreeMap<&str, Vec<&str>> = BTreeMap::from([("binary", vec!["-diff"])]);
    let mut shown: BTreeMap<&str, Visibility> = BTreeMap::new();
    for (number, line) in (1u32..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let Some((pattern, attributes)) = split(line) else { continue };
        if let Some(name) = pattern.strip_prefix("[attr]") {
            macros.insert(name, attributes);
            continue;
        }
        let attributes: Vec<&str> =
            attributes.into_iter().flat_map(|name| macros.get(name).cloned().unwrap_or(vec![name])).collect();
        let settings: Vec<(Attribute, bool)> = attributes.iter().filter_map(|name| setting(name)).collect();
        let Some(matcher) = ProtectedPaths::new(&[pattern.to_owned()]).ok().filter(|_| !settings.is_empty()) else {
            continue;
        };
        for path in paths.iter().filter(|path| matcher.protecting(Path::new(path)).is_some()) {
            let shown = shown.entry(path).or_default();
            for (attribute, is_hiding) in &settings {
                let line = is_hiding.then_some(number);
                match attribute {
                    Attribute::Diff => shown.without_diff = line,
                    Attribute::Generated => shown.generated = line,
                }
            }
        }
    }
    shown.into_iter().filter_map(|(path, shown)| Some((path, shown.without_diff.or(shown.generated)?))).collect()
}

#[derive(Clone, Copy)]
enum Attribute {
    Diff,
    Generated,
}

/// Splits a line into its pattern, which may stand in quotes, and its attributes.
fn split(line: &str) -> Option<(&str, Vec<&str>)> {
    let line = line.trim();
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once(char::is_whitespace)?,
    };
    (!pattern.starts_with('#')).then(|| (pattern, rest.split_whitespace().collect()))
}

/// Returns the attribute that a word sets, and `true` if it hides.
fn setting(word: &str) -> Option<(Attribute, bool)> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    match name {
        "-diff" => Some((Attribute::Diff, true)),
        "diff" | "!diff" => Some((Attribute::Diff, false)),
        "linguist-generated" => Some((Attribute::Generated, value != "false")),
        "-linguist-generated" | "!linguist-generated" => Some((Attribute::Generated, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::hidden;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_last_line_about_a_path_decides_if_it_is_shown() {
        let paths = BTreeSet::from(["a b.py", "a.py", "src/b.py"]);
        let table: [(&str, &[(&str, u32)]); 12] = [
            ("*.py text eol=lf\n# *.py -diff\n", &[]),
            ("a.py -diff\n", &[("a.py", 1)]),
            ("\u{feff}a.py -diff\n", &[("a.py", 1)]),
            ("*.md text\nsrc/* linguist-generated\n", &[("src/b.py", 2)]),
            ("a.py linguist-generated=yes\nsrc/b.py linguist-generated=false\n", &[("a.py", 1)]),
            ("\"a b.py\" binary\n", &[("a b.py", 1)]),
            ("*.py -diff\n*.py diff\n", &[]),
            ("*.py -diff diff\n", &[]),
            ("*.py diff=python\na.py linguist-generated\na.py !linguist-generated\n", &[]),
            ("[attr]quiet -diff\na.py quiet\n", &[("a.py", 2)]),
            ("[attr]quiet -diff\n", &[]),
            ("a.py -diff\n*.py text\n", &[("a.py", 1)]),
        ];
        for (text, expected) in table {
            assert_eq!(hidden(text, &paths), BTreeMap::from_iter(expected.iter().copied()), "{text}");
        }
    }
}
