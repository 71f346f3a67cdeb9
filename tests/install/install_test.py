#!/usr/bin/env python3
"""Installs the build into a new folder and uses it as a stranger would: find_package, compile C and C++, record, read.

Usage: install_test.py CMAKE BUILD_FOLDER CONSUMER_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **more).stdout


def rows(sonde, trace, query):
    return run(sonde, "sql", trace, query, "--format", "csv").splitlines()[1:]


def main(cmake, build, consumer):
    with tempfile.TemporaryDirectory() as folder:
        prefix, work = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "work")
        run(cmake, "--install", build, "--prefix", prefix)
        run(cmake, "-S", consumer, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja")
        run(cmake, "--build", work)
        sonde = prefix / "bin" / "sonde"
        for program in ("annotated_c", "annotated_cpp"):
            assert run(work / program) == "done\n", "without a recorder every call is a no-op"
            trace = work / f"{program}.sonde"
            assert run(sonde, "run", "-o", trace, "--", work / program) == "done\n"
            found = rows(sonde, trace, "SELECT s.kind, t.text FROM slice s JOIN string t ON t.id = s.name_id "
                                       "WHERE s.category = 'annotation' AND s.kind <> 'mark' ORDER BY s.depth")
            assert found == ["phase,train", "operation,step"], found
            assert [float(value) for value in rows(sonde, trace, "SELECT value FROM scalar")] == [0.25]


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stdout}\n{error.stderr}")
