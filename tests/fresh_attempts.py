"""Sixty wrong answers of our own, each with what a good tutor would say of it.

They were written for the exercises' texts and not drawn from the catalogue; it holds some of their mistakes all the same.
"""

_MODULE = '''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} cannot be split into n_heads={n_heads}")
        self.h = n_heads
        self.dk = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)
'''

_CROSS = '''
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} is not divisible by {n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
'''

ATTEMPTS = [
    dict(
        id="f-0.1-normalised-by-count", exercise="0.1",
        tutor="The weighted sum is divided by how many values there are; divide by the sum of the weights.",
        code=r"""
def weighted_average(values, weights):
    result = 0.0
    for value, weight in zip(values, weights):
        result = result + value * weight
    return result / len(values)
""",
    ),
    dict(
        id="f-0.1-weights-squared", exercise="0.1",
        tutor="The weights are normalised first, and then the raw weights are used a second time in the sum.",
        code=r"""
def weighted_average(values, weights):
    shares = weights / np.sum(weights)
    return np.sum(shares * weights * values)
""",
    ),
    dict(
        id="f-1.1-distance", exercise="1.1",
        tutor="These are distances; similarity here is the dot product, which grows where vectors agree.",
        code=r"""
def similarities(query, keys):
    return np.linalg.norm(keys - query, axis=1)
""",
    ),
    dict(
        id="f-1.1-only-sum-of-keys", exercise="1.1",
        tutor="The query is multiplied in after the features were summed; multiply feature by feature, then sum.",
        code=r"""
def similarities(query, keys):
    scores = []
    for key in keys:
        total = 0
        for a in query:
            for b in key:
                total += a * b
        scores.append(total)
    return np.array(scores)
""",
    ),
    dict(
        id="f-1.2-softmax-before-sharpness", exercise="1.2",
        tutor="Sharpness multiplies the weights after the softmax, where they are already fixed; it belongs to the scores.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys)
    weights = np.exp(scores - np.max(scores))
    weights = sharpness * weights / np.sum(weights)
    return weights @ values, weights
""",
    ),
    dict(
        id="f-1.2-keepdims-row", exercise="1.2",
        tutor="The value comes back as a row of shape (1, d_v): weights were given an axis that is not taken away again.",
        code=r"""
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    value = weights[None, :] @ values
    return value, weights
""",
    ),
    dict(
        id="f-1.3-values-from-keys", exercise="1.3",
        tutor="The values are projected from the keys, K @ W_v, and not from X.",
        code=r"""
def project(X, W_q, W_k, W_v):
    queries = np.dot(X, W_q)
    keys = np.dot(X, W_k)
    values = np.dot(keys, W_v[: keys.shape[1]])
    return queries, keys, values
""",
    ),
    dict(
        id="f-1.3-transposed-results", exercise="1.3",
        tutor="The results are transposed: features in rows; words should be the rows.",
        code=r"""
def project(X, W_q, W_k, W_v):
    Q = W_q.T @ X.T
    K = W_k.T @ X.T
    V = W_v.T @ X.T
    return Q, K, V
""",
    ),
    dict(
        id="f-1.4-scaled-and-batch", exercise="1.4",
        tutor="No scale is asked for here: plain dot products.",
        code=r"""
def dot_product_scores(Q, K):
    d_k = Q.shape[-1]
    K_t = np.swapaxes(K, -2, -1)
    scores = np.matmul(Q, K_t)
    return scores / d_k**0.5
""",
    ),
    dict(
        id="f-1.4-einsum-letters", exercise="1.4",
        tutor="The letters of the result are in the wrong order: rows belong to the keys.",
        code=r"""
def dot_product_scores(Q, K):
    return np.einsum("...id,...jd->...ji", Q, K)
""",
    ),
    dict(
        id="f-1.5-asks-for-verbs", exercise="1.5",
        tutor="The key side answers as a verb instead of as a noun: the row of `noun` in W_k must not be zero.",
        code=r"""
def design_projections():
    W_q = np.zeros((4, 2))
    W_k = np.zeros((4, 2))
    W_q[1] = [6.0, 6.0]
    W_q[2] = [6.0, 6.0]
    W_k[1, 0] = 1.0
    W_k[3, 1] = 1.0
    return W_q, W_k
""",
    ),
    dict(
        id="f-2.1-keepdims-on-max-only", exercise="2.1",
        tutor="keepdims is missing in the sum, so that the division goes along the wrong axis or fails.",
        code=r"""
def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    exp_x = np.exp(shifted)
    return exp_x / exp_x.sum(axis=axis)
""",
    ),
    dict(
        id="f-2.1-log-softmax", exercise="2.1",
        tutor="The logarithms of the weights are returned (log-softmax); take the exponential of them.",
        code=r"""
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    logsum = np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True))
    return x - m - logsum
