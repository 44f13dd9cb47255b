"""Linking public profiles to records of a release, with decoys as a control.

Entry point: `link.link`, which returns `links.Links`. Read the files in this order:

align           which public item is which item of the release (item_alignment, item_map, title_*, review),
                and what its values mean there (value_scales); the result is an alignment.Alignment
profiles        the facts of each profile
agreement       what a profile and a record have in common, in counts
evidence        how strongly that suggests one person: the model of `Likelihood` with learned errors
                (attack.learned_errors); learn_model learns them
record_search   the best record of each profile, by evidence or by a given attack; best_records
decoys, claims  profiles of absent people (decoy_search attacks with them), and the φ that keeps to the budget
assignment      one claim for each record, if wanted
truth           the known truth; claim_curves for precision and recall
links           the result; link_tables and link_findings put it into tables and findings
sentences       every sentence about it
"""
