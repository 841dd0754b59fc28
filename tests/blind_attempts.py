"""Wrong answers written by readers of the lessons who had not seen what the course knows (the `n` first, the `m` last); graded after reading each report.

`words` stand in the report of each that is named in full. `mistakes`: how many it holds. `slow`: an explanation takes
over half a second, so that only the rejection is tested.
"""

ATTEMPTS = [
    dict(
        id='n-0.1-count-nonzero', exercise='0.1', today='NAMED', words=('You divided by how many weights are above 0',), mistakes=1,
        tutor='You divide by how many weights are positive. Divide by the sum of the weights instead: a weight of 2 counts twice below the line too.',
        code=r"""
def weighted_average(values, weights):
    total = 0.0
    used = 0
    for v, w in zip(values, weights):
        if w > 0:
            total += v * w
            used += 1
    return total / used
""",
    ),
    dict(
        id='n-0.1-floor-division', exercise='0.1', today='NAMED', words=('// drops what comes after the decimal point: div',), mistakes=1,
        tutor='`//` rounds the quotient down to a whole number. It gives 25 in the example by luck; use the ordinary division `/`.',
        code=r"""
def weighted_average(values, weights):
    numerator = np.dot(values, weights)
    denominator = np.sum(weights)
    return numerator // denominator
""",
    ),
    dict(
        id='n-0.1-list-of-parts', exercise='0.1', today='NAMED', words=('with its parts added up',), mistakes=1,
        tutor='You return a list with the share of each value. The average is one number: add these shares up.',
        code=r"""
def weighted_average(values, weights):
    whole = sum(weights)
    parts = []
    for i in range(len(values)):
        parts.append(values[i] * weights[i] / whole)
    return parts
""",
    ),
    dict(
        id='n-1.1-key-length', exercise='1.1', today='NAMED', words=('You divided by the length of each key; the plain',), mistakes=1,
        tutor='You divide each dot product by the length of its key, which is half-way to a cosine. The plain dot product is asked for, without any division.',
        code=r"""
def similarities(query, keys):
    out = np.empty(len(keys))
    for row, key in enumerate(keys):
        length = np.sqrt(np.sum(key ** 2))
        out[row] = np.sum(query * key) / length
    return out
""",
    ),
    dict(
        id='n-1.1-dot-order', exercise='1.1', today='NAMED', words=('You multiplied query @ keys: the features of the',), mistakes=1,
        tutor='np.dot(query, keys) lets the features of the query meet the n rows of keys, so the shapes do not fit. Put keys first: keys @ query.',
        code=r"""
def similarities(query, keys):
    result = np.dot(query, keys)
    return result
""",
    ),
    dict(
        id='n-1.1-negative-distance', exercise='1.1', today='NAMED', words=('You took minus the distance between query and ke',), mistakes=1,
        tutor='You return the negative distance between query and key. It is another measure of similarity; here multiply feature by feature and add up.',
        code=r"""
def similarities(query, keys):
    gap = keys - query[np.newaxis, :]
    return -np.linalg.norm(gap, axis=1)
""",
    ),
    dict(
        id='n-1.2-sharpness-after-exp', exercise='1.2', today='NAMED', words=('You multiplied the exponentials by sharpness; di',), mistakes=1,
        tutor='You multiply the exponentials by the sharpness, and it cancels when you divide by the sum. Multiply the scores by it before the exponential.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    s = keys @ query
    e = sharpness * np.exp(s - np.max(s))
    w = e / np.sum(e)
    mixed = np.einsum("n,nd->d", w, values)
    return mixed, w
""",
    ),
    dict(
        id='n-1.2-temperature-and-order', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one woul', 'You returned (weights, value); the order asked f'), mistakes=2,
        tutor='You divide the scores by the sharpness as if it were a temperature; multiply them. And return the value first and the weights second.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    def to_weights(z):
        z = np.exp(z - z.max())
        return z / z.sum()

    weights = to_weights(similarities(query, keys) / sharpness)
    value = weights @ values
    return weights, value
""",
    ),
    dict(
        id='n-1.2-max-of-plain-scores', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and i',), mistakes=1,
        tutor='You subtract the largest score from before the multiplication with the sharpness, so the exponential can still overflow. Multiply first, then subtract the largest of the multiplied scores.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    sims = similarities(query, keys)
    biggest = sims.max()
    exps = np.exp(sharpness * sims - biggest)
    weights = exps / exps.sum()
    value = (weights[:, None] * values).sum(axis=0)
    return value, weights
""",
    ),
    dict(
        id='n-1.2-math-exp', exercise='1.2', today='NAMED', words=('Line 6, raised.append(math.exp(float(sharpness *',), mistakes=1,
        tutor='math.exp raises an OverflowError for large scores, because you take the exponential of the raw scores. Subtract the largest score first.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    import math
    raised = []
    for k in keys:
        score = sum(a * b for a, b in zip(query, k))
        raised.append(math.exp(float(sharpness * score)))
    total = sum(raised)
    weights = np.array([r / total for r in raised])
    value = np.zeros(values.shape[1])
    for w, v in zip(weights, values):
        value = value + w * v
    return value, weights
""",
    ),
    dict(
        id='n-1.3-stacked', exercise='1.3', today='NAMED', words=('One change in line 2 would make this right: look',), mistakes=1,
        tutor='np.stack needs arrays of one shape, but V can be wider than Q and K. Return the three arrays separately as Q, K, V.',
        code=r"""
def project(X, W_q, W_k, W_v):
    projections = np.stack([X @ W for W in (W_q, W_k, W_v)])
    return projections
""",
    ),
    dict(
        id='n-1.3-words-as-columns', exercise='1.3', today='NAMED', words=('You multiplied W.T @ X.T, which gives one column',), mistakes=1,
        tutor='Your einsum ends in `ft`, so the words become columns and the results are transposed. Each word stays a row: end in `tf`.',
        code=r"""
def project(X, W_q, W_k, W_v):
    def proj(matrix):
        return np.einsum("td,df->ft", X, matrix)

    return proj(W_q), proj(W_k), proj(W_v)
""",
    ),
    dict(
        id='n-1.4-rows-are-keys', exercise='1.4', today='NAMED', words=('Your scores are the transpose of what was asked:',), mistakes=1,
        tutor='Your result has the keys as rows and the queries as columns. Row i has to belong to query i, so end the einsum in `ij`.',
        code=r"""
def dot_product_scores(Q, K):
    return np.einsum("...id,...jd->...ji", Q, K)
""",
    ),
    dict(
        id='n-1.4-transpose-all-scaled', exercise='1.4', today='PARTLY', mistakes=2, slow=True,
        tutor='K.transpose() reverses all axes, also those of a batch; exchange only the last two. And nothing is divided here: leave out the root of d_k.',
        code=r"""
def dot_product_scores(Q, K):
    width = K.shape[-1]
    products = np.matmul(Q, K.transpose())
    return products / width ** 0.5
""",
    ),
    dict(
        id='n-1.4-loop-no-batch', exercise='1.4', today='NAMED', words=('Your loops take the first axis for the positions',), mistakes=1,
        tutor='Your loops take the first axis for the words, so a batch of sentences fails. Use the last two axes: Q @ np.swapaxes(K, -1, -2).',
        code=r"""
def dot_product_scores(Q, K):
    n_q, n_k = len(Q), len(K)
    table = np.zeros((n_q, n_k))
    for a in range(n_q):
        for b in range(n_k):
            table[a, b] = np.dot(Q[a], K[b])
    return table
""",
    ),
    dict(
        id='n-1.5-old-any-noun', exercise='1.5', today='NAMED', words=('old gives books and shelf the same weight, 0.50:',), mistakes=1,
        tutor='The adjective row looks for any noun, so *old* shares its weight between *books* and *shelf*. Let it look for plural as well: [6, 6].',
        code=r"""
def design_projections():
    strength = 6.0
    W_q = np.zeros((4, 2))
    W_q[1, 0] = strength      # verb wants a noun
    W_q[2, 0] = strength      # adjective wants a noun
    W_q[3, 1] = strength      # same number
    W_k = np.zeros((4, 2))
    W_k[0, 0] = 1
    W_k[3, 1] = 1
    return W_q, W_k
""",
    ),
    dict(
        id='n-1.5-swapped-and-soft', exercise='1.5', today='NAMED', words=('are looks most at itself (0.26) and gives books', 'old gives every word the same weight: its query'), mistakes=2,
        tutor='You return W_k before W_q. And the entries are too small: at sharpness 1 *old* would give *books* only about half; make W_q about 5 times larger.',
        code=r"""
def design_projections():
    looks_for = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], dtype=float)
    found_by = np.array([[1, 0], [0, 0], [0, 0], [0, 1]], dtype=float)
    return found_by, looks_for
""",
    ),
    dict(
        id='n-1.5-wrong-row', exercise='1.5', today='NAMED', words=('old gives every word the same weight: its query',), mistakes=1,
        tutor='You wrote what *old* looks for into the row of *number*. *old* has only the feature adjective, so its query is the third row, which is zero.',
        code=r"""
def design_projections():
    noun, plural = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    nothing = np.zeros(2)
    W_q = 5 * np.stack([nothing, noun + plural, nothing, noun + plural])
    W_k = np.stack([noun, nothing, nothing, plural])
    return W_q, W_k
""",
    ),
    dict(
        id='n-2.1-one-max-for-all', exercise='2.1', today='NAMED', words=('You subtracted one maximum for the whole array;',), mistakes=1,
        tutor='You subtract the largest number of the whole array. A row far below it underflows to 0/0; subtract the maximum along the axis, of each row.',
        code=r"""
def softmax(x, axis=-1):
    top = np.amax(x)
    powers = np.e ** (x - top)
    norm = np.expand_dims(powers.sum(axis=axis), axis)
    return powers / norm
""",
    ),
    dict(
        id='n-2.1-in-place', exercise='2.1', today='NAMED', words=('The values are right. The function changed its i',), mistakes=1,
        tutor="`-=`, `out=x` and `/=` write into the caller's array. Make a new array: e = np.exp(x - maximum).",
        code=r"""
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
""",
    ),
    dict(
        id='n-2.1-axis-ignored-overflow', exercise='2.1', today='NAMED', words=('exp overflows for large scores, and inf/inf is N', 'You always normalise along the last axis: use th'), mistakes=2,
        tutor='You always work along the last axis and ignore `axis`. And without subtracting the maximum the exponential overflows for large scores.',
        code=r"""
def softmax(x, axis=-1):
    def single(row):
        e = np.exp(row)
        return e / e.sum()

    return np.apply_along_axis(single, -1, np.asarray(x, dtype=float))
""",
    ),
    dict(
        id='n-2.2-scale-after-softmax', exercise='2.2', today='NAMED', words=('You divided the weights by √d_k, so their rows n',), mistakes=1,
        tutor='You divide the weights by the root of d_k after the softmax, so rows do not sum to 1. Divide the scores, before the softmax.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d = Q.shape[-1]
    logits = np.einsum("...id,...jd->...ij", Q, K)
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    attn = softmax(logits, axis=-1) / np.sqrt(d)
    return np.einsum("...ij,...jv->...iv", attn, V), attn
""",
    ),
    dict(
        id='n-2.2-boolean-index', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the',), mistakes=1,
        tutor='Indexing with ~mask does not broadcast, so a mask (T_q, T_k) fails on a batch. np.where(mask, scores, -np.inf) broadcasts.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = (Q @ np.swapaxes(K, -2, -1)) * K.shape[-1] ** -0.5
    if mask is not None:
        scores[~mask] = -np.inf
    weights = softmax(scores)
    out = weights @ V
    return out, weights
""",
    ),
    dict(
        id='n-2.2-late-mask-and-order', exercise='2.2', today='NAMED', words=('You masked after the softmax: blocked keys alrea', 'You returned (weights, out); the order asked for'), mistakes=2,
        tutor='You mask after the softmax, so the remaining weights no longer sum to 1; write -inf into the scores before it. And return out first, then weights.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    Kt = np.moveaxis(K, -1, -2)
    a = softmax(np.matmul(Q, Kt) / math.sqrt(Q.shape[-1]), axis=-1)
    if mask is not None:
        a = a * mask
    return a, np.matmul(a, V)
""",
    ),
    dict(
        id='n-2.2-root-of-words', exercise='2.2', today='NAMED', words=('You took the number of keys, T_k = 7, for the sc',), mistakes=1,
        tutor='You divide by the root of the number of keys. The scale is the root of d_k, the last axis of K: the number of features.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scale = np.sqrt(K.shape[-2])
    pairs = Q[..., :, None, :] * K[..., None, :, :]
    s = pairs.sum(axis=-1) / scale
    if mask is None:
        mask = np.ones(s.shape, dtype=bool)
    s = np.where(mask, s, float("-inf"))
    w = softmax(s)
    return w @ V, w
""",
    ),
    dict(
        id='n-2.3-mask-lost-only-out', exercise='2.3', today='NAMED', words=('One value came back, an array of shape (7, 3); 2',), mistakes=2,
        tutor='You do not hand the mask on, so blocked words are seen. And you return the output alone; return out and weights.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    triple = [np.matmul(X, W) for W in (W_q, W_k, W_v)]
    return scaled_dot_product_attention(*triple)[0]
""",
    ),
    dict(
        id='n-2.3-copy-paste-key', exercise='2.3', today='NAMED', words=('Your keys came from W_q: use W_k. With one matri',), mistakes=1,
        tutor='The keys are projected with W_q, so W_k is never used. K is X @ W_k.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    queries = np.einsum("...td,dk->...tk", X, W_q)
    keys = np.einsum("...td,dk->...tk", X, W_q)
    vals = np.einsum("...td,dv->...tv", X, W_v)
    result = scaled_dot_product_attention(queries, keys, vals, mask=mask)
    return result
""",
    ),
    dict(
        id='n-2.4-tanh-last', exercise='2.4', today='NAMED', words=('The tanh sits on the finished score; it belongs',), mistakes=1,
        tutor='You weight the hidden units first and take tanh of the finished score. Take tanh of the sum of the projections, and then multiply by v.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = (Q @ W_q).reshape(len(Q), 1, -1) + (K @ W_k).reshape(1, len(K), -1)
    return np.tanh(np.einsum("qkm,m->qk", hidden, v))
""",
    ),
    dict(
        id='n-2.4-no-new-axes', exercise='2.4', today='NAMED', words=('Query i was added only to key i. Give the querie',), mistakes=1,
        tutor='You add query i to key i only, and the shapes do not fit if T_q is not T_k. Give each its own axis: (Q @ W_q)[:, None, :] + (K @ W_k)[None].',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    q_proj = Q @ W_q
    k_proj = K @ W_k
    activation = np.tanh(q_proj + k_proj)
    return activation @ v
""",
    ),
    dict(
        id='n-2.4-keys-first-linear', exercise='2.4', today='NAMED', words=('There is no tanh. Without it the score splits in', 'Your scores are transposed: rows should be queri'), mistakes=2, slow=True,
        tutor='The tanh is missing, so the network is only linear. And your rows are the keys; row i has to belong to query i.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    rows = []
    for k in K:
        row = []
        for q in Q:
            h = q @ W_q + k @ W_k
            row.append(float(np.dot(v, h)))
        rows.append(row)
    return np.array(rows)
""",
    ),
    dict(
        id='n-2.5-also-scaled', exercise='2.5', today='NAMED', words=('You divided by √d_k; general scores are not scal',), mistakes=1,
        tutor="You also divide by the root of the key's width. General scores have no scale: q W k^T and nothing else.",
        code=r"""
def general_scores(Q, K, W):
    result = np.zeros((Q.shape[0], K.shape[0]))
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            result[i, j] = q.dot(W).dot(k) / math.sqrt(k.size)
    return result
""",
    ),
    dict(
        id='n-2.5-key-asks', exercise='2.5', today='NAMED', words=('You used W transposed. W leads from query featur',), mistakes=1,
        tutor="Queries and keys are exchanged: W has the query's width in its rows, so Q has to stand on the left, Q @ W @ K.T. With different widths yours fails.",
        code=r"""
def general_scores(Q, K, W):
    bilinear = K @ W @ Q.T
    return bilinear.T
""",
    ),
    dict(
        id='n-2.6-tiny-fill-dk', exercise='2.6', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k =', 'You set blocked scores to 0 (or multiplied the s'), mistakes=2, slow=True,
        tutor='The scale is still d_k and not its root. And 1e-9 is practically the score 0, so blocked words get weight; it has to be -np.inf.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / d_k
    if mask is not None:
        scores = np.where(mask, scores, 1e-9)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
""",
    ),
    dict(
        id='n-2.6-times-root', exercise='2.6', today='NAMED', words=('You multiplied the scores by √d_k = 2 (dividing',), mistakes=1,
        tutor='You multiply the scores by the root of d_k. Divide by it.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    root = np.sqrt(K.shape[-1])
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores * root
    if mask is not None:
        blocked = np.logical_not(mask)
        scores = np.where(blocked, -np.inf, scores)
    weights = softmax(scores, axis=-1)
    out = weights @ V
    return out, weights
""",
    ),
    dict(
        id='n-3.1-global-random', exercise='3.1', today='NAMED', words=('rng does not decide your numbers, two calls with',), mistakes=1,
        tutor='You draw from np.random and ignore the generator that was passed, so the result cannot be repeated. Draw with rng.standard_normal.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    queries = np.random.randn(n, d_k)
    keys = np.random.randn(n, d_k)
    return np.einsum("nd,nd->n", queries, keys)
""",
    ),
    dict(
        id='n-3.1-uniform-scaled', exercise='3.1', today='NAMED', words=('Your features are uniform between −1 and 1, with', 'You divided by √d_k already; here the plain dot'), mistakes=2,
        tutor='You draw uniform numbers between -1 and 1, whose variance is 1/3; draw standard normal ones. And do not divide by the root of d_k here: the spread before the scaling is to be measured.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q, k = rng.uniform(-1, 1, size=(2, n, d_k))
    dots = np.array([a @ b for a, b in zip(q, k)])
    return dots / np.sqrt(d_k)
""",
    ),
    dict(
        id='n-3.1-two-size-arguments', exercise='3.1', today='NAMED', words=('Line 2, q = rng.standard_normal(n, d_k), stopped',), mistakes=1,
        tutor='rng.standard_normal takes the shape as one tuple; your second argument is taken for a dtype. Write rng.standard_normal((n, d_k)).',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.standard_normal(n, d_k)
    k = rng.standard_normal(n, d_k)
    return (q * k).sum(axis=1)
""",
    ),
    dict(
        id='n-3.2-flattened', exercise='3.2', today='NAMED', words=('You added up everything into one number; each ro',), mistakes=1,
        tutor='Picking the positive weights with an index flattens the array, so you return one number for all rows. Keep the shape and add up along the last axis only.',
        code=r"""
def entropy(weights):
    positive = weights[weights > 0]
    return -np.sum(positive * np.log(positive))
""",
    ),
    dict(
        id='n-3.2-bits-in-place', exercise='3.2', today='NAMED', words=('You took logarithms to base 2, which gives bits;',), mistakes=2,
        tutor="np.log2 gives bits; the natural logarithm is asked for. And you overwrite the zeros in the caller's weights: use np.where to make a new array.",
        code=r"""
def entropy(weights):
    weights[weights == 0] = 1.0
    surprise = -np.log2(weights)
    return (weights * surprise).sum(axis=-1)
""",
    ),
    dict(
        id='n-3.2-effective-number', exercise='3.2', today='NAMED', words=('You returned exp(entropy), the effective number',), mistakes=1,
        tutor='You return the exponential of the entropy, the effective number of words. Return the entropy itself, without np.exp.',
        code=r"""
def entropy(weights):
    logs = np.zeros_like(weights, dtype=float)
    np.log(weights, out=logs, where=weights > 0)
    h = -np.einsum("...n,...n->...", weights, logs)
    return np.exp(h)
""",
    ),
    dict(
        id='n-3.3-single-row-only', exercise='3.3', today='NAMED', words=('np.diag and np.outer know a single row only: of',), mistakes=1,
        tutor='np.diag and np.outer work for a single row only; with more axes they give something else or fail. Use p[..., :, None] and p[..., None, :].',
        code=r"""
def softmax_jacobian(p):
    return np.diag(p) - np.outer(p, p)
""",
    ),
    dict(
        id='n-3.3-diagonal-p', exercise='3.3', today='NAMED', words=('Only your diagonal is wrong.',), mistakes=1,
        tutor='Off the diagonal you are right, but on it you put p_i. It is p_i (1 - p_i): the square has to be subtracted there too.',
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
        id='n-3.3-softmax-again-sign', exercise='3.3', today='NAMED', words=('Your signs are reversed: a weight rises with its', 'You applied softmax to p; the argument holds the'), mistakes=2,
        tutor='p are the weights already; you apply softmax a second time. And the sign is reversed: diagonal minus products, not products minus diagonal.',
        code=r"""
def softmax_jacobian(p):
    w = softmax(p)
    identity = np.eye(w.shape[-1])
    products = np.einsum("...i,...j->...ij", w, w)
    diagonal = np.einsum("...i,ij->...ij", w, identity)
    return products - diagonal
""",
    ),
    dict(
        id='n-3.4-diagonal-only', exercise='3.4', today='NAMED', words=("You used only the Jacobian's diagonal, p (1 − p)",), mistakes=1,
        tutor='You use only the diagonal p(1 - p) of the Jacobian, as for a sigmoid. The other entries count too: weights times (gradient minus its weighted mean).',
        code=r"""
def softmax_backward(weights, d_weights):
    local = weights * (1.0 - weights)
    d_scores = local * d_weights
    return d_scores
""",
    ),
    dict(
        id='n-3.4-plain-mean-no-weights', exercise='3.4', today='NAMED', words=('The weights do not occur in your result: the mea',), mistakes=2,
        tutor='You subtract the plain mean of the gradient; it has to be the mean under the weights. And the result must still be multiplied by the weights.',
        code=r"""
def softmax_backward(weights, d_weights):
    centre = np.mean(d_weights, axis=-1)
    return d_weights - centre[..., None]
""",
    ),
    dict(
        id='n-3.4-uses-jacobian', exercise='3.4', today='NAMED', words=('The values are right, but a matrix (n, n) is bui',), mistakes=1,
        tutor='The numbers are right, but you build the (n, n) Jacobian, which the exercise wants to avoid. Use weights * (d_weights - weighted mean).',
        code=r"""
def softmax_backward(weights, d_weights):
    J = softmax_jacobian(weights)
    column = d_weights[..., None]
    return np.squeeze(J @ column, axis=-1)
""",
    ),
    dict(
        id='n-4.1-split-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head a',), mistakes=1,
        tutor='x.split takes the size of a piece and not the number of pieces, so you get d_k heads of h features. Split by d_model // n_heads (or use chunk).',
        code=r"""
def split_heads(x, n_heads):
    pieces = x.split(n_heads, dim=-1)
    return torch.stack(pieces, dim=1)
""",
    ),
    dict(
        id='n-4.1-float-width', exercise='4.1', today='NAMED', words=('One change in line 3 would make this right: look',), mistakes=1,
        tutor='`/` gives a float, and a shape needs whole numbers. Use d_model // n_heads.',
        code=r"""
def split_heads(x, n_heads):
    batch, length, d_model = x.size()
    d_k = d_model / n_heads
    x = x.view(batch, length, n_heads, d_k)
    return x.permute(0, 2, 1, 3)
""",
    ),
    dict(
        id='n-4.2-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each',), mistakes=1,
        tutor='Your permute puts the head axis last, so the features of the heads alternate. Head 0 comes first as a block: order (B, T, h, d_k) before you flatten.',
        code=r"""
def merge_heads(x):
    x = x.permute(0, 2, 3, 1)
    return x.flatten(start_dim=2)
""",
    ),
    dict(
        id='n-4.2-heads-below', exercise='4.2', today='NAMED', words=('You laid the heads one after the other along the',), mistakes=1,
        tutor='You lay the heads below each other along the words, (B, h * T, d_k). Lay them side by side along the features: dim=-1.',
        code=r"""
def merge_heads(x):
    heads = [x[:, i] for i in range(x.shape[1])]
    return torch.cat(heads, dim=1)
""",
    ),
    dict(
        id='n-4.3-dmodel-late-dropout', exercise='4.3', today='NAMED', words=("You divided by √d_model = 3.46; a head's dot pro", 'The weights you return have already gone through'), mistakes=2, slow=True,
        tutor='You divide by the root of d_model; one head has only d_k features. And you return the weights after dropout: keep those before it.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features cannot be shared by {n_heads} heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = (split_heads(layer(x), self.n_heads)
                   for layer in (self.W_q, self.W_k, self.W_v))
        energy = torch.einsum("bhid,bhjd->bhij", q, k) / self.d_model ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-inf"))
        attn = self.drop(torch.softmax(energy, dim=-1))
        ctx = torch.einsum("bhij,bhjd->bhid", attn, v)
        return self.W_o(merge_heads(ctx)), attn
