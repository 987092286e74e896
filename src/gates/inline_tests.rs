//! Separates tests inside source files from the code, by syntax.

use integrity::{language, language::bodies::TestModule};

/// The attribute before a test module in Rust.
const MARK: &str = concat!("#[cfg(", "test)]");

/// Returns a source file's text with its inline tests replaced by those of another version; `None` if no grammar
/// supports that.
pub(crate) fn with_tests_of(path: &str, code: &str, tests: &str) -> Option<String> {
    let mut own = language::executable_code(path, code)?.modules;
    let others = language::executable_code(path, tests)?.modules;
    own.sort_by_key(|module| std::cmp::Reverse(module.range.start));
    let mut text = code.to_owned();
    for module in &own {
        let other = others.iter().find(|other| other.name == module.name);
        let put = match other {
            Some(other) => tests.get(other.range.clone())?.to_owned(),
            None => format!("mod {} {{}}", module.name),
        };
        text.replace_range(module.range.clone(), &put);
    }
    for other in others
        .iter()
        .filter(|other| own.iter().all(|own| own.name != other.name))
    {
        text.push_str(&format!("\n{MARK}\n{}\n", tests.get(other.range.clone())?));
    }
    for declared in declared(tests).filter(|line| !code.lines().any(|own| own.trim() == *line)) {
        text.push_str(&format!("\n{MARK}\n{declared}\n"));
    }
    Some(text)
}

/// Returns the declarations of test modules that are in their own files, such as `mod tests;`.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    let next = text.lines().map(str::trim).skip(1);
    let pairs = lines.zip(next);
    pairs.filter_map(|(mark, line)| (mark == MARK && line.starts_with("mod ") && line.ends_with(';')).then_some(line))
}

/// Returns the text of each inline test module.
pub(crate) fn modules(path: &str, text: &str) -> Vec<String> {
    let modules = language::executable_code(path, text)
        .map(|code| code.modules)
        .unwrap_or_default();
    let of = |module: TestModule| text.get(module.range).map(str::to_owned);
    modules.into_iter().filter_map(of).collect()
}

/// Empties every line outside the inline test modules, so that the other lines keep their numbers.
pub(crate) fn only_modules(path: &str, text: &str) -> String {
    let modules = language::executable_code(path, text)
        .map(|code| code.modules)
        .unwrap_or_default();
    let mut next = 0_usize;
    let kept = text.split_inclusive('\n').map(|line| {
        let at = next;
        next = next.saturating_add(line.len());
        match modules.iter().any(|module| module.range.contains(&at)) {
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
        let apart = format!("{MARK}\nmod tests;\n");
        assert_eq!(swapped(&old, &format!("{new}{apart}")), format!("{old}\n{apart}"));
        assert_eq!(
            swapped(&format!("{old}{apart}"), &format!("{new}{apart}")),
            format!("{old}{apart}")
        );
    }
}