""",
    ),
    dict(
        id="f-2.2-scale-on-query-dims", exercise="2.2",
        tutor="Divided by the root of the number of queries, Q.shape[-2], and not of the features, Q.shape[-1].",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.matmul(Q, K.swapaxes(-1, -2))
    scores = scores / np.sqrt(Q.shape[-2])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    attention = softmax(scores, axis=-1)
    return np.matmul(attention, V), attention
""",
    ),
    dict(
        id="f-2.2-mask-multiplied", exercise="2.2",
        tutor="The mask multiplies the scores: a score of 0 is not minus infinity, blocked keys still get weight.",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(d_k)
    if mask is not None:
        scores = scores * mask
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exp / exp.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
    ),
    dict(
        id="f-2.2-own-softmax-overflow", exercise="2.2",
        tutor="The exponential overflows for large scores: subtract the row's maximum first, or call softmax.",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    scores /= np.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    return weights @ V, weights
""",
    ),
    dict(
        id="f-2.2-scale-inside-and-outside", exercise="2.2",
        tutor="The scores are divided by √d_k twice: Q is already divided before the product.",
        code=r"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    scale = Q.shape[-1] ** -0.5
    q = Q * scale
    scores = q @ K.swapaxes(-1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    out = weights @ V
    return out, weights
""",
    ),
    dict(
        id="f-2.3-mask-as-fourth-of-project", exercise="2.3",
        tutor="Values are made from the keys' matrix: W_k stands where W_v belongs.",
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_k
    return scaled_dot_product_attention(Q, K, V, mask=mask)
""",
    ),
    dict(
        id="f-2.3-own-attention-unscaled", exercise="2.3",
        tutor="The scores are not divided by √d_k.",
        code=r"""
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
""",
    ),
    dict(
        id="f-2.4-concatenated", exercise="2.4",
        tutor="tanh is taken after the sum with v: v must weigh the hidden units after tanh, not before.",
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    q = Q @ W_q
    k = K @ W_k
    scores = np.zeros((q.shape[0], k.shape[0]))
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            scores[i, j] = np.tanh(np.dot(v, q[i] + k[j]))
    return scores
""",
    ),
    dict(
        id="f-2.4-axes-the-other-way", exercise="2.4",
        tutor="The added axes are exchanged, so that rows belong to the keys.",
        code=r"""
def additive_scores(Q, K, W_q, W_k, v):
    q = (Q @ W_q)[None, :, :]
    k = (K @ W_k)[:, None, :]
    return np.sum(v * np.tanh(q + k), axis=-1)
""",
    ),
    dict(
        id="f-2.5-query-twice", exercise="2.5",
        tutor="The product ends with Q again: the keys are left out.",
        code=r"""
def general_scores(Q, K, W):
    projected = Q @ W
    return projected @ projected.T
""",
    ),
    dict(
        id="f-2.6-still-inverted", exercise="2.6",
        tutor="The mask is still upside down: where it is True the score must stay.",
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id="f-2.6-values-transposed-letters", exercise="2.6",
        tutor="The letters of the last einsum sum over the queries: the weights' rows and columns are exchanged.",
        code=r"""
def debugged_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-2)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
""",
    ),
    dict(
        id="f-3.1-uniform", exercise="3.1",
        tutor="Uniform numbers between 0 and 1 are drawn; standard normal ones are asked for.",
        code=r"""
def sample_dot_products(n, d_k, rng):
    q = rng.random((n, d_k))
    k = rng.random((n, d_k))
    return np.einsum("nd,nd->n", q, k)
""",
    ),
    dict(
        id="f-3.1-already-scaled", exercise="3.1",
        tutor="The products are already divided by √d_k; the plain ones are asked for.",
        code=r"""
def sample_dot_products(n, d_k, rng):
    out = []
    for _ in range(n):
        q = rng.standard_normal(d_k)
        k = rng.standard_normal(d_k)
        out.append(q @ k / np.sqrt(d_k))
    return np.array(out)
""",
    ),
    dict(
        id="f-3.2-sign", exercise="3.2",
        tutor="The minus sign is missing: entropy is never negative.",
        code=r"""
def entropy(weights):
    logs = np.zeros_like(weights)
    np.log(weights, out=logs, where=weights > 0)
    return (weights * logs).sum(axis=-1)
""",
    ),
    dict(
        id="f-3.2-epsilon", exercise="3.2",
        tutor="A small constant inside the logarithm changes every term a little: leave zeros out instead.",
        code=r"""
def entropy(weights):
    return -np.sum(weights * np.log(weights + 1e-4), axis=-1)
""",
    ),
    dict(
        id="f-3.3-plus", exercise="3.3",
        tutor="The outer product is added; it must be subtracted.",
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    J = np.zeros(p.shape + (n,))
    for i in range(n):
        for j in range(n):
            delta = 1.0 if i == j else 0.0
            J[..., i, j] = p[..., i] * (delta + p[..., j])
    return J
""",
    ),
    dict(
        id="f-3.3-p-squared-off-diagonal", exercise="3.3",
        tutor="Only the diagonal is right: off it the entries must be -p_i p_j, and they are 0.",
        code=r"""
def softmax_jacobian(p):
    n = p.shape[-1]
    return (p * (1 - p))[..., None] * np.eye(n)
""",
    ),
    dict(
        id="f-3.4-mean-over-everything", exercise="3.4",
        tutor="The sum runs over the whole array, not along each row: axis=-1 and keepdims.",
        code=r"""
def softmax_backward(weights, d_weights):
    inner = np.sum(weights * d_weights)
    return weights * (d_weights - inner)
""",
    ),
    dict(
        id="f-3.4-mean-not-weighted", exercise="3.4",
        tutor="The plain mean of the gradient is taken off; the mean must be weighted with the weights.",
        code=r"""
def softmax_backward(weights, d_weights):
    mean = d_weights.mean(axis=-1, keepdims=True)
    return weights * (d_weights - mean)
""",
    ),
    dict(
        id="f-4.1-heads-last", exercise="4.1",
        tutor="Features are dealt out in turn, head by head: reshape to (…, h, d_k), not (…, d_k, h).",
        code=r"""
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    x = x.view(B, T, d_model // n_heads, n_heads)
    return x.permute(0, 3, 1, 2)
""",
    ),
    dict(
        id="f-4.1-view-at-once", exercise="4.1",
        tutor="A view straight to (B, h, T, d_k) mixes words: split the last axis first and then exchange axes 1 and 2.",
        code=r"""
def split_heads(x, n_heads):
    batch, length, width = x.size()
    return x.reshape(batch, n_heads, length, width // n_heads)
""",
    ),
    dict(
        id="f-4.2-no-transpose", exercise="4.2",
        tutor="Heads and words are not exchanged before the reshape, so words are mixed.",
        code=r"""
def merge_heads(x):
    B, h, T, d_k = x.size()
    return x.contiguous().view(B, T, h * d_k)
""",
    ),
    dict(
        id="f-4.3-softmax-over-heads", exercise="4.3",
        tutor="The softmax runs over axis 1, the heads; it must run over the keys, the last axis.",
        code=_MODULE + r"""
    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.h)
        k = split_heads(self.W_k(x), self.h)
        v = split_heads(self.W_v(x), self.h)
        att = q @ k.transpose(-2, -1) / self.dk**0.5
        if mask is not None:
            att = att.masked_fill(~mask, float("-inf"))
        att = torch.softmax(att, dim=1)
        out = self.drop(att) @ v
        return self.W_o(merge_heads(out)), att
""",
    ),
    dict(
        id="f-4.3-dropped-weights-returned", exercise="4.3",
        tutor="The output is made from the weights without dropout.",
        code=_MODULE + r"""
    def forward(self, x, mask=None):
        q, k, v = (split_heads(f(x), self.h) for f in (self.W_q, self.W_k, self.W_v))
        att = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.dk)
        if mask is not None:
            att = att.masked_fill(mask == 0, -torch.inf)
        weights = att.softmax(dim=-1)
        dropped = self.drop(weights)
        out = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return self.W_o(merge_heads(out)), weights
""",
    ),
    dict(
        id="f-4.3-scale-d-model", exercise="4.3",
        tutor="Divided by √d_model; each head has d_k features: √d_k.",
        code=_MODULE + r"""
    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.h, self.dk).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.h, self.dk).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.h, self.dk).transpose(1, 2)
        att = q @ k.transpose(-2, -1) / math.sqrt(D)
        if mask is not None:
            att = att.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(att, dim=-1)
        out = self.drop(weights) @ v
        out = out.transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
