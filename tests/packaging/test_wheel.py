"""The wheel as somebody else installs it: without this checkout, and without Node.js."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.journeys.product import Product

_TOOLS = ("git", "bwrap", "rg", "setpriv", "sh")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    built = subprocess.run(
        [sys.executable, *build, "--wheel-dir", directory, ROOT], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return next(directory.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with the wheel in it. What the wheel depends on is lent from here, as it was installed here."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return venv


def test_the_wheel_serves_the_page_and_all_that_it_loads_without_node(
    installed: Path, tmp_path: Path
) -> None:
    (home := tmp_path / "home").mkdir()
    (tools := tmp_path / "tools").mkdir()
    for name in _TOOLS:
        (tools / name).symlink_to(shutil.which(name) or "")
    path = f"{installed / 'bin'}:{tools}"
    assert shutil.which("node", path=path) is None
    product = Product(home, PATH=path)
    product.program = installed / "bin" / "jm"
    with product:
        page = product.request("GET", "/")
        loaded = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
        answers = {address: product.request("GET", address) for address in loaded}
    assert page.headers["content-type"].startswith("text/html")
    assert any(address.startswith("/assets/index") for address in loaded)
    assert {answer.status_code for answer in answers.values()} == {200}
    assert all(len(answer.content) > 0 for answer in answers.values())


def test_the_wheel_brings_its_own_package(installed: Path) -> None:
    asked = "import journeyman; print(journeyman.__file__)"
    answer = subprocess.run([installed / "bin" / "python", "-c", asked], capture_output=True, text=True)
    assert answer.stdout.startswith(str(installed)), answer.stderr
