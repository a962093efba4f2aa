// Members of Array: to and from host memory, lists and files, orders, views with few axes, options of methods.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/io.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/list.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Order;
using nd::Shape;
using nd::Strides;
using test::difference;
using test::message_of;
using test::same_bits;

constexpr Order kOrders[] = {Order::C, Order::F, Order::A, Order::K};

// Arrays of shape (2, 3, 4) with the elements 0 to 23 in C order, in several layouts.
std::vector<Array> layouts() {
  const Array c = nd::arange(24).reshape(2, 3, 4);
  std::mt19937 random(3);
  std::vector<Array> list = {c, c.copy(Order::F), nd::arange(72).reshape(6, 3, 4)(nd::Slice({}, {}, 3)),
                             test::scattered(c, random)};
  const Array swapped = nd::zeros({3, 2, 4}, nd::int64).swapaxes(0, 1);
  swapped(nd::ellipsis) = c;
  list.push_back(swapped);
  list[2](nd::ellipsis) = c;
  return list;
}

nd::Scalar at(const Array& a, std::int64_t i, std::int64_t j, std::int64_t k) { return a(i, j, k).item(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(array_members)

BOOST_AUTO_TEST_CASE(host_copies) {
  std::mt19937 random(1);
  const Array a = test::random_array({3, 4}, nd::float32, random), strided = test::scattered(a, random);
  for (const Array& x : {a, strided, nd::zeros({0, 3}), nd::array(2.5)}) {
    const Array host = nd::asnumpy(x);
    BOOST_TEST(host.device() == nd::cpu_device);
    BOOST_TEST(host.is_c_contiguous());
    BOOST_TEST(same_bits(host, x));
    if (x.size() > 0) BOOST_TEST(!host.shares_memory(x));
    const nd::Stream stream;
    const Array later = nd::asnumpy(x, stream);
    stream.synchronize();
    BOOST_TEST(same_bits(later, x));
  }
  CHECK_SAME(difference(nd::asnumpy({1, 2}).to_device(nd::current_device()), nd::array({1, 2})), "a list");

  const Array host = a.to_host() + 1;
  a.set(host);
  BOOST_TEST(same_bits(a, host));
  const nd::Stream stream;
  a.set(host * 2, stream);
  stream.synchronize();
  BOOST_TEST(same_bits(a, host * 2));
  const Array later = a.to_host(stream);
  stream.synchronize();
  BOOST_TEST(same_bits(later, host * 2));
  a.set(host.copy(Order::F));
  BOOST_TEST(same_bits(a, host));
  a.set((host + 3).copy(Order::F), stream);
  stream.synchronize();
  BOOST_TEST(same_bits(a, host + 3));
  BOOST_TEST(message_of<nd::TypeError>([&] { a.set(host.astype(nd::float64)); }) ==
             "set: the array in host memory has dtype float64, the array float32");
  BOOST_TEST(message_of<nd::ValueError>([&] { a.set(host.reshape(4, 3)); }) ==
             "set: the array in host memory has shape (4, 3), the array (3, 4)");
  BOOST_CHECK_THROW(a.T().set(host.T()), nd::RuntimeError);
  BOOST_CHECK_THROW(a.set(Array()), nd::TypeError);
  if (nd::current_device() != nd::cpu_device) BOOST_CHECK_THROW(a.set(a.copy()), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(lists) {
  for (const Array& a : layouts()) {
    const nd::List list = a.tolist();
    BOOST_TEST(list.size() == 2u);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(list[i][j][k].number() == nd::Scalar(int(12 * i + 4 * j + k)));
    const std::vector<std::vector<std::vector<float>>> typed = list;
    BOOST_TEST(typed[1][2][3] == 23.f);
  }
  std::ostringstream text;
  text << nd::array({{1.5, 2.0}, {3.0, -4.0}}).tolist() << nd::array({true, false}).tolist() << nd::array(7).tolist()
       << nd::zeros({2, 0}).tolist();
  BOOST_TEST(text.str() == "[[1.5, 2.0], [3.0, -4.0]][True, False]7[[], []]");
  const std::vector<bool> bools = nd::array({true, false}).tolist();
  BOOST_TEST((bools == std::vector<bool>{true, false}));
  BOOST_TEST(nd::array(7).tolist().to<int>() == 7);
  BOOST_TEST((nd::arange(3).tolist() == nd::arange(3).tolist()));
  BOOST_TEST(!(nd::arange(3).tolist() == nd::arange(4).tolist()));
  BOOST_CHECK_THROW(nd::arange(3).tolist().to<std::vector<std::vector<int>>>(), nd::ValueError);
  BOOST_CHECK_THROW(nd::arange(3).tolist().number(), nd::ValueError);
  BOOST_CHECK_THROW(nd::arange(3).tolist()[3], nd::IndexError);
}

BOOST_AUTO_TEST_CASE(files) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("catena_array_members_" + std::to_string(getpid()))).string();
  for (const Array& a : layouts()) {
    a.tofile(path);
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const auto expected = test::bytes_of(a);
    BOOST_TEST((bytes == std::string(reinterpret_cast<const char*>(expected.data()), expected.size())));
    a.dump(path);
    BOOST_TEST(same_bits(nd::load(path), a));
    std::istringstream blob(a.dumps());
    BOOST_TEST(same_bits(nd::load(blob), a));
  }
  std::remove(path.c_str());
  const auto text = [](const Array& a, std::string_view sep, std::string_view format = "%s") {
    std::ostringstream out;
    a.tofile(out, sep, format);
    return out.str();
  };
  const Array a = nd::array({{1.0, 2.5}, {-1e20, 0.1}});
  BOOST_TEST(text(a, ",") == "1.0,2.5,-1e+20,0.1");
  BOOST_TEST(text(a(0), " ", "<%6.2f>") == "<  1.00> <  2.50>");
  BOOST_TEST(text(a(0), " ", "%d") == "1 2");
  BOOST_TEST(text(nd::array({10, -3}), ";", "%x") == "a;fffffffffffffffd");
  BOOST_TEST(text(nd::array({10, 3}), ";", "%-4d|") == "10  |;3   |");
  BOOST_TEST(text(nd::array({true, false}), " ") == "True False");
  BOOST_TEST(text(nd::array({3}), " ", "%.1e") == "3.0e+00");
  BOOST_TEST(text(nd::zeros(0), " ").empty());
  for (const char* wrong : {"", "%", "%q", "%d %d", "%%", "%n", "%*d"})
    BOOST_CHECK_THROW(text(a, " ", wrong), nd::ValueError);
  BOOST_CHECK_THROW(text(a, " ", "%x"), nd::TypeError);
  BOOST_CHECK_THROW(a.tofile("/no/such/folder/file"), nd::IOError);
}

BOOST_AUTO_TEST_CASE(copies_in_order) {
  for (const Array& a : layouts())
    for (const Order order : kOrders) {
      const Array copy = nd::copy(a, order), cast = a.astype(nd::float32, {.order = order}),
                  like = nd::empty_like(a, {.order = order}), array = nd::array(a, {.order = order});
      BOOST_TEST(same_bits(copy, a));
      BOOST_TEST(!copy.shares_memory(a));
      BOOST_TEST(copy.owndata());
      BOOST_TEST((copy.strides() == like.strides() && copy.strides() == array.strides()));
      CHECK_SAME(difference(cast, a.astype(nd::float32)), "cast");
      for (int i = 0; i < 3; ++i) BOOST_TEST(cast.strides()[i] * 2 == copy.strides()[i]);
      const bool fortran = a.is_f_contiguous();
      if (order == Order::C || (order == Order::A && !fortran)) BOOST_TEST(copy.is_c_contiguous());
      if (order == Order::F || (order == Order::A && fortran)) BOOST_TEST(copy.is_f_contiguous());
      if (order == Order::K)  // axes in the order that they have in the array
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            if (std::abs(a.strides()[i]) < std::abs(a.strides()[j])) BOOST_TEST(copy.strides()[i] < copy.strides()[j]);
    }
  const Array f = nd::zeros({2, 3}, {.order = Order::F});
  BOOST_TEST(nd::asfortranarray(f).get() == f.get());
  BOOST_TEST(nd::asfortranarray(f, nd::float32).is_f_contiguous());
  BOOST_TEST(nd::asfortranarray(nd::zeros({2, 3})).is_f_contiguous());
  BOOST_TEST(nd::asfortranarray(nd::array(2.0)).ndim() == 0);
  BOOST_TEST(f.astype(nd::float64, {.copy = false, .order = Order::F}).get() == f.get());
  BOOST_TEST(f.astype(nd::float64, {.copy = false, .order = Order::K}).get() == f.get());
  BOOST_TEST(nd::ones_like(f).is_c_contiguous());
  BOOST_TEST(nd::full_like(f, 2, {.dtype = nd::int8, .order = Order::K}).is_f_contiguous());
  BOOST_TEST(nd::zeros_like(f, {.order = Order::F, .shape = Shape{4, 5}}).strides() == (Strides{8, 32}));
  BOOST_TEST(nd::zeros_like(f, nd::int8).dtype() == nd::int8);
  BOOST_TEST(nd::array({{1, 2}, {3, 4}}, {.order = Order::F}).is_f_contiguous());
  CHECK_SAME(difference(nd::array({{1, 2}, {3, 4}}, {.order = Order::F}), nd::array({{1, 2}, {3, 4}})), "list");
  BOOST_TEST(nd::ones({2, 3}, {.order = Order::F}).is_f_contiguous());
  BOOST_TEST(nd::eye(3, {.M = 4, .order = Order::F}).is_f_contiguous());
  BOOST_CHECK_THROW(nd::zeros({2, 3}, {.order = Order::K}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(reshaped_in_order) {
  for (const Array& a : layouts()) {
    // Element n in Fortran order is a[n % 2, n / 2 % 3, n / 6].
    const Array f = a.reshape({4, 6}, Order::F), line = a.ravel(Order::F), flat = a.flatten(Order::F);
    for (std::int64_t n = 0; n < 24; ++n) {
      const nd::Scalar expected = at(a, n % 2, n / 2 % 3, n / 6);
      BOOST_TEST(f(n % 4, n / 4).item() == expected);
      BOOST_TEST(line(n).item() == expected);
      BOOST_TEST(flat(n).item() == expected);
    }
    BOOST_TEST(!flat.shares_memory(a));
    CHECK_SAME(difference(a.reshape({4, -1}, Order::A), a.reshape({4, 6}, a.is_f_contiguous() ? Order::F : Order::C)),
               "A");
    CHECK_SAME(difference(nd::ravel(a, Order::A), a.ravel(a.is_f_contiguous() ? Order::F : Order::C)), "A");
    // In order K neighbours are as near in memory as can be.
    const Array k = a.ravel(Order::K);
    CHECK_SAME(difference(k, a.copy(Order::K).ravel(Order::K)), "K");
    CHECK_SAME(difference(a.flatten(Order::K), k), "K");
  }
  const Array f = nd::arange(6).reshape(2, 3).copy(Order::F);
  BOOST_TEST(f.reshape({3, 2}, Order::F).shares_memory(f));
  BOOST_TEST(f.ravel(Order::K).shares_memory(f));
  CHECK_SAME(difference(f.ravel(Order::K), nd::array({0, 3, 1, 4, 2, 5})), "K");
  BOOST_CHECK_THROW(f.reshape({6}, Order::K), nd::ValueError);
  BOOST_CHECK_THROW(f.reshape({4, 2}, Order::F), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(views_with_few_axes) {
  const Array a = nd::arange(24).reshape(2, 3, 4);
  const auto check = [](const Array& x, const Shape& shape, const Strides& strides) {
    const Array r = x.reduced_view();
    BOOST_TEST(r.shape() == shape);
    BOOST_TEST(r.strides() == strides);
    if (x.size() > 0) BOOST_TEST(r.shares_memory(x));
    CHECK_SAME(difference(r.ravel(), x.ravel()), shape);
  };
  check(a, {24}, {8});
  check(a.T(), {4, 3, 2}, {8, 32, 96});
  check(a(nd::_, nd::_, nd::Slice(0, 2)), {6, 2}, {32, 8});
  check(a(nd::_, nd::Slice(0, 2)), {2, 8}, {96, 8});
  check(a.reshape(2, 1, 3, 1, 4), {24}, {8});
  check(a(nd::_, nd::Slice(0, 1)), {2, 4}, {96, 8});
  check(nd::zeros({1, 1}), {}, {});
  check(nd::zeros({0, 3}), {0}, {8});
  check(nd::broadcast_to(nd::arange(3), {4, 3}), {4, 3}, {0, 8});
  for (const Array& x : {nd::arange(3), nd::array(2.0), a.T()}) BOOST_TEST(x.reduced_view().get() == x.get());
  // F54: the dtype counts whether or not axes are merged.
  BOOST_TEST(nd::arange(3).reduced_view(nd::float64).dtype() == nd::float64);
  BOOST_TEST(a.reduced_view(nd::uint64).dtype() == nd::uint64);
  BOOST_TEST(a.T().reduced_view(nd::float64).dtype() == nd::float64);
  BOOST_TEST(a.reduced_view(nd::int32).shape() == Shape{48});
}

BOOST_AUTO_TEST_CASE(methods_with_options) {
  const Array a = nd::arange(12.0).reshape(3, 4), out = nd::zeros({3, 4}), line = nd::zeros(3);
  BOOST_TEST(a.clip(2, 5, {.out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::clip(a, 2, 5)), "clip");
  BOOST_TEST(a.take({2, 1, 0}, {.axis = 0, .out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::flipud(a)), "take");
  BOOST_TEST(a.dot(nd::ones(4), {.out = line}).get() == line.get());
  CHECK_SAME(difference(line, a.sum(1)), "dot");
  const Array sum = nd::zeros({}, nd::float64);
  BOOST_TEST(a.trace(1, 0, 1, {.out = sum}).get() == sum.get());
  BOOST_TEST(sum.item<double>() == 1 + 6 + 11);
  BOOST_TEST(a.trace(0, 0, 1, {.dtype = nd::int32}).dtype() == nd::int32);
  BOOST_TEST(a.compress(nd::array({true, true, true}), {.axis = 0, .out = out}).get() == out.get());
  const Array numbers = nd::array({0, 1, 3});
  CHECK_SAME(difference(numbers.choose({nd::zeros(3), nd::ones(3)}, {.mode = "clip"}), nd::array({0.0, 1.0, 1.0})),
             "choose");
  BOOST_CHECK_THROW(numbers.choose({nd::zeros(3), nd::ones(3)}), nd::ValueError);
  const Array counts = nd::zeros(4, nd::int64);
  counts.scatter_add(nd::array({1, 1, 3}), 1);
  counts.scatter_add({nd::IndexKey(nd::Slice(0, 2))}, 10);
  CHECK_SAME(difference(counts, nd::array({10, 12, 0, 1})), "scatter_add");
  BOOST_TEST(a.diagonal(1).shape() == Shape{3});
  BOOST_TEST(a.repeat(2, 0).shape() == (Shape{6, 4}));
}

BOOST_AUTO_TEST_CASE(broadcast_objects) {
  const Array row = nd::arange(3), column = nd::arange(2).reshape(2, 1);
  const nd::broadcast b(row, column, 2.5);
  BOOST_TEST(b.shape() == (Shape{2, 3}));
  BOOST_TEST(b.nd() == 2);
  BOOST_TEST(b.size() == 6);
  BOOST_TEST(b.values().size() == 3u);
  BOOST_TEST(b.values()[0].shares_memory(row));
  CHECK_SAME(difference(b.values()[1], nd::array({{0, 0, 0}, {1, 1, 1}})), "view");
  BOOST_TEST(b.values()[2].item<double>() == 2.5);
  BOOST_TEST(nd::broadcast(nd::zeros({0, 1}), nd::zeros({1, 3})).shape() == (Shape{0, 3}));  // F3
  BOOST_TEST(nd::broadcast(nd::zeros({0}), nd::zeros({1})).size() == 0);
  BOOST_CHECK_THROW(nd::broadcast(nd::zeros(2), nd::zeros(3)), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(names_of_pytorch) {
  const Array a = nd::arange(6).reshape(2, 3);
  BOOST_TEST(a.numel() == 6);
  BOOST_TEST(a.dim() == 2);
  BOOST_TEST(a.size(0) == 2);
  BOOST_TEST(a.size(-1) == 3);
  BOOST_CHECK_THROW(a.size(2), nd::IndexError);
  BOOST_TEST(a.to(nd::float32).dtype() == nd::float32);
  BOOST_TEST(a.to(a.dtype()).shares_memory(a));
  const Array on_cpu = a.cpu();
  BOOST_TEST(on_cpu.device() == nd::cpu_device);
  for (const char* name : {"cpu", "cpu:0", "@numpy"}) BOOST_TEST(on_cpu.to(name).shares_memory(on_cpu));
  BOOST_TEST(on_cpu.cpu().shares_memory(on_cpu));
  BOOST_TEST(on_cpu.to(nd::Device{}).shares_memory(on_cpu));
  for (const char* name : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x"}) BOOST_CHECK_THROW(a.to(name), nd::ValueError);
  BOOST_TEST(a.unsqueeze(1).shape() == (Shape{2, 1, 3}));
  BOOST_TEST(a.unsqueeze(-1).shape() == (Shape{2, 3, 1}));
  BOOST_TEST(a.unsqueeze(0).shares_memory(a));
  BOOST_CHECK_THROW(a.unsqueeze(3), nd::ValueError);
  BOOST_TEST(nd::zeros({2, 3, 4}).permute(2, 0, 1).shape() == (Shape{4, 2, 3}));
  BOOST_TEST(nd::zeros({2, 3, 4}).permute({1, 2, 0}).shape() == (Shape{3, 4, 2}));
  BOOST_TEST(!a.clone().shares_memory(a));
  CHECK_SAME(difference(a.clone(), a), "clone");
  BOOST_TEST(a.contiguous().get() == a.get());
  BOOST_TEST(a.T().contiguous().is_c_contiguous());
  CHECK_SAME(difference(a.T().contiguous(), nd::array({{0, 3}, {1, 4}, {2, 5}})), "contiguous");
  const Array v = nd::array({{3.0, -4.0}, {0.0, 12.0}});
  BOOST_TEST(v.norm().item<double>() == 13);
  BOOST_TEST(v.norm(1).item<double>() == 19);
  BOOST_TEST(v.T().norm(nd::inf).item<double>() == 12);
}

BOOST_AUTO_TEST_SUITE_END()
