// Every registered loop, executed from the PTX that NVRTC makes of it, against the CPU: the same bits, or units in the
// last place where the contract is that. A NaN is any NaN, except that copies keep its bits. Runs on the software CUDA
// device with the toolkit's NVRTC.
//
// CATENA_TEST_SHARD=<k>/<n>: every nth loop only. CATENA_PTX_ROW=<name>: the loops of one row only, in every layout.
// CATENA_PTX_MISMATCHES=<file>: differences are appended there.
#include <catena/tests/cuda/ptx_loops.h>

#include <chrono>
#include <complex>
#include <iomanip>
#include <map>
#include <thread>

#include <catena/kernels/registry/embedded.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace ptx_loops;
using catena::Input;

constexpr double kBits = -1;  // an allowed distance: not even NaN may differ

// ---- values of floats -----------------------------------------------------------------------------
double value(Dtype dtype, const std::byte* p) {
  double v = 0;
  catena::cast_function(dtype, Dtype::float64)(p, 0, reinterpret_cast<std::byte*>(&v), 8, 1);
  return v;
}
double off_by(Dtype dtype, const std::byte* a, const std::byte* b) {
  return std::fabs(value(dtype, a) - value(dtype, b));
}
double largest(Dtype dtype, const std::vector<std::byte>& all) {
  double most = 0;
  for (std::size_t k = 0; k < all.size(); k += catena::itemsize(dtype))
    most = std::max(most, std::fabs(value(dtype, all.data() + k)));
  return most;
}
double rounding_of(Dtype dtype) {
  return dtype == Dtype::float64 ? 0x1p-53
                                 : (dtype == Dtype::float32 ? 0x1p-24 : (dtype == Dtype::float16 ? 0x1p-11 : 0x1p-8));
}

// Outputs that add terms of either sign: what is allowed are units in the last place of the largest term, which is
// bounded by the product, over these groups of operands, of the greatest of 1 and the operands' magnitudes.
struct Cancelling {
  std::string_view row;
  std::vector<std::size_t> outputs;
  std::vector<std::vector<int>> groups;
  double in_float64 = 0;  // absolute error of CUDA's function, by the CUDA C++ Programming Guide
};
const Cancelling* cancelling(const KernelDef& def, std::size_t output) {
  static const Cancelling all[] = {{"lstm", {0, 1}, {{4}}},
                                   {"slstm", {0, 1}, {{4, 9}}},
                                   {"lstm_bwd", {0, 1, 4}, {{7, 8}}},
                                   {"lstm_bwd", {2}, {{7, 8}, {4}}},
                                   {"lstm_bwd", {3}, {{8}}},
                                   {"ctc_step", {0}, {{0, 1, 2, 3, 4}}},
                                   {"gelu_bwd", {0}, {{1}}},
                                   {"gelu_tanh_bwd", {0}, {{1}}},
                                   {"silu_bwd", {0}, {{1}}},
                                   {"mish_bwd", {0}, {{1}}},
                                   {"logistic_cross_entropy", {0}, {{0}, {1}, {2}}},
                                   {"logistic_cross_entropy_bwd", {0}, {{1}, {2}, {3}}},
                                   {"j0", {0}, {}, 5e-12},
                                   {"j1", {0}, {}, 5e-12},
                                   {"y0", {0}, {}, 5e-12},
                                   {"y1", {0}, {}, 5e-12}};
  const auto found = std::find_if(std::begin(all), std::end(all), [&](const Cancelling& c) {
    return c.row == def.name && std::find(c.outputs.begin(), c.outputs.end(), output) != c.outputs.end();
  });
  return found == std::end(all) ? nullptr : found;
}
// The bound for every element of the loop; that of an operand which is infinite or NaN is not finite. Products of the
// largest numbers of float64 are beyond its range.
std::vector<long double> largest_terms(const Cancelling& row, const std::vector<Operand>& inputs, const Shape& loop) {
  std::vector<long double> all(std::size_t(catena::size_of(loop)), 1.0L);
  for (const std::vector<int>& group : row.groups) {
    std::vector<long double> most(all.size(), 1.0L);
    for (const int k : group) {
      const Array& operand = inputs[std::size_t(k)].on[0];
      const std::vector<std::byte> bytes = content(nd::broadcast_to(operand, loop));
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double v = std::fabs(value(operand.dtype(), bytes.data() + i * catena::itemsize(operand.dtype())));
        most[i] = v <= most[i] ? most[i] : v;
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i] *= most[i];
  }
  return all;
}

