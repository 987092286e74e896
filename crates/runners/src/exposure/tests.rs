use super::*;
use domain::exposure::{Grant, Trigger, Unjudged, UnknownStep};

const CI: &str = ".github/workflows/ci.yml";

fn run_branches(has_hosted_runners: bool) -> RunBranches {
    RunBranches::of_run("autobuild/7", "main", has_hosted_runners)
}

fn judged(files: &[(&str, &str)]) -> Vec<WorkflowExposure> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
    workflows(&files.collect(), &run_branches(true))
}

/// The grants of a workflow that a push starts, with this rest.
fn grants(rest: &str) -> Vec<Grant> {
    let found = judged(&[(CI, &format!("on: push\n{rest}"))]);
    found.into_iter().flat_map(|workflow| workflow.grants).collect()
}

fn triggers(text: &str) -> Vec<Trigger> {
    let found = judged(&[(CI, text)]);
    found.into_iter().flat_map(|workflow| workflow.triggers).collect()
}

fn secret(name: &str) -> Grant {
    Grant::Secret { name: name.to_owned() }
}

fn runner(label: &str) -> Grant {
    Grant::Runner { label: label.to_owned() }
}

fn not_literal(key: &str) -> Grant {
    Grant::Unknown(Unjudged::NotLiteral { key: key.to_owned() })
}

const HARMLESS: &str = "permissions: {}\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n";

#[test]
fn a_workflow_runs_the_head_if_its_events_and_filters_include_our_branches() {
    use Trigger::{Create, MergeGroup, PullRequest, Push, WorkflowRun};
    let table: [(&str, &[Trigger]); 23] = [
        ("on: push", &[Push]),
        ("on: [push, pull_request, release]", &[Push, PullRequest]),
        ("on: {push: {branches: [main]}}", &[]),
        ("on: {push: {branches: ['**']}}", &[Push]),
        ("on: {push: {branches: '**'}}", &[Push]),
        ("on: {push: {branches: ['*']}}", &[]),
        ("on: {push: {branches: ['*/*/*']}}", &[Push]),
        ("on: {push: {branches: ['**', '!autobuild/**']}}", &[]),
        ("on: {push: {branches: ['**', '!autobuild/*/task-*']}}", &[Push]),
        ("on: {push: {branches: ['releases/v[0-9]+']}}", &[]),
        ("on: {push: {branches: ['auto?build/**']}}", &[Push]),
        ("on: {push: {branches-ignore: ['autobuild/**']}}", &[]),
        ("on: {push: {branches-ignore: [main, 'dependabot/**']}}", &[Push]),
        ("on: {push: {tags: ['v*']}}", &[]),
        ("on: {push: {paths: ['docs/**']}}", &[Push]),
        ("on: {pull_request: {branches: [main]}}", &[PullRequest]),
        ("on: {pull_request: {branches: ['release/*']}}", &[]),
        ("on: {pull_request: {branches: ['**/main']}}", &[PullRequest]),
        ("on: {pull_request: }", &[PullRequest]),
        ("on: [create, merge_group]", &[Create, MergeGroup]),
        ("on: [workflow_dispatch, schedule, release]", &[]),
        ("on: {workflow_run: {workflows: [CI], branches: [main]}}", &[]),
        ("on: pull_request_target", &[]),
    ];
    for (on, expected) in table {
        assert_eq!(triggers(&format!("{on}\n{HARMLESS}")), expected, "{on}");
    }
    for on in [
        "on: {push: {branches: ['**deploy**', '**/*-preview']}}",
        "on: {push: {branches: ['autobuild/*/task-002-*']}}",
        "on: {push: {branches: ['**', '!**deploy**']}}",
    ] {
        assert_eq!(triggers(&format!("{on}\n{HARMLESS}")), [Push], "the planner words the rest: {on}");
    }
    for on in
        ["on: {push: {branches: ['deploy/**', '**/deploy/*']}}", "on: {push: {branches-ignore: ['autobuild/**']}}"]
    {
        assert_eq!(triggers(&format!("{on}\n{HARMLESS}")), [], "{on}");
    }
    let run = "on: {workflow_run: {workflows: [CI]}}\npermissions: {}\njobs: {a: {runs-on: ubuntu-latest, steps: [{uses: \
               actions/download-artifact@v4}]}}\n";
    assert_eq!(triggers(run), [WorkflowRun]);
}

