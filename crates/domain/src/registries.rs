//! A table of the public package registries of each ecosystem.
//!
//! It lists only hosts from which packages are fetched, according to the pages linked in the comments. Hosts to which
//! anybody can also send data, above all code forges, are left out on purpose; the settings can name them.

use crate::network::HostRule;

/// A family of package managers that share registries.
#[derive(Debug, PartialEq, Eq)]
pub struct Ecosystem {
    /// The name that people use.
    pub name: &'static str,
    /// Files that show that a repository uses it, perhaps with their folder; `*` stands for any text. Blanks separate
    /// them.
    files: &'static str,
    /// The hosts of its registries, separated by blanks.
    hosts: &'static str,
    /// The programs that build and run its packages.
    pub programs: &'static [&'static str],
}

/// All ecosystems.
pub static ECOSYSTEMS: &[Ecosystem] = &[
    // https://doc.rust-lang.org/cargo/reference/registry-index.html; `dl` of https://index.crates.io/config.json
    Ecosystem {
        name: "Cargo",
        files: "Cargo.toml",
        hosts: "index.crates.io static.crates.io crates.io",
        programs: &["cargo", "rustc"],
    },
    // https://docs.npmjs.com/cli/using-npm/registry, https://yarnpkg.com/configuration/yarnrc (classic lock files name
    // the second host, Corepack fetches Yarn from the third)
    Ecosystem {
        name: "npm",
        files: "package.json",
        hosts: "registry.npmjs.org registry.yarnpkg.com repo.yarnpkg.com",
        programs: &["node"],
    },
    // https://jsr.io/docs/api, https://docs.deno.com/runtime/fundamentals/modules/ (`npm:` and `https:` imports)
    Ecosystem {
        name: "Deno",
        files: "deno.json deno.jsonc deno.lock",
        hosts: "jsr.io npm.jsr.io deno.land registry.npmjs.org",
        programs: &["deno"],
    },
    // https://docs.pypi.org/api/
    Ecosystem {
        name: "PyPI",
        files: "pyproject.toml setup.py setup.cfg Pipfile uv.lock poetry.lock tox.ini noxfile.py pytest.ini manage.py \
                *requirements*.txt requirements/*.txt",
        hosts: "pypi.org files.pythonhosted.org",
        programs: &["python3", "pytest"],
    },
    // https://go.dev/ref/mod#environment-variables (GOPROXY, GOSUMDB)
    Ecosystem {
        name: "Go",
        files: "go.mod",
        hosts: "proxy.golang.org sum.golang.org",
        programs: &["go"],
    },
    // https://maven.apache.org/repository/, https://docs.gradle.org/current/userguide/plugins.html
    Ecosystem {
        name: "Maven",
        files: "pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
        hosts: "repo.maven.apache.org repo1.maven.org plugins.gradle.org plugins-artifacts.gradle.org services.gradle.org",
        programs: &["java"],
    },
    // https://guides.rubygems.org/rubygems-org-compact-index-api/
    Ecosystem {
        name: "RubyGems",
        files: "Gemfile *.gemspec",
        hosts: "rubygems.org index.rubygems.org",
        programs: &["ruby"],
    },
    // https://packagist.org/apidoc (the packages themselves are on code forges)
    Ecosystem {
        name: "Packagist",
        files: "composer.json",
        hosts: "repo.packagist.org packagist.org",
        programs: &["php"],
    },
    // https://learn.microsoft.com/nuget/api/overview
    Ecosystem {
        name: "NuGet",
        files: "*.csproj *.fsproj *.sln packages.config",
        hosts: "api.nuget.org",
        programs: &["dotnet"],
    },
    // https://hexdocs.pm/hex/Mix.Tasks.Hex.Config.html (`api_url`, `repo_url`)
    Ecosystem {
        name: "Hex",
        files: "mix.exs rebar.config",
        hosts: "repo.hex.pm builds.hex.pm hex.pm",
        programs: &["elixir"],
    },
];

/// Folders with third-party code.
const VENDORED: [&str; 4] = ["node_modules", "vendor", "third_party", ".venv"];

impl Ecosystem {
    /// Returns the hosts of its registries.
    pub fn registries(&self) -> Vec<HostRule> {
        self.hosts.split(' ').filter_map(|host| host.parse().ok()).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.files.split(' ').any(|known| {
            let above = known.matches('/').count();
            let start = path
                .rmatch_indices('/')
                .nth(above)
                .map_or(0, |(at, _)| at.saturating_add(1));
            path.get(start..).is_some_and(|end| is_like(end, known))
        })
    }
}

/// Returns the ecosystems that a repository with these paths uses, in the order of the table.
pub fn of_paths(paths: &[String]) -> Vec<&'static Ecosystem> {
    let is_own = |path: &&String| !path.split('/').any(|part| VENDORED.contains(&part));
    let own: Vec<&String> = paths.iter().filter(is_own).collect();
    let is_used = |ecosystem: &&Ecosystem| own.iter().any(|path| ecosystem.has(path));
    ECOSYSTEMS.iter().filter(is_used).collect()
}

/// `true` if a text has the form of a pattern: its parts between stars follow each other in the text.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(mut text) = text.strip_prefix(begin) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some((_, after)) = text.split_once(part) else {
            return false;
        };
        text = after;
    }
    text.ends_with(end)
}

/// Returns every public registry of the table.
pub fn public() -> Vec<HostRule> {
    ECOSYSTEMS.iter().flat_map(Ecosystem::registries).collect()
}

#[cfg(test)]
mod tests {
    use super::{ECOSYSTEMS, of_paths, public};

    #[test]
    fn every_host_of_the_table_is_a_name() {
        let written: usize = ECOSYSTEMS
            .iter()
            .map(|ecosystem| ecosystem.hosts.split(' ').count())
            .sum();
        assert_eq!(public().len(), written);
    }

    #[test]
    fn ecosystems_are_known_by_their_files_wherever_they_stand() {
        let table: [(&[&str], &[&str]); 10] = [
            (&["Cargo.toml", "web/package.json"], &["Cargo", "npm"]),
            (&["pyproject.toml", "go.mod"], &["PyPI", "Go"]),
            (
                &["app/build.gradle.kts", "Gemfile", "x.gemspec"],
                &["Maven", "RubyGems"],
            ),
            (
                &["src/App.csproj", "composer.json", "mix.exs"],
                &["Packagist", "NuGet", "Hex"],
            ),
            (&["web/deno.jsonc"], &["Deno"]),
            (&["tests/requirements-ci.txt"], &["PyPI"]),
            (&["api/requirements/test.txt"], &["PyPI"]),
            (&["node_modules/x/package.json", "vendor/a/go.mod"], &[]),
            (&["README.md", "my-package.json", "package.json/x"], &[]),
            (&[], &[]),
        ];
        for (paths, names) in table {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            let found: Vec<_> = of_paths(&paths).iter().map(|ecosystem| ecosystem.name).collect();
            assert_eq!(found, names, "{paths:?}");
        }
    }
}
