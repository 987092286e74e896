//! Changes a file so that its functions run as before but return something else: another value of the same type, or
//! nothing.

use crate::language::{bodies::replaced, syntax::At};
use std::ops::Range;

#[derive(Debug, Default)]
pub struct ReturnValueChanges {
    /// The replacements for byte ranges of the file, in order: for another value first, then for nothing.
    pub replacements: Vec<(Range<usize>, [String; 2])>,
    /// The text before the file.
    pub begin: &'static str,
    /// The text after the file, for another value first, then for nothing.
    pub end: [String; 2],
}

impl ReturnValueChanges {
    /// Replaces the bodies of the outermost wanted functions by the ones that `made` returns; `None` if it returns
    /// none.
    pub fn of_bodies<'t>(
        root: At<'t>,
        is_wanted: impl Fn(At<'t>) -> bool,
        made: impl Fn(At<'t>, At<'t>) -> Option<[String; 2]>,
    ) -> Option<Self> {
        let functions = root.outermost(is_wanted).into_iter();
        let replacements = functions.filter_map(|function| {
            let body = function.field("body")?;
            Some((body.range(), made(function, body)?))
        });
        let replacements: Vec<_> = replacements.collect();
        (!replacements.is_empty()).then(|| Self { replacements, ..Self::default() })
    }

    /// Returns the file in both forms.
    pub fn of(&self, text: &str) -> Option<[String; 2]> {
        let made = |which: usize| {
            let replacements = self.replacements.iter();
            let text = replaced(text, replacements.map(|(range, both)| (range, both.get(which))))?;
            Some([self.begin, &text, self.end.get(which)?].concat())
        };
        Some([made(0)?, made(1)?])
    }
}

#[cfg(test)]
mod tests {
    use crate::language;
    use std::collections::BTreeSet;

    fn change_return_values(path: &str, text: &str, names: &[&str]) -> Option<[String; 2]> {
        let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        language::change_return_values(path, text, &names)
    }

    #[test]
    fn named_functions_still_do_what_they_did() {
        let script = "export function tax(n) { return n; }\nconst low = async (n) => n * 2;\nfunction* all() { yield 1; }\n\
                      class A { get size() { return 1; } set size(n) { this.n = n; } }\n";
        let [other, nothing] = change_return_values("src/a.js", script, &["tax", "low", "all", "size"]).unwrap();
        let wrapped = "export function tax(n) { return __made((() => { return n; })()); }\nconst low = async (n) => __made(n * 2);\n\
                       function* all() { yield 1; }\n\
                       class A { get size() { return __made((() => { return 1; })()); } set size(n) { this.n = n; } }\n";
        assert!(other.starts_with(wrapped), "{other}");
        assert!(nothing.starts_with(wrapped) && nothing != other, "{nothing}");
        let typed =
            change_return_values("src/a.ts", "async function f(): Promise<number> { return 1; }\n", &["f"]).unwrap();
        let wrapped =
            "// @ts-nocheck\nasync function f(): Promise<number> { return __made((async () => { return 1; })()); }\n";
        assert!(typed[0].starts_with(wrapped), "{typed:?}");
        let python = "def fee(n):\n    return n\n";
        let both = change_return_values("fees.py", python, &["fee"]).unwrap();
        assert!(both.iter().all(|text| text.starts_with(python) && language::read("fees.py", text).is_some()));
        let rust = "impl Price {\n    fn of(&self, n: u32) -> Option<u32> { Some(n) }\n    fn all(&self) -> Self { todo() }\n}\n";
        let [other, nothing] = change_return_values("src/a.rs", rust, &["of", "all"]).unwrap();
        let body = "{ let value = (|| -> Option<u32> { Some(n) })();";
        assert!(other.contains(body) && other.contains(".map(|value|"), "{other}");
        assert!(nothing.contains(&format!("{body} let _ = value; None }}")), "{nothing}");
        assert!(other.contains("fn all(&self) -> Self { todo() }"), "{other}");
        let go = "package a\n\nfunc Rate(n int) int {\n\treturn n\n}\n";
        let [other, _] = change_return_values("a.go", go, &["Rate"]).unwrap();
        assert!(other.contains("made := func() int {\n\treturn n\n}(); return made + made/10*3 + 1 }"), "{other}");
    }

    #[test]
    fn where_nothing_is_named_there_is_nothing_else() {
        for (path, text) in [
            ("src/a.js", "export function tax(n) { return n; }\n"),
            ("fees.py", "def fee(n):\n    return n\n"),
            ("src/a.rs", "pub fn price(n: u32) -> u32 { n }\n"),
        ] {
            assert_eq!(change_return_values(path, text, &["of"]), None, "{path}");
        }
    }
}
