//! Judges a commit by everything that the engine runs, followed by a Coach that approves everything.

use crate::{
    Outcome,
    clone::ProjectClone,
    fair, plain,
    project::Project,
    reading,
    repository::Repository,
    results::{End, Played, Verdict},
};
use autobuild::{
    config::{NetworkSettings, Offer, RepositorySettings},
    gates,
    gates::{CheckoutLocks, Deadlines, GateContext, Subject, WaveSubject, WholeFeature},
    messages,
};
use domain::{
    contract::{CheckoutState, FileLines, Judgement, TurnFacts, judge},
    decision::{CoachDecision, DecisionKind, Outcome as Decided},
    evidence::{Baseline, Evidence, GateReport},
    ids::Sha,
    isolation::Level,
    plan::{PlannedTask, TaskType},
    problem::Severity,
    question,
    question::{AnswerVerdict, Question, QuoteFacts},
    task::Origin,
};
use git::Mirror;
use sandbox::{
    Sandbox, SandboxOptions,
    egress::{Ceiling, Refusals},
};
use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};
use text::secret::Secrets;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The things that all commits share: a sandbox, and a folder for mirrors, checkouts and build caches.
pub struct Running {
    runtime: Runtime,
    context: GateContext,
    folder: PathBuf,
    /// The folder of the table, where the settings files are.
    beside: PathBuf,
}

impl Running {
    /// Creates the folder, which later runs use again. The variables of the service (`AUTOBUILD_NETWORK_ALLOW`,
    /// `AUTOBUILD_NETWORK_PINNED`) say which hosts the projects' programs may reach.
    pub fn new(folder: PathBuf, table: &Path) -> Outcome<Self> {
        let runtime = Runtime::new().map_err(said)?;
        let network = NetworkSettings::of_process().map_err(|mistakes| format!("{mistakes:?}"))?;
        let launcher = SandboxOptions::with_launcher(PathBuf::from(env!("CARGO_BIN_EXE_autobuild")));
        let sandbox = runtime.block_on(Sandbox::probe(launcher, Level::L0.or_more()));
        let context = GateContext {
            sandbox: sandbox.map_err(said)?,
            network: Ceiling { hosts: network.allow, pinned: network.pinned, uplink: network.uplink },
            default_branch: None,
            refusals: Refusals::default(),
            folder: folder.join("checkouts"),
            caches: folder.join("caches"),
            secrets: Secrets::default(),
            deadlines: Deadlines::default(),
            checkout_locks: CheckoutLocks::default(),
        };
        fs::create_dir_all(&context.folder).map_err(said)?;
        Ok(Self { runtime, context, folder, beside: table.parent().map(Path::to_path_buf).unwrap_or_default() })
    }

    /// Runs a commit. A problem that prevents this becomes its verdict and does not end the whole run.
    pub fn judge(&self, project: &Project, clone: &ProjectClone, commit: &str) -> Outcome<Verdict> {
        let mut verdict = reading::judge(project.kind_of(clone, commit)?, clone, commit)?;
        let played = self.played(project, clone, &verdict);
        verdict.played = Some(played.unwrap_or_else(|problem| Played {
            end: End::NotPlayed,
            reasons: vec![problem],
            questions: Vec::new(),
            not_fine: 0,
            plain: 0.0,
            gates: 0.0,
            preflight: 0.0,
        }));
        Ok(verdict)
    }

    fn played(&self, project: &Project, clone: &ProjectClone, verdict: &Verdict) -> Outcome<Played> {
        let repository = Repository::new(&self.folder, project, clone)?;
        let work = repository.work(&verdict.commit, &verdict.left_out)?;
        let (_, body) = clone.message(&verdict.commit)?;
        let files = clone.changed_files(&verdict.commit)?;
        let removes = fair::removals(clone, &verdict.commit, (&verdict.subject, &body))?;
        let task = reading::task(
            verdict.kind.unwrap_or(TaskType::Feature),
            &verdict.subject,
            body.clone(),
            files.into_iter().map(|file| file.path).collect(),
        )?;
        let task = PlannedTask { removes, ..task };
        let settings = self.settings(project)?;
        let context = GateContext {
            deadlines: Deadlines { setup: project.patience, test: project.patience },
            default_branch: Some(work.base.parse().map_err(said)?),
            ..self.context.clone()
        };
        let turn = Turn {
            context: &context,
            mirror: repository.mirror(),
            base: work.base.parse().map_err(said)?,
            head: work.head.parse().map_err(said)?,
            task: &task,
            settings: &settings,
        };
        let (report, preflight, gates) = self.runtime.block_on(turn.run())?;
        let chosen = self.runtime.block_on(gates::commands::choose_at(turn.mirror, &turn.head, &settings));
        let plain = plain::run(&repository, &work, &chosen.map_err(said)?, project.patience)?;
        let (end, reasons) = decided(&task, &report);
        let questions = question::arrange(report.questions);
        let answers = fair::answers(&questions, (&verdict.subject, &body));
        let not_fine = answers.iter().filter(|answer| answer.verdict == AnswerVerdict::NotFine).count();
        Ok(Played {
            end,
            reasons,
            questions: questions.iter().map(Question::title).collect(),
            not_fine,
            plain,
            gates,
            preflight,
        })
    }

