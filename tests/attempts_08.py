"""Wrong answers to lesson 08, written without the catalogue at hand, and the words by which a tutor would know the cause."""

# (what is wrong, exercise, words that the report must hold, source)
ATTEMPTS = (
    ("adds everything as it is", "8.1", "maximum", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    return torch.maximum(m1, m2), t1 + t2, o1 + o2
"""),
    ("where instead of maximum, nan kept", "8.1", "NaN", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.where(m1 > m2, m1, m2)
    w1, w2 = torch.exp(m1 - m), torch.exp(m2 - m)
    return m, w1 * t1 + w2 * t2, w1 * o1 + w2 * o2
"""),
    ("weights the outputs by their share of the total", "8.1", "divided", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.maximum(m1, m2)
    safe = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    a, b = t1 * torch.exp(m1 - safe), t2 * torch.exp(m2 - safe)
    total = a + b
    return m, total, (a * o1 + b * o2) / total
"""),
    ("logsumexp as the maximum", "8.1", "maximum", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.logaddexp(m1, m2)
    safe = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    a, b = torch.exp(m1 - safe), torch.exp(m2 - safe)
    return m, a * t1 + b * t2, a * o1 + b * o2
"""),
    ("only the smaller part rescaled, by the wrong sign", "8.1", "shrink", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = torch.maximum(m1, m2)
    safe = m.masked_fill(m.isinf(), 0.0)
    a = (safe - m1).exp()
    b = (safe - m2).exp()
    return m, t1 * a + t2 * b, o1 * a + o2 * b
"""),
    ("maximum over all queries", "8.1", "each query", """
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    m = max(m1.max(), m2.max())
    a, b = torch.exp(m1 - m), torch.exp(m2 - m)
    return m.expand_as(m1), a * t1 + b * t2, a * o1 + b * o2
"""),
    ("softmax in each tile, added", "8.2", "softmax of its own", """
def tiled_attention(Q, K, V, tile, causal=False):
    T = Q.shape[-2]
    out = torch.zeros(*Q.shape[:-1], V.shape[-1], dtype=Q.dtype)
    for i in range(0, T, tile):
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                continue
            s = Q[..., i:i+tile, :] @ K[..., j:j+tile, :].mT / math.sqrt(Q.shape[-1])
            if causal and i == j:
                s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
            out[..., i:i+tile, :] += s.softmax(-1) @ V[..., j:j+tile, :]
    return out
"""),
    ("whole matrix after all", "8.2", "memory", """
def tiled_attention(Q, K, V, tile, causal=False):
    s = Q @ K.mT / math.sqrt(Q.shape[-1])
    if causal:
        s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
    return s.softmax(-1) @ V
"""),
    ("number of whole tiles rounded down", "8.2", "last, shorter tile", """
def tiled_attention(Q, K, V, tile, causal=False):
    rows = []
    n = K.shape[-2] // tile if K.shape[-2] >= tile else 1
    for q in Q.split(tile, dim=-2):
        i = len(rows)
        state = nothing_seen(q, V)
        for j in range(n):
            if causal and j > i:
                break
            s = q @ K[..., j * tile:(j + 1) * tile, :].mT / Q.shape[-1] ** 0.5
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            state = merge(state, state_of(s, V[..., j * tile:(j + 1) * tile, :]))
        rows.append(state[2] / state[1])
    return torch.cat(rows, dim=-2)
"""),
    ("mask laid over each tile from its corner", "8.2", "triangle over every tile", """
def tiled_attention(Q, K, V, tile, causal=False):
    rows = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i:i + tile, :]
        state = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break
            k, v = K[..., j:j + tile, :], V[..., j:j + tile, :]
            s = q @ k.mT / q.shape[-1] ** 0.5
            if causal:
                s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -torch.inf)
            state = merge(state, state_of(s, v))
        rows.append(state[2] / state[1])
    return torch.cat(rows, dim=-2)
"""),
    ("forgets to divide by the total", "8.2", "never divided by the total", """
