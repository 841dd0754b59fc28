"""Wrong answers written without looking at any catalogue, with what a good tutor would say of each.

`today` is how strictly the report was judged: NAMED (all that is wrong is named, or pointed at by line and kind),
PARTLY (one of two, or the line alone), GENERIC (only numbers), FALSE (says what is untrue). `words` stand in the report
of those that are NAMED. slow: its report takes long, so that only its verdict is tested.
"""

ATTEMPTS = [
    dict(
        id='0.1a', exercise='0.1', today='NAMED', words=('arguments', 'divide'),
        tutor='You divide by the sum of the values; divide by the sum of the weights.',
        code=r"""
def weighted_average(values, weights):
    return sum(values * weights) / sum(values)
""",
    ),
    dict(
        id='0.1f', exercise='0.1', today='NAMED', words=('decimal', 'point'),
        tutor='// rounds down; use /.',
        code=r"""
def weighted_average(values, weights):
    total = 0
    count = 0
    for i in range(len(values)):
        total += values[i] * weights[i]
        count += weights[i]
    return total // count
""",
    ),
    dict(
        id='0.1i', exercise='0.1', today='NAMED', words=('the loop inside the loop',),
        tutor='Every value is multiplied by every weight; each value has its own weight.',
        code=r"""
def weighted_average(values, weights):
    total = 0
    for v in values:
        for w in weights:
            total += v * w
    return total / np.sum(weights)
""",
    ),
    dict(
        id='0.1j', exercise='0.1', today='GENERIC',
        tutor="Precedence: only the weights' product with values should be divided... here weights are divided by values' count and the division by the sum is missing (mean of values times weights' mean).",
        code=r"""
def weighted_average(values, weights):
    return np.mean(values) * np.mean(weights)
""",
    ),
    dict(
        id='0.1m', exercise='0.1', today='NAMED', words=('turned', 'whole'),
        tutor='Repeating values works for whole-number weights only; weights may be fractions.',
        code=r"""
def weighted_average(values, weights):
    expanded = np.repeat(values, weights.astype(int))
    return expanded.mean()
""",
    ),
    dict(
        id='0.1o', exercise='0.1', today='NAMED', words=('where that range begins and ends',),
        tutor='The last value is left out (range(len - 1)), in both sums.',
        code=r"""
def weighted_average(values, weights):
    num, den = 0, 0
    for i in range(len(values) - 1):
        num += values[i] * weights[i]
        den += weights[i]
    return num / den
""",
    ),
    dict(
        id='0.1p', exercise='0.1', today='NAMED', words=('whether max is the function you need',),
        tutor='Weights divided by the largest weight are not shares, and the mean then divides by n.',
        code=r"""
def weighted_average(values, weights):
    w = weights / weights.max()
    return (w * values).mean()
""",
    ),
    dict(
        id='0.1r', exercise='0.1', today='NAMED', words=('what comes first',),
        tutor='Weights are ignored: the plain sum of the values comes out (sum of weights times sum of values over sum of weights).',
        code=r"""
def weighted_average(values, weights):
    return np.sum(values) * np.sum(weights) / np.sum(weights)
""",
    ),
    dict(
        id='0.1w', exercise='0.1', today='NAMED', words=('work', 'changed'),
        tutor="weights /= ... changes the caller's array (and refuses whole numbers).",
        code=r"""
def weighted_average(values, weights):
    weights /= weights.sum()
    return (values * weights).sum()
""",
    ),
    dict(
        id='1.1c', exercise='1.1', today='NAMED', words=('the size len',),
        tutor='The loop goes over the features (len(query)) instead of over the keys, so there are d numbers instead of n.',
        code=r"""
def similarities(query, keys):
    sims = np.zeros(len(query))
    for i in range(len(query)):
        sims[i] = np.dot(query, keys[i])
    return sims
""",
    ),
    dict(
        id='1.1f', exercise='1.1', today='NAMED', words=('One change in line 2 would make this right: look at the dtyp',),
        tutor='The result array holds integers, so fractions are cut off.',
        code=r"""
def similarities(query, keys):
    result = np.zeros(keys.shape[0], dtype=int)
    for n, key in enumerate(keys):
        result[n] = query @ key
    return result
""",
    ),
    dict(
        id='1.1j', exercise='1.1', today='NAMED', words=('unlike', 'absolute'),
        tutor='abs throws away the sign: negative agreement must stay negative; and products are summed over the wrong axis? (only abs)',
        code=r"""
def similarities(query, keys):
    return np.abs(np.dot(keys, query))
""",
    ),
    dict(
        id='1.1l', exercise='1.1', today='NAMED', words=('where that range begins and ends',),
        tutor='The last key is left out (range(n-1)) and stays 0.',
        code=r"""
def similarities(query, keys):
    n = len(keys)
    out = np.zeros(n)
    for i in range(n - 1):
        for j in range(len(query)):
            out[i] += query[j] * keys[i, j]
    return out
""",
    ),
    dict(
        id='1.1p', exercise='1.1', today='NAMED', words=('everything', 'into'),
        tutor='Everything is added into one number; one number a key is wanted.',
        code=r"""
def similarities(query, keys):
    return np.sum(query * keys)
""",
    ),
    dict(
        id='1.1q', exercise='1.1', today='NAMED', words=('whether the - and what follows it belong there',),
        tutor='Means are taken off first (that is a covariance); plain dot product.',
        code=r"""
def similarities(query, keys):
    q = query - query.mean()
    k = keys - keys.mean(axis=1, keepdims=True)
    return k @ q
""",
    ),
    dict(
        id='1.1s', exercise='1.1', today='NAMED', words=('whether abs belongs there', 'whether / np'),
        tutor='Absolute value and scaled by sqrt(d): neither is asked for.',
        code=r"""
def similarities(query, keys):
    d = query.shape[0]
    return np.abs(keys @ query) / np.sqrt(d)
""",
    ),
    dict(
        id='1.2aa', exercise='1.2', today='NAMED', words=('the sum of exps', 'division missing'),
        tutor='The value is averaged with the exponentials before they are normalised.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    value = exps @ values
    weights = exps / exps.sum()
    return value, weights
""",
    ),
    dict(
        id='1.2b', exercise='1.2', today='NAMED', words=('sharper', 'temperature'),
        tutor='Sharpness multiplies the scores, you divide by it (temperature).',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys) / sharpness
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = weights @ values
    return value, weights
""",
    ),
    dict(
        id='1.2bb', exercise='1.2', today='NAMED', words=('whether / np',),
        tutor='Scores are divided by sqrt(d): nothing but sharpness scales them.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query) / np.sqrt(len(query))
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2cc', exercise='1.2', today='NAMED', words=('the +=',),
        tutor="value takes the values' dtype: with whole-number values, as in the lesson, += fails.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = np.zeros_like(values[0])
    for w, v in zip(weights, values):
        value += w * v
    return value, weights
""",
    ),
    dict(
        id='1.2d', exercise='1.2', today='NAMED', words=('weighted', 'adding'),
        tutor='The weights already sum to 1: add up, do not average again.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = np.array([sharpness * np.dot(query, k) for k in keys])
    scores = scores - scores.max()
    weights = np.exp(scores) / np.exp(scores).sum()
    value = np.mean([w * v for w, v in zip(weights, values)], axis=0)
    return value, weights
""",
    ),
    dict(
        id='1.2dd', exercise='1.2', today='NAMED', words=('the dtype of empty_like',),
        tutor="Scores go into an array of the keys' dtype (whole numbers in the lesson): they are cut off.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = np.empty_like(keys[:, 0])
    for i in range(len(keys)):
        scores[i] = sharpness * (query @ keys[i])
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2e', exercise='1.2', today='NAMED', words=('proportion', 'gave'),
        tutor='This is the hard lookup (best key only).',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    best = np.argmax(scores)
    weights = np.zeros(len(keys))
    weights[best] = 1.0
    return values[best], weights
""",
    ),
    dict(
        id='1.2f', exercise='1.2', today='NAMED', words=('You clipped the scores to stay clear of overflow, so scores ',),
        tutor='Clipping changes the scores: subtract the maximum instead, which changes no weight.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    scores = np.clip(scores, -50, 50)
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2g', exercise='1.2', today='NAMED', words=('Sharpness', 'averaged'),
        tutor='Sharpness is forgotten, and the values averaged are the keys.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = weights @ keys
    return value, weights
""",
    ),
    dict(
        id='1.2h', exercise='1.2', today='NAMED', words=('a sigmoid',),
        tutor='The sigmoid of each score: weights do not sum to 1; use exponentials divided by their sum.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * np.dot(keys, query)
    weights = 1 / (1 + np.exp(-scores))
    value = np.dot(weights, values)
    return value, weights
""",
    ),
    dict(
        id='1.2k', exercise='1.2', today='NAMED', words=('subtracting', 'largest'),
        tutor='You divide by the maximum where it must be subtracted.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores / scores.max())
    weights = exps / exps.sum()
    value = weights @ values
    return value, weights
""",
    ),
    dict(
        id='1.2n', exercise='1.2', today='NAMED', words=('Sharpness', 'answer'),
        tutor='Sharpness is added instead of multiplied; softmax then ignores it.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys) + sharpness
    scores -= scores.max()
    weights = np.exp(scores)
    weights /= weights.sum()
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2p', exercise='1.2', today='NAMED', words=('raised', 'finished'),
        tutor='The weights are raised to the sharpness but not divided by their new sum.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    weights = weights ** sharpness
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2r', exercise='1.2', today='NAMED', words=('exponentials', 'sharper'),
        tutor='Exponentials are divided by their number; divide by their sum. And sharpness divides.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys) / sharpness
    exps = np.exp(scores - scores.max())
    weights = exps / len(exps)
    return weights @ values, weights
""",
    ),
    dict(
        id='1.2t', exercise='1.2', today='NAMED', words=('dividing', 'largest'),
        tutor='No maximum subtracted (overflow), and sharpness comes after the exponential.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = [np.dot(query, k) for k in keys]
    e = [sharpness * np.exp(s) for s in scores]
    weights = np.array([x / sum(e) for x in e])
    value = sum(w * v for w, v in zip(weights, values))
    return value, weights
""",
    ),
    dict(
        id='1.2v', exercise='1.2', today='NAMED', words=('the size len',),
        tutor="The value has the keys' width: np.zeros(len(query)); it needs d_v numbers.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = np.zeros(len(query))
    for w, v in zip(weights, values):
        value += w * v
    return value, weights
""",
    ),
    dict(
        id='1.2w', exercise='1.2', today='NAMED', words=('look at the number 1000',),
        tutor="Only the scores' sign... 1000 is subtracted in place of the maximum: small scores underflow to 0/0.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - 1000)
    weights = exps / exps.sum()
    return weights @ values, weights
""",
    ),
    dict(
        id='1.3a', exercise='1.3', today='PARTLY',
        tutor="Keys and values have each other's matrix.",
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    V = X @ W_k
    K = X @ W_v
    return Q, K, V
""",
    ),
    dict(
        id='1.3b', exercise='1.3', today='NAMED', words=('projected', 'begins'),
        tutor='Each projection starts from X; you project the projection (chain).',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = Q @ W_k
    V = K @ W_v
    return Q, K, V
""",
    ),
    dict(
        id='1.3d', exercise='1.3', today='NAMED', words=('projection', 'entry'),
        tutor='* multiplies entry by entry: use @.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = X * W_q
    K = X * W_k
    V = X * W_v
    return Q, K, V
""",
    ),
    dict(
        id='1.3e', exercise='1.3', today='NAMED', words=('overwritten', 'randn'),
        tutor='A random matrix replaces the one that was given.',
        code=r"""
def project(X, W_q, W_k, W_v):
    d_model = X.shape[1]
    W_q = np.random.randn(d_model, W_q.shape[1])
    W_k = np.random.randn(d_model, W_k.shape[1])
    W_v = np.random.randn(d_model, W_v.shape[1])
    return X @ W_q, X @ W_k, X @ W_v
""",
    ),
    dict(
        id='1.3f', exercise='1.3', today='NAMED', words=('Here', 'lesson'),
        tutor='Q is already divided by sqrt(d_k): no scaling is asked for here.',
        code=r"""
def project(X, W_q, W_k, W_v):
    d_k = W_q.shape[1]
    Q = np.matmul(X, W_q) / np.sqrt(d_k)
    K = np.matmul(X, W_k)
    V = np.matmul(X, W_v)
    return Q, K, V
""",
    ),
    dict(
        id='1.3g', exercise='1.3', today='NAMED', words=('project', 'themselves'),
        tutor='V is X itself, its projection is missing.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = X @ W_k
    return Q, K, X
""",
    ),
    dict(
        id='1.3h', exercise='1.3', today='NAMED', words=('projected', 'holds'),
        tutor='Only the first word is projected.',
        code=r"""
def project(X, W_q, W_k, W_v):
    for x in X:
        q = x @ W_q
        k = x @ W_k
        v = x @ W_v
        return q, k, v
""",
    ),
    dict(
        id='1.3k', exercise='1.3', today='NAMED', words=('Queries', 'came'),
        tutor='One matrix, W_q, for all three.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = K = V = X @ W_q
    return Q, K, V
""",
    ),
    dict(
        id='1.3m', exercise='1.3', today='PARTLY',
        tutor='V is made with room for d_k numbers a word; it has d_v.',
        code=r"""
def project(X, W_q, W_k, W_v):
    T, d_model = X.shape
    d_k = W_q.shape[1]
    Q = np.zeros((T, d_k))
    K = np.zeros((T, d_k))
    V = np.zeros((T, d_k))
    for t in range(T):
        Q[t] = X[t] @ W_q
        K[t] = X[t] @ W_k
        V[t] = X[t] @ W_v
    return Q, K, V
""",
    ),
    dict(
        id='1.3n', exercise='1.3', today='NAMED', words=('whether the / and what follows it belong there',),
        tutor='Rows of Q and K are normalised to length 1; nothing of the kind is asked.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    K = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return Q, K, V
""",
    ),
    dict(
        id='1.3o', exercise='1.3', today='NAMED', words=('exchanged', 'the name W_q'),
        tutor='K comes from W_v and V from W_q: each has its own matrix.',
        code=r"""
def project(X, W_q, W_k, W_v):
    projections = []
    for W in (W_q, W_v, W_q):
        projections.append(X @ W)
    Q, K, V = projections
    return Q, K, V
""",
    ),
    dict(
        id='1.3s', exercise='1.3', today='NAMED', words=('came', 'matrix'),
        tutor='Keys and values both from W_k: V needs W_v.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = np.array([x @ W_q for x in X])
    K = np.array([x @ W_k for x in X])
    V = np.array([x @ W_k for x in X])
    return Q, K, V
""",
    ),
    dict(
        id='1.3t', exercise='1.3', today='NAMED', words=('One change in line 4 would make this right: look at the dtyp',),
        tutor="Results take the matrices' dtype, whole numbers in the lesson: fractions would be cut off.",
        code=r"""
def project(X, W_q, W_k, W_v):
    results = []
    for W in (W_q, W_k, W_v):
        R = np.zeros((X.shape[0], W.shape[1]), dtype=W.dtype)
        R[:] = X @ W
        results.append(R)
    return tuple(results)
""",
    ),
    dict(
        id='r-relu-on-the-projections', exercise='1.3', today='NAMED', words=('whether maximum belongs there',),
        tutor='A projection is linear: the ReLU throws away every negative feature of Q, K and V. Leave it out.',
        code=r"""
def project(X, W_q, W_k, W_v):
    return np.maximum(X @ W_q, 0), np.maximum(X @ W_k, 0), np.maximum(X @ W_v, 0)
""",
    ),
    dict(
        id='1.4c', exercise='1.4', today='NAMED', words=('the letters of einsum',),
        tutor="Works for one batch axis only; write '...' for any number of axes.",
        code=r"""
def dot_product_scores(Q, K):
    if Q.ndim == 2:
        return Q @ K.T
    return np.einsum('bid,bjd->bij', Q, K)
""",
    ),
    dict(
        id='1.4e', exercise='1.4', today='NAMED', words=('inner', 'like'),
        tutor='np.dot pairs every batch of Q with every batch of K: use @.',
        code=r"""
def dot_product_scores(Q, K):
    return np.dot(Q, np.swapaxes(K, -1, -2))
""",
    ),
    dict(
        id='1.4h', exercise='1.4', today='NAMED', words=('whether mean is the function you need',),
        tutor='The features are averaged instead of added.',
        code=r"""
def dot_product_scores(Q, K):
    pairs = Q[..., :, None, :] * K[..., None, :, :]
    return pairs.mean(axis=-1)
""",
    ),
    dict(
        id='1.4i', exercise='1.4', today='NAMED', words=('divided by √d_k', 'which axis comes first'),
        tutor='The scale sqrt(d_k) is not asked for here, and the rows belong to the keys (transposed).',
        code=r"""
def dot_product_scores(Q, K):
    d_k = K.shape[-1]
    return K @ np.swapaxes(Q, -1, -2) / np.sqrt(d_k)
""",
    ),
    dict(
        id='1.4k', exercise='1.4', today='NAMED', words=('compares', 'meet'),
        tutor='Q.T @ K compares features with features: Q @ K.T.',
        code=r"""
def dot_product_scores(Q, K):
    return np.swapaxes(Q, -1, -2) @ K
""",
    ),
    dict(
        id='1.4m', exercise='1.4', today='NAMED', words=('meet', 'compared'),
        tutor='Queries meet queries: K is not used.',
        code=r"""
def dot_product_scores(Q, K):
    return Q @ np.swapaxes(Q, -1, -2)
""",
    ),
    dict(
        id='1.4n', exercise='1.4', today='NAMED', words=('whether tril belongs there',),
        tutor="Only keys up to the query's own place are scored (causal); all pairs are wanted.",
        code=r"""
def dot_product_scores(Q, K):
    S = Q @ np.swapaxes(K, -1, -2)
    return np.tril(S)
""",
    ),
    dict(
        id='1.4o', exercise='1.4', today='NAMED', words=('fails', 'fits'),
        tutor='transpose(0, 2, 1) works for three axes only: swapaxes(-1, -2).',
        code=r"""
def dot_product_scores(Q, K):
    return np.matmul(Q, K.transpose(0, 2, 1))
""",
    ),
    dict(
        id='1.4p', exercise='1.4', today='NAMED', words=('Here', 'taken'),
        tutor='Scale and softmax are not asked for: plain scores.',
        code=r"""
def dot_product_scores(Q, K):
    d_k = Q.shape[-1]
    scores = np.matmul(Q, np.swapaxes(K, -2, -1)) / np.sqrt(d_k)
    e_x = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e_x / e_x.sum(axis=-1, keepdims=True)
""",
    ),
    dict(
        id='1.4q', exercise='1.4', today='NAMED', words=('serves', 'early'),
        tutor='The loop takes the first axis for a batch always: for plain (T, d) it compares same positions only.',
        code=r"""
def dot_product_scores(Q, K):
    result = []
    for b in range(Q.shape[0]):
        result.append(Q[b] @ K[b].T)
    return np.array(result)
""",
    ),
    dict(
        id='1.4t', exercise='1.4', today='NAMED', words=('divided by √d_k', 'the name K'),
        tutor='Keys with keys, and scaled.',
        code=r"""
def dot_product_scores(Q, K):
    return K @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
""",
    ),
    dict(
        id='1.4u', exercise='1.4', today='NAMED', words=('Your loops take the first axis for the positions', 'look at which axis comes first in what you return'),
        tutor="The loop's i and j are exchanged when writing: the result is transposed; and only two axes are handled.",
        code=r"""
def dot_product_scores(Q, K):
    scores = np.zeros((len(K), len(Q)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[j][i] = np.dot(Q[i], K[j])
    return scores
""",
    ),
    dict(
        id='1.5b', exercise='1.5', today='NAMED', words=('many', 'feature'),
        tutor='5 * list repeats the list five times (20 rows): make it an array before you multiply.',
        code=r"""
def design_projections():
    W_q = np.array(5 * [[0, 0], [1, 1], [1, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
""",
    ),
    dict(
        id='1.5c', exercise='1.5', today='NAMED', words=('tells', 'books'),
        tutor="old asks for a plural only, and 'are' is plural too: ask for noun and plural.",
        code=r"""
def design_projections():
    W_q = 10.0 * np.array([[0, 0], [1, 1], [0, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
""",
    ),
    dict(
        id='1.5f', exercise='1.5', today='NAMED', words=('design', 'works'),
        tutor='Returned in the wrong order: W_q first.',
        code=r"""
def design_projections():
    W_q = 6 * np.array([[0, 0], [1, 1], [1, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_k, W_q
""",
    ),
    dict(
        id='1.5h', exercise='1.5', today='PARTLY',
        tutor='The sign of number is wrong: old and are look for a singular noun and find shelf.',
        code=r"""
def design_projections():
    W_q = 5 * np.array([[0, 0], [1, -1], [1, -1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
""",
    ),
    dict(
        id='1.5i', exercise='1.5', today='NAMED', words=('these', 'many'),
        tutor='One row for each word instead of one for each feature: the shape must be (4, d_k).',
        code=r"""
def design_projections():
    W_q = np.zeros((7, 2))
    W_q[5] = [5, 5]
    W_q[6] = [5, 5]
    W_k = np.zeros((7, 2))
    W_k[1] = [1, 1]
    return W_q, W_k
""",
    ),
    dict(
        id='1.5k', exercise='1.5', today='NAMED', words=('Which', 'plural'),
        tutor='are was given up: its row is zero now; it must still find keys.',
        code=r"""
def design_projections():
    W_q = np.array([[0, 0], [0, 0], [6, 6], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
""",
    ),
    dict(
        id='1.5l', exercise='1.5', today='NAMED', words=('these', 'many'),
        tutor='Queries and keys of the words are returned, not the matrices.',
        code=r"""
def design_projections():
    words_X = np.array([[0,0,0,0],[1,0,0,1],[0,0,0,0],[0,0,0,0],[1,0,0,-1],[0,1,0,1],[0,0,1,0]])
    W_q = 5 * np.array([[0, 0], [1, 1], [1, 1], [0, 0]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return words_X @ W_q, words_X @ W_k
""",
    ),
    dict(
        id='1.5n', exercise='1.5', today='NAMED', words=('many', 'feature'),
        tutor='W_q and W_k need equally many columns.',
        code=r"""
def design_projections():
    W_q = 5 * np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]])
    W_k = np.array([[1, 0], [0, 0], [0, 0], [0, 1]])
    return W_q, W_k
""",
    ),
    dict(
        id='2.1b', exercise='2.1', today='NAMED', words=('work', 'changed'),
        tutor="x -= changes the caller's array; and it fails for integers.",
        code=r"""
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
""",
    ),
    dict(
        id='2.1bb', exercise='2.1', today='NAMED', words=('the axis of max',),
        tutor='The maximum is taken along axis 0 always; take it along `axis`.',
        code=r"""
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1c', exercise='2.1', today='NAMED', words=('keepdims', 'drops'),
        tutor='keepdims is missing in the sum, so the division does not line up (works for 1-D only).',
        code=r"""
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=axis)
""",
    ),
    dict(
        id='2.1d', exercise='2.1', today='NAMED', words=('underflows', 'below'),
        tutor='The maximum is of the whole array: a row far below it underflows to 0/0; take it along the axis.',
        code=r"""
def softmax(x, axis=-1):
    z = x - x.max()
    e = np.exp(z)
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1f', exercise='2.1', today='NAMED', words=('One change in lines 2 and 3 would make this right',),
        tutor='The maximum is subtracted after the exponential: subtract before.',
        code=r"""
def softmax(x, axis=-1):
    e = np.exp(x)
    e = e - np.max(e, axis=axis, keepdims=True)
    return e / np.sum(e, axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1i', exercise='2.1', today='NAMED', words=('overflows', 'normalise'),
        tutor='axis is ignored by apply_along_axis(…, -1, …), and nothing guards against overflow.',
        code=r"""
def softmax(x, axis=-1):
    def one(row):
        return np.exp(row) / np.sum(np.exp(row))
    return np.apply_along_axis(one, -1, x)
""",
    ),
    dict(
        id='2.1k', exercise='2.1', today='NAMED', words=('replaced', 'care'),
        tutor='-inf replaced by a number (0): the blocked entry gets weight again.',
        code=r"""
def softmax(x, axis=-1):
    x = np.where(np.isinf(x), 0, x)
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1l', exercise='2.1', today='NAMED', words=('minimum', 'smaller'),
        tutor='The minimum is subtracted: the largest can still overflow; subtract the maximum.',
        code=r"""
def softmax(x, axis=-1):
    x = x - np.min(x, axis=axis, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1q', exercise='2.1', today='NAMED', words=('refuses', 'NumPy'),
        tutor='The builtin max compares rows, not numbers; np.max with axis.',
        code=r"""
def softmax(x, axis=-1):
    e = np.exp(x - max(x))
    return e / np.sum(e, axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1s', exercise='2.1', today='NAMED', words=('One change in line 4 would make this right: look at whether ',),
        tutor='1 is added to the sum: weights no longer sum to 1.',
        code=r"""
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / (1 + np.sum(e, axis=axis, keepdims=True))
""",
    ),
    dict(
        id='2.1u', exercise='2.1', today='NAMED', words=('the axis of sum',),
        tutor='Maximum along the axis, but the sum along the last axis always.',
        code=r"""
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
""",
    ),
    dict(
        id='2.1v', exercise='2.1', today='NAMED', words=('what that line computes', 'whether exp belongs there'),
        tutor='The exponential is missing for the sum: sum the exponentials, not the scores.',
        code=r"""
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    z = x - m
    return np.exp(z) / np.sum(z, axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1w', exercise='2.1', today='NAMED', words=('overflows', 'maximum'),
        tutor='The shift is undone: z is computed, but exp takes x again (overflow).',
        code=r"""
def softmax(x, axis=-1):
    z = x - np.max(x, axis=axis, keepdims=True)
    exps = np.exp(x)
    return exps / np.sum(exps, axis=axis, keepdims=True)
""",
    ),
    dict(
        id='2.1x', exercise='2.1', today='NAMED', words=('whether abs belongs there', 'whether round belongs there'),
        tutor='Shift by the absolute largest, and the result is rounded.',
        code=r"""
def softmax(x, axis=-1):
    m = np.max(np.abs(x), axis=axis, keepdims=True)
    e = np.exp(x - m)
    return np.round(e / e.sum(axis=axis, keepdims=True), 3)
""",
    ),
    dict(
        id='2.2a', exercise='2.2', today='NAMED', words=('soon', 'sequence'),
        tutor='axis=1 is the keys only for 2-D; with a batch it is the queries: axis=-1.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=1)
    return np.matmul(weights, V), weights
""",
    ),
    dict(
        id='2.2d', exercise='2.2', today='NAMED', words=('inverted', 'allowed'),
        tutor='True means may attend: you blocked the allowed ones (scores[mask] = -inf).',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    scores /= math.sqrt(Q.shape[-1])
    if mask is not None:
        mask = np.broadcast_to(mask, scores.shape)
        scores[mask] = -np.inf
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2dd', exercise='2.2', today='NAMED', words=('others', 'masked'),
        tutor='out is computed from weights before the mask, the mask is applied to the returned weights only.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    weights = softmax(scores)
    out = weights @ V
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
        weights = softmax(scores)
    return out, weights
""",
    ),
    dict(
        id='2.2ee', exercise='2.2', today='NAMED', words=('√√d_k', 'subtracts'),
        tutor='The naive exponential overflows, and the scale is the fourth root... d_k ** 0.25.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = Q @ np.swapaxes(K, -1, -2) / d_k ** 0.25
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2f', exercise='2.2', today='NAMED', words=('longer', 'scale'),
        tutor='The scale comes after the softmax, so the weights do not sum to 1 (scores must be divided).',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores) / math.sqrt(Q.shape[-1])
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2g', exercise='2.2', today='NAMED', words=('even', 'twice'),
        tutor='Q and K are each divided by sqrt(d_k), so scores are divided by d_k.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    Q = Q / np.sqrt(d_k)
    K = K / np.sqrt(d_k)
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2gg', exercise='2.2', today='NAMED', words=('become', 'counts'),
        tutor='The mask is added to the scores (True adds 1) instead of blocking.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores + mask
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2h', exercise='2.2', today='PARTLY', slow=True,
        tutor='The mask is subtracted so that True blocks (inverted), and -10 is not minus infinity.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores + mask * -10.0
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2ii', exercise='2.2', today='NAMED', words=('Indexing', 'broadcast'),
        tutor="scores[~mask] needs a mask of the scores' own shape; a broadcastable one must be broadcast (np.where does).",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores[~mask] = -np.inf
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2jj', exercise='2.2', today='NAMED', words=('work', 'changed'),
        tutor="Q is changed in place (/=): the caller's array is scaled.",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q /= math.sqrt(Q.shape[-1])
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2k', exercise='2.2', today='NAMED', words=('whether softmax belongs there',),
        tutor='Softmax twice.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, -np.inf)
    weights = softmax(weights)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2ll', exercise='2.2', today='NAMED', words=('apply', 'shares'),
        tutor='Queries and keys are exchanged (scores transposed), and so the wrong side is normalised... then transposed back: softmax over the queries; no mask.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = K @ np.swapaxes(Q, -1, -2) / math.sqrt(Q.shape[-1])
    weights = softmax(scores)
    weights = np.swapaxes(weights, -1, -2)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2m', exercise='2.2', today='NAMED', words=('lines', 'Look'), slow=True,
        tutor='The mask is applied to the output rows, not to the scores.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum()
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2mm', exercise='2.2', today='NAMED', words=('NameError', 'known'),
        tutor='d_k is never defined (NameError).',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2oo', exercise='2.2', today='NAMED', words=('scale', 'batch'),
        tutor='K.shape[0] is T_k without a batch, and B with one: the scale is the width, K.shape[-1].',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = K.shape[0]
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2q', exercise='2.2', today='NAMED', words=('sharp', 'filled'),
        tutor='-1 in a blocked score is an ordinary score; write minus infinity. Also the scale is missing.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask == False, -1, scores)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2s', exercise='2.2', today='NAMED', words=('adds', 'inverted'),
        tutor='Scale by the number of keys instead of d_k, and the mask inverted.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scale = 1 / np.sqrt(K.shape[-2])
    scores = np.einsum('...qd,...kd->...qk', Q, K) * scale
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    w = softmax(scores)
    return np.einsum('...qk,...kd->...qd', w, V), w
""",
    ),
    dict(
        id='2.2t', exercise='2.2', today='NAMED', words=('picks', 'just'),
        tutor='0 * -inf is nan: use np.where.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores * mask + (~mask) * -np.inf
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2u', exercise='2.2', today='NAMED', words=('long', 'scale'),
        tutor='Q.shape[1] is d_k without a batch only: Q.shape[-1].',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[1]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.2z', exercise='2.2', today='NAMED', words=('np.linalg.norm',), slow=True,
        tutor='The dot products are cosines here: do not normalise Q and K.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    K = K / np.linalg.norm(K, axis=-1, keepdims=True)
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='r-attention-feature-by-feature', exercise='2.2', today='NAMED', words=('if it were summed over its last axis',),
        tutor='Products are not summed over the features, so every feature gets weights of its own: add up over d_k, one score a pair.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q[..., :, None, :] * K[..., None, :, :] / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask[..., None], scores, -np.inf)
    weights = softmax(scores, axis=-2)
    out = (weights * V[..., None, :, :]).sum(axis=-2)
    return out, weights
""",
    ),
    dict(
        id='2.3a', exercise='2.3', today='NAMED', words=('project', 'themselves'),
        tutor='Values are not projected: V = X @ W_v.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q
    K = X @ W_k
    return scaled_dot_product_attention(Q, K, X, mask)
""",
    ),
    dict(
        id='2.3b', exercise='2.3', today='NAMED', words=('wrong order', 'what scaled_dot_product_attention is told'),
        tutor='The mask is not passed on, and queries and keys are exchanged in the call.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    out, weights = scaled_dot_product_attention(k, q, v)
    return out, weights
""",
    ),
    dict(
        id='2.3c', exercise='2.3', today='NAMED', words=('One change in line 4 would make this right: look at whether ',),
        tutor='A residual X is added; only the attention is asked for.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    out, w = scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v, mask)
    if out.shape == X.shape:
        out = out + X
    return out, w
""",
    ),
    dict(
        id='2.3f', exercise='2.3', today='NAMED', words=('alone', 'output'),
        tutor='Only the outputs are returned; the weights are wanted too.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = [X @ W for W in (W_q, W_k, W_v)]
    return scaled_dot_product_attention(Q, K, V, mask)[0]
""",
    ),
    dict(
        id='2.3j', exercise='2.3', today='NAMED', words=('the size X',),
        tutor='Scale by d_model (width of X) instead of d_k.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    d_model = X.shape[-1]
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(d_model)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id='2.3k', exercise='2.3', today='NAMED', words=('what scaled_dot_product_attention is told',),
        tutor='The mask is applied to the outputs afterwards by zeroing weights, without renormalising.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    out, weights = scaled_dot_product_attention(Q, K, V)
    if mask is not None:
        weights = weights * mask
        out = weights @ V
    return out, weights
""",
    ),
    dict(
        id='2.3n', exercise='2.3', today='NAMED', words=('inverted', 'means'),
        tutor='The mask is turned round (~): pass it on as it is.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    if mask is not None:
        mask = ~mask
    return scaled_dot_product_attention(Q, K, V, mask)
""",
    ),
    dict(
        id='2.3o', exercise='2.3', today='NAMED', words=('whether / np', 'the order of the names before the ='),
        tutor='Results in the other order and the values are scaled by sqrt(d_v).',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v / np.sqrt(W_v.shape[1])
    out, weights = scaled_dot_product_attention(Q, K, V, mask)
    return weights, out
""",
    ),
    dict(
        id='2.3r', exercise='2.3', today='NAMED', words=('never', 'yours'), slow=True,
        tutor='Own softmax runs over the queries (axis=-2), and the mask is forgotten.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    q = X @ W_q
    k = X @ W_k
    v = X @ W_v
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    a = np.exp(s) / np.exp(s).sum(axis=-2, keepdims=True)
    return a @ v, a
""",
    ),
    dict(
        id='2.3s', exercise='2.3', today='NAMED', words=('√d_model', 'those'),
        tutor="A query's matrix transposed... W_q is used for the queries of the keys: Q = X W_q W_k^T double; K then X: equal scores, but the scale is wrong (d_model for d_k).",
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    A = W_q @ W_k.T
    return scaled_dot_product_attention(X @ A, X, X @ W_v, mask)
""",
    ),
    dict(
        id='2.3t', exercise='2.3', today='NAMED', words=('attention', 'Keys'),
        tutor='Queries and keys are exchanged in the call.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    return scaled_dot_product_attention(K, Q, V, mask)
""",
    ),
    dict(
        id='2.3w', exercise='2.3', today='NAMED', words=('whether @ W_v belongs there',),
        tutor='The output is projected with W_v twice.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    out, weights = scaled_dot_product_attention(Q, K, V, mask)
    return out @ W_v, weights
""",
    ),
    dict(
        id='2.3x', exercise='2.3', today='NAMED', words=('Queries', 'asked'),
        tutor='One matrix for all three and the results in the other order.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    H = X @ W_q
    out, weights = scaled_dot_product_attention(H, H, H, mask)
    return weights, out
""",
    ),
    dict(
        id='2.4b', exercise='2.4', today='NAMED', words=('units', 'sits'),
        tutor='tanh is taken after weighting with v; take it of the hidden units first.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = (Q @ W_q)[:, None, :] + (K @ W_k)[None, :, :]
    return np.tanh(hidden @ v)
""",
    ),
    dict(
        id='2.4e', exercise='2.4', today='NAMED', words=('scored', 'Query'),
        tutor='Pairs only query i with key i: give the two an axis of their own.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = np.tanh(Q @ W_q + K @ W_k)
    return hidden @ v
""",
    ),
    dict(
        id='2.4i', exercise='2.4', today='NAMED', words=('went', 'themselves'),
        tutor='The scores are softmaxed already: scores wanted.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    h = np.tanh((Q @ W_q)[:, None, :] + (K @ W_k)[None, :, :])
    e = h @ v
    return softmax(e, axis=-1)
""",
    ),
    dict(
        id='2.4l', exercise='2.4', today='NAMED', words=('what comes inside the parentheses of tanh',),
        tutor='v weights the input of tanh; weight the hidden units after it.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    return np.array([[np.tanh(v * (q @ W_q + k @ W_k)).sum() for k in K] for q in Q])
""",
    ),
    dict(
        id='2.4p', exercise='2.4', today='NAMED', words=('separately', 'through'),
        tutor='tanh separately on each part, and W_q for both.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    q_part = np.tanh(np.matmul(Q, W_q))
    k_part = np.tanh(np.matmul(K, W_q))
    return (q_part[:, np.newaxis] + k_part[np.newaxis, :]) @ v
""",
    ),
    dict(
        id='2.4q', exercise='2.4', today='NAMED', words=('There is no tanh', 'divided by √m'),
        tutor='Divided by sqrt(m), and no tanh.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    m = v.shape[0]
    h = (Q @ W_q)[:, None, :] + (K @ W_k)[None, :, :]
    return h @ v / np.sqrt(m)
""",
    ),
    dict(
        id='2.4s', exercise='2.4', today='NAMED', words=('through', 'went'),
        tutor='The raw query and key are not projected: they are added first and W_q used for the sum.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    pair = Q[:, None, :] + K[None, :, :]
    return np.tanh(pair @ W_q) @ v
""",
    ),
    dict(
        id='2.4u', exercise='2.4', today='NAMED', words=('W_k and W_q',),
        tutor='The two matrices are exchanged.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = np.tanh((Q @ W_k)[:, None, :] + (K @ W_q)[None, :, :])
    return hidden @ v
""",
    ),
    dict(
        id='2.4v', exercise='2.4', today='NAMED', words=('K and Q',),
        tutor='Q and K are exchanged: keys take W_q and queries W_k, and the result is transposed.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = np.tanh((K @ W_q)[:, None, :] + (Q @ W_k)[None, :, :])
    return hidden @ v
""",
    ),
    dict(
        id='2.4w', exercise='2.4', today='NAMED', words=('through', 'went'),
        tutor='W_k for both.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    scores = np.zeros((Q.shape[0], K.shape[0]))
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            scores[i, j] = v.dot(np.tanh(Q[i].dot(W_k) + K[j].dot(W_k)))
    return scores
""",
    ),
    dict(
        id='2.5a', exercise='2.5', today='NAMED', words=('leads', 'transposed'),
        tutor='W is transposed.',
        code=r"""
def general_scores(Q, K, W):
    return Q @ W.T @ K.T
""",
    ),
    dict(
        id='2.5d', exercise='2.5', today='NAMED', words=('a tanh too many', 'which axis comes first'),
        tutor='tanh does not belong to general scores, and the result is transposed.',
        code=r"""
def general_scores(Q, K, W):
    return np.tanh(K @ W.T @ Q.T)
""",
    ),
    dict(
        id='2.5e', exercise='2.5', today='NAMED', words=('expected', 'returned'),
        tutor='The key is missing: only Q @ W is returned.',
        code=r"""
def general_scores(Q, K, W):
    QW = Q @ W
    return QW
""",
    ),
    dict(
        id='2.5f', exercise='2.5', today='NAMED', words=('has just these two sizes: does it belong in between?',),
        tutor='W multiplies the scores entry by entry; it belongs between query and key.',
        code=r"""
def general_scores(Q, K, W):
    scores = Q @ K.T
    return scores * W
""",
    ),
    dict(
        id='2.5g', exercise='2.5', today='NAMED', words=('general', 'learn'),
        tutor='Scaled by sqrt(d): general scores are not scaled.',
        code=r"""
def general_scores(Q, K, W):
    scores = np.einsum('qa,ab,kb->qk', Q, W, K)
    return scores / np.sqrt(K.shape[-1])
""",
    ),
    dict(
        id='2.5h', exercise='2.5', today='NAMED', words=('transposed', 'belong'),
        tutor='Row i must belong to query i: transposed.',
        code=r"""
def general_scores(Q, K, W):
    return np.array([[q @ W @ k for q in Q] for k in K])
""",
    ),
    dict(
        id='2.5l', exercise='2.5', today='NAMED', words=('transposes', 'elsewhere'),
        tutor='K is reshaped, not transposed.',
        code=r"""
def general_scores(Q, K, W):
    return Q @ W @ K.reshape(K.shape[1], K.shape[0])
""",
    ),
    dict(
        id='2.5m', exercise='2.5', today='NAMED', words=('went', 'themselves'),
        tutor='Softmax applied: scores wanted.',
        code=r"""
def general_scores(Q, K, W):
    s = Q @ W @ K.T
    return softmax(s, axis=1)
""",
    ),
    dict(
        id='2.5n', exercise='2.5', today='NAMED', words=('where total gets its first value',),
        tutor='The total is not reset for each pair.',
        code=r"""
def general_scores(Q, K, W):
    scores = np.zeros((len(Q), len(K)))
    total = 0.0
    for i in range(len(Q)):
        for j in range(len(K)):
            for a in range(W.shape[0]):
                for b in range(W.shape[1]):
                    total += Q[i, a] * W[a, b] * K[j, b]
            scores[i, j] = total
    return scores
""",
    ),
    dict(
        id='2.5o', exercise='2.5', today='NAMED', words=('also', 'width'),
        tutor='W is left out: Q @ K.T.',
        code=r"""
def general_scores(Q, K, W):
    return np.matmul(Q, K.T)
""",
    ),
    dict(
        id='2.5p', exercise='2.5', today='NAMED', words=('whether',),
        tutor='W is symmetrised; use it as it is.',
        code=r"""
def general_scores(Q, K, W):
    W_sym = (W + W.T) / 2
    return Q @ W_sym @ K.T
""",
    ),
    dict(
        id='2.5q', exercise='2.5', today='NAMED', words=('began', 'between'),
        tutor='K @ W @ Q.T: order of Q and K exchanged (transposed, and W applied the wrong way).',
        code=r"""
def general_scores(Q, K, W):
    return K @ W @ Q.T
""",
    ),
    dict(
        id='2.5s', exercise='2.5', today='NAMED', words=('the order of the indices of W',),
        tutor="The loops' i and j are exchanged in the sum: W[j, i].",
        code=r"""
def general_scores(Q, K, W):
    Tq, dq = Q.shape
    Tk, dk = K.shape
    out = np.zeros((Tq, Tk))
    for i in range(Tq):
        for j in range(Tk):
            for a in range(dq):
                for b in range(dk):
                    out[i, j] += Q[i, a] * W[b, a] * K[j, b]
    return out
""",
    ),
    dict(
        id='2.6b', exercise='2.6', today='NAMED', words=('examples', 'runs'),
        tutor='axis=0 is still not the keys: axis=-1.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=0)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6c', exercise='2.6', today='NAMED', words=('almost', 'dividing'),
        tutor='Dividing by d_k ** -0.5 multiplies by the root.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k ** -0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6d', exercise='2.6', today='NAMED', words=('inverted', 'shares'),
        tutor='The mask is now inverted, and the softmax still runs over the queries.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k ** 0.5
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores, axis=-2)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6f', exercise='2.6', today='NAMED', words=('sharp', 'left'),
        tutor='The scale was removed rather than repaired.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6g', exercise='2.6', today='NAMED', words=('even', 'mixture'),
        tutor='The products were right; your new one averages with transposed weights, and d_k is still not rooted.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / d_k
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.swapaxes(weights, -1, -2) @ V
    return out, weights
""",
    ),
    dict(
        id='2.6l', exercise='2.6', today='NAMED', words=('asked', 'order'),
        tutor='The bugs are mended, but the results are returned in the other order.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return weights, out
""",
    ),
    dict(
        id='2.6n', exercise='2.6', today='NAMED', words=('less', 'Mask'),
        tutor='Blocked weights are set to 0 after the softmax: rows no longer sum to 1.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / np.sqrt(d_k)
    weights = softmax(scores, axis=-1)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6p', exercise='2.6', today='NAMED', words=('columns', 'whether sqrt belongs there'),
        tutor="The scale's root is doubled: sqrt(sqrt(d_k)) and axis wrong still.",
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = math.sqrt(K.shape[-1])
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-2)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='2.6s', exercise='2.6', today='NAMED', words=('even', 'next', 'shares'),
        tutor='All three bugs are still there; only names were changed.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    depth = K.shape[-1]
    s = np.einsum("...qd,...kd->...qk", Q, K) / depth
    if mask is not None:
        s = np.where(mask, s, 0.0)
    w = softmax(s, axis=-2)
    return np.einsum("...qk,...kv->...qv", w, V), w
""",
    ),
    dict(
        id='2.6t', exercise='2.6', today='NAMED', words=('even', 'less'),
        tutor='Blocked scores are still 0: -np.inf multiplied by 0? Here np.nan_to_num turns -inf into a large finite number: fine; axis -1 right; scale d_k left and the weights of blocked keys set to 0 again.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k
    weights = softmax(scores, axis=-1)
    if mask is not None:
        weights = weights * mask
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='3.1b', exercise='3.1', today='NAMED', words=('drift', 'uniform'),
        tutor='rng.random draws from 0 to 1 (uniform): use standard_normal.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.random((n, d_k))
    k = rng.random((n, d_k))
    return np.sum(q * k, axis=1)
""",
    ),
    dict(
        id='3.1bb', exercise='3.1', today='NAMED', words=('whether the + and what follows it belong there',),
        tutor='The queries are drawn with variance 2 (two normals added).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, d_k)) + rng.standard_normal((n, d_k))
    k = rng.standard_normal((n, d_k))
    return np.sum(q * k, axis=1)
""",
    ),
    dict(
        id='3.1cc', exercise='3.1', today='NAMED', words=('drawn', 'random'),
        tutor='Each feature of the key is the same for all features: k is (n, 1).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, d_k))
    k = rng.standard_normal((n, 1))
    return np.sum(q * k, axis=1)
""",
    ),
    dict(
        id='3.1d', exercise='3.1', today='NAMED', words=('generators', 'generator'),
        tutor='The rng that is passed in is not used.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = np.random.randn(n, d_k)
    k = np.random.randn(n, d_k)
    return np.einsum('nd,nd->n', q, k)
""",
    ),
    dict(
        id='3.1i', exercise='3.1', today='NAMED', words=('You drew the dot products themselves',),
        tutor='The dot products are not computed from vectors: sums of d_k products are normal only approximately.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    return rng.normal(0, np.sqrt(d_k), size=n)
""",
    ),
    dict(
        id='3.1j', exercise='3.1', today='NAMED', words=('standard_normal', 'TypeError'),
        tutor='shape must be a tuple: rng.standard_normal((n, d_k)).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal(n, d_k)
    k = rng.standard_normal(n, d_k)
    return (q * k).sum(axis=1)
""",
    ),
    dict(
        id='3.1l', exercise='3.1', today='GENERIC',
        tutor='Every feature of a query is the same number ((n, 1) broadcasts): draw (n, d_k).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, 1))
    k = rng.standard_normal((n, d_k))
    return (q * k).mean(axis=1)
""",
    ),
    dict(
        id='3.1r', exercise='3.1', today='GENERIC',
        tutor='Each query meets the sum of all keys; it should meet its own key.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, d_k))
    k = rng.standard_normal((n, d_k))
    return (q @ k.T).sum(axis=1)
""",
    ),
    dict(
        id='3.1s', exercise='3.1', today='NAMED', words=('drawn', 'random'),
        tutor='A single number a pair is drawn and scaled: draw d_k features for each.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal(n)
    k = rng.standard_normal(n)
    return q * k * np.sqrt(d_k)
""",
    ),
    dict(
        id='3.1w', exercise='3.1', today='NAMED', words=('vector', 'draw'),
        tutor='The keys are the queries moved by one place: each vector takes part in two products.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, d_k))
    k = np.roll(q, 1, axis=0)
    return (q * k).sum(axis=1)
""",
    ),
    dict(
        id='3.1x', exercise='3.1', today='NAMED', words=('vector', 'draw'),
        tutor='The keys are the queries in reverse order: every product comes twice.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal((n, d_k))
    k = q[::-1]
    return (q * k).sum(axis=1)
""",
    ),
    dict(
        id='3.1y', exercise='3.1', today='GENERIC',
        tutor='One key is drawn for all queries, and it is divided by sqrt(d_k).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    Q = rng.standard_normal((n, d_k))
    k = rng.standard_normal(d_k)
    return Q @ k / np.sqrt(d_k)
""",
    ),
    dict(
        id='3.1z', exercise='3.1', today='NAMED', words=('list', 'pair'),
        tutor='A list is returned.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    res = []
    for i in range(n):
        q = rng.standard_normal(d_k)
        k = rng.standard_normal(d_k)
        res.append(np.dot(q, k))
    return res
""",
    ),
    dict(
        id='3.2a', exercise='3.2', today='NAMED', words=('natural', 'nats'),
        tutor='log2 gives bits: natural logarithm.',
        code=r"""
def entropy(weights):
    w = np.where(weights > 0, weights, 1)
    return -np.sum(weights * np.log2(w), axis=-1)
""",
    ),
    dict(
        id='3.2c', exercise='3.2', today='NAMED', words=('everything', 'entropy'),
        tutor='Everything is summed into one number: sum along the last axis only.',
        code=r"""
def entropy(weights):
    total = 0
    for w in weights.flatten():
        if w > 0:
            total -= w * np.log(w)
    return total
""",
    ),
    dict(
        id='3.2f', exercise='3.2', today='NAMED', words=('effective', 'entropy'),
        tutor='exp(entropy), the effective number of words, is returned.',
        code=r"""
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return np.exp(-(weights * np.log(safe)).sum(-1))
""",
    ),
    dict(
        id='3.2g', exercise='3.2', today='NAMED', words=('largest', 'makes'),
        tutor='Normalised by log n.',
        code=r"""
def entropy(weights):
    n = weights.shape[-1]
    safe = np.where(weights > 0, weights, 1.0)
    h = -(weights * np.log(safe)).sum(axis=-1)
    return h / np.log(n)
""",
    ),
    dict(
        id='3.2l', exercise='3.2', today='NAMED', words=('applied', 'already'),
        tutor='Softmax is taken again: these are weights already.',
        code=r"""
def entropy(weights):
    p = softmax(weights)
    return -(p * np.log(p)).sum(axis=-1)
""",
    ),
    dict(
        id='3.2m', exercise='3.2', today='NAMED', words=('the number 1',),
        tutor='A weight of 0 adds 1 here: the where replaces the product by 1; it should be 0.',
        code=r"""
def entropy(weights):
    terms = np.where(weights > 0, weights * np.log(weights), 1.0)
    return -terms.sum(axis=-1)
""",
    ),
    dict(
        id='3.2n', exercise='3.2', today='NAMED', words=('below', 'replacing'),
        tutor='log1p(w) = log(1 + w) is not log w; and no minus.',
        code=r"""
def entropy(weights):
    return np.sum(weights * np.log1p(weights), axis=-1)
""",
    ),
    dict(
        id='3.2o', exercise='3.2', today='NAMED', words=('says', 'entropy'),
        tutor='That is log n minus the entropy (how far from uniform): entropy itself.',
        code=r"""
def entropy(weights):
    n = weights.shape[-1]
    safe = np.where(weights > 0, weights, 1.0)
    return np.sum(weights * np.log(safe * n), axis=-1)
""",
    ),
    dict(
        id='3.2w', exercise='3.2', today='NAMED', words=('whether sum belongs there', 'what you return'),
        tutor='NaN is replaced by 0 in the sum of each row, which drops the whole row.',
        code=r"""
def entropy(weights):
    h = -np.sum(weights * np.log(weights), axis=-1)
    return np.nan_to_num(h)
""",
    ),
    dict(
        id='3.2x', exercise='3.2', today='NAMED', words=('the number 0',),
        tutor='A weight of 0 is skipped, but so is a weight of exactly ... (if w > 0.1): threshold.',
        code=r"""
def entropy(weights):
    mask = weights > 1e-2
    safe = np.where(mask, weights, 1.0)
    return -np.sum(np.where(mask, weights * np.log(safe), 0), axis=-1)
""",
    ),
    dict(
        id='3.2y', exercise='3.2', today='NAMED', words=('whether / np', 'whether mean belongs there'),
        tutor='Divided by log 2 twice... result in bits through np.log(w)/np.log(2) and mean over the rows.',
        code=r"""
def entropy(weights):
    w = np.where(weights == 0, 1, weights)
    bits = -np.sum(w * np.log(w) / np.log(2), axis=-1)
    return bits.mean()
""",
    ),
    dict(
        id='3.3b', exercise='3.3', today='NAMED', words=('entries', 'rises'),
        tutor='The sign of the off-diagonal is wrong: p_i p_j is subtracted.',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    J = p[..., :, None] * p[..., None, :]
    i = np.arange(n)
    J[..., i, i] = p * (1 - p)
    return J
""",
    ),
    dict(
        id='3.3e', exercise='3.3', today='NAMED', words=('identity', 'diag'),
        tutor='The diagonal part is the identity instead of p times the identity.',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    return np.eye(n) - p[..., :, None] * p[..., None, :]
""",
    ),
    dict(
        id='3.3f', exercise='3.3', today='NAMED', words=('column', 'needs'),
        tutor='p_j stands twice (row for column): -p_j² instead of p_i p_j.',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    row = p[..., None, :]
    return row * (np.eye(n) - row)
""",
    ),
    dict(
        id='3.3g', exercise='3.3', today='NAMED', words=('Only', 'diagonal'), slow=True,
        tutor='Off-diagonal only minus p_i p_j, diagonal must be p_i(1-p_i): the diagonal lacks -p_i².',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    J = np.zeros(p.shape + (n,))
    for i in range(n):
        for j in range(n):
            if i == j:
                J[..., i, j] = p[..., i]
            else:
                J[..., i, j] = -p[..., i] * p[..., j]
    return J
""",
    ),
    dict(
        id='3.3h', exercise='3.3', today='NAMED', words=('outer', 'adds'),
        tutor='The outer product sums over the batch: keep the leading axes.',
        code=r"""
def softmax_jacobian(p):
    p2 = np.atleast_2d(p)
    n = p2.shape[-1]
    D = p2[:, :, None] * np.eye(n)
    O = p2.T @ p2
    return (D - O).reshape(p.shape + (n,))
""",
    ),
    dict(
        id='3.3i', exercise='3.3', today='NAMED', words=('reversed', 'positive'),
        tutor='Both: sign reversed (outer minus diag).',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    outer = np.einsum('...i,...j->...ij', p, p)
    diag = np.einsum('...i,ij->...ij', p, np.eye(n))
    return outer - diag
""",
    ),
    dict(
        id='3.3j', exercise='3.3', today='NAMED', words=('the number 3 in np',),
        tutor='Size 3 of the example is hard-coded.',
        code=r"""
def softmax_jacobian(p):
    return p[..., :, None] * (np.eye(3) - p[..., None, :])
""",
    ),
    dict(
        id='3.3k', exercise='3.3', today='NAMED', words=('parts', 'identity'),
        tutor='Two: missing minus on the off-diagonal (p_i p_j added) and the identity instead of diag(p).',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    return np.eye(n) + p[..., :, None] * p[..., None, :]
""",
    ),
    dict(
        id='3.3l', exercise='3.3', today='NAMED', words=('everywhere', 'have'),
        tutor='p_i (1 - p_j) for all entries: on the off-diagonal delta is 0.',
        code=r"""
def softmax_jacobian(p):
    return p[..., :, None] * (1 - p[..., None, :])
""",
    ),
    dict(
        id='3.3m', exercise='3.3', today='NAMED', words=('entry', 'subtracted'),
        tutor='p_j is subtracted everywhere without the factor p_i.',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    return p[..., :, None] * np.eye(n) - p[..., None, :]
""",
    ),
    dict(
        id='3.3o', exercise='3.3', today='PARTLY',
        tutor='Single row only (np.diag), and the sign reversed.',
        code=r"""
def softmax_jacobian(p):
    D = np.diag(p)
    return np.outer(p, p) - D
""",
    ),
    dict(
        id='3.3p', exercise='3.3', today='NAMED', words=('setting', 'element'),
        tutor="The loop's p[i] is a row when p has leading axes: p[..., i].",
        code=r"""
def softmax_jacobian(p):
    n = len(p)
    J = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            J[i, j] = p[i] * ((i == j) - p[j])
    return J
""",
    ),
    dict(
        id='3.3q', exercise='3.3', today='NAMED', words=('parts', 'applied'),
        tutor='Softmax again, and plus for minus.',
        code=r"""
def softmax_jacobian(p):
    p = softmax(p, axis=-1)
    n = p.shape[-1]
    return p[..., None] * (np.eye(n) + p[..., None, :])
""",
    ),
    dict(
        id='3.3v', exercise='3.3', today='NAMED', words=('depends', 'sigmoid'),
        tutor='The gradient p(1-p) of a sigmoid is returned, one number a weight.',
        code=r"""
def softmax_jacobian(p):
    return p * (1 - p)
""",
    ),
    dict(
        id='3.4b', exercise='3.4', today='NAMED', words=('gradients', 'under'),
        tutor='The plain mean of g is subtracted instead of the mean under the weights.',
        code=r"""
def softmax_backward(weights, d_weights):
    centred = d_weights - d_weights.mean(axis=-1, keepdims=True)
    return weights * centred
""",
    ),
    dict(
        id='3.4c', exercise='3.4', today='NAMED', words=('difference', 'nobody'),
        tutor='The final multiplication by the weights is missing.',
        code=r"""
def softmax_backward(weights, d_weights):
    mean = np.sum(weights * d_weights, axis=-1, keepdims=True)
    return d_weights - mean
""",
    ),
    dict(
        id='3.4d', exercise='3.4', today='NAMED', words=('Jacobian', 'sigmoid'),
        tutor="Only the Jacobian's diagonal p(1-p): the other scores also move.",
        code=r"""
def softmax_backward(weights, d_weights):
    return weights * (1 - weights) * d_weights
""",
    ),
    dict(
        id='3.4h', exercise='3.4', today='NAMED', words=('gradient', 'subtracted'),
        tutor='The subtracted sum is not multiplied by the weights.',
        code=r"""
def softmax_backward(weights, d_weights):
    wg = weights * d_weights
    return wg - wg.sum(axis=-1, keepdims=True)
""",
    ),
    dict(
        id='3.4i', exercise='3.4', today='NAMED', words=('kept', 'whole'),
        tutor='The sum runs over all rows: one mean for each row.',
        code=r"""
def softmax_backward(weights, d_weights):
    dot = np.sum(weights * d_weights)
    return weights * (d_weights - dot)
""",
    ),
    dict(
        id='3.4j', exercise='3.4', today='NAMED', words=('compete', 'averaging'),
        tutor='Mean along axis 0 (over the rows), and np.mean divides by the count.',
        code=r"""
def softmax_backward(weights, d_weights):
    m = np.mean(weights * d_weights, axis=0, keepdims=True)
    return weights * (d_weights - m)
""",
    ),
    dict(
        id='3.4k', exercise='3.4', today='NAMED', words=('paper', 'built'),
        tutor='Builds the (n, n) Jacobian that the exercise forbids.',
        code=r"""
def softmax_backward(weights, d_weights):
    n = weights.shape[-1]
    J = weights[..., :, None] * (np.eye(n) - weights[..., None, :])
    return (J @ d_weights[..., None])[..., 0]
""",
    ),
    dict(
        id='3.4m', exercise='3.4', today='NAMED', words=('d_weights', 'work'),
        tutor="In place: the caller's d_weights are changed.",
        code=r"""
def softmax_backward(weights, d_weights):
    d_weights -= (weights * d_weights).sum(axis=-1, keepdims=True)
    d_weights *= weights
    return d_weights
""",
    ),
    dict(
        id='3.4s', exercise='3.4', today='NAMED', words=('paper', 'built'),
        tutor='A Jacobian is built for every row in the loop (n, n).',
        code=r"""
def softmax_backward(weights, d_weights):
    n = weights.shape[-1]
    w = weights.reshape(-1, n)
    g = d_weights.reshape(-1, n)
    out = np.zeros_like(g)
    for r in range(len(w)):
        J = np.diag(w[r]) - np.outer(w[r], w[r])
        out[r] = J @ g[r]
    return out.reshape(weights.shape)
""",
    ),
    dict(
        id='3.4t', exercise='3.4', today='NAMED', words=('compete', 'reversed'),
        tutor='Sign reversed and the mean over axis 0.',
        code=r"""
def softmax_backward(weights, d_weights):
    s = np.sum(weights * d_weights, axis=0, keepdims=True)
    return weights * s - weights * d_weights
""",
    ),
    dict(
        id='3.4x', exercise='3.4', today='NAMED', words=('keepdims', 'drops'),
        tutor='The gradient of the weights is multiplied by weights twice and the sum has no axis kept ... (no keepdims).',
        code=r"""
def softmax_backward(weights, d_weights):
    wg = weights * d_weights
    return wg - weights * np.sum(wg, axis=-1)
""",
    ),
    dict(
        id='3.4z', exercise='3.4', today='NAMED', words=('differs', 'moves'),
        tutor='Sign: plus the mean instead of minus.',
        code=r"""
def softmax_backward(weights, d_weights):
    mean = (weights * d_weights).sum(-1, keepdims=True)
    return weights * (d_weights + mean)
""",
    ),
    dict(
        id='4.1-e', exercise='4.1', today='NAMED', words=('split', 'Head'),
        tutor='The last axis is cut as (d_k, h) instead of (h, d_k), which deals the features out like cards.',
        code=r"""
def split_heads(x, n_heads):
    B, T, D = x.size()
    return x.view(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)
""",
    ),
    dict(
        id='4.1-i', exercise='4.1', today='NAMED', words=('the axis of chunk',),
        tutor='chunk cuts along dim=1, the words, instead of the features.',
        code=r"""
def split_heads(x, n_heads):
    chunks = torch.chunk(x, n_heads, dim=1)
    return torch.stack(chunks, dim=1)
""",
    ),
    dict(
        id='4.2-a', exercise='4.2', today='NAMED', words=('laid', 'side'),
        tutor='The heads are concatenated along the words (dim=1); they belong side by side along the features, dim=-1.',
        code=r"""
def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=1)
""",
    ),
    dict(
        id='4.2-d', exercise='4.2', today='NAMED', words=('mixes', 'apart'),
        tutor='Heads are to be laid side by side, not added up.',
        code=r"""
def merge_heads(x):
    # merging the heads: every head adds its part
    return x.sum(dim=1)
""",
    ),
    dict(
        id='4.2-h', exercise='4.2', today='NAMED', words=('whatever', 'invalid'),
        tutor='The sizes of the example are written in; take them from x.shape.',
        code=r"""
def merge_heads(x):
    return x.transpose(1, 2).reshape(1, 3, 4)
""",
    ),
    dict(
        id='4.2-i', exercise='4.2', today='GENERIC',
        tutor='Only the first sentence is used, and its heads are interleaved.',
        code=r"""
def merge_heads(x):
    first = x[0]                      # (h, T, d_k)
    h, T, d_k = first.shape
    merged = first.permute(1, 2, 0).reshape(T, h * d_k)
    return merged.unsqueeze(0)
""",
    ),
    dict(
        id='4.2-j', exercise='4.2', today='NAMED', words=('flattened', 'into'),
        tutor='flatten() without an argument flattens everything; flatten from axis 2 on.',
        code=r"""
def merge_heads(x):
    return x.transpose(1, 2).flatten()
""",
    ),
    dict(
        id='4.2-x', exercise='4.2', today='NAMED', words=('shuffled', 'stand'),
        tutor='The heads are interleaved (i::h) instead of laid side by side in blocks, and the result is float32 whatever x is.',
        code=r"""
def merge_heads(x):
    B, h, T, d_k = x.shape
    out = torch.zeros(B, T, h * d_k)
    for i in range(h):
        out[:, :, i::h] = x[:, i]
    return out
""",
    ),
    dict(
        id='4.3-e', exercise='4.3', today='NAMED', words=('hidden', 'need'),
        tutor='-1e-9 is a typo for -1e9: hidden scores become almost 0, and nothing is hidden.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, _ = x.shape
        q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e-9)
        attn = torch.softmax(scores, dim=-1)
        out = (self.dropout(attn) @ v).transpose(1, 2).contiguous().view(B, T, -1)
        return self.W_o(out), attn
""",
    ),
    dict(
        id='4.3-f', exercise='4.3', today='NAMED', words=('split_heads', 'moving'), slow=True,
        tutor='view straight to (B, h, T, d_k) mixes words within a head; the same slip on the way back hides it.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, self.n_heads, T, self.d_k)
        K = self.W_k(x).view(B, self.n_heads, T, self.d_k)
        V = self.W_v(x).view(B, self.n_heads, T, self.d_k)
        scores = Q @ K.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        out = (self.dropout(weights) @ V).view(B, T, D)
        return self.W_o(out), weights
""",
    ),
    dict(
        id='4.3-h', exercise='4.3', today='NAMED', words=('broadcasts', 'adding'),
        tutor='mask.unsqueeze(1) is right only for a (B, T, T) mask; the mask you get already broadcasts to (B, h, T, T), so a (T, T) one is turned into (T, 1, T).',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.unsqueeze(1)   # add a head axis
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
""",
    ),
    dict(
        id='4.3-j', exercise='4.3', today='NAMED', words=('sharp', 'shares'),
        tutor='The scores are not divided by the root of d_k, and the softmax runs over the queries (dim=-2) instead of the keys.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-2)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
""",
    ),
    dict(
        id='4.3-p', exercise='4.3', today='NAMED', words=('dropped', 'falls'),
        tutor='Dropout falls on the output and not on the weights.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.dropout(self.W_o(merge_heads(weights @ V))), weights
""",
    ),
    dict(
        id='4.3-r', exercise='4.3', today='NAMED', words=('the same all along axis 1',), slow=True,
        tutor='All heads share one row of scores: the scores are computed before the split, over all d_model features, so every head has the same weights.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q, K, V = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)          # (B, T, T)
        scores = scores.unsqueeze(1).repeat(1, self.n_heads, 1, 1)      # one copy per head
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        V = split_heads(V, self.n_heads)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
""",
    ),
    dict(
        id='4.3-t', exercise='4.3', today='PARTLY', slow=True,
        tutor='The hidden scores are filled but the result of masked_fill is thrown away, and dropout is hard-coded to 0.1.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
""",
    ),
    dict(
        id='r-dropout-layer-made-in-forward', exercise='4.3', today='NAMED', words=('functional', '__init__'),
        tutor='A Dropout made in forward is new, hence in train mode, at every call: model.eval() cannot reach it. Make it in __init__.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        K = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        V = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        out = nn.Dropout(self.p)(weights) @ V
        return self.W_o(out.transpose(1, 2).reshape(B, T, D)), weights
""",
    ),
    dict(
        id='r-hidden-scores-at-minus-ten-thousand', exercise='4.3', today='NAMED', words=('the number -10000',), slow=True,
        tutor='-1e4 is an ordinary number: real scores can lie below it, and then the mask hides nothing. Use -inf.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        K = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        V = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e4)
        weights = scores.softmax(dim=-1)
        out = self.dropout(weights) @ V
        return self.W_o(out.transpose(1, 2).reshape(B, T, D)), weights
""",
    ),
    dict(
        id='r-layers-with-bias-always-causal', exercise='4.3', today='PARTLY',
        tutor='Two things: the layers have biases (bias=False is asked for), and the mask is always causal whatever comes in.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.p = dropout
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        K = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        V = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        later = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
        scores = scores.masked_fill(later, -torch.inf)
        weights = scores.softmax(dim=-1)
        out = self.dropout(weights) @ V
        return self.W_o(out.transpose(1, 2).reshape(B, T, D)), weights
""",
    ),
    dict(
        id='r-one-minus-a-bool-tensor', exercise='4.3', today='NAMED', words=('Subtraction', 'logical_not'), slow=True,
        tutor='Your mask is boolean and the formula wants 0 and 1: PyTorch refuses 1 - mask. Fill with masked_fill(~mask, -inf).',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        K = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        V = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores + (1 - mask) * -1e9
        weights = scores.softmax(dim=-1)
        out = self.dropout(weights) @ V
        return self.W_o(out.transpose(1, 2).reshape(B, T, D)), weights
""",
    ),
    dict(
        id='4.4-b', exercise='4.4', today='NAMED', words=('load_state_dict', 'copy_'),
        tutor="nn.Parameter around a slice shares memory with PyTorch's module; clone the numbers.",
        code=r"""
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads, mha.dropout)
    W = mha.in_proj_weight.data
    ours.W_q.weight = nn.Parameter(W[:d])
    ours.W_k.weight = nn.Parameter(W[d:2 * d])
    ours.W_v.weight = nn.Parameter(W[2 * d:])
    ours.W_o.weight = nn.Parameter(mha.out_proj.weight.data)
    return ours
""",
    ),
    dict(
        id='4.4-c', exercise='4.4', today='NAMED', words=('whether',),
        tutor='The matrices are transposed although both modules keep them as nn.Linear does.',
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, dropout=mha.dropout).to(mha.out_proj.weight.dtype)
    q, k, v = mha.in_proj_weight.detach().chunk(3, dim=0)
    for layer, weight in [(ours.W_q, q), (ours.W_k, k), (ours.W_v, v), (ours.W_o, mha.out_proj.weight.detach())]:
        layer.weight.data.copy_(weight.T)
    return ours
""",
    ),
    dict(
        id='4.4-d', exercise='4.4', today='NAMED', words=('in_proj_weight', 'module'), slow=True,
        tutor='The three blocks are read in the order K, Q, V, and the dropout is not passed on.',
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads).to(mha.in_proj_weight.dtype)
    with torch.no_grad():
        k, q, v = mha.in_proj_weight.chunk(3)
        ours.W_q.weight.copy_(q)
        ours.W_k.weight.copy_(k)
        ours.W_v.weight.copy_(v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
""",
    ),
    dict(
        id='4.4-f', exercise='4.4', today='NAMED', words=('differently', 'out_proj'),
        tutor="load_state_dict needs the names of our layers; PyTorch's are stacked under other names, so cut in_proj_weight up first.",
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    ours.load_state_dict(mha.state_dict())
    return ours
""",
    ),
    dict(
        id='4.4-i', exercise='4.4', today='NAMED', words=('the number 1 in d - 1',),
        tutor='The rows are cut off by one (d-1 ...): slices exclude their end, so the first is [:d].',
        code=r"""
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    with torch.no_grad():
        ours.W_q.weight.copy_(mha.in_proj_weight[: d - 1])
        ours.W_k.weight.copy_(mha.in_proj_weight[d : 2 * d - 1])
        ours.W_v.weight.copy_(mha.in_proj_weight[2 * d : 3 * d - 1])
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
""",
    ),
    dict(
        id='4.4-k', exercise='4.4', today='NAMED', words=('Nothing', 'printed'), slow=True,
        tutor='The function forgets to return the module.',
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    q, k, v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(q)
        ours.W_k.weight.copy_(k)
        ours.W_v.weight.copy_(v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
""",
    ),
    dict(
        id='4.4-x', exercise='4.4', today='NAMED', words=('in_proj_weight', 'Linear'),
        tutor='W_q and W_k are exchanged, and W_o is transposed.',
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    d = mha.embed_dim
    w = mha.in_proj_weight.detach().clone()
    ours.W_k.weight.data = w[:d]
    ours.W_q.weight.data = w[d : 2 * d]
    ours.W_v.weight.data = w[2 * d :]
    ours.W_o.weight.data = mha.out_proj.weight.detach().clone().T
    return ours
""",
    ),
    dict(
        id='5.1-c', exercise='5.1', today='NAMED', words=('average', 'slice'),
        tutor='x[:t] leaves out word t itself (and the first row is a mean of nothing, nan).',
        code=r"""
def prefix_mean(x):
    rows = []
    for t in range(len(x)):
        rows.append(x[:t].mean(dim=0))
    return torch.stack(rows)
""",
    ),
    dict(
        id='5.1-g', exercise='5.1', today='NAMED', words=('work', 'changed'),
        tutor='x itself is overwritten by the running sums: work on a copy.',
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    for t in range(1, T):
        x[t] += x[t - 1]
    return x / torch.arange(1, T + 1, dtype=x.dtype).unsqueeze(1)
""",
    ),
    dict(
        id='5.1-h', exercise='5.1', today='NAMED', words=('ones', 'stand'),
        tutor='The triangle is upside down (it averages what comes after), and it is divided by T instead of the number of words.',
        code=r"""
def prefix_mean(x):
    T, d = x.shape
    M = torch.zeros(T, T, dtype=x.dtype)
    for i in range(T):
        for j in range(T):
            if j >= i:
                M[i, j] = 1 / T
    return M @ x
""",
    ),
    dict(
        id='5.1-i', exercise='5.1', today='NAMED', words=('while', 'float64'),
        tutor='The matrix of ones is float32 while x may be float64: pass dtype=x.dtype.',
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    tri = torch.tril(torch.ones(T, T))
    return (tri / tri.sum(dim=-1, keepdim=True)) @ x
""",
    ),
    dict(
        id='5.1-y', exercise='5.1', today='NAMED', words=('diagonal=-1',),
        tutor='Word t itself is left out (diagonal=-1), and the result is float32 whatever x is.',
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    tri = torch.tril(torch.ones(T, T), diagonal=-1)
    counts = tri.sum(dim=1, keepdim=True).clamp(min=1)
    return (tri / counts) @ x.float()
""",
    ),
    dict(
        id='5.2-a', exercise='5.2', today='NAMED', words=('torch', 'bool'),
        tutor='The dtype is float; a mask is bool.',
        code=r"""
def causal_mask(T):
    return torch.tril(torch.ones(T, T))
""",
    ),
    dict(
        id='5.2-b', exercise='5.2', today='NAMED', words=('past', 'future'),
        tutor='The loops have i (the key) outside j: rows and columns are exchanged, which makes it the upper triangle.',
        code=r"""
def causal_mask(T):
    return torch.tensor([[j <= i for i in range(T)] for j in range(T)])
""",
    ),
    dict(
        id='5.2-d', exercise='5.2', today='NAMED', words=('subtracted', 'mask'),
        tutor='float instead of bool, and ones where a word may NOT look.',
        code=r"""
def causal_mask(T):
    mask = torch.triu(torch.ones(T, T), diagonal=1)
    return mask
""",
    ),
    dict(
        id='5.2-e', exercise='5.2', today='NAMED', words=('hides', 'allowed'),
        tutor='A word may see itself: mask[i, :i] stops one short.',
        code=r"""
def causal_mask(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, :i] = True
    return mask
""",
    ),
    dict(
        id='5.2-j', exercise='5.2', today='NAMED', words=('mirrored', 'triangle'),
        tutor='The triangle is turned the other way: it starts at the other corner (flipped left-right).',
        code=r"""
def causal_mask(T):
    mask = torch.ones(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : T - t - 1] = False
    return mask
""",
    ),
    dict(
        id='5.2-x', exercise='5.2', today='NAMED', words=('opposite', 'marked'),
        tutor="The upper triangle, and without its diagonal: it is the mask's opposite (True = hidden). (One idea, said twice.)",
        code=r"""
def causal_mask(T):
    i = torch.arange(T).unsqueeze(1)
    j = torch.arange(T).unsqueeze(0)
    return i < j
""",
    ),
    dict(
        id='5.3-b', exercise='5.3', today='NAMED', words=('the return that ends the loop in its fir',), slow=True,
        tutor='The loop returns in its first round, so only t = 1 is tried.',
        code=r"""
def leaks_future(attend, x):
    T = x.shape[0]
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, T):
        changed = x.clone()
        changed[t:] = changed[t:] + 1.0
        torch.set_rng_state(state)
        after = attend(changed)
        if torch.max(torch.abs(after[:t] - before[:t])) > 1e-5:
            return True
        else:
            return False
""",
    ),
    dict(
        id='5.3-c', exercise='5.3', today='NAMED', words=('Compare', 'Those'),
        tutor='The outputs compared are those from t on, which may change; the earlier ones are to stand still.',
        code=r"""
def leaks_future(attend, x):
    rng = torch.get_rng_state()
    y = attend(x)
    for t in range(1, x.shape[0]):
        x2 = x.clone()
        x2[t:] += 1
        torch.set_rng_state(rng)
        y2 = attend(x2)
        if not torch.allclose(y[t:], y2[t:], atol=1e-5):
            return True
    return False
""",
    ),
    dict(
        id='5.3-d', exercise='5.3', today='NAMED', words=('includes', 'whose'),
        tutor='Off by one: after[:t + 1] includes word t, which was changed and may move.',
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, len(x)):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        after = attend(changed)
        if (after[:t + 1] - before[:t + 1]).abs().max() > 1e-5:
            return True
    return False
""",
    ),
    dict(
        id='5.3-e', exercise='5.3', today='NAMED', words=('missed', 'leak'),
        tutor='Without abs, a difference that is negative everywhere passes: take abs before the maximum.',
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, len(x)):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        after = attend(changed)
        if (after[:t] - before[:t]).max() > 1e-5:
            return True
    return False
""",
    ),
    dict(
        id='5.3-f', exercise='5.3', today='NAMED', words=('Attention', 'leaks'),
        tutor='Reversing the future leaves its sums as they were, so a leak through a mean or a denominator goes unnoticed: change the values.',
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    leak = False
    for t in range(1, len(x)):
        shuffled = torch.cat([x[:t], x[t:].flip(0)])
        torch.set_rng_state(state)
        after = attend(shuffled)
        if (after[:t] - before[:t]).abs().max() > 1e-5:
            leak = True
    return leak
""",
    ),
    dict(
        id='5.3-h', exercise='5.3', today='GENERIC', slow=True,
        tutor='Only one place, the middle, is tried, and the outputs are compared bit for bit, so rounding counts as a leak.',
        code=r"""
def leaks_future(attend, x):
    t = len(x) // 2
    state = torch.get_rng_state()
    a = attend(x)
    changed = x.clone()
    changed[t:] += 1
    torch.set_rng_state(state)
    b = attend(changed)
    return not torch.equal(a[:t], b[:t])
""",
    ),
    dict(
        id='5.3-i', exercise='5.3', today='NAMED', words=('one, or several?',), slow=True,
        tutor='Only the first output is watched; a leak may show in any output before t.',
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, len(x)):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        after = attend(changed)
        if (after[0] - before[0]).abs().max() > 1e-5:
            return True
    return False
""",
    ),
    dict(
        id='5.3-l', exercise='5.3', today='NAMED', words=('sentence', 'shorter'),
        tutor='The cut-off sentence is compared: attend(x[:t]) is a good idea, but dropout then draws other numbers and it is shorter, so dropout looks like a leak.',
        code=r"""
def leaks_future(attend, x):
    torch.manual_seed(0)
    full = attend(x)
    for t in range(1, len(x)):
        torch.manual_seed(0)
        part = attend(x[:t])
        if not torch.allclose(part, full[:t], atol=1e-5):
            return True
    return False
""",
    ),
    dict(
        id='r-leak-test-at-chosen-places', exercise='5.3', today='NAMED', words=('what that loop runs through',), slow=True,
        tutor='You try only t = 1, 3, 7, 15, ...: a leak inside a block that begins and ends elsewhere is missed. Try every t.',
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in (1, 3, 7, 15, 31):
        if t >= len(x):
            break
        changed = x.clone()
        changed[t:] += 1.0
        torch.set_rng_state(state)
        after = attend(changed)
        if (after[:t] - before[:t]).abs().max() > 1e-5:
            return True
    return False
""",
    ),
    dict(
        id='5.4-e', exercise='5.4', today='NAMED', words=('pad_id', 'kept'),
        tutor='Counting the words and marking the first so many assumes that padding stands at the end; it may stand in front.',
        code=r"""
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    lengths = (tokens != pad_id).sum(dim=1)
    mask = torch.arange(T)[None, :] < lengths[:, None]
    return mask.reshape(B, 1, 1, T)
""",
    ),
    dict(
        id='5.4-f', exercise='5.4', today='NAMED', words=('truth', 'entry'),
        tutor='`not` asks the whole tensor for one truth value; use != or ~.',
        code=r"""
def padding_mask(tokens, pad_id):
    mask = not (tokens == pad_id)
    return mask[:, None, None, :]
""",
    ),
    dict(
        id='5.4-i', exercise='5.4', today='NAMED', words=('subtracted', 'mask'),
        tutor='The mask is float instead of bool, and padding is 1 instead of the words.',
        code=r"""
def padding_mask(tokens, pad_id):
    mask = torch.where(tokens == pad_id, 1.0, 0.0)
    return mask[:, None, None, :]
""",
    ),
    dict(
        id='5.5-a', exercise='5.5', today='NAMED', words=('permission', 'allow'),
        tutor='+ on bool tensors is OR: use &.',
        code=r"""
def combine_masks(padding, causal):
    return padding + causal
""",
    ),
    dict(
        id='5.5-b', exercise='5.5', today='NAMED', words=('cell', 'truth'),
        tutor='`and` asks a tensor for one truth value: use &.',
        code=r"""
def combine_masks(padding, causal):
    return padding and causal
""",
    ),
    dict(
        id='5.5-d', exercise='5.5', today='NAMED', words=('the True',),
        tutor='Where causal forbids, your where puts True: it must be False there.',
        code=r"""
def combine_masks(padding, causal):
    return torch.where(causal, padding, True)
""",
    ),
    dict(
        id='5.5-h', exercise='5.5', today='NAMED', words=('padding', 'stands'),
        tutor="Only the first sentence's padding is used.",
        code=r"""
def combine_masks(padding, causal):
    pad = padding[0, 0]          # (1, T)
    both = pad & causal          # (T, T)
    return both[None, None].expand(padding.shape[0], -1, -1, -1)
""",
    ),
    dict(
        id='5.5-j', exercise='5.5', today='NAMED', words=('permission', 'allow'),
        tutor='The sum of two masks is True already if one allows; a pair is allowed only if the sum is 2.',
        code=r"""
def combine_masks(padding, causal):
    total = padding.int() + causal.int()
    return total >= 1
""",
    ),
    dict(
        id='5.6-a', exercise='5.6', today='NAMED', words=('visible', 'torch'),
        tutor="exp of large scores overflows (inf/inf = nan): subtract the row's largest allowed score first.",
        code=r"""
def masked_softmax(scores, mask):
    e = torch.exp(scores) * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / total.clamp(min=1e-12)
""",
    ),
    dict(
        id='5.6-b', exercise='5.6', today='NAMED', words=('such', 'sees'),
        tutor='Empty rows are looked for in the whole mask at once; it must be judged row by row.',
        code=r"""
def masked_softmax(scores, mask):
    if not mask.any():
        return torch.zeros_like(scores)
    scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1)
""",
    ),
    dict(
        id='5.6-d', exercise='5.6', today='NAMED', words=('included', 'spreads'),
        tutor='-1e9 makes an empty row attend evenly instead of giving zeros.',
        code=r"""
def masked_softmax(scores, mask):
    scores = torch.where(mask, scores, torch.tensor(-1e9, dtype=scores.dtype))
    return F.softmax(scores, dim=-1)
""",
    ),
    dict(
        id='5.6-i', exercise='5.6', today='NAMED', words=('nobody', 'looked'),
        tutor='The empty rows are searched along the queries (dim=-2), that finds empty columns.',
        code=r"""
def masked_softmax(scores, mask):
    nothing = ~mask.any(dim=-2, keepdim=True)
    scores = scores.masked_fill(~mask, -torch.inf)
    scores = scores.masked_fill(nothing, 0.0)
    weights = scores.softmax(dim=-1)
    return weights.masked_fill(nothing, 0.0)
""",
    ),
    dict(
        id='5.6-j', exercise='5.6', today='NAMED', words=('Masked_fill_', 'underscore'),
        tutor="The scores are overwritten in place (masked_fill_): the caller's tensor is changed.",
        code=r"""
def masked_softmax(scores, mask):
    empty = (~mask).all(dim=-1, keepdim=True)
    scores.masked_fill_(~mask, -torch.inf)
    scores.masked_fill_(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)
""",
    ),
    dict(
        id='5.6-l', exercise='5.6', today='PARTLY',
        tutor='The mask is read the wrong way round (True hidden), and NaN is replaced afterwards so the gradient stays NaN.',
        code=r"""
def masked_softmax(scores, mask):
    s = scores.masked_fill(mask, -torch.inf)
    w = s.softmax(dim=-1)
    return torch.nan_to_num(w, nan=0.0)
""",
    ),
    dict(
        id='r-log-of-mask-plus-a-trifle', exercise='5.6', today='NAMED', words=('afterwards', 'become'),
        tutor='log(1e-45) is about -103, an ordinary number: rows with nothing to see get the softmax of what they must not see, and low scores see hidden keys.',
        code=r"""
def masked_softmax(scores, mask):
    return torch.softmax(scores + (mask.float() + 1e-45).log(), dim=-1)
""",
    ),
    dict(
        id='5.7-a', exercise='5.7', today='NAMED', words=('answers', 'roles'),
        tutor='The roles are exchanged: queries come from the memory and keys and values from x.',
        code=r"""
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
        Q = split_heads(self.W_q(memory), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        weights = scores.softmax(-1) if memory_mask is None else masked_softmax(scores, memory_mask)
        return self.W_o(merge_heads(weights @ V)), weights
""",
    ),
    dict(
        id='5.7-d', exercise='5.7', today='NAMED', words=('fetched', 'memory'),
        tutor='Keys come from the memory but values from x (fails where lengths differ): both come from the memory.',
        code=r"""
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
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if memory_mask is not None:
            weights = masked_softmax(scores, memory_mask)
        else:
            weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ V)), weights
""",
    ),
    dict(
        id='5.7-h', exercise='5.7', today='NAMED', words=('Cross', 'receives'), slow=True,
        tutor='A causal mask is laid over the memory, which needs none, and memory_mask is ignored.',
        code=r"""
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
        T_q, T_k = scores.shape[-2:]
        causal = torch.ones(T_q, T_k, dtype=torch.bool).tril()
        weights = masked_softmax(scores, causal)
        return self.W_o(merge_heads(weights @ V)), weights
""",
    ),
    dict(
        id='5.7-k', exercise='5.7', today='NAMED', words=('√T_k', 'root'),
        tutor='Scaled by the number of keys instead of the width of a head.',
        code=r"""
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
        d_k = K.size(2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(d_k)
        weights = scores.softmax(-1) if memory_mask is None else masked_softmax(scores, memory_mask)
        return self.W_o(merge_heads(weights @ V)), weights
""",
    ),
    dict(
        id='5.7-l', exercise='5.7', today='NAMED', words=('memory_mask', 'merge_heads'),
        tutor='The mask is taken the wrong way round, and the heads are merged without the transpose.',
        code=r"""
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
        weights = scores.softmax(-1) if memory_mask is None else masked_softmax(scores, ~memory_mask)
        out = (weights @ V).reshape(x.shape)
        return self.W_o(out), weights
""",
    ),
    dict(
        id='6.1-a', exercise='6.1', today='NAMED', words=('Equivariance', 'perm'),
        tutor='That is invariance: it compares with the unshuffled output; shuffle f(X) too.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    y1 = f(X)
    y2 = f(X[perm])
    return torch.allclose(y1, y2, atol=1e-5)
""",
    ),
    dict(
        id='6.1-c', exercise='6.1', today='NAMED', words=('perm', 'shuffled'),
        tutor='X[:, perm] shuffles the columns; shuffle the rows.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    left = f(X[:, perm])
    right = f(X)[:, perm]
    return bool(torch.allclose(left, right, atol=1e-5))
""",
    ),
    dict(
        id='6.1-e', exercise='6.1', today='NAMED', words=('compare', 'compared'),
        tutor='A sum over rows is the same in any order, so it cannot tell whether the rows moved along.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    a = f(X[perm]).sum(dim=0)
    b = f(X)[perm].sum(dim=0)
    return torch.allclose(a, b, atol=1e-4)
""",
    ),
    dict(
        id='6.1-f', exercise='6.1', today='NAMED', words=('absolute', 'pass'),
        tutor='Without abs the largest difference may be negative or zero though rows differ.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    diff = f(X[perm]) - f(X)[perm]
    return bool(diff.max() < 1e-5)
""",
    ),
    dict(
        id='6.1-g', exercise='6.1', today='PARTLY',
        tutor='Only the first row is compared: compare all rows.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    out = f(X)
    out_shuffled = f(X[perm])
    for i in range(len(perm)):
        if torch.allclose(out_shuffled[i], out[perm[i]], atol=1e-5):
            return True
        else:
            return False
""",
    ),
    dict(
        id='6.2-d', exercise='6.2', today='NAMED', words=('broadcasting', 'extra'),
        tutor='There is a batch axis too many: (1, max_len, d_model).',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len).unsqueeze(1).float()
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]
    return pe.unsqueeze(0)
""",
    ),
    dict(
        id='6.2-f', exercise='6.2', today='NAMED', words=('thousands', 'radians'),
        tutor="The exponent's minus is missing (or the position is multiplied, not divided): later pairs must be slower, not faster.",
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    pos = torch.arange(max_len).float().view(-1, 1)
    two_i = torch.arange(0, d_model, 2).float()
    angle = pos * torch.pow(10000.0, two_i / d_model)
    pe[:, ::2] = angle.sin()
    pe[:, 1::2] = angle.cos()[:, : d_model // 2]
    return pe
""",
    ),
    dict(
        id='6.2-g', exercise='6.2', today='NAMED', words=('speed', 'frequency'),
        tutor='// rounds the exponent down to 0, so that all hands run at the same speed: use /.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    out = []
    for p in range(max_len):
        row = []
        for c in range(d_model):
            two_i = c - c % 2
            angle = p / 10000 ** (two_i // d_model)
            row.append(math.sin(angle) if c % 2 == 0 else math.cos(angle))
        out.append(row)
    return torch.tensor(out)
""",
    ),
    dict(
        id='6.2-h', exercise='6.2', today='NAMED', words=('empty', 'With'),
        tutor='With an odd width d_model // 2 pairs leave out the last sine column: it stays 0.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    for i in range(d_model // 2):
        w = 1.0 / 10000 ** (2 * i / d_model)
        pe[:, 2 * i] = torch.sin(torch.arange(max_len) * w)
        pe[:, 2 * i + 1] = torch.cos(torch.arange(max_len) * w)
    return pe
""",
    ),
    dict(
        id='6.2-i', exercise='6.2', today='NAMED', words=('half', 'fast'),
        tutor='The exponent uses i instead of 2i: the frequencies fall half as fast.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    n_pairs = (d_model + 1) // 2
    i = torch.arange(n_pairs)
    omega = 10000.0 ** (-i / d_model)
    angles = torch.outer(torch.arange(max_len).float(), omega)
    pe = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return pe[:, :d_model]
""",
    ),
    dict(
        id='6.2-j', exercise='6.2', today='NAMED', words=('tell', 'hand'),
        tutor='It returns a float64 NumPy array instead of a float32 tensor, and both columns of a pair are sines.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    import numpy as np
    pos = np.arange(max_len)[:, None]
    col = np.arange(d_model)[None, :]
    angle = pos / np.power(10000.0, 2 * (col // 2) / d_model)
    return np.sin(angle)
""",
    ),
    dict(
        id='6.2-x', exercise='6.2', today='NAMED', words=('Each cosine has a frequency of its own', 'cosines in the even columns'), slow=True,
        tutor='The exponent counts columns instead of pairs, so sine and cosine have different frequencies; and sines come on odd columns.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(max_len).unsqueeze(1)
    cols = torch.arange(d_model)
    angles = pos / 10000.0 ** (cols / d_model)
    pe = angles.cos()
    pe[:, 1::2] = angles[:, 1::2].sin()
    return pe
""",
    ),
    dict(
        id='r-floor-division-in-the-frequency', exercise='6.2', today='NAMED', words=('what is calculated first', 'the operator //'), slow=True,
        tutor='a / d_model // 2 is (a / d_model) // 2, rounded down to a whole number, so the frequencies are 1, e^-1, e^-2, ... whatever the width: write parentheses.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pairs = torch.arange((d_model + 1) // 2)
    frequencies = torch.exp(pairs * (-math.log(10000.0) / d_model // 2))
    angles = torch.arange(max_len)[:, None] * frequencies
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos()[:, : d_model // 2]
    return pe
""",
    ),
    dict(
        id='r-twice-the-even-column', exercise='6.2', today='NAMED', words=('formula', 'doubled'),
        tutor="i already runs over the even columns, so it is the formula's 2i: 2 * i makes the exponent twice as large.",
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / 10000 ** ((2 * i) / d_model))
            if i + 1 < d_model:
                pe[pos, i + 1] = math.cos(pos / 10000 ** ((2 * i) / d_model))
    return pe
""",
    ),
    dict(
        id='6.3-b', exercise='6.3', today='NAMED', words=('frequency', 'angle'),
        tutor='All pairs turn by the same angle: each pair has a frequency of its own.',
        code=r"""
def shift_matrix(offset, d_model):
    c, s = math.cos(offset), math.sin(offset)
    block = torch.tensor([[c, s], [-s, c]])
    return torch.block_diag(*[block] * (d_model // 2))
""",
    ),
    dict(
        id='6.3-d', exercise='6.3', today='NAMED', words=('about', 'shift'),
        tutor='Moving the rows of the identity shifts the features, not the positions: each pair must be turned.',
        code=r"""
def shift_matrix(offset, d_model):
    return torch.roll(torch.eye(d_model), shifts=offset, dims=0)
""",
    ),
    dict(
        id='6.3-e', exercise='6.3', today='NAMED', words=('cosine', 'encoding'),
        tutor='i steps by two already, so 2 * i doubles the exponent; and the sines have exchanged signs.',
        code=r"""
def shift_matrix(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        theta = offset / (10000 ** (2 * i / d_model))
        M[i, i] = math.cos(theta)
        M[i, i + 1] = -math.sin(theta)
        M[i + 1, i] = math.sin(theta)
        M[i + 1, i + 1] = math.cos(theta)
    return M
""",
    ),
    dict(
        id='6.3-f', exercise='6.3', today='NAMED', words=('encodings', 'cosines'),
        tutor='The blocks are laid out for halves (column i with i + d/2); here neighbours 2i and 2i + 1 are a pair.',
        code=r"""
def shift_matrix(offset, d_model):
    half = d_model // 2
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    C, S = torch.diag(torch.cos(offset * w)), torch.diag(torch.sin(offset * w))
    return torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)], dim=0)
""",
    ),
    dict(
        id='6.3-x', exercise='6.3', today='NAMED', words=('whether radians belongs there', 'the sign of what that line computes'), slow=True,
        tutor='The angle is the sum for pos and offset in degrees, and the sines have the wrong signs.',
        code=r"""
def shift_matrix(offset, d_model):
    M = torch.eye(d_model)
    for i in range(0, d_model, 2):
        angle = math.radians(offset * 10000 ** (-i / d_model))
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1] = -math.sin(angle)
        M[i + 1, i] = math.sin(angle)
    return M
""",
    ),
    dict(
        id='6.4-a', exercise='6.4', today='NAMED', words=('uses', 'under'),
        tutor='even is a view of out, so the second line reads what the first has already overwritten.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    w = base ** (-torch.arange(0, d, 2) / d)
    angle = (torch.arange(T) + offset)[:, None] * w
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    out = x.clone()
    even, odd = out[..., 0::2], out[..., 1::2]
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out
""",
    ),
    dict(
        id='6.4-b', exercise='6.4', today='NAMED', words=('rightly', 'results'),
        tutor='The turned columns are put one half after the other; they have to go back to alternate columns.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    t = torch.arange(offset, offset + T).float()
    freqs = torch.outer(t, inv_freq).to(x.dtype)
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.cat([x1 * freqs.cos() - x2 * freqs.sin(), x1 * freqs.sin() + x2 * freqs.cos()], dim=-1)
""",
    ),
    dict(
        id='6.4-c', exercise='6.4', today='NAMED', words=('repeat_interleave', 'layouts'),
        tutor='Angles are laid out for halves (cat) while the rotation pairs neighbours: repeat each angle twice side by side (repeat_interleave).',
        code=r"""
def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)

def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2) / d)
    freqs = torch.arange(offset, offset + T)[:, None] * inv_freq[None, :]
    emb = torch.cat((freqs, freqs), dim=-1).to(x.dtype)
    return x * emb.cos() + rotate_every_two(x) * emb.sin()
""",
    ),
    dict(
        id='6.4-e', exercise='6.4', today='NAMED', words=('instance', 'bases'),
        tutor='base is ignored: 10000 is written in.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2).contiguous())
    theta = 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angle = torch.outer(torch.arange(offset, offset + T, dtype=x.dtype), theta)
    z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(z).flatten(-2)
""",
    ),
    dict(
        id='6.4-g', exercise='6.4', today='NAMED', words=('sinusoids', 'RoPE'),
        tutor='RoPE does not add an encoding: it turns each pair.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    angle = torch.arange(offset, offset + T)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    pe = torch.zeros(T, d, dtype=x.dtype)
    pe[:, 0::2] = angle.sin()
    pe[:, 1::2] = angle.cos()
    return x + pe
""",
    ),
    dict(
        id='6.4-h', exercise='6.4', today='NAMED', words=('caller', 'fill'),
        tutor='x is changed in place, and the second line already uses the changed even columns.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    freqs = base ** (-torch.arange(0, d, 2) / d)
    angles = (torch.arange(T) + offset).unsqueeze(-1) * freqs
    cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
    x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return x
""",
    ),
    dict(
        id='6.4-j', exercise='6.4', today='NAMED', words=('lengths', 'plus'),
        tutor='A sign: even gets a plus, so that it is no rotation; it must be even * cos - odd * sin.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    w = base ** (-torch.arange(0, d, 2) / d)
    angle = torch.arange(offset, offset + T)[:, None] * w
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = even * cos + odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out
""",
    ),
    dict(
        id='6.4-l', exercise='6.4', today='NAMED', words=('valid', 'matters'), slow=True,
        tutor='It pairs column i with i + d/2 instead of neighbours, and ignores offset.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    freqs = base ** (-torch.arange(0, d, 2) / d)
    angle = torch.arange(T)[:, None] * freqs
    cos = torch.cat([angle.cos(), angle.cos()], -1).to(x.dtype)
    sin = torch.cat([angle.sin(), angle.sin()], -1).to(x.dtype)
    x1, x2 = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-x2, x1], dim=-1) * sin
""",
    ),
    dict(
        id='6.5-a', exercise='6.5', today='NAMED', words=('Minus', 'gain'),
        tutor='k - q is negative already, so minus slope times it rewards distance.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    pos = torch.arange(T)
    distance = pos[None, :] - pos[:, None]
    return -slopes[:, None, None] * distance
""",
    ),
    dict(
        id='6.5-b', exercise='6.5', today='NAMED', words=('slope', 'runs'),
        tutor='Heads count from 1: with arange(n_heads) the first slope is 1 instead of 2^(-8/h).',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = torch.tensor([2 ** (-8 * i / n_heads) for i in range(n_heads)])
    pos = torch.arange(T)
    return -slopes.view(-1, 1, 1) * (pos.view(-1, 1) - pos.view(1, -1)).abs()
""",
    ),
    dict(
        id='6.5-c', exercise='6.5', today='NAMED', words=('eight', 'slopes'),
        tutor='2^-i is right for 8 heads only: the exponent is -8 i / h.',
        code=r"""
def alibi_bias(n_heads, T):
    bias = torch.zeros(n_heads, T, T)
    for h in range(n_heads):
        for q in range(T):
            for k in range(T):
                bias[h, q, k] = -abs(q - k) / 2 ** (h + 1)
    return bias
""",
    ),
    dict(
        id='6.5-h', exercise='6.5', today='PARTLY',
        tutor='The exponent is -8 / i instead of -8 i / h.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = torch.tensor([2 ** (-8 / i) for i in range(1, n_heads + 1)])
    position = torch.arange(T)
    distance = (position[:, None] - position[None, :]).abs()
    return -slopes[:, None, None] * distance[None]
""",
    ),
    dict(
        id='6.5-j', exercise='6.5', today='NAMED', words=('penalty', 'squared'),
        tutor='The distance is squared.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    diff = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    return -torch.einsum("h,qk->hqk", slopes, (diff ** 2).float())
""",
    ),
    dict(
        id='6.5-x', exercise='6.5', today='NAMED', words=('counted from 0', 'the operator //'),
        tutor='The exponent is rounded to whole numbers by // and heads count from 0.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = torch.tensor([1 / 2 ** (8 * i // n_heads) for i in range(n_heads)])
    rel = torch.arange(T)[None, :] - torch.arange(T)[:, None]
    return slopes[:, None, None] * rel
""",
    ),
    dict(
        id='r-alibi-one-row-counted-from-the-end', exercise='6.5', today='GENERIC',
        tutor='One row of distances, those of the last query, serves all queries. Under a causal softmax that is the same up to a constant a row; asked for is |q - k| itself.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    row = torch.arange(1 - T, 1)
    return (slopes[:, None, None] * row).expand(n_heads, T, T)
""",
    ),
    dict(
        id='r-alibi-one-step-too-far', exercise='6.5', today='NAMED', words=('distances', 'penalised'),
        tutor='A word is 0 away from itself: your distances are one too large.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    pos = torch.arange(T)
    return slopes[:, None, None] * (pos[None, :] - (pos[:, None] + 1))
""",
    ),
    dict(
        id='6.6-d', exercise='6.6', today='NAMED', words=('doubles', 'width'),
        tutor='Words and positions are laid side by side; they are to be added.',
        code=r"""
def embed(tokens, E, pe):
    B, T = tokens.shape
    positions = pe[:T].unsqueeze(0).expand(B, -1, -1)
    return torch.cat([E[tokens], positions], dim=-1)
""",
    ),
    dict(
        id='6.6-e', exercise='6.6', today='NAMED', words=('Vaswani', '√d_model'),
        tutor='The word vectors are multiplied by the root of d_model, as in the Transformer paper; the exercise does not ask for it.',
        code=r"""
def embed(tokens, E, pe):
    d_model = E.shape[1]
    x = E[tokens] * math.sqrt(d_model)
    x = x + pe[: tokens.size(1)]
    return x
""",
    ),
    dict(
        id='6.6-f', exercise='6.6', today='NAMED', words=('multiplied', 'the number 1 in t + 1'),
        tutor='Positions are off by one (from 1 on), and multiplied instead of added.',
        code=r"""
def embed(tokens, E, pe):
    out = torch.zeros(tokens.shape[0], tokens.shape[1], E.shape[1], dtype=E.dtype)
    for b in range(tokens.shape[0]):
        for t in range(tokens.shape[1]):
            out[b, t] = E[tokens[b, t]] * pe[(t + 1) % len(pe)]
    return out
""",
    ),
    dict(
        id='6.6-g', exercise='6.6', today='NAMED', words=('numbered', 'example'),
        tutor="Each sentence gets one row for all its words: the row must follow the word's place.",
        code=r"""
def embed(tokens, E, pe):
    sentences = []
    for b, sentence in enumerate(tokens):
        sentences.append(E[sentence] + pe[b])
    return torch.stack(sentences)
""",
    ),
    dict(
        id='6.6-h', exercise='6.6', today='NAMED', words=('gets', 'token'),
        tutor='pe[T - 1] is one row, added to all words.',
        code=r"""
def embed(tokens, E, pe):
    B, T = tokens.shape
    return E[tokens] + pe[T - 1]
""",
    ),
    dict(
        id='6.6-j', exercise='6.6', today='PARTLY',
        tutor='The positions are counted on through the whole batch instead of from 0 in each sentence, and the batch axis is lost.',
        code=r"""
def embed(tokens, E, pe):
    flat = tokens.flatten()
    index = torch.arange(len(flat)) % len(pe)
    return E[flat] + pe[index]
""",
    ),
    dict(
        id='6.6-x', exercise='6.6', today='NAMED', words=('depend', 'Vaswani'),
        tutor="Word vectors are scaled by the root of d_model, and the positions' rows are looked up by the token's number.",
        code=r"""
def embed(tokens, E, pe):
    d_model = E.shape[-1]
    return E[tokens] * d_model ** 0.5 + pe[tokens]
""",
    ),
    dict(
        id='6.7-c', exercise='6.7', today='NAMED', words=('cancel', 'distance'),
        tutor='Only queries are turned; keys need it too.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    Q = rope(Q)
    d_k = Q.size(-1)
    scores = (Q @ K.transpose(0, 1)) / d_k ** 0.5
    mask = torch.triu(torch.ones_like(scores), diagonal=1).bool()
    scores[mask] = float("-inf")
    return torch.softmax(scores, dim=1) @ V
""",
    ),
    dict(
        id='6.7-e', exercise='6.7', today='NAMED', words=('home', 'lesson'),
        tutor='Values are turned too, and the scores are not divided by the root of d_k.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = [rope(X @ W) for W in (W_q, W_k, W_v)]
    scores = Q @ K.T
    scores = scores.masked_fill(~causal_mask(X.shape[0]), -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ V
""",
    ),
    dict(
        id='6.7-f', exercise='6.7', today='PARTLY', slow=True,
        tutor='Keys are not turned, and the mask comes after the softmax.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    T = X.shape[0]
    Q = rope(X @ W_q)
    K = X @ W_k
    V = X @ W_v
    weights = torch.softmax(Q @ K.T / math.sqrt(K.shape[1]), dim=-1)
    weights = weights * causal_mask(T)
    return weights @ V
""",
    ),
    dict(
        id='6.7-g', exercise='6.7', today='NAMED', words=('√d_model', 'have'),
        tutor='The root of d_model (X.shape[-1]) is taken instead of d_k.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    T, d = X.shape
    Q, K, V = rope(X @ W_q), rope(X @ W_k), X @ W_v
    scores = torch.einsum("qd,kd->qk", Q, K) / math.sqrt(d)
    scores = scores.masked_fill(~causal_mask(T), -torch.inf)
    return torch.einsum("qk,kd->qd", scores.softmax(-1), V)
""",
    ),
    dict(
        id='6.7-j', exercise='6.7', today='PARTLY', slow=True,
        tutor='The scores are turned instead of queries and keys, which is too late.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    if scores.shape[-1] % 2 == 1:
        scores = torch.cat([rope(scores[:, :-1]), scores[:, -1:]], dim=-1)
    else:
        scores = rope(scores)
    scores = scores.masked_fill(~causal_mask(len(X)), -torch.inf)
    return scores.softmax(dim=-1) @ V
""",
    ),
    dict(
        id='6.7-x', exercise='6.7', today='NAMED', words=('make V of X itself', 'not divided by √d_k'),
        tutor='Turned before the projection, values as well; and no scaling.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    X = rope(X)
    scores = (X @ W_q) @ (X @ W_k).T
    scores = scores.masked_fill(~causal_mask(len(X)), -torch.inf)
    return scores.softmax(-1) @ (X @ W_v)
""",
    ),
    dict(
        id='7.1-a', exercise='7.1', today='NAMED', words=('convention', 'PyTorch'),
        tutor='Exact additions are counted (n - 1 for n products); the course counts a multiply-add as 2.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    scores = T_q * T_k * (2 * d_k - 1)
    out = T_q * d_v * (2 * T_k - 1)
    return scores + out
""",
    ),
    dict(
        id='7.1-c', exercise='7.1', today='NAMED', words=('alone', 'second'),
        tutor='The second product, weights V, is missing.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * T_k * d_k
""",
    ),
    dict(
        id='7.1-e', exercise='7.1', today='NAMED', words=('T_q is missing', 'half of what'),
        tutor='A multiply-add is counted as one, and the number of queries is missing in weights V.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    first = T_q * d_k * T_k
    second = T_k * d_v
    return first + second
""",
    ),
    dict(
        id='7.1-g', exercise='7.1', today='NAMED', words=('multiplication', 'vectors'),
        tutor='Only one FLOP per multiply-add, and d_v ignored (d_k taken twice).',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    return T_q * T_k * d_k + T_q * T_k * d_k
""",
    ),
    dict(
        id='7.1-x', exercise='7.1', today='NAMED', words=('one factor too many', 'twice what it should be'),
        tutor='d_k and d_v are multiplied instead of added, and the factor is 4.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    return 4 * T_q * T_k * d_k * d_v
""",
    ),
    dict(
        id='r-exact-triangle-counted', exercise='7.1', today='NAMED', words=('whether min belongs there',),
        tutor='You counted the pairs below the diagonal only, as for a causal mask. No mask is spoken of: T_q * T_k pairs.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    pairs = sum(min(i + 1, T_k) for i in range(T_q))
    return 2 * pairs * (d_k + d_v)
""",
    ),
    dict(
        id='r-multiply-adds-with-softmax-and-scaling', exercise='7.1', today='NAMED', words=('is not wanted', 'half of what'),
        tutor='Two things: a multiply-add is counted as one FLOP, and the scaling of Q and one operation a score for the softmax are in it; the two products alone are asked for.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    flops = T_q * d_k  # scaling of the queries
    flops += T_q * T_k * d_k + T_q * T_k + T_q * T_k * d_v
    return flops
""",
    ),
    dict(
        id='r-softmax-counted-as-a-third-product', exercise='7.1', today='NAMED', words=('whether + d_k belongs there',),
        tutor='You counted three products as dear as each other (QK, softmax, weights V); the softmax is no product and is left out here.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * T_k * (d_k + d_k + d_v)
""",
    ),
    dict(
        id='7.2-a', exercise='7.2', today='NAMED', words=('the operator ^',),
        tutor='^ is not a power in Python (it is XOR): write **.',
        code=r"""
def projection_flops(T, d_model):
    return 8 * T * d_model ^ 2
""",
    ),
    dict(
        id='7.2-e', exercise='7.2', today='NAMED', words=('grow', 'single'),
        tutor="The number of words is missing: this counts one word's.",
        code=r"""
def projection_flops(T, d_model):
    params = 4 * d_model ** 2
    return 2 * params
""",
    ),
    dict(
        id='7.2-f', exercise='7.2', today='NAMED', words=('treats', 'squared'),
        tutor='The power covers everything: only d_model is squared.',
        code=r"""
def projection_flops(T, d_model):
    return 2 * 4 * (T * d_model) ** 2
""",
    ),
    dict(
        id='7.2-g', exercise='7.2', today='NAMED', words=('bias', 'none'),
        tutor="A bias is counted that the projections don't have.",
        code=r"""
def projection_flops(T, d_model):
    per_layer = 2 * T * d_model * d_model + T * d_model
    return 4 * per_layer
""",
    ),
    dict(
        id='7.2-x', exercise='7.2', today='GENERIC',
        tutor='Only one projection, and multiply-adds counted once.',
        code=r"""
def projection_flops(T, d_model):
    return T * d_model ** 2
""",
    ),
    dict(
        id='7.3-a', exercise='7.3', today='NAMED', words=('crossing', 'cross'),
        tutor='1536 is the answer for d_model = 768 only: it depends on d_model.',
        code=r"""
def crossover_length(d_model):
    return 1536
""",
    ),
    dict(
        id='7.3-b', exercise='7.3', today='NAMED', words=('length', 'cost'),
        tutor='Off by one: after the loop T is the crossing; T - 1 is the last length at which attention is cheaper.',
        code=r"""
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):
        T += 1
    return T - 1
""",
    ),
    dict(
        id='7.3-d', exercise='7.3', today='PARTLY',
        tutor='The fraction is upside down: T = 8 d^2 / (4 d), not 4/8 of d.',
        code=r"""
def crossover_length(d_model):
    # 4 T^2 d = 8 T d^2   ->   T = 4 d / 8
    return 4 * d_model / 8
""",
    ),
    dict(
        id='7.3-f', exercise='7.3', today='NAMED', words=('scoring', 'against'),
        tutor='W_o is forgotten in the projections, and weights V in the attention: 2 T d = 6 d^2.',
        code=r"""
def crossover_length(d_model):
    scores_per_word = 2 * d_model            # times T
    qkv_per_word = 3 * 2 * d_model ** 2
    return qkv_per_word // scores_per_word
""",
    ),
    dict(
        id='7.3-g', exercise='7.3', today='GENERIC',
        tutor="Only one head of 64 features is counted on the attention's side; all heads together are d_model wide.",
        code=r"""
def crossover_length(d_model):
    d_k = 64
    for T in range(1, 1000000):
        if attention_flops(T, T, d_k, d_k) >= projection_flops(T, d_model):
            return T
""",
    ),
    dict(
        id='7.3-h', exercise='7.3', today='NAMED', words=('below this line the function ends without a return',),
        tutor='The search ends at 511 and returns None for wide layers.',
        code=r"""
def crossover_length(d_model):
    for T in range(1, 512):
        if attention_flops(T, T, d_model, d_model) >= projection_flops(T, d_model):
            return T
""",
    ),
    dict(
        id='7.4-a', exercise='7.4', today='NAMED', words=('head', 'here'),
        tutor='The heads are left out: each has its own T x T matrix.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    return B * T * T * itemsize
""",
    ),
    dict(
        id='7.4-c', exercise='7.4', today='NAMED', words=('bytes', 'itemsize'),
        tutor='These are bits: itemsize is bytes already.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    n_scores = B * H * T ** 2
    bits = n_scores * itemsize * 8
    return bits
""",
    ),
    dict(
        id='7.4-d', exercise='7.4', today='NAMED', words=('stored', 'causal'),
        tutor='Only the causal half of the scores is counted; all T x T are made.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = T * (T + 1) // 2
    return B * H * pairs * itemsize
""",
    ),
    dict(
        id='7.4-f', exercise='7.4', today='NAMED', words=('what is multiplied there', 'whether / 1000000000'),
        tutor='The batch is left out, and the size in gigabytes is returned instead of bytes.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    n = H * T * T * itemsize
    return n / 1e9
""",
    ),
    dict(
        id='7.4-g', exercise='7.4', today='NAMED', words=('bytes', 'itemsize'),
        tutor='It counts scores, not bytes: times itemsize.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    return math.prod((B, H, T, T))
""",
    ),
    dict(
        id='7.4-h', exercise='7.4', today='NAMED', words=('belongs once more', 'twice what it should be'),
        tutor='T is not squared, and two matrices (scores and weights) are counted.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    scores = B * H * T * itemsize
    weights = B * H * T * itemsize
    return scores + weights
""",
    ),
    dict(
        id='7.5-a', exercise='7.5', today='NAMED', words=('taking', 'fitted'),
        tutor='The line is fitted to the numbers and not to their logarithms.',
        code=r"""
def fit_exponent(sizes, costs):
    slope, intercept = np.polyfit(sizes, costs, 1)
    return float(slope)
""",
    ),
    dict(
        id='7.5-e', exercise='7.5', today='NAMED', words=('forced', 'origin'),
        tutor='The line is forced through the origin: the intercept log c is left out.',
        code=r"""
def fit_exponent(sizes, costs):
    x = np.log(np.asarray(sizes, dtype=float))
    y = np.log(np.asarray(costs, dtype=float))
    return float((x * y).sum() / (x * x).sum())
""",
    ),
    dict(
        id='7.5-f', exercise='7.5', today='NAMED', words=('steep', 'divides'),
        tutor='np.cov divides by n - 1 and np.var by n: the slope comes out too large by n / (n - 1).',
        code=r"""
def fit_exponent(sizes, costs):
    x, y = np.log(sizes), np.log(costs)
    return float(np.cov(x, y)[0, 1] / np.var(x))
""",
    ),
    dict(
        id='7.5-h', exercise='7.5', today='NAMED', words=('will', 'bases'),
        tutor='Two different logarithms: log10 on one side, log on the other.',
        code=r"""
def fit_exponent(sizes, costs):
    a = np.log(sizes)
    b = np.log10(costs)
    return float(np.polyfit(a, b, deg=1)[0])
""",
    ),
    dict(
        id='7.5-j', exercise='7.5', today='NAMED', words=('parabola', 'degree'),
        tutor='A parabola is fitted and its leading coefficient returned: use degree 1.',
        code=r"""
def fit_exponent(sizes, costs):
    coefficients = np.polyfit(np.log(sizes), np.log(costs), 2)
    return float(coefficients[0])
""",
    ),
    dict(
        id='7.5-x', exercise='7.5', today='PARTLY',
        tutor='Base-2 logarithm on one side only, and the intercept returned.',
        code=r"""
def fit_exponent(sizes, costs):
    A = np.stack([np.log2(sizes), np.ones(len(sizes))], axis=1)
    solution, *_ = np.linalg.lstsq(A, np.log(costs), rcond=None)
    return float(solution[1])
""",
    ),
    dict(
        id='r-power-law-fitted-without-logarithms', exercise='7.5', today='GENERIC', slow=True,
        tutor='You fitted the power law to the costs themselves: there the largest costs decide alone. Take logarithms of both and fit a line.',
        code=r"""
def fit_exponent(sizes, costs):
    x, y = np.asarray(sizes, float), np.asarray(costs, float)
    best, lowest = 0.0, np.inf
    for p in np.arange(-5, 5, 0.001):
        f = x**p
        c = (f @ y) / (f @ f)
        error = ((y - c * f) ** 2).sum()
        if error < lowest:
            best, lowest = p, error
    return float(best)
""",
    ),
]
