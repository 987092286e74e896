//! The acts of people on a Task: commands, reviews, pushes, and merging or closing its pull request.

use crate::{
    blocked::BlockReason,
    decision::Outcome,
    effect::{ClosedWhy, DismissedWhy, Effect, TaskWork},
    evidence::{Profile, profile},
    ids::{Millis, PullNumber, ReviewId, Sha, TurnNumber, User},
    inquiry::{Answer, Round},
    problem::{ReviewItem, Severity},
    task::{
        coach::{announce, approve, dismiss},
        event::PersonDid,
        merging::open_missing_pull,
        moves::{
            Step, add_turn, adds, ask, block, remember_push, start_turn, stops, take_back_turn, unchanged, verify,
        },
        player::overtaken,
        task::{
            Approval, Guidance, HumanReview, MergeState, MergedBy, Rules, Stage, State, Task, Turn, TurnKind,
            branch_name,
        },
        waiver,
        waiver::Waiver,
    },
};

pub(super) fn act_for_person(task: Task, by: User, did: PersonDid, at: Millis, rules: &Rules) -> Step {
    match did {
        PersonDid::Resume { guidance, turns } => resume(task, by, guidance, turns, rules),
        PersonDid::Override => overridden(task, by, at, rules),
        PersonDid::Retry { turns } => retry(task, by, turns, rules),
        PersonDid::Skip => skip(task, by),
        PersonDid::Pause => pause(task, by),
        PersonDid::Cancel => cancel(task, Some(&by)),
        PersonDid::ClosePull { pull } => pull_closed(task, &by, pull),
        PersonDid::ReopenPull { pull, turns } => reopened(task, pull, turns),
        PersonDid::MergePull { commit, head } => merged_by_hand(task, by, commit, head.as_ref()),
        PersonDid::Push { head } => pushed(task, head, at),
        PersonDid::Rerun { head } => rerun(task, &head, at),
        PersonDid::ForcePush { head } => force_pushed(task, by, head),
        PersonDid::RequestChanges(review) => changes_requested(task, review, at),
        PersonDid::Approve { review, commit } => approved(task, by, review, commit.as_ref(), at, rules),
        PersonDid::WithdrawChanges { until } => changes_withdrawn(task, &by, until, at, rules),
        PersonDid::Remark(review) => remarked(task, review),
    }
}

fn resume(mut task: Task, by: User, guidance: Option<String>, turns: u32, rules: &Rules) -> Step {
    // A pending task waits for a step of its Feature, and keeps the words and turns for its start.
    if !task.can_resume() && task.state != State::Pending {
        return unchanged(task);
    }
    task.pause = None;
    if let State::Blocked { reason: BlockReason::Inquiry { by: asker, inquiries } } = task.state.clone() {
        let answer = Answer::of(by, guidance);
        task.next.answers.push(Round { by: asker, inquiries, answer });
        return go_on(task, turns);
    }
    let words = guidance.is_some();
    if let Some(text) = guidance {
        task.next.guidance.push(Guidance { by, text });
    }
    match task.state.clone() {
        State::Blocked { reason: BlockReason::NeedGone { task: need } } => {
            task.without.push(need);
            go_on(task, turns)
        }
        State::Pending | State::Blocked { .. } => go_on(task, turns),
        State::Approved { .. } if words => go_on(task, turns),
        // The rule that refused the merge may not apply any more, so the merge is tried again.
        State::Approved { turn, by, .. } => {
            let effects = approve(&mut task, turn, by, rules);
            adds(task, effects)
        }
        State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => unchanged(task),
    }
}

