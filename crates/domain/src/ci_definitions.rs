//! The files and folders that define the jobs of CI services other than GitHub Actions.
//!
//! Such a service runs these jobs with its own secrets, from any branch that is pushed. So no Player adds or changes
//! one, and their presence means that somebody else runs the code.

use crate::protected_paths::ProtectedPaths;
use std::{collections::BTreeSet, path::Path, sync::LazyLock};

/// Patterns of names at the root, as in a `.gitignore`, and of those that
/// services read in folders. None matches a folder of source code, such as `zuul-core`. Some services build each branch to show it.
const NAMES: &str = "
    .appveyor.y*ml .azure-pipelines .azuredevops .buildkite .build.y*ml .builds .circleci .cirrus.y*ml .cirrus.star
    .codefresh .do .drone.y*ml .drone.star .drone.jsonnet .evergreen.y*ml .forgejo .gitea .gitlab-ci*.y*ml .harness .jenkins
    .packit.y*ml .pipelines **/.platform.app.y*ml .platform/*.y*ml .readthedocs.y*ml .semaphore .taskcluster.y*ml .teamcity .tekton .travis.y*ml .upsun .vela.y*ml .woodpecker .woodpecker.y*ml .zuul.d .zuul.y*ml
    */jenkinsfile amplify.y*ml apphosting.y*ml appveyor*.y*ml azure-pipelines*.y*ml bitbucket-pipelines.y*ml bitrise.y*ml buildspec*.y*ml cloudbuild*.y*ml
    cloudbuild.json codefresh.y*ml codemagic.y*ml heroku.y*ml jenkinsfile jenkinsfile.* **/netlify.toml
    packit.y*ml railway.json railway.toml readthedocs.y*ml render.y*ml screwdriver.y*ml **/vercel.json wercker.y*ml zuul.d
    zuul.y*ml
";

static DEFINITIONS: LazyLock<Option<ProtectedPaths>> =
    LazyLock::new(|| ProtectedPaths::new(&patterns().collect::<Vec<_>>()).ok());

/// Returns the patterns of all definitions, as in a `.gitignore`.
pub fn patterns() -> impl Iterator<Item = String> {
    NAMES.split_whitespace().map(|name| format!("/{name}"))
}

/// Returns the file, or the folder at the root, that makes this path a definition; `None` if it is none.
pub fn definition(path: &str) -> Option<&str> {
    let definitions = DEFINITIONS.as_ref()?;
    let root = path.split('/').next()?;
    [root, path].into_iter().find(|name| definitions.protecting(Path::new(name)).is_some())
}

/// Returns the files, and the folders at the root, that are definitions, each once.
pub fn definitions<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let all: BTreeSet<&str> = paths.filter_map(definition).collect();
    all.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::definition;

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
            (".readthedocs.yaml", Some(".readthedocs.yaml")),
            (".vela.yml", Some(".vela.yml")),
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
}