std::complex<double> complex_value(const Array& operand, const Shape& loop, std::size_t i) {
  const std::vector<std::byte> bytes = content(nd::broadcast_to(operand, loop));
  std::complex<double> z;
  catena::cast_function(operand.dtype(), Dtype::complex128)(bytes.data() + i * catena::itemsize(operand.dtype()), 0,
                                                            reinterpret_cast<std::byte*>(&z), 16, 1);
  return z;
}
// A power of complex numbers is exp(w log z) in float64: the errors of the product show in the angle of the result, and
// in its size. True if two results differ by no more than that, in units of their modulus.
bool differ_by_the_exponent(const KernelDef& def, const std::vector<Operand>& inputs, const Shape& loop, std::size_t i,
                            Dtype dtype, const std::byte* a, const std::byte* e) {
  if (std::string_view(def.name) != "power" || !catena::is_complex_dtype(dtype)) return false;
  const std::complex<double> z = complex_value(inputs[0].on[0], loop, i), w = complex_value(inputs[1].on[0], loop, i);
  const double error = 8 * 0x1p-53 * (1 + std::abs(w) * std::abs(std::log(z)));
  std::complex<double> x, y;
  const auto cast = catena::cast_function(dtype, Dtype::complex128);
  cast(a, 0, reinterpret_cast<std::byte*>(&x), 16, 1);
  cast(e, 0, reinterpret_cast<std::byte*>(&y), 16, 1);
  const double rounding = dtype == Dtype::complex64 ? 0x1p-23 : 0x1p-52;
  return !(error < 0.1) || std::abs(x - y) <= (error + rounding) * std::abs(y);
}

// Approximate instructions are then wrong by 2 units, and only exact results are compared.
bool perturbed() { return std::getenv("CATENA_SOFTWARE_CUDA_PTX_PERTURB") != nullptr; }

// ---- results --------------------------------------------------------------------------------------
// The findings of the worker threads, reported by the main thread.
class Results {
 public:
  void compare(const KernelDef& def, const Loop& loop, const std::string& call, const std::vector<Operand>& inputs,
               const std::vector<Operand>& outputs, double allowed, double of_largest = 0) {
    ++calls_;
    if (perturbed() && allowed > 0) return;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::vector<std::byte> expected = content(outputs[k].on[0]), actual = content(outputs[k].on[1]);
      const Dtype dtype = outputs[k].on[0].dtype();
      const std::size_t item = catena::itemsize(dtype);
      const Cancelling* cancels = cancelling(def, k);
      const std::vector<long double> terms =
          cancels == nullptr ? std::vector<long double>() : largest_terms(*cancels, inputs, outputs[k].on[0].shape());
      for (std::size_t i = 0; i < expected.size() / item; ++i) {
        const std::byte *a = actual.data() + i * item, *e = expected.data() + i * item;
        const double off = allowed == kBits && std::memcmp(a, e, item) == 0 ? kBits : distance(dtype, a, e);
        if (off <= allowed) continue;
        if (!terms.empty() && std::isfinite(terms[i]) &&
            off_by(dtype, a, e) <= allowed * 2 * rounding_of(dtype) * terms[i])
          continue;
        if (cancels != nullptr && dtype == Dtype::float64 && off_by(dtype, a, e) <= cancels->in_float64) continue;
        if (differ_by_the_exponent(def, inputs, outputs[k].on[0].shape(), i, dtype, a, e)) continue;
        if (of_largest > 0 && off_by(dtype, a, e) <= of_largest * largest(dtype, expected)) continue;
        std::string text =
            catena::concat(def.name, " ", catena::signature(def, loop), " ", call, ", output ", k, " element ", i,
                           ": PTX ", bits(a, item), ", CPU ", bits(e, item), " (", off, " ulp), inputs");
        for (const Operand& in : inputs) text += " " + value_at(in.on[0], outputs[k].on[0].shape(), std::int64_t(i));
        add(text);
        break;
      }
    }
  }
  void fail(const KernelDef& def, const std::string& text) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(catena::concat(def.name, ": ", text));
  }
  void report() const {
    for (const std::string& f : failures_) BOOST_ERROR(f);
    std::cout << calls_ << " calls compared\n";
  }

 private:
  static std::string value_at(const Array& a, const Shape& loop, std::int64_t i) {
    const std::vector<std::byte> all = content(a);
    const std::size_t item = catena::itemsize(a.dtype());
    if (catena::size_of(a.shape()) == catena::size_of(loop)) return bits(all.data() + std::size_t(i) * item, item);
    return a.size() == 1 ? bits(all.data(), item) : "...";
  }
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (const char* path = std::getenv("CATENA_PTX_MISMATCHES")) std::ofstream(path, std::ios::app) << text << "\n";
    failures_.push_back(text);
  }

  std::mutex mutex_;
  std::vector<std::string> failures_;
  std::atomic<std::size_t> calls_{0};
};

