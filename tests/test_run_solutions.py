"""tools/run_solutions.py, on small notebooks made here, each in a kernel of its own."""

import json
import os

import nbformat
import pytest

from tools import run_solutions


@pytest.fixture(autouse=True)
def variables_put_back(monkeypatch):
    """The tool sets these for its kernels; nothing of that should reach other tests."""
    for variable in ("TQDM_DISABLE", "ATTENTION_COURSE_PROGRESS"):
        monkeypatch.setenv(variable, "of these tests")


@pytest.fixture
def solution(tmp_path):
    """Writes a notebook with these cells to a folder of its own and returns its path."""

    def write(**sources):
        cells = [nbformat.v4.new_code_cell(source, id=id) for id, source in sources.items()]
        path = tmp_path / "01_lookup.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
        return path

    return write


def stored_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: ["".join(output.get("text", "")) for output in cell["outputs"]] for cell in cells}


def test_outputs_are_stored_without_anything_of_this_run_or_machine(solution):
    path = solution(
        folder="from pathlib import Path\nprint(Path.cwd().name, Path('01_lookup.ipynb').exists())",
        warned="import sys, warnings\nprint('one'); print('two'); warnings.warn('careful')",
        slider="from ipywidgets import IntSlider\nIntSlider()",
    )
    assert run_solutions.main([str(path)]) == 0
    outputs = stored_outputs(path)
    assert outputs["folder"] == [f"{path.parent.name} True\n"]
    assert outputs["warned"][0] == "one\ntwo\n"
    assert outputs["warned"][1].startswith("<cell>:2: UserWarning: careful")
    assert outputs["slider"] == []

    first = path.read_bytes()
    assert run_solutions.main([str(path)]) == 0
    assert path.read_bytes() == first


def test_notebook_in_which_a_cell_fails_is_named_and_left_as_it_was(solution, capsys):
    path = solution(good="print(1)", bad="1 / 0", never="print(2)")
    before = path.read_bytes()
    assert run_solutions.main([str(path)]) == 1
    assert "01_lookup.ipynb, cell bad: ZeroDivisionError: division by zero" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_cell_that_never_ends_is_named(solution, capsys, monkeypatch):
    monkeypatch.setattr(run_solutions, "SECONDS_A_CELL", 1)
    path = solution(good="print(1)", endless="while True: pass")
    assert run_solutions.main([str(path)]) == 1
    assert "01_lookup.ipynb, cell endless: " in capsys.readouterr().out


def test_file_that_is_no_notebook_is_named(tmp_path, capsys):
    (tmp_path / "odd.ipynb").write_text("{}", encoding="utf-8")
    assert run_solutions.main([str(tmp_path / "odd.ipynb"), str(tmp_path / "missing.ipynb")]) == 1
    said = capsys.readouterr().out
    assert "odd.ipynb: not a notebook" in said
    assert "missing.ipynb: not a notebook" in said


@pytest.mark.skipif(os.name != "posix", reason="sockets that are files need a POSIX system")
def test_kernel_listens_on_no_port_that_others_could_reach(solution):
    code = "import ipykernel, json\nprint(json.load(open(ipykernel.get_connection_file()))['transport'])"
    path = solution(how=code)
    assert run_solutions.run_solution(path) is None
    assert stored_outputs(path)["how"] == ["ipc\n"]
