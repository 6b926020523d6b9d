"""What tools/gpu-check makes of the lines it gets: fractions of the card's copy, the profiler's bytes, the table.

SPDX-License-Identifier: MIT
"""

import csv
import io


def profiler_bytes(text):
    """Per kernel the mean of DRAM bytes read and written by a launch, from what ncu prints with --csv."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    sums = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        way = {"dram__bytes_read.sum": "read", "dram__bytes_write.sum": "written"}.get(row.get("Metric Name"))
        if way:
            kernel = sums.setdefault(row["Kernel Name"].split("(")[0], {"read": [], "written": []})
            kernel[way].append(float(row["Metric Value"].replace(",", "")))
    return [{"kernel": name, "launches": len(ways["read"]), **{f"{way}_bytes": sum(values) / len(values) if values else 0.0
                                                                for way, values in ways.items()}}
            for name, ways in sums.items()]


def add_fractions(report):
    """The copy to compare with, the larger of those before and after, and each row's fraction of it."""
    report["copy_gb_s"] = max((line["pattern_gb_s"] for line in report["copy"]), default=None)
    for row in report["rows"]:
        if report["copy_gb_s"] and "achieved_gb_s" in row:
            row["fraction_of_copy"] = row["achieved_gb_s"] / report["copy_gb_s"]
            row["fits_l2"] = row["bytes_per_step"] < report["device"]["l2_bytes"]


def met(report):
    """Whether all that ran is right and nothing failed but for memory."""
    compared = [line for line in report["compare"] if "skipped" not in line]
    rows = [row for row in report["rows"] if "skipped" not in row]
    return bool(compared and rows and report["copy_gb_s"] and not report["problems"] and all(line["met"] for line in compared)
                and all("problem" not in row or "memory" in row["problem"] or "OOM" in row["problem"] for row in rows))


def columns(heads, rows):
    """Lines of a table whose first column is to the left and the others to the right."""
    cells = [heads] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    return ["  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))).rstrip() for row in cells]


def heading(report):
    device = report["device"]
    lines = [f"{device['name']}, compute capability {device['capability']}, {device['multiprocessors']} multiprocessors, "
             f"{device['bytes'] / 1e9:.1f} GB, L2 {device['l2_bytes'] / 1e6:.0f} MB; driver for CUDA {device['driver_cuda']}, "
             f"NVRTC {device['nvrtc']}; {report['made']}"]
    if device["stand_in"]:
        lines.append("A STAND-IN OF THE DRIVER, ON THE CPU: times, rates and registers are no GPU's")
    if report["quick"]:
        lines.append("reduced size: it shows that everything runs; rates are not to quote")
    for line in report["copy"]:
        lines.append(f"copy of {line['array_bytes'] / 1e6:.0f} MB arrays: the driver's {line['copy_gb_s']:.1f} GB/s; "
                     f"three reads, one in-place write {line['pattern_gb_s']:.1f} GB/s")
    return lines


def compared(report):
    rows = []
    for line in report["compare"]:
        name = [f"{line['equation']} {line['dims']}-D", line["order"], line["dtype"]]
        if "skipped" in line or "problem" in line:
            rows.append(name + ["", "", "", line.get("skipped") or line["problem"]])
        else:
            rows.append(name + [f"{line['forward']:.1e}", f"{line['gradient']:.1e}", f"{line['bound']:.0e}",
                                "" if line["met"] else "OVER"])
    return ["", "against the reference: largest difference over largest value"] + columns(
        ["equation", "order", "type", "records", "gradient", "bound", ""], rows)


def measured(report):
    rows = []
    for row in report["rows"]:
        name = [row["case"], row["workload"], f"{row['n']}^{row['dims']}", row["steps"], row["width"]]
        if "skipped" in row or "problem" in row:
            rows.append(name + [""] * 7 + [(row.get("skipped") or row["problem"])[:90]])
            continue
        rate = [f"{row['padded_gpoints_s']:.3f}", f"{row['bytes_per_point']:.0f}", f"{row['achieved_gb_s']:.1f}",
                f"{100 * row['fraction_of_copy']:.0f} %" if "fraction_of_copy" in row else ""]
        note = "fits L2" if row.get("fits_l2") else ""
        rows.append(name + [f"{row['first_s']:.3f}", f"{row['median_s']:.4f}", f"{row['device_bytes'] / 2**20:.1f}"] +
                    (rate if "achieved_gb_s" in row else [""] * 4) + [note])
    return ["", "the baseline's rows, float32, order 4 (full: a gradient, what it needs of every step kept)"] + columns(
        ["case", "workload", "nodes", "steps", "layer", "first s", "s", "MiB", "Gpoints/s", "B/point", "GB/s", "of copy", ""], rows) + [
        "s: median of calls after the first; Gpoints/s: padded, of the steps alone; B/point: DRAM bytes of an interior point and step by the "
        "kernels' manifest,", "layers' extra bytes not counted; GB/s: that times points over time; of copy: over three reads, one in-place write"]


def used(report):
    rows, seen = [], set()
    for row in report["rows"]:
        for kernel in row.get("kernels", []):
            if (kernel["step"], kernel["name"]) not in seen:
                seen.add((kernel["step"], kernel["name"]))
                rows.append([kernel["name"], kernel["step"], kernel["block"], kernel["registers"], kernel["spill_bytes"], f"{kernel['dram_bytes']:.0f}"])
    return ["", "kernels, from their cubins (keeping: the forward step of a gradient); DRAM: bytes per point by the manifest"] + columns(
        ["kernel", "step", "block", "registers", "spill B", "DRAM B"], rows)


def profiled(report):
    profiler = report.get("profiler")
    if profiler is None:
        return []
    points = {row["case"]: row["padded_points"] for row in report["rows"] if "padded_points" in row}
    rows = []
    for kernel in profiler.get("kernels", []):
        both = kernel["read_bytes"] + kernel["written_bytes"]
        each = f"{both / points[kernel['case']]:.1f}" if kernel["case"] in points else ""
        rows.append([kernel["kernel"], kernel["case"], kernel["launches"], f"{kernel['read_bytes']:.3e}", f"{kernel['written_bytes']:.3e}", each])
    lines = columns(["kernel", "case", "launches", "read B", "written B", "B/padded point"], rows) if rows else []
    return ["", "DRAM bytes of a launch by the profiler"] + lines + ([profiler["problem"]] if "problem" in profiler else [])


def table(report):
    """The whole table as text."""
    lines = heading(report) + compared(report) + measured(report) + used(report) + profiled(report)
    lines += [""] + [f"PROBLEM: {problem}" for problem in report["problems"]]
    lines.append(f"{'all is right' if met(report) else 'NOT ALL IS RIGHT'}; {report['seconds']:.0f} s, {report['build_s']:.0f} of them the build")
    return "\n".join(lines) + "\n"
