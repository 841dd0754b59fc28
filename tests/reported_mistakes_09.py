"""Mistakes that people really made with blocks and small language models, re-created for the exercises of lesson 09.

Each entry: name, exercise, the mistakes that the report must name or words that it must say, source.
"""

_BLOCK = """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
"""
_GPT = """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        T = tokens.size(1)
        x = self.embedding(tokens)
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
"""
_LOSS = "def next_token_loss(logits, tokens, pad_id=None):\n    ignored = -100 if pad_id is None else pad_id\n"
_WITH_POSITIONS = _GPT.replace(
    "        self.blocks", "        self.positions = nn.Embedding(max_len, d_model)\n        self.blocks"
).replace("x = self.embedding(tokens)", "x = self.embedding(tokens) + self.positions(torch.arange(tokens.size(0)))[:, None]")

REPORTED = (
    ("ln-sequence-axis", "9.1", ("norm-over-positions",), """
def layer_norm(x, scale, shift, eps=1e-5):
    mu, var = x.mean(dim=-2, keepdim=True), x.var(dim=-2, keepdim=True, unbiased=False)
    return scale * (x - mu) / torch.sqrt(var + eps) + shift
"""),
    ("ln-all-but-batch", "9.1", ("norm-over-all-but-batch",), """
def layer_norm(x, scale, shift, eps=1e-5):
    axes = tuple(range(1, x.ndim))
    mu, var = x.mean(dim=axes, keepdim=True), x.var(dim=axes, keepdim=True, unbiased=False)
    return scale * (x - mu) / torch.sqrt(var + eps) + shift
"""),
    ("ln-eps-outside-root", "9.1", ("eps-outside-root",), """
def layer_norm(x, scale, shift, eps=1e-5):
    mu, sd = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True, unbiased=False)
    return scale * (x - mu) / (sd + eps) + shift
"""),
    ("ln-squares-instead-of-root", "9.1", ("squared-not-rooted",), """
def layer_norm(x, scale, shift, eps=1e-5):
    mu, var = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return scale * (x - mu) / (var + eps) ** 2 + shift
"""),
    ("block-doubles-attention", "9.2", ("attention-doubled",), _BLOCK + """
        x = self.attention(self.norm_1(x), mask)[0]
        x = x + x
        return x + self.feed_forward(self.norm_2(x))
"""),
    ("block-no-residual", "9.2", ("no-first-skip", "no-second-skip"), _BLOCK + """
        x = self.attention(self.norm_1(x), mask)[0]
        return self.feed_forward(self.norm_2(x))
"""),
    ("block-second-skip-from-start", "9.2", ("second-skip-from-the-start",), _BLOCK + """
        y = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(y))
"""),
    ("block-multiplies", "9.2", ("second-sum-multiplied",), _BLOCK + """
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x * self.feed_forward(self.norm_2(x))
"""),
    ("block-result-unused", "9.2", ("attention-unused",), _BLOCK + """
        attn_out, _ = self.attention(self.norm_1(x), mask)
        return x + self.feed_forward(self.norm_2(x))
"""),
    ("block-no-activation", "9.2", ("identity-for-gelu",), _BLOCK.replace("nn.GELU()", "nn.Identity()") + """
        x = x + self.attention(self.norm_1(x), mask)[0]
        return x + self.feed_forward(self.norm_2(x))
"""),
    ("gpt-labels-not-shifted", "9.4", ("targets-not-shifted",), _LOSS + """
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), tokens.reshape(-1), ignore_index=ignored)
"""),
    ("gpt-shifted-the-wrong-way", "9.4", ("shifted-the-wrong-way",), _LOSS + """
    return F.cross_entropy(logits[:, 1:].reshape(-1, logits.size(-1)), tokens[:, :-1].reshape(-1), ignore_index=ignored)
"""),
    ("gpt-softmax-before-loss", "9.4", ("softmax-before",), _LOSS + """
    p = torch.softmax(logits[:, :-1], dim=-1)
    return F.cross_entropy(p.reshape(-1, logits.size(-1)), tokens[:, 1:].reshape(-1), ignore_index=ignored)
"""),
    ("gpt-reshape-scrambles-classes", "9.4", ("logits-scrambled",), _LOSS + """
    by_class = logits[:, :-1].transpose(1, 2).contiguous()
    return F.cross_entropy(by_class.reshape(-1, logits.size(-1)), tokens[:, 1:].reshape(-1), ignore_index=ignored)
"""),
    ("gpt-no-causal-mask", "9.3", ("mask-not-handed-on",), _GPT.replace("block(x, mask)", "block(x)")),
    ("gpt-blocks-in-python-list", "9.3", ("blocks-in-plain-list",),
     _GPT.replace("nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])", "[Block(d_model, n_heads) for _ in range(n_layers)]")),
    ("gpt-positions-from-batch-axis", "9.3", "table of positions", _WITH_POSITIONS),
    ("gpt-logits-left-flat", "9.3", ("logits-left-flat",), _GPT.replace("self.head(self.norm(x))", "self.head(self.norm(x)).view(x.size(0) * T, -1)")),
    ("gpt-no-context-crop", "9.6", ("context-not-cut",), """
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        nxt = choose(model(tokens)[:, -1, :])[:, None]
        tokens = torch.cat([tokens, nxt], dim=1)
    return tokens
"""),
    ("gpt-argmax-over-all-positions", "9.6", ("always-the-largest-of-all-positions",), """
@torch.no_grad()
def generate(model, tokens, n_new, choose):
    for _ in range(n_new):
        logits = model(tokens[:, -model.max_len:])
        nxt = torch.stack([row.argmax() for row in logits])[:, None]
        tokens = torch.cat([tokens, nxt], dim=1)
    return tokens
"""),
    ("gpt-temperature-twice", "9.5", ("temperature-twice",), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        z = torch.where(z < z.topk(top_k).values[..., -1:], -torch.inf, z)
    return torch.softmax(z / temperature, dim=-1)
"""),
    ("gpt-top-k-keeps-one-more", "9.5", ("top-k-one-more",), """
def next_token_probabilities(logits, temperature=1.0, top_k=None):
    z = logits / temperature
    if top_k is not None:
        edge = z.sort(dim=-1, descending=True).values[..., min(top_k, z.shape[-1] - 1)]
        z = z.masked_fill(z < edge[..., None], float("-inf"))
    return torch.softmax(z, dim=-1)
"""),
)
