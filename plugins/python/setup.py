"""The extension of the wheel; everything else is in pyproject.toml. Build it in a checkout: it takes headers from plugins/api and collector/wire."""
import pathlib

from setuptools import Extension, setup

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ["elements", "entry", "inside", "module", "names", "mask", "native", "native_entries", "native_objects", "numbers", "region",
           "scope", "steps"]

setup(
    ext_modules=[
        Extension(
            "sonde._sonde",
            sources=[f"extension/{name}.c" for name in SOURCES],
            include_dirs=[str(ROOT)],
            define_macros=[("Py_LIMITED_API", "0x03090000")],
            extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
