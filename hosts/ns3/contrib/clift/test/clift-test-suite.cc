/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift.h"

#include "ns3/clift-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/test.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// Ether type of IPv4.
constexpr uint16_t IPV4 = 0x0800;

/// A channel for the links that have none of their own.
const std::string CHANNEL = "[channel]\nmodel = \"bernoulli\"\nerasures = \"5 %\"\n"
                            "rate = \"1 Mbit/s\"\nlldu = \"250 B\"\n";

/// A link by the scenario file that describes it.
struct Described
{
    std::string name; //!< What it is.
    std::string text; //!< Its part of the file.
    bool ownChannel;  //!< It needs no CHANNEL.
    bool streams;     //!< It must know what packets carry.
};

/// Links of every kind, and paths of several hops.
const std::vector<Described> LINKS = {
    {"none", "scheme = \"none\"\nlink.rtt = \"60 ms\"\n", false, false},
    {"fec", "scheme = \"FEC(10/12)\"\nlink.rtt = \"60 ms\"\n", false, false},
    {"arq", "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", queue = \"20 packets\" }\n", false, false},
    {"harq", "scheme = \"HARQ(10/12)\"\nlink.rtt = \"500 ms\"\n", false, false},
    {"overlap",
     "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", overlap = \"papers\" }\n",
     false,
     false},
    {"bytes", "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", packing = \"bytes\" }\n", false, false},
    {"live",
     "scheme = \"ARQ(max 3)\"\n"
     "link = { rtt = \"60 ms\", live = true, feedback_loss = \"5 %\" }\n",
     false,
     false},
    {"live harq",
     "scheme = \"HARQ(10/12)\"\nlink = { rtt = \"60 ms\", live = true, queue = \"9 packets\" }\n",
     false,
     false},
    {"buffer",
     "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", reorder = { packets = 20 } }\n",
     false,
     false},
    {"streams",
     "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", reorder = { packets = 20, key = \"tcp\" } }\n",
     false,
     true},
    {"hybrid",
     "[hybrid]\nk = 10\nn = 11\nframes = 60\nrate = \"2 Mbit/s\"\ndelay = \"40 ms\"\n"
     "loss = \"2 %\"\n",
     true,
     false},
    {"ntn", "[ntn]\nslot = \"1 ms\"\ntb = \"180 B\"\ndelay = \"20 ms\"\n", true, false},
    {"adaptive",
     "[adaptive_harq]\npreset = \"its\"\nsnr = \"10 dB\"\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n",
     true,
     false},
    {"legs",
     "[[path]]\nleg = { rate = \"2 Mbit/s\", delay = \"5 ms\", queue = \"10 packets\", loss = \"1 "
     "%\" "
     "}\n[[path]]\nleg = { rate = \"1 Mbit/s\", delay = \"9 ms\", queue = \"5 packets\" }\n",
     true,
     false},
    {"path",
     "[[path]]\nleg = { rate = \"3 Mbit/s\", delay = \"5 ms\", loss = \"1 %\" }\n"
     "[[path]]\nscheme = \"ARQ\"\nlink = { rtt = \"60 ms\", queue = \"6 packets\" }\n"
     "channel = { model = \"bernoulli\", erasures = \"5 %\", rate = \"1 Mbit/s\", lldu = \"250 B\" "
     "}\n[[path]]\nleg = { delay = \"3 ms\", lost_data = [7, 90] }\n",
     true,
     true},
};

/**
 * \param link a link
 * \return the text of a file that describes it
 */
std::string
Text(const Described& link)
{
    return "seed = 5\nduration = \"40 s\"\n" + link.text + (link.ownChannel ? "" : CHANNEL);
}

/// A packet that a test sends.
struct Arrival
{
    uint64_t at;    //!< When, in ns.
    uint32_t bytes; //!< Its size.
    uint64_t first; //!< The first byte of a stream that it carries.
    uint64_t end;   //!< Behind the last one.
};

/// What became of a packet.
struct Fate
{
    /// 0 delivered, 1 lost, 2 dropped, 3 on its way.
    int kind{3};
    uint64_t at{0};       //!< When, in ns.
    uint64_t departed{0}; //!< When it was told that it left the queue, in ns.

    /**
     * \param other another one
     * \return whether they differ
     */
    bool operator!=(const Fate& other) const
    {
        return kind != other.kind || at != other.at || departed != other.departed;
    }
};

/**
 * \param one fates
 * \param other fates of as many packets
 * \return how many packets have different fates
 */
uint64_t
Differ(const std::vector<Fate>& one, const std::vector<Fate>& other)
{
    uint64_t differ = 0;
    for (uint64_t i = 0; i < one.size(); ++i)
    {
        differ += one[i] != other[i];
    }
    return differ;
}

/**
 * \param link the link that they are for
 * \param seed decides about them
 * \return packets at about 0.9 Mbit/s, in bursts and at instants that no clock divides
 */
std::vector<Arrival>
Arrivals(const Described& link, uint32_t seed)
{
    std::vector<Arrival> arrivals;
    uint64_t at = 0;
    uint64_t byte = 0;
    uint64_t draw = seed;
    for (int i = 0; i < 2500; ++i)
    {
        draw = draw * 6364136223846793005 + 1442695040888963407;
        const uint32_t payload = 400 + (draw >> 33) % 500;
        const bool carries = link.streams && (draw >> 40) % 8 != 0;
        // Every eighth is a copy of an earlier one.
        const uint64_t first = (draw >> 43) % 8 == 0 ? byte / 2 : byte;
        const uint32_t data = carries ? payload : 0;
        const uint64_t start = carries ? first : 0;
        arrivals.push_back({at, 40 + payload, start, start + data});
        byte = std::max(byte, start + data);
        at += (draw >> 50) % 4 == 0 ? 0 : 1 + (draw >> 20) % 16000000;
    }
    return arrivals;
}

