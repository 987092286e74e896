//! At L1 a program shares the machine's list of processes with the service: it may set its own limits, priority and
//! processors, but not those of others. Programs of all kinds run under this rule.

use crate::{folder, is_offered, sandbox};
use domain::isolation::Level;
use sandbox::{Exit, Finished, Spec};
use std::{fs, path::Path, process::Command};
use tokio_util::sync::CancellationToken;

/// Makes each call for the parent, which is the launcher that watches the limits, and then for itself; prints the
/// results.
const STEER: &str = r#"
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"
parent, size = os.getppid(), 48
same = (ctypes.c_uint64 * 2)()
processors = (ctypes.c_ubyte * 128)(*[255] * 128)
parameter = ctypes.c_int(0)
attributes = (ctypes.c_uint32 * 12)(size, 0, 0, 0, 19)
def call(numbers, *arguments):
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(numbers[arm]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return "done" if done >= 0 else errno.errorcode[ctypes.get_errno()]
limit = (302, 261)
assert call(limit, os.getpid(), 12, 0, same) == "done", "reading stays"
calls = {
    "prlimit64": lambda who: call(limit, who, 12, same, 0),
    "sched_setaffinity": lambda who: call((203, 122), who, 128, processors),
    "sched_setscheduler": lambda who: call((144, 119), who, 0, ctypes.byref(parameter)),
    "sched_setparam": lambda who: call((142, 118), who, ctypes.byref(parameter)),
    "sched_setattr": lambda who: call((314, 274), who, attributes, 0),
    "setpriority": lambda who: call((141, 140), 0, who, 19),
    "ioprio_set": lambda who: call((251, 30), 1, who, 0),
    "migrate_pages": lambda who: call((256, 238), who, 0, 0, 0),
    "move_pages": lambda who: call((279, 239), who, 0, 0, 0, 0, 0),
}
for name, act in calls.items():
    print(name, act(parent), act(0))
print("setpriority-of-all", call((141, 140), 2, 0, -20), "")
print("ioprio_set-of-all", call((251, 30), 3, 0, 0), "")
print("readers", call((204, 123), parent, 128, processors), call((140, 141), 0, parent))
print("pidfd_open", call((434, 434), parent, 0), "")
print("hiding", call((157, 167), 4, 0, 0, 0, 0), call((157, 167), 3, 0, 0, 0, 0), libc.prctl(3, 0, 0, 0, 0))
"#;

async fn ran(folder: &Path, program: &str, args: &[&str]) -> Finished {
    let mut spec = Spec::new(program, folder).args(args);
    let path = std::env::var_os("PATH").unwrap_or_default();
    spec.env = vec![("PATH".into(), path), ("HOME".into(), folder.into()), ("TMPDIR".into(), folder.into())];
    spec.confine.write = vec![folder.to_path_buf()];
    sandbox(Level::L1).run(&spec, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_program_steers_itself_and_nobody_else() {
    if !is_offered(Level::L1).await {
        return;
    }
    let folder = folder();
    let finished = ran(folder.path(), "python3", &["-c", STEER]).await;
    let said = finished.stdout.text();
    assert_eq!(finished.exit, Exit::Exited(0), "{said}{}", finished.stderr.text());
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "readers" => assert_eq!(words[1..], ["done", "done"], "{said}"),
            "pidfd_open" => assert_eq!(words[1], "done", "{said}"),
            "hiding" => assert_eq!(words[1..], ["done", "done", "1"], "told that it hides, and seen: {said}"),
            "setpriority-of-all" | "ioprio_set-of-all" => assert_eq!(words[1], "EPERM", "{said}"),
            name => assert!(words[1] == "EPERM" && words[2] != "EPERM", "{name}: {said}"),
        }
    }
    assert_eq!(said.lines().count(), 14, "{said}");
}

/// A kind of program: its command, the files of its folder, and its output.
struct Kind {
    name: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    file: (&'static str, &'static str),
    says: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "a JVM",
        program: "java",
        args: &["Many.java"],
        file: (
            "Many.java",
            "public class Many { public static void main(String[] a) throws Exception { var t = new Thread(() -> \
             System.out.println(\"threads run\")); t.setPriority(Thread.MAX_PRIORITY); t.start(); t.join(); \
             System.out.println(new ProcessBuilder(\"echo\", \"x\").start().waitFor()); } }",
        ),
        says: "threads run\n0\n",
    },
    Kind { name: "Go", program: "go", args: &["env", "GOOS"], file: ("none", ""), says: "linux\n" },
    Kind {
        name: "Node",
        program: "node",
        args: &["many.js"],
        file: (
            "many.js",
            "const w = require('worker_threads'); const p = require('child_process'); if (w.isMainThread) { \
             new w.Worker(__filename).on('exit', () => console.log(p.execFileSync('echo', ['x']).toString().trim(), \
             require('os').setPriority(10) === undefined)); }",
        ),
        says: "x true\n",
    },
    Kind {
        name: "asyncio",
        program: "python3",
        args: &["many.py"],
        file: (
            "many.py",
            "import asyncio\nasync def main():\n  made = await asyncio.gather(*[asyncio.create_subprocess_exec('true') \
             for _ in range(4)])\n  print([await one.wait() for one in made], await asyncio.to_thread(sum, [1, 2]))\n\
             asyncio.run(main())\n",
        ),
        says: "[0, 0, 0, 0] 3\n",
    },
    Kind {
        name: "OpenMP",
        program: "sh",
        args: &["-c", "gcc -fopenmp many.c -o many && OMP_NUM_THREADS=4 ./many"],
        file: (
            "many.c",
            "#include <omp.h>\n#include <stdio.h>\nint main(void) { int all = 0;\n#pragma omp parallel for reduction(+:all)\n\
             for (int i = 0; i < 100; i++) all += i;\nprintf(\"%d\\n\", all); return 0; }\n",
        ),
        says: "4950\n",
    },
    Kind {
        name: "what lowers itself",
        program: "sh",
        args: &["-c", "nice -n 10 taskset -c 0 sh -c 'ulimit -n 100; ulimit -n'"],
        file: ("none", ""),
        says: "100\n",
    },
];

#[tokio::test]
async fn programs_of_all_kinds_run_where_nobody_else_is_steered() {
    if !is_offered(Level::L1).await {
        return;
    }
    for kind in KINDS {
        let folder = folder();
        fs::write(folder.path().join(kind.file.0), kind.file.1).unwrap();
        // A program that is missing or does not run here proves nothing.
        let without = Command::new(kind.program).args(kind.args).current_dir(folder.path()).output();
        if !without.is_ok_and(|output| output.status.success()) {
            eprintln!("{} is not here and was not tried", kind.name);
            continue;
        }
        let finished = ran(folder.path(), kind.program, kind.args).await;
        let said = format!("{}: {}{}", kind.name, finished.stdout.text(), finished.stderr.text());
        assert_eq!(finished.exit, Exit::Exited(0), "{said}");
        assert_eq!(finished.stdout.text(), kind.says, "{said}");
    }
}