def tiled_attention(Q, K, V, tile, causal=False):
    rows = []
    scale = Q.shape[-1] ** -0.5
    for i in range(0, Q.shape[-2], tile):
        state = nothing_seen(Q[..., i:i + tile, :], V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break
            s = scale * Q[..., i:i + tile, :] @ K[..., j:j + tile, :].mT
            if causal and j == i:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            state = merge(state, state_of(s, V[..., j:j + tile, :]))
        rows.append(state[-1])
    return torch.cat(rows, dim=-2)
"""),
    ("computes hidden tiles with a mask", "8.2", "NaN", """
def tiled_attention(Q, K, V, tile, causal=False):
    rows = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i:i + tile, :] / math.sqrt(Q.shape[-1])
        state = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            s = q @ K[..., j:j + tile, :].mT
            if causal:
                rows_at = torch.arange(i, i + s.shape[-2])[:, None]
                cols_at = torch.arange(j, j + s.shape[-1])
                s = s.masked_fill(cols_at > rows_at, -torch.inf)
            state = merge(state, state_of(s, V[..., j:j + tile, :]))
        rows.append(state[2] / state[1])
    return torch.cat(rows, dim=-2)
"""),
    ("joins a batch along the wrong axis", "8.2", "words are at dim=-2", """
def tiled_attention(Q, K, V, tile, causal=False):
    rows = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i:i + tile, :] / math.sqrt(Q.shape[-1])
        state = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break
            s = q @ K[..., j:j + tile, :].mT
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            state = merge(state, state_of(s, V[..., j:j + tile, :]))
        rows.append(state[2] / state[1])
    return torch.cat(rows)
"""),
    ("window by triu of the wrong diagonal", "8.3", "one too many", """
def window_mask(T, window):
    return torch.ones(T, T, dtype=torch.bool).tril().triu(-window)
"""),
    ("symmetric window", "8.3", "both sides", """
def window_mask(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, max(0, i - window + 1) : i + window] = True
    return mask
"""),
    ("own word left out", "8.3", "do not see themselves", """
def window_mask(T, window):
    i = torch.arange(T)
    d = i[:, None] - i[None, :]
    return (0 < d) & (d < window)
"""),
    ("columns are queries", "8.3", "transposed", """
def window_mask(T, window):
    i = torch.arange(T)
    d = i[None, :] - i[:, None]
    return (d >= 0) & (d < window)
"""),
    ("elu alone", "8.4", "elu + 1", """
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q), F.elu(K)
    if causal:
        kv = torch.cumsum(k.unsqueeze(-1) * V.unsqueeze(-2), dim=-3)
        z = k.cumsum(-2)
        return (q.unsqueeze(-2) @ kv).squeeze(-2) / (q * z).sum(-1, keepdim=True)
    return (q @ (k.mT @ V)) / (q @ k.sum(-2, keepdim=True).mT)
"""),
    ("normaliser sums the queries", "8.4", "normaliser", """
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    if causal:
        kv = torch.cumsum(k.unsqueeze(-1) * V.unsqueeze(-2), dim=-3)
        return (q.unsqueeze(-2) @ kv).squeeze(-2) / k.cumsum(-2).sum(-1, keepdim=True)
    return (q @ (k.mT @ V)) / k.sum(-2, keepdim=True).sum(-1, keepdim=True)
"""),
    ("future in the denominator", "8.4", "denominator", """
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    z = (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
    if causal:
        kv = torch.cumsum(torch.einsum("...ti,...tj->...tij", k, V), dim=-3)
        return torch.einsum("...ti,...tij->...tj", q, kv) / z
    return q @ (k.mT @ V) / z
"""),
    ("scaled first", "8.4", "scale", """
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q / math.sqrt(Q.shape[-1])) + 1, F.elu(K) + 1
    if causal:
        kv = torch.cumsum(torch.einsum("...ti,...tj->...tij", k, V), dim=-3)
        z = (q * k.cumsum(-2)).sum(-1, keepdim=True)
        return torch.einsum("...ti,...tij->...tj", q, kv) / z
    return q @ (k.mT @ V) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
