"""Wrong answers of our own invention, written while playing a learner who makes mistakes, with what is said to each now.

None was taken from the catalogue or from a list. Those in UNSEEN came last, to see how reports help where nothing was
prepared; nothing but 1.3 was added to the catalogue for them.
"""

import re


def _read(text):
    """(name, exercise, names the report must find, a phrase it must hold, source) of each attempt in a text.

    A head line is `# exercise name -> mistake, mistake` or `# exercise name -> "phrase"`; the source follows.
    """
    for head, source in re.findall(r"^# (.+)\n((?:(?!# ).*\n)+)", text, flags=re.M):
        exercise_and_name, _, said = head.partition(" -> ")
        exercise_id, name = exercise_and_name.split()
        phrase = said[1:-1] if said.startswith('"') else ""
        yield name, exercise_id, () if phrase else tuple(said.split(", ")), phrase, source


def _edited(source, edits):
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


LESSON_00 = r"""
# 0.1 printed-not-returned -> "Nothing was returned: is the return line missing"
def weighted_average(values, weights):
    print(np.sum(weights * values) / np.sum(weights))
# 0.1 average-weights-as-axis -> average-with-axis
def weighted_average(values, weights):
    return np.average(values, weights)
# 0.1 mean-with-weights -> mean-with-weights
def weighted_average(values, weights):
    return np.mean(values, weights=weights)
# 0.1 return-inside-loop -> return-inside-loop
def weighted_average(values, weights):
    total = 0
    for v, w in zip(values, weights):
        total += v * w
        return total / np.sum(weights)
# 0.1 last-one-forgotten -> last-value-left-out
def weighted_average(values, weights):
    total = 0
    for i in range(len(values) - 1):
        total += values[i] * weights[i]
    return total / np.sum(weights)
# 0.1 overwritten-not-added -> overwritten-not-added
def weighted_average(values, weights):
    for v, w in zip(values, weights):
        total = v * w
    return total / np.sum(weights)
# 0.1 starts-at-one -> first-value-left-out
def weighted_average(values, weights):
    total = 0
    for i in range(1, len(values)):
        total += values[i] * weights[i]
    return total / np.sum(weights)
# 0.1 arguments-in-other-order -> sum-of-values
def weighted_average(weights, values):
    return np.sum(weights * values) / np.sum(weights)
# 0.1 divided-by-length-of-weights -> divided-by-length-of-weights
def weighted_average(values, weights):
    return values @ weights / np.linalg.norm(weights)
# 0.1 example-hard-coded -> divided-by-the-example
def weighted_average(values, weights):
    return np.sum(weights * values) / 4
# 0.1 answer-hard-coded -> example-inside
def weighted_average(values, weights):
    return 25
# 0.1 softmax-of-weights -> softmax-of-weights
def weighted_average(values, weights):
    shares = np.exp(weights) / np.sum(np.exp(weights))
    return np.sum(shares * values)
# 0.1 mean-and-divided -> divided-twice
def weighted_average(values, weights):
    return np.mean(weights * values) / np.sum(weights)
# 0.1 divided-by-each-weight -> divided-by-each-weight
def weighted_average(values, weights):
    return np.sum(weights * values) / weights
# 0.1 rounded -> rounded
def weighted_average(values, weights):
    return round(np.sum(weights * values) / np.sum(weights))
# 0.1 upside-down -> upside-down
def weighted_average(values, weights):
    return np.sum(weights) / np.sum(weights * values)
# 0.1 sums-before-product -> not-divided, weights-ignored-in-the-sum
def weighted_average(values, weights):
    return np.sum(weights) * np.sum(values) / np.sum(weights)
# 0.1 parentheses-forgotten -> values-and-sum-of-weights
def weighted_average(values, weights):
    return np.sum(weights) * values / np.sum(weights)
# 0.1 method-not-called -> "builtin_function_or_method"
def weighted_average(values, weights):
    return np.dot(values, weights) / weights.sum
# 0.1 torch-habit -> "the name torch is not known"
def weighted_average(values, weights):
    return torch.sum(weights * values) / torch.sum(weights)
"""

