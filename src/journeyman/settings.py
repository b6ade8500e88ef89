"""Every setting, in one place: the only module that reads the environment.

Values come from the environment, then from `journeyman.toml` in the home. A file in the working
directory is never read: the working directory may be a repository of another author.
"""

import difflib
import json
import os
import tomllib
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from journeyman.errors import Conflict, InvalidSetting

_OWN_PREFIX = "JOURNEYMAN_"


def _default_home() -> Path:
    return Path(platformdirs.user_data_dir("journeyman", appauthor=False))


RoleName = Literal["explore", "plan", "build", "debug", "review", "answer"]
"""What an agent can be in a turn; `agents/roles.py` has the instructions and permissions of each."""


class ModelPrice(BaseModel):
    """US dollars for a million tokens. What is read from or written to a cache costs as much as other input
    where nothing else is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


class Settings(BaseModel):
    """What an operator can choose. A field's alias is the name of its environment variable."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True
    )

    home: Path = Field(default_factory=_default_home, alias="JOURNEYMAN_HOME")
    """Where databases, mirrors, workspaces and logs live."""
    database_url: str = Field(default="", alias="DATABASE_URL")
    """`postgresql://…`; empty means SQLite in the home."""
    host: str = Field(default="127.0.0.1", alias="JOURNEYMAN_HOST")
    """Address the server listens on. There is no sign-in yet, so only loopback is accepted."""
    port: int = Field(default=8700, ge=0, le=65535, alias="JOURNEYMAN_PORT")
    """Port the server listens on; 0 picks a free one."""
    url: str = Field(default="", alias="JOURNEYMAN_URL")
    """The server that `jm` talks to; empty means host and port above."""
    api_key: SecretStr | None = Field(default=None, alias="JOURNEYMAN_API_KEY")
    """Sent by `jm` as a bearer token; a single-user server does not ask for one."""
    max_concurrent_orders: int = Field(default=20, ge=1, alias="JOURNEYMAN_MAX_CONCURRENT_ORDERS")
    """Orders that run at once in one process; the others wait in the queue."""
    max_concurrent_orders_per_repository: int | None = Field(
        default=None, ge=1, alias="JOURNEYMAN_MAX_CONCURRENT_ORDERS_PER_REPOSITORY"
    )
    """Orders of one repository that run at once, over all workers; without it only the limit above holds."""
    max_queued_orders: int = Field(default=2000, ge=1, alias="JOURNEYMAN_MAX_QUEUED_ORDERS")
    """Orders that may wait in the queue; with so many a new one is refused with 429 and a Retry-After."""
    max_queued_days: float = Field(default=30, ge=0, alias="JOURNEYMAN_MAX_QUEUED_DAYS")
    """Days that an order may wait for a worker before it is cancelled; 0 is for ever."""
    max_paused_days: float = Field(default=90, ge=0, alias="JOURNEYMAN_MAX_PAUSED_DAYS")
    """Days that an order may be paused before it is cancelled; 0 is for ever."""
    max_awaiting_approval_days: float = Field(default=90, ge=0, alias="JOURNEYMAN_MAX_AWAITING_APPROVAL_DAYS")
    """Days that an order may wait for a person's decision before it is cancelled; 0 is for ever."""
    worker_lease_seconds: float = Field(default=30, ge=3, alias="JOURNEYMAN_WORKER_LEASE_SECONDS")
    """Silence after which a worker on a shared database is given up and its orders go on elsewhere."""
    stall_seconds: float = Field(default=7200, ge=60, alias="JOURNEYMAN_STALL_SECONDS")
    """Time without any event after which a running order is begun again."""

    model: str = Field(default="", alias="JOURNEYMAN_MODEL")
    """Model of orders that name none, as `provider/model`. Empty: they are refused with a hint."""
    small_model: str = Field(default="", alias="JOURNEYMAN_SMALL_MODEL")
    """Names orders and their branches and sorts later prompts, as `provider/model`. Empty: rules do both."""
    role_models: dict[RoleName, str] = Field(default_factory=dict, alias="JOURNEYMAN_ROLE_MODELS")
    """Models of roles, for orders on the default model: a table of role and model, or JSON."""
    scripts: Path | None = Field(default=None, alias="JOURNEYMAN_SCRIPTS")
    """Directory with scripts of the scripted model, beside the bundled ones."""
    agent_max_turns: int = Field(default=100, ge=1, alias="JOURNEYMAN_AGENT_MAX_TURNS")
    """Model calls that one agent turn may make before it is stopped."""
    agent_timeout_seconds: float = Field(default=3600, gt=0, alias="JOURNEYMAN_AGENT_TIMEOUT_SECONDS")
    """Wall clock that one agent turn may take."""
    agent_line_bytes: int = Field(default=8_000_000, ge=10_000, alias="JOURNEYMAN_AGENT_LINE_BYTES")
    """Longest line that an agent's program may write; with a longer one its turn is ended."""
    agent_turn_bytes: int = Field(default=16_000_000, ge=10_000, alias="JOURNEYMAN_AGENT_TURN_BYTES")
    """What an agent may say in one turn, its tools' output included; beyond it the turn is ended."""
    agent_order_bytes: int = Field(default=64_000_000, ge=10_000, alias="JOURNEYMAN_AGENT_ORDER_BYTES")
    """What all turns of one order may say together, and what is therefore stored of them."""
    agents_directory: Path | None = Field(default=None, alias="JOURNEYMAN_AGENTS_DIRECTORY")
    """Where `jm agents install` puts agents; `agents` in the home when not set."""
    acp_agents: dict[str, str] = Field(default_factory=dict, alias="JOURNEYMAN_ACP_AGENTS")
    """Agents that speak the Agent Client Protocol: a table of names and command lines, or JSON."""
    model_idle_timeout_seconds: float = Field(
        default=120, gt=0, alias="JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS"
    )
    """Silence of a model's stream after which the call counts as cut."""
    model_prices: dict[str, ModelPrice] = Field(default_factory=dict, alias="JOURNEYMAN_MODEL_PRICES")
    """Prices that go before those of the installed table: a table of `provider/model`, or JSON."""
    budget_per_day_usd: float | None = Field(default=None, ge=0, alias="JOURNEYMAN_BUDGET_PER_DAY_USD")
    """What all orders together may spend on models in a day (UTC)."""
    budget_total_usd: float | None = Field(default=None, ge=0, alias="JOURNEYMAN_BUDGET_TOTAL_USD")
    """What all orders together may ever spend on models."""
    max_tokens_per_order: int | None = Field(default=None, ge=1, alias="JOURNEYMAN_MAX_TOKENS_PER_ORDER")
    """Tokens, in and out, that one order may use: a limit that needs no price."""
    max_calls_per_order: int | None = Field(default=None, ge=1, alias="JOURNEYMAN_MAX_CALLS_PER_ORDER")
    """Calls of a model that one order may make: a limit that needs no price."""
    keep_model_calls: bool = Field(default=False, alias="JOURNEYMAN_KEEP_MODEL_CALLS")
    """Whether the requests and answers of every model call are kept in the home, without secrets."""
    verification_attempts: int = Field(default=5, ge=1, le=20, alias="JOURNEYMAN_VERIFICATION_ATTEMPTS")
    """Times that the checks run; between them the agent is given what failed."""
    verification_timeout_seconds: float = Field(
        default=1800, gt=0, alias="JOURNEYMAN_VERIFICATION_TIMEOUT_SECONDS"
    )
    """Wall clock that one check may take."""
    evidence_key: SecretStr | None = Field(default=None, alias="JOURNEYMAN_EVIDENCE_KEY")
    """Ed25519 private key that signs evidence, as PEM or base64 of 32 bytes; without it one in the home."""

    local_isolation: Literal["bubblewrap", "none"] = Field(
        default="bubblewrap", alias="JOURNEYMAN_LOCAL_ISOLATION"
    )
    """`none` runs agents without a jail, as the user of the server. Every surface then says so."""
    sandbox_network: Literal["none", "open"] = Field(default="none", alias="JOURNEYMAN_SANDBOX_NETWORK")
    """Network inside the local sandbox."""
    sandbox_memory_mb: int = Field(default=4096, ge=64, alias="JOURNEYMAN_SANDBOX_MEMORY_MB")
    """Memory that one order's sandbox may use."""
    sandbox_processes: int = Field(default=512, ge=16, alias="JOURNEYMAN_SANDBOX_PROCESSES")
    """Processes and threads that may live in one order's sandbox."""
    sandbox_disk_mb: int = Field(default=10_240, ge=16, alias="JOURNEYMAN_SANDBOX_DISK_MB")
    """Disk that one order's files may take: its workspace, its sandboxes' homes and `/tmp`, its sessions."""
    sandbox_files: int = Field(default=1_000_000, ge=1000, alias="JOURNEYMAN_SANDBOX_FILES")
    """Files and directories that one order may have on the disk."""
    disk_reserve_mb: int = Field(default=256, ge=1, alias="JOURNEYMAN_DISK_RESERVE_MB")
    """Room that is kept on the home's disk for the server itself; never more than a fiftieth of the disk."""
    sandbox_command_timeout_seconds: float = Field(
        default=600, gt=0, alias="JOURNEYMAN_SANDBOX_COMMAND_TIMEOUT_SECONDS"
    )
    """Longest run of one command of an agent."""
    sandbox_output_bytes: int = Field(default=1_000_000, ge=1000, alias="JOURNEYMAN_SANDBOX_OUTPUT_BYTES")
    """Output of one command that is kept; the middle of more is dropped."""
    sandbox_paths: list[Path] = Field(default_factory=list, alias="JOURNEYMAN_SANDBOX_PATHS")
    """More directories to show read-only inside the sandbox (toolchains), separated by `:`."""

    tampering: Literal["show", "ask"] = Field(default="show", alias="JOURNEYMAN_TAMPERING")
    """What an order does when its change touches tests, checks or their settings: show it, or pause for a
    person."""
    environment_setup: Literal["auto", "off"] = Field(default="auto", alias="JOURNEYMAN_ENVIRONMENT_SETUP")
    """Whether what a repository needs is installed before its agents work."""
    environment_problems: Literal["continue", "ask"] = Field(
        default="continue", alias="JOURNEYMAN_ENVIRONMENT_PROBLEMS"
    )
    """What an order does when its environment lacks something: go on and say so, or pause for a person."""
    environment_timeout_seconds: float = Field(
        default=1800, gt=0, alias="JOURNEYMAN_ENVIRONMENT_TIMEOUT_SECONDS"
    )
    """Wall clock that the set-up of an environment may take."""
    environment_secrets: dict[str, SecretStr] = Field(
        default_factory=dict, alias="JOURNEYMAN_ENVIRONMENT_SECRETS"
    )
    """Variables that a set-up gets when its environment names them: a table of names and values, or JSON."""
    search_path: str = Field(default="", alias="PATH")
    """Where the server looks for the tools of projects."""
    layers_max_mb: int = Field(default=20_480, ge=16, alias="JOURNEYMAN_LAYERS_MAX_MB")
    """Disk that installed environments may take together; those not used for longest are removed first."""
    setup_hosts: list[str] = Field(default_factory=list, alias="JOURNEYMAN_SETUP_HOSTS")
    """Hosts that every set-up may reach beside the package registries, separated by `:`."""
    registry_credentials: dict[str, SecretStr] = Field(
        default_factory=dict, alias="JOURNEYMAN_REGISTRY_CREDENTIALS"
    )
    """What the egress proxy sends to a registry as `Authorization`: a table of hosts and values, or JSON."""
    registry_ca_file: Path | None = Field(default=None, alias="JOURNEYMAN_REGISTRY_CA_FILE")
    """Certificates by which the egress proxy trusts registries; without it those of the system."""
    upstream_proxy: str = Field(default="", alias="JOURNEYMAN_UPSTREAM_PROXY")
    """An HTTP proxy of this network, through which the egress proxy reaches the outside."""
    check_packages: Literal["touched", "all"] = Field(default="touched", alias="JOURNEYMAN_CHECK_PACKAGES")
    """Which packages of a repository with several are checked: those that the change touches, or all."""

    allow_local_repositories: bool = Field(default=True, alias="JOURNEYMAN_ALLOW_LOCAL_REPOSITORIES")
    """Whether an order may name a directory of this machine."""
    repository_max_files: int = Field(default=200_000, ge=1, alias="JOURNEYMAN_REPOSITORY_MAX_FILES")
    """Files that a checkout may have; counted before it is made."""
    repository_max_bytes: int = Field(default=4_000_000_000, ge=1, alias="JOURNEYMAN_REPOSITORY_MAX_BYTES")
    """Bytes that a checkout may have; counted before it is made."""
    lfs_max_bytes: int = Field(default=2_000_000_000, ge=0, alias="JOURNEYMAN_LFS_MAX_BYTES")
    """Bytes of files in Git LFS that a checkout may have; files beyond stay pointers."""
    lfs_hosts: list[str] = Field(default_factory=list, alias="JOURNEYMAN_LFS_HOSTS")
    """Hosts, beside the repository's own, that keep the contents of Git LFS: a list, or JSON."""
    workspaces: Literal["overlay", "checkout"] = Field(default="overlay", alias="JOURNEYMAN_WORKSPACES")
    """`overlay` mounts workspaces over one checkout of their base, where a server of root's can mount."""
    git_author_name: str = Field(default="", alias="JOURNEYMAN_GIT_AUTHOR_NAME")
    """Author of commits; empty means the forge's user, or git's own user.name."""
    git_author_email: str = Field(default="", alias="JOURNEYMAN_GIT_AUTHOR_EMAIL")
    """Email of the author; empty means as for the name."""
    records: Literal["tree", "notes"] = Field(default="tree", alias="JOURNEYMAN_RECORDS")
    """Plan and test results: committed under `.journeyman/`, or kept in git notes."""

    commit_leaves_out: list[str] = Field(
        default=[
            ".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist",
            ".netrc", ".pypirc", "id_rsa", "id_ecdsa", "id_ed25519", ".DS_Store", "Thumbs.db", "desktop.ini",
        ],
        alias="JOURNEYMAN_COMMIT_LEAVES_OUT",
    )  # fmt: skip
    """Names of new files that are not committed, separated by `:`; one after `!` is let in again."""
    commit_max_file_bytes: int = Field(default=10_000_000, ge=0, alias="JOURNEYMAN_COMMIT_MAX_FILE_BYTES")
    """New files above this are not committed; 0 lets in whatever a forge takes."""
    commit_finds_secrets: bool = Field(default=True, alias="JOURNEYMAN_COMMIT_FINDS_SECRETS")
    """Whether a file that would bring a new secret into the repository is left out of the commit."""

    github_url: str = Field(default="https://github.com", alias="JOURNEYMAN_GITHUB_URL")
    """Web and git address of GitHub or GitHub Enterprise."""
    github_api_url: str = Field(default="https://api.github.com", alias="JOURNEYMAN_GITHUB_API_URL")
    """API address of GitHub or GitHub Enterprise."""
    github_token: SecretStr | None = Field(default=None, alias="GITHUB_TOKEN")
    """Pull requests are opened as the owner of this token. It never enters a sandbox."""
    openai_api_key: SecretStr | None = Field(default=None, alias="OPENAI_API_KEY")
    """Makes `openai/…` models usable."""
    openai_base_url: str = Field(default="", alias="OPENAI_BASE_URL")
    """Another server that speaks OpenAI's chat completions."""
    anthropic_api_key: SecretStr | None = Field(default=None, alias="ANTHROPIC_API_KEY")
    """Makes `anthropic/…` models usable."""
    anthropic_base_url: str = Field(default="", alias="ANTHROPIC_BASE_URL")
    """Another server that speaks Anthropic's messages."""
    gemini_api_key: SecretStr | None = Field(default=None, alias="GEMINI_API_KEY")
    """Makes `google/…` models usable."""
    gemini_base_url: str = Field(default="", alias="GOOGLE_GEMINI_BASE_URL")
    """Another server that speaks Google's generateContent."""

    keep_workspaces_days: float = Field(default=7, ge=0, alias="JOURNEYMAN_KEEP_WORKSPACES_DAYS")
    """Days that a paused or waiting order keeps its workspace; after that it is made again when needed."""
    keep_branches_days: float = Field(default=30, ge=0, alias="JOURNEYMAN_KEEP_BRANCHES_DAYS")
    """Days that an order's branch stays in the mirror after its pull request was merged."""
    keep_snapshots_days: float = Field(default=30, ge=0, alias="JOURNEYMAN_KEEP_SNAPSHOTS_DAYS")
    """Days that snapshots are kept; the newest of an order that did not complete stays for good."""
    keep_agent_homes_days: float = Field(default=30, ge=0, alias="JOURNEYMAN_KEEP_AGENT_HOMES_DAYS")
    """Days that the sessions of an order's agents are kept after its end; prompts go on from them."""
    keep_logs_days: float = Field(default=90, ge=0, alias="JOURNEYMAN_KEEP_LOGS_DAYS")
    """Days that the log file of an order is kept after its end."""
    keep_chatter_days: float = Field(default=90, ge=0, alias="JOURNEYMAN_KEEP_CHATTER_DAYS")
    """Days that what agents and tools said is kept after an order's end; other events stay for good."""
    keep_engine_rows_days: float = Field(default=7, ge=0, alias="JOURNEYMAN_KEEP_ENGINE_ROWS_DAYS")
    """Days that the durable engine's own records of a round are kept after its end."""
    keep_answers_days: float = Field(default=7, ge=0, alias="JOURNEYMAN_KEEP_ANSWERS_DAYS")
    """Days that answers to requests with an Idempotency-Key are remembered."""
    keep_baselines_days: float = Field(default=30, ge=0, alias="JOURNEYMAN_KEEP_BASELINES_DAYS")
    """Days that results of checks on base commits are kept; later they are measured again."""

    log_format: Literal["auto", "console", "json"] = Field(default="auto", alias="JOURNEYMAN_LOG_FORMAT")
    """The server's own log: `auto` is pretty on a terminal and JSON lines elsewhere."""

    failpoints: str = Field(default="", alias="JOURNEYMAN_FAILPOINTS")
    """For tests only: moments at which the server fails on purpose, as `commit_made=kill@2`."""

    @field_validator(
        "model_prices",
        "acp_agents",
        "role_models",
        "environment_secrets",
        "registry_credentials",
        mode="before",
    )
    @classmethod
    def _from_json(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"not valid JSON: {error}") from None

    @property
    def is_sqlite(self) -> bool:
        return not self.database_url

    @property
    def server_url(self) -> str:
        return (self.url or f"http://{self.host}:{self.port}").rstrip("/")

    def secrets(self) -> list[str]:
        """Every secret value, for redaction."""
        values = [getattr(self, name) for name in type(self).model_fields]
        tables = [one for value in values if isinstance(value, dict) for one in value.values()]
        return [one.get_secret_value() for one in (*values, *tables) if isinstance(one, SecretStr)]


