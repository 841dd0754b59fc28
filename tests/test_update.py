"""An update brings the newest version and loses nothing the learner wrote: committed, changed or half saved, whatever
happens in between."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from tools import merge_lesson, update

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ANSWER = "    scores = Q @ K.T  # mine: (T, T)\n    return scores / 2"
NOTE = "My note: rows are who looks."
OWN_CODE = "print('my own trial, höher')"


# A small course of two lessons ------------------------------------------------------------------------------------------


def md(id, text):
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": text.splitlines(keepends=True)}


def code(id, text):
    return md(id, text) | {"cell_type": "code", "outputs": [], "execution_count": None}


def stub(number, name, arguments="Q, K", lines=2, doc="Scores."):
    return f'@exercise("{number}")\ndef {name}({arguments}):\n    """{doc}"""\n    raise NotImplementedError  # about {lines} lines'


def lesson(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def first():
    return lesson(
        md("title", "# 01 · First"),
        code("imports", "import numpy as np\nfrom helpers import exercise, predict"),
        code("guess", 'predict("largest", ...)'),
        code("one", stub("1.1", "scores")),
        md("between", "Now the second."),
        code("two", stub("1.2", "weights", "x")),
        code("three", stub("1.3", "out", "w, V")),
        md("end", "The end."),
    )


def second():
    return lesson(md("title", "# 02 · Second"), code("one", stub("2.1", "softmax", "x")))


def newer():
    """The first lesson in its next version: text, order and a docstring change; 1.3 takes another argument."""
    return lesson(
        md("title", "# 01 · First, in plainer words"),
        code("imports", "from helpers import exercise, predict, reveal\nimport numpy as np"),
        md("new", "A new paragraph."),
        code("guess", '# Guess first.\npredict("largest", ...)'),
        code("shown", 'reveal("largest")'),
        code("one", stub("1.1", "scores", doc="Scores of all pairs, (T, T).", lines=3)),
        code("two", stub("1.2", "weights", "x")),
        code("three", stub("1.3", "out", "w, V, mask")),
        md("end", "The end."),
    )


def put(root, files):
    for name, content in files.items():
        file = root / name
        if content is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else merge_lesson.text_of(content), encoding="utf-8")


def course(one, **more):
    return {
        "notebooks/01_first.ipynb": one,
        "notebooks/02_second.ipynb": second(),
        "solutions/01_first_solution.ipynb": one,
        "helpers/__init__.py": "VERSION = 1\n",
        "helpers/old.py": "gone soon\n",
        "README.md": "The course\n",
        "pyproject.toml": "one\n",
        ".gitignore": ".progress*\n*.mine-*\nbefore-update-*/\n.update-*\n",
        ".gitattributes": "* text=auto eol=lf\n",
    } | more


NEWS = {
    "notebooks/01_first.ipynb": newer(),
    "solutions/01_first_solution.ipynb": newer(),
    "helpers/__init__.py": "VERSION = 2\n",
    "helpers/old.py": None,
    "helpers/added.py": "new\n",
    "pyproject.toml": "two\n",
}


def git(root, *arguments):
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    monkeypatch.setattr(update, "running_lab", lambda root: [])
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    root = tmp_path / "upstream"
    root.mkdir()
    put(root, course(first()))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


@pytest.fixture
def clone(upstream, tmp_path):
    git(tmp_path, "clone", "-q", str(upstream), "clone")
    return tmp_path / "clone"


def publish(upstream, **more):
    put(upstream, NEWS | more)
    git(upstream, "add", "-A")
    git(upstream, "commit", "-qm", "two")


def worked_on(nb=None):
    """The first lesson after a learner: three answers, a guess, a note and a cell of their own, outputs and all."""
    nb = nb or first()
    cells = {cell["id"]: cell for cell in nb["cells"]}
    for id in ("one", "two", "three"):
        source = "".join(cells[id]["source"])
        cells[id]["source"] = source.partition("    raise")[0].replace("\n", "\n") + ANSWER.replace("mine", f"mine {id}")
        cells[id]["execution_count"] = 7
        cells[id]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"ran {id}\n"]}]
    cells["guess"]["source"] = 'predict("largest", "ümlaut")'
    place = nb["cells"].index(cells["between"]) + 1
    nb["cells"][place:place] = [md("my-note", NOTE), code("my-code", OWN_CODE)]
    return nb


WRITTEN = ["mine one", "mine two", "mine three", '"ümlaut"', NOTE, OWN_CODE]


def texts(root):
    """Sources of all cells of all notebooks that lie in notebooks/, the learner's copies too."""
    found = []
    for file in (root / "notebooks").glob("*.ipynb"):
        found += ["".join(cell["source"]) for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]]
    return "\n".join(found)


