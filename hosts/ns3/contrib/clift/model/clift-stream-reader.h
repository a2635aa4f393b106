/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_STREAM_READER_H
#define CLIFT_STREAM_READER_H

#include "ns3/packet.h"

#include <array>
#include <cstdint>
#include <map>

namespace ns3
{

/**
 * \ingroup clift
 * \brief Reads off packets which bytes of which TCP stream they carry.
 *
 * Links that order packets by TCP's sequence numbers, or that count packets with data, must know.
 * Bytes are counted from the one behind the SYN, without wrapping; a stream whose SYN was not seen
 * is counted from the first segment that was.
 */
class CliftStreamReader
{
  public:
    /// The bytes first to end - 1 of a stream; first = end for none.
    struct Range
    {
        uint64_t flow{0};  //!< Which stream, from 0.
        uint64_t first{0}; //!< Its first byte here.
        uint64_t end{0};   //!< Behind its last byte here.
    };

    /**
     * \param packet an IP packet on its way into a link, in the order in which they enter
     * \param protocol its ether type
     * \return what it carries; nothing if it is no TCP segment with data
     */
    Range Read(Ptr<const Packet> packet, uint16_t protocol);

  private:
    /// Both addresses and both ports.
    using Key = std::array<uint8_t, 36>;

    /// A stream.
    struct Flow
    {
        uint64_t number{0};  //!< Its number.
        uint32_t base{0};    //!< The sequence number of its byte 0.
        uint64_t highest{0}; //!< The farthest start of a segment so far.
    };

    std::map<Key, Flow> m_flows; //!< Streams by their ends.
    uint64_t m_next{0};          //!< The number of the next stream.
};

} // namespace ns3

#endif /* CLIFT_STREAM_READER_H */
