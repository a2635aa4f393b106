/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-channel.h"

#include "clift-net-device.h"

#include "ns3/abort.h"
#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CliftChannel");
NS_OBJECT_ENSURE_REGISTERED(CliftChannel);

TypeId
CliftChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CliftChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Clift")
                            .AddConstructor<CliftChannel>();
    return tid;
}

CliftChannel::CliftChannel()
{
    NS_LOG_FUNCTION(this);
}

CliftChannel::~CliftChannel()
{
    NS_LOG_FUNCTION(this);
}

void
CliftChannel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_devices = {};
    Channel::DoDispose();
}

void
CliftChannel::Attach(Ptr<CliftNetDevice> device)
{
    NS_LOG_FUNCTION(this << device);
    for (auto& place : m_devices)
    {
        if (!place)
        {
            place = device;
            return;
        }
    }
    NS_ABORT_MSG("a CliftChannel joins two devices, and this is a third");
}

Ptr<CliftNetDevice>
CliftChannel::GetPeer(Ptr<const CliftNetDevice> device) const
{
    return m_devices[device == m_devices[0] ? 1 : 0];
}

std::size_t
CliftChannel::GetNDevices() const
{
    return (m_devices[0] ? 1 : 0) + (m_devices[1] ? 1 : 0);
}

Ptr<NetDevice>
CliftChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

} // namespace ns3
