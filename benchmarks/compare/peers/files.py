"""The image files of the cases, as benchmarks/files.cpp writes them."""
import os
import struct
import zlib

import numpy

from data import units


def image(i, size):
    """Image i as an array (size, size, 3) of uint8."""
    channels, pixels = 3 * i + numpy.arange(3), numpy.arange(i * 3 * size * size, (i + 1) * 3 * size * size)
    x, y = (a[..., None] for a in numpy.meshgrid(numpy.arange(size), numpy.arange(size)))
    across, down = 80 * units(channels, 7001) * x, 80 * units(channels, 7002) * y
    noise = units(pixels, 7003).reshape(size, size, 3)
    return (64 * units(channels, 7000) + (across + down) / size + 31 * noise).astype(numpy.uint8)


def png(pixels):
    size = len(pixels)
    rows = pixels.copy()
    rows[:, 1:] -= pixels[:, :-1]  # the filter Sub
    content = b"".join(b"\1" + row.tobytes() for row in rows)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(content, 6)) + chunk(b"IEND", b"")


def write_images(folder, n, size):
    """The paths of the images 0 to n - 1."""
    paths = [os.path.join(folder, f"{i}.png") for i in range(n)]
    for i, path in enumerate(paths):
        with open(path, "wb") as f:
            f.write(png(image(i, size)))
    return paths
