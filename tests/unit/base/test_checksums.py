"""The checksum of record batches, from a part of its package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ottla.base.checksums import crc32c

CHECK = b"123456789", 0xE3069283  # the example of RFC 3720
PROGRAM = """
import sys
from ottla.base.checksums import crc32c
loaded = {"crc32c", "importlib.metadata"} & sys.modules.keys()
import crc32c as package
print(*loaded, crc32c is package.crc32c)
"""


def test_it_is_crc_32c_and_continues_from_an_earlier_one() -> None:
    content, checksum = CHECK
    assert crc32c(content) == checksum
    assert crc32c(content[4:], crc32c(content[:4])) == checksum


def test_only_the_compiled_module_is_loaded_and_the_package_shares_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert done.stdout.split() == [b"True"]


def test_a_package_without_that_module_is_used_whole(tmp_path: Path) -> None:
    package = tmp_path / "crc32c"
    package.mkdir()
    (package / "__init__.py").write_text("def crc32c(data, crc=0): return 17\n")
    program = "from ottla.base.checksums import crc32c; print(crc32c(b''))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [b"17"]
