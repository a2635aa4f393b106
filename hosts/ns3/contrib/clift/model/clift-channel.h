/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_CHANNEL_H
#define CLIFT_CHANNEL_H

#include "ns3/channel.h"

#include <array>

namespace ns3
{

class CliftNetDevice;

/**
 * \ingroup clift
 * \brief Joins two CliftNetDevices.
 *
 * It takes no time: all that happens to a packet happens in the link of the device that sends it.
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
     * \param device the first or the second one
     */
    void Attach(Ptr<CliftNetDevice> device);

    /**
     * \param device one of the two
     * \return the other; null while there is none
     */
    Ptr<CliftNetDevice> GetPeer(Ptr<const CliftNetDevice> device) const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    std::array<Ptr<CliftNetDevice>, 2> m_devices; //!< The ends.
};

} // namespace ns3

#endif /* CLIFT_CHANNEL_H */
