"""The reference has every public name, and every model has a page."""

import re
from pathlib import Path
from types import ModuleType

import lgint

PAGES = Path(__file__).parents[2] / "docs" / "api"


def test_every_public_name_stands_in_the_reference():
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    found = set(re.findall(r"auto(?:class|function|exception|data):: (\w+)$", text, re.MULTILINE))
    modules = set(re.findall(r"automodule:: lgint\.(\w+)", text)) | {"models"}
    public = {name for name in lgint.__all__ if name != "__version__"}
    assert {name for name in public if isinstance(getattr(lgint, name), ModuleType)} == modules
    assert public - modules == found - {"names", "get", "parameters"}
