"""The stand-in is made once and then read from its index."""

import pytest

from standout.paper import synthesize as standin

pytestmark = [pytest.mark.once]


def test_the_stand_in_is_made_once_for_each_size_and_seed(release, tmp_path, monkeypatch):
    calls = []

    def make(**options):
        calls.append((options["records"], options["seed"]))
        return release

    monkeypatch.setattr(standin, "synthesize", make)
    for records, seed in ((40, 0), (40, 0), (40, 1), (50, 0), (None, 0), (40, 1)):
        opened = standin.open_or_make_standin(tmp_path, records, seed)
        assert opened.fingerprint == release.fingerprint
    assert calls == [(40, 0), (40, 1), (50, 0), (480_189, 0)]
