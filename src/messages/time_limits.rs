//! Says which time limits of a repository the server cuts.

/// Returns a sentence for each time that a repository asks for and the server cuts: that of set-up, then that of the
/// tests. Each is given in seconds, with the server's limit.
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
