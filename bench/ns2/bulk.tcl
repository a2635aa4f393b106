# Bulk flows over one link: what `make bench` runs beside CLIFT.
# usage: ns bulk.tcl RATE_BPS RTT_MS SECONDS QUEUE_PACKETS WINDOW_PACKETS LOSS FLOWS cubic|reno
foreach {rate rtt seconds queue window loss flows congestion} $argv break

set ns [new Simulator]
$ns use-scheduler Heap
set source [$ns node]
set destination [$ns node]
$ns duplex-link $source $destination $rate [expr {$rtt / 2000.0}] DropTail
$ns queue-limit $source $destination $queue
$ns queue-limit $destination $source 100000

if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $source $destination
}

Agent/TCP set ts_option_size_ 12
set senders {}
for {set i 0} {$i < $flows} {incr i} {
    set tcp [new Agent/TCP/Linux]
    $tcp set timestamps_ true
    $tcp set window_ $window
    $tcp set packetSize_ 1448
    set sink [new Agent/TCPSink/Sack1]
    $sink set ts_echo_rfc1323_ true
    $ns attach-agent $source $tcp
    $ns attach-agent $destination $sink
    $ns connect $tcp $sink
    $ns at 0 "$tcp select_ca $congestion"
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0 "$ftp start"
    lappend senders $tcp
}

proc finish {} {
    global senders
    set packets 0
    foreach tcp $senders { incr packets [$tcp set ndatapack_] }
    puts $packets
    exit 0
}
$ns at $seconds finish
$ns run
