"""The one part of the build that `pyproject.toml` cannot say: the compiled loops.

They are optional: without a compiler the install succeeds and their plain Python twins run (`ottla
version` says which). `OTTLA_NATIVE=require` makes a failed build a failed install, and with
`OTTLA_NATIVE=off` they are left out.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

SOURCE = Path("src")


def compiled_module(source: Path) -> Extension:
    """One `.pyx` file; what it includes has its name at the front, and the ending `.pxi`."""
    return Extension(
        ".".join(source.relative_to(SOURCE).with_suffix("").parts),
        [str(source)],
        depends=[str(part) for part in sorted(source.parent.glob(f"{source.stem}_*.pxi"))],
        extra_compile_args=["-O3", "-g0"],
        optional=os.environ.get("OTTLA_NATIVE") != "require",
    )


def compiled_modules() -> list[Extension]:
    if os.environ.get("OTTLA_NATIVE") == "off":
        return []
    return [compiled_module(source) for source in sorted(SOURCE.rglob("*.pyx"))]


setup(ext_modules=compiled_modules())
