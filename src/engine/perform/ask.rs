//! Asks an agent, and prepares the inputs of every agent: the issue, the instructions, a checkout.

use crate::{
    agents::{
        Activity, Backend, RunError, RunSpec, ValidAnswer,
        prompt::{InstructionFile, Leftovers, Prompt, Snapshot},
    },
    config::{Allowance, INSTRUCTION_PATHS, RepositorySettings, Role},
    engine::{
        job::{EffectError, of_host},
        perform::{
            context::EffectContext,
            ledger::{OpenedRun, RunEnd},
            progress::Progress,
        },
        repository_settings::last_read,
        running::{OnBoard, Work, Worker},
        spans,
    },
};
use domain::{
    blocked::StopReason,
    ids::{Millis, Sha, TaskId, TurnNumber},
};
use git::{Checkout, Mirror, RepoPath};
use sandbox::egress::{Ceiling, Rules};
use serde_json::Value;
use std::{path::Path, time::Duration};

/// The files in which a repository instructs agents.
const INSTRUCTIONS: [&str; 4] = ["CLAUDE.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"];

/// The largest instruction file that is read, in bytes.
const MAX_INSTRUCTIONS: usize = 64 * 1024;

/// An agent that prints nothing for this long is stopped.
const IDLE: Duration = Duration::from_secs(15 * 60);

pub(super) struct AgentRequest<'a> {
    pub role: Role,
    /// The task; `None` for the planner.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    pub checkout: &'a Path,
    /// A suffix that distinguishes several requests of one effect; empty if there is only one.
    pub part: &'static str,
    pub prompt: Prompt,
    pub schema: Value,
}

impl AgentRequest<'_> {
    /// Returns the first prompt, given how earlier runs of this effect were cut short. A Player's prompt already says
    /// what the Player continues from.
    fn after(&self, cuts: &[StopReason]) -> Prompt {
        let limit = cuts.iter().rfind(|cut| cut.is_limit());
        match (self.role, limit) {
            (Role::Planner | Role::Designer | Role::Coach, Some(cut)) => self.prompt.begun_anew(*cut),
            (Role::Player, _) | (_, None) => self.prompt.clone(),
        }
    }
}

/// The end of an agent's work.
pub(super) struct RunOutcome<T> {
    pub last: LastRun,
    pub answer: Result<T, EffectError>,
}

/// An answer, and what its check found.
pub(super) struct Answered<T, C> {
    pub answer: T,
    pub checked: C,
    pub last: LastRun,
}

/// The last run of an agent's work.
pub(super) enum LastRun {
    /// No run began.
    None,
    /// The ledger has its end.
    Recorded,
    /// The ledger does not have its end yet.
    Unrecorded(Box<RunEnd>),
}

impl LastRun {
    pub(super) fn unrecorded(&self) -> Option<&RunEnd> {
        match self {
            Self::Unrecorded(end) => Some(end),
            Self::None | Self::Recorded => None,
        }
    }
}

/// A run that may begin, with its model.
struct Start {
    opened: OpenedRun,
    model: Option<String>,
    /// The model that is tried if the API does not serve the first one.
    fallback: Option<String>,
}

