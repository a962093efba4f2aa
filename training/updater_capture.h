// The step of an updater as captured work: decides when to capture and when to replay, and does the host's part of a
// replayed step. Internal to this folder.
//
// Thread safety: like its updater, it belongs to one thread at a time.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/reporter.h>
#include <catena/training/optimizer.h>

namespace training::internal {

class CapturedStep {
 public:
  using Step = catena::Function<void(const std::vector<Array>& batch)>;  // an ordinary update
  void run(const std::vector<Array>& batch, Optimizer& optimizer, const Step& step);

 private:
  struct Kind {
    autograd::Shape shape;
    autograd::Dtype dtype;
    autograd::Device device;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  static Kind kind_of(const Array& a) { return {a.shape(), a.dtype(), a.device()}; }
  static bool are_of(const std::vector<Array>& batch, const std::vector<Kind>& kinds);
  bool is_due(const std::vector<Array>& batch, const Optimizer& optimizer);
  void capture(const std::vector<Array>& batch, Optimizer& optimizer, const Step& step);
  bool replay(const std::vector<Array>& batch,
              Optimizer& optimizer);  // returns false if nothing was replayed and nothing has run
  void put_back_grads() const;
  void report() const;

  std::optional<autograd::CapturedWork> work_;
  std::vector<Array> inputs_;  // the arrays that the graph reads; every batch is copied to them
  std::vector<Kind> kinds_;    // kinds of inputs_
  std::vector<std::pair<Variable, Array>> grads_;
  nn::Reporter* reporter_ = nullptr;  // the current reporter at the capture
  nn::Observation reported_;
  std::vector<Kind> ordinary_kinds_;  // kinds of the last batch that was not replayed
  int ordinary_updates_ = 0;          // consecutive updates with batches of these kinds
};

}  // namespace training::internal
