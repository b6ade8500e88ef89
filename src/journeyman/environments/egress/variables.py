"""The variables by which tools inside a sandbox find the proxy, and trust the certificates it makes.

There is no route beside the proxy, so a tool that reads none of them reaches nothing.
"""

from pathlib import Path

from journeyman.environments.egress.certificates import BUNDLE, JAVA_PASSWORD, JAVA_TRUST_STORE

_PROXY = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_MORE_PROXY = (
    "CARGO_HTTP_PROXY",
    "npm_config_proxy",
    "npm_config_https_proxy",
    "YARN_HTTP_PROXY",
    "YARN_HTTPS_PROXY",
)
_BUNDLE = (
    "SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_cafile",
    "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO",
    "BUNDLE_SSL_CA_CERT",
    "DENO_CERT",
    "NIX_SSL_CERT_FILE",
)
_DIRECT = ("localhost", "127.0.0.1", "::1")


def proxy_variables(port: int, certificates: Path) -> dict[str, str]:
    """For commands in a sandbox where the proxy answers on this port of its loopback."""
    address, bundle = f"http://127.0.0.1:{port}", str(certificates / BUNDLE)
    return {
        **dict.fromkeys((*_PROXY, *_MORE_PROXY), address),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(_DIRECT)),
        **dict.fromkeys(_BUNDLE, bundle),
        "ELECTRON_GET_USE_PROXY": "1",
        "JAVA_TOOL_OPTIONS": " ".join(java_options(port, certificates)),
    }


def java_options(port: int, certificates: Path) -> list[str]:
    """Java reads no variables and no PEM files. Maven asks for leave to look at properties at all."""
    proxies = {
        f"{scheme}.{name}": value
        for scheme in ("http", "https")
        for name, value in (("proxyHost", "127.0.0.1"), ("proxyPort", str(port)))
    }
    properties = {
        **proxies,
        "http.nonProxyHosts": "localhost|127.0.0.1",
        "javax.net.ssl.trustStore": str(certificates / JAVA_TRUST_STORE),
        "javax.net.ssl.trustStoreType": "PKCS12",
        "javax.net.ssl.trustStorePassword": JAVA_PASSWORD,
        "aether.connector.http.useSystemProperties": "true",
    }
    return [f"-D{name}={value}" for name, value in properties.items()]
