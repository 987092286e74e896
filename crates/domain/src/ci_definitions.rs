//! The files and folders that services other than GitHub Actions obey, and that make them run code: the definitions of
//! CI services, and those of services that deploy.
//!
//! Listed are services that run the code of every pushed branch or pull request and give secrets to it. So the presence
//! of a definition means that somebody else runs the code. Read the Docs is not among them: it builds pull requests
//! without variables unless they are marked as public, and no branch that nobody activated.

use crate::protected_paths::ProtectedPaths;
use std::{collections::BTreeSet, path::Path, sync::LazyLock};

/// The definitions of services that exist to run commands. No Player adds or changes one. They are patterns of names at
/// the root, as in a `.gitignore`, and of those that services read in folders. None matches a folder of source code, such as
/// `zuul-core`.
const OF_CI: &str = "
    .appveyor.y*ml .azure-pipelines .azuredevops bamboo-specs .buildkite .build.y*ml .builds .circleci .cirrus.y*ml .cirrus.star
    .codefresh .drone.y*ml .drone.star .drone.jsonnet .evergreen.y*ml .forgejo .gitea .gitlab-ci*.y*ml .harness .jenkins
    .packit.y*ml .pipelines .semaphore .taskcluster.y*ml .teamcity .tekton .travis.y*ml .vela.y*ml .woodpecker
    .woodpecker.y*ml .zuul.d .zuul.y*ml */jenkinsfile appveyor*.y*ml azure-pipelines*.y*ml bitbucket-pipelines.y*ml
    bitrise.y*ml buildspec*.y*ml cloudbuild*.y*ml cloudbuild.json codefresh.y*ml codemagic.y*ml jenkinsfile
    jenkinsfile.* packit.y*ml screwdriver.y*ml wercker.y*ml zuul.d zuul.y*ml
";

/// The files of services that deploy, and build each branch to show it. Issues ask for changes of them, for example a
/// redirect, so Players may change them. They may not add one, which could start a service that nobody approved.
const OF_DEPLOYMENT: &str = "
    .do .lagoon.y*ml **/.platform.app.y*ml .platform/*.y*ml .tugboat .upsun amplify.y*ml apphosting.y*ml heroku.y*ml
    **/netlify.toml now.json railway.json railway.toml render.y*ml **/vercel.json **/wrangler.json **/wrangler.jsonc
    **/wrangler.toml
";

static DEFINITIONS_OF_CI: LazyLock<Option<ProtectedPaths>> = LazyLock::new(|| matcher(OF_CI));
static DEPLOYMENTS: LazyLock<Option<ProtectedPaths>> = LazyLock::new(|| matcher(OF_DEPLOYMENT));

fn matcher(names: &str) -> Option<ProtectedPaths> {
    ProtectedPaths::new(&patterns(names).collect::<Vec<_>>()).ok()
}

fn patterns(names: &str) -> impl Iterator<Item = String> {
    names.split_whitespace().map(|name| format!("/{name}"))
}

/// Returns the patterns of the definitions of CI services, as in a `.gitignore`.
pub fn protected_patterns() -> impl Iterator<Item = String> {
    patterns(OF_CI)
}

/// Returns the file, or the folder at the root, that makes this path a definition; `None` if it is none.
pub fn definition(path: &str) -> Option<&str> {
    find(&DEFINITIONS_OF_CI, path).or_else(|| deployment(path))
}

/// Returns the file, or the folder at the root, that a service obeys that deploys; `None` if the path is none.
pub fn deployment(path: &str) -> Option<&str> {
    find(&DEPLOYMENTS, path)
}

fn find<'p>(known: &LazyLock<Option<ProtectedPaths>>, path: &'p str) -> Option<&'p str> {
    let known = known.as_ref()?;
    let root = path.split('/').next()?;
    [root, path].into_iter().find(|name| known.protecting(Path::new(name)).is_some())
}

/// Returns the files, and the folders at the root, that are definitions, each once.
pub fn definitions<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let all: BTreeSet<&str> = paths.filter_map(definition).collect();
    all.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{definition, deployment};

    #[test]
    fn a_definition_lies_where_its_service_reads_it() {
        for (path, expected) in [
            (".circleci/config.yml", Some(".circleci")),
            ("Jenkinsfile.release", Some("Jenkinsfile.release")),
            (".travis.yml", Some(".travis.yml")),
            ("azure-pipelines-pr.yml", Some("azure-pipelines-pr.yml")),
            (".gitlab-ci.yml", Some(".gitlab-ci.yml")),
            (".cirrus.star", Some(".cirrus.star")),
            ("ci/Jenkinsfile", Some("ci/Jenkinsfile")),
            ("netlify.toml", Some("netlify.toml")),
            (".readthedocs.yaml", None),
            (".vela.yml", Some(".vela.yml")),
            ("bamboo-specs/bamboo.yml", Some("bamboo-specs")),
            ("apps/edge/wrangler.jsonc", Some("apps/edge/wrangler.jsonc")),
            ("vercel.json", Some("vercel.json")),
            (".do/app.yaml", Some(".do")),
            ("apps/web/vercel.json", Some("apps/web/vercel.json")),
            ("apps/web/netlify.toml", Some("apps/web/netlify.toml")),
            ("api/.platform.app.yaml", Some("api/.platform.app.yaml")),
            (".platform/routes.yaml", Some(".platform/routes.yaml")),
            (".upsun/config.yaml", Some(".upsun")),
            (".platform/hooks/prebuild/a.sh", None),
            (".platform/nginx/a.yml", None),
            ("src/test/resources/Jenkinsfile", None),
            (".github/workflows/ci.yml", None),
            ("docs/.travis.yml", None),
            ("src/jenkinsfile.rs", None),
            ("circleci/config.yml", None),
            ("zuul-core/src/Filter.java", None),
            ("zuul/pom.xml", None),
            ("jenkinsfile-runner/pom.xml", None),
            ("buildspec-tools/a.yml", None),
            (".gitlab/issue_templates/bug.md", None),
        ] {
            assert_eq!(definition(path), expected, "{path}");
        }
    }

    #[test]
    fn files_of_services_that_deploy_are_not_protected() {
        for path in ["vercel.json", "apps/web/netlify.toml", "render.yaml", ".platform/routes.yaml", ".do/app.yaml"] {
            assert!(deployment(path).is_some(), "{path}");
        }
        for path in [".circleci/config.yml", "Jenkinsfile", ".gitlab-ci.yml", "src/vercel.rs"] {
            assert_eq!(deployment(path), None, "{path}");
        }
    }
}
