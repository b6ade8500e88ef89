"""What is installed for a Node project, and which of its scripts are checks."""

import pytest

from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.plan import Environment
from tests.environments.detect.trees import commands, installs, package, tree


def node(*names: str, **fields: object) -> Environment:
    return detect_environment(tree({"package.json": package(**fields)}, *names))


LAYOUTS: dict[str, tuple[Environment, dict[str, str]]] = {
    "npm": (node("package-lock.json", scripts={"test": "node --test"}), {"npm test": "npm test"}),
    "npm default": (node(scripts={"test": 'echo "Error: no test specified" && exit 1'}), {}),
    "npm default with vitest": (
        node(scripts={"test": "no test specified"}, devDependencies={"vitest": "1"}),
        {"vitest": "npx --no-install vitest run"},
    ),
    "pnpm with jest": (
        node("pnpm-lock.yaml", devDependencies={"jest": "1"}),
        {"jest": "pnpm exec jest"},
    ),
    "yarn with a build": (
        node("yarn.lock", scripts={"test": "jest", "build": "vite build"}),
        {"yarn build": "yarn run build", "yarn test": "yarn test"},
    ),
    "bun, whose own runner is another": (
        node("bun.lock", scripts={"test": "vitest --run"}, devDependencies={"vitest": "1"}),
        {"bun run test": "bun run test"},
    ),
    "only a script for units": (
        node(scripts={"test:unit": "vitest run", "test:e2e": "playwright test"}),
        {"npm run test:unit": "npm run test:unit"},
    ),
    "typescript": (
        node("tsconfig.json", devDependencies={"typescript": "5"}),
        {"tsc": "npx --no-install tsc --noEmit"},
    ),
    "a script that checks types": (
        node(scripts={"typecheck": "tsc --noEmit", "lint": "eslint ."}),
        {"npm run typecheck": "npm run typecheck", "npm lint": "npm run lint"},
    ),
    "a script that repairs": (node(scripts={"lint": "eslint --fix ."}), {}),
    "eslint": (
        node("eslint.config.js", devDependencies={"eslint": "9"}),
        {"eslint": "npx --no-install eslint ."},
    ),
    "eslint without a configuration": (node(devDependencies={"eslint": "9"}), {}),
    "mocha": (node(devDependencies={"mocha": "9"}), {"mocha": "npx --no-install mocha"}),
    "Node's own tests": (node("test/a.test.mjs", type="module"), {"node --test": "node --test"}),
    "a runner that would watch": (
        node(scripts={"test": "react-scripts test"}),
        {"npm test": "CI=true npm test"},
    ),
    "broken package.json": (detect_environment(tree({"package.json": "{"})), {"npm test": "npm test"}),
    "strange package.json": (detect_environment(tree({"package.json": '{"scripts": ["a"]}'})), {}),
    "package.json that is a list": (detect_environment(tree({"package.json": "[]"})), {}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_node_project_is_known_by_its_files(layout: str) -> None:
    environment, expected = LAYOUTS[layout]
    assert commands(environment) == expected
    assert all(check.why and check.tool and check.probe for check in environment.checks)


def test_a_project_without_packages_has_nothing_to_install() -> None:
    environment = node(scripts={"test": "node --test"})
    assert environment.install == ()
    assert environment.checks[0].probe == "command -v npm >/dev/null"


@pytest.mark.parametrize(
    ("names", "fields", "expected"),
    [
        ("package-lock.json", {}, "npm ci"),
        ("npm-shrinkwrap.json", {}, "npm ci"),
        ("", {}, "npm install --no-package-lock"),
        ("pnpm-lock.yaml", {}, "pnpm install --frozen-lockfile"),
        ("yarn.lock", {}, "yarn install --non-interactive --frozen-lockfile"),
        ("yarn.lock .yarnrc.yml", {}, "yarn install --immutable"),
        ("yarn.lock", {"packageManager": "yarn@4.5.0"}, "yarn install --immutable"),
        ("bun.lockb", {}, "bun install --frozen-lockfile"),
        ("", {"packageManager": "pnpm@9.1.0"}, "pnpm install --no-lockfile"),
        ("package-lock.json", {"packageManager": "pnpm@9.1.0"}, "pnpm install --no-lockfile"),
    ],
)
def test_the_lock_file_and_the_named_manager_decide_how_packages_are_installed(
    names: str, fields: dict[str, object], expected: str
) -> None:
    environment = node(*names.split(), dependencies={"a": "1"}, **fields)
    assert expected in environment.install[-1].command
    assert environment.directories == ("node_modules",)


@pytest.mark.parametrize(
    ("files", "fields", "expected"),
    [
        ({}, {"packageManager": "pnpm@10.20.0+sha512.abc"}, "pnpm@10.20.0"),
        ({"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}, {}, "pnpm@8"),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, {}, "pnpm@9"),
        (
            {
                "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
                "pnpm-workspace.yaml": "onlyBuiltDependencies: [a]\n",
            },
            {},
            "pnpm@10",
        ),
        ({"yarn.lock": ""}, {}, "yarn@1.22.22"),
        ({"yarn.lock": "__metadata:\n  version: 8\n"}, {}, "@yarnpkg/cli-dist"),
        ({"yarn.lock": ""}, {"packageManager": "yarn@3.6.0"}, "@yarnpkg/cli-dist@3.6.0"),
        ({"bun.lock": "", ".tool-versions": "bun 1.2.20\n"}, {}, "bun@1.2.20"),
    ],
)
def test_a_manager_is_brought_in_the_version_that_the_project_was_made_with(
    files: dict[str, str], fields: dict[str, object], expected: str
) -> None:
    contents = files | {"package.json": package(dependencies={"a": "1"}, **fields)}
    bring = detect_environment(tree(contents)).install[0].command
    assert f" {expected} && " in bring
    assert "corepack" not in bring


def test_a_release_of_yarn_in_the_repository_is_used() -> None:
    files = {".yarnrc.yml": "yarnPath: .yarn/releases/yarn-4.1.0.cjs\n", "yarn.lock": "__metadata:\n"}
    files |= {"package.json": package(dependencies={"a": "1"}), ".yarn/releases/yarn-4.1.0.cjs": ""}
    environment = detect_environment(tree(files))
    assert "node .yarn/releases/yarn-4.1.0.cjs install --immutable" in installs(environment)
    assert "yarn@1.22.22" in installs(environment)


def test_pnpm_keeps_its_store_out_of_the_workspace() -> None:
    assert '--store-dir "$HOME/' in installs(node("pnpm-lock.yaml", dependencies={"a": "1"}))


def test_neither_browsers_nor_git_hooks_are_brought_by_an_install() -> None:
    environment = node(devDependencies={"@playwright/test": "1", "husky": "9"})
    assert environment.env["PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD"] == "1"
    assert environment.env["CYPRESS_INSTALL_BINARY"] == "0"
    assert environment.env["HUSKY"] == "0"
    assert "@playwright/test" in environment.notes[0]


def test_tests_in_a_browser_ask_for_one() -> None:
    (check,) = node(scripts={"test": "grunt test"}, devDependencies={"grunt-contrib-qunit": "10"}).checks
    assert check.tool.endswith("and a browser")
    assert "chromium" in check.probe


def test_scripts_around_the_tests_that_ask_the_registry_are_left_out() -> None:
    scripts = {"test": "tape test", "posttest": "npx npm@'>=10.2' audit --production"}
    assert commands(node(scripts=scripts)) == {"npm test": "npm test --ignore-scripts"}


@pytest.mark.parametrize(
    ("files", "fields", "expected"),
    [
        ({".nvmrc": "v20.11\n"}, {"engines": {"node": ">=18"}}, ("v20.11", ".nvmrc")),
        ({".node-version": "22"}, {}, ("22", ".node-version")),
        ({}, {"engines": {"node": ">=18"}}, (">=18", "package.json")),
        ({}, {"engines": "x", "volta": {"node": "20.1.0"}}, ("20.1.0", "package.json")),
        ({}, {}, ("", "package.json")),
    ],
)
def test_the_version_of_node_is_what_the_project_says(
    files: dict[str, str], fields: dict[str, object], expected: tuple[str, str]
) -> None:
    contents = files | {"package.json": package(dependencies={"a": "1"}, **fields)}
    (need,) = detect_environment(tree(contents)).tools
    assert (need.tool, need.version, need.said_in) == ("node", *expected)


def workspace(root: dict[str, object], **members: dict[str, object]) -> Environment:
    files = {"package.json": package(workspaces=["packages/*"], **root)}
    files |= {f"packages/{name}/package.json": package(name=name, **one) for name, one in members.items()}
    return detect_environment(tree(files, "package-lock.json"))


def test_a_workspace_is_installed_once_and_each_package_has_its_checks() -> None:
    environment = workspace({}, api={"scripts": {"test": "vitest"}}, web={"scripts": {"test": "jest"}})
    assert len(environment.install) == 1
    assert [(check.name, check.workdir, check.covers) for check in environment.checks] == [
        ("packages/api: npm test", "packages/api", ("packages/api",)),
        ("packages/web: npm test", "packages/web", ("packages/web",)),
    ]
    assert "../../node_modules" in environment.checks[0].probe
    assert "packages/web/node_modules" in environment.directories
    assert "packages/web/package.json" in environment.key_files


def test_a_package_is_checked_when_one_that_it_needs_changes() -> None:
    test = {"test": "vitest"}
    environment = workspace(
        {},
        app={"scripts": test, "dependencies": {"ui": "*"}},
        ui={"scripts": test, "dependencies": {"core": "*"}},
        core={"scripts": test, "devDependencies": {"app": "*"}},
    )
    covers = {check.workdir: set(check.covers) for check in environment.checks}
    assert covers["packages/ui"] == {"packages/ui", "packages/core", "packages/app"}
    assert environment.checks[0].covers[0] == "packages/app"


def test_a_root_that_only_calls_its_packages_leaves_the_tests_to_them() -> None:
    environment = workspace({"scripts": {"test": "turbo run test"}}, api={"scripts": {"test": "vitest"}})
    assert list(commands(environment)) == ["packages/api: npm test"]


def test_a_root_that_tests_everything_answers_for_its_packages() -> None:
    environment = workspace({"scripts": {"test": "vitest run"}}, api={"scripts": {"test": "vitest"}})
    assert list(commands(environment)) == ["npm test"]
    assert environment.checks[0].covers == (".", "packages/api")


def test_a_build_is_left_to_the_root_which_knows_the_order() -> None:
    environment = workspace({"scripts": {"build": "turbo run build"}}, api={"scripts": {"build": "tsc"}})
    assert list(commands(environment)) == ["npm build"]


def test_a_workspace_of_pnpm_names_what_belongs_to_it() -> None:
    files = {
        "package.json": package(name="root"),
        "pnpm-workspace.yaml": "packages:\n  - 'libs/**'\n  - '!**/old'\n",
        "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
        "libs/a/package.json": package(scripts={"test": "vitest"}),
        "libs/deep/b/package.json": package(scripts={"test": "vitest"}),
        "libs/old/package.json": package(scripts={"test": "vitest"}),
        "examples/x/package.json": package(scripts={"test": "vitest"}),
    }
    environment = detect_environment(tree(files))
    assert [one for one in commands(environment) if "old" not in one] == [
        "libs/a: pnpm test",
        "libs/deep/b: pnpm test",
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"lerna.json": "[1]"},
        {"lerna.json": "{"},
        {"pnpm-workspace.yaml": "- a\n- b"},
        {"pnpm-workspace.yaml": "packages: {a: 1}"},
        {"pnpm-workspace.yaml": "a: [b"},
        {"pnpm-workspace.yaml": "packages: ['', '/', '!', '**/**/**/**', '{{{', '[']"},
    ],
)
def test_a_workspace_that_cannot_be_read_is_none(files: dict[str, str]) -> None:
    contents = files | {"package.json": package(workspaces=3, scripts={"test": "x"})}
    assert commands(detect_environment(tree(contents)))["npm test"] == "npm test"
