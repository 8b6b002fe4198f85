#!/usr/bin/env python3
"""boto3_day.py: an ordinary day of boto3 with the S3 server at LEAT_URL, whose key is where boto3
looks for it, in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

A program of its own because it runs under different interpreters: Debian's, with the boto3 that is
packaged there, and a virtual environment's with the newest.
"""

import io
import os
import pathlib
import tempfile
import urllib.request

import boto3
import botocore.config
import botocore.exceptions

ODD_NAMES = ("a b", "größe", "a+b&c=d", "%41", "dir/with spaces/x", "日本語", "a//b", "trailing/")


def check(found, expected, what=""):
    if found != expected:
        raise AssertionError(f"{what}: {found!r} is not {expected!r}"[:1000])


def refusal(call, **arguments):
    """The code of the error that the call must end with."""
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    raise AssertionError(f"{call} {arguments} succeeded")


def takes(client, operation, parameter):
    """Whether this version of boto3 knows a parameter."""
    model = client.meta.service_model.operation_model(operation)
    return parameter in model.input_shape.members


def objects_day(client, bucket):
    put = client.put_object(Bucket=bucket, Key="k", Body=b"0123456789", ContentType="text/plain",
                            Metadata={"owner": "me", "n": "1"}, CacheControl="no-store")
    head = client.head_object(Bucket=bucket, Key="k")
    check(head["ETag"], put["ETag"])
    check(head["Metadata"], {"owner": "me", "n": "1"})
    check((head["ContentType"], head["CacheControl"], head["ContentLength"]),
          ("text/plain", "no-store", 10))
    check(client.get_object(Bucket=bucket, Key="k")["Body"].read(), b"0123456789")
    part = client.get_object(Bucket=bucket, Key="k", Range="bytes=2-4")
    check((part["Body"].read(), part["ContentRange"]), (b"234", "bytes 2-4/10"))
    check(client.get_object(Bucket=bucket, Key="k", Range="bytes=-3")["Body"].read(), b"789")
    check(refusal(client.get_object, Bucket=bucket, Key="k", Range="bytes=10-"), "InvalidRange")
    check(refusal(client.get_object, Bucket=bucket, Key="none"), "NoSuchKey")
    check(refusal(client.head_object, Bucket=bucket, Key="none"), "404")
    check(refusal(client.get_object, Bucket="no-such-bucket", Key="k"), "NoSuchBucket")
    check(refusal(client.get_object, Bucket=bucket, Key="k", IfNoneMatch=put["ETag"]), "304")
    check(refusal(client.get_object, Bucket=bucket, Key="k", IfMatch='"other"'),
          "PreconditionFailed")
    client.copy_object(Bucket=bucket, Key="copy of k", CopySource={"Bucket": bucket, "Key": "k"})
    copy = client.head_object(Bucket=bucket, Key="copy of k")
    check((copy["Metadata"], copy["ETag"]), (head["Metadata"], head["ETag"]))
    client.copy_object(Bucket=bucket, Key="k", CopySource={"Bucket": bucket, "Key": "k"},
                       MetadataDirective="REPLACE", Metadata={"new": "yes"})
    check(client.head_object(Bucket=bucket, Key="k")["Metadata"], {"new": "yes"})
    for name in ODD_NAMES:
        client.put_object(Bucket=bucket, Key=name, Body=name.encode())
        check(client.get_object(Bucket=bucket, Key=name)["Body"].read(), name.encode())
    client.put_object(Bucket=bucket, Key="empty", Body=b"")
    check(client.get_object(Bucket=bucket, Key="empty")["Body"].read(), b"")
    stream = io.BytesIO(os.urandom(700_000))
    client.put_object(Bucket=bucket, Key="stream", Body=stream)
    check(client.get_object(Bucket=bucket, Key="stream")["Body"].read(), stream.getvalue())


