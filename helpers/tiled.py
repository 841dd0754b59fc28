"""Lesson 08: exact attention, one tile of the scores at a time, so that no matrix of all scores ever exists.

After Dao et al. 2022, without their treatment of the hardware.

A *state* is what is known of some queries after a part of the keys: a triple (maximum, total, out). maximum
(..., T_q, 1) is the largest score so far, total (..., T_q, 1) the sum of exp(score - maximum), and out (..., T_q, d_v)
the sum of exp(score - maximum) * value. Attention to the part is out / total. Where nothing is visible, maximum is
-inf, total 0 and out 0.
"""

import math

import torch
from torch.utils.checkpoint import checkpoint

from helpers.masks import causal_mask


def state_of(scores, V):
    """State of some queries after one part of the keys, of which at least one is visible to each query.

    scores: (..., T_q, T_k), scaled; hidden ones are -inf. V: (..., T_k, d_v). Returns (maximum, total, out).
    """
    maximum = scores.amax(dim=-1, keepdim=True)  # (..., T_q, 1)
    shares = (scores - maximum).exp_()  # (..., T_q, T_k); in place, for a second tile would leave the cache
    total = shares.sum(dim=-1, keepdim=True)  # (..., T_q, 1)
    return maximum, total, shares @ V


def nothing_seen(Q, V):
    """State of the queries Q (..., T_q, d_k) before any key: maximum -inf, total 0, out 0 of V's width."""
    maximum = torch.full_like(Q[..., :1], -torch.inf)  # (..., T_q, 1)
    total = torch.zeros_like(maximum)
    return maximum, total, total.expand(*total.shape[:-1], V.shape[-1])


def merge(first, second):
    """Merge two states (maximum, total, out = the sum) of the same queries."""
    maximum_1, total_1, out_1 = first
    maximum_2, total_2, out_2 = second
    maximum = torch.maximum(maximum_1, maximum_2)  # (..., T_q, 1)
    anchor = maximum.masked_fill(maximum == -torch.inf, 0.0)  # not -inf - (-inf)
    factor_1 = torch.exp(maximum_1 - anchor)
    factor_2 = torch.exp(maximum_2 - anchor)
    total = total_1 * factor_1 + total_2 * factor_2
    out = out_1 * factor_1 + out_2 * factor_2
    return maximum, total, out


def tiled_attention(Q, K, V, tile, causal=False):
    """Softmax attention, a tile of queries and a tile of keys at a time.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    causal: query i sees the keys up to i, and T_q = T_k. tile: words in a tile.
    Returns (..., T_q, d_v). Tensors alive at once take less memory than one
    matrix (T_q, T_k) of scores. The scores are divided by √d_k.
    """
    T_q, T_k = Q.shape[-2], K.shape[-2]
    scale = 1 / math.sqrt(Q.shape[-1])
    rows = []
    for i in range(0, T_q, tile):
        q = Q[..., i : i + tile, :] * scale
        state = nothing_seen(q, V)
        for j in range(0, T_k, tile):
            if causal and j > i:
                break
            scores = q @ K[..., j : j + tile, :].mT  # (..., tile, tile)
            if causal and j == i:
                scores = scores.masked_fill(~causal_mask(scores.shape[-1]), -torch.inf)
            part = state_of(scores, V[..., j : j + tile, :])
            state = merge(state, part)
        maximum, total, out = state
        rows.append(out / total)  # (..., tile, d_v)
    return torch.cat(rows, dim=-2)


# Two ways to train through tiles -----------------------------------------------------------------------------------


def rows_recomputed(Q, K, V, tile):
    """Tiled attention that keeps nothing for the backward pass but its inputs, and computes each row of tiles again.

    Arguments and result as `tiled_attention`, not causal.
    """
    rows = Q.split(tile, dim=-2)
    return torch.cat([checkpoint(tiled_attention, q, K, V, tile, use_reentrant=False) for q in rows], dim=-2)


class TiledWithBackward(torch.autograd.Function):
    """Tiled attention with a backward pass written by hand: `TiledWithBackward.apply(Q, K, V, tile)`, not causal.

    It keeps the output and one number per query, log_total = maximum + log(total), from which each tile's weights
    exp(scores - log_total) are computed again, already normalised (Dao et al. 2022, algorithm 4).
    """

    @staticmethod
    def forward(ctx, Q, K, V, tile):
        outs, log_totals = [], []
        for q in Q.split(tile, dim=-2):
            q, state = q / math.sqrt(Q.shape[-1]), nothing_seen(q, V)
            for k, v in zip(K.split(tile, dim=-2), V.split(tile, dim=-2), strict=True):
                state = merge(state, state_of(q @ k.mT, v))
            maximum, total, out = state
            outs.append(out / total)
            log_totals.append(maximum + total.log())
        out, log_total = torch.cat(outs, dim=-2), torch.cat(log_totals, dim=-2)
        ctx.save_for_backward(Q, K, V, out, log_total)
        ctx.tile = tile
        return out

    @staticmethod
    def backward(ctx, d_out):
        Q, K, V, out, log_total = ctx.saved_tensors
        scale = 1 / math.sqrt(Q.shape[-1])
        d_Q, d_K, d_V = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
        shared = (d_out * out).sum(dim=-1, keepdim=True)  # (..., T_q, 1): lesson 03's sum, for all tiles at once
        for i in range(0, Q.shape[-2], ctx.tile):
            rows = slice(i, i + ctx.tile)
            for j in range(0, K.shape[-2], ctx.tile):
                columns = slice(j, j + ctx.tile)
                q, k, v, g = Q[..., rows, :], K[..., columns, :], V[..., columns, :], d_out[..., rows, :]
                weights = torch.exp(q @ k.mT * scale - log_total[..., rows, :])  # (..., tile, tile)
                d_scores = weights * (g @ v.mT - shared[..., rows, :]) * scale
                d_Q[..., rows, :] += d_scores @ k
                d_K[..., columns, :] += d_scores.mT @ q
                d_V[..., columns, :] += weights.mT @ g
        return d_Q, d_K, d_V, None
