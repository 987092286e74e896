//! Masks the key if an answer repeats it, even if it is split over pieces, escaped or encoded.

use text::secret::encodings;

/// The shortest key that is masked, in bytes. A shorter one could appear in answers by chance.
const LEAST_KEY: usize = 8;

/// The most backslashes before a character of the key: texts within texts are escaped again.
const MOST_BACKSLASHES: usize = 8;

/// The key in every form in which it is looked for, and the end of the last piece, which may be its beginning.
#[derive(Debug)]
pub(super) struct KeyMask {
    forms: Vec<Vec<u8>>,
    held: Vec<u8>,
}

/// The part of a key that a text starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpelledPart {
    No,
    /// Its beginning, up to the end of the text.
    Begun,
    /// All of it, in so many bytes.
    Whole(usize),
}

impl KeyMask {
    /// Masks the key in this header's value: as it is, in hexadecimal and in base64, with each character in any
    /// spelling of JSON, URLs or HTML.
    pub(super) fn of(header: &str) -> Self {
        let key = header.strip_prefix("Bearer ").unwrap_or(header);
        let mut forms = Vec::new();
        if key.len() >= LEAST_KEY {
            forms.push(key.as_bytes().to_vec());
            forms.extend(encodings(key).into_iter().map(String::into_bytes));
        }
        Self { forms, held: Vec::new() }
    }

    /// `true` if a text repeats the key in this header's value.
    pub(super) fn is_in(text: &[u8], header: &str) -> bool {
        let mut mask = Self::of(header);
        [mask.pass(text), mask.end()].concat() != text
    }

    /// Returns the bytes that may pass by now, with the key replaced by text of the same length. An end that may begin
    /// the key is held back.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let begun = self.mask(&mut bytes, SpelledPart::Begun);
        self.held = bytes.split_off(begun);
        bytes
    }

    /// Returns the bytes that were held back, once nothing follows.
    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        self.mask(&mut bytes, SpelledPart::No);
        bytes
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// Masks the key up to the first place that holds this much of it. Returns that place, or the end.
    pub(super) fn mask(&self, bytes: &mut [u8], stop: SpelledPart) -> usize {
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            let found = self.forms.iter().map(|form| spelled(form, rest)).max();
            at += match found.unwrap_or(SpelledPart::No) {
                SpelledPart::Whole(length) => {
                    rest.iter_mut().take(length).for_each(|byte| *byte = b'*');
                    length
                }
                SpelledPart::Begun if stop == SpelledPart::Begun => return at,
                SpelledPart::Begun | SpelledPart::No => 1,
            };
        }
        at
    }
}

fn spelled(form: &[u8], text: &[u8]) -> SpelledPart {
    let mut length = 0;
    for byte in form {
        match character(*byte, text.get(length..).unwrap_or_default()) {
            SpelledPart::Whole(more) => length += more,
            short @ (SpelledPart::Begun | SpelledPart::No) => return short,
        }
    }
    SpelledPart::Whole(length)
}

/// Looks for one character at the start of a text: as it is, after backslashes, or as its number.
fn character(byte: u8, text: &[u8]) -> SpelledPart {
    let slashes = text.iter().take(MOST_BACKSLASHES).take_while(|one| **one == b'\\').count();
    let rest = text.get(slashes..).unwrap_or_default();
    let numbered = match (rest.first(), slashes) {
        (None, _) => return SpelledPart::Begun,
        (Some(first), _) if *first == byte => return SpelledPart::Whole(slashes + 1),
        (Some(b'u' | b'U' | b'x' | b'X'), 1..) => vec![format!("u{byte:04x}"), format!("x{byte:02x}")],
        (Some(b'%' | b'&'), 0) => vec![format!("%{byte:02x}"), format!("&#{byte};"), format!("&#x{byte:x};")],
        (Some(_), _) => return SpelledPart::No,
    };
    let is_same = |(one, other): (u8, &u8)| one.eq_ignore_ascii_case(other);
    let fits = |number: &&String| number.bytes().zip(rest).all(is_same);
    match numbered.iter().find(fits) {
        None => SpelledPart::No,
        Some(number) if rest.len() < number.len() => SpelledPart::Begun,
        Some(number) => SpelledPart::Whole(slashes + number.len()),
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

    const SAID: [(&str, &str, &str); 10] = [
        ("no such key: sk-12345678", "sk-12345678", "no such key: ***********"),
        ("sk-12345678sk-12345678", "Bearer sk-12345678", "**********************"),
        ("sk-1234567 is another", "sk-12345678", "sk-1234567 is another"),
        ("nothing of it: sk-", "sk-12345678", "nothing of it: sk-"),
        ("a short one", "s", "a short one"),
        (r"\u0073k-1/2345678", "sk-1/2345678", "*****************"),
        (r"a \\\/ sk-1\\\/23\u0034\x35678", "sk-1/2345678", r"a \\\/ ***********************"),
        ("sk%2D1%2f2345678%2", "sk-1/2345678", "****************%2"),
        ("&#115;k-1&#x2F;2345678 sk-1&", "sk-1/2345678", "********************** sk-1&"),
        ("eHNrLTEvMjM0NTY3OA== \\u00", "sk-1/2345678", "eH***************A== \\u00"),
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
