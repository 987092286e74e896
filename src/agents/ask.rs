//! Asks an agent, and asks once more after a missing or malformed answer, with its mistake. If there was no JSON, only
//! the answer is asked for, not the work.

use crate::{
    agents::{
        answer::{AgentAnswer, NoAnswer, no_answer},
        backend::Backend,
        journal::plain,
        prompt::Prompt,
        record::{Record, Replaced},
        run::{RunError, RunSpec},
    },
    config::Role,
};
use domain::blocked::{Failure, Fallback, UndoneWork};
use serde_json::Value;
use std::time::Duration;
use text::{clean::clean, price, shorten};
use tokio_util::sync::CancellationToken;

/// How often an agent is asked again after an unusable answer.
const REPAIRS: u32 = 1;
/// No run is started with less time than this.
const LEAST_TIME: Duration = Duration::from_secs(1);
const MAX_PROBLEM: usize = 2_000;
const MAX_WORDS: usize = 20_000;
const MAX_MODEL: usize = 200;

/// A valid answer and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidAnswer<T> {
    /// The agent's answer, as converted by its reader.
    pub answer: T,
    pub record: Record,
}

impl Backend {
    /// Runs the agent and reads its answer with `read`. If the answer is missing or `read` refuses it, asks once more
    /// with the reason. If the model is not available, tries the fallback once, if there is one. Every other failure
    /// ends the request at once.
    pub async fn ask<T>(
        &self,
        spec: &RunSpec,
        read: impl Fn(&Value) -> Result<T, String>,
        cancel: &CancellationToken,
    ) -> Result<ValidAnswer<T>, RunError> {
        let mut spec = spec.clone();
        let mut record = Record::default();
        let mut repairs = 0;
        let mut unusable = None;
        loop {
            let printed = match self.run(&spec, record.runs, cancel).await {
                Ok(printed) => printed,
                Err(RunError::Agent { failure, record: last }) => {
                    let last = mark_unreported(*last, &spec, failure.rule().undone);
                    spec.charge(&last);
                    record = last.after(record);
                    if let Some(by) = spec.falls_back(&failure) {
                        let model = spec.model.replace(by.clone()).unwrap_or_default();
                        tracing::warn!(role = %spec.role, run_key = %spec.run_key, %model, %by, "the fallback model is tried: {failure}");
                        record.replaced = Some(Replaced { failure, by });
                        continue;
                    }
                    let record = Box::new(record);
                    return Err(RunError::Agent { failure, record });
                }
                Err(RunError::Cancelled { record: last }) => {
                    let record = Box::new(mark_unreported(*last, &spec, UndoneWork::Rest).after(record));
                    return Err(RunError::Cancelled { record });
                }
                Err(error @ RunError::Host { .. }) => return Err(after_host(error, unusable, record)),
            };
            let last = priced(printed.record, &spec);
            spec.charge(&last);
            record = last.after(record);
            let why = match understood(printed.answer, &spec, &read) {
                Ok(answer) => return Ok(ValidAnswer { answer, record }),
                Err(why) => why,
            };
            let failure = no_answer(spec.role, &why);
            repairs += 1;
            if repairs > REPAIRS || spec.is_spent() {
                let failure = if repairs > REPAIRS { failure } else { Failure::OutOfMoney };
                let record = Box::new(record);
                return Err(RunError::Agent { failure, record });
            }
            tracing::info!(role = %spec.role, run_key = %spec.run_key, %failure, "asking the agent once more");
            spec.prompt = spec.repaired(&why, &failure, &printed.words);
            unusable = Some(failure);
        }
    }
}

