"""What was built: small enough, and fitting the API it talks to."""

import gzip
import re
import subprocess

from tests.house.source import PACKAGE, ROOT

_ENTRY_BYTES = 160_000
DIST = PACKAGE / "web_dist"


def test_the_first_page_loads_at_most_160_kilobytes_of_script() -> None:
    """Everything that the document loads by itself, packed; panels that are opened later come on top."""
    document = (DIST / "index.html").read_text()
    loaded = set(re.findall(r'(?:src|href)="/([^"]+\.js)"', document))
    assert any(name.startswith("assets/index") for name in loaded)
    size = sum(len(gzip.compress((DIST / name).read_bytes(), 9)) for name in loaded)
    assert size <= _ENTRY_BYTES, f"{size:,} bytes in {sorted(loaded)}"


def test_nothing_that_was_built_is_loaded_from_elsewhere() -> None:
    texts = [path.read_text(errors="ignore") for path in DIST.glob("*.html")]
    texts += [path.read_text(errors="ignore") for path in DIST.rglob("*.css")]
    assert texts
    assert [
        found for text in texts for found in re.findall(r'(?:url\(|src="|href=")https?://[^")]+', text)
    ] == []


def test_the_types_of_the_ui_are_those_of_the_api() -> None:
    checked = subprocess.run(
        [ROOT / "scripts" / "web_api.sh", "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