""",
    ),
    dict(
        id="f-4.4-out-projection-forgotten", exercise="4.4",
        tutor="W_o is not copied: it keeps its random weights.",
        code=r"""
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.in_proj_weight.dtype)
    d = mha.embed_dim
    with torch.no_grad():
        ours.W_q.weight.copy_(mha.in_proj_weight[:d])
        ours.W_k.weight.copy_(mha.in_proj_weight[d : 2 * d])
        ours.W_v.weight.copy_(mha.in_proj_weight[2 * d :])
    return ours
""",
    ),
    dict(
        id="f-5.1-divided-by-T", exercise="5.1",
        tutor="Every row is divided by T; row t is the mean of t + 1 words.",
        code=r"""
def prefix_mean(x):
    T = x.shape[0]
    mask = torch.tril(torch.ones(T, T, dtype=x.dtype))
    return mask @ x / T
""",
    ),
    dict(
        id="f-5.1-counts-from-zero", exercise="5.1",
        tutor="The counts begin with 0: row t holds t + 1 words.",
        code=r"""
def prefix_mean(x):
    counts = torch.arange(x.shape[0], dtype=x.dtype)
    return x.cumsum(dim=0) / counts.unsqueeze(1)
""",
    ),
    dict(
        id="f-5.2-strict", exercise="5.2",
        tutor="The diagonal is left out: a word may look at itself.",
        code=r"""
