"""Likely causes of a wrong answer that nothing explains: each sentence is a fact, and none claims to be all of it."""

from dataclasses import replace

from . import conditions, partial_change, parting
from .remarks import missing_in, remarks_on


def likely(search):
    """Facts of the source, what explains or mends a part, and the first value that differs; most telling first."""
    remarks = remarks_on(search.answer)
    sure = [remark.sentence for remark in remarks if remark.certain]
    part = search.partly
    some = _change_of_some(search) if part is None else []
    maybe = _suspicions(search, [remark for remark in remarks if not remark.certain])[:1]
    whole = [part[0]] if part and part[1] == len(search.wrong) else []
    rest = [part[0]] if part and not whole else []
    roads = (parting.find(search.answer) or conditions.find(search.answer)) if not whole else None
    said = [*sure[:2], *whole, *some, *rest, *_first_difference(search), *([roads] if roads else [])]
    stopped = search.answer.stopped(search.order[0])  # which need not come of anything that is missing
    missing = [] if said or stopped else missing_in(search.answer)[:1]
    return [*said, *([] if sure or whole or some else maybe), *missing]


def _change_of_some(search):
    found = partial_change.find(search)
    return [search.told(found)] if found else []


def _suspicions(search, remarks):
    """Remarks on lines where the first value that differs says the mistake may be; all where it says nothing."""
    difference = search.difference
    if difference is None:
        return [remark.sentence for remark in remarks]
    if difference.relation or difference.complete or difference.misnamed or difference.step:
        return []
    first, last = difference.lines_in_doubt
    return [remark.sentence for remark in remarks if first <= remark.line <= last]


def _first_difference(search):
    difference = search.difference
    if difference is None:
        return []
    told = search.answer.problems[search.order[0]].text  # of the same entry, where the value is a result
    numbers = difference.pair.partition("]` ")[2]
    difference = replace(difference, pair="") if numbers and numbers in told else difference
    return [search.told(difference)]
