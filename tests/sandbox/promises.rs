// The promises of the sandbox at every level. The file that includes this one defines `LEVEL`.

use super::*;

/// Returns the mark of one test at this level. Levels are tested in parallel, and perhaps also two checkouts.
fn mark(name: &str) -> String {
    format!("{LEVEL}-{name}-{}-", std::process::id())
}

fn sandbox() -> Sandbox {
    crate::sandbox(LEVEL)
}

async fn run(spec: &Spec) -> Finished {
    let finished = sandbox().run(spec, &CancellationToken::new()).await.unwrap();
    assert_eq!(finished.level, LEVEL);
    finished
}

#[tokio::test]
async fn output_exit_code_and_input_arrive() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = shell(folder.path(), "cat; echo oops >&2; pwd; exit 7");
    spec.stdin = b"hello\n".to_vec();
    let finished = run(&spec).await;
    assert_eq!(finished.exit, Exit::Exited(7));
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(finished.stdout.text(), format!("hello\n{}\n", folder.display()));
    assert_eq!(finished.stderr.text(), "oops\n");
}

#[tokio::test]
async fn a_signal_of_its_own_is_told_apart_from_an_exit_code() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let finished = run(&shell(folder.path(), "kill -9 $$")).await;
    assert_eq!(finished.exit, Exit::Signalled(9));
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = Spec::new("/usr/bin/env", folder.path());
    spec.confine.write = vec![folder.path().to_path_buf()];
    spec.env = vec![("ONLY".into(), "this one".into()), ("AND".into(), "that".into())];
    let mut lines: Vec<String> = run(&spec).await.stdout.text().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["AND=that", "ONLY=this one"]);
}

#[tokio::test]
async fn a_file_of_certificates_is_seen_where_it_is_named() {
    if !is_offered(LEVEL).await {
        return;
    }
    let (folder, elsewhere) = (folder(), folder());
    let file = elsewhere.path().join("authorities.pem");
    fs::write(&file, "of this company\n").unwrap();
    let mut spec = shell(folder.path(), "cat \"$SSL_CERT_FILE\"");
    spec.env.push(("SSL_CERT_FILE".into(), file.into()));
    assert_eq!(run(&spec).await.stdout.text(), "of this company\n");
}

#[tokio::test]
async fn of_a_tool_in_a_home_its_programs_are_seen_and_its_keys_are_not() {
    if LEVEL == Level::L0 || !is_offered(LEVEL).await {
        return;
    }
    let (folder, home) = (folder(), std::env::var_os("HOME").unwrap());
    let tool = tempfile::tempdir_in(home).unwrap();
    for (name, file) in [("bin", "bin/tool"), ("lib", "lib/part"), ("keys", "keys/key"), ("bin", "config.toml")] {
        fs::create_dir_all(tool.path().join(name)).unwrap();
        fs::write(tool.path().join(file), format!("{file}\n")).unwrap();
    }
    let mut spec = shell(folder.path(), "cd \"$TOOL\" && cat bin/tool lib/part keys/key config.toml");
    let bin = tool.path().join("bin");
    let path = std::env::split_paths(&spec.env[0].1).chain([bin]).collect::<Vec<_>>();
    spec.env = vec![("PATH".into(), std::env::join_paths(path).unwrap()), ("TOOL".into(), tool.path().into())];
    assert_eq!(run(&spec).await.stdout.text(), "bin/tool\nlib/part\n");
}

#[tokio::test]
async fn what_cannot_start_is_typed() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let start = async |program: &str| {
        let mut spec = shell(folder.path(), "");
        spec.program = program.into();
        sandbox().run(&spec, &CancellationToken::new()).await.unwrap_err()
    };
    assert_eq!(
        start("no-such-program-here").await,
        StartError::NotFound("no-such-program-here".to_owned())
    );
    assert_eq!(start("./nothing").await, StartError::NotFound("./nothing".to_owned()));
    fs::write(folder.path().join("plain"), "text").unwrap();
    assert_eq!(start("./plain").await, StartError::NotExecutable("./plain".to_owned()));
    let mut spec = shell(folder.path(), "");
    spec.cwd = folder.path().join("missing");
    let refused = sandbox().run(&spec, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(refused, StartError::NoFolder(_)));
}

#[tokio::test]
async fn a_grandchild_in_its_own_session_dies_at_the_deadline() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let script = "(setsid sh -c 'trap \"\" TERM; echo up > started; while :; do sleep 9; done' &) ; sleep 900";
    let mut spec = marked(shell(folder.path(), script), &mark("m-deadline"));
    // On a busy machine the grandchild may start only after the first deadline.
    for seconds in [1, 10, 100] {
        spec.deadline = Duration::from_secs(seconds);
        assert_eq!(run(&spec).await.exit, Exit::TimedOut);
        assert_eq!(alive(&mark("m-deadline")), Vec::<String>::new());
        if folder.path().join("started").exists() {
            return;
        }
    }
    panic!("the grandchild never ran");
}