""".replace("math.sqrt(Q.shape[-1])", "Q.shape[-1] ** 0.5")),
    ("matrix of all pairs", "8.4", "memory", """
def linear_attention(Q, K, V, causal=False):
    w = (F.elu(Q) + 1) @ (F.elu(K) + 1).mT
    if causal:
        w = w.tril()
    return w / w.sum(-1, keepdim=True) @ V
"""),
    ("epsilon in the denominator", "8.4", "nothing needs adding", """
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    if causal:
        kv = torch.cumsum(torch.einsum("...ti,...tj->...tij", k, V), dim=-3)
        z = (q * k.cumsum(-2)).sum(-1, keepdim=True)
        return torch.einsum("...ti,...tij->...tj", q, kv) / (z + 1e-6)
    return q @ (k.mT @ V) / ((q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True) + 1e-6)
"""),
    ("softmax over features", "8.4", "softmax over the features", """
def linear_attention(Q, K, V, causal=False):
    q, k = torch.softmax(Q, -1), torch.softmax(K, -1)
    if causal:
        kv = torch.cumsum(torch.einsum("...ti,...tj->...tij", k, V), dim=-3)
        z = (q * k.cumsum(-2)).sum(-1, keepdim=True)
        return torch.einsum("...ti,...tij->...tj", q, kv) / z
    return q @ (k.mT @ V) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
"""),
    ("no mask in a piece", "8.5", "Nothing is hidden", """
