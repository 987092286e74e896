//! The symbolic links of a commit: where one leads within the repository.

use std::collections::{BTreeMap, BTreeSet};

/// The most links that are followed from one link. Systems follow 40.
const MOST_STEPS: usize = 100;

/// Returns the path that a link with this target leads to; `None` if it is the root or outside the repository.
pub fn destination(link: &str, target: &str) -> Option<String> {
    let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
    if target.starts_with('/') {
        return None;
    }
    let mut parts = Vec::new();
    for part in folder.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Follows a link, and returns the paths on the way to the file or folder that it finally leads to, and that path. A path
/// outside the repository is left out. `links` are all links of the commit and their targets.
pub fn follow(links: &BTreeMap<String, String>, link: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut path = link.to_owned();
    for _ in 0..MOST_STEPS {
        let linked = split_at_folders(&path).find_map(|(at, rest)| Some((at, links.get(at)?, rest)));
        let Some((at, target, rest)) = linked else { break };
        let Some(next) = destination(at, &format!("{target}{rest}")) else { break };
        // Whoever moves a link between leads the first one elsewhere.
        if at != link {
            found.insert(at.to_owned());
        }
        if !found.insert(next.clone()) {
            break;
        }
        path = next;
    }
    found
}

/// Returns each folder of a path, and the path itself, with the rest of the path after it.
pub(crate) fn split_at_folders(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(|end| path.split_at_checked(end))
}

#[cfg(test)]
mod tests {
    use super::destination;

    #[test]
    fn a_link_leads_somewhere_within_the_repository_only() {
        let table = [
            (".github/a.yml", "b.yml", Some(".github/b.yml")),
            (".github/a.yml", "../docs/./b.yml", Some("docs/b.yml")),
            (".github/a.yml", "../../b.yml", None),
            ("a.yml", "/etc/passwd", None),
            ("a.yml", ".", None),
        ];
        for (link, target, expected) in table {
            assert_eq!(destination(link, target).as_deref(), expected, "{link} -> {target}");
        }
    }
}