#[tokio::test]
async fn what_a_program_leaves_behind_dies_with_its_own_end() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let script = "setsid sh -c 'echo started > up; sleep 900' & while [ ! -s up ]; do :; done; echo done";
    let finished = run(&marked(shell(folder.path(), script), &mark("m-leftover"))).await;
    assert_eq!(
        (finished.exit, finished.stdout.text().as_str()),
        (Exit::Exited(0), "done\n")
    );
    assert!(
        finished.duration < Duration::from_secs(300),
        "the held output delayed the end"
    );
    assert_eq!(alive(&mark("m-leftover")), Vec::<String>::new());
}

#[tokio::test]
async fn cancelling_ends_the_program() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let spec = marked(shell(folder.path(), "sleep 900"), &mark("m-cancel"));
    let finished = sandbox().run(&spec, &cancel).await.unwrap();
    assert_eq!(finished.exit, Exit::Cancelled);
    assert_eq!(alive(&mark("m-cancel")), Vec::<String>::new());
}

#[tokio::test]
async fn silence_ends_the_program_and_output_does_not() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = shell(folder.path(), "sleep 900");
    spec.idle = Some(Duration::from_millis(300));
    assert_eq!(run(&spec).await.exit, Exit::Idle);
    let mut spec = shell(folder.path(), "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done");
    spec.idle = Some(Duration::from_secs(300));
    assert_eq!(run(&spec).await.exit, Exit::Exited(0));
}

#[tokio::test]
async fn a_gigabyte_of_output_is_shortened_in_the_middle() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = shell(folder.path(), "echo first; head -c 1073741824 /dev/zero; echo last");
    spec.stdout = OutputCap {
        head: 1_000,
        tail: 1_000,
        stop_after: None,
    };
    let finished = run(&spec).await;
    assert_eq!(finished.exit, Exit::Exited(0));
    assert_eq!(finished.stdout.total(), 1_073_741_824 + 11);
    assert_eq!((finished.stdout.head.len(), finished.stdout.tail.len()), (1_000, 1_000));
    assert!(finished.stdout.head.starts_with(b"first\n") && finished.stdout.end().ends_with(b"last\n"));
}

#[tokio::test]
async fn endless_output_stops_at_the_hard_cap_or_at_the_deadline() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = marked(shell(folder.path(), "yes"), &mark("m-endless"));
    spec.stdout.stop_after = Some(1 << 20);
    assert_eq!(run(&spec).await.exit, Exit::TooMuchOutput);
    spec.stdout.stop_after = None;
    spec.deadline = Duration::from_millis(300);
    assert_eq!(run(&spec).await.exit, Exit::TimedOut);
    assert_eq!(alive(&mark("m-endless")), Vec::<String>::new());
}

#[tokio::test]
async fn input_that_nobody_reads_holds_nobody_up() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = shell(folder.path(), "exit 0");
    spec.stdin = vec![b'x'; 8 << 20];
    assert_eq!(run(&spec).await.exit, Exit::Exited(0));
    let mut spec = shell(folder.path(), "wc -c");
    spec.stdin = vec![b'x'; 8 << 20];
    assert_eq!(run(&spec).await.stdout.text().trim(), (8 << 20).to_string());
}

#[tokio::test]
async fn a_program_that_kills_its_launcher_does_not_survive_it() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let length = format!("901.25{}{}", u8::from(LEVEL), std::process::id());
    let script = format!(
        "env -i PATH=$PATH setsid sh -c 'sleep {length}' & setsid sleep 900 & kill -9 $PPID || exit 3; sleep 900"
    );
    let finished = run(&marked(shell(folder.path(), &script), &mark("m-escape"))).await;
    // With isolation, a program cannot even try.
    let expected = if LEVEL == Level::L0 { Exit::Escaped } else { Exit::Exited(3) };
    assert_eq!(finished.exit, expected);
    assert_eq!(alive(&mark("m-escape")), Vec::<String>::new());
    assert_eq!(commands_with(&length), Vec::<String>::new());
}

#[tokio::test]
async fn dropping_the_run_ends_the_program() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let spec = marked(
        shell(folder.path(), "mkfifo held; echo up > started; cat held"),
        &mark("m-dropped"),
    );
    let task = tokio::spawn(async move { sandbox().run(&spec, &CancellationToken::new()).await });
    until(|| folder.path().join("started").exists()).await;
    assert!(!alive(&mark("m-dropped")).is_empty());
    task.abort();
    until(|| alive(&mark("m-dropped")).is_empty()).await;
}

