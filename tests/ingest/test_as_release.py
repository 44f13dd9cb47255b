"""Functions take a release, or what `so.read` reads, with the same result."""

import pytest

import standout as so
from standout.ingest.read import as_release


@pytest.mark.once
def test_measurements_read_a_path_or_a_frame(tmp_path):
    release = so.synthesize(records=30, items=40, entries=400, seed=7)
    frame = release.to_frame()
    frame.write_csv(tmp_path / "data.csv")
    read = so.read(frame)
    for source in (frame, tmp_path / "data.csv", str(tmp_path / "data.csv"), [tmp_path / "data.csv"]):
        assert as_release(source).fingerprint == read.fingerprint
    path = str(tmp_path / "data.csv")
    adversary = so.Adversary(knows=4)
    assert so.simulate(frame, adversary, targets=5).estimate("identified") == so.simulate(
        read, adversary, targets=5
    ).estimate("identified")
    assert so.link(frame, path, decoys=99).complete
    assert so.unicity(path, 2, targets=5) == so.unicity(read, 2, targets=5)
    assert so.sparsity(frame).nearest.tolist() == so.sparsity(read).nearest.tolist()


def test_other_objects_are_refused_with_the_name_of_the_parameter():
    for call in (
        lambda: so.audit(3),
        lambda: so.simulate(None, so.Adversary(knows=1)),
        lambda: so.advise({}),
        lambda: so.unicity(3, 2),
        lambda: so.sparsity(None),
    ):
        with pytest.raises(so.ParameterError, match="release must be a Release, a path or a frame, got"):
            call()
    release = so.synthesize(records=30, items=40, entries=400, seed=7)
    with pytest.raises(so.ParameterError, match="public must be a Release, a path or a frame, got int"):
        so.link(release, 3)
