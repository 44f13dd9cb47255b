"""Linking: whose public profile is which record, held against loops and dicts."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from conftest import content
from standout.cli.commands.link import check_output_path
from standout.linking import link as engine
from standout.linking import profiles as cut
from standout.linking.align import align
from standout.linking.assign import contested, one_to_one
from standout.linking.claims import Null, likely_absent, templates
from standout.linking.decoys import pool_of, withheld
from standout.linking.profiles import Profiles, batches
from standout.linking.truth import by_budget, curve, truth_of
from standout.release.subset import subset

pytestmark = pytest.mark.once

FEW = {"budget": 0.1, "decoys": 24}


def frame(rows):
    names = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.fixture(scope="module")
def pair():
    """A release, and public profiles of two thirds of its people and some others: fewer entries, other days,
    some without a value, a date or both, and an item that the release does not have."""
    everybody = so.synthesize(records=36, items=18, entries=330, seed=5).to_frame()
    draw = np.random.default_rng(3)
    number = everybody["record"].cast(pl.Int64).to_numpy()
    public = everybody.filter((number > 10) & (draw.random(len(number)) < 0.6))
    n = len(public)
    late = pl.Series(draw.integers(-20, 21, n)).cast(pl.Int64)
    public = public.with_columns(
        record="p" + pl.col("record"),
        value=pl.when(pl.Series(draw.random(n) < 0.8)).then("value"),
        time=pl.when(pl.Series(draw.random(n) < 0.7)).then(pl.col("time") + pl.duration(days=late)),
    )
    more = pl.DataFrame({"record": ["p20", "p99"], "item": ["unheard", "unheard"]})
    public = pl.concat([public, more], how="diagonal")
    return so.read(everybody.filter(pl.Series(number <= 30))), so.read(public)


@pytest.fixture(scope="module", params=["use", "ignore", "learn"])
def found(pair, request):
    return request.param, so.link(*pair, dates=request.param, by="eccentricity", seed=2, **FEW)


def dateless(known, entry):
    return naive.decay(known, entry, time_scale=None)


def scores_of(pair, profile, dates):
    """{record: score} of a profile, in each way that is tried, the better first."""
    entries, facts = content(pair[0]), {}
    known = {item for _, item in entries}
    for (one, item), cells in content(pair[1]).items():
        if one == profile and item in known:
            facts[item] = cells
    ways = {"use": [naive.decay], "ignore": [dateless], "learn": [naive.decay, dateless]}[dates]
    every = [(naive.sums(entries, facts, similarity), similarity is dateless) for similarity in ways]
    return max(every, key=lambda one: naive.eccentricity(one[0])), facts


def test_every_profile_is_attacked_as_loops_do_it(pair, found):
    dates, links = found
    for row in links.table.iter_rows(named=True):
        (scores, ignored), facts = scores_of(pair, row["profile"], dates)
        assert row["eccentricity"] == pytest.approx(naive.eccentricity(scores), rel=1e-6, abs=1e-9)
        assert row["facts_used"] == len(facts)
        own = sum(one == row["profile"] for one, _ in content(pair[1]))
        assert row["facts_unknown"] == own - len(facts)
        if not facts:
            assert row["record"] is None and not row["claimed"] and row["false_claim"] == 1.0
            continue
        assert row["record"] in naive.tied(scores) and row["ties"] == len(naive.tied(scores))
        assert row["score"] == pytest.approx(naive.highest(scores))
        assert row["runner_up_score"] == pytest.approx(naive.second(scores))
        assert scores[row["runner_up"]] == pytest.approx(row["runner_up_score"])
        chances = naive.probabilities(scores)
        assert row["bits_left"] == pytest.approx(-math.log2(chances[row["record"]]), abs=1e-5)
        assert row["dates"] == ("ignored" if ignored else "used")


def test_what_carries_a_match_adds_up_to_its_eccentricity(pair, found):
    dates, links = found
    entries = content(pair[0])
    counts = naive.support(entries)
    for row in links.table.filter(pl.col("eccentricity") > 0).iter_rows(named=True):
        (scores, ignored), facts = scores_of(pair, row["profile"], dates)
        parts = dict.fromkeys(("values", "dates", "items"), 0.0)
        for sign, record in ((1, row["record"]), (-1, row["runner_up"])):
            for item, (value, time) in facts.items():
                if (record, item) not in entries:
                    continue
                its, when = entries[record, item]
                weigh = sign * naive.weight(counts[item]) / naive.sigma(scores)
                if value is not None:
                    parts["values"] += weigh * math.exp(-abs(value - its) / 1.5)
                if time is not None and not ignored:
                    parts["dates"] += weigh * math.exp(-abs(time - when) / 30)
                if value is None and (time is None or ignored):
                    parts["items"] += weigh
        for name, part in parts.items():
            assert row[f"by_{name}"] == pytest.approx(part, rel=1e-5, abs=1e-6)
        assert sum(parts.values()) == pytest.approx(row["eccentricity"], rel=1e-5)
        assert parts[row["carried_by"]] == pytest.approx(max(parts.values()), rel=1e-5, abs=1e-6)


def test_a_recombined_decoy_has_the_templates_size_and_popularity_but_other_peoples_facts(pair):
    release = pair[0]
    profiles = Profiles(release, pair[1], align(*pair))
    crowd = so.synthesize(records=90, items=18, entries=500, seed=8)
    profiles = Profiles(release, crowd, align(release, crowd))
    pool = pool_of(profiles, seed=1)
    after = np.flatnonzero(profiles.used > 0)[:12]
    made = pool.decoys(profiles, after, seed=1)
    entries, band = content(crowd), np.array([n.bit_length() - 1 for n in release.support.tolist()])
    for number, place in enumerate(after.tolist()):
        here = slice(*made.first[number : number + 2])
        items = made.item[here]
        assert len(set(items.tolist())) == len(items) <= profiles.used[place]
        if len(items) == profiles.used[place] and len(items) < 6:
            assert sorted(band[items]) == sorted(band[profiles.items(place)])
        for at in range(here.start, here.stop):
            name, value = release.items[made.item[at]], made.values[made.value[at]]
            holders = [r for (r, item), cells in entries.items() if item == name and cells[0] == value]
            assert any(holder != crowd.records[place] for holder in holders)


def test_donors_come_once_where_there_are_enough():
    crowd = so.synthesize(like="flat", records=120, items=40, entries=600, seed=4)
    profiles = Profiles(crowd, crowd, align(crowd, crowd))
    pool = pool_of(profiles, seed=1)
    after = np.flatnonzero(profiles.used >= 3)[:20]
    donor = {int(fact): int(one) for fact, one in zip(pool.fact, pool.donor, strict=True)}
    for number, place in enumerate(after.tolist()):
        at = pool._drawn(profiles.items(place), place, np.random.default_rng(number))
        owners = [donor[int(pool.fact[one])] for one in at]
        assert place not in owners and len(set(owners)) == len(owners)


def test_a_withheld_decoy_is_some_of_one_record_attacked_without_it(pair):
    release = pair[0]
    profiles = Profiles(release, pair[1], align(*pair))
    after = np.flatnonzero(profiles.used > 2)[:8]
    out = withheld(profiles, after, seed=3)
    verdicts = so.ScoreboardRH().attacks(release, out.known, exclude=out.record, top=2)
    entries = content(release)
    for number, (place, record) in enumerate(zip(after.tolist(), out.record.tolist(), strict=True)):
        name = release.records[record]
        facts = {fact.item: entries[name, fact.item] for fact in out.known.aux(release, number)}
        assert len(facts) == min(profiles.used[place], release.lengths[record])
        scores = naive.sums(naive.without(entries, name), facts)
        assert verdicts[number].eccentricity == pytest.approx(naive.eccentricity(scores), rel=1e-5, abs=1e-9)


def test_decoys_depend_on_the_seed_alone(pair):
    first, second, other = (
        so.link(*pair, seed=seed, threads=t, **FEW) for seed, t in ((1, 1), (1, 2), (9, 1))
    )
    assert first.decoys.equals(second.decoys) and first.table.equals(second.table)
    assert not first.decoys.equals(other.decoys)
    columns = ["record", "eccentricity"]
    paper, again = (so.link(*pair, by="eccentricity", seed=seed, **FEW) for seed in (1, 9))
    assert paper.table.select(columns).equals(again.table.select(columns))


def test_batches_change_nothing(pair, monkeypatch):
    whole = so.link(*pair, **FEW)
    monkeypatch.setattr(cut, "BATCH", 2)
    assert so.link(*pair, **FEW).table.equals(whole.table)
    monkeypatch.setattr(cut, "BATCH_FACTS", 5)
    assert so.link(*pair, **FEW).table.equals(whole.table)
    facts = np.array([3, 2, 1, 9, 0, 0, 4])
    ends = list(batches(facts))
    assert ends[0][0] == 0 and ends[-1][1] == len(facts)
    assert all(one[1] == two[0] for one, two in pairwise(ends))
    assert all(facts[low:high].sum() <= 5 or high - low == 1 for low, high in ends)


def test_of_long_profiles_the_rarest_facts_are_used(pair, monkeypatch):
    monkeypatch.setattr(cut, "MOST_FACTS", 2)
    release = pair[0]
    profiles = Profiles(release, pair[1], align(*pair))
    known = profiles.known(np.arange(len(profiles)))
    for place in range(len(profiles)):
        own = [release.items.find(entry.item) for entry in pair[1].record_at(place).entries]
        own = sorted((int(release.support[item]), item) for item in own if item is not None)
        used = known.item[known.first[place] : known.first[place + 1]]
        assert sorted(used.tolist()) == sorted(item for _, item in own[:2])
        assert sorted(profiles.items(place).tolist()) == sorted(used.tolist())
    assert (profiles.used == np.diff(known.first)).all()


def some_decoys(seed=1, decoys=200):
    """Decoys of two kinds; those of the second are several of one person."""
    draw = np.random.default_rng(seed)
    kind, person = draw.integers(0, 2, decoys), np.arange(decoys)
    person[kind == 1] = draw.integers(0, 60, int((kind == 1).sum()))
    return Null(kind, person, np.round(draw.normal(1, 3, decoys), 1))


def furthest(null):
    """By kind how far each person's decoys stand out at most."""
    found = [{}, {}]
    for kind, person, far in zip(null.kind.tolist(), null.person.tolist(), null.claim.tolist(), strict=True):
        found[kind][person] = max(far, found[kind].get(person, -math.inf))
    return [sorted(one.values()) for one in found]


