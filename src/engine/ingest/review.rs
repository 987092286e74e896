//! Handles people's reviews: requests for changes, approvals that override the Coach, and remarks. GitHub is asked for
//! each reviewer's permission.

use crate::{
    config::{Permission, Remarks},
    engine::{
        Engine,
        apply::Fact,
        ingest::{
            branches_and_pulls::{of_pull, person},
            context::{AwaitedTrigger, InboundContext, fact, one},
            given_command::{GivenCommand, permission},
            permission_check::{PermissionCheck, check_sender, no_permission},
        },
        job::{Done, EffectError},
        repository_settings::last_read,
    },
    github::{
        model::{AccountType, LineComment, Pull, Review, ReviewState},
        webhook::{EventOrigin, ReviewChange},
    },
    store::StoreError,
};
use domain::{
    command::{Command, Parsed, parse},
    effect::{ReplyTo, Thread},
    feature::{
        Feature, State,
        command::{Asker, Refusal, Trigger, review_refused},
        event::{Event, Target},
        step::step,
    },
    ids::{TaskId, User},
    problem::{Problem, ReviewItem, Severity},
    task::{HumanReview, PersonDid},
};
use text::{shorten, visible::visible_text};

/// The longest text of a review that agents get, in characters.
const MAX_BODY: usize = 20_000;

/// The longest comment on a line that agents get, in characters.
const MAX_COMMENT: usize = 4_000;

/// The most comments on lines that agents get.
const MOST_COMMENTS: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewerRight {
    /// The reviewer may run commands, so an approval overrides the Coach.
    Commands,
    /// The reviewer has write access, but the settings require more for commands. Such a reviewer may request changes
    /// and withdraw the request.
    Writes,
    /// The reviewer may only make remarks.
    Speaks(Asker),
}

impl ReviewerRight {
    /// Returns what agents get of a text. Hidden parts go first: a shortened text may have lost the start of one.
    fn readable(self, text: &str, max: usize) -> String {
        let text = match self {
            Self::Speaks(_) => visible_text(text).text,
            Self::Commands | Self::Writes => text.to_owned(),
        };
        shorten::middle(text.trim(), max)
    }
}

/// Handles a review of one of our pull requests, or the dismissal of a review.
pub async fn handle_review(
    context: &InboundContext<'_>,
    pull: &Pull,
    review: &Review,
    change: ReviewChange,
) -> Result<Done, EffectError> {
    let author = review.author.as_ref().filter(|author| author.kind == AccountType::Person);
    let Some((feature, task)) = of_pull(context, pull).await? else {
        return Ok(Done::Nothing);
    };
    let Some(author) = author else { return Ok(Done::Nothing) };
    let about = About { context, pull, review, feature, task };
    match change {
        // No check is needed: GitHub lets only people with write access dismiss.
        ReviewChange::Dismissed => Ok(about.dismissed(&author.user)),
        ReviewChange::Submitted if context.origin.sender.kind == AccountType::Person => about.submitted().await,
        ReviewChange::Submitted => Ok(Done::Nothing),
    }
}

struct About<'a> {
    context: &'a InboundContext<'a>,
    pull: &'a Pull,
    review: &'a Review,
    feature: Feature,
    task: Option<TaskId>,
}

impl<'a> About<'a> {
    fn cause(&self) -> String {
        cause(self.review)
    }

    fn fact(&self, event: Event, cause: String) -> Fact {
        fact(self.context.engine, event, cause, &self.context.origin.sender.user)
    }

    fn dismissed(&self, author: &User) -> Done {
        let Some(task) = self.task else {
            return Done::Nothing;
        };
        let did = PersonDid::WithdrawChanges { until: self.review.id };
        let event = person(task, author, did);
        one(self.feature.key, self.fact(event, format!("{}/dismissed", self.cause())))
    }

    /// Applies the review's verdict first, then the command that its text may contain. A verdict that does already what
    /// the command asks for ends the delivery in the same transaction: a repetition could not tell that it did.
    async fn submitted(self) -> Result<Done, EffectError> {
        let needed = permission(&self.feature);
        let right = self.reviewer_right(needed).await?;
        let said = parse(&self.review.body);
        let refusal = self.override_refused(right, needed);
        let verdict = self.verdict(right, &said).await?;
        let is_done = self.does_all(right, &said, verdict.as_ref()).await?;
        if let Some(event) = verdict {
            let fact = self.fact(event, self.cause());
            if is_done && refusal.is_none() {
                return Ok(one(self.feature.key, fact));
            }
            self.context.engine.apply(&self.feature.key, fact, None).await?;
        }
        if let Some(refusal) = refusal {
            self.given_command("refused").refused(refusal).await
        } else if is_done {
            Ok(Done::Nothing)
        } else {
            let refusal = match right {
                ReviewerRight::Commands => None,
                ReviewerRight::Writes => Some(no_permission(needed, Asker::Member)),
                ReviewerRight::Speaks(asker) => Some(no_permission(needed, asker)),
            };
            self.given_command("command").answer_command(said, refusal).await
        }
    }

