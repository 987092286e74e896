//! Recognises the ways in which agents write a path: with `./`, with backslashes, with the checkout's folder before it,
//! with a line number after it, or in quotes.

const LONGEST: usize = 1_000;

/// Returns the paths that `claimed` may mean, relative to the repository, the most literal first.
pub(super) fn spellings(claimed: &str) -> Vec<String> {
    let claimed: String = claimed.trim().chars().take(LONGEST).collect();
    let mut found = Vec::new();
    let first_word = claimed.split_whitespace().next().unwrap_or_default();
    for text in [claimed.as_str(), first_word] {
        let bare = bare(text);
        for text in [bare, without_line(bare)] {
            for path in relative(text) {
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
    }
    found
}

fn bare(text: &str) -> &str {
    text.trim_matches(['`', '"', '\'', '*', '(', ')', '[', ']', '<', '>', ',', ';'])
}

/// Removes a line number: `src/a.rs:12`, `src/a.rs:12:3` and `src/a.rs#L12` become `src/a.rs`.
fn without_line(text: &str) -> &str {
    let text = text.split("#L").next().unwrap_or_default();
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == '-');
    let mut text = text;
    while let Some((path, line)) = text.rsplit_once(':')
        && digits(line)
    {
        text = path;
    }
    text.trim_end_matches([':', '.'])
}

/// Returns the path within the repository; for an absolute path, every ending of it that may be meant.
fn relative(text: &str) -> Vec<String> {
    let is_drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_absolute = text.starts_with(['/', '\\', '~']) || is_drive;
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let tails = 0..if is_absolute { parts.len() } else { 1 };
    let mut found: Vec<String> = tails.filter_map(|at| parts.get(at..).map(|rest| rest.join("/"))).collect();
    // The `a/` and `b/` of a diff's headers.
    if let ["a" | "b", rest @ ..] = parts.as_slice()
        && !rest.is_empty()
    {
        found.push(rest.join("/"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::spellings;

    #[test]
    fn each_spelling_leads_to_the_path() {
        for spelled in [
            "src/a.rs",
            "./src//a.rs",
            "src\\a.rs",
            "src/b/../a.rs",
            "/tmp/w/src/a.rs",
            "C:\\work\\src\\a.rs",
            "`src/a.rs`",
            "src/a.rs:12",
            "src/a.rs:12:3",
            "src/a.rs#L12-L14",
            "src/a.rs (new)",
            "b/src/a.rs",
            " src/a.rs/ ",
        ] {
            assert!(spellings(spelled).contains(&"src/a.rs".to_owned()), "{spelled}");
        }
        for spelled in ["a.rs", "rc/a.rs", "src/a.rsx", "", "...", "/"] {
            assert!(!spellings(spelled).contains(&"src/a.rs".to_owned()), "{spelled}");
        }
    }
}
