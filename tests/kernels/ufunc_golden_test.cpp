// Elementwise kernels against the golden group nd_ufunc: loop choice, conversion, body.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/tests/kernels/kernel_calls.h>
#include <catena/tests/support/golden.h>

BOOST_AUTO_TEST_SUITE(ufunc_golden)

using namespace test;  // NOLINT

std::vector<std::byte> converted(const std::byte* from, Dtype from_type, Dtype to_type, std::int64_t n) {
  std::vector<std::byte> to(std::size_t(n) * itemsize(to_type));
  cast_function(from_type, to_type)(from, std::int64_t(itemsize(from_type)), to.data(), std::int64_t(itemsize(to_type)),
                                    n);
  return to;
}

const KernelDef* row_of(const std::string& name) {
  for (const KernelDef& def : all_kernels())
    if (name == def.name && def.kind == KernelKind::elementwise) return &def;
  return nullptr;
}

// The outputs of a case, each in the dtype its loop stores.
struct Result {
  std::vector<Dtype> dtype;
  std::vector<std::vector<std::byte>> data;
};
Result run(const KernelDef& def, const std::vector<NpyArray>& arrays) {
  std::vector<HeaderRef> headers;
  for (const NpyArray& a : arrays)
    headers.emplace_back(make_header(nullptr, const_cast<std::byte*>(a.data.data()), *a.dtype, a.shape,
                                     c_strides(a.shape, a.itemsize), {}, nullptr));
  std::vector<Input> inputs;
  for (const HeaderRef& h : headers) inputs.emplace_back(*h.get());
  const Loop& loop = def.loop_table[choose_loop(def, inputs)];
  const std::int64_t n = size_of(broadcast_shape(def.name, inputs));
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> p;
  std::vector<std::int64_t> stride;
  for (int k = 0; k < def.num_operands(); ++k) {
    const Dtype stored = loop.type[std::size_t(k)], computed = compute_dtype(stored);
    if (k < def.nin) {
      const NpyArray& a = arrays[std::size_t(k)];
      const auto rounded = converted(a.data.data(), *a.dtype, stored, a.size());
      memory.push_back(converted(rounded.data(), stored, computed, a.size()));
      stride.push_back(a.size() == n ? std::int64_t(itemsize(computed)) : 0);
    } else {
      memory.emplace_back(std::size_t(n) * itemsize(computed));
      stride.push_back(std::int64_t(itemsize(computed)));
    }
  }
  for (auto& m : memory) p.push_back(m.data());
  loop.elementwise(p.data(), stride.data(), n);
  Result r;
  for (int k = def.nin; k < def.num_operands(); ++k) {
    r.dtype.push_back(loop.type[std::size_t(k)]);
    r.data.push_back(converted(p[std::size_t(k)], compute_dtype(r.dtype.back()), r.dtype.back(), n));
  }
  return r;
}

// The elements of `a` repeated to that shape.
NpyArray broadcast(const NpyArray& a, const Shape& shape) {
  NpyArray whole = a;
  whole.shape = shape;
  whole.data.clear();
  for (std::int64_t i = 0; i < size_of(shape); ++i) {
    std::int64_t rest = i, at = 0, step = 1;
    for (int axis = shape.size() - 1, own = a.shape.size() - 1; axis >= 0; --axis, --own) {
      if (own >= 0) {
        at += a.shape[own] == 1 ? 0 : rest % shape[axis] * step;
        step *= a.shape[own];
      }
      rest /= shape[axis];
    }
    const auto from = a.data.begin() + at * std::int64_t(a.itemsize);
    whole.data.insert(whole.data.end(), from, from + std::int64_t(a.itemsize));
  }
  return whole;
}

double element(Dtype t, const std::byte* data, std::int64_t i) {
  return visit_dtype(t, [&](auto tag) {
    return static_cast<double>(convert<double>(reinterpret_cast<const typename decltype(tag)::type*>(data)[i]));
  });
}

// The cases of functions without a row.
const std::map<std::string, int> kNoRow = {{"packbits", 4}, {"unpackbits", 4}};

BOOST_AUTO_TEST_CASE(every_case_of_a_registered_ufunc) {
  const auto golden = Golden::open("nd_ufunc");
  std::map<std::string, int> not_run;
  for (const auto& c : golden.cases()) {
    const std::string function = c["function"], name = c["name"];
    const KernelDef* def = row_of(function);
    if (!def || !c["args"].empty()) {
      ++not_run[def ? function + " with arguments" : function];
      continue;
    }
    std::vector<NpyArray> inputs;
    for (const auto& key : c["inputs"]) inputs.push_back(golden.array(key));
    if (function == "where") {  // a condition of any dtype counts as its truth
      NpyArray& condition = inputs[0];
      condition.data = converted(condition.data.data(), *condition.dtype, Dtype::bool_, condition.size());
      condition.dtype = Dtype::bool_;
      condition.itemsize = 1;
    }
    const Shape shape = golden.array(c["outputs"][0]).shape;
    for (NpyArray& a : inputs)
      if (a.size() != 1) a = broadcast(a, shape);
    const Result result = run(*def, inputs);
    BOOST_TEST_REQUIRE(result.data.size() == c["outputs"].size(), name);
    const bool signed_zero = c.contains("signed_zero") && c["signed_zero"].get<bool>();
    const double atol = c["tolerance"][0], rtol = c["tolerance"][1];
    for (std::size_t k = 0; k < result.data.size(); ++k) {
      const NpyArray expected = golden.array(c["outputs"][k]);
      BOOST_TEST(result.dtype[k] == *expected.dtype,
                 name << ": " << result.dtype[k] << " instead of " << *expected.dtype);
      if (result.dtype[k] != *expected.dtype) continue;
      const bool exact = atol == 0 && rtol == 0 && !is_floating(result.dtype[k]);
      for (std::int64_t i = 0; i < expected.size(); ++i) {
        const std::size_t size = expected.itemsize;
        const double y = element(result.dtype[k], result.data[k].data(), i),
                     e = element(result.dtype[k], expected.data.data(), i);
        bool ok = exact ? std::memcmp(result.data[k].data() + std::size_t(i) * size,
                                      expected.data.data() + std::size_t(i) * size, size) == 0
                        : close(y, e, atol, rtol);
        if (ok && signed_zero && e == 0) ok = std::signbit(y) == std::signbit(e);
        if (!ok) {
          BOOST_ERROR(concat(name, " output ", k, " element ", i, ": ", y, " instead of ", e));
          break;
        }
      }
    }
  }
  BOOST_TEST((not_run == kNoRow));
}

BOOST_AUTO_TEST_SUITE_END()
