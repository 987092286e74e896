//! Starts the log of the process, with secrets masked.

use crate::config::LogFormat;
use std::{
    io,
    io::{IsTerminal, Write},
};
use text::secret::Secrets;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogOutput {
    /// Standard error, in colours if it is a terminal.
    StandardError,
    File,
}

impl LogOutput {
    fn has_colours(self) -> bool {
        self == Self::StandardError
            && io::stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
    }
}

/// Sends the log to `out`, masking the `secrets` and everything that looks like a credential.
pub(super) fn start_log(
    filter: &str,
    format: LogFormat,
    output: LogOutput,
    secrets: Secrets,
    out: impl Fn(&str) -> io::Result<()> + Clone + Send + Sync + 'static,
) {
    let filter =
        tracing_subscriber::EnvFilter::try_new(filter).unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // An event that cannot be written, as on a full disk, would be reported to standard error, which panics.
        .log_internal_errors(false)
        .with_ansi(output.has_colours())
        .with_writer(move || MaskedWriter(secrets.clone(), out.clone()));
    let _ = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    log_panics();
}

/// Sends panics to the masked log instead of the unmasked standard error.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let (place, said) = place_and_cause(panic);
        tracing::error!(%place, "a panic at {place}: {said}");
    }));
}

/// Returns the place of a panic and its message, which is not masked.
pub(super) fn place_and_cause<'a>(panic: &'a std::panic::PanicHookInfo<'_>) -> (String, &'a str) {
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    (place, panic.payload_as_str().unwrap_or("it did not say why"))
}

/// A writer that masks the log. The log writes one whole event at a time.
struct MaskedWriter<O>(Secrets, O);

impl<O: Fn(&str) -> io::Result<()>> Write for MaskedWriter<O> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        (self.1)(&self.0.mask(&String::from_utf8_lossy(event)))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::MaskedWriter;
    use secrecy::SecretString;
    use std::{io::Write, sync::Mutex};
    use text::secret::Secrets;

    #[test]
    fn the_log_holds_no_secret() {
        let secrets = Secrets::new(&[SecretString::from("hush-hush-Value")]);
        let log = Mutex::new(String::new());
        let event = format!("WARN said=\"hush-hush-Value\" token=ghs_{}\n", "a1B2".repeat(9));
        let out = |part: &str| {
            log.lock().unwrap().push_str(part);
            Ok(())
        };
        MaskedWriter(secrets, out).write_all(event.as_bytes()).unwrap();
        assert_eq!(*log.lock().unwrap(), "WARN said=\"[masked]\" token=[masked]\n");
    }
}
