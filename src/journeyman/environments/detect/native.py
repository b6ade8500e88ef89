"""C and C++: CMake, Meson, autotools and make.

Nothing is installed for these, so a check does all of it: it configures and builds in a directory of its own,
which ignores itself for git, and never in the sources. What was built in the set-up would be taken for up to
date by a later commit whose sources are older files. Only what a build downloads is brought beforehand.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.detect.listing import paths_below
from journeyman.environments.detect.pins import pinned
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_OTHERS = frozenset(
    {
        *(
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "package.json",
            "Cargo.toml",
            "go.mod",
            "pom.xml",
            "Gemfile",
        ),
        *("composer.json", "build.gradle", "build.gradle.kts", "requirements.txt", "mix.exs", "pubspec.yaml"),
    }
)
"""Where one of these stands, a make file only calls the tools of that ecosystem."""
_OTHER_ENDINGS = (".csproj", ".sln", ".slnx", ".gemspec")
_TARGET = re.compile(r"^(test|check)[ \t]*:(?!=)|^\.PHONY[ \t]*:.*?\b(test|check)\b", re.MULTILINE)
_TEST_PROGRAM = re.compile(
    r"^((?:[\w.]+[-_])?(?:unit[-_]?)?tests?|tests?[-_][\w.-]+)[ \t]*:(?!=).*\n"
    r"(?:\t.*\n)*?\t.*-o[ \t]*(?:\$@|\1)(?!\S)",
    re.MULTILINE,
)
"""A rule that links a program which is called after tests; running it is left to people."""
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C")
_CMAKE_VERSION = re.compile(r"cmake_minimum_required\s*\(\s*VERSION\s+(\d+(?:\.\d+)*)", re.IGNORECASE)
_CMAKE_TESTS = re.compile(
    r"^\s*(?:enable_testing|include\s*\(\s*CTest|add_test)\b", re.MULTILINE | re.IGNORECASE
)
_CMAKE_FETCH = re.compile(r"^[^#\n]*\b(?:FetchContent_Declare|CPMAddPackage)\b", re.MULTILINE | re.IGNORECASE)
_ASIDE = re.compile(r"(?:^|/)(?:docs?|examples?|fuzz\w*|bench\w*)/")
_CMAKE_MOVES = re.compile(r"file\s*\(\s*RENAME\s+\$\{CMAKE_(?:CURRENT_)?SOURCE_DIR\}", re.IGNORECASE)
"""Configuring moves a file of the sources away, which is a change that nobody asked for."""
_CMAKE_OPTION = re.compile(r"option\s*\(\s*(\w+)\s+(?:\"[^\"]*\"|\w+)\s*(OFF|ON)?[^)]*\)", re.IGNORECASE)
_TEST_OPTION = re.compile(r"(?:\w+_)?(?:BUILD|ENABLE|WITH)_(?:UNIT_?)?TEST(?:S|ING)?", re.IGNORECASE)
_OWN_TESTS = re.compile(r"(?:[A-Z0-9]+_)?(?:Build_?)?Tests?", re.IGNORECASE)
_BUILDS = ("build", "_build", "build-check")
_MAX_PACKAGES = 20
_PARALLEL = '"$(nproc)"'


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    if any(_system(project, above, hints) for above in _above(directory)):
        return None
    system = _system(project, directory, hints)
    if system is None:
        return None
    if system == "cmake":
        found = _cmake(project, directory, hints)
    elif system == "meson":
        found = _meson(project, directory)
    else:
        found = _make(project, directory) if system == "make" else _autotools(project, directory)
    if not hints.apt or found.ecosystem == "make":
        return found
    packages = ", ".join(hints.apt[:_MAX_PACKAGES])
    note = (
        f"CI installs packages of the system first: {packages}. Those that are missing belong on the server."
    )
    return replace(found, notes=(*found.notes, note))


def _above(directory: str) -> Iterator[str]:
    while directory:
        directory = posixpath.dirname(directory)
        yield directory


def _system(project: Project, directory: str, hints: Hints) -> str | None:
    """What builds the directory; where several can, the first that CI uses."""
    if _is_part_of_python(project, directory):
        return None
    main = project.text(under(directory, "CMakeLists.txt"))
    is_cmake = bool(re.search(r"(?im)^\s*project\s*\(", main) or _CMAKE_VERSION.search(main))
    found = [
        name
        for name, is_there in (
            ("cmake", is_cmake and not _CMAKE_MOVES.search(main)),
            ("meson", "project(" in project.text(under(directory, "meson.build"))),
            ("autotools", _has(project, directory, "configure.ac", "configure.in")),
            ("configure", _has(project, directory, "configure")),
            ("make", _is_made(project, directory)),
            ("cmake", is_cmake),
        )
        if is_there
    ]
    used = [name for name in found if _is_used(name, hints)]
    return next(iter(used or found), None)


def _has(project: Project, directory: str, *names: str) -> bool:
    return any(project.has(under(directory, name)) for name in names)


def _is_part_of_python(project: Project, directory: str) -> bool:
    """Whether Python's own build calls this one, with packages that only it brings."""
    build = project.text(under(directory, "pyproject.toml")) + project.text(under(directory, "setup.py"))
    return bool(
        re.search(r"scikit.build|skbuild|mesonpy|meson-python|py.build.cmake|cmake", build, re.IGNORECASE)
    )


