//! Orders to mistreat requests (fail them, delay them, obey and lose the reply) and deliveries of webhooks (lose them, send
//! them twice, hold them back).

use super::state::matches;
use http::{HeaderName, HeaderValue};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// What happens to a request or delivery that an order meets. Deliveries know `Hold`, `LoseRequest` and `Twice` alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It is answered with this status and body and nothing is done.
    Fail {
        /// The status code.
        status: u16,
        /// The body, JSON or not.
        body: String,
        /// More headers.
        headers: Vec<(String, String)>,
    },
    /// It is worked on only when the order is released, and never when it is cut.
    Hold,
    /// It is done, and the answer is held until the order is released or cut.
    HoldReply,
    /// It is worked on after this time.
    Delay(Duration),
    /// The connection is cut and nothing is done.
    LoseRequest,
    /// It is done, then the connection is cut.
    LoseReply,
    /// It is sent twice; only a delivery can be.
    Twice,
}

impl Mishap {
    /// An error of the server.
    #[must_use]
    pub fn fail(status: u16) -> Self {
        Self::Fail {
            status,
            body: r#"{"message":"Server Error"}"#.to_owned(),
            headers: Vec::new(),
        }
    }

    /// The secondary limit, told by its text alone.
    #[must_use]
    pub fn secondary_limit() -> Self {
        Self::Fail {
            status: 403,
            body: SECONDARY.to_owned(),
            headers: Vec::new(),
        }
    }
}

const SECONDARY: &str = r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}"#;

/// An order: which requests or deliveries it meets and what it does to them. Of those that fit it lets so many pass, then
/// it meets so many.
#[derive(Clone, Debug)]
pub struct Fault {
    /// None: it is about deliveries.
    method: Option<String>,
    path: String,
    containing: Option<String>,
    skip: usize,
    times: usize,
    mishap: Mishap,
}

impl Fault {
    /// Meets the next request with this method and path; in both `*` stands for any run of characters, slashes too.
    /// Paths are as sent, without `/api/v3`: `/repos/*/issues/*/comments`, `/*.git/git-receive-pack`, `/graphql`.
    #[must_use]
    pub fn on(method: &str, path: &str, mishap: Mishap) -> Self {
        Self {
            method: Some(method.to_owned()),
            ..Self::on_delivery(path, mishap)
        }
    }

    /// Meets the next delivery of this event, as `issues.opened`, `push`, or with `*`: `pull_request.*`.
    #[must_use]
    pub fn on_delivery(event: &str, mishap: Mishap) -> Self {
        Self {
            method: None,
            path: event.to_owned(),
            containing: None,
            skip: 0,
            times: 1,
            mishap,
        }
    }

    /// Meets only those whose body contains this text.
    #[must_use]
    pub fn containing(mut self, text: &str) -> Self {
        self.containing = Some(text.to_owned());
        self
    }

    /// Lets the first `n - 1` that fit pass.
    #[must_use]
    pub fn nth(mut self, n: usize) -> Self {
        self.skip = n.saturating_sub(1);
        self
    }

    /// Meets this many instead of one.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Meets every one from now on.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(usize::MAX)
    }

    /// Whether it fits, as far as can be told without the body.
    fn fits(&self, method: Option<&str>, path: &str) -> bool {
        let of_kind = match (&self.method, method) {
            (Some(pattern), Some(method)) => matches(pattern, method),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        of_kind && matches(&self.path, path)
    }

    fn fits_body(&self, body: &[u8]) -> bool {
        let contains = |text: &String| String::from_utf8_lossy(body).contains(text.as_str());
        self.containing.as_ref().is_none_or(contains)
    }
}

#[derive(Debug)]
struct Ordered {
    fault: Fault,
    /// Those that fitted, whether let pass, met or too late.
    fitted: AtomicUsize,
    /// Those it has done its deed to.
    struck: watch::Sender<usize>,
    held: watch::Sender<Held>,
    withdrawn: AtomicBool,
}

/// What becomes of those that an order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Waiting,
    GoingOn,
    Cut,
}

/// A given order: tells when it strikes and lets go of what it holds.
#[derive(Clone, Debug)]
pub struct FaultOrder(Arc<Ordered>);

impl FaultOrder {
    /// How many it has struck.
    #[must_use]
    pub fn hits(&self) -> usize {
        *self.0.struck.borrow()
    }

    /// Waits until it has struck for the first time. A held or lost reply counts when the request has been obeyed.
    pub async fn struck(&self) {
        let mut struck = self.0.struck.subscribe();
        // The order holds the sender, so waiting ends only with the count.
        let _ = struck.wait_for(|count| *count > 0).await;
    }

