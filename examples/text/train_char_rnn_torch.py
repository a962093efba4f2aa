"""The model of train_char_rnn.cpp in PyTorch, for comparison: the same text, batches, layers and optimizer.

  python3 train_char_rnn_torch.py TEXT [epochs [units]]
"""
import math
import sys
import time

import torch
from torch import nn

PIECES, LENGTH, RATE, CLIP = 50, 50, 0.002, 5.0


class CharRNN(nn.Module):
    def __init__(self, characters, units):
        super().__init__()
        self.embed = nn.Embedding(characters, units)
        self.lstm = nn.LSTM(units, units, batch_first=True)
        self.out = nn.Linear(units, characters)

    def forward(self, x, state):
        y, state = self.lstm(self.embed(x), state)
        return self.out(y).flatten(0, 1), tuple(s.detach() for s in state)


def blocks(text):
    each = (len(text) - 1) // PIECES
    x, t = text[:PIECES * each].view(PIECES, each), text[1:PIECES * each + 1].view(PIECES, each)
    for at in range(0, each, LENGTH):
        yield x[:, at:at + LENGTH], t[:, at:at + LENGTH].reshape(-1)


def bits(model, text):
    state, total, n = None, 0.0, 0
    with torch.no_grad():
        for x, t in blocks(text):
            scores, state = model(x, state)
            total += nn.functional.cross_entropy(scores, t).item()
            n += 1
    return total / n / math.log(2)


def main(path, epochs=10, units=256):
    with open(path, "rb") as f:
        data = f.read()
    number = {c: i for i, c in enumerate(sorted(set(data)))}
    text = torch.tensor([number[c] for c in data])
    n = len(text) - len(text) // 10
    torch.manual_seed(0)
    model = CharRNN(len(number), units)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    begin, state = time.perf_counter(), None
    for epoch in range(1, epochs + 1):
        total = steps = 0
        for x, t in blocks(text[:n]):
            scores, state = model(x, state)
            loss = nn.functional.cross_entropy(scores, t)
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
