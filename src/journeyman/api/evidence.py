"""What shows that an order works: records of its checks, their full output, and the keys that signed them.

Output is what code of a repository printed: it is served as text that no browser runs or renders.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from journeyman.access.signing import ALGORITHM
from journeyman.access.store import RegisteredKey, SigningKeys
from journeyman.api.fields import InDigits, NameText
from journeyman.api.models import Parameters
from journeyman.api.services import Given
from journeyman.api.work_orders import Order
from journeyman.environments.doctor import RemedyOwner
from journeyman.errors import NotFound
from journeyman.verification.envelope import MEDIA_TYPE
from journeyman.verification.records import outcome_of
from journeyman.verification.statement import EvidenceOutcome, outcome_word
from journeyman.work_orders.order import Evidence

router = APIRouter(tags=["evidence"])

_OF_ORDER = "/api/agent-work-orders/{agent_work_order_id}/evidence"
_INERT = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff"}
"""The sandbox keeps a browser from running anything, whatever it takes the text for."""


class _Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


class CheckFault(_Shown):
    """What a check's environment lacks."""

    what: str
    remedy: str
    who: RemedyOwner
    command: str


class CheckOnBase(_Shown):
    """The same check on the base commit."""

    outcome: str
    summary: str


class CheckRecord(_Shown):
    name: str
    kind: str = "test"
    command: str = ""
    workdir: str = "."
    outcome: str
    summary: str = ""
    tests: dict[str, int] | None = None
    """`passed`, `failed`, `skipped`; null where they cannot be counted."""
    runner: str | None = None
    """Whose report the results of single tests are from; null: only the exit code counts."""
    base: CheckOnBase | None = None
    was_failing: bool = False
    """Whether it failed on the base, too, and single tests cannot be told apart."""
    new_failures: list[str] = []
    still_failing: list[str] = []
    """Failed before, and the task names it."""
    old_failures: list[str] = []
    fixed: list[str] = []
    flaky: list[str] = []
    removed: list[str] = []
    """Ran on the base and did not on the head."""
    newly_skipped: list[str] = []
    faults: list[CheckFault] = []
    exit_code: int | None = None
    duration_seconds: float = 0.0
    failing: str = ""
    output: str = ""
    """Of a long one the beginning and the end."""

    @classmethod
    def of(cls, check: dict[str, Any]) -> Self:
        """Records of earlier versions lack fields, say `status` for the outcome, and have lists of words."""
        known = {name: value for name, value in check.items() if value is not None}
        for name, between in (("command", " "), ("failing", "\n")):
            if isinstance(known.get(name), list):
                known[name] = between.join(known[name])
        return cls.model_validate({**known, "outcome": outcome_of(check)})


class EvidenceRecord(_Shown):
    round: int
    step: str
    attempt: int
    commit_sha: str
    tree_sha: str | None
    base_commit_sha: str | None
    passed: bool | None
    outcome: EvidenceOutcome
    checks: list[CheckRecord]
    red_to_green: list[dict[str, Any]]
    tampering: list[dict[str, Any]]
    statement: dict[str, Any] | None
    """The signed DSSE envelope; null for records of earlier versions."""
    summary: str
    created_at: AwareDatetime

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        known = {
            **vars(evidence),
            "outcome": outcome_word(evidence.passed),
            "checks": [CheckRecord.of(check) for check in evidence.checks],
            "red_to_green": evidence.red_to_green or [],
            "tampering": evidence.tampering or [],
        }
        return cls.model_validate(known)


class EvidenceRecords(_Shown):
    agent_work_order_id: str
    evidence: list[EvidenceRecord]


class AttemptQuery(Parameters):
    """Attempts count anew in every round and step; left out, the newest is meant."""

    round: Annotated[int, Field(ge=1, le=1_000_000), InDigits] | None = None
    step: NameText | None = None


class SigningKey(_Shown):
    key_id: str
    """SHA-256 of the public key's 32 bytes; an envelope names it as `keyid`."""
    algorithm: str
    public_key: str
    """Base64 of its 32 bytes."""
    created_at: AwareDatetime

    @classmethod
    def of(cls, registered: RegisteredKey) -> Self:
        return cls(
            key_id=registered.key.key_id,
            algorithm=ALGORITHM,
            public_key=registered.key.text,
            created_at=registered.created_at,
        )


class SigningKeyList(_Shown):
    keys: list[SigningKey]


AttemptNumber = Annotated[int, Path(ge=1, le=1_000_000), InDigits]


@router.get(_OF_ORDER)
async def evidence(order: Order, services: Given) -> EvidenceRecords:
    found = await services.orders.evidence.of_order(order.agent_work_order_id)
    return EvidenceRecords(
        agent_work_order_id=order.agent_work_order_id, evidence=[EvidenceRecord.of(one) for one in found]
    )


@router.get(
    _OF_ORDER + "/{attempt}/statement",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "object"}}}}},
)
async def statement(
    order: Order, attempt: AttemptNumber, query: Annotated[AttemptQuery, Query()], services: Given
) -> Response:
    """The signed evidence of an attempt, as a file for `jm evidence verify`."""
    found = _attempt(await services.orders.evidence.of_order(order.agent_work_order_id), attempt, query)
    if found.statement is None:
        raise NotFound("this evidence is not signed", hint="Evidence of earlier versions has no signature.")
    name = f"{order.agent_work_order_id}-{found.commit_sha[:12]}.dsse.json"
    headers = {**_INERT, "Content-Disposition": f'attachment; filename="{name}"'}
    return JSONResponse(found.statement, media_type=MEDIA_TYPE, headers=headers)


@router.get(
    _OF_ORDER + "/{attempt}/output/{check:path}",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def output(
    order: Order, attempt: AttemptNumber, check: str, query: Annotated[AttemptQuery, Query()], services: Given
) -> Response:
    """Everything that a check printed; where that was more than a sandbox may print, without the middle."""
    of_order = await services.orders.evidence.of_order(order.agent_work_order_id)
    kept = await services.orders.check_outputs.find(_attempt(of_order, attempt, query), check)
    if kept is None:
        raise NotFound("there is no output of such a check", hint="The evidence lists the checks by name.")
    return Response(kept.output, media_type="text/plain; charset=utf-8", headers=_INERT)


@router.get("/api/evidence/keys")
async def keys(services: Given) -> SigningKeyList:
    """The public keys of everything that ever signed evidence here."""
    return SigningKeyList(keys=[SigningKey.of(one) for one in await SigningKeys(services.database).all()])


def _attempt(of_order: Sequence[Evidence], attempt: int, query: AttemptQuery) -> Evidence:
    wanted = [
        one
        for one in of_order
        if one.attempt == attempt and query.round in (None, one.round) and query.step in (None, one.step)
    ]
    if not wanted:
        raise NotFound("there is no evidence of such an attempt", hint="The order's evidence lists them.")
    return wanted[-1]
