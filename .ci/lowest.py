"""Print the lowest version of every package that pyproject.toml allows, as constraints for pip.

What the library, its extras and its tests need; each as ``name==floor``.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<floor>[\w.]+)")


def main():
    content = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    project = content["project"]
    extras = project["optional-dependencies"].values()
    for requirement in chain(project["dependencies"], *extras, content["dependency-groups"]["test"]):
        if requirement.startswith(project["name"] + "["):
            continue  # the extra that is all the others
        found = REQUIREMENT.match(requirement)
        if found is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml has no lowest version. Write it as 'name>=version'.")
        print(f"{found['name']}=={found['floor']}")


if __name__ == "__main__":
    main()
