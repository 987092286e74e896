//! Code in documentation comments of Rust, which cargo runs unless the comment says otherwise.

use crate::language::outline::{Example, Use};

/// Words behind the fence with which an example is still run.
const RUN: [&str; 8] = [
    "rust",
    "should_panic",
    "edition2015",
    "edition2018",
    "edition2021",
    "edition2024",
    "test_harness",
    "standalone_crate",
];

/// Every fenced piece of code in the file's documentation.
pub(super) fn in_text(text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<Example> = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim_start();
        let Some(said) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = None;
            continue;
        };
        let said = said.trim();
        match (said.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(info), None) => {
                open = Some(Example {
                    line: number,
                    text: String::new(),
                    how: used(info),
                });
            }
            (None, Some(example)) => {
                example.text.push_str(said);
                example.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn used(info: &str) -> Use {
    let mut words = info
        .split([',', ' ', '{', '}'])
        .map(str::trim)
        .filter(|word| !word.is_empty());
    match words.all(|word| RUN.contains(&word)) {
        true => Use::Run,
        false => Use::Shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_run_unless_its_fence_says_otherwise() {
        let text = "/// ```\n/// a();\n/// ```\nfn a() {}\n//! ```rust,should_panic\n//! b();\n//! ```\n/// ```no_run\n/// c();\n/// ```\n/// ```text\n/// d\n/// ```\n/// ```\nfn open() {}\n";
        let found: Vec<_> = in_text(text)
            .into_iter()
            .map(|one| (one.line, one.text, one.how))
            .collect();
        let expected = [
            (1, "a();\n".to_owned(), Use::Run),
            (5, "b();\n".to_owned(), Use::Run),
            (8, "c();\n".to_owned(), Use::Shown),
            (11, "d\n".to_owned(), Use::Shown),
        ];
        assert_eq!(found, expected);
    }
}
