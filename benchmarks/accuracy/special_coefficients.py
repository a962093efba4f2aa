"""Computes the coefficients of kernels/special_math.h: python3 benchmarks/accuracy/special_coefficients.py (needs mpmath).

Each function is interpolated with 60 digits at Chebyshev's points of an interval. Printed are the coefficients, from the highest power of the
shifted argument to the constant, as a nested product, and the largest relative error of the polynomial with coefficients rounded to float64.
"""
import sys

from mpmath import mp, mpf

mp.dps = 60


def interpolated(f, low, high, degree, shift):
    """The coefficients, from the constant on, of the polynomial in (x - shift) that equals f at Chebyshev's points."""
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos((2 * k + 1) * mp.pi / (2 * degree + 2)) for k in range(degree + 1)]
    differences = [f(x) for x in nodes]
    for order in range(1, degree + 1):
        for k in range(degree, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order])
    coefficients = [mpf(0)]
    for k in range(degree, -1, -1):
        root = nodes[k] - shift
        shifted = [mpf(0)] + coefficients
        coefficients = [shifted[i] - (root * coefficients[i] if i < len(coefficients) else 0) for i in range(len(shifted))]
        coefficients[0] += differences[k]
    return coefficients[:degree + 1]


def show(name, f, low, high, degree, shift=0):
    low, high, shift = mpf(low), mpf(high), mpf(shift)
    rounded = [float(c) for c in interpolated(f, low, high, degree, shift)]
    points = [low + (high - low) * k / 300 for k in range(301)]
    error = max(abs(mp.polyval([mpf(c) for c in reversed(rounded)], x - shift) / f(x) - 1) for x in points)
    print(f"// {name}: [{mp.nstr(low, 6)}, {mp.nstr(high, 6)}], about {mp.nstr(shift, 6)}, relative error {mp.nstr(error, 2)}")
    print(f"  double p = {rounded[-1]!r};")
    for c in reversed(rounded[1:-1]):
        print(f"  p = p * t + {c!r};" if c >= 0 else f"  p = p * t - {-c!r};")
    print(f"  return p * t + {rounded[0]!r};\n" if rounded[0] >= 0 else f"  return p * t - {-rounded[0]!r};\n")


def quotient(f, limit):
    """f(t) / t, and its limit at 0."""
    return lambda t: f(t) / t if abs(t) > mpf(10) ** -25 else limit


def erfinv_quotient(w):
    """erfinv(x) / x of x = sqrt(1 - exp(-w)): Newton's method for the logarithm of erfc."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    q = mp.exp(-w) / (1 + x)
    y = mp.erfinv(x) if w < 30 else mp.sqrt(w)
    for _ in range(0 if w < 30 else 12):
        tail = mp.erfc(y)
        y += (mp.log(tail) - mp.log(q)) * tail * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    return y / x


def main():
    one = 1 - mp.euler
    show("gamma_rest: (gamma(2 + t) - 1) / t", quotient(lambda t: mp.gamma(2 + t) - 1, one), 0, 1, 19)
    show("log_gamma_rest: log(gamma(2 + t)) / t", quotient(lambda t: mp.loggamma(2 + t), one), -0.5, 1, 22)
    root = mp.findroot(mp.digamma, 1.4616)
    high = float(root)
    print("root of digamma:", repr(high), repr(float(root - high)))
    show("digamma_rest: digamma(x) / (x - root)", lambda x: mp.digamma(x) / (x - root) if x != root else mp.psi(1, x), 1, 2, 21, 1.5)
    show("erfinv of w", erfinv_quotient, 0, 6, 22, 3)
    for low, high, degree in ((2.4375, 4, 22), (4, 7, 22), (7, 14, 20), (14, 28, 20)):
        show("erfinv of the root of w", lambda v: erfinv_quotient(v * v), low, high, degree, (mpf(low) + high) / 2)
    for order in (0, 1):
        show(f"i{order}_rest: sqrt(x) exp(-x) I{order}(x) of 1 / x",
             lambda u: mp.besseli(order, 1 / u) * mp.exp(-1 / u) * mp.sqrt(1 / u) if u > 0 else 1 / mp.sqrt(2 * mp.pi), 0, mpf(1) / 8, 22)
    quarter = mpf(1) / 16
    show("sine_of_turn: sin(pi r) / r of r^2", lambda z: mp.sin(mp.pi * mp.sqrt(z)) / mp.sqrt(z) if z > 0 else mp.pi, 0, quarter, 8)
    show("cosine_of_turn: cos(pi r) of r^2", lambda z: mp.cos(mp.pi * mp.sqrt(z)), 0, quarter, 8)
    print("Stirling:", [float(mp.bernoulli(2 * k) / (2 * k * (2 * k - 1))) for k in range(1, 9)])
    print("digamma:", [float(mp.bernoulli(2 * k) / (2 * k)) for k in range(1, 9)])
    print("zeta:", [float(mp.bernoulli(2 * k) / mp.factorial(2 * k)) for k in range(1, 13)])
    print("i0:", [float(1 / mp.factorial(k) ** 2) for k in range(0, 26)])
    print("i1:", [float(1 / mp.factorial(k) / mp.factorial(k + 1)) for k in range(0, 26)])


if __name__ == "__main__":
    sys.exit(main())
