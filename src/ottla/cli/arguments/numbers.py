"""Whole numbers and durations in seconds as values of options."""

from __future__ import annotations

import argparse
from collections.abc import Callable

PARTITIONS_MAX = 100_000  # of librdkafka
REPLICAS_MAX = 10_000  # of librdkafka
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """An argparse type; the error names the accepted range."""

    def parse(text: str) -> int:
        digits = text[1:] if text[:1] in ("-", "+") else text
        is_number = digits.isascii() and digits.isdigit()
        if not is_number:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        # Before `int`, which refuses thousands of digits.
        if len(digits.lstrip("0")) > len(str(highest)) or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(f"{text} is not between {lowest} and {highest}")
        return int(text)

    return parse


def seconds(lowest: float, highest: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            number = float(text if "_" not in text else "nan")
        except ValueError:
            number = float("nan")
        if not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a number of seconds between {lowest:g} and {highest:g}"
            )
        return number

    return parse
