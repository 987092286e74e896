//! The stage on which cases are judged: a real mirror with every base and every change as a commit, and the Gates.

use crate::{
    cases::{Author, Case, Library},
    judged::{Judged, approved},
    tree,
    tree::Tree,
};
use autobuild::{
    config::{Offer, RepositorySettings},
    gates,
    gates::{CheckoutLocks, Deadlines, GateContext, Subject, WaveSubject, WholeFeature},
};
use domain::{
    contract::{CheckoutState, FileLines, TurnFacts, judge},
    decision::{CoachDecision, CriterionFinding, CriterionMet, DecisionKind},
    evidence::{Baseline, GateReport, WaivedTest},
    ids::{RepoId, Sha, TaskId, User, UserId},
    isolation::Level,
    plan::{Check, Criterion, Factors, Intent, PlannedTask, TestEffort},
    question::QuoteFacts,
};
use git::{ForgeAccess, Mirror, Mirrors};
use sandbox::{
    Sandbox, SandboxOptions,
    egress::{Ceiling, Refusals},
};
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use text::secret::Secrets;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// The things that the cases of one run share.
pub struct Stage {
    _folder: TempDir,
    context: GateContext,
    mirror: Mirror,
    bases: BTreeMap<String, Base>,
    changes: BTreeMap<usize, Change>,
}

/// A repository before a change, and the result of its only pre-flight.
struct Base {
    commit: Sha,
    tree: Tree,
    settings: RepositorySettings,
    baseline: OnceCell<Baseline>,
    /// The time limit of a command.
    patience: Duration,
}

struct Change {
    base: String,
    /// The Player's commit, if a person's commit is on top of it.
    worked: Option<Sha>,
    commit: Sha,
    tree: Tree,
}

/// A base's name, the number of its commit, its files, and its settings as YAML.
type WrittenBase = (String, (usize, Tree, String));

/// A case's number, its base, the number of the Player's commit if a person's is on top, the number of the head, and
/// its files.
type WrittenChange = (usize, (String, Option<usize>, usize, Tree));

impl Base {
    fn of((name, (mark, tree, settings)): WrittenBase, commits: &[Sha]) -> (String, Self) {
        let patience = Duration::from_secs(if name == "slow" { 2 } else { 300 });
        let settings = RepositorySettings::parse(&settings, &Offer::default())
            .unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"));
        let base = Self { commit: commits[mark].clone(), tree, settings, baseline: OnceCell::new(), patience };
        (name, base)
    }
}

impl Change {
    fn of((number, (base, worked, head, tree)): WrittenChange, commits: &[Sha]) -> (usize, Self) {
        let change =
            Self { base, worked: worked.map(|mark| commits[mark].clone()), commit: commits[head].clone(), tree };
        (number, change)
    }
}

/// There is no text that a Coach could quote.
const NO_QUOTES: QuoteFacts<'static> = QuoteFacts { words: &[], in_diff: &|_, _| false };

