//! Says which time limits of a repository the server cuts.

use std::time::Duration;

/// Returns a sentence for each time that a repository asks for and the server cuts: that of set-up, then that of the
/// tests. Each is given with the server's limit.
pub fn cut_times([setup, test]: [(Duration, Duration); 2]) -> Vec<String> {
    let all = [("setup_timeout", setup), ("test_timeout", test)].into_iter();
    let cut = all.filter(|(_, (asked, longest))| asked > longest);
    cut.map(|(key, (asked, longest))| {
        format!(
            "`{key}` asks for {} seconds, and this server allows {}.",
            asked.as_secs(),
            longest.as_secs()
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::cut_times;
    use std::time::Duration;

    #[test]
    fn only_what_is_cut_is_named() {
        let [short, long] = [60, 90].map(Duration::from_secs);
        let said = cut_times([(short, long), (long, short)]);
        assert_eq!(said, ["`test_timeout` asks for 90 seconds, and this server allows 60."]);
    }
}