/// Polls a link up to an instant.
void
PollUpTo(clift_link* link, uint64_t now, std::vector<Fate>& fates)
{
    for (uint64_t next; (next = clift_link_next(link)) <= now && next != CLIFT_NEVER;)
    {
        clift_event event;
        while (clift_link_poll(link, next, &event) == 1)
        {
            Fate& fate = fates[event.packet];
            if (event.kind == CLIFT_DEPARTED)
            {
                // Links whose slots take what comes at their instant tell it a nanosecond later.
                fate.departed = next;
            }
            else if (event.kind == CLIFT_DELIVERED || event.kind == CLIFT_LOST)
            {
                fate.kind = event.kind == CLIFT_DELIVERED ? 0 : 1;
                fate.at = event.at_ns;
            }
        }
    }
}

/**
 * Offers packets to a link by the C interface, without ns-3.
 *
 * \param link the link, which is freed
 * \param streams whether it must know what they carry
 * \param arrivals the packets
 * \return their fates
 */
std::vector<Fate>
Directly(clift_link* link, bool streams, const std::vector<Arrival>& arrivals)
{
    std::vector<Fate> fates(arrivals.size());
    for (uint64_t i = 0; i < arrivals.size(); ++i)
    {
        const Arrival& arrival = arrivals[i];
        PollUpTo(link, arrival.at, fates);
        const int taken = streams ? clift_link_enqueue_in(link,
                                                          arrival.at,
                                                          i,
                                                          arrival.bytes,
                                                          0,
                                                          arrival.first,
                                                          arrival.end)
                                  : clift_link_enqueue(link, arrival.at, i, arrival.bytes);
        if (taken != CLIFT_QUEUED)
        {
            fates[i].kind = 2;
            fates[i].at = arrival.at;
        }
    }
    PollUpTo(link, UINT64_MAX, fates);
    clift_link_free(link);
    return fates;
}

/// The first sequence number of the streams that a test sends: they wrap soon.
constexpr uint32_t INITIAL = 0xffff0000;

/**
 * \param arrival what it carries
 * \param syn whether it opens the stream
 * \return an IPv4 packet with a TCP segment
 */
Ptr<Packet>
Segment(const Arrival& arrival, bool syn = false)
{
    auto packet = Create<Packet>(arrival.bytes - 40);
    TcpHeader tcp;
    tcp.SetSourcePort(1000);
    tcp.SetDestinationPort(9);
    tcp.SetFlags(syn ? TcpHeader::SYN : TcpHeader::ACK);
    tcp.SetSequenceNumber(SequenceNumber32(INITIAL + (syn ? 0 : 1 + uint32_t(arrival.first))));
    Ipv4Header ip;
    ip.SetSource("10.0.0.1");
    ip.SetDestination("10.0.0.2");
    ip.SetProtocol(6);
    ip.SetPayloadSize(20 + (arrival.bytes - 40));
    packet->AddHeader(tcp);
    packet->AddHeader(ip);
    return packet;
}

/// Two devices, and what became of the packets that the first sends.
class Bench
{
  public:
    /**
     * \param helper how devices are made
     * \param from which of the two sends
     */
    explicit Bench(const CliftHelper& helper, int from = 0)
    {
        m_nodes.Create(2);
        m_devices = helper.Install(m_nodes);
        m_from = DynamicCast<CliftNetDevice>(m_devices.Get(from));
        m_to = DynamicCast<CliftNetDevice>(m_devices.Get(1 - from));
        m_to->SetReceiveCallback(MakeCallback(&Bench::Received, this));
        m_from->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&Bench::Dropped, this));
        m_from->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Bench::Departed, this));
        m_from->TraceConnectWithoutContext("Delivered", MakeCallback(&Bench::Delivered, this));
        m_to->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Bench::Lost, this));
        m_from->TraceConnectWithoutContext("TraceEnded", MakeCallback(&Bench::Ended, this));
    }

    /**
     * Runs the simulation until nothing is left.
     *
     * \param arrivals packets to send
     * \return their fates
     */
    std::vector<Fate> Run(const std::vector<Arrival>& arrivals)
    {
        fates.resize(arrivals.size());
        m_arrivals = &arrivals;
        for (uint64_t i = 0; i < arrivals.size(); ++i)
        {
            Simulator::ScheduleWithContext(m_from->GetNode()->GetId(),
                                           NanoSeconds(arrivals[i].at),
                                           &Bench::Send,
                                           this,
                                           i);
        }
        Simulator::Run();
        report = m_from->GetReport();
        Simulator::Destroy();
        return fates;
    }

    /**
     * \return the device that sends
     */
    Ptr<CliftNetDevice> GetSender() const
    {
        return m_from;
    }

    std::vector<Fate> fates; //!< What became of packets.
    std::string report;      //!< What the link says of itself in the end.
    uint64_t ended{0};       //!< How often the trace ended.
    uint64_t wrong{0};       //!< Things that must not be.

  private:
    void Send(uint64_t i)
    {
        const Arrival& arrival = (*m_arrivals)[i];
        // A bare segment without data carries nothing, but has the same size.
        Ptr<Packet> packet;
        if (arrival.first == arrival.end)
        {
            packet = Create<Packet>(arrival.bytes);
        }
        else
        {
            packet = Segment(arrival);
        }
        m_numbers[packet->GetUid()] = i;
        m_from->Send(packet, m_to->GetAddress(), IPV4);
    }

    Fate& Of(Ptr<const Packet> packet)
    {
        return fates[m_numbers.at(packet->GetUid())];
    }

    void Settle(Ptr<const Packet> packet, int kind)
    {
        Fate& fate = Of(packet);
        wrong += fate.kind != 3;
        fate.kind = kind;
        fate.at = Simulator::Now().GetNanoSeconds();
    }

    bool Received(Ptr<NetDevice> device,
                  Ptr<const Packet> packet,
                  uint16_t protocol,
                  const Address& from)
    {
        wrong += device != m_to || protocol != IPV4 || from != m_from->GetAddress();
        wrong += Simulator::GetContext() != m_to->GetNode()->GetId();
        wrong += packet->GetSize() != (*m_arrivals)[m_numbers.at(packet->GetUid())].bytes;
        Settle(packet, 0);
        return true;
    }

    void Dropped(Ptr<const Packet> packet)
    {
        Settle(packet, 2);
    }

    void Lost(Ptr<const Packet> packet)
    {
        Settle(packet, 1);
    }

    void Departed(Ptr<const Packet> packet)
    {
        Of(packet).departed = Simulator::Now().GetNanoSeconds();
    }

    void Delivered(Ptr<const Packet> packet, Time delay)
    {
        const uint64_t entered = (*m_arrivals)[m_numbers.at(packet->GetUid())].at;
        wrong += Simulator::Now() - NanoSeconds(entered) != delay;
    }

    void Ended(Ptr<const Packet>)
    {
        ++ended;
    }

    NodeContainer m_nodes;                           //!< The nodes.
    NetDeviceContainer m_devices;                    //!< Their devices.
    Ptr<CliftNetDevice> m_from;                      //!< The one that sends.
    Ptr<CliftNetDevice> m_to;                        //!< The other.
    const std::vector<Arrival>* m_arrivals{nullptr}; //!< What is sent.
    std::map<uint64_t, uint64_t> m_numbers;          //!< Packets by ns-3's numbers.
};

