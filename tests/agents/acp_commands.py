"""Command lines of agents that speak the Agent Client Protocol, as an operator would name them."""

import json

from journeyman.agents.npm_packages import NpmPackages

_OPENCODE = {
    "provider": {
        "door": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {"model": {"name": "model", "limit": {"context": 128000, "output": 32000}}},
        }
    },
    "model": "door/model",
    "small_model": "door/model",
    "permission": {"*": "allow", "external_directory": "allow", "question": "deny"},
}


def command_of(packages: NpmPackages, name: str) -> list[str]:
    if name == "opencode":
        configuration = f"OPENCODE_CONFIG_CONTENT={json.dumps(_OPENCODE)}"
        switches = ["OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"]
        return ["env", configuration, *switches, *packages.command("opencode"), "acp"]
    switches = ["GEMINI_DEFAULT_AUTH_TYPE=gemini-api-key", "GEMINI_CLI_TRUST_WORKSPACE=true"]
    return ["env", *switches, *packages.command("gemini"), "--acp", "--approval-mode", "yolo", "-m", "model"]