#[test]
fn an_event_that_is_not_known_may_run_the_head_and_is_not_held() {
    for on in ["deployment_status", "[push, deployment]", "{release: , tomorrows_event: }"] {
        let [found] = &judged(&[(CI, &format!("on: {on}\n{HARMLESS}"))])[..] else {
            panic!("{on}");
        };
        assert!(found.is_harmless() && !found.is_held_by_instruction(), "{on}");
    }
}

#[test]
fn a_label_of_github_is_somebody_elses_machine_where_github_has_none() {
    let files = [(CI.to_owned(), Some(format!("on: push\n{HARMLESS}")))].into();
    let found = workflows(&files, &run_branches(false));
    let grants: Vec<Grant> = found.into_iter().flat_map(|workflow| workflow.grants).collect();
    assert_eq!(grants, [runner("ubuntu-latest")]);
}

#[test]
fn a_workflow_of_the_base_runs_the_head_if_a_step_fetches_it() {
    let target = |step: &str| {
        let text = format!(
            "on: pull_request_target\npermissions: {{}}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    if: github.head_ref != ''\n    steps:\n      - {step}\n"
        );
        !triggers(&text).is_empty()
    };
    let fetching = [
        "uses: actions/checkout@v5\n        with: {ref: '${{ github.event.pull_request.head.sha }}'}",
        "uses: actions/checkout@v5\n        with: {ref: '${{ steps.find.outputs.sha }}'}",
        "uses: actions/checkout@v5\n        with: {ref: 'refs/pull/${{ github.event.number }}/merge'}",
        "run: git fetch origin x",
        "run: git -C src --no-pager fetch origin x",
        "run: /usr/bin/git pull",
        "run: if ! git pull; then exit; fi",
        "run: (cd site && git pull)",
        "run: bash -c \"git fetch origin\"",
        "run: x=$(git fetch origin)",
        "run: node -e 'execSync(`git checkout ${b}`)'",
        "run: |\n          git \\\n            fetch origin",
        "run: curl -L https://github.com/o/r/archive/$SHA.tar.gz | tar xz",
        "run: gh api repos/o/r/tarball/$SHA",
        "run: gh repo clone o/r",
        "run: wget https://github.com/o/r/pull/7.patch",
        "run: make\n        env: {REF: \"${{ github.event.pull_request['head'].sha }}\"}",
        "run: make\n        env: {ALL: '${{ toJSON(github.event.pull_request) }}'}",
        "run: make\n        env: {REF: '${{ github.head_ref }}'}",
        "uses: dawidd6/action-download-artifact@v6",
        "uses: ./.github/actions/there-is-none",
    ];
    for step in fetching {
        assert!(target(step), "{step}");
    }
    for step in [
        "uses: actions/labeler@v5",
        "uses: actions/checkout@v5",
        "uses: actions/checkout@v5\n        with: {ref: main}",
        "run: echo thanks\n        if: github.event.pull_request.head.sha",
        "run: gh pr merge --auto $URL\n        env: {URL: '${{ github.event.pull_request.html_url }}'}",
        "run: git config user.name x && gh pr edit 7 && npm run merge",
        "run: echo ${{ steps.a.outputs.patch }}",
    ] {
        assert!(!target(step), "{step}");
    }
}

/// A job that may write, with a secret and this step.
fn privileged(on: &str, step: &str) -> String {
    format!(
        "on: {on}\npermissions: {{contents: write}}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    env: {{K: '${{{{ secrets.K }}}}'}}\n    steps:\n      - {step}\n"
    )
}

