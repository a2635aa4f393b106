// Flows over a network of point-to-point links, which validation/networks_ns3.py describes on stdin:
//   link A B RATE_BPS DELAY_NS QUEUE_PACKETS    both directions alike; nodes are numbers
//   udp PAYLOAD NODES... : TIMES_NS...          a datagram at each of these times, along these nodes
//   tcp TcpCubic START_NS NODES... :            a bulk flow along these nodes
//   end SECONDS
// Prints for each datagram that arrives its flow, number and time in ns, and for each bulk flow its
// bytes at the receiver. The last node of a flow is the last of no other one.
#include "tcp.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Place
{
    uint32_t interface;
    Ipv4Address address;
};

NodeContainer g_nodes;
std::map<std::pair<uint32_t, uint32_t>, Place> g_places; // of the first node, towards the second

void
Route(const std::vector<uint32_t>& path)
{
    const Ipv4Address to = g_places.at({path.back(), path[path.size() - 2]}).address;
    for (size_t i = 0; i + 1 < path.size(); ++i)
    {
        auto ipv4 = g_nodes.Get(path[i])->GetObject<Ipv4>();
        const Ipv4Address next = g_places.at({path[i + 1], path[i]}).address;
        const uint32_t out = g_places.at({path[i], path[i + 1]}).interface;
        Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->AddHostRouteTo(to, next, out);
    }
}

void
Send(Ptr<Socket> socket, InetSocketAddress to, uint32_t number, uint32_t payload)
{
    std::vector<uint8_t> bytes(payload);
    std::copy_n(reinterpret_cast<uint8_t*>(&number), sizeof number, bytes.begin());
    socket->SendTo(Create<Packet>(bytes.data(), payload), 0, to);
}

void
Receive(uint32_t flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        uint32_t number = 0;
        packet->CopyData(reinterpret_cast<uint8_t*>(&number), sizeof number);
        std::cout << flow << ' ' << number << ' ' << Simulator::Now().GetNanoSeconds() << '\n';
    }
}

} // namespace

int
main()
{
    SetTcp();

    std::map<uint32_t, Ptr<PacketSink>> sinks;
    std::vector<Ptr<Socket>> sockets;
    uint32_t flow = 0;
    uint32_t subnet = 0;
    std::string line;
    while (std::getline(std::cin, line))
    {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "nodes")
        {
            uint32_t count;
            words >> count;
            g_nodes.Create(count);
            InternetStackHelper().Install(g_nodes);
        }
        else if (kind == "link")
        {
            uint32_t a;
            uint32_t b;
            uint64_t rate;
            uint64_t delay;
            std::string queue;
            words >> a >> b >> rate >> delay >> queue;
            PointToPointHelper link;
            link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
            link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
            link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue + "p"));
            NetDeviceContainer devices = link.Install(g_nodes.Get(a), g_nodes.Get(b));
            Ipv4AddressHelper addresses(Ipv4Address(0x0a000000 + 4 * subnet++), "255.255.255.252");
            Ipv4InterfaceContainer own = addresses.Assign(devices);
            // Assign() puts an AQM in front of the device's queue.
            TrafficControlHelper().Uninstall(devices);
            g_places[{a, b}] = {own.Get(0).second, own.GetAddress(0)};
            g_places[{b, a}] = {own.Get(1).second, own.GetAddress(1)};
        }
        else if (kind == "udp" || kind == "tcp")
        {
            uint32_t payload = 0;
            uint64_t start = 0;
            std::string control;
            if (kind == "udp")
            {
                words >> payload;
            }
            else
            {
                words >> control >> start;
            }
            std::vector<uint32_t> path;
            std::string word;
            while (words >> word && word != ":")
            {
                path.push_back(std::stoul(word));
            }
            Route(path);
            const Ipv4Address to = g_places.at({path.back(), path[path.size() - 2]}).address;
            const uint16_t port = 1000 + flow;
            const InetSocketAddress remote(to, port);
            if (kind == "udp")
            {
                auto sink = Socket::CreateSocket(g_nodes.Get(path.back()), UdpSocketFactory::GetTypeId());
                sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
                sink->SetRecvCallback(MakeBoundCallback(&Receive, flow));
                auto source = Socket::CreateSocket(g_nodes.Get(path[0]), UdpSocketFactory::GetTypeId());
                sockets.insert(sockets.end(), {sink, source});
                uint64_t at;
                for (uint32_t number = 0; words >> at; ++number)
                {
                    Simulator::Schedule(NanoSeconds(at), &Send, source, remote, number, payload);
                }
            }
            else
            {
                Route({path.rbegin(), path.rend()});
                std::ostringstream node;
                node << "/NodeList/" << path[0] << "/$ns3::TcpL4Protocol/SocketType";
                Config::Set(node.str(), TypeIdValue(TypeId::LookupByName("ns3::" + control)));
                BulkSendHelper source("ns3::TcpSocketFactory", remote);
                source.Install(g_nodes.Get(path[0])).Start(NanoSeconds(start));
                PacketSinkHelper sink("ns3::TcpSocketFactory",
                                      InetSocketAddress(Ipv4Address::GetAny(), port));
                ApplicationContainer there = sink.Install(g_nodes.Get(path.back()));
                there.Start(Seconds(0));
                sinks[flow] = DynamicCast<PacketSink>(there.Get(0));
            }
            ++flow;
        }
        else if (kind == "end")
        {
            double seconds;
            words >> seconds;
            Simulator::Stop(Seconds(seconds));
        }
    }
    Simulator::Run();
    for (const auto& [number, sink] : sinks)
    {
        std::cout << number << " bytes " << sink->GetTotalRx() << '\n';
    }
    Simulator::Destroy();
}
