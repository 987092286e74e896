//! Knows the steps that neither fetch nor run code of others. Any other step of a workflow that starts on the base may
//! take the head, for example a script that gets the number of the pull request.

use crate::exposure::{scope::Scope, script};

/// Actions that only install tools, keep files, or call GitHub's API with what their inputs say.
const ACTIONS: &str = "
    actions/add-to-project actions/cache actions/checkout actions/create-github-app-token actions/dependency-review-action
    actions/first-interaction actions/labeler actions/setup-dotnet actions/setup-go actions/setup-java actions/setup-node
    actions/setup-python actions/stale actions/upload-artifact amannn/action-semantic-pull-request
    codelytv/pr-size-labeler contributor-assistant/github-action dependabot/fetch-metadata dessant/lock-threads
    eps1lon/actions-label-merge-conflict hmarr/auto-approve-action kentaro-m/auto-assign-action
    marocchino/sticky-pull-request-comment peter-evans/create-or-update-comment peter-evans/find-comment
    release-drafter/release-drafter thollander/actions-comment-pull-request toshimaru/auto-author-assign
";

/// Names by which a script of `actions/github-script` runs or loads something.
const RUNNING: [&str; 6] = ["exec", "require", "__original_require__", "import", "eval", "Function"];

/// Words of scripts that start another workflow, or change the values or the programs of the steps after them.
const CHANGING: [&str; 3] = ["ispatch", "exportVariable", "addPath"];

/// The last words of values of an event that hold no text of a person.
const PLAIN: [&str; 5] = ["number", "id", "node_id", "html_url", "login"];

/// `true` if a word is one of these, which have blanks between them.
pub(super) fn lists(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// `true` if a script only calls known programs, and no text of the event becomes part of it or is evaluated.
pub(super) fn is_harmless_script(script: &str, scope: &Scope) -> bool {
    without_expressions(script, scope).is_some_and(|script| script::is_harmless(&script))
}

/// `true` if an action of another repository is known to run nothing. `script` is the input of that name.
pub(super) fn is_harmless_action(uses: &str, script: Option<&str>, scope: &Scope) -> bool {
    let uses = uses.to_lowercase();
    let action = uses.split('@').next().unwrap_or_default();
    if action != "actions/github-script" {
        return lists(ACTIONS, action);
    }
    let script = script.and_then(|script| without_expressions(script, scope));
    script.is_some_and(|script| !runs_code(&script))
}

/// `true` if a script of `actions/github-script` runs or loads something, or has another step or workflow do it.
fn runs_code(script: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let uses = |word: &str| {
        let mut uses = script.match_indices(word).filter_map(|(at, _)| {
            let after = script.get(at + word.len()..)?;
            Some((script.get(..at)?, after)).filter(|(before, _)| !before.ends_with(is_of_word))
        });
        // The object `exec` is not the method of a regular expression. Both it and `require` may get another name.
        let is_named = |before: &str, after: &str| {
            matches!(word, "exec" | "require") && !after.starts_with(is_of_word) && !before.ends_with('.')
        };
        let is_called = |after: &str| word != "exec" && after.trim_start().starts_with('(');
        uses.any(|(before, after)| is_named(before, after) || is_called(after))
    };
    CHANGING.into_iter().any(|word| script.contains(word)) || RUNNING.into_iter().any(uses)
}

/// Returns the text with each expression as one word; `None` if an expression may hold a person's text.
fn without_expressions(text: &str, scope: &Scope) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, expression)) = rest.split_once("${{") {
        let (expression, after) = expression.split_once("}}")?;
        if !is_plain(&expression.to_lowercase(), scope) {
            return None;
        }
        plain.push_str(before);
        plain.push('x');
        rest = after;
    }
    plain.push_str(rest);
    Some(plain)
}

/// `true` if an expression in lower case names only values that hold no text of a person. Inputs, and what the workflow
/// does not say itself, may hold any.
fn is_plain(expression: &str, scope: &Scope) -> bool {
    let is_of_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '*');
    let mut paths = expression.split(|letter| !is_of_path(letter)).filter(|path| !path.is_empty());
    paths.all(|path| {
        scope.is_plain(path) && !expression.contains('[')
            || match path.split('.').collect::<Vec<_>>().as_slice() {
                ["github", "event", .., last] => PLAIN.contains(last) && !expression.contains('['),
                ["steps", _, "outcome" | "conclusion"] | ["needs", _, "result"] => !expression.contains('['),
                ["github"]
                | ["github", "event" | "env" | "path"]
                | ["" | "env" | "inputs" | "matrix" | "needs" | "steps", ..] => false,
                _ => true,
            }
    })
}

