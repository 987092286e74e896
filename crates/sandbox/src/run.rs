//! Runs one program: sends the request to the launcher, watches, and collects the result.

use crate::{
    cgroup::Group,
    choice::Sandbox,
    environment::CERTIFICATES,
    launcher::LAUNCHER_COMMAND,
    live,
    live::Live,
    pipes::{Pipes, pump, with_complaint},
    process_table::{Family, Process},
    protocol::{Confinement, LaunchRequest, Report, STOP},
    run_user::RunUser,
    spec::{Exit, Finished, Spec, StartError},
    strays::{Entry, sweep},
};
use domain::{
    isolation::Limit,
    refused_host::{Pulse, Stall},
};
use std::{
    borrow::Cow,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader},
    net::UnixStream,
    process::{Child, Command},
    sync::mpsc,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// The number of checks of a program within its patience.
const STALL_LOOKS: u32 = 10;
/// The time beyond the grace that a launcher gets to kill everything before it counts as lost.
const LAUNCHER_SLACK: Duration = Duration::from_secs(5);
/// The time to wait for the last output after every process that could write it is gone.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

impl Sandbox {
    /// Runs a program to its end and then kills everything that it started. Dropping the future kills it too.
    pub async fn run(&self, spec: &Spec, cancel: &CancellationToken) -> Result<Finished, StartError> {
        self.run_live(spec, Live::default(), cancel).await
    }

    /// Does the same as [`Sandbox::run`], while the caller reads the output and may send input. The program waits for a
    /// caller that reads slowly.
    pub async fn run_live(&self, spec: &Spec, live: Live, cancel: &CancellationToken) -> Result<Finished, StartError> {
        let spec = &*self.with_certificates(spec);
        self.run_confined(spec, live, self.confinement(spec)?, cancel).await
    }

