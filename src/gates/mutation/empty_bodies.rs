//! Extreme mutation: runs the new tests with the body of every function that the change adds emptied; in a task for
//! tests, of every function that the tests name. If all of them still pass, they are pseudo-tested.
//!
//! A function that the change rewrites gets its old body back instead of an empty one. That a test fails on the old
//! body was already shown, and is evidence even if the test would pass with an empty body.

use crate::gates::{
    change::{Change, is_document, is_of_tests, lossy, text},
    mutation::{
        code::{Code, Put, emptied},
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious, Witness},
    },
    said::list,
};
use domain::{integrity::Rule, plan::TaskType};
use integrity::{
    FileChange, Version, language,
    language::{
        Role,
        bodies::{Body, ExecutableCode, with_empty_bodies},
        capture::Fact,
        file_name,
        outline::Mark,
    },
};
use std::collections::BTreeSet;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "empty bodies",
    applies: |facts| facts.asks_for_tests() && !facts.tests.new.is_empty(),
    needs: |facts| match facts.kind == TaskType::Testing {
        true => Material::Code,
        false => Material::Change,
    },
    mutants: |facts, code| match facts.kind == TaskType::Testing {
        true => of_named(facts, code),
        false => of_brought(facts),
    },
    rule: Rule::PseudoTested,
};

/// Empties the functions that the change adds.
fn of_brought(facts: &Facts) -> Option<Mutants> {
    let (change, tests) = (&facts.change, &facts.tests);
    let is_of_interest: fn(&Other) -> bool = match facts.witness {
        // The run on the base already tried the tests with the old bodies of rewritten functions.
        Witness::Seen => |other| other.is_new,
        // No new test failed on the base, and another finding already says so.
        Witness::NotSeen => return None,
        Witness::Unknown => |_| true,
    };
    let brought = Brought::of(facts, is_of_interest)?;
    let mut suspects: BTreeSet<String> = tests.new.iter().cloned().collect();
    if facts.witness == Witness::Unknown {
        // The tests could not run on the base: only those that name a function of the change are surely about it.
        suspects.retain(|name| brought.is_named_in(change, name));
    }
    let others = tests.changed.iter().chain(&tests.unplaced).cloned().collect();
    let what = match brought.names.len() {
        1 => "the function",
        _ => "every function",
    };
    let does = match brought.is_new {
        true => "brings does nothing",
        false => "writes does nothing new",
    };
    let first = &brought.first;
    let says = format!("passes even if {what} that this change {does} ({first}): it checks nothing of it");
    mutants(suspects, others, brought.versions, says)
}

/// Empties the functions that the new tests name.
fn of_named(facts: &Facts, code: Vec<Code>) -> Option<Mutants> {
    let sites = facts.tests.new.iter().flat_map(|name| facts.change.after.find(name));
    let words: BTreeSet<String> = sites.flat_map(|site| site.words.iter().cloned()).collect();
    let (mut both, mut files) = ([Vec::new(), Vec::new()], Vec::new());
    for file in code {
        if let Some(texts) = emptied(&file.path, &file.text, &words) {
            for (version, text) in both.iter_mut().zip(&texts) {
                version.push(file.put(text));
            }
            files.push(file.path);
        }
    }
    let files_named = list(&files);
    let says = format!("passes even if every function that the new tests name in {files_named} does nothing");
    let suspects = facts.tests.new.iter().cloned().collect();
    (!files.is_empty()).then(|| mutants(suspects, Vec::new(), both.into(), says))?
}

fn mutants(
    suspects: BTreeSet<String>,
    others: Vec<String>,
    mut versions: Vec<Vec<Put>>,
    says: String,
) -> Option<Mutants> {
    versions.dedup();
    let mutants = versions.into_iter();
    let way = mutants.map(|files| Mutant::new(files, Suspicious::Passing));
    (!suspects.is_empty()).then(|| Mutants {
        suspects,
        others,
        found: Found::All,
        ways: vec![way.collect()],
        says,
    })
}

/// The functions that a change adds or rewrites.
struct Brought {
    /// The changed files with emptied functions, once for each of two return values.
    versions: Vec<Vec<Put>>,
    /// The names of the functions of interest.
    names: BTreeSet<String>,
    /// The first of these functions and its place, for a sentence.
    first: String,
    /// Whether all of these functions are new.
    is_new: bool,
}

