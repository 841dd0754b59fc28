"""Wrong answers to the exercises of lesson 09, written before its catalogue was, with the words that must be in the report.

Each entry: exercise, name, words of which at least one must be said, source.
"""

ATTEMPTS = (
    ("9.1", "population-forgotten", ("d − 1", "correction"), """
def layer_norm(x, scale, shift, eps=1e-5):
    mu = torch.mean(x, -1, keepdim=True)
    sigma2 = torch.var(x, -1, keepdim=True)
    return scale * (x - mu) / (sigma2 + eps).sqrt() + shift
"""),
    ("9.1", "std-method", ("d − 1", "correction"), """
def layer_norm(x, scale, shift, eps=1e-5):
    z = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)
    return z * scale + shift
"""),
    ("9.1", "forgot-mean-in-result", ("mean",), """
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    return x / torch.sqrt(var + eps) * scale + shift
"""),
    ("9.1", "rms-norm", ("mean",), """
def layer_norm(x, scale, shift, eps=1e-5):
    ms = (x * x).mean(-1, keepdim=True)
    return x * torch.rsqrt(ms + eps) * scale + shift
"""),
    ("9.1", "batch-axis", ("axis", "position"), """
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(dim=0, keepdim=True)
    var = x.var(dim=0, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * scale + shift
"""),
    ("9.1", "no-keepdim", ("keepdim", "axis"), """
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1)
    var = x.var(-1, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * scale + shift
"""),
    ("9.1", "scale-and-shift-together", ("shift",), """
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + eps)
    return scale * ((x - mean) / std + shift)
"""),
    ("9.2", "post-norm", ("norm",), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(x, mask)[0])
        x = self.norm_2(x + self.feed_forward(x))
        return x
"""),
    ("9.2", "tuple-not-unpacked", ("two results", "tuple", "out"), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_1(x), mask)
        x = x + self.feed_forward(self.norm_2(x))
        return x
"""),
    ("9.2", "normed-skip", ("skip", "normed"), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attention(x, mask)[0]
        x = self.norm_2(x)
        x = x + self.feed_forward(x)
        return x
"""),
    ("9.2", "relu", ("GELU",), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.ReLU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        h = x + self.attention(self.norm_1(x), mask)[0]
        return h + self.feed_forward(self.norm_2(h))
"""),
    ("9.2", "mask-dropped", ("mask",), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        a, w = self.attention(self.norm_1(x))
        h = x + a
        return h + self.feed_forward(self.norm_2(h))
"""),
    ("9.2", "parallel-halves", ("first half", "second half"), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        attended = self.attention(self.norm_1(x), mask)[0]
        fed = self.feed_forward(self.norm_2(x))
        return x + attended + fed
"""),
    ("9.2", "two-linear-only", ("GELU",), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))
"""),
    ("9.2", "own-names", ("norm_1", "feed_forward"), """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.ln2 = nn.LayerNorm(d_model)
        self.attn = RotaryAttention(d_model, n_heads)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        x = x + self.attn(self.ln1(x), mask)[0]
        return x + self.mlp(self.ln2(x))
"""),
    ("9.3", "shared-block", ("same block", "one block"), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads)] * n_layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for b in self.blocks:
            x = b(x, causal_mask(tokens.shape[1]))
        return self.head(self.norm(x))
"""),
    ("9.3", "no-final-norm", ("norm",), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        m = causal_mask(tokens.size(1))
        for b in self.blocks:
            x = b(x, m)
        return self.head(x)
"""),
    ("9.3", "softmax-at-the-end", ("softmax", "logits"), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        m = causal_mask(tokens.size(1))
        for b in self.blocks:
            x = b(x, m)
        return torch.softmax(self.head(self.norm(x)), dim=-1)
"""),
    ("9.3", "inverted-mask", ("mask",), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        T = tokens.shape[1]
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool))
        x = self.embedding(tokens)
        for b in self.blocks:
            x = b(x, mask)
        return self.head(self.norm(x))
