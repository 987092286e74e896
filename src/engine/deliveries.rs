//! Admits deliveries of the webhook or of GitHub's log: stores each needed one with the effect that processes it.

use crate::{
    engine::{Engine, ingest::Ingest},
    github::webhook::{Admission, OwnApps, Summary, WebhookError, admit},
    store::{AcceptOutcome, DeliverySource, MemoryShare, NewDelivery, StoreError},
};
use domain::ids::{IssueNumber, PullNumber};

/// A delivery as GitHub sent it, or as its log shows it.
pub struct DeliveryRequest {
    /// The id of the event, which all attempts to deliver it share.
    pub id: String,
    /// The name of the event, such as `issues`.
    pub event: String,
    pub body: Vec<u8>,
    /// The body's share of the memory for bodies.
    pub share: MemoryShare,
    pub source: DeliverySource,
}

/// The fate of a delivery that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It is on the disk, and survives a power cut.
    Stored(AcceptOutcome),
    /// AutoBuild does not act on it.
    NotNeeded,
}

/// Why a delivery was not stored.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryFailure {
    /// The body is unusable, so another attempt fails as well.
    #[error(transparent)]
    Payload(#[from] WebhookError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Stores a delivery if it is needed.
    pub async fn accept(&self, request: DeliveryRequest) -> Result<DeliveryOutcome, DeliveryFailure> {
        let clients: Vec<_> = std::iter::once(&self.autobuild).chain(self.coach.as_ref()).collect();
        let summary = match admit(&request.event, &request.body, &OwnApps::of(&clients))? {
            Admission::Keep(summary) => summary,
            Admission::Own | Admission::Unneeded => return Ok(DeliveryOutcome::NotNeeded),
        };
        let payload = String::from_utf8(request.body).map_err(|_| WebhookError::NotUtf8)?;
        let (app, now) = (self.autobuild.id, self.now());
        let ingest = Ingest { app, delivery: request.id.clone() };
        let issue = self.issue_of(&summary).await?;
        let effect = ingest.effect(summary.installation, summary.repo, issue, now);
        let delivery = NewDelivery {
            app,
            id: request.id,
            event: request.event,
            installation: summary.installation,
            repo: summary.repo,
            payload: payload.into(),
            received_at: now,
            source: request.source,
        };
        Ok(DeliveryOutcome::Stored(self.store.accept_counted(delivery, Some(effect), request.share).await?))
    }

    /// Returns the issue for which deliveries are read in order; for a comment on a pull request, the Feature's issue.
    async fn issue_of(&self, summary: &Summary) -> Result<Option<IssueNumber>, StoreError> {
        let (Some(repo), Some(issue)) = (summary.repo, summary.issue) else {
            return Ok(None);
        };
        if summary.event != "issue_comment" {
            return Ok(Some(issue));
        }
        let found = self.store.by_pull(repo, PullNumber(issue.0)).await?;
        Ok(Some(found.map_or(issue, |found| found.feature.key.issue)))
    }
}
