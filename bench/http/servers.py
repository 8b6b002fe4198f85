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


class Server:
    """A process (or several) with a URL below which an object has its name as its path."""

    name = ""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen] = []
        self.base = ""

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
        request = urllib.request.Request(self.url(name), data=data, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

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

    def __init__(self, binary: Path, directory: Path, threads: int = 1, durability="disk") -> None:
        super().__init__()
        port = free_port()
        directory.mkdir(parents=True)
        self.root = f"http://127.0.0.1:{port}"
        self.base = f"{self.root}/bench"
        self.start(binary, "serve", "--data", directory / "store", "--listen", f"127.0.0.1:{port}",
                   "--threads", threads, "--anonymous", "write", "--keys", directory / "keys")
        wait_for(self.root)
        request = urllib.request.Request(self.base, method="PUT",
                                         headers={"x-leat-durability": durability})
        urllib.request.urlopen(request).close()


class Nginx(Server):
    name = "nginx"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        port = free_port()
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
  server {{ listen 127.0.0.1:{port}; root {self.files}; }}
}}
""")
        self.base = f"http://127.0.0.1:{port}"
        self.start("nginx", "-c", configuration)
        wait_for(self.base)

    def put(self, name: str, data: bytes) -> None:
        (self.files / name).write_bytes(data)


class Minio(Server):
    name = "MinIO"

    def __init__(self, binary: Path, directory: Path) -> None:
        super().__init__()
        port = free_port()
        data = directory / "data"
        data.mkdir(parents=True)
        environment = os.environ | {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET,
                                    "MINIO_UPDATE": "off", "MINIO_BROWSER": "off",
                                    "MINIO_CI_CD": "1", "GOMAXPROCS": "2"}
        root = f"http://127.0.0.1:{port}"
        self.base = f"{root}/bench"
        self.start(binary, "server", "--address", f"127.0.0.1:{port}", data, env=environment)
        wait_for(f"{root}/minio/health/ready")
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
        ports = [free_port() for _ in range(6)]
        proxy = f"http://127.0.0.1:{ports[0]}"
        (directory / "data").mkdir(parents=True)
        for role, role_ports in (("proxy", ports[:3]), ("target", ports[3:])):
            self.start_node(peers, directory, role, role_ports, proxy)
            time.sleep(2)
        target = f"http://127.0.0.1:{ports[3]}"
        wait_for(f"{target}/v1/health")
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
        self.target = target
        self.proxy = proxy
        self.base = f"{target}/v1/objects/bench"

    def put(self, name: str, data: bytes) -> None:
        # A target takes writes by its proxy's redirect only.
        subprocess.run(["curl", "-sfL", "-X", "PUT", "--data-binary", "@-",
                        f"{self.proxy}/v1/objects/bench/{name}?provider=ais"], input=data,
                       check=True, stdout=subprocess.DEVNULL)

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
        script = peers / "aistore/deploy/dev/local/aisnode_config.sh"
        subprocess.run(["bash", "-c", f"source {script}"], env=environment, check=True,
                       cwd=script.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        arguments = [f"-config={node}/ais.json", f"-local_config={node}/local.json",
                     f"-role={role}"]
        if role == "proxy":
            arguments.append("-ntargets=1")
        self.start(peers / "aisnode", *arguments, env=environment)


def available(peers: Path) -> list[str]:
    names = []
    if shutil.which("nginx"):
        names.append("nginx")
    if (peers / "minio").exists():
        names.append("minio")
    if (peers / "aisnode").exists():
        names.append("aistore")
    return names
