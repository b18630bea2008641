"""index.html and report.md: the same tables, the page with the pictures."""

from html import escape

from . import plots
from .goals import goals_of, quotient, size_name

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left; }
td.met { background: #dfd; } td.missed { background: #fdd; }
svg { max-width: 100%; height: auto; }
"""


def _machine(results):
    context = {"Date": results.context.get("date"),
               "Highway target": results.context.get("octobloom_target"),
               "Compiler": results.context.get("octobloom_compiler")}
    rows = {**results.machine, **{name: value for name, value in context.items() if value}}
    return ["machine", ""], [[name, str(value)] for name, value in rows.items()]


def _goals(results):
    return (["goal", "target", "measured", "verdict"],
            [[goal.what, goal.target, goal.measured, goal.verdict] for goal in goals_of(results)])


def _cell(one):
    return f"{one.ns:.2f}" if one else ""


def _times(results, what):
    sizes = results.sizes(what)
    rows = [[who, *(_cell(results.get(what, who, mib)) for mib in sizes)]
            for who in results.contenders(what)]
    return [f"{what}, ns a key", *map(size_name, sizes)], rows


def _fpr(results):
    """Rates and sizes at the common workload, of the largest size that a contender was measured at."""
    rows = []
    for who in results.contenders("may_contain"):
        found = [(mib, results.get("may_contain", who, mib))
                 for mib in results.sizes("may_contain", who)]
        found = [(mib, one) for mib, one in found if one and one.fpr is not None]
        if found:
            mib, one = found[-1]
            keys = mib * 2**20 * 8 // 10
            rows.append([who, size_name(mib), f"{keys:,.0f}", f"{one.bytes:,.0f}",
                         f"{8 * one.bytes / keys:.2f}", f"{100 * one.fpr:.3f} %", one.label])
    return ["contender", "filter", "keys", "its bytes", "bits a key", "false positives", "way"], rows


def _vertical(results):
    sizes = results.sizes("may_contain", "vertical")
    rows = []
    for vertical, horizontal in (("vertical", "simd_plain"), ("vertical_k8", "simd_k8")):
        ratios = [quotient(results.get("may_contain", vertical, mib),
                           results.get("may_contain", horizontal, mib)) for mib in sizes]
        if any(ratios):
            rows.append([f"{vertical} / {horizontal}", *(f"{r:.2f}" if r else "" for r in ratios)])
    return ["time with gathers / time with whole blocks", *map(size_name, sizes)], rows


def _variations(results):
    sizes = results.sizes(None, "simd")
    rows = [[what, f"{other['bits']} bits, {other['hits']} % found, {other['keys']}, "
                   f"threads: {other['threads']}",
             *(_cell(results.get(what, "simd", mib, **other)) for mib in sizes)]
            for what in ("may_contain", "insert", "insert_new")
            for other in results.variations("simd")]
    rows = [row for row in rows if any(row[2:])]
    return ["simd, ns a key", "workload", *map(size_name, sizes)], rows


def _dedup(results):
    if not results.dedup:
        return [], []
    size = results.dedup["bytes"]
    rows = [[run["name"], f"{run['seconds']:.2f} s", f"{size / 1e6 / run['seconds']:.0f} MB/s",
             f"{run['peak_bytes'] / 2**20:.0f} MiB", f"{run['lines_out']:,}"]
            for run in results.dedup["runs"]]
    return [f"dedup of {results.dedup['lines']:,} lines, {size / 1e6:.0f} MB, "
            f"{results.dedup['threads']} threads", "time", "speed", "peak memory", "lines out"], rows


def _tables(results):
    tables = {"Goals": _goals(results), "Machine": _machine(results)}
    for what in ("may_contain", "insert", "insert_new"):
        tables[f"Times: {what}"] = _times(results, what)
    tables |= {"Size and false positives": _fpr(results), "Gathers": _vertical(results),
               "Other workloads": _variations(results), "Deduplication": _dedup(results)}
    return {title: table for title, table in tables.items() if table[1]}


def _markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _html(head, rows):
    def line(cells, tag):
        return "".join(f"<{tag}{' class=' + cell if cell in ('met', 'missed') else ''}>"
                       f"{escape(cell)}</{tag}>" for cell in cells)
    return ("<table><thead><tr>" + line(head, "th") + "</tr></thead>\n<tbody>" +
            "\n".join(f"<tr>{line(row, 'td')}</tr>" for row in rows) + "</tbody></table>")


def write(results, out):
    tables = _tables(results)
    text = "\n\n".join(f"## {title}\n\n{_markdown(*table)}" for title, table in tables.items())
    (out / "report.md").write_text(f"# octobloom: benchmarks\n\n{text}\n")

    parts = [f"<h2>{escape(title)}</h2>\n{_html(*tables.pop(title))}" for title in ("Goals", "Machine")
             if title in tables]
    for title, (draw, words) in plots.PICTURES.items():
        parts.append(f"<h2>{escape(title)}</h2>\n<p>{escape(words)}</p>\n{plots.svg(draw(results))}")
    parts += [f"<h2>{escape(title)}</h2>\n{_html(*table)}" for title, table in tables.items()]
    (out / "index.html").write_text(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        f"<title>octobloom: benchmarks</title><style>{STYLE}</style></head>\n<body>"
        "<h1>octobloom: benchmarks</h1>\n" + "\n".join(parts) + "\n</body></html>\n")
