//! What the commands of a plan, of the settings and of CI run, if the change alters it: such a command may no longer say
//! what it said.

use crate::gates::{
    change::Change,
    run::{
        context::{GateError, host},
        overlay::Revision,
    },
    turn::Run,
};
use domain::{
    ids::Sha,
    integrity::{Author, Detail, IntegrityFinding, Rule},
    plan::Check,
};
use git::{Blob, Mirror, blocking};
use integrity::{first_changed_line, language, language::Role};
use runners::called::{CalledPart, CalledParts, Tree, differing, parts_of_ci, parts_of_command};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use text::shell_command::ShellCommand;

/// The most manifests whose scripts for an installation are followed.
const MOST_MANIFESTS: usize = 20;

/// The largest file that is followed, in bytes.
const LARGEST: u64 = 256 * 1024;

/// The start of a walk through the parts of a repository that are run.
#[derive(Clone)]
enum Start {
    Command(String),
    /// The installation of packages in a folder, which runs scripts of its manifest.
    Install(String),
    Ci,
}

/// Returns a finding for each changed file that one of the commands runs, or that CI runs.
pub(crate) async fn changed(run: &Run<'_>) -> Result<Vec<IntegrityFinding>, GateError> {
    let tree =
        |commit, side| ReadTree { mirror: run.subject.mirror, commit, change: run.change, side, texts: Texts::new() };
    let mut before = tree(run.subject.fork, Revision::Base);
    let mut after = tree(run.subject.head, Revision::Head);
    let commands: BTreeSet<&str> = commands(run).collect();
    let starts = commands.into_iter().map(|command| Start::Command(command.to_owned()));
    let starts = starts.chain(installs(&run.change.head)).chain([Start::Ci]);
    let mut found: BTreeMap<(Rule, String), IntegrityFinding> = BTreeMap::new();
    for start in starts {
        let (old, new) = (before.parts(&start).await?, after.parts(&start).await?);
        for part in differing(&old, &new).into_iter().filter(|part| !is_expected(run, part, !old.contains_key(*part))) {
            let (rule, what) = match &start {
                Start::Command(command) => (Rule::RunnerWeakened, Detail::RunBy(command.clone())),
                Start::Install(_) => (Rule::PackageSource, Detail::RunBy("npm install".to_owned())),
                Start::Ci => (Rule::CiWeakened, Detail::Nothing),
            };
            let finding =
                || IntegrityFinding { rule, path: part.path.clone(), line: line(run, part), what, by: Author::Player };
            found.entry((rule, part.path.clone())).or_insert_with(finding);
        }
    }
    Ok(found.into_values().collect())
}

/// Returns the installations in the folders that have a `package.json`.
fn installs(paths: &BTreeSet<String>) -> impl Iterator<Item = Start> {
    let folders = paths.iter().filter_map(|path| path.strip_suffix("package.json"));
    let own = folders.filter(|folder| folder.is_empty() || folder.ends_with('/') && !folder.contains("node_modules/"));
    own.take(MOST_MANIFESTS).map(|folder| Start::Install(format!("cd ./{} && npm install", shell_words::quote(folder))))
}

/// Returns the commands whose success counts as evidence, and the one that prepares for them.
fn commands<'r>(run: &'r Run<'_>) -> impl Iterator<Item = &'r str> {
    let criteria = run.subject.task.acceptance_criteria.iter();
    let of_criteria = criteria.filter_map(|criterion| match &criterion.check {
        Check::Command(command) => Some(command.as_str()),
        Check::Test(_) | Check::File(_) | Check::Human => None,
    });
    let chosen = &run.prepared.chosen;
    let chosen = chosen.setup.iter().chain(&chosen.test).chain(&run.subject.settings.coverage.command);
    of_criteria.chain(chosen.map(ShellCommand::text)).chain(run.subject.smoke)
}

/// `true` if the plan names the file, and the part is new or the whole file; or if its tests are judged by their results.
fn is_expected(run: &Run<'_>, part: &CalledPart, is_new: bool) -> bool {
    let is_named = run.subject.task.files.contains(&part.path);
    let is_file = part.name.is_none();
    let has_tests = || language::role(&part.path) == Role::Test && language::language_of(&part.path).is_some();
    is_named && (is_file || is_new) || is_file && has_tests()
}

/// Returns the line of a part in the new version of its file, or the first line there that changed.
fn line(run: &Run<'_>, part: &CalledPart) -> Option<u32> {
    let file = run.change.file(&part.path)?;
    let name = part.name.as_ref().map(|name| name.rsplit('.').next().unwrap_or(name));
    let begins = |line: &str, name: &str| line.trim_start_matches(['"', '\'', ' ', '\t']).starts_with(name);
    let lines = run.change.text_after(&part.path)?.lines();
    let own = name.and_then(|name| lines.zip(1_u32..).find(|(line, _)| begins(line, name)));
    own.map(|(_, number)| number).or_else(|| first_changed_line(file))
}

/// A commit whose files are read as a walk asks for them.
struct ReadTree<'a> {
    mirror: &'a Mirror,
    commit: &'a Sha,
    change: &'a Arc<Change>,
    side: Revision,
    texts: Texts,
}

/// The files that were read, by path; `None` for a file that is no text.
type Texts = BTreeMap<String, Option<String>>;

impl ReadTree<'_> {
    async fn parts(&mut self, start: &Start) -> Result<CalledParts, GateError> {
        loop {
            let (change, side, start) = (Arc::clone(self.change), self.side, start.clone());
            let texts = std::mem::take(&mut self.texts);
            let walking = blocking(move || {
                let paths = match side {
                    Revision::Base => &change.base,
                    Revision::Head => &change.head,
                };
                let (parts, wanted) = walk(&start, paths, &texts);
                (parts, wanted, texts)
            });
            let walked = walking.await.map_err(|error| host("reading what a command runs")(error.into()));
            let (parts, wanted, texts) = walked?;
            self.texts = texts;
            if wanted.is_empty() {
                return Ok(parts);
            }
            // Git is asked for one path per line.
            let (asked, other): (Vec<String>, Vec<String>) = wanted.into_iter().partition(|path| !path.contains('\n'));
            let names: Vec<String> = asked.iter().map(|path| format!("{}:{path}", self.commit)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let blobs = self.mirror.blobs(&names, LARGEST).await?;
            let text = |blob| match blob {
                Blob::Bytes(bytes) => String::from_utf8(bytes).ok(),
                Blob::Large(_) | Blob::None => None,
            };
            self.texts.extend(asked.into_iter().zip(blobs.into_iter().map(text)));
            self.texts.extend(other.into_iter().map(|path| (path, None)));
        }
    }
}

/// Returns the parts as far as the known texts lead, and the files that would lead on.
fn walk(start: &Start, paths: &BTreeSet<String>, texts: &Texts) -> (CalledParts, BTreeSet<String>) {
    let wanted = RefCell::new(BTreeSet::new());
    let read = |path: &str| {
        let known = texts.get(path);
        if known.is_none() {
            wanted.borrow_mut().insert(path.to_owned());
        }
        known.cloned().flatten()
    };
    let tree = Tree { paths, read: &read };
    let parts = match start {
        Start::Command(command) | Start::Install(command) => parts_of_command(command, &tree),
        Start::Ci => parts_of_ci(&tree),
    };
    (parts, wanted.into_inner())
}