// ---- calls ----------------------------------------------------------------------------------------
std::vector<catena::ArrayHeader*> headers(const std::vector<Operand>& all, int device) {
  std::vector<catena::ArrayHeader*> list;
  for (const Operand& o : all) list.push_back(o.on[device].get());
  return list;
}
std::vector<Input> reads(const std::vector<Operand>& all, int device) {
  std::vector<Input> list;
  for (const Operand& o : all) list.emplace_back(*o.on[device].get());
  return list;
}
template <class F> void on_both(F call) {
  for (int d = 0; d < 2; ++d) {
    const nd::DeviceScope scope(kDevices[d]);
    call(d);
  }
}

struct Item {
  const KernelDef* def;
  int number;
  const Loop& loop() const { return def->loop_table[number]; }
  Dtype type(int k) const { return loop().type[std::size_t(k)]; }
};

// Copies, and tests of signs, are about bits: NaN and its sign, too.
double allowed_elementwise(const Item& item) {
  if (item.def->is(catena::is_copy)) return kBits;
  const Dtype out = item.type(item.def->first_output());
  if (!item.def->transcendental || !(catena::is_floating(out) || catena::is_complex_dtype(out))) return 0;
  return out == Dtype::float16 || out == Dtype::bfloat16 ? 1 : 32;
}

catena::Scalar immediate_of(Dtype dtype) {
  if (dtype == Dtype::bool_) return catena::Scalar(true);
  if (catena::is_floating(dtype) || catena::is_complex_dtype(dtype)) return catena::Scalar(0.75);
  return catena::Scalar(3);
}

// Every loop runs on contiguous operands and in one other layout, because each layout is a kernel to compile. The next
// loop of the row has the next layout. The code that reads and writes a layout does not depend on the body of the
// kernel, but on the size of the elements, and each layout meets all sizes.
bool runs_in(Layout layout, const Item& item) {
  constexpr std::size_t others = std::size(kLayouts) - 1;
  const std::size_t turn = (catena::kernel_id(item.def->name) + std::size_t(item.number)) % others;
  return layout == Layout::contiguous || layout == kLayouts[1 + turn] || std::getenv("CATENA_PTX_ROW") != nullptr;
}

