//! What is said, word for word, and that no text of others can say anything else.

mod evidence;
mod hostile;
mod pages;
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
