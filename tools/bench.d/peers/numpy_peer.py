#!/usr/bin/python3
"""The smaller models of models/ in numpy, with a backward pass by hand, timed a step at a time. Debian: apt-get install
python3-numpy.

    numpy_peer.py gpt|shakespeare train_step|forward [--threads N] [--seconds S] [--check] [--batch N ...]

Prints one JSON line. All parameters lie in one flat array, so the optimizer is a few operations on whole arrays; that
is what makes this faster than PyTorch on a small model. --check compares the gradients with finite differences instead.
"""
import argparse
import math
import sys

import common

parser = common.arguments(argparse.ArgumentParser())
parser.add_argument("--check", action="store_true")
options = parser.parse_args()
BLAS = common.prepare(options.threads)

try:
    import numpy as np
except ImportError:
    sys.exit("numpy_peer.py: numpy is not installed (apt-get install python3-numpy)")

f32 = np.float32
SLOPE, CUBIC = f32(math.sqrt(2 / math.pi)), f32(0.044715)


class Gpt:
    def __init__(self, vocab, batch, context, width, heads, layers, drop, form, random):
        self.sizes = (batch, context, width, heads, layers, vocab)
        self.form, self.drop, self.random = form, drop, random
        self.bias, self.tied = form == "gpt", form != "gpt"

        def matrix(rows, columns):
            return random.uniform(-1, 1, (rows, columns)).astype(f32) / f32(math.sqrt(rows))

        values = {"wte": matrix(vocab, width), "wpe": matrix(context, width)}
        for layer in range(layers):
            values.update({f"gain1.{layer}": np.ones(width, f32), f"gain2.{layer}": np.ones(width, f32),
                           f"all.{layer}": matrix(width, 3 * width), f"out.{layer}": matrix(width, width),
                           f"up.{layer}": matrix(width, 4 * width), f"down.{layer}": matrix(4 * width, width)})
            if self.bias:
                values.update({f"shift1.{layer}": np.zeros(width, f32), f"shift2.{layer}": np.zeros(width, f32),
                               f"up_bias.{layer}": np.zeros(4 * width, f32),
                               f"down_bias.{layer}": np.zeros(width, f32)})
        values["gain"] = np.ones(width, f32)
        if self.bias:
            values["shift"] = np.zeros(width, f32)
        if not self.tied:
            values.update(head=matrix(width, vocab), head_bias=np.zeros(vocab, f32))
        self.flat = np.concatenate([value.ravel() for value in values.values()])
        self.gradient, self.decay = np.zeros_like(self.flat), np.zeros_like(self.flat)
        self.value, self.slope, start = {}, {}, 0
        for name, value in values.items():
            end = start + value.size
            self.value[name] = self.flat[start:end].reshape(value.shape)
            self.slope[name] = self.gradient[start:end].reshape(value.shape)
            self.decay[start:end] = value.ndim > 1
            start = end
        self.mask = np.triu(np.full((context, context), -1e9, f32), 1)
        self.training = True

    def norm(self, x, gain, shift, saved):
        apart = x - x.mean(-1, keepdims=True)
        scale = 1 / np.sqrt((apart * apart).mean(-1, keepdims=True) + f32(1e-5))
        unit = apart * scale
        saved.append((unit, scale))
        y = unit * self.value[gain]
        return y + self.value[shift] if self.bias else y

    def norm_back(self, dy, gain, shift, saved):
        unit, scale = saved.pop()
        self.slope[gain][...] = (dy * unit).sum(0)
        if self.bias:
            self.slope[shift][...] = dy.sum(0)
        d = dy * self.value[gain]
        return scale * (d - d.mean(-1, keepdims=True) - unit * (d * unit).mean(-1, keepdims=True))

    def dropped(self, x, saved):
        if not (self.drop and self.training):
            return x
        keep = (self.random.random(x.shape, dtype=f32) >= self.drop) * f32(1 / (1 - self.drop))
        saved.append(keep)
        return x * keep

    def forward(self, tokens):
        batch, context, width, heads, layers, _ = self.sizes
        v, size = self.value, width // heads
        saved = self.saved = []
        x = (v["wte"][tokens].reshape(batch, context, width) + v["wpe"]).reshape(-1, width)
        x = self.dropped(x, saved)
        for n in range(layers):
            h = self.norm(x, f"gain1.{n}", f"shift1.{n}", saved)
            query, key, val = (h @ v[f"all.{n}"]).reshape(batch, context, 3, heads, size).transpose(2, 0, 3, 1, 4)
            a = query @ key.transpose(0, 1, 3, 2) * f32(1 / math.sqrt(size)) + self.mask
            a -= a.max(-1, keepdims=True)
            np.exp(a, out=a)
            a /= a.sum(-1, keepdims=True)
            mixed = (a @ val).transpose(0, 2, 1, 3).reshape(-1, width)
            saved.append((h, query, key, val, a, mixed))
            x = x + self.dropped(mixed @ v[f"out.{n}"], saved)
            h = self.norm(x, f"gain2.{n}", f"shift2.{n}", saved)
            u = h @ v[f"up.{n}"]
            if self.bias:
                u += v[f"up_bias.{n}"]
            if self.form == "gpt":
                w, t = np.maximum(u, 0), None
            else:
                t = np.tanh(SLOPE * (u + CUBIC * u * u * u))
                w = f32(0.5) * u * (1 + t)
            saved.append((h, u, w, t))
            w = w @ v[f"down.{n}"]
            if self.bias:
                w += v[f"down_bias.{n}"]
            x = x + self.dropped(w, saved)
        self.last = self.norm(x, "gain", "shift", saved)
        return self.last @ v["wte"].T if self.tied else self.last @ v["head"] + v["head_bias"]

    def loss(self, tokens, targets, backward=True):
        batch, context, width, heads, layers, vocab = self.sizes
        v, g, size = self.value, self.slope, width // heads
        p = self.forward(tokens)
        p -= p.max(-1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(-1, keepdims=True)
        count = len(targets)
        loss = -np.log(p[np.arange(count), targets]).mean()
        if not backward:
            return loss
        saved, drops = self.saved, bool(self.drop and self.training)
        p[np.arange(count), targets] -= 1
        p /= count
        if self.tied:
            table, dx = p.T @ self.last, p @ v["wte"]
        else:
            g["head"][...], g["head_bias"][...] = self.last.T @ p, p.sum(0)
            dx, table = p @ v["head"].T, np.zeros((vocab, width), f32)
        dx = self.norm_back(dx, "gain", "shift", saved)
        for n in reversed(range(layers)):
            d = dx * saved.pop() if drops else dx
            h, u, w, t = saved.pop()
            g[f"down.{n}"][...] = w.T @ d
            if self.bias:
                g[f"down_bias.{n}"][...] = d.sum(0)
            d = d @ v[f"down.{n}"].T
            if self.form == "gpt":
                d = d * (u > 0)
            else:
                d = d * (f32(0.5) * (1 + t) + f32(0.5) * u * (1 - t * t) * SLOPE * (1 + 3 * CUBIC * u * u))
            g[f"up.{n}"][...] = h.T @ d
            if self.bias:
                g[f"up_bias.{n}"][...] = d.sum(0)
            dx = dx + self.norm_back(d @ v[f"up.{n}"].T, f"gain2.{n}", f"shift2.{n}", saved)
            d = dx * saved.pop() if drops else dx
            h, query, key, val, a, mixed = saved.pop()
            g[f"out.{n}"][...] = mixed.T @ d
            d = (d @ v[f"out.{n}"].T).reshape(batch, context, heads, size).transpose(0, 2, 1, 3)
            da, dval = d @ val.transpose(0, 1, 3, 2), a.transpose(0, 1, 3, 2) @ d
            da = a * (da - (da * a).sum(-1, keepdims=True)) * f32(1 / math.sqrt(size))
            d = np.stack((da @ key, da.transpose(0, 1, 3, 2) @ query, dval)).transpose(1, 3, 0, 2, 4)
            d = d.reshape(-1, 3 * width)
            g[f"all.{n}"][...] = h.T @ d
            dx = dx + self.norm_back(d @ v[f"all.{n}"].T, f"gain1.{n}", f"shift1.{n}", saved)
        if drops:
            dx = dx * saved.pop()
        g["wpe"][...] = dx.reshape(batch, context, width).sum(0)
        chosen = np.zeros((count, vocab), f32)
        chosen[np.arange(count), tokens] = 1
        g["wte"][...] = table + chosen.T @ dx
        return loss


class Adam:
    def __init__(self, model, beta1, beta2, decay, clip):
        self.model, self.beta1, self.beta2, self.decay, self.clip, self.steps = model, beta1, beta2, decay, clip, 0
        self.mean, self.square = np.zeros_like(model.flat), np.zeros_like(model.flat)

    def step(self, rate):
        self.steps += 1
        g, beta1, beta2 = self.model.gradient, f32(self.beta1), f32(self.beta2)
        if self.clip:
            length = math.sqrt(float(g @ g))
            if length > 1:
                g *= f32(1 / (length + 1e-6))
        self.mean *= beta1
        self.mean += (1 - beta1) * g
        self.square *= beta2
        self.square += (1 - beta2) * g * g
        if self.decay:
            self.model.flat -= f32(rate * self.decay) * self.model.decay * self.model.flat
        root = np.sqrt(self.square / f32(1 - self.beta2**self.steps)) + f32(1e-8)
        self.model.flat -= f32(rate / (1 - self.beta1**self.steps)) * self.mean / root


def check(model, tokens, targets):
    """Gradients along random directions against differences of the loss; drops are off."""
    model.drop, random, worst = 0, np.random.default_rng(3), 0
    for name in model.value:
        model.loss(tokens, targets)
        direction = random.standard_normal(model.value[name].shape).astype(f32)
        direction /= np.linalg.norm(direction)
        expected = float((model.slope[name] * direction).sum())
        before, step, losses = model.value[name].copy(), 2e-2, []
        for sign in (1, -1):
            model.value[name][...] = before + f32(sign * step) * direction
            losses.append(model.loss(tokens, targets, backward=False))
        model.value[name][...] = before
        found = float(losses[0] - losses[1]) / (2 * step)
        worst = max(worst, abs(expected - found) / (abs(expected) + 1e-2))
    print(f"worst relative difference of a gradient: {worst:.4f}")
    sys.exit(worst > 0.05)


def main():
    if options.model == "gpt2":
        sys.exit("numpy_peer.py: gpt2 is there in PyTorch only")
    random = np.random.default_rng(1)
    sizes = common.configuration(options)
    model = Gpt(**sizes, form=options.model, random=random)
    tokens, targets = random.integers(0, sizes["vocab"], (2, sizes["batch"] * sizes["context"]))
    if options.check:
        check(model, tokens, targets)
    adam = Adam(model, 0.9, 0.999, 0, False) if options.model == "gpt" else Adam(model, 0.9, 0.99, 0.1, True)
    if options.function == "forward":
        model.training = False

    def step():
        if options.function == "forward":
            model.forward(tokens)
        else:
            model.loss(tokens, targets)
            adam.step(1e-3)

    times, first = common.measure(step, options.seconds, options.least_calls)
    common.report(f"numpy {np.__version__}", options.threads, times, first, blas=BLAS, parameters=int(model.flat.size))


main()
