"""`python -m hermes_rlm`, or this file run by its path: the commands without the host.

By its path it works for an installed folder too, whatever that is called: where the host does not load the
plugin, there is no `hermes rlm doctor` to ask why.
"""

import sys


def load() -> None:
    """Make this folder the package hermes_rlm."""
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    spec = spec_from_file_location(
        "hermes_rlm", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    sys.modules["hermes_rlm"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


if not __package__:
    load()
    from hermes_rlm.cli import main
else:
    from .cli import main

sys.exit(main())
