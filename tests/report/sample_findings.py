"""Findings to be shown: full, with as little as there can be, with hostile texts, and not to be trusted."""

import math

__all__ = ["HOSTILE", "est", "full", "hostile", "minimal", "untrusted"]

HOSTILE = [
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    '=HYPERLINK("https://example.org/?"&A1;"look")',
    "W" * 10_000,
    "\u202eevil\u2066\u200fשלום\u200e right to left",
    '\x00\x1b[31m\ud800 a\u0301\u0302\u0303\u0304\u0305\u0306\u0307 "\' style="x" & {{ 7*7 }} ${a} '
    "</style><style>*{display:none}",
]


def est(value, n=1000, baseline=None, width=1.96):
    half = width * math.sqrt(max(value * (1 - value), 0.0005) / n) if 0 <= value <= 1 else 0.1
    low, high = max(value - half, 0.0), min(value + half, 1.0) if value <= 1 else value + half
    return {"value": value, "low": low, "high": high, "n": n, "baseline": baseline}


FACTS = [1, 2, 3, 4, 6, 8, 12, 16]
LADDER = [
    (
        "colleague",
        "A colleague at the water cooler",
        "4 popular items, values ± 1, dates ± 30 days, 1 wrong",
        4,
        1,
        0.38,
        6.0,
    ),
    (
        "acquaintance",
        "An acquaintance with approximate dates",
        "8 items, values ± 1, dates ± 14 days, 2 wrong",
        8,
        2,
        0.84,
        4.0,
    ),
    (
        "profile",
        "Somebody who read a public profile",
        "8 items, exact values, dates ± 3 days",
        8,
        0,
        0.97,
        2.2,
    ),
    ("undated", "Somebody who knows no dates", "8 items, values ± 1, no dates, 2 wrong", 8, 2, 0.55, 7.0),
    ("worst", "The worst case", "8 of the rarest items, exact", 8, 0, 0.995, 0.9),
]


def adversary(name, title, words, knows, wrong, found, slow):
    rise = [found * (1 - math.exp(-k / slow)) / (1 - math.exp(-knows / slow)) for k in FACTS]
    curve = [
        {
            "facts": k,
            "identified": est(min(y, 0.998)),
            "correct_claims": est(min(0.9 * y, 0.99)),
            "absent_claims": est(0.3),
            "phi_at_budget": 2.0 + 0.1 * k,
            "correct_claims_at_budget": est(min(0.7 * y, 0.9)),
            "bits_gained": est(9 * min(y, 1), 1000),
            "lineup": est(1 + 40 * (1 - min(y, 1))),
        }
        for k, y in zip(FACTS, rise, strict=True)
    ]
    at = {
        "facts": knows,
        "targets": 1000,
        "identified": est(found, baseline=1 / 610),
        "identified_in_release": est(found),
        "in_top": est(min(found + 0.1, 1.0)),
        "correct_claims": est(0.9 * found),
        "wrong_claims": est(0.02),
        "absent_claims": est(0.28),
        "phi_at_budget": 2.314,
        "correct_claims_at_budget": est(0.55 * found),
        "bits_gained": est(8.97),
        "bits_left": est(1.28),
        "lineup": est(3.0),
        "lineup_mass": 0.9,
        "revealed": est(62.4),
        "revealed_correct": est(55.1),
        "revealed_correct_share": est(min(found + 0.01, 1)),
    }
    return {
        "name": name,
        "title": title,
        "words": words,
        "gate": name != "worst",
        "knows": knows,
        "wrong": wrong,
        "wrong_facts": "values",
        "value_error": 1,
        "time_error": 14,
        "items": "any",
        "note": "",
        "left_out": 12,
        "at": at,
        "curve": curve,
        "curve_left_out": 80,
        "curve_note": "the same share of facts is wrong; only people with at least 16 items",
    }


