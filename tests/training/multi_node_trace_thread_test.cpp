// The communication of a multi-node optimizer on the timeline of its rank.
#include <condition_variable>
#include <mutex>

#include <catena/autograd/trace.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/tests/support/json.h>
#include <catena/tests/support/multi_node.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/trace_report.h>
#include <catena/training/multi_node/multi_node_optimizer.h>

using namespace test;
using namespace training;
using EventKind = MultiNodeEvent::Kind;

namespace {

struct Range {
  std::string name, parameters;
  int row;
  std::int64_t bytes;
  double begin, end;
};

std::vector<Range> ranges_of(const Json& trace, const std::string& category) {
  std::vector<Range> found;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "X" || e["cat"] != category) continue;
    Range r{e["name"].get<std::string>(), "", e["tid"].get<int>(), -1, e["ts"].get<double>(), 0};
    r.end = r.begin + e["dur"].get<double>();
    if (e.contains("args") && e["args"].contains("bytes")) r.bytes = e["args"]["bytes"].get<std::int64_t>();
    if (e.contains("args") && e["args"].contains("detail")) r.parameters = e["args"]["detail"].get<std::string>();
    found.push_back(r);
  }
  return found;
}
std::vector<Range> named(const std::vector<Range>& ranges, const std::string& name) {
  std::vector<Range> found;
  for (const Range& r : ranges)
    if (r.name == name) found.push_back(r);
  return found;
}
std::string row_name(const Json& trace, int row) {
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "thread_name" && e["tid"].get<int>() == row)
      return e["args"]["name"].get<std::string>();
  return "none";
}

// The timelines of the second update of two ranks. With overlap, the first layer's backward waits until the first
// bucket, which has the second layer, has been summed.
std::vector<Json> timelines(MultiNodeOptimizerOptions options, const CommunicatorOptions& comm_options = {}) {
  std::vector<std::string> texts(2);
  const RankBatches data(2, 2, Dtype::float32);
  run_ranks(2, {.comm = comm_options}, [&](Communicator& comm) {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;  // the first bucket
    MultiNodeOptimizerOptions own = options;
    own.bucket_bytes = 40;
    own.observer = [&](const MultiNodeEvent& e) {
      const std::lock_guard lock(mutex);
      ended = ended || e == MultiNodeEvent{EventKind::bucket_ended, 0};
      changed.notify_all();
    };
    Perceptron model(Dtype::float32, 100);
    SGD sgd;
    const auto optimizer = create_multi_node_optimizer(sgd, comm, own);
    optimizer->setup(model);
    optimizer->update(model, data.x(0, comm.rank()), data.t(0, comm.rank()));
    ended = false;
    const autograd::Trace trace;
    optimizer->update([&] {
      const Variable h = on_backward(model.l1(data.x(1, comm.rank())), [&] {
        std::unique_lock lock(mutex);
        if (own.overlap) changed.wait_for(lock, std::chrono::seconds(30), [&] { return ended; });
      });
      return nn::mean_squared_error(model.l2(nn::tanh(h)), data.t(1, comm.rank()));
    });
    texts[std::size_t(comm.rank())] = trace.json();
  });
  return {Json::parse(texts[0]), Json::parse(texts[1])};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_traces, *boost::unit_test::fixture<OnHost>())

