"""What runs inside the kernel process. Its modules import builtin modules only until something needs more.

In a kernel they are loaded by a finder of their own, with two differences to other modules: they see a copy
of the builtins, so that code in a cell may replace any of those; and their bytecode lies in the Hermes home.
"""

import builtins
import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location
from posix import stat

KERNEL_NAME = "_hermes_rlm_kernel"
_FOLDER = __file__.rpartition("/")[0]
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
        """Find a module of this package; a package inside it is only there once `load_package` was told."""
        if not name.startswith(KERNEL_NAME + "."):
            return None
        parent, _, last = name.rpartition(".")
        for folder in [_FOLDER] if parent == KERNEL_NAME else path or ():
            file = f"{folder}/{last}.py"
            if _is_file(file):
                return spec_from_file_location(name, file, loader=_Loader(name, file))
        return None


def load_package(name: str, folder: str):
    """Load the package of this name from a folder, once, and return it."""
    if name not in sys.modules:
        start = f"{folder}/__init__.py"
        spec = spec_from_file_location(
            name, start, loader=_Loader(name, start), submodule_search_locations=[folder]
        )
        sys.modules[name] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _is_file(path: str) -> bool:
    try:
        return stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


if __name__ == KERNEL_NAME:
    sys.pycache_prefix = None
    # An empty path leaves everything to the finder here.
    __path__[:] = []
    sys.meta_path.insert(0, _Finder)
