//! Finds the service's own secrets, including those that are added while it runs and that expire.
//!
//! It first searches for the beginnings of all spellings at once, then compares the rest. A private key has dozens of
//! long spellings, and building an automaton of all of them would take longer than the rest of the start.

use crate::secret::spelling;
use aho_corasick::AhoCorasick;
use secrecy::{ExposeSecret, SecretString};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// The length of the beginning that is searched first; no spelling is shorter.
const BEGINNING: usize = spelling::LEAST;

/// The rest of each spelling that has the same beginning.
type SpellingRests = Vec<Box<[u8]>>;

/// The spellings of all known secrets.
pub(super) struct OwnSecrets {
    beginnings: AhoCorasick,
    /// The rests for each beginning, in the order of the beginnings.
    rests: Vec<SpellingRests>,
}

impl OwnSecrets {
    /// Returns a finder for every spelling of these values; `None` if all are so short or plain that they are left out.
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Option<Self> {
        let mut spellings: BTreeMap<Vec<u8>, SpellingRests> = BTreeMap::new();
        for value in values {
            for spelled in spelling::of(value.expose_secret()) {
                if let Some((beginning, rest)) = spelled.as_bytes().split_at_checked(BEGINNING) {
                    spellings.entry(beginning.to_vec()).or_default().push(rest.into());
                }
            }
        }
        let (beginnings, mut rests): (Vec<Vec<u8>>, Vec<SpellingRests>) = spellings.into_iter().unzip();
        for rests in &mut rests {
            rests.sort_unstable();
            rests.dedup();
        }
        let beginnings = (!beginnings.is_empty()).then(|| AhoCorasick::new(beginnings).ok())??;
        Some(Self { beginnings, rests })
    }

    /// Returns the range of each spelling in a text, including overlapping ones.
    pub(super) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        self.beginnings.find_overlapping_iter(text).flat_map(move |found| {
            let rests = self.rests.get(found.pattern().as_usize()).into_iter().flatten();
            let after = text.get(found.end()..).unwrap_or_default();
            let whole = rests.filter(move |rest| after.starts_with(rest));
            whole.map(move |rest| found.start()..found.end() + rest.len())
        })
    }
}

/// The secrets that expire and have not expired yet.
#[derive(Default)]
pub(super) struct Passing {
    values: Vec<(SecretString, i64)>,
    /// The finder of all values. It is built on first use, because several values are often added together.
    finder: Option<Arc<OwnSecrets>>,
}

impl Passing {
    /// Adds `value`, which expires at `until`, and removes the values that expired by `now`.
    pub(super) fn learn(&mut self, value: &SecretString, until: i64, now: i64) {
        let same = |known: &SecretString| known.expose_secret() == value.expose_secret();
        self.values.retain(|(known, until)| *until > now && !same(known));
        self.values.push((value.clone(), until));
        self.finder = None;
    }

    /// Returns the finder of all values; `None` if there is none.
    pub(super) fn finder(&mut self) -> Option<Arc<OwnSecrets>> {
        if self.finder.is_none() && !self.values.is_empty() {
            self.finder = OwnSecrets::of(self.values.iter().map(|(value, _)| value)).map(Arc::new);
        }
        self.finder.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::OwnSecrets;
    use secrecy::SecretString;

    fn find_own(secrets: &[&str], text: &str) -> Vec<String> {
        let secrets: Vec<SecretString> = secrets.iter().map(|secret| SecretString::from(*secret)).collect();
        let own = OwnSecrets::of(&secrets).unwrap();
        let mut found: Vec<String> = own.find(text.as_bytes()).map(|at| text[at].to_owned()).collect();
        found.sort();
        found
    }

    #[test]
    fn secrets_that_begin_alike_or_lie_in_one_another_are_each_found() {
        let secrets = ["Same-beginning-One", "Same-beginning-Other", "Same-beg1", "inning-One-more"];
        assert_eq!(
            find_own(&secrets, "a Same-beginning-One-more b Same-beginning-Other"),
            ["Same-beginning-One", "Same-beginning-Other", "inning-One-more"]
        );
        assert_eq!(find_own(&secrets, "Same-beg1"), ["Same-beg1"]);
    }

    #[test]
    fn a_beginning_alone_is_no_secret() {
        assert_eq!(find_own(&["Same-beginning-One"], "Same-beginning-On"), Vec::<String>::new());
        assert_eq!(find_own(&["abAbabAbabAb"], "abAbabAbabAbabAb"), ["abAbabAbabAb", "abAbabAbabAb"]);
    }

    #[test]
    fn nothing_is_prepared_where_nothing_is_known() {
        assert!(OwnSecrets::of(&[]).is_none());
        assert!(OwnSecrets::of(&[SecretString::from("word")]).is_none());
    }
}
