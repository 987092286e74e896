//! The modules that Go's proxy may be asked for.
//!
//! The proxy fetches a module from the host with which the module's name begins. So a program that may choose the name
//! would reach any host that it chooses.

use std::collections::BTreeSet;

/// Go's own tool chain, which `go.mod` asks for by version. Its host is Go's.
const TOOLCHAIN: &str = "golang.org/toolchain";
/// The longest version, in bytes.
const MAX_VERSION: usize = 80;
/// The checksum database as Go's proxy serves it.
const THROUGH_PROXY: &str = "/sumdb/sum.golang.org";

/// The modules that set-up may ask Go's proxy for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoModules {
    /// All, as the repository's settings want it.
    Any,
    /// Those that the default branch names, and Go's own tool chain.
    Named(BTreeSet<String>),
}

impl Default for GoModules {
    /// Names none.
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

/// Why Go's proxy is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotAModule {
    /// It is not a request for a module.
    Form,
    /// The default branch does not name this module.
    Unnamed(String),
}

impl GoModules {
    /// Reads the modules that the texts of files such as `go.sum` name.
    pub fn of_sums<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let lines = texts.into_iter().flat_map(str::lines);
        let names = lines.filter_map(|line| line.split_whitespace().next());
        Self::Named(names.map(str::to_owned).collect())
    }

    /// Checks a request to the module proxy (<https://go.dev/ref/mod#goproxy-protocol>).
    pub(super) fn check_proxy(&self, path: &str) -> Result<(), NotAModule> {
        if let Some(path) = path.strip_prefix(THROUGH_PROXY) {
            return self.check_sums(path);
        }
        let (module, file) = path.trim_start_matches('/').split_once("/@").ok_or(NotAModule::Form)?;
        let is_file = match file.strip_prefix("v/") {
            None => file == "latest",
            Some("list") => true,
            Some(file) => file
                .rsplit_once('.')
                .is_some_and(|(version, kind)| matches!(kind, "info" | "mod" | "zip") && is_version(version)),
        };
        if is_file { self.check(module) } else { Err(NotAModule::Form) }
    }

    /// Checks a request to the checksum database (<https://go.dev/ref/mod#checksum-database>).
    pub(super) fn check_sums(&self, path: &str) -> Result<(), NotAModule> {
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || b"x/.p".contains(&byte));
        match path.strip_prefix("/lookup/") {
            Some(asked) => match asked.rsplit_once('@') {
                Some((module, version)) if is_version(version) => self.check(module),
                Some(_) | None => Err(NotAModule::Form),
            },
            None if matches!(path, "/supported" | "/latest") => Ok(()),
            None => match path.strip_prefix("/tile/") {
                Some(tile) if is_number(&tile.replacen("data/", "", 1)) => Ok(()),
                Some(_) | None => Err(NotAModule::Form),
            },
        }
    }

    fn check(&self, escaped: &str) -> Result<(), NotAModule> {
        let module = unescaped(escaped).ok_or(NotAModule::Form)?;
        let is_named = match self {
            Self::Any => true,
            Self::Named(names) => module == TOOLCHAIN || names.contains(&module),
        };
        if is_named { Ok(()) } else { Err(NotAModule::Unnamed(module)) }
    }
}

/// Returns a module's name from a path, in which `!a` means `A`.
fn unescaped(escaped: &str) -> Option<String> {
    let mut module = String::new();
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        module.push(match character {
            '!' => characters.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase(),
            upper if upper.is_ascii_uppercase() => return None,
            other => other,
        });
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    (module.bytes().all(is_plain) && module.split('/').all(is_part)).then_some(module)
}

