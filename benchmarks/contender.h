// Folder benchmarks: the cases, the programs that measure them, and compare.sh, which measures Catena and its peers.
// The libraries' correctness is tested in tests; this folder may use all libraries.
//
// This file is shared by all contenders of compare.sh in C++: the inputs of the cases, fingerprints of results, and the
// requests. It uses the standard library only, because peers do not link to Catena. A contender answers these requests:
//
//   cases [tiny]                 the number of cases, then a line per case: its name and parameters (Catena only)
//   sweep <seed> <shapes> <most> the number of lines, then a line per shape that is drawn for a case, with at most
//                                <most> elements: the case's name and parameters (Catena only)
//   variants <case>              the variants of a case (peers only)
//   setup <case> [<variant>] <name>=<n>...
//                                sets up a case and drops the previous one
//   result                       the fingerprint of the result: its size, the mean magnitude, the element at a third
//                                of the size, the mean of element i times 1 + i % 7, the bytes of an element
//   run <calls>                  one untimed call, then the nanoseconds of <calls> calls and the wait for the device;
//                                without the untimed call once a call of the case has taken a second
//   versions                     the names and versions of what is measured
//
// Requests are lines on standard input; each is answered by a line "ok ..." or "error <why>".
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

using Parameters = std::map<std::string, std::int64_t>;

// Wellons' lowbias32 of a position and a seed, scaled to [0, 1) in steps of 2^-24.
inline double unit(std::size_t i, std::int64_t seed) {
  std::uint32_t x = std::uint32_t(i) * 0x9E3779B9u + std::uint32_t(seed) * 0x85EBCA6Bu + 1;
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return ((x ^ (x >> 16)) >> 8) * 0x1p-24;
}

// Returns low + (high - low) * unit at every position, in C order. Large arrays repeat values, so that making them does
// not take longer than the measurement.
inline std::vector<float> uniform_values(std::size_t n, std::int64_t seed, double low = 0, double high = 1) {
  constexpr std::size_t kPeriod = (1 << 24) + 43;
  std::vector<float> values(n);
  for (std::size_t i = 0; i < std::min(n, kPeriod); ++i) values[i] = float(low + (high - low) * unit(i, seed));
  for (std::size_t i = kPeriod; i < n; ++i) values[i] = values[i - kPeriod];
  return values;
}

inline std::string fingerprint(const std::vector<double>& values, std::size_t itemsize) {
  double magnitude = 0, weighted = 0;
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    magnitude += std::abs(values[i]);
    weighted += values[i] * double(1 + i % 7);
  }
  char text[160];
  std::snprintf(text, sizeof text, "%zu %.9g %.9g %.9g %zu", n, magnitude / double(n), values[n / 3],
                weighted / double(n), itemsize);
  return text;
}

// Returns a function that calls f in a loop compiled together with f, so that a call has no indirection.
template <class F> std::function<void(std::int64_t)> repeated(F f) {
  return [f = std::move(f)](std::int64_t calls) mutable {
    for (std::int64_t i = 0; i < calls; ++i) f();
  };
}

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string cases(bool) { throw std::invalid_argument("this contender has no table of cases"); }
  virtual std::string sweep(std::int64_t, std::int64_t, std::int64_t) {
    throw std::invalid_argument("this contender has no table of cases");
  }
  virtual std::string variants(const std::string&) { return "default"; }
  virtual std::string versions() = 0;
  virtual void setup(std::istream& words) = 0;
  virtual std::string result() = 0;
  virtual void run(std::int64_t calls) = 0;
  virtual void synchronize() {}

  // Answers requests until standard input ends.
  void serve() {
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string reply;
      try {
        reply = "ok " + answer(words);
      } catch (const std::exception& e) {
        reply = std::string("error ") + e.what();
        std::replace(reply.begin(), reply.end(), '\n', ' ');
      }
      std::cout << reply << std::endl;
    }
  }

 protected:
  // Parses the remaining words <name>=<n>.
  static Parameters parameters(std::istream& words) {
    Parameters p;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::invalid_argument("'" + word + "' is no <name>=<number>");
      p[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
    }
    return p;
  }

 private:
  std::string answer(std::istream& words) {
    std::string request, word;
    words >> request;
    if (request == "cases") return cases(bool(words >> word));
    if (request == "versions") return versions();
    if (request == "variants" && words >> word) return variants(word);
    if (request == "result") return result();
    if (request == "setup") {
      call_ns_ = 0;
      setup(words);
      return "";
    }
    std::int64_t calls = 0, seed = 0, shapes = 0, most = 0;
    if (request == "sweep" && words >> seed >> shapes >> most) return sweep(seed, shapes, most);
    if (request != "run" || !(words >> calls) || calls < 1)
      throw std::invalid_argument("'" + request + "' is no request");
    return std::to_string(timed(calls));
  }

  // The untimed call reloads the caches after other contenders have run; for a long call this is negligible.
  std::int64_t timed(std::int64_t calls) {
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t kLongCall = 1'000'000'000;
    if (call_ns_ < kLongCall) {
      run(1);
      synchronize();
    }
    const auto start = Clock::now();
    run(calls);
    synchronize();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    call_ns_ = ns / calls;
    return ns;
  }

  std::int64_t call_ns_ = 0;  // time of the last measured call of the case
};

}  // namespace bench
