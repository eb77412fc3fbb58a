"""Other codecs compared with ours: the same values must give the same bytes, in both directions."""

from tools.oracles.table import check_agreement

__all__ = ["check_agreement"]
