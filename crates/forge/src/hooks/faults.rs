//! Orders to mistreat deliveries: lose them, send them twice, hold them back.

use crate::{faults::Count, state::Delivery};
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize};
use tokio::sync::watch;

/// What happens to a delivery that an order meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookMishap {
    /// It is never sent; the log shows it as failed.
    Drop,
    /// It is sent twice.
    Duplicate,
    /// It is sent only when the order is released, so later ones overtake it.
    Hold,
}

/// An order to mistreat deliveries of one event.
#[derive(Clone, Debug)]
pub struct HookFault {
    event: String,
    action: Option<String>,
    count: Count,
    mishap: HookMishap,
}

impl HookFault {
    /// Meets the next delivery of `event` (`*`: any).
    #[must_use]
    pub fn on(event: &str, mishap: HookMishap) -> Self {
        Self {
            event: event.to_owned(),
            action: None,
            count: Count::FIRST,
            mishap,
        }
    }

    /// Meets only deliveries with this action.
    #[must_use]
    pub fn action(mut self, action: &str) -> Self {
        self.action = Some(action.to_owned());
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

    fn fits(&self, delivery: &Delivery) -> bool {
        (self.event == "*" || self.event == delivery.event) && (self.action.is_none() || self.action == delivery.action)
    }
}

#[derive(Debug)]
struct Ordered {
    fault: HookFault,
    seen: AtomicUsize,
    open: watch::Sender<bool>,
}

/// A given order: tells how often it struck and lets go of what it holds.
#[derive(Clone, Debug)]
pub struct HookOrder(Arc<Ordered>);

impl HookOrder {
    /// How many deliveries it has met.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.0.fault.count.met(&self.0.seen)
    }

    /// Sends what is held back; all of it is under way when this returns.
    pub async fn release(&self) {
        self.0.open.send_replace(true);
        self.0.open.closed().await;
    }
}

/// All orders given and not yet used up.
#[derive(Debug, Default)]
pub(crate) struct HookFaults(Mutex<Vec<HookOrder>>);

impl HookFaults {
    pub(crate) fn give(&self, fault: HookFault) -> HookOrder {
        let order = HookOrder(Arc::new(Ordered {
            fault,
            seen: AtomicUsize::new(0),
            open: watch::Sender::new(false),
        }));
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(order.clone());
        order
    }

    /// What is to happen to this delivery; a hold comes with what to wait for.
    pub(super) fn strike(&self, delivery: &Delivery) -> Option<(HookMishap, watch::Receiver<bool>)> {
        let orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.iter().find_map(|HookOrder(order)| {
            if !order.fault.fits(delivery) {
                return None;
            }
            let met = order.fault.count.meets(&order.seen);
            met.then(|| (order.fault.mishap, order.open.subscribe()))
        })
    }
}
