#!/usr/bin/env bash
# torch-cpu.sh VENV: PyTorch from PyPI into a virtual environment, for a machine without a GPU.
#
# PyPI has builds for CUDA only, whose libraries are gigabytes that such a machine never calls. They
# are left out, and stubs under their names let the rest be loaded. Needs gcc and binutils.
set -euo pipefail

venv=$1
here=$(dirname "$(readlink -f "$0")")
install=("$venv/bin/pip" install -q)
[[ -x $venv/bin/pip ]] || python3 -m venv "$venv"
"${install[@]}" --no-deps torch==2.15.0
"${install[@]}" --no-deps "nvidia-cuda-runtime==13.2.*"
# Or the next installation brings what was left out.
sed -i -E '/^Requires-Dist: (cuda-|nvidia-|triton)/d' "$venv"/lib/python3*/site-packages/torch-*.dist-info/METADATA
"${install[@]}" filelock typing_extensions "setuptools>=77.0.3" numpy sympy networkx jinja2 fsspec
"$venv/bin/python" -B "$here/torch_cpu_stubs.py" "$venv"/lib/python3*/site-packages/torch/lib
"$venv/bin/python" -c 'import torch
x = torch.randn(8, 8, requires_grad=True)
(x @ x).sum().backward()
print("torch", torch.__version__)'