LESSON_01 = r"""
# 1.1 dim-as-in-torch -> "unexpected keyword argument 'dim'"
def similarities(query, keys):
    return (keys * query).sum(dim=-1)
# 1.1 list-of-numbers -> "similarities is a list of 5; an array of shape (5,) is wanted"
def similarities(query, keys):
    result = []
    for key in keys:
        result.append(np.dot(query, key))
    return result
# 1.1 loop-over-features -> loop-over-features
def similarities(query, keys):
    result = np.zeros(len(keys))
    for i in range(len(query)):
        result[i] = query @ keys[i]
    return result
# 1.1 query-as-column -> query-as-column
def similarities(query, keys):
    return np.dot(keys, query[:, None])
# 1.1 best-index -> best-key-only
def similarities(query, keys):
    return np.argmax(keys @ query)
# 1.1 sorted -> sorted
def similarities(query, keys):
    return np.sort(keys @ query)
# 1.1 shares-already -> softmax-applied
def similarities(query, keys):
    scores = keys @ query
    exps = np.exp(scores - scores.max())
    return exps / exps.sum()
# 1.1 keys-with-keys -> keys-with-keys
def similarities(query, keys):
    return keys @ keys.T
# 1.1 return-in-loop -> return-inside-loop
def similarities(query, keys):
    result = []
    for key in keys:
        result.append(query @ key)
        return np.array(result)
# 1.1 mm-as-in-torch -> "no attribute 'matmul'"
def similarities(query, keys):
    return keys.matmul(query)
# 1.2 sharpness-twice -> sharpness-twice
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    exps = np.exp(sharpness * (scores - scores.max()))
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 max-before-sharpness -> overflow
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = keys @ query
    exps = np.exp(sharpness * scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 exps-to-the-sharpness -> overflow
def soft_lookup(query, keys, values, sharpness=1.0):
    exps = np.exp(keys @ query) ** sharpness
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 weights-to-the-sharpness -> weights-to-the-sharpness
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = keys @ query
    exps = np.exp(scores - scores.max())
    weights = (exps / exps.sum()) ** sharpness
    return weights @ values, weights
# 1.2 value-overwritten -> last-value-only
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    for w, v in zip(weights, values):
        value = w * v
    return value, weights
# 1.2 weights-not-as-column -> weights-not-as-column
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = np.sum(weights * values, axis=0)
    return value, weights
# 1.2 sum-over-features -> summed-over-features
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = (weights[:, None] * values).sum(axis=1)
    return value, weights
# 1.2 one-number -> one-total
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = (weights[:, None] * values).sum()
    return value, weights
# 1.2 no-default -> wrong-arguments
def soft_lookup(query, keys, values, sharpness):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 other-default -> default-of-ten
def soft_lookup(query, keys, values, sharpness=10.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 divided-by-the-maximum -> divided-by-the-maximum
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores / scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 np-average-without-axis -> average-without-axis
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return np.average(values, weights=weights), weights
# 1.2 zero-means-missing -> zero-taken-for-missing
def soft_lookup(query, keys, values, sharpness=None):
    sharpness = sharpness or 1.0
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 sharpness-twice-and-unnormalised -> weights-not-normalised, sharpness-twice
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    scores = sharpness * scores
    weights = np.exp(scores - scores.max())
    return weights @ values, weights
# 1.2 key-average-of-scores -> overflow
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - np.mean(scores))
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.3 stacked -> stacked
def project(X, W_q, W_k, W_v):
    return np.array([X @ W_q, X @ W_k, X @ W_v])
# 1.3 chained -> projected-in-a-chain
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = Q @ W_k
    V = K @ W_v
    return Q, K, V
# 1.3 x-overwritten -> x-overwritten
def project(X, W_q, W_k, W_v):
    X = X @ W_q
    Q = X
    K = X @ W_k
    V = X @ W_v
    return Q, K, V
# 1.3 called-like-a-layer -> called-like-a-layer
def project(X, W_q, W_k, W_v):
    return W_q(X), W_k(X), W_v(X)
# 1.3 scaled-queries -> queries-scaled
def project(X, W_q, W_k, W_v):
    Q = X @ W_q / np.sqrt(W_q.shape[1])
    return Q, X @ W_k, X @ W_v
# 1.3 first-word-only -> first-word-only
def project(X, W_q, W_k, W_v):
    x = X[0]
    return x @ W_q, x @ W_k, x @ W_v
# 1.3 tanh-added -> tanh-added
def project(X, W_q, W_k, W_v):
    return np.tanh(X @ W_q), np.tanh(X @ W_k), np.tanh(X @ W_v)
# 1.4 transpose-as-in-torch -> transpose-as-in-torch
def dot_product_scores(Q, K):
    return Q @ K.transpose(-1, -2)
# 1.4 transpose-as-in-torch-other-order -> transpose-as-in-torch-reversed
def dot_product_scores(Q, K):
    return Q @ K.transpose(-2, -1)
# 1.4 loop-for-two-axes -> loop-for-two-axes
def dot_product_scores(Q, K):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = Q[i] @ K[j]
    return scores
# 1.4 inner -> dot-on-a-batch
def dot_product_scores(Q, K):
    return np.inner(Q, K)
# 1.4 einsum-two-axes -> "look at the letters of einsum"
def dot_product_scores(Q, K):
    return np.einsum("qd,kd->qk", Q, K)
# 1.4 batch-loop -> loop-over-the-batch
def dot_product_scores(Q, K):
    return np.array([q @ k.T for q, k in zip(Q, K)])
# 1.4 moveaxis-to-front -> features-moved-to-the-front
def dot_product_scores(Q, K):
    return Q @ np.moveaxis(K, -1, 0)
# 1.4 indices-from-one -> counted-from-one
def dot_product_scores(Q, K):
    scores = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for i in range(1, Q.shape[-2]):
        for j in range(1, K.shape[-2]):
            scores[..., i, j] = (Q[..., i, :] * K[..., j, :]).sum(-1)
    return scores
# 1.4 elementwise -> entry-by-entry
def dot_product_scores(Q, K):
    return Q * K
# 1.4 swapped-axes-1-2 -> axes-one-and-two-swapped
def dot_product_scores(Q, K):
    return Q @ np.swapaxes(K, 1, 2)
# 1.4 loops-over-similarities -> row-by-row-for-two-axes
def dot_product_scores(Q, K):
    return np.array([similarities(q, K) for q in Q])
# 1.5 rows-as-features-of-columns -> wrong-shape
def design_projections():
    W_q = 5 * np.array([[0, 1, 1, 0], [0, 1, 1, 0]])
    W_k = np.array([[1, 0, 0, 0], [0, 0, 0, 1]])
    return W_q, W_k
# 1.5 identity -> are-looks-at-itself, old-looks-at-itself
def design_projections():
    return np.eye(4), np.eye(4)
# 1.5 adjective-in-the-noun-row -> old-asks-nothing
def design_projections():
    W_q = 5 * np.array([[1, 1], [1, 1], [0, 0], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
# 1.5 old-asks-for-itself -> old-looks-at-itself
def design_projections():
    W_q = 5 * np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]])
    W_k = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]])
    return W_q, W_k
# 1.5 weights-returned -> wrong-shape
def design_projections():
    X = embed(words)
    W_q = 5 * np.array([[0, 0], [1, 1], [1, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return X @ W_q, X @ W_k
# 1.5 number-asked-of-everything -> are-cannot-tell, old-cannot-tell
def design_projections():
    W_q = 5 * np.array([[0, 0], [0, 1], [0, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
# 1.5 keys-row-zero -> nothing-can-be-found
def design_projections():
    W_q = 5 * np.array([[0, 0], [1, 1], [1, 1], [0, 0]])
    W_k = np.zeros((4, 2))
    return W_q, W_k
"""

