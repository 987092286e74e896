//! Opens a page for the person who watches.

use sandbox::LeadingPage;
use std::fmt::Display;

/// Opens it beside everything else; what prevents it is said, and stops nothing. What leads there goes with the value.
pub(super) fn open(address: &str) -> Option<LeadingPage> {
    let opened = sandbox::open_in_browser(address, |program, ended| say(&format!("{program} ended with {ended}")));
    opened.inspect_err(|why| say(why)).ok()
}

fn say(why: &dyn Display) {
    eprintln!("The browser was not opened ({why}): open the printed address yourself.");
}
