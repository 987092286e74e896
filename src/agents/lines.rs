//! Splits a stream that arrives in pieces into lines.

/// The longest line that is read, in bytes. Programs print whole inputs and results of tools, so lines are long.
pub(crate) const MAX_LINE: usize = 32 << 20;

/// The error for a line longer than [`MAX_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

/// The part of the incomplete line that has arrived.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Adds the next piece. Returns the lines that it completes, without their line breaks. Empty lines are left out.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<Vec<u8>>, LineTooLong> {
        let mut complete = Vec::new();
        let mut parts = piece.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            if self.begun.len().saturating_add(part.len()) > MAX_LINE {
                return Err(LineTooLong);
            }
            self.begun.extend_from_slice(part);
            if parts.peek().is_some() {
                complete.extend(self.take());
            }
        }
        Ok(complete)
    }

    /// Returns the line so far, even if no line break ends it.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.begun);
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::{LineTooLong, Lines, MAX_LINE};

    #[test]
    fn lines_come_out_however_they_were_cut() {
        let text = b"one\n\n{\"two\": 2}\r\n \nthree";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut found: Vec<Vec<u8>> = Vec::new();
            for piece in text.chunks(size) {
                found.extend(lines.push(piece).unwrap());
            }
            found.extend(lines.take());
            assert_eq!(found, [b"one".to_vec(), b"{\"two\": 2}\r".to_vec(), b"three".to_vec()]);
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_at_the_limit() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; MAX_LINE / 2];
        assert_eq!(lines.push(&piece), Ok(vec![]));
        assert_eq!(lines.push(&piece), Ok(vec![]));
        assert_eq!(lines.push(b"x"), Err(LineTooLong));
    }
}