def checksums_day(client, bucket):
    algorithms = ["CRC32", "SHA1", "SHA256"]
    try:
        import awscrt  # noqa: F401, pylint: disable=import-outside-toplevel,unused-import
        algorithms.append("CRC32C")
    except ImportError:
        pass
    for algorithm in algorithms:
        put = client.put_object(Bucket=bucket, Key=algorithm, Body=b"checked",
                                ChecksumAlgorithm=algorithm)
        got = client.get_object(Bucket=bucket, Key=algorithm, ChecksumMode="ENABLED")
        check(got["Body"].read(), b"checked")
        check(got[f"Checksum{algorithm}"], put[f"Checksum{algorithm}"])
    check(refusal(client.put_object, Bucket=bucket, Key="CRC32", Body=b"other",
                  ChecksumCRC32="AAAAAA=="), "BadDigest")
    check(client.get_object(Bucket=bucket, Key="CRC32")["Body"].read(), b"checked")


def conditions_day(client, bucket):
    if takes(client, "PutObject", "IfNoneMatch"):
        first = client.put_object(Bucket=bucket, Key="once", Body=b"1", IfNoneMatch="*")
        check(refusal(client.put_object, Bucket=bucket, Key="once", Body=b"2", IfNoneMatch="*"),
              "PreconditionFailed")
        if takes(client, "PutObject", "IfMatch"):
            second = client.put_object(Bucket=bucket, Key="once", Body=b"2", IfMatch=first["ETag"])
            check(refusal(client.put_object, Bucket=bucket, Key="once", Body=b"3",
                          IfMatch=first["ETag"]), "PreconditionFailed")
            check(client.head_object(Bucket=bucket, Key="once")["ETag"], second["ETag"])
        if takes(client, "DeleteObject", "IfMatch"):
            check(refusal(client.delete_object, Bucket=bucket, Key="once", IfMatch=first["ETag"]),
                  "PreconditionFailed")
        print("conditional writes: yes")
    else:
        print("conditional writes: not known to this boto3")


def links_day(client, bucket):
    link = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "link ü"})
    with urllib.request.urlopen(urllib.request.Request(link, data=b"sent", method="PUT")) as reply:
        check(reply.status, 200)
    link = client.generate_presigned_url("get_object", Params={
        "Bucket": bucket, "Key": "link ü", "ResponseContentType": "text/x-test"}, ExpiresIn=60)
    with urllib.request.urlopen(link) as reply:
        check((reply.read(), reply.headers["Content-Type"]), (b"sent", "text/x-test"))


def files_day(client, bucket, sizes):
    with tempfile.TemporaryDirectory() as scratch:
        source, target = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "target")
        for size in sizes:
            source.write_bytes(os.urandom(size))
            client.upload_file(str(source), bucket, f"file/{size}")
            client.download_file(bucket, f"file/{size}", str(target))
            check(target.read_bytes() == source.read_bytes(), True, f"file of {size}")
            client.copy({"Bucket": bucket, "Key": f"file/{size}"}, bucket, f"copy/{size}")
            check(client.head_object(Bucket=bucket, Key=f"copy/{size}")["ContentLength"], size)
            head = client.head_object(Bucket=bucket, Key=f"file/{size}")
            check("-" in head["ETag"], size > 8 << 20, f"parts of a file of {size}")


