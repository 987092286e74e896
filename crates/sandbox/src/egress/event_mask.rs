//! Masks the key if the events of a streamed answer spell it together: a program joins the pieces of a text, one of which
//! comes with each event.

use crate::egress::key_mask::{KeyMask, SpelledPart};
use serde::de::IgnoredAny;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

/// The length of a key's beginning, in bytes without backslashes, from which its events wait for the rest of the text. If
/// shorter ones waited, texts that nothing follows would hold up many answers.
const LEAST_HELD: usize = 4;

/// The most events that a beginning waits for its next piece: nobody says when a text has ended.
const MOST_EVENTS: usize = 32;

/// The most bytes that wait, and the longest event that is read.
const MOST_HELD: usize = 1 << 20;

/// The most texts whose ends are kept.
const MOST_TEXTS: usize = 1024;

/// The part of a streamed answer that waits, and the end of each of its texts, which may begin the key.
#[derive(Debug)]
pub(super) struct EventMask {
    key: KeyMask,
    /// The bytes that have not passed: lines, and the beginning of one.
    held: Vec<u8>,
    /// How many bytes of `held` were read.
    read: usize,
    /// How many bytes of the answer came before `held`.
    passed: usize,
    /// How many events were read.
    events: usize,
    /// The ends that may begin the key, by the path of their texts.
    begun: HashMap<u64, Beginning>,
}

/// The end of a text that may begin the key.
#[derive(Debug, Default)]
struct Beginning {
    /// Each byte, with its place in the answer.
    bytes: Vec<(usize, u8)>,
    /// The number of the event that ends with it.
    event: usize,
}

impl EventMask {
    /// Masks the key in this header's value.
    pub(super) fn of(header: &str) -> Self {
        Self { key: KeyMask::of(header), held: Vec::new(), read: 0, passed: 0, events: 0, begun: HashMap::new() }
    }

    /// Returns the bytes that may pass by now, with the key replaced by text of the same length.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        let arrived = self.held.len();
        self.held.extend_from_slice(piece);
        for at in arrived..self.held.len() {
            if matches!(self.held.get(at), Some(b'\n' | b'\r')) {
                self.read_line(at + 1);
            }
        }
        if self.held.len() > MOST_HELD || self.begun.len() > MOST_TEXTS {
            self.read_line(self.held.len());
            self.mask_what_waits();
        }
        let waits = self.waiting().flatten().filter_map(|(place, _)| place.checked_sub(self.passed));
        let passes = waits.min().unwrap_or(self.read);
        self.read -= passes;
        self.passed += passes;
        self.held.drain(..passes).collect()
    }

    /// Returns the bytes that were held back, once nothing follows.
    pub(super) fn end(&mut self) -> Vec<u8> {
        self.read_line(self.held.len());
        self.begun.clear();
        self.pass(&[])
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    fn waiting(&self) -> impl Iterator<Item = &Vec<(usize, u8)>> {
        let letters = |bytes: &[(usize, u8)]| bytes.iter().filter(|(_, byte)| *byte != b'\\').count();
        self.begun.values().map(|end| &end.bytes).filter(move |bytes| letters(bytes) >= LEAST_HELD)
    }

    /// Masks the beginnings that wait, for which there is no more room.
    fn mask_what_waits(&mut self) {
        let waiting = self.waiting().flatten();
        let places: Vec<usize> = waiting.filter_map(|(place, _)| place.checked_sub(self.passed)).collect();
        for at in places {
            self.put(at, b'*');
        }
        self.begun.clear();
    }

    fn put(&mut self, at: usize, byte: u8) {
        if let Some(there) = self.held.get_mut(at) {
            *there = byte;
        }
    }

    /// Reads the line that ends here.
    fn read_line(&mut self, end: usize) {
        let start = std::mem::replace(&mut self.read, end);
        let line = self.held.get(start..end).unwrap_or_default();
        let Some(data) = line.strip_prefix(b"data:").map(|data| data.strip_prefix(b" ").unwrap_or(data)) else {
            return;
        };
        let from = start + line.len() - data.len();
        let data = data.trim_ascii_end().to_vec();
        self.events += 1;
        self.begun.retain(|_, end| end.event + MOST_EVENTS > self.events);
        for (path, text) in texts(&data).unwrap_or_else(|| vec![(0, 0..data.len())]) {
            self.join(path, from + text.start..from + text.end);
        }
    }

    /// Masks the key in a text that continues the earlier ones of its path.
    fn join(&mut self, path: u64, text: Range<usize>) {
        let mut all = self.begun.remove(&path).unwrap_or_default().bytes;
        let places = self.passed + text.start..;
        all.extend(places.zip(self.held.get(text).unwrap_or_default().iter().copied()));
        let mut bytes: Vec<u8> = all.iter().map(|(_, byte)| *byte).collect();
        let begun = self.key.mask(&mut bytes, SpelledPart::Begun);
        for ((place, _), byte) in all.iter().zip(bytes) {
            if let Some(at) = place.checked_sub(self.passed) {
                self.put(at, byte);
            }
        }
        let bytes = all.split_off(begun);
        if !bytes.is_empty() {
            self.begun.insert(path, Beginning { bytes, event: self.events });
        }
    }
}

