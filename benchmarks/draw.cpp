#include <catena/benchmarks/draw.h>

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

std::int64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037ull;  // FNV-1a
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return static_cast<std::int64_t>(h % 1000003);
}

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

constexpr std::int64_t kMostRows = 1000000, kMostColumns = 100000;

}  // namespace

Draw::Draw(std::string_view name, std::int64_t seed, std::int64_t number, std::int64_t most)
    : seed_(hash(name) + 7919 * seed + 104729 * number), most_(most) {}

double Draw::unit() { return bench::unit(drawn_++, seed_); }

std::int64_t Draw::log_uniform(std::int64_t low, std::int64_t high) {
  const double x = std::exp(std::log(double(low)) + unit() * (std::log(double(high) + 1) - std::log(double(low))));
  return std::clamp(std::int64_t(x), low, high);
}

std::int64_t Draw::length(std::int64_t low, std::int64_t high) {
  const std::int64_t n = log_uniform(low, high), kind = one_of({0, 0, 1, 2});
  std::int64_t moved = n;
  if (kind == 1)
    while (moved > low && !is_prime(moved)) --moved;
  if (kind == 2) moved = n / 16 * 16;
  return moved < low ? n : moved;
}

std::int64_t Draw::one_of(std::initializer_list<std::int64_t> values) {
  return values.begin()[std::size_t(unit() * double(values.size()))];
}

std::int64_t Draw::dtype(std::string_view characters) {
  return characters[std::size_t(unit() * double(characters.size()))];
}

std::int64_t Draw::offset() { return unit() < 0.5 ? 0 : 1 + std::int64_t(unit() * 15); }

std::int64_t Draw::most(std::int64_t dtype) const {
  return dtype == 'd' || dtype == 'l' ? std::max<std::int64_t>(10, most_ / 2) : most_;
}

std::int64_t Draw::elements(std::int64_t dtype) { return log_uniform(10, most(dtype)); }

Parameters Draw::line(std::string_view dtypes) {
  const std::int64_t kind = dtype(dtypes);
  return {{"n", length(10, most(kind))}, {"sets", 1}, {"dtype", kind}, {"offset", offset()}};
}

Parameters Draw::matrix(std::string_view dtypes) {
  const std::int64_t kind = dtype(dtypes), n = elements(kind), least = std::max<std::int64_t>(1, n / kMostRows);
  const std::int64_t columns = length(least, std::max(least, std::min(n, kMostColumns)));
  const std::int64_t rows = std::clamp<std::int64_t>(n / columns, 1, kMostRows);
  return {{"rows", rows}, {"columns", columns}, {"sets", 1}, {"dtype", kind}, {"offset", offset()}};
}

Parameters Draw::block(std::string_view dtypes) {
  const std::int64_t kind = dtype(dtypes), n = elements(kind), axis = length(1, std::min(n, kMostColumns));
  const std::int64_t inner = length(1, std::max<std::int64_t>(1, n / axis));
  const std::int64_t outer = std::clamp<std::int64_t>(n / axis / inner, 1, kMostRows);
  return {{"outer", outer}, {"axis", axis}, {"inner", inner}, {"sets", 1}, {"dtype", kind}, {"offset", offset()}};
}

}  // namespace bench
