"""Thirty-three wrong answers to lesson 10, written while playing a learner, with the decisive words that each must be told.

None was taken from the catalogue. (name, exercise, words of the report, source)
"""

HEAD = "def bert_self_attention(x, layer, n_heads, mask=None):\n"
LINEAR = "    linear = torch.nn.functional.linear\n"
QKV = "    Q, K, V = (linear(x, W, b) for W, b in ((layer.W_q, layer.b_q), (layer.W_k, layer.b_k), (layer.W_v, layer.b_v)))\n"
SPLIT = "    Q, K, V = (split_heads(z, n_heads) for z in (Q, K, V))\n"
SCORES = "    s = Q @ K.mT / math.sqrt(Q.shape[-1])\n"
MASKED = "    if mask is not None:\n        s = s.masked_fill(~mask, -torch.inf)\n"
END = "    w = s.softmax(-1)\n    return linear(merge_heads(w @ V), layer.W_o, layer.b_o), w\n"
START = HEAD + LINEAR + QKV

ATTEMPTS = (
    ("no bias at the end", "10.1", "b_o", START + SPLIT + SCORES + MASKED + "    w = s.softmax(-1)\n    return merge_heads(w @ V) @ layer.W_o.T, w\n"),
    ("plain products as in lesson 04", "10.1", "bias", HEAD + "    Q, K, V = x @ layer.W_q.T, x @ layer.W_k.T, x @ layer.W_v.T\n" + SPLIT + SCORES + MASKED
     + "    w = s.softmax(-1)\n    return merge_heads(w @ V) @ layer.W_o.T, w\n"),
    ("X @ W as in the NumPy lessons", "10.1", "out, in", HEAD + "    Q, K, V = x @ layer.W_q + layer.b_q, x @ layer.W_k + layer.b_k, x @ layer.W_v + layer.b_v\n" + SPLIT + SCORES + MASKED
     + "    w = s.softmax(-1)\n    return merge_heads(w @ V) @ layer.W_o + layer.b_o, w\n"),
    ("W_o alone not transposed", "10.1", "W_o", START + SPLIT + SCORES + MASKED + "    w = s.softmax(-1)\n    return merge_heads(w @ V) @ layer.W_o + layer.b_o, w\n"),
    ("whole width in the scale", "10.1", "d_model", START + "    root = math.sqrt(Q.shape[-1])\n" + SPLIT + "    s = Q @ K.mT / root\n" + MASKED + END),
    ("scaled twice", "10.1", "d_k", START + SPLIT + "    s = Q @ K.mT / math.sqrt(Q.shape[-1])\n    s = s / math.sqrt(Q.shape[-1])\n" + MASKED + END),
    ("mask multiplied", "10.1", "Hidden scores became 0", START + SPLIT + SCORES + "    if mask is not None:\n        s = s * mask\n" + END),
    ("mask thrown away", "10.1", "mask", START + SPLIT + SCORES + "    if mask is not None:\n        s.masked_fill(~mask, -torch.inf)\n" + END),
    ("the number of Hugging Face", "10.1", "finite number", START + SPLIT + SCORES + "    if mask is not None:\n        s = s + (~mask) * -10000.0\n" + END),
    ("softmax along the wrong axis", "10.1", "softmax", START + SPLIT + SCORES + MASKED + "    w = s.softmax(1)\n    return linear(merge_heads(w @ V), layer.W_o, layer.b_o), w\n"),
    ("view instead of split", "10.1", "token", START + "    B, T, d = x.shape\n    Q, K, V = (z.view(B, n_heads, T, d // n_heads) for z in (Q, K, V))\n" + SCORES + MASKED + END),
    ("forgot the last matrix", "10.1", "W_o", START + SPLIT + SCORES + MASKED + "    w = s.softmax(-1)\n    return merge_heads(w @ V), w\n"),
    ("bias after the split", "10.1", "stopped", HEAD + "    Q = split_heads(x @ layer.W_q.T, n_heads) + layer.b_q\n    K = split_heads(x @ layer.W_k.T, n_heads) + layer.b_k\n"
     "    V = split_heads(x @ layer.W_v.T, n_heads) + layer.b_v\n" + LINEAR + SCORES + MASKED + END),
    ("same bias everywhere", "10.1", "b_q", HEAD + LINEAR + "    Q, K, V = (linear(x, W, layer.b_q) for W in (layer.W_q, layer.W_k, layer.W_v))\n" + SPLIT + SCORES + MASKED + END),
    ("noun looks at verb", "10.2", "verb looks", "def agreement_share(weights, verb, subject, other):\n    wins = [w[..., s, v] > w[..., o, v] for w, v, s, o in zip(weights, verb, subject, other)]\n    return torch.stack(wins).float().mean(0)\n"),
    ("one index for all", "10.2", "own places", "def agreement_share(weights, verb, subject, other):\n    a = weights[..., verb, subject]\n    b = weights[..., verb, other]\n    return (a > b).float().mean(-1).mean(0)\n"),
    ("ratio of the weights", "10.2", "in how many|sentences in which|share of", "def agreement_share(weights, verb, subject, other):\n    total = 0\n    for w, v, s, o in zip(weights, verb, subject, other):\n        total = total + w[..., v, s] / (w[..., v, s] + w[..., v, o] + 1e-12)\n    return total / len(weights)\n"),
    ("argmax of the row", "10.2", "largest weight", "def agreement_share(weights, verb, subject, other):\n    hits = [(w[..., v, :].argmax(-1) == s).float() for w, v, s in zip(weights, verb, subject)]\n    return torch.stack(hits).mean(0)\n"),
    ("sum of the wins", "10.2", "number|count", "def agreement_share(weights, verb, subject, other):\n    n = 0\n    for w, v, s, o in zip(weights, verb, subject, other):\n        n = n + (w[..., v, s] > w[..., v, o]).float()\n    return n\n"),
    ("mean over everything", "10.2", "heads", "def agreement_share(weights, verb, subject, other):\n    wins = [w[..., v, s] > w[..., v, o] for w, v, s, o in zip(weights, verb, subject, other)]\n    return torch.stack(wins).float().mean()\n"),
    ("return too early", "10.2", "first sentence", "def agreement_share(weights, verb, subject, other):\n    for w, v, s, o in zip(weights, verb, subject, other):\n        return (w[..., v, s] > w[..., v, o]).float()\n"),
    ("plain mean", "10.3", "[Pp]adding", "def mean_pool(hidden, mask):\n    return torch.mean(hidden, 1)\n"),
    ("zeros in the mean", "10.3", "own number of tokens", "def mean_pool(hidden, mask):\n    h = hidden.clone()\n    h[~mask] = 0\n    return h.mean(dim=1)\n"),
    ("all tokens in one pot", "10.3", "all texts|of its own|each text", "def mean_pool(hidden, mask):\n    return hidden[mask].mean(0)\n"),
    ("classification token", "10.3", "CLS", "def mean_pool(hidden, mask):\n    return hidden[:, 0, :]\n"),
    ("unit vectors", "10.3", "length 1|norm", "def mean_pool(hidden, mask):\n    m = mask.unsqueeze(-1)\n    v = (hidden * m).sum(1) / m.sum(1)\n    return v / v.norm(dim=-1, keepdim=True)\n"),
    ("dot products", "10.4", "norm", "def search(query, corpus, k):\n    scores = corpus @ query\n    top = scores.topk(k)\n    return top.indices, top.values\n"),
    ("argsort the wrong way", "10.4", "least similar|smallest|order", "def search(query, corpus, k):\n    c = (corpus / corpus.norm(dim=1, keepdim=True)) @ (query / query.norm())\n    i = c.argsort()[:k]\n    return i, c[i]\n"),
    ("last k of argsort", "10.4", "order", "def search(query, corpus, k):\n    c = (corpus / corpus.norm(dim=1, keepdim=True)) @ (query / query.norm())\n    i = c.argsort()[-k:]\n    return i, c[i]\n"),
    ("one norm for the corpus", "10.4", "norm", "def search(query, corpus, k):\n    c = (corpus / corpus.norm()) @ (query / query.norm())\n    v, i = torch.topk(c, k)\n    return i, v\n"),
    ("Euclid", "10.4", "distance", "def search(query, corpus, k):\n    d = ((corpus - query) ** 2).sum(1).sqrt()\n    v, i = torch.topk(-d, k)\n    return i, -v\n"),
    ("values first", "10.4", "cosines, indices|swapped|order of the results", "def search(query, corpus, k):\n    q = query / query.norm()\n    c = corpus / corpus.norm(dim=1)[:, None]\n    return torch.topk(c @ q, k)\n"),
    ("in place", "10.4", "changed", "def search(query, corpus, k):\n    query /= query.norm()\n    corpus /= corpus.norm(dim=1, keepdim=True)\n    v, i = (corpus @ query).topk(k)\n    return i, v\n"),
)
