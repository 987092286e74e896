//! The sentences about time limits of a repository that the server lowers.

/// Returns a sentence for each of the two time limits, of set-up and of the tests, that the server lowers. Each is
/// given as the repository's value and the server's limit, in seconds.
pub fn cut_times([setup, test]: [(u64, u64); 2]) -> Vec<String> {
    let all = [("setup_timeout", setup), ("test_timeout", test)].into_iter();
    let cut = all.filter(|(_, (asked, longest))| asked > longest);
    cut.map(|(key, (asked, longest))| format!("`{key}` asks for {asked} seconds, and this server allows {longest}."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::cut_times;

    #[test]
    fn only_what_is_cut_is_named() {
        let said = cut_times([(60, 90), (90, 60)]);
        assert_eq!(said, ["`test_timeout` asks for 90 seconds, and this server allows 60."]);
    }
}
