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
