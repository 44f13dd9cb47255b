"""The control of an adversary: people in the data compared with the same people, absent."""

import pytest

import naive
import standout as so
from auditing.audit_samples import people, small_audit
from standout.auditing.assemble_findings import residual
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once


def test_main_and_control_are_the_claims_of_the_adversary_as_named(audited):
    for adversary in audited.findings.adversaries:
        control, named = adversary.control, adversary.as_named
        assert control.main.value == pytest.approx(named.correct_claims.value)
        assert control.control.value == pytest.approx(named.absent_claims.value)
        assert control.difference.value == pytest.approx(control.main.value - control.control.value)
        assert control.difference.low < control.difference.value <= control.difference.high


def test_the_residual_is_the_slow_one():
    for n in (1, 7, 300):
        for main in {0, n // 2, n}:
            for control in {0, n // 3, n}:
                found = residual(rate(main, n), rate(control, n))
                expected = naive.residual_risk(main, control, n)
                if expected is None:
                    assert found is None
                    continue
                assert (found.value, found.low, found.high) == pytest.approx(expected)
                assert 0 <= found.low <= found.value <= found.high <= 1


def test_people_who_cannot_be_told_apart_are_no_risk_above_the_control():
    twins = people(items=10, length=lambda r: 10, value=False, time=False)
    result = small_audit(twins, ladder={"any": so.Adversary(knows=4)})
    control = result.findings.adversaries[0].control
    assert control.main.value == 0 and control.residual.value == 0