""",
    ),
    dict(
        id='n-4.3-fill-discarded', exercise='4.3', today='NAMED', words=('The mask has no effect. masked_fill returns a ne',), mistakes=1,
        tutor='masked_fill returns a new tensor and you throw it away, so the mask has no effect. Assign the result: scores = scores.masked_fill(...).',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} not divisible by n_heads={n_heads}")
        self.h = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.h)
        K = split_heads(self.W_k(x), self.h)
        V = split_heads(self.W_v(x), self.h)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        mixed = self.dropout(weights) @ V
        return self.W_o(merge_heads(mixed)), weights
""",
    ),
    dict(
        id='n-4.3-sdpa-unmasked-weights', exercise='4.3', today='NAMED', words=('Line 20, y = F.scaled_dot_product_attention(q, k',), mistakes=1, slow=True,
        tutor='The outputs are right, but the weights you return are computed without the mask. Fill the hidden scores with -inf before this softmax too.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"n_heads={n_heads} must divide d_model={d_model}")
        self.n_heads = n_heads
        self.p = dropout
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        shape = (B, T, self.n_heads, D // self.n_heads)
        q = self.W_q(x).view(shape).transpose(1, 2)
        k = self.W_k(x).view(shape).transpose(1, 2)
        v = self.W_v(x).view(shape).transpose(1, 2)
        p = self.p if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        weights = (q @ k.transpose(-1, -2) / q.size(-1) ** 0.5).softmax(-1)
        y = y.transpose(1, 2).reshape(B, T, D)
        return self.W_o(y), weights
""",
    ),
    dict(
        id='n-4.3-assert-and-bias', exercise='4.3', today='NAMED', words=('There are biases, W_k.bias, W_o.bias, W_q.bias,',), mistakes=2,
        tutor="The layers have a bias, because that is nn.Linear's default: write bias=False. And `assert` raises an AssertionError; raise ValueError with both numbers.",
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} is not divisible by {n_heads}"
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        Q, K, V = [split_heads(f(x), self.n_heads) for f in (self.W_q, self.W_k, self.W_v)]
        scores = torch.matmul(Q, K.mT) / math.sqrt(K.size(-1))
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        weights = F.softmax(scores, dim=-1)
        out = torch.matmul(self.dropout(weights), V)
        return self.W_o(merge_heads(out)), weights
""",
    ),
    dict(
        id='n-4.3-n-heads-not-kept', exercise='4.3', today='NAMED', words=('Line 12, Q = split_heads(self.W_q(x), self.n_hea',), mistakes=1, slow=True,
        tutor='forward uses self.n_heads, but __init__ never stores it, so there is an AttributeError. Add self.n_heads = n_heads.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} / n_heads {n_heads} leaves a remainder")
        make = lambda: nn.Linear(d_model, d_model, bias=False)
        self.W_q, self.W_k, self.W_v, self.W_o = make(), make(), make(), make()
        self.dropout = nn.Dropout(dropout)
        self.d_k = d_model // n_heads

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        out = self.W_o(merge_heads(self.dropout(weights) @ V))
        return out, weights
""",
    ),
    dict(
        id='n-4.4-shared-memory', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training',), mistakes=1,
        tutor="nn.Parameter(q) shares its memory with PyTorch's module, and W_o is even the same parameter. Training one changes the other; copy the numbers with copy_ or clone.",
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    q, k, v = mha.in_proj_weight.detach().chunk(3)
    ours.W_q.weight = nn.Parameter(q)
    ours.W_k.weight = nn.Parameter(k)
    ours.W_v.weight = nn.Parameter(v)
    ours.W_o.weight = mha.out_proj.weight
    return ours
""",
    ),
    dict(
        id='n-4.4-transposed', exercise='4.4', today='NAMED', words=('W_q, W_k and W_v are transposed: both modules ke',), mistakes=1,
        tutor='You transpose the three input matrices. Both modules store them as nn.Linear does, so copy them as they are.',
        code=r"""
def from_torch(mha):
    d = mha.embed_dim
    big = mha.in_proj_weight
    new = MultiHeadAttention(d, mha.num_heads, mha.dropout).to(big.dtype)
    with torch.no_grad():
        for i, layer in enumerate([new.W_q, new.W_k, new.W_v]):
            layer.weight.copy_(big[i * d:(i + 1) * d].T)
        new.W_o.weight.copy_(mha.out_proj.weight)
    return new
""",
    ),
    dict(
        id='n-4.4-no-dropout-no-dtype', exercise='4.4', today='NAMED', words=('Your module stays in float32 although mha may ho', 'Your module drops no weights in training, but mh'), mistakes=2,
        tutor='The dropout of the original is not passed on. And the new module stays float32, because load_state_dict converts to its dtype: call ours.to(dtype) first.',
        code=r"""
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads)
    w = mha.in_proj_weight.detach()
    ours.load_state_dict({
        "W_q.weight": w[:d],
        "W_k.weight": w[d:2 * d],
        "W_v.weight": w[2 * d:],
        "W_o.weight": mha.out_proj.weight.detach(),
    })
    return ours
""",
    ),
    dict(
        id='n-5.1-column-sums', exercise='5.1', today='NAMED', words=('You counted the ones of each column; each row is',), mistakes=1,
        tutor='You divide the triangle by the sums of its columns, so rows do not sum to 1. Divide each row by its own sum: dim=1 with keepdim=True.',
        code=r"""
def prefix_mean(x):
    n = x.shape[0]
    lower = torch.tril(torch.ones((n, n), dtype=x.dtype))
    shares = lower / lower.sum(dim=0)
    return torch.matmul(shares, x)
""",
    ),
    dict(
        id='n-5.1-without-itself', exercise='5.1', today='NAMED', words=('Your triangle leaves out the diagonal (a slice x',), mistakes=1,
        tutor='Your mean is over the words before a word and leaves the word itself out. Row t takes rows 0 to t: use <= instead of <.',
        code=r"""
def prefix_mean(x):
    pos = torch.arange(len(x))
    earlier = (pos[None, :] < pos[:, None]).to(x.dtype)
    counts = earlier.sum(dim=1, keepdim=True).clamp(min=1)
    return (earlier / counts) @ x
""",
    ),
    dict(
        id='n-5.2-strictly-before', exercise='5.2', today='NAMED', words=('Your mask hides each word from itself, and leave',), mistakes=1,
        tutor='With j < i a word may not look at itself, and the first row is empty. The diagonal is allowed: j <= i.',
        code=r"""
def causal_mask(T):
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            if j < i:
                allowed[i, j] = True
    return allowed
""",
    ),
    dict(
        id='n-5.2-additive', exercise='5.2', today='NAMED', words=('You made a mask to be added to the scores, 0 and',), mistakes=1,
        tutor='This is a float mask with 0 and -inf to be added to scores. Return a bool mask that is True where a word may look.',
        code=r"""
def causal_mask(T):
    blocked = torch.full((T, T), float("-inf"))
    return torch.triu(blocked, diagonal=1)
""",
    ),
    dict(
        id='n-5.3-shortened-no-seed', exercise='5.3', today='NAMED', words=('a shorter sentence', 'set the generator back'), mistakes=2, slow=True,
        tutor='You cut the sentence off instead of changing later words; one function refuses a single word, so keep all T. And dropout draws other numbers in each call: restore the random state.',
        code=r"""
def leaks_future(attend, x):
    whole = attend(x)
    return any(
        not torch.allclose(attend(x[:t]), whole[:t], atol=1e-5)
        for t in range(1, len(x))
    )
""",
    ),
    dict(
        id='n-5.3-returns-in-first-round', exercise='5.3', today='NAMED', words=('One change in line 13 would make this right: loo',), mistakes=1, slow=True,
        tutor='The `else: return False` ends the loop after t = 1, so leaks at later places are missed. Return False only after the whole loop.',
        code=r"""
def leaks_future(attend, x):
    start = torch.get_rng_state()
    reference = attend(x)
    for t in range(1, x.shape[0]):
        other = x.clone()
        other[t:] += 1.0
        torch.set_rng_state(start)
        result = attend(other)
        difference = (result[:t] - reference[:t]).abs().max().item()
        if difference > 1e-5:
            return True
        else:
            return False
""",
    ),
    dict(
        id='n-5.3-changes-x', exercise='5.3', today='NAMED', words=('You changed the x you were given, so the changes',), mistakes=1,
        tutor="`changed = x` is no copy, so you change the caller's x. From the second round on words before t have changed too, and honest functions seem to leak. Use x.clone() in each round.",
        code=r"""
def leaks_future(attend, x):
    seed = 1234
    torch.manual_seed(seed)
    base = attend(x).clone()
    found = False
    for t in range(1, len(x)):
        changed = x
        changed[t:] = changed[t:] + 1
        torch.manual_seed(seed)
        now = attend(changed)
        if not torch.allclose(now[:t], base[:t], rtol=0, atol=1e-5):
            found = True
    return found
""",
    ),
    dict(
        id='n-5.3-includes-t', exercise='5.3', today='NAMED', words=('Your comparison includes output t, whose own wor',), mistakes=1,
        tutor='[:t + 1] also compares output t, which may change, because word t itself did. So every function seems to leak; compare [:t].',
        code=r"""
def leaks_future(attend, x):
    rng = torch.get_rng_state()
    y = attend(x)
    verdicts = []
    for t in range(1, len(x)):
        z = torch.cat([x[:t], x[t:] + 1.0])
        torch.set_rng_state(rng)
        verdicts.append(torch.allclose(attend(z)[:t + 1], y[:t + 1], rtol=0, atol=1e-5))
    return not all(verdicts)
""",
    ),
    dict(
        id='n-5.4-pair-mask', exercise='5.4', today='NAMED', words=('You hid padding as keys and as queries. A query',), mistakes=1,
        tutor='You also hide padding as a query and return (B, 1, T, T). Only keys are hidden: return (B, 1, 1, T).',
        code=r"""
def padding_mask(tokens, pad_id):
    word = torch.ne(tokens, pad_id)
    pairs = word.unsqueeze(2) & word.unsqueeze(1)
    return pairs.unsqueeze(1)
""",
    ),
    dict(
        id='n-5.4-query-axis', exercise='5.4', today='NAMED', words=('Your mask stands on the query axis: the rows of',), mistakes=1,
        tutor='The words stand on the axis of the queries, (B, 1, T, 1). Put them on the last axis, that of the keys: (B, 1, 1, T).',
        code=r"""
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    is_real = ~(tokens == pad_id)
    return is_real.reshape(B, 1, T, 1)
""",
    ),
    dict(
        id='n-5.5-or-and-squeezed', exercise='5.5', today='NAMED', words=('You joined the masks with OR (|, or +), so one p', 'The axis for the heads is gone: (B, 1, T, T) is'), mistakes=2,
        tutor='logical_or allows a pair if one mask allows it; both have to: AND. And you remove the head axis; the result is (B, 1, T, T).',
        code=r"""
def combine_masks(padding, causal):
    keys = padding.squeeze(1)
    return torch.logical_or(keys, causal[None])
""",
    ),
    dict(
        id='n-5.5-python-and', exercise='5.5', today='NAMED', words=('and asks for one truth value of a whole tensor;',), mistakes=1,
        tutor="Python's `and` asks for one truth value of a whole tensor and raises an error. Cell by cell it is `&`.",
        code=r"""
def combine_masks(padding, causal):
    causal = causal.expand(padding.shape[0], 1, *causal.shape)
    return padding and causal
""",
    ),
    dict(
        id='n-5.6-only-all-empty', exercise='5.6', today='NAMED', words=('A row that sees nothing is all −∞, and its softm',), mistakes=1,
        tutor='You give zeros only if the whole mask is empty. A single empty row still becomes NaN: look for empty rows with (~mask).all(dim=-1, keepdim=True).',
        code=r"""
def masked_softmax(scores, mask):
    if not mask.any():
        return scores * 0.0
    filled = torch.where(mask, scores, float("-inf"))
    return F.softmax(filled, dim=-1)
""",
    ),
    dict(
        id='n-5.6-mask-late-renormalised', exercise='5.6', today='NAMED', words=('You masked after the softmax and divided by what',), mistakes=1,
        tutor='You take the softmax over all keys and mask afterwards. If a hidden score is far larger, the allowed weights underflow to 0; fill hidden scores with -inf before the softmax.',
        code=r"""
def masked_softmax(scores, mask):
    probs = torch.softmax(scores, dim=-1) * mask
    total = probs.sum(dim=-1, keepdim=True)
    return probs / total.clamp(min=1e-12)
""",
    ),
    dict(
        id='n-5.6-inverted-large-negative', exercise='5.6', today='NAMED', words=('With −1e9 for −∞, a row that sees nothing has th', 'In line 2, look at the condition of masked_fill:'), mistakes=2,
        tutor='You fill the scores where the mask is True, so the allowed keys are hidden: use ~mask. And a row filled with -1e9 throughout gets equal weights instead of zeros.',
        code=r"""
def masked_softmax(scores, mask):
    hidden = scores.masked_fill(mask, -1e9)
    shifted = hidden - hidden.amax(dim=-1, keepdim=True)
    e = shifted.exp()
    return e / e.sum(dim=-1, keepdim=True)
""",
    ),
    dict(
        id='n-5.7-memory-asks', exercise='5.7', today='NAMED', words=('The roles are swapped: x asks (queries), the mem',), mistakes=1,
        tutor='The memory asks and x answers in your version. Queries come from x, keys and values from the memory.',
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
        h = self.n_heads
        q = split_heads(self.W_q(memory), h)
        k = split_heads(self.W_k(x), h)
        v = split_heads(self.W_v(x), h)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        if memory_mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = masked_softmax(scores, memory_mask)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    dict(
        id='n-5.7-dmodel-no-output-layer', exercise='5.7', today='NAMED', words=("You divided by √d_model = 3.46; each head's scor", 'The heads are joined but never mixed: pass the r'), mistakes=2, slow=True,
        tutor='You divide by the root of d_model instead of that of d_k, the width of one head. And the merged heads never go through W_o.',
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
        d = x.shape[-1]
        Q, K, V = self.W_q(x), self.W_k(memory), self.W_v(memory)
        Q, K, V = (split_heads(t, self.n_heads) for t in (Q, K, V))
        scores = Q @ K.transpose(-2, -1) * d ** -0.5
        if memory_mask is None:
            memory_mask = torch.ones_like(scores, dtype=torch.bool)
        weights = masked_softmax(scores, memory_mask)
        out = merge_heads(weights @ V)
        return out, weights
""",
    ),
    dict(
        id='n-6.1-inverse-order', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse', 'One change in line 5 would make this right: look at moved and base: have they changed places? Or: at'), mistakes=1,
        tutor='You compare row perm[i] of f(X[perm]) with row i of f(X), which undoes the shuffle the wrong way round. Row i of f(X[perm]) must equal row perm[i] of f(X): moved[i] against base[perm[i]].',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    base = f(X)
    moved = f(X[perm])
    for i, p in enumerate(perm):
        if not torch.allclose(moved[p], base[i], atol=1e-5):
            return False
    return True
""",
    ),
    dict(
        id='n-6.1-exact-and-tensor', exercise='6.1', today='PARTLY', mistakes=2, slow=True,
        tutor='== asks for exactly equal numbers, but the two ways may differ by rounding: compare with a tolerance (torch.allclose, atol=1e-5). And .all() gives a tensor; a plain True or False is wanted.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    shuffled_first = f(X[perm])
    shuffled_last = f(X)[perm]
    same = shuffled_first == shuffled_last
    return same.all()
""",
    ),
    dict(
        id='n-6.2-sines-then-cosines', exercise='6.2', today='NAMED', words=('You put all sines first and all cosines after th',), mistakes=1,
        tutor='The numbers are right but in the wrong columns: you put all sines first and all cosines after them. Sine and cosine of the same frequency belong next to each other, in columns 2i and 2i + 1.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    n_sin = (d_model + 1) // 2
    freqs = torch.exp(-math.log(10000.0) * 2 * torch.arange(n_sin) / d_model)
    angles = torch.outer(torch.arange(max_len).float(), freqs)
    return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], dim=1)
""",
    ),
    dict(
        id='n-6.2-from-one-and-column', exercise='6.2', today='NAMED', words=('i counts pairs, not columns', 'Your positions start at 1'), mistakes=2, slow=True,
        tutor='Two things: your positions start at 1 (pos + 1), the first row belongs to position 0; and the exponent uses twice the column number, so the two columns of a pair get different frequencies. In the formula 2i is the even column of the pair, 2 * (col // 2).',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for col in range(d_model):
            angle = (pos + 1) / 10000 ** (2 * col / d_model)
            pe[pos, col] = math.sin(angle) if col % 2 == 0 else math.cos(angle)
    return pe
""",
    ),
    dict(
        id='n-6.2-odd-width-raises', exercise='6.2', today='NAMED', words=('With an odd width there is one cosine column few',), mistakes=1,
        tutor='This works for even widths only. With an odd d_model there is one cosine column fewer than frequencies, so the assignment to columns 1::2 fails: use the cosine of the first d_model // 2 columns of angles.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
""",
    ),
    dict(
        id='n-6.3-turns-back', exercise='6.3', today='NAMED', words=('Your matrix turns the wrong way: it moves every',), mistakes=1,
        tutor='Your blocks are [[cos, -sin], [sin, cos]], which moves every position back by offset, because the rows hold (sine, cosine), in this order. The minus belongs to the lower left sine: [[cos, sin], [-sin, cos]].',
        code=r"""
def shift_matrix(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = torch.tensor(float(offset) / 10000.0 ** (2 * i / d_model))
        c, s = torch.cos(angle), torch.sin(angle)
        blocks.append(torch.stack([torch.stack([c, -s]), torch.stack([s, c])]))
    return torch.block_diag(*blocks)
""",
    ),
    dict(
        id='n-6.3-exponent-and-numpy', exercise='6.3', today='PARTLY', mistakes=2,
        tutor='The frequency of pair i is 10000^(-2i / d_model); you left out the factor 2, so all pairs but the first turn too fast. Besides, you return a NumPy array of float64 where a float32 torch tensor is wanted.',
        code=r"""
def shift_matrix(offset, d_model):
    M = np.zeros((d_model, d_model))
    for pair in range(d_model // 2):
        w = 10000 ** (-pair / d_model)
        rot = np.array([[np.cos(offset * w), np.sin(offset * w)],
                        [-np.sin(offset * w), np.cos(offset * w)]])
        a = 2 * pair
        M[a : a + 2, a : a + 2] = rot
    return M
""",
    ),
    dict(
        id='n-6.4-in-place-overwritten', exercise='6.4', today='NAMED', words=('You wrote into x itself. That changes the caller',), mistakes=2,
        tutor='You write into x itself, which must stay as it is. And first is only a view of x: when the odd columns are computed, the even ones have been overwritten, so the second line uses turned numbers. Write both into a new tensor, such as torch.empty_like(x).',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    pos = torch.arange(offset, offset + T, dtype=x.dtype)
    theta = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    ang = pos[:, None] * theta
    first, second = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = first * ang.cos() - second * ang.sin()
    x[..., 1::2] = first * ang.sin() + second * ang.cos()
    return x
""",
    ),
    dict(
        id='n-6.4-offset-on-angles', exercise='6.4', today='NAMED', words=('One change in line 5 would make this right: look',), mistakes=1,
        tutor='You add offset to the angles, so every pair is turned by offset radians more, whatever its frequency. offset is a position: add it to the positions, before they are multiplied by the frequencies.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    # a pair (a, b) is the complex number a + ib; turning = multiplying by e^(i angle)
    *lead, T, d = x.shape
    freqs = base ** (-2 * torch.arange(d // 2) / d)
    angles = torch.outer(torch.arange(T).float(), freqs) + offset
    turn = torch.polar(torch.ones_like(angles), angles)
    z = torch.view_as_complex(x.float().reshape(*lead, T, d // 2, 2))
    return torch.view_as_real(z * turn).reshape(x.shape).to(x.dtype)
""",
    ),
    dict(
        id='n-6.4-rotate-half', exercise='6.4', today='NAMED', words=('This is valid RoPE in the other layout, which pa',), mistakes=1,
        tutor='You pair column i with column i + d/2 (the layout of Llama). Here neighbouring columns are wanted as pairs: (0, 1), (2, 3), and so on.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    def rotate_half(t):
        a, b = t.chunk(2, dim=-1)
        return torch.cat([-b, a], dim=-1)

    seq, dim = x.shape[-2:]
    inv_freq = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    t = torch.arange(seq).float() + offset
    freqs = torch.einsum("i,j->ij", t, inv_freq)
    emb = torch.cat([freqs, freqs], dim=-1)
    return x * emb.cos().to(x.dtype) + rotate_half(x) * emb.sin().to(x.dtype)
""",
    ),
    dict(
        id='n-6.5-distance-rewarded', exercise='6.5', today='NAMED', words=('The sign is wrong: your bias grows with the dist',), mistakes=1,
        tutor='Your bias is plus slope times distance, so far words get higher scores. ALiBi takes it off: put a minus before the product.',
        code=r"""
def alibi_bias(n_heads, T):
    idx = torch.arange(T, dtype=torch.float32)
    dist = torch.abs(idx.view(T, 1) - idx.view(1, T))
    per_head = []
    for i in range(1, n_heads + 1):
        m = 2 ** (-8 * i / n_heads)
        per_head.append(m * dist)
    return torch.stack(per_head)
""",
    ),
    dict(
        id='n-6.5-only-eight-heads', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right',), mistakes=1,
        tutor='Slopes 1/2, 1/4, 1/8, ... are right for eight heads only. In general head i has the slope 2^(-8i / h), so n_heads must appear in the exponent.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = torch.tensor([0.5 ** i for i in range(1, n_heads + 1)])
    q = torch.arange(T)[None, :, None]
    k = torch.arange(T)[None, None, :]
    return -slopes.reshape(-1, 1, 1) * (q - k).abs().float()
""",
    ),
    dict(
        id='n-6.5-slopes-one-axis-short', exercise='6.5', today='NAMED', words=('Line 5, return -(slopes[:, None] * rel), stopped',), mistakes=1, slow=True,
        tutor='slopes[:, None] has the shape (h, 1), which broadcasts against the queries of the (T, T) distances and not as an axis of its own, so it raises an error (or mixes heads with positions if h = T). Give the slopes two more axes: slopes[:, None, None].',
        code=r"""
def alibi_bias(n_heads, T):
    heads = torch.arange(1, n_heads + 1)
    slopes = torch.pow(2.0, -8 * heads / n_heads)
    rel = (torch.arange(T)[:, None] - torch.arange(T)[None, :]).abs()
    return -(slopes[:, None] * rel)
""",
    ),
    dict(
        id='n-6.6-scaled-by-root', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first,',), mistakes=1,
        tutor="You multiply the word vectors by the square root of d_model, as the paper of 2017 does. It is not asked for here: just the token's row of E plus the position's row of pe.",
        code=r"""
def embed(tokens, E, pe):
    d_model = E.shape[1]
    vectors = torch.nn.functional.embedding(tokens, E)
    vectors = vectors * math.sqrt(d_model)
    return vectors + pe[: tokens.size(1)].unsqueeze(0)
""",
    ),
    dict(
        id='n-6.6-row-of-the-batch', exercise='6.6', today='NAMED', words=('You numbered the examples of the batch, so that',), mistakes=1,
        tutor='enumerate counts the sequences of the batch, so each sequence gets one row pe[n] for all its words. A position is the place within the sequence: add pe[:T] to every sequence, row t to word t.',
        code=r"""
def embed(tokens, E, pe):
    out = []
    for n, sequence in enumerate(tokens):
        out.append(E[sequence] + pe[n])
    return torch.stack(out)
""",
    ),
    dict(
        id='n-6.7-turned-before-projection', exercise='6.7', today='NAMED', words=('W_q and W_k undo the pairs', 'make V of X itself'), mistakes=2, slow=True,
        tutor='You turn X before the projections; the queries and keys must be turned after them: rope(X @ W_q), rope(X @ W_k). And since V is made of the turned X, the values are turned too; they must come from X itself.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    X_rot = rope(X)
    Q, K, V = (X_rot @ W for W in (W_q, W_k, W_v))
    att = (Q @ K.mT) / K.shape[-1] ** 0.5
    att = att.masked_fill(~causal_mask(X.shape[0]), float("-inf"))
    return torch.softmax(att, dim=-1) @ V
""",
    ),
    dict(
        id='n-6.7-own-word-hidden', exercise='6.7', today='NAMED', words=('One change in line 7 would make this right: look',), mistakes=1,
        tutor='torch.triu includes the diagonal, so each word is hidden from itself and the first word sees nothing: its row becomes NaN. Hide only what comes later: triu with diagonal=1, or ~causal_mask(T).',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    n = len(X)
    q = rope(torch.einsum("td,dk->tk", X, W_q))
    k = rope(torch.einsum("td,dk->tk", X, W_k))
    v = torch.einsum("td,dv->tv", X, W_v)
    logits = torch.einsum("ik,jk->ij", q, k) / math.sqrt(q.shape[1])
    logits = logits + torch.triu(torch.full((n, n), -math.inf, dtype=X.dtype))
    return torch.einsum("ij,jv->iv", logits.softmax(-1), v)
""",
    ),
    dict(
        id='n-6.7-keys-not-turned', exercise='6.7', today='NAMED', words=('Only the queries are turned. Both must be: only',), mistakes=1,
        tutor="Only the queries are turned, so a score depends on the query's own position and not on the offset. Turn the keys as well: rope(X @ W_k).",
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    queries = rope(X @ W_q)
    keys = X @ W_k
    values = X @ W_v
    return scaled_dot_product_attention(
        queries[None, None], keys[None, None], values[None, None], is_causal=True
    )[0, 0]
""",
    ),
    dict(
        id='n-7.1-one-per-multiply-add', exercise='7.1', today='NAMED', words=('You counted multiply-adds as one. A multiplicati',), mistakes=1, slow=True,
        tutor='Your loops count each multiply-add as one operation. It is a multiplication and an addition, so 2 FLOPs: the result must be twice as large.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    count = 0
    for _ in range(T_q):
        for _ in range(T_k):
            count += d_k  # one score
            count += d_v  # add one weighted value
    return count
""",
    ),
    dict(
        id='n-7.1-one-addition-less', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in',), mistakes=1,
        tutor='You count n products and n - 1 additions for a sum of n. By the convention used here each multiply-add is 2 FLOPs, so an entry costs 2 · d_k and 2 · T_k, without the - 1.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    def matmul(n, m, p):
        # n*p entries, each: m products and m - 1 additions
        return n * p * (2 * m - 1)

    return matmul(T_q, d_k, T_k) + matmul(T_q, T_k, d_v)
""",
    ),
    dict(
        id='n-7.2-no-output-projection', exercise='7.2', today='NAMED', words=('You counted three projections. After the heads a',), mistakes=1,
        tutor='You count W_q, W_k and W_v only. W_o, which mixes the heads at the end, has the same size: four projections.',
        code=r"""
def projection_flops(T, d_model):
    flops = 0
    for name in "QKV":
        multiply_adds = T * d_model * d_model
        flops += 2 * multiply_adds
    return flops
""",
    ),
    dict(
        id='n-7.2-matrices-do-not-exist', exercise='7.2', today='NAMED', words=('Line 2, weights = sum(W.numel() for W in (W_q, W',), mistakes=1,
        tutor='W_q, W_k, W_v and W_o do not exist in this function, so Python raises a NameError. You know their shape: each has d_model · d_model numbers, so compute with that.',
        code=r"""
def projection_flops(T, d_model):
    weights = sum(W.numel() for W in (W_q, W_k, W_v, W_o))
    return 2 * T * weights
""",
    ),
    dict(
        id='n-7.3-one-projection', exercise='7.3', today='NAMED', words=('You compared with a single projection; there are',), mistakes=1,
        tutor='You compare with the cost of a single projection, 2 · T · d_model². There are four of them, 8 · T · d_model², so the lengths cross at four times your result.',
        code=r"""
def crossover_length(d_model):
    T = 1
    while True:
        scoring_and_mixing = 2 * T * T * d_model + 2 * T * T * d_model
        projections = 2 * T * d_model * d_model
        if scoring_and_mixing >= projections:
            return T
        T += 1
""",
    ),
    dict(
        id='n-7.3-scores-only', exercise='7.3', today='NAMED', words=('You returned 4 · d_model, which is right for one',), mistakes=1,
        tutor='2 · d_model · T² is the cost of the scores alone. Mixing the values costs as much again: the first coefficient is 4 · d_model, and the lengths cross at half of your result.',
        code=r"""
def crossover_length(d_model):
    # 2 d T^2 - 8 d^2 T = 0
    solutions = np.roots([2 * d_model, -8 * d_model**2, 0])
    return float(solutions.max())
""",
    ),
    dict(
        id='n-7.4-heads-left-out', exercise='7.4', today='NAMED', words=('The number of heads is not in it: every head has',), mistakes=1,
        tutor='H does not appear in your shape. Every head has a T × T matrix of scores of its own: (B, H, T, T).',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    scores = torch.empty(B, T, T, device="meta")
    return scores.nelement() * itemsize
""",
    ),
    dict(
        id='n-7.4-four-bytes-in-megabytes', exercise='7.4', today='NAMED', words=('You returned megabytes; bytes are asked for.', 'With one change in line 3 they would in all: look at the number 4 in n_scores * 4.'), mistakes=2,
        tutor='You always take 4 bytes a number; itemsize may be another. And the result is asked for in bytes, as an int: do not divide by 10⁶.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    n_scores = B * H * T**2
    megabytes = n_scores * 4 / 1e6
    return megabytes
""",
    ),
    dict(
        id='n-7.5-sizes-without-logarithm', exercise='7.5', today='NAMED', words=('You took the logarithm of the costs only, which',), mistakes=1,
        tutor='Only the costs are put into logarithms, so you fit an exponential and not a power law. Take the logarithm of the sizes too.',
        code=r"""
def fit_exponent(sizes, costs):
    y = np.log(np.asarray(costs, dtype=float))
    x = np.asarray(sizes, dtype=float)
    x_c, y_c = x - x.mean(), y - y.mean()
    return float((x_c * y_c).sum() / (x_c**2).sum())
""",
    ),
    dict(
        id='n-7.5-first-and-last', exercise='7.5', today='NAMED', words=('You joined the first point to the last and ignor',), mistakes=1,
        tutor='You use the first and the last point only. The least-squares line takes all points into account: fit a line to all logarithms, e.g. with np.polyfit(..., 1).',
        code=r"""
def fit_exponent(sizes, costs):
    rise = math.log(costs[-1]) - math.log(costs[0])
    run = math.log(sizes[-1]) - math.log(sizes[0])
    return rise / run
""",
    ),
    dict(
        id='n-7.5-intercept-and-two-bases', exercise='7.5', today='PARTLY', mistakes=2,
        tutor='np.polyfit returns the slope first and then the intercept; you return the intercept. And the two axes have logarithms of different bases (2 and e), which changes the slope: use the same for both.',
        code=r"""
def fit_exponent(sizes, costs):
    log_sizes = np.log2(sizes)
    log_costs = np.log(costs)
    intercept, slope = np.polyfit(log_sizes, log_costs, deg=1)
    return float(slope)
""",
    ),
    dict(
        id='n-8.1-factor-upside-down', exercise='8.1', today='NAMED', words=('The same change in lines 6 and 7 would make this',), mistakes=1,
        tutor='Your factors are exp(common maximum - own maximum); that makes the part with smaller scores larger. It must be exp(own maximum - common maximum), which is at most 1.',
        code=r"""
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.where(m1 > m2, m1, m2)
    safe = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    f1 = torch.exp(safe - torch.where(torch.isinf(m1), safe, m1))
    f2 = torch.exp(safe - torch.where(torch.isinf(m2), safe, m2))
    return m, f1 * t1 + f2 * t2, f1 * o1 + f2 * o2
""",
    ),
    dict(
        id='n-8.1-nan-where-nothing-seen', exercise='8.1', today='NAMED', words=('A query that has seen nothing has maximum −∞ in',), mistakes=1,
        tutor='Where a query sees nothing in either part, both maxima are -inf and -inf - (-inf) is NaN, so total and sum become NaN. Put 0 for the common maximum there, in the factors only.',
        code=r"""
def merge(first, second):
    maxima, totals, outs = (torch.stack(pair) for pair in zip(first, second))
    highest = maxima.amax(dim=0)
    factors = torch.exp(maxima - highest)
    return highest, (factors * totals).sum(dim=0), (factors * outs).sum(dim=0)
""",
    ),
    dict(
        id='n-8.1-sum-not-rescaled-and-divided', exercise='8.1', today='NAMED', words=('Each part measured its numbers against its own m', 'In line 9, look at whether / new_total.clamp(min'), mistakes=2,
        tutor='The totals are rescaled to the common maximum, but the sums of values are simply added: multiply them by the same factors. And the state keeps the plain sum; dividing by the total is done at the very end, not here.',
        code=r"""
def merge(first, second):
    max_a, total_a, out_a = first
    max_b, total_b, out_b = second
    new_max = torch.maximum(max_a, max_b)
    ref = new_max.clone()
    ref[ref == float("-inf")] = 0
    new_total = total_a * (max_a - ref).exp() + total_b * (max_b - ref).exp()
    new_out = out_a + out_b
    new_out = new_out / new_total.clamp(min=1e-12)
    return new_max, new_total, new_out
""",
    ),
    dict(
        id='n-8.2-divided-in-every-tile', exercise='8.2', today='NAMED', words=('You divided by the total at every tile of keys,',), mistakes=1,
        tutor='You divide by the total after each tile of keys and carry the divided sum on, so from the second tile on the earlier part counts too little. Carry the plain state and divide once, after the inner loop.',
        code=r"""
def tiled_attention(Q, K, V, tile, causal=False):
    n_q, n_k = Q.shape[-2], K.shape[-2]
    rows = []
    for a in range(0, n_q, tile):
        q = Q[..., a : a + tile, :] / Q.shape[-1] ** 0.5
        running = nothing_seen(q, V)
        for b in range(0, n_k, tile):
            if causal and b > a:
                break
            s = q @ K[..., b : b + tile, :].mT
            if causal:
                at_q = torch.arange(a, a + s.shape[-2])[:, None]
                at_k = torch.arange(b, b + s.shape[-1])[None, :]
                s = s.masked_fill(at_k > at_q, -torch.inf)
            m, t, o = merge(running, state_of(s, V[..., b : b + tile, :]))
            running = (m, t, o / t)
        rows.append(running[2])
    return torch.cat(rows, dim=-2)
""",
    ),
    dict(
        id='n-8.2-whole-matrix-first', exercise='8.2', today='NAMED', words=('The numbers are right, and the memory is not: fo',), mistakes=1,
        tutor='The numbers are right, but the first product already makes all T_q × T_k scores, and that is the memory that tiles are to save. Compute the scores of one tile at a time, from slices of Q and K, inside the loops.',
        code=r"""
def tiled_attention(Q, K, V, tile, causal=False):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    if causal:
        S = S.masked_fill(~causal_mask(Q.shape[-2]), -torch.inf)
    outs = []
    for S_rows in S.split(tile, dim=-2):
        state = None
        for S_tile, V_tile in zip(S_rows.split(tile, dim=-1), V.split(tile, dim=-2)):
            if causal and torch.isinf(S_tile).all():
                break
            new = state_of(S_tile, V_tile)
            state = new if state is None else merge(state, new)
        outs.append(state[2] / state[1])
    return torch.cat(outs, dim=-2)
""",
    ),
    dict(
        id='n-8.2-last-tile-and-dv', exercise='8.2', today='NAMED', words=('You scaled by √d_v', 'Your triangle has the size of a full tile'), mistakes=2, slow=True,
        tutor="The last tile may be smaller than tile, and then causal_mask(tile) does not fit and raises an error: make the mask as large as the tile of scores really is. And scores are divided by the root of d_k, the width of Q, not of V's width.",
        code=r"""
def tiled_attention(Q, K, V, tile, causal=False):
    result = []
    scale = 1 / math.sqrt(V.shape[-1])
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i : i + tile, :]
        state = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break
            k, v = K[..., j : j + tile, :], V[..., j : j + tile, :]
            scores = q @ k.transpose(-2, -1) * scale
            if causal and i == j:
                scores = scores.masked_fill(~causal_mask(tile), -torch.inf)
            state = merge(state, state_of(scores, v))
        _, total, out = state
        result.append(out / total)
    return torch.cat(result, dim=-2)
""",
    ),
    dict(
        id='n-8.3-one-too-many', exercise='8.3', today='NAMED', words=('Each word sees 3 words before it and itself, one',), mistakes=1,
        tutor="triu(-window) keeps the distances 0 to window, that is window + 1 places. The word's own place counts, so the largest distance is window - 1: triu(1 - window).",
        code=r"""
def window_mask(T, window):
    everything = torch.ones(T, T, dtype=torch.bool)
    not_future = torch.tril(everything)
    not_too_old = torch.triu(everything, diagonal=-window)
    return torch.logical_and(not_future, not_too_old)
""",
    ),
    dict(
        id='n-8.3-both-sides-as-list', exercise='8.3', today='PARTLY', mistakes=2,
        tutor='abs(i - j) < window also allows the words that come later; a causal mask needs 0 <= i - j < window. And you return a list of lists; a bool tensor (T, T) is wanted.',
        code=r"""
def window_mask(T, window):
    return [[abs(i - j) < window for j in range(T)] for i in range(T)]
""",
    ),
    dict(
        id='n-8.4-elu-without-one', exercise='8.4', today='NAMED', words=('Φ is elu + 1. Without the 1, features fall below',), mistakes=1,
        tutor='Your φ is elu alone, which is negative for negative inputs, so weights can be negative and the denominator near zero. φ is elu + 1.',
        code=r"""
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q), F.elu(K)
    if causal:
        kv = torch.einsum("...td,...te->...tde", k, V).cumsum(dim=-3)
        norm = torch.einsum("...td,...td->...t", q, k.cumsum(dim=-2))
        top = torch.einsum("...td,...tde->...te", q, kv)
    else:
        kv = torch.einsum("...td,...te->...de", k, V)
        norm = torch.einsum("...td,...d->...t", q, k.sum(dim=-2))
        top = torch.einsum("...td,...de->...te", q, kv)
    return top / norm.unsqueeze(-1)
""",
    ),
    dict(
        id='n-8.4-future-in-denominator', exercise='8.4', today='NAMED', words=('With causal=True your normaliser sums over all k',), mistakes=1,
        tutor="With causal=True the numerator runs up to the query's own place, but the denominator still sums the keys of all words, later ones included. Use the cumsum of φ(k) there too.",
        code=r"""
def linear_attention(Q, K, V, causal=False):
    def phi(z):
        return F.elu(z) + 1

    Q, K = phi(Q), phi(K)
    outer = K[..., :, None] * V[..., None, :]
    if causal:
        memory = torch.cumsum(outer, dim=-3)
    else:
        memory = outer.sum(dim=-3, keepdim=True)
    numerator = (Q[..., None, :] @ memory)[..., 0, :]
    denominator = (Q * K.sum(dim=-2, keepdim=True)).sum(dim=-1, keepdim=True)
    return numerator / denominator
""",
    ),
    dict(
        id='n-8.4-phi-of-scores', exercise='8.4', today='NAMED', words=('You applied φ to the scores q·k. It belongs to t',), mistakes=2,
        tutor='You apply φ to the scores q · k; it belongs to the queries and to the keys, before their product: φ(q) · φ(k). And you still build the T_q × T_k matrix of all pairs; take the product of φ(K)ᵀ and V first.',
        code=r"""
def linear_attention(Q, K, V, causal=False):
    weights = F.elu(Q @ K.transpose(-1, -2)) + 1
    if causal:
        weights = torch.tril(weights)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ V
""",
    ),
    dict(
        id='n-8.5-turned-from-zero', exercise='8.5', today='NAMED', words=('Every piece is turned as if it began at place 0:',), mistakes=1,
        tutor='rope without an offset places the new words at 0, 1, ... again. They stand after the cached ones: turn queries and new keys with offset=T_old.',
        code=r"""
def attend_with_cache(layer, x_new, cache):
    q, k, v = (split_heads(lin(x_new), layer.n_heads) for lin in (layer.W_q, layer.W_k, layer.W_v))
    seen_before = cache["K"].shape[2]
    cache["K"] = torch.cat((cache["K"], rope(k)), dim=2)
    cache["V"] = torch.cat((cache["V"], v), dim=2)
    n_new, n_all = q.shape[2], cache["K"].shape[2]
    may = torch.arange(n_all)[None, :] <= seen_before + torch.arange(n_new)[:, None]
    out = F.scaled_dot_product_attention(rope(q), cache["K"], cache["V"], attn_mask=may)
    return layer.W_o(merge_heads(out))
""",
    ),
    dict(
        id='n-8.5-mask-from-top-left', exercise='8.5', today='NAMED', words=('Your mask starts at the top left, as if the new',), mistakes=1,
        tutor='You take the first T_new rows of the causal mask, so new word n sees only the keys 0 to n. It stands at place T_old + n: take the last T_new rows, or compare positions.',
        code=r"""
def attend_with_cache(layer, x_new, cache):
    B, T_new, _ = x_new.shape
    T_old = cache["K"].size(-2)
    Q = rope(split_heads(layer.W_q(x_new), layer.n_heads), offset=T_old)
    K = rope(split_heads(layer.W_k(x_new), layer.n_heads), offset=T_old)
    V = split_heads(layer.W_v(x_new), layer.n_heads)
    cache["K"] = K_all = torch.cat([cache["K"], K], dim=-2)
    cache["V"] = V_all = torch.cat([cache["V"], V], dim=-2)
    scores = Q @ K_all.mT / Q.shape[-1] ** 0.5
    mask = causal_mask(T_old + T_new)[:T_new]
    scores = scores.masked_fill(~mask, -torch.inf)
    return layer.W_o(merge_heads(torch.softmax(scores, -1) @ V_all))
""",
    ),
    dict(
        id='n-8.5-local-cache-no-output-matrix', exercise='8.5', today='NAMED', words=('layer.W_o is never used', 'What was given stays as it was'), mistakes=2, slow=True,
        tutor='cache = {...} makes a new dict inside the function, and the caller\'s cache stays as short as it was: assign to cache["K"] and cache["V"]. And the merged heads must still go through layer.W_o.',
        code=r"""
def attend_with_cache(layer, x_new, cache):
    old = cache["K"].shape[-2]
    h = layer.n_heads
    queries = rope(split_heads(layer.W_q(x_new), h), offset=old)
    keys = rope(split_heads(layer.W_k(x_new), h), offset=old)
    values = split_heads(layer.W_v(x_new), h)
    cache = {
        "K": torch.cat([cache["K"], keys], dim=-2),
        "V": torch.cat([cache["V"], values], dim=-2),
    }
    i = old + torch.arange(x_new.shape[1]).unsqueeze(1)
    j = torch.arange(cache["K"].shape[-2])
    s = torch.einsum("bhqd,bhkd->bhqk", queries, cache["K"]) / math.sqrt(queries.shape[-1])
    s = torch.where(j <= i, s, torch.tensor(-math.inf))
    return merge_heads(s.softmax(dim=-1) @ cache["V"])
""",
    ),
    dict(
        id='n-8.6-expanded-by-turns', exercise='8.6', today='NAMED', words=('Heads take their turn at the keys: head 0 the fi',), mistakes=1,
        tutor='You put the copies before the axis of the g heads, so the heads get keys in turn: 0, 1, ..., 0, 1, .... Neighbouring heads share a head of keys: the copies come after that axis (K[:, :, None]), or repeat_interleave.',
        code=r"""
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g, T_k, d_v = K.shape[1], K.shape[2], V.shape[3]
    K = K[:, None].expand(B, h // g, g, T_k, d_k).reshape(B, h, T_k, d_k)
    V = V[:, None].expand(B, h // g, g, T_k, d_v).reshape(B, h, T_k, d_v)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
""",
    ),
    dict(
        id='n-8.6-divided-by-g', exercise='8.6', today='NAMED', words=('Head i takes the keys of head i // g in yours. h',), mistakes=1,
        tutor='Head i uses the head of keys i // (h // g), because h/g heads share one. You divide by g, which is right only if h = g², and otherwise takes wrong heads or runs out of range.',
        code=r"""
def grouped_query_attention(Q, K, V, mask=None):
    h, g = Q.shape[1], K.shape[1]
    if mask is not None:
        mask = mask.broadcast_to(Q.shape[0], h, Q.shape[2], K.shape[2])
    heads = []
    for i in range(h):
        k, v = K[:, i // g], V[:, i // g]
        s = Q[:, i] @ k.mT / math.sqrt(Q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask[:, i], -torch.inf)
        heads.append(s.softmax(dim=-1) @ v)
    return torch.stack(heads, dim=1)
""",
    ),
    dict(
        id='n-8.6-mask-on-grouped-shape', exercise='8.6', today='GENERIC', mistakes=2, slow=True,
        tutor='The scores have the shape (B, g, h/g · T_q, T_k) when you apply the mask, which is made for (B, h, T_q, T_k): reshape the scores before masking, or it raises an error. The division by the root of d_k is missing as well.',
        code=r"""
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.shape[1]
    together = Q.reshape(B, g, h // g * T_q, d_k)
    scores = together @ K.transpose(2, 3)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    out = scores.softmax(dim=3) @ V
    return out.reshape(B, h, T_q, V.shape[-1])
""",
    ),
    dict(
        id='n-8.7-keys-only', exercise='8.7', today='NAMED', words=('Your number is half of what is wanted: both keys',), mistakes=1,
        tutor='You count one vector per token, head and layer. A key and a value are kept, so it is twice as much.',
        code=r"""
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    shape = (n_layers, n_kv_heads, n_tokens, d_head)
    return math.prod(shape) * itemsize
""",
    ),
    dict(
        id='n-8.7-all-steps-added', exercise='8.7', today='PARTLY', mistakes=1,
        tutor='You add up the cache of every step, as if each step kept a copy of its own. There is one cache, which grows: after n_tokens it holds n_tokens keys and values, so the size grows with n_tokens and not with its square.',
        code=r"""
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    per_token = 2 * n_layers * n_kv_heads * d_head * itemsize
    total = 0
    for step in range(n_tokens):
        total += per_token * (step + 1)
    return total
""",
    ),
    dict(
        id='n-8.8-window-per-layer', exercise='8.8', today='NAMED', words=('You let each layer go back 8 places; the window',), mistakes=1,
        tutor="You add window words for each layer. A layer's window contains the word that asks, so each layer adds only window - 1 new ones: 8, 15, 22 for a window of 8.",
        code=r"""
def reach(n_layers, window):
    heard = 1
    while n_layers > 0:
        heard = heard + window
        n_layers -= 1
    return heard
""",
    ),
    dict(
        id='n-8.8-power', exercise='8.8', today='NAMED', words=('You let the reach multiply from layer to layer.',), mistakes=1,
        tutor='You multiply by window in each layer, but the windows of neighbouring words overlap: two layers of 8 hear 15 words and not 64. Each layer adds window - 1 words to the one that asks.',
        code=r"""
def reach(n_layers, window):
    return window ** n_layers
""",
    ),
    dict(
        id='n-9.1-std-and-eps-outside', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'), mistakes=2,
        tutor='x.std divides by d - 1; the variance here divides by d (correction=0). And eps is added to the standard deviation; it belongs to the variance, under the root.',
        code=r"""
def layer_norm(x, scale, shift, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    sigma = x.std(-1, keepdim=True)
    return scale * (x - mu) / (sigma + eps) + shift
""",
    ),
    dict(
        id='n-9.1-no-keepdim', exercise='9.1', today='NAMED', words=('Mean and variance lost the last axis, so they do',), mistakes=1,
        tutor='Without keepdim=True the mean and the variance lose the last axis and no longer fit under x: an error about shapes, or rows and columns mixed up. Keep the axis: x.mean(dim=-1, keepdim=True), and the same for the variance.',
        code=r"""
def layer_norm(x, scale, shift, eps=1e-5):
    mean = torch.mean(x, dim=-1)
    centred = x - mean
    var = torch.mean(centred**2, dim=-1)
    return torch.addcmul(shift, centred * torch.rsqrt(var + eps), scale)
""",
    ),
    dict(
        id='n-9.2-post-norm', exercise='9.2', today='NAMED', words=('The norms come after the sums, as in the Transfo',), mistakes=1,
        tutor='You norm after adding, as the first Transformer did. Here each half reads a normed copy and adds to x itself, which stays un-normed: x + attention(norm_1(x)), then x + feed_forward(norm_2(x)).',
        code=r"""
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(x, mask)[0])
        x = self.norm_2(x + self.feed_forward(x))
        return x
""",
    ),
    dict(
        id='n-9.2-halves-in-parallel', exercise='9.2', today='NAMED', words=("Both halves read the block's input, side by side",), mistakes=1, slow=True,
        tutor="The feed-forward network reads norm_2 of the block's input, so both halves work side by side. It must start from what the attention half left: first x = x + found, then norm that new x.",
        code=r"""
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        hidden = 4 * d_model
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        layers = [nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model)]
        self.feed_forward = nn.Sequential(*layers)

    def forward(self, x, mask=None):
        from_attention, _weights = self.attention(self.norm_1(x), mask=mask)
        from_feed_forward = self.feed_forward(self.norm_2(x))
        return x + from_attention + from_feed_forward
""",
    ),
    dict(
        id='n-9.2-tuple-added', exercise='9.2', today='NAMED', words=('The attention returns two results, out and weigh',), mistakes=1,
        tutor='self.attention returns two things, out and weights, and a tuple cannot be added to x. Take the first: found, _ = self.attention(...).',
        code=r"""
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(),
            nn.Linear(4 * d_model, d_model),
        )

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_1(x), mask)
        return x + self.feed_forward(self.norm_2(x))
""",
    ),
    dict(
        id='n-9.2-relu-and-no-mask', exercise='9.2', today='NAMED', words=('You used ReLU (as the Transformer of 2017 does);', 'The mask comes in and never reaches the attentio'), mistakes=2,
        tutor='The feed-forward part uses nn.ReLU where nn.GELU is asked for. And forward does not hand the mask to the attention, so every word can look ahead: self.attention(normed, mask).',
        code=r"""
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_model * 4),
            nn.ReLU(),
            nn.Linear(d_model * 4, d_model),
        )

    def forward(self, x, mask=None):
        residual = x
        out, _ = self.attention(self.norm_1(x))
        x = residual + out
        residual = x
        return residual + self.feed_forward(self.norm_2(x))