def causal_mask(T):
    row = torch.arange(T).unsqueeze(1)
    col = torch.arange(T).unsqueeze(0)
    return col < row
""",
    ),
    dict(
        id="f-5.3-changes-words-before", exercise="5.3",
        tutor="The words before t are changed, not those from t on.",
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    base = attend(x)
    for t in range(1, x.shape[0]):
        altered = x.clone()
        altered[:t] = altered[:t] + 1.0
        torch.set_rng_state(state)
        out = attend(altered)
        if (out[:t] - base[:t]).abs().max() > 1e-5:
            return True
    return False
""",
    ),
    dict(
        id="f-5.3-any-change-counts", exercise="5.3",
        tutor="All outputs are compared; outputs from t on may change, only those before t must not.",
        code=r"""
def leaks_future(attend, x):
    state = torch.get_rng_state()
    base = attend(x)
    for t in range(1, x.shape[0]):
        altered = x.clone()
        altered[t:] += 1.0
        torch.set_rng_state(state)
        if not torch.allclose(attend(altered), base, atol=1e-5):
            return True
    return False
""",
    ),
    dict(
        id="f-5.4-axes", exercise="5.4",
        tutor="The new axes stand in the wrong places: the keys are the last axis, (B, 1, 1, T).",
        code=r"""
def padding_mask(tokens, pad_id):
    keep = tokens.ne(pad_id)
    return keep.unsqueeze(1).unsqueeze(-1)
""",
    ),
    dict(
        id="f-5.5-or", exercise="5.5",
        tutor="A pair is allowed only if both masks allow it: and, not or.",
        code=r"""
def combine_masks(padding, causal):
    return torch.logical_or(padding, causal[None, None])
""",
    ),
    dict(
        id="f-5.6-nan-to-num-everywhere", exercise="5.6",
        tutor="The mask is applied the wrong way round: allowed keys are filled with minus infinity.",
        code=r"""
def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, float("-inf"))
    nothing = mask.all(dim=-1, keepdim=True)
    weights = torch.softmax(filled.masked_fill(nothing, 0.0), dim=-1)
    return weights.masked_fill(nothing, 0.0)
""",
    ),
    dict(
        id="f-5.6-empty-rows-uniform", exercise="5.6",
        tutor="Rows with nothing to look at come out even instead of zero.",
        code=r"""
def masked_softmax(scores, mask):
    hidden = ~mask
    empty = hidden.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(hidden & ~empty, -torch.inf)
    scores = torch.where(empty, torch.zeros_like(scores), scores)
    return torch.softmax(scores, dim=-1)
""",
    ),
    dict(
        id="f-5.7-values-from-x", exercise="5.7",
        tutor="Keys come from x and not from the memory: both keys and values belong to the memory.",
        code=_CROSS + r"""
    def forward(self, x, memory, memory_mask=None):
        q = split_heads(self.W_q(memory), self.n_heads)
        k = split_heads(self.W_k(x), self.n_heads)
        v = split_heads(self.W_v(x), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if memory_mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            weights = masked_softmax(scores, memory_mask)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    dict(
        id="f-6.1-permutes-only-input", exercise="6.1",
        tutor="The output for the original order is not shuffled before it is compared.",
        code=r"""
def is_permutation_equivariant(f, X, perm):
    return torch.allclose(f(X[perm]), f(X), rtol=1e-4, atol=1e-5)
""",
    ),
    dict(
        id="f-6.2-cos-sin-exchanged", exercise="6.2",
        tutor="Sine and cosine are exchanged: sines belong to the even columns.",
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = torch.cos(position * div_term)
    pe[:, 1::2] = torch.sin(position * div_term)[:, : d_model // 2]
    return pe
""",
    ),
    dict(
        id="f-6.2-exponent-without-two", exercise="6.2",
        tutor="The exponent counts pairs i instead of 2i: the frequencies fall half as fast.",
        code=r"""
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    for p in range(max_len):
        for i in range((d_model + 1) // 2):
            angle = p / 10000 ** (i / d_model)
            pe[p, 2 * i] = math.sin(angle)
            if 2 * i + 1 < d_model:
                pe[p, 2 * i + 1] = math.cos(angle)
    return pe
""",
    ),
    dict(
        id="f-6.3-sign-of-sine", exercise="6.3",
        tutor="The sines have each other's sign: this matrix turns the other way, back by offset.",
        code=r"""
def shift_matrix(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / 10000 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        M[i, i] = c
        M[i, i + 1] = -s
        M[i + 1, i] = s
        M[i + 1, i + 1] = c
    return M
""",
    ),
    dict(
        id="f-6.4-offset-forgotten-in-angle", exercise="6.4",
        tutor="offset multiplies the positions instead of being added to them.",
        code=r"""
def rope(x, base=10000.0, offset=0):
    *_, T, d = x.shape
    theta = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    pos = torch.arange(T, dtype=x.dtype) * (offset + 1)
    angles = torch.outer(pos, theta)
    cos, sin = angles.cos(), angles.sin()
    x1, x2 = x[..., 0::2], x[..., 1::2]
    out = torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)
    return out.flatten(-2)
""",
    ),
    dict(
        id="f-6.5-positive", exercise="6.5",
        tutor="The bias is positive, so that far words are preferred: it must be negative.",
        code=r"""
def alibi_bias(n_heads, T):
    slopes = torch.tensor([2 ** (-8 * (i + 1) / n_heads) for i in range(n_heads)])
    q = torch.arange(T)[:, None]
    k = torch.arange(T)[None, :]
    return slopes.view(-1, 1, 1) * (q - k).abs()
""",
    ),
    dict(
        id="f-6.6-whole-table-added", exercise="6.6",
        tutor="The rows of pe are taken by token and not by position.",
        code=r"""
def embed(tokens, E, pe):
    B, T = tokens.shape
    words = E[tokens]
    positions = pe[tokens % pe.shape[0]]
    return words + positions
""",
    ),
    dict(
        id="f-6.7-values-turned", exercise="6.7",
        tutor="The values are turned too; only queries and keys are.",
        code=r"""
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = rope(X @ W_q), rope(X @ W_k), rope(X @ W_v)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    scores = scores.masked_fill(~causal_mask(X.shape[0]), float("-inf"))
    return torch.softmax(scores, dim=-1) @ V
""",
    ),
    dict(
        id="f-7.1-sum-of-sizes", exercise="7.1",
        tutor="The values' product takes T_q * T_k * d_v multiply-adds; T_k is missing there.",
        code=r"""
def attention_flops(T_q, T_k, d_k, d_v):
    qk = 2 * T_q * T_k * d_k
    av = 2 * T_q * d_v
    return qk + av
""",
    ),
    dict(
        id="f-7.3-heads-forgotten", exercise="7.3",
        tutor="The three projections of queries, keys and values are counted; W_o is the fourth.",
        code=r"""
def crossover_length(d_model):
    projections = 3 * 2 * d_model * d_model
    attention = 2 * 2 * d_model
    return projections / attention
""",
    ),
    dict(
        id="f-7.5-swapped", exercise="7.5",
        tutor="polyfit's arguments are exchanged: the slope is that of sizes over costs.",
        code=r"""
def fit_exponent(sizes, costs):
    slope, _ = np.polyfit(np.log(costs), np.log(sizes), 1)
    return float(slope)
""",
    ),
]
