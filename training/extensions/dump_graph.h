// dump_graph: writes the computational graph of a reported value as a Graphviz file.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include <catena/autograd/computational_graph.h>
#include <catena/autograd/config.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/trainer.h>

namespace training {

struct DumpGraphOptions {
  std::string out_name = "cg.dot";           // in the trainer's folder
  std::optional<std::string> filename = {};  // the name of out_name in later Chainer; takes its place
  autograd::GraphStyle variable_style = autograd::GraphOptions().variable_style;
  autograd::GraphStyle function_style = autograd::GraphOptions().function_style;
};

// At the first iteration, writes the graph of observation[root_name] in Graphviz's language (`dot -Tpng cg.dot -o
// cg.png` draws it). KeyError if no value was reported under that name, TypeError if it is no variable. Later
// iterations have no cost.
class CATENA_EXPORT DumpGraph : public Extension {
 public:
  using Options = DumpGraphOptions;
  explicit DumpGraph(std::string root_name, Options options = {});
  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "dump_graph"; }

 private:
  std::string root_name_;
  const std::string& file_name() const noexcept { return options_.filename ? *options_.filename : options_.out_name; }

  Options options_;
  catena::Owned<autograd::ConfigScope> keeps_graphs_;
};

// trainer.extend(dump_graph("main/loss"))
inline DumpGraph dump_graph(std::string root_name, DumpGraphOptions options = {}) {
  return DumpGraph(std::move(root_name), std::move(options));
}

// trainer.extend(dump_graph("main/loss", "graph.dot"))
template <std::convertible_to<std::string> S> DumpGraph dump_graph(std::string root_name, const S& filename) {
  return DumpGraph(std::move(root_name), DumpGraphOptions{.filename = filename});
}

}  // namespace training
