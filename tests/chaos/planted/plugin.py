"""Pytest plugin: plants the bug that the environment names before tests are collected."""

from __future__ import annotations

import os

from tests.chaos.planted.plant import PLANT, apply

apply(os.environ[PLANT])