    /// Returns `true` if the verdict does what the command in the text asks for.
    async fn does_all(
        &self,
        right: ReviewerRight,
        said: &Parsed,
        verdict: Option<&Event>,
    ) -> Result<bool, EffectError> {
        Ok(match (self.review.state, right) {
            (ReviewState::Approved, _) => matches!(said, Parsed::Command(Command::Approve { .. })),
            (ReviewState::ChangesRequested, ReviewerRight::Commands | ReviewerRight::Writes) => {
                matches!(said, Parsed::Command(Command::Resume { .. })) && !self.waits_after(verdict).await?
            }
            (ReviewState::ChangesRequested, ReviewerRight::Speaks(_))
            | (ReviewState::Commented | ReviewState::Dismissed | ReviewState::Other, _) => false,
        })
    }

    /// Returns `true` if the work that the review is about waits for a person, also after the verdict. An earlier try may
    /// have applied the verdict already.
    async fn waits_after(&self, verdict: Option<&Event>) -> Result<bool, EffectError> {
        let engine = self.context.engine;
        let is_known = engine.store.knows_cause(self.feature.key.repo, &self.cause()).await?;
        // Read again: the work may have begun to wait since, for example with a question that `resume` answers.
        let feature = engine.feature(&self.feature.key).await?.unwrap_or_else(|| self.feature.clone());
        let feature = match verdict.filter(|_| !is_known) {
            Some(verdict) => step(feature, verdict.clone(), engine.now()).feature,
            None => feature,
        };
        let is_paused = matches!(feature.state, State::Paused { .. });
        Ok(match self.task {
            Some(id) => is_paused || feature.task(id).is_some_and(|task| task.is_blocked() || task.pause.is_some()),
            None => is_paused || matches!(feature.state, State::Blocked { .. }),
        })
    }

    async fn reviewer_right(&self, needed: Permission) -> Result<ReviewerRight, EffectError> {
        let asker = match check_sender(self.context, needed).await? {
            PermissionCheck::Granted => return Ok(ReviewerRight::Commands),
            PermissionCheck::Denied(asker) => asker,
            PermissionCheck::Unknown => Asker::Member,
        };
        if needed != Permission::Write
            && check_sender(self.context, Permission::Write).await? == PermissionCheck::Granted
        {
            return Ok(ReviewerRight::Writes);
        }
        Ok(ReviewerRight::Speaks(asker))
    }

    /// Returns the event for the review's verdict, without the command.
    async fn verdict(&self, right: ReviewerRight, said: &Parsed) -> Result<Option<Event>, EffectError> {
        let Some(task) = self.task else {
            return self.of_feature(right, said).await;
        };
        let id = self.review.id;
        let did = match (self.review.state, right) {
            (ReviewState::ChangesRequested, ReviewerRight::Commands | ReviewerRight::Writes) => {
                PersonDid::RequestChanges(self.content(Severity::MustFix, right, said).await?)
            }
            (ReviewState::Approved, ReviewerRight::Commands) => {
                PersonDid::Approve { review: id, commit: self.review.commit.clone() }
            }
            (ReviewState::Approved, ReviewerRight::Writes) => PersonDid::WithdrawChanges { until: id },
            (
                ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Commented,
                ReviewerRight::Speaks(_),
            ) if last_read(&self.feature).remarks == Remarks::Write => {
                return Ok(None);
            }
            (ReviewState::Approved | ReviewState::ChangesRequested, ReviewerRight::Speaks(_))
            | (ReviewState::Commented, _) => {
                let remarks = self.content(Severity::NiceToHave, right, said).await?;
                if remarks.items.is_empty() {
                    return Ok(None);
                } else {
                    PersonDid::Remark(remarks)
                }
            }
            (ReviewState::Dismissed | ReviewState::Other, _) => return Ok(None),
        };
        Ok(Some(person(task, &self.context.origin.sender.user, did)))
    }