LESSON_02 = r"""
# 2.1 dim-as-in-torch -> "unexpected keyword argument 'dim'"
def softmax(x, axis=-1):
    x = x - np.max(x, dim=axis, keepdim=True)
    e = np.exp(x)
    return e / np.sum(e, dim=axis, keepdim=True)
# 2.1 max-values-as-in-torch -> maximum-of-first-row
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)[0]
    e = np.exp(x - m)
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 shift-below-only -> shift-below-only
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    return np.exp(x) / np.exp(x - m).sum(axis=axis, keepdims=True)
# 2.1 shift-above-only -> shift-above-only
def softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    return np.exp(x - m) / np.exp(x).sum(axis=axis, keepdims=True)
# 2.1 two-axes-only -> axis-one
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]
# 2.1 default-zero -> default-axis-zero
def softmax(x, axis=0):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 default-one -> default-axis-one
def softmax(x, axis=1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 default-none -> default-axis-none
def softmax(x, axis=None):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 row-by-row -> row-by-row
def softmax(x, axis=-1):
    rows = []
    for row in x:
        e = np.exp(row - row.max())
        rows.append(e / e.sum())
    return np.array(rows)
# 2.1 python-max -> python-max-and-sum
def softmax(x, axis=-1):
    e = np.exp(x - max(x))
    return e / sum(e)
# 2.1 rounded -> "rounded to 2 decimals"
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.round(e / e.sum(axis=axis, keepdims=True), 2)
# 2.1 infinity-removed -> infinity-removed
def softmax(x, axis=-1):
    x = np.where(np.isinf(x), 0, x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 clipped -> clipped
def softmax(x, axis=-1):
    e = np.exp(np.clip(x, -700, 700))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 epsilon -> "right to about 6 digits and no further: is a small constant added somewhere"
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-6)
# 2.1 newaxis-last -> new-axis-at-the-end
def softmax(x, axis=-1):
    m = x.max(axis=axis)[..., None]
    e = np.exp(x - m)
    return e / e.sum(axis=axis)[..., None]
# 2.1 sigmoid -> sigmoid
def softmax(x, axis=-1):
    return 1 / (1 + np.exp(-x))
# 2.1 own-name-of-axis -> argument-renamed
def softmax(x, dim=-1):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)
# 2.1 scaled-by-root -> "look at whether / np.sqrt(x.shape[axis]) belongs there"
def softmax(x, axis=-1):
    x = x / np.sqrt(x.shape[axis])
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
# 2.2 masked-fill-as-in-torch -> masked-fill-as-in-torch
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 if-mask -> mask-as-condition
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 mask-any -> mask-asked-without-looking
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask.any():
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 weights-masked-output-not -> output-before-mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    out = softmax(scores) @ V
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return out, weights
# 2.2 softmax-inside-if -> softmax-only-with-a-mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
        weights = softmax(scores)
    out = weights @ V
    return out, weights
# 2.2 mask-with-head-axis -> mask-with-an-axis-in-front
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask[None], scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 mask-with-axis-one -> mask-with-an-axis-inside
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask[:, None], scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scale-of-the-example -> scale-of-the-example
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scale-sqrt-64 -> "look at the number 64 in np.sqrt(64)"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(64)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scale-precedence -> scale-precedence
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 1 / 2
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scale-keys-first-axis -> scale-by-first-axis-of-keys
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 renormalised-after-mask -> renormalised-after-mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights
# 2.2 tiny-instead-of-large -> mask-score-zero
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e-9)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 minus-hundred -> mask-not-negative-enough
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -100)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 dot-on-a-batch -> dot-on-a-batch
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.dot(weights, V), weights
# 2.2 dot-with-values-only -> dot-with-the-values
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights.dot(V), weights
# 2.2 axes-zero-and-one -> first-axes-swapped
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, 0, 1) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 transpose-for-three-axes -> transpose-for-three-axes
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 always-causal -> causal-without-a-mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is None:
        mask = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 loop-over-queries -> query-by-query-for-two-axes
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        scores = K @ q / np.sqrt(len(q))
        if mask is not None:
            scores = np.where(mask[i], scores, -np.inf)
        weights[i] = softmax(scores)
    return weights @ V, weights
# 2.2 example-scale-and-inverted-mask -> scale-of-the-example, mask-inverted
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(2)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scores-scaled-in-return -> mask-picks
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores[mask]
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 minus-mask -> "use the ~ operator"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(-mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 out-transposed -> values-first
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    out = np.swapaxes(V, -1, -2) @ weights
    return out, weights
# 2.3 matrices-passed -> matrices-passed-on
def self_attention(X, W_q, W_k, W_v, mask=None):
    return scaled_dot_product_attention(W_q, W_k, W_v, mask)
# 2.3 chained -> projected-in-a-chain
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q
    K = Q @ W_k
    V = K @ W_v
    return scaled_dot_product_attention(Q, K, V, mask)
# 2.3 residual -> residual-added
def self_attention(X, W_q, W_k, W_v, mask=None):
    out, weights = scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, mask)
    return X + out, weights
# 2.3 attn-mask-as-in-torch -> mask-under-another-name
def self_attention(X, W_q, W_k, W_v, mask=None):
    return scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, attn_mask=mask)
# 2.3 scaled-once-more -> scaled-once-more
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q / np.sqrt(W_q.shape[-1])
    return scaled_dot_product_attention(Q, X @ W_k, X @ W_v, mask)
# 2.3 always-causal -> always-causal
def self_attention(X, W_q, W_k, W_v, mask=None):
    mask = np.tril(np.ones((X.shape[-2], X.shape[-2]), dtype=bool))
    return scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, mask)
# 2.3 softmax-again -> softmax-once-more
def self_attention(X, W_q, W_k, W_v, mask=None):
    out, weights = scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, mask)
    return out, softmax(weights)
# 2.3 values-weighted-again -> values-averaged-twice
def self_attention(X, W_q, W_k, W_v, mask=None):
    V = X @ W_v
    out, weights = scaled_dot_product_attention(X @ W_q, X @ W_k, V, mask)
    return weights @ out, weights
# 2.4 joined-features -> joined-along-features
def additive_scores(Q, K, W_q, W_k, v):
    joined = np.concatenate([Q @ W_q, K @ W_k], axis=-1)
    return np.tanh(joined) @ v
# 2.4 v-first -> v-first
def additive_scores(Q, K, W_q, W_k, v):
    q = (Q @ W_q)[:, None, :]
    k = (K @ W_k)[None, :, :]
    return v @ np.tanh(q + k)
# 2.4 softmax-at-the-end -> softmax-applied
def additive_scores(Q, K, W_q, W_k, v):
    hidden = np.tanh((Q @ W_q)[:, None, :] + (K @ W_k)[None, :, :])
    return softmax(hidden @ v)
# 2.4 both-new-axes-alike -> same-new-axis-for-both
def additive_scores(Q, K, W_q, W_k, v):
    q = (Q @ W_q)[:, None]
    k = (K @ W_k)[:, None]
    return np.tanh(q + k) @ v
# 2.4 tanh-before-matrices -> tanh-before-the-matrices
def additive_scores(Q, K, W_q, W_k, v):
    return (np.tanh(Q) @ W_q)[:, None, :] @ v + (np.tanh(K) @ W_k)[None, :, :] @ v
# 2.4 tan -> tangent
def additive_scores(Q, K, W_q, W_k, v):
    return np.tan((Q @ W_q)[:, None, :] + (K @ W_k)[None, :, :]) @ v
# 2.4 product-of-projections -> dot-product-in-tanh
def additive_scores(Q, K, W_q, W_k, v):
    return np.tanh((Q @ W_q) @ (K @ W_k).T)
# 2.5 softmax-at-the-end -> softmax-applied
def general_scores(Q, K, W):
    return softmax(Q @ W @ np.swapaxes(K, -1, -2))
# 2.5 elementwise-with-keys -> keys-entry-by-entry
def general_scores(Q, K, W):
    return (Q @ W) * K
# 2.5 w-last -> w-last
def general_scores(Q, K, W):
    return Q @ np.swapaxes(K, -1, -2) @ W
# 2.5 reshape-as-transpose -> reshaped-not-transposed
def general_scores(Q, K, W):
    return Q @ W @ K.reshape(K.shape[1], K.shape[0])
# 2.6 precedence -> scale-precedence
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k ** 1/2
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
# 2.6 mended-one-broke-one -> divide-by-d_k, mask-score-zero, softmax-over-axis-zero
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k
    if mask is not None:
        scores = np.where(mask, scores, 0.0)
    weights = softmax(scores, axis=0)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
# 2.6 axis-one-and-minus-hundred -> mask-not-negative-enough, softmax-over-axis-one
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -100.0)
    weights = softmax(scores, axis=1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
# 2.6 weights-scaled-too -> scale-fourth-root
def debugged_attention(Q, K, V, mask=None):
    d_k = np.sqrt(K.shape[-1])
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
"""

