// Random numbers of distributions that are sampled by rejection. Element i draws from its own sequence of uniform
// numbers: counter `offset` + i of Philox (random.h), streams 0, 1, 2... A value is a pure function of seed, offset and
// position, except that the logarithms of the two backends may differ in the last place, which can, very rarely, change
// whether a candidate is accepted.
#pragma once

#include <catena/kernels/random.h>

namespace catena {

class philox_sequence {
 public:
  ND_FN philox_sequence(uint64_t seed, uint64_t offset, int64_t i) : seed_(seed), counter_(offset + uint64_t(i)) {}
  // Uniform in (0, 1), in steps of 2^-52.
  ND_FN double uniform() {
    const bool first = !has_second_;
    if (first) {
      const philox_block b = philox4x32(seed_, counter_, stream_++);
      bits_ = join_words(b.lane[0], b.lane[1]);
      second_ = join_words(b.lane[2], b.lane[3]);
    }
    has_second_ = first;
    return (double(int64_t((first ? bits_ : second_) >> 12)) + 0.5) * 2.220446049250313e-16;
  }
  ND_FN double normal() {
    const double u = uniform();
    return box_muller(u, uniform(), 0);
  }

 private:
  uint64_t seed_, counter_, bits_ = 0, second_ = 0;
  uint32_t stream_ = 0;
  bool has_second_ = false;
};

// log(k!) minus Stirling's (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2.
ND_FN double stirling_tail(double k) {
  const double x = k + 1;
  if (k < 10) return m::lgamma(x) - ((k + 0.5) * m::log(x) - x + 0.91893853320467274178);
  const double square = x * x;
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / x;
}
// The logarithm of the probability of k under the Poisson distribution, without the cancellation of large terms.
ND_FN double log_poisson(double k, double mean) {
  return k + 1 - mean + k * m::log1p((mean - k - 1) / (k + 1)) - 0.5 * m::log(k + 1) - 0.91893853320467274178 -
         stirling_tail(k);
}

// The candidates of transformed rejection (Hormann 1993): k, and the coordinates of the point that must be below the
// density.
struct rejection_candidate {
  double k, v, us;
  ND_FN rejection_candidate(philox_sequence& random, double a, double b, double c) {
    const double u = random.uniform() - 0.5;
    v = random.uniform();
    us = 0.5 - m::fabs(u);
    k = m::floor((2 * a / us + b) * u + c);
  }
};

// The logarithm of a gamma variate of scale 1, without underflow for small shapes (Marsaglia and Tsang 2000; shapes
// below 1 by the product of a variate of shape + 1 and a power of a uniform number). -inf for shape 0.
ND_FN double log_gamma_variate(philox_sequence& random, double shape) {
  if (!(shape > 0)) return shape == 0 ? -limits<double>::max() : shape - shape;  // max: infinity
  const double power = shape < 1 ? m::log(random.uniform()) / shape : 0;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / m::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (m::log(random.uniform()) < 0.5 * x * x + d - d * v + d * m::log(v)) return m::log(d * v) + power;
  }
}

// Poisson: products of uniform numbers for small means, PTRS (Hormann 1993) for others.
ND_FN int64_t poisson_variate(philox_sequence& random, double mean) {
  if (mean < 10) {
    const double limit = m::exp(-mean);
    int64_t k = 0;
    for (double product = random.uniform(); product > limit; product *= random.uniform()) ++k;
    return k;
  }
  const double b = 0.931 + 2.53 * m::sqrt(mean), a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    const rejection_candidate t(random, a, b, mean + 0.43);
    if (t.us >= 0.07 && t.v <= 0.9277 - 3.6224 / (b - 2)) return int64_t(t.k);
    if (t.k < 0 || (t.us < 0.013 && t.v > t.us)) continue;
    if (m::log(t.v * inverse / (a / (t.us * t.us) + b)) <= log_poisson(t.k, mean)) return int64_t(t.k);
  }
}

// Binomial for p <= 1/2: inversion for small means, BTRS (Hormann 1993) for others.
ND_FN int64_t binomial_by_inversion(philox_sequence& random, double n, double p) {
  const double q = 1 - p, none = m::exp(n * m::log1p(-p)), mean = n * p;
  const double bound = mean + 10 * m::sqrt(mean * q + 1) < n ? mean + 10 * m::sqrt(mean * q + 1) : n;
  for (;;) {
    double u = random.uniform(), probability = none;
    for (double k = 0; k <= bound; ++k) {
      if (u <= probability) return int64_t(k);
      u -= probability;
      probability *= (n - k) * p / ((k + 1) * q);
    }
  }
}
ND_FN int64_t binomial_variate(philox_sequence& random, double n, double p) {
  if (n * p < 10) return binomial_by_inversion(random, n, p);
  const double q = 1 - p, deviation = m::sqrt(n * p * q), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, alpha = (2.83 + 5.1 / b) * deviation, odds = p / q;
  const double mode = m::floor((n + 1) * p);
  for (;;) {
    const rejection_candidate t(random, a, b, n * p + 0.5);
    if (t.us >= 0.07 && t.v <= 0.92 - 4.2 / b) return int64_t(t.k);
    if (t.k < 0 || t.k > n) continue;
    const double bound = (mode + 0.5) * m::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * m::log((n - mode + 1) / (n - t.k + 1)) +
                         (t.k + 0.5) * m::log(odds * (n - t.k + 1) / (t.k + 1)) + stirling_tail(mode) +
                         stirling_tail(n - mode) - stirling_tail(t.k) - stirling_tail(n - t.k);
    if (m::log(t.v * alpha / (a / (t.us * t.us) + b)) <= bound) return int64_t(t.k);
  }
}

