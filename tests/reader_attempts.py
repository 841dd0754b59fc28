"""Wrong answers by a reader of lessons and solutions who had not seen what the course knows; graded after reading each report.

The `q` were not looked at before they were graded (57 of 60 were named); one of them, 5.1, was mended then.
The `p` came before some mends. As in
`blind_attempts`, `words` stand in the report of each that is named in full, and of a `slow` one only the rejection
is tested.
"""

ATTEMPTS = [
    dict(
        id='p-1.1-squeeze-kills-axis', exercise='1.1', today='NAMED', words=('One change in line 9 would make this right: look',),
        tutor='squeeze removes every axis of length 1, so with a single key the answer loses its axis and is a bare number (). Only the last axis may go: keys @ query already has shape (n,), also for n = 1.',
        code=r'''
def similarities(query, keys):
    """Dot product of one query with every key.

    query: (d,). keys: (n, d). Returns an array (n,).
    """
    # make the query a column so that the matrix product works
    column = query.reshape(-1, 1)       # (d, 1)
    result = np.matmul(keys, column)    # (n, 1)
    return np.squeeze(result)
''',
    ),
    dict(
        id='p-1.2-shift-before-sharpness', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and i',),
        tutor='The largest score is subtracted before the sharpness has been applied to it: the exponent is sharpness * s - max(s), not sharpness * (s - max(s)). For a sharpness above 1 and large scores the exponential still overflows (and below 1 all of them can vanish). Subtract the maximum of the already sharpened scores.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    """Average of the values, weighted by how well each key fits the query.

    query: (d,). keys: (n, d). values: (n, d_v).
    sharpness: a number, 0 for a plain average.
    Returns value (d_v,) and weights (n,), which sum to 1.
    No weight is negative; one too small for a float comes out as 0.
    """
    sims = np.array([float(np.dot(query, k)) for k in keys])
    biggest = sims.max()
    # minus the biggest, so nothing overflows
    e = np.exp(sharpness * sims - biggest)
    weights = e / np.sum(e)
    value = np.zeros(values.shape[1])
    for w, v in zip(weights, values):
        value = value + w * v
    return value, weights
''',
    ),
    dict(
        id='p-1.3-same-matrix-for-keys', exercise='1.3', today='NAMED', words=("Your keys came from W_q, the queries' matrix: us",),
        tutor='The keys are made with W_q instead of W_k (the line was copied and only half changed), so K equals Q. K must be X @ W_k.',
        code=r'''
def project(X, W_q, W_k, W_v):
    """Three views of the same words: what they ask, are found by, and give.

    X: (T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    Returns Q (T, d_k), K (T, d_k), V (T, d_v).
    """
    queries = np.dot(X, W_q)
    keys = np.dot(X, W_q)
    values = np.dot(X, W_v)
    return queries, keys, values
''',
    ),
    dict(
        id='p-1.4-einsum-letters-swapped', exercise='1.4', today='NAMED', words=('Your scores are the transpose of what was asked:',),
        tutor='The output of the einsum is written kq, so the rows belong to the keys: the scores come out transposed, (..., T_k, T_q). Row i must belong to query i: ...qk.',
        code=r'''
def dot_product_scores(Q, K):
    """Dot product of every query with every key.

    Q: (..., T_q, d_k). K: (..., T_k, d_k).
    Returns (..., T_q, T_k): row i belongs to query i.
    """
    return np.einsum("...qd,...kd->...kq", Q, K)
''',
    ),
    dict(
        id='p-1.5-adjective-not-asked', exercise='1.5', today='NAMED', words=('old gives every word the same weight: its query ',),
        tutor="Only the row 'verb' of W_q asks for a plural noun. The row 'adjective' is still zero, so old has a zero query and gives 1/7 to every word. Its row must ask for noun and plural too.",
        code=r'''
def design_projections():
    """Projections with which *are* and *old* look for the plural noun.

    Returns W_q, W_k, each (4, d_k) for the four features noun, verb,
    adjective, number, such that softmax(q · k) over the seven words of the
    running example gives *books* at least 0.8 of the weight of *are* and
    of *old*.
    """
    s = 6
    #                noun, number
    W_q = np.array([[0, 0],   # noun
                    [s, s],   # verb -> wants a plural noun
                    [0, 0],   # adjective
                    [0, 0]])  # number
    W_k = np.zeros((4, 2))
    W_k[0, 0] = 1
    W_k[3, 1] = 1
    return W_q, W_k
''',
    ),
    dict(
        id='p-2.1-one-maximum-for-all', exercise='2.1', today='NAMED', words=('You subtracted one maximum for the whole array; ',),
        tutor='x.max() is the maximum of the whole array, not of each row. A row that lies far below it gets exponentials of 0 and then 0/0 = NaN. The maximum has to be taken along axis, with keepdims=True.',
        code=r'''
def softmax(x, axis=-1):
    """Turn scores into weights that sum to 1 along one axis.

    x: any shape, no NaN; -inf stands for "no weight", beside finite scores.
    axis: the axis along which the weights sum to 1.
    Returns an array of x's shape. Large scores do not overflow: the maximum
    along the axis is subtracted first.
    """
    shifted = x - x.max()
    numerator = np.exp(shifted)
    denominator = np.expand_dims(numerator.sum(axis=axis), axis)
    return numerator / denominator
''',
    ),
    dict(
        id='p-2.2-root-of-value-width', exercise='2.2', today='NAMED', words=('You took the width of the values for the scale. ',),
        tutor='The scale uses the width of the values, V.shape[-1]. The scores are sums over the features of queries and keys, so the root must be of d_k = Q.shape[-1]. With d_v = d_k this does not show.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query: scaled dot products with
    the keys, through softmax, are the weights.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    Source: Vaswani et al. 2017, equation 1.
    """
    d = V.shape[-1]
    s = np.einsum("...id,...jd->...ij", Q, K) * d ** -0.5
    if mask is not None:
        s = s + np.where(mask, 0.0, -np.inf)
    A = softmax(s)
    return np.einsum("...ij,...jv->...iv", A, V), A
''',
    ),
    dict(
        id='p-2.3-mask-dropped', exercise='2.3', today='NAMED', words=('The mask was not passed on: your function takes ',),
        tutor='The mask is accepted but never handed on, so every word may look at every word. It must be passed as the fourth argument of scaled_dot_product_attention.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    """Attention of a sequence to itself: queries, keys and values are three
    projections of one X.

    X: (..., T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    mask: boolean, broadcastable to (..., T, T), True = may attend.
    Returns out (..., T, d_v) and weights (..., T, T).
    """
    views = [np.matmul(X, W) for W in (W_q, W_k, W_v)]
    result = scaled_dot_product_attention(*views)
    return result
''',
    ),
    dict(
        id='p-2.4-tanh-of-each-part', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separat',),
        tutor="tanh is applied to the query's part and to the key's part separately and the two are added afterwards. The network adds first: v · tanh(q W_q + k W_k).",
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    """Score each pair with a small network: v · tanh(q W_q + k W_k).

    Q: (T_q, d). K: (T_k, d). W_q, W_k: (d, m). v: (m,). Returns (T_q, T_k).
    Source: Bahdanau, Cho and Bengio 2015.
    """
    scores = np.empty((len(Q), len(K)))
    for i, q in enumerate(Q):
        hq = np.tanh(q @ W_q)
        for j, k in enumerate(K):
            hk = np.tanh(k @ W_k)
            scores[i, j] = np.dot(v, hq + hk)
    return scores
''',
    ),
    dict(
        id='p-2.5-matrix-the-wrong-way-round', exercise='2.5', today='NAMED', words=('You used W transposed. W leads from query featur',),
        tutor='This computes k W qᵀ and transposes at the end, which is q Wᵀ kᵀ: W meets the keys with its query side. It fails when d_q differs from d_k and gives other numbers when W is not symmetric. It must be Q @ W @ Kᵀ.',
        code=r'''
def general_scores(Q, K, W):
    """Score each pair with a learned bilinear form: q W kᵀ.

    Q: (T_q, d_q). K: (T_k, d_k). W: (d_q, d_k). Returns (T_q, T_k).
    Source: Luong, Pham and Manning 2015.
    """
    keys_first = np.matmul(np.matmul(K, W), Q.T)   # (T_k, T_q)
    return keys_first.T
''',
    ),
    dict(
        id='p-2.6-zero-still-in-the-mask', exercise='2.6', today='NAMED', words=('You set blocked scores to 0 (or multiplied the s',),
        tutor='Scale and axis are mended, but a blocked score is still set to 0, and e^0 is not 0: blocked words keep some weight. It must be -np.inf.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query, repaired.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    """
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / np.sqrt(d_k)      # bug 1: was d_k
    if mask is not None:
        scores = np.where(mask, scores, 0.0)
    weights = softmax(scores, axis=-1)  # bug 2: was -2
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='p-3.1-uniform-features', exercise='3.1', today='NAMED', words=('Your features are uniform between −1 and 1, with',),
        tutor='The features are drawn uniformly between -1 and 1. They must be standard normal: rng.standard_normal (or rng.normal). Uniform features have variance 1/3, so the spread comes out three times too small.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    """Dot products q · k of n pairs of independent random vectors.

    n: number of pairs. d_k: features per vector, each standard normal.
    rng: numpy Generator. Returns an array (n,), float64.
    """
    q = rng.uniform(-1, 1, size=(n, d_k))
    k = rng.uniform(-1, 1, size=(n, d_k))
    return np.einsum("nd,nd->n", q, k)
''',
    ),
    dict(
        id='p-3.2-boolean-index-flattens', exercise='3.2', today='NAMED', words=('You added up everything into one number; each ro',),
        tutor='weights[weights > 0] throws all rows into one flat array, so the result is the sum over all rows: one number instead of one per row. Keep the shape, e.g. np.where(weights > 0, weights, 1.0), and sum along the last axis.',
        code=r'''
def entropy(weights):
    """Entropy of each row, in nats: the weighted mean of -log(weight).

    weights: (..., n), not negative, each row sums to 1; left unchanged.
    Returns (...). A weight of 0 adds nothing.
    """
    positive = weights[weights > 0]     # zeros add nothing
    return -(positive * np.log(positive)).sum()
''',
    ),
    dict(
        id='p-3.3-off-diagonal-positive', exercise='3.3', today='NAMED', words=('Your diagonal is right, but the other entries ha',),
        tutor='Off the diagonal the sign is wrong: raising score j lowers the weight of i, so the entry is -p_i p_j, not +p_i p_j. Then each row sums to 0.',
        code=r'''
def softmax_jacobian(p):
    """Derivative of every weight with respect to every score of its row.

    p: (..., n), the weights that softmax gave.
    Returns (..., n, n): row i, column j is ∂p_i / ∂score_j.
    """
    n = p.shape[-1]
    J = np.zeros(p.shape + (n,))
    for i in range(n):
        for j in range(n):
            if i == j:
                J[..., i, j] = p[..., i] * (1 - p[..., i])
            else:
                J[..., i, j] = p[..., i] * p[..., j]
    return J
''',
    ),
    dict(
        id='p-3.4-plain-mean-subtracted', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; ',),
        tutor='The mean that is subtracted is the plain mean of d_weights. It has to be the mean under the weights: sum of weights * d_weights along the last axis.',
        code=r'''
def softmax_backward(weights, d_weights):
    """Gradient of a loss with respect to the scores, without the Jacobian.

    weights: (..., n), the weights that softmax gave.
    d_weights: (..., n), the loss's gradient with respect to them.
    Returns d_scores (..., n): each row's Jacobian times its d_weights.
    """
    centre = np.mean(d_weights, axis=-1, keepdims=True)
    return weights * (d_weights - centre)
''',
    ),
    dict(
        id='p-4.1-features-dealt-in-turn', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h ',),
        tutor='The last axis is split as (d_k, h), so the features are dealt out one at a time: head 0 gets features 0, h, 2h, ... A head owns neighbouring features, so the split must be (h, d_k).',
        code=r'''
def split_heads(x, n_heads):
    """Deal the features of every position out to the heads.

    x: (B, T, d_model). n_heads: h, a divisor of d_model.
    Returns (B, h, T, d_k) with d_k = d_model / h:
    head i holds features i * d_k to (i + 1) * d_k - 1.
    """
    d_k = x.shape[-1] // n_heads
    x = x.unflatten(-1, (d_k, n_heads))     # (B, T, d_k, h)
    return torch.einsum("btdh->bhtd", x)
''',
    ),
    dict(
        id='p-4.2-concatenated-along-words', exercise='4.2', today='NAMED', words=('You laid the heads one after the other along the',),
        tutor='The heads are concatenated along the word axis, which gives (B, h * T, d_k). They must lie side by side as features: dim=-1.',
        code=r'''
def merge_heads(x):
    """Lay the heads of each position side by side: undo `split_heads`.

    x: (B, h, T, d_k). Returns (B, T, d_model) with d_model = h * d_k.
    """
    n_heads = x.shape[1]
    pieces = []
    for i in range(n_heads):
        pieces.append(x[:, i])          # (B, T, d_k)
    return torch.cat(pieces, dim=1)
''',
    ),
    dict(
        id='p-4.3-bias-and-full-width-scale', exercise='4.3', today='NAMED', words=('There are biases, W_k.bias, W_o.bias, W_q.bias, ', "You divided by √d_model = 3.46; a head's dot pro"), slow=True,
        tutor="Two mistakes: the four Linear layers keep their bias (bias=False is asked for), and the scores are divided by the root of d_model instead of the root of one head's d_k = d_model / h.",
        code=r'''
class MultiHeadAttention(nn.Module):
    """Self-attention in h heads; ValueError if h does not divide d_model."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"cannot split {d_model} features into {n_heads} heads")
        self.d_model = d_model
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask -> out as x, weights (B, h, T, T)."""
        q = split_heads(self.W_q(x), self.n_heads)
        k = split_heads(self.W_k(x), self.n_heads)
        v = split_heads(self.W_v(x), self.n_heads)
        att = torch.einsum("bhqd,bhkd->bhqk", q, k) / self.d_model ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == False, float("-inf"))
        att = torch.softmax(att, dim=-1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", self.drop(att), v)
        return self.W_o(merge_heads(mixed)), att
''',
    ),
    dict(
        id='p-4.3-functional-dropout-always-on', exercise='4.3', today='NAMED', words=('Dropout stays on in eval mode: nn.functional.dro',),
        tutor='F.dropout is called without training=self.training, and its default is True: the dropout also acts in eval mode. Use nn.Dropout, or pass self.training.',
        code=r'''
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    """Self-attention in h heads; ValueError if h does not divide d_model."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError("d_model " + str(d_model) + ", n_heads " + str(n_heads))
        make = lambda: nn.Linear(d_model, d_model, bias=False)
        self.W_q, self.W_k, self.W_v, self.W_o = make(), make(), make(), make()
        self.h, self.d_k = n_heads, d_model // n_heads
        self.p = dropout

    def forward(self, x, mask=None):
        B, T, D = x.shape

        def heads_of(layer):
            return layer(x).view(B, T, self.h, self.d_k).permute(0, 2, 1, 3)

        q, k, v = heads_of(self.W_q), heads_of(self.W_k), heads_of(self.W_v)
        logits = q.matmul(k.mT) / math.sqrt(self.d_k)
        if mask is not None:
            logits = torch.where(mask, logits, -torch.inf)
        weights = F.softmax(logits, -1)
        y = F.dropout(weights, self.p) @ v
        y = y.permute(0, 2, 1, 3).reshape(B, T, D)
        return self.W_o(y), weights
''',
    ),
    dict(
        id='p-4.4-parameters-shared-not-copied', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training ',),
        tutor="The parameters of the new module are views of PyTorch's own tensors: no numbers are copied, so training one module changes the other. Copy them (copy_ under no_grad, or clone first).",
        code=r'''
def from_torch(mha):
    """Our module with copies of the weights of PyTorch's.

    mha: nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True).
    Returns a MultiHeadAttention with the same n_heads, dropout and dtype.
    """
    d = mha.embed_dim
    new = MultiHeadAttention(d, mha.num_heads, mha.dropout)
    stacked = mha.in_proj_weight.data
    new.W_q.weight = nn.Parameter(stacked[:d])
    new.W_k.weight = nn.Parameter(stacked[d:2 * d])
    new.W_v.weight = nn.Parameter(stacked[2 * d:])
    new.W_o.weight = nn.Parameter(mha.out_proj.weight.data)
    return new
''',
    ),
    dict(
        id='p-5.1-running-sum-over-features', exercise='5.1', today='NAMED', words=('You averaged along the features; average along t',),
        tutor='The running sum goes along dim=1, over the features of one word. The mean runs over the words so far: cumsum along dim=0, divided by 1, 2, ..., T as a column.',
        code=r'''
def prefix_mean(x):
    """Mean of each word and all words before it.

    x: (T, d). Returns (T, d): row t is the mean of rows 0 to t of x.
    """
    sums = torch.cumsum(x, dim=1)
    counts = torch.arange(1, x.shape[1] + 1, dtype=x.dtype)
    return sums / counts
''',
    ),
    dict(
        id='p-5.2-float-triangle', exercise='5.2', today='NAMED', words=("Your mask holds numbers, 0 and 1; the course's m",),
        tutor='The triangle holds the floats 1.0 and 0.0. A mask must be boolean: dtype=torch.bool (or compare the positions). ~ and masked_fill do not accept a float mask.',
        code=r'''
def causal_mask(T):
    """Who may look at whom when nobody may look ahead.

    T: number of words.
    Returns (T, T), bool, True = may attend: row t is True up to and
    including column t.
    """
    return torch.tril(torch.ones((T, T)))
''',
    ),
    dict(
        id='p-5.3-dropout-draws-anew', exercise='5.3', today='NAMED', words=('Dropout drew other numbers in the second call, a',),
        tutor='The random generator is not set back before each call, so a function with dropout draws other numbers and its outputs move although nothing leaks. Save the state before the first call and restore it before every other call.',
        code=r'''
def leaks_future(attend, x):
    """Whether any output before t changes when the words from t on change.

    attend: function from (T, d) to (T, d_v); it may draw random numbers,
    as dropout does. x: (T, d), left unchanged.
    Returns a bool: True if some output depends on a later word by more
    than rounding.
    """
    T = x.shape[0]
    reference = attend(x)
    for t in range(1, T):
        other = x.clone()
        other[t:] *= -2.0
        out = attend(other)
        if not torch.allclose(out[:t], reference[:t], atol=1e-5):
            return True
    return False
''',
    ),
    dict(
        id='p-5.3-in-place-and-exact', exercise='5.3', today='NAMED', words=('You asked for outputs equal to the last bit. Rou',),
        tutor='Two mistakes: x itself is changed (y = x is no copy; use x.clone()), and the outputs are compared exactly with torch.equal, so rounding in an honest function counts as a leak. Compare with a tolerance.',
        code=r'''
def leaks_future(attend, x):
    """Whether any output before t changes when the words from t on change.

    attend: function from (T, d) to (T, d_v); it may draw random numbers,
    as dropout does. x: (T, d), left unchanged.
    Returns a bool: True if some output depends on a later word by more
    than rounding.
    """
    seed = torch.get_rng_state()
    clean = attend(x)
    leak = False
    for t in reversed(range(1, len(x))):
        y = x
        y[t:] = 0
        torch.set_rng_state(seed)
        dirty = attend(y)
        if not torch.equal(dirty[:t], clean[:t]):
            leak = True
    return leak
''',
    ),
    dict(
        id='p-5.4-padding-on-the-query-axis', exercise='5.4', today='NAMED', words=('Your mask stands on the query axis: the rows of ',),
        tutor='The token axis has become the query axis, (B, 1, T, 1): this hides padding as a query. Padding must be hidden as a key, on the last axis: (B, 1, 1, T).',
        code=r'''
def padding_mask(tokens, pad_id):
    """Which keys are words and not padding, for all heads and queries alike.

    tokens: (B, T), integers. pad_id: the integer that stands for padding.
    Returns (B, 1, 1, T), bool, True = may attend.
    """
    real = tokens.ne(pad_id)
    return real.unsqueeze(1).unsqueeze(-1)
''',
    ),
    dict(
        id='p-5.5-padding-queries-hidden-too', exercise='5.5', today='NAMED', words=('You hid padding as keys and as queries. The rows',),
        tutor='A third mask has been added: padding is hidden as a query as well, so the rows of padding are all False. A pair is allowed if the two given masks allow it: padding & causal, nothing else.',
        code=r'''
def combine_masks(padding, causal):
    """Allow a pair only if both masks allow it.

    padding: (B, 1, 1, T), bool. causal: (T, T), bool.
    Returns (B, 1, T, T), bool. True = may attend in all three.
    """
    as_key = padding                            # (B, 1, 1, T)
    as_query = padding.transpose(-2, -1)        # (B, 1, T, 1)
    return as_key & as_query & causal
''',
    ),
    dict(
        id='p-5.6-hidden-score-in-the-maximum', exercise='5.6', today='PARTLY', slow=True,
        tutor='The maximum is taken over all scores, hidden ones included, and the zero denominator is patched with a small constant. If a hidden score is far larger, all allowed exponentials vanish and the row comes out as zeros; in float16 1e-9 is itself 0, so empty rows give NaN. Hide the scores before taking the maximum, and treat empty rows apart.',
        code=r'''
def masked_softmax(scores, mask):
    """Softmax over the allowed keys of each row; zeros where none is allowed.

    scores: (..., T_q, T_k), floating point, finite.
    mask: bool, broadcastable to scores, True = may attend.
    Returns weights of scores' shape and dtype; hidden keys get exactly 0.
    Gradients with respect to scores are finite, and 0 in a row of zeros.
    """
    top = scores.max(dim=-1, keepdim=True).values
    e = torch.exp(scores - top) * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-9)
''',
    ),
    dict(
        id='p-5.7-values-from-the-asker', exercise='5.7', today='NAMED', words=('Your values come from x; what is fetched comes f',),
        tutor='The values are projected from x. Keys and values both come from the memory: only the queries are made from x. With T_q different from T_k the product with the weights fails.',
        code=r'''
class CrossAttention(nn.Module):
    """Attention in h heads in which one sequence asks and another answers."""

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
        """x (B, T_q, d_model) -> out as x, weights (B, h, T_q, T_k)."""
        h = self.n_heads
        q, k, v = (split_heads(f(z), h) for f, z in
                   [(self.W_q, x), (self.W_k, memory), (self.W_v, x)])
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        if memory_mask is None:
            memory_mask = torch.ones_like(scores, dtype=torch.bool)
        weights = masked_softmax(scores, memory_mask)
        return self.W_o(merge_heads(weights @ v)), weights
''',
    ),
    dict(
        id='p-6.1-inverse-order', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse',),
        tutor='The output is shuffled with the inverse order (perm.argsort()), and f(X[perm]) with perm itself. Both sides need the same perm: f(X)[perm]. It only looks right for orders that are their own inverse.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    """Whether shuffling the rows of X shuffles the rows of f(X) in the same way.

    f: function from (T, d) to (T, d_out), torch tensors. X: (T, d), float.
    perm: (T,), 0 to T - 1 in some order.
    Returns a bool: True if all rows agree up to rounding.
    """
    inverse = torch.argsort(perm)
    a = f(X[perm])
    b = f(X)[inverse]
    return bool((a - b).abs().max() <= 1e-5 * (1 + b.abs().max()))
''',
    ),
    dict(
        id='p-6.2-sines-first-then-cosines', exercise='6.2', today='NAMED', words=('You put all sines first and all cosines after th',),
        tutor='All sines stand in the left half and all cosines in the right half. Sine and cosine of a pair are neighbours: columns 2i and 2i + 1.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    """Give each position a row of sines and cosines, from fast waves to slow ones.

    max_len: number of positions. d_model: width, even or odd.
    Returns (max_len, d_model), float32: columns 2i and 2i + 1 are the sine and the
    cosine of position * 10000^(-2i / d_model) (Vaswani et al. 2017, section 3.5).
    """
    p = torch.arange(max_len).unsqueeze(1).float()
    w = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
    angle = p * w
    table = torch.cat([angle.sin(), angle.cos()], dim=1)
    return table[:, :d_model]
''',
    ),
    dict(
        id='p-6.3-turned-backwards', exercise='6.3', today='NAMED', words=('Your matrix turns the wrong way: it moves every ',),
        tutor='The two sines have their signs exchanged, so the matrix moves positions back by offset (it is the transpose). Row 2i is (cos, sin) and row 2i + 1 is (-sin, cos).',
        code=r'''
def shift_matrix(offset, d_model):
    """Matrix that moves every row of the sinusoidal encoding on by the same offset.

    offset: number of positions. d_model: width, even.
    Returns M (d_model, d_model), float32, with PE[p + offset] = M @ PE[p] for every p.
    """
    blocks = []
    for i in range(d_model // 2):
        theta = offset / 10000 ** (2 * i / d_model)
        c, s = math.cos(theta), math.sin(theta)
        blocks.append(torch.tensor([[c, -s],
                                    [s, c]]))
    return torch.block_diag(*blocks)
''',
    ),
    dict(
        id='p-6.4-offset-added-to-the-angle', exercise='6.4', today='NAMED', words=('One change in line 11 would make this right: loo',), slow=True,
        tutor='offset is added to the angles, after the positions were multiplied with the frequencies, so every pair is turned by the same extra amount. It belongs to the position: (arange(T) + offset) times the frequency.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    """Turn the column pairs (2i, 2i + 1) of each row by angles that grow with position.

    x: (..., T, d), floating point, d even; its rows stand at the positions offset,
    offset + 1, ...
    Returns a new tensor of x's shape and dtype: pair i of the row at position p is
    turned counter-clockwise by p * base^(-2i / d) radians (Su et al. 2021).
    """
    T, d = x.shape[-2], x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    theta = torch.outer(torch.arange(T, dtype=x.dtype), freq) + offset
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2))
    z = z * torch.polar(torch.ones_like(theta), theta)
    return torch.view_as_real(z).flatten(-2)
''',
    ),
    dict(
        id='p-6.5-from-zero-and-rewarded', exercise='6.5', today='NAMED', words=('The sign is wrong: your bias grows with the dist', 'Your heads are counted from 0, so the first has '), slow=True,
        tutor='Two mistakes: the heads are counted from 0, so the first slope is 2^0 = 1 (head i runs from 1 to h, the first slope is 2^(-8/h)); and the minus sign is missing, so distance is rewarded.',
        code=r'''
def alibi_bias(n_heads, T):
    """What ALiBi adds to the scores: minus distance times a slope of each head's own.

    n_heads: h, a power of two. T: number of words.
    Returns (h, T_q, T_k) = (h, T, T), float32: head i = 1 ... h has the slope
    2^(-8i / h), the distance is |q - k|; where k > q, any value (Press et al. 2022).
    """
    bias = torch.zeros(n_heads, T, T)
    for i in range(n_heads):
        slope = 2 ** (-8 * i / n_heads)
        for q in range(T):
            for k in range(q + 1):
                bias[i, q, k] = slope * (q - k)
    return bias
''',
    ),
    dict(
        id='p-6.6-position-looked-up-by-token', exercise='6.6', today='NAMED', words=('You looked positions up by what the token is; th',),
        tutor="The row of pe is looked up with the token's number. It must be the row of the place where the token stands: pe[0] for the first, pe[1] for the second, i.e. pe[:T].",
        code=r'''
def embed(tokens, E, pe):
    """Look up the vector of every token and add the row of its position.

    tokens: (B, T), integers. E: (n_tokens, d_model), a row for each token.
    pe: (max_len, d_model), a row for each position, max_len >= T.
    Returns (B, T, d_model).
    """
    words = torch.nn.functional.embedding(tokens, E)
    positions = torch.nn.functional.embedding(tokens, pe)
    return words + positions
''',
    ),
    dict(
        id='p-6.7-turned-before-the-projection', exercise='6.7', today='NAMED', words=('You turned X before it was projected, and W_q an',),
        tutor='X is turned and then projected. RoPE acts on queries and keys, after their projection: rope(X @ W_q), rope(X @ W_k). Turned before, the scores depend on more than the offset, and d_model may be odd.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    """Scaled causal self-attention of one sequence, with Q and K turned by position.

    X (T, d_model), W_q, W_k (d_model, d_k), d_k even, W_v (d_model, d_v) -> (T, d_v).
    """
    T = X.shape[0]
    turned = rope(X)
    q, k, v = turned @ W_q, turned @ W_k, X @ W_v
    s = (q @ k.mT) / q.shape[-1] ** 0.5
    s[~causal_mask(T)] = float("-inf")
    return s.softmax(-1) @ v
''',
    ),
    dict(
        id='p-7.1-first-product-has-no-addition', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in ',),
        tutor='The sums are counted as d products and d - 1 additions. In this course a multiply-add is always 2 FLOPs, the first of a sum included: 2 * T_q * T_k * d_k and 2 * T_q * T_k * d_v.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    """FLOPs of the two matrix products of one head, Q Kᵀ and weights V.

    A multiply-add is 2 FLOPs. T_q, T_k: numbers of queries and keys.
    d_k: width of queries and keys. d_v: width of values. Returns an int.
    """
    # one dot product of length m: m multiplications, m - 1 additions
    dot = lambda m: m + (m - 1)
    qk = T_q * T_k * dot(d_k)
    av = T_q * d_v * dot(T_k)
    return qk + av
''',
    ),
    dict(
        id='p-7.2-sizes-added', exercise='7.2', today='NAMED', words=('In the term d_model², the size T is missing.', 'The term T·d_model is not wanted.'),
        tutor='The word count and the size of the matrix are added: T * d_model + d_model². A product (T, d) times (d, d) costs T * d_model * d_model multiply-adds.',
        code=r'''
def projection_flops(T, d_model):
    """FLOPs of the four projections W_q, W_k, W_v and W_o of T words.

    A multiply-add is 2 FLOPs. T: number of words. d_model: each projection is
    (d_model, d_model), all heads together. Returns an int.
    """
    total = 0
    for name in ("W_q", "W_k", "W_v", "W_o"):
        total += 2 * (T * d_model + d_model ** 2)
    return total
''',
    ),
    dict(
        id='p-7.3-first-length-above', exercise='7.3', today='NAMED', words=('You returned the first length at which scoring a',),
        tutor='The loop stops at the first length at which attention costs more than the projections, which is one word too far. They cost the same at 2 * d_model: the comparison must be >=.',
        code=r'''
def crossover_length(d_model):
    """Number of words at which scoring and mixing cost as much as the four projections.

    d_model: width of the layer, all heads together.
    Returns the length T of self-attention at which both cost the same FLOPs.
    """
    T = 1
    while not attention_flops(T, T, d_model, d_model) > projection_flops(T, d_model):
        T = T + 1
    return T
''',
    ),
    dict(
        id='p-7.4-only-the-lower-triangle', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hi',),
        tutor='Only the T (T + 1) / 2 pairs of a causal mask are counted. All scores are made and stored, T * T for each sentence and head.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    """Bytes of all scores of a layer of self-attention.

    B: sequences in the batch. H: heads. T: words in a sequence.
    itemsize: bytes of one number, 4 for float32. Returns an int.
    """
    pairs = T * (T + 1) // 2
    return pairs * H * B * itemsize
''',
    ),
    dict(
        id='p-7.5-first-and-last-point-only', exercise='7.5', today='NAMED', words=('You joined the first point to the last and ignor',),
        tutor='The slope is taken between the first and the last point and ignores all others. The least-squares line through the logarithms of all points is asked for, e.g. np.polyfit(log sizes, log costs, 1)[0].',
        code=r'''
def fit_exponent(sizes, costs):
    """Exponent p of the power law costs ≈ c · sizes^p.

    It is the slope of the least-squares line through the logarithms.
    sizes, costs: (n,), n >= 2, positive, in any unit. Returns a float.
    """
    rise = np.log(costs[-1]) - np.log(costs[0])
    run = np.log(sizes[-1]) - np.log(sizes[0])
    return float(rise / run)
''',
    ),
    dict(
        id='p-8.1-both-empty-is-nan', exercise='8.1', today='NAMED', words=('A query that has seen nothing has maximum −∞ in ',),
        tutor='If a query has seen nothing in either part, both maxima are -inf, and -inf - (-inf) is NaN, so total and sum become NaN. Put 0 for the common maximum there, in the factors only.',
        code=r'''
def merge(first, second):
    """Merge two states (maximum, total, out) of the same queries into one state."""
    m_a, l_a, o_a = first
    m_b, l_b, o_b = second
    m = torch.where(m_a > m_b, m_a, m_b)
    alpha, beta = (m_a - m).exp(), (m_b - m).exp()
    return m, alpha * l_a + beta * l_b, alpha * o_a + beta * o_b
''',
    ),
    dict(
        id='p-8.2-last-tile-dropped', exercise='8.2', today='NAMED', words=('The last, shorter tile of keys is left out. Let ',),
        tutor='The number of key tiles is rounded down (T_k // tile), so the keys of a smaller last tile are never seen. Round up, or let range step through 0, tile, ... up to T_k.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    """Softmax attention, a tile of queries and a tile of keys at a time.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v). Returns (..., T_q, d_v).
    causal: query i sees the keys up to i, and T_q = T_k. tile: words in a tile.
    Tensors alive at once take less memory than a matrix (T_q, T_k) of scores.
    """
    T_q, d = Q.shape[-2:]
    T_k = K.shape[-2]
    out = Q.new_empty(*Q.shape[:-1], V.shape[-1])
    n_tiles = max(1, T_k // tile)
    for start in range(0, T_q, tile):
        stop = min(start + tile, T_q)
        q = Q[..., start:stop, :]
        so_far = nothing_seen(q, V)
        for n in range(n_tiles):
            a, b = n * tile, min((n + 1) * tile, T_k)
            if causal and a >= stop:
                continue
            s = q @ K[..., a:b, :].transpose(-1, -2) / d ** 0.5
            if causal:
                ok = torch.arange(a, b) <= torch.arange(start, stop)[:, None]
                s = s.masked_fill(~ok, -torch.inf)
            so_far = merge(so_far, state_of(s, V[..., a:b, :]))
        out[..., start:stop, :] = so_far[2] / so_far[1]
    return out
''',
    ),
    dict(
        id='p-8.2-triangle-on-every-tile', exercise='8.2', today='NAMED', words=('You laid the triangle over every tile. Below the',),
        tutor='With causal=True the little triangle is laid over every tile up to the diagonal. Tiles that lie wholly in the past must stay open: only the tile with j == i gets causal_mask.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    """Softmax attention, tile by tile."""
    root = math.sqrt(Q.size(-1))
    done = []
    for i, q in enumerate(Q.split(tile, dim=-2)):
        state = nothing_seen(q, V)
        for j, (k, v) in enumerate(zip(K.split(tile, dim=-2), V.split(tile, dim=-2))):
            if causal and j > i:
                break
            s = q @ k.mT / root
            if causal:
                lower = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
                s = s.masked_fill(~lower, float("-inf"))
            state = merge(state, state_of(s, v))
        _, total, weighted = state
        done.append(weighted / total)
    return torch.cat(done, dim=-2)
''',
    ),
    dict(
        id='p-8.3-window-to-both-sides', exercise='8.3', today='NAMED', words=('Your window opens to both sides, so words see wh',),
        tutor='The absolute distance is compared, so a word also sees the window - 1 words after it. The mask must be causal: i - j at least 0 and below window.',
        code=r'''
def window_mask(T, window):
    """Causal mask (T, T), bool, True = may attend, of the last few places.

    T: number of words. window: number of places seen, the word's own included.
    """
    i = torch.arange(T).view(T, 1)
    j = torch.arange(T).view(1, T)
    return torch.abs(i - j) < window
''',
    ),
    dict(
        id='p-8.4-relu-and-own-place-late', exercise='8.4', today='NAMED', words=("Each word's own key and value come into the runn", 'φ is elu + 1, and yours fits relu + 1: below zer'), slow=True,
        tutor="Two mistakes: φ is relu + 1 instead of elu + 1, and in the causal loop the output is computed before the word's own key and value have been added, so no word sees itself (and the first one divides 0 by 0).",
        code=r'''
def linear_attention(Q, K, V, causal=False):
    """Attention with the weights φ(q) · φ(k) in place of exp(q · k), φ = elu + 1.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v). Returns (..., T_q, d_v).
    causal: query i sees the keys up to i, and T_q = T_k.
    """
    phi = lambda z: F.relu(z) + 1
    q, k = phi(Q), phi(K)
    if not causal:
        S = torch.einsum("...kd,...kv->...dv", k, V)
        z = k.sum(-2)
        return torch.einsum("...qd,...dv->...qv", q, S) / torch.einsum("...qd,...d->...q", q, z)[..., None]
    S = torch.zeros(*Q.shape[:-2], Q.shape[-1], V.shape[-1], dtype=Q.dtype)
    z = torch.zeros(*Q.shape[:-2], Q.shape[-1], dtype=Q.dtype)
    outs = []
    for t in range(Q.shape[-2]):
        top = torch.einsum("...d,...dv->...v", q[..., t, :], S)
        bottom = (q[..., t, :] * z).sum(-1, keepdim=True)
        outs.append(top / bottom)
        S = S + k[..., t, :, None] * V[..., t, None, :]
        z = z + k[..., t, :]
    return torch.stack(outs, dim=-2)
''',
    ),
    dict(
        id='p-8.5-queries-turned-from-zero', exercise='8.5', today='NAMED', words=('The queries are turned as if they began at place',), slow=True,
        tutor='Only the keys are turned with offset T_old. The new queries stand at the same places, so they need rope(Q, offset=T_old) as well; turned from 0 the offsets between queries and keys are wrong as soon as the cache is not empty.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    """Causal attention, with RoPE, of new words to the cached ones and themselves.

    layer: a MultiHeadAttention. x_new: (B, T_new, d_model). Returns x_new's shape.
    cache: a dict of "K", turned by RoPE, and "V", (B, h, T_old, d_k) each, which is
    changed: afterwards both hold the new words too, (B, h, T_old + T_new, d_k).
    """
    past = cache["K"].size(2)
    fresh = x_new.size(1)
    q = rope(split_heads(layer.W_q(x_new), layer.n_heads))
    k = rope(split_heads(layer.W_k(x_new), layer.n_heads), offset=past)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    cache.update(K=torch.cat((cache["K"], k), 2), V=torch.cat((cache["V"], v), 2))
    visible = torch.ones(fresh, past + fresh, dtype=torch.bool).tril(past)
    out = F.scaled_dot_product_attention(q, cache["K"], cache["V"], attn_mask=visible)
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='p-8.5-new-dict-instead-of-the-given', exercise='8.5', today='NAMED', words=('Old and new keys are joined for this call, but t',), slow=True,
        tutor='cache = {...} makes a new dict and forgets it at the end: the dict of the caller never changes, so the next call starts from the old cache. Write into the one you were given: cache["K"] = ..., cache["V"] = ...',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    """Causal attention, with RoPE, of new words to the cached ones and themselves.

    layer: a MultiHeadAttention. x_new: (B, T_new, d_model). Returns x_new's shape.
    cache: a dict of "K", turned by RoPE, and "V", (B, h, T_old, d_k) each, which is
    changed: afterwards both hold the new words too, (B, h, T_old + T_new, d_k).
    """
    h = layer.n_heads
    n_old = cache["K"].shape[2]
    q, k, v = [split_heads(lin(x_new), h) for lin in (layer.W_q, layer.W_k, layer.W_v)]
    q, k = rope(q, offset=n_old), rope(k, offset=n_old)
    cache = {name: torch.cat([cache[name], new], dim=2)
             for name, new in (("K", k), ("V", v))}
    n_all = cache["K"].shape[2]
    scores = torch.einsum("bhid,bhjd->bhij", q, cache["K"]) / math.sqrt(q.shape[-1])
    for n in range(x_new.shape[1]):
        scores[:, :, n, n_old + n + 1:] = -math.inf
    attention = torch.softmax(scores, dim=-1)
    return layer.W_o(merge_heads(attention @ cache["V"]))
''',
    ),
    dict(
        id='p-8.6-heads-grouped-by-turns', exercise='8.6', today='NAMED', words=('Heads take their turn at the keys: head 0 the fi',), slow=True,
        tutor='The heads are split as (h/g, g), so head 0 uses keys 0, head 1 keys 1, head 2 keys 0 again. Heads that share keys stand next to each other: the split is (g, h/g).',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    """Attention of h heads of queries that share g heads of keys and values.

    Q: (B, h, T_q, d_k). K: (B, g, T_k, d_k). V: (B, g, T_k, d_v).
    mask: bool, broadcastable to (B, h, T_q, T_k). Returns (B, h, T_q, d_v).
    """
    B, h, T_q, d_k = Q.shape
    g = K.shape[1]
    q = Q.reshape(B, h // g, g, T_q, d_k)
    s = torch.einsum("brgqd,bgkd->brgqk", q, K).reshape(B, h, T_q, -1) / math.sqrt(d_k)
    if mask is not None:
        s = torch.where(mask, s, torch.tensor(-torch.inf, dtype=s.dtype))
    w = s.softmax(-1).reshape(B, h // g, g, T_q, -1)
    return torch.einsum("brgqk,bgkv->brgqv", w, V).reshape(B, h, T_q, -1)
''',
    ),
    dict(
        id='p-8.7-keys-without-values', exercise='8.7', today='NAMED', words=('Your number is half of what is wanted: both keys',),
        tutor='Only one vector per token, head and layer is counted. The cache holds a key and a value, so there is a factor of 2 (besides the itemsize).',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    """Bytes of the keys and values that a model keeps of one text.

    n_kv_heads: heads with keys and values of their own. d_head: width of a head.
    itemsize: bytes of one number, 2 for 16 bits. Returns an int.
    """
    width = n_kv_heads * d_head
    return n_layers * n_tokens * width * itemsize
''',
    ),
    dict(
        id='p-8.8-own-place-counted-in-every-layer', exercise='8.8', today='NAMED', words=('You multiplied the layers by the window. Neighbo',),
        tutor="Each layer is taken to reach window places further back. The window includes the word's own place, so a layer adds only window - 1 words: n_layers * (window - 1) + 1.",
        code=r'''
def reach(n_layers, window):
    """Number of words, the last included, that can change a stack's last output.

    n_layers: number of layers. window: number of places each one sees.
    """
    furthest = 0
    for layer in range(n_layers):
        furthest += window
    return furthest
''',
    ),
    dict(
        id='p-9.1-sample-std-and-eps-outside', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='Two mistakes: torch.std divides by d - 1 unless told otherwise (the variance is the mean of the squared differences: correction=0), and eps is added to the standard deviation instead of to the variance, under the root.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    """Give each position's features mean 0 and variance 1, then scale and shift them.

    x: (..., d), floating point. scale, shift: (d,). eps: added to the variance, which
    divides by d. Returns x's shape and dtype (Ba, Kiros and Hinton 2016).
    """
    centred = x - x.mean(-1, keepdim=True)
    s = torch.std(x, dim=-1, keepdim=True)
    return scale * centred / (s + eps) + shift
''',
    ),
    dict(
        id='p-9.2-second-half-starts-from-the-input', exercise='9.2', today='NAMED', words=("Both halves read the block's input, side by side",), slow=True,
        tutor="The feed-forward half reads the block's input, not what the attention half left. Update x first, then add feed_forward(norm_2(x)) of this new x.",
        code=r'''
class Block(nn.Module):
    """Attention, then a feed-forward network, each behind a norm and beside a skip."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        wide = 4 * d_model
        self.feed_forward = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask as for the attention -> (B, T, d_model)."""
        a = self.attention(self.norm_1(x), mask)[0]
        f = self.feed_forward(self.norm_2(x))
        return x + a + f
''',
    ),
    dict(
        id='p-9.3-one-block-many-times', exercise='9.3', today='NAMED', words=('All layers are the same block, so they share the',), slow=True,
        tutor='[Block(...)] * n_layers repeats one and the same block n_layers times: all layers share their weights. Each layer needs a block of its own: [Block(...) for _ in range(n_layers)].',
        code=r'''
class TinyGPT(nn.Module):
    """Blocks that score, at every position, each token that may come next."""

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(num_embeddings=n_tokens, embedding_dim=d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads)] * n_layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of each next token (B, T, n_tokens)."""
        B, T = tokens.shape
        h = self.embedding(tokens)
        may_see = causal_mask(T)
        for b in self.blocks:
            h = b(h, mask=may_see)
        h = self.norm(h)
        logits = self.head(h)
        return logits
''',
    ),
    dict(
        id='p-9.4-padding-in-the-denominator', exercise='9.4', today='NAMED', words=('Padding costs nothing, but still counts in the m',),
        tutor='The losses of padding targets are set to 0, but the mean still divides by all positions. Padding must vanish from the count too: divide by the number of targets that count (or use ignore_index).',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    """How surprised the model is by each token that really came next, on average.

    logits: (B, T, V). tokens: (B, T), integers; position t is to predict the token
    at t + 1. pad_id: tokens of this number are no targets. Returns the mean
    cross-entropy in nats, a tensor without axes.
    """
    log_p = torch.log_softmax(logits[:, :-1, :], dim=-1)
    target = tokens[:, 1:]
    nll = -log_p.gather(2, target.unsqueeze(2)).squeeze(2)     # (B, T - 1)
    if pad_id is not None:
        nll = nll * (target != pad_id)
    return nll.mean()
''',
    ),
    dict(
        id='p-9.5-ties-thrown-away', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, you',),
        tutor='Exactly k places are kept, as topk lists them, so a token that equals the smallest kept one is forbidden by chance. Tokens equal to the k-th largest stay: compare with its value, and forbid only what is smaller.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    """Turn the scores of the next token into probabilities to draw from.

    logits: (..., V). temperature: above 0; below 1 sharpens, above 1 flattens.
    top_k: 1 to V. Only the k largest may be drawn, and any that equal the smallest of
    these; None: all may. Returns (..., V); the last axis sums to 1.
    """
    z = logits / temperature
    if top_k is not None:
        best = torch.topk(z, top_k, dim=-1)
        kept = torch.full_like(z, -math.inf)
        z = kept.scatter(-1, best.indices, best.values)
    return F.softmax(z, dim=-1)
''',
    ),
    dict(
        id='p-9.6-beginning-kept-instead-of-end', exercise='9.6', today='NAMED', words=('The model is shown the first max_len tokens, so ',), slow=True,
        tutor='tokens[:, :model.max_len] shows the model the first max_len tokens. It must see the last ones, tokens[:, -model.max_len:], or it never reads what it has just written.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    """Let a model write on, one token at a time.

    model: (B, T) tokens -> (B, T, V) logits; it is shown at most the last
    model.max_len tokens. tokens: (B, T), the beginning. n_new: how many to add.
    choose: (B, V) logits -> (B,) tokens. Returns (B, T + n_new).
    """
    text = tokens.clone()
    for step in range(n_new):
        window = text[:, :model.max_len]
        scores = model(window)
        nxt = choose(scores[:, -1, :]).view(-1, 1)
        text = torch.hstack([text, nxt])
    return text
''',
    ),
    dict(
        id='p-10.1-last-matrix-not-transposed', exercise='10.1', today='NAMED', words=('W_o is used as it comes. The matrices: they are ',),
        tutor='W_q, W_k and W_v are used as (out, in), but the last product is heads @ layer.W_o, with W_o taken as (in, out). It is stored like the others and must be transposed: heads @ layer.W_o.T + layer.b_o.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    """Multi-head self-attention as BERT has it: with a bias after each product.

    x: (B, T, d_model). n_heads: h.
    layer: has W_q, W_k, W_v, W_o, each (d_model, d_model) as (out, in), and
    b_q, b_k, b_v, b_o, each (d_model,).
    mask: None, or bool, broadcastable to (B, h, T, T), True = may attend.
    Returns out (B, T, d_model) and weights (B, h, T, T).
    """
    def project(W, b):
        z = torch.einsum("bti,oi->bto", x, W) + b
        return split_heads(z, n_heads)

    q = project(layer.W_q, layer.b_q)
    k = project(layer.W_k, layer.b_k)
    v = project(layer.W_v, layer.b_v)
    logits = torch.einsum("bhqd,bhkd->bhqk", q, k) / (q.shape[-1] ** 0.5)
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(logits, dim=-1)
    heads = merge_heads(torch.einsum("bhqk,bhkd->bhqd", weights, v))
    return heads @ layer.W_o + layer.b_o, weights
''',
    ),
    dict(
        id='p-10.2-column-looks-and-ties-count', exercise='10.2', today='NAMED', words=('You asked how much the nouns look at the verb. T', 'In line 14, look at the comparison >=.'), slow=True,
        tutor="Two mistakes: the verb's place is used as the column and the noun's as the row, so this asks how much the nouns look at the verb (the row looks: weights[n, ..., verb, subject]); and >= counts a tie as a win, where > is wanted.",
        code=r'''
def agreement_share(weights, verb, subject, other):
    """How often a verb gives its subject more weight than the other noun, by head.

    weights: (N, ..., T, T), a row for each token that looks.
    verb, subject, other: (N,), their places.
    Returns (...,): the share of the N sentences, between 0 and 1; a tie does not count.
    """
    N = weights.shape[0]
    count = torch.zeros(weights.shape[1:-2])
    for n in range(N):
        w = weights[n]
        to_subject = w[..., subject[n], verb[n]]
        to_other = w[..., other[n], verb[n]]
        count = count + (to_subject >= to_other).float()
    return count / N
''',
    ),
    dict(
        id='p-10.3-padding-in-the-sum', exercise='10.3', today='NAMED', words=('You divided by the right numbers, but padding is',),
        tutor='Only the count leaves the padding out; the sum still runs over all T rows, padding included. Set padding to zero before the sum.',
        code=r'''
def mean_pool(hidden, mask):
    """One vector for each text: the mean over its tokens, padding left out.

    hidden: (B, T, d). mask: (B, T), bool, True = a token; every row has a True.
    Returns (B, d).
    """
    lengths = mask.sum(dim=1)                   # (B,)
    total = hidden.sum(dim=1)                   # (B, d)
    return total / lengths.unsqueeze(1)
''',
    ),
    dict(
        id='p-10.4-long-rows-win-and-order-of-results', exercise='10.4', today='NAMED', words=('Only the query is normalised, which changes no o', 'You returned (cosines, indices), as topk does; ('),
        tutor='Two mistakes: the rows of the corpus are not divided by their own lengths, so long rows win and the numbers are no cosines; and topk returns the values first and the places second, so indices and cosines are exchanged.',
        code=r'''
def search(query, corpus, k):
    """The k rows of a corpus that point most nearly in a query's direction.

    query: (d,). corpus: (n, d), n >= k. Neither need be normalised.
    Returns indices (k,) and cosines (k,), the largest cosine first.
    """
    unit = F.normalize(query, dim=0)
    cos = torch.mv(corpus, unit)
    indices, cosines = torch.topk(cos, k)
    return indices, cosines
''',
    ),
    dict(
        id='q-1.1-divided-by-the-lengths', exercise='1.1', today='NAMED', words=('You divided by the lengths of both vectors, whic',),
        tutor='The dot products are divided by the lengths of the query and of the keys, which makes them cosines. The plain dot product is asked for, so that a longer key scores higher.',
        code=r'''
def similarities(query, keys):
    """Dot product of one query with every key.

    query: (d,). keys: (n, d). Returns an array (n,).
    """
    def agreement(a, b):
        return np.sum(a * b) / (np.linalg.norm(a) * np.linalg.norm(b))

    return np.array([agreement(query, key) for key in keys])
''',
    ),
    dict(
        id='q-1.2-sharpness-as-a-temperature', exercise='1.2', today='NAMED', words=('One change in line 9 would make this right: look',),
        tutor='The scores are divided by the sharpness, as by a temperature. They must be multiplied: a larger sharpness has to make the weights sharper, and 0 has to give the plain average instead of a division by zero.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    """Average of the values, weighted by how well each key fits the query.

    query: (d,). keys: (n, d). values: (n, d_v).
    sharpness: a number, 0 for a plain average.
    Returns value (d_v,) and weights (n,), which sum to 1.
    No weight is negative; one too small for a float comes out as 0.
    """
    logits = similarities(query, keys) / sharpness
    # log of the sum of the exponentials, safely
    log_total = np.logaddexp.reduce(logits)
    weights = np.exp(logits - log_total)
    return np.einsum("n,nv->v", weights, values), weights
''',
    ),
    dict(
        id='q-1.3-words-became-columns', exercise='1.3', today='NAMED', words=('You multiplied W.T @ X.T, which gives one column',),
        tutor='The matrix stands on the left, W.T @ X.T, so each word ends up as a column: the results are (d_k, T) and (d_v, T). A word must stay a row: X @ W.',
        code=r'''
def project(X, W_q, W_k, W_v):
    """Three views of the same words: what they ask, are found by, and give.

    X: (T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    Returns Q (T, d_k), K (T, d_k), V (T, d_v).
    """
    return tuple(W.T @ X.T for W in [W_q, W_k, W_v])
''',
    ),
    dict(
        id='q-1.4-inner-pairs-the-batches-too', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every example ',),
        tutor='np.inner pairs every query of every sentence with every key of every sentence: with a batch the result is (B, T_q, B, T_k). Only the last two axes may be paired; leading axes must be matched: Q @ np.swapaxes(K, -1, -2).',
        code=r'''
def dot_product_scores(Q, K):
    """Dot product of every query with every key.

    Q: (..., T_q, d_k). K: (..., T_k, d_k).
    Returns (..., T_q, T_k): row i belongs to query i.
    """
    # inner sums over the last axis of both
    return np.inner(Q, K)
''',
    ),
    dict(
        id='q-1.5-number-alone-is-not-enough', exercise='1.5', today='NAMED', words=('are gives books and are the same weight, 0.50: n', 'old gives books and are the same weight, 0.50: n'),
        tutor='Only the number is used as a key. The verb are is plural too, so books and are tie with half of the weight each. The key must also say noun, and the query must ask for a noun and for plural.',
        code=r'''
def design_projections():
    """Projections with which *are* and *old* look for the plural noun.

    Returns W_q, W_k, each (4, d_k) for the four features noun, verb,
    adjective, number, such that softmax(q · k) over the seven words of the
    running example gives *books* at least 0.8 of the weight of *are* and
    of *old*.
    """
    W_q = np.zeros((4, 1))
    W_k = np.zeros((4, 1))
    W_q[1] = 10.0   # a verb asks for plural
    W_q[2] = 10.0   # an adjective asks for plural
    W_k[3] = 1.0    # found by its number
    return W_q, W_k
''',
    ),
    dict(
        id='q-2.1-subtracts-in-place', exercise='2.1', today='NAMED', words=('The values are right. The function changed its i',),
        tutor="x -= ... writes the shifted scores into the caller's array. The input must stay as it is: make a new array, shifted = x - maximum.",
        code=r'''
def softmax(x, axis=-1):
    """Turn scores into weights that sum to 1 along one axis.

    x: any shape, no NaN; -inf stands for "no weight", beside finite scores.
    axis: the axis along which the weights sum to 1.
    Returns an array of x's shape. Large scores do not overflow: the maximum
    along the axis is subtracted first.
    """
    x -= np.amax(x, axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis, keepdims=True)
''',
    ),
    dict(
        id='q-2.2-zero-times-infinity', exercise='2.2', today='NAMED', words=('You multiplied a mask by infinity: 0 · inf is Na',),
        tutor='The mask is added as not-mask times -inf. For an allowed pair that is 0 * -inf, which is NaN, so every masked call gives NaN everywhere. Choose instead of multiplying: np.where(mask, scores, -np.inf).',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query: scaled dot products with
    the keys, through softmax, are the weights.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    Source: Vaswani et al. 2017, equation 1.
    """
    K_t = np.moveaxis(K, -1, -2)
    logits = np.matmul(Q, K_t) / Q.shape[-1] ** 0.5
    if mask is not None:
        penalty = np.logical_not(mask) * -np.inf
        logits = logits + penalty
    attention = softmax(logits)
    return np.matmul(attention, V), attention
''',
    ),
    dict(
        id='q-2.2-number-of-keys-and-results-exchanged', exercise='2.2', today='NAMED', words=('You took the number of keys, T_k = 7, for the sc', 'You returned (weights, out); the order asked for'),
        tutor='Two mistakes: the scale is the root of the number of keys, K.shape[-2], instead of the root of their width, K.shape[-1]; and the weights are returned first, where the outputs are asked for first.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query: scaled dot products with
    the keys, through softmax, are the weights.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    Source: Vaswani et al. 2017, equation 1.
    """
    d_k = K.shape[-2]
    similarity = np.einsum("...id,...jd->...ij", Q, K)
    similarity /= math.sqrt(d_k)
    if mask is not None:
        similarity = np.where(mask, similarity, float("-inf"))
    weights = softmax(similarity)
    output = (weights[..., :, :, None] * V[..., None, :, :]).sum(axis=-2)
    return weights, output
''',
    ),
    dict(
        id='q-2.3-mask-turned-round', exercise='2.3', today='NAMED', words=('You inverted the mask on its way: True already m',),
        tutor='The mask is inverted before it is passed on. In this course True already means may attend, here and in scaled_dot_product_attention, so it is handed on as it is.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    """Attention of a sequence to itself: queries, keys and values are three
    projections of one X.

    X: (..., T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    mask: boolean, broadcastable to (..., T, T), True = may attend.
    Returns out (..., T, d_v) and weights (..., T, T).
    """
    blocked = None if mask is None else np.invert(mask)
    Q = np.einsum("...td,dk->...tk", X, W_q)
    K = np.einsum("...td,dk->...tk", X, W_k)
    V = np.einsum("...td,dv->...tv", X, W_v)
    out, weights = scaled_dot_product_attention(Q, K, V, mask=blocked)
    return out, weights
''',
    ),
    dict(
        id='q-2.4-matrices-exchanged', exercise='2.4', today='NAMED', words=('The same change in lines 7 and 8 would make this',),
        tutor='The queries go through W_k and the keys through W_q. It must be the other way round: q W_q + k W_k.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    """Score each pair with a small network: v · tanh(q W_q + k W_k).

    Q: (T_q, d). K: (T_k, d). W_q, W_k: (d, m). v: (m,). Returns (T_q, T_k).
    Source: Bahdanau, Cho and Bengio 2015.
    """
    a = np.einsum("id,dm->im", Q, W_k)
    b = np.einsum("jd,dm->jm", K, W_q)
    hidden = np.tanh(np.expand_dims(a, 1) + np.expand_dims(b, 0))
    return np.einsum("ijm,m->ij", hidden, v)
''',
    ),
    dict(
        id='q-2.5-scaled-as-well', exercise='2.5', today='NAMED', words=('You divided by √d_k; general scores are not scal',),
        tutor='The scores are divided by the root of d_k. General scores have no scale: q W kᵀ and nothing else.',
        code=r'''
def general_scores(Q, K, W):
    """Score each pair with a learned bilinear form: q W kᵀ.

    Q: (T_q, d_q). K: (T_k, d_k). W: (d_q, d_k). Returns (T_q, T_k).
    Source: Luong, Pham and Manning 2015.
    """
    T_q, T_k = Q.shape[0], K.shape[0]
    S = np.zeros((T_q, T_k))
    for a in range(T_q):
        for b in range(T_k):
            S[a, b] = Q[a] @ W @ K[b]
    return S / math.sqrt(K.shape[1])
''',
    ),
    dict(
        id='q-2.6-multiplied-and-still-over-queries', exercise='2.6', today='NAMED', words=('You multiplied the scores by √d_k = 2 (dividing ', "The softmax runs down the columns, so each key's"), slow=True,
        tutor='Two mistakes are left: the scores are multiplied by the root of d_k instead of divided by it, and the softmax still runs over the queries (axis=-2) and must run over the keys (axis=-1).',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query, repaired.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    """
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores * d_k ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-2)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='q-3.1-keys-are-the-queries-backwards', exercise='3.1', today='NAMED', words=('Your keys are the queries in another order, so e',),
        tutor='The keys are not drawn: they are the same vectors as the queries in reverse order. So the pairs are not independent: the result reads the same from both ends, and for odd n the middle one is a query with itself. Draw a second array.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    """Dot products q · k of n pairs of independent random vectors.

    n: number of pairs. d_k: features per vector, each standard normal.
    rng: numpy Generator. Returns an array (n,), float64.
    """
    queries = rng.normal(loc=0.0, scale=1.0, size=(n, d_k))
    keys = queries[::-1]      # other vectors for every pair
    return np.array([np.dot(q, k) for q, k in zip(queries, keys)])
''',
    ),
    dict(
        id='q-3.2-bits-and-an-axis-too-many', exercise='3.2', today='NAMED', words=('You took logarithms to base 2, which gives bits;', 'Your result keeps an axis of length 1; one numbe'),
        tutor='Two mistakes: the logarithm is to the base 2, so the entropy comes in bits and not in nats (use np.log); and keepdims=True leaves an axis of length 1, (..., 1), where (...) is asked for.',
        code=r'''
def entropy(weights):
    """Entropy of each row, in nats: the weighted mean of -log(weight).

    weights: (..., n), not negative, each row sums to 1; left unchanged.
    Returns (...). A weight of 0 adds nothing.
    """
    logs = np.zeros(weights.shape)
    np.log2(weights, out=logs, where=weights > 0)   # stays 0 where the weight is 0
    return -np.sum(weights * logs, axis=-1, keepdims=True)
''',
    ),
    dict(
        id='q-3.3-one-row-only', exercise='3.3', today='NAMED', words=('np.diag and np.outer know a single row only: of ',),
        tutor='np.diag and np.outer know one row only: np.diag of a matrix takes its diagonal out, and np.outer flattens its inputs. Build both for every row, with p[..., :, None] and p[..., None, :].',
        code=r'''
def softmax_jacobian(p):
    """Derivative of every weight with respect to every score of its row.

    p: (..., n), the weights that softmax gave.
    Returns (..., n, n): row i, column j is ∂p_i / ∂score_j.
    """
    return np.diag(p) - np.outer(p, p)
''',
    ),
    dict(
        id='q-3.4-jacobian-built-after-all', exercise='3.4', today='NAMED', words=('The values are right, but a matrix (n, n) is bui',),
        tutor='The numbers are right, but the Jacobian (..., n, n) is built, which the task forbids. Multiply out on paper: weights * (d_weights - sum of weights * d_weights).',
        code=r'''
def softmax_backward(weights, d_weights):
    """Gradient of a loss with respect to the scores, without the Jacobian.

    weights: (..., n), the weights that softmax gave.
    d_weights: (..., n), the loss's gradient with respect to them.
    Returns d_scores (..., n): each row's Jacobian times its d_weights.
    """
    J = softmax_jacobian(weights)
    return np.einsum("...ij,...j->...i", J, d_weights)
''',
    ),
    dict(
        id='q-4.1-heads-before-the-batch', exercise='4.1', today='NAMED', words=('The heads stand in front of the batch, (h, B, T,',),
        tutor='The chunks are stacked as the first axis, so the result is (h, B, T, d_k). The batch comes first: stack along dim=1.',
        code=r'''
def split_heads(x, n_heads):
    """Deal the features of every position out to the heads.

    x: (B, T, d_model). n_heads: h, a divisor of d_model.
    Returns (B, h, T, d_k) with d_k = d_model / h:
    head i holds features i * d_k to (i + 1) * d_k - 1.
    """
    parts = torch.chunk(x, n_heads, dim=-1)      # h tensors of (B, T, d_k)
    return torch.stack(parts)
''',
    ),
    dict(
        id='q-4.2-heads-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each',),
        tutor="The head axis has been put last, behind d_k, so the heads are dealt into each other like cards. Each word's head 0 must stand first as a whole: the order before the reshape is (B, T, h, d_k).",
        code=r'''
def merge_heads(x):
    """Lay the heads of each position side by side: undo `split_heads`.

    x: (B, h, T, d_k). Returns (B, T, d_model) with d_model = h * d_k.
    """
    x = x.permute(0, 2, 3, 1)
    return x.flatten(start_dim=2)
''',
    ),
    dict(
        id='q-4.3-dropout-on-the-output', exercise='4.3', today='NAMED', words=('Dropout falls on single features, of the values ',),
        tutor='The dropout acts on the finished output, after W_o. It belongs on the weights, where they average the values: self.dropout(weights) @ V.',
        code=r'''
class MultiHeadAttention(nn.Module):
    """Self-attention in h heads; ValueError if h does not divide d_model."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model = %d cannot be shared by %d heads" % (d_model, n_heads))
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.n_heads = n_heads
        self.scale = (d_model // n_heads) ** -0.5
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask -> out as x, weights (B, h, T, T)."""
        Q = split_heads(self.W_q(x), self.n_heads) * self.scale
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = torch.matmul(Q, K.transpose(2, 3))
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -torch.inf)
        weights = nn.functional.softmax(scores, dim=-1)
        context = merge_heads(torch.matmul(weights, V))
        return self.dropout(self.W_o(context)), weights
''',
    ),
    dict(
        id='q-4.3-no-last-matrix-and-weak-check', exercise='4.3', today='NAMED', words=('The heads were joined but never mixed: pass the ', 'd_model = 10 with 3 heads is accepted and stops '), slow=True,
        tutor='Two mistakes: W_o is made but never applied to the merged heads, and the check only asks whether there are more heads than features. It must raise ValueError whenever h does not divide d_model, as for 10 and 3.',
        code=r'''
class MultiHeadAttention(nn.Module):
    """Self-attention in h heads; ValueError if h does not divide d_model."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads > d_model:
            raise ValueError(f"{n_heads} heads are too many for {d_model} features")
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.n_heads = n_heads
        self.dropout = nn.Dropout(dropout)

    def attend(self, q, k, v, mask):
        s = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, -torch.inf))
        w = torch.softmax(s, dim=-1)
        return self.dropout(w) @ v, w

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask -> out as x, weights (B, h, T, T)."""
        q, k, v = (split_heads(layer(x), self.n_heads)
                   for layer in (self.W_q, self.W_k, self.W_v))
        heads, w = self.attend(q, k, v, mask)
        out = merge_heads(heads)
        return out, w
''',
    ),
    dict(
        id='q-4.4-output-transposed-and-float32', exercise='4.4', today='NAMED', words=('W_o is transposed: both modules keep their matri', 'Your module stays in float32 although mha may ho'),
        tutor="Two mistakes: out_proj.weight is transposed although both modules keep their matrices in the same way, and the new module stays in float32 instead of taking over PyTorch's dtype (ours.to(mha.in_proj_weight.dtype)).",
        code=r'''
def from_torch(mha):
    """Our module with copies of the weights of PyTorch's.

    mha: nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True).
    Returns a MultiHeadAttention with the same n_heads, dropout and dtype.
    """
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    q, k, v = torch.split(mha.in_proj_weight, mha.embed_dim)
    ours.load_state_dict({
        "W_q.weight": q,
        "W_k.weight": k,
        "W_v.weight": v,
        "W_o.weight": mha.out_proj.weight.T,
    })
    return ours
''',
    ),
    dict(
        id='q-5.1-without-the-word-itself', exercise='5.1', today='NAMED', words=('One change in line 8 would make this right: look',),
        tutor='x[:t] stops before row t, so each mean leaves out the word itself. Row t is the mean of rows 0 to t: x[:t + 1].',
        code=r'''
def prefix_mean(x):
    """Mean of each word and all words before it.

    x: (T, d). Returns (T, d): row t is the mean of rows 0 to t of x.
    """
    means = [x[0]]                      # the first word has only itself
    for t in range(1, len(x)):
        means.append(x[:t].mean(dim=0))
    return torch.stack(means)
''',
    ),
    dict(
        id='q-5.2-meshgrid-the-other-way', exercise='5.2', today='NAMED', words=('Your mask shows each word the future and hides i',),
        tutor="With indexing='xy' meshgrid runs its first output along the columns, so queries and keys have changed places and the triangle stands upside down: query 0 sees everything. Rows are queries: indexing='ij', or the lower triangle with tril.",
        code=r'''
def causal_mask(T):
    """Who may look at whom when nobody may look ahead.

    T: number of words.
    Returns (T, T), bool, True = may attend: row t is True up to and
    including column t.
    """
    places = torch.arange(T)
    query, key = torch.meshgrid(places, places, indexing="xy")
    return key <= query
''',
    ),
    dict(
        id='q-5.3-own-word-counted-as-future', exercise='5.3', today='NAMED', words=('One change in line 12 would make this right: loo',), slow=True,
        tutor='triu() keeps the diagonal, so the influence of a word on its own output counts as a leak, and honest functions are accused. Only later words count: triu(diagonal=1).',
        code=r'''
def leaks_future(attend, x):
    """Whether any output before t changes when the words from t on change.

    attend: function from (T, d) to (T, d_v); it may draw random numbers,
    as dropout does. x: (T, d), left unchanged.
    Returns a bool: True if some output depends on a later word by more
    than rounding.
    """
    # derivative of every output with respect to every input
    J = torch.autograd.functional.jacobian(attend, x)      # (T, d_v, T, d)
    influence = J.abs().amax(dim=(1, 3))                   # (T, T)
    return bool((influence.triu() > 1e-6).any())
''',
    ),
    dict(
        id='q-5.4-zero-taken-for-padding', exercise='5.4', today='NAMED', words=('You took 0 for padding whatever pad_id says: compare with pa', 'With one change in line 8 they would in all: look at the comparison >.'),
        tutor='The padding is assumed to be token 0 and pad_id is not used. Compare with pad_id: another number may stand for padding, and 0 may be a word.',
        code=r'''
def padding_mask(tokens, pad_id):
    """Which keys are words and not padding, for all heads and queries alike.

    tokens: (B, T), integers. pad_id: the integer that stands for padding.
    Returns (B, 1, 1, T), bool, True = may attend.
    """
    B, T = tokens.shape
    return (tokens > 0).view(B, 1, 1, T)
''',
    ),
    dict(
        id='q-5.5-head-axis-squeezed-away', exercise='5.5', today='NAMED', words=('The axis for the heads is gone: (B, 1, T, T) is ',),
        tutor='The padding mask loses its head axis before the two are joined, so the result is (B, T, T). It must be (B, 1, T, T): join them as they are.',
        code=r'''
def combine_masks(padding, causal):
    """Allow a pair only if both masks allow it.

    padding: (B, 1, 1, T), bool. causal: (T, T), bool.
    Returns (B, 1, T, T), bool. True = may attend in all three.
    """
    keys = padding.squeeze(1)                   # (B, 1, T)
    return torch.logical_and(keys, causal)
''',
    ),
    dict(
        id='q-5.6-minus-a-billion-in-float16', exercise='5.6', today='NAMED', words=('Float16 ends at −65504, so −1e9 cannot be writte',),
        tutor='-1e9 is beyond the range of float16, so the call fails for scores in half precision. Use -inf (with the empty rows taken out before the softmax), or a value that fits the dtype.',
        code=r'''
def masked_softmax(scores, mask):
    """Softmax over the allowed keys of each row; zeros where none is allowed.

    scores: (..., T_q, T_k), floating point, finite.
    mask: bool, broadcastable to scores, True = may attend.
    Returns weights of scores' shape and dtype; hidden keys get exactly 0.
    Gradients with respect to scores are finite, and 0 in a row of zeros.
    """
    low = scores.masked_fill(torch.logical_not(mask), -1e9)
    weights = nn.functional.softmax(low, dim=-1)
    return weights * mask       # empty rows become zeros
''',
    ),
    dict(
        id='q-5.7-heads-reshaped-without-transpose', exercise='5.7', today='NAMED', words=('You joined the heads by a reshape alone, so that',),
        tutor='The result (B, h, T_q, d_k) is viewed as (B, T_q, d_model) directly, which mixes words and heads. First put the words in front of the heads: merge_heads.',
        code=r'''
class CrossAttention(nn.Module):
    """Attention in h heads in which one sequence asks and another answers."""

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
        B, T_q, d_model = x.shape
        T_k, d_k = memory.shape[1], d_model // self.n_heads
        q = self.W_q(x).view(B, T_q, self.n_heads, d_k).transpose(1, 2)
        k = self.W_k(memory).view(B, T_k, self.n_heads, d_k).transpose(1, 2)
        v = self.W_v(memory).view(B, T_k, self.n_heads, d_k).transpose(1, 2)
        scores = q.matmul(k.transpose(-1, -2)).div(math.sqrt(d_k))
        if memory_mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            weights = masked_softmax(scores, memory_mask)
        heads = weights.matmul(v)
        return self.W_o(heads.reshape(B, T_q, d_model)), weights
''',
    ),
    dict(
        id='q-6.1-equal-to-the-last-digit', exercise='6.1', today='NAMED', words=('You asked for equality to the last bit. Sums tak',),
        tutor='torch.equal wants every digit to agree. Sums in another order differ by rounding, so a function that is equivariant can be refused. Compare up to rounding, e.g. torch.allclose(..., atol=1e-5).',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    """Whether shuffling the rows of X shuffles the rows of f(X) in the same way.

    f: function from (T, d) to (T, d_out), torch tensors. X: (T, d), float.
    perm: (T,), 0 to T - 1 in some order.
    Returns a bool: True if all rows agree up to rounding.
    """
    before = f(torch.index_select(X, 0, perm))
    after = torch.index_select(f(X), 0, perm)
    return torch.equal(before, after)
''',
    ),
    dict(
        id='q-6.2-cosine-with-a-frequency-of-its-own', exercise='6.2', today='NAMED', words=('Each cosine has a frequency of its own in your t',),
        tutor='Each column uses its own number in the exponent, so the cosine in column 2i + 1 runs at another speed than the sine in column 2i. Both belong to pair i and use 2i: column - column % 2.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    """Give each position a row of sines and cosines, from fast waves to slow ones.

    max_len: number of positions. d_model: width, even or odd.
    Returns (max_len, d_model), float32: columns 2i and 2i + 1 are the sine and the
    cosine of position * 10000^(-2i / d_model) (Vaswani et al. 2017, section 3.5).
    """
    PE = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for col in range(d_model):
            angle = pos / 10000 ** (col / d_model)
            if col % 2 == 0:
                PE[pos, col] = math.sin(angle)
            else:
                PE[pos, col] = math.cos(angle)
    return PE
''',
    ),
    dict(
        id='q-6.3-blocks-for-halves', exercise='6.3', today='NAMED', words=('Your matrix is for encodings with all sines firs',),
        tutor='The four parts are laid out for sines in the left half and cosines in the right half. In this encoding the two of a pair are neighbours, so each block of two by two stands at rows and columns 2i and 2i + 1.',
        code=r'''
def shift_matrix(offset, d_model):
    """Matrix that moves every row of the sinusoidal encoding on by the same offset.

    offset: number of positions. d_model: width, even.
    Returns M (d_model, d_model), float32, with PE[p + offset] = M @ PE[p] for every p.
    """
    half = d_model // 2
    omega = 10000.0 ** (-2 * torch.arange(half) / d_model)
    C = torch.diag(torch.cos(offset * omega))
    S = torch.diag(torch.sin(offset * omega))
    top = torch.cat([C, S], dim=1)
    bottom = torch.cat([-S, C], dim=1)
    return torch.cat([top, bottom], dim=0)
''',
    ),
    dict(
        id='q-6.4-view-already-overwritten', exercise='6.4', today='NAMED', words=('The second line uses the even column after it wa',),
        tutor='a and b are views into out. After the even columns have been written, a holds the turned values, and the odd columns are computed from these instead of from the old ones. Take a and b from x.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    """Turn the column pairs (2i, 2i + 1) of each row by angles that grow with position.

    x: (..., T, d), floating point, d even; its rows stand at the positions offset,
    offset + 1, ...
    Returns a new tensor of x's shape and dtype: pair i of the row at position p is
    turned counter-clockwise by p * base^(-2i / d) radians (Su et al. 2021).
    """
    n, d = x.size(-2), x.size(-1)
    p = torch.arange(offset, offset + n, dtype=x.dtype).unsqueeze(-1)
    angle = p / base ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = angle.cos(), angle.sin()
    out = x.clone()
    a = out[..., 0::2]
    b = out[..., 1::2]
    out[..., 0::2] = a * c - b * s
    out[..., 1::2] = a * s + b * c
    return out
''',
    ),
    dict(
        id='q-6.5-halved-from-head-to-head', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right',),
        tutor='The slopes are 1/2, 1/4, 1/8, ... whatever the number of heads. That is right for eight heads only: head i of h has the slope 2^(-8i/h).',
        code=r'''
def alibi_bias(n_heads, T):
    """What ALiBi adds to the scores: minus distance times a slope of each head's own.

    n_heads: h, a power of two. T: number of words.
    Returns (h, T_q, T_k) = (h, T, T), float32: head i = 1 ... h has the slope
    2^(-8i / h), the distance is |q - k|; where k > q, any value (Press et al. 2022).
    """
    slopes = torch.tensor([0.5 ** i for i in range(1, n_heads + 1)])
    pos = torch.arange(T, dtype=torch.float32)
    relative = pos.view(1, T) - pos.view(T, 1)       # k - q, at most 0 below the diagonal
    return torch.einsum("h,qk->hqk", slopes, relative)
''',
    ),
    dict(
        id='q-6.6-one-row-for-each-sentence', exercise='6.6', today='NAMED', words=('You numbered the examples of the batch, so that ',),
        tutor='zip pairs each sentence with one row of pe, so all words of sentence 0 get pe[0], all of sentence 1 get pe[1]. The row belongs to the place of the word: add pe[:T] to every sentence.',
        code=r'''
def embed(tokens, E, pe):
    """Look up the vector of every token and add the row of its position.

    tokens: (B, T), integers. E: (n_tokens, d_model), a row for each token.
    pe: (max_len, d_model), a row for each position, max_len >= T.
    Returns (B, T, d_model).
    """
    rows = []
    for sentence, position in zip(tokens, pe):
        vectors = torch.stack([E[t] for t in sentence])
        rows.append(vectors + position)
    return torch.stack(rows)
''',
    ),
    dict(
        id='q-6.7-values-turned-and-no-scale', exercise='6.7', today='NAMED', words=('You turned the values too. Position should chang', 'The scores are not divided by √d_k = 2 (lesson 0'), slow=True,
        tutor='Two mistakes: the values are turned too, although a position should change where a word looks and not what it gets; and the scores are not divided by the root of d_k.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    """Scaled causal self-attention of one sequence, with Q and K turned by position.

    X (T, d_model), W_q, W_k (d_model, d_k), d_k even, W_v (d_model, d_v) -> (T, d_v).
    """
    Q, K, V = (rope(X @ W) for W in (W_q, W_k, W_v))
    scores = torch.einsum("id,jd->ij", Q, K)
    T = len(X)
    future = torch.triu(torch.ones(T, T), diagonal=1) == 1
    A = scores.masked_fill(future, float("-inf")).softmax(dim=1)
    return torch.einsum("ij,jd->id", A, V)
''',
    ),
    dict(
        id='q-7.1-keys-mixed-for-keys', exercise='7.1', today='NAMED', words=('With letters for the sizes, your result is 2·T_k',),
        tutor='Mixing is counted as T_k * T_k * d_v multiply-adds. There is one output row for each query: T_q * d_v entries of T_k multiply-adds.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    """FLOPs of the two matrix products of one head, Q Kᵀ and weights V.

    A multiply-add is 2 FLOPs. T_q, T_k: numbers of queries and keys.
    d_k: width of queries and keys. d_v: width of values. Returns an int.
    """
    def matmul(n, m, p):            # (n, m) @ (m, p)
        return 2 * n * m * p

    return matmul(T_q, d_k, T_k) + matmul(T_k, T_k, d_v)
''',
    ),
    dict(
        id='q-7.2-three-matrices-and-one-flop', exercise='7.2', today='PARTLY',
        tutor='Two mistakes: only W_q, W_k and W_v are counted and W_o is forgotten (there are four), and a multiply-add counts as 1 where it is 2 FLOPs.',
        code=r'''
def projection_flops(T, d_model):
    """FLOPs of the four projections W_q, W_k, W_v and W_o of T words.

    A multiply-add is 2 FLOPs. T: number of words. d_model: each projection is
    (d_model, d_model), all heads together. Returns an int.
    """
    per_word = d_model ** 2
    return T * sum(per_word for _ in "QKV")
''',
    ),
    dict(
        id='q-7.3-mixing-left-out', exercise='7.3', today='NAMED', words=('You returned 4 · d_model, which is right for one',),
        tutor='Only scoring is set equal to the projections: 2 T² d = 8 T d². Mixing costs as much again, so it is 4 T² d = 8 T d², and T is 2 * d_model.',
        code=r'''
def crossover_length(d_model):
    """Number of words at which scoring and mixing cost as much as the four projections.

    d_model: width of the layer, all heads together.
    Returns the length T of self-attention at which both cost the same FLOPs.
    """
    # 2 * T * T * d_model == 4 * 2 * T * d_model * d_model, divide by 2 * T * d_model
    T = 4 * d_model
    return T
''',
    ),
    dict(
        id='q-7.4-always-four-bytes', exercise='7.4', today='NAMED', words=('You took 4 bytes a number, whatever itemsize says.',),
        tutor='The size of a float32 is used, so a number always takes 4 bytes and itemsize is ignored. Multiply B * H * T * T by itemsize.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    """Bytes of all scores of a layer of self-attention.

    B: sequences in the batch. H: heads. T: words in a sequence.
    itemsize: bytes of one number, 4 for float32. Returns an int.
    """
    n_scores = 1
    for size in (B, H, T, T):
        n_scores *= size
    return n_scores * np.dtype(np.float32).itemsize
''',
    ),
    dict(
        id='q-7.5-line-through-the-origin', exercise='7.5', today='NAMED', words=('Your line is forced through the origin, which me',),
        tutor='sum(xy) / sum(x²) is the slope of a line through the origin, without an intercept. The power law has a factor c, which is the intercept log c: subtract the means of x and y first.',
        code=r'''
def fit_exponent(sizes, costs):
    """Exponent p of the power law costs ≈ c · sizes^p.

    It is the slope of the least-squares line through the logarithms.
    sizes, costs: (n,), n >= 2, positive, in any unit. Returns a float.
    """
    log_s = np.log(np.asarray(sizes, dtype=float))
    log_c = np.log(np.asarray(costs, dtype=float))
    p = np.sum(log_s * log_c) / np.sum(log_s ** 2)
    return float(p)
''',
    ),
    dict(
        id='q-8.1-sum-already-divided', exercise='8.1', today='NAMED', words=('One change in line 14 would make this right: loo',), slow=True,
        tutor='The sum is divided by the total before it is returned. The state carries the sum itself, not yet normalised; out / total is taken once, after all parts are merged.',
        code=r'''
def merge(first, second):
    """Merge two states (maximum, total, out) of the same queries into one state."""
    M = torch.maximum(first[0], second[0])
    safe = torch.where(torch.isinf(M), torch.zeros_like(M), M)

    def rescaled(state):
        m, total, weighted = state
        f = torch.exp(m - safe)
        return total * f, weighted * f

    t1, w1 = rescaled(first)
    t2, w2 = rescaled(second)
    total = t1 + t2
    mean = (w1 + w2) / torch.where(total > 0, total, torch.ones_like(total))
    return M, total, mean
''',
    ),
    dict(
        id='q-8.2-all-scores-first', exercise='8.2', today='NAMED', words=('The numbers are right, and the memory is not: fo',),
        tutor="The whole matrix of scores is made before it is cut into tiles, so the memory is that of a T_q × T_k matrix, which the task forbids. Compute each tile's scores inside the inner loop.",
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    """Softmax attention, a tile of queries and a tile of keys at a time.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v). Returns (..., T_q, d_v).
    causal: query i sees the keys up to i, and T_q = T_k. tile: words in a tile.
    Tensors alive at once take less memory than a matrix (T_q, T_k) of scores.
    """
    T_q, T_k = Q.shape[-2], K.shape[-2]
    S = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(Q.shape[-1])
    if causal:
        S = S.masked_fill(~causal_mask(T_q), -torch.inf)
    blocks = []
    for i in range(0, T_q, tile):
        state = nothing_seen(Q[..., i:i + tile, :], V)
        for j in range(0, min(T_k, i + tile) if causal else T_k, tile):
            piece = S[..., i:i + tile, j:j + tile]
            state = merge(state, state_of(piece, V[..., j:j + tile, :]))
        blocks.append(state[2] / state[1])
    return torch.cat(blocks, -2)
''',
    ),
    dict(
        id='q-8.3-one-place-too-many', exercise='8.3', today='NAMED', words=('Each word sees 3 words before it and itself, one',),
        tutor="triu(-window) keeps the places 0 to window steps back, which is window + 1 places. The word's own place is one of the window: triu(-(window - 1)).",
        code=r'''
def window_mask(T, window):
    """Causal mask (T, T), bool, True = may attend, of the last few places.

    T: number of words. window: number of places seen, the word's own included.
    """
    seen = torch.ones(T, T, dtype=torch.bool)
    return seen.tril(0).triu(-window)
''',
    ),
    dict(
        id='q-8.4-future-in-the-denominator', exercise='8.4', today='NAMED', words=('With causal=True your normaliser sums over all k',),
        tutor="In the causal case the sum of values runs up to the query's own place, but the denominator sums φ(k) over all keys, the later ones included. It needs the cumsum of φ(k), too.",
        code=r'''
def linear_attention(Q, K, V, causal=False):
    """Attention with the weights φ(q) · φ(k) in place of exp(q · k), φ = elu + 1.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v). Returns (..., T_q, d_v).
    causal: query i sees the keys up to i, and T_q = T_k.
    """
    fq = F.elu(Q) + 1
    fk = F.elu(K) + 1
    outer = torch.einsum("...td,...tv->...tdv", fk, V)
    if causal:
        memory = torch.cumsum(outer, dim=-3)
        top = torch.einsum("...td,...tdv->...tv", fq, memory)
    else:
        memory = outer.sum(dim=-3)
        top = torch.einsum("...td,...dv->...tv", fq, memory)
    bottom = torch.einsum("...td,...d->...t", fq, fk.sum(dim=-2))
    return top / bottom.unsqueeze(-1)
''',
    ),
    dict(
        id='q-8.5-triangle-from-the-top-left', exercise='8.5', today='NAMED', words=('Your mask starts at the top left, as if the new ',),
        tutor='is_causal=True lines the triangle up at the top left: new word n sees only the first n + 1 cached keys. It must see all keys up to its own place T_old + n, so give a mask of your own, e.g. a triangle with diagonal T_old.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    """Causal attention, with RoPE, of new words to the cached ones and themselves.

    layer: a MultiHeadAttention. x_new: (B, T_new, d_model). Returns x_new's shape.
    cache: a dict of "K", turned by RoPE, and "V", (B, h, T_old, d_k) each, which is
    changed: afterwards both hold the new words too, (B, h, T_old + T_new, d_k).
    """
    start = cache["K"].shape[-2]
    to_heads = partial(split_heads, n_heads=layer.n_heads)
    q = rope(to_heads(layer.W_q(x_new)), offset=start)
    k = rope(to_heads(layer.W_k(x_new)), offset=start)
    v = to_heads(layer.W_v(x_new))
    for name, piece in {"K": k, "V": v}.items():
        cache[name] = torch.cat([cache[name], piece], dim=-2)
    seen = F.scaled_dot_product_attention(q, cache["K"], cache["V"], is_causal=True)
    return layer.W_o(merge_heads(seen))
''',
    ),
    dict(
        id='q-8.6-values-copied-by-turns', exercise='8.6', today='NAMED', words=('The values are dealt out by turns, and the keys ',),
        tutor='The keys are copied with repeat_interleave (0, 0, 1, 1), but the values with repeat (0, 1, 0, 1), so most heads average the values of another head. Both need repeat_interleave.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    """Attention of h heads of queries that share g heads of keys and values.

    Q: (B, h, T_q, d_k). K: (B, g, T_k, d_k). V: (B, g, T_k, d_v).
    mask: bool, broadcastable to (B, h, T_q, T_k). Returns (B, h, T_q, d_v).
    """
    share = Q.shape[1] // K.shape[1]
    K = torch.repeat_interleave(K, share, dim=1)
    V = V.repeat(1, share, 1, 1)
    logits = torch.einsum("bhqd,bhkd->bhqk", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), -torch.inf)
    return torch.einsum("bhqk,bhkv->bhqv", F.softmax(logits, dim=-1), V)
''',
    ),
    dict(
        id='q-8.7-itemsize-taken-for-bits', exercise='8.7', today='NAMED', words=('One change in line 9 would make this right: look',),
        tutor='The result is divided by 8 as if itemsize were bits. It is already the number of bytes of one number.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    """Bytes of the keys and values that a model keeps of one text.

    n_kv_heads: heads with keys and values of their own. d_head: width of a head.
    itemsize: bytes of one number, 2 for 16 bits. Returns an int.
    """
    shape_K = (n_layers, n_kv_heads, n_tokens, d_head)
    bits = 2 * math.prod(shape_K) * itemsize
    return bits // 8
''',
    ),
    dict(
        id='q-8.8-last-word-not-counted', exercise='8.8', today='NAMED', words=('This is how far back the stack reaches, 1 · (8 −',),
        tutor='The word that asks is left out: these are the steps back. The last word is included, so add 1: n_layers * (window - 1) + 1.',
        code=r'''
def reach(n_layers, window):
    """Number of words, the last included, that can change a stack's last output.

    n_layers: number of layers. window: number of places each one sees.
    """
    return sum(window - 1 for _ in range(n_layers))
''',
    ),
    dict(
        id='q-9.1-shift-before-the-scale', exercise='9.1', today='NAMED', words=('The shift is multiplied by the scale too: multip',),
        tutor='The shift is added before the multiplication with scale, so it is scaled too. First scale, then shift: scale * normed + shift.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    """Give each position's features mean 0 and variance 1, then scale and shift them.

    x: (..., d), floating point. scale, shift: (d,). eps: added to the variance, which
    divides by d. Returns x's shape and dtype (Ba, Kiros and Hinton 2016).
    """
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    normed = (x - mean) * torch.rsqrt(variance + eps)
    return torch.mul(normed + shift, scale)
''',
    ),
    dict(
        id='q-9.2-skip-takes-the-normed-x', exercise='9.2', today='NAMED', words=('Both skips carry the normed x. What is added to ',),
        tutor='x is replaced by its normed copy before the skip, so what is added to is the norm and not x itself. Keep x: x = x + attention(norm_1(x)), and the same in the second half.',
        code=r'''
class Block(nn.Module):
    """Attention, then a feed-forward network, each behind a norm and beside a skip."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        layers = [nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model)]
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(*layers)

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask as for the attention -> (B, T, d_model)."""
        x = self.norm_1(x)
        found, weights = self.attention(x, mask)
        x = x + found
        x = self.norm_2(x)
        return x + self.feed_forward(x)
''',
    ),
    dict(
        id='q-9.3-mask-made-and-not-used', exercise='9.3', today='NAMED', words=('The blocks get no mask, so every position sees t',),
        tutor='The causal mask is built, but the blocks are called without it, so every position sees the answer. Pass it: block(x, mask).',
        code=r'''
class TinyGPT(nn.Module):
    """Blocks that score, at every position, each token that may come next."""

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.Sequential(*[Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)
        self.max_len = max_len

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of each next token (B, T, n_tokens)."""
        mask = causal_mask(tokens.size(1))
        x = self.embedding(tokens)
        x = self.blocks(x)
        return self.head(self.norm(x))
