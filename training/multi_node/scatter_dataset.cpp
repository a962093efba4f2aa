#include <catena/training/multi_node/scatter_dataset.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/text.h>
#include <catena/training/iterator.h>
#include <catena/training/multi_node/messages.h>

namespace training {

using catena::check;
using catena::ValueError;
using internal::MessageReader;
using internal::MessageWriter;
using Indices = std::vector<std::int64_t>;

namespace {

constexpr const char* kScatterDataset = "scatter_dataset";

IndexRange part_of(std::int64_t n, std::int64_t rank, std::int64_t size, bool force_equal_length) {
  const std::int64_t begin = n * rank / size;
  return {begin, force_equal_length ? begin + (n + size - 1) / size : n * (rank + 1) / size};
}

// Examples that another rank has sent one by one.
class ReceivedExamples final : public DatasetMixin {
 public:
  explicit ReceivedExamples(Examples examples) : examples_(std::move(examples)) {}
  std::int64_t size() const override { return std::int64_t(examples_.size()); }
  Example get_example(std::int64_t i) const override { return examples_[static_cast<std::size_t>(i)]; }

 private:
  Examples examples_;
};

class EmptyExamples final : public DatasetMixin {
 public:
  explicit EmptyExamples(std::int64_t n) : n_(n) {}
  std::int64_t size() const override { return n_; }
  Example get_example(std::int64_t) const override { return {}; }

 private:
  std::int64_t n_;
};

// As arrays if the dataset stacks examples, so that the part does so, too; else one by one.
std::string packed_part(const DatasetMixin& dataset, const Indices& indices) {
  std::optional<Example> stacked;
  if (!indices.empty()) try {
      stacked = dataset.get_batch(indices);
    } catch (...) {
      catena::rethrow_from(internal::place_of(indices, true));
    }
  MessageWriter w;
  w.put(stacked.has_value());
  if (stacked) {
    internal::put_examples(w, {*stacked});
    return w.take();
  }
  Examples examples;
  for (const std::int64_t i : indices) try {
      examples.push_back(dataset.get_example(i));
    } catch (...) {
      catena::rethrow_from(internal::place_of({&i, 1}, false));
    }
  internal::put_examples(w, examples);
  return w.take();
}

DatasetPtr unpacked_part(std::string_view message) {
  MessageReader r(message);
  const bool is_stacked = r.get<bool>();
  Examples examples = internal::get_examples(r);
  if (!is_stacked) return catena::Shared<ReceivedExamples>::make(std::move(examples));
  Example& all = examples[0];
  if (!all.is_map()) return catena::Shared<TupleDataset>::make(std::move(all.values));
  HeldMap<const DatasetMixin> named;
  for (std::size_t k = 0; k < all.names.size(); ++k) named.emplace_back(all.names[k], all.values[k]);
  return catena::Shared<DictDataset>::make(std::move(named));
}

// Collective. Returns the number of examples, and whether all ranks have a dataset.
std::pair<std::int64_t, bool> agreed_size(const DatasetMixin* dataset, const Communicator& comm, int root) {
  const std::vector<std::string> all = comm.allgather_obj(dataset ? std::to_string(dataset->size()) : "");
  const std::string& of_root = all[std::size_t(root)];
  check<ValueError>(!of_root.empty(), kScatterDataset, "rank ", root, ", the root, has no dataset");
  bool everywhere = true;
  for (std::size_t r = 0; r < all.size(); ++r) {
    check<ValueError>(all[r].empty() || all[r] == of_root, kScatterDataset, "the dataset of rank ", root, " has ",
                      of_root, " examples, and that of rank ", r, " has ", all[r]);
    everywhere = everywhere && !all[r].empty();
  }
  return {*catena::parse_integer(of_root), everywhere};
}

std::string bytes_of(const Indices& order) {
  return {reinterpret_cast<const char*>(order.data()), order.size() * sizeof(std::int64_t)};
}
Indices indices_of(std::string_view bytes) {
  Indices order(bytes.size() / sizeof(std::int64_t));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(order.data()));
  return order;
}

// The root sends each part as soon as it is loaded. A rank whose part cannot be loaded gets an empty message, so that
// it does not wait; on_all_ranks() then throws the reason there.
std::string exchange(const DatasetMixin* dataset, const Communicator& comm, const std::vector<Indices>& parts,
                     int root) {
  if (comm.rank() != root) return comm.recv_obj(root);
  std::exception_ptr error;
  for (int r = 0; r < comm.size(); ++r) {
    if (r == root) continue;
    std::string message;
    if (!error) try {
        message = packed_part(*dataset, parts[std::size_t(r)]);
      } catch (...) {
        error = std::current_exception();
      }
    comm.send_obj(message, r);
  }
  if (error) std::rethrow_exception(error);
  return {};
}

}  // namespace

DatasetPtr scatter_dataset(AnyDataset dataset, AnyCommunicator given, const ScatterDatasetOptions& o) try {
  const Communicator& comm = *internal::checked(kScatterDataset, given);
  internal::check_rank(kScatterDataset, comm, o.root, "the root");
  const auto [n, everywhere] = agreed_size(dataset.get(), comm, o.root);
  const IndexRange own = part_of(n, comm.rank(), comm.size(), o.force_equal_length);
  Indices order;
  internal::on_all_ranks(comm, kScatterDataset, [&, n = n] {
    if (comm.rank() == o.root && o.shuffle) order = internal::random_order(kScatterDataset, n, o.seed);
  });
  if (everywhere) {
    if (o.shuffle) order = indices_of(comm.bcast_obj(bytes_of(order), o.root));
    return catena::Shared<SubDataset>::make(dataset, own.begin, own.end, std::move(order));
  }
  std::vector<Indices> parts;
  if (comm.rank() == o.root) {
    for (int r = 0; r < comm.size(); ++r) {
      const IndexRange range = part_of(n, r, comm.size(), o.force_equal_length);
      Indices& part = parts.emplace_back(std::size_t(range.end - range.begin));
      std::iota(part.begin(), part.end(), range.begin);
      if (!order.empty())
        for (std::int64_t& i : part) i = order[std::size_t(i)];
    }
  }
  std::string message;
  internal::on_all_ranks(comm, kScatterDataset, [&] { message = exchange(dataset.get(), comm, parts, o.root); });
  if (comm.rank() != o.root) return unpacked_part(message);
  return catena::Shared<SubDataset>::make(dataset, own.begin, own.end, std::move(order));
} catch (...) {
  catena::rethrow_standard(kScatterDataset);
}

IndexRange scatter_index(std::int64_t n, AnyCommunicator given, const ScatterIndexOptions& o) try {
  constexpr const char* op = "scatter_index";
  const Communicator& comm = *internal::checked(op, given);
  internal::check_rank(op, comm, o.root, "the root");
  const std::int64_t of_root = *catena::parse_integer(comm.bcast_obj(std::to_string(n), o.root));
  check<ValueError>(of_root >= 0, op, "n is ", of_root, " and must not be negative");
  return part_of(of_root, comm.rank(), comm.size(), o.force_equal_length);
} catch (...) {
  catena::rethrow_standard("scatter_index");
}

DatasetPtr create_empty_dataset(AnyDataset dataset) {
  check<catena::TypeError>(dataset.get() != nullptr, "create_empty_dataset", "the dataset is null");
  return catena::Shared<EmptyExamples>::make(dataset->size());
}

}  // namespace training
