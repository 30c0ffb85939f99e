"""What the README and the lists of packages promise, where a test can tell."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def requirements(file: str) -> dict[str, Requirement]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line.strip() and not line.startswith(("#", "-r"))]
    return {requirement.name: requirement for requirement in found}


@pytest.mark.parametrize("version", ["3.6.0", "3.7.0", "3.7.1", "3.9.0"])
def test_triton_may_be_the_one_that_torch_pins(version):
    """torch 2.11 to 2.13 for a card pin Triton 3.6.0 to 3.7.1; beside a CPU build the newest is taken."""
    triton = requirements("tests/requirements.txt")["triton"]
    assert version in triton.specifier and "4.0.0" not in triton.specifier


@pytest.mark.parametrize("system, wanted", [("Linux", True), ("Darwin", False), ("Windows", False)])
def test_triton_is_asked_for_where_it_is_made(system, wanted):
    assert requirements("tests/requirements.txt")["triton"].marker.evaluate({"platform_system": system}) == wanted


def test_every_package_is_in_the_table_with_its_reason():
    told = README[README.index("## Dependencies") : README.index("## Licence")]
    for name in {**requirements("requirements.txt"), **requirements("tests/requirements.txt")}:
        assert re.search(rf"^\|[^|]*\b{re.escape(name)}\b[^|]*\|", told, re.MULTILINE), name


def test_every_variable_of_ours_is_told():
    files = [ROOT / "app.py", ROOT / ".ci" / "run", *ROOT.glob("clover_viz/**/*.py"), *ROOT.glob("tests/*.py")]
    read = {name for file in files for name in re.findall(r"\bCLOVER_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8"))}
    assert sorted(name for name in read if not re.search(rf"`{name}[`=]", README)) == []


def test_the_front_matter_is_what_a_space_reads():
    yaml = pytest.importorskip("yaml")
    front = yaml.safe_load(README.split("---")[1])
    assert front["sdk"] == "gradio" and (ROOT / front["app_file"]).is_file()
    assert f"=={front['sdk_version']}" == str(requirements("requirements.txt")["gradio"].specifier)
    assert front["python_version"] == "3.12" and len(front["short_description"]) <= 60
    assert front["models"] and all(re.fullmatch(r"[\w.-]+/[\w.-]+", name) for name in front["models"])


@pytest.mark.parametrize("figure, says", [(34_661_350_848 * 2, "69.3 GB"), (131_072 * 20_480, "2.7 GB")])
def test_memory_on_a_space_follows_from_the_shape(figure, says):
    space = README[README.index("## On a Space") : README.index("## Performance")]
    assert f"{figure / 1e9:.1f} GB" == says and says in space
