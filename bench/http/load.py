"""Requests at a rate that the server sets: wrk, and what it showed."""

import dataclasses
import re
import subprocess
import tempfile

import servers

KIB = 1024
MIB = 1024 * KIB
SIZES = {"4KiB": 4 * KIB, "100KiB": 100 * KIB, "1MiB": MIB, "10MiB": 10 * MIB}
COUNTS = {"4KiB": 2000, "100KiB": 2000, "1MiB": 200, "10MiB": 20}

RANDOM_GETS = """
local requests = {{}}
init = function(arguments)  -- before it, wrk does not know the host
  for i = 0, {count} - 1 do requests[i] = wrk.format("GET", "{path}/{size}-" .. i) end
  math.randomseed({seed})
end
request = function() return requests[math.random({count}) - 1] end
"""

NEW_PUTS = """
local body = string.rep("x", {bytes})
local n = 0
math.randomseed({seed})
local salt = math.random(1000000000)
request = function()
  n = n + 1
  return wrk.format("PUT", "{path}/put-" .. salt .. "-" .. n .. "{query}", nil, body)
end
"""

# Large requests are made before: Lua gets no further than 25 of 10 MiB a second.
LARGE_PUTS = """
local requests = {{}}
local n = 0
init = function(arguments)
  local body = string.rep("x", {bytes})
  for i = 1, 24 do
    requests[i] = wrk.format("PUT", "{path}/put-{seed}-" .. i .. "{query}", nil, body)
  end
end
request = function()
  n = n % #requests + 1
  return requests[n]
end
"""

# What a day brings: reads, whole and in part, questions (not HEAD, which wrk does not understand),
# writes over few names, listings.
MIXED = """
local body = string.rep("y", 1000)
math.randomseed({seed})
request = function()
  local kind = math.random(20)
  local name = "{path}/4KiB-" .. math.random({count}) - 1
  if kind <= 12 then return wrk.format("GET", name) end
  if kind <= 14 then return wrk.format("GET", name, {{["Range"] = "bytes=100-1099"}}) end
  if kind <= 17 then return wrk.format("GET", name, {{["If-None-Match"] = "*"}}) end
  if kind <= 19 then return wrk.format("PUT", "{path}/mixed-" .. math.random(1000), nil, body) end
  return wrk.format("GET", "{path}?list-type=2&max-keys=10")
end
"""


def get_script(server: servers.Server, size: str, seed: int) -> str:
    return RANDOM_GETS.format(count=COUNTS[size], size=size, path=server.path, seed=seed)


def put_script(server: servers.Server, size: str, seed: int) -> str:
    script = NEW_PUTS if SIZES[size] < MIB else LARGE_PUTS
    return script.format(bytes=SIZES[size], path=server.path, query=server.put_query, seed=seed)


def mixed_script(server: servers.Server, seed: int) -> str:
    return MIXED.format(count=COUNTS["4KiB"], path=server.path, seed=seed)


@dataclasses.dataclass
class Load:
    """What one run of wrk showed."""
    requests: int
    requests_per_second: float
    cpu_us_per_request: float
    p99_us: float


def seconds_of(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}[unit]


def run_wrk(server: servers.Server, script: str, seconds: int, connections: int = 16) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        before = server.cpu_seconds()
        output = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", file.name,
             server.root], check=True, capture_output=True, text=True).stdout
        used = server.cpu_seconds() - before
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: .*", output)
    if errors:
        raise RuntimeError(f"{server.name}: {errors[0]}")
    requests = int(re.search(r"(\d+) requests in", output)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
    p99 = seconds_of(re.search(r"(?m)^\s+99%\s+(\S+)", output)[1])
    return Load(requests, rate, used / requests * 1e6, p99 * 1e6)
