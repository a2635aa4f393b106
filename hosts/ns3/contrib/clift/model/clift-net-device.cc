/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-net-device.h"

#include "clift-channel.h"
#include "clift-tx-queue.h"
#include "clift.h"

#include "ns3/abort.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>
#include <map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CliftNetDevice");
NS_OBJECT_ENSURE_REGISTERED(CliftQueueDrops);
NS_OBJECT_ENSURE_REGISTERED(CliftNetDevice);

TypeId
CliftQueueDrops::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CliftQueueDrops")
            .SetParent<Object>()
            .SetGroupName("Clift")
            .AddTraceSource("Drop",
                            "A packet found the link's queue full, or is too large for the link",
                            MakeTraceSourceAccessor(&CliftQueueDrops::m_drop),
                            "ns3::Packet::TracedCallback");
    return tid;
}

TypeId
CliftNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CliftNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Clift")
            .AddConstructor<CliftNetDevice>()
            .AddAttribute("Mtu",
                          "The largest IP packet in bytes",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&CliftNetDevice::SetMtu, &CliftNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(1))
            .AddAttribute("Address",
                          "The MAC address of this device",
                          Mac48AddressValue(Mac48Address("ff:ff:ff:ff:ff:ff")),
                          MakeMac48AddressAccessor(&CliftNetDevice::m_address),
                          MakeMac48AddressChecker())
            .AddAttribute("Scenario",
                          "The scenario file that describes the link",
                          StringValue(),
                          MakeStringAccessor(&CliftNetDevice::m_file),
                          MakeStringChecker())
            .AddAttribute("Changes",
                          "Keys of the file to set and points of its axes to choose, "
                          "\"key=value;key=value\"",
                          StringValue(),
                          MakeStringAccessor(&CliftNetDevice::m_changes),
                          MakeStringChecker())
            .AddAttribute("Seed",
                          "Seed of the link's random draws; the largest number stands for the "
                          "seed of the file",
                          UintegerValue(CliftScenario::FILE_SEED),
                          MakeUintegerAccessor(&CliftNetDevice::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Direction",
                          "Which way of the file this device sends over: \"forward\" from the "
                          "senders to the receivers, \"backward\" from them, \"reverse\" the "
                          "former as the way back, with draws of its own",
                          StringValue("forward"),
                          MakeStringAccessor(&CliftNetDevice::m_direction),
                          MakeStringChecker())
            .AddAttribute("Hop",
                          "Which hop of the way alone, counted from 0; -1 for the whole way",
                          IntegerValue(CliftScenario::WHOLE_WAY),
                          MakeIntegerAccessor(&CliftNetDevice::m_hop),
                          MakeIntegerChecker<int64_t>(CliftScenario::WHOLE_WAY))
            .AddAttribute("TxQueue",
                          "Tells what the link's queue drops, for FlowMonitor",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&CliftNetDevice::m_queueDrops),
                          MakePointerChecker<CliftQueueDrops>())
            .AddTraceSource("MacTx",
                            "A packet came to this device for transmission",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_macTx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet found the link's queue full, or is too large for the link",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_macTxDrop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A packet came over the link",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_macPromiscRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A packet came over the link and is passed up",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_macRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Enqueue",
                            "A packet entered the link's queue",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_enqueue),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxBegin",
                            "A packet left the link's queue and is being sent",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_phyTxBegin),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxEnd",
                            "The link has done with a packet, repairs included: it is at the other "
                            "end now, or was given up",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_phyTxEnd),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxEnd",
                            "A packet came out of the link",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_phyRxEnd),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxDrop",
                            "The link to this device lost a packet",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_phyRxDrop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Delivered",
                            "A packet that this device sent is at the other end, with its time "
                            "within the link",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_delivered),
                            "ns3::CliftNetDevice::DeliveredTracedCallback")
            .AddTraceSource("TraceEnded",
                            "The trace of the link ended while this packet waits for slots; comes "
                            "once, and nothing behind it gets further",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_traceEnded),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Sniffer",
                            "What a packet sniffer at this device sees: packets that leave the "
                            "link's queue, and packets that come",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_sniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "The same, for a promiscuous sniffer",
                            MakeTraceSourceAccessor(&CliftNetDevice::m_promiscSniffer),
                            "ns3::Packet::TracedCallback");
    return tid;
}

CliftNetDevice::CliftNetDevice()
    : m_queueDrops(CreateObject<CliftQueueDrops>())
{
    NS_LOG_FUNCTION(this);
}

