/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Bulk TCP flows over the links of a scenario file, and what became of them:
//
//   clift-bulk --scenario=geo.toml --congestion=cubic --duration=100 --json
//
// With --rate, --delay and --queue in the place of --scenario it runs over ns-3's own
// PointToPointNetDevice, to compare the two.

#include "ns3/applications-module.h"
#include "ns3/clift-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

/// What happened to the flows.
struct Counts
{
    uint64_t sent{0};            //!< Segments with data.
    uint64_t retransmissions{0}; //!< Of those, sent before.
    uint64_t timeouts{0};        //!< Entries into the state of loss.
    uint64_t delivered{0};       //!< Packets that came out of the link.
    uint64_t lost{0};            //!< Packets that the link lost.
    uint64_t dropped{0};         //!< Packets that found its queue full.
    double delay{0};             //!< Sum of times within the link, in s.
    uint64_t wanted{0};          //!< Bytes of each transfer; 0: no end.
    uint32_t open{0};            //!< Flows that are not complete.
};

/// What happened to one flow.
struct Flow
{
    uint64_t received{0};     //!< Bytes that the receiver's application has.
    double completion{-1};    //!< When it had them all, in s.
    SequenceNumber32 next{1}; //!< Behind what was sent so far.
};

Counts g_counts;           //!< Of all flows.
std::vector<Flow> g_flows; //!< Of each flow.

void
CountSegment(uint32_t flow,
             Ptr<const Packet> packet,
             const TcpHeader& header,
             Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    ++g_counts.sent;
    SequenceNumber32& next = g_flows[flow].next;
    g_counts.retransmissions += header.GetSequenceNumber() < next;
    next = std::max(next, header.GetSequenceNumber() + packet->GetSize());
}

void
CountTimeout(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    g_counts.timeouts += state == TcpSocketState::CA_LOSS;
}

void
CountReceived(uint32_t number, Ptr<const Packet> packet, const Address&)
{
    Flow& flow = g_flows[number];
    flow.received += packet->GetSize();
    if (g_counts.wanted > 0 && flow.received >= g_counts.wanted && flow.completion < 0)
    {
        flow.completion = Simulator::Now().GetSeconds();
        if (--g_counts.open == 0)
        {
            Simulator::Stop();
        }
    }
}

void
CountDelivered(Ptr<const Packet>, Time delay)
{
    ++g_counts.delivered;
    g_counts.delay += delay.GetSeconds();
}

void
CountLost(Ptr<const Packet>)
{
    ++g_counts.lost;
}

void
CountDropped(Ptr<const Packet>)
{
    ++g_counts.dropped;
}

void
Watch(uint32_t flow, Ptr<BulkSendApplication> source)
{
    auto socket = DynamicCast<TcpSocketBase>(source->GetSocket());
    socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountSegment, flow));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&CountTimeout));
}

/**
 * \param text any
 * \return it as a JSON string
 */
std::string
Quoted(const std::string& text)
{
    std::ostringstream out;
    out << '"';
    for (const unsigned char c : text)
    {
        if (c == '"' || c == '\\')
        {
            out << '\\' << c;
        }
        else if (c < 0x20)
        {
            out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << int(c) << std::dec;
        }
        else
        {
            out << c;
        }
    }
    out << '"';
    return out.str();
}

/**
 * \param value a number that there may not be
 * \param there whether it is there
 * \return it as JSON
 */
std::string
Number(double value, bool there)
{
    std::ostringstream out;
    out << std::setprecision(12) << value;
    return there && std::isfinite(value) ? out.str() : "null";
}

/**
 * \param why what is wrong on the command line
 * \return the exit code
 */
int
Wrong(const std::string& why)
{
    std::cerr << "error: " << why << std::endl;
    return 2;
}

} // namespace

