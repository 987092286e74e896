//! The results as Markdown: each commit, then each project, then each rule.

use crate::{
    project::Project,
    results::{End, Finding, Played, Verdict},
};
use domain::integrity::Rule;
use std::{collections::BTreeMap, fmt::Write};

/// The projects with the verdicts on their commits.
type Judged<'a> = [(&'a Project, Vec<Verdict>)];

/// Returns the whole summary.
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
    played(&mut text, judged);
    text
}

/// The least time of a plain run, in seconds; shorter runs count as this long.
const SHORTEST_PLAIN: f64 = 5.0;

fn cost(played: &Played) -> f64 {
    played.gates / played.plain.max(SHORTEST_PLAIN)
}

/// Writes the results of running commits, with their processor time.
fn played(text: &mut String, judged: &Judged<'_>) {
    let all = each(judged).filter_map(|(project, verdict)| Some((project, verdict, verdict.played.as_ref()?)));
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    text.push_str(
        "\n## Processor time\n\n| project | commit | end | plain s | pre-flight s | Gates s | Gates / plain |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (project, verdict, played) in &all {
        let (name, short, end) = (&project.name, short(verdict), played.end);
        let _ = writeln!(
            text,
            "| {name} | {short} | {end:?} | {:.1} | {:.1} | {:.1} | {:.2} |",
            played.plain,
            played.preflight,
            played.gates,
            cost(played)
        );
    }
    let ran = all.iter().filter(|(_, _, played)| played.end != End::NotPlayed);
    let mut costs: Vec<f64> = ran.map(|(_, _, played)| cost(played)).collect();
    costs.sort_unstable_by(f64::total_cmp);
    let share = |of_ten: usize| costs.get((costs.len() * of_ten / 10).min(costs.len().saturating_sub(1)));
    if let (Some(median), Some(most)) = (share(5), share(9)) {
        let _ = writeln!(text, "\nGates over one plain run: median {median:.2}, 9 of 10 below {most:.2}.");
    }
    questions(text, &all);
    text.push_str("\n## Reasons\n\n");
    for (project, verdict, played) in &all {
        for reason in &played.reasons {
            let reason = reason.lines().next().unwrap_or_default();
            let _ = writeln!(text, "- {} {} {:?}: {reason}", project.name, short(verdict), played.end);
        }
    }
}

/// Writes how many commits are sent back, and for how many questions are asked, by task type.
fn questions(text: &mut String, all: &[(&Project, &Verdict, &Played)]) {
    text.push_str("\n## Questions\n\n| type | commits | sent back | asked | questions each | not fine for a fair Coach |\n| --- | --- | --- | --- | --- | --- |\n");
    let mut kinds: BTreeMap<String, Vec<&Played>> = BTreeMap::new();
    for (_, verdict, played) in all {
        let kind = verdict.kind.map_or("any".to_owned(), |kind| kind.to_string());
        kinds.entry(kind).or_default().push(played);
        kinds.entry("all".to_owned()).or_default().push(played);
    }
    for (kind, played) in kinds {
        let back = played.iter().filter(|played| played.end == End::SentBack).count();
        let asked: Vec<&&Played> = played.iter().filter(|played| !played.questions.is_empty()).collect();
        let number: usize = asked.iter().map(|played| played.questions.len()).sum();
        let of = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let each = of(number) / of(asked.len().max(1));
        let not_fine = asked.iter().filter(|played| played.not_fine > 0).count();
        let _ = writeln!(text, "| {kind} | {} | {back} | {} | {each:.1} | {not_fine} |", played.len(), asked.len());
    }
    text.push('\n');
    for (project, verdict, played) in all {
        for question in &played.questions {
            let _ = writeln!(text, "- {} {} asked: {question}", project.name, short(verdict));
        }
    }
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
    let mut said = match verdict.played.as_ref().map(|played| played.end) {
        Some(End::Absent) => "evidence absent".to_owned(),
        Some(End::NotPlayed) => "not played".to_owned(),
        Some(End::Approved | End::SentBack) | None if verdict.is_approved() => "approved".to_owned(),
        Some(End::Approved | End::SentBack) | None => format!("sent back: {}", back.join(", ")),
    };
    if !verdict.left_out.is_empty() {
        let _ = write!(said, " (without {} protected paths)", verdict.left_out.len());
    }
    let (name, short, ms) = (&project.name, short(verdict), verdict.milliseconds);
    let _ = writeln!(text, "| {name} | {short} | {said} | {ms} | {} |", verdict.subject.replace('|', "\\|"));
}

fn rules_of(verdict: &Verdict, which: fn(&Finding) -> bool) -> Vec<&'static str> {
    let of_rule = |rule: &Rule| verdict.findings.iter().any(|finding| finding.rule == *rule && which(finding));
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
    let _ =
        writeln!(text, "\nReading one took {} ms (median), {} ms at worst.", median.unwrap_or(&0), worst.unwrap_or(&0));
}

fn rules(text: &mut String, judged: &Judged<'_>) {
    text.push_str("\n## Rules\n\n| rule | sent back commits | informed of commits |\n| --- | --- | --- |\n");
    for rule in Rule::ALL {
        let on = |sends_back: bool| {
            let found = |finding: &Finding| finding.rule == rule && finding.sends_back == sends_back;
            each(judged).filter(|(_, verdict)| verdict.findings.iter().any(found)).count()
        };
        let (back, shown) = (on(true), on(false));
        if (back, shown) != (0, 0) {
            let _ = writeln!(text, "| {} | {back} | {shown} |", rule.name());
        }
    }
}