#[test]
fn a_workflow_with_rights_is_exposed_unless_all_its_steps_are_known() {
    let table = [
        ("pull_request_target", "run: ./ci/preview.sh ${{ github.event.number }}"),
        ("pull_request_target", "uses: ./act"),
        ("issue_comment", "uses: anthropics/claude-code-action@v1"),
        (
            "status",
            "run: curl https://raw.githubusercontent.com/o/r/$SHA/x | bash\n        env: {SHA: '${{ github.event.sha }}'}",
        ),
        ("workflow_run", "run: echo hello\n        shell: python"),
        ("pull_request_target", "run: echo '${{ env.T }}'\n        env: {T: '${{ github.event.pull_request.title }}'}"),
    ];
    for (on, step) in table {
        let files = [(CI, privileged(on, step)), ("act/action.yml", "runs: {using: node24, main: x.js}".to_owned())];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        let [found] = &judged(&files)[..] else { panic!("{on}: {step}") };
        assert_eq!(found.triggers, [on.parse().unwrap()].into());
        assert!(!found.is_harmless() && !found.is_held_by_instruction(), "{on}: {step}");
        let without =
            privileged(on, step).replace("contents: write", "contents: read").replace("secrets.K", "github.token");
        assert_eq!(judged(&[(CI, &without), files[1]]), [], "it could do nothing: {on}: {step}");
    }
    for (on, step) in [
        ("pull_request_target", "uses: actions/labeler@v5"),
        ("issue_comment", "run: gh issue edit ${{ github.event.issue.number }} --add-label x"),
        ("{push: {branches: [main]}}", "run: ./deploy"),
    ] {
        assert_eq!(judged(&[(CI, &privileged(on, step))]), [], "{on}: {step}");
    }
}

#[test]
fn a_workflow_of_the_base_only_might_run_the_head_if_no_step_is_known_to_fetch_it() {
    let action = |uses: &str| UnknownStep::Action { uses: uses.to_owned() };
    let unknown = "uses: lee-dohm/no-response@v0.5.0";
    let table = [
        ("issue_comment", unknown, vec![action("lee-dohm/no-response@v0.5.0")]),
        ("issue_comment", "run: make", vec![UnknownStep::Script]),
        ("issue_comment", "uses: ./act", vec![action("act/action.yml")]),
        ("[issue_comment, push]", unknown, Vec::new()),
        ("deployment_status", unknown, Vec::new()),
        ("issue_comment", "run: git fetch origin x\n      - uses: lee-dohm/no-response@v0.5.0", Vec::new()),
    ];
    for (on, step, doubts) in table {
        let text = privileged(on, step);
        let [found] = &judged(&[(CI, &text), ("act/action.yml", "runs: {using: node24, main: x.js}")])[..] else {
            panic!("{on}: {step}");
        };
        assert_eq!(found.doubts, doubts.into_iter().collect(), "{on}: {step}");
    }
}

/// GitHub reads them since 2025-09-18: <https://github.blog/changelog/2025-09-18-actions-yaml-anchors-and-non-public-workflow-templates/>.
#[test]
fn anchors_are_judged_where_they_are_used() {
    let text = "on: [push, pull_request]\npermissions: &p {contents: read}\njobs:\n  a: {permissions: *p, runs-on: ubuntu-latest, steps: [&co {uses: actions/checkout@v5}]}\n  b: {runs-on: mine, steps: [*co, {run: make}]}\n";
    let [found] = &judged(&[(CI, text)])[..] else { panic!() };
    assert_eq!(found.grants, [runner("mine")].into());
    assert!(found.is_held_by_instruction());
    let action =
        "runs: {using: composite, steps: [&co {uses: actions/checkout@v5, with: {ref: '${{ inputs.ref }}'}}, *co]}\n";
    let calling = privileged("pull_request_target", "uses: ./act");
    let [found] = &judged(&[(CI, &calling), ("act/action.yml", action)])[..] else { panic!() };
    assert!(!found.grants.contains(&Grant::Unknown(Unjudged::NotYaml)));
    assert_eq!(triggers("on: {push: {tags: &t ['v*']}}\njobs: *t\n"), [], "it starts elsewhere");
}

