"""Maven and Gradle."""

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.java import detect
from tests.environments.detect.small_projects import check, files

POM = "<project><modelVersion>4.0.0</modelVersion>{}</project>"


def test_maven_brings_what_runs_the_tests_by_running_one_class_of_every_module() -> None:
    project = files(
        {
            "pom.xml": POM.format("<modules><module>core</module><!-- <module>old</module> --></modules>"),
            "core/pom.xml": POM.format(
                "<modules><module>deep</module><module>../../outside</module></modules>"
            ),
            "core/deep/pom.xml": POM.format(""),
            "old/pom.xml": POM.format(""),
            "core/src/test/java/org/acme/AbstractStoreTest.java": "",
            "core/src/test/java/org/acme/StoreTest.java": "",
            "core/src/test/java/org/acme/ZooTest.java": "",
            "core/deep/src/test/java/DeepTests.java": "",
            "old/src/test/java/OldTest.java": "",
        }
    )
    detected = detect(project, "", Hints())
    assert detected
    assert detected.members == ("core", "core/deep")
    compiled, ran, removed = detected.install
    assert compiled.command == "mvn -B -ntp test-compile"
    assert "-Dtest=DeepTests,StoreTest " in ran.command
    assert ran.is_optional
    assert removed.command == "rm -rf -- target core/target core/deep/target"
    assert check(detected, "mvn test").command == "mvn -B -o test"
    assert check(detected, "mvn test").otherwise is None


def test_a_wrapper_is_used_where_the_machine_has_no_maven() -> None:
    project = files({"pom.xml": POM.format(""), "mvnw": "", "src/test/java/ATest.java": ""})
    detected = detect(project, "", Hints())
    first = check(detected, "mvn test")
    assert first.otherwise
    assert first.otherwise.command == "sh ./mvnw -B -o test"
    assert detected
    assert detected.install[0].command.startswith("if command -v mvn")
    assert [need.tool for need in detected.tools] == ["java"]


def test_a_project_without_tests_is_only_compiled() -> None:
    detected = detect(files({"pom.xml": POM.format("")}), "", Hints())
    assert check(detected, "mvn compile").kind == "build"
    assert detected
    assert len(detected.install) == 2


@pytest.mark.parametrize(
    ("contents", "version", "said_in"),
    [
        ({"pom.xml": "<maven.compiler.release>17</maven.compiler.release>"}, ">=17", "pom.xml"),
        ({"pom.xml": "<maven.compiler.source>1.8</maven.compiler.source>"}, ">=8", "pom.xml"),
        ({"pom.xml": "<java.version>${x}</java.version>"}, "", "pom.xml"),
        ({"pom.xml": "", ".java-version": "21\n"}, "21", ".java-version"),
        ({"pom.xml": "", ".sdkmanrc": "# x\njava=17.0.9-tem\n"}, "17.0.9-tem", ".sdkmanrc"),
        (
            {"pom.xml": "", ".tool-versions": "nodejs 20\njava temurin-17.0.9+9\n"},
            "temurin-17.0.9+9",
            ".tool-versions",
        ),
        ({"pom.xml": "", "mise.toml": '[tools]\njava = "21"\n'}, "21", "mise.toml"),
        (
            {"build.gradle": "java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }"},
            "17",
            "build.gradle",
        ),
        ({"build.gradle.kts": "kotlin { jvmToolchain(21) }"}, "21", "build.gradle.kts"),
        ({"build.gradle": "sourceCompatibility = JavaVersion.VERSION_1_8"}, ">=8", "build.gradle"),
    ],
)
def test_the_version_of_java_comes_from_where_it_is_said(
    contents: dict[str, str], version: str, said_in: str
) -> None:
    detected = detect(files(contents), "", Hints())
    assert detected
    need = detected.tools[0]
    assert (need.tool, need.version, need.said_in) == ("java", version, said_in)


def test_gradle_is_run_by_its_wrapper_and_the_host_of_that_is_noted() -> None:
    project = files(
        {
            "settings.gradle": "",
            "app/build.gradle.kts": 'plugins { kotlin("jvm") }',
            "gradlew": "",
            "other/settings.gradle": "",
            "other/build.gradle": "",
        }
    )
    detected = detect(project, "", Hints())
    assert detected
    assert detected.ecosystem == "Kotlin (Gradle)"
    assert detected.members == ("app",)
    assert detected.install[0].command == "sh ./gradlew --no-daemon testClasses"
    assert check(detected, "gradle test").command == "sh ./gradlew --no-daemon --offline test"
    assert "gradle-wrapper.properties" in detected.notes[0]


def test_gradle_without_a_wrapper_needs_gradle() -> None:
    detected = detect(files({"api/build.gradle": ""}), "api", Hints())
    assert detected
    assert [need.tool for need in detected.tools] == ["java", "gradle"]
    assert check(detected, "gradle test").workdir == "api"
    assert detected.notes == ()


def test_the_name_of_a_module_is_no_shell_command() -> None:
    project = files({"pom.xml": "<module>a;touch$IFS/tmp/x</module>", "a;touch$IFS/tmp/x/pom.xml": ""})
    detected = detect(project, "", Hints())
    assert detected
    assert "'a;touch$IFS/tmp/x/target'" in detected.install[-1].command


def test_what_has_neither_file_is_not_java() -> None:
    assert detect(files({"src/Main.java": ""}), "", Hints()) is None