def test_a_false_claim_is_the_share_of_people_whose_decoys_stand_out_as_far():
    null, far = some_decoys(), np.round(np.random.default_rng(2).normal(1, 4, 60), 1)
    for claim, found in zip(far.tolist(), null.false_claim(far).tolist(), strict=True):
        least = claim - 1e-4 * abs(claim)
        shares = [(1 + sum(one >= least for one in own)) / (1 + len(own)) for own in furthest(null)]
        assert found == pytest.approx(max(shares))


@pytest.mark.parametrize("budget", [0.02, 0.05, 0.1, 0.5])
def test_phi_is_the_least_at_which_decoys_keep_to_the_budget_with_confidence(budget):
    null = some_decoys(decoys=400)
    enough = []
    for own in furthest(null):
        fits = [
            at for at in (-100.0, *own) if so_few(sum(one > at for one in own), len(own)) <= budget
        ] or own[-1:]  # fmt: skip
        enough.append(max(min(fits), 0.0))
    assert null.phi(budget) == pytest.approx(max(enough), rel=1e-4, abs=1e-4)
    assert null.phi(budget) >= max(enough)


def so_few(count, of, z=1.959964):
    """The upper end of Wilson's interval."""
    share = count / of
    reach = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (share + z * z / (2 * of) + reach) / (1 + z * z / of)


