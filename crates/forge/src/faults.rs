//! Orders to mistreat requests: fail them, delay them, obey and lose the reply, limit them.

use super::state::matches;
use http::{HeaderName, HeaderValue};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// What happens to a request that an order meets.
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

    /// The primary limit is used up until `reset` (seconds since the epoch).
    #[must_use]
    pub fn primary_limit(reset: i64) -> Self {
        let headers = [
            ("x-ratelimit-limit", "5000".to_owned()),
            ("x-ratelimit-remaining", "0".to_owned()),
            ("x-ratelimit-used", "5000".to_owned()),
            ("x-ratelimit-reset", reset.to_string()),
            ("x-ratelimit-resource", "core".to_owned()),
        ];
        Self::Fail {
            status: 403,
            body: r#"{"message":"API rate limit exceeded for installation.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}"#.to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        }
    }

    /// Too many requests, with the seconds to wait.
    #[must_use]
    pub fn retry_after(status: u16, seconds: u64) -> Self {
        Self::Fail {
            status,
            body: SECONDARY.to_owned(),
            headers: vec![("retry-after".to_owned(), seconds.to_string())],
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

/// Which of those that fit an order meets: so many are let pass, then so many are met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    skip: usize,
    times: usize,
}

impl Count {
    /// The first one.
    pub(crate) const FIRST: Self = Self { skip: 0, times: 1 };

    pub(crate) fn from_nth(&mut self, n: usize) {
        self.skip = n.saturating_sub(1);
    }

    pub(crate) fn so_often(&mut self, times: usize) {
        self.times = times;
    }

    /// Counts one more that fits in `fitted`, and tells whether it is met.
    pub(crate) fn meets(self, fitted: &AtomicUsize) -> bool {
        let before = fitted.fetch_add(1, Ordering::SeqCst);
        before >= self.skip && before - self.skip < self.times
    }

    /// How many of so many that fitted were met.
    pub(crate) fn met(self, fitted: &AtomicUsize) -> usize {
        fitted.load(Ordering::SeqCst).saturating_sub(self.skip).min(self.times)
    }
}

/// An order: which requests it meets and what it does to them.
#[derive(Clone, Debug)]
pub struct Fault {
    method: String,
    path: String,
    containing: Option<String>,
    count: Count,
    mishap: Mishap,
}

impl Fault {
    /// Meets the next request with this method and path; in both `*` stands for any run of characters, slashes too.
    /// Paths are as sent, without `/api/v3`: `/repos/*/issues/*/comments`, `/*.git/git-receive-pack`, `/graphql`.
    #[must_use]
    pub fn on(method: &str, path: &str, mishap: Mishap) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            containing: None,
            count: Count::FIRST,
            mishap,
        }
    }

    /// Meets only requests whose body contains this text.
    #[must_use]
    pub fn containing(mut self, text: &str) -> Self {
        self.containing = Some(text.to_owned());
        self
    }

    /// Lets the first `n - 1` that fit pass.
    #[must_use]
    pub fn nth(mut self, n: usize) -> Self {
        self.count.from_nth(n);
        self
    }

    /// Meets this many instead of one.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.count.so_often(times);
        self
    }

    /// Meets every one from now on.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.count.so_often(usize::MAX);
        self
    }

    fn fits(&self, method: &str, path: &str, body: &[u8]) -> bool {
        matches(&self.method, method)
            && matches(&self.path, path)
            && self
                .containing
                .as_ref()
                .is_none_or(|text| String::from_utf8_lossy(body).contains(text.as_str()))
    }

    /// Whether the body must be read to know if this fits.
    fn needs_body(&self, method: &str, path: &str) -> bool {
        self.containing.is_some() && matches(&self.method, method) && matches(&self.path, path)
    }
}

#[derive(Debug)]
struct Ordered {
    fault: Fault,
    /// Requests that fitted, whether let pass, met or too late.
    fitted: AtomicUsize,
    /// Requests it has done its deed to.
    struck: watch::Sender<usize>,
    held: watch::Sender<Held>,
    withdrawn: watch::Sender<bool>,
}

/// What becomes of the requests that an order holds.
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
    /// How many requests it has struck.
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

    /// Lets go of everything held, now and later.
    pub fn release(&self) {
        self.0.held.send_replace(Held::GoingOn);
    }

    /// Cuts the connections of everything held, now and later: a held request is never worked on, a held reply never
    /// arrives.
    pub fn cut(&self) {
        self.0.held.send_replace(Held::Cut);
    }

    /// Takes the order back: it meets nothing more, and what it holds goes on.
    pub fn withdraw(&self) {
        self.0.withdrawn.send_replace(true);
        self.release();
    }

    pub(super) fn mishap(&self) -> &Mishap {
        &self.0.fault.mishap
    }

    pub(super) fn strike(&self) {
        self.0.struck.send_modify(|count| *count += 1);
    }

    /// Waits until the order lets go; false: the connection is to be cut.
    pub(super) async fn released(&self) -> bool {
        let mut held = self.0.held.subscribe();
        // As above: the order itself keeps the sender alive.
        let ended = held.wait_for(|held| *held != Held::Waiting).await;
        !ended.is_ok_and(|held| *held == Held::Cut)
    }
}

/// All orders given.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<FaultOrder>>);

impl Faults {
    pub(super) fn give(&self, fault: Fault) -> FaultOrder {
        let order = FaultOrder(Arc::new(Ordered {
            fault,
            fitted: AtomicUsize::new(0),
            struck: watch::Sender::new(0),
            held: watch::Sender::new(Held::Waiting),
            withdrawn: watch::Sender::new(false),
        }));
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(order.clone());
        order
    }

    pub(super) fn need_body(&self, method: &str, path: &str) -> bool {
        let orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.iter().any(|order| order.0.fault.needs_body(method, path))
    }

    /// The order that meets this request, if one does.
    pub(super) fn meet(&self, method: &str, path: &str, body: &[u8]) -> Option<FaultOrder> {
        let orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.iter().find_map(|order| {
            let Ordered { fault, fitted, .. } = &*order.0;
            if *order.0.withdrawn.borrow() || !fault.fits(method, path, body) {
                return None;
            }
            fault.count.meets(fitted).then(|| order.clone())
        })
    }

    pub(super) fn clear(&self) {
        let orders = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for order in orders {
            order.withdraw();
        }
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
            faults
                .meet(method, "/repos/o/r/issues/1/comments", b"")
                .map(|order| order.strike())
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
        assert!(faults.meet("POST", "/x", b"nothing").is_none());
        assert!(faults.meet("POST", "/x", b"a marker-7 b").is_some());
    }
}
