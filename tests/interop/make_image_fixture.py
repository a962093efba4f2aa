#!/usr/bin/env python3
"""Writes image files by Pillow, and their pixels as Pillow reads them, to tests/golden/images/.

    python3 -m venv env && env/bin/pip install numpy pillow && env/bin/python tests/interop/make_image_fixture.py
"""
import pathlib

import numpy as np
from PIL import Image

folder = pathlib.Path(__file__).resolve().parents[1] / "golden" / "images"
folder.mkdir(exist_ok=True)
height, width = 13, 18
y, x, c = np.mgrid[0:height, 0:width, 0:4]
levels = (128 + 100 * np.sin(0.3 * x + 0.9 * c) * np.cos(0.2 * y)).astype(np.uint8)
wide = (levels[:, :, 0].astype(np.uint16) << 8) + 7 * x[:, :, 0].astype(np.uint16)
pixels = {}


def add(name, image, **options):
    image.save(folder / name, **options)
    pixels[name] = np.asarray(Image.open(folder / name)).astype(image_dtype(name))


def image_dtype(name):
    return np.uint16 if "wide" in name else np.uint8


add("grey.png", Image.fromarray(levels[:, :, 0]))
add("grey_opacity.png", Image.fromarray(levels[:, :, :2], "LA"))
add("colour.png", Image.fromarray(levels[:, :, :3]))
add("colour_opacity.png", Image.fromarray(levels, "RGBA"))
add("wide.png", Image.fromarray(wide))
add("bits.png", Image.fromarray(levels[:, :, 0] > 128))
add("grey.jpg", Image.fromarray(levels[:, :, 0]), quality=90)
add("colour.jpg", Image.fromarray(levels[:, :, :3]), quality=90, subsampling=0)
add("subsampled_progressive.jpg", Image.fromarray(levels[:, :, :3]), quality=80, progressive=True)
add("grey.pgm", Image.fromarray(levels[:, :, 0]))
add("colour.ppm", Image.fromarray(levels[:, :, :3]))
np.savez_compressed(folder / "pixels.npz", **pixels)
