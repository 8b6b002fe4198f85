"""torch_cpu_stubs.py DIRECTORY: libraries with the names, and nothing of the contents, of those CUDA
libraries that PyTorch's own in DIRECTORY are linked with. torch-cpu.sh says why."""

import glob
import re
import subprocess
import sys

# The functions of each library begin so.
PREFIXES = {
    "libcupti": r"cupti", "libcusparse": r"cusparse(?!Lt)", "libcufft": r"cufft",
    "libcufile": r"cuFile", "libcusparseLt": r"cusparseLt", "libnccl": r"p?nccl",
    "libcublas": r"cublas(?!Lt)", "libcublasLt": r"cublasLt", "libcudnn": r"cudnn",
    "libnvrtc": r"nvrtc", "libnvshmem_host": r"_?_?nvshmem", "libcusolver": r"cusolver"}


def printed(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needs_of(directory: str) -> tuple[set[str], dict[str, str]]:
    """The libraries that those in the directory need, and the functions with their versions."""
    libraries, functions = set(), {}
    for pattern in ("libtorch*.so", "libc10*.so", "libcaffe2*.so"):
        for path in glob.glob(f"{directory}/{pattern}"):
            libraries |= set(re.findall(r"NEEDED.*\[(.+?)\]", printed("readelf", "-dW", path)))
            for line in printed("nm", "-D", "--undefined-only", path).splitlines():
                name, _, version = line.split()[-1].partition("@")
                functions[name] = max(version, functions.get(name, ""))
    return libraries, functions


def make_stub(directory: str, library: str, functions: dict[str, str]) -> None:
    source = "".join(f"int {name}(void){{return 1;}}\n" for name in sorted(functions)) or "int x;\n"
    versions = {}
    for name, version in functions.items():
        versions.setdefault(version, []).append(name)
    script = f"{directory}/{library}.map"
    with open(script, "w", encoding="ascii") as file:
        for version, names in versions.items():
            if version:
                file.write(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n")
    arguments = [f"-Wl,--version-script={script}"] if any(versions) else []
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", f"-Wl,-soname,{library}",
                    *arguments, "-o", f"{directory}/{library}"], input=source, text=True,
                   check=True)


def main() -> None:
    directory = sys.argv[1]
    libraries, functions = needs_of(directory)
    for library in sorted(libraries):
        prefix = PREFIXES.get(library.split(".so")[0])
        if prefix:
            make_stub(directory, library, {name: version for name, version in functions.items()
                                           if re.match(prefix, name)})


if __name__ == "__main__":
    main()
