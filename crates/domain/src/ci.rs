//! The repository's own CI as evidence: turns the checks that others report on a commit into a Gate result, and says
//! when to read them again.
//!
//! The adapters read the checks. A check that cannot be read never counts as failed.

pub use crate::evidence::{CheckState, OpenCheck, PullCheck};

use crate::{
    evidence::{Absence, Evidence, Fact, Finding, Gate, GateResult, Weight},
    exposure::Exposure,
    ids::{Millis, User},
    problem::{Problem, ReviewItem},
};
use serde::{Deserialize, Serialize};

/// The repository's rule on its own CI: if it may run agent-written code, and if its checks are evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiPolicy {
    /// Like `Wait` if CI gives the code nothing but the right to read the repository, else like `Ask`.
    #[default]
    Auto,
    /// CI may run, and AutoBuild waits for a commit's checks.
    Wait,
    /// CI is held until a person lets it run.
    Ask,
    /// CI may run, and AutoBuild does not look at the checks.
    Ignore,
}

text::words! {
    /// How a check run of ours ended, in GitHub's words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CheckConclusion {
        /// The work holds.
        Success = "success",
        /// The work passes except for the facts that a person waived. GitHub counts this as a pass of a required check.
        Neutral = "neutral",
        /// The work does not hold.
        Failure = "failure",
        /// A person has to decide.
        ActionRequired = "action_required",
    }
}

/// The treatment of CI on the commits that AutoBuild pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiTreatment {
    /// AutoBuild waits for the checks.
    Wait,
    /// The commits keep CI from starting, so there is nothing to wait for.
    Hold,
    /// AutoBuild does not look at the checks.
    Ignore,
}

/// The person's decision to let CI run on a Feature, if anybody made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CiRelease {
    /// Nobody let it run.
    #[default]
    None,
    /// This person let it run.
    By(User),
}

/// The facts about a Feature's CI that are not settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CiStatus {
    /// The rights and secrets that CI would give to the Feature's code.
    pub exposure: Exposure,
    /// The decision to let it run.
    pub release: CiRelease,
}

/// Decides how CI is treated. A person who lets CI run on a Feature decides for the rest of it.
pub fn treatment(policy: CiPolicy, status: &CiStatus) -> CiTreatment {
    let is_released = status.release != CiRelease::None;
    match policy {
        CiPolicy::Ignore => CiTreatment::Ignore,
        CiPolicy::Wait => CiTreatment::Wait,
        CiPolicy::Auto if is_released || status.exposure.is_harmless() => CiTreatment::Wait,
        CiPolicy::Ask if is_released => CiTreatment::Wait,
        CiPolicy::Auto | CiPolicy::Ask => CiTreatment::Hold,
    }
}

/// The line that keeps GitHub from starting workflows on a pushed commit, or on a pull request with this head.
pub const SKIP_INSTRUCTION: &str = "[skip ci]";

/// Instructions that GitHub obeys anywhere in a message: `docs.github.com`, "Skipping workflow runs".
const IN_BRACKETS: [&str; 5] = ["skip ci", "ci skip", "no ci", "skip actions", "actions skip"];
const AS_TRAILER: &str = "skip-checks:";

/// `true` if GitHub starts no workflow on a commit with this message.
pub fn skips(message: &str) -> bool {
    without_instructions(message) != message
}

/// Returns the text without skip instructions: square brackets become round, and the trailer gets a blank, so that nothing
/// around it makes it one again.
pub fn without_instructions(text: &str) -> String {
    let mut clean = text.to_owned();
    for words in IN_BRACKETS {
        clean = replaced(&clean, &format!("[{words}]"), &format!("({words})"));
    }
    replaced(&clean, AS_TRAILER, "skip checks:")
}

/// Replaces `from`, which is in ASCII lower case, ignoring case in `text`.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut clean = String::with_capacity(text.len());
    let mut rest = 0;
    for (at, found) in lower.match_indices(from) {
        clean.push_str(text.get(rest..at).unwrap_or_default());
        clean.push_str(to);
        rest = at.saturating_add(found.len());
    }
    clean.push_str(text.get(rest..).unwrap_or_default());
    clean
}

/// Returns the message with [`SKIP_INSTRUCTION`] as its last line.
pub fn held_message(message: &str) -> String {
    format!("{}\n\n{SKIP_INSTRUCTION}\n", without_held_line(message).trim_end())
}