fn retry(mut task: Task, by: User, turns: u32, rules: &Rules) -> Step {
    if task.is_completed() {
        return unchanged(task);
    }
    take_back_turn(&mut task);
    let attempt = task.attempt.saturating_add(1);
    let branch = branch_name(&rules.branch_prefix, &task.plan, attempt);
    let closes = task.pull.take().map(|pull| {
        let branch = branch.clone();
        let why = ClosedWhy::Retried { by, branch };
        ask(&mut task, TaskWork::ClosePull { pull, why })
    });
    task.attempt = attempt;
    task.branch = branch;
    task.head = None;
    task.opening = None;
    task.next.conflict = None;
    task.next.reviews.clear();
    task.next.remarks.clear();
    task.limit = task.last_number().saturating_add(turns.max(1));
    task.state = State::Pending;
    stops(task, closes)
}

fn skip(task: Task, by: User) -> Step {
    let why = ClosedWhy::Skipped { by: by.clone() };
    give_up(task, Some(&by), why, State::Skipped { by: by.clone() })
}

pub(super) fn cancel(task: Task, by: Option<&User>) -> Step {
    give_up(task, by, ClosedWhy::Cancelled, State::Cancelled)
}

/// Ends a task that is not over: dismisses the Coach's request for changes, closes the pull request, keeps the branch.
fn give_up(mut task: Task, by: Option<&User>, why: ClosedWhy, ended: State) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let dismissal = by.and_then(|by| dismiss(&mut task, by));
    let close = task.pull.map(|pull| ask(&mut task, TaskWork::ClosePull { pull, why }));
    task.pause = None;
    task.state = ended;
    stops(task, dismissal.into_iter().chain(close))
}

/// Pauses the task: the running agent may finish, but nothing starts after it.
fn pause(mut task: Task, by: User) -> Step {
    match task.state {
        State::Pending | State::Approved { .. } => block(task, BlockReason::Paused { by }, Vec::new()),
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } => {
            task.pause = Some(by);
            unchanged(task)
        }
        State::Blocked { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => unchanged(task),
    }
}

pub(super) fn pull_closed(mut task: Task, by: &User, pull: PullNumber) -> Step {
    if task.is_over() || task.pull != Some(pull) {
        return unchanged(task);
    }
    let dismissal = dismiss(&mut task, by);
    task.pause = None;
    task.state = State::Cancelled;
    stops(task, dismissal)
}

pub(super) fn reopened(task: Task, pull: PullNumber, turns: u32) -> Step {
    if task.state != State::Cancelled || task.pull != Some(pull) {
        return unchanged(task);
    }
    go_on(task, turns)
}

/// Completes a task that a person merged, with any verdict of the Coach. One that was given up completes too: GitHub
/// merges only open pull requests, so someone reopened it first. An approval is of one commit: if a push came after it, and
/// the merge before the push was heard of, nobody approved what was merged.
pub(super) fn merged_by_hand(mut task: Task, by: User, commit: Option<Sha>, head: Option<&Sha>) -> Step {
    let is_judged = head.is_none_or(|head| task.head.as_ref() == Some(head));
    let is_approved = match task.state {
        State::Approved { .. } => true,
        State::Blocked { .. } => matches!(find_remaining_work(&task), RemainingWork::Merge(_)),
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Skipped { .. }
        | State::Cancelled => false,
        State::Completed { .. } => return unchanged(task),
    };
    let by = if is_approved && is_judged { MergedBy::Person(by) } else { MergedBy::PersonWithoutApproval(by) };
    task.state = State::Completed { commit, by };
    stops(task, None)
}

/// Handles a person's push. A running Player starts over from the new commit, an approved task is verified again, and
/// otherwise the next turn starts from the new commit.
pub(super) fn pushed(mut task: Task, head: Sha, at: Millis) -> Step {
    if task.head.as_ref() == Some(&head) {
        return unchanged(task);
    }
    match task.state {
        State::PlayerTurn { turn, .. } => overtaken(task, turn, head),
        State::Approved { .. } => {
            task.head = Some(head);
            start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
        }
        State::Blocked { .. } => remember_push(task, head),
        State::CoachTurn { .. } | State::Cancelled => {
            task.head = Some(head);
            unchanged(task)
        }
        // A resumed task continues from the pushed commit.
        State::Pending if task.head.is_some() => {
            task.head = Some(head);
            unchanged(task)
        }
        State::Pending | State::PreLoop { .. } | State::Completed { .. } | State::Skipped { .. } => unchanged(task),
    }
}