""",
    ),
    dict(
        id='n-9.3-mask-not-handed-on', exercise='9.3', today='NAMED', words=('The blocks get no mask, so every position sees t',), mistakes=1,
        tutor='You build the causal mask but never give it to the blocks, so every position sees the later ones: call block(x, mask).',
        code=r"""
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(Block(d_model, n_heads))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        h = self.embedding(tokens)
        mask = causal_mask(T)
        for block in self.blocks:
            h = block(h)
        h = self.norm(h)
        return self.head(h)
""",
    ),
    dict(
        id='n-9.3-same-block-and-bias', exercise='9.3', today='PARTLY', mistakes=2,
        tutor='[Block(...)] * n_layers repeats one and the same block, so all layers share their weights: make a new Block in each round of a loop. And the head is to have no bias: nn.Linear(..., bias=False).',
        code=r"""
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads)] * n_layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens)
        self.max_len = max_len

    def forward(self, tokens):
        x = self.embedding(tokens)
        mask = causal_mask(tokens.shape[-1])
        for layer in self.blocks:
            x = layer(x, mask)
        return self.head(self.norm(x))
""",
    ),
    dict(
        id='n-9.4-softmax-over-time', exercise='9.4', today='NAMED', words=('One change in line 3 would make this right: look',), mistakes=1,
        tutor='log_softmax(dim=1) normalises over the positions of the text. The probabilities of one position run over the tokens of the vocabulary, the last axis: dim=-1.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    predicted, targets = logits[:, :-1], tokens[:, 1:]
    logp = torch.log_softmax(predicted, dim=1)
    nll = -torch.gather(logp, 2, targets.unsqueeze(-1)).squeeze(-1)
    if pad_id is not None:
        nll = nll[targets != pad_id]
    return nll.mean()
""",
    ),
    dict(
        id='n-9.4-bits-and-padding-in-the-count', exercise='9.4', today='NAMED', words=('Padding costs nothing, but still counts in the m', 'Besides, all of it is 1/ln 2 times as large as w'), mistakes=2, slow=True,
        tutor='Padding adds nothing to your sum, but it is still counted in the number you divide by: divide by the number of targets that are no padding. And the result is in bits (divided by ln 2); nats are wanted.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    targets = tokens[:, 1:]
    scores = logits[:, :-1, :]
    log_total = torch.logsumexp(scores, dim=-1)
    right = scores.gather(-1, targets[..., None])[..., 0]
    surprise = (log_total - right) / math.log(2)
    keep = torch.ones_like(surprise)
    if pad_id is not None:
        keep = (targets != pad_id).float()
    return (surprise * keep).sum() / targets.numel()
""",
    ),
    dict(
        id='n-9.4-view-of-a-slice', exercise='9.4', today='NAMED', words=('The same change in lines 3 and 4 would make this',), mistakes=1,
        tutor='A slice such as logits[:, :-1] does not lie in one piece in memory, and view raises an error for it. Use reshape or flatten.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    inputs = logits[:, :-1].view(-1, V)
    targets = tokens[:, 1:].view(-1)
    ignore = -100 if pad_id is None else pad_id
    return F.cross_entropy(inputs, targets, ignore_index=ignore)
""",
    ),
    dict(
        id='n-9.5-not-renormalised-ties-cut', exercise='9.5', today='PARTLY', mistakes=2, slow=True,
        tutor='You set the other probabilities to zero after the softmax, so the rows no longer add up to 1: fill their scores with -inf before it. And scattering exactly k places drops tokens that equal the k-th; these are to stay.',
        code=r"""
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    p = torch.softmax(logits / temperature, dim=-1)
    if top_k is None:
        return p
    best = p.topk(top_k, dim=-1)
    result = torch.zeros_like(p)
    result.scatter_(-1, best.indices, best.values)
    return result
""",
    ),
    dict(
        id='n-9.5-one-threshold-for-all-rows', exercise='9.5', today='NAMED', words=('One change in line 4 would make this right: look',), mistakes=1,
        tutor='.min() without an axis takes the smallest over all rows, so the other rows keep more than k tokens. Each row needs a threshold of its own: the last of its topk values, with the axis kept.',
        code=r"""
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        threshold = torch.topk(scaled, top_k, dim=-1).values.min()
        scaled = torch.where(scaled >= threshold, scaled, -torch.inf)
    exps = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)
""",
    ),
    dict(
        id='n-9.6-beginning-cut-off', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model',), mistakes=1,
        tutor='You cut tokens itself to the last max_len, so in a long text the beginning is lost from the result. Cut only what the model is shown, and append to the whole sequence: (B, T + n_new).',
        code=r"""
def generate(model, tokens, n_new, choose):
    with torch.no_grad():
        for _ in range(n_new):
            tokens = tokens[:, -model.max_len :]
            logits = model(tokens)
            picked = choose(logits[:, -1, :])
            tokens = torch.cat((tokens, picked.unsqueeze(1)), dim=1)
    return tokens
""",
    ),
    dict(
        id='n-9.6-no-second-axis', exercise='9.6', today='NAMED', words=('What choose gives has one axis, (B,), and the te',), mistakes=1,
        tutor='choose returns (B,), and torch.cat cannot lay it beside tokens (B, T): it raises an error. Give it a second axis: new[:, None].',
        code=r"""
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    sequence = tokens
    while sequence.shape[1] < tokens.shape[1] + n_new:
        context = sequence[:, -model.max_len :]
        last = model(context)[:, -1]
        sequence = torch.cat([sequence, choose(last)], dim=1)
    return sequence
""",
    ),
    dict(
        id='n-10.1-not-transposed-einsum', exercise='10.1', today='NAMED', words=('The four matrices are used as they come. But the',), mistakes=1,
        tutor='Your einsum sums over the first axis of W, as if it were stored (in, out). The file stores (out, in): sum over the second axis ("btd,ed->bte"), or x @ W.T.',
        code=r"""
def bert_self_attention(x, layer, n_heads, mask=None):
    def linear(z, W, b):
        return torch.einsum("btd,de->bte", z, W) + b

    q = split_heads(linear(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(linear(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(linear(x, layer.W_v, layer.b_v), n_heads)
    logits = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1))
    if mask is not None:
        logits = logits.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(logits, dim=-1)
    mixed = torch.einsum("bhqk,bhkd->bhqd", weights, v)
    return linear(merge_heads(mixed), layer.W_o, layer.b_o), weights
""",
    ),
    dict(
        id='n-10.1-no-output-bias-mean-weights', exercise='10.1', today='NAMED', words=('The output lacks its bias b_o: it is added last,', 'You averaged the weights over the heads; those o'), mistakes=2, slow=True,
        tutor='The output projection misses its bias b_o. And you return the mean of the weights over the heads, (B, T, T); the weights of every head are wanted, (B, h, T, T).',
        code=r"""
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, D = x.shape
    d = D // n_heads
    Q = F.linear(x, layer.W_q, layer.b_q).view(B, T, n_heads, d).transpose(1, 2)
    K = F.linear(x, layer.W_k, layer.b_k).view(B, T, n_heads, d).transpose(1, 2)
    V = F.linear(x, layer.W_v, layer.b_v).view(B, T, n_heads, d).transpose(1, 2)
    scores = Q @ K.transpose(2, 3) * d**-0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    weights = F.softmax(scores, dim=-1)
    out = (weights @ V).transpose(1, 2).reshape(B, T, D)
    return F.linear(out, layer.W_o), weights.mean(dim=1)
""",
    ),
    dict(
        id='n-10.1-matrix-called', exercise='10.1', today='NAMED', words=('Line 2, Q = split_heads(layer.W_q(x) + layer.b_q',), mistakes=1,
        tutor='In lesson 04 W_q was an nn.Linear; here it is a plain tensor, which cannot be called. Multiply and add the bias yourself: x @ layer.W_q.T + layer.b_q, and so on.',
        code=r"""
def bert_self_attention(x, layer, n_heads, mask=None):
    Q = split_heads(layer.W_q(x) + layer.b_q, n_heads)
    K = split_heads(layer.W_k(x) + layer.b_k, n_heads)
    V = split_heads(layer.W_v(x) + layer.b_v, n_heads)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    out = layer.W_o(merge_heads(weights @ V)) + layer.b_o
    return out, weights
""",
    ),
    dict(
        id='n-10.2-nouns-look-at-the-verb', exercise='10.2', today='NAMED', words=('You asked how much the nouns look at the verb. T',), mistakes=1,
        tutor='Row and column are swapped: you compare how much the two nouns look at the verb. The verb looks, so its place is the row: weights[n, ..., verb, subject] against weights[n, ..., verb, other].',
        code=r"""
def agreement_share(weights, verb, subject, other):
    n = torch.arange(weights.shape[0])
    to_subject = weights[n, ..., subject, verb]
    to_other = weights[n, ..., other, verb]
    return (to_subject > to_other).float().mean(dim=0)
""",
    ),
    dict(
        id='n-10.2-ties-and-one-number', exercise='10.2', today='NAMED', words=('A tie counts as a win in yours; the subject must', 'You averaged over the heads as well; each head h'), mistakes=2,
        tutor='>= counts a tie as found; only a larger weight counts. And your mean runs over the heads too and gives one number: take it over the sentences only, so that each head has its share.',
        code=r"""
def agreement_share(weights, verb, subject, other):
    hits = [
        (W[..., v, s] >= W[..., v, o]).float()
        for W, v, s, o in zip(weights, verb, subject, other)
    ]
    return torch.stack(hits).mean()
""",
    ),
    dict(
        id='n-10.3-padding-in-the-sum', exercise='10.3', today='NAMED', words=('You divided by the right numbers, but padding is',), mistakes=1,
        tutor='You divide by the right number of tokens, but the sum still contains the vectors of the padding. Set them to zero first: hidden * mask[:, :, None].',
        code=r"""
def mean_pool(hidden, mask):
    n_tokens = mask.sum(dim=1).to(hidden.dtype)
    total = torch.einsum("btd->bd", hidden)
    return total / n_tokens.unsqueeze(-1)
""",
    ),
    dict(
        id='n-10.3-list-of-vectors', exercise='10.3', today='NAMED', words=('The vectors are in a Python list: torch.stack ma',), mistakes=1,
        tutor='The means are right, but they come as a list of tensors. One tensor (B, d) is wanted: torch.stack makes it.',
        code=r"""
def mean_pool(hidden, mask):
    pooled = []
    for text, is_token in zip(hidden, mask):
        pooled.append(text[is_token].mean(dim=0))
    return pooled
""",
    ),
    dict(
        id='n-10.4-values-before-indices', exercise='10.4', today='NAMED', words=('You returned (cosines, indices), as topk does; (',), mistakes=1,
        tutor='topk returns the values first and then the indices; you hand that pair on as it is. Indices are wanted first, then cosines.',
        code=r"""
def search(query, corpus, k):
    similarity = F.cosine_similarity(corpus, query.unsqueeze(0), dim=1)
    return tuple(similarity.topk(k))
""",
    ),
    dict(
        id='n-10.4-one-norm-for-all-rows', exercise='10.4', today='NAMED', words=('You divided the corpus by one norm, that of the',), mistakes=1,
        tutor='corpus.norm() is one number for the whole matrix, so long rows still win and the results are no cosines. Divide each row by its own norm: corpus.norm(dim=1, keepdim=True).',
        code=r"""
def search(query, corpus, k):
    q = query / query.norm()
    c = corpus / corpus.norm()
    cosines = torch.mv(c, q)
    order = torch.argsort(cosines, descending=True)[:k]
    return order, cosines[order]
""",
    ),
    dict(
        id='n-10.4-norms-without-keepdim', exercise='10.4', today='NAMED', words=('Your norms have shape (n,), which lines up with',), mistakes=1,
        tutor='The norms of the rows have the shape (n,) and do not fit under corpus (n, d): an error about shapes, or columns divided where n = d. Keep the axis with keepdim=True, so that each row is divided by its own norm.',
        code=r"""
def search(query, corpus, k):
    unit_query = query / torch.linalg.norm(query)
    lengths = torch.linalg.norm(corpus, dim=1)
    unit_corpus = corpus / lengths
    cosines = unit_corpus @ unit_query
    top = torch.topk(cosines, k)
    return top.indices, top.values
""",
    ),
    dict(
        id='m-0.1-roles-swapped', exercise='0.1', today='NAMED', words=('You divided by the sum of the values (or took th',), mistakes=1,
        tutor='You normalise the values so that they sum to 1 and then average the weights with them; the roles are the wrong way round. The weights must be divided by the sum of the weights, and they multiply the values.',
        code=r"""
def weighted_average(values, weights):
    shares = values / values.sum()
    result = 0.0
    for share, w in zip(shares, weights):
        result += share * w
    return result
""",
    ),
    dict(
        id='m-1.1-total-not-reset', exercise='1.1', today='NAMED', words=('One change in line 4 would make this right: look',), mistakes=1,
        tutor='The running total is set to 0 only once, before the loop over the keys, so each result also holds the dot products of all keys before it. Reset it for every key.',
        code=r"""
def similarities(query, keys):
    n, d = keys.shape
    out = np.zeros(n)
    total = 0.0
    for i in range(n):
        for f in range(d):
            total += query[f] * keys[i, f]
        out[i] = total
    return out
""",
    ),
    dict(
        id='m-1.2-sharpness-as-temperature', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one woul', 'You took the mean of the weighted values. The we'), mistakes=2,
        tutor='You divide the scores by the sharpness, but they must be multiplied by it (sharpness is not a temperature). And the value is the sum of weight times value, while you take the mean over the keys, which is n times too small.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    logits = similarities(query, keys) / sharpness
    logits = logits - np.max(logits)
    exps = np.exp(logits)
    weights = exps / exps.sum()
    value = (weights[:, None] * values).mean(axis=0)
    return value, weights
""",
    ),
    dict(
        id='m-1.3-stacked', exercise='1.3', today='PARTLY', mistakes=1,
        tutor='You stack the three matrices into one array, which needs the same width for all. W_v may have another width (d_v) than W_q and W_k, and then np.stack raises an error; project with each matrix separately.',
        code=r"""
def project(X, W_q, W_k, W_v):
    W = np.stack([W_q, W_k, W_v])  # (3, d_model, d)
    Q, K, V = X[None] @ W
    return Q, K, V
""",
    ),
    dict(
        id='m-1.4-tensordot', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every example ',), mistakes=1,
        tutor='tensordot pairs every query of every sentence with every key of every sentence, so a batch gives (B, T_q, B, T_k). The axes in front must be lined up, not combined: use a batched matrix product.',
        code=r"""
def dot_product_scores(Q, K):
    # contract the feature axis of both
    return np.tensordot(Q, K, axes=([-1], [-1]))
""",
    ),
    dict(
        id='m-1.5-feature-order', exercise='1.5', today='NAMED', words=('are gives books and shelf the same weight, 0.50:', 'old looks most at itself (0.99) and gives books'), mistakes=1,
        tutor='You took the order of the features to be noun, verb, number, adjective; it is noun, verb, adjective, number. So the rows 2 and 3 are exchanged: keys do not hold the number, and books and shelf look the same.',
        code=r"""
def design_projections():
    noun, verb, number, adjective = range(4)
    strength = 6.0
    W_q = np.zeros((4, 2))
    W_k = np.zeros((4, 2))
    # what can be found: a noun, and its number
    W_k[noun] = [1, 0]
    W_k[number] = [0, 1]
    # a verb looks for a noun of its own number, an adjective for a plural noun
    W_q[verb] = [strength, 0]
    W_q[number] = [0, strength]
    W_q[adjective] = [strength, strength]
    return W_q, W_k
""",
    ),
    dict(
        id='m-2.1-axis-not-moved-back', exercise='2.1', today='NAMED', words=('line 2 moves axes',), mistakes=1,
        tutor='You move the axis to the end to work on it, but never move it back. For any axis but the last the result comes out with its axes in another order.',
        code=r"""
def softmax(x, axis=-1):
    y = np.moveaxis(np.asarray(x), axis, -1)
    y = y - y.max(axis=-1, keepdims=True)
    e = np.exp(y)
    return e / e.sum(axis=-1, keepdims=True)
""",
    ),
    dict(
        id='m-2.1-in-place-total-sum', exercise='2.1', today='NAMED', words=('The whole array sums to 1 instead of each row: p',), mistakes=2,
        tutor="`x -= ...` changes the caller's array; make a new one. And you divide by the sum of the whole array: the sum needs the axis too, so that every row sums to 1.",
        code=r"""
def softmax(x, axis=-1):
    biggest = np.max(x, axis=axis, keepdims=True)
    x -= biggest
    x_exp = np.exp(x)
    return x_exp / np.sum(x_exp, keepdims=True)
""",
    ),
    dict(
        id='m-2.2-root-of-keys', exercise='2.2', today='NAMED', words=('You took the number of keys, T_k = 7, for the sc',), mistakes=1,
        tutor='You divide by the square root of the number of keys (axis -2 of K). The scale is the square root of the width d_k, which is the last axis.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    K_t = np.swapaxes(K, -1, -2)
    scale = math.sqrt(K.shape[-2])
    s = np.matmul(Q, K_t) / scale
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    A = softmax(s, axis=-1)
    return np.matmul(A, V), A
""",
    ),
    dict(
        id='m-2.3-keys-ask', exercise='2.3', today='NAMED', words=('Keys and queries went into attention in the wron',), mistakes=1,
        tutor='In the call you pass the keys as queries and the queries as keys. Then each word looks with its key, and the scores are transposed; the order is Q, K, V.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    q, k, v = [np.einsum("...td,de->...te", X, W) for W in (W_q, W_k, W_v)]
    out, weights = scaled_dot_product_attention(k, q, v, mask=mask)
    return out, weights
""",
    ),
    dict(
        id='m-2.4-tanh-before-adding', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separat',), mistakes=1,
        tutor='You take tanh of each projection and add afterwards. The sum of query and key must go through tanh together, or the score is just a query term plus a key term.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden_q = np.tanh(Q @ W_q)  # (T_q, m)
    hidden_k = np.tanh(K @ W_k)  # (T_k, m)
    T_q, T_k = len(Q), len(K)
    S = np.empty((T_q, T_k))
    for i in range(T_q):
        for j in range(T_k):
            S[i, j] = v @ (hidden_q[i] + hidden_k[j])
    return S
""",
    ),
    dict(
        id='m-2.5-einsum-letter', exercise='2.5', today='NAMED', words=('One change in line 2 would make this right: look',), mistakes=1,
        tutor='In the einsum K carries the letter d of the queries, so W\'s second axis is just summed away and different widths raise an error. K\'s features must meet the second axis of W: "qd,de,ke->qk".',
        code=r"""
def general_scores(Q, K, W):
    return np.einsum("qd,de,kd->qk", Q, W, K)
""",
    ),
    dict(
        id='m-2.6-tiny-fill', exercise='2.6', today='NAMED', words=('You set blocked scores to 0 (or multiplied the s',), mistakes=1,
        tutor='1e-9 is a tiny positive number, practically the score 0, so blocked words still get weight. You probably meant a huge negative number; write -np.inf.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, 1e-9)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
""",
    ),
    dict(
        id='m-3.1-uniform', exercise='3.1', today='NAMED', words=('Your features are uniform between −1 and 1, with',), mistakes=1,
        tutor='You draw uniformly between -1 and 1, which has variance 1/3. The features must be standard normal (variance 1), so your spread is three times too small.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    queries = rng.uniform(-1.0, 1.0, size=(n, d_k))
    keys = rng.uniform(-1.0, 1.0, size=(n, d_k))
    return np.array([q @ k for q, k in zip(queries, keys)])
""",
    ),
    dict(
        id='m-3.2-log2-and-mean', exercise='3.2', today='NAMED', words=('You took logarithms to base 2, which gives bits;', 'You took the mean of the terms. The weights alre'), mistakes=2,
        tutor='You use the logarithm to base 2, but the entropy is asked for in nats (natural logarithm). And you average over the n entries where they must be added up.',
        code=r"""
def entropy(weights):
    positive = weights > 0
    logs = np.log2(np.where(positive, weights, 1.0))
    surprise = -weights * logs
    return surprise.mean(axis=-1)
""",
    ),
    dict(
        id='m-3.3-pi-squared', exercise='3.3', today='NAMED', words=('You multiplied every weight with itself, p_i p_i',), mistakes=1,
        tutor='In the bracket you subtract p_i, the column, where p_j, the row, belongs. So off the diagonal you get -p_i * p_i instead of -p_i * p_j.',
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    col = np.expand_dims(p, -1)  # (..., n, 1)
    delta = np.eye(n)
    return col * (delta - col)
""",
    ),
    dict(
        id='m-3.4-second-term-unweighted', exercise='3.4', today='NAMED', words=("You subtracted the row's sum from weight times g",), mistakes=1,
        tutor='The mean of the gradient must be multiplied by the weights too: weights * g - weights * sum(weights * g). You subtract the bare mean in the second term.',
        code=r"""
def softmax_backward(weights, d_weights):
    wg = weights * d_weights
    shared = np.einsum("...n,...n->...", weights, d_weights)
    return wg - shared[..., None]
""",
    ),
    dict(
        id='m-4.1-interleaved', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h',), mistakes=1,
        tutor='You cut the features into (d_k, h), so head i gets every h-th feature: i, i + h, and so on. Each head should own d_k neighbouring features: reshape to (B, T, h, d_k).',
        code=r"""
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    d_k = d_model // n_heads
    parts = x.reshape(B, T, d_k, n_heads)
    return parts.permute(0, 3, 1, 2)
""",
    ),
    dict(
        id='m-4.2-heads-last', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each',), mistakes=1,
        tutor='You put the head axis behind the features before you flatten, so the features of the heads alternate. The heads should stand in front of the features: (B, T, h, d_k), then flatten.',
        code=r"""
def merge_heads(x):
    moved = torch.permute(x, (0, 2, 3, 1))  # one word after the other
    return moved.flatten(start_dim=2)
""",
    ),
    dict(
        id='m-4.3-heads-scale-dropout-late', exercise='4.3', today='NAMED', words=('You divided by the square root of the number of heads', 'Dropout falls on single features'), mistakes=2, slow=True,
        tutor='You scale by the root of the number of heads; it must be the root of d_k, the width of one head. And dropout acts on the output of the layer instead of on the weights before they average the values.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"cannot split {d_model} features into {n_heads} heads")
        self.n_heads = n_heads
        self.scale = n_heads ** -0.5
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = (split_heads(f(x), self.n_heads) for f in (self.W_q, self.W_k, self.W_v))
        att = torch.einsum("bhqd,bhkd->bhqk", q, k) * self.scale
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), -torch.inf)
        att = att.softmax(-1)
        y = self.W_o(merge_heads(att @ v))
        return self.dropout(y), att
""",
    ),
    dict(
        id='m-4.3-modulo-turned', exercise='4.3', today='NAMED', words=('The check is the other way round: h must divide',), mistakes=1,
        tutor='The remainder is taken the wrong way round: n_heads % d_model is not 0 for every n_heads below d_model, so you raise ValueError even where h divides d_model. Test d_model % n_heads.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads % d_model != 0:
            raise ValueError(f"d_model ({d_model}) must be a multiple of n_heads ({n_heads})")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.n_heads)
        k = split_heads(self.W_k(x), self.n_heads)
        v = split_heads(self.W_v(x), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        out = self.W_o(merge_heads(self.dropout(weights) @ v))
        return out, weights
""",
    ),
    dict(
        id='m-4.4-shared-no-dropout', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training', 'Your module drops no weights in training, but mh'), mistakes=2,
        tutor="Your weights are views of PyTorch's own, so training one module changes the other; copy the numbers. And the dropout is not handed over: your module always has dropout 0.",
        code=r"""
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads).to(mha.in_proj_weight.dtype)
    stacked = mha.in_proj_weight.data
    ours.W_q.weight.data = stacked[:d]
    ours.W_k.weight.data = stacked[d:2 * d]
    ours.W_v.weight.data = stacked[2 * d:]
    ours.W_o.weight.data = mha.out_proj.weight.data
    return ours