void run_elementwise(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  for (Layout layout : kLayouts) {
    if (!runs_in(layout, item)) continue;
    const bool flat = layout == Layout::contiguous || layout == Layout::immediate || layout == Layout::misaligned;
    const Shape shape = flat ? Shape{1003} : Shape{7, 45};
    std::vector<Operand> inputs, outputs;
    for (int k = 0; k < def.nin; ++k) {
      const bool small = (layout == Layout::broadcast && k == 0) || (layout == Layout::immediate && k == def.nin - 1);
      const Shape own = !small ? shape : (flat ? Shape{} : (def.nin == 1 ? Shape{45} : Shape{7, 1}));
      inputs.push_back(make(item.type(k), own, layout, random));
    }
    if (layout == Layout::immediate && def.nin > 0) {
      std::vector<std::byte> bytes(catena::itemsize(item.type(def.nin - 1)));
      immediate_of(item.type(def.nin - 1)).store(item.type(def.nin - 1), bytes.data());
      inputs.back() = make(item.type(def.nin - 1), {}, layout, random, &bytes);
    }
    for (int k = def.nin; k < def.num_operands(); ++k) {
      const Layout own = layout == Layout::strided || layout == Layout::misaligned ? layout : Layout::contiguous;
      outputs.push_back(make(item.type(k), shape, own, random));
    }
    const catena::EagerProgram program(def, item.number);
    on_both([&](int d) {
      std::vector<Input> in = reads(inputs, d);
      if (layout == Layout::immediate && !in.empty()) in.back() = Input(immediate_of(item.type(def.nin - 1)));
      const std::vector<catena::ArrayHeader*> out = headers(outputs, d);
      nd::internal::execute(catena::call::Elementwise{&program, in, out, def.name});
    });
    results.compare(def, item.loop(), name_of(layout), inputs, outputs, allowed_elementwise(item));
  }
}

// Combinations of special values, which show what one operand alone does not: all of up to three operands, a sample of
// more.
void run_combinations(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  bool floats = def.nin > 1;
  for (int k = 0; k < def.nin; ++k) floats &= catena::is_floating(item.type(k));
  if (!floats) return;
  constexpr std::size_t most = 10000;
  std::size_t n = 1, repeat = 1;
  for (int k = 0; k < def.nin && n <= most; ++k) n *= special_bits(item.type(k)).size();
  const bool drawn = n > most;
  if (drawn) n = most;
  std::vector<Operand> inputs, outputs;
  for (int k = 0; k < def.nin; ++k) {
    const std::vector<std::uint64_t> special = special_bits(item.type(k));
    std::vector<std::byte> values(n * catena::itemsize(item.type(k)));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t which = drawn ? std::size_t(random()) : i / repeat;
      std::memcpy(values.data() + i * catena::itemsize(item.type(k)), &special[which % special.size()],
                  catena::itemsize(item.type(k)));
    }
    repeat *= special.size();
    inputs.push_back(make(item.type(k), {std::int64_t(n)}, Layout::contiguous, random, &values));
  }
  for (int k = def.nin; k < def.num_operands(); ++k)
    outputs.push_back(make(item.type(k), {std::int64_t(n)}, Layout::contiguous, random));
  const catena::EagerProgram program(def, item.number);
  on_both([&](int d) {
    const std::vector<Input> in = reads(inputs, d);
    const std::vector<catena::ArrayHeader*> out = headers(outputs, d);
    nd::internal::execute(catena::call::Elementwise{&program, in, out, def.name});
  });
  results.compare(def, item.loop(), "combinations", inputs, outputs, allowed_elementwise(item));
}

// Casts of all patterns: 65,536 of 16-bit types, others sampled, to every dtype.
void run_casts(const Item& item, Results& results, std::mt19937_64& random) {
  const Dtype from = item.type(0);
  std::vector<std::byte> values;
  if (catena::itemsize(from) == 2)
    for (unsigned k = 0; k < 65536; ++k) values.insert(values.end(), {std::byte(k), std::byte(k >> 8)});
  else values = pattern(from, 4000, random);
  const Shape shape{std::int64_t(values.size() / catena::itemsize(from))};
  for (int to = 0; to <= static_cast<int>(Dtype::complex128); ++to) {
    std::vector<Operand> inputs{make(from, shape, Layout::contiguous, random, &values)};
    std::vector<Operand> outputs{make(static_cast<Dtype>(to), shape, Layout::contiguous, random)};
    on_both([&](int d) { nd::internal::convert_into("cast", Input(*inputs[0].on[d].get()), *headers(outputs, d)[0]); });
    results.compare(*item.def, item.loop(), catena::concat("cast to ", static_cast<Dtype>(to)), inputs, outputs,
                    static_cast<Dtype>(to) == from ? kBits : 0);
  }
}

