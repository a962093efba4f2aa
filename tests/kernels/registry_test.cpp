// The registry as a whole, and what every row promises whatever it computes.
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include <catena/kernels/registry/embedded.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(registry)

using namespace test;  // NOLINT

BOOST_AUTO_TEST_CASE(rows_are_found_by_name_and_by_id) {
  std::set<std::string_view> names;
  for (const KernelDef& def : all_kernels()) {
    BOOST_TEST_INFO(def.name);
    BOOST_TEST(names.insert(def.name).second);
    BOOST_TEST(&find_kernel(def.id) == &def);
    BOOST_TEST(&find_kernel(std::string_view(def.name)) == &def);
    BOOST_TEST(def.id == kernel_id(def.name));
  }
  BOOST_TEST(names.size() > 130u);
  BOOST_TEST(&catena::kernels::add == &find_kernel("add"));
  BOOST_CHECK_THROW(find_kernel("no_such_kernel"), KeyError);
  BOOST_CHECK_THROW(find_kernel(KernelId(1)), KeyError);
}

BOOST_AUTO_TEST_CASE(every_header_is_embedded_and_holds_the_functor) {
  for (const KernelDef& def : all_kernels()) {
    const EmbeddedHeader* header = find_embedded_header(def.header);
    BOOST_TEST_INFO(def.name << " in " << def.header);
    BOOST_REQUIRE(header != nullptr);
    const std::string text = header->text();  // of a struct with or without a base
    BOOST_TEST((text.find(concat("struct ", def.name, " {")) != text.npos ||
                text.find(concat("struct ", def.name, " : ")) != text.npos));
  }
}

BOOST_AUTO_TEST_CASE(every_loop_has_the_function_of_its_kind_and_its_own_signature) {
  for (const KernelDef& def : all_kernels()) {
    BOOST_TEST_INFO(def.name);
    BOOST_TEST(def.num_loops > 0);
    BOOST_TEST(def.num_operands() <= kMaxOperands);
    BOOST_TEST((def.raw == 0 || def.kind == KernelKind::indexed));
    BOOST_TEST((def.shared == 0 || def.kind == KernelKind::multi_tensor));
    std::set<std::string> signatures;
    for (const Loop& loop : def.loops()) {
      const bool has[] = {loop.elementwise != nullptr, loop.indexed != nullptr, loop.reduction != nullptr,
                          loop.row_wise != nullptr, loop.multi_tensor != nullptr};
      for (int k = 0; k < 5; ++k) BOOST_TEST(has[k] == (k == static_cast<int>(def.kind)));
      BOOST_TEST(signatures.insert(signature(def, loop)).second);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_loop_of_one_dtype_is_the_first_whose_inputs_have_it) {
  for (const KernelDef& def : all_kernels())
    for (int t = 0; t <= static_cast<int>(Dtype::complex128); ++t) {
      const std::string wanted(std::size_t(def.nin + def.ninout), char_of(static_cast<Dtype>(t)));
      int first = -1;
      for (int i = def.num_loops - 1; i >= 0; --i) {
        std::string inputs;
        for (int k = 0; k < def.nin + def.ninout; ++k) inputs += char_of(def.loop_table[i].type[std::size_t(k)]);
        if (!wanted.empty() && inputs == wanted) first = i;
      }
      BOOST_TEST(def.loop_of(static_cast<Dtype>(t)) == first, def.name << " " << wanted);
    }
}

BOOST_AUTO_TEST_CASE(bfloat16_goes_wherever_float16_goes_and_first) {
  for (const KernelDef& def : all_kernels()) {
    if (std::string_view(def.name).ends_with("_float16")) continue;  // one of a pair of rows
    std::map<std::string, int> position;
    for (const Loop& loop : def.loops()) position.emplace(signature(def, loop), int(position.size()));
    for (const auto& [text, at] : position) {
      if (text.find('e') == std::string::npos) continue;
      std::string other = text, wider = text;
      for (char& c : other) c = c == 'e' ? 'E' : c;
      for (char& c : wider) c = c == 'e' ? 'f' : c;
      BOOST_TEST_INFO(def.name << " " << text);
      BOOST_REQUIRE(position.contains(other));
      // float32 holds bfloat16 values, so a float32 loop standing first would be chosen for them.
      if (position.contains(wider)) BOOST_TEST(position[other] < position[wider]);
    }
  }
}

// ---- a view gives what its copy gives -----------------------------------------------------------
struct Operands {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> first;
  std::vector<std::int64_t> stride;
};

template <class T> void fill(std::byte* memory, std::int64_t n, Noise& noise) {
  T* x = reinterpret_cast<T*>(memory);
  if constexpr (is_complex<T>) return fill<real_of_t<T>>(memory, 2 * n, noise);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      static constexpr T special[] = {T(0),
                                      T(-0.0),
                                      std::numeric_limits<T>::infinity(),
                                      -std::numeric_limits<T>::infinity(),
                                      std::numeric_limits<T>::quiet_NaN(),
                                      std::numeric_limits<T>::denorm_min(),
                                      std::numeric_limits<T>::max(),
                                      T(1)};
      const std::uint64_t bits = noise.bits();
      x[i] = bits % 16 == 0 ? special[(bits >> 8) % 8] : static_cast<T>(noise.uniform(-3, 3));
    } else {
      const std::uint64_t bits = noise.bits();
      if constexpr (std::is_same_v<T, bool>) x[i] = bits & 1;
      else x[i] = convert<T>(bits >> (bits % 3 == 0 ? 60 : 8));
    }
  }
}

constexpr std::int64_t kLongest = 200;

