//! The context of an effect: its Feature, access to GitHub, and permission to write.

use crate::{
    config::{ProcessLimits, RepositorySettings},
    engine::{
        Engine,
        apply::Fact,
        job::{Done, EffectError, Job, LimitedBy},
        repository::DefaultBranch,
    },
    github::{GithubError, Repo, Rights},
    messages::Links,
    store::Lease,
};
use domain::{
    blocked::{Defect, RepositoryFault},
    feature::{Feature, event::Event},
    ids::{Sha, TaskId},
    protected_paths::ProtectedPaths,
    task,
    task::Task,
};
use git::{Mirror, Policy, Remote, Unpacked};
use sandbox::egress::Refusals;
use std::{sync::atomic::Ordering, time::Duration};

/// How long a later write of an effect may wait in its worker, in milliseconds. If it must wait longer, the effect is
/// stored and waits in the database.
const FOLLOW_UP_MS: u64 = 5_000;

pub(super) struct EffectContext<'a> {
    pub(super) engine: &'a Engine,
    pub(super) job: &'a Job,
    pub(super) feature: Feature,
    /// `true` if GitHub cannot have the result yet: no earlier try can have written it, and the database was not restored.
    pub(super) is_fresh: bool,
    /// `true` if the database was restored from a backup since the Feature was requested. It may lack tries that wrote.
    pub(super) is_restored: bool,
    /// The hosts that its programs could not reach.
    pub(super) refusals: Refusals,
}

impl EffectContext<'_> {
    pub(super) fn repo(&self) -> Repo<'_> {
        self.engine.autobuild.repo(self.feature.installation, self.feature.key.repo).permitted_by(&self.job.permit)
    }

    /// Returns the Coach App's access to the repository, if the App is set up and installed there.
    pub(super) async fn coach_repo(&self) -> Result<Option<Repo<'_>>, GithubError> {
        let Some(coach) = &self.engine.coach else {
            return Ok(None);
        };
        let id = self.feature.key.repo;
        let installation = match self.engine.coach_installations.find(&id) {
            Some(known) => Some(known),
            None => coach.installation_of(&self.repo().name().await?).await?,
        };
        Ok(installation.map(|installation| {
            self.engine.coach_installations.remember(id, installation);
            coach.repo(installation, id).permitted_by(&self.job.permit)
        }))
    }

    pub(super) async fn fetch_default(&self) -> Result<DefaultBranch, EffectError> {
        let (installation, repo) = (self.feature.installation, self.feature.key.repo);
        self.engine.fetch_default(installation, repo, None).await
    }

    pub(super) async fn fetch_with_default(&self) -> Result<DefaultBranch, EffectError> {
        let folder = self.feature.key.branch_prefix();
        self.engine.fetch_default(self.feature.installation, self.feature.key.repo, Some(&folder)).await
    }

    /// Returns the rules for commits that may be pushed to the repository.
    pub(super) fn policy(&self, settings: &RepositorySettings) -> Result<Policy, EffectError> {
        Ok(Policy::new(protected_paths(settings)?, self.engine.secrets.clone()))
    }

    pub(super) async fn remote_to_push(&self) -> Result<Remote, EffectError> {
        let (installation, repo) = (self.feature.installation, self.feature.key.repo);
        self.engine.remote(installation, repo, Rights::Push).await
    }

    pub(super) async fn fetch_own(&self) -> Result<Mirror, EffectError> {
        let folder = format!("{}/*", self.feature.key.branch_prefix());
        let (installation, repo) = (self.feature.installation, self.feature.key.repo);
        self.engine.fetch(installation, repo, &[&folder]).await
    }

    /// Returns `true` if the mirror has a commit, or gets it from the database.
    pub(super) async fn has_or_unpacks(&self, mirror: &Mirror, head: &Sha) -> Result<bool, EffectError> {
        if mirror.has_commit(head).await? {
            return Ok(true);
        }
        let Some(pack) = self.engine.store.pack(&self.feature.key, head).await? else {
            return Ok(false);
        };
        match mirror.unpack(&self.held_id(), head, &pack, ProcessLimits::MOST_PACK).await? {
            Unpacked::Held => Ok(true),
            Unpacked::Refused(why) => {
                tracing::error!(commit = %head, %why, "the stored pack of {head} cannot be used");
                Ok(false)
            }
        }
    }

    /// Returns the name under which the mirror holds the commits of this effect.
    pub(super) fn held_id(&self) -> String {
        self.job.effect.id.replace('/', "-")
    }

    pub(super) fn task(&self, id: TaskId) -> Result<&Task, EffectError> {
        self.feature.task(id).ok_or_else(|| EffectError::defect(Defect::NoTask { task: id }))
    }

    /// Checks before each write to GitHub that the lease is safe and that the spacing between writes allows it.
    pub(super) async fn may_write(&self) -> Result<(), EffectError> {
        self.job.may_write(self.engine).await
    }

    /// Returns `true` if this worker holds the effect and nobody wants it to end: then the process itself is being
    /// stopped.
    pub(super) async fn is_wanted(&self) -> Result<bool, EffectError> {
        Ok(self.engine.store.look(&self.job.hold).await? == Lease::Mine)
    }

    pub(super) async fn links(&self) -> Result<Links, EffectError> {
        let name = self.repo().name().await?;
        Ok(Links::new(self.engine.autobuild.urls.web(), &name))
    }

    pub(super) fn event(&self, event: Event) -> Done {
        let fact = Fact::ours(event, self.job.effect.id.clone(), self.engine);
        Done::Fact(self.feature.key, Box::new(fact))
    }

    pub(super) fn task_event(&self, task: TaskId, event: task::Event) -> Done {
        self.event(Event::Task { task, event })
    }
}

impl Job {
    /// Checks before each write to GitHub that the lease is safe, and reserves the next write of the installation. If
    /// the spacing asks for a wait, an effect that has not written yet is put off. After its first write it waits here
    /// for a short time, since putting it off would repeat all of it.
    pub(super) async fn may_write(&self, engine: &Engine) -> Result<(), EffectError> {
        loop {
            self.ensure_lease()?;
            let now = engine.now();
            let Err(until) = engine.spacing.try_reserve(self.effect.installation, now) else {
                self.writes.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            let wait = u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0);
            if self.writes.load(Ordering::Relaxed) == 0 || wait > FOLLOW_UP_MS {
                return Err(EffectError::Limited { by: LimitedBy::Spacing, until });
            }
            self.sleep(Duration::from_millis(wait)).await?;
        }
    }

    /// Returns the hidden mark by which a text of this effect is found again.
    pub(super) fn marker(&self) -> String {
        format!("<!-- autobuild:{} -->", self.effect.id)
    }
}

/// Returns the paths that no Player may change.
pub(super) fn protected_paths(settings: &RepositorySettings) -> Result<ProtectedPaths, EffectError> {
    ProtectedPaths::new(&settings.protected())
        .map_err(|error| EffectError::repository(RepositoryFault::Other(error.to_string())))
}
