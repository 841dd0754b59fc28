"""The few pictures the whole course uses, one call each.

Every figure is shown as an HTML image that carries its alt text, for readers who cannot see it; unless a lesson
gives that text, it is derived from what is drawn. White means zero and blue means positive; rows are queries
("who looks"), columns are keys ("at whom"); each word of the course's sentence has one colour in every chart.
Arrays may be NumPy arrays, nested lists or torch tensors. Nothing here touches pyplot or changes `rcParams`.

`core` shows a figure; the other modules draw, one per kind of picture.
"""

from .charts import arrows, bars, lines
from .core import show
from .flow import attention_flow
from .heads import features_in_colour
from .matrices import KINDS, heatmap, heatmaps
from .scaling import spread_and_rows, weight_rows
from .split_and_merge import head_shapes
from .training import spread_lines

__all__ = [
    "KINDS",
    "arrows",
    "attention_flow",
    "bars",
    "features_in_colour",
    "head_shapes",
    "heatmap",
    "heatmaps",
    "lines",
    "show",
    "spread_and_rows",
    "spread_lines",
    "weight_rows",
]