LESSON_04 = r"""
# 4.1 transpose-as-in-numpy -> transpose-as-in-numpy
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3)
# 4.1 permute-features-before-positions -> features-before-positions
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, n_heads, -1).permute(0, 2, 3, 1)
# 4.1 stacked-in-front -> heads-in-front-of-the-batch
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))
# 4.1 joined-along-positions -> heads-one-after-the-other
def split_heads(x, n_heads):
    return torch.cat(x.chunk(n_heads, dim=-1), dim=1)
# 4.1 d-k-by-plain-division -> d_k-not-whole
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    d_k = d_model / n_heads
    return x.reshape(B, T, n_heads, d_k).transpose(1, 2)
# 4.1 two-heads-always -> two-heads-always
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, 2, d_model // 2).transpose(1, 2)
# 4.1 split-takes-a-size -> h-and-d_k-exchanged
def split_heads(x, n_heads):
    return torch.stack(x.split(n_heads, dim=-1), dim=1)
# 4.1 positions-last-then-cut -> words-cut-into-features
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    return x.reshape(B, n_heads, d_model // n_heads, T).transpose(2, 3)
# 4.1 off-by-one-in-slices -> "(3, 2, 5, 4) expected, (3, 2, 5, 3)"
def split_heads(x, n_heads):
    d_k = x.shape[-1] // n_heads
    return torch.stack([x[:, :, i * d_k : (i + 1) * d_k - 1] for i in range(n_heads)], dim=1)
# 4.1 repeated -> copied-for-every-head
def split_heads(x, n_heads):
    return x.unsqueeze(1).repeat(1, n_heads, 1, 1)
# 4.2 flattened-too-early -> flattened-too-early
def merge_heads(x):
    return x.transpose(1, 2).flatten(1)
# 4.2 loop-over-the-batch -> batch-joined
def merge_heads(x):
    return torch.cat([head for head in x], dim=-1)
# 4.2 joined-along-words -> heads-one-after-the-other
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=1)
# 4.2 squeezed -> batch-axis-lost
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_k).squeeze()
# 4.2 names-in-wrong-order -> axes-misnamed
def merge_heads(x):
    B, T, h, d_k = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_k)
# 4.2 only-transposed -> not-joined
def merge_heads(x):
    return x.transpose(1, 2)
# 4.4 load-state-dict -> state-dict-as-it-is
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    ours.load_state_dict(mha.state_dict())
    return ours
# 4.4 separate-weights -> separate-matrices
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    with torch.no_grad():
        ours.W_q.weight.copy_(mha.q_proj_weight)
        ours.W_k.weight.copy_(mha.k_proj_weight)
        ours.W_v.weight.copy_(mha.v_proj_weight)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 tensor-assigned -> tensor-as-parameter
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    ours.W_q.weight = W_q
    ours.W_k.weight = W_k
    ours.W_v.weight = W_v
    ours.W_o.weight = mha.out_proj.weight
    return ours
# 4.4 copied-without-no-grad -> outside-no-grad
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    ours.W_q.weight.copy_(W_q)
    ours.W_k.weight.copy_(W_k)
    ours.W_v.weight.copy_(W_v)
    ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 parameters-of-views -> "3 of the four weights of your module lie in mha's memory"
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    W_q, W_k, W_v = mha.in_proj_weight.detach().chunk(3)
    ours.W_q.weight = nn.Parameter(W_q)
    ours.W_k.weight = nn.Parameter(W_k)
    ours.W_v.weight = nn.Parameter(W_v)
    ours.W_o.weight = nn.Parameter(mha.out_proj.weight.detach().clone())
    return ours
# 4.4 slice-one-short -> last-row-left-out
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W = mha.in_proj_weight
    with torch.no_grad():
        ours.W_q.weight.copy_(W[:d])
        ours.W_k.weight.copy_(W[d : 2 * d])
        ours.W_v.weight.copy_(W[2 * d : -1])
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 arguments-exchanged -> sizes-exchanged
def from_torch(mha):
    ours = MultiHeadAttention(mha.num_heads, mha.embed_dim, mha.dropout).to(mha.in_proj_weight.dtype)
    return ours
# 4.4 head-dim-as-heads -> head_dim-as-heads
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.head_dim, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q)
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 copied-backwards -> copied-backwards
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        W_q.copy_(ours.W_q.weight)
        W_k.copy_(ours.W_k.weight)
        W_v.copy_(ours.W_v.weight)
        mha.out_proj.weight.copy_(ours.W_o.weight)
    return ours
# 4.4 output-layer-handed-over -> "1 of the four weights of your module lies in mha's memory"
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q)
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
    ours.W_o = mha.out_proj
    return ours
# 4.4 nothing-copied -> "W_q and W_k and W_v and W_o still hold the numbers they were made with"
def from_torch(mha):
    return MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
# 4.4 names-bound-only -> "W_q still holds the numbers it was made with"
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        weight = ours.W_q.weight
        weight = W_q.clone()
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 half-precision -> "you give back float16 where float32 is wanted"
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).half()
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q)
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 4.4 weight-forgotten -> layer-not-weight
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.copy_(W_q)
        ours.W_k.copy_(W_k)
        ours.W_v.copy_(W_v)
        ours.W_o.copy_(mha.out_proj.weight)
    return ours
"""

