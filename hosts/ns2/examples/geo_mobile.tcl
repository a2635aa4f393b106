# The demo's link inside ns-2: three schemes times five TCPs over a mobile GEO link, 15 pairs of nodes
# in one simulation.
#
#   make ns2 && ns hosts/ns2/examples/geo_mobile.tcl ?bad|good? ?seconds?
#
# `reno` of Agent/TCP/Linux is what Kuhn 2014 calls New Reno.
set here [file dirname [file normalize [info script]]]
set root [file join $here .. .. ..]
load [file join $root target ns2 clift.so]

foreach {reception seconds} {bad 400} break
if {[llength $argv] > 0} { set reception [lindex $argv 0] }
if {[llength $argv] > 1} { set seconds [lindex $argv 1] }
set schemes {ARQ HARQ(10/12) HARQ(10/15)}
set variants {reno cubic hybla westwood compound}

set ns [new Simulator]
$ns use-scheduler Heap
foreach scheme $schemes {
    foreach variant $variants {
        set sender [$ns node]
        set receiver [$ns node]
        $ns clift-link $sender $receiver [file join $root examples geo_mobile.toml] -set [list \
            scheme $scheme reception $reception task bulk transport.congestion newreno \
            duration "[expr {$seconds + 1}] s" runs 1]
        set tcp [new Agent/TCP/Linux]
        $tcp set timestamps_ true
        $tcp set window_ 1000
        # Every packet has 1500 bytes: else ns-2's first one has 40 and counts as data. The control takes
        # its segment size when it is selected: the payload.
        $tcp set packetSize_ 1448
        $tcp set syn_ false
        $tcp set useHeaders_ false
        set sink [new Agent/TCPSink/Sack1]
        $sink set ts_echo_rfc1323_ true
        $ns attach-agent $sender $tcp
        $ns attach-agent $receiver $sink
        $ns connect $tcp $sink
        $ns at 0 "$tcp select_ca $variant"
        $ns at 0 "$tcp set packetSize_ 1500"
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        $ns at 0 "$ftp start"
        set agent($scheme,$variant) $tcp
    }
}

proc finish {} {
    global schemes variants agent seconds reception
    puts "goodput in kbit/s, $reception reception, $seconds s"
    puts [format "%-10s[string repeat %12s [llength $schemes]]" TCP {*}$schemes]
    foreach variant $variants {
        set line [format %-10s $variant]
        foreach scheme $schemes {
            set bits [expr {([$agent($scheme,$variant) set ack_] + 1) * 1448 * 8}]
            append line [format %12.1f [expr {$bits / $seconds / 1000.0}]]
        }
        puts $line
    }
    exit 0
}
$ns at $seconds finish
$ns run
