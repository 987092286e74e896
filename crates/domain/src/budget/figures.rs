//! Formats amounts for people.

/// Formats millionths of a US dollar as dollars and cents: `$12.34`.
pub fn dollars(micros: u64) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..10_000 => "under $0.01".to_owned(),
        _ => {
            let cents = micros.saturating_add(5_000) / 10_000;
            format!("${}.{:02}", grouped(cents / 100), cents % 100)
        }
    }
}

/// Formats an estimate: `about $12.34`, or `under $0.01` without `about`.
pub fn about_dollars(micros: u64) -> String {
    match micros {
        1..10_000 => dollars(micros),
        _ => format!("about {}", dollars(micros)),
    }
}

/// Formats a number of tokens: `1,234,567 tokens`.
pub fn tokens(count: u64) -> String {
    match count {
        1 => "1 token".to_owned(),
        _ => format!("{} tokens", grouped(count)),
    }
}

/// Formats milliseconds as hours and minutes: `2 h 05 min`; less than an hour as minutes, less than a minute as
/// seconds.
pub fn hours(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 3_600, seconds / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{} h {:02} min", grouped(hours), minutes % 60),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        let money = [0, 9_999, 10_000, 5_124_999, 1_234_567_890_000].map(dollars);
        assert_eq!(money, ["$0.00", "under $0.01", "$0.01", "$5.12", "$1,234,567.89"]);
        let guessed = [0, 1, 9_999, 10_000].map(about_dollars);
        assert_eq!(guessed, ["about $0.00", "under $0.01", "under $0.01", "about $0.01"]);
        assert_eq!([1, 999, 1_000_000].map(tokens), ["1 token", "999 tokens", "1,000,000 tokens"]);
        let time = [999, 59_999, 60_000, 3_660_000, 4_000_000_000].map(hours);
        assert_eq!(time, ["0 s", "59 s", "1 min", "1 h 01 min", "1,111 h 06 min"]);
    }
}