/// Returns each text of a JSON document as it is spelled between its quotes, with a path that the further pieces of the
/// same text share: a digest of the names that lead to it and of the numbers of its block, such as `index`.
fn texts(json: &[u8]) -> Option<Vec<(u64, Range<usize>)>> {
    // A number, or a word such as `true`, may continue a plain text.
    let has_texts = matches!(json.first(), Some(b'{' | b'[' | b'"'));
    serde_json::from_slice::<IgnoredAny>(json).ok().filter(|_| has_texts)?;
    let (mut above, mut path) = (Vec::new(), 0);
    let (mut found, mut numbers) = (Vec::new(), Vec::new());
    let (mut at, mut is_index) = (0, false);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let text = at + 1..at + 1 + text_length(json.get(at + 1..)?);
                at = text.end;
                if json.get(at + 1..)?.trim_ascii_start().starts_with(b":") {
                    let name = json.get(text)?;
                    path = digest(above.last().copied().unwrap_or_default(), name);
                    is_index = name.ends_with(b"index");
                } else {
                    found.push((path, text));
                }
            }
            b'{' | b'[' => above.push(path),
            b'}' | b']' => path = above.pop().unwrap_or_default(),
            b'0'..=b'9' if is_index => numbers.extend([0, *byte]),
            _ => {}
        }
        at += 1;
    }
    found.iter_mut().for_each(|(path, _)| *path = digest(*path, &numbers));
    Some(found)
}

fn digest(above: u64, name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (above, name).hash(&mut hasher);
    hasher.finish()
}

/// Returns the length of a text of JSON up to its closing quote.
fn text_length(json: &[u8]) -> usize {
    let mut is_escaped = false;
    let closes = |byte: &u8| {
        let was_escaped = is_escaped;
        is_escaped = !was_escaped && *byte == b'\\';
        *byte == b'"' && !was_escaped
    };
    json.iter().position(closes).unwrap_or(json.len())
}

#[cfg(test)]
mod tests {
    use super::{EventMask, MOST_HELD, MOST_TEXTS};
    use proptest::prelude::*;

    const KEY: &str = "Bearer sk-1/2345678";

    fn passed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> String {
        let mut mask = EventMask::of(KEY);
        let mut passed: Vec<u8> = pieces.into_iter().flat_map(|piece| mask.pass(piece)).collect();
        passed.extend(mask.end());
        assert!(mask.holds_nothing());
        String::from_utf8(passed).unwrap()
    }