def attend_with_cache(layer, x_new, cache):
    q = split_heads(layer.W_q(x_new), layer.n_heads)
    k = split_heads(layer.W_k(x_new), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    t = cache["K"].shape[2]
    q, k = rope(q, offset=t), rope(k, offset=t)
    cache["K"], cache["V"] = torch.cat([cache["K"], k], 2), torch.cat([cache["V"], v], 2)
    w = (q @ cache["K"].mT / math.sqrt(q.shape[-1])).softmax(-1)
    return layer.W_o(merge_heads(w @ cache["V"]))
"""),
    ("is_causal", "8.5", "top left", """
def attend_with_cache(layer, x_new, cache):
    q = split_heads(layer.W_q(x_new), layer.n_heads)
    k = split_heads(layer.W_k(x_new), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    t = cache["K"].shape[2]
    q, k = rope(q, offset=t), rope(k, offset=t)
    cache["K"], cache["V"] = torch.cat([cache["K"], k], 2), torch.cat([cache["V"], v], 2)
    out = torch.nn.functional.scaled_dot_product_attention(q, cache["K"], cache["V"], is_causal=True)
    return layer.W_o(merge_heads(out))
"""),
    ("rope before the split", "8.5", "before the heads were split", """
def attend_with_cache(layer, x_new, cache):
    t, n = cache["K"].shape[2], x_new.shape[1]
    q = split_heads(rope(layer.W_q(x_new), offset=t), layer.n_heads)
    k = split_heads(rope(layer.W_k(x_new), offset=t), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    cache["K"], cache["V"] = torch.cat([cache["K"], k], 2), torch.cat([cache["V"], v], 2)
    ok = torch.arange(t + n) <= torch.arange(t, t + n)[:, None]
    w = (q @ cache["K"].mT / math.sqrt(q.shape[-1])).masked_fill(~ok, -torch.inf).softmax(-1)
    return layer.W_o(merge_heads(w @ cache["V"]))
"""),
    ("local variables instead of the cache", "8.5", "cache is as empty as before", """
def attend_with_cache(layer, x_new, cache):
    q = split_heads(layer.W_q(x_new), layer.n_heads)
    k = split_heads(layer.W_k(x_new), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    t, n = cache["K"].shape[2], x_new.shape[1]
    q, k = rope(q, offset=t), rope(k, offset=t)
    K, V = torch.cat([cache["K"], k], 2), torch.cat([cache["V"], v], 2)
    ok = torch.arange(t + n) <= torch.arange(t, t + n)[:, None]
    w = (q @ K.mT / math.sqrt(q.shape[-1])).masked_fill(~ok, -torch.inf).softmax(-1)
    return layer.W_o(merge_heads(w @ V))
"""),
    ("offset read after the cache has grown", "8.5", "before they are added", """
def attend_with_cache(layer, x_new, cache):
    q = split_heads(layer.W_q(x_new), layer.n_heads)
    k = split_heads(layer.W_k(x_new), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    cache["V"] = torch.cat([cache["V"], v], 2)
    t, n = cache["V"].shape[2], x_new.shape[1]
    q, k = rope(q, offset=t), rope(k, offset=t)
    cache["K"] = torch.cat([cache["K"], k], 2)
    ok = torch.arange(t) <= torch.arange(t - n, t)[:, None]
    w = (q @ cache["K"].mT / math.sqrt(q.shape[-1])).masked_fill(~ok, -torch.inf).softmax(-1)
    return layer.W_o(merge_heads(w @ cache["V"]))
"""),
    ("no output projection", "8.5", "W_o", """
def attend_with_cache(layer, x_new, cache):
    q, k, v = (split_heads(W(x_new), layer.n_heads) for W in (layer.W_q, layer.W_k, layer.W_v))
    t, n = cache["K"].shape[2], x_new.shape[1]
    q, k = rope(q, offset=t), rope(k, offset=t)
    cache["K"], cache["V"] = torch.cat([cache["K"], k], 2), torch.cat([cache["V"], v], 2)
    ok = torch.ones(n, t + n).tril(t).bool()
    w = (q @ cache["K"].mT / math.sqrt(q.shape[-1])).masked_fill(~ok, -torch.inf).softmax(-1)
    return merge_heads(w @ cache["V"])
"""),
    ("repeat", "8.6", "repeat does that", """
def grouped_query_attention(Q, K, V, mask=None):
    n = Q.shape[1] // K.shape[1]
    K, V = K.repeat(1, n, 1, 1), V.repeat(1, n, 1, 1)
    s = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
    return s.softmax(-1) @ V
"""),
    ("groups on the wrong axis of a view", "8.6", "turn", """
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T, d = Q.shape
    g = K.shape[1]
    q = Q.reshape(B, h // g, g, T, d)
    s = q @ K[:, None].mT / d**0.5
    s = s.reshape(B, h, T, K.shape[2])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    w = s.softmax(-1).reshape(B, h // g, g, T, K.shape[2])
    return (w @ V[:, None]).reshape(B, h, T, V.shape[-1])
"""),
    ("mask filled with zero", "8.6", "exp(0) = 1", """
def grouped_query_attention(Q, K, V, mask=None):
    n = Q.shape[1] // K.shape[1]
    K, V = K.repeat_interleave(n, 1), V.repeat_interleave(n, 1)
    s = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = s * mask
    return s.softmax(-1) @ V
"""),
    ("mean of the keys", "8.6", "averaged into one", """
def grouped_query_attention(Q, K, V, mask=None):
    K, V = K.mean(1, keepdim=True), V.mean(1, keepdim=True)
    s = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
    return s.softmax(-1) @ V
"""),
    ("keys only", "8.7", "both keys and values", """
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    return n_layers * n_kv_heads * d_head * n_tokens * itemsize
"""),
    ("bits", "8.7", "bits", """
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    return 2 * n_layers * n_kv_heads * d_head * n_tokens * itemsize * 8
"""),
    ("itemsize taken for the two tensors", "8.7", "both keys and values", """
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    per_layer = n_kv_heads * n_tokens * d_head
    return itemsize * per_layer * n_layers
"""),
    ("layers times window", "8.8", "share a place", """
def reach(n_layers, window):
    return n_layers * window
"""),
    ("power", "8.8", "overlap", """
def reach(n_layers, window):
    return window ** n_layers
"""),
    ("own word missing", "8.8", "last word itself", """
def reach(n_layers, window):
    return n_layers * (window - 1)
"""),
)  # fmt: skip