/**
 * \param file name of a file
 * \param text what it is to hold
 * \return the name
 */
std::string
Written(const std::string& file, const std::string& text)
{
    std::ofstream(file) << text;
    return file;
}

/**
 * \param file a scenario file
 * \return a helper for it
 */
CliftHelper
HelperFor(const std::string& file)
{
    CliftHelper helper;
    helper.SetDeviceAttribute("Scenario", StringValue(file));
    return helper;
}

/**
 * \ingroup clift-test
 * A packet meets the fate that the C interface tells for the same arrivals, to the nanosecond.
 */
class CliftFatesTestCase : public TestCase
{
  public:
    /**
     * \param link the link
     * \param backward the packets go the way back
     */
    CliftFatesTestCase(const Described& link, bool backward)
        : TestCase("fates: " + link.name + (backward ? ", the way back" : "")),
          m_link(link),
          m_backward(backward)
    {
    }

  private:
    void DoRun() override
    {
        std::string text = Text(m_link);
        if (m_backward)
        {
            // A way forward of another kind, so that the two cannot be taken for each other.
            const std::string back = m_link.text;
            text =
                "seed = 5\nduration = \"40 s\"\n[[path]]\nleg = { delay = \"7 ms\" }\n[return]\n" +
                back;
        }
        const std::string file = Written(CreateTempDirFilename("link.toml"), text);
        const auto arrivals = Arrivals(m_link, 3);

        char* error = nullptr;
        clift_scenario* scenario = clift_scenario_open(file.c_str(), &error);
        clift_link* link = clift_scenario_way(scenario,
                                              nullptr,
                                              m_backward ? CLIFT_BACKWARD : CLIFT_FORWARD,
                                              &error);
        NS_TEST_ASSERT_MSG_NE(link, nullptr, (error ? error : "no error"));
        const bool streams = clift_link_reads_streams(link) == 1;
        NS_TEST_EXPECT_MSG_EQ(streams, m_link.streams, "the link reads streams");
        clift_scenario_free(scenario);
        const auto direct = Directly(link, streams, arrivals);

        Bench bench(HelperFor(file), m_backward ? 1 : 0);
        const auto hosted = bench.Run(arrivals);
        NS_TEST_EXPECT_MSG_EQ(bench.wrong, 0, "contexts, sizes, senders, delays");
        uint64_t kinds[4] = {};
        for (uint64_t i = 0; i < arrivals.size() && !IsStatusFailure(); ++i)
        {
            ++kinds[direct[i].kind];
            NS_TEST_EXPECT_MSG_EQ((direct[i] != hosted[i]),
                                  false,
                                  "packet " << i << ": directly " << direct[i].kind << " at "
                                            << direct[i].at << " ns, departed "
                                            << direct[i].departed << ", in ns-3 " << hosted[i].kind
                                            << " at " << hosted[i].at << " ns, departed "
                                            << hosted[i].departed);
        }
        // Something did happen.
        NS_TEST_EXPECT_MSG_GT(kinds[0], 1000, "packets delivered");
        NS_TEST_EXPECT_MSG_EQ(kinds[3], 0, "packets left on their way");
        NS_TEST_EXPECT_MSG_NE(bench.report.find("\"offered\":2500"), std::string::npos, "report");
    }

    Described m_link; //!< The link.
    bool m_backward;  //!< The packets go the way back.
};

/**
 * \ingroup clift-test
 * Seed, changes, hop and direction reach the link.
 */
class CliftAttributesTestCase : public TestCase
{
  public:
    CliftAttributesTestCase()
        : TestCase("attributes")
    {
    }

  private:
    /**
     * \param file a scenario file
     * \param attributes names and values
     * \return when a packet that enters at 0 arrives, in ns
     */
    uint64_t Arrives(const std::string& file,
                     const std::vector<std::pair<std::string, std::string>>& attributes)
    {
        Bench bench(HelperFor(file));
        for (const auto& [name, value] : attributes)
        {
            bench.GetSender()->SetAttribute(name, StringValue(value));
        }
        return bench.Run({{0, 1000, 0, 0}})[0].at;
    }

