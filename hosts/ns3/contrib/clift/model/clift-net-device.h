/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_NET_DEVICE_H
#define CLIFT_NET_DEVICE_H

#include "clift-scenario.h"
#include "clift-stream-reader.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/object.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{

class CliftChannel;
class CliftTxQueue;
class Node;

/**
 * \defgroup clift CLIFT links
 *
 * Links of CLIFT scenario files: a satellite link with its channel, its reliability scheme (FEC,
 * ARQ, HARQ, ...) and its queue, or a whole way of several hops, between two nodes.
 */

/**
 * \ingroup clift
 * \brief Tells what the queue of a CliftNetDevice's link drops, where ns-3 looks for it.
 *
 * FlowMonitor counts what /NodeList/x/DeviceList/y/TxQueue/Drop tells as DROP_QUEUE. The link has
 * no ns3::Queue; the attribute TxQueue of the device is this object instead.
 */
class CliftQueueDrops : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    TracedCallback<Ptr<const Packet>> m_drop; //!< Trace source Drop.
};

/**
 * \ingroup clift
 * \brief One end of a CliftChannel, with the link that carries what it sends.
 *
 * A packet is handed to the link at the instant of Send, as the bytes of its IP packet (there is no
 * header of a layer 2), and arrives at the other device at the nanosecond at which the link
 * delivers it. Queue, slots, losses, repairs and delays are the link's: a packet meets the same
 * fate as in every other program that offers the same packets at the same instants to the same
 * link.
 *
 * Where several terminals share a channel, the attributes of the first of them describe the link
 * of all; addresses are then resolved (NeedsArp), and the packets of that pass the links, too.
 *
 * The random draws depend on the seed of the scenario alone, neither on RngSeedManager nor on other
 * devices, unless AssignStreams was called.
 *
 * The link's queue has the limit that the scenario says. What finds it full is dropped (MacTxDrop),
 * unless a queue disc of the traffic control layer waits above the device: that one is stopped
 * while the link has no room for a packet of the MTU, and woken when a packet leaves the link's
 * queue.
 *
 * Simulated time must have a resolution of nanoseconds, as it has by default, or a finer one.
 */
