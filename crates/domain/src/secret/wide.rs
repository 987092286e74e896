//! Texts in UTF-16 that say so in their first bytes, as some editors and shells write them.

/// The text; none where it is not written so.
pub(super) fn read(content: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match content.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let pairs = content.get(2..)?.as_chunks::<2>().0;
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    Some(String::from_utf16_lossy(&units))
}
