"""`python -m hermes_ops`, or this file run by its path: the commands without the host.

By its path it works for an installed folder too, whatever that is called: where the host does not load the
plugin, there is no `hermes ops doctor` to ask why.
"""

import sys


def load() -> None:
    """Make this folder the package hermes_ops."""
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    spec = spec_from_file_location(
        "hermes_ops", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    sys.modules["hermes_ops"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


if not __package__:
    load()
    from hermes_ops.cli import main
else:
    from .cli import main

if __name__ == "__main__":
    sys.exit(main())
