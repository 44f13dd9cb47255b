"""Theorems 1 to 5: how many known facts suffice, and whether a release agrees  [section 4].

Formulas:

    Theorems 1, 2, 4    m ≥ (log N − log ε) / −log(1 − δ)      facts_needed
    Theorem 3           m ≥ log(N / (k − 1)) / log(1/(1 − δ))  facts_for_lineup
    Theorem 5           δγ/λ                                   sample_sparsity
    Netflix Prize       1 − (1 − y/x)², x · (1 − √(1 − f))     prize_share, prize_improvement

`check` compares the bounds with measurements on a release, and `table` lists the results. The proofs leave
gaps, which the notes of the checks name:

Lemma 1      needs |supp(r)| as the denominator of Sim. With the union, as Sim is defined, a superset of r
             agrees on every attribute, yet the longer it is, the less similar it is. Both readings are measured.
Theorem 1    compares facts within 1 − ε of the target's with r′ as if they were the target's. That is true
             of exact facts, which the measurements use by default. With the imprecise facts of an adversary,
             what follows is that a match is similar within twice the distances.
Theorem 2    assumes that the target is one of the records without a similar one; a share ε of the records
             are not. What follows is 1 − 2ε. For Theorem 3, (1 − ε)/k and log2 k + ε log2 N follow.
Theorem 3    counts X false matches and guesses among X; with the target there are X + 1 candidates. E[X] ≤
             k − 1 gives 1/k for these.
Theorem 4    says that nothing matches a target that is not in the sample. A similar record may match; only
             sparsity excludes that. What follows is that no dissimilar record matches.
Theorem 5    applies Markov's inequality in the wrong direction: it bounds how often a share is large by its
             mean, not how often it is small. The theorem is false: if all records with a similar record have
             the same one, a sample is sparse whenever that one is missing. What follows is the mean, δ/λ.
"""

from standout.measure.theorem_bounds import (
    RMSE,
    Check,
    Settings,
    facts_for_lineup,
    facts_needed,
    false_matches,
    prize_improvement,
    prize_share,
    sample_sparsity,
    table,
)
from standout.measure.theorem_checks import check

__all__ = [
    "RMSE",
    "Check",
    "Settings",
    "check",
    "facts_for_lineup",
    "facts_needed",
    "false_matches",
    "prize_improvement",
    "prize_share",
    "sample_sparsity",
    "table",
]
