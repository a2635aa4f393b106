"""The C interface: a program under sanitizers, and links that give what they give in Python."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import clift

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "bindings" / "c" / "tests" / "program.c"
LIBRARIES = ["-lpthread", "-ldl", "-lm"]

pytestmark = pytest.mark.skipif(
    not (ROOT / "target/c/libclift.a").exists() or shutil.which("cc") is None,
    reason="skipped: the C interface is not built (`make c`) or there is no C compiler",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program with the static library, under sanitizers."""
    made = tmp_path_factory.mktemp("c") / "program"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=undefined", "-I", str(ROOT / "target/c")]
    command = ["cc", *flags, str(PROGRAM), str(ROOT / "target/c/libclift.a"), *LIBRARIES]
    subprocess.run([*command, "-o", str(made)], check=True)
    return made


def test_every_function_does_what_the_header_says(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all checks passed\n", "")


def pkg_config(*arguments: str) -> list[str]:
    if shutil.which("pkg-config") is None:
        pytest.skip("skipped: there is no pkg-config")
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(ROOT / "target/c")}
    command = ["pkg-config", *arguments, "--cflags", "--libs", "clift"]
    asked = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return asked.stdout.split()


def test_a_static_program_is_linked_by_what_pkg_config_says(tmp_path: Path) -> None:
    made = tmp_path / "program"
    flags = ["cc", "-std=c11", "-static", str(PROGRAM), *pkg_config("--static")]
    subprocess.run([*flags, "-o", str(made)], check=True)
    subprocess.run([made], check=True, stdout=subprocess.DEVNULL)


def test_the_shared_library_is_found_by_pkg_config_and_exports_nothing_else(
    tmp_path: Path,
) -> None:
    made = tmp_path / "program"
    flags = ["cc", "-std=c11", str(PROGRAM), *pkg_config(), "-o", str(made)]
    subprocess.run([*flags, "-Wl,-rpath," + str(ROOT / "target/c")], check=True)
    subprocess.run([made], check=True, stdout=subprocess.DEVNULL)
    # A program names the library with the version of the interface.
    [abi] = re.findall(r"^#define CLIFT_ABI (\d+)$", (ROOT / "target/c/clift.h").read_text(), re.M)
    needs = subprocess.run(["readelf", "-d", made], check=True, capture_output=True, text=True)
    assert f"[libclift.so.{abi}]" in needs.stdout
    command = ["nm", "-D", "--defined-only", str(ROOT / "target/c/libclift.so")]
    symbols = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in symbols.splitlines()]
    assert names
    assert all(name.startswith("clift_") for name in names)
    header = (ROOT / "target/c/clift.h").read_text()
    assert all(f"{name}(" in header for name in names)


SCENARIOS = {
    "none": 'scheme = "none"',
    "fec": 'scheme = "FEC(10/12)"',
    "arq": 'scheme = "ARQ"',
    "harq": 'scheme = "HARQ(10/12)"',
    "live": 'scheme = "HARQ(10/12)"\nlink.live = true',
    "live_arq": 'scheme = "ARQ(max 2)"\nlink.live = true',
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_fates_are_those_of_deliver(name: str, program: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "x.toml"
    text = f"""
duration = "30 s"
{SCENARIOS[name]}
link.rtt = "60 ms"
link.queue = "9 packets"
[channel]
model = "gilbert-elliott"
erasures = "5 %"
burst = 10
rate = "1 Mbit/s"
lldu = "250 B"
decoding = "2 ms"
seed = 4
"""
    scenario.write_text(text)
    gap, count = 8_100_000, 3000
    command = [program, "fates", scenario, "1", str(gap), "1000", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = np.array([line.split() for line in done.stdout.splitlines()], dtype=np.int64)

    slots = 30 * 1_000_000_000 // 2_000_000
    phy = clift.channel.gilbert_elliott(
        slots=slots,
        slot_ns=2_000_000,
        p=0.05,
        burst=10,
        decode_ns=2_000_000,
        seed=4,
        lldu_bytes=250,
    )
    scheme = {
        "none": clift.NoScheme(),
        "fec": clift.Fec(10, 12),
        "arq": clift.Arq(),
        "harq": clift.Harq2(10, 12),
        "live": clift.Harq2(10, 12),
        "live_arq": clift.Arq(2),
    }[name]
    if name.startswith("live"):
        link: clift.LinkTrace | clift.LiveLink = clift.LiveLink(phy, scheme, rtt_ms=60)
    else:
        link = clift.tmt.apply(phy, scheme, rtt_ms=60)
    arrivals = np.arange(count, dtype=np.int64) * gap
    delivered, fate = clift.deliver(link, arrivals, packet_bytes=1000, queue_packets=9)
    assert np.array_equal(rows[:, 1], fate)
    reached = fate == 0
    assert reached.sum() > 1000
    assert np.array_equal(rows[reached, 2], delivered[reached])


def test_an_invalid_scenario_gives_one_line(program: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "x.toml"
    scenario.write_text('[link]\nrat = "1 s"\n')
    command = [program, "fates", scenario, "1", "1000", "1000", "10"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {scenario} line 2: link.rat: unknown key")
    assert done.stderr.count("\n") == 1
