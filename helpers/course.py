"""The course at a glance: lessons, exercises and predictions by name, without loading what judges them."""
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ExerciseInfo:
    """An exercise's number, title, difficulty (1 to 3), minutes, and the function or class that it asks for."""

    id: str
    title: str
    level: int
    minutes: int
    name: str

    @property
    def stars(self):
        return "★" * self.level + "☆" * (3 - self.level)


@dataclass(frozen=True)
class Lesson:
    """A lesson: "02", title, file name without ending, question, minutes, what is built, and what it asks."""

    number: str
    title: str
    slug: str
    question: str
    minutes: int
    builds: str
    exercises: tuple[ExerciseInfo, ...]
    predictions: tuple[str, ...] = ()


LESSONS = (
    Lesson(
        "00", "Start here", "00_start_here", "Does everything work, and how does an exercise answer?", 15,
        "a weighted average",
        (ExerciseInfo("0.1", "A weighted average", 1, 3, "weighted_average"),),
        ("doubled-weights",),
    ),
    Lesson(
        "01", "Query, key, value", "01_query_key_value", "How can a lookup answer when no key matches exactly?", 55,
        "a soft lookup, projections, scores for all pairs",
        (
            ExerciseInfo("1.1", "Similarities", 1, 4, "similarities"),
            ExerciseInfo("1.2", "A soft lookup", 2, 8, "soft_lookup"),
            ExerciseInfo("1.3", "Three projections", 1, 4, "project"),
            ExerciseInfo("1.4", "All pairs at once", 2, 6, "dot_product_scores"),
            ExerciseInfo("1.5", "Design your own", 3, 12, "design_projections"),
        ),
        (
            "longer-arrow", "sharpness-zero", "sharpness-large", "score-both-ways", "other-values",
            "who-does-is-find", "rnn-influence",
        ),
    ),
    Lesson(
        "02", "Attention in NumPy", "02_numpy_attention", "Does the whole of attention fit into a dozen lines?", 65,
        "softmax, scaled dot-product attention, self-attention, two other scores",
        (
            ExerciseInfo("2.1", "Softmax", 1, 6, "softmax"),
            ExerciseInfo("2.2", "Attention", 2, 12, "scaled_dot_product_attention"),
            ExerciseInfo("2.3", "Self-attention", 1, 5, "self_attention"),
            ExerciseInfo("2.4", "Additive scores", 2, 8, "additive_scores"),
            ExerciseInfo("2.5", "General scores", 1, 3, "general_scores"),
            ExerciseInfo("2.6", "Debug clinic", 2, 8, "debugged_attention"),
        ),
        ("exp-of-1000", "blocked-score-zero", "shuffle-keys-and-values", "general-is-dot"),
    ),
    Lesson(
        "03", "Why divide by √d_k", "03_why_scale", "What breaks if you leave it out, and is that really why?", 55,
        "spread and entropy measured, softmax's gradient",
        (
            ExerciseInfo("3.1", "Sample dot products", 1, 4, "sample_dot_products"),
            ExerciseInfo("3.2", "Entropy", 1, 5, "entropy"),
            ExerciseInfo("3.3", "The softmax Jacobian", 2, 10, "softmax_jacobian"),
            ExerciseInfo("3.4", "Backwards without the Jacobian", 3, 12, "softmax_backward"),
        ),
        (
            "spread-at-64", "largest-at-1024", "silent-at-1024", "largest-first-loss", "larger-rate",
            "unscaled-on-scores",
        ),
    ),
    Lesson(
        "04", "Many heads", "04_multi_head", "One word needs two things at once. Can one softmax row deliver both?", 60,
        "multi-head attention, equal to PyTorch's",
        (
            ExerciseInfo("4.1", "Split into heads", 1, 4, "split_heads"),
            ExerciseInfo("4.2", "Merge the heads", 1, 4, "merge_heads"),
            ExerciseInfo("4.3", "Multi-head attention", 3, 20, "MultiHeadAttention"),
            ExerciseInfo("4.4", "Weights from PyTorch", 2, 8, "from_torch"),
        ),
        (
            "view-without-transpose", "weight-of-on", "one-head-loss", "forgotten-tilde",
            "parameters-of-eight-heads", "mask-without-head-axis",
        ),
    ),
    Lesson(
        "05", "Masks", "05_masks", "How do you know your model is not peeking?", 65,
        "causal and padding masks, a leak test, a safe softmax, cross-attention",
        (
            ExerciseInfo("5.1", "Prefix mean", 1, 4, "prefix_mean"),
            ExerciseInfo("5.2", "The causal mask", 1, 4, "causal_mask"),
            ExerciseInfo("5.3", "A test for leaks", 2, 10, "leaks_future"),
            ExerciseInfo("5.4", "The padding mask", 1, 4, "padding_mask"),
            ExerciseInfo("5.5", "Combine masks", 1, 3, "combine_masks"),
            ExerciseInfo("5.6", "A safe softmax", 2, 8, "masked_softmax"),
            ExerciseInfo("5.7", "Cross-attention", 2, 10, "CrossAttention"),
        ),
        (
            "scores-of-zero", "seven-passes", "batch-norm-leaks", "coin-after-softmax",
            "padding-content", "empty-row", "cross-causal", "one-query-is-causal",
        ),
    ),
    Lesson(
        "06", "Positions", "06_positions", "Attention sees a bag of words. Where does order come from?", 75,
        "sinusoids, shifts as rotations, RoPE, ALiBi",
        (
            ExerciseInfo("6.1", "Equivariance", 1, 5, "is_permutation_equivariant"),
            ExerciseInfo("6.2", "Sinusoidal encoding", 2, 8, "sinusoidal_positional_encoding"),
            ExerciseInfo("6.3", "A shift is a rotation", 3, 12, "shift_matrix"),
            ExerciseInfo("6.4", "RoPE", 2, 10, "rope"),
            ExerciseInfo("6.5", "ALiBi", 2, 6, "alibi_bias"),
            ExerciseInfo("6.6", "Words and positions", 1, 4, "embed"),
            ExerciseInfo("6.7", "Attention with RoPE", 2, 6, "rope_attention"),
        ),
        (
            "shuffled-sentence", "slowest-hand", "shift-matrices", "both-moved", "who-cannot-point",
            "points-at-256", "recent-at-256",
        ),
    ),
    Lesson(
        "07", "What n² costs", "07_quadratic_cost", "Twice as long: how much does it cost?", 60,
        "FLOPs and bytes counted, exponents fitted to measurements",
        (
            ExerciseInfo("7.1", "FLOPs of attention", 1, 4, "attention_flops"),
            ExerciseInfo("7.2", "FLOPs of the projections", 1, 3, "projection_flops"),
            ExerciseInfo("7.3", "Where they cross", 2, 6, "crossover_length"),
            ExerciseInfo("7.4", "Bytes of the scores", 1, 4, "score_matrix_bytes"),
            ExerciseInfo("7.5", "Fit an exponent", 2, 8, "fit_exponent"),
        ),
        ("bert-share-512", "book-gigabytes", "exponent-of-all", "deaf-layer", "fused-memory"),
    ),
    Lesson(
        "08", "Beyond n²", "08_beyond_n_squared", "Which part of n² can you get rid of, and what do you pay?", 80,
        "attention in tiles, windows, linear attention, a cache, grouped queries",
        (
            ExerciseInfo("8.1", "Merge two parts", 2, 8, "merge"),
            ExerciseInfo("8.2", "Attention in tiles", 3, 15, "tiled_attention"),
            ExerciseInfo("8.3", "A window", 1, 4, "window_mask"),
            ExerciseInfo("8.4", "Linear attention", 2, 8, "linear_attention"),
            ExerciseInfo("8.5", "Attend with a cache", 3, 12, "attend_with_cache"),
            ExerciseInfo("8.6", "Grouped queries", 2, 8, "grouped_query_attention"),
            ExerciseInfo("8.7", "Bytes of a cache", 1, 3, "cache_bytes"),
            ExerciseInfo("8.8", "How far a stack hears", 1, 3, "reach"),
        ),
        ("tiles-in-training", "two-windows", "linear-recall", "keys-without-cache", "smaller-cache"),
    ),
    Lesson(
        "09", "A tiny GPT", "09_tiny_gpt", "What does a language model need besides attention?", 90,
        "a block, a language model that is trained and writes, two heads that copy",
        (
            ExerciseInfo("9.1", "Layer norm", 1, 5, "layer_norm"),
            ExerciseInfo("9.2", "A block", 2, 12, "Block"),
            ExerciseInfo("9.3", "A tiny GPT", 3, 15, "TinyGPT"),
            ExerciseInfo("9.4", "The loss", 2, 8, "next_token_loss"),
            ExerciseInfo("9.5", "Probabilities to draw from", 2, 8, "next_token_probabilities"),
            ExerciseInfo("9.6", "Write on", 2, 8, "generate"),
        ),
        (
            "rows-after-twelve", "feed-forward-share", "untrained-loss", "too-good", "how-far", "most-real-words",
            "blind-part",
        ),
    ),
    Lesson(
        "10", "A real encoder", "10_real_encoder", "Does a trained model do what we designed by hand in lesson 01?", 75,
        "BERT's attention, a test of its heads, mean pooling, a search over the course",
        (
            ExerciseInfo("10.1", "BERT's self-attention", 3, 15, "bert_self_attention"),
            ExerciseInfo("10.2", "Who finds the subject?", 1, 5, "agreement_share"),
            ExerciseInfo("10.3", "Mean pooling", 1, 5, "mean_pool"),
            ExerciseInfo("10.4", "Search", 2, 8, "search"),
        ),
        ("most-numbers", "key-bias", "shuffled-labels", "wrong-verb", "head-removed", "longer-vector"),
    ),
)

