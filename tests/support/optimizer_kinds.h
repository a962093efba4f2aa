// The optimizers of the library, for tests that hold for every one of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <catena/training/optimizers.h>

namespace test {

struct OptimizerKind {
  const char* name;
  std::function<std::shared_ptr<training::Optimizer>()> make;
  const char* shifted;    // a hyperparameter that a schedule changes
  bool is_later = false;  // not one of Chainer 1.24
};
inline const OptimizerKind kOptimizers[] = {
    {"SGD", [] { return std::make_shared<training::SGD>(0.1); }, "lr"},
    {"MomentumSGD", [] { return std::make_shared<training::MomentumSGD>(); }, "momentum"},
    {"NesterovAG", [] { return std::make_shared<training::NesterovAG>(); }, "lr"},
    {"AdaGrad", [] { return std::make_shared<training::AdaGrad>(); }, "lr"},
    {"AdaDelta", [] { return std::make_shared<training::AdaDelta>(); }, "eps"},
    {"Adam", [] { return std::make_shared<training::Adam>(); }, "alpha"},
    {"RMSprop", [] { return std::make_shared<training::RMSprop>(); }, "lr"},
    {"RMSpropGraves", [] { return std::make_shared<training::RMSpropGraves>(); }, "lr"},
    {"SMORMS3", [] { return std::make_shared<training::SMORMS3>(); }, "lr"},
    {"CorrectedMomentumSGD",
     [] {
       return std::make_shared<training::CorrectedMomentumSGD>(
           training::CorrectedMomentumSGD::Options{.nesterov = true});
     },
     "lr", true},
    {"AdamW", [] { return std::make_shared<training::AdamW>(); }, "alpha", true},
    {"AMSGrad", [] { return std::make_shared<training::AMSGrad>(); }, "alpha", true},
    {"AdaBound", [] { return std::make_shared<training::AdaBound>(); }, "alpha", true},
    {"AMSBound", [] { return std::make_shared<training::AMSBound>(); }, "final_lr", true},
    {"RAdam", [] { return std::make_shared<training::RAdam>(); }, "alpha", true},
    {"NAdam", [] { return std::make_shared<training::NAdam>(); }, "alpha", true},
    {"Adamax", [] { return std::make_shared<training::Adamax>(); }, "alpha", true},
    {"Lion", [] { return std::make_shared<training::Lion>(); }, "lr", true},
    {"LAMB", [] { return std::make_shared<training::LAMB>(); }, "alpha", true},
    {"Adafactor", [] { return std::make_shared<training::Adafactor>(); }, "lr", true},
    {"Muon", [] { return std::make_shared<training::Muon>(); }, "lr", true},
};

inline const OptimizerKind& kind_named(std::string_view name) {
  for (const OptimizerKind& kind : kOptimizers)
    if (kind.name == name) return kind;
  catena::fail<catena::KeyError>("kind_named", "there is no optimizer ", name);
}

}  // namespace test