    void DoRun() override
    {
        const std::string legs =
            Written(CreateTempDirFilename("legs.toml"),
                    "[[path]]\nleg = { rate = \"8 Mbit/s\", delay = \"5 ms\" }\n"
                    "[[path]]\nleg = { delay = \"20 ms\" }\n"
                    "[return]\n[[return.path]]\nleg = { delay = \"3 ms\" }\n");
        // A byte takes a microsecond.
        NS_TEST_EXPECT_MSG_EQ(Arrives(legs, {}), 26000000, "the whole way");
        NS_TEST_EXPECT_MSG_EQ(Arrives(legs, {{"Hop", "0"}}), 6000000, "the first hop");
        NS_TEST_EXPECT_MSG_EQ(Arrives(legs, {{"Hop", "1"}}), 20000000, "the second hop");
        const std::string changes = "path.0.leg.delay = 1 ms; path.1.leg.delay=2 ms;";
        NS_TEST_EXPECT_MSG_EQ(Arrives(legs, {{"Changes", changes}}), 4000000, "changes");

        // Each direction by a file of its own.
        NodeContainer nodes(2);
        auto devices = CliftHelper().Install(nodes.Get(0), nodes.Get(1), legs, legs);
        StringValue direction;
        devices.Get(1)->GetAttribute("Direction", direction);
        NS_TEST_EXPECT_MSG_EQ(direction.Get(), "reverse", "of the second file");
        Simulator::Destroy();

        const Described arq = LINKS[2];
        const std::string file = Written(CreateTempDirFilename("arq.toml"), Text(arq));
        const auto arrivals = Arrivals(arq, 3);
        std::vector<std::vector<Fate>> runs;
        for (const std::string seed : {"", "5", "6"})
        {
            CliftHelper helper = HelperFor(file);
            if (!seed.empty())
            {
                helper.SetDeviceAttribute("Seed", StringValue(seed));
            }
            // ns-3's own random numbers have no part in it.
            RngSeedManager::SetRun(runs.size() + 1);
            runs.push_back(Bench(helper).Run(arrivals));
        }
        RngSeedManager::SetRun(1);
        NS_TEST_EXPECT_MSG_EQ(Differ(runs[0], runs[1]), 0, "the file's seed is 5");
        NS_TEST_EXPECT_MSG_GT(Differ(runs[0], runs[2]), 100, "another seed");

        // The same file both ways.
        CliftHelper reverse = HelperFor(file);
        reverse.SetDeviceAttribute("Direction", StringValue("reverse"));
        const auto back = Bench(reverse).Run(arrivals);
        NS_TEST_EXPECT_MSG_GT(Differ(runs[0], back), 100, "the way back draws anew");

        // ns-3's own random streams, asked for.
        std::vector<std::vector<Fate>> streams;
        for (const uint64_t run : {1, 1, 2})
        {
            RngSeedManager::SetRun(run);
            Bench bench(HelperFor(file));
            NetDeviceContainer devices(bench.GetSender());
            NS_TEST_EXPECT_MSG_EQ(CliftHelper::AssignStreams(devices, 7), 1, "one a device");
            streams.push_back(bench.Run(arrivals));
        }
        RngSeedManager::SetRun(1);
        NS_TEST_EXPECT_MSG_EQ(Differ(streams[0], streams[1]), 0, "the same run");
        NS_TEST_EXPECT_MSG_GT(Differ(streams[0], streams[2]), 100, "another run");
        NS_TEST_EXPECT_MSG_GT(Differ(streams[0], runs[0]), 100, "not the file's seed");
    }
};

/**
 * \ingroup clift-test
 * FlowMonitor counts what the link's queue drops as DROP_QUEUE.
 */
class CliftFlowMonitorTestCase : public TestCase
{
  public:
    CliftFlowMonitorTestCase()
        : TestCase("FlowMonitor")
    {
    }

  private:
    void DoRun() override
    {
        const std::string file =
            Written(CreateTempDirFilename("monitored.toml"),
                    "link = { rtt = \"60 ms\", queue = \"8 packets\" }\n" + CHANNEL);
        NodeContainer nodes(2);
        CliftHelper helper;
        helper.DisableFlowControl();
        auto devices = helper.Install(nodes.Get(0), nodes.Get(1), file);
        InternetStackHelper().Install(nodes);
        auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        FlowMonitorHelper flows;
        auto monitor = flows.InstallAll();
        auto from = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        from->Connect(InetSocketAddress(interfaces.GetAddress(1), 9));
        devices.Get(0)->TraceConnectWithoutContext(
            "MacTxDrop",
            MakeCallback(&CliftFlowMonitorTestCase::Dropped, this));
        Simulator::Schedule(Seconds(1), [&from] {
            for (int i = 0; i < 50; ++i)
            {
                from->Send(Create<Packet>(972));
            }
        });
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        const auto& stats = monitor->GetFlowStats();
        NS_TEST_ASSERT_MSG_EQ(stats.size(), 1, "one flow");
        const auto& reasons = stats.begin()->second.packetsDropped;
        NS_TEST_EXPECT_MSG_GT(m_dropped, 30, "the queue has room for eight");
        NS_TEST_ASSERT_MSG_GT(reasons.size(), uint32_t(Ipv4FlowProbe::DROP_QUEUE), "reasons");
        NS_TEST_EXPECT_MSG_EQ(reasons[Ipv4FlowProbe::DROP_QUEUE], m_dropped, "as DROP_QUEUE");
        Simulator::Destroy();
    }

    void Dropped(Ptr<const Packet>)
    {
        ++m_dropped;
    }

    uint32_t m_dropped{0}; //!< Packets that the link's queue dropped.
};

/**
 * \ingroup clift-test
 * Terminals share the links of a channel: packets meet the fates of the link alone, and reach whom
 * they are addressed to.
 */
class CliftSharedTestCase : public TestCase
{
  public:
    CliftSharedTestCase()
        : TestCase("terminals that share a channel")
    {
    }

  private:
    /// Number of terminals.
    static constexpr uint32_t TERMINALS = 3;

