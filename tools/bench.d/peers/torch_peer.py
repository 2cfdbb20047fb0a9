#!/usr/bin/python3
"""The models of models/ in PyTorch, timed a step at a time. Debian: apt-get install python3-torch.

    torch_peer.py MODEL train_step|forward [--threads N] [--seconds S] [--trace] [--foreach] [--batch N ...]

Prints one JSON line. Per model: the same sizes, activation, biases, weight tying, drops, optimizer and clipping as the
.mekik file; queries, keys and values of all heads in one matrix, which PyTorch prefers.
"""
import argparse
import math
import sys

import common

parser = common.arguments(argparse.ArgumentParser())
parser.add_argument("--trace", action="store_true", help="forward pass traced by TorchScript")
parser.add_argument("--foreach", action="store_true", help="optimizer over lists of tensors")
options = parser.parse_args()
BLAS = common.prepare(options.threads)

import warnings  # noqa: E402

warnings.filterwarnings("ignore")
try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit("torch_peer.py: PyTorch is not installed (apt-get install python3-torch)")


class Block(nn.Module):
    def __init__(self, width, heads, drop, act, attention_bias, mlp_bias, norm_bias):
        super().__init__()
        self.heads, self.drop, self.act = heads, drop, act
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        if not norm_bias:
            self.norm1.bias = self.norm2.bias = None
        self.all, self.out = nn.Linear(width, 3 * width, attention_bias), nn.Linear(width, width, attention_bias)
        self.up, self.down = nn.Linear(width, 4 * width, mlp_bias), nn.Linear(4 * width, width, mlp_bias)

    def forward(self, x, mask):
        batch, context, width = x.shape
        q, k, v = (part.view(batch, context, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.all(self.norm1(x)).split(width, dim=2))
        weights = F.softmax((q @ k.transpose(-2, -1)) * (1 / math.sqrt(width // self.heads)) + mask, -1)
        x = x + self.dropped(self.out((weights @ v).transpose(1, 2).reshape(batch, context, width)))
        return x + self.dropped(self.down(self.act(self.up(self.norm2(x)))))

    def dropped(self, x):
        return F.dropout(x, self.drop, self.training) if self.drop > 0 else x


class Gpt(nn.Module):
    def __init__(self, vocab, context, width, heads, layers, drop, act, attention_bias, mlp_bias, norm_bias, tied):
        super().__init__()
        self.drop = drop
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads, drop, act, attention_bias, mlp_bias, norm_bias)
                                     for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        if not norm_bias:
            self.norm.bias = None
        self.head = nn.Linear(width, vocab, bias=not tied)
        if tied:
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, 0.0, 0.02)
            self.head.weight = self.wte.weight
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1), persistent=False)
        self.register_buffer("positions", torch.arange(context), persistent=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(self.positions)
        if self.drop > 0:
            x = F.dropout(x, self.drop, self.training)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


class Loss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, targets):
        logits = self.model(tokens)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


FORMS = {
    "gpt": dict(act=F.relu, attention_bias=False, mlp_bias=True, norm_bias=True, tied=False),
    "shakespeare": dict(act=F.gelu, attention_bias=False, mlp_bias=False, norm_bias=False, tied=True),
    "gpt2": dict(act=lambda x: F.gelu(x, approximate="tanh"), attention_bias=True, mlp_bias=True, norm_bias=True,
                 tied=True),
}


def main():
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    sizes = common.configuration(options)
    batch = sizes.pop("batch")
    vocab, context = sizes["vocab"], sizes["context"]
    model = Gpt(**sizes, **FORMS[options.model])
    tokens, targets = torch.randint(vocab, (batch, context)), torch.randint(vocab, (batch, context))
    more = {"foreach": True} if options.foreach else {}
    form = f"PyTorch {torch.__version__}{' traced' if options.trace else ''}{' foreach' if options.foreach else ''}"

    if options.function == "forward":
        model.eval()
        forward = torch.jit.freeze(torch.jit.trace(model, tokens)) if options.trace else model

        def step():
            with torch.no_grad():
                forward(tokens)
    else:
        model.train()
        if options.model == "gpt":
            optimizer, clip = torch.optim.Adam(model.parameters(), lr=3e-3, **more), None
        else:
            groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
                      {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
            optimizer, clip = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), **more), 1.0
        loss = Loss(model)
        if options.trace:
            loss = torch.jit.trace(loss, (tokens, targets), check_trace=False)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss(tokens, targets).backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()

    times, first = common.measure(step, options.seconds, options.least_calls)
    count = sum(parameter.numel() for parameter in model.parameters())
    common.report(form, options.threads, times, first, blas=BLAS, parameters=count)


main()