''',
    ),
    dict(
        id='q-9.3-hidden-list-and-no-last-norm', exercise='9.3', today='NAMED', words=('plain Python list', 'self.norm is made here and never used'), slow=True,
        tutor='Two mistakes: the blocks are kept in a plain Python list, so PyTorch does not see their parameters and they are never trained (use nn.ModuleList); and the last norm is made but not applied before the head.',
        code=r'''
class TinyGPT(nn.Module):
    """Blocks that score, at every position, each token that may come next."""

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = []
        for layer in range(n_layers):
            self.blocks.append(Block(d_model, n_heads))
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of each next token (B, T, n_tokens)."""
        x = self.embedding(tokens)
        allowed = causal_mask(tokens.shape[-1])
        for block in self.blocks:
            x = block(x, allowed)
        return self.head(x)
''',
    ),
    dict(
        id='q-9.4-previous-token-as-target', exercise='9.4', today='NAMED', words=('The shift goes the wrong way: position t is to p',),
        tutor='The shift goes the wrong way: position t is compared with the token before it, t - 1. logits[:, :-1] belong to tokens[:, 1:].',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    """How surprised the model is by each token that really came next, on average.

    logits: (B, T, V). tokens: (B, T), integers; position t is to predict the token
    at t + 1. pad_id: tokens of this number are no targets. Returns the mean
    cross-entropy in nats, a tensor without axes.
    """
    predicted = logits[:, 1:]
    target = tokens[:, :-1]
    ignore = -100 if pad_id is None else pad_id
    return F.cross_entropy(predicted.transpose(1, 2), target, ignore_index=ignore)
''',
    ),
    dict(
        id='q-9.5-multiplied-and-cut-after-the-softmax', exercise='9.5', today='NAMED', words=('You multiplied by the temperature, so cold makes', 'Forbidden tokens are set to 0 after the softmax,'),
        tutor='Two mistakes: the logits are multiplied by the temperature instead of divided by it, and the small probabilities are set to 0 after the softmax, so the rest no longer sums to 1. Forbid with -inf before the softmax (or divide by the new sum).',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    """Turn the scores of the next token into probabilities to draw from.

    logits: (..., V). temperature: above 0; below 1 sharpens, above 1 flattens.
    top_k: 1 to V. Only the k largest may be drawn, and any that equal the smallest of
    these; None: all may. Returns (..., V); the last axis sums to 1.
    """
    p = torch.softmax(logits * temperature, dim=-1)
    if top_k is not None:
        threshold = p.sort(dim=-1, descending=True).values[..., top_k - 1].unsqueeze(-1)
        p = torch.where(p >= threshold, p, torch.zeros_like(p))
    return p
''',
    ),
    dict(
        id='q-9.6-beginning-missing-from-the-result', exercise='9.6', today='NAMED', words=('Only the new tokens are returned; the beginning ',),
        tutor='Only the new tokens are returned, (B, n_new). The beginning belongs to the result: (B, T + n_new).',
        code=r'''
def generate(model, tokens, n_new, choose):
    """Let a model write on, one token at a time.

    model: (B, T) tokens -> (B, T, V) logits; it is shown at most the last
    model.max_len tokens. tokens: (B, T), the beginning. n_new: how many to add.
    choose: (B, V) logits -> (B,) tokens. Returns (B, T + n_new).
    """
    written = tokens.new_empty(len(tokens), 0)
    with torch.inference_mode():
        while written.shape[1] < n_new:
            context = torch.cat([tokens, written], dim=1)[:, -model.max_len:]
            last = model(context)[:, -1]
            written = torch.cat([written, choose(last).unsqueeze(1)], dim=1)
    return written
''',
    ),
    dict(
        id='q-10.1-bias-before-the-last-matrix', exercise='10.1', today='NAMED', words=('You added b_o before W_o. A bias follows its pro',),
        tutor='b_o is added to the merged heads before the product with W_o. Each bias comes after its product: merged @ W_o.T + b_o.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    """Multi-head self-attention as BERT has it: with a bias after each product.

    x: (B, T, d_model). n_heads: h.
    layer: has W_q, W_k, W_v, W_o, each (d_model, d_model) as (out, in), and
    b_q, b_k, b_v, b_o, each (d_model,).
    mask: None, or bool, broadcastable to (B, h, T, T), True = may attend.
    Returns out (B, T, d_model) and weights (B, h, T, T).
    """
    q = split_heads(F.linear(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(F.linear(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(F.linear(x, layer.W_v, layer.b_v), n_heads)
    scores = (q @ k.mT).div(math.sqrt(k.size(-1)))
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    merged = merge_heads(weights @ v) + layer.b_o
    return F.linear(merged, layer.W_o), weights
''',
    ),
    dict(
        id='q-10.1-weights-averaged-over-heads', exercise='10.1', today='NAMED', words=('You averaged the weights over the heads; those o',),
        tutor='The weights are averaged over the heads before they are returned, (B, T, T). The weights of all heads are asked for: (B, h, T, T).',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    """Multi-head self-attention as BERT has it: with a bias after each product.

    x: (B, T, d_model). n_heads: h.
    layer: has W_q, W_k, W_v, W_o, each (d_model, d_model) as (out, in), and
    b_q, b_k, b_v, b_o, each (d_model,).
    mask: None, or bool, broadcastable to (B, h, T, T), True = may attend.
    Returns out (B, T, d_model) and weights (B, h, T, T).
    """
    B, T, d_model = x.shape
    d_k = d_model // n_heads
    names = "qkv"
    z = {n: x @ getattr(layer, "W_" + n).T + getattr(layer, "b_" + n) for n in names}
    q, k, v = (z[n].view(B, T, n_heads, d_k).permute(0, 2, 1, 3) for n in names)
    att = torch.einsum("bhid,bhjd->bhij", q, k) / d_k ** 0.5
    if mask is not None:
        att = att.masked_fill(mask == 0, -torch.inf)
    att = att.softmax(-1)
    out = torch.einsum("bhij,bhjd->bihd", att, v).reshape(B, T, d_model)
    return out @ layer.W_o.T + layer.b_o, att.mean(dim=1)
''',
    ),
    dict(
        id='q-10.2-subject-must-beat-every-word', exercise='10.2', today='NAMED', words=('You asked for the largest weight of the whole ro',),
        tutor='This asks whether the subject gets the largest weight of the whole row. It only has to get more than the other noun: compare the weights at the two places with >.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    """How often a verb gives its subject more weight than the other noun, by head.

    weights: (N, ..., T, T), a row for each token that looks.
    verb, subject, other: (N,), their places.
    Returns (...,): the share of the N sentences, between 0 and 1; a tie does not count.
    """
    hits = []
    for n, (v, s) in enumerate(zip(verb, subject)):
        row = weights[n][..., v, :]              # whom the verb looks at
        hits.append(row.argmax(dim=-1) == s)
    return torch.stack(hits).float().mean(0)
''',
    ),
    dict(
        id='q-10.3-divided-by-all-places', exercise='10.3', today='NAMED', words=('You divided every text by T = 11 (a plain mean o',),
        tutor='mean(dim=1) divides by T, padding included. Divide the sum by the number of tokens in each text: mask.sum(dim=1, keepdim=True).',
        code=r'''
def mean_pool(hidden, mask):
    """One vector for each text: the mean over its tokens, padding left out.

    hidden: (B, T, d). mask: (B, T), bool, True = a token; every row has a True.
    Returns (B, d).
    """
    padding = mask.logical_not().unsqueeze(-1)
    clean = hidden.masked_fill(padding, 0.0)
    return torch.mean(clean, dim=1)
''',
    ),
    dict(
        id='q-10.4-one-norm-for-the-whole-corpus', exercise='10.4', today='NAMED', words=('You divided the corpus by one norm, that of the ',),
        tutor='corpus.norm() without dim is one number for the whole matrix, so long rows still win and the results are not cosines. Each row has its own norm: corpus.norm(dim=1, keepdim=True).',
        code=r'''
def search(query, corpus, k):
    """The k rows of a corpus that point most nearly in a query's direction.

    query: (d,). corpus: (n, d), n >= k. Neither need be normalised.
    Returns indices (k,) and cosines (k,), the largest cosine first.
    """
    q = query / torch.linalg.norm(query)
    C = corpus / torch.linalg.norm(corpus)
    cosines = torch.einsum("nd,d->n", C, q)
    order = torch.argsort(cosines, descending=True)[:k]
    return order, cosines[order]
''',
    ),
]
