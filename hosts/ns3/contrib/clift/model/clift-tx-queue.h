/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_TX_QUEUE_H
#define CLIFT_TX_QUEUE_H

#include "ns3/net-device-queue-interface.h"

namespace ns3
{

/**
 * \ingroup clift
 * \brief The transmission queue that a CliftNetDevice shows to the traffic control layer.
 *
 * It knows whether a queue disc waits above the device. Without one the device must not stop it:
 * the traffic control layer would throw packets away before the link sees them.
 */
class CliftTxQueue : public NetDeviceQueue
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    void SetWakeCallback(WakeCallback cb) override;

    /**
     * \return whether a queue disc is woken by this queue
     */
    bool HasQueueDisc() const;

  private:
    bool m_hasQueueDisc{false}; //!< A queue disc waits above.
};

} // namespace ns3

#endif /* CLIFT_TX_QUEUE_H */
