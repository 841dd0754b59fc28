"""Wrong answers of a crowd: 151 (`r`) by someone who set out to be wild, 70 (`s`) as ordinary learners write, and 90
(`t`) in the manner of fifteen kinds of people, ten of them plausible misreadings of the task.

All had seen lessons and solutions only. Of those that were graded as they came, 65 of 70 `s` and 81 of 90 `t` were
named in full; of the `r`, about seven in ten before what they taught was built. As in `blind_attempts`, `words` stand in the report
of each that is named in full, and of a `slow` one only the rejection is tested.
"""

ATTEMPTS = [
    dict(
        id='r-1.1-zip-features-with-rows', exercise='1.1', today='NAMED', words=('It pairs the first of query with the first of keys',),
        tutor='zip(query, keys) pairs feature i of the query with the whole row i of keys, so each pair is a number times a key, not a query with a key. The result multiplies key i by query[i] and sums its features, and it stops at the shorter of d and n. Every key needs the whole query: sum over the features of each row, keys @ query.',
        code=r'''
def similarities(query, keys):
    result = []
    for feature, key in zip(query, keys):
        total = 0
        for number in key:
            total += feature * number
        result.append(total)
    return np.array(result)
''',
    ),
    dict(
        id='r-1.2-clip-against-overflow', exercise='1.2', today='NAMED', words=('You clipped the scores to stay clear of overflow, so scores ',),
        tutor='Clipping the scores to ±30 prevents the overflow but changes the weights: all scores beyond 30 become equal, so the best key no longer wins. Subtract the largest score instead, that changes no weight.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    logits = np.clip(similarities(query, keys) * sharpness, -30.0, 30.0)
    e = np.exp(logits)
    p = e / np.sum(e)
    return np.einsum('n,nv->v', p, values), p
''',
    ),
    dict(
        id='r-1.2-zero-shortcut-not-normalised', exercise='1.2', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='The early return for sharpness 0 gives the right value but the weights are all 1, so they sum to n instead of 1. They should be 1/n each. The special case is not needed at all: the general formula gives it.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    n = len(keys)
    if sharpness == 0:
        # everybody counts the same -> plain average
        return np.mean(values, axis=0), np.ones(n)
    s = sharpness * similarities(query, keys)
    s = s - s.max()
    w = np.exp(s) / np.exp(s).sum()
    return w @ values, w
''',
    ),
    dict(
        id='r-1.3-fused-split-in-thirds', exercise='1.3', today='NAMED', words=('cut into equal parts',),
        tutor='The fused product is fine, but np.split(..., 3) cuts it into three equal parts. W_v may have another width than W_q and W_k (d_v ≠ d_k): then it raises or cuts at the wrong columns. Cut at d_k and 2 d_k, or project three times.',
        code=r'''
def project(X, W_q, W_k, W_v):
    # one big matmul like c_attn in nanoGPT, then split
    W_qkv = np.concatenate([W_q, W_k, W_v], axis=1)
    qkv = X @ W_qkv
    q, k, v = np.split(qkv, 3, axis=-1)
    return q, k, v
''',
    ),
    dict(
        id='r-1.4-inner-makes-all-batch-pairs', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every example ',),
        tutor='np.inner pairs every row of Q with every row of K over all leading axes too. For two matrices that is right, but with a batch it gives (B, T_q, B, T_k): each sentence is scored with every other sentence. Use Q @ np.swapaxes(K, -1, -2), which keeps the batch axes aligned.',
        code=r'''
def dot_product_scores(Q, K):
    return np.inner(Q, K)
''',
    ),
    dict(
        id='r-1.5-old-asks-for-plural-only', exercise='1.5', today='NAMED', words=('old gives books and are the same weight, 0.49: nothi',),
        tutor='The row of adjective asks for plural only, [0, 5], and not for a noun. The key of "are" is plural too, so "old" gives "books" and "are" the same score and each gets about a half. Write a noun into this row too, [5, 5].',
        code=r'''
def design_projections():
    #                noun plural
    W_q = np.array([[0.0, 0.0],   # noun: looks for nothing
                    [5.0, 0.0],   # verb: a noun
                    [0.0, 5.0],   # adjective: something plural
                    [0.0, 5.0]])  # number: same number as me
    W_k = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    return W_q, W_k
''',
    ),
    dict(
        id='r-2.1-out-buffer-is-the-input', exercise='2.1', today='NAMED', words=('The values are right. The function changed its input',),
        tutor="np.asarray does not copy a float array, so y is x itself, and np.subtract, np.exp and /= with out=y overwrite the caller's scores. The result is right but the input is changed, which the exercise forbids. Make a copy, or write y = x - x.max(...).",
        code=r'''
def softmax(x, axis=-1):
    y = np.asarray(x, dtype=float)
    np.subtract(y, y.max(axis=axis, keepdims=True), out=y)
    np.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return y
''',
    ),
    dict(
        id='r-2.1-moveaxis-not-undone', exercise='2.1', today='NAMED', words=('One change in line 6 would make this right: look at ',),
        tutor='The axis is moved to the end and never moved back. For axis=-1 nothing happens; for any other axis the result has its axes in another order, so the shape is wrong or, for a square array, it is transposed. Move it back with np.moveaxis(p, -1, axis), or use axis=axis, keepdims=True.',
        code=r'''
def softmax(x, axis=-1):
    z = np.moveaxis(np.asarray(x, float), axis, -1)
    z = z - z.max(-1)[..., None]
    p = np.exp(z)
    p = p / p.sum(-1)[..., None]
    return p
''',
    ),
    dict(
        id='r-2.2-boolean-index-needs-full-mask', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the scor',),
        tutor='scores[~mask] = -inf works only if the mask has exactly the shape of the scores. A mask that must be broadcast, such as (T_q, T_k) or (1, T_k) for a batch, raises an IndexError. Use np.where(mask, scores, -np.inf), which broadcasts.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    logits = np.einsum('...ik,...jk->...ij', Q, K) / np.sqrt(K.shape[-1])
    if mask is not None:
        logits[~mask] = -np.inf
    A = softmax(logits)
    return np.einsum('...ij,...jv->...iv', A, V), A
''',
    ),
    dict(
        id='r-2.2-unbound-without-a-mask', exercise='2.2', today='NAMED', words=('masked gets its value only in line 6',), slow=True,
        tutor='The name masked gets a value only if there is a mask. Without one, softmax(masked) raises an UnboundLocalError. Give the masked scores the same name as the scores, or start with masked = scores.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    # 1. scores
    scores = np.matmul(Q, K.swapaxes(-1, -2)) / np.sqrt(np.float64(Q.shape[-1]))
    # 2. mask
    if mask is not None:
        masked = np.where(mask, scores, -np.inf)
    # 3. weights
    attention_weights = softmax(masked, axis=-1)
    # 4. values
    return np.matmul(attention_weights, V), attention_weights
''',
    ),
    dict(
        id='r-2.2-both-scaled-by-the-full-root', exercise='2.2', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k = 2 (',),
        tutor='Q and K are each divided by √d_k, so the scores are divided by d_k altogether and the weights are too flat. When both are scaled, each gets the fourth root, d_k ** -0.25; or scale only one of them by d_k ** -0.5.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    # scale the inputs, not the big matrix: cheaper and safer in half precision
    norm = Q.shape[-1] ** -0.5
    scores = (Q * norm) @ np.swapaxes(K * norm, -1, -2)
    if mask is not None:
        bias = np.where(mask, 0.0, -np.inf)
        scores = scores + bias
    weights = softmax(scores, -1)
    return weights @ V, weights
''',
    ),
    dict(
        id='r-2.2-scale-after-softmax', exercise='2.2', today='NAMED', words=('You returned (weights, out); the order asked for', 'You divided the weights by √d_k, so their rows n'),
        tutor='Two mistakes: the division by √d_k stands after the softmax, so it does not soften the weights but makes each row sum to 1/√d_k. And weights and out are returned in the wrong order. Scale the scores before the softmax, return out first.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    energy = np.matmul(Q, np.swapaxes(K, -2, -1))
    if mask is not None:
        energy = np.where(mask, energy, float("-inf"))
    # softmax(QK^T) / sqrt(d_k)
    attention = softmax(energy, axis=-1) / (Q.shape[-1] ** (1 / 2))
    x = np.matmul(attention, V)
    return attention, x
''',
    ),
    dict(
        id='r-2.3-scores-from-global-Q-and-K', exercise='2.3', today='NAMED', words=('Is q meant?',),
        tutor="The function makes q, k and v but computes the scores with the capital Q and K, which are the notebook's global variables (the running example). So the weights do not depend on X, W_q or W_k: NameError in a fresh kernel, wrong shape or wrong numbers otherwise. Use q and k, or call scaled_dot_product_attention. The mask is dropped too.",
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    weights = softmax(Q @ K.T / math.sqrt(K.shape[-1]))
    out = weights @ v
    return out, weights
''',
    ),
    dict(
        id='r-2.4-tanh-before-the-sum', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='tanh is taken of each projection by itself and the two are added afterwards. Then the score is a part of the query plus a part of the key, and they never meet in the nonlinearity. Add first: v · tanh(q W_q + k W_k).',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    def hidden(A, W):
        return np.tanh(np.dot(A, W))
    hq, hk = hidden(Q, W_q), hidden(K, W_k)
    scores = np.empty((len(Q), len(K)))
    for i, a in enumerate(hq):
        for j, b in enumerate(hk):
            scores[i, j] = v.dot(a + b)
    return scores
''',
    ),
    dict(
        id='r-2.4-keys-first-and-v-forgotten', exercise='2.4', today='NAMED', words=('You summed the hidden units; the score is their ', 'Your scores are transposed: rows should be queri'),
        tutor='Two mistakes: the keys are put on the first axis and the queries on the second, so the result is (T_k, T_q), the transpose of what is asked. And the hidden units are summed without their weights v. Use [:, None] for the queries, [None] for the keys, and @ v.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    q = (Q @ W_q)[np.newaxis, :, :]
    k = (K @ W_k)[:, np.newaxis, :]
    features = np.tanh(q + k)
    return features.sum(axis=-1)
''',
    ),
    dict(
        id='r-2.5-symmetrised-form', exercise='2.5', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='Only a quadratic form x W xᵀ depends on the symmetric part of W alone. Here q and k differ, so averaging W with its transpose changes the scores: the direction between query and key is lost. It also fails when d_q ≠ d_k. Use Q @ W @ K.T.',
        code=r'''
def general_scores(Q, K, W):
    # a bilinear form only sees the symmetric part of its matrix
    S = 0.5 * (W + W.T)
    return np.einsum('ia,ab,jb->ij', Q, S, K)
''',
    ),
    dict(
        id='r-2.6-softmax-on-axis-one', exercise='2.6', today='NAMED', words=('The softmax runs along axis 1. That is right for one',),
        tutor='Scale and mask are mended. axis=1 is the axis of the keys only for a matrix (T_q, T_k); with a batch in front axis 1 is the queries (or the heads), so rows no longer sum to 1. Use axis=-1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='r-2.6-mask-turned-round-scale-left', exercise='2.6', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k =', 'The mask is inverted: True must mean “may look”,'),
        tutor='Only the softmax axis is mended. The branches of np.where are exchanged: allowed pairs get -inf and blocked ones keep their score, so the words attend to exactly what is hidden (NaN if nothing is hidden in a row). And the scale still divides by d_k instead of √d_k.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / d_k
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)   # 0.0 was not small enough
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='r-3.1-one-normal-number-per-pair', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='It draws a normal number with standard deviation √d_k, which has the right mean and variance, but a dot product is only approximately normal for large d_k. For d_k = 1 it is a product of two normals, with a sharp peak and heavy tails. Draw queries and keys and multiply them.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # a sum of d_k independent terms with variance 1 -> N(0, d_k)
    return rng.normal(loc=0.0, scale=np.sqrt(d_k), size=n)
''',
    ),
    dict(
        id='r-3.2-any-zero-makes-it-all-zero', exercise='3.2', today='NAMED', words=('Every wrong case goes through line 4',),
        tutor='As soon as one weight is 0 the whole answer becomes 0. Only the term of this weight is 0; the other weights of the row, and all other rows, keep their entropy. Replace the zeros inside the logarithm by 1.',
        code=r'''
def entropy(weights):
    p = np.asarray(weights)
    if np.any(p == 0):
        return np.zeros(p.shape[:-1])   # a weight of 0 adds nothing
    return np.einsum('...n,...n->...', p, -np.log(p))
''',
    ),
    dict(
        id='r-3.3-softmax-of-weights', exercise='3.3', today='NAMED', words=('You applied softmax to p; the argument holds the wei',),
        tutor='p already holds the weights, but the function applies softmax to them once more, as if they were scores. The formula afterwards is right, for other, flatter weights. Leave out the softmax.',
        code=r'''
def softmax_jacobian(p):
    s = softmax(p, axis=-1)
    eye = np.eye(s.shape[-1])
    return np.einsum('...i,ij->...ij', s, eye) - np.einsum('...i,...j->...ij', s, s)
''',
    ),
    dict(
        id='r-3.4-row-sum-loses-its-axis', exercise='3.4', today='NAMED', words=('Your sum drops its axis, so it lines up with the col',),
        tutor='The einsum gives one number per row, shape (...), without a last axis. Subtracted from (..., n) it is broadcast along the wrong axis: an error for most shapes, and when there are as many rows as columns row sums go silently to columns. Add [..., None].',
        code=r'''
def softmax_backward(weights, d_weights):
    inner = np.einsum('...j,...j->...', weights, d_weights)
    return weights * (d_weights - inner)
''',
    ),
    dict(
        id='r-4.1-split-takes-sizes', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='torch.split takes the size of a piece, not the number of pieces: x.split(n_heads, dim=-1) makes pieces n_heads wide, so there are d_k heads of width h instead of h heads of width d_k. It is right only when h = d_k. Use chunk(n_heads, dim=-1), or split(d_model // n_heads).',
        code=r'''
def split_heads(x, n_heads):
    heads = x.split(n_heads, dim=-1)
    return torch.stack(heads, dim=1)
''',
    ),
    dict(
        id='r-4.1-einops-not-there', exercise='4.1', today='NAMED', words=('einops is not installed',),
        tutor='einops is not installed in this course, so the import raises; reshape and transpose do the same. The pattern would be wrong as well: (d h) deals the features out in turn, the heads must be the outer part, (h d).',
        code=r'''
def split_heads(x, n_heads):
    from einops import rearrange
    return rearrange(x, 'b t (d h) -> b h t d', h=n_heads)
''',
    ),
    dict(
        id='r-4.2-rearranged-d-before-h', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth',),
        tutor='permute(0, 2, 3, 1) puts the features before the heads, so after the reshape a word holds feature 0 of every head, then feature 1 of every head. The heads should stand side by side, head 0 first: permute(0, 2, 1, 3).',
        code=r'''
def merge_heads(x):
    # rearrange(x, 'b h t d -> b t (d h)')
    b, h, t, d = x.shape
    return x.permute(0, 2, 3, 1).reshape(b, t, d * h)
''',
    ),
    dict(
        id='r-4.3-mask-unsqueezed-like-hugging-face', exercise='4.3', today='NAMED', words=('You gave the mask two axes, as if it came as (B, T);',),
        tutor="mask[:, None, None, :] is meant for a padding mask (B, T). The exercise's mask is already broadcastable to (B, h, T, T); a causal mask (T, T) becomes (T, 1, 1, T), which raises or, with B = 1 or B = T, is applied to the wrong axis without a word. Use the mask as it comes.",
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"The hidden size ({d_model}) is not a multiple of the number of heads ({n_heads})")
        self.num_attention_heads = n_heads
        self.attention_head_size = d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.num_attention_heads)
        k = split_heads(self.W_k(x), self.num_attention_heads)
        v = split_heads(self.W_v(x), self.num_attention_heads)
        attention_scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if mask is not None:
            extended = mask[:, None, None, :]
            attention_scores = attention_scores.masked_fill(~extended, float("-inf"))
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        context = torch.matmul(self.dropout(attention_probs), v)
        return self.W_o(merge_heads(context)), attention_probs
''',
    ),
    dict(
        id='r-4.3-keeps-the-mask-of-an-earlier-call', exercise='4.3', today='NAMED', words=('The first call of a module is right, but after a cal',),
        tutor='The module stores the mask in self.mask and uses it again when a later call passes none. So a call without a mask is masked by an earlier one, and another length even raises. forward must depend on its arguments only: mask None means no mask.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} % {n_heads} != 0")
        self.h, self.d = n_heads, d_model // n_heads
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.mask = None

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = [split_heads(lin(x), self.h) for lin in (self.W_q, self.W_k, self.W_v)]
        att = torch.einsum('bhid,bhjd->bhij', q, k) / math.sqrt(self.d)
        if self.mask is not None:
            att = att.masked_fill(self.mask.logical_not(), -torch.inf)
        att = att.softmax(-1)
        y = torch.einsum('bhij,bhjd->bhid', self.dropout(att), v)
        return self.W_o(merge_heads(y)), att
''',
    ),
    dict(
        id='r-4.3-functional-dropout-always-on', exercise='4.3', today='NAMED', words=('Dropout stays on in eval mode: nn.functional.dropout',),
        tutor='F.dropout (nn.functional.dropout) has training=True by default, so it drops weights in eval mode too and the outputs stay random after .eval(). Pass training=self.training, or use an nn.Dropout module.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model=%d must be a multiple of n_heads=%d" % (d_model, n_heads))
        self.n_heads = n_heads
        self.p = dropout
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (split_heads(f(x), self.n_heads) for f in (self.W_q, self.W_k, self.W_v))
        w = (q @ k.mT) * (C // self.n_heads) ** -0.5
        if mask is not None:
            w = w.masked_fill(mask == False, float('-inf'))
        w = torch.softmax(w, -1)
        y = nn.functional.dropout(w, self.p) @ v
        return self.W_o(merge_heads(y)), w
''',
    ),
    dict(
        id='r-4.3-dropped-weights-returned-and-assert', exercise='4.3', today='NAMED', words=('In the case “d_model = 10 and three heads”, for ', 'The weights you return have already gone through'),
        tutor='Two mistakes: the weights are replaced by their dropped-out version and so returned; in training their rows do not sum to 1. Return them as they were before dropout. And assert raises AssertionError, not the ValueError that is asked for.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} is not divisible by {n_heads}"
        self.d_k = d_model // n_heads
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        nbatches = x.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.n_heads, self.d_k).transpose(1, 2)
            for lin in (self.W_q, self.W_k, self.W_v)
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        p_attn = scores.softmax(dim=-1)
        p_attn = self.dropout(p_attn)
        x = torch.matmul(p_attn, value)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.n_heads * self.d_k)
        return self.W_o(x), p_attn
''',
    ),
    dict(
        id='r-4.4-parameters-share-memory', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training one ',),
        tutor="nn.Parameter(W_q) wraps the same memory and copies nothing: chunk gives views of PyTorch's in_proj_weight, and out_proj.weight is even the same object. Training one module changes the other. Clone the numbers, or copy_ them under no_grad.",
        code=r'''
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, dropout=mha.dropout)
    for layer, block in zip((ours.W_q, ours.W_k, ours.W_v), mha.in_proj_weight.chunk(3, dim=0)):
        layer.weight = nn.Parameter(block)
    ours.W_o.weight = mha.out_proj.weight
    return ours
''',
    ),
    dict(
        id='r-4.4-qkv-interleaved-per-head', exercise='4.4', today='NAMED', words=("You unpacked in_proj_weight as if each head's querie",),
        tutor='in_proj_weight is unpacked as if each head had its own q, k and v rows next to each other, (h, 3, d_k, d), as in GPT-NeoX. PyTorch stores all rows of W_q first, then W_k, then W_v: chunk(3) along the rows. With one head the two agree, with more the rows are mixed.',
        code=r'''
def from_torch(mha):
    d, h = mha.embed_dim, mha.num_heads
    qkv = mha.in_proj_weight.detach().reshape(h, 3, d // h, d)
    ours = MultiHeadAttention(d, h, mha.dropout).to(qkv.dtype)
    ours.W_q.weight.data = qkv[:, 0].reshape(d, d).clone()
    ours.W_k.weight.data = qkv[:, 1].reshape(d, d).clone()
    ours.W_v.weight.data = qkv[:, 2].reshape(d, d).clone()
    ours.W_o.weight.data = mha.out_proj.weight.detach().clone()
    return ours
''',
    ),
    dict(
        id='r-5.1-softmax-of-zeros-and-ones', exercise='5.1', today='NAMED', words=('Softmax of ones and zeros still gives the zeros weig',),
        tutor='softmax over a triangle of ones and zeros does not hide the zeros: exp(0) = 1 still counts, so every word after t gets a weight and the future leaks in. Hidden places need −∞ before a softmax, or divide the triangle by its row sums.',
        code=r'''
def prefix_mean(x):
    T, C = x.shape
    tril = torch.tril(torch.ones(T, T))
    wei = torch.softmax(tril, dim=-1)
    return wei.to(x.dtype) @ x
''',
    ),
    dict(
        id='r-5.2-bool-of-the-additive-mask', exercise='5.2', today='NAMED', words=('You marked what is hidden; here True means may atten',),
        tutor='generate_square_subsequent_mask gives 0 for allowed and −∞ for hidden pairs. bool() makes False of 0 and True of −∞, so the mask is turned round: only later words may be seen and the last row is empty. It must be == 0.',
        code=r'''
def causal_mask(T):
    additive = nn.Transformer.generate_square_subsequent_mask(T)
    return additive.bool()
''',
    ),
    dict(
        id='r-5.3-jacobian-sees-only-gradients', exercise='5.3', today='NAMED', words=('You ask for derivatives, and the exercise asks what ',),
        tutor='It looks at derivatives, not at changes. A function that leaks without a gradient (a detached tensor, a comparison, argmax or rounding, or one that runs under no_grad) has a Jacobian of zero there and passes as honest. The exercise asks whether outputs change when later words change: change them.',
        code=r'''
def leaks_future(attend, x):
    J = torch.autograd.functional.jacobian(attend, x)     # (T, d_v, T, d)
    J = J.abs().amax(dim=(1, 3))                          # (T_out, T_in)
    return bool((J.triu(diagonal=1) > 1e-5).any())
''',
    ),
    dict(
        id='r-5.3-prefix-against-whole', exercise='5.3', today='NAMED', words=('You compared with the outputs of a shorter sentence,',),
        tutor='It shortens the text instead of changing its later words, and the exercise says to keep all T words. A function that refuses one word raises, and an honest one that depends on T, or one with dropout (other shapes draw other numbers), looks as if it leaked. Change rows t and later in a copy of all T words.',
        code=r'''
def leaks_future(attend, x):
    rng_state = torch.get_rng_state()
    full = attend(x)
    for t in range(1, len(x)):
        torch.set_rng_state(rng_state)
        part = attend(x[:t])
        if not torch.allclose(full[:t], part, atol=1e-5):
            return True
    return False
''',
    ),
    dict(
        id='r-5.3-alias-zeroed-and-no-final-return', exercise='5.3', today='NAMED', words=('is a second name for x and no copy',), slow=True,
        tutor="Two mistakes: changed = x makes no copy, so writing zeros changes the caller's x, and step by step all its rows from 1 on are lost. And nothing is returned at the end: an honest function gives None instead of False. Use x.clone() and return False after the loop.",
        code=r'''
def leaks_future(attend, x):
    state = torch.get_rng_state()
    reference = attend(x)
    for t in reversed(range(1, x.shape[0])):
        changed = x
        changed[t:] = 0.0
        torch.set_rng_state(state)
        moved = (attend(changed)[:t] - reference[:t]).abs() > 1e-5
        if moved.any():
            return True
''',
    ),
    dict(
        id='r-5.4-word-by-word-square', exercise='5.4', today='NAMED', words=('You hid padding as keys and as queries. A query of p',),
        tutor='It combines the words as queries with the words as keys to (B, 1, T, T). The exercise wants the keys only, (B, 1, 1, T). Hiding padding as a query too leaves rows with nothing to look at, which become NaN in a plain softmax.',
        code=r'''
def padding_mask(tokens, pad_id):
    valid = (tokens != pad_id)
    square = valid.unsqueeze(1) & valid.unsqueeze(2)    # (B, T, T)
    return square.unsqueeze(1)
''',
    ),
    dict(
        id='r-5.5-and-in-place', exercise='5.5', today='NAMED', words=('One change in line 2 would make this right: look at ',),
        tutor="&= writes the result into padding, whose shape (B, 1, 1, T) cannot hold (B, 1, T, T), so PyTorch raises (and with T = 1 it would change the caller's mask). Make a new tensor: padding & causal.",
        code=r'''
def combine_masks(padding, causal):
    padding &= causal
    return padding
''',
    ),
    dict(
        id='r-5.6-maximum-over-hidden-scores-too', exercise='5.6', today='NAMED', words=('was the maximum taken over hidden keys too',), slow=True,
        tutor='The maximum is taken over all scores, hidden ones included. If a hidden score is much larger than the allowed ones, all allowed exponentials underflow to 0 and the row becomes zeros although it has allowed keys. Fill hidden scores before taking the maximum.',
        code=r'''
def masked_softmax(scores, mask):
    z = scores - scores.amax(dim=-1, keepdim=True)
    e = z.exp() * mask
    total = e.sum(dim=-1, keepdim=True)
    # rows without any key: 0 / 1 instead of 0 / 0
    return e / torch.where(total == 0, torch.ones_like(total), total)
''',
    ),
    dict(
        id='r-5.6-one-softmax-for-all-rows', exercise='5.6', today='NAMED', words=('All entries of weights together sum to 1, where each',),
        tutor='scores[m] is one long vector of all allowed scores of all rows, and it is softmaxed as a whole. So not each row but the whole tensor sums to 1. Softmax must run along the last axis, row by row, with hidden scores at −∞.',
        code=r'''
def masked_softmax(scores, mask):
    m = mask.expand_as(scores)
    weights = torch.zeros_like(scores)
    weights[m] = scores[m].softmax(dim=-1)     # hidden places stay exactly 0
    return weights
''',
    ),
    dict(
        id='r-5.6-minus-inf-added-nan-replaced', exercise='5.6', today='NAMED', words=('The weights are right and the gradients are not: NaN',),
        tutor='−∞ is added instead of filled in, and the NaN of an empty row is replaced after the softmax. The weights are right, but in the backward pass the softmax returns NaN for the empty row and the addition hands it on to the scores. Let no row enter the softmax all −∞, or fill with masked_fill.',
        code=r'''
def masked_softmax(scores, mask):
    bias = torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
    w = (scores + bias).softmax(dim=-1)
    return torch.where(torch.isnan(w), torch.zeros_like(w), w)
''',
    ),
    dict(
        id='r-5.7-memory-put-behind-x', exercise='5.7', today='NAMED', words=('You let x look at itself as well, by joining it to t',),
        tutor='Keys and values are made of x and memory laid one behind the other, so the target looks at itself too: that is self-attention with a prefix, not cross-attention. The weights become (…, T_q, T_q + T_k) and the memory mask does not fit. Keys and values come from memory alone.',
        code=r'''
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        context = torch.cat([memory, x], dim=1)
        q = split_heads(self.W_q(x), self.n_heads)
        k = split_heads(self.W_k(context), self.n_heads)
        v = split_heads(self.W_v(context), self.n_heads)
        s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        if memory_mask is None:
            a = F.softmax(s, dim=-1)
        else:
            a = masked_softmax(s, memory_mask)
        return self.W_o(merge_heads(a @ v)), a
''',
    ),
    dict(
        id='r-5.7-default-mask-of-floats-no-scale', exercise='5.7', today='NAMED', words=('A mask is of dtype bool.',), slow=True,
        tutor='Two mistakes: without a mask it makes a mask of float ones, and masked_softmax applies ~ to it, which raises a TypeError; use dtype=torch.bool, or a plain softmax. And the scores are not divided by √d_k.',
        code=r'''
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        if memory_mask is None:
            memory_mask = torch.ones(x.shape[1], memory.shape[1])   # everything allowed
        query = split_heads(self.W_q(x), self.n_heads)
        key, value = (split_heads(W(memory), self.n_heads) for W in (self.W_k, self.W_v))
        weights = masked_softmax(torch.einsum('bhqd,bhkd->bhqk', query, key), memory_mask)
        return self.W_o(merge_heads(weights @ value)), weights
''',
    ),
    dict(
        id='r-6.1-method-not-called', exercise='6.1', today='NAMED', words=('True or False is wanted; the function all itself (ar',),
        tutor='.all is not called: without brackets it is the method itself, which is neither True nor False and counts as true in every if. Write .all() and make a bool of it, or use torch.allclose.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    close = torch.isclose(f(X[perm]), f(X)[perm], atol=1e-5)
    return close.all
''',
    ),
    dict(
        id='r-6.2-annotated-transformer-odd-width', exercise='6.2', today='NAMED', words=('With an odd width there is one cosine column fewer t',),
        tutor='For an even width this is right. An odd width has one cosine column fewer than sine columns, so the cosine assignment gets one column too many and raises. Cut the angles to the first d_model // 2 columns for the cosine.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len).unsqueeze(1)
    div_term = torch.exp(
        torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model)
    )
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
''',
    ),
    dict(
        id='r-6.2-precedence-of-floor-division', exercise='6.2', today='NAMED', words=('Each cosine has a frequency of its own in your table',),
        tutor='2 * i // 2 is evaluated from the left and gives i again, so every column has a frequency of its own, and sine and cosine of a pair belong to different angles. It must be 2 * (i // 2). Besides, the result is a NumPy array in float64, not a float32 tensor.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    # translated from the TensorFlow tutorial
    pos = np.arange(max_len)[:, np.newaxis]
    i = np.arange(d_model)[np.newaxis, :]
    angle_rads = pos / np.power(10000, (2 * i // 2) / np.float32(d_model))
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return angle_rads
''',
    ),
    dict(
        id='r-6.3-fitted-by-least-squares', exercise='6.3', today='NAMED', words=('Line 5: look at torch.linalg.lstsq(before, after). I',), slow=True,
        tutor='It fits a matrix to a table of encodings instead of building the blocks. The slow pairs hardly move in the table, so the system is nearly singular: the fit is not block-diagonal and wrong for other positions. It also fails for an offset that is negative or not whole. Write the two-by-two rotation of each pair.',
        code=r'''
def shift_matrix(offset, d_model):
    PE = sinusoidal_positional_encoding(4 * d_model + offset, d_model)
    before, after = PE[:-offset], PE[offset:]
    # before @ M.T = after
    M_T = torch.linalg.lstsq(before, after).solution
    return M_T.T
''',
    ),
    dict(
        id='r-6.4-llama-complex-without-offset', exercise='6.4', today='NAMED', words=('The offset plays no part: the first row stands at po',),
        tutor='Two mistakes: offset is never used, so the first row always stands at position 0. And the result is float32 because of x.float(), float64 or float16 input is not turned back into its own dtype; add offset to the positions and end with .type_as(x).',
        code=r'''
def rope(x, base=10000.0, offset=0):
    # precompute_freqs_cis + apply_rotary_emb (Llama)
    T, dim = x.shape[-2], x.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.arange(T)
    freqs_cis = torch.polar(torch.ones(T, dim // 2), torch.outer(t, freqs))
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(x_ * freqs_cis).flatten(-2)
''',
    ),
    dict(
        id='r-6.4-turned-in-place', exercise='6.4', today='NAMED', words=("You wrote into x itself. That changes the caller's t",),
        tutor="even and odd are views of x, and x is written in place. The first assignment changes even, so the second one uses the already turned numbers and the result is no rotation; and the caller's x is changed. Write into a new tensor.",
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    p = torch.arange(offset, offset + T, dtype=x.dtype)
    w = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = (p[:, None] * w).cos(), (p[:, None] * w).sin()
    even, odd = x[..., ::2], x[..., 1::2]
    x[..., ::2] = even * c - odd * s
    x[..., 1::2] = even * s + odd * c
    return x
''',
    ),
    dict(
        id='r-6.4-gptj-pairs-with-tiled-angles', exercise='6.4', today='NAMED', words=('You mixed the two layouts: the rotation is for pairs',),
        tutor='Neighbouring columns are turned against each other, but cos and sin are laid out by cat([angles, angles]), the layout for halves. So the two columns of a pair get different angles. For neighbouring pairs each angle must be repeated in place: repeat_interleave(2, dim=-1).',
        code=r'''
def rotate_every_two(x):
    x1 = x[..., 0::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def rope(x, base=10000.0, offset=0):
    seq_len, dim = x.shape[-2:]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=x.dtype) / dim))
    t = torch.arange(seq_len, dtype=x.dtype) + offset
    freqs = torch.einsum("i,j->ij", t, inv_freq)
    emb = torch.cat([freqs, freqs], dim=-1)
    return x * emb.cos() + rotate_every_two(x) * emb.sin()
''',
    ),
    dict(
        id='r-6.5-bloom-key-positions-only', exercise='6.5', today='NAMED', words=('You made one row, slope · k, for all queries. Progra',),
        tutor="This is BLOOM's form, slope times the position of the key. It differs from −slope · distance by a constant in each row, which only a later softmax removes; and its shape is (h, 1, T). The exercise asks for minus slope times the distance for every query, (h, T, T).",
        code=r'''
def alibi_bias(n_heads, T):
    base = 2 ** (-(2 ** -(math.log2(n_heads) - 3)))
    slopes = torch.pow(base, torch.arange(1, 1 + n_heads))
    alibi = slopes[:, None, None] * torch.arange(T)[None, None, :]
    return alibi      # softmax is translation invariant
''',
    ),
    dict(
        id='r-6.6-positions-on-the-batch-axis', exercise='6.6', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='pe[:T].unsqueeze(1) has shape (T, 1, d): the positions now stand on the axis of the batch. It raises unless B is T or 1; with B = T sentence b gets the row of position b for all of its words, and with B = 1 the result grows to T sentences. Add pe[:T] as it is.',
        code=r'''
def embed(tokens, E, pe):
    h = nn_embedding_lookup(tokens, E)
    return h + pe[: tokens.size(1)].unsqueeze(1)


def nn_embedding_lookup(tokens, E):
    return torch.nn.functional.embedding(tokens, E)
''',
    ),
    dict(
        id='r-6.7-words-turned-before-projection', exercise='6.7', today='NAMED', words=('You turned X before it was projected',),
        tutor='X is turned before the projections, so the values are turned too, and W_q and W_k mix the turned pairs: the score no longer depends on the offset alone. Turn Q and K after their projection and leave V. (An odd d_model would raise as well.)',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    X = rope(X)
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
''',
    ),
    dict(
        id='r-6.7-tril-of-the-scores', exercise='6.7', today='NAMED', words=('You divided by √d_model; queries and keys have d', 'Hidden scores are set to 0, and e⁰ = 1 is weight'),
        tutor='tril sets the scores of later words to 0, and softmax gives exp(0) = 1 to each of them: the future is not hidden. Fill them with −∞ before the softmax (masked_fill with ~causal_mask(T)). And the weights are scaled by √d_model instead of √d_k.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    Q = rope(X @ W_q)
    K = rope(X @ W_k)
    logits = Q.matmul(K.t()).div(X.size(1) ** 0.5)
    attn = logits.tril().softmax(dim=1)
    return attn.matmul(X @ W_v)
''',
    ),
    dict(
        id='r-7.1-first-addition-not-counted', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in each',),
        tutor='It counts d multiplications and d − 1 additions for each entry. The exercise says that a multiply-add is always 2 FLOPs, the first one of a sum included, so an entry of d_k terms costs 2 d_k and not 2 d_k − 1.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    def dot(n):            # n multiplications and n - 1 additions
        return n + (n - 1)
    return T_q * T_k * dot(d_k) + T_q * d_v * dot(T_k)
''',
    ),
    dict(
        id='r-7.2-output-projection-once', exercise='7.2', today='NAMED', words=('One change would make this right, in line 3 (look at',),
        tutor='The fused product of Q, K and V is right, 2 · T · d · 3d. For W_o the factor 2 of the multiply-add is missing, so it gives 7 T d² instead of 8 T d².',
        code=r'''
def projection_flops(T, d_model):
    qkv = 2 * T * d_model * (3 * d_model)
    w_o = T * d_model ** 2
    return qkv + w_o
''',
    ),
    dict(
        id='r-7.3-doubles-until-equal', exercise='7.3', today='NAMED', words=('The answer was still running after 5 seconds on the ',), slow=True,
        tutor='T is doubled until both costs are exactly equal. If 2 · d_model is not a power of two, this never happens and the loop does not end. Solve the equation: 4 T² d_model = 8 T d_model² gives T = 2 · d_model.',
        code=r'''
def crossover_length(d_model):
    T = 1
    while 4 * T**2 * d_model != 8 * T * d_model**2:
        T = T * 2
    return T
''',
    ),
    dict(
        id='r-7.4-printed-not-returned', exercise='7.4', today='NAMED', words=('the result is printed and not returned',),
        tutor='The number is right but it is only printed; without return the function gives None. Return it.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    n_bytes = itemsize
    for size in (B, H, T, T):
        n_bytes *= size
    print("scores:", n_bytes, "bytes")
''',
    ),
    dict(
        id='r-7.5-line-through-the-origin', exercise='7.5', today='NAMED', words=('Your line is forced through the origin, which means ',),
        tutor='This is the slope of a line without intercept, forced through the origin of the logarithms. The constant c of the power law shifts all logs by log c, so the slope depends on the unit. Subtract the means first, or use np.polyfit(x, y, 1)[0].',
        code=r'''
def fit_exponent(sizes, costs):
    x, y = np.log(sizes), np.log(costs)
    # least squares: minimise sum (y - p x)^2
    return float(x @ y / (x @ x))
''',
    ),
    dict(
        id='r-8.1-flash-attention-one-normalised', exercise='8.1', today='NAMED', words=('You weighed each sum of values by its total, as one ',), slow=True,
        tutor='It treats out as already divided by its total, as in the first FlashAttention paper, so each sum is multiplied by its total again and the result is divided by the new one. In this lesson the state holds the undivided sum: out = out_1 · factor_1 + out_2 · factor_2. (Where both see nothing, there is NaN as well.)',
        code=r'''
def merge(first, second):
    m1, l1, o1 = first
    m2, l2, o2 = second
    m = torch.maximum(m1, m2)
    a, b = torch.exp(m1 - m), torch.exp(m2 - m)
    l = a * l1 + b * l2
    o = (a * l1 * o1 + b * l2 * o2) / l
    return m, l, o
''',
    ),
    dict(
        id='r-8.1-concatenates-then-softmaxes', exercise='8.1', today='NAMED', words=('You took a softmax of the two maxima and mixed the p',),
        tutor='It softmaxes the two maxima and mixes totals and sums with these shares. A share is exp(own − common) divided by the sum of both, so total and out are both too small by the same factor: out / total is still right, but the state is not, and a second merge goes wrong. Do not divide.',
        code=r'''
def merge(first, second):
    maxima = torch.cat([first[0], second[0]], dim=-1)       # (..., T_q, 2)
    top = maxima.amax(-1, keepdim=True)
    share = maxima.softmax(-1).nan_to_num(0.0)              # (..., T_q, 2)
    mix = lambda a, b: share[..., :1] * a + share[..., 1:] * b
    return top, mix(first[1], second[1]), mix(first[2], second[2])
''',
    ),
    dict(
        id='r-8.2-mean-of-tile-softmaxes', exercise='8.2', today='NAMED', words=('Each tile has a softmax of its own, and the results ',), slow=True,
        tutor='Every tile of keys is softmaxed by itself and the outputs are averaged. Then each tile counts the same however large its scores are. Parts must be merged as states (maximum, total, sum) and divided once at the end. In the causal case tiles to the right of the query are averaged in as well.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    scale = Q.shape[-1] ** -0.5
    outs = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i:i + tile, :]
        parts = []
        for j in range(0, K.shape[-2], tile):
            s = q @ K[..., j:j + tile, :].mT * scale
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            parts.append(s.softmax(-1) @ V[..., j:j + tile, :])
        outs.append(sum(parts) / len(parts))
    return torch.cat(outs, -2)
''',
    ),
    dict(
        id='r-8.2-floor-of-the-number-of-tiles', exercise='8.2', today='NAMED', words=('The scores are not scaled: divide by √d_k = 2, a', 'The number of tiles is rounded down, so the last'),
        tutor='T // tile counts full tiles only, so a smaller last tile is forgotten: its queries are missing in the output and its keys are never seen. And the scores are not divided by √d_k. Use range(0, T, tile) or round the number of tiles up.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    n_q, n_k = Q.size(-2) // tile, K.size(-2) // tile
    blocks = []
    for a in range(n_q):
        q = Q.narrow(-2, a * tile, tile)
        state = nothing_seen(q, V)
        for b in range(a + 1 if causal else n_k):
            s = q @ K.narrow(-2, b * tile, tile).transpose(-1, -2)
            if causal and a == b:
                s.masked_fill_(~causal_mask(tile), float('-inf'))
            state = merge(state, state_of(s, V.narrow(-2, b * tile, tile)))
        _, total, out = state
        blocks.append(out / total)
    return torch.cat(blocks, dim=-2)
''',
    ),
    dict(
        id='r-8.2-all-scores-then-cut', exercise='8.2', today='NAMED', words=('The numbers are right, and the memory is not: for 25',),
        tutor='The numbers are right, but S = Q Kᵀ is the whole matrix T_q × T_k, made before the loops and only cut afterwards. Memory is judged: the scores of one tile only may exist at a time. Compute q @ k.mT inside the inner loop.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    if causal:
        S = S.masked_fill(~causal_mask(S.shape[-1]), -torch.inf)
    rows = []
    for S_rows in S.split(tile, dim=-2):
        state = nothing_seen(S_rows, V)
        for s, v in zip(S_rows.split(tile, dim=-1), V.split(tile, dim=-2)):
            if torch.isinf(s).all():
                break
            state = merge(state, state_of(s, v))
        rows.append(state[2] / state[1])
    return torch.cat(rows, dim=-2)
''',
    ),
    dict(
        id='r-8.3-negative-start-of-slice', exercise='8.3', today='NAMED', words=('For the first words the oldest place of the window, ',),
        tutor='For the first rows i − window + 1 is negative, and a negative start counts from the end, so the slice is empty (or wrong) and these words see nothing. Start at max(0, i − window + 1).',
        code=r'''
def window_mask(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, i - window + 1 : i + 1] = True
    return mask
''',
    ),
    dict(
        id='r-8.4-all-pairs-matrix', exercise='8.4', today='NAMED', words=('The numbers are right, but the memory still grows wi',),
        tutor='The numbers are right, but q @ k.mT is the matrix (T_q, T_k) of all pairs, which the exercise forbids: memory is judged, and nothing is won over softmax attention. Make φ(K)ᵀ V and the sum of φ(k) first (cumsum if causal), then multiply by φ(q).',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    phi = lambda z: F.elu(z) + 1
    A = phi(Q) @ phi(K).mT
    if causal:
        A = A.tril()
    return (A @ V) / A.sum(-1, keepdim=True)
''',
    ),
    dict(
        id='r-8.4-cumsum-over-axis-one', exercise='8.4', today='NAMED', words=('Two changes in line 5 would make this right: look at',), slow=True,
        tutor='The causal sums run along axis 1. This is the words only for (B, T, d); with heads, (B, h, T, d), the sums run over the heads and every word is summed with the same word in other heads, and for (T, d) over the features. Count from the end: dim=-3 and dim=-2.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    kv = k.unsqueeze(-1) * V.unsqueeze(-2)
    if causal:
        kv, norm = kv.cumsum(dim=1), k.cumsum(dim=1)
    else:
        kv, norm = kv.sum(-3, keepdim=True), k.sum(-2, keepdim=True)
    numerator = (q.unsqueeze(-1) * kv).sum(-2)
    denominator = (q * norm).sum(-1, keepdim=True)
    return numerator / denominator
''',
    ),
    dict(
        id='r-8.5-is-causal-flag-with-a-cache', exercise='8.5', today='NAMED', words=('Your mask starts at the top left, and only a single ',), slow=True,
        tutor='is_causal=True lays the triangle at the upper left. If there are cached words and more than one new word, new word n then sees only keys 0 to n of the whole text instead of all T_old + n. One word at a time, or an empty cache, is right; a piece after another piece is not. Use an own mask, key ≤ T_old + n.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    T_new = x_new.shape[1]
    past = cache["K"].shape[2]
    q, k, v = (split_heads(f(x_new), layer.n_heads) for f in (layer.W_q, layer.W_k, layer.W_v))
    q, k = rope(q, offset=past), rope(k, offset=past)
    cache["K"] = torch.cat((cache["K"], k), dim=2)
    cache["V"] = torch.cat((cache["V"], v), dim=2)
    y = F.scaled_dot_product_attention(q, cache["K"], cache["V"], is_causal=T_new > 1)
    return layer.W_o(merge_heads(y))
''',
    ),
    dict(
        id='r-8.5-old-keys-turned-again', exercise='8.5', today='NAMED', words=('The keys in the cache have been turned already, and ',),
        tutor='rope is applied to the whole cached K at every call, but the cached keys are turned already: old keys are turned again and again, and the turned version is stored. Turn the new keys only, with offset T_old, before they are appended.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    Q = split_heads(layer.W_q(x_new), layer.n_heads)
    K = split_heads(layer.W_k(x_new), layer.n_heads)
    V = split_heads(layer.W_v(x_new), layer.n_heads)
    n_old = cache["K"].size(-2)
    cache["K"] = rope(torch.cat([cache["K"], K], -2))
    cache["V"] = torch.cat([cache["V"], V], -2)
    n_all = cache["K"].size(-2)
    i = torch.arange(n_old, n_all).unsqueeze(1)
    j = torch.arange(n_all).unsqueeze(0)
    s = rope(Q, offset=n_old) @ cache["K"].mT / Q.size(-1) ** 0.5
    w = s.masked_fill(j > i, float("-inf")).softmax(-1)
    return layer.W_o(merge_heads(w @ cache["V"]))
''',
    ),
    dict(
        id='r-8.5-rebinds-the-name-cache', exercise='8.5', today='NAMED', words=('Old and new keys are joined for this call, but the c',), slow=True,
        tutor='cache = {…} makes a new dict and only the local name points to it, so the caller\'s dict never grows and the next call has forgotten all earlier words. Store into the dict that was given: cache["K"] = …',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    start = cache["K"].shape[-2]
    heads = lambda W: split_heads(W(x_new), layer.n_heads)
    cache = {
        "K": torch.cat([cache["K"], rope(heads(layer.W_k), offset=start)], dim=-2),
        "V": torch.cat([cache["V"], heads(layer.W_v)], dim=-2),
    }
    q = rope(heads(layer.W_q), offset=start)
    T_new, T_all = q.shape[-2], cache["K"].shape[-2]
    allowed = torch.ones(T_new, T_all, dtype=torch.bool).tril(diagonal=T_all - T_new)
    out = F.scaled_dot_product_attention(q, cache["K"], cache["V"], attn_mask=allowed)
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='r-8.6-mask-meets-five-axes', exercise='8.6', today='NAMED', words=('Your scores have five axes when they meet the mask, ',),
        tutor='The scores have five axes here, (B, g, h/g, T_q, T_k), but the mask broadcasts to four, (B, h, T_q, T_k). Lined up from the right, its batch axis meets g and its head axis h/g: with a mask per sentence or per head it raises or hides the wrong pairs. Bring the scores to (B, h, T_q, T_k) first.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    g = K.size(1)
    Q5 = Q.unflatten(1, (g, -1))                                    # b g r q d
    S = torch.einsum('bgrqd,bgkd->bgrqk', Q5, K) / math.sqrt(Q.size(-1))
    if mask is not None:
        S = S.masked_fill(~mask, -torch.inf)
    O = torch.einsum('bgrqk,bgkv->bgrqv', S.softmax(-1), V)
    return O.flatten(1, 2)
''',
    ),
    dict(
        id='r-8.6-queries-averaged-in-groups', exercise='8.6', today='NAMED', words=('The queries of a group are averaged to one, so heads',),
        tutor='The queries of a group are averaged to one, so heads that share keys also ask the same question and give the same output. Only keys and values are shared: each of the h heads keeps its own query and its own row of weights.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.shape[1]
    grouped = Q.view(B, g, h // g, T_q, d_k).mean(dim=2)        # one query per group
    scores = grouped @ K.mT / math.sqrt(d_k)
    scores = scores.repeat_interleave(h // g, dim=1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ V.repeat_interleave(h // g, dim=1)
''',
    ),
    dict(
        id='r-8.7-two-stands-for-the-bytes', exercise='8.7', today='NAMED', words=('This is how many numbers are kept; each takes itemsi',),
        tutor='There is only one factor 2, taken for the bytes of a 16-bit number. Both are needed: 2 for a key and a value of each token, and itemsize for the bytes of a number, which is ignored here.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    elements = n_layers * n_kv_heads * d_head * n_tokens
    return elements * 2      # fp16: two bytes each
''',
    ),
    dict(
        id='r-8.8-recursion-without-return', exercise='8.8', today='NAMED', words=('is calculated and thrown away',),
        tutor='The second branch computes the right sum but does not return it, so for two or more layers the function gives None, and for three or more None + a number raises a TypeError. Write return in front.',
        code=r'''
def reach(n_layers, window):
    if n_layers <= 1:
        return window
    reach(n_layers - 1, window) + window - 1
''',
    ),
    dict(
        id='r-9.1-annotated-transformer-norm', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='Two mistakes: std() divides by d − 1 by default, and the variance here divides by d. And eps is added to the standard deviation, outside the root, not to the variance under the root. The shape is right and for wide rows the numbers nearly are.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    a_2, b_2 = scale, shift
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return a_2 * (x - mean) / (std + eps) + b_2
''',
    ),
    dict(
        id='r-9.2-norms-made-in-forward', exercise='9.2', today='NAMED', words=('Parameters are missing: norm_1.bias, norm_1.weight, ',),
        tutor='The two norms are made anew in every forward call. They are no parameters of the block, so they are never trained or loaded, and the names norm_1 and norm_2 are missing. Make them in __init__ and store them in self.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model = d_model
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(),
            nn.Linear(4 * d_model, d_model),
        )

    def forward(self, x, mask=None):
        norm_1 = nn.LayerNorm(self.d_model)
        norm_2 = nn.LayerNorm(self.d_model)
        x = x + self.attention(norm_1(x), mask)[0]
        return x + self.feed_forward(norm_2(x))
''',
    ),
    dict(
        id='r-9.2-parallel-halves', exercise='9.2', today='NAMED', words=("Both halves read the block's input, side by side (so",),
        tutor="Both halves read the block's input, as in GPT-J. The feed-forward network must start from what the attention half left, x + attention(norm_1(x)): it never sees what attention has just found. Assign x between the two.",
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )

    def forward(self, x, mask=None):
        attn_output = self.attention(self.norm_1(x), mask)[0]
        ffn_output = self.feed_forward(self.norm_2(x))
        return x + attn_output + ffn_output
''',
    ),
    dict(
        id='r-9.3-sequential-called-with-a-mask', exercise='9.3', today='NAMED', words=('takes one value and hands it on',), slow=True,
        tutor='An nn.Sequential takes one input only and has no way to hand a mask to each block, so self.blocks(x, mask) raises a TypeError. Loop over the blocks (an nn.ModuleList) and call block(x, mask).',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.Sequential(*[Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        x = self.embedding(tokens)
        x = self.blocks(x, causal_mask(T))
        x = self.norm(x)
        return self.head(x)
''',
    ),
    dict(
        id='r-9.3-learned-positions-and-softmax', exercise='9.3', today='NAMED', words=('There is a table of positions, position_embedding_ta',),
        tutor='Two things too many: a table of learned positions is added although RoPE inside the blocks already gives the order (it is an extra layer that the checks cannot fill), and the scores are softmaxed although logits are asked for; the loss would softmax them again.',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.position_embedding_table = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        B, T = tokens.shape
        tok_emb = self.embedding(tokens)
        pos_emb = self.position_embedding_table(torch.arange(T))
        x = tok_emb + pos_emb
        for blk in self.blocks:
            x = blk(x, causal_mask(T))
        return self.head(self.norm(x)).softmax(dim=-1)
''',
    ),
    dict(
        id='r-9.4-pad-id-zero-is-falsy', exercise='9.4', today='NAMED', words=('Pad_id = 0 is taken for “no padding”, because 0 coun',),
        tutor='if pad_id: is False for pad_id = 0, the usual number of padding, so padding counts as a target then. Ask pad_id is not None. With any other pad_id the answer is right.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.size(-1)
    shift_logits = logits[..., :-1, :].contiguous().view(-1, V)
    shift_labels = tokens[..., 1:].contiguous().view(-1)
    if pad_id:
        return F.cross_entropy(shift_logits, shift_labels, ignore_index=pad_id)
    return F.cross_entropy(shift_logits, shift_labels)
''',
    ),
    dict(
        id='r-9.4-padding-judged-by-the-input', exercise='9.4', today='NAMED', words=('You leave out positions whose input is padding; it i',),
        tutor='It leaves out the positions whose own token is padding, not those whose target is. So the step from the last word to the first padding still counts. Compare the targets, tokens[:, 1:], with pad_id.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    logp = logits[:, :-1].log_softmax(-1)
    nll = -logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)      # (B, T - 1)
    if pad_id is None:
        return nll.mean()
    keep = inputs != pad_id
    return nll[keep].mean()
''',
    ),
    dict(
        id='r-9.5-scatter-of-the-top-k-places', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='Only the k places that topk returns are kept. Tokens that equal the smallest of them must stay too: with a tie, topk picks one by chance and the other is forbidden. Compare the scores with the smallest value that stays.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        vals, idx = z.topk(top_k, dim=-1)
        z = torch.full_like(z, float('-inf')).scatter(-1, idx, vals)
    return z.softmax(-1)
''',
    ),
    dict(
        id='r-9.5-cut-after-softmax-and-times-temperature', exercise='9.5', today='NAMED', words=('You multiplied by the temperature, so cold makes', 'Forbidden tokens are set to 0 after the softmax,'),
        tutor='Two mistakes: the logits are multiplied by the temperature, so a low temperature flattens instead of sharpening. And the small probabilities are set to 0 after the softmax without dividing again, so a row sums to less than 1.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    probs = torch.softmax(logits * temperature, dim=-1)
    if top_k is None:
        return probs
    kth = probs.topk(top_k, dim=-1).values.min(dim=-1, keepdim=True).values
    return probs * (probs >= kth)
''',
    ),
    dict(
        id='r-9.6-crop-forgets-the-beginning', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model is s',),
        tutor='tokens itself is cut to the last max_len, so everything before is lost: once the text is longer than max_len, the result is shorter than T + n_new and does not hold the beginning. Cut into another name that only the model sees.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        tokens = tokens if tokens.size(1) <= model.max_len else tokens[:, -model.max_len:]
        logits = model(tokens)
        idx_next = choose(logits[:, -1, :])
        tokens = torch.cat((tokens, idx_next.unsqueeze(1)), dim=1)
    return tokens
''',
    ),
    dict(
        id='r-9.6-only-the-newest-token-is-shown', exercise='9.6', today='NAMED', words=('After the first step the model is shown the newest t',),
        tutor='After the first step the model is shown only the newest token, as with a KV cache. But this model keeps nothing between calls, so it has forgotten all that came before. Show it the last max_len tokens each time.',
        code=r'''
def generate(model, tokens, n_new, choose):
    generated = [tokens]
    inp = tokens[:, -model.max_len:]
    with torch.inference_mode():
        for step in range(n_new):
            nxt = choose(model(inp)[:, -1])[:, None]
            generated.append(nxt)
            inp = nxt
    return torch.cat(generated, dim=-1)
''',
    ),
    dict(
        id='r-10.1-bias-after-the-scale', exercise='10.1', today='NAMED', words=('The queries are divided by √d_k before their bias is',),
        tutor='The queries are divided by √d_k before their bias is added, so b_q comes in at full size: √d_k times too large for the scores. Add the bias right after the product and scale afterwards. Everything else is right, and with b_q = 0 nothing would show.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    d_k = x.shape[-1] // n_heads
    # scale q early, saves a division of the big matrix
    q = (x @ layer.W_q.T) / math.sqrt(d_k) + layer.b_q
    k = x @ layer.W_k.T + layer.b_k
    v = x @ layer.W_v.T + layer.b_v
    q, k, v = [split_heads(t, n_heads) for t in (q, k, v)]
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    p = scores.softmax(-1)
    return merge_heads(p @ v) @ layer.W_o.T + layer.b_o, p
''',
    ),
    dict(
        id='r-10.1-bias-of-the-output-per-head', exercise='10.1', today='NAMED', words=('W_o is used as it comes. The matrices: they are ', "The output's bias b_o is added once for each hea"), slow=True,
        tutor='Two mistakes: b_o is added inside the loop, once per head, so it counts h times; add it once, after the sum. And W_o is stored as (out, in), so a head owns columns of it, W_o[:, own].T; the rows W_o[own] belong to outputs. The shapes fit, so nothing warns.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, d_model = x.shape
    d = d_model // n_heads
    out, all_weights = torch.zeros_like(x), []
    for h in range(n_heads):
        own = slice(h * d, (h + 1) * d)
        q = x @ layer.W_q[own].T + layer.b_q[own]
        k = x @ layer.W_k[own].T + layer.b_k[own]
        v = x @ layer.W_v[own].T + layer.b_v[own]
        scores = (q @ k.transpose(1, 2))[:, None] / math.sqrt(d)      # (B, 1, T, T)
        if mask is not None:
            allowed = mask.expand(B, n_heads, T, T)[:, h : h + 1]
            scores = scores.masked_fill(~allowed, -torch.inf)
        w = scores.softmax(dim=-1)
        all_weights.append(w)
        out = out + (w[:, 0] @ v) @ layer.W_o[own] + layer.b_o
    return out, torch.cat(all_weights, dim=1)
''',
    ),
    dict(
        id='r-10.2-list-outside-the-function', exercise='10.2', today='NAMED', words=('wins stands outside the function',), slow=True,
        tutor='The list wins stands outside the function and is never emptied. The first call is right; each later call averages over the sentences of all earlier calls too, or raises if the shapes differ. Make the list inside the function.',
        code=r'''
wins = []


def agreement_share(weights, verb, subject, other):
    for n in range(len(weights)):
        row = weights[n][..., verb[n], :]
        wins.append((row[..., subject[n]] > row[..., other[n]]).float())
    return torch.stack(wins).mean(0)
''',
    ),
    dict(
        id='r-10.3-softmax-of-the-mask', exercise='10.3', today='NAMED', words=('The same numbers come out if a softmax is taken of m',),
        tutor='softmax of a mask of ones and zeros gives padding a weight too: exp(0) = 1 against e for a token. So padding still counts, at about a third of a token. Divide the mask by its sum, or put −∞ for padding before the softmax.',
        code=r'''
def mean_pool(hidden, mask):
    attention = mask.to(hidden.dtype).softmax(dim=1)        # (B, T), sums to 1
    return torch.bmm(attention.unsqueeze(1), hidden).squeeze(1)
''',
    ),
    dict(
        id='r-10.4-normalised-by-columns-and-order', exercise='10.4', today='NAMED', words=('You divided by the norms of the columns, the fea', 'You returned (cosines, indices), as topk does; ('),
        tutor='Two mistakes: F.normalize(corpus, dim=0) makes the columns of the corpus length 1 and not its rows, so these are no cosines. And topk returns values first, then places, and they are handed on in this order; the exercise wants indices, cosines.',
        code=r'''
def search(query, corpus, k):
    q = F.normalize(query, dim=0)
    c = F.normalize(corpus, dim=0)
    return tuple(torch.topk(c.matmul(q), k))
''',
    ),
    dict(
        id='r-1.1-squeeze-drops-the-key-axis', exercise='1.1', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='The numbers are right, but squeeze() removes every axis of length 1, also the axis of the keys when there is only one key. Then the result is a 0-d array instead of (1,). keys @ query is (n,) already; or squeeze axis 1 only.',
        code=r'''
def similarities(query, keys):
    # column vector so that the matmul is "clean": (n, d) @ (d, 1) -> (n, 1)
    q = np.reshape(query, (-1, 1))
    return (keys @ q).squeeze()
''',
    ),
    dict(
        id='r-1.2-sharpness-as-temperature-and-order', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness', 'You returned (weights, value)'),
        tutor='Two mistakes: the scores are divided by the sharpness, which is a temperature, so a larger sharpness makes the weights flatter and sharpness 0 sharpest. And the weights are returned first; the value must come first, then the weights.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    temperature = max(sharpness, 1e-6)      # no division by zero
    z = similarities(query, keys) / temperature
    z = z - np.amax(z)
    attn = np.exp(z)
    attn /= attn.sum()
    context = (attn[:, None] * values).sum(0)
    return attn, context
''',
    ),
    dict(
        id='r-1.5-returns-queries-and-keys', exercise='1.5', today='NAMED', words=('Each matrix needs 4 rows, one a feature, and both as',),
        tutor='The function returns the projected queries and keys (7, d_k), not the matrices W_q and W_k with one row per feature (4, d_k). The design itself works; return W_q and W_k and let the check project.',
        code=r'''
def design_projections():
    X = embed(words)
    W_q = np.zeros((4, 2))
    W_q[1] = [6, 6]     # verb: noun + plural
    W_q[2] = [6, 6]     # adjective: noun + plural
    W_k = np.zeros((4, 2))
    W_k[0, 0] = 1
    W_k[3, 1] = 1
    return X @ W_q, X @ W_k
''',
    ),
    dict(
        id='r-2.1-logsumexp-without-max', exercise='2.1', today='NAMED', words=('The first infinity comes up in line 3, in np.exp(x).',),
        tutor='Taking the logarithm of the sum does not help: np.exp(x) is taken of the raw scores first, and for 1000 this is already inf, so log(inf) = inf and all weights become 0. The maximum along the axis must be subtracted before any exponential.',
        code=r'''
def softmax(x, axis=-1):
    """log-softmax trick: exp(x - logsumexp(x)) is numerically stable."""
    lse = np.log(np.sum(np.exp(x), axis=axis, keepdims=True))
    return np.exp(x - lse)
''',
    ),
    dict(
        id='r-2.2-mean-of-values-from-queries-axis', exercise='2.2', today='NAMED', words=('One change in line 7 would make this right: look at ',),
        tutor='In the second einsum the values stand with the letter i of the queries, so value row i is weighted by the weights that query i gives away, and the result belongs to keys j. This is weightsᵀ @ V: an error if T_q ≠ T_k and silently wrong otherwise. It must be "...ij,...jd->...id".',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    dim = Q.shape[-1]
    s = np.einsum("...id,...jd->...ij", Q, K) * dim ** -0.5
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    a = softmax(s)
    o = np.einsum("...ij,...id->...jd", a, V)
    return o, a
''',
    ),
    dict(
        id='r-2.3-X-overwritten', exercise='2.3', today='NAMED', words=('You projected what was projected already, the keys f',),
        tutor='X is overwritten by the queries, so the keys are projected from Q and not from X, and the values from K. If d_k ≠ d_model the second product raises; if they are equal the numbers are silently wrong. All three projections must start from the same X.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    projected = []
    for W in (W_q, W_k, W_v):
        X = X @ W
        projected.append(X)
    return scaled_dot_product_attention(*projected, mask)
''',
    ),
    dict(
        id='r-3.1-one-key-for-all-queries', exercise='3.1', today='NAMED', words=('One and the same vector takes part in all your dot p',), slow=True,
        tutor='Only one key is drawn and every query is multiplied with it. The n products are then not independent pairs: given this key they have variance |k|² and not d_k, so their spread is the same wrong one in the whole sample. Draw n keys too, (n, d_k).',
        code=r'''
def sample_dot_products(n, d_k, rng):
    key = rng.standard_normal(d_k)
    return np.array([rng.standard_normal(d_k) @ key for _ in range(n)])
''',
    ),
    dict(
        id='r-3.2-boolean-filter-loses-rows', exercise='3.2', today='NAMED', words=('You added up everything into one number; each row ha',),
        tutor='Indexing with the boolean mask flattens the array, so all rows are thrown together and the function returns one total instead of one entropy per row. Keep the shape: replace zeros by 1 with np.where and sum over the last axis.',
        code=r'''
def entropy(weights):
    positive = weights[weights > 0]
    return -(positive * np.log(positive)).sum(axis=-1)
''',
    ),
    dict(
        id='r-3.3-sigmoid-style-vector', exercise='3.3', today='NAMED', words=('Only your diagonal is filled, with p_i (1 − p_i). Th',),
        tutor='p (1 - p) is the diagonal only, the derivative of each weight with respect to its own score, placed on a diagonal matrix. The entries off the diagonal, -p_i p_j, are missing, because raising one score lowers all other weights. So rows of J do not sum to 0.',
        code=r'''
def softmax_jacobian(p):
    # as for the sigmoid: s' = s (1 - s)
    grad = p * (1.0 - p)
    J = np.zeros(p.shape + (p.shape[-1],))
    for i in range(p.shape[-1]):
        J[..., i, i] = grad[..., i]
    return J
''',
    ),
    dict(
        id='r-3.4-plain-mean-subtracted', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; it s',),
        tutor='It subtracts the plain mean of d_weights. The sum Σ_j p_j g_j is the mean under the weights, so the gradient must be weighted: np.sum(weights * d_weights). With the plain mean, the result is right only if all weights are equal, and the entries of a row do not sum to 0.',
        code=r'''
def softmax_backward(weights, d_weights):
    baseline = d_weights.mean(axis=-1, keepdims=True)
    advantage = d_weights - baseline
    return advantage * weights
''',
    ),
    dict(
        id='r-4.1-features-dealt-like-cards', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h …; h',),
        tutor='The last axis is viewed as (d_k, h), so features are dealt out in turn like cards: head i gets features i, i + h, i + 2h, … The exercise wants neighbouring features, i · d_k to (i + 1) · d_k − 1: view as (h, d_k). The shape is right, so nothing warns.',
        code=r'''
def split_heads(x, n_heads):
    bsz, seqlen, hidden = x.size()
    head_dim = hidden // n_heads
    # (B, T, C) -> (B, h, T, d_k)
    return x.view(bsz, seqlen, head_dim, n_heads).permute(0, 3, 1, 2).contiguous()
''',
    ),
    dict(
        id='r-4.2-cat-iterates-over-the-batch', exercise='4.2', today='NAMED', words=('You joined the sentences of the batch, not the heads',),
        tutor='Iterating over x goes through its first axis, the batch, not the heads. So sentences are laid side by side: (h, T, B · d_k) instead of (B, T, h · d_k). Use x.unbind(1), or x[:, i] for each head.',
        code=r'''
def merge_heads(x):
    return torch.cat([head for head in x], dim=-1)
''',
    ),
    dict(
        id='r-4.3-one-layer-under-three-names', exercise='4.3', today='NAMED', words=('W_q, W_k and W_v are one and the same layer. Each ne',),
        tutor='W_q, W_k and W_v are three names for one and the same nn.Linear. Queries, keys and values are then equal, the scores are symmetric, and loading three different matrices leaves the last one in all. Make three separate layers.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"cannot split {d_model} features into {n_heads} heads")
        self.n_heads = n_heads
        proj = lambda: nn.Linear(d_model, d_model, bias=False)
        self.W_q = self.W_k = self.W_v = proj()
        self.W_o = proj()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q, K, V = map(lambda W: split_heads(W(x), self.n_heads), (self.W_q, self.W_k, self.W_v))
        S = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
        if mask is not None:
            S = torch.where(mask, S, torch.tensor(-torch.inf, dtype=S.dtype))
        P = S.softmax(dim=-1)
        return self.W_o(merge_heads(self.dropout(P) @ V)), P
''',
    ),
    dict(
        id='r-4.4-load-state-dict-not-strict', exercise='4.4', today='NAMED', words=('still hold the numbers they were made with',), slow=True,
        tutor='The two modules name their weights differently (in_proj_weight, out_proj.weight against W_q.weight …), and strict=False skips every name that does not fit without an error. So nothing is copied and the module keeps its random weights; the dtype is not taken over either.',
        code=r'''
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    # the bias keys are missing, therefore strict=False
    ours.load_state_dict(mha.state_dict(), strict=False)
    return ours
''',
    ),
    dict(
        id='r-5.1-mean-of-mean-and-word', exercise='5.1', today='NAMED', words=('You averaged the mean so far with the new word, half',),
        tutor='(mean so far + new word) / 2 gives the newest word half of the weight and halves all earlier ones again: an exponential average. From the third row on it is not the mean. The old mean must count t times: (t · mean + x[t]) / (t + 1).',
        code=r'''
def prefix_mean(x):
    rows = [x[0]]
    for word in x[1:]:
        rows.append((rows[-1] + word) / 2)
    return torch.stack(rows)
''',
    ),
    dict(
        id='r-5.2-rows-and-columns-swapped-in-list', exercise='5.2', today='NAMED', words=('Your mask shows each word the future and hides its p',),
        tutor='The outer loop makes the rows, so the rows belong to keys here and the columns to queries: row t is True from column t on, the upper triangle. Each word sees itself and the future. The condition must be key <= query with the query as the row.',
        code=r'''
def causal_mask(T):
    return torch.tensor([[key <= query for query in range(T)] for key in range(T)])
''',
    ),
    dict(
        id='r-5.2-numpy-triangle', exercise='5.2', today='NAMED', words=('mask is an array of shape (5, 5); a PyTorch tensor i',),
        tutor='The triangle is right, but it is a NumPy array. The lesson works in torch: masked_fill and & with a tensor need a torch.bool tensor. Use torch.ones(T, T, dtype=torch.bool).tril().',
        code=r'''
import numpy as np


def causal_mask(T):
    rows, cols = np.indices((T, T))
    return rows >= cols
''',
    ),
    dict(
        id='r-5.3-judged-after-the-first-place', exercise='5.3', today='NAMED', words=('One change in line 11 would make this right: look at',),
        tutor='Both branches return in the first round of the loop, so only t = 1 is ever tried, that is, only output 0 is looked at. A leak that shows at a later output only is missed. return False belongs after the loop.',
        code=r'''
def leaks_future(attend, x):
    s = torch.get_rng_state()
    y = attend(x)
    for t in range(1, x.size(0)):
        x2 = torch.cat([x[:t], torch.randn_like(x[t:])])
        torch.set_rng_state(s)
        y2 = attend(x2)
        if (y[:t] - y2[:t]).abs().max().item() > 1e-5:
            return True
        else:
            return False
''',
    ),
    dict(
        id='r-5.3-only-the-last-word-changed', exercise='5.3', today='NAMED', words=('You changed the last word only.',),
        tutor='Only the last word is changed, so only leaks from the last word are found. An output that peeks at a later word in the middle, for example one that always sees word 1 too, is called honest. Try every t from 1 on and change all rows from t.',
        code=r'''
def leaks_future(attend, x):
    probe = x.clone()
    probe[-1] += 10
    state = torch.get_rng_state()
    a = attend(x)
    torch.set_rng_state(state)
    b = attend(probe)
    return not torch.allclose(a[:-1], b[:-1], atol=1e-5)
''',
    ),
    dict(
        id='r-5.4-greater-than-pad', exercise='5.4', today='NAMED', words=('You kept tokens larger than pad_id; smaller ones are',),
        tutor='tokens > pad_id takes for granted that padding has the smallest number. With any other pad_id, for example the last number of the vocabulary or −100 … it calls words with smaller numbers padding. Ask tokens != pad_id.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    is_word = tokens.gt(pad_id)
    return is_word.view(B, 1, 1, T)
''',
    ),
    dict(
        id='r-5.6-float32-out-of-half', exercise='5.6', today='NAMED', words=('One change in line 5 would make this right: look at ',),
        tutor='softmax(dtype=torch.float32) returns float32 and nothing converts it back, so float16 scores give float32 weights; the docstring asks for the dtype of scores. Add .to(scores.dtype) at the end. (Upcasting inside is fine.)',
        code=r'''
def masked_softmax(scores, mask):
    min_dtype = torch.finfo(scores.dtype).min
    filled = scores.masked_fill(~mask, min_dtype)
    # upcast attention to fp32
    probs = nn.functional.softmax(filled, dim=-1, dtype=torch.float32)
    return probs * mask
''',
    ),
    dict(
        id='r-5.6-empty-asked-of-the-whole-mask', exercise='5.6', today='NAMED', words=('A row that sees nothing is all −∞, and its softmax i',),
        tutor='mask.any() asks whether anything at all is allowed in the whole mask. A single empty row among others is not caught: it goes all −∞ through the softmax and becomes NaN. Ask per row: mask.any(dim=-1, keepdim=True).',
        code=r'''
def masked_softmax(scores, mask):
    if not mask.any():
        return scores * 0.0
    neg = scores.new_full((), float('-inf'))
    return torch.where(mask, scores, neg).softmax(-1)
''',
    ),
    dict(
        id='r-5.7-length-of-x-for-the-memory', exercise='5.7', today='NAMED', words=('The memory was reshaped with the length of x, T_q = ',),
        tutor='K and V of the memory are viewed with T, the length of x. If T_k ≠ T_q the view raises. Take the length from the memory, or use split_heads, which reads it from its input.',
        code=r'''
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        B, T, C = x.size()
        nh, hs = self.n_heads, C // self.n_heads
        q = self.W_q(x).view(B, T, nh, hs).transpose(1, 2)
        k = self.W_k(memory).view(B, T, nh, hs).transpose(1, 2)
        v = self.W_v(memory).view(B, T, nh, hs).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = masked_softmax(att, memory_mask) if memory_mask is not None else F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y), att
''',
    ),
    dict(
        id='r-6.1-sorted-columns', exercise='6.1', today='NAMED', words=('You compared the rows as a set, in sorted order: eac',),
        tutor='Sorting throws the order away that is to be tested: it only asks whether both outputs hold the same numbers in each column. A function that reverses the rows, or always gives the same table, passes although its rows do not move along. Compare f(X[perm]) with f(X)[perm] row by row.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    before = f(X).sort(dim=0).values
    after = f(X[perm]).sort(dim=0).values
    return torch.allclose(before, after, atol=1e-5)
''',
    ),
    dict(
        id='r-6.1-inverse-order', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse',),
        tutor='argsort gives the inverse order, so the output is shuffled the other way than the input. For an order that is its own inverse, such as a swap, the answer is right; for 1, 2, 0 an equivariant function is called not equivariant. Either index f(X) with perm, or index f(X[perm]) with the inverse.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    inv = torch.argsort(perm)      # undo the shuffle
    y, y_shuffled = f(X)[inv], f(X[perm])
    return bool((y - y_shuffled).abs().max() < 1e-5)
''',
    ),
    dict(
        id='r-6.2-tensor2tensor-halves', exercise='6.2', today='NAMED', words=('You put all sines first and all cosines after them. ',),
        tutor='All sines stand in the left half and all cosines in the right half, as in tensor2tensor. The exercise interleaves them: column 2i is the sine and 2i + 1 the cosine of the same angle. For an odd width the halves are cut in the wrong place too.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    half = (d_model + 1) // 2
    inv_freq = 1.0 / (10000 ** (2 * torch.arange(half) / d_model))
    signal = torch.outer(torch.arange(max_len).float(), inv_freq)
    return torch.cat([signal.sin(), signal.cos()], dim=1)[:, :d_model]
''',
    ),
    dict(
        id='r-6.3-four-quarters', exercise='6.3', today='NAMED', words=('Your matrix is for encodings with all sines first an',),
        tutor='The four numbers are right, but they are laid out as four diagonal quarters, which fits an encoding with all sines first and all cosines after. Here sine and cosine of a pair are neighbours, so its block stands at rows and columns 2i and 2i + 1.',
        code=r'''
def shift_matrix(offset, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    C = torch.diag(torch.cos(offset * w))
    S = torch.diag(torch.sin(offset * w))
    top = torch.cat([C, S], dim=1)
    bottom = torch.cat([-S, C], dim=1)
    return torch.cat([top, bottom], dim=0)
''',
    ),
    dict(
        id='r-6.3-roll-of-the-identity', exercise='6.3', today='NAMED', words=('Your matrix moves columns of the encoding about, as ',),
        tutor='Rolling the identity moves the columns of one row by offset places, it exchanges features. It does not move the position: that needs each sine-cosine pair to be turned by offset times its frequency. M acts on the d_model features of one position, not on the list of positions.',
        code=r'''
def shift_matrix(offset, d_model):
    # a shift is a permutation matrix
    return torch.eye(d_model).roll(shifts=int(offset), dims=0)
''',
    ),
    dict(
        id='r-6.4-arange-from-offset-to-T', exercise='6.4', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='arange(offset, T) ends at T instead of offset + T. With offset 0 it is right; with a larger one there are too few positions, so the shapes do not fit, and with offset ≥ T none at all. Use arange(T) + offset.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.size(-2), x.size(-1)
    theta = base ** (-2 * torch.arange(d // 2, dtype=x.dtype) / d)
    angle = torch.arange(offset, T, dtype=x.dtype).unsqueeze(-1) * theta
    a, b = x.unflatten(-1, (d // 2, 2)).unbind(-1)
    out = torch.stack([a * angle.cos() - b * angle.sin(),
                       a * angle.sin() + b * angle.cos()], dim=-1)
    return out.reshape(x.shape)
''',
    ),
    dict(
        id='r-6.5-always-halving-slopes', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right for',),
        tutor='The slopes 1/2, 1/4, 1/8 … are those of eight heads. With h heads the slope is 2^(−8i/h): the ratio depends on the number of heads, and the last slope is always 1/256.',
        code=r'''
def alibi_bias(n_heads, T):
    slopes = torch.tensor([0.5 ** (i + 1) for i in range(n_heads)])
    q = torch.arange(T).view(1, T, 1)
    k = torch.arange(T).view(1, 1, T)
    return -slopes.view(-1, 1, 1) * (q - k).abs()
''',
    ),
    dict(
        id='r-6.6-scaled-by-root-d-model', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first, as V',),
        tutor='The embeddings are multiplied by √d_model, as in the paper of 2017. The exercise does not ask for it: look up the vector and add the row of its position. Everything else is right.',
        code=r'''
def embed(tokens, E, pe):
    d_model = E.shape[-1]
    x = E[tokens] * math.sqrt(d_model)
    return x + pe[: x.size(1), :]
''',
    ),
    dict(
        id='r-7.3-searched-by-doubling', exercise='7.3', today='NAMED', words=('You tried powers of two only, and took the first tha',),
        tutor='T is doubled until scoring and mixing are no longer cheaper, so the answer is the next power of two and right only if 2 · d_model is one. Set 4 T² d_model = 8 T d_model² and solve for T: it is 2 · d_model.',
        code=r'''
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):
        T *= 2
    return T
''',
    ),
    dict(
        id='r-7.4-lower-triangle-only', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='It counts the lower triangle only. Nothing here is causal, and even with a mask the full matrix (T, T) is stored: B · H · T · T entries.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = sum(t + 1 for t in range(T))
    return B * H * pairs * itemsize
''',
    ),
    dict(
        id='r-8.1-anchor-returned-as-maximum', exercise='8.1', today='NAMED', words=('Your common maximum is never below 0. Where all scor',),
        tutor='−∞ is replaced by 0 in the maximum itself and so it is returned. Where a query sees nothing in both parts, the state must keep the maximum −∞; with 0, a later merge with very negative scores measures them against 0 and they underflow. Use the replaced maximum in the factors only.',
        code=r'''
def merge(first, second):
    m = torch.maximum(first[0], second[0])
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    scale = [torch.exp(part[0] - m) for part in (first, second)]
    total = sum(s * part[1] for s, part in zip(scale, (first, second)))
    out = sum(s * part[2] for s, part in zip(scale, (first, second)))
    return m, total, out
''',
    ),
    dict(
        id='r-8.2-triangle-on-every-tile', exercise='8.2', today='PARTLY', slow=True,
        tutor='The causal triangle is laid over every tile with j ≤ i, but only the tile on the diagonal needs it: in tiles to the left all keys are in the past and must be seen. So each query loses part of its earlier keys, and a smaller last row of tiles even raises because the triangle is tile × tile. Mask only if j == i.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    d = Q.shape[-1]
    result = torch.empty(*Q.shape[:-1], V.shape[-1], dtype=Q.dtype)
    for i in range(0, Q.shape[-2], tile):
        rows = slice(i, i + tile)
        acc = nothing_seen(Q[..., rows, :], V)
        last = i + 1 if causal else K.shape[-2]
        for j in range(0, last, tile):
            cols = slice(j, j + tile)
            s = torch.einsum('...qd,...kd->...qk', Q[..., rows, :], K[..., cols, :]) / d ** 0.5
            if causal:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            acc = merge(acc, state_of(s, V[..., cols, :]))
        result[..., rows, :] = acc[2] / acc[1]
    return result
''',
    ),
    dict(
        id='r-8.3-longformer-both-sides', exercise='8.3', today='NAMED', words=('Your window opens to both sides, so words see what c',),
        tutor="The band is symmetric: abs() lets each word see window − 1 places to the right too, as Longformer's encoder does. The exercise wants a causal mask: i − j must be at least 0.",
        code=r'''
def window_mask(T, window):
    idx = torch.arange(T)
    return (idx.unsqueeze(0) - idx.unsqueeze(1)).abs() < window
''',
    ),
    dict(
        id='r-8.4-root-of-d-inside-phi', exercise='8.4', today='NAMED', words=('The queries were divided by √d_k before φ. There is ',),
        tutor='Q is divided by √d_k before φ. Linear attention has no such scale here: the weight is φ(q) · φ(k), and because φ is not linear the factor does not cancel in the quotient. Leave it out.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    def feature_map(t):
        return torch.nn.functional.elu(t) + 1.0
    q = feature_map(Q / math.sqrt(Q.shape[-1]))
    k = feature_map(K)
    if causal:
        kv = torch.einsum('...td,...tv->...tdv', k, V).cumsum(-3)
        z = k.cumsum(-2)
        num = torch.einsum('...td,...tdv->...tv', q, kv)
        den = torch.einsum('...td,...td->...t', q, z)
    else:
        kv = torch.einsum('...td,...tv->...dv', k, V)
        num = torch.einsum('...td,...dv->...tv', q, kv)
        den = torch.einsum('...td,...d->...t', q, k.sum(-2))
    return num / den.unsqueeze(-1)
''',
    ),
    dict(
        id='r-8.5-offset-read-after-appending', exercise='8.5', today='PARTLY', slow=True,
        tutor='T_old is read from the cache after the new keys were appended, so it is T_old + T_new: queries and keys are turned to different offsets, the query stands T_new places too far on. And no new word is hidden from an earlier one, since there is no mask. Read T_old first, and allow key j for query i only if j ≤ i.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    n = layer.n_heads
    k_new = rope(split_heads(layer.W_k(x_new), n), offset=cache["K"].shape[2])
    cache.update(
        K=torch.cat([cache["K"], k_new], dim=2),
        V=torch.cat([cache["V"], split_heads(layer.W_v(x_new), n)], dim=2),
    )
    q = rope(split_heads(layer.W_q(x_new), n), offset=cache["K"].shape[2])
    att = torch.softmax(q @ cache["K"].transpose(2, 3) / math.sqrt(q.shape[3]), dim=3)
    return layer.W_o(merge_heads(att @ cache["V"]))
''',
    ),
    dict(
        id='r-8.6-repeat-deals-heads-in-turn', exercise='8.6', today='NAMED', words=('Heads take their turn at the keys: head 0 the first,',),
        tutor='repeat (like this expand with the copies in front) lays the heads out as 0, 1, 0, 1, so neighbouring query heads get different keys. Heads 0 to h/g − 1 must share the first: 0, 0, 1, 1. Put the new axis after g, or use repeat_interleave.',
        code=r'''
def repeat_kv(hidden, n_rep):
    batch, kv_heads, slen, dim = hidden.shape
    hidden = hidden[:, None].expand(batch, n_rep, kv_heads, slen, dim)
    return hidden.reshape(batch, n_rep * kv_heads, slen, dim)


def grouped_query_attention(Q, K, V, mask=None):
    n_rep = Q.shape[1] // K.shape[1]
    K, V = repeat_kv(K, n_rep), repeat_kv(V, n_rep)
    w = torch.matmul(Q, K.transpose(2, 3)) * Q.shape[-1] ** -0.5
    if mask is not None:
        w = w.masked_fill(~mask, torch.finfo(w.dtype).min)
    return torch.matmul(w.softmax(-1), V)
''',
    ),
    dict(
        id='r-8.8-first-layer-counted-twice', exercise='8.8', today='NAMED', words=('You counted one layer too many.',),
        tutor='It starts with a whole window, which is already what the first layer sees, and then adds window − 1 for every layer, the first included. So it gives one layer too much: 15 instead of 8 for one layer with a window of 8. Start with 1.',
        code=r'''
def reach(n_layers, window):
    seen = window
    for _ in range(n_layers):
        seen += window - 1
    return seen
''',
    ),
    dict(
        id='r-9.1-rms-norm-from-llama', exercise='9.1', today='NAMED', words=('The mean is never subtracted, and the spread is meas',),
        tutor='This is RMSNorm: it divides by the root of the mean square and does not subtract the mean. Layer norm first makes the mean of each position 0; without this, rows with a mean other than 0 come out wrong.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    input_dtype = x.dtype
    ms = x.pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(ms + eps)
    return (scale * x + shift).to(input_dtype)
''',
    ),
    dict(
        id='r-9.2-adds-to-the-normed-x', exercise='9.2', today='NAMED', words=('Both skips carry the normed x. What is added to is x',),
        tutor='x is overwritten by its normed copy before it is added, in both halves. So the skip carries the normed row and what the word was is lost. Each half must read a normed copy and add its result to x itself.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        hidden = d_model * 4
        layers = [nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model)]
        self.feed_forward = nn.Sequential(*layers)

    def forward(self, x, mask=None):
        x = self.norm_1(x)
        out, weights = self.attention(x, mask)
        x = x + out
        x = self.norm_2(x)
        x = x + self.feed_forward(x)
        return x
''',
    ),
    dict(
        id='r-9.2-dropout-inside-the-sequential', exercise='9.2', today='NAMED', words=('Parameters are missing: feed_forward.2.bias, feed_fo',),
        tutor='An extra nn.Dropout stands in the Sequential, so the layer back is number 3 and not 2: the checks fill layers by name and cannot find it. It also makes the output random in training, which nobody asked for. The exercise says linear, GELU, linear.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(4 * d_model, d_model),
        )

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_1(x), mask)[0]
        x = x + self.feed_forward(self.norm_2(x))
        return x
''',
    ),
    dict(
        id='r-9.2-weights-of-attention-not-unpacked', exercise='9.2', today='NAMED', words=('The attention returns two results, out and weights, ',),
        tutor='The attention returns a pair, out and weights. The pair cannot be added to x: TypeError. Unpack it, found, _ = … And the mask is not handed on to it, so later words would be seen.',
        code=r'''
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

    def residual(self, x, sublayer, norm):
        return x + sublayer(norm(x))

    def forward(self, x, mask=None):
        x = self.residual(x, self.attention, self.norm_1)
        return self.residual(x, self.feed_forward, self.norm_2)
''',
    ),
    dict(
        id='r-9.3-last-position-only', exercise='9.3', today='NAMED', words=('is only the last along the axis T',), slow=True,
        tutor='Only the logits of the last position are returned, (B, 1, n_tokens), as nanoGPT does when it writes. Training needs the logits at every position, (B, T, n_tokens); generate picks the last one itself.',
        code=r'''
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
            x = block(x, causal_mask(tokens.size(1)))
        x = self.norm(x)
        # only forward the head on the very last position
        logits = self.head(x[:, [-1], :])
        return logits
''',
    ),
    dict(
        id='r-9.3-mask-of-the-full-length', exercise='9.3', today='NAMED', words=('the sizes 13 (max_len) and 7 (T)',), slow=True,
        tutor='The mask is made once for max_len words, and forward uses all of it. It fits only texts of exactly max_len tokens; a shorter text raises. Cut it, mask[:T, :T], or make causal_mask(tokens.shape[1]).',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList()
        for layer in range(n_layers):
            self.blocks.append(Block(d_model, n_heads))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)
        self.register_buffer("mask", causal_mask(max_len), persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))
''',
    ),
    dict(
        id='r-9.3-no-super-init', exercise='9.3', today='NAMED', words=('does not call super().__init__()',),
        tutor='super().__init__() is missing, so nn.Module has no place for layers yet, and the first assignment of a layer raises an AttributeError. Call it first in __init__.',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        h = self.embedding(tokens)
        for block in self.blocks:
            h = block(h, mask=causal_mask(tokens.shape[-1]))
        return self.head(self.norm(h))
''',
    ),
    dict(
        id='r-9.4-mean-of-the-sentences-means', exercise='9.4', today='NAMED', words=('You took the mean of each text and then the mean of those, s',),
        tutor='It takes the mean in each sentence first and then the mean of these. Without padding this is the same; with padding a token of a short sentence counts more than one of a long sentence. The exercise wants one mean over all targets: one sum divided by one count.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    ce = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    w = torch.ones_like(ce) if pad_id is None else (tokens[:, 1:] != pad_id).to(ce)
    per_sentence = (ce * w).sum(dim=1) / w.sum(dim=1).clamp(min=1)
    return per_sentence.mean()
''',
    ),
    dict(
        id='r-9.4-shifted-the-other-way', exercise='9.4', today='NAMED', words=('The shift goes the wrong way: position t is to predi',),
        tutor='The shift goes the wrong way: position t + 1 is asked for token t, which it has already read. The loss becomes small in training and the model learns to copy. logits[:, :-1] belongs to tokens[:, 1:].',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    total, count = 0.0, 0
    log_p = F.log_softmax(logits, dim=-1)
    for b in range(tokens.shape[0]):
        for t in range(1, tokens.shape[1]):
            previous = tokens[b, t - 1]
            if pad_id is not None and previous == pad_id:
                continue
            total = total - log_p[b, t, previous]
            count += 1
    return total / count
''',
    ),
    dict(
        id='r-9.4-in-bits', exercise='9.4', today='NAMED', words=('Yours is in bits; nats are wanted here, as cross_ent',),
        tutor='The loss is divided by ln 2 and so it is in bits. The exercise asks for nats, the natural logarithm that F.cross_entropy gives. Leave the division out; the lesson converts to bits elsewhere.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    bits = F.cross_entropy(
        logits[:, :-1].mT, tokens[:, 1:],
        ignore_index=-100 if pad_id is None else pad_id,
    ) / math.log(2)
    return bits
''',
    ),
    dict(
        id='r-9.5-threshold-one-place-too-far', exercise='9.5', today='NAMED', words=('k + 1 tokens stay: the k-th largest is entry k − 1 o',),
        tutor='Counting from 0, the k-th largest score stands at top_k − 1. sorted[top_k] is the next one, so k + 1 tokens may be drawn, and for top_k = V the index does not exist and it raises.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scores = logits / temperature
    if top_k is not None:
        ordered, _ = torch.sort(scores, dim=-1, descending=True)
        threshold = ordered[..., top_k].unsqueeze(-1)
        scores = torch.where(scores >= threshold, scores, -torch.inf)
    return torch.softmax(scores, dim=-1)
''',
    ),
    dict(
        id='r-9.5-mingpt-two-axes-only', exercise='9.5', today='NAMED', words=('You read the smallest score that stays by two axes, ',),
        tutor='v[:, [-1]] takes for granted that the logits are (B, V). With one row (V,) it raises, and with (B, T, V) it picks the last position instead of the smallest kept score. Use v[..., [-1]].',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits[logits < v[:, [-1]]] = -float('Inf')
    return F.softmax(logits, dim=-1)
''',
    ),
    dict(
        id='r-9.6-n-new-taken-for-total-length', exercise='9.6', today='NAMED', words=('You stop when the text, with its beginning, has n_ne',),
        tutor='The loop runs until the text has n_new tokens in all, beginning included. n_new is the number to add, so it must run n_new times; with a beginning of n_new tokens or more, nothing is added.',
        code=r'''
def generate(model, tokens, n_new, choose):
    with torch.no_grad():
        while tokens.shape[1] < n_new:
            context = tokens[:, -model.max_len:]
            last = model(context)[:, -1, :]
            tokens = torch.hstack([tokens, choose(last).reshape(-1, 1)])
    return tokens
''',
    ),
    dict(
        id='r-10.1-bool-mask-added-to-scores', exercise='10.1', today='NAMED', words=('finite where that holds −∞',), slow=True,
        tutor="The mask is added as Hugging Face's extended mask is, but here it is bool: allowed pairs get + 1 and hidden ones + 0, so nothing is hidden. Fill hidden scores with −∞: masked_fill(~mask, −torch.inf).",
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def transpose_for_scores(t):
        return t.view(*t.shape[:2], n_heads, -1).permute(0, 2, 1, 3)

    query_layer = transpose_for_scores(F.linear(x, layer.W_q, layer.b_q))
    key_layer = transpose_for_scores(F.linear(x, layer.W_k, layer.b_k))
    value_layer = transpose_for_scores(F.linear(x, layer.W_v, layer.b_v))
    attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
    attention_scores = attention_scores / math.sqrt(query_layer.size(-1))
    if mask is not None:
        attention_scores = attention_scores + mask
    attention_probs = F.softmax(attention_scores, dim=-1)
    context = (attention_probs @ value_layer).permute(0, 2, 1, 3).contiguous()
    context = context.view(x.shape)
    return F.linear(context, layer.W_o, layer.b_o), attention_probs
''',
    ),
    dict(
        id='r-10.1-skip-connection-included', exercise='10.1', today='NAMED', words=('You added x to the output. The layer does so around ',),
        tutor='x is added to the result, as BertSelfOutput does. The exercise asks for the attention of one layer only: out is the product with W_o plus b_o; the skip and the norm come later, outside this function.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    heads = {}
    for name in "qkv":
        W, b = getattr(layer, "W_" + name), getattr(layer, "b_" + name)
        heads[name] = split_heads(torch.einsum('btd,od->bto', x, W) + b, n_heads)
    s = torch.einsum('bhqd,bhkd->bhqk', heads["q"], heads["k"])
    s = s / math.sqrt(heads["q"].shape[-1])
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -math.inf)
    weights = s.softmax(dim=-1)
    mixed = merge_heads(weights @ heads["v"])
    return x + F.linear(mixed, layer.W_o, layer.b_o), weights
''',
    ),
    dict(
        id='r-10.2-sentences-not-paired-with-places', exercise='10.2', today='NAMED', words=("weights[..., verb, subject] takes every sentence's p",),
        tutor='weights[..., verb, subject] pairs verb n with subject n, but not with sentence n: it reads every pair of places in every sentence and gives (N, …, N). After the mean over the first axis the sentences are still there, as the last axis. Sentence n must be read at its own places: loop with zip, or index with arange(N) too.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    to_subject = weights[..., verb, subject]
    to_other = weights[..., verb, other]
    return (to_subject > to_other).float().mean(dim=0)
''',
    ),
    dict(
        id='r-10.2-means-compared', exercise='10.2', today='NAMED', words=('You averaged over the sentences first and compared t',),
        tutor='It compares the mean weight of the subjects with the mean weight of the other nouns and gives 0 or 1 for each head. The share counts sentences: compare in each sentence first, then take the mean of the results.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    n = torch.arange(len(weights))
    rows = torch.stack([w[..., v, :] for w, v in zip(weights, verb)])     # (N, ..., T)
    s = torch.stack([r[..., i] for r, i in zip(rows, subject)]).mean(0)
    o = torch.stack([r[..., i] for r, i in zip(rows, other)]).mean(0)
    return (s > o).float()
''',
    ),
    dict(
        id='r-10.3-first-n-tokens', exercise='10.3', today='NAMED', words=('You took the first rows of each text, as many as it ',),
        tutor='It takes the first n rows, n being the number of tokens. This is right only if padding stands at the end. With padding in front or between, padding is averaged and tokens are left out. Use the mask itself: h[m].mean(0).',
        code=r'''
def mean_pool(hidden, mask):
    lengths = mask.sum(-1).tolist()
    return torch.stack([h[:n].mean(dim=0) for h, n in zip(hidden, lengths)])
''',
    ),
    dict(
        id='r-10.3-padding-zeroed-mean-over-all', exercise='10.3', today='NAMED', words=('You divided every text by T = 11 (a plain mean over ',),
        tutor='Padding is set to 0 in the sum, but mean(dim=1) still divides by T. So texts with padding come out too short by the share of padding. Divide by the number of tokens of each text, mask.sum(dim=1, keepdim=True).',
        code=r'''
def mean_pool(hidden, mask):
    pad = mask.logical_not().unsqueeze(-1)
    return hidden.masked_fill(pad, 0.0).mean(dim=1)
''',
    ),
    dict(
        id='r-10.4-negative-stride', exercise='10.4', today='NAMED', words=('takes no negative step',),
        tutor='[::-1] reverses a NumPy array, but a tensor refuses a negative step with a ValueError. Use argsort(descending=True), flip, or topk.',
        code=r'''
def search(query, corpus, k):
    sims = (corpus @ query) / (corpus.norm(dim=-1) * query.norm())
    best = torch.argsort(sims)[::-1][:k]
    return best, sims[best]
''',
    ),
    dict(
        id='r-10.4-euclidean-neighbours', exercise='10.4', today='NAMED', words=('You looked for the rows that lie nearest to the quer',),
        tutor="It searches by distance between the vectors as they are. Without normalising, the nearest row depends on length, not on direction alone: a long row in exactly the query's direction is far away. Only afterwards the cosines of the rows found are computed, and they need not be sorted. Take the k largest cosines.",
        code=r'''
def search(query, corpus, k):
    dist = torch.cdist(query[None], corpus)[0]
    indices = dist.topk(k, largest=False).indices
    cosines = torch.nn.functional.cosine_similarity(corpus[indices], query[None], dim=-1)
    return indices, cosines
''',
    ),
    dict(
        id='s-1.1-cosine', exercise='1.1', today='NAMED', words=('You divided by the lengths of both vectors, which is',),
        tutor='You return cosines: the dot products are divided by the lengths of the query and of the keys. The exercise asks for the plain dot product, where a long key counts more. Drop the division by the two norms.',
        code=r'''
def similarities(query, keys):
    # similarity = cosine, like in my statistics course
    dots = keys @ query
    len_q = np.sqrt(np.sum(query ** 2))
    len_k = np.sqrt(np.sum(keys ** 2, axis=1))
    return dots / (len_q * len_k)
''',
    ),
    dict(
        id='s-1.2-max-before-sharpness', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and inf/i',),
        tutor='You subtract the maximum of the unsharpened scores from the sharpened scores. The weights are right for small scores, but with large scores and a sharpness other than 1 the largest exponent is not 0, so exp overflows (or every term becomes 0) and you get nan. Multiply by the sharpness first, then subtract the maximum of that.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    sims = similarities(query, keys)
    biggest = max(sims)
    e = np.exp(sharpness * sims - biggest)   # safe exponential
    w = e / np.sum(e)
    result = 0
    for i in range(len(w)):
        result = result + w[i] * values[i]
    return result, w
''',
    ),
    dict(
        id='s-1.2-divide-and-order', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one woul', 'You returned (weights, value); the order asked f'),
        tutor='Two mistakes. The scores are divided by the sharpness as if it were a temperature: a larger sharpness makes the weights flatter, and sharpness 0 gives nan; multiply instead. And the weights are returned first; the order asked for is value, then weights.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys) / sharpness
    scores = scores - np.max(scores)
    weights = np.exp(scores) / np.exp(scores).sum()
    value = np.dot(weights, values)
    return weights, value
''',
    ),
    dict(
        id='s-1.3-x-overwritten', exercise='1.3', today='NAMED', words=('You projected what was projected already, the keys f',),
        tutor='You overwrite X with X @ W_q, so the keys are made from the queries and the values from the keys, not from the words. The shapes do not fit (ValueError in matmul) unless d_k = d_model. Keep X as it is and use a new name for each product.',
        code=r'''
def project(X, W_q, W_k, W_v):
    X = np.matmul(X, W_q)
    Q = X
    X = np.matmul(X, W_k)
    K = X
    X = np.matmul(X, W_v)
    V = X
    return Q, K, V
''',
    ),
    dict(
        id='s-1.4-tensordot', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every example ',),
        tutor='tensordot over the last axes is right for one sentence. With a batch it pairs every sentence with every other one and gives (B, T_q, B, T_k) instead of (B, T_q, T_k). Leading axes must stay together: use Q @ np.swapaxes(K, -1, -2).',
        code=r'''
def dot_product_scores(Q, K):
    # contract the feature axis of both
    return np.tensordot(Q, K, axes=([-1], [-1]))
''',
    ),
    dict(
        id='s-1.5-old-only-noun', exercise='1.5', today='NAMED', words=('old gives books and shelf the same weight, 0.49: it ',),
        tutor='Your *are* works. But *old* looks for a noun only: its query is [5, 0], because it has no number of its own. So *books* and *shelf* score alike and get about 0.49 each. Write the plural into the adjective row too, [5, 5].',
        code=r'''
def design_projections():
    W_q = np.array([
        [0, 0],   # noun: looks for nothing
        [5, 0],   # verb looks for noun
        [5, 0],   # adjective looks for noun too
        [0, 5],   # number looks for the same number
    ])
    W_k = np.array([
        [1, 0],
        [0, 0],
        [0, 0],
        [0, 1],
    ])
    return W_q, W_k
''',
    ),
    dict(
        id='s-2.1-inplace-and-last-axis', exercise='2.1', today='NAMED', words=('One change in line 4 would make the values right: lo',),
        tutor="Two mistakes. `x -= …` changes the caller's array; write x = x - … . And the sum is always taken along the last axis, so for another axis the weights do not sum to 1 along it; use axis=axis in the sum as in the maximum.",
        code=r'''
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e_x = np.exp(x)
    return e_x / e_x.sum(axis=-1, keepdims=True)
''',
    ),
    dict(
        id='s-2.2-boolean-index', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the scor',),
        tutor="`scores[~mask] = …` needs a mask of exactly the scores' shape. A mask that only broadcasts, for example (T_q, T_k) for a batch or (1, T_k), raises an IndexError. np.where(mask, scores, -np.inf) broadcasts.",
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    dim = Q.shape[-1]
    s = np.einsum('...id,...jd->...ij', Q, K) / math.sqrt(dim)
    if mask is not None:
        s[~mask] = -np.inf
    a = softmax(s)
    return np.einsum('...ij,...jd->...id', a, V), a
''',
    ),
    dict(
        id='s-2.2-len-of-first', exercise='2.2', today='NAMED', words=('You took axis 1 of Q for the scale. It holds the fea',),
        tutor='`len(Q[0])` is the width d_k only for a single sentence. With a batch, Q[0] is a whole sentence and its length is T_q, so the scores are divided by √T_q instead of √d_k. Take Q.shape[-1].',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = len(Q[0])          # number of features
    K_t = np.swapaxes(K, -2, -1)
    scores = np.matmul(Q, K_t) / math.sqrt(d_k)
    if mask is None:
        attn = softmax(scores)
    else:
        attn = softmax(np.where(mask, scores, float("-inf")))
    return np.matmul(attn, V), attn
''',
    ),
    dict(
        id='s-2.3-values-not-projected', exercise='2.3', today='NAMED', words=('Your values are the words themselves: project them w',),
        tutor='You compute V but hand X itself to the attention as values. The weights are right, but the output mixes the raw features and has width d_model instead of d_v. Pass V as the third argument.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    queries = X @ W_q
    keys = X @ W_k
    values = X @ W_v
    out, weights = scaled_dot_product_attention(queries, keys, X, mask=mask)
    return out, weights
''',
    ),
    dict(
        id='s-2.4-tanh-before-sum', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='You take tanh of each projection alone and add afterwards; the formula is tanh of the sum. Your score is a number for the query plus a number for the key, so every query ranks the keys alike. Add first, then tanh.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    hq = np.tanh(Q @ W_q)
    hk = np.tanh(K @ W_k)
    S = []
    for a in hq:
        S.append([np.dot(v, a + b) for b in hk])
    return np.array(S)
''',
    ),
    dict(
        id='s-2.5-w-transposed', exercise='2.5', today='NAMED', words=('You used W transposed. W leads from query features t',),
        tutor='W is transposed: q Wᵀ k instead of q W k. With d_q ≠ d_k the product raises an error; with a square W the scores are those of the wrong matrix, unless W is symmetric. Use Q @ W, then K transposed.',
        code=r'''
def general_scores(Q, K, W):
    # W is (d_q, d_k) -> project the keys into the query space
    QW = Q.dot(W.T)
    return QW.dot(K.T)
''',
    ),
    dict(
        id='s-2.6-axis-one', exercise='2.6', today='NAMED', words=('The softmax runs along axis 1. That is right for one',),
        tutor='Scale and mask are mended. The softmax now runs along axis 1, which is the keys only for a single sentence; in a batch axis 1 is the queries again (and with heads in front, too). Count from the end: axis=-1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / d_k ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='s-3.1-uniform', exercise='3.1', today='NAMED', words=('Your features are uniform between −1 and 1, with var',),
        tutor='The features are drawn uniformly between -1 and 1. They have mean 0 but variance 1/3, so the dot products spread √d_k / 3 instead of √d_k. Draw standard normal numbers: rng.standard_normal((n, d_k)).',
        code=r'''
def sample_dot_products(n, d_k, rng):
    result = np.empty(n)
    for pair in range(n):
        q = rng.uniform(-1, 1, d_k)
        k = rng.uniform(-1, 1, d_k)
        result[pair] = q @ k
    return result
''',
    ),
    dict(
        id='s-3.2-bits', exercise='3.2', today='NAMED', words=('You took logarithms to base 2, which gives bits; nat',),
        tutor='You use log2, so the entropy comes in bits, larger by the factor 1/ln 2 = 1.44. The exercise asks for the natural logarithm: np.log. The handling of zeros is right.',
        code=r'''
def entropy(weights):
    # Shannon entropy H = - sum p log2 p
    log_p = np.zeros_like(weights)
    positive = weights > 0
    log_p[positive] = np.log2(weights[positive])
    return -(weights * log_p).sum(axis=-1)
''',
    ),
    dict(
        id='s-3.3-single-row', exercise='3.3', today='NAMED', words=('np.diag and np.outer know a single row only: of a ma',),
        tutor='np.diag and np.outer do this for one row only. For several rows np.diag takes a diagonal out of p and np.outer flattens it, so the shapes do not fit. Build it on the last axes: p[..., :, None] * np.eye(n) minus p[..., :, None] * p[..., None, :].',
        code=r'''
def softmax_jacobian(p):
    p = np.asarray(p)
    D = np.diag(p)
    return D - np.outer(p, p)
''',
    ),
    dict(
        id='s-3.4-plain-mean', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; it s',),
        tutor='You subtract the plain mean of d_weights in each row. The sum Σ p_j g_j is the mean *under the weights*; the two agree only for equal weights. Use (weights * d_weights).sum(axis=-1, keepdims=True). As it is, the gradient of a row does not even sum to 0.',
        code=r'''
def softmax_backward(weights, d_weights):
    g_mean = d_weights.mean(axis=-1, keepdims=True)
    centered = d_weights - g_mean
    return weights * centered
''',
    ),
    dict(
        id='s-3.4-second-weight-missing', exercise='3.4', today='NAMED', words=("You subtracted the row's sum from weight times gradi",),
        tutor='The first part p_i g_i is right, but from it you subtract the whole sum Σ p_j g_j. Outside the bracket it must be multiplied by p_i as well: p_i g_i − p_i Σ p_j g_j = p_i (g_i − Σ p_j g_j).',
        code=r'''
def softmax_backward(weights, d_weights):
    n = weights.shape[-1]
    wg = np.multiply(weights, d_weights)
    total = wg.sum(axis=-1)[..., np.newaxis]      # sum_j p_j g_j
    total = np.repeat(total, n, axis=-1)
    d_scores = wg - total
    return d_scores
''',
    ),
    dict(
        id='s-4.1-split-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='Tensor.split takes the *size* of a piece, not the number of pieces. You get d_k heads of width h instead of h heads of width d_k; only when d_k = h it is right. Use split(d_k, …) or chunk(n_heads, …).',
        code=r'''
def split_heads(x, n_heads):
    parts = torch.split(x, n_heads, dim=-1)
    return torch.stack(parts, dim=1)
''',
    ),
    dict(
        id='s-4.2-heads-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth',),
        tutor='You move the head axis behind the features, so after the reshape the features of the heads alternate: feature 0 of head 0, feature 0 of head 1, … . The heads should lie side by side, head 0 first. Move the head axis in front of the features only: (B, T, h, d_k).',
        code=r'''
def merge_heads(x):
    b, h, t, d = x.size()
    x = x.permute(0, 2, 3, 1)
    x = x.contiguous().view(b, t, d * h)
    return x
''',
    ),
    dict(
        id='s-4.3-dropout-on-scores', exercise='4.3', today='NAMED', words=('Dropout sets scores to 0, which hides nothing, exp(0',),
        tutor='Dropout acts on the scores before the softmax. A score set to 0 is not a weight set to 0, so in training no weight vanishes and others are distorted; and the weights you return are those after dropout. Take the softmax first, return these weights, and use dropout(weights) only in the product with V.',
        code=r'''
class MultiHeadAttention(nn.Module):
    """Multi-head attention."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("cannot divide %d by %d" % (d_model, n_heads))
        self.h = n_heads
        self.d_k = d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.h)
        k = split_heads(self.W_k(x), self.h)
        v = split_heads(self.W_v(x), self.h)
        energy = torch.matmul(q, k.transpose(2, 3)) / self.d_k ** 0.5
        energy = self.drop(energy)
        if mask is not None:
            energy = energy.masked_fill(mask == False, float("-inf"))
        attention = torch.softmax(energy, dim=-1)
        out = merge_heads(torch.matmul(attention, v))
        return self.W_o(out), attention
''',
    ),
    dict(
        id='s-4.3-assert-and-if-mask', exercise='4.3', today='NAMED', words=('AssertionError',), slow=True,
        tutor='Two mistakes. `assert` raises AssertionError; the exercise wants a ValueError whose message holds both values. And `if mask:` asks a whole tensor for one truth value, which raises an error; write `if mask is not None:`.',
        code=r'''
class MultiHeadAttention(nn.Module):

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} must be divisible by {n_heads}"
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, d_model = x.shape
        q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        out = self.dropout(weights) @ v
        out = out.transpose(1, 2).contiguous().view(B, T, d_model)
        return self.W_o(out), weights
''',
    ),
    dict(
        id='s-4.4-shared-and-no-dropout', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training ', 'Your module drops no weights in training, but mh'),
        tutor="Two mistakes. The dropout of PyTorch's module is not passed on, so yours has 0. And the slices of in_proj_weight.data are not copies: both modules share the numbers, and training one changes the other. Use copy_ or clone().",
        code=r'''
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads)
    W = mha.in_proj_weight.data
    ours.W_q.weight.data = W[0:d]
    ours.W_k.weight.data = W[d:2*d]
    ours.W_v.weight.data = W[2*d:3*d]
    ours.W_o.weight.data = mha.out_proj.weight.data
    return ours
''',
    ),
    dict(
        id='s-5.1-divide-from-zero', exercise='5.1', today='NAMED', words=('You divided row t by t, so the first is divided by 0',),
        tutor='Row t is the sum of t + 1 words, but you divide by t: torch.arange(T) begins at 0. The first row becomes inf or nan and the others are too large. Divide by torch.arange(1, T + 1).',
        code=r'''
def prefix_mean(x):
    T, d = x.shape
    running = torch.cumsum(x, dim=0)
    n = torch.arange(T).reshape(T, 1)
    return running / n
''',
    ),
    dict(
        id='s-5.2-without-itself', exercise='5.2', today='NAMED', words=('Your mask hides each word from itself, and leaves th',),
        tutor='The inner loop ends before i, so a word may not see itself and the diagonal is False; word 0 may look at nothing at all. Use range(i + 1), or tril with its diagonal.',
        code=r'''
def causal_mask(T):
    mask = torch.zeros(T, T).bool()
    for i in range(T):
        for j in range(i):
            mask[i][j] = True
    return mask
''',
    ),
    dict(
        id='s-5.3-x-not-copied', exercise='5.3', today='NAMED', words=('You changed the x you were given, so the changes pil',),
        tutor="`changed = x` is no copy: the zeros are written into the caller's x. And they stay there: at t = 2 word 1 is already 0, so the outputs before t differ from the original for an honest function too, and it is called a leak. Use x.clone() in every step.",
        code=r'''
def leaks_future(attend, x):
    rng_state = torch.get_rng_state()
    original = attend(x)
    for t in range(1, len(x)):
        changed = x
        changed[t:] = 0.0
        torch.set_rng_state(rng_state)
        new = attend(changed)
        diff = torch.abs(new[:t] - original[:t])
        if diff.max().item() > 1e-5:
            return True
    return False
''',
    ),
    dict(
        id='s-5.3-exact-and-dropout', exercise='5.3', today='NAMED', words=('You asked for outputs equal to the last bit. Rou', 'Dropout drew other numbers in the second call, a'),
        tutor='Two mistakes. torch.equal accepts no rounding, so an honest function whose outputs move in the last digits is called a leak. And the random state is not set back, so dropout draws other numbers in the second call and looks like a leak too. Compare with a tolerance of 1e-5 and restore the state before each call.',
        code=r'''
def leaks_future(attend, x):
    T = x.shape[0]
    out1 = attend(x)
    leak = False
    for t in range(1, T):
        x2 = x.clone()
        x2[t:] *= -3
        out2 = attend(x2)
        if not torch.equal(out1[:t], out2[:t]):
            leak = True
    return leak
''',
    ),
    dict(
        id='s-5.4-zero-is-padding', exercise='5.4', today='NAMED', words=('You took 0 for padding whatever pad_id says: compare with pa', 'With one change in line 2 they would in all: look at the comparison >.'),
        tutor='You compare with 0 instead of pad_id. In the lesson padding is 0, but for any other pad_id the padding stays visible and token 0, a real word, is hidden. Use tokens != pad_id.',
        code=r'''
def padding_mask(tokens, pad_id):
    is_word = tokens > 0
    return is_word.unsqueeze(1).unsqueeze(2)
''',
    ),
    dict(
        id='s-5.5-squeezed', exercise='5.5', today='NAMED', words=('One change in line 2 would make this right: look at ',),
        tutor='squeeze() takes the axes of length 1 away, and (B, T) is then lined up with (T, T): the batch meets the queries. That raises an error unless B = T or B = 1, and then the result is (T, 1, T) and not (B, 1, T, T). Leave padding as (B, 1, 1, T): padding & causal broadcasts by itself.',
        code=r'''
def combine_masks(padding, causal):
    pad = padding.squeeze()          # (B, T)
    both = torch.logical_and(pad, causal)
    return both.unsqueeze(1)
''',
    ),
    dict(
        id='s-5.6-plain-exp', exercise='5.6', today='NAMED', words=('The first infinity comes up in line 2',),
        tutor='The exponential is taken without subtracting the maximum. Scores above 88 (in float16 already above 11) overflow to inf and the row becomes nan; for very negative scores the small constant swallows the row, and in float16 it is 0 itself, so an empty row is 0/0. Let torch.softmax do it, with hidden scores at −∞ and empty rows filled before.',
        code=r'''
def masked_softmax(scores, mask):
    e = torch.exp(scores) * mask
    total = e.sum(dim=-1, keepdim=True)
    # avoid division by zero for empty rows
    return e / (total + 1e-9)
''',
    ),
    dict(
        id='s-5.6-nan-replaced-too-late', exercise='5.6', today='NAMED', words=('The weights are right and the gradients are not: NaN',),
        tutor='The weights are right, but an empty row goes into the softmax all −∞ and comes out NaN. Adding −∞ and replacing NaN afterwards leaves NaN in the gradient of the scores. Fill empty rows with a finite number before the softmax.',
        code=r'''
def masked_softmax(scores, mask):
    bias = torch.zeros_like(scores)
    bias = bias.masked_fill(mask.logical_not(), float('-inf'))
    w = F.softmax(scores + bias, dim=-1)
    w = torch.where(torch.isnan(w), torch.zeros_like(w), w)
    return w
''',
    ),
    dict(
        id='s-5.7-none-mask', exercise='5.7', today='NAMED', words=('Without a mask masked_softmax has nothing to turn ov',),
        tutor='Without a mask you call masked_softmax(scores, None), which raises a TypeError. memory_mask may be None: take a plain softmax over the last axis then.',
        code=r'''
class CrossAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        h = self.n_heads
        Q = split_heads(self.W_q(x), h)
        K, V = split_heads(self.W_k(memory), h), split_heads(self.W_v(memory), h)
        dk = K.size(-1)
        attn = masked_softmax((Q @ K.mT) / math.sqrt(dk), memory_mask)
        return self.W_o(merge_heads(attn @ V)), attn
''',
    ),
    dict(
        id='s-5.7-dmodel-and-reshape', exercise='5.7', today='NAMED', words=("You divided by √d_model = 4; each head's scores ", 'You joined the heads by a reshape alone, so that'), slow=True,
        tutor='Two mistakes. The scores are divided by √d_model instead of √d_k, the width of one head, so the weights are too flat. And the heads are reshaped to (B, T_q, d_model) without exchanging heads and words first, so features of different words are mixed; use merge_heads.',
        code=r'''
class CrossAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        batch, T_q, d_model = x.shape
        q = split_heads(self.W_q(x), self.n_heads)
        k = split_heads(self.W_k(memory), self.n_heads)
        v = split_heads(self.W_v(memory), self.n_heads)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / d_model ** 0.5
        if memory_mask is None:
            weights = torch.softmax(scores, -1)
        else:
            weights = masked_softmax(scores, memory_mask)
        context = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        context = context.reshape(batch, T_q, d_model)
        return self.W_o(context), weights
''',
    ),
    dict(
        id='s-6.1-not-unshuffled', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse',),
        tutor='To undo the shuffle of f(X[perm]) you index with perm again. That shuffles a second time; it undoes only an order that is its own inverse. Index with torch.argsort(perm), or compare f(X[perm]) with f(X)[perm].',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    out = f(X)
    out_shuffled = f(X[perm])
    back = out_shuffled[perm]        # put the rows back in their place
    return bool(torch.allclose(out, back, atol=1e-5))
''',
    ),
    dict(
        id='s-6.2-sines-then-cosines', exercise='6.2', today='NAMED', words=('You put all sines first and all cosines after them. ',),
        tutor='All sines stand in the first half of the columns and all cosines in the second. The formula alternates them: column 2i is a sine and column 2i + 1 its cosine. Write into columns 0::2 and 1::2.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    angle = position * div_term
    pe = torch.cat([angle.sin(), angle.cos()], dim=1)
    return pe[:, :d_model]
''',
    ),
    dict(
        id='s-6.3-two-twice', exercise='6.3', today='NAMED', words=('Your frequencies fall twice as fast as those of the ',),
        tutor="Your loop variable runs 0, 2, 4, …, so it is already the formula's 2i; you multiply it by 2 again. Every pair but the first gets a frequency that is too low, the square of the right one. Use 10000 ** (-i / d_model).",
        code=r'''
def shift_matrix(offset, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        w = 10000 ** (-2 * i / d_model)
        c = math.cos(offset * w)
        s = math.sin(offset * w)
        M[i:i + 2, i:i + 2] = torch.tensor([[c, s], [-s, c]])
    return M
''',
    ),
    dict(
        id='s-6.4-view-overwritten', exercise='6.4', today='NAMED', words=('The second line uses the even column after it was tu',),
        tutor='`a` is a view of `out`, not a copy. After the first assignment it holds the turned numbers already, so the second line uses the new a: the odd columns are wrong. Keep the old even columns (take them from x, or clone) before you write.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T = x.shape[-2]
    d = x.shape[-1]
    pos = torch.arange(offset, offset + T, dtype=x.dtype)
    freq = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    ang = torch.outer(pos, freq)
    out = x.clone()
    a = out[..., 0::2]
    b = out[..., 1::2]
    out[..., 0::2] = a * ang.cos() - b * ang.sin()
    out[..., 1::2] = a * ang.sin() + b * ang.cos()
    return out
''',
    ),
    dict(
        id='s-6.4-offset-and-base-unused', exercise='6.4', today='NAMED', words=('You wrote 10000 where base belongs; other bases ', 'The offset plays no part: the first row stands a'), slow=True,
        tutor='Two arguments have no effect: the positions always begin at 0 although the first row stands at `offset`, and 10000 is written into the formula instead of `base`. Add offset to the positions and use base.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    theta = torch.zeros(T, d // 2, dtype=x.dtype)
    for p in range(T):
        for i in range(d // 2):
            theta[p, i] = p / (10000 ** (2 * i / d))
    x1 = x[..., 0::2]
    x2 = x[..., 1::2]
    rotated = torch.stack([x1 * torch.cos(theta) - x2 * torch.sin(theta),
                           x1 * torch.sin(theta) + x2 * torch.cos(theta)], dim=-1)
    return rotated.flatten(-2)
''',
    ),
    dict(
        id='s-6.5-heads-from-zero', exercise='6.5', today='NAMED', words=('Your heads are counted from 0, so the first has slop',),
        tutor='Head i runs from 1 to h in the formula, but range(n_heads) begins at 0. The first head gets slope 1 instead of 2^(-8/h) and every head has the slope of the one before. Use i + 1.',
        code=r'''
def alibi_bias(n_heads, T):
    bias = torch.zeros(n_heads, T, T)
    for i in range(n_heads):
        m = 2 ** (-8 * i / n_heads)
        for q in range(T):
            for k in range(T):
                bias[i, q, k] = -m * abs(q - k)
    return bias
''',
    ),
    dict(
        id='s-6.6-position-by-token', exercise='6.6', today='NAMED', words=('You looked positions up by what the token is; they d',),
        tutor="You look up the row of `pe` with the token's number instead of its place. The same token gets the same vector everywhere, so no order is added; a token number beyond max_len raises an IndexError. Add pe[:T].",
        code=r'''
def embed(tokens, E, pe):
    word_vectors = E[tokens]
    position_vectors = pe[tokens]
    return word_vectors + position_vectors
''',
    ),
    dict(
        id='s-6.7-words-turned', exercise='6.7', today='NAMED', words=('You turned X before it was projected, and W_q and W_',),
        tutor='You turn the words X before the projection. W_q and W_k then mix the turned pairs, so a score no longer depends on the words and their offset alone. Project first: rope(X @ W_q) and rope(X @ W_k).',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    T = X.shape[0]
    X_pos = rope(X)
    q, k, v = X_pos @ W_q, X_pos @ W_k, X @ W_v
    scores = (q @ k.T) / math.sqrt(q.shape[1])
    scores[~causal_mask(T)] = float("-inf")
    return torch.softmax(scores, dim=1) @ v
''',
    ),
    dict(
        id='s-7.1-mixing-widths', exercise='7.1', today='NAMED', words=('With letters for the sizes, your result is 2·T_q·T_k',),
        tutor='Scoring is right. For mixing you take T_q · d_k · d_v, as if the weights were (T_q, d_k). The weights are (T_q, T_k): each of the T_q · d_v outputs adds up T_k products.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    # (T_q x d_k) * (d_k x T_k)
    flops_scores = 2 * T_q * d_k * T_k
    # (T_q x d_k) * (d_k x d_v)
    flops_values = 2 * T_q * d_k * d_v
    return flops_scores + flops_values
''',
    ),
    dict(
        id='s-7.2-square-on-t', exercise='7.2', today='NAMED', words=('You squared T. A projection treats every word by its',),
        tutor='The square is on the wrong factor. A projection is (T, d_model) times (d_model, d_model): T · d_model outputs of d_model multiply-adds, so d_model is squared and T is not. Projections grow with T, not with T².',
        code=r'''
def projection_flops(T, d_model):
    per_matrix = 2 * T ** 2 * d_model
    n_matrices = 4   # W_q, W_k, W_v, W_o
    return n_matrices * per_matrix
''',
    ),
    dict(
        id='s-7.3-doubling-search', exercise='7.3', today='NAMED', words=('You tried powers of two only, and took the first tha',),
        tutor='You double T until the products cost at least as much, so you return the next power of two. That is right only if d_model is a power of two: for 768 you get 2048 instead of 1536. Set the two costs equal and solve for T: 2 · d_model.',
        code=r'''
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):
        T = T * 2
    return T
''',
    ),
    dict(
        id='s-7.4-causal-half', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='You count only the T(T + 1)/2 pairs of a causal mask. The exercise asks for all scores of the layer: T · T per head and sequence. No mask is mentioned, and naive attention stores the hidden scores as well.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = T * (T + 1) // 2
    return B * H * pairs * itemsize
''',
    ),
    dict(
        id='s-7.5-no-intercept', exercise='7.5', today='NAMED', words=('Your line is forced through the origin, which means ',),
        tutor='Your regression has no intercept: the line is forced through the origin, that is c = 1. The slope then depends on the unit of the costs. Subtract the means of both logarithms first, or use np.polyfit(x, y, 1)[0].',
        code=r'''
def fit_exponent(sizes, costs):
    # OLS: beta = (x'x)^-1 x'y
    x = np.log(np.array(sizes, dtype=float))
    y = np.log(np.array(costs, dtype=float))
    beta = (x @ y) / (x @ x)
    return float(beta)
''',
    ),
    dict(
        id='s-8.1-out-as-mean', exercise='8.1', today='NAMED', words=('You weighed each sum of values by its total, as one would tw', 'With one change in line 9 they would in all: look at whether where belongs there. Or: at the compari'),
        tutor='You treat `out` as the mean of a part: multiply it by the total, and divide by the common total at the end. In a state, out is the *sum*, not yet divided. Rescale the two sums by their factors and add; the division comes once, after the last part.',
        code=r'''
def merge(first, second):
    m1, l1, o1 = first
    m2, l2, o2 = second
    m = torch.maximum(m1, m2)
    safe = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    a = torch.exp(m1 - safe) * l1
    b = torch.exp(m2 - safe) * l2
    l = a + b
    o = (a * o1 + b * o2) / torch.where(l == 0, torch.ones_like(l), l)
    return m, l, o
''',
    ),
    dict(
        id='s-8.1-maximum-replaced', exercise='8.1', today='NAMED', words=('Your common maximum is never below 0. Where all scor',), slow=True,
        tutor='Total and sum are right. But where both parts see nothing you return the replaced maximum 0 instead of −∞. The 0 should be used inside the factors only; return the true maximum.',
        code=r'''
def merge(first, second):
    max_a, total_a, out_a = first
    max_b, total_b, out_b = second
    new_max = torch.max(max_a, max_b)
    new_max[new_max == -torch.inf] = 0.0
    scale_a = (max_a - new_max).exp()
    scale_b = (max_b - new_max).exp()
    return (new_max,
            scale_a * total_a + scale_b * total_b,
            scale_a * out_a + scale_b * out_b)
''',
    ),
    dict(
        id='s-8.2-state-not-reset', exercise='8.2', today='NAMED', words=('Each tile of queries needs a state of its own: yours',),
        tutor='The state is made once, before the loop over the query tiles. The second tile of queries then goes on with the state of the first, so its maximum, total and sum hold foreign keys; if the last tile is smaller, the shapes do not even fit. Start with nothing_seen inside the outer loop.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    n_q, n_k, d = Q.shape[-2], K.shape[-2], Q.shape[-1]
    result = []
    state = nothing_seen(Q[..., :tile, :], V)
    for i in range(0, n_q, tile):
        q = Q[..., i:i+tile, :]
        for j in range(0, n_k, tile):
            if causal and j > i:
                continue
            k = K[..., j:j+tile, :]
            v = V[..., j:j+tile, :]
            s = q @ k.transpose(-1, -2) / math.sqrt(d)
            if causal and i == j:
                s = s.masked_fill(~causal_mask(s.shape[-1]), -torch.inf)
            state = merge(state, state_of(s, v))
        result.append(state[2] / state[1])
    return torch.cat(result, dim=-2)
''',
    ),
    dict(
        id='s-8.2-last-tile-lost', exercise='8.2', today='NAMED', words=('The last, shorter tile of keys is left out. Let ', 'In line 5, look at where that range begins and e'),
        tutor='T // tile rounds down, so the last, smaller tile of keys and of queries is never visited: those keys get no weight and those rows stay 0. Use range(0, T, tile); a slice beyond the end is just shorter.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    T_q = Q.shape[-2]
    T_k = K.shape[-2]
    out = Q.new_zeros(*Q.shape[:-1], V.shape[-1])
    for a in range(T_q // tile):
        rows = slice(a * tile, (a + 1) * tile)
        q = Q[..., rows, :] / Q.shape[-1] ** 0.5
        state = nothing_seen(q, V)
        for b in range(T_k // tile):
            if causal and b > a:
                break
            cols = slice(b * tile, (b + 1) * tile)
            s = q @ K[..., cols, :].mT
            if causal and a == b:
                s = s.masked_fill(~causal_mask(tile), float("-inf"))
            state = merge(state, state_of(s, V[..., cols, :]))
        out[..., rows, :] = state[2] / state[1]
    return out
''',
    ),
    dict(
        id='s-8.2-no-scale-no-diagonal-mask', exercise='8.2', today='NAMED', words=('The scores are not scaled: divide by √d_k = 2, a', 'Nothing is hidden in the tiles on the diagonal, '),
        tutor='Two mistakes. The scores are not divided by √d_k. And with causal=True you skip the tiles after the query tile, but lay no mask over the tile on the diagonal, so a query still sees later words of its own tile. Lay causal_mask over the tile with j = i.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    pieces = []
    for i in range(0, Q.shape[-2], tile):
        q = Q[..., i:i + tile, :]
        m, l, o = nothing_seen(q, V)
        for j in range(0, K.shape[-2], tile):
            if causal and j > i:
                break       # these keys are in the future
            scores = q @ K[..., j:j + tile, :].mT
            m, l, o = merge((m, l, o), state_of(scores, V[..., j:j + tile, :]))
        pieces.append(o / l)
    return torch.cat(pieces, dim=-2)
''',
    ),
    dict(
        id='s-8.3-both-sides', exercise='8.3', today='NAMED', words=('Your window opens to both sides, so words see what c',),
        tutor='abs() makes the window symmetric: a word also sees the window − 1 words after it. The mask must be causal: the distance i − j has to be at least 0 as well as below window.',
        code=r'''
def window_mask(T, window):
    i = torch.arange(T).unsqueeze(1)
    j = torch.arange(T).unsqueeze(0)
    return torch.abs(i - j) < window
''',
    ),
    dict(
        id='s-8.4-one-inside-elu', exercise='8.4', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='φ is elu(x) + 1; you compute elu(x + 1). That shifts the function to the left: for x below −1 the features are negative, weights can be negative and the denominator can come near 0. Add the 1 outside.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    def phi(x):
        return F.elu(x + 1)

    fq, fk = phi(Q), phi(K)
    if not causal:
        kv = torch.einsum("...nd,...ne->...de", fk, V)
        z = fk.sum(dim=-2)
        num = torch.einsum("...md,...de->...me", fq, kv)
        den = torch.einsum("...md,...d->...m", fq, z)
    else:
        kv = torch.einsum("...nd,...ne->...nde", fk, V).cumsum(dim=-3)
        z = fk.cumsum(dim=-2)
        num = torch.einsum("...nd,...nde->...ne", fq, kv)
        den = (fq * z).sum(-1)
    return num / den.unsqueeze(-1)
''',
    ),
    dict(
        id='s-8.4-cumsum-over-features', exercise='8.4', today='NAMED', words=('The running sum of the products goes along the featu',),
        tutor='In φ(k) vᵀ, (…, T, d_k, d_v), the words stand on axis −3; your cumsum along −2 adds up over the features of the key. So with causal=True a word never gets anything from earlier words in the numerator. The denominator, where −2 is the words, is right. Use dim=-3.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    Q = F.elu(Q) + 1
    K = F.elu(K) + 1
    if causal:
        KV = K.unsqueeze(-1) * V.unsqueeze(-2)
        KV = torch.cumsum(KV, dim=-2)
        Ksum = torch.cumsum(K, dim=-2)
        top = (Q.unsqueeze(-1) * KV).sum(dim=-2)
        bottom = (Q * Ksum).sum(dim=-1, keepdim=True)
        return top / bottom
    KV = K.transpose(-1, -2) @ V
    bottom = Q @ K.sum(dim=-2).unsqueeze(-1)
    return (Q @ KV) / bottom
''',
    ),
    dict(
        id='s-8.5-cached-keys-turned-again', exercise='8.5', today='NAMED', words=('The cache is to hold keys that are turned. Yours sto',), slow=True,
        tutor='The cache holds keys that are turned already, but you store unturned keys and turn all of them in each call. With a cache as described the old keys are turned twice, and the keys that you leave in the cache are not turned. Turn only the new keys, with offset T_old, and append them.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    h = layer.n_heads
    q = split_heads(layer.W_q(x_new), h)
    k = split_heads(layer.W_k(x_new), h)
    v = split_heads(layer.W_v(x_new), h)
    old = cache["K"].shape[2]
    new = x_new.shape[1]
    cache["K"] = torch.cat((cache["K"], k), dim=2)
    cache["V"] = torch.cat((cache["V"], v), dim=2)
    q = rope(q, offset=old)
    all_k = rope(cache["K"])
    scores = q @ all_k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    mask = causal_mask(old + new)[old:]
    scores = scores.masked_fill(~mask, -torch.inf)
    out = scores.softmax(-1) @ cache["V"]
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='s-8.5-new-dict', exercise='8.5', today='NAMED', words=('Old and new keys are joined for this call, but the c',),
        tutor='The output is right, but `cache = {…}` makes a new dict that only your function knows. The caller\'s dict stays as it was, so the next word finds no earlier words. Assign to cache["K"] and cache["V"].',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    T_old = cache["K"].shape[-2]
    T_new = x_new.shape[1]
    Q, K, V = [split_heads(W(x_new), layer.n_heads) for W in [layer.W_q, layer.W_k, layer.W_v]]
    Q, K = rope(Q, offset=T_old), rope(K, offset=T_old)
    K_all = torch.cat([cache["K"], K], dim=-2)
    V_all = torch.cat([cache["V"], V], dim=-2)
    allowed = torch.ones(T_new, T_old + T_new, dtype=torch.bool).tril(diagonal=T_old)
    scores = Q @ K_all.mT / math.sqrt(Q.shape[-1])
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    out = layer.W_o(merge_heads(weights @ V_all))
    cache = {"K": K_all, "V": V_all}
    return out
''',
    ),
    dict(
        id='s-8.6-group-index', exercise='8.6', today='NAMED', words=('Head i takes the keys of head i // g in yours. h / g',),
        tutor='Head i must take head i // (h / g) of the keys; you take i // g. The two agree when h = g², for other sizes heads get the wrong keys or the index is beyond the last head of keys (IndexError).',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.shape[1]
    if mask is not None:
        mask = mask.expand(B, h, T_q, K.shape[2])
    heads = []
    for i in range(h):
        group = i // g
        s = Q[:, i] @ K[:, group].transpose(1, 2) / math.sqrt(d_k)
        if mask is not None:
            s = s.masked_fill(~mask[:, i], -torch.inf)
        heads.append(torch.softmax(s, dim=-1) @ V[:, group])
    return torch.stack(heads, dim=1)
''',
    ),
    dict(
        id='s-8.7-keys-only', exercise='8.7', today='NAMED', words=('Your number is half of what is wanted: both keys and',),
        tutor='You count one vector of d_head numbers per token, layer and head. Both the key and the value are kept, so the result is half of what it should be. itemsize is the size of one number, it does not stand for K and V.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    # itemsize=2 -> one for K and one for V
    per_layer = n_kv_heads * d_head * n_tokens
    return n_layers * per_layer * itemsize
''',
    ),
    dict(
        id='s-8.8-zero-layers', exercise='8.8', today='NAMED', words=('A stack of 0 layers mixes nothing: only the word its',),
        tutor='You begin with `window` words, as if there were always a first layer. From one layer on it is right, but a stack of 0 layers hears only the last word itself: 1. Begin with 1 and add window − 1 for each layer.',
        code=r'''
def reach(n_layers, window):
    heard = window
    for layer in range(2, n_layers + 1):
        heard += window - 1
    return heard
''',
    ),
    dict(
        id='s-9.1-std-plus-eps', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='Two differences. x.std divides by d − 1 by default; the variance here divides by d (correction=0). And eps is added to the standard deviation, outside the root; it belongs to the variance, under the root.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return scale * (x - mean) / (std + eps) + shift
''',
    ),
    dict(
        id='s-9.2-both-from-input', exercise='9.2', today='NAMED', words=("Both halves read the block's input, side by side (so",),
        tutor="Both halves read the block's input. The feed-forward network should start from x + attention, the result of the first half; here it never sees what attention found. Update x first, then norm_2 and feed_forward of the new x.",
        code=r'''
class Block(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        hidden = 4 * d_model
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, hidden),
            nn.GELU(),
            nn.Linear(hidden, d_model),
        )

    def forward(self, x, mask=None):
        att = self.attention(self.norm_1(x), mask)[0]
        ff = self.feed_forward(self.norm_2(x))
        return x + att + ff
''',
    ),
    dict(
        id='s-9.3-same-block', exercise='9.3', today='NAMED', words=('All layers are the same block, so they share their p',),
        tutor='`[Block(…)] * n_layers` is a list with the same block n_layers times. All layers share one set of weights, so the model has the parameters of a single block. Make a new block for each layer: nn.ModuleList(Block(…) for _ in range(n_layers)).',
        code=r'''
class TinyGPT(nn.Module):

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads)] * n_layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        h = self.embedding(tokens)
        mask = causal_mask(tokens.size(1))
        for b in self.blocks:
            h = b(h, mask)
        h = self.norm(h)
        return self.head(h)
''',
    ),
    dict(
        id='s-9.3-sequential-no-mask', exercise='9.3', today='NAMED', words=('The blocks get no mask, so every position sees the t',),
        tutor='nn.Sequential hands on x alone, so the blocks get no mask and every position sees the whole text: the model reads the answer. Use nn.ModuleList and a loop, and pass causal_mask(T) to each block.',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        layers = []
        for _ in range(n_layers):
            layers.append(Block(d_model, n_heads))
        self.blocks = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = self.blocks(x)
        x = self.norm(x)
        logits = self.head(x)
        return logits
''',
    ),
    dict(
        id='s-9.4-mean-over-padding-too', exercise='9.4', today='NAMED', words=('Padding costs nothing, but still counts in the mean:',),
        tutor='The losses of padding are set to 0, but .mean() still divides by all positions, padding included. So with padding the loss is too small. Divide by the number of targets that count, or use ignore_index.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    pred = logits[:, :-1, :].reshape(-1, V)
    target = tokens[:, 1:].reshape(-1)
    loss = F.cross_entropy(pred, target, reduction="none")
    if pad_id is not None:
        not_pad = (target != pad_id).float()
        loss = loss * not_pad
    return loss.mean()
''',
    ),
    dict(
        id='s-9.5-ties-lost', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='You copy exactly top_k scores into a row of −∞. Tokens that equal the smallest of these should stay too, but ties beyond k are forbidden. Take the smallest kept score as a threshold and forbid only what is less.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        values, indices = torch.topk(logits, top_k, dim=-1)
        filtered = torch.full_like(logits, float("-inf"))
        filtered.scatter_(-1, indices, values)
        logits = filtered
    return F.softmax(logits, dim=-1)
''',
    ),
    dict(
        id='s-9.6-beginning-cut-off', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model is s',),
        tutor='You overwrite `tokens` with its last max_len tokens. The model sees the right window, but what is cut off is lost: the result is shorter than T + n_new and the beginning is missing. Give the window a name of its own and append to the whole text.',
        code=r'''
def generate(model, tokens, n_new, choose):
    i = 0
    with torch.no_grad():
        while i < n_new:
            if tokens.shape[1] > model.max_len:
                tokens = tokens[:, -model.max_len:]
            logits = model(tokens)
            nxt = choose(logits[:, -1, :])
            tokens = torch.cat((tokens, nxt.unsqueeze(1)), dim=1)
            i += 1
    return tokens
''',
    ),
    dict(
        id='s-10.1-bo-before-and-sqrt32', exercise='10.1', today='PARTLY', slow=True,
        tutor='Two mistakes. b_o is added to the merged heads before the product with W_o; it belongs after it. And √32 is the d_k of this encoder only: for other sizes the scale is wrong. Take the last axis of Q.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, d_model = x.shape
    q = split_heads(x @ layer.W_q.T + layer.b_q, n_heads)
    k = split_heads(x @ layer.W_k.T + layer.b_k, n_heads)
    v = split_heads(x @ layer.W_v.T + layer.b_v, n_heads)
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(32)   # 384 / 12
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    context = merge_heads(torch.matmul(weights, v))
    out = (context + layer.b_o) @ layer.W_o.T
    return out, weights
''',
    ),
    dict(
        id='s-10.2-all-places-of-all-sentences', exercise='10.2', today='NAMED', words=("weights[..., verb, subject] takes every sentence's p",),
        tutor='weights[..., verb, subject] pairs every sentence with the places of *all* sentences: the result is (N, …, N), not one number per sentence. The mean over both axes hides this. Take sentence n with its own places, in a loop or with weights[torch.arange(N), ..., verb, subject].',
        code=r'''
def agreement_share(weights, verb, subject, other):
    to_subject = weights[..., verb, subject]
    to_other = weights[..., verb, other]
    wins = (to_subject > to_other).float()
    return wins.mean(dim=(0, -1))
''',
    ),
    dict(
        id='s-10.3-divided-by-t', exercise='10.3', today='NAMED', words=('You divided every text by T = 11 (a plain mean over ',),
        tutor='Padding is set to zero, but the mean still divides by all T places. Short texts get too short a vector. Divide the sum by the number of tokens of each text, mask.sum(dim=1, keepdim=True).',
        code=r'''
def mean_pool(hidden, mask):
    m = mask.unsqueeze(-1).expand(hidden.size())
    hidden = torch.where(m, hidden, torch.zeros_like(hidden))
    return hidden.mean(dim=1)
''',
    ),
    dict(
        id='s-10.4-smallest-first-and-query', exercise='10.4', today='NAMED', words=('The order is right, but these are not cosines: t', 'The right rows come in the wrong order: the larg'),
        tutor='Two mistakes. argsort is ascending, so the last k come with the largest at the end; the largest should come first. And the query is not divided by its norm: the ranking is the same, but the numbers returned are no cosines.',
        code=r'''
def search(query, corpus, k):
    norms = torch.sqrt((corpus ** 2).sum(dim=1))
    scores = (corpus @ query) / norms     # |query| is the same for all rows
    order = torch.argsort(scores)
    best = order[-k:]
    return best, scores[best]
''',
    ),
    dict(
        id='t-0.1-softmax-of-the-weights', exercise='0.1', today='NAMED', words=('You made shares of the weights by exponentials; here',),
        tutor='You send the weights through exp first, so a weight of 2 counts e times as much as a weight of 1, not twice as much. Take the weights as they are and divide by their sum.',
        code=r'''
def weighted_average(values, weights):
    # Boltzmann: turn the weights into probabilities, then take the expectation
    shifted = weights - np.max(weights)
    boltzmann = np.exp(shifted)
    p = boltzmann / boltzmann.sum()
    return float(np.dot(p, values))
''',
    ),
    dict(
        id='t-0.1-weights-as-whole-counts', exercise='0.1', today='NAMED', words=('It cuts off what stands after the point.',),
        tutor='Repeating each value int(weight) times works only for whole weights: 0.5 becomes 0 copies and 1.9 becomes 1. Multiply by the weight and divide by the sum of the weights.',
        code=r'''
def weighted_average(values, weights):
    everything = []
    for v, w in zip(values, weights):
        for _ in range(int(w)):
            everything.append(v)
    return sum(everything) / len(everything)
''',
    ),
    dict(
        id='t-1.1-misread-cosine-similarity', exercise='1.1', today='NAMED', words=('You divided by the lengths of both vectors, which is',),
        tutor='You return cosines: you divide by the lengths of the arrows. The exercise asks for the plain dot products, in which a long key may win.',
        code=r'''
def similarities(query, keys):
    q_len = np.linalg.norm(query)
    k_len = np.linalg.norm(keys, axis=1)
    return np.dot(keys, query) / (q_len * k_len)
''',
    ),
    dict(
        id='t-1.2-sharpness-as-temperature', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one would by',),
        tutor='You divide the scores by the sharpness, as one divides by a temperature. Sharpness is the inverse of that: multiply, so that 0 gives the plain average and a large number the best key.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    energy = similarities(query, keys) / sharpness
    top = energy.max()
    log_Z = top + np.log(np.exp(energy - top).sum())   # log-sum-exp
    prob = np.exp(energy - log_Z)
    return prob @ values, prob
''',
    ),
    dict(
        id='t-1.2-value-array-of-whole-numbers', exercise='1.2', today='NAMED', words=('One change in line 7 would make this right: look at ',),
        tutor='np.zeros_like(values[0]) has the dtype of the values. With whole numbers it cuts off everything after the point, so the average of 0 and 1 becomes 0; make a float array.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    n, d_v = values.shape
    s = [sharpness * x for x in similarities(query, keys)]
    biggest = max(s)
    exps = np.array([np.exp(x - biggest) for x in s])
    weights = exps / exps.sum()
    value = np.zeros_like(values[0])
    for j in range(d_v):
        total = 0.0
        for i in range(n):
            total = total + weights[i] * values[i, j]
        value[j] = total
    return value, weights
''',
    ),
    dict(
        id='t-1.2-clip-the-exponent', exercise='1.2', today='NAMED', words=('You clipped the scores to stay clear of overflow, so scores ',),
        tutor='Cutting the scores off at 700 avoids the overflow but makes all scores above 700 equal. Subtract the largest score instead: that changes no ratio.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * similarities(query, keys)
    safe = np.minimum(scores, 700.0)      # exp overflows above 709
    e = np.exp(safe)
    weights = e / np.sum(e)
    value = np.sum(weights[:, None] * values, axis=0)
    return value, weights
''',
    ),
    dict(
        id='t-1.3-one-product-three-equal-parts', exercise='1.3', today='NAMED', words=('cut into equal parts',),
        tutor='One product for all three is a good idea, but np.split(…, 3) cuts into equal parts. W_v may be wider than W_q; cut at d_k and 2·d_k.',
        code=r'''
def project(X, W_q, W_k, W_v):
    W_qkv = np.concatenate([W_q, W_k, W_v], axis=1)
    qkv = X @ W_qkv
    q, k, v = np.split(qkv, 3, axis=1)
    return q, k, v
''',
    ),
    dict(
        id='t-1.4-np-inner-on-a-batch', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every example ',),
        tutor='np.inner is right for two matrices, but with a batch it pairs every sentence with every other one and returns (B, T_q, B, T_k). Use @ with the last two axes of K exchanged.',
        code=r'''
def dot_product_scores(Q, K): return np.inner(Q, K)
''',
    ),
    dict(
        id='t-1.5-asks-for-any-noun', exercise='1.5', today='NAMED', words=('are gives books and shelf the same weight, 0.50:', 'old gives books and shelf the same weight, 0.50:'),
        tutor='Your words ask for a noun only, so books and shelf have the same score and share the weight. They must also ask for plural: use the number feature in the key and in the query.',
        code=r'''
def design_projections():
    NOUN, VERB, ADJ, NUM = range(4)
    strength = 10.0
    W_q = np.zeros((4, 1))
    W_q[VERB] = strength      # are looks for a noun
    W_q[ADJ] = strength       # old looks for a noun
    W_k = np.zeros((4, 1))
    W_k[NOUN] = 1.0           # nouns can be found
    return W_q, W_k
''',
    ),
    dict(
        id='t-1.5-right-directions-but-too-soft', exercise='1.5', today='NAMED', words=('are already prefers books, with 0.49 of its weig', 'old already prefers books, with 0.49 of its weig'),
        tutor='The directions are right, but the scores differ by 1 or 2 only, and at sharpness 1 this leaves books about half of the weight. Put the sharpness into a matrix: multiply W_q by 5, say.',
        code=r'''
def design_projections():
    # columns: wants/is noun, wants/is plural
    W_q = np.array([[0., 0.],
                    [1., 1.],
                    [1., 1.],
                    [0., 0.]])
    W_k = np.array([[1., 0.],
                    [0., 0.],
                    [0., 0.],
                    [0., 1.]])
    return W_q, W_k
''',
    ),
    dict(
        id='t-2.1-works-in-the-callers-array', exercise='2.1', today='NAMED', words=('The values are right. The function changed its input',),
        tutor='Every step writes into x itself, so the scores of the caller are destroyed (and whole numbers raise an error). Put each result into a new array.',
        code=r'''
def softmax(x, axis=-1):
    # no copies, saves memory
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
''',
    ),
    dict(
        id='t-2.1-stack-overflow-version', exercise='2.1', today='NAMED', words=('You always normalise along axis 0, so columns sum to 1: use ', 'With one change in line 3 they would in all: look at the axis of max, which it is not told.'),
        tutor='Two things: the sum always runs down axis 0, whatever axis says, and the maximum is that of the whole array, so a row far below it becomes 0/0. Use axis=axis, keepdims=True in both.',
        code=r"""
def softmax(x, axis=-1):
    '''Compute softmax values for each sets of scores in x.'''
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)
""",
    ),
    dict(
        id='t-2.2-bool-mask-added-to-the-scores', exercise='2.2', today='NAMED', words=('You added the mask to the scores, so True counts as ',),
        tutor='Adding a mask to the scores works only for masks that hold 0 and −∞. Yours is boolean: True adds 1, False adds 0, and nothing is hidden.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    logits = np.matmul(Q, np.moveaxis(K, -1, -2)) / math.sqrt(K.shape[-1])
    if mask is not None:
        logits = logits + mask          # attention mask is added, as in BERT
    attn = softmax(logits)
    return np.matmul(attn, V), attn
''',
    ),
    dict(
        id='t-2.2-both-sides-scaled', exercise='2.2', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k = 2 (',),
        tutor='You divide the queries by √d_k and the keys by √d_k, so the scores are divided by d_k. Scale one of the two (or each by the fourth root).',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    def unit_variance(z):
        return z / math.sqrt(z.shape[-1])

    q, k = unit_variance(Q), unit_variance(K)
    s = np.einsum("...id,...jd->...ij", q, k)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    p = softmax(s)
    return np.einsum("...ij,...jv->...iv", p, V), p
''',
    ),
    dict(
        id='t-2.2-boolean-index-does-not-broadcast', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the scor',),
        tutor='scores[~mask] = … needs a mask of exactly the shape of the scores. A (T_q, T_k) mask for a batch is an error, or hides whole sentences; np.where broadcasts.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = Q @ K.swapaxes(-2, -1)
    scores = scores / d_k ** 0.5
    if mask is not None:
        forbidden = np.logical_not(mask)
        scores[forbidden] = -np.inf
    weights = softmax(scores, axis=-1)
    assert weights.shape == scores.shape
    return weights @ V, weights
''',
    ),
    dict(
        id='t-2.2-one-softmax-for-the-matrix-unscaled', exercise='2.2', today='NAMED', words=('You left out the scale: divide the scores by √d_', 'One softmax runs over all scores together, so th'),
        tutor='Your softmax divides by the sum over the whole matrix, so all rows together sum to 1 instead of each row. And the scores are not divided by √d_k.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    S = Q @ np.swapaxes(K, -2, -1)
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    E = np.exp(S - S.max())
    W = E / E.sum()
    return W @ V, W
''',
    ),
    dict(
        id='t-2.3-misread-causal-when-no-mask', exercise='2.3', today='NAMED', words=('One change in line 5 would make this right: look at ',),
        tutor='Without a mask every word may look at every word. You put in a causal triangle when mask is None; nothing in the exercise asks for one.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    T = X.shape[-2]
    if mask is None:
        # default: a token can only attend to the past
        mask = np.tril(np.ones((T, T), dtype=bool))
    q = X @ W_q
    k = X @ W_k
    v = X @ W_v
    y, att = scaled_dot_product_attention(q, k, v, mask=mask)
    return y, att
''',
    ),
    dict(
        id='t-2.4-tanh-of-each-side-alone', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='You take tanh of the query part and of the key part separately and add afterwards. Then every query prefers the same keys; add the projections first, tanh comes after.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    query_part = np.tanh(Q @ W_q) @ v      # one number per query
    key_part = np.tanh(K @ W_k) @ v        # one number per key
    return np.add.outer(query_part, key_part)
''',
    ),
    dict(
        id='t-2.5-matrix-on-the-keys-side', exercise='2.5', today='NAMED', words=('You used W transposed. W leads from query features t',),
        tutor='You project the keys with W: that gives q Wᵀ kᵀ, and for different widths the shapes do not even fit. W is (d_q, d_k), so it multiplies the queries from the right.',
        code=r'''
def general_scores(Q, K, W):
    transformed_keys = K @ W
    out = np.empty((Q.shape[0], K.shape[0]), dtype=np.result_type(Q, K, W))
    for i, q in enumerate(Q):
        for j, k in enumerate(transformed_keys):
            out[i, j] = np.dot(q, k)
    return out
''',
    ),
    dict(
        id='t-2.6-root-of-the-value-width', exercise='2.6', today='NAMED', words=('You took the width of the values for the scale. The ',),
        tutor='Mask and softmax are mended, but you take the root of the width of the values. The dot product runs over d_k features; d_v is another number.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    dim = V.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(dim)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return np.einsum("...qk,...kv->...qv", weights, V), weights
''',
    ),
    dict(
        id='t-2.6-masked-after-and-scale-left', exercise='2.6', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k =', 'You masked after the softmax: blocked keys alrea'),
        tutor='The softmax runs over the keys now. But the scores are still divided by d_k instead of its root, and you set the blocked weights to 0 after the softmax, so these rows no longer sum to 1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / d_k
    weights = softmax(scores, axis=-1)              # bug 1: was axis=-2
    if mask is not None:                            # bug 2: blocked -> weight 0
        weights = np.where(mask, weights, 0.0)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
''',
    ),
    dict(
        id='t-3.1-gauss-by-the-central-limit', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='Mean 0 and variance d_k are right, but the sum is a Gaussian only for large d_k. At d_k = 1 a product of two normal numbers has a sharp peak and long tails: draw the vectors.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # sum of d_k independent terms with mean 0 and variance 1:
    # by the central limit theorem this is N(0, d_k)
    sigma = np.sqrt(d_k)
    return sigma * rng.standard_normal(n)
''',
    ),
    dict(
        id='t-3.1-uniform-features-and-a-mean', exercise='3.1', today='NAMED', words=('Your features are uniform between −1 and 1, with', 'You took the mean of the products; a dot product'), slow=True,
        tutor='The features should be standard normal, and yours are uniform between −1 and 1, with variance 1/3. And a dot product is the sum over the features, not their mean.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    result = np.zeros(n)
    for i in range(n):
        q = rng.uniform(-1, 1, size=d_k)
        k = rng.uniform(-1, 1, size=d_k)
        result[i] = np.mean(q * k)
    return result
''',
    ),
    dict(
        id='t-3.2-zeros-thrown-out-and-rows-lost', exercise='3.2', today='NAMED', words=('You added up everything into one number; each row ha',),
        tutor='weights[weights > 0] is a flat list, so with several rows you add up all of them into a single number. Keep the shape, put 1 where there is a zero, and sum along the last axis.',
        code=r'''
def entropy(weights):
    nz = weights[weights > 0]       # 0 log 0 = 0, so leave them out
    return -np.sum(nz * np.log(nz))
''',
    ),
    dict(
        id='t-3.2-misread-effective-number', exercise='3.2', today='NAMED', words=('You returned exp(entropy), the effective number of w',),
        tutor='You return the exponential of the entropy, the effective number of words. The exercise asks for the entropy itself; the notebook takes np.exp of it later.',
        code=r'''
def entropy(weights):
    logs = np.zeros_like(weights)
    np.log(weights, out=logs, where=weights > 0)
    H = -(weights * logs).sum(axis=-1)
    n_eff = np.exp(H)
    return n_eff
''',
    ),
    dict(
        id='t-3.3-sigmoid-derivative-on-the-diagonal', exercise='3.3', today='NAMED', words=('Only your diagonal is filled, with p_i (1 − p_i). Th',),
        tutor='p(1 − p) is the whole derivative for a sigmoid, but softmax weights also depend on the other scores. The entries off the diagonal are −p_i p_j, not 0.',
        code=r'''
def softmax_jacobian(p):
    n = p.shape[-1]
    local = p * (1.0 - p)
    J = np.zeros(p.shape + (n,), dtype=p.dtype)
    idx = np.arange(n)
    J[..., idx, idx] = local
    return J
''',
    ),
    dict(
        id='t-3.4-plain-mean-of-the-gradient', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; it s',),
        tutor='You subtract the plain mean of the gradient. What has to go is its mean under the weights, Σ p_j g_j; the two agree only where all weights are equal.',
        code=r'''
def softmax_backward(weights, d_weights):
    centre = d_weights.mean(axis=-1, keepdims=True)
    return weights * (d_weights - centre)
''',
    ),
    dict(
        id='t-3.4-jacobian-of-each-row', exercise='3.4', today='NAMED', words=('The values are right, but a matrix (n, n) is built o',),
        tutor='The numbers are right, but for every row you still build its (n, n) Jacobian. Work out Σ_j p_i(δ_ij − p_j) g_j on paper: it needs one number per row, no matrix.',
        code=r'''
def softmax_backward(weights, d_weights):
    n = weights.shape[-1]
    W = weights.reshape(-1, n)
    G = d_weights.reshape(-1, n)
    rows = []
    for p, g in zip(W, G):
        J = np.diag(p) - np.outer(p, p)
        rows.append(J @ g)
    return np.array(rows).reshape(weights.shape)
''',
    ),
    dict(
        id='t-3.4-one-mean-for-all-rows-no-factor', exercise='3.4', today='NAMED', words=('Your mean is one number for the whole array; eve', 'You multiplied by the weights once too few: the '),
        tutor='np.vdot adds up over all rows, but each row needs its own Σ p_j g_j. And the factor p_i in front is missing: a key with weight 0 must get gradient 0.',
        code=r'''
def softmax_backward(weights, d_weights):
    expected = np.vdot(weights, d_weights)   # <g> under p
    return d_weights - expected
''',
    ),
    dict(
        id='t-4.1-features-dealt-out-in-turn', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h …; h',),
        tutor='You cut the features into (d_k, h), so head i gets every h-th feature. Head i owns d_k neighbours: reshape to (h, d_k), in this order.',
        code=r'''
def split_heads(x, n_heads):
    batch, seq_len, depth = x.size()
    per_head = depth // n_heads
    x = x.reshape(batch, seq_len, per_head, n_heads)
    return x.permute(0, 3, 1, 2)
''',
    ),
    dict(
        id='t-4.1-torch-split-takes-a-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='torch.split takes the size of a part, not their number: you get d_model / h heads of h features each. Use chunk(n_heads), or split by d_k; the two agree only if h = d_k.',
        code=r'''
def split_heads(x, n_heads):
    pieces = x.split(n_heads, dim=-1)
    return torch.stack(pieces, dim=1)
''',
    ),
    dict(
        id='t-4.2-heads-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth',),
        tutor='You put the head axis last, so feature 0 of every head comes first, then feature 1 of every head. All of head 0 should come first: the order is (B, T, h, d_k) before the reshape.',
        code=r'''
def merge_heads(x):
    b, h, t, dk = x.shape
    return x.permute(0, 2, 3, 1).reshape(b, t, dk * h)
''',
    ),
    dict(
        id='t-4.3-dropout-on-the-output', exercise='4.3', today='NAMED', words=('Dropout falls on single features, of the values or o',),
        tutor='Your dropout acts on the output of W_o, as the residual dropout of nanoGPT does. The exercise wants it on the weights, just before they average the values.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"cannot deal {d_model} features to {n_heads} heads")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.resid_dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        q = self.W_q(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = att.softmax(dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        y = self.resid_dropout(self.W_o(y))
        return y, att
''',
    ),
    dict(
        id='t-4.3-mask-always-gets-a-head-axis', exercise='4.3', today='NAMED', words=('One change in line 17 would make this right: look at',),
        tutor='The mask may already be (B, 1, T, T) or plain (T, T), broadcastable to the scores. unsqueeze(1) puts an axis in the middle of it, and then it no longer lines up; use it as it comes.',
        code=r'''
class MultiHeadAttention(nn.Module):
    "The multi-headed attention of the Annotated Transformer."

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model = %d, h = %d" % (d_model, n_heads))
        self.d_k = d_model // n_heads
        self.h = n_heads
        make = lambda: nn.Linear(d_model, d_model, bias=False)
        self.W_q, self.W_k, self.W_v, self.W_o = make(), make(), make(), make()
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        if mask is not None:
            # Same mask applied to all h heads.
            mask = mask.unsqueeze(1)
        nbatches = x.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin in (self.W_q, self.W_k, self.W_v)
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        p_attn = scores.softmax(dim=-1)
        z = torch.matmul(self.dropout(p_attn), value)
        z = z.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.W_o(z), p_attn
''',
    ),
    dict(
        id='t-4.3-assert-and-root-of-d-model', exercise='4.3', today='NAMED', words=("You divided by √d_model = 3.46; a head's dot pro", 'In the case “d_model = 10 and three heads”, for '), slow=True,
        tutor="An assert raises AssertionError, and the exercise asks for a ValueError that names both numbers. And each head's scores are divided by √d_model; a head has only d_k = d_model / h features.",
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} not divisible by {n_heads}"
        self.n_heads = n_heads
        self.scale = d_model ** -0.5
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = [split_heads(f(x), self.n_heads) for f in (self.W_q, self.W_k, self.W_v)]
        s = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -torch.inf)
        w = torch.softmax(s, -1)
        o = torch.einsum("bhij,bhjd->bhid", self.drop(w), v)
        return self.W_o(merge_heads(o)), w
''',
    ),
    dict(
        id='t-4.3-tiny-fill-and-no-output-layer', exercise='4.3', today='NAMED', words=('A score of 0 is not “no weight”, exp(0) = 1: hid', 'The heads were joined but never mixed: pass the '),
        tutor='-1e-9 is nearly zero, not a large negative number, so hidden words keep their weight; fill with −∞. And W_o is made but never applied, so the heads are never mixed.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} must be a multiple of n_heads={n_heads}")
        self.num_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def attention(self, query, key, value, mask):
        depth = query.shape[-1]
        logits = query @ key.transpose(-1, -2) / depth ** 0.5
        if mask is not None:
            logits = logits.masked_fill(mask == False, -1e-9)
        attention_weights = torch.softmax(logits, dim=-1)
        return self.dropout(attention_weights) @ value, attention_weights

    def forward(self, x, mask=None):
        query = split_heads(self.W_q(x), self.num_heads)
        key = split_heads(self.W_k(x), self.num_heads)
        value = split_heads(self.W_v(x), self.num_heads)
        context, attention_weights = self.attention(query, key, value, mask)
        return merge_heads(context), attention_weights
''',
    ),
    dict(
        id='t-4.4-weights-shared-not-copied', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training one ',),
        tutor='nn.Parameter(…) of a slice still looks at the same memory, and W_o.weight is the very same parameter: training one module changes the other. Copy the numbers, with copy_ or clone.',
        code=r'''
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads, dropout=mha.dropout)
    stacked = mha.in_proj_weight.detach()
    ours.W_q.weight = nn.Parameter(stacked[:d])
    ours.W_k.weight = nn.Parameter(stacked[d:2 * d])
    ours.W_v.weight = nn.Parameter(stacked[2 * d:])
    ours.W_o.weight = mha.out_proj.weight
    return ours
''',
    ),
    dict(
        id='t-4.4-transposed-and-no-dropout', exercise='4.4', today='NAMED', words=('W_q, W_k and W_v are transposed: both modules ke', 'W_o is transposed: both modules keep their matri', 'Your module drops no weights in training, but mh'),
        tutor='Both modules keep their matrices as (out, in), so nothing may be transposed. And your module is made without mha.dropout, so it does not drop anything in training.',
        code=r'''
def from_torch(mha):
    new = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    new = new.to(dtype=mha.out_proj.weight.dtype)
    kernels = list(mha.in_proj_weight.data.chunk(3, dim=0)) + [mha.out_proj.weight.data]
    layers = [new.W_q, new.W_k, new.W_v, new.W_o]
    for dense, kernel in zip(layers, kernels):
        # PyTorch stores (out, in), we multiply x @ W
        dense.weight.data.copy_(kernel.t())
    return new
''',
    ),
    dict(
        id='t-5.1-half-old-half-new', exercise='5.1', today='NAMED', words=('You averaged the mean so far with the new word, half',),
        tutor='(mean + word) / 2 gives the newest word half of the weight, and word 0 less and less. In a mean of t + 1 words each counts 1 / (t + 1).',
        code=r'''
def prefix_mean(x):
    rows = [x[0]]
    for t in range(1, len(x)):
        rows.append((rows[-1] + x[t]) / 2)
    return torch.stack(rows)
''',
    ),
    dict(
        id='t-5.2-strictly-below-the-diagonal', exercise='5.2', today='NAMED', words=('Your mask hides each word from itself, and leaves th',),
        tutor='You allow only columns before t, so a word may not see itself, and row 0 may see nothing at all. The diagonal belongs to the triangle: j <= i.',
        code=r'''
def causal_mask(T):
    mask = torch.zeros((T, T), dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            if j < i:          # j comes before i
                mask[i, j] = True
    return mask
''',
    ),
    dict(
        id='t-5.3-output-t-must-not-move-either', exercise='5.3', today='NAMED', words=('Your comparison includes output t, whose own word yo',),
        tutor='You change word t and also watch output t, which may of course see its own word. So every honest function leaks; compare the outputs before t only.',
        code=r'''
def leaks_future(attend, x):
    rng_state = torch.get_rng_state()
    reference = attend(x)
    n = x.size(0)
    for t in range(1, n):
        y = torch.cat([x[:t], torch.zeros_like(x[t:]) - 3.0])
        torch.set_rng_state(rng_state)
        out = attend(y)
        gap = torch.max(torch.abs(out[: t + 1] - reference[: t + 1]))
        if gap.item() > 1e-5:
            return True
    return False
''',
    ),
    dict(
        id='t-5.3-changes-the-callers-x', exercise='5.3', today='NAMED', words=('The values are right. The function changed its input',),
        tutor="changed = x is no copy but a second name, so you overwrite the caller's sentence. Use x.clone() in each round.",
        code=r'''
def leaks_future(attend, x):
    seed_state = torch.get_rng_state()
    before = attend(x).clone()
    leak = False
    for t in range(x.shape[0] - 1, 0, -1):
        changed = x
        changed[t:] += 1
        torch.set_rng_state(seed_state)
        after = attend(changed)
        if (after[:t] - before[:t]).abs().max() > 1e-5:
            leak = True
    return leak
''',
    ),
    dict(
        id='t-5.3-shorter-sentences-new-dropout', exercise='5.3', today='NAMED', words=('a shorter sentence', 'set the generator back'),
        tutor='You cut the sentence off instead of changing its later words, and one honest function refuses a single word: keep all T words. And dropout draws new numbers in every call, so restore the state of the generator before each.',
        code=r'''
def leaks_future(attend, x):
    full = attend(x)
    for t in range(1, x.shape[0]):
        prefix = attend(x[:t])          # the future does not exist here
        if not torch.allclose(prefix, full[:t], rtol=0, atol=1e-5):
            return True
    return False
''',
    ),
    dict(
        id='t-5.4-by-the-number-of-words', exercise='5.4', today='NAMED', words=('You counted the words and kept that many from the le',),
        tutor='You count the words of a sentence and allow the first so many places. That is right only if the padding stands at the end; with padding in front it hides words and shows padding. Compare each token with pad_id.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    lengths = (tokens != pad_id).sum(dim=1)          # (B,)
    places = torch.arange(T, device=tokens.device)   # (T,)
    keep = places[None, :] < lengths[:, None]
    return keep.view(B, 1, 1, T)
''',
    ),
    dict(
        id='t-5.5-misread-padding-may-not-look', exercise='5.5', today='NAMED', words=('You hid padding as keys and as queries. The rows of ',),
        tutor='You also forbid padding to look, as a query. A pair is allowed if both masks allow it, and neither says that; it only makes rows with nothing to look at.',
        code=r'''
def combine_masks(padding, causal):
    key_is_word = padding                         # (B, 1, 1, T)
    query_is_word = padding.transpose(-2, -1)     # (B, 1, T, 1)
    both_words = key_is_word & query_is_word
    return both_words & causal
''',
    ),
    dict(
        id='t-5.6-maximum-over-hidden-scores-too', exercise='5.6', today='NAMED', words=("The maximum that you subtract may be a hidden key's. Beside ",),
        tutor='Your maximum includes the hidden scores. If a hidden one is much larger than all allowed ones, every allowed exponential becomes 0 and the row comes out empty; take the maximum over allowed keys.',
        code=r'''
def masked_softmax(scores, mask):
    top = scores.amax(dim=-1, keepdim=True)
    unnormalised = torch.exp(scores - top) * mask
    Z = unnormalised.sum(dim=-1, keepdim=True)
    Z = torch.where(Z == 0, torch.ones_like(Z), Z)     # empty row: 0 / 1
    return unnormalised / Z
''',
    ),
    dict(
        id='t-5.6-minus-1e9-in-half-precision', exercise='5.6', today='NAMED', words=('Float16 ends at −65504, so −1e9 cannot be written in',),
        tutor='float16 ends at about 65,504, so filling with -1e9 raises an error there. −∞ exists in every float dtype; then you need a way for the empty rows.',
        code=r'''
def masked_softmax(scores, mask):
    NEG = -1e9
    filled = scores.masked_fill(mask.logical_not(), NEG)
    probs = F.softmax(filled, dim=-1)
    # a fully masked row is uniform now, so switch off the hidden keys again
    return probs * mask.to(probs.dtype)
''',
    ),
    dict(
        id='t-5.6-plain-exp-and-an-epsilon', exercise='5.6', today='NAMED', words=('The first infinity comes up in line 2',),
        tutor='exp without subtracting a maximum overflows, in float16 from a score of about 11 on. And 1e-9 added to the sum does not save the empty rows in float16, where it is 0: 0/0 is NaN.',
        code=r'''
def masked_softmax(scores, mask):
    e = scores.exp() * mask
    return e / (e.sum(-1, keepdim=True) + 1e-9)
''',
    ),
    dict(
        id='t-5.7-nan-for-a-word-that-sees-nothing', exercise='5.7', today='NAMED', words=('A memory that is all padding gives NaN: your own mas',),
        tutor='A row of the mask without a True is all −∞ here, and plain softmax makes NaN of it. That is what your masked_softmax is for: it gives zeros.',
        code=r'''
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        h = self.n_heads
        q = split_heads(self.W_q(x), h)
        k, v = (split_heads(layer(memory), h) for layer in (self.W_k, self.W_v))
        sim = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1))
        if memory_mask is not None:
            sim = sim.masked_fill(memory_mask == False, float("-inf"))
        attn = F.softmax(sim, dim=-1)
        ctx = torch.einsum("bhqk,bhkd->bhqd", attn, v)
        return self.W_o(merge_heads(ctx)), attn
''',
    ),
    dict(
        id='t-6.1-rows-moved-the-other-way', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the inverse',),
        tutor='X[perm] takes row perm[i] to place i, but moved[perm] = rows sends row i to place perm[i]: the inverse order. Shuffle both with [perm].',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    rows = f(X)
    moved = torch.empty_like(rows)
    moved[perm] = rows                  # send every row to its new place
    return bool(torch.allclose(f(X[perm]), moved, rtol=1e-4, atol=1e-5))
''',
    ),
    dict(
        id='t-6.2-odd-width-stops', exercise='6.2', today='NAMED', words=('With an odd width there is one cosine column fewer t',),
        tutor='With an odd d_model there is one cosine column fewer than sine columns, and your last line stops with a shape error. Give the cosine the first d_model // 2 angles.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
''',
    ),
    dict(
        id='t-6.2-counted-from-one-in-two-halves', exercise='6.2', today='NAMED', words=('Your positions start at 1; row 0 belongs to posi', 'You put all sines first and all cosines after th'),
        tutor='Positions begin at 0, so the first row is 0, 1, 0, 1, …; yours begins at 1. And sine and cosine of a pair stand side by side, not all sines first and all cosines after them.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    n_pairs = (d_model + 1) // 2
    pos = torch.arange(1, max_len + 1, dtype=torch.float32)
    i = torch.arange(n_pairs, dtype=torch.float32)
    theta = pos[:, None] / 10000.0 ** (2 * i / d_model)[None, :]
    both = torch.cat([theta.sin(), theta.cos()], dim=1)
    return both[:, :d_model]
''',
    ),
    dict(
        id='t-6.3-the-usual-rotation-matrix', exercise='6.3', today='NAMED', words=('Your matrix turns the wrong way: it moves every posi',),
        tutor='Your block turns a vector (cos, sin); here a pair is (sin, cos), so the sines change their signs. As it stands, M moves every position back by offset.',
        code=r'''
def shift_matrix(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        phi = offset * 10000.0 ** (-2 * i / d_model)
        c, s = math.cos(phi), math.sin(phi)
        blocks.append(torch.tensor([[c, -s],
                                    [s, c]]))
    return torch.block_diag(*blocks)
''',
    ),
    dict(
        id='t-6.4-pairs-of-angles-halves-of-columns', exercise='6.4', today='NAMED', words=('You mixed the two layouts: the angles are for pairs ',),
        tutor='Your angles are laid out for neighbouring pairs (each twice in a row), but rotate_half pairs column i with column i + d/2. Use one layout: here (0, 1), (2, 3), ….',
        code=r'''
def rope(x, base=10000.0, offset=0):
    def rotate_half(z):
        z1, z2 = z.chunk(2, dim=-1)
        return torch.cat((-z2, z1), dim=-1)

    T, d = x.shape[-2], x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
    t = torch.arange(offset, offset + T, dtype=x.dtype)
    freqs = torch.outer(t, inv_freq).repeat_interleave(2, dim=-1)
    return x * freqs.cos() + rotate_half(x) * freqs.sin()
''',
    ),
    dict(
        id='t-6.4-offset-added-to-the-angles', exercise='6.4', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='You add the offset to the angles after the multiplication by the frequency, so all pairs turn by offset radians. The offset is a position: add it before, so that the slow pairs turn less.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    speed = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angle = torch.arange(T, dtype=x.dtype)[:, None] * speed[None, :] + offset
    a, b = x[..., ::2], x[..., 1::2]
    c, s = angle.cos(), angle.sin()
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)
''',
    ),
    dict(
        id='t-6.5-first-slope-one-distance-added', exercise='6.5', today='NAMED', words=('The sign is wrong: your bias grows with the dist', 'Your heads are counted from 0, so the first has '),
        tutor='range starts at 0, so your first head has slope 1 instead of 2^(−8/h): heads count from 1. And the bias must take something off distant words; yours adds it.',
        code=r'''
def alibi_bias(n_heads, T):
    ratio = 2.0 ** (-8.0 / n_heads)
    slopes = [ratio ** i for i in range(n_heads)]
    bias = torch.zeros(n_heads, T, T)
    for head, m in enumerate(slopes):
        for q in range(T):
            for k in range(T):
                bias[head, q, k] = m * abs(q - k)
    return bias
''',
    ),
    dict(
        id='t-6.6-vectors-times-root-of-the-width', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first, as V',),
        tutor='The factor √d_model belongs to the embedding layer of the 2017 Transformer. Here the vector of the token is added as it is.',
        code=r'''
def embed(tokens, E, pe):
    d_model = E.shape[-1]
    x = E[tokens] * math.sqrt(d_model)
    seq_len = x.size(1)
    x = x + pe[None, :seq_len]
    return x
''',
    ),
    dict(
        id='t-6.7-only-the-queries-turned', exercise='6.7', today='NAMED', words=('Only the queries are turned. Both must be: only then',),
        tutor='Only the queries are turned, so a score depends on the absolute place of the query and not on the offset. Keys have to be turned by their own places too.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    T = X.shape[0]
    queries = rope(X @ W_q)        # the one who looks knows where it stands
    keys = X @ W_k
    values = X @ W_v
    logits = torch.einsum("qd,kd->qk", queries, keys) / math.sqrt(W_q.shape[1])
    logits = torch.where(causal_mask(T), logits, -torch.inf)
    return logits.softmax(-1) @ values
''',
    ),
    dict(
        id='t-6.7-words-turned-before-everything', exercise='6.7', today='NAMED', words=('W_q and W_k undo the pairs', 'make V of X itself'),
        tutor='RoPE turns queries and keys after their projection; a projection does not commute with a turn, so the offset is lost. And the values must not be turned at all: yours come from the turned words.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    P = rope(X)                       # words that know their place
    Q, K, V = P @ W_q, P @ W_k, P @ W_v
    S = (Q @ K.mT) * K.shape[-1] ** -0.5
    S = S.masked_fill(~causal_mask(len(X)), float("-inf"))
    return torch.softmax(S, dim=1) @ V
''',
    ),
    dict(
        id='t-7.1-misread-one-addition-fewer', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in each',),
        tutor='A sum of d products does need only d − 1 additions, but the exercise counts every multiply-add as 2 FLOPs, the first one of a sum included. So an entry costs 2·d, not 2·d − 1.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    def matmul(n, inner, m):
        mults = n * m * inner
        adds = n * m * (inner - 1)
        return mults + adds

    return matmul(T_q, d_k, T_k) + matmul(T_q, T_k, d_v)
''',
    ),
    dict(
        id='t-7.2-weights-counted-not-the-words', exercise='7.2', today='NAMED', words=('Your count is that of a single word: it must grow wi',),
        tutor='You count the entries of the four matrices. Each of them does one multiply-add for every word of the sequence, so the result must grow with T.',
        code=r'''
def projection_flops(T, d_model):
    n_matrices = 4
    weights_in_each = d_model ** 2
    flops_per_weight = 2              # multiply, add
    return n_matrices * weights_in_each * flops_per_weight
''',
    ),
    dict(
        id='t-7.3-scoring-without-mixing', exercise='7.3', today='NAMED', words=('You returned 4 · d_model, which is right for one of ',),
        tutor='You compare the projections with Q Kᵀ alone, 2·T²·d. Mixing the values costs as much again, so the left side is 4·T²·d and T is half of yours.',
        code=r'''
def crossover_length(d_model):
    # T*T scores, each d_model multiply-adds:  2 * T**2 * d
    # four projections:                        8 * T * d**2
    # divide by 2 * T * d:  T = 4 * d
    quadratic = 2 * d_model
    linear = 8 * d_model ** 2
    return linear / quadratic
''',
    ),
    dict(
        id='t-7.4-misread-causal-half-only', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='You count only the pairs that a causal mask allows. The question is about all scores of self-attention, and naive attention stores the whole T × T matrix even under a mask.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = sum(t + 1 for t in range(T))     # word t looks at t + 1 words
    return B * H * pairs * itemsize
''',
    ),
    dict(
        id='t-7.5-line-forced-through-the-origin', exercise='7.5', today='NAMED', words=('Your line is forced through the origin, which means ',),
        tutor='Your line has no intercept, so it goes through log 1 = 0 and the constant c ends up in the slope. Subtract the means first, or let np.polyfit find both numbers.',
        code=r'''
def fit_exponent(sizes, costs):
    lx = np.log(np.asarray(sizes, dtype=float))
    ly = np.log(np.asarray(costs, dtype=float))
    p, *_ = np.linalg.lstsq(lx[:, None], ly, rcond=None)
    return float(p[0])
''',
    ),
    dict(
        id='t-8.1-only-the-old-part-rescaled', exercise='8.1', today='NAMED', words=("The second part's sum of values was not rescaled", "The second part's total was not rescaled, only t"),
        tutor='You rescale the first part only. The second one is measured against its own maximum as well; if this is not the larger of the two, its total and sum must shrink too.',
        code=r'''
def merge(first, second):
    m_old, l_old, o_old = first
    m_tile, l_tile, o_tile = second
    m_new = torch.maximum(m_old, m_tile)
    alpha = torch.exp(m_old - m_new)
    alpha = torch.where(m_new == -torch.inf, torch.zeros_like(alpha), alpha)
    l_new = alpha * l_old + l_tile
    o_new = alpha * o_old + o_tile
    return m_new, l_new, o_new
''',
    ),
    dict(
        id='t-8.1-misread-log-sum-exp-for-the-maximum', exercise='8.1', today='NAMED', words=('You return the logarithm of the sum of all exponenti',),
        tutor='You carry the log-sum-exp in place of the maximum, and the total becomes 1. out / total is still right, but the exercise asks for the state itself: the largest score, and total and sum measured against it.',
        code=r'''
def merge(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    free_energy = torch.logaddexp(m1 + z1.log(), m2 + z2.log())
    ref = torch.where(torch.isinf(free_energy), torch.zeros_like(free_energy), free_energy)
    b1, b2 = (m1 - ref).exp(), (m2 - ref).exp()
    return free_energy, z1 * b1 + z2 * b2, o1 * b1 + o2 * b2
''',
    ),
    dict(
        id='t-8.2-triangle-of-a-full-tile', exercise='8.2', today='NAMED', words=('Your triangle has the size of a full tile, 5 × 5. Th',),
        tutor="You make the triangle once, for a full tile. The last tile may be smaller, and then its scores and your mask have different shapes; make the triangle as large as the tile's scores.",
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    n_q, n_k, d = Q.shape[-2], K.shape[-2], Q.shape[-1]
    triangle = causal_mask(tile)
    results = []
    for lo in range(0, n_q, tile):
        q = Q[..., lo:lo + tile, :]
        running = nothing_seen(q, V)
        last = lo + tile if causal else n_k
        for start in range(0, min(last, n_k), tile):
            k = K[..., start:start + tile, :]
            v = V[..., start:start + tile, :]
            s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d)
            if causal and start == lo:
                s = torch.where(triangle, s, -torch.inf)
            running = merge(running, state_of(s, v))
        _, denominator, numerator = running
        results.append(numerator / denominator)
    return torch.cat(results, dim=-2)
''',
    ),
    dict(
        id='t-8.2-full-tiles-only-and-unscaled', exercise='8.2', today='NAMED', words=('The scores are not scaled: divide by √d_k = 2, a', 'The number of tiles is rounded down, so the last'),
        tutor='T // tile counts full tiles only, so the words of a smaller last tile are left out, as queries and as keys. And the scores are not divided by √d_k.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    Br = Bc = tile
    Tr = Q.shape[-2] // Br
    Tc = K.shape[-2] // Bc
    O = []
    for i in range(Tr):
        Qi = Q[..., i * Br:(i + 1) * Br, :]
        state = nothing_seen(Qi, V)
        for j in range(Tc):
            if causal and j > i:
                continue
            Kj = K[..., j * Bc:(j + 1) * Bc, :]
            Vj = V[..., j * Bc:(j + 1) * Bc, :]
            Sij = Qi @ Kj.mT
            if causal and i == j:
                Sij = Sij.masked_fill(~causal_mask(Br), -torch.inf)
            state = merge(state, state_of(Sij, Vj))
        m, l, o = state
        O.append(o / l)
    return torch.cat(O, dim=-2)
''',
    ),
    dict(
        id='t-8.3-negative-slice-starts', exercise='8.3', today='NAMED', words=('For the first words the oldest place of the window, ',),
        tutor='For the first words i − window + 1 is negative, and Python counts such a start from the end: these rows come out empty or wrong. Use max(0, …).',
        code=r'''
def window_mask(T, window):
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        allowed[i, i - window + 1 : i + 1] = True
    return allowed
''',
    ),
    dict(
        id='t-8.3-misread-window-to-both-sides', exercise='8.3', today='NAMED', words=('Your window lies around each word, half of it behind',),
        tutor="You centre the window on the word, as Longformer's encoder does, so it sees later words. Here the mask is causal: the word itself and the window − 1 places before it.",
        code=r'''
def window_mask(T, window):
    i = torch.arange(T).unsqueeze(1)
    j = torch.arange(T).unsqueeze(0)
    one_sided = window // 2
    return (i - j).abs() <= one_sided
''',
    ),
    dict(
        id='t-8.4-elu-of-x-plus-one', exercise='8.4', today='NAMED', words=('One change in line 2 would make this right: look at ',),
        tutor='φ is elu(x) + 1, and you take elu(x + 1). That is negative below −1, so weights can be negative and the normaliser can be near 0; the 1 is added outside.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    phi = lambda z: F.elu(z + 1)
    fq, fk = phi(Q), phi(K)
    if not causal:
        kv = torch.einsum("...kd,...kv->...dv", fk, V)
        z = fk.sum(-2)
        num = torch.einsum("...qd,...dv->...qv", fq, kv)
        den = torch.einsum("...qd,...d->...q", fq, z)
    else:
        kv = torch.einsum("...td,...tv->...tdv", fk, V).cumsum(-3)
        z = fk.cumsum(-2)
        num = torch.einsum("...td,...tdv->...tv", fq, kv)
        den = torch.einsum("...td,...td->...t", fq, z)
    return num / den.unsqueeze(-1)
''',
    ),
    dict(
        id='t-8.4-state-read-before-written-and-scaled', exercise='8.4', today='NAMED', words=('one word late', 'whether / math.sqrt(Q.shape[-1]) belongs there'), slow=True,
        tutor='In the causal loop you read the state before you add the word itself, so no word sees itself and the first one is 0/0. And the queries are divided by √d_k before φ; the exercise has no such scale.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    q = F.elu(Q / math.sqrt(Q.shape[-1])) + 1
    k = F.elu(K) + 1
    if not causal:
        return (q @ (k.mT @ V)) / (q @ k.sum(dim=-2).unsqueeze(-1))
    memory = torch.zeros(*k.shape[:-2], k.shape[-1], V.shape[-1], dtype=V.dtype)
    norm = torch.zeros(*k.shape[:-2], k.shape[-1], 1, dtype=V.dtype)
    outputs = []
    for t in range(q.shape[-2]):
        q_t = q[..., t:t + 1, :]
        outputs.append((q_t @ memory) / (q_t @ norm))
        k_t = k[..., t:t + 1, :].mT
        memory = memory + k_t @ V[..., t:t + 1, :]
        norm = norm + k_t
    return torch.cat(outputs, dim=-2)
''',
    ),
    dict(
        id='t-8.5-new-dict-the-caller-never-sees', exercise='8.5', today='NAMED', words=('Old and new keys are joined for this call, but the c',),
        tutor='cache = {…} makes a new dict with the same name inside your function; the caller\'s dict keeps its old K and V and the next word finds nothing new. Assign to cache["K"] and cache["V"].',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    n_past = cache["K"].size(2)
    n_new = x_new.size(1)
    q = rope(split_heads(layer.W_q(x_new), layer.n_heads), offset=n_past)
    k = rope(split_heads(layer.W_k(x_new), layer.n_heads), offset=n_past)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    cache = {
        "K": torch.cat((cache["K"], k), dim=2),
        "V": torch.cat((cache["V"], v), dim=2),
    }
    visible = torch.ones(n_new, n_past + n_new, dtype=torch.bool).tril(n_past)
    att = q @ cache["K"].transpose(2, 3) / math.sqrt(q.size(-1))
    att = att.masked_fill(~visible, -torch.inf).softmax(-1)
    return layer.W_o(merge_heads(att @ cache["V"]))
''',
    ),
    dict(
        id='t-8.5-values-turned-and-triangle-top-left', exercise='8.5', today='NAMED', words=('Your mask starts at the top left, as if the new ', 'The values are turned too. RoPE belongs to queri'),
        tutor='Values are not turned by RoPE, only queries and keys; yours go into the cache turned. And tril() starts at the top left: new word n should see the first T_old + n + 1 keys, so the diagonal must move by T_old.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    start = cache["K"].shape[-2]
    turned = [
        rope(split_heads(W(x_new), layer.n_heads), offset=start)
        for W in (layer.W_q, layer.W_k, layer.W_v)
    ]
    q, k_new, v_new = turned
    for name, piece in (("K", k_new), ("V", v_new)):
        cache[name] = torch.cat([cache[name], piece], dim=-2)
    k, v = cache["K"], cache["V"]
    mask = torch.tril(torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='t-8.6-mask-only-of-queries-by-keys', exercise='8.6', today='NAMED', words=('takes a number for each axis',),
        tutor='mask.repeat(n, 1) fits a (T_q, T_k) mask only. A mask per sentence or per head, (B, 1, 1, T_k) for example, stops with an error; bring the scores to (B, h, T_q, T_k) before you mask.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.shape[1]
    n = h // g                                   # query heads per key head
    folded = Q.reshape(B, g, n * T_q, d_k)
    scores = folded @ K.transpose(-1, -2) / math.sqrt(d_k)
    if mask is not None:
        stacked = mask.repeat(n, 1)              # once for each head of the group
        scores = scores.masked_fill(~stacked, -torch.inf)
    mixed = torch.softmax(scores, dim=-1) @ V
    return mixed.reshape(B, h, T_q, V.shape[-1])
''',
    ),
    dict(
        id='t-8.7-queries-cached-too', exercise='8.7', today='NAMED', words=('You counted three tensors per head. Queries are not ',),
        tutor='You keep three vectors per token. The query of a past word is never used again, so a cache holds only its key and its value: 2, not 3.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    qkv = 3
    per_layer = qkv * n_kv_heads * d_head * n_tokens
    return n_layers * per_layer * itemsize
''',
    ),
    dict(
        id='t-8.8-reach-multiplies', exercise='8.8', today='NAMED', words=('You let the reach multiply from layer to layer. The ',),
        tutor='You let the reach multiply with every layer, as with dilation. The windows of neighbouring words overlap, so a further layer adds only window − 1 words: 8, 15, 22.',
        code=r'''
def reach(n_layers, window):
    words = 1
    for _ in range(n_layers):
        words = words * window      # each of them hears `window` words
    return words
''',
    ),
    dict(
        id='t-9.1-annotated-transformer-norm', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='std divides by d − 1, and the layer norm asked for divides by d. And eps is added to the standard deviation here, while it belongs under the root, to the variance.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return scale * (x - mean) / (std + eps) + shift
''',
    ),
    dict(
        id='t-9.2-post-norm-and-relu-of-2017', exercise='9.2', today='NAMED', words=('The norms come after the sums, as in the Transfo', 'You used ReLU (as the Transformer of 2017 does);'),
        tutor='This is the block of 2017: the norm comes after the sum, and the network uses ReLU. Here each half reads a normed copy and adds to x itself, and the activation is GELU.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        d_ff = 4 * d_model
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attended = self.attention(x, mask)[0]
        x = self.norm_1(x + attended)
        return self.norm_2(x + self.feed_forward(x))
''',
    ),
    dict(
        id='t-9.3-head-tied-to-the-embedding', exercise='9.3', today='NAMED', words=('embedding and head are one and the same layer. Each ',),
        tutor='You tie the head to the embedding, as nanoGPT does, so there is one matrix where the exercise has two. Filled or trained with their own weights, your logits differ; let the head keep a matrix of its own.',
        code=r'''
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)
        # weight tying, https://paperswithcode.com/method/weight-tying
        self.embedding.weight = self.head.weight

    def forward(self, tokens):
        b, t = tokens.size()
        h = self.embedding(tokens)
        mask = causal_mask(t)
        for block in self.blocks:
            h = block(h, mask=mask)
        return self.head(self.norm(h))
''',
    ),
    dict(
        id='t-9.4-pad-id-zero-is-falsy', exercise='9.4', today='NAMED', words=('Pad_id = 0 is taken for “no padding”, because 0 coun',),
        tutor='`pad_id or -100` takes a pad_id of 0 for None, because 0 counts as False. Then padding is predicted as if it were text; ask `pad_id is None`.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.size(-1)
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = tokens[..., 1:].contiguous()
    return F.cross_entropy(
        shift_logits.view(-1, V),
        shift_labels.view(-1),
        ignore_index=pad_id or -100,
    )
''',
    ),
    dict(
        id='t-9.4-predicts-backwards-mean-over-padding', exercise='9.4', today='NAMED', words=('The shift goes the wrong way: position t is to p', 'Padding costs nothing, but still counts in the m'),
        tutor='You compare position t + 1 with token t, so the model is asked for what it has already read: drop the last logits and the first token. And the sum is divided by all places; padded ones must not be counted.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    guesses = logits[:, 1:]
    answers = tokens[:, :-1]
    log_p = guesses.log_softmax(dim=-1)
    surprise = -log_p.gather(-1, answers.unsqueeze(-1)).squeeze(-1)   # (B, T - 1)
    if pad_id is not None:
        surprise = surprise * (answers != pad_id)
    return surprise.mean()
''',
    ),
    dict(
        id='t-9.5-exactly-k-in-spite-of-ties', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='You keep exactly the k places that topk returns. A token that equals the smallest of these should stay too; compare all scores with this value.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is not None:
        best, where = torch.topk(scaled, top_k, dim=-1)
        filtered = torch.full_like(scaled, -torch.inf)
        scaled = filtered.scatter(-1, where, best)
    return F.softmax(scaled, dim=-1)
''',
    ),
    dict(
        id='t-9.6-beginning-cut-off-for-good', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model is s',),
        tutor='You shorten tokens itself, so everything before the last max_len tokens is missing from the result. Cut only what you show the model, and keep the whole text for the return.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        # crop to the context length
        if tokens.size(1) > model.max_len:
            tokens = tokens[:, -model.max_len:]
        logits = model(tokens)[:, -1, :]
        nxt = choose(logits).view(-1, 1)
        tokens = torch.cat((tokens, nxt), dim=1)
    return tokens
''',
    ),
    dict(
        id='t-10.1-misread-residual-included', exercise='10.1', today='NAMED', words=('You added x to the output. The layer does so around ',),
        tutor="You add x to the output, as the rest of BERT's layer does. The exercise is the attention alone; the sum and the norm come around it afterwards.",
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def dense(z, W, b):
        return F.linear(z, W, b)

    q = split_heads(dense(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(dense(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(dense(x, layer.W_v, layer.b_v), n_heads)
    attention_scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        attention_scores = attention_scores.masked_fill(~mask, -torch.inf)
    attention_probs = F.softmax(attention_scores, dim=-1)
    context = merge_heads(attention_probs @ v)
    hidden_states = dense(context, layer.W_o, layer.b_o)
    return hidden_states + x, attention_probs
''',
    ),
    dict(
        id='t-10.1-heads-not-brought-back-bias-before', exercise='10.1', today='NAMED', words=('You joined the heads by a reshape alone, so that', 'In line 16, look at the order of what stands aro'),
        tutor='Before the reshape the head axis must go back behind the words; as it stands, a row mixes features of different words. And b_o is added before W_o, where it is multiplied with it: it comes after.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, D = x.shape
    d = D // n_heads

    def heads(W, b):
        return (x @ W.t() + b).reshape(B, T, n_heads, d).permute(0, 2, 1, 3)

    Q = heads(layer.W_q, layer.b_q)
    K = heads(layer.W_k, layer.b_k)
    V = heads(layer.W_v, layer.b_v)
    S = Q @ K.permute(0, 1, 3, 2) / d ** 0.5
    if mask is not None:
        S = S.masked_fill(mask.logical_not(), float("-inf"))
    A = S.softmax(-1)
    context = (A @ V).reshape(B, T, D)
    return (context + layer.b_o) @ layer.W_o.t(), A
''',
    ),
    dict(
        id='t-10.2-every-verb-in-every-sentence', exercise='10.2', today='NAMED', words=("weights[..., verb, subject] takes every sentence's p",),
        tutor='weights[..., verb, subject] takes all N pairs of places from every sentence, N × N comparisons in all. The n-th places belong to the n-th sentence: index the first axis with arange(N) as well, or loop.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    on_subject = weights[..., verb, subject]
    on_other = weights[..., verb, other]
    wins = (on_subject > on_other).float()
    return wins.mean(dim=(0, -1))
''',
    ),
    dict(
        id='t-10.3-first-tokens-of-each-text', exercise='10.3', today='NAMED', words=('You took the first rows of each text, as many as it ',),
        tutor='You take the first n rows of each text, where n is its number of tokens. That is right only if all padding stands at the end; select with the mask itself: hidden[b][mask[b]].',
        code=r'''
def mean_pool(hidden, mask):
    vectors = []
    for b in range(hidden.shape[0]):
        n = int(mask[b].sum())
        vectors.append(hidden[b, :n].mean(dim=0))
    return torch.stack(vectors)
''',
    ),
    dict(
        id='t-10.4-misread-nearest-by-distance', exercise='10.4', today='NAMED', words=('You looked for the rows that lie nearest to the quer',),
        tutor='You look for the rows whose tips lie nearest to the query. The exercise asks for the nearest direction: a row ten times as long may point exactly the same way. Choose by the cosine.',
        code=r'''
def search(query, corpus, k):
    distances = (corpus - query).norm(dim=1)
    nearest = distances.argsort()[:k]
    found = corpus[nearest]
    cosines = F.cosine_similarity(found, query[None], dim=1)
    return nearest, cosines
''',
    ),
    dict(
        id='t-10.4-best-one-last', exercise='10.4', today='NAMED', words=('The right rows come in the wrong order: the largest ',),
        tutor='argsort goes from small to large, so the last k are the right rows but in the wrong order, the best one last. Turn them round, or use topk(k).',
        code=r'''
def search(query, corpus, k):
    dots = corpus @ query
    lengths = torch.linalg.vector_norm(corpus, dim=1) * torch.linalg.vector_norm(query)
    cos = dots / lengths
    order = torch.argsort(cos)          # sorted by similarity
    top = order[len(order) - k:]
    return top, cos[top]
''',
    ),
]
