"""Sizes of a case that are the sum or the product of two others: then a report may take one shape for another.

Two axes laid one after the other give a sum, and two folded into one a product. Sums are looked at among axes of one
kind only: nobody lays features behind positions, or heads behind sentences.
"""

import itertools

import pytest

from helpers.course import LESSONS
from helpers.feedback.registry import get

CASES = [(info.id, case) for lesson in LESSONS for info in lesson.exercises for case in get(info.id).cases]
POSITIONS = {"T", "T_q", "T_k", "n", "N", "max_len", "n_new", "window", "tile"}
FEATURES = {"d", "d_k", "d_v", "d_q", "m", "d_model"}

# Sizes that are made of others, and what a case must have for its own sake.
MADE_OF_OTHERS = {"d_model": {"h", "d_k"}, "T + n_new": {"T", "n_new"}}
MEANT = {
    # The two sides of one matrix: nothing has both on one axis but a pair of query and key, and that has three axes.
    ("2.4", "five queries, seven keys"): {("T_k", "d", "m")},
    ("2.5", "queries wider than keys"): {("T_k", "d_q", "d_k")},
    ("4.4", "three heads, float64, dropout"): {("3·d_model", "h", "d_model")},  # 3 matrices, and 3 heads to tell from one
}


def kind_of(name):
    return "positions" if name in POSITIONS else "features" if name in FEATURES else name


def collisions(dims):
    """(size, one, other) for each size that is the sum or the product of two others, all larger than 1."""
    sizes = {name: size for name, size in dims.items() if isinstance(size, int) and size > 1}
    made = {tuple(sorted(sizes.get(part, 1) for part in parts)) for name, parts in MADE_OF_OTHERS.items() if name in dims}
    for name, size in sizes.items():
        for one, other in itertools.combinations([n for n in sizes if n != name], 2):
            by_definition = MADE_OF_OTHERS.get(name) == {one, other}
            same_sizes = name in MADE_OF_OTHERS and tuple(sorted((sizes[one], sizes[other]))) in made  # B = h, say
            summed = kind_of(one) == kind_of(other) and sizes[one] + sizes[other] == size
            if (summed or sizes[one] * sizes[other] == size) and not by_definition and not same_sizes:
                yield name, one, other


@pytest.mark.parametrize(("id", "case"), CASES, ids=[f"{id}-{case.name}" for id, case in CASES])
def test_no_size_is_the_sum_or_the_product_of_two_others(id, case):
    assert set(collisions(case.dims)) == MEANT.get((id, case.name), set()), case.dims


def test_collisions_are_found_and_sizes_made_of_others_are_none():
    assert list(collisions({"T_q": 5, "T_k": 7, "d_model": 12, "h": 2, "d_k": 6})) == [("d_model", "T_q", "T_k")]
    assert list(collisions({"B": 3, "h": 2, "d_model": 12, "d_k": 6})) == [("d_k", "B", "h")]
    assert not list(collisions({"B": 2, "h": 2, "d_model": 12, "d_k": 6, "T": 5, "d_v": 1}))


def test_every_exception_is_a_case():
    assert set(MEANT) <= {(id, case.name) for id, case in CASES}