BOOST_AUTO_TEST_CASE(communication_during_backward) {
  for (const bool overlap : {true, false})
    for (const Json& trace : timelines({.overlap = overlap})) {
      const auto backward = ranges_of(trace, "backward"), forward = ranges_of(trace, "forward");
      const auto communication = ranges_of(trace, "communication");
      const auto first = named(communication, "all-reduce of bucket 0");
      const auto second = named(communication, "all-reduce of bucket 1");
      BOOST_REQUIRE(first.size() == 1u);
      BOOST_REQUIRE(second.size() == 1u);
      BOOST_REQUIRE(!backward.empty());
      BOOST_REQUIRE(!forward.empty());
      double backward_end = 0;
      for (const Range& r : backward) backward_end = std::max(backward_end, r.end);
      BOOST_TEST((first[0].begin < backward_end) == overlap);
      BOOST_TEST(first[0].begin > forward.back().end);
      BOOST_TEST(second[0].begin >= first[0].end);
      BOOST_TEST(first[0].end > first[0].begin);
      BOOST_TEST(row_name(trace, first[0].row) == "communication");
      BOOST_TEST(first[0].row == second[0].row);
      BOOST_TEST(first[0].row != backward[0].row);
      // The second layer has 8 + 2 elements; 2 numbers of each parameter and 2 of the bucket follow. The order of the
      // gradients determines whether the first layer, of 12 + 4 elements, has one bucket or two.
      BOOST_TEST(first[0].bytes == 4 * (10 + 6));
      std::int64_t rest = 0, last_end = 0;
      for (const Range& r : communication)
        if (r.name.starts_with("all-reduce") && r.name != first[0].name) {
          rest += r.bytes;
          last_end = std::max(last_end, std::int64_t(r.end));
        }
      BOOST_TEST(rest == 4 * (16 + (second[0].parameters.find(',') == std::string::npos ? 8 : 6)));
      BOOST_TEST((first[0].parameters == "/l2/b, /l2/W" || first[0].parameters == "/l2/W, /l2/b"), first[0].parameters);
      const auto wait = named(communication, "wait for communication");
      BOOST_REQUIRE(wait.size() == 1u);
      BOOST_TEST(wait[0].row == backward[0].row);
      BOOST_TEST(wait[0].begin >= backward_end);
      BOOST_TEST(wait[0].end >= double(last_end));
    }
}

// In 16 bits half as many bytes travel; with sharded states each rank has the sums of its own parameters.
BOOST_AUTO_TEST_CASE(kinds_of_communication) {
  for (const Json& trace : timelines({}, {.allreduce_grad_dtype = Dtype::float16, .timeout = 60}))
    BOOST_TEST(named(ranges_of(trace, "communication"), "all-reduce of bucket 0").at(0).bytes == 2 * (10 + 6));
  for (const Json& trace : timelines({.shard_states = true})) {
    const auto communication = ranges_of(trace, "communication");
    // The numbers of the bucket go to both ranks.
    BOOST_TEST(named(communication, "reduce-scatter of bucket 0").at(0).bytes == 4 * (10 + 2 * 6));
    BOOST_TEST(named(communication, "all-gather of parameters").size() == 1u);
  }
}

// TraceReport of a trainer; a file for each rank. A timeline without communication has one row.
BOOST_AUTO_TEST_CASE(a_file_for_each_rank) {
  const TemporaryFolder folder("multi_node_trace");
  const RankBatches data(6, 2, Dtype::float32);
  run_ranks(2, {}, [&](Communicator& comm) {
    Perceptron model(Dtype::float32, 100);
    SGD sgd;
    const auto optimizer = create_multi_node_optimizer(sgd, comm);
    optimizer->setup(model);
    Trainer trainer(StandardUpdater(SerialIterator(data.of_rank(comm.rank()), RankBatches::kBatch, {.shuffle = false}),
                                    optimizer, {.loss_func = [&](const Variables& b) { return model(b[0], b[1]); }}),
                    {5, iteration}, folder / "out");
    trainer.extend(TraceReport(catena::concat("trace.", comm.rank(), ".json"), {.start = 3, .iterations = 2}));
    trainer.run();
  });
  for (const char* name : {"out/trace.0.json", "out/trace.1.json"}) {
    const Json trace = Json::parse(catena::read_file("test", folder / name));
    BOOST_TEST(named(ranges_of(trace, "communication"), "all-reduce of bucket 0").size() == 2u);
    const auto updates = ranges_of(trace, "iteration");
    BOOST_REQUIRE(named(updates, "update 3").size() == 1u);
    BOOST_TEST(named(ranges_of(trace, "communication"), "all-reduce of bucket 0")[0].begin >=
               named(updates, "update 3")[0].begin);
  }
  const autograd::Trace alone;
  autograd::exp(Variable(autograd::arrays::zeros({2})));
  const Json trace = Json::parse(alone.json());
  for (const Json& e : trace["traceEvents"]) BOOST_TEST(e["ph"] != "M");
}

BOOST_AUTO_TEST_SUITE_END()
