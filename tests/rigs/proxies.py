"""The proxies of deploy/ as a VPS runs them, with the shipped files, in front of a service."""

import re
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.rigs.certificates import Authority
from tests.rigs.peers import LOOPBACK_NAMES, ROOT, system_program
from tests.rigs.programs import Program
from tests.rigs.service import Front, Service, service
from tests.rigs.waiting import accepts_connections, free_port

DOMAIN = "printers.test"
"""Printer hosts are below it."""
SERVICE = "printreach.test"
"""The service, where it has a domain apart from its printers'."""


@dataclass(frozen=True)
class Proxy:
    """A running proxy that ends TLS for SERVICE, DOMAIN and every name below that.

    root: the certificate of the authority that vouches for it.
    """

    port: int
    root: Path

    @property
    def tls(self) -> ssl.SSLContext:
        """Trusts the certificate authority of this run and no other."""
        return ssl.create_default_context(cafile=self.root)


@contextmanager
def caddy(folder: Path, upstream_port: int) -> Iterator[Proxy]:
    """Caddy with deploy/caddy/Caddyfile, which takes what varies from the environment."""
    program, port = system_program("caddy", "caddy"), free_port()
    authority = Authority(folder)
    chain, key = authority.issue(SERVICE, DOMAIN, f"*.{DOMAIN}")
    env = {
        "HOME": str(folder),
        "PRINTREACH_DOMAIN": f"{SERVICE}, {DOMAIN}",
        "PRINTREACH_TUNNEL_DOMAIN": DOMAIN,
        "PRINTREACH_HTTPS_PORT": str(port),
        "PRINTREACH_HTTP_PORT": str(free_port()),
        "PRINTREACH_CERTIFICATE": str(chain),
        "PRINTREACH_CERTIFICATE_KEY": str(key),
        "PRINTREACH_UPSTREAM": f"127.0.0.1:{upstream_port}",
    }
    config = str(ROOT / "deploy" / "caddy" / "Caddyfile")
    argv = [str(program), "run", "--config", config, "--adapter", "caddyfile"]
    with Program("caddy", argv, logs=folder, env=env) as started:
        started.wait_until("listening", lambda: accepts_connections(port))
        yield Proxy(port, authority.root)


@contextmanager
def nginx(
    folder: Path, upstream_port: int, *, location: str = "", without: str = ""
) -> Iterator[Proxy]:
    """nginx with deploy/nginx/printreach.conf, its names and ports changed as its head says.

    location: one more, as somebody may have beside it. without: a line of the recipe to leave out.
    """
    program, port = system_program("nginx", "nginx"), free_port()
    authority = Authority(folder)
    chain, key = authority.issue(SERVICE, DOMAIN, f"*.{DOMAIN}")
    site = (ROOT / "deploy" / "nginx" / "printreach.conf").read_text()
    for shipped, ours in (
        ("printreach.example.com", SERVICE),
        ("printers.example.net", DOMAIN),
        ("127.0.0.1:8080", f"127.0.0.1:{upstream_port}"),
        ("/etc/ssl/printreach/fullchain.pem", str(chain)),
        ("/etc/ssl/printreach/key.pem", str(key)),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("listen 80", f"listen 127.0.0.1:{free_port()}"),
        (without, ""),
        ("    location / {", f"    {location}\n    location / {{"),
    ):
        assert shipped in site
        site = site.replace(shipped, ours)
    site = re.sub(r"\n *listen \[::\].*", "", site)  # the test machine may have no IPv6
    (folder / "site.conf").write_text(site)
    main = f"""
        daemon off; pid {folder}/nginx.pid; error_log stderr info; worker_processes 1;
        user root;
        events {{}}
        http {{
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            access_log off; include {folder}/site.conf;
        }}"""
    (folder / "nginx.conf").write_text(main)
    argv = [str(program), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with Program("nginx", argv, logs=folder) as started:
        started.wait_until("listening", lambda: accepts_connections(port))
        yield Proxy(port, authority.root)


@contextmanager
def haproxy(folder: Path, upstream_port: int) -> Iterator[Proxy]:
    """HAProxy with deploy/haproxy/haproxy.cfg; one process stands for all of its nodes."""
    authority = Authority(folder)
    chain, key = authority.issue(SERVICE, DOMAIN, f"*.{DOMAIN}")
    both = folder / "both.pem"
    both.write_text(chain.read_text() + key.read_text())
    nodes = (f"127.0.0.1:{upstream_port}",)
    program, port = haproxy_program(
        folder, DOMAIN, relays=nodes * 3, web=nodes * 2, certificate=both
    )
    with program as started:
        started.wait_until("listening", lambda: accepts_connections(port))
        yield Proxy(port, authority.root)


def haproxy_program(
    folder: Path,
    tunnel_domain: str,
    *,
    relays: Sequence[str],
    web: Sequence[str],
    certificate: Path | None = None,
    port: int | None = None,
) -> tuple[Program, int]:
    """Return HAProxy with deploy/haproxy/haproxy.cfg as it stands, and its port.

    relays, web: addresses of nodes, as many as the file has. certificate: with its key; without one
    it speaks plain http.
    """
    port = port or free_port()
    env = {"PRINTREACH_TUNNEL_DOMAIN": tunnel_domain}
    if certificate is None:
        env["PRINTREACH_HTTP_BIND"] = f"127.0.0.1:{port}"
    else:
        env["PRINTREACH_HTTP_BIND"] = f"127.0.0.1:{free_port()}"
        env["PRINTREACH_HTTPS_BIND"] = f"127.0.0.1:{port}"
        env["PRINTREACH_CERTIFICATE"] = str(certificate)
    for name, nodes in (("RELAY", relays), ("WEB", web)):
        for number, address in enumerate(nodes, 1):
            env[f"PRINTREACH_{name}_{number}"] = address
    program = system_program("haproxy", "haproxy")
    # In the foreground, as one process.
    argv: list[str | Path] = [program, "-db", "-f", ROOT / "deploy" / "haproxy" / "haproxy.cfg"]
    return Program("haproxy", argv, logs=folder, env=env), port


RunProxy = Callable[[Path, int], AbstractContextManager[Proxy]]

PROXIES: dict[str, RunProxy] = {
    "caddy": caddy,
    "haproxy": haproxy,
    "nginx": nginx,
}


@contextmanager
def service_behind(
    name_or_proxy: str | RunProxy, folder: Path, host: str = DOMAIN
) -> Iterator[Service]:
    """A service with its printers on *.printers.test.

    host: its own. SERVICE is what the README advises; DOMAIN puts printers below the service, so
    that their pages have every chance to harm it.
    """
    upstream_port = free_port()
    run = PROXIES[name_or_proxy] if isinstance(name_or_proxy, str) else name_or_proxy
    with run(folder, upstream_port) as proxy:
        env = {
            "PRINTREACH_BASE_URL": f"https://{host}:{proxy.port}",
            "PRINTREACH_TUNNEL_DOMAIN": f"{DOMAIN}:{proxy.port}",
            "PRINTREACH_TRUSTED_PROXIES": "127.0.0.1/32",
        }
        agent_env = {**LOOPBACK_NAMES, "SSL_CERT_FILE": str(proxy.root)}
        front = Front(port=proxy.port, tls=proxy.tls, agent_env=agent_env)
        with service(folder, port=upstream_port, env=env, front=front) as running:
            yield running
