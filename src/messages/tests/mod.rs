//! Tests the exact wording of all messages, and that foreign text cannot change them.

mod evidence;
mod hostile;
mod pages;
mod questions;
mod sentences;
mod world;

macro_rules! snapshot {
    ($name:literal, $text:expr) => {
        insta::with_settings!(
            {snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true},
            { insta::assert_snapshot!($name, $text) }
        )
    };
}
use snapshot;
