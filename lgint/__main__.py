"""`python -m lgint` is the command `lgint`."""

import sys

from lgint._cli import main

sys.exit(main())
