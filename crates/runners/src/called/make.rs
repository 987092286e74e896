//! Reads the rules and variables of make files, and the recipes of just.

use std::collections::{BTreeMap, BTreeSet};

/// The deepest nesting of variables that is resolved.
const DEEPEST: usize = 4;

pub(super) struct MakeFile<'t> {
    rules: Vec<(Vec<&'t str>, Rule)>,
    variables: BTreeMap<&'t str, String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// The rule as it is written, without comments.
    pub(super) text: String,
    /// The targets that it needs.
    pub(super) needs: Vec<String>,
    pub(super) recipe: String,
}

impl<'t> MakeFile<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let mut file = Self { rules: Vec::new(), variables: BTreeMap::new() };
        let mut is_in_rule = false;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if line.starts_with(['\t', ' ']) {
                let rule = file.rules.last_mut().filter(|_| is_in_rule);
                rule.into_iter().for_each(|(_, rule)| rule.push(line));
                continue;
            }
            if line.starts_with('#') {
                continue;
            }
            is_in_rule = false;
            if let Some((name, value)) = assignment(line) {
                let known = file.variables.entry(name).or_default();
                known.push(' ');
                known.push_str(value);
            } else if let Some((targets, rest)) = line.split_once(':') {
                let (needs, first) = rest.split_once(';').unwrap_or((rest, ""));
                let needs = needs.split_whitespace().map(|need| need.trim_matches([':', '|']).to_owned());
                let rule = Rule { text: line.to_owned(), needs: needs.collect(), recipe: first.to_owned() };
                file.rules.push((targets.split_whitespace().collect(), rule));
                is_in_rule = true;
            }
        }
        file
    }

    /// Returns the target that is made if none is named.
    pub(super) fn first(&self) -> Option<String> {
        let mut targets = self.rules.iter().flat_map(|(targets, _)| targets);
        targets.find(|target| !target.starts_with('.')).map(|target| (*target).to_owned())
    }

    /// Returns all rules for a target as one.
    pub(super) fn rule(&self, target: &str) -> Option<Rule> {
        let own =
            self.rules.iter().filter(|(targets, _)| targets.first() == Some(&target) || targets.contains(&target));
        own.map(|(_, rule)| rule.clone()).reduce(|mut all, rule| {
            all.text.push('\n');
            all.text.push_str(&rule.text);
            all.needs.extend(rule.needs);
            all.recipe.push('\n');
            all.recipe.push_str(&rule.recipe);
            all
        })
    }

    /// Returns a recipe with the values of variables in place of their names, and these variables.
    pub(super) fn expanded(&self, recipe: &str) -> (String, BTreeMap<&str, String>) {
        let mut text = recipe.replace("$$", "\0");
        let mut used = BTreeMap::new();
        for _ in 0..DEEPEST {
            let names: BTreeSet<String> = references(&text).collect();
            for name in names {
                let known = self.variables.get_key_value(name.as_str());
                used.extend(known.map(|(name, value)| (*name, value.clone())));
                let value = known.map_or(if name == "MAKE" { "make" } else { "" }, |(_, value)| value.trim());
                let forms = [format!("$({name})"), format!("${{{name}}}"), format!("{{{{{name}}}}}")];
                text = forms.iter().fold(text, |text, form| text.replace(form, value));
            }
        }
        (text.replace('\0', "$"), used)
    }
}

impl Rule {
    fn push(&mut self, line: &str) {
        self.text.push('\n');
        self.text.push_str(line);
        self.recipe.push('\n');
        // Make and just read these marks before the shell does.
        self.recipe.push_str(line.trim_start().trim_start_matches(['@', '-', '+']));
    }
}

/// Reads `NAME = value`, with any of the signs of make and just.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    is_name.then(|| (name, value.trim()))
}

/// Returns the names in `$(NAME)`, `${NAME}` and `{{NAME}}`.
fn references(text: &str) -> impl Iterator<Item = String> {
    [("$(", ')'), ("${", '}'), ("{{", '}')].into_iter().flat_map(move |(start, end)| {
        let parts = text.split(start).skip(1).filter_map(move |part| part.split_once(end));
        let names = parts.map(|(name, _)| name.trim());
        names.filter(|name| !name.is_empty() && !name.contains([' ', '$', '('])).map(str::to_owned).collect::<Vec<_>>()
    })
}
