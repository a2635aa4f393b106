/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-stream-reader.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr uint16_t IPV4 = 0x0800; //!< Ether type.
constexpr uint16_t IPV6 = 0x86dd; //!< Ether type.
constexpr uint8_t TCP = 6;        //!< Protocol of an IP packet.
constexpr uint8_t SYN = 2;        //!< Flag of a TCP segment.

/**
 * \param at where two bytes stand
 * \return the number in network order
 */
uint16_t
Read16(const uint8_t* at)
{
    return static_cast<uint16_t>(at[0] << 8 | at[1]);
}

/**
 * \param at where four bytes stand
 * \return the number in network order
 */
uint32_t
Read32(const uint8_t* at)
{
    return static_cast<uint32_t>(Read16(at)) << 16 | Read16(at + 2);
}

/**
 * \param next an IPv6 header's "next header"
 * \return whether that is an extension with its length in its second byte
 */
bool
IsExtension(uint8_t next)
{
    return next == 0 || next == 43 || next == 60;
}

} // namespace

CliftStreamReader::Range
CliftStreamReader::Read(Ptr<const Packet> packet, uint16_t protocol)
{
    std::array<uint8_t, 192> bytes;
    const uint32_t read = packet->CopyData(bytes.data(), bytes.size());
    Key key{};
    uint32_t header = 0; // where the segment begins
    uint32_t total = 0;  // where it ends
    if (protocol == IPV4 && read >= 20)
    {
        // A later fragment has no TCP header.
        const bool later = (Read16(&bytes[6]) & 0x1fff) != 0;
        if (bytes[9] != TCP || later)
        {
            return {};
        }
        header = (bytes[0] & 0xf) * 4;
        total = Read16(&bytes[2]);
        std::copy_n(&bytes[12], 8, key.begin());
    }
    else if (protocol == IPV6 && read >= 40)
    {
        uint8_t next = bytes[6];
        header = 40;
        total = 40 + Read16(&bytes[4]);
        while (IsExtension(next) && header + 8 <= read)
        {
            next = bytes[header];
            header += 8 + 8 * bytes[header + 1];
        }
        if (next != TCP)
        {
            return {};
        }
        std::copy_n(&bytes[8], 32, key.begin());
    }
    else
    {
        return {};
    }
    if (header + 20 > read)
    {
        return {};
    }
    const uint8_t* tcp = &bytes[header];
    std::copy_n(tcp, 4, key.begin() + 32);
    const uint32_t sequence = Read32(tcp + 4);
    const uint32_t data = header + (tcp[12] >> 4) * 4;
    const bool syn = (tcp[13] & SYN) != 0;
    if (!syn && data >= total)
    {
        return {};
    }
    const uint32_t first = sequence + (syn ? 1 : 0);
    const auto [place, fresh] = m_flows.try_emplace(key);
    Flow& flow = place->second;
    // A further SYN with another number opens a new stream between the same ends.
    if (fresh || (syn && first != flow.base))
    {
        flow = {m_next++, first, 0};
    }
    if (data >= total)
    {
        return {};
    }
    const auto ahead =
        static_cast<int32_t>(first - flow.base - static_cast<uint32_t>(flow.highest));
    if (ahead < 0 && static_cast<uint64_t>(-static_cast<int64_t>(ahead)) > flow.highest)
    {
        return {}; // before the stream: a probe of an idle connection
    }
    const uint64_t start = flow.highest + ahead;
    flow.highest = std::max(flow.highest, start);
    return {flow.number, start, start + (total - data)};
}

} // namespace ns3
