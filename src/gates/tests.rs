//! Every reader of foreign programs' output and files does linear work.

use super::{output, setup_reads};
use effort::{Reader, Text, assert_linear};
use std::path::Path;
use text::secret::Secrets;

/// Output for terminals.
const SHOWN: [Text; 4] = [Text("", "", "\r"), Text("", "x", "y\r"), Text("", "", "\u{1b}]"), Text("", "", "\u{1b}[")];

/// Configuration files.
const CONFIGURATION: [Text; 1] = [Text("{\"scripts\":{", "", "\"a{n}\":\"b\",")];

#[test]
fn eight_times_the_output_is_eight_times_the_work() {
    let secrets = Secrets::default();
    let reader = |name, read, own| Reader { name, read, own };
    assert_linear(&[
        reader("plain", &|text| drop(output::plain(text, Path::new("/autobuild/work"))), &SHOWN),
        reader("shown", &|text| drop(output::join_streams(text, text, &secrets)), &SHOWN),
        reader("hooks", &|text| drop(setup_reads::hooks_of(text)), &CONFIGURATION),
    ]);
}