def read(root, name="01_first.ipynb"):
    return json.loads((root / "notebooks" / name).read_text(encoding="utf-8"))


def sources(nb):
    return {cell["id"]: "".join(cell["source"]) for cell in nb["cells"]}


def check_updated(root):
    """The new lesson with everything in it that `worked_on` wrote."""
    nb = read(root)
    nbformat.validate(nbformat.from_dict(nb))
    found = sources(nb)
    assert found["title"] == "# 01 · First, in plainer words" and found["new"] == "A new paragraph."
    assert found["guess"] == '# Guess first.\npredict("largest", "ümlaut")'
    assert "mine one" in found["one"] and "mine two" in found["two"]
    order = list(found)
    assert order.index("three") + 2 == order.index("earlier-three"), "both stand, the learner's last"
    assert found["three"] == stub("1.3", "out", "w, V, mask") and "mine three" in found["earlier-three"]
    assert found["my-note"] == NOTE and found["my-code"] == OWN_CODE
    assert order.index("one") < order.index("my-note") < order.index("my-code") < order.index("two")
    assert "between" not in found, "an untouched cell that the course took away stays away"
    outputs = {cell["id"]: cell.get("outputs") for cell in nb["cells"]}
    assert outputs["one"][0]["text"] == ["ran one\n"] and outputs["three"] == []
    assert (root / "helpers" / "__init__.py").read_text(encoding="utf-8") == "VERSION = 2\n"
    assert (root / "helpers" / "added.py").exists() and not (root / "helpers" / "old.py").exists()
    assert not (root / update.UNFINISHED).exists()


# An update as a learner lives through it --------------------------------------------------------------------------------


def test_pull_refuses_where_update_does_not(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream)
    pulled = subprocess.run(["git", "pull", "-q"], cwd=clone, capture_output=True, check=False)
    assert pulled.returncode != 0, "this is why there is an update at all"
    assert update.main([], root=clone) == 0


def test_uncommitted_work_is_put_back_into_the_new_lesson(upstream, clone, capsys):
    mine = worked_on()
    put(clone, {"notebooks/01_first.ipynb": mine})
    publish(upstream)
    assert update.main([], root=clone) == 0
    check_updated(clone)
    assert read(clone, "01_first.mine-1.ipynb") == mine, "the learner's own copy, as it was"
    shown = capsys.readouterr().out
    assert "2 answers, 1 guess, 1 note and 1 cell put back" in shown
    assert "Exercise 1.3 has changed. The new one is in its place, and your answer beneath it." in shown
    assert "make lab" in shown and "python -m pip install -e ." in shown
    assert git(clone, "rev-parse", "HEAD") == git(upstream, "rev-parse", "HEAD")
    assert git(clone, "status", "--porcelain").split() == ["M", "notebooks/01_first.ipynb"]


def test_committed_work_is_put_back_and_its_commits_are_kept(upstream, clone, capsys):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "my answers")
    own = git(clone, "rev-parse", "HEAD")
    publish(upstream)
    assert update.main([], root=clone) == 0
    check_updated(clone)
    assert git(clone, "rev-parse", "refs/before-update/1") == own
    assert "refs/before-update/1" in capsys.readouterr().out


