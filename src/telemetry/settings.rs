//! The telemetry settings, read from the environment variables that OpenTelemetry defines. Only those for traces, and
//! the general ones, are read.

use http::{HeaderName, HeaderValue};
use std::{fmt, time::Duration};
use text::secret::percent_decoded;
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A collector and how to talk to it.
#[derive(Clone)]
pub struct TelemetrySettings {
    pub(super) endpoint: Url,
    /// Values may be secret keys.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) timeout: Duration,
    pub(super) service: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct TelemetryMistake {
    pub variable: &'static str,
    /// The problem, without the value, which may be secret.
    pub problem: &'static str,
}

impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetrySettings").field("endpoint", &self.endpoint.host_str()).finish_non_exhaustive()
    }
}

impl TelemetrySettings {
    /// Reads the variables with `get`. Returns `None` if no collector is named or telemetry is switched off.
    pub fn of(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, TelemetryMistake> {
        let given = |name: &str| {
            let value = get(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let off = given("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if off || given("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none") {
            return Ok(None);
        }
        let Some(endpoint) = endpoint(&given)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            endpoint,
            headers: headers(&given)?,
            timeout: timeout(&given)?,
            service: given("OTEL_SERVICE_NAME").unwrap_or_else(|| "autobuild".to_owned()),
        }))
    }

    /// Returns the values of its headers, which are secret, and the last word of each value (such as the token after
    /// `Bearer`).
    pub fn secrets(&self) -> Vec<secrecy::SecretString> {
        let values = self.headers.iter().filter_map(|(_, value)| value.to_str().ok());
        let with_words = values.flat_map(|value| std::iter::once(value).chain(value.split(' ').next_back()));
        with_words.map(|value| value.to_owned().into()).collect()
    }
}

type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

fn endpoint(given: Get<'_>) -> Result<Option<Url>, TelemetryMistake> {
    const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let (variable, text) = match (given(OWN), given(BASE)) {
        (Some(whole), _) => (OWN, whole),
        (None, Some(base)) => (BASE, format!("{}/v1/traces", base.trim_end_matches('/'))),
        (None, None) => return Ok(None),
    };
    let mistake = |problem| TelemetryMistake { variable, problem };
    let url = text.parse::<Url>();
    let url = url.map_err(|_| mistake("no address; valid: http://localhost:4318"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(mistake("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(mistake("credentials belong in OTEL_EXPORTER_OTLP_HEADERS"));
    }
    Ok(Some(url))
}

fn headers(given: Get<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, TelemetryMistake> {
    const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
    const BASE: &str = "OTEL_EXPORTER_OTLP_HEADERS";
    let first = [OWN, BASE].into_iter().find_map(|name| Some((name, given(name)?)));
    let Some((variable, text)) = first else {
        return Ok(Vec::new());
    };
    let problem = "it must be a list of `name=value`, with commas between";
    let mistake = || TelemetryMistake { variable, problem };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or_else(mistake)?;
        let name = name.trim().parse::<HeaderName>().map_err(|_| mistake())?;
        // The specification allows `%20` and the like in values.
        let mut value = percent_decoded(value.trim()).parse::<HeaderValue>().map_err(|_| mistake())?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    pairs.map(pair).collect()
}

fn timeout(given: Get<'_>) -> Result<Duration, TelemetryMistake> {
    const NAME: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
    let Some(text) = given(NAME) else { return Ok(TIMEOUT) };
    match text.parse::<u64>() {
        Ok(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds.min(60_000))),
        Ok(_) | Err(_) => {
            let problem = "it must be a number of milliseconds";
            Err(TelemetryMistake { variable: NAME, problem })
        }
    }
}
