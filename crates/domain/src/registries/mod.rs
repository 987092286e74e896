//! A table of the public package registries of each ecosystem, with the paths at which packages are read.
//!
//! It lists only hosts from which packages are fetched, according to the pages linked in the comments. Code forges are left
//! out on purpose; the settings can name them.

mod go_modules;
mod paths;

pub use go_modules::GoModules;

use crate::network::{HostName, HostRule};
use go_modules::NotAModule;

/// A family of package managers that share registries.
#[derive(Debug, PartialEq, Eq)]
pub struct Ecosystem {
    /// The name that people use.
    pub name: &'static str,
    /// Files that show that a repository uses it, perhaps with their folder; `*` stands for any text. Blanks separate
    /// them.
    files: &'static str,
    registries: &'static [Registry],
    /// The programs that build and run its packages.
    pub programs: &'static [&'static str],
}

/// One host from which packages are read.
#[derive(Debug, PartialEq, Eq)]
pub struct Registry {
    host: &'static str,
    answers: AnsweredRequests,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnsweredRequests {
    /// Files at these paths, which blanks separate. `*` stands for one segment, a final `**` for one or more.
    Paths(&'static str),
    GoModules,
    /// The checksums of Go's modules.
    GoChecksums,
}

/// Who serves the host of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedBy {
    Registry,
    /// A mirror to which the operator pinned the host. Its paths are its own.
    Mirror,
}

/// Why a registry is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotARead {
    /// Nobody reads packages at this path.
    Path,
    /// The default branch does not name this Go module.
    UnnamedModule(String),
}

const fn paths(host: &'static str, paths: &'static str) -> Registry {
    let answers = AnsweredRequests::Paths(paths);
    Registry { host, answers }
}

/// Paths of npm's registry: a package, one version of it, its archives, and the keys of signatures. Names may have a scope.
const NPM: &str = "/* /*/* /*/*/* /*/-/* /*/*/-/* /-/npm/v1/keys /-/npm/v1/attestations/*";

/// Paths of a registry of gems: its lists, gems and their descriptions.
const RUBYGEMS: &str = "/versions /names /info/* /gems/* /quick/** /specs.4.8.gz /latest_specs.4.8.gz \
                        /prerelease_specs.4.8.gz";

