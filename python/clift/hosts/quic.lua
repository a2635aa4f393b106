-- Wireshark's view of QUIC in the captures of simulated runs, which are not encrypted:
--   tshark -X lua_script:quic.lua -r run.pcapng
-- The layouts are those of RFC 9000 (sections 17 and 19), RFC 9221 and draft-ietf-quic-ack-frequency.

local quic = Proto("clift_quic", "QUIC of a simulated run")
local kind = ProtoField.string("clift_quic.type", "Packet type")
local number = ProtoField.uint32("clift_quic.packet_number", "Packet number (its last bits)")
local frame = ProtoField.string("clift_quic.frame", "Frame")
local offset = ProtoField.uint64("clift_quic.stream.offset", "Stream offset")
local length = ProtoField.uint64("clift_quic.stream.length", "Stream bytes")
local largest = ProtoField.uint64("clift_quic.ack.largest", "Largest acknowledged")
quic.fields = { kind, number, frame, offset, length, largest }

local CID, TAG = 8, 16 -- bytes
local LONG = { [0] = "Initial", "0-RTT", "Handshake", "Retry" }
-- Name, number of integers, and what follows them: bytes with their number, or a number of bytes.
local FRAMES = {
    [0x00] = { "PADDING", 0 }, [0x01] = { "PING", 0 }, [0x04] = { "RESET_STREAM", 3 },
    [0x05] = { "STOP_SENDING", 2 }, [0x06] = { "CRYPTO", 1, "counted" },
    [0x07] = { "NEW_TOKEN", 0, "counted" }, [0x10] = { "MAX_DATA", 1 },
    [0x11] = { "MAX_STREAM_DATA", 2 }, [0x12] = { "MAX_STREAMS", 1 }, [0x13] = { "MAX_STREAMS", 1 },
    [0x14] = { "DATA_BLOCKED", 1 }, [0x15] = { "STREAM_DATA_BLOCKED", 2 },
    [0x16] = { "STREAMS_BLOCKED", 1 }, [0x17] = { "STREAMS_BLOCKED", 1 },
    [0x18] = { "NEW_CONNECTION_ID", 2, "id" }, [0x19] = { "RETIRE_CONNECTION_ID", 1 },
    [0x1a] = { "PATH_CHALLENGE", 0, 8 }, [0x1b] = { "PATH_RESPONSE", 0, 8 },
    [0x1c] = { "CONNECTION_CLOSE", 2, "counted" }, [0x1d] = { "CONNECTION_CLOSE", 1, "counted" },
    [0x1e] = { "HANDSHAKE_DONE", 0 }, [0x1f] = { "IMMEDIATE_ACK", 0 },
    [0xaf] = { "ACK_FREQUENCY", 4 },
}

-- A reader of the bytes up to `stop`; it raises an error where the capture ends.
local function reader(tvb, at, stop)
    local self = { at = at, stop = stop }
    function self.skip(count)
        self.at = self.at + count
        if self.at > stop then error("the packet ends", 0) end
    end
    function self.fixed(count)
        local from = self.at
        self.skip(count)
        return tvb(from, count):uint()
    end
    function self.integer() -- RFC 9000, section 16
        local value = self.fixed(1)
        local more = 2 ^ math.floor(value / 64) - 1
        value = value % 64
        for _ = 1, more do value = value * 256 + self.fixed(1) end
        return value
    end
    return self
end

local function stream(tree, tvb, read, from, type)
    read.integer() -- its number
    local start = type % 8 >= 4 and read.integer() or 0
    local count = type % 4 >= 2 and read.integer() or read.stop - read.at
    local node = tree:add(frame, tvb(from), ("STREAM %d to %d"):format(start, start + count))
    node:add(offset, UInt64.new(start % 2 ^ 32, math.floor(start / 2 ^ 32)))
    node:add(length, UInt64.new(count))
    read.skip(count)
    return "STREAM"
end

local function ack(tree, tvb, read, from, type)
    local acknowledged = read.integer()
    local node = tree:add(frame, tvb(from), ("ACK up to %d"):format(acknowledged))
    node:add(largest, UInt64.new(acknowledged))
    read.integer() -- the delay
    local ranges = read.integer()
    for _ = 1, 1 + 2 * ranges + (type == 3 and 3 or 0) do read.integer() end
    return "ACK"
end

local function one_frame(tree, tvb, read)
    local from, type = read.at, read.integer()
    if type == 2 or type == 3 then return ack(tree, tvb, read, from, type) end
    if type >= 0x08 and type <= 0x0f then return stream(tree, tvb, read, from, type) end
    if type == 0x30 or type == 0x31 then
        local count = type == 0x31 and read.integer() or read.stop - read.at
        tree:add(frame, tvb(from), ("DATAGRAM of %d bytes"):format(count))
        read.skip(count)
        return "DATAGRAM"
    end
    local row = FRAMES[type]
    if not row then error(("unknown frame %d"):format(type), 0) end
    if type ~= 0 then tree:add(frame, tvb(from), row[1]) end
    for _ = 1, row[2] do read.integer() end
    if row[3] == "counted" then read.skip(read.integer()) end
    if row[3] == "id" then read.skip(read.fixed(1) + 16) end
    if row[1]:match("^PATH_") then read.skip(row[3]) end
    return row[1]
end

-- One packet of a datagram; returns where the next begins.
local function one_packet(tvb, tree, names, at)
    local whole = tvb:reported_len()
    local head = reader(tvb, at, whole)
    local first = head.fixed(1)
    local name, stop = "1-RTT", whole
    if first >= 0x80 then
        name = LONG[math.floor(first / 16) % 4]
        head.skip(4) -- the version
        for _ = 1, 2 do head.skip(head.fixed(1)) end
        if name == "Initial" then head.skip(head.integer()) end
        stop = head.integer() + head.at
    else
        head.skip(CID)
    end
    local node = tree:add(quic, tvb(at), "QUIC " .. name)
    node:add(kind, tvb(at, 1), name)
    local from, bytes = head.at, first % 4 + 1
    head.skip(bytes)
    node:add(number, tvb(from, bytes))
    names[#names + 1] = ("%s %d"):format(name, tvb(from, bytes):uint())
    local read = reader(tvb, head.at, stop - TAG)
    while read.at < read.stop do
        local got = one_frame(node, tvb, read)
        if got ~= "PADDING" then names[#names + 1] = got end
    end
    return stop
end

function quic.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "QUIC"
    local names, at = {}, 0
    -- An error is the end of what was captured of the packet (`--snap`).
    pcall(function()
        while at < tvb:reported_len() do at = one_packet(tvb, tree, names, at) end
    end)
    pinfo.cols.info = table.concat(names, ", ")
end

DissectorTable.get("udp.port"):add(5001, quic)