"""),
    ("9.3", "x-not-kept", ("block", "last"), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for b in self.blocks:
            out = b(x, causal_mask(tokens.shape[1]))
        return self.head(self.norm(out))
"""),
    ("9.3", "last-position-only", ("every position", "(B, T"), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for b in self.blocks:
            x = b(x, causal_mask(tokens.shape[1]))
        return self.head(self.norm(x[:, -1]))
"""),
    ("9.3", "max-len-forgotten", ("max_len",), """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for i in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for b in self.blocks:
            x = b(x, causal_mask(tokens.shape[1]))
        return self.head(self.norm(x))
"""),
    ("9.4", "wrong-way", ("wrong way", "before"), """
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    l = logits[:, 1:, :].reshape(-1, V)
    t = tokens[:, :-1].reshape(-1)
    if pad_id is not None:
        return F.cross_entropy(l, t, ignore_index=pad_id)
    return F.cross_entropy(l, t)
"""),
    ("9.4", "pad-ignored-not", ("pad",), """
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    return F.cross_entropy(logits[:, :-1].reshape(-1, V), tokens[:, 1:].reshape(-1))
"""),
    ("9.4", "summed", ("mean", "sum"), """
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    ig = pad_id if pad_id is not None else -100
    return F.cross_entropy(logits[:, :-1].reshape(-1, V), tokens[:, 1:].reshape(-1), ignore_index=ig, reduction="sum")
"""),
    ("9.4", "pad-counted-in-the-mean", ("pad",), """
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    losses = F.cross_entropy(logits[:, :-1].reshape(-1, V), tokens[:, 1:].reshape(-1), reduction="none")
    if pad_id is not None:
        losses = losses * (tokens[:, 1:].reshape(-1) != pad_id)
    return losses.mean()
"""),
    ("9.4", "log-softmax-and-gather-wrong-sign", ("sign", "−", "negat"), """
def next_token_loss(logits, tokens, pad_id=None):
    logp = logits[:, :-1].log_softmax(-1)
    t = tokens[:, 1:]
    picked = logp.gather(-1, t[..., None])[..., 0]
    if pad_id is not None:
        picked = picked[t != pad_id]
    return picked.mean()
"""),
    ("9.4", "zero-as-pad", ("pad", "0"), """
def next_token_loss(logits, tokens, pad_id=None):
    V = logits.shape[-1]
    return F.cross_entropy(logits[:, :-1].reshape(-1, V), tokens[:, 1:].reshape(-1), ignore_index=pad_id or 0)
"""),
    ("9.5", "times-temperature", ("temperature",), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits * temperature
    if top_k is not None:
        kth = torch.topk(z, top_k, dim=-1)[0][..., -1, None]
        z = torch.where(z < kth, torch.tensor(-float("inf")), z)
    return torch.softmax(z, -1)
"""),
    ("9.5", "zeroed-not-hidden", ("0", "−inf", "-inf"), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        kth = torch.topk(z, top_k, dim=-1)[0][..., -1, None]
        z = torch.where(z < kth, torch.zeros_like(z), z)
    return torch.softmax(z, -1)
"""),
    ("9.5", "cut-after-softmax", ("sum to 1", "before the softmax", "after the softmax"), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    p = torch.softmax(logits / temperature, -1)
    if top_k is not None:
        kth = torch.topk(p, top_k, dim=-1)[0][..., -1, None]
        p = torch.where(p < kth, torch.zeros_like(p), p)
    return p
"""),
    ("9.5", "less-or-equal", ("k-th", "smallest", "one too few", "stay"), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        kth = torch.topk(z, top_k, dim=-1)[0][..., -1, None]
        z = torch.where(z <= kth, torch.full_like(z, -torch.inf), z)
    return torch.softmax(z, -1)
"""),
    ("9.5", "ties-cut-by-index", ("equal", "tie"), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        top = torch.topk(z, top_k, dim=-1)
        z = torch.full_like(z, -torch.inf).scatter(-1, top.indices, top.values)
    return torch.softmax(z, -1)
"""),
    ("9.5", "compact", ("V", "every token", "only the k"), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        z = torch.topk(z, top_k, dim=-1).values
    return torch.softmax(z, -1)
"""),
    ("9.6", "not-cut", ("max_len",), """
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens)[:, -1]
        tokens = torch.cat([tokens, choose(logits).unsqueeze(1)], dim=1)
    return tokens
"""),
    ("9.6", "first-not-last-cut", ("last", "first"), """
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens[:, :model.max_len])[:, -1]
        tokens = torch.cat([tokens, choose(logits).unsqueeze(1)], dim=1)
    return tokens
"""),
    ("9.6", "new-only", ("beginning",), """
def generate(model, tokens, n_new, choose):
    new = []
    for _ in range(n_new):
        logits = model(tokens[:, -model.max_len:])[:, -1]
        nxt = choose(logits).unsqueeze(1)
        new.append(nxt)
        tokens = torch.cat([tokens, nxt], dim=1)
    return torch.cat(new, dim=1)
"""),
    ("9.6", "whole-logits-to-choose", ("last position", "logits"), """
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens[:, -model.max_len:])
        tokens = torch.cat([tokens, choose(logits)], dim=1)
    return tokens
"""),
    ("9.6", "context-lost", ("max_len", "beginning", "cut"), """
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        tokens = tokens[:, -model.max_len:]
        logits = model(tokens)[:, -1]
        tokens = torch.cat([tokens, choose(logits).unsqueeze(1)], dim=1)
    return tokens
"""),
    ("9.6", "argmax-inside", ("choose",), """
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens[:, -model.max_len:])[:, -1]
        tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
    return tokens
"""),
    ("9.6", "prepended", ("end", "front"), """
def generate(model, tokens, n_new, choose):
    with torch.no_grad():
        for _ in range(n_new):
            logits = model(tokens[:, -model.max_len:])[:, -1]
            tokens = torch.cat([choose(logits)[:, None], tokens], dim=1)
    return tokens
"""),
)
