"""`standout verify`: damage is found and named."""

import json

from command_line import file_names, undocumented

import standout as so


def test_verify_names_a_damaged_file_and_exits_with_1(run, tmp_path):
    index = tmp_path / "index"
    so.save(so.synthesize(records=9, items=5, entries=20, seed=1), index)
    content = json.loads(run("verify", index, "--json").out)
    assert content["damaged"] == [] and content["files"] == len(file_names(index))
    assert undocumented("verify", content) == []
    file = index / "by-record-value.bin"
    file.write_bytes(file.read_bytes()[:-1] + b"\x09")
    outcome = run("verify", index)
    assert outcome.code == 1 and "damaged: by-record-value.bin" in outcome.out
    outcome = run("verify", index, "--json")
    assert outcome.code == 1 and json.loads(outcome.out)["damaged"] == ["by-record-value.bin"]
