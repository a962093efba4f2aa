// Of the cuDNN for tests: the graph interface, which computes convolutions.
#pragma once

#include <catena/tests/integration/fake_cudnn_handle.h>

namespace fake_cudnn {

struct Node {
  int type = 0;
  bool final = false;
  std::map<int, std::vector<std::byte>> attributes;
  const Node* graph = nullptr;  // of configurations and what is made of them
  int engine = 0;

  template <class T> std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    require(found != attributes.end(), "attribute " + std::to_string(name) + " is missing");
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), found->second.size());
    return values;
  }
  template <class T> T one(int name) const {
    const std::vector<T> values = list<T>(name);
    require(values.size() == 1, "attribute " + std::to_string(name) + " is not single");
    return values[0];
  }
  const Node& node(int name) const {
    const Node& n = *static_cast<const Node*>(one<void*>(name));
    require(n.final, "attribute " + std::to_string(name) + " is not finalised");
    return n;
  }
  Dims integers(int name) const { return Dims(std::span<const std::int64_t>(list<std::int64_t>(name))); }
};

inline std::size_t bytes_of(int type) {
  switch (type) {
    case api::cudnn_type_boolean:
    case api::cudnn_type_char: return 1;
    case api::cudnn_type_handle:
    case api::cudnn_type_int64:
    case api::cudnn_type_double:
    case api::cudnn_type_void_ptr:
    case api::cudnn_type_descriptor: return 8;
    default: return 4;
  }
}

inline Described described(const Node& tensor) {
  require(tensor.type == api::cudnn_tensor, "no tensor");
  return {tensor.one<int>(api::cudnn_attr_tensor_data_type), tensor.integers(api::cudnn_attr_tensor_dimensions),
          tensor.integers(api::cudnn_attr_tensor_strides)};
}

// The addresses of a variant pack, by the numbers of tensors.
struct Bindings {
  cudnnContext* handle;
  std::map<std::int64_t, void*> addresses;

  void* at(const Node& tensor) const {
    const auto found = addresses.find(tensor.one<std::int64_t>(api::cudnn_attr_tensor_id));
    require(found != addresses.end(), "a tensor without an address");
    require(reinterpret_cast<std::uintptr_t>(found->second) %
                    std::size_t(tensor.one<std::int64_t>(api::cudnn_attr_tensor_alignment)) ==
                0,
            "an address that is not aligned");
    return found->second;
  }
  Array get(const Node& tensor) const { return fake_cudnn::get(handle, described(tensor), at(tensor)); }
  void put(const Node& tensor, const Array& values) const {
    fake_cudnn::put(handle, described(tensor), at(tensor), values);
  }
};

inline Dims spatial(const Shape& s) {
  return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2)));
}

inline void run_convolution(const std::vector<const Node*>& ops, const Bindings& bound) {
  const Node& op = *ops[0];
  const bool data = op.type == api::cudnn_operation_convolution_data,
             filter = op.type == api::cudnn_operation_convolution_filter;
  const auto node = [&](int forward, int of_data, int of_filter) -> const Node& {
    return op.node(data ? of_data : filter ? of_filter : forward);
  };
  const Node& c =
      node(api::cudnn_attr_forward_convolution, api::cudnn_attr_data_convolution, api::cudnn_attr_filter_convolution);
  const Node& x = node(api::cudnn_attr_forward_x, api::cudnn_attr_data_dx, api::cudnn_attr_filter_x);
  const Node& w = node(api::cudnn_attr_forward_w, api::cudnn_attr_data_w, api::cudnn_attr_filter_dw);
  const Node& y = node(api::cudnn_attr_forward_y, api::cudnn_attr_data_dy, api::cudnn_attr_filter_dy);
  autograd::ConvolutionSpec spec;
  spec.stride = c.integers(api::cudnn_attr_convolution_strides);
  spec.dilate = c.integers(api::cudnn_attr_convolution_dilations);
  spec.pad = c.integers(api::cudnn_attr_convolution_pre_paddings);
  spec.groups = described(x).shape[1] / described(w).shape[1];
  autograd::NnExtension& nn = autograd::portable_nn_extension();
  if (data)
    return bound.put(x, nn.convolution_backward_data(bound.get(w), bound.get(y), spatial(described(x).shape), spec));
  if (filter)
    return bound.put(w, nn.convolution_backward_filter(bound.get(x), bound.get(y), spatial(described(w).shape),
                                                       Dtype::float64, spec));
  Array made = nn.convolution(bound.get(x), bound.get(w), {}, spec);
  if (ops.size() == 1) return bound.put(y, made);
  made += bound.get(ops[1]->node(api::cudnn_attr_operation_pointwise_b));
  bound.put(ops[1]->node(api::cudnn_attr_operation_pointwise_y), made);
}

