// One bulk TCP flow over one point-to-point link, with losses at given positions.
// usage: compare RATE_BPS RTT_MS SECONDS QUEUE_PACKETS TcpLinuxReno|TcpCubic [POSITION ...]
// Positions count the packets that arrive at the receiver, from 0: its SYN is packet 0.
// Build against ns-3.44: g++ -std=c++20 -O2 compare.cc -o compare -I... -L... and -lns3.44-NAME for
// NAME core, network, internet, point-to-point, applications, traffic-control, bridge and stats.
// Prints: bytes handed to the application, data packets sent, of those sent again, timeouts.
#include "tcp.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <list>

using namespace ns3;

namespace
{

uint64_t g_sent = 0;
uint64_t g_again = 0;
uint64_t g_timeouts = 0;
SequenceNumber32 g_next(1);

void
CountSegment(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    ++g_sent;
    g_again += header.GetSequenceNumber() < g_next;
    g_next = std::max(g_next, header.GetSequenceNumber() + packet->GetSize());
}

void
CountTimeout(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    g_timeouts += state == TcpSocketState::CA_LOSS;
}

void
Watch(Ptr<BulkSendApplication> source)
{
    auto socket = DynamicCast<TcpSocketBase>(source->GetSocket());
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&CountSegment));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&CountTimeout));
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc < 6)
    {
        std::cerr << "usage: compare rate rtt seconds queue tcp [positions]\n";
        return 2;
    }
    const auto rate = static_cast<uint64_t>(std::stod(argv[1]));
    const double rtt = std::stod(argv[2]) / 1e3;
    const std::string tcp = argv[5];
    std::list<uint32_t> positions;
    for (int i = 6; i < argc; ++i)
    {
        positions.push_back(std::stoul(argv[i]));
    }

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + tcp));
    SetTcp();

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::string(argv[4]) + "p"));
    NetDeviceContainer devices = link.Install(nodes);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))
        ->GetQueue()
        ->SetAttribute("MaxSize", StringValue("100000p"));
    auto errors = CreateObject<ReceiveListErrorModel>();
    errors->SetList(positions);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Assign() puts an AQM in front of the device's queue.
    TrafficControlHelper().Uninstall(devices);

    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    ApplicationContainer sources = source.Install(nodes.Get(0));
    sources.Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));
    Simulator::Schedule(NanoSeconds(1), &Watch, DynamicCast<BulkSendApplication>(sources.Get(0)));

    Simulator::Stop(Seconds(std::stod(argv[3])));
    Simulator::Run();
    std::cout << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() << ' ' << g_sent << ' ' << g_again
              << ' ' << g_timeouts << std::endl;
    Simulator::Destroy();
}
