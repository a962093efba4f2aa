"""The model of train_transformer.cpp in PyTorch, for comparison: the same text, batches, layers and optimizer.

  python3 train_transformer_torch.py TEXT --epoch 1     # the options and defaults of train_transformer
"""
import argparse
import math
import time

import torch
from torch import nn
from torch.nn import functional as F


def linear(n_in, n_out):
    layer = nn.Linear(n_in, n_out)
    nn.init.normal_(layer.weight, std=n_in ** -0.5)  # Catena's initial weights
    nn.init.zeros_(layer.bias)
    return layer


class Block(nn.Module):
    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(units, 1e-12), nn.LayerNorm(units, 1e-12)
        self.qkv, self.out = linear(units, 3 * units), linear(units, units)
        self.fc1, self.fc2 = linear(units, 4 * units), linear(4 * units, units)

    def forward(self, x):
        batch, time, units = x.shape
        q, k, v = (p.view(batch, time, self.heads, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, time, units))
        return x + self.fc2(F.relu(self.fc1(self.ln2(x))))


class Transformer(nn.Module):
    def __init__(self, characters, units, layers, heads, length):
        super().__init__()
        self.embed, self.position = nn.Embedding(characters, units), nn.Embedding(length, units)
        self.blocks = nn.Sequential(*(Block(units, heads) for _ in range(layers)))
        self.ln, self.out = nn.LayerNorm(units, 1e-12), linear(units, characters)

    def forward(self, x):
        h = self.embed(x) + self.position(torch.arange(x.shape[1]))
        return self.out(self.ln(self.blocks(h))).flatten(0, 1)


def blocks(text, pieces, length):
    each = (len(text) - 1) // pieces
    x, t = text[:pieces * each].view(pieces, each), text[1:pieces * each + 1].view(pieces, each)
    for at in range(0, each, length):
        yield x[:, at:at + length], t[:, at:at + length].reshape(-1)


def bits(model, batches):
    total, n = 0.0, 0
    with torch.no_grad():
        for x, t in batches:
            total += F.cross_entropy(model(x), t).item()
            n += 1
    return total / n / math.log(2)


def main(args):
    with open(args.text, "rb") as f:
        data = f.read()
    number = {c: i for i, c in enumerate(sorted(set(data)))}
    text = torch.tensor([number[c] for c in data])
    n = len(text) - len(text) // 10
    torch.manual_seed(args.seed)
    model = Transformer(len(number), args.unit, args.layer, args.head, args.context)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    begin = time.perf_counter()
    for epoch in range(1, args.epoch + 1):
        total = steps = 0
        for x, t in blocks(text[:n], args.batchsize, args.context):
            with torch.autocast("cpu", torch.bfloat16, enabled=args.autocast):
                loss = F.cross_entropy(model(x), t)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.gradclip)
            optimizer.step()
            total += loss.item()
            steps += 1
        valid = bits(model, blocks(text[n:], args.batchsize, args.context))
        print(f"{epoch:<11} {total / steps / math.log(2):<11.5f} {valid:<20.5f} {time.perf_counter() - begin:.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("text")
    for name, default in (("batchsize", 32), ("context", 64), ("epoch", 10), ("unit", 128), ("layer", 2), ("head", 4), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--gradclip", type=float, default=1.0)
    parser.add_argument("--autocast", action="store_true")
    main(parser.parse_args())
