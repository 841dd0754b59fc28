"""The course works wherever it lies: moved after installing, under odd names, with and without make."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools import lab, reset_lesson

ROOT = Path(__file__).resolve().parents[1]
needs_make = pytest.mark.skipif(shutil.which("make") is None or os.name != "posix", reason="make is not installed")

# What a `make` that runs these tests hands on; it must not reach the `make` that is tested.
_OF_MAKE = ("MAKE", "MFLAGS", "VENV", "PYTEST_ARGS", "ENCODER", "TORCH_INDEX", "CONSTRAINTS", "LESSON", "FOLDER")

# Stands for the Python of an installed .venv: notes what it was asked for.
RECORDER = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
    calls.write(json.dumps({{"cwd": os.getcwd(), "argv": sys.argv[1:]}}) + "\\n")
"""


class Course:
    """A folder with the course's Makefile and a .venv that only notes what it is asked for."""

    def __init__(self, folder, calls):
        self.folder, self.calls = folder, calls
        (folder / ".venv" / "bin").mkdir(parents=True)
        for name in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, folder / name)
        for name in ("python", "pip"):
            (folder / ".venv" / "bin" / name).write_text(RECORDER, encoding="utf-8")
            (folder / ".venv" / "bin" / name).chmod(0o755)

    def make(self, *arguments):
        """Run make; returns what its Python was asked for by this run: lists of arguments."""
        before = len(self.asked())
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_MAKE)}
        subprocess.run(
            ["make", *arguments], cwd=self.folder, check=True, capture_output=True, env=environment | {"CALLS": str(self.calls)}
        )
        return [call["argv"] for call in self.asked()[before:]]

    def asked(self):
        lines = self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []
        return [json.loads(line) for line in lines]


@pytest.fixture
def course(tmp_path):
    def in_folder(name="course"):
        return Course(tmp_path / name, tmp_path / "calls")

    return in_folder


def installs(calls):
    return [call for call in calls if call[:3] == ["-m", "pip", "install"]]


@needs_make
def test_course_is_installed_once_and_again_after_it_was_moved(course):
    here = course()
    assert installs(here.make("lab")) and not installs(here.make("lab"))
    moved = here.folder.with_name("moved")
    here.folder.rename(moved)
    here.folder = moved
    assert installs(here.make("lab")), "an installation holds the old path"
    assert not installs(here.make("lab"))
    here.make("test")
    shutil.copytree(moved, moved.with_name("copy"))
    here.folder = moved.with_name("copy")
    assert installs(here.make("test")), "a copy with its .venv would use the other's files"


@needs_make
def test_programs_are_called_through_python_for_their_own_first_line_holds_a_path(course):
    here = course()
    assert here.make("lab")[-1] == ["-m", "tools.lab"]
    assert here.make("lint")[-1] == ["-m", "ruff", "check", "."]
    assert here.make("test")[-1] == ["-m", "pytest"]
    recipes = re.findall(r"\$\(BIN\)/(\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(recipes) == {"python", "pip"}


@needs_make
@pytest.mark.parametrize("name", ['a "quoted" one', "back`tick`", "it's", "two  spaces", "höher", "a;b", "100%"])
def test_folder_may_have_any_name(course, name):
    here = course(name)
    assert here.make("lab")[-1] == ["-m", "tools.lab"]
    assert here.asked()[-1]["cwd"] == str(here.folder)
    assert not installs(here.make("lab"))


@needs_make
def test_folder_with_a_dollar_sign_in_which_pip_cannot_build_is_said(course):
    here = course("$HOME money")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        here.make("lab")
    assert f"rename it, {here.folder}." in failed.value.stderr.decode() and not here.asked()
    assert here.make("update") == [["-m", "tools.update"]], "what installs nothing works there"


@needs_make
@pytest.mark.parametrize("lesson", ["02; touch broken", "`touch broken`", "02 && touch broken", "a 'b' \"c\"", "02 | cat"])
def test_name_of_a_lesson_is_never_run(course, lesson):
    here = course()
    assert here.make("reset", f"LESSON={lesson}")[-1] == ["-m", "tools.reset_lesson", lesson]
    assert not (here.folder / "broken").exists()


@needs_make
def test_update_is_given_its_folder_whole_and_installs_nothing(course):
    here = course()
    assert here.make("update") == [["-m", "tools.update"]]
    assert here.make("update", 'FOLDER=new "one"; touch broken') == [["-m", "tools.update", 'new "one"; touch broken']]


@needs_make
def test_newest_versions_can_be_had_instead_of_the_tested_ones(course):
    here = course()
    assert installs(here.make("test"))[0][3:6] == ["--compile", "-c", "constraints.txt"]
    shutil.rmtree(here.folder)
    assert "-c" not in installs(course().make("test", "CONSTRAINTS="))[0]


def test_help_names_every_target_that_a_learner_or_maintainer_calls():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()) - {"help", "moved"}
    assert targets <= set(re.findall(r'@echo "make ([\w-]+)', text))


