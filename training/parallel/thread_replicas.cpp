#include <catena/training/parallel/replicas.h>

#include <optional>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/backend/comm_extension.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link_parameters.h>
#include <catena/training/parallel/flat_params.h>
#include <catena/training/parallel/thread_pool.h>

namespace training::updaters::internal {
namespace {

using training::internal::CallerState;
using training::internal::FlatParams;
using training::internal::Persistents;
using training::internal::ThreadPool;

// One thread and one model per worker, on GPUs that communicate directly.
class ThreadReplicas final : public Replicas {
 public:
  ThreadReplicas(Team team, std::vector<Held<Link>> models) : team_(std::move(team)), models_(std::move(models)) {}

  bool is_running() const override { return bool(crew_); }

  void setup() override {
    if (crew_) return;
    for (std::size_t k = 0; k < models_.size(); ++k) {
      models_[k]->to_device(team_.devices[k + 1]);
      models_[k]->copyparams(*team_.main);
      nn::internal::tie_as(*models_[k], *team_.main);
    }
    auto& comm = *autograd::default_backend().extension<autograd::CommExtension>(team_.devices[0]);
    group_ = comm.connect(team_.devices);
    crew_ = catena::Owned<ThreadPool>(new ThreadPool(static_cast<int>(models_.size())));
    losses_.resize(models_.size());
    examples_.resize(models_.size());
  }

  void begin(const std::vector<std::uint64_t>& seeds) override {
    if (models_.empty()) return;
    for (const Held<Link>& model : models_)
      if (training::internal::has_pending_params(*model)) model->copyparams(*team_.main);
    const std::vector<FlatParams> all = flat_params();
    for (std::size_t p = 0; p < all[0].parts().size(); ++p) {
      std::vector<Array> flat;
      for (const FlatParams& of : all) flat.push_back(of.parts()[p].data());
      group_->broadcast(flat);
      for (std::size_t k = 1; k < all.size(); ++k) all[k].parts()[p].set_data(flat[k]);
    }
    crew_->start([this, caller = CallerState(), seeds](int thread) {
      const auto k = static_cast<std::size_t>(thread);
      nn::Observation unused;  // the trainer gets only the reports of the main model
      try {
        if (losses_[k]) losses_[k].unchain_backward();
        caller.run(seeds[k], unused, [&] {
          losses_[k] = worker_step(*team_.iterators[k], *models_[k], team_, team_.devices[k + 1], examples_[k]);
        });
      } catch (...) {
        catena::rethrow_from(catena::concat("worker ", k + 1));
      }
    });
  }

  void add_gradients(std::int64_t examples) override {
    if (models_.empty()) return;
    crew_->wait();
    std::vector<std::int64_t> counts{examples};
    counts.insert(counts.end(), examples_.begin(), examples_.end());
    const std::vector<double> shares = training::internal::shares_of(counts);
    const std::vector<FlatParams> all = flat_params();
    for (std::size_t p = 0; p < all[0].parts().size(); ++p) {
      std::vector<Array> flat;
      for (std::size_t k = 0; k < all.size(); ++k) {
        flat.push_back(all[k].parts()[p].grads());
        flat[k] *= shares[k];
      }
      group_->reduce(flat);
      all[0].parts()[p].set_grads(flat[0]);
    }
  }

  void fetch_state() override {}
  void stop(bool) override {
    crew_.reset();
    group_.reset();
    losses_.clear();
  }
  Persistents persistents(std::size_t worker) override { return Persistents(*models_[worker]); }
  void set_persistents(std::size_t worker, const Persistents& values) override { values.apply_to(*models_[worker]); }

 private:
  // Returns the parameters of all models, the main one first; they have the same structure.
  std::vector<FlatParams> flat_params() const {
    std::vector<FlatParams> all{FlatParams(*team_.main)};
    for (const Held<Link>& model : models_) {
      all.emplace_back(*model);
      catena::check<catena::RuntimeError>(all.back().count() == all[0].count(), "MultiprocessParallelUpdater",
                                          "a worker", " has ", all.back().count(),
                                          " parameters with data, the main model ", all[0].count());
    }
    return all;
  }

  Team team_;
  std::vector<Held<Link>> models_;
  std::vector<Variable> losses_;        // losses of the last update, with their graphs
  std::vector<std::int64_t> examples_;  // numbers of examples in the workers' batches
  catena::Owned<autograd::CommExtension::Group> group_;
  catena::Owned<ThreadPool> crew_;
};

}  // namespace

catena::Shared<Replicas> thread_replicas(Team team, std::vector<Held<Link>> models) {
  return catena::Shared<ThreadReplicas>::make(std::move(team), std::move(models));
}

}  // namespace training::updaters::internal