pub static ECOSYSTEMS: &[Ecosystem] = &[
    // https://doc.rust-lang.org/cargo/reference/registry-index.html; `dl` of https://index.crates.io/config.json
    Ecosystem {
        name: "Cargo",
        files: "Cargo.toml",
        registries: &[
            paths("index.crates.io", "/config.json /*/* /*/*/*"),
            paths("static.crates.io", "/crates/*/* /crates/*/*/download"),
            paths("crates.io", "/api/v1/crates/*/*/download"),
        ],
        programs: &["cargo", "rustc"],
    },
    // https://docs.npmjs.com/cli/using-npm/registry, https://yarnpkg.com/configuration/yarnrc (classic lock files name
    // the second host, Corepack fetches Yarn from the third)
    Ecosystem {
        name: "npm",
        files: "package.json",
        registries: &[
            paths("registry.npmjs.org", NPM),
            paths("registry.yarnpkg.com", NPM),
            paths("repo.yarnpkg.com", "/tags /*/packages/**"),
        ],
        programs: &["node"],
    },
    // https://jsr.io/docs/api, https://docs.deno.com/runtime/fundamentals/modules/ (`npm:` and `https:` imports)
    Ecosystem {
        name: "Deno",
        files: "deno.json deno.jsonc deno.lock",
        registries: &[
            paths("jsr.io", "/@*/*/meta.json /@*/*/*_meta.json /@*/*/*/**"),
            paths("npm.jsr.io", NPM),
            paths("deno.land", "/std/** /std@*/** /x/*/**"),
            paths("registry.npmjs.org", NPM),
        ],
        programs: &["deno"],
    },
    // https://docs.pypi.org/api/
    Ecosystem {
        name: "PyPI",
        files: "pyproject.toml setup.py setup.cfg Pipfile uv.lock poetry.lock tox.ini noxfile.py pytest.ini manage.py \
                *requirements*.txt requirements/*.txt",
        registries: &[
            paths("pypi.org", "/simple/ /simple/* /simple/*/ /pypi/*/json /pypi/*/*/json"),
            paths("files.pythonhosted.org", "/packages/**"),
        ],
        programs: &["python3", "pytest"],
    },
    // https://go.dev/ref/mod#environment-variables (GOPROXY, GOSUMDB)
    Ecosystem {
        name: "Go",
        files: "go.mod",
        registries: &[
            Registry { host: "proxy.golang.org", answers: AnsweredRequests::GoModules },
            Registry { host: "sum.golang.org", answers: AnsweredRequests::GoChecksums },
        ],
        programs: &["go"],
    },
    // https://maven.apache.org/repository/, https://docs.gradle.org/current/userguide/plugins.html
    Ecosystem {
        name: "Maven",
        files: "pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
        registries: &[
            paths("repo.maven.apache.org", "/maven2/**"),
            paths("repo1.maven.org", "/maven2/**"),
            paths("plugins.gradle.org", "/m2/**"),
            paths("plugins-artifacts.gradle.org", "/*/*/*/*/*"),
            paths("services.gradle.org", "/distributions/* /versions/*"),
        ],
        programs: &["java"],
    },
    // https://guides.rubygems.org/rubygems-org-compact-index-api/
    Ecosystem {
        name: "RubyGems",
        files: "Gemfile *.gemspec",
        registries: &[paths("rubygems.org", RUBYGEMS), paths("index.rubygems.org", RUBYGEMS)],
        programs: &["ruby"],
    },
    // https://packagist.org/apidoc (the packages themselves are on code forges)
    Ecosystem {
        name: "Packagist",
        files: "composer.json",
        registries: &[
            paths("repo.packagist.org", "/packages.json /p2/*/* /p/** /providers/*"),
            paths("packagist.org", "/packages.json /p2/*/* /p/** /providers/*"),
        ],
        programs: &["php"],
    },
    // https://learn.microsoft.com/nuget/api/overview
    Ecosystem {
        name: "NuGet",
        files: "*.csproj *.fsproj *.sln packages.config",
        registries: &[paths("api.nuget.org", "/v3/** /v3-flatcontainer/** /packages/*")],
        programs: &["dotnet"],
    },
    // https://hexdocs.pm/hex/Mix.Tasks.Hex.Config.html (`api_url`, `repo_url`)
    Ecosystem {
        name: "Hex",
        files: "mix.exs rebar.config",
        registries: &[
            paths("repo.hex.pm", "/public_key /names /versions /packages/* /tarballs/* /docs/* /installs/**"),
            paths("builds.hex.pm", "/installs/**"),
            paths("hex.pm", "/installs/** /api/packages/* /api/packages/*/releases/*"),
        ],
        programs: &["elixir"],
    },
];

impl Registry {
    /// Checks if a request's target, a path that may have a query, reads packages.
    ///
    /// # Errors
    ///
    /// It does not, or it reads a Go module that is not among `modules`.
    pub fn check(&self, target: &str, served_by: ServedBy, modules: &GoModules) -> Result<(), NotARead> {
        // Go encodes the `!` that marks a capital letter.
        let decoded = || paths::decoded(target).filter(|_| paths::fits(target, "/**")).ok_or(NotARead::Path);
        let checked = match self.answers {
            AnsweredRequests::Paths(known) => {
                let known = match served_by {
                    ServedBy::Registry => known,
                    ServedBy::Mirror => "/**",
                };
                return if paths::fits(target, known) { Ok(()) } else { Err(NotARead::Path) };
            }
            AnsweredRequests::GoModules => modules.check_proxy(&decoded()?),
            AnsweredRequests::GoChecksums => modules.check_sums(&decoded()?),
        };
        checked.map_err(|why| match why {
            NotAModule::Form => NotARead::Path,
            NotAModule::Unnamed(module) => NotARead::UnnamedModule(module),
        })
    }
}