// ---- reductions and rows --------------------------------------------------------------------------
// Sums of different order agree to rounding where the terms are alike.
std::vector<std::byte> near_one(Dtype dtype, std::size_t n, std::mt19937_64& random) {
  std::vector<std::byte> bytes(n * catena::itemsize(dtype));
  for (std::size_t k = 0; k < n; ++k)
    catena::Scalar(1 + (double(random() % 257) - 128) / 4096).store(dtype, bytes.data() + k * catena::itemsize(dtype));
  return bytes;
}
bool is_extremum(const KernelDef& def) { return std::string_view(def.header).ends_with("/reduction/extremum.h"); }
bool is_exact(const Item& item) {
  const Loop& loop = item.loop();
  return loop.reduction->any_order || (!catena::is_floating(loop.type[0]) && !catena::is_complex_dtype(loop.type[0]) &&
                                       !catena::is_floating(loop.type[1]));
}
// Zeros of both signs among `others`: which zero is the result must not depend on the order of combination.
Operand zeros_among(double others, const Item& item, const Shape& shape, std::mt19937_64& random) {
  std::vector<std::byte> values(std::size_t(catena::size_of(shape)) * catena::itemsize(item.type(0)));
  for (std::size_t k = 0; k < values.size(); k += catena::itemsize(item.type(0)))
    catena::Scalar(random() % 4 != 0 ? others : (random() % 2 != 0 ? 0.0 : -0.0))
        .store(item.type(0), values.data() + k);
  return make(item.type(0), shape, Layout::contiguous, random, &values);
}
Operand reduction_input(const Item& item, const Shape& shape, std::mt19937_64& random) {
  if (is_exact(item)) return make(item.type(0), shape, Layout::contiguous, random);
  const std::vector<std::byte> values = near_one(item.type(0), std::size_t(catena::size_of(shape)), random);
  return make(item.type(0), shape, Layout::contiguous, random, &values);
}
double allowed_sum(const Item& item) { return is_exact(item) ? 0 : 600; }

void run_reduction(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  struct Case {
    Shape shape;
    catena::Dims axes;
  };
  const Case cases[] = {{{70001}, {0}}, {{5, 3000}, {1}}, {{300, 40}, {0}},
                        {{40, 7}, {1}}, {{7, 40}, {0}},   {{6, 50, 8}, {0, 2}}};
  constexpr double around_zero[] = {0, -1, 1, NAN};  // what stands beside zeros of both signs
  const bool signs = is_extremum(def) && catena::is_floating(item.type(0));
  for (std::size_t k = 0; k < std::size(cases) * (signs ? 1 + std::size(around_zero) : 1); ++k) {
    const Case& c = cases[k % std::size(cases)];
    const std::size_t turn = k / std::size(cases);
    std::vector<Operand> inputs{turn == 0 ? reduction_input(item, c.shape, random)
                                          : zeros_among(around_zero[turn - 1], item, c.shape, random)};
    Shape out;
    for (int a = 0; a < c.shape.size(); ++a)
      if (std::find(c.axes.begin(), c.axes.end(), a) == c.axes.end()) out.push_back(c.shape[a]);
    std::vector<Operand> outputs{make(item.type(1), out, Layout::contiguous, random)};
    on_both([&](int d) {
      const std::vector<Input> in = reads(inputs, d);
      nd::internal::execute(catena::call::Reduce{&def, item.number, in, c.axes, headers(outputs, d)[0]});
    });
    results.compare(def, item.loop(), catena::concat("of ", c.shape), inputs, outputs, allowed_sum(item));
  }
  if (!def.is(catena::may_scan)) return;
  for (const auto& [shape, axis] :
       {std::pair{Shape{3, 700}, 1}, std::pair{Shape{70001}, 0}, std::pair{Shape{500, 6}, 0}}) {
    std::vector<Operand> inputs{reduction_input(item, shape, random)};
    std::vector<Operand> outputs{make(item.type(1), shape, Layout::contiguous, random)};
    on_both([&](int d) {
      nd::internal::execute(catena::call::Scan{&def, item.number, inputs[0].on[d].get(), axis, headers(outputs, d)[0]});
    });
    results.compare(def, item.loop(), catena::concat("scan of ", shape), inputs, outputs, allowed_sum(item));
  }
}

