"""Java and Kotlin: Maven and Gradle.

Maven brings what runs the tests only when it runs one, so the set-up runs one test class of every module.
What it compiled of the project is removed again: Maven takes sources older than their classes for compiled.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.detect.listing import paths_below
from journeyman.environments.detect.pins import pinned
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_GRADLE_FILES = ("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_RELEASE = re.compile(
    r"<(?:maven\.compiler\.(?:release|source|target)|java\.version|jdk\.version|release)>\s*([\d.]+)\s*<"
)
_TOOLCHAIN = re.compile(r"JavaLanguageVersion\.of\(\s*[\"']?(\d+)|jvmToolchain\(\s*(\d+)")
_COMPATIBILITY = re.compile(
    r"(?:source|target)Compatibility\s*=\s*(?:JavaVersion\.VERSION_)?[\"']?(\d[\d._]*)"
)
_TEST_CLASS = re.compile(r"(?:^|/)src/test/(?:java|kotlin|groovy)/(?:.+/)?(\w*Tests?)\.(?:java|kt|groovy)$")
_MAX_MODULES = 200
_MAX_CLASSES = 20
_RESOLVE = (
    'allprojects { tasks.register("resolveForOfflineUse") { doLast { '
    "configurations.findAll { it.canBeResolved }.each { try { it.files } catch (Exception ignored) {} } } } }"
)


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    if project.has(under(directory, "pom.xml")):
        return _maven(project, directory)
    if any(project.has(under(directory, name)) for name in _GRADLE_FILES):
        return _gradle(project, directory)
    return None


def _maven(project: Project, directory: str) -> Detected:
    modules = tuple(_modules(project, directory))
    poms = [under(one, "pom.xml") for one in (directory, *modules)]
    has_wrapper = project.has(under(directory, "mvnw"))
    java = pinned(project, directory, "java") or _minimum(project, poms, _RELEASE)
    tools = [java] if has_wrapper else [java, ToolNeed(tool="mvn", version="", said_in=poms[0])]
    return Detected(
        ecosystem="Java (Maven)",
        directory=directory,
        tools=tuple(tools),
        install=tuple(_maven_install(project, directory, modules, has_wrapper=has_wrapper)),
        checks=(_maven_check(project, directory, has_wrapper=has_wrapper),),
        key_files=(
            *poms,
            *(
                under(directory, f".mvn/{name}")
                for name in ("maven.config", "extensions.xml", "settings.xml")
            ),
            under(directory, ".mvn/wrapper/maven-wrapper.properties"),
        ),
        members=modules,
    )


def _modules(project: Project, directory: str) -> Iterator[str]:
    waiting, seen = [directory], {directory}
    while waiting:
        parent = waiting.pop(0)
        for name in _MODULE.findall(_without_comments(project.text(under(parent, "pom.xml")))):
            module = posixpath.normpath(posixpath.join(parent, name.removesuffix("/pom.xml")))
            if module in seen or len(seen) > _MAX_MODULES or not project.has(under(module, "pom.xml")):
                continue
            seen.add(module)
            waiting.append(module)
            yield module


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def _maven_install(
    project: Project, directory: str, modules: tuple[str, ...], *, has_wrapper: bool
) -> Iterator[InstallCommand]:
    workdir, why = workdir_of(directory), under(directory, "pom.xml")
    targets = (posixpath.relpath(under(one, "target"), directory or ".") for one in (directory, *modules))
    own = " ".join(map(shlex.quote, targets))
    yield InstallCommand(command=_with_maven("-B -ntp test-compile", has_wrapper), why=why, workdir=workdir)
    if classes := _one_test_class_each(project, (directory, *modules)):
        flags = (
            "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true"
        )
        yield InstallCommand(
            command=_with_maven(f"-B -ntp -Dtest={','.join(classes)} {flags} test", has_wrapper),
            why="one test class of every module is run, which brings what runs tests",
            workdir=workdir,
            is_optional=True,
        )
    yield InstallCommand(
        command=f"rm -rf -- {own}",
        why="classes older than a later commit's sources would be taken for compiled from them",
        workdir=workdir,
    )


def _one_test_class_each(project: Project, modules: tuple[str, ...]) -> list[str]:
    found: dict[str, str] = {}
    for path in paths_below(project, modules[0]):
        if match := _TEST_CLASS.search(path):
            module = path[: match.start()].strip("/") if "src/test" in path else ""
            if module in modules and not match[1].startswith("Abstract"):
                found.setdefault(module, match[1])
    return list(dict.fromkeys(found.values()))[:_MAX_CLASSES]


def _with_maven(arguments: str, has_wrapper: bool) -> str:
    """The machine's Maven where there is one: the wrapper would bring another from a host of its own."""
    if not has_wrapper:
        return f"mvn {arguments}"
    return f"if {there('mvn')}; then mvn {arguments}; else sh ./mvnw {arguments}; fi"


