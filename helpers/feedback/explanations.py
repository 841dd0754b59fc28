"""What an explanation of a wrong answer holds, and how known mistakes are told in it."""

from dataclasses import dataclass

from .exercise import Finding
from .messages import continued, filled, joined

SAME_NUMBERS = "The same numbers come out with this mistake: "


@dataclass(frozen=True)
class Explanation:
    """What is wrong with an answer.

    kind: which kind of knowledge it is: "known", "same numbers", "formula", "one change", "several changes",
    "one step more", "changed input".
    headline: the first sentence. points: what the headline counts. findings: what was found, by name.
    more: sentences beneath.
    """

    kind: str
    headline: str
    points: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    more: tuple[str, ...] = ()


def message_of_mistake(search, id):
    """A known mistake's message, its sizes those of the first wrong case."""
    return filled(search.twins.mistakes[id].message, search.exercise.cases[search.order[0]])


def _ordered(search, ids):
    return [id for id in search.twins.mistakes if id in ids]


def messages(search, sets):
    """The different ways to tell sets of mistakes, each a tuple of messages."""
    return list(dict.fromkeys(tuple(message_of_mistake(search, id) for id in _ordered(search, ids)) for ids in sets))


def findings_of(search, sets):
    """The Findings of all mistakes in some sets, in the catalogue's order."""
    ids = {id for ids in sets for id in ids}
    return tuple(Finding(id, message_of_mistake(search, id)) for id in _ordered(search, ids))


def named(search, sets, seen=True):
    """The Explanation that known mistakes give. seen: the source bears them out."""
    ways = messages(search, sets)
    findings = findings_of(search, sets)
    kind = "known" if seen else "same numbers"
    if len(ways) > 1:
        points = tuple(joined(messages) for messages in ways)
        return Explanation(kind, "any one of these gives exactly your result:", points=points, findings=findings)
    if len(ways[0]) > 1:
        count = {2: "two", 3: "three"}[len(ways[0])]
        told = f"{count} things together give exactly your result."
        told = told if seen else f"the same numbers come out with {count} mistakes together."
        return Explanation(kind, told, points=ways[0], findings=findings)
    headline = ways[0][0] if seen else f"{SAME_NUMBERS}{ways[0][0]}"
    return Explanation(kind, continued(headline), findings=findings)


def same_numbers(clause, id):
    """The Explanation that a change of whole values gives. clause: what follows "if"."""
    text = f"The same numbers come out if {clause}."
    return Explanation("same numbers", text, findings=(Finding(id, text),))


def in_so_many(count, wrong, same="the same numbers come out"):
    """How a mistake begins that explains a part of the wrong cases."""
    return f"In {count} of the {wrong} wrong cases {same} with this mistake: "


def partly(search):
    """What explains every wrong case, or a third of them: (sentence, how many of the wrong cases), or None."""
    first, wrong = search.order[0], search.wrong
    for size in range(1, min(2, search.exercise.max_mistakes) + 1):
        found = [ids for ids in search.twins.sets(size) if search.differs(ids, first) and search.fits(ids, first)]
        counts = {ids: sum(search.fits(ids, i) for i in wrong) for ids in found}
        most = max(counts.values(), default=0)
        best = [ids for ids in found if counts[ids] == most]
        cases = range(len(search.outcomes))
        everywhere = [sum(search.fits(ids, i) for i in cases) for ids in best]
        best = [ids for ids, n in zip(best, everywhere, strict=True) if most == len(wrong) or 3 * n >= len(cases)]
        # Who is right in most cases where a mistake would do harm has hardly made it.
        right = [i for i in cases if i not in wrong]
        spared = max(most, len(right) // 2)
        best = [ids for ids in best if sum(not search.fits(ids, i) for i in right) <= spared]
        ways = messages(search, best)
        if 3 * most < len(wrong) or not best or len(ways) > 2:
            continue
        told = " Or: ".join(joined(messages) for messages in ways)
        same = "the same error comes up" if search.answer.stopped(first) else "the same numbers come out"
        if most == len(wrong):
            where = "In every wrong case" if len(wrong) > 1 else "In the wrong case"
            return f"{where} {same} with this mistake: {told}", most
        return f"{in_so_many(most, len(wrong), same)}{told}", most
    return None
