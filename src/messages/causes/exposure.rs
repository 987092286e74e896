//! Describes the rights that CI would give to code that an agent wrote.

use crate::messages::form::{
    measure::{Measure, bullets, sections},
    untrusted,
    untrusted::Room,
    words,
};
use domain::{
    ci::{CiPolicy, CiRelease, CiTreatment},
    exposure::{Exposure, Grant, Unjudged, WorkflowExposure},
    feature::Feature,
};

/// The most workflows and grants that are listed.
const MOST: usize = 20;

/// Returns how CI counts for a Feature, as one sentence.
pub(crate) fn treatment(feature: &Feature) -> String {
    let policy = match feature.rules.ci {
        CiPolicy::Auto => "`ci: auto`",
        CiPolicy::Wait => "`ci: wait`",
        CiPolicy::Ask => "`ci: ask`",
        CiPolicy::Ignore => "`ci: ignore`",
    };
    match (feature.ci_treatment(), &feature.ci.release) {
        (CiTreatment::Ignore, _) => format!("AutoBuild does not wait for the repository's own CI ({policy})."),
        (CiTreatment::Hold, _) => format!(
            "The repository's own CI is held: it starts on the finished work, once somebody with write access answers \
             `/autobuild ci` ({policy})."
        ),
        (CiTreatment::Wait, CiRelease::By(person)) => {
            format!("If the repository's own CI runs, it must pass: {} let it run ({policy}).", words::person(person))
        }
        (CiTreatment::Wait, CiRelease::None) => format!("If the repository's own CI runs, it must pass ({policy})."),
    }
}

/// Returns the rights that CI gives to the code beyond the right to read; empty if it gives none.
pub(crate) fn rights_of_ci(exposure: &Exposure, measure: &Measure) -> String {
    let harmful: Vec<&WorkflowExposure> = exposure.workflows.iter().filter(|one| !one.is_harmless()).collect();
    let others = match exposure.others.as_slice() {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| untrusted::code(name, 80)).collect();
            format!(
                "Other services run or judge the code too, and AutoBuild cannot see what they would give to it: {}.",
                names.join(", ")
            )
        }
    };
    let listed = bullets(&harmful, MOST, |workflow| {
        let path = untrusted::code(&workflow.path, measure.text.min(200));
        format!("{path} {}", gets(workflow))
    });
    sections(vec![listed, others])
}

/// Returns the triggers of a workflow and the rights that it gives to the code: `(on push) gives: ...`.
pub fn gets(workflow: &WorkflowExposure) -> String {
    let triggers: Vec<&str> = workflow.triggers.iter().map(|trigger| trigger.word()).collect();
    let starts = match triggers.as_slice() {
        [] => "(on events that AutoBuild cannot judge)".to_owned(),
        triggers => format!("(on {})", triggers.join(", ")),
    };
    let grants: Vec<String> = workflow.grants.iter().take(MOST).map(grant).collect();
    match grants.as_slice() {
        [] => format!("{starts} gives the code nothing but the right to read"),
        grants => format!("{starts} gives the code {}", grants.join(", ")),
    }
}

fn grant(grant: &Grant) -> String {
    let room = Room::from(120);
    match grant {
        Grant::Write { scope } => format!("a token that may write (`{}`)", untrusted::inline(scope, room)),
        Grant::DefaultPermissions => {
            "a token whose permissions the file does not limit (`permissions:` is missing)".to_owned()
        }
        Grant::Secret { name } => format!("the secret {}", untrusted::code(name, room)),
        Grant::AllSecrets => "every secret of the repository".to_owned(),
        Grant::IdentityToken => "an identity for clouds (`id-token: write`)".to_owned(),
        Grant::Environment { name } => format!("the environment {}", untrusted::code(name, room)),
        Grant::Runner { label } => format!("a machine that is not GitHub's own ({})", untrusted::code(label, room)),
        Grant::ForeignWorkflow { uses } => {
            format!("whatever {} gives, a workflow of another repository", untrusted::code(uses, room))
        }
        Grant::Unknown(why) => format!("something unknown: {}", unjudged(why)),
    }
}

fn unjudged(why: &Unjudged) -> String {
    let code = |text: &str| untrusted::code(text, 120);
    match why {
        Unjudged::NotYaml => "a file cannot be read as YAML".to_owned(),
        Unjudged::TooLarge => "a file is too large to read".to_owned(),
        Unjudged::TooMany => "there are too many files to read".to_owned(),
        Unjudged::UnknownKey { key } => format!("the key {} is not known", code(key)),
        Unjudged::NotLiteral { key } => format!("{} is missing or not written out", code(key)),
        Unjudged::Missing { path } => format!("{} is not there", code(path)),
        Unjudged::TooDeep => "files use each other in a circle, or too deep".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::exposure::Trigger;

    #[test]
    fn every_grant_is_named() {
        let name = || "x".to_owned();
        let unknown = Grant::Unknown;
        let table = [
            (Grant::Write { scope: name() }, "a token that may write (`x`)"),
            (Grant::DefaultPermissions, "`permissions:` is missing"),
            (Grant::Secret { name: name() }, "the secret `x`"),
            (Grant::AllSecrets, "every secret"),
            (Grant::IdentityToken, "an identity for clouds"),
            (Grant::Environment { name: name() }, "the environment `x`"),
            (Grant::Runner { label: name() }, "not GitHub's own (`x`)"),
            (Grant::ForeignWorkflow { uses: name() }, "whatever `x` gives"),
            (unknown(Unjudged::NotYaml), "cannot be read as YAML"),
            (unknown(Unjudged::TooLarge), "too large"),
            (unknown(Unjudged::TooMany), "too many files"),
            (unknown(Unjudged::UnknownKey { key: name() }), "the key `x` is not known"),
            (unknown(Unjudged::NotLiteral { key: name() }), "`x` is missing or not written out"),
            (unknown(Unjudged::Missing { path: name() }), "`x` is not there"),
            (unknown(Unjudged::TooDeep), "in a circle"),
        ];
        for (grant, words) in table {
            let workflow = WorkflowExposure {
                path: ".github/workflows/ci.yml".to_owned(),
                triggers: [Trigger::Push].into(),
                grants: [grant].into(),
            };
            let said = gets(&workflow);
            assert!(said.starts_with("(on push) gives the code ") && said.contains(words), "{said}");
        }
    }

    #[test]
    fn harmless_ci_needs_no_words() {
        assert_eq!(rights_of_ci(&Exposure::default(), &Measure::TERMINAL), "");
    }
}
