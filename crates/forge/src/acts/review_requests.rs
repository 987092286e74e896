//! Asking people for a review, and taking that back.

use super::super::{
    feed::{EventOutcome, Telling},
    refusal::Refusal,
    state::{Actor, Repo, State, User, UserKind},
};
use serde_json::json;

impl State {
    /// Asks these people for a review, all of them or nobody. Whoever is asked already is told nothing new.
    pub(crate) fn request_review(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        logins: &[String],
    ) -> Result<(), Refusal> {
        let asked = self.reviewers(repo, number, logins)?;
        for user in asked {
            let pull = self.pull_mut(repo, number)?;
            if pull.requested.contains(&user) {
                continue;
            }
            pull.requested.push(user);
            self.request_event(by, repo, number, user, "review_requested")?;
            let telling = Telling {
                kind: "pull_request.review_requested",
                what: format!("asked {} to review", self.login(user)),
                number: Some(number),
                page: format!("/pull/{number}"),
                text: String::new(),
                outcome: EventOutcome::Neutral,
            };
            self.tell(by, Some(repo), telling);
        }
        Ok(())
    }

    /// Takes requests for a review back.
    pub(crate) fn withdraw_review_request(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        logins: &[String],
    ) -> Result<(), Refusal> {
        for user in self.reviewers(repo, number, logins)? {
            let pull = self.pull_mut(repo, number)?;
            let before = pull.requested.len();
            pull.requested.retain(|asked| *asked != user);
            if pull.requested.len() < before {
                self.request_event(by, repo, number, user, "review_request_removed")?;
            }
        }
        Ok(())
    }

    /// Whoever reviews is not asked any more.
    pub(super) fn reviewed(&mut self, repo: u64, number: u64, user: u64) -> Result<(), Refusal> {
        self.pull_mut(repo, number)?.requested.retain(|asked| *asked != user);
        Ok(())
    }

    fn reviewers(&self, repo: u64, number: u64, logins: &[String]) -> Result<Vec<u64>, Refusal> {
        let (known, author) = (self.repo(repo)?, self.pull(repo, number)?.0.user);
        logins.iter().map(|login| self.reviewer(known, author, login)).collect()
    }

    fn reviewer(&self, repo: &Repo, author: u64, login: &str) -> Result<u64, Refusal> {
        let user = self.user_named(login);
        if user.is_some_and(|user| user.id == author) {
            return Err(Refusal::new(
                422,
                "Review cannot be requested from pull request author.",
            ));
        }
        let may = |user: &&User| {
            user.kind != UserKind::Bot && (repo.owner == user.id || repo.collaborators.contains_key(&user.id))
        };
        user.filter(may).map(|user| user.id).ok_or_else(|| {
            Refusal::new(422, format!(
                "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not \
                 a collaborator of the {} repository.",
                self.full_name(repo)
            ))
        })
    }

    fn request_event(&mut self, by: Actor, repo: u64, number: u64, user: u64, action: &str) -> Result<(), Refusal> {
        let fields = json!({"requested_reviewer": self.user_json(user)});
        self.issue_event(by, repo, number, action, fields)
    }
}