/// The whole steps and jobs of workflows that many repositories have.
#[test]
fn a_value_that_the_workflow_says_itself_is_no_text_of_a_person() {
    let step = |rest: &str| privileged("pull_request_target", rest);
    let table = [
        (step("run: gh pr edit 7 --add-label \"${{ env.LABEL }}\"\n        env: {LABEL: needs review}"), true),
        (
            step("run: gh pr edit 7 --add-label ${{ env.LABEL }}")
                .replace("permissions:", "env: {LABEL: triage}\npermissions:"),
            true,
        ),
        (
            step("run: echo ${{ env.L }}\n        env: {L: '${{ github.event.pull_request.title }}'}")
                .replace("permissions:", "env: {L: triage}\npermissions:"),
            false,
        ),
        (step("run: echo ${{ env.L }}\n        env: {L: 'a; make'}"), false),
        (step("run: ${{ env.L }}\n        env: {L: make}"), false),
        (step("run: echo ${{ matrix.os }}\n    strategy: {matrix: {os: [linux, 7], include: [{os: mac}]}}"), true),
        (
            step(
                "run: echo ${{ matrix.os }}\n    strategy: {matrix: {os: [linux], include: [{os: '${{ github.head_ref }}'}]}}",
            ),
            false,
        ),
        (step("run: echo ${{ matrix.os }}\n    strategy: {matrix: '${{ fromJSON(needs.a.outputs.x) }}'}"), false),
        (
            step(
                "uses: actions/create-github-app-token@v2\n        id: app\n      - run: git config user.name '${{ steps.app.outputs.app-slug }}[bot]'",
            ),
            true,
        ),
        (
            step(
                "uses: peter-evans/find-comment@v3\n        id: app\n      - run: echo '${{ steps.app.outputs.comment-body }}'",
            ),
            false,
        ),
    ];
    for (text, is_harmless) in table {
        assert_eq!(judged(&[(CI, &text)]).is_empty(), is_harmless, "{text}");
    }
}

#[test]
fn a_value_is_not_known_if_something_computed_may_set_it() {
    for step in [
        "run: echo ${{ matrix.os }}\n    strategy: {matrix: {os: [linux], include: '${{ fromJSON(github.event.x.body) }}'}}",
        "run: echo ${{ matrix.os }}\n    strategy: {matrix: {os: [linux], include: ['${{ fromJSON(github.event.x.body) }}']}}",
        "run: echo ${{ env.L }}\n        env: {l: '${{ github.event.x.title }}', L: triage}",
        "run: echo ${{ env.L }}\n        env: {L: '${{ github.event.x.title }}', l: triage}",
    ] {
        assert_ne!(judged(&[(CI, &privileged("pull_request_target", step))]), [], "{step}");
    }
}

#[test]
fn a_local_action_knows_only_its_own_steps() {
    let calling = privileged("pull_request_target", "uses: actions/cache@v4\n        id: a\n      - uses: ./act");
    let action = |first: &str| {
        let run = "{run: 'echo ${{ steps.a.outputs.x }}', shell: bash}";
        format!("runs: {{using: composite, steps: [{{id: a, uses: {first}}}, {run}]}}\n")
    };
    let is_exposed = |first: &str| !judged(&[(CI, &calling), ("act/action.yml", &action(first))]).is_empty();
    assert!(is_exposed("peter-evans/find-comment@v3"));
    assert!(!is_exposed("actions/cache@v4"));
}

#[test]
fn the_shell_in_force_may_be_of_the_job_or_the_workflow() {
    let plain = privileged("pull_request_target", "run: echo hello");
    let of_job =
        |shell: &str| plain.replace("    steps:", &format!("    defaults: {{run: {{shell: {shell}}}}}\n    steps:"));
    let of_workflow = |text: &str| text.replace("jobs:", "defaults: {run: {shell: python}}\njobs:");
    let is_exposed = |text: &str| !judged(&[(CI, text)]).is_empty();
    assert!(is_exposed(&of_job("python")) && is_exposed(&of_workflow(&plain)));
    assert!(!is_exposed(&of_job("bash")) && !is_exposed(&of_workflow(&of_job("sh"))));
    let on_windows = |text: &str| text.replace("ubuntu-latest", "windows-latest");
    assert!(is_exposed(&on_windows(&plain)) && !is_exposed(&on_windows(&of_job("bash"))));
    assert!(is_exposed(&plain.replace("ubuntu-latest", "'${{ matrix.os }}'")));
    for (runner, expected) in [
        ("[ubuntu-latest]", false),
        ("[self-hosted, Linux]", false),
        ("{group: large, labels: [macos-15]}", false),
        ("[windows-latest]", true),
        ("[self-hosted, '${{ matrix.os }}']", true),
        ("{group: large}", true),
    ] {
        assert_eq!(is_exposed(&plain.replace("ubuntu-latest", runner)), expected, "{runner}");
    }
}

