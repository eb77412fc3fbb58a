"""The completeness audit: every tier sums what it has, and the sums must agree."""
