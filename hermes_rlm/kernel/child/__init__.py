"""What runs inside the kernel process. Its modules import builtin modules only until something needs more.

They are loaded by a finder of their own, with two differences to other modules: they see a copy of the
builtins, so that code in a cell may replace any of those; and their bytecode is kept in the Hermes home.
"""

import builtins
import sys

from posix import stat

from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

BYTECODE = sys.pycache_prefix
sys.pycache_prefix = None


class _Loader(SourceFileLoader):
    def exec_module(self, module) -> None:
        module.__dict__["__builtins__"] = _BUILTINS
        super().exec_module(module)

    def get_code(self, fullname):
        others, sys.pycache_prefix = sys.pycache_prefix, BYTECODE
        without, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = others, without


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        """Find a module or package of this package on its path."""
        if not name.startswith(__name__ + "."):
            return None
        for folder in path or ():
            base = f"{folder}/{name.rpartition('.')[2]}"
            for file, locations in ((f"{base}.py", None), (f"{base}/__init__.py", [base])):
                if _is_file(file):
                    loader = _Loader(name, file)
                    return spec_from_file_location(
                        name, file, loader=loader, submodule_search_locations=locations
                    )
        return None


def _is_file(path: str) -> bool:
    try:
        return stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


_BUILTINS = dict(builtins.__dict__)
sys.meta_path.insert(0, _Finder)