/// `true` if a text may be a version (<https://go.dev/ref/mod#versions>), which addresses write in lower case.
/// The name of a branch rarely looks like one. What it could carry is bounded with all that a run sends to registries.
fn is_version(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.+!".contains(&byte);
    let number = text.strip_prefix('v').unwrap_or_default();
    text.len() <= MAX_VERSION
        && number.starts_with(|first: char| first.is_ascii_digit())
        && number.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{GoModules, NotAModule};

    const SUMS: &str = "github.com/BurntSushi/toml v1.3.2 h1:a=\ngithub.com/BurntSushi/toml v1.3.2/go.mod h1:b=\n";

    #[test]
    fn named_modules_are_read_in_every_version() {
        let modules = GoModules::of_sums([SUMS, "rsc.io/quote v1.5.2 h1:c=\n"]);
        for path in [
            "/github.com/!burnt!sushi/toml/@v/list",
            "/github.com/!burnt!sushi/toml/@v/v1.3.2.info",
            "/github.com/!burnt!sushi/toml/@v/v1.4.0.mod",
            "/rsc.io/quote/@v/v0.0.0-20180214005840-23179ee8a569.zip",
            "/rsc.io/quote/@v/v1.5.3-0.20180214005840-23179ee8a569.mod",
            "/rsc.io/quote/@v/v1.5.3-rc.1.0.20180214005840-23179ee8a569.mod",
            "/rsc.io/quote/@v/v2.0.0-!r!c1+incompatible.info",
            "/rsc.io/quote/@latest",
            "/golang.org/toolchain/@v/v0.0.1-go1.22.0.linux-amd64.zip",
            "/golang.org/toolchain/@v/v0.0.1-go1.22.10.freebsd-riscv64.zip",
            "/sumdb/sum.golang.org/supported",
            "/sumdb/sum.golang.org/lookup/rsc.io/quote@v1.5.2",
            "/sumdb/sum.golang.org/tile/8/0/x001/234.p/5",
            "/sumdb/sum.golang.org/tile/8/data/x001/234",
        ] {
            assert_eq!(modules.check_proxy(path), Ok(()), "{path}");
        }
        assert_eq!(modules.check_sums("/lookup/rsc.io/quote@v1.5.2+incompatible"), Ok(()));
        assert_eq!(modules.check_sums("/latest"), Ok(()));
    }

    #[test]
    fn a_module_that_is_not_named_is_not_asked_for() {
        let modules = GoModules::of_sums([SUMS]);
        for (path, module) in [
            ("/evil.example/c2VjcmV0/@v/list", "evil.example/c2VjcmV0"),
            ("/github.com/!burnt!sushi/toml/v2/@v/list", "github.com/BurntSushi/toml/v2"),
            ("/github.com/@latest", "github.com"),
            ("/sumdb/sum.golang.org/lookup/evil.example/x@v1.0.0", "evil.example/x"),
        ] {
            let path = path.replace("c2VjcmV0", "secret");
            let module = module.replace("c2VjcmV0", "secret");
            assert_eq!(modules.check_proxy(&path), Err(NotAModule::Unnamed(module)), "{path}");
            assert_eq!(GoModules::Any.check_proxy(&path), Ok(()), "{path}");
        }
    }

    #[test]
    fn what_is_no_request_for_a_version_passes_for_no_module() {
        for path in [
            "/rsc.io/quote/@v/secret-branch.info",
            "/rsc.io/quote/@v/v1.5.2.exe",
            "/rsc.io/quote/@v/v1.5.2",
            "/rsc.io/quote/@v/v1.5.2/secret.info",
            "/rsc.io/quote/@v/v1.5.2-Secret.info",
            "/rsc.io/quote/@v/version.info",
            "/rsc.io/quote/@head",
            "/rsc.io/quote",
            "/rsc.io/Quote/@v/list",
            "/rsc.io/!!quote/@v/list",
            "/rsc.io/../x/@v/list",
            "/@v/list",
            "/sumdb/evil.example/latest",
            "/sumdb/sum.golang.org/lookup/rsc.io/quote@master",
            "/sumdb/sum.golang.org/tile/secret",
            "/sumdb/sum.golang.org/x",
        ] {
            assert_eq!(GoModules::Any.check_proxy(path), Err(NotAModule::Form), "{path}");
        }
        let long = format!("/rsc.io/quote/@v/v1.{}.info", "0".repeat(80));
        assert_eq!(GoModules::Any.check_proxy(&long), Err(NotAModule::Form));
    }
}
