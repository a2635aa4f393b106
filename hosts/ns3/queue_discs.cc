/* A queue disc of ns-3 before a transmitter, for given arrivals; GPL-2.0-only as ns-3 itself.
 *
 * queue_discs TYPE RATE ATTRIBUTE=VALUE... reads arrivals, "time_ns flow bytes field" a line, by
 * time, `field` being the ECN field, and writes a line for each: "delivered time_ns", "marked time_ns" or
 * "dropped time_ns". The transmitter takes one packet
 * ahead of the one that it sends, as a network device does.
 */
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** What became of an arrival. */
struct Fate
{
    bool delivered{false};
    bool marked{false};
    int64_t at{0};
};

std::vector<Fate> g_fates;

/** An arrival in the queue. */
class Arrival : public QueueDiscItem
{
  public:
    Arrival(Ptr<Packet> packet, uint32_t number, uint32_t flow, uint32_t field)
        : QueueDiscItem(packet, Address(), 0),
          number(number),
          m_flow(flow),
          m_field(field)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        if (m_field == 0)
        {
            return false;
        }
        m_field = 3;
        g_fates[number].marked = true;
        return true;
    }

    bool GetUint8Value(Uint8Values field, uint8_t& value) const override
    {
        if (field != IP_DSFIELD)
        {
            return false;
        }
        value = m_field;
        return true;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    const uint32_t number;

  private:
    const uint32_t m_flow;
    uint32_t m_field;
};

void
Dropped(Ptr<const QueueDiscItem> item)
{
    auto arrival = DynamicCast<const Arrival>(item);
    g_fates[arrival->number] = {false, false, Simulator::Now().GetNanoSeconds()};
}

/** Sends packets one after the other, and holds the next. */
class Transmitter
{
  public:
    Transmitter(Ptr<QueueDisc> queue, uint64_t rate)
        : m_queue(queue),
          m_rate(rate)
    {
    }

    void Arrive(Ptr<Arrival> arrival)
    {
        m_queue->Enqueue(arrival);
        Pull();
    }

  private:
    void Pull()
    {
        while (!m_next)
        {
            m_next = DynamicCast<Arrival>(m_queue->Dequeue());
            if (!m_next)
            {
                return;
            }
            if (!m_busy)
            {
                Send();
            }
        }
    }

    void Send()
    {
        auto sent = m_next;
        m_next = nullptr;
        m_busy = true;
        const uint64_t bits = uint64_t{sent->GetSize()} * 8;
        const Time done = NanoSeconds((bits * 1000000000 + m_rate / 2) / m_rate);
        Simulator::Schedule(done, [this, sent] {
            g_fates[sent->number].delivered = true;
            g_fates[sent->number].at = Simulator::Now().GetNanoSeconds();
            m_busy = false;
            if (m_next)
            {
                Send();
            }
            Pull();
        });
    }

    Ptr<QueueDisc> m_queue;
    uint64_t m_rate;
    Ptr<Arrival> m_next;
    bool m_busy{false};
};

} // namespace

int
main(int argc, char* argv[])
{
    ObjectFactory factory(argv[1]);
    const uint64_t rate = std::stoull(argv[2]);
    for (int index = 3; index < argc; ++index)
    {
        const std::string option(argv[index]);
        const auto equals = option.find('=');
        factory.Set(option.substr(0, equals), StringValue(option.substr(equals + 1)));
    }
    auto queue = factory.Create<QueueDisc>();
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(queue))
    {
        // Without a device it has no quantum, and would look for a packet for ever.
        fair->SetQuantum(1514);
    }
    queue->Initialize();
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    Transmitter transmitter(queue, rate);
    int64_t at;
    uint32_t flow;
    uint32_t bytes;
    uint32_t field;
    while (std::cin >> at >> flow >> bytes >> field)
    {
        auto arrival = Create<Arrival>(Create<Packet>(bytes), g_fates.size(), flow, field);
        g_fates.emplace_back();
        Simulator::Schedule(NanoSeconds(at), [&transmitter, arrival] { transmitter.Arrive(arrival); });
    }
    Simulator::Stop(Seconds(100000));
    // PIE updates itself for ever: stop when all are accounted for.
    Simulator::Schedule(NanoSeconds(at) + Seconds(1000), [] { Simulator::Stop(); });
    Simulator::Run();
    for (const auto& fate : g_fates)
    {
        const char* name = fate.delivered ? (fate.marked ? "marked" : "delivered") : "dropped";
        std::printf("%s %lld\n", name, (long long)fate.at);
    }
    Simulator::Destroy();
    return 0;
}
