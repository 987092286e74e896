//! The headers of a delivery.

use domain::ids::AppId;
use http::{HeaderMap, header::CONTENT_TYPE};

/// The longest header value. No event name, delivery id or signature of GitHub is longer.
const MAX_NAME: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryHeaders {
    /// `X-GitHub-Event`.
    pub event: String,
    /// `X-GitHub-Delivery`. It identifies the event, not the attempt; all hooks that subscribe to the event get the
    /// same value.
    pub delivery: String,
    /// `X-GitHub-Hook-Installation-Target-ID`, if the hook belongs to an App.
    pub app: Option<AppId>,
    /// `X-Hub-Signature-256`, unchecked.
    pub signature: Option<String>,
}

/// Why a delivery's headers are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A header that every delivery has is missing.
    #[error("the {0} header is missing")]
    Missing(&'static str),
    /// A header contains something that GitHub never sends.
    #[error("the {0} header is malformed")]
    Malformed(&'static str),
    /// The content type is not JSON.
    #[error("the content type is not application/json")]
    NotJson,
}

impl DeliveryHeaders {
    /// Reads the headers of a delivery without checking the signature.
    pub fn read(headers: &HeaderMap) -> Result<Self, HeaderError> {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
        let json = media.trim().eq_ignore_ascii_case("application/json");
        if !json {
            return Err(HeaderError::NotJson);
        }
        Ok(Self {
            event: required(headers, "X-GitHub-Event")?,
            delivery: required(headers, "X-GitHub-Delivery")?,
            app: target_app(headers)?,
            signature: optional(headers, "X-Hub-Signature-256")?,
        })
    }
}

fn optional(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, HeaderError> {
    match headers.get(name).map(|value| value.to_str()) {
        None => Ok(None),
        Some(Ok(text)) if text.len() <= MAX_NAME => Ok(Some(text.to_owned())),
        Some(_) => Err(HeaderError::Malformed(name)),
    }
}

fn required(headers: &HeaderMap, name: &'static str) -> Result<String, HeaderError> {
    let text = optional(headers, name)?.ok_or(HeaderError::Missing(name))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    if text.is_empty() || !text.bytes().all(plain) {
        return Err(HeaderError::Malformed(name));
    }
    Ok(text)
}

fn target_app(headers: &HeaderMap) -> Result<Option<AppId>, HeaderError> {
    const NAME: &str = "X-GitHub-Hook-Installation-Target-ID";
    let of_app = optional(headers, "X-GitHub-Hook-Installation-Target-Type")?.is_none_or(|kind| kind == "integration");
    match optional(headers, NAME)? {
        Some(text) if of_app => Ok(Some(AppId(text.parse().map_err(|_| HeaderError::Malformed(NAME))?))),
        Some(_) | None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.insert(*name, HeaderValue::from_static(value));
        }
        map
    }

    const JSON: (&str, &str) = ("content-type", "application/json");
    const EVENT: (&str, &str) = ("x-github-event", "issues");
    const GUID: (&str, &str) = ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958");

    #[test]
    fn a_delivery_names_its_event_its_id_and_its_app() {
        let read = DeliveryHeaders::read(&headers(&[
            ("content-type", "Application/JSON; charset=utf-8"),
            EVENT,
            GUID,
            ("x-github-hook-installation-target-type", "integration"),
            ("x-github-hook-installation-target-id", "7"),
            ("x-hub-signature-256", "sha256=00"),
        ]));
        assert_eq!(
            read,
            Ok(DeliveryHeaders {
                event: "issues".to_owned(),
                delivery: GUID.1.to_owned(),
                app: Some(AppId(7)),
                signature: Some("sha256=00".to_owned()),
            })
        );
    }

    #[test]
    fn a_repository_hook_names_no_app() {
        let read = DeliveryHeaders::read(&headers(&[
            JSON,
            EVENT,
            GUID,
            ("x-github-hook-installation-target-type", "repository"),
            ("x-github-hook-installation-target-id", "7"),
        ]));
        assert_eq!(read.unwrap().app, None);
    }

    #[test]
    fn what_github_never_sends_is_refused() {
        let long: &'static str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let refused = |pairs: &[_]| DeliveryHeaders::read(&headers(pairs)).unwrap_err();
        assert_eq!(refused(&[EVENT, GUID]), HeaderError::NotJson);
        assert_eq!(refused(&[("content-type", "text/plain"), EVENT, GUID]), HeaderError::NotJson);
        assert_eq!(refused(&[JSON, GUID]), HeaderError::Missing("X-GitHub-Event"));
        assert_eq!(refused(&[JSON, EVENT]), HeaderError::Missing("X-GitHub-Delivery"));
        for value in ["", "two words", long, "a\tb"] {
            assert_eq!(
                refused(&[JSON, EVENT, ("x-github-delivery", value)]),
                HeaderError::Malformed("X-GitHub-Delivery"),
                "{value:?}"
            );
        }
    }
}
