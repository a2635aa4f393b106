/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-tx-queue.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CliftTxQueue);

TypeId
CliftTxQueue::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CliftTxQueue")
                            .SetParent<NetDeviceQueue>()
                            .SetGroupName("Clift")
                            .AddConstructor<CliftTxQueue>();
    return tid;
}

void
CliftTxQueue::SetWakeCallback(WakeCallback cb)
{
    m_hasQueueDisc = !cb.IsNull();
    NetDeviceQueue::SetWakeCallback(cb);
}

bool
CliftTxQueue::HasQueueDisc() const
{
    return m_hasQueueDisc;
}

} // namespace ns3