    /// Lets a program trust the certificates of its door, or those of the settings.
    fn with_certificates<'a>(&self, spec: &'a Spec) -> Cow<'a, Spec> {
        let of_door = spec.confine.door.as_ref().and_then(|door| door.certificates());
        let of_settings = || self.options.certificates.as_deref().map(|file| [file; 2]);
        let Some(files @ [file, _]) = of_door.or_else(of_settings) else {
            return Cow::Borrowed(spec);
        };
        let mut spec = Spec::clone(spec);
        spec.env.retain(|(name, _)| !CERTIFICATES.iter().any(|known| name == known));
        spec.env.extend(CERTIFICATES.map(|name| (name.into(), file.into())));
        spec.confine.read.extend(files.map(Path::to_path_buf));
        Cow::Owned(spec)
    }

    /// Runs the canary, which is our own binary with the spec's arguments.
    pub(crate) async fn run_canary(&self, spec: &Spec) -> Result<Finished, StartError> {
        let confinement = Confinement { own: true, ..self.confinement(spec)? };
        self.run_confined(spec, Live::default(), confinement, &CancellationToken::new()).await
    }

    async fn run_confined(
        &self,
        spec: &Spec,
        live: Live,
        confinement: Confinement,
        cancel: &CancellationToken,
    ) -> Result<Finished, StartError> {
        // This may take long in a large checkout, so the program's deadline begins after it.
        hand_over(&confinement)
            .await
            .map_err(|error| StartError::Isolation(format!("folders of its user: {error}")))?;
        let started = Instant::now();
        let frame = LaunchRequest::frame(spec, live.input.is_some(), confinement).ok_or(StartError::TooLong)?;
        let mut running = self.launch(spec, live).map_err(|error| StartError::Refused(error.to_string()))?;
        let collected = running.converse(spec, &frame, cancel).await;
        running.end(&collected).await;
        let outcome = collected.reports.into_iter().find_map(Report::outcome);
        let starved = running.group.as_ref().is_some_and(Group::ran_out_of_memory);
        let exit = match (collected.stopped, outcome) {
            (None, _) if starved => Exit::OverLimit(Limit::Memory(self.options.limits.memory)),
            // A program that is stopped at once may not have reached the point at which isolation is complete.
            (Some(stopped), Some(Err(StartError::Isolation(_)))) => stopped,
            (None, Some(Err(StartError::Isolation(reason)))) => {
                return Err(StartError::Isolation(with_complaint(reason, &running.pipes)));
            }
            (_, Some(Err(refused))) => return Err(refused),
            (Some(reason), _) => reason,
            (None, Some(Ok(exit))) => exit,
            (None, None) => Exit::Escaped,
        };
        let (stdout, stderr) = (running.pipes.stdout().output(), running.pipes.stderr().output());
        Ok(Finished { exit, stdout, stderr, duration: started.elapsed(), level: self.level })
    }

    fn launch(&self, spec: &Spec, live: Live) -> std::io::Result<Running> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.options.launcher);
        command.arg0("autobuild").arg(LAUNCHER_COMMAND).env_clear().current_dir("/");
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
        let group = match self.groups.as_ref() {
            Ok(groups) => Some(groups.make(self.options.limits).map_err(ungrouped)?),
            Err(_) => None,
        };
        let (mut child, entry) = Entry::start(|| {
            let child = command.spawn()?;
            // For a control group, 0 is the process that writes it: the service itself.
            let pid = child.id().and_then(|id| i32::try_from(id).ok());
            let missing = || std::io::Error::other("the launcher has no process id");
            Ok((child, pid.ok_or_else(missing)?))
        })?;
        // The command also holds the launcher's end of the lifeline.
        drop(command);
        // The launcher starts nothing before it has received its request.
        if let Some(group) = &group {
            group.admit(entry.pid()).map_err(ungrouped)?;
        }
        let pipes = Arc::new(Pipes::new(spec.stdout, spec.stderr));
        let pumps = [
            pump(child.stdout.take(), Arc::clone(&pipes), Pipes::stdout, live.output),
            pump(child.stderr.take(), Arc::clone(&pipes), Pipes::stderr, None),
        ];
        Ok(Running {
            since: Process::of(entry.pid()).map_or(0, |process| process.started),
            launcher: entry.pid(),
            lifeline: UnixStream::from_std(ours)?,
            input: live.input,
            _entry: entry,
            group,
            child,
            pipes,
            pumps,
        })
    }
}

/// Gives the files that the program may change to its user. Without one, takes back what an earlier run's user owns.
async fn hand_over(confinement: &Confinement) -> std::io::Result<()> {
    let user = confinement.user;
    let paths: Vec<PathBuf> = confinement.changeable().map(PathBuf::from).collect();
    let handing_over = move || {
        paths.iter().try_for_each(|path| {
            let taken = user.map_or_else(|| RunUser::take_back(path), |user| user.take(path));
            taken.map(drop)
        })
    };
    tokio::task::spawn_blocking(handing_over).await?
}

fn ungrouped(error: std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("its control group: {error}"))
}

struct Running {
    since: u64,
    launcher: i32,
    lifeline: UnixStream,
    input: Option<mpsc::Receiver<Vec<u8>>>,
    /// Held until the launcher's exit status has been collected.
    _entry: Entry,
    group: Option<Group>,
    child: Child,
    pipes: Arc<Pipes>,
    pumps: [AbortOnDropHandle<()>; 2],
}

/// The launcher's reports, and the reason for which we stopped it, if we did.
struct LauncherReports {
    reports: Vec<Report>,
    stopped: Option<Exit>,
}

