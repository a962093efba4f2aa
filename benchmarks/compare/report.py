"""The table with its head, the JSON list, and the plot."""
import datetime
import json
import math
import os
import platform
import subprocess
from dataclasses import asdict

import bars


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().partition("\n")[0]
    except OSError:
        return ""


def cpu_model():
    try:
        with open("/proc/cpuinfo") as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def last_level_cache():
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/size") as f:
            return f", last-level cache {f.read().strip()}"
    except OSError:
        return ""


def commit(root):
    name = first_line(["git", "-C", root, "rev-parse", "--short=10", "HEAD"]) or "unknown"
    return name + (" with changes" if first_line(["git", "-C", root, "status", "--porcelain"]) else "")


def head(root, device, versions, samples, load):
    lines = [
        f"- date: {datetime.datetime.now().astimezone():%Y-%m-%d %H:%M %Z}, commit {commit(root)}",
        f"- machine: {cpu_model()}, {os.cpu_count()} cores{last_level_cache()}, {platform.system()} {platform.release()}",
        f"- load before the run: {load:.2f} (of other programs; above 0.3 the figures are of a busy machine)",
        f"- versions: {'; '.join(versions)}",
        f"- medians of {samples} samples, contenders in turns; ratio: peer / ours; "
        "spread: quartile distance of the rounds' ratios / median",
    ]
    if device == "cuda":
        gpu = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        lines.insert(2, f"- device: {gpu or 'CUDA, not told by nvidia-smi'}")
    return "\n".join(lines)


def best(rows):
    """The fastest variant per case, number of threads and peer, and the variant to which a bar refers."""
    chosen = {}
    for row in rows:
        key = row.case, row.threads, row.peer
        if row.peer and key in chosen and chosen[key].peer_us <= row.peer_us:
            continue
        chosen[key] = row
    return [row for row in rows
            if chosen[row.case, row.threads, row.peer] is row or bars.VARIANT_OF_BAR.get(row.case, {}).get(row.peer) == row.variant]


def floors(rows):
    """{(case, threads): microseconds of the plain loops}"""
    return {(row.case, row.threads): row.peer_us for row in rows if row.peer == "floor"}


def verdict(row, floor_us):
    """(bar, met) as text; bars refer to two threads."""
    if row.threads != 2:
        return "", ""
    ratio, us = bars.asked(row.case, row.peer, row.variant), bars.limit_us(row.case)
    wants = ([f">= {ratio:g}x"] if ratio else []) + ([f"<= {us:g} us"] if us else [])
    met = (not ratio or row.ratio >= ratio) and (not us or row.ours_us <= us)
    if ratio and not met and floor_us and row.peer_us / ratio < floor_us and floor_us / row.ours_us >= bars.OF_FLOOR:
        return ", ".join(wants), "floor"
    return ", ".join(wants), ("yes" if met else "NO") if wants else ""


def number(x):
    return "" if x is None else f"{x:.3f}" if x < 10 else f"{x:.1f}" if x < 1000 else f"{x:.0f}"


def named(row):
    return row.peer if row.variant in ("", "default") else f"{row.peer} ({row.variant})"


def table(rows, with_bars):
    header = ["case", "threads", "ours, us", "peer", "peer, us", "ratio", "spread", "bar", "met"]
    lines, floor_us = [header], floors(rows)
    for row in best(rows):
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        lines.append([row.case, str(row.threads), number(row.ours_us), named(row) or "-", number(row.peer_us), ratio, f"{row.spread:.0%}",
                      *(verdict(row, floor_us.get((row.case, row.threads))) if with_bars else ("", ""))])
    return aligned(lines)


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(text)


def write_json(rows, path):
    with open(path, "w") as f:
        json.dump([asdict(row) for row in rows], f, indent=1)
        f.write("\n")


def write_text(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


COLOURS = {"numpy": "#4c78a8", "torch": "#e45756", "libtorch": "#b279a2", "chainer": "#54a24b", "cupy": "#f58518", "onnxruntime": "#72b7b2", "floor": "#999999"}


def svg(rows, title):
    """Bars of peer / ours at the highest number of threads, on a logarithmic axis; right of the line at 1 this library is faster."""
    threads = max((row.threads for row in rows), default=1)
    shown = [row for row in best(rows) if row.ratio and row.threads == threads]
    low = min([0.5, *(row.ratio for row in shown)]) / 1.1
    high = max([2.0, *(row.ratio for row in shown)]) * 1.1
    left, width, step, top = 330, 620, 18, 60

    def x(ratio):
        return left + width * (math.log(ratio) - math.log(low)) / (math.log(high) - math.log(low))

    bottom = top + step * len(shown)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 80}" height="{bottom + 40}" font-family="sans-serif" '
           'font-size="12"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="10" y="22" font-size="15">{title}, {threads} threads: times faster than the peer</text>']
    for k in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1):
        grey = "#222" if k == 0 else "#ddd"
        out.append(f'<line x1="{x(2**k):.1f}" y1="{top - 8}" x2="{x(2**k):.1f}" y2="{bottom}" stroke="{grey}"/>')
        out.append(f'<text x="{x(2**k):.1f}" y="{bottom + 16}" text-anchor="middle">{2.0**k:g}</text>')
    for i, row in enumerate(shown):
        a, b = sorted((x(1), x(row.ratio)))
        y, colour = top + step * i, COLOURS.get(row.peer, "#888")
        out.append(f'<rect x="{a:.1f}" y="{y}" width="{b - a:.1f}" height="{step - 5}" fill="{colour}"/>')
        out.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{row.case}, {named(row)}</text>')
        out.append(f'<text x="{b + 4:.1f}" y="{y + 11}">{row.ratio:.2f}</text>')
    for i, peer in enumerate(dict.fromkeys(row.peer for row in shown)):
        out.append(f'<rect x="{10 + 110 * i}" y="32" width="12" height="12" fill="{COLOURS.get(peer, "#888")}"/>')
        out.append(f'<text x="{27 + 110 * i}" y="42">{peer}</text>')
    return "\n".join(out) + "\n</svg>\n"
