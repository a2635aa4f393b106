# SPDX-License-Identifier: GPL-2.0-only
"""TCP over the link of a scenario file, from Python.

    target/ns3/venv/bin/python clift-first.py --build target/ns3/3.44 geo.toml

The Python is one that has the wheel ns3; the build is the folder that the module was built in.
"""

import argparse
import json
import sys
from pathlib import Path

import cppyy
from ns import ns


def main() -> int:
    """Runs it; returns the exit code."""
    parser = argparse.ArgumentParser(description="TCP over the link of a scenario file")
    parser.add_argument("scenario", help="the scenario file")
    parser.add_argument("--build", required=True, type=Path, help="where the module was built")
    parser.add_argument("--seed", help="seed of the link's draws; the file's own unless given")
    parser.add_argument("--seconds", type=float, default=20, help="simulated time")
    options = parser.parse_args()

    # What `from ns import ns` does for ns-3's own modules.
    build = options.build.resolve()
    cppyy.add_include_path(str(build / "include"))
    cppyy.load_library(str(build / "libns3-clift.so"))
    cppyy.include("ns3/clift-module.h")

    error = str(ns.CliftHelper.Check(options.scenario))
    if error:
        sys.stderr.write(f"error: {error}\n")
        return 2

    nodes = ns.NodeContainer()
    nodes.Create(2)
    clift = ns.CliftHelper()
    clift.DisableFlowControl()  # the link's queue is the only one
    if options.seed is not None:
        clift.SetDeviceAttribute("Seed", ns.StringValue(options.seed))
    devices = clift.Install(nodes.Get(0), nodes.Get(1), options.scenario)

    ns.InternetStackHelper().Install(nodes)
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = addresses.Assign(devices)

    factory = "ns3::TcpSocketFactory"
    there = ns.InetSocketAddress(interfaces.GetAddress(1), 9).ConvertTo()
    source = ns.BulkSendHelper(factory, there)
    source.Install(nodes.Get(0)).Start(ns.Seconds(0))
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 9).ConvertTo()
    sinks = ns.PacketSinkHelper(factory, here).Install(nodes.Get(1))
    sinks.Start(ns.Seconds(0))

    ns.Simulator.Stop(ns.Seconds(options.seconds))
    ns.Simulator.Run()
    received = sinks.Get(0).__deref__().GetTotalRx()
    device = devices.Get(0).__deref__()
    result = {"received": received, "hops": json.loads(str(device.GetReport()))}
    sys.stdout.write(json.dumps(result) + "\n")
    ns.Simulator.Destroy()
    return 0


if __name__ == "__main__":
    sys.exit(main())
