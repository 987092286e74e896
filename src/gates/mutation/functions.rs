//! The functions that an experiment breaks, and the files in which they are broken.

use crate::gates::{
    change::{Change, text},
    code::{SourceCode, code},
    mutation::Facts,
    run::{
        context::{GateError, host},
        overlay::FileToWrite,
    },
    turn::Run,
};
use domain::plan::TaskType;
use git::blocking;
use integrity::{
    FileChange, FileContent, language,
    language::{
        Role,
        bodies::{Body, ExecutableCode, with_empty_bodies},
    },
};
use std::{collections::BTreeSet, sync::Arc};

#[derive(Debug, Default)]
pub(super) struct Functions {
    files: Vec<SourceCode>,
    pub(super) all: Vec<Function>,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) path: String,
    pub(super) body: Body,
}

impl Function {
    /// Returns its place and name, for people.
    pub(super) fn place(&self) -> String {
        format!("{}:{} {}", self.path, self.body.line, self.body.name)
    }
}

/// Which of the two emptied bodies is put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutant {
    First,
    Second,
}

/// Returns the functions that the change adds or rewrites; in a task for tests, those that the tests name, or all if they
/// name none.
pub(super) async fn functions(run: &Run<'_>, facts: &Facts) -> Result<Functions, GateError> {
    if facts.kind != TaskType::Testing {
        let change = Arc::clone(&facts.change);
        let reading = blocking(move || Functions::of_change(&change)).await;
        return reading.map_err(|error| host("preparing an experiment")(error.into()));
    }
    let sites = facts.tests.iter().flat_map(|name| facts.change.after.find(name));
    let words: BTreeSet<String> = sites.flat_map(|site| site.words.iter().cloned()).collect();
    let files = code(run).await?;
    let reading = blocking(move || Functions::find_named(files, &words)).await;
    reading.map_err(|error| host("preparing an experiment")(error.into()))
}

impl Functions {
    fn of_change(change: &Change) -> Self {
        let sources: Vec<&FileChange> = change.of_role(Role::Source).collect();
        let read = |file: &FileChange, version: &FileContent| {
            let code = text(version).and_then(|text| language::executable_code(&file.path, text));
            code.unwrap_or_default().bodies
        };
        let before = sources.iter().flat_map(|file| read(file, &file.before)).collect();
        let after = sources.iter().flat_map(|file| {
            let bodies = read(file, &file.after).into_iter();
            let own = bodies.filter(|body| !is_of_test(change, file, body));
            own.map(|body| Function { path: file.path.clone(), body })
        });
        let all = without_kept(after.collect(), before);
        let code = |file: &&FileChange| {
            Some(SourceCode {
                path: file.path.clone(),
                text: text(&file.after)?.to_owned(),
                mode: change.mode(&file.path)?,
            })
        };
        Self { files: sources.iter().filter_map(code).collect(), all }
    }

    fn find_named(files: Vec<SourceCode>, words: &BTreeSet<String>) -> Self {
        let mut functions = Self::all_of(files);
        let is_named = |function: &Function| words.contains(&function.body.name);
        if functions.all.iter().any(is_named) {
            functions.all.retain(is_named);
        }
        functions
    }

    /// Takes all functions of these files.
    pub(super) fn all_of(files: Vec<SourceCode>) -> Self {
        let bodies = |file: &SourceCode| {
            let code = language::executable_code(&file.path, &file.text).unwrap_or_default();
            let ExecutableCode { bodies, .. } = code;
            let path = file.path.clone();
            bodies.into_iter().map(move |body| Function { path: path.clone(), body })
        };
        let all = files.iter().flat_map(bodies).collect();
        Self { files, all }
    }

    pub(super) fn emptied(&self, wanted: &[Function], form: Mutant) -> Vec<FileToWrite> {
        let which = match form {
            Mutant::First => 0,
            Mutant::Second => 1,
        };
        self.rewritten(wanted, |file, bodies| with_empty_bodies(&file.text, bodies, which))
    }