/// The program runs in its own service, which is then killed: its end of the lifeline closes with it.
#[tokio::test]
async fn everything_dies_when_the_service_is_killed() {
    if !is_offered(LEVEL).await {
        return;
    }
    use std::io::Write;
    let folder = folder();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let launcher = std::process::Command::new(LAUNCHER)
        .arg("sandbox-exec")
        .env_clear()
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .spawn();
    let mut launcher = launcher.unwrap();
    let text = |text: &str| OsString::from(text);
    let script = "setsid sh -c 'trap \"\" TERM; echo up > started; while :; do sleep 9; done' & sleep 900";
    let order = serde_json::json!({
        "program": text("/bin/sh"), "args": [text("-c"), text(script)],
        "cwd": text(folder.path().to_str().unwrap()), "stdin_length": 0, "grace_ms": 50,
        "confinement": confinement(LEVEL, folder.path()), "env": [[text("PATH"), text("/usr/bin:/bin")], [text("SANDBOX_TEST_MARK"), text(&mark("m-service"))]],
    });
    let json = serde_json::to_vec(&order).unwrap();
    let frame = [&u32::try_from(json.len()).unwrap().to_be_bytes()[..], &json].concat();
    (&ours).write_all(&frame).unwrap();
    until(|| folder.path().join("started").exists() || launcher.try_wait().unwrap().is_some()).await;
    assert!(alive(&mark("m-service")).len() >= 2);
    drop(ours);
    let ended = tokio::task::spawn_blocking(move || launcher.wait());
    assert!(ended.await.unwrap().unwrap().success());
    assert_eq!(alive(&mark("m-service")), Vec::<String>::new());
}

#[tokio::test]
async fn no_handle_no_terminal_and_no_new_rights_reach_the_program() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let script = "ls /proc/self/fd | tr '\\n' ' '; grep NoNewPrivs /proc/self/status; ulimit -c; (: > /dev/tty) 2>/dev/null || echo no tty";
    // A duplicate stays open over exec, as a handle that our own parent left open would.
    let leaked = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let text = run(&shell(folder.path(), script)).await.stdout.text();
    drop(leaked);
    assert_eq!(text, "0 1 2 3 NoNewPrivs:\t1\n0\nno tty\n", "3 is the listing's own");
}

#[tokio::test]
async fn whoever_doubles_itself_is_stopped_before_it_fills_the_machine() {
    if LEVEL == Level::L0 || !is_offered(LEVEL).await {
        return;
    }
    let limits = Limits {
        processes: 200,
        ..Limits::default()
    };
    let options = SandboxOptions {
        limits,
        ..SandboxOptions::with_launcher(LAUNCHER)
    };
    let folder = folder();
    // It ends by itself after ten doublings, so that the machine survives even if nothing stops it.
    let bomb = "grows() { [ $1 = 0 ] && exec sleep 900; grows $(($1 - 1)) | grows $(($1 - 1)) & }; grows 10; sleep 900";
    let spec = marked(shell(folder.path(), bomb), &mark("m-grows"));
    let finished = Sandbox::at(options, LEVEL).run(&spec, &CancellationToken::new()).await.unwrap();
    // The user `nobody` reaches the limit of the system itself, which only refuses.
    let refused = finished.stderr.text().to_lowercase().contains("fork");
    assert!(finished.exit == Exit::OverLimit(Limit::Processes(200)) || refused, "{:?}", finished.exit);
    assert_eq!(alive(&mark("m-grows")), Vec::<String>::new());
}

#[tokio::test]
async fn what_no_folder_shows_counts_too() {
    // Without isolation there is no limit.
    if LEVEL == Level::L0 || !is_offered(LEVEL).await {
        return;
    }
    let limits = Limits {
        memory: 96 << 20,
        disk: 16 << 20,
        ..Limits::default()
    };
    let options = SandboxOptions {
        limits,
        ..SandboxOptions::with_launcher(LAUNCHER)
    };
    let in_memory = "import os, time; f = os.memfd_create('m'); [os.write(f, b'x' * (1 << 20)) for _ in range(200)]; time.sleep(900)";
    for (script, limit) in [
        ("exec 3> deleted; rm deleted; head -c 32M /dev/zero >&3; sleep 900", Limit::Disk(limits.disk)),
        ("seq 8000 | xargs touch; sleep 900", Limit::Disk(limits.disk)),
        (&*format!("python3 -c \"{in_memory}\""), Limit::Memory(limits.memory)),
    ] {
        let folder = folder();
        let sandbox = Sandbox::at(options.clone(), LEVEL);
        let finished = sandbox.run(&shell(folder.path(), script), &CancellationToken::new()).await;
        assert_eq!(finished.unwrap().exit, Exit::OverLimit(limit), "{script}");
    }
}

