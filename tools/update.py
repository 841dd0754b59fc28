"""Bring the newest version of the course and keep everything you wrote.

    python -m tools.update            from where this course was cloned
    python -m tools.update FOLDER     from a newer version that you downloaded and unpacked

Your answers, guesses, notes and added cells are put into the new lessons, and your own copy of each such lesson is
kept beside it. Nothing is changed before the newest version is there, and an update that was interrupted is
finished by the next one.
"""

# Imports nothing of the course but merge_lesson: an interrupted update may have left a mixture of two versions of it.
import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from itertools import count
from pathlib import Path

from tools import merge_lesson

ROOT = Path(__file__).resolve().parent.parent
UNFINISHED = ".update-unfinished"  # while an update is under way: the version it goes to
OURS = ("solutions", "helpers", "tools", "tests", "benchmarks")  # folders in which a learner keeps nothing
NEVER = re.compile(
    r"(^|/)(\.git|\.venv|__pycache__|\.ipynb_checkpoints|[^/]*\.egg-info|\.[a-z]+_cache|\.hypothesis)(/|$)"
    r"|^\.progress|^\.update-|^before-update-|\.mine-\d+\.[^/]*$|^shared(/|$)"
)


class Trouble(Exception):
    """Why there is no update: a sentence or two. Nothing was changed."""


def step(name):
    """Called between every two steps that change something; a test ends the process here."""


# Where the newest version comes from ---------------------------------------------------------------------------------


