"""The smallest input that still fails in the same way."""

import json

from tests.fuzzing.case import Case

__all__ = ["minimised"]

MOST_TRIALS = 400


def minimised(case, fails):
    """Remove parts of the files and options while `fails(case)` holds."""
    trials = iter(range(MOST_TRIALS))

    def still_fails(smaller):
        return next(trials, None) is not None and fails(smaller)

    for name in list(case.files):
        case = _without_file(case, name, still_fails)
    for name in case.files:
        case = _shorter_file(case, name, still_fails)
    return _fewer_options(case, still_fails)


def _without_file(case, name, fails):
    smaller = Case({key: content for key, content in case.files.items() if key != name}, case.options)
    return smaller if len(case.files) > 1 and fails(smaller) else case


def _shorter_file(case, name, fails):
    """Remove ever smaller pieces (delta debugging)."""
    content = case.files[name]
    size = len(content) // 2
    while size:
        at = 0
        while at < len(content):
            shorter = content[:at] + content[at + size :]
            if fails(Case({**case.files, name: shorter}, case.options)):
                content = shorter
            else:
                at += size
        size //= 2
    return Case({**case.files, name: content}, case.options)


def _fewer_options(case, fails):
    """Remove entries of lists and of mappings among the options."""
    for key, option in list(case.options.items()):
        if isinstance(option, (list, dict)):
            for name in reversed(range(len(option)) if isinstance(option, list) else list(option)):
                smaller = json.loads(json.dumps(case.options))
                del smaller[key][name]
                if fails(Case(case.files, smaller)):
                    case = Case(case.files, smaller)
    return case
