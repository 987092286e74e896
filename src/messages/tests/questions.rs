//! Questions and their answers, wherever they appear.

use super::{
    snapshot, world,
    world::{Words, decent},
};
use crate::messages;
use domain::{
    cost::Spending,
    decision::Outcome,
    evidence::{Evidence, Finding, Gate, GateResult, Weight},
    feature::Feature,
    integrity::Rule,
    plan::Intent,
    problem::{Breach, Problem, ReviewItem},
    question::{AnswerVerdict, OpenQuestion, OpenReason, Question, QuestionAnswer, Topic, Unsettled},
    task,
    task::{Approval, MergeState, WaivedFact, Waiver},
    test_outcome::{IntendedChange, TestOutcome},
};

fn question(say: Words<'_>, topic: Topic, about: &str) -> Question {
    Question {
        topic,
        about: vec![say(about)],
        place: Some((say("tests/auth.rs"), 12)),
        material: say("before:\nassert 1\nafter:\nassert 2"),
        absence: None,
    }
}

fn answer(say: Words<'_>, question: usize, verdict: AnswerVerdict, quote: &str) -> QuestionAnswer {
    QuestionAnswer { question, verdict, because: say("The issue asks for it | and so it is."), quote: say(quote) }
}

/// Returns a Feature whose first task was asked three questions, of which two are open.
pub(super) fn feature_with_questions(say: Words<'_>) -> Feature {
    let mut feature = world::busy(say);
    let first = &mut feature.tasks[0];
    let turn = &mut first.turns[0];
    if let Some(gates) = &mut turn.gates {
        gates.questions = vec![
            question(say, Topic::Outcome(TestOutcome::ChangedOnPurpose), "auth::refresh|twice"),
            question(say, Topic::Outcome(TestOutcome::RemovedStillHolds), "auth::old"),
            question(say, Topic::Rule(Rule::Stub), "sign_out"),
        ];
    }
    let Some(verdict) = &mut turn.verdict else {
        panic!("the turn was judged");
    };
    verdict.outcome = Outcome::Feedback;
    let open = |number, why| OpenQuestion { number, why };
    verdict.open_questions = vec![
        open(2, OpenReason::NoSuchQuote { quote: say("no words") }),
        open(3, OpenReason::NotFine { because: say("no") }),
    ];
    verdict.breaches = vec![Breach::Question(Unsettled {
        open: open(2, OpenReason::Unanswered),
        question: question(say, Topic::Outcome(TestOutcome::RemovedStillHolds), "auth::old"),
    })];
    if let Some(decision) = &mut verdict.decision {
        decision.answers = vec![
            answer(say, 1, AnswerVerdict::Fine, "A token is used once"),
            answer(say, 2, AnswerVerdict::Fine, "no words"),
            answer(say, 3, AnswerVerdict::NotFine, ""),
        ];
    }
    feature
}

/// Approves the first task: by the Coach, or by a person, which answers the open questions.
fn approved(mut feature: Feature, by: Approval) -> Feature {
    let first = &mut feature.tasks[0];
    let turn = first.turns[0].number;
    first.state = task::State::Approved { turn, by: by.clone(), merge: MergeState::Person };
    match by {
        Approval::Coach => {
            if let Some(verdict) = &mut first.turns[0].verdict {
                verdict.outcome = Outcome::Approve;
                verdict.open_questions.clear();
            }
        }
        Approval::Override(by) => {
            let facts = vec![WaivedFact::Question("removed, still holds: `auth::old`".to_owned())];
            first.waived = vec![Waiver { by, facts }];
        }
    }
    feature
}

fn questions_of(text: &str) -> String {
    let (_, rest) = text.split_once("<summary>3 questions").unwrap();
    let (section, _) = rest.split_once("</details>").unwrap();
    format!("3 questions{}", section.trim())
}

#[test]
fn a_review_shows_each_question_with_its_answer_and_quote() {
    let feature = feature_with_questions(&decent);
    let (task, turn) = (&feature.tasks[0], &feature.tasks[0].turns[0]);
    let shown = messages::ReviewedDiff { in_diff: &|_, _| false, files: &[] };
    let review = messages::review(&feature, task, turn, None, &world::links(), shown).unwrap();
    snapshot!("review_questions", questions_of(&review.body));
    assert!(review.body.contains("approval does not stand: a question is open"), "{}", review.body);
}

#[test]
fn a_person_who_approves_answers_what_is_open_and_is_named() {
    let feature = approved(feature_with_questions(&decent), Approval::Override(world::user("ida")));
    let (task, turn) = (&feature.tasks[0], &feature.tasks[0].turns[0]);
    let check = messages::check_run(&feature, task, turn, &world::links()).unwrap();
    assert_eq!(check.title, "Holds, but for 1 test and 1 question that @ida waived");
    snapshot!("check_questions", questions_of(&check.summary));
    let living = messages::living(&feature, &Spending::default(), &world::links());
    assert!(living.contains("- TASK-001: 3 questions: 1 fine, 2 answered by a person."), "{living}");
}

#[test]
fn behaviour_that_changed_on_purpose_heads_the_feature_pull_request() {
    let body = |feature: &Feature| messages::feature_pull(feature, &Spending::default(), &world::links(), &[]).body;
    assert!(!body(&world::busy(&decent)).contains("on purpose"));
    let completed = || task::State::Completed { commit: Some(world::sha('e')), by: task::MergedBy::AutoBuild };
    let mut feature = approved(feature_with_questions(&decent), Approval::Coach);
    let first = &mut feature.tasks[0];
    first.state = completed();
    let because = Some("Sessions end after an hour.".to_owned());
    let intent = |name: &str, because| Intent { name: name.to_owned(), because };
    first.plan.changes = vec![intent("tests/session.rs::*", because.clone())];
    first.plan.removes = vec![Intent::to_remove("tests/legacy.rs")];
    if let Some(gates) = &mut first.turns[0].gates {
        let hit = |test: &str| IntendedChange {
            intent: "tests/session.rs::*".to_owned(),
            test: test.to_owned(),
            outcome: TestOutcome::ChangedOnPurpose,
        };
        gates.intended = vec![hit("session::ends"), hit("session::lasts")];
    }
    let of_whole = |about| question(&decent, Topic::Outcome(TestOutcome::RemovedStillHolds), about);
    if let Some(gate) = feature.gates.last_mut() {
        gate.report.questions = vec![of_whole("session::ends"), of_whole("cart::total")];
    }
    if let Some(gate) = feature.gates.last_mut() {
        let finding = Finding { command: "grep -q 6 a".to_owned(), exit_code: Some(1), ..Finding::default() };
        let failed =
            Problem::CheckFailed { number: 2, text: "TASK-001: It says 6".to_owned(), finding: finding.clone() };
        gate.report.more.push(GateResult {
            gate: Gate::Check(2),
            evidence: Evidence::Failed(finding),
            weight: Weight::Asked,
            items: vec![ReviewItem::must_fix(failed)],
        });
    }
    let said = body(&feature);
    let (section, _) = said.split_once("Part of #42").unwrap();
    snapshot!("feature_pull_changed_behaviour", section.trim());
    let mut feature = approved(feature_with_questions(&decent), Approval::Override(world::user("ida")));
    feature.tasks[0].state = completed();
    assert!(body(&feature).contains("approved by @ida"));
}
