"""The model of train_transformer.cpp in PyTorch, for comparison: the same text, batches, layers and optimizer.

  python3 train_transformer_torch.py TEXT [epochs [units [layers]]]
"""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

PIECES, LENGTH, HEADS, RATE, CLIP = 32, 64, 4, 0.002, 1.0


def linear(n_in, n_out):
    layer = nn.Linear(n_in, n_out)
    nn.init.normal_(layer.weight, std=n_in ** -0.5)  # Catena's initial weights
    nn.init.zeros_(layer.bias)
    return layer


class Block(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(units, 1e-12), nn.LayerNorm(units, 1e-12)
        self.qkv, self.out = linear(units, 3 * units), linear(units, units)
        self.fc1, self.fc2 = linear(units, 4 * units), linear(4 * units, units)

    def forward(self, x):
        batch, time, units = x.shape
        q, k, v = (p.view(batch, time, HEADS, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, time, units))
        return x + self.fc2(F.relu(self.fc1(self.ln2(x))))


class Transformer(nn.Module):
    def __init__(self, characters, units, layers):
        super().__init__()
        self.embed, self.position = nn.Embedding(characters, units), nn.Embedding(LENGTH, units)
        self.blocks = nn.Sequential(*(Block(units) for _ in range(layers)))
        self.ln, self.out = nn.LayerNorm(units, 1e-12), linear(units, characters)

    def forward(self, x):
        h = self.embed(x) + self.position(torch.arange(x.shape[1]))
        return self.out(self.ln(self.blocks(h))).flatten(0, 1)


def blocks(text):
    each = (len(text) - 1) // PIECES
    x, t = text[:PIECES * each].view(PIECES, each), text[1:PIECES * each + 1].view(PIECES, each)
    for at in range(0, each, LENGTH):
        yield x[:, at:at + LENGTH], t[:, at:at + LENGTH].reshape(-1)


def bits(model, text):
    total, n = 0.0, 0
    with torch.no_grad():
        for x, t in blocks(text):
            total += F.cross_entropy(model(x), t).item()
            n += 1
    return total / n / math.log(2)


def main(path, epochs=10, units=128, layers=2):
    with open(path, "rb") as f:
        data = f.read()
    number = {c: i for i, c in enumerate(sorted(set(data)))}
    text = torch.tensor([number[c] for c in data])
    n = len(text) - len(text) // 10
    torch.manual_seed(0)
    model = Transformer(len(number), units, layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    begin = time.perf_counter()
    for epoch in range(1, epochs + 1):
        total = steps = 0
        for x, t in blocks(text[:n]):
            loss = F.cross_entropy(model(x), t)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            total += loss.item()
            steps += 1
        valid = bits(model, text[n:])
        print(f"{epoch:<11} {total / steps / math.log(2):<11.5f} {valid:<20.5f} {time.perf_counter() - begin:.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