#[test]
fn actions_that_use_each_other_again_and_again_are_too_many() {
    let uses = |level: usize| format!("[{}]", format!("{{uses: ./a{level}}},").repeat(9));
    let action = |level: usize| {
        let steps = if level == 7 { "[]".to_owned() } else { uses(level + 1) };
        (format!("a{level}/action.yml"), Some(format!("runs: {{using: composite, steps: {steps}}}\n")))
    };
    let job = format!("on: push\npermissions: {{}}\njobs: {{a: {{runs-on: ubuntu-latest, steps: {}}}}}\n", uses(0));
    let files: Files = (0..=7).map(action).chain([(CI.to_owned(), Some(job))]).collect();
    let [found] = &workflows(&files, &run_branches(true))[..] else { panic!() };
    assert_eq!(found.grants, [Grant::Unknown(Unjudged::TooMany)].into());
}

#[test]
fn many_values_and_many_steps_are_judged_together() {
    let values: String = (0..3_000).map(|n| format!("  V{n}: triage\n")).collect();
    let steps = "      - run: echo ${{ env.V7 }}\n".repeat(3_000);
    let text = privileged("pull_request_target", "run: echo");
    let text = format!("{}{steps}", text.replace("jobs:", &format!("env:\n{values}jobs:")));
    assert_eq!(judged(&[(CI, &text)]), []);
}

#[test]
fn a_workflow_that_looks_for_work_of_others_is_not_harmless_whatever_starts_it() {
    let taking = [
        "uses: dawidd6/action-download-artifact@v6",
        "run: gh run download $ID",
        "uses: actions/download-artifact@v5\n        with: {run-id: '1'}",
        "run: for n in $(gh pr list -q .[].number --json number); do gh pr checkout $n; make test; done",
        "run: git fetch origin '+refs/pull/*/head:refs/remotes/pr/*' && git checkout pr/7 && ./build.sh",
        "run: gh api repos/a/b/pulls --jq .[].head.sha | while read sha; do git checkout $sha; make; done",
        "run: for b in $(git branch -r); do git checkout $b && make test; done",
        "run: git worktree add w origin/autobuild/1/feature && make -C w",
        "id: l\n        run: echo \"h=$(git branch -r)\" >> $GITHUB_OUTPUT\n      - uses: actions/checkout@v5\n        with: {ref: '${{ steps.l.outputs.h }}'}",
        "uses: actions/checkout@v5\n        with: {ref: '${{ matrix.b }}'}\n    strategy: {matrix: {b: [main, autobuild/1/integration]}}",
        "uses: actions/checkout@v5\n        with: {ref: '${{ github.event.client_payload.ref }}'}",
    ];
    let unasked = ["schedule", "release", "issues", "delete", "{push: {branches: [main]}}", "[push, schedule]"];
    for step in taking {
        for event in unasked {
            let [found] = &judged(&[(CI, &privileged(event, step))])[..] else { panic!("{event}: {step}") };
            assert!(!found.is_harmless() && !found.is_held_by_instruction(), "{event}: {step}");
        }
        assert_eq!(judged(&[(CI, &privileged("workflow_dispatch", step))]), [], "a person starts it: {step}");
    }
    let ordinary = [
        "uses: actions/download-artifact@v5",
        "run: make -C dist/artifacts",
        "run: git fetch --tags origin",
        "run: git branch -r --contains $GITHUB_SHA | grep origin/main && git checkout main",
        "run: gh pr list --json headRefName,number",
        "run: git for-each-ref refs/remotes --format '%(refname)' >> heads\n      - run: make",
        "run: for PR in $(gh pr list --json number --jq .[].number); do PR=\"$PR\" bash ci/label.sh; done",
        "run: git for-each-ref refs/remotes | python3 ci/stale.py",
        "run: git ls-remote --exit-code --heads origin pages || git checkout --orphan pages",
        "run: git branch -r | wc -l\n      - uses: actions/checkout@v5\n        with: {ref: '${{ inputs.ref }}'}",
        "run: git branch -r | xargs -n1 git push origin --delete",
        "run: echo \"x=$(gh pr list --json headRefName)\" >> $GITHUB_OUTPUT\n      - run: make",
        "run: gh actions-cache list -B refs/pull/${{ github.event.pull_request.number }}/merge",
        "uses: docker/build-push-action@v6\n        with: {push: \"${{ !startsWith(github.ref, 'refs/pull/') }}\"}",
    ];
    let filters = ["{push: {branches-ignore: ['autobuild/**']}}", "{push: {branches: ['**', '!autobuild/**']}}"];
    for step in ordinary {
        for event in unasked[..5].iter().chain(&filters) {
            assert_eq!(judged(&[(CI, &privileged(event, step))]), [], "{event}: {step}");
        }
    }
    let head = "run: git checkout ${{ github.event.pull_request.head.sha }} && make";
    let [found] = &judged(&[(CI, &privileged("{push: {branches: [main]}, pull_request: {}}", head))])[..] else {
        panic!()
    };
    assert!(found.is_held_by_instruction());
}

