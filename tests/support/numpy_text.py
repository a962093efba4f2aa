"""Texts of NumPy's values, as tests/support/ndarray_text.h reads them, for the scripts that record values."""
import numpy as np

ALL = 24  # elements of an array that are written


def text(value, elements=True):
    if isinstance(value, str):
        return '"' + value.replace("\n", "\\n") + '"'
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, tuple) and value and all(type(x) is int for x in value):
        return "(" + ", ".join(map(str, value)) + ")"
    if isinstance(value, tuple) or isinstance(value, list) and any(isinstance(x, (np.ndarray, np.generic, bool)) for x in value):
        return " | ".join(text(x, elements) for x in value)
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"no text for {type(value)}")
    head = array.dtype.name + " (" + ", ".join(map(str, array.shape)) + ")"
    if not elements:
        return head
    flat = array.ravel().astype(np.complex128).view(np.float64) if array.dtype.kind == "c" else array.ravel().astype(np.float64)
    if array.size <= ALL:
        return " ".join([head] + [f"{x:.9g}" for x in flat])
    return f"{head} # {flat.sum():.9g} {(flat * np.arange(1, flat.size + 1)).sum():.9g}"


def variables():
    """The variables of tests and tables, as struct NumpyVariables of tests/support/ndarray_text.h has them."""
    a = (np.arange(12.).reshape(3, 4) + 1) / 2
    v = np.array([3., 1., 2., 5., 4., 0.5])
    w = np.array([1., 2., 0.5, 4., 1.5, 3.])
    return {
        "np": np, "a": a, "v": v, "w": w, "i": np.array([2, 0, 1]), "n": np.array([3, 1, 2, 1, 0, 3]), "m": a > 2, "p": v > 2,
        "b": np.array([[2., -1., 0.5, 3.], [-2.5, 4., 1., 0.25], [1.5, -0.75, 6., 2.]]), "q": np.arange(24.).reshape(2, 3, 4),
        "s": np.array([[4., 1., 0.5], [1., 3., 0.25], [0.5, 0.25, 2.]]), "f": np.array([[1, 2], [3, 4]], np.float32),
        "h": np.array([1., np.nan, 3., np.inf]), "z": v[:4] + 1j * w[:4],
    }
