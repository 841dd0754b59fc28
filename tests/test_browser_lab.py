"""`python -m tools.lab` in a real browser: lesson 00 the first time, later what was open, with the course's settings."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from browser import FLAGS, POLLING, READY

from tools import lab

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[1]
DEADLINE = 120  # seconds, for whatever a busy machine has to do
CURRENT = "() => window.jupyterapp?.shell?.currentWidget?.context?.path ?? ''"


class Lab:
    """JupyterLab as tools.lab starts it in a folder, with nobody else's settings."""

    def __init__(self, root, private):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.token = secrets.token_hex(8)
        more = ["--no-browser", f"--ServerApp.port={self.port}", "--ServerApp.port_retries=0",
                f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True"]  # fmt: skip
        folders = {f"JUPYTER_{name}": str(private / name) for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")}
        folders |= {"JUPYTERLAB_SETTINGS_DIR": str(private / "settings"), "PYTHONPATH": str(ROOT)}
        self.log = open(private / "log", "ab")  # noqa: SIM115 (closed with the process)
        self.process = subprocess.Popen(
            lab.arguments(root, more), cwd=root, env=os.environ | folders, stdout=self.log, stderr=self.log
        )
        end = time.monotonic() + DEADLINE
        while True:
            try:
                urllib.request.urlopen(self.url("api"), timeout=2).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, (private / "log").read_text()[-2000:]
                time.sleep(0.3)

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}"

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


@pytest.fixture
def page(browser_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        yield browser.new_page()
        browser.close()


def opened(page, path):
    """Wait until a lesson is the one in front, and has its kernel: a server that is ended before hangs."""
    page.wait_for_function(
        f"path => ({CURRENT})() === path", arg=path, timeout=DEADLINE * 1000, polling=POLLING
    )
    page.evaluate(READY)


def test_course_opens_at_lesson_00_and_then_where_the_learner_was(page, tmp_path):
    root = tmp_path / 'the "course"'
    (root / "tools").mkdir(parents=True)
    shutil.copytree(ROOT / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints", "*.mine-*"))
    shutil.copytree(ROOT / "tools" / "jupyterlab", root / "tools" / "jupyterlab")
    (tmp_path / "private").mkdir()
    server = Lab(root, tmp_path / "private")
    try:
        page.goto(server.url())
        opened(page, "notebooks/00_start_here.ipynb")
        page.wait_for_selector(".jp-Notebook .cm-lineNumbers", timeout=DEADLINE * 1000)
        width = "getComputedStyle(document.querySelector('.jp-MarkdownCell .jp-MarkdownOutput')).maxWidth"
        assert page.evaluate(width) == "700px"  # 50 times the size of the text, however wide the window
        second = "notebooks/02_numpy_attention.ipynb"
        page.evaluate("path => window.jupyterapp.commands.execute('docmanager:open', {path})", second)
        opened(page, second)
        end = time.monotonic() + DEADLINE
        saved = root / ".jupyterlab" / "workspaces"
        while not any(_current_of(file) == second for file in saved.glob("*.jupyterlab-workspace")):
            assert time.monotonic() < end, "what is open is not remembered"
            page.wait_for_timeout(200)
    finally:
        server.stop()
    server = Lab(root, tmp_path / "private")
    try:
        page.goto(server.url())
        opened(page, second)
    finally:
        server.stop()


def _current_of(workspace):
    """The path of the document in front, as a workspace file remembers it."""
    try:
        layout = json.loads(workspace.read_text(encoding="utf-8"))["data"]["layout-restorer:data"]
    except (ValueError, KeyError):
        return ""
    return layout.get("main", {}).get("current", "").partition(":")[2]