void run_rows(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  for (std::int64_t count : {37, 1500, 9001}) {
    const Shape shape{count < 100 ? 40 : 3, count}, per_row{shape[0], 1};
    std::vector<Operand> inputs, outputs;
    for (int k = 0; k < def.nin; ++k) {
      const Shape own = (item.loop().row_wise->per_row >> k & 1) != 0 ? per_row : shape;
      const std::vector<std::byte> values = near_one(item.type(k), std::size_t(catena::size_of(own)), random);
      inputs.push_back(make(item.type(k), own, Layout::contiguous, random, &values));
    }
    for (int k = def.nin; k < def.num_operands(); ++k)
      outputs.push_back(make(item.type(k), k < def.nin + def.nout ? shape : per_row, Layout::contiguous, random));
    on_both([&](int d) {
      const std::vector<Input> in = reads(inputs, d);
      const std::vector<catena::ArrayHeader*> out = headers(outputs, d);
      nd::internal::execute(catena::call::RowWise{&def, item.number, &shape, {1}, in, out});
    });
    results.compare(def, item.loop(), catena::concat("rows of ", count), inputs, outputs, 32,
                    rounding_of(item.loop().row_wise->type) * 256);
  }
}

void run_tensors(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  const catena::Hyper hyper[] = {{0.01, 0.9, 0.999, 1e-8, 0.5, 0.1, 0.2, 1}};
  std::vector<Operand> inputs, all;
  for (std::int64_t n : {5, 300, 20000})
    for (int k = 0; k < def.num_operands(); ++k) {
      const Shape shape = (def.shared >> k & 1) != 0 ? Shape{} : Shape{n};
      const std::vector<std::byte> values = near_one(item.type(k), std::size_t(catena::size_of(shape)), random);
      if ((def.shared >> k & 1) != 0 && n != 5) all.push_back(all[std::size_t(k)]);
      else all.push_back(make(item.type(k), shape, Layout::contiguous, random, &values));
    }
  on_both([&](int d) {
    const std::vector<catena::ArrayHeader*> operands = headers(all, d);
    catena::call::MultiTensor call;
    call.kernel = &def;
    call.loop = item.number;
    call.operands = operands;
    call.hyper = hyper;
    catena::TensorTable table;
    call.table = &table;
    nd::internal::execute(call);
  });
  results.compare(def, item.loop(), "tensors", inputs, all, 0);
}

void run_random(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  const std::string_view name = def.name;
  const auto kind = name == "random_bits"      ? catena::RandomKind::bits
                    : name == "random_uniform" ? catena::RandomKind::uniform
                    : name == "random_normal"  ? catena::RandomKind::normal
                                               : catena::RandomKind::integers;
  std::vector<Operand> inputs, outputs{make(item.type(def.first_output()), {1003}, Layout::contiguous, random)};
  on_both([&](int d) { nd::internal::execute(catena::call::Random{kind, 7, 11, 3, 100, headers(outputs, d)[0]}); });
  results.compare(def, item.loop(), "random", inputs, outputs, kind == catena::RandomKind::normal ? 32 : 0);
}

