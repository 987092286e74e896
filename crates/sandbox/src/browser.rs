//! Opens the person's own browser, the one program that runs outside any sandbox. Other users of the machine can read
//! its arguments, so they contain no address. They name a page on the disk, which redirects to the address.

use std::{
    fs::{OpenOptions, Permissions},
    io,
    io::Write,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};
use tempfile::TempDir;

/// Programs that open a page in the person's browser, starting with the desktop's own choice.
const OPENERS: [&str; 3] = ["xdg-open", "gio open", "sensible-browser"];

/// The longest life of the page. A browser that must be started first reads it late.
const LASTS: Duration = Duration::from_secs(60);

/// A page that redirects a browser. It is deleted when this value is dropped, or after a minute.
#[derive(Debug)]
pub struct LeadingPage {
    _folder: TempDir,
}

/// Why no browser was started.
#[derive(Debug, thiserror::Error)]
pub enum NoBrowser {
    /// There is no desktop, and `BROWSER` is not set.
    #[error("there is no desktop here, and BROWSER is not set")]
    NoDesktop,
    /// None of the programs is installed.
    #[error("none of these programs is installed: {0}")]
    NoProgram(String),
    /// The page could not be written.
    #[error("the page that leads there cannot be written: {0}")]
    NoPage(#[from] io::Error),
}

/// Opens an address, which may contain a secret, in the person's browser: with `BROWSER`, or else with the desktop's
/// opener. If the started program ends with a failure, calls `failed` with its command and exit status.
///
/// # Errors
///
/// If no browser was started.
pub fn open_in_browser(
    address: &str,
    failed: impl FnOnce(&str, ExitStatus) + Send + 'static,
) -> Result<LeadingPage, NoBrowser> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let chosen = set("BROWSER");
    if chosen.is_none() && set("DISPLAY").is_none() && set("WAYLAND_DISPLAY").is_none() {
        return Err(NoBrowser::NoDesktop);
    }
    let chosen: Vec<&str> = chosen.iter().flat_map(|chosen| chosen.split(':')).collect();
    let commands = [chosen.as_slice(), &OPENERS].concat();
    // Sandboxed browsers can read the person's home, but no temporary or hidden folder.
    let home = set("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    let (folder, file) = match home.and_then(|home| page(address, home).ok()) {
        Some(made) => made,
        None => page(address, std::env::temp_dir())?,
    };
    let file = format!("file://{}", file.display());
    let started = commands.iter().find_map(|command| Some((*command, start(command, &file)?)));
    let Some((command, mut child)) = started else {
        return Err(NoBrowser::NoProgram(commands.join(", ")));
    };
    let (path, command) = (folder.path().to_owned(), command.to_owned());
    // Some openers end at once and the browser reads the page later. Others are the browser and end much later.
    std::thread::spawn(move || match child.wait() {
        Ok(ended) if !ended.success() => failed(&command, ended),
        Ok(_) | Err(_) => {}
    });
    std::thread::spawn(move || {
        std::thread::sleep(LASTS);
        let _ = std::fs::remove_dir_all(path);
    });
    Ok(LeadingPage { _folder: folder })
}

/// Writes the page into a folder of its own. Only the owner can read either.
fn page(address: &str, below: PathBuf) -> io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new()
        .prefix("autobuild-open-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(below)?;
    let path = folder.path().join("open.html");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(leading_to(address).as_bytes())?;
    Ok((folder, path))
}

fn leading_to(address: &str) -> String {
    let escapes = [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;")];
    let address = escapes.iter().fold(address.to_owned(), |text, (from, to)| text.replace(from, to));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>AutoBuild</title>\n\
         <p><a href=\"{address}\">Open AutoBuild</a></p>\n</html>\n"
    )
}

/// Starts one of the programs; `None` if that fails. The page replaces `%s`, or else is the last argument.
fn start(command: &str, page: &str) -> Option<Child> {
    let mut words: Vec<String> = command.split_whitespace().map(|word| word.replace("%s", page)).collect();
    if !command.contains("%s") {
        words.push(page.to_owned());
    }
    let (program, arguments) = words.split_first()?;
    Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_the_address_whatever_it_holds() {
        let page = leading_to("http://a/?key=1&x=\"><script>");
        assert!(page.contains("url=http://a/?key=1&amp;x=&quot;&gt;&lt;script&gt;\""), "{page}");
    }

    #[test]
    fn the_page_is_its_owners_alone_and_goes() {
        let below = tempfile::tempdir().unwrap();
        let (folder, file) = page("http://a/", below.path().to_owned()).unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
        drop(LeadingPage { _folder: folder });
        assert!(std::fs::read_dir(below.path()).unwrap().next().is_none());
    }
}
