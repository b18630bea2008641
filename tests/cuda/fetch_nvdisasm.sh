#!/bin/sh
# fetch_nvdisasm.sh TARGET: puts the disassembler of the CUDA Toolkit at TARGET, from PyPI, for
# toolkits that were installed without it. Exits with 1 and a reason where that cannot be.
set -eu
target=$1
version=13.5.37
[ -x "$target" ] && exit 0
if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
  echo "no nvdisasm in the toolkit, and no python3 with pip to fetch it" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! timeout 120 python3 -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$folder" "nvidia-cuda-nvdisasm==$version" >"$folder/log" 2>&1; then
  echo "no nvdisasm in the toolkit, and PyPI cannot be reached:" >&2
  tail -n 3 "$folder/log" >&2
  exit 1
fi
python3 - "$folder" "$target" <<'PYTHON'
import glob, os, sys, zipfile
folder, target = sys.argv[1:]
wheel = zipfile.ZipFile(glob.glob(folder + "/*.whl")[0])
name = next(n for n in wheel.namelist() if n.endswith("bin/nvdisasm"))
part = f"{target}.{os.getpid()}"  # tests run side by side, and each may be the first to come here
with open(part, "wb") as out:
    out.write(wheel.read(name))
os.chmod(part, 0o755)
os.replace(part, target)
PYTHON