""",
    ),
    dict(
        id='m-5.1-counts-from-zero', exercise='5.1', today='NAMED', words=('One change in line 4 would make this right: look',), mistakes=1,
        tutor='You divide row t by t, and only row 0 is rescued by the clamp. Row t holds t + 1 words, so the counts must start at 1.',
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    running = torch.cumsum(x, dim=0)
    counts = torch.arange(T).clamp(min=1)  # never divide by 0
    return running / counts[:, None].to(x.dtype)
""",
    ),
    dict(
        id='m-5.2-not-itself', exercise='5.2', today='NAMED', words=('One change in line 3 would make this right: look',), mistakes=1,
        tutor='You compare with < instead of <=, so from row 1 on no word sees itself; the special case for row 0 only hides that. The diagonal belongs to the mask.',
        code=r"""
def causal_mask(T):
    place = torch.arange(T)
    earlier = place[None, :] < place[:, None]
    earlier[0, 0] = True  # the first word has nothing before it
    return earlier
""",
    ),
    dict(
        id='m-5.3-all-and-in-place', exercise='5.3', today='PARTLY', mistakes=2, slow=True,
        tutor="You demand a leak at every t (`all`), but one t where an earlier output moves is enough. And `changed` is the same tensor as x, so you overwrite the caller's input; make a copy for each t.",
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    found = []
    for t in range(1, len(x)):
        changed = x
        changed[t:] = changed[t:] * 3 + 1
        torch.set_rng_state(state)
        after = attend(changed)
        found.append(bool((after[:t] - before[:t]).abs().max() > 1e-5))
    return all(found)
""",
    ),
    dict(
        id='m-5.4-greater-than-pad', exercise='5.4', today='NAMED', words=('You kept tokens larger than pad_id; smaller ones',), mistakes=1,
        tutor='`tokens > pad_id` takes every token with a number below pad_id for padding as well. Any integer may stand for padding: compare with !=.',
        code=r"""
def padding_mask(tokens, pad_id):
    is_word = torch.gt(tokens, pad_id)
    return is_word.unsqueeze(1).unsqueeze(1)
""",
    ),
    dict(
        id='m-5.5-queries-too', exercise='5.5', today='NAMED', words=('You hid padding as keys and as queries. The rows',), mistakes=1,
        tutor='You also hide padding as a query (the transposed mask), so the rows of padding tokens become empty. Only the two given masks count: padding & causal.',
        code=r"""
def combine_masks(padding, causal):
    both_words = padding & padding.transpose(-1, -2)  # (B, 1, T, T)
    return torch.logical_and(both_words, causal)
""",
    ),
    dict(
        id='m-5.6-clamped-sum', exercise='5.6', today='PARTLY', mistakes=2, slow=True,
        tutor="The clamp at 1 saves empty rows from 0/0, but rows whose exponentials sum to less than 1 then do not sum to 1. And you take the exponential of the raw scores: without subtracting the row's maximum, large scores overflow (in float16 from about 11 on).",
        code=r"""
def masked_softmax(scores, mask):
    e = torch.exp(scores) * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / total.clamp(min=1.0)
""",
    ),
    dict(
        id='m-5.7-mean-weights-d-model', exercise='5.7', today='NAMED', words=("You divided by √d_model = 3.46; each head's scor", 'You averaged the weights over the heads, as PyTo'), mistakes=2, slow=True,
        tutor='The scores are divided by the root of d_model; each head has only d_k = d_model / h features, so take the root of that. And you return the mean of the weights over the heads, (B, T_q, T_k), where the weights of every head are asked for.',
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
        K, V = (split_heads(W(memory), self.n_heads) for W in (self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(x.shape[-1])
        if memory_mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            weights = masked_softmax(scores, memory_mask)
        out = self.W_o(merge_heads(weights @ V))
        return out, weights.mean(dim=1)
""",
    ),
    dict(
        id='m-6.1-shuffled-twice', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse',), mistakes=1,
        tutor='You shuffle the output of the shuffled input once more and expect the original order, but perm applied twice is not the identity. Either undo it with perm.argsort(), or compare f(X[perm]) with f(X)[perm].',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    original = f(X)
    shuffled = f(X[perm])
    put_back = shuffled[perm]
    return torch.allclose(put_back, original, atol=1e-5)
""",
    ),
    dict(
        id='m-6.2-positions-from-one', exercise='6.2', today='NAMED', words=('Your positions start at 1; row 0 belongs to posi',), mistakes=1,
        tutor='Your positions start at 1, so each row is that of the next position. The first row stands at position 0: sines 0, cosines 1.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    rows = []
    for p in range(1, max_len + 1):
        row = []
        for c in range(d_model):
            omega = 10000.0 ** (-2 * (c // 2) / d_model)
            row.append(math.sin(p * omega) if c % 2 == 0 else math.cos(p * omega))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)
""",
    ),
    dict(
        id='m-6.3-exponent-half', exercise='6.3', today='NAMED', words=('Your frequencies fall half as fast as those of t',), mistakes=1,
        tutor='The exponent of the frequency lacks the factor 2: pair i turns with 10000^(-2i/d_model), and you use -i/d_model. So all pairs but the first turn too fast.',
        code=r"""
def shift_matrix(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = offset * 10000 ** (-i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)
""",
    ),
    dict(
        id='m-6.4-offset-in-radians', exercise='6.4', today='NAMED', words=('One change in line 4 would make this right: look',), mistakes=1,
        tutor="You add the offset to the angles, as radians, the same for every pair. It belongs to the positions: (t + offset) times each pair's frequency.",
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    freqs = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    theta = torch.outer(torch.arange(T, dtype=torch.float64), freqs) + offset
    c, s = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    turned = torch.stack([a * c - b * s, a * s + b * c], dim=-1)
    return turned.flatten(-2)
""",
    ),
    dict(
        id='m-6.5-from-the-end-and-from-zero', exercise='6.5', today='PARTLY', mistakes=2, slow=True,
        tutor='The heads are counted from 0, so the first slope is 1 and every slope is one step too steep; i runs from 1 to h. And the distance is measured from the last word for all queries; it should be |q - k|, different in each row.',
        code=r"""
def alibi_bias(n_heads, T):
    bias = torch.zeros(n_heads, T, T)
    how_far = T - 1 - torch.arange(T)
    for i in range(n_heads):
        m = 2.0 ** (-8 * i / n_heads)
        bias[i] = -m * how_far
    return bias
""",
    ),
    dict(
        id='m-6.6-scaled-embedding', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first,',), mistakes=1,
        tutor="You multiply the words' vectors by the root of d_model, as the 2017 Transformer did. The exercise asks for the plain vector plus the row of its position.",
        code=r"""
def embed(tokens, E, pe):
    d_model = E.size(1)
    looked_up = torch.nn.functional.embedding(tokens, E) * math.sqrt(d_model)
    return looked_up + pe[: tokens.size(1)].unsqueeze(0)
""",
    ),
    dict(
        id='m-6.7-turned-before-projection', exercise='6.7', today='NAMED', words=('You turned X before it was projected, and W_q an',), mistakes=1,
        tutor='You turn X and project afterwards. RoPE must turn the queries and keys after their projection, or the score does not depend on the offset alone.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    T = X.shape[0]
    placed = rope(X)
    queries, keys, vals = placed @ W_q, placed @ W_k, X @ W_v
    logits = queries @ keys.T / queries.shape[-1] ** 0.5
    logits = torch.where(causal_mask(T), logits, float("-inf"))
    return torch.softmax(logits, dim=1) @ vals
""",
    ),
    dict(
        id='m-7.1-widths-multiplied', exercise='7.1', today='NAMED', words=('You multiplied d_k by d_v. They belong to two se',), mistakes=1,
        tutor='You multiply the two widths. The two products come one after the other, so their costs add up: 2 * T_q * T_k * (d_k + d_v).',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    pairs = T_q * T_k
    per_pair = 2 * d_k * d_v
    return pairs * per_pair
""",
    ),
    dict(
        id='m-7.2-output-as-vector', exercise='7.2', today='NAMED', words=('With letters for the sizes, your result is 2·T·d_model + 6·T', 'One change in line 3 would make this right: look at what is multiplied there: is something missing?'), mistakes=1,
        tutor='You count W_o as one multiply-add per feature. It is a full (d_model, d_model) matrix like the other three and costs as much as each of them.',
        code=r"""
def projection_flops(T, d_model):
    qkv = 3 * (2 * T * d_model * d_model)
    mixing_the_heads = 2 * T * d_model
    return qkv + mixing_the_heads
""",
    ),
    dict(
        id='m-7.3-first-beyond', exercise='7.3', today='NAMED', words=('You returned the first length at which scoring a',), mistakes=1,
        tutor='Your loop also goes on when both costs are equal, so it returns the first length at which attention costs more: one word too many. Stop as soon as the two are equal.',
        code=r"""
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) <= projection_flops(T, d_model):
        T += 1
    return T
