# SPDX-License-Identifier: GPL-2.0-only
# The commands that clift.so adds to ns-2.
#
#   $ns clift-link $n0 $n1 FILE ?options?           both directions, as the file says
#   $ns clift-simplex-link $n0 $n1 FILE ?options?   the way there only
#   $ns duplex-link $n0 $n1 0 0 Clift FILE ?FILE?   the second file: the way from $n1 to $n0
#   $ns simplex-link $n0 $n1 0 0 Clift FILE
#
# Options: -seed N (the file's own unless given), -set {key value ...} (keys of the scenario),
# -back FILE (the way from $n1 to $n0 is the way there of this file, with draws of its own, also if
# it is the same file), -back-seed N (the seed of the way from $n1 to $n0), -queue TYPE (a queue of ns-2 in
# place of the link's own; -bandwidth is what such a queue takes for the link's rate), -hop N (only
# that hop of the way there, counted from 0), -log FILE (arrivals and fates of packets in ns: a line
# `arrival PACKET NS BYTES TAKEN FLOW FIRST END`, `departed|delivered|lost|ended PACKET NS`; that of the
# way back has `.back` behind its name).

Class CliftLink -superclass SimpleLink

CliftLink instproc init {src dst file direction options} {
    array set given {-seed "" -set {} -queue "" -bandwidth 1Mb -hop "" -log ""}
    array set given $options
    set own [expr {$given(-queue) == ""}]
    set queue [new Queue/[expr {$own ? "Clift" : $given(-queue)}]]
    $self next $src $dst $given(-bandwidth) 0 $queue DelayLink/Clift
    $self instvar link_
    set keys $given(-set)
    # A queue of ns-2 hands over one packet at a time, which waits for its slot in the link.
    if {!$own} { lappend keys link.queue "1 packets" }
    eval [list $link_ open $file $given(-seed) $direction $given(-hop)] $keys
    if {$own} {
        $queue attach-clift $link_
        $link_ own-queue $queue
    }
    if {$given(-log) != ""} { $link_ log $given(-log) }
    # What the link loses is no drop of the queue.
    $link_ drop-target [[Simulator instance] set nullAgent_]
}

CliftLink instproc trace {ns file {op ""}} {
    $self next $ns $file $op
    $self instvar link_ fromNode_ toNode_
    set lost [$ns create-trace Drop $file $fromNode_ $toNode_ $op]
    $lost target [$ns set nullAgent_]
    $link_ drop-target $lost
}

# What the instruments of the link show, as JSON: a list of one object a hop.
CliftLink instproc report {} {
    $self instvar link_
    return [$link_ report]
}

Simulator instproc clift-one-way {n1 n2 file direction options} {
    $self instvar link_
    set link [new CliftLink $n1 $n2 $file $direction $options]
    set link_([$n1 id]:[$n2 id]) $link
    $n1 add-neighbor $n2 0
    array set given {-queue "" -bandwidth ""}
    array set given $options
    if {[string match "*RED*" $given(-queue)]} {
        if {$given(-bandwidth) == ""} {
            error "clift: $given(-queue) computes with the rate of the link; give -bandwidth"
        }
        [$link queue] link [$link set link_]
    }
    set trace [$self get-ns-traceall]
    if {$trace != ""} { $self trace-queue $n1 $n2 $trace }
    set trace [$self get-nam-traceall]
    if {$trace != ""} { $self namtrace-queue $n1 $n2 $trace }
    $self register-nam-linkconfig $link
    return $link
}

proc clift-options {arguments} {
    if {[llength $arguments] % 2} { error "clift: options are -name value; got: $arguments" }
    foreach {name value} $arguments {
        if {[lsearch {-seed -set -back -back-seed -queue -bandwidth -hop -log} $name] < 0} {
            error "clift: no option $name; there are -seed, -set, -back, -back-seed, -queue, -bandwidth, -hop, -log"
        }
        if {[string match "*-seed" $name] && ![string is wideinteger -strict $value]} {
            error "clift: $name $value: give a whole number"
        }
        if {$name == "-set" && [llength $value] % 2} { error "clift: -set: give key value pairs" }
    }
    return $arguments
}

Simulator instproc clift-link {n1 n2 file args} {
    set options [clift-options $args]
    array set given $options
    $self clift-one-way $n1 $n2 $file there $options
    if {[info exists given(-log)]} { append given(-log) .back }
    set direction reverse
    if {[info exists given(-back-seed)]} {
        set given(-seed) $given(-back-seed)
        set direction there
    }
    if {[info exists given(-back)]} {
        $self clift-one-way $n2 $n1 $given(-back) $direction [array get given]
        return
    }
    # The way back has no hop of the way there's number.
    unset -nocomplain given(-hop)
    $self clift-one-way $n2 $n1 $file back [array get given]
}

Simulator instproc clift-simplex-link {n1 n2 file args} {
    $self clift-one-way $n1 $n2 $file there [clift-options $args]
}

# The scenario file of a call that names a rate and a delay, too.
proc clift-file {bandwidth delay arguments most} {
    set count [llength $arguments]
    if {$count < 1 || $count > $most} {
        error "clift: behind the type `Clift` stands a scenario file[expr {$most > 1 ? {, and perhaps one for the way back} : {}}]"
    }
    foreach value [list $bandwidth $delay] {
        if {![regexp {^0*(\.0*)?[A-Za-z]*$} $value]} {
            puts stderr "clift: $value is not used; rate and delay are those of [lindex $arguments 0]"
        }
    }
    return [lindex $arguments 0]
}

# Calls of ns-2 that know the type Clift besides those that they knew.
foreach {name} {simplex-link duplex-link queue-limit} {
    Simulator instproc ns-$name [Simulator info instargs $name] [Simulator info instbody $name]
}

Simulator instproc simplex-link {n1 n2 bandwidth delay type args} {
    if {$type != "Clift"} { return [eval [list $self ns-simplex-link $n1 $n2 $bandwidth $delay $type] $args] }
    $self clift-one-way $n1 $n2 [clift-file $bandwidth $delay $args 1] there {}
}

Simulator instproc duplex-link {n1 n2 bandwidth delay type args} {
    if {$type != "Clift"} { return [eval [list $self ns-duplex-link $n1 $n2 $bandwidth $delay $type] $args] }
    set options {}
    if {[llength $args] == 2} { set options [list -back [lindex $args 1]] }
    eval [list $self clift-link $n1 $n2 [clift-file $bandwidth $delay $args 2]] $options
}

Simulator instproc queue-limit {n1 n2 limit} {
    set link [$self link $n1 $n2]
    if {[$link info class] == "CliftLink" && [[$link queue] info class] == "Queue/Clift"} {
        error "clift: the queue of this link is `link.queue` of its scenario; give -set {link.queue {$limit packets}}"
    }
    $self ns-queue-limit $n1 $n2 $limit
}
