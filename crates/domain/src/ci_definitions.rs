//! The files and folders that tell CI services other than GitHub Actions what to run.
//!
//! Such a service runs what they say with its own secrets, from any branch that is pushed. So no Player adds or changes
//! one, and their presence means that somebody else runs the code.

/// The names at the root, in lower case. One that ends with `*` is the beginning of a name.
const NAMES: &str = "
    .appveyor* .azure-pipelines .azuredevops .buildkite .build.y* .builds .circleci .cirrus* .codefresh .drone*
    .evergreen* .forgejo .gitea .gitlab .gitlab-ci* .harness .jenkins .pipelines .prow* .semaphore .taskcluster*
    .teamcity .tekton .travis* .woodpecker* .zuul* appveyor* azure-pipelines* bitbucket-pipelines* bitrise.y* buildspec*
    cloudbuild* codefresh.y* codemagic.y* jenkinsfile* wercker.y* zuul*
";

/// Returns the patterns of all definitions, as in a `.gitignore`.
pub fn patterns() -> impl Iterator<Item = String> {
    NAMES.split_whitespace().map(|name| format!("/{name}"))
}

/// Returns the file or folder at the root that makes this path a definition; `None` if it is none.
pub fn definition(path: &str) -> Option<&str> {
    let name = path.split('/').next()?;
    let lower = name.to_lowercase();
    let is_named = |known: &str| match known.strip_suffix('*') {
        Some(start) => lower.starts_with(start),
        None => lower == known,
    };
    NAMES.split_whitespace().any(is_named).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{definition, patterns};
    use crate::protected_paths::ProtectedPaths;
    use std::path::Path;

    #[test]
    fn a_definition_is_one_whether_its_name_or_its_pattern_says_so() {
        let protected = ProtectedPaths::new(&patterns().collect::<Vec<_>>()).unwrap();
        for (path, expected) in [
            (".circleci/config.yml", Some(".circleci")),
            ("Jenkinsfile.release", Some("Jenkinsfile.release")),
            (".travis.yml", Some(".travis.yml")),
            ("azure-pipelines-pr.yml", Some("azure-pipelines-pr.yml")),
            (".gitlab-ci.yml", Some(".gitlab-ci.yml")),
            (".cirrus.star", Some(".cirrus.star")),
            (".github/workflows/ci.yml", None),
            ("docs/.travis.yml", None),
            ("src/jenkinsfile.rs", None),
            ("circleci/config.yml", None),
        ] {
            assert_eq!(definition(path), expected, "{path}");
            assert_eq!(
                protected.protecting(Path::new(path)).is_some(),
                expected.is_some(),
                "{path}"
            );
        }
    }
}
