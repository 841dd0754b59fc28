"""Wrong answers of strangers, who had seen lessons and solutions only: 66 (`v`), 76 (`x`, `y`), 70 (`z`) and 94 (`c`, `d`).

Graded as they came, each after what the ones before taught was built, 76 %, 84 %, 81 % and 90 % were named in full.
As in `blind_attempts`, `words` stand in the report of each that is named, and of a `slow` one only the rejection is
tested.
"""

ATTEMPTS = [
    dict(
        id='v-0.1-counts-nonzero', exercise='0.1', today='NAMED', words=('You divided by how many weights are above 0; divide ',),
        tutor='You divide by how many values have a positive weight. Divide by the sum of the weights: a value of weight 2 has to count twice below the line as well.',
        code=r'''
def weighted_average(values, weights):
    total = 0.0
    n = 0
    for i in range(len(values)):
        if weights[i] > 0:          # only those that take part
            total += values[i] * weights[i]
            n += 1
    return total / n
''',
    ),
    dict(
        id='v-1.1-int-buffer', exercise='1.1', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='Your result array takes the dtype of the keys. If the keys are whole numbers and the query is not, every dot product loses its decimals when you store it. Make the array a float array, or let the product choose the dtype.',
        code=r'''
def similarities(query, keys):
    n, d = keys.shape
    dots = np.empty(n, dtype=keys.dtype)
    for r in range(n):
        acc = 0
        for c in range(d):
            acc += keys[r, c] * query[c]
        dots[r] = acc
    return dots
''',
    ),
    dict(
        id='v-1.2-abs-shift', exercise='1.2', today='NAMED', words=('You subtracted the largest score without its sign. W', 'One change in line 3 would make this right: look at whether signs matter to norm.'),
        tutor='You subtract the largest absolute score, not the largest score. If all scores are very negative, this makes them even more negative, every exponential becomes 0 and you divide 0 by 0. Subtract the plain maximum.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    z = np.array([sharpness * np.dot(k, query) for k in keys])
    biggest = np.linalg.norm(z, ord=np.inf)
    e = np.exp(z - biggest)
    p = e / np.sum(e)
    answer = sum(p[i] * values[i] for i in range(len(p)))
    return answer, p
''',
    ),
    dict(
        id='v-1.2-raw-exps-and-scaled-query', exercise='1.2', today='NAMED', words=('The weights that came back are the exponentials befo',),
        tutor='You return the exponentials and not the weights: np.average divides by their sum for the value only, so what you hand back does not sum to 1. Besides, asarray makes no copy of a float query, so your *= changes the query of the caller.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    q = np.asarray(query)
    if q.dtype.kind != "f":
        q = q.astype(float)
    q *= sharpness
    logits = similarities(q, keys)
    w = np.exp(logits - np.max(logits))
    value = np.average(values, axis=0, weights=w)
    return value, w
''',
    ),
    dict(
        id='v-1.3-unit-columns', exercise='1.3', today='NAMED', words=('You divided every column of the matrices by its leng',),
        tutor='You divide every column of the three matrices by its length before you multiply. A projection here is the plain product of X with the matrix as it is given; the lengths of its columns matter.',
        code=r'''
def project(X, W_q, W_k, W_v):
    def onto(W):
        # projecting onto a direction needs a unit vector
        lengths = np.sqrt((W ** 2).sum(axis=0))
        lengths = np.where(lengths == 0, 1, lengths)
        return np.dot(X, W / lengths)

    return onto(W_q), onto(W_k), onto(W_v)
''',
    ),
    dict(
        id='v-1.4-tensordot-keys-first', exercise='1.4', today='NAMED', words=('Keys come first in yours, so row i belongs to key i:',),
        tutor='You put the keys first, so row i belongs to key i and the table is transposed. And tensordot does not go through a batch side by side: it combines the keys of each sentence with the queries of every other sentence, which gives too many axes.',
        code=r'''
def dot_product_scores(Q, K):
    feature_axis_of_K = K.ndim - 1
    feature_axis_of_Q = Q.ndim - 1
    return np.tensordot(K, Q, axes=([feature_axis_of_K], [feature_axis_of_Q]))
''',
    ),
    dict(
        id='v-1.5-old-wants-plural-only', exercise='1.5', today='NAMED', words=('old gives books and are the same weight, 0.50: nothi',),
        tutor='Your adjective row asks for plural only and not for a noun. So old likes are as much as books, because both are plural, and each gets about half of its weight.',
        code=r'''
def design_projections():
    # columns: "is a noun", "is plural"
    strong = 6
    looks = {
        "noun": [0, 0],
        "verb": [1, 1],
        "adjective": [0, 1],
        "number": [0, 0],
    }
    W_q = strong * np.array(list(looks.values()), dtype=float)
    W_k = np.zeros((4, 2))
    W_k[0, 0] = 1
    W_k[3, 1] = 1
    return W_q, W_k
''',
    ),
    dict(
        id='v-2.1-asarray-in-place', exercise='2.1', today='NAMED', words=('The values are right. The function changed its input',),
        tutor='np.asarray does not copy an array that holds floats already. So your -= and the exponential with out= write into the array of the caller. Make a new array instead.',
        code=r'''
def softmax(x, axis=-1):
    z = np.asarray(x)
    if not np.issubdtype(z.dtype, np.floating):
        z = z.astype(float)
    z -= z.max(axis=axis, keepdims=True)
    np.exp(z, out=z)
    return z / z.sum(axis=axis, keepdims=True)
''',
    ),
    dict(
        id='v-2.2-root-of-key-count', exercise='2.2', today='NAMED', words=('You took the number of keys, T_k = 7, for the scale.',),
        tutor='You divide by the root of the number of keys. d_k is the width of a key, the last axis of K, and not how many keys there are.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    n_k = K.shape[-2]
    logits = np.einsum("...id,...jd->...ij", Q, K) * n_k ** -0.5
    if mask is not None:
        bias = np.zeros(mask.shape, dtype=logits.dtype)
        bias[~mask] = -np.inf
        logits = logits + bias
    A = softmax(logits)
    return np.einsum("...ij,...jv->...iv", A, V), A
''',
    ),
    dict(
        id='v-2.2-scale-on-output-late-mask', exercise='2.2', today='NAMED', words=('You masked after the softmax: blocked keys alrea', 'You divided the output by √d_k; the scale belong'),
        tutor='You divide the output by the root of d_k, but the scale belongs on the scores, before the softmax. And you multiply the weights by the mask after the softmax, so the rows no longer sum to 1.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    Kt = np.moveaxis(K, -1, -2)
    probs = softmax(np.matmul(Q, Kt), axis=-1)
    if mask is not None:
        probs = probs * mask
    attended = np.matmul(probs, V)
    attended = attended / math.sqrt(K.shape[-1])
    return attended, probs
''',
    ),
    dict(
        id='v-2.3-scaled-twice', exercise='2.3', today='NAMED', words=('You divided by √d_k here as well; scaled_dot_product',),
        tutor='You divide the queries by the root of d_k, and scaled_dot_product_attention divides the scores again. Together the scores are divided by d_k. Pass the queries on unscaled.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    n_features = W_k.shape[1]
    Q, K, V = [np.matmul(X, W) for W in (W_q, W_k, W_v)]
    Q = Q / math.sqrt(n_features)
    result = scaled_dot_product_attention(Q, K, V, mask=mask)
    return result
''',
    ),
    dict(
        id='v-2.4-tanh-of-each', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='You take the tanh of the query part and of the key part separately and add afterwards. First add the two projections, then take tanh of the sum: only so can query and key influence each other.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    a = np.tanh(Q.dot(W_q)).dot(v)      # one number per query
    b = np.tanh(K.dot(W_k)).dot(v)      # one number per key
    return np.add.outer(a, b)
''',
    ),
    dict(
        id='v-2.5-rows-are-keys-scaled', exercise='2.5', today='NAMED', words=('You divided by √d_k; general scores are not scal', 'In line 3, look at which axis comes first in wha'),
        tutor='Your rows belong to the keys: the result is (T_k, T_q) and must be turned round. And you divide by the root of the width, but general scores have no scale.',
        code=r'''
def general_scores(Q, K, W):
    queries_seen_by_keys = np.dot(W.T, Q.T)          # d_k x T_q
    S = np.dot(K, queries_seen_by_keys)
    return S / math.sqrt(K.shape[1])
''',
    ),
    dict(
        id='v-2.6-renormalise-rows', exercise='2.6', today='NAMED', words=('One change in line 6 would make this right: look at ',),
        tutor='You leave the softmax over the queries and repair the sums of the rows afterwards. Each exponential has then already been divided by the sum of its column, so the weights are wrong although the rows sum to 1. Take the softmax over the keys, axis=-1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    width = Q.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(width)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-2)
    row_sums = np.einsum("...qk->...q", weights)
    weights = weights / row_sums[..., None]       # rows must sum to 1
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
''',
    ),
    dict(
        id='v-3.1-uniform-and-scaled', exercise='3.1', today='NAMED', words=('Your features are uniform between −½ and ½, with', 'You divided by √d_k already; here the plain dot '),
        tutor='You draw uniform numbers between -0.5 and 0.5, whose variance is 1/12; the features must be standard normal. And you divide the dot products by the root of d_k, which nobody asked for: the spread is what this exercise wants to see.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    def centred():
        return rng.random((n, d_k)) - 0.5

    q, k = centred(), centred()
    return np.einsum("nd,nd->n", q, k) / np.sqrt(d_k)
''',
    ),
    dict(
        id='v-3.2-evenness', exercise='3.2', today='NAMED', words=('One change in line 7 would make this right: look at ',),
        tutor='You divide the entropy by log n, which makes it run from 0 to 1. The entropy in nats is not divided by anything: for 64 equal weights it is log 64.',
        code=r'''
def entropy(weights):
    n = weights.shape[-1]
    plogp = np.zeros_like(weights)
    positive = weights > 0
    plogp[positive] = weights[positive] * np.log(weights[positive])
    H = -plogp.sum(axis=-1)
    return H / float(np.log(n) if n > 1 else 1.0)
''',
    ),
    dict(
        id='v-3.3-plus-sign-float64', exercise='3.3', today='NAMED', words=('Your diagonal is right, but the other entries have t',),
        tutor='Off the diagonal the entry is minus p_i p_j; yours has a plus. And np.zeros makes a float64 array, so float32 weights come back as float64: give it the dtype of p.',
        code=r'''
def softmax_jacobian(p):
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
        id='v-3.4-plain-mean', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; it s',),
        tutor='You subtract the plain mean of the gradient in each row. What must be subtracted is the mean under the weights, the sum of weights times d_weights.',
        code=r'''
def softmax_backward(weights, d_weights):
    g = d_weights
    g_bar = g.mean(axis=-1)
    return weights * (g - g_bar[..., np.newaxis])
''',
    ),
    dict(
        id='v-4.1-split-takes-a-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='Tensor.split wants the size of a piece, not the number of pieces. So you get d_k heads of h features instead of h heads of d_k features. Use chunk, or give split the number d_model // n_heads.',
        code=r'''
def split_heads(x, n_heads):
    pieces = x.split(n_heads, dim=-1)
    return torch.stack(pieces, dim=1)
''',
    ),
    dict(
        id='v-4.2-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth', 'One change in line 3 would make this right: look at the letters of einsum.'),
        tutor='You bring the head axis to the very end, so in each word the first features of all heads come first, then the second ones. The heads must lie side by side: the head axis goes before the features.',
        code=r'''
def merge_heads(x):
    batch, heads, time, width = x.size()
    last = torch.einsum("bhtd->btdh", x)
    return last.reshape(batch, time, heads * width)
''',
    ),
    dict(
        id='v-4.3-assert', exercise='4.3', today='NAMED', words=('ValueError is wanted, saying which values',),
        tutor='Your attention is right, but an assert raises AssertionError where the exercise asks for ValueError. Write an if with raise ValueError and keep the message.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"cannot share {d_model} among {n_heads} heads"
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        for name in "qkvo":
            setattr(self, f"W_{name}", nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = (split_heads(layer(x), self.n_heads)
                   for layer in (self.W_q, self.W_k, self.W_v))
        logits = torch.einsum("bhid,bhjd->bhij", q, k) * self.d_head ** -0.5
        if mask is not None:
            logits = torch.where(mask, logits, -math.inf)
        attn = torch.softmax(logits, dim=-1)
        ctx = torch.einsum("bhij,bhjd->bhid", self.drop(attn), v)
        return self.W_o(merge_heads(ctx)), attn
''',
    ),
    dict(
        id='v-4.3-tiny-fill-dropout-on-out', exercise='4.3', today='NAMED', words=('A score of 0 is not “no weight”, exp(0) = 1: hid', 'Dropout falls on single features, of the values '),
        tutor='You fill hidden scores with -1e-9, which is nearly 0 and hides nothing; you meant minus infinity. And dropout acts on your output at the end, but it belongs on the weights where they meet V.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError("d_model {} / heads {}".format(d_model, n_heads))
        self.h = n_heads
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout

    def forward(self, x, mask=None):
        query = split_heads(self.W_q(x), self.h)
        key = split_heads(self.W_k(x), self.h)
        value = split_heads(self.W_v(x), self.h)
        energy = torch.matmul(query, key.permute(0, 1, 3, 2))
        energy = energy / query.size(-1) ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e-9)
        attention = torch.softmax(energy, dim=-1)
        x = self.W_o(merge_heads(torch.matmul(attention, value)))
        x = nn.functional.dropout(x, self.p, training=self.training)
        return x, attention
''',
    ),
    dict(
        id='v-4.4-shared-storage-no-dropout', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training ', 'Your module drops no weights in training, but mh'),
        tutor='nn.Parameter around a slice of their data makes no copy, so training your module changes theirs too: clone the numbers. And you do not pass mha.dropout on, so your module never drops anything.',
        code=r'''
def from_torch(mha):
    d = mha.embed_dim
    mine = MultiHeadAttention(d, mha.num_heads)
    stacked = mha.in_proj_weight.data
    mine.W_q.weight = nn.Parameter(stacked[:d])
    mine.W_k.weight = nn.Parameter(stacked[d : 2 * d])
    mine.W_v.weight = nn.Parameter(stacked[2 * d :])
    mine.W_o.weight = nn.Parameter(mha.out_proj.weight.data)
    return mine
''',
    ),
    dict(
        id='v-5.1-halving', exercise='5.1', today='NAMED', words=('You averaged the mean so far with the new word, half',),
        tutor='You take the middle of the old mean and the new word at every step. This gives the newest word a half of the weight, the one before a quarter, and so on. In a mean all words 0 to t count equally: the new word gets 1/(t + 1).',
        code=r'''
def prefix_mean(x):
    means = [x[0]]
    for row in x[1:]:
        means.append((means[-1] + row) / 2)
    return torch.stack(means)
''',
    ),
    dict(
        id='v-5.2-counts-down', exercise='5.2', today='NAMED', words=('Your rows get shorter on the way down: the first wor',),
        tutor='Your rows get shorter on the way down: the first word sees everything and the last word sees only word 0. Row t must be True up to and including column t.',
        code=r'''
def causal_mask(T):
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for row in range(T):
        allowed[row, : T - row] = True
    return allowed
''',
    ),
    dict(
        id='v-5.3-turns-future-round', exercise='5.3', today='NAMED', words=('You only put the later words in another order. Atten',),
        tutor='You only put the later words into another order. A function that adds up or averages the future gives the same result in any order, so its leak stays hidden, and with one later word nothing changes at all. Change their content, for example add 1.',
        code=r'''
def leaks_future(attend, x):
    rng_state = torch.random.get_rng_state()
    reference = attend(x.clone())
    n = x.size(0)
    for cut in range(1, n):
        torch.random.set_rng_state(rng_state)
        other = torch.cat([x[:cut], torch.flip(x[cut:], dims=[0])])
        moved = attend(other)
        if not torch.allclose(moved[:cut], reference[:cut], rtol=0.0, atol=1e-5):
            return True
    return False
''',
    ),
    dict(
        id='v-5.3-alias-and-dropout', exercise='5.3', today='NAMED', words=('Dropout drew other numbers in the second call, and y',),
        tutor='fake = x makes no copy, so you write into the words of the caller; use x.clone(). And you do not reset the random numbers between the calls, so a function with dropout seems to leak.',
        code=r'''
def leaks_future(attend, x):
    honest = attend(x)
    found = []
    for t in range(len(x) - 1, 0, -1):
        fake = x
        fake[t:] = 0
        gap = torch.abs(attend(fake)[:t] - honest[:t])
        found.append(bool(torch.any(gap > 1e-5)))
    return any(found)
''',
    ),
    dict(
        id='v-5.4-greater-than', exercise='5.4', today='NAMED', words=('You kept tokens larger than pad_id; smaller ones are',),
        tutor='You compare with >, which works only where padding is the smallest number. With another pad_id you hide words with smaller numbers too. Everything that is not equal to pad_id is a word.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    is_word = torch.gt(tokens, pad_id)
    return is_word.reshape(B, 1, 1, T)
''',
    ),
    dict(
        id='v-5.5-masks-agree', exercise='5.5', today='NAMED', words=('You allowed a pair where the two masks agree, so als',),
        tutor='You ask whether the two masks are equal. That is also True where both forbid the pair. A pair is allowed only if both are True: use &.',
        code=r'''
def combine_masks(padding, causal):
    B = padding.shape[0]
    T = causal.shape[0]
    p = padding.expand(B, 1, T, T)
    c = causal.expand(B, 1, T, T)
    return torch.eq(p, c)
''',
    ),
    dict(
        id='v-5.6-plain-exp-epsilon', exercise='5.6', today='NAMED', words=('look at the 1e-06 that is added', 'The first infinity comes up'),
        tutor='You take the exponential without subtracting the row maximum, so large scores overflow, in float16 already from 12 on. And the small number that you add to every sum makes rows with low scores sum to less than 1; only empty rows need help.',
        code=r'''
def masked_softmax(scores, mask):
    numer = scores.exp() * mask
    denom = numer.sum(-1, keepdim=True) + 1e-6
    return numer / denom
''',
    ),
    dict(
        id='v-5.7-with-skip', exercise='5.7', today='NAMED', words=('You added x to the output. Blocks do so, around the ',),
        tutor='You add x to the result. This skip connection belongs to the block around the layer; CrossAttention itself returns only what W_o gives.',
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
        q, k, v = self.W_q(x), self.W_k(memory), self.W_v(memory)
        q, k, v = split_heads(q, h), split_heads(k, h), split_heads(v, h)
        d_head = x.shape[-1] // h
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(d_head)
        if memory_mask is None:
            memory_mask = torch.ones_like(s, dtype=torch.bool)
        w = masked_softmax(s, memory_mask)
        y = self.W_o(merge_heads(torch.einsum("bhqk,bhkd->bhqd", w, v)))
        return x + y, w
''',
    ),
    dict(
        id='v-5.7-view-heads-billion', exercise='5.7', today='NAMED', words=('Two values are not right yet: att in line 22, which ',), slow=True,
        tutor='Your view goes straight to (B, h, T, d_k), which mixes features of different words; reshape to (B, T, h, d_k) and transpose, or use split_heads. And filling with -1e9 gives a query that may look nowhere equal weights on everything, where it should get zeros.',
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
        B, Tq, D = x.shape
        Tk = memory.shape[1]
        dk = D // self.n_heads
        q = self.W_q(x).view(B, self.n_heads, Tq, dk)
        k = self.W_k(memory).view(B, self.n_heads, Tk, dk)
        v = self.W_v(memory).view(B, self.n_heads, Tk, dk)
        att = (q @ k.transpose(2, 3)) * dk ** -0.5
        if memory_mask is not None:
            att = att.masked_fill(memory_mask.logical_not(), -1e9)
        att = att.softmax(-1)
        y = (att @ v).reshape(B, Tq, D)
        return self.W_o(y), att
''',
    ),
    dict(
        id='v-6.1-applied-twice-exact', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the',),
        tutor='To undo the shuffle you apply perm a second time; that undoes it only if perm swaps pairs. Compare f(X[perm]) with f(X)[perm]. And torch.equal allows no rounding at all, so an equivariant function can fail.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    shuffle = lambda M: torch.index_select(M, 0, torch.as_tensor(perm))
    back_again = shuffle(f(shuffle(X)))
    return torch.equal(back_again, f(X))
''',
    ),
    dict(
        id='v-6.2-from-one', exercise='6.2', today='NAMED', words=('Your positions start at 1; row 0 belongs to position',),
        tutor='You count the positions from 1, as in R. The first row belongs to position 0: its sines are 0 and its cosines 1.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    for row in range(max_len):
        pos = row + 1
        for col in range(d_model):
            pair = col // 2
            angle = pos / 10000 ** (2 * pair / d_model)
            table[row, col] = math.sin(angle) if col % 2 == 0 else math.cos(angle)
    return table
''',
    ),
    dict(
        id='v-6.3-whole-steps-only', exercise='6.3', today='NAMED', words=('look at int(offset). It cuts off what stands after the point.',),
        tutor='You raise the matrix of one step to a whole power, and int cuts the offset down to a whole number. An offset of 2.5 needs the angles 2.5 times the frequencies: put the offset into the angles instead of a power.',
        code=r'''
def shift_matrix(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        w = 10000.0 ** (-2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(w), math.sin(w)],
                                    [-math.sin(w), math.cos(w)]], dtype=torch.float64))
    one_step = torch.block_diag(*blocks)
    return torch.linalg.matrix_power(one_step, int(offset)).float()
''',
    ),
    dict(
        id='v-6.4-offset-on-angle', exercise='6.4', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='You add the offset to the angle, after the position was multiplied by the frequency. The offset is a number of places: add it to the position first, so that slow pairs turn less by it than fast ones.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    theta = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=x.dtype)
    angle = torch.outer(torch.arange(T, dtype=x.dtype), theta) + offset
    c, s = angle.cos(), angle.sin()
    pairs = x.reshape(*x.shape[:-1], d // 2, 2)
    a, b = pairs.unbind(-1)
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).reshape(x.shape)
''',
    ),
    dict(
        id='v-6.4-views-overwritten', exercise='6.4', today='NAMED', words=("You wrote into x itself. That changes the caller's t",),
        tutor='You write into x, which must stay as it is. And left is only a view of x: after your first assignment it already holds the turned numbers, so the second line computes with the wrong ones.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    rate = 1.0 / base ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
    place = torch.arange(offset, offset + T, dtype=x.dtype).unsqueeze(1)
    phi = place * rate
    left = x[..., ::2]
    right = x[..., 1::2]
    x[..., ::2] = left * phi.cos() - right * phi.sin()
    x[..., 1::2] = left * phi.sin() + right * phi.cos()
    return x
''',
    ),
    dict(
        id='v-6.5-halving-slopes', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right for',),
        tutor='You halve the slope from head to head, which is right for eight heads only. Head i of h has the slope 2 to the power -8i/h: with four heads 1/4, 1/16 and so on.',
        code=r'''
def alibi_bias(n_heads, T):
    bias = torch.empty(n_heads, T, T)
    back = torch.abs(torch.arange(T).view(T, 1) - torch.arange(T).view(1, T))
    slope = 0.5
    for h in range(n_heads):
        bias[h] = -slope * back
        slope /= 2
    return bias
''',
    ),
    dict(
        id='v-6.6-times-root-width', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first, as V',),
        tutor='You multiply the word vectors by the root of d_model, as the paper of 2017 does. The exercise asks for the vectors as they are, plus the row of the position.',
        code=r'''
def embed(tokens, E, pe):
    width = E.size(1)
    word_part = torch.nn.functional.embedding(tokens, E) * math.sqrt(width)
    length = tokens.size(-1)
    return word_part + pe[None, :length, :]
''',
    ),
    dict(
        id='v-6.7-model-width-and-columns', exercise='6.7', today='NAMED', words=('You divided by √d_model; queries and keys have d', 'The softmax runs over the queries; each query sh'),
        tutor='You divide by the root of d_model, the width of X; it has to be d_k, the width of a key. And your softmax runs over dim 0, the queries: every row, not every column, must sum to 1.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    T, width = X.shape

    def project(W, turn=False):
        Z = torch.matmul(X, W)
        return rope(Z) if turn else Z

    logits = project(W_q, True).mm(project(W_k, True).t()) / width ** 0.5
    logits = torch.where(causal_mask(T), logits, torch.full_like(logits, -math.inf))
    A = torch.nn.functional.softmax(logits, dim=0)
    return A.mm(project(W_v))
''',
    ),
    dict(
        id='v-7.1-one-addition-less', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in each',),
        tutor='You count one addition less than multiplications in each sum, 2n - 1. By the rule of this exercise a multiply-add is always 2 FLOPs, the first of a sum included: so 2n.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    def matmul_cost(rows, inner, cols):
        mults = inner
        adds = inner - 1
        return rows * cols * (mults + adds)

    return matmul_cost(T_q, d_k, T_k) + matmul_cost(T_q, T_k, d_v)
''',
    ),
    dict(
        id='v-7.2-three-with-bias', exercise='7.2', today='NAMED', words=('You counted three projections. After the heads a', 'You added a bias to each output. These projectio'),
        tutor='You count three projections and forget W_o, the fourth. And you add one FLOP per output for a bias, which these layers do not have.',
        code=r'''
def projection_flops(T, d_model):
    flops = 0
    for _matrix in ("query", "key", "value"):
        flops += 2 * T * d_model ** 2   # matmul
        flops += T * d_model            # bias
    return flops
''',
    ),
    dict(
        id='v-7.3-doubling-search', exercise='7.3', today='NAMED', words=('You tried powers of two only, and took the first tha',),
        tutor='You double T until the products cost more, so you can only find powers of two and mostly stop too late: for width 768 you give 2048 instead of 1536. Solve the equation, or search in steps of one.',
        code=r'''
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):
        T = T << 1
    return T
''',
    ),
    dict(
        id='v-7.4-lower-triangle', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='You count only the lower triangle, T(T + 1)/2 scores. Nobody speaks of a causal mask here, and even then the whole matrix (T, T) is stored.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = sum(range(1, T + 1))
    return B * H * pairs * itemsize
''',
    ),
    dict(
        id='v-7.5-ddof-mixed', exercise='7.5', today='NAMED', words=('np.cov divides by n − 1 and np.var by n, so your slo',),
        tutor='np.cov divides by n - 1 and np.var divides by n, so your slope is too large by the factor n/(n - 1). Use the same divisor in both, for example ddof=1 in np.var.',
        code=r'''
def fit_exponent(sizes, costs):
    lx, ly = np.log(np.asarray(sizes)), np.log(np.asarray(costs))
    beta = np.cov(lx, ly)[0, 1] / np.var(lx)
    return float(beta)
''',
    ),
    dict(
        id='v-8.1-normalised-nan', exercise='8.1', today='NAMED', words=('A query that has seen nothing has maximum −∞ in ', 'out is a sum, not yet divided by the total, so t'),
        tutor='You divide the sum by the total in every merge; a state keeps the plain sum, and the division comes once at the very end. And where both parts saw nothing, your factors are exp(-inf + inf), which is NaN: such a state must stay -inf, 0, 0.',
        code=r'''
def merge(first, second):
    (m1, l1, o1), (m2, l2, o2) = first, second
    m = torch.where(m1 > m2, m1, m2)
    alpha, beta = (m1 - m).exp(), (m2 - m).exp()
    l = alpha * l1 + beta * l2
    o = (alpha * o1 + beta * o2) / l
    return m, l, o
''',
    ),
    dict(
        id='v-8.2-last-keys-dropped', exercise='8.2', today='NAMED', words=('The last, shorter tile of keys is left out. Let the ',),
        tutor='T_k // tile counts only full tiles. If the keys do not divide evenly, your last, smaller tile of keys is never read. Let range run over the starts: range(0, T_k, tile).',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    d = Q.shape[-1]
    n_key_tiles = K.shape[-2] // tile
    outputs = []
    for q_start, q in zip(range(0, Q.shape[-2], tile), Q.split(tile, dim=-2)):
        carry = nothing_seen(q, V)
        for b in range(n_key_tiles):
            lo, hi = b * tile, (b + 1) * tile
            if causal and lo > q_start:
                continue
            s = torch.einsum("...qd,...kd->...qk", q, K[..., lo:hi, :]) / math.sqrt(d)
            if causal:
                rows = torch.arange(q_start, q_start + q.shape[-2])[:, None]
                s = s.masked_fill(torch.arange(lo, hi)[None, :s.shape[-1]] > rows, -math.inf)
            carry = merge(carry, state_of(s, V[..., lo:hi, :]))
        outputs.append(carry[2] / carry[1])
    return torch.cat(outputs, dim=-2)
''',
    ),
    dict(
        id='v-8.2-no-rescale-no-scale', exercise='8.2', today='NAMED', words=('The scores are not scaled: divide by √d_k = 2, a', 'When a later tile raises the maximum, both the t'), slow=True,
        tutor='When a tile brings a larger maximum, you do not shrink what you added up before, so old and new parts are measured against different maxima. And you never divide the scores by the root of d_k.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    n_q, n_k = Q.size(-2), K.size(-2)
    result = Q.new_zeros(*Q.shape[:-1], V.size(-1))
    for a in range(0, n_q, tile):
        b = min(a + tile, n_q)
        top = Q.new_full((*Q.shape[:-2], b - a, 1), -math.inf)
        den = torch.zeros_like(top)
        num = Q.new_zeros(*Q.shape[:-2], b - a, V.size(-1))
        for c in range(0, b if causal else n_k, tile):
            e = min(c + tile, n_k)
            s = Q[..., a:b, :] @ K[..., c:e, :].transpose(-1, -2)
            if causal:
                ahead = torch.arange(c, e) > torch.arange(a, b).unsqueeze(1)
                s = s.masked_fill(ahead, -math.inf)
            top = torch.maximum(top, s.max(dim=-1, keepdim=True)[0])
            p = torch.exp(s - top)
            den += p.sum(dim=-1, keepdim=True)
            num += p @ V[..., c:e, :]
        result[..., a:b, :] = num / den
    return result
''',
    ),
    dict(
        id='v-8.3-blocks', exercise='8.3', today='NAMED', words=('You cut the text into blocks of 3 words. A window mo',),
        tutor='You cut the text into blocks of the window size, and a word sees only its own block. The first word of a block then sees itself alone. A sliding window moves along with the word: 0 <= i - j < window.',
        code=r'''
def window_mask(T, window):
    M = torch.zeros((T, T), dtype=torch.bool)
    for i in range(T):
        start = i // window * window
        M[i, start : i + 1] = True
    return M
''',
    ),
    dict(
        id='v-8.4-elu-of-plus-one-all-keys', exercise='8.4', today='NAMED', words=('With causal=True your normaliser sums over all k', 'In line 2, look at what comes inside the parenth'),
        tutor='You put the 1 inside: elu(x + 1) can be negative, elu(x) + 1 cannot. And with causal=True your denominator still adds up all keys, later ones too; it needs the running sum, as the numerator has.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    phi = lambda z: F.elu(z + 1)
    fq, fk = phi(Q), phi(K)
    Z = torch.einsum("...qd,...d->...q", fq, fk.sum(-2))
    if not causal:
        S = torch.einsum("...kd,...kv->...dv", fk, V)
        num = torch.einsum("...qd,...dv->...qv", fq, S)
    else:
        S, steps = 0, []
        for t in range(K.shape[-2]):
            S = S + fk[..., t, :, None] * V[..., t, None, :]
            steps.append(torch.einsum("...d,...dv->...v", fq[..., t, :], S))
        num = torch.stack(steps, dim=-2)
    return num / Z.unsqueeze(-1)
''',
    ),
    dict(
        id='v-8.5-new-dict-no-mask', exercise='8.5', today='NAMED', words=('Nothing is hidden. That is right for one new wor', 'In line 7, look at what cache is after that line'),
        tutor='You bind the name cache to a new dict, so the dict of the caller stays as it was and the next call finds no old words: assign to cache["K"] and cache["V"]. And nothing stops a new word from seeing later words of the same piece.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    n = layer.n_heads
    past = cache["K"].size(2)
    q = rope(split_heads(layer.W_q(x_new), n), offset=past)
    k = rope(split_heads(layer.W_k(x_new), n), offset=past)
    v = split_heads(layer.W_v(x_new), n)
    cache = {
        "K": torch.cat((cache["K"], k), 2),
        "V": torch.cat((cache["V"], v), 2),
    }
    ctx = F.scaled_dot_product_attention(q, cache["K"], cache["V"])
    return layer.W_o(merge_heads(ctx))
''',
    ),
    dict(
        id='v-8.6-mean-query', exercise='8.6', today='NAMED', words=('The queries of a group are averaged to one, so heads',),
        tutor='You average the queries of a group, so all heads of a group give the same weights. Only keys and values are shared: each head keeps a query of its own.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.size(1)
    per_group = h // g
    Q_group = torch.stack([chunk.mean(dim=1) for chunk in Q.chunk(g, dim=1)], dim=1)
    logits = torch.einsum("bgqd,bgkd->bgqk", Q_group, K) / d_k ** 0.5
    logits = logits.repeat_interleave(per_group, dim=1)
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), float("-inf"))
    A = F.softmax(logits, dim=-1)
    return A @ torch.repeat_interleave(V, per_group, dim=1)
''',
    ),
    dict(
        id='v-8.7-newest-not-kept', exercise='8.7', today='NAMED', words=('With letters for the sizes, your result is -2·n_laye', 'One change in line 2 would make this right: look at the operator -. Or: at whether - 1 bel'),
        tutor='You leave the newest token out. Its key and value are stored as well, because the next token needs them: all n_tokens count.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    earlier = n_tokens - 1      # the current word is not in the cache yet
    bytes_of_K = earlier * n_kv_heads * d_head * itemsize
    bytes_of_V = bytes_of_K
    return n_layers * (bytes_of_K + bytes_of_V)
''',
    ),
    dict(
        id='v-8.8-no-layer', exercise='8.8', today='NAMED', words=('A stack of 0 layers mixes nothing: only the word its',),
        tutor='Your recursion ends with window for zero layers too. Without any layer only the last word itself matters, so the answer there is 1.',
        code=r'''
def reach(n_layers, window):
    if n_layers <= 1:
        return window
    return reach(n_layers - 1, window) + window - 1
''',
    ),
    dict(
        id='v-9.1-std-plus-eps-unbiased', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='std divides by d - 1 unless you tell it not to; layer norm divides by d. And you add eps to the standard deviation, but it belongs to the variance, under the root.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    mu = torch.mean(x, -1).unsqueeze(-1)
    sd = torch.std(x, -1).unsqueeze(-1)
    return torch.addcmul(shift, scale, (x - mu) / (sd + eps))
''',
    ),
    dict(
        id='v-9.2-post-norm-relu', exercise='9.2', today='NAMED', words=('The norms come after the sums, as in the Transfo', 'You used ReLU (as the Transformer of 2017 does);'),
        tutor='You normalise after each sum, as BERT does. Here each half reads a normed copy of x and adds its result to x itself. And the feed-forward network needs GELU, not ReLU.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        hidden = 4 * d_model
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, hidden), nn.ReLU(), nn.Linear(hidden, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attn_output = self.attention(x, mask=mask)[0]
        out1 = self.norm_1(x + attn_output)
        ffn_output = self.feed_forward(out1)
        return self.norm_2(out1 + ffn_output)
''',
    ),
    dict(
        id='v-9.3-tied-weights', exercise='9.3', today='NAMED', words=('embedding and head are one and the same layer. Each ',),
        tutor='You make the head share its matrix with the embedding. Some models do this, but the exercise asks for a head with numbers of its own; as it is, filling or training one changes the other.',
        code=r'''
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
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        B, T = tokens.size()
        look_back = causal_mask(T)
        h = self.embedding(tokens)
        for layer in self.blocks:
            h = layer(h, mask=look_back)
        h = self.norm(h)
        return self.head(h)
''',
    ),
    dict(
        id='v-9.4-mean-of-means', exercise='9.4', today='NAMED', words=('You took the mean of each text and then the mean of ',),
        tutor='You average within each text and then over the texts, so a target in a short text counts more. Take one mean over all targets that are not padding.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    losses = []
    for scores, ids in zip(logits, tokens):
        target = ids[1:]
        nll = -F.log_softmax(scores[:-1], dim=-1).gather(1, target[:, None]).squeeze(1)
        if pad_id is not None:
            nll = nll[target != pad_id]
        if len(nll) > 0:
            losses.append(nll.mean())
    return torch.stack(losses).mean()
''',
    ),
    dict(
        id='v-9.4-pad-as-input-bits', exercise='9.4', today='NAMED', words=('You leave out positions whose input is padding; ', 'In line 8, look at whether / math.log(2) belongs'),
        tutor='You leave out the positions that read padding; the ones to leave out are those whose target is padding. And dividing by log 2 gives bits, but the loss is wanted in nats.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    context, target = tokens[:, :-1], tokens[:, 1:]
    per_token = F.cross_entropy(
        logits[:, :-1].transpose(1, 2), target, reduction="none")
    keep = torch.ones_like(context, dtype=torch.bool)
    if pad_id is not None:
        keep = context != pad_id
    return (per_token * keep).sum() / keep.sum() / math.log(2)
''',
    ),
    dict(
        id='v-9.5-ties-cut', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='You keep exactly k tokens. If others have the same score as the smallest of them, they must stay too: compare each score with the k-th largest value instead of using the indices.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is None:
        return F.softmax(z, dim=-1)
    best, where = torch.topk(z, k=top_k, dim=-1)
    probs = torch.zeros_like(z)
    return probs.scatter(-1, where, F.softmax(best, dim=-1))
''',
    ),
    dict(
        id='v-9.6-choose-gets-probabilities', exercise='9.6', today='NAMED', words=('choose gets probabilities; it takes the logits as th',),
        tutor='You give choose probabilities, but it expects logits and does its own softmax. After a second softmax all tokens are nearly equally likely. Pass the logits of the last position on as they are.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    sequence = tokens
    while sequence.size(1) < tokens.size(1) + n_new:
        window = sequence if sequence.size(1) <= model.max_len else sequence[:, -model.max_len:]
        last = model(window)[:, -1, :]
        probs = torch.softmax(last, dim=-1)
        nxt = choose(probs).unsqueeze(-1)
        sequence = torch.hstack((sequence, nxt))
    return sequence
''',
    ),
    dict(
        id='v-10.1-transposed-for-linear', exercise='10.1', today='NAMED', words=('The four matrices are used as they come. But they ar',),
        tutor='F.linear wants the matrix as (out, in) and transposes it itself. You transpose it before, so in the end every one of your four products uses the matrix the wrong way round.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def dense(z, which):
        W, b = getattr(layer, "W_" + which), getattr(layer, "b_" + which)
        return F.linear(z, W.t(), b)

    q = split_heads(dense(x, "q"), n_heads)
    k = split_heads(dense(x, "k"), n_heads)
    v = split_heads(dense(x, "v"), n_heads)
    logits = torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        logits = torch.where(mask, logits, float("-inf"))
    probs = F.softmax(logits, dim=-1)
    return dense(merge_heads(probs @ v), "o"), probs
''',
    ),
    dict(
        id='v-10.1-skip-and-added-mask', exercise='10.1', today='NAMED', words=('You added the mask to the scores, where True cou', 'You added x to the output. The layer does so aro'),
        tutor='You add the bool mask to the scores: allowed places get 1 more and nothing is hidden; hidden scores must become minus infinity. And you add x to the output, which the layer around this function does already.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, D = x.shape
    size = D // n_heads

    def transpose_for_scores(t):
        return t.view(B, T, n_heads, size).permute(0, 2, 1, 3)

    query = transpose_for_scores(x.matmul(layer.W_q.T) + layer.b_q)
    key = transpose_for_scores(x.matmul(layer.W_k.T) + layer.b_k)
    value = transpose_for_scores(x.matmul(layer.W_v.T) + layer.b_v)
    attention_scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(size)
    if mask is not None:
        attention_scores = attention_scores + mask
    attention_probs = attention_scores.softmax(-1)
    context = torch.matmul(attention_probs, value).permute(0, 2, 1, 3).reshape(B, T, D)
    hidden = context.matmul(layer.W_o.T) + layer.b_o
    return hidden + x, attention_probs
''',
    ),
    dict(
        id='v-10.2-nouns-look-ties-win', exercise='10.2', today='NAMED', words=('You asked how much the nouns look at the verb. The v', 'With one change in line 7 they would in all: look at the comparison >=.'),
        tutor='You read the rows of the nouns, so you ask how much they look at the verb. The verb looks: its place is the row. And with >= a tie counts as a win, which the exercise excludes.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    N = weights.shape[0]
    count = torch.zeros(weights.shape[1:-2])
    for n in range(N):
        to_subject = weights[n, ..., int(subject[n]), int(verb[n])]
        to_other = weights[n, ..., int(other[n]), int(verb[n])]
        count += (to_subject >= to_other)
    return count / N
''',
    ),
    dict(
        id='v-10.3-all-tokens-of-batch', exercise='10.3', today='NAMED', words=('You divided by the tokens of all texts together; eac',),
        tutor='You divide each sum by the number of tokens in the whole batch. Each text has a count of its own: sum the mask along the tokens only.',
        code=r'''
def mean_pool(hidden, mask):
    n_tokens = mask.sum()
    rows = [hidden[b][mask[b]].sum(dim=0) / n_tokens for b in range(len(hidden))]
    return torch.stack(rows)
''',
    ),
    dict(
        id='v-10.4-absolute-cosine', exercise='10.4', today='NAMED', words=('You ranked by absolute value: a vector that points t',),
        tutor='You rank by the absolute cosine, so a row that points the opposite way comes out near the top. It is the least similar one: rank by the cosine with its sign.',
        code=r'''
def search(query, corpus, k):
    sims = F.cosine_similarity(corpus, query.unsqueeze(0), dim=1)
    order = torch.argsort(sims.abs(), descending=True)[:k]
    return order, sims[order]
''',
    ),
    dict(
        id='x-0.1-repeat-counts', exercise='0.1', today='NAMED', words=('The same numbers come out if weights is turned into ',),
        tutor='You treat the weights as whole-number counts: astype(int) cuts 0.7 down to 0 and 2.9 down to 2, so fractional weights are lost (and if all are below 1, nothing is left to average). Multiply each value by its weight as it is and divide by the sum of the weights.',
        code=r'''
def weighted_average(values, weights):
    # a weight of 3 means: the row occurs three times
    expanded = np.repeat(values, np.asarray(weights).astype(int))
    return expanded.mean()
''',
    ),
    dict(
        id='x-0.1-matlab-norm', exercise='0.1', today='NAMED', words=('You divided by the length of the weights as a ve', 'In lines 2 and 4, look at whether reshape belong'),
        tutor='np.linalg.norm is the root of the sum of squares, not the sum of the weights, so the weights 2, 1, 1 are divided by 2.45 and not by 4. And a row times a column stays a 1 by 1 matrix in NumPy; a plain number is wanted, so multiply the one-dimensional arrays.',
        code=r'''
def weighted_average(values, weights):
    row = np.reshape(weights, (1, -1))
    row = row / np.linalg.norm(row)       # normalise the weights first
    column = np.reshape(values, (-1, 1))
    return row @ column
''',
    ),
    dict(
        id='x-1.1-polarisation', exercise='1.1', today='NAMED', words=('The same numbers come out if similarities is doubled',),
        tutor='|k|^2 + |q|^2 - |k - q|^2 is twice the dot product: expand the square and you see the 2 k.q. Every number is exactly doubled; halve it, or multiply query and keys directly.',
        code=r'''
def similarities(query, keys):
    def squared_length(a):
        return np.square(a).sum(axis=-1)

    # law of cosines
    return squared_length(keys) + squared_length(query) - squared_length(keys - query)
''',
    ),
    dict(
        id='x-1.1-empty-like-keys', exercise='1.1', today='NAMED', words=('One change in line 2 would make this right: look at ',),
        tutor='The result array takes its dtype from the keys. If the keys hold whole numbers, every dot product is cut to a whole number when it is stored, so 1.2 becomes 1. Let the result have the dtype of the products.',
        code=r'''
def similarities(query, keys):
    result = np.empty_like(keys[:, 0])
    for row_number, key in enumerate(keys):
        result[row_number] = np.dot(key, query)
    return result
''',
    ),
    dict(
        id='x-1.2-temperature', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one would by',),
        tutor='You use the sharpness like a temperature and divide the scores by it. It should multiply: a larger sharpness makes the weights harder, and 0 gives the plain average, where your version divides by zero.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    energy = -similarities(query, keys)
    boltzmann = np.exp(-(energy - energy.min()) / sharpness)
    partition = boltzmann.sum()
    occupation = boltzmann / partition
    return occupation @ values, occupation
''',
    ),
    dict(
        id='x-1.2-clip-raw', exercise='1.2', today='NAMED', words=('The weights that came back are the exponentials ', 'You clipped the scores to stay clear of overflow'),
        tutor='Cutting the scores off at 700 stops the overflow but makes all larger scores equal, so 1000 and 900 get the same weight; subtract the largest score instead. And you return the bare exponentials as weights: only the value was divided by their sum, so the weights do not sum to 1.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    logits = similarities(query, keys) * sharpness
    logits = np.clip(logits, -700, 700)  # exp overflows after ~709
    w = np.exp(logits)
    value = np.einsum("n,nv->v", w, values) / np.sum(w)
    return value, w
''',
    ),
    dict(
        id='x-1.3-fused-equal-width', exercise='1.3', today='NAMED', words=('One change in line 7 would make this right: look at ',),
        tutor='One fused product is fine, but you cut off the last d_k columns for V. V has d_v columns, which may be more or fewer: with d_v = 3 and d_k = 2 the first column of V is lost. Start V after the 2 * d_k columns of Q and K.',
        code=r'''
def project(X, W_q, W_k, W_v):
    fused = np.concatenate([W_q, W_k, W_v], axis=1)
    qkv = np.dot(X, fused)
    width = W_q.shape[1]
    Q = qkv[:, :width]
    K = qkv[:, width:2 * width]
    V = qkv[:, -width:]
    return Q, K, V
''',
    ),
    dict(
        id='x-1.4-inner', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every ',),
        tutor='np.inner pairs every row of Q with every row of K, over all axes in front as well: two batches of size B give (B, T_q, B, T_k), with sentences scored against other sentences. A matrix product keeps the batch axes together.',
        code=r'''
def dot_product_scores(Q, K):
    return np.inner(Q, K)  # sums over the last axis of both
''',
    ),
    dict(
        id='x-1.4-zip-one-batch-axis', exercise='1.4', today='NAMED', words=('You divided by √d_k; that comes in lesson 02. Here t', 'With one change in line 3 they would in all: look at what .T does when there are more than'),
        tutor='The dot products are wanted as they are; you already divide them by the root of d_k. And the loop with .T handles one batch axis only: with two axes in front, .T reverses three axes and the product is wrong or impossible. Exchange only the last two axes.',
        code=r'''
def dot_product_scores(Q, K):
    def one_sentence(q, k):
        return (q @ k.T) / q.shape[-1] ** 0.5

    if Q.ndim == 2:
        return one_sentence(Q, K)
    return np.stack([one_sentence(q, k) for q, k in zip(Q, K)])
''',
    ),
    dict(
        id='x-1.5-adjective-any-noun', exercise='1.5', today='NAMED', words=('old gives books and shelf the same weight, 0.50: it ',),
        tutor='are brings its own plural with it, but old has only the feature adjective, so with your row it asks for a noun of either number: books and shelf get one half each. The adjective row has to ask for plural too.',
        code=r'''
def design_projections():
    W_k = np.eye(4)             # found by every feature
    W_q = np.zeros((4, 4))
    noun, verb, adjective, number = range(4)
    W_q[verb, noun] = 1         # a verb wants a noun ...
    W_q[adjective, noun] = 1    # ... and so does an adjective
    W_q[number, number] = 1     # of the same number
    return 6 * W_q, W_k
''',
    ),
    dict(
        id='x-2.1-logsumexp-last-axis', exercise='2.1', today='NAMED', words=('[..., None] puts the axis back at the end, which is ',),
        tutor='You put the lost axis back at the end, with [..., None], whichever axis was summed. With axis=0 the sums of the columns are then subtracted from the rows, or the shapes do not fit. Put it back where it was: keepdims=True.',
        code=r'''
def softmax(x, axis=-1):
    log_total = np.logaddexp.reduce(x, axis=axis)
    return np.exp(x - log_total[..., None])
''',
    ),
    dict(
        id='x-2.1-inplace', exercise='2.1', today='NAMED', words=('The values are right. The function changed its input',),
        tutor='For float inputs, buffer is the same array as x, so out=buffer overwrites the scores of the caller. The result is right, but the input must stay as it was: work on a new array.',
        code=r'''
def softmax(x, axis=-1):
    # no temporaries: everything happens in one buffer
    is_float = np.issubdtype(x.dtype, np.floating)
    buffer = x if is_float else x.astype(np.float64)
    np.subtract(buffer, buffer.max(axis=axis, keepdims=True), out=buffer)
    np.exp(buffer, out=buffer)
    np.divide(buffer, buffer.sum(axis=axis, keepdims=True), out=buffer)
    return buffer
''',
    ),
    dict(
        id='x-2.2-boolean-index', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the scor',),
        tutor='scores[~mask] needs a mask of exactly the shape of the scores. A mask that only broadcasts, such as (T_q, T_k) for a batch or (1, T_k), raises an IndexError. np.where broadcasts the mask for you.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    scale = Q.shape[-1] ** -0.5
    scores = np.matmul(Q, np.moveaxis(K, -1, -2)) * scale
    if mask is not None:
        scores[~mask] = -np.inf
    weights = softmax(scores)
    return np.matmul(weights, V), weights
''',
    ),
    dict(
        id='x-2.2-own-softmax-dv', exercise='2.2', today='PARTLY',
        tutor='The scale comes from the width of the values, V.shape[-1], but it belongs to the length of the vectors in the dot product, d_k. And your own softmax takes the exponential of the raw scores, which overflows for large ones: subtract the maximum of the row first, or call softmax.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    width = V.shape[-1]
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(width)
    numerators = np.exp(scores)
    if mask is not None:
        numerators = numerators * mask   # blocked: nothing in the sum
    weights = numerators / numerators.sum(axis=-1, keepdims=True)
    out = np.einsum("...ij,...jv->...iv", weights, V)
    return out, weights
''',
    ),
    dict(
        id='x-2.3-whole-mask-per-sentence', exercise='2.3', today='NAMED', words=('Each sentence of the batch is given the whole mask. ', 'One change in line 3 would make this right: look at the comparison >. Or: at the number 2.'),
        tutor='You go through the batch one sentence at a time, but give each sentence the whole mask. If the mask has a batch axis too, each sentence is attended under every mask and the results have an axis too many. Take the mask of this sentence, or let the matrix products handle the batch.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    def attend(x):
        if x.ndim > 2:
            results = [attend(sentence) for sentence in x]
            outs, all_weights = zip(*results)
            return np.stack(outs), np.stack(all_weights)
        return scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v, mask)

    return attend(np.asarray(X))
