"""Reads and writes .npy arrays of floats with the standard library alone: the demo runs where nothing else is installed.

SPDX-License-Identifier: MIT
"""

import array
import ast
import math
from pathlib import Path


class Array:
    """A C-ordered array of floats: `shape`, and `values`, flat."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), values

    def block(self, index):
        """The sub-array at `index` of the slowest axis."""
        size = math.prod(self.shape[1:])
        return Array(self.shape[1:], self.values[index * size:(index + 1) * size])


def read(path):
    """An Array from a little-endian float32 or float64 .npy file in C order; ValueError on any other."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{path}: not a .npy file")
    wide = data[6] > 1
    start = 12 if wide else 10
    end = start + int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:end].decode("latin1"))
    code = {"<f4": "f", "<f8": "d"}.get(header["descr"])
    if code is None or header["fortran_order"]:
        raise ValueError(f"{path}: {header['descr']}, Fortran order {header['fortran_order']}; "
                         "expected <f4 or <f8 in C order")
    values = array.array(code)
    values.frombytes(data[end:])
    return Array(header["shape"], values)


def write(path, content):
    """Writes an Array, version 1.0 of the format."""
    descr = {"f": "<f4", "d": "<f8"}[content.values.typecode]
    header = repr({"descr": descr, "fortran_order": False, "shape": content.shape})
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin1")
                           + content.values.tobytes())


def pad_edges(content, before, after):
    """The Array grown by before[a] and after[a] cells along each axis a, filled with its edge values."""
    for axis in range(len(content.shape)):
        inner = math.prod(content.shape[axis + 1:])
        length = content.shape[axis] * inner
        grown = array.array(content.values.typecode)
        for start in range(0, len(content.values), length):
            row = content.values[start:start + length]
            grown += row[:inner] * before[axis] + row + row[-inner:] * after[axis]
        shape = list(content.shape)
        shape[axis] += before[axis] + after[axis]
        content = Array(shape, grown)
    return content