def parts_day(client, bucket):
    """An upload in parts, by hand."""
    where = {"Bucket": bucket, "Key": "in parts"}
    upload = client.create_multipart_upload(**where, Metadata={"made": "of parts"},
                                            ContentType="text/x-parts")["UploadId"]
    bodies = [os.urandom(5 << 20), os.urandom(5 << 20), b"end"]
    parts = []
    for number, body in enumerate(bodies, start=1):
        sent = client.upload_part(**where, UploadId=upload, PartNumber=number, Body=body)
        parts.append({"PartNumber": number, "ETag": sent["ETag"]})
    listed = client.list_parts(**where, UploadId=upload)["Parts"]
    check([(part["PartNumber"], part["Size"]) for part in listed],
          [(number, len(body)) for number, body in enumerate(bodies, start=1)])
    check([entry["UploadId"] for entry in client.list_multipart_uploads(Bucket=bucket)["Uploads"]],
          [upload])
    check(refusal(client.get_object, **where), "NoSuchKey")
    done = client.complete_multipart_upload(**where, UploadId=upload,
                                            MultipartUpload={"Parts": parts})
    got = client.get_object(**where)
    check(got["Body"].read() == b"".join(bodies), True, "the parts together")
    check((got["ETag"], got["Metadata"], got["ContentType"]),
          (done["ETag"], {"made": "of parts"}, "text/x-parts"))
    check(got["ETag"].endswith('-3"'), True, "the etag of three parts")
    second = client.get_object(**where, PartNumber=2)
    check(second["Body"].read() == bodies[1], True, "the second part")
    check(second["PartsCount"], 3)
    upload = client.create_multipart_upload(Bucket=bucket, Key="copied parts")["UploadId"]
    copied = client.upload_part_copy(Bucket=bucket, Key="copied parts", UploadId=upload,
                                     PartNumber=1, CopySource={"Bucket": bucket, "Key": "in parts"},
                                     CopySourceRange="bytes=100-6000099")
    client.complete_multipart_upload(Bucket=bucket, Key="copied parts", UploadId=upload,
                                     MultipartUpload={"Parts": [{
                                         "PartNumber": 1,
                                         "ETag": copied["CopyPartResult"]["ETag"]}]})
    check(client.get_object(Bucket=bucket, Key="copied parts")["Body"].read()
          == b"".join(bodies)[100:6_000_100], True, "a copied part")
    upload = client.create_multipart_upload(Bucket=bucket, Key="aborted")["UploadId"]
    client.upload_part(Bucket=bucket, Key="aborted", UploadId=upload, PartNumber=1, Body=b"x")
    client.abort_multipart_upload(Bucket=bucket, Key="aborted", UploadId=upload)
    check(refusal(client.list_parts, Bucket=bucket, Key="aborted", UploadId=upload), "NoSuchUpload")
    check(client.list_multipart_uploads(Bucket=bucket).get("Uploads", []), [])


def listing_day(client, bucket):
    for number in range(25):
        client.put_object(Bucket=bucket, Key=f"list/{number % 5}/{number:02}", Body=b"")
    for operation in ("list_objects_v2", "list_objects"):
        pages = client.get_paginator(operation).paginate(
            Bucket=bucket, Prefix="list/", PaginationConfig={"PageSize": 7})
        names = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        check(names, sorted(f"list/{number % 5}/{number:02}" for number in range(25)))
        page = getattr(client, operation)(Bucket=bucket, Prefix="list/", Delimiter="/")
        check([entry["Prefix"] for entry in page["CommonPrefixes"]],
              [f"list/{number}/" for number in range(5)])
    every = [entry["Key"] for page in client.get_paginator("list_objects_v2").paginate(
        Bucket=bucket) for entry in page["Contents"]]
    check(set(ODD_NAMES) - set(every), set())


def leaving(client, bucket):
    check(refusal(client.delete_bucket, Bucket=bucket), "BucketNotEmpty")
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        answer = client.delete_objects(Bucket=bucket, Delete={
            "Objects": [{"Key": entry["Key"]} for entry in page["Contents"]]})
        check(answer.get("Errors", []), [])
    client.delete_bucket(Bucket=bucket)
    check(refusal(client.head_bucket, Bucket=bucket), "404")


def main():
    client = boto3.client("s3", endpoint_url=os.environ["LEAT_URL"], region_name="us-east-1",
                          config=botocore.config.Config(signature_version="s3v4", proxies={},
                                                        retries={"max_attempts": 1}))
    bucket = "boto3-day"
    client.create_bucket(Bucket=bucket)
    check(bucket in [entry["Name"] for entry in client.list_buckets()["Buckets"]], True)
    client.get_bucket_location(Bucket=bucket)
    objects_day(client, bucket)
    checksums_day(client, bucket)
    conditions_day(client, bucket)
    links_day(client, bucket)
    files_day(client, bucket, (0, 1, 5_000_000, 20_000_000))
    parts_day(client, bucket)
    listing_day(client, bucket)
    leaving(client, bucket)
    print(f"boto3 {boto3.__version__}: good")


if __name__ == "__main__":
    main()