''',
    ),
    dict(
        id='x-2.4-tanh-each', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;', 'With one change in line 2 they would in all: look at the dtype of zeros.'),
        tutor='You take tanh of the query part and of the key part separately and add afterwards. Then every score is one number of the query plus one of the key, and the two never meet. Add the two projections first, then take tanh of the sum.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    scores = np.zeros((len(Q), len(K)), dtype=Q.dtype)
    for i, q in enumerate(Q):
        left = np.tanh(q @ W_q)
        for j, k in enumerate(K):
            right = np.tanh(k @ W_k)
            scores[i, j] = v @ (left + right)
    return scores
''',
    ),
    dict(
        id='x-2.4-cross-join', exercise='2.4', today='NAMED', words=('Your pairs come key by key, and the table is fil', 'Besides, the same numbers come out if scores is '),
        tutor='np.tile runs through the queries fastest and np.repeat holds the key still, so the list of pairs is ordered key by key; reshape to (T_q, T_k) then puts the scores into wrong places. Also, additive scores are not divided by a square root: nothing in the formula says so.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    # cross join of the two tables, then one dense layer on [q, k]
    left = np.tile(Q, (K.shape[0], 1))
    right = np.repeat(K, Q.shape[0], axis=0)
    pairs = np.hstack([left, right])
    hidden = np.tanh(pairs @ np.vstack([W_q, W_k]))
    flat = hidden @ v / v.size ** 0.5
    return flat.reshape(Q.shape[0], K.shape[0])
''',
    ),
    dict(
        id='x-2.5-from-key-side', exercise='2.5', today='NAMED', words=('You used W transposed. W leads from query features t',),
        tutor='You compute k W q for each pair and transpose the result. That is q Wᵀ k, so the score uses W the wrong way round: different numbers when W is not symmetric, and an error when the widths differ. Let W stand between Q on the left and K on the right.',
        code=r'''
def general_scores(Q, K, W):
    by_key = np.linalg.multi_dot([K, W, Q.T])   # (T_k, T_q)
    return by_key.T
''',
    ),
    dict(
        id='x-2.6-shape-one', exercise='2.6', today='NAMED', words=('You took axis 1 of K for the scale. It holds the fea',),
        tutor='The three bugs are gone, but d_k = K.shape[1] is the number of features only for two-dimensional arrays. With a batch in front, axis 1 is the number of keys, so the scale is wrong. Count the axis from the end.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[1]
    scores = np.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)
    return out, weights
''',
    ),
    dict(
        id='x-3.1-central-limit', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='Mean and spread are right, but a dot product of few features is not normally distributed: for d_k = 1 a product of two normals has a sharp peak at 0 and heavy tails. The central limit theorem helps only for many features. Draw the vectors themselves.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # a sum of d_k independent terms of variance 1 is N(0, d_k)
    sigma = np.sqrt(d_k)
    return rng.normal(loc=0.0, scale=sigma, size=n)
''',
    ),
    dict(
        id='x-3.2-filter-flattens', exercise='3.2', today='NAMED', words=('You added up everything into one number; each row ha',),
        tutor='weights[weights > 0] throws the zeros away and with them the rows: it is one flat list, so you return one number for the whole array, not one per row. Keep the shape, put something harmless in place of the zeros, and sum along the last axis.',
        code=r'''
def entropy(weights):
    alive = weights[weights > 0]
    surprise = -np.log(alive)
    return np.dot(alive, surprise)
''',
    ),
    dict(
        id='x-3.2-bits', exercise='3.2', today='NAMED', words=('You took logarithms to base 2, which gives bits; nat',),
        tutor='np.log2 gives the entropy in bits; the exercise wants nats, with the natural logarithm. All your numbers are 1.44 times too large, and exp of the entropy would no longer count words.',
        code=r'''
def entropy(weights):
    information = np.zeros_like(weights)
    np.log2(weights, out=information, where=weights > 0)
    return -np.einsum("...i,...i->...", weights, information)
''',
    ),
    dict(
        id='x-3.3-rows-lose-axes', exercise='3.3', today='NAMED', words=('What you return would be right in another shape, its',),
        tutor='Each matrix is right, but reshape(-1, n) merges the axes in front and they never come back: a single row gives (1, n, n), and a batch of heads gives one long list of matrices. Reshape the result to p.shape + (n,), or broadcast.',
        code=r'''
def softmax_jacobian(p):
    rows = p.reshape(-1, p.shape[-1])
    return np.array([np.diag(row) - np.outer(row, row) for row in rows])
''',
    ),
    dict(
        id='x-3.3-loop-sign-dtype', exercise='3.3', today='NAMED', words=('Your diagonal is right, but the other entries have t', 'One change in line 9 would make this right: look at the sign of what that line computes.'),
        tutor='Off the diagonal the sign is wrong: if score j rises, the other weights fall, so the entry is -p_i p_j, and each row must sum to 0. Also np.zeros makes float64, so weights in float32 come back as float64; give it the dtype of p.',
        code=r'''
def softmax_jacobian(p):
    n = p.shape[-1]
    J = np.zeros((*p.shape, n))
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
        id='x-3.4-diagonal-only', exercise='3.4', today='NAMED', words=("You used only the Jacobian's diagonal, p (1 − p), as",),
        tutor='p (1 - p) is only the diagonal of the Jacobian, the derivative of a sigmoid. A score also moves all the other weights of its row, by -p_i p_j. Work out the whole sum over j: the mean of d_weights under the weights has to be subtracted.',
        code=r'''
def softmax_backward(weights, d_weights):
    # chain rule: upstream gradient times local derivative p(1 - p)
    local = weights - np.square(weights)
    return np.multiply(d_weights, local)
''',
    ),
    dict(
        id='x-3.4-vdot-all-rows', exercise='3.4', today='NAMED', words=('Your mean is one number for the whole array; every r',),
        tutor='np.vdot adds up over the whole array, so every row gets the sum of the means of all rows. For one row it is right. The mean belongs to each row: sum along the last axis and keep the axis.',
        code=r'''
def softmax_backward(weights, d_weights):
    expectation = np.vdot(weights, d_weights)   # <g> under p
    fluctuation = d_weights - expectation
    return weights * fluctuation
''',
    ),
    dict(
        id='x-4.1-split-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='x.split(n) makes pieces of n features each; it does not make n pieces. So you get d_k heads of h features, which is right only if h = d_k. Give it d_k, or use chunk(n_heads).',
        code=r'''
def split_heads(x, n_heads):
    heads = x.split(n_heads, dim=-1)
    return torch.stack(heads, dim=1)
''',
    ),
    dict(
        id='x-4.2-stack-last', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth', 'One change in line 3 would make this right: look at whether stack is the function you need'),
        tutor='Stacking on a new last axis and flattening takes feature 0 of all heads first, then feature 1 of all heads: the heads are interleaved. They should lie side by side, all of head 0 first: concatenate them along the feature axis.',
        code=r'''
def merge_heads(x):
    heads = x.unbind(dim=1)                  # h tensors (B, T, d_k)
    side_by_side = torch.stack(heads, dim=-1)
    return side_by_side.flatten(start_dim=2)
''',
    ),
    dict(
        id='x-4.3-functional-dropout', exercise='4.3', today='NAMED', words=('Dropout stays on in eval mode: nn.functional.dropout',),
        tutor='nn.functional.dropout drops always unless you pass training=self.training, so your module is random after eval() too. Pass the flag, or use the nn.Dropout module, which knows the mode.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError(f"cannot deal {d_model} features out to {n_heads} heads")
        self.h, self.d_head, self.p = n_heads, d_head, dropout
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, mask=None):
        q, k, v = (split_heads(layer(x), self.h)
                   for layer in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.d_head ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        dropped = nn.functional.dropout(weights, self.p)
        mixed = torch.einsum("bhij,bhjd->bhid", dropped, v)
        return self.W_o(merge_heads(mixed)), weights
''',
    ),
    dict(
        id='x-4.3-assert-output-dropout', exercise='4.3', today='NAMED', words=('In the case “d_model = 10 and three heads”, for ', 'Dropout falls on single features, of the values '),
        tutor='An assert raises AssertionError, and the exercise promises ValueError. And your dropout acts on the output after W_o; it should act on the weights where they meet V, so that whole words are left out and not single output features.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"d_model {d_model}, n_heads {n_heads}"
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        hs = C // self.n_heads
        q = self.W_q(x).view(B, T, self.n_heads, hs).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_heads, hs).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_heads, hs).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(hs))
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = att.softmax(dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.drop(self.W_o(y)), att
''',
    ),
    dict(
        id='x-4.4-state-dict-float32', exercise='4.4', today='NAMED', words=('Your module stays in float32 although mha may hold f',),
        tutor='load_state_dict copies the numbers into parameters that are already there, and those are float32. A float64 module loses its dtype and its precision without a warning. Move your module to the dtype of in_proj_weight first.',
        code=r'''
def from_torch(mha):
    d = mha.embed_dim
    stacked = mha.in_proj_weight
    ours = MultiHeadAttention(d, mha.num_heads, dropout=mha.dropout)
    ours.load_state_dict({
        "W_q.weight": stacked[:d],
        "W_k.weight": stacked[d:2 * d],
        "W_v.weight": stacked[2 * d:],
        "W_o.weight": mha.out_proj.weight,
    })
    return ours
''',
    ),
    dict(
        id='x-10.1-added-bool-mask', exercise='10.1', today='NAMED', words=('You added the mask to the scores, where True counts ',),
        tutor='You add the mask to the scores, as a library does whose mask already holds 0 and a large negative number. Ours is bool, so True adds 1 to an allowed score and a blocked one stays as it is and still gets weight. Fill blocked scores with minus infinity.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def transpose_for_scores(W, b):
        return split_heads(F.linear(x, W, b), n_heads)

    query_layer = transpose_for_scores(layer.W_q, layer.b_q)
    key_layer = transpose_for_scores(layer.W_k, layer.b_k)
    value_layer = transpose_for_scores(layer.W_v, layer.b_v)

    attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
    attention_scores = attention_scores / math.sqrt(query_layer.size(-1))
    if mask is not None:
        attention_scores = attention_scores + mask
    attention_probs = F.softmax(attention_scores, dim=-1)
    context_layer = merge_heads(torch.matmul(attention_probs, value_layer))
    return F.linear(context_layer, layer.W_o, layer.b_o), attention_probs
''',
    ),
    dict(
        id='x-10.1-residual-mean-heads', exercise='10.1', today='NAMED', words=('You added x to the output. The layer does so aro', 'In line 13, look at whether mean belongs there.'),
        tutor='You add x to the output: that residual belongs to the layer around the attention, which adds it itself. And you average the weights over the heads, as nn.MultiheadAttention does by default; the weights of every head are wanted, (B, h, T, T).',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    B, T, d_model = x.shape
    W = torch.cat([layer.W_q, layer.W_k, layer.W_v])      # (3 * d_model, d_model)
    b = torch.cat([layer.b_q, layer.b_k, layer.b_v])
    q, k, v = (split_heads(part, n_heads)
               for part in (x @ W.T + b).chunk(3, dim=-1))
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / (d_model // n_heads) ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = scores.softmax(-1)
    context = torch.einsum("bhqk,bhkd->bqhd", weights, v).reshape(B, T, d_model)
    out = x + F.linear(context, layer.W_o, layer.b_o)
    return out, weights.mean(dim=1)
''',
    ),
    dict(
        id='x-10.2-argmax', exercise='10.2', today='NAMED', words=('You asked for the largest weight of the whole row. H',),
        tutor='You ask whether the subject gets more weight than every other token. The question is only whether it gets more than the other noun: [CLS] often has the largest weight, and that should not count against the head. other is never used in your code.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    hits = []
    for n in range(weights.shape[0]):
        looks = weights[n, ..., verb[n], :]      # (..., T)
        favourite = looks.argmax(dim=-1)         # whom the verb finds
        hits.append(favourite == subject[n])
    return torch.stack(hits).double().mean(dim=0)
''',
    ),
    dict(
        id='x-10.3-first-n-tokens', exercise='10.3', today='NAMED', words=('You took the first rows of each text, as many as it ',),
        tutor='You count the tokens and take that many from the start. This is right only if all padding stands at the end; a mask may have its False anywhere, and then you average padding and miss tokens. Choose the places by the mask itself.',
        code=r'''
def mean_pool(hidden, mask):
    lengths = mask.sum(dim=1).tolist()
    pooled = [text[:n].mean(dim=0) for text, n in zip(hidden, lengths)]
    return torch.stack(pooled)
''',
    ),
    dict(
        id='x-10.4-argsort-inplace', exercise='10.4', today='NAMED', words=('The right rows come in the wrong order: the largest ',),
        tutor='div_ changes the corpus and the query of the caller: after one search they are normalised for good. Make new tensors. And argsort goes upwards, so your last k are the right ones but with the largest cosine last; turn them round.',
        code=r'''
def search(query, corpus, k):
    corpus.div_(corpus.norm(dim=1, keepdim=True))
    query.div_(query.norm())
    cosines = torch.mv(corpus, query)
    best = torch.argsort(cosines)[-k:]
    return best, cosines[best]
''',
    ),
    dict(
        id='y-5.1-running-update', exercise='5.1', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='The update of a running mean divides by how many words have been read, which at index t is t + 1, not t. With t the second row is simply x[1], and the first word is forgotten. Check row 1 by hand: it must be the mean of two words.',
        code=r'''
def prefix_mean(x):
    current = x[0]
    means = [current]
    for t, word in enumerate(x[1:], start=1):
        current = current + (word - current) / t
        means.append(current)
    return torch.stack(means)
''',
    ),
    dict(
        id='y-5.1-softmax-triu', exercise='5.1', today='NAMED', words=('Your triangle leaves out the diagonal (a slice x', 'Your matrix of ones is float32 while x is float6'),
        tutor='triu without diagonal=1 puts -inf on the diagonal too, so no word sees itself and row 0 has nothing to look at and becomes NaN. And the matrix of shares is float32 whatever x is, so the product with a float64 x raises an error: make it in the dtype of x.',
        code=r'''
def prefix_mean(x):
    n = len(x)
    blocked = torch.full((n, n), float("-inf")).triu()
    shares = F.softmax(blocked, dim=1)
    return shares.matmul(x)
''',
    ),
    dict(
        id='y-5.2-strictly-before', exercise='5.2', today='NAMED', words=('Your mask hides each word from itself, and leaves th', 'One change in line 5 would make this right: look at the comparison >.'),
        tutor='A word may see itself, so the diagonal belongs to the mask: the comparison must be "at or before", not "before". As it is, the first word may look at nothing at all.',
        code=r'''
def causal_mask(T):
    places = torch.arange(T)
    query = places.unsqueeze(1)
    key = places.unsqueeze(0)
    return query > key
''',
    ),
    dict(
        id='y-5.3-flip-the-future', exercise='5.3', today='NAMED', words=('You only put the later words in another order. Atten',),
        tutor='Turning the order of the future words around does not change their set, so a leak that adds or averages over the future (as attention without positions does) gives the same output and stays unseen; for the last t nothing changes at all. Change what the words are, not only their order.',
        code=r'''
def leaks_future(attend, x):
    rng_state = torch.get_rng_state()

    def outputs(inputs):
        torch.set_rng_state(rng_state)
        return attend(inputs)

    reference = outputs(x)
    return any(
        bool(((outputs(torch.cat([x[:t], x[t:].flip(0)]))[:t] - reference[:t]).abs() > 1e-5).any())
        for t in range(1, len(x))
    )
''',
    ),
    dict(
        id='y-5.3-detach-and-dice', exercise='5.3', today='NAMED', words=('Dropout drew other numbers in the second call, and y',),
        tutor="detach() does not copy: the new tensor shares its memory with x, so the zeros are written into the caller's x; use clone(). And each call of attend draws fresh dropout numbers, so an honest function with dropout looks like a leak: restore the state of the random generator before each call.",
        code=r'''
def leaks_future(attend, x):
    first_run = attend(x)
    scrambled = x.detach()
    verdict = False
    for cut in reversed(range(1, x.size(0))):
        scrambled[cut:] = 0
        second_run = attend(scrambled)
        gap = torch.max(torch.abs(second_run[:cut] - first_run[:cut]))
        verdict = verdict or gap.item() > 1e-5
    return verdict
''',
    ),
    dict(
        id='y-5.4-by-length', exercise='5.4', today='NAMED', words=('You counted the words and kept that many from the le',),
        tutor='Counting the words and allowing the first so many places assumes that padding is always at the end. With padding in front (or in between) real words are hidden and padding is shown. Compare each token itself with pad_id.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    lengths = tokens.ne(pad_id).sum(dim=1)
    keep = torch.arange(T).expand(B, T) < lengths.view(B, 1)
    return keep.view(B, 1, 1, T)
''',
    ),
    dict(
        id='y-5.5-one-triangle-for-all', exercise='5.5', today='NAMED', words=('allowed is a second name for causal and no copy',),
        tutor="allowed = causal does not make a copy, so each sentence writes its padding into one and the same triangle, the caller's. In the end all sentences share one mask that hides what any of them hides, and the causal mask is changed for good. Copy it, or combine by & without writing.",
        code=r'''
def combine_masks(padding, causal):
    per_sentence = []
    for keys in padding.flatten(1):
        allowed = causal
        allowed[:, ~keys] = False
        per_sentence.append(allowed)
    return torch.stack(per_sentence).unsqueeze(1)
''',
    ),
    dict(
        id='y-5.6-max-of-everything', exercise='5.6', today='NAMED', words=("The maximum that you subtract may be a hidden key's.",),
        tutor='The maximum that is subtracted runs over the hidden keys as well. If a hidden score is far larger than the allowed ones, all allowed exponentials underflow to 0 and the row comes out as zeros although it has allowed keys. Take the maximum over the allowed keys only.',
        code=r'''
def masked_softmax(scores, mask):
    top = scores.detach().max(dim=-1, keepdim=True).values
    powers = torch.exp(scores - top)
    powers = torch.where(mask, powers, torch.zeros_like(powers))
    total = powers.sum(dim=-1, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return powers / total
''',
    ),
    dict(
        id='y-5.6-float-bias', exercise='5.6', today='NAMED', words=('weights is float32; float16 is promised',),
        tutor='The bias is float32 always, so for float16 scores the sum, and with it the weights, turn into float32. The docstring promises the dtype of scores: make the bias in that dtype, or cast back.',
        code=r'''
def masked_softmax(scores, mask):
    bias = torch.zeros(mask.shape)
    bias[~mask] = torch.finfo(torch.float32).min
    weights = F.softmax(scores + bias, dim=-1)
    has_any = mask.any(dim=-1, keepdim=True)
    return torch.where(has_any & mask, weights, 0.0)
''',
    ),
    dict(
        id='y-5.7-weights-for-show', exercise='5.7', today='NAMED', words=('Your output uses the mask, and the weights beside it',),
        tutor='The output uses the mask, but the weights that are returned are computed a second time without it: they give shares to hidden keys and are not 0 in a row that may see nothing. Use the same masked weights for both.',
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
        def heads(linear, source):
            return split_heads(linear(source), self.n_heads)

        asks = heads(self.W_q, x)
        offers = heads(self.W_k, memory)
        contents = heads(self.W_v, memory)
        mixed = F.scaled_dot_product_attention(
            asks, offers, contents, attn_mask=memory_mask
        )
        similarity = torch.einsum("bhqd,bhkd->bhqk", asks, offers)
        weights = F.softmax(similarity / asks.size(-1) ** 0.5, dim=-1)
        return self.W_o(merge_heads(mixed)), weights
''',
    ),
    dict(
        id='y-6.1-undo-with-perm', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the',),
        tutor='To bring the shuffled outputs back you need the inverse order, perm.argsort(). Applying perm a second time undoes the shuffle only for orders that are their own inverse, such as a swap of two words. So for most orders an equivariant function is judged False.',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    plain = f(X)
    moved = f(torch.index_select(X, 0, perm))
    put_back = torch.index_select(moved, 0, perm)
    worst = (put_back - plain).abs().max().item()
    return worst < 1e-5
''',
    ),
    dict(
        id='y-6.2-logspace', exercise='6.2', today='NAMED', words=('Your frequencies go from 1 down to 1/10000 exactly, ',),
        tutor='logspace includes its end point, so the last wave gets exactly 1/10000 and the exponents are spread as i / (n - 1). The formula has 2i / d_model, which never reaches 1: for d_model = 4 the second frequency is 0.01, not 0.0001.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    n_waves = math.ceil(d_model / 2)
    speeds = torch.logspace(0, -4, n_waves)
    angles = torch.outer(torch.arange(max_len, dtype=torch.float32), speeds)
    both = torch.stack((angles.sin(), angles.cos()), dim=-1)
    return both.reshape(max_len, 2 * n_waves)[:, :d_model]
''',
    ),
    dict(
        id='y-6.3-textbook-rotation', exercise='6.3', today='NAMED', words=('Your matrix turns the wrong way: it moves every ', 'Your frequencies fall half as fast as those of t'),
        tutor='The blocks are the textbook rotation for (x, y), but here the sine stands first and the cosine second, so the signs of the two sines must be the other way round; as it is, M moves back instead of on. And pair number i has the exponent 2i / d_model, not i / d_model.',
        code=r'''
def shift_matrix(offset, d_model):
    def turn(pair):
        angle = offset * 10000.0 ** (-pair / d_model)
        c, s = math.cos(angle), math.sin(angle)
        return torch.tensor([[c, -s], [s, c]])

    return torch.block_diag(*[turn(pair) for pair in range(d_model // 2)])
''',
    ),
    dict(
        id='y-6.4-offset-in-radians', exercise='6.4', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='The offset is a number of positions, so it must be added before the multiplication with the frequencies. Added to the angles it turns every pair by the same offset in radians, which is right for the first pair only.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = torch.outer(torch.arange(T, dtype=x.dtype), speeds) + offset
    pairs = x.unflatten(-1, (d // 2, 2))
    a, b = pairs.unbind(dim=-1)
    real = a * angles.cos() - b * angles.sin()
    imaginary = a * angles.sin() + b * angles.cos()
    return torch.stack([real, imaginary], dim=-1).flatten(-2)
''',
    ),
    dict(
        id='y-6.4-overwritten-view', exercise='6.4', today='NAMED', words=('The second line uses the even column after it was tu',),
        tutor='left is a view into result, so after the first assignment it holds the turned number already, and the second line mixes the new left with the old right. Keep both old columns (read them from x, or clone them) before you write.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    result = x.clone()
    n, width = x.shape[-2:]
    places = torch.arange(offset, offset + n, dtype=x.dtype)
    for i in range(width // 2):
        angle = places / base ** (2 * i / width)
        left = result[..., 2 * i]
        right = result[..., 2 * i + 1]
        result[..., 2 * i] = left * angle.cos() - right * angle.sin()
        result[..., 2 * i + 1] = left * angle.sin() + right * angle.cos()
    return result
''',
    ),
    dict(
        id='y-6.5-halves-for-any-h', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right for',),
        tutor='Slopes of 1/2, 1/4, 1/8 … are right for eight heads only. The slope of head i is 2^(-8i / h): with four heads the factor from head to head is 1/4, with sixteen it is 1 / √2.',
        code=r'''
def alibi_bias(n_heads, T):
    table = torch.zeros(n_heads, T, T)
    slope = 1.0
    for head in range(n_heads):
        slope = slope / 2
        for query in range(T):
            for key in range(query + 1):
                table[head, query, key] = -slope * (query - key)
    return table
''',
    ),
    dict(
        id='y-6.6-root-of-the-width', exercise='6.6', today='NAMED', words=('You multiplied the words by √d_model = 2 first, as V',),
        tutor='The Transformer of 2017 multiplies the token vectors by the root of d_model, but this exercise asks for the plain sum of the two rows. The factor makes every token count more against its position than it should.',
        code=r'''
def embed(tokens, E, pe):
    B, T = tokens.shape
    d_model = E.shape[1]
    content = torch.nn.functional.embedding(tokens, E) * d_model ** 0.5
    place = pe[torch.arange(T)].expand(B, T, d_model)
    return content + place
''',
    ),
    dict(
        id='y-6.7-query-at-zero', exercise='6.7', today='NAMED', words=('Only the keys are turned by their places. Both must ',),
        tutor='The query is a single row, so rope takes it for position 0 each time, while the keys stand at 0 to t. The offset between query and key is then wrong: give rope offset=t for the query.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    values = X @ W_v
    outputs = []
    for t in range(len(X)):
        query = rope(X[t : t + 1] @ W_q)
        keys = rope(X[: t + 1] @ W_k)
        scores = (query @ keys.T) / W_k.shape[1] ** 0.5
        outputs.append(scores.softmax(dim=-1) @ values[: t + 1])
    return torch.cat(outputs)
''',
    ),
    dict(
        id='y-7.1-one-step-per-output', exercise='7.1', today='NAMED', words=('With letters for the sizes, your result is 2·T_q·d_v', 'One change in line 3 would make this right: look at the name T_q.'),
        tutor='The second product is counted as one multiply-add for each number of the output. But each output number is a sum over all T_k values, so it takes T_k multiply-adds.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    score_entries = T_q * T_k
    output_entries = T_q * d_v
    multiply_adds = score_entries * d_k + output_entries
    return 2 * multiply_adds
''',
    ),
    dict(
        id='y-7.2-output-once', exercise='7.2', today='NAMED', words=('With letters for the sizes, your result is 2·d_model', 'One change in line 6 would make this right: look at the number 1 in product(1, d_model, d_'),
        tutor='W_o is counted once for the whole sequence. It is applied to every word, like the other three, so its product also has T rows.',
        code=r'''
def projection_flops(T, d_model):
    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    qkv = product(T, d_model, 3 * d_model)
    output = product(1, d_model, d_model)
    return qkv + output
''',
    ),
    dict(
        id='y-7.3-half-of-each', exercise='7.3', today='NAMED', words=('You returned 3 · d_model: three projections against ', 'One change would make this right, in line 3 (look at the number 2 in 2 * d_model) or in li'),
        tutor='Two products are missing. Of the quadratic part only the scoring is counted, but mixing the values costs as much again; and of the projections only Q, K and V are counted, but W_o is the fourth. So the result is 3 · d_model and not 2 · d_model.',
        code=r'''
def crossover_length(d_model):
    # per word: a T-long row of scores against making q, k and v
    per_word_and_key = 2 * d_model
    per_word = sum(2 * d_model * d_model for _ in ("q", "k", "v"))
    return per_word / per_word_and_key
''',
    ),
    dict(
        id='y-7.4-two-known-types', exercise='7.4', today='NAMED', words=('You took 4 bytes a number, whatever itemsize says.',), slow=True,
        tutor='Only item sizes of 2 and 4 are looked up; every other one, such as 1 (8-bit numbers) or 8 (float64), silently counts as float32. Multiply the number of entries by itemsize itself.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    types = {2: torch.float16, 4: torch.float32}
    scores = torch.empty(B, H, T, T, dtype=types.get(itemsize), device="meta")
    return scores.numel() * scores.element_size()
''',
    ),
    dict(
        id='y-7.5-cov-over-var', exercise='7.5', today='NAMED', words=('np.cov divides by n − 1 and np.var by n, so your slo',),
        tutor='np.cov divides by n - 1 and np.var by n, so their quotient is too large by n / (n - 1). Use the same divisor in both (ddof=1 in var), or take both numbers from np.cov.',
        code=r'''
def fit_exponent(sizes, costs):
    log_sizes = np.log(np.asarray(sizes, dtype=float))
    log_costs = np.log(np.asarray(costs, dtype=float))
    covariance = np.cov(log_sizes, log_costs)[0, 1]
    return float(covariance / np.var(log_sizes))
''',
    ),
    dict(
        id='y-8.1-out-as-average', exercise='8.1', today='NAMED', words=('You weighed each sum of values by its total, as one ', 'With one change in line 8 they would in all: look at whether where belongs there. Or: at t'),
        tutor='Here out is the sum of exp(score − maximum) · value, not yet divided by the total. The code treats it as a finished average: it weighs each part by its total and divides by the common total. Multiply each sum by its own factor only, and add.',
        code=r'''
def merge(first, second):
    (m_a, l_a, o_a), (m_b, l_b, o_b) = first, second
    m = torch.where(m_a > m_b, m_a, m_b)
    reference = m.clamp(min=torch.finfo(m.dtype).min)
    w_a = l_a * (m_a - reference).exp()
    w_b = l_b * (m_b - reference).exp()
    l = w_a + w_b
    o = (w_a * o_a + w_b * o_b) / torch.where(l > 0, l, torch.ones_like(l))
    return m, l, o
''',
    ),
    dict(
        id='y-8.2-mean-of-means', exercise='8.2', today='NAMED', words=('Each tile has a softmax of its own, and the results ',),
        tutor='Each tile of keys gets a softmax of its own, and then the tiles are averaged as if they weighed the same. A tile with high scores must count more: carry maximum, total and sum from tile to tile with merge, and divide once at the end.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    blocks = []
    for top in range(0, Q.shape[-2], tile):
        q = Q[..., top : top + tile, :]
        row_places = torch.arange(top, top + q.shape[-2])[:, None]
        answer, n_tiles = 0.0, 0
        for left in range(0, K.shape[-2], tile):
            if causal and left > top:
                continue
            k = K[..., left : left + tile, :]
            v = V[..., left : left + tile, :]
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            if causal:
                column_places = torch.arange(left, left + k.shape[-2])
                scores = scores.masked_fill(column_places > row_places, -torch.inf)
            answer = answer + scores.softmax(dim=-1) @ v
            n_tiles += 1
        blocks.append(answer / n_tiles)
    return torch.cat(blocks, dim=-2)
''',
    ),
    dict(
        id='y-8.2-full-size-triangle', exercise='8.2', today='NAMED', words=('Your triangle has the size of a full tile, 5 × 5. Th',),
        tutor='The triangle is made once with the size of a full tile. If the length is no multiple of the tile, the last diagonal tile is smaller and the mask does not fit its scores. Cut the triangle to the size of the tile at hand.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    look_ahead = ~causal_mask(tile)
    results = []
    for a, q in enumerate(Q.split(tile, dim=-2)):
        running = nothing_seen(q, V)
        keys_and_values = zip(K.split(tile, dim=-2), V.split(tile, dim=-2), strict=True)
        for b, (k, v) in enumerate(keys_and_values):
            if causal and b > a:
                break
            s = torch.einsum("...id,...jd->...ij", q, k) / q.size(-1) ** 0.5
            if causal and a == b:
                s = s.masked_fill(look_ahead, float("-inf"))
            running = merge(running, state_of(s, v))
        _, total, weighted = running
        results.append(weighted / total)
    return torch.cat(results, -2)
''',
    ),
    dict(
        id='y-8.3-negative-start', exercise='8.3', today='NAMED', words=('For the first words the oldest place of the window, ',),
        tutor='For the first words t - window + 1 is negative, and a negative start of a slice counts from the end of the row. So these words see nothing, or wrong places. Let the start not fall below 0: max(0, …).',
        code=r'''
def window_mask(T, window):
    mask = torch.zeros((T, T), dtype=torch.bool)
    for t in range(T):
        mask[t, t - window + 1 : t + 1] = True
    return mask
''',
    ),
    dict(
        id='y-8.4-elu-of-plus-one', exercise='8.4', today='NAMED', words=('Something is added to the normaliser, such as 1e', 'In line 3, look at what comes inside the parenth'),
        tutor='φ is elu(x) + 1, not elu(x + 1): yours becomes negative for x below −1, so weights may be negative and the denominator may vanish. And 1e-6 is added to the denominator, which the docstring rules out: it makes the result too small where the weights are small.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    def feature_map(z):
        return F.elu(z + 1)

    fq, fk = feature_map(Q), feature_map(K)
    if causal:
        memory = torch.einsum("...td,...te->...tde", fk, V).cumsum(-3)
        numerator = torch.einsum("...td,...tde->...te", fq, memory)
        denominator = torch.einsum("...td,...td->...t", fq, fk.cumsum(-2))
    else:
        memory = torch.einsum("...td,...te->...de", fk, V)
        numerator = torch.einsum("...td,...de->...te", fq, memory)
        denominator = torch.einsum("...td,...d->...t", fq, fk.sum(-2))
    return numerator / (denominator.unsqueeze(-1) + 1e-6)
''',
    ),
    dict(
        id='y-8.5-turned-again', exercise='8.5', today='NAMED', words=('The keys in the cache have been turned already, and ',), slow=True,
        tutor='The cached keys have been turned already, and rope goes over the whole joined list, so with each call the old keys are turned once more. Turn the new keys only, with offset T_old, and then append them.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    def project(W):
        return split_heads(W(x_new), layer.n_heads)

    past = cache["K"].size(2)
    q = rope(project(layer.W_q), offset=past)
    k = rope(torch.cat((cache["K"], project(layer.W_k)), dim=2))
    v = torch.cat((cache["V"], project(layer.W_v)), dim=2)
    cache.update(K=k, V=v)
    query_places = torch.arange(past, k.size(2)).unsqueeze(1)
    visible = torch.arange(k.size(2)).unsqueeze(0) <= query_places
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
    return layer.W_o(merge_heads(mixed))
''',
    ),
    dict(
        id='y-8.5-new-dict', exercise='8.5', today='NAMED', words=('Your mask starts at the top left, as if the new ', 'Your mask starts at the top left, and only a sin'),
        tutor='cache = {…} gives the name to a new dict; the caller\'s dict stays as it was, so nothing is remembered: write into cache["K"] and cache["V"]. And the triangle starts at the top left, so new word n sees the first n + 1 keys only; it must be moved right by T_old.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    h = layer.n_heads
    n_old = cache["K"].shape[2]
    n_new = x_new.shape[1]
    q = rope(split_heads(layer.W_q(x_new), h), offset=n_old)
    k = rope(split_heads(layer.W_k(x_new), h), offset=n_old)
    v = split_heads(layer.W_v(x_new), h)
    cache = {
        "K": torch.cat([cache["K"], k], dim=2),
        "V": torch.cat([cache["V"], v], dim=2),
    }
    scores = torch.einsum("bhqd,bhkd->bhqk", q, cache["K"]) / q.shape[-1] ** 0.5
    visible = torch.ones(n_new, n_old + n_new, dtype=torch.bool).tril()
    weights = torch.where(visible, scores, -torch.inf).softmax(-1)
    return layer.W_o(merge_heads(weights @ cache["V"]))
''',
    ),
    dict(
        id='y-8.6-head-over-g', exercise='8.6', today='PARTLY',
        tutor='A group has h / g heads, so head i belongs to group i // (h // g); i // g is right only when h = g² and can even point beyond the last group. And mask[:, i] expects a mask with an axis for all h heads: a mask (T_q, T_k) is cut in the wrong place, and one with a single head axis raises an error. Expand the mask first.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    n_heads, n_groups = Q.shape[1], K.shape[1]
    outs = []
    for i in range(n_heads):
        group = i // n_groups
        scores = Q[:, i] @ K[:, group].transpose(1, 2) / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask[:, i].logical_not(), -torch.inf)
        outs.append(torch.softmax(scores, dim=-1) @ V[:, group])
    return torch.stack(outs, dim=1)
''',
    ),
    dict(
        id='y-8.7-one-of-the-two', exercise='8.7', today='NAMED', words=('Your number is half of what is wanted: both keys and', 'One change in line 2 would make this right: look at whether d_head is meant as it is. Or: '),
        tutor='One vector of d_head numbers is counted for each token, head and layer. Both a key and a value are kept, so it is twice as much; the default itemsize of 2 is the bytes of a number and does not stand for the two of them.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    bytes_per_head = d_head * itemsize
    bytes_per_layer = n_kv_heads * bytes_per_head
    return sum(bytes_per_layer * n_tokens for _ in range(n_layers))
''',
    ),
    dict(
        id='y-8.8-starts-at-one-layer', exercise='8.8', today='NAMED', words=('A stack of 0 layers mixes nothing: only the word its',),
        tutor='The loop starts from what one layer hears, so a stack of no layers gives window instead of 1: without a layer only the last word itself counts. Start with 1 and add window − 1 for each layer.',
        code=r'''
def reach(n_layers, window):
    heard = window
    for _ in range(1, n_layers):
        heard += window - 1
    return heard
''',
    ),
    dict(
        id='y-9.1-mean-of-squares', exercise='9.1', today='NAMED', words=('Your variance is the mean of the squares minus t', 'You added eps to the standard deviation. It belo'),
        tutor='Mean of squares minus square of mean loses its digits when the mean is large against the spread; in float32 it can even become negative, and its root NaN. Average the squared differences instead. And eps is added to the standard deviation, but it belongs to the variance, under the root.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    d = x.shape[-1]
    first_moment = x.sum(dim=-1, keepdim=True) / d
    second_moment = (x * x).sum(dim=-1, keepdim=True) / d
    sigma = (second_moment - first_moment ** 2).sqrt()
    return (x - first_moment) / (sigma + eps) * scale + shift
''',
    ),
    dict(
        id='y-9.2-norm-after', exercise='9.2', today='NAMED', words=('The norms come after the sums, as in the Transformer',),
        tutor='This is the block of 2017, with the norm after each addition. Here each half reads a normed copy of x and its result is added to x itself, which is never normed (pre-norm). Move the norms to the input of attention and feed_forward.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        hidden = 4 * d_model
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model)
        )
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        collected = self.attention(x, mask)[0]
        x = self.norm_1(x + collected)
        return self.norm_2(x + self.feed_forward(x))
''',
    ),
    dict(
        id='y-9.3-norm-in-the-loop', exercise='9.3', today='NAMED', words=('norm is applied after every block; it belongs af', 'In line 17, look at whether log_softmax belongs '),
        tutor="The last norm is applied after every block, so the rows that the skips carry on are normed each time; it belongs after the loop, once. And the head's scores go through log_softmax: logits are the plain scores (the loss does its own softmax and would not notice).",
        code=r'''
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
        length = tokens.size(1)
        stream = self.embedding(tokens)
        for block in self.blocks:
            stream = self.norm(block(stream, mask=causal_mask(length)))
        return F.log_softmax(self.head(stream), dim=-1)
''',
    ),
    dict(
        id='y-9.4-mean-per-sentence', exercise='9.4', today='NAMED', words=('You took the mean of each text and then the mean of ',),
        tutor='First each sentence is averaged and then the sentences. With padding, the tokens of a short sentence then count more than those of a long one, and a sentence with no target at all counts as a loss of 0. Add up all targets of the batch and divide by their number.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    log_p = logits[:, :-1].log_softmax(dim=-1)
    wanted = tokens[:, 1:]
    surprise = -log_p.gather(2, wanted.unsqueeze(2)).squeeze(2)
    counts = torch.ones_like(surprise)
    if pad_id is not None:
        counts = (wanted != pad_id).to(surprise.dtype)
    per_sentence = (surprise * counts).sum(dim=1) / counts.sum(dim=1).clamp(min=1)
    return per_sentence.mean()
''',
    ),
    dict(
        id='y-9.5-exactly-k', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='Writing back the k entries that topk returns keeps exactly k tokens. If others equal the smallest of these, they are dropped, and which ones is chance; the docstring keeps them. Compare all scores with the k-th largest instead.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is None:
        return F.softmax(scaled, dim=-1)
    best, where = torch.topk(scaled, top_k, dim=-1)
    return torch.zeros_like(scaled).scatter(-1, where, F.softmax(best, dim=-1))
''',
    ),
    dict(
        id='y-9.5-temperature-too-late', exercise='9.5', today='NAMED', words=('The temperature is not used: divide the logits by it.', 'k + 1 tokens stay'),
        tutor='The temperature divides the probabilities and is then cancelled by the normalisation, so it has no effect at all: it must divide the logits before the softmax. And after sorting, the k-th largest has the index top_k − 1: with top_k one token too many stays, and top_k = V raises an error.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    p = torch.softmax(logits, dim=-1) / temperature
    if top_k is not None:
        ranked, _ = p.sort(dim=-1, descending=True)
        limit = ranked[..., top_k].unsqueeze(-1)
        p = torch.where(p < limit, torch.zeros_like(p), p)
    return p / p.sum(dim=-1, keepdim=True)
''',
    ),
    dict(
        id='y-9.6-cut-for-good', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model is s',),
        tutor='The text itself is cut to max_len, not only what the model is shown. Once it is longer than that, its beginning is lost and the result has fewer than T + n_new tokens. Cut a copy for the model and append to the whole text.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    step = 0
    while step < n_new:
        if tokens.size(1) > model.max_len:
            tokens = tokens[:, -model.max_len:]
        last = model(tokens)[:, -1, :]
        tokens = torch.hstack((tokens, choose(last).unsqueeze(1)))
        step += 1
    return tokens
''',
    ),
    dict(
        id='z-0.1-nonzero-count', exercise='0.1', today='NAMED', words=('You divided by how many weights are above 0; divide ',),
        tutor='You divide by how many weights are not zero, that is by the number of values that take part. A weight says how much a value counts, so you have to divide by the sum of the weights. Try 10, 20, 60 with weights 2, 1, 1: you get 100/3 instead of 25.',
        code=r'''
def weighted_average(values, weights):
    taking_part = int(np.count_nonzero(weights))
    total = 0.0
    for value, weight in zip(values, weights):
        total += value * weight
    return total / taking_part
''',
    ),
    dict(
        id='z-0.1-inplace-then-mean', exercise='0.1', today='NAMED', words=('You divided twice, by the number of values (np.mean ',),
        tutor='Two things. `/=` changes the array of the caller (and does not work at all for whole numbers): make a new array. And once the weights sum to 1 the average is the sum of the products; .mean() divides by the number of values once more.',
        code=r'''
def weighted_average(values, weights):
    # turn the weights into shares first
    weights /= weights.sum()
    return (weights * values).mean()
''',
    ),
    dict(
        id='z-1.1-squeeze', exercise='1.1', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='The dot products are right, but np.squeeze drops every axis of length 1. With a single key the result is then a bare number of shape () and not an array (1,). Drop only the last axis, or multiply with the 1-d query directly.',
        code=r'''
def similarities(query, keys):
    column = query.reshape(-1, 1)      # (d, 1)
    result = np.matmul(keys, column)   # (n, 1)
    return np.squeeze(result)
''',
    ),
    dict(
        id='z-1.2-max-before-sharpness', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and inf/i', 'One change in line 4 would make this right: look at what is calculated first: are parenthe'),
        tutor='You subtract the maximum of the scores without the sharpness from scores with the sharpness. The largest exponent is then (s - 1) times the maximum, not 0, so a large sharpness still overflows (and a small one underflows). Multiply first, then take the maximum of what goes into the exponential.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    dots = similarities(query, keys)
    biggest = np.max(dots)
    unnormalised = np.exp(sharpness * dots - biggest)
    weights = unnormalised / np.sum(unnormalised)
    value = sum(w * v for w, v in zip(weights, values))
    return value, weights
''',
    ),
    dict(
        id='z-1.2-centre-and-mean', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and i', 'You took the mean of the weighted values. The we'),
        tutor='Subtracting the mean does not prevent overflow: one score can lie a thousand above the mean. Subtract the maximum. And the weighted values must be added up, not averaged: the weights sum to 1 already, so .mean divides by n a second time.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    z = sharpness * similarities(query, keys)
    z = z - z.mean()                    # centre for numerical stability
    e = np.exp(z)
    weights = e / e.sum()
    value = (weights[:, None] * values).mean(axis=0)
    return value, weights
''',
    ),
    dict(
        id='z-1.3-fused-equal-split', exercise='1.3', today='NAMED', words=('You cut one product into three equal parts.',),
        tutor='One product with the three matrices side by side is fine, but then you cut the result into three equal parts. W_v may have another number of columns than W_q and W_k (here 3 and 2), so the cuts must stand at d_k and 2 d_k.',
        code=r'''
def project(X, W_q, W_k, W_v):
    # one big matmul is faster than three small ones
    W = np.concatenate((W_q, W_k, W_v), axis=1)
    QKV = X @ W
    step = QKV.shape[1] // 3
    Q = QKV[:, :step]
    K = QKV[:, step:2 * step]
    V = QKV[:, 2 * step:]
    return Q, K, V
''',
    ),
    dict(
        id='z-1.4-tensordot', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every ',),
        tutor='For one sentence this is right. With a batch, tensordot pairs every sentence of Q with every sentence of K, so you get (B, T_q, B, T_k). The axes in front must go along together: use @ (matmul) or einsum with "...".',
        code=r'''
def dot_product_scores(Q, K):
    # contract the feature axis of both
    return np.tensordot(Q, K, axes=([-1], [-1]))
''',
    ),
    dict(
        id='z-1.5-old-without-plural', exercise='1.5', today='NAMED', words=('old gives books and shelf the same weight, 0.49: it ',),
        tutor='*are* works. But *old* has no number of its own (its only feature is adjective), so its query is (5, 0): it asks for any noun, and books and shelf share the weight. The adjective row of W_q itself has to ask for plural as well.',
        code=r'''
def design_projections():
    #                noun num
    W_k = np.array([[1.0, 0.0],    # noun
                    [0.0, 0.0],    # verb
                    [0.0, 0.0],    # adjective
                    [0.0, 1.0]])   # number
    W_q = np.array([[0.0, 0.0],
                    [5.0, 0.0],    # a verb looks for a noun
                    [5.0, 0.0],    # an adjective looks for a noun
                    [0.0, 5.0]])   # ... of the same number
    return W_q, W_k
''',
    ),
    dict(
        id='z-2.1-expand-last', exercise='2.1', today='NAMED', words=('[..., None] puts the axis back at the end, which is ',),
        tutor='You take maximum and sum along `axis`, but put the lost axis back at the end in every case. That fits only for axis=-1; for axis=0 the shapes clash, or for square arrays the wrong rows are paired without a warning. Put it back at `axis`, or use keepdims=True.',
        code=r'''
def softmax(x, axis=-1):
    def back(reduced):
        return np.expand_dims(reduced, -1)

    e = np.exp(x - back(x.max(axis=axis)))
    return e / back(e.sum(axis=axis))
''',
    ),
    dict(
        id='z-2.1-global-max-int-buffer', exercise='2.1', today='NAMED', words=('You subtracted one maximum for the whole array; a ro', 'With one change in line 4 they would in all: look at the dtype of zeros_like.'),
        tutor='np.zeros_like(x) has the dtype of x: for whole numbers every weight is cut down to 0 or 1. And x.max() is the maximum of the whole array; a row that lies far below it has only exponentials of 0 and gives 0/0. Use a float array and the maximum of each row.',
        code=r'''
def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    shifted = moved - x.max()
    result = np.zeros_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        e = np.exp(shifted[place])
        result[place] = e / e.sum()
    return np.moveaxis(result, -1, axis)
''',
    ),
    dict(
        id='z-2.2-dk-axis-1', exercise='2.2', today='NAMED', words=('You took axis 1 of Q for the scale. It holds the fea', 'One change in line 2 would make this right: look at the number 1 in Q.shape[1].'),
        tutor='Q.shape[1] is d_k only for a matrix. As soon as there is a batch axis in front, axis 1 is T_q (or the heads) and the scale is wrong. Count from the end: Q.shape[-1].',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[1]
    scores = np.einsum('...id,...jd->...ij', Q, K) / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -math.inf)
    weights = softmax(scores)
    out = np.einsum('...ij,...jv->...iv', weights, V)
    return out, weights
''',
    ),
    dict(
        id='z-2.2-scaled-twice-min-fill', exercise='2.2', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k = 2 (', 'With one change in line 7 they would in all: look at the value that where fills in.'),
        tutor='You divide both Q and K by the root of d_k, so the scores are divided by d_k; divide once. And a blocked score becomes the smallest score there is, which still has an exponential above 0, so blocked words keep some weight. It must be minus infinity.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    root = math.sqrt(Q.shape[-1])
    Qs, Ks = Q / root, K / root
    scores = Qs @ Ks.swapaxes(-1, -2)
    if mask is not None:
        lowest = scores.min()
        scores = np.where(mask, scores, lowest)
    attn = softmax(scores, axis=-1)
    return attn @ V, attn
''',
    ),
    dict(
        id='z-2.3-default-causal', exercise='2.3', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='Without a mask you put in a triangular one, so no word sees a later one. mask=None means that every word may look at every word. Hand the mask on as it comes.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    T = X.shape[-2]
    if mask is None:
        mask = np.tril(np.ones((T, T), dtype=bool))
    query, key, value = (X @ W for W in (W_q, W_k, W_v))
    return scaled_dot_product_attention(query, key, value, mask)
''',
    ),
    dict(
        id='z-2.4-tanh-each', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='You take the tanh of query and key separately and add the results. The formula adds the two projections first and takes one tanh of the sum. tanh(a) + tanh(b) is not tanh(a + b), and with your order query and key do not interact at all.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    hq = np.tanh(Q @ W_q)
    hk = np.tanh(K @ W_k)
    return np.array([[np.dot(v, a + b) for b in hk] for a in hq])
''',
    ),
    dict(
        id='z-2.5-scaled', exercise='2.5', today='NAMED', words=('You divided by √d_k; general scores are not scaled, ',),
        tutor='The product is right, but you divide by the root of d_k as well. The general score of Luong is plain q W kᵀ; the scale belongs to the scaled dot product. With W the identity it should be the plain dot product.',
        code=r'''
def general_scores(Q, K, W):
    d_k = K.shape[-1]
    projected = Q @ W              # (T_q, d_k)
    return projected @ K.T / math.sqrt(d_k)
''',
    ),
    dict(
        id='z-2.6-float-tiny', exercise='2.6', today='NAMED', words=('You set blocked scores to 0 (or multiplied the score', 'One change in line 7 would make this right: look at the value that where fills in.'),
        tutor='Scale and axis are mended. But np.finfo(...).tiny is the smallest positive float, practically 0, so a blocked score of about 0 is what you had before and blocked words still get weight. You want minus infinity.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        smallest = np.finfo(scores.dtype).tiny
        scores = np.where(mask, scores, smallest)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='z-2.6-power-precedence-axis-1', exercise='2.6', today='NAMED', words=('The softmax runs along axis 1. That is right for', 'You divided by half of d_k; the square root is w'),
        tutor='d_k ** 1/2 is (d_k ** 1) / 2, half of d_k and not its root: write d_k ** 0.5 or math.sqrt. And axis=1 is the axis of the keys only without a batch; with a batch it is another one. The keys are the last axis, -1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / (d_k ** 1/2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='z-3.1-normal-shortcut', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='You draw the sum itself from a normal distribution with the right spread. That is only its limit for large d_k: a product of two normals is not normal, and for d_k = 1 there are far more numbers near 0 and far out. Draw queries and keys and multiply them.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # mean 0, and variance d_k because the variances add up
    sigma = np.sqrt(d_k)
    return rng.normal(loc=0.0, scale=sigma, size=n)
''',
    ),
    dict(
        id='z-3.2-boolean-index-flattens', exercise='3.2', today='NAMED', words=('You added up everything into one number; each row ha',),
        tutor='weights[weights > 0] returns a flat array, so the rows are lost and you get one number for all of them. For a single row it is right. Keep the shape: replace the zeros with np.where, and sum along the last axis.',
        code=r'''
def entropy(weights):
    positive = weights[weights > 0]
    return -(positive * np.log(positive)).sum(axis=-1)
''',
    ),
    dict(
        id='z-3.3-diagonal-minus-outer-twice', exercise='3.3', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='Off the diagonal it is right. On the diagonal you write p(1 - p), which already holds the -p², and then subtract all products again, the p_i p_i included. Start from a diagonal of p alone. Check: each row of J must sum to 0.',
        code=r'''
def softmax_jacobian(p):
    n = p.shape[-1]
    same = np.eye(n, dtype=p.dtype)
    on_diagonal = (p * (1 - p))[..., None] * same
    products = np.einsum('...i,...j->...ij', p, p)
    return on_diagonal - products
''',
    ),
    dict(
        id='z-3.4-diagonal-only', exercise='3.4', today='NAMED', words=("You used only the Jacobian's diagonal, p (1 − p), as",),
        tutor='p(1 - p) is only the diagonal of the Jacobian, as for a sigmoid. A score moves the other weights too, because they share one sum. Take the mean of the gradient under the weights from it, and then multiply by the weights.',
        code=r'''
def softmax_backward(weights, d_weights):
    local = weights * (1.0 - weights)   # derivative of softmax
    return local * d_weights            # chain rule
''',
    ),
    dict(
        id='z-3.4-plain-mean-new-axis', exercise='3.4', today='NAMED', words=('You subtracted the plain mean of the gradients; it s', 'With one change in line 3 they would in all: look at where that index puts the new axis wh'),
        tutor='The number to subtract is the mean of the gradient under the weights, Σ p_j g_j; you take the plain mean, which is the same only for equal weights. And [:, None] puts the lost axis back only for a matrix: not for one row, nor for a batch. Use keepdims=True.',
        code=r'''
def softmax_backward(weights, d_weights):
    average = np.mean(d_weights, axis=-1)
    centred = d_weights - average[:, None]
    return weights * centred
''',
    ),
    dict(
        id='z-4.1-interleaved', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h …; h',),
        tutor='You cut the features into (d_k, h) and not (h, d_k). So head i gets every h-th feature, i, i + h, ..., in place of its d_k neighbours. Swap the two numbers in the reshape and adapt the permutation.',
        code=r'''
def split_heads(x, n_heads):
    batch, length, width = x.size()
    per_head = width // n_heads
    parts = x.reshape(batch, length, per_head, n_heads)
    return parts.permute(0, 3, 1, 2)
''',
    ),
    dict(
        id='z-4.1-zeros-default-dtype', exercise='4.1', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='The features are where they belong, but torch.zeros makes float32 whatever x is. Doubles lose digits and whole numbers become floats. Give it dtype=x.dtype (x.new_zeros does), or reshape x itself.',
        code=r'''
def split_heads(x, n_heads):
    B, T, d_model = x.shape
    size = d_model // n_heads
    heads = torch.zeros(B, n_heads, T, size)
    for i in range(n_heads):
        heads[:, i] = x[:, :, i * size:(i + 1) * size]
    return heads
''',
    ),
    dict(
        id='z-4.2-squeeze-all', exercise='4.2', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='squeeze() without an axis drops every axis of length 1, not only that of the head. With a batch of one or a text of one word, the batch or the word axis is lost as well. Use squeeze(1), or x.unbind(1).',
        code=r'''
def merge_heads(x):
    pieces = x.split(1, dim=1)                   # h times (B, 1, T, d_k)
    pieces = [piece.squeeze() for piece in pieces]
    return torch.cat(pieces, dim=-1)
''',
    ),
    dict(
        id='z-4.3-dropout-on-out', exercise='4.3', today='NAMED', words=('Dropout falls on single features, of the values or o',),
        tutor='Dropout stands on the output of W_o. The exercise wants it on the weights, after the softmax and before they meet V; the returned weights stay as they were. In eval mode there is no difference, so test in training mode.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                "d_model {} cannot be divided by n_heads {}".format(d_model, n_heads))
        self.h = n_heads
        self.scale = (d_model // n_heads) ** -0.5
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.h)
        k = split_heads(self.W_k(x), self.h)
        v = split_heads(self.W_v(x), self.h)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        attn = torch.softmax(scores, dim=-1)
        merged = merge_heads(attn @ v)
        return self.drop(self.W_o(merged)), attn
''',
    ),
    dict(
        id='z-4.3-functional-dropout-bare-message', exercise='4.3', today='NAMED', words=('In the case “d_model = 10 and three heads”, the ', 'Dropout stays on in eval mode: nn.functional.dro'),
        tutor='F.dropout has training=True by default, so your module drops weights in eval mode too: pass training=self.training or use nn.Dropout. And the message of the ValueError must name both numbers, for example 10 and 3.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.p = dropout
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, _ = x.shape

        def heads(layer):
            return layer(x).view(B, T, self.n_heads, self.d_k).transpose(1, 2)

        Q, K, V = heads(self.W_q), heads(self.W_k), heads(self.W_v)
        scores = torch.matmul(Q, K.transpose(2, 3)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = nn.functional.softmax(scores, dim=-1)
        context = torch.matmul(nn.functional.dropout(weights, self.p), V)
        context = context.transpose(1, 2).contiguous().view(B, T, self.d_model)
        return self.W_o(context), weights
''',
    ),
    dict(
        id='z-4.4-shared-storage', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training one ',),
        tutor='Numbers, dtype and dropout are right, but nothing is copied: chunk returns views, and .data = ... lets both modules use the same memory. A training step of one changes the other. Use copy_ or clone().',
        code=r'''
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, dropout=mha.dropout)
    wq, wk, wv = torch.chunk(mha.in_proj_weight.detach(), 3, dim=0)
    ours.W_q.weight.data = wq
    ours.W_k.weight.data = wk
    ours.W_v.weight.data = wv
    ours.W_o.weight.data = mha.out_proj.weight.detach()
    return ours
''',
    ),
    dict(
        id='z-10.1-bias-before-W_o', exercise='10.1', today='NAMED', words=('You added b_o before W_o. A bias follows its product',),
        tutor='b_o is added to the merged heads before they go through W_o, so W_o transforms it too. Each bias is added right after its own product: multiply by W_o.T first, then add b_o.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def linear(inp, W, b):
        return torch.einsum('bti,oi->bto', inp, W) + b

    q = split_heads(linear(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(linear(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(linear(x, layer.W_v, layer.b_v), n_heads)
    logits = torch.matmul(q, k.mT) / math.sqrt(k.size(-1))
    if mask is not None:
        logits = torch.where(mask, logits, float('-inf'))
    weights = F.softmax(logits, dim=-1)
    context = merge_heads(torch.matmul(weights, v))
    out = (context + layer.b_o) @ layer.W_o.T
    return out, weights
''',
    ),
    dict(
        id='z-10.2-all-pairs-index', exercise='10.2', today='NAMED', words=("weights[..., verb, subject] takes every sentence's p",),
        tutor='weights[..., verb, subject] looks up the places of all N sentences in every sentence, so you average over N times N pairs. Sentence n must be asked only for its own places: index the first axis with torch.arange(N) as well, or loop with zip.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    to_subject = weights[..., verb, subject]
    to_other = weights[..., verb, other]
    better = (to_subject > to_other).to(torch.float32)
    return better.mean(dim=(0, -1))
''',
    ),
    dict(
        id='z-10.3-first-n-tokens', exercise='10.3', today='NAMED', words=('You took the first rows of each text, as many as it ',),
        tutor='You count the tokens of a text and then take its first n rows. That is right only if all padding stands at the end; the mask may also be False at the start or in between. Choose the rows with the mask itself: text[row].',
        code=r'''
def mean_pool(hidden, mask):
    lengths = mask.sum(dim=1).tolist()
    pooled = [text[:n].mean(dim=0) for text, n in zip(hidden, lengths)]
    return torch.stack(pooled)
''',
    ),
    dict(
        id='z-10.4-argsort-tail', exercise='10.4', today='NAMED', words=('The right rows come in the wrong order: the largest ',),
        tutor='The right k rows are found, but argsort goes upwards, so the last k stand with the smallest cosine first. The largest should come first: descending=True and [:k], or flip.',
        code=r'''
def search(query, corpus, k):
    cosines = F.cosine_similarity(corpus, query.unsqueeze(0), dim=1)
    order = torch.argsort(cosines)
    best = order[-k:]
    return best, cosines[best]
''',
    ),
    dict(
        id='z-10.4-query-raw-swapped', exercise='10.4', today='NAMED', words=('The order is right, but these are not cosines: t', 'You returned (cosines, indices), as topk does; ('),
        tutor='Only the corpus is normalised. The order does not suffer, but the numbers are cosines times the length of the query: divide the query by its norm too. And topk gives values first; the exercise returns the indices first.',
        code=r'''
def search(query, corpus, k):
    unit_rows = F.normalize(corpus, dim=1)
    scores = torch.einsum('nd,d->n', unit_rows, query)
    values, places = torch.topk(scores, k)
    return values, places
''',
    ),
    dict(
        id='z-5.1-halved-update', exercise='5.1', today='NAMED', words=('You averaged the mean so far with the new word, half',),
        tutor='The mean is updated as (old mean + new word) / 2, so the newest word always gets half of the weight and the first ones ever less. In a mean of t + 1 words each counts 1 / (t + 1); compare row 2 with x[:3].mean(dim=0).',
        code=r'''
def prefix_mean(x):
    running = x[0]
    result = [running]
    for word in x[1:]:
        running = (running + word) / 2
        result.append(running)
    return torch.stack(result)
''',
    ),
    dict(
        id='z-5.2-aliased-rows', exercise='5.2', today='NAMED', words=('Everything is allowed in your mask', 'holds one and the same row T times'),
        tutor='[[False] * T] * T holds the same row T times, so every True that you write lands in all rows, and in the end everything is allowed. Make a new list for each row, or fill a tensor.',
        code=r'''
def causal_mask(T):
    table = [[False] * T] * T
    for i in range(T):
        for j in range(T):
            if j <= i:
                table[i][j] = True
    return torch.tensor(table, dtype=torch.bool)
''',
    ),
    dict(
        id='z-5.3-cut-off', exercise='5.3', today='NAMED', words=('You compared with the outputs of a shorter sentence,',),
        tutor='You cut the future off instead of changing it. A shorter sentence draws other dropout numbers and one function refuses a single word, so honest functions fail. Keep all T words and overwrite rows t and later in a copy.',
        code=r'''
def leaks_future(attend, x):
    T = len(x)
    rng = torch.get_rng_state()
    full = attend(x)
    for t in range(1, T):
        torch.set_rng_state(rng)
        prefix_only = attend(x[:t])
        gap = torch.abs(prefix_only - full[:t]).max().item()
        if gap > 1e-5:
            return True
    return False
''',
    ),
    dict(
        id='z-5.3-signed-mean-no-seed', exercise='5.3', today='NAMED', words=('Dropout drew other numbers', 'You took the mean of differences with their sign'), slow=True,
        tutor='The mean of signed differences can cancel out, or be negative, although outputs have moved: take the absolute value and the maximum. And two calls of a function with dropout draw different numbers, so reset the state of the generator before each call.',
        code=r'''
def leaks_future(attend, x):
    reference = attend(x)
    verdicts = []
    for t in range(1, x.shape[0]):
        disturbed = torch.cat([x[:t], 2 * x[t:] + 3])
        delta = attend(disturbed)[:t] - reference[:t]
        verdicts.append(bool(delta.mean() > 1e-5))
    return any(verdicts)
''',
    ),
    dict(
        id='z-5.4-by-length', exercise='5.4', today='NAMED', words=('You counted the words and kept that many from the le',),
        tutor='You count the words and allow that many places from the left. This is right only if the padding stands at the end; with padding in front it hides words and shows padding. Compare each token with pad_id where it stands.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    lengths = (tokens != pad_id).sum(dim=1)          # words per sentence
    mask = torch.arange(T).expand(B, T) < lengths.unsqueeze(1)
    return mask.view(B, 1, 1, T)
''',
    ),
    dict(
        id='z-5.5-xnor', exercise='5.5', today='NAMED', words=('You allowed a pair where the two masks agree, so als',),
        tutor='== is True wherever the two masks agree, also where both say no. A pair that is forbidden by both becomes allowed. You want True only where both are True, which is &.',
        code=r'''
def combine_masks(padding, causal):
    B, T = padding.shape[0], causal.shape[0]
    p = padding.expand(B, 1, T, T)
    c = causal.expand(B, 1, T, T)
    return p == c
''',
    ),
    dict(
        id='z-5.6-max-of-hidden', exercise='5.6', today='NAMED', words=("The maximum that you subtract may be a hidden key's.",),
        tutor='The maximum that you subtract is taken over all keys, hidden ones included. If a hidden score is much larger than the allowed ones, all their exponentials underflow to 0 and a row that may look somewhere gets zeros. Take the maximum over the allowed keys.',
        code=r'''
def masked_softmax(scores, mask):
    top = scores.amax(dim=-1, keepdim=True).detach()
    e = torch.exp(scores - top)
    e = torch.where(mask, e, torch.zeros_like(e))
    Z = e.sum(dim=-1, keepdim=True)
    Z = torch.where(Z == 0, torch.ones_like(Z), Z)
    return e / Z
''',
    ),
    dict(
        id='z-5.6-in-place-float32', exercise='5.6', today='PARTLY',
        tutor='masked_fill_ with the underscore writes −∞ into the scores of the caller; use masked_fill. And softmax with dtype=torch.float32 returns float32 whatever came in, but the weights must have the dtype of the scores.',
        code=r'''
def masked_softmax(scores, mask):
    nothing = ~mask.any(dim=-1, keepdim=True)
    scores.masked_fill_(~mask, float("-inf"))
    safe = scores.masked_fill(nothing, 0.0)
    p = F.softmax(safe, dim=-1, dtype=torch.float32)   # half is too coarse
    return p.masked_fill(nothing, 0.0)
''',
    ),
    dict(
        id='z-5.7-reshape-merge', exercise='5.7', today='NAMED', words=('You joined the heads by a reshape alone, so that one',),
        tutor='The heads stand at (B, h, T_q, d_k). reshape to (B, T_q, d_model) without bringing the head axis next to d_k first mixes up words and heads. Transpose axes 1 and 2 before, or use merge_heads.',
        code=r'''
class CrossAttention(nn.Module):
    """Scaled attention in h heads: one sequence asks and another answers."""

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
        B, T_q, d_model = x.shape
        d_head = d_model // self.n_heads

        def heads_of(layer, sequence):
            y = layer(sequence)
            return y.view(B, sequence.size(1), self.n_heads, d_head).transpose(1, 2)

        q = heads_of(self.W_q, x)
        k = heads_of(self.W_k, memory)
        v = heads_of(self.W_v, memory)
        att = torch.einsum("bhqd,bhkd->bhqk", q, k) / d_head ** 0.5
        if memory_mask is None:
            att = att.softmax(-1)
        else:
            att = masked_softmax(att, memory_mask)
        y = torch.einsum("bhqk,bhkd->bhqd", att, v)
        y = y.reshape(B, T_q, d_model)
        return self.W_o(y), att
''',
    ),
    dict(
        id='z-6.1-perm-for-inverse', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the',),
        tutor='To undo a shuffle you need the inverse order, but you apply the same perm a second time. That undoes it only if perm swaps words in pairs. Use perm.argsort(), or compare f(X[perm]) with f(X)[perm].',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    plain = f(X)
    shuffled = f(X[perm])
    put_back = shuffled[perm]          # undo the shuffling
    return bool((plain - put_back).abs().max() < 1e-5)
''',
    ),
    dict(
        id='z-6.2-concatenated-odd', exercise='6.2', today='PARTLY', slow=True,
        tutor='You put all sines on the left and all cosines on the right; the docstring wants sine and cosine of a pair side by side, in columns 2i and 2i + 1. And with an odd width d_model // 2 pairs give one column too few, and frequencies that are a little off: there is one more sine than cosines.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    depth = d_model // 2
    positions = np.arange(max_len)[:, np.newaxis]        # (pos, 1)
    depths = np.arange(depth)[np.newaxis, :] / depth     # (1, depth)
    angle_rates = 1 / (10000 ** depths)
    angle_rads = positions * angle_rates                 # (pos, depth)
    pos_encoding = np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1)
    return torch.tensor(pos_encoding, dtype=torch.float32)
''',
    ),
    dict(
        id='z-6.3-power-of-one-step', exercise='6.3', today='NAMED', words=('look at int(offset). It cuts off what stands after the point.',),
        tutor='A power of the one-step matrix works for whole steps only: int(offset) cuts half a step off. Turn each pair by offset times its frequency directly; then fractions need nothing special.',
        code=r'''
def shift_matrix(offset, d_model):
    def step(omega):
        c, s = math.cos(omega), math.sin(omega)
        return torch.tensor([[c, s], [-s, c]], dtype=torch.float64)

    omegas = [10000 ** (-two_i / d_model) for two_i in range(0, d_model, 2)]
    one = torch.block_diag(*(step(w) for w in omegas))
    # offset steps = the one-step matrix multiplied offset times
    return torch.linalg.matrix_power(one, int(offset)).float()
''',
    ),
    dict(
        id='z-6.4-complex-llama', exercise='6.4', today='NAMED', words=('Two changes together would make this right. In line ',), slow=True,
        tutor='arange(offset, T) ends at T, so with an offset there are too few positions: the rows stand at offset to offset + T − 1. And x.float() makes the result float32 whatever x was; the docstring promises the dtype of x.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    t = torch.arange(offset, T).float()
    freqs = torch.outer(t, freqs)
    freqs_cis = torch.polar(torch.ones_like(freqs), freqs)
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(x_ * freqs_cis).flatten(-2)
''',
    ),
    dict(
        id='z-6.5-key-position-only', exercise='6.5', today='NAMED', words=("Your bias grows with the key's number, the same in e",),
        tutor='Your bias is slope · k and does not know the query at all. After a softmax that makes no difference, since each row is off by a constant, but the exercise asks for minus slope times the distance |q − k|: the diagonal must be 0 and everything before it negative.',
        code=r'''
def alibi_bias(n_heads, T):
    ratio = 2.0 ** (-8.0 / n_heads)
    slopes = torch.tensor([ratio ** (i + 1) for i in range(n_heads)])
    keys = torch.arange(T, dtype=torch.float32)
    bias = torch.outer(slopes, keys)              # (h, T_k)
    return bias.unsqueeze(1).repeat(1, T, 1)
''',
    ),
    dict(
        id='z-6.6-flattened-batch', exercise='6.6', today='NAMED', words=('Your positions count on through the batch, so the se',),
        tutor='After flattening, positions count on through the whole batch, so the second sentence starts at position T instead of 0 (and pe may run out of rows). Every sentence starts at row 0 of pe: let pe[:T] broadcast over the batch.',
        code=r'''
def embed(tokens, E, pe):
    B, T = tokens.shape
    ids = tokens.reshape(-1)
    vectors = torch.index_select(E, 0, ids)
    vectors = vectors + pe[: len(ids)]
    return vectors.reshape(B, T, -1)
''',
    ),
    dict(
        id='z-6.7-rope-before-projection', exercise='6.7', today='NAMED', words=('You turned X before it was projected, and W_q and W_',),
        tutor='You turn the words before they are projected. W_q and W_k then mix the turned columns, and the score no longer depends on the offset alone. Project first, then turn queries and keys.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    placed = rope(X)                      # words that know their place
    q, k, v = placed @ W_q, placed @ W_k, X @ W_v
    out = scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)
    return out[0]
''',
    ),
    dict(
        id='z-7.1-one-add-fewer', exercise='7.1', today='NAMED', words=('You counted one addition fewer than products in each',),
        tutor='You count n products and n − 1 additions for a sum of n terms. The exercise counts every multiply-add as 2 FLOPs, the first one of a sum included: 2 · d_k for each score, 2 · T_k for each number of the output.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    def matmul(rows, inner, columns):
        multiplications = inner
        additions = inner - 1
        return rows * columns * (multiplications + additions)

    return matmul(T_q, d_k, T_k) + matmul(T_q, T_k, d_v)
''',
    ),
    dict(
        id='z-7.2-qkv-macs', exercise='7.2', today='NAMED', words=('You counted multiply-adds as one. A multiplicati', 'You counted three projections. After the heads a'),
        tutor='W_o is missing: there are four projections, the last joins the heads. And you count multiply-adds; each of them is 2 FLOPs.',
        code=r'''
def projection_flops(T, d_model):
    # Q, K, V come from one big matrix (d_model, 3 d_model)
    inputs = d_model
    outputs = 3 * d_model
    return T * inputs * outputs
''',
    ),
    dict(
        id='z-7.3-doubling', exercise='7.3', today='NAMED', words=('You tried powers of two only, and took the first tha',),
        tutor='Your search doubles T, so it stops at the first power of two that is long enough: 2048 for width 768, though the costs are equal at 1536. Set 4 · T² · d_model equal to 8 · T · d_model² and solve for T.',
        code=r'''
def crossover_length(d_model):
    length = 1
    while attention_flops(length, length, d_model, d_model) < projection_flops(length, d_model):
        length *= 2
    return length
''',
    ),
    dict(
        id='z-7.4-lower-triangle', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='You count only the pairs that a causal mask would allow. Self-attention makes all T · T scores of each head, masked or not, and all of them take memory.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = sum(t + 1 for t in range(T))   # word t scores itself and those before
    return itemsize * pairs * H * B
''',
    ),
    dict(
        id='z-7.5-ddof', exercise='7.5', today='NAMED', words=('np.cov divides by n − 1 and np.var by n, so your slo',),
        tutor='np.cov divides by n − 1 and np.var by n, so the slope comes out too large by the factor n / (n − 1). Use the same divisor in both (ddof=1), or np.polyfit.',
        code=r'''
def fit_exponent(sizes, costs):
    lx = np.log(np.asarray(sizes, dtype=float))
    ly = np.log(np.asarray(costs, dtype=float))
    beta = np.cov(lx, ly)[0, 1] / np.var(lx)
    return float(beta)
''',
    ),
    dict(
        id='z-8.1-anchor-returned', exercise='8.1', today='NAMED', words=('nothing seen means −∞, not 0',),
        tutor='The 0 that replaces −∞ belongs in the factors only. You return it as the maximum, so a query that has seen nothing claims a maximum of 0, and what is merged with it later is measured against 0. Its maximum must stay −∞.',
        code=r'''
def merge(first, second):
    m1, l1, o1 = first
    m2, l2, o2 = second
    m = torch.max(m1, m2)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)  # avoid -inf - -inf
    a = (m1 - m).exp()
    b = (m2 - m).exp()
    return m, a * l1 + b * l2, a * o1 + b * o2
''',
    ),
    dict(
        id='z-8.2-normalised-inside', exercise='8.2', today='NAMED', words=('You divided by the total at every tile of keys, and ',),
        tutor='You divide by the total after every tile of keys and carry the quotient on. The next merge then adds a mean to a sum. The sum must stay a sum until the last tile; divide once, after the inner loop.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    d_k = Q.shape[-1]
    outputs = []
    for q_start in range(0, Q.shape[-2], tile):
        q = Q[..., q_start : q_start + tile, :]
        m, l, acc = nothing_seen(q, V)
        last = q_start + 1 if causal else K.shape[-2]
        for k_start in range(0, last, tile):
            k = K[..., k_start : k_start + tile, :]
            v = V[..., k_start : k_start + tile, :]
            s = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(d_k)
            if causal and k_start == q_start:
                s = s.masked_fill(~causal_mask(s.shape[-1]), float("-inf"))
            m, l, acc = merge((m, l, acc), state_of(s, v))
            acc = acc / l
        outputs.append(acc)
    return torch.cat(outputs, dim=-2)
''',
    ),
    dict(
        id='z-8.2-whole-tiles-unscaled', exercise='8.2', today='NAMED', words=('The scores are not scaled: divide by √d_k = 2, a', 'The number of tiles is rounded down, so the last'),
        tutor='T // tile counts whole tiles only, so the words of a smaller last tile are dropped, as queries and as keys. And the scores are not divided by √d_k.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    n_q = Q.shape[-2] // tile
    n_k = K.shape[-2] // tile

    def block(M, n):
        return M[..., n * tile : (n + 1) * tile, :]

    def one_row(a):
        q = block(Q, a)
        state = nothing_seen(q, V)
        for b in range(n_k):
            if causal and b > a:
                continue
            scores = q @ block(K, b).transpose(-1, -2)
            if causal and a == b:
                scores = scores.masked_fill(~causal_mask(tile), -math.inf)
            state = merge(state, state_of(scores, block(V, b)))
        return state[2] / state[1]

    return torch.cat([one_row(a) for a in range(n_q)], dim=-2)
''',
    ),
    dict(
        id='z-8.3-negative-slice', exercise='8.3', today='NAMED', words=('For the first words the oldest place of the window, ',),
        tutor='For the first words i − window + 1 is negative, and Python counts a negative start from the end: the slice is empty or starts in the wrong place. Begin at max(0, i − window + 1).',
        code=r'''
def window_mask(T, window):
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        allowed[i, i - window + 1 : i + 1] = True
    return allowed
''',
    ),
    dict(
        id='z-8.4-before-update-eps', exercise='8.4', today='NAMED', words=("Each word's own key and value come into the runn", 'Something is added to the normaliser, such as 1e'),
        tutor='In the causal loop you read the state before the word itself has been added, so word i sees only the words before it and the first sees nothing. And the 1e-6 in the denominator is not in the formula: with very negative features the true denominator is just as small, and the result is wrong.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    def phi(z):
        return F.elu(z) + 1

    eps = 1e-6
    q, k = phi(Q), phi(K)
    if not causal:
        kv = torch.einsum("...kd,...kv->...dv", k, V)
        z = torch.einsum("...qd,...d->...q", q, k.sum(dim=-2)) + eps
        return torch.einsum("...qd,...dv->...qv", q, kv) / z[..., None]

    S = torch.zeros(*K.shape[:-2], K.shape[-1], V.shape[-1], dtype=V.dtype)
    n = torch.zeros(*K.shape[:-2], K.shape[-1], dtype=K.dtype)
    rows = []
    for t in range(K.shape[-2]):
        qt, kt, vt = q[..., t, :], k[..., t, :], V[..., t, :]
        numerator = torch.einsum("...d,...dv->...v", qt, S)
        denominator = (qt * n).sum(-1, keepdim=True) + eps
        rows.append(numerator / denominator)
        S = S + kt[..., :, None] * vt[..., None, :]
        n = n + kt
    return torch.stack(rows, dim=-2)
''',
    ),
    dict(
        id='z-8.5-raw-keys-stored', exercise='8.5', today='NAMED', words=('The cache is to hold keys that are turned. Yours sto',),
        tutor='You store the keys unturned and turn the whole row of keys again in every call. The cache that you are given already holds turned keys, and must hold them afterwards, so old keys are turned twice. Turn only the new keys, with offset T_old, and then append.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    q = split_heads(layer.W_q(x_new), layer.n_heads)
    k = split_heads(layer.W_k(x_new), layer.n_heads)
    v = split_heads(layer.W_v(x_new), layer.n_heads)
    past = cache["K"].size(2)
    cache["K"] = torch.cat((cache["K"], k), dim=2)
    cache["V"] = torch.cat((cache["V"], v), dim=2)

    q = rope(q, offset=past)
    keys = rope(cache["K"])               # positions 0, 1, 2, ...
    total = keys.size(2)
    allowed = torch.ones(total - past, total, dtype=torch.bool).tril(diagonal=past)
    scores = (q @ keys.transpose(2, 3)) / math.sqrt(q.size(-1))
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return layer.W_o(merge_heads(weights @ cache["V"]))
''',
    ),
    dict(
        id='z-8.5-rebound-unmasked', exercise='8.5', today='NAMED', words=('Nothing is hidden. That is right for one new wor', 'In line 11, look at what cache is after that lin'),
        tutor='cache = {...} makes a new dict under a local name; the caller\'s stays as short as it was. Assign to cache["K"] and cache["V"]. And without a mask the words of one piece see each other\'s future: new word n may see keys up to T_old + n.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    old_k, old_v = cache["K"], cache["V"]
    start = old_k.shape[-2]

    def heads(linear):
        return split_heads(linear(x_new), layer.n_heads)

    q = rope(heads(layer.W_q), offset=start)
    k = torch.cat([old_k, rope(heads(layer.W_k), offset=start)], dim=-2)
    v = torch.cat([old_v, heads(layer.W_v)], dim=-2)
    cache = {"K": k, "V": v}
    # everything in the cache is past, so no mask is needed
    out = F.scaled_dot_product_attention(q, k, v)
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='z-8.6-divide-by-g', exercise='8.6', today='NAMED', words=('Head i takes the keys of head i // g in yours. h / g',),
        tutor='A group has h / g heads, so head i uses the keys i // (h // g). You divide by g, the number of groups; that is right only if both are equal, and with g = 1 the index runs out of range.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g = K.size(1)
    scores = torch.stack(
        [Q[:, i] @ K[:, i // g].transpose(1, 2) for i in range(h)], dim=1
    ) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.stack([weights[:, i] @ V[:, i // g] for i in range(h)], dim=1)
''',
    ),
    dict(
        id='z-8.7-queries-too', exercise='8.7', today='NAMED', words=('You counted three tensors per head. Queries are not ',),
        tutor='Queries are not kept: a query is used once, for its own word, and never again. Only keys and values stay in the cache, so the factor is 2 and not 3.',
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    width = n_kv_heads * d_head
    per_layer = 0
    for part in ("Q", "K", "V"):
        per_layer += n_tokens * width * itemsize
    return n_layers * per_layer
''',
    ),
    dict(
        id='z-8.8-no-layers', exercise='8.8', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='With no layers the last output is the last word itself, so one word is heard and not none. Begin with that one word and let each layer add window − 1.',
        code=r'''
def reach(n_layers, window):
    if n_layers == 0:
        return 0
    if n_layers == 1:
        return window
    return reach(n_layers - 1, window) + window - 1
''',
    ),
    dict(
        id='z-9.1-std-plus-eps', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='x.std divides by d − 1; the variance of a layer norm divides by d (correction=0). And eps belongs to the variance, under the root, not to the standard deviation.',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    sigma = x.std(-1, keepdim=True)
    return scale * (x - mu) / (sigma + eps) + shift
''',
    ),
    dict(
        id='z-9.2-feeds-on-found', exercise='9.2', today='NAMED', words=('One change in line 13 would make this right: look at',),
        tutor='The feed-forward network reads only what attention has found. It should read a normed copy of the new x, the sum of the input and what was found.',
        code=r'''
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        hidden = 4 * d_model
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model)
        )
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attended = self.attention(self.norm_1(x), mask)[0]
        thought = self.feed_forward(self.norm_2(attended))
        return x + attended + thought
''',
    ),
    dict(
        id='z-9.3-mask-of-max-len', exercise='9.3', today='NAMED', words=('the sizes 13 (max_len) and 7 (T) do not line up',),
        tutor='The mask is always max_len wide, so any text shorter than that does not fit to it. Build it for the length of the tokens, or cut the stored one to [:T, :T].',
        code=r'''
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
        self.register_buffer("mask", causal_mask(max_len), persistent=False)

    def forward(self, tokens):
        h = self.embedding(tokens)
        for blk in self.blocks:
            h = blk(h, self.mask)
        h = self.norm(h)
        return self.head(h)
''',
    ),
    dict(
        id='z-9.4-mean-of-means', exercise='9.4', today='NAMED', words=('You took the mean of each text and then the mean of ',),
        tutor='You average within each sentence and then over the sentences, so a target in a short sentence counts more than one in a long sentence. The mean runs over all targets alike: divide the sum of all losses by the number of all targets.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    per_sentence = []
    for scores, ids in zip(logits, tokens):
        log_p = F.log_softmax(scores[:-1], dim=-1)
        goal = ids[1:]
        nll = -log_p.gather(1, goal[:, None])[:, 0]
        if pad_id is not None:
            nll = nll[goal != pad_id]
        if len(nll) > 0:
            per_sentence.append(nll.mean())
    return torch.stack(per_sentence).mean()
''',
    ),
    dict(
        id='z-9.5-ties-dropped', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='You keep exactly the k places that topk returns. Tokens that equal the smallest of them must stay as well; compare all scores with that smallest value instead of using the indices.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    scaled = logits / temperature
    if top_k is None:
        return F.softmax(scaled, dim=-1)
    values, indices = torch.topk(scaled, top_k, dim=-1)
    probs = torch.zeros_like(scaled)
    return probs.scatter(-1, indices, F.softmax(values, dim=-1))
''',
    ),
    dict(
        id='z-9.6-cut-once', exercise='9.6', today='NAMED', words=('You cut the text once, before the loop. What the mod',),
        tutor='You cut the text once, before the loop. The context then grows with every new token, and the model soon sees more than max_len of them. Cut in every round.',
        code=r'''
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    context = tokens[:, -model.max_len:]
    added = []
    for step in range(n_new):
        next_logits = model(context)[:, -1, :]
        next_id = choose(next_logits).unsqueeze(-1)
        added.append(next_id)
        context = torch.cat((context, next_id), dim=-1)
    return torch.cat([tokens] + added, dim=1)
''',
    ),
    dict(
        id='c-5.1-running-halves', exercise='5.1', today='NAMED', words=('You averaged the mean so far with the new word, half',),
        tutor='You take the mean of the previous mean and the new word, so the newest word always counts one half and the oldest ones fade away. In a prefix mean all words count equally: the previous mean already stands for t words, so it has to weigh t times as much.',
        code=r'''
def prefix_mean(x):
    means = [x[0]]
    for word in x[1:]:
        means.append((means[-1] + word) / 2)
    return torch.stack(means)
''',
    ),
    dict(
        id='c-5.2-loop-slice', exercise='5.2', today='NAMED', words=('Your mask hides each word from itself, and leave', "Your mask holds numbers, 0 and 1; the course's m"),
        tutor='The slice :t ends before t, so no word may see itself and the first row is empty; it must be :t + 1. And torch.zeros makes floating point numbers: the mask must be bool (dtype=torch.bool), or ~ does not work on it.',
        code=r'''
def causal_mask(T):
    mask = torch.zeros(T, T)
    for t in range(T):
        mask[t, :t] = 1
    return mask
''',
    ),
    dict(
        id='c-5.3-average-dropout-away', exercise='5.3', today='NAMED', words=('Dropout drew other numbers in the second call, and y',),
        tutor='Averaging 20 runs makes the noise of dropout smaller, but nowhere near 0.00001, so an honest function with dropout is called leaking. Make both calls draw the same random numbers instead: save the state of the generator and set it again before every call.',
        code=r'''
def leaks_future(attend, x):
    def typical(z, n_runs=20):
        # dropout is noise: average it away
        return torch.stack([attend(z) for _ in range(n_runs)]).mean(dim=0)

    T = x.shape[0]
    baseline = typical(x)
    for t in range(1, T):
        other = torch.cat([x[:t], torch.zeros_like(x[t:])])
        shift = (typical(other)[:t] - baseline[:t]).abs()
        if bool((shift > 1e-5).any()):
            return True
    return False
''',
    ),
    dict(
        id='c-5.3-last-word-no-copy', exercise='5.3', today='NAMED', words=('You changed the last word only. A word may peek at i',),
        tutor='changed = x is only a second name for the same tensor, so you write into the x of the caller: use x.clone(). And only the last word is changed, so a leak from any other word (say, word 0 looks at word 1 only) is never seen: every t has to be tried.',
        code=r'''
def leaks_future(attend, x):
    if len(x) < 2:
        return False
    seed = torch.get_rng_state()
    before = attend(x)
    changed = x
    changed[-1] = changed[-1] + 1
    torch.set_rng_state(seed)
    after = attend(changed)
    biggest = (after[:-1] - before[:-1]).abs().max().item()
    return biggest > 1e-5
''',
    ),
    dict(
        id='c-5.4-by-length', exercise='5.4', today='NAMED', words=('You counted the words and kept that many from the le',),
        tutor='You count the words and allow that many places from the left. This is right only if all padding stands at the end; with padding in front, it allows padding and hides words. Ask each token itself whether it is padding.',
        code=r'''
def padding_mask(tokens, pad_id):
    B, T = tokens.shape
    lengths = (tokens != pad_id).sum(dim=1)
    columns = torch.arange(T).expand(B, T)
    is_word = columns < lengths.unsqueeze(1)
    return is_word.view(B, 1, 1, T)
''',
    ),
    dict(
        id='c-5.5-queries-too', exercise='5.5', today='NAMED', words=('You hid padding as keys and as queries. The rows of ',),
        tutor='You also use the padding mask turned on its side, so the rows of padding tokens become empty. Only keys are to be hidden: a pair is allowed if padding and causal both allow it, and nothing else is asked.',
        code=r'''
def combine_masks(padding, causal):
    real_key = padding
    real_query = padding.transpose(-1, -2)
    return torch.logical_and(torch.logical_and(real_key, real_query), causal)
''',
    ),
    dict(
        id='c-5.6-max-of-hidden', exercise='5.6', today='NAMED', words=("The maximum that you subtract may be a hidden key's.",),
        tutor='You subtract the maximum of the whole row, hidden keys included. If a hidden score is much larger than the allowed ones, their exponentials all become 0 and the row comes out as zeros. Take the maximum over the allowed keys only, or fill hidden scores before the softmax.',
        code=r'''
def masked_softmax(scores, mask):
    peak = scores.amax(dim=-1, keepdim=True)
    e = torch.exp(scores - peak) * mask
    total = e.sum(dim=-1, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return e / total
''',
    ),
    dict(
        id='c-5.7-einsum', exercise='5.7', today='NAMED', words=('A memory that is all padding is attended to even', "You divided by √d_model = 4; each head's scores "),
        tutor='The scores are divided by the root of d_model; each head is only d_k wide, so it must be the root of d_k. And with -1e9 a word that may look at nothing attends evenly to everything hidden; out and weights must be 0 there: use masked_softmax.',
        code=r'''
class CrossAttention(nn.Module):
    """Scaled attention in h heads: one sequence asks and another answers."""

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
        B, T_q, d_model = x.shape
        T_k = memory.shape[1]
        h = self.n_heads
        q = self.W_q(x).view(B, T_q, h, -1)
        k = self.W_k(memory).view(B, T_k, h, -1)
        v = self.W_v(memory).view(B, T_k, h, -1)
        energy = torch.einsum("bqhd,bkhd->bhqk", q, k) / d_model ** 0.5
        if memory_mask is not None:
            energy = energy.masked_fill(~memory_mask, -1e9)
        weights = energy.softmax(dim=-1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v)
        return self.W_o(mixed.reshape(B, T_q, d_model)), weights
''',
    ),
    dict(
        id='c-6.1-shuffle-twice', exercise='6.1', today='NAMED', words=('The output goes the wrong way: it is shuffled in the',),
        tutor='You want to undo the shuffle of the output, but indexing with perm again shuffles once more; it undoes only orders that are their own inverse, such as a swap. Either index with perm.argsort(), or shuffle f(X) and compare with f(X[perm]).',
        code=r'''
def is_permutation_equivariant(f, X, perm):
    shuffled = X[perm]
    restored = f(shuffled)[perm]  # put the rows back
    return torch.allclose(restored, f(X), rtol=1e-4, atol=1e-5)
''',
    ),
    dict(
        id='c-6.2-logspace', exercise='6.2', today='NAMED', words=('Your frequencies go from 1 down to 1/10000 exactly, ',),
        tutor='Your frequencies run from 1 to exactly 1/10000, the end included. In the formula the last exponent is 2i/d_model with 2i at most d_model - 1, so the end is never reached and every step is smaller than yours. Compute the exponents from 0, 2, 4, … over d_model.',
        code=r'''
def sinusoidal_positional_encoding(max_len, d_model):
    n_sin = (d_model + 1) // 2
    n_cos = d_model // 2
    t = torch.arange(max_len, dtype=torch.float32)
    omega = torch.logspace(0, -4, n_sin)  # from 1 down to 1/10000
    phase = torch.outer(t, omega)
    pe = torch.empty(max_len, d_model)
    pe[:, ::2] = phase.sin()
    pe[:, 1::2] = phase[:, :n_cos].cos()
    return pe
''',
    ),
    dict(
        id='c-6.3-whole-steps', exercise='6.3', today='NAMED', words=('look at int(offset). It cuts off what stands after the point.',),
        tutor='A power of the one-step matrix can only go whole steps, and int(offset) cuts the fraction off: for 0.5 you return the identity. Put the offset into the angle, cos(offset · ω), and any number works.',
        code=r'''
def shift_matrix(offset, d_model):
    def one_step(i):
        w = 10000.0 ** (-2 * i / d_model)
        c, s = math.cos(w), math.sin(w)
        return torch.tensor([[c, s], [-s, c]], dtype=torch.float64)

    step = torch.block_diag(*[one_step(i) for i in range(d_model // 2)])
    return torch.linalg.matrix_power(step, int(offset)).float()
''',
    ),
    dict(
        id='c-6.4-phasor-sign', exercise='6.4', today='NAMED', words=('You turned clockwise, by minus the angle. Scores wou',),
        tutor='Multiplying by exp(−iα) turns clockwise; the exercise asks for counter-clockwise, exp(+iα). The minus comes from the Fourier transform. Scores do not notice if both queries and keys turn the wrong way, but the result differs from RoPE.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2], x.shape[-1]
    n = torch.arange(offset, offset + T, dtype=torch.float64)
    omega = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    carrier = torch.exp(-1j * torch.outer(n, omega))
    pairs = x.double().reshape(*x.shape[:-1], d // 2, 2)
    z = torch.complex(pairs[..., 0], pairs[..., 1]) * carrier
    return torch.stack([z.real, z.imag], dim=-1).reshape(x.shape).to(x.dtype)
''',
    ),
    dict(
        id='c-6.4-overwritten-view', exercise='6.4', today='NAMED', words=('The second line uses the even column after it was tu',),
        tutor='a and b are views of out, not copies. The first assignment overwrites a, so the second line computes with a that is already turned. Read a and b from x, or clone them.',
        code=r'''
def rope(x, base=10000.0, offset=0):
    T, d = x.shape[-2:]
    place = torch.arange(T, dtype=x.dtype) + offset
    speed = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angle = place[:, None] * speed[None, :]
    out = x.clone()
    a, b = out[..., ::2], out[..., 1::2]
    out[..., ::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out
''',
    ),
    dict(
        id='c-6.5-always-halves', exercise='6.5', today='NAMED', words=('Your slopes are 1/2, 1/4, 1/8, …, which is right for',),
        tutor='Your slopes 1/2, 1/4, 1/8, … are those of eight heads. In general head i has the slope 2^(−8i/h): with four heads the first is 1/4 and the last 1/256. The number of heads has to stand in the exponent.',
        code=r'''
def alibi_bias(n_heads, T):
    slopes = [0.5 ** (head + 1) for head in range(n_heads)]
    return torch.tensor(
        [[[-m * abs(q - k) for k in range(T)] for q in range(T)] for m in slopes],
        dtype=torch.float32,
    )
''',
    ),
    dict(
        id='c-6.6-adds-into-table', exercise='6.6', today='NAMED', words=('One change in line 7 would make the values right: lo',),
        tutor='E[token] with a single number is a view of the table, and += writes the position into E itself. The table of the caller is changed, and a token that occurs twice gets both positions. Write E[token] + pe[place], which makes a new tensor.',
        code=r'''
def embed(tokens, E, pe):
    sentences = []
    for sentence in tokens.tolist():
        rows = []
        for place, token in enumerate(sentence):
            row = E[token]
            row += pe[place]
            rows.append(row)
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)
''',
    ),
    dict(
        id='c-6.7-turn-the-words', exercise='6.7', today='NAMED', words=('You turned X before it was projected, and W_q an', 'You divided by √d_model; queries and keys have d'),
        tutor='You turn the words before they are projected. RoPE turns queries and keys after their projection; otherwise W mixes the turned pairs and the score no longer depends on the offset alone. And the scores are divided by √d_model, it must be √d_k.',
        code=r'''
def rope_attention(X, W_q, W_k, W_v):
    T, d = X.shape
    placed = rope(X)
    scores = (placed @ W_q) @ (placed @ W_k).T / d ** 0.5
    future = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    scores[future] = float("-inf")
    return scores.softmax(dim=1) @ (X @ W_v)
''',
    ),
    dict(
        id='c-7.1-shape-of-weights', exercise='7.1', today='NAMED', words=('With letters for the sizes, your result is 2·T_q·T_k', 'One change in line 5 would make this right: look at the name d_k. Or: at d_k and T_k: have'),
        tutor='The first product is right. In the second, the weights are (T_q, T_k), not (T_q, d_k): each of the T_q · d_v outputs is a sum over T_k keys.',
        code=r'''
def attention_flops(T_q, T_k, d_k, d_v):
    def matmul(n, m, p):  # (n, m) times (m, p)
        return 2 * n * m * p

    return matmul(T_q, d_k, T_k) + matmul(T_q, d_k, d_v)
''',
    ),
    dict(
        id='c-7.2-output-once', exercise='7.2', today='NAMED', words=('With letters for the sizes, your result is 2·d_model',),
        tutor='W_o is applied to every word, just as W_q, W_k and W_v are, and not once at the end of the sequence. Its cost needs the factor T too.',
        code=r'''
def projection_flops(T, d_model):
    per_matrix = 2 * d_model ** 2
    q_k_v = 3 * T * per_matrix
    joining = per_matrix  # W_o once, after all heads are done
    return q_k_v + joining
''',
    ),
    dict(
        id='c-7.3-doubling', exercise='7.3', today='NAMED', words=('You tried powers of two only, and took the first tha',),
        tutor='Doubling T finds only a power of two at or above the crossing. That is right by chance if d_model is a power of two, but 768 gives 2048 and not 1536. Solve the equation, or search on between the last two lengths.',
        code=r'''
def crossover_length(d_model):
    T = 1
    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):
        T *= 2
    return T
''',
    ),
    dict(
        id='c-7.4-distance-matrix', exercise='7.4', today='NAMED', words=('You counted the lower triangle. A causal mask hides ',),
        tutor='You store each pair of words once, as in a table of distances. Scores are not symmetric (q of a times k of b is not q of b times k of a), so all T · T entries are there.',
        code=r'''
def score_matrix_bytes(B, H, T, itemsize=4):
    pairs = T * (T + 1) // 2  # upper triangle and diagonal are enough
    return B * H * pairs * itemsize
''',
    ),
    dict(
        id='c-7.5-cov-over-var', exercise='7.5', today='NAMED', words=('np.cov divides by n − 1 and np.var by n, so your slo',),
        tutor='np.cov divides by n − 1 and np.var by n, so your slope is too large by n / (n − 1): a factor of two for two points. Use the same divisor in both, for instance np.var(x, ddof=1).',
        code=r'''
def fit_exponent(sizes, costs):
    x = np.log(np.asarray(sizes, dtype=float))
    y = np.log(np.asarray(costs, dtype=float))
    beta = np.cov(x, y)[0, 1] / np.var(x)
    return float(beta)
''',
    ),
    dict(
        id='c-8.1-one-if-for-all', exercise='8.1', today='NAMED', words=("One comparison decides for all queries which part's ",),
        tutor='One if decides for all queries at once which maxima are kept. Each query has its own maximum: take torch.maximum of the two, entry by entry. And where a query saw nothing in both parts, −∞ − (−∞) is NaN; put 0 for the common maximum there.',
        code=r'''
def merge(first, second):
    m1, t1, o1 = first
    m2, t2, o2 = second
    if m1.max() >= m2.max():
        m = m1
    else:
        m = m2
    shrink1 = (m1 - m).exp()
    shrink2 = (m2 - m).exp()
    return m, t1 * shrink1 + t2 * shrink2, o1 * shrink1 + o2 * shrink2
''',
    ),
    dict(
        id='c-8.2-no-maximum', exercise='8.2', today='NAMED', words=('You exponentiate scores as they are. Far below zero ',),
        tutor='You add up exp(score) without subtracting a maximum. It is right on paper, but scores of about 90 overflow in float32 and very negative rows become 0/0: NaN. Carry the running maximum, that is what merge is for.',
        code=r'''
def tiled_attention(Q, K, V, tile, causal=False):
    root = math.sqrt(Q.shape[-1])
    finished = []
    for q0 in range(0, Q.shape[-2], tile):
        q = Q[..., q0:q0 + tile, :]
        q_places = torch.arange(q0, q0 + q.shape[-2])[:, None]
        above, below = 0.0, 0.0
        for k0 in range(0, K.shape[-2], tile):
            if causal and k0 > q0:
                break
            k, v = K[..., k0:k0 + tile, :], V[..., k0:k0 + tile, :]
            e = torch.exp(q @ k.mT / root)
            if causal:
                k_places = torch.arange(k0, k0 + k.shape[-2])
                e = e.masked_fill(k_places > q_places, 0.0)
            above = above + e @ v
            below = below + e.sum(dim=-1, keepdim=True)
        finished.append(above / below)
    return torch.cat(finished, dim=-2)
''',
    ),
    dict(
        id='c-8.3-negative-start', exercise='8.3', today='NAMED', words=('For the first words the oldest place of the window, ',),
        tutor='For the first words i - window + 1 is negative, and a negative start of a slice counts from the end of the row. So those rows come out empty or wrong. Begin at max(0, i - window + 1).',
        code=r'''
def window_mask(T, window):
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        allowed[i, i - window + 1:i + 1] = True
    return allowed
''',
    ),
    dict(
        id='c-8.4-exclusive-scan', exercise='8.4', today='NAMED', words=("Each word's own key and value come into the running ",),
        tutor='With causal=True you read the state before the word has been added, so each query misses its own key. The special case for the first word was a sign of that. Add k and v first and then read.',
        code=r'''
def linear_attention(Q, K, V, causal=False):
    def phi(z):
        return F.elu(z) + 1

    q, k = phi(Q), phi(K)
    if not causal:
        memory = torch.einsum("...td,...te->...de", k, V)
        mass = k.sum(dim=-2)
        top = torch.einsum("...td,...de->...te", q, memory)
        return top / torch.einsum("...td,...d->...t", q, mass).unsqueeze(-1)

    memory = k.new_zeros(*k.shape[:-2], k.shape[-1], V.shape[-1])
    mass = torch.zeros_like(k[..., 0, :])
    answers = []
    for t in range(k.shape[-2]):
        q_t, k_t, v_t = q[..., t, :], k[..., t, :], V[..., t, :]
        if t == 0:
            answers.append(v_t)  # nothing in the memory yet
        else:
            top = torch.einsum("...d,...de->...e", q_t, memory)
            answers.append(top / (q_t * mass).sum(dim=-1, keepdim=True))
        memory = memory + k_t[..., :, None] * v_t[..., None, :]
        mass = mass + k_t
    return torch.stack(answers, dim=-2)
''',
    ),
    dict(
        id='c-8.5-new-dict-turned-twice', exercise='8.5', today='NAMED', words=('The cache is to hold keys that are turned. Yours', 'The keys in the cache have been turned already, '),
        tutor='The cached keys are turned already; turning the whole row of keys turns the old ones a second time. Turn only the new K, with offset T_old. And cache = {...} only gives the name a new dict: the caller\'s dict stays as it was. Assign cache["K"] and cache["V"].',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    Q = split_heads(layer.W_q(x_new), layer.n_heads)
    K = split_heads(layer.W_k(x_new), layer.n_heads)
    V = split_heads(layer.W_v(x_new), layer.n_heads)
    T_old, T_new = cache["K"].shape[2], x_new.shape[1]

    Q = rope(Q, offset=T_old)
    K = rope(torch.cat([cache["K"], K], dim=2))  # keys start at place 0
    V = torch.cat([cache["V"], V], dim=2)
    cache = {"K": K, "V": V}

    asks = torch.arange(T_old, T_old + T_new).unsqueeze(1)
    answers = torch.arange(T_old + T_new).unsqueeze(0)
    scores = Q @ K.transpose(2, 3) / math.sqrt(Q.shape[-1])
    scores = scores.masked_fill(answers > asks, -math.inf)
    return layer.W_o(merge_heads(scores.softmax(dim=-1) @ V))
''',
    ),
    dict(
        id='c-8.5-no-mask', exercise='8.5', today='NAMED', words=('Nothing is hidden. That is right for one new word, w',),
        tutor='There is no mask. One new word may see everything, but if several come at once, the first of them sees the later ones. New word n may see the keys up to place T_old + n only.',
        code=r'''
def attend_with_cache(layer, x_new, cache):
    past = cache["K"].size(-2)

    def heads(W):
        return split_heads(W(x_new), layer.n_heads)

    q = rope(heads(layer.W_q), offset=past)
    new = {"K": rope(heads(layer.W_k), offset=past), "V": heads(layer.W_v)}
    for name in new:
        cache[name] = torch.cat((cache[name], new[name]), dim=-2)
    # the newest words may see everything that came before
    out = F.scaled_dot_product_attention(q, cache["K"], cache["V"])
    return layer.W_o(merge_heads(out))
''',
    ),
    dict(
        id='c-8.6-mask-added', exercise='8.6', today='NAMED', words=('One change in line 9 would make this right: look at ',),
        tutor='The mask is bool: adding it adds 1 where a query may look and 0 where it may not, so hidden keys still get weight. Only a float mask with −∞ can be added; here fill the scores with −∞ where the mask is False.',
        code=r'''
def grouped_query_attention(Q, K, V, mask=None):
    B, h, T_q, d_k = Q.shape
    g, T_k = K.size(1), K.size(2)
    share = h // g
    K = K.unsqueeze(2).expand(B, g, share, T_k, d_k).reshape(B, h, T_k, d_k)
    V = V.unsqueeze(2).expand(-1, -1, share, -1, -1).reshape(B, h, T_k, -1)
    attn = Q @ K.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        attn = attn + mask
    return torch.softmax(attn, dim=-1) @ V
''',
    ),
    dict(
        id='c-8.7-sum-over-time', exercise='8.7', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor="You add up the size of the cache after each token, as if every step stored the whole of it anew. A cache holds each token's key and value once: bytes per token times n_tokens.",
        code=r'''
def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    one_token = 2 * n_kv_heads * d_head * itemsize * n_layers
    return sum(one_token * t for t in range(1, n_tokens + 1))
''',
    ),
    dict(
        id='c-8.8-recursion-base', exercise='8.8', today='NAMED', words=('A stack of 0 layers mixes nothing: only the word its',),
        tutor='The recursion stops one step too early: for 0 layers it returns window. Without any layer the last output is the last word itself, so reach(0, window) is 1. Begin there.',
        code=r'''
def reach(n_layers, window):
    if n_layers <= 1:
        return window
    return reach(n_layers - 1, window) + window - 1
''',
    ),
    dict(
        id='c-9.1-annotated', exercise='9.1', today='NAMED', words=('Your variance divides by d − 1, as var and std d', 'You added eps to the standard deviation. It belo'),
        tutor='x.std divides by d − 1; the variance here divides by d, so say correction=0. And eps belongs to the variance, under the root, not to the standard deviation: sqrt(variance + eps).',
        code=r'''
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return scale * (x - mean) / (std + eps) + shift
''',
    ),
    dict(
        id='c-9.2-side-by-side', exercise='9.2', today='NAMED', words=("Both halves read the block's input, side by side (so",),
        tutor='Both halves read the input of the block. The second half must start from what the first one left: add what attention found to x, and give this new x to norm_2 and the feed-forward network.',
        code=r'''
class Block(nn.Module):
    """Attention, then a feed-forward network, each with a norm and a skip.

    Both linear layers of the feed-forward network have a bias.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        hidden = 4 * d_model
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model)
        )

    def forward(self, x, mask=None):
        collected = self.attention(self.norm_1(x), mask)[0]
        worked_out = self.feed_forward(self.norm_2(x))
        return x + collected + worked_out
''',
    ),
    dict(
        id='c-9.3-sequential', exercise='9.3', today='NAMED', words=('The blocks get no mask, so every position sees t', 'The embedding is multiplied by √d_model, as in t'),
        tutor='nn.Sequential passes only x on, so no block gets the causal mask and every position sees the future. Go through the blocks in a loop and give each the mask. And the embedding is multiplied by √d_model, as in the paper of 2017; this model does not do that.',
        code=r'''
class TinyGPT(nn.Module):
    """Blocks that score, at every position, each token that may come next."""

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        layers = [Block(d_model, n_heads) for _ in range(n_layers)]
        self.blocks = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens) * math.sqrt(self.d_model)
        x = self.blocks(x)
        return self.head(self.norm(x))
''',
    ),
    dict(
        id='c-9.4-mean-of-means', exercise='9.4', today='NAMED', words=('You took the mean of each text and then the mean of ',),
        tutor='You average each text and then the texts, so a token of a short text counts more than one of a long text (and a text that is all padding gives NaN). Collect the losses of all targets and take one mean.',
        code=r'''
def next_token_loss(logits, tokens, pad_id=None):
    per_text = []
    for scores, text in zip(logits, tokens):
        log_p = scores[:-1].log_softmax(dim=-1)
        targets = text[1:]
        surprise = -log_p[torch.arange(len(targets)), targets]
        if pad_id is not None:
            surprise = surprise[targets != pad_id]
        per_text.append(surprise.mean())
    return torch.stack(per_text).mean()
''',
    ),
    dict(
        id='c-9.5-scatter-inplace', exercise='9.5', today='NAMED', words=('Where several scores equal the k-th largest, yours k',),
        tutor='logits /= temperature writes into the tensor of the caller; divide into a new one. And topk gives exactly k places, so a token that equals the smallest of them is dropped at random: compare with the smallest kept score and forbid only what is less.',
        code=r'''
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    logits /= temperature
    if top_k is None:
        return F.softmax(logits, dim=-1)
    values, places = torch.topk(logits, top_k, dim=-1)
    kept = torch.full_like(logits, -torch.inf).scatter(-1, places, values)
    return F.softmax(kept, dim=-1)
''',
    ),
    dict(
        id='c-9.6-cut-for-good', exercise='9.6', today='NAMED', words=('The text itself is cut, not only what the model is s',),
        tutor='You cut tokens itself, so everything older than max_len is lost from the result, which must hold the beginning and all new tokens. Give the cut piece another name, show only that to the model, and append to the whole.',
        code=r'''
def generate(model, tokens, n_new, choose):
    with torch.no_grad():
        for _ in range(n_new):
            tokens = tokens[:, -model.max_len:]
            scores = model(tokens)
            latest = choose(scores[:, -1, :])
            tokens = torch.cat((tokens, latest.unsqueeze(1)), dim=1)
    return tokens
''',
    ),
    dict(
        id='c-0.1-repeat-whole-counts', exercise='0.1', today='NAMED', words=('Whole numbers cut off what stands after the point.',),
        tutor='You treat each weight as a whole number of copies: astype(int) cuts off the fraction, so 0.5 counts as 0 and 1.9 as 1. Weights may be any numbers that are not negative. Multiply each value by its weight and divide by the sum of the weights.',
        code=r'''
def weighted_average(values, weights):
    # like a frequency table: value v was observed w times
    counts = np.asarray(weights).astype(int)
    observations = np.repeat(values, counts)
    return float(observations.sum()) / max(len(observations), 1)
''',
    ),
    dict(
        id='c-1.1-convolve-flips', exercise='1.1', today='NAMED', words=('One of the two vectors is turned round before you mu',),
        tutor='np.convolve turns one of the two vectors round before it multiplies, so the first feature of the key meets the last feature of the query. A dot product multiplies feature by feature in the same order (a correlation, not a convolution).',
        code=r'''
def similarities(query, keys):
    # a matched filter: at full overlap the filter output is the dot product
    return np.array([np.convolve(key, query, mode="valid")[0] for key in keys])
''',
    ),
    dict(
        id='c-1.1-result-of-keys-dtype', exercise='1.1', today='NAMED', words=('One change in line 2 would make this right: look at ',),
        tutor='The result array takes its dtype from the keys. If the keys hold whole numbers and the query does not, every dot product is cut down to a whole number when you store it (0.2 becomes 0). Let NumPy choose the dtype, or make the array of floats.',
        code=r'''
def similarities(query, keys):
    result = np.zeros_like(keys[:, 0])
    for i in range(len(keys)):
        total = 0
        for j in range(len(query)):
            total += query[j] * keys[i][j]
        result[i] = total
    return result
''',
    ),
    dict(
        id='c-1.2-zero-sharpness-is-falsy', exercise='1.2', today='NAMED', words=('Sharpness 0 was taken for “not given”: 0 counts as F',),
        tutor='`sharpness or 1.0` also replaces 0, because 0 counts as false in Python. A sharpness of 0 is a legal input and must give the plain average. The default in the signature is enough; leave that line out.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    s = sharpness or 1.0  # in case nobody gave one
    logits = s * similarities(query, keys)
    top = np.max(logits)
    e = np.exp(logits - top)
    w = e / np.sum(e)
    mixed = np.sum(w[:, None] * values, axis=0)
    return mixed, w
''',
    ),
    dict(
        id='c-1.2-clip-and-mean', exercise='1.2', today='NAMED', words=('You clipped the scores to stay clear of overflow', 'You took the mean of the weighted values. The we'),
        tutor='Clipping the scores avoids the overflow but changes the answer: scores of 1000 and 2000 both become 700 and get equal weights. Subtract the largest score instead. And the weights sum to 1 already, so add up the weighted values; a mean divides by n once more.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = similarities(query, keys) * sharpness
    scores = np.clip(scores, -700, 700)  # exp overflows above about 709
    weights = np.exp(scores)
    weights = weights / weights.sum()
    weighted = values * weights.reshape(-1, 1)
    return weighted.mean(axis=0), weights
''',
    ),
    dict(
        id='c-1.3-packed-into-thirds', exercise='1.3', today='NAMED', words=('You cut one product into three parts as equal as can',),
        tutor='You cut the packed product into three equal parts, but V may have another width (d_v) than Q and K (d_k). Cut at d_k and 2 d_k, or make three separate products.',
        code=r'''
def project(X, W_q, W_k, W_v):
    # one big matmul is faster than three small ones
    packed = np.concatenate((W_q, W_k, W_v), axis=1)
    Q, K, V = np.array_split(X @ packed, 3, axis=1)
    return Q, K, V
''',
    ),
    dict(
        id='c-1.4-inner-on-a-batch', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every ',),
        tutor='np.inner is right for two matrices, but with a batch in front it pairs every sentence of Q with every sentence of K and puts all axes behind each other. Only words of the same sentence should meet: use @ with the last two axes of K exchanged.',
        code=r'''
def dot_product_scores(Q, K):
    # inner sums over the last axis of both, which is what we want
    return np.inner(Q, K)
''',
    ),
    dict(
        id='c-1.5-old-asks-for-plural-only', exercise='1.5', today='NAMED', words=('old gives books and are the same weight, 0.50: nothi',),
        tutor='Your adjective asks for plural only. But *are* is plural too and can be found by its number, so *old* shares its weight between *books* and *are*. Let *old* ask for a noun as well.',
        code=r'''
def design_projections():
    NOUN, VERB, ADJECTIVE, NUMBER = range(4)
    W_k = np.zeros((4, 2))
    W_k[NOUN, 0] = 1  # found by being a noun
    W_k[NUMBER, 1] = 1  # found by number

    W_q = np.zeros((4, 2))
    W_q[VERB, 0] = 6  # a verb wants a noun ...
    W_q[NUMBER, 1] = 6  # ... of its own number
    W_q[ADJECTIVE, 1] = 6  # old wants what is plural
    return W_q, W_k
''',
    ),
    dict(
        id='c-2.1-axis-not-moved-back', exercise='2.1', today='NAMED', words=('One change in line 5 would make this right: look at ',),
        tutor='You move the axis to the end and compute rightly there, but you never move it back. For any axis but the last, the result has its axes in another order than x. Finish with np.moveaxis(result, -1, axis), or use keepdims and leave the axes alone.',
        code=r'''
def softmax(x, axis=-1):
    rows = np.moveaxis(x, axis, -1)
    peak = rows.max(axis=-1)[..., None]
    powers = np.exp(rows - peak)
    return powers / powers.sum(axis=-1)[..., None]
''',
    ),
    dict(
        id='c-2.1-in-place-global-max', exercise='2.1', today='NAMED', words=('one maximum for the whole array', 'changed its input x in place'),
        tutor="np.asarray does not copy an array that is float64 already, so -= and out= overwrite the caller's x; make a new array. And np.max without an axis takes one maximum for the whole array: a row far below it underflows to 0/0 = nan. Each row needs its own maximum along axis.",
        code=r'''
def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    x -= np.max(x)  # no temporary arrays
    np.exp(x, out=x)
    return x / x.sum(axis=axis, keepdims=True)
''',
    ),
    dict(
        id='c-2.2-boolean-index-needs-full-mask', exercise='2.2', today='NAMED', words=('Indexing with the mask needs one of exactly the scor',),
        tutor='Indexing with ~mask does not broadcast: a mask (T_q, T_k) or (1, T_k) with scores of another shape raises IndexError. np.where(mask, scores, -np.inf) broadcasts the mask.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    depth = K.shape[-1]
    logits = np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(depth)
    if mask is not None:
        logits[~mask] = -np.inf
    attention = softmax(logits)
    return np.matmul(attention, V), attention
''',
    ),
    dict(
        id='c-2.2-value-width-and-inverted', exercise='2.2', today='NAMED', words=('You took the width of the values for the scale. ', 'The mask is inverted: True must mean “may look”,'),
        tutor='The scale is the root of the width of queries and keys, not of the values; the two may differ. And your mask is upside down: here True means may attend, so -inf belongs where the mask is False.',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    T_k, d = V.shape[-2:]
    scores = Q @ np.swapaxes(K, -2, -1) * d ** -0.5
    if mask is not None:
        # as masked_fill(mask, -inf) in torch
        scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights
''',
    ),
    dict(
        id='c-2.3-causal-by-default', exercise='2.3', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='Without a mask every word may look at every word. You put a causal mask in its place, as a GPT does, so no word can look at a later one. Pass mask on as it is, None included.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    T = X.shape[-2]
    if mask is None:
        mask = np.tril(np.ones((T, T), dtype=bool))
    queries, keys, values = (X @ W for W in (W_q, W_k, W_v))
    return scaled_dot_product_attention(queries, keys, values, mask=mask)
''',
    ),
    dict(
        id='c-2.4-tanh-before-the-sum', exercise='2.4', today='NAMED', words=('The tanh was taken of query and key part separately;',),
        tutor='You take tanh of query and key separately and add afterwards. tanh(a + b) is not tanh(a) + tanh(b): the pair has to meet inside the tanh. That is why additive scores need m hidden numbers for each pair; there is no way round them.',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    # saves the big (T_q, T_k, m) array: score each side once, then add
    def side(Z, W):
        return np.tanh(Z @ W) @ v
    return np.add.outer(side(Q, W_q), side(K, W_k))
''',
    ),
    dict(
        id='c-2.5-keys-outside-and-scaled', exercise='2.5', today='NAMED', words=('You divided by √d_k; general scores are not scal', 'In line 3, look at which axis comes first in wha'),
        tutor='The outer list runs over the keys, so the result is (T_k, T_q); rows belong to queries. And the general score has no division by the root of d_k: that belongs to the scaled dot product only.',
        code=r'''
def general_scores(Q, K, W):
    scale = math.sqrt(K.shape[-1])
    return np.array([[(q @ W @ k) / scale for q in Q] for k in K])
''',
    ),
    dict(
        id='c-2.6-power-precedence', exercise='2.6', today='NAMED', words=('You divided by half of d_k; the square root is wante',),
        tutor='`d_k ** 1 / 2` is (d_k ** 1) / 2, half of d_k, because the power binds more tightly than the division. (At d_k = 4 both happen to be 2.) Write d_k ** 0.5 or math.sqrt(d_k). The other two bugs are mended.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / (d_k ** 1 / 2)
    if mask is not None:
        scores = np.where(mask, scores, float("-inf"))
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='c-3.1-normal-shortcut', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='You draw from a normal distribution with the right mean and variance, but a dot product is normal only approximately, for large d_k. At d_k = 1 it is a product of two normals, with more numbers near 0 and far out. Draw the queries and keys, and multiply them.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # a sum of d_k independent terms of variance 1: central limit theorem
    sigma = np.sqrt(d_k)
    return rng.normal(loc=0.0, scale=sigma, size=n)
''',
    ),
    dict(
        id='c-3.2-filter-flattens', exercise='3.2', today='NAMED', words=('You added up everything into one number; each row ha',),
        tutor='weights[weights > 0] throws the zeros away but also the rows: the result is one flat array, and its sum is the entropy of all rows together. Keep the shape: put 1 in place of each zero inside the logarithm, then sum along the last axis.',
        code=r'''
def entropy(weights):
    nonzero = weights[weights > 0]
    surprise = -np.log(nonzero)
    return (nonzero * surprise).sum(axis=-1)
''',
    ),
    dict(
        id='c-3.2-zeros-overwritten-bits', exercise='3.2', today='NAMED', words=('logarithms to base 2', 'changed its input weights in place'),
        tutor="The line that sets zeros to 1 writes into the caller's array; the input must stay as it is, so work on a copy or use np.where. And log2 gives the entropy in bits; the task asks for nats, the natural logarithm.",
        code=r'''
def entropy(weights):
    p = weights
    p[p == 0] = 1  # log(1) = 0, so these drop out
    H = -np.einsum("...n,...n->...", p, np.log2(p))
    return H
''',
    ),
    dict(
        id='c-3.3-diagonal-subtracted-twice', exercise='3.3', today='NAMED', words=('One change in line 5 would make this right: look at ',),
        tutor='The diagonal should be p_i (1 - p_i) in all. Your outer product already has -p_i p_i on its diagonal, and you add p_i (1 - p_i) to that, so p_i squared is subtracted twice. Add only p_i on the diagonal. Check: each row of J must sum to 0.',
        code=r'''
def softmax_jacobian(p):
    n = p.shape[-1]
    J = -np.einsum("...i,...j->...ij", p, p)  # i != j: -p_i p_j
    i = np.arange(n)
    J[..., i, i] += p * (1 - p)  # i == j
    return J
''',
    ),
    dict(
        id='c-3.4-like-a-sigmoid', exercise='3.4', today='NAMED', words=("You used only the Jacobian's diagonal, p (1 − p), as",),
        tutor='p (1 - p) is only the diagonal of the Jacobian, as for a sigmoid. In softmax each score moves the other weights too, through -p_i p_j. Subtract from d_weights its mean under the weights of the row, then multiply by the weights.',
        code=r'''
def softmax_backward(weights, d_weights):
    # chain rule, as for the logistic function: local slope times upstream
    local_slope = weights * (1.0 - weights)
    return local_slope * d_weights
''',
    ),
    dict(
        id='c-4.1-split-by-size', exercise='4.1', today='NAMED', words=('The number of heads and the features of a head are e',),
        tutor='torch.split takes the size of each piece, not the number of pieces. You get d_model / h heads of width h instead of h heads of width d_k; it is right only where h equals d_k. Give split the width d_k, or use chunk.',
        code=r'''
def split_heads(x, n_heads):
    pieces = torch.split(x, n_heads, dim=-1)
    return torch.stack(pieces, dim=1)
''',
    ),
    dict(
        id='c-4.2-heads-interleaved', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth',),
        tutor='You put the head axis last, behind the features, so the row of a word alternates: feature 0 of each head, then feature 1 of each head. Head 0 should stand first with all its features: the order before the reshape must be (B, T, h, d_k).',
        code=r'''
def merge_heads(x):
    words_first = x.permute(0, 2, 3, 1)
    return words_first.flatten(start_dim=2)
''',
    ),
    dict(
        id='c-4.3-assert-not-valueerror', exercise='4.3', today='NAMED', words=('assert raises AssertionError; ValueError is asked for',),
        tutor='assert raises AssertionError (and nothing at all under python -O). The task promises ValueError with both numbers in its message: use if and raise ValueError(...). The attention itself is right.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} not divisible by {n_heads}"
        self.h = n_heads
        self.head_dim = d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.attn_drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.h)
        k = split_heads(self.W_k(x), self.h)
        v = split_heads(self.W_v(x), self.h)
        att = torch.einsum("bhid,bhjd->bhij", q, k) * self.head_dim ** -0.5
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), float("-inf"))
        att = torch.softmax(att, dim=-1)
        y = torch.einsum("bhij,bhjd->bhid", self.attn_drop(att), v)
        return self.W_o(merge_heads(y)), att
''',
    ),
    dict(
        id='c-4.3-always-dropout-mean-of-heads', exercise='4.3', today='NAMED', words=('Dropout stays on in eval mode: nn.functional.dro', "You returned the mean of the heads' weights, (B,"),
        tutor="nn.functional.dropout drops also after eval(), because it does not know the module's mode: pass training=self.training or use nn.Dropout. And you return the mean over the heads, (B, T, T), as PyTorch does by default; the task asks for the weights of every head, (B, h, T, T).",
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"embed_dim {d_model} must be divisible by num_heads {n_heads}")
        self.num_heads = n_heads
        self.p = dropout
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        shape = (B, T, self.num_heads, C // self.num_heads)
        q = self.W_q(x).view(shape).transpose(1, 2)
        k = self.W_k(x).view(shape).transpose(1, 2)
        v = self.W_v(x).view(shape).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        probs = torch.softmax(scores, -1)
        ctx = nn.functional.dropout(probs, self.p) @ v
        ctx = ctx.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(ctx), probs.mean(dim=1)
''',
    ),
    dict(
        id='c-4.4-shared-storage', exercise='4.4', today='NAMED', words=('The two modules share their memory, so training one ',),
        tutor="Assigning .data does not copy: slices of in_proj_weight share their memory with PyTorch's module, so an optimiser step on one module changes the other. Use copy_ (or clone) for each of the four.",
        code=r'''
def from_torch(mha):
    d = mha.embed_dim
    mine = MultiHeadAttention(d, mha.num_heads, mha.dropout)
    stacked = mha.in_proj_weight.data
    mine.W_q.weight.data = stacked[:d]
    mine.W_k.weight.data = stacked[d:2 * d]
    mine.W_v.weight.data = stacked[2 * d:]
    mine.W_o.weight.data = mha.out_proj.weight.data
    return mine
''',
    ),
    dict(
        id='c-10.1-residual-inside', exercise='10.1', today='NAMED', words=('You added x to the output. The layer does so around ',),
        tutor="You add x to the output, as BERT's layer does after its attention. This function is the attention alone; the layer adds its input afterwards, so x would count twice. Return the product with W_o plus b_o.",
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def dense(z, name):
        return F.linear(z, getattr(layer, "W_" + name), getattr(layer, "b_" + name))

    q, k, v = [split_heads(dense(x, name), n_heads) for name in "qkv"]
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(k.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    probs = F.softmax(scores, dim=-1)
    context = merge_heads(torch.matmul(probs, v))
    hidden = dense(context, "o")
    return hidden + x, probs  # BertSelfOutput: dense, then residual
''',
    ),
    dict(
        id='c-10.2-places-of-all-sentences', exercise='10.2', today='NAMED', words=("weights[..., verb, subject] takes every sentence's p",),
        tutor='weights[..., verb, subject] does not pair sentence n with its own places: it reads the places of all N sentences in every sentence. So the share is over N x N pairs, and most of them mean nothing. Index the first axis too, with torch.arange(N), or go through the sentences with zip.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    on_subject = weights[..., verb, subject]
    on_other = weights[..., verb, other]
    hits = (on_subject > on_other).float()
    return hits.mean(dim=(0, -1))
''',
    ),
    dict(
        id='c-10.3-prefix-and-float32', exercise='10.3', today='NAMED', words=('You took the first rows of each text', 'vectors is float32; float64 is promised'),
        tutor="You take the first tokens of each row, as many as the mask has True. That is right only if all padding stands at the end; the mask may have gaps or begin with padding, so select with the mask itself. And torch.zeros makes float32 whatever hidden is; the result should have hidden's dtype.",
        code=r'''
def mean_pool(hidden, mask):
    B, T, d = hidden.shape
    lengths = mask.sum(dim=1).tolist()
    pooled = torch.zeros(B, d)
    for b, length in enumerate(lengths):
        pooled[b] = hidden[b, :length].mean(dim=0)
    return pooled
''',
    ),
    dict(
        id='c-10.4-norm-of-whole-corpus', exercise='10.4', today='NAMED', words=('You divided the corpus by one norm, that of the whol',),
        tutor='corpus.norm() is one number for the whole matrix, so every row is divided by the same number and long rows still win. A cosine needs the norm of each row: corpus.norm(dim=1, keepdim=True).',
        code=r'''
def search(query, corpus, k):
    def unit(z):
        return z / z.norm()

    cos = unit(corpus) @ unit(query)
    order = torch.argsort(cos, descending=True)[:k]
    return order, cos[order]
''',
    ),
    dict(
        id='d-0.1-repeat-whole-times', exercise='0.1', today='NAMED', words=('The same numbers come out if weights is turned into ',),
        tutor='You repeat each value as many times as its weight says, but a weight need not be a whole number: 0.5 is cut to 0 and 2.7 to 2. Try weights 0.5, 0.25, 0.25: they should give the same answer as 2, 1, 1. Multiply by the weight and divide by the sum of the weights.',
        code=r'''
def weighted_average(values, weights):
    # a value with weight 3 simply occurs three times
    times = np.asarray(weights).astype(int)
    everything = np.repeat(values, times)
    return everything.mean()
''',
    ),
    dict(
        id='d-1.1-array-of-the-keys-type', exercise='1.1', today='NAMED', words=('One change in line 3 would make this right: look at ',),
        tutor='The array that you fill takes its dtype from the keys. If the keys are whole numbers and the query is not, every dot product is cut to a whole number when you store it. Let NumPy choose the type of the result, or make the array of floats.',
        code=r'''
def similarities(query, keys):
    n, d = keys.shape
    out = np.zeros(n, dtype=keys.dtype)
    for row in range(n):
        total = 0
        for col in range(d):
            total += query[col] * keys[row, col]
        out[row] = total
    return out
''',
    ),
    dict(
        id='d-1.2-max-of-the-unsharpened', exercise='1.2', today='NAMED', words=('For large scores the exponential overflows and inf/i', 'One change in line 4 would make this right: look at what is calculated first: are parenthe'),
        tutor='You subtract the largest score before it was multiplied by the sharpness, so at a sharpness other than 1 the largest exponent is not 0. With large scores the exponential overflows (or all of them vanish at sharpness 0), and you get nan. Multiply first, then subtract the maximum of the product.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    utility = similarities(query, keys)
    best = utility.max()
    odds = np.exp(sharpness * utility - best)
    share = odds / odds.sum()
    expected = sum(p * v for p, v in zip(share, values))
    return expected, share
''',
    ),
    dict(
        id='d-1.2-temperature-and-mean', exercise='1.2', today='NAMED', words=('You divided the scores by sharpness, as one woul', 'You took the mean of the weighted values. The we'),
        tutor='Two things. Sharpness multiplies the scores; you divide by it, as if it were a temperature, so a larger sharpness makes your weights flatter. And the weights already sum to 1, so the weighted values have to be added up; np.mean divides them by n once more.',
        code=r'''
def soft_lookup(query, keys, values, sharpness=1.0):
    def boltzmann(energy, temperature):
        z = energy / temperature
        z = z - np.max(z)
        e = np.exp(z)
        return e / np.sum(e)

    weights = boltzmann(similarities(query, keys), sharpness)
    value = np.mean(weights[:, np.newaxis] * values, axis=0)
    return value, weights
''',
    ),
    dict(
        id='d-1.3-one-product-cut-by-d_k', exercise='1.3', today='NAMED', words=('You cut one product into three parts of d_k columns.',),
        tutor='One big product is fine, but you cut the result into three pieces of d_k columns each. V has d_v columns, and d_v may be larger than d_k; then the last columns of V are missing. Take everything from column 2 * d_k on.',
        code=r'''
def project(X, W_q, W_k, W_v):
    # one big matmul is faster than three small ones
    W = np.concatenate((W_q, W_k, W_v), axis=1)
    QKV = X @ W
    d = W_q.shape[1]
    Q, K, V = (QKV[:, i * d:(i + 1) * d] for i in range(3))
    return Q, K, V
''',
    ),
    dict(
        id='d-1.4-np-inner', exercise='1.4', today='NAMED', words=('np.dot (like np.inner and np.tensordot) pairs every ',),
        tutor='np.inner does sum over the last axes, and for two matrices it is right. But with a batch in front it pairs every sentence of Q with every sentence of K, so the result has too many axes. Use a product that keeps the front axes together: Q @ K with its last two axes exchanged.',
        code=r'''
def dot_product_scores(Q, K):
    # inner product over the last axis of both
    return np.inner(Q, K)
''',
    ),
    dict(
        id='d-1.5-old-has-no-number', exercise='1.5', today='NAMED', words=('old gives books and shelf the same weight, 0.50: it ',),
        tutor='Your *are* works, because its plural comes in through the number row of W_q. But *old* has no number: its only feature is adjective, and this row asks for a noun and nothing else. So *old* gives *books* and *shelf* the same weight; let the adjective row ask for plural too.',
        code=r'''
def design_projections():
    noun, verb, adjective, number = range(4)
    LOOKS_NOUN, LOOKS_NUMBER = 0, 1

    W_q = np.zeros((4, 2))
    W_q[verb, LOOKS_NOUN] = 8.0
    W_q[adjective, LOOKS_NOUN] = 8.0
    W_q[number, LOOKS_NUMBER] = 8.0  # the asker's own number

    W_k = np.zeros((4, 2))
    W_k[noun, LOOKS_NOUN] = 1.0
    W_k[number, LOOKS_NUMBER] = 1.0
    return W_q, W_k
''',
    ),
    dict(
        id='d-2.1-in-place', exercise='2.1', today='NAMED', words=('The values are right. The function changed its input',),
        tutor='Your numbers are right, but you work in place: for float input, x is still the array of the caller, and x -= ... overwrites it. Print the input after the call. Write x = x - ... and make new arrays.',
        code=r'''
def softmax(x, axis=-1):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(float)
    # no temporaries: everything in one buffer
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
''',
    ),
    dict(
        id='d-2.1-axis-moved-not-back', exercise='2.1', today='NAMED', words=('Two changes together would make this right. In line ',),
        tutor='You move the axis to the end but never move it back, so for another axis than the last the result is turned round. Also, x.max() is one maximum for the whole array; a row that lies far below it gives only zeros, and 0/0 is nan. Each row needs its own maximum.',
        code=r'''
def softmax(x, axis=-1):
    rows = np.moveaxis(x, axis, -1)
    shifted = rows - rows.max()
    e = np.exp(shifted)
    return e / e.sum(axis=-1)[..., None]
''',
    ),
    dict(
        id='d-2.2-shape-1-for-d_k', exercise='2.2', today='NAMED', words=('You took axis 1 of K for the scale. It holds the fea',),
        tutor='K.shape[1] is the number of features only if K has two axes. With a batch in front, axis 1 is another axis, for example the number of keys, so you divide by the wrong root. Count from the end: shape[-1].',
        code=r'''
def scaled_dot_product_attention(Q, K, V, mask=None):
    width = K.shape[1]
    scores = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(width)
    if mask is not None:
        blocked = np.logical_not(mask)
        scores = np.where(blocked, float("-inf"), scores)
    attn = softmax(scores)
    result = np.einsum("...ij,...jv->...iv", attn, V)
    return result, attn
''',
    ),
    dict(
        id='d-2.3-causal-without-a-mask', exercise='2.3', today='NAMED', words=('One change in line 4 would make this right: look at ',),
        tutor='If no mask is given, every word may look at every word. You put a causal mask there, as in GPT, so a word cannot see the words after it. Pass None on as it is.',
        code=r'''
def self_attention(X, W_q, W_k, W_v, mask=None):
    T = X.shape[-2]
    if mask is None:
        mask = np.tril(np.ones((T, T), dtype=bool))
    query, key, value = [np.matmul(X, W) for W in (W_q, W_k, W_v)]
    return scaled_dot_product_attention(query, key, value, mask=mask)
''',
    ),
    dict(
        id='d-2.4-v-inside-tanh', exercise='2.4', today='NAMED', words=('The tanh sits on the finished score; it belongs on t',),
        tutor='The tanh belongs to the hidden units, before v weights them. You take it after v, around the finished score, so the whole network becomes linear with one squash at the end and no score can leave -1 to 1. Look at the order in v · tanh(q W_q + k W_k).',
        code=r'''
def additive_scores(Q, K, W_q, W_k, v):
    scores = np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            hidden = q @ W_q + k @ W_k
            scores[i, j] = np.tanh(np.dot(hidden, v))
    return scores
''',
    ),
    dict(
        id='d-2.5-scaled-and-softmaxed', exercise='2.5', today='NAMED', words=('You went on to the weights: the scores themselve', 'In line 3, look at whether / math.sqrt(len(k)) b'),
        tutor="The exercise asks for the scores alone. Luong's general score has no division by a root: W can learn its own scale. And the softmax comes later, in attention; you return weights instead of scores.",
        code=r'''
def general_scores(Q, K, W):
    def score(q, k):
        return q.dot(W).dot(k) / math.sqrt(len(k))

    table = np.array([[score(q, k) for k in K] for q in Q])
    return softmax(table, axis=1)
''',
    ),
    dict(
        id='d-2.6-low-score-and-axis-1', exercise='2.6', today='NAMED', words=('The softmax runs along axis 1. That is right for', 'In line 7, look at the value that where fills in'),
        tutor='A blocked word must get a weight of exactly 0. A score that is 10 below the smallest one still leaves it a little, so write minus infinity. And axis=1 means the keys only without a batch; with a batch it is another axis. Use axis=-1.',
        code=r'''
def debugged_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        too_low = np.min(scores) - 10
        scores = np.where(mask, scores, too_low)
    weights = softmax(scores, axis=1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
''',
    ),
    dict(
        id='d-3.1-normal-by-the-limit', exercise='3.1', today='NAMED', words=('You drew the dot products themselves, as normal numb',),
        tutor='You draw the dot products straight from a normal distribution with spread √d_k. Mean and spread are right, but a sum of a few products is not normal: at d_k = 1 it has far more values near 0 and far out. Draw queries and keys, multiply and add up.',
        code=r'''
def sample_dot_products(n, d_k, rng):
    # sum of d_k independent terms with variance 1 -> N(0, d_k);
    # no need to draw 2 * n * d_k numbers
    return rng.normal(loc=0.0, scale=np.sqrt(d_k), size=n)
''',
    ),
    dict(
        id='d-3.2-plain-mean-of-surprise', exercise='3.2', today='NAMED', words=('You took the mean of the terms.',),
        tutor='The entropy is a weighted mean of -log(weight): each logarithm counts as much as its weight. You take the plain mean over the weights that are not 0. Check it with the weights 0.9 and 0.1: the entropy is 0.33.',
        code=r'''
def entropy(weights):
    def surprise(row):
        seen = row[row > 0]
        return np.mean(-np.log(seen))

    return np.apply_along_axis(surprise, -1, weights)
''',
    ),
    dict(
        id='d-3.3-derivative-of-the-log', exercise='3.3', today='NAMED', words=('Your diagonal part is the identity; it should ho', 'You subtracted the weights themselves; each entr'),
        tutor='δ_ij − p_j is the derivative of log p_i. The derivative of p_i itself is p_i times that, so the factor p_i of each row is missing. Check: every column of J must sum to 0.',
        code=r'''
def softmax_jacobian(p):
    n = p.shape[-1]
    delta = np.eye(n, dtype=p.dtype)
    # d/ds_j (s_i - log sum exp s) = delta_ij - p_j
    return delta - np.expand_dims(p, -2)
''',
    ),
    dict(
        id='d-3.4-like-a-sigmoid', exercise='3.4', today='NAMED', words=("You used only the Jacobian's diagonal, p (1 − p), as",),
        tutor='p(1 − p) is only the diagonal of the Jacobian, as if every weight depended on its own score alone. A score also lowers the other weights, so the terms −p_i p_j g_j for j ≠ i are missing. Keep the sum Σ_j p_j g_j of each row and subtract it.',
        code=r'''
def softmax_backward(weights, d_weights):
    local_slope = weights * (1 - weights)
    return local_slope * d_weights  # chain rule
''',
    ),
    dict(
        id='d-4.1-dealt-like-cards', exercise='4.1', today='NAMED', words=('Head i got every h-th feature, i, i + h, i + 2h …; h',),
        tutor='You deal the features out like cards: head 0 gets features 0, h, 2h and so on. A head owns d_k features that stand side by side, from i * d_k on. Print the result for torch.arange(12).view(1, 3, 4) and compare it with the loop above the exercise.',
        code=r'''
def split_heads(x, n_heads):
    hands = [x[:, :, i::n_heads] for i in range(n_heads)]  # deal round the table
    return torch.stack(hands, dim=1)
''',
    ),
    dict(
        id='d-4.2-heads-behind-features', exercise='4.2', today='NAMED', words=('The features of the heads are shuffled into each oth',),
        tutor='The heads should lie one after the other, so the head axis must stand before the features when you reshape. You put it last, so the features of the heads alternate: feature 0 of head 0, feature 0 of head 1, and so on. Use the order (B, T, h, d_k).',
        code=r'''
def merge_heads(x):
    batch, heads, length, width = x.size()
    x = x.permute(0, 2, 3, 1).contiguous()
    return x.view(batch, length, heads * width)
''',
    ),
    dict(
        id='d-4.3-model-scale-and-late-dropout', exercise='4.3', today='NAMED', words=("You divided by √d_model = 3.46; a head's dot pro", 'Dropout falls on single features, of the values '),
        tutor='Each head compares vectors of d_k = d_model / h numbers, so the scores are divided by √d_k and not by √d_model. And the dropout should act on the weights before they average the values; yours acts on the finished output.',
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                "d_model (%d) must be a multiple of n_heads (%d)" % (d_model, n_heads))
        self.h = n_heads
        self.scale = d_model ** -0.5
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        q = split_heads(self.W_q(x), self.h)
        k = split_heads(self.W_k(x), self.h)
        v = split_heads(self.W_v(x), self.h)
        att = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), float("-inf"))
        att = torch.softmax(att, dim=-1)
        y = torch.einsum("bhij,bhjd->bhid", att, v)
        y = self.W_o(merge_heads(y))
        return self.drop(y), att
''',
    ),
    dict(
        id='d-4.3-three-axes-taken-for-a-batch', exercise='4.3', today='NAMED', words=('You give a mask of three axes another one for the he',),
        tutor="You insert a head axis whenever the mask has three axes. But the mask only has to be broadcastable to (B, h, T, T), and by that rule three axes mean (h, T, T): a mask for each head. Yours gives the heads' masks to the sentences, or fails; use the mask as it comes.",
        code=r'''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest != 0:
            raise ValueError(f"cannot share {d_model} features among {n_heads} heads")
        self.n_heads = n_heads
        self.d_head = d_head
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_q(x), self.n_heads)
        K = split_heads(self.W_k(x), self.n_heads)
        V = split_heads(self.W_v(x), self.n_heads)
        scores = torch.matmul(Q, K.mT) / math.sqrt(self.d_head)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # same mask for all heads
            scores = torch.where(mask, scores, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        context = torch.matmul(self.dropout(weights), V)
        return self.W_o(merge_heads(context)), weights
''',
    ),
    dict(
        id='d-4.4-fused-per-head-and-float32', exercise='4.4', today='NAMED', words=("as if each head's queries, keys and values stood together", 'yours returns float32 where float64 is wanted'),
        tutor='in_proj_weight holds all rows of W_q, then all of W_k, then all of W_v; you read it as if q, k and v took turns head by head. And your new module stays float32: load_state_dict copies numbers into it but does not change its dtype, so convert it first.',
        code=r'''
def from_torch(mha):
    d, h = mha.embed_dim, mha.num_heads
    fused = mha.in_proj_weight.detach().reshape(h, 3, d // h, d)
    q, k, v = (fused[:, i].reshape(d, d) for i in range(3))
    ours = MultiHeadAttention(d, h, dropout=mha.dropout)
    ours.load_state_dict({
        "W_q.weight": q,
        "W_k.weight": k,
        "W_v.weight": v,
        "W_o.weight": mha.out_proj.weight.detach(),
    })
    return ours
''',
    ),
    dict(
        id='d-10.1-residual-inside', exercise='10.1', today='NAMED', words=('You added x to the output. The layer does so around ',),
        tutor='You add x to the output. This sum belongs to the layer around the attention, which adds it once more, so it is not part of this function. Return the result of W_o and b_o alone.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    q = split_heads(F.linear(x, layer.W_q, layer.b_q), n_heads)
    k = split_heads(F.linear(x, layer.W_k, layer.b_k), n_heads)
    v = split_heads(F.linear(x, layer.W_v, layer.b_v), n_heads)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    probs = F.softmax(scores, dim=-1)
    context = merge_heads(probs @ v)
    hidden = F.linear(context, layer.W_o, layer.b_o)
    return hidden + x, probs
''',
    ),
    dict(
        id='d-10.1-both-sides-scaled', exercise='10.1', today='NAMED', words=('You divided the scores by d_k = 4, not by √d_k = 2 (', 'One change in line 10 would make this right: look at whether / root belongs there.'),
        tutor='You divide the queries by √d_k and the keys as well, so each score is divided by d_k in all and the weights become too even. Scale one of the two, or both by the fourth root of d_k.',
        code=r'''
def bert_self_attention(x, layer, n_heads, mask=None):
    def heads(W, b):
        return split_heads(torch.einsum("btd,ed->bte", x, W) + b, n_heads)

    q = heads(layer.W_q, layer.b_q)
    k = heads(layer.W_k, layer.b_k)
    v = heads(layer.W_v, layer.b_v)
    # scale before the product, so that it cannot get large
    root = math.sqrt(q.shape[-1])
    q, k = q / root, k / root
    logits = torch.einsum("bhqd,bhkd->bhqk", q, k)
    if mask is not None:
        logits = torch.where(mask, logits, -torch.inf)
    weights = torch.softmax(logits, -1)
    mixed = merge_heads(torch.einsum("bhqk,bhkd->bhqd", weights, v))
    out = torch.einsum("btd,ed->bte", mixed, layer.W_o) + layer.b_o
    return out, weights
''',
    ),
    dict(
        id='d-10.2-share-of-the-weight', exercise='10.2', today='NAMED', words=("You averaged the subject's part of the two weights.",),
        tutor='You average which part of the weight goes to the subject. The question is in how many of the sentences the subject gets more: each sentence counts as 1 or 0. Compare the two weights with > first, and take the mean of the answers.',
        code=r'''
def agreement_share(weights, verb, subject, other):
    shares = []
    for n in range(len(weights)):
        row = weights[n][..., verb[n], :]
        to_subject = row[..., subject[n]]
        to_other = row[..., other[n]]
        shares.append(to_subject / (to_subject + to_other))
    return sum(shares) / len(shares)
''',
    ),
    dict(
        id='d-10.3-padding-at-the-end', exercise='10.3', today='NAMED', words=('You took the first rows of each text, as many as it ',),
        tutor='You count the tokens and then take that many from the start. This is right only if all padding stands at the end; the mask may have its False anywhere. Use the mask itself to choose the tokens, for example hidden[b][mask[b]].',
        code=r'''
def mean_pool(hidden, mask):
    lengths = mask.sum(dim=1).tolist()
    means = [text[:length].mean(dim=0) for text, length in zip(hidden, lengths)]
    return torch.stack(means)
''',
    ),
    dict(
        id='d-10.4-columns-normalised-ascending', exercise='10.4', today='NAMED', words=('You divided by the norms of the columns, the fea', 'The right rows come in the wrong order: the larg'),
        tutor='dim=0 is right for the query, but in the corpus it normalises each column; each text is a row, so it needs dim=1. And argsort sorts upwards, so your last k are the best ones in the wrong order: the largest cosine should come first.',
        code=r'''
def search(query, corpus, k):
    q = F.normalize(query, dim=0)
    c = F.normalize(corpus, dim=0)
    cosines = (c * q).sum(dim=-1)
    order = torch.argsort(cosines)
    best = order[len(order) - k:]
    return best, cosines[best]
''',
    ),
]
