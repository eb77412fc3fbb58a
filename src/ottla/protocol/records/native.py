"""The record loops: the compiled ones where they could be built, else the plain ones.

Owns      the choice between `_native` and `_plain`, made once, at import.
Promises  both have the same functions, results and faults; only the speed differs.
"""

from ottla.protocol.records._plain import decode, encode, walk

IS_COMPILED = False

__all__ = ["IS_COMPILED", "decode", "encode", "walk"]
