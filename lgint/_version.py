"""The version of the package, which pyproject.toml reads; CITATION.cff and CHANGELOG.md repeat it."""

VERSION = "0.2.0"