    /// Returns the event for a review of the feature pull request. A request for changes becomes a task.
    async fn of_feature(&self, right: ReviewerRight, said: &Parsed) -> Result<Option<Event>, EffectError> {
        match (self.review.state, right) {
            (ReviewState::ChangesRequested, ReviewerRight::Commands | ReviewerRight::Writes) => {
                let asked = self.content(Severity::MustFix, right, said).await?;
                Ok(Some(Event::ReviewRequested(Box::new(asked))))
            }
            (
                ReviewState::ChangesRequested
                | ReviewState::Approved
                | ReviewState::Commented
                | ReviewState::Dismissed
                | ReviewState::Other,
                _,
            ) => Ok(None),
        }
    }

    /// Returns the refusal for an approval that does not override.
    fn override_refused(&self, right: ReviewerRight, needed: Permission) -> Option<Refusal> {
        let task = self.task.and_then(|id| self.feature.task(id))?;
        match (self.review.state, right) {
            (ReviewState::Approved, ReviewerRight::Commands) => review_refused(task, self.review.commit.as_ref()),
            (ReviewState::Approved, ReviewerRight::Writes) => {
                task.is_blocked().then(|| no_permission(needed, Asker::Member))
            }
            _ => None,
        }
    }

    /// Returns the review's text and its comments on lines. They are read from GitHub once, since the event stores
    /// them. A command in the text is left out, but not what `resume` says to the Player.
    async fn content(
        &self,
        severity: Severity,
        right: ReviewerRight,
        said: &Parsed,
    ) -> Result<HumanReview, EffectError> {
        let (repo, pull) = (self.context.repo(), self.pull.number);
        let comments = repo.review_comments(pull, self.review.id).await?;
        let item = |problem| ReviewItem { severity, ..ReviewItem::must_fix(problem) };
        let words = match said {
            Parsed::None => self.review.body.trim(),
            Parsed::Command(Command::Resume { guidance: Some(words), .. }) => words,
            Parsed::Command(_) | Parsed::Malformed { .. } => "",
        };
        let mut items = Vec::new();
        let body = right.readable(words, MAX_BODY);
        if !body.is_empty() {
            items.push(ReviewItem { severity, ..ReviewItem::must_fix_remark("review", &body) });
        }
        let shown = comments.iter().take(MOST_COMMENTS);
        items.extend(shown.map(|comment| {
            let text = right.readable(&comment.body, MAX_COMMENT);
            ReviewItem { severity, ..on_line(comment, &text) }
        }));
        let more = comments.len().saturating_sub(MOST_COMMENTS);
        if more > 0 {
            items.push(item(Problem::MoreRemarks(more)));
        }
        if items.is_empty() && severity == Severity::MustFix {
            items.push(item(Problem::NothingNamed));
        }
        Ok(HumanReview { id: self.review.id, by: self.context.origin.sender.user.clone(), items })
    }

    fn given_command(self, what: &str) -> GivenCommand<'a> {
        let cause = format!("{}/{what}", self.cause());
        GivenCommand {
            context: self.context,
            on: self.task.map_or(Target::Feature, Target::Task),
            thread: Thread::Pull(self.pull.number),
            to: ReplyTo::Fact(cause.clone()),
            cause,
            open_cause: None,
            written_at: self.review.submitted_at,
            issue: None,
            feature: self.feature,
        }
    }
}

fn on_line(comment: &LineComment, text: &str) -> ReviewItem {
    ReviewItem {
        file: Some(comment.path.clone()).filter(|path| !path.is_empty()),
        line: comment.line.or(comment.original_line),
        ..ReviewItem::must_fix_remark("review", text)
    }
}

fn cause(review: &Review) -> String {
    format!("review/{}", review.id)
}

/// Returns the trigger for a review of our pull requests that has a verdict or a command.
pub(super) async fn awaited(
    engine: &Engine,
    origin: &EventOrigin,
    pull: &Pull,
    review: &Review,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    let decides = match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested => true,
        ReviewState::Commented | ReviewState::Dismissed | ReviewState::Other => parse(&review.body) != Parsed::None,
    };
    let (store, branch) = (&engine.store, &pull.head.branch);
    if !decides || store.by_branch(origin.repo.id, branch).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(AwaitedTrigger {
        trigger: Trigger::Review,
        thread: Thread::Pull(pull.number),
        cause: cause(review),
        comment: None,
    }))
}
