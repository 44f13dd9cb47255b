"""The best record of each profile, compared with loops and dicts."""

import math

import polars as pl
import pytest
from linking_data import FEW, entries_of, facts_of

import naive
import standout as so
from standout.linking.records import TOP

pytestmark = pytest.mark.once


@pytest.fixture(scope="module", params=["use", "ignore", "learn"])
def by_eccentricity(pair, request):
    return request.param, so.link(*pair, dates=request.param, by="eccentricity", seed=2, **FEW)


def without_dates(known, entry):
    return naive.decay(known, entry, time_scale=None)


VARIANTS = {"use": [naive.decay], "ignore": [without_dates], "learn": [naive.decay, without_dates]}


def best_scores(pair, profile, dates):
    """({record: score}, whether dates were ignored) of the stronger variant, and the profile's facts."""
    facts = facts_of(*pair, profile)
    scores = [
        (naive.sums(entries_of(pair[0]), facts, similarity), similarity is without_dates)
        for similarity in VARIANTS[dates]
    ]
    return *max(scores, key=lambda variant: naive.eccentricity(variant[0])), facts


def test_every_profile_is_attacked_as_loops_do_it(pair, by_eccentricity):
    dates, links = by_eccentricity
    for row in links.table.iter_rows(named=True):
        scores, ignored, facts = best_scores(pair, row["profile"], dates)
        assert row["eccentricity"] == pytest.approx(naive.eccentricity(scores), rel=1e-6, abs=1e-9)
        assert row["facts_used"] == len(facts)
        entries = sum(owner == row["profile"] for owner, _ in entries_of(pair[1]))
        assert row["facts_unknown"] == entries - len(facts)
        if not facts:
            assert row["record"] is None and not row["claimed"] and row["false_claim"] == 1.0
            continue
        assert row["record"] in naive.tied(scores) and row["ties"] == len(naive.tied(scores))
        assert row["score"] == pytest.approx(naive.highest(scores))
        assert row["runner_up_score"] == pytest.approx(naive.second(scores))
        assert scores[row["runner_up"]] == pytest.approx(row["runner_up_score"])
        probability = naive.probabilities(scores)[row["record"]]
        assert row["bits_left"] == pytest.approx(-math.log2(probability), abs=1e-5)
        assert row["dates"] == ("ignored" if ignored else "used")


def test_the_parts_of_a_match_add_up_to_its_eccentricity(pair, by_eccentricity):
    dates, links = by_eccentricity
    entries = entries_of(pair[0])
    counts = naive.support(entries)
    for row in links.table.filter(pl.col("eccentricity") > 0).iter_rows(named=True):
        scores, ignored, facts = best_scores(pair, row["profile"], dates)
        parts = dict.fromkeys(("values", "dates", "items"), 0.0)
        for sign, record in ((1, row["record"]), (-1, row["runner_up"])):
            for item, (value, time) in facts.items():
                if (record, item) not in entries:
                    continue
                its_value, its_time = entries[record, item]
                weight = sign * naive.weight(counts[item]) / naive.sigma(scores)
                if value is not None:
                    parts["values"] += weight * math.exp(-abs(value - its_value) / 1.5)
                if time is not None and not ignored:
                    parts["dates"] += weight * math.exp(-abs(time - its_time) / 30)
                if value is None and (time is None or ignored):
                    parts["items"] += weight
        for name, part in parts.items():
            assert row[f"by_{name}"] == pytest.approx(part, rel=1e-5, abs=1e-6)
        assert sum(parts.values()) == pytest.approx(row["eccentricity"], rel=1e-5)
        assert parts[row["strongest_part"]] == pytest.approx(max(parts.values()), rel=1e-5, abs=1e-6)


def parameters(model, dated):
    times = model.times if dated else model.times * 0
    return model.coverage, model.values.tolist(), times.tolist()


