"""Releases as dicts, for comparison with the slow twins."""


def histories(release):
    """{person: {item: value}}."""
    return {
        record.id: {entry.item: entry.value for entry in record.entries}
        for record in map(release.record_at, range(release.n_records))
    }


def held_out_values(holdout, release):
    """{person: {held-out item: value}}."""
    questions = {}
    for person, item, value in zip(holdout.person, holdout.item, holdout.value, strict=True):
        record = release.records[holdout.people[person]]
        questions.setdefault(record, {})[release.items[item]] = float(value)
    return questions