# What variables of the course's own code are called in a sentence; an exercise's `words` come before these.
VOCABULARY = {
    "Q": "the queries", "K": "the keys", "V": "the values", "scores": "the scores", "weights": "the weights",
    "out": "the output", "exps": "the exponentials", "highest": "the largest of each row", "logs": "the logarithms",
    "diagonal": "the diagonal part", "outer": "the outer product", "total": "the total", "value": "the value",
    "positions": "the positions", "angles": "the angles", "frequencies": "the frequencies", "slopes": "the slopes",
    "encoding": "the encoding", "distance": "the distances", "d_k": "the width of queries and keys",
    "allowed": "who may look at whom", "mask": "the mask", "heads": "the heads", "hidden": "the hidden units",
    "before": "the output before the change", "after": "the output after the change", "means": "the means",
    "W_q": "W_q", "W_k": "W_k", "W_v": "W_v", "W_o": "W_o",
}  # fmt: skip


def lesson_of(exercise_id):
    """The Lesson that an exercise belongs to."""
    return next(lesson for lesson in LESSONS if any(info.id == exercise_id for info in lesson.exercises))


def title_of(exercise_id):
    """An exercise's title, or "" for a number that the table does not hold."""
    infos = (info for lesson in LESSONS for info in lesson.exercises)
    return next((info.title for info in infos if info.id == exercise_id), "")


def course_folder():
    """The folder that holds notebooks/, solutions/ and helpers/."""
    return Path(__file__).resolve().parents[1]