impl Stage {
    /// Writes the bases and changes of these cases into a mirror.
    pub async fn new(library: &Library, cases: &[&Case]) -> Self {
        let folder = support::folder::folder("autobuild-deceptions-");
        let mirrors =
            Mirrors::new(&folder.path().join("data"), ForgeAccess::new("http://127.0.0.1:9").unwrap(), None).unwrap();
        let mirror = mirrors.mirror(RepoId(1));
        let mut import = Import::default();
        let (mut bases, mut changes) = (BTreeMap::new(), BTreeMap::new());
        for case in cases {
            let outside = folder.path().join(format!("outside-{}", case.number));
            fs::create_dir_all(&outside).unwrap();
            let [before, worked, after] = tree::of_case(library, case, &outside);
            // A base that counts its runs outside the checkout is only used by one case.
            let remembers = before.values().any(|text| text.contains(outside.to_str().unwrap()));
            let own = remembers.then(|| format!("{} of {}", case.base, case.number));
            let name = own.unwrap_or_else(|| case.base.clone());
            if !bases.contains_key(&name) {
                let settings = library.base_settings(&case.base);
                bases.insert(name.clone(), (import.commit(None, &before), before, settings));
            }
            let parent = bases[&name].0;
            let worked = (case.author == Author::Person).then(|| import.commit(Some(parent), &worked));
            let head = import.commit(worked.or(Some(parent)), &after);
            changes.insert(case.number, (name, worked, head, after));
        }
        let commits = import.into_mirror(mirror.dir());
        let launcher = PathBuf::from(env!("CARGO_BIN_EXE_autobuild"));
        let context = GateContext {
            sandbox: Sandbox::probe(SandboxOptions::with_launcher(launcher), Level::L0.or_more()).await.unwrap(),
            network: Ceiling::default(),
            default_branch: None,
            refusals: Refusals::default(),
            folder: folder.path().join("gates"),
            caches: folder.path().join("caches"),
            secrets: Secrets::default(),
            deadlines: Deadlines::default(),
            checkout_locks: CheckoutLocks::default(),
        };
        Self {
            bases: bases.into_iter().map(|base| Base::of(base, &commits)).collect(),
            changes: changes.into_iter().map(|change| Change::of(change, &commits)).collect(),
            _folder: folder,
            context,
            mirror,
        }
    }

    /// Returns the same stage with another folder for build caches and results.
    pub fn with_caches(mut self, folder: PathBuf) -> Self {
        self.context.caches = folder;
        self
    }

    /// Returns the result of pre-flight on a case's base. It runs once for all cases of a base, and fills the caches.
    pub async fn preflight(&self, case: &Case) -> &Baseline {
        let base = &self.bases[&self.changes[&case.number].base];
        let cancel = CancellationToken::new();
        let context = self.context(base);
        let preflight =
            || async { gates::preflight(&context, &self.mirror, &base.commit, &base.settings, &cancel).await.unwrap() };
        base.baseline.get_or_init(preflight).await
    }

    /// Returns a case's files before and after the change.
    pub fn trees(&self, case: &Case) -> (&Tree, &Tree) {
        let change = &self.changes[&case.number];
        (&self.bases[&change.base].tree, &change.tree)
    }

    fn context(&self, base: &Base) -> GateContext {
        let deadlines = Deadlines { setup: base.patience, test: base.patience };
        GateContext { deadlines, default_branch: Some(base.commit.clone()), ..self.context.clone() }
    }

    /// Runs the Gates as the engine does, then asks a Coach that always approves.
    pub async fn judge(&self, case: &Case) -> Judged {
        let change = &self.changes[&case.number];
        let base = &self.bases[&change.base];
        let cancel = CancellationToken::new();
        let context = self.context(base);
        let baseline = self.preflight(case).await;
        let task = planned(case);
        let waived: Vec<WaivedTest> = case.waived.iter().map(|test| waived(test)).collect();
        let pushed = change.worked.iter().map(|worked| (worked.clone(), change.commit.clone()));
        let people: Vec<(Sha, Sha)> = pushed.collect();
        let subject = Subject {
            mirror: &self.mirror,
            fork: &base.commit,
            head: &change.commit,
            task: &task,
            smoke: case.smoke.as_deref(),
            origin: &case.origin,
            mode: base.settings.mode,
            baseline,
            before: baseline,
            settings: &base.settings,
            waived: &waived,
            people: &people,
        };
        let begun = Instant::now();
        let mut report = gates::verify(&context, &subject, &cancel).await.unwrap();
        let took = begun.elapsed();
        let lines_of = |path: &str| change.tree.contains_key(path).then_some(FileLines::NotCounted);
        let is_on_base = |path: &str| base.tree.contains_key(path);
        let decision = approval(&case.criteria);
        let judged = |report: &GateReport| {
            let facts = TurnFacts {
                kind: case.kind,
                criteria: &case.criteria,
                gates: report,
                lines_of: &lines_of,
                is_on_base: &is_on_base,
                quotes: NO_QUOTES,
                checkout: &CheckoutState::Unchanged,
            };
            judge(&decision, &facts)
        };
        let answered = |report: &GateReport| judged(&GateReport { questions: Vec::new(), ..report.clone() });
        if approved(&answered(&report)) {
            add_wave(&mut report, &context, &subject, &cancel).await;
        }
        let (judgement, unanswered) = (answered(&report), judged(&report));
        Judged::new(case, &report, [&judgement, &unanswered], took)
    }
}

