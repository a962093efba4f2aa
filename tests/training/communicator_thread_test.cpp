// Communicators: collectives of arrays and objects on 1 to 7 ranks, sums in every dtype, and what they refuse.
#include <catena/training/communicators/communicator.h>

#include <array>
#include <chrono>
#include <thread>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/tests/support/ranks.h>
#include <catena/tests/support/replicas.h>

using namespace test;
using autograd::Array;
using catena::ValueError;
using training::Communicator;

namespace {

const std::vector<int> kSizes{1, 2, 3, 4, 7};

// A different array for each rank and use: 100 rank + use, + 1, + 2, ...
std::vector<double> numbers_of(int rank, int use, std::int64_t size) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < size; ++i) v.push_back(100. * rank + 10. * use + double(i));
  return v;
}
Array array_of(int rank, int use, const Shape& shape, Dtype dtype = Dtype::float32) {
  return autograd::astype(autograd::array(numbers_of(rank, use, catena::size_of(shape)), shape), dtype);
}
// Compared by the cases: dtype, shape, and values.
struct Seen {
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape = {};
  std::vector<double> numbers = {};
  friend bool operator==(const Seen&, const Seen&) = default;
};
Seen seen(const Array& a) { return {a.dtype(), {a.shape().begin(), a.shape().end()}, values(a)}; }
std::vector<Seen> seen(const std::vector<Array>& all) {
  std::vector<Seen> result;
  for (const Array& a : all) result.push_back(seen(a));
  return result;
}

const std::vector<Shape> kShapes{{3, 2}, {}, {0, 3}, {1}, {5}};

}  // namespace

BOOST_AUTO_TEST_SUITE(communicators)

BOOST_AUTO_TEST_CASE(ranks_within_hosts) {
  const auto all =
      on_ranks(5,
               [](Communicator& c) {
                 return std::array{c.rank(), c.size(), c.intra_rank(), c.intra_size(), c.inter_rank(), c.inter_size()};
               },
               {.hosts = {"a", "b", "a", "c", "b"}});
  const std::vector<std::array<int, 6>> expected{
      {0, 5, 0, 2, 0, 3}, {1, 5, 0, 2, 1, 3}, {2, 5, 1, 2, 0, 3}, {3, 5, 0, 1, 2, 3}, {4, 5, 1, 2, 1, 3}};
  BOOST_TEST((all == expected));
}

BOOST_AUTO_TEST_CASE(a_process_of_its_own_is_the_only_rank) {
  const auto comm = training::create_communicator();
  BOOST_TEST(comm->name() == "naive");
  BOOST_TEST(comm->rank() == 0);
  BOOST_TEST(comm->size() == 1);
  BOOST_TEST(comm->intra_size() == 1);
  BOOST_TEST(comm->inter_size() == 1);
  BOOST_TEST((seen(comm->allreduce(array_of(1, 2, {3}))) == seen(array_of(1, 2, {3}))));
  comm->barrier();
  const auto other = training::create_communicator("flat", {.allreduce_grad_dtype = Dtype::float16, .timeout = 5});
  BOOST_TEST((other->options().allreduce_grad_dtype == Dtype::float16));
}