impl Brought {
    /// Empties the functions that the change adds; `None` if that is not possible for all of them, or none is of
    /// interest.
    fn of(facts: &Facts, is_of_interest: fn(&Other) -> bool) -> Option<Self> {
        let change = &facts.change;
        let sources: Vec<&FileChange> = change.of_role(Role::Source).collect();
        if change.of_role(Role::Other).any(|file| !is_read_by_no_code(file)) {
            return None;
        }
        let code = |side: fn(&FileChange) -> &Version| -> Option<Vec<ExecutableCode>> {
            let all = sources.iter().map(|file| executable_code(&file.path, side(file)));
            all.collect()
        };
        let (before, after) = (code(|file| &file.before)?, code(|file| &file.after)?);
        if !says_only_to_itself(change, (&before, &after)) {
            return None;
        }
        let known = before.iter().flat_map(|code| &code.bodies);
        let known: BTreeSet<&[String]> = known.map(|body| body.words.as_slice()).collect();
        let mut others: Vec<(&FileChange, Vec<Other>)> = Vec::new();
        for (file, (before, after)) in sources.iter().zip(before.iter().zip(&after)) {
            let is_other = |body: &&Body| !known.contains(body.words.as_slice()) && !is_test(facts, file, body);
            let bodies = after.bodies.iter().filter(is_other);
            let here: Vec<Other> = bodies.map(|body| Other::of(body, (before, after), file)).collect();
            others.extend((!here.is_empty()).then_some((*file, here)));
        }
        let all = others
            .iter()
            .flat_map(|(file, others)| others.iter().map(|other| (&file.path, other)));
        let wanted: Vec<(&String, &Other)> = all.filter(|(_, other)| is_of_interest(other)).collect();
        let (file, first) = wanted.first()?;
        let names = wanted.iter().map(|(_, other)| other.body.name.clone());
        Some(Self {
            versions: vec![version(change, &others, 0)?, version(change, &others, 1)?],
            first: format!("`{}`, {file}:{}", first.body.name, first.body.line),
            names: names.filter(|name| !name.is_empty()).collect(),
            is_new: wanted.iter().all(|(_, other)| other.is_new),
        })
    }

    /// `true` if the test's own words name a function of interest.
    fn is_named_in(&self, change: &Change, test: &str) -> bool {
        let sites = change.after.find(test);
        let mut words = sites.iter().flat_map(|site| &site.words);
        words.any(|word| self.names.contains(word))
    }
}

/// `true` if a function in a source file is one of the change's tests.
fn is_test(facts: &Facts, file: &FileChange, body: &Body) -> bool {
    let after = &facts.change.after;
    let before = file.after.bytes().and_then(|bytes| bytes.get(..body.range.start));
    let lines = before.unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
    let line = u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1);
    let Some(begins) = after.test_around(&file.path, line) else {
        return false;
    };
    let tests = facts.tests.new.iter().chain(&facts.tests.changed);
    let mut sites = tests.flat_map(|name| after.find(name));
    sites.any(|site| site.path == file.path && site.line == begins)
}

/// A function that differs from before.
struct Other {
    /// The function, with what replaces its body.
    body: Body,
    /// Whether the function is new, or did nothing before. Then its body is emptied; otherwise it gets its old body.
    is_new: bool,
}

impl Other {
    fn of(body: &Body, (before, after): (&ExecutableCode, &ExecutableCode), file: &FileChange) -> Self {
        // Two functions may share a name, such as a property's getter and setter.
        let others = |of: &'_ ExecutableCode, than: &'_ ExecutableCode| -> Vec<Body> {
            let named = of.bodies.iter().filter(|one| one.name == body.name);
            let is_another = |one: &&Body| than.bodies.iter().all(|other| other.words != one.words);
            named.filter(is_another).cloned().collect()
        };
        let was = match (others(before, after).as_slice(), others(after, before).as_slice()) {
            ([was], [_]) if !body.name.is_empty() => text_of(was, file),
            _ => None,
        };
        let (mut body, is_new) = (body.clone(), was.is_none());
        if let Some(was) = was {
            body.empty_bodies = [was.to_owned(), was.to_owned()];
        }
        Self { body, is_new }
    }
}

/// Returns the text of a body before the change; `None` if it was a stub.
fn text_of<'a>(body: &Body, file: &'a FileChange) -> Option<&'a str> {
    let text = text(&file.before)?;
    let marks = language::read(&file.path, text)?.marks;
    let was = text.get(body.range.clone())?;
    let last = body.line.saturating_add(u32::try_from(was.lines().count()).ok()?);
    let is_unwritten =
        |mark: &Mark| matches!(mark.fact, Fact::Stub | Fact::Empty) && (body.line..=last).contains(&mark.line);
    (!marks.iter().any(is_unwritten)).then_some(was)
}

/// Returns the functions and values of a version of a file: nothing if the file is absent, `None` if it cannot be
/// parsed.
fn executable_code(path: &str, version: &Version) -> Option<ExecutableCode> {
    match version {
        Version::Absent => Some(ExecutableCode::default()),
        Version::Bytes(_) | Version::Unread(_) => language::executable_code(path, text(version)?),
    }
}