    fn settings(&self, project: &Project) -> Outcome<RepositorySettings> {
        let text = match &project.settings {
            None => String::new(),
            Some(file) => fs::read_to_string(self.beside.join(file)).map_err(|error| format!("{file}: {error}"))?,
        };
        RepositorySettings::parse(&text, &Offer::default()).map_err(|mistakes| format!("{mistakes:?}"))
    }
}

/// One turn whose Player made the commit.
struct Turn<'a> {
    context: &'a GateContext,
    mirror: &'a Mirror,
    base: Sha,
    head: Sha,
    task: &'a PlannedTask,
    settings: &'a RepositorySettings,
}

impl Turn<'_> {
    /// Runs pre-flight on the base, then the Gates of a turn and of a wave on the head. Returns their report, and the
    /// processor time of pre-flight and of the turn, in seconds.
    async fn run(&self) -> Outcome<(GateReport, f64, f64)> {
        let cancel = CancellationToken::new();
        let begun = plain::processor_time();
        let baseline = gates::preflight(self.context, self.mirror, &self.base, self.settings, &cancel);
        let baseline = baseline.await.map_err(said)?;
        let preflight = plain::processor_time() - begun;
        let subject = Subject {
            mirror: self.mirror,
            fork: &self.base,
            head: &self.head,
            task: self.task,
            smoke: None,
            origin: &Origin::Planned,
            mode: self.settings.mode,
            baseline: &baseline,
            before: &baseline,
            settings: self.settings,
            waived: &[],
            people: &[],
        };
        let begun = plain::processor_time();
        let mut report = gates::verify(self.context, &subject, &cancel).await.map_err(said)?;
        let gates = plain::processor_time() - begun;
        let of_wave = self.wave(&baseline, &cancel).await?;
        report.more.extend(of_wave.more);
        // The same rows ask again for the whole Feature.
        if report.questions.is_empty() {
            report.questions = of_wave.questions;
        }
        Ok((report, preflight, gates))
    }

    /// Returns the result of the wave's Gates, as if the commit were the whole Feature.
    async fn wave(&self, baseline: &Baseline, cancel: &CancellationToken) -> Outcome<GateReport> {
        let wave = WaveSubject {
            mirror: self.mirror,
            head: &self.head,
            smoke: None,
            whole: Some(&WholeFeature { fork: &self.base, task: self.task, is_one_task: true, checks: &[] }),
            baseline,
            settings: self.settings,
            waived: &[],
        };
        gates::verify_wave(self.context, &wave, cancel).await.map_err(said)
    }
}

fn approval() -> CoachDecision {
    CoachDecision {
        decision: DecisionKind::Approve,
        summary: "fine".to_owned(),
        criteria: Vec::new(),
        tests: None,
        issues: Vec::new(),
        feedback: String::new(),
        answers: Vec::new(),
        commands: Vec::new(),
        ignored: Vec::new(),
    }
}

/// Returns the end of the turn with an approving Coach, and the reasons.
fn decided(task: &PlannedTask, report: &GateReport) -> (End, Vec<String>) {
    // Questions are counted separately.
    let unasked = GateReport { questions: Vec::new(), ..report.clone() };
    let facts = TurnFacts {
        kind: task.kind,
        criteria: &task.acceptance_criteria,
        gates: &unasked,
        lines_of: &|_| Some(FileLines::NotCounted),
        is_on_base: &|_| true,
        quotes: QuoteFacts { words: &[], in_diff: &|_, _| false },
        checkout: &CheckoutState::Unchanged,
    };
    let setup = report.setup.iter().map(|evidence| ("set-up".to_owned(), evidence));
    let mut reasons: Vec<String> = setup
        .chain([("tests".to_owned(), &report.tests)])
        .chain(report.more.iter().map(|result| (result.gate.to_string(), &result.evidence)))
        .filter_map(|(gate, evidence)| match evidence {
            Evidence::Passed(_) => None,
            Evidence::Failed(finding) => {
                let said = messages::finding(finding);
                Some(format!("{gate}: {said}: {}", end_of(&messages::output(finding))))
            }
            Evidence::Absent(reason) => Some(format!("{gate} could not be had: {reason:?}")),
        })
        .collect();
    let end = match judge(&approval(), &facts) {
        Judgement::EvidenceAbsent { reasons: why } => {
            reasons.extend(why.iter().map(messages::unmet));
            End::Absent
        }
        Judgement::Verdict(verdict) => {
            let must = verdict.items.iter().filter(|item| item.severity == Severity::MustFix);
            reasons.extend(must.map(|item| messages::problem(item).into_owned()));
            match verdict.outcome {
                Decided::Approve => End::Approved,
                Decided::Feedback => End::SentBack,
            }
        }
    };
    (end, reasons)
}

/// Returns the last three lines of an output that are not empty, on one line.
fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

fn said(error: impl Display) -> String {
    format!("{error:#}")
}
