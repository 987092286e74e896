//! Reads lcov's tracefiles: `SF:` begins a file, `DA:` gives a line and its count.

use crate::coverage::Measured;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let mut measured = Measured::default();
    let mut file = None;
    for line in text.lines().map(str::trim) {
        if let Some(path) = line.strip_prefix("SF:") {
            measured.file(path).map_err(|error| error.to_string())?;
            file = Some(path);
        } else if line == "end_of_record" {
            file = None;
        } else if let (Some(data), Some(file)) = (line.strip_prefix("DA:"), file) {
            let mut parts = data.split(',');
            let number = parts.next().and_then(|number| number.trim().parse().ok());
            let hits = parts.next().and_then(|hits| hits.trim().parse::<i64>().ok());
            let (Some(number), Some(hits)) = (number, hits) else {
                return Err(format!("`DA:{data:.40}` is no line of lcov's format"));
            };
            let noted = measured.line(file, number, u64::try_from(hits).unwrap_or(0));
            noted.map_err(|error| error.to_string())?;
        }
    }
    if measured.files.is_empty() {
        Err("it is neither lcov's format, nor Cobertura's XML, nor cargo-llvm-cov's JSON".to_owned())
    } else {
        Ok(measured)
    }
}
