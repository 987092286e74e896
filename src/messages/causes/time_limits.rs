//! The sentences about time limits of a repository that the server lowers.

/// A time limit in seconds, by its key in the repository's settings.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    pub key: &'static str,
    pub requested: u64,
    /// The server's limit.
    pub longest: u64,
}

/// Returns a sentence for each time limit that the server lowers.
pub fn cut_times(limits: &[TimeLimit]) -> Vec<String> {
    let cut = limits.iter().filter(|limit| limit.requested > limit.longest);
    cut.map(|TimeLimit { key, requested, longest }| {
        format!("`{key}` asks for {requested} seconds, and this server allows {longest}.")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_cut_is_named() {
        let limit = |key, requested, longest| TimeLimit { key, requested, longest };
        let said = cut_times(&[limit("setup_timeout", 60, 90), limit("test_timeout", 90, 60)]);
        assert_eq!(said, ["`test_timeout` asks for 90 seconds, and this server allows 60."]);
    }
}
