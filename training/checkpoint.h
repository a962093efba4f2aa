// Checkpoints of a training loop of one's own: the states of a model, its optimizer and more in one file. A Trainer has
// extensions::snapshot().
#pragma once

#include <string>

#include <catena/nn/serializers/state_dict.h>
#include <catena/training/optimizer.h>

namespace training {

using nn::load;
using nn::save;

// save({{"model", model.state_dict()}, {"epoch", epoch}}, filename), with the arguments in either order.
inline void save_checkpoint(const std::string& filename, const nn::NamedStates& parts) { save(parts, filename); }
inline void save_checkpoint(const nn::NamedStates& parts, const std::string& filename) { save(parts, filename); }
// Writes the parts "model", "optimizer" and "epoch".
inline void save_checkpoint(const std::string& filename, nn::Link& model, Optimizer& optimizer, double epochs = 0) {
  save({{"model", model.state_dict()}, {"optimizer", optimizer.state_dict()}, {"epoch", epochs}}, filename);
}
// Loads the states of a model and an optimizer from such a file, and returns all parts. Errors of load_state_dict.
inline nn::StateDict load_checkpoint(const std::string& filename, nn::Link& model, Optimizer& optimizer) {
  nn::StateDict parts = load(filename);
  model.load_state_dict(parts.below("model"));
  optimizer.load_state_dict(parts.below("optimizer"));
  return parts;
}
inline nn::StateDict load_checkpoint(const std::string& filename) { return load(filename); }

}  // namespace training
