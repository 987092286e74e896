//! A person's word over the Coach: on which commit it counts, what it waives, and what it cannot waive.

use crate::{
    decision::{Issue, Severity},
    effect::{DismissedWhy, TaskWork},
    evidence::{Evidence, Gate, Profile, profile},
    ids::{Millis, TurnNumber, User},
    task::{
        coach::approve,
        moves::{Step, Stop, ask, unchanged},
        rules::Rules,
        state::Approval,
        task::Task,
        turn::Waiver,
    },
};

impl Task {
    /// The turn that a person may approve over the Coach: the newest one with a commit, once there is a pull request.
    pub fn overridable(&self) -> Option<TurnNumber> {
        let mut with_commit = self.turns_now().rev().filter(|turn| turn.head.is_some());
        self.pull
            .and(self.head.as_ref())
            .and_then(|_| with_commit.next())
            .map(|turn| turn.number)
    }

    /// A secret in the branch's head, as the Gates found it: no person can waive that.
    pub fn secret(&self) -> Option<&Issue> {
        let at_head = self.last_turn().filter(|turn| turn.head == self.head);
        let gates = at_head.and_then(|turn| turn.gates.as_ref())?;
        let mut items = gates.more.iter().flat_map(|result| &result.items);
        items.find(|item| item.severity == Severity::MustFix && item.is_never_waived())
    }
}

/// A person's word ends the turn, also one that nobody judged. A secret is never waived.
pub(super) fn overridden(mut task: Task, by: User, at: Millis, rules: &Rules) -> Step {
    let (true, Some(turn), None) = (task.is_blocked(), task.overridable(), task.secret()) else {
        return unchanged(task);
    };
    task.waived.push(Waiver {
        by: by.clone(),
        what: waived(&task, turn),
        tests: waived_tests(&task, turn),
    });
    if let Some(open) = task.turns.last_mut().filter(|turn| turn.ended_at.is_none()) {
        open.ended_at = Some(at);
    }
    let why = DismissedWhy::Overridden;
    let mut effects = vec![
        ask(&mut task, TaskWork::DismissReview { by: by.clone(), why }),
        ask(&mut task, TaskWork::PublishCheck { turn }),
    ];
    effects.append(&mut approve(&mut task, turn, Approval::Override(by), rules));
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Everything that stood against the branch's head when a person overrode the Coach.
fn waived(task: &Task, turn: TurnNumber) -> Vec<String> {
    let Some(turn) = task.turn(turn) else {
        return Vec::new();
    };
    let mut what = match turn.gates.as_ref().filter(|_| turn.head == task.head) {
        Some(gates) => match profile(task.plan.kind, gates) {
            Profile::Failed(reasons) | Profile::Absent(reasons) => reasons,
            Profile::Passed => Vec::new(),
        },
        None => vec!["no Gate ran on this commit".to_owned()],
    };
    if turn.verdict.is_none() || turn.head != task.head {
        what.push("no Coach judged this commit".to_owned());
    }
    if let Some(verdict) = &turn.verdict {
        what.extend(verdict.broken_contracts.iter().map(ToString::to_string));
        what.extend(verdict.items.iter().map(|item| item.description.clone()));
    }
    what.extend(task.next.reviews.iter().map(|review| {
        let login = &review.by.login;
        format!("the request for changes of {login} is open")
    }));
    what
}

/// The tests that failed on the branch's head and that nothing excused, by name.
fn waived_tests(task: &Task, turn: TurnNumber) -> Vec<String> {
    let at_head = task.turn(turn).filter(|turn| turn.head == task.head);
    let Some(gates) = at_head.and_then(|turn| turn.gates.as_ref()) else {
        return Vec::new();
    };
    let of_base = gates.result(Gate::BaseTests).map(|result| &result.evidence);
    let mut tests: Vec<String> = Vec::new();
    for evidence in std::iter::once(&gates.tests).chain(of_base) {
        let (Evidence::Passed(finding) | Evidence::Failed(finding)) = evidence else {
            continue;
        };
        let names = finding.names.as_ref().map_or(&finding.failing, |names| &names.failed);
        for name in names {
            let excused = gates.excused.iter().any(|excused| excused.test == *name);
            if !excused && !tests.contains(name) {
                tests.push(name.clone());
            }
        }
    }
    tests
}
