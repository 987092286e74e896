//! The reverse proxy: turns `/<token>/<route>/…` into a request to the model's API with the key. A request is read and
//! judged whole, and then sent; its answer is streamed.

use crate::egress::{
    call_meter::{CallMeter, Form},
    errors,
    errors::Body,
    event_mask::EventMask,
    headers,
    key_mask::KeyMask,
    log::{Outcome, ROUTE, Refusal},
    messages_api, patience, request_policy,
    request_policy::{CallRequest, RequestRefusal},
    rules::{ModelRoute, Terms},
    serve::Shared,
    upstream,
    upstream::NoAnswer,
};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE},
    request::Parts,
};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use secrecy::ExposeSecret;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::sync::OwnedSemaphorePermit;
use uplink::Uplink;

/// The message for a program whose model calls have used up their budget. Programs repeat it within their own messages.
pub const SPENT: &str = "the calls of models in this run have cost as much as they may";
/// The end of the path that counts a text's tokens, which costs nothing.
const FREE: &str = "/count_tokens";
/// The largest body of a request, in MiB, as at Anthropic's API.
const MAX_BODY: u32 = 32;
/// The bytes of all requests that one door holds in memory until their answers begin. Further ones wait.
pub(super) const MAX_BODIES: u32 = 2 * (MAX_BODY << 20);

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
    let logged = format!("{ROUTE}{name}");
    let rest = format!("/{}", rest.unwrap_or_default());
    if !matches!(*request.method(), Method::GET | Method::POST) || !is_allowed(&rest, &route.paths) {
        shared.log.note(&logged, Outcome::Refused(Refusal::NoRoute));
        let message = format!("{} {rest} is not a request that this route passes on", request.method());
        return errors::of_model(StatusCode::FORBIDDEN, "permission_error", &message);
    }
    let costs = request.method() == Method::POST && !rest.ends_with(FREE);
    let (head, body) = request.into_parts();
    let request = match ModelRequest::receive(head, body, &rest, route, shared).await {
        Ok(request) => request,
        Err(why) => {
            shared.log.note(&logged, Outcome::Allowed);
            return out_of_reach(&why);
        }
    };
    let mut meter = CallMeter::new(&shared.tally, request.call.clone());
    match shared.rules.caps.usd_micros.filter(|_| costs) {
        Some(most) => {
            let left = || most.saturating_sub(shared.tally.usd_micros());
            let Some(place) = shared.places.take(request.call.most_micros(), left).await else {
                meter.forget();
                shared.log.note(&logged, Outcome::Refused(Refusal::UsedUp));
                return errors::of_model(StatusCode::BAD_REQUEST, "invalid_request_error", SPENT);
            };
            meter.begin(place);
        }
        None if costs => {}
        None => meter.forget(),
    }
    shared.log.note(&logged, Outcome::Allowed);
    let answered = forward(request, &rest, route, &shared.rules.uplink, meter).await;
    answered.unwrap_or_else(NoAnswer::response)
}

/// A request that may be sent.
struct ModelRequest {
    head: Parts,
    body: Bytes,
    call: CallRequest,
    /// The body's part of the memory of this door.
    _room: OwnedSemaphorePermit,
}

impl ModelRequest {
    /// Reads and judges a request for the path `rest` of a route.
    async fn receive(
        head: Parts,
        body: Incoming,
        rest: &str,
        route: &ModelRoute,
        shared: &Shared,
    ) -> Result<Self, RequestRefusal> {
        let is_of_messages = matches!(route.terms, Terms::Messages { .. });
        if is_of_messages && !messages_api::is_known_form(head.uri.query(), &head.headers) {
            return Err(RequestRefusal::Form);
        }
        if head.headers.contains_key(CONTENT_ENCODING) {
            return Err(RequestRefusal::Unreadable);
        }
        let most = MAX_BODY << 20;
        let length = u32::try_from(body.size_hint().upper().unwrap_or(most.into()));
        let length = length.ok().filter(|length| *length <= most).ok_or(RequestRefusal::TooLarge(MAX_BODY))?;
        // Fails only if the semaphore is closed, which nobody does.
        let room = Arc::clone(&shared.bodies).acquire_many_owned(length).await;
        let room = room.map_err(|_| RequestRefusal::Unreadable)?;
        let body = read_whole(body, most).await?;
        let (terms, path, whole) = (route.terms.clone(), rest.to_owned(), body.clone());
        // A large one takes long enough to hold up other tasks.
        let call = tokio::task::spawn_blocking(move || request_policy::check(&terms, &path, &whole)).await;
        let call = call.unwrap_or(Err(RequestRefusal::Unreadable))?;
        Ok(Self { head, body, call, _room: room })
    }
}

