#include <catena/training/extensions/dump_graph.h>

#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>

namespace training {

DumpGraph::DumpGraph(std::string root_name, Options options)
    : root_name_(std::move(root_name)), options_(std::move(options)) {
  trigger = TriggerSpec([](Trainer& trainer) { return trainer.updater().iteration() == 1; });
}

void DumpGraph::initialize(Trainer& trainer) {
  internal::check_output_file("dump_graph", trainer, file_name());
  // If there are several such extensions, only the first one has a scope: a second scope that ended later would leave
  // the entry set.
  if (trainer.updater().iteration() == 0 && !autograd::config().keep_graph_on_report)
    keeps_graphs_ = catena::Owned<autograd::ConfigScope>(new autograd::ConfigScope({.keep_graph_on_report = true}));
}

void DumpGraph::finalize() { keeps_graphs_ = {}; }

void DumpGraph::operator()(Trainer& trainer) {
  keeps_graphs_ = {};
  const nn::Variable& root = trainer.observation().at(root_name_).variable();
  catena::check<catena::TypeError>(bool(root), "dump_graph", "what was reported as ", root_name_,
                                   " is a number, which has no graph; report the variable");
  const autograd::ComputationalGraph graph = autograd::build_computational_graph(
      root, {.variable_style = options_.variable_style, .function_style = options_.function_style});
  catena::write_file_atomically("dump_graph", (std::filesystem::path(trainer.out()) / file_name()).string(),
                                graph.dump());
}

}  // namespace training
