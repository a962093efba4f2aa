// The interface of an optimizer to its multi-node part (multi_node/). Internal to training.
#pragma once

#include <string>
#include <vector>

#include <catena/autograd/backward.h>
#include <catena/training/optimizer.h>

namespace training::internal {

// Called in this order in each update, in the thread of the optimizer: begin_backward, end_backward (both are missing
// in a loop that calls Variable::backward), mean_gradients, and share_params if an update followed.
class CATENA_EXPORT GradientExchange {
 public:
  virtual ~GradientExchange();
  virtual void setup() = 0;  // the optimizer has a new target
  // Returns what is to be called with parameters whose gradients are final; null if nothing is communicated before the
  // end of the pass.
  virtual const autograd::internal::OnFinal* begin_backward() = 0;
  virtual void end_backward() = 0;
  // To be called in a catch clause: passes the error on to the other ranks, if they wait for gradients of this one.
  virtual void fail() noexcept = 0;
  virtual bool mean_gradients() = 0;  // false: no update follows
  virtual void share_params() = 0;

  // StandardUpdater calls these functions when it captures an update. begin_capture() is called before the capture, and
  // returns false if an ordinary update is needed first; RuntimeError if updates cannot be captured. end_capture() is
  // called when the captured work has been enqueued once, or has failed.
  virtual bool begin_capture() = 0;
  virtual void end_capture(bool succeeded) = 0;
  // begin_replay() is called before each replay, and throws the error of the capture or the replay before. end_replay()
  // is called when a replay has been enqueued, or has failed, then in the handler of its error.
  virtual void begin_replay() = 0;
  virtual void end_replay(bool succeeded) = 0;
  // Writes or reads the part of the exchange in the optimizer's file.
  virtual void serialize(nn::Serializer& s) = 0;
};

// Runs the last backward pass before an update. `exchange` may be null.
void run_last_backward(GradientExchange* exchange, const Variable& loss, const autograd::BackwardOptions& options,
                       const autograd::internal::OnParameter* on_parameter);

// The access of the multi-node part to an optimizer beyond its public members.
struct CATENA_EXPORT ExchangeAccess {
  static void check_single(const Optimizer& optimizer);  // ValueError if the optimizer has a multi-node part
  // sharded: parameters are updated here only after set_owned_by_other_rank().
  static void attach(Optimizer& optimizer, catena::Shared<GradientExchange> exchange, bool sharded);
  static GradientExchange* of(const Optimizer& optimizer) noexcept { return optimizer.exchange_.get(); }
  // True if something reads all gradients: hooks, and the search for gradients that are not finite.
  static bool reads_all_gradients(const Optimizer& optimizer) noexcept;
  // Calls f with the parameters of the target, as of the last update() or prepare(), in the order of the target.
  static void for_each_param(const Optimizer& optimizer, const catena::Function<void(const Variable&)>& f);
  // Determines which parameters other ranks update, and drops their states.
  static void set_owned_by_other_rank(Optimizer& optimizer,
                                      const catena::Function<bool(const std::string& path)>& is_owned_by_other_rank);
  // The states of a parameter, then its float32 copy, which may be null; nothing if there is no such parameter.
  static std::vector<Array> states(const Optimizer& optimizer, const std::string& path);
  static void set_states(Optimizer& optimizer, const std::string& path, std::vector<Array> states);
};

}  // namespace training::internal