CliftNetDevice::~CliftNetDevice()
{
    NS_LOG_FUNCTION(this);
    clift_link_free(m_link);
}

void
CliftNetDevice::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    GetOwner()->NeedLink();
    NetDevice::DoInitialize();
}

void
CliftNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    clift_link_free(m_link);
    m_link = nullptr;
    m_scenario = nullptr;
    m_carried.clear();
    m_channel = nullptr;
    m_peer = nullptr;
    m_txQueue = nullptr;
    m_node = nullptr;
    m_rx = NetDevice::ReceiveCallback();
    m_promiscRx = NetDevice::PromiscReceiveCallback();
    NetDevice::DoDispose();
}

void
CliftNetDevice::NotifyNewAggregate()
{
    NS_LOG_FUNCTION(this);
    NetDevice::NotifyNewAggregate();
    if (m_txQueue)
    {
        return;
    }
    if (auto flowControl = GetObject<NetDeviceQueueInterface>())
    {
        // A device of several queues, or with queues of another kind, is not stopped.
        if (flowControl->GetNTxQueues() == 1)
        {
            m_txQueue = DynamicCast<CliftTxQueue>(flowControl->GetTxQueue(0));
        }
    }
}

void
CliftNetDevice::Attach(Ptr<CliftChannel> channel)
{
    NS_LOG_FUNCTION(this << channel);
    NS_ABORT_MSG_IF(m_channel, "the CliftNetDevice is attached to a channel already");
    m_channel = channel;
    m_channel->Attach(this);
    if (auto peer = m_channel->GetPeer(this))
    {
        m_peer = peer;
        if (!peer->m_peer)
        {
            peer->m_peer = this;
            peer->m_linkChange();
        }
        m_linkChange();
    }
}

Ptr<CliftNetDevice>
CliftNetDevice::GetOwner()
{
    return m_channel ? m_channel->GetOwner(this) : Ptr<CliftNetDevice>(this);
}

std::string
CliftNetDevice::Open()
{
    NS_LOG_FUNCTION(this);
    if (m_link)
    {
        return "";
    }
    if (const auto owner = GetOwner(); owner != this)
    {
        return owner->Open();
    }
    static const std::map<std::string, uint32_t> directions = {{"forward", CLIFT_FORWARD},
                                                               {"backward", CLIFT_BACKWARD},
                                                               {"reverse", CLIFT_REVERSE}};
    const auto direction = directions.find(m_direction);
    if (direction == directions.end())
    {
        return "direction \"" + m_direction +
               "\": give \"forward\", \"backward\" or \"reverse\"";
    }
    if (NanoSeconds(1).IsZero())
    {
        return "the links of CLIFT need a resolution of nanoseconds or finer; leave out "
               "Time::SetResolution";
    }
    std::string error;
    m_scenario = CliftScenario::Open(m_file, m_changes, error);
    if (m_scenario)
    {
        m_link = m_scenario->MakeLink(direction->second, m_hop, m_seed, error);
    }
    if (!m_link)
    {
        m_scenario = nullptr;
        return error;
    }
    m_readsStreams = clift_link_reads_streams(m_link) == 1;
    return "";
}

int64_t
CliftNetDevice::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    auto variable = CreateObject<UniformRandomVariable>();
    variable->SetStream(stream);
    const uint64_t high = variable->GetInteger(0, UINT32_MAX - 1);
    m_seed = high << 32 | variable->GetInteger(0, UINT32_MAX - 1);
    return 1;
}

void
CliftNetDevice::NeedLink()
{
    if (!m_link)
    {
        const std::string error = Open();
        NS_ABORT_MSG_UNLESS(error.empty(), error);
    }
}

void
CliftNetDevice::Fail() const
{
    const char* why = clift_link_error(m_link);
    NS_FATAL_ERROR((why ? why : "the link does not say why it failed"));
}

std::string
CliftNetDevice::GetReport() const
{
    if (const Ptr<const CliftNetDevice> owner =
            m_channel ? m_channel->GetOwner(this) : nullptr;
        owner && owner != this)
    {
        return owner->GetReport();
    }
    if (!m_link)
    {
        return "[]";
    }
    char* text = clift_link_report(m_link, Simulator::Now().GetNanoSeconds());
    if (!text)
    {
        Fail();
    }
    std::string report = text;
    clift_string_free(text);
    return report;
}