LESSON_05 = r"""
# 5.1 up-to-t-not-included -> excludes-itself
def prefix_mean(x):
    return torch.stack([x[:t].mean(dim=0) for t in range(len(x))])
# 5.1 index-from-zero -> counts-from-zero
def prefix_mean(x):
    T = x.shape[0]
    return x.cumsum(dim=0) / torch.arange(T)[:, None]
# 5.1 counts-not-as-column -> counts-not-a-column
def prefix_mean(x):
    T = x.shape[0]
    return x.cumsum(dim=0) / torch.arange(1, T + 1)
# 5.1 one-mean -> one-mean
def prefix_mean(x):
    return x.mean(dim=0)
# 5.1 triangle-of-x -> triangle-of-x
def prefix_mean(x):
    return torch.tril(x) / torch.arange(1, len(x) + 1, dtype=x.dtype)[:, None]
# 5.1 means-of-means -> means-of-means
def prefix_mean(x):
    means = x.clone()
    for t in range(len(x)):
        means[t] = means[: t + 1].mean(dim=0)
    return means
# 5.1 precedence -> plus-one-outside
def prefix_mean(x):
    return torch.stack([x[: t + 1].sum(dim=0) / t + 1 for t in range(len(x))])
# 5.1 numpy-triangle -> "the name np is not known"
def prefix_mean(x):
    T = x.shape[0]
    weights = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    return weights @ x
# 5.1 in-place-on-input -> means-of-means
def prefix_mean(x):
    for t in range(1, len(x)):
        x[t] = x[: t + 1].mean(dim=0)
    return x
# 5.1 softmax-of-minus-inf-wrong-triangle -> future-only
def prefix_mean(x):
    T = x.shape[0]
    scores = torch.zeros(T, T, dtype=x.dtype).masked_fill(torch.ones(T, T, dtype=torch.bool).tril(), -torch.inf)
    return torch.softmax(scores, dim=-1) @ x
# 5.1 running-average-of-two -> halved-each-time
def prefix_mean(x):
    means = [x[0]]
    for t in range(1, len(x)):
        means.append((means[-1] + x[t]) / 2)
    return torch.stack(means)
# 5.2 arange-without-axes -> one-axis-only
def causal_mask(T):
    return torch.arange(T) <= torch.arange(T)
# 5.2 one-axis -> triangle-of-a-row
def causal_mask(T):
    return torch.ones(T, dtype=torch.bool).tril()
# 5.2 method-not-called -> "itself (are the parentheses of a call missing?)"
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril
# 5.2 one-size-less -> one-size-less
def causal_mask(T):
    return torch.ones(T - 1, T - 1, dtype=torch.bool).tril()
# 5.2 last-row-only -> "word 1 does not see word 0, which comes earlier"
def causal_mask(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, t] = True
        mask[T - 1, t] = True
    return mask
# 5.2 printed -> "Nothing was returned"
def causal_mask(T):
    print(torch.ones(T, T, dtype=torch.bool).tril())
# 5.2 window-of-two -> "word 2 does not see word 0, which comes earlier"
def causal_mask(T):
    i = torch.arange(T)
    return (i[:, None] - i[None, :] <= 1) & (i[:, None] >= i[None, :])
# 5.2 not-equal -> "look at the comparison !="
def causal_mask(T):
    i = torch.arange(T)
    return i[:, None] != i[None, :]
# 5.3 difference-returned -> size-of-the-difference
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    worst = 0.0
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        worst = max(worst, (attend(changed)[:t] - before[:t]).abs().max().item())
    return worst
# 5.3 place-returned -> "or False is wanted; the number 1 came back"
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t] - before[:t]).abs().max() > 1e-5:
            return t
    return False
# 5.3 middle-only -> middle-only
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    t = x.shape[0] // 2
    changed = x.clone()
    changed[t:] += 1
    torch.set_rng_state(state)
    return bool((attend(changed)[:t] - before[:t]).abs().max() > 1e-5)
# 5.3 from-two-on -> starts-at-two
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(2, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t] - before[:t]).abs().max() > 1e-5:
            return True
    return False
# 5.3 next-word-not-changed -> a-word-between
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t + 1:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t] - before[:t]).abs().max() > 1e-5:
            return True
    return False
# 5.3 neighbour-not-compared -> a-word-between
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        if ((attend(changed)[: t - 1] - before[: t - 1]).abs() > 1e-5).any():
            return True
    return False
# 5.3 tolerance-reversed -> tolerance-the-wrong-way
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t] - before[:t]).abs().max() < 1e-5:
            return True
    return False
# 5.3 restored-by-subtraction -> "changed its input argument 2 in place"
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    leak = False
    for t in range(1, x.shape[0]):
        x[t:] += 1
        torch.set_rng_state(state)
        if (attend(x)[:t] - before[:t]).abs().max() > 1e-5:
            leak = True
        x[t:] -= 1
    return leak
# 5.3 gradient-of-the-past -> derivatives-of-the-past
def leaks_future(attend, x):
    def call(x):
        torch.manual_seed(0)
        return attend(x)
    J = torch.autograd.functional.jacobian(call, x).abs().amax(dim=(1, 3))
    return bool((J.tril(diagonal=-1) > 1e-7).any())
# 5.3 no-clone-of-x -> not-cloned-afresh
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    changed = x.clone()
    for t in range(1, x.shape[0]):
        changed[t:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t] - before[:t]).abs().max() > 1e-5:
            return True
    return False
# 5.3 first-feature-only -> one-feature-compared, one-feature-compared-the-last
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t, 0] - before[:t, 0]).abs().max() > 1e-5:
            return True
    return False
# 5.3 last-feature-only -> one-feature-compared, one-feature-compared-the-last
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:, -1] += 1
        torch.set_rng_state(state)
        if (attend(changed)[:t, -1] - before[:t, -1]).abs().max() > 1e-5:
            return True
    return False
# 5.4 float-mask -> added-mask
def padding_mask(tokens, pad_id):
    mask = torch.zeros(tokens.shape).masked_fill(tokens == pad_id, -torch.inf)
    return mask[:, None, None, :]
# 5.4 axes-around -> sentences-behind-a-new-axis
def padding_mask(tokens, pad_id):
    return (tokens != pad_id)[None, :, None, :]
# 5.4 input-changed -> "changed its input tokens in place"
def padding_mask(tokens, pad_id):
    tokens[tokens == pad_id] = 0
    return tokens.bool()[:, None, None, :]
# 5.4 membership -> membership
def padding_mask(tokens, pad_id):
    return pad_id not in tokens
# 5.4 python-not -> python-not
def padding_mask(tokens, pad_id):
    return (not tokens == pad_id)[:, None, None, :]
# 5.4 last-token-is-padding -> last-token-taken-for-padding
def padding_mask(tokens, pad_id):
    return (tokens != tokens[:, -1:])[:, None, None, :]
# 5.4 pairs-of-words -> either-is-a-word
def padding_mask(tokens, pad_id):
    keep = tokens != pad_id
    return keep[:, None, :, None] | keep[:, None, None, :]
# 5.4 first-sentence-for-all -> first-sentence-for-all
def padding_mask(tokens, pad_id):
    keep = tokens[0] != pad_id
    return keep[None, None, None, :]
# 5.5 equal -> where-they-agree
def combine_masks(padding, causal):
    return padding == causal
# 5.5 squeezed -> padding-squeezed
def combine_masks(padding, causal):
    return padding.squeeze() & causal
# 5.5 all-and -> one-truth-for-all
def combine_masks(padding, causal):
    return padding.all() & causal
# 5.5 causal-axis -> causal-with-another-axis
def combine_masks(padding, causal):
    return padding & causal[:, None]
# 5.5 stacked -> laid-one-after-the-other
def combine_masks(padding, causal):
    return torch.cat([padding, causal])
# 5.5 padding-as-matrix-product -> matrix-product
def combine_masks(padding, causal):
    return (padding.float() @ causal.float()) > 0
# 5.6 epsilon-below -> "right to about 6 digits"
def masked_softmax(scores, mask):
    s = scores.masked_fill(~mask, -torch.inf)
    top = s.amax(dim=-1, keepdim=True)
    e = torch.exp(s - top.masked_fill(top == -torch.inf, 0.0))
    return e / (e.sum(dim=-1, keepdim=True) + 1e-6)
# 5.6 maximum-of-hidden-too -> "was the maximum taken over hidden keys too"
def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-9)
# 5.6 index-assignment -> scores-by-index
def masked_softmax(scores, mask):
    scores = scores.clone()
    scores[~mask] = -torch.inf
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights)
# 5.6 rows-by-index -> rows-by-index
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    weights[~mask.any(dim=-1)] = 0.0
    return weights
# 5.6 log-of-mask -> gradient-nan
def masked_softmax(scores, mask):
    weights = torch.softmax(scores + torch.log(mask.float()), dim=-1)
    return torch.nan_to_num(weights)
# 5.6 nan-to-num-of-scores -> uniform-rows
def masked_softmax(scores, mask):
    scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(torch.nan_to_num(scores), dim=-1)
# 5.6 zero-fill-all -> all-zero-for-one-nan
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return weights if weights.isfinite().all() else torch.zeros_like(weights)
# 5.6 sees-itself-when-empty -> everything-seen-from-empty-rows
def masked_softmax(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    mask = mask | empty
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
# 5.6 minus-hundred -> not-negative-enough
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -100.0), dim=-1)
    return weights * mask.any(dim=-1, keepdim=True)
# 5.6 dtype-forced -> "weights is float32; float64 is promised"
def masked_softmax(scores, mask):
    w = torch.softmax(scores.float().masked_fill(~mask, -torch.inf), dim=-1)
    return torch.nan_to_num(w)
# 5.6 max-of-tuple -> max-gives-two-things
def masked_softmax(scores, mask):
    s = scores.masked_fill(~mask, -torch.inf)
    e = torch.exp(s - s.max(dim=-1, keepdim=True))
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True))
"""

