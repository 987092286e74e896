//! The attributes of files, from the `.gitattributes` files of a commit. The attributes of the system, of a person and
//! of a repository's `info` folder never apply.

use crate::{error::GitError, names::RepoPath, process::GitCall, quote::unquoted, read::read_blobs};
use ignore::gitignore::GitignoreBuilder;
use std::{collections::BTreeSet, path::Path};

/// The name of a file with attributes.
const FILE: &[u8] = b".gitattributes";
/// The limit on all attribute files that are read to find one rule, in bytes.
const RULES_CAP: usize = 16 << 20;
/// The most files whose attributes are read at once.
const AT_ONCE: usize = 10_000;
/// The attributes that concern a file's bytes.
const NAMES: [&str; 6] = ["text", "eol", "crlf", "working-tree-encoding", "ident", "filter"];

/// The attributes of one file that concern its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// `true` if git may replace CR LF by LF on the way in.
    normalizes_lines: bool,
    /// `true` if git writes CR LF on the way out.
    writes_crlf: bool,
    ident: bool,
    pub(crate) encoding: Option<String>,
    /// The program that stores the file's content in its own form.
    pub(crate) filter: Option<String>,
}

impl Attributes {
    fn set(&mut self, name: &str, value: &str) {
        let is_given = !matches!(value, "unspecified" | "unset");
        match name {
            "text" | "crlf" => self.normalizes_lines |= is_given,
            "eol" => {
                self.normalizes_lines |= is_given;
                self.writes_crlf = value == "crlf";
            }
            "ident" => self.ident = is_given,
            "working-tree-encoding" => self.encoding = is_given.then(|| value.to_owned()),
            "filter" => self.filter = (is_given && value != "set").then(|| value.to_owned()),
            _ => {}
        }
    }

    /// `true` if bytes of a work tree may be stored as other bytes.
    pub(crate) fn convert_in(&self, bytes: &[u8]) -> bool {
        self.encoding.is_some() || self.normalizes_lines && bytes.contains(&b'\r') || self.expands(bytes)
    }

    /// `true` if stored bytes may appear as other bytes in a work tree.
    pub(crate) fn convert_out(&self, bytes: &[u8]) -> bool {
        self.encoding.is_some() || self.writes_crlf && bytes.contains(&b'\n') || self.expands(bytes)
    }

    /// `true` if line ends and `$Id$` are treated as `other` treats them.
    pub(crate) fn converts_like(&self, other: &Self) -> bool {
        (self.normalizes_lines, self.ident) == (other.normalizes_lines, other.ident)
    }

    fn expands(&self, bytes: &[u8]) -> bool {
        self.ident && bytes.windows(3).any(|word| word == b"$Id")
    }
}

pub(crate) fn is_attributes_file(path: &RepoPath) -> bool {
    path.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(FILE)
}

/// Returns the attributes of each path, in order. They are those of `source`, a commit or a tree.
pub(crate) async fn attributes(git_dir: &Path, source: &str, paths: &[&RepoPath]) -> Result<Vec<Attributes>, GitError> {
    let mut all = Vec::with_capacity(paths.len());
    for paths in paths.chunks(AT_ONCE) {
        all.extend(attributes_of(git_dir, source, paths).await?);
    }
    Ok(all)
}

async fn attributes_of(git_dir: &Path, source: &str, paths: &[&RepoPath]) -> Result<Vec<Attributes>, GitError> {
    let mut all = vec![Attributes::default(); paths.len()];
    let lines: Vec<u8> = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    let call = GitCall::with_attributes(git_dir, source, "check-attr").args(["--stdin", "-z"]);
    let output = call.args(NAMES).stdin(lines).ok().await?;
    let unexpected = || GitError::unexpected("check-attr", "a line");
    let fields: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    // Three fields each: the path, the attribute and its value.
    for (at, line) in fields.chunks_exact(3).enumerate() {
        let [_, name, value] = line else {
            return Err(unexpected());
        };
        let own = at.checked_div(NAMES.len()).and_then(|at| all.get_mut(at));
        let own = own.ok_or_else(unexpected)?;
        own.set(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value));
    }
    Ok(all)
}

/// A line of a `.gitattributes` file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributeRule {
    pub file: RepoPath,
    /// The line number, from 1.
    pub line: usize,
}

impl std::fmt::Display for AttributeRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Returns the place of the rule, or the name of the files with such rules if it was not found.
pub fn rule_or_file(rule: Option<&AttributeRule>) -> String {
    rule.map_or_else(|| ".gitattributes".to_owned(), ToString::to_string)
}

/// Returns the line that gives each of these paths the attribute `name`, in order; `None` if it is not found.
pub(crate) async fn rules(
    git_dir: &Path,
    source: &str,
    paths: &[&RepoPath],
    name: &str,
) -> Result<Vec<Option<AttributeRule>>, GitError> {
    let top = RepoPath::new(Vec::new());
    let folders = paths.iter().flat_map(|path| path.folders());
    let folders: BTreeSet<RepoPath> =
        folders.chain([top.clone()]).filter(|folder| !folder.as_bytes().contains(&b'\n')).collect();
    let specs = folders.iter().map(|folder| format!("{source}:{}", folder.join(FILE)));
    let specs: Vec<String> = specs.collect();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let texts = read_blobs(git_dir, &specs, RULES_CAP).await?;
    let files: Vec<(RepoPath, String)> = folders
        .into_iter()
        .zip(texts)
        .filter(|(_, text)| !text.is_empty())
        .map(|(folder, text)| (folder, String::from_utf8_lossy(&text).into_owned()))
        .collect();
    let macros = files.iter().find(|(folder, _)| *folder == top).map(|(_, text)| macros(text, name));
    let macros = macros.unwrap_or_default();
    Ok(paths.iter().map(|path| rule(&files, path, name, &macros)).collect())
}

