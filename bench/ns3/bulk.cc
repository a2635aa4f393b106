// One or more bulk TCP flows over one point-to-point link: what `make bench` runs beside CLIFT.
// usage: bulk RATE_BPS RTT_MS SECONDS QUEUE_PACKETS WINDOW_PACKETS (not used) LOSS FLOWS TcpCubic|TcpLinuxReno
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

namespace
{

uint64_t g_packets = 0;

void
CountData(Ptr<const Packet> packet)
{
    // Acknowledgements are below 100 bytes.
    g_packets += packet->GetSize() > 100;
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 9)
    {
        std::cerr << "usage: bulk rate rtt seconds queue window loss flows tcp\n";
        return 2;
    }
    const auto rate = static_cast<uint64_t>(std::stod(argv[1]));
    const double rtt = std::stod(argv[2]) / 1e3;
    const double seconds = std::stod(argv[3]);
    const std::string queue = argv[4];
    const double loss = std::stod(argv[6]);
    const int flows = std::stoi(argv[7]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(std::string("ns3::") + argv[8]));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // Large socket buffers: ns-3.37 crashes in some runs whose window the buffers bound.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue + "p"));
    NetDeviceContainer devices = link.Install(nodes);
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetAttribute("ErrorRate", DoubleValue(loss));
        errors->SetAttribute("ErrorUnit", EnumValue(RateErrorModel::ERROR_UNIT_PACKET));
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Assign() puts an AQM in front of the device's queue.
    TrafficControlHelper().Uninstall(devices);

    for (int flow = 0; flow < flows; ++flow)
    {
        const uint16_t port = 1000 + flow;
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
    }
    devices.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountData));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << g_packets << std::endl;
    Simulator::Destroy();
}