UNSEEN = r"""
# 0.1 sorted-first -> "look at whether sort belongs there"
def weighted_average(values, weights):
    values = np.sort(values)
    return np.sum(weights * values) / np.sum(weights)
# 0.1 squared-weights -> "is 30.00 and should be 25.00"
def weighted_average(values, weights):
    shares = weights / np.sum(weights)
    return np.sum(shares * weights * values)
# 0.1 list -> "without the list around it"
def weighted_average(values, weights):
    return [np.sum(weights * values) / np.sum(weights)]
# 1.1 zip-of-features -> "(n,) = (5,) expected, (3, 3) returned, which is (d, d)"
def similarities(query, keys):
    return np.array([q * k for q, k in zip(query, keys)])
# 1.2 weights-sorted -> "look at whether sort belongs there"
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = np.sort(sharpness * similarities(query, keys))
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.2 abs-scores -> "look at whether abs belongs there"
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * np.abs(similarities(query, keys))
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
# 1.3 keys-in-both -> keys-from-queries-matrix
def project(X, W_q, W_k, W_v):
    Q, K = X @ W_q, X @ W_q
    V = X @ W_v
    return Q, K, V
# 1.4 mean-over-features -> "look at whether / Q.shape[-1] belongs there"
def dot_product_scores(Q, K):
    return np.einsum("...qd,...kd->...qk", Q, K) / Q.shape[-1]
# 2.1 keepdims-only-in-sum-and-axis-zero-max -> "weights[2, 1] is 0.45 and should be 0.72"
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=axis, keepdims=True)
# 2.1 temperature -> "those of scores divided by 0.5"
def softmax(x, axis=-1):
    e = np.exp(2 * (x - x.max(axis=axis, keepdims=True)))
    return e / e.sum(axis=axis, keepdims=True)
# 2.2 mask-on-keys -> "Keys that the mask blocks still get weight"
def scaled_dot_product_attention(Q, K, V, mask=None):
    if mask is not None:
        K = K * mask.any(axis=-2)[..., None]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 mask-first-row -> "Keys that the mask blocks still get weight"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask[0], scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scale-d-k-plus-one-and-ignored-mask -> "mask is never used"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1] + 1)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 scores-rounded -> "look at whether round belongs there"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.round(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), 1)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
# 2.2 renormalised-values -> "weights is right"
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    V = V / np.linalg.norm(V, axis=-1, keepdims=True)
    return weights @ V, weights
# 2.4 hidden-times-queries -> "scores[4, 5] is 0.71 and should be −0.24"
def additive_scores(Q, K, W_q, W_k, v):
    hidden = np.tanh((Q @ W_q)[:, None, :] * 2 + (K @ W_k)[None, :, :])
    return hidden @ v
# 2.5 cosine -> "scores[0, 3] is 2.27 and should be 3.65"
def general_scores(Q, K, W):
    Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    return Q @ W @ K.T
# 4.1 flip -> "look at whether flip belongs there"
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, n_heads, -1).flip(2).transpose(1, 2)
# 4.2 head-mean-repeat -> first-head-only
def merge_heads(x):
    B, h, T, d_k = x.shape
    return x.transpose(2, 3).reshape(B, h * d_k, T).transpose(1, 2)[:, :, : d_k]
# 4.3 v-scaled -> "The mask works the wrong way round"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} {n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x, mask=None):
        Q, K, V = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(self.n_heads * 3)
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = scores.softmax(-1)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
# 4.3 one-word-shorter -> "The weights you return have already gone through dropout"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} {n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x, mask=None):
        Q, K, V = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = self.dropout(scores.softmax(-1))
        return self.dropout(self.W_o(merge_heads(weights @ V))), weights
# 4.4 q-scaled -> "look at whether / math.sqrt(mha.head_dim) belongs there"
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q / math.sqrt(mha.head_dim))
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
# 5.1 from-the-end -> "look at whether flip belongs there"
def prefix_mean(x):
    return x.flip(0).cumsum(0) / torch.arange(1, len(x) + 1)[:, None]
# 5.1 median -> "Right on 1 of 6 cases"
def prefix_mean(x):
    return torch.stack([x[: t + 1].median(dim=0).values for t in range(len(x))])
# 5.2 strict-and-last -> excludes-itself
def causal_mask(T):
    m = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(i, T):
            m[j, i] = j > i
    return m
# 5.3 zeros-as-replacement -> changes-the-past
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, len(x)):
        y = torch.zeros_like(x)
        y[:t] = x[t:][:1]
        torch.set_rng_state(state)
        if not torch.allclose(attend(y)[:t], before[:t]):
            return True
    return False
# 5.4 first-pad-only -> "mask[1, 0, 0, 3] is True and should be False"
def padding_mask(tokens, pad_id):
    keep = torch.ones_like(tokens, dtype=torch.bool)
    for b, row in enumerate(tokens.tolist()):
        if pad_id in row:
            keep[b, row.index(pad_id)] = False
    return keep[:, None, None, :]
# 5.5 padding-cut -> "(3, 1, 5, 5) expected, (3, 1, 1, 5) returned"
def combine_masks(padding, causal):
    return padding & causal[-1]
# 5.6 fills-with-mean -> uniform-rows
def masked_softmax(scores, mask):
    w = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), w, 1 / scores.shape[-1])
# 5.7 masked-memory -> "Keys that the mask blocks still get weight"
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} {n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, memory, memory_mask=None):
        if memory_mask is not None and memory_mask.shape[2] == 1:
            memory = memory * memory_mask[:, 0, 0, :, None]
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(memory), self.n_heads)
        V = split_heads(self.W_v(memory), self.n_heads)
        weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1)
        return self.W_o(merge_heads(weights @ V)), weights
"""

_MULTI_HEAD = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} features do not divide among {n_heads} heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        out = merge_heads(self.dropout(weights) @ V)
        return self.W_o(out), weights