// ---- indexed loops --------------------------------------------------------------------------------
// Shapes of the arrays among the inputs, which come first, the scalars behind them, and the shape of the loop.
struct IndexedCase {
  std::string_view row;
  std::vector<Shape> arrays;
  std::vector<double> scalars;
  Shape loop;
  Shape raw_output = {};  // of outputs, if it is not that of the loop
};
const std::vector<IndexedCase>& indexed_cases() {
  static const Shape image{2, 3, 9, 8}, pooled{2, 3, 5, 7}, patches{2, 3, 3, 2, 5, 7};
  static const std::vector<double> window{3, 2, 2, 1, 1, 0}, steps{2, 1, 1, 0, 1, 1};
  static const std::vector<IndexedCase> all = {
      {"max_pool_2d", {image}, window, pooled},
      {"max_pool_2d_bwd", {pooled, pooled}, window, image},
      {"max_pool_2d_by_index", {image, pooled}, {2, 2, 1, 1, 0}, pooled},
      {"average_pool_2d", {image}, window, pooled},
      {"average_pool_2d_bwd", {pooled}, window, image},
      {"roi_max_pool_2d", {image, {4, 5}}, {1.5, 3, 2}, {4, 3, 3, 2}},
      {"im2col_2d", {image}, steps, patches},
      {"col2im_2d", {patches}, steps, image},
      {"cross_entropy_pick", {{8, 6, 5}, {6}, {8, 5}}, {-1}, {8, 5}},
      {"cross_entropy", {{8, 6, 5}, {6}, {8, 1, 5}, {8, 1, 5}, {8, 1, 5}}, {-1}, {8, 1, 5}},
      {"cross_entropy_scale", {{6}, {8, 1, 5}}, {-1, 0.5, 40, 0.025}, {8, 1, 5}},
      {"cross_entropy_label_bwd",
       {{8, 6, 5}, {8, 1, 5}, {8, 1, 5}, {8, 1, 5}, {8, 1, 5}, {8, 1, 5}},
       {0.875},
       {8, 1, 5},
       {8, 6, 5}},
      {"one_hot", {{40, 1}}, {0, 1}, {40, 6}},
      {"dropout", {{1003}}, {7, 11, 0.4}, {1003}},
      {"searchsorted", {{100}, {1003}}, {1}, {1003}},
      {"segment_starts", {{100}}, {}, {7}},
      {"segment_sum", {{8, 40}, {8}, {7}}, {}, {6, 40}},
      {"packbits", {{1003}}, {}, {126}},
      {"unpackbits", {{126}}, {}, {1008}},
      {"arange", {}, {3, 2}, {1003}},
      {"linspace", {}, {0.5, 9.5, 0.25, 9, 36, 1002}, {1003}},
      {"random_gamma", {}, {7, 11, 0.7}, {1003}},
      {"random_log_gamma", {}, {7, 11, 3.5}, {1003}},
      {"random_poisson", {}, {7, 11, 37.5}, {1003}},
      {"random_binomial", {}, {7, 11, 1000, 0.3}, {1003}},
      {"random_hypergeometric", {}, {7, 11, 300, 100, 60}, {1003}},
      {"random_logseries", {}, {7, 11, 0.8}, {1003}},
  };
  return all;
}

// Floats near one, integers and positions below 6; an array that is searched is in order.
std::vector<std::byte> indexed_values(Dtype dtype, std::size_t n, bool ordered, std::mt19937_64& random) {
  if (catena::is_floating(dtype) && !ordered) return near_one(dtype, n, random);
  std::vector<std::byte> bytes(n * catena::itemsize(dtype));
  for (std::size_t k = 0; k < n; ++k)
    catena::Scalar(ordered ? std::int64_t(k * 6 / n) : std::int64_t(random() % 6))
        .store(dtype, bytes.data() + k * catena::itemsize(dtype));
  if (dtype == Dtype::bool_)
    for (std::size_t k = 0; k < n; ++k) bytes[k] = std::byte(ordered ? k * 2 / n : random() % 2);
  return bytes;
}

