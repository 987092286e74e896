//! Server-sent events that carry a page's content.

use maud::Markup;
use sha2::{Digest, Sha256};

/// The last event: the page no longer exists, or this reader may no longer see it.
pub const GONE: &str = "event: gone\ndata:\n\n";
/// The last event: the service stops; the browser asks again after two seconds.
pub const LATER: &str = "retry: 2000\n\n";
/// A comment to send from time to time, so that no proxy ends a quiet stream.
pub const HERE: &str = ": here\n\n";

/// The hash of the content that a reader received last.
#[derive(Clone, Debug, Default)]
pub struct LastSent(Option<[u8; 32]>);

impl LastSent {
    /// Returns the event with the content, or `None` if the reader has it already.
    pub fn news(&mut self, content: &Markup) -> Option<String> {
        let hash: [u8; 32] = Sha256::digest(&content.0).into();
        if self.0.replace(hash) == Some(hash) {
            return None;
        }
        let lines = content.0.split(['\n', '\r']).map(|line| format!("data: {line}\n"));
        Some(format!("{}\n", lines.collect::<String>()))
    }
}

#[cfg(test)]
mod tests {
    use super::LastSent;
    use maud::html;

    #[test]
    fn content_is_sent_once_whatever_lines_it_has() {
        let mut sent = LastSent::default();
        let content = html! { pre { "a\nb" } };
        assert_eq!(sent.news(&content).unwrap(), "data: <pre>a\ndata: b</pre>\n\n");
        assert_eq!(sent.news(&content), None);
        assert!(sent.news(&html! { "c" }).is_some());
    }
}