    /// An answer of one event for each of these texts, in these blocks.
    fn answer(pieces: &[(usize, &str)]) -> String {
        let event = |(block, text): &(usize, &str)| {
            let delta = format!(r#"{{"type":"content_block_delta","index":{block},"delta":{{"text":"{text}"}}}}"#);
            format!("event: content_block_delta\ndata: {delta}\n\nevent: ping\ndata: {{\"type\": \"ping\"}}\n\n")
        };
        pieces.iter().map(event).collect()
    }

    #[test]
    fn a_key_spelled_over_events_is_masked() {
        let table: [(&[_], &[_]); 7] = [
            (&[(0, "it is sk-1/"), (0, "2345"), (0, "678.")], &[(0, "it is *****"), (0, "****"), (0, "***.")]),
            (&[(0, "sk-1/2"), (1, "{}"), (0, "345678")], &[(0, "******"), (1, "{}"), (0, "******")]),
            (&[(0, r"a \\ sk-1\\"), (0, r"/23\u00345678")], &[(0, r"a \\ ******"), (0, r"*************")]),
            (&[(0, "c2stMS8y"), (0, "MzQ1Njc4")], &[(0, "********"), (0, "********")]),
            (&[(0, "sk-1/2345"), (0, "67 is none")], &[(0, "sk-1/2345"), (0, "67 is none")]),
            (&[(0, "sk-1/2345"), (1, "678")], &[(0, "sk-1/2345"), (1, "678")]),
            (&[(0, "sk-1/2345")], &[(0, "sk-1/2345")]),
        ];
        for (said, expected) in table {
            assert_eq!(passed([answer(said).as_bytes()]), answer(expected), "{said:?}");
        }
        let lines = ["data: {\"text\":\"sk-1/2345\r\ndata: 678\"}\r\n", "data:sk-1/23\n\ndata:45678"];
        assert_eq!(passed([lines[0].as_bytes()]), "data: {\"text\":\"*********\r\ndata: ***\"}\r\n");
        assert_eq!(passed([lines[1].as_bytes()]), "data:*******\n\ndata:*****");
    }

    #[test]
    fn only_the_start_of_a_key_passes_before_the_rest_is_known() {
        let letters = ["s", "k", "-", "1", "/", "2", "3", "4", "5", "6", "7", "8"].map(|one| answer(&[(0, one)]));
        assert_eq!(passed(letters.iter().map(String::as_bytes)).matches('*').count(), 9);
        assert_eq!(passed([letters.concat().as_bytes()]).matches('*').count(), 12);
    }

    #[test]
    fn a_text_that_nothing_follows_holds_up_few_events() {
        let mut mask = EventMask::of(KEY);
        let latex = answer(&[(0, r"a \\\\")]);
        assert_eq!(mask.pass(latex.as_bytes()), latex.as_bytes());
        let begun = answer(&[(0, "it is sk-1")]);
        let held = begun.len() - mask.pass(begun.as_bytes()).len();
        assert_ne!(held, 0);
        let others = answer(&[(1, "b"); 40]);
        let passed = mask.pass(others.as_bytes());
        assert_eq!(passed.len(), held + others.len());
        assert!(String::from_utf8(passed).unwrap().starts_with("sk-1"));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut mask = EventMask::of(KEY);
        let begun = mask.pass(answer(&[(0, "sk-1/234")]).as_bytes());
        let rest: Vec<u8> = (0..17).flat_map(|_| mask.pass(&vec![b'x'; 1 << 20])).collect();
        let all = String::from_utf8([begun, rest].concat()).unwrap();
        assert!(all.len() > MOST_HELD && all.contains(r#""text":"********""#), "{}", all.len());
    }

    #[test]
    fn many_texts_that_may_begin_a_key_are_not_kept() {
        let mut mask = EventMask::of(KEY);
        let begun: Vec<u8> = (0..3_000).flat_map(|block| mask.pass(answer(&[(block, "sk-")]).as_bytes())).collect();
        assert!(mask.begun.len() <= MOST_TEXTS && mask.holds_nothing(), "{}", mask.begun.len());
        assert!(!begun.contains(&b'*'));
    }

    proptest! {
        #[test]
        fn it_is_masked_wherever_the_answer_is_split(cuts in proptest::collection::vec(0..600_usize, 0..6)) {
            let said = answer(&[(0, "sk-1/"), (1, "2345"), (0, "23456"), (0, "78")]);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(said.len())).collect();
            cuts.extend([0, said.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|ends| said.as_bytes().get(ends[0]..ends[1]).unwrap());
            prop_assert_eq!(passed(pieces), answer(&[(0, "*****"), (1, "2345"), (0, "*****"), (0, "**")]));
        }

        #[test]
        fn any_answer_keeps_its_length(said in "(data: ?)?[\\{\\}\\[\\]\"a:,\\\\sk1\n-]{0,60}") {
            prop_assert_eq!(passed([said.as_bytes()]).len(), said.len());
        }
    }
}
