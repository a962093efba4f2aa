"""Fourier transforms of pairs of real and imaginary parts, and distances of points."""
import torch

from make_torch_fixture import spread


def parts(y):
    return y.real, y.imag


def cases(writer):
    for n in (1, 2, 5, 8):
        pair = {'real': spread((2, n), -1, 1, 1), 'imag': spread((2, n), -1, 1, 2)}
        for name, f in dict(fft=torch.fft.fft, ifft=torch.fft.ifft).items():
            writer.add(name, lambda re, im, f=f: parts(f(torch.complex(re, im))), pair, dtypes=('float64',))
        writer.add('rfft', lambda x: parts(torch.fft.rfft(x)), {'x': spread((3, n), -1, 1, 3)}, dtypes=('float64',))
        half = {'real': spread((2, n // 2 + 1), -1, 1, 4), 'imag': spread((2, n // 2 + 1), -1, 1, 5)}
        writer.add('irfft', lambda re, im, n: torch.fft.irfft(torch.complex(re, im), n), half, dict(n=n), ('float64',))
    for p in (1, 2, 3):
        points = {'x': spread((2, 1, 3, 4), -1, 1, 6), 'y': spread((2, 2, 4), -1, 1, 7)}
        writer.add('cdist', lambda x, y, p: torch.cdist(x, y, float(p)), points, dict(p=p), ('float64',))