"""

# (name, names the report must find, a phrase it must hold, edits of the right answer above)
MULTI_HEAD = (
    ("no-super", ("before-super",), "", (("        super().__init__()\n", ""),)),
    (
        "other-names",
        ("parameters-missing",),
        "",
        (("self.W_q", "self.query"), ("self.W_k", "self.key"), ("self.W_v", "self.value")),
    ),
    ("forward-misspelt", (), 'missing the required "forward" function', (("def forward", "def foward"),)),
    (
        "np-where-on-tensors",
        (),
        "the name np is not known",
        (("scores.masked_fill(~mask, -torch.inf)", "np.where(mask, scores, -np.inf)"),),
    ),
    ("T-on-four-axes", ("full-transpose",), "", (("K.transpose(-2, -1)", "K.T"),)),
    ("mask-as-for-tokens", ("mask-as-for-tokens",), "", (("~mask", "~mask[:, None, None, :]"),)),
    (
        "dropout-fixed",
        (),
        "Yours drops 10 % of the weights, and 25 % were asked for",
        (("nn.Dropout(dropout)", "nn.Dropout(0.1)"),),
    ),
    ("self-forgotten", (), "the name n_heads is not known", (("self.W_q(x), self.n_heads", "self.W_q(x), n_heads"),)),
    ("check-reversed", ("check-inverted",), "", (("d_model % n_heads != 0", "d_model % n_heads == 0"),)),
    (
        "assert-check",
        (),
        "ValueError is wanted, saying which values do not fit; AssertionError came",
        (
            (
                '        if d_model % n_heads != 0:\n            raise ValueError(f"{d_model} features do not divide among {n_heads} heads")\n',
                '        assert d_model % n_heads == 0, f"{d_model} % {n_heads}"\n',
            ),
        ),
    ),
    (
        "output-layer-before-merging",
        ("layer-on-split-heads",),
        "",
        (
            (
                "        out = merge_heads(self.dropout(weights) @ V)\n        return self.W_o(out), weights",
                "        out = self.W_o(self.dropout(weights) @ V)\n        return merge_heads(out), weights",
            ),
        ),
    ),
    ("if-mask", ("mask-as-condition",), "", (("if mask is not None", "if mask"),)),
    (
        "pytorch-attention-no-weights",
        (),
        "weights is nothing (None)",
        (
            (
                "        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])\n        if mask is not None:\n            scores = scores.masked_fill(~mask, -torch.inf)\n        weights = torch.softmax(scores, dim=-1)\n        out = merge_heads(self.dropout(weights) @ V)\n        return self.W_o(out), weights",
                "        out = nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=self.dropout.p)\n        return self.W_o(merge_heads(out)), None",
            ),
        ),
    ),
    (
        "same-layer-twice",
        ("parameters-missing",),
        "",
        (("self.W_k = nn.Linear(d_model, d_model, bias=False)", "self.W_k = self.W_q"),),
    ),
    (
        "layers-in-forward",
        ("layer-made-in-forward",),
        "",
        (
            (
                "        Q = split_heads(self.W_q(x), self.n_heads)\n",
                "        Q = split_heads(nn.Linear(x.shape[-1], x.shape[-1], bias=False)(x), self.n_heads)\n",
            ),
        ),
    ),
    (
        "positions-mixed-by-merge",
        ("merged-twice",),
        "",
        (("merge_heads(self.dropout(weights) @ V)", "merge_heads((self.dropout(weights) @ V).transpose(1, 2))"),),
    ),
    (
        "split-before-layers",
        (),
        "",
        (("split_heads(self.W_q(x), self.n_heads)", "self.W_q(split_heads(x, self.n_heads))"),),
    ),
    ("scale-of-lesson-example", ("scale-of-the-example",), "", (("math.sqrt(Q.shape[-1])", "math.sqrt(2)"),)),
    ("scale-d-k-over-two", ("half-of-d_k",), "", (("math.sqrt(Q.shape[-1])", "(Q.shape[-1] / 2)"),)),
    (
        "log-softmax",
        (),
        "Some weights are negative",
        (("torch.softmax(scores, dim=-1)", "torch.log_softmax(scores, dim=-1)"),),
    ),
    (
        "weights-detached",
        ("parameter-without-gradient",),
        "",
        (("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores, dim=-1).detach()"),),
    ),
    (
        "mask-on-weights-and-inverted",
        (),
        "The mask works the wrong way round",
        (
            ("scores = scores.masked_fill(~mask, -torch.inf)", "pass"),
            (
                "        out = merge",
                "        if mask is not None:\n            weights = weights * ~mask\n        out = merge",
            ),
        ),
    ),
    (
        "two-sqrt2-and-queries",
        (),
        "the softmax runs over the queries",
        (("math.sqrt(Q.shape[-1])", "math.sqrt(2)"), ("dim=-1)", "dim=-2)")),
    ),
    (
        "causal-always",
        ("always-causal",),
        "",
        (
            (
                "        weights = torch",
                "        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)\n        weights = torch",
            ),
        ),
    ),
    ("mask-first-only", ("mask-of-the-first-sentence",), "", (("~mask", "~mask[0]"),)),
)

_CROSS = """
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(memory), self.n_heads)
        V = split_heads(self.W_v(memory), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if memory_mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = masked_softmax(scores, memory_mask)
        out = self.W_o(merge_heads(weights @ V))
        return out, weights
"""

# (name, names the report must find, a phrase it must hold, edits of the right answer above)
CROSS = (
    (
        "not-split",
        ("not-split",),
        "",
        (
            ("split_heads(self.W_q(x), self.n_heads)", "self.W_q(x)"),
            ("split_heads(self.W_k(memory), self.n_heads)", "self.W_k(memory)"),
            ("split_heads(self.W_v(memory), self.n_heads)", "self.W_v(memory)"),
            ("merge_heads(weights @ V)", "weights @ V"),
        ),
    ),
    (
        "mask-none-passed-on",
        ("no-mask-not-thought-of",),
        "",
        (
            (
                "        if memory_mask is None:\n            weights = scores.softmax(dim=-1)\n        else:\n            weights = masked_softmax(scores, memory_mask)\n",
                "        weights = masked_softmax(scores, memory_mask)\n",
            ),
        ),
    ),
    (
        "merged-after-transpose",
        ("merged-twice",),
        "",
        (("merge_heads(weights @ V)", "merge_heads((weights @ V).transpose(1, 2))"),),
    ),
    (
        "split-before-layers",
        ("layer-on-split-heads",),
        "",
        (("split_heads(self.W_q(x), self.n_heads)", "self.W_q(split_heads(x, self.n_heads))"),),
    ),
    (
        "mask-as-for-tokens",
        ("mask-as-for-tokens",),
        "",
        (("masked_softmax(scores, memory_mask)", "masked_softmax(scores, memory_mask[:, None, None, :])"),),
    ),
    ("heads-returned", ("heads-returned",), "", (("return out, weights", "return weights @ V, weights"),)),
    (
        "length-of-x-for-memory",
        ("length-of-x-for-the-memory",),
        "",
        (
            (
                "        Q = split_heads(self.W_q(x), self.n_heads)\n        K = split_heads(self.W_k(memory), self.n_heads)\n        V = split_heads(self.W_v(memory), self.n_heads)\n",
                "        B, T, d = x.shape\n        Q = self.W_q(x).view(B, T, self.n_heads, -1).transpose(1, 2)\n        K = self.W_k(memory).view(B, T, self.n_heads, -1).transpose(1, 2)\n        V = self.W_v(memory).view(B, T, self.n_heads, -1).transpose(1, 2)\n",
            ),
        ),
    ),
    ("scale-by-heads", ("scale-by-h",), "", (("math.sqrt(Q.shape[-1])", "math.sqrt(self.n_heads)"),)),
    ("scale-by-length", ("scale-by-length",), "", (("math.sqrt(Q.shape[-1])", "math.sqrt(K.shape[-2])"),)),
    ("one-layer-on-both", ("keys-through-W_q",), "", (("self.W_k(memory)", "self.W_q(memory)"),)),
    (
        "softmax-over-queries",
        (),
        "the softmax runs over the queries",
        (
            ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
            (
                "masked_softmax(scores, memory_mask)",
                "masked_softmax(scores.transpose(-2, -1), memory_mask.transpose(-2, -1)).transpose(-2, -1)",
            ),
        ),
    ),
    (
        "memory-projected-twice",
        ("values-from-the-keys",),
        "",
        (
            (
                "K = split_heads(self.W_k(memory), self.n_heads)",
                "memory = self.W_k(memory)\n        K = split_heads(memory, self.n_heads)",
            ),
        ),
    ),
    ("scores-transposed", ("scores-transposed",), "", (("Q @ K.transpose(-2, -1)", "K @ Q.transpose(-2, -1)"),)),
    (
        "mask-required",
        (),
        "missing 1 required positional argument: 'memory_mask'",
        (("memory_mask=None", "memory_mask"),),
    ),
    (
        "weights-only-for-mask",
        ("softmax-only-with-a-mask",),
        "",
        (
            (
                "        if memory_mask is None:\n            weights = scores.softmax(dim=-1)\n        else:\n            weights = masked",
                "        if memory_mask is not None:\n            weights = masked",
            ),
        ),
    ),
    (
        "pytorch-attention",
        (),
        "weights is right",
        (
            (
                "        out = self.W_o(merge_heads(weights @ V))",
                "        out = self.W_o(merge_heads(nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)))",
            ),
        ),
    ),
    ("weights-of-first-head", ("weights-of-first-head",), "", (("return out, weights", "return out, weights[:, 0]"),)),
    (
        "scaled-and-layers",
        ("layers-exchanged", "scale-by-h"),
        "",
        (
            ("math.sqrt(Q.shape[-1])", "math.sqrt(self.n_heads)"),
            ("self.W_k(memory)", "self.W_v(memory)"),
            ("V = split_heads(self.W_v(memory)", "V = split_heads(self.W_k(memory)"),
        ),
    ),
)

LESSON_03 = r"""
# 3.1 generator-made-inside -> own-generator
def sample_dot_products(n, d_k, rng):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, d_k)) * rng.normal(size=(n, d_k))).sum(axis=1)
# 3.1 same-vectors-twice -> query-is-key
def sample_dot_products(n, d_k, rng):
    q = rng.normal(size=(n, d_k))
    return (q * q).sum(axis=1)
