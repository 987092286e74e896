//! A real repository with commits, and a context in which Gates run real commands on them.

use autobuild::{
    config::{Offer, RepositorySettings},
    gates::{CheckoutLocks, Deadlines, GateContext, Subject, preflight, results_at_start, verify},
};
use domain::{
    evidence::{Baseline, Evidence, Finding, GateReport},
    feature::Mode,
    ids::{RepoId, Sha},
    isolation::Level,
    plan::{Check, Criterion, Factors, PlannedTask, TaskType, TestEffort},
    task::Origin,
};
use git::{ForgeAccess, Mirror, Mirrors};
use sandbox::{
    Sandbox, SandboxOptions,
    egress::{Ceiling, Refusals},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tempfile::TempDir;
use text::secret::Secrets;
use tokio_util::sync::CancellationToken;

/// A repository, its mirror, and the context of its Gates.
pub struct Stage {
    pub dir: TempDir,
    pub context: GateContext,
    pub mirror: Mirror,
}

/// One file of a commit: `None` deletes it.
pub type File<'a> = (&'a str, Option<&'a str>);

impl Stage {
    /// Creates a stage whose tests may write outside of their checkout, where the test itself looks.
    pub async fn without_isolation() -> Self {
        let mut stage = Self::new().await;
        let launcher = PathBuf::from(env!("CARGO_BIN_EXE_autobuild"));
        stage.context.sandbox = Sandbox::at(SandboxOptions::with_launcher(launcher), Level::L0);
        stage
    }

    pub async fn new() -> Self {
        let dir = support::folder::folder("autobuild-gates-");
        let mirrors = Mirrors::new(&dir.path().join("data"), ForgeAccess::new("http://127.0.0.1:1").unwrap(), None);
        let mirror = mirrors.unwrap().mirror(RepoId(7));
        let nothing = "0".repeat(40).parse().unwrap();
        assert!(!mirror.has_commit(&nothing).await.unwrap());
        fs::create_dir(dir.path().join("people")).unwrap();
        git(&dir.path().join("people"), &["init", "-q", "-b", "main"]);
        let launcher = PathBuf::from(env!("CARGO_BIN_EXE_autobuild"));
        let context = GateContext {
            sandbox: Sandbox::probe(SandboxOptions::with_launcher(launcher), Level::L0.or_more()).await.unwrap(),
            network: Ceiling::default(),
            default_branch: None,
            refusals: Refusals::default(),
            folder: dir.path().join("homes"),
            caches: dir.path().join("caches"),
            secrets: Secrets::new(&["own-secret-value".into()]),
            deadlines: Deadlines { setup: Duration::from_secs(300), test: Duration::from_secs(300) },
            checkout_locks: CheckoutLocks::default(),
        };
        Self { dir, context, mirror }
    }

    /// Commits these changes on top of `parent`, or as the first commit.
    pub fn commit(&self, parent: Option<&Sha>, files: &[File<'_>]) -> Sha {
        let work = self.dir.path().join("people");
        if let Some(parent) = parent {
            git(&work, &["checkout", "-q", "--detach", parent.as_str()]);
        }
        for (path, content) in files {
            let file = work.join(path);
            match content {
                Some(content) => {
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, content).unwrap();
                }
                None => fs::remove_file(file).unwrap(),
            }
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-q", "--allow-empty", "-m", "work"]);
        let sha: Sha = git(&work, &["rev-parse", "HEAD"]).trim().parse().unwrap();
        let to = format!("HEAD:refs/heads/at-{sha}");
        git(&work, &["push", "-q", self.mirror.dir().to_str().unwrap(), &to]);
        sha
    }

    pub async fn baseline(&self, commit: &Sha, settings: &RepositorySettings) -> Baseline {
        let cancel = CancellationToken::new();
        preflight(&self.context, &self.mirror, commit, settings, &cancel).await.unwrap()
    }

    /// Runs pre-flight on `fork`, then every Gate on `head`.
    pub async fn verified(&self, fork: &Sha, head: &Sha, case: &Case) -> GateReport {
        let baseline = self.baseline(fork, &case.settings).await;
        self.verified_on(&baseline, fork, head, case).await
    }

    /// Runs pre-flight on `base`, then every Gate on `head`. Its work started at `fork`, which contains the work of
    /// earlier tasks.
    pub async fn verified_after(&self, base: &Sha, fork: &Sha, head: &Sha, case: &Case) -> GateReport {
        let baseline = self.baseline(base, &case.settings).await;
        let cancel = CancellationToken::new();
        let context = self.based_on(&baseline);
        let before = results_at_start(&context, &self.mirror, fork, &case.settings, &baseline, &cancel);
        self.verified_between((&baseline, &before.await.unwrap()), fork, head, case).await
    }

    pub async fn verified_on(&self, baseline: &Baseline, fork: &Sha, head: &Sha, case: &Case) -> GateReport {
        self.verified_between((baseline, baseline), fork, head, case).await
    }

    async fn verified_between(
        &self,
        (baseline, before): (&Baseline, &Baseline),
        fork: &Sha,
        head: &Sha,
        case: &Case,
    ) -> GateReport {
        let subject = Subject {
            mirror: &self.mirror,
            fork,
            head,
            task: &case.task,
            smoke: None,
            origin: &case.origin,
            mode: case.mode,
            baseline,
            before,
            settings: &case.settings,
            waived: &[],
            people: &[],
        };
        let cancel = CancellationToken::new();
        verify(&self.based_on(baseline), &subject, &cancel).await.unwrap()
    }

    /// Returns the context for work that is based on the commit of a baseline.
    pub fn based_on(&self, baseline: &Baseline) -> GateContext {
        GateContext { default_branch: Some(baseline.commit.clone()), ..self.context.clone() }
    }
}

/// A task and the settings under which its change is judged.
pub struct Case {
    pub task: PlannedTask,
    pub origin: Origin,
    pub mode: Mode,
    pub settings: RepositorySettings,
}

impl Case {
    pub fn new(kind: TaskType, settings: &str) -> Self {
        let settings = RepositorySettings::parse(settings, &Offer::default()).unwrap();
        Self {
            task: PlannedTask {
                id: "TASK-001".parse().unwrap(),
                name: "Do it".to_owned(),
                kind,
                description: String::new(),
                acceptance_criteria: vec![],
                files: vec![],
                factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: vec![] },
                changes: Vec::new(),
                removes: Vec::new(),
                dependencies: vec![],
            },
            origin: Origin::Planned,
            mode: Mode::Tdd,
            settings,
        }
    }

    pub fn checking(mut self, check: Check) -> Self {
        self.task.acceptance_criteria.push(Criterion { text: "it holds".to_owned(), check });
        self
    }
}

/// Returns the finding of a command that passed or failed.
pub fn finding(evidence: &Evidence) -> &Finding {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => finding,
        Evidence::Absent(reason) => panic!("absent: {reason:?}"),
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=p", "-c", "user.email=p@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(who).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
