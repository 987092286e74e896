//! The `codex` back-end: one process of `codex exec --json` per run. The program does not check the answer against the
//! schema and reports no cost, so we do both.

pub(crate) mod answer;
mod stream;

use crate::{
    agents::{
        access::{NO_KEY, Provider},
        codex::stream::CodexStream,
        journal::Journal,
        outcome::never_ran,
        private::{AccountVariables, Private},
        program::{Program, Version},
        run::{Conversation, RunContext, RunError, RunSpec, UncheckedRun, limit},
        schema,
        session::InputMode,
        unreported_usage,
    },
    config::Role,
};
use domain::{blocked::Failure, isolation::Level, trace::TraceKind};
use sandbox::Spec;
use std::{ffi::OsString, path::PathBuf, time::Duration};
use tokio_util::sync::CancellationToken;

/// The oldest version that is known to do everything we need.
const LEAST: Version = Version(0, 169, 0);
/// The longest time from the program's last line to its end.
const LAST: Duration = Duration::from_secs(10);
/// The setting that stops it from reading the project's own instructions. The prompt has them already, from the default
/// branch.
const NO_DOCUMENTS: &str = "project_doc_max_bytes=0";
/// The variable from which it reads its key.
const KEY: &str = "AUTOBUILD_MODEL_KEY";

#[derive(Clone, Debug)]
pub(crate) struct CodexAgent {
    program: Program,
    context: RunContext,
}

impl CodexAgent {
    pub(crate) fn new(context: RunContext) -> Self {
        Self { program: Program::new("codex", LEAST), context }
    }

    pub(crate) async fn check(&self) -> Result<(), Failure> {
        self.program.check(&self.context.sandbox, &self.context.runs).await?;
        self.context.access.check(Provider::OpenAi)
    }

    pub(crate) async fn run(&self, spec: &RunSpec, cancel: &CancellationToken) -> Result<UncheckedRun, RunError> {
        let mut journal = Journal::start(spec.activity.clone(), spec.secrets.clone()).within(&spec.checkout);
        let prompt = spec.prompt.whole(&spec.schema);
        journal.note(TraceKind::Prompt { text: prompt.clone() });
        self.check().await.map_err(never_ran)?;
        let private = Private::make(&self.context.runs)?;
        let order = self.order(spec, prompt, &private).await?;
        let mut stream = CodexStream::default();
        let (program, input_mode) = (self.program.name, InputMode::Once);
        let conversation = Conversation { program, order: &order, spec, input_mode, last: LAST };
        let ended = self.context.run_program(&conversation, &mut stream, &mut journal, cancel).await?;
        let concluded = answer::conclude(spec, stream, journal, &ended);
        unreported_usage::add_door_usage(concluded, unreported_usage::Model::Ours, None, &order, spec).await
    }

    async fn order(&self, spec: &RunSpec, prompt: String, private: &Private) -> Result<Spec, RunError> {
        let schema = schema::strict(&spec.schema).to_string();
        let schema = private.write("strict-schema.json", schema.as_bytes())?;
        let mut order = Spec::new(self.program.name, &spec.checkout);
        order.args = self.args(spec, schema.into());
        order.env = private.environment(spec, &self.context.environment, AccountVariables::Ours)?;
        order.stdin = prompt.into_bytes();
        limit(&mut order, spec);
        let (context, providers) = (&self.context, [Provider::OpenAi]);
        let addresses =
            context.access.open_door(&mut order, spec, private, &providers, context.sandbox.level()).await?;
        if let Some((_, address)) = addresses.first() {
            let home = home(private, address, None)?;
            order.env.retain(|(name, _)| name != "CODEX_HOME");
            order.env.extend(variables(home));
        }
        Ok(order)
    }

    fn args(&self, spec: &RunSpec, schema: OsString) -> Vec<OsString> {
        // From level 1 on, the program's own sandbox would only fail inside ours.
        let sandbox = match (self.context.sandbox.level(), spec.role) {
            (Level::L0, Role::Player) => "workspace-write",
            (Level::L0, Role::Planner | Role::Designer | Role::Coach) => "read-only",
            (Level::L1 | Level::L2 | Level::L3, _) => "danger-full-access",
        };
        let mut args: Vec<OsString> = ["exec", "--json", "-s", sandbox, "-C"].map(OsString::from).to_vec();
        args.push(spec.checkout.clone().into_os_string());
        args.extend(["--skip-git-repo-check", "--ephemeral", "-c", NO_DOCUMENTS].map(OsString::from));
        if let Some(model) = &spec.model {
            args.extend([OsString::from("-m"), model.into()]);
        }
        args.extend([OsString::from("--output-schema"), schema, "-".into()]);
        args
    }
}

pub(crate) fn variables(home: PathBuf) -> [(OsString, OsString); 2] {
    [("CODEX_HOME".into(), home.into_os_string()), (KEY.into(), NO_KEY.into())]
}

/// Makes a home for the program that contains only the model, its address, and the setting that turns web search off,
/// because the door to the model refuses searches.
pub(crate) fn home(private: &Private, address: &str, model: Option<&str>) -> Result<PathBuf, RunError> {
    let home = private.folder("codex")?;
    let model = model.map(|model| format!("model = \"{model}\"\n")).unwrap_or_default();
    let config = format!(
        "{model}model_provider = \"autobuild\"\n{NO_DOCUMENTS}\nweb_search = \"disabled\"\n\n\
         [model_providers.autobuild]\nname = \"autobuild\"\nbase_url = \"{address}\"\n\
         env_key = \"{KEY}\"\nwire_api = \"responses\"\nrequest_max_retries = 3\nstream_max_retries = 3\n\
         stream_idle_timeout_ms = 300000\n"
    );
    private.write("codex/config.toml", config.as_bytes())?;
    Ok(home)
}
