//! Two organisations on one server, each with an allowance of its own.

use crate::world::{Plan, REPO, Setup, WRITER, World};
use autobuild::config::{Allowance, Budget, LargestValues, NetworkSettings, RepositorySettings};
use domain::{
    feature::Feature,
    ids::{IssueNumber, RepoId},
};
use forge::{RepoSource, Role, Settings};

const OTHER: &str = "globex/shop";
const SETTINGS: &str = "test: sh tests/run.sh\nplan_approval: always\nmax_turns: 9\nbudget: {usd_per_task: 70, usd_per_feature: 0}\n\
                        test_timeout: 2h\nnetwork: {allow: [npm.corp.example]}\n";

fn allowance(usd_per_task: f64, usd_per_feature: f64, host: &str, model: &str) -> Allowance {
    let mut allowance = Allowance {
        network: NetworkSettings { allow: vec![host.parse().unwrap()], ..NetworkSettings::default() },
        most: LargestValues {
            budget: Budget { usd_per_task, usd_per_feature, ..Budget::UNLIMITED },
            test_timeout: 3_600,
            ..LargestValues::default()
        },
        ..Allowance::default()
    };
    allowance.models.allowed = vec![model.to_owned()];
    allowance
}

impl World {
    async fn push_settings(&self, repo: &str, text: &str) {
        let files = [(".github/autobuild.yml", Some(text))];
        self.by(WRITER).push(repo, "main", "Set", &files).await.unwrap();
    }

    async fn planned(&self, repo: &str, issue: u64) -> Option<Feature> {
        self.by(WRITER).label(repo, issue, "autobuild").unwrap();
        self.settle().await;
        let id = RepoId(self.forge.repo_id(repo).unwrap());
        let row = self.engine.store.latest_run(id, IssueNumber(issue)).await.unwrap()?;
        self.engine.feature(&row.key).await.unwrap()
    }
}

/// Returns the notes below a plan, and the money that its tasks may spend.
fn notes_and_budget(feature: Feature) -> (Vec<String>, [f64; 2]) {
    let settings: RepositorySettings = serde_json::from_value(feature.settings).unwrap();
    let budget = settings.budget;
    (feature.plan.unwrap().notes, [budget.usd_per_task, budget.usd_per_feature])
}

#[tokio::test(flavor = "multi_thread")]
async fn each_organisation_gets_what_the_server_allows_to_it() {
    let setup = Setup::new().only_settings(&format!("{SETTINGS}model: big-one\n"));
    let setup = setup.own_allowance(allowance(60.0, 300.0, "*.corp.example", "big-one"));
    let world = setup.allowance(allowance(10.0, 20.0, "pypi.org", "small-one")).build().await;
    world.forge.create_organization("globex");
    let files = [("README.md", "# Shop\n"), ("tests/run.sh", "echo ok 1 - shop; echo 1..1\n")];
    let created = world.forge.create_repo(OTHER, RepoSource::Files(&files), Settings::default());
    created.await.unwrap();
    world.forge.set_role(OTHER, WRITER, Role::Write).unwrap();
    world.push_settings(OTHER, &format!("{SETTINGS}model: big-one\n")).await;
    world.forge.install("autobuild", "globex", None).unwrap();
    world.settle().await;

    world.script.plans(&Plan::one());
    let issue = world.open_issue(WRITER, "Say hello in files");
    let (notes, usd) = notes_and_budget(world.planned(REPO, issue).await.unwrap());
    assert_eq!(usd, [60.0, 300.0]);
    let time = "`test_timeout` is 7200s in the settings. This server allows at most 3600s, so 3600s holds.";
    let money = |most| {
        format!("`budget.usd_per_task` is 70 in the settings. This server allows at most {most}, so {most} holds.")
    };
    assert_eq!(notes, [time.to_owned(), money(60)]);

    let issue = world.by(WRITER).open_issue(OTHER, "Say hello", "In files", &[]).unwrap();
    assert_eq!(world.planned(OTHER, issue).await, None, "its model is not allowed there");
    world.push_settings(OTHER, SETTINGS).await;
    world.script.plans(&Plan::one());
    world.by(WRITER).unlabel(OTHER, issue, "autobuild").unwrap();
    let (notes, usd) = notes_and_budget(world.planned(OTHER, issue).await.unwrap());
    assert_eq!(usd, [10.0, 20.0]);
    assert_eq!(
        notes,
        [
            time.to_owned(),
            money(10),
            "`network.allow` names hosts that this server does not allow, and that stay closed: `npm.corp.example`. It \
             allows: `pypi.org`."
                .to_owned(),
        ]
    );
    world.end().await;
}