/// Adds the result of the wave's Gates, as if the case's change were the whole Feature.
async fn add_wave(report: &mut GateReport, context: &GateContext, subject: &Subject<'_>, cancel: &CancellationToken) {
    let wave = WaveSubject {
        mirror: subject.mirror,
        head: subject.head,
        smoke: None,
        whole: Some(&WholeFeature { fork: subject.fork, task: subject.task, is_one_task: true, checks: &[] }),
        baseline: subject.baseline,
        settings: subject.settings,
        waived: subject.waived,
    };
    let found = gates::verify_wave(context, &wave, cancel).await.unwrap();
    report.more.extend(found.more);
    // Rows that asked in the turn ask nobody again.
    if report.questions.is_empty() {
        report.questions = found.questions;
    }
}

fn waived(test: &str) -> WaivedTest {
    WaivedTest { test: test.to_owned(), by: User { id: UserId(1), login: "ada".to_owned() } }
}

/// The task of a case.
pub fn planned(case: &Case) -> PlannedTask {
    PlannedTask {
        id: "TASK-001".parse::<TaskId>().unwrap(),
        name: case.task_name.clone(),
        kind: case.kind,
        description: case.description.clone(),
        acceptance_criteria: case.criteria.clone(),
        files: case.files.clone(),
        factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
        changes: Vec::new(),
        removes: case.removes.iter().map(|name| Intent::to_remove(name)).collect(),
        dependencies: Vec::new(),
    }
}

/// Returns an approval of everything, which names the check of each criterion.
fn approval(criteria: &[Criterion]) -> CoachDecision {
    let finding = |(criterion, bound): (usize, &Criterion)| CriterionFinding {
        criterion,
        met: CriterionMet::Met,
        evidence: match &bound.check {
            Check::Test(name) | Check::Command(name) | Check::File(name) => format!("`{name}` shows it"),
            Check::Human => String::new(),
        },
    };
    CoachDecision {
        decision: DecisionKind::Approve,
        summary: "fine".to_owned(),
        criteria: (1..).zip(criteria).map(finding).collect(),
        tests: None,
        issues: Vec::new(),
        feedback: String::new(),
        answers: Vec::new(),
        commands: Vec::new(),
        ignored: Vec::new(),
    }
}

/// Commits that are imported into a mirror.
#[derive(Default)]
struct Import {
    stream: Vec<u8>,
    commits: usize,
}

impl Import {
    /// Adds a commit of exactly this tree; its number counts from 0.
    fn commit(&mut self, parent: Option<usize>, tree: &Tree) -> usize {
        let number = self.commits;
        self.commits += 1;
        write!(self.stream, "commit refs/heads/c{number}\nmark :{}\n", number + 1).unwrap();
        write!(self.stream, "committer A <a@example.invalid> 1700000000 +0000\ndata 0\n").unwrap();
        if let Some(parent) = parent {
            writeln!(self.stream, "from :{}", parent + 1).unwrap();
        }
        self.stream.extend_from_slice(b"deleteall\n");
        for (path, text) in tree {
            write!(self.stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
        }
        number
    }

    /// The commits' ids, in order.
    fn into_mirror(self, mirror: &Path) -> Vec<Sha> {
        fs::create_dir_all(mirror).unwrap();
        git(mirror, &["init", "-q", "--bare", "."], &[]);
        git(mirror, &["fast-import", "--quiet"], &self.stream);
        let listed = git(mirror, &["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads"], &[]);
        let ids: BTreeMap<&str, &str> = listed.lines().filter_map(|line| line.split_once(' ')).collect();
        (0..self.commits).map(|number| ids[format!("c{number}").as_str()].parse().unwrap()).collect()
    }
}

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
