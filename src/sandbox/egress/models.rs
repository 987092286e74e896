//! The reverse proxy: `/<token>/<route>/…` becomes a request to the model's API with the key, streamed both ways.

use crate::sandbox::egress::errors;
use crate::sandbox::egress::errors::Body;
use crate::sandbox::egress::headers;
use crate::sandbox::egress::log::Outcome;
use crate::sandbox::egress::log::Refusal;
use crate::sandbox::egress::rules::ModelRoute;
use crate::sandbox::egress::serve::Shared;
use crate::sandbox::egress::upstream;
use crate::sandbox::egress::upstream::NoAnswer;
use http::HeaderValue;
use http::Method;
use http::Request;
use http::Response;
use http::StatusCode;
use http::Uri;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use secrecy::ExposeSecret;

/// Answers a request in origin form.
pub(super) async fn answer(request: Request<Incoming>, shared: &Shared) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let mut parts = path.trim_start_matches('/').splitn(3, '/');
    let (token, name, rest) = (parts.next(), parts.next(), parts.next());
    if !token.is_some_and(|token| shared.is_token(token.as_bytes())) {
        shared.log.note("model", Outcome::Refused(Refusal::NoToken));
        return not_found();
    }
    let name = name.unwrap_or_default();
    let Some(route) = shared.rules.models.iter().find(|route| route.name == name) else {
        shared.log.note("model", Outcome::Refused(Refusal::NoRoute));
        return not_found();
    };
    let logged = format!("model/{name}");
    let rest = format!("/{}", rest.unwrap_or_default());
    if !matches!(*request.method(), Method::GET | Method::POST) || !is_allowed(&rest, &route.paths) {
        shared.log.note(&logged, Outcome::Refused(Refusal::NoRoute));
        let message = format!("{} {rest} is not a request that this route passes on", request.method());
        return errors::of_model(StatusCode::FORBIDDEN, "permission_error", &message);
    }
    shared.log.note(&logged, Outcome::Allowed);
    forward(request, &rest, route)
        .await
        .unwrap_or_else(|why| why.response())
}

fn not_found() -> Response<Body> {
    errors::of_model(
        StatusCode::NOT_FOUND,
        "not_found_error",
        "there is nothing at this path",
    )
}

/// Whether a path lies at or below one of `allowed`, read the same way by everybody: nothing is written with percent
/// signs that could also be written without, nothing leads upwards.
fn is_allowed(path: &str, allowed: &[String]) -> bool {
    let is_odd = |part: &str| matches!(part, "." | "..");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:@!$&'()*+,=".contains(&byte);
    let is_safe = path.bytes().all(is_plain) && !path.contains("//") && !path.split('/').any(is_odd);
    let lies_below = |prefix: &String| {
        let rest = path.strip_prefix(prefix.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_safe && allowed.iter().any(lies_below)
}

async fn forward(request: Request<Incoming>, rest: &str, route: &ModelRoute) -> Result<Response<Body>, NoAnswer> {
    let (head, body) = request.into_parts();
    let (name, key) = &route.header;
    let mut key = HeaderValue::from_str(key.expose_secret()).map_err(|_| NoAnswer::Key)?;
    key.set_sensitive(true);
    let mut outward = Request::new(body.map_err(Into::into).boxed());
    *outward.method_mut() = head.method;
    *outward.uri_mut() = address(route, rest, head.uri.query()).ok_or(NoAnswer::Address)?;
    *outward.headers_mut() = headers::outward(&head.headers, (name, key));
    let (head, body) = upstream::ask(outward).await?.into_parts();
    let mut inward = Response::new(body.map_err(Into::into).boxed());
    *inward.status_mut() = head.status;
    *inward.headers_mut() = headers::inward(&head.headers);
    Ok(inward)
}

fn address(route: &ModelRoute, rest: &str, query: Option<&str>) -> Option<Uri> {
    let base = &route.upstream;
    let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Uri::builder()
        .scheme(base.scheme())
        .authority(format!("{}{port}", base.host_str()?))
        .path_and_query(format!("{}{rest}{query}", base.path().trim_end_matches('/')))
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::address;
    use super::is_allowed;
    use crate::sandbox::egress::rules::ModelRoute;

    #[test]
    fn only_what_lies_below_a_prefix_passes() {
        let allowed = ["/v1/messages".to_owned(), "/v1/models/".to_owned()];
        let table = [
            ("/v1/messages", true),
            ("/v1/messages/count_tokens", true),
            ("/v1/messages/", true),
            ("/v1/models", true),
            ("/v1/models/claude-x", true),
            ("/v1/messagesx", false),
            ("/v1", false),
            ("/", false),
            ("/v1/messages/../files", false),
            ("/v1/messages/./x", false),
            ("/v1/messages/%2e%2e/files", false),
            ("/v1/messages%2f..%2ffiles", false),
            ("//v1/messages", false),
            ("/v1//messages", false),
            ("/v1/messages\\..\\files", false),
            ("/v1/messages;x", false),
            ("/V1/messages", false),
        ];
        for (path, passes) in table {
            assert_eq!(is_allowed(path, &allowed), passes, "{path}");
        }
        assert!(!is_allowed("/v1/messages", &[]));
    }

    #[test]
    fn the_path_follows_that_of_the_api() {
        let route = |upstream: &str| ModelRoute {
            name: "main".to_owned(),
            upstream: upstream.parse().unwrap(),
            header: (http::header::AUTHORIZATION, "Bearer key".into()),
            paths: Vec::new(),
        };
        let table = [
            ("https://api.example.com", "https://api.example.com/v1/x?a=b"),
            ("https://api.example.com/", "https://api.example.com/v1/x?a=b"),
            (
                "https://gate.example.com:8443/llm/?k=v",
                "https://gate.example.com:8443/llm/v1/x?a=b",
            ),
            ("http://[::1]:9/llm", "http://[::1]:9/llm/v1/x?a=b"),
        ];
        for (upstream, expected) in table {
            let made = address(&route(upstream), "/v1/x", Some("a=b")).unwrap();
            assert_eq!(made.to_string(), expected);
        }
    }
}
