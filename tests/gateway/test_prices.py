import random
from pathlib import Path

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot

from journeyman.errors import InvalidSetting
from journeyman.gateway.messages import Tokens
from journeyman.gateway.prices import FREE, Prices
from journeyman.settings import ModelPrice, load_settings

CLAUDE = "anthropic/claude-sonnet-5-5"


def test_the_installed_table_knows_real_models() -> None:
    price = Prices({}).of(CLAUDE)
    assert price is not None
    assert 0 < price.input_usd < price.output_usd


def test_nobody_knows_the_price_of_a_model_that_is_in_no_table() -> None:
    assert Prices({}).of("openai/unpriced") is None
    assert Prices({}).cost("openai/unpriced", Tokens(1000, 10)) is None


def test_the_operators_price_goes_first_for_every_provider() -> None:
    own = ModelPrice(input=1, output=10, cache_read=0.1, cache_write=2)
    for model in ("openai/unpriced", CLAUDE, "scripted/demo"):
        prices = Prices({model: own})
        assert prices.of(model) == type(FREE)(1, 10)
        cost = prices.cost(model, Tokens(1_000_000, 100_000, 500_000, 100_000))
        assert cost == pytest.approx(0.4 + 0.05 + 0.2 + 1.0)


def test_a_cache_without_a_price_of_its_own_costs_what_input_costs() -> None:
    prices = Prices({"openai/x": ModelPrice(input=2, output=0)})
    assert prices.cost("openai/x", Tokens(1_000_000, 0, 400_000, 100_000)) == pytest.approx(2.0)


def test_reading_from_the_cache_is_cheaper_than_the_table_says_of_input() -> None:
    prices = Prices({})
    fresh, cached = (prices.cost(CLAUDE, Tokens(10_000, 1, read)) for read in (0, 10_000))
    assert fresh is not None
    assert cached is not None
    assert cached < fresh


def test_every_cost_is_exactly_what_the_table_says() -> None:
    prices, chance, compared = Prices({}), random.Random(7), 0
    for provider in get_snapshot().providers:
        if provider.id not in ("openai", "anthropic", "google"):
            continue
        for name in (model.id for model in provider.models):
            model = f"{provider.id}/{name}"
            if prices.of(model) is None:
                continue
            for most in (1, 100, 10_000, 127_999, 128_001, 199_999, 200_001, 272_001, 2_000_000):
                tokens_in = most - chance.randrange(max(1, most // 2_000))
                read = chance.randrange(tokens_in + 1)
                written = chance.randrange(tokens_in - read + 1)
                out = chance.randrange(100_000)
                usage = genai_prices.Usage(
                    input_tokens=tokens_in,
                    output_tokens=out,
                    cache_read_tokens=read,
                    cache_write_tokens=written,
                )
                said = genai_prices.calc_price(usage, name, provider_id=provider.id)
                assert prices.cost(model, Tokens(tokens_in, out, read, written)) == float(said.total_price), (
                    model,
                    usage,
                )
                compared += 1
    assert compared > 1000


def test_a_cost_is_known_even_where_a_server_counts_nonsense() -> None:
    sane = Prices({}).cost(CLAUDE, Tokens(100, 20, 100))
    assert sane is not None
    assert Prices({}).cost(CLAUDE, Tokens(100, 20, 500, 70)) == sane > 0


@pytest.mark.parametrize("tokens", [None, Tokens(0, 10)])
def test_a_call_that_was_not_counted_has_no_known_cost(tokens: Tokens | None) -> None:
    assert Prices({}).cost(CLAUDE, tokens) is None


def test_scripted_models_are_free() -> None:
    assert Prices({}).of("scripted/demo") == FREE
    assert Prices({}).cost("scripted/demo", Tokens(10, 10)) == 0.0


@pytest.mark.parametrize("way", ["environment", "file"])
def test_prices_are_set_as_json_or_as_a_table_of_the_file(home: Path, way: str) -> None:
    environment = {"JOURNEYMAN_HOME": str(home)}
    if way == "environment":
        environment["JOURNEYMAN_MODEL_PRICES"] = '{"openai/x": {"input": 1.5, "output": 2}}'
    else:
        table = '[JOURNEYMAN_MODEL_PRICES]\n"openai/x" = {input = 1.5, output = 2}\n'
        (home / "journeyman.toml").write_text(table)
    assert load_settings(environment).model_prices == {"openai/x": ModelPrice(input=1.5, output=2)}


@pytest.mark.parametrize("given", ["{", "[]", '{"openai/x": {"input": -1, "output": 2}}', '{"openai/x": 1}'])
def test_prices_that_make_no_sense_are_refused(given: str) -> None:
    with pytest.raises(InvalidSetting, match="JOURNEYMAN_MODEL_PRICES"):
        load_settings({"JOURNEYMAN_MODEL_PRICES": given})
