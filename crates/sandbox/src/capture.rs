//! Keeps the beginning and the end of a program's output, and drops the middle.

use std::collections::VecDeque;

/// How much of one output stream is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputCap {
    /// The number of bytes kept from the beginning.
    pub head: usize,
    /// The number of bytes kept from the end.
    pub tail: usize,
    /// The program is stopped if it prints more bytes than this. With `None` it may print any amount.
    pub stop_after: Option<u64>,
}

impl Default for OutputCap {
    fn default() -> Self {
        Self { head: 64 << 10, tail: 1 << 20, stop_after: None }
    }
}

/// One output stream, shortened in the middle if it was longer than the cap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The beginning.
    pub head: Vec<u8>,
    /// The number of bytes left out after the beginning.
    pub omitted: u64,
    /// The rest. If nothing was left out, it follows the beginning directly.
    pub tail: Vec<u8>,
}

impl Output {
    /// Returns everything as text. A line says how much was left out, and bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        if self.omitted == 0 {
            let whole = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[{} bytes left out]\n{tail}", self.omitted)
    }

    /// Returns the whole output, if nothing was left out.
    pub fn whole(&self) -> Option<Vec<u8>> {
        (self.omitted == 0).then(|| [self.head.as_slice(), self.tail.as_slice()].concat())
    }

    /// Returns the end of the output: all of it if nothing was left out, otherwise the last bytes that were kept.
    pub fn end(&self) -> Vec<u8> {
        self.whole().unwrap_or_else(|| self.tail.clone())
    }

    /// Returns the number of bytes that the program printed.
    pub fn total(&self) -> u64 {
        let kept = self.head.len().saturating_add(self.tail.len());
        self.omitted.saturating_add(u64::try_from(kept).unwrap_or(u64::MAX))
    }
}

#[derive(Debug)]
pub(crate) struct Capture {
    cap: OutputCap,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
    total: u64,
}

impl Capture {
    pub(crate) fn new(cap: OutputCap) -> Self {
        Self { cap, head: Vec::new(), tail: VecDeque::new(), omitted: 0, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let room = self.cap.head.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(self.cap.tail);
        let rest = rest.get(skipped..).unwrap_or_default();
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.cap.tail);
        self.tail.drain(..over);
        let lost = skipped.saturating_add(over);
        self.omitted = self.omitted.saturating_add(u64::try_from(lost).unwrap_or(u64::MAX));
    }

    /// `true` if the program printed more than it may.
    pub(crate) fn too_much(&self) -> bool {
        self.cap.stop_after.is_some_and(|most| self.total > most)
    }

    pub(crate) fn output(&self) -> Output {
        Output { head: self.head.clone(), omitted: self.omitted, tail: self.tail.iter().copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]]) -> Output {
        let mut capture = Capture::new(OutputCap { head: 3, tail: 4, stop_after: None });
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture.output()
    }

    #[test]
    fn short_output_is_whole() {
        assert_eq!(captured(&[b"ab", b"cdefg"]).whole(), Some(b"abcdefg".to_vec()));
        assert_eq!(captured(&[]).text(), "");
    }

    #[test]
    fn long_output_keeps_both_ends() {
        for chunks in [vec![b"abcdefghij".as_slice()], vec![b"abcde", b"f", b"ghij"]] {
            let output = captured(&chunks);
            assert_eq!(
                (output.head.as_slice(), output.omitted, output.tail.as_slice()),
                (&b"abc"[..], 3, &b"ghij"[..])
            );
            assert_eq!(output.text(), "abc\n[3 bytes left out]\nghij");
            assert_eq!(output.total(), 10);
        }
    }
}