def test_too_few_decoys_claim_nobody_and_hardly_enough_only_what_is_above_all():
    null = some_decoys(decoys=12)
    assert null.phi(0.01) == math.inf and null.expected(math.inf, 30) == 0.0
    one = Null(np.zeros(120, int), np.arange(120), np.arange(120.0))
    assert one.phi(0.01) == pytest.approx(119, rel=1e-4) and one.phi(0.01) > 119


def test_expected_false_claims_are_the_share_of_decoys_of_all_profiles():
    null = some_decoys()
    shares = [(1 + sum(one >= 3 for one in own)) / (1 + len(own)) for own in furthest(null)]
    assert null.expected(3.0, 40) == pytest.approx(40 * max(shares))


def test_a_tie_is_no_claim_that_is_expected():
    far = np.array([0.0, 0.0, 0.0, 2.0])
    null = Null(np.zeros(4, int), np.arange(4), far)
    assert null.expected(0.0, 50) == pytest.approx(50 * 2 / 5)  # as at any φ up to 2


def test_what_differs_by_the_slack_is_equal():
    null = replace(some_decoys(), slack=0.01)
    most = null.claim.max()
    near, past = null.false_claim(np.array([1.009 * most, 1.02 * most]))
    assert past < near


def test_templates_have_facts_and_come_equally_often():
    facts = np.array([0, 1, 1, 2, 8, 9, 0, 30])
    after = templates(facts, 13, seed=4)
    assert len(after) == 13 and (facts[after] > 0).all()
    assert set(np.bincount(after, minlength=8)[facts > 0].tolist()) == {2, 3}


