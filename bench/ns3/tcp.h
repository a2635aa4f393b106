// TCP of ns-3 as the comparisons with CLIFT use it.
#pragma once

#include "ns3/core-module.h"

inline void
SetTcp()
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // At its default of 1 s, a recovery over a full queue (2.3 s at 263 kbit/s) ends in a timeout.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("3s"));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
}