    /**
     * Sends packets from the hub to the terminals in turn, or from them to the hub, and compares
     * their fates with those of the link alone.
     *
     * \param file the scenario file
     * \param arrivals the packets
     * \param back whether the terminals send
     */
    void Compare(const std::string& file, const std::vector<Arrival>& arrivals, bool back)
    {
        NodeContainer nodes(1 + TERMINALS);
        const auto devices = HelperFor(file).Install(nodes);
        std::vector<Fate> fates(arrivals.size());
        std::map<uint64_t, uint64_t> numbers;
        uint64_t astray = 0;
        for (uint32_t i = 0; i <= TERMINALS; ++i)
        {
            devices.Get(i)->SetReceiveCallback(
                [&, i](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address& from) {
                    const uint64_t number = numbers.at(packet->GetUid());
                    const uint32_t terminal = 1 + number % TERMINALS;
                    astray += i != (back ? 0 : terminal);
                    astray += from != devices.Get(back ? terminal : 0)->GetAddress();
                    astray += fates[number].kind != 3;
                    fates[number].kind = 0;
                    fates[number].at = Simulator::Now().GetNanoSeconds();
                    return true;
                });
        }
        for (uint64_t i = 0; i < arrivals.size(); ++i)
        {
            const auto terminal = devices.Get(1 + i % TERMINALS);
            const auto from = back ? terminal : devices.Get(0);
            const auto to = back ? devices.Get(0) : terminal;
            Simulator::ScheduleWithContext(from->GetNode()->GetId(),
                                           NanoSeconds(arrivals[i].at),
                                           [&, i, from, to] {
                                               auto packet = Create<Packet>(arrivals[i].bytes);
                                               numbers[packet->GetUid()] = i;
                                               from->Send(packet, to->GetAddress(), IPV4);
                                           });
        }
        Simulator::Run();
        const auto report = DynamicCast<CliftNetDevice>(devices.Get(back ? TERMINALS : 0));
        const std::string offered = "\"offered\":" + std::to_string(arrivals.size()) + ",";
        NS_TEST_EXPECT_MSG_NE(report->GetReport().find(offered),
                              std::string::npos,
                              "one link for all: " << report->GetReport());
        Simulator::Destroy();

        char* error = nullptr;
        clift_scenario* scenario = clift_scenario_open(file.c_str(), &error);
        const uint32_t direction = back ? CLIFT_BACKWARD : CLIFT_FORWARD;
        auto alone =
            Directly(clift_scenario_way(scenario, nullptr, direction, &error), false, arrivals);
        clift_scenario_free(scenario);
        uint64_t differ = 0;
        for (uint64_t i = 0; i < arrivals.size(); ++i)
        {
            const bool delivered = alone[i].kind == 0;
            differ += fates[i].kind != (delivered ? 0 : 3) ||
                      (delivered && fates[i].at != alone[i].at);
        }
        NS_TEST_EXPECT_MSG_EQ(differ, 0, "fates");
        NS_TEST_EXPECT_MSG_EQ(astray, 0, "packets at another device, or twice");
    }

    void DoRun() override
    {
        const Described& link = LINKS[0]; // which loses packets
        const std::string text = Text(link) + "[return]\n" + link.text +
                                 "channel = { model = \"bernoulli\", erasures = \"9 %\", "
                                 "rate = \"1 Mbit/s\", lldu = \"250 B\" }\n";
        const std::string file = Written(CreateTempDirFilename("shared.toml"), text);
        const auto arrivals = Arrivals(link, 3);
        Compare(file, arrivals, false);
        Compare(file, arrivals, true);

        // Addresses are resolved over the links, and queue discs wait for the room of all.
        const std::string small =
            Written(CreateTempDirFilename("small.toml"),
                    "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", queue = \"8 packets\" }\n" +
                        CHANNEL +
                        "[return]\nscheme = \"ARQ\"\nlink = { queue = \"8 packets\" }\n"
                        "channel = { model = \"bernoulli\", erasures = \"5 %\", "
                        "rate = \"1 Mbit/s\", lldu = \"250 B\" }\n");
        NodeContainer nodes(1 + TERMINALS);
        const auto devices = HelperFor(small).Install(nodes);
        InternetStackHelper().Install(nodes);
        const auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
        std::vector<Ptr<Socket>> sockets;
        std::vector<uint32_t> received(1 + TERMINALS);
        for (uint32_t i = 0; i <= TERMINALS; ++i)
        {
            auto socket = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
            socket->SetRecvCallback([&received, i](Ptr<Socket> from) {
                while (from->Recv())
                {
                    ++received[i];
                }
            });
            sockets.push_back(socket);
            devices.Get(i)->TraceConnectWithoutContext(
                "MacTxDrop",
                MakeCallback(&CliftSharedTestCase::Dropped, this));
        }
        const auto send = [&](uint32_t from, uint32_t to, int count) {
            for (int i = 0; i < count; ++i)
            {
                const InetSocketAddress address(interfaces.GetAddress(to), 9);
                sockets[from]->SendTo(Create<Packet>(972), 0, address);
            }
        };
        for (uint32_t i = 1; i <= TERMINALS; ++i)
        {
            // The first packet resolves the address, for which few others can wait.
            for (const auto& [at, count] : {std::pair(1, 1), std::pair(3, 40)})
            {
                Simulator::Schedule(Seconds(at), [=] { send(0, i, count); });
                Simulator::Schedule(Seconds(at), [=] { send(i, 0, count); });
            }
        }
        Simulator::Stop(Seconds(30));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_dropped, 0, "nothing comes to a full queue of a link");
        // The queue discs drop some, since they wait longer than CoDel wants.
        NS_TEST_EXPECT_MSG_GT(received[0], 100, "at the hub");
        for (uint32_t i = 1; i <= TERMINALS; ++i)
        {
            NS_TEST_EXPECT_MSG_GT(received[i], 25, "at terminal " << i);
        }
        sockets.clear();
        Simulator::Destroy();
    }

    void Dropped(Ptr<const Packet>)
    {
        ++m_dropped;
    }

    uint32_t m_dropped{0}; //!< Packets that found a link's queue full.
};

/**
 * \ingroup clift-test
 * What is wrong is told in one line.
 */
class CliftErrorsTestCase : public TestCase
{
  public:
    CliftErrorsTestCase()
        : TestCase("errors")
    {
    }

  private:
    /**
     * \param error what was told
     * \param part what it must hold
     */
    void Expect(const std::string& error, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_NE(error.find(part), std::string::npos, error << ": no " << part);
        NS_TEST_EXPECT_MSG_EQ(error.find('\n'), std::string::npos, "one line");
    }