class Folder:
    """A newer version in another folder, as from a download. What the learner began with is read from solutions/."""

    def __init__(self, root, folder):
        self.root, self.folder = root, Path(folder).expanduser().resolve()
        if not self.folder.is_dir():
            raise Trouble(f"There is no folder {folder}.")
        if self.folder == root.resolve():
            raise Trouble(f"{folder} is this course itself. Give the folder of the newer version.")
        found = [self.folder, *(p for p in sorted(self.folder.iterdir()) if p.is_dir())]  # unpacked one level deeper
        self.folder = next((place for place in found if _is_course(place)), None)
        if self.folder is None:
            raise Trouble(f"{folder} holds no course: notebooks/, solutions/ and helpers/ should be in it.")
        self.name = str(self.folder)

    def files(self):
        """{path: bytes} of the newer version."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        named = {path.relative_to(self.folder).as_posix(): path for path in paths}
        return {name: path.read_bytes() for name, path in sorted(named.items()) if not NEVER.search(name)}

    def before(self):
        """{path: bytes} as the learner got them, as far as is known: the lessons, made from the present solutions."""
        try:
            from tools import make_lessons

            texts = make_lessons.lessons_from_solutions(self.root / "solutions")
        except Exception:  # solutions that were changed, or half of an update: then nothing is known
            return {}
        return {f"notebooks/{name}": text.encode() for name, text in texts.items()}

    def knows_all_files(self):
        return False

    def keep(self):
        return ""

    def finish(self):
        pass

    def recovered(self, path):
        return None


class Clone:
    """A newer version where this course was cloned from."""

    def __init__(self, root):
        self.root = root
        if shutil.which("git") is None:
            raise Trouble(f"git is not installed. {_BY_HAND}")
        inside = self._git("rev-parse", "--show-toplevel", check=False)
        if inside.returncode or Path(_text(inside)).resolve() != root.resolve():
            raise Trouble(f"This course is no clone: it does not know where it came from. {_BY_HAND}")
        folder = root / _text(self._git("rev-parse", "--git-dir"))
        if any((folder / name).exists() for name in ("rebase-merge", "rebase-apply")):
            raise Trouble("git is in the middle of a rebase here. Run `git rebase --abort`, then update again.")
        if self._git("rev-parse", "--verify", "-q", "HEAD", check=False).returncode:
            raise Trouble(f"This clone has no version of the course in it yet. {_BY_HAND}")
        self.new = self._fetched()
        self.name = self.new
        found = self._git("merge-base", "HEAD", self.new, check=False)
        self.old = _text(found) if found.returncode == 0 else None

    def _fetched(self):
        """The newest commit; what an interrupted update was going to where it cannot be fetched now."""
        branch = _text(self._git("symbolic-ref", "-q", "--short", "HEAD", check=False))
        remote = _text(self._git("config", f"branch.{branch}.remote", check=False)) if branch else ""
        merge = _text(self._git("config", f"branch.{branch}.merge", check=False)) if branch else ""
        remotes = _text(self._git("remote")).split()
        if not remotes:
            raise Trouble(f"This clone has no remote to get a newer version from. {_BY_HAND}")
        if remote not in remotes:
            remote, merge = "origin" if "origin" in remotes else remotes[0], ""
        wanted = merge or "HEAD"
        try:
            fetched = self._git("fetch", "-q", "--no-tags", remote, wanted, check=False, seconds=600)
            said = fetched.stderr.decode("utf-8", "replace").strip().splitlines()
        except subprocess.TimeoutExpired:
            fetched, said = None, ["it took more than ten minutes"]
        if fetched is not None and fetched.returncode == 0:
            return _text(self._git("rev-parse", "FETCH_HEAD^{commit}"))
        begun = self.root / UNFINISHED
        if begun.exists():
            commit = begun.read_text(encoding="utf-8").strip()
            if self._git("cat-file", "-e", f"{commit}^{{commit}}", check=False).returncode == 0:
                return commit
        why = said[-1].removeprefix("fatal: ") if said else "git gave no reason"
        raise Trouble(f"The newest version could not be fetched from {remote}: {why}\nAre you online?")

    def is_newest(self):
        return self.old == self.new

    def files(self):
        """{path: bytes} of the newest version."""
        return self._tree(self.new)

    def before(self):
        """{path: bytes} of the version that the learner began with."""
        return self._tree(self.old) if self.old else Folder.before(self)

    def _tree(self, commit):
        archive = self._git("-c", "core.autocrlf=false", "archive", "--format=tar", commit).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            members = [member for member in tar.getmembers() if member.isfile()]
            return {member.name: tar.extractfile(member).read() for member in members}

    def knows_all_files(self):
        return self.old is not None

    def keep(self):
        """Hold on to commits and to what is staged or changed, all at once, under a name of their own."""
        snapshot = self._git("stash", "create", check=False)  # fails in the middle of a merge
        commit = _text(snapshot) if snapshot.returncode == 0 else ""
        own = self._git("merge-base", "--is-ancestor", "HEAD", self.new, check=False).returncode
        if not commit and not own:
            return ""
        commit = commit or _text(self._git("rev-parse", "HEAD"))
        taken = _text(self._git("for-each-ref", "--format=%(objectname) %(refname)", "refs/before-update")).splitlines()
        names = {line.split()[1] for line in taken}
        name = next(name for n in count(1) if (name := f"refs/before-update/{n}") not in names)
        self._git("update-ref", name, commit)
        return name

    def finish(self):
        """Let git know that the newest version is what lies here; your lessons are changes to it."""
        self._git("reset", "-q", "--mixed", self.new)

    def recovered(self, path):
        """The learner's side of a file that a merge left in pieces, or the file as last committed."""
        for version in (f":2:{path}", f":{path}", f"HEAD:{path}"):
            shown = self._git("show", version, check=False)
            if shown.returncode == 0:
                with contextlib.suppress(merge_lesson.NotANotebook):
                    return merge_lesson.read(shown.stdout.decode("utf-8", "replace"))
        return None

    def _git(self, *arguments, check=True, seconds=120):
        identity = ("-c", "user.name=update", "-c", "user.email=update@localhost")
        environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            environment.pop(name, None)
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, capture_output=True, env=environment,
            timeout=seconds, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if check and done.returncode:
            raise Trouble(f"git {arguments[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done


_BY_HAND = (
    "Download the newest version of the course, unpack it, and run `python -m tools.update FOLDER` here, "
    "with the folder that you unpacked."
)


def _text(done):
    return done.stdout.decode("utf-8", "replace").strip()


def _is_course(folder):
    return all((folder / name).is_dir() for name in ("notebooks", "solutions", "helpers"))


# What there is to do -------------------------------------------------------------------------------------------------


class Plan:
    """What an update writes and removes, worked out before anything is changed.

    It is made from what lies there, so making it again after an interruption gives what is left to do.
    """

    def __init__(self, root, source):
        self.root, self.said = root, []
        self.copies, self.writes, self.aside, self.gone = {}, {}, [], []
        self.new, self.before = source.files(), source.before()
        self.source, self.merged_from = source, set()
        for path, content in self.new.items():
            if re.fullmatch(r"notebooks/[^/]+\.ipynb", path):
                self._lesson(path, content)
            else:
                self._file(path, content)
        self._removed(source.knows_all_files())

    def is_empty(self):
        return not (self.writes or self.gone or self.aside)

    def _lesson(self, path, content):
        file, old = self.root / path, self._present(path)
        if old is None:
            self.writes[path] = content
            return
        text = (self.root / old).read_bytes().decode("utf-8-sig", "replace")
        try:
            mine, broken = merge_lesson.read(text), False
        except merge_lesson.NotANotebook:
            mine, broken = self._recovered(old, text), True
        new = merge_lesson.read(content.decode("utf-8"))
        base = self._base(old)
        merged, kept = merge_lesson.merge(mine, new, base) if mine else (new, merge_lesson.Kept())
        text = merge_lesson.text_of(merged).encode() if kept else content
        unchanged = base is not None and base["cells"] == new["cells"] and not broken  # this lesson has no news
        if old == path and (unchanged or _same(self.root / old, text)):
            return
        if kept or broken:
            self.copies[path] = old
        if kept:
            self._say(path, kept, broken)
        elif broken:
            self.said.append(f"{path} could not be read, and no earlier state of it was found. It is new now.")
        self.writes[path] = text
        if old != path:
            self.gone.append(old)
        self.merged_from.add(file)

    def _present(self, path):
        """The learner's file for a lesson: of the same name, else of the same number under the name it had before."""
        if (self.root / path).exists():
            return path
        number = Path(path).name[:2]
        for old in self.before:
            same = re.fullmatch(rf"notebooks/{re.escape(number)}[^/]*\.ipynb", old) and old not in self.new
            if same and number.isdigit() and (self.root / old).exists():
                return old
        return None

    def _recovered(self, path, text):
        """The learner's lesson where the file is broken: their side of a merge, else the cells that were saved whole,
        with the rest from Jupyter's checkpoint or the last commit."""
        earlier = self.source.recovered(path)
        if "<<<<<<<" in text and earlier:
            return earlier
        file = self.root / path
        with contextlib.suppress(OSError, UnicodeDecodeError, merge_lesson.NotANotebook):
            checkpoint = file.parent / ".ipynb_checkpoints" / f"{file.stem}-checkpoint.ipynb"
            earlier = merge_lesson.read(checkpoint.read_text(encoding="utf-8"))
        cells = merge_lesson.whole_cells(text)
        saved = {cell.get("id") for cell in cells}
        cells += [cell for cell in (earlier or {"cells": []})["cells"] if cell.get("id") not in saved]
        return {"cells": cells} if cells else None

    def _base(self, path):
        if path in self.before:
            with contextlib.suppress(UnicodeDecodeError, merge_lesson.NotANotebook):
                return merge_lesson.read(self.before[path].decode("utf-8"))
        return None

    def _say(self, path, kept, broken):
        self.said.append(f"{path}: {kept} put back." + (" The file itself could not be read." if broken else ""))
        for number in kept.changed:
            self.said.append(
                f"  Exercise {number} has changed. The new one is in its place, and your answer beneath it."
            )

    def _file(self, path, content):
        file = self.root / path
        if _same(file, content):
            return
        self.writes[path] = content
        if file.exists() and not self._untouched(path):
            self.aside.append(path)

    def _untouched(self, path):
        """Whether a file that is replaced is as the learner got it, as far as can be told."""
        return path in self.before and _same(self.root / path, self.before[path])

    def _removed(self, knows_all):
        """Files that the newest version no longer has."""
        if knows_all:
            candidates = [path for path in self.before if path not in self.new]
        else:
            found = (file for name in OURS for file in (self.root / name).rglob("*") if file.is_file())
            paths = (file.relative_to(self.root).as_posix() for file in found)
            candidates = [path for path in paths if path not in self.new and not NEVER.search(path)]
        for path in candidates:
            if (self.root / path).is_file() and path not in self.gone:
                if not self._untouched(path):
                    self.aside.append(path)
                self.gone.append(path)


def _same(file, content):
    """Whether a file holds this content, line ends apart, which git may have changed."""
    try:
        found = file.read_bytes()
    except OSError:
        return False
    return found == content or found.replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n")


# Doing it ------------------------------------------------------------------------------------------------------------


def apply(plan, source):
    """Carry a plan out, so that at every moment each file is whole and everything the learner wrote is there."""
    root = plan.root
    step("begin")
    _write(root / UNFINISHED, source.name.encode())
    step("marked")
    kept_ref = source.keep()
    step("kept in git")
    copies = []
    for path, old in plan.copies.items():
        copies.append(_copy_beside(root / path, root / old))
        step(f"copied {path}")
    aside = _set_aside(root, plan.aside)
    lessons = [path for path in plan.writes if path.startswith("notebooks/")]
    # Solutions last: without git they tell what a learner began with, should the update be interrupted before.
    others = sorted(set(plan.writes) - set(lessons), key=lambda path: (path.startswith("solutions/"), path))
    for path in lessons + others:
        _write(root / path, plan.writes[path])
        step(f"wrote {path}")
    for path in plan.gone:
        (root / path).unlink(missing_ok=True)
        step(f"removed {path}")
    source.finish()
    step("finished in git")
    for folder in {(root / path).parent for path in plan.writes}:
        for draft in folder.glob(".update-*.draft"):  # of an update that was ended while it wrote
            draft.unlink(missing_ok=True)
    (root / UNFINISHED).unlink(missing_ok=True)
    return copies, aside, kept_ref


def _copy_beside(lesson, present):
    """Keep the learner's file beside the lesson as `name.mine-N.ipynb`; a copy that is there already serves."""
    content = present.read_bytes()
    for n in count(1):
        copy = lesson.with_name(f"{lesson.stem}.mine-{n}.ipynb")
        if copy.exists() and copy.read_bytes() == content:
            return copy
        if not copy.exists():
            _write(copy, content)
            return copy


def _set_aside(root, paths):
    """Keep files that are replaced or removed, and may have been changed, in a folder of their own."""
    if not paths:
        return None
    folder = next(place for n in count(1) if not (place := root / f"before-update-{n}").exists())
    for path in paths:
        _write(folder / path, (root / path).read_bytes())
        step(f"set aside {path}")
    return folder


def _write(file, content):
    """Write a file so that a crash leaves the old one or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = file.stat().st_mode if file.exists() else None
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=".update-", suffix=".draft")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(draft, mode if mode is not None else 0o755 if content.startswith(b"#!") else 0o644)
        os.replace(draft, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def running_lab(root):
    """Addresses of Jupyter servers that have this course open, as far as can be told."""
    try:
        from jupyter_server.serverapp import list_running_servers

        servers = list(list_running_servers())
    except Exception:
        return []
    folders = ((server.get("url", ""), Path(server.get("root_dir") or "/nowhere").resolve()) for server in servers)
    course = root.resolve()
    return [url for url, folder in folders if folder == course or course in folder.parents]


def main(arguments=None, root=ROOT):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.update", description="Bring the newest version of the course and keep what you wrote."
    )
    parser.add_argument("folder", nargs="?", type=Path, help="a newer version that you unpacked; default: fetch it")
    parser.add_argument("--while-running", action="store_true", help="update even while JupyterLab has the course open")
    options = parser.parse_args(arguments)
    began = False
    try:
        running = [] if options.while_running else running_lab(root)
        if running:
            raise Trouble(
                f"JupyterLab has this course open ({running[0]}). Save your lessons and stop it "
                "(Ctrl+C in its terminal), then update again."
            )
        source = Clone(root) if options.folder is None else Folder(root, options.folder)
        unfinished = (root / UNFINISHED).exists()
        if options.folder is None and source.is_newest() and not unfinished:
            print("This is the newest version already; nothing was changed.")
            return 0
        plan = Plan(root, source)
        if plan.is_empty() and not unfinished and options.folder is not None:
            print("This is that version already; nothing was changed.")
            return 0
        began = True
        copies, aside, kept_ref = apply(plan, source)
    except (Trouble, OSError) as error:
        told = "Run the same command again to finish." if began else "Nothing was changed."
        print(f"{error}\n{told}", file=sys.stderr)
        return 1
    _tell(plan, copies, aside, kept_ref)
    return 0


def _tell(plan, copies, aside, kept_ref):
    print("The course is up to date.")
    for line in plan.said:
        print(line)
    if copies:
        print("Your own copies are kept: " + ", ".join(f"notebooks/{copy.name}" for copy in copies))
    if aside:
        print(f"Other files that may have been changed are kept in {aside.name}/.")
    if kept_ref:
        print(f"All that git had of yours is kept as well: git log {kept_ref}")
    if {"pyproject.toml", "constraints.txt"} & set(plan.writes):
        print("What the course needs has changed: run `make lab`, or `python -m pip install -e .` in its environment.")


if __name__ == "__main__":
    sys.exit(main())