// Good items among `sample` of `good` + `bad`: draws one by one for small samples, ratio of uniforms (HRUA, Stadlober
// 1989) for others.
ND_FN double log_orders(double a, double b, double c, double d) {
  return m::lgamma(a + 1) + m::lgamma(b + 1) + m::lgamma(c + 1) + m::lgamma(d + 1);
}
ND_FN double few_good_items(philox_sequence& random, double good, double all, double sample) {
  double found = 0;
  for (double i = 0; i < sample; ++i)
    if (random.uniform() * (all - i) < good - found) ++found;
  return found;
}
// Divides the items into the rarer and the commoner kind, with `rare` <= `common` items.
ND_FN double many_rare_items(philox_sequence& random, double rare, double common, double sample) {
  const double all = rare + common, p = rare / all, centre = sample * p + 0.5;
  const double spread = m::sqrt((all - sample) * sample * p * (1 - p) / (all - 1) + 0.5);
  const double width = 1.7155277699214135 * spread + 0.8989161620588988;  // 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)
  const double mode = m::floor((sample + 1) * (rare + 1) / (all + 2));
  const double best = log_orders(mode, rare - mode, sample - mode, common - sample + mode);
  const double most = sample < rare ? sample : rare, reach = m::floor(centre + 16 * spread);
  const double end = most + 1 < reach ? most + 1 : reach;
  for (;;) {
    const double u = random.uniform(), at = centre + width * (random.uniform() - 0.5) / u;
    if (at < 0 || at >= end) continue;
    const double k = m::floor(at), t = best - log_orders(k, rare - k, sample - k, common - sample + k);
    if (2 * m::log(u) <= t) return k;
  }
}
ND_FN int64_t hypergeometric_variate(philox_sequence& random, double good, double bad, double sample) {
  const double all = good + bad;
  const bool rest = sample > all - sample;  // the remaining items are the smaller sample
  const double taken = rest ? all - sample : sample;
  double found;
  if (taken <= 10) {
    found = few_good_items(random, good, all, taken);
  } else {
    found = good <= bad ? many_rare_items(random, good, bad, taken) : taken - many_rare_items(random, bad, good, taken);
  }
  return int64_t(rest ? good - found : found);
}

namespace k {

struct random_gamma {
  template <class I> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, double shape, double& y) {
    philox_sequence random(seed, offset, i.linear());
    y = m::exp(log_gamma_variate(random, shape));
  }
};
struct random_log_gamma {
  template <class I> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, double shape, double& y) {
    philox_sequence random(seed, offset, i.linear());
    y = log_gamma_variate(random, shape);
  }
};
struct random_poisson {
  template <class I> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, double mean, int64_t& y) {
    philox_sequence random(seed, offset, i.linear());
    y = poisson_variate(random, mean);
  }
};
struct random_binomial {
  template <class I>
  ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, int64_t n, double p, int64_t& y) {
    philox_sequence random(seed, offset, i.linear());
    y = p > 0.5 ? n - binomial_variate(random, double(n), 1 - p) : binomial_variate(random, double(n), p);
  }
};
struct random_hypergeometric {
  template <class I>
  ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, int64_t good, int64_t bad, int64_t sample,
                        int64_t& y) {
    philox_sequence random(seed, offset, i.linear());
    y = hypergeometric_variate(random, double(good), double(bad), double(sample));
  }
};
// Logarithmic series (Kemp 1981).
struct random_logseries {
  template <class I> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, double p, int64_t& y) {
    philox_sequence random(seed, offset, i.linear());
    const double rate = m::log1p(-p);
    for (;;) {
      const double v = random.uniform();
      y = 1;
      if (v >= p) return;
      const double q = -m::expm1(rate * random.uniform());
      if (v >= q) return;
      y = v > q * q ? 2 : 0;
      if (y == 2) return;
      const double k = m::floor(1 + m::log(v) / m::log(q));
      y = k < 9.2e18 ? int64_t(k) : limits<int64_t>::max();
      if (y >= 1) return;
    }
  }
};

}  // namespace k
}  // namespace catena