impl EffectContext<'_> {
    /// Returns the repository's settings as they were read for this Feature.
    pub(super) fn settings(&self) -> RepositorySettings {
        let mut settings = last_read(&self.feature);
        self.allowance().clamp(&mut settings);
        settings
    }

    /// Returns the current allowance of the Feature's installation.
    pub(super) fn allowance(&self) -> &Allowance {
        self.engine.settings.allowances.of(self.feature.installation)
    }

    pub(super) fn shown_issue(&self) -> Snapshot<'_> {
        Snapshot {
            title: &self.feature.snapshot.title,
            body: &self.feature.snapshot.body,
            comments: &self.feature.snapshot.discussion.comments,
        }
    }

    /// Returns the repository's own instructions, from the commit of the default branch that the plan is based on.
    pub(super) async fn instructions(&self, mirror: &Mirror) -> Result<Vec<InstructionFile>, EffectError> {
        match &self.feature.plan {
            Some(plan) => self.instructions_at(mirror, &plan.base).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the repository's own instructions at a commit of the default branch.
    pub(super) async fn instructions_at(
        &self,
        mirror: &Mirror,
        base: &Sha,
    ) -> Result<Vec<InstructionFile>, EffectError> {
        let mut files = Vec::new();
        for path in INSTRUCTIONS {
            if let Some(file) = mirror.read_file(base, path, MAX_INSTRUCTIONS).await? {
                files.push(InstructionFile { path: path.to_owned(), text: file.text() });
            }
        }
        Ok(files)
    }

    /// Makes a working copy for an agent: of `commit`, or of a merge's tree with its conflicts and `HEAD` at `commit`.
    /// If there is a plan, files that instruct agents are taken from the commit of the default branch that it is based
    /// on.
    pub(super) async fn checkout(
        &self,
        mirror: &Mirror,
        commit: &Sha,
        merged: Option<(&Sha, &[RepoPath])>,
    ) -> Result<Checkout, EffectError> {
        let base = match &self.feature.plan {
            Some(plan) => &plan.base,
            None => commit,
        };
        Ok(mirror.checkout_as_on(commit, merged, base, &INSTRUCTION_PATHS).await?)
    }

    /// Asks the agent of an effect that needs one answer, unless an earlier try of the effect has recorded it. The answer
    /// is recorded with the end of its run, once `check` has accepted what the run left.
    pub(super) async fn ask_once<T, F: Future<Output = Result<(), EffectError>>>(
        &self,
        settings: &RepositorySettings,
        question: AgentRequest<'_>,
        read: impl Fn(&Value) -> Result<T, String>,
        check: impl FnOnce() -> F,
    ) -> Result<T, EffectError> {
        let recorded = self.job.effect.external_id.as_deref();
        let recorded = recorded.and_then(|text| serde_json::from_str(text).ok());
        if let Some(answer) = recorded.and_then(|answer| read(&answer).ok()) {
            return Ok(answer);
        }
        let with_json = |answer: &Value| Ok((read(answer)?, answer.to_string()));
        let Answered { answer: (answer, json), last, .. } =
            self.ask_and_check(settings, question, with_json, check).await?;
        self.store_result(&json, None, last.unrecorded()).await?;
        Ok(answer)
    }

    /// Asks the role's agent, and lets `check` look at what its run left. The caller records the end of the last run
    /// together with the answer; after a failure there is only the end, which is recorded here.
    pub(super) async fn ask_and_check<T, C, F: Future<Output = Result<C, EffectError>>>(
        &self,
        settings: &RepositorySettings,
        question: AgentRequest<'_>,
        read: impl Fn(&Value) -> Result<T, String>,
        check: impl FnOnce() -> F,
    ) -> Result<Answered<T, C>, EffectError> {
        let RunOutcome { last, answer } = self.ask_unrecorded(settings, question, read).await;
        let checked = match answer {
            Ok(answer) => check().await.map(|checked| (answer, checked)),
            Err(error) => Err(error),
        };
        match checked {
            Ok((answer, checked)) => Ok(Answered { answer, checked, last }),
            Err(error) => {
                if let Some(end) = last.unrecorded() {
                    self.close_run(end).await?;
                }
                Err(error)
            }
        }
    }

    /// Asks the role's agent. A missing or malformed answer is asked for once more. Each run gets a share of the
    /// remaining budgets; if the share is used up, the agent continues with the next one while there is one. The caller
    /// records the end of the last run.
    pub(super) async fn ask_unrecorded<T>(
        &self,
        settings: &RepositorySettings,
        question: AgentRequest<'_>,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> RunOutcome<T> {
        let mut last = LastRun::None;
        let answer = self.ask_in_shares(settings, &question, &read, &mut last).await;
        RunOutcome { last, answer }
    }

    async fn ask_in_shares<T>(
        &self,
        settings: &RepositorySettings,
        question: &AgentRequest<'_>,
        read: &impl Fn(&Value) -> Result<T, String>,
        last: &mut LastRun,
    ) -> Result<T, EffectError> {
        let agent = self.engine.agents.agent(question.role, settings)?;
        let mut prompt = question.after(&self.cuts(question.task).await?);
        for share in 0_u32.. {
            if let LastRun::Unrecorded(end) = &*last {
                self.close_run(end).await?;
                *last = LastRun::Recorded;
            }
            let start = self.start(settings, agent, question).await?;
            let mut spec = self.spec(settings, question, &start, share, prompt.clone());
            let from = self.engine.now();
            let mut progress = Progress::of(self, &start.opened, &mut spec);
            let shown = self.show(question, from, &progress);
            let ended = progress.during(agent.ask(&spec, read, &self.job.cancel)).await;
            drop(shown);
            let over = progress.over();
            self.send_run_span(&spec, from, &ended);
            let end = self.run_end(start.opened, over, &ended);
            let opened = end.opened.clone();
            *last = LastRun::Unrecorded(Box::new(end));
            match ended {
                Ok(answered) => return Ok(answered.answer),
                Err(RunError::Agent { failure, record }) => {
                    let routed = || self.routed(&opened, failure.clone(), &record, question.task);
                    let refused = self.patiently(routed).await?;
                    refused.map_or(Ok(()), |refused| Err(refused.by(question.role)))?;
                    // A Player continues with its files as they are. The other roles, which only read, start again.
                    prompt = match question.role {
                        Role::Player => question.prompt.continued(StopReason::Share, Leftovers::Changes),
                        Role::Planner | Role::Designer | Role::Coach => question.prompt.begun_anew(StopReason::Share),
                    };
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(EffectError::Stopped)
    }

    fn spec(
        &self,
        settings: &RepositorySettings,
        question: &AgentRequest<'_>,
        start: &Start,
        number: u32,
        prompt: Prompt,
    ) -> RunSpec {
        let share = &start.opened.share;
        let time = Duration::from_millis(share.ms);
        RunSpec {
            role: question.role,
            task: question.task,
            turn: question.turn,
            checkout: question.checkout.to_path_buf(),
            objects: Some(self.engine.mirrors.mirror(self.feature.key.repo).dir().join("objects")),
            prompt,
            schema: question.schema.clone(),
            deadline: settings.timeouts.of(question.role).min(time),
            idle: Some(IDLE),
            model: start.model.clone(),
            fallback_model: start.fallback.clone(),
            agent_turns: settings.agent_turns,
            usd_micros: share.usd_micros,
            most_usd_micros: share.most_usd_micros,
            tokens: share.tokens,
            time: Some(time),
            network: self.network(settings),
            activity: None,
            secrets: self.engine.secrets.clone(),
            request: self.job.effect.id.clone(),
            run_key: self.run_key(number, question.part),
        }
    }

    pub(super) fn ceiling(&self) -> Ceiling {
        self.engine.settings.ceiling(self.feature.installation)
    }

    /// Returns the network access of agents. Hosts that they cannot reach are listed.
    fn network(&self, settings: &RepositorySettings) -> Rules {
        Rules { refusals: self.refusals.clone(), ..self.ceiling().rules(&settings.network.allow) }
    }

    /// Shows the run on the dashboard of this process.
    fn show(&self, question: &AgentRequest<'_>, since: Millis, progress: &Progress<'_>) -> OnBoard<'_> {
        let work = Work {
            feature: self.feature.key,
            worker: Worker::Agent(question.role),
            task: question.task,
            turn: question.turn,
            since,
            activity: Activity::default(),
        };
        self.engine.running.show(work, Some(progress.watched()))
    }

    /// Opens a run with the wanted model, or with the fallback if the API of the wanted one is unavailable now.
    async fn start(
        &self,
        settings: &RepositorySettings,
        agent: &Backend,
        question: &AgentRequest<'_>,
    ) -> Result<Start, EffectError> {
        let deadline = settings.timeouts.of(question.role);
        let usual = self.engine.agents.definition(question.role).model;
        let named = settings.model.of(question.role).as_deref();
        let wanted = agent.model(&self.allowance().models, named, usual);
        let open = async |model: Option<&str>| self.open_run(settings, agent, model, question, deadline).await;
        let fallback = agent.fallback_model(&self.allowance().models);
        match open(wanted.as_deref()).await {
            Err(EffectError::Parked { wait, why }) if fallback.is_some() && fallback != wanted => {
                match open(fallback.as_deref()).await {
                    Err(EffectError::Parked { wait: other, .. }) if wait.until < other.until => {
                        Err(EffectError::Parked { wait, why })
                    }
                    opened => Ok(Start { opened: opened?, model: fallback, fallback: None }),
                }
            }
            opened => Ok(Start { opened: opened?, model: wanted, fallback }),
        }
    }

    /// Returns the key of a run. A run that crashed is repeated under the same key. After a failure, after a wait for
    /// the model, or with another share of the budget, the run has a new key.
    fn run_key(&self, share: u32, part: &str) -> String {
        let effect = &self.job.effect;
        let mut key = format!("{}/{}", effect.id, effect.attempt);
        if effect.parked > 0 {
            key = format!("{key}/waited-{}", effect.parked);
        }
        if share > 0 {
            key = format!("{key}/share-{share}");
        }
        key + part
    }
}

impl From<RunError> for EffectError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Agent { failure, .. } => Self::Agent(failure.into()),
            RunError::Cancelled { .. } => Self::Stopped,
            RunError::Host { doing, source } => of_host(doing, &source).into(),
        }
    }
}

impl EffectContext<'_> {
    /// Sends the span of a run that began at `from` and has just ended. A run that was cancelled or never started has
    /// none.
    pub(super) fn send_run_span<T>(&self, spec: &RunSpec, from: Millis, ended: &Result<ValidAnswer<T>, RunError>) {
        let (record, failure) = match ended {
            Ok(answered) => (&answered.record, None),
            Err(RunError::Agent { failure, record }) => (record.as_ref(), Some(failure)),
            Err(RunError::Cancelled { .. } | RunError::Host { .. }) => return,
        };
        self.engine.settings.telemetry.send(spans::run(&spans::AgentRun {
            feature: &self.feature.key,
            task: spec.task,
            turn: spec.turn,
            role: spec.role,
            run: &spec.run_key,
            from,
            to: self.engine.now(),
            record,
            failure,
        }));
    }
}
