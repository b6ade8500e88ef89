"""Which variables an environment may set, and which belong to the sandbox.

A repository that could set these would change which programs Journeyman's own commands find, what they load,
or where they connect.
"""

import re

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_OWN = re.compile(r"(?:JM|JOURNEYMAN|LD|BASH_FUNC)_.*|DYLD_.*", re.ASCII)
_PROXY = re.compile(
    r"(?:HTTPS?|FTP|ALL|NO|RSYNC|CARGO_HTTP|NPM_CONFIG_(?:HTTPS?_)?|NPM_CONFIG_NO)_?PROXY", re.ASCII
)
_CERTIFICATES = re.compile(
    r"SSL_CERT_(?:FILE|DIR)|PIP_CERT|(?:REQUESTS|CURL)_CA_BUNDLE|NODE_EXTRA_CA_CERTS|NPM_CONFIG_CAFILE"
    r"|CARGO_HTTP_CAINFO|GIT_SSL_CAINFO|NODE_TLS_REJECT_UNAUTHORIZED"
)
_SHELL = re.compile(r"HOME|(?:OLD)?PWD|BASH_ENV|SHELLOPTS|BASHOPTS|IFS|PS4", re.ASCII)


def refuse_variable(name: str) -> tuple[str, str] | None:
    """What is wrong with a variable of this name and what to do instead; None when it may be set."""
    upper = name.upper()
    if not VARIABLE.fullmatch(name):
        return (
            f"{name[:100]!r} cannot be the name of a variable",
            "Use letters, digits and '_', and begin with a letter.",
        )
    if upper == "PATH":
        return (
            "PATH is made by Journeyman",
            "Call the program by its path, or set it in the command: 'PATH=\"$PWD/bin:$PATH\" make test'.",
        )
    if _PROXY.fullmatch(upper):
        return (
            f"{name} is the way out of the sandbox",
            "Name the hosts that are needed in 'network', and leave the proxy to Journeyman.",
        )
    if _CERTIFICATES.fullmatch(upper):
        return (
            f"{name} decides which certificates are trusted, and is set by Journeyman",
            "Remove it; an operator sets JOURNEYMAN_REGISTRY_CA_FILE for a registry of your own.",
        )
    if _OWN.fullmatch(upper) or _SHELL.fullmatch(upper):
        return (
            f"{name} belongs to the sandbox and cannot be set",
            f"Remove it, or set it in the one command that needs it: '{name}=… make test'.",
        )
    return None