/// Returns the ecosystem that a host serves; `None` if it is no public registry.
pub fn ecosystem_of(host: &HostName) -> Option<&'static Ecosystem> {
    ECOSYSTEMS.iter().find(|ecosystem| ecosystem.registry_at(host).is_some())
}

/// Returns the registry at a host; `None` if it is no public registry.
pub fn of_host(host: &HostName) -> Option<&'static Registry> {
    ECOSYSTEMS.iter().find_map(|ecosystem| ecosystem.registry_at(host))
}

/// Returns the host of the proxy that serves Go's modules.
pub fn of_go_modules() -> Vec<HostRule> {
    let registries = ECOSYSTEMS.iter().flat_map(|ecosystem| ecosystem.registries);
    let serves = registries.filter(|registry| registry.answers == AnsweredRequests::GoModules);
    serves.filter_map(|registry| registry.host.parse().ok()).collect()
}

/// `true` if a path is that of a file that names Go modules with their checksums, and a build of the repository reads it.
pub fn names_go_modules(path: &str) -> bool {
    let is_built = |part: &str| part != "testdata" && !VENDORED.contains(&part);
    matches!(path.rsplit('/').next(), Some("go.sum" | "go.work.sum")) && path.split('/').all(is_built)
}

/// Folders with third-party code.
const VENDORED: [&str; 4] = ["node_modules", "vendor", "third_party", ".venv"];

/// `true` if packages of any ecosystem are usually read from this host.
pub fn is_registry(host: &str) -> bool {
    ECOSYSTEMS.iter().flat_map(|ecosystem| ecosystem.registries).any(|registry| registry.host == host)
}

