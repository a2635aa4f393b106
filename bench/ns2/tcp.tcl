# One TCP flow over one link in ns-2, with losses at given positions.
#
# usage: ns tcp.tcl key=value ...
#   ca=reno|cubic|hybla|westwood|compound   congestion control of Agent/TCP/Linux
#   rate=2300000        bit/s, both directions
#   rtt=500             two-way propagation, ms
#   buffer=192          queue limit as ns-2 counts it: one less may wait
#   window=288          window_, packets
#   duration=400        s
#   packets=0           packets to send; 0: without end
#   drops=FILE          positions of lost packets, counted from 0 behind the link; "": none
#   late=FILE           positions of packets that arrive late, likewise; "": none
#   late_us=0           by how much, microseconds
#   sack=1              0: Agent/TCP/Newreno towards Agent/TCPSink, which open with a SYN
#   timestamps=1        0: none; only with sack=0
#   delack=0            delayed ACK, ms; 0: none
#   trace=FILE          "time sequence-number" of every packet sent; "": none
#   cwnd=FILE           "time window" every 0.1 s; "": none
#   syn=0               1: the first packet is a 40-byte one, as ns-2 has it by default
# Prints: RES highest-ack packets-sent retransmissions timeouts cuts last-arrival

array set o {ca reno rate 2300000 rtt 500 buffer 192 window 288 duration 400 packets 0
             drops "" late "" late_us 0 sack 1 timestamps 1 delack 0 trace "" cwnd "" syn 0}
foreach argument $argv {
  regexp {^([a-z_]+)=(.*)$} $argument all key value
  if {![info exists o($key)]} { puts stderr "unknown key $key"; exit 2 }
  set o($key) $value
}

set ns [new Simulator]
$ns use-scheduler Heap
set n0 [$ns node]
set n1 [$ns node]
$ns duplex-link $n0 $n1 $o(rate) [expr $o(rtt) / 2000.0] DropTail
$ns queue-limit $n0 $n1 $o(buffer)
$ns queue-limit $n1 $n0 100000

# A module behind the link that loses or delays the packets at the positions in a file.
proc affect {file late} {
  global ns n0 n1
  set channel [open $file]
  set positions [read -nonewline $channel]
  close $channel
  if {[llength $positions] == 0} return
  set model [new ErrorModel/List]
  $model unit pkt
  $model droplist $positions
  if {$late > 0} {
    $model set delay_pkt_ true
    $model set delay_ $late
  } else {
    $model drop-target [new Agent/Null]
  }
  $ns link-lossmodel $model $n0 $n1
}
if {$o(drops) ne ""} { affect $o(drops) 0 }
if {$o(late) ne ""} { affect $o(late) [expr $o(late_us) / 1e6] }

if {$o(sack)} {
  set tcp [new Agent/TCP/Linux]
} else {
  set tcp [new Agent/TCP/Newreno]
}
$tcp set timestamps_ $o(timestamps)
$tcp set window_ $o(window)
# Every packet is 1500 bytes on the wire. With useHeaders_ the first one would be smaller, and
# with syn_ it would be a 40-byte packet that takes up a sequence number. The congestion control
# takes its segment size when it is selected: the payload, 1448 bytes.
$tcp set packetSize_ [expr {$o(timestamps) ? 1448 : 1460}]
if {$o(sack)} {
  $ns at 0 "$tcp select_ca $o(ca)"
}
if {$o(syn) || !$o(sack)} {
  $tcp set ts_option_size_ 12
} else {
  $tcp set syn_ false
  $tcp set useHeaders_ false
  $ns at 0 "$tcp set packetSize_ 1500"
}
if {$o(delack) > 0} {
  set sink [new Agent/TCPSink[expr {$o(sack) ? "/Sack1" : ""}]/DelAck]
  $sink set interval_ [expr $o(delack) / 1e3]
} else {
  set sink [new Agent/TCPSink[expr {$o(sack) ? "/Sack1" : ""}]]
}
$sink set ts_echo_rfc1323_ true
$ns attach-agent $n0 $tcp
$ns attach-agent $n1 $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$o(packets) > 0} {
  $ns at 0.0 "$ftp produce $o(packets)"
} else {
  $ns at 0.0 "$ftp start"
}

if {$o(trace) ne ""} {
  set trace [open "|awk {\$1 == \"+\" && \$5 == \"tcp\" {print \$2, \$11}} > $o(trace)" w]
  $ns trace-queue $n0 $n1 $trace
}
if {$o(cwnd) ne ""} {
  set windows [open $o(cwnd) w]
  $ns at 0.1 sample
}
proc sample {} {
  global ns tcp windows
  puts $windows "[$ns now] [$tcp set cwnd_]"
  $ns after 0.1 sample
}
$ns at $o(duration) finish
proc finish {} {
  global tcp trace windows
  if {[info exists trace]} { close $trace }
  if {[info exists windows]} { close $windows }
  puts "RES [$tcp set ack_] [$tcp set ndatapack_] [$tcp set nrexmitpack_] [$tcp set nrexmit_]\
        [$tcp set ncwndcuts_]"
  exit 0
}
# Without timestamps an agent reads a clock with ticks of 10 ms that begin at a random time, drawn
# when the run begins: after this seed it draws 0.3 ns.
$defaultRNG seed 143581
$ns run