def _maven_check(project: Project, directory: str, *, has_wrapper: bool) -> Check:
    has_tests = any(_TEST_CLASS.search(path) for path in paths_below(project, directory))
    check = Check(
        name="mvn test" if has_tests else "mvn compile",
        kind="test" if has_tests else "build",
        command=f"mvn -B -o {'test' if has_tests else 'test-compile'}",
        workdir=workdir_of(directory),
        tool="Maven",
        why=under(directory, "pom.xml"),
        probe=there("mvn"),
    )
    if not has_wrapper:
        return check
    wrapper = replace(
        check,
        command=check.command.replace("mvn", "sh ./mvnw", 1),
        tool="Java",
        why=under(directory, "mvnw"),
        probe=there("java"),
    )
    return replace(check, otherwise=wrapper)


def _gradle(project: Project, directory: str) -> Detected:
    names = project.names(directory)
    members = tuple(_gradle_members(project, directory)) if names & set(_GRADLE_FILES[:2]) else ()
    files = [under(one, name) for one in (directory, *members) for name in _GRADLE_FILES]
    text = "\n".join(project.text(path) for path in files)
    has_wrapper = "gradlew" in names
    program = "sh ./gradlew" if has_wrapper else "gradle"
    java = pinned(project, directory, "java") or _gradle_java(project, files)
    tools = (
        [java] if has_wrapper else [java, ToolNeed(tool="gradle", version="", said_in=_first(project, files))]
    )
    check = Check(
        name="gradle test",
        kind="test",
        command=f"{program} --no-daemon --offline test",
        workdir=workdir_of(directory),
        tool="Java" if has_wrapper else "Gradle",
        why=_first(project, files),
        probe=there("java" if has_wrapper else "gradle"),
    )
    note = (
        f"{under(directory, 'gradlew')} brings Gradle itself from the host that its"
        " gradle-wrapper.properties names; the set-up must be allowed to reach that host."
    )
    return Detected(
        ecosystem="Kotlin (Gradle)"
        if re.search(r"kotlin\(\"|org\.jetbrains\.kotlin", text)
        else "Java (Gradle)",
        directory=directory,
        tools=tuple(tools),
        install=tuple(_gradle_install(program, directory, _first(project, files))),
        checks=(check,),
        directories=tuple(under(directory, name) for name in (".gradle", "build")),
        key_files=(
            *files,
            *(
                under(directory, name)
                for name in (
                    "gradle.properties",
                    "gradle/libs.versions.toml",
                    "gradle/wrapper/gradle-wrapper.properties",
                )
            ),
        ),
        notes=(note,) if has_wrapper else (),
        members=members,
    )


def _gradle_members(project: Project, directory: str) -> Iterator[str]:
    below = paths_below(project, directory)
    scripts = (path for path in below if posixpath.basename(path) in _GRADLE_FILES[2:])
    for place in dict.fromkeys(map(posixpath.dirname, scripts)):
        has_settings = any(project.has(under(place, one)) for one in _GRADLE_FILES[:2])
        if place != directory and not has_settings:
            yield place


def _gradle_install(program: str, directory: str, why: str) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    yield InstallCommand(command=f"{program} --no-daemon testClasses", why=why, workdir=workdir)
    script = '"$HOME/resolve.gradle"'
    yield InstallCommand(
        command=f"echo '{_RESOLVE}' >{script} && {program} --no-daemon -I {script} resolveForOfflineUse",
        why="what only runs tests is brought as well",
        workdir=workdir,
        is_optional=True,
    )


def _gradle_java(project: Project, files: list[str]) -> ToolNeed:
    for path in files:
        if found := _TOOLCHAIN.search(project.text(path)):
            return ToolNeed(tool="java", version=found[1] or found[2], said_in=path)
    return _minimum(project, files, _COMPATIBILITY)


def _minimum(project: Project, files: list[str], pattern: re.Pattern[str]) -> ToolNeed:
    for path in files:
        if found := pattern.search(_without_comments(project.text(path))):
            version = found[1].replace("_", ".").removeprefix("1.")
            return ToolNeed(tool="java", version=f">={version}", said_in=path)
    return ToolNeed(tool="java", version="", said_in=_first(project, files))


def _first(project: Project, files: list[str]) -> str:
    return next((path for path in files if project.has(path)), files[0])
