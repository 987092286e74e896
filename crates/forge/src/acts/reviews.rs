//! Reviews, comments on lines, dismissals.

use super::{
    super::{
        feed::{EventOutcome, LineRemark, Telling},
        json,
        refusal::Refusal,
        site::Site,
        state::{Actor, Review, ReviewState, State},
    },
    inline::place,
};
use crate::acts::{inline::NewInline, limits::LONGEST_BODY};
use serde_json::json as object;

/// A review to be made.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReview {
    pub(crate) body: String,
    /// `APPROVE`, `REQUEST_CHANGES`, `COMMENT`; none leaves it pending.
    pub(crate) event: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) comments: Vec<NewInline>,
}

/// The state that a review's event leads to.
fn decided(event: Option<&str>) -> Result<ReviewState, Refusal> {
    match event {
        None | Some("PENDING") => Ok(ReviewState::Pending),
        Some("APPROVE") => Ok(ReviewState::Approved),
        Some("REQUEST_CHANGES") => Ok(ReviewState::ChangesRequested),
        Some("COMMENT") => Ok(ReviewState::Commented),
        Some(other) => Err(Refusal::sentence(format!(
            "Variable $event was provided invalid value {other}"
        ))),
    }
}

/// What GitHub demands of a decision before it is recorded.
fn check_decision(author: bool, decision: ReviewState, body: &str, remarks: bool) -> Result<(), Refusal> {
    match decision {
        ReviewState::Approved if author => return Err(Refusal::sentence("Can not approve your own pull request")),
        ReviewState::ChangesRequested if author => {
            return Err(Refusal::sentence("Can not request changes on your own pull request"));
        }
        ReviewState::ChangesRequested | ReviewState::Commented if body.trim().is_empty() && !remarks => {
            return Err(Refusal::sentence("Body can't be blank"));
        }
        ReviewState::Pending
        | ReviewState::Commented
        | ReviewState::Approved
        | ReviewState::ChangesRequested
        | ReviewState::Dismissed => {}
    }
    match body.chars().count() > LONGEST_BODY {
        true => Err(Refusal::sentence("Body is too long (maximum is 65536 characters)")),
        false => Ok(()),
    }
}

impl Site {
    /// Makes a review, whole or not at all; gives its id.
    pub(crate) async fn review(&self, by: Actor, repo: u64, number: u64, new: &NewReview) -> Result<u64, Refusal> {
        let decision = decided(new.event.as_deref())?;
        let (base, head) = self.read(|state| {
            let (issue, pull) = state.pull(repo, number)?;
            check_decision(issue.user == by.user, decision, &new.body, !new.comments.is_empty())?;
            let pending = pull
                .reviews
                .iter()
                .any(|one| one.user == by.user && one.state == ReviewState::Pending);
            if pending {
                return Err(Refusal::sentence(
                    "User can only have one pending review per pull request",
                ));
            }
            Ok((pull.base_sha.clone(), pull.head_sha.clone()))
        })?;
        let commit = new.commit.clone().unwrap_or_else(|| head.clone());
        if commit != head && !self.is_part(repo, &base, &head, &commit).await? {
            return Err(Refusal::sentence("commit_id is not part of the pull request"));
        }
        let seen = self.comparison(repo, &base, &commit).await?;
        let hunks = new
            .comments
            .iter()
            .map(|one| place(&seen.files, one))
            .collect::<Result<Vec<_>, _>>()?;
        self.change(|state| {
            let id = state.record_review(by, repo, number, new, decision, &commit)?;
            for (one, hunk) in new.comments.iter().zip(hunks) {
                state.record_inline(by, repo, number, id, one, &commit, hunk)?;
            }
            if decision != ReviewState::Pending {
                state.reviewed(repo, number, by.user)?;
                state.review_event(by, repo, number, id, "submitted")?;
            }
            Ok(id)
        })
    }

    async fn is_part(&self, repo: u64, base: &str, head: &str, commit: &str) -> Result<bool, Refusal> {
        let bare = self.bare(repo);
        let Some(id) = bare.commit_id(commit).await? else {
            return Ok(false);
        };
        Ok(bare.is_ancestor(&id, head).await? && !bare.is_ancestor(&id, base).await?)
    }
}

impl State {
    fn record_review(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        new: &NewReview,
        decision: ReviewState,
        commit: &str,
    ) -> Result<u64, Refusal> {
        let (id, at) = (self.next_id(), self.clock.stamp());
        let issue = self.issue_mut(repo, number)?;
        issue.updated_at = at;
        let pull = issue.pull.as_mut().ok_or_else(Refusal::not_found)?;
        pull.reviews.push(Review {
            id,
            user: by.user,
            body: new.body.clone(),
            state: decision,
            commit: commit.to_owned(),
            submitted_at: (decision != ReviewState::Pending).then_some(at),
            dismissal: None,
        });
        Ok(id)
    }

