"""The idx format of MNIST: a header of big-endian integers, then one byte for each pixel."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import scipy.sparse

from ..files import DataFile

__all__ = ["read_idx_images"]

IDX_MAGIC = 0x00000803  # unsigned bytes, three axes
IDX_HEADER = struct.Struct(">4i")


def read_idx_images(file: DataFile) -> Any:
    """Images as rows of pixels, a CSR array of shape (images, height * width)."""
    with file.opened() as stream:
        content = stream.read()
    if len(content) < IDX_HEADER.size:
        raise file.broken(f"it has {len(content)} bytes, which is less than the header of {IDX_HEADER.size}")
    magic, n_images, height, width = IDX_HEADER.unpack_from(content)
    if magic != IDX_MAGIC:
        raise file.broken(f"it begins with the number {magic:#010x} and images with {IDX_MAGIC:#010x}")
    n_pixels = len(content) - IDX_HEADER.size
    if min(n_images, height, width) < 0 or n_pixels != n_images * height * width:
        raise file.broken(f"{n_images} images of {height} x {width} pixels are announced and {n_pixels} pixels follow")
    pixels = np.frombuffer(content, dtype=np.uint8, offset=IDX_HEADER.size).reshape(n_images, height * width)
    return scipy.sparse.csr_array(pixels, dtype=np.float64)
