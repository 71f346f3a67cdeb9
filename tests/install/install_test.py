#!/usr/bin/env python3
"""Installs the build into a new folder and uses it as a stranger would: find_package, compile C and C++, record, read.

Usage: install_test.py CMAKE BUILD_FOLDER CONSUMER_FOLDER
"""
import configparser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **more).stdout


def rows(sonde, trace, query):
    return run(sonde, "sql", trace, query, "--format", "csv").splitlines()[1:]


def files(folder, *patterns):
    return sorted(str(path.relative_to(folder)) for pattern in patterns or ["**/*"] for path in folder.glob(pattern)
                  if path.is_file() and not {"__pycache__", "bundled"} & set(path.parts))


# The files that may be installed: sonde-gui and the libraries for other interfaces if they are built, Qt's in a portable build.
PROGRAMS = {"bin/sonde", "bin/sonde-gui", "bin/qt.conf"}
LIBRARIES = {f"libsonde_{name}.so" for name in ("preload", "stack", "mpi", "nccl", "sync", "plugin", "memory")} | {"libnccl-profiler-sonde.so"}
ALWAYS = ["bin/sonde", "include/sonde/sonde.h", "include/sonde/sonde_plugin.h", "include/sonde/sonde_question.h",
          "lib/cmake/Sonde/SondeConfig.cmake",
          "lib/sonde/libsonde_preload.so", "lib/sonde/libsonde_nccl.so", "lib/sonde/libsonde_mpi.so",
          "lib/sonde/libsonde_stack.so", "lib/sonde/libsonde_sync.so", "lib/sonde/libsonde_plugin.so",
          "lib/sonde/libsonde_memory.so",
          "lib/sonde/libnccl-profiler-sonde.so",
          "lib/sonde/python/sitecustomize.py",
          "lib/sonde/python/sonde/__init__.py", "lib/sonde/python/sonde/_sonde.abi3.so",
          "share/bash-completion/completions/sonde", "share/doc/sonde/LICENSE",
          "share/doc/sonde/examples/ballsim_probe.c", "share/doc/sonde/examples/cached_loads.c", "share/man/man1/sonde-run.1"]


def check_layout(build, prefix):
    """The install has the shape of the build tree and nothing of the machine that built it."""
    installed = files(prefix)
    for path in ALWAYS:
        assert path in installed, f"{path} is not installed"
    assert set(files(prefix, "bin/*")) <= PROGRAMS, files(prefix, "bin/*")
    assert set(files(prefix / "lib/sonde", "*")) <= LIBRARIES, files(prefix / "lib/sonde", "*")
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "include", "lib", "share"]
    assert sorted(path.name for path in (prefix / "lib").iterdir()) == ["cmake", "sonde"]
    for part in ("lib/sonde", "share/man", "share/bash-completion"):
        assert files(build / part) == files(prefix / part), part
    for path in files(prefix, "bin/*", "lib/sonde/**/*.so"):
        for line in run("readelf", "--dynamic", prefix / path).splitlines():
            assert "PATH" not in line or "$ORIGIN" in line, f"{path}: {line}"


def check_desktop(prefix):
    """A desktop that has the window opens traces with it: what the three files name is there, and each names the other."""
    if not (prefix / "bin/sonde-gui").exists():
        return
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(prefix / "share/applications/sonde.desktop", encoding="utf-8")
    entry = entry["Desktop Entry"]
    assert (prefix / "bin" / entry["Exec"].split()[0]).exists(), entry["Exec"]
    assert (prefix / f"share/icons/hicolor/scalable/apps/{entry['Icon']}.svg").exists(), entry["Icon"]
    # The first page leads to the example, which has a story: loading data in workers would make it faster.
    plan = json.loads(run(prefix / "bin/sonde", "optimize", prefix / "share/sonde/example.sonde", "--format", "json"))["plan"]
    assert plan[0]["setting"] == "DataLoader(num_workers=1)" and plan[0]["gain"] > 0.15, plan
    types = ElementTree.parse(prefix / "share/mime/packages/sonde.xml").getroot()
    assert [f"{each.get('type')};" for each in types] == [entry["MimeType"]]


def check_page(consumer):
    """What the page on annotations shows is what is compiled here."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "probes" / "annotation.md").read_text(encoding="utf-8")
    for language, source in (("c", "annotated.c"), ("cpp", "annotated.cpp")):
        text = (pathlib.Path(consumer) / source).read_text(encoding="utf-8")
        assert f"```{language}\n{text}```\n" in page, f"docs/probes/annotation.md does not show {source} as it is"
    lines = page.split("```cmake\n")[1].split("```")[0].splitlines()
    built = (pathlib.Path(consumer) / "CMakeLists.txt").read_text(encoding="utf-8").splitlines()
    assert lines and set(lines) <= set(built), lines


def check_plugin(prefix, work):
    """The example as the page on plugins builds and records it, from what is installed."""
    examples = work / "examples"
    shutil.copytree(prefix / "share/doc/sonde/examples", examples)
    page = (pathlib.Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
    source = (examples / "ballsim_probe.c").read_text(encoding="utf-8")
    assert f"```c\n{source}```\n" in page, "docs/plugins.md does not show ballsim_probe.c as it is"
    question = (examples / "cached_loads.c").read_text(encoding="utf-8")
    assert f"```c\n{question}```\n" in page, "docs/plugins.md does not show cached_loads.c as it is"
    commands = page.split("```sh\n")[1].split("```")[0]
    environment = {**os.environ, "CPATH": str(prefix / "include"), "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
    run("sh", "-e", "-c", commands, cwd=examples, env=environment)
    run("cc", "-shared", "-fPIC", "-O2", "-o", "libcached_loads.so", "cached_loads.c", cwd=examples, env=environment)
    run(prefix / "bin" / "sonde", "whatif", "--plugin", examples / "libcached_loads.so", "--list")
    found = rows(prefix / "bin" / "sonde", examples / "bounce.sonde",
                 "SELECT name, count(*) FROM v_slice WHERE category = 'simulator' GROUP BY name ORDER BY name")
    assert found == ["ballsim_create,1", "ballsim_step,100"], found


# By program: kinds and names of its scopes, by depth, and its scalars.
RECORDED = {"annotated_c": (["phase,train", "operation,step"], [0.25]),
            "annotated_cpp": (["phase,train"] + 3 * ["iteration,iteration"] + 3 * ["operation,step"], 3 * [0.25])}


def main(cmake, build, consumer):
    check_page(consumer)
    with tempfile.TemporaryDirectory() as folder:
        prefix, work = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "work")
        run(cmake, "--install", build, "--prefix", prefix)
        check_layout(pathlib.Path(build), prefix)
        check_desktop(prefix)
        run(cmake, "-S", consumer, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja")
        run(cmake, "--build", work)
        sonde = prefix / "bin" / "sonde"
        for program, (scopes, scalars) in RECORDED.items():
            assert run(work / program) == "done\n", "without a recorder every call is a no-op"
            trace = work / f"{program}.sonde"
            assert run(sonde, "run", "-o", trace, "--", work / program) == "done\n"
            found = rows(sonde, trace, "SELECT s.kind, t.text FROM slice s JOIN string t ON t.id = s.name_id "
                                       "WHERE s.category = 'annotation' AND s.kind <> 'mark' ORDER BY s.depth")
            assert found == scopes, found
            assert [float(value) for value in rows(sonde, trace, "SELECT value FROM scalar")] == scalars
        check_plugin(prefix, work)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stdout}\n{error.stderr}")