    void DoRun() override
    {
        const std::string good = Written(CreateTempDirFilename("good.toml"), Text(LINKS[2]));
        const std::string bad =
            Written(CreateTempDirFilename("bad.toml"), "[link]\nrat = \"1 ms\"\n");
        NS_TEST_EXPECT_MSG_EQ(CliftHelper::Check(good), "", "nothing is wrong");
        Expect(CliftHelper::Check(""), "set the attribute Scenario");
        Expect(CliftHelper::Check("/nowhere/x.toml"), "/nowhere/x.toml: cannot be read");
        Expect(CliftHelper::Check(bad), bad + " line 2: link.rat: unknown key");
        Expect(CliftHelper::Check(good, "link.rtt"), "give key=value");
        Expect(CliftHelper::Check(good, "link.rtt=soon"), "link.rtt");
        auto device = CreateObject<CliftNetDevice>();
        device->SetAttribute("Scenario", StringValue(good));
        device->SetAttribute("Direction", StringValue("up"));
        Expect(device->Open(), "give \"forward\", \"backward\" or \"reverse\"");
        device->SetAttribute("Direction", StringValue("forward"));
        device->SetAttribute("Hop", IntegerValue(3));
        Expect(device->Open(), "hop 3 does not exist");
        device->SetAttribute("Hop", IntegerValue(int64_t{1} << 40));
        Expect(device->Open(), "give -1 for the whole way");
        device->SetAttribute("Hop", IntegerValue(-1));
        NS_TEST_EXPECT_MSG_EQ(device->Open(), "", "it was put right");
        NS_TEST_EXPECT_MSG_EQ(device->Open(), "", "and stays so");
        // A device without a peer, or a packet of no bytes, is no crash.
        bool sent = device->Send(Create<Packet>(10), Mac48Address::GetBroadcast(), IPV4);
        NS_TEST_EXPECT_MSG_EQ(sent, false, "there is no peer");
        Bench bench(HelperFor(good));
        const auto fates = bench.Run({{0, 65000, 0, 0}, {0, 1000, 0, 0}});
        NS_TEST_EXPECT_MSG_EQ(fates[1].kind, 0, "the other is delivered");
    }
};

/**
 * \ingroup clift-test
 * A trace that ends is told once.
 */
class CliftTraceEndedTestCase : public TestCase
{
  public:
    CliftTraceEndedTestCase()
        : TestCase("the end of a trace")
    {
    }

  private:
    void DoRun() override
    {
        std::ostringstream trace;
        for (int slot = 0; slot < 100; ++slot)
        {
            trace << slot * 2000000 << ",1000000\n";
        }
        Written(CreateTempDirFilename("t.csv"),
                "# clift-trace: 1\n# lldu_bytes: 250\n# decode_ns: 1000000\nt_ns,d_ns\n" +
                    trace.str());
        const std::string file = Written(CreateTempDirFilename("trace.toml"),
                                         "duration = \"10 s\"\nlink.rtt = \"60 ms\"\n"
                                         "[trace]\nfile = \"t.csv\"\n");
        Bench bench(HelperFor(file));
        const auto fates = bench.Run(std::vector<Arrival>(40, {0, 1000, 0, 0}));
        uint64_t delivered = 0;
        uint64_t left = 0;
        for (const auto& fate : fates)
        {
            delivered += fate.kind == 0;
            left += fate.kind == 3;
        }
        NS_TEST_EXPECT_MSG_EQ(bench.ended, 1, "told once");
        NS_TEST_EXPECT_MSG_EQ(delivered, 25, "four slots a packet");
        NS_TEST_EXPECT_MSG_EQ(left, 15, "the others stay");
    }
};

/**
 * \ingroup clift-test
 * The queue disc above is stopped while the link's queue is full, and woken.
 */
class CliftQueueDiscTestCase : public TestCase
{
  public:
    /**
     * \param queue the limit of the link's queue
     * \param installed whether there is a queue disc
     */
    CliftQueueDiscTestCase(std::string queue, bool installed)
        : TestCase("a queue of " + queue + (installed ? " below a queue disc" : " alone")),
          m_queue(queue),
          m_installed(installed)
    {
    }

  private:
    void DoRun() override
    {
        const std::string file = Written(CreateTempDirFilename("queue.toml"),
                                         "scheme = \"ARQ\"\nlink = { rtt = \"60 ms\", queue = \"" +
                                             m_queue + "\" }\n" + CHANNEL);
        NodeContainer nodes(2);
        CliftHelper helper;
        auto devices = helper.Install(nodes.Get(0), nodes.Get(1), file);
        InternetStackHelper().Install(nodes);
        if (m_installed)
        {
            TrafficControlHelper discs;
            discs.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
            discs.Install(devices);
        }
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        auto interfaces = addresses.Assign(devices);
        if (!m_installed)
        {
            // Assign puts one there.
            TrafficControlHelper().Uninstall(devices);
        }
        auto from = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        auto to = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        to->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        to->SetRecvCallback(MakeCallback(&CliftQueueDiscTestCase::Received, this));
        from->Connect(InetSocketAddress(interfaces.GetAddress(1), 9));
        devices.Get(0)->TraceConnectWithoutContext(
            "MacTxDrop",
            MakeCallback(&CliftQueueDiscTestCase::Dropped, this));
        devices.Get(0)->TraceConnectWithoutContext(
            "Enqueue",
            MakeCallback(&CliftQueueDiscTestCase::Enqueued, this));
        devices.Get(0)->TraceConnectWithoutContext(
            "PhyTxBegin",
            MakeCallback(&CliftQueueDiscTestCase::Departed, this));
        // Two bursts, so that it is stopped and woken again.
        for (int i = 0; i < 400; ++i)
        {
            Simulator::ScheduleWithContext(nodes.Get(0)->GetId(),
                                           Seconds(i < 200 ? 1 : 20),
                                           &CliftQueueDiscTestCase::Send,
                                           this,
                                           from);
        }
        Simulator::Stop(Seconds(40));
        Simulator::Run();
        Simulator::Destroy();
        if (m_installed)
        {
            NS_TEST_EXPECT_MSG_EQ(m_dropped, 0, "the link drops nothing");
            NS_TEST_EXPECT_MSG_EQ(m_received, 400, "all arrive");
        }
        else
        {
            NS_TEST_EXPECT_MSG_GT(m_dropped, 300, "the link drops");
        }
        NS_TEST_EXPECT_MSG_EQ(m_received + m_dropped, 400, "none is forgotten");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(m_longest, 10, "the link's queue keeps its limit");
        NS_TEST_EXPECT_MSG_EQ(m_waiting, 0, "all left");
    }

