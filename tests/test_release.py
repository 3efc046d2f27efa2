"""What stands in several files agrees: version, requirements, licences, versions of Python."""

import re
import tomllib
from pathlib import Path

import pytest

import curplus

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]


def text(*parts):
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def parsed(requirement):
    """Name and lowest version: ``dask[array]>=2024.11`` is ``("dask", "2024.11")``."""
    return re.match(r"([\w-]+)(?:\[[\w,]+\])?(?:>=([\w.]+))?$", requirement).groups()


def test_the_version_stands_in_the_code_and_is_cited():
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/curplus/_layout.py"
    assert f"\nversion: {curplus.__version__}\n" in text("CITATION.cff")
    assert f'\n  version: "{curplus.__version__}"\n' in text("conda", "recipe.yaml")


def test_the_conda_recipe_needs_what_the_package_and_its_command_line_need():
    (run,) = re.findall(r"^  run:\n((?:    - .*\n)+)", text("conda", "recipe.yaml"), flags=re.MULTILINE)
    needed = {f"{name} >={floor}" for name, floor in map(parsed, PROJECT["dependencies"] + EXTRAS["cli"])}
    assert set(re.findall(r"- (.*)", run)) == needed | {f"python {PROJECT['requires-python']}"}


def test_the_licence_of_every_dependency_is_stated():
    stated = dict(re.findall(r"^\| ([\w-]+) \| ([^|]+) \|", text("DEPENDENCIES.md"), flags=re.MULTILINE))
    del stated["package"], stated["---"]
    needed = {parsed(requirement)[0] for group in (PROJECT["dependencies"], *EXTRAS.values()) for requirement in group}
    assert stated.keys() == needed - {"curplus"}


def test_every_declared_python_is_tested():
    declared = {kind.rpartition(" ")[2] for kind in PROJECT["classifiers"] if "Python :: 3." in kind}
    jobs = re.findall(r"python-version: \[(.*)\]", text(".github", "workflows", "ci.yml"))
    assert declared in [set(re.findall(r"[\d.]+", job)) for job in jobs]
    assert min(declared, key=lambda version: int(version[2:])) == PROJECT["requires-python"].removeprefix(">=")


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").iterdir()), ids=lambda path: path.name)
def test_actions_are_pinned_to_a_commit(workflow):
    used = re.findall(r"uses: (\S+)", workflow.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action in used)
