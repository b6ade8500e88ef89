"""The process that compares for `apart.py`: a question on standard input, lines of JSON as the answer."""

import json
import resource
import sys

from journeyman.verification.tampering.apart import MEMORY_BYTES, as_line
from journeyman.verification.tampering.report import ChangedFile, find_tampering


def main() -> None:
    question = json.load(sys.stdin)
    seconds = max(1, round(question["seconds"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    files = [
        ChangedFile(
            path=one["path"],
            base=_content(one["base"]),
            head=_content(one["head"]),
            is_complete=one["is_complete"],
        )
        for one in question["files"]
    ]
    findings = find_tampering(
        files,
        collected_on_base=question["collected_on_base"],
        collected_on_head=question["collected_on_head"],
        on_file=lambda path: print(as_line(path=path), flush=True),
    )
    print(as_line(findings=findings), flush=True)


def _content(text: str | None) -> bytes | None:
    return text.encode("latin-1") if text is not None else None


if __name__ == "__main__":
    main()
