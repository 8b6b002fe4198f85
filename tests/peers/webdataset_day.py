"""Writes shards by S3, and reads them by webdataset over URLs that any HTTP server could have."""

import io
import os
import pathlib
import sys
import tarfile
import urllib.parse
import urllib.request

import webdataset

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sigv4  # pylint: disable=wrong-import-position

URL = os.environ["LEAT_URL"]
HOST = urllib.parse.urlsplit(URL).netloc
KEY = sigv4.Key(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
SHARDS, SAMPLES = 4, 250


def put(target: str, body: bytes = b"") -> None:
    link = sigv4.presign(KEY, "PUT", HOST, target)
    with urllib.request.urlopen(urllib.request.Request(URL + link, data=body, method="PUT")):
        pass


def sample(shard: int, number: int) -> dict[str, bytes]:
    return {"txt": f"text {shard} {number}".encode(), "cls": str(number % 10).encode(),
            "bin": bytes([number % 256]) * (100 + number)}


def make_shard(shard: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(SAMPLES):
            for extension, data in sample(shard, number).items():
                info = tarfile.TarInfo(f"{shard:02}-{number:04}.{extension}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def check(urls) -> None:
    read = webdataset.WebDataset(urls, shardshuffle=False)
    expected = {(shard, number) for shard in range(SHARDS) for number in range(SAMPLES)}
    for entry in read:
        shard, number = map(int, entry["__key__"].split("-"))
        for extension, data in sample(shard, number).items():
            if entry[extension] != data:
                raise AssertionError(f"{entry['__key__']}.{extension} has other bytes")
        expected.remove((shard, number))
    if expected:
        raise AssertionError(f"{len(expected)} samples are missing")


def main() -> None:
    put("/shards")
    for shard in range(SHARDS):
        put(f"/shards/train-{shard:04}.tar", make_shard(shard))
    check(f"{URL}/shards/train-{{0000..{SHARDS - 1:04}}}.tar")
    put("/private")  # the links are needed nowhere here, but must work
    check([URL + sigv4.presign(KEY, "GET", HOST, f"/shards/train-{shard:04}.tar")
           for shard in range(SHARDS)])
    print(f"webdataset {webdataset.__version__}: good")


if __name__ == "__main__":
    main()