bool
CliftNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << dest << protocolNumber);
    m_macTx(packet);
    if (!IsLinkUp() || packet->GetSize() == 0)
    {
        m_macTxDrop(packet);
        return false;
    }
    const uint64_t now = Simulator::Now().GetNanoSeconds();
    return GetOwner()->Offer({packet, now, protocolNumber, this, dest});
}

bool
CliftNetDevice::Offer(Carried carried)
{
    NeedLink();
    const auto [packet, now, protocolNumber, from, to] = carried;
    Poll(now, false);
    const uint64_t number = m_nextPacket++;
    int32_t taken;
    if (m_readsStreams)
    {
        const auto range = m_streams.Read(packet, protocolNumber);
        taken = clift_link_enqueue_in(m_link,
                                      now,
                                      number,
                                      packet->GetSize(),
                                      range.flow,
                                      range.first,
                                      range.end);
    }
    else
    {
        taken = clift_link_enqueue(m_link, now, number, packet->GetSize());
    }
    if (taken == CLIFT_WRONG)
    {
        Fail();
    }
    if (taken != CLIFT_QUEUED)
    {
        NS_LOG_LOGIC((taken == CLIFT_FULL ? "queue full" : "too large for the link"));
        from->m_macTxDrop(packet);
        from->m_queueDrops->m_drop(packet);
        UpdateFlowControl(true);
        ScheduleWakeUp();
        return false;
    }
    from->m_enqueue(packet);
    carried.packet = packet->Copy();
    m_carried.emplace(number, carried);
    ++m_waiting;
    UpdateFlowControl(true);
    ScheduleWakeUp();
    return true;
}

void
CliftNetDevice::Poll(uint64_t now, bool atPeer)
{
    if (clift_link_next(m_link) > now)
    {
        return;
    }
    clift_event event;
    int32_t polled;
    while ((polled = clift_link_poll(m_link, now, &event)) == 1)
    {
        const auto place = m_carried.find(event.packet);
        NS_ASSERT_MSG(place != m_carried.end(), "the link tells of a packet that it does not have");
        const Carried carried = place->second;
        switch (event.kind)
        {
        case CLIFT_DEPARTED:
            --m_waiting;
            carried.from->m_phyTxBegin(carried.packet);
            carried.from->m_sniffer(carried.packet);
            carried.from->m_promiscSniffer(carried.packet);
            break;
        case CLIFT_DELIVERED:
            m_carried.erase(place);
            carried.from->m_phyTxEnd(carried.packet);
            carried.from->m_delivered(carried.packet, NanoSeconds(now - carried.entered));
            Deliver(carried, atPeer);
            break;
        case CLIFT_LOST:
            m_carried.erase(place);
            carried.from->m_phyTxEnd(carried.packet);
            for (const auto& receiver : m_channel->GetReceivers(this, carried.to))
            {
                receiver->m_phyRxDrop(carried.packet);
            }
            break;
        case CLIFT_TRACE_ENDED:
            if (carried.from->m_traceEnded.IsEmpty())
            {
                // ns-3's log says nothing where it is not compiled in.
                std::clog << m_file << ": the trace ended at " << Simulator::Now().As(Time::S)
                          << "; packets that wait get no further" << std::endl;
            }
            carried.from->m_traceEnded(carried.packet);
            break;
        default:
            NS_FATAL_ERROR("the link tells of something that this module does not know");
        }
        // What was called may have ended the simulation, and the device with it.
        if (!m_link)
        {
            return;
        }
    }
    if (polled == CLIFT_WRONG)
    {
        Fail();
    }
    UpdateFlowControl(false);
}

void
CliftNetDevice::Deliver(const Carried& carried, bool atPeer)
{
    const auto receivers = m_channel->GetReceivers(this, carried.to);
    const Address from = carried.from->GetAddress();
    for (const auto& receiver : receivers)
    {
        // Each of several takes headers off a packet of its own.
        const auto packet = receivers.size() == 1 ? carried.packet : carried.packet->Copy();
        if (atPeer && receiver == m_peer)
        {
            receiver->Receive(packet, carried.protocol, from);
        }
        else
        {
            Simulator::ScheduleWithContext(receiver->GetNode()->GetId(),
                                           Time(0),
                                           &CliftNetDevice::Receive,
                                           receiver,
                                           packet,
                                           carried.protocol,
                                           from);
        }
    }
}