# Opening it -----------------------------------------------------------------------------------------------------------


def test_first_time_opens_lesson_00_and_later_what_was_open(tmp_path):
    assert f"--LabApp.default_url={lab.FIRST}" in lab.arguments(tmp_path)
    assert (ROOT / lab.FIRST.removeprefix("/lab/tree/")).exists()
    place = tmp_path / ".jupyterlab" / "workspaces"
    place.mkdir(parents=True)
    (place / "default-37a8.jupyterlab-workspace").write_text("{}", encoding="utf-8")
    assert "--LabApp.default_url=/lab" in lab.arguments(tmp_path)
    assert f"--LabApp.workspaces_dir={place}" in lab.arguments(tmp_path)


def test_course_that_cannot_be_written_opens_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert not [argument for argument in lab.arguments(tmp_path) if "workspaces_dir" in argument]


def test_jupyterlab_finds_the_courses_defaults_however_it_was_installed(tmp_path):
    from jupyterlab_server.settings_utils import _get_overrides

    settings = next(a for a in lab.arguments() if a.startswith("--LabApp.app_settings_dir=")).partition("=")[2]
    overrides, error = _get_overrides(settings)
    assert not error
    tracker = overrides["@jupyterlab/notebook-extension:tracker"]
    assert tracker["codeCellConfig"] == {"lineNumbers": True, "lineWrap": True}
    assert tracker["showEditorForReadOnlyMarkdown"] is False


def test_arguments_go_on_to_jupyterlab(tmp_path):
    assert lab.arguments(tmp_path, ["--no-browser"])[-1] == "--no-browser"


# Said both ways -------------------------------------------------------------------------------------------------------

MADE_ELSEWHERE = {"make_lessons.py"}  # its messages are for maintainers, who have make


def messages():
    """(file, text) of every string in helpers/ and tools/ that is no docstring."""
    for folder in ("helpers", "tools"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            docs = {id(node.body[0].value) for node in ast.walk(tree)
                    if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None}  # fmt: skip
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr):
                    yield file, "".join(part.value for part in node.values if isinstance(part, ast.Constant))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                    yield file, node.value


def test_message_that_says_make_says_the_python_way_too():
    said = [(file.name, text) for file, text in messages() if re.search(r"`make [a-z]", text)]
    assert said, "the test must see messages"
    assert not [one for one in said if "python -m" not in one[1] and one[0] not in MADE_ELSEWHERE]


def test_reset_without_a_lesson_says_both_ways(capsys):
    assert reset_lesson.main([]) == 1
    said = capsys.readouterr().err
    assert "make reset LESSON=02" in said and "python -m tools.reset_lesson 02" in said


def test_actions_are_pinned_by_commit():
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text(encoding="utf-8")
        uses = re.findall(r"uses: (\S+)(.*)", text)
        assert uses
        for action, comment in uses:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.search(r"# v\d+\.\d+\.\d+", comment), f"{action} does not say which release it is"


def test_newest_allowed_versions_are_tried_each_week():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    assert "schedule" in jobs["newest"]["if"]
    assert any("CONSTRAINTS= " in str(step.get("run")) for step in jobs["newest"]["steps"])


LESSONS = [file for file in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")) if ".mine-" not in file.name]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda file: file.stem)
def test_wrong_helpers_beside_a_lesson_is_named(tmp_path, lesson):
    (tmp_path / "helpers.py").write_text("", encoding="utf-8")
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if "from helpers import" in "".join(cell["source"]))
    ran = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "not installed" in ran.stderr
    assert str(tmp_path / "helpers.py") in ran.stderr, "it does not say which file it found"