def test_of_claims_on_one_record_the_best_is_kept_and_ties_are_told():
    draw = np.random.default_rng(6)
    for _ in range(50):
        record, far = draw.integers(-1, 6, 20), draw.integers(1, 9, 20) / 2
        claimed = (draw.random(20) < 0.7) & (record >= 0)
        kept, tied = one_to_one(record, far, claimed)
        for i in range(20):
            rivals = [far[j] for j in range(20) if j != i and claimed[j] and record[j] == record[i]]
            best = claimed[i] and far[i] >= max(rivals, default=0)
            assert tied[i] == (best and far[i] in rivals) and kept[i] == (best and far[i] not in rivals)
            assert contested(record, claimed)[i] == (len(rivals) if claimed[i] else 0)


def test_assigned_links_claim_each_record_once(pair):
    release, public = pair
    some = public.to_frame().filter(pl.col("record").is_in(["p12", "p13"]) | (pl.col("item") != "unheard"))
    copies = some.with_columns(record="q" + pl.col("record")).filter(
        (pl.col("record").str.slice(-1).cast(pl.Int64) % 2 == 0)
        | (pl.col("item") != pl.col("item").first().over("record"))
    )
    double = pl.concat([some, copies])
    free, bound = (so.link(release, so.read(double), phi=0.5, decoys=0, assign=a) for a in (False, True))
    assert free.claims > bound.claims > 0 and bound.ties > 0
    claimed = bound.table.filter("claimed")["record"]
    assert claimed.n_unique() == len(claimed)
    rows = free.table.filter("claimed").to_dicts()
    for row in rows:
        rivals = [one["eccentricity"] for one in rows if one["record"] == row["record"]]
        kept = row["profile"] in set(bound.table.filter("claimed")["profile"])
        assert kept == (
            sorted(rivals)[-2:].count(row["eccentricity"]) == 1 and row["eccentricity"] == max(rivals)
        )
    assert "tie and were dropped" in bound.summary and "others claim, too" in free.summary


def test_precision_and_recall_are_counted_by_phi_and_by_budget():
    draw = np.random.default_rng(8)
    far, absent = np.round(draw.exponential(3, 80), 1), draw.random(80) < 0.3
    able = far > 0
    right = ~absent & (draw.random(80) < 0.7)
    there = int((~absent).sum())
    for row in curve(far, right, able, absent, there).iter_rows(named=True):
        claims = [i for i in range(80) if able[i] and far[i] >= row["phi"]]
        hits = sum(right[i] for i in claims)
        assert (row["claims"], row["right"]) == (len(claims), hits)
        assert row["precision"] == (hits / len(claims) if claims else None)
        assert row["recall"] == pytest.approx(hits / there)
        assert row["false"] == pytest.approx(sum(absent[i] for i in claims) / absent.sum())
    table = by_budget(
        far, lambda budget: 1 / budget if budget > 0.01 else math.inf, right, able, absent, there
    )
    assert table["budget"].to_list() == [0.02, 0.05, 0.1, 0.2, 0.5]
    for row in table.iter_rows(named=True):
        claims = [i for i in range(80) if able[i] and far[i] >= 1 / row["budget"]]
        assert (row["claims"], row["right"]) == (len(claims), sum(right[i] for i in claims))