/// Returns the message as it was before [`held_message`], with no other skip instruction either.
pub fn released_message(message: &str) -> String {
    let own = without_held_line(message).trim_end();
    format!("{}\n", without_instructions(own))
}

/// Returns the message without the last line that [`held_message`] added.
pub fn without_held_line(message: &str) -> &str {
    let message = message.trim_end();
    let own = message.strip_suffix(SKIP_INSTRUCTION).filter(|own| own.is_empty() || own.ends_with('\n'));
    own.unwrap_or(message)
}

/// The times for which AutoBuild waits for CI, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CiTimes {
    /// The time between two readings at first. Later it is a tenth of the time since the push.
    pub every: i64,
    /// If no check has appeared this long after the push, no CI ran.
    pub silence: i64,
    /// A check that still runs this long after the push counts as absent evidence.
    pub deadline: i64,
}

impl CiTimes {
    /// The product's times: every 30 seconds, 2 minutes, 30 minutes.
    pub const PRODUCT: Self = Self { every: 30_000, silence: 120_000, deadline: 1_800_000 };

    /// For a forge such as the local one, where each check exists as soon as the push is done.
    pub const AT_ONCE: Self = Self { every: 1_000, silence: 0, ..Self::PRODUCT };

    /// Returns when to read again after a reading at `now`.
    fn next(&self, since: Millis, now: Millis) -> Millis {
        let age = now.0.saturating_sub(since.0);
        now.plus(self.every.max(age / 10)).min(since.plus(self.deadline))
    }
}

/// The newest check of its name on the commit, reported by someone other than AutoBuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiCheck {
    /// The name of the check run, or the context of the commit status.
    pub name: String,
    pub says: CiSays,
    /// The time of its last report, if the forge gives it.
    pub at: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CiSays {
    /// It has not ended. Holds the forge's word for its state, for example `in_progress`.
    Running(String),
    /// It ended and reports no problem.
    Passed,
    /// It reports a problem with the commit. Holds its output, which may be empty.
    Failed(String),
    /// It reports a problem that no change of the code mends, for example with the pull request's title or labels.
    FailedOnPull(PullCheck),
    /// It ended without a result. Holds the forge's word for that, for example `cancelled`.
    NoAnswer(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOrigin {
    /// A job that checks out the code, or may.
    CodeJob,
    /// A job that judges the pull request.
    PullJob(PullCheck),
    /// Another App, or a commit status.
    Elsewhere(BeforeChange),
}

/// The check's result on the commits before the change, which belong to no pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeChange {
    /// It is not there.
    Missing,
    /// It failed in the same words.
    FailedAlike,
    /// Its result was another one.
    Differs,
}

/// The relation of a check's result to the files of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRelation {
    /// The result names a changed file, or has annotations.
    AtFiles,
    /// The result names no changed file and has no annotations.
    Nowhere,
}

