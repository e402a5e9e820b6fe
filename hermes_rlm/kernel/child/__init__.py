"""What runs inside the kernel process. Its modules import builtin modules only until something needs more.

In a kernel they are loaded by a finder of their own, with two differences to other modules: they see a copy
of the builtins, so that code in a cell may replace any of those; and their bytecode lies in the Hermes home.
"""

import builtins
import sys
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location
from posix import stat

KERNEL_NAME = "_hermes_rlm_kernel"
_BYTECODE = sys.pycache_prefix
_BUILTINS = dict(builtins.__dict__)


class _Loader(SourceFileLoader):
    def exec_module(self, module) -> None:
        module.__dict__["__builtins__"] = _BUILTINS
        super().exec_module(module)

    def get_code(self, fullname):
        before = sys.pycache_prefix, sys.dont_write_bytecode
        sys.pycache_prefix, sys.dont_write_bytecode = _BYTECODE, False
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = before


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        """Find a module or package of this package on its path."""
        if not name.startswith(KERNEL_NAME + "."):
            return None
        for folder in path or ():
            base = f"{folder}/{name.rpartition('.')[2]}"
            for file, locations in ((f"{base}.py", None), (f"{base}/__init__.py", [base])):
                if _is_file(file):
                    return spec_from_file_location(
                        name, file, loader=_Loader(name, file), submodule_search_locations=locations
                    )
        return None


def _is_file(path: str) -> bool:
    try:
        return stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


if __name__ == KERNEL_NAME:
    sys.pycache_prefix = None
    sys.meta_path.insert(0, _Finder)