class CliftNetDevice : public NetDevice
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    CliftNetDevice();
    ~CliftNetDevice() override;

    /**
     * Joins the device to a channel.
     *
     * \param channel the channel
     */
    void Attach(Ptr<CliftChannel> channel);

    /**
     * Makes the link now; otherwise it is made when the simulation starts, which ends the program
     * if it cannot be. Attributes that are set later change nothing.
     *
     * \return why it cannot be, in one line; nothing if the link is there
     */
    std::string Open();

    /**
     * Sets the attribute Seed from a random stream of ns-3, so that the link's draws depend on
     * RngSeedManager's seed and run.
     *
     * \param stream the number of the stream
     * \return how many streams were used: one
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * \return what the hops of the link show now, as JSON: a list of one object a hop with offered,
     *         dropped, delivered, lost, waiting, slots, slots_used and more
     */
    std::string GetReport() const;

    /**
     * TracedCallback signature of Delivered.
     *
     * \param [in] packet the packet
     * \param [in] delay its time within the link, from Send to the other device
     */
    typedef void (*DeliveredTracedCallback)(Ptr<const Packet> packet, Time delay);

    // inherited from NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoInitialize() override;
    void DoDispose() override;
    void NotifyNewAggregate() override;

  private:
    /// A packet within the link.
    struct Carried
    {
        Ptr<Packet> packet;       //!< The packet.
        uint64_t entered;         //!< When it came, in ns.
        uint16_t protocol;        //!< Its ether type.
        Ptr<CliftNetDevice> from; //!< Who sent it.
        Address to;               //!< To whom.
    };

    /// The device whose link carries what this one sends: itself, or the first terminal of several.
    Ptr<CliftNetDevice> GetOwner();

    /**
     * Hands a packet to this device's link.
     *
     * \param packet the packet, and who sends it
     * \return whether the link took it
     */
    bool Offer(Carried packet);

    /// Ends the program unless the link is there.
    void NeedLink();

    /**
     * Works off what happened in the link up to now.
     *
     * \param now the time in ns
     * \param atPeer whether this runs in the context of the other node
     */
    void Poll(uint64_t now, bool atPeer);

    /**
     * Passes a packet that came out of this device's link to those who receive it.
     *
     * \param carried the packet
     * \param atPeer whether this runs in the context of the node of m_peer
     */
    void Deliver(const Carried& carried, bool atPeer);

    /// A wake-up that the link asked for.
    void WakeUp();

    /// Has WakeUp called when the link asks for it.
    void ScheduleWakeUp();

    /**
     * Stops the queue discs above the devices that share the link if it has no room, or wakes them.
     *
     * \param stop false to wake alone
     */
    void UpdateFlowControl(bool stop);

    /**
     * \param mtu size of a packet
     * \return whether this device's link has room for it
     */
    bool HasRoom(uint32_t mtu) const;

    /// Wakes the queue disc above.
    void WakeQueueDisc();

    /**
     * A packet came out of a link to this device.
     *
     * \param packet the packet
     * \param protocol its ether type
     * \param from the address of the device that sent it
     */
    void Receive(Ptr<Packet> packet, uint16_t protocol, Address from);

    /// Ends the program with what the link says about the last call.
    [[noreturn]] void Fail() const;

    std::string m_file;      //!< Attribute Scenario.
    std::string m_changes;   //!< Attribute Changes.
    std::string m_direction; //!< Attribute Direction.
    int64_t m_hop;           //!< Attribute Hop.
    uint64_t m_seed;         //!< Attribute Seed.

    Ptr<CliftScenario> m_scenario;                   //!< What the link was made from.
    clift_link* m_link{nullptr};                     //!< The link.
    bool m_readsStreams{false};                      //!< It must know what packets carry.
    CliftStreamReader m_streams;                     //!< What packets carry.
    std::unordered_map<uint64_t, Carried> m_carried; //!< Packets within the link by their numbers.
    uint64_t m_nextPacket{0};                        //!< The number of the next packet.
    uint64_t m_waiting{0};                           //!< Packets in the link's queue.
    std::vector<uint64_t> m_wakeUps; //!< Instants of wake-ups to come, the next one last.

    Ptr<CliftChannel> m_channel;                   //!< The channel.
    Ptr<CliftNetDevice> m_peer;                    //!< The first device at the other end.
    Ptr<CliftTxQueue> m_txQueue;                   //!< Flow control, if any.
    Ptr<Node> m_node;                              //!< The node.
    Mac48Address m_address;                        //!< Attribute Address.
    uint32_t m_ifIndex{0};                         //!< Number among the devices of the node.
    uint32_t m_mtu;                                //!< Attribute Mtu.
    NetDevice::ReceiveCallback m_rx;               //!< What takes packets up.
    NetDevice::PromiscReceiveCallback m_promiscRx; //!< Likewise, promiscuously.
    TracedCallback<> m_linkChange;                 //!< Called when the channel is attached.

    Ptr<CliftQueueDrops> m_queueDrops; //!< Attribute TxQueue.

    TracedCallback<Ptr<const Packet>> m_macTx;           //!< Trace source MacTx.
    TracedCallback<Ptr<const Packet>> m_macTxDrop;       //!< Trace source MacTxDrop.
    TracedCallback<Ptr<const Packet>> m_macPromiscRx;    //!< Trace source MacPromiscRx.
    TracedCallback<Ptr<const Packet>> m_macRx;           //!< Trace source MacRx.
    TracedCallback<Ptr<const Packet>> m_enqueue;         //!< Trace source Enqueue.
    TracedCallback<Ptr<const Packet>> m_phyTxBegin;      //!< Trace source PhyTxBegin.
    TracedCallback<Ptr<const Packet>> m_phyTxEnd;        //!< Trace source PhyTxEnd.
    TracedCallback<Ptr<const Packet>> m_phyRxEnd;        //!< Trace source PhyRxEnd.
    TracedCallback<Ptr<const Packet>> m_phyRxDrop;       //!< Trace source PhyRxDrop.
    TracedCallback<Ptr<const Packet>> m_sniffer;         //!< Trace source Sniffer.
    TracedCallback<Ptr<const Packet>> m_promiscSniffer;  //!< Trace source PromiscSniffer.
    TracedCallback<Ptr<const Packet>, Time> m_delivered; //!< Trace source Delivered.
    TracedCallback<Ptr<const Packet>> m_traceEnded;      //!< Trace source TraceEnded.
};

} // namespace ns3

#endif /* CLIFT_NET_DEVICE_H */
