"""What the machine is."""

import json
import os
import platform
import subprocess
from pathlib import Path

WANTED = ("Model name", "CPU(s)", "L1d cache", "L2 cache", "L3 cache", "Hypervisor vendor")


def _flat(entries):
    """lscpu nests, or does not, from version to version."""
    for entry in entries:
        yield entry["field"].rstrip(":"), entry["data"]
        yield from _flat(entry.get("children", []))


def describe():
    """Names and values, in the order to print them."""
    listing = subprocess.run(["lscpu", "-J"], capture_output=True, text=True,
                             env={**os.environ, "LC_ALL": "C"})
    found = dict(_flat(json.loads(listing.stdout)["lscpu"])) if listing.returncode == 0 else {}
    machine = {name: found[name] for name in WANTED if name in found}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    machine["Memory"] = f"{memory / 2**30:.0f} GiB"
    huge_pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if huge_pages.exists():
        machine["Huge pages"] = huge_pages.read_text().split("[")[1].split("]")[0]
    machine["System"] = f"{platform.system()} {platform.release()}"
    return machine
