//! Finds a name in a text as a word of its own.

/// `true` if a text contains a name that no letter, digit or underscore continues on either side: "a port" mentions `port`,
/// and "a report" does not.
pub fn mentions(text: &str, name: &str) -> bool {
    let is_part =
        |end: Option<char>, beyond: Option<char>| end.is_some_and(is_of_word) && beyond.is_some_and(is_of_word);
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let (before, after) = (text.get(..at), text.get(at + found.len()..));
            let before = before.and_then(|before| before.chars().next_back());
            let after = after.and_then(|after| after.chars().next());
            !is_part(name.chars().next(), before) && !is_part(name.chars().next_back(), after)
        })
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_inside_a_longer_word_is_not_mentioned() {
        let rows = [
            ("Refuse a missing port.", "port", true),
            ("Report a missing host", "port", false),
            ("portable report, then a port", "port", true),
            ("the answer is 100", "10", false),
            ("at most 10.", "10", true),
            ("run my_test", "test", false),
            ("`adds two numbers` fails", "adds two numbers", true),
            ("says \"hi\"there", "\"hi\"", true),
            ("überall", "all", false),
            ("", "a", false),
            ("a", "", false),
        ];
        for (text, name, expected) in rows {
            assert_eq!(mentions(text, name), expected, "{name} in {text}");
        }
    }
}
