"""`python -m lgint` is the command `lgint`."""

import sys

from lgint.cli import main

sys.exit(main())