// Every graph has these engines, best first; the sums of the first are not deterministic.
constexpr std::int64_t kEngineWorkspace[] = {6 << 20, 1024, 96};

inline void execute(cudnnContext* handle, const Node& plan, const Node& pack) {
  require(plan.final && pack.final, "a plan or a pack that is not finalised");
  const std::vector<std::int64_t> ids = pack.list<std::int64_t>(api::cudnn_attr_pack_ids);
  const std::vector<void*> pointers = pack.list<void*>(api::cudnn_attr_pack_pointers);
  require(ids.size() == pointers.size(), "as many numbers as addresses");
  const int engine = plan.node(api::cudnn_attr_plan_engine_config).engine;
  use(handle, pack.one<void*>(api::cudnn_attr_pack_workspace), std::size_t(kEngineWorkspace[engine]));
  record().engines.push_back(engine);
  Bindings bound{handle, {}};
  for (std::size_t i = 0; i < ids.size(); ++i) bound.addresses[ids[i]] = pointers[i];
  std::vector<const Node*> ops;
  for (const void* op :
       plan.node(api::cudnn_attr_plan_engine_config).graph->list<const void*>(api::cudnn_attr_graph_operations))
    ops.push_back(static_cast<const Node*>(op));
  run_convolution(ops, bound);
}

// Heuristics know one configuration for each engine.
inline void get_attribute(Node& n, int name, std::int64_t capacity, std::int64_t* count, void* elements) {
  const bool notes = name == api::cudnn_attr_engine_notes, heuristics = name == api::cudnn_attr_heuristic_results;
  *count = notes ? n.engine == 0 : heuristics ? std::int64_t(std::size(kEngineWorkspace)) : 1;
  if (capacity == 0 || *count == 0) return;
  if (heuristics) {
    for (int i = 0; i < std::min(capacity, *count); ++i) {
      Node& config = *static_cast<Node**>(elements)[i];
      config.graph = &n.node(api::cudnn_attr_heuristic_graph);
      config.engine = i;
      config.final = true;
    }
  } else if (name == api::cudnn_attr_engine_config_engine) {
    Node& engine = **static_cast<Node**>(elements);
    engine.engine = n.engine;
    engine.final = true;
  } else if (notes) {
    *static_cast<int*>(elements) = api::cudnn_note_nondeterministic;
  } else {
    require(name == api::cudnn_attr_plan_workspace_bytes, "an attribute that is not known");
    *static_cast<std::int64_t*>(elements) = kEngineWorkspace[n.node(api::cudnn_attr_plan_engine_config).engine];
  }
}

inline void add_graph_functions(autograd::internal::cudnn::Library& t) {
  t.create_descriptor = [](int type, api::cudnn_descriptor* to) {
    return answer([&] { *to = new Node{type, false, {}, nullptr}; });
  };
  t.destroy_descriptor = [](api::cudnn_descriptor d) {
    delete static_cast<Node*>(d);
    return api::cudnn_success;
  };
  t.set_attribute = [](api::cudnn_descriptor d, int name, int type, std::int64_t count, const void* elements) {
    return answer([&] {
      Node& n = *static_cast<Node*>(d);
      require(!n.final, "an attribute after finalising");
      const auto* first = static_cast<const std::byte*>(elements);
      n.attributes[name] = {first, first + std::size_t(count) * bytes_of(type)};
    });
  };
  t.get_attribute = [](api::cudnn_descriptor d, int name, int, std::int64_t capacity, std::int64_t* count,
                       void* elements) {
    return answer([&] { get_attribute(*static_cast<Node*>(d), name, capacity, count, elements); });
  };
  t.finalize = [](api::cudnn_descriptor d) {
    return answer([&] {
      Node& n = *static_cast<Node*>(d);
      if (n.type == api::cudnn_tensor)
        require(described(n).shape.size() == described(n).strides.size(), "as many strides as lengths");
      // The library accepts these and has engines whose filter gradients are wrong then.
      if (n.type == api::cudnn_convolution)
        require(n.integers(api::cudnn_attr_convolution_pre_paddings) ==
                    n.integers(api::cudnn_attr_convolution_post_paddings),
                "paddings that differ at the ends of an axis");
      n.final = true;
    });
  };
  t.execute = [](api::cudnn_handle handle, api::cudnn_descriptor plan, api::cudnn_descriptor pack) {
    return work("cudnnBackendExecute", handle,
                [&] { execute(handle, *static_cast<const Node*>(plan), *static_cast<const Node*>(pack)); });
  };
}

}  // namespace fake_cudnn