int
main(int argc, char* argv[])
{
    // ns-3 cuts what it reads into a string at the first blank.
    std::array<char, 4096> scenarioText{};
    std::array<char, 4096> changesText{};
    std::array<char, 4096> pcapText{};
    std::string seed;
    std::string congestion = "cubic";
    double duration = 100;
    uint32_t flows = 1;
    uint32_t packetBytes = 1500;
    uint32_t initialWindow = 10;
    uint32_t windowPackets = 0;
    bool delayedAck = false;
    std::string minRto = "1s";
    bool queueDisc = false;
    std::string rate;
    std::string delay = "0ms";
    std::string queue = "100p";
    bool json = false;

    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario",
                 "the scenario file of the links",
                 scenarioText.data(),
                 scenarioText.size());
    cmd.AddValue("changes",
                 "keys of it to set, \"key=value;key=value\"",
                 changesText.data(),
                 changesText.size());
    cmd.AddValue("seed", "seed of the links' draws; the file's own unless given", seed);
    cmd.AddValue("congestion",
                 "newreno (ns-3's TcpLinuxReno), cubic, hybla, westwood, bbr, or a type of ns-3's",
                 congestion);
    cmd.AddValue("duration", "simulated time in seconds", duration);
    cmd.AddValue("flows", "number of flows, all from time 0", flows);
    cmd.AddValue("bytes", "size of each transfer; 0: it has no end", g_counts.wanted);
    cmd.AddValue("packet", "bytes of a full IP packet", packetBytes);
    cmd.AddValue("initialWindow", "initial window in packets", initialWindow);
    cmd.AddValue("window", "both sockets' buffers in packets; 0: 16 MiB", windowPackets);
    cmd.AddValue("delayedAck", "whether every second segment is acknowledged", delayedAck);
    cmd.AddValue("minRto", "least retransmission timeout", minRto);
    cmd.AddValue("queueDisc", "whether ns-3's default queue disc waits above the link", queueDisc);
    cmd.AddValue("pcap",
                 "write captures of both devices, with this prefix",
                 pcapText.data(),
                 pcapText.size());
    cmd.AddValue("rate", "instead of a scenario: rate of a PointToPointNetDevice", rate);
    cmd.AddValue("delay", "its one-way delay", delay);
    cmd.AddValue("queue", "its queue", queue);
    cmd.AddValue("json", "print JSON", json);
    cmd.Parse(argc, argv);
    const std::string scenario = scenarioText.data();
    const std::string changes = changesText.data();
    const std::string pcap = pcapText.data();

    const std::map<std::string, std::string> names = {{"newreno", "TcpLinuxReno"},
                                                      {"reno", "TcpLinuxReno"},
                                                      {"cubic", "TcpCubic"},
                                                      {"hybla", "TcpHybla"},
                                                      {"westwood", "TcpWestwoodPlus"},
                                                      {"bbr", "TcpBbr"}};
    const auto named = names.find(congestion);
    const std::string variant = named == names.end() ? congestion : named->second;
    TypeId type;
    // ns-3.37's TcpCubic calls itself a socket, so that only an object of it tells what it is.
    if (!TypeId::LookupByNameFailSafe("ns3::" + variant, &type) || !type.HasConstructor() ||
        !DynamicCast<TcpCongestionOps>(ObjectFactory("ns3::" + variant).Create()))
    {
        return Wrong("congestion \"" + congestion + "\": this ns-3 has no ns3::" + variant +
                     "; give newreno, cubic, hybla, westwood or bbr");
    }
    if (scenario.empty() == rate.empty())
    {
        return Wrong("give either --scenario=FILE or --rate=RATE");
    }
    if (!(duration > 0) || duration > 1e9)
    {
        return Wrong("duration: give seconds, more than 0 and at most 1e9");
    }
    if (flows < 1 || flows > 10000)
    {
        return Wrong("flows: give 1 to 10000");
    }
    if (packetBytes < 100 || packetBytes > 65535)
    {
        return Wrong("packet: give 100 to 65535 bytes");
    }
    if (!seed.empty() && seed.find_first_not_of("0123456789") != std::string::npos)
    {
        return Wrong("seed \"" + seed + "\": give a whole number");
    }
    if (!scenario.empty())
    {
        if (const auto error = CliftHelper::Check(scenario, changes); !error.empty())
        {
            return Wrong(error);
        }
    }

    // 20 bytes each of IP and TCP, 12 of timestamps.
    const uint32_t segment = packetBytes - 52;
    const uint32_t buffer = windowPackets > 0 ? windowPackets * segment : 1 << 24;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayedAck ? 2 : 1));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(minRto));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));

    NodeContainer nodes(2);
    NetDeviceContainer devices;
    if (!scenario.empty())
    {
        CliftHelper clift;
        clift.SetDeviceAttribute("Changes", StringValue(changes));
        clift.SetDeviceAttribute("Mtu", UintegerValue(packetBytes));
        if (!seed.empty())
        {
            clift.SetDeviceAttribute("Seed", StringValue(seed));
        }
        if (!queueDisc)
        {
            clift.DisableFlowControl();
        }
        devices = clift.Install(nodes.Get(0), nodes.Get(1), scenario);
        auto device = devices.Get(0);
        device->TraceConnectWithoutContext("Delivered", MakeCallback(&CountDelivered));
        device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&CountDropped));
        devices.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountLost));
        if (!pcap.empty())
        {
            clift.EnablePcapAll(pcap);
        }
    }
    else
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetDeviceAttribute("Mtu", UintegerValue(packetBytes));
        link.SetChannelAttribute("Delay", StringValue(delay));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
        if (!queueDisc)
        {
            link.DisableFlowControl();
        }
        devices = link.Install(nodes);
        devices.Get(0)->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&CountDropped));
        if (!pcap.empty())
        {
            link.EnablePcapAll(pcap);
        }
    }
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    g_flows.resize(flows);
    g_counts.open = flows;
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        const auto port = static_cast<uint16_t>(9 + flow);
        InetSocketAddress to(interfaces.GetAddress(1), port);
        BulkSendHelper source("ns3::TcpSocketFactory", to);
        source.SetAttribute("MaxBytes", UintegerValue(g_counts.wanted));
        ApplicationContainer sources = source.Install(nodes.Get(0));
        sources.Start(Seconds(0));
        InetSocketAddress any(Ipv4Address::GetAny(), port);
        PacketSinkHelper sink("ns3::TcpSocketFactory", any);
        ApplicationContainer sinks = sink.Install(nodes.Get(1));
        sinks.Start(Seconds(0));
        sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&CountReceived, flow));
        auto sender = DynamicCast<BulkSendApplication>(sources.Get(0));
        Simulator::Schedule(NanoSeconds(1), &Watch, flow, sender);
    }

    Simulator::Stop(Seconds(duration));
    Simulator::Run();

    const Counts& counts = g_counts;
    double last = 0;
    double total = 0;
    uint64_t received = 0;
    std::string goodputs;
    for (const Flow& flow : g_flows)
    {
        const double kbps =
            flow.received * 8e-3 / (flow.completion > 0 ? flow.completion : duration);
        last = std::max(last, flow.completion);
        total += kbps;
        received += flow.received;
        goodputs += (goodputs.empty() ? "" : ", ") + Number(kbps, true);
    }
    const bool complete = counts.open == 0;
    const double seconds = complete ? last : duration;
    const std::string goodput = Number(total, true);
    const std::string delayMs =
        Number(counts.delay * 1e3 / counts.delivered, !scenario.empty() && counts.delivered > 0);
    const std::string completion = Number(last, complete);
    if (json)
    {
        std::cout << "{\"host\": \"ns-3\", \"version\": " << Quoted(NS3_VERSION_TEXT)
                  << ", \"congestion\": " << Quoted(variant) << ", \"duration_s\": " << seconds
                  << ", \"goodput_kbps\": " << goodput << ", \"goodputs_kbps\": [" << goodputs
                  << "], \"bytes\": " << received
                  << ", \"completion_s\": " << completion << ", \"segments\": " << counts.sent
                  << ", \"retransmissions\": " << counts.retransmissions
                  << ", \"timeouts\": " << counts.timeouts << ", \"packet_delay_ms\": " << delayMs
                  << ", \"delivered\": " << counts.delivered << ", \"lost\": " << counts.lost
                  << ", \"dropped\": " << counts.dropped << "}" << std::endl;
    }
    else
    {
        std::cout << "goodput " << goodput << " kbit/s, " << received << " bytes in "
                  << seconds << " s\n"
                  << counts.sent << " segments, " << counts.retransmissions
                  << " of them sent again, " << counts.timeouts << " timeouts\n"
                  << counts.delivered << " packets through the link in " << delayMs
                  << " ms on average, " << counts.lost << " lost, " << counts.dropped
                  << " dropped by its queue" << std::endl;
    }
    Simulator::Destroy();
}
