"""The pictures of the page, as inline SVG."""

import io

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from .goals import quotient, size_name  # noqa: E402

OPERATIONS = ("may_contain", "insert")
# One colour and mark each, in all pictures; ours without parts, or forced, are dashed.
STYLES = {
    "floor": ("black", "", ":"), "simd": ("tab:blue", "o", "-"), "simd_k8": ("tab:cyan", "o", "-"),
    "simd_plain": ("tab:blue", "v", "--"), "simd_parts": ("tab:blue", "^", "-."),
    "vertical": ("tab:purple", "D", "--"), "vertical_k8": ("tab:pink", "D", "--"),
    "reference": ("tab:gray", "s", "-"), "acero": ("tab:orange", "P", "-"),
    "parquet": ("tab:red", "X", "-"), "flat_hash_set": ("tab:green", "h", "-"),
    "unordered_set": ("tab:olive", "h", "-"),
}


def _style(who):
    colour, marker, line = STYLES.get(who, ("tab:brown", ".", "-"))
    return {"color": colour, "marker": marker, "linestyle": line, "markersize": 5}


def _by_size(figure, title, what, results):
    axes = figure.add_subplot(1, 2, OPERATIONS.index(what) + 1)
    axes.set_title(title)
    axes.set_xscale("log", base=2)
    sizes = results.sizes(what)
    axes.set_xticks(sizes, [size_name(mib) for mib in sizes], rotation=30)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    return axes


def _legend(figure):
    entries = {label: handle for axes in figure.axes
               for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(entries.values(), entries.keys(), loc="outside right upper", fontsize="small")


def _plain_numbers(axis):
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def throughput(results):
    figure = Figure(figsize=(12, 5.5), layout="constrained")
    for what in OPERATIONS:
        axes = _by_size(figure, what, what, results)
        for who in results.contenders(what):
            for threads, label in (("1", who), ("all", f"{who}, all threads")):
                found = {mib: results.get(what, who, mib, threads=threads)
                         for mib in results.sizes(what, who)}
                points = {mib: 1000 / one.ns for mib, one in found.items() if one}
                if points:
                    style = _style(who)
                    if threads == "all":
                        style |= {"markerfacecolor": "white", "linewidth": 2.5}
                    axes.plot(points.keys(), points.values(), label=label, **style)
        axes.set_yscale("log")
        _plain_numbers(axes.yaxis)
        axes.set_ylabel("million keys a second")
        axes.set_xlabel("filter")
    _legend(figure)
    return figure


def floor_ratio(results):
    figure = Figure(figsize=(12, 4.5), layout="constrained")
    for what in OPERATIONS:
        axes = _by_size(figure, what, what, results)
        for who in results.contenders(what):
            ratios = {mib: quotient(results.get(what, who, mib), results.get(what, "floor", mib))
                      for mib in results.sizes(what, who)}
            points = {mib: ratio for mib, ratio in ratios.items() if ratio}
            # What is far above would flatten the rest.
            if points and min(points.values()) < 4:
                axes.plot(points.keys(), points.values(), label=who, **_style(who))
        axes.set_ylim(0, 4.5)
        axes.set_ylabel("time / time of the floor")
        axes.set_xlabel("filter")
    _legend(figure)
    return figure


def fpr_and_speed(results):
    sizes = [mib for mib in results.sizes("may_contain", "simd") if mib in (1, 128, 512)]
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    for place, mib in enumerate(sizes):
        axes = figure.add_subplot(1, len(sizes), place + 1)
        axes.set_title(size_name(mib))
        for who in results.contenders("may_contain"):
            one = results.get("may_contain", who, mib)
            if one and one.fpr:
                axes.plot(100 * one.fpr, 1000 / one.ns, label=who, **_style(who) | {"markersize": 9})
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.set_xlabel("false positives, %")
        axes.set_ylabel("million keys a second")
    _legend(figure)
    return figure


PICTURES = {
    "Throughput over size": (
        throughput, "10 bits a key, half of the keys found, 64-bit integers. Higher is better."),
    "Ratio to the floor": (
        floor_ratio, "The floor hashes and prefetches in the same way and touches one word of each "
                     "block. Lower is better; what is never below 4 is left out."),
    "False positives beside speed": (
        fpr_and_speed, "may_contain, 10 bits a key for every filter. Better is up and left."),
}


def svg(figure):
    """The figure as an element to put into a page."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "octobloom"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg"):]
