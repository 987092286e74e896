//! A scripted model: enough of two providers' APIs for real agent programs to work against it, with every fault that
//! they have. It answers on loopback, request by request, from rules.

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

/// Which of its replies a rule gives.
#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// By how often the model has spoken in this conversation: parallel and repeated requests do not disturb each other.
    Turn,
    /// One after the other, whatever conversation a request belongs to.
    Next,
}

/// What is answered to requests whose body holds a text. The last reply is given again and again.
#[derive(Clone, Debug)]
pub struct Rule {
    pub holds: &'static str,
    pub pick: Pick,
    pub replies: Vec<Reply>,
}

/// One answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Words.
    Text(String),
    /// A call of a tool.
    Tool(&'static str, Value),
    /// A call whose input is no JSON.
    BrokenTool(&'static str),
    /// Words, and that the model refuses.
    Refusal,
    /// Words, cut off at the limit of output.
    CutOff,
    /// A call of a tool that costs more than any budget.
    Dear(&'static str, Value),
    /// No answer but this status, with a text and perhaps a time to wait.
    Status(u16, &'static str, Option<u32>),
    /// An answer as it stands: status, more headers, body.
    Raw(u16, &'static str, &'static str),
    /// The connection ends in the middle.
    Drop,
    /// Nothing more comes.
    Stall,
}

/// One request, as far as tests look at it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    /// Names of headers, in lower case, with their values.
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
    /// Starts on a port of its own.
    pub async fn start(rules: Vec<Rule>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let hits = Mutex::new(vec![0; rules.len()]);
        let shared = Arc::new(Shared {
            rules,
            hits,
            seen: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(wire::serve(stream, Arc::clone(&serving)));
            }
        });
        Self {
            address,
            shared,
            _serving: AbortOnDropHandle::new(task),
        }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request for words so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }
}

impl Shared {
    /// The reply to a request; a request that no rule knows is a mistake of the test and fails loudly.
    fn reply(&self, seen: Seen) -> Reply {
        let text = seen.body.to_string();
        let turns = spoken(&seen.body);
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

/// How often the model has spoken in this conversation.
fn spoken(body: &Value) -> usize {
    let of = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let messages = of("messages")
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
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
