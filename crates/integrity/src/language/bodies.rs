//! Finds the bodies of a file's functions with replacements that do nothing, and the code outside of functions.

use crate::language::syntax::At;
use std::ops::Range;

/// The executable parts of a source file.
#[derive(Debug, Default)]
pub struct ExecutableCode {
    /// The outermost functions and methods.
    pub bodies: Vec<Body>,
    /// Values and statements outside of functions.
    pub values: Vec<Value>,
}

/// A function whose body can be replaced by an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The function's name; empty if it has none.
    pub name: String,
    /// The line where it begins.
    pub line: u32,
    /// The words of the whole function.
    pub words: Vec<String>,
    /// The words of its body.
    pub code: Vec<String>,
    /// The byte range of its body in the file.
    pub range: Range<usize>,
    /// Two bodies that only return a value of the function's type, and two values that differ as much as the type
    /// allows. A test that accepts both accepts anything.
    pub empty_bodies: [String; 2],
}

/// A value or statement outside of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name to which the value is assigned, if there is one.
    pub name: Option<String>,
    pub words: Vec<String>,
}

impl ExecutableCode {
    /// Adds a function whose body is `body`, unless that is a block without statements.
    pub fn body(&mut self, name: &str, function: At<'_>, body: At<'_>, empty_bodies: [String; 2]) {
        if body.children().next().is_some() || !body.text().starts_with('{') {
            self.bodies.push(Body {
                name: name.to_owned(),
                line: function.line(),
                words: function.words(),
                code: body.words(),
                range: body.range(),
                empty_bodies,
            });
        }
    }

    /// Adds the value or statement `at`.
    pub fn value(&mut self, name: Option<&str>, at: At<'_>) {
        self.values.push(Value { name: name.map(str::to_owned), words: at.words() });
    }
}

/// Returns a text with these bodies replaced by empty ones; `which` selects one of the two.
pub fn with_empty_bodies(text: &str, bodies: &[&Body], which: usize) -> Option<String> {
    let empty = bodies.iter().map(|body| (&body.range, body.empty_bodies.get(which)));
    replaced(text, empty)
}

/// Returns a text with these byte ranges, in order, replaced; `None` if a range is not within the text or has no
/// replacement.
pub fn replaced<'r>(
    text: &str,
    replacements: impl Iterator<Item = (&'r Range<usize>, Option<&'r String>)>,
) -> Option<String> {
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for (range, put) in replacements {
        made.push_str(text.get(from..range.start)?);
        made.push_str(put?);
        from = range.end;
    }
    made.push_str(text.get(from..)?);
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::{Body, with_empty_bodies};
    use crate::language;

    /// Returns the file with both kinds of empty bodies, and the names of its values outside functions.
    fn empty_bodies(path: &str, text: &str) -> ([String; 2], Vec<Option<String>>) {
        let code = language::executable_code(path, text).unwrap();
        let bodies: Vec<&Body> = code.bodies.iter().collect();
        let both = [0, 1].map(|which| with_empty_bodies(text, &bodies, which).unwrap());
        (both, code.values.into_iter().map(|value| value.name).collect())
    }

    #[test]
    fn rust_functions_do_nothing_and_tests_stay() {
        let text = "const RATE: u32 = 7;\nimpl Price {\n    fn of(&self, n: u32) -> u32 {\n        let f = |x| x;\n        f(n)\n    }\n}\n\
                    #[test]\nfn one() { assert_eq!(1, 1); }\n";
        let ([first, second], values) = empty_bodies("src/a.rs", text);
        assert!(
            first.contains("fn of(&self, n: u32) -> u32 { if true { return 0; }\n        let f = |x| x;"),
            "{first}"
        );
        assert!(second.contains("{ if true { return 113; }"), "{second}");
        assert!(first.contains("fn one() { assert_eq!(1, 1); }"), "{first}");
        assert_eq!(values, [Some("RATE".to_owned())]);
    }

    #[test]
    fn python_functions_do_nothing_and_stay_where_they_are() {
        let text = "\"\"\"Doc.\"\"\"\nimport os\n\nRATES = {1: 2}\n\n\nclass Tax:\n    low = 7\n\n    @property\n    def rate(self) -> int:\n        \
                    \"\"\"Doc.\"\"\"\n        return self.low\n\n    def all(self):\n        for one in RATES:\n            yield one\n\n\n\
                    def still(self): pass\n\n\nregister(Tax)\nif __name__ == \"__main__\":\n    main()\n";
        let ([first, second], values) = empty_bodies("tax.py", text);
        assert!(first.contains("    def rate(self) -> int:\n        return 7919\n\n"), "{first}");
        assert!(second.contains("    def all(self):\n        yield __import__"), "{second}");
        assert!(first.contains("def still(self): pass"), "{first}");
        assert_eq!(values, [Some("RATES".to_owned()), Some("low".to_owned()), None]);
        assert!(language::read("tax.py", &first).is_some() && language::read("tax.py", &second).is_some());
    }

    #[test]
    fn javascript_functions_do_nothing_however_they_are_written() {
        let text = "import x from \"./x.js\";\nexport const RATE = 7;\nexport const tax = (n) => n * RATE;\n\
                    class Cart extends Base {\n  #lines = [];\n  constructor(a) { super(a); this.a = a; }\n  get size() { return 1; }\n  *all() { yield 1; }\n}\n\
                    export default memo(async function load() { return 1; });\nmodule.exports = { tax, Cart };\nstart();\n";
        let ([first, second], values) = empty_bodies("src/a.js", text);
        assert!(first.contains("export const tax = (n) => (undefined);"), "{first}");
        assert!(first.contains("constructor(a) { super(...arguments); }"), "{first}");
        assert!(second.contains("get size() { return 'hollow'; }"), "{second}");
        assert!(second.contains("*all() { yield 'hollow'; }"), "{second}");
        assert!(first.contains("memo(async function load() { return undefined; })"), "{first}");
        assert_eq!(values, [Some("RATE".to_owned()), Some("#lines".to_owned()), None]);
        let ([first, second], _) = empty_bodies("a.ts", "export function rate(kind: string): number { return 7; }\n");
        assert_eq!(
            [first.as_str(), second.as_str()],
            [
                "export function rate(kind: string): number { return 7919; }\n",
                "export function rate(kind: string): number { return -7919; }\n"
            ]
        );
    }

    #[test]
    fn go_functions_do_nothing_and_leave_no_import_over() {
        let text = "package a\n\nfunc Rate(kind string) (int, error) {\n\treturn ask(kind)\n}\n";
        let ([first, second], _) = empty_bodies("a.go", text);
        assert!(first.contains("{ if true { return *new(int), *new(error) };"), "{first}");
        assert!(second.contains("{ if true { return 113, *new(error) };\n\treturn ask(kind)"), "{second}");
    }
}
