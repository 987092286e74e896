//! Finds the failures of tests that ask the code for something it does not have. In a run of one version's tests on
//! another version's code, such a failure says that the two do not fit, and nothing about behaviour.

/// The words of such failures, as each language's runtime or runner prints them.
const PHRASES: [&str; 22] = [
    // Python
    "ImportError",
    "ModuleNotFoundError",
    "NameError",
    "has no attribute",
    "unexpected keyword argument",
    "required positional argument",
    "positional arguments but",
    "required keyword-only argument",
    "fixture '",
    // JavaScript
    "is not a function",
    "is not defined",
    "is not a constructor",
    "does not provide an export",
    "Cannot find module",
    // Ruby
    "NoMethodError",
    "undefined local variable",
    "uninitialized constant",
    "wrong number of arguments",
    // PHP
    "Call to undefined",
    "Too few arguments",
    "Unknown named parameter",
    // Elixir
    "UndefinedFunctionError",
];

/// Returns the failing tests whose first line of failure is one of these. Each test comes with that line.
pub fn unfit(texts: &[(String, String)]) -> Vec<String> {
    let is_unfit = |(_, line): &&(String, String)| PHRASES.iter().any(|phrase| line.contains(phrase));
    texts.iter().filter(is_unfit).map(|(test, _)| test.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::unfit;

    #[test]
    fn what_the_code_does_not_have_is_no_failed_expectation() {
        let table = [
            ("ImportError: cannot import name 'add' from 'calc'", true),
            (
                "AttributeError: module 'calc' has no attribute 'add'. Did you mean: 'sub'?",
                true,
            ),
            ("TypeError: add() got an unexpected keyword argument 'base'", true),
            ("TypeError: (0 , calc_1.add) is not a function", true),
            ("NoMethodError: undefined method `add' for nil", true),
            ("Error: Call to undefined function add()", true),
            ("assert 3 == 4", false),
            ("AssertionError: expected 3 to equal 4", false),
            ("TypeError: unsupported operand type(s) for +", false),
            ("KeyError: 'a'", false),
        ];
        for (line, expected) in table {
            let texts = [("t".to_owned(), line.to_owned())];
            assert_eq!(!unfit(&texts).is_empty(), expected, "{line}");
        }
    }
}