/// Returns why a failed check judges the pull request; `None` if it judges the code, so that a Player can mend it.
pub fn judges_pull(origin: CheckOrigin, relation: CheckRelation) -> Option<PullCheck> {
    match (origin, relation) {
        (_, CheckRelation::AtFiles) => None,
        (CheckOrigin::CodeJob, CheckRelation::Nowhere) => None,
        (CheckOrigin::PullJob(why), CheckRelation::Nowhere) => Some(why),
        (CheckOrigin::Elsewhere(before), CheckRelation::Nowhere) => match before {
            BeforeChange::Missing => Some(PullCheck::OnlyOnPulls),
            BeforeChange::FailedAlike => Some(PullCheck::SameBefore),
            BeforeChange::Differs => None,
        },
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CiReading {
    /// The checks must be read again, not before this time.
    Again(Millis),
    Ended(Box<GateResult>),
}

/// The most failing checks that become items for the Player.
const MOST_ITEMS: usize = 20;

/// Judges the checks on a commit; `since` is when CI could first see it.
///
/// No result is final while CI may still begin (`silence`), nor directly after a check ended, because other checks may
/// start only then. Failures are reported once all checks have ended, so that one turn can fix them all. After the
/// deadline, every result is final.
pub fn reading(checks: &[CiCheck], since: Millis, now: Millis, times: &CiTimes) -> CiReading {
    let late = now >= since.plus(times.deadline);
    let next = times.next(since, now);
    let begun = since.plus(times.silence);
    if now < begun && !late {
        return CiReading::Again(next.min(begun));
    }
    if checks.is_empty() {
        return CiReading::Ended(Box::new(none_ran()));
    }
    let runs = checks.iter().any(|check| matches!(check.says, CiSays::Running(_)));
    if runs && !late {
        return CiReading::Again(next);
    }
    let newest = checks.iter().filter_map(|check| check.at).max();
    if let Some(settled) = newest.map(|at| at.plus(times.every)).filter(|at| now < *at && !late) {
        return CiReading::Again(settled.min(since.plus(times.deadline)));
    }
    CiReading::Ended(Box::new(result_of_ended(checks)))
}

/// Returns the outcome of a failed reading: another reading until the deadline, then absent evidence, which is never
/// the Player's fault and never an approval.
pub fn unreadable(why: &str, since: Millis, now: Millis, times: &CiTimes) -> CiReading {
    if now < since.plus(times.deadline) {
        return CiReading::Again(times.next(since, now));
    }
    let reason = why.to_owned();
    CiReading::Ended(Box::new(result(Evidence::Absent(Absence::CiUnreadable { reason }))))
}

/// The result for a commit on which no CI ran. It is informational and no part of the profile.
pub fn none_ran() -> GateResult {
    GateResult { weight: Weight::Informational, ..result(Evidence::Absent(Absence::NoCi)) }
}

/// The result for a commit on which CI is held. It is informational and no part of the profile.
pub fn result_while_held() -> GateResult {
    GateResult { weight: Weight::Informational, ..result(Evidence::Absent(Absence::CiHeld)) }
}

/// The result for a commit whose own Gates failed: AutoBuild does not wait for CI, and the result is informational.
pub fn not_reached() -> GateResult {
    GateResult { weight: Weight::Informational, ..result(Evidence::Absent(Absence::NotReached)) }
}

fn result(evidence: Evidence) -> GateResult {
    GateResult { gate: Gate::Ci, evidence, weight: Weight::Required, items: Vec::new() }
}

fn result_of_ended(checks: &[CiCheck]) -> GateResult {
    let named = |wanted: fn(&CiSays) -> bool| -> Vec<String> {
        let found = checks.iter().filter(|check| wanted(&check.says));
        found.map(|check| check.name.clone()).collect()
    };
    let failed = named(|says| matches!(says, CiSays::Failed(_)));
    if !failed.is_empty() {
        let items = checks.iter().filter_map(item).take(MOST_ITEMS).collect();
        let finding = Finding { failing: failed.clone(), ..finding(Fact::ChecksFailed(failed)) };
        return GateResult { items, ..result(Evidence::Failed(finding)) };
    }
    let open: Vec<OpenCheck> = checks.iter().filter_map(open).collect();
    if !open.is_empty() {
        let on_pull = |check: &CiCheck| matches!(check.says, CiSays::FailedOnPull(_) | CiSays::Passed);
        return result(Evidence::Absent(if checks.iter().all(on_pull) {
            Absence::JudgesPull { checks: open }
        } else {
            Absence::Unfinished { checks: open }
        }));
    }
    let passed = named(|says| matches!(says, CiSays::Passed));
    result(Evidence::Passed(finding(Fact::ChecksPassed(passed))))
}

fn open(check: &CiCheck) -> Option<OpenCheck> {
    let state = match &check.says {
        CiSays::Running(word) => CheckState::Running(word.clone()),
        CiSays::FailedOnPull(why) => CheckState::FailedOnPull(*why),
        CiSays::NoAnswer(word) => CheckState::NoAnswer(word.clone()),
        CiSays::Passed | CiSays::Failed(_) => return None,
    };
    let name = check.name.clone();
    Some(OpenCheck { name, state })
}

fn item(check: &CiCheck) -> Option<ReviewItem> {
    let CiSays::Failed(output) = &check.says else {
        return None;
    };
    let (check, output) = (check.name.clone(), output.clone());
    Some(ReviewItem::must_fix(Problem::Ci { check, output }))
}

fn finding(fact: Fact) -> Finding {
    Finding { facts: vec![fact], ..Finding::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: CiTimes = CiTimes::PRODUCT;
    const PUSH: Millis = Millis(1_000_000);

    fn check(name: &str, says: CiSays) -> CiCheck {
        CiCheck { name: name.to_owned(), says, at: None }
    }

    fn at(seconds: i64) -> Millis {
        PUSH.plus(seconds * 1_000)
    }

    fn look(checks: &[CiCheck], seconds: i64) -> CiReading {
        reading(checks, PUSH, at(seconds), &TIMES)
    }

    fn running() -> CiCheck {
        check("build", CiSays::Running("in_progress".to_owned()))
    }

    fn passed(name: &str) -> CiCheck {
        check(name, CiSays::Passed)
    }

    fn failed(name: &str, output: &str) -> CiCheck {
        check(name, CiSays::Failed(output.to_owned()))
    }

    fn evidence(reading: CiReading) -> (Weight, String) {
        match reading {
            CiReading::Ended(result) => (result.weight, format!("{:?}", result.evidence)),
            CiReading::Again(until) => panic!("to be read again at {until:?}"),
        }
    }

    #[test]
    fn harmless_ci_runs_by_itself_and_other_ci_waits_for_a_person_or_for_the_settings() {
        let harmful = || Exposure { others: vec!["cloud".to_owned()], ..Exposure::default() };
        let status = |exposure, release| CiStatus { exposure, release };
        let ada = || CiRelease::By(User { id: crate::ids::UserId(1), login: "ada".to_owned() });
        use CiTreatment::{Hold, Ignore, Wait};
        for (policy, harmless, exposed, released) in [
            (CiPolicy::Auto, Wait, Hold, Wait),
            (CiPolicy::Ask, Hold, Hold, Wait),
            (CiPolicy::Wait, Wait, Wait, Wait),
            (CiPolicy::Ignore, Ignore, Ignore, Ignore),
        ] {
            let decided = |exposure, release| treatment(policy, &status(exposure, release));
            assert_eq!(decided(Exposure::default(), CiRelease::None), harmless, "{policy:?}");
            assert_eq!(decided(harmful(), CiRelease::None), exposed, "{policy:?}");
            assert_eq!(decided(harmful(), ada()), released, "{policy:?}");
        }
    }

    #[test]
    fn a_held_message_ends_with_the_instruction_and_a_released_one_has_none() {
        for message in ["Add x", "Add x\n\nAutoBuild-Task: TASK-001\n", "", "Add [skip ci] to y"] {
            let held = held_message(message);
            assert!(held.ends_with("\n[skip ci]\n") && skips(&held), "{held}");
            assert_eq!(held_message(&held), held);
            let released = released_message(&held);
            assert!(!skips(&released), "{released}");
            assert_eq!(released.trim(), without_instructions(message).trim());
        }
    }

    #[test]
    fn every_instruction_of_github_is_found_and_broken() {
        for message in [
            "x [skip ci]",
            "[ci skip]",
            "a\n\n[No CI]",
            "[skip actions]",
            "[actions skip]",
            "x\n\n\nSkip-Checks: true",
            "skip-checks:: true",
        ] {
            assert!(skips(message), "{message}");
            assert!(!skips(&without_instructions(message)), "{message}");
        }
        for message in ["skip ci", "[skip ci", "[skip  ci]", "ci: skip", "🦀"] {
            assert!(!skips(message), "{message}");
        }
        assert_eq!(without_instructions("Ä [SKIP CI] ö"), "Ä (skip ci) ö");
    }

    #[test]
    fn what_judges_the_pull_request_alone_goes_to_a_person_once_the_code_is_green() {
        let title = || check("PR title", CiSays::FailedOnPull(PullCheck::WithoutCode));
        let (weight, said) = evidence(look(&[title(), passed("build")], 600));
        assert_eq!(weight, Weight::Required);
        assert!(said.starts_with("Absent(JudgesPull") && said.contains("PR title"), "{said}");
        let (_, said) = evidence(look(&[title(), failed("build", "x")], 600));
        assert!(said.starts_with("Failed") && !said.contains("PR title"), "{said}");
    }

    #[test]
    fn a_check_judges_the_code_if_it_names_files_or_runs_without_a_pull_request() {
        use BeforeChange::{Differs, FailedAlike, Missing};
        use CheckOrigin::{CodeJob, Elsewhere, PullJob};
        let table = [
            (CodeJob, None),
            (PullJob(PullCheck::WithoutCode), Some(PullCheck::WithoutCode)),
            (Elsewhere(Differs), None),
            (Elsewhere(Missing), Some(PullCheck::OnlyOnPulls)),
            (Elsewhere(FailedAlike), Some(PullCheck::SameBefore)),
        ];
        for (origin, expected) in table {
            assert_eq!(judges_pull(origin, CheckRelation::Nowhere), expected, "{origin:?}");
            assert_eq!(judges_pull(origin, CheckRelation::AtFiles), None, "{origin:?}");
        }
    }

    #[test]
    fn without_a_check_within_two_minutes_no_ci_ran_and_nothing_rests_on_it() {
        assert_eq!(look(&[], 0), CiReading::Again(at(30)));
        assert_eq!(look(&[], 110), CiReading::Again(at(120)));
        assert_eq!(look(&[], 120), CiReading::Ended(Box::new(none_ran())));
        assert_eq!(none_ran().weight, Weight::Informational);
    }

    #[test]
    fn a_check_that_passes_at_once_is_not_the_last_word_while_others_may_begin() {
        assert_eq!(look(&[passed("cla")], 10), CiReading::Again(at(40)));
        let (weight, said) = evidence(look(&[passed("cla"), passed("build")], 121));
        assert_eq!(weight, Weight::Required);
        assert!(said.starts_with("Passed") && said.contains(r#"ChecksPassed(["cla", "build"])"#), "{said}");
    }

    #[test]
    fn right_after_a_check_ended_others_may_only_start() {
        let mut fresh = passed("build");
        fresh.at = Some(at(590));
        assert_eq!(look(&[fresh.clone()], 600), CiReading::Again(at(620)));
        assert!(matches!(look(&[fresh], 620), CiReading::Ended(_)));
    }

    #[test]
    fn what_runs_is_waited_for_until_the_deadline_and_is_then_absent() {
        assert_eq!(look(&[running(), passed("lint")], 200), CiReading::Again(at(230)));
        assert_eq!(look(&[running(), passed("lint")], 600), CiReading::Again(at(660)), "a tenth of its age");
        assert_eq!(look(&[running()], 1_790), CiReading::Again(at(1_800)));
        let (weight, said) = evidence(look(&[running(), passed("lint")], 1_800));
        assert_eq!(weight, Weight::Required);
        assert!(said.starts_with("Absent") && said.contains("build"), "{said}");
    }

    #[test]
    fn failures_are_told_together_and_beat_what_gave_no_answer() {
        let red = [failed("lint", "line 3"), failed("test", ""), running()];
        assert!(matches!(look(&red, 600), CiReading::Again(_)));
        let red =
            [failed("lint", "line 3"), failed("test", ""), check("deploy", CiSays::NoAnswer("cancelled".to_owned()))];
        let CiReading::Ended(result) = look(&red, 600) else {
            panic!("it has ended");
        };
        let Evidence::Failed(finding) = &result.evidence else {
            panic!("it failed: {result:?}");
        };
        let names = ["lint", "test"].map(str::to_owned);
        assert_eq!(finding.facts, [Fact::ChecksFailed(names.to_vec())]);
        let told = result.items.iter().map(|item| item.problem.clone()).collect::<Vec<_>>();
        let problem = |check: &str, output: &str| Problem::Ci { check: check.to_owned(), output: output.to_owned() };
        assert_eq!(told, [problem("lint", "line 3"), problem("test", "")]);
    }

    #[test]
    fn what_ended_without_an_answer_is_absent() {
        for word in ["cancelled", "action_required", "stale", "startup_failure"] {
            let (weight, said) =
                evidence(look(&[passed("lint"), check("build", CiSays::NoAnswer(word.to_owned()))], 600));
            assert_eq!(weight, Weight::Required);
            assert!(said.starts_with("Absent") && said.contains(word), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_tried_until_the_deadline_and_never_a_failure() {
        let look = |seconds| unreadable("502", PUSH, at(seconds), &TIMES);
        assert_eq!(look(0), CiReading::Again(at(30)));
        assert_eq!(look(1_799), CiReading::Again(at(1_800)));
        let (weight, said) = evidence(look(1_800));
        assert_eq!(weight, Weight::Required);
        assert!(said.starts_with("Absent") && said.contains("502"), "{said}");
    }

    #[test]
    fn with_no_time_to_wait_one_reading_decides() {
        let none = CiTimes { every: 0, silence: 0, deadline: 0 };
        assert!(matches!(reading(&[], PUSH, PUSH, &none), CiReading::Ended(_)));
        let (_, said) = evidence(reading(&[running()], PUSH, PUSH, &none));
        assert!(said.starts_with("Absent"), "{said}");
    }
}
