//! Brings the paths that plans and agents name into one spelling, and refuses those that leave the repository. It never
//! looks at the disk.

/// The longest path that a plan may name.
const LONGEST: usize = 500;

/// Returns `path` without redundant parts (`./`, doubled and final slashes), or the reason why it may not be named.
pub fn within_repository(path: &str) -> Result<String, &'static str> {
    let drive = path.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) && path.get(1..2) == Some(":");
    if path.chars().count() > LONGEST {
        return Err("is longer than 500 characters");
    }
    if path.chars().any(char::is_control) {
        return Err("has control characters");
    }
    if path.contains('\\') {
        return Err("has a backslash; paths are written with /");
    }
    if path.starts_with('/') || path.starts_with('~') || drive {
        return Err("leaves the repository: it is absolute");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err("leaves the repository: it has ..");
    }
    if parts.iter().any(|part| is_git_folder(part)) {
        return Err("is inside .git");
    }
    if parts.is_empty() { Err("names no file") } else { Ok(parts.join("/")) }
}

/// `true` for `.git` in every spelling that some file system accepts for it.
fn is_git_folder(part: &str) -> bool {
    let visible: String = part.chars().filter(|c| !is_ignored(*c)).collect();
    let name = visible.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    name == ".git" || name == "git~1" || name.starts_with(".git:")
}

/// `true` for characters that HFS+ ignores when it compares names.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_are_one() {
        for path in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/./a.rs", "src/a.rs/"] {
            assert_eq!(within_repository(path).as_deref(), Ok("src/a.rs"), "{path:?}");
        }
        for path in [".github/x", ".gitignore", "a b/é.rs", "..a/b..", "src/**"] {
            assert_eq!(within_repository(path).as_deref(), Ok(path));
        }
    }

    #[test]
    fn a_path_that_leaves_the_repository_is_refused() {
        let long = "a".repeat(501);
        let refused = [
            "",
            ".",
            "./",
            "/",
            "/etc/passwd",
            "~/x",
            "C:/x",
            "c:x",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "a\\b",
            "..\\x",
            "a\0b",
            "a\nb",
            ".git",
            ".git/config",
            "a/.GIT/hooks",
            ".git./x",
            "git~1/x",
            ".g\u{200c}it/x",
            &long,
        ];
        for path in refused {
            assert!(within_repository(path).is_err(), "{path:?}");
        }
    }
}