# 3.1 all-pairs -> all-pairs
def sample_dot_products(n, d_k, rng):
    q, k = rng.normal(size=(n, d_k)), rng.normal(size=(n, d_k))
    return q @ k.T
# 3.1 sizes-exchanged -> wrong-axis
def sample_dot_products(n, d_k, rng):
    q, k = rng.normal(size=(d_k, n)), rng.normal(size=(d_k, n))
    return (q * k).sum(axis=1)
# 3.2 one-number-for-all-rows -> one-total
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum()
# 3.2 log-of-sum -> collision
def entropy(weights):
    return -np.log((weights**2).sum(axis=-1))
# 3.2 mean-of-logs -> mean-of-terms, weights-forgotten
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return -np.log(safe).mean(axis=-1)
# 3.2 exponential-of-it -> effective-number
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return np.exp(-(weights * np.log(safe)).sum(axis=-1))
# 3.3 outer-of-everything -> diag-and-outer
def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)
# 3.3 softmax-of-p-first -> softmax-again
def softmax_jacobian(p):
    e = np.exp(p)
    p = e / e.sum(axis=-1, keepdims=True)
    return p[..., :, None] * np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]
# 3.3 row-minus-column -> p-times-one-minus-p-everywhere
def softmax_jacobian(p):
    return p[..., :, None] - p[..., :, None] * p[..., None, :]
# 3.4 derivative-elementwise -> diagonal-only
def softmax_backward(weights, d_weights):
    return weights * (1 - weights) * d_weights
# 3.4 mean-unweighted -> plain-mean
def softmax_backward(weights, d_weights):
    return weights * (d_weights - d_weights.mean(axis=-1, keepdims=True))
# 3.4 sum-without-keepdims -> axis-dropped
def softmax_backward(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(axis=-1))
"""

LESSON_06 = r"""
# 6.1 other-way-round -> tests-invariance
def is_permutation_equivariant(f, X, perm):
    return torch.allclose(f(X)[perm], f(X[perm])[perm])
# 6.1 always-yes -> same-thing-twice, always-true
def is_permutation_equivariant(f, X, perm):
    return True
# 6.1 tensor-of-bools -> "True or False is wanted; a tensor of shape"
def is_permutation_equivariant(f, X, perm):
    return f(X[perm]) == f(X)[perm]
# 6.2 positions-from-one -> positions-from-one
def sinusoidal_positional_encoding(max_len, d_model):
    p = torch.arange(1, max_len + 1)[:, None]
    angles = p * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos()[:, : d_model // 2]
    return pe
# 6.2 degrees -> degrees
def sinusoidal_positional_encoding(max_len, d_model):
    p = torch.arange(max_len)[:, None]
    angles = torch.deg2rad(p * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos()[:, : d_model // 2]
    return pe
# 6.2 sines-then-cosines -> halves
def sinusoidal_positional_encoding(max_len, d_model):
    p = torch.arange(max_len)[:, None]
    angles = p * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], dim=1)
# 6.3 sine-on-the-diagonal -> sine-and-cosine-exchanged
def shift_matrix(offset, d_model):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.block_diag(*[torch.tensor([[a.sin(), a.cos()], [-a.cos(), a.sin()]]) for a in angles])
# 6.3 a-reflection -> mirrors
def shift_matrix(offset, d_model):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.block_diag(*[torch.tensor([[a.cos(), a.sin()], [a.sin(), -a.cos()]]) for a in angles])
# 6.4 offset-forgotten -> offset-ignored
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    angles = torch.arange(T, dtype=x.dtype)[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = angles.cos(), angles.sin()
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
    return out
# 6.4 written-over-while-reading -> uses-turned-column
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    angles = (torch.arange(T, dtype=x.dtype) + offset)[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = angles.cos(), angles.sin()
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * c - out[..., 1::2] * s
    out[..., 1::2] = out[..., 0::2] * s + out[..., 1::2] * c
    return out
# 6.4 added-not-turned -> adds-sinusoids
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    angles = (torch.arange(T, dtype=x.dtype) + offset)[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    out = x.clone()
    out[..., 0::2] += angles.sin()
    out[..., 1::2] += angles.cos()
    return out
# 6.5 slopes-without-eight -> for-eight-heads
def alibi_bias(n_heads, T):
    slopes = 2.0 ** -torch.arange(1, n_heads + 1)
    p = torch.arange(T)
    return -slopes[:, None, None] * (p[:, None] - p).abs()
# 6.5 heads-last -> heads-last
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    p = torch.arange(T)
    return -(p[:, None] - p).abs()[:, :, None] * slopes
"""

LESSON_07 = r"""
# 7.1 three-factors-only -> widths-multiplied
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * T_k * d_k * d_v
# 7.1 softmax-counted-too -> "3 operations a score too high"
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * T_k * (d_k + d_v) + 3 * T_q * T_k
# 7.1 queries-squared -> queries-squared
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * T_q * (d_k + d_v)
# 7.2 quadratic-in-length -> length-squared
def projection_flops(T, d_model):
    return 8 * T**2 * d_model
# 7.2 one-projection -> one-projection
def projection_flops(T, d_model):
    return 2 * T * d_model**2
# 7.2 returns-a-text -> "A number is wanted; the text"
def projection_flops(T, d_model):
    return f"{8 * T * d_model**2} FLOPs"
# 7.3 half-of-it -> one-projection
def crossover_length(d_model):
    return d_model / 2
# 7.3 forgets-mixing -> one-product
def crossover_length(d_model):
    return 4 * d_model
# 7.4 one-axis-of-words -> length-once
def score_matrix_bytes(B, H, T, itemsize=4):
    return B * H * T * itemsize
# 7.4 itemsize-ignored -> itemsize-fixed
def score_matrix_bytes(B, H, T, itemsize=4):
    return B * H * T * T * 4
# 7.4 in-megabytes -> megabytes
def score_matrix_bytes(B, H, T, itemsize=4):
    return B * H * T * T * itemsize / 1e6
# 7.5 logarithm-of-costs-only -> sizes-not-logged
def fit_exponent(sizes, costs):
    return np.polyfit(sizes, np.log(costs), 1)[0]
# 7.5 intercept-returned -> intercept-returned
def fit_exponent(sizes, costs):
    return np.polyfit(np.log(sizes), np.log(costs), 1)[1]
# 7.5 first-and-last-point -> first-and-last-point
def fit_exponent(sizes, costs):
    return np.log(costs[-1] / costs[0]) / np.log(sizes[-1] / sizes[0])
"""

# (name, exercise, names the report must find, a phrase it must hold, source)
ATTEMPTS = (
    *(
        entry
        for text in (LESSON_00, LESSON_01, LESSON_02, LESSON_03, LESSON_04, LESSON_05, LESSON_06, LESSON_07, UNSEEN)
        for entry in _read(text)
    ),
    *((name, "4.3", named, phrase, _edited(_MULTI_HEAD, edits)) for name, named, phrase, edits in MULTI_HEAD),
    *((name, "5.7", named, phrase, _edited(_CROSS, edits)) for name, named, phrase, edits in CROSS),
)