#[test]
fn harmless_is_a_job_that_may_only_read() {
    for text in [
        HARMLESS,
        "permissions: read-all\njobs: {a: {runs-on: [ubuntu-24.04-arm], steps: []}}\n",
        "permissions: write-all\njobs: {a: {permissions: {contents: read}, runs-on: macos-15-intel, steps: []}}\n",
        "permissions: {}\nenv: {T: '${{ secrets.GITHUB_TOKEN }}'}\njobs: {a: {runs-on: windows-2025, steps: [{run: cat secrets.txt}]}}\n",
        "permissions: {}\njobs: {a: {runs-on: macOS-latest, steps: []}}\n",
        "permissions: {}\njobs: {a: {runs-on: '${{matrix.os}}-latest', strategy: {matrix: {os: [ubuntu, macos]}}, steps: []}}\n",
        "permissions: {}\njobs: {a: {runs-on: \"${{ matrix.os || 'ubuntu-latest' }}\", strategy: {matrix: {include: [{os: windows-latest}, {tox: x}]}}, steps: []}}\n",
        "permissions: {}\njobs: {a: {runs-on: '${{ matrix.job.os }}', strategy: {matrix: {job: [{os: ubuntu-latest}]}}, steps: []}}\n",
        "permissions: {}\njobs: {a: {runs-on: '${{ matrix.os }}', strategy: {matrix: {os: [ubuntu-latest, macos-latest], include: [{os: windows-latest}]}}, steps: []}}\n",
    ] {
        assert_eq!(grants(text), [], "{text}");
    }
}

