"""A plan of shards in files, so that a killed build can be resumed without reading its sources again."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.release.clock import Clock
from standout.release.labels import Labels
from standout.release.model import Levels
from standout.release.provenance import Provenance
from standout.release.record_groups import ColumnSizes
from standout.release.shard_plan import ShardPlan
from standout.release.sorted_shards import save_arrays, stored_arrays

__all__ = ["load_plan", "save_plan"]

FOLDER = "plan"


def save_plan(folder: Path, plan: ShardPlan) -> bytes:
    """Write the arrays of a plan to files in a folder; return what describes them."""
    arrays: dict[str, NDArray[Any]] = {"lengths": plan.lengths}
    for name, labels in (("records", plan.records), ("items", plan.items), ("titles", plan.titles)):
        if labels is not None:
            arrays |= {f"{name}-data": labels.data, f"{name}-offsets": labels.offsets}
    (folder / FOLDER).mkdir(mode=0o700, exist_ok=True)
    levels, clock = plan.sizes.levels, plan.sizes.clock
    content = {
        "arrays": save_arrays(folder / FOLDER, arrays),
        "bounds": plan.bounds,
        "repeats": plan.repeats,
        "levels": levels if levels is None or isinstance(levels, tuple) else levels.tolist(),
        "categories": isinstance(levels, tuple),
        "clock": None if clock is None else asdict(clock),
        "provenance": plan.provenance.to_dict(),
    }
    return json.dumps(content).encode()


def load_plan(folder: Path, state: bytes) -> ShardPlan | None:
    """Read the plan that `save_plan` described; None if a file is not as it was written."""
    content = json.loads(state)
    try:
        arrays = stored_arrays(folder / FOLDER, content["arrays"])
    except OSError:
        return None
    if arrays is None:
        return None

    def labels(name: str) -> Labels:
        return Labels(arrays[f"{name}-offsets"], arrays[f"{name}-data"])

    return ShardPlan(
        records=labels("records"),
        items=labels("items"),
        titles=labels("titles") if "titles-data" in arrays else None,
        lengths=arrays["lengths"],
        sizes=ColumnSizes(len(labels("items")), _levels(content), _clock(content)),
        bounds=tuple(content["bounds"]),
        repeats=content["repeats"],
        provenance=Provenance.from_dict(content["provenance"]),
    )


def _levels(content: Any) -> Levels | None:
    levels = content["levels"]
    if levels is None:
        return None
    return tuple(levels) if content["categories"] else np.array(levels, np.float64)


def _clock(content: Any) -> Clock | None:
    return None if content["clock"] is None else Clock(**content["clock"])
