"""Sixty wrong answers to all exercises, written without the catalogue and without the engines at hand, each with what a
good tutor would say of it. `today` is how strictly its report was judged: NAMED (all that is wrong is named, or pointed
at by line and kind), PARTLY (one of two, or the line alone), GENERIC (only numbers), FALSE (says what is untrue).
`words` stand in the report of those that are NAMED. slow: its report takes long, so that only its verdict is tested.
"""

ATTEMPTS = [
    dict(
        id='u-0.1-squared-and-values', exercise='0.1', today='GENERIC',
        tutor='Two mistakes: each weight is squared in the sum, and the divisor is the sum of the values.',
        code=r"""
def weighted_average(values, weights):
    top = 0
    for v, w in zip(values, weights):
        top += v * w ** 2
    return top / sum(values)
""",
    ),
    dict(
        id='u-1.1-query-normalised', exercise='1.1', today='NAMED', words=('length', 'counts'),
        tutor='The query is scaled to length 1; the dot product takes it as it is.',
        code=r"""
def similarities(query, keys):
    unit = query / np.sqrt((query ** 2).sum())
    return np.array([unit @ k for k in keys])
""",
    ),
    dict(
        id='u-1.2-sharpness-after', exercise='1.2', today='NAMED', words=('Multiply', 'exponential'),
        tutor='The sharpness multiplies the weights after the softmax; it belongs to the scores before exp.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = keys @ query
    e = np.exp(scores - scores.max())
    weights = e / e.sum() * sharpness
    return weights @ values, weights
""",
    ),
    dict(
        id='u-1.2-divide-and-square', exercise='1.2', today='GENERIC', slow=True,
        tutor='Two mistakes: the scores are divided by the sharpness (it multiplies), and the weights are normalised by the sum of the scores rather than of the exponentials.',
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = (keys @ query) / sharpness
    weights = np.exp(scores) / np.sum(scores)
    value = weights @ values
    return value, weights
""",
    ),
    dict(
        id='u-1.3-shared-projection', exercise='1.3', today='NAMED', words=('came', 'matrix'),
        tutor='K is projected by W_q; it has its own W_k.',
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = np.dot(X, W_q)
    K = np.dot(X, W_q)
    V = np.dot(X, W_v)
    return Q, K, V
""",
    ),
    dict(
        id='u-1.3-order-and-matrix', exercise='1.3', today='NAMED', words=('exchanged', 'the name W_q'),
        tutor='Two mistakes: the keys are made with W_q, and K and V are returned in the other order.',
        code=r"""
def project(X, W_q, W_k, W_v):
    q = X @ W_q
    k = X @ W_q
    v = X @ W_v
    return q, v, k
""",
    ),
    dict(
        id='u-1.4-wrong-letters', exercise='1.4', today='NAMED', words=('transposed', 'transpose'),
        tutor='The einsum gives row i to key i: the letters of the result are in the other order (k q).',
        code=r"""
def dot_product_scores(Q, K):
    return np.einsum("...id,...jd->...ji", Q, K)
""",
    ),
    dict(
        id='u-1.5-identity', exercise='1.5', today='NAMED', words=('kind', 'kind'),
        tutor='Both projections keep all features: are then looks for itself; only number (and noun) should be matched.',
        code=r"""
def design_projections():
    return np.eye(4), np.eye(4)
""",
    ),
    dict(
        id='u-2.1-global-sum-max-axis0', exercise='2.1', today='NAMED', words=('the shape that max leaves', 'the axis of sum'),
        tutor='Two mistakes: the sum is always along the last axis whatever axis says, and keepdims is missing at the maximum.',
        code=r"""
def softmax(x, axis=-1):
    m = np.max(x, axis=axis)
    e = np.exp(x - m)
    return e / np.sum(e, axis=-1, keepdims=True)
""",
    ),
    dict(
        id='u-2.2-mask-multiplies', exercise='2.2', today='NAMED', words=('less', 'Mask'),
        tutor='The mask multiplies the weights after the softmax, so the rows no longer sum to 1; mask the scores before.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights
""",
    ),
    dict(
        id='u-2.2-tokens-and-inverted', exercise='2.2', today='NAMED', words=('adds', 'inverted'),
        tutor='Two mistakes: scaled by the number of keys rather than by d_k, and the mask is inverted: True may attend.',
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(K.shape[-2])
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    w = softmax(scores, axis=-1)
    return np.einsum("...qk,...kv->...qv", w, V), w
""",
    ),
    dict(
        id='u-2.3-swapped-and-x', exercise='2.3', today='NAMED', words=('project', 'attention'),
        tutor='Two mistakes: W_q and W_k are exchanged, and the values are X itself, not X W_v.',
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_k
    K = X @ W_q
    return scaled_dot_product_attention(Q, K, X, mask)
""",
    ),
    dict(
        id='u-2.4-product-and-sigmoid', exercise='2.4', today='NAMED', words=('logistic', 'the operator *'),
        tutor='Two mistakes: the projections are multiplied rather than added, and the nonlinearity is a sigmoid, not tanh.',
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    hidden = (Q @ W_q)[:, None] * (K @ W_k)[None]
    return (1 / (1 + np.exp(-hidden))) @ v
""",
    ),
    dict(
        id='u-2.5-scaled', exercise='2.5', today='NAMED', words=('general', 'learn'),
        tutor='The general score is not divided by the root of a width.',
        code=r"""
def general_scores(Q, K, W):
    return Q @ W @ K.T / np.sqrt(K.shape[1])
""",
    ),
    dict(
        id='u-2.6-two-left', exercise='2.6', today='NAMED', words=('even', 'next'),
        tutor='Two of the bugs remain: the scores are divided by d_k without the root, and the mask fills with 0.',
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / d_k
    if mask is not None:
        scores = np.where(mask, scores, 0.0)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id='u-3.1-uniform-mean', exercise='3.1', today='NAMED', words=('uniform', 'shrinks'),
        tutor='Two mistakes: the features are uniform rather than standard normal, and the products are averaged, not summed.',
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.uniform(-1, 1, size=(n, d_k))
    k = rng.uniform(-1, 1, size=(n, d_k))
    return (q * k).mean(axis=1)
""",
    ),
    dict(
        id='u-3.2-log2-sign', exercise='3.2', today='NAMED', words=('minus sign', 'base 2'),
        tutor='Two mistakes: the logarithm is to base 2 (nats need the natural one) and the minus sign is missing.',
        code=r"""
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return np.sum(weights * np.log2(safe), axis=-1)
""",
    ),
    dict(
        id='u-3.3-plus-outer-squared', exercise='3.3', today='NAMED', words=('what stands after the *', 'the operator +'),
        tutor='Two mistakes: the outer product is added rather than subtracted, and the diagonal holds p squared.',
        code=r"""
def softmax_jacobian(p):
    outer = p[..., :, None] * p[..., None, :]
    diag = np.eye(p.shape[-1]) * (p ** 2)[..., None]
    return diag + outer
""",
    ),
    dict(
        id='u-3.4-mean-not-weighted', exercise='3.4', today='NAMED', words=('gradients', 'under'),
        tutor='The plain mean of d_weights is subtracted; subtract their mean weighted by the weights.',
        code=r"""
def softmax_backward(weights, d_weights):
    centred = d_weights - d_weights.mean(axis=-1, keepdims=True)
    return weights * centred
""",
    ),
    dict(
        id='u-4.1-dk-first', exercise='4.1', today='NAMED', words=('split', 'Head'),
        tutor='The features are cut into d_k pieces of h rather than h pieces of d_k: head i gets every h-th feature.',
        code=r"""
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    d_k = d_model // n_heads
    return x.reshape(B, T, d_k, n_heads).permute(0, 3, 1, 2)
""",
    ),
    dict(
        id='u-4.2-no-transpose', exercise='4.2', today='NAMED', words=('moved', 'exchange'),
        tutor='The head axis is not moved back next to the features before reshaping; positions and heads get mixed.',
        code=r"""
def merge_heads(x):
    B, H, T, d = x.shape
    return x.contiguous().view(B, T, H * d)
""",
    ),
    dict(
        id='u-4.3-scale-d-model-no-wo', exercise='4.3', today='NAMED', words=('terms', 'n_heads'), slow=True,
        tutor='Two mistakes: the scores are scaled by d_model rather than d_k, and the output projection is never applied.',
        code=r"""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.d_model = d_model
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = merge_heads(self.dropout(weights) @ V)
        return out, weights
""",
    ),
    dict(
        id='u-4.4-chunks-order', exercise='4.4', today='NAMED', words=('in_proj_weight', 'exchanged'),
        tutor='The packed weight holds q, k, v in this order; here the first third goes to the keys and the second to the queries.',
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    ours = ours.to(mha.in_proj_weight.dtype)
    W_k, W_q, W_v = mha.in_proj_weight.chunk(3)
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q)
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours
""",
    ),
    dict(
        id='u-5.1-suffix', exercise='5.1', today='NAMED', words=('averages', 'stand'),
        tutor='Two mistakes: triu lets each word look at those after it, and each row is divided by T rather than by how many words it averages.',
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    W = torch.triu(torch.ones(T, T, dtype=x.dtype)) / T
    return W @ x
""",
    ),
    dict(
        id='u-5.2-blocked', exercise='5.2', today='NAMED', words=('opposite', 'marked'),
        tutor='True marks what is hidden here; True must mean may attend.',
        code=r"""
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
""",
    ),
    dict(
        id='u-5.3-last-only', exercise='5.3', today='GENERIC', slow=True,
        tutor='Only the last word is changed, so a look at a middle word ahead is found only if it is the last; change the words from each t on. And the random numbers are not drawn alike for both runs.',
        code=r"""
def leaks_future(attend, x):
    changed = x.clone()
    changed[-1] += 1.0
    before = attend(x)[:-1]
    after = attend(changed)[:-1]
    return not torch.allclose(before, after, atol=1e-6)
""",
    ),
    dict(
        id='u-5.4-eq-and-axis', exercise='5.4', today='NAMED', words=('marked', 'against'),
        tutor='Two mistakes: == marks the padding rather than the words, and the mask lacks one of its two middle axes.',
        code=r"""
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, :]
""",
    ),
    dict(
        id='u-5.5-or', exercise='5.5', today='NAMED', words=('permission', 'allow'),
        tutor='| allows a pair if one mask allows it; both must: &.',
        code=r"""
def combine_masks(padding, causal):
    return padding | causal
""",
    ),
    dict(
        id='u-5.6-after-without-normalising', exercise='5.6', today='NAMED', words=('denominator', 'future'),
        tutor='Masked weights are set to 0 after the softmax, and the rest no longer sums to 1.',
        code=r"""
def masked_softmax(scores, mask):
    weights = scores.softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
""",
    ),
    dict(
        id='u-5.7-roles-exchanged', exercise='5.7', today='NAMED', words=('answers', 'masked_softmax'), slow=True,
        tutor='The roles are exchanged: x asks (queries), and the memory gives keys and values.',
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
        q = split_heads(self.W_q(memory), self.n_heads)
        k = split_heads(self.W_k(x), self.n_heads)
        v = split_heads(self.W_v(x), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if memory_mask is not None:
            scores = scores.masked_fill(~memory_mask, float("-inf"))
        weights = scores.softmax(dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    dict(
        id='u-6.1-wrong-side', exercise='6.1', today='NAMED', words=('Equivariance', 'perm'),
        tutor='f(X[perm]) is compared with f(X), which tests invariance; permute the rows of f(X) too.',
        code=r"""
def is_permutation_equivariant(f, X, perm):
    return torch.allclose(f(X[perm]), f(X), atol=1e-5)
""",
    ),
    dict(
        id='u-6.2-halves-from-one', exercise='6.2', today='NAMED', words=('reads', 'cosines'),
        tutor='Two mistakes: sines fill the left half and cosines the right rather than alternating, and positions begin at 1.',
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(1, max_len + 1, dtype=torch.float32).unsqueeze(1)
    exponent = torch.arange(0, d_model, 2, dtype=torch.float32) / d_model
    angle = pos / torch.pow(torch.tensor(10000.0), exponent)
    return torch.cat([angle.sin(), angle.cos()], dim=1)[:, :d_model]
""",
    ),
    dict(
        id='u-6.3-sign', exercise='6.3', today='NAMED', words=('cosine', 'since'),
        tutor='The signs of the sines are exchanged: this matrix moves the rows back by the offset.',
        code=r"""
def shift_matrix(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        a = torch.tensor(offset / 10000 ** (2 * i / d_model))
        M[2 * i, 2 * i] = torch.cos(a)
        M[2 * i, 2 * i + 1] = -torch.sin(a)
        M[2 * i + 1, 2 * i] = torch.sin(a)
        M[2 * i + 1, 2 * i + 1] = torch.cos(a)
    return M
""",
    ),
    dict(
        id='u-6.4-clockwise-no-offset', exercise='6.4', today='NAMED', words=('matters', 'clockwise'), slow=True,
        tutor='Two mistakes: the pairs turn clockwise (the signs of the sines), and the offset is ignored.',
        code=r"""
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    pos = torch.arange(T, dtype=x.dtype)
    freq = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angle = pos[:, None] * freq
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = a * c + b * s
    out[..., 1::2] = b * c - a * s
    return out
""",
    ),
    dict(
        id='u-6.5-exponent-over-length', exercise='6.5', today='NAMED', words=('the name T',),
        tutor='The exponent is divided by the number of words; it is divided by the number of heads.',
        code=r"""
def alibi_bias(n_heads, T):
    slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / T)
    t = torch.arange(T)
    distance = (t[:, None] - t[None, :]).abs()
    return -slopes[:, None, None] * distance
""",
    ),
    dict(
        id='u-6.6-one-row', exercise='6.6', today='NAMED', words=('depend', 'looked'),
        tutor='The position row is chosen by the token, not by its place.',
        code=r"""
def embed(tokens, E, pe):
    return E[tokens] + pe[tokens % pe.shape[0]]
""",
    ),
    dict(
        id='u-6.7-values-turned-unscaled', exercise='6.7', today='NAMED', words=('home', 'lesson'),
        tutor='Two mistakes: the values are turned as well, and the scores are not divided by the root of d_k.',
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = rope(X @ W_q), rope(X @ W_k), rope(X @ W_v)
    scores = Q @ K.T
    scores = scores.masked_fill(~causal_mask(len(X)), float("-inf"))
    return torch.softmax(scores, dim=-1) @ V
""",
    ),
    dict(
        id='u-7.1-adds-and-one', exercise='7.1', today='NAMED', words=('T_q stands where T_k belongs', 'half of what'),
        tutor='Two mistakes: a multiply-add is counted once (2 FLOPs), and the second product uses T_q instead of T_k.',
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    scores = T_q * T_k * d_k
    mix = T_q * T_q * d_v
    return scores + mix
""",
    ),
    dict(
        id='u-7.2-three', exercise='7.2', today='NAMED', words=('merged', 'After'),
        tutor='Three projections are counted; W_o is the fourth.',
        code=r"""
def projection_flops(T, d_model):
    per_matrix = 2 * T * d_model ** 2
    return sum(per_matrix for name in ("q", "k", "v"))
""",
    ),
    dict(
        id='u-7.3-mixing-forgotten', exercise='7.3', today='NAMED', words=('Scoring', 'mixing'),
        tutor='Only the scores are counted on one side (2 T² d); the mixing costs as much again.',
        code=r"""
def crossover_length(d_model):
    # 2 T^2 d = 8 T d^2
    return 8 * d_model ** 2 // (2 * d_model)
""",
    ),
    dict(
        id='u-7.4-bits-one-length', exercise='7.4', today='NAMED', words=('counts twice', 'bits'),
        tutor='Two mistakes: T stands once (the scores are T by T), and the bytes are multiplied by 8, which gives bits.',
        code=r"""
def score_matrix_bytes(B, H, T, itemsize=4):
    n_scores = B * H * T
    return n_scores * itemsize * 8
""",
    ),
    dict(
        id='u-7.5-endpoints-log2', exercise='7.5', today='NAMED', words=('ignored', 'best'),
        tutor='Only the first and the last point are used; fit all points.',
        code=r"""
def fit_exponent(sizes, costs):
    return np.log2(costs[-1] / costs[0]) / np.log2(sizes[-1] / sizes[0])
""",
    ),
    dict(
        id='u-8.2-late-max', exercise='8.2', today='NAMED', words=('both the total and the sum of values so far must',), slow=True,
        tutor='The old sum and the old output are not rescaled when a tile brings a larger maximum.',
        code=r"""
def tiled_attention(Q, K, V, tile, causal=False):
    T_q, T_k = Q.shape[-2], K.shape[-2]
    rows = []
    for i in range(0, T_q, tile):
        q = Q[..., i:i + tile, :] / math.sqrt(Q.shape[-1])
        m = torch.full((*q.shape[:-1], 1), float("-inf"), dtype=Q.dtype)
        total = torch.zeros_like(m)
        out = torch.zeros(*q.shape[:-1], V.shape[-1], dtype=Q.dtype)
        for j in range(0, T_k, tile):
            if causal and j > i + q.shape[-2] - 1:
                break
            s = q @ K[..., j:j + tile, :].transpose(-2, -1)
            if causal:
                at_q = torch.arange(i, i + s.shape[-2])[:, None]
                at_k = torch.arange(j, j + s.shape[-1])
                s = s.masked_fill(at_k > at_q, float("-inf"))
            m = torch.maximum(m, s.amax(dim=-1, keepdim=True))
            p = torch.exp(s - m)
            total = total + p.sum(dim=-1, keepdim=True)
            out = out + p @ V[..., j:j + tile, :]
        rows.append(out / total)
    return torch.cat(rows, dim=-2)
""",
    ),
    dict(
        id='u-8.3-one-more', exercise='8.3', today='NAMED', words=('window', 'counts'),
        tutor="The window holds one place too many: the word's own counts.",
        code=r"""
def window_mask(T, window):
    i = torch.arange(T)[:, None]
    j = torch.arange(T)[None, :]
    return (j <= i) & (i - j <= window)
""",
    ),
    dict(
        id='u-8.4-relu-no-normaliser', exercise='8.4', today='NAMED', words=('relu + 1', 'sum to 1'),
        tutor='Two mistakes: φ is relu + 1 rather than elu + 1, and the output is not divided by the sum of the weights.',
        code=r"""
def linear_attention(Q, K, V, causal=False):
    q, k = F.relu(Q) + 1, F.relu(K) + 1
    scores = q @ k.transpose(-2, -1)
    if causal:
        scores = scores.tril()
    return scores @ V
""",
    ),
    dict(
        id='u-8.6-repeat-not-interleave', exercise='8.6', today='NAMED', words=('Heads', 'repeat'),
        tutor='repeat lays the groups side by side, so that head i gets group i mod g; neighbouring heads share a group.',
        code=r"""
def grouped_query_attention(Q, K, V, mask=None):
    times = Q.shape[1] // K.shape[1]
    K = K.repeat(1, times, 1, 1)
    V = V.repeat(1, times, 1, 1)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ V
""",
    ),
    dict(
        id='u-8.8-product', exercise='8.8', today='NAMED', words=('Neighbouring', 'windows'),
        tutor="Each layer adds window - 1 words, as the word's own place is counted once only.",
        code=r"""
def reach(n_layers, window):
    return n_layers * window
""",
    ),
    dict(
        id='u-9.4-targets-not-shifted-sum', exercise='9.4', today='NAMED', words=('learned', 'targets'),
        tutor='Two mistakes: each position is scored on its own token rather than on the next, and the losses are summed.',
        code=r"""
def next_token_loss(logits, tokens, pad_id=None):
    flat = logits.reshape(-1, logits.shape[-1])
    target = tokens.reshape(-1)
    if pad_id is not None:
        keep = target != pad_id
        flat, target = flat[keep], target[keep]
    return F.cross_entropy(flat, target, reduction="sum")
""",
    ),
    dict(
        id='u-9.5-temperature-after', exercise='9.5', today='NAMED', words=('probabilities', 'logits'),
        tutor='The probabilities, not the logits, are divided by the temperature: they no longer sum to 1.',
        code=r"""
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    if top_k is not None:
        smallest = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = torch.where(logits < smallest, float("-inf"), logits)
    return logits.softmax(dim=-1) / temperature
""",
    ),
    dict(
        id='u-9.6-first-position', exercise='9.6', today='NAMED', words=('following', 'logits'),
        tutor='Two mistakes: the first max_len tokens are shown rather than the last, and the scores of the first position are drawn from instead of the last.',
        code=r"""
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens[:, :model.max_len])
        nxt = choose(logits[:, 0])
        tokens = torch.cat([tokens, nxt[:, None]], dim=1)
    return tokens
""",
    ),
    dict(
        id='u-10.1-bias-before-transposed', exercise='10.1', today='NAMED', words=('stored', 'Linear'),
        tutor='The weights are (out, in): multiply by W.T, or use F.linear.',
        code=r"""
from helpers.multi_head import merge_heads, split_heads

def bert_self_attention(x, layer, n_heads, mask=None):
    q = split_heads(x @ layer.W_q + layer.b_q, n_heads)
    k = split_heads(x @ layer.W_k + layer.b_k, n_heads)
    v = split_heads(x @ layer.W_v + layer.b_v, n_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return merge_heads(weights @ v) @ layer.W_o + layer.b_o, weights
""",
    ),
    dict(
        id='u-10.2-axes-ge', exercise='10.2', today='NAMED', words=('nouns look at the verb', 'the comparison >='),
        tutor='Two mistakes: a tie counts (>= instead of >), and the rows are the nouns: weights[verb, subject] has the verb as the row that looks.',
        code=r"""
def agreement_share(weights, verb, subject, other):
    n = torch.arange(len(verb))
    to_subject = weights[n, ..., subject, verb]
    to_other = weights[n, ..., other, verb]
    return (to_subject >= to_other).float().mean(dim=0)
""",
    ),
    dict(
        id='u-10.3-divides-by-T', exercise='10.3', today='NAMED', words=('text', 'entries'),
        tutor='The sum leaves the padding out, but it is divided by T, the number of all places.',
        code=r"""
def mean_pool(hidden, mask):
    kept = hidden * mask.unsqueeze(-1)
    return kept.mean(dim=1)
""",
    ),
    dict(
        id='u-10.4-unnormalised-smallest', exercise='10.4', today='NAMED', words=('normalised', 'similar'),
        tutor='Two mistakes: the corpus is not normalised, so long rows win, and the smallest come first.',
        code=r"""
def search(query, corpus, k):
    q = query / query.norm()
    scores = corpus @ q
    values, indices = scores.topk(k, largest=False)
    return indices, values
""",
    ),
    dict(
        id='u-8.1-minimum-and-second', exercise='8.1', today='GENERIC',
        tutor='Two mistakes: the common maximum is the smaller one, and the second sum is not rescaled to it.',
        code=r"""
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.minimum(m1, m2)
    a = torch.exp(m1 - m)
    b = torch.exp(m2 - m)
    return m, a * t1 + t2, a * o1 + b * o2
""",
    ),
    dict(
        id='u-8.5-offset-missing', exercise='8.5', today='NAMED', words=('piece', 'cache'),
        tutor='The new words are turned as if they stood at the beginning: their offset is the number of cached words.',
        code=r"""
from helpers.multi_head import merge_heads, split_heads
from helpers.positions import rope

def attend_with_cache(layer, x_new, cache):
    h = layer.n_heads
    Q = rope(split_heads(layer.W_q(x_new), h))
    K = rope(split_heads(layer.W_k(x_new), h))
    V = split_heads(layer.W_v(x_new), h)
    T_old = cache["K"].shape[-2]
    cache["K"] = torch.cat([cache["K"], K], dim=-2)
    cache["V"] = torch.cat([cache["V"], V], dim=-2)
    scores = Q @ cache["K"].transpose(-2, -1) / math.sqrt(Q.shape[-1])
    T = cache["K"].shape[-2]
    may = torch.ones(T, T, dtype=torch.bool).tril()[T_old:]
    weights = scores.masked_fill(~may, float("-inf")).softmax(dim=-1)
    return layer.W_o(merge_heads(weights @ cache["V"]))
""",
    ),
    dict(
        id='u-8.7-keys-only', exercise='8.7', today='NAMED', words=('half', 'shapes'),
        tutor='Keys and values are both kept: twice as much.',
        code=r"""
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    per_token = n_layers * n_kv_heads * d_head * itemsize
    return per_token * n_tokens
""",
    ),
    dict(
        id='u-9.1-eps-outside-no-shift', exercise='9.1', today='NAMED', words=('deviation', 'shift'), slow=True,
        tutor='Two mistakes: eps is added to the standard deviation rather than to the variance, and the shift is missing.',
        code=r"""
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    std = ((x - mean) ** 2).mean(dim=-1, keepdim=True).sqrt()
    return scale * (x - mean) / (std + eps)
""",
    ),
    dict(
        id='u-9.2-second-norm-reused', exercise='9.2', today='NAMED', words=('Training', 'Norm_1'),
        tutor='The feed-forward network stands behind the first norm again; the second is never used.',
        code=r"""
from helpers.gpt import RotaryAttention

class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_1(x))
""",
    ),
    dict(
        id='u-9.3-no-mask', exercise='9.3', today='NAMED', words=('Hand', 'predict'),
        tutor='The blocks get no causal mask: every position sees the tokens that it is to predict.',
        code=r"""
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
""",
    ),
]