impl Running {
    /// Sends the request, reads the reports, and orders the launcher to stop if there is a reason.
    async fn converse(&mut self, spec: &Spec, frame: &[u8], cancel: &CancellationToken) -> LauncherReports {
        let (reading, mut writing) = self.lifeline.split();
        let (mut reports, mut stopped) = (Vec::new(), None);
        {
            let mut listening = std::pin::pin!(listen(reading, &mut reports));
            let ordering = async {
                // If the launcher is gone, the closed socket already shows it to the reader.
                let _ = writing.write_all(frame).await;
                let watching = watch(spec, &self.pipes, self.launcher, cancel);
                let reason = live::feed(&mut writing, self.input.as_mut(), watching).await;
                let _ = writing.write_all(&[STOP]).await;
                // If the launcher was within a piece of input, it takes the end of the socket as the order to stop.
                let _ = writing.shutdown().await;
                reason
            };
            tokio::select! {
                () = &mut listening => {}
                reason = ordering => {
                    stopped = Some(reason);
                    let _ = tokio::time::timeout(spec.grace.saturating_add(LAUNCHER_SLACK), &mut listening).await;
                }
            }
        }
        LauncherReports { reports, stopped }
    }

    /// Makes sure that no process is left, and collects the last output.
    async fn end(&mut self, collected: &LauncherReports) {
        let is_swept = collected.reports.contains(&Report::Swept);
        if !is_swept {
            let _ = self.child.start_kill();
            if let Some(group) = &self.group {
                group.kill();
            }
        }
        let _ = self.child.wait().await;
        if !is_swept {
            let since = self.since;
            let _ = tokio::task::spawn_blocking(move || sweep(since)).await;
        }
        let [stdout, stderr] = &mut self.pumps;
        let last = tokio::time::timeout(LAST_OUTPUT, async { tokio::join!(stdout, stderr) }).await;
        if let Ok((Err(lost), _) | (_, Err(lost))) = last
            && let Ok(panic) = lost.try_into_panic()
        {
            // Otherwise the output would be incomplete without anyone noticing.
            std::panic::resume_unwind(panic);
        }
    }
}

/// Collects the launcher's reports until it closes its end.
async fn listen(reading: impl AsyncRead + Unpin, reports: &mut Vec<Report>) {
    let mut lines = BufReader::new(reading).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(report) => reports.push(report),
            Err(_) => return,
        }
    }
}

/// Waits until there is a reason to stop the program, and returns it.
async fn watch(spec: &Spec, pipes: &Pipes, launcher: i32, cancel: &CancellationToken) -> Exit {
    let silence = async {
        let Some(idle) = spec.idle else {
            return std::future::pending().await;
        };
        loop {
            let until = pipes.last().checked_add(idle);
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                Some(_) => return,
                None => return std::future::pending().await,
            }
        }
    };
    tokio::select! {
        () = cancel.cancelled() => Exit::Cancelled,
        () = pipes.too_much.cancelled() => Exit::TooMuchOutput,
        () = tokio::time::sleep(spec.deadline) => Exit::TimedOut,
        () = silence => Exit::Idle,
        () = only_waits(spec, launcher) => Exit::HostRefused,
    }
}

/// Waits until the program below this launcher has done nothing but wait for a refused host, for as long as its request
/// allows.
async fn only_waits(spec: &Spec, launcher: i32) {
    let Some((patience, door)) = spec.refused.zip(spec.confine.door.as_ref()) else {
        return std::future::pending().await;
    };
    let started = Instant::now();
    door.refused().await;
    let mut stall = Stall::new(millis(patience));
    loop {
        let allowed = door.last_allowed();
        let processor = tokio::task::spawn_blocking(move || processor_time(launcher)).await;
        let pulse = Pulse {
            now: millis(started.elapsed()),
            processor: processor.unwrap_or_default(),
            allowed: allowed.map(|at| millis(at.saturating_duration_since(started))),
        };
        if stall.lasts(pulse) {
            return;
        }
        tokio::time::sleep(patience / STALL_LOOKS).await;
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the processor time in milliseconds of the launcher's descendants. The launcher itself is left out, because it
/// looks at them all the time.
fn processor_time(launcher: i32) -> u64 {
    let family = Family::below(launcher).look().map(|(_, family)| family);
    let ticks = family.iter().flatten().map(|process: &Process| process.ticks);
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    ticks.fold(0, u64::saturating_add).saturating_mul(1_000) / per_second
}