impl Ecosystem {
    fn registry_at(&self, host: &HostName) -> Option<&'static Registry> {
        self.registries.iter().find(|registry| registry.host == host.as_str())
    }

    pub fn hosts(&self) -> Vec<HostRule> {
        self.registries.iter().filter_map(|registry| registry.host.parse().ok()).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.files.split(' ').any(|known| {
            let above = known.matches('/').count();
            let start = path.rmatch_indices('/').nth(above).map_or(0, |(at, _)| at.saturating_add(1));
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
    ECOSYSTEMS.iter().flat_map(Ecosystem::hosts).collect()
}

#[cfg(test)]
mod tests {
    use super::{ECOSYSTEMS, GoModules, NotARead, ServedBy, of_host, of_paths, public};

    #[test]
    fn every_host_of_the_table_is_a_name() {
        let written: usize = ECOSYSTEMS.iter().map(|ecosystem| ecosystem.registries.len()).sum();
        assert_eq!(public().len(), written);
    }

    #[test]
    fn ecosystems_are_known_by_their_files_wherever_they_stand() {
        let table: [(&[&str], &[&str]); 10] = [
            (&["Cargo.toml", "web/package.json"], &["Cargo", "npm"]),
            (&["pyproject.toml", "go.mod"], &["PyPI", "Go"]),
            (&["app/build.gradle.kts", "Gemfile", "x.gemspec"], &["Maven", "RubyGems"]),
            (&["src/App.csproj", "composer.json", "mix.exs"], &["Packagist", "NuGet", "Hex"]),
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

    fn check(address: &str) -> Result<(), NotARead> {
        let (host, target) = address.split_at(address.find('/').unwrap());
        let registry = of_host(&host.parse().unwrap()).unwrap();
        registry.check(
            target,
            ServedBy::Registry,
            &GoModules::of_sums(["rsc.io/quote v1.5.2 h1:x=\ngithub.com/BurntSushi/toml v1.3.2 h1:y="]),
        )
    }

    #[test]
    fn packages_are_read_from_every_registry() {
        for address in [
            "index.crates.io/config.json",
            "index.crates.io/1/a",
            "index.crates.io/3/s/syn",
            "index.crates.io/se/rd/serde",
            "static.crates.io/crates/serde/serde-1.0.228.crate",
            "static.crates.io/crates/serde/1.0.228/download",
            "crates.io/api/v1/crates/serde/1.0.228/download",
            "registry.npmjs.org/left-pad",
            "registry.npmjs.org/@types%2fnode",
            "registry.npmjs.org/@types/node",
            "registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
            "registry.npmjs.org/@types/node/-/node-20.1.0.tgz",
            "registry.npmjs.org/-/npm/v1/keys",
            "registry.yarnpkg.com/left-pad",
            "repo.yarnpkg.com/4.1.0/packages/yarnpkg-cli/bin/yarn.js",
            "npm.jsr.io/@jsr/std__path",
            "jsr.io/@std/path/meta.json",
            "jsr.io/@std/path/1.0.0_meta.json",
            "jsr.io/@std/path/1.0.0/posix/mod.ts",
            "deno.land/std@0.200.0/path/mod.ts",
            "deno.land/x/oak@v12.6.1/mod.ts",
            "pypi.org/simple/requests/",
            "pypi.org/pypi/requests/2.31.0/json",
            "files.pythonhosted.org/packages/70/8e/0e2d/requests-2.31.0-py3-none-any.whl.metadata",
            "proxy.golang.org/rsc.io/quote/@v/v1.5.2.zip",
            "proxy.golang.org/github.com/%21burnt%21sushi/toml/@v/list",
            "sum.golang.org/lookup/rsc.io/quote@v1.5.2",
            "repo.maven.apache.org/maven2/junit/junit/4.13.2/junit-4.13.2.pom.sha1",
            "plugins.gradle.org/m2/org/x/x.gradle.plugin/1.0/x.gradle.plugin-1.0.pom",
            "plugins-artifacts.gradle.org/org.x/x-plugin/1.0/0a1b2c/x-plugin-1.0.jar",
            "services.gradle.org/distributions/gradle-8.5-bin.zip",
            "rubygems.org/info/rake",
            "index.rubygems.org/versions",
            "rubygems.org/gems/rake-13.0.6.gem",
            "repo.packagist.org/p2/symfony/yaml~dev.json",
            "api.nuget.org/v3-flatcontainer/xunit/2.4.1/xunit.2.4.1.nupkg",
            "repo.hex.pm/tarballs/jason-1.4.0.tar",
            "builds.hex.pm/installs/1.15.0/hex-2.0.6.ez",
        ] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
    }

    #[test]
    fn nothing_else_is_asked_of_a_registry() {
        for address in [
            "registry.npmjs.org/-/npm/v1/security/advisories/bulk",
            "registry.npmjs.org/left-pad?write=true",
            "registry.npmjs.org/-/v1/search?text=secret",
            "registry.npmjs.org/-/whoami",
            "registry.npmjs.org/-/user/org.couchdb.user:c2VjcmV0",
            "crates.io/api/v1/crates?q=secret",
            "crates.io/api/v1/me",
            "pypi.org/legacy/",
            "pypi.org/rss/project/x/releases.xml",
            "rubygems.org/api/v1/gems",
            "packagist.org/downloads/",
            "hex.pm/api/users",
            "jsr.io/api/scopes/secret",
            "jsr.io/@std",
            "jsr.io/std/path/1.0.0/mod.ts",
            "deno.land/api/modules/secret",
            "deno.land/std@/mod.ts",
            "plugins-artifacts.gradle.org/secret",
            "proxy.golang.org/rsc.io/quote/@v/v1.5.2-c2VjcmV0.info",
            "sum.golang.org/anything",
        ] {
            assert_eq!(check(address), Err(NotARead::Path), "{address}");
        }
        let registry = of_host(&"index.crates.io".parse().unwrap()).unwrap();
        let modules = GoModules::default();
        let of_mirror = |target: &str| registry.check(target, ServedBy::Mirror, &modules);
        assert_eq!(of_mirror("/api/cargo/v1/crates/serde/1.0.228/download"), Ok(()));
        assert_eq!(of_mirror("/api/../x"), Err(NotARead::Path));
        let unnamed = NotARead::UnnamedModule("evil.example/x".to_owned());
        assert_eq!(check("proxy.golang.org/evil.example/x/@v/list"), Err(unnamed));
    }
}
