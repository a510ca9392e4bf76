"""`python -m lgint` is the command `lgint`."""

import sys

from lgint._tools.cli import main

sys.exit(main())
