//! Every reader of make files does linear work. Source text is parsed within limits of size and steps.

use crate::make;
use effort::{Reader, Text, assert_linear};

#[test]
fn eight_times_the_file_is_eight_times_the_work() {
    assert_linear(&[Reader {
        name: "make file",
        read: &|text| make::rules(text).for_each(drop),
        own: &[Text("", "", "a{n}: b\n\tc\n"), Text("a:", "", " b")],
    }]);
}