def test_staged_work_is_kept_too(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    git(clone, "add", "-A")
    put(clone, {"notebooks/01_first.ipynb": first()})  # what was staged is nowhere else
    publish(upstream)
    assert update.main([], root=clone) == 0
    assert "mine one" in git(clone, "show", "refs/before-update/1^2:notebooks/01_first.ipynb")


def test_merge_that_left_a_notebook_in_pieces_is_mended(upstream, clone, capsys):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "my answers")
    publish(upstream)
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "pull", "-q", "--no-rebase"],
        cwd=clone, capture_output=True, check=False,
    )  # fmt: skip
    broken = (clone / "notebooks" / "01_first.ipynb").read_text(encoding="utf-8")
    assert "<<<<<<<" in broken
    assert update.main([], root=clone) == 0
    check_updated(clone)
    assert (clone / "notebooks" / "01_first.mine-1.ipynb").read_text(encoding="utf-8") == broken
    assert "could not be read" in capsys.readouterr().out
    assert not (clone / ".git" / "MERGE_HEAD").exists()


def test_half_saved_lesson_keeps_what_was_saved(upstream, clone):
    text = merge_lesson.text_of(worked_on())
    half = text[: text.index("mine three") - 20]
    put(clone, {"notebooks/01_first.ipynb": half})
    publish(upstream)
    assert update.main([], root=clone) == 0
    found = sources(read(clone))
    assert "mine one" in found["one"] and "mine two" in found["two"] and found["my-note"] == NOTE
    assert (clone / "notebooks" / "01_first.mine-1.ipynb").read_text(encoding="utf-8") == half


def test_checkpoint_of_jupyter_serves_where_the_file_is_empty(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": "",
                "notebooks/.ipynb_checkpoints/01_first-checkpoint.ipynb": worked_on()})  # fmt: skip
    publish(upstream)
    assert update.main([], root=clone) == 0
    check_updated(clone)


def test_lesson_without_news_is_left_alone(upstream, clone):
    nb = second()
    nb["cells"][1]["source"] = "mine"
    nb["metadata"]["language_info"] = {"version": "3.14"}
    put(clone, {"notebooks/02_second.ipynb": nb})
    before = (clone / "notebooks" / "02_second.ipynb").read_bytes()
    publish(upstream)
    assert update.main([], root=clone) == 0
    assert (clone / "notebooks" / "02_second.ipynb").read_bytes() == before
    assert not list((clone / "notebooks").glob("02*.mine-*"))


def test_untouched_lesson_is_replaced_without_a_copy(upstream, clone):
    publish(upstream)
    assert update.main([], root=clone) == 0
    assert read(clone) == newer() and not list((clone / "notebooks").glob("*.mine-*"))
    assert git(clone, "status", "--porcelain") == ""


