//! Shortens long texts.

/// Returns the first `max` characters of `text`, with an ellipsis if there are more.
pub fn start(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns at most `max` characters of `text`: its beginning, the number of characters left out, and its end. The
/// beginning shows which kind of text it is, and the end shows the result.
pub fn middle(text: &str, max: usize) -> String {
    let total = text.chars().count();
    if total <= max {
        return text.to_owned();
    }
    // The note contains a number that has at most as many digits as `total`.
    let room = max.saturating_sub(note(total).chars().count());
    let (head, tail) = (room / 2, room - room / 2);
    let left_out = note(total - room);
    let shortened = text.chars().take(head).chain(left_out.chars()).chain(text.chars().skip(total - tail));
    shortened.take(max).collect()
}

fn note(left_out: usize) -> String {
    format!("\n[… {left_out} characters left out …]\n")
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn beginning_and_end_stay() {
        let text = format!("begin {} end", "ü".repeat(10_000));
        let short = middle(&text, 200);
        assert!(short.starts_with("begin ü") && short.ends_with("ü end"), "{short}");
        assert!(short.contains("characters left out"));
        assert!(short.chars().count() <= 200 && short.chars().count() > 195);
    }

    #[test]
    fn a_short_text_is_left_alone_and_no_limit_is_exceeded() {
        assert_eq!(middle("short", 5), "short");
        for max in 0..60 {
            assert!(middle(&"x".repeat(100), max).chars().count() <= max);
        }
    }
}