    /// Sends a datagram.
    void Send(Ptr<Socket> socket)
    {
        socket->Send(Create<Packet>(972));
    }

    void Received(Ptr<Socket> socket)
    {
        while (socket->Recv())
        {
            ++m_received;
        }
    }

    void Dropped(Ptr<const Packet>)
    {
        ++m_dropped;
    }

    void Enqueued(Ptr<const Packet>)
    {
        m_longest = std::max(m_longest, ++m_waiting);
    }

    void Departed(Ptr<const Packet>)
    {
        --m_waiting;
    }

    std::string m_queue;    //!< The limit of the link's queue.
    bool m_installed;       //!< There is a queue disc.
    uint64_t m_received{0}; //!< Datagrams that arrived.
    uint64_t m_dropped{0};  //!< Packets that the link dropped.
    uint64_t m_waiting{0};  //!< Packets in its queue.
    uint64_t m_longest{0};  //!< At most.
};

/**
 * \ingroup clift-test
 * TCP goes over the link, both ways; captures and ascii traces say so.
 */
class CliftTcpTestCase : public TestCase
{
  public:
    /**
     * \param ipv6 whether over IPv6
     */
    CliftTcpTestCase(bool ipv6)
        : TestCase(ipv6 ? "TCP over IPv6" : "TCP over IPv4"),
          m_ipv6(ipv6)
    {
    }

  private:
    /**
     * Files are complete once the devices are gone.
     *
     * \param prefix of the files
     */
    void Simulate(const std::string& prefix)
    {
        // A link that must know the streams.
        const std::string file = Written(CreateTempDirFilename("tcp.toml"), Text(LINKS[9]));
        NodeContainer nodes(2);
        CliftHelper helper;
        helper.DisableFlowControl();
        auto devices = helper.Install(nodes.Get(0), nodes.Get(1), file);
        helper.EnablePcapAll(prefix);
        helper.EnableAsciiAll(AsciiTraceHelper().CreateFileStream(prefix + ".tr"));
        InternetStackHelper().Install(nodes);
        Address peer;
        Address any;
        if (m_ipv6)
        {
            Ipv6AddressHelper addresses("2001:1::", Ipv6Prefix(64));
            peer = Inet6SocketAddress(addresses.Assign(devices).GetAddress(1, 1), 9);
            any = Inet6SocketAddress(Ipv6Address::GetAny(), 9);
        }
        else
        {
            Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
            peer = InetSocketAddress(addresses.Assign(devices).GetAddress(1), 9);
            any = InetSocketAddress(Ipv4Address::GetAny(), 9);
        }
        auto listening = Socket::CreateSocket(nodes.Get(1), TcpSocketFactory::GetTypeId());
        listening->Bind(any);
        listening->Listen();
        listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                     MakeCallback(&CliftTcpTestCase::Accepted, this));
        m_socket = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
        m_socket->SetAttribute("SndBufSize", UintegerValue(WANTED));
        m_socket->SetConnectCallback(MakeCallback(&CliftTcpTestCase::Connected, this),
                                     MakeNullCallback<void, Ptr<Socket>>());
        for (uint32_t i = 0; i < 2; ++i)
        {
            devices.Get(i)->TraceConnectWithoutContext(
                "MacRx",
                MakeCallback(&CliftTcpTestCase::CountArrival, this));
            devices.Get(i)->TraceConnectWithoutContext(
                "PhyTxBegin",
                MakeCallback(&CliftTcpTestCase::CountDeparture, this));
        }
        // IPv6 looks for a double of its address first.
        Simulator::Schedule(Seconds(3), &CliftTcpTestCase::Connect, this, peer);
        Simulator::Stop(Seconds(40));
        Simulator::Run();
        m_socket = nullptr;
        m_accepted = nullptr;
        Simulator::Destroy();
    }

    void DoRun() override
    {
        const std::string prefix = CreateTempDirFilename("trace");
        Simulate(prefix);
        NS_TEST_EXPECT_MSG_EQ(m_received, WANTED, "all bytes arrive");
        NS_TEST_EXPECT_MSG_GT(m_arrivals, 300, "segments and acknowledgements");

        uint64_t captured = 0;
        for (const std::string device : {"-0-0.pcap", "-1-0.pcap"})
        {
            PcapFile pcap;
            pcap.Open(prefix + device, std::ios::in);
            NS_TEST_EXPECT_MSG_EQ(pcap.GetDataLinkType(), 101, "raw IP");
            std::vector<uint8_t> data(65536);
            uint32_t s;
            uint32_t us;
            uint32_t inclusive;
            uint32_t original;
            uint32_t read;
            for (;;)
            {
                pcap.Read(data.data(), data.size(), s, us, inclusive, original, read);
                if (pcap.Eof())
                {
                    break;
                }
                ++captured;
                NS_TEST_ASSERT_MSG_EQ((data[0] >> 4), (m_ipv6 ? 6 : 4), "the version of IP");
            }
        }
        NS_TEST_EXPECT_MSG_EQ(captured, m_arrivals + m_departures, "every packet is captured");

        std::ifstream lines(prefix + ".tr");
        std::map<char, uint64_t> count;
        for (std::string line; std::getline(lines, line);)
        {
            ++count[line[0]];
        }
        NS_TEST_EXPECT_MSG_EQ(count['r'], m_arrivals, "received");
        NS_TEST_EXPECT_MSG_EQ(count['-'], m_departures, "departed");
        NS_TEST_EXPECT_MSG_EQ(count['+'], m_departures, "enqueued");
    }

    /// Opens the connection.
    void Connect(Address peer)
    {
        m_socket->Connect(peer);
    }

    void Connected(Ptr<Socket> socket)
    {
        socket->Send(Create<Packet>(WANTED));
    }

    void Accepted(Ptr<Socket> socket, const Address&)
    {
        m_accepted = socket;
        socket->SetRecvCallback(MakeCallback(&CliftTcpTestCase::Received, this));
    }

    void Received(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            m_received += packet->GetSize();
        }
    }

    void CountArrival(Ptr<const Packet>)
    {
        ++m_arrivals;
    }

    void CountDeparture(Ptr<const Packet>)
    {
        ++m_departures;
    }

    static constexpr uint32_t WANTED = 200000; //!< Bytes to send.

    bool m_ipv6;              //!< Over IPv6.
    Ptr<Socket> m_socket;     //!< The sender's.
    Ptr<Socket> m_accepted;   //!< The receiver's.
    uint64_t m_received{0};   //!< Bytes that arrived.
    uint64_t m_arrivals{0};   //!< Packets that arrived.
    uint64_t m_departures{0}; //!< Packets that left a queue.
};

