#!/usr/bin/env python3
"""Turns measurements into medians, a table, a plot and one JSON file.

usage: report.py FOLDER             (reads facts.jsonl and measurements.jsonl)
       report.py --half-of-b FILE   (prints half of the rate that part b found)
"""
import json
import pathlib
import statistics
import sys

# part, what, value, reference, target of the ratio
RATIOS = [
    ("a", "payments accepted, against pgbench", "http", "pgbench", 0.5),
    ("d", "events consumed, against pgbench", "consumed", "pgbench", 0.3),
    ("e", "events relayed, against a C loop", "relayed", "c_loop", 0.5),
]
# part, what, prefix of the values, unit, limit
LIMITS = [
    ("b", "archive lag, the worst second", "archive lag", "s", 2),
    ("c", "p99 of acceptance at half of b", "p99", "ms", 50),
    ("g", "repetitions lost in all failovers", "lost in failovers", "requests", 1),
    ("f", "memory when idle (RSS)", "rss ", "MB", 60),
    ("f", "exec to ready", "ready ", "ms", 1500),
]
MET, MISSED = "#2e7d32", "#c62828"


def read(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def medians(measurements):
    """(part, name) -> median, unit, all values in order."""
    grouped = {}
    for m in measurements:
        grouped.setdefault((m["part"], m["name"], m["unit"]), []).append(m["value"])
    return {(part, name): (statistics.median(values), unit, values) for (part, name, unit), values in grouped.items()}


def ratio_rows(found):
    for part, what, value, reference, target in RATIOS:
        if (part, value) not in found or (part, reference) not in found:
            continue
        mine, unit, values = found[part, value]
        theirs, _, references = found[part, reference]
        # Within a repeat both ran right after one another, so that a noisy neighbour slowed both.
        ratio = statistics.median(a / b for a, b in zip(values, references))
        yield {
            "part": part, "what": what, "value": mine, "unit": unit, "reference": theirs, "ratio": ratio,
            "target": f">= {target}", "met": ratio >= target, "share": ratio / target,
        }


def limit_rows(found):
    for part, what, prefix, unit, limit in LIMITS:
        for (at, name), (value, _, _) in found.items():
            if at != part or not (name == prefix or prefix.endswith(" ") and name.startswith(prefix)):
                continue
            service = name[len(prefix):]
            yield {
                "part": part, "what": f"{what}: {service}" if service else what, "value": value, "unit": unit,
                "reference": None, "ratio": None, "target": f"< {limit}", "met": value < limit,
                "share": limit / value if value > 0 else 10,
            }


def rows(found):
    result = [*ratio_rows(found), *limit_rows(found)]
    if ("b", "completed") in found:
        value, unit, _ = found["b", "completed"]
        result.append({
            "part": "b", "what": "payments completed, backlog level", "value": value, "unit": unit, "reference": None,
            "ratio": None, "target": None, "met": None, "share": None,
        })
    return sorted(result, key=lambda row: row["part"])


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def table(result):
    head = ["", "what", "value", "reference", "ratio", "target", ""]
    lines = [head]
    for row in result:
        verdict = {True: "met", False: "MISSED", None: ""}[row["met"]]
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
        value = f"{number(row['value'])} {row['unit']}"
        lines.append([row["part"], row["what"], value, number(row["reference"]), ratio, row["target"] or "-", verdict])
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    right = {2, 3, 4}
    for line in lines:
        cells = [text.rjust(w) if i in right else text.ljust(w) for i, (text, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def plot(result, path):
    """One bar per target, as a multiple of it: what reaches the line is met."""
    bars = [row for row in result if row["share"] is not None]
    row_height, left, width, most = 24, 330, 420, 4.0
    height = row_height * len(bars) + 70
    unit = width / most
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 130}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="white"/><text x="12" y="22" font-size="14">'
        "Measured, as a multiple of the target (1 is met)</text>",
    ]
    for index, row in enumerate(bars):
        y = 40 + index * row_height
        length = min(row["share"], most) * unit
        text = f"{number(row['value'])} {row['unit']}" + ("" if row["ratio"] is None else f" ({row['ratio']:.2f})")
        what = f"{row['part']}  {row['what']}".replace("&", "&amp;").replace("<", "&lt;")
        out.append(f'<text x="12" y="{y + 14}">{what}</text>')
        out.append(
            f'<rect x="{left}" y="{y + 2}" width="{length:.0f}" height="{row_height - 8}" '
            f'fill="{MET if row["met"] else MISSED}"/>'
        )
        out.append(f'<text x="{left + length + 6:.0f}" y="{y + 14}">{text}</text>')
    bottom = 44 + len(bars) * row_height
    out.append(f'<line x1="{left + unit:.0f}" y1="36" x2="{left + unit:.0f}" y2="{bottom}" stroke="black"/>')
    out.append(f'<text x="{left + unit - 18:.0f}" y="{bottom + 14}">target</text></svg>')
    path.write_text("\n".join(out))


def report(folder):
    facts = read(folder / "facts.jsonl")
    measurements = read(folder / "measurements.jsonl")
    found = medians(measurements)
    result = rows(found)
    print()
    for fact in facts:
        print(f"{fact['name']:24} {fact['value']}")
    repeats = max((m["repeat"] for m in measurements), default=0)
    print(f"{'repeats':24} {repeats}, medians below\n")
    table(result)
    processors = [(key, values) for key, values in found.items() if key[1].startswith("cpu ")]
    if processors:
        print("\nprocessor time, in % of one core")
        for part in sorted({part for (part, _), _ in processors}):
            used = [f"{name[4:]} {value:.0f}" for (at, name), (value, _, _) in processors if at == part]
            print(f"  {part}  {', '.join(used)}")
    missed = [row for row in result if row["met"] is False]
    print(f"\n{len(missed)} of {sum(row['met'] is not None for row in result)} targets missed")
    for row in missed:
        print(f"  MISSED {row['part']}: {row['what']}: {number(row['value'])} {row['unit']}, wanted {row['target']}")
    plot(result, folder / "results.svg")
    spread = [
        {"part": part, "name": name, "unit": unit, "median": value, "values": values}
        for (part, name), (value, unit, values) in found.items()
    ]
    (folder / "results.json").write_text(
        json.dumps({"facts": facts, "rows": result, "measurements": spread}, indent=1) + "\n"
    )
    print(f"\nplot and numbers: {folder.parent.name}/{folder.name}/results.svg, results.json")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--half-of-b":
        print(medians(read(pathlib.Path(sys.argv[2])))["b", "rate"][0] / 2)
    elif len(sys.argv) == 2:
        report(pathlib.Path(sys.argv[1]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