/// Masks the secrets in an answer and converts it with its reader.
fn understood<T>(
    answer: AgentAnswer,
    spec: &RunSpec,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, NoAnswer> {
    let answer = spec.secrets.mask_json(answer?);
    read(&answer).map_err(|problem| NoAnswer::Malformed(bounded(&problem)))
}

impl RunSpec {
    /// Returns the fallback model, once, if another model may help, the fallback differs, and some budget is left.
    fn falls_back(&mut self, failure: &Failure) -> Option<String> {
        if failure.rule().fallback == Fallback::NoHelp || self.is_spent() {
            return None;
        }
        let fallback = self.fallback_model.take()?;
        (self.model.as_ref() != Some(&fallback)).then_some(fallback)
    }

    /// `true` if nothing is left for another run.
    fn is_spent(&self) -> bool {
        self.usd_micros == Some(0) || self.tokens == Some(0) || self.deadline < LEAST_TIME
    }

    /// Returns the prompt of a second run, after an unusable answer. An agent that printed no JSON is asked only for
    /// its answer, if it left something to answer from: its words, or a Player's working copy.
    fn repaired(&self, why: &NoAnswer, failure: &Failure, words: &str) -> Prompt {
        let problem = bounded(&failure.to_string());
        let words = plain(&self.secrets, clean(words).trim(), MAX_WORDS);
        match (why, self.role) {
            (NoAnswer::Malformed(_) | NoAnswer::Unfit, _) => self.prompt.repaired(&problem),
            (
                NoAnswer::Missing | NoAnswer::NotJson(_) | NoAnswer::CutOff,
                Role::Planner | Role::Designer | Role::Coach,
            ) if words.is_empty() => self.prompt.repaired(&problem),
            (NoAnswer::Missing | NoAnswer::NotJson(_) | NoAnswer::CutOff, _) => {
                self.prompt.answer_alone(&problem, &words)
            }
        }
    }

    /// Subtracts a run's usage from the share that is left for the next run.
    fn charge(&mut self, record: &Record) {
        let (micros, tokens) = (record.usage.usd_micros.unwrap_or(0), record.usage.tokens.total());
        self.usd_micros = self.usd_micros.map(|left| left.saturating_sub(micros));
        self.most_usd_micros = self.most_usd_micros.map(|left| left.saturating_sub(micros));
        self.tokens = self.tokens.map(|left| left.saturating_sub(tokens));
        let time = Duration::from_millis(record.usage.agent_ms);
        self.time = self.time.map(|left| left.saturating_sub(time));
        self.deadline = self.time.map_or(self.deadline, |left| self.deadline.min(left));
    }
}

/// Returns the record of a run without an answer. If its money is unknown and its model worked, as its failure or
/// its events show, marks its usage as unreported.
fn mark_unreported(record: Record, spec: &RunSpec, undone: UndoneWork) -> Record {
    let record = priced(record, spec);
    Record {
        has_unreported_usage: record.usage.usd_micros.is_none() && (undone == UndoneWork::Rest || record.shows_work()),
        ..record
    }
}

/// Returns the error after a failure of the service itself. After an unusable answer, it becomes that answer's failure,
/// so that the usage so far is not lost.
fn after_host(error: RunError, unusable: Option<Failure>, record: Record) -> RunError {
    let Some(failure) = unusable else { return error };
    tracing::warn!("{error}, when an answer was asked for once more");
    RunError::Agent { failure, record: Box::new(record) }
}

/// Completes a record: with the requested model if the program names none, with an estimate of the money if the program
/// reported only tokens, and with secrets masked.
fn priced(record: Record, spec: &RunSpec) -> Record {
    let model = record.model.or_else(|| spec.model.clone());
    Record {
        usage: price::priced(record.usage, model.as_deref()),
        // The program chose the name, so it is cleaned before pages show it.
        model: model.map(|model| plain(&spec.secrets, &model, MAX_MODEL)),
        ..record
    }
}

fn bounded(problem: &str) -> String {
    shorten::middle(problem, MAX_PROBLEM)
}

#[cfg(test)]
mod tests {
    use crate::{
        agents::{
            Backend, RunError, RunSpec,
            answer::{NoAnswer, no_answer},
            ask::ValidAnswer,
            backend::BackendKind,
            prompt::Prompt,
            scripted::ScriptedAgent,
        },
        config::{AgentCommand, Role},
    };
    use domain::{
        blocked::{Failure, SpentScript},
        ids::{TaskId, TurnNumber},
    };
    use sandbox::egress::Rules;
    use serde_json::{Value, json};
    use std::{fs, time::Duration};
    use tempfile::TempDir;
    use text::secret::Secrets;
    use tokio_util::sync::CancellationToken;

    struct Stage(TempDir);

    impl Stage {
        fn playing(script: &str) -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("steps.yaml"), script).unwrap();
            fs::create_dir(dir.path().join("checkout")).unwrap();
            Self(dir)
        }

        fn spec(&self, role: Role, run_key: &str) -> RunSpec {
            RunSpec {
                role,
                task: Some(TaskId::Planned(1)),
                turn: TurnNumber(2),
                checkout: self.0.path().join("checkout"),
                objects: None,
                prompt: Prompt::new("do it", "your report"),
                schema: json!({}),
                deadline: Duration::from_secs(60),
                idle: None,
                model: None,
                fallback_model: None,
                agent_turns: 30,
                usd_micros: None,
                most_usd_micros: None,
                tokens: None,
                time: None,
                network: Rules::default(),
                activity: None,
                request: run_key.split('/').next().unwrap_or_default().to_owned(),
                run_key: run_key.to_owned(),
                secrets: Secrets::default(),
            }
        }

        async fn ask(&self, role: Role, run_key: &str) -> Result<ValidAnswer<u64>, RunError> {
            self.ask_as(&self.spec(role, run_key)).await
        }

        async fn ask_as(&self, spec: &RunSpec) -> Result<ValidAnswer<u64>, RunError> {
            let script = self.0.path().join("steps.yaml");
            let agent = ScriptedAgent::new(&script, self.0.path().join("state"));
            let read = |value: &Value| value["n"].as_u64().ok_or_else(|| "`n` is missing".to_owned());
            let backend = Backend { kind: BackendKind::Scripted(agent), agent: AgentCommand::Scripted(script) };
            backend.ask(spec, read, &CancellationToken::new()).await
        }

        #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
        async fn failure(&self, role: Role, run_key: &str) -> Failure {
            match self.ask(role, run_key).await.unwrap_err() {
                RunError::Agent { failure, .. } => failure,
                other => panic!("not the agent's failure: {other}"),
            }
        }
    }

    #[tokio::test]
    async fn a_script_changes_files_and_answers() {
        let stage =
            Stage::playing("- {role: player, task: TASK-001, turn: 2, write: {a/b.txt: hello}, answer: {n: 1}}");
        let answered = stage.ask(Role::Player, "r1").await.unwrap();
        assert_eq!((answered.answer, answered.record.runs), (1, 1));
        let written = fs::read_to_string(stage.0.path().join("checkout/a/b.txt")).unwrap();
        assert_eq!(written, "hello");
    }

    #[tokio::test]
    async fn an_unusable_answer_is_asked_for_once_more() {
        for first in ["fail: garbage", "answer: {m: 1}", "write: {}"] {
            let stage = Stage::playing(&format!("- {{{first}}}\n- {{answer: {{n: 7}}}}\n"));
            let answered = stage.ask(Role::Player, "r1").await.unwrap();
            assert_eq!((answered.answer, answered.record.runs), (7, 2), "{first}");
        }
    }

    #[tokio::test]
    async fn where_no_json_was_printed_only_the_answer_is_asked_for_again() {
        let stage = Stage::playing("- {}");
        let alone = |role: Role, why: &NoAnswer, words: &str| {
            let spec = stage.spec(role, "r1");
            let again = spec.repaired(why, &no_answer(role, why), words).text();
            assert!(again.contains("ends this run"), "{again}");
            again.contains("Only your answer is missing")
        };
        let malformed = NoAnswer::Malformed("`n` is missing".to_owned());
        let broken = NoAnswer::CutOff;
        let table = [
            (Role::Coach, &NoAnswer::Missing, "I approve.", true),
            (Role::Coach, &broken, "{\"decision\": ", true),
            (Role::Player, &NoAnswer::Missing, "", true),
            // Nothing is there to answer from.
            (Role::Coach, &NoAnswer::Missing, " \u{1b}[0m\n", false),
            (Role::Player, &malformed, "{}", false),
        ];
        for (role, why, words, expected) in table {
            assert_eq!(alone(role, why, words), expected, "{role} {why:?} {words:?}");
        }
    }

    #[tokio::test]
    async fn a_second_unusable_answer_is_a_typed_failure() {
        let invalid = "- answer: {m: 1}\n- answer: {m: 1}\n";
        let problem = "`n` is missing".to_owned();
        let table = [
            ("- fail: garbage\n- {}\n", Role::Player, Failure::ReportMissing),
            ("- fail: garbage\n- {}\n", Role::Coach, Failure::DecisionMissing),
            (invalid, Role::Planner, Failure::ReportInvalid { problem: problem.clone() }),
            (invalid, Role::Coach, Failure::DecisionInvalid { problem: problem.clone() }),
            // If the script has no second step, the failure of the first attempt must still be reported.
            ("- answer: {m: 1}\n", Role::Player, Failure::ReportInvalid { problem }),
        ];
        for (script, role, expected) in table {
            assert_eq!(Stage::playing(script).failure(role, "r1").await, expected);
        }
    }

    #[tokio::test]
    async fn nothing_is_asked_for_once_more_when_money_tokens_or_time_are_gone() {
        let stage = Stage::playing("- {usage: {usd: 1, output: 900, ms: 5000}}\n- answer: {n: 7}\n");
        let spec = |change: fn(&mut RunSpec)| {
            let mut spec = stage.spec(Role::Player, "r1");
            change(&mut spec);
            spec
        };
        for spent in [
            spec(|spec| spec.usd_micros = Some(1_000_000)),
            spec(|spec| spec.tokens = Some(900)),
            spec(|spec| spec.time = Some(Duration::from_millis(5_100))),
        ] {
            let ended = stage.ask_as(&spent).await;
            let Err(RunError::Agent { failure, record }) = ended else { panic!("{ended:?}") };
            assert_eq!((failure, record.runs), (Failure::OutOfMoney, 1));
        }
        let left = spec(|spec| {
            (spec.usd_micros, spec.tokens) = (Some(1_000_001), Some(901));
            spec.time = Some(Duration::from_secs(7));
        });
        assert_eq!(stage.ask_as(&left).await.unwrap().record.runs, 2);
    }

    #[tokio::test]
    async fn what_a_run_used_before_the_fallback_is_not_forgotten() {
        let stage = Stage::playing("- {fail: model_refused}\n- {usage: {usd: 2}, answer: {n: 7}}\n");
        let spec = RunSpec { fallback_model: Some("other".to_owned()), ..stage.spec(Role::Player, "r1") };
        let record = stage.ask_as(&spec).await.unwrap().record;
        assert_eq!((record.usage.usd_micros, record.has_unreported_usage), (Some(2_000_000), true));
    }

    #[tokio::test]
    async fn a_run_is_that_of_the_model_that_answered_and_costs_what_that_one_costs() {
        let stage =
            Stage::playing("- {fail: unavailable, retry_after: 900}\n- {usage: {input: 1000000}, answer: {n: 7}}\n");
        let spec = RunSpec {
            model: Some("claude-opus-4-8".to_owned()),
            fallback_model: Some("claude-haiku-4-5".to_owned()),
            ..stage.spec(Role::Player, "r1")
        };
        let record = stage.ask_as(&spec).await.unwrap().record;
        assert_eq!(record.model.as_deref(), Some("claude-haiku-4-5"));
        assert_eq!((record.usage.usd_micros, record.runs), (Some(1_000_000), 2));
        let replaced = record.replaced.unwrap();
        assert_eq!(replaced.by, "claude-haiku-4-5");
        assert_eq!(
            replaced.failure,
            Failure::Unavailable { message: "as scripted".to_owned(), retry_after_seconds: Some(900) }
        );
    }

    #[tokio::test]
    async fn other_failures_end_the_request_at_once_and_keep_what_was_written() {
        let stage = Stage::playing("- {write: {a: x}, fail: timeout}\n- {fail: exit}\n- answer: {n: 1}\n");
        assert_eq!(stage.failure(Role::Player, "r1").await, Failure::TimedOut { seconds: 60 });
        assert!(stage.0.path().join("checkout/a").exists());
        assert!(matches!(stage.failure(Role::Player, "r2").await, Failure::AgentFailed { .. }));
        assert_eq!(stage.ask(Role::Player, "r3").await.unwrap().answer, 1);
    }

    #[tokio::test]
    async fn a_run_done_again_plays_the_same_step_and_a_spent_script_fails() {
        let stage = Stage::playing("- {role: coach, answer: {n: 1}}\n- {role: coach, answer: {n: 2}}\n");
        for (key, expected) in [("r1", 1), ("r1", 1), ("r2", 2), ("r1", 1)] {
            assert_eq!(stage.ask(Role::Coach, key).await.unwrap().answer, expected, "{key}");
        }
        for (role, key, fitting) in [(Role::Coach, "r3", 2), (Role::Player, "r1x", 0)] {
            let expected = Failure::ScriptSpent(SpentScript {
                script: stage.0.path().join("steps.yaml"),
                steps: 2,
                fitting,
                role: role.to_string(),
                task: Some(TaskId::Planned(1)),
                turn: TurnNumber(2),
            });
            assert_eq!(stage.failure(role, key).await, expected);
        }
    }

    #[tokio::test]
    async fn a_broken_script_is_a_failed_agent_with_the_place() {
        let stage = Stage::playing("- roll: x\n");
        let Failure::AgentFailed { message: how } = stage.failure(Role::Player, "r1").await else {
            panic!("not failed")
        };
        assert!(how.contains("line 1, column 3: a step has no key `roll`"), "{how}");
        fs::remove_file(stage.0.path().join("steps.yaml")).unwrap();
        assert!(matches!(stage.failure(Role::Player, "r1").await, Failure::AgentFailed { .. }));
    }
}