def _is_made(project: Project, directory: str) -> bool:
    if not _has(project, directory, *_MAKEFILES) or _has(project, directory, *_OTHERS):
        return False
    if directory and _has(project, "", *_OTHERS):
        return False  # something small beside the product, which the product's own tools build or leave
    if any(name.endswith(_OTHER_ENDINGS) for name in project.names(directory)):
        return False
    return _has_sources(project, directory) or bool(_make_target(project, directory))


def _has_sources(project: Project, directory: str) -> bool:
    return any(path.endswith(_SOURCES) for path in paths_below(project, directory))


def _is_used(system: str, hints: Hints) -> bool:
    words = {
        "cmake": r"\bcmake\b",
        "meson": r"\bmeson\b",
        "autotools": r"\b(?:autoreconf|autogen\.sh|configure|bootstrap)\b",
        "configure": r"\bconfigure\b",
        "make": r"^make\b",
    }[system]
    return any(re.search(words, one.command) for one in hints.commands)


def _build_directory(project: Project, directory: str) -> str:
    """A name that the repository does not use itself."""
    names = {name.rstrip("/") for name in project.names(directory)}
    return next((name for name in _BUILDS if name not in names), _BUILDS[-1] + "-directory")


def _ignoring(build: str) -> str:
    return f"mkdir -p {build} && echo '*' >{build}/.gitignore"


def _cmake(project: Project, directory: str, hints: Hints) -> Detected:
    build = _build_directory(project, directory)
    files = [path for path in paths_below(project, directory) if path.endswith("CMakeLists.txt")]
    text = "\n".join(project.text(path) for path in files)
    main = under(directory, "CMakeLists.txt")
    options = "".join(f" -D{name}=ON" for name in _test_options(text, hints))
    fetching = [path for path in files if not _ASIDE.search(path) and _CMAKE_FETCH.search(project.text(path))]
    fetches = bool(fetching)
    configure = f"{_ignoring(build)} && cmake -S . -B {build}{options}"
    offline = " -DFETCHCONTENT_FULLY_DISCONNECTED=ON" if fetches else ""
    compiled = f"{configure}{offline} && cmake --build {build} --parallel {_PARALLEL}"
    check = Check(
        name="cmake build",
        kind="build",
        command=compiled,
        workdir=workdir_of(directory),
        tool="CMake and a compiler",
        why=main,
        probe=f"{there('cmake')} && {there('cc')}",
    )
    checks = [check]
    if _CMAKE_TESTS.search(text):
        tests = f"{compiled} && cd {build} && ctest --output-on-failure"
        checks.append(replace(check, name="ctest", kind="test", command=tests))
    install = InstallCommand(
        command=configure, why=f"{main} downloads sources", workdir=workdir_of(directory), is_optional=True
    )
    return Detected(
        ecosystem="C/C++ (CMake)",
        directory=directory,
        tools=(_cmake_need(project, directory, main), ToolNeed(tool="cc", version="", said_in=main)),
        install=(install,) if fetches else (),
        checks=tuple(checks),
        directories=(under(directory, build),) if fetches else (),
        key_files=tuple(fetching),
        notes=(f"{main} downloads sources while it configures; the set-up must be allowed their hosts.",)
        if fetches
        else (),
    )


def _cmake_need(project: Project, directory: str, main: str) -> ToolNeed:
    found = _CMAKE_VERSION.search(project.text(main))
    said = ToolNeed(tool="cmake", version=f">={found[1]}" if found else "", said_in=main)
    return pinned(project, directory, "cmake") or said


def _test_options(text: str, hints: Hints) -> list[str]:
    """Options that are off and build the project's tests; a name that says less counts where CI turns it on.

    Those for tests of one feature (`ENABLE_SSL_TESTS`) stay off: they need what CI installs before.
    """
    said = " ".join(one.command for one in hints.commands)
    off = [name for name, default in _CMAKE_OPTION.findall(text) if default.upper() != "ON"]
    return [
        name
        for name in dict.fromkeys(off)
        if _TEST_OPTION.fullmatch(name)
        or (
            _OWN_TESTS.fullmatch(name) and re.search(rf"-D\s?{name}(?::\w+)?=(?:ON|1|YES|TRUE)\b", said, re.I)
        )
    ][:5]


