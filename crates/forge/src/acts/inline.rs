//! Comments on lines of a diff: where they may stand.

use super::super::{
    diff,
    diff::DiffLine,
    json,
    refusal::Refusal,
    state::{Actor, InlineComment, Side, State},
};
use crate::acts::limits::LONGEST_BODY;
use git::bare::FileChange;
use serde_json::json as object;

/// A comment on a line, to be part of a review.
#[derive(Clone, Debug)]
pub(crate) struct NewInline {
    pub(crate) path: String,
    pub(crate) line: Option<u64>,
    pub(crate) side: Side,
    pub(crate) start_line: Option<u64>,
    pub(crate) start_side: Option<Side>,
    pub(crate) body: String,
}

/// The part of a file's diff that leads to a comment's line, if the comment may stand there.
pub(super) fn place(files: &[FileChange], new: &NewInline) -> Result<String, Refusal> {
    let thread = |text: &str| Refusal::sentence(format!("Pull request review thread {text}"));
    if new.body.trim().is_empty() {
        return Err(Refusal::sentence("Pull request review comment body can't be blank"));
    }
    if new.body.chars().count() > LONGEST_BODY {
        return Err(Refusal::sentence("Body is too long (maximum is 65536 characters)"));
    }
    let file = files
        .iter()
        .find(|file| file.path == new.path)
        .ok_or_else(|| thread("path is invalid"))?;
    let lines = diff::lines(file.patch.as_deref().unwrap_or_default());
    let off_diff = || thread("line must be part of the diff and Pull request review thread diff hunk can't be blank");
    let Some(number) = new.line else {
        return Err(off_diff());
    };
    let end = lines
        .iter()
        .position(|line| line.is(new.side, number))
        .ok_or_else(off_diff)?;
    if let Some(start) = new.start_line {
        let side = new.start_side.unwrap_or(new.side);
        let same = || thread("start line must be part of the same hunk as the line.");
        let begin = lines.iter().position(|line| line.is(side, start)).ok_or_else(same)?;
        if begin >= end {
            return Err(thread("start line must precede the end line."));
        }
        if lines.get(begin).map(|line| line.hunk) != lines.get(end).map(|line| line.hunk) {
            return Err(same());
        }
    }
    Ok(hunk_until(&lines, end))
}

fn hunk_until(lines: &[DiffLine], end: usize) -> String {
    let hunk = lines.get(end).map(|line| line.hunk);
    let shown = lines.iter().take(end + 1).filter(|line| Some(line.hunk) == hunk);
    shown.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

impl State {
    #[expect(clippy::too_many_arguments, reason = "a comment on a line is placed by all of these")]
    pub(super) fn record_inline(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        review: u64,
        new: &NewInline,
        commit: &str,
        hunk: String,
    ) -> Result<(), Refusal> {
        let (id, at) = (self.next_id(), self.clock.stamp());
        self.pull_mut(repo, number)?.threads.push(InlineComment {
            id,
            review,
            user: by.user,
            body: new.body.clone(),
            path: new.path.clone(),
            line: new.line,
            side: new.side,
            start_line: new.start_line,
            start_side: new.start_line.map(|_| new.start_side.unwrap_or(new.side)),
            commit: commit.to_owned(),
            hunk,
            reply_to: None,
            created_at: at,
            updated_at: at,
        });
        let (known, pull) = (self.repo(repo)?, self.pull(repo, number)?.1);
        let shown = pull
            .threads
            .last()
            .map(|one| json::inline_comment(self, known, number, one));
        self.pull_event(
            by,
            repo,
            number,
            "pull_request_review_comment",
            "created",
            object!({"comment": shown}),
        )
    }
}