    pub(crate) fn find_review(&self, repo: u64, number: u64, id: u64) -> Result<&Review, Refusal> {
        let (_, pull) = self.pull(repo, number)?;
        pull.reviews
            .iter()
            .find(|review| review.id == id)
            .ok_or_else(Refusal::not_found)
    }

    fn review_mut(&mut self, repo: u64, number: u64, id: u64) -> Result<&mut Review, Refusal> {
        let pull = self.pull_mut(repo, number)?;
        pull.reviews
            .iter_mut()
            .find(|review| review.id == id)
            .ok_or_else(Refusal::not_found)
    }

    /// Submits a pending review.
    pub(crate) fn submit_review(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        id: u64,
        event: &str,
        body: Option<&str>,
    ) -> Result<(), Refusal> {
        let decision = decided(Some(event))?;
        let author = self.issue(repo, number)?.user == by.user;
        let remarks = self.pull(repo, number)?.1.threads.iter().any(|one| one.review == id);
        let at = self.clock.stamp();
        let review = self.review_mut(repo, number, id)?;
        if review.user != by.user || review.state != ReviewState::Pending {
            return Err(Refusal::sentence("Could not submit review"));
        }
        let body = body.map_or_else(|| review.body.clone(), str::to_owned);
        check_decision(author, decision, &body, remarks)?;
        (review.body, review.state, review.submitted_at) = (body, decision, Some(at));
        self.reviewed(repo, number, by.user)?;
        self.review_event(by, repo, number, id, "submitted")
    }

    /// Changes what a review says; what it decides stays.
    pub(crate) fn edit_review(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        id: u64,
        body: &str,
    ) -> Result<(), Refusal> {
        check_decision(false, ReviewState::Commented, body, false)?;
        let review = self.review_mut(repo, number, id)?;
        if review.user != by.user {
            return Err(Refusal::not_for_integration());
        }
        body.clone_into(&mut review.body);
        let review = self.find_review(repo, number, id)?;
        let mut shown = json::review(self, self.repo(repo)?, number, review);
        json::put(&mut shown, "state", object!(json::review_state_lower(review.state)));
        self.pull_event(
            by,
            repo,
            number,
            "pull_request_review",
            "edited",
            object!({"review": shown}),
        )
    }

    /// Takes an approval or a request for changes back.
    pub(crate) fn dismiss_review(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        id: u64,
        message: &str,
    ) -> Result<(), Refusal> {
        if message.trim().is_empty() {
            return Err(Refusal::sentence("message can't be blank"));
        }
        let review = self.review_mut(repo, number, id)?;
        if !matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested) {
            return Err(Refusal::sentence("Can not dismiss a commented pull request review"));
        }
        review.state = ReviewState::Dismissed;
        review.dismissal = Some(message.to_owned());
        self.review_event(by, repo, number, id, "dismissed")
    }

    fn review_event(&mut self, by: Actor, repo: u64, number: u64, id: u64, action: &str) -> Result<(), Refusal> {
        let review = self.find_review(repo, number, id)?;
        let (decision, text) = (
            review.state,
            review.dismissal.clone().unwrap_or_else(|| review.body.clone()),
        );
        let mut shown = json::review(self, self.repo(repo)?, number, review);
        json::put(&mut shown, "state", object!(json::review_state_lower(decision)));
        if text.is_empty() {
            json::put(&mut shown, "body", object!(null));
        }
        self.pull_event(
            by,
            repo,
            number,
            "pull_request_review",
            action,
            object!({"review": shown}),
        )?;
        let what = match decision {
            ReviewState::Approved => "approved",
            ReviewState::ChangesRequested => "requested changes on",
            ReviewState::Commented | ReviewState::Pending => "reviewed",
            ReviewState::Dismissed => "dismissed a review of",
        };
        let outcome = match decision {
            ReviewState::Approved => EventOutcome::Good,
            ReviewState::ChangesRequested => EventOutcome::Bad,
            ReviewState::Commented | ReviewState::Pending | ReviewState::Dismissed => EventOutcome::Neutral,
        };
        let remarks = match action {
            "submitted" => self.remarks(repo, number, id)?,
            _ => Vec::new(),
        };
        let kind = format!("review.{action}");
        let telling = Telling {
            kind: &kind,
            what: what.to_owned(),
            number: Some(number),
            page: format!("/pull/{number}#pullrequestreview-{id}"),
            text,
            outcome,
        };
        self.tell_with(by, Some(repo), telling, remarks);
        Ok(())
    }

    /// What a review says on lines.
    fn remarks(&self, repo: u64, number: u64, review: u64) -> Result<Vec<LineRemark>, Refusal> {
        let threads = self.pull(repo, number)?.1.threads.iter();
        let of_review = threads.filter(|one| one.review == review);
        Ok(of_review
            .map(|one| LineRemark {
                path: one.path.clone(),
                line: one.line,
                text: one.body.clone(),
            })
            .collect())
    }
}