void
CliftNetDevice::WakeUp()
{
    NS_LOG_FUNCTION(this);
    if (!m_link)
    {
        return;
    }
    m_wakeUps.pop_back();
    Poll(Simulator::Now().GetNanoSeconds(), true);
    if (m_link)
    {
        ScheduleWakeUp();
    }
}

void
CliftNetDevice::ScheduleWakeUp()
{
    const uint64_t next = clift_link_next(m_link);
    // A wake-up before it asks again.
    if (next == CLIFT_NEVER || (!m_wakeUps.empty() && m_wakeUps.back() <= next))
    {
        return;
    }
    // Beyond what ns-3's time can say nothing happens.
    if (next > static_cast<uint64_t>(Simulator::GetMaximumSimulationTime().GetNanoSeconds()))
    {
        return;
    }
    m_wakeUps.push_back(next);
    // Most wake-ups deliver: they run as events of the node that receives.
    Simulator::ScheduleWithContext(m_peer->GetNode()->GetId(),
                                   NanoSeconds(next) - Simulator::Now(),
                                   &CliftNetDevice::WakeUp,
                                   Ptr<CliftNetDevice>(this));
}

bool
CliftNetDevice::HasRoom(uint32_t mtu) const
{
    // An empty queue takes whatever it can ever take.
    const uint64_t now = Simulator::Now().GetNanoSeconds();
    return m_waiting == 0 || clift_link_room(m_link, now, mtu) != 0;
}

void
CliftNetDevice::UpdateFlowControl(bool stop)
{
    for (const auto& device : m_channel->GetSharers(this))
    {
        const auto& queue = device->m_txQueue;
        if (!queue || !queue->HasQueueDisc() || !(stop || queue->IsStopped()))
        {
            continue;
        }
        if (!HasRoom(device->m_mtu))
        {
            queue->Stop();
        }
        else if (queue->IsStopped())
        {
            // The queue disc runs as an event of its own node.
            Simulator::ScheduleWithContext(device->m_node->GetId(),
                                           Time(0),
                                           &CliftNetDevice::WakeQueueDisc,
                                           device);
        }
    }
}

void
CliftNetDevice::WakeQueueDisc()
{
    NS_LOG_FUNCTION(this);
    // Something else may have filled the queue in the meantime.
    const auto owner = GetOwner();
    if (owner->m_link && m_txQueue && m_txQueue->IsStopped() && owner->HasRoom(m_mtu))
    {
        m_txQueue->Wake();
    }
}

void
CliftNetDevice::Receive(Ptr<Packet> packet, uint16_t protocol, Address from)
{
    NS_LOG_FUNCTION(this << packet << protocol << from);
    m_phyRxEnd(packet);
    m_sniffer(packet);
    m_promiscSniffer(packet);
    m_macPromiscRx(packet);
    if (!m_promiscRx.IsNull())
    {
        m_promiscRx(this,
                    packet->Copy(),
                    protocol,
                    from,
                    GetAddress(),
                    NetDevice::PACKET_HOST);
    }
    m_macRx(packet);
    if (!m_rx.IsNull())
    {
        m_rx(this, packet, protocol, from);
    }
}

void
CliftNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
CliftNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
CliftNetDevice::GetChannel() const
{
    return m_channel;
}

void
CliftNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
CliftNetDevice::GetAddress() const
{
    return m_address;
}

bool
CliftNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
CliftNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
CliftNetDevice::IsLinkUp() const
{
    return m_peer != nullptr;
}

void
CliftNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
CliftNetDevice::IsBroadcast() const
{
    return true;
}

Address
CliftNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
CliftNetDevice::IsMulticast() const
{
    return true;
}

Address
CliftNetDevice::GetMulticast(Ipv4Address) const
{
    return Mac48Address::GetBroadcast();
}

Address
CliftNetDevice::GetMulticast(Ipv6Address) const
{
    return Mac48Address::GetBroadcast();
}

bool
CliftNetDevice::IsBridge() const
{
    return false;
}

bool
CliftNetDevice::IsPointToPoint() const
{
    return !m_channel || m_channel->GetNDevices() < 3;
}

bool
CliftNetDevice::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node>
CliftNetDevice::GetNode() const
{
    return m_node;
}

void
CliftNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
CliftNetDevice::NeedsArp() const
{
    return !IsPointToPoint();
}

void
CliftNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    m_rx = cb;
}

void
CliftNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    m_promiscRx = cb;
}

bool
CliftNetDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