def _meson(project: Project, directory: str) -> Detected:
    build, main = _build_directory(project, directory), under(directory, "meson.build")
    workdir = workdir_of(directory)
    wrap = re.compile(rf"{re.escape(under(directory, 'subprojects'))}/[^/]+\.wrap")
    wraps = [path for path in paths_below(project, under(directory, "subprojects")) if wrap.fullmatch(path)]
    setup = f"meson setup {build}"
    check = Check(
        name="meson compile",
        kind="build",
        command=f"{_ignoring(build)} && {setup} && ninja -C {build}",
        workdir=workdir,
        tool="Meson, Ninja and a compiler",
        why=main,
        probe=f"{there('meson')} && {there('ninja')} && {there('cc')}",
    )
    tests = f"{_ignoring(build)} && {setup} && meson test -C {build} --print-errorlogs"
    install = InstallCommand(
        command="meson subprojects download",
        why=f"{under(directory, 'subprojects')} names sources",
        workdir=workdir,
        is_optional=True,
    )
    return Detected(
        ecosystem="C/C++ (Meson)",
        directory=directory,
        tools=tuple(ToolNeed(tool=tool, version="", said_in=main) for tool in ("meson", "ninja", "cc")),
        install=(install,) if wraps else (),
        checks=(check, replace(check, name="meson test", kind="test", command=tests)),
        key_files=tuple(wraps),
    )


def _autotools(project: Project, directory: str) -> Detected:
    names, build = project.names(directory), _build_directory(project, directory)
    main = under(directory, next(n for n in ("configure.ac", "configure.in", "configure") if n in names))
    is_generated = not main.endswith("configure")
    tools = (
        ("autoreconf", "automake", "make", "cc")
        if is_generated and "configure" not in names
        else ("make", "cc")
    )
    prepare = "" if "configure" in names else "{ test -x configure || autoreconf -fi; } && "
    configured = (
        f"{prepare}{_ignoring(build)} && cd {build} && {{ test -f Makefile || ../configure; }}"
        f" && make -j {_PARALLEL}"
    )
    check = Check(
        name="make",
        kind="build",
        command=configured,
        workdir=workdir_of(directory),
        tool="autotools, make and a compiler" if prepare else "make and a compiler",
        why=main,
        probe=" && ".join(there(tool) for tool in tools),
    )
    target = "check" if is_generated else _template_target(project, directory)
    tests = replace(check, name=f"make {target}", kind="test", command=f"{configured} && make {target}")
    return Detected(
        ecosystem="C/C++ (autotools)" if is_generated else "C/C++ (configure)",
        directory=directory,
        tools=tuple(ToolNeed(tool=tool, version="", said_in=main) for tool in tools),
        checks=(check, tests) if target else (check,),
    )


def _template_target(project: Project, directory: str) -> str:
    """A configure script written by hand makes its make file from one that is named so."""
    return _make_target(project, directory) or ("test" if _has(project, directory, "Makefile.in") else "")


def _make(project: Project, directory: str) -> Detected:
    name = next(name for name in _MAKEFILES if name in project.names(directory))
    main, target = under(directory, name), _make_target(project, directory)
    has_sources = _has_sources(project, directory)
    tools = ("make", "cc") if has_sources else ("make",)
    check = Check(
        name="make",
        kind="build",
        command="make",
        workdir=workdir_of(directory),
        tool="make and a compiler" if has_sources else "make",
        why=main,
        probe=" && ".join(there(tool) for tool in tools),
    )
    tests = replace(
        check,
        name=f"make {target}",
        kind="test",
        command=f"make {target}",
        why=f"{main} has the target {target}",
    )
    return Detected(
        ecosystem="C/C++ (make)" if has_sources else "make",
        directory=directory,
        tools=tuple(ToolNeed(tool=tool, version="", said_in=main) for tool in tools),
        checks=(*((check,) if has_sources else ()), *((tests,) if target else _test_program(project, check))),
    )


def _test_program(project: Project, build: Check) -> tuple[Check, ...]:
    found = _TEST_PROGRAM.search(project.text(build.why))
    if not found:
        return ()
    command, why = f"make {found[1]} && ./{found[1]}", f"{build.why} builds {found[1]}"
    return (replace(build, name=found[1], kind="test", command=command, why=why),)


def _make_target(project: Project, directory: str) -> str:
    for name in _MAKEFILES:
        found = {target for pair in _TARGET.findall(project.text(under(directory, name))) for target in pair}
        for target in ("test", "check"):
            if target in found:
                return target
    return ""
