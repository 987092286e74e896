//! Masks the key where an answer repeats it, also where it is split over pieces.

/// The shortest key that is masked, in bytes. A shorter one could appear in answers by chance.
const LEAST_KEY: usize = 8;

/// A key, and the end of the last piece, which may be its beginning.
#[derive(Debug)]
pub(super) struct KeyMask {
    key: Vec<u8>,
    held: Vec<u8>,
}

impl KeyMask {
    /// Masks the key in this header's value.
    pub(super) fn of(header: &str) -> Self {
        let key = header.strip_prefix("Bearer ").unwrap_or(header).as_bytes();
        let key = if key.len() < LEAST_KEY { &[] } else { key };
        Self {
            key: key.to_vec(),
            held: Vec::new(),
        }
    }

    /// Passes everything.
    pub(super) fn nothing() -> Self {
        Self::of("")
    }

    /// Returns what may pass by now, with the key replaced by text of the same length. An end that may begin the key is
    /// held back.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        if self.key.is_empty() {
            return bytes;
        }
        let windows = (0..).zip(bytes.windows(self.key.len()));
        let places: Vec<usize> = windows
            .filter(|(_, part)| *part == self.key)
            .map(|(at, _)| at)
            .collect();
        for at in places {
            let key = bytes.iter_mut().skip(at).take(self.key.len());
            key.for_each(|byte| *byte = b'*');
        }
        let mut lengths = (1..self.key.len()).rev();
        let begins = lengths.find(|length| self.key.get(..*length).is_some_and(|begin| bytes.ends_with(begin)));
        self.held = bytes.split_off(bytes.len() - begins.unwrap_or(0));
        bytes
    }

    /// Returns what was held back, once nothing follows.
    pub(super) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::KeyMask;
    use proptest::prelude::*;

    fn passed<'p>(header: &str, pieces: impl IntoIterator<Item = &'p [u8]>) -> String {
        let mut mask = KeyMask::of(header);
        let mut passed: Vec<u8> = pieces.into_iter().flat_map(|piece| mask.pass(piece)).collect();
        passed.extend(mask.end());
        String::from_utf8(passed).unwrap()
    }

    const SAID: [(&str, &str, &str); 5] = [
        ("no such key: sk-12345678", "sk-12345678", "no such key: ***********"),
        ("sk-12345678sk-12345678", "Bearer sk-12345678", "**********************"),
        ("sk-1234567 is another", "sk-12345678", "sk-1234567 is another"),
        ("nothing of it: sk-", "sk-12345678", "nothing of it: sk-"),
        ("a short one", "s", "a short one"),
    ];

    #[test]
    fn a_key_that_an_api_repeats_is_masked() {
        for (said, key, expected) in SAID {
            assert_eq!(passed(key, [said.as_bytes()]), expected, "{said}");
        }
    }

    proptest! {
        #[test]
        fn it_is_masked_wherever_the_answer_is_split(cuts in proptest::collection::vec(0..24usize, 0..6)) {
            for (said, key, expected) in SAID {
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(said.len())).collect();
                cuts.extend([0, said.len()]);
                cuts.sort_unstable();
                let pieces = cuts.windows(2).map(|ends| said.as_bytes().get(ends[0]..ends[1]).unwrap());
                prop_assert_eq!(passed(key, pieces), expected);
            }
        }
    }
}