BOOST_AUTO_TEST_CASE(arrays_by_rank) {
  for (const int n : kSizes) {
    for (const Shape& shape : kShapes) {
      BOOST_TEST_CONTEXT(n << " ranks, shape " << shape) {
        const int root = n / 2;
        struct Results {
          Seen bcast, scatter;
          std::vector<Seen> gather, allgather, alltoall;
        };
        const auto all = on_ranks(n, [&](Communicator& c) {
          const Array own = array_of(c.rank(), 0, shape);
          std::vector<Array> by_rank;
          for (int r = 0; r < n; ++r) by_rank.push_back(array_of(c.rank(), r + 1, shape));
          return Results{seen(c.bcast(c.rank() == root ? own : Array(), root)),
                         seen(c.scatter(c.rank() == root ? by_rank : std::vector<Array>(), root)),
                         seen(c.gather(own, root)), seen(c.allgather(own)), seen(c.alltoall(by_rank))};
        });
        std::vector<Seen> owns;
        for (int r = 0; r < n; ++r) owns.push_back(seen(array_of(r, 0, shape)));
        for (int r = 0; r < n; ++r) {
          const Results& of_rank = all[std::size_t(r)];
          std::vector<Seen> to_rank;
          for (int from = 0; from < n; ++from) to_rank.push_back(seen(array_of(from, r + 1, shape)));
          BOOST_TEST((of_rank.bcast == owns[std::size_t(root)]));
          BOOST_TEST((of_rank.scatter == seen(array_of(root, r + 1, shape))));
          BOOST_TEST((of_rank.gather == (r == root ? owns : std::vector<Seen>())));
          BOOST_TEST((of_rank.allgather == owns));
          BOOST_TEST((of_rank.alltoall == to_rank));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(shapes_may_differ_by_rank) {
  const auto shape_of = [](int rank) { return Shape{rank, 2}; };
  const auto all =
      on_ranks(3, [&](Communicator& c) { return seen(c.allgather(array_of(c.rank(), 0, shape_of(c.rank())))); });
  for (const auto& of_rank : all)
    for (int r = 0; r < 3; ++r) BOOST_TEST((of_rank[std::size_t(r)] == seen(array_of(r, 0, shape_of(r)))));
}

BOOST_AUTO_TEST_CASE(messages_between_two_ranks) {
  const auto all = on_ranks(3, [&](Communicator& c) {
    const int next = (c.rank() + 1) % 3, previous = (c.rank() + 2) % 3;
    // Every dtype, in both directions of the ring; a transposed view travels in C order.
    const Array view = autograd::transpose(array_of(c.rank(), 1, {2, 3}, Dtype::float64));
    c.send(view, next);
    c.send(array_of(c.rank(), 2, {}, Dtype::int16), next);
    c.send_obj("from " + std::to_string(c.rank()), next);
    std::vector<Seen> received{seen(c.recv(previous)), seen(c.recv(previous))};
    const std::string text = c.recv_obj(previous);
    received.push_back({Dtype::float32, {}, std::vector<double>(text.begin(), text.end())});
    return received;
  });
  for (int r = 0; r < 3; ++r) {
    const int from = (r + 2) % 3;
    const std::string text = "from " + std::to_string(from);
    BOOST_TEST((all[std::size_t(r)][0] == seen(autograd::transpose(array_of(from, 1, {2, 3}, Dtype::float64)))));
    BOOST_TEST((all[std::size_t(r)][1] == seen(array_of(from, 2, {}, Dtype::int16))));
    BOOST_TEST((all[std::size_t(r)][2].numbers == std::vector<double>(text.begin(), text.end())));
  }
}

BOOST_AUTO_TEST_CASE(what_comes_from_others_is_where_the_own_array_is) {
  if (!has_cuda()) return;
  const auto all = on_ranks(2, [&](Communicator& c) {
    const Array own = autograd::to_device(array_of(c.rank(), 0, {3}), kCuda);
    std::vector<Array> arrays = c.allgather(own);
    arrays.push_back(c.allreduce(own));
    arrays.push_back(c.bcast(own));
    std::vector<bool> there;
    for (const Array& a : arrays) there.push_back(a.device() == kCuda);
    return std::pair(there, values(arrays[2]));
  });
  for (const auto& [there, sums] : all) {
    BOOST_TEST((there == std::vector<bool>(4, true)));
    BOOST_TEST((sums == std::vector<double>{100, 102, 104}));
  }
}

// ---- sums ---------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(sums_in_every_dtype) {
  const std::vector<double> first{0, 1, 2, 3, 4, 5, 6};
  for (const std::string_view name : {"naive", "flat"}) {
    for (const int n : {1, 2, 3, 7}) {
      for (int d = 0; d < catena::kNumDtypes; ++d) {
        const auto dtype = static_cast<Dtype>(d);
        BOOST_TEST_CONTEXT(name << ", " << n << " ranks, " << dtype) {
          // Rank r adds r + i; the ranks after the first add zero in place of every second number.
          const auto all = on_ranks(n,
                                    [&](Communicator& c) {
                                      std::vector<double> own;
                                      for (const double v : first)
                                        own.push_back(c.rank() > 0 && int(v) % 2 == 0 ? 0 : v);
                                      const Array a = autograd::astype(autograd::array(own, {7}), dtype);
                                      const Array sum = c.allreduce(a);
                                      return std::pair(sum.dtype(), values(sum));
                                    },
                                    {.name = name});
          std::vector<double> expected;
          for (const double v : first) expected.push_back(int(v) % 2 == 0 ? v : v * n);
          if (dtype == Dtype::bool_)
            for (double& v : expected) v = v != 0;
          for (const auto& [sum_dtype, sum] : all) {
            BOOST_TEST(sum_dtype == dtype);
            BOOST_TEST(sum == expected, boost::test_tools::per_element());
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_of_every_shape) {
  for (const std::string_view name : {"naive", "flat"}) {
    for (const int n : kSizes) {
      for (const Shape& shape : kShapes) {
        const auto all = on_ranks(n,
                                  [&](Communicator& c) {
                                    const Array a = array_of(c.rank(), 0, shape);
                                    const Array sum = c.allreduce(a);
                                    const Array in_place = array_of(c.rank(), 0, shape),
                                                view = autograd::transpose(array_of(c.rank(), 0, {2, 4}));
                                    c.allreduce_into(in_place);
                                    c.allreduce_into(view);
                                    return std::vector{seen(sum), seen(in_place), seen(view), seen(a)};
                                  },
                                  {.name = name});
        const auto sum_of = [&](const Shape& s) {
          Seen sum = seen(array_of(0, 0, s));
          for (double& v : sum.numbers) v *= n;
          for (double& v : sum.numbers) v += 100. * n * (n - 1) / 2;
          return sum;
        };
        Seen of_view = sum_of({2, 4});
        of_view.shape = {4, 2};
        of_view.numbers = values(autograd::transpose(autograd::array(of_view.numbers, {2, 4})));
        for (int r = 0; r < n; ++r) {
          BOOST_TEST((all[std::size_t(r)][0] == sum_of(shape)), name << ", " << n << " ranks, shape " << shape);
          BOOST_TEST((all[std::size_t(r)][1] == sum_of(shape)));
          BOOST_TEST((all[std::size_t(r)][2] == of_view));
          BOOST_TEST((all[std::size_t(r)][3] == seen(array_of(r, 0, shape))), "the argument has changed");
        }
      }
    }
  }
}

// ((x0 + x1) + x2) + x3 in float32, for every element: other orders give other bits.
BOOST_AUTO_TEST_CASE(naive_adds_in_the_order_of_the_ranks) {
  constexpr int n = 4, kCount = 9;
  // Neighbours of 1e8 are 8 apart.
  const auto element = [](int rank, int i) {
    const float of_rank[] = {1e8f, 3.f, -1e8f, 5.f};
    return of_rank[rank] - float(rank % 2) * 0.25f * float(i);
  };
  const auto all = on_ranks(n, [&](Communicator& c) {
    std::vector<float> own;
    for (int i = 0; i < kCount; ++i) own.push_back(element(c.rank(), i));
    return autograd::to_vector<float>(c.allreduce(autograd::array(own, {kCount})));
  });
  for (const auto& sums : all)
    for (int i = 0; i < kCount; ++i) {
      float expected = element(0, i);
      for (int r = 1; r < n; ++r) expected += element(r, i);
      BOOST_TEST(sums[std::size_t(i)] == expected);
    }
}

// In float16, 2048 + 1 is 2048: the sum is computed in float32.
BOOST_AUTO_TEST_CASE(naive_rounds_16_bit_sums_once) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const double big = dtype == Dtype::float16 ? 2048 : 256;
    const auto all = on_ranks(3, [&](Communicator& c) {
      return values(c.allreduce(autograd::arrays::full({4}, c.rank() == 0 ? big : 1, dtype)));
    });
    for (const auto& sums : all) BOOST_TEST(sums == std::vector<double>(4, big + 2), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(flat_gives_the_same_bits_on_all_ranks) {
  const auto all = on_ranks(5,
                            [](Communicator& c) {
                              std::vector<float> own;
                              for (int i = 0; i < 23; ++i) own.push_back(float(1e6 / (1 + c.rank() * 7 + i * 3)));
                              return autograd::to_vector<float>(c.allreduce(autograd::array(own, {23})));
                            },
                            {.name = "flat"});
  for (const auto& sums : all) BOOST_TEST((sums == all[0]));
  for (int i = 0; i < 23; ++i) {
    double expected = 0;
    for (int r = 0; r < 5; ++r) expected += 1e6 / (1 + r * 7 + i * 3);
    BOOST_TEST(all[0][std::size_t(i)] == expected, boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(dummy_sums_nothing) {
  const auto all = on_ranks(2,
                            [](Communicator& c) {
                              const Array a = array_of(c.rank(), 0, {3});
                              const Array sum = c.allreduce(a);
                              c.allreduce_into(a);
                              return std::vector{seen(sum), seen(a), seen(c.bcast(a, 1))};
                            },
                            {.name = "dummy"});
  for (int r = 0; r < 2; ++r) {
    BOOST_TEST((all[std::size_t(r)][0] == seen(array_of(r, 0, {3}))));
    BOOST_TEST((all[std::size_t(r)][1] == seen(array_of(r, 0, {3}))));
    BOOST_TEST((all[std::size_t(r)][2] == seen(array_of(1, 0, {3}))));
  }
}

// ---- objects ------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(objects_by_rank) {
  for (const int n : kSizes) {
    const int root = n - 1;
    const auto text = [](int rank, int use) {
      return std::string("\0\xff bytes ", 9) + std::to_string(rank) + std::string(std::size_t(use), '.');
    };
    struct Results {
      std::string bcast, scatter;
      std::vector<std::string> gather, allgather;
      std::map<std::string, double> sums;
    };
    const auto all = on_ranks(n, [&](Communicator& c) {
      std::vector<std::string> by_rank;
      for (int r = 0; r < n; ++r) by_rank.push_back(text(c.rank(), r));
      std::map<std::string, double> numbers{{"loss", 0.5 * c.rank()}};
      if (c.rank() == root) numbers["only"] = 3;
      return Results{c.bcast_obj(c.rank() == root ? text(root, 4) : "", root),
                     c.scatter_obj(c.rank() == root ? by_rank : std::vector<std::string>(), root),
                     c.gather_obj(c.rank() == 0 ? "" : text(c.rank(), 0), root), c.allgather_obj(text(c.rank(), 1)),
                     c.allreduce_obj(numbers)};
    });
    std::vector<std::string> gathered, everywhere;
    for (int r = 0; r < n; ++r) {
      gathered.push_back(r == 0 ? "" : text(r, 0));
      everywhere.push_back(text(r, 1));
    }
    for (int r = 0; r < n; ++r) {
      const Results& of_rank = all[std::size_t(r)];
      BOOST_TEST((of_rank.bcast == text(root, 4)));
      BOOST_TEST((of_rank.scatter == text(root, r)));
      BOOST_TEST((of_rank.gather == (r == root ? gathered : std::vector<std::string>())));
      BOOST_TEST((of_rank.allgather == everywhere));
      BOOST_TEST(of_rank.sums.at("loss") == 0.25 * n * (n - 1));
      BOOST_TEST(of_rank.sums.at("only") == 3);
    }
  }
}

// Two whole pieces of a message and a part of one.
BOOST_AUTO_TEST_CASE(long_objects_travel_in_pieces) {
  constexpr std::size_t kLength = (std::size_t(32) << 20) + 5;
  const auto all = on_ranks(2, [&](Communicator& c) {
    std::string object(c.rank() == 0 ? kLength : 0, 'a');
    for (std::size_t i = 0; i < object.size(); i += 4099) object[i] = char('a' + i % 26);
    const std::string received = c.bcast_obj(object);
    bool same = received.size() == kLength;
    for (std::size_t i = 0; same && i < kLength; ++i) same = received[i] == (i % 4099 == 0 ? char('a' + i % 26) : 'a');
    return int(same);
  });
  BOOST_TEST(all == (std::vector<int>{1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(parts_of_the_ranks) {
  const auto all =
      on_ranks(5,
               [](Communicator& c) {
                 // Even ranks in reverse order, odd ones in theirs; rank 4 is in none.
                 const auto part = c.split(c.rank() == 4 ? -1 : c.rank() % 2, -c.rank() * (c.rank() % 2 == 0));
                 if (!part) return std::vector<double>{-1};
                 const auto again = part->split(0, 0);
                 return std::vector<double>{double(part->rank()), double(part->size()), double(part->intra_size()),
                                            values(part->allreduce(autograd::arrays::full({1}, c.rank() + 1)))[0],
                                            values(again->allreduce(autograd::arrays::full({1}, 1)))[0]};
               },
               {.hosts = {"a", "a", "b", "b", "b"}});
  const std::vector<std::vector<double>> expected{
      {1, 2, 1, 4, 2}, {0, 2, 1, 6, 2}, {0, 2, 1, 4, 2}, {1, 2, 1, 6, 2}, {-1}};
  BOOST_TEST((all == expected));
}

// A second communicator serves a thread that communicates beside the first.
BOOST_AUTO_TEST_CASE(a_thread_of_its_own) {
  const auto all = on_ranks(3, [](Communicator& c) {
    const auto second = c.split(0, c.rank());
    std::vector<double> sums(2);
    std::thread other([&] {
      for (int i = 0; i < 50; ++i)
        sums[1] += values(second->allreduce(autograd::arrays::full({2}, i, Dtype::float64)))[0];
    });
    for (int i = 0; i < 50; ++i) sums[0] += values(c.allreduce(autograd::arrays::full({3}, 1, Dtype::float64)))[2];
    other.join();
    return sums;
  });
  for (const auto& sums : all) BOOST_TEST((sums == std::vector<double>{150, 3 * 1225}));
}

// ---- errors -------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(ranks_that_disagree) {
  struct Case {
    std::string text;  // a part of the message
    catena::Function<void(Communicator&)> run;
  };
  const Array a = autograd::arrays::zeros({2, 3}), b = autograd::arrays::zeros({3, 2}),
              d = autograd::arrays::zeros({2, 3}, Dtype::float64);
  const std::vector<Case> cases{
      {"rank 0 has allreduce of float32 (2, 3), rank 2 has allreduce of float32 (3, 2)",
       [&](Communicator& c) { c.allreduce(c.rank() == 2 ? b : a); }},
      {"rank 0 has allreduce of float32 (2, 3), rank 1 has allreduce of float64 (2, 3)",
       [&](Communicator& c) { c.allreduce(c.rank() == 1 ? d : a); }},
      {"rank 0 has barrier, rank 2 has allreduce_obj",
       [&](Communicator& c) { c.rank() == 2 ? static_cast<void>(c.allreduce_obj({})) : c.barrier(); }},
      {"rank 0 has bcast from rank 0, rank 1 has bcast from rank 1",
       [&](Communicator& c) { c.bcast(a, c.rank() == 1); }},
      {"bcast: the array is float32 (3, 2), that of the root is float32 (2, 3) (rank 1)",
       [&](Communicator& c) { c.bcast(c.rank() == 1 ? b : a); }},
      {"rank 0 has gather of float32 to rank 1, rank 2 has gather of float64 to rank 1",
       [&](Communicator& c) { c.gather(c.rank() == 2 ? d : a, 1); }},
      {"rank 0 has allgather of float32, rank 1 has allgather of float64",
       [&](Communicator& c) { c.allgather(c.rank() == 1 ? d : a); }},
      {"scatter: there are 2 arrays for 3 ranks (rank 1)",
       [&](Communicator& c) {
         c.scatter({a, a}, 1);
       }},
      {"alltoall: there are 4 arrays for 3 ranks (rank 0)",
       [&](Communicator& c) { c.alltoall(std::vector<Array>(c.rank() == 0 ? 4 : 3, a)); }},
      {"alltoall: an array of float64 beside one of float32 (rank 0)",
       [&](Communicator& c) {
         c.alltoall({a, a, d});
       }},
      {"allreduce: the array is null (rank 2)", [&](Communicator& c) { c.allreduce(c.rank() == 2 ? Array() : a); }},
      {"bcast: there is no rank 3 among 3 (rank 0)", [&](Communicator& c) { c.bcast(a, 3); }},
      {"gather_obj: there is no rank -1 among 3 (rank 0)", [&](Communicator& c) { c.gather_obj("", -1); }},
      {"scatter_obj: there are 1 objects for 3 ranks (rank 0)", [&](Communicator& c) { c.scatter_obj({"x"}); }},
  };
  for (const Case& one : cases) {
    const auto errors = errors_on_ranks<ValueError>(3, [&](Communicator& c) {
      const std::string error = message_if_thrown<ValueError>([&] { one.run(c); });
      c.barrier();  // the ranks are in step nevertheless
      throw ValueError(error);
    });
    for (const std::string& error : errors) {
      BOOST_TEST(has(error, one.text), error << " does not have " << one.text);
      BOOST_TEST(error == errors[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_and_options) {
  const auto error_of = [](std::string_view name, training::CommunicatorOptions options) {
    return message_of<ValueError>([&] { training::create_communicator(name, options); });
  };
  BOOST_TEST(has(error_of("nccl", {}), "the names are naive, flat, pure_nccl and dummy"));
  BOOST_TEST(has(error_of("naive", {.allreduce_grad_dtype = Dtype::int8}), "float16, bfloat16 or float32"));
  BOOST_TEST(has(error_of("flat", {.timeout = 0}), "timeout is 0"));
  BOOST_TEST(has(message_of<ValueError>([] { Communicator("naive", {}); }), "the transport is null"));
  const auto comm = training::create_communicator();
  BOOST_TEST(has(message_of<ValueError>([&] { comm->send(Array(), 0); }), "the array is null"));
  BOOST_TEST(has(message_of<ValueError>([&] { comm->send_obj("x", 0); }), "rank 0 is this rank itself"));
  BOOST_TEST(has(message_of<ValueError>([&] { comm->recv(1); }), "there is no rank 1 among 1"));
}

BOOST_AUTO_TEST_CASE(pure_nccl_needs_a_gpu) {
  if (autograd::default_backend().default_device() != kCpu) return;
  const auto errors = on_ranks(2, [](Communicator& c) {
    return message_if_thrown<ValueError>([&] { Communicator("pure_nccl", c.transport().split(0, c.rank()), {}); });
  });
  for (const std::string& error : errors)
    BOOST_TEST(has(error, "pure_nccl: the current device is cpu:0; make a GPU of its own current on each rank"), error);
}

// Each rank has a GPU of its own. Dtypes that NCCL lacks, and calls other than sums, go through the host.
BOOST_AUTO_TEST_CASE(pure_nccl_sums_on_gpus) {
  if (autograd::default_backend().name() != "ndarray" || default_device() == kCpu || !has_two_gpus()) return;
  struct Results {
    bool is_there = false;
    Seen sum, shorts, gradient, bcast;
    std::string error;
  };
  std::vector<Results> all(2);
  training::communicators::run_thread_ranks(2, [&](catena::Shared<training::communicators::Transport> transport) {
    const int rank = transport->rank();
    const autograd::Device own{autograd::Device::Kind::cuda, static_cast<std::int16_t>(rank)};
    autograd::default_backend().exchange_default_device(own);
    Communicator c("pure_nccl", std::move(transport), {.allreduce_grad_dtype = Dtype::float16, .timeout = 60});
    Results& r = all[std::size_t(rank)];
    const Array sum = c.allreduce(autograd::transpose(array_of(rank, 0, {2, 3})));
    r.is_there = sum.device() == own;
    r.sum = seen(sum);
    r.shorts = seen(c.allreduce(array_of(rank, 0, {3}, Dtype::int16)));
    r.bcast = seen(c.bcast(array_of(rank, 0, {3}), 1));
    nn::Link model;
    nn::Parameter& w = model.add_param("w", nn::Parameter(autograd::arrays::zeros({2})));
    w.set_grad(autograd::arrays::full({2}, rank == 0 ? 60000 : 20000));
    c.multi_node_mean_grad(model);
    r.gradient = seen(w.grad());
    r.error = message_if_thrown<ValueError>([&] { c.allreduce(autograd::to_device(sum, kCpu)); });
  });
  for (const Results& r : all) {
    BOOST_TEST(r.is_there);
    BOOST_TEST((r.sum == Seen{Dtype::float32, {3, 2}, {100, 106, 102, 108, 104, 110}}));
    BOOST_TEST((r.shorts == Seen{Dtype::int16, {3}, {100, 102, 104}}));
    BOOST_TEST((r.bcast == seen(array_of(1, 0, {3}))));
    BOOST_TEST((r.gradient == Seen{Dtype::float32, {2}, {40000, 40000}}));
    BOOST_TEST(has(r.error, "pure_nccl sums arrays of GPUs; this one is on cpu:0"), r.error);
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_come) {
  const auto errors = errors_on_ranks<training::communicators::TimeoutError>(
      2,
      [](Communicator& c) {
        if (c.rank() == 0) c.barrier();
        else std::this_thread::sleep_for(std::chrono::milliseconds(300));
      },
      {.comm = {.timeout = 0.05}});
  BOOST_TEST(has(errors[0], "rank 0 waits for rank 1 for more than 0.05 s"), errors[0]);
}

BOOST_AUTO_TEST_CASE(a_rank_that_fails) {
  std::vector<std::string> others(3);
  const std::string first = message_of<catena::TypeError>([&] {
    training::communicators::run_thread_ranks(3, [&](catena::Shared<training::communicators::Transport> t) {
      const int rank = t->rank();
      Communicator comm("naive", std::move(t));
      if (rank == 1) throw catena::TypeError("its own error");
      others[std::size_t(rank)] = message_if_thrown<catena::RuntimeError>([&] { comm.barrier(); });
    });
  });
  BOOST_TEST(first == "its own error");
  // Rank 2 waits for rank 1 or for rank 0, which has failed because of rank 1.
  for (const int rank : {0, 2})
    BOOST_TEST(has(others[std::size_t(rank)], "which has ended"), others[std::size_t(rank)]);
}

BOOST_AUTO_TEST_SUITE_END()
