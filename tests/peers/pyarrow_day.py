"""An ordinary day of pyarrow.fs.S3FileSystem with the server at LEAT_URL."""

import os

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from pyarrow import fs

ROWS = 200_000


def check(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r} is not {expected!r}"[:1000])


def table_day(system: fs.S3FileSystem) -> None:
    table = pyarrow.table({"number": range(ROWS), "text": [f"row {i}" for i in range(ROWS)],
                           "part": [i % 4 for i in range(ROWS)]})
    pyarrow.parquet.write_table(table, "tables/one.parquet", filesystem=system, row_group_size=5000)
    check(pyarrow.parquet.read_table("tables/one.parquet", filesystem=system), table, "one file")
    column = pyarrow.parquet.read_table("tables/one.parquet", filesystem=system,
                                        columns=["number"], filters=[("number", "<", 100)])
    check(column["number"].to_pylist(), list(range(100)), "a filtered column")
    pyarrow.dataset.write_dataset(table, "tables/many", filesystem=system, format="parquet",
                                  partitioning=["part"], partitioning_flavor="hive")
    many = pyarrow.dataset.dataset("tables/many", filesystem=system, partitioning="hive")
    check(many.count_rows(), ROWS, "rows of the data set")
    check(sorted(many.to_table(columns=["number"])["number"].to_pylist()), list(range(ROWS)),
          "numbers of the data set")


def files_day(system: fs.S3FileSystem) -> None:
    data = os.urandom(25_000_000)
    with system.open_output_stream("tables/raw/large.bin", metadata={"Content-Type": "x/y"}) as out:
        for at in range(0, len(data), 999_983):
            out.write(data[at:at + 999_983])
    with system.open_input_file("tables/raw/large.bin") as file:
        check(file.size(), len(data), "the size")
        file.seek(20_000_000)
        check(file.read(1000) == data[20_000_000:20_001_000], True, "a part")
        check(file.read_at(5, 7) == data[7:12], True, "a small part")
    with system.open_input_stream("tables/raw/large.bin") as stream:
        check(stream.read() == data, True, "all of it")
    with system.open_output_stream("tables/raw/empty"):
        pass
    check(system.get_file_info("tables/raw/empty").size, 0, "an empty file")
    check(system.get_file_info("tables/raw/none").type, fs.FileType.NotFound, "no file")
    system.copy_file("tables/raw/large.bin", "tables/raw/copy ü.bin")
    system.move("tables/raw/copy ü.bin", "tables/raw/moved ü.bin")
    names = [info.base_name for info in system.get_file_info(fs.FileSelector("tables/raw"))]
    check(sorted(names), ["empty", "large.bin", "moved ü.bin"], "names")


def main() -> None:
    scheme, _, host = os.environ["LEAT_URL"].partition("://")
    system = fs.S3FileSystem(endpoint_override=host, scheme=scheme, region="us-east-1",
                             allow_bucket_creation=True, allow_bucket_deletion=True)
    system.create_dir("tables")
    table_day(system)
    files_day(system)
    system.delete_dir("tables/raw")
    check(system.get_file_info("tables/raw/large.bin").type, fs.FileType.NotFound, "what is gone")
    system.delete_dir("tables")
    check(system.get_file_info(fs.FileSelector("", recursive=False)), [], "buckets at the end")
    print(f"pyarrow {pyarrow.__version__}: good")


if __name__ == "__main__":
    main()
