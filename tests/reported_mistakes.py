"""Answers with mistakes that people really made, re-created; each names what the report must find.

Evidence, as far as a public report of the very mistake was seen, is kept beside each as "direct", "adapted" or "inferred".
"""

# (mistake, exercise, evidence, what the report names, source)
REPORTED = (
    (
        "scores-operands-swapped",
        "1.4",
        "adapted",
        ("operands-swapped",),
        """
def dot_product_scores(Q, K):
    return K @ np.swapaxes(Q, -1, -2)
""",
    ),
    (
        "scores-full-transpose",
        "1.4",
        "direct",
        ("full-transpose",),
        """
def dot_product_scores(Q, K):
    return Q @ K.T
""",
    ),
    (
        "scores-elementwise",
        "1.4",
        "inferred",
        ("same-position-copied",),
        """
def dot_product_scores(Q, K):
    pair = (Q * K).sum(axis=-1)
    return np.broadcast_to(pair[..., :, None], pair.shape + (pair.shape[-1],)).copy()
""",
    ),
    (
        "qkv-share-one-projection",
        "2.3",
        "direct",
        ("one-matrix-for-all",),
        """
def self_attention(X, W_q, W_k, W_v, mask=None):
    q = X @ W_q
    return scaled_dot_product_attention(q, q, q, mask)
""",
    ),
    (
        "softmax-axis-zero",
        "2.1",
        "direct",
        ("axis-zero",),
        """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)
""",
    ),
    (
        "softmax-global-max",
        "2.1",
        "direct",
        ("global-max",),
        """
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    (
        "softmax-global-sum",
        "2.1",
        "adapted",
        ("global-sum",),
        """
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum()
""",
    ),
    (
        "softmax-no-max",
        "2.1",
        "direct",
        ("no-max",),
        """
def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    (
        "softmax-mutates-input",
        "2.1",
        "inferred",
        ("changes-its-input",),
        """
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
""",
    ),
    (
        "sdpa-softmax-over-queries",
        "2.2",
        "direct",
        ("softmax-over-queries",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s, axis=-2)
    return w @ V, w
""",
    ),
    (
        "sdpa-divide-by-dk",
        "2.2",
        "direct",
        ("divide-by-d_k",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / Q.shape[-1]
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "sdpa-no-scale",
        "2.2",
        "direct",
        ("no-scale",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "sdpa-multiply-by-sqrt",
        "2.2",
        "direct",
        ("multiply-by-sqrt",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** -0.5
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "sdpa-scale-by-dv",
        "2.2",
        "direct",
        ("scale-by-d_v",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(V.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "sdpa-double-scale",
        "2.2",
        "direct",
        ("divide-by-d_k",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q = Q / np.sqrt(Q.shape[-1])
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "sdpa-keys-as-values",
        "2.2",
        "direct",
        ("keys-as-values",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ K, w
""",
    ),
    (
        "sdpa-weights-transposed",
        "2.2",
        "direct",
        ("weights-transposed",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w.swapaxes(-1, -2) @ V, w
""",
    ),
    (
        "sdpa-return-order",
        "2.2",
        "inferred",
        ("results-swapped",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w, w @ V
""",
    ),
    (
        "mask-inverted",
        "2.2",
        "direct",
        ("mask-inverted",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, -np.inf, s)
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "mask-after-softmax",
        "2.2",
        "direct",
        ("mask-after-softmax",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    w = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    if mask is not None:
        w = w * mask
    return w @ V, w
""",
    ),
    (
        "mask-score-zero",
        "2.2",
        "adapted",
        ("mask-score-zero",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = s * mask
    w = softmax(s)
    return w @ V, w
""",
    ),
    (
        "mask-positive-infinity",
        "2.2",
        "direct",
        ("mask-positive-infinity",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w
""",
    ),
    (
        "mask-ignored",
        "2.2",
        "adapted",
        ("mask-ignored",),
        """
def scaled_dot_product_attention(Q, K, V, mask=None):
    w = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    return w @ V, w
""",
    ),
    (
        "additive-no-tanh",
        "2.4",
        "direct",
        ("no-tanh",),
        """
def additive_scores(Q, K, W_q, W_k, v):
    return ((Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :]) @ v
""",
    ),
    (
        "additive-no-v",
        "2.4",
        "direct",
        ("no-v",),
        """
def additive_scores(Q, K, W_q, W_k, v):
    h = np.tanh((Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :])
    return h.sum(axis=-1)
""",
    ),
    (
        "additive-same-position-only",
        "2.4",
        "inferred",
        ("same-position-only",),
        """
def additive_scores(Q, K, W_q, W_k, v):
    return np.tanh(Q @ W_q + K @ W_k) @ v
""",
    ),
    (
        "general-weight-flipped",
        "2.5",
        "adapted",
        ("w-transposed",),
        """
def general_scores(Q, K, W):
    return Q @ W.T @ np.swapaxes(K, -1, -2)
""",
    ),
    (
        "flops-counts-macs",
        "7.1",
        "direct",
        ("multiply-adds",),
        """
def attention_flops(T_q, T_k, d_k, d_v):
    return T_q * T_k * (d_k + d_v)
""",
    ),
    (
        "flops-linear-in-length",
        "7.1",
        "direct",
        ("projections-instead",),
        """
def attention_flops(T_q, T_k, d_k, d_v):
    return 2 * T_q * d_k * d_k + 2 * T_k * d_k * d_k + 2 * T_k * d_v * d_v
""",
    ),
    (
        "memory-forgets-heads",
        "7.4",
        "inferred",
        ("heads-forgotten",),
        """
def score_matrix_bytes(B, H, T, itemsize=4):
    return B * T * T * itemsize
""",
    ),
    (
        "causal-upside-down",
        "5.2",
        "direct",
        ("upside-down",),
        """
def causal_mask(T):
    return torch.triu(torch.ones((T, T), dtype=torch.bool))
""",
    ),
    (
        "causal-marks-blocked",
        "5.2",
        "direct",
        ("marks-blocked",),
        """
def causal_mask(T):
    return torch.triu(torch.ones((T, T), dtype=torch.bool), diagonal=1)
""",
    ),
    (
        "causal-sees-one-ahead",
        "5.2",
        "adapted",
        ("one-ahead",),
        """
def causal_mask(T):
    return torch.tril(torch.ones((T, T), dtype=torch.bool), diagonal=1)
""",
    ),
    (
        "causal-top-left",
        "5.2",
        "direct",
        ("causal-top-left",),
        """
def causal_mask(T_q, T_k):
    return torch.tril(torch.ones((T_q, T_k), dtype=torch.bool))
""",
    ),
    (
        "pad-masks-queries",
        "5.4",
        "direct",
        ("on-queries",),
        """
def padding_mask(tokens, pad_id):
    return (tokens != pad_id)[:, None, :, None]
""",
    ),
    (
        "pad-masks-both-sides",
        "5.4",
        "direct",
        ("both-sides",),
        """
def padding_mask(tokens, pad_id):
    keep = tokens != pad_id
    return keep[:, None, None, :] & keep[:, None, :, None]
""",
    ),
    (
        "pad-marks-padding",
        "5.4",
        "direct",
        ("marks-padding",),
        """
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, None, :]
""",
    ),
    (
        "pad-or-causal",
        "5.5",
        "adapted",
        ("or",),
        """
def combine_masks(padding, causal):
    return padding | causal[None]
""",
    ),
    (
        "pad-two-d-broadcast",
        "5.4",
        "adapted",
        ("no-axes",),
        """
def padding_mask(tokens, pad_id):
    return tokens != pad_id
""",
    ),
    (
        "mask-full-row-nan",
        "5.6",
        "direct",
        ("nan-rows",),
        """
def masked_softmax(scores, mask):
    s = torch.where(mask, scores, -torch.inf)
    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)
""",
    ),
    (
        "mask-full-row-uniform",
        "5.6",
        "direct",
        ("uniform-rows",),
        """
def masked_softmax(scores, mask):
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, low), dim=-1)
""",
    ),
    (
        "mask-fill-overflows-half",
        "5.6",
        "direct",
        ("big-negative-number",),
        """
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(mask == False, -1e9), dim=-1)
""",
    ),
    (
        "cross-ignores-encoder",
        "5.7",
        "direct",
        ("memory-ignored",),
        _CROSS := """
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} and {n_heads}")
        self.h = n_heads
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        q, k, v = (split_heads(W(z), self.h) for W, z in ((self.W_q, x), (self.W_k, x), (self.W_v, x)))
        s = q @ k.mT / k.shape[-1] ** 0.5
        w = s.softmax(-1) if memory_mask is None else masked_softmax(s, memory_mask)
        return self.W_o(merge_heads(w @ v)), w
