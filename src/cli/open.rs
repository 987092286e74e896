//! Opens a page in the person's browser.

use sandbox::LeadingPage;
use std::fmt::Display;

/// Opens the address without waiting. A failure is only printed. Dropping the value deletes the page that redirects the
/// browser to the address.
pub(super) fn open(address: &str) -> Option<LeadingPage> {
    let opened =
        sandbox::open_in_browser(address, |program, ended| report_unopened(&format!("{program} ended with {ended}")));
    opened.inspect_err(|why| report_unopened(why)).ok()
}

fn report_unopened(why: &dyn Display) {
    eprintln!("The browser was not opened ({why}): open the printed address yourself.");
}