/// Returns the words that set `name` on a line: the name itself, and macros that contain it.
fn macros<'a>(text: &'a str, name: &str) -> BTreeSet<&'a str> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("[attr]"));
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for line in lines {
        let mut words = line.split_ascii_whitespace();
        let Some(own) = words.next() else { continue };
        if words.any(|word| attribute_of(word) == name || found.contains(&attribute_of(word))) {
            found.insert(own);
        }
    }
    found
}

/// Returns the attribute that a word of a line concerns.
fn attribute_of(word: &str) -> &str {
    let word = word.trim_start_matches(['-', '!']);
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Returns the numbers of the lines that give the attribute `name` a value, and the values.
pub(crate) fn lines_with(text: &str, name: &str) -> Vec<(usize, String)> {
    let given = |(at, line): (usize, &str)| {
        let line = line.trim();
        let mut words = line.split_ascii_whitespace().skip(1).filter(|_| !line.starts_with('#'));
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        Some((at.saturating_add(1), value.to_owned()))
    };
    text.lines().enumerate().filter_map(given).collect()
}

/// Returns the last matching line of the nearest folder that has one.
fn rule(files: &[(RepoPath, String)], path: &RepoPath, name: &str, macros: &BTreeSet<&str>) -> Option<AttributeRule> {
    let concerns = |word: &str| attribute_of(word) == name || macros.contains(&attribute_of(word));
    let mut above: Vec<RepoPath> = path.folders().collect();
    above.insert(0, RepoPath::new(Vec::new()));
    for folder in above.into_iter().rev() {
        let Some((_, text)) = files.iter().find(|(own, _)| *own == folder) else {
            continue;
        };
        let length = folder.as_bytes().len();
        let start = if length == 0 { 0 } else { length.saturating_add(1) };
        let relative = RepoPath::new(path.as_bytes().get(start..).unwrap_or_default());
        let line = text.lines().enumerate().filter(|(_, line)| {
            let Some((pattern, words)) = pattern(line) else {
                return false;
            };
            words.split_ascii_whitespace().any(concerns) && matches(&pattern, &relative)
        });
        if let Some((at, _)) = line.last() {
            return Some(AttributeRule { file: folder.join(FILE), line: at.saturating_add(1) });
        }
    }
    None
}

/// Splits a line into its pattern and its attributes.
fn pattern(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    if line.starts_with(['#', '!']) || line.starts_with("[attr]") {
        return None;
    }
    if let Some(rest) = line.strip_prefix('"') {
        let end = rest.rfind('"')?;
        let (quoted, words) = line.split_at(end.checked_add(2)?);
        return Some((String::from_utf8_lossy(&unquoted(quoted.as_bytes())).into_owned(), words));
    }
    let (pattern, words) = line.split_once([' ', '\t'])?;
    Some((pattern.to_owned(), words))
}

fn matches(pattern: &str, path: &RepoPath) -> bool {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let rules = match builder.add_line(None, pattern) {
        Ok(builder) => builder.build(),
        Err(error) => Err(error),
    };
    rules.is_ok_and(|rules| rules.matched(path.as_path(), false).is_ignore())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_the_last_matching_line_of_the_nearest_folder() {
        let files = [
            ("", "# filter=lfs\n*.bin filter=lfs -text\n[attr]big filter=lfs\n/data/** big\n\"a b.x\" filter=y\n"),
            ("data", "*.txt -filter\n*.csv text\n"),
        ];
        let files = files.map(|(folder, text)| (RepoPath::from(folder), text.to_owned()));
        let macros = macros(&files[0].1, "filter");
        let rule = |path: &str| rule(&files, &RepoPath::from(path), "filter", &macros).map(|rule| rule.to_string());
        assert_eq!(rule("x/y.bin").as_deref(), Some(".gitattributes:2"));
        assert_eq!(rule("data/y.csv").as_deref(), Some(".gitattributes:4"));
        assert_eq!(rule("data/y.txt").as_deref(), Some("data/.gitattributes:1"));
        assert_eq!(rule("a b.x").as_deref(), Some(".gitattributes:5"));
        assert_eq!(rule("y.rs"), None);
    }

    #[test]
    fn lines_with_a_value_are_found() {
        let text = "# *.x filter=a\n*.bin  filter=lfs -text\n*.rs text\n*.y -filter\n[attr]z filter=crypt\n";
        assert_eq!(lines_with(text, "filter"), [(2, "lfs".to_owned()), (5, "crypt".to_owned())]);
    }

    #[test]
    fn only_bytes_that_may_change_are_converted() {
        let of = |given: &[(&str, &str)]| {
            let mut all = Attributes::default();
            given.iter().for_each(|(name, value)| all.set(name, value));
            all
        };
        let auto = of(&[("text", "auto"), ("eol", "unspecified")]);
        assert!(auto.convert_in(b"a\r\n") && !auto.convert_in(b"a\n") && !auto.convert_out(b"a\n"));
        let crlf = of(&[("text", "unspecified"), ("eol", "crlf")]);
        assert!(crlf.convert_in(b"a\r\n") && crlf.convert_out(b"a\n") && !crlf.convert_out(b"a"));
        let ident = of(&[("ident", "set")]);
        assert!(ident.convert_in(b"$Id: 1 $") && ident.convert_out(b"$Id$") && !ident.convert_out(b"id"));
        assert!(of(&[("working-tree-encoding", "UTF-16")]).convert_in(b""));
        assert_eq!(of(&[("text", "unset"), ("filter", "unset")]), Attributes::default());
    }
}
