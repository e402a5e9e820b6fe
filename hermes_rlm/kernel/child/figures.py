"""Figures of matplotlib: what a cell has drawn is saved as files, since nobody sees a window."""

import sys

FIGURES_A_CELL = 20


def save(directory: str, cell: int) -> tuple:
    """Save and close the open figures. Returns (paths, notes); (), () without matplotlib.pyplot.

    Files are ``cell<N>-<k>.png`` of mode 0600 in ``directory``. A figure that cannot be saved costs a note.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not directory:
        return [], []
    import os

    paths, notes = [], []
    numbers = list(pyplot.get_fignums())
    for count, number in enumerate(numbers[:FIGURES_A_CELL], 1):
        path = f"{directory}/cell{cell}-{count}.png"
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            with open(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb"
            ) as file:
                pyplot.figure(number).savefig(file, format="png", bbox_inches="tight")
            paths.append(path)
        except Exception as error:
            notes.append(f"figure {number} could not be saved: {type(error).__name__}: {error}"[:200])
    if len(numbers) > FIGURES_A_CELL:
        notes.append(f"{len(numbers) - FIGURES_A_CELL} more figures were closed without saving")
    if numbers:
        pyplot.close("all")
    return paths, notes
