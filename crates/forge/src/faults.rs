//! Faults that tests order: requests fail, are delayed, or are obeyed with the reply lost; webhook deliveries are lost,
//! sent twice, or held back.

use super::state::matches;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// The effect of an order on a request or delivery. Only `Hold`, `LoseRequest` and `Twice` affect deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The request is answered with this status and body, and nothing is done.
    Fail {
        /// The status code.
        status: u16,
        /// The body, JSON or not.
        body: String,
        /// Additional headers.
        headers: Vec<(String, String)>,
    },
    /// The request or delivery waits until the order is released. If the order is cut, it is never processed or sent.
    Hold,
    /// The request is processed, and the answer waits until the order is released or cut.
    HoldReply,
    /// The request is processed after this time.
    Delay(Duration),
    /// The connection is cut and nothing is done.
    LoseRequest,
    /// The request is processed, then the connection is cut.
    LoseReply,
    /// The delivery is sent twice.
    Twice,
}

impl Mishap {
    /// Returns a server error with this status.
    pub fn fail(status: u16) -> Self {
        Self::Fail { status, body: r#"{"message":"Server Error"}"#.to_owned(), headers: Vec::new() }
    }
}

/// An order: the requests or deliveries that it meets, and the effect on them. Of the matching ones, it lets the first
/// few pass (`skip`), then meets a number of them (`times`).
#[derive(Clone, Debug)]
pub struct Fault {
    /// `None` for an order about deliveries.
    method: Option<String>,
    path: String,
    containing: Option<String>,
    skip: usize,
    times: usize,
    mishap: Mishap,
}

impl Fault {
    /// Meets the next request with this method and path. In both, `*` matches any characters, slashes too. Paths are as
    /// sent, without `/api/v3`: `/repos/*/issues/*/comments`, `/*.git/git-receive-pack`, `/graphql`.
    pub fn on(method: &str, path: &str, mishap: Mishap) -> Self {
        Self { method: Some(method.to_owned()), ..Self::on_delivery(path, mishap) }
    }

    /// Meets the next delivery of this event, such as `issues.opened` or `push`; `*` matches any characters:
    /// `pull_request.*`.
    pub fn on_delivery(event: &str, mishap: Mishap) -> Self {
        Self { method: None, path: event.to_owned(), containing: None, skip: 0, times: 1, mishap }
    }

    /// Meets only requests or deliveries whose body contains this text.
    pub fn containing(mut self, text: &str) -> Self {
        self.containing = Some(text.to_owned());
        self
    }

    /// Lets the first `n - 1` matching ones pass.
    pub fn nth(mut self, n: usize) -> Self {
        self.skip = n.saturating_sub(1);
        self
    }

    /// Meets this many matching ones instead of one.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Meets every matching one from now on.
    pub fn always(self) -> Self {
        self.times(usize::MAX)
    }

    /// Returns `true` if the order matches, as far as this is known without the body.
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
    /// The number of matching requests so far: those that passed, those that the order met, and those after them.
    fitted: AtomicUsize,
    /// The number of requests on which the order was carried out.
    struck: watch::Sender<usize>,
    held: watch::Sender<Held>,
    withdrawn: AtomicBool,
}

/// The state of the requests that an order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Waiting,
    GoingOn,
    Cut,
}

/// The handle of an order: waits until it is carried out, and releases the requests that it holds.
#[derive(Clone, Debug)]
pub struct FaultOrder(Arc<Ordered>);

impl FaultOrder {
    /// Returns how many requests or deliveries the order was carried out on.
    pub fn hits(&self) -> usize {
        *self.0.struck.borrow()
    }

    /// Waits until the order is first carried out. A held or lost reply counts once the request was processed.
    pub async fn struck(&self) {
        let mut struck = self.0.struck.subscribe();
        // The order holds the sender, so the wait cannot fail.
        let _ = struck.wait_for(|count| *count > 0).await;
    }

    /// Releases everything held, now and later. When this returns, everything held now has gone on.
    pub async fn release(&self) {
        self.0.held.send_replace(Held::GoingOn);
        self.0.held.closed().await;
    }

    /// Cuts the connections of everything held, now and later: a held request is never processed, a held reply never
    /// arrives.
    pub fn cut(&self) {
        self.0.held.send_replace(Held::Cut);
    }

    /// Withdraws the order: it meets nothing more, and the requests that it holds go on.
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

    /// Returns the handle with which a request waits for the order's release.
    pub(super) fn hold(&self) -> Hold {
        Hold(self.0.held.subscribe())
    }
}

/// A request or delivery that an order holds, until this is dropped.
pub(super) struct Hold(watch::Receiver<Held>);

impl Hold {
    /// Waits until the order is released (`true`) or cut (`false`).
    pub(super) async fn released(&mut self) -> bool {
        let ended = self.0.wait_for(|held| *held != Held::Waiting).await;
        ended.is_ok_and(|held| *held == Held::GoingOn)
    }
}

#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<FaultOrder>>);

impl Faults {
    pub(super) fn give(&self, fault: Fault) -> FaultOrder {
        let order = FaultOrder(Arc::new(Ordered {
            fault,
            fitted: AtomicUsize::new(0),
            struck: watch::Sender::new(0),
            held: watch::Sender::new(Held::Waiting),
            withdrawn: AtomicBool::new(false),
        }));
        self.0.lock().push(order.clone());
        order
    }

    /// Returns `true` if the body must be read to know which order meets a request.
    pub(super) fn need_body(&self, method: &str, path: &str) -> bool {
        let needs = |fault: &Fault| fault.containing.is_some() && fault.fits(Some(method), path);
        self.0.lock().iter().any(|order| needs(&order.0.fault))
    }

    /// Returns the order that meets this request, or this delivery (no method).
    pub(super) fn meet(&self, method: Option<&str>, path: &str, body: &[u8]) -> Option<FaultOrder> {
        let meets = |order: &&FaultOrder| {
            let Ordered { fault, fitted, withdrawn, .. } = &*order.0;
            if withdrawn.load(Ordering::SeqCst) || !fault.fits(method, path) || !fault.fits_body(body) {
                return false;
            }
            let before = fitted.fetch_add(1, Ordering::SeqCst);
            before >= fault.skip && before - fault.skip < fault.times
        };
        self.0.lock().iter().find(meets).cloned()
    }

    pub(super) fn clear(&self) {
        let orders = std::mem::take(&mut *self.0.lock());
        orders.iter().for_each(FaultOrder::withdraw);
    }
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
