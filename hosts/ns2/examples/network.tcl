# Six nodes, two satellite links, cross traffic, with ns-2's own routing, queues and traces.
#
#   ship --- leo ===+                          +--- server
#                   +--- gateway --- backbone -+
#   van ---- geo ===+                          (cross traffic between gateway and backbone)
#
#   make ns2 && ns hosts/ns2/examples/network.tcl ?seconds?
#
# `===` are links of CLIFT: adaptive HARQ over a LEO satellite for the ship, ARQ over a mobile GEO link
# for the van, each with its own way back. Everything else is ns-2's.
set here [file dirname [file normalize [info script]]]
set root [file join $here .. .. ..]
load [file join $root target ns2 clift.so]

set seconds [expr {[llength $argv] ? [lindex $argv 0] : 100}]
set ns [new Simulator]
foreach name {ship van gateway backbone server source} { set $name [$ns node] }

# Towards the terminals, as the satellites' downlinks go; the way back is that of the files.
$ns clift-link $gateway $ship [file join $root examples leo.toml] -set [list \
    adaptive_harq.snr "13 dB" buffer tcp duration "[expr {$seconds + 1}] s" runs 1]
$ns clift-link $gateway $van [file join $root examples geo_mobile.toml] -set [list \
    scheme ARQ reception bad task bulk transport.congestion newreno \
    duration "[expr {$seconds + 1}] s" runs 1]
$ns duplex-link $gateway $backbone 20Mb 10ms RED
$ns duplex-link $backbone $server 100Mb 2ms DropTail
$ns duplex-link $backbone $source 100Mb 2ms DropTail
set monitor [$ns monitor-queue $backbone $gateway [open /dev/null w] 0.1]

Agent/TCP set ts_option_size_ 12
proc download {from to variant} {
    global ns
    set tcp [new Agent/TCP/Linux]
    $tcp set timestamps_ true
    $tcp set window_ 1000
    $tcp set packetSize_ 988 ;# 1040 with its headers, as the LEO example has it
    set sink [new Agent/TCPSink/Sack1]
    $sink set ts_echo_rfc1323_ true
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    $ns at 0 "$tcp select_ca $variant"
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0 "$ftp start"
    return $tcp
}
set flows [list ship/cubic [download $server $ship cubic] ship/reno [download $server $ship reno] \
    van/cubic [download $server $van cubic]]

# Cross traffic: bursts of 15 Mbit/s, half of the time.
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $source $udp
$ns attach-agent $gateway $null
$ns connect $udp $null
set bursts [new Application/Traffic/Exponential]
$bursts set rate_ 15Mb
$bursts set packetSize_ 1000
$bursts set burst_time_ 500ms
$bursts set idle_time_ 500ms
$bursts attach-agent $udp
$ns at 1 "$bursts start"

proc finish {} {
    global flows seconds monitor
    foreach {name tcp} $flows {
        puts [format "%-12s%10.1f kbit/s%8d sent again%6d timeouts" $name \
            [expr {([$tcp set ack_] + 1) * 988 * 8 / $seconds / 1000.0}] \
            [expr {int([$tcp set nrexmitpack_])}] [expr {int([$tcp set nrexmit_])}]]
    }
    puts "dropped by RED: [expr {int([$monitor set pdrops_])}]"
    exit 0
}
$ns at $seconds finish
$ns run
