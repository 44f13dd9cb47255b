"""Measure what an adversary achieves: attacks on targets whose records are known.

Entry point: `simulate` in simulate.py. Read the files in this order:

    population        the people whom a release is about, and the records that represent them
    targets           random targets and random entries of theirs
    outcomes          the outcome of each attack on each target
    pairs             similarity of people and records; what a best guess reveals
    similar_records   records that are at least θ similar to a target
    claim_budget      claims at a φ that other targets choose, within a budget of false claims
    claim_rates       correct, wrong and false claims at every φ
    estimates         rates, means and medians with 95 % intervals
    cell              the measures of one adversary with one number of facts
    simulate          the public function: checks its parameters
    simulation_runner chooses targets and attacks them in batches; checkpoint.py lets a run resume
    simulation        the result: cells and their table
    candidate_attacks the attacks of an adversary on a release; the strongest, chosen on other targets
    success_rate      only the share of targets identified, for callers that need nothing else
    sampled_release   a sample of a release together with its original
    result_table, estimate_json, estimate_text    results as files, as JSON and as text
"""