#[cfg(test)]
mod tests {
    use super::{Scope, is_harmless_action, is_harmless_script};

    #[test]
    fn a_script_is_harmless_if_it_only_calls_known_programs() {
        for script in [
            "gh pr edit ${{ github.event.number }} --add-label \"$LABEL\"",
            "set -e\nif [ -n \"$X\" ]; then\n  echo \"a=$(jq -r .a f)\" >> \"$GITHUB_OUTPUT\"\nfi",
            "mkdir -p out && gh pr merge --auto \"$URL\"",
            "git config user.name x && git commit -m y && git push",
            "echo ${{ steps.a.outcome }} ${{ needs.b.result }} ${{ github.actor }}",
        ] {
            assert!(is_harmless_script(script, &Scope::default()), "{script}");
        }
        for script in [
            "./ci/preview.sh ${{ github.event.number }}",
            "curl https://raw.example/$SHA | bash",
            "$RUN x",
            "gh workflow run ci.yml",
            "gh $X",
            "gh pr $X",
            "gh pr -R \"$R\" checkout \"$N\"",
            "gh  pr  checkout 7",
            "gh pr \"checkout\" 7",
            "gh pr diff 7 > a.patch",
            "git -c alias.x=y x",
            "make",
            "echo x >> $GITHUB_PATH",
            "PATH=.:$PATH gh pr list",
            "echo ${{ github.event.comment.body }}",
            "echo ${{ steps.a.outputs.title }}",
            "echo ${{ needs.a.outputs.result }}",
            "echo '${{ env.TITLE }}'",
            "echo ${{ inputs.title }}",
            "echo ${{ toJSON(steps) }}",
            "echo ${{ env.RESULT }} ${{ inputs.number }}",
            "echo ${{ steps.result['outputs'].title }}",
            "echo ${{ steps.id .outputs.title }}",
            "echo ${{ toJSON(steps.id) }}",
            "echo ${{ matrix.title }}",
            "echo ${{ github.event.*.title }}",
            "echo ${{ toJSON(github) }}",
            "echo \"${{ github['event'].issue.title }}\"",
            "echo 'x",
            "echo BASH_ENV=x >> ${{ github.env }}",
            "echo bin >> \"${{ github.path }}\"",
        ] {
            assert!(!is_harmless_script(script, &Scope::default()), "{script}");
        }
    }

    #[test]
    fn an_action_is_harmless_if_it_is_known_or_its_script_runs_nothing() {
        let is_harmless = |uses: &str, script| is_harmless_action(uses, script, &Scope::default());
        assert!(is_harmless("actions/labeler@v5", None) && is_harmless("Actions/Checkout@0123", None));
        for script in [
            "await github.rest.issues.addLabels({issue_number: ${{ github.event.issue.number }}})",
            "const important = 1; core.info('A review is required. Please import it')",
            "const found = /x/.exec(title)",
        ] {
            assert!(is_harmless("actions/github-script@v8", Some(script)), "{script}");
        }
        for script in [
            "await exec.exec('make')",
            "const run = exec['exec']",
            "const x = `${{ github.event.issue.title }}`",
            "require('./x.js')",
            "const load = require; load('./x.js')",
            "module.require('./x.js')",
            "core.exportVariable('TITLE', context.payload.pull_request.title)",
            "core.addPath('bin')",
            "const x = await import ('./x.mjs')",
            "new Function(x)()",
            "github.rest.actions.createWorkflowDispatch({})",
        ] {
            assert!(!is_harmless("actions/github-script@v8", Some(script)), "{script}");
        }
        for uses in [
            "anthropics/claude-code-action@v1",
            "actions/labeler/inner@v5",
            "docker://alpine",
            "actions/github-script@v8",
        ] {
            assert!(!is_harmless(uses, None), "{uses}");
        }
    }
}
