"""One small release and its audit, shared by the tests of this folder."""

import pytest

from auditing.audit_samples import people, small_audit


@pytest.fixture(scope="session")
def release():
    return people()


@pytest.fixture(scope="session")
def audited(release):
    return small_audit(release, fail_above=0.05)
