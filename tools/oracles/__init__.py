"""Other people's codecs beside ours: the same values must give the same bytes, both ways."""

from tools.oracles.table import check_agreement

__all__ = ["check_agreement"]
