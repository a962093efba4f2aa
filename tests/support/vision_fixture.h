// The rule for the weights of networks for images, which tests/interop/make_vision_fixture.py follows as well, and the
// comparison of results with the values that it recorded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <catena/tests/support/training_fixtures.h>

namespace test {

// Returns the elements of a key: a pattern that begins where the letters of the key say, around a centre.
inline std::vector<float> pattern_of(const std::string& key, const Shape& shape) {
  constexpr std::int64_t kPeriod = 1000003;
  static const std::vector<double> pattern = [] {
    std::vector<double> p(kPeriod);
    for (std::int64_t k = 0; k < kPeriod; ++k)
      p[std::size_t(k)] = double(k * k % kPeriod * k % kPeriod) / double(kPeriod) - 0.5;
    return p;
  }();
  const std::string name = key.substr(key.rfind('/') + 1);
  const std::int64_t n = catena::size_of(shape);
  const double fan_in = double(shape.size() > 1 ? n / shape[0] : 1);
  double center = 0, width = 0.2;
  if (name == "W") width = std::sqrt(24 / fan_in) * (shape[0] == 1000 ? 0.01 : 1);
  else if (name == "gamma") center = key.find("/bn3/") != key.npos ? 0.2 : 1;
  else if (name == "avg_var") center = 1, width = 0.5;
  else if (name == "x") width = 200;
  const std::int64_t offset = std::accumulate(key.begin(), key.end(), std::int64_t(0));
  std::vector<float> values(std::size_t(n), 0);
  const std::int64_t whole = std::min(n, kPeriod);
  for (std::int64_t i = 0; i < whole; ++i)
    values[std::size_t(i)] = float(center + width * pattern[std::size_t((i + offset) % kPeriod)]);
  for (std::int64_t i = whole; i < n; i += whole)
    std::copy_n(values.begin(), std::min(whole, n - i), values.begin() + i);
  return values;
}
inline Array pattern_array(const std::string& key, const Shape& shape) { return floats(pattern_of(key, shape), shape); }

// Gives parameters and running statistics the elements of their keys.
class Filler : public nn::MemberVisitor {
 public:
  static void fill(nn::Link& link) {
    Filler filler;
    link.visit_members(filler);
  }
  void parameter(std::string_view name, nn::Parameter& p) override { set(name, p.data()); }
  void persistent(std::string_view name, nn::Persistent& a) override { set(name, a.array()); }
  void persistent(std::string_view, std::int64_t&) override {}
  void link(std::string_view name, nn::Link& child) override {
    const std::string outer = path_;
    path_ += std::string(name) + "/";
    child.visit_members(*this);
    path_ = outer;
  }

 private:
  void set(std::string_view name, const Array& a) {
    autograd::copy_across(a, pattern_array(path_ + std::string(name), a.shape()));
  }
  std::string path_;
};

// Compares a result with its recorded shape, sums and elements.
inline void check_samples(const Variable& y, const Json& expected, double tolerance, const std::string& what) {
  const std::vector<double> v = autograd::to_vector<double>(y.data());
  BOOST_TEST_REQUIRE(std::size_t(y.ndim()) == expected["shape"].size(), what);
  for (int i = 0; i < y.ndim(); ++i) BOOST_TEST(y.shape(i) == expected["shape"][i].get<std::int64_t>(), what);
  double sum = 0, magnitude = 0;
  for (const double e : v) {
    sum += e;
    magnitude += std::fabs(e);
  }
  const double recorded = expected["magnitude"].get<double>();
  BOOST_TEST(std::fabs(sum - expected["sum"].get<double>()) <= tolerance * recorded, what << ": sum " << sum);
  BOOST_TEST(std::fabs(magnitude - recorded) <= tolerance * recorded, what << ": magnitude " << magnitude);
  for (std::size_t i = 0; i < expected["at"].size(); ++i) {
    const double e = expected["elements"][i].get<double>(), actual = v.at(expected["at"][i].get<std::uint64_t>());
    BOOST_TEST(std::fabs(actual - e) <= tolerance * (std::fabs(e) + 20 * recorded / double(v.size())),
               what << ": element " << actual << " instead of " << e);
  }
}

// Returns "conv1/W 64 3 7 7" for every key of a file of the link, sorted.
class Entries : public nn::MemberVisitor {
 public:
  static std::vector<std::string> of(nn::Link& link) {
    Entries entries;
    link.visit_members(entries);
    std::sort(entries.list_.begin(), entries.list_.end());
    return entries.list_;
  }
  void parameter(std::string_view name, nn::Parameter& p) override { add(name, p.shape()); }
  void persistent(std::string_view name, nn::Persistent& a) override { add(name, a.array().shape()); }
  void persistent(std::string_view name, std::int64_t&) override { add(name, {}); }
  void link(std::string_view name, nn::Link& child) override {
    const std::string outer = path_;
    path_ += std::string(name) + "/";
    child.visit_members(*this);
    path_ = outer;
  }

 private:
  void add(std::string_view name, const Shape& shape) {
    list_.push_back(path_ + std::string(name));
    for (int i = 0; i < shape.size(); ++i) list_.back() += " " + std::to_string(shape[i]);
  }
  std::vector<std::string> list_;
  std::string path_;
};

}  // namespace test
