//! The cost of a turn besides its agents and Gates: the time from one agent's exit to the next one's start, and the
//! requests to GitHub. Nothing is isolated here; the bench `sandbox` measures that cost. Run with `cargo bench --bench
//! turn`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::too_many_lines,
    reason = "a benchmark that cannot go on has failed"
)]
#![allow(missing_docs, reason = "a program of its own")]

mod support;

use autobuild::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, Blueprint},
    },
    config::{AgentCommand, AppKey, ByRole, ModelSettings, ProcessLimits},
    engine::settings::EngineSettings,
    github::{AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS, Caps},
    web,
    web::{Inbox, Listener},
};
use domain::{
    ci::CiTimes,
    ids::AppId,
    isolation::{Bounds, Level},
};
use forge::{AppCredentials, Forge, ForgeOptions, NewApp, RepoSource, Role, Settings};
use sandbox::SandboxOptions;
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use text::secret::Secrets;
use tokio_util::sync::CancellationToken;

const REPOSITORY: &str = "acme/bench";

/// An agent that records the times of its start and end. The Coach requests changes until the last turn.
const AGENT: &str = r#"
echo "$(date +%s%N) start $AUTOBUILD_ROLE" >> STAMPS
cat > /dev/null
case $AUTOBUILD_ROLE in
  player) echo "$AUTOBUILD_TURN" > "$AUTOBUILD_TASK.txt"
    answer="{\"summary\": \"turn $AUTOBUILD_TURN\", \"files_modified\": [], \"files_created\": [], \"ready_for_validation\": true}" ;;
  coach) if [ "$AUTOBUILD_TURN" -lt TURNS ]
    then answer="{\"decision\": \"feedback\", \"summary\": \"more\", \"feedback\": \"again, number $AUTOBUILD_TURN\"}"
    else answer="{\"decision\": \"approve\", \"summary\": \"fine\", \"criteria\": [{\"criterion\": 1, \"met\": true, \"evidence\": \"test all\"}]}"; fi ;;
esac
echo "$(date +%s%N) end $AUTOBUILD_ROLE" >> STAMPS
echo "$answer"
"#;

const TEST: &str = "echo \"$(date +%s%N) start gate\" >> STAMPS\necho 'ok 1 - all'\necho '1..1'\n\
                    echo \"$(date +%s%N) end gate\" >> STAMPS\n";

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let quick = runtime.block_on(run(12, 1, 0));
    let mut waits = between_agents(&quick.stamps);
    waits.sort_unstable();
    let at = |share: usize| waits.get(waits.len() * share / 100).copied().unwrap_or_default() as f64 / 1e6;
    println!("from an agent's exit to the next agent's start, Gate commands subtracted, {} times:", waits.len());
    println!("  median {:.0} ms, 90 % {:.0} ms, most {:.0} ms", at(50), at(90), at(99));

    let (one, three, two_tasks) =
        (runtime.block_on(run(1, 1, 1_000)), runtime.block_on(run(3, 1, 1_000)), runtime.block_on(run(1, 2, 1_000)));
    println!("\nrequests of a turn that ends with feedback (token mints apart):");
    difference(&one.calls, &three.calls, 2);
    println!("\nrequests of a task with one turn, from its pull request to its merge (token mints apart):");
    difference(&one.calls, &two_tasks.calls, 1);
}

fn difference(less: &BTreeMap<String, usize>, more: &BTreeMap<String, usize>, times: usize) {
    let mut sum = 0.0;
    for (call, count) in more {
        let extra = count.saturating_sub(less.get(call).copied().unwrap_or(0)) as f64 / times as f64;
        if extra > 0.0 {
            println!("  {extra:>4.1}  {call}");
            sum += if call.starts_with("mint") { 0.0 } else { extra };
        }
    }
    println!("  {sum:>4.1}  in all");
}

/// Returns the nanoseconds from each agent's end to the next agent's start, less the time of Gate commands in between.
fn between_agents(stamps: &[(u64, String, String)]) -> Vec<u64> {
    let (mut waits, mut ended, mut gates, mut gate_began) = (Vec::new(), None, 0, 0);
    for (at, what, who) in stamps {
        match (what.as_str(), who.as_str()) {
            ("start", "gate") => gate_began = *at,
            ("end", "gate") => gates += at - gate_began,
            ("start", _) => {
                if let Some(ended) = ended.take() {
                    waits.push((at - ended) - gates);
                }
                gates = 0;
            }
            _ => (ended, gates) = (Some(*at), 0),
        }
    }
    waits
}

struct Run {
    stamps: Vec<(u64, String, String)>,
    calls: BTreeMap<String, usize>,
}

