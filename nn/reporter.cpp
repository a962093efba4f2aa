#include <catena/nn/reporter.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/config.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link.h>

namespace nn {

using catena::check;
using catena::KeyError;
using catena::RuntimeError;

namespace {

const autograd::Variable& checked(const autograd::Variable& v) {
  check<catena::TypeError>(v && v.data(), "report", "the value is a ", v ? "variable without data" : "null variable",
                           "; a number is needed");
  check<catena::TypeError>(!catena::is_complex_dtype(v.dtype()), "report", "the value is ", v.dtype(),
                           "; a real number is needed");
  return v;
}

}  // namespace

Observed::Observed(const autograd::Variable& v) : variable_(checked(v)) {}
Observed::Observed(const autograd::Array& a) : Observed(autograd::Variable(a, {.volatile_ = autograd::AUTO})) {}

Observed Observed::constant(const autograd::Array& a) {
  Observed result(a);
  result.is_constant_ = true;
  return result;
}

autograd::Variable Observed::as_variable() const {
  return variable_ ? variable_ : autograd::Variable(autograd::arrays::full({}, number_, autograd::Dtype::float64));
}
double Observed::value() const { return variable_ ? autograd::item(variable_.data()).to_double() : number_; }

void Observation::set(const std::string& key, const Observed& value) try {
  for (Entry& e : entries_) {
    if (e.first == key) {
      e.second = value;
      return;
    }
  }
  entries_.emplace_back(key, value);
} catch (...) {
  catena::rethrow_standard("Observation");
}

const Observed* Observation::find(std::string_view key) const noexcept {
  for (const Entry& e : entries_)
    if (e.first == key) return &e.second;
  return nullptr;
}

const Observed& Observation::at(std::string_view key) const {
  if (const Observed* found = find(key)) return *found;
  std::string available;
  for (const Entry& e : entries_) available += (available.empty() ? "" : ", ") + e.first;
  catena::fail<KeyError>("Observation", "nothing was reported as ", key, " (available: ", available, ")");
}

namespace {
std::vector<Reporter*>& reporter_stack() {
  thread_local std::vector<Reporter*> stack;
  return stack;
}
}  // namespace

void Reporter::add_observer(const std::string& name, const void* observer) try {
  for (auto& [known, known_name] : names_)
    if (known == observer) {
      known_name = name;
      return;
    }
  names_.emplace_back(observer, name);
} catch (...) {
  catena::rethrow_standard("Reporter");
}

void Reporter::add_link(const std::string& prefix, Link& root) try {
  for (const NamedLink& l : root.namedlinks()) add_observer(l.path == "/" ? prefix : prefix + l.path, l.link);
} catch (...) {
  catena::rethrow_standard("Reporter");
}

// The value without the graph of the variable, unless the configuration keeps it.
static Observed kept_by_report(const Observed& value) {
  const autograd::Variable& v = value.variable();
  if (!v || v.creator() == nullptr || autograd::config().keep_graph_on_report) return value;
  return value.is_constant() ? Observed::constant(v.data()) : Observed(v.data());
}

void Reporter::report(const std::string& key, const Observed& given, const void* observer) try {
  const Observed value = kept_by_report(given);
  if (observer == nullptr) return current_->set(key, value);
  const auto name = std::find_if(names_.begin(), names_.end(), [&](const auto& n) { return n.first == observer; });
  check<KeyError>(name != names_.end(), "report", "the observer that reports ", key,
                  " is not registered with this reporter");
  current_->set(name->second + "/" + key, value);
} catch (...) {
  catena::rethrow_standard("report");
}

Reporter::Scope::Scope(Reporter& r, Observation& observation) try : reporter_(r), previous_(r.current_) {
  reporter_stack().push_back(&r);
  r.current_ = &observation;
} catch (...) {
  catena::rethrow_standard("Reporter");
}
Reporter::Scope::~Scope() {
  reporter_.current_ = previous_;
  reporter_stack().pop_back();
}

Reporter* find_current_reporter() noexcept { return reporter_stack().empty() ? nullptr : reporter_stack().back(); }

Reporter& get_current_reporter() {
  check<RuntimeError>(!reporter_stack().empty(), "get_current_reporter", "no reporter is in use on this thread");
  return *reporter_stack().back();
}

void report(const std::string& key, const Observed& value, const void* observer) {
  if (!reporter_stack().empty()) reporter_stack().back()->report(key, value, observer);
}

void Summary::add(double value, std::int64_t weight) noexcept {
  x_ += value * double(weight);
  x2_ += value * value * double(weight);
  n_ += weight;
}

void Summary::add_array(const autograd::Array& value, std::int64_t weight) {
  check<catena::ValueError>(value && value.size() == 1, "Summary.add", "one number is needed, not ",
                            value ? catena::concat("an array of shape ", value.shape()) : "no array");
  const autograd::Array x = autograd::astype(autograd::reshape(value, {1}), autograd::Dtype::float64);
  const autograd::Array both[] = {x, x * x};
  const autograd::Array sums = autograd::concatenate(both, 0) * double(weight);
  if (on_device_ && on_device_.device() != sums.device()) collect();
  on_device_ = on_device_ ? on_device_ + sums : sums;
  n_ += weight;
}

void Summary::collect() const {
  if (!on_device_) return;
  const std::vector<double> sums = autograd::to_vector<double>(on_device_);
  x_ += sums[0];
  x2_ += sums[1];
  on_device_ = {};
}

double Summary::sum() const {
  collect();
  return x_;
}
double Summary::sum_of_squares() const {
  collect();
  return x2_;
}
void Summary::set(double x, double x2, std::int64_t n) noexcept {
  x_ = x, x2_ = x2, n_ = n;
  on_device_ = {};
}

double Summary::compute_mean() const {
  check<RuntimeError>(n_ > 0, "Summary", "there is no mean of nothing");
  return sum() / double(n_);
}

std::pair<double, double> Summary::make_statistics() const {
  const double mean = compute_mean();  // collects
  return {mean, std::sqrt(std::fmax(x2_ / double(n_) - mean * mean, 0.0))};
}

// Pending values are not read, so that adding does not synchronise. Above this number they are read, to limit the
// memory of a summary over a long interval.
constexpr std::size_t kMaxPending = 4096;

void DictSummary::add(const std::string& key, const Observed& value, std::int64_t weight) try {
  if (!value.is_scalar()) return;
  // Stores the value without its graph, so that the memory of the graph can be released before the summary is read: as
  // a number if reading does not block, else as a copy on its device.
  const auto taken = [&]() -> Observed {
    if (value.is_constant()) return value;
    const autograd::Array& data = value.variable().data();
    if (data.device().kind == autograd::Device::Kind::cpu) return value.value();
    return autograd::copy(data);
  };
  if (pending_.size() >= kMaxPending) flush();
  pending_.push_back({key, taken(), weight});
} catch (...) {
  catena::rethrow_standard("DictSummary");
}

// Adds all values or, after an error, none.
void DictSummary::add(const Observation& observation, std::int64_t weight) {
  if (pending_.size() + observation.size() > kMaxPending) flush();
  const std::size_t before = pending_.size();
  try {
    for (const auto& [key, value] : observation) add(key, value, weight);
  } catch (...) {
    if (pending_.size() > before) pending_.erase(pending_.begin() + std::ptrdiff_t(before), pending_.end());
    throw;
  }
}

Summary& DictSummary::summary(const std::string& key) const {
  if (const auto known = places_.find(key); known != places_.end()) return summaries_[known->second].second;
  summaries_.emplace_back(key, Summary());
  try {
    places_.emplace(key, summaries_.size() - 1);
  } catch (...) {
    summaries_.pop_back();
    throw;
  }
  return summaries_.back().second;
}

// After an error, the values that have been added are no longer pending.
void DictSummary::flush() const {
  std::size_t added = 0;
  try {
    for (const auto& [key, value, weight] : pending_) {
      summary(key).add(value.value(), weight);
      ++added;
    }
  } catch (...) {
    pending_.erase(pending_.begin(), pending_.begin() + std::ptrdiff_t(added));
    throw;
  }
  pending_.clear();
}

const std::vector<std::pair<std::string, Summary>>& DictSummary::summaries() const try {
  flush();
  return summaries_;
} catch (...) {
  catena::rethrow_standard("DictSummary");
}

void DictSummary::set(const std::string& key, const Summary& s) try {
  flush();
  summary(key) = s;
} catch (...) {
  catena::rethrow_standard("DictSummary");
}

double NamedNumbers::operator[](std::string_view name) const {
  for (const auto& [known, number] : *this)
    if (known == name) return number;
  std::string names;
  for (const auto& [known, number] : *this) names += (names.empty() ? "" : ", ") + known;
  catena::fail<catena::KeyError>("summary", "there is no ", name, "; the names are ", names);
}

NamedNumbers DictSummary::compute_mean() const try {
  NamedNumbers means;
  for (const auto& [key, s] : summaries()) means.emplace_back(key, s.compute_mean());
  return means;
} catch (...) {
  catena::rethrow_standard("DictSummary");
}

NamedNumbers DictSummary::make_statistics() const try {
  NamedNumbers result;
  for (const auto& [key, s] : summaries()) {
    const auto [mean, deviation] = s.make_statistics();
    result.emplace_back(key, mean);
    result.emplace_back(key + ".std", deviation);
  }
  return result;
} catch (...) {
  catena::rethrow_standard("DictSummary");
}

}  // namespace nn
