"""The audit of real data, and of a release of some size."""

import pytest
from click.testing import CliRunner

import standout as so
from auditing.audit_samples import ACQUAINTANCE, valid
from standout.cli.command_group import cli

pytestmark = [pytest.mark.once, pytest.mark.large, pytest.mark.slow]

OTHERS = {
    "bitcoin-otc/soc-sign-bitcoinotc.csv": {"record": 1, "item": 2, "value": 3, "time": 4},
    "movietweetings/2013-11-06": {},
    "online-retail/online-retail.csv.gz": {
        "record": "CustomerID",
        "item": "StockCode",
        "value": "Quantity",
        "time": "InvoiceDate",
        "time_format": "%m/%d/%Y %H:%M",
        "encoding": "latin-1",
        "max_rejects": "30%",
        "ignore": ["InvoiceNo", "UnitPrice", "Country"],
    },
}


@pytest.mark.realdata
def test_the_audit_of_movielens_gives_the_documented_rate(realdata):
    release = so.read(realdata / "movielens-latest-small")
    result = so.audit(release, fail_above=0.05, targets=610, seed=2008)
    valid(result)
    assert result.trusted and result.exceeded
    simulation = so.simulate(release, ACQUAINTANCE, targets=610, seed=2008)
    attacks = {attack.name: attack.as_named.identified for attack in result.findings.adversaries[1].attacks}
    assert attacks["paper"] == simulation.estimate("identified")
    assert attacks["paper"].value == pytest.approx(0.987, abs=0.001)  # docs/lab/results.md
    assert result.findings.answer.rate == attacks["likelihood"] and attacks["likelihood"].value > 0.995
    curve = {point.facts: point.identified.value for point in result.findings.adversaries[1].curve}
    assert list(curve) == [1, 2, 3, 4, 6, 8, 12, 16] and curve[1] < curve[4] <= curve[16]


@pytest.mark.realdata
@pytest.mark.parametrize("name", OTHERS)
def test_other_real_data_needs_only_column_options(realdata, name):
    release = so.read(realdata / name, **OTHERS[name])
    result = so.audit(release, targets=60, facts=[1, 2, 4, 8], seed=1)
    assert result.trusted
    for adversary in result.findings.adversaries:
        named, attack = result.adversaries[adversary.name], result.attacks[adversary.name]
        simulation = so.simulate(release, named, attack=attack, targets=60, seed=1)
        assert adversary.as_named.identified == simulation.estimate("identified")
        assert adversary.too_few_items == simulation.cell().too_few_items
    assert valid(result)["data"]["rows_rejected"] == sum(release.provenance.rejected.values())


@pytest.mark.realdata
@pytest.mark.parametrize(("options", "exit_code"), [([], 4), (["--attack", "paper"], 0)])
def test_the_gate_of_retail_data_fails_because_of_the_bayesian_attack(realdata, tmp_path, options, exit_code):
    """Quantities within 24 and no dates: the paper's attack identifies one in ten, Likelihood nearly all."""
    ladder = tmp_path / "ladder.toml"
    ladder.write_text("[[adversary]]\nname = 'buyer'\nknows = 4\nvalue_error = 24\ntime_error = 'none'\n")
    data = "online-retail/online-retail.csv.gz"
    columns = [
        f"--read={name}={text}"
        for name, given in OTHERS[data].items()
        for text in (given if isinstance(given, list) else [given])
    ]
    command = ["audit", str(realdata / data), *columns, f"--ladder={ladder}", f"--output={tmp_path / 'report'}"]
    run = CliRunner().invoke(cli, [*command, "--targets=300", "--fail-above=0.2", *options])
    assert run.exit_code == exit_code, run.output


def test_a_release_of_some_size_is_audited_and_checked():
    release = so.synthesize(records=25_000, items=2_000, entries=500_000, seed=5)
    result = so.audit(release, quick=True, targets=100)
    assert result.trusted and valid(result)["data"]["synthetic"]
    assert result.findings.theory.sparsity.n == 200
