"""The repositories of the field suite, pinned by commit, with the commands that their own documents name.

None of their code is part of this repository: `bring.py` fetches it when the suite runs.
"""

from dataclasses import dataclass

_VENV = "python3 -m venv $HOME/venv && . $HOME/venv/bin/activate && pip install --quiet --upgrade pip"
_UV = "python3 -m venv $HOME/uv && $HOME/uv/bin/pip install --quiet uv && export PATH=$HOME/uv/bin:$PATH"


@dataclass(frozen=True, kw_only=True)
class FieldProject:
    name: str
    """Owner and name at GitHub."""
    commit: str
    ecosystem: str
    install: str = ""
    """By hand, once, with a network."""
    test: str
    """By hand, in the same shell."""
    needs: tuple[str, ...] = ()
    """Programs without which neither we nor a person can test it here."""
    minutes: int = 10
    lacks: str = ""
    """What checks, and perhaps this machine, do not give: then `environment` with the same numbers agrees."""
    flaky: int = 0
    """So many tests pass by hand only sometimes; no other may fail."""


PROJECTS = (
    FieldProject(
        name="pallets/itsdangerous",
        commit="672971d66a2ef9f85151e53283113f33d642dabd",
        ecosystem="Python, uv.lock",
        install=f"{_UV} && uv sync --frozen --quiet --no-default-groups --group tests",
        test=".venv/bin/pytest",
    ),
    FieldProject(
        name="pallets/flask",
        commit="2ac89889f4cc330eabd50f295dcef02828522c69",
        ecosystem="Python, uv.lock",
        install=f"{_UV} && uv sync --frozen --quiet --no-default-groups --group tests",
        test=".venv/bin/pytest",
    ),
    FieldProject(
        name="python-attrs/attrs",
        commit="c1dc5dcba16ed827aa6dcad896b41a3afedb4e32",
        ecosystem="Python, uv.lock, tox",
        install=f"{_UV} && uv sync --frozen --quiet --no-default-groups --group tests",
        test=".venv/bin/pytest",
    ),
    FieldProject(
        name="hynek/structlog",
        commit="025edaf799c6d6d511ab672d14c2ba8e885c4c36",
        ecosystem="Python, dependency groups, hatch-vcs",
        install=f"{_VENV} && pip install --quiet -e . --group dev",
        test="python -Im pytest",
    ),
    FieldProject(
        name="pypa/packaging",
        commit="053c884615f2e83d80705251b447769ec2599653",
        ecosystem="Python, nox",
        install=f"{_VENV} && pip install --quiet -e . --group test",
        test="pytest",
    ),
    FieldProject(
        name="psf/requests",
        commit="1f6589ec3a1ee910f9a65cc3ceac60b26677bc0e",
        ecosystem="Python, requirements",
        install=f"{_VENV} && pip install --quiet -r requirements-dev.txt",
        test="python -m pytest tests",
        lacks="a route to the internet, for tests of timeouts",
    ),
    FieldProject(
        name="encode/httpx",
        commit="ae1b9f66238f75ced3ced5e4485408435de10768",
        ecosystem="Python, requirements",
        install=f"{_VENV} && pip install --quiet -r requirements.txt",
        test="python -m pytest",
        lacks="a route to the internet, for tests of proxies",
    ),
    FieldProject(
        name="Textualize/rich",
        commit="42899d8a0a96b121a514516f4be9db44ff7aeaf3",
        ecosystem="Python, poetry.lock",
        # Poetry's own installer wants an interface that mirrors of the package index often lack.
        install=f"{_VENV} && python3 -m venv $HOME/poetry && "
        "$HOME/poetry/bin/pip install --quiet poetry poetry-plugin-export && "
        "$HOME/poetry/bin/poetry export --with dev --output $HOME/locked.txt && "
        "pip install --quiet --no-deps -r $HOME/locked.txt && pip install --quiet --no-deps -e .",
        test="TERM=unknown pytest tests",
    ),
    FieldProject(
        name="frostming/marko",
        commit="0fa0b29b670feca15558652f327bc20c3baee91b",
        ecosystem="Python, pdm.lock",
        # The newest pdm does not work with the newest releases of what it needs.
        install=f"{_VENV} && pip install --quiet pdm==2.22.4 'hishel<0.2' 'unearth<0.18' && "
        "pdm install --quiet -G toc -G codehilite",
        test="pytest tests",
    ),
    FieldProject(
        name="un33k/python-slugify",
        commit="7b6d5d96c1995e6dccb39a19a13ba78d7d0a3ee4",
        ecosystem="Python, tox",
        install=f"{_VENV} && pip install --quiet -e . 'coverage[toml]' pytest",
        test="python -m pytest test.py",
    ),
    FieldProject(
        name="yaml/pyyaml",
        commit="d51d8a138f7230834fc6e95635ff09ebd329185f",
        ecosystem="Python, tox, extension",
        install=f"{_VENV} && pip install --quiet -e . pytest",
        test="pytest",
    ),
    FieldProject(
        # Its build asks a host that is no registry: a person allows it, or the set-up fails.
        name="jaraco/path",
        commit="67319bba24b0986abcf6c5a749a1b8ab6359bb22",
        ecosystem="Python, extras",
        install=f"{_VENV} && pip install --quiet -e '.[test,check,cover,enabler,type]'",
        test="pytest",
    ),
    FieldProject(
        name="expressjs/express",
        commit="a3714473feb3d2908add734d340e7755fd85e0a3",
        ecosystem="Node, npm",
        install="npm install --no-package-lock --silent",
        test="npm test",
        needs=("node",),
    ),
    FieldProject(
        name="chalk/chalk",
        commit="678e5505458d0cf40134e205aed4454e0eeac45c",
        ecosystem="Node, npm",
        install="npm install --silent",
        test="npm test",
        needs=("node",),
    ),
    FieldProject(
        name="sindresorhus/p-limit",
        commit="df476048d023ff868cd45b35ee47f5fb0ca2b25a",
        ecosystem="Node, npm",
        install="npm install --silent",
        test="npm test",
        needs=("node",),
    ),
    FieldProject(
        name="unjs/ofetch",
        commit="dfbe3ca4ef8a22fc023fca5a5ef530e525f5e523",
        ecosystem="Node, pnpm",
        install="npm install --silent --prefix $HOME/pnpm pnpm@10.20.0 && "
        "export PATH=$HOME/pnpm/node_modules/.bin:$PATH && "
        "pnpm install --frozen-lockfile --silent --store-dir $HOME/store",
        test="pnpm test",
        needs=("node",),
        lacks="a route to the internet, for a test that asks a public host",
    ),
    FieldProject(
        name="honojs/hono",
        commit="28a9c128912de19f3fb28b00ae289c9b93f6f392",
        ecosystem="Node, bun",
        install="npm install --silent --prefix $HOME/bun bun@1.2.20 && "
        "export PATH=$HOME/bun/node_modules/.bin:$PATH && bun install --frozen-lockfile",
        test="bun run test",
        needs=("node",),
        minutes=30,
        flaky=2,
    ),
    FieldProject(
        name="DaveGamble/cJSON",
        commit="a29814f285cc531c00223743ad3c55cd38c0dc56",
        ecosystem="C, CMake",
        install="cmake -S . -B $HOME/build && cmake --build $HOME/build -j2",
        test="ctest --test-dir $HOME/build",
        needs=("cmake",),
    ),
    FieldProject(
        name="madler/zlib",
        commit="d201f04c72b0881220f5ba75ca19fd0e19fa848b",
        ecosystem="C, CMake and configure",
        install="cmake -S . -B $HOME/build && cmake --build $HOME/build -j2",
        test="ctest --test-dir $HOME/build",
        needs=("cmake",),
    ),
    FieldProject(
        name="fmtlib/fmt",
        commit="60ccad511fd680cb91d8b60a315759f71c67bef9",
        ecosystem="C++, CMake",
        install="cmake -S . -B $HOME/build && cmake --build $HOME/build -j2",
        test="ctest --test-dir $HOME/build",
        needs=("cmake",),
        minutes=40,
    ),
    FieldProject(
        name="antirez/sds",
        commit="5347739b1581fcba74fd5cab1fc21d2aef317d71",
        ecosystem="C, make",
        test="make && ./sds-test",
        needs=("make",),
    ),
    FieldProject(
        name="lz4/lz4",
        commit="d9c01a3d49114dc28e2dfbbc0a8990e88be7b694",
        ecosystem="C, make",
        test="make check",
        needs=("make",),
        minutes=40,
    ),
    FieldProject(
        name="benhoyt/inih",
        commit="26254ee9de7681f8825433415443e7116ff24b98",
        ecosystem="C, Meson",
        install="meson setup $HOME/build && meson compile -C $HOME/build",
        test="meson test -C $HOME/build",
        needs=("meson", "ninja"),
    ),
    FieldProject(
        name="unicode-rs/unicode-width",
        commit="4bba1d1e4801c55b2bc110e4026cbdced377fba2",
        ecosystem="Rust, optional dependencies",
        test="cargo test",
        needs=("cargo",),
    ),
    FieldProject(
        name="SergioBenitez/version_check",
        commit="d77ef9f27cc336719b2d839d09ee6635dd22f758",
        ecosystem="Rust, without dependencies",
        test="cargo test",
        needs=("cargo",),
    ),
    FieldProject(
        name="dtolnay/itoa",
        commit="1577ed901354d0d7448ac162328f9dbf5183124c",
        ecosystem="Rust, with dependencies",
        test="cargo test",
        needs=("cargo",),
    ),
    FieldProject(
        name="google/uuid",
        commit="2d3c2a9cc518326daf99a383f07c4d3c44317e4d",
        ecosystem="Go",
        test="go test ./...",
        needs=("go",),
    ),
    FieldProject(
        name="gorilla/mux",
        commit="db9d1d0073d27a0a2d9a8c1bc52aa0af4374d265",
        ecosystem="Go, newer version asked",
        test="go test ./...",
        needs=("go",),
    ),
    FieldProject(
        name="pkg/errors",
        commit="87f8819acf6dc28bf5d3c14b334268236d686f48",
        ecosystem="Go, without go.mod",
        install="mkdir -p $HOME/go/src/github.com/pkg && ln -s $PWD $HOME/go/src/github.com/pkg/errors && "
        "cd $HOME/go/src/github.com/pkg/errors && export GO111MODULE=off",
        test="make test",
        needs=("go",),
    ),
    FieldProject(
        name="ruby/rake",
        commit="474500ab2eec41ef28068e18e30f84fa412a098f",
        ecosystem="Ruby, bundler",
        install="bundle install",
        test="bundle exec rake test",
        needs=("ruby", "bundle"),
    ),
    FieldProject(
        name="apache/commons-cli",
        commit="0a68ae0e826bb08eb59bda9bae7ec5d84008b62a",
        ecosystem="Java, Maven",
        test="mvn --batch-mode test",
        needs=("mvn",),
    ),
)
