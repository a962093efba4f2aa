// The side of this library in interop_test.py: writes files of a model that Chainer and PyTorch can build, too, and
// predicts with the weights of theirs.
//
//   interop write FOLDER                 model.npz .h5 .safetensors, optimizer.npz .h5, trainer.npz, io.npz
//   interop predict FILE X.npz Y.npz     FILE by its ending; safetensors with the names of PyTorch
#include <catena/catena.h>

#include <cstring>
#include <iostream>
#include <string>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>

using autograd::Array;
using autograd::Dtype;
using autograd::Variable;
namespace files = nn::serializers;

namespace {

// x (N, 2, 4, 4) and ids (N, 3), int32 -> fc(relu(bn(conv(x)))) + the state of an LSTM after three words.
struct Model : nn::Chain {
  nn::Convolution2D conv{2, 3, 3, {.pad = 1}};
  nn::BatchNormalization bn{3};
  nn::Linear fc{48, 5};
  nn::EmbedID embed{7, 4};
  nn::LSTM lstm{4, 5};
  NN_MEMBERS(conv, bn, fc, embed, lstm)
  Variable operator()(const Variable& x, const Array& ids) {
    const Variable image = fc(nn::relu(bn(conv(x), {.test = true})));
    lstm.reset_state();
    Variable state;
    for (std::int64_t k = 0; k < ids.shape(1); ++k)
      state = lstm(embed(Variable(autograd::reshape(autograd::slice(ids, 1, k, k + 1), {ids.shape(0)}))));
    return image + state;
  }
};

Array array_of(const catena::NpyArray& a) { return autograd::from_host(a.data.data(), a.shape, *a.dtype); }

void write_npz(const std::string& path, const std::vector<std::pair<std::string, Array>>& arrays) {
  catena::AtomicFile file("interop", path);
  catena::NpzWriter npz(file, false);
  for (const auto& [name, a] : arrays) {
    std::vector<std::byte> bytes(std::size_t(a.size()) * catena::itemsize(a.dtype()));
    autograd::to_host(a, bytes.data());
    npz.add(name, a.dtype(), a.shape(), bytes);
  }
  npz.finish();
  file.commit();
}

struct MLP : nn::Chain {
  nn::Linear l1{4, 6}, l2{6, 3};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
};

void write_trainer(const std::string& folder) {
  autograd::Generator g{3, 0};
  const Array x = autograd::random_normal({12, 4}, 0, 1, Dtype::float32, g);
  const Array t = autograd::array(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}, {12});
  nn::Classifier<MLP> model{MLP()};
  training::Adam optimizer;
  optimizer.setup(model);
  training::SerialIterator iterator(training::TupleDataset(x, t), 4);
  training::Trainer trainer(training::StandardUpdater(iterator, optimizer), {2, training::epoch}, folder + "/result");
  trainer.extend(training::LogReport());
  trainer.extend(training::PlotReport({"main/loss"}, {.file_name = "loss.png"}));
  trainer.extend(training::ExponentialShift("alpha", 0.5), {.trigger = {1, training::epoch}});
  trainer.run();
  files::save_npz(folder + "/trainer.npz", trainer);
  files::save_npz(folder + "/optimizer.npz", optimizer);
  if (files::hdf5_available()) files::save_hdf5(folder + "/optimizer.h5", optimizer);
}

void write(const std::string& folder) {
  Model model;
  autograd::Generator g{5, 0};
  for (Variable& p : model.params()) p.set_data(autograd::random_normal(p.shape(), 0, 0.5, Dtype::float32, g));
  model.bn.avg_mean = nn::Persistent(autograd::random_normal({3}, 0, 1, Dtype::float32, g));
  model.bn.avg_var = nn::Persistent(autograd::random_uniform({3}, 0.5, 2, Dtype::float32, g));
  const Array x = autograd::random_normal({6, 2, 4, 4}, 0, 1, Dtype::float32, g);
  const Array ids =
      autograd::array(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3}, {6, 3});
  write_npz(folder + "/io.npz", {{"x", x}, {"ids", ids}, {"y", model(Variable(x), ids).data()}});
  files::save_npz(folder + "/model.npz", model);
  if (files::hdf5_available()) files::save_hdf5(folder + "/model.h5", model);
  files::save_safetensors(folder + "/model.safetensors", model, {.style = nn::KeyStyle::pytorch});
  write_trainer(folder);
}

void predict(const std::string& file, const std::string& from, const std::string& to) {
  Model model;
  if (file.ends_with(".safetensors")) {
    const nn::LoadReport report = files::load_safetensors(file, model, {.style = nn::KeyStyle::pytorch});
    for (const std::string& name : report.unexpected) std::cout << "nothing asked for " << name << "\n";
  } else if (file.ends_with(".h5")) {
    files::load_hdf5(file, model);
  } else {
    files::load_npz(file, model);
  }
  const catena::NpzReader in("interop", from);
  const Array y = model(Variable(array_of(in.read("x"))), array_of(in.read("ids"))).data();
  write_npz(to, {{"y", y}});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "write") == 0) write(argv[2]);
    else if (argc == 5 && std::strcmp(argv[1], "predict") == 0) predict(argv[2], argv[3], argv[4]);
    else catena::fail<catena::ValueError>("interop", "usage: interop write FOLDER | predict FILE X.npz Y.npz");
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
