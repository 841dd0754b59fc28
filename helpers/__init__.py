"""What the lessons import: exercises and their feedback, and the course's few pictures."""

from . import plots
from .feedback.compare import compare
from .feedback.decorator import exercise
from .feedback.judging import check
from .feedback.prediction import predict, reveal
from .feedback.progress import progress

__all__ = ["check", "compare", "exercise", "plots", "predict", "progress", "reveal"]
