#include <catena/training/extensions/evaluator.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/extensions/console.h>
#include <catena/training/extensions/evaluation_sweep.h>

namespace training {

using catena::check;
using catena::ValueError;

Evaluator::Evaluator(Held<Iterator> iterator, Held<Link> target, Options options)
    : Evaluator(HeldMap<Iterator>{{"main", std::move(iterator)}}, HeldMap<Link>{{"main", std::move(target)}},
                std::move(options)) {}

Evaluator::Evaluator(HeldMap<Iterator> iterators, HeldMap<Link> targets, Options options)
    : iterators_(std::move(iterators)), targets_(std::move(targets)), options_(std::move(options)) {
  check<ValueError>(!iterators_.empty() && !targets_.empty(), "Evaluator", "there are ", iterators_.size(),
                    " iterators and ", targets_.size(), " targets; one of each is needed");
  trigger = {1, epoch};
  priority = PRIORITY_WRITER;
}

Iterator& Evaluator::get_iterator(const std::string& name) const {
  return find_held(iterators_, name, "Evaluator.get_iterator");
}
Link& Evaluator::get_target(const std::string& name) const { return find_held(targets_, name, "Evaluator.get_target"); }

Example Evaluator::converter(const Batch& batch, std::optional<Device> device) const {
  return options_.converter(batch, device);
}

void Evaluator::operator()(Trainer&) {
  for (const auto& [key, value] : (*this)()) nn::report(key, value);
}

Observation Evaluator::operator()() try {
  // A separate reporter, because the outer one has the same links registered under the names for training.
  Reporter reporter;
  const std::string prefix = name().empty() ? "" : name() + "/";
  for (const auto& [target_name, target] : targets_) reporter.add_link(prefix + target_name, *target);
  const Reporter::Scope scope = reporter.scope();
  return evaluate();
} catch (...) {
  catena::rethrow_standard("Evaluator");
}

namespace {

// One line, to whose start the cursor goes back.
void print_progress(std::ostream& out, const std::string& name, double part) {
  constexpr int kLength = 50;
  out << "\033[J" << (name.empty() ? "evaluation" : name) << ' ' << internal::progress_bar_text(part, kLength) << '\r';
  out.flush();
}

}  // namespace

Observation Evaluator::evaluate() {
  if (nn::find_current_reporter() == nullptr) return (*this)();  // outside of a trainer
  Iterator& iterator = get_iterator("main");
  Link& target = get_target("main");
  if (options_.eval_hook) options_.eval_hook(*this);
  internal::EvaluationSweep sweep("Evaluator", iterator);

  const auto no_graph = autograd::no_backprop_mode();
  const auto testing = autograd::train_mode(false);
  nn::DictSummary summary;
  const internal::Console console(options_.out, options_.terminal);
  const bool shows = options_.progress_bar && console.terminal;
  while (const std::optional<Batch> batch = sweep.next()) {
    const Example converted = options_.converter(*batch, options_.device);
    const Variables arguments = to_variables(converted, autograd::ON);
    Observation observation;
    {
      const Reporter::Scope scope = nn::report_scope(observation);
      if (options_.eval_func) options_.eval_func(arguments);
      else target.call(arguments);
    }
    summary.add(observation, options_.weighted ? batch->size() : 1);
    if (shows) print_progress(*console.out, name(), sweep.part());
  }
  if (shows) console.erase_below();
  Observation result;
  for (const auto& [key, mean] : summary.compute_mean()) result.set(key, mean);
  return result;
}

void Evaluator::serialize(nn::Serializer& s) {
  for (const auto& [name, iterator] : iterators_) iterator->serialize_generator(*s["_catena/iterator:" + name]);
}

void Evaluator::finalize() {
  for (const auto& [name, iterator] : iterators_) iterator->finalize();
}

}  // namespace training
