// The lower bound of memory-bound cases: plain loops over allocated memory, one thread per core, no library. peers.py
// compiles it for the machine on which it runs.
#include <bit>
#include <cstdlib>
#include <memory>
#include <thread>

#ifdef __SSE__
#include <immintrin.h>
#endif

#include "../../contender.h"

namespace {

using bench::Parameters;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Memory = std::unique_ptr<float[], Free>;

Memory memory(std::size_t n) {
  return Memory(static_cast<float*>(std::aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64)));
}
Memory uniform(std::size_t n, std::int64_t seed) {
  const std::vector<float> values = bench::uniform_values(n, seed);
  Memory m = memory(n);
  std::copy(values.begin(), values.end(), m.get());
  return m;
}

// A streaming store: a store through the caches would read the line first.
void store(float* p, float value) {
#if defined(__SSE__)
  _mm_stream_si32(reinterpret_cast<int*>(p), std::bit_cast<int>(value));
#else
  *p = value;
#endif
}

void add(const float* a, const float* b, float* c, std::size_t n) {
  std::size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) _mm512_stream_ps(c + i, _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
#elif defined(__AVX__)
  for (; i + 8 <= n; i += 8) _mm256_stream_ps(c + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
#elif defined(__SSE__)
  for (; i + 4 <= n; i += 4) _mm_stream_ps(c + i, _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)));
#endif
  for (; i < n; ++i) store(c + i, a[i] + b[i]);
#ifdef __SSE__
  _mm_sfence();
#endif
}

float sum(const float* a, std::size_t n) {
  constexpr std::size_t kLanes = 128;
  float lane[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += a[i + l];
  for (; i < n; ++i) lane[0] += a[i];
  float total = 0;
  for (float x : lane) total += x;
  return total;
}

// Calls f(begin, end, thread) for parts of 0..n, in whole cache lines.
template <class F> void rows_per_vector(std::size_t n, F f) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const std::size_t threads = text ? std::max(1, std::atoi(text)) : 1, share = (n / threads + 15) / 16 * 16;
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t)
    others.emplace_back([=] { f(std::min(n, t * share), std::min(n, (t + 1) * share), t); });
  f(std::size_t(0), std::min(n, share), std::size_t(0));
  for (std::thread& t : others) t.join();
}

struct Ready {
  std::function<void(std::int64_t)> run;
  std::function<std::vector<double>()> result;
};

Ready addition(const Parameters& p) {
  struct Set {
    Memory a, b;
  };
  const auto n = static_cast<std::size_t>(p.at("n"));
  auto sets = std::make_shared<std::vector<Set>>();
  for (std::int64_t s = 0; s < p.at("sets"); ++s) sets->push_back({uniform(n, 2 * s), uniform(n, 2 * s + 1)});
  std::shared_ptr<float[]> c = memory(n);
  const auto once = [n, sets, c](std::size_t s) {
    rows_per_vector(n, [a = (*sets)[s].a.get(), b = (*sets)[s].b.get(), to = c.get()](std::size_t first,
                                                                                      std::size_t last, std::size_t) {
      add(a + first, b + first, to + first, last - first);
    });
  };
  return {bench::repeated([once, sets, at = std::size_t{0}]() mutable { once(at++ % sets->size()); }), [once, c, n] {
            once(0);
            return std::vector<double>(c.get(), c.get() + n);
          }};
}

Ready full_sum(const Parameters& p) {
  const auto n = static_cast<std::size_t>(p.at("rows") * p.at("columns"));
  auto sets = std::make_shared<std::vector<Memory>>();
  for (std::int64_t s = 0; s < p.at("sets"); ++s) sets->push_back(uniform(n, s));
  auto parts = std::make_shared<std::vector<float>>(1024);
  const auto once = [n, sets, parts](std::size_t s) {
    std::fill(parts->begin(), parts->end(), 0.0f);
    rows_per_vector(
        n, [a = (*sets)[s].get(), to = parts->data()](std::size_t first, std::size_t last, std::size_t thread) {
          to[thread] = sum(a + first, last - first);
        });
    return sum(parts->data(), parts->size());
  };
  return {bench::repeated([once, sets, at = std::size_t{0}]() mutable { once(at++ % sets->size()); }),
          [once] { return std::vector<double>{once(0)}; }};
}

const std::map<std::string, Ready (*)(const Parameters&)> table{{"elementwise/add", addition},
                                                                {"reduction/sum", full_sum}};

class Floor : public bench::Contender {
 public:
  std::string variants(const std::string& name) override { return table.count(name) ? "default" : ""; }
  std::string versions() override { return "floor: bare loops"; }
  void setup(std::istream& words) override {
    std::string name, variant;
    words >> name >> variant;
    ready_ = {};
    ready_ = table.at(name)(parameters(words));
  }
  std::string result() override { return bench::fingerprint(ready_.result(), sizeof(float)); }
  void run(std::int64_t calls) override { ready_.run(calls); }

 private:
  Ready ready_;
};

}  // namespace

int main() { Floor().serve(); }
