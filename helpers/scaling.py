"""Lesson 03: what the scale √d_k is for, in NumPy. The training runs are in `scaling_training`."""

import numpy as np

from .numpy_attention import softmax


def sample_dot_products(n, d_k, rng):
    """Dot products q · k of n pairs of independent random vectors.

    n: number of pairs. d_k: features per vector, each standard normal.
    rng: numpy Generator. Returns an array (n,), float64 or float32.
    """
    queries = rng.standard_normal((n, d_k))  # (n, d_k)
    keys = rng.standard_normal((n, d_k))  # (n, d_k)
    products = queries * keys  # (n, d_k)
    return np.sum(products, axis=-1)  # (n,)


def entropy(weights):
    """Entropy of each row, in nats: the weighted mean of -log(weight).

    weights: (..., n), not negative, each row sums to 1; left unchanged.
    Returns (...), one number per row. A weight of 0 adds nothing.
    """
    safe = np.where(weights > 0, weights, 1.0)  # log 1 = 0, so a weight of 0 adds 0
    logs = np.log(safe)  # (..., n)
    terms = weights * logs  # (..., n)
    return -np.sum(terms, axis=-1)  # (...)


def softmax_jacobian(p):
    """Derivative of every weight with respect to every score of its row.

    p: (..., n), the weights that softmax gave; some may be 0.
    Returns (..., n, n): row i, column j is ∂p_i / ∂score_j.
    """
    n = p.shape[-1]
    identity = np.eye(n, dtype=p.dtype)  # (n, n)
    diagonal = p[..., :, None] * identity  # (..., n, n)
    outer = p[..., :, None] * p[..., None, :]  # (..., n, n)
    return diagonal - outer  # (..., n, n)


def softmax_backward(weights, d_weights):
    """Gradient of a loss with respect to the scores, without the Jacobian.

    weights: (..., n), the weights that softmax gave; some may be 0.
    d_weights: (..., n), the loss's gradient with respect to them.
    Returns d_scores (..., n): each row's Jacobian times its d_weights.
    """
    products = weights * d_weights  # (..., n)
    mean = np.sum(products, axis=-1, keepdims=True)  # (..., 1): the mean gradient under the weights
    centred = d_weights - mean  # (..., n)
    return weights * centred  # (..., n)


def random_weights(d_k, power, rng, n_sets=20, n_queries=20, n_keys=64):
    """Attention weights of random queries over random keys, the scores divided by d_k ** power.

    d_k: features per vector, each standard normal. power: 0 for no scale, 0.5 for √d_k, 1 for d_k.
    rng: numpy Generator.
    Returns (n_sets, n_queries, n_keys): each set draws keys of its own.
    """
    Q = rng.standard_normal((n_sets, n_queries, d_k))  # (n_sets, n_queries, d_k)
    K = rng.standard_normal((n_sets, n_keys, d_k))  # (n_sets, n_keys, d_k)
    scores = np.einsum("sqd,skd->sqk", Q, K)  # (n_sets, n_queries, n_keys)
    return softmax(scores / d_k**power)