def full():
    """Everything there is."""
    groups = {
        "by_length": [
            ("1–20 entries", 0.61),
            ("21–50 entries", 0.8),
            ("51–200 entries", 0.9),
            ("more than 200 entries", 0.93),
        ],
        "by_popularity": [
            ("known items of ranks up to 100", 0.55),
            ("of ranks 101–500", 0.83),
            ("of ranks above 500", 0.97),
        ],
        "by_joined": [(str(year), 0.95 - 0.03 * (year - 2000)) for year in range(2000, 2010)],
    }
    exposure = {
        key: [
            {
                "label": label,
                "low": 1,
                "high": 20,
                "people": None if key == "by_popularity" else 120,
                "identified": est(share, 200),
            }
            for label, share in told
        ]
        for key, told in groups.items()
    }
    needed = [(2, 0.21), (3, 0.38), (4, 0.52), (6, 0.71), (8, 0.83), (12, 0.93)]
    sensitive = [("health", 12, 210, 0.29, 150), ("politics", 9, 96, 0.13, 70), ("any", 28, 268, 0.37, 190)]
    question = {"answer": "yes", "number": est(0.84)}
    return {
        "schema": "standout-findings",
        "schema_version": 2,
        "made": {"by": "standout 0.1.0", "at": "2026-11-16T08:00:00+00:00", "seed": 2008, "seconds": None},
        "data": {
            "name": "ratings.csv",
            "fingerprint": "b2:5f0c7a1e9d3b4c6f8a2e1d0c9b8a7f6e5d4c3b2a19080706",
            "records": 610,
            "items": 9724,
            "entries": 100836,
            "has_values": True,
            "has_times": True,
            "levels": 10,
            "first": "1996-03-29",
            "last": "2018-09-24",
            "median_length": 70,
            "rows_rejected": 3,
            "synthetic": False,
        },
        "original": None,
        "settings": {
            "targets": 1000,
            "facts": FACTS,
            "phi": 1.5,
            "budget": 0.01,
            "top": 10,
            "quick": False,
            "fail_above": 0.05,
            "headline": "acquaintance",
            "ladder": "default",
        },
        "trust": {
            "trusted": True,
            "checks": [
                {
                    "name": "canaries",
                    "title": "Planted records are found",
                    "expected": "20 of 20",
                    "found": "20 of 20",
                    "passed": True,
                    "words": "Records that stand out by construction are picked out.",
                },
                {
                    "name": "guessing",
                    "title": "Knowing nothing finds nobody",
                    "expected": "at most 1 %",
                    "found": "0.2 %",
                    "passed": True,
                    "words": "Facts of somebody else do no better than chance.",
                },
                {
                    "name": "control",
                    "title": "People who are not there are not claimed",
                    "expected": "at most 1 %",
                    "found": "0.9 %",
                    "passed": True,
                    "words": "Claims of removed people keep to the budget.",
                },
            ],
        },
        "answer": {
            "sentence": "An acquaintance who knows 8 things about a person, 2 of them wrongly, picks the "
            "right record for 84 % of people.",
            "adversary": "acquaintance",
            "rate": est(0.84, baseline=1 / 610),
            "people": 512,
            "of": 610,
            "could_not_be_tried": 12,
        },
        "adversaries": [adversary(*one) for one in LADDER],
        "exposure": {
            "adversary": "acquaintance",
            "facts_needed": [{"facts": k, "share": est(y)} for k, y in needed],
            **exposure,
            "sensitive": {
                "file": "sensitive.txt",
                "items_listed": 30,
                "items_found": 28,
                "adversary": "acquaintance",
                "rows": [
                    {
                        "category": name,
                        "items": items,
                        "people_with": people,
                        "revealed": est(y),
                        "people_revealed": told,
                    }
                    for name, items, people, y, told in sensitive
                ],
            },
        },
        "theory": {
            "sparsity": {
                "similarity": "values within 1 and dates within 14 days",
                "n": 610,
                "curve": [
                    {"epsilon": round(0.05 * k, 2), "share": est(math.exp(-k / 2.5), 610)}
                    for k in range(1, 16)
                ],
            },
            "bounds": [
                {
                    "theorem": "Theorem 1",
                    "says": "so many facts are enough to find a record at least 0.5 similar",
                    "bound": 26,
                    "measured": "98 % found with 8",
                    "setting": "ε = 0.01, δ = 0.5",
                },
                {
                    "theorem": "Theorem 3",
                    "says": "where records are sparse, so many facts find the record itself",
                    "bound": 12,
                    "measured": "84 % found with 8",
                    "setting": "ε = 0.15, δ = 0.05",
                },
            ],
        },
        "verdict": {
            "summary": "By the means of these adversaries people in this data can be singled out: the data "
            "cannot be taken to be anonymous on this evidence.",
            "singling_out": question
            | {
                "title": "Singling out",
                "words": "An acquaintance picks the right record for 84 % of people.",
            },
            "linkability": question
            | {
                "title": "Linkability",
                "answer": "partly",
                "words": "A second source with 8 of the same facts can be "
                "joined to the release for 46 % of people, with 1 % of false links.",
                "number": est(0.46),
            },
            "inference": question
            | {
                "title": "Inference",
                "words": "Of what the guessed record says beyond the known facts 85 % is true.",
            },
        },
        "threshold": {
            "fail_above": 0.05,
            "measured": est(0.995),
            "adversary": "worst",
            "exceeded": True,
            "words": "The most that was measured, 99.5 % (99 to 100 %), is above the threshold of 5 %.",
        },
        "limits": [
            "The people who were tried are a sample of those with at least 8 items.",
            "An adversary with other knowledge may do better; none of these numbers is an upper bound.",
        ],
        "versions": {
            "standout": "0.1.0",
            "python": "3.11",
            "numpy": "2.4.6",
            "numba": "0.68.1",
            "polars": "2.1.0",
        },
    }


