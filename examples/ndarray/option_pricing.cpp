// Monte-Carlo pricing of options on a stock, whose price follows a geometric Brownian motion. The price of a European
// call is compared with the closed form of Black and Scholes (1973), that of an Asian call with its geometric twin,
// which has a closed form, too, and serves as a control variate.
// prints: European call: 9[.]1[0-9]+ [+]- 0[.]00[0-9]+, Black-Scholes 9[.]1218
// prints: geometric Asian call: 4[.][34][0-9]+ [+]- 0[.]0[0-9]+, exactly 4[.]40959
// prints: with the control variate 4[.]66
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <catena/ndarray/ndarray.h>

namespace {

// Exits with an error unless the condition holds.
void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

struct Market {
  double price = 100, strike = 105, rate = 0.03, volatility = 0.25, years = 1;
};

double normal_distribution(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// Returns the discounted mean of max(exp(g) - strike, 0) for a normal g.
double lognormal_call(double mean, double deviation, const Market& m) {
  const double d = (mean - std::log(m.strike)) / deviation;
  return std::exp(-m.rate * m.years) *
         (std::exp(mean + deviation * deviation / 2) * normal_distribution(d + deviation) -
          m.strike * normal_distribution(d));
}

// Returns the discounted payoff of a call for each of these final (or mean) prices.
nd::Array payoff(const nd::Array& prices, const Market& m) {
  return std::exp(-m.rate * m.years) * nd::maximum(prices - m.strike, 0);
}

// Mean and standard error.
std::pair<double, double> estimate(const nd::Array& samples) {
  return {samples.mean().item<double>(), samples.std().item<double>() / std::sqrt(double(samples.size()))};
}

}  // namespace

int main() {
  const Market m;
  nd::random::seed(11);
  const double drift = m.rate - m.volatility * m.volatility / 2;

  // A European call depends only on the final price. Every normal number is used with both signs.
  const nd::Array z = nd::random::standard_normal({1 << 20});
  const nd::Array both = nd::stack({z, -z});
  const nd::Array final_price = m.price * nd::exp(drift * m.years + m.volatility * std::sqrt(m.years) * both);
  const auto [european, european_error] = estimate(payoff(final_price, m).mean(0));
  const double exact = lognormal_call(std::log(m.price) + drift * m.years, m.volatility * std::sqrt(m.years), m);
  std::cout << "European call: " << european << " +- " << european_error << ", Black-Scholes " << exact << "\n";
  check(std::abs(european - exact) < 4 * european_error, "the price is that of Black and Scholes");
  check(european_error < 0.02, "a million paths give two digits");

  // The payoff of an Asian call depends on the mean of the prices at the end of each month; the paths are rows.
  constexpr std::int64_t months = 12, paths = 100000;
  const double dt = m.years / months;
  const nd::Array steps = drift * dt + m.volatility * std::sqrt(dt) * nd::random::standard_normal({paths, months});
  const nd::Array logarithms = std::log(m.price) + nd::cumsum(steps, 1);
  const nd::Array asian = payoff(nd::exp(logarithms).mean(1), m);
  const nd::Array geometric = payoff(nd::exp(logarithms.mean(1)), m);

  // The mean of the logarithms is normal; its mean and variance are sums over the months.
  const double mean = std::log(m.price) + drift * dt * (months + 1) / 2;
  const double variance = m.volatility * m.volatility * dt * (months + 1) * (2 * months + 1) / (6.0 * months);
  const double exact_geometric = lognormal_call(mean, std::sqrt(variance), m);
  const auto [plain, plain_error] = estimate(asian);
  const auto [twin, twin_error] = estimate(geometric);
  const auto [controlled, controlled_error] = estimate(asian - geometric + exact_geometric);
  std::cout << "geometric Asian call: " << twin << " +- " << twin_error << ", exactly " << exact_geometric << "\n"
            << "Asian call: " << plain << " +- " << plain_error << "; with the control variate " << controlled << " +- "
            << controlled_error << "\n";
  check(std::abs(twin - exact_geometric) < 4 * twin_error, "the geometric mean has the exact price");
  check(std::abs(plain - controlled) < 4 * plain_error, "both estimates agree");
  check(controlled_error < plain_error / 10, "the control variate removes most of the error");
}
