"""Splink 5 and RecordLinkage beside ours: two releases of MovieTweetings under different ids, who is who?

pip install 'splink>=5' recordlinkage        (for this script only)
python -m benchmarks.linking_others FOLDER [-o build/linking-others.json]      (the folder of the data sets)

Both link rows with columns, one row a person. Their natural set-up for histories: arrays of films, of film
and rating, of film and week; pairs that share a film and day, or a film that few people have, are compared;
weights are learned without truth (Splink: u by sampling, m by expectation maximisation; RecordLinkage: ECM).
Of each profile the best candidate counts, if it is one alone; for all three the threshold is then set in
hindsight, by the truth, to where no more than 1 % of the claims are false. And each is taken at its own word:
a probability of 99 % at least; ours by the φ that its decoys give for a budget of 1 %.
"""

import argparse
import json
import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tools.linking import Pair, movietweetings

import standout as so

RARE = 20
"""A film that so few people have is worth comparing whoever shares it."""
FALSE = 0.01
SURE = 0.99
"""The probability at which a tool is taken at its own word."""
SHARED = ("films", "rated", "weekly")
STEPS = [1, 2, 3, 4, 8]


def rows(release: so.Release) -> pl.DataFrame:
    """A row a person: films, film and rating, film and week, film and day, rare films and the rarest."""
    week, day = pl.col("time").dt.epoch("d") // 7, pl.col("time").dt.epoch("d")
    counts = release.to_frame().group_by("item").len()
    entries = release.to_frame().join(counts, on="item").with_columns(
        rated=pl.format("{}={}", "item", "value"), weekly=pl.format("{}@{}", "item", week),
        daily=pl.format("{}@{}", "item", day), rare=pl.when(pl.col("len") <= RARE).then("item"),
    )  # fmt: skip
    return entries.group_by("record", maintain_order=True).agg(
        films=pl.col("item"), rated=pl.col("rated"), weekly=pl.col("weekly"), daily=pl.col("daily"),
        rare=pl.col("rare").drop_nulls(), rarest=pl.col("item").sort_by("len", "item").first(),
    )  # fmt: skip


def splink(pair: Pair) -> pl.DataFrame:
    """profile, record, score of candidate pairs, by Splink."""
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    api = DuckDBAPI()
    frames = [
        api.register(rows(side).rename({"record": "unique_id"}).to_pandas(), dataset_display_name=name)
        for name, side in (("profile", pair.public), ("record", pair.release))
    ]
    blocks = [block_on(name, arrays_to_explode=[name]) for name in ("daily", "rare")]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[cl.ArrayIntersectAtSizes(name, STEPS[::-1]) for name in SHARED],
        blocking_rules_to_generate_predictions=blocks,
        probability_two_random_records_match=1 / pair.release.n_records,
        retain_matching_columns=False,
    )
    linker = Linker(frames, settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(
        block_on("rarest"), fix_probability_two_random_records_match=True, record_sample_proportion=1.0
    )
    told = pl.from_pandas(linker.inference.predict().as_pandas_dataframe())
    left = pl.col("source_dataset_l") == "profile"
    return told.select(
        profile=pl.when(left).then("unique_id_l").otherwise("unique_id_r"),
        record=pl.when(left).then("unique_id_r").otherwise("unique_id_l"),
        score="match_weight",
        sure=pl.col("match_probability") >= SURE,
    )


def recordlinkage(pair: Pair) -> pl.DataFrame:
    """The same by RecordLinkage: how many films, ratings and weeks are shared, in the same steps, by ECM."""
    import pandas as pd
    import recordlinkage as rl

    profiles, records = (rows(side) for side in (pair.public, pair.release))
    joined = [
        profiles.explode(name)
        .drop_nulls(name)
        .join(records.explode(name), on=name)
        .select("record", "record_right")
        for name in ("daily", "rare")
    ]
    pairs = pl.concat(joined).unique(maintain_order=True)
    shared = pairs
    for name in SHARED:
        both = (
            profiles.select("record", name)
            .explode(name)
            .join(records.select(record_right="record", **{name: name}).explode(name), on=name)
        )
        shared = shared.join(both.group_by("record", "record_right").agg(pl.len().alias(name)),
                             on=["record", "record_right"], how="left")  # fmt: skip
    shared = shared.fill_null(0)
    features = {  # ECM begins with agreement or none: steps as columns of their own
        f"{name} ≥ {least}": (shared[name] >= least).cast(pl.Int8).to_numpy()
        for name in SHARED
        for least in STEPS
    }
    features = {name: column for name, column in features.items() if 0 < column.mean() < 1}
    index = pd.MultiIndex.from_arrays([shared["record"].to_list(), shared["record_right"].to_list()])
    vectors = pd.DataFrame(features, index=index)
    model = rl.ECMClassifier()
    model.fit(vectors)
    score = np.zeros(len(vectors))  # log odds: probabilities are all 1 at the top, and would tie
    for name, levels in model.log_weights.items():
        score += np.array([levels[level] for level in features[name].tolist()])
    return shared.select(profile="record", record="record_right").with_columns(
        score=pl.Series(score), sure=pl.Series(np.asarray(model.prob(vectors)) >= SURE)
    )


def ours(pair: Pair) -> so.Links:
    return so.link(pair.release, pair.public, truth=pair.truth)


def judged(claims: pl.DataFrame, pair: Pair) -> dict[str, Any]:
    """Of claims (profile, record, score), one a profile: recall where 99 % are right, in hindsight."""
    truth = pl.DataFrame({"profile": list(pair.truth), "true": list(pair.truth.values())})
    ordered = claims.join(truth, on="profile", how="left").sort("score", descending=True)
    right = (ordered["record"] == ordered["true"]).fill_null(False).to_numpy()
    score = ordered["score"].to_numpy()
    ends = np.flatnonzero(np.append(score[1:] < score[:-1], True))  # equal scores are claimed together
    hits = np.cumsum(right)[ends]
    good = ends[hits >= (1 - FALSE) * (ends + 1)]
    most = int(good[-1]) + 1 if len(good) else 0
    found, sure = int(right[:most].sum()), ordered["sure"].to_numpy()
    claimed, hit = int(sure.sum()), int((sure & right).sum())
    own = {"claims": claimed, "precision": hit / max(claimed, 1), "recall": hit / pair.present}
    return {
        "own": own,
        "claims": most, "right": found, "recall": found / pair.present,
        "best_guess_right": float(right.sum() / pair.present),
    }  # fmt: skip


def best(candidates: pl.DataFrame) -> pl.DataFrame:
    """The best candidate of each profile, where it is one alone."""
    top = candidates.filter(pl.col("score") == pl.col("score").max().over("profile"))
    return top.filter(pl.len().over("profile") == 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/linking-others.json"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("splink").setLevel(logging.ERROR)
    pair = movietweetings(given.folder)
    links = ours(pair)
    told: dict[str, Any] = {}
    others: dict[str, Callable[[Pair], pl.DataFrame]] = {"Splink": splink, "RecordLinkage": recordlinkage}
    begun = time.perf_counter()
    links = ours(pair)
    mine = links.table.filter(ties=1).select("profile", "record", sure="claimed", score="evidence")
    told["Standout"] = judged(mine, pair) | {"seconds": time.perf_counter() - begun}
    for name, tool in others.items():
        begun = time.perf_counter()
        found = tool(pair)
        told[name] = judged(best(found), pair) | {
            "seconds": time.perf_counter() - begun, "pairs": found.height, "version": _version(name),
        }  # fmt: skip
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name.lower())


if __name__ == "__main__":
    main()