def minimal():
    """No times, no values, one adversary, a curve of one point, nothing that may be left out."""
    found = full()
    one = found["adversaries"][1]
    one["curve"], one["curve_note"], one["curve_left_out"] = one["curve"][:1], "", 0
    one["at"]["lineup"] = one["curve"][0]["lineup"] = None
    one["note"] = "the release has no times, so dates are left out"
    found["adversaries"] = [one]
    found["exposure"] |= {
        "facts_needed": [],
        "by_length": [],
        "by_popularity": [],
        "by_joined": [],
        "sensitive": None,
    }
    found["data"] |= {
        "has_values": False,
        "has_times": False,
        "first": None,
        "last": None,
        "synthetic": True,
        "levels": 0,
        "rows_rejected": 0,
    }
    found["made"]["at"] = None
    found["answer"] |= {"people": None, "could_not_be_tried": 0}
    found["settings"] |= {"fail_above": None, "quick": True}
    found["threshold"] = {
        "fail_above": None,
        "measured": None,
        "adversary": None,
        "exceeded": None,
        "words": "",
    }
    found["theory"] = {"sparsity": {"similarity": "items", "n": 0, "curve": []}, "bounds": []}
    found["limits"] = []
    return found


def hostile():
    """Foreign words wherever there may be some, each of them hostile in its own way."""
    found, told = full(), iter(HOSTILE * 500)
    fixed = {"schema", "at", "first", "last", "wrong_facts", "answer", "headline", "adversary"}

    def spoil(node, name=""):
        if isinstance(node, dict):
            return {key: spoil(value, key if isinstance(value, str) else "") for key, value in node.items()}
        if isinstance(node, list):
            return [spoil(one) for one in node]
        return next(told) if isinstance(node, str) and name not in fixed else node

    found = spoil(found)
    name = found["adversaries"][1]["name"]
    for part in (found["answer"], found["exposure"], found["threshold"], found["exposure"]["sensitive"]):
        part["adversary"] = name
    found["settings"]["headline"] = name
    return found


def untrusted():
    """A self-check failed."""
    found = minimal()
    found["trust"]["trusted"] = False
    found["trust"]["checks"][0] |= {
        "passed": False,
        "found": "3 of 20",
        "words": "Planted records were not found.",
    }
    return found
