"""The command that an error shows works when it is run."""

import re
import shlex

import pytest


def retail(rows=3000):
    """A file like UCI's Online Retail: Windows-1252, US dates with times, rows without a customer."""
    lines = ["InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n"]
    for i in range(rows):
        customer = "" if i % 4 == 0 else 17000 + i % 50
        day = 1 if i < rows - 5 else 13
        lines.append(f"{i},{i % 300},CUP “{i % 9}” £1,6,12/{day}/2010 8:{i % 60:02},2.55,{customer},United Kingdom\n")
    return "".join(lines).encode("cp1252")


def next_commands(outcome):
    return [shlex.split(command)[1:] for command in re.findall(r"`(standout .*?)`", outcome.err)]


IGNORED = [
    part for name in ("InvoiceNo", "Description", "UnitPrice", "Country") for part in ("--read", f"ignore={name}")
]


def test_online_retail_works_at_the_second_try(run, tmp_path):
    path = tmp_path / "Online Retail.csv"
    path.write_bytes(retail())
    first = run("describe", path, *IGNORED)
    assert first.code == 1 and "750 × no record id (line 2, 6, 10, 14, 18, …)" in first.err
    assert "encoding Windows-1252" in first.err and "time format %m/%d/%Y %H:%M" in first.err
    (command,) = next_commands(first)
    assert command == ["describe", str(path), *IGNORED, "--read", "max_rejects=750"]
    second = run(*command)
    assert second.code == 0 and "Windows-1252" in second.read and "750 rejected" in second.read
    assert "time = InvoiceDate (%m/%d/%Y %H:%M, 2010-12-01 to 2010-12-13)" in second.read


def test_every_problem_is_in_the_first_error(run, tmp_path):
    path = tmp_path / "a.csv"
    rows = b"".join(b"u%d,x,3/4/2005\n" % i for i in range(20))
    path.write_bytes("user,item,date\né,x,4/3/2005\n".encode() + b"\xff,x,3/4/2005\n,x,3/4/2005\n" + rows)
    first = run("describe", path)
    for part in ("line 3 is not UTF-8", "1 × no record id (line 4)", "22 × time fits several patterns"):
        assert part in first.err
    commands = next_commands(first)
    assert len(commands) == 2
    for command, pattern in zip(commands, ("%d/%m/%Y", "%m/%d/%Y"), strict=True):
        wanted = ["--read", "encoding=latin-1", "--read", f"time_format={pattern}", "--read", "max_rejects=1"]
        assert command == ["describe", str(path), *wanted]
        assert run(*command).code == 0


@pytest.mark.once
def test_options_of_a_second_source_have_its_prefix(run, tmp_path):
    good, bad = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text("user,item\n" + "".join(f"u{i},x{i % 3}\n" for i in range(9)))
    bad.write_text(good.read_text() + ",x1\n")
    (command,) = next_commands(run("link", good, bad))
    assert command[-2:] == ["--public-read", "max_rejects=1"]


def test_the_last_of_two_equal_options_counts(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,item\na,x\n,x\n,x\n")
    (command,) = next_commands(run("describe", path, "--read", "max_rejects=1"))
    assert command[-4:] == ["--read", "max_rejects=1", "--read", "max_rejects=2"] and run(*command).code == 0