#[test]
fn whatever_a_job_gets_beyond_reading_is_named() {
    let job = |rest: &str| grants(&format!("permissions: {{}}\njobs:\n  a:\n    steps: []\n    {rest}\n"));
    let hosted = |rest: &str| job(&format!("runs-on: ubuntu-latest\n    {rest}"));
    let write = |scope: &str| Grant::Write { scope: scope.to_owned() };
    let environment = |name: &str| Grant::Environment { name: name.to_owned() };
    assert_eq!(grants("jobs: {a: {runs-on: ubuntu-latest, steps: []}}"), [Grant::DefaultPermissions]);
    let table = [
        (hosted("permissions: write-all"), vec![write("all")]),
        (hosted("permissions: {contents: read, packages: write}"), vec![write("packages")]),
        (hosted("permissions: {id-token: write}"), vec![Grant::IdentityToken]),
        (hosted("permissions: '${{ x }}'"), vec![not_literal("permissions")]),
        (hosted("env: {K: '${{ secrets.KEY }}'}"), vec![secret("KEY")]),
        (hosted("env: {K: \"${{ secrets['key'] }}\"}"), vec![secret("KEY")]),
        (hosted("env: {K: '${{ toJSON(secrets) }}'}"), vec![Grant::AllSecrets]),
        (hosted("env: {K: '${{ secrets[matrix.name] }}'}"), vec![Grant::AllSecrets]),
        (hosted("if: secrets.KEY != ''"), vec![secret("KEY")]),
        (hosted("environment: prod"), vec![environment("prod")]),
        (hosted("environment: {name: prod}"), vec![environment("{name: prod}")]),
        (hosted("runs-as: root"), vec![Grant::Unknown(Unjudged::UnknownKey { key: "runs-as".to_owned() })]),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_machine_that_is_not_githubs_own_is_named() {
    let job = |rest: &str| grants(&format!("permissions: {{}}\njobs:\n  a:\n    steps: []\n    {rest}\n"));
    let table = [
        (job("runs-on: self-hosted"), vec![runner("self-hosted")]),
        (job("runs-on: [self-hosted, linux]"), vec![runner("[self-hosted, linux]")]),
        (job("runs-on: {group: big}"), vec![runner("{group: big}")]),
        (job("runs-on: ubuntu-latest-16-cores"), vec![runner("ubuntu-latest-16-cores")]),
        (job("runs-on: '${{ inputs.os }}'"), vec![runner("${{ inputs.os }}")]),
        (job("runs-on: '${{ matrix.os }}'\n    strategy: {matrix: {os: [ubuntu-latest, mine]}}"), vec![runner("mine")]),
        (job("name: no machine"), vec![not_literal("runs-on")]),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

#[test]
fn local_actions_and_workflows_are_judged_by_their_own_files() {
    let calling = |job: &str| format!("on: push\npermissions: {{}}\njobs:\n  a:\n    {job}\n");
    let local = "uses: ./.github/workflows/called.yml";
    let grants = |job: &str, called: &str| {
        let files = [(CI, calling(job)), (".github/workflows/called.yml", called.to_owned())];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        judged(&files).into_iter().flat_map(|one| one.grants).collect::<Vec<_>>()
    };
    let harmless = "on: workflow_call\njobs: {b: {runs-on: ubuntu-latest, steps: []}}\n";
    let own_runner = "on: workflow_call\njobs: {b: {runs-on: mine, steps: []}}\n";
    let writes = "on: workflow_call\npermissions: {contents: write}\njobs: {b: {runs-on: ubuntu-latest, steps: []}}\n";
    let circle = "on: workflow_call\njobs: {b: {uses: ./.github/workflows/called.yml}}\n";
    assert_eq!(grants(local, harmless), []);
    assert_eq!(grants(&format!("{local}\n    secrets: inherit"), harmless), [Grant::AllSecrets]);
    assert_eq!(grants(&format!("{local}\n    secrets: {{K: '${{{{ secrets.K }}}}'}}"), harmless), [secret("K")]);
    assert_eq!(grants(local, own_runner), [runner("mine")]);
    assert_eq!(grants(local, writes), [Grant::Write { scope: "contents".to_owned() }]);
    assert_eq!(grants(local, circle), [Grant::Unknown(Unjudged::TooDeep)]);
    let foreign = Grant::ForeignWorkflow { uses: "o/r/.github/workflows/x.yml@v1".to_owned() };
    assert_eq!(grants("uses: o/r/.github/workflows/x.yml@v1", harmless), [foreign]);
    let missing = Grant::Unknown(Unjudged::Missing { path: ".github/workflows/none.yml".to_owned() });
    assert_eq!(grants("uses: ./.github/workflows/none.yml", harmless), [missing]);
}

#[test]
fn a_local_action_may_fetch_the_head_for_its_workflow() {
    let workflow =
        "on: pull_request_target\npermissions: {}\njobs: {a: {runs-on: ubuntu-latest, steps: [{uses: ./act}]}}\n";
    let action = "runs: {using: composite, steps: [{uses: actions/checkout@v5, with: {ref: '${{ inputs.ref }}'}}]}\n";
    let runs = |action: &str| !judged(&[(CI, workflow), ("act/action.yml", action)]).is_empty();
    assert!(runs(action));
    assert!(!runs("runs: {using: composite, steps: [{run: make, shell: bash}]}\n"));
}

#[test]
fn what_cannot_be_judged_is_not_harmless() {
    let unknown = |text: &str| {
        let found = judged(&[(CI, text)]);
        let grants: Vec<Grant> = found.into_iter().flat_map(|one| one.grants).collect();
        matches!(grants.as_slice(), [Grant::Unknown(_), ..])
    };
    for text in [
        "on: [unclosed",
        "on: push\non: push\n",
        "on: 7\n",
        "name: nothing starts it\n",
        "on: push\npermissions: {}\njobs: none\n",
        "on: push\npermissions: {}\nextends: other\njobs: {a: {runs-on: ubuntu-latest, steps: []}}",
    ] {
        assert!(unknown(text), "{text}");
    }
    let large = [(CI.to_owned(), None)].into();
    let found = workflows(&large, &run_branches(true));
    assert_eq!(found[0].grants, [Grant::Unknown(Unjudged::TooLarge)].into());
    assert!(!found[0].is_held_by_instruction());
    let many: Files = (0..MOST_FILES).map(|n| (format!("{n}/action.yml"), Some(String::new()))).collect();
    assert_eq!(workflows(&many, &run_branches(true)).len(), 1);
}
