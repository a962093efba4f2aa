// The updater of the Penn Tree Bank examples.
#pragma once

#include <catena/catena.h>

// Truncated backpropagation through time: the losses of bprop_len batches are one update, and no gradient goes back
// beyond them.
class BPTTUpdater : public training::StandardUpdater {
 public:
  BPTTUpdater(training::Iterator& train_iter, training::Optimizer& optimizer, int bprop_len)
      : StandardUpdater(train_iter, optimizer), bprop_len_(bprop_len) {}

  void update_core() override {
    training::Optimizer& optimizer = get_optimizer("main");
    autograd::Variable loss = nd::array(0.f);
    for (int i = 0; i < bprop_len_; ++i) {
      const auto [x, t] = training::to_variables(*get_iterator("main").next());
      loss += optimizer.target().call({x, t});
    }
    optimizer.target().cleargrads();
    loss.backward();
    loss.unchain_backward();  // cuts the graph, through which the states of the LSTMs depend on these batches
    optimizer.update();
  }

 private:
  int bprop_len_;
};
