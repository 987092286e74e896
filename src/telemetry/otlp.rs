//! Encodes spans as OTLP/JSON (`ExportTraceServiceRequest`). OTLP/JSON writes ids in hexadecimal, and times and whole
//! numbers as strings.

use crate::telemetry::{Attribute, Span, span_id, trace_id};
use domain::ids::Millis;
use serde_json::{Value, json};

/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;
/// `STATUS_CODE_OK` and `STATUS_CODE_ERROR`.
const OK: u8 = 1;
const ERROR: u8 = 2;

pub(super) fn request(service: &str, instance: &str, spans: &[Span]) -> Value {
    let resource =
        [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION")), ("service.instance.id", instance)];
    let resource = resource.map(|(key, text)| json!({"key": key, "value": {"stringValue": text}}));
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": {"name": "autobuild", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
    }]})
}

fn span(span: &Span) -> Value {
    let feature = span.path.first().map(String::as_str).unwrap_or_default();
    let parent = match span.path.split_last() {
        None | Some((_, [])) => String::new(),
        Some((_, parent)) => span_id(parent),
    };
    let status = match &span.failure {
        None => json!({"code": OK}),
        Some(word) => json!({"code": ERROR, "message": word}),
    };
    let attributes = span.attributes.iter();
    let attributes = attributes.map(|(key, attribute)| json!({"key": key, "value": value(attribute)}));
    json!({
        "traceId": trace_id(feature),
        "spanId": span_id(&span.path),
        "parentSpanId": parent,
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": nanoseconds(span.from),
        "endTimeUnixNano": nanoseconds(span.to.max(span.from)),
        "attributes": attributes.collect::<Vec<_>>(),
        "status": status,
    })
}

fn value(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::Text(text) => json!({"stringValue": text}),
        Attribute::Count(count) => json!({"intValue": count.to_string()}),
        Attribute::Money(sum) => json!({"doubleValue": sum}),
    }
}

fn nanoseconds(at: Millis) -> String {
    i128::from(at.0).saturating_mul(1_000_000).to_string()
}
