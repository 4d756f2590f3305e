"""The walls, seen from inside: one candidate behind each level tries everything and prints what it reached."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.suites import find
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.executor.walls import isolation, witness
from tools.executor.walls.isolation import Walls
from tools.settings import Settings

ROOT = Path(__file__).parents[4]
SETTINGS = Settings(device="simulated", import_s=10.0)
TAIL = "\ndef softmax(input, dim, dtype=None):\n    return input\n"
ORPHAN = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["kernelwright-orphan", "60"])
    os._exit(0)
"""
PROBE = """
import ctypes, json, os, resource, signal, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
reached = []
for name, code in ACTIONS.items():
    try:
        exec(code)
        reached.append(name)
    except (OSError, ValueError):
        pass
print(json.dumps(reached))
"""
ACTIONS = {
    "the judge's memory": "open('/proc/{judge}/mem', 'rb')",
    "the judge's environment": "open('/proc/{judge}/environ', 'rb').read()",
    "the zygote's memory": "open('/proc/{zygote}/mem', 'rb')",
    "the judge's limits": "resource.prlimit({judge}, resource.RLIMIT_CPU, (1, 1))",
    "the judge's priority": "os.setpriority(os.PRIO_PROCESS, {judge}, 19)",
    "the judge by a signal": "os.kill({judge}, 0)",
    "the judge by ptrace": "call('ptrace', 16, {judge}, None, None)",
    "the parent by a signal": "os.kill(os.getppid() or 999999, 0)",
    "the parent by ptrace": "call('ptrace', 16, os.getppid() or 999999, None, None)",
    "the reference": "open('{root}/benchmark/suites/__init__.py').read()",
    "the tests": "os.listdir('{root}/tests')",
    "the harness": "open('{root}/tools/executor/judge/judge.py').read()",
    "the working directory": "os.listdir('{here}')",
    "a home": "os.listdir('{home}')",
    "a file outside": "open('{file}').read()",
    "a file outside, to write": "open('{file}', 'a')",
    "a new file outside": "open('{file}.new', 'w')",
    "the mode of a file outside": "os.chmod('{file}', 0o777)",
    "the times of a file outside": "os.utime('{file}', (1, 1))",
    "tcp": "socket.create_connection(('127.0.0.1', {tcp}), timeout=2)",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))",
    "a socket in the file system": "socket.socket(socket.AF_UNIX).connect('{unix}')",
    "a socket by a datagram": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '{datagrams}')",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect('{abstract}')",
    "a new user namespace": "call('unshare', 0x10000000)",
    "a new mount namespace": "call('unshare', 0x20000)",
    "a mount": "call('mount', b'none', b'/dev/shm', b'tmpfs', 0, None)",
    "the core pattern": "open('/proc/sys/kernel/core_pattern', 'w')",
    "a kernel setting": "open('/sys/kernel/mm/transparent_hugepage/enabled', 'w')",
    "a cgroup": "os.mkdir('/sys/fs/cgroup/kernelwright')",
    "a keyring": "call('syscall', 250, 0, -3, 1)",
    "memory without a path": "os.memfd_create('x')",
    "a shared memory segment": "call('shmget', 0, 4096, 0o1600)",
    "a message queue": "call('mq_open', b'/kernelwright', os.O_CREAT, 0o600, None)",
    "a higher limit": "resource.setrlimit(resource.RLIMIT_NPROC, (1 << 20, 1 << 20))",
    "life without the keeper": "call('prctl', 1, 0, 0, 0, 0)",
    "root": "os.setuid(0)",
    "a raw device": "os.open('/dev/mem', os.O_RDONLY)",
    "a set-uid copy": "os.mknod('node', 0o20666, os.makedev(1, 1))",
}


class Behind:
    """The executor at one level, with things of the host that the candidate is to try for."""

    def __init__(self, level: str, executor: LocalExecutor):
        self.level = level
        self.executor = executor

    def evaluate(self, source: str) -> Evaluation:
        return asyncio.run(self.executor.evaluate(source + TAIL, find("quick/softmax"), replace(SETTINGS, sandbox=self.level)))


@pytest.fixture(scope="module", params=["full", "landlock"])
def behind(request: pytest.FixtureRequest, executor: LocalExecutor) -> Behind:
    found = Behind(request.param, executor)
    assert found.evaluate("x = 1").isolation["level"] == request.param
    return found


@pytest.fixture(scope="module")
def reached(behind: Behind, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    worker = behind.executor.workers[0]
    assert worker.judge is not None
    assert worker.zygote is not None
    file = tmp_path_factory.mktemp("outside") / "file"
    file.write_text("secret")
    for open_to_all in (file, *file.parents[:3]):
        if open_to_all.owner() == Path.home().owner() and open_to_all != Path("/tmp"):
            open_to_all.chmod(0o777)
    abstract = f"\\0kernelwright-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as hidden,
    ):
        udp.bind(("127.0.0.1", 0))
        for server, name in ((unix, "socket"), (datagrams, "datagrams")):
            server.bind(str(file.with_name(name)))
            file.with_name(name).chmod(0o777)
        hidden.bind(abstract.replace("\\0", "\0"))
        for server in (unix, hidden):
            server.listen()
        places = {
            "judge": worker.judge.process.pid, "zygote": worker.zygote.process.pid, "root": ROOT, "here": Path.cwd(), "home": Path.home(),
            "file": file, "tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "unix": file.with_name("socket"),
            "datagrams": file.with_name("datagrams"), "abstract": abstract,
        }  # fmt: skip
        actions = {name: code.format(**places) for name, code in ACTIONS.items()}
        found = behind.evaluate(f"ACTIONS = {actions!r}\n{PROBE}")
    assert found.verdict == "wrong_numeric", found.error
    return json.loads(found.logs["stdout"])


