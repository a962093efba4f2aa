#include <algorithm>
#include <filesystem>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/extensions/snapshot_files.h>
#include <catena/training/multi_node/snapshot.h>
#include <catena/training/parallel/worker_process.h>

namespace training {

namespace fs = std::filesystem;
using catena::check;
using catena::ValueError;

namespace {

constexpr const char* kCheckpointer = "MultiNodeCheckpointer";

// The trainer of a rank, and the number of ranks that have written the checkpoint: with another number the ranks would
// have other parts of the data.
struct Checkpoint {
  Trainer& trainer;
  std::int64_t size;
  void serialize(nn::Serializer& s) {
    std::int64_t stored = size;
    s("_catena/multi_node/size", stored);
    check<ValueError>(stored == size, kCheckpointer, "the checkpoint was written by ", stored,
                      " ranks and cannot be loaded by ", size);
    trainer.serialize(s);
  }
};

bool holds(const std::vector<std::int64_t>& numbers, std::int64_t n) {
  return std::find(numbers.begin(), numbers.end(), n) != numbers.end();
}

}  // namespace

MultiNodeCheckpointer::MultiNodeCheckpointer(std::string name, AnyCommunicator comm, Options options)
    : name_(std::move(name)), comm_(internal::checked(kCheckpointer, comm)), options_(std::move(options)) {
  check<ValueError>(!name_.empty() && name_.find('/') == std::string::npos, kCheckpointer, "the name is \"", name_,
                    "\" and must be a part of a file name; the option path is the folder");
  check<ValueError>(options_.n_retains >= 1, kCheckpointer, "n_retains is ", options_.n_retains,
                    " and must be at least 1");
  trigger = options_.trigger;
  priority = PRIORITY_SNAPSHOT;
  saves_trainer = true;
}

std::string MultiNodeCheckpointer::folder(const Trainer& trainer) const {
  const std::string& given = options_.path.empty() ? trainer.out() : options_.path;
  return given.empty() ? "." : given;
}

std::string MultiNodeCheckpointer::file(const Trainer& trainer, std::int64_t iteration) const {
  const std::string name = catena::concat(name_, ".", comm_->rank(), ".", iteration);
  return (fs::path(folder(trainer)) / name).string();
}

// In ascending order.
std::vector<std::int64_t> MultiNodeCheckpointer::own_iterations(const Trainer& trainer) const {
  const std::string beginning = catena::concat(name_, ".", comm_->rank(), ".");
  std::vector<std::int64_t> found;
  std::error_code error;
  for (fs::directory_iterator i(folder(trainer), error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string();
    if (!name.starts_with(beginning)) continue;
    const std::optional<std::int64_t> iteration = catena::parse_integer(name.substr(beginning.size()));
    if (iteration && *iteration >= 0 && i->path() == fs::path(file(trainer, *iteration))) found.push_back(*iteration);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Collective. The iterations of which all ranks have a file, in ascending order.
std::vector<std::int64_t> MultiNodeCheckpointer::common_iterations(const Trainer& trainer) const {
  std::vector<std::int64_t> common = own_iterations(trainer);
  internal::MessageWriter own;
  for (const std::int64_t iteration : common) own.put(iteration);
  for (const std::string& message : comm_->allgather_obj(own.take())) {
    std::vector<std::int64_t> of_rank;
    for (internal::MessageReader r(message); !r.is_empty();) of_rank.push_back(r.get<std::int64_t>());
    std::erase_if(common, [&](std::int64_t iteration) { return !holds(of_rank, iteration); });
  }
  return common;
}

void MultiNodeCheckpointer::operator()(Trainer& trainer) {
  internal::on_all_ranks(*comm_, kCheckpointer, [&] {
    std::error_code error;
    fs::create_directories(folder(trainer), error);
    check<catena::IOError>(!error, kCheckpointer, "cannot create the folder \"", folder(trainer),
                           "\": ", error.message());
    Checkpoint checkpoint{trainer, comm_->size()};
    nn::serializers::save_npz(file(trainer, trainer.updater().iteration()), checkpoint, false);
  });
  // All ranks have the new file, so that older ones may go. Files of later iterations are of another run, or damaged.
  const std::int64_t now = trainer.updater().iteration();
  std::vector<std::int64_t> common = common_iterations(trainer);
  std::erase_if(common, [&](std::int64_t iteration) { return iteration > now; });
  if (common.empty()) return;
  const auto kept = std::min<std::ptrdiff_t>(std::ptrdiff_t(options_.n_retains), std::ptrdiff_t(common.size()));
  for (const std::int64_t iteration : own_iterations(trainer)) {
    if (iteration > now || std::find(common.end() - kept, common.end(), iteration) != common.end()) continue;
    std::error_code ignored;
    fs::remove(file(trainer, iteration), ignored);
  }
}

std::optional<std::int64_t> MultiNodeCheckpointer::maybe_load(Trainer& trainer) {
  std::vector<std::int64_t> common = common_iterations(trainer);
  for (; !common.empty(); common.pop_back()) {
    const std::string path = file(trainer, common.back());
    const bool is_whole = internal::is_whole_npz(path);
    if (!is_whole)
      catena::warn("UserWarning", catena::concat(kCheckpointer, ": maybe_load passes over the iteration ",
                                                 common.back(), ", because the file \"", path, "\" is damaged"));
    if (comm_->allreduce_obj({{"damaged", is_whole ? 0 : 1}}).at("damaged") > 0) continue;
    internal::on_all_ranks(*comm_, kCheckpointer, [&] {
      Checkpoint checkpoint{trainer, comm_->size()};
      nn::serializers::load_npz(path, checkpoint);
    });
    return common.back();
  }
  return {};
}

}  // namespace training
