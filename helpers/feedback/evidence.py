"""Whether a learner's source bears out what a message says: "you did X" is said only where X can be seen.

A patch takes some words of the reference away and brings others in. Where the answer's own source holds the words
that came in, or lacks those that went, the message may speak of what the learner did. Elsewhere the report says no
more than that the same numbers come out.
"""

import ast
import functools
import re
from collections import Counter

_WORDS = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e-?\d+)?|\*\*|//|==|!=|<=|>=|[-+*/@~^<>%]")
_MODULES = {"np", "torch", "self", "F", "nn"}
_TELLS_NOTHING = frozenset(
    "np torch self return if else for in not is None pass axis dim and or keepdims keepdim".split()
)


def words(text):
    """The words, numbers and operators of a piece of code; a number is the same however it is written."""
    return {f"{float(word):g}" if word[0].isdigit() else word for word in _WORDS.findall(text)}


def attributes(text):
    """Attributes with a capital, such as W_v in `self.W_v`, that a line speaks of."""
    return set(re.findall(r"\.([A-Z]\w+)", text.partition("#")[0]))


@functools.cache
def _local_names(source):
    """Names that a piece of source gives values to: a learner may call them anything."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return frozenset()
    return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def borne_out(mistake, reference_source, source):
    """Whether the answer's source shows what a known mistake speaks of. source: None where it cannot be read."""
    if source is None:
        return False
    came, went, there = _came_and_went(mistake, reference_source, source)
    if came:
        return 2 * len(came & there) >= len(came)
    return bool(went) and 2 * len(went - there) >= len(went) or not went


def only_missing(mistake, reference_source, source):
    """Whether all that the source shows of a mistake is that something is not in it: another way may do the same."""
    came, went, _ = _came_and_went(mistake, reference_source, source)
    return not came and bool(went)


def plainly_seen(mistake, reference_source, source):
    """The same, with everything that came in there, and nothing that went; for mistakes that stand beside others."""
    if source is None:
        return False
    came, went, there = _came_and_went(mistake, reference_source, source)
    came -= words(_code_only(reference_source))
    # A name that went is still there; an operator that went may well stand elsewhere.
    gone = {word for word in _gone(*_sides(mistake, reference_source)) if word[0].isalpha()} - _MODULES
    return came <= there if came else not gone & there


def brought_in(mistake, reference_source, before, after):
    """Whether a change of an answer's source takes away what a mistake lacks: then it brings that mistake in."""
    went = _gone(*_sides(mistake, reference_source))
    return bool(went & _gone(_code_only(before), _code_only(after)))


def _gone(old, new):
    """The words that a text loses, each counted as often as it stands."""
    return set(Counter(_WORDS.findall(old)) - Counter(_WORDS.findall(new)))


def _sides(mistake, reference_source):
    """What a mistake takes away, and what it brings in its place."""
    if mistake.source is not None:
        return reference_source, mistake.source
    return tuple(" ".join(patch[side] for patch in mistake.patches) for side in (0, 1))


def _came_and_went(mistake, reference_source, source):
    """Words that a mistake brings into the reference, words that it takes away, and the words of an answer."""
    old, new = _sides(mistake, reference_source)
    ignored = _TELLS_NOTHING | _local_names(reference_source) | _local_names(mistake.source or "")
    return words(new) - words(old) - ignored, words(old) - words(new) - ignored, words(_code_only(source))


@functools.cache
def _code_only(source):
    """A source without comments and docstrings."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
