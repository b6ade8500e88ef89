import subprocess
import sys
from pathlib import Path

import pytest

from journeyman.errors import InvalidInput, JourneymanError, NotFound, Unauthenticated
from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.providers import OFFERED
from tests.gateway.calls import ask, prompted, settings_with, write_script
from tests.standins.model_server import ModelServer, Reply, in_order


@pytest.mark.parametrize(
    ("name", "expected", "hint"),
    [
        ("", InvalidInput, "provider/model"),
        ("gpt-5.5", InvalidInput, "provider/model"),
        ("acme/gpt-5.5", InvalidInput, "anthropic"),
        ("openai/", InvalidInput, "provider/model"),
        ("openai/gpt 5", InvalidInput, "provider/model"),
        ("openai/gpt-5.5", Unauthenticated, "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-5-5", Unauthenticated, "ANTHROPIC_API_KEY"),
        ("google/gemini-3.8-flash", Unauthenticated, "GEMINI_API_KEY"),
        ("scripted/nothing", NotFound, "demo"),
        ("scripted/../demo", NotFound, "demo"),
    ],
)
def test_a_model_that_cannot_be_used_says_what_it_needs(
    home: Path, name: str, expected: type[JourneymanError], hint: str
) -> None:
    with pytest.raises(JourneymanError) as caught:
        Gateway(settings_with(home)).check_model(name)
    assert type(caught.value) is expected
    assert hint in caught.value.hint


def test_a_model_with_a_key_is_accepted_without_a_call(home: Path) -> None:
    gateway = Gateway(settings_with(home, OPENAI_API_KEY="sk-some-test-key"))
    gateway.check_model("openai/whatever-comes-next")
    gateway.check_model("scripted/demo")


def test_models_say_whether_they_are_ready_and_what_they_cost(home: Path) -> None:
    settings = settings_with(home, ANTHROPIC_API_KEY="sk-some-test-key")
    write_script(settings, "mine", {"replies": [{"say": "Hello"}]})
    models = {model.name: model for model in Gateway(settings).models()}
    assert models["scripted/demo"].ready
    assert models["scripted/mine"].input_usd_per_million == 0.0
    assert models["anthropic/claude-sonnet-5-5"].ready
    assert models["anthropic/claude-sonnet-5-5"].context_window == 1_000_000
    assert not models["openai/gpt-5.5"].ready
    assert models["openai/gpt-5.5"].needs == "Set OPENAI_API_KEY."


def test_every_offered_model_has_a_known_price(home: Path) -> None:
    offered = [model for model in Gateway(settings_with(home)).models() if model.provider != "scripted"]
    assert len(offered) == sum(len(names) for names in OFFERED.values())
    assert [model.name for model in offered if not model.output_usd_per_million] == []


def test_the_gateway_says_what_a_real_model_needs(home: Path) -> None:
    assert "OPENAI_API_KEY" in Gateway(settings_with(home)).needs()
    assert Gateway(settings_with(home, GEMINI_API_KEY="some-test-key")).needs() == ""


async def test_a_model_without_a_known_price_costs_an_unknown_sum(home: Path) -> None:
    with ModelServer(in_order(Reply(text="Hello"))) as server:
        settings = settings_with(home, OPENAI_API_KEY="sk-some-test-key", OPENAI_BASE_URL=f"{server.url}/v1")
        gateway = Gateway(settings)
        _, answer = await ask(gateway, ModelCall(model="openai/unpriced", messages=prompted("Hi")))
        await gateway.close()
    assert answer.usage.tokens_in == 100
    assert answer.usage.cost_usd is None


async def test_preparing_an_unusable_model_is_refused(home: Path) -> None:
    with pytest.raises(Unauthenticated):
        await Gateway(settings_with(home)).prepare("openai/gpt-5.5")


def test_openai_and_scripted_models_need_no_model_library(home: Path) -> None:
    program = f"""
import asyncio, sys
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.gateway.gateway import Gateway
from journeyman.settings import load_settings

async def prepare():
    environment = {{"JOURNEYMAN_HOME": {str(home)!r}, "OPENAI_API_KEY": "sk-some-test-key"}}
    gateway = Gateway(load_settings(environment))
    await gateway.prepare("scripted/demo")
    print("httpx2" in sys.modules)
    await gateway.prepare("openai/gpt-5.5")
    await gateway.close()

asyncio.run(prepare())
heavy = ("pydantic_ai", "openai", "anthropic", "google.genai")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "[]"]


async def test_a_key_that_the_provider_repeats_is_not_handed_on(home: Path) -> None:
    key = "sk-canary-of-the-gateway"
    repeating = Reply(text=f"Your key is {key}.", tools=[("shell", {"command": f"echo {key}"})])
    with ModelServer(in_order(repeating)) as server:
        settings = settings_with(home, OPENAI_API_KEY=key, OPENAI_BASE_URL=f"{server.url}/v1")
        gateway = Gateway(settings)
        said, answer = await ask(gateway, ModelCall(model="openai/gpt-5.5", messages=prompted("Hello")))
        await gateway.close()
    assert "".join(said) == answer.message.text == "Your key is [redacted]."
    assert answer.message.calls[0].arguments == '{"command": "echo [redacted]"}'