/// Reads a body of at most `most` bytes. Its pieces are joined as they arrive: kept apart, each of a single byte would
/// take many times its size.
async fn read_whole<B>(mut body: B, most: u32) -> Result<Bytes, RequestRefusal>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| RequestRefusal::Unreadable)?;
        whole.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
        if whole.len() > most {
            return Err(RequestRefusal::TooLarge(MAX_BODY));
        }
    }
    Ok(whole.into())
}

fn not_found() -> Response<Body> {
    let message = "there is nothing at this path";
    errors::of_model(StatusCode::NOT_FOUND, "not_found_error", message)
}

/// `true` if a path is one of `allowed`, or lies below one that ends with a slash. Every reader must understand the
/// path in the same way, so it may contain no percent signs, no empty segments, and no `.` or `..`.
fn is_allowed(path: &str, allowed: &[String]) -> bool {
    let is_odd = |part: &str| matches!(part, "." | "..");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:@!$&'()*+,=".contains(&byte);
    let is_safe = path.bytes().all(is_plain) && !path.contains("//") && !path.split('/').any(is_odd);
    let fits = |known: &String| path == known || known.ends_with('/') && path.starts_with(known.as_str());
    is_safe && allowed.iter().any(fits)
}

async fn forward(
    request: ModelRequest,
    rest: &str,
    route: &ModelRoute,
    uplink: &Uplink,
    mut meter: CallMeter,
) -> Result<Response<Body>, NoAnswer> {
    let ModelRequest { head, body, .. } = request;
    let (name, key) = &route.header;
    let mut key = HeaderValue::from_str(key.expose_secret()).map_err(|_| NoAnswer::Key)?;
    key.set_sensitive(true);
    let taken = Arc::clone(&meter.asks);
    if body.is_empty() {
        taken.ends();
    }
    let body = Full::new(body).inspect_frame(move |_| taken.ends());
    let mut outward = Request::new(body.map_err(|never| match never {}).boxed());
    *outward.method_mut() = head.method;
    *outward.uri_mut() = address(route, rest, head.uri.query()).ok_or(NoAnswer::Address)?;
    *outward.headers_mut() = headers::outward(&head.headers, name, key);
    keep_known(outward.headers_mut(), route);
    outward.headers_mut().extend(route.beside.clone());
    // The door could not read a compressed answer.
    outward.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let answer = upstream::ask(outward, uplink).await.inspect_err(|why| match why {
        NoAnswer::Unreachable | NoAnswer::Broken => meter.fails(),
        // The model may have been at work, so the call counts.
        NoAnswer::Late => {}
        NoAnswer::Key | NoAnswer::Address | NoAnswer::NoRoots => meter.forget(),
    })?;
    meter.answered(answer.status(), patience::asked_for(answer.headers()));
    // In a compressed answer, the door sees neither the usage nor the key.
    let encoding = answer.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
        return Err(NoAnswer::Broken);
    }
    Ok(inward(answer, route, meter))
}

/// Removes the headers that the API's terms do not know.
fn keep_known(headers: &mut HeaderMap, route: &ModelRoute) {
    let (key, _) = &route.header;
    match route.terms {
        Terms::Priced { .. } => headers::keep_known_to_open_ai(headers, key),
        Terms::Messages { .. } => messages_api::keep_known(headers, key),
    }
}

/// Refuses a request that the policy does not allow.
fn out_of_reach(why: &RequestRefusal) -> Response<Body> {
    tracing::info!("a request to a model does not pass: {why}");
    let message = format!("this run reaches its model and nothing through it: {why}");
    errors::of_model(StatusCode::BAD_REQUEST, "invalid_request_error", &message)
}

