// The optimizers of the stored trajectories, by the names that these have.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <catena/training/optimizers.h>

namespace test {

using training::SGD, training::MomentumSGD, training::NesterovAG, training::AdaGrad, training::AdaDelta, training::Adam,
    training::RMSprop, training::RMSpropGraves, training::SMORMS3, training::CorrectedMomentumSGD, training::AdamW,
    training::AMSGrad, training::AdaBound, training::AMSBound, training::RAdam, training::Adamax, training::Lion,
    training::LAMB, training::Adafactor, training::Muon, training::MSVAG, training::NAdam, training::Adagrad,
    training::Adadelta, training::Rprop, training::ASGD, training::AdamConvention, training::Optimizer;

using Make = std::function<std::unique_ptr<Optimizer>()>;
template <class O, class Options> Make with(const Options& options) {
  return [options] { return std::make_unique<O>(options); };
}
inline const std::map<std::string, Make>& makers() {
  static const std::map<std::string, Make> all = {
      {"SGD", [] { return std::make_unique<SGD>(); }},
      {"MomentumSGD", [] { return std::make_unique<MomentumSGD>(); }},
      {"NesterovAG", [] { return std::make_unique<NesterovAG>(); }},
      {"AdaGrad", [] { return std::make_unique<AdaGrad>(); }},
      {"AdaDelta", [] { return std::make_unique<AdaDelta>(); }},
      {"Adam", [] { return std::make_unique<Adam>(); }},
      {"RMSprop", [] { return std::make_unique<RMSprop>(); }},
      {"RMSpropGraves", [] { return std::make_unique<RMSpropGraves>(); }},
      {"SMORMS3", [] { return std::make_unique<SMORMS3>(); }},
      {"CorrectedMomentumSGD", [] { return std::make_unique<CorrectedMomentumSGD>(); }},
      {"CorrectedMomentumSGD.nesterov",
       [] { return std::make_unique<CorrectedMomentumSGD>(CorrectedMomentumSGD::Options{.nesterov = true}); }},
      {"AdamW", [] { return std::make_unique<AdamW>(); }},
      {"AdamW.chainer", [] { return std::make_unique<AdamW>(AdamW::Options{.convention = AdamConvention::chainer}); }},
      {"AMSGrad", [] { return std::make_unique<AMSGrad>(); }},
      {"AMSGrad.chainer",
       [] { return std::make_unique<AMSGrad>(AMSGrad::Options{.convention = AdamConvention::chainer}); }},
      {"AdaBound", [] { return std::make_unique<AdaBound>(); }},
      {"AMSBound", [] { return std::make_unique<AMSBound>(); }},
      {"RAdam", [] { return std::make_unique<RAdam>(); }},
      {"Adamax", [] { return std::make_unique<Adamax>(); }},
      {"Lion", [] { return std::make_unique<Lion>(); }},
      {"LAMB", [] { return std::make_unique<LAMB>(); }},
      {"Adafactor", [] { return std::make_unique<Adafactor>(); }},
      {"Muon", [] { return std::make_unique<Muon>(); }},
      {"MSVAG", [] { return std::make_unique<MSVAG>(); }},
      {"RMSprop.centered", [] { return std::make_unique<RMSprop>(RMSprop::Options{.centered = true}); }},
      {"NAdam", [] { return std::make_unique<NAdam>(); }},
      {"RMSprop.momentum", [] { return std::make_unique<RMSprop>(RMSprop::Options{.momentum = 0.5}); }},
      {"RMSprop.centered_momentum",
       [] { return std::make_unique<RMSprop>(RMSprop::Options{.momentum = 0.5, .centered = true}); }},
      {"Adagrad", with<Adagrad>(Adagrad::Options{})},
      {"Adagrad.decayed",
       with<Adagrad>(Adagrad::Options{.weight_decay = 0.1, .initial_accumulator_value = 0.5, .maximize = true})},
      {"Adadelta", with<Adadelta>(Adadelta::Options{})},
      {"Adadelta.maximize", with<Adadelta>(Adadelta::Options{.maximize = true})},
      {"Rprop", with<Rprop>(Rprop::Options{})},
      {"Rprop.maximize", with<Rprop>(Rprop::Options{.maximize = true})},
      {"ASGD", with<ASGD>(ASGD::Options{})},
      {"ASGD.maximize", with<ASGD>(ASGD::Options{.maximize = true})},
      {"SGD.dampening", with<SGD>(SGD::Options{.momentum = 0.8, .dampening = 0.3})},
      {"SGD.maximize", with<SGD>(SGD::Options{.momentum = 0.8, .nesterov = true, .maximize = true})},
      {"Adam.amsgrad", with<Adam>(Adam::TorchOptions{.weight_decay = 0.1, .amsgrad = true})},
      {"Adam.maximize", with<Adam>(Adam::TorchOptions{.weight_decay = 0.1, .maximize = true})},
      {"AdamW.maximize", with<AdamW>(AdamW::TorchOptions{.maximize = true})},
      {"RMSprop.decayed", with<RMSprop>(RMSprop::Options{.weight_decay = 0.1, .momentum = 0.5, .maximize = true})},
      {"RAdam.decayed", with<RAdam>(RAdam::TorchOptions{.weight_decay = 0.1, .maximize = true})},
      {"Adamax.decayed", with<Adamax>(Adamax::TorchOptions{.weight_decay = 0.1, .maximize = true})},
      {"NAdam.maximize", with<NAdam>(NAdam::TorchOptions{.weight_decay = 0.1, .maximize = true})},
      {"Muon.plain", [] { return std::make_unique<Muon>(Muon::Options{.nesterov = false}); }},
  };
  return all;
}

}  // namespace test