@pytest.mark.parametrize("name", ACTIONS)
def test_a_candidate_does_not_reach(reached: list[str], name: str) -> None:
    assert name not in reached


def test_a_candidate_has_no_capability_no_way_to_more_and_a_filter(behind: Behind) -> None:
    found = behind.evaluate("print(open('/proc/self/status').read())")
    status = dict(line.split(":\t") for line in found.logs["stdout"].splitlines() if ":\t" in line)
    assert int(status["CapEff"], 16) & ~4 == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert "0" not in status["Uid"].split()


def test_a_candidate_inherits_its_streams_its_line_and_its_memory_alone(behind: Behind) -> None:
    code = "import os\nfor fd in os.listdir('/proc/self/fd'):\n    try:\n        print(os.readlink(f'/proc/self/fd/{fd}'))\n"
    found = behind.evaluate(code + "    except OSError:\n        pass")
    links = found.logs["stdout"].split("\n")[:-1]
    assert [link for link in links if not link.startswith(("/dev/null", "pipe:", "socket:", "/memfd:kernelwright", "/proc/"))] == []
    assert sum(link.startswith("socket:") for link in links) == 1


def test_descriptors_that_a_candidate_sends_are_not_taken(behind: Behind) -> None:
    code = """
import os, socket
for fd in range(3, 20):
    try:
        line = socket.socket(fileno=os.dup(fd))
        for _ in range(50):
            socket.send_fds(line, [b'{"notice": "run"}'], [0] * 8)
    except OSError:
        pass
"""
    before = len(list(Path("/proc/self/fd").iterdir()))
    behind.evaluate(code)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_the_size_of_shared_memory_is_fixed(behind: Behind) -> None:
    code = """
import os
for fd in range(3, 40):
    try:
        os.ftruncate(fd, 4096)
    except OSError:
        continue
    print("cut", fd)
"""
    assert "cut" not in behind.evaluate(code).logs["stdout"]


def test_a_child_in_a_session_of_its_own_ends_with_the_sandbox(behind: Behind) -> None:
    assert behind.evaluate(ORPHAN).verdict == "wrong_numeric"
    running = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout
    assert "kernelwright-orphan" not in running


def test_own_directory_is_writable_and_private(behind: Behind) -> None:
    code = "import os\nopen('note', 'x').write('x'); open(os.environ['TMPDIR'] + '/note', 'x').write('x')"
    for _ in range(2):
        assert behind.evaluate(code).verdict == "wrong_numeric"


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_each_level_denies_what_it_must(level: str) -> None:
    _, tried = witness.strongest(level, [])
    found = tried[level]
    assert isinstance(found, dict), found
    assert all(found.values()), found


@pytest.mark.skipif(os.getuid() != 0, reason="only root has a uid to give up")
def test_root_that_keeps_its_uid_could_fork_without_end() -> None:
    found = witness.probe(Walls("full"))
    assert isinstance(found, dict)
    assert not found["fork bomb"]


def test_no_walls_are_seen_to_deny_nothing() -> None:
    found = witness.probe(Walls("process"))
    assert isinstance(found, dict)
    assert not any(found[name] for name in ("write outside", "read outside", "read our packages", "signal outside", "tcp", "udp"))


def test_process_level_is_never_chosen_by_itself() -> None:
    walls, tried = witness.strongest("auto", [])
    assert walls is None or walls.level != "process"
    assert "process" not in tried


def test_level_layers_and_denials_are_in_the_evaluation(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate("x = 1").isolation
    assert found["level"] in isolation.LEVELS[:2]
    assert {"seccomp", "resource limits"} <= set(found["layers"])
    assert {"tcp", "udp", "write outside", "read outside", "fork bomb", "orphan"} <= set(found["denied"])


def test_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch, evaluate: Callable[..., Evaluation], executor: LocalExecutor) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    executor.workers[0].stop_peers()
    found = evaluate("import os\nprint(sorted(os.environ), open('/proc/self/environ').read())" + TAIL)
    assert "PATH" in found.logs["stdout"]
    assert "KEY" not in found.logs["stdout"]
    assert "secret" not in found.logs["stdout"]


def test_process_level_works_and_leaves_no_survivor(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(ORPHAN + TAIL, settings=replace(SETTINGS, sandbox="process"))
    assert (found.isolation["level"], found.verdict) == ("process", "wrong_numeric")
    assert "kernelwright-orphan" not in subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(os.getuid() != 0, reason="this is an ordinary user")
@pytest.mark.parametrize("level", ["full", "landlock"])
def test_an_ordinary_user_has_the_same_walls(level: str) -> None:
    code = f"from tools.executor.walls import witness; import json; print(json.dumps(witness.strongest({level!r}, [])[1]))"
    command = [sys.executable, "-m", "tests.tools.executor.ordinary", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    found = json.loads(done.stdout)[level]
    assert isinstance(found, dict), found
    assert all(found.values()), found
