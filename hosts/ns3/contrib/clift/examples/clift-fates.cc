/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Offers packets to the link of a scenario file at given instants, and says what becomes of them:
//
//   clift-fates --scenario=geo.toml < arrivals > fates
//
// A line of arrivals is "at_ns bytes first end": when, how large an IP packet, and which bytes of a
// TCP stream it carries (first = end for none). A line of fates is "fate at_ns": 0 delivered, 1
// lost, 2 dropped, 3 still on its way, and when.

#include "ns3/clift-module.h"
#include "ns3/core-module.h"
#include "ns3/network-module.h"

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

/// A packet, and what became of it.
struct Line
{
    uint64_t at{0};      //!< When it comes, in ns.
    uint32_t bytes{0};   //!< Its size.
    uint64_t first{0};   //!< The first byte of the stream that it carries.
    uint64_t end{0};     //!< Behind the last one.
    int fate{3};         //!< What became of it.
    uint64_t settled{0}; //!< When, in ns.
};

std::vector<Line> g_lines;                        //!< All packets.
std::unordered_map<uint64_t, uint64_t> g_numbers; //!< Their lines, by ns-3's numbers.

void
Settle(int fate, Ptr<const Packet> packet)
{
    Line& line = g_lines[g_numbers.at(packet->GetUid())];
    line.fate = fate;
    line.settled = Simulator::Now().GetNanoSeconds();
}

/**
 * \param line what to carry
 * \return an IPv4 packet of its size, with a TCP segment if it carries bytes of a stream
 */
Ptr<Packet>
Make(const Line& line)
{
    if (line.first == line.end)
    {
        return Create<Packet>(line.bytes);
    }
    const auto payload = static_cast<uint32_t>(line.end - line.first);
    std::vector<uint8_t> header(line.bytes - payload);
    const auto sequence = static_cast<uint32_t>(line.first);
    header[0] = 0x45;
    header[2] = line.bytes >> 8;
    header[3] = line.bytes;
    header[9] = 6;
    for (int i = 0; i < 4; ++i)
    {
        header[24 + i] = sequence >> (24 - 8 * i);
    }
    header[32] = (header.size() - 20) / 4 << 4;
    auto packet = Create<Packet>(header.data(), header.size());
    packet->AddAtEnd(Create<Packet>(payload));
    return packet;
}

void
Send(Ptr<NetDevice> device, uint64_t number)
{
    auto packet = Make(g_lines[number]);
    g_numbers[packet->GetUid()] = number;
    device->Send(packet, device->GetBroadcast(), 0x0800);
    if (number + 1 < g_lines.size())
    {
        Simulator::Schedule(NanoSeconds(g_lines[number + 1].at) - Simulator::Now(),
                            &Send,
                            device,
                            number + 1);
    }
}

/**
 * \param why what is wrong
 * \return the exit code
 */
int
Wrong(const std::string& why)
{
    std::cerr << "error: " << why << std::endl;
    return 2;
}

} // namespace

int
main(int argc, char* argv[])
{
    // ns-3 cuts what it reads into a string at the first blank.
    std::array<char, 4096> scenario{};
    std::array<char, 4096> changes{};
    std::string seed;
    std::string direction = "forward";
    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "the scenario file", scenario.data(), scenario.size());
    cmd.AddValue("changes",
                 "keys of it to set, \"key=value;key=value\"",
                 changes.data(),
                 changes.size());
    cmd.AddValue("seed", "seed of the link's draws; the file's own unless given", seed);
    cmd.AddValue("direction", "forward or backward", direction);
    cmd.Parse(argc, argv);
    if (direction != "forward" && direction != "backward")
    {
        return Wrong("direction \"" + direction + "\": give forward or backward");
    }
    if (seed.find_first_not_of("0123456789") != std::string::npos)
    {
        return Wrong("seed \"" + seed + "\": give a whole number");
    }
    if (const auto error = CliftHelper::Check(scenario.data(), changes.data()); !error.empty())
    {
        return Wrong(error);
    }
    for (Line line; std::cin >> line.at >> line.bytes >> line.first >> line.end;)
    {
        const auto number = std::to_string(g_lines.size() + 1);
        if (!g_lines.empty() && line.at < g_lines.back().at)
        {
            return Wrong("line " + number + " of the arrivals: time goes back");
        }
        const uint64_t payload = line.end - line.first;
        const uint64_t header = line.bytes - payload;
        if (line.bytes == 0 || line.bytes > 65535 || line.end < line.first ||
            (payload > 0 &&
             (payload > line.bytes || header < 40 || header > 80 || header % 4 != 0)))
        {
            return Wrong("line " + number +
                         " of the arrivals: give 1 to 65535 bytes, of which 40 to 80 are headers "
                         "(a multiple of 4) where it carries bytes of a stream");
        }
        g_lines.push_back(line);
    }
    if (!std::cin.eof())
    {
        return Wrong("line " + std::to_string(g_lines.size() + 1) +
                     " of the arrivals: give \"at_ns bytes first end\"");
    }

    NodeContainer nodes(2);
    CliftHelper clift;
    clift.DisableFlowControl();
    clift.SetDeviceAttribute("Changes", StringValue(changes.data()));
    if (!seed.empty())
    {
        clift.SetDeviceAttribute("Seed", StringValue(seed));
    }
    NetDeviceContainer devices = clift.Install(nodes.Get(0), nodes.Get(1), scenario.data());
    const uint32_t from = direction == "forward" ? 0 : 1;
    auto sender = devices.Get(from);
    auto receiver = devices.Get(1 - from);
    receiver->TraceConnectWithoutContext("MacRx", MakeBoundCallback(&Settle, 0));
    receiver->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&Settle, 1));
    sender->TraceConnectWithoutContext("MacTxDrop", MakeBoundCallback(&Settle, 2));
    if (!g_lines.empty())
    {
        Simulator::ScheduleWithContext(sender->GetNode()->GetId(),
                                       NanoSeconds(g_lines[0].at),
                                       &Send,
                                       sender,
                                       uint64_t{0});
    }
    Simulator::Run();
    for (const auto& line : g_lines)
    {
        std::cout << line.fate << ' ' << line.settled << '\n';
    }
    std::cout.flush();
    Simulator::Destroy();
    return std::cout ? 0 : Wrong("the fates cannot be written");
}
