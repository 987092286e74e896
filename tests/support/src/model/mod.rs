//! A scripted model: enough of two providers' APIs that real agent programs can work with it, with every fault of these
//! APIs. It runs on loopback and answers each request by rules.

mod anthropic;
mod openai;
mod wire;

use serde_json::Value;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// Selects one of a rule's replies.
#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// By the number of the model's turns in this conversation, so that parallel and repeated requests do not disturb
    /// each other.
    Turn,
    /// One after the other, for requests of any conversation.
    Next,
}

/// The replies to requests whose body contains a text. The last reply is repeated.
#[derive(Clone, Debug)]
pub struct Rule {
    pub holds: &'static str,
    pub pick: Pick,
    pub replies: Vec<Reply>,
}

/// One answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Text.
    Text(String),
    /// A tool call.
    Tool(&'static str, Value),
    /// A tool call whose input is not JSON.
    BrokenTool(&'static str),
    /// Text with the stop reason that the model refuses (Messages API only).
    Refusal,
    /// Text that is cut off at the output limit (Messages API only).
    CutOff,
    /// A tool call that costs more than any budget (Messages API only).
    Dear(&'static str, Value),
    /// An error with this status and text, and perhaps a time to wait in seconds.
    Status(u16, &'static str, Option<u32>),
    /// A prepared answer: status, additional headers, body.
    Raw(u16, &'static str, &'static str),
    /// The connection ends in the middle of the answer.
    Drop,
    /// The answer stops in the middle, and the connection stays open.
    Stall,
}

/// The parts of a request that tests examine.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: AbortOnDropHandle<()>,
}

pub(crate) struct Shared {
    rules: Vec<Rule>,
    hits: Mutex<Vec<usize>>,
    seen: Mutex<Vec<Seen>>,
}

impl FakeModel {
    /// Starts on a free port.
    pub async fn start(rules: Vec<Rule>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let hits = Mutex::new(vec![0; rules.len()]);
        let shared = Arc::new(Shared { rules, hits, seen: Mutex::default() });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(wire::serve(stream, Arc::clone(&serving)));
            }
        });
        Self { address, shared, _serving: AbortOnDropHandle::new(task) }
    }

    /// Returns the model's address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests for a reply so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }
}

impl Shared {
    /// Returns the reply to a request. A request that no rule matches is a mistake of the test, answered with a 500.
    fn reply(&self, seen: Seen) -> Reply {
        let text = seen.body.to_string();
        let turns = count_replies(&seen.body);
        self.seen.lock().unwrap().push(seen);
        let found = self.rules.iter().position(|rule| text.contains(rule.holds));
        let Some(at) = found else {
            return Reply::Status(500, "no rule for this request", None);
        };
        let rule = &self.rules[at];
        let hit = {
            let mut hits = self.hits.lock().unwrap();
            hits[at] += 1;
            hits[at] - 1
        };
        let wanted = match rule.pick {
            Pick::Turn => turns,
            Pick::Next => hit,
        };
        rule.replies[wanted.min(rule.replies.len() - 1)].clone()
    }
}

/// Returns how often the model has spoken in this conversation.
fn count_replies(body: &Value) -> usize {
    let of = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let messages = of("messages").iter().filter(|message| message["role"] == "assistant").count();
    let mut items = 0;
    let mut before = false;
    for item in of("input") {
        let kind = item["type"].as_str().unwrap_or_default();
        let speaks = kind.ends_with("_call") || item["role"] == "assistant";
        items += usize::from(speaks && !before);
        before = speaks;
    }
    messages + items
}
