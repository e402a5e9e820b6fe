"""`python -m hermes_unroll`: the commands from a checkout or a pip installation, without the host."""

import sys

from .cli import main

sys.exit(main())