@pytest.mark.parametrize("dates", ["use", "ignore"])
def test_the_record_with_the_strongest_evidence_of_all_is_best_as_loops_find_it(larger_pair, dates):
    entries, names = entries_of(larger_pair[0]), list(larger_pair[0].records)
    links = so.link(*larger_pair, dates=dates, seed=2, budget=0.1, decoys=60)
    given = parameters(links.model, dates == "use")
    for row in links.table.filter(pl.col("facts_used") > 0)[::3].iter_rows(named=True):
        facts = facts_of(*larger_pair, row["profile"])
        parts, rest = naive.evidence_scores(entries, facts, names, given, TOP)
        scores = {r: sum(part) for r, part in parts.items()}
        best = row["record"]
        assert row["score"] == pytest.approx(max(scores.values())) == pytest.approx(scores[best])
        rest += sum(math.exp(score) for r, score in scores.items() if r != best)
        nobody = len(names) * (1 - links.model.coverage) ** -len(facts)
        bits = math.log2(math.exp(scores[best]) / (rest + nobody))
        assert row["evidence"] == pytest.approx(bits, rel=1e-5, abs=1e-5)
        assert row["bits_left"] == pytest.approx(math.log2(1 + rest / math.exp(scores[best])), abs=1e-5)
        if row["runner_up"] is not None:
            assert row["runner_up_score"] == pytest.approx(scores[row["runner_up"]])
            lead = [(a - b) / math.log(2) for a, b in zip(parts[best], parts[row["runner_up"]], strict=True)]
            assert [row["by_values"], row["by_dates"], row["by_items"]] == pytest.approx(lead, abs=1e-9)
        assert row["claimed"] <= (row["evidence"] >= links.phi) and row["ties"] >= 1


def test_the_evidence_for_the_best_score_is_against_the_next_ones_and_nobody(pair):
    entries, names = entries_of(pair[0]), list(pair[0].records)
    links = so.link(*pair, phi=1.5, **FEW)
    given = parameters(links.model, True)
    for row in links.table.filter(pl.col("facts_used") > 0)[::3].iter_rows(named=True):
        facts = facts_of(*pair, row["profile"])
        scores = naive.sums(entries, facts, naive.decay)
        ranked = sorted((r for r in names if scores[r] > 0), key=lambda r: -scores[r])[:TOP]
        evidence = {r: sum(naive.evidence(entries, facts, r, *given, floor=False)) for r in ranked}
        rest = [math.exp(evidence[r] - evidence[row["record"]]) for r in ranked if r != row["record"]]
        nobody = len(names) * math.exp(-len(facts) * math.log(1 - given[0]) - evidence[row["record"]])
        assert row["evidence"] == pytest.approx(-math.log2(sum(rest) + nobody), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("by", ["evidence", "eccentricity"])
def test_a_profile_without_facts_has_no_best_record(pair, by):
    (row,) = so.link(*pair, by=by, **FEW).table.filter(pl.col("facts_used") == 0).to_dicts()
    assert row["record"] is row["runner_up"] is row["strongest_part"] is None and not row["claimed"]
    assert row["ties"] == pair[0].n_records and row["false_claim"] == 1.0
    assert row["evidence"] == row["eccentricity"] == row["score"] == 0.0
    assert row["bits_left"] == pytest.approx(math.log2(pair[0].n_records))


def test_profiles_without_values_and_dates_are_linked_by_their_items(pair):
    release, public = pair
    bare = so.read(public.to_frame().select("record", "item"))
    links = so.link(release, bare, by="eccentricity", **FEW)
    entries = entries_of(release)
    for row in links.table.filter(pl.col("facts_used") > 0).iter_rows(named=True):
        items = facts_of(release, bare, row["profile"])
        scores = naive.sums(entries, dict.fromkeys(items, (None, None)), naive.present)
        assert row["eccentricity"] == pytest.approx(naive.eccentricity(scores), rel=1e-5, abs=1e-9)
        assert row["by_values"] == row["by_dates"] == 0
    assert set(links.table["strongest_part"].drop_nulls()) <= {"items"}
    few = so.read(pl.DataFrame({"record": ["1", "2", "3"], "item": ["a", "b", "b"]}))
    (row,) = so.link(few, so.read(pl.DataFrame({"record": ["x"], "item": ["a"]})), phi=0, decoys=0).table.to_dicts()
    assert (row["strongest_part"], row["record"], row["facts_used"]) == ("items", "1", 1)
