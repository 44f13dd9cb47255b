"""One profile for each record."""

import numpy as np
import polars as pl
import pytest

import standout as so
from standout.linking.links import one_to_one, rival_claims

pytestmark = pytest.mark.once


def test_the_strongest_claim_on_a_record_is_kept_and_ties_are_dropped():
    draw = np.random.default_rng(6)
    for _ in range(50):
        record, strength = draw.integers(-1, 6, 20), draw.integers(1, 9, 20) / 2
        claimed = (draw.random(20) < 0.7) & (record >= 0)
        kept, tied = one_to_one(record, strength, claimed)
        for i in range(20):
            rivals = [strength[j] for j in range(20) if j != i and claimed[j] and record[j] == record[i]]
            leads = claimed[i] and strength[i] >= max(rivals, default=0)
            assert tied[i] == (leads and strength[i] in rivals)
            assert kept[i] == (leads and strength[i] not in rivals)
            assert rival_claims(record, claimed)[i] == (len(rivals) if claimed[i] else 0)


def test_assigned_links_claim_each_record_once(pair):
    release, public = pair
    some = public.to_frame().filter(pl.col("item") != "unheard")
    copies = some.with_columns(record="q" + pl.col("record")).filter(
        (pl.col("record").str.slice(-1).cast(pl.Int64) % 2 == 0)
        | (pl.col("item") != pl.col("item").first().over("record"))
    )
    doubled = so.read(pl.concat([some, copies]))
    free, assigned = (so.link(release, doubled, phi=0.5, decoys=0, assign=assign) for assign in (False, True))
    assert free.claims > assigned.claims > 0 and assigned.tied_claims > 0
    claimed = assigned.table.filter("claimed")
    assert claimed["record"].n_unique() == len(claimed)
    rows = free.table.filter("claimed").to_dicts()
    for row in rows:
        rivals = [other["eccentricity"] for other in rows if other["record"] == row["record"]]
        is_strongest = row["eccentricity"] == max(rivals) and rivals.count(row["eccentricity"]) == 1
        assert (row["profile"] in set(claimed["profile"])) == is_strongest
    assert "were equally strong and were dropped" in assigned.summary
    assert "claims name a record that another profile also claims" in free.summary