/// Blocks the task after a force push, because the branch may have lost its base. A person decides how to continue.
pub(super) fn force_pushed(mut task: Task, by: User, head: Sha) -> Step {
    let reason = BlockReason::ForcePushed { by };
    match &task.state {
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } | State::Approved { .. } => {}
        State::Pending if task.head.is_some() => {}
        State::Blocked { reason: known } if *known != reason || task.head.as_ref() != Some(&head) => {}
        State::Pending | State::Blocked { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => {
            return unchanged(task);
        }
    }
    take_back_turn(&mut task);
    task.head = Some(head);
    block(task, reason, Vec::new())
}

/// Handles GitHub's _Re-run_. If the commit is the head and waits for a person, Gates and Coach examine it again. For
/// any other commit, the check run is published again, because GitHub shows it as queued until the App answers.
pub(super) fn rerun(task: Task, head: &Sha, at: Millis) -> Step {
    let is_head = task.head.as_ref() == Some(head);
    let is_approved = matches!(task.state, State::Approved { .. });
    let waits_for_a_person =
        task.is_blocked() && task.inquiries().is_none() || is_approved && task.state.waits_for().is_none();
    if is_head && waits_for_a_person {
        return verify_again(task, at);
    }
    // Nothing is judged until a person has answered.
    if is_head && task.inquiries().is_some() {
        return remember_push(task, head.clone());
    }
    // Its check run will be published soon.
    if is_head && matches!(task.state, State::CoachTurn { .. }) {
        return unchanged(task);
    }
    repeat_verdict(task, head)
}

/// Examines the head again without a Player: in the newest turn if that has no verdict yet, or else in a new one.
/// Guidance for the Player waits for the Player's next turn.
fn verify_again(mut task: Task, at: Millis) -> Step {
    let mut effects: Vec<_> = open_missing_pull(&mut task).into_iter().collect();
    if let RemainingWork::Verify(turn) = find_remaining_work(&task) {
        effects.push(verify(&mut task, turn, at));
        return stops(task, effects);
    }
    take_back_turn(&mut task);
    let guidance = std::mem::take(&mut task.next.guidance);
    let answers = std::mem::take(&mut task.next.answers);
    let conflict = task.next.conflict.take();
    let mut step = start_turn(task, TurnKind::VerifyOnly, at, effects);
    step.task.next.guidance = guidance;
    step.task.next.answers = answers;
    step.task.next.conflict = conflict;
    step
}

fn repeat_verdict(mut task: Task, head: &Sha) -> Step {
    let is_judged = |turn: &&Turn| turn.head.as_ref() == Some(head) && turn.verdict.is_some();
    let judged = task.turns.iter().rfind(is_judged).map(|turn| turn.number);
    let check = judged.map(|turn| ask(&mut task, TaskWork::PublishCheck { turn }));
    adds(task, check)
}

/// The work that remains for the newest turn.
pub(super) enum RemainingWork {
    /// Verify its commit, which nobody judged. This uses up no turn.
    Verify(TurnNumber),
    /// Merge its commit, which is approved.
    Merge(TurnNumber),
    /// Nothing: the next turn starts.
    NextTurn,
}

/// Returns the next step. Guidance that no turn has got yet, or an open conflict, leads to a new turn.
pub(super) fn find_remaining_work(task: &Task) -> RemainingWork {
    let words = !task.next.guidance.is_empty() || !task.next.answers.is_empty() || task.next.conflict.is_some();
    let is_open = |turn: &&Turn| !words && turn.head.is_some() && turn.head == task.head;
    let Some(turn) = task.last_turn().filter(is_open) else {
        return RemainingWork::NextTurn;
    };
    let gates = turn.gates.as_ref().map(|gates| profile(task.plan.kind, gates));
    match turn.verdict.as_ref().map(|verdict| verdict.outcome) {
        None if task.cut.is_some() && matches!(gates, Some(Profile::Failed(_))) => RemainingWork::NextTurn,
        None => RemainingWork::Verify(turn.number),
        Some(Outcome::Approve) if task.next.reviews.is_empty() => RemainingWork::Merge(turn.number),
        Some(Outcome::Approve | Outcome::Feedback) => RemainingWork::NextTurn,
    }
}

