"""ONNX Runtime: the cases of inference, with the networks of torch_training.py."""
import os
import tempfile
import warnings

import onnxruntime
import torch

import data
import torch_training as networks
from protocol import rotating, serve


def session(model, example):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # as in all contenders: see contenders.py
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "model.onnx")
        torch.onnx.export(model, (example,), path, input_names=["x"], dynamo=False)
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def outputs(build):
    def setup(p):
        shape = networks.input_shape(build, p["batch"])
        network = session(build(p).eval(), torch.zeros(shape))
        return rotating(p, lambda seed: data.uniform(shape, seed), lambda x: network.run(None, {"x": x})[0])
    return {"default": setup}


serve({"inference/mlp": outputs(networks.mlp), "inference/cnn": outputs(networks.cnn), "inference/resnet18": outputs(networks.resnet18)},
      data.fingerprint, lambda: None, f"ONNX Runtime {onnxruntime.__version__}")