    /// Lets go of everything held, now and later; what is held now is under way when this returns.
    pub async fn release(&self) {
        self.0.held.send_replace(Held::GoingOn);
        self.0.held.closed().await;
    }

    /// Cuts the connections of everything held, now and later: a held request is never worked on, a held reply never
    /// arrives.
    pub fn cut(&self) {
        self.0.held.send_replace(Held::Cut);
    }

    /// Takes the order back: it meets nothing more, and what it holds goes on.
    pub fn withdraw(&self) {
        self.0.withdrawn.store(true, Ordering::SeqCst);
        self.0.held.send_replace(Held::GoingOn);
    }

    pub(super) fn mishap(&self) -> &Mishap {
        &self.0.fault.mishap
    }

    pub(super) fn strike(&self) {
        self.0.struck.send_modify(|count| *count += 1);
    }

    /// What holds back whoever has it, until the order lets go.
    pub(super) fn hold(&self) -> Hold {
        Hold(self.0.held.subscribe())
    }
}

/// Something that an order holds, until this is dropped.
pub(super) struct Hold(watch::Receiver<Held>);

impl Hold {
    /// Waits until the order lets go; false: it is to be cut.
    pub(super) async fn released(&mut self) -> bool {
        let ended = self.0.wait_for(|held| *held != Held::Waiting).await;
        ended.is_ok_and(|held| *held == Held::GoingOn)
    }
}

/// All orders given.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<FaultOrder>>);

impl Faults {
    fn orders(&self) -> MutexGuard<'_, Vec<FaultOrder>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn give(&self, fault: Fault) -> FaultOrder {
        let order = FaultOrder(Arc::new(Ordered {
            fault,
            fitted: AtomicUsize::new(0),
            struck: watch::Sender::new(0),
            held: watch::Sender::new(Held::Waiting),
            withdrawn: AtomicBool::new(false),
        }));
        self.orders().push(order.clone());
        order
    }

    /// Whether the body must be read to know which order meets a request.
    pub(super) fn need_body(&self, method: &str, path: &str) -> bool {
        let needs = |fault: &Fault| fault.containing.is_some() && fault.fits(Some(method), path);
        self.orders().iter().any(|order| needs(&order.0.fault))
    }

    /// The order that meets this request, or this delivery (no method), if one does.
    pub(super) fn meet(&self, method: Option<&str>, path: &str, body: &[u8]) -> Option<FaultOrder> {
        let meets = |order: &&FaultOrder| {
            let Ordered {
                fault,
                fitted,
                withdrawn,
                ..
            } = &*order.0;
            if withdrawn.load(Ordering::SeqCst) || !fault.fits(method, path) || !fault.fits_body(body) {
                return false;
            }
            let before = fitted.fetch_add(1, Ordering::SeqCst);
            before >= fault.skip && before - fault.skip < fault.times
        };
        self.orders().iter().find(meets).cloned()
    }

    pub(super) fn clear(&self) {
        let orders = std::mem::take(&mut *self.orders());
        orders.iter().for_each(FaultOrder::withdraw);
    }
}

/// Headers out of texts; those that are none are left out.
pub(super) fn header_pairs(list: &[(String, String)]) -> Vec<(HeaderName, HeaderValue)> {
    list.iter()
        .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_meets_the_nth_request_that_fits_and_then_rests() {
        let faults = Faults::default();
        let order = faults.give(Fault::on("POST", "/repos/*/comments", Mishap::LoseReply).nth(2));
        let meet = |method: &str| {
            let met = faults.meet(Some(method), "/repos/o/r/issues/1/comments", b"");
            met.map(|order| order.strike())
        };
        assert!(meet("GET").is_none());
        assert!(meet("POST").is_none());
        assert_eq!(order.hits(), 0);
        assert!(meet("POST").is_some());
        assert_eq!(order.hits(), 1);
        assert!(meet("POST").is_none());
        order.withdraw();
    }

    #[test]
    fn an_order_on_a_text_meets_only_bodies_that_contain_it() {
        let faults = Faults::default();
        faults.give(Fault::on("*", "*", Mishap::fail(500)).containing("marker-7").always());
        assert!(faults.need_body("POST", "/x"));
        assert!(faults.meet(Some("POST"), "/x", b"nothing").is_none());
        assert!(faults.meet(Some("POST"), "/x", b"a marker-7 b").is_some());
    }
}
