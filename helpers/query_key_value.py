"""Lesson 01: a lookup that answers even when no key matches exactly.

The functions are the ones the lesson's solution cells show; the running example of the whole course is here too.
"""

import numpy as np

words = ("the", "books", "on", "the", "shelf", "are", "old")

# Four readable features per word: noun, verb, adjective, number (+1 plural, -1 singular, 0 none).
features = {
    "the": (0, 0, 0, 0),
    "books": (1, 0, 0, 1),
    "on": (0, 0, 0, 0),
    "shelf": (1, 0, 0, -1),
    "are": (0, 1, 0, 1),
    "is": (0, 1, 0, -1),
    "old": (0, 0, 1, 0),
}


def embed(words):
    """Stack the feature vectors of some words.

    words: sequence of T strings, each one of `features`. Returns X (T, 4), float64.
    Raises KeyError for a word without features.
    """
    return np.array([features[word] for word in words], dtype=float)  # (T, 4)


def similarities(query, keys):
    """Dot product of one query with every key.

    query: (d,). keys: (n, d). Both may hold whole numbers.
    Returns an array (n,).
    """
    return keys @ query  # (n,)


def soft_lookup(query, keys, values, sharpness=1.0):
    """Average of the values, weighted by how well each key fits the query.

    query: (d,). keys: (n, d). values: (n, d_v). All may hold whole numbers.
    sharpness: a number, 0 for a plain average.
    Returns value (d_v,) and weights (n,), which sum to 1.
    No weight is negative; one too small for a float comes out as 0.
    """
    scores = sharpness * similarities(query, keys)  # (n,)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = weights @ values  # (d_v,)
    return value, weights


def project(X, W_q, W_k, W_v):
    """Three views of the same words: what they ask, are found by, and give.

    X: (T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    All may hold whole numbers. Returns Q (T, d_k), K (T, d_k), V (T, d_v).
    """
    Q = X @ W_q  # (T, d_k)
    K = X @ W_k  # (T, d_k)
    V = X @ W_v  # (T, d_v)
    return Q, K, V


def dot_product_scores(Q, K):
    """Dot product of every query with every key.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). Both may hold whole numbers.
    Returns (..., T_q, T_k): row i belongs to query i.
    """
    return Q @ np.swapaxes(K, -1, -2)  # (..., T_q, T_k)


def design_projections():
    """Projections with which *are* and *old* look for the plural noun.

    Returns W_q, W_k, each (4, d_k) for the four features noun, verb,
    adjective, number, such that softmax(q · k) over the seven words of the
    running example gives *books* at least 0.8 of the weight of *are* and
    of *old*.
    """
    asks = 5.0
    W_q = asks * np.array([[0, 0], [1, 1], [1, 1], [0, 0]])  # (4, 2): verbs, adjectives
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])  # (4, 2): noun, number
    return W_q, W_k


def tanh_rnn_influence(lengths, gain, input_size, rng, width=32):
    """How strongly the first word still moves the last state of a random tanh RNN.

    lengths: increasing numbers of words. gain: by how much the recurrent matrix (width, width) lengthens a state
    on average, before the tanh. input_size: standard deviation of the inputs. rng: numpy Generator.
    Returns (len(lengths),): the largest singular value of d h_n / d h_1 at each length n, a chain of Jacobians
    (Pascanu, Mikolov and Bengio 2013).
    """
    W = gain * rng.normal(size=(width, width)) / np.sqrt(width)
    h = np.tanh(input_size * rng.normal(size=width))
    jacobian, norms = np.eye(width), {1: 1.0}
    for n in range(2, max(lengths) + 1):
        h = np.tanh(W @ h + input_size * rng.normal(size=width))
        jacobian = (1 - h**2)[:, None] * W @ jacobian  # (width, width)
        norms[n] = np.linalg.norm(jacobian, 2)
    return np.array([norms[n] for n in lengths])


def cnn_layers(n, width, dilated=False):
    """Layers that a causal CNN needs before the last of n words sees the first.

    n: number of words. width: kernel width k >= 2. Contiguous kernels need ceil((n - 1) / (k - 1)) layers;
    with dilation k**layer the field of view grows by a factor k a layer.
    """
    if not dilated:
        return -(-(n - 1) // (width - 1))
    layers, seen = 0, 1
    while seen < n:
        layers, seen = layers + 1, seen * width
    return layers
