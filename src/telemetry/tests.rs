use super::{Span, Telemetry, TelemetrySettings, span_id, trace_id};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use domain::ids::Millis;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use text::secret::Secrets;
use uplink::Uplink;

type Arrived = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// Starts telemetry with these variables.
fn started(variables: &[(&str, &str)]) -> Telemetry {
    let settings = settings(variables).unwrap().unwrap();
    Telemetry::start(settings, "here", Secrets::default(), &Uplink::default()).unwrap()
}

/// Starts a local collector that gives `answer` and stores the requests it receives.
async fn collector(answer: StatusCode) -> (String, Arrived) {
    let arrived = Arrived::default();
    let take = move |State(arrived): State<Arrived>, headers: HeaderMap, body: String| async move {
        arrived.lock().unwrap().push((headers, serde_json::from_str(&body).unwrap()));
        answer
    };
    let router = Router::new().route("/v1/traces", post(take)).with_state(arrived.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, arrived)
}

fn settings(variables: &[(&str, &str)]) -> Result<Option<TelemetrySettings>, String> {
    let get = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    TelemetrySettings::of(get).map_err(|mistake| mistake.to_string())
}

fn path(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

#[tokio::test]
async fn spans_arrive_with_their_ids_times_and_attributes() {
    let (address, arrived) = collector(StatusCode::OK).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=a%20b, x-two = 2"),
    ];
    let telemetry = started(&variables);
    let run = Span::new(path(&["7/1/1", "TASK-001", "1", "run"]), "player", Millis(1_000), Millis(3_500))
        .text("gen_ai.request.model", "strong")
        .count("gen_ai.usage.input_tokens", 12)
        .failed("timed_out");
    telemetry.send(run);
    telemetry.send(Span::new(path(&["7/1/1"]), "Feature", Millis(0), Millis(9)));
    telemetry.flush().await;
    let arrived = arrived.lock().unwrap();
    let [(headers, body)] = arrived.as_slice() else {
        panic!("one request: {arrived:?}");
    };
    assert_eq!((&headers["x-api-key"], &headers["x-two"]), (&"a b".parse().unwrap(), &"2".parse().unwrap()));
    let resource = &body["resourceSpans"][0];
    assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "autobuild");
    let spans = &resource["scopeSpans"][0]["spans"];
    assert_eq!(spans[0]["traceId"], trace_id("7/1/1"));
    assert_eq!(spans[0]["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(spans[0]["spanId"].as_str().unwrap().len(), 16);
    assert_eq!(spans[0]["parentSpanId"], span_id(&path(&["7/1/1", "TASK-001", "1"])));
    assert_eq!(spans[0]["startTimeUnixNano"], "1000000000");
    assert_eq!(spans[0]["endTimeUnixNano"], "3500000000");
    assert_eq!(spans[0]["attributes"][1]["value"]["intValue"], "12");
    assert_eq!((&spans[0]["status"]["code"], &spans[0]["status"]["message"]), (&Value::from(2), &"timed_out".into()));
    assert_eq!((&spans[1]["parentSpanId"], &spans[1]["status"]["code"]), (&"".into(), &Value::from(1)));
}

#[tokio::test]
async fn a_collector_that_refuses_or_is_gone_costs_only_the_spans() {
    let (refusing, arrived) = collector(StatusCode::BAD_REQUEST).await;
    for address in [refusing.as_str(), "http://127.0.0.1:1"] {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
        let telemetry = started(&variables);
        for number in 0..10_000 {
            telemetry.send(Span::new(path(&["7/1/1", &number.to_string()]), "x", Millis(0), Millis(1)));
        }
        telemetry.flush().await;
    }
    assert!(!arrived.lock().unwrap().is_empty());
    Telemetry::default().send(Span::new(path(&["x"]), "x", Millis(0), Millis(1)));
    Telemetry::default().flush().await;
}

#[test]
fn the_variables_are_read_as_opentelemetry_has_them() {
    let endpoint =
        |variables: &[(&str, &str)]| settings(variables).map(|found| found.map(|found| found.endpoint.to_string()));
    const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let table = [
        (vec![], None),
        (vec![(BASE, "")], None),
        (vec![(BASE, "http://c:4318")], Some("http://c:4318/v1/traces")),
        (vec![(BASE, "https://c/otlp/")], Some("https://c/otlp/v1/traces")),
        (vec![(BASE, "http://c"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d/x")], Some("http://d/x")),
        (vec![(BASE, "http://c"), ("OTEL_SDK_DISABLED", "TRUE")], None),
        (vec![(BASE, "http://c"), ("OTEL_TRACES_EXPORTER", "none")], None),
    ];
    for (variables, expected) in table {
        assert_eq!(endpoint(&variables), Ok(expected.map(str::to_owned)), "{variables:?}");
    }
    for (variables, problem) in [
        (vec![(BASE, "c:4318")], "http"),
        (vec![(BASE, "http://me:secret@c")], "credentials belong"),
        (vec![(BASE, "http://c"), ("OTEL_EXPORTER_OTLP_HEADERS", "nothing")], "name=value"),
        (vec![(BASE, "http://c"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")], "milliseconds"),
    ] {
        let mistake = endpoint(&variables).unwrap_err();
        assert!(mistake.contains(problem) && !mistake.contains("secret"), "{mistake}");
    }
}