// The same values with each input's elements `step` apart (0: the first one repeated, negative: backwards), outputs
// likewise.
Operands spread(const KernelDef& def, const Loop& loop, const Operands& dense, const std::vector<std::int64_t>& step) {
  Operands r;
  for (int k = 0; k < def.num_operands(); ++k) {
    const auto size = std::int64_t(itemsize(compute_dtype(loop.type[std::size_t(k)])));
    const std::int64_t s = step[std::size_t(k)], apart = s < 0 ? -s : s;
    r.memory.emplace_back(std::size_t((apart * kLongest + 1) * size), std::byte{0});
    std::byte* first = r.memory.back().data() + (s < 0 ? apart * (kLongest - 1) * size : 0);
    for (std::int64_t i = 0; i < (s == 0 ? 1 : kLongest); ++i)
      std::memcpy(first + i * s * size, dense.first[std::size_t(k)] + i * size, std::size_t(size));
    r.first.push_back(first);
    r.stride.push_back(s * size);
  }
  return r;
}

bool same_elements(Dtype t, const std::byte* a, std::int64_t a_stride, const std::byte* b, std::int64_t b_stride,
                   std::int64_t n) {
  return visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < n; ++i) {
      T x, y;
      std::memcpy(&x, a + i * a_stride, sizeof(T));
      std::memcpy(&y, b + i * b_stride, sizeof(T));
      if (!same_value(x, y)) return false;
    }
    return true;
  });
}

void check_views(const KernelDef& def, const Loop& loop, Noise& noise) {
  Operands dense;
  for (int k = 0; k < def.num_operands(); ++k) {
    const Dtype t = compute_dtype(loop.type[std::size_t(k)]);
    dense.memory.emplace_back(itemsize(t) * kLongest);
    dense.first.push_back(dense.memory.back().data());
    dense.stride.push_back(std::int64_t(itemsize(t)));
    visit_dtype(t, [&](auto tag) { fill<typename decltype(tag)::type>(dense.first.back(), kLongest, noise); });
  }
  int wrong = 0;
  for (std::int64_t n : {1, 2, 3, 7, 15, 16, 31, 32, 63, 64, 65, 100, 127, 128, 129, 191, 192, 200}) {
    for (int pattern = 0; pattern < 12; ++pattern) {
      std::vector<std::int64_t> step;
      for (int k = 0; k < def.num_operands(); ++k) {
        constexpr std::int64_t steps[] = {1, 2, -1, 3, 1, -2};
        const bool scalar = k < def.nin && pattern >= 6 && ((noise.bits() >> k) & 1);
        step.push_back(scalar ? 0 : pattern == 0 || pattern == 6 ? 1 : steps[noise.bits() % 6]);
      }
      // Expected: the values copied to dense memory (repeated ones too), computed from one element further on as well,
      // so that positions differ.
      const Operands view = spread(def, loop, dense, step);
      Operands copy = dense;
      for (int k = 0; k < def.num_operands(); ++k) {
        copy.first[std::size_t(k)] = copy.memory[std::size_t(k)].data();
        const auto size = itemsize(compute_dtype(loop.type[std::size_t(k)]));
        if (step[std::size_t(k)] == 0)
          for (std::int64_t i = 1; i < kLongest; ++i)
            std::memcpy(copy.first[std::size_t(k)] + std::size_t(i) * size, copy.first[std::size_t(k)], size);
      }
      Operands shifted = copy;
      for (int k = 0; k < def.num_operands(); ++k)
        shifted.first[std::size_t(k)] =
            shifted.memory[std::size_t(k)].data() + (n > 1 ? copy.stride[std::size_t(k)] : 0);
      loop.elementwise(view.first.data(), view.stride.data(), n);
      loop.elementwise(copy.first.data(), copy.stride.data(), n);
      loop.elementwise(shifted.first.data(), shifted.stride.data(), n > 1 ? n - 1 : n);
      for (int k = def.nin; k < def.num_operands(); ++k) {
        const auto j = std::size_t(k);
        const Dtype t = compute_dtype(loop.type[j]);
        wrong += !same_elements(t, view.first[j], view.stride[j], copy.first[j], copy.stride[j], n);
        if (n > 1)
          wrong += !same_elements(t, shifted.first[j], copy.stride[j], copy.first[j] + copy.stride[j], copy.stride[j],
                                  n - 1);
      }
    }
  }
  // The output may be the input itself.
  const auto out = std::size_t(def.first_output());
  if (def.ninout == 0 && def.nout == 1 && compute_dtype(loop.type[0]) == compute_dtype(loop.type[out])) {
    Operands in_place = dense;
    for (std::size_t k = 0; k < in_place.memory.size(); ++k) in_place.first[k] = in_place.memory[k].data();
    in_place.first[out] = in_place.first[0];
    loop.elementwise(dense.first.data(), dense.stride.data(), kLongest);
    loop.elementwise(in_place.first.data(), in_place.stride.data(), kLongest);
    wrong += !same_elements(compute_dtype(loop.type[out]), in_place.first[0], dense.stride[out], dense.first[out],
                            dense.stride[out], kLongest);
  }
  BOOST_TEST(wrong == 0, def.name << " " << signature(def, loop) << ": " << wrong << " views differ from their copies");
}

BOOST_AUTO_TEST_CASE(elementwise_rows_give_the_same_bits_for_a_view_and_its_copy) {
  Noise noise(1);
  for (const KernelDef& def : all_kernels())
    if (def.kind == KernelKind::elementwise)
      for (const Loop& loop : def.loops()) check_views(def, loop, noise);
}

BOOST_AUTO_TEST_SUITE_END()
