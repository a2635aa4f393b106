/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_CHANNEL_H
#define CLIFT_CHANNEL_H

#include "ns3/address.h"
#include "ns3/channel.h"

#include <vector>

namespace ns3
{

class CliftNetDevice;

/**
 * \ingroup clift
 * \brief Joins a CliftNetDevice with another one, or with several that share the links.
 *
 * It takes no time: all that happens to a packet happens in the link of the device that sends it.
 *
 * The first device is the hub of a channel with more than two. Its link carries what it sends to
 * the device with the address of the packet, or to all others if that is a group's. The other
 * devices, the terminals, send to the hub alone, all over the link of the second device. A channel
 * has one link each way in any case, and its devices share queue, slots and draws of losses.
 */
class CliftChannel : public Channel
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    CliftChannel();
    ~CliftChannel() override;

    /**
     * Attaches a device; CliftNetDevice::Attach calls it.
     *
     * \param device the hub, or a further one
     */
    void Attach(Ptr<CliftNetDevice> device);

    /**
     * \param device one of the devices
     * \return the first one at the other end; null while there is none
     */
    Ptr<CliftNetDevice> GetPeer(Ptr<const CliftNetDevice> device) const;

    /**
     * \param device one of the devices
     * \return the device whose link carries what it sends: the first one at its own end
     */
    Ptr<CliftNetDevice> GetOwner(Ptr<const CliftNetDevice> device) const;

    /**
     * \param device one of the devices
     * \return the devices at its own end, which send over one link
     */
    std::vector<Ptr<CliftNetDevice>> GetSharers(Ptr<const CliftNetDevice> device) const;

    /**
     * \param device the device that sends
     * \param to the address to which it sends
     * \return who receives it: of two devices the other one, whatever the address
     */
    std::vector<Ptr<CliftNetDevice>> GetReceivers(Ptr<const CliftNetDevice> device,
                                                  const Address& to) const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    std::vector<Ptr<CliftNetDevice>> m_devices; //!< The hub, then the terminals.
};

} // namespace ns3

#endif /* CLIFT_CHANNEL_H */
