//! Reads the groups of a Gemfile: gems in a group for tests or development have the key `test`.

use super::sections::{self, Line, Section};

pub(super) fn sections(text: &str) -> Option<Vec<Section<'_>>> {
    let mut is_open = false;
    sections::sections(text, |_, line| Some(read(line, &mut is_open)))
}

fn read(line: &str, is_open: &mut bool) -> Line {
    let plain = line.trim();
    if *is_open {
        // The `end` of a group is at the margin, as its first line is.
        *is_open = line.trim_end() != "end";
        return Line::Continued;
    }
    if plain.is_empty() || plain.starts_with('#') {
        return Line::Comment;
    }
    if line.starts_with([' ', '\t']) {
        return Line::Continued;
    }
    *is_open = plain.ends_with(" do");
    let names = |part: &str| part.contains(":test") || part.contains(":development");
    let is_group = plain.strip_prefix("group ").is_some_and(names);
    let options = || ["group:", "groups:"].iter().find_map(|key| plain.split_once(key));
    let is_of_tests = is_group || options().is_some_and(|(_, rest)| names(rest));
    Line::Key(vec![if is_of_tests { "test" } else { "gem" }.to_owned()])
}