/// Runs one Feature of `tasks` tasks with `turns` turns each, until its pull request is open.
async fn run(turns: u32, tasks: u32, spacing_ms: i64) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let forge = Forge::start(ForgeOptions::new(folder.path().join("forge"))).await.unwrap();
    forge.create_organization("acme");
    forge.create_user("mona");
    let stamps = folder.path().join("stamps");
    let stamped =
        |text: &str| text.replace("STAMPS", &stamps.display().to_string()).replace("TURNS", &turns.to_string());
    let settings = format!("max_turns: {turns}\nmax_parallel_tasks: 1\nplan_approval: never\ntest: sh test.sh\n");
    let test = stamped(TEST);
    let files = [("test.sh", test.as_str()), (".github/autobuild.yml", settings.as_str())];
    forge.create_repo(REPOSITORY, RepoSource::Files(&files), Settings::default()).await.unwrap();
    forge.set_role(REPOSITORY, "mona", Role::Admin).unwrap();
    let agent = folder.path().join("agent.sh");
    std::fs::write(&agent, stamped(AGENT)).unwrap();

    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let hook = format!("http://{}/webhook", listener.address().unwrap());
    let main = app(&forge, "autobuild", AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS, Some((&hook, "secret")));
    let coach = app(&forge, "autobuild-coach", COACH_PERMISSIONS, &[], None);
    let engine = assemble::engine(blueprint(&forge, folder.path(), &agent, &main, &coach, spacing_ms)).await.unwrap();
    let stop = CancellationToken::new();
    let inbox = Arc::new(Inbox::new(engine.clone(), vec![SecretString::from("secret")], stop.clone()));
    let worker = tokio::spawn(engine.clone().work(stop.clone()));
    let server = tokio::spawn(web::serve(listener, web::router(inbox), stop.clone()));

    let mut news = forge.subscribe();
    let person = forge.as_user("mona").unwrap();
    let issue = person.open_issue(REPOSITORY, "Bench", &plan(tasks), &[]).unwrap();
    person.label(REPOSITORY, issue, "autobuild").unwrap();
    loop {
        let event = news.recv().await.unwrap();
        if event.kind == "pull_request.opened" && event.text.contains("FEAT-") {
            break;
        }
    }
    stop.cancel();
    worker.await.unwrap();
    server.await.unwrap();
    let text = std::fs::read_to_string(&stamps).unwrap();
    Run { stamps: text.lines().map(stamp).collect(), calls: support::count_by_kind(&forge.calls()) }
}

fn stamp(line: &str) -> (u64, String, String) {
    let mut words = line.split(' ');
    let mut next = || words.next().unwrap().to_owned();
    (next().parse().unwrap(), next(), next())
}

fn plan(tasks: u32) -> String {
    let mut yaml = "name: \"Bench: measured\"\ntasks:\n".to_owned();
    for task in 1..=tasks {
        yaml.push_str(&format!(
            "  - id: TASK-{task:03}\n    name: Task {task}\n    type: feature\n    acceptance_criteria:\n      \
             - {{ text: It is there, check: {{ test: all }} }}\n    files: [TASK-{task:03}.txt]\n"
        ));
    }
    format!("```yaml\n{yaml}```\n")
}

fn app(
    forge: &Forge,
    slug: &str,
    permissions: &[(&str, &str)],
    events: &[&str],
    hook: Option<(&str, &str)>,
) -> AppCredentials {
    let credentials = forge.create_app(&NewApp { slug, owner: "acme", permissions, events, hook }).unwrap();
    forge.install(slug, "acme", None).unwrap();
    credentials
}

fn blueprint(
    forge: &Forge,
    folder: &Path,
    agent: &Path,
    main: &AppCredentials,
    coach: &AppCredentials,
    spacing_ms: i64,
) -> Blueprint {
    let data_dir = folder.join("data");
    let command: AgentCommand = format!("command:sh {}", agent.display()).parse().unwrap();
    let key = |app: &AppCredentials| AppKey { id: AppId(app.id), private_key: app.private_key.clone() };
    Blueprint {
        app: key(main),
        coach: Some(key(coach)),
        api_url: forge.api_url(),
        web_url: forge.url().to_owned(),
        database_url: SecretString::from(format!("sqlite:{}", folder.join("autobuild.db").display())),
        connections: ProcessLimits::default().connections,
        agents: Agents {
            by_role: ByRole::each(|_| command.clone()),
            named: BTreeMap::new(),
            environment: Vec::new(),
            access: Access::service(ModelSettings::default()),
            chosen_by: "AUTOBUILD_AGENT",
        },
        secrets: Secrets::default(),
        settings: EngineSettings {
            write_spacing_ms: spacing_ms,
            ci: CiTimes::AT_ONCE,
            ..EngineSettings::service(assemble::worker_name(), data_dir.clone(), assemble::clock)
        },
        data_dir,
        caps: Caps::None,
        sandbox: SandboxOptions::with_launcher(PathBuf::from(env!("CARGO_BIN_EXE_autobuild"))),
        // The agents write to a file that no sandbox would show them.
        isolation: Bounds { least: Level::L0, most: Level::L0 },
    }
}