""",
    ),
    ("cross-roles-swapped", "5.7", "direct", ("roles-swapped",), _CROSS.replace("(self.W_q, x)", "(self.W_q, memory)")),
    (
        "cross-uses-causal-mask",
        "5.7",
        "direct",
        ("causal-mask-reused",),
        _CROSS.replace("(self.W_k, x), (self.W_v, x)", "(self.W_k, memory), (self.W_v, memory)").replace(
            "        w = s",
            "        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -torch.inf)\n        w = s",
            1,
        ),
    ),
    (
        "cross-drops-encoder-mask",
        "5.7",
        "direct",
        ("mask-dropped",),
        _CROSS.replace("(self.W_k, x), (self.W_v, x)", "(self.W_k, memory), (self.W_v, memory)").replace(
            "masked_softmax(s, memory_mask)", "s.softmax(-1)"
        ),
    ),
    (
        "mask-fill-overflows-half",
        "4.3",
        "direct",
        ("mask-as-minus-1e9",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.h, self.d).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).reshape(B, T, D)), a
""",
    ),
    (
        "split-no-transpose",
        "4.1",
        "direct",
        ("split-no-transpose",),
        """
def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)
""",
    ),
    (
        "merge-no-transpose",
        "4.2",
        "direct",
        ("merge-no-transpose",),
        """
def merge_heads(x):
    B, H, T, d = x.shape
    return x.reshape(B, T, H * d)
""",
    ),
    (
        "mha-split-no-transpose",
        "4.3",
        "direct",
        ("split-no-transpose", "merge-no-transpose"),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, self.h, T, self.d) for f in (self.W_q, self.W_k, self.W_v))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).reshape(B, T, D)), a
