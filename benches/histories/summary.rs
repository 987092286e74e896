//! What was found, as Markdown: each commit, then each project, then each rule.

use crate::{
    project::Project,
    results::{Finding, Verdict},
};
use domain::integrity::Rule;
use std::fmt::Write;

/// The projects with the verdicts on their commits.
type Judged<'a> = [(&'a Project, Vec<Verdict>)];

/// Everything that is told of a run.
pub fn markdown(judged: &Judged<'_>) -> String {
    let mut text =
        String::from("## Commits\n\n| project | commit | verdict | ms | subject |\n| --- | --- | --- | --- | --- |\n");
    for (project, verdict) in each(judged) {
        commit(&mut text, project, verdict);
    }
    text.push_str("\n## Findings\n\n");
    for (project, verdict) in each(judged) {
        for found in &verdict.findings {
            finding(&mut text, project, verdict, found);
        }
    }
    projects(&mut text, judged);
    rules(&mut text, judged);
    text
}

fn each<'a>(judged: &'a Judged<'_>) -> impl Iterator<Item = (&'a Project, &'a Verdict)> {
    let of =
        |(project, verdicts): &'a (&Project, Vec<Verdict>)| verdicts.iter().map(move |verdict| (*project, verdict));
    judged.iter().flat_map(of)
}

fn short(verdict: &Verdict) -> &str {
    verdict.commit.get(..10).unwrap_or(&verdict.commit)
}

fn commit(text: &mut String, project: &Project, verdict: &Verdict) {
    let back: Vec<&str> = rules_of(verdict, |finding| finding.sends_back);
    let mut said = if back.is_empty() {
        "approved".to_owned()
    } else {
        format!("sent back: {}", back.join(", "))
    };
    if !verdict.left_out.is_empty() {
        let _ = write!(said, " (without {} protected paths)", verdict.left_out.len());
    }
    let (name, short, ms) = (&project.name, short(verdict), verdict.milliseconds);
    let _ = writeln!(
        text,
        "| {name} | {short} | {said} | {ms} | {} |",
        verdict.subject.replace('|', "\\|")
    );
}

fn rules_of(verdict: &Verdict, which: fn(&Finding) -> bool) -> Vec<&'static str> {
    let of_rule = |rule: &Rule| {
        verdict
            .findings
            .iter()
            .any(|finding| finding.rule == *rule && which(finding))
    };
    Rule::ALL.into_iter().filter(of_rule).map(Rule::name).collect()
}

fn finding(text: &mut String, project: &Project, verdict: &Verdict, found: &Finding) {
    let weight = if found.sends_back { "sends back" } else { "informs" };
    let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
    let (name, short, rule, path) = (&project.name, short(verdict), found.rule.name(), &found.path);
    let _ = writeln!(text, "- {name} {short} {weight}, {rule}: `{path}{line}` {}", found.what);
}

fn projects(text: &mut String, judged: &Judged<'_>) {
    text.push_str("\n## Projects\n\n| project | commits | approved |\n| --- | --- | --- |\n");
    for (project, verdicts) in judged {
        let approved = verdicts.iter().filter(|verdict| verdict.is_approved()).count();
        let _ = writeln!(text, "| {} | {} | {approved} |", project.name, verdicts.len());
    }
    let all: Vec<&Verdict> = each(judged).map(|(_, verdict)| verdict).collect();
    let approved = all.iter().filter(|verdict| verdict.is_approved()).count();
    let _ = writeln!(text, "| all | {} | {approved} |", all.len());
    let mut times: Vec<u64> = all.iter().map(|verdict| verdict.milliseconds).collect();
    times.sort_unstable();
    let (median, worst) = (times.get(times.len() / 2), times.last());
    let _ = writeln!(
        text,
        "\nReading one took {} ms (median), {} ms at worst.",
        median.unwrap_or(&0),
        worst.unwrap_or(&0)
    );
}

fn rules(text: &mut String, judged: &Judged<'_>) {
    text.push_str("\n## Rules\n\n| rule | sent back commits | informed of commits |\n| --- | --- | --- |\n");
    for rule in Rule::ALL {
        let on = |sends_back: bool| {
            let found = |finding: &Finding| finding.rule == rule && finding.sends_back == sends_back;
            each(judged)
                .filter(|(_, verdict)| verdict.findings.iter().any(found))
                .count()
        };
        let (back, shown) = (on(true), on(false));
        if (back, shown) != (0, 0) {
            let _ = writeln!(text, "| {} | {back} | {shown} |", rule.name());
        }
    }
}
