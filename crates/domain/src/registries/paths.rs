//! The paths at which a registry's packages are read.
//!
//! A path can carry a program's own text to the readers of the registry's logs. So it is short, and has the form of the
//! names that packages have.

/// The longest path, in bytes. Names of packages and files of the registries are shorter.
const MAX_PATH: usize = 512;
/// The bytes that names may have besides letters and digits.
const PUNCTUATION: &[u8] = b"-._~:@!$'()*+,=";

/// `true` if a request's target is a path that fits one of the patterns, which blanks separate. In a pattern, `*`
/// stands for one segment or a part of it, and a final `**` for one segment or more. A target with a query never fits,
/// nor does one with a segment `-` in the place of a package's name: below `-`, npm serves things that are not
/// packages.
pub(super) fn fits(target: &str, patterns: &str) -> bool {
    let Some(path) = target.strip_prefix('/').filter(|_| target.len() <= MAX_PATH) else {
        return false;
    };
    let segments: Vec<&str> = path.split('/').collect();
    let (last, before) = segments.split_last().unwrap_or((&"", &[]));
    // Only the last segment may be empty: the address of a folder ends with a slash.
    let is_plain = before.iter().all(|segment| is_name(segment)) && (last.is_empty() || is_name(last));
    is_plain && patterns.split_whitespace().any(|pattern| is_like(&segments, pattern))
}

fn is_like(segments: &[&str], pattern: &str) -> bool {
    let mut rest = segments;
    for known in pattern.trim_start_matches('/').split('/') {
        let Some((segment, after)) = rest.split_first() else {
            return false;
        };
        match known {
            "**" => return !segment.is_empty(),
            known if is_segment(segment, known) => {}
            _ => return false,
        }
        rest = after;
    }
    rest.is_empty()
}

/// `true` if a segment fits its part of a pattern.
fn is_segment(segment: &str, known: &str) -> bool {
    let Some((begin, end)) = known.split_once('*') else {
        return segment == known;
    };
    let middle = segment.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    middle.is_some_and(|middle| !middle.is_empty()) && segment != "-"
}

/// `true` if a segment is one name, as every reader understands it.
fn is_name(segment: &str) -> bool {
    decoded(segment).is_some_and(|name| name.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// Returns a path without encoded characters. Only those of names may be encoded, and the slash in a name of npm's with a
/// scope (`@scope%2fname`).
pub(super) fn decoded(path: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || PUNCTUATION.contains(&byte);
    let is_scoped = path.starts_with('@');
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, after) = part.split_at_checked(2)?;
        let byte = u8::from_str_radix(code, 16).ok().filter(|_| !code.starts_with('+'))?;
        let is_fine = is_plain(byte) || byte == b'/' && is_scoped;
        decoded.push(is_fine.then(|| char::from(byte))?);
        decoded.push_str(after);
    }
    decoded.bytes().all(|byte| is_plain(byte) || byte == b'/').then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::fits;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_fits_whole_segments() {
        let table = [
            ("/simple/a/", "/simple/*/", true),
            ("/simple/a", "/simple/*/", false),
            ("/simple//", "/simple/*/", false),
            ("/simple/", "/simple/", true),
            ("/a/b/c", "/a/**", true),
            ("/a/", "/a/**", false),
            ("/a", "/a/**", false),
            ("/a/b", "/*", false),
            ("/@s%2fb", "/*", true),
            ("/@s%2Fb", "/*", true),
            ("/a-1.0%2Bcpu.whl", "/*", true),
            ("/x", "/a /x /b", true),
            ("/std@1/x", "/std@*/**", true),
            ("/std@/x", "/std@*/**", false),
            ("/1_meta.json", "/*_meta.json", true),
            ("/_meta.json", "/*_meta.json", false),
        ];
        for (target, patterns, expected) in table {
            assert_eq!(fits(target, patterns), expected, "{target} {patterns}");
        }
    }

    #[test]
    fn what_readers_could_understand_in_two_ways_fits_nothing() {
        let long = format!("/{}", "a".repeat(512));
        let odd =
            ["/..", "/.", "/a/../b", "/%2e%2e", "/%2e", "/a//b", "/a%2fb", "/a%00", "/a%0a", "/a%", "/a%2", "/a%+1"];
        let more = [
            "/a?b",
            "/a#b",
            "/a b",
            "/a\\b",
            "/%c3%a4",
            "/\u{e4}",
            "",
            "a",
            "*",
            "http://a/b",
            "/%25",
            "/@s%2f%2e%2e%5c",
        ];
        for target in odd.into_iter().chain(more).chain([long.as_str()]) {
            assert!(!fits(target, "/** /"), "{target}");
        }
    }

    proptest! {
        #[test]
        fn what_fits_is_a_short_path_of_names(target in "/?[a-z@%2f./?!~-]{0,20}") {
            if fits(&target, "/**") {
                prop_assert!(target.starts_with('/') && !target.contains("//") && !target.contains('?'));
                prop_assert!(target.split('/').all(|part| part != ".." && part != "."));
            }
        }
    }
}
