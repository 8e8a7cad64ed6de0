"""The command line, as the tests of the other verbs call it."""

from tests.cli.conftest import theodolite

__all__ = ["theodolite"]