def test_lesson_that_was_only_run_is_replaced_without_a_copy(upstream, clone):
    nb = first()
    nb["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["x"]}]
    put(clone, {"notebooks/01_first.ipynb": nb})
    publish(upstream)
    assert update.main([], root=clone) == 0
    assert read(clone) == newer() and not list((clone / "notebooks").glob("*.mine-*"))


def test_renamed_lesson_takes_the_work_along(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream, **{"notebooks/01_first.ipynb": None, "notebooks/01_renamed.ipynb": newer()})
    assert update.main([], root=clone) == 0
    assert "mine one" in sources(read(clone, "01_renamed.ipynb"))["one"]
    assert "mine one" in sources(read(clone, "01_renamed.mine-1.ipynb"))["one"]
    assert not (clone / "notebooks" / "01_first.ipynb").exists()


def test_exercise_under_another_cell_id_is_found_by_its_number(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    nb = newer()
    nb["cells"][5]["id"] = "scores-exercise"
    publish(upstream, **{"notebooks/01_first.ipynb": nb})
    assert update.main([], root=clone) == 0
    found = sources(read(clone))
    assert "mine one" in found["scores-exercise"] and "one" not in found


def test_other_files_that_the_learner_changed_are_set_aside(upstream, clone, capsys):
    put(clone, {"helpers/__init__.py": "VERSION = 'mine'\n", "helpers/old.py": "mine\n", "helpers/added.py": "mine\n",
                "my_own.txt": "mine", "notebooks/my_trials.ipynb": first()})  # fmt: skip
    publish(upstream)
    assert update.main([], root=clone) == 0
    aside = clone / "before-update-1" / "helpers"
    assert (aside / "__init__.py").read_text() == "VERSION = 'mine'\n"
    assert (aside / "old.py").read_text() == (aside / "added.py").read_text() == "mine\n"
    assert (clone / "my_own.txt").read_text() == "mine" and (clone / "notebooks" / "my_trials.ipynb").exists()
    assert "before-update-1/" in capsys.readouterr().out


def test_second_update_keeps_both_copies(upstream, clone):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream)
    assert update.main([], root=clone) == 0
    third = newer()
    third["cells"][0]["source"] = "# 01 · Third"
    put(upstream, {"notebooks/01_first.ipynb": third})
    git(upstream, "commit", "-qam", "three")
    assert update.main([], root=clone) == 0
    found = sources(read(clone))
    assert found["title"] == "# 01 · Third" and all(words in texts(clone) for words in WRITTEN)
    assert "mine one" in found["one"] and "mine three" in found["earlier-three"] and found["my-note"] == NOTE
    assert len(list((clone / "notebooks").glob("01_first.mine-*.ipynb"))) == 2
    assert list(found).count("earlier-three") == 1


def test_shallow_clone_can_be_updated(upstream, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "1", upstream.as_uri(), "shallow")
    put(tmp_path / "shallow", {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream)
    assert update.main([], root=tmp_path / "shallow") == 0
    check_updated(tmp_path / "shallow")


# Where there is nothing to do, or nothing can be done ---------------------------------------------------------------


def state(root):
    """Every file of a folder, git's own apart, and where git stands."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.relative_to(root).parts)
    head = git(root, "rev-parse", "HEAD") if (root / ".git").exists() else ""
    return {str(file): file.read_bytes() for file in files}, head


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda clone, upstream: git(clone, "remote", "remove", "origin"), "no remote"),
        (lambda clone, upstream: upstream.rename(upstream.with_name("moved")), "could not be fetched from origin"),
        (lambda clone, upstream: shutil.rmtree(clone / ".git"), "no clone"),
        (lambda clone, upstream: (clone / ".git" / "rebase-merge").mkdir(), "middle of a rebase"),
    ],
)
def test_update_that_cannot_be_had_says_what_is_missing_and_changes_nothing(upstream, clone, capsys, spoil, said):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream)
    spoil(clone, upstream)
    before = state(clone)
    assert update.main([], root=clone) == 1
    shown = capsys.readouterr().err
    assert said in shown and "Nothing was changed." in shown
    assert state(clone) == before


def test_without_git_the_other_way_is_said(clone, monkeypatch, capsys):
    monkeypatch.setattr(update.shutil, "which", lambda name: None)
    assert update.main([], root=clone) == 1
    assert "python -m tools.update FOLDER" in capsys.readouterr().err


def test_course_inside_another_repository_is_not_that_repository(upstream, tmp_path, capsys):
    put(tmp_path / "outer" / "course", course(first()))
    git(tmp_path / "outer", "init", "-q")
    assert update.main([], root=tmp_path / "outer" / "course") == 1
    assert "no clone" in capsys.readouterr().err


def test_running_jupyterlab_is_closed_first(upstream, clone, monkeypatch, capsys):
    publish(upstream)
    monkeypatch.setattr(update, "running_lab", lambda root: ["http://localhost:8888/"])
    before = state(clone)
    assert update.main([], root=clone) == 1 and state(clone) == before
    assert "Save your lessons and stop it" in capsys.readouterr().err
    assert update.main(["--while-running"], root=clone) == 0


def test_newest_version_is_left_alone(clone, capsys):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    before = state(clone)
    assert update.main([], root=clone) == 0 and state(clone) == before
    assert "newest version already" in capsys.readouterr().out


# From a folder ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folders(upstream, tmp_path, monkeypatch):
    """(an unpacked course that the learner worked in, a newer one)."""
    put(tmp_path / "mine", course(first()))
    put(tmp_path / "mine", {"notebooks/01_first.ipynb": worked_on()})
    put(tmp_path / "new", course(first()))
    put(tmp_path / "new", NEWS)
    # The small course's solutions hold no answers; the real tool derives lessons from them.
    before = {"notebooks/01_first.ipynb": merge_lesson.text_of(first()).encode()}
    monkeypatch.setattr(update.Folder, "before", lambda self: before)
    return tmp_path / "mine", tmp_path / "new"


def test_download_is_updated_from_a_newer_folder(folders):
    mine, new = folders
    assert update.main([str(new)], root=mine) == 0
    check_updated(mine)
    assert read(mine, "01_first.mine-1.ipynb") == worked_on()
    assert (mine / "before-update-1" / "helpers" / "old.py").exists()


def test_folder_that_was_unpacked_one_level_deeper_is_found(folders, tmp_path):
    mine, new = folders
    (tmp_path / "outer").mkdir()
    new.rename(tmp_path / "outer" / "course-main")
    assert update.main([str(tmp_path / "outer")], root=mine) == 0
    check_updated(mine)


def test_clone_can_be_updated_from_a_folder_too(clone, folders):
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    assert update.main([str(folders[1])], root=clone) == 0
    check_updated(clone)


@pytest.mark.parametrize("make, said", [(lambda p: p, "no folder"), (lambda p: p.mkdir(), "holds no course")])
def test_folder_without_a_course_is_said_and_nothing_changed(folders, tmp_path, capsys, make, said):
    mine, _ = folders
    make(tmp_path / "other")
    before = state(mine)
    assert update.main([str(tmp_path / "other")], root=mine) == 1 and state(mine) == before
    assert said in capsys.readouterr().err
    assert update.main([str(mine)], root=mine) == 1
    assert "this course itself" in capsys.readouterr().err


def test_what_a_learner_began_with_is_derived_from_the_real_solutions(tmp_path):
    root = Path(__file__).resolve().parents[1]
    before = update.Folder.before(type("Source", (), {"root": root})())
    lessons = {f"notebooks/{file.name}" for file in (root / "notebooks").glob("[0-9][0-9]_*[a-z].ipynb")}
    assert set(before) == {name for name in lessons if ".mine-" not in name}


# Killed between every two steps -----------------------------------------------------------------------------------------


def killed_at(n, arguments, root):
    """Update in a process of its own that ends, as if killed, at its n-th step; whether it got that far."""
    child = os.fork()
    if child == 0:
        left = [n]

        def step(name):
            if left[0] == 0:
                os._exit(99)
            left[0] -= 1

        update.step = step
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os._exit(update.main(arguments, root=root))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 99)
    return code == 99


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("way", ["clone", "committed", "folder"])
def test_update_killed_between_any_two_steps_loses_nothing_and_is_finished_by_the_next(
    upstream, clone, folders, tmp_path, way
):
    mine, new = folders
    root, arguments = (mine, [str(new)]) if way == "folder" else (clone, [])
    put(root, {"notebooks/01_first.ipynb": worked_on(), "helpers/__init__.py": "VERSION = 'mine'\n"})
    if way == "committed":
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", "mine")
    publish(upstream)
    steps = 0
    while True:
        place = tmp_path / f"try-{steps}"
        shutil.copytree(root, place)
        killed = killed_at(steps, arguments, place)
        written = texts(place)
        assert all(words in written for words in WRITTEN), f"lost at step {steps}"
        everywhere = "".join(file.read_text() for file in place.rglob("__init__.py"))
        assert "VERSION = 'mine'" in everywhere, f"lost at step {steps}"
        if not killed:
            break
        assert update.main(arguments, root=place) == 0
        check_updated(place)
        assert all(words in texts(place) for words in WRITTEN)
        copies = [read(place, file.name) for file in (place / "notebooks").glob("*.mine-*")]
        assert worked_on() in copies
        shutil.rmtree(place)
        steps += 1
    assert steps > 8


def test_update_interrupted_by_the_network_is_finished_without_it(upstream, clone):
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    put(clone, {"notebooks/01_first.ipynb": worked_on()})
    publish(upstream)
    assert killed_at(5, [], clone)
    upstream.rename(upstream.with_name("away"))
    assert update.main([], root=clone) == 0
    check_updated(clone)


# Lessons alone ------------------------------------------------------------------------------------------------------------


def merged(mine, new, base):
    return merge_lesson.merge(mine, new, base)


def test_merging_twice_changes_nothing_more():
    once, _ = merged(worked_on(), newer(), first())
    twice, _ = merged(json.loads(merge_lesson.text_of(once)), newer(), first())
    assert merge_lesson.text_of(twice) == merge_lesson.text_of(once)


def test_answer_with_a_syntax_error_is_an_answer():
    mine = first()
    mine["cells"][3]["source"] = '@exercise("1.1")\ndef scores(Q, K):\n    return (('
    nb, kept = merged(mine, newer(), first())
    assert sources(nb)["one"].endswith("return ((") and kept.answers == ["1.1"]


def test_answer_under_a_magic_is_an_answer():
    mine = first()
    mine["cells"][3]["source"] = "%%time\n" + stub("1.1", "scores").replace("raise NotImplementedError", "return 1")
    nb, kept = merged(mine, newer(), first())
    assert sources(nb)["one"].startswith("%%time") and kept.answers == ["1.1"]


def test_cell_that_both_changed_stands_below_and_does_not_run():
    mine, base = newer(), first()
    mine = first()
    mine["cells"][1]["source"] = "import numpy as np\nmy_constant = 3"
    nb, _ = merged(mine, newer(), base)
    kinds = {cell["id"]: cell["cell_type"] for cell in nb["cells"]}
    assert "my_constant" in sources(nb)["yours-imports"] and kinds["yours-imports"] == "raw"


def test_text_that_the_learner_changed_is_kept_beside_the_new_text():
    mine = first()
    mine["cells"][0]["source"] = "# 01 · First\n\nMine."
    nb, kept = merged(mine, newer(), first())
    assert sources(nb)["yours-title"].endswith("Mine.") and kept.notes == 1


def test_copied_cell_with_the_same_id_is_kept():
    mine = worked_on()
    mine["cells"].append(code("one", "twice = 2"))
    nb, _ = merged(mine, newer(), first())
    nbformat.validate(nbformat.from_dict(nb))
    assert "twice = 2" in sources(nb).values()


def test_without_knowing_the_beginning_answers_are_kept_all_the_same():
    nb, kept = merged(worked_on(), newer(), None)
    found = sources(nb)
    assert "mine one" in found["one"] and "mine two" in found["two"] and "mine three" in found["earlier-three"]
    assert found["my-note"] == NOTE and found["title"] == "# 01 · First, in plainer words"


def test_without_knowing_the_beginning_untouched_stubs_give_way():
    nb, kept = merged(first(), newer(), None)
    assert sources(nb)["three"] == stub("1.3", "out", "w, V, mask") and not kept.answers and not kept.changed


def test_deleted_exercise_comes_back():
    mine = first()
    del mine["cells"][3]
    nb, _ = merged(mine, newer(), first())
    assert sources(nb)["one"] == sources(newer())["one"]


def test_malformed_cells_cost_no_other():
    text = merge_lesson.text_of(worked_on())
    nb = json.loads(text)
    nb["cells"][2:2] = [{}, None, {"cell_type": "code"}, {"cell_type": "odd", "source": "kept words"}]
    new, _ = merged(merge_lesson.read(json.dumps(nb)), newer(), first())
    assert "mine one" in sources(new)["one"] and "kept words" in sources(new).values()
