"""Answers to lesson 08 with mistakes that people really made, re-created; each names what the report must find.

Evidence, as far as a public report of the very mistake was seen, is kept beside each as "direct", "adapted" or "inferred".
"""

_TILED = """
def tiled_attention(Q, K, V, tile, causal=False):
    T, d = Q.shape[-2:]
    safe = lambda a: torch.where(torch.isfinite(a), a, torch.zeros_like(a))
    scale = d ** -0.5
    m = torch.full((*Q.shape[:-1], 1), -torch.inf, dtype=Q.dtype)
    l = torch.zeros((*Q.shape[:-1], 1), dtype=Q.dtype)
    acc = torch.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for j in range(0, K.shape[-2], tile):
        s = Q @ K[..., j:j + tile, :].transpose(-2, -1) * scale
        if causal:
            s = s.masked_fill(torch.arange(T)[:, None] < torch.arange(K.shape[-2])[j:j + tile], -torch.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - safe(m_new))
        fix = torch.exp(m - safe(m_new))
        l = l * fix + p.sum(-1, keepdim=True)
        acc = acc * fix + p @ V[..., j:j + tile, :]
        m = m_new
    return acc / torch.where(l > 0, l, torch.ones_like(l))
"""
_LINEAR = """
def linear_attention(Q, K, V, causal=False):
    phi = lambda x: torch.where(x > 0, x + 1.0, torch.exp(torch.clamp(x, max=0)))
    q, k = phi(Q), phi(K)
    if causal:
        S = torch.cumsum(k[..., :, None] * V[..., None, :], dim=-3)
        z = torch.cumsum(k, dim=-2)
        return torch.einsum("...td,...tde->...te", q, S) / torch.einsum("...td,...td->...t", q, z)[..., None]
    return (q @ (k.mT @ V)) / (q @ k.sum(-2)[..., None])
"""
_WINDOW = """
def window_mask(T, window):
    d = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    return (d >= 0) & (d < window)
"""
_CACHE = """
def attend_with_cache(layer, x_new, cache):
    h = layer.n_heads
    start, n = cache["K"].shape[-2], x_new.shape[1]
    q = rope(split_heads(layer.W_q(x_new), h), offset=start)
    k = rope(split_heads(layer.W_k(x_new), h), offset=start)
    v = split_heads(layer.W_v(x_new), h)
    cache["K"] = torch.cat([cache["K"], k], dim=-2)
    cache["V"] = torch.cat([cache["V"], v], dim=-2)
    mask = torch.ones(n, start + n, dtype=torch.bool).tril(start)
    s = q @ cache["K"].mT / q.shape[-1] ** 0.5
    w = torch.softmax(s.masked_fill(~mask, -torch.inf), dim=-1)
    return layer.W_o(merge_heads(w @ cache["V"]))
"""


def _changed(source, *edits):
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


RIGHT = (("8.2", _TILED), ("8.4", _LINEAR), ("8.3", _WINDOW), ("8.5", _CACHE))

