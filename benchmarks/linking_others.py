"""Compare Splink 5 and RecordLinkage with Standout on two releases of MovieTweetings under different ids.

pip install 'splink>=5' recordlinkage        (for this script only)
python -m benchmarks.linking_others FOLDER [-o build/linking-others.json]      (the folder of the data sets)

Both tools link rows with columns, one row for each person. Their natural set-up for histories: arrays of
films, of film and rating, of film and week. Pairs are compared if they share a film and day, or a film that
few people have. Weights are learned without truth (Splink: u by sampling, m by expectation maximisation;
RecordLinkage: ECM). Each profile's best candidate counts if it is unique. The threshold of all three tools is
then set in hindsight, with the truth, so that at most 1 % of the claims are false. Each tool is also judged
by its own threshold: a probability of at least 99 %; for Standout the φ that its decoys give for a budget of
1 %.
"""

import argparse
import json
import logging
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tools.linking import Pair, movietweetings

import standout as so

RARE = 20
"""Everybody who shares a film with so few holders is compared."""
MAX_FALSE = 0.01
MIN_PROBABILITY = 0.99
"""A tool's own threshold."""
COMPARED = ("films", "rated", "weekly")
STEPS = [1, 2, 3, 4, 8]


def rows(release: so.Release) -> pl.DataFrame:
    """Return a row for each person: films; films with rating, week and day; rare films and the rarest."""
    day = pl.col("time").dt.epoch("d")
    counts = release.to_frame().group_by("item").len()
    entries = release.to_frame().join(counts, on="item")
    entries = entries.with_columns(
        rated=pl.format("{}={}", "item", "value"),
        weekly=pl.format("{}@{}", "item", day // 7),
        daily=pl.format("{}@{}", "item", day),
        rare=pl.when(pl.col("len") <= RARE).then("item"),
    )
    return entries.group_by("record", maintain_order=True).agg(
        films=pl.col("item"),
        rated=pl.col("rated"),
        weekly=pl.col("weekly"),
        daily=pl.col("daily"),
        rare=pl.col("rare").drop_nulls(),
        rarest=pl.col("item").sort_by("len", "item").first(),
    )


def splink(pair: Pair) -> pl.DataFrame:
    """Return profile, record, score and sure of candidate pairs, by Splink."""
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
        comparisons=[cl.ArrayIntersectAtSizes(name, STEPS[::-1]) for name in COMPARED],
        blocking_rules_to_generate_predictions=blocks,
        probability_two_random_records_match=1 / pair.release.n_records,
        retain_matching_columns=False,
    )
    linker = Linker(frames, settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(
        block_on("rarest"), fix_probability_two_random_records_match=True, record_sample_proportion=1.0
    )
    predictions = pl.from_pandas(linker.inference.predict().as_pandas_dataframe())
    left = pl.col("source_dataset_l") == "profile"
    return predictions.select(
        profile=pl.when(left).then("unique_id_l").otherwise("unique_id_r"),
        record=pl.when(left).then("unique_id_r").otherwise("unique_id_l"),
        score="match_weight",
        sure=pl.col("match_probability") >= MIN_PROBABILITY,
    )


def recordlinkage(pair: Pair) -> pl.DataFrame:
    """Return the same by RecordLinkage: the number of shared films, ratings and weeks, weighed by ECM."""
    import pandas as pd
    import recordlinkage as rl

    shared = _shared_counts(rows(pair.public), rows(pair.release))
    features = {  # ECM starts from agreement or disagreement, so each step is a column
        f"{name} ≥ {least}": (shared[name] >= least).cast(pl.Int8).to_numpy() for name in COMPARED for least in STEPS
    }
    features = {name: column for name, column in features.items() if 0 < column.mean() < 1}
    index = pd.MultiIndex.from_arrays([shared["record"].to_list(), shared["record_right"].to_list()])
    vectors = pd.DataFrame(features, index=index)
    model = rl.ECMClassifier()
    model.fit(vectors)
    score = np.zeros(len(vectors))  # log odds: the highest probabilities are all 1 and would tie
    for name, levels in model.log_weights.items():
        score += np.array([levels[level] for level in features[name].tolist()])
    return shared.select(profile="record", record="record_right").with_columns(
        score=pl.Series(score), sure=pl.Series(np.asarray(model.prob(vectors)) >= MIN_PROBABILITY)
    )


def _shared_counts(profiles: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """The candidate pairs, and how many films, ratings and weeks they share."""
    ends = ["record", "record_right"]
    blocks = [
        profiles.explode(name).drop_nulls(name).join(records.explode(name), on=name).select(ends)
        for name in ("daily", "rare")
    ]
    shared = pl.concat(blocks).unique(maintain_order=True)
    for name in COMPARED:
        theirs = records.select(record_right="record", **{name: name}).explode(name)
        both = profiles.select("record", name).explode(name).join(theirs, on=name)
        counts = both.group_by(ends).agg(pl.len().alias(name))
        shared = shared.join(counts, on=ends, how="left")
    return shared.fill_null(0)


def judge(claims: pl.DataFrame, pair: Pair) -> dict[str, Any]:
    """Judge claims (profile, record, score, sure), one for each profile, in hindsight and by `sure`."""
    truth = pl.DataFrame({"profile": list(pair.truth), "true": list(pair.truth.values())})
    ordered = claims.join(truth, on="profile", how="left").sort("score", descending=True)
    correct = (ordered["record"] == ordered["true"]).fill_null(False).to_numpy()
    score = ordered["score"].to_numpy()
    ends = np.flatnonzero(np.append(score[1:] < score[:-1], True))  # equal scores are claimed together
    allowed = ends[np.cumsum(correct)[ends] >= (1 - MAX_FALSE) * (ends + 1)]
    most = int(allowed[-1]) + 1 if len(allowed) else 0
    in_hindsight, sure = int(correct[:most].sum()), ordered["sure"].to_numpy()
    claimed, correct_claims = int(sure.sum()), int((sure & correct).sum())
    default_threshold = {
        "claims": claimed,
        "precision": correct_claims / max(claimed, 1),
        "recall": correct_claims / pair.present,
    }
    return {
        "own_threshold": default_threshold,
        "claims": most,
        "correct_claims": in_hindsight,
        "recall": in_hindsight / pair.present,
        "identified": float(correct.sum() / pair.present),
    }


def unique_best(candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the best candidate of each profile, if it is unique."""
    best = candidates.filter(pl.col("score") == pl.col("score").max().over("profile"))
    return best.filter(pl.len().over("profile") == 1)


def standout(pair: Pair) -> dict[str, Any]:
    """Judge Standout."""
    begun = time.perf_counter()
    links = so.link(pair.release, pair.public, truth=pair.truth)
    claims = links.table.filter(ties=1).select("profile", "record", sure="claimed", score="evidence")
    return judge(claims, pair) | {"seconds": time.perf_counter() - begun}


def other(name: str, tool: Callable[[Pair], pl.DataFrame], pair: Pair) -> dict[str, Any]:
    """Judge another tool."""
    begun = time.perf_counter()
    candidates = tool(pair)
    return judge(unique_best(candidates), pair) | {
        "seconds": time.perf_counter() - begun,
        "pairs": candidates.height,
        "version": version(name.lower()),
    }


def main() -> None:
    """Link with the other tools and write their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/linking-others.json"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("splink").setLevel(logging.ERROR)
    pair = movietweetings(given.folder)
    so.link(pair.release, pair.public, decoys=99)  # compiles the kernels before anything is timed
    results = {"Standout": standout(pair)}
    tools: dict[str, Callable[[Pair], pl.DataFrame]] = {"Splink": splink, "RecordLinkage": recordlinkage}
    for name, tool in tools.items():
        results[name] = other(name, tool, pair)
    text = json.dumps(results, indent=1)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
