"""Drive a real JupyterLab in a headless browser: what the browser tests are written in."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
READY = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.context.ready;
    await panel.sessionContext.ready;
    return true;
}"""
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => ({
    id: cell.model.id, type: cell.model.type, source: cell.model.sharedModel.getSource(),
    count: cell.model.executionCount ?? null, outputs: cell.model.outputs ? cell.model.outputs.toJSON() : []}))"""
COUNT = "i => window.jupyterapp.shell.currentWidget.content.widgets[i].model.executionCount"
INDEX = "id => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(cell => cell.model.id === id)"
# Whatever is open goes without being saved, and the kernels end.
CLOSE = """async () => {
    for (const widget of [...window.jupyterapp.shell.widgets('main')]) widget.dispose();
    await window.jupyterapp.serviceManager.sessions.shutdownAll();
}"""
DEADLINE = 240  # seconds for anything: a busy machine takes its time, and what is broken does not hang for ever
# The kernel answers in order, so once it does, what was sent before is done; its status then says that all is shown.
DONE = """async () => {
    const session = window.jupyterapp.shell.currentWidget.sessionContext.session;
    await session?.kernel?.requestKernelInfo();
    return true;
}"""
POLLING = 100  # milliseconds between two looks; playwright's own way draws the page anew for each
IDLE = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"


class Server:
    """`jupyter lab` over a copy of the course's notebooks, with settings, progress and port of its own."""

    def __init__(self, folder):
        self.course = Path(folder) / "course"
        for name in ("notebooks", "solutions"):
            shutil.copytree(ROOT / name, self.course / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.token = secrets.token_hex(8)
        private = {
            f"JUPYTER_{name}": str(Path(folder) / name.lower()) for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        } | {f"JUPYTERLAB_{name}_DIR": str(Path(folder) / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
        _settings_of_make_lab(Path(private["JUPYTERLAB_SETTINGS_DIR"]))
        progress = {"ATTENTION_COURSE_PROGRESS": str(Path(folder) / "progress.json")}
        self.log = open(Path(folder) / "server.log", "wb")  # noqa: SIM115 (closed in stop)
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",  # not `jupyter lab`, whose script knows where it was installed first
                "--no-browser",
                "--allow-root",
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.port={self.port}",
                "--ServerApp.port_retries=0",
                f"--IdentityProvider.token={self.token}",
                f"--ServerApp.root_dir={self.course}",
                "--LabApp.expose_app_in_browser=True",
            ],  # fmt: skip
            env=os.environ | private | progress,
            stdout=self.log,
            stderr=self.log,
        )
        self._wait()

    def _wait(self):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{self.url('api')}", timeout=10).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.5)
        raise RuntimeError(f"jupyter lab did not start: {Path(self.log.name).read_text(encoding='utf-8')[-2000:]}")

    def url(self, path):
        separator = "&" if "?" in path else "?"
        return f"http://127.0.0.1:{self.port}/{path}{separator}token={self.token}"

    def restore(self, path):
        """Bring a notebook back to what the course holds, whatever a learner saved in it."""
        shutil.copyfile(ROOT / path, self.course / path)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def _settings_of_make_lab(folder):
    """Write the defaults that `make lab` installs as a user's settings."""
    text = (ROOT / "tools" / "jupyterlab" / "overrides.json5").read_text(encoding="utf-8")
    overrides = json.loads("\n".join(line for line in text.splitlines() if not line.strip().startswith("//")))
    for name, settings in overrides.items():
        package, plugin = name.split(":")
        (folder / package).mkdir(parents=True, exist_ok=True)
        (folder / package / f"{plugin}.jupyterlab-settings").write_text(json.dumps(settings), encoding="utf-8")


class Notebook:
    """One notebook open in a browser page, seen and used as a learner would.

    A page that shows JupyterLab already opens it beside what is open there, as a click in the list of files does.
    """

    def __init__(self, page, server, path):
        self.page, self.server = page, server
        self.errors = []
        page.on("pageerror", self._failed)
        server.restore(path)
        if page.url.startswith(server.url("lab").partition("?")[0]):
            self.command("docmanager:open", {"path": path})
        else:
            page.goto(server.url(f"lab/tree/{path}?reset"))
        self.wait_until_ready(path)

    def _failed(self, error):
        self.errors.append(str(error))

    def wait_for(self, condition, arg=None, timeout=DEADLINE):
        """Until a condition, a JavaScript function, holds in the page."""
        self.page.wait_for_function(condition, arg=arg, timeout=timeout * 1000, polling=POLLING)

    def wait_until_ready(self, path):
        self.wait_until_open(path)
        self.wait_for(IDLE)

    def wait_until_open(self, path):
        self.wait_for("path => window.jupyterapp?.shell?.currentWidget?.context?.path === path", path)
        self.page.evaluate(READY)

    def cells(self):
        return self.page.evaluate(CELLS)

    def index(self, id):
        index = self.page.evaluate(INDEX, id)
        assert index >= 0, f"there is no cell {id}"
        return index

    def exercise_cells(self):
        """{exercise number: cell id} of the notebook."""
        found = {}
        for cell in self.cells():
            match = re.search(r'@exercise\("([\d.]+)"\)', cell["source"])
            if match and cell["type"] == "code":
                found[match[1]] = cell["id"]
        return found

    def run_all_through_the_menu(self):
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
        self.wait_until_done()

    def run_up_to(self, id):
        """Run every cell up to one, that one too, as Run All Above Selected Cell does."""
        following = self.cells()[self.index(id) + 1]["id"]
        self.show(following)
        self.command("notebook:run-all-above")
        self.wait_until_done(last=self.index(id))

    def wait_until_done(self, timeout=DEADLINE, last=10**6):
        """Until every code cell, up to the one at index last, has run and the kernel is idle."""
        code = "last => window.jupyterapp.shell.currentWidget.content.widgets.slice(0, last + 1).every(c => c.model.type !== 'code' || c.model.executionCount || !c.model.sharedModel.getSource().trim())"
        self.wait_for(code, last, timeout)
        self.wait_until_idle(timeout)

    def close(self):
        """Leave everything unsaved, end all kernels, and leave the page to the next notebook."""
        self.page.remove_listener("pageerror", self._failed)
        self.page.evaluate(CLOSE)

    def wait_until_idle(self, timeout=DEADLINE):
        """Until the kernel has done what it was asked for, and the page shows it."""
        self.page.evaluate(DONE)
        self.wait_for(IDLE, timeout=timeout)
        self.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")

    def wait_until(self, condition):
        """Until condition() holds; AssertionError where it does not within the deadline."""
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, "it did not come about"
            self.page.wait_for_timeout(100)

    def show(self, id):
        """Scroll a cell into view, so that it is drawn."""
        index = self.index(id)
        self.page.evaluate(
            "i => { const n = window.jupyterapp.shell.currentWidget.content; n.activeCellIndex = i; return n.scrollToItem(i, 'center'); }",
            index,
        )
        locator = self.page.locator(
            f".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index='{index}']"
        )
        locator.wait_for(state="visible")
        return locator

    def type_and_run(self, id, source):
        """Replace a cell's text from the keyboard and press Shift+Enter."""
        index = self.index(id)
        before = self.page.evaluate(f"i => ({COUNT})(i)", index)
        self.show(id).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Shift+Enter")
        self.wait_for(f"([i, before]) => {{ const n = ({COUNT})(i); return n && n !== before; }}", [index, before])
        self.wait_until_idle()

    def run(self, id):
        self.type_and_run(id, self.cells()[self.index(id)]["source"])

    def rendered(self, id):
        """Text of a cell's outputs as drawn on the page."""
        outputs = self.show(id).locator(".jp-OutputArea-output")
        outputs.first.wait_for(state="visible")
        return "\n".join(outputs.all_inner_texts())

    def pictures(self, id):
        return self.show(id).locator(".jp-OutputArea-output img").evaluate_all("all => all.map(i => i.src)")

    def command(self, name, arguments=None):
        call = "([n, a]) => window.jupyterapp.commands.execute(n, a).then(() => true)"
        return self.page.evaluate(call, [name, arguments or {}])

    def current_path(self):
        return self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")

    def solution_source(self, exercise_id):
        """The exercise's cell from the solutions, without its markers."""
        for file in sorted((self.server.course / "solutions").glob("*.ipynb")):
            for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
                source = "".join(cell["source"])
                if f'@exercise("{exercise_id}")' in source:
                    return "\n".join(line for line in source.splitlines() if not line.strip().startswith("### "))
        raise LookupError(exercise_id)
