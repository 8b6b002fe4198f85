"""The servers that are compared, each in a directory of its own on a free port of this machine."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

KEY, SECRET = "benchmarkkey", "benchmarksecret"
TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url: str, seconds: float = 30) -> None:
    """Until something answers at all."""
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def wait_for_port(port: int, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Server:
    """A process (or several) with a URL below which an object has its name as its path."""

    name = ""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen] = []
        self.port = free_port()
        self.root = f"http://127.0.0.1:{self.port}"
        self.path = ""       # of the bucket
        self.put_query = ""  # what a PUT's URL ends with
        self.batch_port = self.port

    @property
    def base(self) -> str:
        return self.root + self.path

    def start(self, *command, **options) -> None:
        self.processes.append(subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **options))

    def children(self) -> list[int]:
        pids = []
        for process in self.processes:
            pids.append(process.pid)
            path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            pids += [int(word) for word in path.read_text().split()]
        return pids

    def cpu_seconds(self) -> float:
        """Used so far, by user and system, in all threads."""
        total = 0
        for pid in self.children():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def resident_bytes(self) -> int:
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
                   for pid in self.children())

    def url(self, name: str) -> str:
        return f"{self.base}/{name}"

    def put(self, name: str, data: bytes) -> None:
        request = urllib.request.Request(self.url(name) + self.put_query, data=data, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

    def put_many(self, objects: dict[str, bytes]) -> None:
        """Small objects, many requests under way at a time on one connection."""
        names = list(objects)
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            answers = connection.makefile("rb")
            for begin in range(0, len(names), 64):
                group = names[begin:begin + 64]
                connection.sendall(b"".join(self.put_message(name, objects[name])
                                            for name in group))
                for name in group:
                    self.read_answer(answers, name)

    def put_message(self, name: str, data: bytes) -> bytes:
        return (f"PUT {self.path}/{name}{self.put_query} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Content-Length: {len(data)}\r\n\r\n").encode() + data

    @staticmethod
    def read_answer(answers, name: str) -> None:
        first = answers.readline()
        length = 0
        while (line := answers.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answers.read(length)
        if first.split()[1:2] != [b"200"]:
            raise RuntimeError(f"{name}: {first!r}")

    def get(self, name: str) -> bytes:
        with urllib.request.urlopen(self.url(name), timeout=60) as answer:
            return answer.read()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Leat(Server):
    name = "Leat"

    def __init__(self, binary: Path, directory: Path, durability: str = "disk") -> None:
        super().__init__()
        directory.mkdir(parents=True)
        self.directory = directory
        self.durability = durability
        self.start(binary, "serve", "--data", directory / "store", "--listen",
                   f"127.0.0.1:{self.port}", "--threads", 1, "--anonymous", "write", "--keys",
                   directory / "keys")
        wait_for(self.root)
        self.path = "/bench"
        request = urllib.request.Request(
            f"{self.root}/leat/v1/buckets/bench?durability={durability}", method="PUT",
            headers={"x-leat-request": "1"})
        urllib.request.urlopen(request).close()

    def put_blocks(self, name: str, block: bytes, count: int) -> None:
        """An object of the same block again and again."""
        request = urllib.request.Request(self.url(name), method="PUT",
                                         data=(block for _ in range(count)),
                                         headers={"Content-Length": str(count * len(block))})
        urllib.request.urlopen(request, timeout=600).close()


class Redis(Server):
    name = "Redis"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        directory.mkdir(parents=True)
        self.start("redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "",
                   "--dir", directory)
        wait_for_port(self.port)

    def put_message(self, name: str, data: bytes) -> bytes:
        return b"*4\r\n$4\r\nHSET\r\n$7\r\nsamples\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (
            len(name), name.encode(), len(data), data)

    @staticmethod
    def read_answer(answers, name: str) -> None:
        if not answers.readline().startswith(b":"):
            raise RuntimeError(name)


class Nginx(Server):
    name = "nginx"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.files = directory / "files"
        self.files.mkdir(parents=True)
        configuration = directory / "nginx.conf"
        configuration.write_text(f"""
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log stderr crit; user root;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  open_file_cache max=100000 inactive=1h; open_file_cache_valid 1h;
  client_body_temp_path {directory}/body;
  server {{ listen 127.0.0.1:{self.port}; root {self.files}; }}
}}
""")
        self.start("nginx", "-c", configuration)
        wait_for(self.root)

    def put(self, name: str, data: bytes) -> None:
        (self.files / name).write_bytes(data)


class Minio(Server):
    name = "MinIO"

    def __init__(self, binary: Path, directory: Path) -> None:
        super().__init__()
        data = directory / "data"
        data.mkdir(parents=True)
        environment = os.environ | {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET,
                                    "MINIO_UPDATE": "off", "MINIO_BROWSER": "off",
                                    "MINIO_CI_CD": "1", "GOMAXPROCS": "2"}
        self.path = "/bench"
        self.start(binary, "server", "--address", f"127.0.0.1:{self.port}", data, env=environment)
        wait_for(f"{self.root}/minio/health/ready")
        # curl signs; afterwards everybody may read and write, so that signing costs nobody anything.
        policy = ('{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",'
                  '"Action":["s3:GetObject","s3:PutObject"],"Resource":["arn:aws:s3:::bench/*"]}]}')
        self.signed("PUT", self.base)
        self.signed("PUT", f"{self.base}?policy=", policy)

    def signed(self, method: str, url: str, body: str = "") -> None:
        import hashlib
        digest = hashlib.sha256(body.encode()).hexdigest()
        subprocess.run(["curl", "-sf", "-X", method, "--aws-sigv4", "aws:amz:us-east-1:s3",
                        "--user", f"{KEY}:{SECRET}", "-H", f"x-amz-content-sha256: {digest}",
                        "--data-binary", body, url], check=True, stdout=subprocess.DEVNULL)


class AIStore(Server):
    """Asked at its target, which answers without a redirect."""

    name = "AIStore"

    def __init__(self, peers: Path, directory: Path) -> None:
        super().__init__()
        ports = [free_port() for _ in range(3)] + [self.port] + [free_port() for _ in range(2)]
        proxy = f"http://127.0.0.1:{ports[0]}"
        (directory / "data").mkdir(parents=True)
        for role, role_ports in (("proxy", ports[:3]), ("target", ports[3:])):
            self.start_node(peers, directory, role, role_ports, proxy)
            time.sleep(2)
        wait_for(f"{self.root}/v1/health")
        request = urllib.request.Request(f"{proxy}/v1/buckets/bench?provider=ais", method="POST",
                                         data=b'{"action":"create-bck"}',
                                         headers={"Content-Type": "application/json"})
        for attempt in range(30):
            try:
                urllib.request.urlopen(request).close()
                break
            except OSError:
                if attempt == 29:
                    raise
                time.sleep(1)
        self.path = "/v1/objects/bench"
        # A target takes writes by its proxy's redirect only, whose query says which proxy it was.
        shown = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{redirect_url}", "-X",
                                "PUT", f"{proxy}{self.path}/first?provider=ais"], check=True,
                               capture_output=True, text=True).stdout
        self.put_query = "?" + shown.split("?", 1)[1]
        self.batch_port = ports[0]
        wait_for_batches(f"{proxy}/v1/ml/moss/bench?provider=ais")

    def start_node(self, peers: Path, directory: Path, role: str, ports: list[int],
                   proxy: str) -> None:
        node = directory / role
        node.mkdir()
        environment = os.environ | {
            "AIS_CONF_FILE": f"{node}/ais.json", "AIS_LOCAL_CONF_FILE": f"{node}/local.json",
            "AIS_CONF_DIR": str(node), "AIS_LOG_DIR": f"{node}/log",
            "HOSTNAME_LIST": "127.0.0.1", "HOSTNAME_LIST_INTRA_CONTROL": "127.0.0.1",
            "HOSTNAME_LIST_INTRA_DATA": "127.0.0.1", "AIS_PRIMARY_URL": proxy,
            "PORT": str(ports[0]), "PORT_INTRA_CONTROL": str(ports[1]),
            "PORT_INTRA_DATA": str(ports[2]), "TEST_FSPATH_COUNT": "0",
            "AIS_FS_PATHS": f'"{directory}/data": ""', "AIS_USE_HTTPS": "false",
            "AIS_BACKEND_PROVIDERS": "", "AIS_HTTP_CHUNKED_TRANSFER": "true"}
        script = peers.resolve() / "aistore/deploy/dev/local/aisnode_config.sh"
        subprocess.run(["bash", "-c", f"source {script.parent}/../utils.sh; source {script}"],
                       env=environment, check=True, cwd=script.parent, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        arguments = [f"-config={node}/ais.json", f"-local_config={node}/local.json",
                     f"-role={role}"]
        if role == "proxy":
            arguments.append("-ntargets=1")
        self.start(peers / "aisnode", *arguments, env=environment)


def wait_for_batches(url: str, seconds: float = 60) -> None:
    """Until AIStore's target is ready for them; it says 503 for a while."""
    body = b'{"mime":".tar","in":[{"objname":"none"}],"coer":true,"strm":true}'
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="GET", data=body)).close()
            return
        except urllib.error.HTTPError as error:
            if error.code != 503:  # a redirect that this client does not follow with a body
                return
        time.sleep(0.5)
    raise RuntimeError(f"AIStore is not ready for batches after {seconds} s")


PEERS = ("nginx", "redis", "minio", "aistore")


def available(peers: Path) -> list[str]:
    found = {"nginx": shutil.which("nginx"), "redis": shutil.which("redis-server"),
             "minio": (peers / "minio").exists(), "aistore": (peers / "aisnode").exists()}
    return [name for name in PEERS if found[name]]
