//! Reads for how long an answer of a model's API asks to wait: seconds, milliseconds, or a date.

use chrono::DateTime;
use http::HeaderMap;

/// The longest wait that is believed, in seconds: 30 days.
const MOST: u64 = 30 * 24 * 3_600;

/// Returns the seconds that an answer asks to wait, rounded up; `None` if it does not ask or cannot be understood.
pub(super) fn asked_for(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let after = |said: &str| number(said).or_else(|| until(said, text("date")?));
    let seconds = text("retry-after").and_then(after);
    // The providers' own clients also read this header.
    let from_ms = || text("retry-after-ms").and_then(number).map(|ms| ms.div_ceil(1_000));
    seconds.or_else(from_ms).map(|seconds| seconds.min(MOST))
}

/// Reads a number of any length, with or without a fraction, and rounds it up.
fn number(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let more = u64::from(fraction.bytes().any(|digit| digit != b'0'));
    Some(whole.parse().unwrap_or(u64::MAX).saturating_add(more))
}

/// Returns the seconds from the time of the answer to the time that it names, both by the API's own clock.
fn until(moment: &str, answered: &str) -> Option<u64> {
    let read = |text: &str| DateTime::parse_from_rfc2822(text).ok();
    let seconds = read(moment)?.signed_duration_since(read(answered)?).num_seconds();
    Some(u64::try_from(seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{MOST, asked_for};
    use http::{HeaderMap, HeaderName};

    fn read_wait(pairs: &[(&'static str, &str)]) -> Option<u64> {
        let pair = |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), value.parse().unwrap());
        asked_for(&pairs.iter().map(pair).collect::<HeaderMap>())
    }

    #[test]
    fn every_form_of_a_wait_is_understood_and_no_other() {
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        let table = [
            ("7", Some(7)),
            (" 7 ", Some(7)),
            ("0", Some(0)),
            ("1.2", Some(2)),
            ("2.0", Some(2)),
            ("0.05", Some(1)),
            ("99999999999999999999999999", Some(MOST)),
            ("Wed, 21 Oct 2026 08:28:00 GMT", Some(3_600)),
            ("Wed, 21 Oct 2026 07:00:00 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(MOST)),
            ("-5", None),
            ("soon", None),
            ("", None),
            (".", None),
            ("1e9", None),
            ("NaN", None),
        ];
        for (value, expected) in table {
            assert_eq!(read_wait(&[("retry-after", value), date]), expected, "{value}");
        }
        let moment = ("retry-after", "Wed, 21 Oct 2026 08:28:00 GMT");
        assert_eq!(read_wait(&[moment]), None, "by whose clock is not known");
        assert_eq!(read_wait(&[]), None);
        assert_eq!(read_wait(&[("retry-after-ms", "1500")]), Some(2));
        assert_eq!(read_wait(&[("retry-after", "9"), ("retry-after-ms", "1500")]), Some(9));
        assert_eq!(read_wait(&[("retry-after", "soon"), ("retry-after-ms", "1500")]), Some(2));
    }
}