/**
 * \ingroup clift-test
 * Bytes of a stream are read off packets.
 */
class CliftStreamReaderTestCase : public TestCase
{
  public:
    CliftStreamReaderTestCase()
        : TestCase("bytes of a stream")
    {
    }

  private:
    /**
     * \param packet an IPv4 packet
     * \param flow which stream
     * \param first its first byte
     * \param end behind its last byte
     */
    void Expect(Ptr<Packet> packet, uint64_t flow, uint64_t first, uint64_t end)
    {
        const auto range = m_reader.Read(packet, IPV4);
        NS_TEST_EXPECT_MSG_EQ(range.flow, flow, "flow");
        NS_TEST_EXPECT_MSG_EQ(range.first, first, "first");
        NS_TEST_EXPECT_MSG_EQ(range.end, end, "end");
    }

    void DoRun() override
    {
        const uint64_t far = 0x10000; // here the sequence number wraps
        Expect(Segment({0, 40, 0, 0}, true), 0, 0, 0);
        Expect(Segment({0, 1040, 0, 1000}), 0, 0, 1000);
        Expect(Segment({0, 1040, 1000, 2000}), 0, 1000, 2000);
        Expect(Segment({0, 40, 2000, 2000}), 0, 0, 0);
        // Out of order, and across the wrap.
        Expect(Segment({0, 1040, far + 5000, 0}), 0, far + 5000, far + 6000);
        Expect(Segment({0, 1040, far - 500, 0}), 0, far - 500, far + 500);
        Expect(Segment({0, 1040, 1000, 0}), 0, 1000, 2000);
        // Far beyond 4 GiB, by steps that a window can have.
        uint64_t byte = far + 5000;
        for (int i = 0; i < 20; ++i)
        {
            byte += 1000000000;
            Expect(Segment({0, 1040, byte, 0}), 0, byte, byte + 1000);
        }
        // The first SYN's copy is no new stream; another stream's SYN is.
        Expect(Segment({0, 40, 0, 0}, true), 0, 0, 0);
        Expect(Segment({0, 1040, byte, 0}), 0, byte, byte + 1000);

        auto udp = Create<Packet>(500);
        UdpHeader header;
        udp->AddHeader(header);
        Ipv4Header ip;
        ip.SetProtocol(17);
        ip.SetPayloadSize(508);
        udp->AddHeader(ip);
        Expect(udp, 0, 0, 0);
        Expect(Create<Packet>(3), 0, 0, 0);
        Expect(Create<Packet>(60), 0, 0, 0);

        // IPv6, the stream's SYN not seen, behind an extension header.
        TcpHeader tcp;
        tcp.SetSequenceNumber(SequenceNumber32(7000));
        auto packet = Create<Packet>(100);
        packet->AddHeader(tcp);
        Ipv6ExtensionDestinationHeader extension;
        extension.SetNextHeader(6);
        auto inner = packet->Copy();
        inner->AddHeader(extension);
        for (int extended = 0; extended < 2; ++extended)
        {
            auto whole = (extended ? inner : packet)->Copy();
            Ipv6Header six;
            six.SetNextHeader(extended ? Ipv6Header::IPV6_EXT_DESTINATION : 6);
            six.SetPayloadLength(whole->GetSize());
            six.SetSource("2001:1::1");
            six.SetDestination("2001:1::2");
            whole->AddHeader(six);
            const auto range = m_reader.Read(whole, 0x86dd);
            NS_TEST_EXPECT_MSG_EQ(range.flow, 1, "a stream of its own");
            NS_TEST_EXPECT_MSG_EQ(range.first, 0, "counted from here");
            NS_TEST_EXPECT_MSG_EQ(range.end, 100, "its length");
        }
    }

    CliftStreamReader m_reader; //!< What is tested.
};

/**
 * \ingroup clift-test
 * All tests of the module.
 */
class CliftTestSuite : public TestSuite
{
  public:
    CliftTestSuite()
        : TestSuite("clift")
    {
        for (const auto& link : LINKS)
        {
            AddTestCase(new CliftFatesTestCase(link, false));
        }
        for (const auto& link : LINKS)
        {
            if (link.name == "legs")
            {
                Described back = link;
                back.text =
                    "[[return.path]]\n"
                    "leg = { rate = \"2 Mbit/s\", delay = \"5 ms\", queue = \"10 packets\", "
                    "loss = \"1 %\" }\n";
                AddTestCase(new CliftFatesTestCase(back, true));
            }
        }
        AddTestCase(new CliftAttributesTestCase);
        AddTestCase(new CliftErrorsTestCase);
        AddTestCase(new CliftFlowMonitorTestCase);
        AddTestCase(new CliftSharedTestCase);
        AddTestCase(new CliftTraceEndedTestCase);
        AddTestCase(new CliftStreamReaderTestCase);
        // The last one has room for less than a packet of the MTU.
        for (const std::string queue : {"8 packets", "8 kB", "1200 B"})
        {
            AddTestCase(new CliftQueueDiscTestCase(queue, true));
            AddTestCase(new CliftQueueDiscTestCase(queue, false));
        }
        AddTestCase(new CliftTcpTestCase(false));
        AddTestCase(new CliftTcpTestCase(true));
    }

  private:
    void DoSetup() override
    {
        // Ascii traces want it before the first packet.
        Packet::EnablePrinting();
    }
};

CliftTestSuite g_cliftTestSuite; //!< Registers itself.

} // namespace
