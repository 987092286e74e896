//! Git's C-style quoting of paths: written for `fast-import`, read from the headers of a patch.

/// Returns `path` in double quotes, so that it can contain any bytes within a line of text.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0..=0x1f | 0x7f => out.extend(format!("\\{byte:03o}").bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

/// Returns the path that `text` names, quoted or unquoted.
pub(crate) fn unquoted(text: &[u8]) -> Vec<u8> {
    let inner = text.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let Some(inner) = inner else { return text.to_vec() };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b't') => out.push(b'\t'),
            Some(b'n') => out.push(b'\n'),
            Some(b'v') => out.push(11),
            Some(b'f') => out.push(12),
            Some(b'r') => out.push(b'\r'),
            Some(first @ b'0'..=b'3') => {
                let mut value = first & 7;
                for _ in 0..2 {
                    if let Some(digit) = bytes.next_if(|next| matches!(next, b'0'..=b'7')) {
                        value = (value << 3) | (digit & 7);
                    }
                }
                out.push(value);
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_path_survives_quoting(path in proptest::collection::vec(1u8.., 1..40)) {
            let line = quoted(&path);
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(unquoted(&line), path);
        }
    }

    #[test]
    fn the_forms_that_git_writes_are_read() {
        assert_eq!(unquoted(b"\"a\\tb\\n\\303\\274\\\"\""), "a\tb\nü\"".as_bytes());
        assert_eq!(unquoted(b"plain name"), b"plain name");
    }
}
