"""The one part of the build that `pyproject.toml` cannot say: the compiled record walker.

The extension is optional: without a compiler the install succeeds and the plain Python fallback
runs (`ottla version` says which). `OTTLA_NATIVE=require` makes a failed build a failed install.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

RECORDS = Path("src/ottla/protocol/records")
NATIVE_SOURCE = RECORDS / "_native.pyx"


def native_extensions() -> list[Extension]:
    if os.environ.get("OTTLA_NATIVE") == "off" or not NATIVE_SOURCE.exists():
        return []
    required = os.environ.get("OTTLA_NATIVE") == "require"
    return [
        Extension(
            "ottla.protocol.records._native",
            [str(NATIVE_SOURCE)],
            depends=[str(part) for part in RECORDS.glob("_native_*.pxi")],
            extra_compile_args=["-O3", "-g0"],
            optional=not required,
        )
    ]


setup(ext_modules=native_extensions())
