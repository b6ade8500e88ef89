"""The rules of one sandbox while it lives: they grow, and what they refuse is reported once.

They grow in two ways: a person allows a host, or a registry's own answers name one.
"""

from collections.abc import Callable, Iterable

import structlog

from journeyman.environments.egress.rules import Decision, Denial, EgressRules, Registry, Scheme, decide

OnDenied = Callable[[Denial], None]

_MOST_DENIALS = 500
"""Reported of one sandbox; a program that tries every host there is would fill the log."""
_log = structlog.get_logger()


class EgressPolicy:
    def __init__(self, rules: EgressRules, on_denied: OnDenied) -> None:
        self.rules = rules
        self.command: str | None = None
        self._on_denied = on_denied
        self._denied: set[tuple[str, int]] = set()

    def decide(
        self, host: str, port: int, scheme: Scheme, *, method: str | None = None, path: str | None = None
    ) -> Decision:
        """Decide, and report a denial."""
        decision = decide(self.rules, host, port, scheme, method=method, path=path)
        if decision.verdict == "denied":
            self.deny(host, port, decision.reason, may_be_allowed=decision.may_be_allowed)
        return decision

    def deny(self, host: str, port: int, reason: str, *, may_be_allowed: bool = False) -> None:
        if (host, port) in self._denied or len(self._denied) >= _MOST_DENIALS:
            return
        self._denied.add((host, port))
        _log.info("egress_denied", host=host, port=port, reason=reason)
        self._on_denied(Denial(host, port, reason, self.command, may_be_allowed))

    def report_anew(self) -> None:
        """Report from now on what has been reported before: another step uses the sandbox."""
        self._denied.clear()

    def allow(self, host: str) -> None:
        self.rules = self.rules.with_host(host.lower())
        self._denied = {one for one in self._denied if not host.lower().startswith(one[0])}

    def widen(self, found: Iterable[Registry]) -> None:
        self.rules = self.rules.with_registries(found)