/// `true` if no code reads the file: documents, lock files, settings of tools, and empty marker files.
fn is_read_by_no_code(file: &FileChange) -> bool {
    let (path, name) = (&file.path, file_name(&file.path));
    let ends = [".lock", "-lock.json", "-lock.yaml"];
    let is_of_a_tool = name.starts_with('.') && !name.starts_with(".env");
    let is_blank = |version: &Version| *version == Version::Absent || version.bytes().is_some_and(<[u8]>::is_empty);
    let is_marker = is_blank(&file.before) && is_blank(&file.after);
    is_document(path) || is_of_a_tool || is_marker || ends.iter().any(|end| path.ends_with(end))
}

/// `true` if only the change's functions can use the values that it adds outside functions: each is new and named, and
/// no test mentions its name.
fn says_only_to_itself(change: &Change, (before, after): (&[ExecutableCode], &[ExecutableCode])) -> bool {
    let old: Vec<_> = before.iter().flat_map(|code| &code.values).collect();
    let mut new = after.iter().flat_map(|code| &code.values);
    new.all(|value| {
        let is_old = old.iter().any(|old| old.words == value.words);
        let is_new = || !old.iter().any(|old| old.name == value.name);
        let is_unseen = |name: &String| is_new() && !is_in_tests(change, name);
        is_old || value.name.as_ref().is_some_and(is_unseen)
    })
}

fn is_in_tests(change: &Change, name: &str) -> bool {
    let no_word = |c: char| !c.is_alphanumeric() && c != '_';
    let names_it = |file: &FileChange| lossy(&file.after).split(no_word).any(|word| word == name);
    let in_tests = || change.after.all_words().flatten().any(|word| word == name);
    change
        .files
        .iter()
        .any(|file| is_of_tests(&file.path) && names_it(file))
        || in_tests()
}

/// Returns the changed files with their functions replaced; `which` selects one of two return values.
fn version(change: &Change, others: &[(&FileChange, Vec<Other>)], which: usize) -> Option<Vec<Put>> {
    let put = |(file, others): &(&FileChange, Vec<Other>)| {
        let bodies: Vec<&Body> = others.iter().map(|other| &other.body).collect();
        let emptied = with_empty_bodies(text(&file.after)?, &bodies, which)?;
        Some((file.path.clone(), emptied.into_bytes(), change.mode(&file.path)?))
    };
    others.iter().map(put).collect()
}

#[cfg(test)]
mod tests {
    use super::{Other, executable_code, with_empty_bodies};
    use integrity::{FileChange, Version};

    #[test]
    fn what_sets_a_property_is_not_what_reads_it() {
        let text = |set: &str| {
            format!(
                "module.exports = {{\n  get body () {{\n    return this._body\n  }},\n  set body (value) {{\n    {set}\n  }}\n}}\n"
            )
        };
        let version = |set: &str| Version::Bytes(text(set).into_bytes());
        let file = FileChange {
            path: "lib/response.js".to_owned(),
            before: version("this._body = value"),
            after: version("this._body = value.end()"),
        };
        let [was, is] = [&file.before, &file.after].map(|version| executable_code(&file.path, version).unwrap());
        let other = Other::of(is.bodies.last().unwrap(), (&was, &is), &file);
        let put = with_empty_bodies(&text("this._body = value.end()"), &[&other.body], 0).unwrap();
        assert_eq!(put, text("this._body = value"));
    }

    #[test]
    fn a_rewritten_function_does_what_it_did_and_one_that_is_brought_does_nothing() {
        let after = "def is_large(a):\n    return a >= 10\n";
        let table = [
            (
                "def is_large(a, b):\n    return a > 10\n",
                "def is_large(a):\n    return a > 10\n",
            ),
            ("", "def is_large(a):\n    return None\n"),
            (
                "def is_large(a):\n    raise NotImplementedError\n",
                "def is_large(a):\n    return None\n",
            ),
            (
                "class A:\n    def is_large(self):\n        return 1\n\n\nclass B:\n    def is_large(self):\n        return 2\n",
                "def is_large(a):\n    return None\n",
            ),
        ];
        for (before, expected) in table {
            let bytes = |text: &str| Version::Bytes(text.as_bytes().to_vec());
            let file = FileChange {
                path: "sizes.py".to_owned(),
                before: bytes(before),
                after: bytes(after),
            };
            let [was, is] = [&file.before, &file.after].map(|version| executable_code(&file.path, version).unwrap());
            let other = Other::of(is.bodies.first().unwrap(), (&was, &is), &file);
            let put = with_empty_bodies(after, &[&other.body], 0).unwrap();
            assert_eq!(put, expected, "{before}");
        }
    }
}
