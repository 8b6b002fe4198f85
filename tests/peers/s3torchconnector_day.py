"""Samples written by S3, read by the data sets of s3torchconnector in a DataLoader; a checkpoint
written and read by it."""

import os
import pathlib
import sys
import urllib.parse
import urllib.request

import s3torchconnector
import torch
from s3torchconnector import S3ClientConfig, S3IterableDataset, S3MapDataset

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sigv4  # pylint: disable=wrong-import-position

URL = os.environ["LEAT_URL"]
HOST = urllib.parse.urlsplit(URL).netloc
KEY = sigv4.Key(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
SETTINGS = {"region": "us-east-1", "endpoint": URL,
            "s3client_config": S3ClientConfig(force_path_style=True)}
SAMPLES = 300


def put(target: str, body: bytes = b"") -> None:
    link = sigv4.presign(KEY, "PUT", HOST, target)
    with urllib.request.urlopen(urllib.request.Request(URL + link, data=body, method="PUT")):
        pass


def sample(number: int) -> bytes:
    return f"{number},".encode() * (number * 20 + 1)


def name_and_bytes(entry) -> tuple[str, bytes]:
    return entry.key, entry.read()


def check(pairs) -> None:
    found = dict(pairs)
    expected = {f"train/{number:04}": sample(number) for number in range(SAMPLES)}
    if found != expected:
        raise AssertionError(f"{len(found)} samples, not the {len(expected)} that were written")


def main() -> None:
    put("/samples")
    put("/samples/other", b"not of the data set")
    for number in range(SAMPLES):
        put(f"/samples/train/{number:04}", sample(number))
    mapped = S3MapDataset.from_prefix("s3://samples/train/", transform=name_and_bytes, **SETTINGS)
    if len(mapped) != SAMPLES:
        raise AssertionError(f"{len(mapped)} samples are listed, not {SAMPLES}")
    check(mapped[index] for index in torch.randperm(SAMPLES).tolist())
    iterated = S3IterableDataset.from_prefix("s3://samples/train/", transform=name_and_bytes,
                                             **SETTINGS)
    check(iterated)
    loader = torch.utils.data.DataLoader(mapped, batch_size=16, shuffle=True, num_workers=2,
                                         collate_fn=list)
    check(pair for batch in loader for pair in batch)
    large = os.urandom(20_000_000)
    put("/samples/large", large)
    whole = S3MapDataset.from_objects(["s3://samples/large"], **SETTINGS)[0]
    if whole.read() != large:
        raise AssertionError("a large object has other bytes")
    whole.seek(12_345_678)
    if whole.read(1000) != large[12_345_678:12_346_678]:
        raise AssertionError("a part of a large object has other bytes")
    checkpoint = s3torchconnector.S3Checkpoint(**SETTINGS)
    model = torch.nn.Linear(2000, 2000)  # 16 MB: it goes in parts
    with checkpoint.writer("s3://samples/checkpoints/1.pt") as writer:
        torch.save(model.state_dict(), writer)
    with checkpoint.reader("s3://samples/checkpoints/1.pt") as reader:
        state = torch.load(reader)
    if not all(torch.equal(state[name], value) for name, value in model.state_dict().items()):
        raise AssertionError("a checkpoint has other values")
    print(f"s3torchconnector {s3torchconnector.__version__}, torch {torch.__version__}: good")


if __name__ == "__main__":
    main()
