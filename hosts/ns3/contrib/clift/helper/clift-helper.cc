/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-helper.h"

#include "ns3/abort.h"
#include "ns3/clift-channel.h"
#include "ns3/clift-net-device.h"
#include "ns3/clift-tx-queue.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CliftHelper");

CliftHelper::CliftHelper()
{
    m_deviceFactory.SetTypeId("ns3::CliftNetDevice");
}

CliftHelper::~CliftHelper()
{
}

void
CliftHelper::SetDeviceAttribute(std::string name, const AttributeValue& value)
{
    m_deviceFactory.Set(name, value);
}

void
CliftHelper::DisableFlowControl()
{
    m_enableFlowControl = false;
}

NetDeviceContainer
CliftHelper::Join(const NodeContainer& nodes) const
{
    auto channel = CreateObject<CliftChannel>();
    NetDeviceContainer devices;
    for (auto each = nodes.Begin(); each != nodes.End(); ++each)
    {
        const auto node = *each;
        auto device = m_deviceFactory.Create<CliftNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        node->AddDevice(device);
        if (m_enableFlowControl)
        {
            auto flowControl = CreateObjectWithAttributes<NetDeviceQueueInterface>(
                "TxQueuesType",
                TypeIdValue(CliftTxQueue::GetTypeId()),
                "NTxQueues",
                UintegerValue(1));
            device->AggregateObject(flowControl);
        }
        device->Attach(channel);
        devices.Add(device);
    }
    return devices;
}

NetDeviceContainer
CliftHelper::Install(const NodeContainer& nodes) const
{
    NS_ABORT_MSG_UNLESS(nodes.GetN() > 1, "a CliftChannel joins two nodes or more");
    NetDeviceContainer devices = Join(nodes);
    devices.Get(1)->SetAttribute("Direction", StringValue("backward"));
    return devices;
}

NetDeviceContainer
CliftHelper::Install(Ptr<Node> a, Ptr<Node> b, const std::string& scenario) const
{
    NetDeviceContainer devices = Install(NodeContainer(a, b));
    devices.Get(0)->SetAttribute("Scenario", StringValue(scenario));
    devices.Get(1)->SetAttribute("Scenario", StringValue(scenario));
    return devices;
}

NetDeviceContainer
CliftHelper::Install(Ptr<Node> a,
                     Ptr<Node> b,
                     const std::string& there,
                     const std::string& back) const
{
    NetDeviceContainer devices = Join(NodeContainer(a, b));
    devices.Get(0)->SetAttribute("Scenario", StringValue(there));
    devices.Get(1)->SetAttribute("Scenario", StringValue(back));
    devices.Get(1)->SetAttribute("Direction", StringValue("reverse"));
    return devices;
}

int64_t
CliftHelper::AssignStreams(NetDeviceContainer devices, int64_t stream)
{
    int64_t used = 0;
    for (auto each = devices.Begin(); each != devices.End(); ++each)
    {
        if (auto device = DynamicCast<CliftNetDevice>(*each))
        {
            used += device->AssignStreams(stream + used);
        }
    }
    return used;
}

std::string
CliftHelper::Check(const std::string& scenario, const std::string& changes)
{
    // Both stay until the end, so that they share their traces.
    std::vector<Ptr<CliftNetDevice>> devices;
    for (const auto direction : {"forward", "backward"})
    {
        auto device = CreateObject<CliftNetDevice>();
        devices.push_back(device);
        device->SetAttribute("Scenario", StringValue(scenario));
        device->SetAttribute("Changes", StringValue(changes));
        device->SetAttribute("Direction", StringValue(direction));
        if (const auto error = device->Open(); !error.empty())
        {
            return error;
        }
    }
    return "";
}

void
CliftHelper::EnablePcapInternal(std::string prefix,
                                Ptr<NetDevice> nd,
                                bool promiscuous,
                                bool explicitFilename)
{
    // EnablePcapAll asks for devices of every kind.
    auto device = DynamicCast<CliftNetDevice>(nd);
    if (!device)
    {
        NS_LOG_INFO("Device " << nd << " is no ns3::CliftNetDevice");
        return;
    }
    PcapHelper helper;
    const std::string name =
        explicitFilename ? prefix : helper.GetFilenameFromDevice(prefix, device);
    // DLT_RAW by its number: ns-3.49 deprecates PcapHelper's name for another that older ones lack.
    const auto raw = static_cast<PcapHelper::DataLinkType>(101);
    auto file = helper.CreateFile(name, std::ios::out, raw);
    helper.HookDefaultSink<CliftNetDevice>(device,
                                           promiscuous ? "PromiscSniffer" : "Sniffer",
                                           file);
}

void
CliftHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                 std::string prefix,
                                 Ptr<NetDevice> nd,
                                 bool explicitFilename)
{
    auto device = DynamicCast<CliftNetDevice>(nd);
    if (!device)
    {
        NS_LOG_INFO("Device " << nd << " is no ns3::CliftNetDevice");
        return;
    }
    Packet::EnablePrinting();
    AsciiTraceHelper helper;
    if (!stream)
    {
        const std::string name =
            explicitFilename ? prefix : helper.GetFilenameFromDevice(prefix, device);
        auto file = helper.CreateFileStream(name);
        helper.HookDefaultEnqueueSinkWithoutContext<CliftNetDevice>(device, "Enqueue", file);
        helper.HookDefaultDequeueSinkWithoutContext<CliftNetDevice>(device, "PhyTxBegin", file);
        helper.HookDefaultDropSinkWithoutContext<CliftNetDevice>(device, "MacTxDrop", file);
        helper.HookDefaultDropSinkWithoutContext<CliftNetDevice>(device, "PhyRxDrop", file);
        helper.HookDefaultReceiveSinkWithoutContext<CliftNetDevice>(device, "MacRx", file);
        return;
    }
    const std::string path = "/NodeList/" + std::to_string(nd->GetNode()->GetId()) +
                             "/DeviceList/" + std::to_string(nd->GetIfIndex()) + "/";
    helper.HookDefaultEnqueueSinkWithContext(device, path + "Enqueue", "Enqueue", stream);
    helper.HookDefaultDequeueSinkWithContext(device, path + "PhyTxBegin", "PhyTxBegin", stream);
    for (const std::string drop : {"MacTxDrop", "PhyRxDrop"})
    {
        helper.HookDefaultDropSinkWithContext(device, path + drop, drop, stream);
    }
    helper.HookDefaultReceiveSinkWithContext(device, path + "MacRx", "MacRx", stream);
}

} // namespace ns3
