/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-channel.h"

#include "clift-net-device.h"

#include "ns3/log.h"
#include "ns3/mac48-address.h"

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
    m_devices.clear();
    Channel::DoDispose();
}

void
CliftChannel::Attach(Ptr<CliftNetDevice> device)
{
    NS_LOG_FUNCTION(this << device);
    m_devices.push_back(device);
}

Ptr<CliftNetDevice>
CliftChannel::GetPeer(Ptr<const CliftNetDevice> device) const
{
    const std::size_t at = device == m_devices[0] ? 1 : 0;
    return at < m_devices.size() ? m_devices[at] : nullptr;
}

Ptr<CliftNetDevice>
CliftChannel::GetOwner(Ptr<const CliftNetDevice> device) const
{
    return m_devices[device == m_devices[0] ? 0 : 1];
}

std::vector<Ptr<CliftNetDevice>>
CliftChannel::GetSharers(Ptr<const CliftNetDevice> device) const
{
    const auto second = m_devices.begin() + 1;
    return device == m_devices[0] ? std::vector<Ptr<CliftNetDevice>>(m_devices.begin(), second)
                                  : std::vector<Ptr<CliftNetDevice>>(second, m_devices.end());
}

std::vector<Ptr<CliftNetDevice>>
CliftChannel::GetReceivers(Ptr<const CliftNetDevice> device, const Address& to) const
{
    if (device != m_devices[0] || m_devices.size() == 2)
    {
        return {GetPeer(device)};
    }
    std::vector<Ptr<CliftNetDevice>> receivers;
    const auto address = Mac48Address::ConvertFrom(to);
    for (auto each = m_devices.begin() + 1; each != m_devices.end(); ++each)
    {
        if (address.IsGroup() || address == Mac48Address::ConvertFrom((*each)->GetAddress()))
        {
            receivers.push_back(*each);
        }
    }
    return receivers;
}

std::size_t
CliftChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
CliftChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

} // namespace ns3
