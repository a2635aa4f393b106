/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_HELPER_H
#define CLIFT_HELPER_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <string>

namespace ns3
{

/**
 * \ingroup clift
 * \brief Joins nodes by the links of CLIFT scenario files.
 *
 * \code
 *   CliftHelper clift;
 *   NetDeviceContainer devices = clift.Install(a, b, "geo.toml");
 *   clift.EnablePcapAll("geo");
 * \endcode
 *
 * Pcap files hold raw IP packets; a line of an ascii trace begins with + (into the link's queue),
 * - (out of it), d (dropped by the queue, or lost by the link) or r (received).
 */
class CliftHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    CliftHelper();
    ~CliftHelper() override;

    /**
     * Sets an attribute of every ns3::CliftNetDevice to come.
     *
     * \param name its name
     * \param value its value
     */
    void SetDeviceAttribute(std::string name, const AttributeValue& value);

    /**
     * Has the devices to come not stop the queue discs above them, so that every packet goes on to
     * the link at once and the link's queue is the only one. Ipv4AddressHelper::Assign then
     * installs no queue disc either.
     */
    void DisableFlowControl();

    /**
     * Joins two nodes as a file says: forward from a to b, backward from b to a.
     *
     * \param a the node at the senders' end
     * \param b the node at the receivers' end
     * \param scenario the scenario file
     * \return the devices of a and b
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b, const std::string& scenario) const;

    /**
     * Joins two nodes, each direction by the way forward of a file of its own. The way back has
     * draws of its own, also where both files are the same.
     *
     * \param a a node
     * \param b another one
     * \param there the scenario file of the direction from a to b
     * \param back the scenario file of the direction from b to a
     * \return the devices of a and b
     */
    NetDeviceContainer Install(Ptr<Node> a,
                               Ptr<Node> b,
                               const std::string& there,
                               const std::string& back) const;

    /**
     * Joins two nodes, or a hub and several terminals that share the links (CliftChannel), as the
     * attribute Scenario says.
     *
     * \param nodes the node at the senders' end, and those at the receivers'
     * \return their devices
     */
    NetDeviceContainer Install(const NodeContainer& nodes) const;

    /**
     * Has the links' draws depend on ns-3's random streams, and so on RngSeed and RngRun. By
     * default they depend on the scenario's seed alone.
     *
     * \param devices whose links; devices of other kinds are passed over
     * \param stream the number of the first stream
     * \return how many streams were used
     */
    static int64_t AssignStreams(NetDeviceContainer devices, int64_t stream);

    /**
     * Says whether a file describes links, without ending the program if it does not.
     *
     * \param scenario the scenario file
     * \param changes keys to set and points of axes to choose, "key=value;key=value"
     * \return why it does not, in one line; nothing if it does
     */
    static std::string Check(const std::string& scenario, const std::string& changes = "");

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> nd,
                            bool promiscuous,
                            bool explicitFilename) override;

    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> nd,
                             bool explicitFilename) override;

    /**
     * Makes a device for each node and joins them.
     *
     * \param nodes the nodes
     * \return their devices, in this order
     */
    NetDeviceContainer Join(const NodeContainer& nodes) const;

    ObjectFactory m_deviceFactory;  //!< Makes devices.
    bool m_enableFlowControl{true}; //!< Queue discs are stopped.
};

} // namespace ns3

#endif /* CLIFT_HELPER_H */