def test_truth_is_held_against_claims(pair, put):
    release, public = pair
    names = [one for one in public.records if release.records.find(one[1:]) is not None]
    rows = "\n".join(f"{one},{one[1:]}" for one in names)
    file = put(f"profile,record\n{rows}\nnobody,1\np31,31\n", "truth.csv")
    links = so.link(release, public, truth=file, by="eccentricity", **FEW)
    table = links.table
    right = {row["profile"] for row in table.iter_rows(named=True) if row["record"] == row["profile"][1:]}
    assert set(table.filter("right")["profile"]) <= right
    claimed = table.filter("claimed")
    hits = claimed.filter("right").height
    assert links.precision.n == claimed.height and links.recall.n == len(names)
    assert links.precision.value == pytest.approx(hits / max(claimed.height, 1))
    assert links.recall.value == pytest.approx(hits / len(names))
    assert links.false.n == len(table) - len(names)
    assert (links.truth.no_profile, links.truth.no_record) == (1, 1)
    assert "1 name a profile that is not there and 1 name a record that is not there" in links.summary
    assert links.curve["claims"][0] == int(
        (table["ties"] == 1).sum()
        - (table["eccentricity"] == 0).sum()
        + ((table["ties"] != 1) & (table["eccentricity"] == 0)).sum()
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profile,record\np11,11\np11,12\n", "names a profile twice"),
        ("profile,record\nx,11\np11,x\n", "none of the 2 pairs"),
        ("profile,record\n", "has no pairs"),
        ("a,b,c\n1,2,3\n", "two columns, profile and record"),
        ("", "the first line names the columns"),
        ("profile,record\np11\n", "line 2: 1 cells, and the first line has 2"),
        (b"\xff\xfe\x00", "not a CSV file in UTF-8"),
    ],
)
def test_a_bad_truth_is_refused_in_one_line(pair, put, text, words):
    with pytest.raises(so.StandoutError, match=words) as caught:
        truth_of(put(text, "truth.csv"), *pair)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["profile;record\np11;11\n", "record\tprofile\tnote\n11\tp11\t\n\n"])
def test_a_truth_may_have_other_separators_and_columns(pair, put, text):
    found = truth_of(put(text, "truth.csv"), *pair)
    assert (found.pairs, found.present) == (1, 1)


