"""Scores of all records in double precision: the compiled sum equals the parts, to the bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from attack_cases import attacked, examples, similarities
from standout.attack.queries import excluded_records, prepare_queries
from standout.know.facts import encode_auxes


@examples(60, 15)
@given(st.data())
def test_the_compiled_sum_equals_the_sum_of_the_parts_to_the_bit(drawn):
    made, aux, exclude = attacked(drawn)
    release, (similarity, _) = made.read(), drawn.draw(similarities(made.kind))
    known = encode_auxes(release, [aux])
    for queries in (
        prepare_queries(release, known, similarity, "rarity", excluded_records(release, exclude, 1)),
        so.Likelihood().attacks(release, known, exclude=exclude).queries,
        so.Likelihood(so.Adversary(knows=3, value_error=1, time_error=14))
        .attacks(release, known, exclude=exclude)
        .queries,
    ):
        everybody = np.arange(release.n_records)
        expected = queries.scores_of(np.zeros(len(everybody), np.int64), everybody)
        found = queries.scores(0)
        among = found > -np.inf
        assert found[among].tolist() == expected[among].tolist()
