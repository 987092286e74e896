//! Separates tests inside source files from the code, by syntax.

use integrity::{
    language,
    language::bodies::{TestItem, TestItemKind},
};

/// The attribute before a test module in Rust.
const MARK: &str = concat!("#[cfg(", "test)]");

/// Returns a source file's text with its inline tests replaced by those of another version; `None` if no grammar
/// supports that.
pub(crate) fn with_tests_of(path: &str, code: &str, tests: &str) -> Option<String> {
    if !can_separate(path) {
        return None;
    }
    let (mut own, mut others) = (items(path, code)?, items(path, tests)?);
    own.sort_by_key(|item| item.range.start);
    others.sort_by_key(|item| item.range.start);
    let mut text = code.to_owned();
    for item in own.iter().rev() {
        let put = match (counterpart(&others, &own, item), item.kind) {
            (Some(other), _) => tests.get(other.range.clone())?.to_owned(),
            (None, TestItemKind::Module) => format!("mod {} {{}}", item.name),
            (None, TestItemKind::Function) => String::new(),
        };
        text.replace_range(item.range.clone(), &put);
    }
    let is_new = |other: &&TestItem| counterpart(&own, &others, other).is_none();
    for other in others.iter().filter(is_new) {
        let put = tests.get(other.range.clone())?;
        text.push_str(&match other.kind {
            TestItemKind::Module => format!("\n{MARK}\n{put}\n"),
            TestItemKind::Function => format!("\n{put}\n"),
        });
    }
    for declared in declared(tests).filter(|line| !code.lines().any(|own| own.trim() == *line)) {
        text.push_str(&format!("\n{MARK}\n{declared}\n"));
    }
    Some(text)
}

/// Returns the one of `items` that stands for an item of `all`: of several with one kind and name, such as functions that
/// are compiled on different conditions, the one at the same place among them.
fn counterpart<'a>(items: &'a [TestItem], all: &[TestItem], item: &TestItem) -> Option<&'a TestItem> {
    let is_namesake = |one: &&TestItem| (one.kind, &one.name) == (item.kind, &item.name);
    let place = all.iter().filter(is_namesake).position(|one| one.range == item.range)?;
    items.iter().filter(is_namesake).nth(place)
}

/// Returns the declarations of test modules that are in their own files, such as `mod tests;`.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    let pairs = lines.clone().zip(lines.skip(1));
    let declared = pairs.filter(|(mark, line)| *mark == MARK && line.starts_with("mod ") && line.ends_with(';'));
    declared.map(|(_, line)| line)
}

fn items(path: &str, text: &str) -> Option<Vec<TestItem>> {
    Some(language::executable_code(path, text)?.tests)
}

/// Returns the text of each inline test module and test function.
pub(crate) fn test_items(path: &str, text: &str) -> Vec<String> {
    let items = items(path, text).unwrap_or_default().into_iter();
    let texts = items.filter_map(|item| text.get(item.range).map(str::to_owned));
    texts.collect()
}

/// Empties every line outside the inline tests, so that the other lines keep their numbers.
pub(crate) fn only_tests(path: &str, text: &str) -> String {
    let items = items(path, text).unwrap_or_default();
    let mut next = 0_usize;
    let kept = text.split_inclusive('\n').map(|line| {
        let at = next;
        next = next.saturating_add(line.len());
        match items.iter().any(|item| item.range.contains(&at)) {
            true => line,
            false => "\n",
        }
    });
    kept.collect()
}

/// `true` if the language of this path has inline tests that can be separated from the code.
pub(crate) fn can_separate(path: &str) -> bool {
    language::of(path).is_some_and(|language| language.inline_tests)
}

#[cfg(test)]
mod tests {
    use super::{MARK, with_tests_of};

    #[test]
    fn old_code_gets_new_tests_and_keeps_what_it_does() {
        let code = |body: &str| format!("pub fn add(a: u8) -> u8 {{ {body} }}\n");
        let tests = |check: &str| format!("{MARK}\nmod tests {{\n    #[test]\n    fn one() {{ {check} }}\n}}\n");
        let swapped = |old: &str, new: &str| with_tests_of("src/a.rs", old, new).unwrap();
        let (old, new) = (code("a"), code("a + 1"));
        let (first, second) = (tests("assert_eq!(1, 1);"), tests("assert_eq!(2, 2);"));
        assert_eq!(
            swapped(&format!("{old}{first}"), &format!("{new}{second}")),
            format!("{old}{second}")
        );
        assert_eq!(swapped(&old, &format!("{new}{second}")), format!("{old}\n{second}"));
        let bare = |check: &str| format!("#[test]\n#[should_panic]\nfn one() {{ {check} }}\n");
        let (first, second) = (bare("assert_eq!(1, 1);"), bare("assert_eq!(2, 2);"));
        assert_eq!(
            swapped(&format!("{old}{first}"), &format!("{new}{second}")),
            format!("{old}{second}")
        );
        assert_eq!(swapped(&old, &format!("{new}{second}")), format!("{old}\n{second}"));
        assert_eq!(swapped(&format!("{old}{first}"), &new), format!("{old}\n"));
        let twice =
            |one: &str, other: &str| format!("#[test]\nfn one() {{ {one} }}\n#[test]\nfn one() {{ {other} }}\n");
        let (first, second) = (twice("f(1)", "f(2)"), twice("f(3)", "f(4)"));
        assert_eq!(
            swapped(&format!("{old}{first}"), &format!("{new}{second}")),
            format!("{old}{second}")
        );
        let apart = format!("{MARK}\nmod tests;\n");
        assert_eq!(swapped(&old, &format!("{new}{apart}")), format!("{old}\n{apart}"));
        assert_eq!(
            swapped(&format!("{old}{apart}"), &format!("{new}{apart}")),
            format!("{old}{apart}")
        );
    }
}
