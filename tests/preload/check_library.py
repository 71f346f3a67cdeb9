#!/usr/bin/env python3
"""Holds a library of Sonde's to what one in somebody else's process may be.

It exports exactly the symbols of exports.map (NAME*: all that begin so), needs libc, libdl and libpthread alone, leaves no C++ runtime symbol
undefined, asks for no symbol version above GLIBC_2.28 and initialises no object at run time, which would touch its memory in
every process. Run by ctest: check_library.py LIBRARY EXPORTS_MAP
"""
import re
import subprocess
import sys

ALLOWED_NEEDED = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6"}
REQUIRED_NEEDED = {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
OPTIONAL = re.compile(r"_ZN4gloo")  # absent from a build without libgloo's headers
RUNTIME = re.compile(r"__cxa_|_Unwind_|__gxx_personality|_ZS|_ZNS|_ZNKS|_Znw|_Zna|_Zdl|_Zda|__cxa_guard")
NEWEST = (2, 28)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed(path):
    """Also what has no version where others have: a line "# unversioned: NAME; …" of the map, which could not say it itself."""
    text = re.sub(r"# unversioned:(.*)", r"global: \1 local:", open(path, encoding="utf-8").read())
    text = re.sub(r"#.*", "", text)
    return {name for part in text.split("global:")[1:] for name in re.findall(r"(\w+\*?);", re.split(r"local:|}", part)[0])}


def weak(path):
    """What of a C++ runtime it may leave undefined, because it is weak: a line "# weak: NAME; …" of the map."""
    text = open(path, encoding="utf-8").read()
    return {name for line in re.findall(r"# weak:(.*)", text) for name in re.findall(r"(\w+);", line)}


def complaints(library, exports_map):
    wanted = listed(exports_map)
    families = tuple(name.removesuffix("*") for name in wanted if name.endswith("*"))
    defined = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()
               if line.split()[1] != "A"}  # not the names of versions
    for name in sorted(name for name in defined - wanted if not (families and name.startswith(families))):
        yield f"exports {name}, which exports.map does not list"
    for name in sorted(wanted - defined):
        exported = name.endswith("*") and any(other.startswith(name[:-1]) for other in defined)
        if not exported and not OPTIONAL.match(name):
            yield f"does not export {name}, which exports.map lists"
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", library)))
    for name in sorted(needed - ALLOWED_NEEDED):
        yield f"needs {name}"
    for name in sorted(REQUIRED_NEEDED - needed):
        yield f"does not need {name}: on glibc before 2.34 its symbols would be missing"
    for line in output("nm", "-D", "--undefined-only", "--with-symbol-versions", library).splitlines():
        name = line.split()[-1]
        is_weak = line.split()[-2] in "wv" and name in weak(exports_map)
        if RUNTIME.match(name) and not is_weak and "@GLIBC_" not in name:
            yield f"leaves {name} undefined"
        version = re.search(r"@+GLIBC_(\d+)\.(\d+)", name)
        if version and tuple(map(int, version.groups())) > NEWEST:
            yield f"asks for {name}, newer than GLIBC_{NEWEST[0]}.{NEWEST[1]}"
    for name in re.findall(r"_GLOBAL__sub_I_(\S+)", output("nm", library)):
        yield f"initialises an object of {name} at run time"


def main():
    found = list(complaints(sys.argv[1], sys.argv[2]))
    print("\n".join(f"{sys.argv[1]}: {text}" for text in found) or "the library keeps to its contract")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
