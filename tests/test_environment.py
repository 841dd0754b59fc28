"""pyproject.toml, environment.yml and constraints.txt say the same, and so do the workflows."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

PIP_NAMES = {"pytorch": "torch"}  # what conda-forge calls otherwise than the Python Package Index
MODULES = {"yaml": "pyyaml", "PIL": "pillow"}  # modules named otherwise than the package they come in
BROUGHT_ALONG = {"ipython", "ipykernel", "jupyter-client", "jupyter-server", "jupyterlab-server", "pillow", "sympy", "traitlets"}  # by Jupyter, matplotlib and PyTorch, which cannot do without
COURSE = {"helpers", "tools", "tests", "benchmarks"}


def ranges(lines):
    """The allowed versions by package name."""
    requirements = (Requirement(line) for line in lines)
    return {canonicalize_name(requirement.name): requirement.specifier for requirement in requirements}


def pins():
    """The pinned version by package name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    split = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): Version(version) for name, version in split}


def imported_packages(folder):
    """Names of the packages that Python files under `folder` import, from the index and not our own."""
    modules, paths = set(), list(folder.rglob("*.py"))
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(node.module.split(".")[0])
    own = COURSE | {path.stem for path in paths}
    return {canonicalize_name(MODULES.get(name, name)) for name in modules - own - sys.stdlib_module_names}


DIRECT = ranges(PROJECT["dependencies"] + EXTRAS["dev"] + EXTRAS["browser"])


def test_conda_environment_allows_the_same_versions_as_pip():
    conda = ranges(line for line in ENVIRONMENT["dependencies"] if isinstance(line, str))
    conda = {PIP_NAMES.get(name, name): specifier for name, specifier in conda.items()}
    conda.pop("pip")
    assert str(conda.pop("python")) == PROJECT["requires-python"]
    assert conda == ranges(PROJECT["dependencies"] + EXTRAS["dev"])


def test_conda_environment_installs_the_course_itself_editable():
    assert ENVIRONMENT["channels"] == ["conda-forge"]
    assert {"pip": ["-e ."]} in ENVIRONMENT["dependencies"]


@pytest.mark.parametrize("name", sorted(DIRECT))
def test_pinned_version_is_one_that_pyproject_allows(name):
    assert name in pins(), f"{name} is not pinned in constraints.txt"
    assert pins()[name] in DIRECT[name]


def test_constraints_are_plain_pins_that_any_machine_can_use():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", line)]
    assert not odd


def test_make_and_pip_ask_for_the_same_python():
    oldest = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"]).groups()
    assert f"sys.version_info < ({', '.join(oldest)})" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_helpers_import_only_what_a_learner_has():
    assert imported_packages(ROOT / "helpers") <= set(ranges(PROJECT["dependencies"])) | BROUGHT_ALONG


def test_tools_and_tests_import_only_what_is_declared():
    used = imported_packages(ROOT / "tools") | imported_packages(ROOT / "tests")
    assert used <= set(DIRECT) | BROUGHT_ALONG


def test_ci_runs_the_catalogue_as_another_processor_too():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^ATTENTION_COURSE_ULP=\d make test .*\n.*tests/test_catalogue\.py", run, re.MULTILINE)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_of_the_workflow_has_a_machine_steps_and_a_time_limit(workflow):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    assert jobs
    for name, job in jobs.items():
        assert {"runs-on", "steps", "timeout-minutes"} <= set(job), name


def test_workflow_runs_both_roads_on_three_systems_each_week():
    (workflow,) = WORKFLOWS
    written = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    triggers = written[True]  # YAML reads the key `on` as true
    assert "push" in triggers and "schedule" in triggers
    conda = written["jobs"]["conda"]
    assert {name.split("-")[0] for name in conda["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert any("environment.yml" in str(step) for step in conda["steps"])
    assert any(".ci/run" in str(step) for step in written["jobs"]["pip"]["steps"])