def test_a_truth_may_be_a_mapping_or_a_frame_and_a_blank_record_is_nobody(pair):
    release, public = pair
    mapped = truth_of({"p11": "11", "p12": ""}, release, public)
    framed = truth_of(pl.DataFrame({"profile": ["p11", "p12"], "record": ["11", None]}), release, public)
    assert mapped.record.tolist() == framed.record.tolist() and mapped.present == 1
    with pytest.raises(so.ParameterError, match="ids of a truth are text"):
        truth_of({"p11": 11}, release, public)
    with pytest.raises(so.ParameterError, match="got list"):
        truth_of(["p11"], release, public)
    with pytest.raises(so.SourceError, match="cannot be read"):
        truth_of("no such file", release, public)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"dates": "maybe"}, "dates must be use, ignore or learn"),
        ({"budget": 0}, "budget must be above 0"),
        ({"budget": 0.001}, "takes 999 decoys at least, got 24"),
        ({"decoys": -1}, "decoys must be a whole number"),
        ({"decoys": True}, "decoys must be a whole number"),
        ({"phi": -1}, "phi must be a finite number"),
        ({"by": "score"}, "by must be evidence or eccentricity"),
        ({"by": "evidence", "phi": 1.5}, "phi is an eccentricity"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_is_refused(pair, said, words):
    with pytest.raises(so.ParameterError, match=words):
        so.link(*pair, **FEW | said)


def test_nothing_in_common_is_an_error(pair):
    stranger = so.read(pl.DataFrame({"record": ["x", "y"], "item": ["alpha", "beta"]}))
    with pytest.raises(so.StandoutError):
        so.link(pair[0], stranger, **FEW)
    with pytest.raises(so.ParameterError, match="public must be a Release, got str"):
        so.link(pair[0], "profiles.csv", **FEW)
    alone = so.read(pl.DataFrame({"record": ["x"], "item": ["1"]}))
    with pytest.raises(so.ParameterError, match="one record"):
        so.link(alone, pair[1], **FEW)


def test_profiles_without_values_and_dates_are_linked_by_their_items(pair):
    release, public = pair
    bare = so.read(public.to_frame().select("record", "item"))
    links = so.link(release, bare, by="eccentricity", **FEW)
    entries = content(release)
    for row in links.table.filter(pl.col("facts_used") > 0).iter_rows(named=True):
        items = [item for one, item in content(bare) if one == row["profile"] and item != "unheard"]
        scores = naive.sums(entries, dict.fromkeys(items, (None, None)), naive.present)
        assert row["eccentricity"] == pytest.approx(naive.eccentricity(scores), rel=1e-5, abs=1e-9)
        assert row["by_values"] == row["by_dates"] == 0
    assert set(links.table["carried_by"].drop_nulls()) <= {"items"}
    niche = so.read(pl.DataFrame({"record": ["x"], "item": [release.items[int(np.argmin(release.support))]]}))
    alone = so.read(pl.DataFrame({"record": ["1", "2", "3"], "item": ["a", "b", "b"]}))
    assert so.link(release, niche, phi=0, decoys=0).table["facts_used"].to_list() == [1]
    carried = so.link(alone, so.read(pl.DataFrame({"record": ["x"], "item": ["a"]})), phi=0, decoys=0)
    assert carried.table["carried_by"].to_list() == ["items"] and carried.table["record"].to_list() == ["1"]


def test_a_given_phi_is_used_and_decoys_may_be_left_out(pair):
    links = so.link(*pair, phi=1.5, decoys=0)
    table = links.table
    assert links.phi == 1.5 and links.by == "eccentricity"
    assert (table["claimed"] == ((table["eccentricity"] >= 1.5) & (table["ties"] == 1))).all()
    assert table["false_claim"].null_count() == len(table) and math.isnan(links.expected_false)
    assert "nothing is known of false claims" in links.summary
    judged = so.link(*pair, phi=1.5, **FEW)
    assert judged.claims == links.claims and judged.expected_false > 0


def test_the_budget_bounds_what_is_expected(pair):
    links = so.link(*pair, **FEW)
    tried = int((links.facts > 0).sum())
    assert 0 <= links.likely_false <= links.expected_false <= 0.1 * tried + 1e-9
    assert links.sizes["claims"].sum() == links.claims and links.sizes["profiles"].sum() == tried
    assert links.table.filter("claimed")["false_claim"].max() <= 0.1
    assert links.decoys.height == 48 and set(links.decoys["kind"]) == {"recombined", "withheld"}


def test_no_more_claims_are_likely_false_than_there_are(pair):
    double = pair[1].to_frame().with_columns(record="q" + pl.col("record"))
    public = so.read(pl.concat([pair[1].to_frame(), double]))
    links = so.link(*(pair[0], public), phi=0.1, assign=True, **FEW)
    assert links.claims < links.expected_false  # each person claims twice: all tie
    assert links.likely_false <= links.claims


def test_few_profiles_are_tried_against_decoys_from_the_release(pair):
    one = so.read(pair[1].to_frame().filter(pl.col("record") == "p14"))
    links = so.link(pair[0], one, **FEW)
    assert len(links) == 1 and links.decoys.height == 48
    assert "recombined from entries of the release" in links.summary


def test_a_release_of_too_few_people_claims_nobody_and_says_why(pair):
    few = so.read(pair[0].to_frame().filter(pl.col("record").is_in(["11", "12", "13"])))
    links = so.link(few, pair[1], **FEW)
    assert links.phi == math.inf and links.claims == 0
    assert "too few people for a budget of 10 %: nothing is claimed" in links.summary
    assert "claimed falsely" not in links.summary and links.told()["phi"] is None


@pytest.mark.parametrize("by", ["evidence", "eccentricity"])
def test_of_a_profile_without_facts_nothing_is_said(pair, by):
    (row,) = so.link(*pair, by=by, **FEW).table.filter(pl.col("facts_used") == 0).to_dicts()
    assert row["record"] is row["runner_up"] is row["carried_by"] is None and not row["claimed"]
    assert row["ties"] == pair[0].n_records and row["false_claim"] == 1.0
    assert row["evidence"] == row["eccentricity"] == row["score"] == 0.0
    assert row["bits_left"] == pytest.approx(math.log2(pair[0].n_records))


def test_what_looks_absent():
    assert likely_absent(np.array([0.001] * 90 + [0.6] * 5 + [0.4] * 5)) == pytest.approx(0.1)
    assert likely_absent(np.ones(4)) == 1.0 and likely_absent(np.empty(0)) == 0.0


def test_cut_short_it_tells_what_there_is(pair, monkeypatch):
    monkeypatch.setattr(cut, "BATCH", 5)

    def stop(stage, done, total):
        if stage == "linking" and done >= 10:
            raise KeyboardInterrupt

    said = FEW | {"by": "eccentricity"}
    whole, links = so.link(*pair, **said), so.link(*pair, progress=stop, **said)
    assert not links.complete and len(links) == 10 and "Cut short" in links.summary
    assert links.table.drop("contested").equals(whole.table.drop("contested").head(10))
    assert links.told()["complete"] is False

    def at_once(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        so.link(*pair, progress=at_once, **FEW)


def test_it_tells_how_far_it_is(pair):
    told = []
    so.link(*pair, progress=lambda *one: told.append(one), **FEW)
    stages = {stage: (done, total) for stage, done, total in told}
    assert stages == {"decoys": (48, 48), "linking": (pair[1].n_records, pair[1].n_records)}


def test_files_hold_the_table_and_are_private(pair, tmp_path):
    links = so.link(*pair, truth={"p11": "11"}, **FEW)
    links.to_csv(tmp_path / "t.csv")
    links.to_parquet(tmp_path / "t.parquet")
    links.to_json(tmp_path / "t.json")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(links.table)
    texts = dict.fromkeys(("profile", "record", "runner_up"), pl.String)
    assert pl.read_csv(tmp_path / "t.csv", schema_overrides=texts)["record"].equals(links.table["record"])
    told = json.loads((tmp_path / "t.json").read_text())
    assert told["table"] == json.loads(links.table.write_json()) and told["claims"] == links.claims
    assert all((tmp_path / f"t.{form}").stat().st_mode & 0o077 == 0 for form in ("csv", "parquet", "json"))
    assert repr(links).startswith(f"<Links: {len(links)} profiles")


def test_the_report_names_nobody_and_stands_alone(put, tmp_path):
    rows = [
        (f"id{r:03}secret", f"{i}", float((r * i) % 5 + 1)) for r in range(40) for i in range(r % 7, 14, 2)
    ]
    data = pl.DataFrame(rows, schema=["record", "item", "value"], orient="row")
    some = data.with_columns(record="p" + pl.col("record"))
    truth = {f"pid{r:03}secret": f"id{r:03}secret" for r in range(40)}
    links = so.link(so.read(data), so.read(some), truth=truth, **FEW)
    links.to_html(tmp_path / "report.html", "data <b>.csv", "public.csv")
    page = (tmp_path / "report.html").read_text()
    assert "secret" not in page and "secret" not in json.dumps(links.told())
    assert "default-src 'none'" in page and "<script" not in page and "data &lt;b&gt;.csv" in page
    assert f"{links.claims} of 40 profiles" in page and "Held against the truth" in page
    assert "only if that stands out further than decoys" in page
    for decoys in (0, 50):
        so.link(so.read(data), so.read(some), phi=2, decoys=decoys).to_html(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text()
        assert "φ = 2 was given" in page and "further than decoys" not in page
        assert ("Decoys are people who are not there" in page) == bool(decoys)


@pytest.mark.large
def test_the_command_prints_numbers_and_writes_ids(run, pair, tmp_path):
    data, public, truth = (tmp_path / name for name in ("data.csv", "public.csv", "truth.csv"))
    pair[0].to_frame().write_csv(data)
    pair[1].to_frame().rename({"record": "who", "item": "what"}).write_csv(public)
    truth.write_text("profile,record\np11,11\np12,12\n")
    said = ("--public-record", "who", "--public-item", "what", "--budget", 0.1, "--decoys", 24)
    told = run("link", data, public, *said, "--truth", truth, "-o", tmp_path / "out")
    assert (told.code, told.err) == (0, "") and "profiles claim a record" in told.out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"links.csv", "links.json", "report.html"}
    assert "p11" not in told.out
    links = so.link(*pair, truth=truth, **FEW)
    machine = json.loads(run("link", data, public, *said, "--truth", truth, "--json").out)
    assert machine["claims"] == links.claims
    assert [row["record"] for row in machine["table"]] == links.table["record"].to_list()
    assert "The links themselves are not shown" in run("link", data, public, *said).out
    run("link", data, public, *said, "-o", tmp_path / "only.parquet")
    assert pl.read_parquet(tmp_path / "only.parquet").height == len(links)
    so.save(pair[1], tmp_path / "public.index")
    again = run("link", data, tmp_path / "public.index", *said[4:], "--values", "1,0", "--dates", "learn")
    assert again.code == 0
    for wrong, words in (
        (("--values", "a,b"), "two numbers like 0.5,0"),
        (("-o", tmp_path / "no" / "t.csv"), "in an existing folder"),
        (("-o", data.with_suffix("")), None),
        (("--budget", 2), "budget must be"),
        (("--truth", tmp_path / "none.csv", "--budget", 0.1), "cannot be read"),
    ):
        bad = run("link", data, public, *said[:4], *wrong, "--decoys", 24, *(() if words else said[4:]))
        assert bad.code == (1 if words else 0) and (words is None or words in bad.err)
        assert bad.err.count("\n") == (1 if words else 0)
    bad = run("link", data, tmp_path / "public.index", "--public-record", "who")
    assert bad.code == 1 and "--public-record is for reading a source" in bad.err


def test_the_command_writes_over_nothing_that_was_given(tmp_path):
    names = ("ratings.csv", "links.csv", "truth.json", "out/review.csv", "ml/links.csv")
    ratings, links, truth, review, inside = (tmp_path / name for name in names)
    for file in (ratings, links, truth, review, inside):
        file.parent.mkdir(exist_ok=True)
        file.write_text("precious")
    said = [ratings, tmp_path / "ml", "auto", links, truth, None]
    for place in (ratings, tmp_path, truth, inside, tmp_path / "ml", tmp_path / "ml" / ".." / "truth.json"):
        with pytest.raises(so.ParameterError, match="is an input"):
            check_output_path(place, said, None)
    with pytest.raises(so.ParameterError, match="pass it as --review"):
        check_output_path(review.parent, said, None)
    with pytest.raises(so.ParameterError, match="is an input"):
        check_output_path(review, said, review)
    for place in (review.parent, tmp_path / "new", tmp_path / "new.csv", tmp_path / "ml" / "new", None):
        check_output_path(place, said, review)


@pytest.mark.large
def test_the_command_ends_with_what_there_is(run, pair, tmp_path, monkeypatch):
    monkeypatch.setattr(cut, "BATCH", 5)
    original, calls = engine.candidates, []

    def candidates(*args):
        calls.append(1)
        if len(calls) > 22:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(engine, "candidates", candidates)
    for name, one in zip(("data.index", "public.index"), pair, strict=True):
        so.save(one, tmp_path / name)
    told = run("link", tmp_path / "data.index", tmp_path / "public.index", "--budget", 0.1, "--decoys", 50)
    assert told.code == 3 and "Cut short" in told.out


@pytest.fixture(scope="module")
def movielens(realdata):
    return so.read(realdata / "movielens-latest-small")


@pytest.mark.large
@pytest.mark.realdata
def test_of_people_who_are_not_there_no_more_are_claimed_than_the_budget_allows(movielens):
    claims = tried = 0
    for seed in range(2):
        here = np.random.default_rng(seed).random(movielens.n_records) < 0.5
        links = so.link(subset(movielens, here), subset(movielens, ~here), budget=0.05, decoys=300, seed=seed)
        claims, tried = claims + links.claims, tried + len(links)
    assert claims <= 0.05 * tried


@pytest.mark.large
@pytest.mark.realdata
def test_people_on_both_sides_are_nearly_all_found(movielens):
    frame, draw = movielens.to_frame(), np.random.default_rng(1)
    sides = [frame.filter(pl.Series(draw.random(len(frame)) < 0.5)) for _ in range(2)]
    release, public = (so.read(side) for side in sides)
    links = so.link(release, public, truth={one: one for one in release.records}, decoys=600)
    assert links.right.mean() > 0.98 and links.precision.value > 0.99 and links.recall.value > 0.9
