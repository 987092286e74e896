//! The outcome of a run: an answer, or one of the known failures of the program.

use crate::agents::{
    answer::{AgentAnswer, NoAnswer},
    claude::stream::ClaudeStream,
    journal::{Journal, plain},
    json,
    json::word,
    outcome,
    outcome::{ReportedUsage, Unfinished},
    run::{RunError, RunSpec, UncheckedRun},
    session::SessionEnd,
};
use domain::blocked::{Failure, StartDifference};
use sandbox::{Exit, egress::SPENT};
use serde_json::Value;
use text::secret::Secrets;

const MAX_SAID: usize = 500;

/// Turns the program's output and end into an answer or a failure.
pub(crate) fn conclude(
    spec: &RunSpec,
    stream: ClaudeStream,
    journal: Journal,
    ended: &SessionEnd,
) -> Result<UncheckedRun, RunError> {
    let outcome = outcome::forced_end(spec, ended, stream.result.is_some())
        .map_or_else(|| outcome(spec, &stream, ended).map_err(Unfinished::from), Err);
    let result = stream.result.as_ref();
    let usd_micros = result.and_then(|result| json::micros(result, "total_cost_usd"));
    let reported = ReportedUsage {
        tokens: stream.tokens_so_far(),
        usd_micros,
        estimated: usd_micros.is_some() && result.is_some_and(guessed),
        last_words: result.map(|result| word(result, "result").to_owned()),
        model: stream.model,
    };
    outcome::unchecked_run(outcome, reported, journal, ended)
}

fn outcome(spec: &RunSpec, stream: &ClaudeStream, ended: &SessionEnd) -> Result<AgentAnswer, Failure> {
    let Some(result) = &stream.result else {
        // The program exits before its last line is read, so a long result can be cut off. Its answer was also printed
        // earlier.
        let is_torn = stream.as_asked && ended.finished.exit == Exit::Exited(0);
        let taken = stream.taken.as_ref().filter(|_| is_torn);
        let failure = || outcome::no_output(&spec.secrets, &ended.finished);
        return taken.map(|answer| Ok(answer.clone())).ok_or_else(failure);
    };
    if !stream.as_asked {
        return Err(Failure::NotAsAsked { differences: StartDifference::Silent });
    }
    let failed = result.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    match word(result, "subtype") {
        "error_max_turns" => Err(Failure::OutOfAgentTurns { turns: spec.agent_turns }),
        "error_max_budget_usd" => Err(Failure::OutOfMoney),
        "error_max_structured_output_retries" => Ok(Err(refused(spec, stream, result))),
        "success" if !failed => Ok(stream.structured.clone().ok_or(NoAnswer::Missing)),
        _ => Err(api_failure(&spec.secrets, spec.model.as_deref(), stream, result)),
    }
}

/// Returns the reason why the program gave up on an answer that fits the schema.
fn refused(spec: &RunSpec, stream: &ClaudeStream, result: &Value) -> NoAnswer {
    let errors = result.get("errors").map(Value::to_string);
    match stream.refused_answer.clone().or(errors) {
        Some(why) => NoAnswer::Malformed(plain(&spec.secrets, &why, MAX_SAID)),
        None => NoAnswer::Unfit,
    }
}

/// Returns the failure that a result describes: by the program's error code, or else by the HTTP status, or else by its
/// text.
fn api_failure(secrets: &Secrets, model: Option<&str>, stream: &ClaudeStream, result: &Value) -> Failure {
    let text = match word(result, "result") {
        "" => result.get("errors").map(Value::to_string).unwrap_or_default(),
        text => text.to_owned(),
    };
    let message = plain(secrets, &text, MAX_SAID);
    let status = result.get("api_error_status").and_then(Value::as_u64);
    let too_long = word(result, "terminal_reason") == "prompt_too_long" || text.starts_with("Prompt is too long");
    if word(result, "stop_reason") == "refusal" {
        return Failure::ModelRefused { message };
    }
    if text.contains(SPENT) {
        return Failure::OutOfMoney;
    }
    if too_long || status == Some(413) {
        return Failure::PromptTooLong;
    }
    match (stream.error.as_deref().unwrap_or_default(), status) {
        ("max_output_tokens", _) => Failure::OutputLimit,
        ("billing_error" | "oauth_org_not_allowed", _) => Failure::NotAuthorised { message },
        // This is the program's message if it has no usable key.
        _ if status.is_none() && text.starts_with("Not logged in") => Failure::NotAuthorised { message },
        ("authentication_failed", _) | (_, Some(401..=403)) => Failure::NotAuthorised { message },
        ("model_not_found", _) | (_, Some(404)) => {
            Failure::NoSuchModel { model: model.or(stream.model.as_deref()).unwrap_or_default().to_owned(), message }
        }
        ("rate_limit", _) | (_, Some(429)) => {
            Failure::RateLimited { message, retry_after_seconds: stream.told_to_wait_ms.map(|ms| ms.div_ceil(1_000)) }
        }
        ("server_error" | "overloaded", _) | (_, Some(408 | 409 | 425 | 500..)) => unavailable(message),
        (_, Some(status @ 400..)) => Failure::RequestRefused { status, message },
        (_, None) if word(result, "terminal_reason") == "api_error" => unavailable(message),
        _ => Failure::AgentFailed { message },
    }
}

/// Returns the failure without a wait, because only the proxy to the model knows how long to wait.
fn unavailable(message: String) -> Failure {
    Failure::Unavailable { message, retry_after_seconds: None }
}

/// `true` if the program does not know the price of a model that it used.
fn guessed(result: &Value) -> bool {
    let models = result.get("modelUsage").and_then(Value::as_object);
    models.is_some_and(|models| models.values().any(|model| word(model, "costBasis") == "unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::claude::init::StartRequest;
    use serde_json::json;

    #[test]
    fn a_refused_account_is_called_so_whatever_the_program_says_of_logging_in() {
        let refusals = [
            (None, None, "Not logged in · Please run /login"),
            (Some("authentication_failed"), None, "Not logged in · Please run /login"),
            (Some("oauth_org_not_allowed"), None, "Please run /login again"),
            (Some("billing_error"), None, "no credit"),
            (None, Some(403), "Your organization has no access. Please run /login again"),
        ];
        for (code, status, said) in refusals {
            let asked = StartRequest { mode: "plan", tools: &[] };
            let mut stream = ClaudeStream::new(asked);
            stream.error = code.map(str::to_owned);
            let result = json!({ "result": said, "api_error_status": status });
            let refused = Failure::NotAuthorised { message: said.to_owned() };
            assert_eq!(api_failure(&Secrets::default(), None, &stream, &result), refused);
        }
    }
}
