"""Failures of pipelines: what happened, where, and what to do."""

from __future__ import annotations


class PipelineError(Exception):
    """Stops a pipeline. The message names file and line, or topic, partition and offset."""


class DeclarationError(PipelineError):
    """One or several things that are wrong in a declaration, each with its file and line."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class LakeError(PipelineError):
    """A table that cannot be written: it holds something else, or something else changed it."""


class LakeUnavailable(LakeError):
    """Nothing was committed, for a reason that may pass: a full disk, or too many other commits."""


class BatchRefused(LakeError):
    """A batch that does not continue where the table ends. Repeating it does not help."""


class FencedOut(PipelineError):
    """Another run of the same pipeline has started."""


class TooManyBad(PipelineError):
    """More records are bad than the declaration allows."""


def reason_of(error: BaseException) -> str:
    """What went wrong, in one line. Texts of Spark have many, and may begin with an empty one."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
