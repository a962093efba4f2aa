#include <catena/training/multi_node/evaluator.h>

#include <algorithm>
#include <map>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/extensions/evaluation_sweep.h>
#include <catena/training/multi_node/messages.h>
#include <catena/training/parallel/loading_iterator.h>
#include <catena/training/stored_number.h>

namespace training {

using internal::MessageReader;
using internal::MessageWriter;

namespace {

constexpr const char* kMultiNodeEvaluator = "MultiNodeEvaluator";
constexpr const char* kGenericEvaluator = "GenericMultiNodeEvaluator";
constexpr const char* kAggregator = "ObservationAggregator";

// The evaluator that `held` is, for the lists of the base class.
Evaluator& present_evaluator(const Held<Evaluator>& held) {
  catena::check<catena::TypeError>(held.get() != nullptr, kMultiNodeEvaluator, "the evaluator is null");
  return *held;
}

std::optional<std::int64_t> examples_of(const Iterator& iterator) {
  if (const auto* serial = dynamic_cast<const SerialIterator*>(&iterator)) return serial->dataset()->size();
  if (const auto* loading = dynamic_cast<const internal::LoadingIterator*>(&iterator))
    return loading->dataset()->size();
  return {};
}

// Collective. The means over the ranks, weighted by `examples` if it is given on all ranks.
Observation mean_over_ranks(const Communicator& comm, const Observation& own, std::optional<std::int64_t> examples) {
  const bool weighted = comm.allreduce_obj({{"unknown", examples ? 0 : 1}}).at("unknown") == 0;
  const double weight = weighted ? double(*examples) : 1;
  std::map<std::string, double> terms;
  for (const auto& [key, value] : own) {
    terms["sum/" + key] = weight * value.value();
    terms["weight/" + key] = weight;
  }
  const std::map<std::string, double> sums = comm.allreduce_obj(terms);
  Observation result;
  const auto set = [&](const std::string& key) { result.set(key, sums.at("sum/" + key) / sums.at("weight/" + key)); };
  for (const auto& entry : own) set(entry.first);
  constexpr std::string_view kSum = "sum/";
  for (const auto& entry : sums)  // what other ranks alone have reported
    if (entry.first.starts_with(kSum) && !result.contains(entry.first.substr(kSum.size())))
      set(entry.first.substr(kSum.size()));
  return result;
}

}  // namespace

MultiNodeEvaluator::MultiNodeEvaluator(Held<Evaluator> evaluator, AnyCommunicator comm)
    : Evaluator(present_evaluator(evaluator).get_all_iterators(), present_evaluator(evaluator).get_all_targets()),
      evaluator_(std::move(evaluator)),
      comm_(internal::checked(kMultiNodeEvaluator, comm)) {
  trigger = evaluator_->trigger;
  priority = evaluator_->priority;
  invoke_before_training = evaluator_->invoke_before_training;
  set_name(evaluator_->name());
}

Observation MultiNodeEvaluator::evaluate() {
  Observation own;
  internal::on_all_ranks(*comm_, kMultiNodeEvaluator, [&] { own = evaluator_->evaluate(); });
  const HeldMap<Iterator>& iterators = get_all_iterators();
  const auto main = std::find_if(iterators.begin(), iterators.end(), [](const auto& i) { return i.first == "main"; });
  return mean_over_ranks(*comm_, own, examples_of(*(main == iterators.end() ? iterators.front() : *main).second));
}

GenericMultiNodeEvaluator::GenericMultiNodeEvaluator(AnyCommunicator comm, Held<Iterator> iterator, Held<Link> target,
                                                     Options options)
    : Evaluator(std::move(iterator), std::move(target)),
      comm_(internal::checked(kGenericEvaluator, comm)),
      options_(std::move(options)) {
  internal::check_rank(kGenericEvaluator, *comm_, options_.root, "the root");
}

Observation GenericMultiNodeEvaluator::evaluate() {
  MessageWriter own;
  internal::on_all_ranks(*comm_, kGenericEvaluator, [&] {
    internal::EvaluationSweep sweep(kGenericEvaluator, get_iterator("main"));
    const auto no_graph = autograd::no_backprop_mode();
    const auto testing = autograd::train_mode(false);
    Examples results;
    while (const std::optional<Batch> batch = sweep.next()) {
      const Variables arguments = to_variables(options_.converter(*batch, options_.device), autograd::ON);
      for (Example& result : calc_local(arguments)) results.push_back(std::move(result));
    }
    internal::put_examples(own, results);
  });
  const std::vector<std::string> all = comm_->gather_obj(own.take(), options_.root);
  Observation observation;
  internal::on_all_ranks(*comm_, kGenericEvaluator, [&] {
    if (comm_->rank() != options_.root) return;
    Examples results;
    for (const std::string& message : all) {
      MessageReader r(message);
      for (Example& result : internal::get_examples(r)) results.push_back(std::move(result));
    }
    observation = aggregate(results);
  });
  return observation;
}

ObservationAggregator::ObservationAggregator(AnyCommunicator comm, std::string original_key, Options options)
    : comm_(internal::checked(kAggregator, comm)),
      original_key_(std::move(original_key)),
      options_(std::move(options)),
      comm_trigger_(options_.comm_trigger.make()) {
  if (options_.aggregated_key.empty()) options_.aggregated_key = original_key_;
  priority = PRIORITY_EDITOR;
}

namespace {

double mean_of(const std::vector<std::vector<double>>& by_rank) {
  nn::Summary summary;
  for (const std::vector<double>& values : by_rank)
    for (const double v : values) summary.add(v);
  return summary.compute_mean();
}

}  // namespace

void ObservationAggregator::operator()(Trainer& trainer) {
  if (const nn::Observed* const observed = trainer.observation().find(original_key_))
    values_.push_back(observed->value());
  if (!comm_trigger_ || !trainer.asks(*comm_trigger_)) return;
  MessageWriter own;
  for (const double v : values_) own.put(v);
  values_.clear();
  std::vector<std::vector<double>> by_rank;
  bool is_empty = true;
  for (const std::string& message : comm_->allgather_obj(own.take())) {
    std::vector<double>& values = by_rank.emplace_back();
    for (MessageReader r(message); !r.is_empty();) values.push_back(r.get<double>());
    is_empty = is_empty && values.empty();
  }
  if (is_empty) return;
  trainer.observation().set(options_.aggregated_key,
                            options_.aggregator ? options_.aggregator(by_rank) : mean_of(by_rank));
}

void ObservationAggregator::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, values_);
  if (comm_trigger_) comm_trigger_->serialize(*s["comm_trigger"]);
  Array values = autograd::array(values_, {std::int64_t(values_.size())}, autograd::Device{});
  if (s.is_writer()) {
    s("values", values);
    return;
  }
  values_.clear();
  if (!s.contains("values")) return;
  values = {};
  s("values", values);
  values_ = autograd::to_vector<double>(values);
}

}  // namespace training
