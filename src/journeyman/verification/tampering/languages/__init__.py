"""How tests are written in each language."""

from collections.abc import Mapping

from journeyman.verification.tampering.cases import Language
from journeyman.verification.tampering.languages.go import GO
from journeyman.verification.tampering.languages.java import JAVA
from journeyman.verification.tampering.languages.javascript import JAVASCRIPT
from journeyman.verification.tampering.languages.python import PYTHON
from journeyman.verification.tampering.languages.ruby import RUBY
from journeyman.verification.tampering.languages.rust import RUST

LANGUAGES: Mapping[str, Language] = {
    "py": PYTHON,
    "js": JAVASCRIPT,
    "ts": JAVASCRIPT,
    "tsx": JAVASCRIPT,
    "go": GO,
    "rs": RUST,
    "java": JAVA,
    "rb": RUBY,
}
"""By the name of the grammar."""
