//! Collects the comments that belong to an issue's snapshot: those of people with write access, written before the
//! issue was labelled and not edited since. Reads from the newest page back, until the snapshot is full.

use crate::{
    config::Permission,
    engine::{
        ingest::{context::InboundContext, permission_check, permission_check::PermissionCheck},
        job::EffectError,
    },
    github::model::{AccountType, Comment, Issue},
};
use domain::{
    feature::{Discussion, EarlierComment, OlderComments, discussion::spoken_text},
    ids::Millis,
};
use std::collections::BTreeMap;

/// The most pages that are read, of a hundred comments each.
const MOST_PAGES: u64 = 10;

/// The most people whose permission is looked up. If more people commented, those of the newest comments count.
const MOST_PEOPLE: usize = 50;

/// The people who may write to the repository. Each is looked up once.
pub struct Writers<'a> {
    context: &'a InboundContext<'a>,
    known: BTreeMap<String, PermissionCheck>,
}

impl<'a> Writers<'a> {
    /// Creates the list with the sender on it, whose permission was checked before.
    pub fn beside_sender(context: &'a InboundContext<'a>) -> Self {
        let sender = context.origin.sender.user.login.clone();
        Self { context, known: BTreeMap::from([(sender, PermissionCheck::Granted)]) }
    }

    /// Returns `true` if this person has write access.
    pub async fn has(&mut self, login: &str) -> Result<bool, EffectError> {
        if login.is_empty() {
            return Ok(false);
        }
        let checked = match self.known.get(login) {
            Some(checked) => *checked,
            None => permission_check::check(self.context, login, Permission::Write).await?,
        };
        self.known.insert(login.to_owned(), checked);
        Ok(checked == PermissionCheck::Granted)
    }
}

/// Returns the discussion of the issue as it was at `labelled_at`.
pub async fn before(writers: &mut Writers<'_>, issue: &Issue, labelled_at: Millis) -> Result<Discussion, EffectError> {
    let repo = writers.context.repo();
    let mut discussion = Discussion::default();
    let last = repo.comment_pages(issue.comments);
    let first = last.saturating_sub(MOST_PAGES) + 1;
    for page in (first..=last).rev() {
        let comments = repo.comments(issue.number, page).await?;
        for comment in comments.into_iter().rev() {
            add(writers, &mut discussion, comment, labelled_at).await?;
        }
        if discussion.is_full() {
            return Ok(discussion);
        }
    }
    if first > 1 {
        discussion.older = OlderComments::LeftOut;
    }
    Ok(discussion)
}

async fn add(
    writers: &mut Writers<'_>,
    discussion: &mut Discussion,
    comment: Comment,
    labelled_at: Millis,
) -> Result<(), EffectError> {
    let Some(comment) = candidate(comment, labelled_at).filter(|_| !discussion.is_full()) else {
        return Ok(());
    };
    if !writers.known.contains_key(&comment.by.login) && writers.known.len() >= MOST_PEOPLE {
        discussion.older = OlderComments::LeftOut;
    } else if writers.has(&comment.by.login).await? {
        discussion.add(comment);
    }
    Ok(())
}

/// Returns the comment if a person wrote it, not through an App, and it was neither written nor edited after the label.
/// It counts if its author has write access.
fn candidate(comment: Comment, labelled_at: Millis) -> Option<EarlierComment> {
    let author = comment.author.filter(|author| author.kind == AccountType::Person)?;
    let at = comment.created_at?;
    let edited = comment.updated_at.unwrap_or(at);
    if comment.via_app.is_some() || at > labelled_at || edited > labelled_at {
        return None;
    }
    Some(EarlierComment { by: author.user, at, text: spoken_text(&comment.body)? })
}

#[cfg(test)]
mod tests {
    use super::candidate;
    use crate::github::model::Comment;
    use domain::ids::Millis;
    use serde_json::{Value, json};

    const LABELLED: &str = "2026-01-01T12:00:00Z";

    fn counts(change: Value) -> bool {
        let mut comment = json!({
            "id": 1, "body": "We keep the parser.", "user": {"id": 2, "login": "wendy", "type": "User"},
            "created_at": "2026-01-01T11:00:00Z", "updated_at": "2026-01-01T11:00:00Z",
        });
        for (key, value) in change.as_object().unwrap() {
            comment[key] = value.clone();
        }
        let comment: Comment = serde_json::from_value(comment).unwrap();
        let labelled = chrono::DateTime::parse_from_rfc3339(LABELLED).unwrap().timestamp_millis();
        candidate(comment, Millis(labelled)).is_some()
    }

    #[test]
    fn only_what_a_person_said_before_the_label_counts() {
        assert!(counts(json!({})));
        assert!(counts(json!({"updated_at": "2026-01-01T11:59:59Z"})), "edited before");
        assert!(counts(json!({"created_at": LABELLED, "updated_at": LABELLED})), "in the same second");
        assert!(!counts(json!({"updated_at": "2026-01-01T12:00:01Z"})), "edited since");
        assert!(!counts(json!({"created_at": "2026-01-01T12:00:01Z", "updated_at": "2026-01-01T12:00:01Z"})));
        assert!(!counts(json!({"user": {"id": 3, "login": "helper[bot]", "type": "Bot"}})));
        assert!(!counts(json!({"user": null})), "a deleted account");
        assert!(!counts(json!({"performed_via_github_app": {"id": 5}})));
        assert!(!counts(json!({"body": "/autobuild plan in one file"})), "an order");
        assert!(!counts(json!({"body": ""})));
        assert!(!counts(json!({"created_at": null})));
    }
}
