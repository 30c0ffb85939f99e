"""With the embedded model the app asks nothing of other hosts: not for weights, not for a tokenizer, not for news."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gradio_client import Client

ROOT = Path(__file__).resolve().parent.parent
TINY = ROOT / "assets" / "clover-tiny"
APP = """
import json, socket

asked, here = [], {"127.0.0.1", "localhost", "::1", "0.0.0.0"}
look_up, connect = socket.getaddrinfo, socket.socket.connect

def refuse(host):
    if isinstance(host, bytes):
        host = host.decode()
    if host not in here:
        asked.append(host)
        raise OSError(f"no network: {host}")

def looking_up(host, *more, **named):
    refuse(host)
    return look_up(host, *more, **named)

def connecting(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        refuse(address[0])
    return connect(self, address)

socket.getaddrinfo, socket.socket.connect = looking_up, connecting
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError:
    pass
assert asked == ["192.0.2.1"], "the guard must hear of this one"
asked.clear()

import gradio
launch, pages = gradio.Blocks.launch, []
gradio.Blocks.launch = lambda self, **given: pages.append(launch(self, prevent_thread_lock=True, **given)[1])

import app
app.main([])

print(pages[0], flush=True)
input()
print(json.dumps(asked), flush=True)
import os
os._exit(0)
"""


@pytest.mark.skipif(not (TINY / "model.safetensors").is_file(), reason="assets/clover-tiny is not there")
def test_the_app_starts_and_answers_without_a_network(tmp_path):
    taken = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "GRADIO_ANALYTICS_ENABLED")
    env = {k: v for k, v in os.environ.items() if k not in taken and not k.startswith(("CLOVER_", "GRADIO_SERVER"))}
    env |= {"HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "NO_PROXY": "*", "OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", APP], cwd=tmp_path, env=env, **pipes) as running:
        try:
            address = next(line for line in running.stdout if line.startswith("http"))
            *_, last = Client(address.strip(), verbose=False).submit("hi", max_new_tokens=2, api_name="/generate")
            said, _ = running.communicate("over\n", timeout=60)
        finally:
            running.kill()
    assert json.loads(last)["event"] == "run_finished" and json.loads(last)["tokens"] == 2
    assert json.loads(said.splitlines()[-1]) == []