void run_indexed(const Item& item, Results& results, std::mt19937_64& random) {
  const KernelDef& def = *item.def;
  const auto& all = indexed_cases();
  const auto c = std::find_if(all.begin(), all.end(), [&](const IndexedCase& one) { return one.row == def.name; });
  catena::check<catena::KeyError>(c != all.end(), "run_indexed", "no case for ", def.name);
  std::vector<Operand> inputs, outputs;
  for (std::size_t k = 0; k < c->arrays.size(); ++k) {
    const auto n = std::size_t(catena::size_of(c->arrays[k]));
    const std::vector<std::byte> values = indexed_values(
        item.type(int(k)), n, (c->row == "searchsorted" || c->row == "segment_starts") && k == 0, random);
    inputs.push_back(make(item.type(int(k)), c->arrays[k], Layout::contiguous, random, &values));
  }
  for (int k = def.nin; k < def.num_operands(); ++k)
    outputs.push_back(make(item.type(k), c->raw_output.empty() ? c->loop : c->raw_output, Layout::contiguous, random));
  const catena::EagerProgram program(def, item.number);
  on_both([&](int d) {
    std::vector<Input> in = reads(inputs, d);
    for (std::size_t k = 0; k < c->scalars.size(); ++k) {
      const Dtype dtype = item.type(int(c->arrays.size() + k));
      const double v = c->scalars[k];
      if (dtype == Dtype::bool_) in.emplace_back(catena::Scalar(v != 0));
      else if (catena::is_floating(dtype)) in.emplace_back(catena::Scalar(v));
      else in.emplace_back(catena::Scalar(std::int64_t(v)));
    }
    const std::vector<catena::ArrayHeader*> out = headers(outputs, d);
    nd::internal::execute(catena::call::Elementwise{&program, in, out, def.name});
  });
  // Exponentials and logarithms may differ in the last places; everything else is exact.
  const bool has_functions =
      c->row == "cross_entropy_label_bwd" || c->row == "random_gamma" || c->row == "random_log_gamma";
  results.compare(def, item.loop(), "indexed", inputs, outputs, has_functions ? 32 : 0);
}

// ---- the driver -----------------------------------------------------------------------------------
bool run_item(const Item& item, Results& results) {
  std::mt19937_64 random(catena::fnv1a(catena::concat(item.def->name, item.number)));
  if (item.def->is(catena::is_random)) {
    run_random(item, results, random);
    return true;
  }
  switch (item.def->kind) {
    case catena::KernelKind::elementwise:
      run_elementwise(item, results, random);
      run_combinations(item, results, random);
      if (item.def->is(catena::is_copy)) run_casts(item, results, random);
      return true;
    case catena::KernelKind::reduction: run_reduction(item, results, random); return true;
    case catena::KernelKind::row_wise: run_rows(item, results, random); return true;
    case catena::KernelKind::multi_tensor: run_tensors(item, results, random); return true;
    case catena::KernelKind::indexed: run_indexed(item, results, random); return true;
  }
  return false;
}

std::pair<std::size_t, std::size_t> shard() {
  const char* chosen = std::getenv("CATENA_TEST_SHARD");
  std::size_t k = 0, n = 1;
  if (chosen != nullptr) std::sscanf(chosen, "%zu/%zu", &k, &n);
  return {k, n};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_registered_loop_on_ptx) {
  std::vector<Item> items;
  std::size_t number = 0;
  const auto [mine, of] = shard();
  const char* only = std::getenv("CATENA_PTX_ROW");
  for (const catena::RegisteredKernel& kernel : catena::all_kernels())
    for (int k = 0; k < kernel.kernel->num_loops; ++k)
      if (number++ % of == mine && (only == nullptr || std::string_view(only) == kernel.kernel->name))
        items.push_back({kernel.kernel, k});
  cuda_device::Control control;
  control.set_report_mode(cuda_device::OnReport::error);
  Results results;
  std::atomic<std::size_t> next{0}, run{0};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (std::size_t k; (k = next++) < items.size();) {
        try {
          run += run_item(items[k], results);
        } catch (const std::exception& e) {
          results.fail(*items[k].def, catena::signature(*items[k].def, items[k].loop()) + ": " + e.what() + "\n" +
                                          control.last_report());
          control.clear_faults();  // the context is unusable after a fault
        }
      }
    });
  for (std::thread& t : threads) t.join();
  results.report();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (const char* path = std::getenv("CATENA_SOFTWARE_CUDA_PTX_COUNTS"))
    std::ofstream(path, std::ios::app) << "loops " << run << "\n";
  std::cout << run << " of " << items.size() << " loops, " << control.launches().size() << " launches, " << std::fixed
            << std::setprecision(1) << seconds.count() << " s\n";
}
