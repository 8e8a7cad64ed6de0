"""The command line, as the tests of verbs call it."""

from tests.cli.conftest import theodolite as theodolite
