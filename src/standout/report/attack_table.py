"""Several attacks of each adversary, compared in one table, and the thresholds of their claims."""

from standout.core.formatting import estimate_text, interval_text, percent
from standout.evaluate.claim_threshold import ClaimThreshold
from standout.findings.adversaries import AttackFindings, MeasuresAsNamed
from standout.findings.audit import AuditFindings
from standout.report.attack_titles import ATTACK_TITLES
from standout.report.figures import Cells, Table

__all__ = ["attack_table", "common_threshold", "threshold_text"]


def common_threshold(findings: AuditFindings) -> ClaimThreshold | None:
    """The threshold of the strongest attacks of all adversaries; None if they differ."""
    thresholds = {
        ClaimThreshold(adversary.as_named.claims_by, adversary.as_named.threshold)
        for adversary in findings.adversaries
    }
    return thresholds.pop() if len(thresholds) == 1 else None


def threshold_text(measures: MeasuresAsNamed) -> str:
    """The threshold that keeps to the budget; a posterior near 1 with enough digits to differ from 1."""
    threshold = measures.threshold_at_budget
    if measures.claims_by == "phi":
        return f"{threshold:.2f}"
    return next((text for digits in (3, 6, 9) if (text := f"{threshold:.{digits}f}") < "1"), "almost 1")


def attack_table(findings: AuditFindings) -> Table:
    """A row for each adversary: what each attack identifies, and how probable it says that is."""
    names = list(dict.fromkeys(attack.name for each in findings.adversaries for attack in each.attacks))
    names.sort(key=lambda name: (name != "paper", name != "likelihood", name))
    heads = [head for name in names for head in (ATTACK_TITLES.get(name, name), "stated probability")]
    cells: list[Cells] = []
    for adversary in findings.adversaries:
        attacks = {attack.name: attack for attack in adversary.attacks}
        texts = [text for name in names for text in _cells(attacks.get(name))]
        cells.append((adversary.name, *texts))
    return Table(("adversary", *heads), cells)


def _cells(attack: AttackFindings | None) -> Cells:
    """The share identified with its interval, and the probability that the attack states."""
    if attack is None:
        return "–", "–"
    identified = attack.as_named.identified
    return (estimate_text(identified), interval_text(identified)), percent(attack.as_named.stated_probability)