/// Lets a task continue with `turns` more turns. It waits until its Feature starts it.
pub(super) fn go_on(mut task: Task, turns: u32) -> Step {
    let used = match find_remaining_work(&task) {
        RemainingWork::Verify(turn) => turn.0.saturating_sub(1),
        RemainingWork::Merge(_) => task.last_number(),
        RemainingWork::NextTurn => {
            take_back_turn(&mut task);
            task.last_number()
        }
    };
    task.limit = used.saturating_add(turns.max(1));
    task.cut_runs = 0;
    task.state = State::Pending;
    stops(task, None)
}

/// Starts a task, or continues with the work that remains for its newest turn.
pub(super) fn start(mut task: Task, at: Millis, rules: &Rules) -> Step {
    let mut effects: Vec<Effect> = open_missing_pull(&mut task).into_iter().collect();
    match find_remaining_work(&task) {
        RemainingWork::Verify(turn) => effects.push(verify(&mut task, turn, at)),
        RemainingWork::Merge(turn) => effects.extend(approve_again(&mut task, turn, rules)),
        RemainingWork::NextTurn => {
            take_back_turn(&mut task);
            let kind = next_kind(&task);
            return start_turn(task, kind, at, effects);
        }
    }
    stops(task, effects)
}

/// Returns the kind of the next turn: a conflict turn if there is a conflict to resolve.
pub(super) fn next_kind(task: &Task) -> TurnKind {
    match task.next.conflict {
        Some(_) => TurnKind::Conflict,
        None => TurnKind::Full,
    }
}

/// Approves a task again and says so again, since the last post on its pull request may be a blocked report.
pub(super) fn approve_again(task: &mut Task, turn: TurnNumber, rules: &Rules) -> Vec<Effect> {
    let mut effects = announce(task);
    effects.extend(approve(task, turn, Approval::Coach, rules));
    effects
}

impl Task {
    /// `true` if there is work that a person may approve over the Coach: a commit with a pull request.
    pub fn is_overridable(&self) -> bool {
        self.pull.is_some() && self.head.is_some()
    }

    /// `true` if a person may approve it over the Coach.
    pub fn can_be_overridden(&self) -> bool {
        self.is_blocked() && self.is_overridable() && self.secret().is_none()
    }

    /// Returns the secret that the Gates found in the branch's head, if any. No person can waive it.
    pub fn secret(&self) -> Option<&ReviewItem> {
        let gates = self.turn_of_head().and_then(|turn| turn.gates.as_ref())?;
        let mut items = gates.more.iter().flat_map(|result| &result.items);
        items.find(|item| item.severity == Severity::MustFix && item.is_never_waived())
    }
}

/// Approves a blocked task over the Coach, even if nobody judged its commit. A secret is never waived.
pub(super) fn overridden(mut task: Task, by: User, at: Millis, rules: &Rules) -> Step {
    if !task.can_be_overridden() {
        return unchanged(task);
    }
    let of_head = task.turn_of_head().map(|turn| turn.number);
    let turn = of_head.unwrap_or_else(|| {
        take_back_turn(&mut task);
        add_turn(&mut task, TurnKind::VerifyOnly, at)
    });
    if let Some(open) = task.turn(turn) {
        let (by, facts) = (by.clone(), waiver::facts(&task, open));
        task.waived.push(Waiver { by, facts });
    }
    if let Some(open) = task.turns.last_mut().filter(|turn| turn.ended_at.is_none()) {
        open.ended_at = Some(at);
    }
    let why = DismissedWhy::Overridden;
    let dismissal = ask(&mut task, TaskWork::DismissReview { by: by.clone(), why });
    let check = ask(&mut task, TaskWork::PublishCheck { turn });
    let merge = approve(&mut task, turn, Approval::Override(by), rules);
    stops(task, [dismissal, check].into_iter().chain(merge))
}