fn inward(answer: Response<Incoming>, route: &ModelRoute, mut meter: CallMeter) -> Response<Body> {
    let (head, body) = answer.into_parts();
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"));
    meter.form = if is_stream { Form::Events } else { Form::Whole };
    let key = route.header.1.expose_secret();
    let body = AnswerBody::new(body, key, meter);
    let mut inward = Response::new(body.map_err(Into::into).boxed());
    *inward.status_mut() = head.status;
    let passing = headers::inward(&head.headers);
    let passing = passing.iter().filter(|(_, value)| !KeyMask::is_in(value.as_bytes(), key));
    *inward.headers_mut() = passing.map(|(name, value)| (name.clone(), value.clone())).collect();
    inward
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

/// An answer that is metered as it passes, with the key masked. The announced length stays true: the mask has the length
/// of the key, and the end of a piece that may begin the key comes with the next piece.
#[derive(Debug)]
struct AnswerBody {
    body: Incoming,
    mask: KeyMask,
    /// Masks what the events spell together, if the answer is a stream of them.
    events: Option<EventMask>,
    meter: CallMeter,
}

impl AnswerBody {
    fn new(body: Incoming, key: &str, meter: CallMeter) -> Self {
        if body.is_end_stream() {
            meter.answers.ends();
        }
        let events = (meter.form == Form::Events).then(|| EventMask::of(key));
        Self { body, mask: KeyMask::of(key), events, meter }
    }

    /// Returns the part of a piece that may pass.
    fn pass(&mut self, piece: &Bytes) -> Bytes {
        let mut passed = self.mask.pass(piece);
        if let Some(events) = &mut self.events {
            passed = events.pass(&passed);
        }
        if self.body.is_end_stream() {
            passed.extend(self.rest());
        }
        self.meter.observe(&passed);
        passed.into()
    }

    /// Returns what was held back, once nothing follows.
    fn rest(&mut self) -> Vec<u8> {
        let rest = self.mask.end();
        match &mut self.events {
            Some(events) => [events.pass(&rest), events.end()].concat(),
            None => rest,
        }
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let pace = &self.meter.answers;
        match &frame {
            Poll::Pending => pace.waits(),
            // If a body's length is known, nobody asks for more after its last piece.
            Poll::Ready(Some(Ok(_))) if !self.body.is_end_stream() => pace.note_arrival(),
            Poll::Ready(Some(Ok(_)) | None) => pace.ends(),
            Poll::Ready(Some(Err(_))) => pace.breaks(),
        }
        match frame {
            Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                Poll::Ready(Some(Ok(frame.map_data(|piece| self.pass(&piece)))))
            }
            // No program needs trailers, which would come after the bytes that were held back.
            Poll::Ready(None | Some(Ok(_))) => {
                let rest = self.rest();
                if rest.is_empty() {
                    return Poll::Ready(None);
                }
                self.meter.observe(&rest);
                Poll::Ready(Some(Ok(Frame::data(rest.into()))))
            }
            other @ (Poll::Pending | Poll::Ready(Some(Err(_)))) => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        let holds_nothing = self.mask.holds_nothing() && self.events.as_ref().is_none_or(EventMask::holds_nothing);
        self.body.is_end_stream() && holds_nothing
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::{address, is_allowed, read_whole};
    use crate::egress::{
        request_policy::RequestRefusal,
        rules::{ModelRoute, Terms},
        tests::corpus,
    };
    use bytes::Bytes;
    use futures_util::FutureExt;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use proptest::prelude::*;
    use std::{convert::Infallible, sync::Arc};

    proptest! {
        #[test]
        fn a_request_is_read_the_same_however_it_is_split(
            known in any::<prop::sample::Index>(),
            lengths in prop::collection::vec(0_usize..20, 0..40),
        ) {
            let corpus: Vec<Vec<u8>> = corpus("model_request").into_values().collect();
            let request = known.get(&corpus);
            let mut rest = request.as_slice();
            let mut pieces = Vec::new();
            for length in lengths.into_iter().chain([request.len()]) {
                let (piece, after) = rest.split_at(length.min(rest.len()));
                pieces.push(Bytes::copy_from_slice(piece));
                rest = after;
            }
            let read = |most: usize| {
                let pieces = pieces.iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece.clone())));
                let pieces = futures_util::stream::iter(pieces);
                read_whole(StreamBody::new(pieces), most.try_into().unwrap()).now_or_never().unwrap()
            };
            prop_assert_eq!(read(request.len()), Ok(Bytes::from(request.clone())));
            prop_assert!(matches!(read(request.len() - 1), Err(RequestRefusal::TooLarge(_))));
        }
    }

    #[test]
    fn only_what_is_named_passes_and_what_lies_below_a_slash() {
        let allowed = ["/v1/messages", "/v1/models/"].map(str::to_owned);
        let table = [
            ("/v1/messages", true),
            ("/v1/messages/batches", false),
            ("/v1/messages/", false),
            ("/v1/models", false),
            ("/v1/models/", true),
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
            beside: http::HeaderMap::new(),
            paths: Vec::new(),
            terms: Terms::Priced { model: Arc::default() },
        };
        let table = [
            ("https://api.example.com", "https://api.example.com/v1/x?a=b"),
            ("https://api.example.com/", "https://api.example.com/v1/x?a=b"),
            ("https://gate.example.com:8443/llm/?k=v", "https://gate.example.com:8443/llm/v1/x?a=b"),
            ("http://[::1]:9/llm", "http://[::1]:9/llm/v1/x?a=b"),
        ];
        for (upstream, expected) in table {
            let made = address(&route(upstream), "/v1/x", Some("a=b")).unwrap();
            assert_eq!(made.to_string(), expected);
        }
    }
}
