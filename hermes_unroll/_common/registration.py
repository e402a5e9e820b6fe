"""One copy of a plugin per process, whatever installs put several there.

The host may call register() again in the same process (it reloads plugins in mid-session, after
forgetting all their hooks), so registering twice from one place is normal. A second *copy* at another
place registers nothing: what both did would happen twice.
"""

from __future__ import annotations

import logging
import os
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any


class Registration:
    """The registration of one copy of a plugin.

    ``marker`` is its name in sys.modules, where all copies find it whatever their modules are called;
    ``module_file`` is any file of the copy's folder; ``hooks`` are its callbacks by hook name, ``commands``
    the handlers of its `hermes <name>` commands, by which a plugin without hooks is told to be live.
    """

    def __init__(
        self,
        plugin: str,
        marker: str,
        module_file: str,
        hooks: Mapping[str, Callable[..., Any]],
        commands: Mapping[str, Callable[..., Any]] | None = None,
    ):
        self.plugin, self.marker, self.hooks, self.commands = plugin, marker, hooks, commands or {}
        self.here = os.path.dirname(os.path.abspath(module_file))

    def begin(self, ctx: Any, logger: logging.Logger) -> bool:
        """Tell whether to register with ``ctx``; False, with one warning, when another copy is live."""
        found = sys.modules.get(self.marker)
        if found is None:
            return True
        if found.path != self.here and _is_live(found):
            if found.warned != self.here:
                found.warned = self.here
                logger.warning(
                    "%s is installed twice: %s works, %s does nothing; remove one of them",
                    self.plugin,
                    found.path,
                    self.here,
                )
            if self.here not in found.copies:
                found.copies.append(self.here)
            return False
        # Called twice for one load: the host has not forgotten the first.
        return not (found.path == self.here and found.context() is ctx and _is_live(found))

    def wire_hooks(self, ctx: Any, middleware: Mapping[str, Callable[..., Any]]) -> list[str]:
        """Register the hooks that this host fires and the middleware; return the hooks' names."""
        valid = getattr(sys.modules.get("hermes_cli.plugins"), "VALID_HOOKS", self.hooks)
        names = [name for name in self.hooks if name in valid]
        for name in names:
            ctx.register_hook(name, self.hooks[name])
        for kind, callback in middleware.items():
            optional(ctx, "register_middleware", kind, callback)
        return names

    def done(self, ctx: Any) -> Any:
        """Leave the marker: path, hooks, warned, copies (a live list of paths), context()."""
        module: Any = types.ModuleType(self.marker)
        module.path, module.hooks, module.warned, module.copies = self.here, self.hooks, None, [self.here]
        module.commands, module.context = self.commands, _reference(ctx)
        sys.modules[self.marker] = module
        return module


def optional(ctx: Any, method: str, *arguments: Any, **options: Any) -> None:
    """Call a method of ``ctx`` that a host may not have."""
    call: Callable[..., Any] | None = getattr(ctx, method, None)
    if call is not None:
        call(*arguments, **options)


def _is_live(marker: Any) -> bool:
    """Tell whether the host still calls what a registration gave it; True where that cannot be seen."""
    plugins = sys.modules.get("hermes_cli.plugins")
    try:
        manager = plugins.get_plugin_manager()
        given = {*marker.hooks.values(), *marker.commands.values()}
        called = [callback for callbacks in manager._hooks.values() for callback in callbacks]
        commands = getattr(manager, "_cli_commands", {})
        called += [command.get("handler_fn") for command in commands.values()]
        return any(callback in given for callback in called)
    except Exception:
        return True


def _reference(ctx: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(ctx)
    except TypeError:
        return lambda: None
