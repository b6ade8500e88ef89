"""A store that takes nothing for a while is waited for; every other fault is passed on at once."""

import errno

import pytest

from journeyman.engine.store_retries import retry_until_stored
from journeyman.errors import StoreUnavailable


@pytest.mark.parametrize("fault", [StoreUnavailable("away"), OSError(errno.ENOSPC, "full")])
async def test_what_the_store_did_not_take_is_done_again(fault: Exception) -> None:
    faults = [fault]

    async def act() -> str:
        if faults:
            raise faults.pop()
        return "done"

    assert await retry_until_stored(act) == "done"


async def test_a_fault_that_is_not_the_stores_is_passed_on() -> None:
    async def act() -> None:
        raise PermissionError(errno.EACCES, "no")

    with pytest.raises(PermissionError):
        await retry_until_stored(act)
