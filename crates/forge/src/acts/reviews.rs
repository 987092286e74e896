//! Reviews, their comments on lines of the diff, dismissals, and review requests.

use crate::{
    acts::limits::check_review_body,
    diff,
    feed::{EventOutcome, FeedEvent, LineRemark},
    json,
    refusal::{OrNotFound, Refusal, Result},
    site::Site,
    state::{Access, DiffSide, InlineComment, Repo, Review, ReviewState, State, User, UserKind},
};
use git::bare::FileChange;
use serde_json::json as object;

#[derive(Clone, Debug, Default)]
pub(crate) struct NewReview {
    pub(crate) body: String,
    /// `APPROVE`, `REQUEST_CHANGES` or `COMMENT`.
    pub(crate) event: String,
    pub(crate) commit: Option<String>,
    pub(crate) comments: Vec<NewInline>,
}

/// A comment on a line, as part of a new review.
#[derive(Clone, Debug)]
pub(crate) struct NewInline {
    pub(crate) path: String,
    pub(crate) line: Option<u64>,
    pub(crate) side: DiffSide,
    pub(crate) start_line: Option<u64>,
    pub(crate) start_side: Option<DiffSide>,
    pub(crate) body: String,
}

/// Returns the diff hunk up to a comment's line, or the reason why no comment is allowed there.
fn hunk_until(files: &[FileChange], new: &NewInline) -> Result<String> {
    let thread = |text: &str| Refusal::sentence(format!("Pull request review thread {text}"));
    if new.body.trim().is_empty() {
        return Err(Refusal::sentence("Pull request review comment body can't be blank"));
    }
    check_review_body(&new.body)?;
    let file = files.iter().find(|file| file.path == new.path);
    let file = file.ok_or_else(|| thread("path is invalid"))?;
    let lines = diff::lines(file.patch.as_deref().unwrap_or_default());
    let find = |side: DiffSide, number: u64| lines.iter().enumerate().find(|(_, line)| line.is(side, number));
    let off_diff = || thread("line must be part of the diff and Pull request review thread diff hunk can't be blank");
    let end = new.line.and_then(|number| find(new.side, number));
    let (end, last) = end.ok_or_else(off_diff)?;
    if let Some(start) = new.start_line {
        let same = || thread("start line must be part of the same hunk as the line.");
        let (begin, first) = find(new.start_side.unwrap_or(new.side), start).ok_or_else(same)?;
        if begin >= end {
            return Err(thread("start line must precede the end line."));
        }
        if first.hunk != last.hunk {
            return Err(same());
        }
    }
    let shown = lines.iter().take(end + 1).filter(|line| line.hunk == last.hunk);
    Ok(shown.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"))
}

fn decided(event: &str) -> Result<ReviewState> {
    match event {
        "APPROVE" => Ok(ReviewState::Approved),
        "REQUEST_CHANGES" => Ok(ReviewState::ChangesRequested),
        "COMMENT" => Ok(ReviewState::Commented),
        other => Err(Refusal::sentence(format!("Variable $event was provided invalid value {other}"))),
    }
}

fn check_decision(author: bool, decision: ReviewState, body: &str, remarks: bool) -> Result {
    let refused = |text: &str| Err(Refusal::sentence(text));
    match decision {
        ReviewState::Approved if author => refused("Can not approve your own pull request"),
        ReviewState::ChangesRequested if author => refused("Can not request changes on your own pull request"),
        ReviewState::ChangesRequested | ReviewState::Commented if body.trim().is_empty() && !remarks => {
            refused("Body can't be blank")
        }
        ReviewState::Commented | ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => {
            check_review_body(body)
        }
    }
}

impl Site {
    /// Creates a review with all its comments, or nothing; returns its id.
    pub(crate) async fn review(&self, at: Access, number: u64, new: &NewReview) -> Result<u64> {
        let decision = decided(&new.event)?;
        let (base, head) = self.read(|state| {
            let (issue, pull) = state.pull(at.repo, number)?;
            check_decision(issue.user == at.by.user, decision, &new.body, !new.comments.is_empty())?;
            Ok::<_, Refusal>((pull.base_sha.clone(), pull.head_sha.clone()))
        })?;
        let commit = new.commit.clone().unwrap_or_else(|| head.clone());
        if commit != head && !self.is_part(at.repo, &base, &head, &commit).await? {
            return Err(Refusal::sentence("commit_id is not part of the pull request"));
        }
        let seen = self.comparison(at.repo, &base, &commit).await?;
        let hunks = new.comments.iter().map(|one| hunk_until(&seen.files, one));
        let hunks = hunks.collect::<Result<Vec<_>>>()?;
        self.change(|state| {
            let id = state.record_review(at, number, new, decision, &commit)?;
            for (one, hunk) in new.comments.iter().zip(hunks) {
                state.record_inline(at, number, id, one, &commit, hunk)?;
            }
            // A review answers the request for it.
            let requested = &mut state.pull_mut(at.repo, number)?.requested;
            requested.retain(|asked| *asked != at.by.user);
            state.review_event(at, number, id, "submitted")?;
            Ok(id)
        })
    }

    async fn is_part(&self, repo: u64, base: &str, head: &str, commit: &str) -> Result<bool> {
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
        at: Access,
        number: u64,
        new: &NewReview,
        decision: ReviewState,
        commit: &str,
    ) -> Result<u64> {
        let (id, now) = (self.next_id(), self.clock.stamp());
        let issue = self.issue_mut(at.repo, number)?;
        issue.updated_at = now;
        issue.pull.as_mut().or_not_found()?.reviews.push(Review {
            id,
            user: at.by.user,
            body: new.body.clone(),
            state: decision,
            commit: commit.to_owned(),
            submitted_at: now,
            dismissal: None,
        });
        Ok(id)
    }

    fn record_inline(
        &mut self,
        at: Access,
        number: u64,
        review: u64,
        new: &NewInline,
        commit: &str,
        hunk: String,
    ) -> Result {
        let (id, now) = (self.next_id(), self.clock.stamp());
        let comment = InlineComment {
            id,
            review,
            user: at.by.user,
            body: new.body.clone(),
            path: new.path.clone(),
            line: new.line,
            side: new.side,
            start_line: new.start_line,
            start_side: new.start_line.map(|_| new.start_side.unwrap_or(new.side)),
            commit: commit.to_owned(),
            hunk,
            created_at: now,
            updated_at: now,
        };
        let shown = json::inline_comment(self, self.repo(at.repo)?, number, &comment);
        self.pull_mut(at.repo, number)?.threads.push(comment);
        let fields = object!({"comment": shown});
        self.pull_event(at, number, "pull_request_review_comment", "created", fields)
    }

    pub(crate) fn find_review(&self, repo: u64, number: u64, id: u64) -> Result<&Review> {
        let (_, pull) = self.pull(repo, number)?;
        pull.reviews.iter().find(|review| review.id == id).or_not_found()
    }

    fn review_mut(&mut self, repo: u64, number: u64, id: u64) -> Result<&mut Review> {
        let reviews = &mut self.pull_mut(repo, number)?.reviews;
        reviews.iter_mut().find(|review| review.id == id).or_not_found()
    }

    /// Dismisses an approval or a request for changes.
    pub(crate) fn dismiss_review(&mut self, at: Access, number: u64, id: u64, message: &str) -> Result {
        if message.trim().is_empty() {
            return Err(Refusal::sentence("message can't be blank"));
        }
        let review = self.review_mut(at.repo, number, id)?;
        if !matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested) {
            let text = "Can not dismiss a commented pull request review";
            return Err(Refusal::sentence(text));
        }
        review.state = ReviewState::Dismissed;
        review.dismissal = Some(message.to_owned());
        self.review_event(at, number, id, "dismissed")
    }

    fn review_event(&mut self, at: Access, number: u64, id: u64, action: &str) -> Result {
        let review = self.find_review(at.repo, number, id)?;
        let (what, outcome) = match review.state {
            ReviewState::Approved => ("approved", EventOutcome::Good),
            ReviewState::ChangesRequested => ("requested changes on", EventOutcome::Bad),
            ReviewState::Commented => ("reviewed", EventOutcome::Neutral),
            ReviewState::Dismissed => ("dismissed a review of", EventOutcome::Neutral),
        };
        let text = review.dismissal.clone().unwrap_or_else(|| review.body.clone());
        let mut shown = json::webhook_review(self, self.repo(at.repo)?, number, review);
        if text.is_empty() {
            json::put(&mut shown, "body", object!(null));
        }
        let mut news = FeedEvent::new(format!("review.{action}"), what, text);
        news.url = format!("#pullrequestreview-{id}");
        news.outcome = outcome;
        if action == "submitted" {
            news.remarks = self.remarks(at.repo, number, id)?;
        }
        self.pull_event(at, number, "pull_request_review", action, object!({"review": shown}))?;
        self.record_on(at, number, news);
        Ok(())
    }

    /// Returns a review's comments on lines.
    fn remarks(&self, repo: u64, number: u64, review: u64) -> Result<Vec<LineRemark>> {
        let threads = self.pull(repo, number)?.1.threads.iter();
        let remark =
            |one: &InlineComment| LineRemark { path: one.path.clone(), line: one.line, text: one.body.clone() };
        Ok(threads.filter(|one| one.review == review).map(remark).collect())
    }

    /// Requests a review from all of these people, or from none if one may not be asked. People already asked get no
    /// event.
    pub(crate) fn request_review(&mut self, at: Access, number: u64, logins: &[String]) -> Result {
        for user in self.reviewers(at.repo, number, logins)? {
            let requested = &mut self.pull_mut(at.repo, number)?.requested;
            if requested.contains(&user) {
                continue;
            }
            requested.push(user);
            let fields = object!({"requested_reviewer": self.user_json(user)});
            self.issue_event(at, number, "review_requested", fields)?;
            let what = format!("asked {} to review", self.login(user));
            let news = FeedEvent::new("pull_request.review_requested", what, "");
            self.record_on(at, number, news);
        }
        Ok(())
    }

    fn reviewers(&self, repo: u64, number: u64, logins: &[String]) -> Result<Vec<u64>> {
        let (known, author) = (self.repo(repo)?, self.pull(repo, number)?.0.user);
        logins.iter().map(|login| self.reviewer(known, author, login)).collect()
    }

    fn reviewer(&self, repo: &Repo, author: u64, login: &str) -> Result<u64> {
        let user = self.user_named(login);
        if user.is_some_and(|user| user.id == author) {
            let text = "Review cannot be requested from pull request author.";
            return Err(Refusal::new(422, text));
        }
        let belongs = |user: u64| repo.owner == user || repo.collaborators.contains_key(&user);
        let may = |user: &&User| user.kind != UserKind::Bot && belongs(user.id);
        user.filter(may).map(|user| user.id).ok_or_else(|| {
            let text = "Reviews may only be requested from collaborators. One or more of the users or teams you specified is \
                        not a collaborator of the";
            Refusal::new(422, format!("{text} {} repository.", self.full_name(repo)))
        })
    }
}