/// The most remarks that are kept for the next Coach. There is a limit because anyone may write them.
const MOST_REMARKS: usize = 20;

/// Handles a person's request for changes: starts a turn, or waits for the next one, and raises the limit by one.
pub(super) fn changes_requested(mut task: Task, review: HumanReview, at: Millis) -> Step {
    if task.is_over() || task.next.reviews.iter().any(|known| known.id == review.id) {
        return unchanged(task);
    }
    task.next.reviews.push(review);
    task.limit = task.limit.saturating_add(1);
    match task.state {
        // These tasks wait for another decision of a person first.
        State::Blocked {
            reason: BlockReason::Paused { .. } | BlockReason::NeedGone { .. } | BlockReason::Inquiry { .. },
        } => unchanged(task),
        State::Approved { .. } | State::Blocked { .. } => {
            take_back_turn(&mut task);
            task.limit = task.limit.max(task.last_number().saturating_add(1));
            let kind = next_kind(&task);
            start_turn(task, kind, at, Vec::new())
        }
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => unchanged(task),
    }
}

/// Withdraws the person's requests for changes up to the given review. If none is left, an approval that waited only
/// for that takes effect.
pub(super) fn changes_withdrawn(mut task: Task, by: &User, until: ReviewId, at: Millis, rules: &Rules) -> Step {
    let is_open = |review: &HumanReview| review.by.id != by.id || review.id > until;
    task.next.reviews.retain(is_open);
    let State::Blocked { reason: BlockReason::OpenReview { .. } } = task.state else {
        return unchanged(task);
    };
    if let Some(open) = task.next.reviews.first() {
        let by = open.by.clone();
        task.state = State::Blocked { reason: BlockReason::OpenReview { by } };
        return unchanged(task);
    }
    if let RemainingWork::Merge(turn) = find_remaining_work(&task) {
        let effects = approve_again(&mut task, turn, rules);
        return adds(task, effects);
    }
    start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
}

/// Handles an approving review, which withdraws the person's own requests for changes. If they reviewed the branch's
/// head, it also overrides the Coach for a task that is still blocked, and tries a refused merge again, since the rule
/// may have asked for this approval.
pub(super) fn approved(
    task: Task,
    by: User,
    review: ReviewId,
    commit: Option<&Sha>,
    at: Millis,
    rules: &Rules,
) -> Step {
    let mut step = changes_withdrawn(task, &by, review, at, rules);
    if step.task.head.as_ref() != commit {
        return step;
    }
    if step.task.is_blocked() {
        let over = overridden(step.task, by, at, rules);
        step.effects.extend(over.effects);
        return Step { effects: step.effects, ..over };
    }
    if let State::Approved { turn, by, merge: MergeState::Refused { .. } } = step.task.state.clone() {
        step.effects.extend(approve(&mut step.task, turn, by, rules));
    }
    step
}

/// Shows a review that neither approves nor requests changes to one Coach: the next one that starts.
pub(super) fn remarked(mut task: Task, review: HumanReview) -> Step {
    let earlier = task.turns.iter().flat_map(|turn| &turn.input.remarks);
    let is_known = earlier.chain(&task.next.remarks).any(|known| known.id == review.id);
    if task.is_over() || is_known {
        return unchanged(task);
    }
    let is_before_coach = |stage| matches!(stage, Stage::Gates | Stage::Ci);
    let coach_comes = matches!(task.state, State::PlayerTurn { .. })
        || matches!(task.state, State::CoachTurn { stage, .. } if is_before_coach(stage));
    let open = task.turns.last_mut().filter(|_| coach_comes);
    let remarks = open.map_or(&mut task.next.remarks, |turn| &mut turn.input.remarks);
    if remarks.len() < MOST_REMARKS {
        remarks.push(review);
    }
    unchanged(task)
}
