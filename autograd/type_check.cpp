#include <catena/autograd/type_check.h>

#include <cmath>

#include <catena/autograd/array.h>
#include <catena/kernels/base/index_key.h>

namespace autograd::type_check {
namespace internal {

std::int64_t element(const Dims& d, std::int64_t i) {
  const std::int64_t n = d.size();
  catena::check<catena::IndexError>(i >= -n && i < n, "type check", "index ", i, " is out of range for ", d);
  return d[static_cast<int>(i < 0 ? i + n : i)];
}

Dims elements(const Dims& d, const Slice& s) {
  const catena::SliceRange range = catena::resolve_slice("type check", {s.start, s.stop, s.step}, d.size());
  Dims result;
  for (std::int64_t i = 0; i < range.length; ++i) result.push_back(d[int(range.start + i * range.step)]);
  return result;
}

void print_index(std::string& out, const Slice& s) {
  if (s.start) out += std::to_string(*s.start);
  out += ':';
  if (s.stop) out += std::to_string(*s.stop);
  if (s.step) (out += ':') += std::to_string(*s.step);
}

void EntryBase::print(std::string& out) const { out += catena::concat(tuple->name(), '[', index, ']'); }

namespace {
std::size_t checked(const EntryBase& e) {
  const auto n = std::int64_t(e.tuple->count());
  const std::int64_t i = e.index < 0 ? e.index + n : e.index;
  catena::check<catena::IndexError>(i >= 0 && i < n, "type check", e.tuple->name(), "[", e.index,
                                    "] does not exist: there are ", n, " inputs");
  return static_cast<std::size_t>(i);
}
}  // namespace

const Shape& EntryBase::shape_value() const { return tuple->shape(checked(*this)); }
Dtype EntryBase::dtype_value() const { return tuple->dtype(checked(*this)); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  catena::check<catena::ValueError>(b != 0, "type check", a, " // 0");
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  catena::check<catena::ValueError>(b != 0, "type check", a, " % 0");
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::int64_t power(std::int64_t a, std::int64_t b) {
  catena::check<catena::ValueError>(b >= 0, "type check", a, " ** ", b, " is not an integer");
  std::int64_t result = 1;
  for (; b > 0; --b) result *= a;
  return result;
}

double floor_divide(double a, double b) { return std::floor(a / b); }
double modulo(double a, double b) { return a - b * std::floor(a / b); }
double power(double a, double b) { return std::pow(a, b); }

}  // namespace internal

bool same_types(std::span<const Array> arrays) noexcept {
  for (const Array& a : arrays)
    if (!same_backend(a, arrays[0]) || a.device().kind != arrays[0].device().kind) return false;
  return true;
}

}  // namespace autograd::type_check
