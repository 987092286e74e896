//! Masks what looks like a credential in text that people or agents will read. It knows forms, not values: a secret
//! without a known form is only masked where its value is given.

/// How credentials of one kind begin, how many characters follow at least, and which.
const FORMS: [(&str, usize); 14] = [
    ("github_pat_", 30),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("glpat-", 16),
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("sk_live_", 16),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
];
/// What stands in place of a credential.
const MASK: &str = "[masked]";
/// A given value shorter than this would mask ordinary words.
const LEAST_OWN: usize = 6;

/// `text` with every credential of a known form, every private key, and every value of `own` replaced.
#[must_use]
pub fn secrets(text: &str, own: &[&str]) -> String {
    let mut masked = private_keys(text);
    for value in own.iter().filter(|value| value.len() >= LEAST_OWN) {
        masked = masked.replace(value, MASK);
    }
    tokens(&masked)
}

fn private_keys(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----") {
            inside = true;
            let before = line.split("-----BEGIN ").next().unwrap_or_default();
            masked.push_str(before);
            masked.push_str(MASK);
            masked.push('\n');
        } else if !inside {
            masked.push_str(line);
        }
        // A key that is cut off ends where lines no longer look like one.
        if inside && (line.contains("-----END ") || !(line.contains("-----BEGIN ") || looks_like_key(line))) {
            if !line.contains("-----END ") {
                masked.push_str(line);
            }
            inside = false;
        }
    }
    masked
}

fn looks_like_key(line: &str) -> bool {
    line.trim()
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "+/=:,- ".contains(c))
}

fn tokens(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(length) = word_end(rest) {
        let (word, after) = rest.split_at(length);
        match token_at(word) {
            Some(at) => {
                masked.push_str(word.get(..at).unwrap_or_default());
                masked.push_str(MASK);
            }
            None => masked.push_str(word),
        }
        let gap = after.find(in_token).unwrap_or(after.len());
        let (between, next) = after.split_at(gap);
        masked.push_str(between);
        rest = next;
    }
    masked
}

/// Where the run of token characters at the beginning ends; `None` at the end of the text.
fn word_end(text: &str) -> Option<usize> {
    (!text.is_empty()).then(|| text.find(|c| !in_token(c)).unwrap_or(text.len()))
}

fn in_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn token_at(word: &str) -> Option<usize> {
    FORMS.iter().find_map(|(prefix, least)| {
        let at = word.find(prefix)?;
        (word.len() - at - prefix.len() >= *least).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::secrets;

    #[test]
    fn credentials_are_masked_wherever_they_stand() {
        let token = format!("ghs_{}", "a1B2".repeat(9));
        let table = [
            (format!("token={token}\n"), "token=[masked]\n".to_owned()),
            (
                format!("https://x:{token}@github.com"),
                "https://x:[masked]@github.com".to_owned(),
            ),
            (format!("{token} {token}"), "[masked] [masked]".to_owned()),
            ("key AKIAIOSFODNN7EXAMPLE.".to_owned(), "key [masked].".to_owned()),
            ("say hush-hush twice".to_owned(), "say [masked] twice".to_owned()),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb\n".to_owned(),
                "a\n[masked]\nb\n".to_owned(),
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIE\nerror: (truncated)\nmore\n".to_owned(),
                "[masked]\nerror: (truncated)\nmore\n".to_owned(),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(secrets(&text, &["hush-hush", "no"]), expected);
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "ghs_short",
            "no token, größer",
            "task-sk-ant-1",
            "test a ... ok\n",
            "AKIA",
        ] {
            assert_eq!(secrets(text, &["", "ok"]), text);
        }
    }
}
