"""`python -m hermes_rlm`: the commands from a checkout or a pip installation, without the host."""

import sys

from .cli import main

sys.exit(main())