# (mistake, exercise, evidence, words that the report must hold, source)
REPORTED = (
    ("tiled-no-rescale", "8.2", "adapted", "sum of values so far must shrink", _changed(_TILED, ("acc = acc * fix + p", "acc = acc + p"))),
    ("tiled-rescale-inverted", "8.2", "adapted", "divide the sum of values so far by the correction factor",
        _changed(_TILED, ("acc = acc * fix + p", "acc = torch.where(fix > 0, acc / torch.where(fix > 0, fix, torch.ones_like(fix)), torch.zeros_like(acc)) + p"))),
    ("tiled-starts-at-zero", "8.2", "direct", "running maximum starts at 0",
        _changed(_TILED, ("m = torch.full((*Q.shape[:-1], 1), -torch.inf, dtype=Q.dtype)", "m = torch.zeros((*Q.shape[:-1], 1), dtype=Q.dtype)"), ("torch.where(l > 0, l, torch.ones_like(l))", "l.clamp(min=1e-300)"))),
    ("tiled-scale-compounds", "8.2", "direct", "scale is applied again at every tile",
        _changed(_TILED, ("    scale = d ** -0.5\n", "    scale = 1.0\n"), ("        s = Q @", "        scale = scale * d ** -0.5\n        s = Q @"))),
    ("tiled-empty-block-nan", "8.2", "adapted", "−∞ − (−∞) is NaN",
        _changed(_TILED, ("p = torch.exp(s - safe(m_new))", "p = torch.exp(s - s.amax(-1, keepdim=True)) * torch.exp(s.amax(-1, keepdim=True) - m_new)"), ("fix = torch.exp(m - safe(m_new))", "fix = torch.exp(m - m_new)"))),
    ("tiled-drops-tail", "8.2", "inferred", "The last, shorter tile of keys is left out", _changed(_TILED, ("range(0, K.shape[-2], tile)", "range(0, K.shape[-2] // tile * tile, tile)"))),
    ("linear-multiplies-normaliser", "8.4", "direct", "multiplied by the normaliser",
        _changed(_LINEAR, (" / torch.einsum(", " * torch.einsum("), ("(q @ (k.mT @ V)) / (", "(q @ (k.mT @ V)) * ("))),
    ("linear-no-normaliser", "8.4", "adapted", "weights do not sum to 1",
        _changed(_LINEAR, (' / torch.einsum("...td,...td->...t", q, z)[..., None]', ""), (" / (q @ k.sum(-2)[..., None])", ""))),
    ("linear-cumsum-wrong-axis", "8.4", "direct", "goes along the features", _changed(_LINEAR, ("z = torch.cumsum(k, dim=-2)", "z = torch.cumsum(k, dim=-1)"))),
    ("linear-causal-sees-all", "8.4", "inferred", "outputs depend on later words", _changed(_LINEAR, ("    if causal:", "    if False:"))),
    ("linear-elu-loses-small-values", "8.4", "direct", "small features have become 0",
        _changed(_LINEAR, ("torch.where(x > 0, x + 1.0, torch.exp(torch.clamp(x, max=0)))", "(torch.nn.functional.elu(x.half()) + 1).to(x.dtype)"))),
    ("window-one-too-wide", "8.3", "direct", "one too many", _changed(_WINDOW, ("d < window", "d <= window"))),
    ("window-sees-future", "8.3", "direct", "opens to both sides", _changed(_WINDOW, ("(d >= 0) & (d < window)", "d.abs() < window"))),
    ("window-or-instead-of-and", "8.3", "direct", "joined the two conditions with OR", _changed(_WINDOW, ("(d >= 0) & (d < window)", "(d >= 0) | (d.abs() < window)"))),
    ("cache-sees-first-key-only", "8.5", "direct", "starts at the top left", _changed(_CACHE, (".tril(start)", ".tril()"))),
    ("cache-not-cleared", "8.5", "direct", "outlive the text",
        _changed(_CACHE, ("(layer, x_new, cache):\n", "(layer, x_new, cache, store={}):\n    given, cache = cache, store.setdefault(layer, dict(cache))\n"), ("    return layer.W_o", "    given.update(cache)\n    return layer.W_o"))),
    ("cache-keys-only", "8.5", "inferred", "one value per key", _changed(_CACHE, ('cache["V"] = torch.cat([cache["V"], v], dim=-2)', 'cache["V"] = v'))),
    ("cache-position-stays-zero", "8.5", "direct", "as if it began at place 0",
        _changed(_CACHE, ("split_heads(layer.W_q(x_new), h), offset=start)", "split_heads(layer.W_q(x_new), h))"), ("split_heads(layer.W_k(x_new), h), offset=start)", "split_heads(layer.W_k(x_new), h))"))),
    ("cache-rotated-twice", "8.5", "direct", "turned already, and yours are turned again", _changed(_CACHE, ('s = q @ cache["K"].mT', 's = q @ rope(cache["K"]).mT'))),
)  # fmt: skip
