/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// TCP over the link of a scenario file, in as few lines as that takes:
//
//   clift-first SCENARIO.toml

#include "ns3/applications-module.h"
#include "ns3/clift-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    const std::string scenario = argc == 2 ? argv[1] : "";
    if (const auto error = CliftHelper::Check(scenario); !error.empty())
    {
        std::cerr << "error: " << error << std::endl;
        return 2;
    }

    NodeContainer nodes(2);
    CliftHelper clift;
    clift.DisableFlowControl(); // the link's queue is the only one
    NetDeviceContainer devices = clift.Install(nodes.Get(0), nodes.Get(1), scenario);

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));

    Simulator::Stop(Seconds(20));
    Simulator::Run();
    std::cout << "received " << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() << " bytes\n"
              << DynamicCast<CliftNetDevice>(devices.Get(0))->GetReport() << std::endl;
    Simulator::Destroy();
}
