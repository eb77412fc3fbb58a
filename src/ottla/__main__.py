"""`python -m ottla`: the command `ottla`, with the Python that is named."""

import sys

from ottla.cli.entry import main

sys.exit(main())