""",
    ),
    (
        "mha-merge-no-transpose",
        "4.3",
        "direct",
        ("merge-no-transpose",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).reshape(B, T, D)), a
""",
    ),
    (
        "mha-attends-over-heads",
        "4.3",
        "direct",
        ("attends-over-heads-unmasked",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.h, self.d) for f in (self.W_q, self.W_k, self.W_v))
        a = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d), dim=-1)
        return self.W_o((self.drop(a) @ v).reshape(B, T, D)), a
""",
    ),
    (
        "mha-scale-by-d-model",
        "4.3",
        "direct",
        ("scale-by-d_model",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(D)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).reshape(B, T, D)), a
""",
    ),
    (
        "mha-no-output-projection",
        "4.3",
        "direct",
        ("no-output-layer",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return (self.drop(a) @ v).transpose(1, 2).reshape(B, T, D), a
""",
    ),
    (
        "mha-mask-no-head-axis",
        "4.3",
        "adapted",
        ("mask-loses-head-axis",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask.squeeze(1), float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).reshape(B, T, D)), a
""",
    ),
    (
        "mha-softmax-over-queries",
        "4.3",
        "direct",
        ("softmax-over-queries",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=2)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).reshape(B, T, D)), a
""",
    ),
    (
        "mha-mask-not-in-place",
        "4.3",
        "direct",
        ("mask-without-effect",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).reshape(B, T, D)), a
""",
    ),
    (
        "mha-heads-in-python-list",
        "4.3",
        "direct",
        ("layers-in-plain-list",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        d = d_model // n_heads
        self.d = d
        self.heads = [[nn.Linear(d_model, d, bias=False) for _ in range(3)] for _ in range(n_heads)]
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x, mask=None):
        outs, maps = [], []
        for W_q, W_k, W_v in self.heads:
            s = W_q(x) @ W_k(x).transpose(-2, -1) / math.sqrt(self.d)
            if mask is not None:
                s = s.masked_fill(~mask, float("-inf"))
            a = torch.softmax(s, dim=-1)
            outs.append(self.drop(a) @ W_v(x)); maps.append(a)
        return self.W_o(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)
""",
    ),
    (
        "mha-view-after-transpose",
        "4.3",
        "adapted",
        ("view-after-transpose",),
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.drop = nn.Dropout(dropout)
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.d).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = torch.softmax(s, dim=-1)
        return self.W_o((self.drop(a) @ v).transpose(1, 2).view(B, T, D)), a
""",
    ),
    (
        "perm-tests-invariance",
        "6.1",
        "adapted",
        ("tests-invariance",),
        """
def is_permutation_equivariant(f, X, perm):
    return bool(torch.allclose(f(X[perm]), f(X)))
""",
    ),
    (
        "pe-exponent-doubled",
        "6.2",
        "direct",
        ("column-for-pair",),
        """
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    col = torch.arange(d_model)[None, :]
    pe = pos / 10000.0 ** (2.0 * col / d_model)
    pe[:, 0::2] = torch.sin(pe[:, 0::2])
    pe[:, 1::2] = torch.cos(pe[:, 1::2])
    return pe
""",
    ),
    (
        "pe-base-1000",
        "6.2",
        "direct",
        ("base-1000",),
        """
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    ang = pos / 1000.0 ** (torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros((max_len, d_model))
    pe[:, 0::2], pe[:, 1::2] = torch.sin(ang), torch.cos(ang)[:, : d_model // 2]
    return pe
""",
    ),
    (
        "pe-odd-width",
        "6.2",
        "direct",
        ("odd-width",),
        """
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    ang = pos / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros((max_len, d_model))
    pe[:, 0::2] = torch.sin(ang)
    pe[:, 1::2] = torch.cos(ang)
    return pe
""",
    ),
    (
        "pe-sin-and-cos-swapped",
        "6.2",
        "inferred",
        ("sine-and-cosine-swapped",),
        """
def sinusoidal_positional_encoding(max_len, d_model):
    pos = torch.arange(max_len)[:, None]
    ang = pos / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros((max_len, d_model))
    pe[:, 0::2], pe[:, 1::2] = torch.cos(ang), torch.sin(ang)[:, : d_model // 2]
    return pe
""",
    ),
    (
        "rope-mixed-conventions",
        "6.4",
        "direct",
        ("mixed-layouts",),
        """
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    theta = base ** (-torch.arange(0, d, 2) / d)
    ang = torch.repeat_interleave((torch.arange(T) + offset)[:, None] * theta, 2, dim=-1)
    turned = torch.cat([-x[..., d // 2:], x[..., : d // 2]], dim=-1)
    return x * torch.cos(ang) + turned * torch.sin(ang)
""",
    ),
    (
        "rope-halves",
        "6.4",
        "direct",
        ("halves",),
        """
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    theta = base ** (-torch.arange(0, d, 2) / d)
    ang = (torch.arange(T) + offset)[:, None] * theta
    a, b = x[..., : d // 2], x[..., d // 2:]
    return torch.cat([a * torch.cos(ang) - b * torch.sin(ang), a * torch.sin(ang) + b * torch.cos(ang)], dim=-1)
""",
    ),
    (
        "rope-exponent-sign",
        "6.4",
        "adapted",
        ("exponent-sign",),
        """
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    ang = (torch.arange(T) + offset)[:, None] * base ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = torch.cos(ang), torch.sin(ang)
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
    return out
""",
    ),
    (
        "rope-positions-from-head-axis",
        "6.4",
        "direct",
        ("positions-from-head-axis",),
        """
def rope(x, base=10000.0, offset=0):
    d = x.shape[-1]
    T = x.shape[1] if x.ndim == 4 else x.shape[-2]
    ang = (torch.arange(T) + offset)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    if x.ndim == 4:
        ang = ang[None, :, None, :]
    c, s = torch.cos(ang), torch.sin(ang)
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
    return out
""",
    ),
    (
        "alibi-rewards-distance",
        "6.5",
        "direct",
        ("rewards-distance",),
        """
def alibi_bias(n_heads, T):
    d = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1) / n_heads)
    return slopes[:, None, None] * d
""",
    ),
    (
        "alibi-same-slope",
        "6.5",
        "inferred",
        ("same-slope",),
        """
def alibi_bias(n_heads, T):
    d = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    slopes = torch.full((n_heads,), 2.0 ** (-8.0 / n_heads))
    return -slopes[:, None, None] * d
""",
    ),
    (
        "perm-no-positions",
        "6.6",
        "direct",
        ("no-positions",),
        """
def embed(tokens, E, pe):
    return E[tokens]
""",
    ),
    (
        "pe-added-along-batch",
        "6.6",
        "direct",
        ("positions-along-batch",),
        """
def embed(tokens, E, pe):
    x = E[tokens]
    return x + pe[: x.shape[0], None, :]
""",
    ),
    (
        "pe-single-row",
        "6.6",
        "direct",
        ("single-row-beyond",),
        """
def embed(tokens, E, pe):
    x = E[tokens]
    return x + pe[x.shape[1]]
""",
    ),
    (
        "rope-rotates-values",
        "6.7",
        "adapted",
        ("values-turned",),
        """
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = (rope(X @ W) for W in (W_q, W_k, W_v))
    scores = (Q @ K.T / K.shape[-1] ** 0.5).masked_fill(~causal_mask(len(X)), -torch.inf)
    return torch.softmax(scores, dim=-1) @ V
""",
    ),
    (
        "rope-only-queries",
        "6.7",
        "inferred",
        ("keys-not-turned",),
        """
def rope_attention(X, W_q, W_k, W_v):
    Q, K, V = rope(X @ W_q), X @ W_k, X @ W_v
    scores = (Q @ K.T / K.shape[-1] ** 0.5).masked_fill(~causal_mask(len(X)), -torch.inf)
    return torch.softmax(scores, dim=-1) @ V
""",
    ),
)