#[tokio::test]
async fn where_the_kernel_holds_the_limits_memory_counts_that_no_process_has() {
    // Without isolation there is no limit.
    if LEVEL == Level::L0 || !is_offered(LEVEL).await {
        return;
    }
    let limits = Limits {
        memory: 96 << 20,
        ..Limits::default()
    };
    let options = SandboxOptions {
        limits,
        ..SandboxOptions::with_launcher(LAUNCHER)
    };
    let exactly = Bounds {
        least: LEVEL,
        most: LEVEL,
    };
    let sandbox = Sandbox::probe(options, exactly).await.unwrap();
    if let LimitKeeper::Launcher(reason) = sandbox.limits_held_by() {
        eprintln!("{LEVEL}: limits are held by the launcher: {reason}");
        return;
    }
    let on_its_way = "import os, socket, time; a, b = socket.socketpair()\n\
                      for _ in range(200):\n  f = os.memfd_create('m'); os.write(f, b'x' * (1 << 20)); \
                      socket.send_fds(a, [b'x'], [f]); os.close(f)\n\
                      time.sleep(900)";
    let folder = folder();
    let mut spec = shell(folder.path(), "");
    spec.program = "python3".into();
    spec.args = ["-c", on_its_way].map(OsString::from).to_vec();
    let finished = sandbox.run(&spec, &CancellationToken::new()).await.unwrap();
    assert_eq!(finished.exit, Exit::OverLimit(Limit::Memory(limits.memory)), "{finished:?}");
}

#[tokio::test]
async fn arguments_pass_through_unchanged() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let odd = ["a b", "'", "-x", "", "\n", "$HOME"].map(OsString::from);
    let mut spec = shell(folder.path(), "");
    spec.program = "printf".into();
    spec.args = [OsString::from("[%s]")].into_iter().chain(odd).collect();
    assert_eq!(run(&spec).await.stdout.text(), "[a b]['][-x][][\n][$HOME]");
}

#[tokio::test]
async fn a_listener_hears_output_while_the_program_runs_and_can_answer_it() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = shell(
        folder.path(),
        "read first; echo got $first; read second; echo got $second; cat; echo end",
    );
    spec.stdin = b"one\n".to_vec();
    let (live, mut talk) = Live::with_input();
    let input = talk.input.take().unwrap();
    let talking = async {
        let mut output = Vec::new();
        while let Some(piece) = talk.output.recv().await {
            output.extend(piece);
            if output.ends_with(b"got one\n") {
                input.send(b"two\n".to_vec()).await.unwrap();
            }
            if output.ends_with(b"got two\n") {
                // The rest arrives before its input ends.
                input.send(vec![b'x'; 300_000]).await.unwrap();
                break;
            }
        }
        drop(input);
        while let Some(piece) = talk.output.recv().await {
            output.extend(piece);
        }
        output
    };
    let (sandbox, cancel) = (sandbox(), CancellationToken::new());
    let (finished, output) = tokio::join!(sandbox.run_live(&spec, live, &cancel), talking);
    assert_eq!(finished.unwrap().exit, Exit::Exited(0));
    let expected = format!("got one\ngot two\n{}end\n", "x".repeat(300_000));
    assert!(output == expected.into_bytes(), "{} bytes", output.len());
}

#[tokio::test]
async fn a_program_that_reads_nothing_is_stopped_in_the_middle_of_its_input() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let mut spec = marked(shell(folder.path(), "trap '' TERM; sleep 600 & wait"), &mark("deaf"));
    spec.deadline = Duration::from_millis(300);
    let (live, talk) = Live::with_input();
    let input = talk.input.clone().unwrap();
    let pouring = async {
        while input.send(vec![b'x'; 1 << 20]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (sandbox, cancel) = (sandbox(), CancellationToken::new());
    let (finished, ()) = tokio::join!(sandbox.run_live(&spec, live, &cancel), pouring);
    assert_eq!(finished.unwrap().exit, Exit::TimedOut);
    assert_eq!(alive(&mark("deaf")), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_only_waits_for_a_refused_host_is_ended() {
    if !is_offered(LEVEL).await {
        return;
    }
    let folder = folder();
    let rules = Rules::hosts(["fine.example".parse().unwrap()]);
    let door = Door::open(rules, folder.path()).await.unwrap();
    let mut spec = shell(folder.path(), "curl -s https://refused.example; sleep 300");
    spec.env.extend(door.environment(LEVEL, folder.path()));
    spec.confine.door = Some(Arc::new(door));
    spec.refused = Some(Duration::from_millis(300));
    assert_eq!(run(&spec).await.exit, Exit::HostRefused);
    let refused = spec.confine.door.unwrap().refused_hosts();
    let expected = RefusedHost {
        host: "refused.example".to_owned(),
        why: HostRefusal::AboveCeiling,
    };
    assert_eq!(refused, [expected]);
}