    /// Returns the files with these functions returning another value of the same type, and the same with nothing
    /// returned.
    pub(super) fn other_values(&self, wanted: &[Function]) -> [Vec<FileToWrite>; 2] {
        [0, 1].map(|which: usize| {
            self.rewritten(wanted, |file, bodies| {
                let names = bodies.iter().map(|body| body.name.clone()).collect();
                let both = language::change_return_values(&file.path, &file.text, &names)?;
                both.into_iter().nth(which)
            })
        })
    }

    fn rewritten(
        &self,
        wanted: &[Function],
        write: impl Fn(&SourceCode, &[&Body]) -> Option<String>,
    ) -> Vec<FileToWrite> {
        let write_file = |file: &SourceCode| {
            let here = wanted.iter().filter(|function| function.path == file.path);
            let mut bodies: Vec<&Body> = here.map(|function| &function.body).collect();
            bodies.sort_by_key(|body| body.range.start);
            let written = (!bodies.is_empty()).then(|| write(file, &bodies)).flatten()?;
            Some(file.with_text(&written))
        };
        self.files.iter().filter_map(write_file).collect()
    }
}

/// Returns the functions that the base does not have: neither under their name, nor, moved or renamed, with their body.
fn without_kept(mut after: Vec<Function>, mut before: Vec<Body>) -> Vec<Function> {
    for is_same in [
        |old: &Body, new: &Body| old.name == new.name && old.code == new.code,
        |old: &Body, new: &Body| old.code == new.code,
    ] {
        after.retain(|new| {
            let kept = before.iter().position(|old| is_same(old, &new.body));
            kept.map(|at| before.swap_remove(at)).is_none()
        });
    }
    after
}

fn is_of_test(change: &Change, file: &FileChange, body: &Body) -> bool {
    let above = file.after.bytes().and_then(|bytes| bytes.get(..body.range.start));
    let lines = above.unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
    let line = u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1);
    change.after.test_around(&file.path, line).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Function, Functions, Mutant, without_kept};
    use crate::gates::{code::SourceCode, run::overlay::FileToWrite};
    use integrity::language;

    fn bodies(text: &str) -> Vec<Function> {
        let code = language::executable_code("a.py", text).unwrap();
        let function = |body| Function { path: "a.py".to_owned(), body };
        code.bodies.into_iter().map(function).collect()
    }

    #[test]
    fn functions_that_moved_or_were_renamed_are_kept() {
        let before = "def a():\n    return 1\n\ndef b(x):\n    return x\n\ndef c():\n    return 3\n";
        let table = [
            (before, &[][..]),
            ("def b(y: int):\n    return x\n\ndef a():\n    return 1\n", &[]),
            ("def z():\n    return 3\n", &[]),
            ("def c():\n    return 3\n\ndef again():\n    return 3\n", &["again"]),
            ("def a():\n    return 2\n\ndef c():\n    # why\n    return 3\n", &["a"]),
            ("def d():\n    pass\n\ndef e():\n    \"\"\"Doc.\"\"\"\n    raise NotImplementedError\n", &[]),
        ];
        for (after, expected) in table {
            let before = bodies(before).into_iter().map(|function| function.body).collect();
            let left = without_kept(bodies(after), before);
            let names: Vec<&str> = left.iter().map(|function| function.body.name.as_str()).collect();
            assert_eq!(names, expected, "{after}");
        }
    }

    #[test]
    fn only_the_wanted_functions_are_broken() {
        let text = "def a():\n    return 1\n\ndef b():\n    return 2\n";
        let file = SourceCode { path: "a.py".to_owned(), text: text.to_owned(), mode: 0o100_644 };
        let functions = Functions::find_named(vec![file], &["b".to_owned()].into());
        let text_of = |files: Vec<FileToWrite>| String::from_utf8(files[0].bytes.clone()).unwrap();
        let emptied = text_of(functions.emptied(&functions.all, Mutant::First));
        assert_eq!(emptied, text.replace("return 2", "return None"));
        let [other, nothing] = functions.other_values(&functions.all).map(text_of);
        assert!(other.starts_with(text) && nothing.starts_with(text) && other != nothing);
    }
}
