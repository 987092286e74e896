//! Hexadecimal digits.

/// Returns two lower-case digits for each byte.
pub fn encode<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}