""",
    ),
    dict(
        id='m-7.4-doubled-and-fixed-itemsize', exercise='7.4', today='PARTLY', mistakes=2,
        tutor='You count every score twice, because you add the weights after the softmax; only the scores are asked for. And you always take 4 bytes per number and ignore itemsize.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    scores = np.prod([B, H, T, T])
    weights = np.prod([B, H, T, T])
    return int(scores + weights) * 4
""",
    ),
    dict(
        id='m-7.5-divided-by-y', exercise='7.5', today='NAMED', words=('You fitted sizes against costs; the exponent is',), mistakes=1,
        tutor='In the formula of the least-squares slope you divide by the squared deviations of the costs. The denominator belongs to the sizes, the x of the line.',
        code=r"""
def fit_exponent(sizes, costs):
    x = np.log(np.asarray(sizes, dtype=float))
    y = np.log(np.asarray(costs, dtype=float))
    dx, dy = x - x.mean(), y - y.mean()
    return float((dx * dy).sum() / (dy ** 2).sum())
""",
    ),
    dict(
        id='m-8.1-first-as-reference', exercise='8.1', today='GENERIC', mistakes=1, slow=True,
        tutor="You always measure against the first part's maximum, but you return the larger one as the maximum. If the second part's maximum is larger, total and sum do not fit it (and may overflow); scale both parts to the common maximum.",
        code=r"""
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    gap = torch.nan_to_num(m2 - m1, nan=0.0)  # both -inf: nothing seen
    factor = torch.exp(gap)
    total = t1 + factor * t2
    out = o1 + factor * o2
    return torch.maximum(m1, m2), total, out
""",
    ),
    dict(
        id='m-8.2-normalised-each-tile', exercise='8.2', today='NAMED', words=('You divided by the total at every tile of keys,',), mistakes=1,
        tutor='You divide by the total after every tile of keys, so the next merge adds a sum to something that is already a mean. Carry the sum unnormalised, and divide once, after the inner loop.',
        code=r"""
def tiled_attention(Q, K, V, tile, causal=False):
    scale = 1 / math.sqrt(Q.shape[-1])
    done = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i : i + tile, :]
        state = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break
            k, v = K[..., j : j + tile, :], V[..., j : j + tile, :]
            s = q @ k.mT * scale
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            maximum, total, out = merge(state, state_of(s, v))
            state = maximum, total, out / total
        done.append(state[2])
    return torch.cat(done, dim=-2)
""",
    ),
    dict(
        id='m-8.3-fixed-blocks', exercise='8.3', today='NAMED', words=('You cut the text into blocks of 3 words. A windo',), mistakes=1,
        tutor='You cut the text into fixed blocks of `window` words, and a word sees only its own block. The window slides: each word sees itself and the window - 1 words before it, wherever it stands.',
        code=r"""
def window_mask(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for start in range(0, T, window):
        end = min(start + window, T)
        mask[start:end, start:end] = causal_mask(end - start)
    return mask
""",
    ),
    dict(
        id='m-8.4-elu-of-x-plus-one', exercise='8.4', today='NAMED', words=('Two changes together would make this right. In l',), mistakes=2, slow=True,
        tutor='You compute elu(x + 1), which can be negative; it should be elu(x) + 1. And the queries are divided by the root of d_k, which linear attention does not do here.',
        code=r"""
def linear_attention(Q, K, V, causal=False):
    def phi(z):
        return F.elu(z + 1)

    fq = phi(Q / math.sqrt(Q.shape[-1]))
    fk = phi(K)
    if causal:
        kv = torch.einsum("...td,...tv->...tdv", fk, V).cumsum(dim=-3)
        top = torch.einsum("...td,...tdv->...tv", fq, kv)
        bottom = (fq * fk.cumsum(dim=-2)).sum(dim=-1, keepdim=True)
    else:
        top = fq @ (fk.mT @ V)
        bottom = (fq * fk.sum(dim=-2, keepdim=True)).sum(dim=-1, keepdim=True)
    return top / bottom
""",
    ),
    dict(
        id='m-8.5-turned-again', exercise='8.5', today='NAMED', words=('The keys in the cache have been turned already,',), mistakes=1,
        tutor='You append the new keys and then turn all of them. The cached keys have been turned already, so they are turned again with every call; turn only the new keys, with offset T_old, before you append them.',
        code=r"""
def attend_with_cache(layer, x_new, cache):
    _, h, T_old, d_k = cache["K"].shape
    T_new = x_new.shape[1]
    q = rope(split_heads(layer.W_q(x_new), h), offset=T_old)
    k = torch.cat([cache["K"], split_heads(layer.W_k(x_new), h)], dim=2)
    k = rope(k)
    v = torch.cat([cache["V"], split_heads(layer.W_v(x_new), h)], dim=2)
    cache["K"], cache["V"] = k, v
    where = torch.arange(T_old, T_old + T_new)[:, None]
    allowed = torch.arange(T_old + T_new)[None, :] <= where
    s = (q @ k.mT / math.sqrt(d_k)).masked_fill(~allowed, -torch.inf)
    return layer.W_o(merge_heads(s.softmax(dim=-1) @ v))
""",
    ),
    dict(
        id='m-8.6-divided-by-g', exercise='8.6', today='NAMED', words=('Head i takes the keys of head i // g in yours. h',), mistakes=1,
        tutor='Head i must use key head i // (h / g), because h / g heads share one. You compute i // g, which picks the wrong keys or an index that does not exist (for example with g = 1).',
        code=r"""
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g, T_k = K.shape[1], K.shape[2]
    if mask is not None:
        mask = torch.broadcast_to(mask, (B, h, T_q, T_k))
    heads = []
    for i in range(h):
        k, v = K[:, i // g], V[:, i // g]
        s = Q[:, i] @ k.mT / math.sqrt(d_k)
        if mask is not None:
            s = s.masked_fill(~mask[:, i], -torch.inf)
        heads.append(s.softmax(dim=-1) @ v)
    return torch.stack(heads, dim=1)
""",
    ),
    dict(
        id='m-8.7-bits', exercise='8.7', today='NAMED', words=('This is the number of bits, eight times the byte',), mistakes=1,
        tutor='You multiply by 8 and return bits. itemsize is in bytes already, and bytes are asked for.',
        code=r"""
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    bits = itemsize * 8
    keys = n_layers * n_kv_heads * n_tokens * d_head * bits
    values = keys
    return keys + values
""",
    ),
    dict(
        id='m-8.8-one-layer-too-many', exercise='8.8', today='NAMED', words=('You counted one layer too many.',), mistakes=1,
        tutor='You start with a whole window and then add window - 1 for every layer, so the first layer is counted twice. Start with the one word that asks.',
        code=r"""
def reach(n_layers, window):
    heard = window
    for _ in range(n_layers):
        heard += window - 1
    return heard
""",
    ),
    dict(
        id='m-9.1-shift-before-scale', exercise='9.1', today='NAMED', words=('The shift is multiplied by the scale too: multip',), mistakes=1,
        tutor='You add the shift before you multiply, so the shift is scaled as well. First multiply by scale, then add shift.',
        code=r"""
def layer_norm(x, scale, shift, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    centred = x - mu
    variance = centred.pow(2).mean(-1, keepdim=True)
    normed = centred * torch.rsqrt(variance + eps)
    return scale * (normed + shift)
""",
    ),
    dict(
        id='m-9.2-second-half-reads-found', exercise='9.2', today='NAMED', words=('One change in line 14 would make this right: loo',), mistakes=1,
        tutor='The feed-forward network reads the norm of what attention found alone. It should read norm_2 of the new x, the sum of both.',
        code=r"""
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        wide = 4 * d_model
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))

    def forward(self, x, mask=None):
        collected, _ = self.attention(self.norm_1(x), mask=mask)
        x = x + collected
        thought = self.feed_forward(self.norm_2(collected))
        return x + thought
""",
    ),
    dict(
        id='m-9.3-extra-skip-scaled', exercise='9.3', today='NAMED', words=("You added each block's result to x; a block's ow", 'In line 12, look at the operator *. Or: at wheth'), mistakes=2, slow=True,
        tutor='Each block has its skip connections inside already; you add x once more around it. And the embeddings are multiplied by the root of d_model, which this model does not do.',
        code=r"""
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.d_model = d_model
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        h = self.embedding(tokens) * math.sqrt(self.d_model)
        look = causal_mask(tokens.size(1))
        for layer in self.blocks:
            h = h + layer(h, look)
        return self.head(self.norm(h))
""",
    ),
    dict(
        id='m-9.4-pad-by-input', exercise='9.4', today='NAMED', words=('You leave out positions whose input is padding;',), mistakes=1,
        tutor='You leave out the positions whose input token is padding. It is the target that must not be padding: compare tokens[:, 1:] with pad_id.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    logp = logits[:, :-1].log_softmax(dim=-1)
    picked = logp.gather(-1, targets[..., None]).squeeze(-1)  # (B, T - 1)
    if pad_id is None:
        return -picked.mean()
    counts = inputs != pad_id
    return -picked[counts].mean()
""",
    ),
    dict(
        id='m-9.4-python-float', exercise='9.4', today='NAMED', words=('The values are right, but no gradient gets throu',), mistakes=1,
        tutor='`.item()` turns the loss into a Python number, and no gradient can pass back through it. Return the tensor itself.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    predicted = logits[:, :-1].reshape(-1, V)
    wanted = tokens[:, 1:].reshape(-1)
    if pad_id is not None:
        keep = wanted != pad_id
        predicted, wanted = predicted[keep], wanted[keep]
    return F.cross_entropy(predicted, wanted).item()
""",
    ),
    dict(
        id='m-9.5-temperature-late-ties-lost', exercise='9.5', today='NAMED', words=('The temperature is not used: divide the logits b', 'Where several scores equal the k-th largest, you'), mistakes=2,
        tutor='You divide the probabilities by the temperature and then normalise again, so the temperature cancels out; it must divide the logits before the softmax. And you keep exactly k tokens, but all that equal the smallest of these should stay too.',
        code=r"""
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scores = logits
    if top_k is not None:
        best, where = torch.topk(logits, top_k, dim=-1)
        scores = torch.full_like(logits, -torch.inf).scatter(-1, where, best)
    p = F.softmax(scores, dim=-1)
    p = p / temperature
    return p / p.sum(dim=-1, keepdim=True)
""",
    ),
    dict(
        id='m-9.6-beginning-lost', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model',), mistakes=1,
        tutor='You cut the text itself, not only what the model is shown, so the beginning is lost as soon as it is longer than max_len. Cut a copy for the model and append to the whole text.',
        code=r"""
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    for step in range(n_new):
        tokens = tokens[:, -model.max_len:]
        last = model(tokens)[:, -1, :]
        new = choose(last)
        tokens = torch.cat((tokens, new.unsqueeze(1)), dim=1)
    return tokens
""",
    ),
    dict(
        id='m-10.1-bias-of-v-and-tiny', exercise='10.1', today='GENERIC', mistakes=2, slow=True,
        tutor='After W_o you add b_v, where b_o belongs. And finfo.tiny is the smallest positive number, practically 0, so hidden places still get weight; fill with -inf.',
        code=r"""
def bert_self_attention(x, layer, n_heads, mask=None):
    q = split_heads(F.linear(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(F.linear(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(F.linear(x, layer.W_v, layer.b_v), n_heads)
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).tiny)
    probs = F.softmax(scores, dim=-1)
    context = merge_heads(torch.matmul(probs, v))
    return F.linear(context, layer.W_o, layer.b_v), probs
""",
    ),
    dict(
        id='m-10.2-subject-must-win-the-row', exercise='10.2', today='NAMED', words=('You asked for the largest weight of the whole ro',), mistakes=1,
        tutor="You ask whether the subject has the largest weight in the verb's whole row. Only the subject and the other noun are to be compared; a third token such as [CLS] may have more.",
        code=r"""
def agreement_share(weights, verb, subject, other):
    hits = 0
    for n in range(len(weights)):
        row = weights[n][..., int(verb[n]), :]  # (..., T)
        hits = hits + (row.argmax(dim=-1) == int(subject[n])).float()
    return hits / len(weights)
""",
    ),
    dict(
        id='m-10.3-all-tokens-of-the-batch', exercise='10.3', today='NAMED', words=('You divided by the tokens of all texts together;',), mistakes=1,
        tutor='You divide every text by the number of tokens in the whole batch. Each text needs its own count: sum the mask along its row.',
        code=r"""
def mean_pool(hidden, mask):
    kept = torch.where(mask.unsqueeze(-1), hidden, 0.0)
    n_tokens = mask.sum()
    return torch.einsum("btd->bd", kept) / n_tokens
""",
    ),
    dict(
        id='m-10.4-one-norm-and-order', exercise='10.4', today='NAMED', words=('You divided the corpus by one norm, that of the', 'You returned (cosines, indices), as topk does; ('), mistakes=2,
        tutor='You divide the corpus by one norm of the whole matrix; each row needs its own, or long rows win. And topk returns values first, so you hand back the cosines before the indices.',
        code=r"""
def search(query, corpus, k):
    unit_query = query / torch.linalg.norm(query)
    unit_corpus = corpus / torch.linalg.norm(corpus)
    sims = (unit_corpus * unit_query).sum(dim=1)
    values, places = sims.topk(k)
    return values, places
""",
    ),
]
