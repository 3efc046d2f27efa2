"""A small picture as a PNG file, written by hand: a page may hold it without any other file."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["png", "png_address"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, RGB = 8, 2


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of pixels, shape (height, width, 3)."""
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, EIGHT_BITS, RGB, 0, 0, 0)
    lines: NDArray[Any] = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each line starts with its filter, none
    lines[:, 1:] = pixels.reshape(height, 3 * width)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def png_address(pixels: NDArray[np.uint8]) -> str:
    """The picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