SETTING_NAMES: dict[str, str] = {
    field.alias: name for name, field in Settings.model_fields.items() if field.alias is not None
}


def load_settings(environment: dict[str, str] | None = None) -> Settings:
    """Settings from the environment over the home's `journeyman.toml`. Unknown names are refused."""
    environment = dict(os.environ) if environment is None else environment
    _refuse_unknown(name for name in environment if name.startswith(_OWN_PREFIX))
    chosen: dict[str, Any] = {
        name: value for name, value in environment.items() if name in SETTING_NAMES and value != ""
    }
    home = Path(chosen.get("JOURNEYMAN_HOME", _default_home())).expanduser().absolute()
    merged = {**_read_file(home / "journeyman.toml"), **chosen, "JOURNEYMAN_HOME": home}
    for name in ("JOURNEYMAN_SANDBOX_PATHS", "JOURNEYMAN_COMMIT_LEAVES_OUT", "JOURNEYMAN_SETUP_HOSTS"):
        listed = merged.get(name)
        if isinstance(listed, str):
            merged[name] = [part for part in listed.split(":") if part]
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidSetting(
            f"setting {first['loc'][0]} cannot be used: {first['msg']}",
            hint="See docs/reference/settings.md for what it accepts.",
        ) from None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Conflict(
            f"{path} cannot be read: {error.strerror}",
            hint="Let this user read it, or set JOURNEYMAN_HOME to a directory of its own.",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} is not valid TOML: {error}", hint="Correct the file.") from None
    _refuse_unknown(values)
    return values


def _refuse_unknown(names: Any) -> None:
    for name in names:
        if name not in SETTING_NAMES:
            near = difflib.get_close_matches(name, SETTING_NAMES, n=1)
            raise InvalidSetting(
                f"there is no setting {name}",
                hint=f"Did you mean {near[0]}?"
                if near
                else "See docs/reference/settings.md for all of them.",
            )
